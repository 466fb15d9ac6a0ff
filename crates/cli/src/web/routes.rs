//! The answers to requests.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Form, FromRequest as _, Path, Query, Request, State};
use axum::http::header::{CONTENT_TYPE, LOCATION, ORIGIN, RETRY_AFTER, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use hyper::body::Bytes;
use jiff::tz::TimeZone;
use lanesum_catalog::{Catalog, CatalogError, Class};
use maud::{Markup, html};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::web::app::App;
use crate::web::daemon::{Daemon, Settings};
use crate::web::endpoint::Endpoint;
use crate::web::flow::Flow;
use crate::web::front;
use crate::web::guard::{Names, guard};
use crate::web::live::LISTENERS;
use crate::web::login::{Answer, Login, Session};
use crate::web::steer::{Refusal, steer};
use crate::web::view::Context;
use crate::web::words::{now, sentence};
use crate::web::{failure, file, live, load, pages};

/// Bytes of a form, and the time in which it has to arrive.
const FORM: usize = 4 << 10;
const PATIENCE: Duration = Duration::from_secs(10);
/// Parts of a page that wait to be sent. All parts have room, so that a reader of the catalog never
/// waits for a browser.
const PARTS: usize = 8;

/// # Errors
/// The system has no random bytes.
pub fn router(
    settings: Settings,
    endpoint: &Endpoint,
    daemon: Arc<dyn Daemon>,
) -> io::Result<Router> {
    let names = Arc::new(Names::new(endpoint, &settings.names));
    let login = Login::new(endpoint, settings.token.clone())?;
    if let Some(code) = login.code() {
        daemon.show_code(&code);
    }
    let listeners = Arc::new(Semaphore::new(LISTENERS));
    let app = Arc::new(App { settings, daemon, login, watch: Mutex::new(None), listeners });
    Ok(Router::new()
        .route("/", get(front_page))
        .route("/file/{id}", get(file_page))
        .route("/files/{root}/{class}", get(list_page))
        .route("/live", get(live::stream))
        .route("/login", get(login_page).post(log_in))
        .route("/logout", post(log_out))
        .route("/folder/{id}/{action}", post(change))
        .route("/style.css", get(|| fixed("text/css; charset=utf-8", include_str!("style.css"))))
        .route(
            "/script.js",
            get(|| fixed("text/javascript; charset=utf-8", include_str!("script.js"))),
        )
        .route("/icon.svg", get(|| fixed("image/svg+xml", include_str!("icon.svg"))))
        .fallback(async || not_found("There is no page at this address."))
        .layer(from_fn_with_state(names, guard))
        .with_state(app))
}

async fn fixed(kind: &'static str, text: &'static str) -> Response {
    ([(CONTENT_TYPE, kind)], text).into_response()
}

fn message(status: StatusCode, title: &str, words: &str) -> Response {
    (status, pages::message(title, words)).into_response()
}

fn not_found(words: &str) -> Response {
    message(StatusCode::NOT_FOUND, "Not found", words)
}

fn see(place: &str) -> Response {
    let place = HeaderValue::from_str(place).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(LOCATION, place)]).into_response()
}

fn failed(error: &dyn std::fmt::Display) -> Response {
    message(StatusCode::INTERNAL_SERVER_ERROR, "Error", &sentence(&error.to_string()))
}

fn failed_by_catalog(error: &CatalogError) -> Response {
    message(StatusCode::INTERNAL_SERVER_ERROR, "Error", &failure::text(error))
}

async fn login_page(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    match app.login.session(&headers) {
        Some(_) => see("/"),
        None => pages::log_in(app.login.takes_token(), None).into_response(),
    }
}

/// The fields of a form; none where it is not one, is too large, or does not arrive.
async fn form(request: Request) -> Option<HashMap<String, String>> {
    let (parts, body) = request.into_parts();
    let bytes = timeout(PATIENCE, to_bytes(body, FORM)).await.ok()?.ok()?;
    let request = Request::from_parts(parts, Body::from(bytes));
    Form::from_request(request, &()).await.ok().map(|Form(fields)| fields)
}

fn no_form() -> Response {
    message(StatusCode::BAD_REQUEST, "Invalid form", "The request has no form, or a large one.")
}

async fn log_in(State(app): State<Arc<App>>, request: Request) -> Response {
    let origin = request.headers().get(ORIGIN).map(HeaderValue::as_bytes);
    let is_secure = origin.is_some_and(|origin| origin.starts_with(b"https:"));
    let Some(fields) = form(request).await else { return no_form() };
    let typed = fields.get("code").map(String::as_str).unwrap_or_default();
    let page = |words| pages::log_in(app.login.takes_token(), Some(words));
    match app.login.log_in(typed) {
        Ok(Answer::In(session)) => {
            if let Some(code) = app.login.code() {
                app.daemon.show_code(&code);
            }
            ([(SET_COOKIE, app.login.cookie(&session, is_secure))], see("/")).into_response()
        }
        Ok(Answer::Wrong) => (StatusCode::FORBIDDEN, page("This is not valid.")).into_response(),
        Ok(Answer::ManyWrong) => {
            let words = "This is not valid. There were many attempts in this minute.";
            (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "60")], page(words)).into_response()
        }
        Err(error) => failed(&error),
    }
}

/// The fields of a form that the page sent for a logged-in browser; else the answer.
async fn own_form(
    app: &App,
    request: Request,
) -> Result<(Session, HashMap<String, String>), Response> {
    let forbidden = |title, words| message(StatusCode::FORBIDDEN, title, words);
    let Some(session) = app.login.session(request.headers()) else {
        return Err(forbidden("Not logged in", "Log in, then try again."));
    };
    let fields = form(request).await.ok_or_else(no_form)?;
    if !fields.get("token").is_some_and(|token| session.is_of(token)) {
        return Err(forbidden("Expired form", "Reload the page, then try again."));
    }
    Ok((session, fields))
}

async fn log_out(State(app): State<Arc<App>>, request: Request) -> Response {
    match own_form(&app, request).await {
        Ok((session, _)) => {
            app.login.log_out(&session);
            ([(SET_COOKIE, app.login.no_cookie())], see("/login")).into_response()
        }
        Err(response) => response,
    }
}

async fn change(
    State(app): State<Arc<App>>,
    Path((id, action)): Path<(String, String)>,
    request: Request,
) -> Response {
    let fields = match own_form(&app, request).await {
        Ok((_, fields)) => fields,
        Err(response) => return response,
    };
    let unknown = || not_found("There is no such folder or action.");
    let Ok(id) = id.parse() else { return unknown() };
    let steered = {
        let app = Arc::clone(&app);
        spawn_blocking(move || steer(&app.settings.catalog, id, &action, &fields)).await
    };
    let unchanged =
        |words: &str| message(StatusCode::UNPROCESSABLE_ENTITY, "Nothing changed", words);
    match steered {
        Ok(Ok(())) => see(&format!("/#folder-{id}")),
        Ok(Err(Refusal::Unknown)) => unknown(),
        Ok(Err(Refusal::Invalid(words))) => unchanged(&words),
        Ok(Err(Refusal::Catalog(
            error @ (CatalogError::TooSlow { .. } | CatalogError::TooShort { .. }),
        ))) => unchanged(&failure::text(&error)),
        Ok(Err(Refusal::Catalog(error))) => failed_by_catalog(&error),
        Err(error) => failed(&error),
    }
}

fn context(app: &App, session: &Session) -> Context {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    Context {
        catalog: app.settings.catalog.clone(),
        host: host.trim().to_owned(),
        token: session.token.clone(),
        now: now(),
        zone: TimeZone::system(),
    }
}

/// Makes a page from the catalog on a thread for it; none is a page that does not exist.
async fn made(
    app: &Arc<App>,
    headers: &HeaderMap,
    make: impl FnOnce(&Context, &Catalog) -> Result<Option<Markup>, CatalogError> + Send + 'static,
) -> Response {
    let Some(session) = app.login.session(headers) else { return see("/login") };
    let context = context(app, &session);
    let made = spawn_blocking(move || make(&context, &Catalog::look(&context.catalog)?));
    match made.await {
        Ok(Ok(Some(page))) => page.into_response(),
        Ok(Ok(None)) => not_found("The catalog does not have this file or folder."),
        Ok(Err(error)) => failed_by_catalog(&error),
        Err(error) => failed(&error),
    }
}

async fn file_page(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    made(&app, &headers, move |context, catalog| {
        let Ok(id) = id.parse() else { return Ok(None) };
        let Some(found) = load::file(catalog, id)? else { return Ok(None) };
        Ok(Some(file::page(context, &found.file, found.copy.as_ref(), &found.events)))
    })
    .await
}

async fn list_page(
    State(app): State<Arc<App>>,
    Path((id, class)): Path<(String, String)>,
    Query(asked): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    let after = asked.get("after").and_then(|after| after.parse().ok()).unwrap_or(0);
    made(&app, &headers, move |context, catalog| {
        let class = Class::from_name(&class).filter(|class| *class != Class::Ok);
        let (Ok(id), Some(class)) = (id.parse::<i64>(), class) else { return Ok(None) };
        let folders = load::folders(catalog, context.now)?;
        let Some((root, folder)) = folders.into_iter().find(|(root, _)| root.id() == id) else {
            return Ok(None);
        };
        let files = load::files(catalog, &root, class, after)?;
        Ok(Some(file::list(context, &folder, class, after, &files)))
    })
    .await
}

/// The front page, part after part. Its beginning waits for nothing.
async fn front_page(State(app): State<Arc<App>>, method: Method, headers: HeaderMap) -> Response {
    let Some(session) = app.login.session(&headers) else { return see("/login") };
    let kind = [(CONTENT_TYPE, "text/html; charset=utf-8")];
    if method == Method::HEAD {
        return kind.into_response();
    }
    let (send, receive) = mpsc::channel(PARTS);
    // It runs to its end whether the browser reads or not.
    spawn_blocking(move || {
        let mut put = |part: Markup| _ = send.try_send(Bytes::from(part.into_string()));
        let context = context(&app, &session);
        put(front::begin(&context));
        if let Err(error) = front::parts(&context, app.daemon.as_ref(), &mut put) {
            put(failure::section(&context.catalog, &error));
        }
        put(html! { (front::end(&context)) });
    });
    (kind, Body::new(Flow(receive))).into_response()
}
