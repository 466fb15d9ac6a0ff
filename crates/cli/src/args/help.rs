//! Help that the tables of algorithms and formats tell.

use lanesum_checksum::Algorithm;
use lanesum_list::Dialect;
use lanesum_list::formats::Kind;

/// Of the algorithms to compute.
pub fn algorithms() -> String {
    let default = Kind::Gnu.algorithms();
    let others = Kind::ALL
        .into_iter()
        .filter(|kind| kind.is_written() && kind.algorithms() != default)
        .map(|kind| format!("{} for {kind}", names(kind.algorithms().iter())));
    format!(
        "Algorithms, all computed in one read; {} unless --format has others of its own: {}",
        names(default.iter()),
        others.collect::<Vec<_>>().join(", "),
    )
}

/// The same, and which there are.
pub fn algorithms_in_full() -> String {
    let implying_tags = Algorithm::ALL.into_iter().filter(|it| !is_told(it));
    let keyless = Algorithm::ALL.into_iter().filter(|it| !it.needs_key());
    let keyed = Algorithm::ALL.into_iter().filter(|it| it.key_len().is_some());
    let with_aliases = |it: Algorithm| match it.aliases() {
        [] => it.to_string(),
        aliases => format!("{it} (also called {})", aliases.join(", ")),
    };
    format!(
        "{}.\n\n\
         More than one implies --tag, and so does one that the number of its digits does not tell: \
         {}.\n\n\
         Known are {}. With --key-file: {}.",
        algorithms(),
        names(implying_tags),
        sentence(keyless.map(with_aliases)),
        names(keyed),
    )
}

/// Of the algorithm of untagged lines.
pub const UNTAGGED: &str = "The algorithm of lines that do not name theirs";

/// The same, and when it is needed.
pub fn untagged_in_full() -> String {
    let mut keyless: Vec<_> = Algorithm::ALL.into_iter().filter(|it| !it.needs_key()).collect();
    keyless.sort_by_key(|it| it.digest_len());
    let (told, others): (Vec<_>, Vec<_>) = keyless.into_iter().partition(is_told);
    let told = told.into_iter().map(|it| format!("{} {it}", digits(it)));
    let others = others.into_iter().map(|it| format!("{it} ({})", digits(it)));
    format!(
        "{UNTAGGED}.\n\n\
         By default the number of their digits tells: {}. Untagged lines of {} need this option.",
        told.collect::<Vec<_>>().join(", "),
        sentence(others),
    )
}

/// Whether the number of digits of an untagged line tells that it is of this algorithm.
fn is_told(algorithm: &Algorithm) -> bool {
    Dialect::any().identifies(*algorithm)
}

/// How many hexadecimal digits a digest has.
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
    use clap::Parser as _;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn algorithms_are_told_with_what_they_imply() {
        let help = algorithms_in_full();
        let words_behind = |text: &str| {
            let paragraph = help.split(text).nth(1).unwrap().split("\n\n").next().unwrap();
            paragraph.split([' ', ',', '.', '(', ')', ':']).collect::<Vec<_>>()
        };
        let (known, keyed) = (words_behind("Known are "), words_behind("With --key-file: "));
        let implying = words_behind("More than one implies --tag");
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
        let others = words_behind("md5 unless --format has others of its own: ");
        for kind in Kind::ALL.into_iter().filter(|kind| kind.is_written()) {
            let cli = Cli::parse_from(["lanesum", "--format", kind.name(), "x"]);
            let is_md5 = cli.sum.algorithms() == Algorithm::Md5.into();
            assert_eq!(others.contains(&kind.name()), !is_md5, "{kind}: {help}");
        }
    }

    #[test]
    fn untagged_lines_that_need_an_algorithm_are_told() {
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
