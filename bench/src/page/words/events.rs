//! What became of control-event's table.

use crate::page::rows::Row;
use crate::scenarios::events::DOCUMENT;

/// The document's figures, and how long its test takes now.
pub fn about(rows: &[Row]) -> Option<String> {
    let milliseconds = |implementation: &str| {
        let is_it = |row: &&Row| {
            (row.scenario.as_str(), row.case.as_str()) == ("events", "run-1e5")
                && row.implementation == implementation
        };
        rows.iter().find(is_it).map(|row| row.median_s * 1e3)
    };
    Some(format!(
        "{DOCUMENT} In this run the 100,000 took lanesum {:.0} ms, the document's own shape, a map of maps behind \
         a lock, {:.0} ms.",
        milliseconds("lanesum")?,
        milliseconds("document")?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::rows::tests::row;

    #[test]
    fn the_documents_table_is_told_beside_todays_times() {
        let mut rows = vec![row("events", "run-1e5", "lanesum", 25.0)];
        assert_eq!(about(&rows), None, "nothing of the document's shape");
        rows.push(row("events", "run-1e5", "document", 10.0));
        let words = about(&rows).unwrap();
        assert!(words.starts_with("The document's table") && words.contains("in 3 s"), "{words}");
        assert!(words.contains("took lanesum 40 ms") && words.ends_with("100 ms."), "{words}");
    }
}
