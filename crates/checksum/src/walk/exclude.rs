//! Patterns of what a walk leaves out.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use globset::{Candidate, Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// Patterns of what a walk leaves out; the default leaves out nothing.
///
/// * A pattern without `/` is matched against the last part of a path: `*.tmp` at any depth.
/// * A pattern with `/` is matched against the whole path below the argument: `docs/*.txt`. A `/`
///   at its beginning says no more than that: `/target` is the entry of the argument alone.
/// * A `/` at the end restricts a pattern to folders and is not otherwise part of it: `cache/`.
/// * `*` and `?` match any bytes, respectively any one byte, but no `/`. `**/` at the beginning,
///   `/**/` inside and `/**` at the end match any number of folders. `[a-z]`, `[!a-z]` are sets,
///   `{a,b}` alternatives, and `\` takes the meaning of the character after it.
/// * Case matters. A name that begins with a dot is nothing special.
///
/// A folder that matches is not entered. The argument itself is never left out.
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
pub struct Exclude(Option<Arc<Sets>>);

struct Sets {
    patterns: Vec<String>,
    /// Patterns for entries of any kind.
    any: GlobSet,
    /// Patterns for folders only.
    folders: GlobSet,
}

/// A pattern that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bad pattern '{}': {reason}", .pattern.escape_debug())]
pub struct BadPattern {
    pattern: String,
    reason: String,
}

impl Exclude {
    /// From patterns, any of which leaves out what it matches.
    ///
    /// # Errors
    ///
    /// A pattern that is empty, is not UTF-8 (`?` stands for a byte that is not), or has a set or
    /// an alternative that is not closed.
    pub fn new<I>(patterns: I) -> Result<Self, BadPattern>
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let (mut any, mut folders) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let mut known = Vec::new();
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let bad = |reason| BadPattern { pattern: pattern.display().to_string(), reason };
            let (glob, folders_only) = parse(pattern).map_err(bad)?;
            if folders_only { &mut folders } else { &mut any }.add(glob);
            known.push(pattern.display().to_string());
        }
        if known.is_empty() {
            return Ok(Self::default());
        }
        let build = |set: &GlobSetBuilder| {
            set.build().map_err(|error| BadPattern {
                pattern: known.join(" "),
                reason: error.kind().to_string(),
            })
        };
        let (any, folders) = (build(&any)?, build(&folders)?);
        Ok(Self(Some(Arc::new(Sets { patterns: known, any, folders }))))
    }

    /// Whether there is no pattern.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether a pattern matches a path below the argument.
    #[must_use]
    pub fn matches(&self, path: &[u8], is_folder: bool) -> bool {
        self.0.as_deref().is_some_and(|sets| {
            let candidate = Candidate::new(Path::new(OsStr::from_bytes(path)));
            sets.any.is_match_candidate(&candidate)
                || is_folder && sets.folders.is_match_candidate(&candidate)
        })
    }
}

/// A pattern as a glob for paths, and whether it is for folders only; or what is wrong with it.
fn parse(pattern: &OsStr) -> Result<(Glob, bool), String> {
    let pattern = pattern.to_str().ok_or("not valid UTF-8; write ? for each byte that is not")?;
    let (path, folders_only) = match pattern.strip_suffix('/') {
        Some(path) => (path, true),
        None => (pattern, false),
    };
    let glob = match path.strip_prefix('/') {
        Some(anchored) => anchored.to_owned(),
        None if path.is_empty() || path.contains('/') => path.to_owned(),
        None => format!("**/{path}"),
    };
    if glob.is_empty() {
        return Err("it names nothing".to_owned());
    }
    let glob = GlobBuilder::new(&glob).literal_separator(true).backslash_escape(true).build();
    Ok((glob.map_err(|error| error.kind().to_string())?, folders_only))
}

impl fmt::Debug for Exclude {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().flat_map(|sets| &sets.patterns)).finish()
    }
}
