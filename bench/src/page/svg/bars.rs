//! Horizontal bars, one under the other, with their values beside them.

use super::scale::{Scale, steps_to};
use super::{Picture, WIDTH, is_ours, three_digits};

pub struct Bar<'row> {
    pub name: &'row str,
    pub value: f64,
    /// The slow and the fast end of what was measured.
    pub spread: (f64, f64),
}

/// A value that is drawn as a line across all bars.
pub struct Marked<'row> {
    pub name: &'row str,
    pub value: f64,
}

pub struct Bars<'row> {
    pub title: &'row str,
    pub up: String,
    /// From top to bottom.
    pub bars: Vec<Bar<'row>>,
    pub limit: Option<Marked<'row>>,
}

const LEFT: f64 = 165.0;
/// Room for the value of the longest bar.
const RIGHT: f64 = WIDTH - 60.0;
const TOP: f64 = 54.0;
const BAR: f64 = 16.0;
const DISTANCE: f64 = 24.0;

impl Bars<'_> {
    pub fn draw(&self) -> String {
        let bottom = TOP + self.bars.len() as f64 * DISTANCE;
        let mut picture = Picture::new(bottom + 44.0, self.title);
        let values = self.bars.iter().flat_map(|bar| [bar.value, bar.spread.1]);
        let highest = values.chain(self.limit.iter().map(|limit| limit.value)).fold(0.0, f64::max);
        let marks = steps_to(highest);
        let scale = Scale::linear((0.0, marks[marks.len() - 1]), (LEFT, RIGHT));
        for mark in marks {
            let x = scale.place(mark);
            picture.line((x, TOP), (x, bottom), "grid");
            let text = (mark * 1e6).round() / 1e6;
            picture.text(x, bottom + 17.0, "quiet value", "middle", text);
        }
        picture.text(f64::midpoint(LEFT, RIGHT), bottom + 36.0, "quiet", "middle", &self.up);
        for (index, bar) in self.bars.iter().enumerate() {
            draw_bar(&mut picture, bar, TOP + index as f64 * DISTANCE, scale);
        }
        if let Some(limit) = &self.limit {
            let x = scale.place(limit.value);
            picture.line((x, TOP - 6.0), (x, bottom), "limit");
            let text = format!("{}  {}", limit.name, three_digits(limit.value));
            picture.text(x.min(RIGHT), TOP - 12.0, "quiet value", "end", text);
        }
        picture.finish(self.title)
    }
}

fn draw_bar(picture: &mut Picture, bar: &Bar<'_>, top: f64, scale: Scale) {
    let (start, end) = (scale.place(0.0), scale.place(bar.value));
    let (y, text) = (top + (DISTANCE - BAR) / 2.0, top + DISTANCE / 2.0 + 4.5);
    let ours = is_ours(bar.name);
    let (class, colour) = if ours { ("value ours", "--c0") } else { ("value", "--bar") };
    picture.text(LEFT - 10.0, text, class, "end", bar.name);
    picture.add(format_args!(
        r#"<rect x="{start:.1}" y="{y:.1}" width="{:.1}" height="{BAR}" rx="2" style="fill:var({colour})"/>"#,
        end - start,
    ));
    let (slow, fast) = (scale.place(bar.spread.0), scale.place(bar.spread.1));
    let middle = y + BAR / 2.0;
    picture.line((slow, middle), (fast, middle), "spread");
    picture.text(end.max(fast) + 6.0, text, class, "start", three_digits(bar.value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_names_values_and_the_limit_its_line() {
        let bar = |name, value: f64| Bar { name, value, spread: (value * 0.9, value * 1.1) };
        let svg = Bars {
            title: "Files",
            up: "GB/s".to_owned(),
            bars: vec![bar("lanesum", 4.0), bar("md5sum", 0.5)],
            limit: Some(Marked { name: "read-only", value: 10.0 }),
        }
        .draw();
        for text in ["Files", "GB/s", "lanesum", "4.00", "md5sum", "0.500", "read-only  10.0"] {
            assert!(svg.contains(&format!(">{text}</text>")), "{text} is not in {svg}");
        }
        assert_eq!(svg.matches("<rect").count(), 2);
        assert_eq!(svg.matches("class=\"limit\"").count(), 1);
    }
}
