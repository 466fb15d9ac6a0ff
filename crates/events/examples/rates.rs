//! Runs events in two seconds, to measure their CPU time: how many, the slack in microseconds, and
//! the number of threads.
//! `time cargo run --release -p lanesum-events --example rates -- 100000 1000 2`

use std::error::Error;
use std::time::Duration;

use lanesum_events::{EventSystem, Shutdown};

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<u64>());
    let mut next = |default| numbers.next().unwrap_or(Ok(default));
    let (events, slack, threads) = (next(10_000)?, next(0)?, next(1)?);
    let system = EventSystem::builder()
        .workers(usize::try_from(threads)?)
        .slack(Duration::from_micros(slack))
        .start()?;
    let mut random = 7_u64;
    for _ in 0..events {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        system.add_after(Duration::from_nanos(random % 2_000_000_000), |_| {})?;
    }
    system.shutdown(Shutdown::Drain);
    Ok(())
}
