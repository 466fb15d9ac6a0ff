//! The seal of a row: CRC-32C over all of its values.
//!
//! SQLite's own check looks at the structure of a database. A bit that flips in a stored digest,
//! size or time leaves the structure intact, and the file would be reported as damaged. So each row
//! has a seal. It also covers the row's table, and the types and lengths of its values.

use rusqlite::types::ValueRef;

/// Returns the seal of these values, in the order of the table's columns.
pub(crate) fn of<'v>(table: u8, values: impl IntoIterator<Item = ValueRef<'v>>) -> i64 {
    let mut sealer = Sealer { crc: 0, length: 0, buffer: [0; 256] };
    sealer.push(&[table]);
    for value in values {
        match value {
            ValueRef::Null => sealer.push(b"n"),
            ValueRef::Integer(number) => sealer.number(b'i', number.to_le_bytes()),
            ValueRef::Real(number) => sealer.number(b'r', number.to_bits().to_le_bytes()),
            ValueRef::Text(bytes) => sealer.bytes(b't', bytes),
            ValueRef::Blob(bytes) => sealer.bytes(b'b', bytes),
        }
    }
    // As a signed number, because a row would need two more bytes for half of the unsigned ones.
    i64::from(sealer.finish().cast_signed())
}

/// Collects short values, because the CRC of a few bytes takes as long as that of a hundred.
struct Sealer {
    crc: u32,
    length: usize,
    buffer: [u8; 256],
}

impl Sealer {
    fn bytes(&mut self, kind: u8, bytes: &[u8]) {
        self.number(kind, (bytes.len() as u64).to_le_bytes());
        self.push(bytes);
    }

    /// Most values are numbers: nine bytes at once.
    #[inline]
    fn number(&mut self, kind: u8, bytes: [u8; 8]) {
        if let Some([first, rest @ ..]) = self.buffer[self.length..].first_chunk_mut::<9>() {
            (*first, *rest) = (kind, bytes);
            self.length += 9;
        } else {
            self.push(&[kind]);
            self.push(&bytes);
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        if bytes.len() > self.buffer.len() - self.length {
            self.crc = crc32c::crc32c_append(self.crc, &self.buffer[..self.length]);
            self.length = 0;
            if bytes.len() > self.buffer.len() {
                self.crc = crc32c::crc32c_append(self.crc, bytes);
                return;
            }
        }
        self.buffer[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn finish(self) -> u32 {
        crc32c::crc32c_append(self.crc, &self.buffer[..self.length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_every_value_changes_the_seal() {
        let long = [7; 600];
        let seal = |number: i64, name: &[u8]| {
            of(3, [ValueRef::Integer(number), ValueRef::Blob(name), ValueRef::Null])
        };
        let mut seals = std::collections::HashSet::from([seal(5, &long)]);
        for bit in 0..64 {
            assert!(seals.insert(seal(5 ^ 1 << bit, &long)), "bit {bit} of the number");
        }
        for bit in 0..8 * long.len() {
            let mut changed = long;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(seals.insert(seal(5, &changed)), "bit {bit} of the name");
        }
    }

    #[test]
    fn types_and_lengths_change_the_seal() {
        let seals = [
            of(1, [ValueRef::Blob(b"ab"), ValueRef::Blob(b"c")]),
            of(1, [ValueRef::Blob(b"a"), ValueRef::Blob(b"bc")]),
            of(1, [ValueRef::Text(b"ab"), ValueRef::Blob(b"c")]),
            of(2, [ValueRef::Blob(b"ab"), ValueRef::Blob(b"c")]),
            of(1, [ValueRef::Null, ValueRef::Null]),
            of(1, [ValueRef::Null]),
        ];
        let different = std::collections::HashSet::from(seals);
        assert_eq!(different.len(), seals.len());
    }
}
