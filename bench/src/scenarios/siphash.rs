//! `siphash`: hashes of short inputs, one at a time and many at once, beside other SipHashes,
//! hashes that do not stand up to an attacker, and FNV-1, which the document of 2012 compares with.
//!
//! - `one-5B` to `one-1MiB`: inputs of one length, one after the other, each a call of its own that
//!   begins with the key and ends with the hash. Inputs do not depend on each other's hashes, so
//!   the CPU may begin one before another has ended. They fit into the first-level cache, but for 1
//!   MiB.
//! - `many-8B` to `many-64B`: 4,096 records of one length, `many-u64`: 4,096 numbers. lanesum
//!   hashes them at once, as records and as a column; the others, which cannot, one after the
//!   other.
//! - `mixed-1-16` and so on: 131,072 strings of random lengths in one buffer with offsets, more
//!   than a branch predictor can learn by heart.
//!
//! The baseline is the crate siphasher. `lanesum-2-4-avx2` is lanesum held to AVX2.

mod subjects;

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;

use super::Scenario;
use crate::clock;
use crate::launch::{allowed_cpus, pin};
use crate::options::Options;
use crate::report::Report;
use crate::rig::{self, Case, Competitor, Sample};
use subjects::{Hashes, Inputs, Subject};

pub const SCENARIO: Scenario = Scenario {
    name: "siphash",
    about: "keyed hashes of 1 byte to 1 MiB, one at a time and many at once",
    cases: &[
        "one-1B",
        "one-2B",
        "one-3B",
        "one-5B",
        "one-8B",
        "one-12B",
        "one-16B",
        "one-24B",
        "one-32B",
        "one-45B",
        "one-64B",
        "one-96B",
        "one-128B",
        "one-256B",
        "one-512B",
        "one-1KiB",
        "one-2KiB",
        "one-4KiB",
        "one-1MiB",
        "many-8B",
        "many-16B",
        "many-32B",
        "many-64B",
        "many-u64",
        "mixed-1-16",
        "mixed-8-32",
        "mixed-1-64",
        "mixed-1-200",
    ],
    implementations: &[
        BASELINE,
        "siphasher-1-3",
        "lanesum-2-4",
        "lanesum-1-3",
        "lanesum-2-4-avx2",
        "lanesum-1-3-avx2",
        "libsodium",
        "std",
        "fnv1",
        "fnv1a",
        "ahash",
        "foldhash",
        "xxh3",
        "rapidhash",
    ],
    run,
};

const BASELINE: &str = "siphasher-2-4";

/// A run of a row takes some milliseconds: it hashes the inputs again and again, up to so many
/// bytes, where an input counts for some bytes more than it has.
const RUN_BYTES: usize = 8 << 20;
const BYTES_PER_INPUT: usize = 8;
const ROUNDS: usize = 15;

fn run(options: &Options, report: &mut Report) -> Result<()> {
    pin(&allowed_cpus()?[..1])?;
    for name in SCENARIO.cases.iter().filter(|case| options.only.case(case)) {
        let inputs = Inputs::of_case(name).expect("every case is a kind of inputs");
        let cost = inputs.bytes() + BYTES_PER_INPUT * inputs.count();
        let times = (RUN_BYTES / options.scale / cost).max(1);
        let wanted = |name: &&&str| options.only.row(name, BASELINE);
        let subjects = SCENARIO.implementations.iter().filter(wanted);
        let subjects = subjects.filter_map(|name| subjects::subject(name, &inputs));
        let case = Case {
            scenario: SCENARIO.name,
            name: (*name).to_owned(),
            bytes: (inputs.bytes() * times) as u64,
            items: (inputs.count() * times) as u64,
            competitors: subjects.map(|subject| competitor(subject, &inputs, times)).collect(),
        };
        report.add(&rig::measure(
            case,
            options.rounds_or(ROUNDS),
            &options.interrupt,
            clock::hertz,
        )?)?;
    }
    Ok(())
}

fn competitor<'case>(
    subject: Subject<'case>,
    inputs: &'case Inputs,
    times: usize,
) -> Competitor<'case> {
    let Subject { name, mut hash, expected } = subject;
    let hashes = Hashes::default();
    let last = hashes.clone();
    Competitor {
        name,
        every_round: true,
        run: Box::new(move || {
            let mut hashes = hashes.borrow_mut();
            hashes.resize(inputs.count(), 0);
            let start = Instant::now();
            for _ in 0..times {
                hash(black_box(&mut hashes));
            }
            Ok(Sample::whole(start.elapsed().as_secs_f64()))
        }),
        verify: Box::new(move || expected.check(inputs, &last.borrow())),
    }
}
