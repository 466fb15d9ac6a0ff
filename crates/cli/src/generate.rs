//! The man page and the completions for shells, generated from the definition of the command line.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;

use crate::args::{Cli, Generate};
use crate::streams::{self, WriteError};

/// Prints the requested text on standard output.
///
/// # Errors
/// Errors of standard output.
pub fn generate(kind: Generate) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    let mut command = Cli::command();
    match kind {
        Generate::Man => man(command, &mut text)?,
        Generate::Bash => complete(Shell::Bash, &mut command, &mut text),
        Generate::Zsh => complete(Shell::Zsh, &mut command, &mut text),
        Generate::Fish => complete(Shell::Fish, &mut command, &mut text),
    }
    streams::stdout().write_all(&text).map_err(WriteError)?;
    Ok(ExitCode::SUCCESS)
}

fn complete(shell: Shell, command: &mut Command, text: &mut Vec<u8>) {
    clap_complete::generate(shell, command, "lanesum", text);
}

/// Returns the commands and their subcommands, with the words to type.
fn sections(command: &Command) -> Vec<(String, Command)> {
    let mut sections = Vec::new();
    for sub in command.get_subcommands().filter(|sub| !["sum", "help"].contains(&sub.get_name())) {
        let name = format!("lanesum {}", sub.get_name());
        sections.push((name.clone(), sub.clone()));
        let inner = sub.get_subcommands().filter(|inner| inner.get_name() != "help");
        sections.extend(inner.map(|inner| (format!("{name} {}", inner.get_name()), inner.clone())));
    }
    sections
}

/// Renders one page: the sections of the program, then a section for each command.
fn man(command: Command, text: &mut Vec<u8>) -> io::Result<()> {
    let page = clap_mangen::Man::new(command.clone());
    page.render_title(text)?;
    page.render_name_section(text)?;
    page.render_synopsis_section(text)?;
    page.render_description_section(text)?;
    writeln!(
        text,
        ".PP\nWithout a command, lanesum does what \\fBlanesum sum\\fR does, with the same options."
    )?;
    page.render_options_section(text)?;
    for (name, sub) in sections(&command) {
        writeln!(text, ".SH \"{}\"", name.to_uppercase())?;
        let sub = sub.bin_name(name);
        let after_help = sub.get_after_help().map(ToString::to_string);
        let mut section = Vec::new();
        let page = clap_mangen::Man::new(sub);
        page.render_description_section(&mut section)?;
        page.render_synopsis_section(&mut section)?;
        page.render_options_section(&mut section)?;
        render_blocks(&after_help.unwrap_or_default(), &mut section)?;
        // A command's own sections are parts of its section.
        let section = String::from_utf8_lossy(&section).replace("\n.SH ", "\n.SS ");
        let section = section.strip_prefix(".SH ").map_or(section.clone(), |s| format!(".SS {s}"));
        text.write_all(section.as_bytes())?;
    }
    let after_help = command.get_after_help().map(ToString::to_string);
    render_blocks(&after_help.unwrap_or_default(), text)?;
    page.render_version_section(text)
}

/// Renders the text after the options line by line: a section for each heading.
fn render_blocks(after_help: &str, text: &mut Vec<u8>) -> io::Result<()> {
    for block in after_help.split("\n\n") {
        let Some((heading, lines)) = block.trim().split_once(":\n") else { continue };
        writeln!(text, ".SH \"{}\"\n.nf", heading.to_uppercase())?;
        for line in lines.lines() {
            // roff would take a line that begins with a point or an apostrophe for a request.
            let line = line.replace('\\', "\\e").replace('-', "\\-");
            writeln!(text, "\\&{line}")?;
        }
        writeln!(text, ".fi")?;
    }
    Ok(())
}
