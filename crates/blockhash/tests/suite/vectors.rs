//! NIST's test vectors of the Cryptographic Algorithm Validation Program (CAVP), as extracts of its
//! files.

use lanesum_blockhash::{Backend, BlockHash, digest_of, many};

/// Returns the values of a name in a file, in order.
fn values<'f>(file: &'f str, name: &str) -> Vec<&'f str> {
    let lines = file.lines().filter_map(|line| line.split_once(" = "));
    lines.filter(|(key, _)| *key == name).map(|(_, value)| value.trim()).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digits).collect()
}

/// Messages of one block or a little more, one by one and together on each backend.
pub fn short_messages<H: BlockHash>(file: &str) {
    let lengths = values(file, "Len");
    let messages: Vec<Vec<u8>> = values(file, "Msg")
        .iter()
        .zip(&lengths)
        .map(|(message, bits)| bytes(message)[..bits.parse::<usize>().unwrap() / 8].to_vec())
        .collect();
    let expected = values(file, "MD");
    assert!(expected.len() > 30 && expected.len() == messages.len(), "{}", expected.len());
    for (message, expected) in messages.iter().zip(&expected) {
        assert_eq!(digest_of::<H>(message).to_string(), *expected);
    }
    for backend in Backend::available() {
        let found: Vec<_> =
            many::<H, _>(backend, &messages).iter().map(|it| it.to_string()).collect();
        assert_eq!(found, expected, "{backend}");
    }
}

/// SHAVS, section 6.4: 100 times a thousand digests, each of the three before it.
pub fn monte_carlo<H: BlockHash>(file: &str) {
    let mut seed = bytes(values(file, "Seed")[0]);
    let expected = values(file, "MD");
    assert_eq!(expected.len(), 100);
    for expected in expected {
        let mut last = [seed.clone(), seed.clone(), seed];
        for _ in 0..1000 {
            let digest = digest_of::<H>(&last.concat()).as_ref().to_vec();
            last.rotate_left(1);
            last[2] = digest;
        }
        [_, _, seed] = last;
        assert_eq!(seed, bytes(expected));
    }
}
