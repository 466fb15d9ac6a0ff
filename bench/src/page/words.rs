//! What a scenario's figures say in words, made from the figures of this run.

mod documents;
mod events;

use super::rows::Row;

/// Speeds closer than this are called equal: rows differ by as much from one run to the next.
const EQUAL_WITHIN: f64 = 0.03;

/// A paragraph for the section of `scenario`, where there is something to say.
pub fn about(scenario: &str, rows: &[Row]) -> Option<String> {
    match scenario {
        "one" => incarnations(rows),
        "documents" => documents::about(rows),
        "events" => events::about(rows),
        _ => None,
    }
}

/// What became of the documents' complaints about their compilers.
fn incarnations(rows: &[Row]) -> Option<String> {
    let cycles = |implementation: &str| {
        let is_it = |row: &&Row| {
            (row.scenario.as_str(), row.case.as_str()) == ("one", "16KiB")
                && row.implementation == implementation
        };
        rows.iter().find(is_it).map(|row| row.cycles_per_byte)
    };
    let pair = |clean: &str, expanded: &str| {
        Some(Pair { clean: cycles(clean)?, other: cycles(expanded)? })
    };
    let decoding = pair("unrolled-decoded", "unrolled-pointer")?;
    let rolling = pair("rolled-decoded", "unrolled-decoded")?;
    let values = pair("table-values", "table-locals")?;
    let punished: Vec<&str> = [
        ("decoding the words", &decoding),
        ("the loop", &rolling),
        ("values that never change", &values),
    ]
    .into_iter()
    .filter(|(_, pair)| pair.advantage() < -EQUAL_WITHIN)
    .map(|(form, _)| form)
    .collect();
    let verdict = match &punished[..] {
        [] => "In this run the compiler punished none of the clean forms.".to_owned(),
        forms => format!("In this run the compiler still punished {}.", forms.join(" and ")),
    };
    let real = cycles("lanesum").map_or(String::new(), |real| {
        format!(" lanesum's own kernel, one table over values that never change, took {real:.2}.")
    });
    Some(format!(
        "The documents' own shapes of MD5, compiled by the compiler named above, in cycles per byte \
         at 16 KiB. Words decoded safely {} (2007, Haskell: half the speed). One loop over the 64 \
         steps {} (2007: a quarter of the speed). Tables over immutable values {} (F#: some 20 % \
         slower).{real} {verdict}",
        decoding.told("words read by pointer"),
        rolling.told("64 steps written out"),
        values.told("tables with mutable locals"),
    ))
}

/// Cycles per byte of a clean form, and of what its author gave it up for.
struct Pair {
    clean: f64,
    other: f64,
}

impl Pair {
    /// How much faster the clean form is, as a share of the other's speed; below zero, slower.
    fn advantage(&self) -> f64 {
        self.other / self.clean - 1.0
    }

    fn told(&self, other: &str) -> String {
        let Self { clean, other: cycles } = self;
        let advantage = self.advantage();
        let verdict = if advantage.abs() <= EQUAL_WITHIN {
            "as fast".to_owned()
        } else if advantage > 0.0 {
            format!("{:.0} % faster", advantage * 100.0)
        } else {
            format!("{:.0} % slower", -advantage * 100.0)
        };
        format!("took {clean:.2}, {other} {cycles:.2}: {verdict}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::row;
    use super::*;

    fn run(cycles: [f64; 5]) -> Option<String> {
        let names = [
            "rolled-decoded",
            "unrolled-decoded",
            "unrolled-pointer",
            "table-values",
            "table-locals",
        ];
        let rows: Vec<Row> = names
            .into_iter()
            .zip(cycles)
            .map(|(name, cycles)| row("one", "16KiB", name, 4.0 / cycles))
            .collect();
        about("one", &rows)
    }

    #[test]
    fn the_words_follow_from_the_figures() {
        let punished = run([8.0, 6.0, 6.01, 7.0, 5.0]).unwrap();
        for words in [
            "took 6.00, words read by pointer 6.01: as fast",
            "took 8.00, 64 steps written out 6.00: 25 % slower",
            "took 7.00, tables with mutable locals 5.00: 29 % slower",
            "still punished the loop and values that never change.",
        ] {
            assert!(punished.contains(words), "{words} is not in {punished}");
        }
        let free = run([6.0, 6.0, 6.0, 5.0, 6.0]).unwrap();
        assert!(free.contains("6.00: 20 % faster") && free.contains("punished none"), "{free}");
    }

    #[test]
    fn without_the_rows_there_are_no_words() {
        assert_eq!(about("one", &[row("one", "64B", "lanesum", 1.0)]), None);
        assert_eq!(about("files", &[]), None);
    }
}
