//! MinIO's md5-simd, which is Go: a child that is told when to do a round and says how long it
//! took, so that it takes its turn among the others. It is built when it is wanted; the Go command
//! fetches the package.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::Digest;
use crate::peers;

pub const NAME: &str = "minio-md5-simd";

/// The module's folder in the sources of the bench.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/go");

/// The child, waiting for its next order.
pub struct Go {
    child: Child,
    /// Taken when the child is to end.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Go {
    /// Builds and starts it, on the CPUs that this thread is bound to.
    ///
    /// # Errors
    ///
    /// A word why there is none: Go is not installed, or the package cannot be had.
    pub fn start() -> Result<Self, String> {
        let version = peers::version("go", "version").map_err(|why| format!("go: {why}"))?;
        let program = build().map_err(|error| format!("{version}: {error:#}"))?;
        let mut child = Command::new(&program)
            .env("GOMAXPROCS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let orders = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("standard output is piped"));
        Ok(Self { child, orders, answers })
    }

    /// Name and version of the package, and of Go.
    pub fn version() -> String {
        let module = fs::read_to_string(Path::new(SOURCE).join("go.mod")).unwrap_or_default();
        let package = module.lines().find_map(|line| line.strip_prefix("require ")).unwrap_or(NAME);
        let go = peers::version("go", "version").unwrap_or_else(|why| why);
        format!("{package}, {go}")
    }

    /// Gives it the messages that it is to hash from now on.
    pub fn load(&mut self, messages: &[&[u8]]) -> Result<()> {
        self.order(&format!("load {}", messages.len()))?;
        let orders = self.orders.as_mut().expect("it lives");
        for message in messages {
            orders.write_all(&(message.len() as u64).to_le_bytes())?;
        }
        messages.iter().try_for_each(|message| orders.write_all(message))?;
        let answer = self.answer()?;
        ensure!(answer == "loaded", "{NAME} answered {answer:?}");
        Ok(())
    }

    /// Has it hash all messages so many times; returns the seconds that took.
    pub fn run(&mut self, times: usize) -> Result<f64> {
        self.order(&format!("run {times}"))?;
        let answer = self.answer()?;
        answer.parse().with_context(|| format!("{NAME} answered {answer:?}"))
    }

    /// The digests of the last run.
    pub fn digests(&mut self, count: usize) -> Result<Vec<Digest>> {
        self.order("digests")?;
        (0..count).map(|_| parse_digest(&self.answer()?)).collect()
    }

    fn order(&mut self, line: &str) -> Result<()> {
        let orders = self.orders.as_mut().expect("it lives");
        writeln!(orders, "{line}").with_context(|| format!("{NAME} has ended"))
    }

    fn answer(&mut self) -> Result<String> {
        let mut line = String::new();
        ensure!(self.answers.read_line(&mut line)? > 0, "{NAME} has ended");
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Go {
    /// It ends when there are no more orders.
    fn drop(&mut self) {
        drop(self.orders.take());
        self.child.wait().ok();
    }
}

/// The program, beside this executable.
fn build() -> Result<PathBuf> {
    let own = std::env::current_exe().context("the path of this executable")?;
    let program = own.with_file_name(NAME);
    eprintln!("building {NAME}");
    let output = Command::new("go")
        .args(["build", "-buildvcs=false", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir(SOURCE)
        .output()
        .context("go build")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", errors.lines().last().unwrap_or("go build failed"));
    Ok(program)
}

fn parse_digest(line: &str) -> Result<Digest> {
    let digest: lanesum_md5::Md5Digest =
        line.parse().map_err(|error| anyhow::anyhow!("{NAME} answered {line:?}: {error}"))?;
    Ok(digest.0)
}
