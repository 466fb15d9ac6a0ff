//! `sha`: SHA-1, SHA-256 and SHA-512 of 1 to 4096 messages at once on one core, and of a mix of
//! lengths.
//!
//! Measured as `many` is. The baseline is OpenSSL, which hashes one message after the other, as
//! `rustcrypto` (the crates sha1 and sha2) and `ring` do. Like them, the rows of lanesum that are
//! held to an instruction set use the SHA instructions if the CPU has them.
//!
//! Intel's isa-l_crypto is missing, because no registry has it.

use anyhow::{Context as _, Result};

use super::Scenario;
use super::many::{self, ROUNDS};
use crate::hashers::{Batch, sha};
use crate::launch::{allowed_cpus, pin};
use crate::messages::Messages;
use crate::options::Options;
use crate::report::Report;
use crate::rig::{self, Case, Measured};
use crate::{clock, peers};

pub const SCENARIO: Scenario = Scenario {
    name: "sha",
    about: "SHA-1, SHA-256 and SHA-512 of 1 to 4096 messages at once, against other crates",
    cases: &[
        "sha1-1x16KiB",
        "sha1-2x16KiB",
        "sha1-4x16KiB",
        "sha1-8x16KiB",
        "sha1-16x16KiB",
        "sha1-64x16KiB",
        "sha1-4096x64B",
        "sha1-skew-log",
        "sha256-1x16KiB",
        "sha256-2x16KiB",
        "sha256-4x16KiB",
        "sha256-8x16KiB",
        "sha256-16x16KiB",
        "sha256-64x16KiB",
        "sha256-4096x64B",
        "sha256-skew-log",
        "sha512-1x16KiB",
        "sha512-2x16KiB",
        "sha512-4x16KiB",
        "sha512-8x16KiB",
        "sha512-16x16KiB",
        "sha512-64x16KiB",
        "sha512-4096x64B",
        "sha512-skew-log",
    ],
    implementations: &[
        BASELINE,
        "lanesum",
        "lanesum-avx2",
        "lanesum-sse2",
        "lanesum-scalar",
        "rustcrypto",
        "ring",
        "tape-sha256",
    ],
    run,
};

const BASELINE: &str = "openssl";

fn run(options: &Options, report: &mut Report) -> Result<()> {
    peers::of_sha().for_each(|peer| println!("{peer}"));
    report.skip("isa-l_crypto", "in no package registry");
    pin(&allowed_cpus()?[..1])?;
    for case in SCENARIO.cases.iter().filter(|case| options.only.case(case)) {
        let (algorithm, lengths) = case.split_once('-').expect("an algorithm");
        let lengths = many::lengths_of(lengths);
        let measured = match algorithm {
            "sha1" => {
                let messages = Messages::new(lengths, sha::reference_1);
                measure(options, case, &messages, sha::batches_1())
            }
            "sha256" => {
                let messages = Messages::new(lengths, sha::reference_256);
                measure(options, case, &messages, sha::batches_256())
            }
            _ => {
                let messages = Messages::new(lengths, sha::reference_512);
                measure(options, case, &messages, sha::batches_512())
            }
        };
        report.add(&measured.with_context(|| format!("case {case}"))?)?;
    }
    Ok(())
}

fn measure<'case, const N: usize>(
    options: &Options,
    name: &str,
    messages: &'case Messages<N>,
    batches: Vec<Batch<'case, N>>,
) -> Result<Measured> {
    let times = many::times(messages);
    let wanted = |batch: &Batch<'_, N>| options.only.row(batch.name, BASELINE);
    let competitors = batches.into_iter().filter(wanted);
    let case = Case {
        scenario: SCENARIO.name,
        name: name.to_owned(),
        bytes: (messages.bytes() * times) as u64,
        items: (messages.count() * times) as u64,
        competitors: competitors.map(|batch| messages.many(batch, times)).collect(),
    };
    rig::measure(case, options.rounds_or(ROUNDS), &options.interrupt, clock::hertz)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_its_messages_and_every_row_its_name_in_the_scenario() {
        for case in SCENARIO.cases {
            let (_, messages) = case.split_once('-').unwrap();
            assert!(!many::lengths_of(messages).is_empty(), "{case}");
        }
        let rows: Vec<&str> = sha::batches_256().iter().map(|batch| batch.name).collect();
        assert_eq!(rows[0], BASELINE);
        for row in rows {
            assert!(SCENARIO.implementations.contains(&row), "{row}");
        }
    }
}
