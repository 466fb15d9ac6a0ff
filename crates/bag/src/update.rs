//! Updates a bag after changes: writes new manifests, Payload-Oxum and tag manifests.
//!
//! The old manifests are first compared with the files, so that the user sees all changes before
//! they are recorded. A file whose content changed although it is older than the manifest was not
//! edited. It may be damaged, and is recorded only on request.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use lanesum_checksum::Algorithms;
use lanesum_checksum::engine::{self, Hashed};

use crate::changes::{Change, Difference, TagChange, compare, of_tags};
use crate::complete::{Expected, expected};
use crate::contents::{Content, Contents};
use crate::create::{differences, doubtful, hash, refuse_manifest, unfit};
use crate::declaration::{self, INFO};
use crate::error::{BagError, allow, at, root};
use crate::finding::{Finding, Problem};
use crate::info::{Element, OXUM, Oxum};
use crate::manifest::Manifest;
use crate::names::is_payload;
use crate::open::Bag;
use crate::read::Task;
use crate::staging::{self, Recovery};
use crate::tags;
use crate::text::Encoding;

/// The options of an update.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct UpdateOptions {
    /// The algorithms of the new manifests. The default is those of the bag.
    pub algorithms: Option<Algorithms>,
    /// Metadata that replace those with the same labels.
    pub info: Vec<Element>,
    /// Whether to accept changes that may be damage:
    ///
    /// - files that changed although their modification times did not;
    /// - missing files of the payload;
    /// - missing or changed payload manifests or metadata.
    pub accept: bool,
}

/// An update of a bag: its files are [read](Self::read), the user checks the
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
    /// Reads the tag files, and lists the contents of the bag. First it finishes or undoes an
    /// interrupted earlier update.
    ///
    /// # Errors
    /// Fails if the directory is not a bag, if its tag files violate the RFC, or if it contains
    /// objects that a bag cannot hold. A bag without payload manifests needs both the algorithms
    /// and `accept`.
    pub fn prepare(folder: &Path, options: &UpdateOptions) -> Result<Self, BagError> {
        Self::begin(folder, options).map_err(BagError::of_update)
    }

    fn begin(folder: &Path, options: &UpdateOptions) -> Result<Self, BagError> {
        allow(options.algorithms.unwrap_or(Algorithms::NONE))?;
        let root = root(folder)?;
        let lock = staging::lock(&root)?;
        if root.join(declaration::NAME).symlink_metadata().is_err() {
            if staging::is_unfinished(&root) {
                return Err(BagError::HalfDone);
            }
            refuse_manifest(&root)?;
            return Err(BagError::NotABag);
        }
        let was_recovered = staging::recover(&root)? != Recovery::Nothing;
        let mut bag = Bag::open(&root).map_err(at(&root))?;
        let findings = refusals(&bag, options);
        BagError::unless_none(findings)?;
        if !matches!(bag.declaration.encoding, Encoding::Utf8 | Encoding::Ascii) {
            return Err(BagError::Encoding);
        }
        bag.findings.clear();
        let expected = expected(&mut bag);
        // Problems of the old manifests disappear with them.
        bag.findings = warnings(&bag);
        BagError::unless_none(new_links(&bag, &expected))?;
        let known = bag.manifests.iter().filter(|(manifest, _)| !manifest.is_tag);
        let old: Algorithms = known.filter_map(|(manifest, _)| manifest.algorithm).collect();
        let algorithms = options.algorithms.unwrap_or(old);
        if algorithms.is_empty() || old.is_empty() && !options.accept {
            return Err(BagError::NoManifest);
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

    /// Returns warnings that do not prevent the update.
    #[must_use]
    pub fn warnings(&self) -> &[Finding] {
        &self.bag.findings
    }

    /// Returns whether an interrupted earlier update was finished or undone.
    #[must_use]
    pub const fn was_recovered(&self) -> bool {
        self.was_recovered
    }

    /// Returns the files to read, for a total.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> + Send + use<> {
        let paths: Vec<_> = self.tasks.iter().map(|task| task.path(&self.root)).collect();
        paths.into_iter()
    }

    /// Reads all files once, for all old and new algorithms.
    ///
    /// # Errors
    /// Fails if files cannot be read or change during the run.
    pub fn read(&mut self, options: &engine::Options) -> Result<(), BagError> {
        let hashed = hash(&self.root, self.tasks.clone(), options);
        self.hashed = hashed.map_err(BagError::of_update)?;
        self.differences = compare(&self.bag, &self.expected, &self.hashed);
        Ok(())
    }

    /// Returns the differences from the manifests, in byte order of the names.
    #[must_use]
    pub fn differences(&self) -> &[Difference] {
        &self.differences
    }

    /// Returns the changes to the algorithms, the version and the metadata of the bag. Empty if the
    /// differences prevent the update.
    #[must_use]
    pub fn tag_changes(&self) -> Vec<TagChange> {
        if self.refusal().is_some() {
            return Vec::new();
        }
        of_tags(&self.bag, self.algorithms, &self.options.info)
    }

    /// Writes the new manifests and metadata, if no file has changed since it was read.
    ///
    /// # Errors
    /// Fails if the differences prevent the update or a file has changed, and then changes nothing.
    /// After a system error the next update continues.
    pub fn finish(self) -> Result<Oxum, BagError> {
        self.write().map_err(BagError::of_update)
    }

    fn write(self) -> Result<Oxum, BagError> {
        if let Some(why) = self.refusal() {
            return Err(why);
        }
        let now = Contents::of(&self.root, staging::NAME).map_err(at(&self.root))?;
        let mut findings = differences(&now, &self.hashed, false);
        // Tag manifests are not read, because they are written again and are not listed.
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

    /// Returns why the differences are not accepted, unless the options accept them.
    fn refusal(&self) -> Option<BagError> {
        if self.options.accept {
            return None;
        }
        let first = |change| self.differences.iter().find(|it| it.change == change);
        let name = |it: &Difference| String::from_utf8_lossy(&it.name).into_owned();
        let has = |is: fn(&Difference) -> bool| self.differences.iter().any(is);
        if let Some(lost) = first(Change::Lost) {
            Some(BagError::Lost(name(lost)))
        } else if let Some(untrusted) = first(Change::Untrusted) {
            Some(BagError::Untrusted(name(untrusted)))
        } else if has(|it| it.change == Change::Doubtful) {
            Some(BagError::Doubtful)
        } else if has(|it| it.change == Change::Missing && is_payload(&it.name)) {
            Some(BagError::Gone)
        } else {
            None
        }
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

    /// Returns the new metadata: the existing ones without those that are replaced.
    fn info(&self, oxum: Oxum) -> Vec<Element> {
        let is_given =
            |old: &&Element| self.options.info.iter().any(|it| it.is_called(old.label()));
        let old = self.bag.info.iter().filter(|it| !is_given(it) && !it.is_called(OXUM));
        let info = old.chain(&self.options.info).cloned();
        info.chain([Element::oxum(oxum)]).collect()
    }
}

/// Returns the problems that prevent an update.
fn refusals(bag: &Bag, options: &UpdateOptions) -> Vec<Finding> {
    let is_unknown = |it: &Finding| matches!(it.problem, Problem::UnknownAlgorithm(_));
    let goes_away = |it: &Finding| options.algorithms.is_some() && is_unknown(it);
    let errors = bag.findings.iter().filter(|it| it.is_error() && !goes_away(it));
    let mut findings: Vec<_> = errors.cloned().collect();
    let payload = || bag.manifests.iter().map(|(it, _)| it).filter(|it| !it.is_tag);
    if !options.accept && payload().all(|it| it.algorithm.is_none()) {
        // Without them there would be nothing to compare the files with.
        let unknown = bag.findings.iter().filter(|it| goes_away(it));
        let lost = unknown.filter(|it| payload().any(|by| by.name.as_bytes() == it.name));
        findings.extend(lost.map(|it| Finding::error(&*it.name, Problem::Unverifiable)));
    }
    findings.extend(unfit(&bag.contents, false));
    // An update writes the metadata of version 1.0 and would overwrite a file of this name.
    let info = bag.declaration.version.info_name();
    if info != INFO && bag.contents.file(INFO.as_bytes()).is_some() {
        findings.push(Finding::error(INFO, Problem::OtherInfo(info)));
    }
    let absent = bag.fetch.iter().filter(|it| bag.contents.file(&it.name).is_none());
    findings.extend(
        absent.map(|to_fetch| {
            Finding::error(&*to_fetch.name, Problem::ToFetch(to_fetch.url.clone()))
        }),
    );
    let has_payload = bag.contents.entries.keys().any(|name| is_payload(name))
        || matches!(bag.contents.entries.get(&b"data"[..]), Some(Content::EmptyFolder));
    if bag.is_declared && !has_payload {
        findings.push(Finding::error("data", Problem::NoPayload));
    }
    findings
}

/// Returns links in the payload that no manifest lists. They are refused, as `create` does.
fn new_links(bag: &Bag, expected: &Expected) -> Vec<Finding> {
    let entries = bag.contents.entries.iter();
    let links = entries.filter(|(_, entry)| matches!(entry, Content::Link(_)));
    let new = links.filter(|(name, _)| is_payload(name) && !expected.contains_key(*name));
    new.map(|(name, _)| Finding::error(&**name, Problem::Link)).collect()
}

fn warnings(bag: &Bag) -> Vec<Finding> {
    let files = bag.contents.files().map(|(name, _)| name);
    doubtful(&bag.root, &bag.contents, files.filter(|name| is_payload(name)))
}

/// Returns the read tasks for everything but the tag manifests, for the new algorithms and those of
/// existing digests.
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
                // The file may have been moved.
                None => of_old,
            };
            let is_link = matches!(entry, Content::Link(_));
            Task { name: name.clone(), is_link, algorithms: algorithms.union(known) }
        })
        .collect()
}
