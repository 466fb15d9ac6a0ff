//! `lanesum report --html`: a page that is all in one file, and runs nothing.

use std::io;

use indicatif::DecimalBytes;
use lanesum_catalog::{Catalog, CatalogError, Event, Known, Overview, Status};

use super::print;
use super::report::{last_good, why};
use super::status::{begun, lacks, part_of_period, percents, run_words, undone};
use super::{Asked, command, moment, name, now};
use crate::args::Where;
use crate::console::Console;
use crate::counts::files;

/// Colours for paper, light and dark screens; nothing is fetched.
const STYLE: &str = "body{font:16px/1.5 sans-serif;margin:1em auto;max-width:64em;padding:0 1em;\
    color-scheme:light dark}h1{font-size:1.3em}h2{font-size:1.1em}.scroll{overflow-x:auto}\
    table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #8888;\
    padding:.2em .6em .2em 0;text-align:left;vertical-align:top}code{font-size:.9em}\
    code,bdi,li{overflow-wrap:anywhere}td{min-width:4em}\
    @media(max-width:45em){tr,td{display:block}th{display:none}td{border:0;padding:0}\
    tr{border-bottom:1px solid #8888;padding:.4em 0}}.bad{color:#d33;font-weight:bold}\
    .ages{display:flex;height:.8em;max-width:30em}.ages i{background:#2a7}\
    .ages i+i{background:#6b5}.ages i+i+i{background:#bb4}.ages i+i+i+i{background:#d33}";

/// What the page is made of.
pub struct Page<'it> {
    pub all: &'it [Overview],
    pub not_well: &'it [Known],
    pub asked: &'it Asked,
    pub place: &'it Where,
}

impl Page<'_> {
    /// Prints the page: what is not well first, then each folder, then what was found.
    ///
    /// # Errors
    /// Those of the catalog, and of standard output.
    pub fn print(
        &self,
        catalog: &Catalog,
        subject: &[u8],
        since: Option<i64>,
        console: &mut Console,
    ) -> Result<(), CatalogError> {
        let now = now();
        let mut page =
            String::from("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n");
        page += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
                 style-src 'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n";
        let title = escaped(subject);
        page += &format!(
            "<title>{title}</title><style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n"
        );
        page += &format!("<p>At {}.</p>\n", moment(now));
        if !self.not_well.is_empty() {
            page += &self.of_bad(console);
        }
        page += "<h2>Folders</h2>\n";
        for overview in self.all {
            page += &self.of_root(overview, now, console);
        }
        told(console, &mut page)?;
        let Some(since) = since else {
            page += "</body></html>\n";
            return told(console, &mut page);
        };
        page += "<h2>Found lately</h2>\n<div class=\"scroll\"><table><tr><th>When<th>What<th>Where\
                 <th>Before<th>After\n";
        catalog.events(since, &mut |event| {
            if !self.asked.is_any(|root| event.is_of(root)) {
                return Ok(());
            }
            page += &of_event(event);
            if page.len() > 1 << 16 {
                console.line(page.as_bytes())?;
                page.clear();
            }
            Ok(())
        })?;
        page += "</table></div>\n</body></html>\n";
        told(console, &mut page)
    }

    /// What is not well: since when, what it was, what it is, and what to do.
    fn of_bad(&self, console: &Console) -> String {
        let mut text = "<h2>Not well</h2>\n<div class=\"scroll\"><table><tr><th>What<th>Where\
                        <th>Since<th>Cataloged<th>Found<th>What to do\n"
            .to_owned();
        for file in self.not_well {
            let is_gone = file.place().symlink_metadata().is_err();
            let (when, verb) = match file.status {
                Status::Changed => ("It is taken up by", "update"),
                Status::Busy | Status::Hidden => ("It is read again by", "audit"),
                Status::Missing => ("If it is gone for good", "forget"),
                _ if is_gone && file.is_gone => ("If it is gone for good", "forget"),
                _ if is_gone => ("It is looked for by", "audit"),
                _ => ("If it is right as it is", "accept"),
            };
            let mut command = command(self.place, verb, console).into_bytes();
            if matches!(verb, "forget" | "accept") {
                command.extend_from_slice(b" -- ");
                let is_forgotten = verb == "forget";
                let path = if is_forgotten { &*file.path } else { file.place() };
                console.quote(&mut command, name(path));
            }
            let arrow = |place| format!(" → <bdi>{}</bdi>", escaped(name(place)));
            let elsewhere = file.elsewhere.as_deref().map(arrow).unwrap_or_default();
            let finding = file.found.as_ref().map(|event| &event.finding);
            let words = |words: Option<&String>| {
                escaped(words.map(String::as_str).unwrap_or_default().as_bytes())
            };
            let after = finding.and_then(|it| it.after.as_ref());
            let why = why(file).filter(|why| after.is_none_or(|after| after != why));
            text += &format!(
                "<tr><td class=\"bad\">{}<td><bdi>{}</bdi>{elsewhere}<td>{}<td><code>{}</code><td><code>{}</code>\
{}<td>{when}: <code>{}</code>\n",
                file.standing(),
                escaped(name(&file.path)),
                last_good(file),
                words(finding.and_then(|it| it.before.as_ref())),
                words(after),
                why.map(|why| escaped(format!(": {why}").as_bytes())).unwrap_or_default(),
                escaped(&command),
            );
        }
        let update = command(self.place, "update", console);
        text += &format!(
            "</table></div>\n<p>Of what is damaged or missing, put back a good copy, and run \
             <code>{}</code>.</p>\n",
            escaped(update.as_bytes())
        );
        text
    }

    fn of_root(&self, it: &Overview, now: i64, console: &Console) -> String {
        let mut text = format!("<h3><bdi>{}</bdi></h3>\n<ul>", escaped(name(&it.root.path)));
        let bytes = DecimalBytes(it.root.bytes.cast_unsigned());
        text += &format!("<li>{}, {bytes}\n", files(it.files));
        let undone =
            undone(it, self.place, console).map(|(run, remedy)| (run_words(run, false), remedy));
        for (words, remedy) in lacks(it, self.place, console).into_iter().chain(undone) {
            let (words, remedy) = (escaped(words.as_bytes()), escaped(remedy.as_bytes()));
            text += &format!("<li class=\"bad\">{words}: <code>{remedy}</code>\n");
        }
        if it.files > 0 {
            let share = |count: u64| 100.0 * count as f64 / it.files as f64;
            let every = it.root.policy.every_days;
            let [first, second, third, late] = percents(it.ages);
            let [third_of, two] = [1, 2].map(|thirds| part_of_period(every, thirds));
            text += &format!(
                "<li>Last checked: up to {third_of} ago {first}, to {two} {second}, to {every} d \
                 {third}, longer ago or never {late}\n<div class=\"ages\">"
            );
            for part in it.ages.map(share) {
                text += &format!("<i style=\"width:{part:.2}%\"></i>");
            }
            text += "</div>\n";
            if let Some(oldest) = it.oldest {
                let days = (now - oldest).max(0) / (24 * 60 * 60);
                let word = if days == 1 { "day" } else { "days" };
                text += &format!("<li>The oldest check is {days} {word} old\n");
            }
            text += &match it.next_due {
                _ if it.due > 0 => format!("<li>Due: {}\n", files(it.due)),
                Some(next) => format!("<li>Due: nothing until {}\n", moment(next)),
                None => String::new(),
            };
            if let Some(words) = begun(it) {
                text += &format!("<li>Begun: {words}\n");
            }
        }
        if let Some(last) = &it.last {
            text += &format!("<li>Last: {}\n", escaped(run_words(last, it.is_at_work).as_bytes()));
        }
        text + "</ul>\n"
    }
}

fn told(console: &mut Console, page: &mut String) -> Result<(), CatalogError> {
    let written: io::Result<()> = console.line(page.as_bytes());
    page.clear();
    written.map_err(CatalogError::Told)
}

fn of_event(event: &Event) -> String {
    let finding = &event.finding;
    let mut place = String::new();
    if let (Some(other), Some(root)) = (&finding.other, &event.root) {
        place = format!("<bdi>{}</bdi> → ", escaped(&print::place(root, other, finding)));
    }
    let words = |words: &Option<String>| escaped(words.as_deref().unwrap_or_default().as_bytes());
    let bad = if finding.class.is_damage() { " class=\"bad\"" } else { "" };
    format!(
        "<tr><td>{}<td{bad}>{}<td>{place}<bdi>{}</bdi><td><code>{}</code><td><code>{}</code>\n",
        moment(event.at),
        finding.class,
        escaped(name(&event.path())),
        words(&finding.before),
        words(&finding.after),
    )
}

/// Text as it may stand in a page, between tags or in quotation marks. What cannot be shown, or
/// turns the text around it, is shown as a number.
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
