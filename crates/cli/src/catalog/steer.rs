//! `lanesum pause`, `lanesum resume`, `lanesum limit`: how scrubs behave, also one that runs.

use std::process::ExitCode;

use indicatif::DecimalBytes;
use lanesum_catalog::{Catalog, CatalogError, Control, Manners, Root};

use super::{Spoken, command, console, fail, look, moment, name, now, roots};
use crate::args::{Limit, Steer};
use crate::console::{fail_to_write, lock};

/// Lets nothing be scrubbed.
///
/// # Errors
/// What keeps it from beginning.
pub fn pause(args: &Steer) -> anyhow::Result<ExitCode> {
    each(args, |catalog, root| {
        Ok(Words::Paused(Control::open(catalog.path())?.pause(root, now())?))
    })
}

/// Lets be scrubbed again what was paused.
///
/// # Errors
/// What keeps it from beginning.
pub fn resume(args: &Steer) -> anyhow::Result<ExitCode> {
    each(args, |catalog, root| {
        Ok(Words::Done(match Control::open(catalog.path())?.resume(root)? {
            Some(since) => format!("resumed; it was paused since {}", moment(since)),
            None => "it was not paused".to_owned(),
        }))
    })
}

/// Changes how folders are scrubbed, and tells how they are.
///
/// # Errors
/// What keeps it from beginning.
pub fn limit(args: &Limit) -> anyhow::Result<ExitCode> {
    let change = args.manners.change();
    each(&args.steer, |catalog, root| {
        if change.is_nothing() {
            let words = words(&catalog.manners(root)?, root.policy.every_days);
            return Ok(Words::Asked(words + &policy(root)));
        }
        let manners = Control::open(catalog.path())?.limit(root, &change)?;
        Ok(Words::Done(words(&manners, change.every_days.unwrap_or(root.policy.every_days))))
    })
}

/// What came of it.
enum Words {
    /// What somebody wants to know.
    Asked(String),
    /// What was changed.
    Done(String),
    /// Since when nothing is scrubbed.
    Paused(i64),
}

/// Does something with each of the folders, and says what came of it.
fn each(
    args: &Steer,
    steer: impl Fn(&Catalog, &Root) -> Result<Words, CatalogError>,
) -> anyhow::Result<ExitCode> {
    let console = console()?;
    let catalog = match look(&args.place)? {
        Ok(catalog) => catalog,
        Err(error) => return Ok(fail(&error, &args.place, &mut lock(&console))),
    };
    let place = &args.place;
    let asked = roots(&catalog, &args.folders, &Spoken { place, console: &lock(&console) })?;
    let roots = match asked {
        Ok(roots) => roots,
        Err(error) => return Ok(fail(&error, place, &mut lock(&console))),
    };
    let mut worst = ExitCode::SUCCESS;
    for root in roots {
        let steered = steer(&catalog, &root);
        let mut console = lock(&console);
        match steered {
            Ok(Words::Paused(since)) => {
                let resume = command(place, "resume", &console);
                let words = format!("paused since {}; `{resume}` lets it go on", moment(since));
                console.about(name(&root.path), &words);
            }
            Ok(Words::Done(words)) => console.about(name(&root.path), &words),
            Ok(Words::Asked(words)) => {
                let mut line = Vec::new();
                console.quote(&mut line, name(&root.path));
                line.extend_from_slice(format!(": {words}\n").as_bytes());
                if let Err(error) = console.line(&line).and_then(|()| console.flush()) {
                    return Ok(fail_to_write(&error, &mut console));
                }
            }
            Err(error) if error.is_of_catalog() => {
                return Ok(fail(&error, &args.place, &mut console));
            }
            // The others are done all the same.
            Err(error) => worst = fail(&error, &args.place, &mut console),
        }
    }
    Ok(worst)
}

/// What `add` was told besides.
fn policy(root: &Root) -> String {
    let algorithms: Vec<_> =
        root.policy.algorithms.iter().map(|algorithm| algorithm.to_string()).collect();
    let most = root.policy.max_gone;
    let suspended = match most {
        100 => "never left alone for files that are gone".to_owned(),
        _ => format!("left alone when more than {most} % of its files, and than 100, are gone"),
    };
    format!("; {}; {suspended} (--max-gone {most})", algorithms.join(" and "))
}

/// `every 90 days, at most 80.00 MB a second, in 1:00-6:00`.
pub(super) fn words(manners: &Manners, every_days: u32) -> String {
    let days = if every_days == 1 { "day".to_owned() } else { format!("{every_days} days") };
    let mut words = format!("scrubbed every {days}, ");
    words += &match manners.rate {
        Some(rate) => format!("at most {} a second", DecimalBytes(rate)),
        None => "as fast as it goes".to_owned(),
    };
    words += &match manners.window {
        Some(hours) => format!(", in {hours}"),
        None => ", at any hour".to_owned(),
    };
    if let Some(since) = manners.paused {
        words += &format!("; paused since {}", moment(since));
    }
    words
}
