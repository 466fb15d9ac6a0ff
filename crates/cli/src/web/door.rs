//! The address or the socket that the page listens at, and its connections.

use std::fs::{self, File};
use std::io;
use std::net::TcpListener;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::web::daemon::{Daemon, Settings};
use crate::web::endpoint::Endpoint;
use crate::web::progress::Progress;
use crate::web::routes::router;

/// Connections at a time. More wait, since the daemon's own files need descriptors too.
const CONNECTIONS: usize = 256;
/// Threads that read the catalog.
const READERS: usize = 4;
/// The time in which a client has to send the head of a request.
const HEADERS: Duration = Duration::from_secs(5);
/// The longest life of a connection. Browsers connect again.
const LONGEST: Duration = Duration::from_secs(60 * 60);
/// Bytes of the head of a request.
const HEAD: usize = 16 << 10;
/// Bytes of the path of a socket: `sun_path` without its terminator (unix(7)).
const SOCKET: usize = 107;

/// An open endpoint.
#[derive(Debug)]
pub struct Door {
    listener: Listener,
    endpoint: Endpoint,
}

#[derive(Debug)]
enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// The listener of the runtime.
enum Either {
    Tcp(tokio::net::TcpListener),
    Unix(tokio::net::UnixListener),
}

impl Door {
    /// Opens an endpoint.
    ///
    /// # Errors
    /// The system's error, for example that the address is in use. The path of a socket has at most
    /// 107 bytes. A socket without a listener is replaced; any other file is an error.
    pub fn open(endpoint: &Endpoint) -> io::Result<Self> {
        match endpoint {
            Endpoint::Address(address) => {
                let listener = TcpListener::bind(address)?;
                let endpoint = Endpoint::Address(listener.local_addr()?);
                listener.set_nonblocking(true)?;
                Ok(Self { listener: Listener::Tcp(listener), endpoint })
            }
            Endpoint::Socket(path) => {
                let listener = bind_privately(path)?;
                listener.set_nonblocking(true)?;
                Ok(Self { listener: Listener::Unix(listener), endpoint: endpoint.clone() })
            }
        }
    }

    /// Returns the endpoint, with the port that it got.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Serves the page from its own thread until the process ends.
    ///
    /// # Errors
    /// The system has no thread or no random bytes.
    pub fn serve(self, settings: Settings, daemon: Arc<dyn Daemon>) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(READERS)
            .thread_name("page")
            .build()?;
        let router = router(settings, &self.endpoint, daemon)?;
        let within = runtime.enter();
        let listener = match self.listener {
            Listener::Tcp(listener) => Either::Tcp(tokio::net::TcpListener::from_std(listener)?),
            Listener::Unix(listener) => Either::Unix(tokio::net::UnixListener::from_std(listener)?),
        };
        drop(within);
        let listen = move || match listener {
            Either::Tcp(it) => runtime.block_on(accept(router, async || Ok(it.accept().await?.0))),
            Either::Unix(it) => runtime.block_on(accept(router, async || Ok(it.accept().await?.0))),
        };
        thread::Builder::new().name("page".into()).spawn(listen)?;
        Ok(())
    }
}

/// Accepts connections, each with its own task.
async fn accept<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    router: Router,
    mut next: impl AsyncFnMut() -> io::Result<S>,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok(stream) = next().await else {
            // For example, no descriptor is free.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let router = router.clone();
        tokio::spawn(async move {
            let _place = place;
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADERS)
                .max_buf_size(HEAD)
                .serve_connection(
                    TokioIo::new(Progress::of(stream)),
                    TowerToHyperService::new(router),
                );
            // A client that disconnects or is too slow gets no answer.
            let _ = timeout(LONGEST, connection).await;
        });
    }
}

/// A socket that gets its path only once other users cannot connect to it.
fn bind_privately(path: &Path) -> io::Result<UnixListener> {
    let length = path.as_os_str().len();
    // It is bound at a temporary path, but clients use this one.
    if length > SOCKET {
        let words =
            format!("the path of a socket has at most {SOCKET} bytes, and this one has {length}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
    }
    match fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "the file exists and is not a socket",
            ));
        }
        Ok(_) if UnixStream::connect(path).is_ok() => {
            return Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                "a program listens at this socket",
            ));
        }
        _ => {}
    }
    let mut number = [0; 8];
    getrandom::fill(&mut number).map_err(|error| io::Error::other(error.to_string()))?;
    let number = u64::from_ne_bytes(number);
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    let folder = above.unwrap_or(Path::new(".")).join(format!(".lanesum-{number:016x}"));
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    let within = folder.join("s");
    let bound = bind(&folder).and_then(|listener| {
        fs::set_permissions(&within, fs::Permissions::from_mode(0o600))?;
        fs::rename(&within, path)?;
        Ok(listener)
    });
    // It exists only after an error.
    let _ = fs::remove_file(&within);
    fs::remove_dir(&folder)?;
    bound
}

/// Binds a socket `s` in a directory whose path may be too long for a socket.
fn bind(folder: &Path) -> io::Result<UnixListener> {
    let within = folder.join("s");
    if within.as_os_str().len() <= SOCKET {
        return UnixListener::bind(within);
    }
    let opened = File::open(folder)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}/s", opened.as_raw_fd()));
    UnixListener::bind(short)
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use axum::routing::get;
    use tokio::net::UnixStream;
    use tokio::task::LocalSet;
    use tokio::time::Instant;

    use super::*;

    /// More than the system buffers for a client that does not read.
    const LONG: usize = 4 << 20;

    /// Serves connections to these clients, with a clock that advances only while all tasks wait.
    fn with_clients(count: usize, test: impl AsyncFnOnce(Vec<UnixStream>)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let long = get(async || vec![b'x'; LONG]);
            let router = Router::new().route("/long", long).route("/", get(async || "here"));
            let pairs = (0..count).map(|_| UnixStream::pair().unwrap());
            let (clients, streams): (Vec<_>, Vec<_>) = pairs.unzip();
            let mut streams = streams.into_iter();
            let next = async move || match streams.next() {
                Some(stream) => Ok(stream),
                None => pending().await,
            };
            let local = LocalSet::new();
            local.spawn_local(accept(router, next));
            local.run_until(test(clients)).await;
        });
    }

    async fn ask(client: &UnixStream, path: &str) {
        client.writable().await.unwrap();
        let asked = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        assert_eq!(client.try_write(asked.as_bytes()).unwrap(), asked.len());
    }

    /// Reads at most so many bytes, once there are some. No bytes are the end.
    async fn read(client: &UnixStream, most: usize) -> Vec<u8> {
        let mut bytes = vec![0; most];
        loop {
            client.readable().await.unwrap();
            match client.try_read(&mut bytes) {
                Ok(length) => {
                    bytes.truncate(length);
                    return bytes;
                }
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
    }

    #[test]
    fn a_client_that_reads_nothing_is_disconnected() {
        with_clients(CONNECTIONS + 1, async |clients| {
            let (last, others) = clients.split_last().unwrap();
            let began = Instant::now();
            for client in others {
                ask(client, "/long").await;
            }
            ask(last, "/").await;
            let answer = read(last, 1000).await;
            assert!(answer.starts_with(b"HTTP/1.1 200"), "{answer:?}");
            assert!(began.elapsed() < LONGEST / 10, "{:?}", began.elapsed());
        });
    }

    #[test]
    fn a_slow_client_gets_the_whole_page() {
        with_clients(1, async |clients| {
            ask(&clients[0], "/long").await;
            let (mut bytes, began) = (0, Instant::now());
            loop {
                sleep(crate::web::progress::STALLED / 2).await;
                match read(&clients[0], LONG / 20).await.len() {
                    0 => break,
                    length => bytes += length,
                }
            }
            assert!(bytes > LONG, "{bytes}");
            assert!(began.elapsed() > 5 * crate::web::progress::STALLED, "{:?}", began.elapsed());
        });
    }
}
