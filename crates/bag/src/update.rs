//! Takes up what has changed in a bag: new manifests, Payload-Oxum and tag manifests.
//!
//! The old manifests are held against what is there first, so that somebody sees what the bag is
//! taken to be from now on. A file whose content changed though its time is older than the manifest
//! was not edited: it may be damaged, and is not taken up unless somebody says so.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use lanesum_checksum::engine::{self, Hashed};
use lanesum_checksum::{Algorithms, Digest};
use lanesum_list::Time;

use crate::complete::{Expected, expected};
use crate::contents::{Contents, Entry};
use crate::create::{differences, empty_folders, hash, unfit};
use crate::declaration::{self, Version};
use crate::error::{BagError, allow, at};
use crate::finding::{Finding, Problem};
use crate::info::{Element, OXUM, Oxum};
use crate::manifest::Manifest;
use crate::names::is_payload;
use crate::open::Bag;
use crate::read::Task;
use crate::staging::{self, Recovery};
use crate::tags;
use crate::text::Encoding;
use crate::validate::doubtful_names;

/// How a bag is updated.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct UpdateOptions {
    /// Of its manifests from now on. The default is those that it has.
    pub algorithms: Option<Algorithms>,
    /// Metadata that take the place of those of the same labels.
    pub info: Vec<Element>,
    /// Take files up that changed though nobody seems to have written to them.
    pub accept: bool,
}

/// What became of a file since the manifests were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// No manifest had it.
    New,
    /// It is not there any more.
    Missing,
    /// Its content is another.
    Changed,
    /// Its content is another, though its time is not newer than the manifest: it may be damaged.
    Doubtful,
    /// Its content was under another name, which is not there any more.
    Moved,
}

/// A file that is not as the manifests have it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// What became of it.
    pub change: Change,
    /// Its name in the bag.
    pub name: Vec<u8>,
    /// Its name before, where it was moved.
    pub from: Option<Vec<u8>>,
}

/// A bag that is to be updated: its files are [read](Self::read), somebody looks at the
/// [differences](Self::differences), and the new manifests are [written](Self::finish).
///
/// ```
/// use std::fs;
/// use lanesum_bag::{Change, Update, UpdateOptions};
/// use lanesum_checksum::engine;
///
/// let bag = tempfile::tempdir()?;
/// fs::create_dir(bag.path().join("data"))?;
/// fs::write(bag.path().join("data/a"), "abc")?;
/// fs::write(bag.path().join("manifest-md5.txt"), "")?;
/// fs::write(bag.path().join("bagit.txt"), "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")?;
///
/// let mut update = Update::prepare(bag.path(), &UpdateOptions::default())?;
/// update.read(&engine::Options::default())?;
/// assert_eq!(update.differences()[0].change, Change::New);
/// update.finish()?;
/// let manifest = fs::read_to_string(bag.path().join("manifest-md5.txt"))?;
/// assert_eq!(manifest, "900150983cd24fb0d6963f7d28e17f72  data/a\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Update {
    root: PathBuf,
    _lock: File,
    options: UpdateOptions,
    algorithms: Algorithms,
    was_recovered: bool,
    bag: Bag,
    expected: Expected,
    tasks: Vec<Task>,
    hashed: BTreeMap<Vec<u8>, Hashed>,
    differences: Vec<Difference>,
}

impl Update {
    /// Reads the tag files, and looks at everything in the bag. What an update that was cut off had
    /// begun is finished first, or taken back.
    ///
    /// # Errors
    /// It is no bag, its tag files contradict the RFC, or it holds what no bag can.
    pub fn prepare(folder: &Path, options: &UpdateOptions) -> Result<Self, BagError> {
        allow(options.algorithms.unwrap_or(Algorithms::NONE))?;
        let root = fs::canonicalize(folder).map_err(at(folder))?;
        let lock = staging::lock(&root)?;
        if root.join(declaration::NAME).symlink_metadata().is_err() {
            let is_half = staging::is_unfinished(&root);
            return Err(if is_half { BagError::HalfDone } else { BagError::NotABag });
        }
        let was_recovered = staging::recover(&root)? != Recovery::Nothing;
        let mut bag = Bag::open(&root).map_err(at(&root))?;
        let findings = refusals(&bag, options);
        BagError::unless_none(findings)?;
        if !matches!(bag.declaration.encoding, Encoding::Utf8 | Encoding::Ascii) {
            return Err(BagError::Encoding);
        }
        bag.findings = warnings(&bag.contents);
        let told = bag.findings.len();
        let expected = expected(&mut bag);
        // What is wrong with the old manifests goes away with them.
        bag.findings.truncate(told);
        let known = bag.manifests.iter().filter(|(manifest, _)| !manifest.is_tag);
        let old = known.filter_map(|(manifest, _)| manifest.algorithm).collect();
        let algorithms = options.algorithms.unwrap_or(old);
        if algorithms.is_empty() {
            return Err(BagError::Findings(vec![Finding::error("", Problem::NoManifest)]));
        }
        let tasks = tasks(&bag, &expected, algorithms);
        let (hashed, differences) = (BTreeMap::new(), Vec::new());
        let options = options.clone();
        Ok(Self {
            root,
            _lock: lock,
            options,
            algorithms,
            was_recovered,
            bag,
            expected,
            tasks,
            hashed,
            differences,
        })
    }

    /// What somebody should know, though the bag can be updated.
    #[must_use]
    pub fn warnings(&self) -> &[Finding] {
        &self.bag.findings
    }

    /// Whether an earlier update was cut off, and was finished or taken back.
    #[must_use]
    pub const fn was_recovered(&self) -> bool {
        self.was_recovered
    }

    /// The files that are to be read, for a total.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> + Send + use<> {
        let paths: Vec<_> = self.tasks.iter().map(|task| task.path(&self.root)).collect();
        paths.into_iter()
    }

    /// Reads all files, once for all algorithms, old and new.
    ///
    /// # Errors
    /// Files that cannot be read, or change meanwhile.
    pub fn read(&mut self, options: &engine::Options) -> Result<(), BagError> {
        self.hashed = hash(&self.root, self.tasks.clone(), options)?;
        self.differences = self.compare();
        Ok(())
    }

    /// What is not as the manifests have it, in byte order of the names.
    #[must_use]
    pub fn differences(&self) -> &[Difference] {
        &self.differences
    }

    fn compare(&self) -> Vec<Difference> {
        let has_tag_manifest = self.bag.manifests.iter().any(|(manifest, _)| manifest.is_tag);
        let is_tag_manifest =
            |name: &[u8]| Manifest::of(name).is_some_and(|manifest| manifest.is_tag);
        let mut gone: HashMap<Digest, &[u8]> = HashMap::new();
        for (name, said) in
            self.expected.iter().filter(|(name, _)| !self.hashed.contains_key(*name))
        {
            gone.extend(said.iter().map(|(_, digest)| (*digest, &**name)));
        }
        let mut moved = BTreeSet::new();
        let mut found = Vec::new();
        for (name, hashed) in &self.hashed {
            let (change, from) = match self.expected.get(name) {
                Some(said) => match self.look_at(hashed, said) {
                    Some(change) => (change, None),
                    None => continue,
                },
                None if is_tag_manifest(name) || !is_payload(name) && !has_tag_manifest => continue,
                None => {
                    let from = hashed.digests.iter().find_map(|digest| gone.get(digest));
                    match from.filter(|from| moved.insert(from.to_vec())) {
                        Some(from) => (Change::Moved, Some(from.to_vec())),
                        None => (Change::New, None),
                    }
                }
            };
            found.push(Difference { change, name: name.clone(), from });
        }
        let missing = self.expected.keys().filter(|name| !self.hashed.contains_key(*name));
        let missing = missing.filter(|name| !moved.contains(*name) && !is_tag_manifest(name));
        found.extend(missing.map(|name| Difference {
            change: Change::Missing,
            name: name.clone(),
            from: None,
        }));
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// What became of a file that manifests have; none where it is as they say.
    fn look_at(&self, hashed: &Hashed, said: &[(usize, Digest)]) -> Option<Change> {
        let mut wrong =
            said.iter().filter(|(_, digest)| !hashed.digests.contains(digest)).peekable();
        wrong.peek()?;
        let modified = |number: usize| -> Option<Time> {
            let name = self.bag.manifests[number].0.name.as_bytes();
            self.bag.contents.file(name)?.times.modified
        };
        let is_older = wrong.any(|&(number, _)| hashed.times.modified <= modified(number));
        Some(if is_older { Change::Doubtful } else { Change::Changed })
    }

    /// Writes the new manifests and metadata, if all files are what was read.
    ///
    /// # Errors
    /// Nothing is changed then, unless the error is the system's: the next update goes on.
    pub fn finish(self) -> Result<Oxum, BagError> {
        let is_doubtful = |it: &Difference| it.change == Change::Doubtful;
        if !self.options.accept && self.differences.iter().any(is_doubtful) {
            return Err(BagError::Doubtful);
        }
        let now = Contents::of(&self.root, staging::NAME).map_err(at(&self.root))?;
        let mut findings = differences(&now, &self.hashed, false);
        // Those are not read: they are written anew, and nothing lists them.
        findings.retain(|it| Manifest::of(&it.name).is_none_or(|manifest| !manifest.is_tag));
        BagError::unless_none(findings)?;
        let oxum = now.oxum();
        let (payload, others): (Vec<_>, Vec<_>) =
            self.hashed.iter().partition(|(name, _)| is_payload(name));
        let files = |these: Vec<(&Vec<u8>, &'_ Hashed)>| -> BTreeMap<Vec<u8>, _> {
            these.into_iter().map(|(name, it)| (name.clone(), it.digests.clone())).collect()
        };
        let [payload, others] = [payload, others].map(files);
        let texts = tags::of(
            self.algorithms,
            &payload.iter().map(|(name, digests)| (name.clone(), digests)).collect(),
            &others.iter().map(|(name, digests)| (name.clone(), digests)).collect(),
            &self.info(oxum),
        )?;
        let done = self.put_together(&texts);
        staging::or_take_back(&self.root, done)?;
        staging::finish(&self.root).map_err(|why| BagError::Unfinished(Box::new(why)))?;
        Ok(oxum)
    }

    fn put_together(&self, texts: &tags::Texts) -> Result<(), BagError> {
        let staging = staging::begin(&self.root)?;
        tags::write(texts, &staging)?;
        let old = self.bag.manifests.iter().map(|(manifest, _)| manifest.name.clone());
        let gone: Vec<_> = old.filter(|name| !texts.contains_key(name)).collect();
        if !gone.is_empty() {
            staging::remove_later(&staging, &gone)?;
        }
        staging::seal(&staging)
    }

    /// The metadata from now on: what was there, without what is replaced.
    fn info(&self, oxum: Oxum) -> Vec<Element> {
        let is_given =
            |old: &&Element| self.options.info.iter().any(|it| it.is_called(old.label()));
        let old = self.bag.info.iter().filter(|it| !is_given(it) && !it.is_called(OXUM));
        let info = old.chain(&self.options.info).cloned();
        info.chain([Element::oxum(oxum)]).collect()
    }
}

/// What the metadata are called from now on.
const NEW_INFO: &str = Version::LATEST.info_name();

/// What stands against an update.
fn refusals(bag: &Bag, options: &UpdateOptions) -> Vec<Finding> {
    let is_unknown = |it: &Finding| matches!(it.problem, Problem::UnknownAlgorithm(_));
    let goes_away = |it: &Finding| options.algorithms.is_some() && is_unknown(it);
    let errors = bag.findings.iter().filter(|it| it.is_error() && !goes_away(it));
    let mut findings: Vec<_> = errors.cloned().collect();
    let payload = || bag.manifests.iter().map(|(it, _)| it).filter(|it| !it.is_tag);
    if !options.accept && payload().all(|it| it.algorithm.is_none()) {
        // With them goes all that the files could be held against.
        let unknown = bag.findings.iter().filter(|it| goes_away(it));
        let lost = unknown.filter(|it| payload().any(|by| by.name.as_bytes() == it.name));
        findings.extend(lost.map(|it| Finding::error(&*it.name, Problem::Unverifiable)));
    }
    findings.extend(unfit(&bag.contents, false));
    // An update writes the metadata of version 1.0, whatever was called so.
    let info = bag.declaration.version.info_name();
    if info != NEW_INFO && bag.contents.file(NEW_INFO.as_bytes()).is_some() {
        findings.push(Finding::error(NEW_INFO, Problem::OtherInfo(info)));
    }
    let absent = bag.fetch.iter().filter(|it| bag.contents.file(&it.name).is_none());
    findings.extend(
        absent.map(|to_fetch| {
            Finding::error(&*to_fetch.name, Problem::ToFetch(to_fetch.url.clone()))
        }),
    );
    let has_payload = bag.contents.entries.keys().any(|name| is_payload(name))
        || matches!(bag.contents.entries.get(&b"data"[..]), Some(Entry::EmptyFolder));
    if bag.is_declared && !has_payload {
        findings.push(Finding::error("data", Problem::NoPayload));
    }
    findings
}

fn warnings(contents: &Contents) -> Vec<Finding> {
    let mut warnings = empty_folders(contents);
    let payload = contents.files().map(|(name, _)| name).filter(|name| is_payload(name));
    warnings.extend(doubtful_names(payload));
    warnings
}

/// Everything but the tag manifests, for the algorithms that the bag is to have and those by which
/// it is known.
fn tasks(bag: &Bag, expected: &Expected, algorithms: Algorithms) -> Vec<Task> {
    let of_old: Algorithms =
        bag.manifests.iter().filter_map(|(manifest, _)| manifest.algorithm).collect();
    let entries = bag.contents.entries.iter();
    let files = entries.filter(|(name, _)| bag.contents.file(name).is_some());
    let files =
        files.filter(|(name, _)| Manifest::of(name).is_none_or(|manifest| !manifest.is_tag));
    files
        .map(|(name, entry)| {
            let known = match expected.get(name) {
                Some(said) => said.iter().map(|(_, digest)| digest.algorithm()).collect(),
                // It may have been somewhere else.
                None => of_old,
            };
            let is_link = matches!(entry, Entry::Link(_));
            Task { name: name.clone(), is_link, algorithms: algorithms.union(known) }
        })
        .collect()
}
