//! Manifests, the lists of files and their digests (RFC 8493, sections 2.1.3 and 2.2.1).

use std::borrow::Cow;
use std::collections::BTreeSet;

use lanesum_checksum::{Algorithm, Digest};
use lanesum_list::Dialect;
use lanesum_list::formats::{BagIt, Format as _, Line};

use crate::finding::{Finding, Problem};
use crate::names::{self, is_payload};
use crate::text::{is_blank, lines};

/// A manifest, identified by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) name: String,
    pub(crate) is_tag: bool,
    /// `None` if the algorithm is not supported.
    pub(crate) algorithm: Option<Algorithm>,
    /// The correct name.
    pub(crate) algorithm_name: String,
}

impl Manifest {
    /// Returns the manifest for a file at the top of a bag, if the file has the name of one.
    pub(crate) fn of(name: &[u8]) -> Option<Self> {
        let name = str::from_utf8(name).ok().filter(|name| !name.contains('/'))?;
        let (is_tag, rest) = match name.strip_prefix("tag") {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        let called = rest.strip_prefix("manifest-")?.strip_suffix(".txt")?;
        let algorithm_name = normalized(called);
        let is_called = |it: &Algorithm| normalized(it.name()) == algorithm_name && !it.needs_key();
        let algorithm = Algorithm::ALL.into_iter().find(is_called);
        Some(Self { name: name.to_owned(), is_tag, algorithm, algorithm_name })
    }

    /// Returns the problems of its name.
    pub(crate) fn look_at_name(&self) -> Option<Finding> {
        let Self { name, algorithm, algorithm_name, .. } = self;
        let is_exact = name.ends_with(&format!("manifest-{algorithm_name}.txt"));
        match algorithm {
            None => Some(Problem::UnknownAlgorithm(algorithm_name.clone())),
            Some(_) if !is_exact => {
                let problem = Problem::AlgorithmForm(algorithm_name.clone());
                return Some(Finding::warning(name.as_bytes(), problem));
            }
            Some(_) => None,
        }
        .map(|problem| Finding::error(name.as_bytes(), problem))
    }

    /// Returns the name of the manifest of an algorithm.
    pub(crate) fn name_of(algorithm: Algorithm, is_tag: bool) -> String {
        let tag = if is_tag { "tag" } else { "" };
        format!("{tag}manifest-{}.txt", normalized(algorithm.name()))
    }

    /// Parses the manifest if its algorithm is supported. `is_there` returns whether the bag has a
    /// file.
    pub(crate) fn read(
        &self,
        text: &[u8],
        is_there: impl Fn(&[u8]) -> bool,
        findings: &mut Vec<Finding>,
    ) -> Vec<Listed> {
        let Some(algorithm) = self.algorithm else { return Vec::new() };
        let mut format = BagIt::new(Dialect::untagged_as(algorithm));
        let name = self.name.as_bytes();
        let mut found = Vec::new();
        let (mut has_star, mut has_dots, mut has_bare) = (false, false, false);
        for (number, line) in lines(text) {
            let mut find = |problem| findings.push(Finding::error(name, problem).at(number));
            let record = match format.next(line) {
                Line::Blank => continue,
                Line::Record { record, .. } => record,
                _ => {
                    find(Problem::ManifestLine);
                    continue;
                }
            };
            let normal = |name: &[u8]| match names::normal(name) {
                Ok(Cow::Borrowed(name)) => Ok((name.to_vec(), false)),
                Ok(Cow::Owned(name)) => Ok((name, true)),
                Err(why) => Err(Problem::Unsafe { name: name.to_vec(), why }),
            };
            has_bare |= has_bare_percent(record.raw_name.as_deref().unwrap_or(&record.name));
            let raw = record.raw_name.as_deref().map(normal).transpose();
            let (decoded, is_dotted, raw) = match (normal(&record.name), raw) {
                (Ok((decoded, is_dotted)), Ok(raw)) => (decoded, is_dotted, raw),
                (Err(problem), _) | (_, Err(problem)) => {
                    find(problem);
                    continue;
                }
            };
            if is_dotted && !has_dots {
                findings.push(Finding::warning(name, Problem::Dots).at(number));
            }
            has_dots |= is_dotted;
            let is_starred = has_a_star(line);
            if is_starred && !has_star {
                findings.push(Finding::warning(name, Problem::Star).at(number));
            }
            has_star |= is_starred;
            let raw = raw.map(|(raw, _)| raw);
            found.push(Listed { line: number, name: decoded, raw, digest: record.digests[0] });
        }
        if settle(&mut found, is_there) | has_bare {
            findings.push(Finding::warning(name, Problem::NotEncoded));
        }
        found
    }

    /// Returns the problem of a name that the manifest must not list.
    pub(crate) fn misplaced(&self, name: &[u8]) -> Option<Problem> {
        match (self.is_tag, is_payload(name)) {
            (false, true) => None,
            (false, false) => Some(Problem::NotPayload(name.to_vec())),
            (true, true) => Some(Problem::Payload(name.to_vec())),
            (true, false) => match Self::of(name) {
                Some(Self { is_tag: true, .. }) => Some(Problem::TagManifest(name.to_vec())),
                _ => None,
            },
        }
    }
}

/// Returns the name of an algorithm as names of manifests have it: its letters and digits in lower
/// case (RFC 8493, section 2.4).
fn normalized(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|it| it.to_ascii_lowercase()).collect()
}

/// The contents of a line.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) line: u64,
    pub(crate) name: Vec<u8>,
    /// The name as written, if it looks encoded.
    raw: Option<Vec<u8>>,
    pub(crate) digest: Digest,
}

/// Returns whether the name in a line starts with a star.
fn has_a_star(line: &[u8]) -> bool {
    let blank = line.iter().position(|&byte| is_blank(byte)).unwrap_or(line.len());
    line[blank..].iter().find(|&&byte| !is_blank(byte)) == Some(&b'*')
}

/// Returns whether a name as written in a manifest has a percent sign that encodes nothing.
fn has_bare_percent(raw: &[u8]) -> bool {
    let encodes =
        |rest: &[u8]| matches!(rest, [b'0', b'A' | b'a' | b'D' | b'd', ..] | [b'2', b'5', ..]);
    let signs = raw.iter().enumerate().filter(|(_, byte)| **byte == b'%');
    signs.into_iter().any(|(at, _)| !encodes(&raw[at + 1..]))
}

/// Uses names literally if their writer did not encode them, as is common. Uses all names of a
/// manifest literally if only that matches the existing files, and otherwise single names. Returns
/// whether any name was used literally.
fn settle(found: &mut [Listed], is_there: impl Fn(&[u8]) -> bool) -> bool {
    if found.iter().all(|listed| listed.raw.is_none()) {
        return false;
    }
    let mut names = BTreeSet::new();
    let fits = |listed: &Listed| listed.raw.is_none() || is_there(&listed.name);
    let is_encoded = found.iter().all(|listed| fits(listed) && names.insert(&*listed.name));
    let are_raw = !is_encoded
        && found.iter().all(|listed| listed.raw.as_ref().is_none_or(|raw| is_there(raw)));
    // A file that another line lists does not stand for this name.
    let names: BTreeSet<Vec<u8>> = found.iter().map(|listed| listed.name.clone()).collect();
    let mut is_any = false;
    for listed in found {
        let is_free = |raw: &[u8]| !names.contains(raw) && is_there(raw);
        let stands = |raw: &mut Vec<u8>| are_raw || !is_there(&listed.name) && is_free(raw);
        if let Some(raw) = listed.raw.take_if(stands) {
            listed.name = raw;
            is_any = true;
        }
    }
    is_any
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_recognized_by_name() {
        let of = |name: &str| Manifest::of(name.as_bytes());
        let md5 = of("tagmanifest-md5.txt").unwrap();
        assert_eq!((md5.is_tag, md5.algorithm), (true, Some(Algorithm::Md5)));
        assert_eq!(md5.look_at_name(), None);
        let sha = of("manifest-SHA-256.txt").unwrap();
        assert_eq!((sha.is_tag, sha.algorithm), (false, Some(Algorithm::Sha256)));
        assert!(sha.look_at_name().is_some_and(|it| !it.is_error()));
        for (name, algorithm) in [
            ("manifest-sha3256.txt", Algorithm::Sha3_256),
            ("manifest-blake2b.txt", Algorithm::Blake2b),
            ("manifest-sha512256.txt", Algorithm::Sha512_256),
        ] {
            let manifest = of(name).unwrap();
            assert_eq!((manifest.algorithm, manifest.look_at_name()), (Some(algorithm), None));
            assert_eq!(Manifest::name_of(algorithm, false), name);
        }
        for unknown in ["manifest-whirlpool.txt", "manifest-siphash24.txt", "manifest-.txt"] {
            let found = of(unknown).unwrap().look_at_name();
            assert!(found.is_some_and(|it| it.is_error()), "{unknown}");
        }
        let others = [
            "manifest.txt",
            "bagit.txt",
            "manifest-md5",
            "manifest-md5/a.txt",
            "data/manifest-md5.txt",
        ];
        assert!(others.iter().all(|it| of(it).is_none()));
    }

    #[test]
    fn encoded_names_match_existing_files() {
        let read = |names: &[&str], files: &[&str]| {
            let digest = "d41d8cd98f00b204e9800998ecf8427e";
            let text: String = names.iter().map(|name| format!("{digest}  {name}\n")).collect();
            let is_there = |name: &[u8]| files.iter().any(|file| file.as_bytes() == name);
            let mut findings = Vec::new();
            let manifest = Manifest::of(b"manifest-md5.txt").unwrap();
            let found = manifest.read(text.as_bytes(), is_there, &mut findings);
            let names = found.into_iter().map(|it| String::from_utf8(it.name).unwrap());
            (names.collect::<Vec<_>>(), findings.len())
        };
        // Encoded as in the RFC, with and without the file.
        assert_eq!(read(&["data/%25"], &["data/%"]), (vec!["data/%".into()], 0));
        assert_eq!(read(&["data/%25"], &[]), (vec!["data/%".into()], 0));
        // Not encoded, as bagit.py writes them.
        let raw = ["data/%", "data/%25"];
        assert_eq!(read(&raw, &raw), (raw.map(String::from).to_vec(), 1));
        let raw = ["data/%0A", "data/%0D"];
        assert_eq!(read(&raw, &raw[..1]), (vec!["data/%0A".into(), "data/\r".into()], 1));
        // A percent sign that encodes nothing shows that the names are not encoded.
        assert_eq!(read(&["data/100%.txt"], &["data/100%.txt"]), (vec!["data/100%.txt".into()], 1));
        assert_eq!(read(&["data/%", "data/%2"], &[]).1, 1);
        // Both files exist, and both lines are literal.
        assert_eq!(read(&["data/%2525", "data/%25"], &["data/%25", "data/%"]).1, 0);
    }

    #[test]
    fn invalid_lines_are_reported() {
        let manifest = Manifest::of(b"manifest-md5.txt").unwrap();
        let mut findings = Vec::new();
        let digest = "d41d8cd98f00b204e9800998ecf8427e";
        let text = format!(
            "# comment\r{digest} *data/a\r\n{digest}  ./data/b\n{digest}  ../c\n\n{digest}\nx  data/a\n\
             {digest}0  data/a\n{digest} *data/d"
        );
        let found = manifest.read(text.as_bytes(), |_| true, &mut findings);
        let names: Vec<_> = found.iter().map(|it| (it.line, it.name.as_slice())).collect();
        assert_eq!(names, [(2, &b"data/a"[..]), (3, b"data/b"), (9, b"data/d")]);
        let found: Vec<_> = findings.iter().map(|it| (it.line.unwrap(), it.is_error())).collect();
        assert_eq!(
            found,
            [(1, true), (2, false), (3, false), (4, true), (6, true), (7, true), (8, true)]
        );
    }
}
