//! Times small tables beside the standard library's: a new one, and one with ten HTTP headers.
//!
//! `cargo run --release --config profile.release.lto=false -p lanesum-table --example small`, since
//! programs of others have cargo's profile and not this workspace's.
//!
//! The runs of all cases alternate. The fastest of each is printed, because other programs can only
//! slow one down.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use lanesum_table::FloodSafeMap;

const ROUNDS: usize = 51;
const TABLES: u32 = 5_000;

const HEADERS: [(&str, &str); 10] = [
    ("host", "example.org"),
    ("user-agent", "curl/8.5"),
    ("accept", "*/*"),
    ("content-type", "application/json"),
    ("content-length", "123"),
    ("authorization", "Bearer 0123456789"),
    ("x-request-id", "1234"),
    ("accept-encoding", "gzip"),
    ("connection", "keep-alive"),
    ("cookie", "a=b"),
];

type Case = (&'static str, fn());

const CASES: [Case; 6] = [
    ("new, std", || _ = black_box(HashMap::<&str, &str>::new())),
    ("new, lanesum", || _ = black_box(FloodSafeMap::<&str, &str>::new())),
    ("ten insertions, std", || {
        let mut map = HashMap::new();
        black_box(HEADERS).into_iter().for_each(|(name, value)| _ = map.insert(name, value));
        black_box(map);
    }),
    ("ten insertions, lanesum", || {
        let mut map = FloodSafeMap::new();
        black_box(HEADERS).into_iter().for_each(|(name, value)| _ = map.insert(name, value));
        black_box(map);
    }),
    ("collect, std", || _ = black_box(HashMap::from(black_box(HEADERS)))),
    ("collect, lanesum", || _ = black_box(FloodSafeMap::from(black_box(HEADERS)))),
];

fn main() {
    let mut times = [[0.0; ROUNDS]; CASES.len()];
    for round in 0..ROUNDS {
        for (times, (_, run)) in times.iter_mut().zip(CASES) {
            let start = Instant::now();
            (0..TABLES).for_each(|_| run());
            times[round] = start.elapsed().as_secs_f64() * 1e9 / f64::from(TABLES);
        }
    }
    for (times, (name, _)) in times.iter().zip(CASES) {
        let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
        println!("{fastest:8.1} ns  {name}");
    }
}
