//! Validates a bag: RFC 8493 section 3. It is complete where everything is there that must be, and
//! valid where every file is what every manifest says.

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

/// A bag that is looked at, and whose files are to be [read](Self::read).
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
    /// Reads the tag files, and looks at what is there. No file of the payload is read.
    ///
    /// # Errors
    /// The directory cannot be read. What is wrong in it are findings.
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

    /// What was found so far.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The version of BagIt; none where `bagit.txt` does not tell.
    #[must_use]
    pub const fn version(&self) -> Option<Version> {
        self.version
    }

    /// The algorithms of the manifests, as far as they are computed here.
    #[must_use]
    pub fn algorithms(&self) -> Algorithms {
        self.tasks().map(|task| task.algorithms).fold(Algorithms::NONE, Algorithms::union)
    }

    /// The files that are to be read, for a total.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> + Send + use<> {
        let paths: Vec<_> = self.tasks().map(|task| task.path(&self.root)).collect();
        paths.into_iter()
    }

    fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.checks.iter().filter_map(|check| check.task.as_ref())
    }

    /// Reads each file once, for all manifests, and tells what is found, in the order of the names.
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

    /// Reads the files, and gives each listed one with its digests and what is wrong with them.
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
            // A run that was stopped proves nothing.
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

/// What came of a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How many findings are errors.
    pub errors: u64,
    /// How many are none.
    pub warnings: u64,
    /// How much the payload is.
    pub payload: Oxum,
    /// How many files were read, tag files included.
    pub files: u64,
    /// How many bytes those have.
    pub bytes: u64,
}

impl Report {
    /// Whether the bag is complete, and every file is what every manifest says.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.errors == 0
    }
}

/// What a quick look found, which validates nothing.
#[derive(Debug)]
#[non_exhaustive]
pub struct QuickLook {
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// How much the payload is.
    pub payload: Oxum,
}

impl QuickLook {
    /// Holds the number and sizes of the payload's files against what the metadata say. No
    /// manifest and no file of the payload is read, so this validates nothing.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn at(folder: &Path) -> io::Result<Self> {
        let mut bag = Bag::open_quickly(folder)?;
        let payload = bag.contents.oxum();
        if bag.is_declared && !look_at_oxum(&mut bag, payload) {
            let name = bag.declaration.version.info_name();
            // That it cannot be read, for instance, or that what it says is no size.
            let tells = |it: &Finding| it.name == name.as_bytes() && it.line.is_none();
            let is_told = bag.findings.iter().any(|it| it.is_error() && tells(it));
            if !is_told {
                bag.findings.push(Finding::error(name, Problem::NoOxum));
            }
        }
        // What cannot be looked at is not counted either.
        let failed = bag.contents.failed_payload();
        let failed: Vec<_> = failed
            .map(|(name, why)| Finding::error(name, Problem::Unreadable(why.to_owned())))
            .collect();
        bag.findings.extend(failed);
        Ok(Self { findings: bag.findings, payload })
    }

    /// Whether nothing speaks against the payload being all there.
    #[must_use]
    pub fn agrees(&self) -> bool {
        !self.findings.iter().any(Finding::is_error)
    }
}

/// Holds what the metadata say of the payload's size against what it is; whether they say it.
/// What cannot be looked at is not counted, so that nothing follows from it.
fn look_at_oxum(bag: &mut Bag, found: Oxum) -> bool {
    let Some(said) = bag.oxum() else { return false };
    if said != found && bag.contents.failed_payload().next().is_none() {
        let name = bag.declaration.version.info_name();
        bag.findings.push(Finding::error(name, Problem::Oxum { said, found }));
    }
    true
}

/// Looks for names that other systems do not keep apart, and for files that systems put there.
fn look_at_names(bag: &mut Bag) {
    let listed = bag.manifests.iter().flat_map(|(_, listed)| listed).map(|it| &*it.name);
    let mut names: Vec<_> = bag.contents.files().map(|(name, _)| name).chain(listed).collect();
    names.retain(|name| is_payload(name));
    names.sort_unstable();
    names.dedup();
    let findings = doubtful_names(names.into_iter());
    bag.findings.extend(findings);
}

/// Warnings about names that are good here and elsewhere may not be.
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

/// Names by what they are in one normal form, of those that may have several.
pub(crate) fn by_normal_form<'a>(
    names: impl Iterator<Item = &'a [u8]>,
) -> BTreeMap<Vec<u8>, &'a [u8]> {
    let names = names.filter(|name| !name.is_ascii());
    names.map(|name| (names::canonical(name).into_owned(), name)).collect()
}
