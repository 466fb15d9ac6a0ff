//! The formats of differences.

use std::borrow::Cow;
use std::io;

use indicatif::HumanCount;
use lanesum_checksum::compare::{Basis, Class, Difference, Differences, FolderMove, FolderMoves};
use lanesum_list::formats::write_cell;
use serde_json::{Map, Value};

use crate::args::{Compare, Form};
use crate::console::Console;
use crate::counts::counted;
use crate::json::{self, insert_name};

/// Prints the requested differences.
///
/// # Errors
/// Errors of standard output.
pub fn print(args: &Compare, differences: &Differences, console: &mut Console) -> io::Result<()> {
    let wanted = differences
        .iter()
        .filter(|it| args.verbose || !matches!(it.class, Class::Equal | Class::Alike));
    match args.format {
        Form::Text => text(wanted, differences.folder_moves(), console),
        Form::Csv => csv(wanted, console),
        Form::Json => wanted.map(|it| object(&it)).try_for_each(|line| console.line(&line)),
    }
}

/// A line for each difference, and one line for all files of a renamed directory.
fn text<'a>(
    differences: impl Iterator<Item = Difference<'a>>,
    folders: FolderMoves,
    console: &mut Console,
) -> io::Result<()> {
    let mut told = vec![false; folders.len()];
    for it in differences {
        let place = if it.class == Class::Moved { folders.place_of(&it) } else { None };
        if let Some(place) = place {
            if !told[place] {
                told[place] = true;
                console.line(&folder_line(&folders[place], console))?;
            }
            continue;
        }
        console.line(&line(&it, console))?;
    }
    Ok(())
}

fn folder_line(folder: &FolderMove, console: &Console) -> Vec<u8> {
    let mut line = b"directory ".to_vec();
    console.quote(&mut line, &folder.from);
    line.extend_from_slice(b" -> ");
    console.quote(&mut line, &folder.to);
    line.extend_from_slice(format!(", {} files\n", HumanCount(folder.files)).as_bytes());
    line
}

fn line(it: &Difference<'_>, console: &Console) -> Vec<u8> {
    let mut line = it.class.name().as_bytes().to_vec();
    line.push(b' ');
    if let Some(from) = it.from {
        console.quote(&mut line, from);
        line.extend_from_slice(b" -> ");
    }
    console.quote(&mut line, it.name);
    let reason = match (it.class, it.basis, it.size_before, it.size) {
        (Class::Changed, Some(Basis::SizeAndTime), ..) => Some("different time".into()),
        (Class::Changed, Some(Basis::Size), Some(before), Some(now)) => {
            let now = counted(now, "byte", "bytes");
            Some(format!("size changed from {} to {now}", HumanCount(before)).into())
        }
        (Class::Changed, Some(Basis::Digest), ..) => Some("different digest".into()),
        _ => it.reason.map(Cow::Borrowed),
    };
    if let Some(reason) = reason {
        line.extend_from_slice(format!(": {reason}").as_bytes());
    }
    line.push(b'\n');
    line
}

fn basis(it: &Difference<'_>) -> &'static str {
    match it.basis {
        Some(Basis::Digest) => "digest",
        Some(Basis::Size) => "size",
        Some(Basis::SizeAndTime) => "size and time",
        Some(Basis::Name) => "name",
        _ => "",
    }
}

/// A header and a row for each file, as in RFC 4180. Names are bytes.
fn csv<'a>(
    differences: impl Iterator<Item = Difference<'a>>,
    console: &mut Console,
) -> io::Result<()> {
    console.line(b"class,path,from,size,size_before,basis,reason\r\n")?;
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let mut line = Vec::new();
    for it in differences {
        line.clear();
        let (size, before) = (number(it.size), number(it.size_before));
        let fields = [
            it.class.name().as_bytes(),
            it.name,
            it.from.unwrap_or_default(),
            size.as_bytes(),
            before.as_bytes(),
            basis(&it).as_bytes(),
            it.reason.unwrap_or_default().as_bytes(),
        ];
        for (place, field) in fields.into_iter().enumerate() {
            if place > 0 {
                line.push(b',');
            }
            write_cell(&mut line, field);
        }
        line.extend_from_slice(b"\r\n");
        console.line(&line)?;
    }
    Ok(())
}

/// An object per line. A name that is not UTF-8 is `path_base64`.
fn object(it: &Difference<'_>) -> Vec<u8> {
    let mut object = Map::new();
    object.insert("class".to_owned(), it.class.name().into());
    insert_name(&mut object, "path", it.name);
    if let Some(from) = it.from {
        insert_name(&mut object, "from", from);
    }
    let numbers = [("size", it.size), ("size_before", it.size_before)];
    let numbers = numbers.into_iter().filter_map(|(key, number)| Some((key, number?.into())));
    let words = [("basis", basis(it)), ("reason", it.reason.unwrap_or_default())];
    let words = words.into_iter().filter(|(_, word)| !word.is_empty());
    let words = words.map(|(key, word)| (key, Value::from(word)));
    object.extend(numbers.chain(words).map(|(key, value)| (key.to_owned(), value)));
    json::line(object)
}
