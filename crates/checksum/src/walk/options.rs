//! How to walk.

use std::ffi::OsString;
use std::path::PathBuf;

use super::Exclude;
#[cfg(doc)]
use super::{Entry, Skip};

/// How to walk. The default walks everything below the argument and follows no link in it; other
/// walks change it field by field.
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
    /// Follow the symbolic links inside the tree. Without it they are not entries at all, unless
    /// they are to be [told](Self::tell_links).
    pub follow: bool,
    /// Say which links are not followed: each is a [`Skip::Link`].
    pub tell_links: bool,
    /// Do not enter directories that lie on another device than the argument.
    pub one_file_system: bool,
    /// Say which directories are not entered for that: each is a [`Skip::OtherDevice`].
    pub tell_mounts: bool,
    /// Leave out what git would ignore, and `.git` itself.
    ///
    /// Where [`git`](Self::git) can be asked, what it lists is what there is. Otherwise the rules
    /// decide alone: those of the `.gitignore` files in the tree and in the directories above it up
    /// to the root of its repository, and of the repository's `info/exclude`. A file that git
    /// tracks although a rule ignores it is left out then, and the user's own excludes file is not
    /// read.
    ///
    /// An argument that a rule ignores is walked by the rules alone, for it was asked for by name;
    /// and so is what lies behind a link that is followed, which to git is not in the repository.
    pub gitignore: bool,
    /// The git program to ask, with [`gitignore`](Self::gitignore), what belongs to a repository;
    /// looked for in `PATH` when it is a bare name. `None` starts no process.
    ///
    /// For each repository that the walk comes to, and for one that the argument lies in, it runs
    /// `git ls-files --cached --others --exclude-standard` and holds the paths that this lists.
    /// What git does not list (a named pipe, a file that comes later) is no entry. Variables like
    /// `GIT_DIR` do not reach it. Without such a program the rules decide alone; where git refuses,
    /// [`Skip::ForeignGit`] or [`Skip::BrokenGit`] says so as well.
    pub git: Option<PathBuf>,
    /// What to leave out.
    pub exclude: Exclude,
    /// The name of ignore files, such as `.lanesumignore`.
    ///
    /// A regular file of this name, in any directory of the walk, holds patterns in the syntax of
    /// `gitignore(5)`. They apply to that directory and everything below it.
    ///
    /// * The innermost ignore file with a pattern that matches decides. Within a file the last such
    ///   pattern decides, and `!` includes an entry again.
    /// * An excluded directory is not entered, so nothing below it can be included again.
    /// * Ignore files above the argument are not read. Neither are links, unless the walk
    ///   [follows](Self::follow) them.
    /// * The ignore file itself is an ordinary entry of the walk.
    /// * An ignore file that cannot be read is an [`Entry::Failed`]. The walk goes on
    ///   without its patterns.
    ///
    /// Git and [`gitignore`](Self::gitignore) have no effect on ignore files: an entry is left out
    /// if either excludes it.
    pub ignore_file: Option<OsString>,
    /// Report each file and directory that [`exclude`](Self::exclude) or an
    /// [ignore file](Self::ignore_file) leaves out, as a [`Skip::Excluded`]. The content of an
    /// excluded directory is not reported.
    pub tell_excluded: bool,
}
