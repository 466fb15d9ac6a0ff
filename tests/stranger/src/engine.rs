//! `lanesum-checksum`, whose workers have stacks of `RUST_MIN_STACK` bytes.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lanesum_checksum::check::{self, Event, List, Verdict, check};
use lanesum_checksum::engine::{self, Delivery, Io, Options, Progress};
use lanesum_checksum::walk::{Count, Entry, Exclude, WalkOptions, walk};
use lanesum_checksum::{Algorithm, Algorithms, Job, Source, digests_of};
use lanesum_md5::Backend;

const FILES: usize = 200;
/// The length of one that is not read whole.
const LONG: usize = 1 << 20;

/// On a backend.
pub fn call(backend: Backend) {
    in_folder(|folder| run(folder, backend, Io::Read));
}

/// What has nothing to do with backends.
pub fn call_the_rest() {
    in_folder(|folder| {
        // Not `Io::Direct`: a folder for temporary files is often in memory.
        for io in [Io::Auto, Io::Mmap, Io::Uring] {
            if io.check().is_ok() {
                run(folder, Backend::best(), io);
            }
        }
        stop(folder);
    });
}

fn in_folder(call: impl FnOnce(&Path)) {
    static FOLDERS: AtomicU32 = AtomicU32::new(0);
    let (process, number) = (std::process::id(), FOLDERS.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(format!("lanesum-stranger-{process}-{number}"));
    fs::create_dir_all(&folder).unwrap();
    for number in 0..FILES {
        fs::write(folder.join(number.to_string()), vec![number as u8; 50 * number]).unwrap();
    }
    fs::write(folder.join("long"), vec![7; LONG]).unwrap();
    call(&folder);
    fs::remove_dir_all(&folder).unwrap();
}

/// Makes a list of all files, and checks it.
fn run(folder: &Path, backend: Backend, io: Io) {
    let mut options = Options::default();
    (options.backend, options.io, options.threads) = (backend, io, 2);
    options.delivery = Delivery::AsTheyCome;
    options.progress = Some(Arc::new(Progress::default()));
    let mut all = engine::run(&options, jobs(folder));
    let mut list = String::new();
    while let Ok(Some(outcome)) = all.next_or_wait(|| Ok::<_, ()>(())) {
        let bytes = fs::read(&outcome.context).unwrap();
        let digests = digests_of(Algorithm::Md5.into(), None, &bytes).unwrap();
        let hashed = outcome.result.unwrap();
        assert_eq!((&hashed.digests, hashed.bytes), (&digests, bytes.len() as u64));
        list += &format!("{}  {}\n", digests[0], outcome.context);
    }
    assert!(all.is_at_end() && all.next_within(Duration::ZERO).is_none());
    assert!(all.media().at_once.is_empty());
    assert_eq!(all.finish().unwrap().outcomes, FILES as u64 + 1);
    assert_eq!(options.progress.as_ref().unwrap().files.load(Ordering::Relaxed), FILES as u64 + 1);

    let path = folder.with_extension("md5");
    fs::write(&path, list).unwrap();
    let mut settings = check::Options::default();
    settings.engine = options;
    let lists = [List::Path(path.clone())];
    assert_eq!(check::files(lists.clone().into_iter(), &settings).count(), FILES + 1);
    for (_, event) in check(lists.into_iter(), &settings) {
        match event {
            Event::Checked { verdict, .. } => assert!(matches!(verdict, Verdict::Match)),
            Event::End { tally, error } => {
                assert!(error.is_none() && tally.matched == FILES as u64 + 1);
            }
            other => panic!("{other:?}"),
        }
    }
    fs::remove_file(path).unwrap();
}

fn jobs(folder: &Path) -> impl Iterator<Item = Job<String>> + Send + use<> {
    let mut options = WalkOptions::default();
    options.exclude = Exclude::new(["*.tmp"]).unwrap();
    walk(folder, &options).map(|entry| {
        let Entry::File(path) = entry else { panic!("{entry:?}") };
        let context = path.to_str().unwrap().to_owned();
        Job { source: Source::Regular(path), algorithms: Algorithm::Md5.into(), context }
    })
}

/// A run that is stopped, one of every algorithm, and a count.
fn stop(folder: &Path) {
    let run = engine::run(&Options::default(), jobs(folder));
    run.stopper().stop();
    assert!(run.finish().is_err());
    let algorithms: Algorithms =
        Algorithm::ALL.into_iter().filter(|algorithm| !algorithm.needs_key()).collect();
    let job = Job { source: Source::Path(folder.join("long")), algorithms, context: () };
    let hashed = engine::run(&Options::default(), std::iter::once(job)).next().unwrap().result;
    let bytes = vec![7; LONG];
    assert_eq!(hashed.unwrap().digests, digests_of(algorithms, None, &bytes).unwrap());
    let path = folder.join("long");
    let totals = Count::start(|| std::iter::once(path)).unwrap().wait().unwrap();
    assert_eq!((totals.files, totals.bytes), (1, LONG as u64));
}
