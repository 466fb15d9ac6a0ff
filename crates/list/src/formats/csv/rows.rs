//! The rows of a table: cells apart by a separator, quoted if they contain it or a line end.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::super::line::without_return;
use super::super::{Line, Wrong};

/// Finds the ends of rows, and splits them into cells.
#[derive(Clone, Debug)]
pub(in super::super) struct Rows {
    format: &'static str,
    /// Whether the last bytes read end within quotation marks.
    is_quoted: bool,
    /// Whether the last bytes read end with a newline.
    is_ended: bool,
    separator: u8,
    reader: Reader,
    /// The joined cells of a row, and the end of each cell.
    cells: Vec<u8>,
    ends: Vec<usize>,
}

/// Makes a reader that does not skip a byte order mark. Behind the start of a list, it is a part of
/// a name.
fn reader(separator: u8) -> Reader {
    let mut reader = ReaderBuilder::new().delimiter(separator).build();
    let _ = reader.read_record(b"\n", &mut [0], &mut [0]);
    reader
}

impl Rows {
    /// Makes rows with commas. `format` is named in errors.
    pub(in super::super) fn new(format: &'static str) -> Self {
        Self {
            format,
            is_quoted: false,
            is_ended: true,
            separator: b',',
            reader: reader(b','),
            cells: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Sets the separator of the next rows.
    pub(in super::super) fn set_separator(&mut self, separator: u8) {
        (self.separator, self.reader) = (separator, reader(separator));
    }

    pub(in super::super) const fn separator(&self) -> u8 {
        self.separator
    }

    /// Returns the position of the line end of the next row.
    pub(in super::super) fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.is_ended = false;
        let mut from = 0;
        while let Some(found) = self.next_mark(&bytes[from..]) {
            let at = from + found;
            if bytes[at] == b'\n' {
                self.is_ended = true;
                return Some(at);
            }
            self.is_quoted = !self.is_quoted;
            from = at + 1;
        }
        None
    }

    /// Returns the position of the next quotation mark or, outside of quotes, of the line end.
    fn next_mark(&self, bytes: &[u8]) -> Option<usize> {
        if self.is_quoted {
            memchr::memchr(b'"', bytes)
        } else {
            memchr::memchr2(b'"', b'\n', bytes)
        }
    }

    /// Returns whether the list ended within quotation marks.
    pub(in super::super) fn is_cut(&mut self) -> bool {
        std::mem::take(&mut self.is_quoted)
    }

    /// Reads a row by a format, unless it is empty or cut off.
    pub(in super::super) fn line(
        is_cut: bool,
        text: &[u8],
        read: impl FnOnce(&[u8]) -> Result<Line<'static>, Wrong>,
    ) -> Line<'static> {
        if is_cut {
            return Line::Wrong(Wrong::CutOff);
        }
        if without_return(text).is_empty() {
            return Line::Blank;
        }
        read(text).unwrap_or_else(Line::Wrong)
    }

    /// Splits a row into cells, `most` at most.
    ///
    /// # Errors
    ///
    /// Fails if the row has more cells or is not a row.
    pub(in super::super) fn split(&mut self, text: &[u8], most: usize) -> Result<(), Wrong> {
        // Room for one more cell than a valid row has.
        if self.cells.len() <= text.len() {
            self.cells.resize(text.len() + 1, 0);
        }
        self.ends.resize(most + 1, 0);
        let (mut result, taken, bytes, mut count) =
            self.reader.read_record(text, &mut self.cells, &mut self.ends);
        let mut is_whole = taken == text.len();
        if result == ReadRecordResult::InputEmpty {
            let (room, ends) = (&mut self.cells[bytes..], &mut self.ends[count..]);
            let more;
            (result, _, _, more) = self.reader.read_record(b"\n", room, ends);
            count += more;
            is_whole = true;
        }
        self.ends.truncate(count);
        match result {
            ReadRecordResult::Record if is_whole => return Ok(()),
            _ => self.reader = reader(self.separator),
        }
        match result {
            ReadRecordResult::OutputEndsFull => {
                Err(Wrong::Columns { found: count, expected: most })
            }
            ReadRecordResult::InputEmpty => Err(Wrong::CutOff),
            _ => Err(Wrong::Form(self.format)),
        }
    }

    /// Splits a row into exactly `expected` cells.
    ///
    /// # Errors
    ///
    /// Fails if the row has another number of cells. A row that was truncated after a separator
    /// would look like one with an empty last cell, so it counts as cut off.
    pub(in super::super) fn split_exactly(
        &mut self,
        text: &[u8],
        expected: usize,
    ) -> Result<(), Wrong> {
        self.split(text, expected)?;
        let found = self.len();
        if found != expected {
            return Err(Wrong::Columns { found, expected });
        }
        let is_cut = !self.is_ended && found > 1 && self.cell(found - 1).is_empty();
        if is_cut { Err(Wrong::CutOff) } else { Ok(()) }
    }

    /// Returns the number of cells of the last row.
    pub(in super::super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(in super::super) fn cell(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.cells[start..self.ends[index]]
    }

    pub(in super::super) fn cells(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.cell(index))
    }
}
