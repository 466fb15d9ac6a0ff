//! Counts the words of a large text: a group-by, with one key after the other and with many at
//! once.
//!
//! `cargo run --release -p lanesum-table --example group_by [FILE...]`

mod text;

use std::collections::HashMap;
use std::time::Instant;

use lanesum_table::FloodSafeMap;

fn main() {
    let texts = text::texts();
    let words: Vec<&str> = texts.iter().flat_map(|text| text::words(text)).collect();
    if words.is_empty() {
        return;
    }

    let begin = Instant::now();
    let mut alone: HashMap<String, u64> = HashMap::new();
    for &word in &words {
        // Two look-ups for a new word, but no copy of each word that is not.
        match alone.get_mut(word) {
            Some(count) => *count += 1,
            None => _ = alone.insert(word.to_owned(), 1),
        }
    }
    let alone_took = begin.elapsed();

    let begin = Instant::now();
    let mut counts: FloodSafeMap<String, u64> = FloodSafeMap::new();
    counts.fold_many(words.iter().map(|&word| (word, 1)), |count, one| *count += one);
    let many_took = begin.elapsed();

    assert_eq!(counts.len(), alone.len());
    assert!(alone.iter().all(|(word, count)| counts.get(word) == Some(count)));
    let mut frequent: Vec<_> = counts.iter().collect();
    frequent.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    for (word, count) in frequent.iter().take(10) {
        println!("{count:>10} {word}");
    }
    let per_word = |took: std::time::Duration| took.as_secs_f64() * 1e9 / words.len() as f64;
    println!("{} words in {} files, {} different", words.len(), texts.len(), counts.len());
    println!(
        "std::collections::HashMap: {:.1} ns a word; FloodSafeMap::fold_many: {:.1}",
        per_word(alone_took),
        per_word(many_took)
    );
}
