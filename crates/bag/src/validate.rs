//! Validates a bag (RFC 8493, section 3). A bag is complete if it has all required files. It is
//! valid if it is complete and every file matches every manifest.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use lanesum_checksum::{Algorithms, Digests, engine};

use crate::complete::{Check, Checks, complete};
use crate::declaration::Version;
use crate::finding::{Finding, Problem};
use crate::info::Oxum;
use crate::names::{self, is_payload};
use crate::open::Bag;
use crate::read::{self, Task};
use crate::result::FileResult;

/// A validation of a bag, whose files are to be [read](Self::read).
///
/// ```
/// use std::fs;
/// use lanesum_bag::Validation;
/// use lanesum_checksum::engine;
///
/// let bag = tempfile::tempdir()?;
/// fs::create_dir(bag.path().join("data"))?;
/// fs::write(bag.path().join("data/a"), "abc")?;
/// fs::write(bag.path().join("manifest-md5.txt"), "900150983cd24fb0d6963f7d28e17f72  data/a\n")?;
/// fs::write(bag.path().join("bagit.txt"), "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")?;
///
/// let validation = Validation::prepare(bag.path())?;
/// assert!(!validation.findings().iter().any(|finding| finding.is_error()));
/// let report = validation.read(&engine::Options::default(), |finding| panic!("{finding:?}"));
/// assert!(report.is_valid());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Validation {
    root: PathBuf,
    version: Option<Version>,
    findings: Vec<Finding>,
    checks: Checks,
    payload: Oxum,
}

impl Validation {
    /// Reads the tag files, and lists the contents of the bag. It does not read files of the
    /// payload.
    ///
    /// # Errors
    /// Fails if the directory cannot be read. Problems in it are findings.
    pub fn prepare(folder: &Path) -> io::Result<Self> {
        let mut bag = Bag::open(folder)?;
        let checks = if bag.is_declared { complete(&mut bag) } else { Checks::default() };
        let payload = bag.contents.oxum();
        if bag.is_declared {
            look_at_oxum(&mut bag, payload);
            look_at_names(&mut bag);
        }
        let version = bag.is_declared.then_some(bag.declaration.version);
        Ok(Self { root: bag.root, version, findings: bag.findings, checks, payload })
    }

    /// Returns the findings so far.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the version of BagIt, or `None` if `bagit.txt` is invalid.
    #[must_use]
    pub const fn version(&self) -> Option<Version> {
        self.version
    }

    /// Returns the supported algorithms of the manifests.
    #[must_use]
    pub fn algorithms(&self) -> Algorithms {
        self.tasks().map(|task| task.algorithms).fold(Algorithms::NONE, Algorithms::union)
    }

    /// Returns the files to read, for a total.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> + Send + use<> {
        let paths: Vec<_> = self.tasks().map(|task| task.path(&self.root)).collect();
        paths.into_iter()
    }

    fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.checks.iter().filter_map(|check| check.task.as_ref())
    }

    /// Reads each file once for all manifests, and reports findings in order of the names.
    pub fn read(self, options: &engine::Options, mut tell: impl FnMut(&Finding)) -> Report {
        self.run(options, |check, _, problem| {
            if let Some(problem) = problem {
                tell(&Finding::error(&*check.name, problem));
            }
        })
    }

    /// Reads each file once, for all manifests, and reports the result of each name in byte order:
    /// of every file that a manifest lists, and of every other name that has findings. The findings
    /// that were known [before](Self::findings) are in these results, too.
    ///
    /// If the run is stopped, the files that were not read have neither digests nor findings.
    ///
    /// ```
    /// # use std::fs;
    /// # use lanesum_bag::Validation;
    /// # use lanesum_checksum::engine;
    /// # let bag = tempfile::tempdir()?;
    /// # fs::create_dir(bag.path().join("data"))?;
    /// # fs::write(bag.path().join("data/a"), "damaged")?;
    /// # fs::write(bag.path().join("manifest-md5.txt"), "900150983cd24fb0d6963f7d28e17f72  data/a\n")?;
    /// # fs::write(bag.path().join("bagit.txt"), "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")?;
    /// let mut damaged = Vec::new();
    /// Validation::prepare(bag.path())?.read_each(&engine::Options::default(), |file| {
    ///     if file.class().is_some() {
    ///         damaged.push(file.name.to_vec());
    ///     }
    /// });
    /// assert_eq!(damaged, [b"data/a"]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn read_each(
        self,
        options: &engine::Options,
        mut report: impl FnMut(&FileResult<'_>),
    ) -> Report {
        let mut known: BTreeMap<Vec<u8>, Vec<Finding>> = BTreeMap::new();
        for finding in &self.findings {
            known.entry(finding.name.clone()).or_default().push(finding.clone());
        }
        let result = self.run(options, |check, found, problem| {
            while let Some(first) = known.first_entry().filter(|it| *it.key() < check.name) {
                let (name, findings) = first.remove_entry();
                report(&FileResult::unlisted(&name, findings));
            }
            let mut findings = known.remove(&check.name).unwrap_or_default();
            findings.extend(problem.map(|problem| Finding::error(&*check.name, problem)));
            report(&FileResult { name: &check.name, expected: &check.expected, found, findings });
        });
        for (name, findings) in known {
            report(&FileResult::unlisted(&name, findings));
        }
        result
    }

    /// Reads the files, and passes on each listed file with its digests and problems.
    fn run(
        self,
        options: &engine::Options,
        mut each: impl FnMut(&Check, Option<&Digests>, Option<Problem>),
    ) -> Report {
        let Self { root, findings, checks, payload, .. } = self;
        let count =
            |is_error| findings.iter().filter(|it| it.is_error() == is_error).count() as u64;
        let mut report =
            Report { errors: count(true), warnings: count(false), payload, files: 0, bytes: 0 };
        let tasks: Vec<Task> = checks.iter().filter_map(|check| check.task.clone()).collect();
        let mut results = read::run(&root, tasks, options).peekable();
        let mut numbers = 0..;
        for check in &checks {
            let number = check.task.as_ref().and_then(|_| numbers.next());
            let result = results.next_if(|(of, _)| Some(*of) == number);
            // A stopped run proves nothing.
            let is_unread = number.is_some() && result.is_none();
            let (found, problem) = match result.map(|(_, result)| result) {
                Some(Ok(hashed)) => {
                    (report.files, report.bytes) = (report.files + 1, report.bytes + hashed.bytes);
                    let problem = check.compare(&hashed.digests);
                    (Some(hashed.digests), problem)
                }
                Some(Err(problem)) => (None, Some(problem)),
                None => (None, None),
            };
            report.errors += u64::from(is_unread || problem.is_some());
            each(check, found.as_ref(), problem);
        }
        report
    }
}

/// The result of a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The number of errors.
    pub errors: u64,
    /// The number of warnings.
    pub warnings: u64,
    /// The size of the payload.
    pub payload: Oxum,
    /// The number of files that were read, including tag files.
    pub files: u64,
    /// The number of bytes of these files.
    pub bytes: u64,
}

impl Report {
    /// Returns whether the bag is complete and every file matches every manifest.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.errors == 0
    }
}

/// The result of a quick check, which is not a validation.
#[derive(Debug)]
#[non_exhaustive]
pub struct QuickLook {
    /// The findings.
    pub findings: Vec<Finding>,
    /// The size of the payload.
    pub payload: Oxum,
}

impl QuickLook {
    /// Compares the number and total size of the payload files with the metadata. It reads no
    /// manifests and no files of the payload, so it is not a validation.
    ///
    /// # Errors
    /// Fails if the directory cannot be read.
    pub fn at(folder: &Path) -> io::Result<Self> {
        let mut bag = Bag::open_quickly(folder)?;
        let payload = bag.contents.oxum();
        if bag.is_declared && !look_at_oxum(&mut bag, payload) {
            let name = bag.declaration.version.info_name();
            // For example, that it cannot be read or has an invalid size.
            let tells = |it: &Finding| it.name == name.as_bytes() && it.line.is_none();
            let is_told = bag.findings.iter().any(|it| it.is_error() && tells(it));
            if !is_told {
                bag.findings.push(Finding::error(name, Problem::NoOxum));
            }
        }
        // Objects that cannot be examined are not counted either.
        let failed = bag.contents.failed_payload();
        let failed: Vec<_> = failed
            .map(|(name, why)| Finding::error(name, Problem::Unreadable(why.to_owned())))
            .collect();
        bag.findings.extend(failed);
        Ok(Self { findings: bag.findings, payload })
    }

    /// Returns whether the payload seems to be complete.
    #[must_use]
    pub fn agrees(&self) -> bool {
        !self.findings.iter().any(Finding::is_error)
    }
}

/// Compares the size of the payload with the metadata. Returns whether the metadata have it. If
/// objects cannot be examined, the sizes are not compared.
fn look_at_oxum(bag: &mut Bag, found: Oxum) -> bool {
    let Some(said) = bag.oxum() else { return false };
    if said != found && bag.contents.failed_payload().next().is_none() {
        let name = bag.declaration.version.info_name();
        bag.findings.push(Finding::error(name, Problem::Oxum { said, found }));
    }
    true
}

/// Finds names that other systems do not distinguish, and files that operating systems create.
fn look_at_names(bag: &mut Bag) {
    let listed = bag.manifests.iter().flat_map(|(_, listed)| listed).map(|it| &*it.name);
    let mut names: Vec<_> = bag.contents.files().map(|(name, _)| name).chain(listed).collect();
    names.retain(|name| is_payload(name));
    names.sort_unstable();
    names.dedup();
    let findings = doubtful_names(names.into_iter());
    bag.findings.extend(findings);
}

/// Returns warnings about names that are not valid on all systems.
pub(crate) fn doubtful_names<'a>(all: impl Iterator<Item = &'a [u8]>) -> Vec<Finding> {
    let mut folded: HashMap<Vec<u8>, &[u8]> = HashMap::new();
    let mut findings = Vec::new();
    for name in all {
        if names::is_of_a_system(name) {
            findings.push(Finding::warning(name, Problem::OfASystem));
        }
        if names::is_left_over(name) {
            findings.push(Finding::warning(name, Problem::LeftOver));
        }
        if let Some(other) = folded.insert(names::folded(name), name) {
            findings.push(Finding::warning(name, Problem::Collision(other.to_vec())));
        }
    }
    findings
}

/// Returns names by their normal form, for names that may have several forms.
pub(crate) fn by_normal_form<'a>(
    names: impl Iterator<Item = &'a [u8]>,
) -> BTreeMap<Vec<u8>, &'a [u8]> {
    let names = names.filter(|name| !name.is_ascii());
    names.map(|name| (names::canonical(name).into_owned(), name)).collect()
}
