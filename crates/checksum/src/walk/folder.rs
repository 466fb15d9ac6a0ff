//! A directory, read completely and sorted. The names are in one buffer, with sixteen more bytes
//! per entry.
//!
//! The name of a directory ends in `/` here. So the bytes of an entry are its sorting key, and the
//! bytes that extend a path.

use std::io;
use std::mem::MaybeUninit;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, RawDir, statat};
use rustix::io::Errno;

use super::Skip;

/// The entries of a directory, returned one after the other.
#[derive(Default)]
pub(super) struct Folder {
    /// The joined names.
    names: Vec<u8>,
    slots: Vec<Slot>,
    /// The errors of entries that could not be examined, by ascending offset of their names.
    failures: Vec<(u32, Errno)>,
    /// The index of the next slot.
    next: usize,
}

/// The place of the name of an entry, and its kind.
struct Slot {
    /// The eight bytes of the name after the common prefix of all names, as a big-endian number. It
    /// decides nearly every comparison without reading the name. Set by `sort`.
    key: u64,
    offset: u32,
    len: u16,
    kind: SlotKind,
}

const _: () = assert!(size_of::<Slot>() == 16);

#[derive(Clone, Copy, PartialEq, Eq)]
enum SlotKind {
    File,
    Folder,
    Skipped(Skip),
    Failed,
}

/// The kind of an entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    /// A directory or a followed link to one. Its name ends in `/`.
    Folder,
    Skipped(Skip),
    Failed(Errno),
}

/// The treatment of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Kept,
    LeftOut,
    /// The entry is reported as skipped.
    Skipped(Skip),
}

/// The treatment of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Links {
    Followed,
    /// Each link is reported as skipped.
    Reported,
    LeftOut,
}

impl Folder {
    /// Reads all entries of an open directory, unsorted. After an error, the entries before it are
    /// kept.
    pub(super) fn read(
        fd: &OwnedFd,
        buffer: &mut [MaybeUninit<u8>],
        links: Links,
    ) -> (Self, Option<io::Error>) {
        let mut folder = Self::default();
        let mut entries = RawDir::new(fd, buffer);
        while let Some(entry) = entries.next() {
            let read = match entry {
                Err(Errno::INTR) => continue,
                Err(error) => Err(error),
                Ok(entry) => match entry.file_name().to_bytes() {
                    b"." | b".." => continue,
                    name => folder.add(fd, name, entry.file_type(), links),
                },
            };
            if let Err(error) = read {
                return (folder, Some(error.into()));
            }
        }
        (folder, None)
    }

    /// Adds an entry from the system. Fails only if there is no room left for names.
    fn add(
        &mut self,
        fd: impl AsFd,
        name: &[u8],
        file_type: FileType,
        links: Links,
    ) -> Result<(), Errno> {
        let resolved = match file_type {
            // Not every file system returns the type with the name.
            FileType::Unknown => type_of(&fd, name, AtFlags::SYMLINK_NOFOLLOW),
            known => Ok(known),
        };
        let resolved = match resolved {
            Ok(FileType::Symlink) if links == Links::LeftOut => return Ok(()),
            Ok(FileType::Symlink) if links == Links::Followed => {
                type_of(&fd, name, AtFlags::empty())
            }
            other => other,
        };
        let offset = u32::try_from(self.names.len()).map_err(|_| Errno::OVERFLOW)?;
        self.names.extend_from_slice(name);
        let kind = match resolved {
            Ok(FileType::RegularFile) => SlotKind::File,
            Ok(FileType::Directory) => {
                self.names.push(b'/');
                SlotKind::Folder
            }
            Ok(FileType::Fifo) => SlotKind::Skipped(Skip::Fifo),
            Ok(FileType::Socket) => SlotKind::Skipped(Skip::Socket),
            Ok(FileType::BlockDevice) => SlotKind::Skipped(Skip::BlockDevice),
            Ok(FileType::CharacterDevice) => SlotKind::Skipped(Skip::CharDevice),
            Ok(FileType::Symlink) if links == Links::Reported => SlotKind::Skipped(Skip::Link),
            Ok(FileType::Symlink | FileType::Unknown) => SlotKind::Skipped(Skip::Unknown),
            Err(error) => {
                self.failures.push((offset, error));
                SlotKind::Failed
            }
        };
        let len = u16::try_from(self.names.len() - offset as usize).map_err(|_| Errno::OVERFLOW)?;
        self.slots.push(Slot { key: 0, offset, len, kind });
        Ok(())
    }

    /// Returns whether the directory has a regular file of this name.
    pub(super) fn has_file(&self, name: &[u8]) -> bool {
        self.file(name).is_some()
    }

    /// Marks the regular file of this name as failed.
    pub(super) fn fail(&mut self, name: &[u8], error: Errno) {
        let Some(place) = self.file(name) else { return };
        let slot = &mut self.slots[place];
        slot.kind = SlotKind::Failed;
        let place = self.failures.partition_point(|failure| failure.0 < slot.offset);
        self.failures.insert(place, (slot.offset, error));
    }

    fn file(&self, name: &[u8]) -> Option<usize> {
        let is_it = |slot: &Slot| slot.kind == SlotKind::File && slot.name(&self.names) == name;
        self.slots.iter().position(is_it)
    }

    /// Decides the treatment of each entry by its name without a slash and whether it is a
    /// directory. A skipped directory loses the slash of its name and sorts like its path.
    pub(super) fn filter(&mut self, mut fate: impl FnMut(&[u8], bool) -> Fate) {
        let names = &self.names;
        self.slots.retain_mut(|slot| {
            let is_folder = slot.kind == SlotKind::Folder;
            let len = slot.len - u16::from(is_folder);
            match fate(&slot.name(names)[..usize::from(len)], is_folder) {
                Fate::Kept => true,
                Fate::LeftOut => false,
                Fate::Skipped(why) => {
                    (slot.len, slot.kind) = (len, SlotKind::Skipped(why));
                    true
                }
            }
        });
    }

    /// Sorts the entries by the bytes of their names.
    pub(super) fn sort(&mut self) {
        let Self { names, slots, .. } = self;
        let shared = shared_prefix(slots.iter().map(|slot| slot.name(names)));
        for slot in slots.iter_mut() {
            slot.key = key(&slot.name(names)[shared..]);
        }
        slots.sort_unstable_by(|a, b| {
            a.key.cmp(&b.key).then_with(|| a.name(names).cmp(b.name(names)))
        });
    }

    /// Returns the next entry.
    pub(super) fn next(&mut self) -> Option<(&[u8], Kind)> {
        let slot = self.slots.get(self.next)?;
        self.next += 1;
        let kind = match slot.kind {
            SlotKind::File => Kind::File,
            SlotKind::Folder => Kind::Folder,
            SlotKind::Skipped(why) => Kind::Skipped(why),
            SlotKind::Failed => {
                let place = self.failures.binary_search_by_key(&slot.offset, |failure| failure.0);
                Kind::Failed(self.failures[place.expect("every failed slot has its failure")].1)
            }
        };
        Some((slot.name(&self.names), kind))
    }
}

impl Slot {
    fn name<'a>(&self, names: &'a [u8]) -> &'a [u8] {
        &names[self.offset as usize..][..usize::from(self.len)]
    }
}

/// Asks the system for the kind of an entry.
fn type_of(fd: impl AsFd, name: &[u8], flags: AtFlags) -> Result<FileType, Errno> {
    statat(fd, name, flags).map(|stat| FileType::from_raw_mode(stat.st_mode))
}

/// Returns the length of the common prefix of all names.
fn shared_prefix<'a>(mut names: impl Iterator<Item = &'a [u8]>) -> usize {
    let Some(mut shared) = names.next() else { return 0 };
    for name in names {
        if !name.starts_with(shared) {
            let len = shared.iter().zip(name).take_while(|(a, b)| a == b).count();
            shared = &shared[..len];
        }
    }
    shared.len()
}

/// Returns the first eight bytes as a number with the same order. Missing bytes count as zero,
/// which no name contains, so names with equal keys are equal up to the eighth byte.
fn key(bytes: &[u8]) -> u64 {
    let mut key = [0; 8];
    let len = bytes.len().min(key.len());
    key[..len].copy_from_slice(&bytes[..len]);
    u64::from_be_bytes(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Makes a directory of names. Those that end in `/` are directories.
    fn folder(names: &[Vec<u8>]) -> Folder {
        let mut folder = Folder::default();
        for name in names {
            let (name, kind) = match name.strip_suffix(b"/") {
                Some(name) => (name, FileType::Directory),
                None => (name.as_slice(), FileType::RegularFile),
            };
            folder.add(rustix::fs::CWD, name, kind, Links::LeftOut).unwrap();
        }
        folder
    }

    /// Names of few different bytes, so that one is often a prefix of another.
    fn name() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop::sample::select(b"a-.0\x01\xff".as_slice()), 1..12)
    }

    proptest! {
        #[test]
        fn names_come_sorted_by_their_bytes(
            shared in "[a-c]{0,10}",
            names in prop::collection::vec((name(), any::<bool>()), 0..40),
        ) {
            let mut names: Vec<Vec<u8>> = names
                .into_iter()
                .map(|(name, is_folder)| {
                    [shared.as_bytes(), &name, if is_folder { b"/" } else { b"" }].concat()
                })
                .collect();
            let mut folder = folder(&names);
            names.sort();
            folder.sort();
            for name in &names {
                let (found, kind) = folder.next().unwrap();
                prop_assert_eq!(found, name.as_slice());
                prop_assert_eq!(kind == Kind::Folder, name.ends_with(b"/"));
            }
            prop_assert!(folder.next().is_none());
        }
    }

    #[test]
    fn an_unknown_entry_type_is_looked_up() {
        let tree = tempfile::tempdir().unwrap();
        std::fs::write(tree.path().join("file"), "").unwrap();
        std::fs::create_dir(tree.path().join("folder")).unwrap();
        std::os::unix::fs::symlink("folder", tree.path().join("link")).unwrap();
        let fd = OwnedFd::from(std::fs::File::open(tree.path()).unwrap());
        for links in [Links::LeftOut, Links::Reported, Links::Followed] {
            let mut folder = Folder::default();
            for name in ["file", "folder", "gone", "link"] {
                folder.add(&fd, name.as_bytes(), FileType::Unknown, links).unwrap();
            }
            folder.sort();
            assert_eq!(folder.next(), Some((&b"file"[..], Kind::File)));
            assert_eq!(folder.next(), Some((&b"folder/"[..], Kind::Folder)));
            assert_eq!(folder.next(), Some((&b"gone"[..], Kind::Failed(Errno::NOENT))));
            match links {
                Links::LeftOut => {}
                Links::Reported => {
                    assert_eq!(folder.next(), Some((&b"link"[..], Kind::Skipped(Skip::Link))));
                }
                Links::Followed => {
                    assert_eq!(folder.next(), Some((&b"link/"[..], Kind::Folder)));
                }
            }
            assert_eq!(folder.next(), None);
        }
    }

    #[test]
    fn a_skipped_directory_sorts_without_its_slash() {
        let mut folder = folder(&[b"a/".to_vec(), b"a-".to_vec(), b"b/".to_vec(), b"c".to_vec()]);
        folder.filter(|name, is_folder| match name {
            b"a" => {
                assert!(is_folder);
                Fate::Skipped(Skip::Excluded)
            }
            b"c" => Fate::LeftOut,
            _ => Fate::Kept,
        });
        folder.sort();
        assert_eq!(folder.next(), Some((&b"a"[..], Kind::Skipped(Skip::Excluded))));
        assert_eq!(folder.next(), Some((&b"a-"[..], Kind::File)));
        assert_eq!(folder.next(), Some((&b"b/"[..], Kind::Folder)));
        assert_eq!(folder.next(), None);
    }

    #[test]
    fn a_failure_marks_only_the_regular_file() {
        let mut folder = folder(&[b"b".to_vec(), b"a".to_vec(), b"c/".to_vec()]);
        assert!(folder.has_file(b"a") && !folder.has_file(b"c") && !folder.has_file(b"c/"));
        for (name, error) in [(&b"a"[..], Errno::ACCESS), (b"b", Errno::IO), (b"c", Errno::PERM)] {
            folder.fail(name, error);
        }
        folder.sort();
        assert_eq!(folder.next(), Some((&b"a"[..], Kind::Failed(Errno::ACCESS))));
        assert_eq!(folder.next(), Some((&b"b"[..], Kind::Failed(Errno::IO))));
        assert_eq!(folder.next(), Some((&b"c/"[..], Kind::Folder)));
    }

    #[test]
    fn failures_keep_their_entries_after_sorting() {
        let tree = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("nowhere", tree.path().join("a")).unwrap();
        std::os::unix::fs::symlink("b", tree.path().join("b")).unwrap();
        let fd = OwnedFd::from(std::fs::File::open(tree.path()).unwrap());
        let mut folder = Folder::default();
        for name in ["b", "a"] {
            folder.add(&fd, name.as_bytes(), FileType::Symlink, Links::Followed).unwrap();
        }
        folder.sort();
        assert_eq!(folder.next(), Some((&b"a"[..], Kind::Failed(Errno::NOENT))));
        assert_eq!(folder.next(), Some((&b"b"[..], Kind::Failed(Errno::LOOP))));
    }
}
