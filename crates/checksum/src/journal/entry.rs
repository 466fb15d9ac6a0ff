//! An entry of a journal as bytes, with little-endian numbers and length-prefixed texts.

use lanesum_list::{Algorithm, Digest, Inode, Time, Times};

use crate::Algorithms;
use crate::engine::Hashed;

/// The entry of a file in a journal.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownFile<'a> {
    pub(super) name: &'a [u8],
    pub(super) size: u64,
    pub(super) times: Times,
    /// The inode number without the device, whose number may change after a restart or a remount.
    pub(super) number: u64,
    digests: &'a [u8],
}

/// Appends the entry of a file. Appends nothing if some value is unknown.
pub(super) fn write(out: &mut Vec<u8>, name: &[u8], hashed: &Hashed) {
    let Hashed { digests, bytes, times, inode, .. } = hashed;
    let (Some(modified), Some(changed), Some(inode)) = (times.modified, times.changed, inode)
    else {
        return;
    };
    let start = out.len();
    write_length(out, 0);
    write_length(out, name.len());
    out.extend_from_slice(name);
    out.extend_from_slice(&bytes.to_le_bytes());
    for Time { seconds, nanoseconds } in [modified, changed] {
        out.extend_from_slice(&seconds.to_le_bytes());
        out.extend_from_slice(&nanoseconds.to_le_bytes());
    }
    out.extend_from_slice(&inode.number.to_le_bytes());
    for digest in digests.iter() {
        // By name, because the numbers of algorithms differ between versions.
        let name = digest.algorithm().name().as_bytes();
        for text in [name, digest.as_bytes()] {
            out.push(text.len() as u8);
            out.extend_from_slice(text);
        }
    }
    let length = (out.len() - start - size_of::<u32>()) as u32;
    out[start..start + size_of::<u32>()].copy_from_slice(&length.to_le_bytes());
}

fn write_length(out: &mut Vec<u8>, length: usize) {
    out.extend_from_slice(&(length as u32).to_le_bytes());
}

/// Returns the first entry of some bytes and the rest, or `None` if there is no entry.
pub(super) fn read(bytes: &[u8]) -> Option<(KnownFile<'_>, &[u8])> {
    let (length, rest) = number(bytes)?;
    let (entry, rest) = rest.split_at_checked(u32::from_le_bytes(length) as usize)?;
    let (length, entry) = number(entry)?;
    let (name, entry) = entry.split_at_checked(u32::from_le_bytes(length) as usize)?;
    let (size, entry) = number(entry)?;
    let (modified, entry) = time(entry)?;
    let (changed, entry) = time(entry)?;
    let (inode, digests) = number(entry)?;
    let times = Times { modified: Some(modified), changed: Some(changed) };
    let (size, number) = (u64::from_le_bytes(size), u64::from_le_bytes(inode));
    Some((KnownFile { name, size, times, number, digests }, rest))
}

fn number<const N: usize>(bytes: &[u8]) -> Option<([u8; N], &[u8])> {
    bytes.split_first_chunk().map(|(number, rest)| (*number, rest))
}

fn time(bytes: &[u8]) -> Option<(Time, &[u8])> {
    let (seconds, bytes) = number(bytes)?;
    let (nanoseconds, bytes) = number(bytes)?;
    let seconds = i64::from_le_bytes(seconds);
    Some((Time { seconds, nanoseconds: u32::from_le_bytes(nanoseconds) }, bytes))
}

impl KnownFile<'_> {
    /// Returns the result of the file, or `None` if one of the algorithms is missing.
    pub(super) fn hashed(&self, algorithms: Algorithms, inode: Inode) -> Option<Hashed> {
        let digests = algorithms.iter().map(|algorithm| self.digest(algorithm));
        let digests = digests.collect::<Option<Vec<_>>>()?.into_iter().collect();
        let (bytes, times, inode) = (self.size, self.times, Some(inode));
        Some(Hashed { digests, bytes, times, inode, ..Hashed::default() })
    }

    fn digest(&self, algorithm: Algorithm) -> Option<Digest> {
        let mut rest = self.digests;
        while !rest.is_empty() {
            let (name, digest);
            (name, rest) = text(rest)?;
            (digest, rest) = text(rest)?;
            if name == algorithm.name().as_bytes() {
                return Digest::new(algorithm, digest);
            }
        }
        None
    }
}

fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&length, rest) = bytes.split_first()?;
    rest.split_at_checked(usize::from(length))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::digests_of;

    pub(crate) fn hashed(content: &[u8]) -> Hashed {
        let algorithms = [Algorithm::Md5, Algorithm::Sha512].into_iter().collect();
        let time = |seconds| Some(Time { seconds, nanoseconds: 999_999_999 });
        Hashed {
            digests: digests_of(algorithms, None, content).unwrap(),
            bytes: content.len() as u64,
            times: Times { modified: time(-5), changed: time(1 << 40) },
            inode: Some(Inode { device: 1, number: u64::MAX }),
            ..Hashed::default()
        }
    }

    #[test]
    fn written_entries_round_trip() {
        let mut bytes = Vec::new();
        let names: [&[u8]; 3] = [b"a", b"\xff\n\0/", &[b'x'; 5000]];
        for name in names {
            write(&mut bytes, name, &hashed(name));
        }
        let mut rest = &bytes[..];
        for name in names {
            let entry;
            (entry, rest) = read(rest).unwrap();
            let expected = hashed(name);
            let algorithms = expected.digests.iter().map(Digest::algorithm).collect();
            let found = entry.hashed(algorithms, expected.inode.unwrap());
            assert_eq!((entry.name, found), (name, Some(expected)));
            assert_eq!(
                entry.hashed(Algorithm::Blake3.into(), Inode { device: 0, number: 0 }),
                None
            );
        }
        assert!(rest.is_empty());
        for cut in 0..bytes.len() {
            let mut rest = &bytes[..cut];
            while let Some((entry, behind)) = read(rest) {
                assert!(names.contains(&entry.name));
                rest = behind;
            }
        }
    }

    #[test]
    fn entries_without_inode_or_times_are_not_kept() {
        let mut bytes = Vec::new();
        write(&mut bytes, b"-", &Hashed { inode: None, ..hashed(b"") });
        write(&mut bytes, b"-", &Hashed { times: Times::default(), ..hashed(b"") });
        assert!(bytes.is_empty());
    }
}
