//! Verifies what competitors wrote: a wrong digest has no speed.

use std::cell::OnceCell;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail, ensure};

use crate::answers::{Answers, count_lines};

/// What kind of answer a competitor gives, so how it is verified.
#[derive(Clone, Copy)]
pub enum Answer {
    /// Digests, which must be the baseline's.
    Digests,
    /// Digests of another kind: as many as there are files.
    OtherDigests,
    /// The number of bytes read.
    Bytes,
    /// The names that failed, which must be the baseline's.
    Failures,
    /// The same in rhash's form.
    RhashFailures,
    /// The same in rclone's form.
    RcloneFailures,
}

/// Looks at what the competitors of one case wrote.
pub struct Verifier {
    /// The file that every competitor writes to.
    output: PathBuf,
    /// What is taken off the names.
    prefix: Vec<u8>,
    pub items: usize,
    pub bytes: u64,
    /// The baseline's answers, unless they are known beforehand: it is the first to be verified.
    reference: OnceCell<Answers>,
}

impl Verifier {
    pub fn new(output: PathBuf, prefix: Vec<u8>, items: usize, bytes: u64) -> Self {
        Self { output, prefix, items, bytes, reference: OnceCell::new() }
    }

    /// With the answers known beforehand, which the baseline's must be as well.
    pub fn expecting(self, answers: Answers) -> Self {
        Self { reference: answers.into(), ..self }
    }

    pub fn verify(&self, answer: Answer) -> Result<()> {
        let output = fs::read(&self.output).with_context(|| self.output.display().to_string())?;
        match answer {
            Answer::Digests => {
                let answers = Answers::of_digests(&output, &self.prefix)?;
                self.expect_one_per_item(answers.len())?;
                self.compare(answers)
            }
            Answer::OtherDigests => self.expect_one_per_item(count_lines(&output)),
            Answer::Bytes => {
                let text = String::from_utf8_lossy(&output);
                let expected = self.bytes.to_string();
                ensure!(text.trim() == expected, "read {} bytes of {expected}", text.trim());
                Ok(())
            }
            Answer::Failures => self.compare(Answers::of_failures(&output)),
            Answer::RcloneFailures => {
                self.compare(Answers::of_rclone_failures(&output, &self.prefix))
            }
            // rhash 1.4.3 does not know GNU's escaped names, and fails on them.
            Answer::RhashFailures => {
                let Some(reference) = self.reference.get() else {
                    bail!("the baseline comes first");
                };
                let answers = Answers::of_rhash_failures(&output).without_backslashes();
                answers.agree_with(&reference.without_backslashes())
            }
        }
    }

    fn expect_one_per_item(&self, digests: usize) -> Result<()> {
        ensure!(digests == self.items, "wrong answer: {digests} digests of {} files", self.items);
        Ok(())
    }

    fn compare(&self, answers: Answers) -> Result<()> {
        match self.reference.get() {
            Some(reference) => answers.agree_with(reference),
            None => {
                ensure!(self.reference.set(answers).is_ok(), "the baseline is verified once");
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0cc175b9c0f1b6a831c399e269772661  a\n";
    const B: &str = "92eb5ffee6ae2fec3ad71c777531578f  b\n";
    const WRONG_B: &str = "00000000000000000000000000000000  b\n";

    /// Verifies `outputs` one after the other, as the competitors of a case with two files of 10
    /// bytes in all.
    fn verify(outputs: &[(Answer, &str)]) -> Vec<Option<String>> {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("output");
        let verifier = Verifier::new(output.clone(), Vec::new(), 2, 10);
        let one = |(answer, text): &(Answer, &str)| {
            fs::write(&output, text).unwrap();
            verifier.verify(*answer).err().map(|error| error.to_string())
        };
        outputs.iter().map(one).collect()
    }

    #[test]
    fn digests_must_be_the_baselines() {
        let good = format!("{A}{B}");
        let bad = format!("{A}{WRONG_B}");
        let [first, same, other]: [Option<String>; 3] =
            verify(&[(Answer::Digests, &good), (Answer::Digests, &good), (Answer::Digests, &bad)])
                .try_into()
                .unwrap();
        assert_eq!((first, same), (None, None));
        assert!(other.expect("refused").starts_with("wrong answer: 0000"));
    }

    #[test]
    fn a_baseline_that_leaves_a_file_out_is_refused() {
        assert_eq!(
            verify(&[(Answer::Digests, A)]),
            [Some("wrong answer: 1 digests of 2 files".to_owned())]
        );
    }

    #[test]
    fn other_answers_are_counted() {
        assert_eq!(
            verify(&[(Answer::OtherDigests, "x\ny\n"), (Answer::Bytes, "10\n")]),
            [None, None]
        );
        assert!(verify(&[(Answer::OtherDigests, "x\n")])[0].is_some());
        assert!(verify(&[(Answer::Bytes, "9\n")])[0].is_some());
    }

    #[test]
    fn failures_must_be_the_baselines() {
        let found = verify(&[
            (Answer::Failures, "a: FAILED\n"),
            (Answer::Failures, "a: FAILED open or read\n"),
            (Answer::RhashFailures, "a     ERR\nb\\x     ERR\n"),
            (Answer::Failures, ""),
            (Answer::RhashFailures, ""),
        ]);
        assert_eq!(found[..3], [None, None, None]);
        assert!(found[3].is_some() && found[4].is_some());
    }
}
