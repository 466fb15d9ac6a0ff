//! Which backend is chosen on other CPUs than this one: those that QEMU imitates, where it is
//! installed (Debian's qemu-user). The choice for every mask of features there could be is tested
//! in `src/backend.rs`; this is the detection, for real.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::process::Command;

use lanesum_lanes::Backend;

/// The CPU that QEMU imitates, and the backend that must be chosen.
const CPUS: [(&str, &str); 6] = [
    ("qemu64", "sse2"),
    ("Nehalem", "sse2"),
    // AVX without AVX2.
    ("SandyBridge", "sse2"),
    ("Haswell", "avx2"),
    ("Haswell,-avx2", "sse2"),
    // AVX2 requires that the system saves the wide registers.
    ("Haswell,-xsave", "sse2"),
];

const QEMU: &str = "qemu-x86_64";

#[test]
fn masked_cpu_features_lower_the_backend() {
    if Command::new(QEMU).arg("--version").output().is_err() {
        println!("SKIPPED: {QEMU} is not installed");
        return;
    }
    for (cpu, expected) in CPUS {
        let output = Command::new(QEMU)
            .args(["-cpu", cpu])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "tell", "--ignored", "--nocapture", "--test-threads=1"])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{cpu}: {text}{errors}");
        assert!(text.contains(&format!("best: {expected}\n")), "{cpu}, not {expected}: {text}");
    }
}

/// The side that runs on the other CPU.
#[test]
#[ignore = "only as the child of the test above"]
fn tell() {
    println!("best: {}", Backend::best());
}
