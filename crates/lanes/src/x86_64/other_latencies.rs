//! For tests only: runs all tests of a binary again as on CPUs of other latencies, in child
//! processes. Each of these tests must start with [`pretend`].

use std::env;
use std::process::Command;

use super::latency::Latency;

const VARIABLE: &str = "LANESUM_TEST_LATENCY";

/// Chooses backends as a CPU of the latency to test would, in a child process of [`test_each`].
pub fn pretend() {
    if let Ok(name) = env::var(VARIABLE) {
        let is_named = |latency: &Latency| format!("{latency:?}") == name;
        Latency::ALL.into_iter().find(is_named).expect("a latency").pretend();
    }
}

/// Runs all other tests once for each latency.
///
/// # Panics
/// Panics if a test fails.
pub fn test_each() {
    if env::var_os(VARIABLE).is_some() {
        return;
    }
    for latency in Latency::ALL {
        let mut tests = Command::new(env::current_exe().unwrap());
        let ended = tests.env(VARIABLE, format!("{latency:?}")).status().unwrap();
        assert!(ended.success(), "{latency:?}");
    }
}
