//! Plots as SVG, of two kinds: lines over a logarithmic axis, and bars.
//!
//! Drawn here because the crates that draw plots fix their colours in the file. These carry a style
//! sheet instead, which follows the reader's choice of a light or a dark page, also where the file is
//! shown by itself or in an `<img>`. Lines and bars are labelled where they are; there is no legend to
//! look things up in.

mod bars;
mod lines;
mod scale;

use std::fmt::{Display, Write as _};

pub use bars::{Bar, Bars, Marked};
pub use lines::{Curve, Line, Lines};

/// Width of every plot, in the units of its coordinates.
const WIDTH: f64 = 760.0;

/// `s0` is ours; the others are peers in the order of their appearance; `quiet` is what only helps.
const STYLE: &str = "\
.plot{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;--ink:#1c1f23;--quiet:#6b7280;--grid:#e3e5e8;\
--c0:#c2410c;--c1:#2563eb;--c2:#047857;--c3:#7c3aed;--c4:#0e7490;--c5:#be185d;--c6:#4d7c0f;--c7:#475569;\
--c8:#92400e;--bar:#9aa5b4}\
@media(prefers-color-scheme:dark){.plot{--ink:#e6e8ea;--quiet:#9aa3ad;--grid:#33383e;\
--c0:#fb923c;--c1:#60a5fa;--c2:#34d399;--c3:#a78bfa;--c4:#22d3ee;--c5:#f472b6;--c6:#a3e635;--c7:#94a3b8;\
--c8:#d6a35c;--bar:#5b6675}}\
.plot text{fill:var(--ink)}.plot .title{font-size:15px;font-weight:600}\
.plot .quiet{fill:var(--quiet);font-size:12px}.plot .value{font-variant-numeric:tabular-nums}\
.plot .ours{font-weight:600}\
.plot .grid{stroke:var(--grid)}.plot .axis{stroke:var(--quiet)}\
.plot .limit{stroke:var(--quiet);stroke-width:1.5;stroke-dasharray:5 4;fill:none}\
.plot .line{fill:none;stroke-width:1.75;stroke-linejoin:round}.plot .line.ours{stroke-width:3}\
.plot .spread{stroke:var(--ink);opacity:.55}";

/// Colours that lines can have: those of [`STYLE`].
const COLOURS: usize = 9;

/// Whether a row is lanesum's, which is drawn to be seen first.
pub fn is_ours(name: &str) -> bool {
    name == "lanesum" || name.starts_with("lanesum-")
}

/// A picture under way.
struct Picture {
    height: f64,
    body: String,
}

impl Picture {
    fn new(height: f64, title: &str) -> Self {
        let mut picture = Self { height, body: String::new() };
        picture.text(0.0, 18.0, "title", "start", title);
        picture
    }

    /// A text at its base line; `anchor` is SVG's: start, middle or end.
    fn text(&mut self, x: f64, y: f64, class: &str, anchor: &str, text: impl Display) {
        let text = escape(&text.to_string());
        self.add(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" class="{class}" text-anchor="{anchor}">{text}</text>"#
        ));
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.add(format_args!(
            r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" class="{class}"/>"#
        ));
    }

    fn add(&mut self, element: impl Display) {
        writeln!(self.body, "{element}").expect("a String");
    }

    /// The whole file; `title` names it for those who do not see it.
    fn finish(self, title: &str) -> String {
        let Self { height, body } = self;
        let title = escape(title);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             class=\"plot\" role=\"img\" aria-label=\"{title}\">\n<style>{STYLE}</style>\n{body}</svg>\n"
        )
    }
}

/// Text for XML and HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Three significant digits, as a reader compares values.
fn three_digits(value: f64) -> String {
    let before_the_point = if value == 0.0 { 1.0 } else { value.abs().log10().floor() + 1.0 };
    let decimals = (3.0 - before_the_point).clamp(0.0, 9.0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_the_picture() {
        let mut picture = Picture::new(50.0, "a < b & \"c\"");
        picture.text(1.0, 2.0, "quiet", "end", "x>y");
        let svg = picture.finish("a < b");
        assert!(svg.contains("a &lt; b &amp; &quot;c&quot;</text>") && svg.contains("x&gt;y"));
        assert!(svg.contains("aria-label=\"a &lt; b\"") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn values_have_three_digits() {
        assert_eq!(
            [0.1234, 1.234, 12.34, 123.4].map(three_digits),
            ["0.123", "1.23", "12.3", "123"]
        );
    }
}
