//! A child process that `fork` has made has no threads but one: there the system is not.

use std::ffi::c_int;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime};

use lanesum_events::{ActionId, AddError, Cancel, EventSystem, Handle, Shutdown, TransactionError};

// Rust has no safe call of `fork`.
unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
}

const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// The results in the child.
fn look(parents: EventSystem, handle: Handle, pending: ActionId) -> String {
    let added = [
        parents.add_after(Duration::ZERO, |_| {}).err(),
        handle.add_at(SystemTime::now(), |_| {}).err(),
    ];
    let transaction = parents.transaction(|_| Ok::<_, TransactionError>(())).err();
    let found = (parents.cancel_and_wait(pending), parents.len(), parents.pending().len());
    parents.wait_idle();
    handle.shutdown(Shutdown::Drain);
    drop(parents);
    // A new system in the child works.
    let (send, receive) = channel();
    let own = EventSystem::start().unwrap();
    own.add_after(Duration::ZERO, move |_| send.send("own").unwrap()).unwrap();
    let ran = receive.recv().unwrap();
    format!("{added:?} {transaction:?} {found:?} {ran}")
}

#[test]
#[cfg_attr(sanitized, ignore = "a sanitizer counts on threads that the child does not have")]
fn a_forked_child_gets_an_error() {
    let system = EventSystem::start().unwrap();
    let (handle, pending) = (system.handle(), system.add_after(YEAR, |_| {}).unwrap());
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    // SAFETY: the C library keeps its allocator usable in the child. Of the locks that other
    // threads may hold, the child uses only those of the system, which is tested here.
    let child = unsafe { fork() };
    assert!(child >= 0, "{}", std::io::Error::last_os_error());
    if child == 0 {
        let text = catch_unwind(AssertUnwindSafe(|| look(system, handle, pending)));
        writer.write_all(text.unwrap_or_else(|_| "it panics".into()).as_bytes()).unwrap();
        std::process::exit(0);
    }
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    let refused = (
        [Some(AddError::Forked); 2],
        Some(TransactionError::Refused(AddError::Forked)),
        (Cancel::Gone, 0, 0),
    );
    assert_eq!(text, format!("{:?} {:?} {:?} own", refused.0, refused.1, refused.2));
    let mut status = -1;
    // SAFETY: the status is a number that lives on.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    // The parent's goes on.
    assert_eq!(system.cancel(pending), Cancel::Cancelled);
    assert!(handle.add_after(YEAR, |_| {}).is_ok());
}
