//! The program `lanesum`: arguments, output, progress and exit codes around `lanesum-checksum`.

#![deny(unsafe_code)]

mod args;
mod bag;
mod catalog;
mod check;
mod compare;
mod console;
mod convert;
mod counts;
mod daemon;
mod etag;
mod failure;
mod generate;
mod hints;
mod json;
mod key;
mod limits;
mod lines;
mod md5sum;
mod output;
mod paths;
mod progress;
mod quote;
mod signals;
mod speed;
mod startup;
mod stdin;
mod storage;
mod streams;
mod sum;
#[cfg(feature = "page")]
mod web;

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command, Speed};

fn main() -> ExitCode {
    startup::keep_closed_streams_closed();
    limits::prepare();
    let mut words = env::args_os();
    let program = words.next().unwrap_or_default();
    raise_descriptor_limit();
    if Path::new(&program).file_name() == Some(OsStr::new("md5sum")) {
        return md5sum::main(&program, words, md5sum::Environment::of_process());
    }
    if env::args_os().nth(1).as_deref() == Some(OsStr::new("md5sum")) {
        let name = words.next().unwrap_or_default();
        return md5sum::main(&name, words, md5sum::Environment::of_process());
    }
    if let Err(usage) = failure::refuse_other_name(&program) {
        return failure::fail(&usage);
    }
    if let Err(usage) = failure::refuse_late_help() {
        return failure::fail(&usage.into());
    }
    if let Some(group) = failure::help_of_help() {
        return Cli::try_parse_from(
            ["lanesum".into()].into_iter().chain(group).chain(["--help".into()]),
        )
        .map_or_else(failure::tell, |_| ExitCode::SUCCESS);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(words) => return failure::tell(words),
    };
    let result = match cli {
        Cli { generate: Some(kind), .. } => generate::generate(kind),
        Cli { command: Some(Command::Bag(bag)), .. } => bag::run(bag),
        Cli { command: Some(Command::Check(check)), .. } => check::run(check),
        Cli { command: Some(Command::Compare(compare)), .. } => compare::run(compare),
        Cli { command: Some(Command::Convert(convert)), .. } => convert::run(&convert),
        Cli { command: Some(Command::Etag(args)), .. } => etag::run(args),
        Cli { command: Some(Command::OnCatalog(command)), .. } => catalog::run(&command),
        Cli { command: Some(Command::Speed(Speed { paths, .. })), .. } if !paths.is_empty() => {
            storage::run(&paths)
        }
        Cli { command: Some(Command::Speed(Speed { json, .. })), .. } => speed::run(json),
        Cli { command: Some(Command::Sum(sum)), .. } => sum::run(sum),
        Cli { command: None, sum, .. } => match failure::refuse_late_command(&sum.paths) {
            Ok(()) => sum::run(sum),
            Err(usage) => Err(usage.into()),
        },
        Cli { command: Some(Command::Md5sum { args }), .. } => {
            let name = OsStr::new("md5sum");
            return md5sum::main(name, args.into_iter(), md5sum::Environment::of_process());
        }
    };
    result.unwrap_or_else(|error| failure::fail(&error))
}

/// Every lane has a file open. The soft limit, often 1,024, is too low for that.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // If this fails, fewer lanes are used. That needs no message.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
