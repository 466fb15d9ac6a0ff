//! The number of bytes of owned messages that are held at once.

use std::cell::Cell;

use lanesum_md5::{Backend, md5, md5_many_with};

/// The documented bounds of [`lanesum_md5::md5_many`], for any messages and for short ones.
const PROMISE: usize = (64 << 20) + (1 << 20);

/// Bytes that are alive, and the most that ever were.
#[derive(Default)]
struct Account {
    bytes: Cell<usize>,
    most: Cell<usize>,
}

/// A message that says when it is taken and when it is dropped. The bytes are all messages' own,
/// since only the time that they are kept for matters.
struct Message<'a> {
    bytes: &'a [u8],
    account: &'a Account,
}

impl<'a> Message<'a> {
    fn new(bytes: &'a [u8], account: &'a Account) -> Self {
        account.bytes.set(account.bytes.get() + bytes.len());
        account.most.set(account.most.get().max(account.bytes.get()));
        Self { bytes, account }
    }
}

impl Drop for Message<'_> {
    fn drop(&mut self) {
        self.account.bytes.set(self.account.bytes.get() - self.bytes.len());
    }
}

impl AsRef<[u8]> for Message<'_> {
    fn as_ref(&self) -> &[u8] {
        self.bytes
    }
}

#[test]
fn memory_stays_within_the_bound_for_all_lengths() {
    let bytes: Vec<u8> = (0..65 << 20).map(|index: u32| (index % 251) as u8).collect();
    let equal = vec![8 << 20; 20];
    let uneven: Vec<usize> = (0..1500).map(|index| index * 7919 % (256 << 10)).collect();
    let long_among_short: Vec<usize> =
        (0..600).map(|index| if index % 250 == 200 { bytes.len() } else { index }).collect();
    for backend in Backend::available() {
        for lengths in [&equal, &uneven, &long_among_short] {
            let longest = lengths.iter().max().unwrap();
            let start = |index: usize| if lengths[index] < bytes.len() { index % 256 } else { 0 };
            let message = |index: usize| &bytes[start(index)..][..lengths[index]];
            let account = Account::default();
            let messages = (0..lengths.len()).map(|index| Message::new(message(index), &account));
            let digests = md5_many_with(backend, messages);
            assert_eq!(account.bytes.get(), 0, "all are dropped");
            let most = account.most.get();
            assert!(most <= PROMISE + longest, "{backend}: {most} bytes, the longest {longest}");
            for index in [0, 1, 200, lengths.len() / 2, lengths.len() - 1] {
                let Some(digest) = digests.get(index) else { continue };
                assert_eq!(*digest, md5(message(index)), "{backend}: {index}");
            }
            assert_eq!(digests.len(), lengths.len());
        }
    }
}
