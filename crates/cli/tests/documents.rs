//! Holds documents and comments to their lengths, and their links to what is there.

use std::fs;
use std::path::{Path, PathBuf};

const README_LINES: usize = 80;
/// The widest line outside code and tables, whose rows cannot be broken.
const DOCUMENT_COLUMNS: usize = 120;
const ARCHITECTURE_WORDS: usize = 1_500;
const CATALOG_WORDS: usize = 1_500;
const CHANGELOG_WORDS: usize = 600;
/// Of a paragraph about the catalog.
const SENTENCES: usize = 5;
/// Of a decision, without its heading.
const DECISION_LINES: usize = 5;
/// Of a line with a comment, but for a table's, and for code in documentation.
const COMMENT_COLUMNS: usize = 100;

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
    for (name, most) in [
        ("ARCHITECTURE.md", ARCHITECTURE_WORDS),
        ("docs/catalog.md", CATALOG_WORDS),
        ("CHANGELOG.md", CHANGELOG_WORDS),
    ] {
        let words = read(name).split_whitespace().count();
        assert!(words <= most, "{name} has {words} words");
    }
    let mut decisions = Vec::new();
    documents(&root().join("docs/decisions"), 0, &mut decisions);
    assert!(!decisions.is_empty());
    for document in decisions {
        let text = fs::read_to_string(&document).unwrap();
        for decision in text.split("\n## ").skip(1) {
            let lines = decision.trim_end().lines().count() - 1;
            assert!(lines <= DECISION_LINES, "{}: {decision}", document.display());
            assert!(ends_with_evidence(decision), "{}: {decision}", document.display());
        }
    }
}

/// Whether a decision says in the end what shows it, a command or a test, and when that was seen.
fn ends_with_evidence(decision: &str) -> bool {
    let decision = decision.trim_end().strip_suffix(')').unwrap_or_default();
    let is_date = |word: &str| word.len() == 10 && word.starts_with("20");
    let evidence = decision.rsplit_once("(`").map(|(_, evidence)| evidence);
    evidence.is_some_and(|it| it.contains('`') && it.split_whitespace().any(is_date))
}

#[test]
fn evidence_is_a_command_and_a_date() {
    assert!(ends_with_evidence("Claim\nText (Zen 4).\n(`bench one`; Zen 4, 2026-11-20)\n"));
    assert!(ends_with_evidence("Claim\nText. (`a_test`; 2026-11-20 and 2026-11-21)"));
    for none in
        ["Claim\nText.", "Claim\n(not kept; Zen 4, 2026-11-20)", "Claim\n(`bench one`; Zen 4)"]
    {
        assert!(!ends_with_evidence(none), "{none}");
    }
}

#[test]
fn tests_named_as_evidence_exist() {
    let mut files = Vec::new();
    for directory in ["crates", "bench", "python"] {
        sources(&root().join(directory), &mut files);
    }
    let code: String = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let mut decisions = Vec::new();
    documents(&root().join("docs/decisions"), 0, &mut decisions);
    let is_name = |text: &&str| {
        let letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        text.matches('_').count() > 1 && text.chars().all(|it| it == '_' || letter(it))
    };
    let mut missing = Vec::new();
    for document in decisions {
        let text = fs::read_to_string(&document).unwrap();
        let names = text.split('`').skip(1).step_by(2).filter(is_name);
        let exists =
            |name: &&str| ["(", "<"].iter().any(|end| code.contains(&format!("fn {name}{end}")));
        missing.extend(names.filter(|name| !exists(name)).map(str::to_owned));
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn pages_are_linked() {
    let mut linked = Vec::new();
    for document in all() {
        let text = fs::read_to_string(&document).unwrap();
        let parent = document.parent().unwrap();
        let targets = links(&text).map(|link| parent.join(link.split('#').next().unwrap()));
        linked.extend(targets.filter_map(|it| it.canonicalize().ok()));
    }
    let mut pages = Vec::new();
    documents(&root().join("docs"), 0, &mut pages);
    assert!(pages.len() > 10, "{pages:?}");
    pages.retain(|page| !linked.contains(&page.canonicalize().unwrap()));
    assert!(pages.is_empty(), "not linked: {pages:?}");
}

/// The pages about the catalog.
const CATALOG_PAGES: [&str; 6] = [
    "docs/catalog.md",
    "docs/daemon.md",
    "docs/scrub.md",
    "docs/recipes.md",
    "docs/decisions/catalog.md",
    "crates/catalog/README.md",
];

/// What each of the ten promises is about.
const PROMISES: [&str; 10] = [
    "`add` reads every regular file",
    "A record belongs to a path",
    "`edited`",
    "`damaged`",
    "stays damaged",
    "`missing`",
    "`scrub` verifies every file once per period",
    "`offline`",
    "is on disk",
    "Limits:",
];

#[test]
fn the_catalog_page_begins_with_its_ten_promises() {
    let text = read("docs/catalog.md");
    let beginning = text.split("\n## ").next().unwrap();
    let (introduction, promises) = beginning.split_once("\n1. ").unwrap();
    assert!(introduction.lines().count() <= 4, "{introduction}");
    let promises = format!("1. {promises}");
    let numbered = |line: &&str| line.starts_with(|first: char| first.is_ascii_digit());
    assert_eq!(promises.lines().filter(numbered).count(), PROMISES.len(), "{promises}");
    let mut rest = &*promises;
    for (number, about) in (1..).zip(PROMISES) {
        let promise = rest.find(&format!("{number}. ")).map(|at| &rest[at..]);
        rest = promise.unwrap_or_else(|| panic!("promise {number}: {promises}"));
        let end = rest.find(&format!("\n{}. ", number + 1)).unwrap_or(rest.len());
        assert!(rest[..end].contains(about), "promise {number}, {about}: {}", &rest[..end]);
    }
}

/// Words of an earlier vocabulary, and riddles for what has a name.
const FORBIDDEN: [&str; 18] = [
    "audit",
    "suspended",
    "taken up",
    "take up",
    "altered",
    "rotted",
    "emptied",
    "transient",
    "not well",
    "folder",
    "whoever",
    "somebody",
    "nobody",
    "anew",
    "once more",
    "is none",
    "is no ",
    "put back",
];

#[test]
fn pages_of_the_catalog_use_its_words() {
    let mut found = Vec::new();
    for name in CATALOG_PAGES {
        // A line may end within an expression.
        let text = read(name).to_lowercase();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        found.extend(FORBIDDEN.iter().filter(|it| text.contains(*it)).map(|it| (name, it)));
    }
    assert!(found.is_empty(), "{found:?}");
}

/// The paragraphs of a document that are neither code, list, table nor heading.
fn paragraphs(text: &str) -> Vec<&str> {
    let outside = text.split("```").step_by(2).flat_map(|text| text.split("\n\n"));
    let is_prose = |it: &&str| it.starts_with(|first: char| first.is_alphabetic() || first == '`');
    outside.map(str::trim).filter(is_prose).collect()
}

fn sentences(paragraph: &str) -> usize {
    let words = paragraph.split_whitespace();
    words.filter(|word| word.trim_end_matches([')', '`']).ends_with(['.', '?', '!'])).count()
}

#[test]
fn paragraphs_of_the_catalog_are_short() {
    assert_eq!(sentences("One (yes). Two is `a.b`? Three has 1.5."), 3);
    let mut long = Vec::new();
    for name in &CATALOG_PAGES[..4] {
        let text = read(name);
        assert!(!paragraphs(&text).is_empty(), "{name}");
        let is_long = |it: &&str| sentences(it) > SENTENCES;
        long.extend(
            paragraphs(&text).into_iter().filter(is_long).map(|it| format!("{name}: {it}")),
        );
    }
    assert!(long.is_empty(), "{long:#?}");
}

fn columns(line: &str) -> usize {
    line.chars().count()
}

#[test]
fn lines_of_documents_fit_a_window() {
    let found = all();
    let mut wide = Vec::new();
    for document in &found {
        let text = fs::read_to_string(document).unwrap();
        let outside_code = text.split("```").step_by(2).flat_map(str::lines);
        let is_wide = |line: &&str| columns(line) > DOCUMENT_COLUMNS && !line.starts_with('|');
        wide.extend(outside_code.filter(is_wide).map(|line| format!("{document:?}: {line}")));
    }
    assert!(found.len() > 30, "{found:?}");
    assert!(wide.is_empty(), "{wide:#?}");
}

/// The files under a folder that are written by hand and have comments.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "cache", "corpus"].contains(&&*name) {
                sources(&path, found);
            }
        } else if name == "Makefile"
            || [".rs", ".py", ".toml"].iter().any(|end| name.ends_with(end))
        {
            found.push(path);
        }
    }
}

/// The lines of a source whose comments are too wide, with their numbers.
fn wide_comments(text: &str, mark: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let is_wide = |(_, line): &(usize, &str)| {
        let comment =
            line.trim_start().strip_prefix(mark).map(|text| text.trim_start_matches(['/', '!']));
        let Some(text) = comment.map(str::trim_start) else {
            is_code = false;
            let beside = line.rfind(&format!(" {mark} ")).map(|at| &line[at..]);
            return columns(line) > COMMENT_COLUMNS
                && beside.is_some_and(|text| !text.contains('"'));
        };
        is_code ^= text.starts_with("```");
        columns(line) > COMMENT_COLUMNS && !is_code && !text.starts_with('|')
    };
    let lines = text.lines().enumerate().filter(is_wide);
    lines.map(|(number, line)| (number + 1, line.into())).collect()
}

#[test]
fn comments_fit_beside_one_another() {
    let long = "x".repeat(COMMENT_COLUMNS);
    let source = [
        format!("/// {long}"),
        format!("//! | {long} |"),
        "/// ```".into(),
        format!("/// {long}"),
        "/// ```".into(),
        format!("let a = 0; // {long}"),
        format!("let b = \"{long} // no comment\";"),
        "// short".into(),
    ]
    .join("\n");
    let wide: Vec<usize> = wide_comments(&source, "//").into_iter().map(|(line, _)| line).collect();
    assert_eq!(wide, [1, 6]);

    let mut found = vec![root().join("Makefile"), root().join("Cargo.toml")];
    for folder in ["crates", "bench", "fuzz", "python", "tests"] {
        sources(&root().join(folder), &mut found);
    }
    assert!(found.len() > 300, "{}", found.len());
    let mut wide = Vec::new();
    for path in found {
        let mark = if path.extension().is_some_and(|end| end == "rs") { "//" } else { "#" };
        let text = fs::read_to_string(&path).unwrap();
        wide.extend(wide_comments(&text, mark).into_iter().map(|(line, text)| {
            format!("{}:{line}: {text}", path.strip_prefix(root()).unwrap().display())
        }));
    }
    assert!(wide.is_empty(), "{wide:#?}");
}

/// Words in whose place one says who, what or how: "no other process", "alternately", "in memory".
const AVOIDED: [&str; 4] = ["nobody", " in turns", " at hand", "who lacks"];

#[test]
fn words_are_plain() {
    let mut found = vec![root().join("README.md"), root().join("ARCHITECTURE.md")];
    documents(&root().join("docs"), 0, &mut found);
    for folder in fs::read_dir(root().join("crates")).unwrap() {
        sources(&folder.unwrap().path().join("src"), &mut found);
    }
    sources(&root().join("python/src"), &mut found);
    assert!(found.len() > 200, "{}", found.len());
    let mut avoided = Vec::new();
    for path in &found {
        let text = fs::read_to_string(path).unwrap().to_lowercase();
        let is_avoided = |line: &&str| AVOIDED.iter().any(|words| line.contains(words));
        avoided.extend(text.lines().filter(is_avoided).map(|line| format!("{path:?}: {line}")));
    }
    assert!(avoided.is_empty(), "{avoided:#?}");
}
