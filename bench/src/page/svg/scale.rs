//! From values to places.

/// A stretch of values and the places that its ends have.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    values: (f64, f64),
    places: (f64, f64),
    logarithmic: bool,
}

impl Scale {
    /// Equal differences are equally far.
    pub fn linear(values: (f64, f64), places: (f64, f64)) -> Self {
        Self { values, places, logarithmic: false }
    }

    /// Equal ratios are equally far. The values must be above zero.
    pub fn logarithmic(values: (f64, f64), places: (f64, f64)) -> Self {
        Self { values, places, logarithmic: true }
    }

    pub fn place(&self, value: f64) -> f64 {
        let along = |value: f64| if self.logarithmic { value.ln() } else { value };
        let (low, high) = (along(self.values.0), along(self.values.1));
        let share = if high > low { (along(value) - low) / (high - low) } else { 0.5 };
        self.places.0 + share * (self.places.1 - self.places.0)
    }

    /// The values at the ends.
    pub fn values(&self) -> (f64, f64) {
        self.values
    }

    pub fn contains(&self, value: f64) -> bool {
        (self.values.0..=self.values.1).contains(&value)
    }
}

/// Round values from zero to at least `highest`, at most seven: what an axis is marked with.
pub fn steps_to(highest: f64) -> Vec<f64> {
    let magnitude = 10_f64.powf((highest / 6.0).log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|factor| factor * magnitude)
        .into_iter()
        .find(|step| highest / step <= 6.0)
        .unwrap_or(highest);
    (0..).map(|index| f64::from(index) * step).take_while(|mark| *mark < highest + step).collect()
}

/// The values 1, 2 and 5 times a power of ten that enclose `lowest` to `highest`.
pub fn decades(lowest: f64, highest: f64) -> Vec<f64> {
    let marks: Vec<f64> = (lowest.log10().floor() as i32..=highest.log10().ceil() as i32)
        .flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * 10_f64.powi(power)))
        .collect();
    let first = marks.iter().rposition(|mark| *mark <= lowest).unwrap_or(0);
    let last = marks.iter().position(|mark| *mark >= highest).unwrap_or(marks.len() - 1);
    marks[first..=last].to_vec()
}

/// Moves places apart until they are `distance` from each other, in their order, within `range`
/// where there is room. `places` must be ascending.
pub fn spread_out(places: &mut [f64], distance: f64, range: (f64, f64)) {
    let Some(last) = places.len().checked_sub(1) else { return };
    places[0] = places[0].max(range.0);
    for place in 1..=last {
        places[place] = places[place].max(places[place - 1] + distance);
    }
    places[last] = places[last].min(range.1);
    for place in (0..last).rev() {
        places[place] = places[place].min(places[place + 1] - distance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_the_values_are_ends_of_the_places() {
        for scale in [
            Scale::linear((1.0, 100.0), (10.0, 210.0)),
            Scale::logarithmic((1.0, 100.0), (10.0, 210.0)),
        ] {
            assert_eq!((scale.place(1.0), scale.place(100.0)), (10.0, 210.0));
            assert!(scale.contains(50.0) && !scale.contains(101.0));
        }
        assert_eq!(Scale::logarithmic((1.0, 100.0), (0.0, 200.0)).place(10.0), 100.0);
        assert_eq!(Scale::linear((0.0, 100.0), (200.0, 0.0)).place(25.0), 150.0);
    }

    #[test]
    fn marks_are_few_and_enclose_the_values() {
        assert_eq!(steps_to(1.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(steps_to(15.5), [0.0, 5.0, 10.0, 15.0, 20.0]);
        for highest in [0.013, 0.97, 1.3, 6.1, 7.7, 99.0] {
            let marks = steps_to(highest);
            assert!(marks.len() <= 8 && *marks.last().unwrap() >= highest, "{highest}: {marks:?}");
        }
        assert_eq!(decades(0.7, 18.0), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(decades(1.0, 10.0), [1.0, 2.0, 5.0, 10.0]);
    }

    #[test]
    fn labels_do_not_overlap_and_stay_within() {
        let mut places = [0.0, 1.0, 2.0, 50.0, 99.0, 100.0];
        spread_out(&mut places, 10.0, (0.0, 100.0));
        assert_eq!(places, [0.0, 10.0, 20.0, 50.0, 90.0, 100.0]);
        spread_out(&mut [], 10.0, (0.0, 100.0));
    }
}
