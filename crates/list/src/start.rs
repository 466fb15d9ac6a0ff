//! Detects files that are not checksum lists by their first bytes.
//!
//! `>` in PowerShell writes UTF-16, editors add a byte order mark, and a glob may match an archive.
//! Without this module each of them would give the error "no properly formatted lines". With it the
//! message names the cause and the fix. GNU md5sum does not check this, so GNU mode does not
//! either.

use crate::{Dialect, Ending, formats};

/// The byte order mark in UTF-8.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns whether these bytes start with a byte order mark of UTF-8 or UTF-16. At the start of a
/// list these bytes would not be read as part of a name.
pub(crate) fn begins_with_mark(name: &[u8]) -> bool {
    name.starts_with(MARK) || name.starts_with(b"\xff\xfe") || name.starts_with(b"\xfe\xff")
}

impl NotAList {
    /// Returns the shell command that converts the file to a list, from standard input to standard
    /// output, if there is one.
    #[must_use]
    pub const fn filter(self) -> Option<&'static str> {
        match self {
            Self::Utf16 { filter } | Self::Compressed { filter, .. } => Some(filter),
            Self::NulEnded
            | Self::NewlineEnded
            | Self::Binary
            | Self::OfDvc
            | Self::OfWindows
            | Self::OfPackages { .. } => None,
        }
    }
}

/// The mark defines the byte order.
const FROM_UTF_16: &str = "iconv -f UTF-16 -t UTF-8";
const FROM_UTF_16BE: &str = "iconv -f UTF-16BE -t UTF-8";
const FROM_UTF_16LE: &str = "iconv -f UTF-16LE -t UTF-8";

/// The first bytes of compressed files, the program that compresses, and the one that decompresses.
const COMPRESSED: [(&[u8], &str, &str); 4] = [
    (b"\x1f\x8b", "gzip", "zcat"),
    (b"BZh", "bzip2", "bzcat"),
    (b"\xfd7zXZ\0", "xz", "xzcat"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstdcat"),
];

/// The number of bytes at the start of a list to examine. Four bytes are the minimum: marks have up
/// to three, and a fourth makes it unlikely that UTF-16 without a mark is cut.
pub const HEAD: usize = 8192;

/// The kind of a file that is not a list. The caller adds the name of the file.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotAList {
    /// The file is in UTF-16 of either byte order, with or without a mark.
    #[error("looks like UTF-16, not UTF-8")]
    Utf16 {
        /// The command that converts it. Without a mark the command names the byte order.
        filter: &'static str,
    },
    /// The first line ends with NUL instead of a newline.
    #[error("its lines end with NUL")]
    NulEnded,
    /// The first line ends with a newline instead of NUL, and no NUL was found.
    #[error("its lines end with newlines, not with NUL")]
    NewlineEnded,
    /// The file is binary: it has many control characters.
    #[error("looks like binary data, not a checksum list")]
    Binary,
    /// The file is compressed.
    #[error("compressed with {by}")]
    Compressed {
        /// The program that compressed it.
        by: &'static str,
        /// The program that decompresses it.
        filter: &'static str,
    },
    /// The file is a `.dvc` file, which describes a file or directory that DVC tracks.
    #[error("a .dvc file of DVC, not a checksum list")]
    OfDvc,
    /// The file is a lock file of a package manager. Its digests are those of packages, whose files
    /// have other names in caches.
    #[error("a lock file of {by}: it lists packages, not files")]
    OfPackages {
        /// The package manager.
        by: &'static str,
        /// The command that checks the packages.
        check: &'static str,
    },
    /// The file is the screen output of Get-FileHash of PowerShell or of certutil.
    #[error("output of Get-FileHash or certutil, not a checksum list")]
    OfWindows,
}

/// The lock files of package managers: a text in each, the manager, and the command that checks it.
const LOCKS: [(&[u8], &str, &str); 5] = [
    (b"--hash=sha", "pip", "pip install --require-hashes -r FILE"),
    (b"\"lockfileVersion\":", "npm", "npm ci"),
    (b"# yarn lockfile", "Yarn", "yarn install --frozen-lockfile"),
    (b"\nlockfileVersion:", "pnpm", "pnpm install --frozen-lockfile"),
    (b"\n[[package]]\n", "Cargo, Poetry or uv", "cargo fetch --locked, poetry sync or uv sync"),
];

/// Returns the lock file that a text is.
fn lock(head: &[u8]) -> Option<NotAList> {
    let has = |text: &[u8]| memchr::memmem::find(head, text).is_some();
    // `MODULE VERSION h1:BASE64`.
    let mut words = head.split(u8::is_ascii_whitespace).skip(1);
    let is_of_go = words.next().is_some_and(|word| word.starts_with(b"v"))
        && words.next().is_some_and(|word| word.starts_with(b"h1:"));
    if is_of_go {
        return Some(NotAList::OfPackages { by: "Go", check: "go mod verify" });
    }
    let (_, by, check) = LOCKS.into_iter().find(|(text, ..)| has(text))?;
    Some(NotAList::OfPackages { by, check })
}

/// Returns the offset of the text of a list: 3 after a UTF-8 byte order mark, and 0 without one.
/// `head` should have [`HEAD`] bytes, if the file has them. An accepted file may still contain no
/// checksums.
///
/// ```
/// use lanesum_list::{Ending, start};
///
/// assert_eq!(start::of_text(b"\xef\xbb\xbfe3069283  a\n", Ending::Newline), Ok(3));
/// let error = start::of_text(b"\xff\xfee\x003\x00", Ending::Newline).unwrap_err();
/// assert!(error.filter().unwrap().starts_with("iconv"));
/// ```
///
/// # Errors
///
/// Fails with [`NotAList`] if the file is not a list whose lines have this ending.
pub fn of_text(head: &[u8], ending: Ending) -> Result<usize, NotAList> {
    let is_record = || begins_with_record(head, ending);
    if head.starts_with(MARK) {
        Ok(MARK.len())
    } else if begins_with_mark(head) {
        Err(NotAList::Utf16 { filter: FROM_UTF_16 })
    } else if ending == Ending::Nul && !head.contains(&0) && has_newlines(head) {
        Err(NotAList::NewlineEnded)
    } else if let Some(lock) = lock(head).filter(|_| is_object(head) || !is_record()) {
        Err(lock)
    } else if is_record() {
        // Names may contain any bytes, so a valid record is enough.
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

/// Returns whether the file is a list of some format. Its first line usually has a checksum.
fn begins_with_record(head: &[u8], ending: Ending) -> bool {
    formats::recognise(head, Dialect::of_any_length().with_ending(ending)).is_some()
}

/// Returns whether the file begins like an object of JSON.
fn is_object(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"{")
}

/// Returns whether the first line has this ending and a checksum.
fn begins(head: &[u8], ending: Ending) -> bool {
    memchr::memchr(ending.byte(), head).is_some() && begins_with_record(head, ending)
}

/// Returns whether each of the first two lines that end with a newline, or the only one, has a
/// checksum. The name in a line that ends with NUL may contain a newline, but the text after it
/// does not look like a line.
fn has_newlines(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    begins(head, Ending::Newline)
        && lines.by_ref().take(2).all(|line| begins_with_record(line, Ending::Newline))
}

/// Returns the command that converts UTF-16 without a mark to UTF-8. Text counts as UTF-16 if every
/// other byte is NUL in at least four characters and in 90 % of them.
fn from_utf16(head: &[u8]) -> Option<&'static str> {
    let characters = head.len() / 2;
    let nuls = |half: usize| head.iter().skip(half).step_by(2).filter(|&&byte| byte == 0).count();
    let (even, odd) = (nuls(0), nuls(1));
    let is_utf16 =
        characters >= 4 && even.max(odd) * 10 >= characters * 9 && even.min(odd) * 10 <= characters;
    is_utf16.then_some(if even > odd { FROM_UTF_16BE } else { FROM_UTF_16LE })
}

/// Returns whether the first nonempty line is one of a table or list of PowerShell, or of certutil.
fn is_shown_by_windows(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty()).unwrap_or_default();
    let words = || first.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let begins = |expected: &[&[u8]]| words().take(expected.len()).eq(expected.iter().copied());
    let of_certutil =
        || first.ends_with(b":") && memchr::memmem::find(first, b" hash of ").is_some();
    begins(&[b"Algorithm", b"Hash", b"Path"]) || begins(&[b"Algorithm", b":"]) || of_certutil()
}

/// Returns whether at least 10 % of the bytes are control characters that lists have only in names.
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
        // Cut within such a name, by a pipe or by the end of the examined bytes.
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
            assert!(found.to_string().starts_with("compressed with "), "{found}");
        }
        // Text that starts like this is text.
        assert_eq!(of_text(b"BZh is how it begins\n", Ending::Newline), Ok(0));
    }

    #[test]
    fn dvc_files_are_not_lists() {
        let noted = b"outs:\n- md5: d41d8cd98f00b204e9800998ecf8427e\n  size: 0\n  path: a b\n";
        assert_eq!(of_text(noted, Ending::Newline), Err(NotAList::OfDvc));
    }
}
