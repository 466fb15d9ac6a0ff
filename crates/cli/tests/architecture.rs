//! Holds the arrows of ARCHITECTURE.md: which crate of the workspace may use which, and where
//! `unsafe` may be. Within a crate: modules without cycles, and short functions.

#[path = "architecture/modules.rs"]
mod modules;
#[path = "architecture/paths.rs"]
mod paths;
#[path = "architecture/sizes.rs"]
mod sizes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The crates, and what each may use of the others, be it for its code, its build or its tests.
/// Every arrow points to a crate further up in this table, and none to the bench.
const MAY_USE: &[(&str, &[&str])] = &[
    ("lanesum-lanes", &[]),
    ("lanesum-blockhash", &["lanesum-lanes"]),
    ("lanesum-md5", &["lanesum-blockhash", "lanesum-lanes"]),
    ("lanesum-sha1", &["lanesum-blockhash", "lanesum-lanes"]),
    ("lanesum-sha2", &["lanesum-blockhash", "lanesum-lanes"]),
    ("lanesum-siphash", &["lanesum-lanes"]),
    ("lanesum-table", &["lanesum-siphash"]),
    ("lanesum-events", &["lanesum-lanes"]),
    ("lanesum-list", &[]),
    (
        "lanesum-checksum",
        &[
            "lanesum-list",
            "lanesum-blockhash",
            "lanesum-md5",
            "lanesum-sha1",
            "lanesum-sha2",
            "lanesum-siphash",
        ],
    ),
    ("lanesum-bag", &["lanesum-list", "lanesum-checksum"]),
    ("lanesum-catalog", &["lanesum-events", "lanesum-list", "lanesum-siphash", "lanesum-checksum"]),
    (
        "lanesum",
        &[
            "lanesum-bag",
            "lanesum-catalog",
            "lanesum-blockhash",
            "lanesum-md5",
            "lanesum-sha1",
            "lanesum-sha2",
            "lanesum-events",
            "lanesum-list",
            "lanesum-checksum",
        ],
    ),
    (
        "lanesum-bench",
        &[
            "lanesum-lanes",
            "lanesum-blockhash",
            "lanesum-md5",
            "lanesum-sha1",
            "lanesum-sha2",
            "lanesum-siphash",
            "lanesum-table",
            "lanesum-events",
            "lanesum-list",
            "lanesum-checksum",
            "lanesum",
        ],
    ),
];

/// What the root of a crate says about `unsafe`. Three crates have a use for it: `lanes`, whose
/// business it is, and `checksum` and the program, where a module must ask for it.
fn unsafe_rule(package: &str) -> Option<&'static str> {
    match package {
        "lanesum-lanes" => None,
        "lanesum-checksum" | "lanesum" => Some("#![deny(unsafe_code)]"),
        _ => Some("#![forbid(unsafe_code)]"),
    }
}

/// A crate of the workspace, as cargo knows it.
struct Package {
    name: String,
    /// Names of what it depends on, of any kind.
    uses: Vec<String>,
    /// The files in which its library and programs begin.
    roots: Vec<String>,
}

fn workspace() -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    list(&metadata["packages"]).map(package).collect()
}

fn package(package: &Value) -> Package {
    const PRODUCTS: [&str; 4] = ["lib", "bin", "cdylib", "proc-macro"];
    let is_product =
        |target: &&Value| list(&target["kind"]).any(|kind| PRODUCTS.contains(&text(kind)));
    Package {
        name: text(&package["name"]).to_owned(),
        uses: list(&package["dependencies"]).map(|uses| text(&uses["name"]).to_owned()).collect(),
        roots: list(&package["targets"])
            .filter(is_product)
            .map(|target| text(&target["src_path"]).to_owned())
            .collect(),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().expect("a list").iter()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// What of a package's use of others the table does not allow, in words.
fn violations(package: &Package) -> Vec<String> {
    let name = &package.name;
    let Some((_, may_use)) = MAY_USE.iter().find(|(known, _)| known == name) else {
        return vec![format!("{name} is not in the table: say there what it may use")];
    };
    package
        .uses
        .iter()
        .filter(|uses| *uses == "lanesum" || uses.starts_with("lanesum-"))
        // A crate's tests may use the crate itself, with other features.
        .filter(|uses| *uses != name && !may_use.contains(&uses.as_str()))
        .map(|uses| format!("{name} must not use {uses}"))
        .collect()
}

#[test]
fn arrows_point_down() {
    let packages = workspace();
    assert!(packages.iter().any(|package| package.name == "lanesum"), "the workspace is found");
    let violations: Vec<String> = packages.iter().flat_map(violations).collect();
    assert!(violations.is_empty(), "{violations:#?}");
}

#[test]
fn the_table_has_no_way_round() {
    for (place, (name, may_use)) in MAY_USE.iter().enumerate() {
        for uses in *may_use {
            let is_above = MAY_USE[..place].iter().any(|(above, _)| above == uses);
            assert!(is_above, "{name} uses {uses}, which is not above it in the table");
        }
    }
}

#[test]
fn upward_and_unknown_dependencies_are_found() {
    let check = |name: &str, uses: &[&str]| {
        let uses = uses.iter().map(|&uses| uses.to_owned()).collect();
        violations(&Package { name: name.to_owned(), uses, roots: Vec::new() })
    };
    assert_eq!(check("lanesum-md5", &["lanesum-lanes", "digest"]), [""; 0]);
    assert_eq!(
        check("lanesum-lanes", &["lanesum-md5"]),
        ["lanesum-lanes must not use lanesum-md5"]
    );
    assert_eq!(check("lanesum", &["lanesum-bench"]), ["lanesum must not use lanesum-bench"]);
    assert_eq!(
        check("lanesum-new", &[]),
        ["lanesum-new is not in the table: say there what it may use"]
    );
}

#[test]
fn unsafe_stays_in_its_rooms() {
    for package in workspace() {
        assert!(!package.roots.is_empty(), "{} has a library or a program", package.name);
        let Some(rule) = unsafe_rule(&package.name) else { continue };
        for root in package.roots {
            let source = fs::read_to_string(&root).unwrap();
            assert!(source.lines().any(|line| line == rule), "{root} does not say {rule}");
        }
    }
}

/// The modules that may ask for `unsafe`, by the beginnings of their paths.
const ROOMS: [&str; 3] =
    ["checksum/src/engine/descriptors.rs", "checksum/src/engine/read/", "cli/src/startup/"];

#[test]
fn modules_with_unsafe_code_are_in_the_rooms() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut rooms = 0;
    for name in ["checksum", "cli"] {
        for source in sources(&crates.join(name).join("src")) {
            let text = fs::read_to_string(&source).unwrap();
            if ["expect(unsafe_code", "allow(unsafe_code"].iter().any(|it| text.contains(it)) {
                let path = source.strip_prefix(&crates).unwrap().to_str().unwrap();
                assert!(ROOMS.iter().any(|room| path.starts_with(room)), "{path}");
                rooms += 1;
            }
        }
    }
    assert!(rooms >= ROOMS.len(), "{rooms}");
}

/// Paths of the standard library that lead to files, streams, threads or the system.
const WORLD: &[&str] = &["fs", "io", "env", "net", "os", "process", "thread", "time"];

/// The parts of the world that a source asks for.
fn uses_of_the_world(source: &str) -> Vec<&'static str> {
    let is_used = |part: &&&str| {
        source.split("std::").skip(1).any(|rest| {
            let path = rest.split([';', '\n']).next().unwrap_or_default();
            let names: Vec<_> = path.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            if path.starts_with('{') { names.contains(*part) } else { names[0] == **part }
        })
    };
    WORLD.iter().filter(is_used).copied().collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

#[test]
fn lists_are_values() {
    let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../list/src"));
    assert!(sources.len() > 5, "{sources:?}");
    for source in sources {
        let uses = uses_of_the_world(&fs::read_to_string(&source).unwrap());
        assert!(uses.is_empty(), "{}: {uses:?}", source.display());
    }
}

#[test]
fn a_use_of_the_world_is_found() {
    assert_eq!(uses_of_the_world("use std::io::{self, BufRead};"), ["io"]);
    assert_eq!(uses_of_the_world("let now = std::time::SystemTime::now();"), ["time"]);
    assert_eq!(uses_of_the_world("use std::{env, fmt};"), ["env"]);
    assert_eq!(uses_of_the_world("use std::borrow::Cow;\nuse std::fmt; // no std::\n"), [""; 0]);
}

/// Whoever gets a crate by itself has its page and its licences, and docs.rs shows every feature.
#[test]
fn crates_are_packaged_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for folder in fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path()) {
        let read = |name: &str| fs::read_to_string(folder.join(name));
        let manifest = read("Cargo.toml").unwrap();
        assert!(manifest.contains("\nreadme = \"README.md\"\n"), "{folder:?}");
        for name in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(read(name).is_ok_and(|text| !text.is_empty()), "{folder:?}: {name}");
        }
        let shows_all = manifest.contains("[package.metadata.docs.rs]\nall-features = true\n");
        assert_eq!(manifest.contains("\n[features]\n"), shows_all, "{folder:?}");
    }
}
