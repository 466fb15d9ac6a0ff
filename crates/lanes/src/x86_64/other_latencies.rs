//! For tests alone: all tests of a binary again as on CPUs of other latencies, in processes of
//! their own. Each of these tests must begin with [`pretend`].

use std::env;
use std::process::Command;

use super::latency::Latency;

const VARIABLE: &str = "LANESUM_TEST_LATENCY";

/// In a child of [`test_each`]: chooses as such a CPU would.
pub fn pretend() {
    if let Ok(name) = env::var(VARIABLE) {
        let is_named = |latency: &Latency| format!("{latency:?}") == name;
        Latency::ALL.into_iter().find(is_named).expect("a latency").pretend();
    }
}

/// The test that runs the others.
///
/// # Panics
/// Panics if one of them fails.
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
