//! What to do about lists that others wrote: words that several verbs say.

use std::path::Path;

use lanesum_checksum::check::List;

use crate::console::shown;

/// What a command line calls a list.
pub fn operand(list: &List) -> &Path {
    match list {
        List::Stdin => Path::new("-"),
        List::Path(path) => path,
    }
}

/// Whether a name is written as Windows does.
pub fn is_of_windows(name: &[u8]) -> bool {
    name.contains(&b'\\') && !name.contains(&b'/')
}

/// Of a list whose names are so, before the command that read it, which is to read it once more.
pub fn of_backslashes(list: &List, command: &str) -> String {
    let words = "its names have backslashes, as Windows has them";
    match list {
        List::Stdin => format!("{words}: put tr '\\\\' / before lanesum {command}"),
        List::Path(path) => format!("{words}: tr '\\\\' / <{} | lanesum {command}", shown(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_windows_have_no_slash() {
        assert!(is_of_windows(b"a\\b") && !is_of_windows(b"a/b\\c") && !is_of_windows(b"a"));
    }

    #[test]
    fn a_list_is_put_through_a_pipe_by_its_name() {
        let words = of_backslashes(&List::Path("my list".into()), "check");
        assert!(words.ends_with(": tr '\\\\' / <'my list' | lanesum check"), "{words}");
        let words = of_backslashes(&List::Stdin, "check");
        assert!(words.ends_with(": put tr '\\\\' / before lanesum check"), "{words}");
    }
}
