use proptest::strategy::Strategy as _;

use super::*;

/// As a name is quoted where no colon follows.
fn shell_word(out: &mut Vec<u8>, name: &[u8], locale: Locale) {
    append(out, name, locale, false);
}

/// A name, and what `ls --quoting-style=shell-escape` shows under `LC_ALL=C` and `C.UTF-8`.
/// All but the one marked row were seen from coreutils 9.1 with glibc 2.36 (those with a slash from
/// its `printf %q`).
#[rustfmt::skip]
const SHOWN: &[(&[u8], &[u8], &[u8])] = &[
    (b"plain-Name_1.txt", b"plain-Name_1.txt", b"plain-Name_1.txt"),
    (b"%+,-./:@]_", b"%+,-./:@]_", b"%+,-./:@]_"),
    (b"", b"''", b"''"),
    (b"a b", b"'a b'", b"'a b'"),
    (b" ", b"' '", b"' '"),
    // Special at the start or alone only.
    (b"#a", b"'#a'", b"'#a'"),
    (b"a#~", b"a#~", b"a#~"),
    (b"~", b"'~'", b"'~'"),
    (b"{", b"'{'", b"'{'"),
    (b"{}", b"{}", b"{}"),
    // Special everywhere.
    (b"a!", b"'a!'", b"'a!'"),
    (b"\"", b"'\"'", b"'\"'"),
    (b"$&()*;<=>?[\\^`|", b"'$&()*;<=>?[\\^`|'", b"'$&()*;<=>?[\\^`|'"),
    // The apostrophe.
    (b"it's", b"\"it's\"", b"\"it's\""),
    (b"'", b"\"'\"", b"\"'\""),
    (b"# 'a' @:/", b"\"# 'a' @:/\"", b"\"# 'a' @:/\""),
    (b"it's #1", b"'it'\\''s #1'", b"'it'\\''s #1'"),
    (b"'{}", b"''\\''{}'", b"''\\''{}'"),
    (b"a'$b'", b"'a'\\''$b'\\'''", b"'a'\\''$b'\\'''"),
    (b"'\nx", b"''\\'''$'\\n''x'", b"''\\'''$'\\n''x'"),
    (b"\n'x", b"''$'\\n'\\''x'", b"''$'\\n'\\''x'"),
    // coreutils 9.1 puts '' before this one, by an oversight that later ones do not have.
    (b"it's\n", b"'it'\\''s'$'\\n'", b"'it'\\''s'$'\\n'"),
    // What cannot be shown.
    (b"a\nb", b"'a'$'\\n''b'", b"'a'$'\\n''b'"),
    (b"\x07\x08\t\n\x0b\x0c\r", b"''$'\\a\\b\\t\\n\\v\\f\\r'", b"''$'\\a\\b\\t\\n\\v\\f\\r'"),
    (b"\x01\x1b7\x7f", b"''$'\\001\\033''7'$'\\177'", b"''$'\\001\\033''7'$'\\177'"),
    // Beyond ASCII.
    (b"\xff", b"''$'\\377'", b"''$'\\377'"),
    (b"a\xff", b"'a'$'\\377'", b"'a'$'\\377'"),
    (b"\xc3\xbc", b"''$'\\303\\274'", b"\xc3\xbc"),
    (b"\xc3\xbc x", b"''$'\\303\\274'' x'", b"'\xc3\xbc x'"),
    (b"'\xc3\xbc", b"''\\'''$'\\303\\274'", b"\"'\xc3\xbc\""),
    (b"\xc3", b"''$'\\303'", b"''$'\\303'"),
    (b"\xe2\x82\xc3\xbc", b"''$'\\342\\202\\303\\274'", b"''$'\\342\\202''\xc3\xbc'"),
    (b"\xed\xa0\x80", b"''$'\\355\\240\\200'", b"''$'\\355\\240\\200'"), // a surrogate
    (b"\xc2\x85", b"''$'\\302\\205'", b"''$'\\302\\205'"),               // a control character
    (b"\xc2\xa0", b"''$'\\302\\240'", b"\xc2\xa0"),                      // no-break space
    (b"\xe2\x80\x8b", b"''$'\\342\\200\\213'", b"\xe2\x80\x8b"),         // zero-width space
    (b"\xe2\x80\xa8", b"''$'\\342\\200\\250'", b"''$'\\342\\200\\250'"), // line separator
    (b"\xcd\xb8", b"''$'\\315\\270'", b"''$'\\315\\270'"),               // unassigned
    (b"\xee\x80\x80", b"''$'\\356\\200\\200'", b"\xee\x80\x80"),         // private use
    (b"\xf0\x9f\x98\x80", b"''$'\\360\\237\\230\\200'", b"\xf0\x9f\x98\x80"),
];

fn quoted(quote: fn(&mut Vec<u8>, &[u8], Locale), name: &[u8], locale: Locale) -> Vec<u8> {
    let mut out = Vec::new();
    quote(&mut out, name, locale);
    out
}

fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

#[test]
fn names_are_shown_as_ls_shows_them() {
    for &(name, c, utf8) in SHOWN {
        let label = text(name);
        assert_eq!(text(&quoted(shell_word, name, Locale::C)), text(c), "C: {label}");
        assert_eq!(text(&quoted(shell_word, name, Locale::Utf8)), text(utf8), "UTF-8: {label}");
    }
}

#[test]
fn a_colon_matters_only_where_one_follows() {
    for (name, shown) in [("a:b", "'a:b'"), ("it's:", "\"it's:\""), ("a: b", "'a: b'")] {
        assert_eq!(quoted(file_name, name.as_bytes(), Locale::C), shown.as_bytes());
    }
    for &(name, c, utf8) in SHOWN.iter().filter(|(name, ..)| !name.contains(&b':')) {
        assert_eq!(quoted(file_name, name, Locale::C), c);
        assert_eq!(quoted(file_name, name, Locale::Utf8), utf8);
    }
}

/// Returns the value of a word in a shell, for the syntax that this module writes.
fn unquote(word: &[u8]) -> Vec<u8> {
    let mut name = Vec::new();
    let mut rest = word;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'\'' | b'"' => {
                let end = rest.iter().position(|&byte| byte == first).expect("closed");
                name.extend_from_slice(&rest[..end]);
                rest = &rest[end + 1..];
            }
            b'\\' => {
                name.push(rest[0]);
                rest = &rest[1..];
            }
            b'$' => {
                let end = 1 + rest[1..].iter().position(|&byte| byte == b'\'').expect("closed");
                let escapes = std::str::from_utf8(&rest[1..end]).unwrap();
                name.extend(escapes.split('\\').skip(1).map(|escape| match escape {
                    "a" => 0x07,
                    "b" => 0x08,
                    "t" => b'\t',
                    "n" => b'\n',
                    "v" => 0x0b,
                    "f" => 0x0c,
                    "r" => b'\r',
                    octal => u8::from_str_radix(octal, 8).unwrap(),
                }));
                rest = &rest[end + 1..];
            }
            bare => name.push(bare),
        }
    }
    name
}

proptest::proptest! {
    #[test]
    fn a_shell_reads_the_name(
        name in proptest::prop_oneof![
            proptest::collection::vec(1..=255u8, 0..40),
            "[ab '\"\\\\$:#~{}\u{fc}\u{378}\n\r\t]{0,20}".prop_map(String::into_bytes),
        ],
    ) {
        for locale in [Locale::C, Locale::Utf8] {
            for quote in [file_name, shell_word] {
                let word = quoted(quote, &name, locale);
                proptest::prop_assert_eq!(unquote(&word), name.clone(), "{}", text(&word));
                proptest::prop_assert!(word.iter().all(|byte| !byte.is_ascii_control()));
                proptest::prop_assert!(locale == Locale::Utf8 || word.is_ascii());
            }
        }
    }
}
