//! Every public function of the libraries, on every backend that this CPU has or can pretend to
//! have, in threads of 1 MiB and without optimisation: `make test-stranger`.

#[cfg(feature = "std")]
mod engine;
#[cfg(feature = "std")]
mod events;
mod md5;
mod siphash;
mod table;

use std::thread::{self, JoinHandle};

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
    spawn_small(|| {
        engine::call_the_rest();
        events::call();
    })
    .join()
    .unwrap();
}

/// Side by side: without optimisation one takes seconds.
fn call_on_all_backends(latency: &str) {
    let call = |backend: Backend| {
        spawn_small(move || {
            md5::call(backend);
            siphash::call(backend);
            table::call();
            #[cfg(feature = "std")]
            engine::call(backend);
        })
    };
    let calls: Vec<_> = Backend::available().map(|backend| (backend, call(backend))).collect();
    for (backend, call) in calls {
        call.join().unwrap();
        println!("latency {latency}, {backend}: ok");
    }
}

fn spawn_small(call: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    thread::Builder::new().stack_size(STACK).spawn(call).unwrap()
}

/// Messages of many lengths.
fn messages() -> Vec<Vec<u8>> {
    (0..300).map(|length| vec![length as u8; 7 * length]).collect()
}
