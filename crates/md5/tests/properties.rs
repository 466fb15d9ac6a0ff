//! Properties of any message, cut anywhere.

use lanesum_md5::{Lanes, Md5, Md5Digest, md5, md5_chunks, md5_many, md5_many_into};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #[test]
    fn updates_may_be_cut_anywhere(chunks in vec(vec(any::<u8>(), 0..200), 0..12)) {
        let mut state = Md5::new();
        chunks.iter().for_each(|chunk| state.update(chunk));
        let expected = md5(chunks.concat());
        prop_assert_eq!(state.finalize(), expected);
        prop_assert_eq!(md5_chunks(&chunks), expected);
    }

    #[test]
    fn many_agree_with_one_by_one(messages in vec(vec(any::<u8>(), 0..300), 0..80)) {
        let expected: Vec<_> = messages.iter().map(md5).collect();
        let mut column = vec![[0; 16]; messages.len()];
        md5_many_into(&messages, &mut column);
        prop_assert!(column.iter().eq(expected.iter().map(|digest| &digest.0)));
        let mut digests = vec![Md5Digest::default(); messages.len()];
        md5_many_into(&messages, &mut digests);
        prop_assert_eq!(&digests, &expected);
        prop_assert_eq!(md5_many(&messages), expected);
    }

    #[test]
    fn lanes_are_reused_in_any_order(
        messages in vec((vec(any::<u8>(), 0..300), 1_usize..6), 0..60),
    ) {
        // Between pops, a few streams are pushed: lanes are full, half full, and empty alternately.
        let mut lanes = Lanes::new();
        let mut digests = Vec::new();
        for (message, pops) in &messages {
            if lanes.is_full() {
                digests.extend(lanes.pop().map(|(_, digest)| digest));
            }
            lanes.push(&message[..]);
            if pops % 3 == 0 {
                digests.extend((0..*pops).map_while(|_| lanes.pop()).map(|(_, digest)| digest));
            }
        }
        digests.extend(std::iter::from_fn(|| lanes.pop()).map(|(_, digest)| digest));
        digests.sort_unstable();
        let mut expected: Vec<_> = messages.iter().map(|(message, _)| md5(message)).collect();
        expected.sort_unstable();
        prop_assert_eq!(digests, expected);
    }

    /// The RustCrypto traits give what the plain methods give.
    #[cfg(feature = "digest")]
    #[test]
    fn traits_agree(message in vec(any::<u8>(), 0..300), cut in any::<prop::sample::Index>()) {
        use digest::{Digest, FixedOutputReset, Update};

        fn by_trait<D: Digest>(parts: [&[u8]; 2]) -> Vec<u8> {
            let mut state = D::new();
            parts.iter().for_each(|part| state.update(part));
            state.finalize().to_vec()
        }
        let (a, b) = message.split_at(cut.index(message.len() + 1));
        let expected = md5(&message).0.to_vec();
        prop_assert_eq!(&by_trait::<Md5>([a, b]), &expected);
        let mut state = Md5::default();
        Update::update(&mut state, &message);
        prop_assert_eq!(FixedOutputReset::finalize_fixed_reset(&mut state).to_vec(), expected);
        prop_assert_eq!(state.finalize(), md5(b""));
        prop_assert_eq!(<Md5 as Digest>::output_size(), 16);
    }
}

/// Short messages in lockstep, those that wait, and long ones.
#[test]
fn a_column_of_the_wrong_length_panics() {
    for length in [64, 100, 5_000] {
        let messages = [vec![7; length]];
        for count in [1, 64, 300] {
            let into = |places: usize| {
                let messages = messages.iter().cycle().take(count);
                let mut column = vec![[0; 16]; places];
                let run = || md5_many_into(messages, &mut column);
                let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
                unwound.map(|()| column).map_err(|why| why.downcast_ref::<String>().cloned())
            };
            assert_eq!(into(count).unwrap(), vec![md5(&messages[0]).0; count]);
            let few = into(count - 1).unwrap_err().expect("words");
            assert_eq!(few, format!("more messages than {}", count - 1));
            let many = into(count + 1).unwrap_err().expect("words");
            assert!(many.contains("messages and digests"), "{many}");
        }
    }
}
