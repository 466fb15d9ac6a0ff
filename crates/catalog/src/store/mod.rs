//! SQLite: the file, its tables, rows and seals, and batches of writes.

pub(crate) mod batch;
pub(crate) mod catalog;
pub(crate) mod check;
pub(crate) mod chunk;
pub(crate) mod connect;
pub(crate) mod digests;
pub(crate) mod lock;
pub(crate) mod pending;
mod private;
pub(crate) mod rows;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod seal;
pub(crate) mod table;
pub(crate) mod total;
