//! Patterns of `.gitignore` files, as bytes, as git reads them.
//!
//! gitignore(5) defines patterns. Where git differs from it, this module follows git.
//! `tests/walk/git.rs` compares it with git:
//!
//! * Only trailing spaces are removed, not tabs, and not after a `\`.
//! * An unclosed set, an unknown class and a trailing `\` match nothing.
//! * `**` matches any number of directories also after a prefix without wildcards: `a**/b`.

use super::glob::Glob;

/// A pattern with its properties.
#[derive(Debug)]
pub(super) struct Pattern {
    /// `None` for a pattern that matches nothing.
    glob: Option<Glob>,
    /// Whether it includes entries that other patterns ignore.
    pub(super) is_negation: bool,
    is_for_folders: bool,
    /// Whether it matches the last component of a path, not the whole path.
    is_for_names: bool,
}

/// Returns all patterns of a file.
pub(super) fn patterns(text: &[u8]) -> impl Iterator<Item = Pattern> {
    lines(text).map(|(_, line)| Pattern::new(line))
}

/// Returns the first line of a file whose pattern is invalid, and its number.
pub(super) fn first_invalid(text: &[u8]) -> Option<(usize, &[u8])> {
    lines(text).find(|(_, line)| !Pattern::new(line).is_sound())
}

/// Returns the lines with patterns, each with its number.
fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    (1..).zip(text.split(|&byte| byte == b'\n')).filter_map(|(number, line)| {
        if line.is_empty() || line.starts_with(b"#") {
            return None;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // git reads a line as a C string.
        let line = line.split(|&byte| byte == 0).next().unwrap_or_default();
        Some((number, without_blanks(line)))
    })
}

/// Returns a line without trailing unescaped spaces.
fn without_blanks(line: &[u8]) -> &[u8] {
    let (mut end, mut at) = (0, 0);
    while let Some(&byte) = line.get(at) {
        at += if byte == b'\\' { 2 } else { 1 };
        if byte != b' ' {
            end = at.min(line.len());
        }
    }
    &line[..end]
}

impl Pattern {
    fn new(line: &[u8]) -> Self {
        let (line, is_negation) = without(line.strip_prefix(b"!"), line);
        Self { is_negation, ..Self::plain(line) }
    }

    /// Parses a pattern in which a leading `!` is literal.
    pub(super) fn plain(line: &[u8]) -> Self {
        let (line, is_for_folders) = without(line.strip_suffix(b"/"), line);
        let is_for_names = !line.contains(&b'/');
        let glob = Glob::new(line.strip_prefix(b"/").unwrap_or(line));
        Self { glob, is_negation: false, is_for_folders, is_for_names }
    }

    /// Returns whether the pattern can match anything.
    pub(super) fn is_sound(&self) -> bool {
        self.glob.is_some()
    }

    /// Returns whether it matches a path relative to the directory of its file.
    pub(super) fn matches(&self, path: &[u8], is_folder: bool) -> bool {
        self.matches_named(path, name_of(path), is_folder)
    }

    /// Returns whether it matches a path with a known last component.
    pub(super) fn matches_named(&self, path: &[u8], name: &[u8], is_folder: bool) -> bool {
        let text = if self.is_for_names { name } else { path };
        (is_folder || !self.is_for_folders)
            && self.glob.as_ref().is_some_and(|glob| glob.matches(text))
    }
}

/// Returns the last component of a path.
pub(super) fn name_of(path: &[u8]) -> &[u8] {
    let slash = path.iter().rposition(|&byte| byte == b'/');
    &path[slash.map_or(0, |slash| slash + 1)..]
}

/// Returns the rest of a line without a prefix or suffix, and whether it was there.
fn without<'a>(rest: Option<&'a [u8]>, line: &'a [u8]) -> (&'a [u8], bool) {
    (rest.unwrap_or(line), rest.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_spaces_are_removed_unless_escaped() {
        for (line, rest) in [
            ("a  ", "a"),
            ("a\t", "a\t"),
            ("a \t ", "a \t"),
            (r"a\   ", r"a\ "),
            (r"a\\  ", r"a\\"),
            (r"a \", r"a \"),
            ("   ", ""),
            (" a b ", " a b"),
        ] {
            assert_eq!(without_blanks(line.as_bytes()), rest.as_bytes(), "{line:?}");
        }
    }

    #[test]
    fn each_line_but_empty_ones_and_comments_is_a_pattern() {
        let text = b"\xef\xbb\xbf#x\na\r\n\n!b\n\\#c\r\nd\0e\n#\n/f/";
        let words: Vec<_> = patterns(text)
            .map(|pattern| {
                let matching = ["a", "b", "#c", "d", "f"];
                let matching = matching.map(|path| pattern.matches(path.as_bytes(), true));
                (matching.iter().position(|&matches| matches).unwrap(), pattern.is_negation)
            })
            .collect();
        assert_eq!(words, [(0, false), (1, true), (2, false), (3, false), (4, false)]);
    }

    fn all_matching<'a>(pattern: &str, paths: &[&'a str]) -> Vec<&'a str> {
        let pattern = Pattern::new(pattern.as_bytes());
        let is_match = |path: &&&str| pattern.matches(path.as_bytes(), false);
        paths.iter().filter(is_match).copied().collect()
    }

    #[test]
    fn stars_match_as_in_git() {
        let paths = ["a", "ab", "a/b", "ab/b", "a/x/b", "a/x/y/b", "a/xb", "x/a/b", "a/b/b"];
        for (pattern, matching) in [
            ("*", &paths[..]),
            ("/*", &["a", "ab"]),
            ("*b", &["ab", "a/b", "ab/b", "a/x/b", "a/x/y/b", "a/xb", "x/a/b", "a/b/b"]),
            ("a/*b", &["a/b", "a/xb"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b", "a/b/b"]),
            ("a/**", &["a/b", "a/x/b", "a/x/y/b", "a/xb", "a/b/b"]),
            ("/**", &paths),
            ("**/a/b", &["a/b", "x/a/b"]),
            ("**/**/x/**/b", &["a/x/b", "a/x/y/b", "x/a/b"]),
            ("a**/b", &["ab", "a/b", "ab/b", "a/x/b", "a/x/y/b", "a/b/b"]),
            ("?**/b", &["a/b", "ab/b"]),
            ("***/x/b", &["a/x/b"]),
            (r"a/**\/b", &["a/x/b", "a/x/y/b", "a/b/b"]),
            ("*/*/*", &["a/x/b", "x/a/b", "a/b/b"]),
            ("a*/b", &["a/b", "ab/b"]),
        ] {
            assert_eq!(all_matching(pattern, &paths), matching, "{pattern}");
        }
    }

    #[test]
    fn sets_match_as_in_git() {
        let paths = ["a", "b", "-", "]", "[", ":", "\\", "^", "!", "1", " ", "Z"];
        for (pattern, matching) in [
            ("[a-b]", &["a", "b"][..]),
            ("[!a-b]", &["-", "]", "[", ":", "\\", "^", "!", "1", " ", "Z"]),
            ("[^[:alnum:]]", &["-", "]", "[", ":", "\\", "^", "!", " "]),
            ("[[:alpha:]1]", &["a", "b", "1", "Z"]),
            ("[[:alpha:]-1]", &["a", "b", "-", "1", "Z"]),
            ("[[:blank:]]", &[" "]),
            ("[]-a]", &["a", "]", "^"]),
            ("[]]", &["]"]),
            ("[a-]", &["a", "-"]),
            ("[-a]", &["a", "-"]),
            (r"[\]]", &["]"]),
            (r"[\[-\]]", &["]", "[", "\\"]),
            ("[[:]", &["[", ":"]),
            ("[b-a]", &["b"]),
            ("[[:none:]]", &[]),
            ("[a", &[]),
            ("[[:alpha:]", &[]),
            ("a\\", &[]),
        ] {
            assert_eq!(all_matching(pattern, &paths), matching, "{pattern}");
        }
    }

    #[test]
    fn a_hostile_pattern_takes_no_time() {
        let pattern = "**/a*a*".repeat(50) + "b";
        let path = format!("{}c", "aaaa/aaaaaaaaaaa/".repeat(100));
        assert_eq!(all_matching(&pattern, &[&path]), [""; 0]);
    }
}
