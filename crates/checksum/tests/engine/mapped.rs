//! Mapped files, and the signal that reading them can raise.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::process::Signal;

use super::*;

/// Cuts every one of many long files off while they are in their lanes, down to nothing.
#[test]
fn many_files_that_are_cut_off_at_once() {
    const FILES: usize = 40;
    let folder = Folder::new();
    let content = bytes(3 << 20);
    let names: Vec<_> = (0..FILES).map(|index| format!("{index:02}")).collect();
    let jobs: Vec<_> = names.iter().map(|name| folder.job(name, &content)).collect();
    let last = folder.job("last", &content);
    for threads in [1, 3] {
        for job in &jobs {
            fs::write(folder.path(&job.context), &content).unwrap();
        }
        // The first outcomes come out before the last jobs are asked for.
        let cut = |index: usize| {
            if index == FILES - 1 {
                for name in &names {
                    File::options()
                        .write(true)
                        .open(folder.path(name))
                        .unwrap()
                        .set_len(0)
                        .unwrap();
                }
            }
        };
        let all = jobs.iter().cloned().enumerate().map(|(index, job)| {
            cut(index);
            job
        });
        let outcomes = run(&on(Io::Mmap, threads), all.chain([last.clone()]));
        let whole = md5(&content);
        for (name, outcome) in names.iter().zip(&outcomes) {
            let expected = [whole.as_str(), "changed while it was read", &md5(b"")];
            assert!(
                expected.iter().any(|result| *outcome == format!("{name}: {result}")),
                "{outcome}"
            );
        }
        let changed = outcomes.iter().filter(|outcome| outcome.contains("changed")).count();
        assert!(changed > 0, "some were in their lanes: {outcomes:?}");
        assert_eq!(outcomes.last().unwrap(), &format!("last: {whole}"));
    }
}

/// Says that this process is the one that is to be killed.
const VICTIM: &str = "LANESUM_TEST_VICTIM";

#[test]
fn a_fault_that_is_not_the_engines_still_kills() {
    if std::env::var_os(VICTIM).is_some() {
        return touch_what_is_not_there();
    }
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "mapped::a_fault_that_is_not_the_engines_still_kills"])
        .env(VICTIM, "1")
        .output()
        .unwrap();
    assert_eq!(run.status.signal(), Some(Signal::BUS.as_raw()), "{run:?}");
}

#[expect(unsafe_code, reason = "a fault of our own")]
fn touch_what_is_not_there() {
    let folder = Folder::new();
    let job = folder.job("a", &bytes(1 << 20));
    let empty = folder.job("empty", b"");
    let make = |outcome: Outcome<String>| {
        assert!(outcome.result.is_ok());
        let Source::Path(path) = &empty.source else { panic!("{empty:?}") };
        let file = File::open(path).unwrap();
        // SAFETY: the mapping is new; that reading it raises a signal is the purpose.
        unsafe {
            let page = mmap(ptr::null_mut(), 4096, ProtFlags::READ, MapFlags::PRIVATE, &file, 0);
            page.unwrap().cast::<u8>().read_volatile();
        }
    };
    engine::run(&on(Io::Mmap, 1), std::iter::once(job), make, |()| ControlFlow::Continue(()));
}
