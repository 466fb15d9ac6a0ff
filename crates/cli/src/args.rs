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
use lanesum_checksum::list::creation;
use lanesum_checksum::{Algorithm, Algorithms};
use lanesum_list::formats::{Kind, Layout};
use lanesum_list::{Dialect, Ending};
use lanesum_md5::Backend;

use crate::failure::Hinted;
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

/// Make and check checksums of files and directory trees.
///
/// A directory stands for all regular files below it, in byte order of their paths. The list is in
/// the format of md5sum, unless an option says otherwise. MD5 finds accidental damage. To find
/// deliberate changes, use -a blake3 or -a sha256.
#[derive(Debug, Parser)]
#[command(
    name = "lanesum",
    version,
    args_conflicts_with_subcommands = true,
    help_template = help::PROGRAM,
    after_help = help::EXAMPLES
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
    /// Print checksums of files and directory trees.
    ///
    /// `lanesum PATH` is short for `lanesum sum PATH`. A directory stands for all regular files
    /// below it, in byte order of their paths. MD5 finds accidental damage. To find deliberate
    /// changes, use -a blake3 or -a sha256.
    #[command(after_help = help::SUM)]
    Sum(Sum),
    /// Check files against checksum lists.
    ///
    /// `check` detects the format of each list and line. It reads the lists of GNU md5sum, sha1sum,
    /// sha256sum, sha512sum and cksum -a, b3sum, xxhsum, OpenSSL, hashdeep, BSD's md5 and RHash
    /// (`rhash --bsd`). It also reads SFV, CSV, JSON, BagIt manifests and the output of S3 tools.
    /// docs/formats.md describes all formats.
    ///
    /// A line with an unknown algorithm, such as `TIGER (name) = ...`, is a failure. A list that
    /// contains only other text is a failure, too.
    ///
    /// To verify files in the catalog, use `lanesum verify`.
    #[command(after_help = help::CHECK, override_usage = help::CHECK_USAGE)]
    Check(Check),
    /// Compare two checksum lists, two trees, or a list and a tree.
    ///
    /// `compare` finds changed, moved, copied, new and missing files. It prints the differences,
    /// sorted by name, and a summary. Two lists are compared without reading any other file.
    #[command(after_help = help::COMPARE)]
    Compare(Compare),
    /// Convert checksum lists to another format.
    ///
    /// `convert` reads only the lists, not the files. It fails if a line is not a checksum line, or
    /// if a list lacks a value that the new format needs.
    #[command(after_help = help::CONVERT)]
    Convert(Convert),
    /// Create, validate and update BagIt bags (RFC 8493).
    ///
    /// A bag is a directory whose files are in `data/`, with manifests of their digests beside it.
    #[command(
        subcommand_required = true,
        arg_required_else_help = true,
        after_help = help::BAG
    )]
    Bag(Bag),
    #[command(flatten)]
    OnCatalog(CatalogCommand),
    /// Print the ETags that S3 gives to uploaded files.
    ///
    /// Lines are `ETAG  NAME`. `check` and `compare` read such lines. With several part sizes,
    /// lines are `ETAG  SIZE  NAME`.
    ///
    /// The ETag of a file in one piece is its MD5. The ETag of a file in parts is made from the
    /// MD5s of the parts, and ends with the number of parts. Buckets that encrypt with KMS keys or
    /// customer keys have different ETags, which lanesum cannot compute.
    #[command(after_help = help::ETAG)]
    Etag(Etag),
    /// Measure the speed of algorithms, or of a disk.
    #[command(after_help = help::SPEED)]
    Speed(Speed),
    /// Behave exactly like GNU md5sum 9.11.
    ///
    /// lanesum does the same if it is called through a link named md5sum. Its messages are in
    /// English.
    #[command(name = "md5sum", disable_help_flag = true, after_help = help::MD5SUM)]
    Md5sum {
        /// Arguments of GNU md5sum; `lanesum md5sum --help` lists them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARG")]
        args: Vec<std::ffi::OsString>,
    },
}

/// Generates text from this definition.
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

    /// Write BSD-style lines: `MD5 (name) = digest`.
    #[arg(long)]
    tag: bool,

    /// Write the lines of md5sum, for any algorithm.
    ///
    /// Lines are `DIGEST  NAME`, as b3sum and xxhsum also write them. They do not name the
    /// algorithm. `lanesum check --help` lists the algorithms that need -a for such lines.
    #[arg(long, conflicts_with = "tag")]
    untagged: bool,

    /// Write the list in this format.
    ///
    /// `gnu` and `tag` are the lines of --untagged and --tag. `hashdeep`, `md5deep` and `mtree` are
    /// the lists of the tools with these names. `bagit` is a manifest of a bag.
    ///
    /// `wheel` is the file RECORD of a Python package. `asc-mhl` is a manifest of film and video
    /// files. `sfv` is a list of CRC-32.
    ///
    /// `csv` and `tsv` have a header, then rows of path, size, modified and digests. `json` is one
    /// array of objects. `jsonl` is one object per line. docs/formats.md describes the limits of
    /// each format.
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = formats(Kind::is_written),
        ignore_case = true,
        conflicts_with_all = ["tag", "untagged"]
    )]
    format: Option<Kind>,

    /// Write digests in base64.
    ///
    /// `cksum --base64` and the Content-MD5 header use this form.
    #[arg(long)]
    base64: bool,

    /// End lines with NUL, and do not escape file names.
    #[arg(short, long)]
    pub zero: bool,

    #[command(flatten)]
    pub trees: Walk,

    /// Read the paths from FILE, each ended by NUL.
    ///
    /// `-` is standard input.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "paths")]
    pub files0_from: Option<PathBuf>,

    /// Write the list to FILE once it is complete.
    ///
    /// The list never contains FILE itself. Files that cannot be read are reported and left out.
    ///
    /// An existing list keeps its owner, group, mode and hard links. It stays unchanged if the new
    /// list cannot be written or would be empty, or if the run is interrupted. `-` is standard
    /// output.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Write each digest beside its file, as NAME.md5.
    ///
    /// A side file contains one line in md5sum's format. A file with a side file is skipped:
    /// lanesum does not read it, and its side file stays unchanged. `lanesum check --side-files
    /// DIR` checks side files.
    #[arg(
        long,
        conflicts_with_all = ["output", "format", "tag", "untagged", "base64", "zero"]
    )]
    pub side_files: bool,

    /// Continue an interrupted run with the same -o.
    ///
    /// Every few seconds, lanesum records the finished files in FILE.partial. It removes
    /// FILE.partial when the list is complete. A recorded file is not read again if its size, times
    /// and inode are unchanged. Without FILE.partial, all files are read.
    #[arg(long, requires = "output")]
    pub resume: bool,

    /// Write no list if a file cannot be read.
    #[arg(long, requires = "output")]
    pub all_or_nothing: bool,

    /// Compute keyed checksums with the key in FILE.
    ///
    /// Keyed checksums cannot be made or checked without the key. FILE contains 32 bytes or 64
    /// hexadecimal digits for blake3, and 16 bytes or 32 digits for SipHash. A newline may follow
    /// the digits. Use blake3 for files, and siphash24-128 for short messages.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key_file: Option<PathBuf>,

    #[command(flatten)]
    pub run: Run,

    /// Files and directories; `-` or nothing is standard input.
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
}

impl Sum {
    /// Returns the algorithms to compute.
    pub fn algorithms(&self) -> Algorithms {
        if self.algorithm.is_empty() {
            return self.format.unwrap_or(Kind::Gnu).algorithms();
        }
        self.algorithm.iter().copied().collect()
    }

    /// Returns the format of the list. Lines name their algorithm on request, or if the number of
    /// digits does not identify it.
    ///
    /// # Errors
    /// There are several algorithms, and --untagged forbids to name them.
    pub fn kind(&self) -> Result<Kind, Hinted> {
        if let Some(kind) = self.format {
            return Ok(kind);
        }
        let several = self.algorithms().iter().count() > 1;
        if several && self.untagged {
            let words = "lines of several algorithms must name them";
            return Err(Hinted::new(words, "leave out --untagged"));
        }
        let told = |algorithm| Dialect::any().identifies(algorithm);
        let is_named = self.tag || self.base64 || several || !self.algorithms().iter().all(told);
        Ok(if is_named && !self.untagged { Kind::Tag } else { Kind::Gnu })
    }

    /// Returns the layout of the list.
    pub fn layout(&self) -> Layout {
        let ending = if self.zero { Ending::Nul } else { Ending::Newline };
        let dialect = Dialect::any().with_ending(ending);
        let mut layout = Layout::new(self.algorithms());
        layout.dialect = if self.base64 { dialect.in_base64() } else { dialect };
        layout.creation = Some(creation());
        layout
    }
}

#[derive(Debug, Args)]
pub struct Check {
    /// Look up file names in DIR, even absolute names.
    ///
    /// A name with `..` can still lead out of DIR.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub root: Option<PathBuf>,

    /// Look up file names in the directory of each list.
    ///
    /// Use this for lists next to their files: `lanesum check --beside */files.md5`. Printed names
    /// begin with the directory of their list.
    #[arg(long, conflicts_with = "root")]
    pub beside: bool,

    /// Check the side files in DIR: NAME.md5 has the digest of NAME.
    ///
    /// A side file contains the digest of its file, alone or as `DIGEST  NAME`. Its extension is
    /// the name of an algorithm, and `.txt` may follow. Other lists in DIR, such as MD5SUMS, are
    /// checked as with --beside. The summary counts files without a side file. They are not
    /// failures.
    #[arg(
        long,
        value_name = "DIR",
        value_hint = ValueHint::DirPath,
        conflicts_with_all = ["root", "beside", "from", "name", "lists"]
    )]
    pub side_files: Vec<PathBuf>,

    /// Read the lists in this format.
    ///
    /// By default, the format of each list is detected. `s3` is the output of `aws s3api`, `rclone
    /// lsjson` and `mc ls`. docs/formats.md describes all formats.
    #[arg(long, value_name = "FORMAT", value_parser = formats(|_| true), ignore_case = true)]
    pub from: Option<Kind>,

    /// Check file NAME against a list about one S3 object.
    ///
    /// The output of `aws s3api head-object` and `aws s3api get-object-attributes` does not contain
    /// the name of the object.
    #[arg(long, value_name = "NAME")]
    pub name: Option<std::ffi::OsString>,

    /// Try this part size first when checking ETags.
    ///
    /// SIZE is, for example, 16MiB. CLIENT is an upload program, for example s5cmd, and stands for
    /// its default part size. `lanesum etag --help` lists the programs. After this size, `check`
    /// tries the part sizes of all programs, and all whole numbers of MiB and MB.
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

    /// Do not print OK for verified files.
    ///
    /// This option replaces an earlier --status or --warn, as in md5sum.
    #[arg(short, long, overrides_with_all = ["status", "warn"])]
    pub quiet: bool,

    /// Print no results and no summary.
    ///
    /// Only the exit code shows the result. Files that cannot be read are still reported. This
    /// option replaces an earlier --quiet or --warn.
    #[arg(long, overrides_with_all = ["quiet", "warn"])]
    pub status: bool,

    /// Report each line that is not a checksum line.
    ///
    /// This option replaces an earlier --quiet or --status.
    #[arg(short, long, overrides_with_all = ["quiet", "status"])]
    pub warn: bool,

    /// Fail if a list has lines that are not checksum lines.
    ///
    /// A single empty list is always a failure. With --strict, one empty list among several is a
    /// failure, too.
    #[arg(long)]
    pub strict: bool,

    /// Skip missing files.
    #[arg(long)]
    pub ignore_missing: bool,

    /// Record progress in STATE, and continue from it.
    ///
    /// The check creates STATE, and records verified files in it. A recorded file is not read again
    /// if its size, times and inode are unchanged. A complete check removes STATE, and the next
    /// check reads all files.
    #[arg(long, value_name = "STATE", value_hint = ValueHint::FilePath)]
    pub resume: Option<PathBuf>,

    /// Check keyed checksums with the key in FILE.
    ///
    /// This option implies --strict. Lines of algorithms without a key are not checked, because
    /// anyone can write such lines.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key_file: Option<PathBuf>,

    /// Read lists whose lines end with NUL.
    #[arg(short, long)]
    pub zero: bool,

    #[command(flatten)]
    pub run: Run,

    /// Checksum lists; `-` or nothing is standard input.
    #[arg(value_name = "LIST", value_hint = ValueHint::FilePath)]
    pub lists: Vec<PathBuf>,
}

impl Check {
    /// Returns whether names are looked up in the directory of each list.
    pub fn is_beside(&self) -> bool {
        self.beside || !self.side_files.is_empty()
    }
}

/// The options of walks.
#[derive(Debug, Args)]
pub struct Walk {
    /// Skip files and directories that match GLOB.
    ///
    /// A GLOB without `/` matches a name at any depth. A GLOB with `/` matches a path relative to
    /// the given directory.
    #[arg(long, value_name = "GLOB", action = ArgAction::Append)]
    pub exclude: Vec<std::ffi::OsString>,

    /// Skip files that git ignores.
    ///
    /// Files that git tracks are never skipped. If git is not installed, lanesum reads only the
    /// .gitignore files. Then it also skips tracked files with matching names.
    #[arg(long)]
    pub gitignore: bool,

    /// Follow symbolic links in directory trees.
    ///
    /// Links on the command line are always followed.
    #[arg(long)]
    pub follow: bool,

    /// Skip file systems mounted in a directory.
    #[arg(long)]
    pub one_file_system: bool,
}

/// The options of all runs.
#[derive(Debug, Args)]
pub struct Run {
    /// Use N threads [default: one per CPU].
    #[arg(short, long = "threads", value_name = "N", value_parser = threads)]
    pub jobs: Option<usize>,

    /// Show a progress bar on standard error.
    ///
    /// `auto` shows the bar on a terminal, unless TERM=dumb.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    pub progress: When,

    /// Use this method to read files.
    ///
    /// `read` copies files from the system's cache into a buffer. `mmap` maps long files into
    /// memory. `direct` reads from the disk, past the cache. `uring` reads many files at once with
    /// io_uring.
    ///
    /// `auto` uses `read`. For long files it tries both `read` and `mmap`, and uses the faster one.
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = io())]
    pub io: Io,

    /// Hash with this instruction set [default: the best].
    #[arg(long, value_name = "NAME", env = BACKEND_VARIABLE, hide_env = true, value_parser = backend)]
    pub backend: Option<Backend>,
}

#[derive(Debug, Args)]
pub struct Speed {
    /// Files and directories whose storage is measured.
    ///
    /// `speed` reads the files from the disk, not from the system's cache, for at most ten seconds.
    /// It prints the fastest value of --io for their storage.
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,

    /// Print the speed of algorithms as one JSON object.
    ///
    /// The object also names the model of the CPU. docs/hardware.md says where to send the object.
    #[arg(long, conflicts_with = "paths")]
    pub json: bool,
}

/// When to show something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    Auto,
    Always,
    Never,
}

/// Returns the command that an unknown word probably means: the most similar one, with at most two
/// wrong, missing, additional or swapped letters, or one in a short command.
pub fn command_like(word: &str) -> Option<String> {
    if let Some(command) = OF_CATALOG.iter().find(|command| *command == word) {
        return Some(format!("catalog {command}"));
    }
    let others = COMMANDS.iter().map(String::as_str).filter(|command| word != *command);
    // Words that differ in more letters are names of files.
    let is_help = word != "help" && strsim::osa_distance(word, "help") == 1;
    nearest(word, others).or_else(|| is_help.then(|| "help".to_owned()))
}

/// Returns the verb of a two-word command with a similar spelling.
pub fn verb_like(command: &str, word: &str) -> Option<String> {
    let cli = Cli::command();
    nearest(word, cli.find_subcommand(command)?.get_subcommands().map(|verb| verb.get_name()))
}

/// Returns whether a word is the verb of a two-word command.
pub fn is_verb(command: &str, word: &[u8]) -> bool {
    let cli = Cli::command();
    let command = cli.find_subcommand(command);
    command.is_some_and(|it| it.get_subcommands().any(|verb| verb.get_name().as_bytes() == word))
}

fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let distance = |name: &str| strsim::osa_distance(&word.to_lowercase(), name);
    let near = names.filter(|name| distance(name) <= (name.len() / 2).min(2));
    near.min_by_key(|name| distance(name)).map(str::to_owned)
}

/// Probable guesses of commands, with the right command.
const GUESSED: [(&[&str], &str); 11] = [
    (&["audit"], "verify (or scan, to compare only names, sizes and times)"),
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

/// Returns the right command for a probable guess.
pub fn command_guessed(word: &str) -> Option<String> {
    if word == "version" {
        return Some("--version".to_owned());
    }
    // Includes the names of tools of the algorithms.
    if let Ok(algorithm) = word.strip_suffix("sum").unwrap_or(word).parse::<Algorithm>() {
        return Some(format!("-a {algorithm}"));
    }
    let known = GUESSED.iter().find(|(words, _)| words.contains(&word));
    known.map(|&(_, command)| command.to_owned())
}

/// Returns whether a word is the name of a command.
pub fn is_command(word: &[u8]) -> bool {
    COMMANDS.iter().any(|command| command.as_bytes() == word)
}

/// Commands of `lanesum catalog` that have the same name as other commands.
static OF_CATALOG: LazyLock<Vec<String>> = LazyLock::new(|| {
    let cli = Cli::command();
    let catalog = cli.find_subcommand("catalog").expect("there is one");
    let names = catalog.get_subcommands().map(|command| command.get_name().to_owned());
    names.filter(|name| !COMMANDS.contains(name)).collect()
});

/// The names of the commands. Each missing file is compared with them, and building the definition
/// takes longer than finding out that it is missing.
static COMMANDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let cli = Cli::command();
    cli.get_subcommands().map(|command| command.get_name().to_owned()).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn algorithms_are_listed_or_repeated() {
        for args in [&["-a", "sha256,md5"][..], &["-a", "md5", "-a", "SHA-256"]] {
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
    fn some_formats_have_other_default_algorithms() {
        let algorithms = |args: &[&str]| {
            let cli = Cli::parse_from([&["lanesum", "--format"], args].concat());
            cli.sum.algorithms().iter().map(Algorithm::name).collect::<Vec<_>>()
        };
        assert_eq!(algorithms(&["sfv"]), ["crc32"]);
        assert_eq!(algorithms(&["hashdeep"]), ["md5", "sha256"]);
        assert_eq!(algorithms(&["hashdeep", "-a", "sha1"]), ["sha1"]);
    }

    #[test]
    fn help_explains_each_format() {
        let cli = Cli::command();
        let help = cli.find_subcommand("sum").unwrap().clone().render_long_help().to_string();
        let about = help.split("Write the list in this format.").nth(1).unwrap();
        let about = about.split("[possible values").next().unwrap();
        let words: Vec<_> =
            about.split_whitespace().map(|word| word.trim_matches([',', '`'])).collect();
        for kind in Kind::ALL.into_iter().filter(|kind| kind.is_written()) {
            assert!(words.contains(&&*kind.to_string()), "{kind}: {about}");
        }
    }

    #[test]
    fn misspelt_commands_are_recognized() {
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
    fn guessed_words_stand_for_commands() {
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
    fn last_of_quiet_status_and_warn_wins() {
        let wins = |args: &[&str]| {
            let cli = Cli::parse_from([&["lanesum", "check"], args].concat());
            let Some(Command::Check(check)) = cli.command else { panic!("check was asked for") };
            [check.quiet, check.status, check.warn]
        };
        assert_eq!(wins(&["--quiet", "--status", "--warn"]), [false, false, true]);
        assert_eq!(wins(&["-w", "--status", "--quiet"]), [true, false, false]);
        assert_eq!(wins(&["--quiet", "--status"]), [false, true, false]);
        assert_eq!(wins(&["-w", "-q"]), [true, false, false]);
        let cli = Cli::command();
        let check = cli.find_subcommand("check").unwrap();
        for (option, others) in [
            ("quiet", "--status or --warn"),
            ("status", "--quiet or --warn"),
            ("warn", "--quiet or --status"),
        ] {
            let option = check.get_arguments().find(|it| it.get_id() == option).unwrap();
            let help = option.get_long_help().unwrap().to_string();
            assert!(help.contains(&format!("replaces an earlier {others}")), "{help}");
        }
    }
}
