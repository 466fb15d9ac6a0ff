//! One pattern of a `.gitignore` file, in bytes, as git reads it.
//!
//! gitignore(5) says what patterns mean. Where git does something else than it says, this does what
//! git does, which `tests/walk/git.rs` holds against git itself:
//!
//! * Only spaces at the end of a line fall away, not tabs, and none behind a `\`.
//! * A set that is not closed, a class that does not exist and a `\` at the end match nothing.
//! * `**` is any number of folders also where a prefix without wildcards comes before it: `a**/b`.
//!
//! # How it matches
//!
//! A pattern is a row of tokens, matched from the left. What takes any number of bytes takes as few
//! as it can at first. When a token fails, the last `*` takes one byte more; when it stands before
//! a `/`, the last `**` does. None before those need be tried again: a `*` ends at the next `/`
//! whatever it took, and all that an earlier `**` could take besides, the last one can take as
//! well. So the time is at most the product of both lengths.

/// A pattern, and what it is about.
#[derive(Debug)]
pub(super) struct Pattern {
    /// None of one that matches nothing.
    tokens: Option<Box<[Token]>>,
    /// It takes back what others ignore.
    pub(super) is_negation: bool,
    is_for_folders: bool,
    /// Matched against the last part of a path, not the whole.
    is_for_names: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// These bytes.
    Literal(Vec<u8>),
    /// One byte of these, none of which is `/`.
    One(Set),
    /// Bytes but `/`.
    Name,
    /// Any bytes.
    Anything,
    /// Nothing, or any bytes and a `/` behind them.
    Folders,
}

/// All patterns of a file.
pub(super) fn patterns(text: &[u8]) -> impl Iterator<Item = Pattern> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    text.split(|&byte| byte == b'\n').filter_map(|line| {
        if line.is_empty() || line.starts_with(b"#") {
            return None;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // To git a line is a string of C.
        let line = line.split(|&byte| byte == 0).next().unwrap_or_default();
        Some(Pattern::new(without_blanks(line)))
    })
}

/// A line without the spaces at its end that no `\` takes the meaning of.
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
        let (line, is_for_folders) = without(line.strip_suffix(b"/"), line);
        let is_for_names = !line.contains(&b'/');
        let tokens = parse(line.strip_prefix(b"/").unwrap_or(line));
        let tokens = tokens.map(Vec::into_boxed_slice);
        Self { tokens, is_negation, is_for_folders, is_for_names }
    }

    /// Whether it matches a path relative to the folder of its file.
    pub(super) fn matches(&self, path: &[u8], is_folder: bool) -> bool {
        let text = match path.iter().rposition(|&byte| byte == b'/') {
            Some(slash) if self.is_for_names => &path[slash + 1..],
            _ => path,
        };
        (is_folder || !self.is_for_folders)
            && self.tokens.as_ref().is_some_and(|tokens| matches(tokens, text))
    }
}

/// What is left of a line without something, and whether it was there.
fn without<'a>(rest: Option<&'a [u8]>, line: &'a [u8]) -> (&'a [u8], bool) {
    (rest.unwrap_or(line), rest.is_some())
}

/// The tokens of a pattern; `None` when it matches nothing.
fn parse(pattern: &[u8]) -> Option<Vec<Token>> {
    let is_special = |byte: &u8| b"*?[\\".contains(byte);
    let prefix = pattern.iter().position(is_special).unwrap_or(pattern.len());
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = pattern.get(at) {
        at += 1;
        let literal = match byte {
            b'*' => {
                let first = at - 1;
                at += pattern[at..].iter().take_while(|&&byte| byte == b'*').count();
                let is_deep = at - first > 1 && (first == prefix || pattern[first - 1] == b'/');
                let (token, more) = match &pattern[at..] {
                    [b'/', ..] if is_deep => (Token::Folders, 1),
                    [] | [b'\\', b'/', ..] if is_deep => (Token::Anything, 0),
                    _ => (Token::Name, 0),
                };
                at += more;
                tokens.push(token);
                continue;
            }
            b'?' => {
                tokens.push(Token::One(Set::default().inverted()));
                continue;
            }
            b'[' => {
                let (set, end) = Set::parse(pattern, at)?;
                tokens.push(Token::One(set));
                at = end;
                continue;
            }
            b'\\' => {
                at += 1;
                *pattern.get(at - 1)?
            }
            other => other,
        };
        match tokens.last_mut() {
            Some(Token::Literal(bytes)) => bytes.push(literal),
            _ => tokens.push(Token::Literal(vec![literal])),
        }
    }
    Some(tokens)
}

/// Whether tokens match a whole text.
fn matches(tokens: &[Token], text: &[u8]) -> bool {
    let (mut token, mut at) = (0, 0);
    // The token behind the last one of each kind, and up to where that took bytes.
    let mut name: Option<(usize, usize)> = None;
    let mut deep: Option<(usize, usize)> = None;
    loop {
        let rest = &text[at..];
        let taken = match tokens.get(token) {
            None if rest.is_empty() => return true,
            None => None,
            Some(Token::Literal(bytes)) => rest.starts_with(bytes).then(|| {
                if bytes.contains(&b'/') {
                    name = None;
                }
                bytes.len()
            }),
            Some(Token::One(set)) => {
                rest.first().is_some_and(|&byte| set.contains(byte)).then_some(1)
            }
            Some(Token::Name) => {
                name = Some((token + 1, at));
                Some(0)
            }
            Some(Token::Anything | Token::Folders) => {
                (name, deep) = (None, Some((token + 1, at)));
                Some(0)
            }
        };
        if let Some(count) = taken {
            (token, at) = (token + 1, at + count);
        } else if let Some((behind, end)) = name
            && text.get(end).is_some_and(|&byte| byte != b'/')
        {
            (token, at, name) = (behind, end + 1, Some((behind, end + 1)));
        } else if let Some((behind, end)) = deep
            && let Some(more) = match tokens[behind - 1] {
                Token::Folders => text[end..].iter().position(|&byte| byte == b'/'),
                _ => (end < text.len()).then_some(0),
            }
        {
            (token, at, name) = (behind, end + more + 1, None);
            deep = Some((token, at));
        } else {
            return false;
        }
    }
}

/// A set of bytes, without `/`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Set([u64; 4]);

impl Set {
    /// The set whose first element stands at `at` in a pattern, and where the pattern goes on;
    /// `None` when it has no end, or a class that does not exist.
    fn parse(pattern: &[u8], mut at: usize) -> Option<(Self, usize)> {
        let byte_at = |at: usize| pattern.get(at).copied();
        let is_inverted = matches!(byte_at(at)?, b'!' | b'^');
        at += usize::from(is_inverted);
        let begin = at;
        let mut set = Self::default();
        // Where a range would begin.
        let mut previous = None;
        while at == begin || byte_at(at)? != b']' {
            let mut byte = byte_at(at)?;
            let escaped = |at: usize| match byte_at(at)? {
                b'\\' => Some((at + 1, byte_at(at + 1)?)),
                byte => Some((at, byte)),
            };
            let class = match (byte, byte_at(at + 1)) {
                (b'[', Some(b':')) => {
                    let length = pattern[at + 2..].iter().position(|&byte| byte == b']')?;
                    pattern[at + 2..][..length].strip_suffix(b":")
                }
                _ => None,
            };
            if let Some(class) = class {
                (0..=u8::MAX).filter(class_of(class)?).for_each(|byte| set.insert(byte));
                at += class.len() + 3;
                previous = None;
            } else if let (b'-', Some(from), Some(_)) =
                (byte, previous, byte_at(at + 1).filter(|&next| next != b']'))
            {
                let to;
                (at, to) = escaped(at + 1)?;
                (from..=to).for_each(|byte| set.insert(byte));
                previous = None;
            } else {
                (at, byte) = escaped(at)?;
                set.insert(byte);
                previous = Some(byte);
            }
            at += 1;
        }
        let mut set = if is_inverted { set.inverted() } else { set };
        set.remove(b'/');
        Some((set, at + 1))
    }

    fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] & 1 << (byte % 64) != 0
    }

    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] |= 1 << (byte % 64);
    }

    fn remove(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] &= !(1 << (byte % 64));
    }

    /// All bytes but those and `/`.
    fn inverted(self) -> Self {
        let mut inverted = Self(self.0.map(|bits| !bits));
        inverted.remove(b'/');
        inverted
    }
}

/// Whether a byte is of a class, as in `[[:alpha:]]`; `None` when there is no such class.
fn class_of(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| b" \t".contains(byte),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| (b' '..=b'~').contains(byte),
        b"punct" => u8::is_ascii_punctuation,
        // Without the vertical tab and the form feed.
        b"space" => |byte| b" \t\r\n".contains(byte),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_at_the_end_fall_away_but_for_those_that_are_escaped() {
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
    fn a_file_has_a_pattern_for_each_line_that_is_neither_empty_nor_a_comment() {
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
    fn stars_take_what_they_may() {
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
    fn sets_are_gits() {
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
