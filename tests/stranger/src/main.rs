//! Every public function of the libraries, on every backend that this CPU has or can pretend to
//! have, in threads of 1 MiB and without optimisation: `make test-stranger`.

#[cfg(feature = "std")]
mod engine;
#[cfg(feature = "std")]
mod events;
mod hashes;
mod siphash;
mod table;

use std::thread::{self, JoinHandle};

use lanesum_md5::Backend;

const STACK: usize = 1 << 20;

fn main() {
    #[cfg(target_arch = "x86_64")]
    for latency in lanesum_lanes::Latency::ALL {
        latency.pretend();
        call_on_all_backends(&format!("latency {latency:?}"), call_all);
        for instructions in lanesum_lanes::ShaInstructions::ALL {
            instructions.pretend();
            call_on_all_backends(&format!("SHA instructions {instructions:?}"), call_sha);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        call_on_all_backends("this CPU", call_all);
        call_on_all_backends("this CPU", call_sha);
    }
    #[cfg(feature = "std")]
    spawn_small(|| {
        engine::call_the_rest();
        events::call();
    })
    .join()
    .unwrap();
}

fn call_all(backend: Backend) {
    hashes::md5::call(backend);
    siphash::call(backend);
    table::call();
    #[cfg(feature = "std")]
    engine::call(backend);
}

fn call_sha(backend: Backend) {
    hashes::sha1::call(backend);
    hashes::sha256::call(backend);
    hashes::sha512::call(backend);
}

/// Side by side: without optimisation one takes seconds.
fn call_on_all_backends(cpu: &str, call: fn(Backend)) {
    let calls: Vec<_> =
        Backend::available().map(|backend| (backend, spawn_small(move || call(backend)))).collect();
    for (backend, call) in calls {
        call.join().unwrap();
        println!("{cpu}, {backend}: ok");
    }
}

fn spawn_small(call: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    thread::Builder::new().stack_size(STACK).spawn(call).unwrap()
}

/// Messages of many lengths.
fn messages() -> Vec<Vec<u8>> {
    (0..300).map(|length| vec![length as u8; 7 * length]).collect()
}
