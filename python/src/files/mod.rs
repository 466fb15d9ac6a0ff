//! Files, trees and lists of checksums: the engine's work as tables of Arrow.
//!
//! ```text
//! batches.rs   a table: Arrow record batches with one schema
//! rows.rs      builds a table with a row for each file; names.rs builds columns of names
//! options.rs   the options of all functions; watch.rs lets ctrl-C end the work
//! hash.rs      hashes files and trees; etags.rs computes ETags of S3
//! check.rs     checks lists; compare.rs compares lists and trees
//! lists.rs     reads and writes lists; shards.rs finds results of earlier runs
//! ```
//!
//! Arguments are checked here if that needs the engine, and otherwise in Python.

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
