//! A catalog over real files.

mod cases;
mod flips;
mod forget;
mod histories;
mod kin;
mod long;
mod sightings;

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lanesum_catalog::{
    Catalog, CatalogError, Class, Due, Finding, Options, Policy, Root, Summary, Verb,
};

thread_local! {
    /// How far the clock of this test's runs is ahead, in seconds.
    static AHEAD: AtomicI64 = const { AtomicI64::new(1000) };
}

/// Far enough ahead that what was just written counts as settled.
fn clock() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    since.as_secs().cast_signed() + AHEAD.with(|ahead| ahead.load(Ordering::Relaxed))
}

fn days_pass(days: i64) {
    AHEAD.with(|ahead| ahead.fetch_add(days * 86_400, Ordering::Relaxed));
}

/// A tree in memory, where a store through a mapping moves no time; and a catalog of it elsewhere.
struct Archive {
    tree: tempfile::TempDir,
    state: tempfile::TempDir,
    policy: Policy,
}

/// What a run told, and its summary.
struct Told {
    findings: Vec<Finding>,
    summary: Summary,
}

impl Archive {
    fn new() -> Self {
        let tree = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self { tree, state: tempfile::tempdir().unwrap(), policy: Policy::default() }
    }

    /// One of these files, each of which holds its own path.
    fn of(paths: &[&str]) -> Self {
        let archive = Self::new();
        paths.iter().for_each(|path| archive.write(path, path));
        archive
    }

    fn path(&self, name: &str) -> PathBuf {
        self.tree.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Writes, and sets the time of the content.
    fn write_at(&self, name: &str, content: impl AsRef<[u8]>, seconds: u64) {
        self.write(name, content);
        set_time(&self.path(name), UNIX_EPOCH + Duration::from_secs(seconds));
    }

    fn catalog_path(&self) -> PathBuf {
        self.state.path().join("catalog.db")
    }

    fn open(&self) -> Catalog {
        // A test beside this one that starts a program holds our lock from its fork to its exec.
        for _ in 0..100 {
            match Catalog::open(&self.catalog_path(), "test") {
                Err(CatalogError::Locked { .. }) => std::thread::sleep(Duration::from_millis(10)),
                opened => return opened.unwrap(),
            }
        }
        Catalog::open(&self.catalog_path(), "test").unwrap()
    }

    fn root(&self, catalog: &mut Catalog) -> Root {
        catalog.add_root(self.tree.path(), self.policy).unwrap()
    }

    fn run(&self, verb: Verb) -> Told {
        self.run_with(verb, |_| {})
    }

    fn run_with(&self, verb: Verb, change: impl FnOnce(&mut Options)) -> Told {
        let mut options = options();
        change(&mut options);
        let mut catalog = self.open();
        let root = self.root(&mut catalog);
        Told::of(|tell| catalog.run(&root, verb, &options, tell))
    }

    fn scrub(&self, due: Due) -> Told {
        let mut catalog = self.open();
        let root = self.root(&mut catalog);
        Told::of(|tell| catalog.scrub(&root, &due, &options(), tell))
    }

    /// Does something as whoever may not read what its mode forbids, be it root who runs the tests.
    fn limited<T: Send>(&self, run: impl FnOnce(&Self) -> T + Send) -> T {
        let ahead = AHEAD.with(|ahead| ahead.load(Ordering::Relaxed));
        let told = std::thread::scope(|scope| {
            let limited = scope.spawn(move || {
                AHEAD.with(|of_thread| of_thread.store(ahead, Ordering::Relaxed));
                obey_modes();
                run(self)
            });
            limited.join()
        });
        told.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Lets a file rot: its bytes change, and nothing that `stat` tells.
    fn rot(&self, name: &str) {
        let path = self.path(name);
        let before = fs::metadata(&path).unwrap();
        flip(&path);
        let after = fs::metadata(&path).unwrap();
        let facts = |it: &fs::Metadata| {
            (it.len(), it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec(), it.ino())
        };
        assert_eq!(facts(&before), facts(&after), "rot must not show in a stat");
    }
}

/// Damages a file in place, and sets the time of its content back.
fn alter(archive: &Archive, name: &str) {
    let path = archive.path(name);
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[0] ^= 1;
    fs::write(&path, bytes).unwrap();
    set_time(&path, time);
}

/// These files, cataloged; none where numbers do not tell files apart that are made one after the
/// other.
fn cataloged(paths: &[&str]) -> Option<Archive> {
    let archive = Archive::of(paths);
    if fs::metadata(archive.path(paths[0])).unwrap().created().is_err() {
        eprintln!("skipped: the file system does not say when files were made");
        return None;
    }
    archive.run(Verb::Add);
    Some(archive)
}

/// Leaves half of a file, and its time as it was.
fn cut(archive: &Archive, name: &str) {
    let file = File::options().write(true).open(archive.path(name)).unwrap();
    let before = file.metadata().unwrap();
    file.set_len(before.len() / 2).unwrap();
    file.set_times(FileTimes::new().set_modified(before.modified().unwrap())).unwrap();
}

fn audit_all(archive: &Archive) -> Told {
    archive.run_with(Verb::Audit, |options| options.reread = lanesum_catalog::Reread::All)
}

fn rename(archive: &Archive, from: &str, to: &str) {
    fs::rename(archive.path(from), archive.path(to)).unwrap();
}

/// The words in which a file is not forgotten.
fn refusal(archive: &Archive, name: &str) -> String {
    archive.open().forget(&archive.path(name), &options()).unwrap_err().to_string()
}

/// What a list says of a file with this content.
fn record<'n>(name: &'n str, content: impl AsRef<[u8]>) -> lanesum_list::Record<'n> {
    let md5 = lanesum_list::Algorithm::Md5.into();
    let digests = lanesum_checksum::digests_of(md5, None, content.as_ref()).unwrap();
    lanesum_list::Record { digests, ..lanesum_list::Record::new(name) }
}

fn options() -> Options {
    let mut options = Options::default();
    options.clock = clock;
    options.engine.threads = 1;
    options
}

fn everything() -> Due {
    let mut due = Due::default();
    due.percent = Some(100.0);
    due
}

impl Told {
    /// That of what tells each finding.
    fn of(
        run: impl FnOnce(
            &mut dyn FnMut(&Finding) -> std::io::Result<()>,
        ) -> Result<Summary, CatalogError>,
    ) -> Self {
        let mut findings = Vec::new();
        let summary = run(&mut |finding| {
            findings.push(finding.clone());
            Ok(())
        });
        Self { summary: summary.unwrap(), findings }
    }

    /// `class path`, or `class other -> path`, sorted.
    fn lines(&self) -> Vec<String> {
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        let mut lines: Vec<_> = self
            .findings
            .iter()
            .map(|it| {
                let other = it.other.as_deref().map(|other| text(other) + " -> ");
                let many = if it.files > 1 { format!(" ({})", it.files) } else { String::new() };
                format!("{} {}{}{many}", it.class, other.unwrap_or_default(), text(&it.path))
            })
            .collect();
        lines.sort();
        lines
    }

    fn counts(&self) -> BTreeMap<Class, u64> {
        self.summary.counts.clone()
    }
}

/// Takes from this thread, and those that it starts, the right of root to read everything.
fn obey_modes() {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    let Ok(mut sets) = capabilities(None) else { return };
    sets.effective -= CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
    set_capabilities(None, sets).unwrap();
}

fn set_time(path: &Path, time: SystemTime) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
}

/// Flips a bit of a file in memory through a shared mapping that an interpreter makes, since a
/// mapping takes `unsafe` code.
fn flip(path: &Path) {
    let script = "import mmap,sys\n\
                  f=open(sys.argv[1],'r+b')\n\
                  m=mmap.mmap(f.fileno(),0)\n\
                  m[0]^=1\n";
    let status = std::process::Command::new("python3").arg("-c").arg(script).arg(path).status();
    assert!(status.is_ok_and(|status| status.success()), "python3 is needed to make a file rot");
}

/// Tells why a test proves nothing on this machine, past what the test run holds back.
fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}
