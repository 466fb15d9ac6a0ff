//! The exit codes of the commands on the catalog.

use std::process::ExitCode;

use lanesum_catalog::Attention;

/// The result of a command, from the best to the worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// Nothing needs attention.
    #[default]
    Nothing,
    /// Wrong usage, no catalog, or the catalog is in use.
    CouldNotRun,
    /// Some files that should be checked were not.
    Incomplete,
    /// Damaged or missing files, I/O errors, or a hardware warning.
    Problem,
    /// The catalog itself is damaged.
    CatalogDamaged,
}

impl Code {
    /// Returns the number that a shell sees.
    pub const fn number(self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Problem => 1,
            Self::CouldNotRun => 2,
            Self::Incomplete => 3,
            Self::CatalogDamaged => 4,
        }
    }

    /// Returns the code in which changes are a problem, if the caller asks for that.
    pub fn with_changes(self, has_changes: bool) -> Self {
        if has_changes { self.max(Self::Problem) } else { self }
    }
}

impl From<Attention> for Code {
    fn from(attention: Attention) -> Self {
        match attention {
            Attention::Nothing | Attention::Changes => Self::Nothing,
            Attention::Incomplete => Self::Incomplete,
            Attention::Problem => Self::Problem,
        }
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_code_is_4_then_1_then_3_then_2() {
        let mut codes = [
            Code::CatalogDamaged,
            Code::Problem,
            Code::Incomplete,
            Code::CouldNotRun,
            Code::Nothing,
        ];
        codes.sort();
        codes.reverse();
        assert_eq!(codes.map(Code::number), [4, 1, 3, 2, 0]);
        assert_eq!(Code::Incomplete.with_changes(true), Code::Problem);
        assert_eq!(Code::Nothing.with_changes(false), Code::Nothing);
    }
}
