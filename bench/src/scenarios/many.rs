//! `many`: messages at once on one core, by their number and by mixes of their lengths.
//!
//! A round of a row hashes 8 MiB or all messages once, whichever is more; every pass over the
//! messages begins with none of them begun and ends with all digests. The baseline is md5-many,
//! which of the published ones is the fastest in most of these cases. `openssl` hashes one after
//! the other.
//!
//! Intel's isa-l_crypto, which refills lanes as lanesum does, is in no registry that the bench
//! could take it from (crates.io and Debian have only isa-l, which is another library).

use std::cell::RefCell;

use anyhow::{Context as _, Result};

use super::Scenario;
use crate::hashers::go::{self, Go};
use crate::hashers::{Batch, batches, reference};
use crate::launch::{allowed_cpus, pin};
use crate::messages::Messages;
use crate::options::Options;
use crate::report::Report;
use crate::rig::{self, Case, Competitor, Measured};
use crate::{clock, peers, quantity};

pub const SCENARIO: Scenario = Scenario {
    name: "many",
    about: "2 to 4096 messages at once and mixes of lengths, against other crates and Go",
    cases: &[
        "2x16KiB",
        "4x16KiB",
        "8x16KiB",
        "16x16KiB",
        "32x16KiB",
        "64x16KiB",
        "16x1MiB",
        "1024x4KiB",
        "4096x64B",
        "4096x256B",
        SKEW_LOG,
        SKEW_UNIFORM,
        COLUMN,
        "1x1MiB+31x16KiB",
    ],
    implementations: &[
        BASELINE,
        "lanesum",
        "lanesum-avx2",
        "lanesum-sse2",
        "lanesum-scalar",
        "md5-simd",
        "openssl",
        go::NAME,
    ],
    run,
};

const BASELINE: &str = "md5-many";
const SKEW_LOG: &str = "skew-log";
const SKEW_UNIFORM: &str = "skew-uniform";
const SKEWED_MESSAGES: usize = 512;

/// More bytes than the caches have, in messages as short as the values of a table.
const COLUMN: &str = "column";
const COLUMN_MESSAGES: usize = 1 << 16;

/// A round of a row hashes at least so many bytes.
const ROUND_BYTES: usize = 8 << 20;
pub const ROUNDS: usize = 25;

fn run(options: &Options, report: &mut Report) -> Result<()> {
    peers::crates().for_each(|peer| println!("{peer}"));
    report.skip("isa-l_crypto", "in no package registry");
    pin(&allowed_cpus()?[..1])?;
    let go = start_go(options, report);
    for case in SCENARIO.cases.iter().filter(|case| options.only.case(case)) {
        let measured =
            measure(options, case, go.as_ref()).with_context(|| format!("case {case}"))?;
        report.add(&measured)?;
    }
    Ok(())
}

fn start_go(options: &Options, report: &mut Report) -> Option<RefCell<Go>> {
    if !options.only.implementation(go::NAME) {
        return None;
    }
    match Go::start() {
        Ok(go) => {
            println!("{:<9} {}", "go", Go::version());
            Some(RefCell::new(go))
        }
        Err(why) => {
            report.skip(go::NAME, &why);
            None
        }
    }
}

fn measure(options: &Options, case: &str, go: Option<&RefCell<Go>>) -> Result<Measured> {
    let messages = Messages::new(lengths_of(case), reference);
    let times = times(&messages);
    let wanted = |batch: &Batch<'_>| options.only.row(batch.name, BASELINE);
    let mut competitors: Vec<Competitor<'_>> =
        batches().into_iter().filter(wanted).map(|batch| messages.many(batch, times)).collect();
    if let Some(go) = go {
        competitors.push(messages.many_in_go(go, times)?);
    }
    let case = Case {
        scenario: SCENARIO.name,
        name: case.to_owned(),
        bytes: (messages.bytes() * times) as u64,
        items: (messages.count() * times) as u64,
        competitors,
    };
    rig::measure(case, options.rounds_or(ROUNDS), &options.interrupt, clock::hertz)
}

/// How often a round hashes all messages.
pub fn times<const N: usize>(messages: &Messages<N>) -> usize {
    (ROUND_BYTES / messages.bytes()).max(1)
}

/// The lengths of a case's messages, the same in every run.
pub fn lengths_of(case: &str) -> Vec<usize> {
    let mut random = fastrand::Rng::with_seed(0x6c65_6e67);
    let mut lengths = |count, length: &mut dyn FnMut(&mut fastrand::Rng) -> usize| {
        (0..count).map(|_| length(&mut random)).collect()
    };
    match case {
        // Equally many between 64 and 128 bytes as between half a MiB and one.
        SKEW_LOG => {
            lengths(SKEWED_MESSAGES, &mut |random| (6.0 + 14.0 * random.f64()).exp2() as usize)
        }
        SKEW_UNIFORM => lengths(SKEWED_MESSAGES, &mut |random| random.usize(..=64 << 10)),
        COLUMN => lengths(COLUMN_MESSAGES, &mut |random| random.usize(64..=1000)),
        _ => quantity::mix(case).expect("every other case is a mix"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_its_messages_and_every_row_its_name_in_the_scenario() {
        for case in SCENARIO.cases {
            assert!(!lengths_of(case).is_empty(), "{case}");
        }
        let rows: Vec<&str> = batches().iter().map(|batch| batch.name).collect();
        assert_eq!(rows[0], BASELINE);
        for row in rows {
            assert!(SCENARIO.implementations.contains(&row), "{row}");
        }
    }

    #[test]
    fn skewed_lengths_are_spread_as_they_say() {
        let share = |lengths: &[usize], below: usize| {
            lengths.iter().filter(|length| **length < below).count() as f64 / lengths.len() as f64
        };
        let log = lengths_of(SKEW_LOG);
        assert!(log.iter().all(|length| (64..=1 << 20).contains(length)));
        assert!((share(&log, 8 << 10) - 0.5).abs() < 0.1, "8 KiB is the middle of the logarithms");
        let uniform = lengths_of(SKEW_UNIFORM);
        assert!(uniform.iter().all(|length| *length <= 64 << 10));
        assert!((share(&uniform, 32 << 10) - 0.5).abs() < 0.1, "32 KiB is the middle");
        assert_eq!(lengths_of(SKEW_LOG), log);
    }
}
