//! Amounts in words: the number of files and bytes, and the rate.

use std::time::Duration;

use indicatif::{DecimalBytes, HumanCount};

/// `1 file`, `6,000 files`.
pub fn files(count: u64) -> String {
    counted(count, "file", "files")
}

/// Returns a number with its noun, in singular or plural.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", HumanCount(count), if count == 1 { one } else { many })
}

/// `1.00 GB in 5.00 s (200.00 MB/s)`.
pub fn bytes_in(bytes: u64, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let rate = DecimalBytes((bytes as f64 / seconds.max(1e-9)) as u64);
    format!("{} in {seconds:.2} s ({rate}/s)", DecimalBytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one_and_nothing_takes_no_time() {
        let counts = [0, 1, 6000].map(files);
        assert_eq!(counts, ["0 files", "1 file", "6,000 files"]);
        let time = Duration::from_secs(5);
        assert_eq!(bytes_in(1_000_000_000, time), "1.00 GB in 5.00 s (200.00 MB/s)");
        assert_eq!(bytes_in(0, Duration::ZERO), "0 B in 0.00 s (0 B/s)");
    }
}
