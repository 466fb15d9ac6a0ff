//! Where a page can be reached.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Where the page is to be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// An address and a port; 0 takes a free one.
    Address(SocketAddr),
    /// A socket of the file system, which none but this user can connect to.
    Socket(PathBuf),
}
