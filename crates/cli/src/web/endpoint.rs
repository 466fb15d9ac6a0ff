//! The endpoint of a page.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Where the page listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// An address and a port. Port 0 takes a free one.
    Address(SocketAddr),
    /// A socket in the file system that only this user can connect to.
    Socket(PathBuf),
}
