//! The page over HTTP, with real catalogs: who is answered, and what.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use lanesum_catalog::{Catalog, Options, Policy, Reread, Verb};
use lanesum_web::{Daemon, Door, Endpoint, Reading, Settings};

/// Far longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Stub {
    codes: Mutex<Vec<String>>,
    reading: Mutex<Option<Reading>>,
}

impl Daemon for Stub {
    fn reading(&self) -> Option<Reading> {
        self.reading.lock().unwrap().clone()
    }

    fn tell_code(&self, code: &str) {
        self.codes.lock().unwrap().push(code.to_owned());
    }
}

/// A folder, its catalog, and a page of that.
struct Served {
    folder: tempfile::TempDir,
    address: SocketAddr,
    daemon: Arc<Stub>,
}

/// What was answered.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(it, _)| it.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// Someone who is logged in.
struct Browser<'page> {
    page: &'page Served,
    cookie: String,
    token: String,
}

fn fill(folder: &Path, names: &[&[u8]]) {
    for name in names {
        let path = folder.join("tree").join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = fs::File::create(&path).unwrap();
        (&file).write_all(name).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
    }
}

/// Lets a file have another content under the same time, which is called altered.
fn alter(path: &Path) {
    let file = fs::File::create(path).unwrap();
    (&file).write_all(b"other content").unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
}

impl Served {
    fn of(names: &[&[u8]]) -> Self {
        Self::with(names, |_| {})
    }

    fn with(names: &[&[u8]], change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tree")).unwrap();
        fs::create_dir(folder.path().join("state")).unwrap();
        fill(folder.path(), names);
        let catalog = folder.path().join("state/catalog.db");
        let mut settings = Settings { catalog, ..Settings::default() };
        change(&mut settings);
        run(&settings.catalog, folder.path(), Verb::Add);
        let daemon = Arc::new(Stub::default());
        let door = Door::open(&Endpoint::Address(([127, 0, 0, 1], 0).into())).unwrap();
        let Endpoint::Address(address) = *door.endpoint() else { panic!("it is an address") };
        door.serve(settings, daemon.clone()).unwrap();
        Self { folder, address, daemon }
    }

    fn path(&self, name: impl AsRef<[u8]>) -> PathBuf {
        self.folder.path().join("tree").join(OsStr::from_bytes(name.as_ref()))
    }

    fn catalog(&self) -> PathBuf {
        self.folder.path().join("state/catalog.db")
    }

    fn audit(&self) {
        run(&self.catalog(), self.folder.path(), Verb::Audit);
    }

    fn host(&self) -> String {
        format!("localhost:{}", self.address.port())
    }

    /// Sends what stands there, and reads until the end.
    fn send(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        answer_of(&answer)
    }

    fn get(&self, path: &str, more: &str) -> Answer {
        let host = self.host();
        self.send(&format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n"
        ))
    }

    fn post(&self, path: &str, more: &str, form: &str) -> Answer {
        let (host, length) = (self.host(), form.len());
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n{more}\r\n{form}"
        ))
    }

    /// What a browser says when the page itself sends a form.
    fn own_headers(&self) -> String {
        format!("Origin: http://{}\r\nSec-Fetch-Site: same-origin\r\n", self.host())
    }

    fn log_in(&self) -> Browser<'_> {
        let code = self.daemon.codes.lock().unwrap().last().unwrap().clone();
        let answer = self.post("/login", &self.own_headers(), &format!("code={code}"));
        assert_eq!((answer.status, answer.header("location")), (303, Some("/")), "{}", answer.body);
        let cookie = answer.header("set-cookie").expect("a cookie").to_owned();
        for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        let cookie = format!("Cookie: {}\r\n", cookie.split(';').next().unwrap());
        let front = self.get("/", &cookie).body;
        let (_, token) = front.split_once("name=\"token\" value=\"").expect("a form");
        let token = token.split('"').next().unwrap().to_owned();
        Browser { page: self, cookie, token }
    }
}

impl Browser<'_> {
    fn get(&self, path: &str) -> Answer {
        self.page.get(path, &self.cookie)
    }

    fn post(&self, path: &str, fields: &str) -> Answer {
        let more = self.page.own_headers() + &self.cookie;
        self.page.post(path, &more, &format!("token={}{fields}", self.token))
    }
}

fn run(catalog: &Path, folder: &Path, verb: Verb) {
    let mut catalog = Catalog::open(catalog, "test").unwrap();
    let root = match catalog.roots().unwrap().pop() {
        Some(root) => root,
        None => catalog.add_root(&folder.join("tree"), Policy::default()).unwrap(),
    };
    let mut options = Options::default();
    options.engine.threads = 1;
    options.reread = if verb == Verb::Audit { Reread::All } else { options.reread };
    catalog.run(&root, verb, &options, &mut |_| Ok(())).unwrap();
}

fn answer_of(bytes: &[u8]) -> Answer {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    let mut answer = Answer {
        status: status.unwrap_or_else(|| panic!("no answer: {text}")),
        head: head.to_owned(),
        body: body.to_owned(),
    };
    if answer.header("transfer-encoding") == Some("chunked") {
        let (mut rest, mut whole) = (body, String::new());
        while let Some((size, after)) = rest.split_once("\r\n") {
            let size = usize::from_str_radix(size, 16).unwrap();
            whole += &after[..size];
            rest = after[size..].strip_prefix("\r\n").unwrap();
        }
        answer.body = whole;
    }
    answer
}

#[test]
fn every_answer_says_that_nothing_else_may_run() {
    let page = Served::of(&[b"a"]);
    let browser = page.log_in();
    let answers = [
        ("/", browser.get("/"), 200),
        ("/login", page.get("/login", ""), 200),
        ("/ of whoever is not logged in", page.get("/", ""), 303),
        ("/style.css", page.get("/style.css", ""), 200),
        ("/script.js", page.get("/script.js", ""), 200),
        ("/icon.svg", page.get("/icon.svg", ""), 200),
        ("/nothing", page.get("/nothing", ""), 404),
        ("/../../etc/passwd", page.get("/../../etc/passwd", ""), 404),
        ("a file that is none", browser.get("/file/99999"), 404),
        ("a file that is no number", browser.get("/file/1%27--"), 404),
        (
            "another name",
            page.send("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"),
            421,
        ),
        ("a form by GET", browser.get("/folder/1/pause"), 405),
        ("a post from nowhere", page.post("/login", "", "code=x"), 403),
        ("/live of whoever is not logged in", page.get("/live", ""), 403),
    ];
    for (what, answer, status) in answers {
        assert_eq!(answer.status, status, "{what}: {}", answer.body);
        let policy = answer.header("content-security-policy").expect(what);
        assert!(
            policy.starts_with("default-src 'none';") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{what}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{what}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{what}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{what}");
        for word in [" style=", "<style", " onclick=", "javascript:"] {
            assert!(!answer.body.contains(word), "{what} has {word}");
        }
    }
}

#[test]
fn head_is_get_without_the_page() {
    let page = Served::of(&[b"a"]);
    let browser = page.log_in();
    for path in ["/", "/login", "/style.css", "/nothing"] {
        let answer = page.send(&format!(
            "HEAD {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{}\r\n",
            page.host(),
            browser.cookie
        ));
        let whole = browser.get(path);
        assert_eq!((answer.status, answer.body.as_str()), (whole.status, ""), "{path}");
        assert_eq!(answer.header("content-type"), whole.header("content-type"), "{path}");
    }
}

/// A site whose name is made to lead here (DNS rebinding) is told that it is another.
#[test]
fn other_names_are_misdirected() {
    let page = Served::with(&[b"a"], |settings| settings.names = vec!["nas.example".to_owned()]);
    let port = page.address.port();
    let status = |request: &str| page.send(request).status;
    for host in ["localhost:PORT", "127.0.0.1:PORT", "[::1]:PORT", "nas.example", "NAS.example:443"]
    {
        let host = host.replace("PORT", &port.to_string());
        let asked = format!("GET /login HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        assert_eq!(status(&asked), 200, "{host}");
    }
    for hosts in [
        "Host: evil.example\r\n",
        "Host: evil.example:PORT\r\n",
        "Host: localhost.evil.example:PORT\r\n",
        "Host: localhost\r\n",
        "Host: localhost:1\r\n",
        "Host: \r\n",
        "",
        "Host: localhost:PORT\r\nHost: evil.example\r\n",
        "Host: localhost:PORT\r\nHost: localhost:PORT\r\n",
    ] {
        let hosts = hosts.replace("PORT", &port.to_string());
        for more in ["", "X-Forwarded-Host: localhost\r\n"] {
            let asked = format!("GET /login HTTP/1.1\r\n{hosts}{more}Connection: close\r\n\r\n");
            assert_eq!(status(&asked), 421, "{hosts}");
        }
    }
    // Asked as a proxy.
    let host = page.host();
    let asked = |place: &str| {
        format!("GET http://{place}/login HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
    };
    assert_eq!((status(&asked("evil.example")), status(&asked(&host))), (421, 200));
}

#[test]
fn only_the_page_itself_posts() {
    let page = Served::of(&[b"a"]);
    let browser = page.log_in();
    let (host, token) = (page.host(), &browser.token);
    let is_paused = || {
        let catalog = Catalog::look(&page.catalog()).unwrap();
        let root = catalog.roots().unwrap().remove(0);
        catalog.manners(&root).unwrap().paused.is_some()
    };
    let own = format!("Origin: http://{host}\r\n");
    let same = "Sec-Fetch-Site: same-origin\r\n".to_owned();
    for more in [
        String::new(),
        own.clone(),
        same.clone(),
        format!("Origin: http://evil.example\r\n{same}"),
        format!("Origin: null\r\n{same}"),
        format!("Origin: http://localhost:1\r\n{same}"),
        format!("{own}Origin: http://evil.example\r\n{same}"),
        format!("{own}Sec-Fetch-Site: cross-site\r\n"),
        format!("{own}Sec-Fetch-Site: same-site\r\n"),
        format!("{own}{same}Sec-Fetch-Site: cross-site\r\n"),
        format!("Referer: http://{host}/\r\n{same}"),
    ] {
        let answer = page.post(
            "/folder/1/pause",
            &(more.clone() + &browser.cookie),
            &format!("token={token}"),
        );
        assert_eq!(answer.status, 403, "{more}");
    }
    // From here, but without the token, or the cookie.
    let more = page.own_headers();
    for (more, form) in [
        (more.clone() + &browser.cookie, String::new()),
        (more.clone() + &browser.cookie, "token=".to_owned()),
        (more.clone() + &browser.cookie, format!("token={}", "0".repeat(64))),
        (more.clone(), format!("token={token}")),
        (more + "Cookie: lanesum=x\r\n", format!("token={token}")),
    ] {
        assert_eq!(page.post("/folder/1/pause", &more, &form).status, 403, "{more}{form}");
    }
    assert!(!is_paused());
    let answer = browser.post("/folder/1/pause", "");
    assert_eq!((answer.status, answer.header("location")), (303, Some("/#folder-1")));
    assert!(is_paused());
    assert!(browser.get("/").body.contains("PAUSED since"));
    assert_eq!(browser.post("/folder/1/resume", "").status, 303);
    assert!(!is_paused());
}

#[test]
fn a_code_is_used_once_however_many_are_wrong() {
    let page = Served::of(&[b"a"]);
    let first = page.daemon.codes.lock().unwrap()[0].clone();
    let browser = page.log_in();
    assert_eq!(page.daemon.codes.lock().unwrap().len(), 2, "there is another code");
    let type_in =
        |code: &str| page.post("/login", &page.own_headers(), &format!("code={code}")).status;
    for _ in 0..10 {
        assert_eq!(type_in(&first), 403);
    }
    let second = page.daemon.codes.lock().unwrap()[1].clone();
    assert_eq!(type_in(&first), 429);
    assert_eq!(type_in(&second), 303, "the right one logs in");
    // Whoever is in stays in, until he leaves.
    assert_eq!(browser.get("/").status, 200);
    assert_eq!(browser.post("/logout", "").status, 303);
    assert_eq!(browser.get("/").header("location"), Some("/login"));
    assert_eq!(page.get("/", "Cookie: lanesum=\r\n").header("location"), Some("/login"));
}

#[test]
fn a_token_logs_in_in_place_of_codes() {
    let page = Served::with(&[b"a"], |it| it.token = Some("a token of some length".to_owned()));
    assert!(page.daemon.codes.lock().unwrap().is_empty());
    for (typed, status) in [("a+token+of+some+length", 303), ("a+token", 403), ("", 403)] {
        let answer = page.post("/login", &page.own_headers(), &format!("code={typed}"));
        assert_eq!(answer.status, status, "{typed}");
    }
}

#[test]
fn what_is_not_well_comes_first_with_what_to_do() {
    let page = Served::of(&[b"good", b"bad", b"gone"]);
    let browser = page.log_in();
    let front = browser.get("/").body;
    assert!(front.contains("No file is known to be damaged or missing"), "{front}");
    assert!(
        front.contains("3 files") && front.contains("100 % of the files were checked"),
        "{front}"
    );
    alter(&page.path("bad"));
    fs::remove_file(page.path("gone")).unwrap();
    page.audit();
    let front = browser.get("/").body;
    let place = |text: &str| front.find(text).unwrap_or_else(|| panic!("{text} is not in {front}"));
    // Of `bad` and of `other content`, by md5sum.
    let (before, after) = ("bae60998ffe4923b131e3d6e4c19993e", "0c84751f0ca9c6886bb09f2dd1a66faa");
    let digests = place(before) < place("md5 found");
    assert!(digests && place("Not well") < place("Folders"), "{front}");
    let found = front.split(after).count() - 1;
    assert_eq!(found, 1, "{front}");
    assert!(front.contains("Last good") && front.contains("within a day"), "{front}");
    let catalog = page.catalog();
    for (verb, name) in [("accept", "bad"), ("forget", "gone")] {
        let command = format!(
            "lanesum {verb} --catalog {} -- {}",
            catalog.display(),
            page.path(name).canonicalize().unwrap_or(page.path(name)).display()
        );
        assert!(front.contains(&command), "{command} is not in {front}");
    }
    assert!(front.contains("1 altered") && front.contains("1 missing"), "{front}");
    // No form accepts or forgets.
    for verb in ["accept", "forget", "update", "add"] {
        assert_eq!(browser.post(&format!("/folder/1/{verb}"), "").status, 404, "{verb}");
        assert!(!front.contains(&format!("/{verb}\"")), "{verb}");
    }
    let (_, id) = front.split_once("href=\"/file/").unwrap();
    let file = browser.get(&format!("/file/{}", id.split('"').next().unwrap()));
    assert!(file.status == 200 && file.body.contains("altered") && file.body.contains(before));
}

#[test]
fn names_are_bytes_and_text() {
    let long = [b"x".repeat(200), b"/".to_vec(), b"y".repeat(250)].concat();
    let names: [&[u8]; 7] = [
        b"<script>alert(1)</script>",
        b"\" onload=\"alert(1)",
        b"a\nb\x1b[2J",
        b"\xff\xfe",
        "gpj\u{202e}exe".as_bytes(),
        b"&lt;b&gt;'$(reboot)",
        &long,
    ];
    let page = Served::of(&names);
    for name in names {
        alter(&page.path(name));
    }
    page.audit();
    let browser = page.log_in();
    let front = browser.get("/").body;
    assert_eq!(front.matches("<article>").count(), 7, "{front}");
    for shown in [
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "&quot; onload=&quot;alert(1)",
        "a\\nb\\u{1b}[2J",
        "/\u{fffd}\u{fffd}<",
        "gpj\\u{202e}exe",
        "&amp;lt;b&amp;gt;'$(reboot)",
        &"y".repeat(250),
        "$'",
        r"\377\376'",
    ] {
        assert!(front.contains(shown), "{shown} is not in {front}");
    }
    assert!(
        !front.contains("<script>alert") && !front.contains('\x1b') && !front.contains('\u{202e}')
    );
    for link in front.split("href=\"/file/").skip(1) {
        let id = link.split('"').next().unwrap();
        let file = browser.get(&format!("/file/{id}"));
        assert!(file.status == 200 && !file.body.contains("<script>alert"), "{id}");
    }
}

#[test]
fn much_that_is_not_well_comes_in_pages() {
    let names: Vec<String> = (0..45).map(|number| format!("{number:03}")).collect();
    let page = Served::of(&names.iter().map(|name| name.as_bytes()).collect::<Vec<_>>());
    for name in &names {
        alter(&page.path(name));
    }
    page.audit();
    let browser = page.log_in();
    let (mut path, mut seen) = ("/".to_owned(), Vec::new());
    loop {
        let front = browser.get(&path).body;
        let ids =
            front.split("href=\"/file/").skip(1).map(|it| it.split('"').next().unwrap().to_owned());
        seen.extend(ids);
        assert!(front.contains("45 altered"), "the folder tells of all");
        let Some((_, next)) = front.split_once("href=\"/?after=") else { break };
        path = format!("/?after={}", next.split('"').next().unwrap());
    }
    assert_eq!(seen.len(), 45);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 45);
    assert_eq!(browser.get("/?after=%27+OR+1").status, 200);
}

#[test]
fn a_folder_is_steered() {
    let page = Served::of(&[b"a"]);
    let browser = page.log_in();
    let manners = || {
        let catalog = Catalog::look(&page.catalog()).unwrap();
        let root = catalog.roots().unwrap().remove(0);
        (catalog.manners(&root).unwrap(), root.policy.every_days)
    };
    assert_eq!(browser.post("/folder/1/limit", "&every=30&rate=80&between=1:00-6:00").status, 303);
    let (now, every) = manners();
    assert_eq!((now.rate, every), (Some(80_000_000), 30));
    assert_eq!(now.window.unwrap().to_string(), "1:00-6:00");
    assert!(
        browser.get("/").body.contains("every 30 days, at most 80.00 MB a second, in 1:00-6:00")
    );
    for wrong in ["&every=0", "&rate=fast", "&rate=-1", "&between=noon"] {
        let answer = browser.post("/folder/1/limit", wrong);
        assert_eq!(answer.status, 422, "{wrong}");
        assert!(answer.body.contains("Nothing was changed"), "{}", answer.body);
    }
    assert_eq!(manners(), (now, every));
    assert_eq!(browser.post("/folder/1/check", "").status, 303);
    assert!(manners().0.asked.is_some());
    let check = "/folder/1/check\"";
    let front = browser.get("/").body;
    assert!(front.contains("Asked for") && front.contains(check), "{front}");
    // Nothing is read while it is paused, so nothing is offered.
    assert_eq!(browser.post("/folder/1/pause", "").status, 303);
    let front = browser.get("/").body;
    assert!(front.contains("PAUSED") && !front.contains("Asked for"), "{front}");
    assert!(!front.contains(check), "{front}");
    assert_eq!(browser.post("/folder/1/resume", "").status, 303);
    assert!(browser.get("/").body.contains(check));
    for path in ["/folder/2/pause", "/folder/-1/pause", "/folder/x/pause", "/folder/1/explode"] {
        assert_eq!(browser.post(path, "").status, 404, "{path}");
    }
    let large = browser.post("/folder/1/limit", &format!("&rate={}", "9".repeat(100_000)));
    assert_eq!(large.status, 400);
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    let page = Served::of(&[b"a"]);
    fs::rename(page.path(""), page.folder.path().join("elsewhere")).unwrap();
    fs::create_dir(page.path("")).unwrap();
    page.audit();
    let front = page.log_in().get("/").body;
    assert!(front.contains("SUSPENDED: ") && front.contains("NOT done: suspended"), "{front}");
    let (first, _) = front.split_once("</section>").unwrap();
    assert!(first.contains("Mount or put back what belongs there."), "{front}");
    assert!(first.contains("Not well") && first.contains(">suspended<"), "{front}");
    assert!(!front.contains("No file is known to be damaged"), "{front}");
}

/// An edit is no damage, a missing file is, and what is new is told.
#[test]
fn each_is_told_with_what_belongs_to_it() {
    let page = Served::of(&[b"edited", b"gone", b"same"]);
    fs::write(page.path("edited"), "another content of it").unwrap();
    fs::remove_file(page.path("gone")).unwrap();
    fs::write(page.path("new"), "new").unwrap();
    page.audit();
    let front = page.log_in().get("/").body;
    assert!(front.contains("NOT WELL: 1 missing<"), "{front}");
    assert!(front.contains("NOT TAKEN UP: 1 changed, 1 new. "), "{front}");
    let (_, edited) = front.split_once("tree/edited").unwrap();
    let (edited, _) = edited.split_once("</article>").unwrap();
    assert!(edited.contains("It is taken up by ") && !edited.contains("good copy"), "{edited}");
    let (_, table) = front.split_once("Damaged, missing").unwrap();
    let (_, audit) = table.split_once("<td data-label=\"What\">audit</td>").unwrap();
    let (audit, _) = audit.split_once("</tr>").unwrap();
    assert!(audit.ends_with("class=\"bad\">1</td>"), "{audit}");
}

#[test]
fn a_folder_without_files_is_told() {
    let front = Served::of(&[]).log_in().get("/").body;
    assert!(front.contains("NOTHING CATALOGED: no regular file was in it"), "{front}");
    assert!(front.contains("NOT complete: no file of it is cataloged"), "{front}");
    assert!(!front.contains(", complete"), "{front}");
}

#[test]
fn a_damaged_catalog_is_said_to_be() {
    let page = Served::of(&[b"a"]);
    let browser = page.log_in();
    let length = fs::metadata(page.catalog()).unwrap().len();
    let log = page.folder.path().join("state/catalog.db-wal");
    assert!(!log.exists(), "all of it is in the catalog");
    let mut bytes = fs::read(page.catalog()).unwrap();
    let places: Vec<_> =
        (0..bytes.len() - 5).filter(|&at| &bytes[at..at + 5] == b"/tree").collect();
    assert!(!places.is_empty(), "the path of the root");
    places.into_iter().for_each(|place| bytes[place] ^= 1);
    fs::write(page.catalog(), &bytes).unwrap();
    assert_eq!(fs::metadata(page.catalog()).unwrap().len(), length);
    let front = browser.get("/").body;
    assert!(
        front.contains("This page is not whole") && front.contains("catalog is damaged"),
        "{front}"
    );
    let check = format!("`lanesum catalog check --catalog {}`", page.catalog().display());
    assert!(front.contains(&check), "{front}");
    assert!(!front.contains("No file is known to be damaged"), "{front}");
    assert!(front.ends_with("</main></body></html>\n"), "{front}");
}

/// What a page of the catalog hides may be what is damaged: nothing good is said before.
#[test]
fn nothing_good_is_said_of_a_catalog_that_has_lost_rows() {
    let page = Served::of(&[b"a", b"b"]);
    let browser = page.log_in();
    alter(&page.path("a"));
    page.audit();
    let bytes = fs::read(page.catalog()).unwrap();
    let size = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let (mut of_damage, mut not_whole) = (0, 0);
    for begin in (size..bytes.len()).step_by(size) {
        // Leaves of tables that have a row: none from now on.
        if bytes[begin] != 13 || bytes[begin + 4] == 0 {
            continue;
        }
        let mut hiding = bytes.clone();
        hiding[begin + 4] = 0;
        fs::write(page.catalog(), &hiding).unwrap();
        let front = browser.get("/").body;
        assert!(!front.contains("No file is known to be damaged"), "{front}");
        of_damage += u32::from(front.contains("altered"));
        not_whole += u32::from(front.contains("This page is not whole"));
    }
    assert!(of_damage > 0 && not_whole > 2, "{of_damage} {not_whole}");
}

#[test]
fn how_it_goes_is_told_each_second() {
    let page = Served::of(&[b"a"]);
    let browser = page.log_in();
    assert!(browser.get("/").body.contains("Nothing is read at the moment."));
    let mut reading = Reading {
        root: "/<photos>".into(),
        of_files: 10,
        of_bytes: 1_000_000,
        files: 3,
        bytes: 250_000,
        rate: 80_000_000,
        left: Some(Duration::from_secs(300)),
    };
    *page.daemon.reading.lock().unwrap() = Some(reading.clone());
    assert!(
        browser
            .get("/")
            .body
            .contains("Reads /&lt;photos&gt;: 250.00 kB of 1.00 MB, 3 of 10 files.")
    );
    let mut stream = TcpStream::connect(page.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let asked = format!("GET /live HTTP/1.1\r\nHost: {}\r\n{}\r\n", page.host(), browser.cookie);
    stream.write_all(asked.as_bytes()).unwrap();
    let (mut text, mut part) = (String::new(), [0; 4096]);
    let mut until = |what: &str| {
        while !text.contains(what) {
            let read = stream.read(&mut part).unwrap();
            assert!(read > 0, "it ended: {text}");
            text += str::from_utf8(&part[..read]).unwrap();
        }
        text.clone()
    };
    let first = until("\"left\":\"5 minutes\"");
    assert!(
        first.contains("text/event-stream") && first.contains("\"rate\":\"80.00 MB/s\""),
        "{first}"
    );
    reading.bytes = 500_000;
    *page.daemon.reading.lock().unwrap() = Some(reading);
    until("\"done\":500000");
    *page.daemon.reading.lock().unwrap() = None;
    until("Nothing is read at the moment.");
}

#[test]
fn a_socket_is_its_users_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.sock");
    let endpoint = Endpoint::Socket(path.clone());
    // One that nobody listens at any more.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let door = Door::open(&endpoint).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left there");
    let settings = Settings { catalog: folder.path().join("none.db"), ..Settings::default() };
    door.serve(settings, Arc::new(Stub::default())).unwrap();
    let status = |host: &str| {
        let mut stream = UnixStream::connect(&path).unwrap();
        write!(stream, "GET /login HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        answer_of(&answer).status
    };
    assert_eq!(
        (status("localhost"), status("localhost:9000"), status("evil.example")),
        (200, 200, 421)
    );
    // It is taken, and what is no socket stays.
    assert!(Door::open(&endpoint).unwrap_err().to_string().contains("another program listens"));
    let file = folder.path().join("file");
    fs::write(&file, "my own").unwrap();
    assert!(
        Door::open(&Endpoint::Socket(file.clone())).unwrap_err().to_string().contains("no socket")
    );
    assert_eq!(fs::read_to_string(file).unwrap(), "my own");
}

/// A path that none can connect to is refused, and the longest of the others is reached.
#[test]
fn a_socket_has_a_path_that_can_be_connected_to() {
    let folder = tempfile::tempdir().unwrap();
    let of = |length: usize| {
        let rest = length - folder.path().as_os_str().len() - 1;
        folder.path().join("s".repeat(rest))
    };
    let deep = of(105);
    fs::create_dir(&deep).unwrap();
    for path in [of(107), deep.join("s")] {
        let _door = Door::open(&Endpoint::Socket(path.clone())).unwrap();
        UnixStream::connect(path).unwrap();
    }
    let refused = Door::open(&Endpoint::Socket(of(108))).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "has 108 bytes, and the path of a socket 107 at most; name a shorter one"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left there");
    assert_eq!(fs::read_dir(deep).unwrap().count(), 1, "nor there");
}

/// The page names a damaged file where it is now, with the command that accepts it there.
#[test]
fn what_is_damaged_and_renamed_is_named_where_it_is() {
    let page = Served::of(&[b"good", b"d/bad"]);
    let browser = page.log_in();
    fs::rename(page.path("d"), page.path("e")).unwrap();
    let file = fs::File::create(page.path("e/bad")).unwrap();
    (&file).write_all(b"D/BAD").unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
    // What somebody has open for writing is busy.
    drop(file);
    page.audit();
    let tree = page.path("").canonicalize().unwrap();
    let front = browser.get("/").body;
    for words in [
        format!("{0}d/bad</bdi> → <bdi>{0}e/bad</bdi>", tree.join("").display()),
        format!("-- {}", tree.join("e/bad").display()),
    ] {
        assert!(front.contains(&words), "{words} is not in {front}");
    }
    assert!(!front.contains("lanesum forget"), "{front}");
}
