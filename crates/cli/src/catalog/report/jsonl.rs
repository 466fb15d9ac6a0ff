//! A fixity report as JSON: an object for the report, one for each root, one for each file.

use lanesum_catalog::{FileStatus, Pending, Root};
use serde_json::{Map, Value, json};

use super::{Form, Head};
use crate::catalog::json::{content, extend, insert_path, line, object};
use crate::catalog::status::root_object;
use crate::catalog::times::utc;

/// One object a line.
pub struct JsonLines;

impl Form for JsonLines {
    fn begin(&mut self, head: &Head<'_>, out: &mut Vec<u8>) {
        let mut report = object("report");
        extend(
            &mut report,
            [
                ("host", json!(head.host)),
                ("version", json!(head.version)),
                ("from", json!(utc(head.from))),
                ("to", json!(utc(head.standing.now))),
            ],
        );
        out.extend(line(report));
        for it in &head.standing.roots {
            let reads = head.reads(it.root.id());
            let mut root = root_object(it);
            root.insert("event".to_owned(), "root".into());
            let reads = json!({ "runs": reads.runs, "files": reads.files, "bytes": reads.bytes });
            root.insert("read_in_period".to_owned(), reads);
            out.extend(line(root));
        }
    }

    fn file(&mut self, root: &Root, file: &FileStatus, out: &mut Vec<u8>) {
        let mut object = object("file");
        insert_path(&mut object, "root", &root.path);
        insert_path(&mut object, "path", &file.path);
        object.insert("class".to_owned(), file.class.name().into());
        insert(&mut object, "reason", file.reason.map(lanesum_catalog::Reason::name));
        object
            .insert("verified".to_owned(), (file.verified > 0).then(|| utc(file.verified)).into());
        if file.since != 0 {
            object.insert("since".to_owned(), utc(file.since).into());
        }
        object.insert("recorded".to_owned(), content(&file.recorded));
        if let Some(found) = &file.found {
            object.insert("found".to_owned(), content(found));
        }
        if let Some(moved) = &file.moved_to {
            insert_path(&mut object, "moved_to", moved);
        }
        insert(&mut object, "error", file.error.as_deref());
        out.extend(line(object));
    }

    fn pending(&mut self, root: &Root, it: &Pending, out: &mut Vec<u8>) {
        let mut object = object("file");
        insert_path(&mut object, "root", &root.path);
        insert_path(&mut object, "path", &it.path);
        object.insert("class".to_owned(), it.class.name().into());
        insert(&mut object, "reason", it.reason.map(lanesum_catalog::Reason::name));
        object.insert("files".to_owned(), it.files.into());
        insert(&mut object, "error", it.error.as_deref());
        out.extend(line(object));
    }

    fn end(&mut self, _: &mut Vec<u8>) {}
}

fn insert(object: &mut Map<String, Value>, key: &str, text: Option<&str>) {
    object.extend(text.map(|text| (key.to_owned(), text.into())));
}
