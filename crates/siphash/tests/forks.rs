//! A forked process makes other keys than its parent. Rust has no safe call of `fork`.

#![cfg(all(unix, feature = "std"))]

use std::ffi::c_int;
use std::io::{Read as _, Write as _, pipe};

use lanesum_siphash::SipHash13;

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

#[test]
fn forked_process_makes_other_keys() {
    // The thread has a key, which the child would inherit.
    let _ = SipHash13::random();
    let (mut of_child, mut to_parent) = pipe().unwrap();
    // SAFETY: the child allocates nothing, and ends without the destructors of its parent.
    let child = unsafe { fork() };
    assert!(child >= 0, "{}", std::io::Error::last_os_error());
    let hash = SipHash13::random().hash(b"lane");
    if child == 0 {
        let is_written = to_parent.write_all(&hash.to_ne_bytes()).is_ok();
        // SAFETY: ends the process.
        unsafe { _exit(i32::from(!is_written)) }
    }
    drop(to_parent);
    let mut other = [0; 8];
    of_child.read_exact(&mut other).unwrap();
    assert_ne!(u64::from_ne_bytes(other), hash);
    let mut status = -1;
    // SAFETY: the status is a number that lives on.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
}

#[test]
fn threads_make_different_keys() {
    let hashes = || (0..100).map(|_| SipHash13::random().hash(b"lane")).collect::<Vec<_>>();
    let mut all = hashes();
    all.extend(std::thread::spawn(hashes).join().unwrap());
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 200);
}
