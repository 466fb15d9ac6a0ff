//! The program in the place of GNU md5sum: every text here is what md5sum 9.11 prints.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

const EMPTY: &str = "d41d8cd98f00b204e9800998ecf8427e";
const ABC: &str = "900150983cd24fb0d6963f7d28e17f72";
const TRY_HELP: &str = "Try 'md5sum --help' for more information.\n";

/// A folder to run in, with the files `abc` and `empty` and the folder `dir`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("abc"), "abc").unwrap();
    fs::write(folder.path().join("empty"), "").unwrap();
    fs::create_dir(folder.path().join("dir")).unwrap();
    folder
}

/// The program as it is when called through a link, in the C locale and with nothing to read.
fn md5sum(folder: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanesum"));
    command.arg0("md5sum").current_dir(folder).stdin(Stdio::null());
    command.env_clear().env("LC_ALL", "C");
    command
}

/// Runs with arguments that hold no blanks.
fn run(folder: &TempDir, args: &str) -> Output {
    md5sum(folder).args(args.split_whitespace()).output().unwrap()
}

/// Holds what a run printed and its exit code against what is expected.
#[track_caller]
fn expect(output: &Output, code: i32, stdout: &str, stderr: &str) {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string().replace("\\n", "\n");
    assert_eq!(text(&output.stdout), text(stdout.as_bytes()), "standard output");
    assert_eq!(text(&output.stderr), text(stderr.as_bytes()), "standard error");
    assert_eq!(output.status.code(), Some(code), "exit code");
}

fn write(folder: &TempDir, name: &str, text: impl AsRef<[u8]>) {
    fs::write(folder.path().join(name), text).unwrap();
}

/// Standard input from a file of the folder.
fn from_file(folder: &TempDir, name: impl AsRef<Path>) -> File {
    File::open(folder.path().join(name)).unwrap()
}

mod sums {
    use super::*;

    #[test]
    fn lines_come_in_the_order_of_the_arguments() {
        let folder = folder();
        expect(
            &run(&folder, "empty abc empty ./abc"),
            0,
            &format!("{EMPTY}  empty\n{ABC}  abc\n{EMPTY}  empty\n{ABC}  ./abc\n"),
            "",
        );
    }

    #[test]
    fn lines_have_the_style_that_is_asked_for() {
        let folder = folder();
        for (args, line) in [
            ("-t abc", format!("{ABC}  abc\n")),
            ("-b abc", format!("{ABC} *abc\n")),
            ("-bt abc", format!("{ABC}  abc\n")),
            ("-tb abc", format!("{ABC} *abc\n")),
            ("-z abc", format!("{ABC}  abc\0")),
            ("--tag abc", format!("MD5 (abc) = {ABC}\n")),
            ("--tag -b abc", format!("MD5 (abc) = {ABC}\n")),
            ("--tag -z abc", format!("MD5 (abc) = {ABC}\0")),
        ] {
            expect(&run(&folder, args), 0, &line, "");
        }
    }

    #[test]
    fn a_name_that_would_break_the_line_is_escaped() {
        let folder = folder();
        let name = "a\nb\rc\\d é";
        write(&folder, name, "");
        for (option, line) in [
            ("-t", format!("\\{EMPTY}  a\\nb\\rc\\\\d é\n")),
            ("--tag", format!("\\MD5 (a\\nb\\rc\\\\d é) = {EMPTY}\n")),
            ("-z", format!("{EMPTY}  {name}\0")),
        ] {
            expect(&md5sum(&folder).args([option, name]).output().unwrap(), 0, &line, "");
        }
    }

    #[test]
    fn a_name_is_bytes() {
        let folder = folder();
        let name = OsStr::from_bytes(b"\xff\x01\t");
        File::create(folder.path().join(name)).unwrap();
        let output = md5sum(&folder).arg(name).output().unwrap();
        assert_eq!(output.stdout, [EMPTY.as_bytes(), b"  \xff\x01\t\n"].concat());
    }

    #[test]
    fn what_cannot_be_read_is_named_and_the_rest_is_done() {
        let folder = folder();
        let args = ["gone", "abc", "dir", "", "a b", "a:b", "empty"];
        expect(
            &md5sum(&folder).args(args).output().unwrap(),
            1,
            &format!("{ABC}  abc\n{EMPTY}  empty\n"),
            "md5sum: gone: No such file or directory\n\
             md5sum: dir: Is a directory\n\
             md5sum: '': No such file or directory\n\
             md5sum: 'a b': No such file or directory\n\
             md5sum: 'a:b': No such file or directory\n",
        );
    }

    #[test]
    fn standard_input_is_called_dash() {
        let folder = folder();
        for args in [&[][..], &["-"], &["--"]] {
            let output =
                md5sum(&folder).args(args).stdin(from_file(&folder, "abc")).output().unwrap();
            expect(&output, 0, &format!("{ABC}  -\n"), "");
        }
        let twice = md5sum(&folder).args(["-", "-"]).stdin(from_file(&folder, "abc")).output();
        expect(&twice.unwrap(), 0, &format!("{ABC}  -\n{EMPTY}  -\n"), "");
        let output = md5sum(&folder).stdin(from_file(&folder, "dir")).output().unwrap();
        expect(&output, 1, "", "md5sum: -: Is a directory\n");
    }
}

mod options {
    use super::*;

    #[test]
    fn what_is_no_option_is_refused() {
        let folder = folder();
        for (args, words) in [
            ("--foo", "unrecognized option '--foo'"),
            ("--foo=bar abc", "unrecognized option '--foo=bar'"),
            ("abc -cx", "invalid option -- 'x'"),
            ("--check=abc", "option '--check' doesn't allow an argument"),
            ("--bin=1", "option '--binary' doesn't allow an argument"),
            ("--st", "option '--st' is ambiguous; possibilities: '--status' '--strict'"),
            ("--t", "option '--t' is ambiguous; possibilities: '--tag' '--text'"),
        ] {
            expect(&run(&folder, args), 1, "", &format!("md5sum: {words}\n{TRY_HELP}"));
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let folder = folder();
        for (args, words) in [
            ("-cz abc", "the --zero option is not supported when verifying checksums"),
            ("-c --tag abc", "the --tag option is meaningless when verifying checksums"),
            ("-bc abc", "the --binary and --text options are meaningless when verifying checksums"),
            (
                "--ignore-missing abc",
                "the --ignore-missing option is meaningful only when verifying checksums",
            ),
            ("--status abc", "the --status option is meaningful only when verifying checksums"),
            ("-w abc", "the --warn option is meaningful only when verifying checksums"),
            ("--quiet abc", "the --quiet option is meaningful only when verifying checksums"),
            ("--strict abc", "the --strict option is meaningful only when verifying checksums"),
            ("--tag --text abc", "--tag does not support --text mode"),
        ] {
            expect(&run(&folder, args), 1, "", &format!("md5sum: {words}\n{TRY_HELP}"));
        }
    }

    #[test]
    fn names_of_options_may_be_cut_and_stand_anywhere() {
        let folder = folder();
        write(&folder, "list", format!("{ABC}  abc\n"));
        expect(&run(&folder, "list --che"), 0, "abc: OK\n", "");
        expect(&run(&folder, "abc --ta"), 0, &format!("MD5 (abc) = {ABC}\n"), "");
        expect(&run(&folder, "-- --tag"), 1, "", "md5sum: --tag: No such file or directory\n");
    }

    #[test]
    fn the_first_file_ends_the_options_under_posixly_correct() {
        let folder = folder();
        let output = md5sum(&folder)
            .env("POSIXLY_CORRECT", "")
            .args(["-b", "abc", "--tag"])
            .output()
            .unwrap();
        let stdout = format!("{ABC} *abc\n");
        expect(&output, 1, &stdout, "md5sum: --tag: No such file or directory\n");
    }

    #[test]
    fn the_program_has_the_name_it_was_called_by() {
        let folder = folder();
        let called = |args: &[&str]| md5sum(&folder).arg0("/opt/md5sum").args(args).output();
        expect(
            &called(&["-x"]).unwrap(),
            1,
            "",
            "/opt/md5sum: invalid option -- 'x'\n\
             Try '/opt/md5sum --help' for more information.\n",
        );
        expect(
            &called(&["--strict"]).unwrap(),
            1,
            "",
            "md5sum: the --strict option is meaningful only when verifying checksums\n\
             Try '/opt/md5sum --help' for more information.\n",
        );
        expect(&called(&["gone"]).unwrap(), 1, "", "md5sum: gone: No such file or directory\n");
    }

    #[test]
    fn it_is_a_command_of_lanesum_too() {
        let folder = folder();
        let called =
            |args: &[&str]| md5sum(&folder).arg0("lanesum").arg("md5sum").args(args).output();
        let stdout = format!("{ABC} *abc\n");
        let stderr = "md5sum: gone: No such file or directory\n";
        expect(&called(&["abc", "gone", "-b"]).unwrap(), 1, &stdout, stderr);
        let stderr = format!("md5sum: unrecognized option '--foo'\n{TRY_HELP}");
        expect(&called(&["--foo"]).unwrap(), 1, "", &stderr);
    }

    #[test]
    fn help_and_version_are_printed_on_standard_output() {
        let folder = folder();
        for (args, start) in [
            ("--help --foo", "Usage: md5sum [OPTION]... [FILE]...\n"),
            ("-cz --version", concat!("md5sum (lanesum) ", env!("CARGO_PKG_VERSION"), "\n")),
        ] {
            let output = run(&folder, args);
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.starts_with(start), "{text}");
            assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
        }
    }
}

mod checking {
    use super::*;

    /// A folder with a list in which something of every kind is wrong.
    fn troubled() -> TempDir {
        let folder = folder();
        let text = format!(
            "{ABC}  abc\nnonsense\n{ABC}  empty\n{ABC}  gone\n{ABC}  dir\n{EMPTY}  abc\nnonsense\n"
        );
        write(&folder, "list", text);
        folder
    }

    const FAILED: &str = "empty: FAILED\ngone: FAILED open or read\n\
                          dir: FAILED open or read\nabc: FAILED\n";
    const UNREAD: &str = "md5sum: gone: No such file or directory\nmd5sum: dir: Is a directory\n";
    const WARNINGS: &str = "md5sum: WARNING: 2 lines are improperly formatted\n\
                            md5sum: WARNING: 2 listed files could not be read\n\
                            md5sum: WARNING: 2 computed checksums did NOT match\n";

    #[test]
    fn everything_wrong_is_told_and_counted() {
        let stdout = format!("abc: OK\n{FAILED}");
        expect(&run(&troubled(), "-c list"), 1, &stdout, &format!("{UNREAD}{WARNINGS}"));
    }

    #[test]
    fn one_is_not_many() {
        let folder = folder();
        write(&folder, "list", format!("{ABC}  empty\nnonsense\n{ABC}  gone\n"));
        expect(
            &run(&folder, "-c list"),
            1,
            "empty: FAILED\ngone: FAILED open or read\n",
            "md5sum: gone: No such file or directory\n\
             md5sum: WARNING: 1 line is improperly formatted\n\
             md5sum: WARNING: 1 listed file could not be read\n\
             md5sum: WARNING: 1 computed checksum did NOT match\n",
        );
    }

    #[test]
    fn the_last_of_quiet_status_and_warn_wins() {
        let folder = troubled();
        let quiet = format!("{UNREAD}{WARNINGS}");
        expect(&run(&folder, "-cw --status --quiet list"), 1, FAILED, &quiet);
        expect(&run(&folder, "-cw --quiet --status list"), 1, "", UNREAD);
        let warned = format!(
            "md5sum: list: 2: improperly formatted MD5 checksum line\n{UNREAD}\
             md5sum: list: 7: improperly formatted MD5 checksum line\n{WARNINGS}"
        );
        let stdout = format!("abc: OK\n{FAILED}");
        expect(&run(&folder, "-c --status --quiet -w list"), 1, &stdout, &warned);
    }

    #[test]
    fn a_line_that_is_none_fails_only_when_strict() {
        let folder = folder();
        write(&folder, "list", format!("{ABC}  abc\nnonsense\n"));
        let warning = "md5sum: WARNING: 1 line is improperly formatted\n";
        expect(&run(&folder, "-c list"), 0, "abc: OK\n", warning);
        expect(&run(&folder, "-c --strict list"), 1, "abc: OK\n", warning);
        expect(&run(&folder, "-c --strict --status list"), 1, "", "");
        write(&folder, "list", format!("# comment\n\n{ABC}  abc\r\n\r\n"));
        expect(&run(&folder, "-c --strict list"), 0, "abc: OK\n", "");
    }

    #[test]
    fn missing_files_are_passed_over_when_asked() {
        let folder = folder();
        write(&folder, "list", format!("{ABC}  gone\n{ABC}  abc\n"));
        expect(&run(&folder, "-c --ignore-missing list"), 0, "abc: OK\n", "");
        write(&folder, "list", format!("{ABC}  gone\n"));
        let nothing = "md5sum: list: no file was verified\n";
        expect(&run(&folder, "-c --ignore-missing list"), 1, "", nothing);
        expect(&run(&folder, "-c --ignore-missing --status list"), 1, "", "");
        write(&folder, "list", format!("{ABC}  dir\n"));
        expect(
            &run(&folder, "-c --ignore-missing list"),
            1,
            "dir: FAILED open or read\n",
            "md5sum: dir: Is a directory\n\
             md5sum: WARNING: 1 listed file could not be read\n\
             md5sum: list: no file was verified\n",
        );
    }

    #[test]
    fn names_are_quoted_as_the_locale_shows_them() {
        let folder = folder();
        let mut list = String::new();
        for name in ["a b", "it's", "a\nb", "é", "*c", "~"] {
            write(&folder, name, "");
            list += &format!("\\{EMPTY}  {}\n", name.replace('\n', "\\n"));
        }
        write(&folder, "list", list);
        let results = |e: &str| {
            format!("'a b': OK\n\"it's\": OK\n'a'$'\\n''b': OK\n{e}: OK\n'*c': OK\n'~': OK\n")
        };
        expect(&run(&folder, "-c list"), 0, &results(r"''$'\303\251'"), "");
        let output = md5sum(&folder).env("LC_ALL", "C.UTF-8").args(["-c", "list"]).output();
        expect(&output.unwrap(), 0, &results("é"), "");
    }

    #[test]
    fn what_was_printed_can_be_checked() {
        let folder = folder();
        for name in ["a b", " a", "*a", "a\nb", "\\", "a) = b"] {
            write(&folder, name, name);
        }
        let names = ["abc", "a b", " a", "*a", "a\nb", "\\", "a) = b"];
        for style in ["-t", "-b", "--tag"] {
            let printed = md5sum(&folder).arg(style).args(names).output().unwrap();
            write(&folder, "list", &printed.stdout);
            expect(&run(&folder, "-c --strict --quiet list"), 0, "", "");
        }
    }
}

mod lists {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_list_does_not_stop_the_next() {
        let folder = folder();
        write(&folder, "good", format!("{ABC}  abc\n"));
        write(&folder, "bad list", "nonsense\n");
        let args = ["-c", "gone", "good", "bad list", "dir", "good"];
        expect(
            &md5sum(&folder).args(args).output().unwrap(),
            1,
            "abc: OK\nabc: OK\n",
            "md5sum: gone: No such file or directory\n\
             md5sum: 'bad list': no properly formatted checksum lines found\n\
             md5sum: dir: read error\n",
        );
        let unformatted = "md5sum: 'bad list': no properly formatted checksum lines found\n";
        let output = md5sum(&folder).args(["-c", "--status", "bad list"]).output().unwrap();
        expect(&output, 1, "", unformatted);
    }

    #[test]
    fn a_list_on_standard_input_cannot_name_it() {
        let folder = folder();
        write(&folder, "list", format!("{EMPTY}  -\n{ABC}  abc\n"));
        for args in [&["-cw"][..], &["-cw", "-"]] {
            let output =
                md5sum(&folder).args(args).stdin(from_file(&folder, "list")).output().unwrap();
            expect(
                &output,
                0,
                "abc: OK\n",
                "md5sum: 'standard input': 1: improperly formatted MD5 checksum line\n\
                 md5sum: WARNING: 1 line is improperly formatted\n",
            );
        }
    }

    #[test]
    fn a_list_may_name_standard_input_and_takes_it_from_the_next() {
        let folder = folder();
        write(&folder, "list", format!("{ABC}  -\n"));
        write(&folder, "other", format!("{ABC}  abc\n"));
        let with = |input: &str, lists: &[&str]| {
            md5sum(&folder).arg("-c").args(lists).stdin(from_file(&folder, input)).output().unwrap()
        };
        expect(&with("abc", &["list"]), 0, "-: OK\n", "");
        expect(
            &with("other", &["list", "-"]),
            1,
            "-: FAILED\n",
            "md5sum: WARNING: 1 computed checksum did NOT match\n\
             md5sum: 'standard input': no properly formatted checksum lines found\n",
        );
        expect(
            &with("other", &["-", "list"]),
            1,
            "abc: OK\n-: FAILED\n",
            "md5sum: WARNING: 1 computed checksum did NOT match\n",
        );
    }

    #[test]
    fn the_reversed_form_is_read_when_it_comes_first() {
        let folder = folder();
        write(&folder, " a", "");
        write(&folder, "reversed", format!("{ABC} abc\n{EMPTY}  a\n"));
        write(&folder, "standard", format!("{ABC}  abc\n{EMPTY}   a\n"));
        let good = "abc: OK\n' a': OK\n";
        expect(&run(&folder, "-c --strict reversed"), 0, good, "");
        expect(&run(&folder, "-c --strict standard"), 0, good, "");
        // The form is the run's, not the list's.
        expect(
            &run(&folder, "-c standard reversed"),
            1,
            "abc: OK\n' a': OK\na: FAILED open or read\n",
            "md5sum: a: No such file or directory\n\
             md5sum: WARNING: 1 line is improperly formatted\n\
             md5sum: WARNING: 1 listed file could not be read\n",
        );
    }

    #[test]
    fn a_nul_among_the_digits_opens_no_file() {
        let folder = folder();
        write(&folder, "list", [&[0; 32][..], b"  gone\n"].concat());
        let unformatted = "md5sum: list: no properly formatted checksum lines found\n";
        expect(&run(&folder, "-c list"), 1, "", unformatted);
    }
}

mod streams {
    use super::*;

    fn full() -> File {
        OpenOptions::new().write(true).open("/dev/full").unwrap()
    }

    #[test]
    fn a_full_disk_ends_the_run() {
        let folder = folder();
        write(&folder, "list", format!("{ABC}  abc\n{ABC}  gone\n{ABC}  abc\n"));
        for args in ["abc", "-c --status abc -w list"] {
            let output = md5sum(&folder).args(args.split(' ')).stdout(full()).output().unwrap();
            let last = "md5sum: write error: No space left on device\n";
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert!(stderr.ends_with(last), "{stderr}");
            assert_eq!(stderr.matches("write error").count(), 1, "{stderr}");
            assert_eq!(output.status.code(), Some(1));
        }
    }

    #[test]
    fn a_reader_that_went_away_ends_it_by_signal() {
        let folder = folder();
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let output = md5sum(&folder).arg("abc").stdout(writer).output().unwrap();
        let sigpipe = 13;
        assert_eq!((output.status.signal(), output.stderr.as_slice()), (Some(sigpipe), &b""[..]));
    }

    #[test]
    fn a_message_that_is_lost_shows_in_the_exit_code() {
        let folder = folder();
        write(&folder, "list", format!("{ABC}  abc\nnonsense\n"));
        let output = md5sum(&folder).args(["-c", "list"]).stderr(full()).output().unwrap();
        expect(&output, 1, "abc: OK\n", "");
    }

    #[test]
    fn both_streams_in_one_file_keep_their_order() {
        let folder = folder();
        write(&folder, "list", format!("{ABC}  abc\n{ABC}  gone\nnonsense\n{EMPTY}  empty\n"));
        let log = File::create(folder.path().join("log")).unwrap();
        let status = md5sum(&folder)
            .args(["-cw", "list"])
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(1));
        assert_eq!(
            fs::read_to_string(folder.path().join("log")).unwrap(),
            "abc: OK\n\
             md5sum: gone: No such file or directory\n\
             gone: FAILED open or read\n\
             md5sum: list: 3: improperly formatted MD5 checksum line\n\
             empty: OK\n\
             md5sum: WARNING: 1 line is improperly formatted\n\
             md5sum: WARNING: 1 listed file could not be read\n"
        );
    }

    /// The ends of a pipe of which a test reads lines while the program runs. The timeout is only
    /// so that a line that never comes fails the test instead of hanging it.
    fn watched_pipe() -> (BufReader<UnixStream>, OwnedFd) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        (BufReader::new(ours), theirs.into())
    }

    fn next_line(reader: &mut impl BufRead) -> String {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        line
    }

    #[test]
    fn a_line_is_there_as_soon_as_its_file_is_done() {
        let folder = folder();
        let (mut reader, writer) = watched_pipe();
        let (input, mut feed) = io::pipe().unwrap();
        let mut child = md5sum(&folder)
            .args(["abc", "empty", "-"])
            .stdin(input)
            .stdout(writer)
            .spawn()
            .unwrap();
        assert_eq!(next_line(&mut reader), format!("{ABC}  abc\n"));
        assert_eq!(next_line(&mut reader), format!("{EMPTY}  empty\n"));
        feed.write_all(b"abc").unwrap();
        drop(feed);
        assert_eq!(next_line(&mut reader), format!("{ABC}  -\n"));
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn a_line_of_a_list_is_checked_before_the_next_is_written() {
        let folder = folder();
        let (mut reader, writer) = watched_pipe();
        let (input, mut feed) = io::pipe().unwrap();
        let mut child = md5sum(&folder)
            .arg("-c")
            .stdin(input)
            .stdout(writer)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        for (digest, name, result) in [(ABC, "abc", "OK"), (ABC, "empty", "FAILED")] {
            feed.write_all(format!("{digest}  {name}\n").as_bytes()).unwrap();
            assert_eq!(next_line(&mut reader), format!("{name}: {result}\n"));
        }
        drop(feed);
        assert_eq!(child.wait().unwrap().code(), Some(1));
    }

    /// Several that write to one pipe must not mix their lines: a write of at most `PIPE_BUF`
    /// bytes is never torn. A datagram socket shows the writes one by one.
    #[test]
    fn lines_are_written_whole_and_in_pieces_that_a_pipe_keeps_together() {
        const FILES: usize = 2000;
        const PIPE_BUF: usize = 4096;
        let folder = folder();
        let (ours, theirs) = UnixDatagram::pair().unwrap();
        // Only so that a lost line fails the test instead of hanging it.
        ours.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut child =
            md5sum(&folder).args(["abc"; FILES]).stdout(OwnedFd::from(theirs)).spawn().unwrap();
        let mut printed = Vec::new();
        let mut piece = [0; 1 << 16];
        while printed.iter().filter(|&&byte| byte == b'\n').count() < FILES {
            let length = ours.recv(&mut piece).unwrap();
            assert!(length <= PIPE_BUF && piece[..length].ends_with(b"\n"), "{length}");
            printed.write_all(&piece[..length]).unwrap();
        }
        assert!(child.wait().unwrap().success());
        assert_eq!(printed, format!("{ABC}  abc\n").repeat(FILES).as_bytes());
    }
}
