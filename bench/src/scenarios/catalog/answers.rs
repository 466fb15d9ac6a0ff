//! Whether a program has seen all files, by what it printed or put down.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::answers::Answers;

/// # Errors
/// There are not as many as there should be.
pub fn expect(what: &str, expected: usize, found: usize) -> Result<()> {
    ensure!(found == expected, "wrong answer: {found} {what} of {expected}");
    Ok(())
}

/// # Errors
/// The text does not have that part; it is quoted from its end.
pub fn has(text: &str, part: &str) -> Result<()> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let quoted = words[words.len().saturating_sub(20)..].join(" ");
    ensure!(text.contains(part), "wrong answer: no {part:?} in {quoted:?}");
    Ok(())
}

pub fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

/// Lanesum's summary: of how many files it said what, and how many it read.
pub fn lanesum(text: &str, verb: &str, (files, what): (usize, &str), read: usize) -> Result<()> {
    let (files, read) = (grouped(files), grouped(read));
    has(text, &format!(": {verb}: {files} {what}; "))?;
    if verb == "scan" { Ok(()) } else { has(text, &format!("; {read} file")) }
}

/// `12,345`.
pub fn grouped(number: usize) -> String {
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

/// The digests in a list of hashdeep's, of lines `SIZE,MD5,NAME`.
pub fn of_hashdeep(list: &[u8]) -> Result<Answers> {
    let mut digests = Vec::new();
    for line in list.split(|&byte| byte == b'\n') {
        if !line.is_empty() && !line.starts_with(b"%") && !line.starts_with(b"#") {
            let mut fields = line.splitn(3, |&byte| byte == b',').skip(1);
            digests.extend_from_slice(fields.next().unwrap_or_default());
            digests.extend_from_slice(b"  ");
            digests.extend_from_slice(fields.next().unwrap_or_default());
            digests.push(b'\n');
        }
    }
    Answers::of_digests(&digests, b"")
}

pub fn hashdeep_audit(text: &str, files: usize) -> Result<()> {
    has(text, "Audit passed")?;
    has(text, &format!("Files matched: {files}\n"))
}

/// Of chkbit's summary what it updated stands in lines that begin with a dash.
pub fn chkbit_again(text: &str, files: usize) -> Result<()> {
    has(text, &format!("Processed {files} file"))?;
    ensure!(!text.contains("\n- "), "wrong answer: something changed: {text}");
    Ok(())
}

pub fn bitrot(text: &str, files: usize, new: usize) -> Result<()> {
    has(text, " 0 errors found.")?;
    has(
        text,
        &format!(
            "\n{files} entries in the database, {new} new, 0 updated, 0 renamed, 0 missing.\n"
        ),
    )
}

pub fn aide(text: &str, verdict: &str, files: usize) -> Result<()> {
    has(text, verdict)?;
    has(text, &format!("Number of entries:\t{files}\n"))
}

/// AIDE's configuration: the files below `root` in `database`.
pub fn aide_settings(database: &Path, root: &Path, attributes: &str) -> String {
    let (database, root) = (database.display(), root.display());
    format!(
        "database_in=file:{database}\ndatabase_out=file:{database}\ndatabase_attrs=md5\n\
         gzip_dbout=no\nnum_workers=0\nreport_url=stdout\n{root} f {attributes}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped_as_lanesum_does() {
        let texts = [0, 999, 1000, 12_345, 100_000, 1_234_567].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "12,345", "100,000", "1,234,567"]);
    }

    #[test]
    fn a_summary_of_lanesum_names_all_files_and_what_was_read() {
        let text =
            "lanesum: /x: update: 1,000 with the recorded size and time; 0 files read, 0 B\n";
        let says =
            |files, read| lanesum(text, "update", (files, "with the recorded size and time"), read);
        says(1000, 0).unwrap();
        for error in [says(999, 0), says(1000, 1000)] {
            let error = error.unwrap_err().to_string();
            assert!(error.contains("1,000 with"), "{error}");
        }
        let two =
            "lanesum: /x: update: 1 new, 2 with the recorded size and time; 1 file read, 9 B\n";
        assert!(lanesum(two, "update", (2, "with the recorded size and time"), 1).is_err());
    }

    #[test]
    fn lists_of_hashdeep_are_digests() {
        const A: &str = "0cc175b9c0f1b6a831c399e269772661";
        let head = "%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n## Invoked from: /x\n## \n";
        let list = format!("{head}1,{A},/x/a,b\n1,{A},/x/a\n");
        let expected = Answers::of_digests(format!("{A}  /x/a\n{A}  /x/a,b\n").as_bytes(), b"");
        of_hashdeep(list.as_bytes()).unwrap().agree_with(&expected.unwrap()).unwrap();
        assert!(of_hashdeep(b"hashdeep: out of memory\n").is_err());
    }

    #[test]
    fn peers_say_that_nothing_changed() {
        let audit = "hashdeep: Audit passed\n          Files matched: 200\nFiles partially";
        hashdeep_audit(audit, 200).unwrap();
        assert!(hashdeep_audit(audit, 20).is_err());

        chkbit_again("Processed 200 files.\n\nNotice: obsolete\n", 200).unwrap();
        let updated = "Processed 200 files.\n- 2 directories were updated\n";
        assert!(chkbit_again(updated, 200).is_err());

        let text = " 99.5%100.0%\rFinished. 0.78 MiB of data read. 0 errors found.\n\
                    200 entries in the database, 0 new, 0 updated, 0 renamed, 0 missing.\n";
        bitrot(text, 200, 0).unwrap();
        assert!(bitrot(text, 200, 200).is_err());
        assert!(bitrot(&text.replace(" 0 errors", " 10 errors"), 200, 0).is_err());

        let text = "AIDE found NO differences between database and filesystem. Looks okay!!\n\n\
                    Number of entries:\t200\n\n";
        aide(text, "NO differences", 200).unwrap();
        assert!(aide(text, "NO differences", 2000).is_err());
    }

    #[test]
    fn wrong_counts_are_named() {
        let error = expect("files in the indices", 200, 100).unwrap_err().to_string();
        assert_eq!(error, "wrong answer: 100 files in the indices of 200");
        assert_eq!(count(r#"{"a":{"h":"x"},"h":{"h":"y"}}"#, r#""h":""#), 2);
    }
}
