//! For tests only: runs all tests of a binary again as on CPUs with other latencies and other SHA
//! instructions, in child processes. Each of these tests must start with [`pretend`].

use std::env;
use std::process::Command;

use super::latency::Latency;
use super::sha::Instructions;
use crate::Backend;

/// The names of a latency and of SHA instructions, or of the first alone.
const VARIABLE: &str = "LANESUM_TEST_CPU";

/// Chooses kernels as the CPU to test would, in a child process of [`test_each`] or
/// [`test_each_with_sha`]. Returns whether this is one.
///
/// # Panics
/// Panics if the variable of the tests names no such CPU.
pub fn pretend() -> bool {
    let cpu = env::var(VARIABLE);
    if let Ok(cpu) = &cpu {
        let mut names = cpu.split(' ');
        let name = names.next().unwrap_or_default();
        let latency = Latency::ALL.into_iter().find(|it| format!("{it:?}") == name);
        latency.expect("a latency").pretend();
        if let Some(name) = names.next() {
            let found = Instructions::ALL.into_iter().find(|it| format!("{it:?}") == name);
            found.expect("SHA instructions").pretend();
        }
    }
    cpu.is_ok()
}

/// Runs all other tests once for each latency. Only a CPU with AVX-512 chooses by latency.
///
/// # Panics
/// Panics if a test fails.
pub fn test_each() {
    latencies().iter().for_each(|latency| test(&format!("{latency:?}")));
}

/// Runs all other tests once for each latency and each number of SHA instructions that this CPU can
/// pretend.
///
/// # Panics
/// Panics if a test fails.
pub fn test_each_with_sha() {
    let has_any = Instructions::of_this_cpu() != Instructions::None;
    let all = if has_any { &Instructions::ALL[..] } else { &[Instructions::None] };
    for latency in latencies() {
        all.iter().for_each(|instructions| test(&format!("{latency:?} {instructions:?}")));
    }
}

/// Returns the latencies that make a difference on this CPU.
fn latencies() -> &'static [Latency] {
    if Backend::from_name("avx512").is_some() { &Latency::ALL } else { &Latency::ALL[..1] }
}

/// Runs all tests in a child process, unless this is one.
fn test(cpu: &str) {
    if env::var_os(VARIABLE).is_none() {
        let mut tests = Command::new(env::current_exe().unwrap());
        let ended = tests.env(VARIABLE, cpu).status().unwrap();
        assert!(ended.success(), "{cpu}");
    }
}
