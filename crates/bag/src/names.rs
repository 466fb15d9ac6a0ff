//! Names in a bag: unsafe names, and names that other systems do not distinguish.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

use crate::finding::Problem;

/// The reason why a name is unsafe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsafe {
    /// The name is absolute.
    #[error("an absolute path, which leads out of the bag")]
    Absolute,
    /// The name contains `..`.
    #[error("a path with `..` in it, which may lead out of the bag")]
    Parent,
    /// The name starts with `~`, which a shell expands to a home directory.
    #[error("a path that begins with `~`, which may lead out of the bag")]
    Home,
    /// The name is the bag itself.
    #[error("a path that names no file")]
    Nothing,
}

/// Returns a name without `.` and doubled slashes. The result is owned if there were any.
pub(crate) fn normal(name: &[u8]) -> Result<Cow<'_, [u8]>, Unsafe> {
    match name.first() {
        Some(b'/') => return Err(Unsafe::Absolute),
        Some(b'~') => return Err(Unsafe::Home),
        _ => {}
    }
    let parts = || name.split(|&byte| byte == b'/');
    if parts().any(|part| part == b"..") {
        return Err(Unsafe::Parent);
    }
    let says_nothing = |part: &&[u8]| matches!(*part, b"" | b".");
    if !parts().any(|part| says_nothing(&part)) {
        return Ok(Cow::Borrowed(name));
    }
    let kept: Vec<_> = parts().filter(|part| !says_nothing(part)).collect();
    if kept.is_empty() { Err(Unsafe::Nothing) } else { Ok(Cow::Owned(kept.join(&b'/'))) }
}

/// Returns whether a name is in the payload.
pub(crate) fn is_payload(name: &[u8]) -> bool {
    name.starts_with(b"data/")
}

/// Returns the same text for names that differ only in Unicode normal form.
pub(crate) fn canonical(name: &[u8]) -> Cow<'_, [u8]> {
    match str::from_utf8(name) {
        Ok(text) if !text.is_ascii() => Cow::Owned(text.nfc().collect::<String>().into_bytes()),
        _ => Cow::Borrowed(name),
    }
}

/// Returns the same text for names that some system does not distinguish: those that differ in case
/// or normal form.
pub(crate) fn folded(name: &[u8]) -> Vec<u8> {
    match str::from_utf8(name) {
        Ok(text) if !text.is_ascii() => {
            text.nfc().collect::<String>().to_lowercase().nfc().collect::<String>().into_bytes()
        }
        _ => name.to_ascii_lowercase(),
    }
}

/// Returns whether an operating system creates such files next to others.
pub(crate) fn is_of_a_system(name: &[u8]) -> bool {
    let last = name.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let known: [&[u8]; 3] = [b".DS_Store", b"Thumbs.db", b"desktop.ini"];
    last.starts_with(b"._") || known.iter().any(|known| last.eq_ignore_ascii_case(known))
}

/// Returns whether a name is, or lies in, a remainder of an interrupted run of lanesum.
pub(crate) fn is_left_over(name: &[u8]) -> bool {
    name.split(|&byte| byte == b'/').any(|part| part.starts_with(b".lanesum-"))
}

/// Returns the problem of a name that other tools do not find in a manifest.
pub(crate) fn not_found_by_some(name: &[u8]) -> Option<Problem> {
    let ends_with_blank =
        str::from_utf8(name).is_ok_and(|name| name.ends_with(|it: char| it.is_whitespace()));
    match () {
        () if name.contains(&b'%') => Some(Problem::Percent),
        () if name.iter().any(|byte| matches!(byte, b'\r' | b'\n')) => Some(Problem::LineEnd),
        () if ends_with_blank => Some(Problem::TrailingBlank),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_are_unsafe() {
        for (name, expected) in [
            ("data/a", Ok("data/a")),
            ("./data//a/.", Ok("data/a")),
            ("data/...", Ok("data/...")),
            ("data/~a", Ok("data/~a")),
            ("/data/a", Err(Unsafe::Absolute)),
            ("data/../a", Err(Unsafe::Parent)),
            ("..", Err(Unsafe::Parent)),
            ("~/a", Err(Unsafe::Home)),
            ("~root/a", Err(Unsafe::Home)),
            ("./", Err(Unsafe::Nothing)),
            ("", Err(Unsafe::Nothing)),
        ] {
            let normal = normal(name.as_bytes());
            assert_eq!(
                normal.as_deref(),
                expected.map(str::as_bytes).as_ref().map(|it| *it),
                "{name}"
            );
        }
    }

    #[test]
    fn normal_form_and_case_are_folded() {
        let (composed, decomposed) = ("data/N\u{fa}", "data/Nu\u{301}");
        assert_eq!(canonical(composed.as_bytes()), canonical(decomposed.as_bytes()));
        assert_ne!(canonical(b"a"), canonical(b"A"));
        assert_eq!(folded("data/n\u{da}".as_bytes()), folded(decomposed.as_bytes()));
        assert_eq!(folded(b"data/\xff"), b"data/\xff");
    }

    #[test]
    fn system_files_are_recognized() {
        assert!(
            [&b"data/.DS_Store"[..], b"data/b/thumbs.db", b"data/._a"]
                .iter()
                .all(|it| is_of_a_system(it))
        );
        assert!(!is_of_a_system(b"data/.DS_Store/a") && !is_of_a_system(b"data/.a"));
        assert!(is_left_over(b"data/.lanesum-x") && is_left_over(b"data/.lanesum-bag/bagit.txt"));
        assert!(!is_left_over(b"data/.lanesum") && !is_left_over(b"data/a.lanesum-x"));
    }

    #[test]
    fn unportable_names_are_reported() {
        for (name, problem) in [
            ("data/100%", Some(Problem::Percent)),
            ("data/%\n", Some(Problem::Percent)),
            ("data/a\rb", Some(Problem::LineEnd)),
            ("data/a ", Some(Problem::TrailingBlank)),
            ("data/a\u{a0}", Some(Problem::TrailingBlank)),
            ("data/a b", None),
        ] {
            assert_eq!(not_found_by_some(name.as_bytes()), problem, "{name:?}");
        }
    }
}
