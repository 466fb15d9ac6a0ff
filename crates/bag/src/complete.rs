//! Checks whether a bag is complete, and finds the files to read for validation.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use lanesum_checksum::{Digest, Digests};

use crate::contents::{Content, Target, path};
use crate::declaration::Version;
use crate::fetch;
use crate::finding::{Finding, Problem};
use crate::manifest::Manifest;
use crate::names::{canonical, is_payload};
use crate::open::Bag;
use crate::read::Task;
use crate::result::ExpectedDigest;
use crate::validate::by_normal_form;

/// The files that manifests list, in order of their names.
pub(crate) type Checks = Vec<Check>;

/// A file that manifests list, and its expected digests.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) name: Vec<u8>,
    /// `None` for a file that cannot be read. A finding gives the reason.
    pub(crate) task: Option<Task>,
    pub(crate) expected: Vec<ExpectedDigest>,
}

impl Check {
    /// Returns the problems of a file with these digests.
    pub(crate) fn compare(&self, found: &Digests) -> Option<Problem> {
        let differs = |expected: &&ExpectedDigest| !found.contains(&expected.digest);
        let said: Vec<_> =
            self.expected.iter().filter(differs).map(|it| it.manifest.as_str()).collect();
        (!said.is_empty()).then(|| Problem::Changed(said.join(" and ")))
    }
}

/// The entries of all manifests for each name: the numbers of the manifests, and the digests.
pub(crate) type Expected = BTreeMap<Vec<u8>, Vec<(usize, Digest)>>;

/// Checks that the bag has everything that it must have, and nothing else.
pub(crate) fn complete(bag: &mut Bag) -> Checks {
    structure(bag);
    let expected = expected(bag);
    coverage(bag, &expected);
    look_at_fetch(bag, &expected);
    let checks = listed(bag, &expected);
    unlisted(bag, &expected);
    checks
}

/// Checks the parts that every bag has.
fn structure(bag: &mut Bag) {
    let is_in_payload = |name: &Vec<u8>| is_payload(name);
    let has_payload = match bag.contents.entries.get(&b"data"[..]) {
        Some(Content::EmptyFolder) => {
            bag.findings.push(Finding::warning("data", Problem::EmptyPayload));
            true
        }
        Some(Content::Failed(why)) => {
            let problem = Problem::Unreadable(why.clone());
            bag.findings.push(Finding::error("data", problem));
            true
        }
        Some(_) => false,
        None => bag.contents.entries.keys().any(is_in_payload),
    };
    if !has_payload {
        bag.findings.push(Finding::error("data", Problem::NoPayload));
    }
    let has = |is_tag| bag.manifests.iter().any(|(manifest, _)| manifest.is_tag == is_tag);
    if !has(false) {
        bag.findings.push(Finding::error("", Problem::NoManifest));
    }
    if !has(true) {
        bag.findings.push(Finding::warning("", Problem::NoTagManifest));
    }
}

/// Joins the entries of all manifests for each file.
pub(crate) fn expected(bag: &mut Bag) -> Expected {
    let is_final = bag.declaration.version >= Version::LATEST;
    let there = by_normal_form(bag.contents.files().map(|(name, _)| name));
    // A name that is itself listed does not stand for another file.
    let names: LazyCell<BTreeSet<&[u8]>, _> = LazyCell::new(|| {
        let lines = bag.manifests.iter().flat_map(|(_, listed)| listed);
        lines.map(|listed| &*listed.name).collect()
    });
    let mut expected = Expected::new();
    for (number, (manifest, listed)) in bag.manifests.iter().enumerate() {
        let find = |is_error, problem, line| {
            Finding::error_if(is_error, manifest.name.as_bytes(), problem).at(line)
        };
        for listed in listed {
            let mut name = listed.name.clone();
            if !name.is_ascii()
                && !bag.contents.entries.contains_key(&name)
                && let Some(&other) = there.get(&*canonical(&name))
                && !names.contains(other)
            {
                let problem = Problem::NormalForm(other.to_vec());
                bag.findings.push(Finding::warning(&*name, problem));
                name = other.to_vec();
            }
            if let Some(problem) = manifest.misplaced(&name) {
                let is_error = is_final || !manifest.is_tag;
                bag.findings.push(find(is_error, problem, listed.line));
            }
            let said = expected.entry(name.clone()).or_default();
            let before = said.iter().find(|(by, _)| *by == number).map(|(_, digest)| *digest);
            match before {
                Some(before) if before == listed.digest => {
                    bag.findings.push(find(is_final, Problem::Twice(name), listed.line));
                    continue;
                }
                Some(_) => {
                    bag.findings.push(find(true, Problem::Contradiction(name), listed.line));
                }
                None => {}
            }
            said.push((number, listed.digest));
        }
    }
    expected
}

/// Checks that every manifest lists all files. Before version 1.0 one manifest per file was enough.
fn coverage(bag: &mut Bag, expected: &Expected) {
    let is_final = bag.declaration.version >= Version::LATEST;
    // The contents of unreadable manifests are unknown.
    let [payload, tag] = [false, true].map(|is_tag| bag.read_ones(is_tag).collect::<Vec<_>>());
    let mut findings = Vec::new();
    for (name, said) in expected {
        for (number, manifest) in if is_payload(name) { &payload } else { &tag } {
            if !said.iter().any(|(by, _)| by == number) {
                let is_error = is_final && (is_payload(name) || Manifest::of(name).is_some());
                let problem = Problem::NotIn(manifest.name.clone());
                findings.push(Finding::error_if(is_error, &**name, problem));
            }
        }
    }
    // Manifests that a tag manifest lists are already checked.
    let manifests = bag.manifests.iter().filter(|(it, _)| !it.is_tag);
    for (manifest, _) in manifests.filter(|(it, _)| !expected.contains_key(it.name.as_bytes())) {
        for (_, by) in &tag {
            let problem = Problem::NotIn(by.name.clone());
            findings.push(Finding::error_if(is_final, manifest.name.as_bytes(), problem));
        }
    }
    bag.findings.append(&mut findings);
}

/// Checks that the manifests list all files to fetch.
fn look_at_fetch(bag: &mut Bag, expected: &Expected) {
    let is_final = bag.declaration.version >= Version::LATEST;
    let all_are_read = bag.all_are_read(false);
    let mut findings = Vec::new();
    for to_fetch in &bag.fetch {
        let said = expected.get(&to_fetch.name);
        for (number, manifest) in bag.read_ones(false) {
            let is_in = said.is_some_and(|said| said.iter().any(|(by, _)| *by == number));
            if !is_in {
                let (name, manifest) = (to_fetch.name.clone(), manifest.name.clone());
                let problem = Problem::FetchNotIn { name, manifest };
                let is_error = is_final || all_are_read && said.is_none();
                let finding = Finding::error_if(is_error, fetch::NAME, problem);
                findings.push(finding.at(to_fetch.line));
            }
        }
    }
    bag.findings.append(&mut findings);
}

/// Checks the files that manifests list.
fn listed(bag: &mut Bag, expected: &Expected) -> Checks {
    let mut checks = Checks::new();
    let mut findings = Vec::new();
    for (name, said) in expected {
        let by = |number: usize| bag.manifests[number].0.name.clone();
        let digest = |&(number, digest): &_| ExpectedDigest { manifest: by(number), digest };
        let task = task(bag, name, said, &mut findings);
        checks.push(Check {
            name: name.clone(),
            task,
            expected: said.iter().map(digest).collect(),
        });
    }
    bag.findings.append(&mut findings);
    checks
}

/// Returns how to read a listed file. Returns `None` and adds a finding if it cannot be read.
fn task(
    bag: &Bag,
    name: &[u8],
    said: &[(usize, Digest)],
    findings: &mut Vec<Finding>,
) -> Option<Task> {
    if bag.is_unreadable(name) {
        return None;
    }
    let by_all = || {
        let names = said.iter().map(|&(number, _)| &*bag.manifests[number].0.name);
        names.collect::<Vec<_>>().join(" and ")
    };
    let entry = bag.contents.entries.get(name);
    let problem = match entry {
        Some(Content::File(_)) => None,
        Some(Content::Link(Target::File(_))) => {
            findings.push(Finding::warning(name, Problem::LinkToFile));
            None
        }
        Some(other) => Some(why_not(other, by_all())),
        None => Some(absent(bag, name, by_all())),
    };
    if let Some(problem) = problem {
        findings.push(Finding::error(name, problem));
        return None;
    }
    let algorithms = said.iter().map(|(_, digest)| digest.algorithm()).collect();
    Some(Task { name: name.to_vec(), is_link: matches!(entry, Some(Content::Link(_))), algorithms })
}

/// Returns why an existing object is not a file.
fn why_not(entry: &Content, manifests: String) -> Problem {
    match entry {
        Content::Link(Target::Out) => Problem::LinkOut,
        Content::Link(Target::Folder) => Problem::LinkToFolder,
        Content::Link(Target::Nowhere) => Problem::BrokenLink,
        Content::Link(Target::File(_)) | Content::File(_) => Problem::LinkToFile,
        Content::Special(special) | Content::Link(Target::Special(special)) => {
            Problem::Special(*special)
        }
        Content::EmptyFolder => Problem::Folder(manifests),
        Content::Failed(why) => Problem::Unreadable(why.clone()),
    }
}

/// Returns why a name does not lead to an object in the bag.
fn absent(bag: &Bag, name: &[u8], manifests: String) -> Problem {
    let below = [name, b"/"].concat();
    let mut next = bag.contents.entries.range(below.clone()..);
    if next.next().is_some_and(|(name, _)| name.starts_with(&below)) {
        return Problem::Folder(manifests);
    }
    let slashes = name.iter().enumerate().filter(|&(_, &byte)| byte == b'/');
    let mut folders = slashes.filter_map(|(slash, _)| bag.contents.entries.get(&name[..slash]));
    let why = folders.find_map(|entry| match entry {
        Content::Failed(why) => Some(why),
        _ => None,
    });
    // The contents of unreadable directories are unknown.
    if let Some(why) = why {
        return Problem::Unreadable(why.clone());
    }
    // Links to directories are not followed.
    let found = fs::canonicalize(path(&bag.root, name));
    match (found, fs::canonicalize(&bag.root)) {
        (Ok(found), Ok(root)) if found.starts_with(&root) => return Problem::LinkToFolder,
        (Ok(_), _) => return Problem::LinkOut,
        (Err(_), _) => {}
    }
    match bag.to_fetch(name) {
        Some(to_fetch) => Problem::ToFetch(to_fetch.url.clone()),
        None => Problem::Missing(manifests),
    }
}

/// Checks the files that no manifest lists.
fn unlisted(bag: &mut Bag, expected: &Expected) {
    let is_final = bag.declaration.version >= Version::LATEST;
    let by_kind = [false, true].map(|is_tag| {
        let read: Vec<_> = bag.read_ones(is_tag).map(|(_, manifest)| manifest).collect();
        (read, bag.all_are_read(is_tag))
    });
    // An unreadable manifest may list it.
    let not_in = |name: &[u8]| {
        let is_tag = !is_payload(name);
        let (read, are_all) = &by_kind[usize::from(is_tag)];
        if *are_all {
            let by_none = if is_tag { Problem::TagUnlisted } else { Problem::Unlisted };
            let some = read.first().map(|_| Finding::error_if(!is_tag, name, by_none));
            return Vec::from_iter(some);
        }
        let problems = read.iter().map(|by| Problem::NotIn(by.name.clone()));
        problems.map(|it| Finding::error_if(is_final && !is_tag, name, it)).collect()
    };
    let mut findings = Vec::new();
    for (name, entry) in &bag.contents.entries {
        if expected.contains_key(name) || name == b"data" || bag.is_unreadable(name) {
            continue;
        }
        let is_in_payload = is_payload(name);
        let finding = match entry {
            // Unlisted manifests are reported where manifests are compared.
            Content::File(_) | Content::Link(Target::File(_)) => {
                if Manifest::of(name).is_none() {
                    findings.append(&mut not_in(name));
                }
                continue;
            }
            Content::EmptyFolder => Finding::warning(&**name, Problem::EmptyFolder),
            Content::Failed(_) => Finding::error(&**name, why_not(entry, String::new())),
            other => {
                let problem = why_not(other, String::new());
                Finding::error_if(is_in_payload, &**name, problem)
            }
        };
        findings.push(finding);
    }
    bag.findings.append(&mut findings);
}
