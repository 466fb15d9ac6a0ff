//! The daemon.

use std::fs;
use std::process::Output;
use std::thread;
use std::time::Instant;

use super::*;

/// Runs a verb with the catalog of the folder, in UTC.
#[track_caller]
pub fn run(folder: &Folder, args: &str) -> Output {
    let mut command = folder.lanesum(args.split_whitespace());
    command.env("TZ", "UTC");
    output(command.env("LANESUM_CATALOG", folder.path("state/catalog.db")))
}

/// A daemon, which is killed with the test.
struct Daemon(Option<Child>);

impl Daemon {
    /// One that calls for findings and writes heartbeats.
    fn start(folder: &Folder) -> Self {
        Self::start_with(folder, &[])
    }

    /// The same, with these variables in its environment.
    fn start_with(folder: &Folder, variables: &[(&str, &Path)]) -> Self {
        let call = r#"echo "$LANESUM_CLASS ${LANESUM_PATH##*/}" >> calls"#;
        let mut command =
            folder.lanesum(["serve", "--on-finding", call, "--heartbeat-file", "heartbeat"]);
        command.args(["--heartbeat", "echo beat >> beats"]).env("TZ", "UTC");
        command.env("LANESUM_CATALOG", folder.path("state/catalog.db"));
        command.stdout(Stdio::null()).stderr(Stdio::null()).envs(variables.iter().copied());
        Self(Some(command.spawn().unwrap()))
    }

    fn kill(mut self, signal: Signal) -> Option<i32> {
        let mut child = self.0.take().unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap().code()
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

/// Waits until something is so.
#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(100));
    }
}

/// Runs a verb beside a daemon, which may have the catalog for a moment.
#[track_caller]
fn run_beside(folder: &Folder, args: &str) -> Output {
    let mut done = run(folder, args);
    until(args, || {
        let is_locked = done.status.code() == Some(5);
        if is_locked {
            done = run(folder, args);
        }
        !is_locked
    });
    done
}

fn status(folder: &Folder) -> String {
    text(&run(folder, "status").stdout).to_owned()
}

fn lines(folder: &Folder, name: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.path(name)).unwrap_or_default();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// A folder of files, each of so many bytes, that a list tells of and nobody has read: all are due.
/// The first two are not what the list says.
fn all_due(files: usize, bytes: usize) -> Folder {
    let folder = Folder::in_memory();
    fs::create_dir(folder.path("tree")).unwrap();
    fs::create_dir(folder.path("state")).unwrap();
    // Taken up while nothing is in it.
    assert_eq!(run(&folder, "add --every 1d tree").status.code(), Some(4));
    for name in 0..files {
        folder.write(format!("tree/{name:04}"), vec![name as u8; bytes]);
    }
    let list = output(&mut folder.lanesum(["tree"]));
    folder.write("list", list.stdout);
    for name in ["tree/0000", "tree/0001"] {
        folder.write(name, vec![0xff; bytes / 2]);
    }
    let imported = run(&folder, "catalog import list");
    assert!(text(&imported.stderr).contains("import complete"), "{imported:?}");
    folder
}

#[test]
fn it_reads_what_is_due_calls_once_a_finding_and_beats_when_all_is_done() {
    let folder = all_due(100, 1000);
    let daemon = Daemon::start(&folder);
    until("a heartbeat", || folder.path("heartbeat").exists());
    let words = status(&folder);
    assert!(words.contains("NOT WELL: 2 altered"), "{words}");
    assert!(
        words.contains("last: scrub of ") && words.contains(", complete; 100 files read"),
        "{words}"
    );
    let both = ["altered 0000", "altered 0001"];
    until("the calls", || lines(&folder, "calls").len() == 2);
    assert_eq!(lines(&folder, "calls"), both);
    until("the command", || !lines(&folder, "beats").is_empty());

    let second = run(&folder, "serve");
    assert_eq!(second.status.code(), Some(5));
    assert!(text(&second.stderr).contains("(daemon)"), "{}", text(&second.stderr));
    // Others may write while it waits.
    assert_eq!(run_beside(&folder, "scrub --bad").status.code(), Some(1));

    let began = Instant::now();
    assert_eq!(daemon.kill(Signal::TERM), Some(0));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());

    // What was told is not told again, but what was found meanwhile is.
    fs::remove_file(folder.path("tree/0002")).unwrap();
    assert_eq!(run(&folder, "audit").status.code(), Some(1));
    fs::remove_file(folder.path("heartbeat")).unwrap();
    let daemon = Daemon::start(&folder);
    until("a call", || lines(&folder, "calls").len() == 3);
    until("another heartbeat", || folder.path("heartbeat").exists());
    assert_eq!(lines(&folder, "calls"), ["altered 0000", "altered 0001", "missing 0002"]);
    drop(daemon);
    assert_eq!(run(&folder, "catalog check").status.code(), Some(0));
}

#[test]
fn it_obeys_a_pause_across_its_death_and_ends_in_two_seconds_whatever_it_reads() {
    let folder = all_due(40, 500_000);
    assert_eq!(run(&folder, "limit --limit 1M").status.code(), Some(0));
    let daemon = Daemon::start(&folder);
    until("files are read", || !status(&folder).contains("NEVER READ: 40 files"));
    let locked = run(&folder, "update");
    assert_eq!(locked.status.code(), Some(5));
    assert!(text(&locked.stderr).contains("(serve); `lanesum pause` makes it free"), "{locked:?}");
    let began = Instant::now();
    assert_eq!(daemon.kill(Signal::TERM), Some(0));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert!(status(&folder).contains("NOT complete: it was ended"), "{}", status(&folder));

    let daemon = Daemon::start(&folder);
    until("it reads again", || status(&folder).contains("at work now"));
    run(&folder, "pause");
    until("it is paused", || status(&folder).contains("NOT complete: it was paused"));
    let paused = status(&folder);
    daemon.kill(Signal::KILL);
    run(&folder, "limit --limit none");
    let daemon = Daemon::start(&folder);
    thread::sleep(Duration::from_secs(5));
    assert!(paused.contains("PAUSED since ") && paused == status(&folder), "{}", status(&folder));
    assert!(!folder.path("heartbeat").exists(), "paused is not complete");
    run(&folder, "resume");
    until("all is read", || folder.path("heartbeat").exists());
    assert!(status(&folder).contains(", complete; "), "{}", status(&folder));
    drop(daemon);
}

/// A socket goes with the daemon, and another that stands in its place stays.
#[cfg(feature = "page")]
#[test]
fn its_socket_goes_with_it() {
    let folder = all_due(2, 10);
    for is_replaced in [false, true] {
        let mut command = folder.lanesum(["serve", "--socket", "socket"]);
        command.env("LANESUM_CATALOG", folder.path("state/catalog.db"));
        let daemon = Daemon(Some(command.stderr(Stdio::null()).spawn().unwrap()));
        until("a socket", || folder.path("socket").exists());
        // It is there before the daemon is ready.
        until("all is read", || !status(&folder).contains("NEVER READ"));
        if is_replaced {
            fs::remove_file(folder.path("socket")).unwrap();
            folder.write("socket", "another's");
        }
        assert_eq!(daemon.kill(Signal::TERM), Some(0));
        assert_eq!(folder.path("socket").exists(), is_replaced);
    }
}

/// What systemd is told: that it is ready, how far it is, that the thread that reads is alive.
#[test]
fn systemd_is_told_how_it_goes() {
    let folder = all_due(40, 500_000);
    assert_eq!(run(&folder, "limit --limit 1M").status.code(), Some(0));
    let path = folder.path("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let daemon = Daemon::start_with(&folder, &[("NOTIFY_SOCKET", &path)]);
    let next = || {
        let mut buffer = [0; 1000];
        let length = socket.recv(&mut buffer).unwrap();
        text(&buffer[..length])
    };
    let until = |what: &str| -> String {
        loop {
            let told = next();
            if told.starts_with(what) {
                return told;
            }
        }
    };
    until("READY=1");
    let status = until("STATUS=reads ");
    assert!(status.contains("/tree: ") && status.contains(" of 19.50 MB ("), "{status}");
    assert!(status.contains("/s), ") && status.contains(" of 40 files, "), "{status}");
    for _ in 0..5 {
        until("WATCHDOG=1");
    }
    run(&folder, "pause");
    until("STATUS=waits until ");
    until("WATCHDOG=1");
    assert_eq!(daemon.kill(Signal::TERM), Some(0));
    until("STOPPING=1");
}

#[test]
fn a_folder_that_goes_away_is_suspended_and_read_when_it_is_back() {
    let folder = all_due(40, 500_000);
    assert_eq!(run(&folder, "limit --limit 1M").status.code(), Some(0));
    let daemon = Daemon::start(&folder);
    until("files are read", || !status(&folder).contains("NEVER READ: 40 files"));
    // In the middle of it.
    fs::rename(folder.path("tree"), folder.path("away")).unwrap();
    until("it is suspended", || status(&folder).contains("SUSPENDED: "));
    run(&folder, "limit --limit none");
    thread::sleep(Duration::from_secs(3));
    let words = status(&folder);
    assert!(words.contains("NOT done: suspended"), "{words}");
    assert!(!words.contains("missing") && !words.contains("unreadable"), "{words}");
    assert!(!folder.path("heartbeat").exists(), "suspended is not complete");
    fs::rename(folder.path("away"), folder.path("tree")).unwrap();
    until("all is read", || folder.path("heartbeat").exists());
    assert!(!status(&folder).contains("SUSPENDED"), "{}", status(&folder));
    // Calls are made one after the other, beside the reading.
    until("the calls", || lines(&folder, "calls").len() >= 3);
    assert_eq!(lines(&folder, "calls"), ["altered 0000", "altered 0001", "suspended tree"]);
    drop(daemon);
}

#[test]
fn killed_at_any_moment_it_goes_on_and_loses_no_finding() {
    let folder = all_due(400, 100_000);
    assert_eq!(run(&folder, "limit --limit 3M").status.code(), Some(0));
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    for _ in 0..20 {
        let daemon = Daemon::start(&folder);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        thread::sleep(Duration::from_millis(random >> 54));
        daemon.kill(Signal::KILL);
        assert!(!folder.path("heartbeat").exists(), "{}", status(&folder));
    }
    assert_eq!(run(&folder, "catalog check").status.code(), Some(0));
    assert!(!status(&folder).contains("complete;") || status(&folder).contains("NOT complete"));
    run(&folder, "limit --limit none");
    let daemon = Daemon::start(&folder);
    until("all is read", || folder.path("heartbeat").exists());
    let words = status(&folder);
    assert!(words.contains("NOT WELL: 2 altered"), "{words}");
    let mut calls = lines(&folder, "calls");
    until("the calls", || {
        calls = lines(&folder, "calls");
        calls.dedup();
        calls.len() == 2
    });
    assert_eq!(calls, ["altered 0000", "altered 0001"]);
    drop(daemon);
    assert_eq!(run(&folder, "catalog check").status.code(), Some(0));
}

/// Nothing is gained by looking again at once.
#[test]
fn a_folder_that_has_lost_too_much_is_suspended_and_left_alone_for_a_while() {
    for left in [0, 1] {
        let folder = all_due(130, 10);
        for name in left..130 {
            fs::remove_file(folder.path(format!("tree/{name:04}"))).unwrap();
        }
        let _daemon = Daemon::start(&folder);
        until("it is suspended", || status(&folder).contains("SUSPENDED: "));
        let last = || status(&folder).lines().find(|it| it.contains("last: ")).map(str::to_owned);
        thread::sleep(Duration::from_secs(2));
        let before = last();
        thread::sleep(Duration::from_secs(3));
        assert_eq!(last(), before, "it looks again and again");
        assert!(before.is_some_and(|it| it.contains("NOT done: suspended")));
        assert!(!status(&folder).contains(" missing"), "a row was touched");
    }
}

/// A daemon must not go on with a catalog that is not there any more.
#[test]
fn a_daemon_ends_when_its_catalog_is_replaced() {
    let folder = Folder::in_memory();
    folder.write("tree/a", "a");
    fs::create_dir(folder.path("state")).unwrap();
    assert_eq!(run(&folder, "add tree").status.code(), Some(0));
    let mut daemon = Daemon::start(&folder);
    until("a heartbeat", || folder.path("heartbeat").exists());
    assert_eq!(run(&folder, "catalog backup copy.db").status.code(), Some(0));
    fs::rename(folder.path("copy.db"), folder.path("state/catalog.db")).unwrap();
    let mut child = daemon.0.take().unwrap();
    let mut ended = None;
    until("the daemon ends", || {
        ended = child.try_wait().unwrap();
        ended.is_some()
    });
    // A code at which systemd starts it again.
    assert_eq!(ended.unwrap().code(), Some(1));
}

/// What could not be read in the first round of a day is not made good by a round that is whole.
#[test]
fn a_day_on_which_something_was_hidden_has_no_heartbeat() {
    let folder = all_due(10, 100);
    run(&folder, "update");
    assert_eq!(run(&folder, "accept tree/0000 tree/0001").status.code(), Some(0));
    let path = folder.path("tree/0003");
    // Other than it was, with its time: it is busy for as long as somebody has it open.
    let writer = fs::File::options().append(true).open(&path).unwrap();
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    folder.write("tree/0003", "another content");
    writer.set_modified(time).unwrap();
    let scrubbed = run(&folder, "scrub --percent 100");
    if scrubbed.status.code() != Some(4) {
        return println!("skipped: whether a file is open is not told here: {scrubbed:?}");
    }
    let daemon = Daemon::start(&folder);
    thread::sleep(Duration::from_secs(3));
    assert!(!folder.path("heartbeat").exists());
    drop((daemon, writer));
}

/// What another process could not read, or left undone, since the daemon was through.
#[test]
fn what_was_left_undone_since_has_no_heartbeat() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::of(&["one/a", "one/b", "two/c"]);
    fs::create_dir(folder.path("state")).unwrap();
    assert_eq!(run(&folder, "add one two").status.code(), Some(0));
    run(&folder, "pause two");
    let daemon = Daemon::start(&folder);
    let is_read = |tree: &str| {
        let status = text(&run(&folder, &format!("status {tree}")).stdout).to_owned();
        status.contains("last: scrub of ") && status.contains(", complete; ")
    };
    until("one is read", || is_read("one"));
    // The daemon may have the catalog still.
    let scrub = |args: &str, code: i32| {
        let args = format!("scrub one {args}");
        until(&args, || run(&folder, &args).status.code() == Some(code));
    };
    let has_none = || {
        thread::sleep(Duration::from_secs(3));
        assert!(!folder.path("heartbeat").exists(), "{}", status(&folder));
    };
    scrub("--percent 100 --max-time 0s", 4);
    run(&folder, "resume two");
    until("two is read", || is_read("two"));
    has_none();

    let mode = |mode| {
        fs::set_permissions(folder.path("one/a"), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0);
    thread::scope(|scope| {
        let limited = scope.spawn(|| {
            obey_modes();
            scrub("--percent 100", 1);
        });
        limited.join().unwrap();
    });
    mode(0o600);
    // It does all that it is to, and that is not the file.
    scrub("--older-than 9d", 1);
    assert!(is_read("one"), "{}", status(&folder));
    has_none();
    scrub("--percent 100", 0);
    until("a heartbeat", || folder.path("heartbeat").exists());
    drop(daemon);
}

/// A heartbeat says that all is looked at: also what somebody else could not look at.
#[test]
fn a_folder_that_nobody_could_look_into_has_no_heartbeat() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = all_due(10, 100);
    folder.write("tree/in/new", "new");
    let mode = |mode| {
        fs::set_permissions(folder.path("tree/in"), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0);
    let audit = thread::scope(|scope| {
        let limited = scope.spawn(|| {
            obey_modes();
            run(&folder, "audit")
        });
        limited.join().unwrap()
    });
    mode(0o700);
    assert!(text(&audit.stderr).contains("audit NOT complete"), "{audit:?}");
    let daemon = Daemon::start(&folder);
    until("all is read", || status(&folder).contains("last: scrub of "));
    thread::sleep(Duration::from_secs(3));
    assert!(!folder.path("heartbeat").exists());
    drop(daemon);
    run(&folder, "audit");
    let daemon = Daemon::start(&folder);
    until("a heartbeat", || folder.path("heartbeat").exists());
    drop(daemon);
}

/// Who asks to be called for the first time is called for what is known already, and once.
#[test]
fn the_first_daemon_that_calls_tells_what_is_not_well_already() {
    let folder = all_due(5, 1000);
    assert_eq!(run(&folder, "update").status.code(), Some(1));
    fs::remove_file(folder.path("tree/0002")).unwrap();
    assert_eq!(run(&folder, "audit").status.code(), Some(1));
    let all = ["altered 0000", "altered 0001", "missing 0002"];
    for _ in 0..2 {
        let daemon = Daemon::start(&folder);
        until("the calls", || lines(&folder, "calls").len() == 3);
        until("a heartbeat", || folder.path("heartbeat").exists());
        fs::remove_file(folder.path("heartbeat")).unwrap();
        assert_eq!(daemon.kill(Signal::TERM), Some(0));
        assert_eq!(lines(&folder, "calls"), all);
    }
}

/// A daemon that ends amid the first calls goes on with them when it begins again: each is made
/// once, but that during which it ends.
#[test]
fn the_first_calls_go_on_where_they_ended() {
    let folder = all_due(9, 1000);
    assert_eq!(run(&folder, "update").status.code(), Some(1));
    for name in ["0004", "0005", "0006"] {
        fs::remove_file(folder.path("tree").join(name)).unwrap();
    }
    assert_eq!(run(&folder, "audit").status.code(), Some(1));
    let start = |call| {
        let mut command = folder.lanesum(["serve", "--on-finding", call]);
        command.env("LANESUM_CATALOG", folder.path("state/catalog.db"));
        Daemon(Some(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()))
    };
    let daemon = start(
        r#"case $LANESUM_PATH in *5) touch begun; sleep 1000;; esac; echo "${LANESUM_PATH##*/}" >> calls"#,
    );
    until("a call", || folder.path("begun").exists());
    assert_eq!(lines(&folder, "calls"), ["0000", "0001", "0004"]);
    // What is found meanwhile is called for, too, also where it is well again by then.
    folder.write("tree/0000", vec![0; 1000]);
    fs::remove_file(folder.path("tree/0007")).unwrap();
    assert_eq!(run_beside(&folder, "audit").status.code(), Some(1));
    folder.write("tree/0007", vec![7; 1000]);
    assert_eq!(run_beside(&folder, "audit").status.code(), Some(1));
    assert_eq!(daemon.kill(Signal::TERM), Some(0));
    let daemon = start(r#"echo "${LANESUM_PATH##*/}" >> calls"#);
    until("the calls", || lines(&folder, "calls").len() >= 6);
    drop(daemon);
    assert_eq!(lines(&folder, "calls"), ["0000", "0001", "0004", "0005", "0006", "0007"]);
}

/// Another process may suspend a folder for a moment in which the daemon does not look.
#[test]
fn a_folder_that_another_process_suspended_is_looked_at_again() {
    let folder = all_due(5, 1000);
    let daemon = Daemon::start(&folder);
    until("all is read", || folder.path("heartbeat").exists());
    fs::rename(folder.path("tree"), folder.path("away")).unwrap();
    let audit = run_beside(&folder, "audit");
    assert!(text(&audit.stderr).contains("NOT done: suspended"), "{audit:?}");
    fs::rename(folder.path("away"), folder.path("tree")).unwrap();
    until("it is back", || !status(&folder).contains("SUSPENDED"));
    drop(daemon);
}

#[test]
fn a_heartbeat_that_cannot_be_written_is_refused_at_once() {
    let folder = all_due(1, 10);
    let refused = run(&folder, "serve --heartbeat-file nowhere/beat");
    assert_eq!(refused.status.code(), Some(2));
    let words = "--heartbeat-file nowhere/beat: its folder is not there";
    assert!(text(&refused.stderr).contains(words), "{refused:?}");
}

/// What keeps a daemon from beginning is told before anything else, with the way out.
#[test]
fn a_second_daemon_and_a_port_in_use_are_refused_at_once() {
    let folder = all_due(1, 10);
    let daemon = Daemon::start(&folder);
    until("a heartbeat", || folder.path("heartbeat").exists());
    let id = daemon.0.as_ref().unwrap().id();
    let refused = run(&folder, "serve");
    assert_eq!(refused.status.code(), Some(5));
    let words = format!(
        "(daemon); it serves this catalog already, and one is enough; end it before another begins, as by `kill {id}`"
    );
    assert!(text(&refused.stderr).contains(&words), "{refused:?}");
    drop(daemon);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let refused = run(&folder, &format!("serve --listen {address}"));
    let words = format!("lanesum: '{address}': Address already in use\n");
    assert_eq!((refused.status.code(), text(&refused.stderr)), (Some(1), words));
    let long = "s".repeat(108);
    let refused = run(&folder, &format!("serve --socket {long}"));
    let words = format!(
        "lanesum: {long}: has 108 bytes, and the path of a socket 107 at most; name a shorter one\n"
    );
    assert_eq!((refused.status.code(), text(&refused.stderr)), (Some(1), words));
}

#[test]
fn a_command_that_fails_is_told_with_its_option() {
    let folder = all_due(2, 10);
    let mut command = folder.lanesum(["serve", "--heartbeat", "false", "--on-finding", "exit 3"]);
    command.env("TZ", "UTC").env("LANESUM_CATALOG", folder.path("state/catalog.db"));
    command.stdout(Stdio::null()).stderr(File::create(folder.path("errors")).unwrap());
    let daemon = Daemon(Some(command.spawn().unwrap()));
    for words in [
        "lanesum: --heartbeat false: exit status: 1",
        "lanesum: --on-finding 'exit 3': exit status: 3",
    ] {
        until(words, || fs::read_to_string(folder.path("errors")).unwrap().contains(words));
    }
    drop(daemon);
}

/// Neither a round of the daemon is complete while something could not be looked at.
#[test]
fn a_round_says_what_could_not_be_looked_at() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = all_due(3, 10);
    folder.write("tree/in/new", "new");
    let mode = |mode| {
        fs::set_permissions(folder.path("tree/in"), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0);
    thread::scope(|scope| {
        let limited = scope.spawn(|| {
            obey_modes();
            run(&folder, "audit")
        });
        limited.join().unwrap()
    });
    mode(0o700);
    let mut command = folder.lanesum(["serve", "--heartbeat-file", "heartbeat"]);
    command.env("TZ", "UTC").env("LANESUM_CATALOG", folder.path("state/catalog.db"));
    command.stdout(Stdio::null()).stderr(File::create(folder.path("errors")).unwrap());
    let daemon = Daemon(Some(command.spawn().unwrap()));
    let words = "/tree/in (Permission denied)";
    until(words, || fs::read_to_string(folder.path("errors")).unwrap().contains(words));
    assert!(fs::read_to_string(folder.path("errors")).unwrap().contains("scrub NOT complete"));
    assert!(!folder.path("heartbeat").exists());
    // The same day's heartbeat comes once it is seen.
    run_beside(&folder, "audit");
    until("a heartbeat", || folder.path("heartbeat").exists());
    drop(daemon);
}
