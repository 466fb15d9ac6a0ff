//! Every public function of the libraries, on every backend that this CPU has or can pretend to
//! have, in threads of 1 MiB and without optimisation: `make test-stranger`.

#[cfg(feature = "std")]
mod engine;
#[cfg(feature = "std")]
mod events;
mod md5;
mod siphash;
mod table;

use std::thread;

use lanesum_md5::Backend;

const STACK: usize = 1 << 20;

fn main() {
    #[cfg(target_arch = "x86_64")]
    for latency in lanesum_lanes::Latency::ALL {
        latency.pretend();
        call_on_all_backends(&format!("{latency:?}"));
    }
    #[cfg(not(target_arch = "x86_64"))]
    call_on_all_backends("of this CPU");
    #[cfg(feature = "std")]
    in_small_thread(|| {
        engine::call_the_rest();
        events::call();
    });
}

fn call_on_all_backends(latency: &str) {
    for backend in Backend::available() {
        in_small_thread(move || {
            md5::call(backend);
            siphash::call(backend);
            table::call();
            #[cfg(feature = "std")]
            engine::call(backend);
        });
        println!("latency {latency}, {backend}: ok");
    }
}

fn in_small_thread(call: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(STACK).spawn(call).unwrap().join().unwrap();
}

/// Messages of many lengths.
fn messages() -> Vec<Vec<u8>> {
    (0..300).map(|length| vec![length as u8; 7 * length]).collect()
}
