//! Tables for people: aligned columns, two spaces apart.

/// The alignment of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Returns the lines of a table, the header first. Lines do not end in spaces.
pub fn lines<const N: usize>(header: [(&str, Align); N], rows: &[[String; N]]) -> Vec<String> {
    let aligns = header.map(|(_, align)| align);
    let all: Vec<[String; N]> =
        [header.map(|(name, _)| name.to_owned())].into_iter().chain(rows.iter().cloned()).collect();
    let width = |column: usize| all.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; N] = std::array::from_fn(|column| width(column).unwrap_or(0));
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).zip(aligns).map(|((cell, width), align)| match align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    all.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["/a".to_owned(), "1".to_owned()], ["/longer".to_owned(), "1,000".to_owned()]];
        let lines = lines([("DIRECTORY", Align::Left), ("FILES", Align::Right)], &rows);
        assert_eq!(lines, ["DIRECTORY  FILES", "/a             1", "/longer    1,000"]);
    }
}
