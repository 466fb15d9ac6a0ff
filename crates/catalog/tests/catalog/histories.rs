//! Random histories against a model that knows the truth: what update takes up is never damage, an
//! edit is never called rot, nothing is forgotten, and how things stand is never told better than
//! what was found.
//!
//! Two ways of losing content are left out, since nobody can tell them from edits: what rots before
//! it is cataloged as it is, and what rotted and takes the name of another file before it is found.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use lanesum_catalog::Severity;
use proptest::prelude::*;

use super::*;

/// One thing that happens to a file, by its number, or to the archive.
#[derive(Clone, Copy, Debug)]
enum Step {
    Edit(usize),
    Touch(usize),
    /// Its time is in the future.
    Future(usize),
    Chmod(usize),
    Rename(usize),
    Copy(usize),
    Delete(usize),
    /// A good copy comes back, from a backup that keeps times.
    Restore(usize),
    Rot(usize),
    /// Its end is lost, and its time as it was.
    Cut(usize),
    /// It goes by another name, and a new one is in its place.
    PutAside(usize),
    /// The same, with a good copy in its place.
    Replace(usize),
    /// What was found to be damaged takes the name of another file.
    Over(usize, usize),
    /// Two files change names.
    Swap(usize, usize),
    /// Nobody may read it, until its mode is another.
    Lock(usize),
    ClockBack,
    Update,
    Add,
    Audit,
    AuditAll,
    /// Nothing is read.
    Quick,
    Scrub,
    /// As far as a day's budget goes, or a limit.
    ScrubSome(bool),
    /// Everything is elsewhere, and perhaps another folder in its place.
    Away(bool),
    /// A run ends before it is done.
    Interrupt,
    /// Nobody scrubs for months, and then somebody does each day.
    Months,
}

fn step() -> impl Strategy<Value = Step> {
    let file = 0..6_usize;
    prop_oneof![
        3 => file.clone().prop_map(Step::Edit),
        1 => file.clone().prop_map(Step::Touch),
        1 => file.clone().prop_map(Step::Future),
        1 => file.clone().prop_map(Step::Chmod),
        2 => file.clone().prop_map(Step::Rename),
        1 => file.clone().prop_map(Step::Copy),
        1 => file.clone().prop_map(Step::Delete),
        2 => file.clone().prop_map(Step::Restore),
        3 => file.clone().prop_map(Step::Rot),
        1 => file.clone().prop_map(Step::Cut),
        1 => file.clone().prop_map(Step::PutAside),
        1 => file.clone().prop_map(Step::Replace),
        1 => (file.clone(), file.clone()).prop_map(|(one, other)| Step::Over(one, other)),
        1 => (file.clone(), file.clone()).prop_map(|(one, other)| Step::Swap(one, other)),
        1 => file.prop_map(Step::Lock),
        1 => Just(Step::ClockBack),
        4 => Just(Step::Update),
        1 => Just(Step::Add),
        2 => Just(Step::Audit),
        2 => Just(Step::AuditAll),
        1 => Just(Step::Quick),
        3 => Just(Step::Scrub),
        2 => any::<bool>().prop_map(Step::ScrubSome),
        1 => any::<bool>().prop_map(Step::Away),
        1 => Just(Step::Interrupt),
        1 => Just(Step::Months),
    ]
}

/// What is true of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Truth {
    /// What its owner wrote into it last.
    content: String,
    /// Whether it holds something else.
    is_rotten: bool,
    /// Whether the catalog has it, with this time and number: what rots before that looks like an
    /// edit, or nobody ever knew it otherwise.
    is_cataloged: bool,
    /// Whether nobody may read it.
    is_locked: bool,
    /// Whether its row has the name that it had, as another file has now: until an update it is
    /// new.
    is_aside: bool,
    /// Whether it was told to be damaged since it is.
    is_told: bool,
}

impl Truth {
    fn can_rot(&self) -> bool {
        self.is_cataloged && !self.is_rotten
    }
}

struct Model {
    archive: Archive,
    files: BTreeMap<String, Truth>,
    /// What the catalog last had of each, or should know to be missing.
    cataloged: BTreeMap<String, String>,
    /// Files whose damage was told, and that nobody has said a word about since: what is edited
    /// after that is still told.
    noticed: BTreeSet<String>,
    /// Files that were told to have another content, which nobody took up, nor put back.
    differing: BTreeSet<String>,
    number: u32,
}

impl Model {
    fn new() -> Self {
        // So far that no step back makes what was just written look unsettled.
        AHEAD.with(|ahead| ahead.store(1000 * 86_400, Ordering::Relaxed));
        let archive = Archive::new();
        let mut model = Self {
            archive,
            files: BTreeMap::new(),
            cataloged: BTreeMap::new(),
            noticed: BTreeSet::new(),
            differing: BTreeSet::new(),
            number: 0,
        };
        for number in 0..4 {
            model.write(format!("d{}/f{number}", number % 2));
        }
        model.archive.run(Verb::Add);
        model.took_up();
        model
    }

    fn write(&mut self, name: String) {
        self.number += 1;
        // Of different lengths, so that an edit is one by its size as well as by its time.
        let content = format!("{}{}", self.number, "x".repeat(self.number as usize % 7));
        self.archive.write(&name, &content);
        self.files.insert(name, Truth { content, ..Truth::default() });
    }

    fn took_up(&mut self) {
        self.cataloged.retain(|name, _| self.files.contains_key(name));
        for (name, truth) in self.files.iter_mut().filter(|(_, truth)| !truth.is_locked) {
            truth.is_cataloged = true;
            truth.is_aside = false;
            self.cataloged.insert(name.clone(), truth.content.clone());
        }
    }

    fn nth(&self, number: usize) -> Option<String> {
        self.files.keys().nth(number % self.files.len().max(1)).cloned()
    }

    fn happen(&mut self, step: Step) {
        let file = match step {
            Step::Future(it)
            | Step::Edit(it)
            | Step::Touch(it)
            | Step::Chmod(it)
            | Step::Rename(it) => self.nth(it),
            Step::Copy(it) | Step::Delete(it) | Step::Restore(it) | Step::Rot(it) => self.nth(it),
            Step::Lock(it) | Step::Swap(it, _) | Step::Cut(it) => self.nth(it),
            Step::PutAside(it) | Step::Replace(it) | Step::Over(it, _) => self.nth(it),
            _ => None,
        };
        match (step, file) {
            (Step::Edit(_), Some(name)) => {
                self.mode(&name, 0o600);
                self.write(name);
            }
            // Another content under another time is an edit, as far as anybody can tell.
            (Step::Touch(_), Some(name)) if !self.files[&name].is_rotten => {
                set_time(&self.archive.path(&name), SystemTime::now());
                self.files.get_mut(&name).unwrap().is_cataloged = false;
            }
            (Step::Future(_), Some(name)) if !self.files[&name].is_rotten => {
                let year = std::time::Duration::from_secs(365 * 86_400);
                set_time(&self.archive.path(&name), SystemTime::now() + 70 * year);
                self.files.get_mut(&name).unwrap().is_cataloged = false;
            }
            (Step::Chmod(_), Some(name)) => {
                self.mode(&name, 0o600 | self.number & 0o77);
                self.files.get_mut(&name).unwrap().is_locked = false;
            }
            (Step::Lock(_), Some(name)) => {
                self.mode(&name, 0);
                self.files.get_mut(&name).unwrap().is_locked = true;
            }
            (Step::Swap(_, other), Some(name)) => {
                let other = self.nth(other).unwrap();
                let are_well = !self.files[&name].is_rotten && !self.files[&other].is_rotten;
                if name != other && are_well {
                    self.swap(name, other);
                }
            }
            (Step::Rename(_), Some(name)) => _ = self.rename(name),
            (Step::PutAside(_), Some(name)) => {
                let to = self.rename(name.clone());
                self.files.get_mut(&to).unwrap().is_aside = true;
                self.write(name);
            }
            (Step::Replace(_), Some(name)) => {
                let to = self.rename(name.clone());
                let aside = self.files.get_mut(&to).unwrap();
                aside.is_aside = true;
                // Once its row has the copy's number, what rots in it was never cataloged.
                aside.is_cataloged &= aside.is_rotten;
                let content = aside.content.clone();
                let time = fs::metadata(self.archive.path(&to)).unwrap().modified().unwrap();
                self.archive.write(&name, &content);
                set_time(&self.archive.path(&name), time);
                self.differing.remove(&name);
                self.files.insert(name, Truth { content, ..Truth::default() });
            }
            (Step::Over(_, other), Some(name)) => {
                let other = self.nth(other).unwrap();
                if name != other && self.files[&name].is_rotten && self.files[&name].is_told {
                    fs::rename(self.archive.path(&name), self.archive.path(&other)).unwrap();
                    let truth = self.files.remove(&name).unwrap();
                    let content = self.files[&other].content.clone();
                    self.differing.remove(&other);
                    self.files.insert(other, Truth { content, is_aside: true, ..truth });
                }
            }
            // A copy of what rotted is a file that nobody ever knew otherwise.
            (Step::Copy(_), Some(name)) if !self.files[&name].is_rotten => {
                self.number += 1;
                let to = format!("d0/c{}", self.number);
                fs::create_dir_all(self.archive.path("d0")).unwrap();
                fs::copy(self.archive.path(&name), self.archive.path(&to)).unwrap();
                let truth = Truth { is_cataloged: false, ..self.files[&name].clone() };
                self.files.insert(to, truth);
            }
            (Step::Delete(_), Some(name)) if self.files.len() > 2 => {
                fs::remove_file(self.archive.path(&name)).unwrap();
                self.files.remove(&name);
            }
            (Step::Restore(_), Some(name)) => {
                self.differing.remove(&name);
                let truth = self.files.get_mut(&name).unwrap();
                let path = self.archive.path(&name);
                let time = fs::metadata(&path).unwrap().modified().unwrap();
                fs::remove_file(&path).unwrap();
                fs::write(&path, &truth.content).unwrap();
                set_time(&path, time);
                *truth = Truth { content: truth.content.clone(), ..Truth::default() };
            }
            (Step::Rot(_), Some(name)) if self.files[&name].can_rot() => {
                self.archive.rot(&name);
                self.files.get_mut(&name).unwrap().is_rotten = true;
            }
            (Step::Cut(_), Some(name)) if self.files[&name].can_rot() => {
                cut(&self.archive, &name);
                self.files.get_mut(&name).unwrap().is_rotten = true;
            }
            (Step::ClockBack, _) => days_pass(-1),
            (Step::Update, _) => self.run(Verb::Update),
            (Step::Add, _) => self.run(Verb::Add),
            (Step::Audit, _) => self.run(Verb::Audit),
            (Step::AuditAll, _) => self.audit_all(),
            (Step::Quick, _) => {
                days_pass(1);
                let told = self.archive.limited(|archive| {
                    archive.run_with(Verb::Audit, |options| {
                        options.reread = lanesum_catalog::Reread::Nothing;
                        options.max_gone = Some(100);
                    })
                });
                assert_eq!(told.summary.files, 0);
                self.hold(&told, Verb::Audit);
            }
            (Step::ScrubSome(has_limit), _) => {
                let mut due = Due::default();
                if has_limit {
                    due.percent = Some(50.0);
                    due.max_bytes = Some(1);
                }
                days_pass(30);
                let told = self.archive.limited(|archive| archive.scrub(due.clone()));
                self.hold(&told, Verb::Scrub);
            }
            (Step::Away(has_another), _) => self.go_away(has_another),
            (Step::Scrub, _) => self.scrub(),
            (Step::Interrupt, _) => self.interrupt(),
            (Step::Months, _) => self.months(),
            _ => {}
        }
    }

    fn rename(&mut self, name: String) -> String {
        self.number += 1;
        let to = format!("d{}/r{}", self.number % 3, self.number);
        fs::create_dir_all(self.archive.path(&to).parent().unwrap()).unwrap();
        fs::rename(self.archive.path(&name), self.archive.path(&to)).unwrap();
        let truth = self.files.remove(&name).unwrap();
        if self.noticed.contains(&name) {
            self.noticed.insert(to.clone());
        }
        self.files.insert(to.clone(), truth);
        to
    }

    fn run(&mut self, verb: Verb) {
        days_pass(1);
        let told = self
            .archive
            .limited(|archive| archive.run_with(verb, |options| options.max_gone = Some(100)));
        self.hold(&told, verb);
        if verb == Verb::Audit {
            self.looked_at_all();
        }
    }

    /// An audit reads what does not look as its row has it, and where that is as cataloged, its row
    /// has its time and number from then on.
    fn looked_at_all(&mut self) {
        for (name, truth) in &mut self.files {
            let is_as_cataloged = self.cataloged.get(name) == Some(&truth.content);
            truth.is_cataloged |= is_as_cataloged && !truth.is_rotten && !truth.is_locked;
        }
    }

    fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.archive.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn swap(&mut self, one: String, other: String) {
        let [first, second, aside] = [&*one, &*other, "aside"].map(|name| self.archive.path(name));
        fs::rename(&first, &aside).unwrap();
        fs::rename(&second, &first).unwrap();
        fs::rename(&aside, &second).unwrap();
        // What was noticed of a file goes with it, and its row stands as it did.
        if self.noticed.contains(&one) || self.noticed.contains(&other) {
            self.noticed.extend([one.clone(), other.clone()]);
        }
        let (first, second) =
            (self.files.remove(&one).unwrap(), self.files.remove(&other).unwrap());
        for (name, truth) in [(one, second), (other, first)] {
            self.files.insert(name, Truth { is_cataloged: false, ..truth });
        }
    }

    /// Everything that has a row is read, under whatever name.
    fn audit_all(&mut self) {
        days_pass(1);
        let told = self.archive.limited(|archive| {
            archive.run_with(Verb::Audit, |options| {
                options.reread = lanesum_catalog::Reread::All;
                options.max_gone = Some(100);
            })
        });
        for (name, truth) in &self.files {
            if truth.is_rotten && truth.is_cataloged && !truth.is_locked && !truth.is_aside {
                let is_told = told
                    .findings
                    .iter()
                    .any(|finding| finding.path == name.as_bytes() && finding.class.is_damage());
                assert!(is_told, "{name} is rotten, and {:?}", told.lines());
            }
        }
        self.hold(&told, Verb::Audit);
        self.looked_at_all();
    }

    /// Another volume is there, or none: nobody touches a row.
    fn go_away(&mut self, has_another: bool) {
        days_pass(1);
        let path = self.archive.tree.path();
        let away = path.with_extension("away");
        let rows = |model: &Self| {
            let mut rows = Vec::new();
            model.each_row(|name, digest| rows.push((name, digest)));
            rows
        };
        let before = rows(self);
        fs::rename(path, &away).unwrap();
        if has_another {
            fs::create_dir(path).unwrap();
            fs::write(path.join("of another volume"), "x").unwrap();
        }
        for verb in [Verb::Update, Verb::Audit, Verb::Scrub] {
            let mut catalog = self.archive.open();
            let root = catalog.roots().unwrap().remove(0);
            let summary = catalog.run(&root, verb, &options(), &mut |_| Ok(())).unwrap();
            assert!(summary.suspended.is_some(), "{verb:?}");
            assert!(summary.severity() >= Severity::NotAllDone, "{verb:?}");
        }
        assert!(self.standing() >= Severity::NotAllDone);
        let _ = fs::remove_dir_all(path);
        fs::rename(&away, path).unwrap();
        assert_eq!(rows(self), before);
    }

    /// What `status` says.
    fn standing(&self) -> Severity {
        let catalog = Catalog::look(&self.archive.catalog_path()).unwrap();
        let overview = catalog.overviews(clock()).unwrap().remove(0);
        overview.severity()
    }

    fn scrub(&mut self) {
        days_pass(1);
        let told = self.archive.limited(|archive| archive.scrub(everything()));
        self.hold(&told, Verb::Scrub);
        // A scrub reads all that has a row: nothing rotten that is cataloged there goes unnoticed.
        for (name, truth) in
            self.files.iter().filter(|(_, truth)| truth.is_rotten && !truth.is_locked)
        {
            if self.cataloged.get(name) == Some(&truth.content) {
                let is_told = told
                    .findings
                    .iter()
                    .any(|finding| finding.path == name.as_bytes() && finding.class.is_damage());
                assert!(is_told, "{name} is rotten, and {:?}", told.lines());
            }
        }
    }

    /// Each day what is due first is read, whatever else is not well: nothing stays late.
    fn months(&mut self) {
        days_pass(150);
        let mut rows = 0;
        self.each_row(|_, _| rows += 1);
        for _ in 0..rows + 2 {
            days_pass(1);
            let told = self.archive.limited(|archive| archive.scrub(Due::default()));
            self.notice(&told);
        }
        let catalog = Catalog::look(&self.archive.catalog_path()).unwrap();
        let root = catalog.roots().unwrap().remove(0);
        assert_eq!(catalog.late(&root, clock()).unwrap(), 0, "of {rows} files");
    }

    fn notice(&mut self, told: &Told) {
        for finding in told.findings.iter().filter(|finding| finding.class.is_damage()) {
            self.noticed.insert(String::from_utf8(finding.path.clone()).unwrap());
        }
    }

    /// Whoever is told breaks off.
    fn interrupt(&mut self) {
        days_pass(1);
        let is_ended = self.archive.limited(|archive| {
            let mut catalog = archive.open();
            let root = archive.root(&mut catalog);
            let mut options = options();
            options.max_gone = Some(100);
            let mut tell = |_: &Finding| Err(std::io::ErrorKind::BrokenPipe.into());
            catalog.run(&root, Verb::Update, &options, &mut tell).is_ok()
        });
        if is_ended {
            self.took_up_what_is_there();
            return;
        }
        // Some of it is done, and the rest by whoever comes next.
        self.run(Verb::Update);
    }

    /// What an update leaves in the catalog: what is there, and what it lost sight of.
    fn took_up_what_is_there(&mut self) {
        let mut cataloged = BTreeMap::new();
        self.each_row(|name, digest| {
            cataloged.insert(name, digest);
        });
        // Nothing is forgotten: each file has a row.
        for (name, truth) in &self.files {
            let Some(row) = cataloged.get(name) else {
                assert!(truth.is_locked, "{name} has no row");
                continue;
            };
            // And no damage is accepted: where the row is not the owner's content, it is an older
            // one, which damage kept.
            if truth.is_rotten {
                let path = self.archive.path(name);
                let rotten = md5(&fs::read(path).unwrap());
                assert_ne!(*row, rotten, "the rot of {name} was accepted");
            } else if !truth.is_locked {
                assert_eq!(*row, md5(truth.content.as_bytes()), "{name} is not taken up");
            }
        }
        self.took_up();
    }

    fn each_row(&self, mut take: impl FnMut(String, String)) {
        let catalog = Catalog::look(&self.archive.catalog_path()).unwrap();
        let root = catalog.roots().unwrap().remove(0);
        let mut each = |record: lanesum_list::Record<'_>| {
            let name = String::from_utf8(record.name.to_vec()).unwrap();
            take(name, record.digests[0].to_string());
            Ok(())
        };
        catalog.records(&root, &mut each).unwrap();
    }

    fn hold(&mut self, told: &Told, verb: Verb) {
        for finding in &told.findings {
            let name = String::from_utf8(finding.path.clone()).unwrap();
            if matches!(finding.class, Class::Rotted | Class::Unstable | Class::Transient) {
                let is_rotten = self.files.get(&name).is_some_and(|truth| truth.is_rotten);
                let is_rot = finding.class == Class::Rotted;
                let is_known = self.noticed.contains(&name);
                assert!(
                    is_rot && (is_rotten || is_known),
                    "{name} is called {} by {verb:?}",
                    finding.class
                );
            }
            if matches!(finding.class, Class::Rotted | Class::Altered | Class::Emptied)
                && let Some(truth) = self.files.get_mut(&name)
            {
                truth.is_told |= truth.is_rotten;
            }
            if finding.class.is_damage() {
                self.noticed.insert(name);
            }
        }
        let catalog = Catalog::look(&self.archive.catalog_path()).unwrap();
        assert_eq!(catalog.check().unwrap(), [""; 0]);
        drop(catalog);
        let is_of_rows = told.summary.severity() == Severity::Damage
            && told.findings.iter().any(|finding| {
                finding.class.is_damage() && finding.class != Class::Unreadable
                    || finding.class == Class::Missing
            });
        let least = match told.summary.severity() {
            Severity::Damage if is_of_rows => Severity::Damage,
            // What has no row has nothing that it could be known as.
            Severity::Damage | Severity::NotAllDone => Severity::NotAllDone,
            _ => Severity::AsCataloged,
        };
        let accepts = matches!(verb, Verb::Add | Verb::Update);
        if accepts {
            self.differing.clear();
        }
        for finding in told.findings.iter().filter(|_| !accepts) {
            if finding.after.as_deref() == Some("not read") {
                continue;
            }
            let name = String::from_utf8(finding.path.clone()).unwrap();
            match finding.class {
                Class::Changed | Class::Older => _ = self.differing.insert(name),
                Class::Ok | Class::Touched => _ = self.differing.remove(&name),
                _ => {}
            }
        }
        // What was told to differ stays known, whatever is looked at since.
        let differs = !self.differing.is_empty();
        let least = if differs { least.max(Severity::Differences) } else { least };
        assert!(!differs || told.summary.severity() >= Severity::Differences, "{:?}", told.lines());
        let standing = self.standing();
        assert!(standing >= least, "{verb:?} told {:?}, and status {standing:?}", told.lines());
        let mut rows = BTreeSet::new();
        self.each_row(|name, _| _ = rows.insert(name));
        for (name, truth) in self.files.iter().filter(|(_, truth)| truth.is_locked) {
            let is_told = told.findings.iter().any(|it| it.path == name.as_bytes());
            // What a quick look leaves unread is a number where nothing is known of it.
            let is_read = verb.name() != "scrub" && told.summary.unread == 0;
            // What its row went along with looks as it was.
            let is_known = truth.is_cataloged || truth.is_aside && rows.contains(name);
            let is_to_be_read = is_read && !is_known;
            assert!(is_told || !is_to_be_read, "{name} is locked, and {:?}", told.lines());
        }
        if matches!(verb, Verb::Update | Verb::Add) {
            self.accept_what_is_right();
            self.took_up_what_is_there();
        }
    }

    /// What update did not take up although it is right, because an older damage was not told to be
    /// over: its owner says so, as a person would.
    fn accept_what_is_right(&mut self) {
        let mut catalog = self.archive.open();
        self.noticed.clear();
        for file in catalog.not_well().unwrap() {
            let name = file.path.strip_prefix(self.archive.tree.path()).unwrap().to_str().unwrap();
            match self.files.get(name) {
                Some(truth) if truth.is_locked => _ = self.noticed.insert(name.to_owned()),
                Some(truth) if !truth.is_rotten => {
                    catalog.accept(&file.path, &options()).unwrap();
                }
                Some(_) => _ = self.noticed.insert(name.to_owned()),
                None => match catalog.forget(&file.path, &options()) {
                    // What was accepted before took it along.
                    Err(CatalogError::Unknown(_)) => {}
                    // Its file is cataloged by another name: as it is there is how it should be.
                    Err(CatalogError::Elsewhere { place, .. }) => {
                        let below = place.strip_prefix(self.archive.tree.path()).unwrap();
                        let truth = &self.files[below.to_str().unwrap()];
                        if !truth.is_locked && !truth.is_rotten {
                            catalog.accept(&place, &options()).unwrap();
                            let again = catalog.forget(&file.path, &options());
                            assert!(matches!(again, Err(CatalogError::Unknown(_))), "{again:?}");
                        }
                    }
                    forgotten => _ = forgotten.unwrap(),
                },
            }
        }
    }
}

fn md5(content: &[u8]) -> String {
    lanesum_checksum::digests_of(lanesum_list::Algorithm::Md5.into(), None, content).unwrap()[0]
        .to_string()
}

/// Histories; more where somebody has the time.
fn cases() -> u32 {
    std::env::var("LANESUM_TEST_HISTORIES").map_or(40, |cases| cases.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_is_accepted_and_no_edit_is_rot(steps in proptest::collection::vec(step(), 1..20)) {
        let mut model = Model::new();
        steps.into_iter().for_each(|step| model.happen(step));
        model.run(Verb::Update);
    }
}

/// What nobody may read is renamed twice before anybody looks, and a copy is in its place: its row
/// goes along, and reads nothing of it.
#[test]
fn what_went_along_unread_is_told_once() {
    let mut model = Model::new();
    for step in [Step::Rename(0), Step::Lock(3), Step::Replace(3), Step::Update, Step::Update] {
        model.happen(step);
    }
}
