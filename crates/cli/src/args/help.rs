//! Help texts: the help of the program, examples and exit codes of the commands, and the help that
//! is made from the tables of algorithms and formats.

use lanesum_checksum::Algorithm;
use lanesum_list::Dialect;
use lanesum_list::formats::Kind;

/// The help of the program: the commands in groups.
///
/// A test compares it with the definitions of the commands.
pub const PROGRAM: &str = "\
Make and check checksums of files and directory trees

{usage-heading} {usage}

Checksums:
  sum       Print checksums of files and directory trees
  check     Check files against checksum lists
  compare   Compare two checksum lists, two trees, or a list and a tree
  convert   Convert checksum lists to another format
  etag      Print the ETags that S3 gives to uploaded files
  bag       Create, validate and update BagIt bags (RFC 8493)

Catalog:
  add       Record the files of a directory in the catalog
  scan      Compare names, sizes and times with the catalog
  update    Record edited, moved and new files (never damaged ones)
  verify    Read files and compare them with the catalog
  scrub     Verify the files that are due
  nightly   Update and scrub, and print only problems (for cron)
  serve     Run as a daemon that verifies files on schedule
  status    Show the state of each directory, and what to do
  report    List problems, or all files with their digests
  accept    Record files as they are now, even damaged ones
  forget    Stop tracking files or directories (nothing on disk changes)
  relocate  Tell the catalog the new path of a directory
  pause     Pause scrubbing; the pause survives a reboot
  resume    Resume scrubbing of paused directories
  limit     Show or change how fast and how often files are scrubbed
  catalog   Check, copy, import or export the catalog itself

Other:
  speed     Measure the speed of algorithms, or of a disk
  md5sum    Behave exactly like GNU md5sum 9.11
  help      Print the help of a command

`lanesum PATH` is short for `lanesum sum PATH`. If PATH is also the name of a
command, write ./PATH. A word that is neither a file nor a command is an error.{after-help}";

/// Joins examples and exit codes.
macro_rules! help {
    ($examples:literal, $codes:expr) => {
        concat!("Examples:\n", $examples, "\n", $codes)
    };
}

macro_rules! exit_codes {
    ($good:literal, $bad:literal) => {
        concat!("Exit codes:\n  0  ", $good, "\n  1  ", $bad, "\n  2  wrong usage\n")
    };
}

pub const EXAMPLES: &str = help!(
    "  lanesum -o MD5SUMS ~/photos
  lanesum check --quiet MD5SUMS
  lanesum add ~/photos && lanesum nightly
",
    concat!(
        exit_codes!("success", "a problem: a file differs, or could not be read"),
        "Catalog commands also use 3 and 4: see `lanesum catalog --help`.
After Ctrl-C, a shell shows the exit code 130.\n"
    )
);

pub const SUM: &str = help!(
    "  lanesum -o MD5SUMS ~/photos
  lanesum -a sha256,blake3 image.iso
  lanesum sum --format csv ~/photos
",
    concat!(
        exit_codes!("success", "a file could not be read"),
        "After Ctrl-C, a shell shows the exit code 130.\n"
    )
);

pub const CHECK_USAGE: &str =
    "lanesum check [OPTIONS] [LIST]...\n       lanesum check [OPTIONS] --side-files <DIR>";

pub const CHECK: &str = help!(
    "  lanesum check MD5SUMS
  lanesum check --quiet --root /mnt/copy MD5SUMS
  lanesum check -a blake3 list.txt
  aws s3api list-objects-v2 --bucket B | lanesum check --root DIR
",
    concat!(
        exit_codes!("all files match", "a file does not match, or could not be checked"),
        "After Ctrl-C, a shell shows the exit code 130.\n"
    )
);

pub const COMPARE: &str = help!(
    "  lanesum compare ~/photos /mnt/copy
  lanesum compare MD5SUMS ~/photos
  lanesum compare --format csv old.md5 new.md5 > changes.csv
",
    exit_codes!("all files are equal", "files differ, or could not be compared")
);

pub const CONVERT: &str = help!(
    "  lanesum convert --to csv MD5SUMS > list.csv
  lanesum convert --to gnu --only md5 -o MD5SUMS hashdeep.txt
",
    exit_codes!(
        "the list was written",
        "a line is invalid, or a value is missing: FILE of -o stays unchanged,\n     and standard output may already have lines"
    )
);

pub const ETAG: &str = help!(
    "  lanesum etag big.tar
  lanesum etag --part-size 16MiB,rclone ~/photos
  lanesum etag ~/photos > etags && lanesum check etags
",
    exit_codes!("success", "a file could not be read, or needs too many parts")
);

pub const SPEED: &str = help!(
    "  lanesum speed
  lanesum speed --json > my-cpu.json
  lanesum speed /srv/photos
",
    exit_codes!("success", "a file could not be read")
);

pub const MD5SUM: &str = "Examples:
  lanesum md5sum *.iso > MD5SUMS
  lanesum md5sum --check MD5SUMS

The exit codes are those of GNU md5sum.
";

pub const BAG: &str = "Examples:
  lanesum bag create ~/letters
  lanesum bag validate ~/letters
  lanesum bag update ~/letters
";

pub const BAG_CREATE: &str = help!(
    "  lanesum bag create ~/letters
  lanesum bag create -a sha256,md5 --info Contact-Name='Edna Janssen' ~/letters
",
    exit_codes!("DIR is a bag", "DIR is not a bag, or files were added during the run")
);

pub const BAG_UPDATE_ABOUT: &str = "Record edited, moved and new files of a bag.

A payload manifest lists the digests of the files in data/. A tag manifest lists the digests of the \
other files of the bag. Payload-Oxum in bag-info.txt is the size and number of the files in data/.

`update` prints the differences from the old manifests, and writes new manifests, tag manifests \
and Payload-Oxum. Other metadata stays, except for the labels of --info.

In these cases, `update` writes nothing without --accept:
- a file may be damaged: it changed, but is not newer than the manifest
- a file in data/ is missing
- a payload manifest or bag-info.txt is missing
- the digest of a payload manifest is not in the tag manifests";

pub const BAG_UPDATE: &str = help!(
    "  lanesum bag update ~/letters
  lanesum bag update --info Contact-Name='Edna Janssen' ~/letters
  lanesum bag update --accept ~/letters
",
    exit_codes!("the bag is up to date", "the bag was not updated")
);

pub const BAG_VALIDATE: &str = help!(
    "  lanesum bag validate ~/letters
  lanesum bag validate --csv /srv/bags/* > fixity.csv
  lanesum bag validate --json ~/letters | jq -r 'select(.class == \"changed\").path'
",
    concat!(
        exit_codes!("every bag is valid", "a bag is not valid, or cannot be read"),
        "With --fast: 0 if Payload-Oxum is right, 1 if it is wrong or missing.\n"
    )
);

/// Returns the short help of the algorithms to compute.
pub fn algorithms() -> String {
    let default = names(Kind::Gnu.algorithms().iter());
    format!("Compute digests of ALG, all in one read [default: {default}]")
}

/// Returns the long help of the algorithms to compute: their names and effects.
pub fn algorithms_in_full() -> String {
    let default = Kind::Gnu.algorithms();
    let defaults = Kind::ALL
        .into_iter()
        .filter(|kind| kind.is_written() && kind.algorithms() != default)
        .map(|kind| format!("{} for {kind}", names(kind.algorithms().iter())));
    let implying_tags = Algorithm::ALL.into_iter().filter(|it| !is_told(it));
    let keyless = Algorithm::ALL.into_iter().filter(|it| !it.needs_key());
    let keyed = Algorithm::ALL.into_iter().filter(|it| it.key_len().is_some());
    let with_aliases = |it: Algorithm| match it.aliases() {
        [] => it.to_string(),
        aliases => format!("{it} (also called {})", aliases.join(", ")),
    };
    format!(
        "{}.\n\n\
         Some formats have a different default: {}.\n\n\
         The algorithms are {}. With --key-file: {}.\n\n\
         More than one algorithm implies --tag, because each line must name its algorithm. Each \
         of the following algorithms implies --tag even alone, because a more common algorithm has \
         digests of the same length: {}.",
        algorithms(),
        defaults.collect::<Vec<_>>().join(", "),
        sentence(keyless.map(with_aliases)),
        names(keyed),
        names(implying_tags),
    )
}

/// The short help of the algorithm of untagged lines.
pub const UNTAGGED: &str = "Read untagged lines (`DIGEST  NAME`) as this algorithm";

/// Returns the long help of the algorithm of untagged lines: when it is needed.
pub fn untagged_in_full() -> String {
    let mut keyless: Vec<_> = Algorithm::ALL.into_iter().filter(|it| !it.needs_key()).collect();
    keyless.sort_by_key(|it| it.digest_len());
    let (told, others): (Vec<_>, Vec<_>) = keyless.into_iter().partition(is_told);
    let told = told.into_iter().map(|it| format!("{} {it}", digits(it)));
    let others = others.into_iter().map(|it| format!("{it} ({})", digits(it)));
    format!(
        "{UNTAGGED}.\n\n\
         By default, the number of digits gives the algorithm: {}. Untagged lines of {} need this \
         option. The option is not needed if the name of the list ends with the algorithm, as in \
         B3SUMS or list.xxh128.",
        told.collect::<Vec<_>>().join(", "),
        sentence(others),
    )
}

/// Returns whether the number of digits identifies an untagged line of this algorithm.
fn is_told(algorithm: &Algorithm) -> bool {
    Dialect::any().identifies(*algorithm)
}

/// Returns the number of hexadecimal digits of a digest.
fn digits(algorithm: Algorithm) -> usize {
    2 * algorithm.digest_len()
}

fn names(algorithms: impl Iterator<Item = Algorithm>) -> String {
    sentence(algorithms.map(|it| it.to_string()))
}

/// `a, b and c`.
fn sentence(words: impl Iterator<Item = String>) -> String {
    match &*words.collect::<Vec<_>>() {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        words => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory as _, Parser as _};

    use super::*;
    use crate::args::Cli;

    /// The commands that are not about the catalog, with those of `bag`.
    fn commands(cli: &Command) -> Vec<&Command> {
        let names = ["sum", "check", "compare", "convert", "bag", "etag", "speed", "md5sum"];
        let commands = names.map(|name| cli.find_subcommand(name).unwrap());
        let bag = cli.find_subcommand("bag").unwrap();
        commands.into_iter().chain(bag.get_subcommands()).collect()
    }

    #[test]
    fn program_help_lists_every_command_and_fits_a_terminal() {
        let mut cli = Cli::command();
        let help = cli.render_long_help().to_string();
        let commands = cli.get_subcommands().filter(|command| command.get_name() != "help");
        for command in commands {
            let line = format!("  {:10}{}\n", command.get_name(), command.get_about().unwrap());
            assert!(help.contains(&line), "{line}");
        }
        assert!(help.lines().count() <= 50, "{}", help.lines().count());
        let wide: Vec<_> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{wide:#?}");
    }

    #[test]
    fn first_lines_of_help_are_short() {
        let cli = Cli::command();
        for command in commands(&cli) {
            let about = command.get_about().unwrap().to_string();
            assert!(about.len() <= 62 && !about.ends_with('.'), "{}: {about}", command.get_name());
            for option in command.get_opts() {
                let help = option.get_help().unwrap().to_string();
                assert!(help.len() <= 60 && !help.ends_with('.'), "{}: {help}", option.get_id());
            }
        }
    }

    #[test]
    fn every_command_has_examples() {
        let cli = Cli::command();
        for command in commands(&cli) {
            let help = command.clone().render_long_help().to_string();
            let examples = help.split("\nExamples:\n").nth(1).unwrap();
            let examples = examples.lines().take_while(|line| line.starts_with("  ")).count();
            assert!((2..=4).contains(&examples), "{}: {examples}", command.get_name());
        }
    }

    #[test]
    fn help_lists_algorithms_with_effects_and_defaults() {
        let help = algorithms_in_full();
        let words_behind = |text: &str| {
            let paragraph = help.split(text).nth(1).unwrap().split("\n\n").next().unwrap();
            paragraph.split([' ', ',', '.', '(', ')', ':']).collect::<Vec<_>>()
        };
        let (known, keyed) =
            (words_behind("The algorithms are "), words_behind("With --key-file: "));
        let implying = words_behind("More than one algorithm implies --tag");
        for algorithm in Algorithm::ALL {
            let name = algorithm.name();
            let cli = Cli::parse_from(["lanesum", "-a", name, "x"]);
            assert_eq!(implying.contains(&name), cli.sum.kind().unwrap() == Kind::Tag, "{help}");
            assert!(known.contains(&name), "{name}: {help}");
            assert!(
                algorithm.aliases().iter().all(|alias| known.contains(alias)),
                "{name}: {help}"
            );
            assert_eq!(keyed.contains(&name), algorithm.key_len().is_some(), "{name}: {help}");
        }
        let others = words_behind("Some formats have a different default: ");
        for kind in Kind::ALL.into_iter().filter(|kind| kind.is_written()) {
            let cli = Cli::parse_from(["lanesum", "--format", kind.name(), "x"]);
            let is_md5 = cli.sum.algorithms() == Algorithm::Md5.into();
            assert_eq!(others.contains(&kind.name()), !is_md5, "{kind}: {help}");
        }
    }

    #[test]
    fn help_lists_algorithms_that_untagged_lines_need() {
        let help = untagged_in_full();
        let (told, needing) = help.split_once(". Untagged lines of ").unwrap();
        let told: Vec<_> = told.split([':', ',']).map(str::trim).collect();
        for algorithm in Algorithm::ALL {
            let (it, digits) = (algorithm.name(), 2 * algorithm.digest_len());
            let is_told = is_told(&algorithm);
            let is_untold = !is_told && !algorithm.needs_key();
            assert_eq!(told.contains(&&*format!("{digits} {it}")), is_told, "{it}: {help}");
            assert_eq!(needing.contains(&format!("{it} ({digits})")), is_untold, "{it}: {help}");
        }
    }
}
