//! `lanesum report`: problems as a mail, or a fixity report of every file.

mod csv;
mod deleted;
mod head;
mod html;
mod jsonl;
mod mail;

use lanesum_catalog::{Catalog, CatalogError, Class, FileFilter, FileStatus, Pending, Root};

use super::commands::Commands;
use super::standing::Standing;
use super::{Code, now, place};
use crate::args::Report;
use crate::console::Console;
use head::Head;

/// The number of bytes of a report that are printed at once.
const AT_ONCE: usize = 64 << 10;

/// Prints a report.
///
/// # Errors
/// Errors of the catalog, and wrong usage.
pub fn run(args: &Report, console: &mut Console) -> anyhow::Result<Code> {
    let place = &args.roots.place;
    let catalog = place::look(place)?;
    let commands = Commands { place, console };
    let standing = Standing::of(&catalog, &args.roots.directories, commands, now())?;
    let code = standing.code();
    if args.quiet && code == Code::Nothing {
        return Ok(code);
    }
    if args.deleted {
        deleted::print(args, &catalog, &standing, console)?;
        return Ok(code);
    }
    let head = Head::of(&catalog, &standing, args.since)?;
    if args.csv {
        let algorithms = head::algorithms(&catalog, &standing)?;
        print(args, &catalog, &head, &mut csv::Csv { algorithms }, console)?;
    } else if args.json {
        print(args, &catalog, &head, &mut jsonl::JsonLines, console)?;
    } else if args.html {
        print(args, &catalog, &head, &mut html::Html, console)?;
    } else {
        mail::print(place, &catalog, &standing, console)?;
    }
    console.flush().map_err(CatalogError::Output)?;
    Ok(code)
}

/// A format of a fixity report.
trait Form {
    /// Writes the head: period, host, version, algorithms, counts and totals.
    fn begin(&mut self, head: &Head<'_>, out: &mut Vec<u8>);

    /// Writes a recorded file.
    fn file(&mut self, root: &Root, file: &FileStatus, out: &mut Vec<u8>);

    /// Writes a file without a record, or a directory that could not be read.
    fn pending(&mut self, root: &Root, pending: &Pending, out: &mut Vec<u8>);

    /// Writes the end.
    fn end(&mut self, out: &mut Vec<u8>);
}

/// Prints a fixity report. `--bad` limits it to files that need attention.
fn print(
    args: &Report,
    catalog: &Catalog,
    head: &Head<'_>,
    form: &mut dyn Form,
    console: &mut Console,
) -> Result<(), CatalogError> {
    let standing = head.standing;
    let mut out = Vec::new();
    form.begin(head, &mut out);
    for it in &standing.roots {
        let root = &it.root;
        let mut filter = FileFilter::default();
        (filter.root, filter.only_bad) = (Some(root.id()), args.bad);
        catalog.files(&filter, &mut |file| {
            if !args.bad || standing.is_problem(&file) {
                form.file(root, &file, &mut out);
            }
            print_some(&mut out, AT_ONCE, console)
        })?;
        for pending in catalog.pending(root)? {
            if !args.bad || pending.class == Class::Unchecked {
                form.pending(root, &pending, &mut out);
            }
        }
    }
    form.end(&mut out);
    print_some(&mut out, 1, console).map_err(CatalogError::Output)
}

/// Prints the buffer if it has this many bytes.
fn print_some(out: &mut Vec<u8>, least: usize, console: &mut Console) -> std::io::Result<()> {
    if out.len() >= least {
        console.line(out)?;
        out.clear();
    }
    Ok(())
}
