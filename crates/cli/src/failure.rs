//! How the program ends when it cannot begin.

use std::env;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::error::{ContextKind, ContextValue};
use lanesum_checksum::Algorithm;

use crate::streams::{self, WriteError};
use crate::{args, hints};

/// Wrong usage that only showed after the command line was read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// Wrong usage, with a hint for the line below.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
pub struct Hinted {
    pub words: String,
    pub hint: String,
}

impl Hinted {
    pub fn new(words: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { words: words.into(), hint: hint.into() }
    }
}

/// Wrong usage that a library found, with its hint if there is one.
pub fn usage(error: impl Error + 'static) -> anyhow::Error {
    match hints::of_error(&error) {
        Some(hint) => Hinted::new(error.to_string(), hint).into(),
        None => Usage(error.to_string()).into(),
    }
}

/// Tells an error; the exit code is 2 for wrong usage and 1 for what the system refused. Where what
/// is printed has no reader, SIGPIPE ends the process.
pub fn fail(error: &anyhow::Error) -> ExitCode {
    if let Some(WriteError(error)) = error.downcast_ref() {
        streams::end_by_sigpipe(error);
    }
    let reasons: Vec<_> = error.chain().map(reason).collect();
    let words = reasons.join(": ");
    // A name that was not quoted begins no line of its own, nor moves a cursor.
    let words: String = words.chars().flat_map(visible).collect();
    // Where there is no standard error, the exit code has to do.
    let _ = writeln!(streams::stderr(), "lanesum: {words}");
    if let Some(hint) = error.chain().find_map(hints::of_error) {
        let hint: String = hint.chars().flat_map(visible).collect();
        let _ = writeln!(streams::stderr(), "hint: {hint}");
    }
    if error.is::<Usage>() || error.is::<Hinted>() { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// A character as it can stand in a message.
fn visible(character: char) -> impl Iterator<Item = char> {
    let escaped = character.is_control().then(|| character.escape_default());
    let plain = escaped.is_none().then_some(character);
    escaped.into_iter().flatten().chain(plain)
}

/// Refuses paths that begin with a command, which stands behind its options or is misspelt: it
/// would be taken for a file that is not there, and its lists for files to be summed. What stands
/// behind `--` is meant for a file.
///
/// # Errors
/// The first path is called like a command, or almost so, or as somebody may guess a command is
/// called, and there is no such file.
pub fn refuse_late_command(paths: &[PathBuf]) -> Result<(), Hinted> {
    match paths.first().map(|path| path.as_os_str()) {
        Some(_) if env::args_os().any(|arg| arg == "--") => Ok(()),
        Some(word) if fs::symlink_metadata(word).is_ok() => Ok(()),
        Some(word) if args::is_command(word.as_bytes()) => {
            let command = word.to_string_lossy();
            let words = format!("options before the command {command}");
            Err(Hinted::new(words, format!("lanesum {command} [OPTIONS] ...")))
        }
        Some(word) => match word.to_str().and_then(command_meant) {
            Some(command) => {
                let words = format!("{}: no such command or file", word.display());
                Err(Hinted::new(words, format!("did you mean lanesum {command}?")))
            }
            None => Ok(()),
        },
        None => Ok(()),
    }
}

/// Refuses `help` behind a command, where there is no such file: it is asked for before.
///
/// # Errors
/// That is the command line.
pub fn refuse_late_help() -> Result<(), Hinted> {
    let mut words = env::args_os().skip(1);
    let (Some(command), Some(help), None) = (words.next(), words.next(), words.next()) else {
        return Ok(());
    };
    let command = command.to_string_lossy();
    let has_help = ["bag", "catalog", "help"].contains(&&*command);
    if help != "help" || has_help || !args::is_command(command.as_bytes()) {
        return Ok(());
    }
    if fs::symlink_metadata(help).is_ok() {
        return Ok(());
    }
    Err(Hinted::new("help: no such file", format!("lanesum help {command}")))
}

/// Refuses `audit`: two commands compare files with the catalog, and only one reads them.
///
/// # Errors
/// That is the command.
pub fn refuse_audit() -> Result<(), Hinted> {
    match env::args_os().nth(1) {
        Some(word) if word == "audit" => Err(Hinted {
            words: "audit: no such command".to_owned(),
            hint: "lanesum scan compares names, sizes and times; lanesum verify reads all files"
                .to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Refuses the names of other tools, which a link may give: their callers would take MD5 for what
/// they asked for.
///
/// # Errors
/// The program is called so.
pub fn refuse_other_name(program: &OsStr) -> anyhow::Result<()> {
    let name = Path::new(program).file_name().unwrap_or_default();
    let algorithm = match name.to_str() {
        Some(name @ ("cksum" | "sum" | "sha384sum" | "b2sum")) => {
            let words = format!("called as {name}, whose algorithms lanesum does not have");
            return Err(Usage(words).into());
        }
        Some("xxhsum") => "xxh64",
        Some(name) => match name.strip_suffix("sum") {
            Some("b3") => "blake3",
            Some(sha @ ("sha1" | "sha224" | "sha256" | "sha512")) => sha,
            _ => return Ok(()),
        },
        None => return Ok(()),
    };
    let name = name.display();
    let words = format!("called as {name}, which lanesum does not replace");
    Err(Hinted::new(words, format!("lanesum -a {algorithm}")).into())
}

fn after_the_command(command: &str) -> String {
    format!("options follow the command: lanesum {command} ...")
}

/// What the name of a file that is not there may have been meant for: a command, behind what it is
/// to work on.
pub fn did_you_mean(name: &[u8]) -> Option<String> {
    static FIRST: LazyLock<Option<OsString>> = LazyLock::new(|| env::args_os().nth(1));
    let first = FIRST.as_ref()?;
    let is_there = || fs::symlink_metadata(OsStr::from_bytes(name)).is_ok();
    let is_behind = args::is_command(name) && !args::is_command(first.as_bytes()) && !is_there();
    let command = is_behind.then(|| String::from_utf8_lossy(name))?;
    Some(format!("the command comes first: lanesum {command} ..."))
}

/// What a word may stand for that is no command.
fn command_meant(word: &str) -> Option<String> {
    args::command_guessed(word).or_else(|| args::command_like(word))
}

/// The words of one error, the system's own where they are the system's.
fn reason(error: &(dyn Error + 'static)) -> String {
    error.downcast_ref().map_or_else(|| error.to_string(), lanesum_checksum::error::message)
}

/// Prints help, the version, or what is wrong with the command line.
pub fn tell(mut words: clap::Error) -> ExitCode {
    // One that another excludes is known.
    let is_known = words.kind() == clap::error::ErrorKind::ArgumentConflict;
    if let Some(ContextValue::String(option)) = words.get(ContextKind::InvalidArg) {
        if !is_known && let Some(tip) = tip(option) {
            // What clap proposes is an option that is spelt alike, and how that one is used.
            words.remove(ContextKind::SuggestedArg);
            words.remove(ContextKind::Usage);
            words.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        } else if fs::symlink_metadata(option).is_err() {
            // How to name a file that begins with a dash: there is none.
            words.remove(ContextKind::Suggested);
        }
    }
    if let Some(ContextValue::String(word)) = words.get(ContextKind::InvalidSubcommand)
        && let Some(tip) = tip_of_command(word)
    {
        words.remove(ContextKind::SuggestedSubcommand);
        words.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    let stream = if words.use_stderr() { streams::stderr() } else { streams::stdout() };
    match (stream.write_styled(&words.render()), words.exit_code()) {
        (Ok(()), 0) => ExitCode::SUCCESS,
        // Help that does not arrive is none.
        (Err(error), 0) => fail(&WriteError(error).into()),
        (_, _) => ExitCode::from(2),
    }
}

/// What to say instead of a command that there is not, behind `help`, `bag` or `catalog`.
fn tip_of_command(word: &str) -> Option<String> {
    let before = env::args_os().nth(1)?;
    let meant = match before.as_bytes() {
        b"help" => command_meant(word)?,
        b"bag" => match word {
            "verify" | "check" => "bag validate".to_owned(),
            "make" | "new" | "init" => "bag create".to_owned(),
            _ => format!("bag {}", args::verb_like("bag", word)?),
        },
        group => {
            let group = str::from_utf8(group).ok()?;
            format!("{group} {}", args::verb_like(group, word)?)
        }
    };
    Some(format!("did you mean lanesum {meant}?"))
}

/// What to do instead of an option that lanesum does not have.
fn tip(option: &str) -> Option<String> {
    // An option of a command that stands behind it is none of the program's own.
    let words = || env::args_os().skip(1);
    let begins_with_option = words().next().is_some_and(|word| word.as_bytes().starts_with(b"-"));
    let mut commands = words().filter(|word| args::is_command(word.as_bytes()));
    if begins_with_option && let Some(command) = commands.next() {
        let command = command.to_string_lossy();
        // This one is of two words.
        let verb = if command == "catalog" { "catalog VERB" } else { &command };
        return Some(after_the_command(verb));
    }
    let command = words().next().unwrap_or_default();
    if option.starts_with("-r") || option == "--recursive" {
        match command.as_bytes() {
            b"accept" => {
                return Some(
                    "a directory stands for all damaged files below it: leave it out".to_owned(),
                );
            }
            b"forget" => {
                return Some("a directory stands for everything below it: leave it out".to_owned());
            }
            _ => {}
        }
    }
    if option == "--dry-run" || option == "-n" {
        match command.as_bytes() {
            b"bag" => {
                return Some(
                    "'lanesum bag validate DIR' lists differences and writes nothing".to_owned(),
                );
            }
            b"update" => {
                return Some("'lanesum scan' lists changes and records nothing".to_owned());
            }
            _ => {}
        }
    }
    if option == "--max-gone" && command == "limit" {
        return Some("'lanesum add --max-gone N DIR' changes it".to_owned());
    }
    if OF_CATALOG.contains(&command.as_bytes())
        && ["--limit", "--every", "--between"].contains(&option)
    {
        return Some(format!("'lanesum limit {option} ... DIR' sets it for a directory"));
    }
    match (command.as_bytes(), option) {
        (b"status" | b"report", "--all" | "-a") => {
            return Some("all directories are shown by default: leave it out".to_owned());
        }
        (b"report", "-o" | "--output" | "--format") => {
            return Some("it prints text, or with --csv, --json or --html: ... >FILE".to_owned());
        }
        _ => {}
    }
    let name = option.trim_start_matches('-');
    if option.starts_with("--")
        && let Ok(algorithm) = name.parse::<Algorithm>()
    {
        return Some(format!("use -a {algorithm}"));
    }
    let known = OF_OTHERS.iter().find(|(options, _)| options.contains(&option));
    known.map(|&(_, tip)| tip.to_owned())
}

/// Commands on directories of the catalog whose pace `limit` or `add` sets.
const OF_CATALOG: [&[u8]; 11] = [
    b"scan", b"update", b"verify", b"scrub", b"nightly", b"serve", b"status", b"report", b"pause",
    b"resume", b"catalog",
];

/// Options of md5sum, hashdeep, RHash and their like that lanesum has no use for.
const OF_OTHERS: [(&[&str], &str); 5] = [
    (&["-c", "--check"], "'lanesum check LIST' checks lists"),
    (&["-r", "-R", "--recursive"], "directories are always read recursively: leave it out"),
    (&["-q", "--quiet"], "there is nothing to silence: leave it out"),
    (&["-v", "--verbose"], "all messages are always printed: leave it out"),
    (&["-b", "-t", "--binary", "--text"], "files are always read as bytes: leave it out"),
];
