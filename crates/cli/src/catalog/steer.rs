//! `lanesum pause`, `resume` and `limit`: control scrubs, including running ones.

use indicatif::DecimalBytes;
use lanesum_catalog::{CatalogError, Control, Root};

use super::commands::Commands;
use super::errors;
use super::print::name;
use super::targets::roots;
use super::{Code, moment, now, place};
use crate::args::{Limit, Roots};
use crate::console::Console;

/// Pauses scrubs.
///
/// # Errors
/// Errors of the catalog, and wrong usage.
pub fn pause(args: &Roots, console: &mut Console) -> anyhow::Result<Code> {
    each(args, console, |control, root, commands| {
        let since = control.pause(root, now())?;
        Ok(format!("paused since {}; to resume: {}", moment(since), commands.of("resume")))
    })
}

/// Resumes scrubs.
///
/// # Errors
/// Errors of the catalog, and wrong usage.
pub fn resume(args: &Roots, console: &mut Console) -> anyhow::Result<Code> {
    each(args, console, |control, root, _| {
        Ok(match control.resume(root)? {
            Some(since) => format!("resumed; it was paused since {}", moment(since)),
            None => "was not paused".to_owned(),
        })
    })
}

/// Shows or changes settings.
///
/// # Errors
/// Errors of the catalog, and wrong usage.
pub fn limit(args: &Limit, console: &mut Console) -> anyhow::Result<Code> {
    let patch = args.pace.patch();
    if patch.is_empty() {
        return show(&args.roots, console);
    }
    let place = &args.roots.place;
    let catalog = place::look(place)?;
    let mut roots = roots(&catalog, &args.roots.directories, Commands { place, console })?;
    let changed = Control::open(catalog.path())?.set(&roots, &patch)?;
    for (root, settings) in roots.iter_mut().zip(changed) {
        root.settings = settings;
        console.about(name(&root.path), &words(root));
    }
    Ok(Code::Nothing)
}

/// Prints the settings of roots.
fn show(args: &Roots, console: &mut Console) -> anyhow::Result<Code> {
    let catalog = place::look(&args.place)?;
    let commands = Commands { place: &args.place, console };
    for root in roots(&catalog, &args.directories, commands)? {
        let mut line = Vec::new();
        console.quote(&mut line, name(&root.path));
        line.extend_from_slice(format!(": {}\n", words(&root)).as_bytes());
        console.line(&line).map_err(CatalogError::Output)?;
    }
    console.flush().map_err(CatalogError::Output)?;
    Ok(Code::Nothing)
}

/// Changes a setting of each root, and prints the result.
fn each(
    args: &Roots,
    console: &mut Console,
    steer: impl Fn(&mut Control, &Root, Commands<'_>) -> Result<String, CatalogError>,
) -> anyhow::Result<Code> {
    let catalog = place::look(&args.place)?;
    let roots = roots(&catalog, &args.directories, Commands { place: &args.place, console })?;
    let mut control = Control::open(catalog.path())?;
    let mut worst = Code::Nothing;
    for root in roots {
        match steer(&mut control, &root, Commands { place: &args.place, console }) {
            Ok(words) => console.about(name(&root.path), &words),
            // The other roots are still changed.
            Err(error) => worst = worst.max(errors::tell(&error, &args.place, console)),
        }
    }
    Ok(worst)
}

/// `archive, md5, every 90 d, at most 80.00 MB/s, 1:00-6:00, max-gone 10 %`.
pub fn words(root: &Root) -> String {
    let settings = &root.settings;
    let algorithms: Vec<_> = settings.algorithms.iter().map(|it| it.to_string()).collect();
    let mut words = vec![
        settings.profile.name().to_owned(),
        algorithms.join(" and "),
        format!("every {} d", settings.every_days),
        match settings.rate {
            Some(rate) => format!("at most {}/s", DecimalBytes(rate)),
            None => "no limit".to_owned(),
        },
        match settings.window {
            Some(hours) => hours.to_string(),
            None => "at any hour".to_owned(),
        },
        format!("max-gone {} %", settings.max_gone),
    ];
    words.extend(settings.exclude.iter().map(|it| format!("exclude {}", it.display())));
    if !settings.default_excludes {
        words.push("no default excludes".to_owned());
    }
    if let Some(since) = root.steering.paused {
        words.push(format!("paused since {}", moment(since)));
    }
    words.join(", ")
}
