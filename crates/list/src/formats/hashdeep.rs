//! The output of hashdeep: a header with column names, comments with the command line, and one line
//! of comma-separated values per file.
//!
//! The name is the last value and may contain commas. It is not escaped, so it cannot contain a
//! newline. Relative names are relative to the directory in a comment.

use std::borrow::Cow;

use super::line::{self, without_return};
use super::{CannotHold, Format, Line, Wrong, cannot};
use crate::{Algorithm, Algorithms, Dialect, Digest, Digests, Record};

const NAME: &str = "hashdeep";
const VERSION: &[u8] = b"%%%% HASHDEEP-1.0";
const INVOKED_FROM: &[u8] = b"## Invoked from: ";

/// The call that made a list, for its comments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// The directory that relative names refer to.
    pub folder: Vec<u8>,
    /// The command line, separated by blanks.
    pub command: Vec<u8>,
    /// Whether root ran the command.
    pub is_root: bool,
}

/// A list of hashdeep.
///
/// ```
/// use lanesum_list::formats::{Format, Hashdeep, Invocation, Line};
/// use lanesum_list::{Algorithm, Dialect, lines};
///
/// let list = b"%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n## Invoked from: /srv\n## $ hashdeep -l\n## \n\
///     3,900150983cd24fb0d6963f7d28e17f72,b,c\n";
/// let mut hashdeep = Hashdeep::new(Dialect::any());
/// let Some((6, Line::Record { record, .. })) = lines(list, &mut hashdeep).last() else { panic!() };
/// assert_eq!((&*record.name, record.size), (&b"b,c"[..], Some(3)));
/// assert_eq!(hashdeep.folder(), Some(&b"/srv"[..]));
///
/// let invocation = Invocation { folder: "/srv".into(), command: "hashdeep -l".into(), is_root: false };
/// let writer = Hashdeep::new(Dialect::any()).writing(Algorithm::Md5.into(), Some(invocation));
/// let mut written = Vec::new();
/// writer.begin(&mut written);
/// writer.record(&mut written, &record)?;
/// assert_eq!(written, list);
/// # Ok::<(), lanesum_list::formats::CannotHold>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hashdeep {
    dialect: Dialect,
    writes: Algorithms,
    invocation: Option<Invocation>,
    /// The columns of the last header read.
    columns: Vec<Column>,
    /// Whether that header, and so every line, ends with a carriage return.
    has_returns: bool,
    folder: Option<Vec<u8>>,
}

/// The meaning of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Size,
    Digest(Algorithm),
    /// A digest of an unsupported algorithm, or of one that was not requested.
    Other,
    Name,
}

impl Hashdeep {
    /// Makes a list of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            writes: Algorithms::NONE,
            invocation: None,
            columns: Vec::new(),
            has_returns: false,
            folder: None,
        }
    }

    /// Returns the format with the algorithms and the comments to write.
    #[must_use]
    pub fn writing(self, algorithms: Algorithms, invocation: Option<Invocation>) -> Self {
        Self { writes: algorithms, invocation, ..self }
    }

    /// Reads a line of the header.
    fn header(&mut self, text: &[u8]) -> Line<'static> {
        let line = without_return(text);
        if line == VERSION {
            self.has_returns = line.len() < text.len();
            self.columns.clear();
            // A new list starts, possibly without a directory.
            self.folder = None;
            return Line::Blank;
        }
        let names = line.get(b"%%%% ".len()..).unwrap_or_default();
        let column = |name: &[u8]| match name {
            b"size" => Column::Size,
            b"filename" => Column::Name,
            name => self.algorithm(name).map_or(Column::Other, Column::Digest),
        };
        let columns: Vec<_> = names.split(|&byte| byte == b',').map(column).collect();
        let is_name = |column: &&Column| **column == Column::Name;
        if columns.last() != Some(&Column::Name) || columns.iter().filter(is_name).count() > 1 {
            return Line::Wrong(Wrong::Header("filename"));
        }
        let is_twice = |column: &Column| columns.iter().filter(|its| *its == column).count() > 1;
        if is_twice(&Column::Size) {
            return Line::Wrong(Wrong::Header("size"));
        }
        let twice = columns.iter().find_map(|column| match column {
            Column::Digest(algorithm) if is_twice(column) => Some(algorithm.name()),
            _ => None,
        });
        if let Some(name) = twice {
            return Line::Wrong(Wrong::Header(name));
        }
        self.columns = columns;
        Line::Blank
    }

    fn algorithm(&self, name: &[u8]) -> Option<Algorithm> {
        let algorithm = str::from_utf8(name).ok()?.parse().ok()?;
        self.dialect.tagged.contains(algorithm).then_some(algorithm)
    }

    fn read<'a>(&self, text: &'a [u8]) -> Result<Record<'a>, Wrong> {
        let expected = self.columns.len();
        let mut record = Record::default();
        let mut digests = Digests::default();
        let mut found = 0;
        let values = text.splitn(expected.max(1), |&byte| byte == b',');
        for (value, column) in values.zip(&self.columns) {
            found += 1;
            match *column {
                Column::Size => record.size = Some(line::number(value).ok_or(Wrong::Size)?),
                Column::Digest(it) => {
                    digests.push(Digest::from_hex(it, value).ok_or(Wrong::Digest(it))?);
                }
                Column::Name => record.name = Cow::Borrowed(value),
                Column::Other => {}
            }
        }
        match found {
            0 => Err(Wrong::Form(NAME)),
            _ if found < expected => Err(Wrong::Columns { found, expected }),
            _ if record.name.is_empty() || record.name.contains(&0) => Err(Wrong::Name),
            _ => Ok(Record { digests, ..record }),
        }
    }
}

impl Format for Hashdeep {
    fn begin(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(VERSION);
        out.extend_from_slice(b"\n%%%% size,");
        for algorithm in self.writes.iter() {
            out.extend_from_slice(algorithm.name().as_bytes());
            out.push(b',');
        }
        out.extend_from_slice(b"filename\n");
        let Some(Invocation { folder, command, is_root }) = &self.invocation else { return };
        // A directory with a newline cannot be written.
        if !folder.contains(&b'\n') {
            out.extend_from_slice(INVOKED_FROM);
            out.extend_from_slice(folder);
            out.push(b'\n');
        }
        out.extend_from_slice(if *is_root { b"## # " } else { b"## $ " });
        out.extend(command.iter().map(|&byte| if byte == b'\n' { b' ' } else { byte }));
        out.extend_from_slice(b"\n## \n");
    }

    fn can_hold(&self, algorithms: Algorithms) -> Result<(), CannotHold> {
        let known = [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256].into_iter().collect();
        cannot::all_of(NAME, algorithms, known)
    }

    fn record(&self, out: &mut Vec<u8>, record: &Record<'_>) -> Result<(), CannotHold> {
        let size = record.size.ok_or(CannotHold::NoSize(NAME))?;
        let is_missing = |&algorithm: &Algorithm| record.digest(algorithm).is_none();
        if let Some(algorithm) = self.writes.iter().find(is_missing) {
            return Err(CannotHold::Lacks { format: NAME, algorithm });
        }
        cannot::all_of(NAME, record.algorithms(), self.writes)?;
        if record.name.is_empty() {
            return Err(CannotHold::EmptyName(NAME));
        }
        if record.name.contains(&b'\n') {
            return Err(CannotHold::Name { format: NAME, what: "with a newline in it" });
        }
        line::write_number(out, size);
        out.push(b',');
        for digest in self.writes.iter().filter_map(|algorithm| record.digest(algorithm)) {
            digest.write_hex(out);
            out.push(b',');
        }
        out.extend_from_slice(&record.name);
        out.push(b'\n');
        Ok(())
    }

    fn detect(&self, head: &[u8]) -> bool {
        let first = line::first(head, self.dialect.ending);
        first.starts_with(b"%%%%") && VERSION.starts_with(&first[..first.len().min(VERSION.len())])
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        memchr::memchr(b'\n', bytes)
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        if text.starts_with(b"%%%%") {
            return self.header(text);
        }
        let text = if self.has_returns { without_return(text) } else { text };
        if text.starts_with(b"#") {
            if let Some(folder) = text.strip_prefix(INVOKED_FROM) {
                self.folder = Some(folder.to_vec());
            }
            return Line::Blank;
        }
        if text.is_empty() {
            return Line::Blank;
        }
        self.read(text).map_or_else(Line::Wrong, |record| Line::Record { record, is_tagged: true })
    }

    fn folder(&self) -> Option<&[u8]> {
        self.folder.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines;

    /// The output of hashdeep 4.4 for `printf abc > a` and `printf xyz > b,c` with `hashdeep -l -c
    /// md5,tiger,sha1,sha256 a b,c`, as root.
    const LIST: &str = "%%%% HASHDEEP-1.0\n\
        %%%% size,md5,sha1,sha256,tiger,filename\n\
        ## Invoked from: /srv\n\
        ## # hashdeep -l -c md5,tiger,sha1,sha256 a b,c\n\
        ## \n\
        3,900150983cd24fb0d6963f7d28e17f72,a9993e364706816aba3e25717850c26c9cd0d89d,\
        ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad,\
        2aab1484e8c158f2bfb8c5ff41b57a525129131c957b5f93,a\n\
        3,d16fb36f0911f878998c136191af705e,66b27417d37e024c46526c2f6d358a754fc552f3,\
        3608bca1e44ea6c4d268eb6db02260269892c0b42b86bbf1e77a6fa16c3c9282,\
        2aab1484e8c158f2bfb8c5ff41b57a525129131c957b5f93,b,c\n";

    fn read(list: &str) -> Vec<Line<'_>> {
        let mut format = Hashdeep::new(Dialect::any());
        let lines = lines(list.as_bytes(), &mut format).map(|(_, line)| line);
        lines.filter(|line| *line != Line::Blank).collect()
    }

    #[test]
    fn columns_are_found_by_name() {
        assert!(Hashdeep::new(Dialect::any()).detect(LIST.as_bytes()));
        let records = read(LIST);
        let [Line::Record { .. }, Line::Record { record, .. }] = &*records else {
            panic!("{records:?}")
        };
        let algorithms: Vec<_> = record.algorithms().iter().collect();
        assert_eq!(algorithms, [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256]);
        assert_eq!((&*record.name, record.size), (&b"b,c"[..], Some(3)));
    }

    #[test]
    fn windows_line_endings_are_accepted() {
        let windows = LIST.replace('\n', "\r\n");
        assert_eq!(read(&windows), read(LIST));
        // If the header has no carriage return, one at the end of a line belongs to the name.
        let name = read("%%%% HASHDEEP-1.0\n%%%% size,filename\n3,a\r\n");
        let record = Record { size: Some(3), ..Record::new("a\r") };
        assert_eq!(name, [Line::Record { record, is_tagged: true }]);
    }

    #[test]
    fn invalid_lines_are_reported() {
        let header = "%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n";
        let md5 = "900150983cd24fb0d6963f7d28e17f72";
        for (line, wrong) in [
            ("3", Wrong::Columns { found: 1, expected: 3 }),
            (&format!("3,{md5}"), Wrong::Columns { found: 2, expected: 3 }),
            (&format!("x,{md5},a"), Wrong::Size),
            (&format!("-3,{md5},a"), Wrong::Size),
            (&format!("3,{},a", &md5[1..]), Wrong::Digest(Algorithm::Md5)),
            (&format!("3,{md5},"), Wrong::Name),
        ] {
            assert_eq!(read(&format!("{header}{line}\n")), [Line::Wrong(wrong)], "{line}");
        }
        assert_eq!(read(&format!("3,{md5},a\n")), [Line::Wrong(Wrong::Form(NAME))]);
        assert_eq!(read("%%%% size,md5\n"), [Line::Wrong(Wrong::Header("filename"))]);
        let twice = [("md5,md5,filename", "md5"), ("size,size,filename", "size")];
        for (header, column) in twice {
            let list = format!("%%%% {header}\n");
            assert_eq!(read(&list), [Line::Wrong(Wrong::Header(column))]);
        }
    }

    #[test]
    fn records_that_hashdeep_cannot_hold_are_refused() {
        let digest = Digest::from_hex(Algorithm::Md5, &[b'0'; 32]).unwrap();
        let record = Record { size: Some(3), ..Record::new("a") }.with(digest);
        let list = Hashdeep::new(Dialect::any()).writing(Algorithm::Md5.into(), None);
        let mut out = Vec::new();
        assert_eq!(list.record(&mut out, &record), Ok(()));
        out.clear();
        for wrong in [
            Record { size: None, ..record.clone() },
            Record { digests: Digests::default(), ..record.clone() },
            Record { name: Cow::Borrowed(b"a\nb"), ..record.clone() },
        ] {
            assert!(list.record(&mut out, &wrong).is_err() && out.is_empty(), "{wrong:?}");
        }
        assert!(list.can_hold(Algorithm::Blake3.into()).is_err());
    }
}
