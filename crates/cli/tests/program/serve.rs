//! The daemon.

mod calls;
mod heartbeat;
mod offline;
mod requests;

use std::fs;
use std::process::Output;
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use lanesum_catalog::{
    Catalog, Class, Control, Options, Outcome, Root, RootStatus, Settings, SettingsPatch, Summary,
    Target, Task, Verb,
};

use super::*;

const DAY: i64 = 24 * 60 * 60;

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().cast_signed()
}

/// A time at which a root was added whose files are due now.
fn long_ago() -> i64 {
    now() - 100 * DAY
}

fn catalog_of(folder: &Folder) -> PathBuf {
    folder.path("state/catalog.db")
}

fn lanesum(folder: &Folder, args: &[&str]) -> Command {
    let mut command = folder.lanesum(args);
    command.env("TZ", "UTC").env("LANESUM_CATALOG", catalog_of(folder));
    command
}

/// Runs a command with the catalog of the folder, in UTC.
#[track_caller]
pub fn run(folder: &Folder, args: &str) -> Output {
    output(&mut lanesum(folder, &args.split_whitespace().collect::<Vec<_>>()))
}

/// A daemon, which is killed with the test.
struct Daemon(Option<Child>);

impl Daemon {
    /// One that calls for findings and has a heartbeat.
    fn start(folder: &Folder) -> Self {
        let call = r#"echo "$LANESUM_CLASS ${LANESUM_PATH##*/}" >> calls"#;
        let mut command = lanesum(folder, &["serve", "--on-finding", call]);
        command.args(["--heartbeat-file", "heartbeat", "--heartbeat", "echo beat >> beats"]);
        Self::spawn(folder, &mut command)
    }

    /// One whose messages are in the file `errors`.
    fn spawn(folder: &Folder, command: &mut Command) -> Self {
        let errors = File::options().create(true).append(true).open(folder.path("errors"));
        command.stdout(Stdio::null()).stderr(errors.unwrap());
        Self(Some(command.spawn().unwrap()))
    }

    fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    fn kill(mut self, signal: Signal) -> Option<i32> {
        let mut child = self.0.take().unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap().code()
    }

    /// Ends it as systemd does, which takes less than two seconds.
    #[track_caller]
    fn end(self) {
        let began = Instant::now();
        assert_eq!(self.kill(Signal::TERM), Some(0));
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

/// Waits until a condition is met.
#[track_caller]
fn until(condition: &str, mut is_met: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_met() {
        assert!(began.elapsed() < PATIENCE, "{condition}");
        thread::sleep(Duration::from_millis(100));
    }
}

/// How the first root stands.
fn status(folder: &Folder) -> RootStatus {
    let all = Catalog::look(&catalog_of(folder)).unwrap().status(now()).unwrap();
    all.into_iter().next().unwrap()
}

fn root(folder: &Folder) -> Root {
    status(folder).root
}

/// Records of a class.
fn standing(folder: &Folder, class: Class) -> u64 {
    status(folder).standing.get(&class).copied().unwrap_or(0)
}

/// Whether no file is due. Files that are not ok always are.
fn is_all_read(folder: &Folder) -> bool {
    let it = status(folder);
    it.due == it.files - it.standing.get(&Class::Ok).copied().unwrap_or(0)
}

fn has_heartbeat(folder: &Folder) -> bool {
    folder.path("heartbeat").exists()
}

/// Runs a task in this process, once the daemon does not have the catalog.
#[track_caller]
fn run_beside(folder: &Folder, task: &Task, clock: fn() -> i64) -> Vec<Summary> {
    let mut catalog = None;
    until("the catalog is free", || {
        catalog = Catalog::open_existing(&catalog_of(folder), "test").ok();
        catalog.is_some()
    });
    let mut catalog = catalog.unwrap();
    let targets: Vec<_> = catalog.roots().unwrap().into_iter().map(Target::whole).collect();
    let mut options = Options::default();
    options.clock = clock;
    catalog.run(&targets, task, &options, &mut |_, _| Ok(())).unwrap()
}

fn control(folder: &Folder) -> Control {
    Control::open(&catalog_of(folder)).unwrap()
}

fn set_rate(folder: &Folder, rate: Option<u64>) {
    let mut patch = SettingsPatch::default();
    patch.rate = Some(rate);
    control(folder).set(&[root(folder)], &patch).unwrap();
}

fn lines(folder: &Folder, name: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.path(name)).unwrap_or_default();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Adds directories as roots at a time.
fn add(folder: &Folder, directories: &[&str], settings: &Settings, clock: fn() -> i64) {
    fs::create_dir_all(folder.path("state")).unwrap();
    let mut catalog = Catalog::open(&catalog_of(folder), "test").unwrap();
    let paths: Vec<_> = directories.iter().map(|name| folder.path(name)).collect();
    let roots: Vec<_> = paths.iter().map(|it| (it.as_path(), settings.clone())).collect();
    catalog.add_roots(&roots).unwrap();
    drop(catalog);
    run_beside(folder, &Task::Add, clock);
}

/// Changes the content of a file and keeps its time.
fn damage(path: &Path, content: &[u8]) {
    let time = fs::metadata(path).unwrap().modified().unwrap();
    fs::write(path, content).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// A root of files of so many bytes, all of which are due. The first two are damaged.
fn all_due(files: usize, bytes: usize) -> Folder {
    let folder = Folder::in_memory();
    for name in 0..files {
        folder.write(format!("tree/{name:04}"), vec![name as u8; bytes]);
        let file = File::options().write(true).open(folder.path(format!("tree/{name:04}")));
        // Else a change in the moment of the read is an edit.
        file.unwrap().set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    }
    let mut settings = Settings::default();
    settings.every_days = 1;
    add(&folder, &["tree"], &settings, long_ago);
    for name in ["tree/0000", "tree/0001"].iter().take(files) {
        damage(&folder.path(name), &vec![0xff; bytes]);
    }
    folder
}

#[test]
fn due_files_are_read_and_each_finding_is_called_for_once() {
    let folder = all_due(100, 1000);
    let daemon = Daemon::start(&folder);
    until("a heartbeat", || has_heartbeat(&folder));
    let it = status(&folder);
    assert!(it.standing.get(&Class::Damaged) == Some(&2) && it.overdue == 0, "{it:?}");
    assert!(is_all_read(&folder), "{it:?}");
    let both = ["damaged 0000", "damaged 0001"];
    until("the calls", || lines(&folder, "calls").len() == 2);
    assert_eq!(lines(&folder, "calls"), both);
    until("the command", || !lines(&folder, "beats").is_empty());
    let errors = folder.read("errors");
    assert!(errors.contains("serving 100 files in 1 directory\n"), "{errors}");
    // Others may write while it waits.
    run_beside(&folder, &Task::Scan, now);
    daemon.end();

    // A finding of a time without a daemon is called for, and no other one again.
    fs::remove_file(folder.path("tree/0002")).unwrap();
    run_beside(&folder, &Task::Scan, now);
    fs::remove_file(folder.path("heartbeat")).unwrap();
    let daemon = Daemon::start(&folder);
    until("a call", || lines(&folder, "calls").len() == 3);
    until("another heartbeat", || has_heartbeat(&folder));
    assert_eq!(lines(&folder, "calls"), ["damaged 0000", "damaged 0001", "missing 0002"]);
    drop(daemon);
    assert!(Catalog::look(&catalog_of(&folder)).unwrap().check().unwrap().is_empty());
}

#[test]
fn a_pause_survives_the_daemon_and_a_daemon_ends_while_it_reads() {
    let folder = all_due(40, 500_000);
    set_rate(&folder, Some(1_000_000));
    let daemon = Daemon::start(&folder);
    until("files are read", || status(&folder).due < 40);
    let refused = output(&mut lanesum(&folder, &["update"]));
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("(serve)"), "{refused:?}");
    daemon.end();
    assert_eq!(status(&folder).last.unwrap().outcome, Outcome::Limited);

    let daemon = Daemon::start(&folder);
    until("it reads again", || status(&folder).is_running);
    control(&folder).pause(&root(&folder), now()).unwrap();
    until("it is paused", || !status(&folder).is_running);
    let due = status(&folder).due;
    assert!(due > 0);
    daemon.kill(Signal::KILL);
    set_rate(&folder, None);
    let daemon = Daemon::start(&folder);
    thread::sleep(Duration::from_secs(5));
    assert_eq!(status(&folder).due, due);
    assert!(!has_heartbeat(&folder), "paused is not complete");
    control(&folder).resume(&root(&folder)).unwrap();
    until("all is read", || has_heartbeat(&folder));
    assert!(is_all_read(&folder));
    drop(daemon);
}

/// A socket goes with the daemon, and another file in its place stays.
#[cfg(feature = "page")]
#[test]
fn a_socket_is_removed_with_its_daemon() {
    let folder = all_due(2, 10);
    for is_replaced in [false, true] {
        let mut command = lanesum(&folder, &["serve", "--socket", "socket"]);
        let daemon = Daemon::spawn(&folder, &mut command);
        until("a socket", || folder.path("socket").exists());
        // It is there before the daemon is ready.
        until("all is read", || is_all_read(&folder));
        if is_replaced {
            fs::remove_file(folder.path("socket")).unwrap();
            folder.write("socket", "another file");
        }
        daemon.end();
        assert_eq!(folder.path("socket").exists(), is_replaced);
    }
}

#[test]
fn systemd_is_notified_of_progress_and_life() {
    let folder = all_due(40, 500_000);
    set_rate(&folder, Some(1_000_000));
    let path = folder.path("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut command = lanesum(&folder, &["serve"]);
    let daemon = Daemon::spawn(&folder, command.env("NOTIFY_SOCKET", &path));
    let next = || {
        let mut buffer = [0; 1000];
        let length = socket.recv(&mut buffer).unwrap();
        text(&buffer[..length])
    };
    let until = |words: &str| -> String {
        loop {
            let told = next();
            if told.starts_with(words) {
                return told;
            }
        }
    };
    until("READY=1");
    until("STATUS=update of 1 directory");
    let status = until("STATUS=reading ");
    assert!(status.contains("/tree: ") && status.contains(" of 20.00 MB, "), "{status}");
    assert!(status.contains(" of 40 files, "), "{status}");
    for _ in 0..5 {
        until("WATCHDOG=1");
    }
    control(&folder).pause(&root(&folder), now()).unwrap();
    until("STATUS=waiting");
    until("WATCHDOG=1");
    assert_eq!(daemon.kill(Signal::TERM), Some(0));
    until("STOPPING=1");
}

#[test]
fn killed_at_any_moment_it_continues_and_loses_no_finding() {
    let folder = all_due(400, 100_000);
    set_rate(&folder, Some(3_000_000));
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    for _ in 0..20 {
        let daemon = Daemon::start(&folder);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        thread::sleep(Duration::from_millis(random >> 54));
        daemon.kill(Signal::KILL);
        assert!(!has_heartbeat(&folder), "{:?}", status(&folder));
    }
    let check = || Catalog::look(&catalog_of(&folder)).unwrap().check().unwrap();
    assert!(check().is_empty());
    assert!(!is_all_read(&folder));
    set_rate(&folder, None);
    let daemon = Daemon::start(&folder);
    until("all is read", || has_heartbeat(&folder));
    assert_eq!(standing(&folder, Class::Damaged), 2);
    let mut calls = Vec::new();
    until("the calls", || {
        calls = lines(&folder, "calls");
        // A call that a kill interrupted is repeated.
        calls.dedup();
        calls.len() == 2
    });
    assert_eq!(calls, ["damaged 0000", "damaged 0001"]);
    drop(daemon);
    assert!(check().is_empty());
}

#[test]
fn a_daemon_ends_when_its_catalog_is_replaced() {
    let folder = all_due(1, 10);
    let mut daemon = Daemon::start(&folder);
    until("a heartbeat", || has_heartbeat(&folder));
    let catalog = Catalog::look(&catalog_of(&folder)).unwrap();
    catalog.backup(&folder.path("copy.db")).unwrap();
    fs::rename(folder.path("copy.db"), catalog_of(&folder)).unwrap();
    let mut child = daemon.0.take().unwrap();
    let mut ended = None;
    until("the daemon ends", || {
        ended = child.try_wait().unwrap();
        ended.is_some()
    });
    // systemd starts it again at this code.
    assert_eq!(ended.unwrap().code(), Some(1));
}

#[test]
fn wrong_usage_is_refused_at_once() {
    let folder = all_due(1, 10);
    let refuse = |args: &[&str]| -> (Option<i32>, String) {
        let Output { status, stderr, .. } = output(&mut lanesum(&folder, args));
        (status.code(), text(&stderr))
    };
    let (code, words) = refuse(&["serve", "--heartbeat-file", "nowhere/beat"]);
    assert_eq!(code, Some(2));
    assert_eq!(words, "lanesum: --heartbeat-file nowhere/beat: No such file or directory\n");
    let daemon = Daemon::start(&folder);
    until("a heartbeat", || has_heartbeat(&folder));
    let (code, words) = refuse(&["serve"]);
    let id = daemon.id();
    assert_eq!(code, Some(2));
    let expected =
        format!("already served by process {id}\nhint: end that daemon first: kill {id}\n");
    assert!(words.ends_with(&expected), "{words}");
}

#[cfg(feature = "page")]
#[test]
fn an_address_in_use_is_refused_at_once() {
    let folder = all_due(1, 10);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let refused = output(&mut lanesum(&folder, &["serve", "--listen", &address.to_string()]));
    let words = format!("lanesum: '{address}': Address already in use\n");
    assert_eq!((refused.status.code(), text(&refused.stderr)), (Some(1), words));
    let long = "s".repeat(108);
    let refused = output(&mut lanesum(&folder, &["serve", "--socket", &long]));
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("at most 107 bytes"), "{refused:?}");
}
