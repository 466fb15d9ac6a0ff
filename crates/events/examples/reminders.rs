//! Reminders: add, cancel, a transaction, shutdown.
//! `cargo run -p lanesum-events --example reminders`

use std::error::Error;
use std::time::{Duration, SystemTime};

use lanesum_events::{Cancel, Context, EventSystem, Every, Shutdown, TransactionError};

fn main() -> Result<(), Box<dyn Error>> {
    let system = EventSystem::start()?;
    let say = |text: &'static str| move |_: &Context<'_>| println!("{text}");

    // At a time of the wall clock, after a delay, and again and again.
    system.add_at(SystemTime::now() + Duration::from_millis(30), say("the train leaves"))?;
    let tea = system.add_after(Duration::from_millis(20), say("tea is ready"))?;
    let blink = system.repeat_after(
        Duration::from_millis(5),
        Every::new(Duration::from_millis(10)),
        say("look away from the screen"),
    )?;

    // Lunch instead of tea: both changes, or none.
    let lunch = system.transaction(|tx| {
        let lunch = tx.add_after(Duration::from_millis(25), say("lunch is ready"))?;
        tx.cancel(tea);
        Ok::<_, TransactionError>(lunch)
    })?;
    println!("{} reminders, lunch in {:?}", system.len(), system.pending()[1].remaining);
    assert!(system.is_pending(lunch));

    match system.cancel_and_wait(blink) {
        Cancel::Cancelled => println!("no more blinking"),
        // It was just running.
        _ => println!("that was the last time"),
    }

    // Waits for what is left.
    system.shutdown(Shutdown::Drain);
    println!("{} reminders were given", system.ran());
    Ok(())
}
