//! Runs one program as a competitor: pinned, timed, its memory read.
//!
//! The bench does not start programs itself but through a copy of its own executable, called with
//! the hidden word [`WORD`]. That launcher pins itself, starts the program (which inherits the
//! pinning), waits, and prints one line: seconds, peak memory, exit code. Three things are had by
//! this: the pinning needs no `unsafe` between fork and exec, its time is not measured, and the
//! peak memory is the program's own. Linux counts what a process held before it called exec as
//! well, so a child of the bench would be charged with the bench's lists; a child of the launcher
//! is charged with the launcher's 5 MiB or so, which is therefore the least that is ever shown.
//!
//! Where the program starts others (xargs), the peak is that of the largest single process.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::Pid;

use crate::rig::Sample;

/// The first argument that makes this executable a launcher.
pub const WORD: &str = "__launch";

/// A program with everything that it is started with.
pub struct Launch {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(&'static str, &'static str)>,
    folder: PathBuf,
    cpus: Vec<usize>,
    output: PathBuf,
    accepted: &'static [i32],
    times_itself: bool,
}

impl Launch {
    /// `program` on `cpus` alone, in the root folder (Debian's lists are relative to it) unless
    /// said otherwise, its standard output going to the file `output`, its standard error to the
    /// file [`errors_beside`] it.
    pub fn new(program: impl AsRef<OsStr>, cpus: &[usize], output: &Path) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            environment: vec![("LC_ALL", "C")],
            folder: PathBuf::from("/"),
            cpus: cpus.to_vec(),
            output: output.to_owned(),
            accepted: &[0],
            times_itself: false,
        }
    }

    pub fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|each| each.as_ref().to_owned()));
        self
    }

    pub fn env(mut self, name: &'static str, value: &'static str) -> Self {
        self.environment.push((name, value));
        self
    }

    /// Where it runs.
    pub fn within(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.folder);
        self
    }

    /// The exit codes that are no failure; 0 alone unless said otherwise.
    pub fn accepting(mut self, codes: &'static [i32]) -> Self {
        self.accepted = codes;
        self
    }

    /// The program does something before the work that counts, and says how long that took: its
    /// last line on standard error is `seconds` and their number.
    pub fn timing_itself(mut self) -> Self {
        self.times_itself = true;
        self
    }

    /// Runs the program once, from its start to its end.
    pub fn run(&self) -> Result<Sample> {
        let errors = errors_beside(&self.output);
        let launcher = std::env::current_exe().context("the path of this executable")?;
        let answer = Command::new(launcher)
            .arg(WORD)
            .arg(join(&self.cpus))
            .args([self.output.as_path(), errors.as_path()])
            .arg(&self.program)
            .args(&self.arguments)
            .envs(self.environment.iter().copied())
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .output()
            .context("starting the launcher")?;
        let name = Path::new(&self.program).display();
        if !answer.status.success() {
            bail!("{}", String::from_utf8_lossy(&answer.stderr).trim());
        }
        let (cost_seconds, peak_bytes, code) =
            parse_answer(&String::from_utf8_lossy(&answer.stdout))?;
        ensure!(
            self.accepted.contains(&code),
            "{name}: exit code {code}: {}",
            last_line(&errors).unwrap_or_else(|| "nothing on standard error".to_owned()),
        );
        let seconds = if self.times_itself {
            let line = last_line(&errors).unwrap_or_default();
            own_seconds(&line).with_context(|| format!("{name} tells no time but {line:?}"))?
        } else {
            cost_seconds
        };
        Ok(Sample { seconds, cost_seconds, peak_bytes: Some(peak_bytes), disk: None })
    }
}

/// Where the standard error of a program goes whose standard output goes to `output`.
pub fn errors_beside(output: &Path) -> PathBuf {
    output.with_extension("stderr")
}

/// The CPUs that this process may use, in ascending order.
pub fn allowed_cpus() -> Result<Vec<usize>> {
    let set = sched_getaffinity(Pid::from_raw(0)).context("sched_getaffinity")?;
    Ok((0..CpuSet::count()).filter(|&cpu| set.is_set(cpu) == Ok(true)).collect())
}

/// Binds the calling thread, and what it starts from now on, to `cpus`.
pub fn pin(cpus: &[usize]) -> Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu).with_context(|| format!("CPU {cpu}"))?;
    }
    sched_setaffinity(Pid::from_raw(0), &set)
        .with_context(|| format!("binding to the CPUs {}", join(cpus)))
}

/// The launcher's own side: `CPUS OUTPUT ERRORS PROGRAM ARGUMENTS...`.
pub fn serve(mut arguments: impl Iterator<Item = OsString>) -> Result<()> {
    let mut next = || arguments.next().context("the launcher is called by the bench alone");
    let (cpus, output, errors, program) = (next()?, next()?, next()?, next()?);
    pin(&split(&cpus.to_string_lossy())?)?;
    let mut command = Command::new(&program);
    command.args(arguments).stdout(create(&output)?).stderr(create(&errors)?);

    let start = Instant::now();
    let status = command
        .status()
        .with_context(|| format!("{} does not start", Path::new(&program).display()))?;
    let seconds = start.elapsed().as_secs_f64();

    let peak_kib = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss();
    println!("{seconds} {peak_kib} {}", code_of(status));
    Ok(())
}

/// As shells have it: 128 and the signal's number for a program that a signal ended.
fn code_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

/// Seconds, peak memory in bytes and exit code out of a launcher's line.
fn parse_answer(line: &str) -> Result<(f64, u64, i32)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [seconds, peak_kib, code] = fields[..] else {
        bail!("the launcher answered {line:?}");
    };
    Ok((seconds.parse()?, peak_kib.parse::<u64>()? * 1024, code.parse()?))
}

/// What a program that times itself says.
fn own_seconds(line: &str) -> Option<f64> {
    line.strip_prefix("seconds ")?.parse().ok()
}

fn create(path: &OsStr) -> Result<File> {
    File::create(path).with_context(|| Path::new(path).display().to_string())
}

fn last_line(path: &Path) -> Option<String> {
    let text = fs::read(path).ok()?;
    String::from_utf8_lossy(&text).trim_end().lines().last().map(str::to_owned)
}

fn join(cpus: &[usize]) -> String {
    cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn split(cpus: &str) -> Result<Vec<usize>> {
    cpus.split(',').map(|cpu| Ok(cpu.parse()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_three_fields() {
        assert_eq!(parse_answer("0.25 2048 1\n").unwrap(), (0.25, 2_097_152, 1));
        assert!(parse_answer("0.25 2048").is_err());
        assert!(parse_answer("").is_err());
    }

    #[test]
    fn a_program_may_time_itself() {
        assert_eq!(own_seconds("seconds 0.25"), Some(0.25));
        assert_eq!(own_seconds("0.25"), None);
        assert_eq!(own_seconds("seconds none"), None);
    }

    #[test]
    fn cpus_survive_the_way_through_an_argument() {
        assert_eq!(split(&join(&[0, 3, 17])).unwrap(), [0, 3, 17]);
    }

    #[test]
    fn a_pinned_thread_is_allowed_its_cpus_alone() {
        let all = allowed_cpus().unwrap();
        let last = *all.last().expect("at least one CPU");
        std::thread::spawn(move || {
            pin(&[last]).unwrap();
            assert_eq!(allowed_cpus().unwrap(), [last]);
        })
        .join()
        .unwrap();
        assert_eq!(allowed_cpus().unwrap(), all);
    }
}
