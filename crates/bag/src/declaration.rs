//! `bagit.txt`, the declaration of a bag (RFC 8493, section 2.1.1).

use std::fmt;

use crate::text::{BYTE_ORDER_MARK, Encoding, lines, trim};

/// The file's name.
pub(crate) const NAME: &str = "bagit.txt";

/// The metadata file of written bags.
pub(crate) const INFO: &str = "bag-info.txt";

/// A version of BagIt.
///
/// ```
/// use lanesum_bag::Version;
///
/// assert!(Version { major: 0, minor: 97 } < Version::LATEST);
/// assert_eq!(Version::LATEST.to_string(), "1.0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The number before the point.
    pub major: u16,
    /// The number after the point, such as 97 in 0.97.
    pub minor: u16,
}

impl Version {
    /// The version of RFC 8493, and of all written bags.
    pub const LATEST: Self = Self { major: 1, minor: 0 };

    /// The supported versions: the drafts from 0.93 on, and the RFC.
    const KNOWN: [Self; 6] = [
        Self { major: 0, minor: 93 },
        Self { major: 0, minor: 94 },
        Self { major: 0, minor: 95 },
        Self { major: 0, minor: 96 },
        Self { major: 0, minor: 97 },
        Self::LATEST,
    ];

    fn parse(text: &[u8]) -> Option<Self> {
        let point = text.iter().position(|&byte| byte == b'.')?;
        let number = |digits: &[u8]| {
            let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
            is_number.then(|| str::from_utf8(digits).ok()?.parse().ok()).flatten()
        };
        Some(Self { major: number(&text[..point])?, minor: number(&text[point + 1..])? })
    }

    /// Returns the metadata file of a bag of this version.
    pub(crate) const fn info_name(self) -> &'static str {
        let is_old = self.major == 0 && self.minor < 96;
        if is_old { "package-info.txt" } else { INFO }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The contents of `bagit.txt`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declaration {
    pub(crate) version: Version,
    pub(crate) encoding: Encoding,
}

impl Declaration {
    /// The declaration of written bags, and of bags without a valid one.
    pub(crate) const OURS: Self = Self { version: Version::LATEST, encoding: Encoding::Utf8 };

    pub(crate) const TEXT: &str = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";

    /// Parses `bagit.txt`. Drafts before 1.0 do not define the blanks around the colon.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, BadDeclaration> {
        if text.starts_with(BYTE_ORDER_MARK) {
            return Err(BadDeclaration::ByteOrderMark);
        }
        let lines: Vec<_> = lines(text).map(|(_, line)| line).collect();
        let [version_line, encoding_line] = lines[..] else { return Err(BadDeclaration::Lines) };
        let value = |label, line| value(line, label).ok_or(BadDeclaration::Line(label));
        let version = value("BagIt-Version", version_line)?;
        let version = Version::parse(version).ok_or(BadDeclaration::VersionForm)?;
        if !Version::KNOWN.contains(&version) {
            return Err(BadDeclaration::Version(version));
        }
        let name = value("Tag-File-Character-Encoding", encoding_line)?;
        let name = str::from_utf8(name).map_err(|_| BadDeclaration::Lines)?;
        let encoding = Encoding::of(name);
        let encoding = encoding.ok_or_else(|| BadDeclaration::Encoding(name.to_owned()))?;
        let is_exact = version_line == format!("BagIt-Version: {version}").as_bytes()
            && encoding_line == format!("Tag-File-Character-Encoding: {name}").as_bytes();
        if version >= Version::LATEST && !is_exact {
            return Err(BadDeclaration::Blanks);
        }
        Ok(Self { version, encoding })
    }
}

/// Returns the text after a label and its colon.
fn value<'a>(line: &'a [u8], label: &str) -> Option<&'a [u8]> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    (trim(&line[..colon]) == label.as_bytes()).then(|| trim(&line[colon + 1..]))
}

/// An error in `bagit.txt`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadDeclaration {
    /// The file starts with a byte order mark.
    #[error("begins with a byte order mark")]
    ByteOrderMark,
    /// The file does not have two lines.
    #[error("must be two lines: `BagIt-Version: 1.0` and `Tag-File-Character-Encoding: UTF-8`")]
    Lines,
    /// The line with this label is not at its place.
    #[error("no line `{0}: ...`")]
    Line(&'static str),
    /// The version is not two numbers with a point.
    #[error("invalid version; expected a form like 1.0")]
    VersionForm,
    /// The version is not supported.
    #[error("unknown version {0}; known are 0.93 to 0.97 and 1.0")]
    Version(Version),
    /// The encoding of the tag files is not supported.
    #[error("tag files in {0} cannot be read; those in UTF-8, UTF-16, ISO-8859-1 and US-ASCII can")]
    Encoding(String),
    /// There is not exactly one blank after each colon and none before it.
    #[error("version 1.0 needs one space after each colon, and none before it or at the end")]
    Blanks,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_may_have_extra_blanks() {
        let of = |text: &str| {
            Declaration::parse(text.as_bytes()).map(|it| (it.version.to_string(), it.encoding))
        };
        let good = |version: &str, encoding| Ok((version.to_owned(), encoding));
        assert_eq!(of(Declaration::TEXT), good("1.0", Encoding::Utf8));
        let latin1 = "BagIt-Version :0.97\r\nTag-File-Character-Encoding:  ISO-8859-1";
        assert_eq!(of(latin1), good("0.97", Encoding::Latin1));
        let blank = Declaration::TEXT.replace("1.0", "1.0 ");
        assert_eq!(of(&blank), Err(BadDeclaration::Blanks));
        let blank = Declaration::TEXT.replace(':', " :");
        assert_eq!(of(&blank), Err(BadDeclaration::Blanks));
    }

    #[test]
    fn invalid_declarations_are_reported() {
        let of = |text: &str| Declaration::parse(text.as_bytes()).unwrap_err();
        assert_eq!(of(""), BadDeclaration::Lines);
        assert_eq!(of(&Declaration::TEXT.repeat(2)), BadDeclaration::Lines);
        assert_eq!(of(&format!("\u{feff}{}", Declaration::TEXT)), BadDeclaration::ByteOrderMark);
        let swapped = "Tag-File-Character-Encoding: UTF-8\nBagIt-Version: 1.0\n";
        assert_eq!(of(swapped), BadDeclaration::Line("BagIt-Version"));
        for version in [".97", "1", "1.", "1.x", "", "-1.0", "1.0.0", "99999.0"] {
            let text = Declaration::TEXT.replace("1.0", version);
            assert_eq!(of(&text), BadDeclaration::VersionForm, "{version}");
        }
        for version in ["0.92", "0.98", "1.1", "2.0"] {
            let text = Declaration::TEXT.replace("1.0", version);
            assert!(matches!(of(&text), BadDeclaration::Version(_)), "{version}");
        }
        let text = Declaration::TEXT.replace("UTF-8", "EBCDIC");
        assert_eq!(of(&text), BadDeclaration::Encoding("EBCDIC".to_owned()));
    }
}
