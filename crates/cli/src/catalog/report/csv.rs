//! A fixity report as CSV: lines that begin with `#`, a header, and a row for each file.

use std::path::Path;

use lanesum_catalog::{Content, FileStatus, Pending, Root, RootStatus};
use lanesum_checksum::Algorithms;
use lanesum_list::formats::write_cell;

use super::{Form, Head};
use crate::catalog::json::hex;
use crate::catalog::print::name;
use crate::catalog::times::{utc, utc_of_nanoseconds};

/// The columns before those of algorithms.
const COLUMNS: [&str; 10] = [
    "root", "path", "class", "reason", "size", "modified", "verified", "since", "moved_to", "error",
];

/// Rows with a column for each of these algorithms.
pub struct Csv {
    pub algorithms: Algorithms,
}

impl Form for Csv {
    fn begin(&mut self, head: &Head<'_>, out: &mut Vec<u8>) {
        let (from, to) = (utc(head.from), utc(head.standing.now));
        comment(out, &format!("lanesum {} fixity report of {}", head.version, head.host));
        comment(out, &format!("period {from} to {to}"));
        for it in &head.standing.roots {
            comment(out, &root_words(head, it));
        }
        let algorithms: Vec<_> = self.algorithms.iter().map(|it| it.to_string()).collect();
        let columns = COLUMNS.into_iter().chain(algorithms.iter().map(String::as_str));
        row(out, columns.map(str::as_bytes));
    }

    fn file(&mut self, root: &Root, file: &FileStatus, out: &mut Vec<u8>) {
        let Content { size, modified, .. } = file.recorded;
        let (size, modified) = (size.to_string(), utc_of_nanoseconds(modified));
        let verified = if file.verified > 0 { utc(file.verified) } else { String::new() };
        let since = if file.since == 0 { String::new() } else { utc(file.since) };
        let digests = self.algorithms.iter().map(|algorithm| {
            let mut digests = file.recorded.digests.iter();
            digests.find(|it| it.algorithm() == algorithm).map(hex).unwrap_or_default()
        });
        let digests: Vec<_> = digests.collect();
        let cells = [
            name(&root.path),
            name(&file.path),
            file.class.name().as_bytes(),
            file.reason.map_or("", lanesum_catalog::Reason::name).as_bytes(),
            size.as_bytes(),
            modified.as_bytes(),
            verified.as_bytes(),
            since.as_bytes(),
            file.moved_to.as_deref().map_or(&[], name),
            file.error.as_deref().unwrap_or_default().as_bytes(),
        ];
        row(out, cells.into_iter().chain(digests.iter().map(String::as_bytes)));
    }

    fn pending(&mut self, root: &Root, it: &Pending, out: &mut Vec<u8>) {
        let reason = it.reason.map_or("", lanesum_catalog::Reason::name);
        let mut cells = vec![&b""[..]; COLUMNS.len() + self.algorithms.iter().count()];
        cells[0] = name(&root.path);
        cells[1] = name(&it.path);
        (cells[2], cells[3]) = (it.class.name().as_bytes(), reason.as_bytes());
        cells[9] = it.error.as_deref().unwrap_or_default().as_bytes();
        row(out, cells.into_iter());
    }

    fn end(&mut self, _: &mut Vec<u8>) {}
}

/// A root's algorithms, counts and totals.
fn root_words(head: &Head<'_>, it: &RootStatus) -> String {
    let algorithms: Vec<_> = it.root.settings.algorithms.iter().map(|it| it.to_string()).collect();
    let counts: Vec<_> =
        it.standing.iter().map(|(class, count)| format!("{class} {count}")).collect();
    let reads = head.reads(it.root.id());
    format!(
        "root {}: {}; {} files, {} bytes; {}; new {}; in the period {} runs read {} files, {} bytes",
        path(&it.root.path),
        algorithms.join(" "),
        it.files,
        it.root.bytes,
        counts.join(", "),
        it.new,
        reads.runs,
        reads.files,
        reads.bytes,
    )
}

/// Returns a path without line ends.
fn path(path: &Path) -> String {
    path.to_string_lossy().replace(['\r', '\n'], "?")
}

fn comment(out: &mut Vec<u8>, words: &str) {
    out.extend_from_slice(format!("# {words}\r\n").as_bytes());
}

/// A row of cells.
pub fn row<'a>(out: &mut Vec<u8>, cells: impl Iterator<Item = &'a [u8]>) {
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write_cell(out, cell);
    }
    out.extend_from_slice(b"\r\n");
}
