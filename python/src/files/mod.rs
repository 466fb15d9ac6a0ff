//! Files, trees and lists of checksums: the engine's work as tables of Arrow.
//!
//! ```text
//! batches.rs   a table: batches of one schema, for Python and for what reads Arrow
//! rows.rs      a row for each file; names.rs: names of any bytes
//! options.rs   what every function is told; watch.rs: work that ctrl-C ends
//! hash.rs      files and trees;     etags.rs   ETags of S3
//! check.rs     lists beside files;  compare.rs lists and trees beside one another
//! lists.rs     lists read and written; shards.rs what earlier runs have hashed
//! ```
//!
//! Arguments are checked and named here where that needs the engine's knowledge, and otherwise in
//! Python.

mod batches;
mod check;
mod compare;
mod etags;
mod hash;
mod lists;
mod names;
mod options;
mod rows;
mod shards;
mod watch;

pub(crate) use batches::Batches;
pub(crate) use check::check_lists;
pub(crate) use compare::compare_sides;
pub(crate) use etags::etags_of_paths;
pub(crate) use hash::{failed_rows, file_sizes, hash_below, hash_paths, walk_tree};
pub(crate) use lists::{format_list, formats, read_list_content, read_list_file};
pub(crate) use options::{algorithm_names, algorithms_named};
pub(crate) use shards::{known_rows, now, settled_rows};
