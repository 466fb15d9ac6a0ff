//! What the arguments' values may be, with the names in help and completions.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lanesum_checksum::Algorithm;
use lanesum_checksum::engine::Io;
use lanesum_list::formats::Kind;
use lanesum_md5::Backend;

/// Algorithms by name, with the names in help and completions.
pub fn algorithms() -> impl TypedValueParser<Value = Algorithm> {
    PossibleValuesParser::new(Algorithm::ALL.map(value)).map(named)
}

fn value(algorithm: Algorithm) -> PossibleValue {
    let hyphenated = match algorithm {
        Algorithm::Sha1 => Some("sha-1"),
        Algorithm::Sha224 => Some("sha-224"),
        Algorithm::Sha256 => Some("sha-256"),
        Algorithm::Sha384 => Some("sha-384"),
        Algorithm::Sha512 => Some("sha-512"),
        _ => None,
    };
    PossibleValue::new(algorithm.name()).aliases(algorithm.aliases()).aliases(hyphenated)
}

fn named(name: String) -> Algorithm {
    Algorithm::called(&name).expect("one of the names")
}

/// Parses algorithms, and hides those that need a key. They are accepted here, so that a later
/// error gives the reason.
pub fn keyless_algorithms() -> impl TypedValueParser<Value = Algorithm> {
    let value = |it: Algorithm| value(it).hide(it.needs_key());
    PossibleValuesParser::new(Algorithm::ALL.map(value)).map(named)
}

/// Formats by name, those that will do, with the names in help and completions.
pub fn formats(will_do: fn(Kind) -> bool) -> impl TypedValueParser<Value = Kind> {
    let names = Kind::ALL.into_iter().filter(|&kind| will_do(kind)).map(Kind::name);
    PossibleValuesParser::new(names).map(|name| name.parse().expect("one of the names"))
}

/// Ways to read by name, with the names in help and completions; one that the system lacks is
/// wrong.
pub fn io() -> impl TypedValueParser<Value = Io> {
    PossibleValuesParser::new(Io::ALL.map(Io::name)).try_map(|name| {
        let io = Io::ALL.into_iter().find(|io| io.name() == name).expect("one of the names");
        io.check().map(|()| io).map_err(|error| {
            let why = lanesum_checksum::error::message(&error);
            format!(
                "{why}: the kernel has no io_uring, or kernel.io_uring_disabled or a container \
                 forbids it; use --io read"
            )
        })
    })
}

pub fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("expected a number from 1 to 1024, such as 8".to_owned()),
    }
}

/// The environment variable with the value of `--backend`. md5sum mode has only the variable.
pub const BACKEND_VARIABLE: &str = "LANESUM_BACKEND";

/// Returns the backend with a name, or an error with the known names. An empty variable means the
/// best one.
pub fn backend(name: &str) -> Result<Backend, String> {
    if name.is_empty() {
        return Ok(Backend::best());
    }
    Backend::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Backend::available().map(Backend::name).collect();
        format!("expected a backend of this CPU: {}", names.join(", "))
    })
}
