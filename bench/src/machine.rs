//! What the figures were taken on: without it a figure means nothing a day later.

use std::fmt::Write as _;
use std::fs;
use std::time::SystemTime;

use crate::clock;

/// Instruction sets that the code measured here may choose by.
const FLAGS_OF_INTEREST: [&str; 6] = ["sse2", "avx2", "avx512f", "avx512vl", "sha_ni", "vaes"];

/// A few lines: machine, CPU, kernel, compiler, clock, date.
pub fn describe() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut text = String::new();
    let mut line =
        |name: &str, value: String| writeln!(text, "{name:<9} {value}").expect("a String");
    line("machine", format!("{}, {} CPUs, {}", product(), cpus(), memory()));
    line("cpu", cpu_model(&cpuinfo));
    line("flags", flags(&cpuinfo));
    line("kernel", kernel());
    line("compiler", env!("LANESUM_BENCH_RUSTC").to_owned());
    line("bench", format!("lanesum-bench {}", env!("CARGO_PKG_VERSION")));
    line("clock", clock_reading());
    line("date", humantime::format_rfc3339_seconds(SystemTime::now()).to_string());
    text
}

fn product() -> String {
    let dmi = |name: &str| {
        let text = fs::read_to_string(format!("/sys/class/dmi/id/{name}")).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let known: Vec<String> = ["sys_vendor", "product_name"].into_iter().filter_map(dmi).collect();
    if known.is_empty() { "unnamed".to_owned() } else { known.join(" ") }
}

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn memory() -> String {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib: Option<f64> = field(&meminfo, "MemTotal")
        .and_then(|value| value.split_whitespace().next())
        .and_then(|number| number.parse().ok());
    kib.map_or("memory unknown".to_owned(), |kib| format!("{:.1} GiB", kib / 1_048_576.0))
}

/// Family and model as well, since virtual machines often shorten the name.
fn cpu_model(cpuinfo: &str) -> String {
    let get = |name| field(cpuinfo, name).unwrap_or("unknown");
    format!(
        "{} ({}, family {}, model {}, stepping {})",
        get("model name"),
        get("vendor_id"),
        get("cpu family"),
        get("model"),
        get("stepping"),
    )
}

fn flags(cpuinfo: &str) -> String {
    let all: Vec<&str> = field(cpuinfo, "flags").unwrap_or_default().split_whitespace().collect();
    FLAGS_OF_INTEREST.into_iter().filter(|flag| all.contains(flag)).collect::<Vec<_>>().join(" ")
}

fn kernel() -> String {
    let read = |name: &str| {
        let text = fs::read_to_string(format!("/proc/sys/kernel/{name}"));
        text.map_or("unknown".to_owned(), |text| text.trim().to_owned())
    };
    format!("{} {}", read("ostype"), read("osrelease"))
}

fn clock_reading() -> String {
    let reading = clock::Reading::take();
    let verdict = if reading.agrees() {
        "they agree"
    } else {
        "THEY DISAGREE: do not trust cycles_per_byte here"
    };
    format!(
        "{:.2} GHz by adds and rotates, {:.2} GHz by multiplications and rotates; {verdict}",
        reading.add_rotate / 1e9,
        reading.multiply_rotate / 1e9,
    )
}

/// The value of the first line `name : value`, as /proc/cpuinfo and /proc/meminfo have them.
fn field<'text>(text: &'text str, name: &str) -> Option<&'text str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPUINFO: &str = "vendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n\
        model name\t: AMD EPYC\nstepping\t: 1\nflags\t\t: fpu sse2 avx2 avx512foo\n";

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        assert_eq!(field(CPUINFO, "model"), Some("2"));
        assert_eq!(field(CPUINFO, "cores"), None);
    }

    #[test]
    fn the_cpu_is_named_with_family_and_flags() {
        assert_eq!(cpu_model(CPUINFO), "AMD EPYC (AuthenticAMD, family 26, model 2, stepping 1)");
        assert_eq!(flags(CPUINFO), "sse2 avx2");
    }
}
