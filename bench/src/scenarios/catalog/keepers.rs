//! How each program is called.
//!
//! Each has its own best setting for one CPU. MD5 is everywhere but in bitrot, which knows SHA-1
//! alone, and in `chkbit-blake3`, which is chkbit's default. chkbit keeps its five threads, with
//! which it takes less time than with one. AIDE works in one thread, and does not compute eleven
//! digests of its own database.

use std::cell::{Cell, OnceCell};
use std::fs::{self, read_dir};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::answers;
use super::peers::program;
use crate::answers::Answers;
use crate::launch::{Launch, errors_beside};

/// Where [`Desk::list`] puts what it makes.
const LIST: &str = "list.md5";

/// A program, and what must be true after it has run.
pub struct Step<'case> {
    pub name: &'static str,
    pub launch: Launch,
    pub verify: Box<dyn Fn() -> Result<()> + 'case>,
}

/// Who puts down what it finds, and compares with that later.
pub struct Keeper<'case> {
    /// None for lanesum.
    pub needs: Option<&'static str>,
    /// Whether the first run reads the files.
    pub reads_all: bool,
    /// Makes the next run the first.
    pub forget: Box<dyn Fn() -> Result<()> + 'case>,
    pub first: Step<'case>,
    pub again: Step<'case>,
    recorded: Cell<bool>,
}

impl Keeper<'_> {
    /// Sees to it that there has been a first run, and that it was right.
    pub fn record_once(&self) -> Result<()> {
        if !self.recorded.get() {
            (self.forget)()?;
            self.first.launch.run()?;
            (self.first.verify)()?;
            self.recorded.set(true);
        }
        Ok(())
    }
}

/// What all programs of a case share.
#[derive(Clone)]
pub struct Desk<'run> {
    pub lanesum: &'run Path,
    pub cpus: &'run [usize],
    pub files: usize,
    /// The folder that is looked at.
    pub root: PathBuf,
    /// The folder beside, for what is put down outside of it.
    pub aside: PathBuf,
    /// Where every program's standard output goes.
    pub output: PathBuf,
}

/// What a verb of the catalog reads.
#[derive(Clone, Copy)]
enum Read {
    Nothing,
    All,
}

impl<'run> Desk<'run> {
    // What lanesum does.

    /// The digests alone, which `sums` keeps.
    pub fn sum(&self, sums: &'run OnceCell<Answers>) -> Step<'run> {
        let launch = self.launch(self.lanesum).args(["sum", "-j", "1"]).args([&self.root]);
        let desk = self.clone();
        let verify = move || {
            let answers = Answers::of_digests(&fs::read(&desk.output)?, b"")?;
            answers::expect("digests", desk.files, answers.len())?;
            sums.get_or_init(|| answers);
            Ok(())
        };
        Step { name: "lanesum-sum", launch, verify: Box::new(verify) }
    }

    pub fn lanesum(&self) -> Keeper<'run> {
        let update = self.on_catalog("update", &[], "", Read::Nothing);
        let desk = self.clone();
        let verify =
            move || answers::has(&desk.complained()?, ": update: no changes; 0 files read");
        let update = Step { name: "lanesum-update", verify: Box::new(verify), ..update };
        self.lanesum_keeper(true, update)
    }

    pub fn lanesum_all(&self) -> Keeper<'run> {
        let scan = self.on_catalog("verify", &[], "ok", Read::All);
        self.lanesum_keeper(false, Step { name: "lanesum-all", ..scan })
    }

    fn lanesum_keeper(&self, reads_all: bool, again: Step<'run>) -> Keeper<'run> {
        let mut add = self.on_catalog("add", &[], "recorded", Read::All);
        add.launch = add.launch.args([&self.root]);
        let folder = self.catalog_folder();
        let forget = move || {
            remove(fs::remove_dir_all(&folder))?;
            Ok(fs::create_dir(&folder)?)
        };
        Keeper {
            needs: None,
            reads_all,
            forget: Box::new(forget),
            first: Step { name: "lanesum-add", ..add },
            again,
            recorded: Cell::default(),
        }
    }

    pub fn status(&self) -> Step<'run> {
        let launch = self.launch(self.lanesum).args(["status", "--catalog"]).args([self.catalog()]);
        let desk = self.clone();
        let verify = move || {
            let files = format!("{} files ok", answers::grouped(desk.files));
            answers::has(&desk.printed()?, &files)
        };
        Step { name: "lanesum-status", launch, verify: Box::new(verify) }
    }

    pub fn scan_moved(&self) -> Step<'run> {
        let scan = self.on_catalog("scan", &[], "moved", Read::Nothing);
        Step { name: "lanesum-scan", ..scan }
    }

    pub fn update_moved(&self) -> Step<'run> {
        let update = self.on_catalog("update", &[], "moved", Read::Nothing);
        Step { name: "lanesum-update", ..update }
    }

    pub fn scrub(&self) -> Step<'run> {
        let scrub = self.on_catalog("scrub", &["--percent", "100"], "ok", Read::All);
        Step { name: "lanesum-scrub", ..scrub }
    }

    /// Makes the list that [`Self::check`] reads.
    pub fn list(&self) -> Result<()> {
        self.launch(self.lanesum).args(["sum", "-j", "1"]).args([&self.root]).run()?;
        Ok(fs::rename(&self.output, self.aside.join(LIST))?)
    }

    pub fn check(&self) -> Step<'run> {
        let list = self.aside.join(LIST);
        let launch = self.launch(self.lanesum).args(["check", "-j", "1"]).args([list]);
        let desk = self.clone();
        let verify = move || {
            let fine = desk.printed()?.lines().filter(|line| line.ends_with(": OK")).count();
            answers::expect("files that are OK", desk.files, fine)
        };
        Step { name: "lanesum-check", launch, verify: Box::new(verify) }
    }

    /// What the catalog takes for a file, once there is one.
    pub fn catalog_bytes_a_file(&self) -> Option<f64> {
        let bytes = fs::metadata(self.catalog()).ok()?.len();
        Some(bytes as f64 / self.files as f64)
    }

    /// A verb that says of all files that they are `what`.
    fn on_catalog(
        &self,
        verb: &'static str,
        words: &[&str],
        what: &'static str,
        read: Read,
    ) -> Step<'run> {
        let launch = self.launch(self.lanesum).args([verb, "-j", "1"]).args(words);
        let launch = launch.args(["--catalog"]).args([self.catalog()]);
        let desk = self.clone();
        let verify = move || {
            let read = if matches!(read, Read::All) { desk.files } else { 0 };
            answers::lanesum(&desk.complained()?, verb, (desk.files, what), read)
        };
        Step { name: verb, launch, verify: Box::new(verify) }
    }

    fn catalog_folder(&self) -> PathBuf {
        self.aside.join("catalog")
    }

    fn catalog(&self) -> PathBuf {
        self.catalog_folder().join("catalog.db")
    }

    // What the peers do.

    /// Names, sizes and times, as who reads no file has to have them at least.
    pub fn find(&self) -> Step<'run> {
        let launch = self.launch(program("find")).args([&self.root]);
        let desk = self.clone();
        let verify = move || {
            let files = desk.printed()?.lines().filter(|line| line.contains(".bin ")).count();
            answers::expect("files", desk.files, files)
        };
        let launch = launch.args(["-printf", r"%p %s %T@ %C@\n"]);
        Step { name: "find", launch, verify: Box::new(verify) }
    }

    /// The digests must be those of `sums`, if these are there.
    pub fn hashdeep(&self, sums: &'run OnceCell<Answers>) -> Keeper<'run> {
        const KNOWN: &str = "hashdeep";
        let known = self.aside.join(KNOWN);
        let forgotten = known.clone();
        let first = self.launch(program("hashdeep")).args(["-r", "-j0", "-c", "md5", "-W"]);
        let again = self.launch(program("hashdeep")).args(["-r", "-j0", "-a", "-v", "-k"]);
        let (desk, other) = (self.clone(), self.clone());
        let holds = move || {
            let found = answers::of_hashdeep(&fs::read(desk.aside.join(KNOWN))?)?;
            answers::expect("digests", desk.files, found.len())?;
            sums.get().map_or(Ok(()), |sums| found.agree_with(sums))
        };
        let same = move || answers::hashdeep_audit(&other.printed()?, other.files);
        self.keeper(
            "hashdeep",
            Box::new(move || remove(fs::remove_file(&forgotten))),
            (first.args([&known, &self.root]), Box::new(holds)),
            (again.args([&known, &self.root]), Box::new(same)),
        )
    }

    /// An index in each folder, called after its row.
    pub fn chkbit(&self, name: &'static str, algorithm: &str) -> Keeper<'run> {
        let index = format!(".{name}");
        let launch = |say: &str| {
            let launch = self.launch(program("chkbit")).args(["--update", say, "--algo"]);
            launch.args([algorithm, "--index-name", &index]).args([&self.root])
        };
        let (first, again) = (launch("--quiet"), launch("--plain"));
        let (desk, other, third) = (self.clone(), self.clone(), self.clone());
        let (to_forget, to_count) = (index.clone(), index.clone());
        let forget = move || {
            desk.indices(&to_forget)?.iter().try_for_each(|index| Ok(fs::remove_file(index)?))
        };
        let holds = move || {
            let mut files = 0;
            for index in other.indices(&to_count)? {
                files += answers::count(&fs::read_to_string(index)?, r#""h":""#);
            }
            answers::expect("files in the indices", other.files, files)
        };
        let same = move || answers::chkbit_again(&third.printed()?, third.files);
        let keeper =
            self.keeper(name, Box::new(forget), (first, Box::new(holds)), (again, Box::new(same)));
        Keeper { needs: Some("chkbit"), ..keeper }
    }

    /// A database in the folder that it runs in.
    pub fn bitrot(&self) -> Keeper<'run> {
        let launch = || self.launch(program("bitrot")).within(&self.root).args(["--workers", "1"]);
        let (desk, other, third) = (self.clone(), self.clone(), self.clone());
        let forget = move || {
            [".bitrot.db", ".bitrot.sha512"]
                .iter()
                .try_for_each(|name| remove(fs::remove_file(desk.root.join(name))))
        };
        let holds = move || answers::bitrot(&other.printed()?, other.files, other.files);
        let same = move || answers::bitrot(&third.printed()?, third.files, 0);
        self.keeper(
            "bitrot",
            Box::new(forget),
            (launch(), Box::new(holds)),
            (launch(), Box::new(same)),
        )
    }

    pub fn aide(&self) -> Keeper<'run> {
        self.aide_by("aide", "md5+s+m", true)
    }

    /// Compares what a stat tells, and reads no file.
    pub fn aide_times(&self) -> Keeper<'run> {
        self.aide_by("aide-times", "s+m+c", false)
    }

    fn aide_by(&self, name: &'static str, attributes: &str, reads_all: bool) -> Keeper<'run> {
        let (settings, database) = (self.aside.join(name), self.aside.join(format!("{name}.db")));
        let text = answers::aide_settings(&database, &self.root, attributes);
        let launch = |verb| self.launch(program("aide")).args([verb, "--config"]).args([&settings]);
        let (init, check) = (launch("--init"), launch("--check"));
        let (desk, other) = (self.clone(), self.clone());
        let forget = move || {
            remove(fs::remove_file(&database))?;
            Ok(fs::write(&settings, &text)?)
        };
        let holds = move || answers::aide(&desk.printed()?, "successfully initialized", desk.files);
        let same = move || answers::aide(&other.printed()?, "NO differences", other.files);
        let keeper =
            self.keeper(name, Box::new(forget), (init, Box::new(holds)), (check, Box::new(same)));
        Keeper { needs: Some("aide"), reads_all, ..keeper }
    }

    // What they share.

    fn launch(&self, program: impl AsRef<std::ffi::OsStr>) -> Launch {
        Launch::new(program, self.cpus, &self.output)
    }

    /// A peer whose rows are all of its name.
    fn keeper(
        &self,
        name: &'static str,
        forget: Box<dyn Fn() -> Result<()> + 'run>,
        (first, holds): (Launch, Box<dyn Fn() -> Result<()> + 'run>),
        (again, same): (Launch, Box<dyn Fn() -> Result<()> + 'run>),
    ) -> Keeper<'run> {
        Keeper {
            needs: Some(name),
            reads_all: true,
            forget,
            first: Step { name, launch: first, verify: holds },
            again: Step { name, launch: again, verify: same },
            recorded: Cell::default(),
        }
    }

    /// The last standard output.
    fn printed(&self) -> Result<String> {
        read(&self.output)
    }

    /// The last standard error.
    fn complained(&self) -> Result<String> {
        read(&errors_beside(&self.output))
    }

    /// The files of this name in the folders of the tree, which holds files two folders down.
    fn indices(&self, name: &str) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for all in read_dir(&self.root)? {
            for folder in read_dir(all?.path())? {
                let index = folder?.path().join(name);
                if index.exists() {
                    found.push(index);
                }
            }
        }
        Ok(found)
    }
}

fn read(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What is not there need not be removed.
fn remove(outcome: io::Result<()>) -> Result<()> {
    match outcome {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
