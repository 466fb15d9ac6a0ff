//! RECORD of an installed Python package or a wheel: `name,sha256=BASE64,size`, without a header.
//!
//! It is CSV. Base64 has the alphabet for URLs and no padding. RECORD itself and compiled files
//! have neither digest nor size. Source: "Recording installed projects" of the Python packaging
//! specifications.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::csv::rows::Rows;
use super::csv::write_cell;
use super::line::{self, without_return};
use super::{CannotHold, Format, Line, Wrong, cannot, digests};
use crate::{Algorithm, Algorithms, Dialect, Record, start};

const NAME: &str = "wheel";
const COLUMNS: usize = 3;

/// A list in RECORD's form.
///
/// ```
/// use lanesum_list::formats::{Format, Line, Wheel};
/// use lanesum_list::{Algorithm, Dialect, lines};
///
/// let list = b"a,sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0,3\np.dist-info/RECORD,,\n";
/// let read: Vec<_> = lines(list, &mut Wheel::new(Dialect::any())).collect();
/// let [(1, Line::Record { record, .. }), (2, Line::Blank)] = &*read else { panic!() };
/// assert_eq!((&*record.name, record.size), (&b"a"[..], Some(3)));
/// ```
#[derive(Clone, Debug)]
pub struct Wheel {
    dialect: Dialect,
    rows: Rows,
}

impl Wheel {
    /// Makes a list of a dialect.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, rows: Rows::new(NAME) }
    }

    fn read(&mut self, text: &[u8]) -> Result<Line<'static>, Wrong> {
        self.rows.split_exactly(text, COLUMNS)?;
        let (name, digest, size) = (self.rows.cell(0), self.rows.cell(1), self.rows.cell(2));
        if name.is_empty() || name.contains(&0) {
            return Err(Wrong::Name);
        }
        if digest.is_empty() && size.is_empty() {
            return Ok(Line::Blank);
        }
        let mut record = Record { name: Cow::Owned(name.to_vec()), ..Record::default() };
        if !digest.is_empty() {
            let (digest, _) = digests::of_any(digest, Algorithms::NONE)?;
            record
                .digests
                .extend(Some(digest).filter(|it| self.dialect.tagged.contains(it.algorithm())));
        }
        if !size.is_empty() {
            record.size = Some(line::number(size).ok_or(Wrong::Size)?);
        }
        Ok(Line::Record { record, is_tagged: true })
    }
}

impl Format for Wheel {
    fn can_hold(&self, algorithms: Algorithms) -> Result<(), CannotHold> {
        // The specification forbids MD5 and SHA-1, and other programs know hashlib's names.
        use Algorithm::{Blake2b, Sha224, Sha256, Sha384, Sha512};
        let known = [Sha224, Sha256, Sha384, Sha512, Blake2b].into_iter().collect();
        cannot::one_of(NAME, algorithms, known)
    }

    fn record(&self, out: &mut Vec<u8>, record: &Record<'_>) -> Result<(), CannotHold> {
        let digest = cannot::the_digest(NAME, record)?;
        self.can_hold(digest.algorithm().into())?;
        if record.name.is_empty() {
            return Err(CannotHold::EmptyName(NAME));
        }
        if start::begins_with_mark(&record.name) {
            let what = "that begins with a byte order mark (write ./ before it)";
            return Err(CannotHold::Name { format: NAME, what });
        }
        write_cell(out, &record.name);
        let base64 = URL_SAFE_NO_PAD.encode(digest.as_bytes());
        out.extend_from_slice(format!(",{}={base64},", digest.algorithm()).as_bytes());
        if let Some(size) = record.size {
            line::write_number(out, size);
        }
        out.push(b'\n');
        Ok(())
    }

    /// Files without a digest may come first.
    fn detect(&self, head: &[u8]) -> bool {
        let (mut reader, mut rest) = (Self::new(self.dialect), head);
        while !rest.is_empty() {
            let end = reader.find_end(rest).unwrap_or(rest.len());
            let (row, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            if without_return(row).is_empty() {
                continue;
            }
            let is_row = reader.rows.split(row, COLUMNS).is_ok() && reader.rows.len() == COLUMNS;
            let digest = if is_row { reader.rows.cell(1) } else { b"-" };
            if !digest.is_empty() {
                return digest.contains(&b'=') && digests::of_any(digest, Algorithms::NONE).is_ok();
            }
        }
        false
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.rows.find_end(bytes)
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        Rows::line(self.rows.is_cut(), text, |text| self.read(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines;

    const SHA256: &str = "sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0";

    #[test]
    fn damaged_rows_are_wrong() {
        for (row, wrong) in [
            ("a,sha256=ungW,3".to_owned(), Wrong::Digest(Algorithm::Sha256)),
            ("a,md6=ungW,3".to_owned(), Wrong::Algorithm),
            (format!("a,{SHA256},x"), Wrong::Size),
            (format!("a,{SHA256}"), Wrong::Columns { found: 2, expected: 3 }),
            (format!("a,{SHA256},3,4"), Wrong::Columns { found: 4, expected: 3 }),
            (format!(",{SHA256},3"), Wrong::Name),
            (format!("\"a,{SHA256},3"), Wrong::CutOff),
        ] {
            let list = format!("x,,\n{row}\n");
            let read: Vec<_> = lines(list.as_bytes(), &mut Wheel::new(Dialect::any())).collect();
            assert_eq!(read, [(1, Line::Blank), (2, Line::Wrong(wrong))], "{row}");
        }
    }

    #[test]
    fn rows_without_digests_may_come_first() {
        let detect = |list: &str| Wheel::new(Dialect::any()).detect(list.as_bytes());
        assert!(detect(&format!("\"a, b\",{SHA256},3\r\n")));
        assert!(detect(&format!("a.pyc,,\nRECORD,,\na,{SHA256},3\n")));
        for list in ["", "a,,\n", "a,b,c\n", "a,sha256:00,3\n", &format!("a,{SHA256}\n")] {
            assert!(!detect(list), "{list}");
        }
    }
}
