//! What the Haskell, F# and Perl documents found, and what became of it.

use crate::page::rows::Row;

/// A sentence or two for each document of which there are rows; all of times, as multiples of
/// another's in the same rounds.
pub fn about(rows: &[Row]) -> Option<String> {
    let tables = Tables(rows);
    let said: Vec<String> =
        [haskell(&tables), constant_memory(&tables), fsharp(&tables), perl(&tables)]
            .into_iter()
            .flatten()
            .collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// The document's times: 2.27 s for the unrolled program, 0.78 s for md5sum and 0.9 s for nanoMD5.
fn haskell(tables: &Tables<'_>) -> Option<String> {
    let times = |who| tables.times("200MB", who, "md5sum");
    Some(format!(
        "Haskell, 200 MB: the program of 2007 came to 2.9 times md5sum's time, C behind Haskell to 1.15; \
         today pureMD5 takes {:.2} times as long, cryptohash-md5, which is C, {:.2}, lanesum {:.2}.",
        times("pureMD5")?,
        times("cryptohash-md5")?,
        times("lanesum")?,
    ))
}

/// The document's first program loaded the whole file.
fn constant_memory(tables: &Tables<'_>) -> Option<String> {
    let peaks = |who| Some((tables.peak_mib("200MB", who)?, tables.peak_mib("2GB", who)?));
    let (haskell, lanesum) = (peaks("pureMD5")?, peaks("lanesum")?);
    Some(format!(
        "From 200 MB to 2 GB the memory of pureMD5 goes from {:.1} to {:.1} MiB, lanesum's from {:.1} to {:.1}.",
        haskell.0, haskell.1, lanesum.0, lanesum.1,
    ))
}

/// The document's times: 5.7 s for Bouncy Castle in C# and 2.1 s for .NET's library.
fn fsharp(tables: &Tables<'_>) -> Option<String> {
    let times = |who| tables.times("100x10MB", who, "java-memory");
    Some(format!(
        "F#, 100 times 10 MB in memory: Bouncy Castle took 2.7 times as long as .NET's library; for Java it \
         takes {:.2} times as long as the platform's own, OpenSSL {:.2}, lanesum, all at once, {:.3}.",
        times("bouncycastle-memory")?,
        times("openssl-memory")?,
        times("lanesum-memory")?,
    ))
}

/// The document's CPU seconds: 10.66 mapped, 11.77 by addfile, 15.71 by calls of md5sum.
fn perl(tables: &Tables<'_>) -> Option<String> {
    let times = |who| tables.times("13MBx50", who, "perl-addfile");
    Some(format!(
        "Perl, 13 MB again and again: mapping the file took 0.91 times as long as addfile, a call of md5sum each \
         1.33; today they take {:.2} and {:.2}, lanesum-md5 one after the other {:.2}, lanesum, many at once, {:.2}.",
        times("perl-map")?,
        times("perl-system")?,
        times("library-buffer")?,
        times("lanesum")?,
    ))
}

/// The rows of the scenario by case and implementation.
struct Tables<'rows>(&'rows [Row]);

impl Tables<'_> {
    fn row(&self, case: &str, implementation: &str) -> Option<&Row> {
        let is_it = |row: &&Row| {
            (row.scenario.as_str(), row.case.as_str()) == ("documents", case)
                && row.implementation == implementation
        };
        self.0.iter().find(is_it)
    }

    /// The time of `who` as a multiple of `other`'s.
    fn times(&self, case: &str, who: &str, other: &str) -> Option<f64> {
        Some(self.row(case, other)?.ratio_to_baseline / self.row(case, who)?.ratio_to_baseline)
    }

    fn peak_mib(&self, case: &str, who: &str) -> Option<f64> {
        self.row(case, who)?.peak_mib
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::rows::tests::row;

    #[test]
    fn a_document_is_spoken_of_when_its_rows_are_there() {
        let mut rows = vec![
            row("documents", "200MB", "md5sum", 1.0),
            row("documents", "200MB", "lanesum", 1.25),
            row("documents", "200MB", "pureMD5", 0.5),
        ];
        assert_eq!(about(&rows), None, "no cryptohash-md5");
        rows.push(row("documents", "200MB", "cryptohash-md5", 1.0));
        let words = about(&rows).unwrap();
        let today = "today pureMD5 takes 2.00 times as long, cryptohash-md5, which is C, 1.00, lanesum 0.80.";
        assert!(words.ends_with(today), "{words}");
        rows.push(row("documents", "2GB", "pureMD5", 0.5));
        rows.push(row("documents", "2GB", "lanesum", 0.5));
        for row in &mut rows {
            row.peak_mib = Some(if row.implementation == "lanesum" { 4.0 } else { 5.0 });
        }
        let words = about(&rows).unwrap();
        assert!(
            words.ends_with("pureMD5 goes from 5.0 to 5.0 MiB, lanesum's from 4.0 to 4.0."),
            "{words}"
        );
    }
}
