//! What a run has hashed so far, in a file: one that is interrupted goes on from there.
//!
//! ```text
//! an entry: name, size, times, number and digests of a file    entry.rs
//! frames of entries, which hold only if they are whole          frames.rs
//! what was there when the journal was opened, by names          known.rs
//! ```
//!
//! Entries gather in memory and are written by a thread, five times a second, and brought to the
//! medium every five seconds. So who hashes does not wait for the disk, a killed process loses what
//! it hashed last, and a machine that goes down what it hashed in the last seconds.
//!
//! # What is taken for unchanged
//! A file that has the size, both times and the number on its device that it had when it was
//! hashed. The kernel sets the time of the last change of a file's state (`ctime`) at every write,
//! and it cannot be set back. It counts in ticks, though: a file that is written to twice within
//! one of them looks the same. So a file that changed less than three seconds before the run began,
//! or later, is not kept, and will be hashed again.

mod entry;
mod frames;
mod known;

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
use frames::Content;
use known::Known;

/// How long an entry waits in memory at most.
const WRITE_EVERY: Duration = Duration::from_millis(200);

/// How long one waits until it is on the medium, at most by this and the time that takes.
const SYNC_EVERY: Duration = Duration::from_secs(5);

/// How long before the run a file must have changed last: no file system's clock ticks slower.
const SETTLED: Duration = Duration::from_secs(3);

/// A journal that was not asked for gives way where there is less room: it must not take what the
/// list needs, which may be written this fast until the next look.
const ROOM: u64 = 16 << 20;

/// Another process may end, and remove its journal, so often while this one opens it.
const TRIES: u32 = 100;

/// Whether a run goes on from what a journal holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// It does not: all is read again, and kept in addition to what is there. If this run is
    /// interrupted, too, one that goes on has both.
    Anew,
    /// What it holds is known.
    Resumed,
}

/// What a journal is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// A list that is made: it holds what was hashed.
    List,
    /// A list that is made past the system's cache.
    DirectList,
    /// A check: it holds what was verified.
    Check,
    /// A check that reads past the system's cache: what was read another way says nothing of the
    /// medium.
    DirectCheck,
}

/// Why there is no journal. The path is the caller's to add.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The system's.
    #[error("{}", message(.0))]
    Io(io::Error),
    /// It is no journal, or one for another [`Purpose`]. Nothing of it is touched.
    #[error("is there, and is not what an interrupted run of this kind keeps; choose another name")]
    NotAJournal,
    /// Digests under one key are none under another.
    #[error(
        "was made with another key, or with none; go on with that one, or remove it to begin anew"
    )]
    OtherKey,
    /// It is a symbolic link.
    #[error("is a symbolic link, and no link is followed here; name the file that it leads to")]
    Link,
    /// Its lock is held.
    #[error("another run is writing it; wait for its end, or choose another name")]
    InUse,
}

impl From<io::Error> for JournalError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A journal: a file that no other process has as one at the same time.
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
    known: Known,
    begin: Begin,
    written: Option<Time>,
    /// When the run began, less what a clock may be behind.
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
    /// The frame that comes next.
    frame: Vec<u8>,
    /// How many other files than before are in what was written since it was opened, and how many
    /// are in the frame.
    kept: u64,
    pending: u64,
    /// How long it was when it was opened, where it is to give way.
    gives_way: Option<u64>,
    is_synced: bool,
    is_ended: bool,
    /// Why nothing more is kept.
    failure: Option<io::Error>,
}

impl Journal {
    /// Opens a journal, or makes one, and locks it.
    ///
    /// Digests that are made with a key are known again only with that key.
    ///
    /// # Errors
    /// It cannot be made, written or read; it is something else, or somebody else's. Nothing in it
    /// has changed then.
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
            Content::Nothing => (Known::default(), 0),
            Content::Journal { entries, end } => (Known::new(entries), end),
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
        // It needs little, and where memory is limited all else needs the rest.
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

    /// Its file, which a walk may meet.
    #[must_use]
    pub const fn inode(&self) -> Inode {
        self.inode
    }

    /// Its path, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many files it held when it was opened.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether it held none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// When it was written last, before it was opened; none where it was made.
    #[must_use]
    pub const fn written(&self) -> Option<Time> {
        self.written
    }

    /// How many other files were [kept](Self::keep) since then, and [written](Self::write).
    #[must_use]
    pub fn kept(&self) -> u64 {
        self.shared.lock().kept
    }

    /// What hashing a file gave, if it has not changed since, and that was with all of these
    /// algorithms. Links are followed. `None` of all files where the run [began](Begin) again.
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

    /// Keeps what hashing a file gave. What is no regular file, is empty, or changed just before
    /// the run, is not kept.
    pub fn keep(&self, path: &Path, hashed: &Hashed) {
        let Times { modified, changed } = hashed.times;
        // What the kernel makes when it is read looks empty, and does not tell when it changes.
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

    /// Whether it was closed or removed.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.shared.lock().is_ended
    }

    /// Writes what is kept, without waiting for the medium.
    pub fn write(&self) {
        self.shared.lock().write();
    }

    /// Ends it, with what it holds on the medium. Nothing more is kept.
    ///
    /// # Errors
    /// It could not be written, now or before: what came after that is not in it.
    pub fn close(&self) -> io::Result<()> {
        let mut state = self.end();
        state.write();
        state.failure.take().map_or_else(|| state.file.sync_data(), Err)
    }

    /// Ends it, and removes it: whatever it was for is done.
    ///
    /// # Errors
    /// The system's.
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

/// What was kept is written.
impl Drop for Journal {
    fn drop(&mut self) {
        self.end().write();
        // It panics nowhere, and if it did, what it had written would be whole.
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
                // Where that fails, too, what is there is whole frames and less than one.
                let _ = self.file.set_len(before);
            }
            (Err(_), None) => {}
        }
        self.note(result);
    }

    /// # Errors
    /// There is little room, and the journal was not asked for.
    fn look_for_room(&self) -> io::Result<()> {
        let room = self.gives_way.and_then(|_| fstatvfs(&self.file).ok());
        // Some file systems do not tell.
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

/// Opens the file that a path leads to once it is locked; links are not followed.
fn open_locked(path: &Path) -> Result<File, JournalError> {
    for _ in 0..TRIES {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        // A FIFO or a device must not be waited for.
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
        // Who had it before may have removed it.
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

        /// The journal, to which every file has been as it is for long.
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
        // The last that was kept of a file counts.
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
