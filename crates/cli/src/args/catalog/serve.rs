//! The arguments of the daemon.

#[cfg(feature = "page")]
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::Where;
use crate::args::values::threads;

#[derive(Debug, Args)]
pub struct Serve {
    /// Run a shell command for each finding that needs attention.
    ///
    /// Such findings are damaged and missing files, files with I/O errors, hardware warnings and
    /// offline directories. The command gets LANESUM_CLASS, LANESUM_REASON, LANESUM_PATH,
    /// LANESUM_ROOT and LANESUM_JSON in its environment. The daemon stops the command after one
    /// minute.
    #[arg(long, value_name = "CMD")]
    pub on_finding: Option<String>,

    /// Run a shell command once a day, after all due files were read.
    ///
    /// The command runs even if there were findings, and also once after each start of the daemon.
    /// It does not run while a directory is paused or offline, or while a file cannot be read.
    #[arg(long, value_name = "CMD")]
    pub heartbeat: Option<String>,

    /// Write the time into FILE when --heartbeat would run.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub heartbeat_file: Option<PathBuf>,

    /// Use N threads [default: one per CPU].
    #[arg(short, long = "threads", value_name = "N", value_parser = threads)]
    pub jobs: Option<usize>,

    #[command(flatten)]
    pub place: Where,

    #[cfg(feature = "page")]
    #[command(flatten)]
    pub page: Page,
}

/// The address of the page, and who may see it.
#[cfg(feature = "page")]
#[derive(Debug, Args)]
#[command(next_help_heading = "Page")]
pub struct Page {
    /// Show a web page of the catalog at this address.
    ///
    /// Without --listen and --socket there is no page. A port alone means localhost, and --listen
    /// alone means 127.0.0.1:8417. To log in, use the code that the daemon prints. Each code is
    /// valid once. The page does not use TLS.
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        default_missing_value = "127.0.0.1:8417",
        value_parser = address
    )]
    pub listen: Option<SocketAddr>,

    /// Show the page at a Unix socket that only this user can open.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "listen")]
    pub socket: Option<PathBuf>,

    /// Accept requests to the page under this host name.
    ///
    /// Examples are nas.example, and nas.example:8443 behind a proxy. localhost and the addresses
    /// of the page are always allowed. To listen at a different address, use --listen.
    #[arg(long, value_name = "NAME", value_parser = host)]
    pub host: Vec<String>,

    /// Log in with the content of this file instead of codes.
    ///
    /// Only the owner of FILE may have permission to read it. The option is required if other
    /// machines can reach the address.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
}

/// Parses an address with a port, or only a port of this machine.
#[cfg(feature = "page")]
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    match port.parse() {
        Ok(port) => Ok((Ipv4Addr::LOCALHOST, port).into()),
        Err(_) => text.parse().map_err(|_| {
            "expected an address with a port: 127.0.0.1:8417, [::1]:8417, or 8417".to_owned()
        }),
    }
}

/// Parses a host name as in a URL.
#[cfg(feature = "page")]
fn host(text: &str) -> Result<String, String> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_name) {
        Ok(text.to_owned())
    } else {
        Err("expected a name without http:// and path: nas.example, or nas.example:8443".to_owned())
    }
}

#[cfg(all(test, feature = "page"))]
mod tests {
    use super::*;

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
}
