//! `lanesum speed`: what each instruction set and algorithm does on this machine.

use std::hint::black_box;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use lanesum_md5::{Backend, Lanes, md5};

use crate::streams::{self, WriteError};

/// Bytes of a stream.
const LENGTH: usize = 16 << 10;
/// Numbers of streams side by side.
const STREAMS: [usize; 8] = [1, 2, 4, 8, 16, 32, 48, 64];
/// How long one figure is measured: long enough for the clock of the CPU to rise.
const PATIENCE: Duration = Duration::from_millis(100);

/// Prints a table of GB/s: a line for each instruction set, a column for each number of streams.
///
/// # Errors
/// Standard output's.
pub fn run() -> anyhow::Result<ExitCode> {
    print(&mut io::LineWriter::new(streams::stdout())).map_err(WriteError)?;
    Ok(ExitCode::SUCCESS)
}

fn print(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "MD5 of streams of 16 KiB on one core, GB/s:\n")?;
    write!(out, "{:>12}", "streams")?;
    for streams in STREAMS {
        write!(out, "{streams:>8}")?;
    }
    writeln!(out)?;
    let messages: Vec<Vec<u8>> =
        (0..).map(|byte| vec![byte; LENGTH]).take(STREAMS[STREAMS.len() - 1]).collect();
    for backend in Backend::available() {
        write!(out, "{:>12}", backend.name())?;
        out.flush()?;
        for streams in STREAMS {
            let rate = rate(streams * LENGTH, || hash(backend, &messages[..streams]));
            write!(out, "{rate:>8.2}")?;
            out.flush()?;
        }
        writeln!(out)?;
    }
    let alone = rate(LENGTH, || {
        black_box(md5(black_box(&messages[0])));
    });
    writeln!(out, "\none stream without lanes: {alone:.2}; the best here: {}", Backend::best())
}

fn hash(backend: Backend, messages: &[Vec<u8>]) {
    let mut lanes = Lanes::with_backend(backend);
    for message in messages {
        if lanes.is_full() {
            black_box(lanes.pop());
        }
        lanes.push(black_box(&message[..]));
    }
    while let Some(ended) = lanes.pop() {
        black_box(ended);
    }
}

/// The best rate in GB/s (10^9 bytes a second) of some rounds.
fn rate(bytes: usize, mut work: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = Duration::MAX;
    while begin.elapsed() < PATIENCE {
        let round = Instant::now();
        work();
        best = best.min(round.elapsed());
    }
    bytes as f64 / best.as_secs_f64() / 1e9
}
