//! One file, a disk's image, served through FUSE: a request is answered when the model says that
//! the disk is done with it.
//!
//! The session's thread hands each request to the model, in the order in which the kernel sends
//! them, and never waits; a thread of its own sends the answers when they are due. So any number of
//! requests is under way.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, UNIX_EPOCH};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr,
    ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, WriteFlags,
};

use super::image::Image;
use super::model::{Drive, Model, Work};
use crate::options::Interrupt;

/// The file's name in the folder where it is mounted.
pub const FILE: &str = "disk";
/// What is mounted, as `/proc/self/mounts` names it.
pub const SOURCE: &str = "lanesum-bench";

const INODE: INodeNo = INodeNo(2);
/// Requests that the kernel may have under way: more than any device below a loop device gets.
const MOST_REQUESTS: u16 = 1024;
/// Nothing is kept by the kernel: a dead session shows as soon as somebody looks.
const FRESH: Duration = Duration::ZERO;

/// A disk's file, mounted until dropped.
pub struct Served {
    shared: Arc<Shared>,
    session: Option<BackgroundSession>,
    sender: Option<JoinHandle<()>>,
}

impl Served {
    /// Mounts a disk of so many bytes in `folder`. Once interrupted it serves at once, so that
    /// whoever reads from it comes to an end.
    pub fn mount(
        model: Model,
        bytes: u64,
        folder: &Path,
        interrupt: &Interrupt,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            interrupt: interrupt.clone(),
            image: Image::new(bytes)?,
            start: Instant::now(),
            drive: Mutex::new(Drive::new(model, bytes)),
            queue: Mutex::default(),
            changed: Condvar::new(),
        });
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName(SOURCE.to_owned())];
        let session = fuser::spawn_mount(Session(Arc::clone(&shared)), folder, &config)?;
        let sending = Arc::clone(&shared);
        let sender =
            thread::Builder::new().name("disk".to_owned()).spawn(move || sending.send())?;
        Ok(Self { shared, session: Some(session), sender: Some(sender) })
    }

    /// From now on requests cost time and are counted.
    pub fn begin(&self) {
        self.shared.drive().begin();
    }

    /// Returns what was counted; requests cost nothing from now on.
    pub fn end(&self) -> Work {
        self.shared.drive().end()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.session.take().map(BackgroundSession::umount_and_join) {
            eprintln!("lanesum-bench: unmounting a simulated disk: {error}");
        }
        self.shared.queue().ended = true;
        self.shared.changed.notify_one();
        if let Some(sender) = self.sender.take() {
            // It panics only where the panic is told already.
            let _ = sender.join();
        }
    }
}

/// What the session's thread and the sender share.
struct Shared {
    interrupt: Interrupt,
    image: Image,
    /// The moment that the drive's times count from.
    start: Instant,
    drive: Mutex<Drive>,
    queue: Mutex<Queue>,
    /// There is an answer that is due before all others, or the end.
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    answers: BinaryHeap<Answer>,
    ended: bool,
}

/// An answer that waits until it is due.
struct Answer {
    due: Duration,
    to: To,
}

enum To {
    Read { reply: ReplyData, at: u64, bytes: usize },
    Write { reply: ReplyWrite, bytes: u32 },
}

impl Shared {
    fn drive(&self) -> MutexGuard<'_, Drive> {
        self.drive.lock().expect("no panic while a request is counted")
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().expect("no panic in a queue")
    }

    /// Lets the drive serve a request and queues its answer.
    fn serve(&self, at: u64, bytes: u64, to: To) {
        let now = self.start.elapsed();
        let served = self.drive().serve(now, at, bytes);
        let due = if self.interrupt.check().is_ok() { served } else { now };
        let mut queue = self.queue();
        let is_first = queue.answers.peek().is_none_or(|first| due < first.due);
        queue.answers.push(Answer { due, to });
        if is_first {
            self.changed.notify_one();
        }
    }

    /// Sends answers when they are due, until the end.
    fn send(&self) {
        let mut buffer = Vec::new();
        let mut queue = self.queue();
        while !queue.ended {
            let wait =
                queue.answers.peek().map(|first| first.due.saturating_sub(self.start.elapsed()));
            queue = match wait {
                Some(Duration::ZERO) => {
                    let answer = queue.answers.pop();
                    drop(queue);
                    answer.into_iter().for_each(|answer| self.answer(answer.to, &mut buffer));
                    self.queue()
                }
                Some(wait) => self.changed.wait_timeout(queue, wait).expect("no panic").0,
                None => self.changed.wait(queue).expect("no panic"),
            };
        }
    }

    /// `buffer` is there to be used again.
    fn answer(&self, to: To, buffer: &mut Vec<u8>) {
        match to {
            To::Write { reply, bytes } => reply.written(bytes),
            To::Read { reply, at, bytes } => {
                if buffer.len() < bytes {
                    buffer.resize(bytes, 0);
                }
                match self.image.read(at, &mut buffer[..bytes]) {
                    Ok(there) => reply.data(&buffer[..there]),
                    Err(error) => reply.error(error.into()),
                }
            }
        }
    }
}

/// The greatest is the one that is due first.
impl Ord for Answer {
    fn cmp(&self, other: &Self) -> Ordering {
        other.due.cmp(&self.due)
    }
}

impl PartialOrd for Answer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Answer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Answer {}

/// The file system: a folder with one file.
struct Session(Arc<Shared>);

impl Session {
    fn attributes(&self, inode: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match inode {
            INodeNo::ROOT => (FileType::Directory, 0o700, 0),
            INODE => (FileType::RegularFile, 0o600, self.0.image.bytes()),
            _ => return None,
        };
        Some(FileAttr {
            ino: inode,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }
}

impl Filesystem for Session {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let refused = |_| io::Error::other("this kernel's FUSE has no asynchronous direct I/O");
        config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(refused)?;
        // Only zero would be refused.
        let _ = config.set_max_background(MOST_REQUESTS);
        let _ = config.set_congestion_threshold(MOST_REQUESTS);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let is_file = parent == INodeNo::ROOT && name == FILE;
        match self.attributes(INODE).filter(|_| is_file) {
            Some(attributes) => reply.entry(&FRESH, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(inode) {
            Some(attributes) => reply.attr(&FRESH, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        at: u64,
        bytes: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.0.serve(at, u64::from(bytes), To::Read { reply, at, bytes: bytes as usize });
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        at: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.0.image.write(at, data) {
            Ok(()) => {
                let bytes = data.len() as u32;
                self.0.serve(at, u64::from(bytes), To::Write { reply, bytes });
            }
            Err(error) => reply.error(error.into()),
        }
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }
}
