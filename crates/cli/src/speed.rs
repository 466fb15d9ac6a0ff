//! `lanesum speed`: the speed of each instruction set and algorithm on this machine.

use std::hint::black_box;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use lanesum_blockhash::{Backend, BlockHash, digest_of, many};
use lanesum_checksum::{Algorithm, Key, digests_of};
use lanesum_md5::Md5Hash;
use lanesum_sha1::Sha1Hash;
use lanesum_sha2::{Sha256Hash, Sha512Hash};

use crate::streams::{self, WriteError};

/// The length of a stream in bytes.
const LENGTH: usize = 16 << 10;
/// The lengths of single inputs in bytes, with their names.
const LENGTHS: [(usize, &str); 2] = [(16 << 10, "16 KiB"), (1 << 20, "1 MiB")];
/// The numbers of messages that are hashed together.
const STREAMS: [usize; 8] = [1, 2, 4, 8, 16, 32, 48, 64];
/// The time of a measurement: long enough for the CPU to raise its clock.
const PATIENCE: Duration = Duration::from_millis(100);

/// Prints tables of GB/s: hash functions in lanes with each instruction set, and each algorithm.
///
/// # Errors
/// Errors of standard output.
pub fn run() -> anyhow::Result<ExitCode> {
    let mut out = io::LineWriter::new(streams::stdout());
    let tables = all_backends(&mut out, PATIENCE).and_then(|()| algorithms(&mut out, PATIENCE));
    tables.map_err(WriteError)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a table for each hash function in lanes.
fn all_backends(out: &mut impl Write, patience: Duration) -> io::Result<()> {
    backends::<Md5Hash>(out, patience)?;
    backends::<Sha1Hash>(out, patience)?;
    backends::<Sha256Hash>(out, patience)?;
    backends::<Sha512Hash>(out, patience)?;
    writeln!(out, "The best instruction set here is {}.", Backend::best())
}

/// Prints a line for each instruction set, with a column for each number of messages.
fn backends<H: BlockHash>(out: &mut impl Write, patience: Duration) -> io::Result<()> {
    writeln!(out, "{} of messages of 16 KiB on one core, GB/s:\n", H::NAME)?;
    write!(out, "{:>12}", "messages")?;
    for count in STREAMS {
        write!(out, "{count:>8}")?;
    }
    writeln!(out)?;
    let messages: Vec<Vec<u8>> =
        (0..).map(|byte| vec![byte; LENGTH]).take(STREAMS[STREAMS.len() - 1]).collect();
    for backend in Backend::available() {
        write!(out, "{:>12}", backend.name())?;
        out.flush()?;
        for count in STREAMS {
            let rate = rate(patience, count * LENGTH, || {
                black_box(many::<H, _>(backend, black_box(&messages[..count])));
            });
            write!(out, "{rate:>8.2}")?;
            out.flush()?;
        }
        writeln!(out)?;
    }
    let alone = rate(patience, LENGTH, || {
        black_box(digest_of::<H>(black_box(&messages[0])));
    });
    writeln!(out, "\none message without lanes: {alone:.2}\n")
}

/// Prints a line for each algorithm with a single input, with a column for each length.
fn algorithms(out: &mut impl Write, patience: Duration) -> io::Result<()> {
    writeln!(out, "\nOne input on one core, GB/s:\n")?;
    write!(out, "{:>16}", "")?;
    for (_, name) in LENGTHS {
        write!(out, "{name:>10}")?;
    }
    writeln!(out)?;
    let input = vec![1; LENGTHS[LENGTHS.len() - 1].0];
    // Any key works. Without a key, BLAKE3 is the hash of `-a blake3`.
    let key = Key::from_bytes(&[2; 16]).expect("16 bytes are a key");
    for algorithm in Algorithm::ALL {
        write!(out, "{:>16}", algorithm.name())?;
        let key = algorithm.needs_key().then_some(&key);
        for (length, _) in LENGTHS {
            let rate = rate(patience, length, || {
                let digests = digests_of(algorithm.into(), key, black_box(&input[..length]));
                _ = black_box(digests);
            });
            write!(out, "{rate:>10.2}")?;
            out.flush()?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The best rate in GB/s (10^9 bytes a second) of some rounds, at least one.
fn rate(patience: Duration, bytes: usize, mut work: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = Duration::MAX;
    loop {
        let round = Instant::now();
        work();
        best = best.min(round.elapsed());
        if begin.elapsed() >= patience {
            break;
        }
    }
    bytes as f64 / best.as_secs_f64() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the first word of each line that continues with this many figures.
    fn names(text: &[u8], figures: usize) -> Vec<String> {
        let lines = str::from_utf8(text).unwrap().lines();
        let lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines
            .filter(|words| words.len() == 1 + figures)
            .filter(|words| words[1..].iter().all(|word| word.parse::<f64>().is_ok()))
            .map(|words| words[0].to_owned())
            .collect()
    }

    #[test]
    fn every_instruction_set_and_algorithm_is_measured() {
        let mut out = Vec::new();
        all_backends(&mut out, Duration::ZERO).unwrap();
        let found = names(&out, STREAMS.len());
        let mut table = vec!["messages".to_owned()];
        table.extend(Backend::available().map(|it| it.to_string()));
        assert_eq!(found.len(), 4 * table.len(), "for MD5, SHA-1, SHA-256 and SHA-512");
        assert!(found.chunks(table.len()).all(|rows| rows == table), "{found:?}");
        out.clear();
        algorithms(&mut out, Duration::ZERO).unwrap();
        assert_eq!(names(&out, LENGTHS.len()), Algorithm::ALL.map(Algorithm::name));
    }
}
