//! The commands on the catalog.
//!
//! ```text
//! place.rs     which catalog; targets.rs: which roots and paths in them
//! run.rs       a run over roots, with its progress; add.rs, nightly.rs: more than one run
//! print.rs     findings and summaries as text (summary.rs), or as JSON (json.rs)
//! status.rs, report.rs   stored state; standing.rs: problems and hints that both show
//! errors.rs    errors in words, with a hint; code.rs: exit codes
//! ```

mod accept;
mod add;
mod code;
pub mod commands;
mod dry_run;
pub mod errors;
mod export;
mod forget;
mod import;
pub mod json;
mod nagios;
mod nightly;
pub mod offline;
mod own;
mod place;
pub mod print;
mod prometheus;
mod relocate;
mod report;
mod run;
mod standing;
mod status;
mod steer;
mod summary;
mod table;
mod targets;
mod times;

use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use lanesum_catalog::CatalogError;

pub use code::Code;
pub use errors::fail;
pub use place::path;
pub use times::{moment, now, utc};

use crate::args::{CatalogCommand, CatalogVerb};
use crate::console::{Console, locale_of_process, lock};
use crate::{daemon, failure, signals, stdin};

/// Runs a command on the catalog.
///
/// # Errors
/// Errors other than those of the catalog, which are printed here.
pub fn run(command: &CatalogCommand) -> anyhow::Result<ExitCode> {
    if let CatalogCommand::Serve(args) = command {
        return daemon::run(args);
    }
    let console = Console::new(b"lanesum", locale_of_process()).context("standard output")?;
    let console = Arc::new(Mutex::new(console));
    let caught = signals::catch_while(reads_stdin(command)).telling(interrupted(command));
    caught.handle(&console, None);
    if let CatalogCommand::Status(args) = command
        && args.nagios
    {
        return Ok(nagios::run(args, &mut lock(&console))?);
    }
    let ended = dispatch(command, &console);
    let mut console = lock(&console);
    console.set_bar(None);
    let code = ended.unwrap_or_else(|error| match error.downcast::<CatalogError>() {
        Ok(error) => errors::tell(&error, command.place(), &mut console),
        Err(error) => {
            // Earlier lines come first.
            let _ = console.flush();
            failure::fail(&error);
            Code::CouldNotRun
        }
    });
    Ok(code.into())
}

fn dispatch(command: &CatalogCommand, console: &Arc<Mutex<Console>>) -> anyhow::Result<Code> {
    match command {
        CatalogCommand::Add(args) => add::run(args, console),
        CatalogCommand::Scan(args) => run::scan(args, console),
        CatalogCommand::Update(args) => run::update(args, console),
        CatalogCommand::Verify(args) => run::verify(args, console),
        CatalogCommand::Scrub(args) => run::scrub(args, console),
        CatalogCommand::Nightly(args) => nightly::run(args, console),
        CatalogCommand::Serve(_) => unreachable!("the daemon has a console of its own"),
        CatalogCommand::Pause(args) => steer::pause(args, &mut lock(console)),
        CatalogCommand::Resume(args) => steer::resume(args, &mut lock(console)),
        CatalogCommand::Limit(args) => steer::limit(args, &mut lock(console)),
        CatalogCommand::Status(args) => status::run(args, &mut lock(console)),
        CatalogCommand::Report(args) => report::run(args, &mut lock(console)),
        CatalogCommand::Accept(args) => accept::run(args, console),
        CatalogCommand::Forget(args) => forget::run(args, &mut lock(console)),
        CatalogCommand::Relocate(args) => relocate::run(args, &mut lock(console)),
        CatalogCommand::Catalog(args) => match &args.verb {
            CatalogVerb::Check { place } => own::check(place, &mut lock(console)),
            CatalogVerb::Backup { place, to } => own::backup(place, to, &mut lock(console)),
            CatalogVerb::Import(args) => import::run(args, &mut lock(console)),
            CatalogVerb::Export(args) => export::run(args, &mut lock(console)),
        },
    }
}

fn reads_stdin(command: &CatalogCommand) -> bool {
    match command {
        CatalogCommand::Catalog(args) => match &args.verb {
            CatalogVerb::Import(args) => args.lists.iter().any(|list| stdin::is_meant_by(list)),
            _ => false,
        },
        _ => false,
    }
}

/// Returns the message of an interruption.
const fn interrupted(command: &CatalogCommand) -> Option<&'static str> {
    match command {
        CatalogCommand::Add(_) | CatalogCommand::Update(_) => {
            Some("interrupted: recorded files are kept; the same command continues")
        }
        CatalogCommand::Scrub(_) | CatalogCommand::Nightly(_) => {
            Some("interrupted: results are kept; the next scrub continues")
        }
        CatalogCommand::Scan(_) | CatalogCommand::Verify(_) => {
            Some("interrupted: results so far are kept")
        }
        _ => None,
    }
}
