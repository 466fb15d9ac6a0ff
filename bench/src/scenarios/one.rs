//! `one`: the MD5 of one message of 64 bytes to 64 MiB, by lanesum, by everything else that a crate
//! offers, and by the documents' own shapes of it.
//!
//! Short messages are hashed again and again from the same place, so they are hot in the cache. A
//! round of a row hashes 1 MiB or one message, whichever is more; each message is a call of its own
//! that begins with the initial state and ends with a digest. The baseline is OpenSSL.

use anyhow::Result;

use super::Scenario;
use crate::hashers::{OneShot, one_shots, reference};
use crate::launch::{allowed_cpus, pin};
use crate::messages::Messages;
use crate::options::Options;
use crate::report::Report;
use crate::rig::{self, Case};
use crate::{clock, peers, quantity};

pub const SCENARIO: Scenario = Scenario {
    name: "one",
    about: "one message of 64 bytes to 64 MiB, against other crates and the documents' MD5s",
    cases: &[
        "64B", "256B", "1KiB", "4KiB", "16KiB", "64KiB", "256KiB", "1MiB", "4MiB", "16MiB", "64MiB",
    ],
    implementations: &[
        BASELINE,
        "lanesum",
        "lanesum-avx2",
        "lanesum-sse2",
        "lanesum-scalar",
        "md-5",
        "md5",
        "fast-md5",
        "md5-many",
        "md5-simd",
        "md5-asm",
        "rolled-decoded",
        "rolled-pointer",
        "unrolled-decoded",
        "unrolled-pointer",
        "table-values",
        "table-locals",
    ],
    run,
};

const BASELINE: &str = "openssl";

/// A round of a row hashes at least so many bytes.
const ROUND_BYTES: usize = 1 << 20;
const ROUNDS: usize = 25;
/// Messages longer than [`ROUND_BYTES`] take long enough that few rounds say as much.
const ROUNDS_OF_LONG_MESSAGES: usize = 9;

fn run(options: &Options, report: &mut Report) -> Result<()> {
    peers::crates().for_each(|peer| println!("{peer}"));
    pin(&allowed_cpus()?[..1])?;
    for case in SCENARIO.cases.iter().filter(|case| options.only.case(case)) {
        let length = quantity::bytes(case).expect("every case of `one` is a length") as usize;
        let messages = Messages::new([length], reference);
        let times = (ROUND_BYTES / length).max(1);
        let rounds = if length <= ROUND_BYTES { ROUNDS } else { ROUNDS_OF_LONG_MESSAGES };
        let wanted = |one: &OneShot<'_>| options.only.row(one.name, BASELINE);
        let case = Case {
            scenario: SCENARIO.name,
            name: (*case).to_owned(),
            bytes: (length * times) as u64,
            items: times as u64,
            competitors: one_shots()
                .into_iter()
                .filter(wanted)
                .map(|one| messages.one(one, times))
                .collect(),
        };
        let rounds = options.rounds_or(rounds);
        report.add(&rig::measure(case, rounds, &options.interrupt, clock::hertz)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_a_length_and_every_row_has_its_name_in_the_scenario() {
        for case in SCENARIO.cases {
            assert!(quantity::bytes(case).is_some(), "{case}");
        }
        let rows: Vec<&str> = one_shots().iter().map(|one| one.name).collect();
        assert_eq!(rows[0], BASELINE);
        for row in rows {
            assert!(SCENARIO.implementations.contains(&row), "{row}");
        }
    }
}
