//! The end of a program that cannot begin.

use std::env;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::error::{ContextKind, ContextValue};
use lanesum_checksum::Algorithm;

use crate::console::shown;
use crate::streams::{self, WriteError};
use crate::{args, hints};

/// A usage error that appeared after the command line was parsed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// A usage error, with a hint on the next line.
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

/// A usage error that a library found, with its hint if there is one.
pub fn usage(error: impl Error + 'static) -> anyhow::Error {
    match hints::of_error(&error) {
        Some(hint) => Hinted::new(error.to_string(), hint).into(),
        None => Usage(error.to_string()).into(),
    }
}

/// Prints an error. Returns the exit code: 2 for wrong usage, and 1 for errors of the system. If
/// standard output has no reader, SIGPIPE ends the process.
pub fn fail(error: &anyhow::Error) -> ExitCode {
    if let Some(WriteError(error)) = error.downcast_ref() {
        streams::end_by_sigpipe(error);
    }
    let reasons: Vec<_> = error.chain().map(reason).collect();
    let words = reasons.join(": ");
    // A name in a message must not start a new line or move the cursor.
    let words: String = words.chars().flat_map(visible).collect();
    // Without standard error there is only the exit code.
    let _ = writeln!(streams::stderr(), "lanesum: {words}");
    if let Some(hint) = error.chain().find_map(hints::of_error) {
        let hint: String = hint.chars().flat_map(visible).collect();
        let _ = writeln!(streams::stderr(), "hint: {hint}");
    }
    if error.is::<Usage>() || error.is::<Hinted>() { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// Returns a character as messages can show it.
fn visible(character: char) -> impl Iterator<Item = char> {
    let escaped = character.is_control().then(|| character.escape_default());
    let plain = escaped.is_none().then_some(character);
    escaped.into_iter().flatten().chain(plain)
}

/// Refuses a first path that is neither a file nor a command: it has no slash or dot, and no such
/// file exists. It is probably a misspelt command, or one after its options, whose lists would be
/// hashed as files. All paths after `--` are files.
///
/// # Errors
/// The first path is of this kind.
pub fn refuse_late_command(paths: &[PathBuf]) -> Result<(), Hinted> {
    let Some(word) = paths.first().map(|path| path.as_os_str()) else { return Ok(()) };
    let is_word = word != "-" && !word.as_bytes().iter().any(|byte| b"/.".contains(byte));
    if !is_word || !is_missing(word) || env::args_os().any(|arg| arg == "--") {
        return Ok(());
    }
    if args::is_command(word.as_bytes()) {
        let command = word.to_string_lossy();
        let words = format!("options before the command {command}");
        return Err(Hinted::new(words, format!("lanesum {command} [OPTIONS] ...")));
    }
    let hint = match word.to_str().and_then(command_meant) {
        Some(command) => format!("did you mean lanesum {command}?"),
        None => "to list the commands: lanesum --help".to_owned(),
    };
    Err(Hinted::new(format!("{}: neither a file nor a command", shown(word)), hint))
}

/// Returns whether no file has this name.
fn is_missing(name: &OsStr) -> bool {
    fs::symlink_metadata(name).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Refuses `help` after a command if there is no such file. The right place is before the command.
///
/// # Errors
/// The command line has this form.
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
    Err(Hinted::new("help: No such file or directory", format!("lanesum help {command}")))
}

/// Returns the group of commands in `[GROUP] help --help`, which prints the help of the group.
pub fn help_of_help() -> Option<Option<OsString>> {
    let mut words = env::args_os().skip(1).peekable();
    let group = words.next_if(|word| word == "bag" || word == "catalog");
    let is_help =
        words.next()? == "help" && ["--help", "-h"].contains(&&*words.next()?.to_string_lossy());
    is_help.then_some(group)
}

/// Refuses to run under the names of other tools, which a link may have. Callers would take MD5
/// digests for digests of their algorithm.
///
/// # Errors
/// The program has such a name.
pub fn refuse_other_name(program: &OsStr) -> anyhow::Result<()> {
    let name = Path::new(program).file_name().unwrap_or_default();
    let algorithm = match name.to_str() {
        Some(name @ ("cksum" | "sum")) => {
            let words = format!("called as {name}, whose algorithms lanesum does not have");
            return Err(Usage(words).into());
        }
        Some("xxhsum") => "xxh64",
        Some(name) => match name.strip_suffix("sum") {
            Some("b2") => "blake2b",
            Some("b3") => "blake3",
            Some(sha @ ("sha1" | "sha224" | "sha256" | "sha384" | "sha512")) => sha,
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

/// Returns the command that the name of a missing file may be, if it follows the command's
/// operands.
pub fn did_you_mean(name: &[u8]) -> Option<String> {
    static FIRST: LazyLock<Option<OsString>> = LazyLock::new(|| env::args_os().nth(1));
    let first = FIRST.as_ref()?;
    let is_there = || fs::symlink_metadata(OsStr::from_bytes(name)).is_ok();
    let is_behind = args::is_command(name) && !args::is_command(first.as_bytes()) && !is_there();
    let command = is_behind.then(|| String::from_utf8_lossy(name))?;
    Some(format!("the command comes first: lanesum {command} ..."))
}

/// The possible meanings of a word that is not a command.
fn command_meant(word: &str) -> Option<String> {
    args::command_guessed(word).or_else(|| args::command_like(word))
}

/// Returns the text of one error; for errors of the system, the system's text.
fn reason(error: &(dyn Error + 'static)) -> String {
    error.downcast_ref().map_or_else(|| error.to_string(), lanesum_checksum::error::message)
}

/// Prints help, the version, or the usage error.
pub fn tell(mut words: clap::Error) -> ExitCode {
    // An option that excludes another one is known.
    let is_known = words.kind() == clap::error::ErrorKind::ArgumentConflict;
    if let Some(ContextValue::String(option)) = words.get(ContextKind::InvalidArg) {
        if !is_known && let Some(tip) = tip(option) {
            // clap suggests an option with similar spelling, and its usage.
            words.remove(ContextKind::SuggestedArg);
            words.remove(ContextKind::Usage);
            words.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        } else if fs::symlink_metadata(option).is_err() {
            // How to name a file that begins with a dash, if there is one.
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
        // Help that cannot be printed is a failure.
        (Err(error), 0) => fail(&WriteError(error).into()),
        (_, _) => ExitCode::from(2),
    }
}

/// Returns the hint for an unknown command after `help`, `bag` or `catalog`.
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

/// Returns the hint for an option that lanesum does not have.
fn tip(option: &str) -> Option<String> {
    // An option after a command is not an option of the program itself.
    let words = || env::args_os().skip(1);
    let begins_with_option = words().next().is_some_and(|word| word.as_bytes().starts_with(b"-"));
    let mut commands = words().filter(|word| args::is_command(word.as_bytes()));
    if begins_with_option && let Some(command) = commands.next() {
        let command = command.to_string_lossy();
        // This command has two words.
        let verb = if command == "catalog" { "catalog VERB" } else { &command };
        return Some(after_the_command(verb));
    }
    let command = words().next().unwrap_or_default();
    if !begins_with_option
        && !args::is_command(command.as_bytes())
        && fs::symlink_metadata(&command).is_err()
        && let Some(meant) = command.to_str().and_then(command_meant)
    {
        // Until now the word was a path, and the option one of `sum`.
        return Some(format!("did you mean lanesum {meant}?"));
    }
    if let Some(group) = command.to_str().filter(|it| ["bag", "catalog"].contains(it))
        && words().nth(1).is_some_and(|word| word.as_bytes().starts_with(b"-"))
    {
        let verb = words().skip(2).find(|word| args::is_verb(group, word.as_bytes()));
        let verb = verb.unwrap_or_else(|| "VERB".into());
        return Some(after_the_command(&format!("{group} {}", verb.display())));
    }
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

/// Commands on directories of the catalog, whose speed `limit` or `add` sets.
const OF_CATALOG: [&[u8]; 11] = [
    b"scan", b"update", b"verify", b"scrub", b"nightly", b"serve", b"status", b"report", b"pause",
    b"resume", b"catalog",
];

/// Options of md5sum, hashdeep, RHash and similar tools that lanesum does not need.
const OF_OTHERS: [(&[&str], &str); 5] = [
    (&["-c", "--check"], "'lanesum check LIST' checks lists"),
    (&["-r", "-R", "--recursive"], "directories are always read recursively: leave it out"),
    (&["-q", "--quiet"], "there is nothing to silence: leave it out"),
    (&["-v", "--verbose"], "all messages are always printed: leave it out"),
    (&["-b", "-t", "--binary", "--text"], "files are always read as bytes: leave it out"),
];
