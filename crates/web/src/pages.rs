//! What all pages have, and the small ones.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::login::Session;

/// How a page begins, up to what it holds.
pub fn begin(title: &str, is_live: bool) -> Markup {
    html! {
        (DOCTYPE)
        (PreEscaped("<html lang=\"en\">"))
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            // For other sites it is as of the header, no-referrer; but with that, a browser would
            // send forms to the page itself without its origin, too.
            meta name="referrer" content="same-origin";
            meta name="color-scheme" content="light dark";
            title { (title) }
            link rel="icon" href="/icon.svg" type="image/svg+xml";
            link rel="stylesheet" href="/style.css";
            @if is_live { script src="/script.js" defer {} }
        }
        (PreEscaped("<body>"))
    }
}

/// How it ends.
pub fn end() -> Markup {
    html! { (PreEscaped("</body></html>\n")) }
}

/// A page that says one thing.
pub fn told(title: &str, words: &str) -> Markup {
    html! {
        (begin(title, false))
        main { h1 { (title) } p { (words) } p { a href="/" { "To the page" } } }
        (end())
    }
}

/// Where a code is typed, and why it has to be once more.
pub fn log_in(takes_token: bool, why: Option<&str>) -> Markup {
    let (what, how) = if takes_token {
        ("Token", "It is in the file that lanesum serve was given with --token-file.")
    } else {
        ("Code", "lanesum serve tells it where it was started, and a new one after each use.")
    };
    html! {
        (begin("Log in - lanesum", false))
        main class="narrow" {
            h1 { "lanesum" }
            @if let Some(why) = why { p class="bad" role="alert" { (why) } }
            form method="post" action="/login" {
                label for="code" { (what) }
                input #code name="code" type=(if takes_token { "password" } else { "text" })
                    autocomplete="off" autocapitalize="characters" spellcheck="false" required autofocus
                    maxlength="1000" aria-describedby="how";
                p #how { (how) }
                button { "Log in" }
            }
        }
        (end())
    }
}

/// The token of a form.
pub fn token(session: &Session) -> Markup {
    html! { input type="hidden" name="token" value=(session.token); }
}

/// What went wrong instead of a part of the page.
pub fn failed(words: &str) -> Markup {
    html! { section { h2 class="bad" { "This page is not whole" } p class="bad" role="alert" { (words) } } }
}
