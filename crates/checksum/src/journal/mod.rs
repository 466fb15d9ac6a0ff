//! A journal of the files that a run has hashed, so that an interrupted run can continue.
//!
//! ```text
//! entry: name, size, times, inode and digests of a file         entry.rs
//! frames of entries, valid only if they are complete            frames.rs
//! the entries when the journal was opened, by file name         entries.rs
//! ```
//!
//! A thread writes the collected entries five times per second, and syncs them to the medium every
//! five seconds. So hashing does not wait for the disk. A killed process loses the last entries,
//! and a crash of the machine loses those of the last seconds.
//!
//! # Which files count as unchanged
//! A file with the same size, times and inode as when it was hashed. The kernel sets the change
//! time (`ctime`) at every write, and no program can set it back. But it advances in ticks, and two
//! writes within a tick give the same time. So a file that changed less than three seconds before
//! the start of the run, or later, is not kept and will be hashed again.

mod entries;
mod entry;
mod frames;

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lanesum_list::{Inode, Time, Times};
use rustix::fs::{FileType, OFlags, Stat, StatVfs, fstat, fstatvfs, stat};

use crate::engine::{FileVersion, Hashed, inode_of, inode_of_file};
use crate::error::message;
use crate::{Algorithms, Key};
use entries::JournalEntries;
use frames::Content;

/// The longest time that an entry waits in memory.
const WRITE_EVERY: Duration = Duration::from_millis(200);

/// The longest time before an entry is synced, not including the time of the sync.
const SYNC_EVERY: Duration = Duration::from_secs(5);

/// The minimum age of the last change of a file before the run. No file system has longer ticks.
const SETTLED: Duration = Duration::from_secs(3);

/// The free space below which an automatic journal stops, so that the list has room. The list may
/// grow by this size until the next check.
const ROOM: u64 = 16 << 20;

/// The number of attempts to open a journal while other processes remove theirs.
const TRIES: u32 = 100;

/// Whether a run continues from a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// The run reads all files again, and adds them to the journal. If it is interrupted, a later
    /// run can use both.
    Anew,
    /// The run uses the entries of the journal.
    Resumed,
}

/// The purpose of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// A new list. The entries are hashed files.
    List,
    /// A new list with direct reads.
    DirectList,
    /// A check. The entries are verified files.
    Check,
    /// A check with direct reads. Other reads do not prove the bytes on the medium.
    DirectCheck,
}

/// The reason why a journal cannot be used. The caller adds the path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Fails with the error of the system.
    #[error("{}", message(.0))]
    Io(io::Error),
    /// The file is not a journal, or a journal for another [`Purpose`]. It is not changed.
    #[error("exists, but is not the state of an interrupted run")]
    NotAJournal,
    /// The journal has digests under another key.
    #[error("made with a different key, or without one")]
    OtherKey,
    /// The path is a symbolic link.
    #[error("a symbolic link, which is not followed here")]
    Link,
    /// Another process has locked the journal.
    #[error("in use by another run")]
    InUse,
}

impl From<io::Error> for JournalError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A journal, locked against other processes.
///
/// ```
/// use lanesum_checksum::journal::{Begin, Journal, Purpose};
/// use lanesum_checksum::{Algorithm, Job, Source, engine};
///
/// let folder = tempfile::tempdir()?;
/// let (file, path) = (folder.path().join("file"), folder.path().join("list.partial"));
/// std::fs::write(&file, "abc")?;
/// # std::fs::File::options().write(true).open(&file)?.set_modified(std::time::UNIX_EPOCH)?;
///
/// let journal = Journal::open(&path, Purpose::List, None, Begin::Resumed)?;
/// assert!(journal.known(&file, Algorithm::Md5.into()).is_none());
/// let job = Job { source: Source::Path(file.clone()), algorithms: Algorithm::Md5.into(), context: () };
/// for outcome in engine::run(&engine::Options::default(), std::iter::once(job)) {
///     journal.keep(&file, &outcome.result?);
/// }
/// // The end of the list: the journal is not needed any more.
/// journal.remove()?;
/// assert!(!path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    inode: Inode,
    known: JournalEntries,
    begin: Begin,
    written: Option<Time>,
    /// The start of the run, minus the possible delay of a clock.
    settled_before: Option<Time>,
    shared: Arc<Kept>,
    writer: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Kept {
    state: Mutex<State>,
    ends: Condvar,
}

#[derive(Debug)]
struct State {
    file: File,
    /// The next frame.
    frame: Vec<u8>,
    /// The number of new files written since the journal was opened, and the number in the frame.
    kept: u64,
    pending: u64,
    /// The initial length, if the journal stops when space is low.
    gives_way: Option<u64>,
    is_synced: bool,
    is_ended: bool,
    /// The reason why the journal keeps no further entries.
    failure: Option<io::Error>,
}

impl Journal {
    /// Opens or creates a journal, and locks it.
    ///
    /// Digests under a key are available only with the same key.
    ///
    /// # Errors
    /// Fails if the journal cannot be created, written or read, if the file is not a journal, or if
    /// another process uses it. The file is then unchanged.
    pub fn open(
        path: &Path,
        purpose: Purpose,
        key: Option<&Key>,
        begin: Begin,
    ) -> Result<Self, JournalError> {
        let settled = SystemTime::now().checked_sub(SETTLED);
        let mut file = open_locked(path)?;
        let opened = fstat(&file).map_err(io::Error::from)?;
        let written = FileVersion::of(&opened).times().modified.filter(|_| opened.st_size > 0);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (known, end) = match frames::read(&bytes, purpose, key) {
            Content::Other => return Err(JournalError::NotAJournal),
            Content::OtherKey => return Err(JournalError::OtherKey),
            Content::Nothing => (JournalEntries::default(), 0),
            Content::Journal { entries, end } => (JournalEntries::new(entries), end),
        };
        drop(bytes);
        file.set_len(end as u64)?;
        file.seek(SeekFrom::Start(end as u64))?;
        if end == 0 {
            file.write_all(&frames::head(purpose, key))?;
        }
        let mut frame = Vec::new();
        frames::begin(&mut frame);
        let inode = inode_of_file(&file)?;
        let to_sync = file.try_clone()?;
        let state = State {
            file,
            frame,
            kept: 0,
            pending: 0,
            gives_way: (begin == Begin::Anew).then_some(end as u64),
            is_synced: true,
            is_ended: false,
            failure: None,
        };
        let shared = Arc::new(Kept { state: Mutex::new(state), ends: Condvar::new() });
        let theirs = Arc::clone(&shared);
        // A small stack is enough, and other parts may need the memory.
        let writer = thread::Builder::new().name("journal".to_owned()).stack_size(128 << 10);
        let writer = writer.spawn(move || theirs.write_until_the_end(&to_sync))?;
        Ok(Self {
            path: path.to_owned(),
            inode,
            known,
            begin,
            written,
            settled_before: settled.and_then(time),
            shared,
            writer: Some(writer),
        })
    }

    /// Returns the inode of its file, which a walk may find.
    #[must_use]
    pub const fn inode(&self) -> Inode {
        self.inode
    }

    /// Returns its path, as given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of files when it was opened.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Returns whether it had no files when it was opened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the time of the last write before it was opened, or `None` for a new journal.
    #[must_use]
    pub const fn written(&self) -> Option<Time> {
        self.written
    }

    /// Returns the number of new files [kept](Self::keep) and [written](Self::write) since it was
    /// opened.
    #[must_use]
    pub fn kept(&self) -> u64 {
        self.shared.lock().kept
    }

    /// Returns the result of a file if the file has not changed and the result has all of the
    /// algorithms. Follows links. Returns `None` for all files if the run [starts](Begin) again.
    #[must_use]
    pub fn known(&self, path: &Path, algorithms: Algorithms) -> Option<Hashed> {
        if self.begin == Begin::Anew || self.is_empty() {
            return None;
        }
        let entry = self.known.get(path.as_os_str().as_encoded_bytes())?;
        let stat = stat(path).ok()?;
        let version = FileVersion::of(&stat);
        let is_same = version.size() == entry.size
            && version.times() == entry.times
            && version.inode().number == entry.number;
        if is_regular(&stat) && is_same { entry.hashed(algorithms, version.inode()) } else { None }
    }

    /// Adds the result of a file. Does not keep files that are not regular, that are empty, or that
    /// changed just before the run.
    pub fn keep(&self, path: &Path, hashed: &Hashed) {
        let Times { modified, changed } = hashed.times;
        // Generated files look empty and have no change time.
        if hashed.bytes == 0 || modified.max(changed) >= self.settled_before {
            return;
        }
        let name = path.as_os_str().as_encoded_bytes();
        let is_new = self.known.get(name).is_none();
        let mut state = self.shared.lock();
        if !state.is_ended && state.failure.is_none() {
            let before = state.frame.len();
            entry::write(&mut state.frame, name, hashed);
            state.pending += u64::from(is_new && state.frame.len() > before);
        }
    }

    /// Returns whether the journal was closed or removed.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.shared.lock().is_ended
    }

    /// Writes the kept entries without syncing them.
    pub fn write(&self) {
        self.shared.lock().write();
    }

    /// Closes the journal and syncs its entries. It keeps no further entries.
    ///
    /// # Errors
    /// Fails if a write failed, now or before. Entries after that are missing.
    pub fn close(&self) -> io::Result<()> {
        let mut state = self.end();
        state.write();
        state.failure.take().map_or_else(|| state.file.sync_data(), Err)
    }

    /// Closes and removes the journal, after its purpose is fulfilled.
    ///
    /// # Errors
    /// Fails with the error of the system.
    pub fn remove(&self) -> io::Result<()> {
        let mut state = self.end();
        frames::begin(&mut state.frame);
        fs::remove_file(&self.path)
    }

    fn end(&self) -> MutexGuard<'_, State> {
        let mut state = self.shared.lock();
        state.is_ended = true;
        self.shared.ends.notify_all();
        state
    }
}

/// The kept entries are written.
impl Drop for Journal {
    fn drop(&mut self) {
        self.end().write();
        // The code does not panic, and if it did, the written frames would be complete.
        let _ = self.writer.take().map(JoinHandle::join);
    }
}

impl Kept {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_until_the_end(&self, file: &File) {
        let mut synced = Instant::now();
        let mut state = self.lock();
        while !state.is_ended {
            let waited = self.ends.wait_timeout(state, WRITE_EVERY);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.write();
            if synced.elapsed() < SYNC_EVERY {
                continue;
            }
            synced = Instant::now();
            if !std::mem::replace(&mut state.is_synced, true) {
                drop(state);
                let result = file.sync_data();
                state = self.lock();
                state.note(result);
            }
        }
    }
}

impl State {
    fn write(&mut self) {
        if frames::is_empty(&self.frame) || self.failure.is_some() {
            return;
        }
        frames::end(&mut self.frame);
        let result = self.look_for_room().and_then(|()| self.file.write_all(&self.frame));
        frames::begin(&mut self.frame);
        self.is_synced = false;
        let pending = std::mem::take(&mut self.pending);
        match (&result, self.gives_way) {
            (Ok(()), _) => self.kept += pending,
            (Err(_), Some(before)) => {
                self.kept = 0;
                // If that fails as well, the file has complete frames and a part of one.
                let _ = self.file.set_len(before);
            }
            (Err(_), None) => {}
        }
        self.note(result);
    }

    /// # Errors
    /// Fails if space is low and the journal is automatic.
    fn look_for_room(&self) -> io::Result<()> {
        let room = self.gives_way.and_then(|_| fstatvfs(&self.file).ok());
        // Some file systems do not report free space.
        let is_little = |room: &StatVfs| {
            room.f_blocks > 0 && room.f_bavail.saturating_mul(room.f_frsize) < ROOM
        };
        if room.is_some_and(|room| is_little(&room)) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    fn note(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }
}

/// Opens and locks the file at a path. Does not follow links.
fn open_locked(path: &Path) -> Result<File, JournalError> {
    for _ in 0..TRIES {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        // Opening a FIFO or a device must not block.
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
        let file = options.open(path).map_err(|error| match path.is_symlink() {
            true => JournalError::Link,
            false => error.into(),
        })?;
        let opened = fstat(&file).map_err(io::Error::from)?;
        if !is_regular(&opened) {
            return Err(JournalError::NotAJournal);
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(JournalError::InUse),
            // Some file systems have no locks.
            Err(fs::TryLockError::Error(_)) => return Ok(file),
        }
        // The previous owner may have removed it.
        if stat(path).is_ok_and(|there| inode_of(&there) == inode_of(&opened)) {
            return Ok(file);
        }
    }
    Err(JournalError::InUse)
}

fn time(time: SystemTime) -> Option<Time> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Some(Time { seconds: since.as_secs().try_into().ok()?, nanoseconds: since.subsec_nanos() })
}

fn is_regular(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Algorithm, Job, Source, engine};

    const MD5: Algorithm = Algorithm::Md5;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn write(&self, name: &str, content: &str) -> PathBuf {
            fs::write(self.path(name), content).unwrap();
            self.path(name)
        }

        /// Opens the journal as if all files had changed long ago.
        fn open(&self, begin: Begin) -> Journal {
            let mut journal =
                Journal::open(&self.path("partial"), Purpose::List, None, begin).unwrap();
            journal.settled_before = Some(Time { seconds: i64::MAX, nanoseconds: 0 });
            journal
        }
    }

    fn hash(path: &Path) -> Hashed {
        let source = Source::Path(path.to_owned());
        let job = Job { source, algorithms: MD5.into(), context: () };
        let mut run = engine::run(&engine::Options::default(), std::iter::once(job));
        run.next().unwrap().result.unwrap()
    }

    #[test]
    fn a_file_is_known_until_it_changes() {
        let folder = Folder::new();
        let files = ["a", "b", "c", "d"].map(|name| folder.write(name, name));
        let journal = folder.open(Begin::Resumed);
        let hashed = files.each_ref().map(|file| hash(file));
        for (file, hashed) in files.iter().zip(&hashed) {
            assert_eq!(journal.known(file, MD5.into()), None);
            journal.keep(file, hashed);
        }
        journal.write();
        assert_eq!((journal.len(), journal.kept()), (0, 4));
        drop(journal);

        let [a, b, c, d] = &files;
        folder.write("b", "B");
        fs::rename(d, c).unwrap();
        let journal = folder.open(Begin::Resumed);
        assert_eq!(journal.len(), 4);
        assert_eq!(journal.known(a, MD5.into()).as_ref(), Some(&hashed[0]));
        assert_eq!(journal.known(a, Algorithm::Sha1.into()), None, "was not computed");
        assert_eq!(journal.known(b, MD5.into()), None, "was written to");
        assert_eq!(journal.known(c, MD5.into()), None, "is another file");
        assert_eq!(journal.known(d, MD5.into()), None, "is not there");
        // The last entry of a file counts.
        journal.keep(b, &hash(b));
        journal.write();
        assert_eq!(journal.kept(), 0, "no other file");
        journal.close().unwrap();
        assert!(journal.is_ended());
        drop(journal);
        let journal = folder.open(Begin::Resumed);
        assert_eq!(journal.len(), 4);
        assert_eq!(journal.known(b, MD5.into()), Some(hash(b)));
    }

    #[test]
    fn a_file_changed_just_before_the_run_is_not_kept() {
        let folder = Folder::new();
        let [file, empty] = [folder.write("file", "abc"), folder.write("empty", "")];
        let journal =
            Journal::open(&folder.path("partial"), Purpose::List, None, Begin::Resumed).unwrap();
        journal.keep(&file, &hash(&file));
        journal.write();
        assert_eq!(journal.kept(), 0);
        drop(journal);
        let journal = folder.open(Begin::Resumed);
        journal.keep(&empty, &hash(&empty));
        journal.write();
        assert_eq!(journal.kept(), 0, "what is empty may be a file that the kernel makes");
    }

    #[test]
    fn a_journal_is_locked_and_removed_at_the_end() {
        let folder = Folder::new();
        let file = folder.write("file", "abc");
        let open = || Journal::open(&folder.path("partial"), Purpose::List, None, Begin::Resumed);
        let journal = folder.open(Begin::Anew);
        assert!(matches!(open(), Err(JournalError::InUse)));
        journal.keep(&file, &hash(&file));
        drop(journal);
        let other = folder.write("other", "def");
        let journal = folder.open(Begin::Anew);
        assert_eq!((journal.len(), journal.known(&file, MD5.into())), (1, None));
        journal.keep(&other, &hash(&other));
        drop(journal);
        let journal = folder.open(Begin::Resumed);
        assert_eq!(journal.known(&file, MD5.into()), Some(hash(&file)), "is not lost");
        assert_eq!(journal.known(&other, MD5.into()), Some(hash(&other)));
        journal.remove().unwrap();
        journal.keep(&file, &hash(&file));
        journal.write();
        assert!(!folder.path("partial").exists());
        drop(journal);
        assert!(open().unwrap().is_empty());
    }

    #[test]
    fn other_files_are_not_overwritten() {
        let folder = Folder::new();
        let path = folder.write("partial", "my own notes\n");
        for begin in [Begin::Anew, Begin::Resumed] {
            let error = Journal::open(&path, Purpose::List, None, begin).unwrap_err();
            assert!(matches!(error, JournalError::NotAJournal), "{error}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "my own notes\n");
        let link = folder.path("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(
            Journal::open(&link, Purpose::List, None, Begin::Anew),
            Err(JournalError::Link)
        ));
        assert!(Journal::open(Path::new("/dev/null"), Purpose::List, None, Begin::Anew).is_err());

        let key = Key::from_bytes(&[7; 32]).unwrap();
        let journal = folder.path("keyed");
        drop(Journal::open(&journal, Purpose::Check, Some(&key), Begin::Anew).unwrap());
        let error = Journal::open(&journal, Purpose::Check, None, Begin::Resumed).unwrap_err();
        assert!(matches!(error, JournalError::OtherKey), "{error}");
    }
}
