//! A list that is there already: what it has that its successor must have, and how it is
//! overwritten where a successor could not.

use std::fs::{File, Permissions};
use std::io::{self, Seek as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate, flistxattr, fremovexattr};
use rustix::io::Errno;

/// The attribute that holds a POSIX ACL.
const ACL: &str = "system.posix_acl_access";

/// A regular file that is to hold the list, open for writing.
pub struct Existing {
    pub file: File,
    /// How many names it has.
    links: u64,
    owner: Owner,
    mode: u32,
}

/// User and group.
type Owner = (u32, u32);

impl Existing {
    /// Opens it; nothing of it changes.
    ///
    /// # Errors
    /// The system's: it may not be written to.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::options().write(true).open(path)?;
        let found = file.metadata()?;
        Ok(Self {
            file,
            links: found.nlink(),
            owner: (found.uid(), found.gid()),
            mode: found.mode() & 0o7777,
        })
    }

    /// Gives a new file the owner, group and mode of this one; whether it may then take its place,
    /// with nothing lost.
    pub fn pass_on(&self, to: &File) -> bool {
        self.links == 1
            && !self.has_attributes()
            && self.pass_on_owner(to).is_ok()
            && to.set_permissions(Permissions::from_mode(self.mode)).is_ok()
    }

    fn pass_on_owner(&self, to: &File) -> io::Result<()> {
        let new = to.metadata()?;
        // That of the folder's default, which this file has not.
        match fremovexattr(to, ACL) {
            Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => return Err(error.into()),
        }
        let (user, group) = self.owner;
        if self.owner == (new.uid(), new.gid()) {
            Ok(())
        } else {
            fchown(to, Some(user), Some(group))
        }
    }

    /// Whether somebody attached something to it: an ACL or attributes of users. Those of the
    /// system a new file gets by itself.
    fn has_attributes(&self) -> bool {
        /// `XATTR_LIST_MAX`.
        const MOST: usize = 64 << 10;
        let mut names = vec![0; MOST];
        // Where it fails the file system has none.
        let length = flistxattr(&self.file, &mut names[..]).unwrap_or(0);
        let mut names = names[..length].split(|&byte| byte == 0);
        names.any(|name| name == ACL.as_bytes() || name.starts_with(b"user."))
    }

    /// Copies a whole list into it.
    ///
    /// # Errors
    /// The system's. What can be known before anything is overwritten is [`Overwriting::NotBegun`].
    pub fn overwrite(&mut self, mut list: &File) -> Result<(), Overwriting> {
        let length = list.metadata().map_err(Overwriting::NotBegun)?.len();
        if length > 0
            && let Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG | Errno::IO)) =
                fallocate(&self.file, FallocateFlags::KEEP_SIZE, 0, length)
        {
            // Gives back what it took, beyond the end that somebody else may have moved.
            if let Ok(found) = self.file.metadata() {
                let _ = self.file.set_len(found.len());
            }
            return Err(Overwriting::NotBegun(error.into()));
        }
        list.rewind().map_err(Overwriting::NotBegun)?;
        io::copy(&mut list, &mut self.file)
            .and_then(|_| self.file.set_len(length))
            .and_then(|()| self.file.sync_all())
            .map_err(Overwriting::Begun)
    }
}

/// How overwriting failed.
#[derive(Debug)]
pub enum Overwriting {
    NotBegun(io::Error),
    Begun(io::Error),
}
