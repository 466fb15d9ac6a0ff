//! Options as GNU `getopt_long` reads them, in its words.
//!
//! An argument that starts with a dash is
//!
//! - `--`: the end of the options; whatever follows is an operand;
//! - `--name`: the flag of that name, or the only one that begins so;
//! - `-xyz`: the flags x, y and z;
//! - `-` alone: an operand.
//!
//! Options and operands may come in any order, unless POSIXLY_CORRECT is set: then the first
//! operand ends the options. Every flag of md5sum stands for itself, so none takes an argument
//! here.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// One option of a program.
#[derive(Debug)]
pub struct Flag<T> {
    /// Its name after `--`.
    pub long: &'static str,
    /// Its letter after `-`, if it has one.
    pub short: Option<u8>,
    /// What it stands for.
    pub id: T,
}

/// What an argument turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub enum Argument<T> {
    /// A flag.
    Flag(T),
    /// Anything else.
    Operand(OsString),
}

/// Why an argument is none of the program's: what getopt says after the program's name and `: `.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal(pub Vec<u8>);

/// Yields what the arguments are, one by one, so that `--help` acts before a mistake after it.
#[derive(Debug)]
pub struct Arguments<'t, T, I> {
    flags: &'t [Flag<T>],
    rest: I,
    /// Letters of a bundle such as `-bt` that are still to come, in reverse.
    bundle: Vec<u8>,
    operands_only: bool,
    posixly_correct: bool,
}

impl<'t, T: Copy, I: Iterator<Item = OsString>> Arguments<'t, T, I> {
    /// Reads `args`, which do not include the program's name, by the table `flags`.
    pub fn new(flags: &'t [Flag<T>], posixly_correct: bool, args: I) -> Self {
        Self { flags, rest: args, bundle: Vec::new(), operands_only: false, posixly_correct }
    }

    fn operand(&mut self, argument: OsString) -> Argument<T> {
        self.operands_only |= self.posixly_correct;
        Argument::Operand(argument)
    }

    fn short(&self, letter: u8) -> Result<Argument<T>, Refusal> {
        match self.flags.iter().find(|flag| flag.short == Some(letter)) {
            Some(flag) => Ok(Argument::Flag(flag.id)),
            None => Err(Refusal([b"invalid option -- '", &[letter][..], b"'"].concat())),
        }
    }

    /// `text` is the argument without its two dashes.
    fn long(&self, text: &[u8]) -> Result<Argument<T>, Refusal> {
        let end = text.iter().position(|&byte| byte == b'=').unwrap_or(text.len());
        let (name, has_value) = (&text[..end], end < text.len());
        let exact = self.flags.iter().find(|flag| flag.long.as_bytes() == name);
        let candidates: Vec<&Flag<T>> = match exact {
            Some(flag) => vec![flag],
            None => {
                self.flags.iter().filter(|flag| flag.long.as_bytes().starts_with(name)).collect()
            }
        };
        match candidates[..] {
            [] => Err(Refusal([b"unrecognized option '--", text, b"'"].concat())),
            [flag] if has_value => Err(Refusal(
                format!("option '--{}' doesn't allow an argument", flag.long).into_bytes(),
            )),
            [flag] => Ok(Argument::Flag(flag.id)),
            _ => {
                let mut words = [b"option '--", text, b"' is ambiguous; possibilities:"].concat();
                for flag in candidates {
                    words.extend_from_slice(format!(" '--{}'", flag.long).as_bytes());
                }
                Err(Refusal(words))
            }
        }
    }
}

impl<T: Copy, I: Iterator<Item = OsString>> Iterator for Arguments<'_, T, I> {
    type Item = Result<Argument<T>, Refusal>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(letter) = self.bundle.pop() {
                return Some(self.short(letter));
            }
            let argument = self.rest.next()?;
            if self.operands_only {
                return Some(Ok(Argument::Operand(argument)));
            }
            match dashes(&argument) {
                Dashes::None => return Some(Ok(self.operand(argument))),
                Dashes::End => self.operands_only = true,
                Dashes::Long(text) => return Some(self.long(text)),
                Dashes::Short(letters) => self.bundle.extend(letters.iter().rev()),
            }
        }
    }
}

/// How an argument begins, and what stands after that.
enum Dashes<'a> {
    None,
    End,
    Long(&'a [u8]),
    Short(&'a [u8]),
}

fn dashes(argument: &OsStr) -> Dashes<'_> {
    match argument.as_bytes() {
        b"--" => Dashes::End,
        [b'-', b'-', text @ ..] => Dashes::Long(text),
        [b'-', letters @ ..] if !letters.is_empty() => Dashes::Short(letters),
        _ => Dashes::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: [Flag<char>; 4] = [
        Flag { long: "status", short: None, id: 'S' },
        Flag { long: "strict", short: None, id: 'R' },
        Flag { long: "tag", short: Some(b't'), id: 'T' },
        Flag { long: "tag-all", short: Some(b'a'), id: 'A' },
    ];

    /// The arguments as one string: flags by their letter, operands in parentheses, a refusal as
    /// `!` and its words.
    fn read(posixly_correct: bool, args: &[&str]) -> String {
        let args = args.iter().map(OsString::from);
        Arguments::new(&FLAGS, posixly_correct, args)
            .map(|argument| match argument {
                Ok(Argument::Flag(id)) => id.to_string(),
                Ok(Argument::Operand(operand)) => format!("({})", operand.to_string_lossy()),
                Err(Refusal(words)) => format!("!{}", String::from_utf8_lossy(&words)),
            })
            .collect()
    }

    #[test]
    fn flags_and_operands_mix_until_two_dashes() {
        assert_eq!(read(false, &["x", "-ta", "-", "--status", "y"]), "(x)TA(-)S(y)");
        assert_eq!(read(false, &["x", "--", "-t", "--", "--status"]), "(x)(-t)(--)(--status)");
        assert_eq!(read(false, &[""]), "()");
    }

    #[test]
    fn the_first_operand_ends_the_options_under_posixly_correct() {
        assert_eq!(read(true, &["-t", "x", "-a", "--"]), "T(x)(-a)(--)");
        assert_eq!(read(true, &["-", "-t"]), "(-)(-t)");
        assert_eq!(read(true, &["--", "x", "-t"]), "(x)(-t)");
    }

    #[test]
    fn a_name_may_be_cut_short_while_it_is_one_alone() {
        assert_eq!(read(false, &["--sta", "--str", "--tag", "--tag-"]), "SRTA");
        assert_eq!(
            read(false, &["--st"]),
            "!option '--st' is ambiguous; possibilities: '--status' '--strict'"
        );
        assert_eq!(
            read(false, &["--=x"]),
            "!option '--=x' is ambiguous; possibilities: '--status' '--strict' '--tag' '--tag-all'"
        );
    }

    #[test]
    fn unknown_options_are_named() {
        assert_eq!(read(false, &["--foo=bar"]), "!unrecognized option '--foo=bar'");
        assert_eq!(read(false, &["--sta=1"]), "!option '--status' doesn't allow an argument");
        assert_eq!(read(false, &["-tx"]), "T!invalid option -- 'x'");
        assert_eq!(read(false, &["-t-"]), "T!invalid option -- '-'");
    }

    #[test]
    fn a_letter_is_one_byte() {
        let args = [OsString::from("-\u{e9}")];
        let first = Arguments::new(&FLAGS, false, args.into_iter()).next();
        assert_eq!(first, Some(Err(Refusal(b"invalid option -- '\xc3'".to_vec()))));
    }
}
