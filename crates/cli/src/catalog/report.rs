//! `lanesum report`.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use indicatif::HumanCount;
use lanesum_catalog::{
    Catalog, CatalogError, Class, Event, Known, Overview, Root, Run, Severity, Status,
};
use lanesum_list::formats::write_cell;

use super::print::{SCHEMA, finding_object, insert_path, line, place, whole};
use super::status::{lacks, run_words, undone};
use super::{
    Asked, Spoken, code_of, command, console, fail, html, look, moment, name, nothing_cataloged,
    now,
};
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
    let reported = match look(&args.of.place)? {
        Ok(catalog) => {
            let spoken = Spoken { place: &args.of.place, console: &console };
            let asked = Asked::of(&catalog, &args.of.folders, &spoken)?;
            asked.and_then(|asked| report(args, &catalog, &asked, &mut console))
        }
        Err(error) => Err(error),
    };
    Ok(match reported {
        Ok(Some(code)) => code,
        Ok(None) => {
            let words = nothing_cataloged(&args.of.place, &console);
            console.message(words.as_bytes());
            ExitCode::from(2)
        }
        Err(error) => fail(&error, &args.of.place, &mut console),
    })
}

/// The exit code of the worst, as of `status`.
fn report(
    args: &Report,
    catalog: &Catalog,
    asked: &Asked,
    console: &mut Console,
) -> Result<Option<ExitCode>, CatalogError> {
    let mut not_well = catalog.not_well_after(0, usize::MAX)?;
    not_well.retain(|file| asked.is_any(|root| file.is_of(root)));
    catalog.find_copies(&mut not_well)?;
    let all = asked.overviews(catalog, now())?;
    let worst = all.iter().map(Overview::severity).max();
    if !(args.quiet && worst == Some(Severity::AsCataloged)) {
        print(args, (catalog, asked), (&all, &not_well), console)?;
        console.flush().map_err(CatalogError::Told)?;
    }
    Ok(code_of(&all))
}

fn print(
    args: &Report,
    (catalog, asked): (&Catalog, &Asked),
    (all, not_well): (&[Overview], &[Known]),
    console: &mut Console,
) -> Result<(), CatalogError> {
    let since = now() - i64::from(args.since.unwrap_or(7)) * DAY;
    if args.html {
        let page = html::Page { all, not_well, asked, place: &args.of.place };
        let since = (!args.bad).then_some(since);
        return page.print(catalog, &subject(all, not_well, console), since, console);
    }
    let is_text = !args.csv && !args.json;
    if is_text {
        text(args, all, not_well, console).map_err(CatalogError::Told)?;
    } else if args.csv {
        let more = if args.bad { ",last_good" } else { "" };
        let header = format!("time,class,path,other,files,before,after{more}\r\n");
        console.line(header.as_bytes()).map_err(CatalogError::Told)?;
    }
    if args.bad {
        if is_text {
            return Ok(());
        }
        let suspended = all.iter().map(|it| &it.root).filter(|root| root.suspended.is_some());
        let suspended = suspended.map(|root| suspended_row(args, root));
        let mut lines = suspended.chain(not_well.iter().map(|file| bad(args, file)));
        return lines.try_for_each(|line| console.line(&line)).map_err(CatalogError::Told);
    }
    let mut lately = Lately::default();
    catalog.events(since, &mut |event| {
        if !asked.is_any(|root| event.is_of(root)) {
            return Ok(());
        }
        match (args.csv, args.json) {
            (true, _) => console.line(&csv(event)),
            (_, true) => console.line(&json(event)),
            _ => lately.tell(event, console),
        }
    })?;
    lately.end(console).map_err(CatalogError::Told)
}

/// What was found lately, in a mail: of many edits, moves or new files that were found together the
/// first ones are told, and behind all of them how many more there are. Damage is told to the last.
#[derive(Default)]
struct Lately {
    has_begun: bool,
    /// When the last one was found.
    at: i64,
    /// How many of each class were found together.
    together: BTreeMap<Class, u64>,
    /// Files of those that are not told one by one.
    more: BTreeMap<Class, u64>,
}

impl Lately {
    /// Edits, moves or new files that are told one by one.
    const MOST: u64 = 20;
    /// Seconds between what was not found together.
    const APART: i64 = 60 * 60;

    fn tell(&mut self, event: &Event, console: &mut Console) -> io::Result<()> {
        let class = event.finding.class;
        if std::mem::replace(&mut self.at, event.at) < event.at - Self::APART {
            self.end(console)?;
        }
        let is_summed_up = matches!(
            class,
            Class::Touched
                | Class::Changed
                | Class::Older
                | Class::Moved
                | Class::New
                | Class::Copied
                | Class::Accepted
                | Class::Forgotten
        );
        let together = self.together.entry(class).or_default();
        *together += 1;
        if is_summed_up && *together > Self::MOST {
            *self.more.entry(class).or_default() += event.finding.files;
            return Ok(());
        }
        if !std::mem::replace(&mut self.has_begun, true) {
            console.line(b"\nFound lately:\n")?;
        }
        console.line(&event_text(event, console))
    }

    /// Sums up what was not told one by one.
    fn end(&mut self, console: &mut Console) -> io::Result<()> {
        self.together.clear();
        for (class, more) in std::mem::take(&mut self.more) {
            let words = format!("... {class}: {} more (report --csv has each)\n", files(more));
            console.line(words.as_bytes())?;
        }
        Ok(())
    }
}

/// One line, whatever folders are called.
fn subject(all: &[Overview], not_well: &[Known], console: &Console) -> Vec<u8> {
    if all.is_empty() {
        return b"lanesum: nothing is cataloged".to_vec();
    }
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    not_well.iter().for_each(|file| *counts.entry(file.status.name()).or_default() += 1);
    for (class, count) in all.iter().flat_map(|it| &it.not_taken_up) {
        *counts.entry(class.name()).or_default() += count;
    }
    let folders = |is_it: fn(&Overview) -> bool| all.iter().filter(|it| is_it(it)).count() as u64;
    let sum = |count: fn(&Overview) -> u64| all.iter().map(count).sum();
    let is_suspended = |it: &Overview| it.root.suspended.is_some();
    let undone = |it: &Overview| {
        let of_suspension = |run: &&Run| run.outcome.as_deref() == Some("suspended");
        let runs = it.undone.iter().filter(|run| !is_suspended(it) || !of_suspension(run));
        runs.count() as u64
    };
    let others = [
        ("suspended", folders(|it| it.root.suspended.is_some())),
        ("PAUSED", folders(|it| it.manners.paused.is_some())),
        ("NOT complete", all.iter().map(undone).sum()),
        ("NEVER READ", sum(|it| it.never)),
        ("LATE", sum(|it| it.late)),
        ("NOT TAKEN UP", folders(|it| !it.is_taken_up)),
        ("without files", folders(Overview::has_no_file)),
    ];
    let others = others.into_iter().filter(|(_, count)| *count > 0);
    let is_damaged = all.iter().any(|it| it.undone.iter().any(Run::found_damage));
    let damage = is_damaged.then(|| "the catalog is DAMAGED".to_owned());
    let counts = counts.into_iter().chain(others);
    let counts = counts.map(|(word, count)| format!("{} {word}", HumanCount(count)));
    let words: Vec<_> = damage.into_iter().chain(counts).collect();
    let words = match words.is_empty() {
        true => "nothing known to be damaged".to_owned(),
        false => words.join(", "),
    };
    let mut subject = format!("lanesum: {words} - ").into_bytes();
    // Those that it is about; all where nothing is wrong.
    let is_well = |it: &&Overview| it.severity() == Severity::AsCataloged;
    let are_well = all.iter().all(|it| is_well(&it));
    for (place, it) in all.iter().filter(|it| are_well || !is_well(it)).enumerate() {
        if place > 0 {
            subject.extend_from_slice(b", ");
        }
        let last = last_name(&it.root);
        // What tells it apart from another of the same name.
        let is_ambiguous = all.iter().filter(|other| last_name(&other.root) == last).count() > 1;
        console.quote(&mut subject, if is_ambiguous { name(&it.root.path) } else { name(last) });
    }
    subject
}

/// What a folder is called in its own.
fn last_name(root: &Root) -> &Path {
    root.path.file_name().map_or(&*root.path, Path::new)
}

/// The mail: its subject, then what folders lack, then each file that is not well, with its last
/// good check, then what to do.
fn text(
    args: &Report,
    all: &[Overview],
    not_well: &[Known],
    console: &mut Console,
) -> io::Result<()> {
    let mut mail = subject(all, not_well, console);
    mail.push(b'\n');
    let itself = command(&args.of.place, "report --bad", console);
    for it in all {
        let undone = undone(it, &args.of.place, console)
            .map(|(run, remedy)| (run_words(run, false), remedy));
        // What files lack is told with each of them.
        let lacks = lacks(it, &args.of.place, console).into_iter();
        for (words, remedy) in
            lacks.filter(|(words, _)| !words.starts_with("NOT WELL")).chain(undone)
        {
            mail.push(b'\n');
            console.quote(&mut mail, name(&it.root.path));
            mail.extend_from_slice(format!(": {words}\n").as_bytes());
            // What is told here needs no command that tells it.
            if remedy != itself {
                mail.extend_from_slice(format!("  -> {remedy}\n").as_bytes());
            }
        }
    }
    console.line(&mail)?;
    list(args, not_well, console)
}

fn list(args: &Report, not_well: &[Known], console: &mut Console) -> io::Result<()> {
    if not_well.is_empty() {
        return Ok(());
    }
    console.line(b"\n")?;
    for file in not_well {
        let mut line = file.standing().into_owned().into_bytes();
        line.push(b' ');
        console.quote(&mut line, name(&file.path));
        // It is looked for where it is now.
        if let Some(place) = &file.elsewhere {
            line.extend_from_slice(b" -> ");
            console.quote(&mut line, name(place));
        }
        line.extend_from_slice(format!(", {}", last_good(file)).as_bytes());
        if let Some(why) = why(file) {
            line.extend_from_slice(format!(": {why}").as_bytes());
        }
        if let Some(copy) = &file.copy {
            line.extend_from_slice(b"; a copy should be ");
            console.quote(&mut line, name(copy));
        }
        line.push(b'\n');
        console.line(&line)?;
    }
    let is_any = |severity| not_well.iter().any(|file| file.status.severity() == severity);
    let [update, audit, accept, forget] =
        ["update", "audit", "accept", "forget"].map(|verb| command(&args.of.place, verb, console));
    let mut words = String::from("\n");
    let is_lost = |file: &Known| {
        file.status.severity() == Severity::Damage && file.status != Status::Unreadable
    };
    if not_well.iter().any(is_lost) {
        words += &format!(
            "Of what is damaged or missing, put back a good copy, and run `{update}`.\nIf a file is \
             right as it is: {accept} PATH. If it is gone for good: {forget} PATH.\n"
        );
    }
    if not_well.iter().any(|file| file.elsewhere.is_some()) {
        words += "What lies elsewhere now is accepted under the name behind the arrow.\n";
    }
    if not_well.iter().any(|file| file.status == Status::Unreadable) {
        words += &format!("Of what is unreadable, mend what keeps it from being read: {update}\n");
    }
    if not_well.iter().any(may_be_rot) {
        words += &format!(
            "Hold what may have rotted against a copy: `{update}` leaves it alone. If it is right \
             as it is: {accept} PATH.\nIf it has rotted, put back a good copy, and run `{audit}`.\n"
        );
    }
    let is_edit =
        |file: &Known| file.status.severity() == Severity::Differences && !may_be_rot(file);
    if not_well.iter().any(is_edit) {
        words += &format!("`{update}` takes up what is changed.\n");
    }
    if is_any(Severity::NotAllDone) {
        words +=
            &format!("`{audit}` reads again what was busy, or hidden by what was mounted there.\n");
    }
    console.line(words.as_bytes())
}

/// When a file was well.
pub(super) fn last_good(file: &Known) -> String {
    match file.last_good {
        0 => "never read as it is cataloged".to_owned(),
        time => format!("last good {}", moment(time)),
    }
}

/// Why a file could not be read, or what is not known of it.
pub(super) fn why(file: &Known) -> Option<&str> {
    let is_told = matches!(file.status, Status::Unreadable | Status::Changed);
    file.found.as_ref().filter(|_| is_told)?.finding.why()
}

/// Whether it is changed so that an edit cannot be told from rot.
fn may_be_rot(file: &Known) -> bool {
    file.found.as_ref().is_some_and(|event| event.finding.may_be_rot())
}

fn event_text(event: &Event, console: &Console) -> Vec<u8> {
    let finding = &event.finding;
    let mut line = format!("{} {} ", moment(event.at), finding.class).into_bytes();
    if let (Some(other), Some(root)) = (&finding.other, &event.root) {
        console.quote(&mut line, &place(root, other, finding));
        line.extend_from_slice(b" -> ");
    }
    let path = place(Path::new(""), name(&event.path()), finding);
    console.quote(&mut line, &path);
    if finding.files > 1 {
        line.extend_from_slice(format!(" ({})", files(finding.files)).as_bytes());
    }
    if finding.class == Class::Touched {
        line.extend_from_slice(b" (its content is as cataloged again)");
    }
    // That of a folder that was added by itself has its whole path.
    if finding.class == Class::Forgotten && finding.path.starts_with(b"/") {
        line.extend_from_slice(b": it is cataloged no more");
    }
    if let Some(why) = finding.why().filter(|_| finding.class == Class::Changed) {
        line.extend_from_slice(format!(": {why}").as_bytes());
    }
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

/// A folder that is suspended, as a row or an object.
fn suspended_row(args: &Report, root: &Root) -> Vec<u8> {
    let why = root.suspended.as_deref().unwrap_or_default();
    if args.csv {
        let path = name(&root.path);
        return cells([&b""[..], &b"suspended"[..], path, b"", b"1", b"", why.as_bytes(), b""]);
    }
    let mut object = serde_json::Map::new();
    object.insert("schema".to_owned(), SCHEMA.into());
    object.insert("event".to_owned(), "not well".into());
    object.insert("class".to_owned(), "suspended".into());
    insert_path(&mut object, "path", name(&root.path));
    object.insert("after".to_owned(), why.into());
    line(object)
}

/// A file that is not well, as a row or an object.
fn bad(args: &Report, file: &Known) -> Vec<u8> {
    let finding = file.found.as_ref().map(|event| &event.finding);
    let before = finding.and_then(|it| it.before.as_deref());
    let after = finding.and_then(|it| it.after.as_deref());
    if args.csv {
        let time = file.found.as_ref().map(|event| moment(event.at)).unwrap_or_default();
        let last_good = if file.last_good == 0 { String::new() } else { moment(file.last_good) };
        return cells([
            time.as_bytes(),
            file.class().as_bytes(),
            name(file.place()),
            file.elsewhere.as_ref().map_or(&[], |_| name(&file.path)),
            b"1",
            before.unwrap_or_default().as_bytes(),
            after.unwrap_or_default().as_bytes(),
            last_good.as_bytes(),
        ]);
    }
    let mut object = serde_json::Map::new();
    object.insert("schema".to_owned(), SCHEMA.into());
    object.insert("event".to_owned(), "not well".into());
    object.insert("class".to_owned(), file.class().into());
    insert_path(&mut object, "path", name(file.place()));
    if file.elsewhere.is_some() {
        insert_path(&mut object, "other", name(&file.path));
    }
    let last_good = (file.last_good != 0).then_some(file.last_good);
    object.insert("last_good".to_owned(), last_good.into());
    if file.is_gone && file.status != Status::Missing {
        object.insert("gone".to_owned(), true.into());
    }
    if let Some(copy) = &file.copy {
        insert_path(&mut object, "copy", name(copy));
    }
    if let Some(event) = &file.found {
        object.insert("time".to_owned(), event.at.into());
    }
    let why = why(file).filter(|why| after != Some(*why));
    for (key, words) in [("before", before), ("after", after), ("why", why)] {
        object.extend(words.map(|words| (key.to_owned(), words.into())));
    }
    line(object)
}
