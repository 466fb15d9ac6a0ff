//! Plots as SVG, of two kinds: lines over a logarithmic axis, and bars.
//!
//! Drawn here because the crates that draw plots fix their colours in the file. These follow the
//! reader's choice of a light or a dark page, also where the file is shown by itself or in an
//! `<img>` ([`colours`]). Lines and bars are labelled where they are; there is no legend to look
//! things up in.

mod bars;
mod colours;
mod lines;
mod scale;

use std::fmt::{Display, Write as _};

pub use bars::{Bar, Bars, Group, Marked};
#[cfg(test)]
pub use colours::tests::check as check_colours;
use colours::{Colour, GRID, INK, PAPER, QUIET};
pub use lines::{Curve, Line, Lines};

/// Width of every plot, in the units of its coordinates.
const WIDTH: f64 = 760.0;
/// Height of a plot's title, which stands at its top.
const TITLE_SIZE: f64 = 15.0;
/// Around everything, so that a picture on its own is no tight fit.
const MARGIN: f64 = 8.0;

/// Whether a row is lanesum's, which is drawn to be seen first.
pub fn is_ours(name: &str) -> bool {
    name == "lanesum" || name.starts_with("lanesum-")
}

/// How a text looks.
#[derive(Clone, Copy)]
struct Lettering {
    colour: &'static Colour,
    size: f64,
    bold: bool,
}

/// A name, and the value that belongs to it.
const NAME: Lettering = Lettering { colour: &INK, size: 13.0, bold: false };
const OUR_NAME: Lettering = Lettering { bold: true, ..NAME };
/// What only helps.
const NOTE: Lettering = Lettering { colour: &QUIET, size: 12.0, bold: false };
const TITLE: Lettering = Lettering { colour: &INK, size: TITLE_SIZE, bold: true };

/// Where in its text the point lies that a text is placed by.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture under way.
struct Picture {
    height: f64,
    body: String,
}

impl Picture {
    fn new(height: f64, title: &str) -> Self {
        let mut picture = Self { height, body: String::new() };
        picture.add(format_args!(
            r#"<rect x="{0}" y="{0}" width="{1}" height="{2}" {3}/>"#,
            -MARGIN,
            WIDTH + 2.0 * MARGIN,
            height + 2.0 * MARGIN,
            PAPER.fill(),
        ));
        picture.text((0.0, TITLE_SIZE + 3.0), Anchor::Start, TITLE, title);
        picture
    }

    /// A text by a point of its base line.
    fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, look: Lettering, text: impl Display) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if look.bold { r#" font-weight="600""# } else { "" };
        let (size, fill, text) = (look.size, look.colour.fill(), escape(&text.to_string()));
        self.add(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" font-size="{size}"{weight} {fill}>{text}</text>"#
        ));
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &Colour) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let stroke = colour.stroke();
        self.add(format_args!(
            r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" {stroke}/>"#
        ));
    }

    fn grid_line(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.line(from, to, &GRID);
    }

    /// Lines from point to point.
    fn path(&mut self, points: &[(f64, f64)], width: f64, colour: &Colour) {
        self.add_path(points, colour, format_args!(r#"stroke-width="{width}""#));
    }

    /// The same for what nothing can be beyond: dashed.
    fn limit(&mut self, points: &[(f64, f64)]) {
        self.add_path(points, &QUIET, r#"stroke-width="1.5" stroke-dasharray="5 4""#);
    }

    fn add_path(&mut self, points: &[(f64, f64)], colour: &Colour, look: impl Display) {
        let step = |(index, (x, y)): (usize, &(f64, f64))| {
            format!("{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' })
        };
        let path: String = points.iter().enumerate().map(step).collect();
        let stroke = colour.stroke();
        self.add(format_args!(
            r#"<path d="{path}" fill="none" stroke-linejoin="round" {look} {stroke}/>"#
        ));
    }

    fn add(&mut self, element: impl Display) {
        writeln!(self.body, "{element}").expect("a String");
    }

    /// The whole file; `title` names it for those who do not see it.
    fn finish(self, title: &str) -> String {
        let Self { height, body } = self;
        let (title, style) = (escape(title), colours::dark());
        let (width, height, corner) = (WIDTH + 2.0 * MARGIN, height + 2.0 * MARGIN, -MARGIN);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{corner} {corner} {width} {height}\" \
             class=\"plot\" font-family=\"system-ui,-apple-system,'Segoe UI',sans-serif\" \
             role=\"img\" aria-label=\"{title}\">\n<style>{style}</style>\n{body}</svg>\n"
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
        picture.text((1.0, 2.0), Anchor::End, NOTE, "x>y");
        let svg = picture.finish("a < b");
        colours::tests::check(&svg);
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
