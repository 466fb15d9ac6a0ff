//! `lanesum report`.

use std::collections::BTreeMap;
use std::io;
use std::process::ExitCode;

use indicatif::HumanCount;
use lanesum_catalog::{Catalog, CatalogError, Event, NotWell, Severity, Status};
use lanesum_list::formats::write_cell;

use super::print::{SCHEMA, finding_object, insert_path, line, whole};
use super::status::run_words;
use super::{code, console, fail, look, moment, name, now};
use crate::args::Report;
use crate::console::{Console, lock};

const DAY: i64 = 24 * 60 * 60;

/// Lists what is not well, and what was found.
///
/// # Errors
/// What keeps it from beginning.
pub fn run(args: &Report) -> anyhow::Result<ExitCode> {
    let console = console()?;
    let mut console = lock(&console);
    let reported = look(&args.place)?.and_then(|catalog| {
        let not_well = catalog.not_well()?;
        report(args, &catalog, &not_well, &mut console)?;
        console.flush().map_err(CatalogError::Told)?;
        if !not_well.is_empty() {
            return Ok(Severity::Damage);
        }
        let mut severity = Severity::AsCataloged;
        for root in catalog.roots()? {
            if root.suspended.is_some() || !catalog.undone(&root)?.is_empty() {
                severity = Severity::NotAllDone;
            }
        }
        Ok(severity)
    });
    Ok(match reported {
        Ok(severity) => code(severity),
        Err(error) => fail(&error, &mut console),
    })
}

fn report(
    args: &Report,
    catalog: &Catalog,
    not_well: &[NotWell],
    console: &mut Console,
) -> Result<(), CatalogError> {
    let is_text = !args.csv && !args.json;
    let begun = if is_text {
        text(catalog, not_well, console)
    } else if args.csv {
        console.line(b"time,class,path,other,files,before,after\r\n")
    } else {
        Ok(())
    };
    begun.map_err(CatalogError::Told)?;
    if args.bad {
        let mut each = not_well.iter().filter(|_| !is_text);
        let printed = each.try_for_each(|file| console.line(&bad(args, file)));
        return printed.map_err(CatalogError::Told);
    }
    let since = now() - i64::from(args.since.unwrap_or(7)) * DAY;
    let mut is_first = is_text;
    catalog.events(since, &mut |event| {
        if std::mem::take(&mut is_first) {
            console.line(b"\nFound lately:\n")?;
        }
        let line = match (args.csv, args.json) {
            (true, _) => csv(event),
            (_, true) => json(event),
            _ => event_text(event, console),
        };
        console.line(&line)
    })
}

/// The mail: its subject, then each file that is not well, with its last good check, then what to do.
fn text(catalog: &Catalog, not_well: &[NotWell], console: &mut Console) -> io::Result<()> {
    let mut counts: BTreeMap<Status, u64> = BTreeMap::new();
    not_well.iter().for_each(|file| *counts.entry(file.status).or_default() += 1);
    let words: Vec<_> = counts
        .iter()
        .map(|(status, count)| format!("{} {}", HumanCount(*count), status.name()))
        .collect();
    let roots = catalog.roots().unwrap_or_default();
    let names: Vec<_> = roots
        .iter()
        .map(|root| root.path.file_name().unwrap_or_default().to_string_lossy())
        .collect();
    let suspended: Vec<_> = roots.iter().filter(|root| root.suspended.is_some()).collect();
    let mut subject = words.join(", ");
    if !suspended.is_empty() {
        let separator = if subject.is_empty() { "" } else { ", " };
        subject += &format!("{separator}{} suspended", suspended.len());
    }
    let undone: Vec<_> = roots
        .iter()
        .flat_map(|root| {
            catalog.undone(root).unwrap_or_default().into_iter().map(move |it| (root, it))
        })
        .filter(|(_, run)| run.outcome.as_deref() != Some("suspended"))
        .collect();
    if !undone.is_empty() {
        let separator = if subject.is_empty() { "" } else { ", " };
        subject += &format!("{separator}{} NOT complete", undone.len());
    }
    if subject.is_empty() {
        "nothing known to be damaged".clone_into(&mut subject);
    }
    console.line(format!("lanesum: {subject} - {}\n", names.join(", ")).as_bytes())?;
    for root in suspended {
        let mut line = b"\nsuspended ".to_vec();
        console.quote(&mut line, name(&root.path));
        line.extend_from_slice(
            format!(": {}\n", root.suspended.as_deref().unwrap_or("")).as_bytes(),
        );
        console.line(&line)?;
    }
    for (root, run) in undone {
        let mut line = b"\n".to_vec();
        console.quote(&mut line, name(&root.path));
        line.extend_from_slice(format!(": {}\n", run_words(&run)).as_bytes());
        console.line(&line)?;
    }
    if not_well.is_empty() {
        return Ok(());
    }
    console.line(b"\n")?;
    for file in not_well {
        let mut line = file.status.name().as_bytes().to_vec();
        line.push(b' ');
        console.quote(&mut line, name(&file.path));
        line.extend_from_slice(format!(", last good {}\n", moment(file.last_good)).as_bytes());
        console.line(&line)?;
    }
    console.line(
        b"\nPut back a good copy, and run `lanesum update`. If a file is right as it is:\n\
          lanesum accept PATH. If it is gone for good: lanesum forget PATH.\n",
    )
}

fn event_text(event: &Event, console: &Console) -> Vec<u8> {
    let finding = &event.finding;
    let mut line = format!("{} {} ", moment(event.at), finding.class).into_bytes();
    if let (Some(other), Some(root)) = (&finding.other, &event.root) {
        console.quote(&mut line, &whole(root, other));
        line.extend_from_slice(b" -> ");
    }
    console.quote(&mut line, name(&event.path()));
    line.push(b'\n');
    line
}

fn cells<'a>(cells: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut line = Vec::new();
    for (place, cell) in cells.into_iter().enumerate() {
        if place > 0 {
            line.push(b',');
        }
        write_cell(&mut line, cell);
    }
    line.extend_from_slice(b"\r\n");
    line
}

fn csv(event: &Event) -> Vec<u8> {
    let finding = &event.finding;
    let root = event.root.clone().unwrap_or_default();
    let path = event.path();
    let other = finding.other.as_deref().map(|other| whole(&root, other)).unwrap_or_default();
    let (time, files) = (moment(event.at), finding.files.to_string());
    fn words(words: &Option<String>) -> &[u8] {
        words.as_deref().unwrap_or_default().as_bytes()
    }
    cells([
        time.as_bytes(),
        finding.class.name().as_bytes(),
        name(&path),
        &other,
        files.as_bytes(),
        words(&finding.before),
        words(&finding.after),
    ])
}

fn json(event: &Event) -> Vec<u8> {
    let root = event.root.clone().unwrap_or_default();
    let mut object = finding_object(&root, &event.finding);
    object.insert("event".to_owned(), "finding".into());
    object.insert("time".to_owned(), event.at.into());
    line(object)
}

/// A file that is not well, as a row or an object.
fn bad(args: &Report, file: &NotWell) -> Vec<u8> {
    if args.csv {
        let time = moment(file.last_good);
        let before = b"last good at that time";
        return cells([
            time.as_bytes(),
            file.status.name().as_bytes(),
            name(&file.path),
            b"",
            b"1",
            before,
            b"",
        ]);
    }
    let mut object = serde_json::Map::new();
    object.insert("schema".to_owned(), SCHEMA.into());
    object.insert("event".to_owned(), "not well".into());
    object.insert("class".to_owned(), file.status.name().into());
    insert_path(&mut object, "path", name(&file.path));
    object.insert("last_good".to_owned(), file.last_good.into());
    line(object)
}
