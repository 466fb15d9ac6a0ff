//! The scenarios, one file each. A new one is a module here and a line in [`ALL`].

mod catalog;
mod disk;
pub mod documents;
pub mod events;
mod files;
mod installed;
mod many;
mod one;
mod programs;
mod python;
mod sha;
mod siphash;
mod table;

use anyhow::Result;

use crate::options::Options;
use crate::report::Report;

/// What `lanesum-bench SCENARIO` can run.
pub struct Scenario {
    pub name: &'static str,
    /// One line for `lanesum-bench list`.
    pub about: &'static str,
    /// The names that `--only` takes.
    pub cases: &'static [&'static str],
    pub implementations: &'static [&'static str],
    /// Measures the cases asked for and hands each to the report.
    pub run: fn(&Options, &mut Report) -> Result<()>,
}

pub const ALL: &[Scenario] = &[
    one::SCENARIO,
    many::SCENARIO,
    sha::SCENARIO,
    files::SCENARIO,
    catalog::SCENARIO,
    disk::SCENARIO,
    documents::SCENARIO,
    siphash::SCENARIO,
    table::SCENARIO,
    events::SCENARIO,
    python::SCENARIO,
];

/// The program of a row: what stands before its setting, if it has one.
pub fn program_of(implementation: &str) -> &str {
    implementation.split('-').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_row_stands_before_its_setting() {
        assert_eq!(program_of("md5sum-P32"), "md5sum");
        assert_eq!(program_of("lanesum"), "lanesum");
    }
}
