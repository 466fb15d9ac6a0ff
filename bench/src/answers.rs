//! What the programs answered, brought into one form so that it can be compared.

use anyhow::{Context as _, Result, bail, ensure};

/// One name and what was said of it: a digest in hex, or "FAILED".
type Answer = (Vec<u8>, Vec<u8>);

/// The answers of one program in the order of the names.
#[derive(Debug, PartialEq, Eq)]
pub struct Answers(Vec<Answer>);

/// The digits of MD5, SHA-1, SHA-256 and SHA-512.
const HEX: [usize; 4] = [32, 40, 64, 128];
const FAILED: &[u8] = b"FAILED";

impl Answers {
    /// Reads lines `DIGEST  NAME` or `DIGEST *NAME`; `prefix` is taken off names that begin with
    /// it, since some programs print names as found and some as seen from the folder walked.
    ///
    /// # Errors
    ///
    /// If a line is anything else.
    pub fn of_digests(output: &[u8], prefix: &[u8]) -> Result<Self> {
        let parse = |(index, line)| {
            parse_digest(line, prefix).with_context(|| {
                format!("line {}: not a digest: {}", index + 1, String::from_utf8_lossy(line))
            })
        };
        let answers: Result<Vec<Answer>> = lines(output).enumerate().map(parse).collect();
        Ok(Self::sorted(answers?))
    }

    /// Reads the lines `NAME: FAILED` and `NAME: FAILED open or read` out of what `md5sum --check`
    /// prints. A leading `/` of a name is not significant: the names are relative to the root.
    pub fn of_failures(output: &[u8]) -> Self {
        let name = |line: &[u8]| {
            let name = line.strip_suffix(b" open or read").unwrap_or(line);
            name.strip_suffix(b": FAILED").map(<[u8]>::to_vec)
        };
        Self::failed(lines(output).filter_map(name))
    }

    /// Reads the failures out of what `rhash --check` prints: a name, blanks, and the error.
    pub fn of_rhash_failures(output: &[u8]) -> Self {
        let name = |line: &[u8]| {
            let name = [&b" ERR"[..], b" No such file or directory"]
                .iter()
                .find_map(|error| line.strip_suffix(*error));
            name.map(|name| name.trim_ascii_end().to_vec())
        };
        Self::failed(lines(output).filter_map(name))
    }

    /// Reads the failures out of what `rclone checksum --combined` prints: lines `* NAME` for what
    /// differs, `! NAME`, `+ NAME` and `- NAME` for what could not be compared. Its names are seen
    /// from the folder that it walks; `prefix` goes before them.
    pub fn of_rclone_failures(output: &[u8], prefix: &[u8]) -> Self {
        let name = |line: &[u8]| {
            let signs = [&b"* "[..], b"! ", b"+ ", b"- "];
            let name = signs.iter().find_map(|sign| line.strip_prefix(*sign))?;
            Some([prefix, name].concat())
        };
        Self::failed(lines(output).filter_map(name))
    }

    /// Without the names that hold a backslash.
    pub fn without_backslashes(&self) -> Self {
        let plain = self.0.iter().filter(|(name, _)| !name.contains(&b'\\'));
        Self(plain.cloned().collect())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// # Errors
    ///
    /// If the answers differ; the first difference is named.
    pub fn agree_with(&self, reference: &Self) -> Result<()> {
        let differing = self.0.iter().zip(&reference.0).find(|(own, expected)| own != expected);
        if let Some((own, expected)) = differing {
            bail!("wrong answer: {}; the baseline has {}", show(own), show(expected));
        }
        let (own, expected) = (self.len(), reference.len());
        ensure!(own == expected, "wrong answer: {own} names; the baseline has {expected}");
        Ok(())
    }

    fn failed(names: impl Iterator<Item = Vec<u8>>) -> Self {
        let relative = |name: Vec<u8>| name.strip_prefix(b"/").map_or(name.clone(), <[u8]>::to_vec);
        Self::sorted(names.map(|name| (relative(name), FAILED.to_vec())).collect())
    }

    fn sorted(mut answers: Vec<Answer>) -> Self {
        answers.sort();
        Self(answers)
    }
}

/// The number of lines.
pub fn count_lines(output: &[u8]) -> usize {
    lines(output).count()
}

fn lines(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
}

fn parse_digest(line: &[u8], prefix: &[u8]) -> Option<Answer> {
    let length = line.iter().position(|&byte| byte == b' ').filter(|it| HEX.contains(it))?;
    let (digest, rest) = line.split_at(length);
    let name = rest.strip_prefix(b"  ").or_else(|| rest.strip_prefix(b" *"))?;
    let name = name.strip_prefix(prefix).unwrap_or(name);
    digest.iter().all(u8::is_ascii_hexdigit).then(|| (name.to_vec(), digest.to_ascii_lowercase()))
}

fn show((name, verdict): &Answer) -> String {
    format!("{} for {}", String::from_utf8_lossy(verdict), String::from_utf8_lossy(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0cc175b9c0f1b6a831c399e269772661";
    const B: &str = "92eb5ffee6ae2fec3ad71c777531578f";

    fn digests(text: &str) -> Answers {
        Answers::of_digests(text.as_bytes(), b"/dir/").unwrap()
    }

    #[test]
    fn order_prefix_and_the_binary_mark_make_no_difference() {
        let reference = digests(&format!("{A}  /dir/a\n{B}  /dir/b\n"));
        digests(&format!("{B} *b\n{A} *a\n")).agree_with(&reference).unwrap();
        assert_eq!(reference.len(), 2);
    }

    #[test]
    fn another_digest_a_missing_and_a_further_name_are_wrong() {
        let reference = digests(&format!("{A}  a\n{B}  b\n"));
        for (text, part) in [
            (format!("{A}  a\n{A}  b\n"), format!("{A} for b; the baseline has {B} for b")),
            (format!("{A}  a\n"), "1 names; the baseline has 2".to_owned()),
            (format!("{A}  a\n{B}  b\n{B}  c\n"), "3 names; the baseline has 2".to_owned()),
            (String::new(), "0 names".to_owned()),
        ] {
            let error = digests(&text).agree_with(&reference).unwrap_err().to_string();
            assert!(error.contains(&part), "{error}");
        }
    }

    #[test]
    fn a_line_that_is_no_digest_is_named() {
        for line in ["hello", &A[..31], &format!("{A} a"), &format!("g{}  a", &A[1..])] {
            let text = format!("{A}  a\n{line}\n");
            let error = Answers::of_digests(text.as_bytes(), b"").unwrap_err().to_string();
            assert!(error.starts_with("line 2: not a digest"), "{error}");
        }
    }

    #[test]
    fn failures_of_all_programs_are_the_same() {
        let md5sum = Answers::of_failures(b"usr/a: FAILED\nusr/b c: FAILED open or read\n");
        let lanesum = Answers::of_failures(b"/usr/b c: FAILED open or read\n/usr/a: FAILED\n");
        let rhash = Answers::of_rhash_failures(
            b"--( Verifying x )--\nusr/b c          No such file or directory\nusr/a    ERR\n\
              Everything OK\nx\\y     ERR\n",
        );
        assert_eq!(md5sum.len(), 2);
        let rclone = Answers::of_rclone_failures(b"= c\n* a\n! b c\n", b"/usr/");
        rclone.agree_with(&md5sum).unwrap();
        lanesum.agree_with(&md5sum).unwrap();
        assert!(rhash.agree_with(&md5sum).is_err());
        rhash.without_backslashes().agree_with(&md5sum).unwrap();
    }
}
