//! The lists of digests that dpkg keeps of every installed package.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

/// Where dpkg keeps them; the names in them are relative to the root.
pub const FOLDER: &str = "/var/lib/dpkg/info";

/// Every `*.md5sums` of dpkg, in byte order.
pub fn lists() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(FOLDER) else { return Vec::new() };
    let mut lists: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "md5sums"))
        .collect();
    lists.sort();
    lists
}

/// The names in lists of lines `DIGEST  NAME`, escaped ones (a leading backslash) as they are
/// meant.
pub fn names_in(lists: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for list in lists {
        let text = fs::read(list).with_context(|| list.display().to_string())?;
        names.extend(text.split(|&byte| byte == b'\n').filter_map(name_in));
    }
    Ok(names)
}

fn name_in(line: &[u8]) -> Option<PathBuf> {
    const NAME_AT: usize = 34;
    let plain = |name: &[u8]| PathBuf::from(OsString::from_vec(name.to_vec()));
    match line.strip_prefix(b"\\") {
        None => line.get(NAME_AT..).map(plain),
        Some(escaped) => {
            let name = String::from_utf8_lossy(escaped.get(NAME_AT..)?).replace(r"\\", r"\");
            Some(PathBuf::from(name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "0cc175b9c0f1b6a831c399e269772661";

    #[test]
    fn names_of_lists_are_read_as_md5sum_reads_them() {
        let name = |line: String| name_in(line.as_bytes());
        assert_eq!(name(format!("{DIGEST}  usr/a b")), Some(PathBuf::from("usr/a b")));
        assert_eq!(name(format!("\\{DIGEST}  usr/a\\\\x2d")), Some(PathBuf::from("usr/a\\x2d")));
        assert_eq!(name(String::new()), None);
    }
}
