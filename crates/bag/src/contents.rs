//! The contents of the directory of a bag.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use lanesum_checksum::engine::Hashed;
use lanesum_checksum::error::message;
use lanesum_list::{Inode, Time, Times};

use crate::folder;
use crate::info::Oxum;
use crate::names::is_payload;

/// A special file: neither regular file, directory nor link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Special {
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A block or character device.
    Device,
}

impl fmt::Display for Special {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fifo => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
        })
    }
}

/// The object that a name leads to.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    File(Facts),
    Link(Target),
    Special(Special),
    EmptyFolder,
    /// The reason.
    Failed(String),
}

/// The target of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// A file of the bag.
    File(Facts),
    Folder,
    Special(Special),
    /// A target outside of the bag.
    Out,
    Nowhere,
}

/// The facts that show whether a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) size: u64,
    pub(crate) times: Times,
    pub(crate) inode: Inode,
}

impl Facts {
    fn of(metadata: &Metadata) -> Self {
        let time = |seconds, nanoseconds| {
            let nanoseconds = u32::try_from(nanoseconds).unwrap_or_default();
            Some(Time { seconds, nanoseconds })
        };
        let modified = time(metadata.mtime(), metadata.mtime_nsec());
        let changed = time(metadata.ctime(), metadata.ctime_nsec());
        let inode = Inode { device: metadata.dev(), number: metadata.ino() };
        Self { size: metadata.len(), times: Times { modified, changed }, inode }
    }

    /// Returns whether the file is the one that was hashed. The change time may differ for a
    /// renamed file. All files at the top of a new bag are renamed.
    pub(crate) fn is_what_was_hashed(&self, hashed: &Hashed, was_renamed: bool) -> bool {
        self.size == hashed.bytes
            && Some(self.inode) == hashed.inode
            && self.times.modified == hashed.times.modified
            && (was_renamed || self.times.changed == hashed.times.changed)
    }
}

/// All objects below a directory, by relative name.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) entries: BTreeMap<Vec<u8>, Content>,
    /// Files and directories on a different file system than their parent directory.
    pub(crate) mounted: Vec<Vec<u8>>,
}

impl Contents {
    /// Lists everything except the top entry `except`. An unreadable directory is an entry.
    ///
    /// # Errors
    /// Fails if the directory itself cannot be read.
    pub(crate) fn of(root: &Path, except: &str) -> io::Result<Self> {
        let mut contents = Self::default();
        let canonical = fs::canonicalize(root)?;
        let mut pending = vec![Vec::new()];
        while let Some(folder) = pending.pop() {
            let read = contents.read(root, &canonical, &folder, except, &mut pending);
            match read {
                Ok(()) => {}
                Err(error) if folder.is_empty() => return Err(error),
                Err(error) => {
                    contents.entries.insert(folder, Content::Failed(message(&error)));
                }
            }
        }
        Ok(contents)
    }

    fn read(
        &mut self,
        root: &Path,
        canonical: &Path,
        folder: &[u8],
        except: &str,
        pending: &mut Vec<Vec<u8>>,
    ) -> io::Result<()> {
        let device = fs::metadata(path(root, folder))?.dev();
        let mut is_empty = true;
        for name in folder::names(&path(root, folder))? {
            is_empty = false;
            if folder.is_empty() && name == *except {
                continue;
            }
            let name = joined(folder, name.into_vec());
            let place = path(root, &name);
            let metadata = place.symlink_metadata();
            if metadata.as_ref().is_ok_and(|metadata| metadata.dev() != device) {
                self.mounted.push(name.clone());
            }
            let found = match metadata {
                Ok(metadata) if metadata.is_dir() => {
                    pending.push(name);
                    continue;
                }
                Ok(metadata) if metadata.is_symlink() => match target(&place, canonical) {
                    Ok(target) => Content::Link(target),
                    // The contents of the payload must be known.
                    Err(error) if is_payload(&name) => Content::Failed(message(&error)),
                    Err(_) => Content::Link(Target::Nowhere),
                },
                Ok(metadata) => match special(&metadata) {
                    None => Content::File(Facts::of(&metadata)),
                    Some(special) => Content::Special(special),
                },
                Err(error) => Content::Failed(message(&error)),
            };
            self.entries.insert(name, found);
        }
        if is_empty && !folder.is_empty() {
            self.entries.insert(folder.to_vec(), Content::EmptyFolder);
        }
        Ok(())
    }

    /// Returns the facts of a file, or of the file that a link leads to.
    pub(crate) fn file(&self, name: &[u8]) -> Option<&Facts> {
        match self.entries.get(name)? {
            Content::File(facts) | Content::Link(Target::File(facts)) => Some(facts),
            _ => None,
        }
    }

    /// Returns names and facts of the files, including links to files.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&[u8], &Facts)> {
        self.entries.iter().filter_map(|(name, entry)| match entry {
            Content::File(facts) | Content::Link(Target::File(facts)) => Some((&**name, facts)),
            _ => None,
        })
    }

    /// Returns the objects of the payload that cannot be examined, and the reasons. This includes
    /// the payload directory.
    pub(crate) fn failed_payload(&self) -> impl Iterator<Item = (&[u8], &str)> {
        self.entries.iter().filter_map(|(name, entry)| match entry {
            Content::Failed(why) if is_payload(name) || name == b"data" => Some((&**name, &**why)),
            _ => None,
        })
    }

    /// Returns the size of the payload, without objects that cannot be examined.
    pub(crate) fn oxum(&self) -> Oxum {
        let payload = self.files().filter(|(name, _)| is_payload(name));
        payload.fold(Oxum::default(), |sum, (_, facts)| Oxum {
            bytes: sum.bytes.saturating_add(facts.size),
            files: sum.files + 1,
        })
    }
}

/// Returns the path of a file in a directory.
pub(crate) fn path(root: &Path, name: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(name))
}

/// Returns the relative name of an entry of a directory.
pub(crate) fn joined(folder: &[u8], mut name: Vec<u8>) -> Vec<u8> {
    if folder.is_empty() {
        return name;
    }
    let mut joined = Vec::with_capacity(folder.len() + 1 + name.len());
    joined.extend_from_slice(folder);
    joined.push(b'/');
    joined.append(&mut name);
    joined
}

fn special(metadata: &Metadata) -> Option<Special> {
    let kind = metadata.file_type();
    match () {
        () if kind.is_fifo() => Some(Special::Fifo),
        () if kind.is_socket() => Some(Special::Socket),
        () if kind.is_block_device() || kind.is_char_device() => Some(Special::Device),
        () => None,
    }
}

/// Returns the target of a link, relative to a directory whose path has no links. Fails if the user
/// may not read the target.
fn target(link: &Path, canonical: &Path) -> io::Result<Target> {
    let found = match fs::canonicalize(link) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(error),
        Err(_) => return Ok(Target::Nowhere),
    };
    if !found.starts_with(canonical) {
        return Ok(Target::Out);
    }
    Ok(match fs::metadata(&found) {
        Ok(metadata) if metadata.is_dir() => Target::Folder,
        Ok(metadata) => match special(&metadata) {
            None => Target::File(Facts::of(&metadata)),
            Some(special) => Target::Special(special),
        },
        Err(_) => Target::Nowhere,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_classified_by_their_target() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("bag");
        fs::create_dir_all(root.join("data/empty")).unwrap();
        fs::create_dir_all(root.join("left out")).unwrap();
        fs::write(root.join("data/a"), "abc").unwrap();
        for (target, name) in [
            ("a", "file"),
            ("../data", "folder"),
            ("../../bag", "top"),
            ("../..", "out"),
            ("/etc", "root"),
            ("b", "nowhere"),
        ] {
            symlink(target, root.join("data").join(name)).unwrap();
        }
        let contents = Contents::of(&root, "left out").unwrap();
        let found: Vec<_> = contents
            .entries
            .iter()
            .map(|(name, entry)| {
                let words = format!("{entry:?}");
                let end = words.find(['{', ' ']).unwrap_or(words.len());
                (str::from_utf8(name).unwrap(), words[..end].replace("Facts", ""))
            })
            .collect();
        let link = |name, target: &str| (name, format!("Link({target}"));
        assert_eq!(
            found,
            [
                ("data/a", "File(".to_owned()),
                ("data/empty", "EmptyFolder".to_owned()),
                link("data/file", "File("),
                link("data/folder", "Folder)"),
                link("data/nowhere", "Nowhere)"),
                link("data/out", "Out)"),
                link("data/root", "Out)"),
                link("data/top", "Folder)"),
            ]
        );
        assert_eq!(contents.oxum(), Oxum { bytes: 6, files: 2 });
    }
}
