//! Logging in with a code that the daemon prints, or with a token from a file.
//!
//! A code is valid once; then a new one is printed. Users type it. It is never part of an address,
//! since browsers store addresses and send them on. The browser gets a cookie of 256 random bits,
//! which no other site can make it send, and each form carries a token in addition.

use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use constant_time_eq::constant_time_eq;

use crate::web::endpoint::Endpoint;

/// Letters that users do not confuse.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Browsers that are logged in at a time. One more logs the oldest out.
const SESSIONS: usize = 32;
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Letters of a code, in groups of four. One of 2^60 codes cannot be guessed, so the right code is
/// valid after any number of wrong ones. Otherwise an attacker could lock all users out.
const CODE: usize = 12;
/// Wrong codes in a minute after which the page mentions them.
const WRONG: u32 = 10;
const MINUTE: Duration = Duration::from_secs(60);

/// A browser that is logged in.
#[derive(Clone)]
pub struct Session {
    cookie: String,
    /// The token of its forms.
    pub token: String,
    since: Instant,
}

/// The result of a login.
pub enum Answer {
    /// The browser is logged in.
    In(Session),
    Wrong,
    /// Wrong, as many others in this minute.
    ManyWrong,
}

pub struct Login {
    /// The name of the cookie, with the port, since browsers share cookies between ports.
    name: String,
    /// The token from the settings, which stays valid.
    given: Option<String>,
    state: Mutex<State>,
}

struct State {
    code: String,
    sessions: VecDeque<Session>,
    /// The start of this minute, and its wrong codes.
    wrong: (Instant, u32),
}

impl Login {
    /// # Errors
    /// The system has no random bytes.
    pub fn new(endpoint: &Endpoint, given: Option<String>) -> io::Result<Self> {
        let name = match endpoint {
            Endpoint::Address(address) => format!("lanesum-{}", address.port()),
            Endpoint::Socket(_) => "lanesum".to_owned(),
        };
        let state = State { code: code()?, sessions: VecDeque::new(), wrong: (Instant::now(), 0) };
        Ok(Self { name, given, state: Mutex::new(state) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The code that is valid now; none where a token is used.
    pub fn code(&self) -> Option<String> {
        self.given.is_none().then(|| self.lock().code.clone())
    }

    /// Whether a token is used in place of codes.
    pub fn takes_token(&self) -> bool {
        self.given.is_some()
    }

    /// Logs a browser in if the code or token is right.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub fn log_in(&self, typed: &str) -> io::Result<Answer> {
        let mut state = self.lock();
        let is_right = match &self.given {
            Some(token) => constant_time_eq(typed.trim().as_bytes(), token.as_bytes()),
            None => constant_time_eq(read(typed).as_bytes(), read(&state.code).as_bytes()),
        };
        if !is_right {
            if state.wrong.0.elapsed() >= MINUTE {
                state.wrong = (Instant::now(), 0);
            }
            state.wrong.1 = state.wrong.1.saturating_add(1);
            return Ok(if state.wrong.1 > WRONG { Answer::ManyWrong } else { Answer::Wrong });
        }
        let session = Session { cookie: random()?, token: random()?, since: Instant::now() };
        state.code = code()?;
        state.sessions.push_back(session.clone());
        if state.sessions.len() > SESSIONS {
            state.sessions.pop_front();
        }
        Ok(Answer::In(session))
    }

    /// The session that these headers belong to, if they belong to one.
    pub fn session(&self, headers: &HeaderMap) -> Option<Session> {
        let mut state = self.lock();
        state.sessions.retain(|session| session.since.elapsed() < LONGEST);
        let cookies = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
        let values = cookies
            .flat_map(|it| it.split(';'))
            .filter_map(|it| it.trim().strip_prefix(self.name.as_str())?.strip_prefix('='));
        let mut found = None;
        for value in values {
            for session in &state.sessions {
                if constant_time_eq(value.as_bytes(), session.cookie.as_bytes()) {
                    found = Some(session.clone());
                }
            }
        }
        found
    }

    /// Logs a browser out.
    pub fn log_out(&self, session: &Session) {
        self.lock().sessions.retain(|it| it.token != session.token);
    }

    /// The header that sets the cookie; `is_secure` where the browser uses TLS.
    pub fn cookie(&self, session: &Session, is_secure: bool) -> String {
        self.set_cookie(&session.cookie, LONGEST.as_secs(), is_secure)
    }

    /// The header that deletes the cookie.
    pub fn no_cookie(&self) -> String {
        self.set_cookie("", 0, false)
    }

    fn set_cookie(&self, value: &str, seconds: u64, is_secure: bool) -> String {
        let secure = if is_secure { "; Secure" } else { "" };
        format!(
            "{}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}",
            self.name
        )
    }
}

impl Session {
    /// Whether this is the token of its forms.
    pub fn is_of(&self, token: &str) -> bool {
        constant_time_eq(token.as_bytes(), self.token.as_bytes())
    }
}

fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

fn random() -> io::Result<String> {
    Ok(bytes::<32>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A random code: `K7QF-29TM-4XWD`.
fn code() -> io::Result<String> {
    let letters = bytes::<CODE>()?.map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
    let groups: Vec<_> = letters.chunks(4).map(String::from_iter).collect();
    Ok(groups.join("-"))
}

/// A typed code without its typing errors: lower case, separators, O and I for 0 and 1.
fn read(typed: &str) -> String {
    let letters = typed.chars().filter(|letter| letter.is_ascii_alphanumeric());
    let letters = letters.map(|letter| match letter.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        letter => letter,
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(given: Option<&str>) -> Login {
        let endpoint = Endpoint::Address(([127, 0, 0, 1], 8417).into());
        Login::new(&endpoint, given.map(str::to_owned)).unwrap()
    }

    fn of(cookie: &str) -> HeaderMap {
        let kept = cookie.split(';').next().unwrap();
        HeaderMap::from_iter([(COOKIE, format!("a=b; {kept}; c=d").parse().unwrap())])
    }

    #[test]
    fn a_code_is_valid_once() {
        let login = login(None);
        let code = login.code().unwrap();
        let typed = format!(" {} ", code.to_lowercase().replace('0', "o").replace('-', " "));
        let Answer::In(session) = login.log_in(&typed).unwrap() else { panic!("{code}") };
        let cookie = login.cookie(&session, false);
        assert!(
            cookie.starts_with("lanesum-8417=") && cookie.contains("SameSite=Strict"),
            "{cookie}"
        );
        let found = login.session(&of(&cookie)).expect("it is logged in");
        assert!(found.is_of(&session.token) && !found.is_of("") && !found.is_of(&session.cookie));
        assert!(matches!(login.log_in(&code).unwrap(), Answer::Wrong));
        assert_ne!(login.code().unwrap(), code);
        login.log_out(&found);
        assert!(login.session(&of(&cookie)).is_none());
    }

    #[test]
    fn the_right_code_works_after_many_wrong_ones() {
        let token = "a token of some length";
        for login in [login(Some(token)), login(None)] {
            assert_eq!(login.code().is_some(), !login.takes_token());
            for _ in 0..WRONG {
                assert!(matches!(login.log_in("").unwrap(), Answer::Wrong));
            }
            assert!(matches!(login.log_in("a token").unwrap(), Answer::ManyWrong));
            let right = login.code().unwrap_or_else(|| format!("{token}\n"));
            assert!(matches!(login.log_in(&right).unwrap(), Answer::In(_)));
            assert!(matches!(login.log_in("").unwrap(), Answer::ManyWrong));
            login.lock().wrong.0 -= MINUTE;
            assert!(matches!(login.log_in("").unwrap(), Answer::Wrong));
        }
    }

    #[test]
    fn a_code_has_sixty_bits() {
        let code = code().unwrap();
        assert!(read(&code).bytes().all(|letter| LETTERS.contains(&letter)), "{code}");
        assert_eq!((read(&code).len(), code.split('-').count()), (CODE, 3), "{code}");
    }

    #[test]
    fn the_oldest_browser_is_logged_out() {
        let login = login(Some("token"));
        let log_in = || match login.log_in("token").unwrap() {
            Answer::In(session) => login.cookie(&session, false),
            _ => panic!("the token is right"),
        };
        let first = log_in();
        let all: Vec<_> = (0..SESSIONS).map(|_| log_in()).collect();
        assert!(login.session(&of(&first)).is_none());
        assert!(all.iter().all(|cookie| login.session(&of(cookie)).is_some()));
        assert!(login.session(&of("lanesum-8417=")).is_none());
    }
}
