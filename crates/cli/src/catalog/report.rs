//! `lanesum report`.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use indicatif::HumanCount;
use lanesum_catalog::{Catalog, CatalogError, Event, NotWell, Overview, Root, Run, Severity};
use lanesum_list::formats::write_cell;

use super::print::{SCHEMA, finding_object, insert_path, line, place, whole};
use super::status::run_words;
use super::{NOTHING_CATALOGED, code, console, fail, html, look, moment, name, now};
use crate::args::Report;
use crate::console::{Console, lock};
use crate::counts::files;

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
        // As `status` says.
        Ok(catalog.overviews(now())?.iter().map(Overview::severity).max())
    });
    Ok(match reported {
        Ok(Some(severity)) => code(severity),
        Ok(None) => {
            console.message(NOTHING_CATALOGED.as_bytes());
            ExitCode::from(2)
        }
        Err(error) => fail(&error, &mut console),
    })
}

fn report(
    args: &Report,
    catalog: &Catalog,
    not_well: &[NotWell],
    console: &mut Console,
) -> Result<(), CatalogError> {
    let since = now() - i64::from(args.since.unwrap_or(7)) * DAY;
    if args.html {
        let subject = Standing::of(catalog)?.subject(not_well, console);
        let since = (!args.bad).then_some(since);
        return html::print(catalog, &subject, not_well, since, console);
    }
    let is_text = !args.csv && !args.json;
    if is_text {
        text(catalog, not_well, console)?;
    } else if args.csv {
        let header = b"time,class,path,other,files,before,after\r\n";
        console.line(header).map_err(CatalogError::Told)?;
    }
    if args.bad {
        let mut each = not_well.iter().filter(|_| !is_text);
        let printed = each.try_for_each(|file| console.line(&bad(args, file)));
        return printed.map_err(CatalogError::Told);
    }
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

/// What keeps folders from being known as well, but for files that are not.
struct Standing {
    roots: Vec<Root>,
    undone: Vec<(Root, Run)>,
    /// How many files of a root were never read.
    never: Vec<(Root, u64)>,
    /// Roots of which no look came to its end.
    unknown: Vec<Root>,
    /// Roots that are not scrubbed, and since when.
    paused: Vec<(Root, i64)>,
    /// How many files of a root were not read for longer than its period.
    late: Vec<(Root, u64)>,
}

impl Standing {
    fn of(catalog: &Catalog) -> Result<Self, CatalogError> {
        let roots = catalog.roots()?;
        let (mut undone, mut never, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        let (mut paused, mut late) = (Vec::new(), Vec::new());
        for root in &roots {
            let runs = catalog.undone(root)?.into_iter();
            // Of one that is suspended now that is told.
            let runs = runs.filter(|run| run.outcome.as_deref() != Some("suspended"));
            undone.extend(runs.map(|run| (root.clone(), run)));
            let unread = catalog.never_read(root)?;
            never.extend((unread > 0).then(|| (root.clone(), unread)));
            unknown.extend((!catalog.was_taken_up(root)?).then(|| root.clone()));
            let old = catalog.late(root, now())?;
            late.extend((old > 0).then(|| (root.clone(), old)));
            paused.extend(catalog.manners(root)?.paused.map(|since| (root.clone(), since)));
        }
        Ok(Self { roots, undone, never, unknown, paused, late })
    }

    fn suspended(&self) -> impl Iterator<Item = &Root> {
        self.roots.iter().filter(|root| root.suspended.is_some())
    }

    /// One line, whatever folders are called.
    fn subject(&self, not_well: &[NotWell], console: &Console) -> Vec<u8> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        not_well.iter().for_each(|file| *counts.entry(file.status.name()).or_default() += 1);
        let suspended = self.suspended().count() as u64;
        let never = self.never.iter().map(|(_, count)| count).sum();
        let others = [
            ("suspended", suspended),
            ("PAUSED", self.paused.len() as u64),
            ("NOT complete", self.undone.len() as u64),
            ("NEVER READ", never),
            ("LATE", self.late.iter().map(|(_, count)| count).sum()),
            ("NOT TAKEN UP", self.unknown.len() as u64),
        ];
        let others = others.into_iter().filter(|(_, count)| *count > 0);
        let words: Vec<_> = counts
            .into_iter()
            .chain(others)
            .map(|(word, count)| format!("{} {word}", HumanCount(count)))
            .collect();
        let words = if self.roots.is_empty() {
            "nothing is cataloged".to_owned()
        } else if words.is_empty() {
            "nothing known to be damaged".to_owned()
        } else {
            words.join(", ")
        };
        let mut subject = format!("lanesum: {words} - ").into_bytes();
        for (place, root) in self.roots.iter().enumerate() {
            if place > 0 {
                subject.extend_from_slice(b", ");
            }
            console.quote(&mut subject, name(Path::new(root.path.file_name().unwrap_or_default())));
        }
        subject
    }
}

/// The mail: its subject, then each file that is not well, with its last good check, then what to do.
fn text(
    catalog: &Catalog,
    not_well: &[NotWell],
    console: &mut Console,
) -> Result<(), CatalogError> {
    let standing = Standing::of(catalog)?;
    let mut mail = standing.subject(not_well, console);
    mail.push(b'\n');
    let mut about = |words: &str, root: &Root, more: &str| {
        mail.extend_from_slice(format!("\n{words}").as_bytes());
        console.quote(&mut mail, name(&root.path));
        mail.extend_from_slice(format!(": {more}\n").as_bytes());
    };
    for root in standing.suspended() {
        about("suspended ", root, root.suspended.as_deref().unwrap_or_default());
    }
    for (root, since) in &standing.paused {
        let since = moment(*since);
        about("", root, &format!("paused since {since}; `lanesum resume` lets it be scrubbed"));
    }
    for (root, run) in &standing.undone {
        about("", root, &run_words(run));
    }
    for root in &standing.unknown {
        about("", root, "no look at all of it came to its end; run `lanesum update`");
    }
    for (root, count) in &standing.never {
        about("", root, &format!("{} never read; run `lanesum update`", files(*count)));
    }
    for (root, count) in &standing.late {
        let days = root.policy.late_after_days();
        let words = format!(
            "{} not read for longer than {days} d; run `lanesum scrub` each day",
            files(*count)
        );
        about("", root, &words);
    }
    console.line(&mail).and_then(|()| list(not_well, console)).map_err(CatalogError::Told)
}

fn list(not_well: &[NotWell], console: &mut Console) -> io::Result<()> {
    if not_well.is_empty() {
        return Ok(());
    }
    console.line(b"\n")?;
    for file in not_well {
        let mut line = file.status.name().as_bytes().to_vec();
        line.push(b' ');
        console.quote(&mut line, name(&file.path));
        line.extend_from_slice(format!(", {}\n", last_good(file)).as_bytes());
        console.line(&line)?;
    }
    let is_any = |severity| not_well.iter().any(|file| file.status.severity() == severity);
    let mut words = String::from("\n");
    if is_any(Severity::Damage) {
        words += "Of what is damaged or missing, put back a good copy, and run `lanesum update`. If a \
                  file is right as\nit is: lanesum accept PATH. If it is gone for good: lanesum forget \
                  PATH.\n";
    }
    if is_any(Severity::Differences) {
        words += "`lanesum update` takes up what is changed.\n";
    }
    if is_any(Severity::NotAllDone) {
        words +=
            "`lanesum audit` reads again what was busy, or hidden by what was mounted there.\n";
    }
    console.line(words.as_bytes())
}

/// When a file was well.
pub(super) fn last_good(file: &NotWell) -> String {
    match file.last_good {
        0 => "never read as it is cataloged".to_owned(),
        time => format!("last good {}", moment(time)),
    }
}

fn event_text(event: &Event, console: &Console) -> Vec<u8> {
    let finding = &event.finding;
    let mut line = format!("{} {} ", moment(event.at), finding.class).into_bytes();
    if let (Some(other), Some(root)) = (&finding.other, &event.root) {
        console.quote(&mut line, &place(root, other, finding));
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
        let is_known = file.last_good != 0;
        let time = if is_known { moment(file.last_good) } else { String::new() };
        let before: &[u8] =
            if is_known { b"last good at that time" } else { b"never read as it is cataloged" };
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
