//! Finds what has changed in a bag since its manifests were made, and what an update changes in its
//! tag files.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use lanesum_checksum::engine::Hashed;
use lanesum_checksum::{Algorithm, Algorithms, Digest};
use lanesum_list::Time;

use crate::complete::Expected;
use crate::declaration::{self, INFO, Version};
use crate::info::Element;
use crate::manifest::Manifest;
use crate::names::is_payload;
use crate::open::Bag;

/// How a file changed since the manifests were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The file is new: no manifest lists it.
    New,
    /// The file is missing.
    Missing,
    /// The content changed.
    Changed,
    /// The content changed, but the modification time is not newer than the manifest. The file may
    /// be damaged.
    Doubtful,
    /// The file was moved: its content had another name, which no longer exists.
    Moved,
    /// The digest of a payload manifest is not in the tag manifests. The digests in it cannot be
    /// trusted, so damaged files may go unnoticed.
    Untrusted,
    /// A payload manifest or the metadata file is missing although a tag manifest lists it. Its
    /// contents are lost.
    Lost,
}

/// A file that differs from the manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// How the file changed.
    pub change: Change,
    /// The name in the bag.
    pub name: Vec<u8>,
    /// The previous name of a moved file.
    pub from: Option<Vec<u8>>,
}

/// Returns the differences from the manifests, in byte order of the names.
pub(crate) fn compare(
    bag: &Bag,
    expected: &Expected,
    hashed: &BTreeMap<Vec<u8>, Hashed>,
) -> Vec<Difference> {
    let has_tag_manifest = bag.manifests.iter().any(|(manifest, _)| manifest.is_tag);
    let is_gone = |name: &[u8]| !hashed.contains_key(name) && !is_tag_manifest(name);
    let mut gone: HashMap<Digest, &[u8]> = HashMap::new();
    for (name, said) in expected.iter().filter(|(name, _)| is_gone(name)) {
        if !is_reference(bag, name) {
            gone.extend(said.iter().map(|(_, digest)| (*digest, &**name)));
        }
    }
    let manifests = hashed.iter().filter(|(name, _)| is_payload_manifest(name));
    let untrusted: BTreeSet<&[u8]> = manifests
        .filter(|(name, hashed)| is_untrusted(bag, expected, name, hashed))
        .map(|(name, _)| &**name)
        .collect();
    let mut moved = BTreeSet::new();
    let mut found = Vec::new();
    for (name, hashed) in hashed {
        let (change, from) = match expected.get(name) {
            _ if untrusted.contains(&**name) => (Change::Untrusted, None),
            Some(said) => match look_at(bag, hashed, said, &untrusted) {
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
    let missing = expected.keys().filter(|name| is_gone(name) && !moved.contains(*name));
    found.extend(missing.map(|name| {
        let change = if is_reference(bag, name) { Change::Lost } else { Change::Missing };
        Difference { change, name: name.clone(), from: None }
    }));
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn is_tag_manifest(name: &[u8]) -> bool {
    Manifest::of(name).is_some_and(|manifest| manifest.is_tag)
}

fn is_payload_manifest(name: &[u8]) -> bool {
    Manifest::of(name).is_some_and(|manifest| !manifest.is_tag)
}

/// Returns whether the information in this file is nowhere else in the bag.
fn is_reference(bag: &Bag, name: &[u8]) -> bool {
    is_payload_manifest(name) || name == bag.declaration.version.info_name().as_bytes()
}

/// Returns whether the tag manifests have a different digest of a payload manifest, or none.
fn is_untrusted(bag: &Bag, expected: &Expected, name: &[u8], hashed: &Hashed) -> bool {
    let is_wrong = |&(_, digest): &(usize, Digest)| !hashed.digests.contains(&digest);
    is_unlisted_manifest(bag, expected, name)
        || expected.get(name).is_some_and(|said| said.iter().any(is_wrong))
}

/// Returns whether no tag manifest lists a payload manifest although there are tag manifests.
fn is_unlisted_manifest(bag: &Bag, expected: &Expected, name: &[u8]) -> bool {
    let is_used = |manifest: &Manifest| !manifest.is_tag && manifest.algorithm.is_some();
    let is_known_tag = |manifest: &Manifest| manifest.is_tag && manifest.algorithm.is_some();
    let is_listed = |said: &Vec<(usize, Digest)>| {
        said.iter().any(|&(number, _)| is_known_tag(&bag.manifests[number].0))
    };
    Manifest::of(name).is_some_and(|manifest| is_used(&manifest))
        && bag.manifests.iter().any(|(manifest, _)| is_known_tag(manifest))
        && !expected.get(name).is_some_and(is_listed)
}

/// Returns how a listed file changed, or `None` if it matches the manifests. Untrusted manifests
/// count only if no other one lists the file.
fn look_at(
    bag: &Bag,
    hashed: &Hashed,
    said: &[(usize, Digest)],
    untrusted: &BTreeSet<&[u8]>,
) -> Option<Change> {
    let manifest = |number: usize| bag.manifests[number].0.name.as_bytes();
    let is_trusted = |&&(number, _): &&(usize, Digest)| !untrusted.contains(manifest(number));
    let any_trusted = said.iter().any(|it| is_trusted(&it));
    let said = said.iter().filter(|it| !any_trusted || is_trusted(it));
    let mut wrong = said.filter(|(_, digest)| !hashed.digests.contains(digest)).peekable();
    wrong.peek()?;
    let modified =
        |number: usize| -> Option<Time> { bag.contents.file(manifest(number))?.times.modified };
    let is_older = wrong.any(|&(number, _)| hashed.times.modified <= modified(number));
    Some(if is_older { Change::Doubtful } else { Change::Changed })
}

/// A change of an update to the tag files of a bag. Displays as the text after the
/// [name](Self::name).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TagChange {
    /// The algorithms of the manifests change.
    Algorithms {
        /// The previous algorithms, as in the names of the manifests.
        was: Vec<String>,
        /// The new algorithms.
        now: Algorithms,
    },
    /// The version becomes 1.0.
    Version {
        /// The previous version.
        was: Version,
    },
    /// The metadata get a new element.
    Added {
        /// The label of the element.
        label: String,
    },
    /// Elements of the metadata change.
    Replaced {
        /// The label of the elements.
        label: String,
    },
}

impl TagChange {
    /// Returns the name of the changed file, or an empty name for the bag itself.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Algorithms { .. } => "",
            Self::Version { .. } => declaration::NAME,
            Self::Added { .. } | Self::Replaced { .. } => INFO,
        }
    }
}

impl fmt::Display for TagChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Algorithms { was, now } => {
                let now: Vec<_> = now.iter().map(Algorithm::name).collect();
                let was = if was.is_empty() { "none".to_owned() } else { was.join(" and ") };
                write!(f, "manifests of {}, before: {was}", now.join(" and "))
            }
            Self::Version { was } => write!(f, "version {}, before: {was}", Version::LATEST),
            Self::Added { label } => write!(f, "{label} added"),
            Self::Replaced { label } => write!(f, "{label} replaced"),
        }
    }
}

/// Returns the changes to the tag files of a bag that gets these manifests and metadata.
pub(crate) fn of_tags(bag: &Bag, algorithms: Algorithms, info: &[Element]) -> Vec<TagChange> {
    let mut found = Vec::new();
    let payload = bag.manifests.iter().map(|(manifest, _)| manifest).filter(|it| !it.is_tag);
    let was: BTreeSet<_> = payload.map(|manifest| manifest.algorithm_name.clone()).collect();
    let now: BTreeSet<_> = algorithms.iter().map(|it| it.name().to_owned()).collect();
    if was != now {
        found.push(TagChange::Algorithms { was: was.into_iter().collect(), now: algorithms });
    }
    let version = bag.declaration.version;
    if version != Version::LATEST {
        found.push(TagChange::Version { was: version });
    }
    let labelled = |all: &[Element], label: &str| -> Vec<Element> {
        all.iter().filter(|it| it.is_called(label)).cloned().collect()
    };
    let mut told: Vec<&str> = Vec::new();
    for label in info.iter().map(Element::label) {
        if told.iter().any(|it| it.eq_ignore_ascii_case(label)) {
            continue;
        }
        told.push(label);
        let (old, new) = (labelled(&bag.info, label), labelled(info, label));
        let label = label.to_owned();
        match () {
            () if old.is_empty() => found.push(TagChange::Added { label }),
            () if old != new => found.push(TagChange::Replaced { label }),
            () => {}
        }
    }
    found
}
