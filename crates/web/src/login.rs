//! Who is logged in: whoever typed the code that the daemon told, or the token that it was given.
//!
//! A code logs in once, and then there is another. It is typed, and never part of an address, which
//! browsers keep and send on. What a browser keeps instead is a cookie of 256 random bits, which no
//! other site can make it send; each form has a token beside it.

use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use constant_time_eq::constant_time_eq;

use crate::endpoint::Endpoint;

/// Letters that are not taken for others.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Browsers that are logged in at a time: the oldest is forgotten.
const SESSIONS: usize = 32;
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Letters of a code, in groups of four. One of 2^60 is not found by trying, so that what is right
/// is good however much was wrong: else whoever tries keeps everybody out.
const CODE: usize = 12;
/// Wrong words in a minute, after which whoever types one is told that it is not his alone.
const WRONG: u32 = 10;
const MINUTE: Duration = Duration::from_secs(60);

/// A browser that is logged in.
#[derive(Clone)]
pub struct Session {
    cookie: String,
    /// What its forms carry.
    pub token: String,
    since: Instant,
}

/// What came of it that somebody typed a word.
pub enum Answer {
    /// A cookie to keep.
    In(Session),
    Wrong,
    /// As were many others in this minute.
    ManyWrong,
}

pub struct Login {
    /// What the cookie is called. Cookies know of no ports.
    name: String,
    /// A token that was given; it stays good.
    given: Option<String>,
    state: Mutex<State>,
}

struct State {
    code: String,
    sessions: VecDeque<Session>,
    /// How many were wrong in this minute.
    wrong: (Instant, u32),
}

impl Login {
    /// # Errors
    /// The system gives no random bytes.
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

    /// The code that logs in; none where a token does.
    pub fn code(&self) -> Option<String> {
        self.given.is_none().then(|| self.lock().code.clone())
    }

    /// Whether there is a token in place of codes.
    pub fn takes_token(&self) -> bool {
        self.given.is_some()
    }

    /// Logs in whoever typed the right word.
    ///
    /// # Errors
    /// The system gives no random bytes.
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

    /// The browser that these headers are of, if it is logged in.
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

    /// Forgets a browser.
    pub fn log_out(&self, session: &Session) {
        self.lock().sessions.retain(|it| it.token != session.token);
    }

    /// What lets a browser keep a cookie; `is_secure` where it came through TLS.
    pub fn cookie(&self, session: &Session, is_secure: bool) -> String {
        self.set_cookie(&session.cookie, LONGEST.as_secs(), is_secure)
    }

    /// What lets it forget that.
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
    /// Whether a form carries its token.
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

/// `K7QF-29TM-4XWD`.
fn code() -> io::Result<String> {
    let letters = bytes::<CODE>()?.map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
    let groups: Vec<_> = letters.chunks(4).map(String::from_iter).collect();
    Ok(groups.join("-"))
}

/// A code as it is meant, however it was typed.
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
    fn a_code_logs_in_once() {
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
    fn what_is_right_logs_in_however_much_was_wrong() {
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
    fn the_oldest_browser_is_forgotten() {
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
