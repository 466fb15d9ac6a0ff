//! Order statistics of a handful of samples.

/// The middle value, or the mean of the two in the middle. `samples` must not be empty.
pub fn median(samples: &[f64]) -> f64 {
    let sorted = sorted(samples);
    let upper = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[upper]
    } else {
        f64::midpoint(sorted[upper - 1], sorted[upper])
    }
}

/// The smallest sample that nine tenths of the samples do not exceed (nearest rank): with fewer
/// than ten samples that is the largest. `samples` must not be empty.
pub fn p90(samples: &[f64]) -> f64 {
    let rank = (samples.len() * 9).div_ceil(10);
    sorted(samples)[rank - 1]
}

pub fn min(samples: &[f64]) -> f64 {
    samples.iter().copied().fold(f64::INFINITY, f64::min)
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_and_even_numbers_of_samples() {
        assert_eq!(median(&[4.0]), 4.0);
        assert_eq!(median(&[9.0, 1.0, 4.0]), 4.0);
        assert_eq!(median(&[9.0, 1.0, 4.0, 2.0]), 3.0);
    }

    #[test]
    fn p90_is_the_nearest_rank() {
        let twenty: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        assert_eq!(p90(&twenty), 18.0);
        assert_eq!(p90(&twenty[10..]), 9.0);
        assert_eq!(p90(&[3.0, 1.0, 2.0]), 3.0);
        assert_eq!(p90(&[3.0]), 3.0);
    }

    #[test]
    fn min_is_the_least() {
        assert_eq!(min(&[3.0, 1.0, 2.0]), 1.0);
    }
}
