//! Untagged lines: `hex  name` and `hex *name`, as GNU md5sum writes them.
//!
//! The reversed BSD form, `hex name` with one blank, is read as well. Since a name may begin with a
//! blank or a star, a line alone does not say which of the two forms it has: the first untagged
//! line of a list decides for all of them. A list of the standard form takes no reversed line;
//! in a reversed list everything after the one blank is the name. Mixing them would let whoever
//! can rename files choose which file a line is about.

use crate::{Algorithms, Digest, digits, is_blank};

/// The form of the untagged lines of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A blank, a space or star, and the name.
    Standard,
    /// One blank and the name.
    Reversed,
}

/// Appends the line without its ending; the name is escaped where it must be.
pub(crate) fn write(out: &mut Vec<u8>, binary: bool, name: &[u8], digest: &Digest) {
    digest.write_hex(out);
    out.extend_from_slice(if binary { b" *" } else { b"  " });
    out.extend_from_slice(name);
}

/// The name, still escaped, and the digest, of the first of `algorithms` that has one of as many
/// digits. Sets the form when none is set. A NUL ends the digits as a blank does: it is a string's end to
/// GNU, which goes on behind it as it does behind a blank.
pub(crate) fn read<'a>(
    text: &'a [u8],
    algorithms: Algorithms,
    base64: bool,
    form: &mut Option<Form>,
) -> Option<(&'a [u8], Digest)> {
    let end = text.iter().position(|&byte| is_blank(byte) || byte == b'\0')?;
    let digest =
        algorithms.iter().find_map(|algorithm| digits::read(algorithm, &text[..end], base64))?;
    let rest = &text[end + 1..];
    let reads_as = match rest {
        [] => return None,
        // The name has at least one byte, so a space or star alone is the name itself.
        [b' ' | b'*', _, ..] => Form::Standard,
        _ => Form::Reversed,
    };
    match (*form.get_or_insert(reads_as), reads_as) {
        (Form::Standard, Form::Standard) => Some((&rest[1..], digest)),
        (Form::Standard, Form::Reversed) => None,
        (Form::Reversed, _) => Some((rest, digest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Algorithm;

    /// The names that the lines of one list are read as.
    fn names(list: &[&str]) -> Vec<Option<String>> {
        let mut form = None;
        list.iter()
            .map(|line| {
                let read = read(line.as_bytes(), Algorithm::Crc32c.into(), false, &mut form);
                read.map(|(name, _)| String::from_utf8(name.to_vec()).unwrap())
            })
            .collect()
    }

    fn some(names: &[&str]) -> Vec<Option<String>> {
        names.iter().map(|name| Some((*name).to_owned())).collect()
    }

    #[test]
    fn the_first_line_decides_the_form() {
        assert_eq!(names(&["e3069283 a", "e3069283  b", "e3069283 *c"]), some(&["a", " b", "*c"]));
        assert_eq!(
            names(&["e3069283  a", "e3069283 b", "e3069283 *c", "e3069283\t d"]),
            [Some("a".into()), None, Some("c".into()), Some("d".into())]
        );
    }

    #[test]
    fn a_single_byte_after_the_blank_is_a_reversed_name() {
        assert_eq!(names(&["e3069283  ", "e3069283 *", "e3069283   "]), some(&[" ", "*", "  "]));
        assert_eq!(names(&["e3069283  a", "e3069283  ", "e3069283 *"])[1..], [None, None]);
    }

    #[test]
    fn a_line_that_is_not_well_formed_decides_nothing() {
        let list = ["e306928 a", "e3069283", "e3069283 ", "g3069283 a", "", "e3069283  a"];
        let read = names(&list);
        assert_eq!(read[..5], [const { None }; 5]);
        assert_eq!(read[5..], some(&["a"]));
    }

    #[test]
    fn blanks_of_a_name_stay() {
        assert_eq!(names(&["e3069283   a ", "e3069283 * \t"]), some(&[" a ", " \t"]));
    }

    #[test]
    fn lines_are_md5sums() {
        let digest = Digest::from_hex(Algorithm::Crc32c, b"E3069283").unwrap();
        let mut out = Vec::new();
        write(&mut out, false, b"a", &digest);
        write(&mut out, true, b"b", &digest);
        assert_eq!(out, b"e3069283  ae3069283 *b");
    }
}
