//! Checks that documents, help, messages and doc comments use short sentences and plain words.
//!
//! `words.txt` lists the words that they avoid, each with a reason.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro2::{TokenStream, TokenTree};

/// The longest sentence, in words. A code span counts as one word.
const SENTENCE_WORDS: usize = 40;
/// The longest paragraph, list item or table cell, in sentences.
const PARAGRAPH_SENTENCES: usize = 5;
/// The longest first line of a command's help, in characters.
const HELP_COLUMNS: usize = 60;
/// Decisions have a limit of their own, in lines (`documents.rs`).
const DECISIONS: &str = "docs/decisions/";
/// The page and its crate call directories folders, as browsers' users do.
const FOLDERS_ALLOWED: &str = "crates/cli/src/web/";
/// Prints GNU's help.
const GNU: &str = "md5sum";

const WORDS: &str = include_str!("words.txt");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Markdown files of a directory, by name.
fn pages(directory: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(directory)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<_> = names.filter(|name| name.ends_with(".md")).collect();
    pages.sort();
    pages.into_iter().map(|name| format!("{directory}/{name}")).collect()
}

/// The documents that users read, as paths from the root of the repository.
fn documents() -> Vec<String> {
    let mut found = [pages("."), pages("docs"), pages("docs/decisions"), pages("python")].concat();
    let mut crates: Vec<_> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| format!("crates/{}/README.md", entry.unwrap().file_name().display()))
        .collect();
    crates.sort();
    found.append(&mut crates);
    found
}

/// Replaces code spans by one word and drops the targets of links.
fn plain(text: &str) -> String {
    let text = text.replace("``` ", "").replace("```", "");
    let mut plain = String::new();
    for (number, part) in text.split('`').enumerate() {
        plain.push_str(if number % 2 == 0 { part } else { "CODE" });
    }
    while let Some(start) = plain.find("](") {
        let end = plain[start..].find(')').map_or(plain.len(), |length| start + length + 1);
        plain.replace_range(start..end, "]");
    }
    plain.replace(['*', '[', ']'], "")
}

/// Collects the paragraphs, list items and table cells of a Markdown text, without code.
fn blocks_of_page(text: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    let mut in_code = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            in_code = !in_code;
            blocks.push(String::new());
        } else if in_code || trimmed.is_empty() || trimmed.starts_with(['#', '!']) {
            blocks.push(String::new());
        } else if trimmed.starts_with('|') {
            let cells = trimmed.replace("\\|", "/");
            blocks.extend(cells.split('|').map(str::to_owned));
            blocks.push(String::new());
        } else {
            let number = trimmed.trim_start_matches(|letter: char| letter.is_ascii_digit());
            let item = trimmed.strip_prefix("- ").or_else(|| number.strip_prefix(". "));
            if item.is_some() {
                blocks.push(String::new());
            }
            let block = blocks.last_mut().expect("starts with one");
            block.push_str(item.unwrap_or(trimmed));
            block.push(' ');
        }
    }
    blocks.retain(|block| block.chars().any(char::is_alphabetic));
    blocks.iter().map(|block| plain(block)).collect()
}

/// Collects the explanations of a help text, without options, values, examples and tables.
fn blocks_of_help(text: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    let mut in_examples = false;
    for line in text.lines() {
        let trimmed = line.trim();
        in_examples = trimmed == "Examples:" || in_examples && !trimmed.is_empty();
        let is_option = trimmed.starts_with(['-', '<', '[']) && line.starts_with("  ");
        let is_row = trimmed.contains("  ");
        if in_examples
            || trimmed.is_empty()
            || trimmed.ends_with(':')
            || is_option
            || trimmed.starts_with("Usage:")
        {
            blocks.push(String::new());
        } else {
            if is_row {
                blocks.push(String::new());
            }
            let block = blocks.last_mut().expect("starts with one");
            block.push_str(trimmed);
            block.push(' ');
        }
    }
    blocks.retain(|block| block.chars().any(char::is_alphabetic));
    blocks.iter().map(|block| plain(block)).collect()
}

/// Splits a block into sentences.
fn sentences(block: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    for word in block.split_whitespace() {
        let sentence = sentences.last_mut().expect("starts with one");
        sentence.push_str(word);
        sentence.push(' ');
        if word.trim_end_matches([')', '"', '\'']).ends_with(['.', '?', '!']) {
            sentences.push(String::new());
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

fn words(sentence: &str) -> usize {
    sentence.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

/// Lower-case words with a space around each, so that a phrase can be searched for.
fn searchable(text: &str) -> String {
    let letter = |letter: char| if letter.is_alphanumeric() { letter } else { ' ' };
    let text: String = text.to_lowercase().chars().map(letter).collect();
    format!(" {} ", text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The phrases of `words.txt` with their reasons.
fn rules() -> Vec<(&'static str, &'static str)> {
    let lines = WORDS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| line.split_once(" = ").unwrap_or_else(|| panic!("no reason: {line}")))
        .collect()
}

/// The rules for the file with a name.
fn rules_of(
    name: &str,
    rules: &[(&'static str, &'static str)],
) -> Vec<(&'static str, &'static str)> {
    let applies =
        |phrase: &str| !name.starts_with(FOLDERS_ALLOWED) || !phrase.starts_with("folder");
    rules.iter().copied().filter(|(phrase, _)| applies(phrase)).collect()
}

/// Says how a sentence breaks a rule.
fn avoided(sentence: &str, rules: &[(&str, &str)]) -> Vec<String> {
    let text = searchable(sentence);
    // The first word of a table's heading is in lower case.
    let starts =
        sentence.chars().find(|letter| letter.is_alphabetic()).is_some_and(char::is_uppercase);
    let is_statement = starts && !sentence.contains('?');
    let breaks = |(phrase, _): &&(&str, &str)| match phrase.strip_prefix('^') {
        Some(start) => is_statement && text.starts_with(&format!(" {start} ")),
        None => text.contains(&format!(" {phrase} ")),
    };
    let broken = rules.iter().filter(breaks);
    broken.map(|(phrase, reason)| format!("\"{phrase}\" ({reason}): {sentence}")).collect()
}

/// Says how the blocks of a text break the rules. A block has at most `most` sentences.
fn problems(blocks: &[String], most: usize, rules: &[(&str, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    for block in blocks {
        let sentences = sentences(block);
        if sentences.len() > most {
            found.push(format!("{} sentences: {block}", sentences.len()));
        }
        for sentence in &sentences {
            let words = words(sentence);
            if words > SENTENCE_WORDS {
                found.push(format!("{words} words: {sentence}"));
            }
            found.extend(avoided(sentence, rules));
        }
    }
    found
}

fn report(found: &[String]) {
    assert!(found.is_empty(), "{} problems:\n{}", found.len(), found.join("\n"));
}

#[test]
fn long_and_unclear_sentences_are_found() {
    let rules = rules();
    assert!(rules.len() > 20);
    let long = "word ".repeat(SENTENCE_WORDS + 1);
    let many = "Yes. ".repeat(PARAGRAPH_SENTENCES + 1);
    for (text, expected) in [
        ("One file (yes). `two files` are checked?", 0),
        (&*long, 1),
        (&*many, 1),
        (&*format!("- {long}\n- {long}"), 2),
        (&*format!("| a | {long} |"), 1),
        (&*format!("```\n{long}\n```\n`{long}`"), 0),
        ("What is damaged is told.", 2),
        ("What is damaged?", 0),
        ("A line that is no\nchecksum line. Retold, at the folders' end.", 2),
        ("[a folder](folder)", 1),
    ] {
        let found = problems(&blocks_of_page(text), PARAGRAPH_SENTENCES, &rules);
        assert_eq!(found.len(), expected, "{text}: {found:#?}");
    }
}

#[test]
fn documents_are_plain() {
    let rules = rules();
    let documents = documents();
    assert!(documents.len() > 30, "{documents:?}");
    let mut found = Vec::new();
    for name in documents {
        let text = fs::read_to_string(root().join(&name)).expect(&name);
        let rules = rules_of(&name, &rules);
        let sentences = if name.starts_with(DECISIONS) { usize::MAX } else { PARAGRAPH_SENTENCES };
        let problems = problems(&blocks_of_page(&text), sentences, &rules);
        found.extend(problems.into_iter().map(|problem| format!("{name}: {problem}")));
    }
    report(&found);
}

/// The help of a command, given by its words.
fn help(command: &[String]) -> String {
    let program = env!("CARGO_BIN_EXE_lanesum");
    let output = Command::new(program).args(command).arg("--help").output().unwrap();
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The headings of lists of commands.
const COMMANDS: [&str; 4] = ["Commands:", "Checksums:", "Catalog:", "Other:"];

/// The names of the commands that a help text lists.
fn listed(help: &str) -> Vec<&str> {
    let sections = help.split("\n\n");
    let rows = sections.filter_map(|section| {
        let (heading, rows) = section.trim_start().split_once('\n')?;
        COMMANDS.contains(&heading).then(|| rows.lines())
    });
    // A row that continues the one above is indented further.
    let names = rows.flatten().filter_map(|row| row.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !["", "help", GNU].contains(name)).collect()
}

/// Every command with its help, the program itself first.
fn helps() -> Vec<(String, String)> {
    let mut helps = Vec::new();
    let mut commands = vec![Vec::new()];
    while let Some(command) = commands.pop() {
        let text = help(&command);
        let inner = listed(&text).into_iter();
        commands.extend(inner.map(|name| [&command[..], &[name.to_owned()]].concat()));
        helps.push((format!("lanesum {}", command.join(" ")), text));
    }
    helps
}

#[test]
fn help_is_plain() {
    let rules = rules();
    let helps = helps();
    assert!(helps.len() > 20, "{}", helps.len());
    let mut found = Vec::new();
    for (command, text) in helps {
        let summary: Vec<_> = text.lines().take_while(|line| !line.is_empty()).collect();
        let summary = summary.join(" ");
        let columns = summary.chars().count();
        if columns > HELP_COLUMNS {
            found.push(format!("{command}: {columns} characters: {summary}"));
        }
        let problems = problems(&blocks_of_help(&text), PARAGRAPH_SENTENCES, &rules);
        found.extend(problems.into_iter().map(|problem| format!("{command}: {problem}")));
    }
    report(&found);
}

/// The paths below a directory with an ending, sorted.
fn sources(directory: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![root().join(directory)];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|it| it == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Collects the doc comments and the string literals of Rust source.
fn texts_of_rust(tokens: TokenStream) -> [Vec<String>; 2] {
    let [mut comments, mut literals] = [const { Vec::new() }; 2];
    let mut comment = String::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let [mut inner, mut literal] = texts_of_rust(group.stream());
                if group.stream().to_string().starts_with("doc = ") {
                    comment += &(literal.concat() + "\n");
                    continue;
                }
                comments.append(&mut inner);
                literals.append(&mut literal);
            }
            TokenTree::Literal(literal) => {
                let literal = syn::parse_str::<syn::LitStr>(&literal.to_string());
                literals.extend(literal.map(|it| it.value()));
            }
            // Each line of a comment begins with `#` or `#!`.
            TokenTree::Punct(punct) if "#!".contains(punct.as_char()) => continue,
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
        comments.extend(Some(std::mem::take(&mut comment)).filter(|it| !it.is_empty()));
    }
    comments.extend(Some(comment).filter(|it| !it.is_empty()));
    [comments, literals]
}

/// Collects the messages, docstrings and comments of Python source.
fn texts_of_python(source: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = source;
    while let Some(start) = rest.find(['"', '\'', '#']) {
        rest = &rest[start..];
        let end = if rest.starts_with('#') { "\n" } else { &rest[..1] };
        let end = if rest.starts_with("\"\"\"") { "\"\"\"" } else { end };
        let inside = &rest[end.len()..];
        let is_escaped = |at: usize| inside[..at].ends_with('\\');
        let length = inside.match_indices(end).find(|(at, _)| !is_escaped(*at));
        let length = length.map_or(inside.len(), |(at, _)| at);
        let text = &inside[..length];
        // Examples are code.
        let is_code = |line: &&str| line.trim_start().starts_with(">>>");
        texts.push(text.lines().take_while(|line| !is_code(line)).collect::<Vec<_>>().join("\n"));
        rest = inside.get(length + end.len()..).unwrap_or_default();
    }
    texts
}

/// Replaces the `{values}` of a format string by one word.
fn without_values(text: &str) -> String {
    let mut plain = text.to_owned();
    while let Some(start) = plain.find('{') {
        let end = plain[start..].find('}').map_or(plain.len(), |length| start + length + 1);
        plain.replace_range(start..end, "VALUE");
    }
    plain
}

#[test]
fn messages_are_found_in_source() {
    let rust = "//! A\n//! page.\nfn f() { /// An\n /// item.\n g(\"a \\\n  message\", 'c'); }";
    let texts = texts_of_rust(rust.parse().unwrap());
    assert_eq!(texts, [vec![" A\n page.\n", " An\n item.\n"], vec!["a message"]]);
    let python =
        "def f():\n    \"\"\"Doc.\n    >>> f()\n    \"\"\"\n    g('it\\'s', \"x\")  # A comment\n";
    assert_eq!(texts_of_python(python), ["Doc.", "it\\'s", "x", " A comment"]);
}

/// The directories whose doc comments are held to the rules as well.
const WITH_COMMENTS: [&str; 9] = [
    "crates/bag/src",
    "crates/catalog/src",
    "crates/checksum/src",
    "crates/cli/src",
    "crates/events/src",
    "crates/list/src",
    "crates/siphash/src",
    "crates/table/src",
    "python/src",
];

/// Returns the texts of a source file that the rules apply to.
fn texts(name: &str, source: &str) -> Vec<String> {
    if name.ends_with(".py") {
        return texts_of_python(source);
    }
    let [mut texts, literals] = texts_of_rust(source.parse().unwrap());
    if !WITH_COMMENTS.iter().any(|it| name.starts_with(it)) {
        texts.clear();
    }
    // Shorter ones may be names.
    texts.extend(literals.into_iter().filter(|text| words(text) > 2));
    texts
}

#[test]
fn messages_are_plain() {
    let rules = rules();
    let is_held = |name: &str| {
        let others = ["/tests/", "/examples/", "/md5sum/", "cli/src/args/", "/schema.rs"];
        !others.iter().any(|it| name.contains(it))
    };
    let python = [sources("python/src", "rs"), sources("python/lanesum", "py")].concat();
    let (mut found, mut count) = (Vec::new(), 0);
    for path in [sources("crates", "rs"), python].concat() {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let rules = rules_of(&name, &rules);
        for text in texts(&name, &fs::read_to_string(&path).unwrap()) {
            let blocks = blocks_of_page(&without_values(&text));
            let problems = problems(&blocks, usize::MAX, &rules);
            count += 1;
            if is_held(&name) {
                found.extend(problems.into_iter().map(|problem| format!("{name}: {problem}")));
            }
        }
    }
    assert!(count > 1000, "{count}");
    report(&found);
}
