//! Joins two tables by a column of strings: the words of one half of a large text, each with the
//! place where it first stands, and the words of the other half. One key after the other and many
//! at once.
//!
//! `cargo run --release -p lanesum-table --example join [FILE...]`

mod text;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use lanesum_table::FloodSafeMap;

/// A row of the first table: a word, and the number of its file and of the word in it.
type Row = (String, (u32, u32));

/// What a join gives, short enough to compare: how many pairs, and the sum of their places.
#[derive(Debug, Default, PartialEq, Eq)]
struct Joined {
    pairs: u64,
    places: u64,
}

impl Joined {
    fn add(&mut self, (file, word): (u32, u32)) {
        self.pairs += 1;
        self.places += u64::from(file) + u64::from(word);
    }
}

fn main() {
    let texts = text::texts();
    let (first, second) = texts.split_at(texts.len() / 2);
    let rows = rows(first);
    let words: Vec<&str> = second.iter().flat_map(|text| text::words(text)).collect();
    if rows.is_empty() || words.is_empty() {
        return;
    }

    let (build, begin) = (rows.clone(), Instant::now());
    let table: HashMap<_, _> = build.into_iter().collect();
    let built = begin.elapsed();
    let mut alone = Joined::default();
    words.iter().filter_map(|&word| table.get(word)).for_each(|&place| alone.add(place));
    report("std::collections::HashMap", built, begin.elapsed(), &rows, &words);

    let (build, begin) = (rows.clone(), Instant::now());
    let table: FloodSafeMap<_, _> = build.into_iter().collect();
    let built = begin.elapsed();
    let mut many = Joined::default();
    table.get_many(words.iter().copied()).flatten().for_each(|&place| many.add(place));
    report("FloodSafeMap::get_many", built, begin.elapsed(), &rows, &words);

    assert_eq!(many, alone);
    println!("{} of {} words are among {} others", many.pairs, words.len(), table.len());
}

/// Each word of the texts once, where it first stands.
fn rows(texts: &[String]) -> Vec<Row> {
    let mut places: FloodSafeMap<&str, Option<(u32, u32)>> = FloodSafeMap::new();
    for (file, text) in (0..).zip(texts) {
        let words: Vec<_> = text::words(text).zip(0..).collect();
        places.fold_many(
            words.iter().map(|(word, number)| (word, (file, *number))),
            |first, place| {
                first.get_or_insert(place);
            },
        );
    }
    let rows = places.into_iter().filter_map(|(word, place)| Some((word.to_owned(), place?)));
    rows.collect()
}

fn report(name: &str, built: Duration, all: Duration, rows: &[Row], words: &[&str]) {
    println!(
        "{name}: {:.1} ns a row to build, {:.1} ns a word to join",
        built.as_secs_f64() * 1e9 / rows.len() as f64,
        (all - built).as_secs_f64() * 1e9 / words.len() as f64
    );
}
