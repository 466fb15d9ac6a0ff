//! The page of the daemon, in a browser: Debian's chromium, over its debugging protocol.

use std::io::{BufRead as _, BufReader};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lanesum_catalog::{Catalog, Options, Policy, Verb};
use serde_json::{Value, json};

use super::serve::run;
use super::*;

/// The catalog's clock was ahead by so many seconds: a file that is younger than a minute is not at
/// rest.
const AHEAD: i64 = 62;
/// Files of a tree, and their bytes.
const FILES: usize = 120;
const BYTES: usize = 500_000;
/// The one that rots.
const ROTTEN: &str = "tree/0000 <b>holiday.jpg";

#[test]
fn a_browser_sees_rot_and_pauses_and_resumes_a_scrub() {
    let Some(chromium) = find("chromium") else {
        skip("the page is not tried in a browser: apt-get install chromium");
        return;
    };
    let folder = rotten();
    // So slow that the scrub lasts.
    assert_eq!(run(&folder, "limit --limit 400k").status.code(), Some(0));
    let daemon = Served::start(&folder);
    let mut browser = Browser::start(&chromium, &folder);
    browser.show(1280, "light");

    browser.go(&daemon.address);
    browser.until("the login page", "document.querySelector('#code') !== null");
    browser.value("document.querySelector('#code').focus()");
    browser.type_text(&daemon.code);
    browser.submit(Browser::press_enter);
    browser.until("the page", "document.querySelector('#bad') !== null");

    // Numbers move by themselves.
    let words = "document.querySelector('#now').textContent";
    browser.until("a scrub", &format!("{words}.startsWith('Reads ')"));
    let first = browser.text(words);
    browser
        .until("numbers", &format!("{words}.startsWith('Reads ') && {words} !== {}", json!(first)));
    browser.until("a rate", "/\\d [kM]?B\\/s/.test(document.querySelector('#rate').textContent)");
    let badge = "document.querySelector('#bad .badge')?.textContent === 'rotted'";
    browser.until("rot, without loading the page again", badge);
    let article = browser.text("document.querySelector('#bad article').textContent");
    assert!(article.contains("0000 <b>holiday.jpg") && article.contains("md5 found"), "{article}");
    assert!(article.contains("lanesum accept --catalog "), "{article}");

    // By keyboard.
    browser.value("document.querySelector('form[action$=\"/pause\"] button').focus()");
    browser.submit(Browser::press_enter);
    browser.until("a pause", "document.body.textContent.includes('PAUSED since')");
    browser.until("that it stands", &format!("{words} === 'Nothing is read at the moment.'"));
    assert!(text(&run(&folder, "status").stdout).contains("PAUSED since"));
    let is_recording = std::env::var_os("LANESUM_RECORD").is_some();
    if is_recording {
        // Until what was cataloged is of the past.
        thread::sleep(Duration::from_secs(AHEAD.cast_unsigned() + 1));
        browser.go(&daemon.address);
        browser.until("the page", badge);
    }
    for (width, scheme) in [(360, "light"), (360, "dark"), (1280, "light"), (1280, "dark")] {
        browser.show(width, scheme);
        let overflow =
            "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(browser.value(overflow), json!(0), "at {width}");
        browser.picture(&format!("page-{width}-{scheme}"));
    }
    if is_recording {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/page.png");
        fs::copy(Path::new(env!("CARGO_TARGET_TMPDIR")).join("page-1280-light.png"), docs).unwrap();
    }
    browser.value("document.querySelector('form[action$=\"/resume\"] button').focus()");
    browser.submit(Browser::press_enter);
    browser.until("that it goes on", &format!("{words}.startsWith('Reads ')"));

    // As fast as it goes, to the end.
    browser.value("document.querySelector('summary').click()");
    browser.value("document.querySelector('input[name=rate]').value = ''");
    let submit = "document.querySelector('form[action$=\"/limit\"]').requestSubmit()";
    browser.submit(|browser| drop(browser.value(submit)));
    browser.until("the new limit", "document.body.textContent.includes('as fast as it goes')");
    browser.until("the end", &format!("{words} === 'Nothing is read at the moment.'"));
    let status = text(&run(&folder, "status").stdout);
    assert!(status.contains("NOT WELL: 1 rotted") && !status.contains("PAUSED"), "{status}");
    browser.value("document.querySelector('#bad article a').click()");
    browser.until("the file", "document.querySelector('h1').textContent.includes('holiday.jpg')");
    assert_eq!(browser.errors, [""; 0]);

    // A name of another site that is made to lead here, and a form of another site.
    browser.go(&daemon.address.replace("127.0.0.1", "evil.example"));
    browser.until("a refusal", "document.body.textContent.includes('This page is not called so')");
    let form = format!("<form method=post action={}folder/1/pause><button>", daemon.address);
    browser.go(&format!("data:text/html,{form}"));
    browser.until("the form", "document.querySelector('form') !== null");
    browser.value("document.querySelector('form').submit()");
    browser.until("a refusal", "document.body.textContent.includes('come from this page itself')");
    assert!(!text(&run(&folder, "status").stdout).contains("PAUSED"));
}

/// A folder that is cataloged, and all due; a file of it rotted since.
fn rotten() -> Folder {
    // Where a store through a mapping moves no time.
    let folder = Folder::in_memory();
    folder.write(ROTTEN, vec![1; BYTES]);
    for name in 1..FILES {
        folder.write(format!("tree/{name:04}"), vec![name as u8; BYTES]);
    }
    fs::create_dir(folder.path("state")).unwrap();
    let mut catalog = Catalog::open(&folder.path("state/catalog.db"), "test").unwrap();
    let mut policy = Policy::default();
    policy.every_days = 1;
    let root = catalog.add_root(&folder.path("tree"), policy);
    let mut options = Options::default();
    // A minute after they were written: they were at rest, and what was checked later than now is
    // due.
    options.clock = || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        now.as_secs().cast_signed() + AHEAD
    };
    catalog.run(&root.unwrap(), Verb::Add, &options, &mut |_| Ok(())).unwrap();
    drop(catalog);
    let flip = "import mmap,sys\nf=open(sys.argv[1],'r+b')\nm=mmap.mmap(f.fileno(),0)\nm[0]^=1\n";
    let python = Command::new("python3").arg("-c").arg(flip).arg(folder.path(ROTTEN)).status();
    assert!(python.is_ok_and(|status| status.success()), "python3 is needed to make a file rot");
    folder
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|it| it.is_file())
}

/// The daemon with its page.
struct Served {
    child: Child,
    address: String,
    code: String,
}

impl Served {
    fn start(folder: &Folder) -> Self {
        let mut command = folder.lanesum(["serve", "--listen", "127.0.0.1:0"]);
        command.env("TZ", "UTC").env("LANESUM_CATALOG", folder.path("state/catalog.db"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let mut word = |before: &str| {
            let line = lines.find(|line| line.contains(before)).expect(before);
            let (_, word) = line.split_once(before).unwrap();
            word.split([' ', ',']).next().unwrap().to_owned()
        };
        let (address, code) = (word("the page is at "), word("with the code "));
        // It must not wait for whoever reads.
        thread::spawn(move || lines.for_each(drop));
        Self { child, address, code }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A browser with one page, which is killed with the test.
struct Browser {
    child: Child,
    send: File,
    messages: Receiver<Value>,
    last: u64,
    session: Option<String>,
    /// What went to its console as an error or a warning.
    errors: Vec<String>,
}

impl Browser {
    fn start(chromium: &Path, folder: &Folder) -> Self {
        folder.fifo("to");
        folder.fifo("from");
        let mut command = folder.command("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 3<to 4>from"]).arg(chromium).args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--remote-debugging-pipe",
            "--host-resolver-rules=MAP evil.example 127.0.0.1",
            "--user-data-dir=profile",
            "about:blank",
        ]);
        // It keeps things in its home, too.
        command.env("HOME", folder.path("")).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let send = folder.writer("to");
        let mut from = BufReader::new(File::open(folder.path("from")).unwrap());
        let (sender, messages) = mpsc::channel();
        thread::spawn(move || {
            let mut message = Vec::new();
            while from.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                if sender.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let (last, session, errors) = (0, None, Vec::new());
        let mut browser = Self { child, send, messages, last, session, errors };
        let page = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let to = json!({"targetId": page["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", to);
        browser.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Calls a method, and waits for its answer.
    #[track_caller]
    fn call(&mut self, method: &str, with: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": with});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.send.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect(method);
            self.note_error(&message);
            if message["id"] == json!(self.last) {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
        }
    }

    fn note_error(&mut self, message: &Value) {
        let with = &message["params"];
        let is_error = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => {
                with["type"] == "error" || with["type"] == "warning"
            }
            Some("Log.entryAdded") => with["entry"]["level"] == "error",
            _ => false,
        };
        if is_error {
            self.errors.push(message.to_string());
        }
    }

    fn show(&mut self, width: u32, scheme: &str) {
        let metrics =
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", features);
    }

    fn go(&mut self, address: &str) {
        self.call("Page.navigate", json!({"url": address}));
    }

    /// What an expression is; nothing while the page is being loaded.
    #[track_caller]
    fn value(&mut self, expression: &str) -> Value {
        let with = json!({"expression": expression, "returnByValue": true});
        self.call("Runtime.evaluate", with)["result"]["value"].clone()
    }

    #[track_caller]
    fn text(&mut self, expression: &str) -> String {
        self.value(expression).as_str().expect(expression).to_owned()
    }

    #[track_caller]
    fn until(&mut self, what: &str, expression: &str) {
        let began = Instant::now();
        while self.value(expression) != json!(true) {
            if began.elapsed() > PATIENCE {
                let text = self.value("document.body.innerText");
                panic!("no {what}: {text} {:?}", self.errors);
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    fn press_enter(&mut self) {
        for kind in ["keyDown", "keyUp"] {
            let mut key =
                json!({"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13});
            if kind == "keyDown" {
                key["text"] = json!("\r");
            }
            self.call("Input.dispatchKeyEvent", key);
        }
    }

    /// Does what submits a form, and waits for the page that answers it: what is done to the one
    /// before is lost.
    #[track_caller]
    fn submit(&mut self, it: impl FnOnce(&mut Self)) {
        self.value("window.isSubmitted = true");
        it(self);
        self.until("an answer", "window.isSubmitted === undefined");
    }

    /// Takes a picture of the whole page, for whoever looks at it.
    fn picture(&mut self, name: &str) {
        let with = json!({"format": "png", "captureBeyondViewport": true});
        let data = self.call("Page.captureScreenshot", with);
        let png = STANDARD.decode(data["data"].as_str().unwrap()).unwrap();
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
        fs::write(path, png).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
