//! `lanesum status --prometheus FILE`: metrics for the textfile collector of node_exporter.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use lanesum_catalog::{Attention, CatalogError, Class, RootStatus};

use super::standing::{Standing, of_class};

/// Writes the metrics to a temporary file, and renames it, so that no reader sees a part.
///
/// # Errors
/// Errors of the system.
pub fn write(path: &Path, standing: &Standing) -> Result<(), CatalogError> {
    let written = (|| -> io::Result<()> {
        // Renaming over a device or a pipe would replace it.
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err(io::Error::other("not a regular file"));
        }
        let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
        // Other errors of `tempfile` name the temporary file.
        let create = |path: &Path| File::options().write(true).create_new(true).open(path);
        let directory = directory.unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new().make_in(directory, create)?;
        file.write_all(metrics(standing).as_bytes())?;
        // The collector runs as a different user.
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644))?;
        file.persist(path)?;
        Ok(())
    })();
    written.map_err(|error| CatalogError::Io { path: path.to_owned(), error })
}

/// A metric of each root: its name, its help, and its value if there is one.
type Metric = (&'static str, &'static str, fn(&RootStatus) -> Option<i64>);

const METRICS: [Metric; 8] = [
    ("lanesum_bytes", "Bytes of recorded files.", |it| Some(it.root.bytes)),
    (
        "lanesum_oldest_verification_seconds",
        "Unix time of the oldest verification of a file.",
        |it| it.oldest,
    ),
    ("lanesum_overdue_files", "Files whose verification is overdue.", |it| {
        Some(it.overdue.cast_signed())
    }),
    ("lanesum_due_files", "Files that are due now.", |it| Some(it.due.cast_signed())),
    ("lanesum_last_run_seconds", "Unix time at which the last run ended.", |it| {
        it.last.as_ref()?.ended
    }),
    ("lanesum_offline", "1 if the directory was offline at the last run.", |it| {
        Some(it.root.offline.is_some().into())
    }),
    ("lanesum_paused", "1 if scrubs are paused.", |it| {
        Some(it.root.steering.paused.is_some().into())
    }),
    (
        "lanesum_attention",
        "0 nothing, 1 changes, 2 incomplete, 3 damaged or missing files.",
        |it| {
            Some(match it.attention() {
                Attention::Nothing => 0,
                Attention::Changes => 1,
                Attention::Incomplete => 2,
                Attention::Problem => 3,
            })
        },
    ),
];

/// Classes of files, each a time series.
const CLASSES: [Class; 7] = [
    Class::Ok,
    Class::Edited,
    Class::New,
    Class::Moved,
    Class::Missing,
    Class::Damaged,
    Class::Unchecked,
];

fn metrics(standing: &Standing) -> String {
    let mut text = String::new();
    begin(&mut text, "lanesum_files", "Files by class.");
    for it in &standing.roots {
        let root = label(&it.root.path);
        for class in CLASSES {
            let count = if class == Class::New { it.new } else { of_class(it, class) };
            // Writing to a string does not fail.
            let _ = writeln!(text, "lanesum_files{{root=\"{root}\",class=\"{class}\"}} {count}");
        }
    }
    for (name, help, value) in METRICS {
        begin(&mut text, name, help);
        for it in &standing.roots {
            if let Some(value) = value(it) {
                let _ = writeln!(text, "{name}{{root=\"{}\"}} {value}", label(&it.root.path));
            }
        }
    }
    text
}

fn begin(text: &mut String, name: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
}

/// A path as the value of a label.
fn label(path: &Path) -> String {
    let text = path.to_string_lossy();
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        assert_eq!(label(Path::new("/a\"b\\c\nd")), "/a\\\"b\\\\c\\nd");
    }
}
