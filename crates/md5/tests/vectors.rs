//! RFC 1321's own vectors, a plain transcription of RFC 1321 as oracle, and a message past 4 GiB.

use std::thread;

use lanesum_md5::{Md5, Md5Digest, md5, md5_chunks, md5_many, md5_reader};

/// RFC 1321 appendix A.5.
const RFC_1321: [(&str, &str); 7] = [
    ("", "d41d8cd98f00b204e9800998ecf8427e"),
    ("a", "0cc175b9c0f1b6a831c399e269772661"),
    ("abc", "900150983cd24fb0d6963f7d28e17f72"),
    ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
    ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
    (
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "d174ab98d277d9f5a5611c2c9f419d9f",
    ),
    (
        "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
        "57edf4a22be3c955ac49da2e2107b67a",
    ),
];

#[test]
fn rfc_1321() {
    for (message, digest) in RFC_1321 {
        assert_eq!(md5(message.as_bytes()).to_string(), digest, "{message}");
    }
    let digests = md5_many(RFC_1321.map(|(message, _)| message));
    assert_eq!(
        digests.iter().map(Md5Digest::to_string).collect::<Vec<_>>(),
        RFC_1321.map(|(_, d)| d)
    );
}

/// RFC 1321 section 3, word for word, with the sine computed: shares nothing with the crate.
fn oracle(message: &[u8]) -> Md5Digest {
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((8 * message.len() as u64).to_le_bytes());

    let sines: Vec<u32> =
        (1..=64).map(|i| (f64::from(i).sin().abs() * 4_294_967_296.0) as u32).collect();
    let (mut a, mut b, mut c, mut d): (u32, u32, u32, u32) =
        (0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
    for block in padded.chunks_exact(64) {
        let x: Vec<u32> = block
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        let (aa, bb, cc, dd) = (a, b, c, d);
        for i in 0..64 {
            let (f, k, s) = match i / 16 {
                0 => ((b & c) | (!b & d), i, [7, 12, 17, 22]),
                1 => ((b & d) | (c & !d), (1 + 5 * i) % 16, [5, 9, 14, 20]),
                2 => (b ^ c ^ d, (5 + 3 * i) % 16, [4, 11, 16, 23]),
                _ => (c ^ (b | !d), 7 * i % 16, [6, 10, 15, 21]),
            };
            let sum = a.wrapping_add(f).wrapping_add(x[k]).wrapping_add(sines[i]);
            (a, b, c, d) = (d, b.wrapping_add(sum.rotate_left(s[i % 4])), b, c);
        }
        (a, b, c, d) =
            (a.wrapping_add(aa), b.wrapping_add(bb), c.wrapping_add(cc), d.wrapping_add(dd));
    }
    let bytes: Vec<u8> = [a, b, c, d].into_iter().flat_map(u32::to_le_bytes).collect();
    Md5Digest::try_from(&*bytes).unwrap()
}

#[test]
fn a_transcription_of_the_rfc_agrees() {
    for (message, digest) in RFC_1321 {
        assert_eq!(oracle(message.as_bytes()).to_string(), digest, "{message}");
    }
    let message: Vec<u8> = (0..=300_u16).map(|i| (i % 251) as u8).collect();
    for length in 0..=message.len() {
        assert_eq!(md5(&message[..length]), oracle(&message[..length]), "{length}");
    }
}

/// 4 GiB and 5 bytes: the length in bits needs more than 32 bits. Compared with the crate md-5.
#[test]
fn past_four_gibibytes() {
    let chunk: Vec<u8> = (0..1 << 20).map(|i: u32| (i % 251) as u8).collect();
    let chunks = || std::iter::repeat_n(&chunk[..], 4096).chain([&b"lanes"[..]]);
    let peer = || {
        use md5_peer::Digest as _;
        let mut peer = md5_peer::Md5::new();
        chunks().for_each(|chunk| peer.update(chunk));
        <[u8; 16]>::from(peer.finalize()).into()
    };
    // In lanes, next to a short message that is replaced.
    let in_lanes = || {
        let mut lanes = lanesum_md5::Lanes::new();
        let long: Box<dyn Iterator<Item = &[u8]>> = Box::new(chunks());
        lanes.push(lanesum_md5::Chunks::new(long));
        for message in ["a", "abc", ""] {
            let short: Box<dyn Iterator<Item = &[u8]>> =
                Box::new(std::iter::once(message.as_bytes()));
            lanes.push(lanesum_md5::Chunks::new(short));
            assert_eq!(lanes.pop().expect("the short one").1, md5(message.as_bytes()));
        }
        let (_, digest) = lanes.pop().expect("the long one");
        assert!(lanes.pop().is_none());
        digest
    };
    // Each takes seconds.
    let [expected, one, in_lanes] = thread::scope(|scope| {
        let others = [scope.spawn(|| md5_chunks(chunks())), scope.spawn(in_lanes)];
        let [one, in_lanes] = others.map(|thread| thread.join().unwrap());
        [peer(), one, in_lanes]
    });
    assert_eq!(one, expected);
    assert_eq!(in_lanes, expected);
}

#[test]
fn an_interrupted_reader_is_retried_and_a_failed_one_fails() {
    use std::io::{Error, ErrorKind, Read, Result};

    /// Yields a result a call.
    struct Script(Vec<Result<&'static str>>);
    impl Read for Script {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
            let text = if self.0.is_empty() { "" } else { self.0.remove(0)? };
            buffer[..text.len()].copy_from_slice(text.as_bytes());
            Ok(text.len())
        }
    }

    let script = vec![Ok("a"), Err(Error::from(ErrorKind::Interrupted)), Ok("bc")];
    assert_eq!(md5_reader(Script(script)).unwrap(), md5(b"abc"));
    let script = vec![Ok("a"), Err(Error::from_raw_os_error(5))];
    assert_eq!(md5_reader(Script(script)).unwrap_err().raw_os_error(), Some(5));
}

#[test]
fn a_state_can_be_cloned_reset_and_written_to() {
    use std::io::Write as _;

    let mut md5_state = Md5::new();
    md5_state.update([7; 100]);
    let mut twin = md5_state.clone();
    twin.update([8; 100]);
    write!(md5_state, "text").unwrap();
    assert_eq!(md5_state.finalize_reset(), md5([&[7; 100][..], b"text"].concat()));
    assert_eq!(md5_state.clone().finalize(), md5(b""));
    assert_eq!(twin.clone().finalize(), md5([[7; 100], [8; 100]].concat()));
    twin.reset();
    twin.update(b"abc");
    assert_eq!(twin.finalize(), md5(b"abc"));
    assert_eq!(format!("{:?}", Md5::default()), "MD5 { length: 0, .. }");
}
