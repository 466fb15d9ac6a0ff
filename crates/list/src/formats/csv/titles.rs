//! The titles of columns, as many programs write them.

use super::super::Wrong;
use super::rows::Rows;
use crate::{Algorithm, Algorithms};

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Path,
    Size,
    Modified,
    Digest(Algorithm),
    /// The algorithm of the digest in the column [`Hash`](Self::Hash).
    Algorithm,
    /// A digest of this algorithm, with its algorithm before it, or of the algorithm with so many
    /// digits.
    Hash,
    Other,
}

/// The titles of each column, without underscores, dashes and blanks. If several columns have
/// names, the paths are in the one whose title is first here.
const TITLES: [(Column, &[&str]); 5] = [
    (Column::Path, &["path", "filename", "file", "name", "filepath", "relativepath"]),
    (
        Column::Size,
        &["size", "filesize", "bytes", "length", "sizebytes", "sizeinbytes", "contentlength"],
    ),
    (Column::Modified, &["modified", "mtime"]),
    (Column::Algorithm, &["algorithm", "hashalgorithm", "checksumalgorithm", "checksumtype"]),
    (Column::Hash, &["hash", "checksum", "digest", "filehash", "filechecksum"]),
];

/// Words before and after the name of an algorithm in the title of its column.
const BEFORE: [&str; 4] = ["content", "file", "hash", "checksum"];
const AFTER: [&str; 6] = ["checksum", "sum", "hash", "digest", "hex", "base64"];

/// Returns the letters of a title in lower case. A title that is not UTF-8 has none.
fn word(title: &[u8]) -> String {
    let is_letter = |it: &char| !matches!(it, '_' | '-' | ' ' | '(' | ')');
    let title = str::from_utf8(title).unwrap_or_default().to_ascii_lowercase();
    title.chars().filter(is_letter).collect()
}

impl Column {
    fn of(title: &[u8], known: Algorithms) -> Self {
        let word = word(title);
        if let Some((column, _)) = TITLES.into_iter().find(|(_, titles)| titles.contains(&&*word)) {
            return column;
        }
        let shorter = |word: &'_ str| {
            let rest = BEFORE.into_iter().find_map(|before| word.strip_prefix(before));
            rest.or_else(|| AFTER.into_iter().find_map(|after| word.strip_suffix(after)))
                .map(str::to_owned)
        };
        let mut word = Some(word);
        while let Some(title) = word {
            match Algorithm::called(&title).filter(|&it| known.contains(it)) {
                Some(algorithm) => return Self::Digest(algorithm),
                None => word = shorter(&title),
            }
        }
        Self::Other
    }
}

/// Columns with several files in each cell, apart by semicolons, as in the file reports of ENA:
/// `fastq_ftp`, `fastq_md5` and `fastq_bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) paths: usize,
    pub(super) md5: usize,
    pub(super) sizes: Option<usize>,
}

/// Returns the groups of a header.
pub(super) fn groups(header: &Rows) -> Vec<Group> {
    let find = |title: &[u8]| header.cells().position(|cell| cell == title);
    let group = |(paths, title): (usize, &[u8])| {
        let word = title.strip_suffix(b"_ftp")?;
        let md5 = find(&[word, b"_md5"].concat())?;
        Some(Group { paths, md5, sizes: find(&[word, b"_bytes"].concat()) })
    };
    header.cells().enumerate().filter_map(group).collect()
}

/// Returns whether a cell says that its value is unknown.
pub(super) fn is_unknown(cell: &[u8]) -> bool {
    cell.is_empty() || cell == b"-" || cell.eq_ignore_ascii_case(b"null")
}

/// Returns the columns of a header.
///
/// # Errors
///
/// Fails if no column has names, none has digests or sizes, or two have the same values.
pub(super) fn columns(header: &Rows, known: Algorithms) -> Result<Vec<Column>, Wrong> {
    let mut columns: Vec<_> = header.cells().map(|title| Column::of(title, known)).collect();
    let count = |columns: &[Column], wanted| columns.iter().filter(|&&it| it == wanted).count();
    let (_, paths) = TITLES[0];
    let ranks = header.cells().map(|title| paths.iter().position(|path| *path == word(title)));
    let ranks: Vec<_> = ranks.collect();
    let best = ranks.iter().flatten().min().copied().ok_or(Wrong::NoPath)?;
    for (column, rank) in columns.iter_mut().zip(ranks) {
        if rank.is_some_and(|rank| rank > best) {
            *column = Column::Other;
        }
    }
    let says = |column: &Column| matches!(column, Column::Size | Column::Digest(_) | Column::Hash);
    if !columns.iter().any(says) {
        return Err(Wrong::NothingInHeader);
    }
    let of_digests = Algorithm::ALL.map(|it| (Column::Digest(it), it.name()));
    let alone = [
        (Column::Path, "path"),
        (Column::Size, "size"),
        (Column::Modified, "modified"),
        (Column::Algorithm, "algorithm"),
        (Column::Hash, "hash"),
    ];
    let mut alone = alone.into_iter().chain(of_digests);
    match alone.find(|&(column, _)| count(&columns, column) > 1) {
        Some((_, twice)) => return Err(Wrong::Header(twice)),
        None if count(&columns, Column::Hash) == 1 => return Ok(columns),
        None => {}
    }
    columns.iter_mut().filter(|it| **it == Column::Algorithm).for_each(|it| *it = Column::Other);
    Ok(columns)
}
