//! Records which compiler builds the bench, for the head of every report.

use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC for build scripts");
    let output = Command::new(rustc).arg("--version").output().expect("rustc --version runs");
    let version = String::from_utf8_lossy(&output.stdout);
    println!("cargo::rustc-env=LANESUM_BENCH_RUSTC={}", version.trim());
    println!("cargo::rerun-if-changed=build.rs");
}
