//! What was hashed so far, beside a list that is not whole: `LIST.partial`.

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

/// The journal of a run, for those that print and end it.
#[derive(Clone)]
pub struct Partial {
    journal: Arc<Journal>,
    resumes: bool,
    /// What the journal is for, and how to go on with it.
    remedy: &'static str,
}

impl Partial {
    /// That of a list. `None` where nothing can be kept, and that was not asked for.
    ///
    /// # Errors
    /// Somebody asked for it, or another run writes this list.
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
            // Whatever is wrong with the folder, the list itself will meet.
            Err(JournalError::Io(_) | JournalError::Link) if !resume => return Ok(None),
            journal => journal.with_context(|| shown(path))?,
        };
        let remedy = "--resume continues from there";
        Ok(Some(Self { journal: Arc::new(journal), resumes: resume, remedy }))
    }

    /// That of a check of these lists.
    ///
    /// # Errors
    /// It cannot be made or read, is something else, or another check's.
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

    /// Tells how much of it was used.
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

    /// Tells of what somebody may have wanted to go on with.
    pub fn begun(&self, console: &mut Console) {
        if !self.resumes && self.held() > 0 {
            let words = format!(
                "records {} of an interrupted run, which are read again",
                files(self.held())
            );
            self.tell(console, &words);
            console.hint("--resume continues that run");
        }
    }

    pub fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// Writes what is kept, or removes the journal where that is nothing; whether it is there, and
    /// none where the run had ended. The process ends now.
    pub fn save(&self) -> Option<bool> {
        if self.journal.is_ended() {
            return None;
        }
        self.journal.write();
        let is_kept = self.held() > 0;
        if !is_kept {
            // There is no better moment to tell that it failed.
            let _ = self.journal.remove();
        }
        Some(is_kept)
    }

    /// The run came to its end, and what it was for is there. So many of the files that it held
    /// were used: where that is none, it may be another run's, and stays.
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

    /// The run came to its end, and there is no list.
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

    /// Tells how much it holds, and how to go on.
    pub fn tell_kept(&self, console: &mut Console) {
        self.tell(console, &format!("records {}", files(self.held())));
        console.hint(self.remedy);
    }

    fn tell(&self, console: &mut Console, words: &str) {
        console.about(self.journal.path().as_os_str().as_bytes(), words);
    }
}
