//! Patterns of entries that a walk excludes.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use super::glob::behind_set;
use super::pattern::{Pattern, first_invalid, name_of};

/// Patterns of entries that a walk excludes. The default excludes nothing.
///
/// * A pattern without `/` matches the last component of a path: `*.tmp` at any depth.
/// * A pattern with `/` matches the whole path below the argument: `docs/*.txt`. A leading `/` has
///   no other meaning: `/target` matches only the entry directly in the argument.
/// * A trailing `/` restricts a pattern to directories: `cache/`.
/// * All else is as in a `.gitignore`, but without `!`. `*` matches any bytes and `?` any single
///   byte, except `/`. `**/` at the start, `/**/` inside and `/**` at the end match any number of
///   directories. `[a-z]`, `[!a-z]` and `[[:digit:]]` are sets, and `\` escapes the next byte.
/// * `{a,b}` are alternatives, which can be nested, as in a shell.
/// * Patterns are case-sensitive. Names that start with a dot are not special.
///
/// A matching directory is not entered. The argument itself is never excluded.
///
/// ```
/// # use lanesum_checksum::walk::Exclude;
/// let exclude = Exclude::new(["*.tmp", "/target/", "docs/**/draft"])?;
/// assert!(exclude.matches(b"a/b.tmp", false));
/// assert!(exclude.matches(b"target", true) && !exclude.matches(b"target", false));
/// assert!(exclude.matches(b"docs/draft", false) && !exclude.matches(b"draft", false));
/// # Ok::<(), lanesum_checksum::walk::BadPattern>(())
/// ```
#[derive(Clone, Default)]
pub struct Exclude(Option<Arc<Patterns>>);

struct Patterns {
    given: Vec<OsString>,
    /// The patterns without alternatives.
    plain: Vec<Pattern>,
}

/// The largest number of patterns that alternatives may expand to.
const MOST_ALTERNATIVES: usize = 1_000;

/// The number of bytes of an invalid line that its error contains.
const LONGEST_SHOWN: usize = 80;

/// The error for an invalid pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid pattern '{}': {reason}", .pattern.escape_debug())]
pub struct BadPattern {
    pattern: String,
    reason: String,
}

/// The error of an [`Entry::Failed`](super::Entry::Failed) for an ignore file: a line has an
/// invalid pattern, which excludes nothing. Only the first such line of a file is reported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {pattern}")]
pub struct BadLine {
    line: usize,
    pattern: BadPattern,
}

impl BadLine {
    /// Returns the first invalid line of an ignore file.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let (line, pattern) = first_invalid(text)?;
        // A file of another kind may be one long line.
        let shown = &pattern[..pattern.len().min(LONGEST_SHOWN)];
        let pattern = String::from_utf8_lossy(shown).into_owned();
        let reason = UNSOUND.to_owned();
        Some(Self { line, pattern: BadPattern { pattern, reason } })
    }

    /// Returns the error in an error of the system, if it is one.
    #[must_use]
    pub fn in_error(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl Exclude {
    /// Makes a set of patterns. An entry is excluded if any pattern matches.
    ///
    /// # Errors
    ///
    /// Fails for a pattern that is empty, has an unclosed set or alternatives, an unknown class or
    /// a trailing `\`, or expands to more than 1,000 patterns.
    pub fn new<I>(patterns: I) -> Result<Self, BadPattern>
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let (mut given, mut plain) = (Vec::new(), Vec::new());
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let bad = |reason: &str| BadPattern {
                pattern: pattern.display().to_string(),
                reason: reason.to_owned(),
            };
            for alternative in alternatives(pattern.as_bytes()).map_err(bad)? {
                plain.push(parse(&alternative).map_err(bad)?);
            }
            given.push(pattern.to_owned());
        }
        Ok(Self((!given.is_empty()).then(|| Arc::new(Patterns { given, plain }))))
    }

    /// Returns whether there are no patterns.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns whether a pattern matches a path below the argument.
    #[must_use]
    pub fn matches(&self, path: &[u8], is_folder: bool) -> bool {
        let name = name_of(path);
        let mut patterns = self.0.iter().flat_map(|all| &all.plain);
        patterns.any(|pattern| pattern.matches_named(path, name, is_folder))
    }
}

/// Parses a pattern without alternatives, or returns its error.
fn parse(pattern: &[u8]) -> Result<Pattern, &'static str> {
    let named = pattern.strip_suffix(b"/").unwrap_or(pattern);
    if named.strip_prefix(b"/").unwrap_or(named).is_empty() {
        return Err("it names nothing");
    }
    let pattern = Pattern::plain(pattern);
    let is_sound = pattern.is_sound();
    is_sound.then_some(pattern).ok_or(UNSOUND)
}

const UNSOUND: &str = "unclosed [, unknown character class, or \\ at the end";

/// Expands the alternatives of a pattern, in order.
fn alternatives(pattern: &[u8]) -> Result<Vec<Vec<u8>>, &'static str> {
    let mut plain = Vec::new();
    let mut rest = vec![pattern.to_vec()];
    while let Some(pattern) = rest.pop() {
        let Some(cuts) = first_braces(&pattern)? else {
            plain.push(pattern);
            continue;
        };
        let [open, close] = [cuts[0], cuts[cuts.len() - 1]];
        let parts = cuts.windows(2).map(|cut| &pattern[cut[0] + 1..cut[1]]);
        rest.extend(parts.rev().map(|it| [&pattern[..open], it, &pattern[close + 1..]].concat()));
        if plain.len() + rest.len() > MOST_ALTERNATIVES {
            return Err("expands to more than 1,000 patterns; use * instead of some");
        }
    }
    Ok(plain)
}

/// Returns the positions of the start, the separators and the end of the first alternatives.
fn first_braces(pattern: &[u8]) -> Result<Option<Vec<usize>>, &'static str> {
    let (mut at, mut depth, mut cuts) = (0, 0_usize, Vec::new());
    while let Some(&byte) = pattern.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => at = behind_set(pattern, at + 1).ok_or(UNSOUND)? - 1,
            b'{' => depth += 1,
            b'}' => depth = depth.checked_sub(1).ok_or("} without {")?,
            _ => {}
        }
        let is_cut = match byte {
            b'{' | b',' => depth == 1,
            b'}' => depth == 0,
            _ => false,
        };
        if is_cut {
            cuts.push(at);
        }
        if byte == b'}' && depth == 0 {
            return Ok(Some(cuts));
        }
        at += 1;
    }
    if depth == 0 { Ok(None) } else { Err("unclosed {") }
}

impl fmt::Debug for Exclude {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().flat_map(|all| &all.given)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(pattern: &str) -> Result<Vec<String>, &'static str> {
        let plain = alternatives(pattern.as_bytes())?;
        Ok(plain.into_iter().map(|it| String::from_utf8(it).unwrap()).collect())
    }

    #[test]
    fn alternatives_expand_as_in_a_shell() {
        for (pattern, expected) in [
            ("a,b", &["a,b"][..]),
            ("{a}", &["a"]),
            ("{}", &[""]),
            ("x{a,,b}y", &["xay", "xy", "xby"]),
            ("{a,b}/{c,d}", &["a/c", "a/d", "b/c", "b/d"]),
            ("{a,{b,c}d}e", &["ae", "bde", "cde"]),
            ("[{,}]{[,}],b}", &["[{,}][,}]", "[{,}]b"]),
            (r"\{a,\}{b\,c,d}", &[r"\{a,\}b\,c", r"\{a,\}d"]),
        ] {
            assert_eq!(plain(pattern).unwrap(), expected, "{pattern}");
        }
    }

    #[test]
    fn unclosed_or_too_many_alternatives_are_errors() {
        for (pattern, reason) in [
            ("{a", "unclosed {"),
            ("{a,{b}", "unclosed {"),
            ("a}", "} without {"),
            ("{[a}", UNSOUND),
        ] {
            assert_eq!(plain(pattern), Err(reason), "{pattern}");
        }
        assert_eq!(plain(&"{a,b}".repeat(9)).unwrap().len(), 512);
        assert!(plain(&"{a,b}".repeat(10_000)).unwrap_err().contains("1,000"));
    }
}
