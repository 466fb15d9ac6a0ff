//! Results of `lanesum bag validate` for programs: an object a line, or rows of CSV.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use lanesum_bag::{Class, ExpectedDigest, FileResult, Finding, Oxum, QuickLook, Report, Version};
use lanesum_checksum::Digests;
use lanesum_list::formats::write_cell;
use serde_json::{Map, Value, json};

use super::tell;
use crate::args::Validate;
use crate::console::Console;
use crate::json::{insert_name, line};

/// The version of the JSON objects. A new key does not change it.
const SCHEMA: u32 = 1;

const HEADER: &[u8] = b"bag,path,status,algorithms,expected,found,error\r\n";

/// The format of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Json,
    Csv,
}

impl Form {
    /// The format that the arguments ask for. None if the results are for people.
    pub fn of(args: &Validate) -> Option<Self> {
        match (args.json, args.csv) {
            (true, _) => Some(Self::Json),
            (_, true) => Some(Self::Csv),
            _ => None,
        }
    }

    /// Prints the lines that come before the first bag.
    ///
    /// # Errors
    /// Standard output's.
    pub fn begin(self, console: &mut Console) -> io::Result<()> {
        match self {
            Self::Json => Ok(()),
            Self::Csv => console.line(HEADER),
        }
    }
}

/// Prints the results of a bag.
#[derive(Clone, Copy, Debug)]
pub struct Printer<'run> {
    pub form: Form,
    /// The bag, as the user named it.
    pub folder: &'run Path,
    /// Whether only errors are printed.
    pub quiet: bool,
    /// Whether only Payload-Oxum is compared, so that the bag is not validated.
    pub fast: bool,
}

impl Printer<'_> {
    /// Prints the result of a file, or of another name with findings.
    ///
    /// # Errors
    /// Standard output's.
    pub fn file(&self, file: &FileResult<'_>, console: &mut Console) -> io::Result<()> {
        match self.form {
            Form::Json => file.findings.iter().try_for_each(|finding| {
                self.object(finding, Some(file)).map_or(Ok(()), |it| console.line(&line(it)))
            }),
            Form::Csv => self.row(file, console),
        }
    }

    /// Prints that the bag cannot be read.
    ///
    /// # Errors
    /// Standard output's.
    pub fn unreadable(&self, why: &str, console: &mut Console) -> io::Result<()> {
        if self.form == Form::Csv {
            let status = Class::Unreadable.name();
            return console.line(&self.cells([
                b"",
                status.as_bytes(),
                b"",
                b"",
                b"",
                why.as_bytes(),
            ]));
        }
        let mut finding = self.event("finding");
        finding.insert("class".to_owned(), Class::Unreadable.name().into());
        finding.insert("severity".to_owned(), "error".into());
        finding.insert("message".to_owned(), why.into());
        console.line(&line(finding))?;
        let result = if self.fast { "agrees" } else { "valid" };
        let rest = json!({result: false, "errors": 1, "warnings": 0});
        console.line(&line(self.summary(rest)))
    }

    /// Prints the result of the bag.
    ///
    /// # Errors
    /// Standard output's.
    pub fn end(
        &self,
        report: &Report,
        version: Option<Version>,
        console: &mut Console,
    ) -> io::Result<()> {
        if self.form == Form::Csv || self.quiet && report.is_valid() {
            return Ok(());
        }
        let Oxum { bytes, files, .. } = report.payload;
        let rest = json!({
            "valid": report.is_valid(),
            "errors": report.errors,
            "warnings": report.warnings,
            "version": version.map(|it| it.to_string()),
            "files_read": report.files,
            "bytes_read": report.bytes,
            "payload_files": files,
            "payload_bytes": bytes,
        });
        console.line(&line(self.summary(rest)))
    }

    /// Prints the result of a look at Payload-Oxum, as JSON.
    ///
    /// # Errors
    /// Standard output's.
    pub fn quick_look(&self, look: &QuickLook, console: &mut Console) -> io::Result<()> {
        for object in look.findings.iter().filter_map(|finding| self.object(finding, None)) {
            console.line(&line(object))?;
        }
        if self.quiet && look.agrees() {
            return Ok(());
        }
        let errors = look.findings.iter().filter(|it| it.is_error()).count();
        let Oxum { bytes, files, .. } = look.payload;
        let rest = json!({
            "agrees": look.agrees(),
            "errors": errors,
            "warnings": look.findings.len() - errors,
            "payload_files": files,
            "payload_bytes": bytes,
        });
        console.line(&line(self.summary(rest)))
    }

    /// An object with the keys that all have.
    fn event(&self, event: &str) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("schema".to_owned(), SCHEMA.into());
        object.insert("event".to_owned(), event.into());
        insert_name(&mut object, "bag", self.folder.as_os_str().as_bytes());
        object
    }

    fn summary(&self, rest: Value) -> Map<String, Value> {
        let mut object = self.event("summary");
        if let Value::Object(rest) = rest {
            object.extend(rest);
        }
        object
    }

    /// A finding as an object. None if it is a warning that is not wanted.
    fn object(
        &self,
        finding: &Finding,
        file: Option<&FileResult<'_>>,
    ) -> Option<Map<String, Value>> {
        if self.quiet && !finding.is_error() {
            return None;
        }
        let mut object = self.event("finding");
        let mut insert = |key: &str, value: Value| object.insert(key.to_owned(), value);
        insert("class", finding.problem.class().name().into());
        insert("severity", if finding.is_error() { "error" } else { "warning" }.into());
        insert("message", finding.problem.to_string().into());
        if let Some(number) = finding.line {
            insert("line", number.into());
        }
        if let Some(file) = file.filter(|file| !file.expected.is_empty()) {
            insert("expected", file.expected.iter().map(expected_object).collect());
        }
        if let Some(found) = file.and_then(|file| file.found) {
            insert("found", found_object(found));
        }
        if !finding.name.is_empty() {
            insert_name(&mut object, "path", &finding.name);
        }
        Some(object)
    }

    /// Prints the row of a file, and its warnings on standard error.
    fn row(&self, file: &FileResult<'_>, console: &mut Console) -> io::Result<()> {
        let warnings = file.findings.iter().filter(|it| !self.quiet && !it.is_error());
        for warning in warnings {
            tell(self.folder, warning, console)?;
        }
        let status = match (file.class(), file.found) {
            (Some(class), _) => class.name(),
            (None, _) if file.expected.is_empty() => return Ok(()),
            (None, Some(_)) if self.quiet => return Ok(()),
            (None, Some(_)) => "ok",
            (None, None) => "not_checked",
        };
        let algorithms = joined(file.expected, |it| it.digest.algorithm().name().to_owned());
        let expected = joined(file.expected, |it| it.digest.to_string());
        let found = file.found.map(|found| joined(file.expected, |it| of(found, it)));
        let errors: Vec<_> = file.errors().map(words).collect();
        console.line(&self.cells([
            file.name,
            status.as_bytes(),
            algorithms.as_bytes(),
            expected.as_bytes(),
            found.unwrap_or_default().as_bytes(),
            errors.join("; ").as_bytes(),
        ]))
    }

    /// The cells behind that of the bag, as a row.
    fn cells(&self, cells: [&[u8]; 6]) -> Vec<u8> {
        let mut row = Vec::new();
        write_cell(&mut row, self.folder.as_os_str().as_bytes());
        for cell in cells {
            row.push(b',');
            write_cell(&mut row, cell);
        }
        row.extend_from_slice(b"\r\n");
        row
    }
}

/// A word for each digest of the manifests, in their order.
fn joined(expected: &[ExpectedDigest], word: impl Fn(&ExpectedDigest) -> String) -> String {
    expected.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// The digest of the content by the algorithm of an expected one.
fn of(found: &Digests, expected: &ExpectedDigest) -> String {
    let algorithm = expected.digest.algorithm();
    let digest = found.iter().find(|digest| digest.algorithm() == algorithm);
    digest.map(ToString::to_string).unwrap_or_default()
}

/// An error in words, with the line of the file if it is about one.
fn words(finding: &Finding) -> String {
    match finding.line {
        Some(line) => format!("line {line}: {}", finding.problem),
        None => finding.problem.to_string(),
    }
}

fn expected_object(expected: &ExpectedDigest) -> Value {
    json!({
        "manifest": expected.manifest,
        "algorithm": expected.digest.algorithm().name(),
        "digest": expected.digest.to_string(),
    })
}

fn found_object(found: &Digests) -> Value {
    let digest = |digest: &lanesum_checksum::Digest| {
        (digest.algorithm().name().to_owned(), Value::from(digest.to_string()))
    };
    Value::Object(found.iter().map(digest).collect())
}
