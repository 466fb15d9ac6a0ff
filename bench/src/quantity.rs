//! Lengths as the names of cases have them: `64B`, `16KiB`, `8x16KiB`, `1x1MiB+31x16KiB`.

const UNITS: [(&str, u64); 4] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1)];

/// The number of bytes that `text` stands for.
pub fn bytes(text: &str) -> Option<u64> {
    UNITS
        .iter()
        .find_map(|(unit, bytes)| Some(text.strip_suffix(unit)?.parse::<u64>().ok()? * bytes))
}

/// The number of bytes, in the largest unit that makes it a whole number.
pub fn name_of(bytes: u64) -> String {
    let (unit, size) = UNITS
        .into_iter()
        .filter(|(_, size)| bytes.is_multiple_of(*size) && bytes >= *size)
        .max_by_key(|(_, size)| *size)
        .unwrap_or(("B", 1));
    format!("{} {unit}", bytes / size)
}

/// A count and the bytes of each: `8x16KiB`.
pub fn streams(text: &str) -> Option<(u64, u64)> {
    let (count, each) = text.split_once('x')?;
    Some((count.parse().ok()?, bytes(each)?))
}

/// The lengths of all messages of a mix, in its order.
pub fn mix(text: &str) -> Option<Vec<usize>> {
    let parts: Option<Vec<(u64, u64)>> = text.split('+').map(streams).collect();
    let lengths = parts?
        .into_iter()
        .flat_map(|(count, each)| std::iter::repeat_n(each as usize, count as usize));
    Some(lengths.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_two() {
        for (text, expected) in
            [("64B", 64), ("1KiB", 1 << 10), ("16MiB", 16 << 20), ("2GiB", 2 << 30)]
        {
            assert_eq!(bytes(text), Some(expected));
            assert_eq!(name_of(expected).replace(' ', ""), text);
        }
        assert_eq!(name_of(1536), "1536 B");
        for text in ["", "B", "64", "64b", "-1B", "1KB", "skew-log"] {
            assert_eq!(bytes(text), None, "{text}");
        }
    }

    #[test]
    fn a_mix_is_the_sum_of_its_parts() {
        assert_eq!(streams("8x16KiB"), Some((8, 16 << 10)));
        assert_eq!(mix("2x64B"), Some(vec![64, 64]));
        assert_eq!(mix("1x1MiB+2x16KiB"), Some(vec![1 << 20, 16 << 10, 16 << 10]));
        assert_eq!(mix("skew-log"), None);
        assert_eq!(mix("64B"), None);
    }
}
