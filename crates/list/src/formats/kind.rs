//! The formats by name, and the detection of the format of a list.

use std::fmt;
use std::str::FromStr;

use super::{
    AscMhl, BagIt, CannotHold, Creation, Csv, Debian, Format, Gnu, Gpg, Hashdeep, Inventory,
    Invocation, Irods, Json, LfsList, LfsPointer, Md5deep, Mixed, Mtree, S3, S3cmd, Sfv, Tag,
    Wheel, Xml,
};
use crate::{Algorithm, Algorithms, Dialect, Ending};

/// The description of a format, except for its text.
struct Description {
    /// The name, in lower case.
    name: &'static str,
    is_written: bool,
    /// Returns whether the columns must be known before the first record.
    has_header: bool,
    /// The default algorithms, which the programs of the format use.
    algorithms: &'static [Algorithm],
    has_sizes: bool,
    /// Whether written lists can have modification times.
    has_times: bool,
    /// Whether digests can be in base64.
    has_base64: bool,
    /// Whether NUL can end the lines.
    ends_with_nul: bool,
}

/// The defaults of an entry.
const DEFAULT: Description = Description {
    name: "",
    is_written: true,
    has_header: false,
    algorithms: &[Algorithm::Md5],
    has_sizes: false,
    has_times: false,
    has_base64: false,
    ends_with_nul: false,
};

/// Makes [`Kind`] and its table of descriptions, in the order of the entries.
macro_rules! kinds {
    ($($(#[$doc:meta])+ $variant:ident { $($field:ident: $value:expr),+ $(,)? })+) => {
        /// The name of a format.
        ///
        /// ```
        /// use lanesum_list::formats::Kind;
        ///
        /// assert_eq!("csv".parse(), Ok(Kind::Csv));
        /// assert_eq!(Kind::Csv.name(), "csv");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Kind { $($(#[$doc])+ $variant,)+ }

        impl Kind {
            /// Every format.
            pub const ALL: [Self; TABLE.len()] = [$(Self::$variant),+];
        }

        const TABLE: &[Description] = &[$(Description { $($field: $value,)+ ..DEFAULT }),+];
    };
}

kinds! {
    /// [`Gnu`].
    Gnu { name: "gnu", has_base64: true, ends_with_nul: true }
    /// [`Tag`].
    Tag { name: "tag", has_base64: true, ends_with_nul: true }
    /// [`Hashdeep`].
    Hashdeep {
        name: "hashdeep",
        has_header: true,
        algorithms: &[Algorithm::Md5, Algorithm::Sha256],
        has_sizes: true,
    }
    /// [`Md5deep`].
    Md5deep { name: "md5deep", has_sizes: true }
    /// [`BagIt`].
    BagIt { name: "bagit", algorithms: &[Algorithm::Sha512] }
    /// [`Sfv`].
    Sfv { name: "sfv", algorithms: &[Algorithm::Crc32] }
    /// [`Csv`].
    Csv { name: "csv", has_header: true, has_sizes: true, has_times: true, has_base64: true }
    /// [`Csv`] with tabs.
    Tsv { name: "tsv", has_header: true, has_sizes: true, has_times: true, has_base64: true }
    /// [`Json`] as one array.
    Json { name: "json", has_sizes: true, has_times: true, has_base64: true }
    /// [`Json`] with one object per line.
    JsonLines { name: "jsonl", has_sizes: true, has_times: true, has_base64: true }
    /// [`Wheel`].
    Wheel { name: "wheel", algorithms: &[Algorithm::Sha256], has_sizes: true }
    /// [`Mtree`].
    Mtree { name: "mtree", algorithms: &[Algorithm::Sha256], has_sizes: true, has_times: true }
    /// [`AscMhl`].
    AscMhl { name: "asc-mhl", algorithms: &[Algorithm::Xxh64], has_sizes: true, has_times: true }
    /// [`S3`], which can only be read.
    S3 { name: "s3", is_written: false }
    /// [`S3cmd`], which can only be read.
    S3cmd { name: "s3cmd", is_written: false }
    /// [`Debian`], which can only be read.
    Debian { name: "debian", is_written: false }
    /// [`Gpg`], which can only be read.
    Gpg { name: "gpg", is_written: false }
    /// [`Irods`], which can only be read.
    Irods { name: "irods", is_written: false }
    /// [`Xml`], which can only be read.
    Xml { name: "xml", is_written: false }
    /// [`LfsList`], which can only be read.
    LfsList { name: "git-lfs", is_written: false }
    /// [`LfsPointer`], which can only be read.
    LfsPointer { name: "lfs-pointer", is_written: false }
    /// [`Inventory`], which can only be read.
    Inventory { name: "s3-inventory", is_written: false }
}

/// The settings to write a list with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Layout {
    /// The algorithms of the records.
    pub algorithms: Algorithms,
    /// Whether to write sizes, if the format allows lists without them.
    pub size: bool,
    /// Whether to write modification times, if the format supports them.
    pub modified: bool,
    /// The line ending, and whether digests are in base64.
    pub dialect: Dialect,
    /// The call to record in the comments of a hashdeep list, if any.
    pub invocation: Option<Invocation>,
    /// When and where an ASC MHL list is made, which such a list must say.
    pub creation: Option<Creation>,
}

impl Layout {
    /// Makes a layout with sizes and times, in the dialect [`Dialect::any`].
    #[must_use]
    pub fn new(algorithms: Algorithms) -> Self {
        let dialect = Dialect::any();
        Self { algorithms, size: true, modified: true, dialect, invocation: None, creation: None }
    }
}

/// The error for a name that is not a format.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown format '{0}'")]
pub struct UnknownKind(String);

impl Kind {
    const fn description(self) -> &'static Description {
        &TABLE[self as usize]
    }

    /// Returns the name, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.description().name
    }

    /// Returns whether the format can be written.
    #[must_use]
    pub const fn is_written(self) -> bool {
        self.description().is_written
    }

    /// Whether the columns must be known before the first record.
    #[must_use]
    pub const fn has_header(self) -> bool {
        self.description().has_header
    }

    /// Returns whether written lists can have the sizes of files.
    #[must_use]
    pub const fn has_sizes(self) -> bool {
        self.description().has_sizes
    }

    /// Returns whether written lists can have modification times.
    #[must_use]
    pub const fn has_times(self) -> bool {
        self.description().has_times
    }

    /// Returns the default algorithms of a list: those that the programs of the format use, or MD5.
    #[must_use]
    pub fn algorithms(self) -> Algorithms {
        self.description().algorithms.iter().copied().collect()
    }

    /// Returns the format to read a list with.
    #[must_use]
    pub fn reader(self, dialect: Dialect) -> Box<dyn Format> {
        match self {
            Self::Gnu => Box::new(Gnu::new(dialect)),
            Self::Tag => Box::new(Tag::new(dialect)),
            Self::Hashdeep => Box::new(Hashdeep::new(dialect)),
            Self::Md5deep => Box::new(Md5deep::new(dialect)),
            Self::BagIt => Box::new(BagIt::new(dialect)),
            Self::Sfv => Box::new(Sfv::new(dialect)),
            Self::Csv | Self::Tsv => Box::new(Csv::new(dialect)),
            Self::Json | Self::JsonLines => Box::new(Json::lines(dialect)),
            Self::Wheel => Box::new(Wheel::new(dialect)),
            Self::Mtree => Box::new(Mtree::new(dialect)),
            Self::AscMhl => Box::new(AscMhl::new(dialect)),
            Self::S3 => Box::new(S3::new(dialect)),
            Self::S3cmd => Box::new(S3cmd::new(dialect)),
            Self::Debian => Box::new(Debian::new(dialect)),
            Self::Gpg => Box::new(Gpg::new(dialect)),
            Self::Irods => Box::new(Irods::new(dialect)),
            Self::Xml => Box::new(Xml::new(dialect)),
            Self::LfsList => Box::new(LfsList::new(dialect)),
            Self::LfsPointer => Box::new(LfsPointer::new(dialect)),
            Self::Inventory => Box::new(Inventory::new(dialect)),
        }
    }

    /// Returns the format to write a list with.
    ///
    /// # Errors
    ///
    /// Fails if the format does not support the layout.
    pub fn writer(self, layout: &Layout) -> Result<Box<dyn Format>, CannotHold> {
        let Layout { algorithms, size, modified, dialect, .. } = *layout;
        let Description { has_base64, ends_with_nul, .. } = *self.description();
        if dialect.writes_base64 && !has_base64 {
            return Err(CannotHold::Base64(self.name()));
        }
        if dialect.ending() == Ending::Nul && !ends_with_nul {
            return Err(CannotHold::NulEnding(self.name()));
        }
        let format: Box<dyn Format> = match self {
            Self::Csv => Box::new(Csv::new(dialect).writing(algorithms, size, modified)),
            Self::Tsv => {
                Box::new(Csv::new(dialect).with_tabs().writing(algorithms, size, modified))
            }
            Self::Mtree => Box::new(Mtree::new(dialect).writing(modified)),
            Self::AscMhl => {
                let creation = layout.creation.clone();
                Box::new(AscMhl::new(dialect).writing(size, modified, creation))
            }
            Self::Json => Box::new(Json::array(dialect).writing(size, modified)),
            Self::JsonLines => Box::new(Json::lines(dialect).writing(size, modified)),
            Self::Hashdeep => {
                let invocation = layout.invocation.clone();
                Box::new(Hashdeep::new(dialect).writing(algorithms, invocation))
            }
            _ => self.reader(dialect),
        };
        format.can_hold(algorithms)?;
        Ok(format)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        let is_called = |kind: &Self| kind.name().eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(is_called).ok_or_else(|| UnknownKind(name.to_owned()))
    }
}

/// Detects the format of a list from its first bytes, which may be cut anywhere. Returns `None` if
/// the format is unknown. Read such a list with [`Mixed`], which detects the form of each line.
///
/// A table with an unknown header is detected as [`Csv`], which reports what the header must
/// contain.
///
/// Manifests of BagIt look like lines of md5sum and are detected as such.
///
/// ```
/// use lanesum_list::formats::{Format, recognise};
/// use lanesum_list::Dialect;
///
/// assert!(recognise(b"path,md5\r\n", Dialect::any()).is_some());
/// assert!(recognise(b"nothing\n", Dialect::any()).is_none());
/// ```
#[must_use]
pub fn recognise(head: &[u8], dialect: Dialect) -> Option<Box<dyn Format>> {
    let mixed = || Box::new(Mixed::new(dialect)) as Box<dyn Format>;
    if dialect.ending() == Ending::Nul {
        return Some(mixed()).filter(|it| it.detect(head));
    }
    let formats = SPECIFIC.map(|kind| kind.reader(dialect)).into_iter().chain([mixed()]);
    let mut formats = formats.chain(OTHERS.map(|kind| kind.reader(dialect)));
    let found = formats.find(|format| format.detect(head));
    found.or_else(|| {
        Csv::is_almost(dialect, head.trim_ascii_end()).then(|| Kind::Csv.reader(dialect))
    })
}

/// The most specific formats: a line of md5deep may look like one with a checksum that has as many
/// digits as the size, and a row of a wheel starts with the name.
const SPECIFIC: [Kind; 11] = [
    Kind::Xml,
    Kind::Hashdeep,
    Kind::Md5deep,
    Kind::Wheel,
    Kind::LfsList,
    Kind::LfsPointer,
    Kind::Mtree,
    Kind::S3cmd,
    Kind::Debian,
    Kind::Gpg,
    Kind::Irods,
];

/// The formats after [`Mixed`]: a line of SFV starts with the name, which can look like any format.
const OTHERS: [Kind; 4] = [Kind::Sfv, Kind::JsonLines, Kind::Csv, Kind::Inventory];

/// Returns the format of a list, unless it has lines of [`Mixed`].
pub(super) fn detected(head: &[u8], dialect: Dialect) -> Option<Kind> {
    let mut kinds = SPECIFIC.into_iter().chain(OTHERS);
    kinds.find(|kind| kind.reader(dialect).detect(head))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Digest, Record};

    #[test]
    fn names_parse_back() {
        for kind in Kind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(kind.to_string().to_uppercase().parse(), Ok(kind));
        }
        assert!("zip".parse::<Kind>().is_err());
    }

    #[test]
    fn unsupported_layouts_are_refused_before_writing() {
        for kind in Kind::ALL {
            let layout = Layout::new(kind.algorithms());
            assert_eq!(kind.writer(&layout).is_ok(), kind.is_written(), "{kind}");
        }
        let blake3 = Layout::new(Algorithm::Blake3.into());
        for (kind, can) in
            [(Kind::Sfv, false), (Kind::Hashdeep, false), (Kind::Md5deep, false), (Kind::Csv, true)]
        {
            assert_eq!(kind.writer(&blake3).is_ok(), can, "{kind}");
        }
        let several = Layout::new(Kind::Hashdeep.algorithms());
        for kind in [Kind::Gnu, Kind::BagIt, Kind::Md5deep] {
            let name = kind.name();
            assert_eq!(kind.writer(&several).map(drop), Err(CannotHold::NotOne(name)));
        }
    }

    /// Writing is refused, or the list has all requested values.
    #[test]
    fn base64_and_nul_are_refused_or_written() {
        let md5 = Digest::from_hex(Algorithm::Md5, b"900150983cd24fb0d6963f7d28e17f72").unwrap();
        let record = Record { size: Some(3), ..Record::new("name").with(md5) };
        for (dialect, wanted, kinds) in [
            (Dialect::any().with_ending(Ending::Nul), "\0", &[Kind::Gnu, Kind::Tag][..]),
            (
                Dialect::any().in_base64(),
                "kAFQmDzST7DWlj99KOF/cg==",
                &[Kind::Gnu, Kind::Tag, Kind::Csv, Kind::Tsv, Kind::Json, Kind::JsonLines],
            ),
        ] {
            let mut layout = Layout::new(Algorithm::Md5.into());
            layout.dialect = dialect;
            for kind in Kind::ALL {
                let Ok(format) = kind.writer(&layout) else {
                    assert!(!kinds.contains(&kind), "{kind}");
                    continue;
                };
                let mut list = Vec::new();
                format.record(&mut list, &record).unwrap();
                let list = String::from_utf8(list).unwrap();
                assert!(list.contains(wanted), "{kind}: {list}");
            }
        }
    }

    #[test]
    fn formats_are_detected_by_their_start() {
        let md5 = "900150983cd24fb0d6963f7d28e17f72";
        for (head, format) in [
            ("%%%% HASHDEEP-1.0\n".to_owned(), "Hashdeep"),
            ("%%%% HASH".to_owned(), "Hashdeep"),
            (format!("         3  {md5}  a\n"), "Md5deep"),
            (format!("\n# of today\n{md5}  a\n"), "Mixed"),
            (format!("MD5 (a) = {md5}\n"), "Mixed"),
            ("a 352441C2\n".to_owned(), "Sfv"),
            ("\r\n; comment\n".to_owned(), "Sfv"),
            ("\npath,md5\n".to_owned(), "Csv"),
            ("path;md5\n".to_owned(), "Csv"),
            ("path\tmd5\n".to_owned(), "Csv"),
            (format!("a,md5={md5},3\n"), "Wheel"),
            (format!("\"b\",\"a\",\"3\",\"{md5}\"\n"), "Inventory"),
            ("{\"path\":".to_owned(), "Json"),
            ("[\n{".to_owned(), "Json"),
        ] {
            let found = recognise(head.as_bytes(), Dialect::any());
            assert!(
                format!("{found:?}").starts_with(&format!("Some({format} ")),
                "{head} {found:?}"
            );
        }
        for none in ["", "\n", "readme\n", "%%%%x\n"] {
            assert!(recognise(none.as_bytes(), Dialect::any()).is_none(), "{none}");
        }
    }
}
