//! Turns a directory into a bag in place: its contents are renamed into its `data`.
//!
//! All files are read before any file is moved. So an unreadable file, or a name that manifests
//! cannot hold, leaves the directory unchanged. So does a file that changes before it is moved.
//! `staging.rs` describes the state after an interrupted run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use lanesum_checksum::engine::{self, Hashed};
use lanesum_checksum::{Algorithm, Algorithms};

use crate::contents::{self, Content, Contents, Target, joined};
use crate::declaration;
use crate::error::{BagError, allow, at, changed, root};
use crate::finding::{Finding, Problem};
use crate::folder;
use crate::info::{Element, Oxum};
use crate::manifest::Manifest;
use crate::names::{self, is_payload};
use crate::read::{self, Task};
use crate::staging::{self, DATA, Recovery};
use crate::tags;
use crate::validate::doubtful_names;

/// The options of a new bag.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CreateOptions {
    /// The algorithms of the manifests: MD5, SHA-1, SHA-224, SHA-256, SHA-512. The default is
    /// SHA-512.
    pub algorithms: Algorithms,
    /// The metadata. `Bagging-Date`, which is today in UTC, and `Payload-Oxum` are added.
    pub info: Vec<Element>,
}

impl Default for CreateOptions {
    fn default() -> Self {
        Self { algorithms: Algorithm::Sha512.into(), info: Vec::new() }
    }
}

/// The result of preparing a bag.
#[derive(Debug)]
#[non_exhaustive]
pub enum Prepared {
    /// The directory can become a bag.
    New(Creation),
    /// An earlier run was interrupted near its end, and is now finished with its own options. The
    /// listed objects are next to `data` and are not in the bag.
    Finished(Vec<Finding>),
}

/// The result of creating a bag.
#[derive(Debug)]
#[non_exhaustive]
pub struct Created {
    /// The size of the payload.
    pub payload: Oxum,
    /// Objects next to `data` that are not in the bag, because they were added during the run.
    pub beside: Vec<Finding>,
}

/// A directory that becomes a bag: first its files are [read](Self::read), then it is
/// [finished](Self::finish).
///
/// ```
/// use std::fs;
/// use lanesum_bag::{Prepared, CreateOptions, Creation, Validation};
/// use lanesum_checksum::engine;
///
/// let folder = tempfile::tempdir()?;
/// fs::write(folder.path().join("a"), "abc")?;
/// let begun = Creation::prepare(folder.path(), &CreateOptions::default())?;
/// let Prepared::New(mut creation) = begun else { panic!("nothing was there before") };
/// creation.read(&engine::Options::default())?;
/// let payload = creation.finish()?.payload;
/// assert_eq!((payload.files, payload.bytes), (1, 3));
///
/// assert_eq!(fs::read(folder.path().join("data/a"))?, b"abc");
/// let validation = Validation::prepare(folder.path())?;
/// assert!(validation.read(&engine::Options::default(), |_| {}).is_valid());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Creation {
    root: PathBuf,
    _lock: File,
    options: CreateOptions,
    was_taken_back: bool,
    warnings: Vec<Finding>,
    names: Vec<Vec<u8>>,
    hashed: BTreeMap<Vec<u8>, Hashed>,
}

impl Creation {
    /// Lists the directory. First it undoes or finishes an interrupted earlier run.
    ///
    /// # Errors
    /// Fails if the directory is a bag or cannot become one.
    pub fn prepare(folder: &Path, options: &CreateOptions) -> Result<Prepared, BagError> {
        allow(options.algorithms)?;
        let root = root(folder)?;
        if root.parent().is_none() {
            return Err(BagError::Root);
        }
        if let Some(outer) = bag_around(&root) {
            return Err(BagError::InPayload(outer));
        }
        let lock = staging::lock(&root)?;
        if root.join(declaration::NAME).symlink_metadata().is_ok() {
            if staging::is_left_empty(&root) {
                staging::remove_empty(&root)?;
            }
            return Err(BagError::IsABag);
        }
        let recovery = staging::recover(&root)?;
        if recovery == Recovery::Finished {
            return Ok(Prepared::Finished(beside(&root)?));
        }
        refuse_manifest(&root)?;
        let contents = Contents::of(&root, staging::NAME).map_err(at(&root))?;
        let mut unfit = unfit(&contents, true);
        unfit.extend(mounted(&contents));
        BagError::unless_none(unfit)?;
        let names = contents.files().map(|(name, _)| name);
        let mut warnings = doubtful(&root, &contents, names);
        if contents.files().next().is_none() {
            warnings.push(Finding::warning("", Problem::EmptyPayload));
        }
        Ok(Prepared::New(Self {
            root,
            _lock: lock,
            options: options.clone(),
            was_taken_back: recovery == Recovery::TakenBack,
            warnings,
            names: contents.files().map(|(name, _)| name.to_vec()).collect(),
            hashed: BTreeMap::new(),
        }))
    }

    /// Returns warnings that do not prevent the bag.
    #[must_use]
    pub fn warnings(&self) -> &[Finding] {
        &self.warnings
    }

    /// Returns whether an interrupted earlier run was undone.
    #[must_use]
    pub const fn was_taken_back(&self) -> bool {
        self.was_taken_back
    }

    /// Returns the names of files that are hidden, or in a hidden directory: a part of the name
    /// begins with a dot. Such files often belong to a program and not to the content.
    pub fn hidden(&self) -> impl Iterator<Item = &[u8]> {
        let is_hidden =
            |name: &&[u8]| name.split(|&byte| byte == b'/').any(|part| part.starts_with(b"."));
        self.names.iter().map(Vec::as_slice).filter(is_hidden)
    }

    /// Returns the files to read, for a total.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> + Send + use<> {
        let paths: Vec<_> =
            self.names.iter().map(|name| contents::path(&self.root, name)).collect();
        paths.into_iter()
    }

    /// Reads all files, once for all algorithms.
    ///
    /// # Errors
    /// Fails if files cannot be read or change during the run.
    pub fn read(&mut self, options: &engine::Options) -> Result<(), BagError> {
        let task = |name: &Vec<u8>| Task {
            name: name.clone(),
            is_link: false,
            algorithms: self.options.algorithms,
        };
        self.hashed = hash(&self.root, self.names.iter().map(task).collect(), options)?;
        Ok(())
    }

    /// Turns the directory into a bag, if no file has changed since it was read.
    ///
    /// # Errors
    /// Fails if a file has changed or the system reports an error. The directory is then unchanged,
    /// unless the error says otherwise.
    ///
    /// # Panics
    /// Panics if the files were not [read](Self::read).
    pub fn finish(self) -> Result<Created, BagError> {
        assert_eq!(self.hashed.len(), self.names.len(), "the files are read before");
        self.compare(&self.root, staging::NAME, false)?;
        let oxum = self.hashed.values().fold(Oxum::default(), |sum, hashed| Oxum {
            bytes: sum.bytes + hashed.bytes,
            files: sum.files + 1,
        });
        let payload = self.hashed.iter();
        let payload = payload.map(|(name, it)| (joined(b"data", name.clone()), &it.digests));
        let info = info(&self.options.info, oxum);
        let texts = tags::of(self.options.algorithms, &payload.collect(), &BTreeMap::new(), &info)?;
        let done = self.put_together(&texts);
        staging::or_take_back(&self.root, done)?;
        let finished = staging::finish(&self.root).and_then(|()| beside(&self.root));
        let beside = finished.map_err(|why| BagError::Unfinished(Box::new(why)))?;
        Ok(Created { payload: oxum, beside })
    }

    /// Does all steps that can be undone.
    fn put_together(&self, texts: &tags::Texts) -> Result<(), BagError> {
        let staging = staging::begin(&self.root)?;
        tags::write(texts, &staging)?;
        let data = staging.join(DATA);
        fs::create_dir(&data).map_err(at(&data))?;
        let names = folder::names(&self.root).map_err(at(&self.root))?;
        for name in names.into_iter().filter(|name| name != staging::NAME) {
            let place = self.root.join(&name);
            fs::rename(&place, data.join(name)).map_err(at(&place))?;
        }
        self.compare(&data, "", true)?;
        let mode = fs::metadata(&self.root).map_err(at(&self.root))?.permissions();
        fs::set_permissions(&data, mode).map_err(at(&data))?;
        staging::sync(&data)?;
        staging::sync(&self.root)?;
        staging::seal(&staging)
    }

    /// Returns whether a directory contains exactly the files that were read.
    fn compare(&self, folder: &Path, except: &str, was_renamed: bool) -> Result<(), BagError> {
        let contents = Contents::of(folder, except).map_err(at(folder))?;
        let mut findings = unfit(&contents, true);
        findings.extend(differences(&contents, &self.hashed, was_renamed));
        BagError::unless_none(findings)
    }
}

/// Returns the names of files that have changed since they were read. `was_renamed` tells whether
/// those at the top were renamed.
pub(crate) fn differences(
    contents: &Contents,
    hashed: &BTreeMap<Vec<u8>, Hashed>,
    was_renamed: bool,
) -> Vec<Finding> {
    let is_same = |name: &[u8]| {
        let was_renamed = was_renamed && !name.contains(&b'/');
        let (facts, hashed) = (contents.file(name), hashed.get(name));
        facts.zip(hashed).is_some_and(|(facts, it)| facts.is_what_was_hashed(it, was_renamed))
    };
    let gone = hashed.keys().map(|name| &**name).filter(|name| contents.file(name).is_none());
    let names = contents.files().map(|(name, _)| name).chain(gone);
    names.filter(|name| !is_same(name)).map(changed).collect()
}

/// Reads each file once.
pub(crate) fn hash(
    root: &Path,
    tasks: Vec<Task>,
    options: &engine::Options,
) -> Result<BTreeMap<Vec<u8>, Hashed>, BagError> {
    let names: Vec<_> = tasks.iter().map(|task| task.name.clone()).collect();
    let (mut hashed, mut findings) = (BTreeMap::new(), Vec::new());
    for (number, result) in read::run(root, tasks, options) {
        match result {
            Ok(it) => _ = hashed.insert(names[number].clone(), it),
            Err(problem) => findings.push(Finding::error(&*names[number], problem)),
        }
    }
    let is_done = |name: &Vec<u8>| hashed.contains_key(name);
    if findings.is_empty() && !names.iter().all(is_done) {
        findings.push(Finding::error("", Problem::Unreadable("stopped".to_owned())));
    }
    BagError::unless_none(findings)?;
    Ok(hashed)
}

/// Returns the objects that a bag cannot hold or that cannot be read. A new bag gets no links,
/// because relative links would break when they are moved.
pub(crate) fn unfit(contents: &Contents, is_new: bool) -> Vec<Finding> {
    let entries = contents.entries.iter();
    let found = entries.filter_map(|(name, entry)| {
        let is_of_bag = is_new || is_payload(name);
        let problem = match entry {
            _ if str::from_utf8(name).is_err() => Problem::NotUtf8,
            Content::Failed(why) => Problem::Unreadable(why.clone()),
            Content::Special(special) if is_of_bag => Problem::Special(*special),
            Content::Link(_) if is_new => Problem::Link,
            Content::Link(Target::Out) => Problem::LinkOut,
            Content::Link(Target::Folder) if is_of_bag => Problem::LinkToFolder,
            Content::Link(Target::Special(special)) if is_of_bag => Problem::Special(*special),
            Content::Link(Target::Nowhere) if is_of_bag => Problem::BrokenLink,
            _ => return None,
        };
        Some(Finding::error(&**name, problem))
    });
    found.collect()
}

/// Returns the bag whose payload contains a directory.
fn bag_around(root: &Path) -> Option<PathBuf> {
    let is_around = |outer: &&Path| {
        let has_payload = root.strip_prefix(outer).is_ok_and(|inner| inner.starts_with(DATA));
        has_payload && outer.join(declaration::NAME).symlink_metadata().is_ok()
    };
    root.ancestors().skip(1).find(is_around).map(Path::to_owned)
}

/// Refuses a directory that has a manifest, but no `bagit.txt`. In a new bag, its bag would be in
/// `data`.
pub(crate) fn refuse_manifest(root: &Path) -> Result<(), BagError> {
    let names = folder::names(root).map_err(at(root))?;
    let manifests = names.iter().filter_map(|name| Manifest::of(name.as_encoded_bytes()));
    match manifests.filter(|it| it.algorithm.is_some()).map(|it| it.name).min() {
        None => Ok(()),
        Some(_) if root.join(DATA).is_dir() => Err(BagError::NoDeclaration),
        Some(name) => Err(BagError::OnlyManifest(name)),
    }
}

/// Returns warnings about the contents of a bag: empty directories, names that are problems for
/// other systems or tools, and files that may be there by mistake.
pub(crate) fn doubtful<'a>(
    root: &Path,
    contents: &Contents,
    names: impl Iterator<Item = &'a [u8]>,
) -> Vec<Finding> {
    let mut found = empty_folders(contents);
    let names: Vec<_> = names.collect();
    found.extend(doubtful_names(names.iter().copied()));
    for name in names {
        found.extend(names::not_found_by_some(name).map(|problem| Finding::warning(name, problem)));
        if name.ends_with(b".partial") && is_partial_list(&contents::path(root, name)) {
            found.push(Finding::warning(name, Problem::LeftOver));
        }
    }
    found
}

/// Returns whether a file is the journal of an interrupted `lanesum sum -o`.
fn is_partial_list(path: &Path) -> bool {
    let mut head = [0; 16];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    // Unreadable files are reported when all files are read.
    read.is_ok() && head == *b"lanesum partial "
}

/// Returns warnings about empty directories, which manifests cannot hold.
fn empty_folders(contents: &Contents) -> Vec<Finding> {
    let is_empty = |entry: &Content| matches!(entry, Content::EmptyFolder);
    let empty = contents.entries.iter().filter(|(name, entry)| is_empty(entry) && *name != b"data");
    empty.map(|(name, _)| Finding::warning(&**name, Problem::EmptyFolder)).collect()
}

/// Returns the objects on other file systems, which are not moved with a bag.
fn mounted(contents: &Contents) -> Vec<Finding> {
    let mut names: Vec<_> = contents.mounted.iter().collect();
    names.sort();
    names.into_iter().map(|name| Finding::error(&**name, Problem::OtherFileSystem)).collect()
}

/// Returns warnings about objects in a new bag that are not part of it.
fn beside(root: &Path) -> Result<Vec<Finding>, BagError> {
    let is_part = |name: &[u8]| {
        let known = [DATA, staging::NAME, declaration::NAME, "bag-info.txt"];
        known.iter().any(|it| it.as_bytes() == name) || Manifest::of(name).is_some()
    };
    let names = folder::names(root).map_err(at(root))?.into_iter();
    let mut names: Vec<_> = names.map(OsString::into_vec).collect();
    names.retain(|name| !is_part(name));
    names.sort();
    Ok(names.into_iter().map(|name| Finding::warning(name, Problem::Beside)).collect())
}

/// Returns the metadata of a new bag.
fn info(given: &[Element], oxum: Oxum) -> Vec<Element> {
    let mut info = given.to_vec();
    if !given.iter().any(|element| element.is_called("Bagging-Date")) {
        info.push(Element::bagging_date());
    }
    info.push(Element::oxum(oxum));
    info
}
