//! The format of a list, and the directory of its files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use lanesum_list::formats::{
    BagIt, Format, Kind, LfsPointer, Mixed, S3, Side, recognise, side_file,
};
use lanesum_list::{Algorithm, Dialect, algorithms_called};

use super::{List, Options, Recognition};

/// How to read a list.
#[derive(Debug)]
#[non_exhaustive]
pub struct FormatOfList {
    /// The format, before the first line.
    pub format: Box<dyn Format>,
    /// The directory of the names, if it depends on the place of the list, as in BagIt
    /// manifests, and for all lists with [`Options::beside`]. The list itself may also name a
    /// directory, see [`Format::folder`].
    pub folder: Option<PathBuf>,
}

impl From<Box<dyn Format>> for FormatOfList {
    fn from(format: Box<dyn Format>) -> Self {
        Self { format, folder: None }
    }
}

impl FormatOfList {
    /// Determines the format of a list from the options, its first bytes or its name. For a list
    /// with the name of a manifest it looks for a `bagit.txt` next to it.
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
                // The current directory also has precedence over the directory in the list.
                Self { folder: path.parent().map(Path::to_owned), ..of_list }
            }
            _ => of_list,
        }
    }
}

fn of_list(list: &List, head: &[u8], options: &Options) -> FormatOfList {
    let dialect = dialect(list, options);
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
                // Lists for `--name` are not written by lanesum.
                Some(json) if options.name.is_some() && Kind::S3.reader(dialect).detect(head) => {
                    drop(json);
                    FormatOfList::from(of_s3() as Box<dyn Format>)
                }
                Some(_)
                    if options.name.is_some() && Kind::LfsPointer.reader(dialect).detect(head) =>
                {
                    let name = options.name.as_deref().unwrap_or_default();
                    let pointer = LfsPointer::new(dialect).named(name);
                    FormatOfList::from(Box::new(pointer) as Box<dyn Format>)
                }
                Some(format) if in_its_folder(list).is_some() => {
                    FormatOfList { format, folder: in_its_folder(list) }
                }
                found => match side(list, head, found.as_deref(), dialect, options) {
                    Some(side) => FormatOfList::from(Box::new(side) as Box<dyn Format>),
                    None => found.unwrap_or_else(|| Box::new(Mixed::new(dialect))).into(),
                },
            },
        },
    }
}

/// Returns the dialect in which untagged lines have the algorithm that the name of the list says.
fn dialect(list: &List, options: &Options) -> Dialect {
    let (List::Path(path), Recognition::Examined) = (list, options.recognition) else {
        return options.dialect;
    };
    let called = algorithms_called(path.as_os_str().as_bytes());
    called.iter().fold(options.dialect, Dialect::preferring)
}

/// Returns the directory of the names if the list is in a directory of its own below it: RECORD of
/// an installed Python package, or ASC MHL.
fn in_its_folder(list: &List) -> Option<PathBuf> {
    let List::Path(path) = list else { return None };
    let folder = path.parent()?;
    let has_extension = |path: &Path, extension| path.extension().is_some_and(|it| it == extension);
    let is_record = path.ends_with("RECORD") && has_extension(folder, "dist-info");
    let is_mhl = has_extension(path, "mhl") && folder.ends_with("ascmhl");
    folder.parent().filter(|_| is_record || is_mhl).map(Path::to_owned)
}

/// Returns the format of a side file: a digest without a name or, with [`Options::side_files`], any
/// lines. `found` is the format that the list was recognized as.
fn side(
    list: &List,
    head: &[u8],
    found: Option<&dyn Format>,
    dialect: Dialect,
    options: &Options,
) -> Option<Side> {
    let List::Path(path) = list else { return None };
    let (name, algorithm) = side_file(path.as_os_str().as_bytes())?;
    let is_looked_up_elsewhere = options.beside || options.root.is_some();
    let name = match Path::new(OsStr::from_bytes(name)).file_name() {
        Some(name) if is_looked_up_elsewhere => name.as_bytes(),
        _ => name,
    };
    let side = Side::new(dialect.preferring(algorithm), name);
    let is_of_lines = options.side_files && found.is_none_or(Format::is_of_lines);
    (is_of_lines || side.detect(head)).then_some(side)
}

/// A list with the name of a manifest of a bag.
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
        Some(Self { folder: path.parent()?, algorithm: Algorithm::called(algorithm) })
    }

    /// Returns whether `bagit.txt`, which every bag has, is next to the list.
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
