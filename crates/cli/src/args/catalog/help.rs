//! Help texts of the commands on the catalog, most of which follow the options.

use clap::Arg;

/// A help text: examples, then the exit codes.
macro_rules! help {
    ($examples:literal) => {
        concat!("Examples:\n", $examples, "\n", exit_codes!())
    };
}

macro_rules! exit_codes {
    () => {
        "Exit codes:
  0  nothing needs attention
  1  damaged or missing files, I/O errors, or a hardware warning
  2  could not run: wrong usage, no catalog, or the catalog is in use
  3  incomplete: some files that should be checked were not
  4  the catalog itself is damaged, or the file is not a catalog
If several apply, the code is the first of these: 4, 1, 3, 2.
"
    };
}

/// Replaces the help of an option that has an effect on `nightly` only with --json.
pub fn quiet_of_nightly(option: Arg) -> Arg {
    const HELP: &str = "With --json, summarize only directories with problems";
    option
        .help(HELP)
        .long_help(format!("{HELP}.\n\nWithout --json, `nightly` never prints other summaries."))
}

pub const EXIT_CODES: &str = exit_codes!();

pub const CATALOG: &str = "Check, copy, import or export the catalog itself.

The catalog is one file. It records the size, modification time, digests and last verification of \
each file. `lanesum add DIR` starts it, `lanesum nightly` keeps it up to date, and `lanesum status` \
shows what needs attention.

A file has one of eight classes:
  ok         its content is as recorded
  edited     its modification time changed, or it was written within seconds of
             the last read; `update` records it
  new        it is not recorded; `update` records it
  moved      it was moved or renamed; `update` records it
  missing    it does not exist any longer; restore it, or `forget` it
  damaged    its content or size changed and its modification time did not;
             restore it from a backup, or `accept` it
  unchecked  it could not be verified: it is unreadable, being written, overdue
             or hidden by a mounted file system; the next run tries again
  offline    its directory is missing, empty, unreadable or not the recorded one,
             or too many files are missing; connect the disk, or `relocate` it

In a directory that was added with `--profile working`, a missing file is a normal change, like an edit.";

pub const ADD: &str = help!(
    "  lanesum add ~/photos
  lanesum add --profile working --exclude '*.o' ~/src
  lanesum add --every 30d --limit 80M --between 1:00-6:00 /srv/archive
  lanesum add --dry-run /srv/archive
"
);

pub const SCAN: &str = help!(
    "  lanesum scan
  lanesum scan --changes ~/photos
"
);

pub const UPDATE: &str = help!(
    "  lanesum update
  lanesum update --max-gone 100 ~/photos
"
);

pub const VERIFY: &str = help!(
    "  lanesum verify
  lanesum verify ~/photos/2024 ~/photos/cover.jpg
"
);

pub const SCRUB: &str = help!(
    "  lanesum scrub
  lanesum scrub --percent 8 --max-time 2h
  lanesum scrub --bad ~/photos
"
);

pub const NIGHTLY: &str = help!(
    "  lanesum nightly
  lanesum nightly --json /srv/archive
"
);

pub const SERVE: &str = help!(
    "  lanesum serve
  lanesum serve --on-finding 'logger \"$LANESUM_CLASS $LANESUM_PATH\"'
"
);

pub const PAUSE: &str = help!(
    "  lanesum pause
  lanesum pause ~/photos
"
);

pub const RESUME: &str = help!(
    "  lanesum resume
  lanesum resume ~/photos
"
);

pub const LIMIT: &str = help!(
    "  lanesum limit
  lanesum limit --limit 80M --between 1:00-6:00 ~/photos
  lanesum limit --limit none --between any
"
);

pub const STATUS: &str = help!(
    "  lanesum status
  lanesum status --max-age 2d --json
  lanesum status --nagios
  lanesum status --prometheus /var/lib/node_exporter/lanesum.prom
"
);

pub const REPORT: &str = help!(
    "  lanesum report
  lanesum report --html --since 1y /srv/archive >report.html
  lanesum report --deleted ~/src
"
);

pub const ACCEPT: &str = help!(
    "  lanesum accept ~/photos/cover.jpg
  lanesum accept ~/photos/2024
"
);

pub const FORGET: &str = help!(
    "  lanesum forget ~/photos/cover.jpg
  lanesum forget --missing ~/photos
"
);

pub const RELOCATE: &str = help!(
    "  lanesum relocate /srv/photos /mnt/photos
  lanesum relocate /srv/photos /srv/photos
"
);

pub const CHECK: &str = help!(
    "  lanesum catalog check
"
);

pub const BACKUP: &str = help!(
    "  lanesum catalog backup /mnt/usb/catalog.db
"
);

pub const IMPORT: &str = help!(
    "  lanesum catalog import --add ~/photos SHA256SUMS
  lanesum catalog import --beside ~/photos/*/files.md5
"
);

pub const EXPORT: &str = help!(
    "  lanesum catalog export ~/photos >photos.md5
  lanesum catalog export --format csv --relative ~/photos >photos.csv
"
);
