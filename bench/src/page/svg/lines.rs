//! Lines over a logarithmic axis.

use super::colours::{QUIET, series};
use super::scale::{Scale, decades, spread_out, steps_to};
use super::{Anchor, Lettering, NAME, NOTE, OUR_NAME, Picture, WIDTH, is_ours, three_digits};

/// A line, from left to right.
pub struct Line<'row> {
    pub name: &'row str,
    /// Its colour, counted from 0, which is lanesum's.
    pub colour: usize,
    pub points: Vec<(f64, f64)>,
}

/// A curve that is known everywhere, and helps to judge the lines.
pub struct Curve<'row> {
    pub label: &'row str,
    pub y: Box<dyn Fn(f64) -> f64 + 'row>,
}

pub struct Lines<'row, Tick: Fn(f64) -> String> {
    pub title: &'row str,
    pub across: &'row str,
    pub up: String,
    /// The text at a place of the axis across.
    pub tick: Tick,
    /// At least one, each of at least one point.
    pub lines: Vec<Line<'row>>,
    pub limit: Option<Curve<'row>>,
}

const HEIGHT: f64 = 430.0;
const LEFT: f64 = 44.0;
/// Room for the names at the ends of the lines.
const RIGHT: f64 = WIDTH - 150.0;
const TOP: f64 = 60.0;
const BOTTOM: f64 = HEIGHT - 48.0;
/// Between the base lines of two names.
const NAME_DISTANCE: f64 = 16.0;
/// Between the middles of two texts under the axis across.
const TICK_DISTANCE: f64 = 50.0;
/// How far the axis goes beyond the highest value.
const HEADROOM: f64 = 1.05;
/// From this factor between the lowest and the highest value on, equal ratios are shown as equal.
const LOGARITHMIC_FROM: f64 = 8.0;

impl<Tick: Fn(f64) -> String> Lines<'_, Tick> {
    pub fn draw(&self) -> String {
        let mut picture = Picture::new(HEIGHT, self.title);
        let (across, up) = self.axes(&mut picture);
        if let Some(limit) = &self.limit {
            draw_curve(&mut picture, limit, across, up);
        }
        let mut lines: Vec<&Line<'_>> = self.lines.iter().collect();
        lines.sort_by_key(|line| is_ours(line.name)); // what comes later lies on top
        for line in lines {
            draw_line(&mut picture, line, across, up);
        }
        self.names(&mut picture, up);
        picture.finish(self.title)
    }

    /// Draws the axes; returns the scales across and up.
    fn axes(&self, picture: &mut Picture) -> (Scale, Scale) {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let (left, right) = extent(points().map(|(x, _)| *x));
        let across = Scale::logarithmic((left, right), (LEFT, RIGHT));
        let (lowest, mut highest) = extent(points().map(|(_, y)| *y));
        if let Some(limit) = &self.limit {
            highest = highest.max((limit.y)(right));
        }
        let logarithmic = highest / lowest >= LOGARITHMIC_FROM;
        let mut marks = if logarithmic { decades(lowest, highest) } else { steps_to(highest) };
        let ends = (marks[0], highest * HEADROOM);
        marks.retain(|mark| *mark <= ends.1);
        let up = if logarithmic { Scale::logarithmic } else { Scale::linear }(ends, (BOTTOM, TOP));

        picture.text((0.0, TOP - 18.0), Anchor::Start, NOTE, &self.up);
        for mark in marks {
            let y = up.place(mark);
            picture.grid_line((LEFT, y), (RIGHT, y));
            let text = (mark * 1e6).round() / 1e6;
            picture.text((LEFT - 8.0, y + 4.0), Anchor::End, NOTE, text);
        }
        let mut marked: Vec<f64> = points().map(|(x, _)| *x).collect();
        marked.sort_by(f64::total_cmp);
        marked.dedup();
        picture.line((LEFT, BOTTOM), (RIGHT, BOTTOM), &QUIET);
        // From the right, so that the greatest has its text; where they are close, some have none.
        let mut taken = f64::INFINITY;
        for x in marked.into_iter().rev() {
            let place = across.place(x);
            picture.line((place, BOTTOM), (place, BOTTOM + 4.0), &QUIET);
            if taken - place >= TICK_DISTANCE {
                picture.text((place, BOTTOM + 19.0), Anchor::Middle, NOTE, (self.tick)(x));
                taken = place;
            }
        }
        let middle = f64::midpoint(LEFT, RIGHT);
        picture.text((middle, BOTTOM + 40.0), Anchor::Middle, NOTE, self.across);
        (across, up)
    }

    /// Each line's name and last value at its end.
    fn names(&self, picture: &mut Picture, up: Scale) {
        struct Name<'row> {
            text: &'row str,
            value: f64,
            look: Lettering,
        }
        let mut names: Vec<Name<'_>> = Vec::new();
        for line in &self.lines {
            let value = line.points[line.points.len() - 1].1;
            let look = if is_ours(line.name) { OUR_NAME } else { NAME };
            let look = Lettering { colour: series(line.colour), ..look };
            names.push(Name { text: line.name, value, look });
        }
        if let Some(limit) = &self.limit {
            let (_, right) = extent(self.lines.iter().flat_map(|line| &line.points).map(|at| at.0));
            names.push(Name { text: limit.label, value: (limit.y)(right), look: NOTE });
        }
        names.sort_by(|a, b| b.value.total_cmp(&a.value));
        let mut places: Vec<f64> = names.iter().map(|name| up.place(name.value)).collect();
        spread_out(&mut places, NAME_DISTANCE, (TOP - 6.0, BOTTOM));
        for (name, y) in names.iter().zip(places) {
            let text = format!("{}  {}", name.text, three_digits(name.value));
            picture.text((RIGHT + 10.0, y + 4.0), Anchor::Start, name.look, text);
        }
    }
}

fn draw_line(picture: &mut Picture, line: &Line<'_>, across: Scale, up: Scale) {
    let colour = series(line.colour);
    let places: Vec<(f64, f64)> =
        line.points.iter().map(|(x, y)| (across.place(*x), up.place(*y))).collect();
    let (width, radius) = if is_ours(line.name) { (3.0, 3.5) } else { (1.75, 2.5) };
    picture.path(&places, width, colour);
    for (x, y) in places {
        let fill = colour.fill();
        picture.add(format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius}" {fill}/>"#));
    }
}

fn draw_curve(picture: &mut Picture, curve: &Curve<'_>, across: Scale, up: Scale) {
    const PIECES: u32 = 200;
    let (left, right) = across.values();
    let places: Vec<(f64, f64)> = (0..=PIECES)
        .map(|piece| left * (right / left).powf(f64::from(piece) / f64::from(PIECES)))
        .map(|x| (x, (curve.y)(x)))
        .filter(|(_, y)| up.contains(*y))
        .map(|(x, y)| (across.place(x), up.place(y)))
        .collect();
    picture.limit(&places);
}

fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(low, high), value| (low.min(value), high.max(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::svg::colours;

    fn lines(limit: bool) -> String {
        let line = |name, colour, factor: f64| Line {
            name,
            colour,
            points: [2.0, 4.0, 8.0].map(|x| (x, x * factor)).to_vec(),
        };
        let curve = || Curve { label: "ideal", y: Box::new(|x| (2.0 * x).min(10.0)) };
        Lines {
            title: "Speed",
            across: "number",
            up: "GB/s".to_owned(),
            tick: |x| format!("{x} of"),
            lines: vec![line("lanesum", 0, 1.0), line("peer", 1, 0.5)],
            limit: limit.then(curve),
        }
        .draw()
    }

    #[test]
    fn every_line_has_its_name_and_every_place_its_mark() {
        let svg = lines(false);
        for text in ["Speed", "number", "GB/s", "2 of", "8 of", "lanesum  8.00", "peer  4.00"] {
            assert!(svg.contains(&format!(">{text}</text>")), "{text} is not in {svg}");
        }
        assert!(!svg.contains("dasharray"));
        colours::tests::check(&svg);
    }

    #[test]
    fn lanesum_has_its_own_colour_and_lies_on_top() {
        let svg = lines(false);
        let stroke = |colour: usize| svg.find(&series(colour).stroke());
        assert!(stroke(1).expect("the peer") < stroke(0).expect("lanesum"));
    }

    #[test]
    fn the_limit_is_named_and_within_the_axes() {
        let svg = lines(true);
        assert!(svg.contains("dasharray") && svg.contains(">ideal  10.0</text>"));
        colours::tests::check(&svg);
    }
}
