//! Findings, summaries and states as JSON: one object a line.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use lanesum_catalog::{Attention, Content, Counts, Finding, Halt, Offline, Root, Summary};
use lanesum_list::Digests;
use serde_json::{Map, Value, json};

use super::times::{utc, utc_of_nanoseconds};

/// The version of the JSON lines. A new key does not change it.
pub const SCHEMA: u32 = 1;

/// Makes an object with the schema and its subject.
pub fn object(event: &str) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("schema".to_owned(), SCHEMA.into());
    object.insert("event".to_owned(), event.into());
    object
}

/// Returns an object as a line.
pub fn line(object: Map<String, Value>) -> Vec<u8> {
    let mut line = Value::Object(object).to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Adds keys and their values.
pub fn extend<const N: usize>(object: &mut Map<String, Value>, pairs: [(&str, Value); N]) {
    object.extend(pairs.map(|(key, value)| (key.to_owned(), value)));
}

/// Adds a path under its key. A path that is not UTF-8 is in base64 under another key.
pub fn insert_path(object: &mut Map<String, Value>, key: &str, path: &Path) {
    match path.to_str() {
        Some(path) => object.insert(key.to_owned(), path.into()),
        None => {
            let path = BASE64.encode(path.as_os_str().as_bytes());
            object.insert(format!("{key}_base64"), path.into())
        }
    };
}

/// Digests by the names of their algorithms, in hexadecimal digits.
pub fn digests(digests: &Digests) -> Value {
    let pairs = digests.iter().map(|digest| (digest.algorithm().to_string(), hex(digest).into()));
    Value::Object(pairs.collect())
}

/// A digest in hexadecimal digits.
pub fn hex(digest: &lanesum_list::Digest) -> String {
    let mut hex = Vec::new();
    digest.write_hex(&mut hex);
    String::from_utf8_lossy(&hex).into_owned()
}

/// Size, modification time and digests.
pub fn content(content: &Content) -> Value {
    json!({
        "size": content.size,
        "mtime": utc_of_nanoseconds(content.modified),
        "digests": digests(&content.digests),
    })
}

/// Numbers of files by class.
pub fn counts(counts: &Counts) -> Value {
    let pairs = counts.iter().map(|(class, count)| (class.name().to_owned(), (*count).into()));
    Value::Object(pairs.collect())
}

/// Returns the reason why a root is offline, or null.
pub fn offline(offline: Option<&Offline>) -> Value {
    let Some(offline) = offline else { return Value::Null };
    json!({
        "reason": offline.reason.name(),
        "since": utc(offline.since),
        "missing": offline.missing,
    })
}

/// Returns the urgency of a result as a word.
pub const fn attention(attention: Attention) -> &'static str {
    match attention {
        Attention::Nothing => "nothing",
        Attention::Changes => "changes",
        Attention::Incomplete => "incomplete",
        Attention::Problem => "problem",
    }
}

/// Returns a finding as an object. `root` is the path of its root.
pub fn finding_object(root: &Path, finding: &Finding) -> Map<String, Value> {
    let path = super::print::path_below(root, &finding.path);
    let mut object = object("finding");
    object.insert("class".to_owned(), finding.class.name().into());
    object.extend(finding.reason.map(|reason| ("reason".to_owned(), reason.name().into())));
    insert_path(&mut object, "root", root);
    insert_path(&mut object, "path", &path);
    if let Some(other) = &finding.other {
        insert_path(&mut object, "other", other);
    }
    object.insert("files".to_owned(), finding.files.into());
    for (key, it) in [("recorded", &finding.recorded), ("found", &finding.found)] {
        object.extend(it.as_ref().map(|it| (key.to_owned(), content(it))));
    }
    object.extend(finding.error.as_ref().map(|it| ("error".to_owned(), it.as_str().into())));
    object.extend(finding.was.map(|was| ("was".to_owned(), was.name().into())));
    object
}

/// Returns the result of a run over a root.
pub fn summary_object(summary: &Summary) -> Map<String, Value> {
    let Root { path, .. } = &summary.root;
    let mut object = object("summary");
    insert_path(&mut object, "root", path);
    let mounts = summary.skipped.mounts.iter().map(|mount| {
        let mut object = Map::new();
        insert_path(&mut object, "path", &summary.root.path_of(mount));
        Value::Object(object)
    });
    let bad_lines = summary.skipped.bad_lines.iter().map(|(ignore_file, error)| {
        let mut object = Map::new();
        insert_path(&mut object, "path", &summary.root.path_of(ignore_file));
        object.insert("error".to_owned(), error.as_str().into());
        Value::Object(object)
    });
    let skipped = json!({
        "links": summary.skipped.links,
        "special": summary.skipped.special,
        "excluded": summary.skipped.excluded,
        "mounts": mounts.collect::<Vec<_>>(),
        "bad_lines": bad_lines.collect::<Vec<_>>(),
    });
    extend(
        &mut object,
        [
            ("verb", json!(summary.verb.name())),
            ("attention", json!(attention(summary.attention()))),
            ("complete", json!(summary.is_complete())),
            ("first", json!(summary.is_first)),
            ("offline", offline(summary.offline())),
            ("counts", counts(&summary.counts)),
            ("hardware_warnings", json!(summary.hardware_warnings)),
            ("not_read", json!(summary.unread)),
            ("read_again", json!(summary.again)),
            ("unknown", json!(summary.unknown)),
            ("files_read", json!(summary.files)),
            ("bytes_read", json!(summary.bytes)),
            ("skipped", skipped),
            ("standing", counts(&summary.standing)),
            ("io_errors", json!(summary.io_errors)),
            ("left", json!(summary.left)),
            ("overdue", json!(summary.overdue)),
            ("halt", summary.halt.map_or(Value::Null, halt)),
            ("clock_is_behind", json!(summary.clock_is_behind)),
        ],
    );
    object
}

fn halt(halt: Halt) -> Value {
    match halt {
        Halt::Paused(since) => json!({ "reason": "paused", "since": utc(since) }),
        Halt::TooManyEdits { edited, of } => {
            json!({ "reason": "too-many-edits", "edited": edited, "of": of })
        }
        halt => json!({ "reason": halt_name(halt) }),
    }
}

const fn halt_name(halt: Halt) -> &'static str {
    match halt {
        Halt::Limit => "limit",
        Halt::Hours => "hours",
        Halt::Stopped => "stopped",
        Halt::Part => "part",
        Halt::MountsChanged => "mounts-changed",
        _ => "other",
    }
}
