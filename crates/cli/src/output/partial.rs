//! The journal of an incomplete list, `LIST.partial`, or of a check.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use lanesum_checksum::Key;
use lanesum_checksum::check::List;
use lanesum_checksum::engine::{Io, inode_of};
use lanesum_checksum::error::message;
use lanesum_checksum::journal::{Begin, Journal, JournalError, Purpose};

use rustix::fs::stat;

use super::Target;
use crate::console::{Console, shown};
use crate::counts::files;
use crate::failure::{Hinted, Usage};
use crate::stdin;

/// The journal of a run, shared by the code that prints and that ends the run.
#[derive(Clone)]
pub struct Partial {
    journal: Arc<Journal>,
    resumes: bool,
    /// The purpose of the journal, and how to continue.
    remedy: &'static str,
}

impl Partial {
    /// Opens the journal of a list. Returns `None` if nothing can be recorded and `--resume` is not
    /// given.
    ///
    /// # Errors
    /// With `--resume` the journal cannot be opened, or another run writes this list.
    pub fn of_list(
        target: &Target,
        resume: bool,
        io: Io,
        key: Option<&Key>,
    ) -> anyhow::Result<Option<Self>> {
        let Target::File { path, .. } = target else {
            return match resume {
                true => Err(Usage("--resume needs a file: --output FILE".to_owned()).into()),
                false => Ok(None),
            };
        };
        let begin = if resume { Begin::Resumed } else { Begin::Anew };
        let mut name = OsString::from(path);
        name.push(".partial");
        let path = PathBuf::from(name);
        let purpose = if io == Io::Direct { Purpose::DirectList } else { Purpose::List };
        let journal = match Journal::open(&path, purpose, key, begin) {
            // Other problems of the directory also affect the list, which reports them.
            Err(JournalError::Io(_) | JournalError::Link) if !resume => return Ok(None),
            journal => journal.with_context(|| shown(path))?,
        };
        let remedy = "--resume continues from there";
        Ok(Some(Self { journal: Arc::new(journal), resumes: resume, remedy }))
    }

    /// Opens the journal of a check of these lists.
    ///
    /// # Errors
    /// It cannot be created or read, is something else, or is the journal of another check.
    pub fn of_check(
        state: &Path,
        lists: &[List],
        io: Io,
        key: Option<&Key>,
    ) -> anyhow::Result<Self> {
        let there = stat(state).ok().map(|there| inode_of(&there));
        let is_state = |list: &List| match list {
            List::Path(path) => stat(path).ok().map(|list| inode_of(&list)) == there,
            List::Stdin => false,
        };
        if there.is_some() && lists.iter().any(is_state) {
            let state = shown(state);
            let words = format!("--resume {state}: is a list, not a state of a check");
            return Err(Hinted::new(words, "lanesum check --resume STATE LIST").into());
        }
        if stdin::is_meant_by(state) {
            return Err(Usage("--resume cannot keep its state in standard input".to_owned()).into());
        }
        let purpose = if io == Io::Direct { Purpose::DirectCheck } else { Purpose::Check };
        let journal = Journal::open(state, purpose, key, Begin::Resumed);
        let journal = journal.with_context(|| shown(state))?;
        let remedy = "--resume with this file continues from there";
        Ok(Self { journal: Arc::new(journal), resumes: true, remedy })
    }

    /// Reports how much of the journal was used.
    pub fn tell_taken(&self, taken: u64, console: &mut Console) {
        let what = match taken {
            0 => return,
            1 => "is unchanged and was not read again",
            _ => "are unchanged and were not read again",
        };
        let mut words = format!("{} {what}", files(taken));
        let mut time = Vec::new();
        if self.journal.written().is_some_and(|written| written.write_rfc3339(&mut time)) {
            let seconds = time.split(|&byte| byte == b'.' || byte == b'Z').next();
            let seconds = String::from_utf8_lossy(seconds.unwrap_or_default()).into_owned();
            words.push_str(&format!("; last written at {seconds}Z"));
        }
        self.tell(console, &words);
    }

    /// Reports an interrupted run that the user may want to continue.
    pub fn begun(&self, console: &mut Console) {
        if !self.resumes && self.held() > 0 {
            let words = format!(
                "records {} of a run that wrote no list; this run reads them again",
                files(self.held())
            );
            self.tell(console, &words);
            console.hint("--resume continues that run");
        }
    }

    pub fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// Writes the journal, or removes it if it is empty. Returns whether it exists, and None if the
    /// run had ended. The process ends now.
    pub fn save(&self) -> Option<bool> {
        if self.journal.is_ended() {
            return None;
        }
        self.journal.write();
        let is_kept = self.held() > 0;
        if !is_kept {
            // The failure is reported now, because the process ends.
            let _ = self.journal.remove();
        }
        Some(is_kept)
    }

    /// Removes the journal after a complete run. `used` is the number of its records that were
    /// used. If there were none, the journal may be about another run and stays.
    pub fn done(&self, taken: u64, console: &mut Console) {
        if self.resumes && taken == 0 && !self.journal.is_empty() {
            let words = format!(
                "kept, because none of its {} was used: changed, or with other names or algorithms",
                files(self.journal.len() as u64)
            );
            return self.tell(console, &words);
        }
        self.remove(console);
    }

    fn remove(&self, console: &mut Console) {
        if let Err(error) = self.journal.remove() {
            let words = format!("no longer needed, but not removed: {}", message(&error));
            self.tell(console, &words);
        }
    }

    /// Handles the end of a run without a list.
    pub fn failed(&self, console: &mut Console) {
        self.journal.write();
        if self.held() == 0 {
            return self.remove(console);
        }
        match self.journal.close() {
            Ok(()) => self.tell_kept(console),
            Err(error) => {
                self.tell_kept(console);
                self.tell(console, &format!("cannot record more: {}", message(&error)));
            }
        }
    }

    fn held(&self) -> u64 {
        self.journal.len() as u64 + self.journal.kept()
    }

    /// Reports how much the journal has, and how to continue.
    pub fn tell_kept(&self, console: &mut Console) {
        self.tell(console, &format!("records {}", files(self.held())));
        console.hint(self.remedy);
    }

    fn tell(&self, console: &mut Console, words: &str) {
        console.about(self.journal.path().as_os_str().as_bytes(), words);
    }
}
