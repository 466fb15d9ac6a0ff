//! The names and paths in a module: those that it defines, imports and uses.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, ImplItem, Item, UseTree, Visibility};

/// The segments of a path. That of a module begins below the crate.
pub type Segments = Vec<String>;

/// A module, in a file of its own or inline.
#[derive(Default)]
pub struct Module {
    pub file: String,
    pub uses: Vec<Use>,
    /// Names of its items, apart from modules.
    pub defined: BTreeSet<String>,
    /// Paths of several segments in its code.
    pub paths: BTreeSet<Segments>,
    /// Single names in its code, and the first segments of the paths.
    pub names: BTreeSet<String>,
}

/// A name that a `use` imports.
pub struct Use {
    pub path: Segments,
    /// None of `*` and `_`.
    pub name: Option<String>,
    pub is_reexport: bool,
}

impl Use {
    /// The module whose names it imports, if it imports all of them.
    pub fn glob(&self) -> Option<&[String]> {
        self.path.split_last().filter(|(last, _)| *last == "*").map(|(_, module)| module)
    }
}

impl Module {
    pub fn import(&self, name: &str) -> Option<&Use> {
        self.uses.iter().find(|it| it.name.as_deref() == Some(name))
    }

    /// Collects the names and paths of an item that is not a module.
    pub fn take(&mut self, item: &Item) {
        let name = match item {
            Item::Use(it) => {
                let is_reexport = !matches!(it.vis, Visibility::Inherited);
                // A path that begins with `::` leads out of the crate.
                let start = it.leading_colon.map(|_| "::".to_owned()).into_iter().collect();
                return leaves(&it.tree, start, &mut |path, name| {
                    self.uses.push(Use { path, name, is_reexport });
                });
            }
            Item::Impl(it) => {
                let mut it = it.clone();
                it.items.retain(|item| !is_for_tests(impl_attributes(item)));
                return self.scan(it.to_token_stream());
            }
            Item::Const(it) => Some(&it.ident),
            Item::Enum(it) => Some(&it.ident),
            Item::Fn(it) => Some(&it.sig.ident),
            Item::Macro(it) => it.ident.as_ref(),
            Item::Static(it) => Some(&it.ident),
            Item::Struct(it) => Some(&it.ident),
            Item::Trait(it) => Some(&it.ident),
            Item::Type(it) => Some(&it.ident),
            Item::Union(it) => Some(&it.ident),
            _ => None,
        };
        self.defined.extend(name.map(ToString::to_string));
        self.scan(item.to_token_stream());
    }

    /// Collects the paths and names in code.
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                // `pub(in path)` uses nothing.
                TokenTree::Group(group) if !is_restriction(group) => self.scan(group.stream()),
                TokenTree::Ident(ident) => {
                    let (path, next) = path_at(&tokens, at);
                    if !follows_colons(&tokens, at) {
                        if is_name(&tokens, at) {
                            self.names.insert(ident.to_string());
                        }
                        at = next;
                        if let Some(tree) = tree_at(&tokens, at) {
                            leaves(&tree, path, &mut |path, _| _ = self.paths.insert(path));
                            at += 1;
                        } else if path.len() > 1 {
                            self.paths.insert(path);
                        }
                        continue;
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}

/// The path that begins with an identifier, and where it ends: behind its last `::` if something
/// else than an identifier follows that.
fn path_at(tokens: &[TokenTree], mut at: usize) -> (Segments, usize) {
    let mut path = Vec::new();
    while let Some(TokenTree::Ident(ident)) = tokens.get(at) {
        path.push(ident.to_string());
        at += 1;
        if !is_colons(tokens, at) {
            break;
        }
        at += 2;
    }
    (path, at)
}

/// The braces behind the `::` of a `use` in a function.
fn tree_at(tokens: &[TokenTree], at: usize) -> Option<UseTree> {
    match tokens.get(at) {
        Some(TokenTree::Group(group))
            if group.delimiter() == Delimiter::Brace && follows_colons(tokens, at) =>
        {
            syn::parse2(TokenTree::Group(group.clone()).into()).ok()
        }
        _ => None,
    }
}

/// Whether `::` begins here.
fn is_colons(tokens: &[TokenTree], at: usize) -> bool {
    let is_colon = |at: usize, spacing: Option<Spacing>| {
        matches!(tokens.get(at), Some(TokenTree::Punct(it))
            if it.as_char() == ':' && spacing.is_none_or(|spacing| it.spacing() == spacing))
    };
    is_colon(at, Some(Spacing::Joint)) && is_colon(at + 1, None)
}

fn follows_colons(tokens: &[TokenTree], at: usize) -> bool {
    at >= 2 && is_colons(tokens, at - 2)
}

/// Whether an identifier may be the name of an item: not of a method, a field or a definition.
fn is_name(tokens: &[TokenTree], at: usize) -> bool {
    let is_punct = |at: usize, of: char| match tokens.get(at) {
        Some(TokenTree::Punct(it)) => it.as_char() == of,
        _ => false,
    };
    let follows =
        |word: &str| at > 0 && matches!(&tokens[at - 1], TokenTree::Ident(it) if it == word);
    let is_field = is_punct(at + 1, ':') && !is_colons(tokens, at + 1);
    let is_member = at > 0 && is_punct(at - 1, '.');
    !(is_member || is_field || follows("fn"))
}

/// Whether this is the parenthesis of `pub(in path)`.
fn is_restriction(group: &Group) -> bool {
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Parenthesis
        && matches!(first, Some(TokenTree::Ident(it)) if it == "in")
}

/// Gives each path that a `use` imports, and the name that it gets.
fn leaves(tree: &UseTree, mut path: Segments, give: &mut dyn FnMut(Segments, Option<String>)) {
    match tree {
        UseTree::Path(it) => {
            path.push(it.ident.to_string());
            leaves(&it.tree, path, give);
        }
        UseTree::Name(it) if it.ident == "self" => {
            let name = path.last().cloned();
            give(path, name);
        }
        UseTree::Name(it) => {
            path.push(it.ident.to_string());
            give(path, Some(it.ident.to_string()));
        }
        UseTree::Rename(it) => {
            if it.ident != "self" {
                path.push(it.ident.to_string());
            }
            give(path, Some(it.rename.to_string()).filter(|name| name != "_"));
        }
        UseTree::Glob(_) => {
            path.push("*".to_owned());
            give(path, None);
        }
        UseTree::Group(it) => it.items.iter().for_each(|it| leaves(it, path.clone(), give)),
    }
}

/// Whether something is compiled only for tests.
pub fn is_for_tests(attributes: &[Attribute]) -> bool {
    let is_of_tests = |it: &Attribute| {
        let condition = it.meta.to_token_stream().to_string();
        let has =
            |word: &str| condition.split(|it: char| !it.is_alphanumeric()).any(|it| it == word);
        it.path().is_ident("cfg") && has("test") && !has("not")
    };
    attributes.iter().any(is_of_tests)
}

pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Union(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

pub fn impl_attributes(item: &ImplItem) -> &[Attribute] {
    match item {
        ImplItem::Const(it) => &it.attrs,
        ImplItem::Fn(it) => &it.attrs,
        ImplItem::Type(it) => &it.attrs,
        _ => &[],
    }
}
