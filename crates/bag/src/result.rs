//! The result of a validation for each file.

use lanesum_checksum::{Digest, Digests};

use crate::class::Class;
use crate::finding::Finding;

/// The digest of a file in a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpectedDigest {
    /// The name of the manifest, such as `manifest-md5.txt`.
    pub manifest: String,
    /// The digest.
    pub digest: Digest,
}

/// The result for one name in a bag: a file that manifests list, or the subject of findings.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileResult<'a> {
    /// The name of the file in the bag, byte for byte. Empty for the bag itself.
    pub name: &'a [u8],
    /// The digests in the manifests. Empty if no manifest lists the name.
    pub expected: &'a [ExpectedDigest],
    /// The digests of the file's content, one for each algorithm of the expected digests. None if
    /// the file was not read to its end.
    pub found: Option<&'a Digests>,
    /// The errors and warnings about the name.
    pub findings: Vec<Finding>,
}

impl<'a> FileResult<'a> {
    /// Makes the result of a name that no manifest lists.
    pub(crate) fn unlisted(name: &'a [u8], findings: Vec<Finding>) -> Self {
        Self { name, expected: &[], found: None, findings }
    }

    /// Returns the findings that are errors.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_error())
    }

    /// Returns the class of the worst error, in the order of [`Class`]. Returns `None` if there are
    /// no errors.
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        self.errors().map(|finding| finding.problem.class()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Problem;

    #[test]
    fn the_worst_error_decides_the_class() {
        let file = |findings| FileResult::unlisted(b"data/a", findings);
        let warning = Finding::warning("data/a", Problem::Changed(String::new()));
        assert_eq!(file(vec![warning.clone()]).class(), None);
        let [invalid, changed] = [Problem::ManifestLine, Problem::Changed(String::new())]
            .map(|problem| Finding::error("data/a", problem));
        assert_eq!(file(vec![warning, invalid.clone()]).class(), Some(Class::Invalid));
        let file = file(vec![invalid, changed]);
        assert_eq!((file.class(), file.errors().count()), (Some(Class::Changed), 2));
    }
}
