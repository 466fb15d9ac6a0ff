//! What the scenarios that start programs share: from rows to a measured case.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::clock;
use crate::launch::Launch;
use crate::options::Options;
use crate::rig::{self, Case, Competitor, Measured};
use crate::verifier::{Answer, Verifier};

/// A row before it is known whether it is wanted.
pub struct Candidate {
    pub implementation: &'static str,
    /// The peer it needs; none for lanesum and the limit, which are ours and take part in every
    /// round.
    pub needs: Option<&'static str>,
    pub launch: Launch,
    pub answer: Answer,
}

/// Its name, the peer it needs and how it is started, and its answer.
pub type CandidateRow = (&'static str, (Option<&'static str>, Launch), Answer);

pub fn candidates(rows: Vec<CandidateRow>) -> Vec<Candidate> {
    let candidate = |(implementation, (needs, launch), answer): CandidateRow| Candidate {
        implementation,
        needs,
        launch,
        answer,
    };
    rows.into_iter().map(candidate).collect()
}

/// Measures the [`case`] of these candidates.
pub fn measure(
    options: &Options,
    scenario: &'static str,
    case: &str,
    rounds: usize,
    candidates: Vec<Candidate>,
    verifier: &Verifier,
) -> Result<Measured> {
    let case = self::case(options, scenario, case, candidates, verifier);
    rig::measure(case, rounds, &options.interrupt, clock::hertz)
}

/// Those of the candidates that `--only` leaves, and the first in any case: it is the baseline.
pub fn case<'case>(
    options: &'case Options,
    scenario: &'static str,
    name: &str,
    candidates: Vec<Candidate>,
    verifier: &'case Verifier,
) -> Case<'case> {
    let competitors = candidates
        .into_iter()
        .enumerate()
        .filter(|(place, each)| *place == 0 || options.only.implementation(each.implementation))
        .map(|(_, candidate)| competitor(options, candidate, verifier))
        .collect();
    Case {
        scenario,
        name: name.to_owned(),
        bytes: verifier.bytes,
        items: verifier.items as u64,
        competitors,
    }
}

/// # Errors
/// There is no such program.
pub fn ensure_built(lanesum: &Path) -> Result<()> {
    ensure!(
        lanesum.is_file(),
        "{} is not there: build it with `cargo build --release`, or name it with --lanesum",
        lanesum.display(),
    );
    Ok(())
}

fn competitor<'case>(
    options: &'case Options,
    candidate: Candidate,
    verifier: &'case Verifier,
) -> Competitor<'case> {
    let Candidate { implementation, needs, launch, answer } = candidate;
    let is_lanesum = implementation.starts_with("lanesum");
    let lanesum = &options.lanesum;
    Competitor {
        name: implementation,
        every_round: needs.is_none(),
        run: Box::new(move || {
            if is_lanesum {
                ensure_built(lanesum)?;
            }
            launch.run()
        }),
        verify: Box::new(move || verifier.verify(answer)),
    }
}
