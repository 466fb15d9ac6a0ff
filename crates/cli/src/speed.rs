//! `lanesum speed`: the speed of each instruction set and algorithm on this machine.

use std::fs;
use std::hint::black_box;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use lanesum_blockhash::{Backend, BlockHash, digest_of, many};
use lanesum_checksum::{Algorithm, Key, digests_of};
use lanesum_md5::Md5Hash;
use lanesum_sha1::Sha1Hash;
use lanesum_sha2::{Sha256Hash, Sha512Hash};
use serde_json::{Map, Value, json};

use crate::json;
use crate::streams::{self, WriteError};

/// The length of a message in bytes.
const LENGTH: usize = 16 << 10;
/// The lengths of single inputs in bytes, with their names.
const LENGTHS: [(usize, &str); 2] = [(16 << 10, "16 KiB"), (1 << 20, "1 MiB")];
/// The numbers of messages that are hashed together.
const COUNTS: [usize; 8] = [1, 2, 4, 8, 16, 32, 48, 64];
/// The time of a measurement: long enough for the CPU to raise its clock.
const PATIENCE: Duration = Duration::from_millis(100);

/// Prints tables of GB/s, or all figures as a JSON object: hash functions in lanes with each
/// instruction set, and each algorithm.
///
/// # Errors
/// Errors of standard output.
pub fn run(is_json: bool) -> anyhow::Result<ExitCode> {
    let mut out = io::LineWriter::new(streams::stdout());
    let printed = if is_json {
        let object = figures(PATIENCE, &fs::read_to_string("/proc/cpuinfo").unwrap_or_default());
        out.write_all(&json::line(object))
    } else {
        all_backends(&mut out, PATIENCE).and_then(|()| algorithms(&mut out, PATIENCE))
    };
    printed.map_err(WriteError)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns all figures, with what must be known of the machine.
fn figures(patience: Duration, cpuinfo: &str) -> Map<String, Value> {
    let mut lanes = Map::new();
    lanes_as_json::<Md5Hash>(&mut lanes, patience);
    lanes_as_json::<Sha1Hash>(&mut lanes, patience);
    lanes_as_json::<Sha256Hash>(&mut lanes, patience);
    lanes_as_json::<Sha512Hash>(&mut lanes, patience);
    let mut alone = Map::new();
    let Ok(()) = each_algorithm(patience, |algorithm, rates| {
        let rates = LENGTHS
            .iter()
            .zip(rates)
            .map(|((length, _), rate)| (length.to_string(), rounded(rate)));
        alone.insert(algorithm.name().to_owned(), rates.collect::<Map<_, _>>().into());
        Ok::<_, std::convert::Infallible>(())
    });
    let mut object = Map::new();
    object.insert("lanesum".to_owned(), env!("CARGO_PKG_VERSION").into());
    object.insert("architecture".to_owned(), std::env::consts::ARCH.into());
    object.insert("cpu".to_owned(), cpu(cpuinfo).into());
    object.insert("best".to_owned(), Backend::best().name().into());
    object.insert("unit".to_owned(), "GB/s on one core".into());
    let of_lanes = json!({"message_bytes": LENGTH, "messages": COUNTS, "functions": lanes});
    object.insert("many_messages".to_owned(), of_lanes);
    object.insert("one_input_by_bytes".to_owned(), alone.into());
    object
}

/// Returns the lines of the kernel about the first CPU that name its model, on x86-64 or ARM.
fn cpu(cpuinfo: &str) -> Map<String, Value> {
    const NAMES: [&str; 9] = [
        "vendor_id",
        "cpu family",
        "model",
        "model name",
        "stepping",
        "microcode",
        "CPU implementer",
        "CPU part",
        "CPU variant",
    ];
    let first = cpuinfo.split("\n\n").next().unwrap_or_default();
    let fields = first.lines().filter_map(|line| line.split_once(':'));
    let fields = fields.map(|(name, value)| (name.trim(), value.trim()));
    let fields = fields.filter(|(name, _)| NAMES.contains(name));
    fields.map(|(name, value)| (name.to_owned(), value.into())).collect()
}

fn lanes_as_json<H: BlockHash>(functions: &mut Map<String, Value>, patience: Duration) {
    let mut backends = Map::new();
    let Ok(()) = each_backend::<H, _>(patience, |backend, rates| {
        backends.insert(backend.name().to_owned(), rates.map(rounded).to_vec().into());
        Ok::<_, std::convert::Infallible>(())
    });
    let alone = rounded(without_lanes::<H>(patience));
    functions.insert(H::NAME.to_owned(), json!({"backends": backends, "without_lanes": alone}));
}

/// Returns a rate with four digits. The others differ from one measurement to the next.
fn rounded(rate: f64) -> Value {
    format!("{rate:.3e}").parse::<f64>().expect("a number").into()
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
    writeln!(out, "{:>12}{}", "messages", COUNTS.map(|count| format!("{count:>8}")).concat())?;
    each_backend::<H, _>(patience, |backend, rates| {
        writeln!(out, "{:>12}{}", backend.name(), rates.map(|rate| format!("{rate:>8.2}")).concat())
    })?;
    let alone = without_lanes::<H>(patience);
    writeln!(out, "\none message without lanes: {alone:.2}\n")
}

/// Calls a function with the rates of each instruction set, one for each number of messages.
fn each_backend<H: BlockHash, E>(
    patience: Duration,
    mut take: impl FnMut(Backend, [f64; COUNTS.len()]) -> Result<(), E>,
) -> Result<(), E> {
    let messages: Vec<Vec<u8>> =
        (0..).map(|byte| vec![byte; LENGTH]).take(COUNTS[COUNTS.len() - 1]).collect();
    Backend::available().try_for_each(|backend| {
        let of_count = |count| {
            rate(patience, count * LENGTH, || {
                black_box(many::<H, _>(backend, black_box(&messages[..count])));
            })
        };
        take(backend, COUNTS.map(of_count))
    })
}

fn without_lanes<H: BlockHash>(patience: Duration) -> f64 {
    let message = vec![0; LENGTH];
    rate(patience, LENGTH, || _ = black_box(digest_of::<H>(black_box(&message))))
}

/// Prints a line for each algorithm with a single input, with a column for each length.
fn algorithms(out: &mut impl Write, patience: Duration) -> io::Result<()> {
    writeln!(out, "\nOne input on one core, GB/s:\n")?;
    let lengths = LENGTHS.map(|(_, name)| format!("{name:>10}"));
    writeln!(out, "{:>16}{}", "", lengths.concat())?;
    each_algorithm(patience, |algorithm, rates| {
        let rates = rates.map(|rate| format!("{rate:>10.2}"));
        writeln!(out, "{:>16}{}", algorithm.name(), rates.concat())
    })
}

/// Calls a function with the rates of each algorithm, one for each length.
fn each_algorithm<E>(
    patience: Duration,
    mut take: impl FnMut(Algorithm, [f64; LENGTHS.len()]) -> Result<(), E>,
) -> Result<(), E> {
    let input = vec![1; LENGTHS[LENGTHS.len() - 1].0];
    // Any key works. Without a key, BLAKE3 is the hash of `-a blake3`.
    let key = Key::from_bytes(&[2; 16]).expect("16 bytes are a key");
    Algorithm::ALL.into_iter().try_for_each(|algorithm| {
        let key = algorithm.needs_key().then_some(&key);
        let rates = LENGTHS.map(|(length, _)| {
            rate(patience, length, || {
                let digests = digests_of(algorithm.into(), key, black_box(&input[..length]));
                _ = black_box(digests);
            })
        });
        take(algorithm, rates)
    })
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
        let found = names(&out, COUNTS.len());
        let mut table = vec!["messages".to_owned()];
        table.extend(Backend::available().map(|it| it.to_string()));
        assert_eq!(found.len(), 4 * table.len(), "for MD5, SHA-1, SHA-256 and SHA-512");
        assert!(found.chunks(table.len()).all(|rows| rows == table), "{found:?}");
        out.clear();
        algorithms(&mut out, Duration::ZERO).unwrap();
        assert_eq!(names(&out, LENGTHS.len()), Algorithm::ALL.map(Algorithm::name));
    }

    #[test]
    fn json_has_the_cpu_and_a_figure_for_each_row_of_the_tables() {
        let cpuinfo = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel name\t: AMD: x\n\n\
                       processor\t: 1\nvendor_id\t: other\n";
        let object = figures(Duration::ZERO, cpuinfo);
        let cpu = json!({"vendor_id": "AuthenticAMD", "cpu family": "25", "model name": "AMD: x"});
        assert_eq!(object["cpu"], cpu);
        let functions = object["many_messages"]["functions"].as_object().unwrap();
        assert_eq!(functions.len(), 4);
        for (name, function) in functions {
            for backend in Backend::available() {
                let rates = function["backends"][backend.name()].as_array().unwrap();
                assert_eq!(rates.len(), COUNTS.len(), "{name} {backend}");
                assert!(rates.iter().all(|rate| rate.as_f64() > Some(0.0)), "{name} {rates:?}");
            }
        }
        for algorithm in Algorithm::ALL {
            let rate = &object["one_input_by_bytes"][algorithm.name()]["1048576"];
            assert!(rate.as_f64() > Some(0.0), "{algorithm}");
        }
    }
}
