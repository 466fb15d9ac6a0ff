//! The public interface of each library as a listing, `docs/api/CRATE.txt`: whoever changes it sees
//! it in the diff. `make record-api` writes the listings anew.
//!
//! It is read from the sources, so it needs no nightly compiler. A line is an item, a field, a
//! variant, a method or an implementation, as it is written there. What is public in a private
//! module counts where its name is re-exported. Of a macro its calls are listed, and what it makes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Fields, ImplItem, Item, Meta, TraitItem, Type, UseTree, Visibility};

const CRATES: [&str; 12] = [
    "bag",
    "blockhash",
    "catalog",
    "checksum",
    "events",
    "lanes",
    "list",
    "md5",
    "sha1",
    "sha2",
    "siphash",
    "table",
];

#[test]
fn interfaces_are_as_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let is_recording = std::env::var_os("LANESUM_RECORD").is_some();
    for name in CRATES {
        let mut api = Api::default();
        let source = root.join("crates").join(name).join("src/lib.rs");
        api.read(&source, true);
        let listing: String = api.listing().into_iter().map(|line| line + "\n").collect();
        let path = root.join(format!("docs/api/{name}.txt"));
        if is_recording {
            fs::write(&path, listing).unwrap();
            continue;
        }
        let recorded = fs::read_to_string(&path).unwrap_or_default();
        let [old, new] = [&recorded, &listing].map(|it| it.lines().collect::<BTreeSet<_>>());
        let removed: Vec<_> = old.difference(&new).collect();
        let added: Vec<_> = new.difference(&old).collect();
        assert!(
            recorded == listing,
            "{name}: the interface changed; on purpose? `make record-api`\n- {removed:#?}\n+ {added:#?}"
        );
    }
}

/// What is found in the sources of a crate.
#[derive(Default)]
struct Api {
    /// Lines, each with the name that it hangs on, and whether its module is public.
    lines: Vec<(String, bool, String)>,
    /// Names that are re-exported.
    exported: BTreeSet<String>,
}

impl Api {
    /// The lines of what can be reached, sorted.
    fn listing(mut self) -> BTreeSet<String> {
        let public = self.lines.iter().filter(|(_, is_public, _)| *is_public);
        self.exported.extend(public.map(|(name, ..)| name.clone()));
        let Self { lines, exported } = self;
        let is_there = |name: &str| name.is_empty() || exported.contains(name);
        lines.into_iter().filter(|(name, ..)| is_there(name)).map(|(_, _, line)| line).collect()
    }

    fn read(&mut self, path: &Path, is_public: bool) {
        let file = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
        let is_root = path.ends_with("lib.rs") || path.ends_with("mod.rs");
        let folder =
            if is_root { path.parent().unwrap().to_owned() } else { path.with_extension("") };
        file.items.iter().for_each(|item| self.take(item, &folder, is_public));
    }

    fn take(&mut self, item: &Item, folder: &Path, is_public: bool) {
        let Some(attributes) = attributes(item) else { return };
        let Some(marks) = marks(attributes) else { return };
        let mut add = |name: &dyn ToString, line: String| {
            let marks = if line.starts_with("field") { "" } else { &marks };
            self.lines.push((name.to_string(), is_public, format!("{marks}{line}").trim().into()));
        };
        match item {
            Item::Mod(it) => {
                let is_public = is_public && is_pub(&it.vis);
                let inner = folder.join(it.ident.to_string());
                match &it.content {
                    Some((_, items)) => {
                        items.iter().for_each(|it| self.take(it, &inner, is_public))
                    }
                    None => {
                        let files = [inner.with_extension("rs"), inner.join("mod.rs")];
                        let file = files.into_iter().find(|file: &PathBuf| file.exists());
                        self.read(&file.expect("a module has a file"), is_public);
                    }
                }
            }
            Item::Use(it) if is_pub(&it.vis) => {
                if is_public {
                    add(&"", format!("use {}", text(&it.tree)));
                }
                names(&it.tree, &mut self.exported);
            }
            Item::Fn(it) if is_pub(&it.vis) => add(&it.sig.ident, text(&it.sig)),
            Item::Const(it) if is_pub(&it.vis) => {
                add(&it.ident, format!("const {}: {}", it.ident, text(&it.ty)));
            }
            Item::Type(it) if is_pub(&it.vis) => {
                add(&it.ident, format!("type {} = {}", it.ident, text(&it.ty)));
            }
            Item::Struct(it) if is_pub(&it.vis) => {
                add(&it.ident, format!("struct {}{}", it.ident, text(&it.generics)));
                fields(&it.fields, &it.ident.to_string(), false, &mut add);
            }
            Item::Enum(it) if is_pub(&it.vis) => {
                add(&it.ident, format!("enum {}{}", it.ident, text(&it.generics)));
                for variant in &it.variants {
                    let name = format!("{}::{}", it.ident, variant.ident);
                    add(&it.ident, format!("variant {name}"));
                    fields(&variant.fields, &name, true, &mut add);
                }
            }
            Item::Trait(it) if is_pub(&it.vis) => {
                let bounds = text(&it.supertraits);
                add(&it.ident, format!("trait {}{}: {bounds}", it.ident, text(&it.generics)));
                for item in &it.items {
                    let (is_given, line) = match item {
                        TraitItem::Fn(it) => (it.default.is_some(), text(&it.sig)),
                        TraitItem::Const(it) => (it.default.is_some(), text(&it.ident)),
                        TraitItem::Type(it) => (false, format!("type {}", text(&it.ident))),
                        _ => continue,
                    };
                    let given = if is_given { " (given)" } else { "" };
                    add(&it.ident, format!("trait {}: {line}{given}", it.ident));
                }
            }
            Item::Impl(it) => {
                let owner = owner(&it.self_ty);
                let whose = text(&it.self_ty);
                if let Some((_, path, _)) = &it.trait_ {
                    let of = format!("impl{} {} for {whose}", text(&it.generics), text(path));
                    let bounds = it.generics.where_clause.as_ref().map_or(String::new(), text);
                    add(&owner, format!("{of} {bounds}"));
                    return;
                }
                for item in &it.items {
                    let (vis, attributes, line) = match item {
                        ImplItem::Fn(it) => (&it.vis, &it.attrs, text(&it.sig)),
                        ImplItem::Const(it) => {
                            let line = format!("const {}: {}", it.ident, text(&it.ty));
                            (&it.vis, &it.attrs, line)
                        }
                        _ => continue,
                    };
                    if let (true, Some(own)) = (is_pub(vis), self::marks(attributes)) {
                        add(&owner, format!("{own}{whose}: {line}"));
                    }
                }
            }
            Item::Macro(it) if it.ident.is_some() => {
                made(it.mac.tokens.clone(), &mut |line| add(&"", format!("made: {line}")));
            }
            Item::Macro(it) => match text(&it.mac) {
                call if call.len() < 160 => add(&"", call),
                // A table: the names of its entries.
                _ => {
                    let name = text(&it.mac.path);
                    entries(&it.mac.tokens)
                        .iter()
                        .for_each(|entry| add(&"", format!("{name}! {entry}")));
                }
            },
            _ => {}
        }
    }
}

/// Public fields, or those of a variant, which all are.
fn fields(fields: &Fields, of: &str, all: bool, add: &mut impl FnMut(&dyn ToString, String)) {
    let owner = of.split("::").next().unwrap_or(of).to_owned();
    for (place, field) in fields.iter().enumerate().filter(|(_, it)| all || is_pub(&it.vis)) {
        let name = field.ident.as_ref().map_or(place.to_string(), ToString::to_string);
        add(&owner, format!("field {of}.{name}: {}", text(&field.ty)));
    }
}

/// What a macro makes: from `pub` to a body or the end.
fn made(tokens: TokenStream, add: &mut dyn FnMut(String)) {
    let mut line: Option<TokenStream> = None;
    for token in tokens {
        let is_end = match &token {
            TokenTree::Group(group) if group.delimiter() == proc_macro2::Delimiter::Brace => {
                made(group.stream(), add);
                true
            }
            TokenTree::Group(group) => {
                made(group.stream(), add);
                // `pub(crate)`
                line.as_ref().is_some_and(|line| line.is_empty())
            }
            TokenTree::Punct(punct) => punct.as_char() == ';',
            TokenTree::Ident(ident) if ident == "pub" => {
                line = Some(TokenStream::new());
                continue;
            }
            _ => false,
        };
        if is_end {
            line.take().filter(|line| !line.is_empty()).into_iter().for_each(|it| add(text(&it)));
        } else if let Some(line) = &mut line {
            line.extend([token]);
        }
    }
}

/// The types among the names of a table's entries: those before a body.
fn entries(tokens: &TokenStream) -> Vec<String> {
    let tokens: Vec<_> = tokens.clone().into_iter().collect();
    let is_entry = |pair: &&[TokenTree]| {
        let is_body = matches!(&pair[1], TokenTree::Group(_));
        is_body && pair[0].to_string().starts_with(char::is_uppercase)
    };
    tokens.windows(2).filter(is_entry).map(|it| it[0].to_string()).collect()
}

/// The attributes of an item; of those that are not listed none.
fn attributes(item: &Item) -> Option<&[Attribute]> {
    Some(match item {
        Item::Mod(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Const(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        _ => return None,
    })
}

/// Those attributes that matter to users; none of what is hidden from them.
fn marks(attributes: &[Attribute]) -> Option<String> {
    let mut marks = String::new();
    for attribute in attributes.iter().filter(|it| !matches!(it.meta, Meta::NameValue(_))) {
        let line = text(attribute);
        if line == "#[doc(hidden)]" || line == "#[cfg(test)]" || line == "#[cfg(doctest)]" {
            return None;
        }
        if ["#[cfg(", "#[derive(", "#[non_exhaustive"].iter().any(|it| line.starts_with(it)) {
            marks += &(line + " ");
        }
    }
    Some(marks)
}

fn is_pub(vis: &Visibility) -> bool {
    matches!(vis, Visibility::Public(_))
}

/// The source, on one line.
fn text(node: &impl ToTokens) -> String {
    if node.to_token_stream().is_empty() {
        return String::new();
    }
    let text = node.span().source_text().expect("it comes from a file");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name of a type that has methods; none of references, tuples and the like.
fn owner(of: &Type) -> String {
    let Type::Path(path) = of else { return String::new() };
    path.path.segments.last().map_or(String::new(), |last| last.ident.to_string())
}

/// The names that a `use` brings.
fn names(tree: &UseTree, into: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(it) => names(&it.tree, into),
        UseTree::Name(it) => _ = into.insert(it.ident.to_string()),
        UseTree::Rename(it) => into.extend([it.ident.to_string(), it.rename.to_string()]),
        UseTree::Group(it) => it.items.iter().for_each(|it| names(it, into)),
        UseTree::Glob(_) => {}
    }
}
