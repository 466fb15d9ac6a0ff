//! Random histories of two roots against a model of the promises: ordinary ones, in which nothing
//! may alarm but deletions in an archive, and others in which files are damaged, which must be
//! found and stay known.
//!
//! A failure prints the seed of its history. `LANESUM_SEED` repeats one history, and
//! `LANESUM_HISTORIES` runs so many with other seeds.

use std::collections::BTreeSet;
use std::fs;

use lanesum_catalog::{Attention, GoesOn, Reason};

use super::disk::{Disk, Log};
use super::model::{Files, Night, Records, records, stored_inodes};
use super::*;

/// Histories of each kind, and nights of each.
const HISTORIES: u64 = 12;
const NIGHTS: usize = 12;

struct History {
    disk: Disk,
    catalog: Catalog,
    profile: Profile,
    has_damage: bool,
    before: Records,
}

impl History {
    fn new(seed: u64, profile: Profile, has_damage: bool) -> Self {
        let disk = Disk::new(seed, profile);
        disk.roots.iter().for_each(|root| _ = root.add());
        let (files, catalog) = (disk.files(), disk.roots[0].open());
        let mut history = Self { disk, catalog, profile, has_damage, before: Records::new() };
        history.before = history.records(&files);
        history
    }

    fn records(&self, files: &Files) -> Records {
        records(&self.catalog, &self.disk.roots, &self.before, files, None)
    }

    /// The records with the inodes that they have, after a run which does not read all files.
    fn records_as_stored(&self, files: &Files) -> Records {
        let inodes = stored_inodes(&self.catalog);
        records(&self.catalog, &self.disk.roots, &self.before, files, Some(&inodes))
    }

    fn targets(&self) -> Vec<Target> {
        self.catalog.roots().unwrap().into_iter().map(Target::whole).collect()
    }

    /// Runs a task over both roots.
    fn run(&mut self, task: &Task) -> Vec<Report> {
        let targets = self.targets();
        Report::all(&mut self.catalog, &targets, task, &options())
    }

    fn day(&mut self) {
        for _ in 0..self.disk.random.below(5) {
            match self.disk.random.below(10) {
                0 | 1 if self.has_damage => self.disk.damage(),
                2 if self.has_damage || self.profile == Profile::Working => self.disk.upgrade(),
                3 => self.restore(),
                _ => self.disk.do_something(),
            }
        }
    }

    /// Restores a file that is known to be damaged or missing.
    fn restore(&mut self) {
        let is_bad = |class| matches!(class, Class::Damaged | Class::Missing);
        let bad: Vec<_> = self.before.iter().filter(|(_, known)| is_bad(known.class)).collect();
        let bad: Vec<_> =
            bad.into_iter().map(|(place, known)| (place.clone(), known.clone())).collect();
        if let Some((place, known)) = self.disk.random.choose(&bad) {
            self.disk.restore(&place, &known.digest, known.modified);
        }
    }

    fn night(&mut self) {
        days_pass(1);
        if self.disk.random.once_in(10) {
            self.night_without_a_root();
        }
        if self.disk.random.once_in(8) {
            self.interrupted_update();
        }
        let files = self.disk.files();
        let updated = self.run(&Task::Update);
        let scrub = Task::Scrub(selection(|it| {
            it.percent = Some(100.0);
            it.is_updated = true;
        }));
        let scrubbed = self.run(&scrub);
        let after = self.records(&files);
        let night = Night { before: &self.before, files: &files, profile: self.profile };
        if let Some(wrong) = night.wrong(&after) {
            panic!("{wrong}");
        }
        for root in 0..2 {
            self.check_reports(root, [&updated[root], &scrubbed[root]], &after);
        }
        if !self.has_damage {
            let damaged: Vec<_> = after.iter().filter(|(_, it)| it.is_damaged).collect();
            assert!(damaged.is_empty(), "nothing was damaged: {damaged:?}");
        }
        self.before = after;
        self.answer(&files);
    }

    /// Sometimes a person runs something by day.
    fn run_by_day(&mut self) {
        days_pass(1);
        let files = self.disk.files();
        let part = selection(|it| it.percent = Some(40.0));
        let tasks = [Task::Scan, Task::Verify, Task::Scrub(everything()), Task::Scrub(part)];
        let task = self.disk.random.choose(&tasks).unwrap();
        self.disk.log.push(format!("by day: {task:?}"));
        self.run(&task);
        let after = self.records_as_stored(&files);
        let night = Night { before: &self.before, files: &files, profile: self.profile };
        let has_read = matches!(task, Task::Verify) || task == tasks[2];
        if let Some(wrong) = night.wrong_unrecorded(&after, has_read) {
            panic!("{wrong}");
        }
        self.before = after;
    }

    /// Or updates one root alone.
    fn update_one_root(&mut self) {
        days_pass(1);
        let files = self.disk.files();
        let root = self.disk.random.below(2);
        self.disk.log.push(format!("by day: update of root {root} alone"));
        let target = [self.targets().swap_remove(root)];
        Report::all(&mut self.catalog, &target, &Task::Update, &options());
        let after = self.records_as_stored(&files);
        let night = Night { before: &self.before, files: &files, profile: self.profile };
        if let Some(wrong) = night.wrong_in_one(root, &after) {
            panic!("{wrong}");
        }
        self.before = after;
    }

    /// What a night reported of a root, against its records after it.
    fn check_reports(&self, root: usize, reports: [&Report; 2], after: &Records) {
        let own = after.iter().filter(|((it, _), _)| *it == root);
        let is_archive = self.profile == Profile::Archive;
        let is_alarm = |class| class == Class::Damaged || class == Class::Missing && is_archive;
        let alarms: Vec<_> = own.filter(|(_, known)| is_alarm(known.class)).collect();
        for report in reports {
            let attention = report.summary.attention();
            let lines = report.lines();
            assert_ne!(attention, Attention::Incomplete, "root {root}: {lines:?}");
            let is_alarmed = attention == Attention::Problem;
            assert!(!is_alarmed || !alarms.is_empty(), "root {root} is alarmed: {lines:?}");
            let damaged: BTreeSet<String> = report.of(Class::Damaged).into_iter().collect();
            let is_right = |name: &String| {
                after.get(&(root, name.clone())).is_some_and(|it| it.class == Class::Damaged)
            };
            assert!(damaged.iter().all(is_right), "root {root} is not so damaged: {lines:?}");
        }
        let last = reports[1].summary.attention();
        let is_alarmed = last == Attention::Problem;
        assert_eq!(is_alarmed, !alarms.is_empty(), "root {root}: {alarms:?}");
        for (place, known) in alarms {
            let is_news = self.before.get(place).is_none_or(|it| it.class != known.class);
            let is_reported =
                reports.iter().any(|report| report.of(known.class).contains(&place.1));
            assert!(is_reported || !is_news, "{place:?} is {}: not reported", known.class);
        }
        let status = self.catalog.status(clock()).unwrap()[root].attention();
        assert_eq!(status.max(Attention::Incomplete), last.max(Attention::Incomplete));
    }

    /// An update that ends before it is done.
    fn interrupted_update(&mut self) {
        self.disk.log.push("interrupted update".to_owned());
        let mut options = options();
        let mut left = self.disk.random.below(4);
        if left == 0 {
            options.goes_on = Some(GoesOn::new(|| false));
        }
        let targets = self.targets();
        let mut take = |_: &Root, _: &Finding| {
            left = left.saturating_sub(1);
            if left == 0 { Err(std::io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
        };
        match self.catalog.run(&targets, &Task::Update, &options, &mut take) {
            Ok(_) | Err(CatalogError::Output(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// One root is not mounted, and the other one is looked after as always.
    fn night_without_a_root(&mut self) {
        let away = self.disk.random.below(2);
        self.disk.log.push(format!("a night without root {away}"));
        let aside = self.disk.roots[away].base.path().join("not mounted");
        fs::rename(self.disk.roots[away].tree(), &aside).unwrap();
        let files = self.disk.files();
        let updated = self.run(&Task::Update);
        let scrubbed = self.run(&Task::Scrub(everything()));
        let reason = updated[away].summary.offline().map(|it| it.reason);
        assert_eq!(reason, Some(Reason::Missing));
        let after = self.records(&files);
        let of = |all: &Records, root: usize| -> Records {
            let own = all.iter().filter(|((it, _), _)| *it == root);
            own.map(|(place, known)| (place.clone(), known.clone())).collect()
        };
        for (place, known) in of(&self.before, away) {
            let now = &after[&place];
            let is_same = (now.class, &now.digest) == (known.class, &known.digest);
            assert!(is_same, "root {away} was not mounted: {place:?} {known:?} {now:?}");
        }
        let there = 1 - away;
        let (before, profile) = (of(&self.before, there), self.profile);
        let night = Night { before: &before, files: &files, profile };
        if let Some(wrong) = night.wrong(&of(&after, there)) {
            panic!("{wrong}");
        }
        self.check_reports(there, [&updated[there], &scrubbed[there]], &after);
        self.before = after;
        fs::rename(&aside, self.disk.roots[away].tree()).unwrap();
        days_pass(1);
    }

    /// Sometimes a person accepts a damaged file, or forgets a missing one.
    fn answer(&mut self, files: &Files) {
        for (place, known) in self.before.clone() {
            let path = [self.disk.path(&place)];
            match known.class {
                Class::Damaged if self.disk.random.once_in(6) => {
                    self.disk.log.push(format!("accept {place:?}"));
                    let accepted = self.catalog.accept(&path, &options(), &mut |_, _| Ok(()));
                    assert_eq!(accepted.unwrap().files, 1, "{place:?}");
                    let now = self.records(files).remove(&place).unwrap();
                    assert_eq!((now.class, &now.digest), (Class::Ok, &files[&place].digest));
                    self.before.insert(place, now);
                }
                Class::Missing if self.disk.random.once_in(4) => {
                    self.disk.log.push(format!("forget {place:?}"));
                    let forgotten = self.catalog.forget(&path, false, &options()).unwrap();
                    assert_eq!(forgotten.paths[0].files, 1, "{place:?}");
                    self.before.remove(&place);
                }
                _ => {}
            }
        }
    }
}

/// Prints the seed of a history that fails, and what happened in it.
struct Printer(u64, Log);

impl Drop for Printer {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("LANESUM_SEED={} fails after\n{}", self.0, self.1.last(60));
        }
    }
}

fn run_history(seed: u64, profile: Profile, has_damage: bool) {
    set_ahead(1000);
    let mut history = History::new(seed, profile, has_damage);
    let _printer = Printer(seed, history.disk.log.clone());
    for night in 0..NIGHTS {
        history.disk.log.push(format!("day {night}"));
        history.day();
        match history.disk.random.below(6) {
            0 | 1 => history.run_by_day(),
            2 => history.update_one_root(),
            _ => {}
        }
        history.day();
        history.night();
    }
    assert_eq!(history.catalog.check().unwrap(), [""; 0]);
}

fn run_histories(profile: Profile, has_damage: bool) {
    if let Ok(seed) = std::env::var("LANESUM_SEED") {
        return run_history(seed.parse().unwrap(), profile, has_damage);
    }
    let more = std::env::var("LANESUM_HISTORIES").ok().map(|count| count.parse().unwrap());
    let first = more.map_or(1, |_| SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs());
    (0..more.unwrap_or(HISTORIES))
        .for_each(|number| run_history(first * 10_000 + number, profile, has_damage));
}

#[test]
fn ordinary_histories_of_a_working_root_demand_no_attention() {
    run_histories(Profile::Working, false);
}

#[test]
fn ordinary_histories_of_an_archive_demand_attention_for_deletions_alone() {
    run_histories(Profile::Archive, false);
}

#[test]
fn damage_in_an_archive_is_found_and_stays_until_it_is_restored_or_accepted() {
    run_histories(Profile::Archive, true);
}

#[test]
fn damage_in_a_working_root_is_found_and_stays_until_it_is_restored_or_accepted() {
    run_histories(Profile::Working, true);
}
