//! The options of a walk.

use std::ffi::OsString;
use std::path::PathBuf;

use super::Exclude;
#[cfg(doc)]
use super::{Entry, Skip};

/// The options of a walk. The default walks everything below the argument and follows no links in
/// it. Start from the default and change fields.
///
/// ```
/// use lanesum_checksum::walk::{Exclude, WalkOptions};
///
/// let mut options = WalkOptions::default();
/// options.one_file_system = true;
/// options.exclude = Exclude::new(["*.tmp", "/cache/"])?;
/// # Ok::<(), lanesum_checksum::walk::BadPattern>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WalkOptions {
    /// Whether to follow symbolic links in the tree. Otherwise links are not entries, unless they
    /// are [reported](Self::report_links).
    pub follow: bool,
    /// Whether to report each link that is not followed as a [`Skip::Link`].
    pub report_links: bool,
    /// Whether to skip directories on other devices than the argument.
    pub one_file_system: bool,
    /// Whether to report each of these directories as a [`Skip::OtherDevice`].
    pub report_mounts: bool,
    /// Whether to exclude files that git ignores, and `.git` itself.
    ///
    /// With [`git`](Self::git), the list of git decides. Otherwise the rules decide: the
    /// `.gitignore` files in the tree and in its parents up to the root of the repository, and
    /// `info/exclude` of the repository. Without git, tracked files that match a rule are excluded,
    /// and the excludes file of the user is not read.
    ///
    /// An ignored directory given as argument is walked by the rules only. So are directories
    /// behind followed links, which git does not count as part of the repository.
    pub gitignore: bool,
    /// The git program that lists repositories for [`gitignore`](Self::gitignore). A bare name is
    /// looked up in `PATH`. `None` starts no process.
    ///
    /// For each repository in the walk, and for the one that contains the argument, the walk runs
    /// `git ls-files --cached --others --exclude-standard` and holds the listed paths. Files that
    /// git does not list, such as named pipes and files created later, are not entries. Variables
    /// like `GIT_DIR` are not passed on. If the program is missing, the rules decide. If git
    /// refuses, the rules decide and a [`Skip::ForeignGit`] or [`Skip::BrokenGit`] is reported.
    pub git: Option<PathBuf>,
    /// The patterns of entries to exclude.
    pub exclude: Exclude,
    /// The name of ignore files, such as `.lanesumignore`.
    ///
    /// A regular file of this name, in any directory of the walk, holds patterns in the syntax of
    /// `gitignore(5)`. They apply to that directory and everything below it.
    ///
    /// * The innermost ignore file with a pattern that matches decides. Within a file the last such
    ///   pattern decides, and `!` includes an entry again.
    /// * An excluded directory is not entered, so nothing below it can be included again.
    /// * Ignore files above the argument are not read. Links are not read either, unless the walk
    ///   [follows](Self::follow) them.
    /// * The ignore file itself is an ordinary entry of the walk.
    /// * An ignore file that cannot be read is an [`Entry::Failed`]. The walk continues without its
    ///   patterns.
    /// * An ignore file with an invalid pattern is an [`Entry::Failed`], too, with a
    ///   [`BadLine`](super::BadLine). The walk uses its other patterns.
    ///
    /// Git and [`gitignore`](Self::gitignore) have no effect on ignore files. An entry is excluded
    /// if either excludes it.
    pub ignore_file: Option<OsString>,
    /// Whether to report each file and directory that [`exclude`](Self::exclude) or an [ignore
    /// file](Self::ignore_file) excludes as a [`Skip::Excluded`]. The contents of an excluded
    /// directory are not reported.
    pub report_excluded: bool,
}
