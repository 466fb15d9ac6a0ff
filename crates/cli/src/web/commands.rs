//! Commands for users to copy into a shell.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use maud::{Markup, html};

use crate::web::words::is_hidden;

/// A name as a shell reads it (POSIX of 2024, bash, zsh), in printable characters only.
pub fn quoted(name: &[u8]) -> String {
    let is_bare = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+,:@%".contains(byte);
    let text = str::from_utf8(name).ok().filter(|text| !text.chars().any(is_hidden));
    match text {
        Some(text) if !text.is_empty() && text.bytes().all(|byte| is_bare(&byte)) => {
            text.to_owned()
        }
        Some(text) => format!("'{}'", text.replace('\'', r"'\''")),
        None => {
            let mut text = "$'".to_owned();
            for byte in name {
                // Writing to a string cannot fail.
                let _ = match byte {
                    b'\\' | b'\'' => write!(text, "\\{}", char::from(*byte)),
                    b' '..=b'~' => write!(text, "{}", char::from(*byte)),
                    byte => write!(text, "\\{byte:03o}"),
                };
            }
            text + "'"
        }
    }
}

/// A command over all of a catalog: `lanesum update --catalog /var/lib/lanesum/catalog.db`.
pub fn command(catalog: &Path, verb: &str) -> String {
    format!("lanesum {verb} --catalog {}", quoted(catalog.as_os_str().as_bytes()))
}

/// A command about paths.
pub fn command_for(catalog: &Path, verb: &str, paths: &[&Path]) -> String {
    let mut text = command(catalog, verb) + " --";
    for path in paths {
        text.push(' ');
        text += &quoted(path.as_os_str().as_bytes());
    }
    text
}

/// A command in a box of its own. The script adds a button that copies it.
pub fn block(command: &str) -> Markup {
    html! { div class="command" { code { (command) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_a_shell_needs_it() {
        for (name, typed) in [
            (&b"/a/b-1.jpg"[..], "/a/b-1.jpg"),
            (b"a b's", r"'a b'\''s'"),
            (b"$(reboot) `x` \"", "'$(reboot) `x` \"'"),
            ("\u{e4}".as_bytes(), "'\u{e4}'"),
            (b"a\nb\x1b[2J'", r"$'a\012b\033[2J\''"),
            ("gpj\u{202e}exe".as_bytes(), r"$'gpj\342\200\256exe'"),
            (b"\xff\\", r"$'\377\\'"),
            (b"", "''"),
        ] {
            assert_eq!(quoted(name), typed);
        }
        let paths = [Path::new("/a b"), Path::new("-c")];
        assert_eq!(
            command_for(Path::new("/c.db"), "accept", &paths),
            "lanesum accept --catalog /c.db -- '/a b' -c"
        );
    }

    #[test]
    fn a_shell_reads_a_quoted_name_as_the_name() {
        let all: Vec<u8> = (1..=255).collect();
        for name in [&all[..], b"-a 'b' \\'", "x\u{202e}y".as_bytes()] {
            let script = format!("printf %s {}", quoted(name));
            let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
            assert_eq!(output.stdout, name, "{script}");
        }
    }
}
