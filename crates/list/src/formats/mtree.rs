//! mtree: `./name type=file size=3 sha256digest=...`, as BSD's mtree, bsdtar and pacman write it.
//!
//! Names are whole paths, or nested: a directory stays current until a line `..`. `/set` changes
//! the defaults of the entries after it, of which only the type matters here. A backslash at its
//! end continues a line. Blanks and bytes that are not ASCII are encoded in names. Written names
//! are whole paths. Sources: mtree(5) of FreeBSD and libarchive, vis(3).

use std::borrow::Cow;

use super::line::{self, is_blank, without_return};
use super::{CannotHold, Format, Line, Wrong, cannot, digests};
use crate::{Algorithm, Algorithms, Dialect, Record, Time};

const NAME: &str = "mtree";

/// The first line of a list.
const SIGNATURE: &[u8] = b"#mtree";

/// Longer paths than any system has. It bounds the memory for nested directories.
const LONGEST_PATH: usize = 1 << 16;

/// A list in the format of mtree.
///
/// ```
/// use lanesum_list::formats::{Format, Line, Mtree};
/// use lanesum_list::{Algorithm, Dialect, Digest, Record, lines};
///
/// let digest = Digest::from_hex(Algorithm::Md5, b"900150983cd24fb0d6963f7d28e17f72").unwrap();
/// let record = Record { size: Some(3), ..Record::new("a b") }.with(digest);
/// let mtree = Mtree::new(Dialect::any());
/// let mut list = Vec::new();
/// mtree.begin(&mut list);
/// mtree.record(&mut list, &record)?;
/// let line = "./a\\040b type=file size=3 md5digest=900150983cd24fb0d6963f7d28e17f72\n";
/// assert_eq!(list, format!("#mtree\n{line}").as_bytes());
/// let read: Vec<_> = lines(&list, &mut Mtree::new(Dialect::any())).collect();
/// assert_eq!(read[1], (2, Line::Record { record, is_tagged: true }));
/// # Ok::<(), lanesum_list::formats::CannotHold>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mtree {
    dialect: Dialect,
    writes_modified: bool,
    /// The current directory, with its slash, or empty.
    folder: Vec<u8>,
    /// The length of the directory of each open directory.
    open: Vec<usize>,
    /// The default type.
    kind: Kind,
    ends: Ends,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
    Other,
}

/// Finds the ends of lines, which a backslash continues.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    /// Whether the first byte of the line that is not blank is `#`. Comments are not continued.
    is_comment: Option<bool>,
    /// Whether the number of backslashes before the next byte is odd.
    is_escaped: bool,
}

impl Ends {
    fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut next = 0;
        loop {
            // Other bytes change nothing.
            if self.is_comment.is_some() && !self.is_escaped {
                next += memchr::memchr2(b'\n', b'\\', bytes.get(next..)?)?;
            }
            let (at, &byte) = (next, bytes.get(next)?);
            next += 1;
            if byte == b'\n' {
                if !self.is_escaped || self.is_comment == Some(true) {
                    *self = Self::default();
                    return Some(at);
                }
            } else if self.is_comment.is_none() && !is_blank(byte) {
                self.is_comment = Some(byte == b'#');
            }
            self.is_escaped = byte == b'\\' && !self.is_escaped;
        }
    }
}

impl Mtree {
    /// Makes a list of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            writes_modified: false,
            folder: Vec::new(),
            open: Vec::new(),
            kind: Kind::File,
            ends: Ends { is_comment: None, is_escaped: false },
        }
    }

    /// Returns the format with or without modification times, which are written if they are known.
    #[must_use]
    pub fn writing(self, modified: bool) -> Self {
        Self { writes_modified: modified, ..self }
    }

    fn read(&mut self, text: &[u8]) -> Result<Line<'static>, Wrong> {
        let mut words = words(text);
        let Some(first) = words.next() else { return Ok(Line::Blank) };
        match first {
            b".." => {
                let folder = self.open.pop().ok_or(Wrong::Form(NAME))?;
                self.folder.truncate(folder);
                return Ok(Line::Blank);
            }
            b"/set" => {
                for word in words {
                    if let Some(kind) = word.strip_prefix(b"type=") {
                        self.kind = kind_of(kind);
                    }
                }
                return Ok(Line::Blank);
            }
            b"/unset" => {
                if words.any(|word| word == b"type" || word == b"all") {
                    self.kind = Kind::File;
                }
                return Ok(Line::Blank);
            }
            _ => {}
        }
        let name = decode(first).filter(|name| !name.is_empty() && !name.contains(&0));
        let name = name.ok_or(Wrong::Name)?;
        let mut record = Record::default();
        let kind = self.keywords(words, &mut record)?;
        let is_path = name.contains(&b'/');
        match kind {
            Kind::Directory if !is_path => self.enter(&name)?,
            Kind::File => {
                let folder = if is_path { &b""[..] } else { &self.folder };
                let name = name.strip_prefix(b"./").filter(|it| !it.is_empty()).unwrap_or(&name);
                record.name = Cow::Owned([folder, name].concat());
                return Ok(Line::Record { record, is_tagged: true });
            }
            Kind::Directory | Kind::Other => {}
        }
        Ok(Line::Blank)
    }

    /// Makes a directory the current one.
    fn enter(&mut self, name: &[u8]) -> Result<(), Wrong> {
        let is_short = self.folder.len() + name.len() < LONGEST_PATH;
        if !is_short || self.open.len() >= LONGEST_PATH {
            return Err(Wrong::Name);
        }
        self.open.push(self.folder.len());
        if name != b"." {
            self.folder.extend_from_slice(name);
            self.folder.push(b'/');
        }
        Ok(())
    }

    /// Reads the keywords of an entry. Returns its type.
    fn keywords<'a>(
        &self,
        words: impl Iterator<Item = &'a [u8]>,
        record: &mut Record<'_>,
    ) -> Result<Kind, Wrong> {
        let mut kind = self.kind;
        for word in words {
            let end = memchr::memchr(b'=', word).unwrap_or(word.len());
            let (keyword, value) = (&word[..end], word.get(end + 1..).unwrap_or_default());
            match keyword {
                b"type" => kind = kind_of(value),
                b"size" => record.size = Some(line::number(value).ok_or(Wrong::Size)?),
                b"time" => record.times.modified = time(value)?,
                keyword => {
                    let Some(algorithm) = algorithm(keyword) else { continue };
                    let digest = digests::of(algorithm, value)?;
                    let known = record.digest(algorithm);
                    if known.is_some_and(|known| *known != digest) {
                        return Err(Wrong::Digest(algorithm));
                    }
                    if known.is_none() && self.dialect.tagged.contains(algorithm) {
                        record.digests.push(digest);
                    }
                }
            }
        }
        Ok(kind)
    }
}

/// Returns the words of a line. Continued lines are one line.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_end = |byte: &u8| is_blank(*byte) || matches!(byte, b'\n' | b'\r');
    text.split(is_end).filter(|word| !word.is_empty() && *word != b"\\")
}

fn kind_of(value: &[u8]) -> Kind {
    match value {
        b"file" => Kind::File,
        b"dir" => Kind::Directory,
        _ => Kind::Other,
    }
}

/// Returns the algorithm of a keyword: `md5digest`, `sha256`.
fn algorithm(keyword: &[u8]) -> Option<Algorithm> {
    let keyword = str::from_utf8(keyword).ok()?;
    Algorithm::called(keyword.strip_suffix("digest").unwrap_or(keyword))
}

/// Reads seconds and nanoseconds. Programs disagree about fractions with fewer digits, so these are
/// unknown times.
fn time(value: &[u8]) -> Result<Option<Time>, Wrong> {
    let text = str::from_utf8(value).map_err(|_| Wrong::Modified)?;
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let seconds = seconds.parse().map_err(|_| Wrong::Modified)?;
    let nanoseconds = line::number(fraction.as_bytes()).ok_or(Wrong::Modified)?;
    let nanoseconds = u32::try_from(nanoseconds).ok().filter(|it| *it < 1_000_000_000);
    let nanoseconds = nanoseconds.ok_or(Wrong::Modified)?;
    let is_known = nanoseconds == 0 || fraction.len() == 9;
    Ok(is_known.then_some(Time { seconds, nanoseconds }))
}

/// Decodes a name: `\040`, and the letters of vis(3). Returns `None` for other escapes.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut name = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            name.push(byte);
            continue;
        }
        let is_octal = |digits: &[u8]| digits.iter().all(|digit| (b'0'..b'8').contains(digit));
        if let Some((digits, after)) = rest.split_at_checked(3).filter(|(it, _)| is_octal(it)) {
            name.push(u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok()?);
            rest = after;
            continue;
        }
        let control = |byte: u8| if byte == b'?' { 0x7f } else { byte & 0x1f };
        let (byte, length) = match *rest {
            [b'M', b'-', byte, ..] => (0x80 | byte, 3),
            [b'M', b'^', byte, ..] => (0x80 | control(byte), 3),
            [b'^', byte, ..] => (control(byte), 2),
            [b's', ..] => (b' ', 1),
            [b't', ..] => (b'\t', 1),
            [b'n', ..] => (b'\n', 1),
            [b'r', ..] => (b'\r', 1),
            [b'a', ..] => (0x07, 1),
            [b'b', ..] => (0x08, 1),
            [b'v', ..] => (0x0b, 1),
            [b'f', ..] => (0x0c, 1),
            [byte @ (b'\\' | b'#' | b'='), ..] => (byte, 1),
            _ => return None,
        };
        name.push(byte);
        rest = &rest[length..];
    }
    Some(name)
}

fn encode(out: &mut Vec<u8>, name: &[u8]) {
    for &byte in name {
        if byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'#' | b'=') {
            out.push(byte);
        } else {
            out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
        }
    }
}

/// The algorithms whose keywords the programs know.
fn known() -> Algorithms {
    use Algorithm::{Md5, Sha1, Sha256, Sha384, Sha512};
    [Md5, Sha1, Sha256, Sha384, Sha512].into_iter().collect()
}

impl Format for Mtree {
    fn begin(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(SIGNATURE);
        out.push(b'\n');
    }

    fn can_hold(&self, algorithms: Algorithms) -> Result<(), CannotHold> {
        cannot::all_of(NAME, algorithms, known())
    }

    fn record(&self, out: &mut Vec<u8>, record: &Record<'_>) -> Result<(), CannotHold> {
        self.can_hold(record.algorithms())?;
        if record.name.is_empty() {
            return Err(CannotHold::EmptyName(NAME));
        }
        out.extend_from_slice(b"./");
        encode(out, &record.name);
        out.extend_from_slice(b" type=file");
        if let Some(size) = record.size {
            out.extend_from_slice(b" size=");
            line::write_number(out, size);
        }
        if let Some(Time { seconds, nanoseconds }) =
            record.times.modified.filter(|_| self.writes_modified)
        {
            out.extend_from_slice(format!(" time={seconds}.{nanoseconds:09}").as_bytes());
        }
        for digest in record.digests.iter() {
            out.extend_from_slice(format!(" {}digest={digest}", digest.algorithm()).as_bytes());
        }
        out.push(b'\n');
        Ok(())
    }

    fn detect(&self, head: &[u8]) -> bool {
        if head.starts_with(SIGNATURE) {
            return true;
        }
        let mut words = words(line::first(head, self.dialect.ending));
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is_keyword = |word: &[u8]| {
            let keyword = word.split(|&byte| byte == b'=').next().unwrap_or_default();
            let known =
                [&b"type"[..], b"size", b"time", b"mode", b"uid", b"gid", b"uname", b"gname"];
            word.contains(&b'=') && (known.contains(&keyword) || algorithm(keyword).is_some())
        };
        is_keyword(second) && (first == b"/set" || decode(first).is_some())
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.ends.find(bytes)
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        if std::mem::take(&mut self.ends).is_escaped {
            return Line::Wrong(Wrong::CutOff);
        }
        let text = without_return(text);
        if line::skip_blanks(text).starts_with(b"#") {
            return Line::Blank;
        }
        self.read(text).unwrap_or_else(Line::Wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines;

    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";

    fn read(list: &str) -> Vec<(u64, Line<'_>)> {
        let mut mtree = Mtree::new(Dialect::any());
        let lines: Vec<_> = lines(list.as_bytes(), &mut mtree).collect();
        lines.into_iter().filter(|(_, line)| *line != Line::Blank).collect()
    }

    fn names(list: &str) -> Vec<String> {
        let name = |(_, line)| match line {
            Line::Record { record, .. } => String::from_utf8(record.name.into_owned()).unwrap(),
            other => panic!("{list}: {other:?}"),
        };
        read(list).into_iter().map(name).collect()
    }

    /// As FreeBSD writes it.
    #[test]
    fn nested_names_are_joined() {
        let list = format!(
            "#\t   user: x\n\n# .\n/set type=file uid=0 mode=0644\n.               type=dir mode=0755\n\
             \x20   a           size=3 md5digest={MD5}\n\n# ./d\nd type=dir\n    b size=2 \\\n        md5={MD5}\n\
             \x20   e type=dir\n        f md5={MD5}\n    ..\n    l type=link link=b\n..\n    c md5={MD5}\n..\n"
        );
        assert_eq!(names(&list), ["a", "d/b", "d/e/f", "c"]);
        assert!(Mtree::new(Dialect::any()).detect(list.as_bytes()));
    }

    /// As bsdtar and pacman write it.
    #[test]
    fn whole_paths_leave_the_directory_alone() {
        let list = format!(
            "#mtree\n/set type=file uid=0 gid=0 mode=644\n./.PKGINFO time=1426612200.0 size=1 md5digest={MD5}\n\
             /set mode=755\n./usr time=1.0 type=dir\n./usr/a\\040b\\134 time=1.123456789 md5digest={MD5} sha256digest={}\n\
             /unset type\n./usr/l type=link link=a\n",
            "0".repeat(64)
        );
        assert_eq!(names(&list), [".PKGINFO", "usr/a b\\"]);
        let read = read(&list);
        let Line::Record { record, .. } = &read[1].1 else { panic!() };
        assert_eq!(record.times.modified, Some(Time { seconds: 1, nanoseconds: 123_456_789 }));
        assert_eq!(record.digests.len(), 2);
    }

    #[test]
    fn damaged_lines_are_wrong() {
        for (line, wrong) in [
            ("..".to_owned(), Wrong::Form(NAME)),
            ("a size=x".to_owned(), Wrong::Size),
            ("a time=x".to_owned(), Wrong::Modified),
            ("a time=1.9999999999".to_owned(), Wrong::Modified),
            (format!("a md5={}", &MD5[1..]), Wrong::Digest(Algorithm::Md5)),
            (
                format!("a md5={MD5} md5digest={}", MD5.replace('9', "8")),
                Wrong::Digest(Algorithm::Md5),
            ),
            (format!("a\\9 md5={MD5}"), Wrong::Name),
            (format!("a\\000 md5={MD5}"), Wrong::Name),
            (format!("a\\ md5={MD5}"), Wrong::Name),
        ] {
            let list = format!("#mtree \\\n{line}\n");
            assert_eq!(read(&list), [(2, Line::Wrong(wrong))], "{line}");
        }
        let cut = format!("a md5={MD5} \\");
        assert_eq!(read(&cut), [(1, Line::Wrong(Wrong::CutOff))]);
    }

    #[test]
    fn nesting_is_bounded() {
        let mut mtree = Mtree::new(Dialect::any());
        let name = [b"d".repeat(200), b" type=dir".to_vec()].concat();
        let mut wrong = 0;
        for _ in 0..100_000 {
            wrong += usize::from(matches!(mtree.next(&name), Line::Wrong(Wrong::Name)));
        }
        assert!(wrong > 0 && mtree.folder.len() <= LONGEST_PATH);
    }

    #[test]
    fn names_are_decoded_like_vis() {
        for (text, name) in [
            ("a\\040b", &b"a b"[..]),
            ("\\M-C\\M-<", b"\xc3\xbc"),
            ("\\^A\\M^A\\s\\n\\\\\\#", b"\x01\x81 \n\\#"),
            ("\\303\\274", b"\xc3\xbc"),
        ] {
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(name), "{text}");
        }
    }

    #[test]
    fn other_lists_are_not_detected() {
        let detect = |list: &str| Mtree::new(Dialect::any()).detect(list.as_bytes());
        assert!(
            detect("/set uid=0\n") && detect("a type=file\n") && detect(&format!("a md5={MD5}\n"))
        );
        for list in ["", "a\n", &format!("{MD5}  a type=file\n"), "a b=c\n", "/set\n"] {
            assert!(!detect(list), "{list}");
        }
    }
}
