//! The progress of the current read, and events that tell browsers about changes.

use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Bytes;
use lanesum_catalog::Catalog;
use maud::{Markup, html};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use crate::web::app::App;
use crate::web::daemon::Reading;
use crate::web::flow::Flow;
use crate::web::words::{bytes, count, files, shown, time};

/// Between two events.
const PERIOD: Duration = Duration::from_secs(1);
/// Browsers that get events at a time.
pub const LISTENERS: usize = 16;

/// The progress. It is hidden while nothing is read.
pub fn section(reading: Option<&Reading>) -> Markup {
    html! {
        section #reading class="card" hidden[reading.is_none()] aria-labelledby="reading-head" {
            h2 #reading-head { "Reading" }
            p #now { (reading.map(words).unwrap_or_default()) }
            progress #progress aria-labelledby="reading-head"
                max=(reading.map_or(1, |it| it.of_bytes.max(1))) value=(reading.map_or(0, |it| it.bytes)) {}
            noscript { p { "Reload the page for current numbers." } }
        }
    }
}

/// `/srv/photos: 250.00 MB of 1.00 GB, 3 of 10 files, 80.00 MB/s, 5 minutes left`.
fn words(it: &Reading) -> String {
    let mut words = format!(
        "{}: {} of {}, {} of {}, {}/s",
        shown(it.root.as_os_str().as_bytes()),
        bytes(it.bytes),
        bytes(it.of_bytes),
        count(it.files),
        files(it.of_files),
        bytes(it.rate)
    );
    if let Some(left) = it.left {
        words += &format!(", {} left", time(left));
    }
    words
}

/// Sends a browser an event each second: the progress, and the version of the catalog.
pub async fn stream(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    if app.login.session(&headers).is_none() {
        return StatusCode::FORBIDDEN.into_response();
    }
    let Ok(place) = Arc::clone(&app.listeners).try_acquire_owned() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let (send, receive) = mpsc::channel(4);
    tokio::spawn(async move {
        let _place = place;
        let mut ticks = interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // A browser that logs out gets no more events.
        while !send.is_closed() && app.login.session(&headers).is_some() {
            ticks.tick().await;
            let app = Arc::clone(&app);
            let Ok(event) = tokio::task::spawn_blocking(move || event(&app)).await else { return };
            // A slow browser misses some events.
            let _ = send.try_send(event);
        }
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    (kind, Body::new(Flow(receive))).into_response()
}

fn event(app: &App) -> Bytes {
    let reading = app.daemon.reading();
    let reading = reading.as_ref();
    let event = json!({
        "now": reading.map(words),
        "done": reading.map(|it| it.bytes),
        "of": reading.map(|it| it.of_bytes.max(1)),
        "version": version(app),
    });
    format!("data: {event}\n\n").into()
}

/// A number that changes with each write to the catalog; none where it cannot be read.
fn version(app: &App) -> Option<i64> {
    let mut watch = app.watch.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if watch.is_none() {
        *watch = Catalog::look(&app.settings.catalog).ok();
    }
    let version = watch.as_ref()?.version();
    if version.is_err() {
        *watch = None;
    }
    version.ok()
}
