//! Serves the page at an address or a socket.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::web::{Daemon, Door, Endpoint, Reading, Settings};
use lanesum_catalog::CatalogError;

use super::live::Live;
use crate::args::Page;
use crate::console::{self, Console, lock};
use crate::failure::Usage;

/// The minimum length of a token, so that it cannot be guessed.
const SHORTEST: usize = 16;
/// The maximum length of a token, which users may have to type.
const LONGEST: u64 = 1000;

/// The options of a page.
pub struct Wanted {
    endpoint: Endpoint,
    settings: Settings,
}

/// Returns the options of a page, if there is one.
///
/// # Errors
/// The options are contradictory or not safe.
pub fn wanted(args: &Page) -> Result<Option<Wanted>, Usage> {
    let endpoint = match (args.listen, &args.socket) {
        (Some(address), _) => Endpoint::Address(address),
        (None, Some(path)) => Endpoint::Socket(path.clone()),
        (None, None) if args.host.is_empty() && args.token_file.is_none() => return Ok(None),
        (None, None) => {
            let words = "--host and --token-file need --listen or --socket";
            return Err(Usage(words.to_owned()));
        }
    };
    let token = args.token_file.as_deref().map(token).transpose()?;
    let settings = Settings { names: args.host.clone(), token, ..Settings::default() };
    if let Endpoint::Address(address) = endpoint
        && !address.ip().is_loopback()
        && settings.token.is_none()
    {
        let words = format!(
            "--listen {address}: other machines reach it, so --token-file FILE is needed; or listen \
             at 127.0.0.1"
        );
        return Err(Usage(words));
    }
    if let Endpoint::Address(address) = endpoint
        && address.ip().is_unspecified()
        && settings.names.is_empty()
    {
        let words =
            format!("--listen {address} needs --host NAME: the host name in the URL of the page");
        return Err(Usage(words));
    }
    Ok(Some(Wanted { endpoint, settings }))
}

/// Reads a file that only its owner may have permission to read.
fn token(path: &Path) -> Result<String, Usage> {
    let wrong = |words: &str| Usage(format!("{}: {words}", console::shown(path)));
    let failed = |error: io::Error| wrong(&lanesum_checksum::error::message(&error));
    // A FIFO may never have a writer.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(wrong("not a regular file"));
    }
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.mode() & 0o077 != 0 {
        return Err(wrong("other users can read or write the token; run chmod 600 on it"));
    }
    let mut text = String::new();
    file.take(LONGEST + 1).read_to_string(&mut text).map_err(failed)?;
    let token = text.trim();
    if token.len() < SHORTEST || text.len() as u64 > LONGEST {
        return Err(wrong(&format!("a token has {SHORTEST} to {LONGEST} bytes")));
    }
    Ok(token.to_owned())
}

/// A page with an open endpoint.
pub struct Open {
    door: Door,
    settings: Settings,
    /// The file of a Unix socket.
    socket: Option<Socket>,
}

/// A socket in the file system, which is removed with the daemon.
pub struct Socket {
    path: PathBuf,
    /// The device and inode of the file.
    inode: (u64, u64),
}

impl Socket {
    fn at(endpoint: &Endpoint) -> io::Result<Option<Self>> {
        let Endpoint::Socket(path) = endpoint else { return Ok(None) };
        let path = std::path::absolute(path)?;
        let there = fs::symlink_metadata(&path)?;
        Ok(Some(Self { path, inode: (there.dev(), there.ino()) }))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let is_ours = |there: &fs::Metadata| (there.dev(), there.ino()) == self.inode;
        if fs::symlink_metadata(&self.path).is_ok_and(|there| is_ours(&there)) {
            // If it remains, the next daemon replaces it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens the endpoint of a page.
///
/// # Errors
/// Another process has it, or the system refuses it.
pub fn open(wanted: Wanted) -> Result<Open, CatalogError> {
    let Wanted { endpoint, settings } = wanted;
    let failed = |error| CatalogError::Io { path: name(&endpoint), error };
    let door = Door::open(&endpoint).map_err(failed)?;
    let socket = Socket::at(&endpoint).map_err(failed)?;
    Ok(Open { door, settings, socket })
}

/// Serves the page from now on.
///
/// # Errors
/// The system refuses a thread, or random bytes.
pub fn show(
    open: Open,
    catalog: &Path,
    live: &Live,
    console: &Arc<Mutex<Console>>,
) -> Result<Option<Socket>, CatalogError> {
    let Open { door, mut settings, socket } = open;
    let endpoint = name(door.endpoint());
    let failed = |error| CatalogError::Io { path: endpoint, error };
    settings.catalog = std::path::absolute(catalog)
        .map_err(|error| CatalogError::Io { path: catalog.to_owned(), error })?;
    let (at, way) = match door.endpoint() {
        Endpoint::Address(address) => {
            (format!("http://{}/", shown(*address, &settings.names)), String::new())
        }
        Endpoint::Socket(path) => {
            // The path is typed on another machine, in whose shell it must be valid.
            let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let way = std::os::unix::net::SocketAddr::from_pathname(&whole).map(|_| {
                let whole = console::shown(whole);
                format!("; `ssh -L 8417:{whole} HOST` brings it to http://localhost:8417/")
            });
            (console::shown(path), way.unwrap_or_default())
        }
    };
    let with = if settings.token.is_some() { ", with the token to log in" } else { "" };
    lock(console).message(format!("the page is at {at}{with}{way}").as_bytes());
    let shown = Shown { live: live.clone(), console: Arc::clone(console) };
    door.serve(settings, Arc::new(shown)).map_err(failed)?;
    Ok(socket)
}

fn name(endpoint: &Endpoint) -> PathBuf {
    match endpoint {
        Endpoint::Address(address) => address.to_string().into(),
        Endpoint::Socket(path) => path.clone(),
    }
}

/// Returns the URL to type. For an address that other machines reach, it has the name of `--host`,
/// unless the name has a port, which is that of a proxy.
fn shown(address: SocketAddr, names: &[String]) -> String {
    let has_port = |name: &str| name.rsplit(']').next().is_some_and(|rest| rest.contains(':'));
    if address.ip().is_unspecified() {
        let name = names.iter().find(|name| !has_port(name)).map_or("localhost", String::as_str);
        format!("{name}:{}", address.port())
    } else {
        address.to_string()
    }
}

/// The requests of the page to the daemon.
struct Shown {
    live: Live,
    console: Arc<Mutex<Console>>,
}

impl Daemon for Shown {
    fn reading(&self) -> Option<Reading> {
        self.live.reading()
    }

    fn show_code(&self, code: &str) {
        let words = format!("log in with the code {code} (it works once)");
        lock(&self.console).message(words.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn args(listen: Option<&str>, token_file: Option<&Path>) -> Page {
        let listen = listen.map(|it| it.parse().unwrap());
        Page { listen, socket: None, host: Vec::new(), token_file: token_file.map(Path::to_owned) }
    }

    #[test]
    fn the_name_for_other_machines_is_told() {
        let of = |address: &str, names: &[&str]| {
            let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
            shown(address.parse().unwrap(), &names)
        };
        assert_eq!(of("0.0.0.0:80", &["nas.example"]), "nas.example:80");
        assert_eq!(of("[::]:80", &["[fd00::1]"]), "[fd00::1]:80");
        assert_eq!(of("0.0.0.0:80", &["nas:8443", "nas"]), "nas:80");
        assert_eq!(of("0.0.0.0:80", &["nas:8443"]), "localhost:80");
        assert_eq!(of("127.0.0.1:80", &["nas"]), "127.0.0.1:80");
    }

    #[test]
    fn other_machines_need_a_token_that_is_one() {
        let why = |args: &Page| wanted(args).err().map(|error| error.0);
        assert!(wanted(&args(None, None)).unwrap().is_none());
        assert_eq!(why(&args(Some("127.0.0.1:0"), None)), None);
        for address in ["0.0.0.0:8417", "192.0.2.1:8417", "[::]:8417"] {
            let words = why(&args(Some(address), None)).unwrap();
            assert!(words.contains("--token-file"), "{words}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let with = |text: &str, mode| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            why(&args(Some("192.0.2.1:8417"), Some(&path)))
        };
        assert_eq!(with("0123456789abcdef\n", 0o600), None);
        assert!(with("0123456789abcdef\n", 0o640).unwrap().contains("chmod 600"));
        assert!(with("short\n", 0o600).unwrap().contains("16 to 1000 bytes"));
        assert!(with(&"long".repeat(1000), 0o600).unwrap().contains("16 to 1000 bytes"));
        assert_eq!(with("0123456789abcdef\n", 0o600), None);
        for address in ["0.0.0.0:8417", "[::]:8417"] {
            let mut anywhere = args(Some(address), Some(&path));
            let words = why(&anywhere).unwrap();
            assert!(words.contains("needs --host NAME"), "{words}");
            anywhere.host.push("nas".to_owned());
            assert_eq!(why(&anywhere), None);
        }
        let folder = args(Some("127.0.0.1:0"), Some(folder.path()));
        assert!(why(&folder).unwrap().contains("not a regular file"));
        assert!(why(&args(None, Some(&path))).unwrap().contains("--listen"));
    }
}
