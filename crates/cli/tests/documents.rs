//! Holds the documents to their lengths, and their links to what is there.

use std::fs;
use std::path::{Path, PathBuf};

const README_LINES: usize = 80;
const ARCHITECTURE_WORDS: usize = 1_500;
/// Of a decision, without its heading.
const DECISION_LINES: usize = 5;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).expect(name)
}

/// The documents in a folder; with those in its folders, where `depth` allows.
fn documents(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && depth > 0 {
            documents(&path, depth - 1, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

fn all() -> Vec<PathBuf> {
    let mut found = Vec::new();
    documents(&root(), 0, &mut found);
    documents(&root().join("docs"), 1, &mut found);
    documents(&root().join("crates"), 1, &mut found);
    documents(&root().join("python"), 0, &mut found);
    found
}

/// Where the links and pictures of a document lead, but for those out of the repository.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)).filter(|link| {
        // What is no link, but code that looks like one, has blanks.
        !link.contains("://") && !link.contains(' ')
    })
}

#[test]
fn links_lead_to_what_is_there() {
    let documents = all();
    assert!(documents.len() > 10, "{documents:?}");
    let mut broken = Vec::new();
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        for link in links(&text) {
            let target = link.split('#').next().unwrap();
            if !target.is_empty() && !document.parent().unwrap().join(target).exists() {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_documents_are_as_short_as_they_are_meant_to_be() {
    let lines = read("README.md").lines().count();
    assert!(lines <= README_LINES, "README.md has {lines} lines");
    let words = read("ARCHITECTURE.md").split_whitespace().count();
    assert!(words <= ARCHITECTURE_WORDS, "ARCHITECTURE.md has {words} words");
    let mut decisions = Vec::new();
    documents(&root().join("docs/decisions"), 0, &mut decisions);
    assert!(!decisions.is_empty());
    for document in decisions {
        let text = fs::read_to_string(&document).unwrap();
        for decision in text.split("\n## ").skip(1) {
            let lines = decision.trim_end().lines().count() - 1;
            assert!(lines <= DECISION_LINES, "{}: {decision}", document.display());
        }
    }
}
