//! The arguments of the verbs that stand on the catalog.

#[cfg(feature = "page")]
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, Subcommand, ValueHint};
use lanesum_catalog::{Change, Window};
use lanesum_checksum::Algorithm;
use lanesum_list::formats::Kind;

use super::values::{algorithms, formats, keyless_algorithms, threads};
use super::{CHECK_CODES, COPY_CODES, EXPORT_CODES, IMPORT_CODES, Run};

/// Which catalog.
#[derive(Debug, Args)]
pub struct Where {
    /// The catalog's file.
    ///
    /// Else that of LANESUM_CATALOG, else catalog.db in $XDG_STATE_HOME/lanesum; of root in
    /// /var/lib/lanesum. Better not on the disk that the files are on.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub catalog: Option<PathBuf>,
}

/// How a folder is scrubbed.
#[derive(Debug, Args)]
pub struct Manners {
    /// Read every file once in so long: 90d, 12w.
    #[arg(long, value_name = "TIME", value_parser = days, allow_hyphen_values = true)]
    pub every: Option<u32>,

    /// Scrub no more bytes in a second: 80M; none takes the limit away.
    #[arg(long, value_name = "BYTES", value_parser = rate, allow_hyphen_values = true)]
    pub limit: Option<Rate>,

    /// Scrub in these hours of the day only: 1:00-6:00, 22:00-6:00; any takes them away.
    #[arg(long, value_name = "HOURS", value_parser = hours)]
    pub between: Option<Hours>,
}

impl Manners {
    /// What is to be another.
    pub fn change(&self) -> Change {
        let mut change = Change::default();
        change.every_days = self.every;
        change.rate = self.limit.map(|limit| limit.0);
        change.window = self.between.map(|between| between.0);
        change
    }
}

/// Bytes a second, or no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(Option<u64>);

/// Hours of the day, or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours(Option<Window>);

fn rate(text: &str) -> Result<Rate, String> {
    match text {
        "none" => Ok(Rate(None)),
        // Who says 80 means megabytes, as a rule.
        text if text.parse().is_ok_and(|rate: u64| (1..1000).contains(&rate)) => Err(format!(
            "a number with a unit is wanted: {text}M, or {text}B if it is so few bytes"
        )),
        text => match bytes(text.strip_suffix("/s").unwrap_or(text))? {
            0 => Err("at least a byte a second is wanted; `lanesum pause` stops it".to_owned()),
            rate => Ok(Rate(Some(rate))),
        },
    }
}

fn hours(text: &str) -> Result<Hours, String> {
    if text == "any" {
        return Ok(Hours(None));
    }
    // A day ends where the next one begins.
    let begins_a_day = text.strip_prefix("24:00-").map(|end| format!("0:00-{end}"));
    begins_a_day.as_deref().unwrap_or(text).parse().map(|hours| Hours(Some(hours)))
}

/// Some of the folders that were added.
#[derive(Debug, Args)]
pub struct Steer {
    #[command(flatten)]
    pub place: Where,

    /// Folders that were added; all by default.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folders: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// Run a command of the shell once for each finding that is damage, a missing file or a
    /// suspended folder.
    ///
    /// It gets LANESUM_CLASS, LANESUM_PATH, LANESUM_ROOT and LANESUM_JSON, and a minute.
    #[arg(long, value_name = "CMD")]
    pub on_finding: Option<String>,

    /// Run a command of the shell once a day, and once after each start, when all was read that was
    /// to be, whatever was found.
    ///
    /// Not while a folder is paused or suspended, or a file could not be read: whoever waits for it
    /// then knows.
    #[arg(long, value_name = "CMD")]
    pub heartbeat: Option<String>,

    /// Write the time into a file then.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub heartbeat_file: Option<PathBuf>,

    /// Threads; by default one for each CPU.
    #[arg(short, long = "threads", value_name = "N", value_parser = threads)]
    pub jobs: Option<usize>,

    #[command(flatten)]
    pub place: Where,

    #[cfg(feature = "page")]
    #[command(flatten)]
    pub page: Page,
}

/// Where the page is, and who may see it.
#[cfg(feature = "page")]
#[derive(Debug, Args)]
#[command(next_help_heading = "Page")]
pub struct Page {
    /// Show a page of the catalog to browsers at this address: 8417, 127.0.0.1:8417 (the default).
    ///
    /// It tells a code to log in with, which is good once. It speaks no TLS.
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        default_missing_value = "127.0.0.1:8417",
        value_parser = address
    )]
    pub listen: Option<SocketAddr>,

    /// Show it at a socket of the file system, which none but this user can connect to.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "listen")]
    pub socket: Option<PathBuf>,

    /// A name that browsers call the page by, beside localhost and its addresses: nas.example,
    /// or nas.example:8443 where a proxy is before it. Other names are refused. It opens no other
    /// address: that is --listen's.
    #[arg(long, value_name = "NAME", value_parser = host)]
    pub host: Vec<String>,

    /// Log in with what this file holds, in place of codes. Only its owner may read it. An address
    /// that other machines reach needs it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
}

/// An address with its port, or a port of this machine alone.
#[cfg(feature = "page")]
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    match port.parse() {
        Ok(port) => Ok((Ipv4Addr::LOCALHOST, port).into()),
        Err(_) => text.parse().map_err(|_| {
            "an address with a port is wanted: 127.0.0.1:8417, [::1]:8417, or 8417".to_owned()
        }),
    }
}

/// A name as a browser says it.
#[cfg(feature = "page")]
fn host(text: &str) -> Result<String, String> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_name) {
        Ok(text.to_owned())
    } else {
        Err("a name is wanted, without http:// and path: nas.example, or nas.example:8443"
            .to_owned())
    }
}

#[derive(Debug, Args)]
pub struct Limit {
    #[command(flatten)]
    pub manners: Manners,

    #[command(flatten)]
    pub steer: Steer,
}

#[derive(Debug, Args)]
pub struct Add {
    #[command(flatten)]
    pub manners: Manners,

    /// Algorithms, all computed in one read; md5 by default.
    ///
    /// What a folder gets later comes to each file when it is next read, beside the digests that it
    /// has.
    #[arg(
        short,
        long = "algorithm",
        value_name = "ALG",
        value_delimiter = ',',
        value_parser = keyless_algorithms(),
        ignore_case = true,
        action = ArgAction::Append
    )]
    pub algorithm: Vec<Algorithm>,

    /// Leave the folder alone when more than so many in a hundred of its files, and than 100, are
    /// gone; 10 by default, 100 lets everything go.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub max_gone: Option<u32>,

    #[command(flatten)]
    pub told: Told,

    /// Folders. What is mounted in one is not part of it, and is to be added by itself.
    #[arg(value_name = "DIR", required = true, value_hint = ValueHint::DirPath)]
    pub folders: Vec<PathBuf>,
}

/// What all verbs that look at files have.
#[derive(Debug, Args)]
pub struct Told {
    /// Print a JSON object a line: a finding each, and a summary of each folder behind its own.
    #[arg(long)]
    pub json: bool,

    /// Say nothing of a folder where all was done and all is as cataloged: for cron, which mails
    /// what is said.
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub place: Where,

    #[command(flatten)]
    pub run: Run,
}

#[derive(Debug, Args)]
pub struct Update {
    /// As of `add`, this once.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub max_gone: Option<u32>,

    #[command(flatten)]
    pub told: Told,

    /// Folders that were added; all by default.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folders: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Audit {
    /// Read everything, also what looks as it was: only that finds rot in it before its turn.
    #[arg(long)]
    pub all: bool,

    /// Read nothing: names, sizes and times alone. What looks otherwise is not all done.
    #[arg(long, conflicts_with = "all")]
    pub quick: bool,

    /// As of `add`, this once.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub max_gone: Option<u32>,

    #[command(flatten)]
    pub told: Told,

    /// Folders that were added; all by default.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folders: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Scrub {
    /// Read so many in a hundred of the files, those that were checked longest ago.
    #[arg(long, value_name = "N", value_parser = percent)]
    pub percent: Option<f64>,

    /// Read what was not checked for so long: 10d, 4w.
    #[arg(long, value_name = "TIME", value_parser = days)]
    pub older_than: Option<u32>,

    /// Read what is not well.
    #[arg(long)]
    pub bad: bool,

    /// Read what was not read again since it was cataloged.
    #[arg(long)]
    pub new: bool,

    /// Stop after so long: 90s, 30m, 2h, 1d.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub max_time: Option<Duration>,

    /// Stop after so many bytes of each folder: 500M, 20G, 1T. The file that is being read, or of a
    /// long one the stretch of 128 MiB, is read to its end.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_bytes: Option<u64>,

    /// Read now, whatever the hours of the folder.
    #[arg(long)]
    pub now: bool,

    #[command(flatten)]
    pub told: Told,

    /// Folders that were added; all by default.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folders: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Status {
    /// Print a JSON object a line, for each folder.
    #[arg(long)]
    pub json: bool,

    /// Print nothing where the exit code is 0: for cron, which mails what is printed.
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub of: Steer,
}

#[derive(Debug, Args)]
pub struct Report {
    /// A mail: its subject, what is not well and what to do, what was found (the default).
    #[arg(long, conflicts_with_all = ["csv", "json", "html"])]
    pub text: bool,

    /// A page, all in one file, that runs and fetches nothing.
    #[arg(long, conflicts_with_all = ["csv", "json"])]
    pub html: bool,

    /// Rows of time, class, path, other path, files, before and after; with --bad also when each
    /// was good last.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,

    /// A JSON object a line.
    #[arg(long)]
    pub json: bool,

    /// Only what is not well now.
    #[arg(long)]
    pub bad: bool,

    /// What was found in so long: 7d by default.
    #[arg(long, value_name = "TIME", value_parser = days, conflicts_with = "bad")]
    pub since: Option<u32>,

    /// Print nothing where the exit code is 0: for cron, which mails what is printed.
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub of: Steer,
}

#[derive(Debug, Args)]
pub struct Accept {
    #[command(flatten)]
    pub place: Where,

    /// Files, one by one, each by all its names that are damaged; or folders that were added, where
    /// another volume is in their place.
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Forget {
    #[command(flatten)]
    pub place: Where,

    /// Files, folders in those that were added, or these.
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,

    /// Only those that were told to be missing, and are not there now either.
    #[arg(long)]
    pub missing: bool,
}

#[derive(Debug, Args)]
pub struct CatalogArgs {
    #[command(subcommand)]
    pub verb: CatalogVerb,
}

#[derive(Debug, Subcommand)]
pub enum CatalogVerb {
    /// Hold the catalog against the seals of its rows, and tell what is damaged in it.
    #[command(after_help = CHECK_CODES)]
    Check {
        #[command(flatten)]
        place: Where,
    },
    /// Write a copy that is whole, checked and on the medium; a copy of the file alone lacks its
    /// log.
    #[command(after_help = COPY_CODES)]
    Backup {
        #[command(flatten)]
        place: Where,

        /// The copy; it must not be there.
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        to: PathBuf,
    },
    /// Take up what lists say of files, without reading these; the next `update` reads them.
    ///
    /// Any list that `lanesum check` reads will do, and names are looked up as there. A file that
    /// is cataloged already keeps its digests, and is told where the list has others. What is taken
    /// is called neither well nor damaged until it was read: if it is not as the list says, it is
    /// altered, or edited where the list has an older time. What is named and not there stands as
    /// missing until it is back or forgotten, unless that is most of the list. A line that is none
    /// ends it before anything is taken.
    #[command(after_help = IMPORT_CODES)]
    Import(ImportArgs),
    /// Print what is cataloged of a folder as a list.
    ///
    /// Of what is not well, or was never read, it has what was cataloged last, and says so.
    #[command(after_help = EXPORT_CODES)]
    Export(Export),
}

#[derive(Debug, Args)]
pub struct Export {
    /// The format of the list, as of `lanesum sum`.
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = formats(Kind::is_written),
        ignore_case = true
    )]
    pub format: Option<Kind>,

    /// Digests of this algorithm alone; all that are cataloged by default.
    #[arg(short, long, value_name = "ALG", value_parser = algorithms(), ignore_case = true)]
    pub algorithm: Option<Algorithm>,

    #[command(flatten)]
    pub place: Where,

    /// Write names below the folder, without its path: for `import --root` where it lies elsewhere
    /// now.
    #[arg(long)]
    pub relative: bool,

    /// A folder that was added. Names are written with its path, as given here.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Take this folder up as well, without reading it, with the algorithms of the lists.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub add: Option<PathBuf>,

    /// The folder that names are looked up in; the current one by default.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub root: Option<PathBuf>,

    /// Look the names of each list up in the folder that it lies in: for lists that lie beside
    /// their files.
    #[arg(long, conflicts_with = "root")]
    pub beside: bool,

    /// The format of the lists; by default each is recognised by its start.
    #[arg(long, value_name = "FORMAT", value_parser = formats(|_| true), ignore_case = true)]
    pub from: Option<Kind>,

    /// The algorithm of lines that do not name theirs, as for `lanesum check`.
    #[arg(short, long, value_name = "ALG", value_parser = algorithms(), ignore_case = true)]
    pub algorithm: Option<Algorithm>,

    /// The lines of the lists end with NUL.
    #[arg(short, long)]
    pub zero: bool,

    #[command(flatten)]
    pub place: Where,

    /// Lists; `-` is standard input.
    #[arg(value_name = "LIST", required = true, value_hint = ValueHint::FilePath)]
    pub lists: Vec<PathBuf>,
}

/// A number and the unit behind it.
fn measure(text: &str) -> Result<(u64, &str), String> {
    let digits = text.len() - text.trim_start_matches(|byte: char| byte.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number = number.parse().map_err(|_| "a number with a unit is wanted".to_owned())?;
    Ok((number, unit.trim_start()))
}

/// Days: `90d`, `12w`, `1y`, `90 days`, or a number.
fn days(text: &str) -> Result<u32, String> {
    let wrong = || "a time in days, weeks or years is wanted: 90d, 12w, 1y".to_owned();
    let beyond = || "from a day to a hundred years are wanted: 1d, 90d, 100y".to_owned();
    let (number, unit) = measure(text).map_err(|_| wrong())?;
    let factor = match unit {
        "" | "d" | "day" | "days" => 1,
        "w" | "week" | "weeks" => 7,
        "y" | "year" | "years" => 365,
        "m" | "month" | "months" => return Err(wrong() + "; of months none is as long as all"),
        "h" | "hour" | "hours" => return Err(wrong() + "; 24 hours are 1d"),
        _ => return Err(wrong()),
    };
    let days = number.checked_mul(factor).filter(|days| (1..=36_500).contains(days));
    days.and_then(|days| days.try_into().ok()).ok_or_else(beyond)
}

/// A time: `90s`, `30m`, `2h`, `1d`, `30 minutes`.
fn time(text: &str) -> Result<Duration, String> {
    let wrong =
        || "a time in seconds, minutes, hours or days is wanted: 90s, 30m, 2h, 1d".to_owned();
    let (number, unit) = measure(text).map_err(|_| wrong())?;
    let factor = match unit {
        "s" | "sec" | "second" | "seconds" => 1,
        "m" | "min" | "minute" | "minutes" => 60,
        "h" | "hour" | "hours" => 3600,
        "d" | "day" | "days" => 24 * 3600,
        _ => return Err(wrong()),
    };
    number.checked_mul(factor).map(Duration::from_secs).ok_or_else(wrong)
}

/// Bytes: `500M`, `20G`, `1.5MB`, `80 MiB`.
fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || "a number of bytes is wanted: 500M, 1.5G, 80MiB".to_owned();
    let is_of_number = |byte: char| byte.is_ascii_digit() || byte == '.';
    let (number, unit) = text.split_at(text.len() - text.trim_start_matches(is_of_number).len());
    let unit = unit.trim_start();
    let unit = unit.strip_suffix('B').unwrap_or(unit);
    let (unit, base) = unit.strip_suffix('i').map_or((unit, 1000_u64), |unit| (unit, 1024));
    let power = match unit {
        "" if base == 1000 => 0,
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        "m" | "mb" | "g" | "gb" | "t" | "tb" if base == 1000 => {
            let letter = unit[..1].to_uppercase();
            return Err(format!("a capital letter is wanted: {number}{letter}"));
        }
        _ => return Err(wrong()),
    };
    let factor = base.pow(power);
    let (whole, rest) = number.split_once('.').unwrap_or((number, "0"));
    let part: f64 = format!("0.{rest}").parse().map_err(|_| wrong())?;
    if whole.is_empty() || rest.is_empty() {
        return Err(wrong());
    }
    let beyond = || "is more than any disk has".to_owned();
    let whole: u64 = whole.parse().map_err(|_| beyond())?;
    let bytes = whole.checked_mul(factor).ok_or_else(beyond)?;
    bytes.checked_add((part * factor as f64) as u64).ok_or_else(beyond)
}

fn percent(text: &str) -> Result<f64, String> {
    let text = text.strip_suffix('%').unwrap_or(text).trim_end();
    let number = text.parse().ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "a number from 0 to 100 is wanted".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "page")]
    #[test]
    fn pages_have_addresses_and_names() {
        let local = Ok((Ipv4Addr::LOCALHOST, 8417).into());
        for text in ["8417", "localhost:8417", "127.0.0.1:8417"] {
            assert_eq!(address(text), local, "{text}");
        }
        assert!(address("[::1]:8417").is_ok() && address("0.0.0.0:80").is_ok());
        for text in ["", "127.0.0.1", "70000", "nas:8417", "/run/socket"] {
            assert!(address(text).is_err(), "{text}");
        }
        assert!(
            host("nas.example:8443").is_ok() && host("https://nas").is_err() && host("").is_err()
        );
    }

    #[test]
    fn measures_have_units() {
        assert_eq!(["90d", "12w", "1y", "7"].map(|it| days(it).unwrap()), [90, 84, 365, 7]);
        assert!(
            ["", "d", "0d", "90m", "1000y", "99999999999999999999d", "-1d"]
                .iter()
                .all(|it| days(it).is_err())
        );
        let spelled = ["90days", "12 weeks", "1year", "1 day"].map(|it| days(it).unwrap());
        assert_eq!(spelled, [90, 84, 365, 1]);
        assert!(days("3 months").unwrap_err().ends_with("of months none is as long as all"));
        assert!(days("24h").unwrap_err().ends_with("24 hours are 1d"));
        assert_eq!(["90s", "30m", "2h"].map(|it| time(it).unwrap().as_secs()), [90, 1800, 7200]);
        assert_eq!(["1d", "30 min"].map(|it| time(it).unwrap().as_secs()), [86_400, 1800]);
        assert!(["", "90", "2w"].iter().all(|it| time(it).is_err()));
        assert_eq!(["7", "5k", "20G"].map(|it| bytes(it).unwrap()), [7, 5000, 20_000_000_000]);
        let same = ["80M", "80MB", "80 MB", "80.0M", "0.08G", "80000000B"];
        assert!(same.iter().all(|it| bytes(it) == Ok(80_000_000)));
        assert_eq!(bytes("80MiB"), Ok(80 << 20));
        assert!(
            ["80m", "80 mB", "80mb"].iter().all(|it| bytes(it).unwrap_err().ends_with(": 80M"))
        );
        let wrong = ["", "G", "99999999T", "1X", "1.", ".5M", "1.2.3M", "1iB", "-5"];
        assert!(wrong.iter().all(|it| bytes(it).is_err()));
        assert!(bytes("99999999T").unwrap_err().contains("more than any disk"));
        assert!(["0d", "1000y"].iter().all(|it| days(it).unwrap_err().contains("hundred years")));
        assert!(
            ["80M", "80M/s", "80 MB/s"].iter().all(|it| rate(it) == Ok(Rate(Some(80_000_000))))
        );
        assert_eq!((rate("none"), hours("any")), (Ok(Rate(None)), Ok(Hours(None))));
        assert_eq!(rate("80B"), Ok(Rate(Some(80))));
        assert!(rate("80").unwrap_err().contains("80M, or 80B"));
        assert!(["0", "", "80M/m", "fast"].iter().all(|it| rate(it).is_err()));
        assert!(hours("1:00-6:00").is_ok() && hours("1:00").is_err());
        assert_eq!(hours("24:00-6:00"), hours("0:00-6:00"));
        assert_eq!(["8.5", "8.5%", "8.5 %"].map(percent), [Ok(8.5), Ok(8.5), Ok(8.5)]);
        assert!(["101", "-1", "nan", "x"].iter().all(|it| percent(it).is_err()));
    }
}
