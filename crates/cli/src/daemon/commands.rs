//! Runs commands that options give. Each has its own process group, so that all its processes end
//! with it, after at most a minute, and before the daemon ends.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::console::{Console, lock};

/// The maximum time of a command.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time that commands have when the daemon ends, which must end soon.
const GRACE: Duration = Duration::from_secs(1);
/// The interval at which a command's end is checked.
const LOOK: Duration = Duration::from_millis(20);

/// The commands of a daemon. Clones share them.
#[derive(Clone)]
pub struct Commands {
    state: Arc<Mutex<State>>,
    patience: Duration,
    grace: Duration,
}

#[derive(Default)]
struct State {
    /// Whether starting commands is over.
    is_ending: bool,
    /// The number of running commands, with their records.
    under_way: usize,
    /// The process groups whose leader was not waited for. Until then no other group has its
    /// number.
    groups: Vec<Pid>,
}

/// How a command ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Well,
    Failed(String),
    /// The daemon ends. The command did not start, or was ended.
    WithDaemon,
}

impl Default for Commands {
    fn default() -> Self {
        Self { state: Arc::default(), patience: PATIENCE, grace: GRACE }
    }
}

impl Commands {
    /// Runs a command, reports its failure, and then calls `note`. Does neither if it was ended
    /// because the daemon ends. Returns whether `note` was called.
    pub fn run(
        &self,
        command: Command,
        (option, words): (&str, &str),
        console: &Mutex<Console>,
        note: impl FnOnce(),
    ) -> bool {
        self.lock().under_way += 1;
        let end = self.run_to_end(command);
        if let End::Failed(why) = &end {
            let mut console = lock(console);
            let words = console.shown(words);
            console.message(format!("{option} {words}: {why}").as_bytes());
        }
        let is_over = end != End::WithDaemon;
        if is_over {
            note();
        }
        self.lock().under_way -= 1;
        is_over
    }

    /// Prevents further starts, and ends running commands soon.
    pub fn end(&self) {
        self.lock().is_ending = true;
        let began = Instant::now();
        while self.lock().under_way > 0 && began.elapsed() < self.grace {
            thread::sleep(LOOK);
        }
        self.kill();
    }

    /// Prevents further starts, and ends running commands.
    pub fn kill(&self) {
        let mut state = self.lock();
        state.is_ending = true;
        state.groups.iter().copied().for_each(kill_all);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_to_end(&self, command: Command) -> End {
        let began = Instant::now();
        let mut child = match self.spawn(command) {
            Ok(Some(child)) => child,
            Ok(None) => return End::WithDaemon,
            Err(error) => return End::Failed(error.to_string()),
        };
        let mut is_late = false;
        loop {
            let mut state = self.lock();
            let group = Pid::from_child(&child);
            if let Some(ended) = child.try_wait().transpose() {
                state.groups.retain(|&it| it != group);
                return match ended {
                    _ if is_late => End::Failed("stopped after a minute".to_owned()),
                    Ok(status) if status.success() => End::Well,
                    // The time limit may have killed it.
                    Ok(status) if state.is_ending && status.code().is_none() => End::WithDaemon,
                    Ok(status) => End::Failed(status.to_string()),
                    Err(error) => End::Failed(error.to_string()),
                };
            }
            if began.elapsed() >= self.patience {
                is_late = true;
                kill_all(group);
            }
            drop(state);
            thread::sleep(LOOK);
        }
    }

    /// Starts a command, unless the daemon ends.
    fn spawn(&self, mut command: Command) -> io::Result<Option<Child>> {
        let mut state = self.lock();
        if state.is_ending {
            return Ok(None);
        }
        let child = command.stdin(Stdio::null()).process_group(0).spawn()?;
        state.groups.push(Pid::from_child(&child));
        Ok(Some(child))
    }
}

fn kill_all(group: Pid) {
    // It may have ended by itself meanwhile.
    let _ = kill_process_group(group, Signal::KILL);
}

#[cfg(test)]
mod tests {
    use std::io::{PipeReader, Read as _};

    use super::*;

    /// A command whose output ends when all its processes have ended.
    fn shell(words: &str) -> (Command, PipeReader) {
        let (reader, writer) = io::pipe().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", words]).stdout(writer);
        (command, reader)
    }

    fn rest(mut output: PipeReader) -> String {
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn processes_of_a_command_end_with_it() {
        let patience = Duration::from_millis(200);
        let commands = Commands { patience, ..Commands::default() };
        let (command, output) = shell("sleep 1000 | cat; echo never");
        let end = commands.run_to_end(command);
        assert_eq!(end, End::Failed("stopped after a minute".to_owned()));
        assert_eq!(rest(output), "");
        assert!(commands.lock().groups.is_empty());
    }

    #[test]
    fn a_command_ends_with_the_daemon() {
        let commands = Commands { grace: Duration::ZERO, ..Commands::default() };
        let (command, mut output) = shell("echo begun; sleep 1000 | cat; echo never");
        let its = commands.clone();
        let run = thread::spawn(move || its.run_to_end(command));
        let mut begun = [0; 6];
        output.read_exact(&mut begun).unwrap();
        commands.end();
        assert_eq!(run.join().unwrap(), End::WithDaemon);
        assert_eq!(rest(output), "");
        assert_eq!(commands.run_to_end(Command::new("true")), End::WithDaemon);
    }

    #[test]
    fn a_command_that_is_nearly_over_comes_to_its_end() {
        let commands = Commands { grace: PATIENCE, ..Commands::default() };
        let (command, mut output) = shell("echo begun; sleep .1; echo done");
        let its = commands.clone();
        its.lock().under_way += 1;
        let run = thread::spawn(move || {
            let end = its.run_to_end(command);
            its.lock().under_way -= 1;
            end
        });
        let mut begun = [0; 6];
        output.read_exact(&mut begun).unwrap();
        commands.end();
        assert_eq!(run.join().unwrap(), End::Well);
        assert_eq!(rest(output), "done\n");
    }

    #[test]
    fn how_it_failed_is_told() {
        let commands = Commands::default();
        let end = |words| commands.run_to_end(shell(words).0);
        assert_eq!(end("true"), End::Well);
        assert_eq!(end("exit 3"), End::Failed("exit status: 3".to_owned()));
        assert_eq!(end("kill -9 $$"), End::Failed("signal: 9 (SIGKILL)".to_owned()));
        let absent = commands.run_to_end(Command::new("/no/such/command"));
        assert_eq!(absent, End::Failed("No such file or directory (os error 2)".to_owned()));
    }
}
