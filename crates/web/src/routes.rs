//! What is answered to what.

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
use lanesum_catalog::{Catalog, CatalogError};
use maud::{Markup, html};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::app::App;
use crate::daemon::{Daemon, Settings};
use crate::endpoint::Endpoint;
use crate::flow::Flow;
use crate::guard::{Names, guard};
use crate::live::LISTENERS;
use crate::login::{Answer, Login, Session};
use crate::steer::{Refusal, steer};
use crate::words::{failure, moment, now, shown};
use crate::{bad, folders, history, live, pages};

/// Bytes of a form, and how long it may take to come.
const FORM: usize = 4 << 10;
const PATIENCE: Duration = Duration::from_secs(10);
/// Parts of a page that wait to be sent: a reader of the catalog never waits for a browser.
const PARTS: usize = 8;

/// # Errors
/// The system gives no random bytes.
pub fn router(
    settings: Settings,
    endpoint: &Endpoint,
    daemon: Arc<dyn Daemon>,
) -> io::Result<Router> {
    let names = Arc::new(Names::new(endpoint, &settings.names));
    let login = Login::new(endpoint, settings.token.clone())?;
    if let Some(code) = login.code() {
        daemon.tell_code(&code);
    }
    let listeners = Arc::new(Semaphore::new(LISTENERS));
    let app = Arc::new(App { settings, daemon, login, watch: Mutex::new(None), listeners });
    Ok(Router::new()
        .route("/", get(front))
        .route("/file/{id}", get(file))
        .route("/live", get(live::stream))
        .route("/login", get(login_page).post(log_in))
        .route("/logout", post(log_out))
        .route("/folder/{id}/{verb}", post(change))
        .route("/style.css", get(|| fixed("text/css; charset=utf-8", include_str!("style.css"))))
        .route(
            "/script.js",
            get(|| fixed("text/javascript; charset=utf-8", include_str!("script.js"))),
        )
        .route("/icon.svg", get(|| fixed("image/svg+xml", include_str!("icon.svg"))))
        .fallback(nothing)
        .layer(from_fn_with_state(names, guard))
        .with_state(app))
}

async fn fixed(kind: &'static str, text: &'static str) -> Response {
    ([(CONTENT_TYPE, kind)], text).into_response()
}

async fn nothing() -> Response {
    not_there("Nothing is here.")
}

fn not_there(words: &str) -> Response {
    (StatusCode::NOT_FOUND, pages::told("Not found", words)).into_response()
}

fn see(place: &str) -> Response {
    let place = HeaderValue::from_str(place).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(LOCATION, place)]).into_response()
}

fn failed(error: &dyn std::fmt::Display) -> Response {
    did_not_work(&shown(error.to_string().as_bytes()))
}

fn failed_by_catalog(app: &App, error: &CatalogError) -> Response {
    did_not_work(&failure(&app.settings.catalog, error))
}

fn did_not_work(words: &str) -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, pages::told("This did not work", words)).into_response()
}

async fn login_page(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    match app.login.session(&headers) {
        Some(_) => see("/"),
        None => pages::log_in(app.login.takes_token(), None).into_response(),
    }
}

/// The fields of a form, if it is one, is small, and comes.
async fn form(request: Request) -> Option<HashMap<String, String>> {
    let (parts, body) = request.into_parts();
    let bytes = timeout(PATIENCE, to_bytes(body, FORM)).await.ok()?.ok()?;
    let request = Request::from_parts(parts, Body::from(bytes));
    Form::from_request(request, &()).await.ok().map(|Form(fields)| fields)
}

fn no_form() -> Response {
    (StatusCode::BAD_REQUEST, pages::told("No form", "A small form is wanted.")).into_response()
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
                app.daemon.tell_code(&code);
            }
            ([(SET_COOKIE, app.login.cookie(&session, is_secure))], see("/")).into_response()
        }
        Ok(Answer::Wrong) => (StatusCode::FORBIDDEN, page("That is not it.")).into_response(),
        Ok(Answer::ManyWrong) => {
            let words =
                "That is not it. Many wrong ones were tried in this minute; the right one logs in.";
            (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "60")], page(words)).into_response()
        }
        Err(error) => failed(&error),
    }
}

/// The fields of a form of a browser that is logged in, with the token of that; else the answer.
async fn own_form(
    app: &App,
    request: Request,
) -> Result<(Session, HashMap<String, String>), Response> {
    let Some(session) = app.login.session(request.headers()) else {
        let words = "Whoever changes something has to be logged in.";
        return Err((StatusCode::FORBIDDEN, pages::told("Not logged in", words)).into_response());
    };
    let fields = form(request).await.ok_or_else(no_form)?;
    if !fields.get("token").is_some_and(|token| session.is_of(token)) {
        let words = "The form is not of this page. Load the page again.";
        return Err((StatusCode::FORBIDDEN, pages::told("Not from here", words)).into_response());
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
    Path((id, verb)): Path<(String, String)>,
    request: Request,
) -> Response {
    let fields = match own_form(&app, request).await {
        Ok((_, fields)) => fields,
        Err(response) => return response,
    };
    let Ok(id) = id.parse() else { return not_there("No folder is called so.") };
    let steered = {
        let app = Arc::clone(&app);
        spawn_blocking(move || steer(&app.settings.catalog, id, &verb, &fields)).await
    };
    match steered {
        Ok(Ok(())) => see(&format!("/#folder-{id}")),
        Ok(Err(Refusal::Unknown)) => {
            not_there("No folder is called so, or nothing can be done with it that is.")
        }
        Ok(Err(Refusal::Wrong(words))) => {
            (StatusCode::UNPROCESSABLE_ENTITY, pages::told("Nothing was changed", &words))
                .into_response()
        }
        Ok(Err(Refusal::Catalog(
            error @ (CatalogError::TooSlow { .. } | CatalogError::TooShort { .. }),
        ))) => {
            let words = failure(&app.settings.catalog, &error);
            (StatusCode::UNPROCESSABLE_ENTITY, pages::told("Nothing was changed", &words))
                .into_response()
        }
        Ok(Err(Refusal::Catalog(error))) => failed_by_catalog(&app, &error),
        Err(error) => failed(&error),
    }
}

async fn file(State(app): State<Arc<App>>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if app.login.session(&headers).is_none() {
        return see("/login");
    }
    let Ok(id) = id.parse() else { return not_there("No file is called so.") };
    let made = {
        let app = Arc::clone(&app);
        spawn_blocking(move || bad::file(&Catalog::look(&app.settings.catalog)?, id, now()))
    };
    match made.await {
        Ok(Ok(Some(page))) => page.into_response(),
        Ok(Ok(None)) => not_there("The catalog knows no file of this number."),
        Ok(Err(error)) => failed_by_catalog(&app, &error),
        Err(error) => failed(&error),
    }
}

/// The page itself, part after part: its beginning waits for nothing.
async fn front(
    State(app): State<Arc<App>>,
    Query(asked): Query<HashMap<String, String>>,
    method: Method,
    headers: HeaderMap,
) -> Response {
    let Some(session) = app.login.session(&headers) else { return see("/login") };
    let kind = [(CONTENT_TYPE, "text/html; charset=utf-8")];
    if method == Method::HEAD {
        return kind.into_response();
    }
    let after = asked.get("after").and_then(|after| after.parse().ok()).unwrap_or(0);
    let (send, receive) = mpsc::channel(PARTS);
    // It goes on by itself; there is room for all of it.
    spawn_blocking(move || {
        let mut put = |part: Markup| _ = send.try_send(Bytes::from(part.into_string()));
        put(head(&app, &session));
        if let Err(error) = parts(&app, &session, after, &mut put) {
            put(pages::failed(&failure(&app.settings.catalog, &error)));
        }
        put(html! { (maud::PreEscaped("</main>")) (pages::end()) });
    });
    (kind, Body::new(Flow(receive))).into_response()
}

fn head(app: &App, session: &Session) -> Markup {
    use std::os::unix::ffi::OsStrExt as _;
    html! {
        (pages::begin("lanesum", true))
        header {
            h1 { "lanesum" }
            p { bdi { (shown(app.settings.catalog.as_os_str().as_bytes())) } ", " span #at data-live { (moment(now())) } }
            form method="post" action="/logout" { (pages::token(session)) button { "Log out" } }
        }
        (maud::PreEscaped("<main>"))
    }
}

fn parts(
    app: &App,
    session: &Session,
    after: i64,
    put: &mut dyn FnMut(Markup),
) -> Result<(), CatalogError> {
    let now = now();
    let catalog = Catalog::look(&app.settings.catalog)?;
    put(bad::section(&catalog, after, now)?);
    put(live::section(app.daemon.reading().as_ref()));
    let all = catalog.overviews(now)?;
    put(folders::section(&all, catalog.path(), session, now));
    put(history::section(&catalog, &all, now)?);
    Ok(())
}
