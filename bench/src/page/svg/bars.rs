//! Horizontal bars, one under the other, with their values beside them; in one group or several.

use super::colours::{INK, PEER, series};
use super::scale::{Scale, steps_to};
use super::{Anchor, NAME, NOTE, OUR_NAME, Picture, WIDTH, is_ours, three_digits};

pub struct Bar<'row> {
    /// The row that it shows, by which lanesum's are told.
    pub row: &'row str,
    pub name: &'row str,
    pub value: f64,
    /// The slow and the fast end of what was measured.
    pub spread: (f64, f64),
}

/// A value that is drawn as a line across all bars of a group.
pub struct Marked<'row> {
    pub name: &'row str,
    pub value: f64,
}

pub struct Group<'row> {
    /// What its bars have in common; empty where there is one group only.
    pub name: &'row str,
    /// From top to bottom.
    pub bars: Vec<Bar<'row>>,
    pub limit: Option<Marked<'row>>,
}

pub struct Bars<'row> {
    pub title: &'row str,
    pub up: String,
    /// From top to bottom.
    pub groups: Vec<Group<'row>>,
}

const LEFT: f64 = 165.0;
/// Room for the value of the longest bar.
const RIGHT: f64 = WIDTH - 60.0;
/// Of the first group's head line.
const TOP: f64 = 30.0;
/// The line above a group's bars, with its name and its limit's.
const HEAD: f64 = 24.0;
const BAR: f64 = 16.0;
const DISTANCE: f64 = 24.0;
/// Below a group that another one follows.
const GAP: f64 = 12.0;
/// From a bar's end, or the limit's line, to the value.
const BESIDE: f64 = 6.0;
/// Room that a value takes.
const VALUE: f64 = 36.0;

impl Group<'_> {
    fn height(&self) -> f64 {
        HEAD + self.bars.len() as f64 * DISTANCE
    }
}

impl Bars<'_> {
    pub fn draw(&self) -> String {
        let heights: f64 = self.groups.iter().map(Group::height).sum();
        let bottom = TOP + heights + (self.groups.len() - 1) as f64 * GAP;
        let mut picture = Picture::new(bottom + 44.0, self.title);
        let bars = self.groups.iter().flat_map(|group| &group.bars);
        let limits = self.groups.iter().flat_map(|group| &group.limit).map(|limit| limit.value);
        let values = bars.flat_map(|bar| [bar.value, bar.spread.1]);
        let highest = values.chain(limits).fold(0.0, f64::max);
        let marks = steps_to(highest);
        let scale = Scale::linear((0.0, marks[marks.len() - 1]), (LEFT, RIGHT));
        let mut top = TOP;
        for group in &self.groups {
            draw_group(&mut picture, group, top, scale, &marks);
            top += group.height() + GAP;
        }
        for mark in marks {
            let text = (mark * 1e6).round() / 1e6;
            picture.text((scale.place(mark), bottom + 17.0), Anchor::Middle, NOTE, text);
        }
        let middle = f64::midpoint(LEFT, RIGHT);
        picture.text((middle, bottom + 36.0), Anchor::Middle, NOTE, &self.up);
        picture.finish(self.title)
    }
}

fn draw_group(picture: &mut Picture, group: &Group<'_>, top: f64, scale: Scale, marks: &[f64]) {
    let (first, bottom) = (top + HEAD, top + group.height());
    for mark in marks {
        let x = scale.place(*mark);
        picture.grid_line((x, first), (x, bottom));
    }
    if !group.name.is_empty() {
        picture.text((0.0, first - 8.0), Anchor::Start, OUR_NAME, group.name);
    }
    for (index, bar) in group.bars.iter().enumerate() {
        let limit = group.limit.as_ref().map(|limit| scale.place(limit.value));
        draw_bar(picture, bar, first + index as f64 * DISTANCE, scale, limit);
    }
    if let Some(limit) = &group.limit {
        let x = scale.place(limit.value);
        picture.limit(&[(x, first - 6.0), (x, bottom)]);
        let text = format!("{}  {}", limit.name, three_digits(limit.value));
        // To the side where there is room, away from the group's name.
        let anchor = if x > f64::midpoint(LEFT, RIGHT) { Anchor::End } else { Anchor::Start };
        picture.text((x.min(RIGHT), first - 12.0), anchor, NOTE, text);
    }
}

/// `limit` is the place of the line that the value must not stand on.
fn draw_bar(picture: &mut Picture, bar: &Bar<'_>, top: f64, scale: Scale, limit: Option<f64>) {
    let (start, end) = (scale.place(0.0), scale.place(bar.value));
    let (y, text) = (top + (DISTANCE - BAR) / 2.0, top + DISTANCE / 2.0 + 4.5);
    let (look, colour) = if is_ours(bar.row) { (OUR_NAME, series(0)) } else { (NAME, &PEER) };
    picture.text((LEFT - 10.0, text), Anchor::End, look, bar.name);
    picture.add(format_args!(
        r#"<rect x="{start:.1}" y="{y:.1}" width="{:.1}" height="{BAR}" rx="2" {}/>"#,
        end - start,
        colour.fill(),
    ));
    let (slow, fast) = (scale.place(bar.spread.0), scale.place(bar.spread.1));
    let middle = y + BAR / 2.0;
    picture.line((slow, middle), (fast, middle), &INK);
    let beside = end.max(fast) + BESIDE;
    let value = match limit {
        Some(line) if (beside - BESIDE..beside + VALUE).contains(&line) => line + BESIDE,
        _ => beside,
    };
    picture.text((value, text), Anchor::Start, look, three_digits(bar.value));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::svg::colours;

    fn group(name: &'static str) -> Group<'static> {
        let bar =
            |row, name, value: f64| Bar { row, name, value, spread: (value * 0.9, value * 1.1) };
        Group {
            name,
            bars: vec![bar("lanesum", "ours", 4.0), bar("md5sum", "md5sum", 0.5)],
            limit: Some(Marked { name: "read-only", value: 10.0 }),
        }
    }

    #[test]
    fn bars_have_names_values_and_the_limit_its_line() {
        let groups = vec![group("")];
        let svg = Bars { title: "Files", up: "GB/s".to_owned(), groups }.draw();
        for text in ["Files", "GB/s", "ours", "4.00", "md5sum", "0.500", "read-only  10.0"] {
            assert!(svg.contains(&format!(">{text}</text>")), "{text} is not in {svg}");
        }
        assert_eq!(svg.matches("<rect").count(), 3, "the paper and two bars");
        assert_eq!(svg.matches("dasharray").count(), 1);
        assert_eq!(svg.matches(&series(0).fill()).count(), 1, "lanesum's bar");
        colours::tests::check(&svg);
    }

    #[test]
    fn no_value_stands_on_the_line_of_the_limit() {
        let near = Group { limit: Some(Marked { name: "limit", value: 4.5 }), ..group("") };
        let svg = Bars { title: "", up: String::new(), groups: vec![near] }.draw();
        let x_before = |text: &str| -> f64 {
            let (before, _) = svg.split_once(text).expect(text);
            let (_, x) = before.rsplit_once("x=\"").expect("its place");
            x.split('"').next().unwrap().parse().unwrap()
        };
        let line = Scale::linear((0.0, 5.0), (LEFT, RIGHT)).place(4.5);
        assert!((x_before(">4.00</text>") - line - BESIDE).abs() < 0.1);
        assert!(x_before(">0.500</text>") < line);
    }

    #[test]
    fn groups_have_names_and_limits_of_their_own() {
        let groups = vec![group("small"), group("large")];
        let svg = Bars { title: "Files", up: "GB/s".to_owned(), groups }.draw();
        let place = |text: &str| svg.find(&format!(">{text}</text>")).expect(text);
        assert!(place("small") < place("large"));
        assert_eq!(svg.matches("dasharray").count(), 2);
        colours::tests::check(&svg);
    }
}
