//! Whether what was read is what a row or a path means: roots, mounts and files come and go.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use lanesum_checksum::Error;
use lanesum_checksum::engine::{self, Hashed};
use rustix::fs::{Mode, OFlags, ResolveFlags, fstat, lstat, open, openat2};
use rustix::io::Errno;

use super::{Work, inode_at};
use crate::CatalogError;
use crate::class::{Class, Status};
use crate::jobs::Task;
use crate::mounts::Mounts;
use crate::rows::File;
use crate::stat::Stat;
use crate::way::{There, Ways};

impl Work<'_> {
    /// What was read for, if that is what was read: otherwise it is hidden, gone, or tried again.
    pub(super) fn in_place(
        &mut self,
        path: &Path,
        task: Task,
        result: &Result<Hashed, Error>,
    ) -> Result<Option<Task>, CatalogError> {
        let file = match &task {
            Task::Row(file) => Some(&**file),
            Task::Long(long, _) => Some(&long.file),
            Task::New => {
                let below = self.below(path);
                // Of a first run, the window is looked at by commits.
                let Some(mount) = self.mount_over(&below, !self.is_first)? else {
                    return Ok(Some(task));
                };
                if !self.mounts.contains(&mount) {
                    self.mounts.push(mount);
                }
                return Ok(None);
            }
            _ => None,
        };
        let Some(file) = file else { return Ok(Some(task)) };
        let is_another = |hashed| !self.is_of_row(file, result) && self.was_elsewhere(path, hashed);
        match self.there(file, result)? {
            There::Mount(mount) => self.hide(mount, file.id)?,
            There::Gone => self.miss(&file.clone())?,
            There::File if result.as_ref().is_ok_and(is_another) => match task {
                Task::Row(file) => self.is_busy(path.to_owned(), Some(file))?,
                _ => self.hidden += 1,
            },
            There::File => return Ok(Some(task)),
        }
        Ok(None)
    }

    /// Whether the root is what it was when the run began. Where it is not, what is not committed
    /// may be of either of the two: nothing of that is kept.
    pub(crate) fn look_at_root(&mut self) -> Result<(), CatalogError> {
        if self.vanished.is_none()
            && inode_at(&self.batch.root.path) != self.place
            && let Some(why) = self.batch.root.why_not_there()
        {
            self.vanished = Some(why);
            self.batch.discard(&self.catalog.db)?;
        }
        Ok(())
    }

    /// What is mounted over a path below the root, perhaps since the run began; as of this moment,
    /// or of a moment ago.
    pub(crate) fn mount_over(
        &mut self,
        below: &[u8],
        is_exact: bool,
    ) -> Result<Option<Vec<u8>>, CatalogError> {
        const MOMENT: Duration = Duration::from_millis(10);
        if is_exact || self.looked.is_none_or(|at| at.elapsed() > MOMENT) {
            self.look_at_mounts()?;
        }
        Ok(self.below.as_ref().and_then(|mounts| mounts.over(below)).map(<[u8]>::to_vec))
    }

    fn look_at_mounts(&mut self) -> Result<(), CatalogError> {
        self.looked = Some(Instant::now());
        let has_changed = self.table.has_changed();
        self.mounts_have_changed |= has_changed;
        if has_changed || self.below.is_none() {
            self.below = Some(Mounts::below(&self.batch.root.path)?);
        }
        Ok(())
    }

    /// Reads again what is to be inserted and may be of something that was mounted meanwhile.
    pub(super) fn take_back_what_was_mounted(&mut self) -> Result<(), CatalogError> {
        self.look_at_mounts()?;
        if !mem::take(&mut self.mounts_have_changed) {
            return Ok(());
        }
        let (place, root) = (self.place, self.batch.root.clone());
        let below = self.below.as_ref();
        let holds = |path: &[u8], stat: &Stat| {
            let own = place.map(|[device, _]| device);
            let now = stat_in_place(&root.path, path, own).ok().and_then(|it| Stat::of(&it));
            now.is_some_and(|(now, _)| now.inode == stat.inode)
                && below.is_none_or(|mounts| mounts.over(path).is_none())
        };
        let taken_back: BTreeSet<_> = self.batch.take_back(holds).into_iter().collect();
        self.inserted.retain(|(path, ..)| !taken_back.contains(path));
        for path in taken_back {
            if self.is_first {
                self.batch.uncount(Class::New);
            }
            self.is_busy(root.path_of(&path), None)?;
        }
        Ok(())
    }

    /// What is at the place of a row, where something else was read than its file, or nothing: a
    /// mount or a link may have come since the way to it was looked at.
    pub(super) fn there(
        &self,
        file: &File,
        result: &Result<Hashed, Error>,
    ) -> Result<There, CatalogError> {
        if self.is_of_row(file, result) {
            return Ok(There::File);
        }
        self.look_again(&file.place())
    }

    /// Whether the inode that was read is the row's.
    pub(super) fn is_of_row(&self, file: &File, result: &Result<Hashed, Error>) -> bool {
        let own = self.place.map(|[device, _]| device);
        let is_number =
            |number: u64| !self.batch.root.inodes_last || number == file.stat.inode.cast_unsigned();
        let inode = result.as_ref().ok().and_then(|hashed| hashed.inode);
        inode.is_some_and(|it| Some(it.device) == own && is_number(it.number))
    }

    /// Whether what was read is not what is at its path now: something was mounted there, or
    /// another file took its place, and nothing of it is known.
    pub(super) fn was_elsewhere(&self, path: &Path, hashed: &Hashed) -> bool {
        let Some(read) = hashed.inode else { return false };
        // Over the root, which is none of the mounts in it.
        if inode_at(&self.batch.root.path) != self.place {
            return true;
        }
        let (own, below) = (self.place.map(|[device, _]| device), self.below(path));
        match stat_in_place(&self.batch.root.path, &below, own) {
            Ok(now) if engine::inode_of(&now) != read => true,
            // A subvolume is another device as well, and no mount.
            Ok(_) => {
                let is_in_place = || self.look_again(&below).is_ok_and(|it| it == There::File);
                own != Some(read.device) && !is_in_place()
            }
            Err(error) => matches!(error, Errno::LOOP | Errno::XDEV),
        }
    }

    /// What is at a path now, with all that is on the way.
    pub(super) fn look_again(&self, below: &[u8]) -> Result<There, CatalogError> {
        Ok(Ways::of(&self.batch.root.path)?.look(below))
    }

    /// Notes that a file is hidden by a mount. It stays known that it could not be looked at, but
    /// not in place of what is known.
    pub(crate) fn hide(&mut self, mount: Vec<u8>, id: i64) -> Result<(), CatalogError> {
        self.hidden += 1;
        self.hide_row(id)?;
        if !self.mounts.contains(&mount) {
            self.mounts.push(mount);
        }
        Ok(())
    }

    /// Keeps in mind that the file of a row is hidden.
    pub(crate) fn hide_row(&mut self, id: i64) -> Result<(), CatalogError> {
        if !self.statuses.contains_key(&id) {
            self.batch.state(id, self.catalog.checked(id)?, Status::Hidden);
            self.statuses.insert(id, Status::Hidden);
        }
        Ok(())
    }

    /// Whether the root went away while a file was looked for, of which nothing is said then.
    pub(super) fn is_away(&mut self) -> bool {
        if inode_at(&self.batch.root.path) != self.place
            && let Some(why) = self.batch.root.why_not_there()
        {
            self.vanished.get_or_insert(why);
        }
        self.vanished.is_some()
    }
}

/// What is at a path below a root: `LOOP` where a link is on the way, and `XDEV` where something is
/// mounted there or on the way. That is asked, since a file may have another device than its folder
/// all the same, as on an overlay of two file systems.
fn stat_in_place(root: &Path, below: &[u8], own: Option<u64>) -> Result<rustix::fs::Stat, Errno> {
    let root_folder =
        open(root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let ways = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    match openat2(root_folder, below, flags, Mode::empty(), ways) {
        Ok(file) => fstat(file),
        // A system that does not know it, or does not let it through: devices have to do.
        Err(Errno::NOSYS | Errno::PERM) => {
            let stat = lstat(root.join(OsStr::from_bytes(below)))?;
            if own.is_some_and(|own| own != stat.st_dev) { Err(Errno::XDEV) } else { Ok(stat) }
        }
        Err(error) => Err(error),
    }
}
