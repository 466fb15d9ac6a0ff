//! `lanesum report --deleted`: files whose records `update` deleted in working roots.

use lanesum_catalog::{Catalog, CatalogError, Deleted, Root};

use super::csv::row;
use crate::args::Report;
use crate::catalog::json::{content, hex, insert_path, line, object};
use crate::catalog::print::name;
use crate::catalog::standing::Standing;
use crate::catalog::times::{DAY, moment, utc, utc_of_nanoseconds};
use crate::console::Console;
use crate::counts::files;

/// Days for which the catalog keeps deleted records.
const KEPT: u32 = 90;

/// Lists deleted files, the newest first.
///
/// # Errors
/// Errors of the catalog and of standard output.
pub fn print(
    args: &Report,
    catalog: &Catalog,
    standing: &Standing,
    console: &mut Console,
) -> Result<(), CatalogError> {
    let days = args.since.unwrap_or(KEPT);
    let since = standing.now - i64::from(days) * DAY;
    let mut out = Vec::new();
    if args.csv {
        let header = ["root", "path", "deleted", "size", "modified", "digests"];
        row(&mut out, header.into_iter().map(str::as_bytes));
    }
    let mut count = 0;
    for root in standing.roots.iter().map(|it| &it.root) {
        for it in catalog.deleted(root, since)? {
            count += 1;
            match (args.csv, args.json) {
                (true, _) => csv(root, &it, &mut out),
                (_, true) => json(root, &it, &mut out),
                _ => text(&it, console, &mut out),
            }
        }
    }
    console.line(&out).and_then(|()| console.flush()).map_err(CatalogError::Output)?;
    if !args.csv && !args.json {
        console.message(format!("{} deleted in the last {days} d", files(count)).as_bytes());
    }
    Ok(())
}

fn text(it: &Deleted, console: &Console, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{}  ", moment(it.at)).as_bytes());
    console.quote(out, name(&it.path));
    out.extend_from_slice(format!(" ({})\n", digests(it)).as_bytes());
}

fn csv(root: &Root, it: &Deleted, out: &mut Vec<u8>) {
    let (at, size) = (utc(it.at), it.recorded.size.to_string());
    let (modified, digests) = (utc_of_nanoseconds(it.recorded.modified), digests(it));
    let texts = [&at, &size, &modified, &digests].map(|text| text.as_bytes());
    row(out, [name(&root.path), name(&it.path)].into_iter().chain(texts));
}

fn json(root: &Root, it: &Deleted, out: &mut Vec<u8>) {
    let mut object = object("deleted");
    insert_path(&mut object, "root", &root.path);
    insert_path(&mut object, "path", &it.path);
    object.insert("deleted".to_owned(), utc(it.at).into());
    object.insert("recorded".to_owned(), content(&it.recorded));
    out.extend(line(object));
}

/// Returns digests one after the other: `md5:900150983cd24fb0d6963f7d28e17f72`.
fn digests(it: &Deleted) -> String {
    let digests = it.recorded.digests.iter();
    let words: Vec<_> = digests.map(|it| format!("{}:{}", it.algorithm(), hex(it))).collect();
    words.join(" ")
}
