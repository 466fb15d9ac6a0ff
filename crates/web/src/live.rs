//! How it goes, now and as it changes.

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
use std::os::unix::ffi::OsStrExt as _;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use crate::app::App;
use crate::daemon::Reading;
use crate::flow::Flow;
use crate::words::{bytes, count, files, shown, time};

/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);
/// Browsers that are told at a time.
pub const LISTENERS: usize = 16;

/// What is read now.
pub fn section(reading: Option<&Reading>) -> Markup {
    html! {
        section aria-labelledby="now-head" {
            h2 #now-head { "Now" }
            p #now { (words(reading)) }
            progress #progress hidden[reading.is_none()] aria-label="Bytes of this part"
                max=(reading.map_or(1, |it| it.of_bytes.max(1))) value=(reading.map_or(0, |it| it.bytes)) {}
            dl class="numbers" {
                dt { "Rate" } dd #rate { (rate(reading)) }
                dt { "Time left" } dd #left { (left(reading)) }
            }
            noscript { p { "Load the page again for newer numbers." } }
        }
    }
}

fn words(reading: Option<&Reading>) -> String {
    let Some(it) = reading else { return "Nothing is read at the moment.".to_owned() };
    format!(
        "Reads {}: {} of {}, {} of {}.",
        shown(it.root.as_os_str().as_bytes()),
        bytes(it.bytes),
        bytes(it.of_bytes),
        count(it.files),
        files(it.of_files)
    )
}

fn rate(reading: Option<&Reading>) -> String {
    reading.map_or_else(|| "-".to_owned(), |it| bytes(it.rate) + "/s")
}

fn left(reading: Option<&Reading>) -> String {
    let left = reading.and_then(|it| it.left);
    left.map_or_else(|| "-".to_owned(), time)
}

/// Tells a browser each second how it goes, and whether the catalog is another.
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
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // Whoever is logged out is told no more.
        while !send.is_closed() && app.login.session(&headers).is_some() {
            looks.tick().await;
            let app = Arc::clone(&app);
            let Ok(words) = tokio::task::spawn_blocking(move || event(&app)).await else { return };
            // Whoever is slow misses some.
            let _ = send.try_send(words);
        }
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    (kind, Body::new(Flow(receive))).into_response()
}

fn event(app: &App) -> Bytes {
    let reading = app.daemon.reading();
    let reading = reading.as_ref();
    let told = json!({
        "now": words(reading),
        "rate": rate(reading),
        "left": left(reading),
        "done": reading.map(|it| it.bytes),
        "of": reading.map(|it| it.of_bytes.max(1)),
        "version": version(app),
    });
    format!("data: {told}\n\n").into()
}

/// A number that is another one after somebody wrote to the catalog; none where that cannot be
/// known.
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
