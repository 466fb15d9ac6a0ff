//! The page over HTTP, from real catalogs.

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

use super::{Daemon, Door, Endpoint, Reading, Settings};
use lanesum_catalog::{Catalog, Options, Profile, Root, Settings as RootSettings, Target, Task};

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

    fn show_code(&self, code: &str) {
        self.codes.lock().unwrap().push(code.to_owned());
    }
}

/// A directory, its catalog, and the page of that.
struct Served {
    folder: tempfile::TempDir,
    address: SocketAddr,
    daemon: Arc<Stub>,
}

/// An answer.
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

/// A browser that is logged in.
struct Browser<'page> {
    page: &'page Served,
    cookie: String,
    token: String,
}

/// A time long ago, so that records are settled.
fn long_ago() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)
}

/// Writes a content with the same time as all files.
fn put(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = fs::File::create(path).unwrap();
    (&file).write_all(content).unwrap();
    file.set_modified(long_ago()).unwrap();
}

/// Changes the content of a file and keeps its time.
fn damage(path: &Path) {
    put(path, b"other content");
}

impl Served {
    fn of(names: &[&[u8]]) -> Self {
        Self::with(names, |_| {})
    }

    fn with(names: &[&[u8]], change: impl FnOnce(&mut Settings)) -> Self {
        Self::with_profile(names, Profile::Archive, change)
    }

    fn with_profile(names: &[&[u8]], profile: Profile, change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("state")).unwrap();
        for name in names {
            put(&folder.path().join("tree").join(OsStr::from_bytes(name)), name);
        }
        let catalog = folder.path().join("state/catalog.db");
        let mut settings = Settings { catalog, ..Settings::default() };
        change(&mut settings);
        let mut of_root = RootSettings::default();
        of_root.profile = profile;
        let mut catalog = Catalog::open(&settings.catalog, "test").unwrap();
        catalog.add_roots(&[(&folder.path().join("tree"), of_root)]).unwrap();
        drop(catalog);
        run(&settings.catalog, &Task::Add);
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

    fn root(&self) -> Root {
        Catalog::look(&self.catalog()).unwrap().roots().unwrap().remove(0)
    }

    fn verify(&self) {
        run(&self.catalog(), &Task::Verify);
    }

    fn host(&self) -> String {
        format!("localhost:{}", self.address.port())
    }

    /// Sends a request, and reads the answer to its end.
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

    /// The headers of a browser when the page itself sends a form.
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

fn run(catalog: &Path, task: &Task) {
    let mut catalog = Catalog::open(catalog, "test").unwrap();
    let targets: Vec<_> = catalog.roots().unwrap().into_iter().map(Target::whole).collect();
    let mut options = Options::default();
    options.engine.threads = 1;
    catalog.run(&targets, task, &options, &mut |_, _| Ok(())).unwrap();
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
fn every_answer_forbids_foreign_content() {
    let page = Served::of(&[b"a"]);
    let browser = page.log_in();
    let answers = [
        ("/", browser.get("/"), 200),
        ("/login", page.get("/login", ""), 200),
        ("/ without login", page.get("/", ""), 303),
        ("/file/1 without login", page.get("/file/1", ""), 303),
        ("/files/1/damaged without login", page.get("/files/1/damaged", ""), 303),
        ("/style.css", page.get("/style.css", ""), 200),
        ("/script.js", page.get("/script.js", ""), 200),
        ("/icon.svg", page.get("/icon.svg", ""), 200),
        ("/nothing", page.get("/nothing", ""), 404),
        ("/../../etc/passwd", page.get("/../../etc/passwd", ""), 404),
        ("an unknown file", browser.get("/file/99999"), 404),
        ("an invalid id", browser.get("/file/1%27--"), 404),
        ("an unknown folder", browser.get("/files/9/damaged"), 404),
        ("an unknown class", browser.get("/files/1/ok"), 404),
        (
            "a wrong host",
            page.send("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"),
            421,
        ),
        ("a form by GET", browser.get("/folder/1/pause"), 405),
        ("a form without origin", page.post("/login", "", "code=x"), 403),
        ("/live without login", page.get("/live", ""), 403),
    ];
    for (case, answer, status) in answers {
        assert_eq!(answer.status, status, "{case}: {}", answer.body);
        let policy = answer.header("content-security-policy").expect(case);
        assert!(
            policy.starts_with("default-src 'none';") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{case}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{case}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{case}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{case}");
        for word in [" style=", "<style", " onclick=", "javascript:"] {
            assert!(!answer.body.contains(word), "{case} has {word}");
        }
    }
}

#[test]
fn head_returns_no_body() {
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

/// DNS rebinding: a site lets its own name resolve to the page.
#[test]
fn wrong_host_names_are_misdirected() {
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
    // As a proxy is asked.
    let host = page.host();
    let asked = |place: &str| {
        format!("GET http://{place}/login HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
    };
    assert_eq!((status(&asked("evil.example")), status(&asked(&host))), (421, 200));
}

#[test]
fn forms_of_different_sites_are_refused() {
    let page = Served::of(&[b"a"]);
    let browser = page.log_in();
    let (host, token) = (page.host(), &browser.token);
    let is_paused = || page.root().steering.paused.is_some();
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
    // The page's own headers, without the token or the cookie.
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
    assert!(browser.get("/").body.contains("Scrubs are paused since"));
    assert_eq!(browser.post("/folder/1/resume", "").status, 303);
    assert!(!is_paused());
}

#[test]
fn a_code_is_valid_once() {
    let page = Served::of(&[b"a"]);
    let first = page.daemon.codes.lock().unwrap()[0].clone();
    let browser = page.log_in();
    assert_eq!(page.daemon.codes.lock().unwrap().len(), 2, "a new code is printed");
    let type_in =
        |code: &str| page.post("/login", &page.own_headers(), &format!("code={code}")).status;
    for _ in 0..10 {
        assert_eq!(type_in(&first), 403);
    }
    let second = page.daemon.codes.lock().unwrap()[1].clone();
    assert_eq!(type_in(&first), 429);
    assert_eq!(type_in(&second), 303, "the right code still works");
    // The browser stays logged in until it logs out.
    assert_eq!(browser.get("/").status, 200);
    assert_eq!(browser.post("/logout", "").status, 303);
    assert_eq!(browser.get("/").header("location"), Some("/login"));
    assert_eq!(page.get("/", "Cookie: lanesum=\r\n").header("location"), Some("/login"));
}

#[test]
fn a_token_replaces_codes() {
    let page = Served::with(&[b"a"], |it| it.token = Some("a token of some length".to_owned()));
    assert!(page.daemon.codes.lock().unwrap().is_empty());
    for (typed, status) in [("a+token+of+some+length", 303), ("a+token", 403), ("", 403)] {
        let answer = page.post("/login", &page.own_headers(), &format!("code={typed}"));
        assert_eq!(answer.status, status, "{typed}");
    }
}

#[test]
fn damaged_and_missing_files_come_first_with_commands() {
    let page = Served::of(&[b"good", b"d/bad", b"gone"]);
    let browser = page.log_in();
    let front = browser.get("/").body;
    assert!(front.contains("All 3 files ok") && front.contains("verdict ok"), "{front}");
    assert!(front.contains("<section id=\"attention\" data-live hidden"), "{front}");
    assert!(front.contains("up to 30 days: <b>3</b>"), "{front}");
    damage(&page.path("d/bad"));
    fs::remove_file(page.path("gone")).unwrap();
    page.verify();
    let front = browser.get("/").body;
    let place = |text: &str| front.find(text).unwrap_or_else(|| panic!("{text} is not in {front}"));
    assert!(front.contains("1 damaged, 1 missing; 1 ok"), "{front}");
    assert!(front.contains("verdict problem"), "{front}");
    assert!(place("1 damaged, 1 missing") < place(">d/bad<"), "{front}");
    assert!(place(">d/bad<") < place(">gone<") && place(">gone<") < place(">Folders<"), "{front}");
    // Of `d/bad` and of `other content`, by md5sum.
    for digest in ["9755e5fbaa5d5350d3e852dadf729211", "0c84751f0ca9c6886bb09f2dd1a66faa"] {
        assert_eq!(front.matches(digest).count(), 1, "{front}");
    }
    let tree = page.root().path;
    for (verb, name) in [("accept", "d/bad"), ("forget", "gone")] {
        let catalog = page.catalog();
        let path = tree.join(name);
        let command =
            format!("lanesum {verb} --catalog {} -- {}", catalog.display(), path.display());
        assert!(front.contains(&command), "{command} is not in {front}");
    }
    let update = format!("lanesum update --catalog {}<", page.catalog().display());
    assert_eq!(front.matches(&update).count(), 1, "{front}");
    // No form accepts or forgets.
    for verb in ["accept", "forget", "update", "add"] {
        assert_eq!(browser.post(&format!("/folder/1/{verb}"), "").status, 404, "{verb}");
        assert!(!front.contains(&format!("/{verb}\"")), "{verb}");
    }
}

#[test]
fn the_page_of_a_file_has_its_history_and_a_copy() {
    let page = Served::of(&[b"bad"]);
    put(&page.path("copy"), b"bad");
    run(&page.catalog(), &Task::Update);
    damage(&page.path("bad"));
    page.verify();
    let browser = page.log_in();
    let front = browser.get("/").body;
    let (_, id) = front.split_once("href=\"/file/").unwrap();
    let file = browser.get(&format!("/file/{}", id.split('"').next().unwrap()));
    assert_eq!(file.status, 200);
    let copy = page.root().path.join("copy");
    assert!(file.body.contains(&format!("<bdi>{}</bdi>", copy.display())), "{}", file.body);
    let (_, history) = file.body.split_once(">History<").unwrap();
    assert!(history.contains("damaged") && history.contains("differs"), "{history}");
}

#[test]
fn names_are_escaped() {
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
        damage(&page.path(name));
    }
    page.verify();
    let browser = page.log_in();
    let front = browser.get("/").body;
    assert_eq!(front.matches("<details id=\"file-").count(), 7, "{front}");
    for shown in [
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "&quot; onload=&quot;alert(1)",
        "a\\nb\\u{1b}[2J",
        ">\u{fffd}\u{fffd}<",
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
fn many_damaged_files_come_in_pages() {
    let names: Vec<String> = (0..120).map(|number| format!("{number:03}")).collect();
    let page = Served::of(&names.iter().map(|name| name.as_bytes()).collect::<Vec<_>>());
    for name in &names {
        damage(&page.path(name));
    }
    page.verify();
    let browser = page.log_in();
    let ids = |body: &str| -> Vec<String> {
        let links = body.split("href=\"/file/").skip(1);
        links.map(|it| it.split('"').next().unwrap().to_owned()).collect()
    };
    let front = browser.get("/").body;
    assert!(front.contains("120 damaged; 0 ok"), "{front}");
    assert_eq!(ids(&front).len(), 20);
    assert!(front.contains("href=\"/files/1/damaged\">All 120 damaged files<"), "{front}");
    let (mut path, mut seen) = ("/files/1/damaged".to_owned(), Vec::new());
    loop {
        let list = browser.get(&path).body;
        seen.extend(ids(&list));
        let Some((_, next)) = list.split_once("href=\"/files/1/damaged?after=") else { break };
        path = format!("/files/1/damaged?after={}", next.split('"').next().unwrap());
    }
    assert_eq!(seen.len(), 120);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 120);
    assert_eq!(browser.get("/files/1/damaged?after=%27+OR+1").status, 200);
}

#[test]
fn a_folder_is_limited_verified_and_paused() {
    let page = Served::of(&[b"a"]);
    let browser = page.log_in();
    assert_eq!(browser.post("/folder/1/limit", "&every=30&rate=80&between=1:00-6:00").status, 303);
    let settings = page.root().settings;
    assert_eq!((settings.rate, settings.every_days), (Some(80_000_000), 30));
    assert_eq!(settings.window.unwrap().to_string(), "1:00-6:00");
    let front = browser.get("/").body;
    assert!(front.contains("every 30 days, at most 80.00 MB a second, in 1:00-6:00"), "{front}");
    for invalid in ["&every=0", "&rate=fast", "&rate=-1", "&between=noon"] {
        let answer = browser.post("/folder/1/limit", invalid);
        assert_eq!(answer.status, 422, "{invalid}");
        assert!(answer.body.contains("Nothing changed"), "{}", answer.body);
    }
    assert_eq!(page.root().settings, settings);
    for (action, everything, words) in [
        ("check", false, "Verification of due files requested"),
        ("verify", true, "Verification of all files requested"),
    ] {
        assert_eq!(browser.post(&format!("/folder/1/{action}"), "").status, 303);
        let steering = page.root().steering;
        assert!(steering.requested.is_some(), "{action}");
        assert_eq!(steering.requests_everything, everything, "{action}");
        assert!(browser.get("/").body.contains(words), "{words}");
    }
    // Nothing is read while scrubs are paused, so nothing is offered.
    assert_eq!(browser.post("/folder/1/pause", "").status, 303);
    let front = browser.get("/").body;
    assert!(front.contains("Scrubs are paused since"), "{front}");
    assert!(!front.contains("Verify everything") && !front.contains("requested"), "{front}");
    assert_eq!(browser.post("/folder/1/resume", "").status, 303);
    assert!(browser.get("/").body.contains("Verify everything"));
    for path in ["/folder/2/pause", "/folder/-1/pause", "/folder/x/pause", "/folder/1/explode"] {
        assert_eq!(browser.post(path, "").status, 404, "{path}");
    }
    let large = browser.post("/folder/1/limit", &format!("&rate={}", "9".repeat(100_000)));
    assert_eq!(large.status, 400);
}

#[test]
fn an_offline_folder_is_grey_with_its_reason() {
    let page = Served::of(&[b"a"]);
    fs::rename(page.path(""), page.folder.path().join("elsewhere")).unwrap();
    fs::create_dir(page.path("")).unwrap();
    page.verify();
    let front = page.log_in().get("/").body;
    assert!(front.contains("1 folder offline; 0 ok"), "{front}");
    assert!(front.contains("verdict incomplete"), "{front}");
    assert!(front.contains("The folder is empty.") && front.contains("Connect the disk."));
    assert!(front.contains("lanesum relocate --catalog "), "{front}");
    assert!(front.contains("class=\"ages off\"") && !front.contains("class=\"ages\""), "{front}");
}

#[test]
fn edits_and_new_files_need_no_attention() {
    let page = Served::of(&[b"edited", b"same", b"old name"]);
    fs::write(page.path("edited"), "different content").unwrap();
    fs::write(page.path("new"), "new").unwrap();
    fs::rename(page.path("old name"), page.path("new name")).unwrap();
    page.verify();
    let browser = page.log_in();
    let front = browser.get("/").body;
    assert!(front.contains("Nothing needs attention"), "{front}");
    assert!(front.contains(">1 edited, 1 new, 1 moved</a>"), "{front}");
    let (_, changes) = front.split_once("id=\"changes\"").unwrap();
    let (changes, _) = changes.split_once("</section>").unwrap();
    for name in [">edited<", ">new<", ">old name<", "new name"] {
        assert!(changes.contains(name), "{name} is not in {changes}");
    }
    assert!(!changes.contains("accept") && changes.contains("lanesum update"), "{changes}");
    let new = browser.get("/files/1/new").body;
    assert!(new.contains("1 new file in ") && new.contains(">new<"), "{new}");
}

#[test]
fn a_missing_file_of_a_working_folder_is_a_change() {
    let page = Served::with_profile(&[b"a", b"gone"], Profile::Working, |_| {});
    fs::remove_file(page.path("gone")).unwrap();
    page.verify();
    let front = page.log_in().get("/").body;
    assert!(front.contains("Nothing needs attention"), "{front}");
    assert!(front.contains(">1 missing</a>"), "{front}");
}

#[test]
fn a_folder_whose_add_did_not_finish_is_incomplete() {
    let page = Served::of(&[b"a"]);
    let second = page.folder.path().join("second");
    put(&second.join("b"), b"b");
    let mut catalog = Catalog::open(&page.catalog(), "test").unwrap();
    catalog.add_roots(&[(&second, RootSettings::default())]).unwrap();
    drop(catalog);
    let front = page.log_in().get("/").body;
    assert!(front.contains("1 folder not fully added; 1 ok"), "{front}");
    assert!(front.contains("lanesum add --catalog "), "{front}");
}

#[test]
fn a_damaged_catalog_is_reported() {
    let page = Served::of(&[b"a"]);
    let browser = page.log_in();
    let log = page.folder.path().join("state/catalog.db-wal");
    assert!(!log.exists(), "all of it is in the catalog");
    let mut bytes = fs::read(page.catalog()).unwrap();
    let places: Vec<_> =
        (0..bytes.len() - 5).filter(|&at| &bytes[at..at + 5] == b"/tree").collect();
    assert!(!places.is_empty(), "the path of the root");
    places.into_iter().for_each(|place| bytes[place] ^= 1);
    fs::write(page.catalog(), &bytes).unwrap();
    let front = browser.get("/").body;
    assert!(
        front.contains("This page is incomplete") && front.contains("the catalog is damaged"),
        "{front}"
    );
    let check = format!("lanesum catalog check --catalog {}", page.catalog().display());
    assert!(front.contains(&check), "{front}");
    assert!(!front.contains("verdict ok"), "{front}");
    assert!(front.ends_with("</body></html>\n"), "{front}");
}

/// A page of the database that lost its rows may have hidden the damage.
#[test]
fn a_catalog_that_lost_rows_is_never_ok() {
    let page = Served::of(&[b"a", b"b"]);
    let browser = page.log_in();
    damage(&page.path("a"));
    page.verify();
    let bytes = fs::read(page.catalog()).unwrap();
    let size = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let mut hidden = 0;
    for begin in (size..bytes.len()).step_by(size) {
        // Leaves of tables that have rows: from now on they have none.
        if bytes[begin] != 13 || bytes[begin + 4] == 0 {
            continue;
        }
        let mut hiding = bytes.clone();
        hiding[begin + 4] = 0;
        fs::write(page.catalog(), &hiding).unwrap();
        let front = browser.get("/").body;
        assert!(!front.contains("verdict ok"), "{front}");
        let is_honest = front.contains("1 damaged") || front.contains("This page is incomplete");
        assert!(is_honest, "{front}");
        hidden += 1;
    }
    assert!(hidden > 5, "{hidden}");
}

#[test]
fn progress_is_sent_each_second() {
    let page = Served::of(&[b"a"]);
    let browser = page.log_in();
    let hidden = "<section id=\"reading\" class=\"card\" hidden";
    assert!(browser.get("/").body.contains(hidden));
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
    let front = browser.get("/").body;
    let words = "/&lt;photos&gt;: 250.00 kB of 1.00 MB, 3 of 10 files, 80.00 MB/s, 5 minutes left";
    assert!(front.contains(words) && !front.contains(hidden), "{front}");
    let mut stream = TcpStream::connect(page.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let asked = format!("GET /live HTTP/1.1\r\nHost: {}\r\n{}\r\n", page.host(), browser.cookie);
    stream.write_all(asked.as_bytes()).unwrap();
    let (mut text, mut part) = (String::new(), [0; 4096]);
    let mut until = |words: &str| {
        while !text.contains(words) {
            let read = stream.read(&mut part).unwrap();
            assert!(read > 0, "it ended: {text}");
            text += str::from_utf8(&part[..read]).unwrap();
        }
        text.clone()
    };
    let first = until("80.00 MB/s, 5 minutes left");
    assert!(first.contains("text/event-stream"), "{first}");
    reading.bytes = 500_000;
    *page.daemon.reading.lock().unwrap() = Some(reading);
    until("\"done\":500000");
    *page.daemon.reading.lock().unwrap() = None;
    until("\"now\":null");
}

#[test]
fn a_socket_is_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.sock");
    let endpoint = Endpoint::Socket(path.clone());
    // A socket without a listener.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let door = Door::open(&endpoint).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no other file is left");
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
    // It is in use. A file that is not a socket stays.
    assert!(Door::open(&endpoint).unwrap_err().to_string().contains("a program listens"));
    let file = folder.path().join("file");
    fs::write(&file, "my own").unwrap();
    assert!(
        Door::open(&Endpoint::Socket(file.clone()))
            .unwrap_err()
            .to_string()
            .contains("not a socket")
    );
    assert_eq!(fs::read_to_string(file).unwrap(), "my own");
}

#[test]
fn a_socket_path_of_108_bytes_is_refused() {
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
        "the path of a socket has at most 107 bytes, and this one has 108"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no other file is left");
    assert_eq!(fs::read_dir(deep).unwrap().count(), 1, "no other file is left");
}
