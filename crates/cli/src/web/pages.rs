//! The frame of all pages, and the small pages.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::web::view::Context;

/// The beginning of a page, up to its content. A live page loads the script that updates it.
pub fn begin(title: &str, is_live: bool) -> Markup {
    html! {
        (DOCTYPE)
        (PreEscaped("<html lang=\"en\">"))
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            // For other sites the header says no-referrer. With that, browsers would send the
            // page's own forms without an origin.
            meta name="referrer" content="same-origin";
            meta name="color-scheme" content="light dark";
            title { (title) }
            link rel="icon" href="/icon.svg" type="image/svg+xml";
            link rel="stylesheet" href="/style.css";
            script src="/script.js" defer data-follow[is_live] {}
        }
        (PreEscaped("<body>"))
    }
}

/// The end of a page.
pub fn end() -> Markup {
    html! { (PreEscaped("</body></html>\n")) }
}

/// The header of a page: the program, the machine, the time.
pub fn header(context: &Context) -> Markup {
    html! {
        header {
            p class="brand" {
                a href="/" { "lanesum" }
                @if !context.host.is_empty() { " on " b { (context.host) } }
            }
            p #at data-live class="at" { (context.time(context.now)) }
            form method="post" action="/logout" { (token(context)) button { "Log out" } }
        }
    }
}

/// A page with one message.
pub fn message(title: &str, words: &str) -> Markup {
    html! {
        (begin(title, false))
        main class="narrow" { h1 { (title) } p { (words) } p { a href="/" { "All folders" } } }
        (end())
    }
}

/// The page where users log in. `error` is about the code that they typed before.
pub fn log_in(takes_token: bool, error: Option<&str>) -> Markup {
    let (label, hint) = if takes_token {
        ("Token", "The token is in the file that lanesum serve got with --token-file.")
    } else {
        ("Code", "lanesum serve prints the code where it was started. Each code is valid once.")
    };
    html! {
        (begin("Log in - lanesum", false))
        main class="narrow" {
            h1 { "lanesum" }
            @if let Some(error) = error { p class="bad" role="alert" { (error) } }
            form method="post" action="/login" {
                label for="code" { (label) }
                input #code name="code" type=(if takes_token { "password" } else { "text" })
                    autocomplete="off" autocapitalize="characters" spellcheck="false" required autofocus
                    maxlength="1000" aria-describedby="hint";
                p #hint { (hint) }
                button class="main" { "Log in" }
            }
        }
        (end())
    }
}

/// The token of a form.
pub fn token(context: &Context) -> Markup {
    html! { input type="hidden" name="token" value=(context.token); }
}
