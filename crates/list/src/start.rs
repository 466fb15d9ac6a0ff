//! What a list is, told by its start: text, or something that only looks like no checksums.
//!
//! PowerShell's `>` writes UTF-16, editors add a byte order mark, and a glob hands over an archive.
//! Without this each of them is "no properly formatted lines", with it the reader learns the cure.
//! GNU md5sum does not look, so neither does whoever follows it to the letter.

use crate::{Dialect, Ending, formats};

/// The byte order mark in UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether these bytes begin with a byte order mark of UTF-8 or UTF-16: at the start of a list they
/// would be none of its name.
pub(crate) fn begins_with_mark(name: &[u8]) -> bool {
    name.starts_with(MARK) || name.starts_with(b"\xff\xfe") || name.starts_with(b"\xfe\xff")
}

impl NotAList {
    /// The command of a shell that makes a list of it, from its standard input to its output, where
    /// there is one.
    #[must_use]
    pub const fn filter(self) -> Option<&'static str> {
        match self {
            Self::Utf16 { filter } | Self::Compressed { filter, .. } => Some(filter),
            Self::NulEnded | Self::NewlineEnded | Self::Binary | Self::OfDvc | Self::OfWindows => {
                None
            }
        }
    }
}

/// The mark says the byte order.
const FROM_UTF_16: &str = "iconv -f UTF-16 -t UTF-8";
const FROM_UTF_16BE: &str = "iconv -f UTF-16BE -t UTF-8";
const FROM_UTF_16LE: &str = "iconv -f UTF-16LE -t UTF-8";

/// What compressed files begin with, the program that makes them, and the one that undoes it.
const COMPRESSED: [(&[u8], &str, &str); 4] = [
    (b"\x1f\x8b", "gzip", "zcat"),
    (b"BZh", "bzip2", "bzcat"),
    (b"\xfd7zXZ\0", "xz", "xzcat"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstdcat"),
];

/// As much of a list as is to be looked at, in bytes. Four do where no more have come: the marks
/// have three at most, and a fourth makes UTF-16 without one unlikely to be cut.
pub const HEAD: usize = 8192;

/// What is no list, told by its start. Its name is the caller's to add.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotAList {
    /// It is in UTF-16 of either byte order, with a mark or without.
    #[error("looks like UTF-16; convert it to UTF-8, e.g. {filter}")]
    Utf16 {
        /// The command that does it: where there is no mark it is told the byte order.
        filter: &'static str,
    },
    /// Its first line ends with NUL where newlines were expected.
    #[error("its lines end with NUL; say --zero")]
    NulEnded,
    /// Its first line ends with a newline where NULs were expected, and none is in sight.
    #[error("its lines end with newlines; check it without --zero")]
    NewlineEnded,
    /// It is no text: control characters abound.
    #[error("looks like binary data, not a list of checksums")]
    Binary,
    /// It is compressed.
    #[error("is compressed by {by}; {filter} shows the list")]
    Compressed {
        /// The program that did it.
        by: &'static str,
        /// The one that undoes it.
        filter: &'static str,
    },
    /// It is a `.dvc`, what DVC notes of a file or a directory that it tracks.
    #[error(
        "is what DVC notes of a file or folder, and no list; dvc status checks it, and the cache of DVC \
         has the list of a folder: files/md5/*/*.dir"
    )]
    OfDvc,
    /// It is what Get-FileHash of PowerShell or certutil show on a screen.
    #[error(
        "is what Get-FileHash or certutil show, and no list; PowerShell writes one: Get-FileHash -A \
         MD5 * | Export-Csv -Encoding UTF8 list.csv"
    )]
    OfWindows,
}

/// Where the text of a list begins, told by its first bytes ([`HEAD`] of them do): at 3 after a
/// byte order mark in UTF-8, at 0 without. It may still hold no checksums.
///
/// ```
/// use lanesum_list::{Ending, start};
///
/// assert_eq!(start::of_text(b"\xef\xbb\xbfe3069283  a\n", Ending::Newline), Ok(3));
/// let error = start::of_text(b"\xff\xfee\x003\x00", Ending::Newline).unwrap_err();
/// assert!(error.to_string().contains("iconv"));
/// ```
///
/// # Errors
///
/// [`NotAList`] says what it is instead of a list whose lines have this ending.
pub fn of_text(head: &[u8], ending: Ending) -> Result<usize, NotAList> {
    if head.starts_with(MARK) {
        Ok(MARK.len())
    } else if begins_with_mark(head) {
        Err(NotAList::Utf16 { filter: FROM_UTF_16 })
    } else if ending == Ending::Nul && !head.contains(&0) && has_newlines(head) {
        Err(NotAList::NewlineEnded)
    } else if begins_with_record(head, ending) {
        // Names may hold any bytes, so a record settles it.
        Ok(0)
    } else if ending == Ending::Newline && begins(head, Ending::Nul) {
        Err(NotAList::NulEnded)
    } else if let Some(filter) = from_utf16(head) {
        Err(NotAList::Utf16 { filter })
    } else if is_binary(head, ending) {
        let by = COMPRESSED.into_iter().find(|(start, ..)| head.starts_with(start));
        Err(by.map_or(NotAList::Binary, |(_, by, filter)| NotAList::Compressed { by, filter }))
    } else if head.starts_with(b"outs:\n") {
        Err(NotAList::OfDvc)
    } else if is_shown_by_windows(head) {
        Err(NotAList::OfWindows)
    } else {
        Ok(0)
    }
}

/// Whether it is a list of some format, whose first line holds a checksum as a rule.
fn begins_with_record(head: &[u8], ending: Ending) -> bool {
    formats::recognise(head, Dialect::of_any_length().with_ending(ending)).is_some()
}

/// Whether the first line has this ending and holds a checksum.
fn begins(head: &[u8], ending: Ending) -> bool {
    memchr::memchr(ending.byte(), head).is_some() && begins_with_record(head, ending)
}

/// Whether each of the first two lines that end with a newline, or the only one, holds a checksum.
/// The name in a line that ends with NUL may hold a newline, and what comes behind that looks like
/// no line.
fn has_newlines(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    begins(head, Ending::Newline)
        && lines.by_ref().take(2).all(|line| begins_with_record(line, Ending::Newline))
}

/// What makes UTF-8 of UTF-16 without a mark. There every other byte is NUL where the text is
/// ASCII: at least four characters, and nine in ten of them.
fn from_utf16(head: &[u8]) -> Option<&'static str> {
    let characters = head.len() / 2;
    let nuls = |half: usize| head.iter().skip(half).step_by(2).filter(|&&byte| byte == 0).count();
    let (even, odd) = (nuls(0), nuls(1));
    let is_utf16 =
        characters >= 4 && even.max(odd) * 10 >= characters * 9 && even.min(odd) * 10 <= characters;
    is_utf16.then_some(if even > odd { FROM_UTF_16BE } else { FROM_UTF_16LE })
}

/// Whether the first line that says something is of a table or a list of PowerShell, or that of
/// certutil.
fn is_shown_by_windows(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty()).unwrap_or_default();
    let words = || first.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let begins = |expected: &[&[u8]]| words().take(expected.len()).eq(expected.iter().copied());
    let of_certutil =
        || first.ends_with(b":") && memchr::memmem::find(first, b" hash of ").is_some();
    begins(&[b"Algorithm", b"Hash", b"Path"]) || begins(&[b"Algorithm", b":"]) || of_certutil()
}

/// Whether at least one byte in ten is a control character that no list has between its names.
fn is_binary(head: &[u8], ending: Ending) -> bool {
    let is_odd = |&byte: &u8| {
        (byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r')) && byte != ending.byte()
    };
    let odd = head.iter().filter(|byte| is_odd(byte)).count();
    odd > 0 && odd * 10 >= head.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "d41d8cd98f00b204e9800998ecf8427e  name";

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn plain_text_is_accepted() {
        let escape = format!("{LINE}\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\n");
        let windows = format!("{LINE}\r\n{LINE}\r\n");
        for text in ["", "\n", "a", "# comment\n", "not a list\n", LINE, &windows, &escape] {
            assert_eq!(of_text(text.as_bytes(), Ending::Newline), Ok(0), "{text:?}");
        }
        let zero = format!("{LINE}\0{LINE}\0");
        assert_eq!(of_text(zero.as_bytes(), Ending::Nul), Ok(0));
        assert_eq!(of_text("\u{fc}\u{3b1}".as_bytes(), Ending::Newline), Ok(0));
    }

    #[test]
    fn a_single_nul_is_left_to_the_parser() {
        let text = format!("# a comment\0, and\n{LINE}\n");
        assert_eq!(of_text(text.as_bytes(), Ending::Newline), Ok(0));
    }

    #[test]
    fn utf16_is_detected_with_and_without_its_mark() {
        type ToBytes = fn(u16) -> [u8; 2];
        for (to_bytes, unmarked) in
            [(u16::to_le_bytes as ToBytes, FROM_UTF_16LE), (u16::to_be_bytes, FROM_UTF_16BE)]
        {
            for text in [LINE, "MD5 (name\u{3b1}) = d41d8cd98f00b204e9800998ecf8427e\r\n"] {
                for (mark, filter) in [("", unmarked), ("\u{feff}", FROM_UTF_16)] {
                    let list = utf16(&format!("{mark}{text}"), to_bytes);
                    for ending in [Ending::Newline, Ending::Nul] {
                        let expected = Err(NotAList::Utf16 { filter });
                        assert_eq!(of_text(&list, ending), expected, "{list:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_wrong_line_ending_is_reported() {
        let zero = format!("{LINE}\0{LINE}\0");
        assert_eq!(of_text(zero.as_bytes(), Ending::Newline), Err(NotAList::NulEnded));
        let lines = format!("{LINE}\n{LINE}\n");
        assert_eq!(of_text(lines.as_bytes(), Ending::Nul), Err(NotAList::NewlineEnded));
        let name_of_two_lines = format!("{LINE}\n{LINE}\0");
        assert_eq!(of_text(name_of_two_lines.as_bytes(), Ending::Nul), Ok(0));
        // Cut within such a name, by a pipe or by what is looked at.
        let cut = format!("{LINE}\nthe second");
        assert_eq!(of_text(cut.as_bytes(), Ending::Nul), Ok(0));
        let one = format!("{LINE}\n");
        assert_eq!(of_text(one.as_bytes(), Ending::Nul), Err(NotAList::NewlineEnded));
    }

    #[test]
    fn output_of_windows_tools_is_not_a_list() {
        for text in [
            "\r\nAlgorithm       Hash                Path\r\n---------       ----                ----\r\n",
            "\r\n\r\nAlgorithm : MD5\r\nHash      : D41D8CD98F00B204E9800998ECF8427E\r\n",
            "MD5 hash of file a b.txt:\r\nd4 1d 8c d9\r\nCertUtil: -hashfile command completed\r\n",
            "SHA256 hash of a.txt:\r\n",
        ] {
            let found = of_text(text.as_bytes(), Ending::Newline);
            assert_eq!(found, Err(NotAList::OfWindows), "{text}");
        }
        for text in ["Algorithms", "the hash of this\n", "\"Algorithm\",\"Hash\",\"Path\"\r\n"] {
            assert_eq!(of_text(text.as_bytes(), Ending::Newline), Ok(0), "{text}");
        }
    }

    #[test]
    fn programs_and_pictures_are_binary() {
        let elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0";
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x02\0\0\0";
        for data in [&elf[..], png, &[0; 100]] {
            for ending in [Ending::Newline, Ending::Nul] {
                let zeros = ending == Ending::Nul && data == [0; 100];
                let expected = if zeros { Ok(0) } else { Err(NotAList::Binary) };
                assert_eq!(of_text(data, ending), expected, "{data:?}");
            }
        }
    }

    #[test]
    fn compressed_files_name_their_filter() {
        for (data, expected) in [
            (&b"\x1f\x8b\x08\0\0\0\0\0\0\x03"[..], "zcat"),
            (b"BZh91AY&SY\0\0\0\x01\x02", "bzcat"),
            (b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46", "xzcat"),
            (b"\x28\xb5\x2f\xfd\x04\x58\0\0\0\0", "zstdcat"),
        ] {
            let found = of_text(data, Ending::Newline).unwrap_err();
            assert_eq!(found.filter(), Some(expected), "{found}");
            assert!(found.to_string().contains(expected), "{found}");
        }
        // Text that begins so is text.
        assert_eq!(of_text(b"BZh is how it begins\n", Ending::Newline), Ok(0));
    }

    #[test]
    fn dvc_files_are_not_lists() {
        let noted = b"outs:\n- md5: d41d8cd98f00b204e9800998ecf8427e\n  size: 0\n  path: a b\n";
        assert_eq!(of_text(noted, Ending::Newline), Err(NotAList::OfDvc));
    }
}
