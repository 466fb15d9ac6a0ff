//! MD5 as the documents wrote it, in the shapes that their authors compared: what a clean form cost
//! then, and what it costs today.
//!
//! The Haskell document has four: rolled or unrolled, words decoded or read by pointer. The F#
//! document has two: tables over immutable values, tables with mutable locals. All are here to be
//! measured beside the real one in the scenario `one`, and for nothing else.

mod fsharp;
mod haskell;
mod steps;

use crate::hashers::OneShot;
use crate::hashers::frame::digest;

/// Name, in the table of `one`, and what it is.
pub const NAMES: [&str; 6] = [
    "rolled-decoded",
    "rolled-pointer",
    "unrolled-decoded",
    "unrolled-pointer",
    "table-values",
    "table-locals",
];

/// All of them, in the order of [`NAMES`].
pub fn all<'message>() -> impl Iterator<Item = OneShot<'message>> {
    macro_rules! each {
        ($($function:path),*) => {
            [$(Box::new(|message: &[u8]| digest(message, |state, blocks| {
                for block in blocks {
                    *state = $function(*state, block);
                }
            })) as _),*]
        };
    }
    let digests: [Box<dyn FnMut(&'message [u8]) -> _>; NAMES.len()] = each![
        haskell::rolled_decoded,
        haskell::rolled_in_place,
        haskell::unrolled_decoded,
        haskell::unrolled_in_place,
        fsharp::values,
        fsharp::locals
    ];
    NAMES.into_iter().zip(digests).map(|(name, digest)| OneShot { name, digest })
}
