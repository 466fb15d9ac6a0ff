//! Writes the tag files of a bag, in version 1.0 and UTF-8.

use std::collections::BTreeMap;
use std::path::Path;

use lanesum_checksum::{Algorithms, Digests, digests_of};
use lanesum_list::formats::{BagIt, Format as _};
use lanesum_list::{Dialect, Record};

use crate::declaration::{self, Declaration, INFO};
use crate::error::BagError;
use crate::finding::{Finding, Problem};
use crate::info::Element;
use crate::manifest::Manifest;
use crate::staging;

/// Names and facts of files.
pub(crate) type Files<'a> = BTreeMap<Vec<u8>, &'a Digests>;

/// The texts of tag files by name.
pub(crate) type Texts = BTreeMap<String, Vec<u8>>;

/// Returns the tag files of a bag with a payload and existing other tag files.
pub(crate) fn of(
    algorithms: Algorithms,
    payload: &Files<'_>,
    others: &Files<'_>,
    info: &[Element],
) -> Result<Texts, BagError> {
    let mut texts = Texts::new();
    manifests(algorithms, false, payload, &mut texts)?;
    let text: String = info.iter().map(Element::to_string).collect();
    texts.insert(INFO.to_owned(), text.into_bytes());
    texts.insert(declaration::NAME.to_owned(), Declaration::TEXT.as_bytes().to_vec());
    let written: Vec<_> =
        texts.iter().map(|(name, text)| (name.clone(), digests(algorithms, text))).collect();
    let mut listed = others.clone();
    // The files that are written now replace those that were read.
    listed.retain(|name, _| Manifest::of(name).is_none());
    listed.extend(written.iter().map(|(name, digests)| (name.as_bytes().to_vec(), digests)));
    manifests(algorithms, true, &listed, &mut texts)?;
    Ok(texts)
}

fn digests(algorithms: Algorithms, text: &[u8]) -> Digests {
    digests_of(algorithms, None, text).expect("no algorithm of a bag takes a key")
}

/// Returns a manifest for each algorithm.
fn manifests(
    algorithms: Algorithms,
    is_tag: bool,
    files: &Files<'_>,
    texts: &mut Texts,
) -> Result<(), BagError> {
    for algorithm in algorithms.iter() {
        let format = BagIt::new(Dialect::untagged_as(algorithm));
        let mut text = Vec::new();
        for (name, digests) in files {
            let digest = digests.iter().find(|digest| digest.algorithm() == algorithm);
            let digest = digest.expect("each file was read for all algorithms");
            if let Err(cannot) = format.record(&mut text, &Record::new(name).with(*digest)) {
                let problem = Problem::Unreadable(cannot.to_string());
                return Err(BagError::Findings(vec![Finding::error(&**name, problem)]));
            }
        }
        texts.insert(Manifest::name_of(algorithm, is_tag), text);
    }
    Ok(())
}

/// Writes the tag files to the staging directory, except for the declaration, which seals it.
pub(crate) fn write(texts: &Texts, staging: &Path) -> Result<(), BagError> {
    let texts = texts.iter().filter(|(name, _)| **name != *declaration::NAME);
    texts.into_iter().try_for_each(|(name, text)| staging::write(staging, name, text))
}
