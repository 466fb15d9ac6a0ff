//! A large text from the machine's own documentation.

use std::fs;
use std::path::{Path, PathBuf};

/// Where texts are, on systems that have them.
const FOLDERS: [&str; 4] =
    ["/usr/share/common-licenses", "/usr/share/doc", "/usr/share/dict", "/usr/share/perl"];

/// So many bytes are enough.
const ENOUGH: usize = 64 << 20;

/// Extensions that texts in plain words have, if they have one.
const EXTENSIONS: [&str; 3] = ["txt", "md", "pod"];

/// The files named as arguments of the program, or what documentation the machine has; none where
/// it has none.
pub fn texts() -> Vec<String> {
    let named: Vec<_> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let mut texts = Vec::new();
    if named.is_empty() {
        FOLDERS.iter().for_each(|folder| gather(Path::new(folder), &mut texts));
    }
    for path in named {
        match fs::read_to_string(&path) {
            Ok(text) => texts.push(text),
            Err(error) => eprintln!("{}: {error}", path.display()),
        }
    }
    if texts.is_empty() {
        println!("no texts here; name some as arguments");
    }
    texts
}

/// The texts of a directory and what is below it, in the order of their names.
fn gather(folder: &Path, texts: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if texts.iter().map(String::len).sum::<usize>() > ENOUGH {
            return;
        }
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            gather(&path, texts);
        // What is no text is no UTF-8 either.
        } else if is_plain(&path)
            && let Ok(text) = fs::read_to_string(&path)
        {
            texts.push(text);
        }
    }
}

/// Whether the name is not that of markup or a program.
fn is_plain(path: &Path) -> bool {
    path.extension().is_none_or(|own| EXTENSIONS.iter().any(|plain| own == *plain))
}

/// The words of a text: its runs of letters.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty())
}
