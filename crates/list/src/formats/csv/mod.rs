//! Tables with a header: CSV (RFC 4180) such as `path,size,modified,md5`, and TSV, the same with
//! tabs.
//!
//! Columns are found by name ([`titles`]), in any order, and unknown columns are ignored.
//! `Get-FileHash | Export-Csv` of PowerShell has a column with the algorithm of the digest. A cell
//! that contains a separator, a quotation mark or a line end is quoted, so a record may span
//! several lines. File names are bytes here as well, because RFC 4180 does not require UTF-8.
//!
//! The separator of a list is that of its header: a comma, a tab or a semicolon.

pub(super) mod rows;
mod titles;

use std::borrow::Cow;

use super::line::{self, is_blank, without_return};
use super::{CannotHold, Format, Line, Mixed, Wrong, cannot, digests};
use crate::{Algorithm, Algorithms, Dialect, Record, Time, digits};
use rows::Rows;
use titles::{Column, Group, is_unknown};

const NAME: &str = "csv";

/// The separators of tables, the likely ones first.
const SEPARATORS: [u8; 3] = *b",\t;";

/// A list in CSV or TSV.
///
/// ```
/// use lanesum_list::formats::{Csv, Format, Line};
/// use lanesum_list::{Algorithm, Dialect, Record, lines};
///
/// let list = b"size,owner,path,md5\r\n3,me,\"a,\"\"b\"\"\",900150983cd24fb0d6963f7d28e17f72\r\n";
/// let read: Vec<_> = lines(list, &mut Csv::new(Dialect::any())).collect();
/// let [(1, Line::Blank), (2, Line::Record { record, .. })] = &*read else { panic!() };
/// assert_eq!((&*record.name, record.size), (&b"a,\"b\""[..], Some(3)));
///
/// let csv = Csv::new(Dialect::any()).writing(Algorithm::Md5.into(), true, false);
/// let mut written = Vec::new();
/// csv.begin(&mut written);
/// csv.record(&mut written, record)?;
/// let expected = b"path,size,md5\r\n\"a,\"\"b\"\"\",3,900150983cd24fb0d6963f7d28e17f72\r\n";
/// assert_eq!(written, expected);
/// # Ok::<(), lanesum_list::formats::CannotHold>(())
/// ```
#[derive(Clone, Debug)]
pub struct Csv {
    dialect: Dialect,
    algorithms: Algorithms,
    writes_size: bool,
    writes_modified: bool,
    rows: Rows,
    header: Header,
    /// The other records of the last row, the last one first.
    more: Vec<Record<'static>>,
}

/// The header, which is the first record.
#[derive(Clone, Debug)]
enum Header {
    Unread,
    Columns(Vec<Column>),
    /// The groups of columns, and the number of columns.
    Groups(Vec<Group>, usize),
    /// The header is invalid and was reported, so no record can be read.
    Wrong,
}

/// Words that the title of a column of digests or sizes may contain.
const OF_DIGESTS: [&[u8]; 7] = [b"md5", b"sha", b"hash", b"crc", b"checksum", b"digest", b"size"];

fn has_any(cell: &[u8], words: &[&[u8]]) -> bool {
    words.iter().any(|word| memchr::memmem::find(cell, word).is_some())
}

/// Returns a cell without the surrounding quotation marks.
fn unquoted(cell: &[u8]) -> &[u8] {
    cell.strip_prefix(b"\"").and_then(|cell| cell.strip_suffix(b"\"")).unwrap_or(cell)
}

/// Returns whether a cell may be a column title: one or two words.
fn is_title(cell: &[u8]) -> bool {
    let is_of_words = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-".contains(byte);
    cell.len() <= 32
        && cell.iter().all(is_of_words)
        && cell.iter().filter(|&&byte| byte == b' ').count() <= 1
}

impl Csv {
    /// Makes a list of a dialect.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            algorithms: Algorithms::NONE,
            writes_size: false,
            writes_modified: false,
            rows: Rows::new(NAME),
            header: Header::Unread,
            more: Vec::new(),
        }
    }

    /// Returns the format with tabs instead of commas, which is TSV.
    #[must_use]
    pub fn with_tabs(mut self) -> Self {
        self.rows.set_separator(b'\t');
        self
    }

    /// Returns the format with the columns to write.
    #[must_use]
    pub fn writing(self, algorithms: Algorithms, size: bool, modified: bool) -> Self {
        Self { algorithms, writes_size: size, writes_modified: modified, ..self }
    }

    /// Reads the header, and sets the separator.
    ///
    /// # Errors
    ///
    /// Fails with the error for the separator that the list seems to have.
    fn read_header(&mut self, text: &[u8]) -> Result<Header, Wrong> {
        let mut error = Wrong::NoPath;
        for separator in SEPARATORS {
            let separators = memchr::memchr_iter(separator, text).count();
            self.rows.set_separator(separator);
            self.rows.split(text, 1 + separators)?;
            match titles::columns(&self.rows, self.dialect.tagged) {
                Ok(columns) => return Ok(Header::Columns(columns)),
                Err(_) if !titles::groups(&self.rows).is_empty() => {
                    return Ok(Header::Groups(titles::groups(&self.rows), self.rows.len()));
                }
                Err(wrong) if separators > 0 && error == Wrong::NoPath => error = wrong,
                Err(_) => {}
            }
        }
        Err(error)
    }

    /// Returns whether a list of unknown format starts like a table with an unknown or missing
    /// header. Then the header is reported. No line of such a list may be a line of another format.
    pub(super) fn is_almost(dialect: Dialect, head: &[u8]) -> bool {
        let ending = dialect.ending();
        let lines = || head.split(|&byte| byte == ending.byte());
        let is_line = |line| matches!(Mixed::new(dialect).next(line), Line::Record { .. });
        let is_row = |line: &&[u8]| !line.trim_ascii().is_empty() && !line.starts_with(b"#");
        let mut rows = lines().filter(is_row).map(|line| without_return(line).to_ascii_lowercase());
        let (first, second) = (rows.next().unwrap_or_default(), rows.next().unwrap_or_default());
        fn cells(line: &[u8], separator: u8) -> Vec<&[u8]> {
            let cells = line.split(|byte| *byte == separator);
            cells.map(|cell| unquoted(cell.trim_ascii())).collect()
        }
        let is_digest = |cell: &&[u8]| {
            cell.len() >= 32
                && cell.len().is_multiple_of(8)
                && cell.iter().all(u8::is_ascii_hexdigit)
        };
        let is_table = |&separator: &u8| {
            let [first, second] = [&first, &second].map(|line| cells(line, separator));
            let is_header = first.iter().all(|cell| is_title(cell))
                && first.iter().any(|cell| has_any(cell, &[b"path", b"name", b"file"]))
                && first.iter().any(|cell| has_any(cell, &OF_DIGESTS));
            // In any language.
            let has_digests = second.len() == first.len() && second.iter().any(is_digest);
            first.len() > 1 && (is_header || has_digests || first.iter().any(is_digest))
        };
        b",;\t".iter().any(is_table) && !lines().any(is_line)
    }

    /// Reads a row with several files. Downloaded files have the last names of their paths.
    fn read_groups(&mut self, text: &[u8], groups: &[Group], columns: usize) -> Result<(), Wrong> {
        self.rows.split_exactly(text, columns)?;
        let mut records = Vec::new();
        for group in groups {
            let split = |index: usize| self.rows.cell(index).split(|&byte| byte == b';');
            let paths = split(group.paths).collect::<Vec<_>>();
            if paths == [&b""[..]] {
                continue;
            }
            let same =
                |count: usize| if count == paths.len() { Ok(()) } else { Err(Wrong::Form(NAME)) };
            same(split(group.md5).count())?;
            same(group.sizes.map_or(paths.len(), |sizes| split(sizes).count()))?;
            let mut sizes = group.sizes.map(split);
            for (path, md5) in paths.iter().zip(split(group.md5)) {
                let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
                if name.is_empty() || name.contains(&0) {
                    return Err(Wrong::Name);
                }
                let mut record = Record { name: Cow::Owned(name.to_vec()), ..Record::default() };
                if let Some(size) =
                    sizes.as_mut().and_then(Iterator::next).filter(|it| !it.is_empty())
                {
                    record.size = Some(line::number(size).ok_or(Wrong::Size)?);
                }
                let digest = digests::of(Algorithm::Md5, md5)?;
                record
                    .digests
                    .extend(Some(digest).filter(|_| self.dialect.tagged.contains(Algorithm::Md5)));
                records.push(record);
            }
        }
        records.reverse();
        self.more = records;
        Ok(())
    }

    fn read(&mut self, text: &[u8], columns: &[Column]) -> Result<(Record<'static>, bool), Wrong> {
        self.rows.split_exactly(text, columns.len())?;
        let mut record = Record::default();
        // The list names the algorithms, except of a bare digest in a column without an algorithm.
        let mut is_tagged = true;
        let of_hash = columns.iter().position(|&column| column == Column::Algorithm);
        for (column, cell) in columns.iter().zip(self.rows.cells()) {
            let digest = match *column {
                Column::Path => {
                    record.name = Cow::Owned(cell.to_vec());
                    continue;
                }
                // An empty cell means unknown.
                _ if is_unknown(cell) => continue,
                Column::Size => {
                    record.size = Some(line::number(cell).ok_or(Wrong::Size)?);
                    continue;
                }
                Column::Modified => {
                    let time = Time::from_rfc3339(cell).ok_or(Wrong::Modified)?;
                    record.times.modified = Some(time);
                    continue;
                }
                Column::Algorithm | Column::Other => continue,
                Column::Digest(it) => digests::of(it, cell)?,
                Column::Hash => match of_hash {
                    Some(index) => {
                        let name = str::from_utf8(self.rows.cell(index)).unwrap_or_default();
                        let it = Algorithm::called(name.trim()).ok_or(Wrong::Algorithm)?;
                        digests::of(it, cell)?
                    }
                    None => {
                        let (digest, is_named) = digests::of_any(cell, self.dialect.untagged)?;
                        is_tagged &= is_named;
                        digest
                    }
                },
            };
            if record.digest(digest.algorithm()).is_some_and(|known| *known != digest) {
                return Err(Wrong::Digest(digest.algorithm()));
            }
            if self.dialect.tagged.contains(digest.algorithm())
                && record.digest(digest.algorithm()).is_none()
            {
                record.digests.push(digest);
            }
        }
        let is_name = !record.name.is_empty() && !record.name.contains(&0);
        if is_name { Ok((record, is_tagged)) } else { Err(Wrong::Name) }
    }
}

impl Format for Csv {
    fn begin(&self, out: &mut Vec<u8>) {
        let sizes = self.writes_size.then_some("size").into_iter();
        let titles = sizes.chain(self.writes_modified.then_some("modified"));
        out.extend_from_slice(b"path");
        for title in titles.chain(self.algorithms.iter().map(Algorithm::name)) {
            out.push(self.rows.separator());
            out.extend_from_slice(title.as_bytes());
        }
        out.extend_from_slice(b"\r\n");
    }

    fn can_hold(&self, _: Algorithms) -> Result<(), CannotHold> {
        Ok(())
    }

    fn record(&self, out: &mut Vec<u8>, record: &Record<'_>) -> Result<(), CannotHold> {
        if record.name.is_empty() {
            return Err(CannotHold::EmptyName(NAME));
        }
        cannot::all_of(NAME, record.algorithms(), self.algorithms)?;
        let separator = self.rows.separator();
        write_cell_of(out, &record.name, separator);
        if self.writes_size {
            out.push(separator);
            if let Some(size) = record.size {
                line::write_number(out, size);
            }
        }
        if self.writes_modified {
            out.push(separator);
            if let Some(modified) = record.times.modified {
                modified.write_rfc3339(out);
            }
        }
        for algorithm in self.algorithms.iter() {
            out.push(separator);
            if let Some(digest) = record.digest(algorithm) {
                digits::write(out, digest, self.dialect.writes_base64);
            }
        }
        out.extend_from_slice(b"\r\n");
        Ok(())
    }

    fn detect(&self, head: &[u8]) -> bool {
        Self::new(self.dialect).read_header(line::first(head, self.dialect.ending)).is_ok()
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.rows.find_end(bytes)
    }

    fn has_more(&self) -> bool {
        !self.more.is_empty()
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        if let Some(record) = self.more.pop() {
            return Line::Record { record, is_tagged: true };
        }
        if self.rows.is_cut() {
            return Line::Wrong(Wrong::CutOff);
        }
        if without_return(text).is_empty() {
            return Line::Blank;
        }
        match std::mem::replace(&mut self.header, Header::Wrong) {
            Header::Wrong => Line::Blank,
            // No column has such a title, but a comment may.
            Header::Unread if text.starts_with(b"#") => {
                self.header = Header::Unread;
                Line::Blank
            }
            Header::Unread => match self.read_header(text) {
                Ok(header) => {
                    self.header = header;
                    Line::Blank
                }
                Err(wrong) => Line::Wrong(wrong),
            },
            Header::Groups(groups, columns) => {
                let read = self.read_groups(text, &groups, columns);
                self.header = Header::Groups(groups, columns);
                match read.map(|()| self.more.pop()) {
                    Ok(Some(record)) => Line::Record { record, is_tagged: true },
                    // A run without such files.
                    Ok(None) => Line::Blank,
                    Err(wrong) => Line::Wrong(wrong),
                }
            }
            Header::Columns(columns) => {
                let read = self.read(text, &columns);
                self.header = Header::Columns(columns);
                let line = |(record, is_tagged)| Line::Record { record, is_tagged };
                read.map_or_else(Line::Wrong, line)
            }
        }
    }
}

/// Appends a CSV cell. Quotes it if required, and if it starts or ends with blanks that a reader
/// might remove.
///
/// ```
/// let mut row = Vec::new();
/// lanesum_list::formats::write_cell(&mut row, b"a, \"b\"");
/// assert_eq!(row, br#""a, ""b""""#);
/// ```
pub fn write_cell(out: &mut Vec<u8>, cell: &[u8]) {
    write_cell_of(out, cell, b',');
}

/// Appends a cell of a table with this separator.
pub(super) fn write_cell_of(out: &mut Vec<u8>, cell: &[u8], separator: u8) {
    let is_blank_end = |byte: Option<&u8>| byte.is_some_and(|&byte| is_blank(byte));
    let is_special = |byte: &u8| *byte == separator || matches!(byte, b'"' | b'\r' | b'\n');
    if !cell.iter().any(is_special) && !is_blank_end(cell.first()) && !is_blank_end(cell.last()) {
        return out.extend_from_slice(cell);
    }
    out.push(b'"');
    for &byte in cell {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines;

    const HEADER: &str = "path,size,modified,md5,sha1\r\n";
    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";

    fn read(list: &str) -> Vec<(u64, Line<'_>)> {
        let mut csv = Csv::new(Dialect::any());
        let lines: Vec<_> = lines(list.as_bytes(), &mut csv).collect();
        lines.into_iter().filter(|(_, line)| *line != Line::Blank).collect()
    }

    #[test]
    fn rows_are_read_by_the_header() {
        let list = format!(
            "{HEADER}a,3,2023-11-14T22:13:20Z,{MD5},\n\r\n\"b\r\nc\",,,kAFQmDzST7DWlj99KOF/cg==,\r\nd,4,,,\n"
        );
        let read = read(&list);
        let [
            (2, Line::Record { record: a, .. }),
            (4, Line::Record { record: b, .. }),
            (6, Line::Record { record: d, .. }),
        ] = &*read
        else {
            panic!("{read:?}")
        };
        assert_eq!((&*a.name, a.size, a.digests.len()), (&b"a"[..], Some(3), 1));
        assert_eq!(a.times.modified, Some(Time { seconds: 1_700_000_000, nanoseconds: 0 }));
        assert_eq!((&*b.name, b.size, &b.digests), (&b"b\r\nc"[..], None, &a.digests));
        assert_eq!((&*d.name, d.size, d.digests.len()), (&b"d"[..], Some(4), 0));
    }

    #[test]
    fn invalid_rows_are_reported_with_their_lines() {
        for (row, wrong) in [
            ("a,3,,", Wrong::Columns { found: 4, expected: 5 }),
            ("a,3,,,,", Wrong::Columns { found: 6, expected: 5 }),
            ("a,x,,,", Wrong::Size),
            ("a,,yesterday,,", Wrong::Modified),
            (&format!("a,,,{},", &MD5[1..]), Wrong::Digest(Algorithm::Md5)),
            (",3,,,", Wrong::Name),
            ("a\0,3,,,", Wrong::Name),
            ("\"a,3,,,", Wrong::CutOff),
            ("a\rb,3,,,", Wrong::Form(NAME)),
        ] {
            assert_eq!(read(&format!("{HEADER}\n{row}\n")), [(3, Line::Wrong(wrong))], "{row:?}");
        }
        // A record truncated after a comma.
        let cut = format!("{HEADER}a,3,,{MD5},");
        assert_eq!(read(&cut), [(2, Line::Wrong(Wrong::CutOff))]);
        assert!(matches!(&*read("path,md5,size\na,,3"), [(2, Line::Record { .. })]));
        // Rows after an invalid one are read.
        let list = format!("{HEADER}a,3\nb,3,,,\n");
        assert!(matches!(&*read(&list), [(2, Line::Wrong(_)), (3, Line::Record { .. })]));
    }

    /// As `Get-FileHash | Export-Csv` writes them.
    #[test]
    fn a_column_may_name_the_algorithm() {
        let list = format!(
            "#TYPE Microsoft.PowerShell.Commands.FileHashInfo\r\n\
             \"Algorithm\",\"Hash\",\"Path\"\r\n\
             \"MD5\",\"{}\",\"C:\\a\"\r\n\"MD4\",\"00\",\"C:\\b\"\r\n",
            MD5.to_uppercase()
        );
        assert!(Csv::new(Dialect::any()).detect(list.as_bytes()));
        let read = read(&list);
        let [(3, Line::Record { record, .. }), (4, Line::Wrong(Wrong::Algorithm))] = &*read else {
            panic!("{read:?}")
        };
        assert_eq!(&*record.name, b"C:\\a");
        assert_eq!(
            record.digests[0],
            crate::Digest::from_hex(Algorithm::Md5, MD5.as_bytes()).unwrap()
        );
        // The other column is missing.
        assert!(!Csv::new(Dialect::any()).detect(b"algorithm,path\n"));
    }

    /// As many services and programs write them.
    #[test]
    fn columns_are_found_by_usual_titles() {
        let abc = crate::Digest::from_hex(Algorithm::Md5, MD5.as_bytes()).unwrap();
        for (header, row) in [
            ("path,md5sum", format!("a,{MD5}")),
            ("File Name;MD5 Checksum", format!("a;{}", MD5.to_uppercase())),
            ("Hash,Path", format!("{MD5},a")),
            ("file_name\tchecksum\tfile_size", format!("a\tmd5:{MD5}\t3")),
            ("id\tfilename\tmd5\tsize\tstate", format!("u\ta\t{MD5}\t3\treleased")),
            ("Key,name,Content-MD5,Content-Length", "x,a,kAFQmDzST7DWlj99KOF/cg==,3".to_owned()),
            ("filename,path,md5_base64", "b,a,kAFQmDzST7DWlj99KOF/cg".to_owned()),
            ("path,algorithm,checksum", format!("a,MD-5,{MD5}")),
            ("path,file_md5,hash", format!("a,{MD5},{MD5}")),
        ] {
            let list = format!("{header}\r\n{row}\r\n");
            assert!(Csv::new(Dialect::any()).detect(list.as_bytes()), "{list}");
            let read = read(&list);
            let [(2, Line::Record { record, .. })] = &*read else { panic!("{list}: {read:?}") };
            assert_eq!((&*record.name, &*record.digests), (&b"a"[..], &[abc][..]), "{list}");
        }
        for (header, row, wrong) in [
            ("path,checksum", "a,md5:90".to_owned(), Wrong::Digest(Algorithm::Md5)),
            ("path,checksum", "a,90".to_owned(), Wrong::Algorithm),
            (
                "path,md5,hash",
                format!("a,{MD5},{}", MD5.replace('9', "8")),
                Wrong::Digest(Algorithm::Md5),
            ),
            ("path\tmd5", format!("a,{MD5}"), Wrong::Columns { found: 1, expected: 2 }),
        ] {
            let list = format!("{header}\n{row}\n");
            assert_eq!(read(&list), [(2, Line::Wrong(wrong))], "{list}");
        }
    }

    #[test]
    fn a_row_of_ena_has_several_files() {
        let list = format!(
            "run_accession\tfastq_ftp\tfastq_md5\tfastq_bytes\tsra_ftp\tsra_md5\n\
             E1\tftp.x/v/E1_1.gz;ftp.x/v/E1_2.gz\t{MD5};{MD5}\t3;4\tftp.x/E1.sra\t{MD5}\n\
             E2\t\t\t\t\t\nE3\ta;b\t{MD5}\t1;2\t\t{MD5}\nE4\ta\t{MD5}\t1\t\t\n"
        );
        assert!(Csv::new(Dialect::any()).detect(list.as_bytes()));
        let found: Vec<_> = read(&list)
            .into_iter()
            .map(|(number, line)| match line {
                Line::Record { record, .. } => {
                    (number, Some((record.name.into_owned(), record.size)))
                }
                other => {
                    assert_eq!(other, Line::Wrong(Wrong::Form(NAME)));
                    (number, None)
                }
            })
            .collect();
        let file = |number, name: &str, size| (number, Some((name.as_bytes().to_vec(), size)));
        let expected = [
            file(2, "E1_1.gz", Some(3)),
            file(2, "E1_2.gz", Some(4)),
            file(2, "E1.sra", None),
            (4, None),
            file(5, "a", Some(1)),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_table_with_an_unknown_header_is_detected() {
        let is_almost = |list: &str| Csv::is_almost(Dialect::any(), list.as_bytes());
        for list in [
            "path;md5\n",
            "path\tsize\tmd5\n",
            "# of today\nFile Name,MD5 Checksum\r\n",
            "\"Hash\";\"Path\"\n",
            &format!("a b.jpg;{MD5}\n"),
            &format!("{MD5},a\n"),
            &format!("Pfad;Hash\r\na b.jpg;{MD5}\r\n"),
            &format!("# heute\n\nPfad,Pr\u{fc}fsumme\n\"a\",\"{MD5}\"\n"),
        ] {
            assert!(is_almost(list), "{list}");
        }
        for list in [
            "",
            "readme\n",
            "a text, with commas\n",
            "Checksums of all files, by name\n",
            "path,owner\n",
            &format!("name,md5\n{MD5}  a\n"),
            &format!("one, two\n{MD5}\n"),
        ] {
            assert!(!is_almost(list), "{list}");
        }
    }

    #[test]
    fn an_invalid_header_is_reported_once() {
        for (header, wrong) in [
            ("a,md5", Wrong::NoPath),
            ("path:md5", Wrong::NoPath),
            ("path,path,size", Wrong::Header("path")),
            ("path,md5,MD5", Wrong::Header("md5")),
            ("file,size,Size", Wrong::Header("size")),
            ("name;owner", Wrong::NothingInHeader),
        ] {
            let list = format!("{header}\nx,y\nz\n");
            assert_eq!(read(&list), [(1, Line::Wrong(wrong))], "{header}");
            assert!(!Csv::new(Dialect::any()).detect(list.as_bytes()));
        }
        for header in ["Path,Size\n", "\r\nmd5,filename\r\n", "a,sha256,b,name"] {
            assert!(Csv::new(Dialect::any()).detect(header.as_bytes()), "{header}");
        }
        assert!(!Csv::new(Dialect::any()).detect(b"path,owner\n"));
        let list = "\n# of today, \"a\"\npath,size\n#,3\n";
        assert!(Csv::new(Dialect::any()).detect(list.as_bytes()));
        assert!(matches!(&*read(list), [(4, Line::Record { .. })]), "{:?}", read(list));
    }
}
