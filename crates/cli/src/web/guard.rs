//! Refuses requests that other web sites cause. To listen on the loopback address is not enough:
//! any site can let its own name resolve to it, or make a browser post a form to it.
//!
//! - The page answers to its own names only (421), so that no name of a different site works.
//! - Requests that change something must come from the page itself. `Origin`, `Sec-Fetch-Site` and
//!   a token in each form show that (`login.rs`).
//! - Headers of every answer forbid scripts, styles and frames from elsewhere.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::web::endpoint::Endpoint;
use crate::web::pages;

/// Headers of every answer.
const HEADERS: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
         connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// The host names of the page.
#[derive(Debug)]
pub struct Names {
    /// Names of this machine and names from the settings, in lower case.
    own: Vec<String>,
    given: Vec<String>,
    /// The port of the own names; none allows any port, since users choose one when they forward to
    /// a socket.
    port: Option<u16>,
    /// The address that it listens at, unless that is a socket.
    address: Option<IpAddr>,
}

impl Names {
    pub fn new(endpoint: &Endpoint, given: &[String]) -> Self {
        let loopback = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        let given = given.iter().map(|name| name.to_ascii_lowercase()).collect();
        let Endpoint::Address(address) = endpoint else {
            return Self { own: loopback.into(), given, port: None, address: None };
        };
        let (port, address) = (Some(address.port()), address.ip());
        let mut own = Vec::new();
        if address.is_loopback() || address.is_unspecified() {
            own.extend(loopback);
        }
        if !address.is_unspecified() {
            let name = match address {
                IpAddr::V4(address) => address.to_string(),
                IpAddr::V6(address) => format!("[{address}]"),
            };
            if !own.contains(&name) {
                own.push(name);
            }
        }
        Self { own, given, port, address: Some(address) }
    }

    /// Whether `host` names this page.
    pub fn has(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let Some((name, port)) = split(&host) else { return false };
        let is_own = self.own.iter().any(|own| own == name)
            && self.port.is_none_or(|own| own == port.unwrap_or(80));
        is_own || self.given.iter().any(|given| *given == host || given == name)
    }

    /// The names that lead to the address where the page listens.
    pub fn words(&self) -> String {
        let port = self.port.map_or(String::new(), |port| format!(":{port}"));
        let own = self.own.iter().filter(|name| leads_to(name, self.address));
        let own = own.map(|name| format!("{name}{port}"));
        own.chain(self.given.iter().cloned()).collect::<Vec<_>>().join(", ")
    }
}

/// Whether an own name leads to this address. To a socket, all of them can be forwarded.
fn leads_to(name: &str, address: Option<IpAddr>) -> bool {
    let Some(address) = address else { return true };
    let named = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match named {
        Ok(named) if address.is_unspecified() => named.is_ipv4() == address.is_ipv4(),
        Ok(named) => named == address,
        // `localhost` is the first loopback address.
        Err(_) => {
            let first = [Ipv4Addr::LOCALHOST.into(), IpAddr::from(Ipv6Addr::LOCALHOST)];
            address.is_unspecified() || first.contains(&address)
        }
    }
}

/// The name and the port of a host; none where it is invalid.
fn split(host: &str) -> Option<(&str, Option<u16>)> {
    let end = if host.starts_with('[') {
        host.find(']')? + 1
    } else {
        host.find(':').unwrap_or(host.len())
    };
    let (name, port) = host.split_at(end);
    match port.strip_prefix(':') {
        None => port.is_empty().then_some((name, None)),
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            port.parse().ok().map(|port| (name, Some(port)))
        }
        Some(_) => None,
    }
}

/// The value of a header that occurs exactly once.
fn one(headers: &HeaderMap, name: impl header::AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Refuses requests for different host names, and changes that a different site asks for.
pub async fn guard(State(names): State<Arc<Names>>, request: Request, next: Next) -> Response {
    let mut response = match refusal(&names, &request) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        let name = HeaderName::from_static(name);
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

fn refusal(names: &Names, request: &Request) -> Option<Response> {
    let headers = request.headers();
    let host = one(headers, header::HOST);
    // A request for a whole address, as to a proxy, names the host twice.
    let asked = request.uri().authority().map(|it| it.as_str());
    let Some(host) = host.filter(|&host| names.has(host) && asked.is_none_or(|it| it == host))
    else {
        let words = format!(
            "The address has a wrong host name. This page is at {}. To allow a name, start \
             lanesum serve with --host NAME.",
            names.words()
        );
        let page = pages::message("Wrong host name", &words);
        return Some((StatusCode::MISDIRECTED_REQUEST, page).into_response());
    };
    let may_change = !matches!(*request.method(), Method::GET | Method::HEAD);
    if may_change && !is_from_here(headers, host) {
        let words = "Only this page itself may send this form.";
        let page = pages::message("Form from a different site", words);
        return Some((StatusCode::FORBIDDEN, page).into_response());
    }
    None
}

/// Whether the page at `host` sent the request.
fn is_from_here(headers: &HeaderMap, host: &str) -> bool {
    let origin = one(headers, header::ORIGIN);
    let origin = origin.and_then(|it| it.strip_prefix("http://").or(it.strip_prefix("https://")));
    let is_own = origin.is_some_and(|origin| origin.eq_ignore_ascii_case(host));
    is_own
        && match headers.contains_key("sec-fetch-site") {
            true => one(headers, "sec-fetch-site") == Some("same-origin"),
            // Browsers always send it to the loopback address.
            false => !is_loopback(host),
        }
}

fn is_loopback(host: &str) -> bool {
    split(host).is_some_and(|(name, _)| {
        let name = name.trim_start_matches('[').trim_end_matches(']');
        name.eq_ignore_ascii_case("localhost")
            || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(endpoint: &str, given: &[&str]) -> Names {
        let given: Vec<_> = given.iter().map(|&name| name.to_owned()).collect();
        let endpoint = match endpoint.parse() {
            Ok(address) => Endpoint::Address(address),
            Err(_) => Endpoint::Socket(endpoint.into()),
        };
        Names::new(&endpoint, &given)
    }

    #[test]
    fn names_of_different_sites_are_refused() {
        let own = names("127.0.0.1:8417", &["nas.example"]);
        for host in [
            "localhost:8417",
            "LOCALHOST:8417",
            "127.0.0.1:8417",
            "[::1]:8417",
            "nas.example",
            "nas.example:443",
        ] {
            assert!(own.has(host), "{host}");
        }
        for host in [
            "",
            "localhost",
            "localhost:80",
            "localhost:8418",
            "evil.example:8417",
            "localhost.evil.example:8417",
            "127.0.0.1.:8417",
            "localhost.:8417",
            "localhost:8417:8417",
            "localhost:+8417",
            "evil@localhost:8417",
            "[::1:8417",
            "::1:8417",
            "0.0.0.0:8417",
            "127.0.0.1:08417x",
            "nas.example.evil:443",
            "localhost:8417/",
        ] {
            assert!(!own.has(host), "{host}");
        }
        assert!(names("127.0.0.1:80", &[]).has("localhost"));
        let socket = names("/run/lanesum.sock", &[]);
        assert!(
            socket.has("localhost") && socket.has("localhost:9000") && !socket.has("evil:9000")
        );
        let outside = names("192.0.2.1:8417", &[]);
        assert!(outside.has("192.0.2.1:8417") && !outside.has("localhost:8417"));
        let anywhere = names("0.0.0.0:8417", &["nas"]);
        assert!(anywhere.has("nas:8417") && !anywhere.has("0.0.0.0:8417"));
    }

    #[test]
    fn printed_names_lead_to_the_page() {
        for (endpoint, words) in [
            ("127.0.0.1:8417", "localhost:8417, 127.0.0.1:8417, nas"),
            ("127.0.0.2:8417", "127.0.0.2:8417, nas"),
            ("[::1]:8417", "localhost:8417, [::1]:8417, nas"),
            ("0.0.0.0:8417", "localhost:8417, 127.0.0.1:8417, nas"),
            ("[::]:8417", "localhost:8417, [::1]:8417, nas"),
            ("192.0.2.1:8417", "192.0.2.1:8417, nas"),
            ("/run/lanesum.sock", "localhost, 127.0.0.1, [::1], nas"),
        ] {
            assert_eq!(names(endpoint, &["nas"]).words(), words, "{endpoint}");
        }
    }

    #[test]
    fn forms_of_different_sites_are_refused() {
        let is = |origin: Option<&str>, site: Option<&str>, host: &str| {
            let mut headers = HeaderMap::new();
            for (name, value) in [("origin", origin), ("sec-fetch-site", site)] {
                if let Some(value) = value {
                    headers.append(HeaderName::from_static(name), value.parse().unwrap());
                }
            }
            is_from_here(&headers, host)
        };
        let (host, own) = ("localhost:8417", Some("http://localhost:8417"));
        assert!(is(own, Some("same-origin"), host));
        for (origin, site) in [
            (None, Some("same-origin")),
            (Some("null"), Some("same-origin")),
            (Some("http://evil.example"), Some("same-origin")),
            (Some("http://localhost:9000"), Some("same-origin")),
            (Some("http://localhost:8417.evil.example"), Some("same-origin")),
            (Some("file://localhost:8417"), Some("same-origin")),
            (own, None),
            (own, Some("same-site")),
            (own, Some("cross-site")),
            (own, Some("none")),
        ] {
            assert!(!is(origin, site, host), "{origin:?} {site:?}");
        }
        // Browsers do not send it to a host name without TLS.
        assert!(is(Some("http://nas:8417"), None, "nas:8417"));
        assert!(!is(Some("http://nas:8417"), Some("cross-site"), "nas:8417"));
    }
}
