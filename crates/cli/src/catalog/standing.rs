//! The state of roots from stored data: the verdict, the table, and problems with hints.

use std::collections::BTreeMap;
use std::path::PathBuf;

use indicatif::{DecimalBytes, HumanCount};
use lanesum_catalog::{
    Attention, Catalog, CatalogError, Class, Counts, FileFilter, FileStatus, Outcome, Pending,
    Profile, Reason, Root, RootStatus,
};

use super::commands::Commands;
use super::print::name;
use super::summary::ORDER;
use super::table::{self, Align};
use super::targets::roots;
use super::times::{age, moment};
use super::{Code, offline};
use crate::console::Console;
use crate::counts::{counted, files};

/// The state of the requested roots.
pub struct Standing {
    pub roots: Vec<RootStatus>,
    pub now: i64,
    /// The days of `--max-age`.
    pub max_age: u32,
    /// The ids of the roots in which no run has finished for so long.
    pub stale: Vec<i64>,
}

impl Standing {
    /// Reads the state, of all roots if no directory is given.
    ///
    /// # Errors
    /// Errors of the catalog, or a directory is not a root.
    pub fn of(
        catalog: &Catalog,
        directories: &[PathBuf],
        commands: Commands<'_>,
        now: i64,
    ) -> anyhow::Result<Self> {
        let asked = roots(catalog, directories, commands)?;
        let mut all = catalog.status(now)?;
        all.retain(|it| asked.iter().any(|root| root.id() == it.root.id()));
        Ok(Self { roots: all, now, max_age: 0, stale: Vec::new() })
    }

    /// Returns the exit code.
    pub fn code(&self) -> Code {
        if self.roots.iter().any(is_catalog_damaged) {
            return Code::CatalogDamaged;
        }
        let stale = if self.stale.is_empty() { Code::Nothing } else { Code::Incomplete };
        self.roots.iter().map(|it| it.attention().into()).fold(stale, Code::max)
    }

    /// Returns whether no run has finished in a root in the time of `--max-age`.
    pub fn is_stale(&self, it: &RootStatus) -> bool {
        self.stale.contains(&it.root.id())
    }

    /// Returns the message about such a root.
    pub fn stale_words(&self) -> String {
        format!("no run has finished in the last {} d", self.max_age)
    }

    /// Returns the number of files by class, including new ones.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::new();
        for it in &self.roots {
            for (class, count) in &it.standing {
                *counts.entry(*class).or_default() += count;
            }
            *counts.entry(Class::New).or_default() += it.new;
        }
        counts
    }

    /// Returns the number of overdue files.
    pub fn overdue(&self) -> u64 {
        self.roots.iter().map(|it| it.overdue).sum()
    }

    /// Returns `2 damaged, 1 missing; 6,549 ok`, or `6,551 files ok`.
    pub fn verdict(&self) -> String {
        let online = self.roots.iter().filter(|it| it.root.offline.is_none());
        let ok = online.map(ok_count).sum();
        match self.problems() {
            Some(words) => format!("{words}; {} ok", HumanCount(ok)),
            None => format!("{} ok", files(ok)),
        }
    }

    /// Returns all problems and changes, and says whether the check is incomplete: `incomplete: 1
    /// directory offline`.
    pub fn problems(&self) -> Option<String> {
        let words = self.counted().join(", ");
        let is_incomplete = self.code() == Code::Incomplete;
        let words = if is_incomplete { format!("incomplete: {words}") } else { words };
        (!words.is_empty()).then_some(words)
    }

    /// Returns the numbers of all problems and changes.
    fn counted(&self) -> Vec<String> {
        let mut counts = self.counts();
        *counts.entry(Class::Unchecked).or_default() +=
            self.roots.iter().map(blind_count).sum::<u64>();
        let of_class = ORDER.into_iter().filter(|class| *class != Class::Ok).filter_map(|class| {
            Some((counts.get(&class).copied()?, class.name())).filter(|(count, _)| *count > 0)
        });
        let roots = |is_it: fn(&RootStatus) -> bool| {
            self.roots.iter().filter(|it| is_it(it)).count() as u64
        };
        let overdue = Some((self.overdue(), "overdue")).filter(|(count, _)| *count > 0);
        let stale = format!("without a finished run in {} d", self.max_age);
        let states = [
            (roots(|it| it.are_edits_refused), "not updated"),
            (roots(|it| it.root.offline.is_some()), "offline"),
            (roots(|it| it.root.steering.paused.is_some()), "paused"),
            (roots(|it| !it.root.is_complete), "not fully recorded"),
            (self.stale.len() as u64, &stale),
        ];
        let states = states
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{} {word}", counted(count, "directory", "directories")));
        let of_files =
            of_class.chain(overdue).map(|(count, word)| format!("{} {word}", HumanCount(count)));
        let damaged = (roots(is_catalog_damaged) > 0).then(|| "catalog damaged".to_owned());
        damaged.into_iter().chain(of_files).chain(states).collect()
    }

    /// Returns a line for each root.
    pub fn table(&self, console: &Console) -> Vec<String> {
        let header = [
            ("DIRECTORY", Align::Left),
            ("FILES", Align::Right),
            ("SIZE", Align::Right),
            ("OK", Align::Right),
            ("PROBLEMS", Align::Right),
            ("OLDEST CHECK", Align::Right),
            ("NEXT DUE", Align::Left),
        ];
        let row = |it: &RootStatus| {
            [
                console.shown(&it.root.path),
                HumanCount(it.files).to_string(),
                DecimalBytes(it.root.bytes.cast_unsigned()).to_string(),
                match it.root.offline {
                    Some(_) => "-".to_owned(),
                    None => HumanCount(ok_count(it)).to_string(),
                },
                self.problems_of(it),
                it.oldest.map_or_else(|| "-".to_owned(), |oldest| age(self.now - oldest)),
                match it.next_due {
                    _ if it.due > 0 => format!("now: {}", files(it.due)),
                    Some(next) => moment(next),
                    None => "-".to_owned(),
                },
            ]
        };
        let rows: Vec<_> = self.roots.iter().map(row).collect();
        table::lines(header, &rows)
    }

    /// Returns the number of a root's problems, or a word if it has none and is incomplete.
    fn problems_of(&self, it: &RootStatus) -> String {
        let is_incomplete = it.attention() == Attention::Incomplete || self.is_stale(it);
        match bad_count(it) + blind_count(it) + it.overdue {
            _ if it.root.offline.is_some() => "offline".to_owned(),
            0 if is_incomplete => "incomplete".to_owned(),
            count => HumanCount(count).to_string(),
        }
    }

    /// Returns notices about a root, each with a command if there is something to do.
    pub fn notices(
        &self,
        it: &RootStatus,
        commands: Commands<'_>,
    ) -> Vec<(String, Option<String>)> {
        let mut notices = notices(it, commands);
        if self.is_stale(it) {
            let update = commands.about("update", &it.root.path);
            notices.push((self.stale_words(), Some(update)));
        }
        notices
    }

    /// Returns the root of a file.
    pub fn root_of(&self, id: i64) -> Option<&Root> {
        self.roots.iter().map(|it| &it.root).find(|root| root.id() == id)
    }

    /// Returns whether a file of this class needs attention in its root.
    pub fn is_problem(&self, file: &FileStatus) -> bool {
        let profile = self.root_of(file.root).map(|root| root.settings.profile);
        let attention = |it| Attention::of(file.class, file.reason, it);
        profile.is_some_and(|it| attention(it) > Attention::Changes)
    }

    /// Returns files that need attention, damaged ones first, and at most `most` of each class.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn bad_files(
        &self,
        catalog: &Catalog,
        most: usize,
    ) -> Result<Vec<FileStatus>, CatalogError> {
        let mut bad: BTreeMap<usize, Vec<FileStatus>> = BTreeMap::new();
        if self.roots.iter().all(|it| bad_count(it) == 0) {
            return Ok(Vec::new());
        }
        let mut filter = FileFilter::default();
        filter.only_bad = true;
        catalog.files(&filter, &mut |file| {
            let rank = ORDER.iter().position(|class| *class == file.class);
            let known = bad.entry(rank.unwrap_or(ORDER.len())).or_default();
            if known.len() < most && self.is_problem(&file) {
                known.push(file);
            }
            Ok(())
        })?;
        Ok(bad.into_values().flatten().collect())
    }

    /// Returns directories with recorded files that the last scan could not read.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn unread_directories(&self, catalog: &Catalog) -> Result<Vec<Pending>, CatalogError> {
        let mut unread = Vec::new();
        for it in &self.roots {
            let pending = catalog.pending(&it.root)?;
            unread.extend(pending.into_iter().filter(|it| it.class == Class::Unchecked));
        }
        Ok(unread)
    }
}

/// Returns the number of a root's files in this class.
pub fn of_class(it: &RootStatus, class: Class) -> u64 {
    it.standing.get(&class).copied().unwrap_or(0)
}

/// Returns the number of a root's files that are as recorded. Overdue files, and those in
/// directories that cannot be read, are counted separately.
fn ok_count(it: &RootStatus) -> u64 {
    of_class(it, Class::Ok).saturating_sub(it.overdue + it.unknown)
}

fn is_catalog_damaged(it: &RootStatus) -> bool {
    it.last.as_ref().is_some_and(|run| run.outcome == Outcome::CatalogDamaged)
}

/// Returns the number of files and directories that the last scan could not read: records in such
/// directories, and entries without records.
pub const fn blind_count(it: &RootStatus) -> u64 {
    it.unknown + it.unreadable
}

/// Returns the number of a root's records that need attention.
pub fn bad_count(it: &RootStatus) -> u64 {
    let missing = match it.root.settings.profile {
        Profile::Working => 0,
        _ => of_class(it, Class::Missing),
    };
    of_class(it, Class::Damaged) + of_class(it, Class::Unchecked) + missing
}

/// Returns a file as a line: class, path and reason.
pub fn file_line(file: &FileStatus, console: &Console) -> Vec<u8> {
    let mut line = format!("{:<8} ", file.class).into_bytes();
    console.quote(&mut line, name(&file.path));
    if let Some(moved) = &file.moved_to {
        line.extend_from_slice(b" -> ");
        console.quote(&mut line, name(moved));
    }
    let reason = match (file.reason, &file.error) {
        (Some(Reason::IoError), Some(error)) => Some(format!("io-error: {error}")),
        (reason, _) => reason.map(|reason| reason_words(reason).to_owned()),
    };
    if let Some(reason) = reason {
        line.extend_from_slice(format!(" ({reason})").as_bytes());
    }
    line.push(b'\n');
    line
}

/// Returns a reason as words. JSON has its name.
pub const fn reason_words(reason: Reason) -> &'static str {
    match reason {
        Reason::Content => "content changed, size and time unchanged",
        Reason::Size => "longer, time unchanged",
        Reason::Truncated => "shorter, time unchanged",
        Reason::Rewritten => "rewritten, time unchanged",
        Reason::Replaced => "replaced by a different file, time unchanged",
        Reason::Unstable => "two reads gave different contents",
        Reason::Older => "older than the recorded version",
        Reason::Listed => "content differs from an imported list",
        Reason::OtherVolume => "a different disk or directory is there",
        reason => reason.name(),
    }
}

/// Returns an unreadable directory as a line.
pub fn pending_line(it: &Pending, console: &Console) -> Vec<u8> {
    let mut line = format!("{:<8} ", it.class).into_bytes();
    console.quote(&mut line, name(&it.path));
    // A file without a record counts no records.
    let records = (it.files > 0).then(|| files(it.files));
    let words: Vec<_> =
        it.reason.map(|reason| reason.to_string()).into_iter().chain(records).collect();
    line.extend_from_slice(format!(" ({})\n", words.join("; ")).as_bytes());
    line
}

/// Returns the hints for a file.
pub fn file_hints(file: &FileStatus, commands: Commands<'_>) -> Vec<String> {
    let path = file.moved_to.as_ref().unwrap_or(&file.path);
    match file.class {
        Class::Damaged => vec![
            format!("restore it from a backup, then: {}", commands.about("verify", path)),
            format!("if it is right as it is: {}", commands.about("accept", path)),
        ],
        Class::Missing => {
            vec![format!("restore it, or: {}", commands.about("forget", &file.path))]
        }
        _ => vec![unchecked_hint(file.reason, &commands.about("verify", path))],
    }
}

/// Returns the hint for a file or directory that could not be checked.
fn unchecked_hint(reason: Option<Reason>, verify: &str) -> String {
    match reason {
        Some(Reason::Permission) => {
            format!("give this user permission to read it, then: {verify}")
        }
        Some(Reason::IoError) => format!("check the disk and its cable, then: {verify}"),
        Some(Reason::MountedOver) => format!("unmount what is mounted over it, then: {verify}"),
        _ => verify.to_owned(),
    }
}

/// Returns the hint for a directory that could not be read, or a file without a record.
pub fn pending_hint(it: &Pending, commands: Commands<'_>) -> String {
    // Only a run over all of the root finds that the directory can be read again.
    unchecked_hint(it.reason, &commands.of("update"))
}

/// Returns notices about the stored state of a root.
fn notices(it: &RootStatus, commands: Commands<'_>) -> Vec<(String, Option<String>)> {
    let root = &it.root;
    let command = |verb: &str| Some(commands.about(verb, &root.path));
    let mut notices = Vec::new();
    if let Some(offline) = &root.offline {
        let renamed = root.find_renamed().filter(|_| offline.reason == Reason::Missing);
        let why = match renamed {
            Some(path) => format!("renamed to {}", commands.console.shown(path)),
            None => offline::words(offline),
        };
        let words = format!("offline since {}: {why}", moment(offline.since));
        notices.push((words, Some(offline::hint(root, offline.reason, commands))));
    }
    if let Some(since) = root.steering.paused {
        notices.push((format!("paused since {}", moment(since)), command("resume")));
    }
    if it.are_edits_refused {
        notices.push((
            "the last update stopped at too many edits; restore a backup, or if they are right:"
                .to_owned(),
            command("update --force"),
        ));
    }
    if is_catalog_damaged(it) {
        notices.push((
            "the last run found the catalog damaged".to_owned(),
            Some(commands.of("catalog check")),
        ));
    }
    if !root.is_complete && !it.is_running {
        let words = format!("{} recorded so far; to record all others:", files(it.files));
        notices.push((words, command("update")));
    }
    let missing = of_class(it, Class::Missing);
    if missing > 1 && root.settings.profile == Profile::Archive {
        let words = format!("{} missing; if all were deleted on purpose:", files(missing));
        notices.push((words, command("forget --missing")));
    }
    if it.overdue > 0 {
        let days = root.settings.overdue_after_days();
        let words = format!("{} overdue, not verified for {days} d", files(it.overdue));
        notices.push((words, command("verify")));
    }
    if let Some(changes) = changes(it).filter(|_| !it.are_edits_refused) {
        notices.push((changes, command("update")));
    }
    notices.extend(at_work(it).map(|words| (words, None)));
    notices
}

/// Returns the changes that `update` records.
fn changes(it: &RootStatus) -> Option<String> {
    let is_working = it.root.settings.profile == Profile::Working;
    let missing = if is_working { of_class(it, Class::Missing) } else { 0 };
    let counts = [
        (missing, Class::Missing),
        (of_class(it, Class::Edited), Class::Edited),
        (of_class(it, Class::Moved), Class::Moved),
        (it.new, Class::New),
    ];
    let some = counts.into_iter().filter(|(count, _)| *count > 0);
    let words: Vec<_> =
        some.map(|(count, class)| format!("{} {class}", HumanCount(count))).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Returns the current activity.
fn at_work(it: &RootStatus) -> impl Iterator<Item = String> {
    let running = it
        .last
        .as_ref()
        .filter(|_| it.is_running)
        .map(|run| format!("{} is running since {}", run.verb.name(), moment(run.started)));
    let partly = it.partly_read.map(|it| {
        let (read, of) = (DecimalBytes(it.read), DecimalBytes(it.of));
        format!("{} partly verified: {read} of {of}", files(it.files))
    });
    running.into_iter().chain(partly)
}
