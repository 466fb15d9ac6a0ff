//! An existing list: the properties that its replacement must have, and overwriting it if a
//! replacement could not have them.

use std::fs::{File, Permissions};
use std::io::{self, Seek as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate, flistxattr, fremovexattr};
use rustix::io::Errno;

/// The attribute that holds a POSIX ACL.
const ACL: &str = "system.posix_acl_access";

/// A regular file that will hold the list, open for writing.
pub struct Existing {
    pub file: File,
    /// The number of hard links.
    links: u64,
    owner: Owner,
    mode: u32,
}

/// User and group.
type Owner = (u32, u32);

impl Existing {
    /// Opens it without changing it.
    ///
    /// # Errors
    /// Errors of the system: the file is not writable.
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

    /// Gives a new file the owner, group and mode of this one. Returns whether it can replace this
    /// file without losing anything.
    pub fn pass_on(&self, to: &File) -> bool {
        self.links == 1
            && !self.has_attributes()
            && self.pass_on_owner(to).is_ok()
            && to.set_permissions(Permissions::from_mode(self.mode)).is_ok()
    }

    fn pass_on_owner(&self, to: &File) -> io::Result<()> {
        let new = to.metadata()?;
        // The ACL of the directory's default, which this file does not have.
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

    /// Returns whether the file has an ACL or user attributes. A new file gets the system's
    /// attributes itself.
    fn has_attributes(&self) -> bool {
        /// `XATTR_LIST_MAX`.
        const MOST: usize = 64 << 10;
        let mut names = vec![0; MOST];
        // If this fails, the file system has no attributes.
        let length = flistxattr(&self.file, &mut names[..]).unwrap_or(0);
        let mut names = names[..length].split(|&byte| byte == 0);
        names.any(|name| name == ACL.as_bytes() || name.starts_with(b"user."))
    }

    /// Copies a complete list into it.
    ///
    /// # Errors
    /// Errors of the system. Those that are found before anything is overwritten are
    /// [`Overwriting::NotBegun`].
    pub fn overwrite(&mut self, mut list: &File) -> Result<(), Overwriting> {
        let length = list.metadata().map_err(Overwriting::NotBegun)?.len();
        if length > 0
            && let Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG | Errno::IO)) =
                fallocate(&self.file, FallocateFlags::KEEP_SIZE, 0, length)
        {
            // Releases the reserved space after the end, which another process may have moved.
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
