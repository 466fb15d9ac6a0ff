//! Names that differ from those of existing files only in their spelling.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use unicode_normalization::UnicodeNormalization as _;

/// How a name in a list differs from the name of an existing file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// The name is decomposed Unicode, as on macOS, and the file name is composed.
    Apart,
    /// The reverse.
    InOne,
    /// The name is in a code page, and the file name is in UTF-8.
    Encoded(CodePage),
    /// The reverse.
    Utf8(CodePage),
    /// The name has blanks before or behind it, unlike the file name.
    Blanks,
    /// The file has this name, with letters of the other case.
    Case(Vec<u8>),
    /// The name has backslashes. It may have a drive and directories that the file name lacks; the
    /// field holds these, with slashes.
    OfWindows(Vec<u8>),
}

/// An encoding in which each byte is a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodePage {
    /// ISO 8859-1.
    Latin1,
    /// Windows-1252, of Windows in Western Europe and America.
    Cp1252,
    /// Code page 850, of consoles and zip archives there.
    Cp850,
}

/// The characters of the bytes 0x80 to 0x9f in Windows-1252. Five bytes have none.
const CP1252: &str = "\u{20ac}\u{81}\u{201a}\u{192}\u{201e}\u{2026}\u{2020}\u{2021}\u{2c6}\u{2030}\
    \u{160}\u{2039}\u{152}\u{8d}\u{17d}\u{8f}\u{90}\u{2018}\u{2019}\u{201c}\u{201d}\u{2022}\u{2013}\
    \u{2014}\u{2dc}\u{2122}\u{161}\u{203a}\u{153}\u{9d}\u{17e}\u{178}";

/// The characters of the bytes from 0x80 on in code page 850.
const CP850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤\
    ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";

impl CodePage {
    /// Every code page. The first one that fits is reported.
    pub const ALL: [Self; 3] = [Self::Latin1, Self::Cp1252, Self::Cp850];

    /// Returns the name of the encoding for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Latin1 => "Latin-1",
            Self::Cp1252 => "Windows-1252",
            Self::Cp850 => "code page 850",
        }
    }

    /// Returns the name of the encoding for `iconv`.
    #[must_use]
    pub const fn iconv(self) -> &'static str {
        match self {
            Self::Latin1 => "LATIN1",
            Self::Cp1252 => "CP1252",
            Self::Cp850 => "CP850",
        }
    }

    /// Returns the characters of the bytes from 0x80 on, from the lowest.
    fn upper(self) -> impl Iterator<Item = char> {
        let (table, latin1) = match self {
            Self::Latin1 => ("", 0x80),
            Self::Cp1252 => (CP1252, 0xa0),
            Self::Cp850 => (CP850, 0x100),
        };
        table.chars().chain((latin1..=0xff).filter_map(char::from_u32))
    }

    fn decode(self, name: &[u8]) -> String {
        let upper: Vec<char> = self.upper().collect();
        let decode = |&byte: &u8| match byte.checked_sub(0x80) {
            Some(at) => upper[usize::from(at)],
            None => char::from(byte),
        };
        name.iter().map(decode).collect()
    }

    fn encode(self, name: &str) -> Option<Vec<u8>> {
        let upper: Vec<char> = self.upper().collect();
        let encode = |it: char| match u8::try_from(it) {
            Ok(byte) if byte.is_ascii() => Some(byte),
            _ => u8::try_from(upper.iter().position(|&other| other == it)? + 0x80).ok(),
        };
        name.chars().map(encode).collect()
    }
}

impl Written {
    /// Returns how a missing name differs from an existing file, if it does. The result is never
    /// [`Self::Case`], for which directories must be listed.
    pub fn of(name: &[u8], is_there: impl Fn(&Path) -> bool) -> Option<Self> {
        let is_called =
            |other: &[u8]| other != name && is_there(Path::new(OsStr::from_bytes(other)));
        if name.contains(&b'\\') {
            let slashes: Vec<_> =
                name.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect();
            if is_called(&slashes) {
                return Some(Self::OfWindows(Vec::new()));
            }
            let has_drive =
                matches!(*slashes, [drive, b':', b'/', ..] if drive.is_ascii_alphabetic());
            let before = has_drive.then(|| without_which_it_is(&slashes, is_called)).flatten();
            if let Some(before) = before {
                return Some(Self::OfWindows(before.to_vec()));
            }
        }
        let trimmed = name.trim_ascii();
        if !trimmed.is_empty() && is_called(trimmed) {
            return Some(Self::Blanks);
        }
        if name.is_ascii() {
            return None;
        }
        let mut pages = CodePage::ALL.into_iter();
        let Ok(text) = str::from_utf8(name) else {
            let page = pages.find(|page| is_called(page.decode(name).as_bytes()));
            return page.map(Self::Encoded);
        };
        let composed: String = text.nfc().collect();
        if is_called(composed.as_bytes()) {
            return Some(Self::Apart);
        }
        if is_called(text.nfd().collect::<String>().as_bytes()) {
            return Some(Self::InOne);
        }
        let is_encoded = |page: &CodePage| {
            let encoded = page.encode(text).or_else(|| page.encode(&composed));
            encoded.is_some_and(|other| is_called(&other))
        };
        pages.find(is_encoded).map(Self::Utf8)
    }

    /// Returns the text of the hint, without the prefix of [`Self::OfWindows`].
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Apart => {
                "names are in the Unicode form NFD (as on macOS), those of the files in NFC".into()
            }
            Self::InOne => {
                "names are in the Unicode form NFC, those of the files in NFD (as on macOS)".into()
            }
            Self::Encoded(page) => {
                format!("names are in {}, those of the files in UTF-8", page.name())
            }
            Self::Utf8(page) => {
                format!("names are in UTF-8, those of the files in {}", page.name())
            }
            Self::Blanks => "names have blanks at their ends, unlike those of the files".into(),
            Self::Case(file) => {
                let file = String::from_utf8_lossy(file);
                format!("no such file, but {file:?} exists (upper and lower case differ)")
            }
            Self::OfWindows(_) => "names have backslashes, as on Windows".into(),
        }
    }
}

/// Returns the leading directories of a name if the rest of the name exists.
pub(super) fn without_which_it_is(name: &[u8], is_there: impl Fn(&[u8]) -> bool) -> Option<&[u8]> {
    let ends = name.iter().enumerate().filter(|&(place, &byte)| byte == b'/' && place > 0);
    let mut prefixes = ends.map(|(place, _)| name.split_at(place + 1));
    prefixes.find_map(|(prefix, rest)| {
        (!rest.is_empty() && !rest.starts_with(b"/") && is_there(rest)).then_some(prefix)
    })
}

/// Returns the name of a file that differs from a missing name only in the case of letters.
pub(super) fn in_case(folder: &Path, name: &[u8]) -> Option<Vec<u8>> {
    let is_absolute = name.starts_with(b"/");
    let mut path = if is_absolute { "/".into() } else { folder.to_owned() };
    let mut found = Vec::new();
    for part in name.split(|&byte| byte == b'/').filter(|part| !part.is_empty()) {
        let exact = path.join(OsStr::from_bytes(part));
        let part = match exact.symlink_metadata() {
            Ok(_) => part.to_owned(),
            Err(_) => {
                let wanted = lower(part);
                let entries = fs::read_dir(&path).ok()?.filter_map(Result::ok);
                let mut names = entries.map(|entry| entry.file_name().as_bytes().to_vec());
                names.find(|name| lower(name) == wanted)?
            }
        };
        if is_absolute || !found.is_empty() {
            found.push(b'/');
        }
        found.extend_from_slice(&part);
        path.push(OsStr::from_bytes(&part));
    }
    (found != name).then_some(found)
}

/// Returns a name in lower case. Bytes that are not UTF-8 stay.
pub(crate) fn lower(name: &[u8]) -> Vec<u8> {
    match str::from_utf8(name) {
        Ok(name) => name.to_lowercase().into_bytes(),
        Err(_) => name.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_spellings_of_a_name_are_found() {
        let (apart, in_one, latin1) = ("a\u{308}", "\u{e4}", &b"\xe4"[..]);
        let (cp1252, cp850) = (CodePage::Cp1252, CodePage::Cp850);
        for (name, file, written) in [
            (apart.as_bytes(), in_one.as_bytes(), Some(Written::Apart)),
            (in_one.as_bytes(), apart.as_bytes(), Some(Written::InOne)),
            (latin1, in_one.as_bytes(), Some(Written::Encoded(CodePage::Latin1))),
            (in_one.as_bytes(), latin1, Some(Written::Utf8(CodePage::Latin1))),
            (apart.as_bytes(), latin1, Some(Written::Utf8(CodePage::Latin1))),
            (b"\x80", "\u{20ac}".as_bytes(), Some(Written::Encoded(cp1252))),
            ("\u{20ac}".as_bytes(), b"\x80", Some(Written::Utf8(cp1252))),
            (b"\x84", in_one.as_bytes(), Some(Written::Encoded(cp850))),
            (in_one.as_bytes(), b"\x84", Some(Written::Utf8(cp850))),
            (b"\xff", "\u{a0}".as_bytes(), Some(Written::Encoded(cp850))),
            (in_one.as_bytes(), b"a", None),
            (b"a", b"A", None),
            (b"a ", b"a", Some(Written::Blanks)),
            (b" a", b"a", Some(Written::Blanks)),
            (b"d\\x", b"d/x", Some(Written::OfWindows(Vec::new()))),
            (b"a/d\\x", b"a/d/x", Some(Written::OfWindows(Vec::new()))),
            (b"C:\\data\\x", b"data/x", Some(Written::OfWindows(b"C:/".into()))),
            (b"C:\\data\\x", b"x", Some(Written::OfWindows(b"C:/data/".into()))),
            (b"d\\x", b"x", None),
        ] {
            let is_there = |path: &Path| path.as_os_str().as_bytes() == file;
            assert_eq!(Written::of(name, is_there), written, "{name:?}");
        }
    }

    #[test]
    fn code_pages_have_a_character_for_each_byte() {
        for page in CodePage::ALL {
            let bytes: Vec<u8> = (0..=255).collect();
            let text = page.decode(&bytes);
            assert_eq!(page.encode(&text), Some(bytes), "{page:?}");
        }
        assert_eq!(CodePage::Latin1.encode("\u{20ac}"), None);
    }

    #[test]
    fn a_file_in_the_other_case_is_found() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("DCIM")).unwrap();
        fs::write(folder.path().join("DCIM/\u{dc}.JPG"), "").unwrap();
        let found = |name: &str| in_case(folder.path(), name.as_bytes());
        let file = "DCIM/\u{dc}.JPG";
        assert_eq!(found("dcim/\u{fc}.jpg").as_deref(), Some(file.as_bytes()));
        assert_eq!(found("DCIM/\u{fc}.jpg").as_deref(), Some(file.as_bytes()));
        assert_eq!(found(file), None);
        assert_eq!(found("dcim/v.jpg"), None);
    }
}
