//! A fixity report as one HTML page, without scripts and external resources.

use std::path::Path;

use indicatif::{DecimalBytes, HumanCount};
use lanesum_catalog::{Class, FileStatus, Pending, Reason, Root, RootStatus};

use super::{Form, Head};
use crate::catalog::json::hex;
use crate::catalog::offline;
use crate::catalog::print::name;
use crate::catalog::summary::ORDER;
use crate::catalog::times::{last_verified, moment};

/// Colours for paper, light and dark screens.
const STYLE: &str = "body{font:16px/1.5 sans-serif;margin:1em auto;max-width:72em;padding:0 1em;\
    color-scheme:light dark}h1{font-size:1.3em}h2{font-size:1.1em}.scroll{overflow-x:auto}\
    table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #8888;\
    padding:.2em .6em .2em 0;text-align:left;vertical-align:top}code{font-size:.9em}\
    code,bdi{overflow-wrap:anywhere}.bad{color:#d33;font-weight:bold}";

/// The page.
pub struct Html;

impl Form for Html {
    fn begin(&mut self, head: &Head<'_>, out: &mut Vec<u8>) {
        let verdict = head.standing.verdict();
        let mut page =
            String::from("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n");
        page += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
                 style-src 'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n";
        page += &format!(
            "<title>Fixity report of {host}: {verdict}</title><style>{STYLE}</style></head>\n\
             <body><h1>Fixity report of {host}</h1>\n<p>{verdict}</p>\n",
            host = escaped(head.host.as_bytes()),
        );
        page += &format!(
            "<p>Period: {} to {}. Made by lanesum {}.</p>\n",
            moment(head.from),
            moment(head.standing.now),
            head.version
        );
        page += "<h2>Directories</h2>\n<div class=\"scroll\"><table><tr><th>Directory<th>Algorithms\
                 <th>Files<th>Size<th>Classes<th>Oldest check<th>Read in the period\n";
        for it in &head.standing.roots {
            page += &root_row(head, it);
        }
        page += "</table></div>\n<h2>Files</h2>\n<div class=\"scroll\"><table><tr><th>Class<th>File\
                 <th>Bytes<th>Digests<th>Last verified\n";
        out.extend_from_slice(page.as_bytes());
    }

    fn file(&mut self, _: &Root, file: &FileStatus, out: &mut Vec<u8>) {
        let digests = file.recorded.digests.iter();
        let digests: Vec<_> = digests.map(|it| format!("{} {}", it.algorithm(), hex(it))).collect();
        let arrow = |to: &Path| format!(" → <bdi>{}</bdi>", escaped(name(to)));
        let row = format!(
            "<tr><td{}>{}<td><bdi>{}</bdi>{}<td>{}<td><code>{}</code><td>{}\n",
            mark(file.class),
            class(file.class, file.reason),
            escaped(name(&file.path)),
            file.moved_to.as_deref().map(arrow).unwrap_or_default(),
            file.recorded.size,
            digests.join("<br>"),
            last_verified(file.verified),
        );
        out.extend_from_slice(row.as_bytes());
    }

    fn pending(&mut self, _: &Root, it: &Pending, out: &mut Vec<u8>) {
        let row = format!(
            "<tr><td{}>{}<td><bdi>{}</bdi><td><td><td>\n",
            mark(it.class),
            class(it.class, it.reason),
            escaped(name(&it.path)),
        );
        out.extend_from_slice(row.as_bytes());
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"</table></div>\n</body></html>\n");
    }
}

/// A root: its algorithms, counts and totals.
fn root_row(head: &Head<'_>, it: &RootStatus) -> String {
    let algorithms: Vec<_> = it.root.settings.algorithms.iter().map(|it| it.to_string()).collect();
    let count = |class: Class| match class {
        Class::New => it.new,
        class => it.standing.get(&class).copied().unwrap_or(0),
    };
    let some = ORDER.into_iter().filter(|class| count(*class) > 0);
    let classes = some.map(|class| format!("{} {class}", HumanCount(count(class))));
    let offline = it.root.offline.as_ref().map(|it| format!("offline: {}", offline::words(it)));
    let classes: Vec<_> = classes.chain(offline).collect();
    let reads = head.reads(it.root.id());
    format!(
        "<tr><td><bdi>{}</bdi><td>{}<td>{}<td>{}<td>{}<td>{}<td>{} files, {}, in {} runs\n",
        escaped(name(&it.root.path)),
        algorithms.join(", "),
        HumanCount(it.files),
        DecimalBytes(it.root.bytes.cast_unsigned()),
        classes.join(", "),
        it.oldest.map_or_else(|| "-".to_owned(), moment),
        HumanCount(reads.files),
        DecimalBytes(reads.bytes),
        HumanCount(reads.runs),
    )
}

/// Returns the mark for a cell of a file that needs attention.
const fn mark(class: Class) -> &'static str {
    match class {
        Class::Damaged | Class::Missing | Class::Unchecked => " class=\"bad\"",
        _ => "",
    }
}

fn class(class: Class, reason: Option<Reason>) -> String {
    reason.map_or_else(|| class.name().to_owned(), |reason| format!("{class} ({reason})"))
}

/// Returns escaped text for a page, between tags or in quotation marks. Control characters, and
/// characters that change the direction of text, become numbers.
fn escaped(text: &[u8]) -> String {
    let mut page = String::with_capacity(text.len());
    for character in String::from_utf8_lossy(text).chars() {
        match character {
            '&' => page += "&amp;",
            '<' => page += "&lt;",
            '>' => page += "&gt;",
            '"' => page += "&quot;",
            '\'' => page += "&#39;",
            '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' => page += &character.escape_unicode().to_string(),
            character if character.is_control() => {
                page += &character.escape_default().to_string();
            }
            character => page.push(character),
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_are_text() {
        for (name, shown) in [
            (
                &b"<script>alert('1')</script>"[..],
                "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;",
            ),
            (b"\" onload=\"x&y", "&quot; onload=&quot;x&amp;y"),
            (b"a\nb\x1b[2J\x00", "a\\nb\\u{1b}[2J\\u{0}"),
            ("gpj\u{202e}exe".as_bytes(), "gpj\\u{202e}exe"),
            (b"\xff\xfe", "\u{fffd}\u{fffd}"),
            ("ä b".as_bytes(), "ä b"),
        ] {
            assert_eq!(escaped(name), shown);
        }
    }
}
