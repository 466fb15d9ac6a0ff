//! The command line: one definition, from which help, man page and completions are made.

mod bag;
mod catalog;
mod compare;
mod convert;
mod etag;
mod help;
mod values;

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{ArgAction, Args, CommandFactory as _, Parser, Subcommand, ValueEnum, ValueHint};
use lanesum_checksum::engine::Io;
use lanesum_checksum::etag::PartSize;
use lanesum_checksum::{Algorithm, Algorithms};
use lanesum_list::formats::{Kind, Layout};
use lanesum_list::{Dialect, Ending};
use lanesum_md5::Backend;

use crate::failure::Usage;
pub use bag::{Bag, Create, Update, Validate, Verb as BagVerb};
#[cfg(feature = "page")]
pub use catalog::Page;
pub use catalog::{
    Accept, Add, CatalogCommand, CatalogVerb, Export, Forget, ImportArgs, Limit, Nightly, Reading,
    Relocate, Report, Roots, Scan, Scrub, Serve, Status, Update as CatalogUpdate, Verify, Where,
};
pub use compare::{Compare, Form};
pub use convert::Convert;
pub use etag::Etag;
pub use values::{BACKEND_VARIABLE, backend};
use values::{algorithms, formats, io, threads};

const EXIT_CODES: &str = "Exit codes: 0 all well, 1 a mismatch or something that could not be read, \
                          2 wrong usage. Interrupted, it dies of the signal: a shell shows 130 after ctrl-C.";

const COMPARE_CODES: &str = "Exit codes: 0 all equal, 1 differences, or something that could not be read or compared, \
                             2 wrong usage.";

/// Make and check checksums of files and whole trees, many at once in the lanes of SIMD registers.
///
/// A folder is walked; its regular files come in byte order of their paths, in md5sum's format
/// unless told otherwise. MD5 finds accidents, not attackers: where somebody might want to deceive
/// you, take -a blake3 or -a sha256.
#[derive(Debug, Parser)]
#[command(
    name = "lanesum",
    version,
    args_conflicts_with_subcommands = true,
    after_help = format!("{EXIT_CODES}\nA path called like a command is written ./check.")
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,

    #[command(flatten)]
    pub sum: Sum,

    /// Print the man page or the completions of a shell.
    #[arg(long, value_name = "KIND", value_enum, hide = true)]
    pub generate: Option<Generate>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print checksums of files and trees (what is done without a command).
    #[command(after_help = EXIT_CODES)]
    Sum(Sum),
    /// Check files against lists of checksums.
    ///
    /// Reads what GNU md5sum, sha1sum, sha256sum, sha512sum and cksum -a, b3sum, xxhsum, OpenSSL,
    /// RHash (with one hash, --bsd or --sfv) and BSD's md5 write, where lanesum has the algorithm:
    /// each line is recognised by itself. Also lists of hashdeep, SFV, CSV, JSON, manifests of
    /// BagIt and what tools for S3 print: docs/formats.md. Lines of other algorithms, and lists
    /// that hold no checksum line at all, are a failure.
    ///
    /// Files that are in the catalog are verified by `lanesum verify`.
    #[command(after_help = EXIT_CODES)]
    Check(Check),
    /// Tell what changed, moved, was copied, is new or missing between two lists, trees, or one of
    /// each.
    ///
    /// A list beside a tree is an audit, two trees tell whether a copy is the original, two lists
    /// are compared without reading a file. Prints the differences, sorted by name, and a summary.
    #[command(after_help = COMPARE_CODES)]
    Compare(Compare),
    /// Write lists of checksums in another format.
    ///
    /// Reads no file but the lists. What a list does not know is left out, and where the format
    /// needs it, it is an error, as is each line that is none.
    #[command(after_help = EXIT_CODES)]
    Convert(Convert),
    /// Make, validate and update bags of BagIt (RFC 8493).
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Bag(Bag),
    #[command(flatten)]
    OnCatalog(CatalogCommand),
    /// Print the ETags that S3 gives to files, by how they are uploaded.
    ///
    /// A line is `ETAG  NAME`, which `check` and `compare` read, with several part sizes
    /// `ETAG  SIZE  NAME`, where SIZE is the size or client. Of a file in one piece the ETag is its
    /// MD5; of one in parts it is made of the MD5s of the parts, and ends with their number. A
    /// bucket that encrypts with keys of KMS or of its customers has other ETags.
    #[command(after_help = EXIT_CODES)]
    Etag(Etag),
    /// Measure every instruction set and algorithm on this machine, or the storage of PATH.
    Speed(Speed),
    /// Be GNU md5sum 9.11, in English; also when called through a link named md5sum.
    #[command(name = "md5sum", disable_help_flag = true)]
    Md5sum {
        /// What GNU md5sum takes: see `lanesum md5sum --help`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARG")]
        args: Vec<std::ffi::OsString>,
    },
}

/// What to generate from this definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Generate {
    Man,
    Bash,
    Zsh,
    Fish,
}

#[derive(Debug, Args)]
pub struct Sum {
    #[arg(
        short,
        long = "algorithm",
        help = help::algorithms(),
        long_help = help::algorithms_in_full(),
        value_name = "ALG",
        value_delimiter = ',',
        value_parser = algorithms(),
        ignore_case = true,
        action = ArgAction::Append
    )]
    algorithm: Vec<Algorithm>,

    /// Write BSD-style lines that name their algorithm: `MD5 (name) = digest`.
    #[arg(long)]
    tag: bool,

    /// Write md5sum's lines, which do not name their algorithm, whichever it is.
    ///
    /// As b3sum and xxhsum do. To check such a list say -a again.
    #[arg(long, conflicts_with = "tag")]
    untagged: bool,

    /// The format of the list.
    ///
    /// gnu: md5sum's lines, as --untagged. tag: BSD's, as --tag. hashdeep and md5deep: with sizes,
    /// as these write them. bagit: a manifest. sfv: CRC-32, as cfv and RHash write it. csv: a
    /// header and rows of path, size, modified and digests. json: one array of objects. jsonl: one
    /// object a line. docs/formats.md says what each can hold.
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = formats(Kind::is_written),
        ignore_case = true,
        conflicts_with_all = ["tag", "untagged"]
    )]
    format: Option<Kind>,

    /// Write digests in base64, as `cksum --base64` and Content-MD5 have them.
    #[arg(long)]
    base64: bool,

    /// End lines with NUL instead of newline, and leave names as they are.
    #[arg(short, long)]
    pub zero: bool,

    #[command(flatten)]
    pub trees: Walk,

    /// Read the paths from FILE (`-`: standard input), each ended by NUL.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "paths")]
    pub files0_from: Option<PathBuf>,

    /// Write the list to FILE, which appears when it is whole and is itself left out.
    ///
    /// What cannot be read is missing in it, and told. A list that is there keeps its owner, group,
    /// mode and names; it stays as it was when the new one cannot be written, the run is
    /// interrupted, or there is nothing to write. `-` is standard output.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Go on where a run with the same -o was interrupted.
    ///
    /// A run keeps what it has hashed in FILE.partial, up to the first file that is not whole yet,
    /// on the medium every few seconds, until the list is whole. Files whose size, times and inode
    /// are what they were are not read again; where there is no FILE.partial, everything is read.
    #[arg(long, requires = "output")]
    pub resume: bool,

    /// Write no list if anything cannot be read.
    #[arg(long, requires = "output")]
    pub all_or_nothing: bool,

    /// Make keyed checksums: without the key in FILE they can be neither made nor checked.
    ///
    /// The file holds 32 bytes or 64 hexadecimal digits for -a blake3, 16 bytes or 32 digits for
    /// SipHash. A newline may follow the digits. For files take blake3; for short messages
    /// siphash24-128.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key_file: Option<PathBuf>,

    #[command(flatten)]
    pub run: Run,

    /// Files and folders; `-` or nothing is standard input.
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
}

impl Sum {
    /// What to compute.
    pub fn algorithms(&self) -> Algorithms {
        if self.algorithm.is_empty() {
            return self.format.unwrap_or(Kind::Gnu).algorithms();
        }
        self.algorithm.iter().copied().collect()
    }

    /// The format of the list. Lines name their algorithm on demand, and where the digits do not
    /// tell it.
    ///
    /// # Errors
    /// There are several algorithms, and they are not to be named.
    pub fn kind(&self) -> Result<Kind, Usage> {
        if let Some(kind) = self.format {
            return Ok(kind);
        }
        let several = self.algorithms().iter().count() > 1;
        if several && self.untagged {
            let words = "the lines of several algorithms must name them; leave out --untagged";
            return Err(Usage(words.to_owned()));
        }
        let told = |algorithm| Dialect::any().identifies(algorithm);
        let is_named = self.tag || self.base64 || several || !self.algorithms().iter().all(told);
        Ok(if is_named && !self.untagged { Kind::Tag } else { Kind::Gnu })
    }

    /// What the list is written with.
    pub fn layout(&self) -> Layout {
        let ending = if self.zero { Ending::Nul } else { Ending::Newline };
        let dialect = Dialect::any().with_ending(ending);
        let mut layout = Layout::new(self.algorithms());
        layout.dialect = if self.base64 { dialect.in_base64() } else { dialect };
        layout
    }
}

#[derive(Debug, Args)]
pub struct Check {
    /// Look the names of the lists up in DIR, absolute ones too; `..` still leads out of it.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub root: Option<PathBuf>,

    /// Look the names of each list up in the folder that it lies in, and print them with it.
    ///
    /// For lists that lie beside their files, one in each folder: `lanesum check --beside
    /// */files.md5`.
    #[arg(long, conflicts_with = "root")]
    pub beside: bool,

    /// The format of the lists; by default each is recognised by its start.
    ///
    /// s3 is what `aws s3api list-objects-v2` and `head-object`, `rclone lsjson --hash` and `mc ls
    /// --json` print.
    #[arg(long, value_name = "FORMAT", value_parser = formats(|_| true), ignore_case = true)]
    pub from: Option<Kind>,

    /// The file that `aws s3api head-object` does not name.
    #[arg(long, value_name = "NAME")]
    pub name: Option<std::ffi::OsString>,

    /// A size of parts, or a client's, to try first for ETags of several parts: 16MiB, s5cmd.
    ///
    /// As for `lanesum etag`. Those of the clients, and whole numbers of MiB and MB, are tried
    /// anyway.
    #[arg(
        long,
        value_name = "SIZE|CLIENT",
        value_delimiter = ',',
        action = ArgAction::Append
    )]
    pub part_size: Vec<PartSize>,

    #[arg(
        short,
        long,
        help = help::UNTAGGED,
        long_help = help::untagged_in_full(),
        value_name = "ALG",
        value_parser = algorithms(),
        ignore_case = true
    )]
    pub algorithm: Option<Algorithm>,

    /// Do not print OK for each file that is.
    #[arg(short, long, overrides_with_all = ["status", "warn"])]
    pub quiet: bool,

    /// Print no verdicts and no summary: the exit code tells. What cannot be read is told all the
    /// same.
    #[arg(long, overrides_with_all = ["quiet", "warn"])]
    pub status: bool,

    /// Name each line that is no checksum line.
    #[arg(short, long, overrides_with_all = ["quiet", "status"])]
    pub warn: bool,

    /// Fail when there is a line that is no checksum line, or an empty list among others.
    #[arg(long)]
    pub strict: bool,

    /// Pass over files that do not exist.
    #[arg(long)]
    pub ignore_missing: bool,

    /// Keep what is verified in STATE, and go on from there where a check was interrupted.
    ///
    /// Files that match their lines, and whose size, times and inode are what they were, are not
    /// read again. STATE is made where it is not there, and removed when all was read, whatever
    /// came of it: the next check reads everything.
    #[arg(long, value_name = "STATE", value_hint = ValueHint::FilePath)]
    pub resume: Option<PathBuf>,

    /// Check keyed checksums with the key in FILE.
    ///
    /// Implies --strict, and lines of algorithms without a key are none: whoever does not have the
    /// key could have written them.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key_file: Option<PathBuf>,

    /// The lines of the lists end with NUL.
    #[arg(short, long)]
    pub zero: bool,

    #[command(flatten)]
    pub run: Run,

    /// Lists; `-` or nothing is standard input.
    #[arg(value_name = "LIST", value_hint = ValueHint::FilePath)]
    pub lists: Vec<PathBuf>,
}

/// How trees are walked.
#[derive(Debug, Args)]
pub struct Walk {
    /// Leave out what matches: a name at any depth, or with a `/` a path below the argument.
    #[arg(long, value_name = "GLOB", action = ArgAction::Append)]
    pub exclude: Vec<std::ffi::OsString>,

    /// Leave out what git would ignore; asks git what is tracked, without git the rules alone
    /// decide.
    #[arg(long)]
    pub gitignore: bool,

    /// Follow symbolic links inside a tree (those given as PATH always are).
    #[arg(long)]
    pub follow: bool,

    /// Stay on the file system of each PATH.
    #[arg(long)]
    pub one_file_system: bool,
}

/// How to run, whatever is done.
#[derive(Debug, Args)]
pub struct Run {
    /// Threads; by default one for each CPU.
    #[arg(short, long = "threads", value_name = "N", value_parser = threads)]
    pub jobs: Option<usize>,

    /// Show a bar on standard error: auto is when that is a terminal, and not TERM=dumb.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    pub progress: When,

    /// How files are read.
    ///
    /// auto: as with read, or as with mmap where that proves faster in the same run. read: into a
    /// buffer, through the system's cache. direct: past the cache, which stays as it was, to see
    /// what the medium holds. mmap: long files are mapped. uring: the beginnings of many files at
    /// once, by io_uring.
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = io())]
    pub io: Io,

    /// The instruction set for MD5 in lanes; by default the best that the CPU has.
    #[arg(long, value_name = "NAME", env = BACKEND_VARIABLE, hide_env = true, value_parser = backend)]
    pub backend: Option<Backend>,
}

#[derive(Debug, Args)]
pub struct Speed {
    /// Read what lies there, for ten seconds at most, and tell how its storage likes to be read.
    ///
    /// Files or folders. What the system's cache holds of them is dropped first: from the cache
    /// everything is fast.
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
}

/// When to show something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    Auto,
    Always,
    Never,
}

/// The command that a word which is none may be meant for: the nearest, if at most two letters are
/// wrong, missing, too many or in each other's places; one in a short command.
pub fn command_like(word: &str) -> Option<String> {
    if let Some(command) = OF_CATALOG.iter().find(|command| *command == word) {
        return Some(format!("catalog {command}"));
    }
    let others = COMMANDS.iter().map(String::as_str).filter(|command| word != *command);
    // More than one letter away from it are names of files.
    let is_help = word != "help" && strsim::osa_distance(word, "help") == 1;
    nearest(word, others).or_else(|| is_help.then(|| "help".to_owned()))
}

/// The verb of a command of two words that another is spelt almost like.
pub fn verb_like(command: &str, word: &str) -> Option<String> {
    let cli = Cli::command();
    nearest(word, cli.find_subcommand(command)?.get_subcommands().map(|verb| verb.get_name()))
}

fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let distance = |name: &str| strsim::osa_distance(&word.to_lowercase(), name);
    let near = names.filter(|name| distance(name) <= (name.len() / 2).min(2));
    near.min_by_key(|name| distance(name)).map(str::to_owned)
}

/// Words that somebody may guess for a command, and what to say instead.
const GUESSED: [(&[&str], &str); 10] = [
    (&["validate"], "bag validate (of a list: lanesum check LIST)"),
    (&["remove", "rm", "delete"], "forget"),
    (&["move", "mv", "rename"], "relocate"),
    (&["init"], "add"),
    (&["diff", "cmp"], "compare"),
    (&["hash", "checksum", "digest"], "sum"),
    (&["create"], "bag create"),
    (&["import"], "catalog import"),
    (&["export"], "catalog export"),
    (&["list", "ls"], "status (or sum PATH, to make a list)"),
];

/// What is to be said instead of a word that is no command, but may be guessed for one.
pub fn command_guessed(word: &str) -> Option<String> {
    if word == "version" {
        return Some("--version".to_owned());
    }
    // Also as the tool of the algorithm is called.
    if let Ok(algorithm) = word.strip_suffix("sum").unwrap_or(word).parse::<Algorithm>() {
        return Some(format!("-a {algorithm}"));
    }
    let known = GUESSED.iter().find(|(words, _)| words.contains(&word));
    known.map(|&(_, command)| command.to_owned())
}

/// Whether a word is the name of a command.
pub fn is_command(word: &[u8]) -> bool {
    COMMANDS.iter().any(|command| command.as_bytes() == word)
}

/// What `lanesum catalog` does beside commands of the same name.
static OF_CATALOG: LazyLock<Vec<String>> = LazyLock::new(|| {
    let cli = Cli::command();
    let catalog = cli.find_subcommand("catalog").expect("there is one");
    let names = catalog.get_subcommands().map(|command| command.get_name().to_owned());
    names.filter(|name| !COMMANDS.contains(name)).collect()
});

/// The names of the commands. Each file that is not there is held against them, and to build the
/// definition takes longer than to find that out.
static COMMANDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let cli = Cli::command();
    cli.get_subcommands().map(|command| command.get_name().to_owned()).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn algorithms_may_be_listed_or_repeated() {
        for args in [&["-a", "sha256,md5"][..], &["-a", "md5", "-a", "sha256"]] {
            let cli = Cli::parse_from([&["lanesum"], args, &["x"]].concat());
            let names: Vec<_> = cli.sum.algorithms().iter().map(Algorithm::name).collect();
            assert_eq!(names, ["md5", "sha256"]);
            assert_eq!(cli.sum.kind().unwrap(), Kind::Tag);
        }
        let cli = Cli::parse_from(["lanesum"]);
        assert!(cli.sum.algorithms().contains(Algorithm::Md5));
        assert_eq!(cli.sum.kind().unwrap(), Kind::Gnu);
    }

    #[test]
    fn a_format_has_algorithms_of_its_own() {
        let algorithms = |args: &[&str]| {
            let cli = Cli::parse_from([&["lanesum", "--format"], args].concat());
            cli.sum.algorithms().iter().map(Algorithm::name).collect::<Vec<_>>()
        };
        assert_eq!(algorithms(&["sfv"]), ["crc32"]);
        assert_eq!(algorithms(&["hashdeep"]), ["md5", "sha256"]);
        assert_eq!(algorithms(&["hashdeep", "-a", "sha1"]), ["sha1"]);
    }

    #[test]
    fn help_says_what_each_format_is() {
        let help = Cli::command().render_long_help().to_string();
        let about = help.split("The format of the list.").nth(1).unwrap();
        let about = about.split("[possible values").next().unwrap();
        let words: Vec<_> = about.split_whitespace().collect();
        for kind in Kind::ALL.into_iter().filter(|kind| kind.is_written()) {
            let told = [format!("{kind}:"), kind.to_string()];
            assert!(words.iter().any(|word| told.contains(&(*word).to_owned())), "{kind}: {about}");
        }
    }

    #[test]
    fn a_first_word_that_is_almost_a_command_is_known() {
        for (word, command) in [
            ("chekc", Some("check")),
            ("Check", Some("check")),
            ("chk", Some("check")),
            ("sume", Some("sum")),
            ("helo", Some("help")),
            ("head", None),
            ("md5sums", Some("md5sum")),
            ("sha1sum", None),
            ("import", Some("catalog import")),
            ("backup", Some("catalog backup")),
            ("check", None),
            ("s", None),
            ("src", None),
            ("", None),
        ] {
            assert_eq!(command_like(word).as_deref(), command, "{word}");
        }
    }

    #[test]
    fn what_is_guessed_is_no_command_and_stands_for_one() {
        for (words, command) in GUESSED {
            let first = command.split(' ').next().unwrap();
            assert!(is_command(first.as_bytes()), "{command}");
            assert!(words.iter().all(|word| !is_command(word.as_bytes())), "{words:?}");
        }
        assert_eq!(command_guessed("sha256").as_deref(), Some("-a sha256"));
        assert_eq!(command_guessed("sha1sum").as_deref(), Some("-a sha1"));
        assert_eq!(command_guessed("photos"), None);
    }

    #[test]
    fn the_last_of_quiet_status_and_warn_wins() {
        let wins = |args: &[&str]| {
            let cli = Cli::parse_from([&["lanesum", "check"], args].concat());
            let Some(Command::Check(check)) = cli.command else { panic!("check was asked for") };
            [check.quiet, check.status, check.warn]
        };
        assert_eq!(wins(&["--quiet", "--status", "--warn"]), [false, false, true]);
        assert_eq!(wins(&["-w", "--status", "--quiet"]), [true, false, false]);
        assert_eq!(wins(&["--quiet", "--status"]), [false, true, false]);
    }
}
