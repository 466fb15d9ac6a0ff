//! How long a crate and its functions may be.

use std::fs;
use std::path::Path;

use syn::spanned::Spanned as _;
use syn::{Block, ImplItem, Item, Signature, TraitItem};

use super::modules::files_without_tests;
use super::paths::{impl_attributes, is_for_tests};

/// The crates with a limit, each with the lines that it may have, without tests.
const MOST_LINES: &[(&str, usize)] = &[("catalog", 10_500)];

/// From the line with `fn` to that with the closing brace.
const LONGEST_FUNCTION: usize = 60;

#[test]
fn crates_and_functions_stay_short() {
    let mut offenders = Vec::new();
    for (name, most) in MOST_LINES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        let mut files = files_without_tests(&folder);
        files.retain(|file| !file.ends_with("tests.rs"));
        let lines: usize = files.iter().map(|file| lines_of(&read(&folder.join(file)))).sum();
        if lines > *most {
            offenders.push(format!("{name} has {lines} lines, and may have {most}"));
        }
        for file in files {
            let found = long_functions(&read(&folder.join(&file)));
            offenders.extend(found.iter().map(|it| format!("{name}/src/{file}:{it}")));
        }
    }
    assert!(offenders.is_empty(), "{offenders:#?}");
}

/// The lines of a file, without its modules for tests.
fn lines_of(text: &str) -> usize {
    let items = syn::parse_file(text).unwrap().items;
    let of_tests = items.iter().filter_map(|item| match item {
        Item::Mod(it) if is_for_tests(&it.attrs) => {
            let [first, last] = [it.attrs[0].span().start(), it.span().end()].map(|at| at.line);
            Some(last - first + 1)
        }
        _ => None,
    });
    text.lines().count() - of_tests.sum::<usize>()
}

/// The functions that are too long, apart from those for tests: `LINE: NAME has N lines`.
fn long_functions(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    of_items(&syn::parse_file(text).unwrap().items, &mut found);
    found
}

fn of_items(items: &[Item], found: &mut Vec<String>) {
    for item in items {
        match item {
            Item::Fn(it) if !is_for_tests(&it.attrs) => measure(&it.sig, &it.block, found),
            Item::Impl(it) => {
                for item in it.items.iter().filter(|item| !is_for_tests(impl_attributes(item))) {
                    if let ImplItem::Fn(it) = item {
                        measure(&it.sig, &it.block, found);
                    }
                }
            }
            Item::Trait(it) => {
                for item in &it.items {
                    if let TraitItem::Fn(it) = item
                        && let Some(block) = &it.default
                    {
                        measure(&it.sig, block, found);
                    }
                }
            }
            Item::Mod(it) if !is_for_tests(&it.attrs) => {
                let items = it.content.as_ref().map(|(_, items)| items);
                of_items(items.map_or(&[], |items| items), found);
            }
            _ => {}
        }
    }
}

fn measure(signature: &Signature, block: &Block, found: &mut Vec<String>) {
    let first = signature.fn_token.span.start().line;
    let last = block.brace_token.span.close().end().line;
    let lines = last - first + 1;
    if lines > LONGEST_FUNCTION {
        found.push(format!("{first}: {} has {lines} lines", signature.ident));
    }
}

#[test]
fn lines_of_tests_do_not_count() {
    let tests = "#[cfg(test)]\nmod tests {\n    fn test() {}\n}\n";
    assert_eq!(lines_of(&format!("fn a() {{}}\n\n{tests}fn b() {{}}\n")), 3);
    assert_eq!(lines_of("mod a {\n}\n#[cfg(test)]\n#[path = \"tests.rs\"]\nmod tests;\n"), 2);
}

#[test]
fn long_functions_are_found_outside_of_tests() {
    let function = |name: &str, lines: usize| {
        let body = "    work();\n".repeat(lines - 2);
        format!("fn {name}() {{\n{body}}}\n")
    };
    let (short, long) = (function("short", 60), function("long", 61));
    assert_eq!(long_functions(&short), [""; 0]);
    assert_eq!(long_functions(&format!("{short}{long}")), ["61: long has 61 lines"]);
    assert_eq!(long_functions(&format!("#[cfg(test)]\nmod tests {{\n{long}}}\n")), [""; 0]);
    assert_eq!(long_functions(&format!("impl A {{\n#[cfg(test)]\n{long}}}\n")), [""; 0]);
    for (within, line) in [("impl A", 2), ("trait A", 2), ("mod a", 2), ("impl A for B", 2)] {
        let text = format!("{within} {{\npub {long}}}\n");
        let text = if within == "trait A" { text.replace("pub ", "") } else { text };
        assert_eq!(long_functions(&text), [format!("{line}: long has 61 lines")], "{within}");
    }
    // A signature counts, attributes and comments before it do not.
    let signature = format!("/// Comment.\n#[inline]\n{}", function("long", 60));
    assert_eq!(long_functions(&signature), [""; 0]);
    let signature = signature.replace("long()", "long(\n    a: A,\n)");
    assert_eq!(long_functions(&signature), ["3: long has 62 lines"]);
}
