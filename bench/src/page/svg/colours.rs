//! The colours of plots, on light paper and on dark.
//!
//! Each element names its colour on light paper itself, so that a viewer that knows no style sheets
//! shows the plot as it is meant. The style sheet holds nothing but the colours on dark paper.

use std::fmt::Write as _;

/// A colour by the paper that it lies on.
#[derive(Debug)]
pub struct Colour {
    /// What the style sheet calls it.
    name: &'static str,
    light: &'static str,
    dark: &'static str,
}

const fn colour(name: &'static str, light: &'static str, dark: &'static str) -> Colour {
    Colour { name, light, dark }
}

pub static PAPER: Colour = colour("paper", "#ffffff", "#16191d");
pub static INK: Colour = colour("ink", "#1c1f23", "#e6e8ea");
/// Of what only helps: axes, units, limits.
pub static QUIET: Colour = colour("quiet", "#6b7280", "#9aa3ad");
pub static GRID: Colour = colour("grid", "#e3e5e8", "#33383e");
/// Of the bars of peers.
pub static PEER: Colour = colour("peer", "#9aa5b4", "#5b6675");

/// Of lines. The first is lanesum's, of its bars too.
static SERIES: [Colour; 9] = [
    colour("c0", "#c2410c", "#fb923c"),
    colour("c1", "#2563eb", "#60a5fa"),
    colour("c2", "#047857", "#34d399"),
    colour("c3", "#7c3aed", "#a78bfa"),
    colour("c4", "#0e7490", "#22d3ee"),
    colour("c5", "#be185d", "#f472b6"),
    colour("c6", "#4d7c0f", "#a3e635"),
    colour("c7", "#475569", "#94a3b8"),
    colour("c8", "#92400e", "#d6a35c"),
];

/// The colour of a line by its number. 0 is lanesum's; after the last colour comes the first.
pub fn series(number: usize) -> &'static Colour {
    &SERIES[number % SERIES.len()]
}

impl Colour {
    /// The attributes of an element that is filled with it.
    pub fn fill(&self) -> String {
        format!(r#"fill="{}" class="fill-{}""#, self.light, self.name)
    }

    /// The attributes of an element that is outlined with it.
    pub fn stroke(&self) -> String {
        format!(r#"stroke="{}" class="stroke-{}""#, self.light, self.name)
    }
}

/// The style sheet. A style goes before an attribute, so it decides where it applies.
pub fn dark() -> String {
    let mut rules = String::new();
    for Colour { name, dark, .. } in [&PAPER, &INK, &QUIET, &GRID, &PEER].into_iter().chain(&SERIES)
    {
        write!(rules, ".plot .fill-{name}{{fill:{dark}}}.plot .stroke-{name}{{stroke:{dark}}}")
            .expect("a String");
    }
    format!("@media(prefers-color-scheme:dark){{{rules}}}")
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Panics unless `svg` shows all of its colours in a viewer that knows no style sheets, and all
    /// of them change with the paper in one that does.
    pub fn check(svg: &str) {
        assert!(!svg.contains("var("), "a variable in {svg}");
        let (head, rest) = svg.split_once("<style>").expect("a style sheet");
        let (style, body) = rest.split_once("</style>").expect("its end");
        assert_eq!(style, dark());
        assert!(!head.contains("style=") && !body.contains("style="), "a style in {svg}");
        let elements: Vec<&str> = body
            .split('<')
            .filter(|element| !element.trim().is_empty() && !element.starts_with('/'))
            .collect();
        assert!(elements.len() > 2, "nothing is drawn in {svg}");
        for element in elements {
            let attribute = |name: &str| {
                let (_, value) = element.split_once(&format!(" {name}=\""))?;
                value.split_once('"').map(|(value, _)| value)
            };
            let painted: Vec<(&str, &str)> = ["fill", "stroke"]
                .into_iter()
                .filter_map(|how| Some((how, attribute(how)?)))
                .filter(|(_, value)| *value != "none")
                .collect();
            let [(how, light)] = painted[..] else { panic!("not one colour: <{element}") };
            let class = attribute("class").expect("a class");
            let rule = format!(".plot .{class}{{{how}:#");
            assert!(light.starts_with('#') && style.contains(&rule), "<{element}");
            // What has an outline alone is filled with black unless it says otherwise.
            let filled = !element.starts_with("path") || attribute("fill").is_some();
            assert!(filled, "no fill: <{element}");
        }
    }

    #[test]
    fn each_colour_has_a_name_of_its_own() {
        let sheet = dark();
        for number in 0..SERIES.len() {
            assert_eq!(sheet.matches(&format!(".fill-{}{{", series(number).name)).count(), 1);
        }
        assert_eq!(series(SERIES.len()).name, series(0).name);
    }
}
