//! The page of the daemon, in a browser: Debian's chromium, over its debugging protocol.

use std::io::{BufRead as _, BufReader};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lanesum_catalog::{Catalog, Options, Settings, Target, Task};
use serde_json::{Value, json};

use super::serve::run;
use super::*;

/// Files of the root, and their bytes.
const FILES: usize = 120;
const BYTES: usize = 500_000;
/// Files that are damaged: the first ones in the order of their paths.
const DAMAGED: usize = 5;
/// The file that is deleted.
const DELETED: usize = 77;
/// Two screens of a small phone, in pixels.
const TWO_SCREENS: i64 = 2 * 640;

const IS_READING: &str = "!document.querySelector('#reading').hidden";
const HEADLINE: &str = "document.querySelector('#headline').textContent";

#[test]
fn a_browser_sees_damage_live_and_steers_the_scrub() {
    let Some(chromium) = find("chromium") else {
        skip("the page is not tested in a browser: apt-get install chromium");
        return;
    };
    let folder = damaged();
    // So slow that reading everything takes minutes.
    assert_eq!(run(&folder, "limit --limit 400k").status.code(), Some(0));
    let daemon = Served::start(&folder);
    let mut browser = Browser::start(&chromium, &folder);
    browser.show(1280, "light");
    log_in(&mut browser, &daemon);

    browser.until("the missing file", &format!("{HEADLINE}.includes('1 missing')"));
    submit(&mut browser, "verify");
    browser.until("progress", IS_READING);
    // Numbers and the verdict change without a reload.
    browser.value("window.isSameDocument = true");
    let words = "document.querySelector('#now').textContent";
    let first = browser.text(words);
    browser.until("new numbers", &format!("{words} !== '' && {words} !== {}", json!(first)));
    browser.until("damage", &format!("/\\d damaged, 1 missing/.test({HEADLINE})"));
    assert_eq!(browser.value("window.isSameDocument"), json!(true));
    browser.until("a copy button", "document.querySelector('#attention .command button') !== null");

    press(&mut browser, "pause");
    browser.until("a pause", "document.body.textContent.includes('Scrubs are paused since')");
    browser.until("the end of the read", &format!("!({IS_READING})"));
    press(&mut browser, "resume");
    browser.until("progress", IS_READING);

    // Without a limit, to the end.
    browser.value("document.querySelector('.steer summary').click()");
    let form = form(&mut browser, "limit");
    // At once: the page renews its forms that have no focus.
    let clear = format!("{form}.querySelector('input[name=rate]').value = ''");
    browser.submit(|browser| {
        drop(browser.value(&format!("{clear}; {form}.requestSubmit()")));
    });
    let all = format!("{HEADLINE} === '{DAMAGED} damaged, 1 missing; {} ok'", FILES - DAMAGED - 1);
    browser.until("the end", &format!("{all} && !({IS_READING})"));
    look_at_widths(&mut browser, &folder);
    browser.value("document.querySelector('#attention details a').click()");
    browser.until("the file", "document.querySelector('h1').textContent.includes('DSC_0000.jpg')");
    assert_eq!(browser.errors, [""; 0]);

    refuse_foreign_sites(&mut browser, &daemon);
    assert!(!text(&run(&folder, "status").stdout).contains("paused since"));
}

fn log_in(browser: &mut Browser, daemon: &Served) {
    browser.go(&daemon.address);
    browser.until("the login page", "document.querySelector('#code') !== null");
    browser.value("document.querySelector('#code').focus()");
    browser.type_text(&daemon.code);
    browser.submit(Browser::press_enter);
    browser.until("the page", "document.querySelector('#headline') !== null");
}

/// The form of an action of the folder, once it is there: the page arrives in parts.
#[track_caller]
fn form(browser: &mut Browser, action: &str) -> String {
    let form = format!("document.querySelector('form[action$=\"/{action}\"]')");
    browser.until(action, &format!("document.readyState === 'complete' && {form} !== null"));
    form
}

#[track_caller]
fn submit(browser: &mut Browser, action: &str) {
    let form = form(browser, action);
    browser.submit(|browser| drop(browser.value(&format!("{form}.requestSubmit()"))));
}

/// Presses the button of a form by keyboard.
#[track_caller]
fn press(browser: &mut Browser, action: &str) {
    let form = form(browser, action);
    browser.value(&format!("{form}.querySelector('button').focus()"));
    browser.submit(Browser::press_enter);
}

/// Nothing is wider than the screen, and on a phone the problems fit two screens.
fn look_at_widths(browser: &mut Browser, folder: &Folder) {
    // The picture of the documents has no directory of this test, and no name of this machine.
    let path = folder.path("");
    let rename = format!(
        "for (const it of document.querySelectorAll('bdi, code')) \
           it.textContent = it.textContent.replaceAll({}, '/srv/').replaceAll('//', '/'); \
         document.querySelector('.brand b').textContent = 'nas.example'",
        json!(path.to_str().unwrap())
    );
    browser.value(&rename);
    for (width, scheme) in [(360, "light"), (360, "dark"), (1280, "dark"), (1280, "light")] {
        browser.show(width, scheme);
        let overflow =
            "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(browser.value(overflow), json!(0), "at {width}");
        let bottom =
            "Math.round(document.querySelector('#attention').getBoundingClientRect().bottom)";
        let bottom = browser.value(bottom).as_i64().unwrap();
        assert!(bottom < TWO_SCREENS, "{bottom} at {width}");
        browser.picture(&format!("page-{width}-{scheme}"));
    }
    if std::env::var_os("LANESUM_RECORD").is_some() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/page.png");
        fs::copy(Path::new(env!("CARGO_TARGET_TMPDIR")).join("page-1280-light.png"), docs).unwrap();
    }
}

/// Tries a host name of a different site that resolves to the page, and a form of such a site.
fn refuse_foreign_sites(browser: &mut Browser, daemon: &Served) {
    browser.go(&daemon.address.replace("127.0.0.1", "evil.example"));
    browser.until("a refusal", "document.body.textContent.includes('Wrong host name')");
    let form = format!("<form method=post action={}folder/1/pause><button>", daemon.address);
    browser.go(&format!("data:text/html,{form}"));
    browser.until("the form", "document.querySelector('form') !== null");
    browser.value("document.querySelector('form').submit()");
    browser.until("a refusal", "document.body.textContent.includes('Form from a different site')");
}

/// Writes a file with a modification time long ago.
fn put(folder: &Folder, name: &str, content: &[u8]) {
    folder.write(name, content);
    let file = File::options().write(true).open(folder.path(name)).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(1_566_000_000)).unwrap();
}

/// A root that was added forty days ago. Since then some files were damaged, and one was deleted.
fn damaged() -> Folder {
    let folder = Folder::in_memory();
    let name = |number: usize| format!("photos/2019-08 Iceland/DSC_{number:04}.jpg");
    for number in 0..FILES {
        put(&folder, &name(number), &vec![number as u8; BYTES]);
    }
    fs::create_dir(folder.path("state")).unwrap();
    let mut catalog = Catalog::open(&folder.path("state/catalog.db"), "test").unwrap();
    let roots = catalog.add_roots(&[(&folder.path("photos"), Settings::default())]).unwrap();
    let targets: Vec<_> = roots.into_iter().map(Target::whole).collect();
    let mut options = Options::default();
    options.clock = || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        now.as_secs().cast_signed() - 40 * 24 * 60 * 60
    };
    catalog.run(&targets, &Task::Add, &options, &mut |_, _| Ok(())).unwrap();
    for number in 0..DAMAGED {
        put(&folder, &name(number), &vec![0xff; BYTES]);
    }
    fs::remove_file(folder.path(name(DELETED))).unwrap();
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
        // All lines are read, so that the daemon never waits.
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

/// A browser with one page, which ends with the test.
struct Browser {
    child: Child,
    send: File,
    messages: Receiver<Value>,
    last: u64,
    session: Option<String>,
    /// Errors and warnings of its console.
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
            "--disable-background-networking",
            "--disable-quic",
            "--disable-sync",
            "--remote-debugging-pipe",
            "--host-resolver-rules=MAP evil.example 127.0.0.1",
            "--user-data-dir=profile",
            "about:blank",
        ]);
        // It writes files into its home directory, too.
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

    /// The value of an expression; null while the page is loading.
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

    /// Submits a form, and waits for the page that answers it.
    #[track_caller]
    fn submit(&mut self, it: impl FnOnce(&mut Self)) {
        self.value("window.isSubmitted = true");
        it(self);
        self.until("an answer", "window.isSubmitted === undefined");
    }

    /// Takes a picture of the whole page.
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
