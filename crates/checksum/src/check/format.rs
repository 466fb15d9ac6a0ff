//! The format that a list is read in, and where its files are.

use std::path::{Path, PathBuf};

use lanesum_list::formats::{BagIt, Format, Kind, Mixed, S3, recognise};
use lanesum_list::{Algorithm, Dialect};

use super::{List, Options, Recognition};

/// How a list is read.
#[derive(Debug)]
#[non_exhaustive]
pub struct FormatOfList {
    /// Its format, with nothing read yet.
    pub format: Box<dyn Format>,
    /// The directory that its names are in, where that is told by where the list is: a manifest of
    /// BagIt, and any with [`Options::beside`]. What stands in a list may tell as well,
    /// [`Format::folder`].
    pub folder: Option<PathBuf>,
}

impl From<Box<dyn Format>> for FormatOfList {
    fn from(format: Box<dyn Format>) -> Self {
        Self { format, folder: None }
    }
}

impl FormatOfList {
    /// That of a list that begins with these bytes: the one that the options say, or the one that
    /// its start or its name tells. Looks for the `bagit.txt` beside a list that is called as a
    /// manifest is.
    ///
    /// ```
    /// use lanesum_checksum::check::{FormatOfList, List, Options};
    ///
    /// let list = List::Path("sums.csv".into());
    /// let csv = FormatOfList::new(&list, b"path,md5\r\n", &Options::default());
    /// assert!(!csv.format.is_of_lines());
    /// ```
    #[must_use]
    pub fn new(list: &List, head: &[u8], options: &Options) -> Self {
        let of_list = of_list(list, head, options);
        match list {
            List::Path(path) if options.beside => {
                // The current directory, too, is one that counts, and not what the list says.
                Self { folder: path.parent().map(Path::to_owned), ..of_list }
            }
            _ => of_list,
        }
    }
}

fn of_list(list: &List, head: &[u8], options: &Options) -> FormatOfList {
    let dialect = options.dialect;
    let manifest = Manifest::of(list);
    let of_s3 = || {
        let s3 = S3::new(dialect);
        Box::new(match &options.name {
            Some(name) => s3.named(name),
            None => s3,
        })
    };
    match (options.recognition, options.from) {
        (Recognition::Gnu, _) => {
            FormatOfList::from(Box::new(Mixed::new(dialect)) as Box<dyn Format>)
        }
        (_, Some(Kind::S3)) => FormatOfList::from(of_s3() as Box<dyn Format>),
        (_, Some(Kind::BagIt)) => match manifest {
            Some(manifest) => manifest.format(dialect),
            None => Kind::BagIt.reader(dialect).into(),
        },
        (_, Some(kind)) => kind.reader(dialect).into(),
        (_, None) => match manifest.filter(Manifest::is_in_a_bag) {
            Some(manifest) => manifest.format(dialect),
            None => match recognise(head, dialect) {
                // What `--name` is for is no list of ours.
                Some(json) if options.name.is_some() && Kind::S3.reader(dialect).detect(head) => {
                    drop(json);
                    FormatOfList::from(of_s3() as Box<dyn Format>)
                }
                found => found.unwrap_or_else(|| Box::new(Mixed::new(dialect).with_sizes())).into(),
            },
        },
    }
}

/// A list that is called as the manifests of a bag are.
struct Manifest<'a> {
    folder: &'a Path,
    algorithm: Option<Algorithm>,
}

impl<'a> Manifest<'a> {
    fn of(list: &'a List) -> Option<Self> {
        let List::Path(path) = list else { return None };
        let name = path.file_name()?.to_str()?;
        let name = name.strip_prefix("tag").unwrap_or(name);
        let algorithm = name.strip_prefix("manifest-")?.strip_suffix(".txt")?;
        Some(Self { folder: path.parent()?, algorithm: algorithm.parse().ok() })
    }

    /// Whether the declaration stands beside it that every bag has.
    fn is_in_a_bag(&self) -> bool {
        self.folder.join("bagit.txt").is_file()
    }

    fn format(self, dialect: Dialect) -> FormatOfList {
        let dialect = match self.algorithm {
            Some(algorithm) => dialect.with_untagged(algorithm),
            None => dialect,
        };
        let folder = (!self.folder.as_os_str().is_empty()).then(|| self.folder.to_owned());
        FormatOfList { format: Box::new(BagIt::new(dialect)), folder }
    }
}
