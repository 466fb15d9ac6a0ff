//! The options of md5sum: one table, and the rules that tie them together.

use std::ffi::OsString;

use super::getopt::{self, Argument, Arguments, Flag};

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// `--help`, met before any mistake.
    Help,
    /// `--version`, met before any mistake.
    Version,
    /// Print a line for each file; none means standard input.
    Sum(Style, Vec<OsString>),
    /// Check the lists; none means the one on standard input.
    Check(Rules, Vec<OsString>),
}

/// Why a command line is refused.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// An argument is none of md5sum's options.
    Unknown(getopt::Refusal),
    /// Options do not go together.
    Conflict(&'static str),
}

/// How a line is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// `MD5 (name) = digest` instead of `digest  name`.
    pub tag: bool,
    /// A `*` before the name instead of the second space.
    pub binary: bool,
    /// End lines with NUL and write names as they are.
    pub zero: bool,
}

/// How lists are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// What is printed.
    pub report: Report,
    /// Fail on a line that is none.
    pub strict: bool,
    /// Pass over files that do not exist.
    pub ignore_missing: bool,
}

/// What a check prints. The last of the options that choose one wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Report {
    /// A line for each file, and the counts of what went wrong.
    #[default]
    Normal,
    /// The same without the files that are well.
    Quiet,
    /// Nothing but what kept files or lists from being read.
    Status,
    /// As `Normal`, and a message for each line that is none.
    Warn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Id {
    Binary,
    Check,
    Help,
    IgnoreMissing,
    Report(Report),
    Strict,
    Tag,
    Text,
    Version,
    Zero,
}

/// In the order in which GNU lists the possibilities of an ambiguous name.
const FLAGS: [Flag<Id>; 12] = [
    Flag { long: "check", short: Some(b'c'), id: Id::Check },
    Flag { long: "ignore-missing", short: None, id: Id::IgnoreMissing },
    Flag { long: "quiet", short: None, id: Id::Report(Report::Quiet) },
    Flag { long: "status", short: None, id: Id::Report(Report::Status) },
    Flag { long: "warn", short: Some(b'w'), id: Id::Report(Report::Warn) },
    Flag { long: "strict", short: None, id: Id::Strict },
    Flag { long: "tag", short: None, id: Id::Tag },
    Flag { long: "zero", short: Some(b'z'), id: Id::Zero },
    Flag { long: "binary", short: Some(b'b'), id: Id::Binary },
    Flag { long: "text", short: Some(b't'), id: Id::Text },
    Flag { long: "help", short: None, id: Id::Help },
    Flag { long: "version", short: None, id: Id::Version },
];

/// The flags as given, before they are held against each other.
#[derive(Debug, Default)]
struct Given {
    check: bool,
    tag: bool,
    zero: bool,
    /// The last of `--binary` (true) and `--text` (false).
    binary: Option<bool>,
    rules: Rules,
}

/// Reads the arguments after the program's name.
///
/// # Errors
///
/// The first argument that is unknown, or else the first rule that is broken.
pub fn parse(
    posixly_correct: bool,
    args: impl Iterator<Item = OsString>,
) -> Result<Command, Refusal> {
    let mut given = Given::default();
    let mut operands = Vec::new();
    for argument in Arguments::new(&FLAGS, posixly_correct, args) {
        match argument.map_err(Refusal::Unknown)? {
            Argument::Operand(operand) => operands.push(operand),
            Argument::Flag(Id::Help) => return Ok(Command::Help),
            Argument::Flag(Id::Version) => return Ok(Command::Version),
            Argument::Flag(id) => given.take(id),
        }
    }
    if let Some(words) = given.conflict() {
        return Err(Refusal::Conflict(words));
    }
    Ok(if given.check {
        Command::Check(given.rules, operands)
    } else {
        let binary = given.binary == Some(true);
        Command::Sum(Style { tag: given.tag, binary, zero: given.zero }, operands)
    })
}

impl Given {
    fn take(&mut self, id: Id) {
        match id {
            Id::Binary => self.binary = Some(true),
            Id::Text => self.binary = Some(false),
            Id::Check => self.check = true,
            Id::IgnoreMissing => self.rules.ignore_missing = true,
            Id::Report(report) => self.rules.report = report,
            Id::Strict => self.rules.strict = true,
            Id::Tag => self.tag = true,
            Id::Zero => self.zero = true,
            Id::Help | Id::Version => unreachable!("both act as soon as they are met"),
        }
    }

    /// What the options contradict each other in: the first such rule in GNU's order.
    fn conflict(&self) -> Option<&'static str> {
        let rules = &self.rules;
        let faults = [
            (
                self.check && self.zero,
                "the --zero option is not supported when verifying checksums",
            ),
            (self.check && self.tag, "the --tag option is meaningless when verifying checksums"),
            (
                self.check && self.binary.is_some(),
                "the --binary and --text options are meaningless when verifying checksums",
            ),
            (
                !self.check && rules.ignore_missing,
                "the --ignore-missing option is meaningful only when verifying checksums",
            ),
            (
                !self.check && rules.report == Report::Status,
                "the --status option is meaningful only when verifying checksums",
            ),
            (
                !self.check && rules.report == Report::Warn,
                "the --warn option is meaningful only when verifying checksums",
            ),
            (
                !self.check && rules.report == Report::Quiet,
                "the --quiet option is meaningful only when verifying checksums",
            ),
            (
                !self.check && rules.strict,
                "the --strict option is meaningful only when verifying checksums",
            ),
            (self.tag && self.binary == Some(false), "--tag does not support --text mode"),
        ];
        faults.into_iter().find_map(|(broken, words)| broken.then_some(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Command, Refusal> {
        parse(false, line.split_whitespace().map(OsString::from))
    }

    fn refusal(line: &str) -> &'static str {
        match read(line) {
            Err(Refusal::Conflict(words)) => words,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_last_of_two_that_exclude_each_other_wins() {
        let report = |line: &str| match read(line).unwrap() {
            Command::Check(rules, _) => rules.report,
            other => panic!("{other:?}"),
        };
        assert_eq!(report("-c"), Report::Normal);
        assert_eq!(report("-c --status -w --quiet"), Report::Quiet);
        assert_eq!(report("-c --quiet --status"), Report::Status);
        assert_eq!(report("--status -cw"), Report::Warn);

        let style = |line: &str| match read(line).unwrap() {
            Command::Sum(style, _) => style,
            other => panic!("{other:?}"),
        };
        assert!(style("-tb").binary && !style("-bt").binary && !style("").binary);
        assert!(style("--text --tag -b").tag);
        assert!(style("-z").zero);
    }

    #[test]
    fn help_acts_when_it_is_met() {
        assert_eq!(read("--help --nonsense"), Ok(Command::Help));
        assert_eq!(read("-cz --vers"), Ok(Command::Version));
        let unknown = getopt::Refusal(b"unrecognized option '--nonsense'".to_vec());
        assert_eq!(read("--nonsense --help"), Err(Refusal::Unknown(unknown)));
    }

    #[test]
    fn the_first_conflict_in_order_is_named() {
        assert_eq!(
            refusal("-cz --tag"),
            "the --zero option is not supported when verifying checksums"
        );
        assert_eq!(
            refusal("-ct --tag"),
            "the --tag option is meaningless when verifying checksums"
        );
        assert_eq!(
            refusal("-cb"),
            "the --binary and --text options are meaningless when verifying checksums"
        );
        for name in ["ignore-missing", "status", "warn", "quiet", "strict"] {
            assert_eq!(
                refusal(&format!("--{name}")),
                format!("the --{name} option is meaningful only when verifying checksums")
            );
        }
        assert_eq!(
            refusal("--strict --quiet"),
            "the --quiet option is meaningful only when verifying checksums"
        );
        assert_eq!(refusal("--tag -t"), "--tag does not support --text mode");
    }

    #[test]
    fn operands_keep_their_order() {
        let operands = ["b", "-", "a"].map(OsString::from).to_vec();
        assert_eq!(read("b -c - a"), Ok(Command::Check(Rules::default(), operands)));
    }
}
