//! `bag-info.txt`, the metadata of a bag (RFC 8493, section 2.2.2).

use std::fmt;

use crate::text::{is_blank, lines, trim};

/// The label of the size of the payload.
pub(crate) const OXUM: &str = "Payload-Oxum";

/// An element of the metadata: `Contact-Name: Edna Janssen`. Labels are case-insensitive.
///
/// ```
/// use lanesum_bag::Element;
///
/// let element = Element::new("Contact-Name", "Edna Janssen")?;
/// assert_eq!(element.to_string(), "Contact-Name: Edna Janssen\n");
/// assert!(Element::new("Contact:Name", "Edna Janssen").is_err());
/// # Ok::<(), lanesum_bag::BadElement>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    label: String,
    /// The value. Continuation lines follow the first line, without their indentation.
    value: String,
}

impl Element {
    /// Makes an element that a bag can hold and that reads back unchanged.
    ///
    /// # Errors
    /// Fails for an invalid label or value, for example a label with a colon.
    pub fn new(label: &str, value: &str) -> Result<Self, BadElement> {
        let is_label = !label.is_empty()
            && label.trim() == label
            && !label.contains(|it: char| it == ':' || it.is_control());
        if !is_label {
            return Err(BadElement::Label);
        }
        if label.eq_ignore_ascii_case(OXUM) {
            return Err(BadElement::Oxum);
        }
        let is_line = |line: &str| {
            !line.is_empty() && line.trim() == line && !line.contains(|it: char| it.is_control())
        };
        if !value.split('\n').all(is_line) {
            return Err(BadElement::Value);
        }
        Ok(Self { label: label.to_owned(), value: value.to_owned() })
    }

    /// Makes an element with the date of today in UTC.
    pub(crate) fn bagging_date() -> Self {
        let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
        Self { label: "Bagging-Date".to_owned(), value: today.to_string() }
    }

    pub(crate) fn oxum(oxum: Oxum) -> Self {
        Self { label: OXUM.to_owned(), value: oxum.to_string() }
    }

    /// Returns the label.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the value, which has several lines if it is continued.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    pub(crate) fn is_called(&self, label: &str) -> bool {
        self.label.eq_ignore_ascii_case(label)
    }
}

/// Writes the element as in the file, with its line ending.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.label, self.value.replace('\n', "\n  "))
    }
}

/// The reason why a label or value is not valid in metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadElement {
    /// The label is invalid.
    #[error("invalid label: empty, or with a colon, control characters, or spaces around it")]
    Label,
    /// The value is invalid.
    #[error("invalid value: empty, or with spaces at the beginning or end of a line")]
    Value,
    /// The size of the payload is computed and cannot be set.
    #[error("lanesum computes Payload-Oxum; leave it out")]
    Oxum,
}

/// Parses the file. Returns its elements, and the numbers of invalid lines.
pub(crate) fn parse(text: &[u8]) -> (Vec<Element>, Vec<u64>) {
    let (mut elements, mut wrong) = (Vec::<Element>::new(), Vec::new());
    for (number, line) in lines(text) {
        let content = String::from_utf8_lossy(trim(line));
        if content.is_empty() {
            continue;
        }
        if line.first().is_some_and(|&byte| is_blank(byte)) {
            match elements.last_mut() {
                Some(element) => {
                    element.value.push('\n');
                    element.value.push_str(&content);
                }
                None => wrong.push(number),
            }
            continue;
        }
        match content.split_once(':') {
            Some((label, value)) if !label.trim().is_empty() => {
                let [label, value] = [label, value].map(|it| it.trim().to_owned());
                elements.push(Element { label, value });
            }
            _ => wrong.push(number),
        }
    }
    (elements, wrong)
}

/// The size of the payload of a bag, as in `Payload-Oxum`.
///
/// ```
/// use lanesum_bag::Oxum;
///
/// let oxum: Oxum = "279164409832.1198".parse().unwrap();
/// assert_eq!((oxum.bytes, oxum.files), (279_164_409_832, 1198));
/// assert!("12".parse::<Oxum>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oxum {
    /// The total size of all files in bytes.
    pub bytes: u64,
    /// The number of files.
    pub files: u64,
}

impl fmt::Display for Oxum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.bytes, self.files)
    }
}

/// The error for text that is not a number of bytes, a point and a number of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid Payload-Oxum; expected BYTES.FILES")]
pub struct BadOxum;

impl std::str::FromStr for Oxum {
    type Err = BadOxum;

    fn from_str(text: &str) -> Result<Self, BadOxum> {
        let (bytes, files) = text.split_once('.').ok_or(BadOxum)?;
        let number = |digits: &str| {
            let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
            if is_number { digits.parse().map_err(|_| BadOxum) } else { Err(BadOxum) }
        };
        Ok(Self { bytes: number(bytes)?, files: number(files)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_round_trip() {
        let text = "A: 1\r\nB :\t2 : 3\n\n   more\n\tand more\nA:4\n";
        let (elements, wrong) = parse(text.as_bytes());
        let found: Vec<_> = elements.iter().map(|it| (it.label(), it.value())).collect();
        assert_eq!(found, [("A", "1"), ("B", "2 : 3\nmore\nand more"), ("A", "4")]);
        assert_eq!(wrong, [0; 0]);
        let written: String = elements.iter().map(Element::to_string).collect();
        assert_eq!(parse(written.as_bytes()).0, elements);
        assert_eq!(parse(b"  x\nno colon\n: y\nA: 1").1, [1, 2, 3]);
    }

    #[test]
    fn elements_that_would_not_round_trip_are_refused() {
        for (label, value) in [("a", "b"), ("a b", "c: d"), ("a", "b\nc")] {
            let element = Element::new(label, value).unwrap();
            assert_eq!(parse(element.to_string().as_bytes()).0, [element]);
        }
        for label in ["", "a:b", " a", "a\t", "a\nb", "a\rb"] {
            assert_eq!(Element::new(label, "b"), Err(BadElement::Label), "{label:?}");
        }
        for value in ["", " b", "b ", "b\rc", "b\n\nc", "b\n c", "b\u{7}"] {
            assert_eq!(Element::new("a", value), Err(BadElement::Value), "{value:?}");
        }
        assert_eq!(Element::new("payload-oxum", "1.1"), Err(BadElement::Oxum));
    }

    #[test]
    fn an_oxum_has_two_numbers() {
        for wrong in
            ["", ".", "1", "1.", ".1", "+1.1", "1.1.1", "1 .1", "1.x", "99999999999999999999.1"]
        {
            assert_eq!(wrong.parse::<Oxum>(), Err(BadOxum), "{wrong}");
        }
    }
}
