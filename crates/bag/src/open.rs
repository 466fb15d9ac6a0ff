//! Reads the tag files of a bag, and lists its contents.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lanesum_checksum::error::message;

use crate::contents::{Content, Contents, path};
use crate::declaration::{self, Declaration};
use crate::fetch::{self, ToFetch};
use crate::finding::{Finding, Problem};
use crate::info::{self, Element, OXUM, Oxum};
use crate::manifest::{Listed, Manifest};
use crate::staging;
use crate::text::BYTE_ORDER_MARK;

/// Returns whether a file at the top is a tag file defined by BagIt.
fn is_tag_file(name: &[u8]) -> bool {
    let known = [declaration::NAME, "bag-info.txt", "package-info.txt", fetch::NAME];
    known.iter().any(|it| it.as_bytes() == name) || Manifest::of(name).is_some()
}

/// A bag with its tag files read, but not its payload.
#[derive(Debug)]
pub(crate) struct Bag {
    pub(crate) root: PathBuf,
    pub(crate) contents: Contents,
    /// Whether `bagit.txt` is valid, so that the other tag files can be read.
    pub(crate) is_declared: bool,
    pub(crate) declaration: Declaration,
    pub(crate) manifests: Vec<(Manifest, Vec<Listed>)>,
    pub(crate) info: Vec<Element>,
    pub(crate) fetch: Vec<ToFetch>,
    /// The index of each name in them.
    fetch_numbers: HashMap<Vec<u8>, usize>,
    /// Existing tag files that cannot be read. A finding gives the reason.
    pub(crate) unread: BTreeSet<Vec<u8>>,
    pub(crate) findings: Vec<Finding>,
}

impl Bag {
    /// # Errors
    /// Fails if the directory cannot be read.
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        let mut bag = Self::look_at(root)?;
        if bag.is_declared {
            bag.read_manifests();
            bag.read_info();
            bag.read_fetch();
        }
        Ok(bag)
    }

    /// Reads only the declaration and the metadata.
    pub(crate) fn open_quickly(root: &Path) -> io::Result<Self> {
        let mut bag = Self::look_at(root)?;
        if bag.is_declared {
            bag.read_info();
        }
        Ok(bag)
    }

    fn look_at(root: &Path) -> io::Result<Self> {
        let mut bag = Self {
            root: root.to_owned(),
            contents: Contents::of(root, staging::NAME)?,
            is_declared: false,
            declaration: Declaration::OURS,
            manifests: Vec::new(),
            info: Vec::new(),
            fetch: Vec::new(),
            fetch_numbers: HashMap::new(),
            unread: BTreeSet::new(),
            findings: Vec::new(),
        };
        if staging::is_unfinished(root) {
            bag.findings.push(Finding::error(staging::NAME, Problem::Interrupted));
        }
        if staging::is_left_empty(root) {
            bag.findings.push(Finding::warning(staging::NAME, Problem::LeftEmpty));
        }
        bag.look_at_tag_files();
        bag.read_declaration();
        Ok(bag)
    }

    /// An object with the name of a tag file that is not a regular file is not read.
    fn look_at_tag_files(&mut self) {
        let mut told = BTreeSet::new();
        for (name, entry) in &self.contents.entries {
            let top = name.split(|&byte| byte == b'/').next().unwrap_or_default();
            let kind = match entry {
                _ if !is_tag_file(top) => continue,
                _ if top.len() < name.len() => "a directory".to_owned(),
                Content::File(_) => continue,
                Content::EmptyFolder => "a directory".to_owned(),
                Content::Link(_) => "a link".to_owned(),
                Content::Special(special) => special.to_string(),
                Content::Failed(why) => {
                    self.findings.push(Finding::error(top, Problem::Unreadable(why.clone())));
                    self.unread.insert(top.to_vec());
                    continue;
                }
            };
            if told.insert(top) {
                self.findings.push(Finding::error(top, Problem::NoRegularFile(kind)));
            }
        }
    }

    fn read_declaration(&mut self) {
        let name = declaration::NAME;
        let Some(text) = self.read_file(name) else {
            let problem = match self.contents.entries.get(name.as_bytes()) {
                None if !self.is_told(name) => Problem::NoDeclaration,
                _ => return,
            };
            self.findings.push(Finding::error(name, problem));
            return;
        };
        match Declaration::parse(&text) {
            Ok(declaration) => (self.declaration, self.is_declared) = (declaration, true),
            Err(why) => self.findings.push(Finding::error(name, Problem::Declaration(why))),
        }
    }

    /// Returns whether there are findings about a file.
    fn is_told(&self, name: &str) -> bool {
        self.findings.iter().any(|finding| finding.name == name.as_bytes())
    }

    fn read_manifests(&mut self) {
        let entries = self.contents.entries.iter();
        let is_one = |entry: &Content| matches!(entry, Content::File(_) | Content::Failed(_));
        let files = entries.filter(|(_, entry)| is_one(entry));
        let manifests: Vec<_> = files.filter_map(|(name, _)| Manifest::of(name)).collect();
        for manifest in manifests {
            self.findings.extend(manifest.look_at_name());
            let listed = match self.read_text(&manifest.name) {
                Some(text) => {
                    let is_there = |name: &[u8]| self.contents.entries.contains_key(name);
                    manifest.read(&text, is_there, &mut self.findings)
                }
                None => Vec::new(),
            };
            self.manifests.push((manifest, listed));
        }
    }

    fn read_info(&mut self) {
        let name = self.declaration.version.info_name();
        let Some(text) = self.read_text(name) else { return };
        let (elements, wrong) = info::parse(&text);
        let wrong = wrong.into_iter().map(|line| Finding::error(name, Problem::InfoLine).at(line));
        self.findings.extend(wrong);
        self.info = elements;
    }

    fn read_fetch(&mut self) {
        if let Some(text) = self.read_text(fetch::NAME) {
            self.fetch = fetch::read(&text, &mut self.findings);
            for (number, to_fetch) in self.fetch.iter().enumerate() {
                self.fetch_numbers.entry(to_fetch.name.clone()).or_insert(number);
            }
        }
    }

    /// Returns the first download entry of a file.
    pub(crate) fn to_fetch(&self, name: &[u8]) -> Option<&ToFetch> {
        self.fetch_numbers.get(name).map(|&number| &self.fetch[number])
    }

    /// Returns the text of a tag file in UTF-8, or `None` if it is missing or unreadable.
    fn read_text(&mut self, name: &str) -> Option<Vec<u8>> {
        let bytes = self.read_file(name)?;
        let text = match bytes.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => {
                self.findings.push(Finding::warning(name, Problem::ByteOrderMark));
                rest
            }
            None => &bytes,
        };
        let decoded = self.declaration.encoding.decode(text);
        if decoded.is_none() {
            self.findings.push(Finding::error(name, Problem::Encoding));
            self.unread.insert(name.into());
        }
        decoded.map(|text| text.into_owned())
    }

    fn read_file(&mut self, name: &str) -> Option<Vec<u8>> {
        let Some(Content::File(_)) = self.contents.entries.get(name.as_bytes()) else {
            return None;
        };
        match fs::read(path(&self.root, name.as_bytes())) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                let problem = Problem::Unreadable(message(&error));
                self.findings.push(Finding::error(name, problem));
                self.unread.insert(name.into());
                None
            }
        }
    }

    /// Returns whether a tag file cannot be read, and adds a finding.
    pub(crate) fn is_unreadable(&self, name: &[u8]) -> bool {
        let tells = |it: &Finding| it.name == name && matches!(it.problem, Problem::Unreadable(_));
        self.unread.contains(name) && self.findings.iter().any(tells)
    }

    /// Returns the readable manifests of a kind with their numbers.
    pub(crate) fn read_ones(&self, is_tag: bool) -> impl Iterator<Item = (usize, &Manifest)> {
        let manifests = self.manifests.iter().map(|(manifest, _)| manifest).enumerate();
        manifests.filter(move |(_, it)| {
            it.is_tag == is_tag && it.algorithm.is_some() && !self.is_unread(it)
        })
    }

    /// Returns whether all manifests of a kind with supported algorithms are readable.
    pub(crate) fn all_are_read(&self, is_tag: bool) -> bool {
        let mut known = self.manifests.iter().map(|(manifest, _)| manifest);
        !known.any(|it| it.is_tag == is_tag && it.algorithm.is_some() && self.is_unread(it))
    }

    fn is_unread(&self, manifest: &Manifest) -> bool {
        self.unread.contains(manifest.name.as_bytes())
    }

    /// Returns the first size of the payload in the metadata, if any.
    pub(crate) fn oxum(&mut self) -> Option<Oxum> {
        let name = self.declaration.version.info_name();
        let mut told = self.info.iter().filter(|element| element.is_called(OXUM));
        let first = told.next()?;
        let value = first.value().parse::<Oxum>();
        let others: Vec<_> = told.map(|it| it.value().parse::<Oxum>()).collect();
        if others.iter().any(|other| *other != value) {
            self.findings.push(Finding::error(name, Problem::OxumContradiction));
        } else if !others.is_empty() {
            let is_error = self.declaration.version >= crate::Version::LATEST;
            self.findings.push(Finding::error_if(is_error, name, Problem::OxumTwice));
        }
        match value {
            Ok(oxum) => Some(oxum),
            Err(why) => {
                self.findings.push(Finding::error(name, Problem::OxumForm(why)));
                None
            }
        }
    }
}
