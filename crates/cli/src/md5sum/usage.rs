//! What `--help` and `--version` print.

/// The text of `--help`: the same options in the same order and words as GNU md5sum 9.11, which
/// scripts look at; without the markup that GNU adds for some terminals.
pub fn help(invocation: &[u8]) -> Vec<u8> {
    [b"Usage: ", invocation, HELP.as_bytes()].concat()
}

const HELP: &str = " [OPTION]... [FILE]...
Print or check MD5 (128-bit) checksums.

With no FILE, or when FILE is -, read standard input.
  -b, --binary
         read in binary mode
  -c, --check
         read checksums from the FILEs and check them
      --tag
         create a BSD-style checksum
  -t, --text
         read in text mode (default)
  -z, --zero
         end each output line with NUL, not newline,
         and disable file name escaping

The following five options are useful only when verifying checksums:
      --ignore-missing
         don't fail or report status for missing files
      --quiet
         don't print OK for each successfully verified file
      --status
         don't output anything, status code shows success
      --strict
         exit non-zero for improperly formatted checksum lines
  -w, --warn
         warn about improperly formatted checksum lines
      --help
         display this help and exit
      --version
         output version information and exit

The sums are computed as described in RFC 1321.
When checking, the input should be a former output of this program.
The default mode is to print a line with: checksum, a space,
a character indicating input mode ('*' for binary, ' ' for text
or where binary is insignificant), and name for each FILE.

There is no difference between binary mode and text mode.

MD5 finds accidents, not attackers; 'lanesum -a blake3' and 'lanesum -a sha256' find both.
This is lanesum in the place of GNU md5sum: <https://github.com/lanesum/lanesum>
";

/// The text of `--version`.
pub const VERSION: &str = concat!(
    "md5sum (lanesum) ",
    env!("CARGO_PKG_VERSION"),
    "\nMIT or Apache-2.0, at your choice.\nOptions, messages and exit codes are those of GNU md5sum 9.11.\n"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_the_program_as_it_was_called() {
        let help = String::from_utf8(help(b"/opt/bin/md5sum")).unwrap();
        assert!(help.starts_with("Usage: /opt/bin/md5sum [OPTION]... [FILE]...\n"));
        assert!(help.ends_with('\n'));
    }

    #[test]
    fn the_first_line_of_version_is_name_and_number() {
        let first = VERSION.lines().next().unwrap();
        let number = first.strip_prefix("md5sum (lanesum) ").unwrap();
        assert!(number.split('.').all(|part| part.parse::<u32>().is_ok()), "{number}");
    }
}
