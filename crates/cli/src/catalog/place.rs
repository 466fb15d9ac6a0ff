//! The path of the catalog, and opening or creating it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use lanesum_catalog::{Catalog, CatalogError};

use crate::args::Where;
use crate::failure::Hinted;

/// Returns the path of the catalog.
///
/// # Errors
/// There is no home directory, and the path is not given.
pub fn path(place: &Where) -> Result<PathBuf, Hinted> {
    if let Some(path) = named(place) {
        return Ok(path);
    }
    let directory = if rustix::process::geteuid().is_root() {
        Some(PathBuf::from("/var/lib"))
    } else {
        let state = variable("XDG_STATE_HOME").filter(|path| path.is_absolute());
        state.or_else(|| Some(variable("HOME")?.join(".local/state")))
    };
    directory.map(|directory| directory.join("lanesum/catalog.db")).ok_or_else(|| Hinted {
        words: "HOME is not set, so the catalog cannot be found".to_owned(),
        hint: "name it with --catalog FILE".to_owned(),
    })
}

/// Returns the path from the command line or the environment.
fn named(place: &Where) -> Option<PathBuf> {
    place.catalog.clone().or_else(|| variable("LANESUM_CATALOG"))
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns the catalog of the user who runs this program by sudo, if it may be the right one.
pub fn of_sudo_user(place: &Where) -> Option<String> {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root || named(place).is_some() {
        return None;
    }
    let user = env::var("SUDO_USER").ok().filter(|user| user != "root")?;
    let is_plain = user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    is_plain.then(|| format!("~{user}/.local/state/lanesum/catalog.db"))
}

/// Opens the catalog for reading.
///
/// # Errors
/// Errors of the catalog.
pub fn look(place: &Where) -> anyhow::Result<Catalog> {
    Ok(Catalog::look(&path(place)?)?)
}

/// Opens the catalog for writing. Other processes see `verb` as the activity of this one.
///
/// # Errors
/// Errors of the catalog.
pub fn open(place: &Where, verb: &str) -> anyhow::Result<Catalog> {
    Ok(Catalog::open_existing(&path(place)?, verb)?)
}

/// A catalog that an `add` writes to. If it was created by this process and the add fails, it is
/// removed again, with the directories created for it.
pub struct ForAdd {
    /// None during removal.
    catalog: Option<Catalog>,
    /// The file, if it was created.
    created: Option<PathBuf>,
    /// Directories that were created, the innermost first.
    directories: Vec<PathBuf>,
}

impl ForAdd {
    /// Opens or creates the catalog.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn open(place: &Where) -> anyhow::Result<Self> {
        let path = path(place)?;
        let is_there = path.symlink_metadata().is_ok();
        let mut made = Self { catalog: None, created: None, directories: vec![] };
        // A mistyped --catalog must not create directories.
        if place.catalog.is_none()
            && let Some(directory) = path.parent()
        {
            let missing = directory.ancestors().take_while(|it| !it.exists());
            made.directories = missing.map(Path::to_owned).collect();
            let created = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
            created.map_err(|error| CatalogError::Io { path: directory.to_owned(), error })?;
        }
        made.catalog = Some(Catalog::open(&path, "add")?);
        made.created = (!is_there).then_some(path);
        Ok(made)
    }

    /// The catalog.
    pub fn catalog(&mut self) -> &mut Catalog {
        self.catalog.as_mut().expect("it is opened when this value is made")
    }

    /// Returns the path of the catalog, if it was created.
    pub fn created(&self) -> Option<&Path> {
        self.created.as_deref()
    }

    /// Keeps the catalog.
    pub fn keep(mut self) -> Catalog {
        self.created = None;
        self.directories.clear();
        self.catalog.take().expect("it is opened when this value is made")
    }
}

impl Drop for ForAdd {
    fn drop(&mut self) {
        if let (Some(path), Some(catalog)) = (self.created.take(), self.catalog.take())
            && catalog.roots().is_ok_and(|roots| roots.is_empty())
        {
            for end in ["", "-wal", "-shm", "-lock"] {
                let mut name = OsString::from(&path);
                name.push(end);
                // Usually not all of them exist.
                let _ = fs::remove_file(name);
            }
        }
        for directory in &self.directories {
            // A directory with other files stays.
            let _ = fs::remove_dir(directory);
        }
    }
}
