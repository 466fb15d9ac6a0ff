//! Matches records whose path has no file with files whose path has no record.
//!
//! ```text
//! 1. same path                               the scan matches these itself
//! 2. same inode, file not newer              moved, perhaps edited since
//!    creation time unknown:                  moved, if size and time are the same
//! 3. an earlier run found the record's content here, and the file is unchanged since: moved
//! 4. the record's inode is now at a recorded path: it was renamed over that file
//! 5. same content, after new files were read: moved (match_content)
//! ```
//!
//! A file system reuses the inode number of a deleted file. A file that was created no later than
//! the record's change time cannot be such a new file, so it is the recorded one.

use std::collections::HashMap;

use lanesum_list::{Digest, Digests};

use super::Stat;

/// A record without a file at its path.
#[derive(Clone, Debug)]
pub(crate) struct Loose {
    /// The last part of its path.
    pub(crate) name: Box<[u8]>,
    pub(crate) stat: Stat,
    /// The device of its root, or none if the root's inode numbers are not stable.
    pub(crate) device: Option<u64>,
    /// The file with its content that an earlier run found, and the state of that file.
    pub(crate) found_at: Option<(Vec<u8>, Stat)>,
}

/// A file without a record at its path.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The path below its root.
    pub(crate) path: Vec<u8>,
    pub(crate) stat: Stat,
    pub(crate) device: u64,
    /// The creation time, or none if it is unknown or all its times are as recorded.
    pub(crate) born: Option<i64>,
}

/// The results of pairing, by indices.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pairing {
    /// Records and the entries that they moved to.
    pub(crate) moved: Vec<(usize, usize)>,
    /// Records that were renamed over another recorded file.
    pub(crate) over: Vec<usize>,
}

/// Pairs by inode. `replaced` has the inodes at recorded paths of other files, with their devices
/// and creation times.
pub(crate) fn pair(
    records: &[Loose],
    entries: &[Entry],
    replaced: &HashMap<(u64, i64), Option<i64>>,
) -> Pairing {
    let mut by_inode: HashMap<(u64, i64), Vec<usize>> = HashMap::new();
    for (place, record) in records.iter().enumerate() {
        if let Some(device) = record.device {
            by_inode.entry((device, record.stat.inode)).or_default().push(place);
        }
    }
    let mut free = vec![true; records.len()];
    let mut pairing = Pairing::default();
    let mut unmatched = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        let candidates = by_inode.get(&(entry.device, entry.stat.inode));
        let candidates = candidates.into_iter().flatten().copied();
        let mut candidates: Vec<_> =
            candidates.filter(|&it| free[it] && is_same_file(&records[it], entry)).collect();
        // If there are several links, the one with the same name.
        candidates.sort_by_key(|&it| !entry.path.ends_with(&records[it].name));
        match candidates.first() {
            Some(&record) => {
                free[record] = false;
                pairing.moved.push((record, place));
            }
            None => unmatched.push(place),
        }
    }
    pair_found(records, entries, &unmatched, &mut free, &mut pairing);
    for (place, record) in records.iter().enumerate().filter(|(place, _)| free[*place]) {
        let Some(device) = record.device else { continue };
        if let Some(born) = replaced.get(&(device, record.stat.inode))
            && is_not_born_after(*born, record.stat.changed)
        {
            pairing.over.push(place);
        }
    }
    pairing
}

/// Pairs with the files that an earlier run found.
fn pair_found(
    records: &[Loose],
    entries: &[Entry],
    unmatched: &[usize],
    free: &mut [bool],
    pairing: &mut Pairing,
) {
    let by_path: HashMap<&[u8], usize> =
        unmatched.iter().map(|&place| (&*entries[place].path, place)).collect();
    for (place, record) in records.iter().enumerate() {
        let Some((path, stat)) = record.found_at.as_ref().filter(|_| free[place]) else { continue };
        if let Some(&entry) = by_path.get(&**path)
            && entries[entry].stat.inode == stat.inode
            && entries[entry].stat.is_as_recorded(stat)
        {
            free[place] = false;
            pairing.moved.push((place, entry));
        }
    }
}

fn is_same_file(record: &Loose, entry: &Entry) -> bool {
    match entry.born {
        Some(_) => is_not_born_after(entry.born, record.stat.changed),
        None => entry.stat.is_as_recorded(&record.stat),
    }
}

fn is_not_born_after(born: Option<i64>, changed: i64) -> bool {
    born.is_none_or(|born| born <= changed)
}

/// Finds the record whose content a new file has. Empty files match nothing. `free` has the
/// unmatched records, and `records` those with these digests.
pub(crate) fn match_content<'r>(
    name: &[u8],
    size: i64,
    digests: &Digests,
    candidates: impl Iterator<Item = (usize, &'r [u8], i64, &'r Digests)>,
) -> Option<usize> {
    if size == 0 {
        return None;
    }
    let same = candidates
        .filter(|(_, _, recorded, known)| *recorded == size && agree(known, digests) == Some(true));
    let mut same: Vec<_> = same.map(|(place, known, ..)| (known != name, place)).collect();
    same.sort_unstable();
    same.first().map(|&(_, place)| place)
}

/// Returns whether the common digests are the same, or none without common digests.
pub(crate) fn agree(known: &Digests, read: &Digests) -> Option<bool> {
    let pair = |digest: &Digest| {
        let other = read.iter().find(|other| other.algorithm() == digest.algorithm())?;
        Some(other == digest)
    };
    known.iter().filter_map(pair).reduce(|all, one| all && one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, inode: i64) -> Loose {
        let stat = Stat { size: 5, modified: 50, changed: 60, inode };
        Loose { name: name.as_bytes().into(), stat, device: Some(1), found_at: None }
    }

    fn entry(path: &str, inode: i64, born: Option<i64>) -> Entry {
        let stat = Stat { size: 5, modified: 50, changed: 70, inode };
        Entry { path: path.into(), stat, device: 1, born }
    }

    fn moved(records: &[Loose], entries: &[Entry]) -> Vec<(usize, usize)> {
        pair(records, entries, &HashMap::new()).moved
    }

    #[test]
    fn a_renamed_file_is_found_by_its_inode_even_edited() {
        let mut edited = entry("new", 7, Some(60));
        assert_eq!(moved(&[record("old", 7)], &[edited.clone()]), [(0, 0)]);
        (edited.stat.size, edited.stat.modified) = (9, 99);
        assert_eq!(moved(&[record("old", 7)], &[edited.clone()]), [(0, 0)]);
        edited.born = None;
        assert_eq!(moved(&[record("old", 7)], &[edited]), [], "size and time have to do");
        assert_eq!(moved(&[record("old", 7)], &[entry("new", 7, None)]), [(0, 0)]);
    }

    #[test]
    fn a_file_that_was_made_later_is_another_one() {
        assert_eq!(moved(&[record("old", 7)], &[entry("new", 7, Some(61))]), []);
        assert_eq!(moved(&[record("old", 7)], &[entry("new", 8, Some(1))]), []);
    }

    #[test]
    fn an_inode_of_another_device_or_of_an_unstable_root_tells_nothing() {
        let mut other = entry("new", 7, Some(1));
        other.device = 2;
        assert_eq!(moved(&[record("old", 7)], &[other]), []);
        let unstable = Loose { device: None, ..record("old", 7) };
        assert_eq!(moved(&[unstable], &[entry("new", 7, Some(1))]), []);
    }

    #[test]
    fn links_keep_their_names_where_they_can() {
        let records = [record("a", 7), record("b", 7)];
        let entries = [entry("d/b", 7, Some(1)), entry("d/c", 7, Some(1))];
        assert_eq!(moved(&records, &entries), [(1, 0), (0, 1)]);
    }

    #[test]
    fn a_file_renamed_over_a_recorded_one_is_known() {
        let replaced = HashMap::from([((1, 7), Some(10))]);
        let pairing = pair(&[record("a", 7), record("b", 8)], &[], &replaced);
        assert_eq!(pairing, Pairing { moved: vec![], over: vec![0] });
        let later = HashMap::from([((1, 7), Some(61))]);
        assert_eq!(pair(&[record("a", 7)], &[], &later), Pairing::default());
    }

    #[test]
    fn file_found_by_content_stays_found_while_its_stat_is_the_same() {
        let there = entry("copy", 9, Some(500));
        let known = Loose { found_at: Some((b"copy".to_vec(), there.stat)), ..record("old", 7) };
        assert_eq!(moved(std::slice::from_ref(&known), std::slice::from_ref(&there)), [(0, 0)]);
        let mut edited = there;
        edited.stat.modified += 1;
        assert_eq!(moved(&[known], &[edited]), []);
    }
}
