//! The modules of a crate as a graph of files: which file uses which. The graph has no cycle.
//!
//! A path is followed to the file that defines its first name that is not a module. Names that
//! `lib.rs` or a `mod.rs` imports or re-exports are followed to where they come from. So an edge
//! leads to the file that has the definition, not to those that pass it on.
//!
//! | counts as an edge | does not |
//! |---|---|
//! | `use` of a module or of a name in it | a re-export of a child, unless the file uses the name itself |
//! | `crate::`, `super::` and `self::` paths in code | `mod child;` |
//! | a path that begins with a child or an imported name | names from other crates |
//! | | everything in `#[cfg(test)]` |

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use syn::Item;

use super::paths::{Module, Segments, Use, attributes, is_for_tests};
use super::sources;

/// The crates whose modules must not form a cycle.
const ACYCLIC: &[&str] = &["catalog"];

/// A name that is passed on more often is its own re-export, as in `use tempfile::tempfile`.
const MOST_REEXPORTS: usize = 16;

#[test]
fn modules_form_no_cycle() {
    for name in ACYCLIC {
        let graph = Modules::of_crate(name).graph();
        assert!(graph.len() > 5, "{name}: {graph:?}");
        if let Some(cycle) = cycle(&graph) {
            panic!("the modules of {name} form a cycle:\n{}", in_words(&graph, &cycle));
        }
    }
}

/// The files of a crate, named from `src` on, that are not only for tests.
pub fn files_without_tests(root: &Path) -> BTreeSet<String> {
    Modules::of_folder(root).0.into_values().map(|module| module.file).collect()
}

/// For each file the files that it uses, each with a path by which it does.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

/// The files of the shortest cycle. The first is also the last.
fn cycle(graph: &Graph) -> Option<Vec<String>> {
    let all = graph.keys().filter_map(|start| cycle_from(graph, start));
    all.min_by_key(Vec::len)
}

/// The shortest way from a file to itself.
fn cycle_from(graph: &Graph, start: &str) -> Option<Vec<String>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(file) = queue.pop_front() {
        for next in graph.get(file).into_iter().flat_map(BTreeMap::keys) {
            if came_from.contains_key(&**next) {
                continue;
            }
            came_from.insert(next, file);
            if next == start {
                let mut way = vec![start.to_owned()];
                let mut at = file;
                while at != start {
                    way.push(at.to_owned());
                    at = came_from[at];
                }
                way.push(start.to_owned());
                way.reverse();
                return Some(way);
            }
            queue.push_back(next);
        }
    }
    None
}

fn in_words(graph: &Graph, cycle: &[String]) -> String {
    let edge =
        |pair: &[String]| format!("{} -> {} ({})", pair[0], pair[1], graph[&pair[0]][&pair[1]]);
    cycle.windows(2).map(edge).collect::<Vec<_>>().join("\n")
}

/// The modules of a crate by their paths. Inline modules are modules of their own, in the same
/// file.
#[derive(Default)]
struct Modules(BTreeMap<Segments, Module>);

impl Modules {
    fn of_crate(name: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        Self::of_folder(&root)
    }

    fn of_folder(root: &Path) -> Self {
        let read = |path: &Path| {
            let file = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            (file, fs::read_to_string(path).unwrap())
        };
        Self::of_files(sources(root).iter().map(|path| read(path)))
    }

    /// From files, named from `src` on, and their text.
    fn of_files(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let (mut modules, mut of_tests) = (Self::default(), Vec::new());
        for (file, text) in files {
            let parsed = syn::parse_file(&text).unwrap_or_else(|why| panic!("{file}: {why}"));
            modules.add(&file, path_of_file(&file), &parsed.items, &mut of_tests);
        }
        modules.0.retain(|path, _| !of_tests.iter().any(|it| path.starts_with(it)));
        modules
    }

    /// Adds a module, and puts the paths of modules that are only for tests into `of_tests`.
    fn add(&mut self, file: &str, path: Segments, items: &[Item], of_tests: &mut Vec<Segments>) {
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        for item in items {
            if let Item::Mod(it) = item {
                let inner = [&path[..], &[it.ident.to_string()]].concat();
                if is_for_tests(&it.attrs) {
                    of_tests.push(inner);
                } else if let Some((_, items)) = &it.content {
                    self.add(file, inner, items, of_tests);
                }
            } else if !is_for_tests(attributes(item)) {
                module.take(item);
            }
        }
        self.0.insert(path, module);
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::new();
        for (path, module) in &self.0 {
            let edges = graph.entry(module.file.clone()).or_default();
            let mut add = |target: &Segments, by: &Segments| {
                let file = &self.0[target].file;
                if *file != module.file {
                    edges.entry(file.clone()).or_insert_with(|| by.join("::"));
                }
            };
            for it in &module.uses {
                let Some(target) = self.target(path, &it.path, MOST_REEXPORTS) else { continue };
                let is_passed_on = it.is_reexport && target.starts_with(path);
                let is_used = it.name.as_ref().is_some_and(|name| module.names.contains(name));
                if !is_passed_on || is_used {
                    add(&target, &it.path);
                }
            }
            for by in &module.paths {
                if let Some(target) = self.target(path, by, MOST_REEXPORTS) {
                    add(&target, by);
                }
            }
        }
        graph
    }

    /// The module that a path in another module leads to. None if it leads out of the crate, or
    /// begins with an item of that module. `left` counts down with each re-export.
    fn target(&self, from: &[String], path: &[String], left: usize) -> Option<Segments> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.below(Vec::new(), rest, left),
            "self" => self.below(from.to_vec(), rest, left),
            "super" => {
                let ups = path.iter().take_while(|it| *it == "super").count();
                let parent = from.len().checked_sub(ups)?;
                self.below(from[..parent].to_vec(), &path[ups..], left)
            }
            name => {
                let is_local =
                    self.child(from, name).is_some() || self.0[from].import(name).is_some();
                is_local.then(|| self.below(from.to_vec(), path, left)).flatten()
            }
        }
    }

    /// The module that has what a path below a module names.
    fn below(&self, at: Segments, path: &[String], left: usize) -> Option<Segments> {
        let Some((name, rest)) = path.split_first() else { return Some(at) };
        if let Some(child) = self.child(&at, name) {
            return self.below(child, rest, left);
        }
        let module = self.0.get(&at)?;
        let left = left.checked_sub(1)?;
        if let Some(import) = module.import(name) {
            return self.target(&at, &[&import.path[..], rest].concat(), left);
        }
        if module.defined.contains(name) {
            return Some(at);
        }
        let mut globs = module.uses.iter().filter_map(Use::glob);
        let from_glob = globs.find_map(|glob| {
            let target = self.target(&at, glob, left)?;
            self.has(&target, name, left).then(|| self.below(target, path, left)).flatten()
        });
        Some(from_glob.unwrap_or(at))
    }

    /// Whether a module has a name, itself or by a `use`.
    fn has(&self, at: &[String], name: &str, left: usize) -> bool {
        let (module, Some(left)) = (&self.0[at], left.checked_sub(1)) else { return false };
        let by_glob =
            |glob| self.target(at, glob, left).is_some_and(|it| self.has(&it, name, left));
        module.defined.contains(name)
            || module.import(name).is_some()
            || self.child(at, name).is_some()
            || module.uses.iter().filter_map(Use::glob).any(by_glob)
    }

    fn child(&self, of: &[String], name: &str) -> Option<Segments> {
        let path = [of, &[name.to_owned()]].concat();
        self.0.contains_key(&path).then_some(path)
    }
}

/// The path of the module in a file.
fn path_of_file(file: &str) -> Segments {
    let file = file.strip_suffix(".rs").unwrap();
    let file = file.strip_suffix("/mod").unwrap_or(file);
    if file == "lib" || file == "main" {
        return Vec::new();
    }
    file.split('/').map(str::to_owned).collect()
}

/// The edges of a crate of these files: `a.rs -> b.rs`.
fn edges(files: &[(&str, &str)]) -> Vec<String> {
    let files = files.iter().map(|&(file, text)| (file.to_owned(), text.to_owned()));
    let graph = Modules::of_files(files).graph();
    let of = |(from, to): (&String, &BTreeMap<String, String>)| {
        to.keys().map(|to| format!("{from} -> {to}")).collect::<Vec<_>>()
    };
    graph.iter().flat_map(of).collect()
}

/// A file `a.rs` of this text uses these files of a crate that has two levels.
#[track_caller]
fn uses(text: &str, expected: &[&str]) {
    let files = [
        ("lib.rs", "mod a; mod b; mod store; pub use b::B; pub use store::Row; pub use x::X;"),
        ("a.rs", text),
        ("b.rs", "pub struct B; pub fn make() {}"),
        (
            "store/mod.rs",
            "mod rows; pub mod lock; pub use rows::Row; use rows::*; pub fn open() {}",
        ),
        ("store/rows.rs", "pub struct Row; pub struct Rows; pub struct Own;"),
        ("store/lock.rs", "pub struct Lock;"),
    ];
    let edges = edges(&files);
    let found: Vec<_> = edges.iter().filter_map(|edge| edge.strip_prefix("a.rs -> ")).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn imports_and_paths_are_edges() {
    uses("use crate::b;", &["b.rs"]);
    uses("use crate::b::make as other;", &["b.rs"]);
    uses("use super::b::{self, B};", &["b.rs"]);
    uses(
        "use crate::{b::B, store::{lock::Lock, open}};",
        &["b.rs", "store/lock.rs", "store/mod.rs"],
    );
    uses("pub use crate::b::B;", &["b.rs"]);
    uses("use crate::b::*;", &["b.rs"]);
    uses(
        "fn f() -> Vec<crate::b::B> { Vec::<super::store::lock::Lock>::new() }",
        &["b.rs", "store/lock.rs"],
    );
    uses("fn f() { use crate::{b::B, store::lock as l}; }", &["b.rs", "store/lock.rs"]);
    uses("fn f() { assert!(crate::b::make()); }", &["b.rs"]);
    uses("use crate::store; fn f() { store::lock::Lock; }", &["store/lock.rs", "store/mod.rs"]);
    uses("mod inner { use super::super::b::B; use super::own; } fn own() {}", &["b.rs"]);
    uses("use std::b::B; use ::store::lock; fn f() { b::make(); ::b::make(); }", &[]);
    uses("// crate::b::B\n/// [`crate::b::B`]\nconst A: &str = \"crate::b::B\";", &[]);
    uses("pub(in crate::b) struct A;", &[]);
}

#[test]
fn names_that_are_passed_on_lead_to_their_definition() {
    uses("use crate::B;", &["b.rs"]);
    uses("use crate::{Row, store::Row as Other};", &["store/rows.rs"]);
    uses("fn f(row: crate::Row) { crate::Row::new(); }", &["store/rows.rs"]);
    // By `*`, also if it is private: modules below see it.
    uses("use crate::store::Own;", &["store/rows.rs"]);
    // Of another crate.
    uses("use crate::X;", &[]);
    uses("use store_of_another::store_of_another; use x::x; fn f() { x::b(); }", &[]);
    // Something that no file defines, as by a macro.
    uses("use crate::store::Made;", &["store/mod.rs"]);
}

#[test]
fn tests_use_nothing() {
    uses("#[cfg(test)] use crate::b::B;", &[]);
    uses("#[cfg(test)] mod tests { use crate::b::B; }", &[]);
    uses("impl A { #[cfg(test)] fn f() { crate::b::make(); } fn g() {} }", &[]);
    uses("#[cfg(not(test))] use crate::b::B;", &["b.rs"]);
    uses("#[cfg(feature = \"latest\")] use crate::b::B;", &["b.rs"]);
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("b.rs", ""),
        ("a.rs", "#[cfg(test)] mod tests;"),
        ("a/tests.rs", "use crate::b;"),
    ];
    assert_eq!(edges(&files), [""; 0]);
}

#[test]
fn parents_children_and_siblings_are_told_apart() {
    let parent = "mod one; mod two; pub use one::One; pub(crate) use two::help;";
    let files = |parent: &'static str| {
        [
            ("lib.rs", "mod p; pub use p::One;"),
            ("p/mod.rs", parent),
            ("p/one.rs", "use super::two; pub struct One;"),
            ("p/two.rs", "pub fn help() { super::base(); } pub struct Two;"),
        ]
    };
    assert_eq!(edges(&files(parent)), ["p/one.rs -> p/two.rs", "p/two.rs -> p/mod.rs"]);
    let with = |more: &str| edges(&files(Box::leak(format!("{parent} {more}").into_boxed_str())));
    let uses_two = ["p/mod.rs -> p/two.rs", "p/one.rs -> p/two.rs", "p/two.rs -> p/mod.rs"];
    assert_eq!(with("use two::Two;"), uses_two);
    assert_eq!(with("fn base() { two::help(); }"), uses_two);
    // It uses what it re-exports.
    assert_eq!(with("fn base() { help(); }"), uses_two);
    assert_eq!(with("struct A { help: u8 } fn base(a: A) { a.help; a.help(); }"), uses_two[1..]);
}

#[test]
fn the_shortest_cycle_is_shown() {
    let files = [
        ("a.rs", "use crate::b::B; use crate::d::D;"),
        ("b.rs", "use crate::c; pub struct B;"),
        ("c.rs", "fn f() { crate::a::f(); }"),
        ("d.rs", "use super::a::A; pub struct D;"),
        ("lib.rs", "mod a; mod b; mod c; mod d; pub use a::A;"),
    ];
    let graph = |files: &[(&str, &str)]| {
        let files = files.iter().map(|&(file, text)| (file.to_owned(), text.to_owned()));
        Modules::of_files(files).graph()
    };
    let all = graph(&files);
    let shown = "a.rs -> d.rs (crate::d::D)\nd.rs -> a.rs (super::a::A)";
    assert_eq!(in_words(&all, &cycle(&all).unwrap()), shown);
    let without_d = [&files[..3], &files[4..]].concat();
    assert_eq!(cycle(&graph(&without_d)).unwrap(), ["a.rs", "b.rs", "c.rs", "a.rs"]);
    let without_c = [&files[..2], &files[4..]].concat();
    assert_eq!(cycle(&graph(&without_c)), None);
}
