//! Numbers, times and names in words.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lanesum_catalog::{CatalogError, Manners, Run, Spelling};
use lanesum_list::Time;

pub const DAY: i64 = 24 * 60 * 60;

pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs().cast_signed())
}

/// `2026-11-24 21:03:07Z`.
pub fn moment(seconds: i64) -> String {
    let mut text = Vec::new();
    Time { seconds, nanoseconds: 0 }.write_rfc3339(&mut text);
    let text = String::from_utf8_lossy(&text);
    let whole = text.split('.').next().unwrap_or_default().replacen('T', " ", 1);
    if whole.is_empty() {
        "at no known time".to_owned()
    } else {
        whole.trim_end_matches('Z').to_owned() + "Z"
    }
}

/// `412,008`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 file`, `6,000 files`.
pub fn files(number: u64) -> String {
    of(number, "file")
}

/// `1 day`, `90 days`.
pub fn of(number: u64, one: &str) -> String {
    let several = if number == 1 { "" } else { "s" };
    format!("{} {one}{several}", count(number))
}

/// `80.00 MB`.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if number < 1000 {
        return format!("{number} B");
    }
    let (mut value, mut unit) = (number as f64 / 1000.0, 0);
    while value >= 999.995 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1000.0, unit + 1);
    }
    format!("{value:.2} {}", UNITS[unit])
}

/// `8 seconds`, `5 minutes`, `3 hours`: the greatest unit of which there are two.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    let units = [(DAY.cast_unsigned(), "day"), (3600, "hour"), (60, "minute")];
    let unit = units.into_iter().find(|(unit, _)| seconds >= 2 * unit);
    let (unit, name) = unit.unwrap_or((1, "second"));
    of((seconds + unit / 2) / unit, name)
}

/// `today`, `1 day ago`, `89 days ago`.
pub fn ago(at: i64, now: i64) -> String {
    match now - at {
        ..0 => "later than now by this machine's clock".to_owned(),
        0..DAY => "within a day".to_owned(),
        age => of((age / DAY).cast_unsigned(), "day") + " ago",
    }
}

/// Whether a character could be taken for nothing, or turns the text around it.
fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    ) || character.is_control()
}

/// A name as text: what is no UTF-8 is replaced, and what cannot be seen is shown as a number.
pub fn shown(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for character in String::from_utf8_lossy(name).chars() {
        match character {
            '\\' => text += "\\\\",
            character if is_hidden(character) => text.extend(character.escape_default()),
            character => text.push(character),
        }
    }
    text
}

/// A name as it is typed in a shell (POSIX's of 2024, bash, zsh): nothing but printable characters.
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
                // Memory takes everything.
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

/// A command to be typed, of this catalog.
pub fn command(catalog: &Path, verb: &str, path: Option<&Path>) -> String {
    let mut words = format!("lanesum {verb} --catalog {}", quoted(catalog.as_os_str().as_bytes()));
    if let Some(path) = path {
        words += " -- ";
        words += &quoted(path.as_os_str().as_bytes());
    }
    words
}

/// What went wrong with this catalog, with commands that can be typed.
pub fn failure(catalog: &Path, error: &CatalogError) -> String {
    let mut text = String::new();
    for character in error.words(&Typed(catalog)).chars() {
        match is_hidden(character) {
            true => text.extend(character.escape_default()),
            false => text.push(character),
        }
    }
    text
}

/// Paths are seen, and commands are typed.
struct Typed<'path>(&'path Path);

impl Spelling for Typed<'_> {
    fn path(&self, path: &Path) -> String {
        shown(path.as_os_str().as_bytes())
    }

    fn command(&self, verb: &str, path: Option<&Path>) -> String {
        command(self.0, verb, path)
    }
}

/// How a folder is scrubbed: `every 90 days, at most 80.00 MB a second, in 1:00-6:00`.
pub fn manners(manners: &Manners, every_days: u32) -> String {
    let mut words = match every_days {
        1 => "every day".to_owned(),
        days => format!("every {days} days"),
    };
    words += &match manners.rate {
        Some(rate) => format!(", at most {} a second", bytes(rate)),
        None => ", as fast as it goes".to_owned(),
    };
    words
        + &match manners.window {
            Some(hours) => format!(", in {hours}"),
            None => ", at any hour".to_owned(),
        }
}

/// How far a run came.
pub fn outcome(run: &Run, catalog: &Path) -> String {
    came_to(run.outcome.as_deref(), &run.verb, catalog)
}

fn came_to(outcome: Option<&str>, verb: &str, catalog: &Path) -> String {
    let words = match outcome {
        Some("complete") => "complete",
        Some("paused") => "NOT complete: it was paused",
        Some("closed") => "NOT complete: its hours were over, or did not begin",
        Some("ended") => "NOT complete: it was ended; the next one goes on",
        Some("begun") => "NOT complete: a part, and more is due",
        Some("limited") => "NOT complete: it stopped at its limit",
        Some("differs") => "complete: a list has other digests than the catalog, which stay",
        Some("partial") if verb == "import" => "NOT complete: something of the lists was not taken",
        Some("partial") => "NOT complete: something could not be looked at, or was not read",
        Some("empty") => "NOT complete: no file of it is cataloged",
        Some("unlisted") => "NOT complete: not all files are known",
        Some("suspended") => "NOT done: suspended",
        Some("damaged") => {
            let check = command(catalog, "catalog check", None);
            return format!("NOT complete: the catalog itself is damaged ({check})");
        }
        _ => "NOT complete: interrupted, or at work now",
    };
    words.to_owned()
}

/// The digests in what is told of a file: `size=3 mtime=1.000000000 md5=...` has one.
pub fn digests(words: &str) -> Vec<(&str, &str)> {
    let pairs = words.split(' ').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, _)| !matches!(*name, "size" | "mtime")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_words() {
        assert_eq!([0, 999, 1000, 412_008].map(count), ["0", "999", "1,000", "412,008"]);
        assert_eq!(
            [0, 999, 1000, 999_994, 999_999, 80_000_000].map(bytes),
            ["0 B", "999 B", "1.00 kB", "999.99 kB", "1.00 MB", "80.00 MB"]
        );
        assert_eq!(bytes(u64::MAX), "18.45 EB");
        let seconds = [0, 1, 119, 120, 7199, 7200, 172_800].map(Duration::from_secs);
        assert_eq!(
            seconds.map(time),
            [
                "0 seconds",
                "1 second",
                "119 seconds",
                "2 minutes",
                "120 minutes",
                "2 hours",
                "2 days"
            ]
        );
        assert_eq!(
            [0, DAY, 2 * DAY].map(|age| ago(0, age)),
            ["within a day", "1 day ago", "2 days ago"]
        );
        assert_eq!(moment(0), "1970-01-01 00:00:00Z");
    }

    #[test]
    fn names_are_text_and_arguments() {
        for (name, text, typed) in [
            (&b"/a/b-1.jpg"[..], "/a/b-1.jpg", "/a/b-1.jpg"),
            (b"a b's", "a b's", r"'a b'\''s'"),
            (b"$(reboot) `x` \"", "$(reboot) `x` \"", "'$(reboot) `x` \"'"),
            ("ä".as_bytes(), "ä", "'ä'"),
            (b"a\nb\x1b[2J'", "a\\nb\\u{1b}[2J'", r"$'a\012b\033[2J\''"),
            ("gpj\u{202e}exe".as_bytes(), "gpj\\u{202e}exe", r"$'gpj\342\200\256exe'"),
            (b"\xff\\", "\u{fffd}\\\\", r"$'\377\\'"),
            (b"", "", "''"),
        ] {
            assert_eq!((shown(name).as_str(), quoted(name).as_str()), (text, typed));
        }
    }

    #[test]
    fn what_a_run_came_to_tells_commands_of_this_catalog() {
        let of = |outcome| came_to(Some(outcome), "audit", Path::new("/c.db"));
        assert_eq!(of("complete"), "complete");
        assert_eq!(
            of("damaged"),
            "NOT complete: the catalog itself is damaged (lanesum catalog check --catalog /c.db)"
        );
    }

    #[test]
    fn a_failure_tells_commands_of_this_catalog() {
        let catalog = Path::new("/my catalog.db");
        let words = failure(catalog, &CatalogError::Damaged("a\nb".to_owned()));
        for part in [
            "a\\nb; `lanesum catalog check --catalog '/my catalog.db'` tells",
            "`lanesum catalog backup --catalog '/my catalog.db'` made",
        ] {
            assert!(words.contains(part), "{words}");
        }
        let error = CatalogError::NotThere { path: "/a\n b".into(), why: "is away".to_owned() };
        assert_eq!(
            failure(catalog, &error),
            "/a\\n b: is away; mount or put back what was there; if it is gone for good: \
             `lanesum forget --catalog '/my catalog.db' -- $'/a\\012 b'`"
        );
    }

    /// What is typed is the name.
    #[test]
    fn a_shell_reads_what_is_quoted() {
        let all: Vec<u8> = (1..=255).collect();
        for name in [&all[..], b"-a 'b' \\'", "x\u{202e}y".as_bytes()] {
            let script = format!("printf %s {}", quoted(name));
            let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
            assert_eq!(output.stdout, name, "{script}");
        }
    }
}
