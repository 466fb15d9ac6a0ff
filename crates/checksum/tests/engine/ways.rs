//! Properties of all methods to read files.

use lanesum_checksum::digests_of;

use super::*;

pub(super) fn digests_are_right_on_every_backend_with_any_number_of_threads(io: Io) {
    let folder = Folder::new();
    // More files than any backend has lanes, of lengths around the edges of blocks and buffers.
    let lengths = (0..200).chain([4096, (128 << 10) - 1, 128 << 10, (128 << 10) + 1, 1_000_003]);
    let lengths = lengths.chain([512 << 10, 2 << 20, (2 << 20) + 4097, (4 << 20) + (128 << 10)]);
    let contents: Vec<_> = lengths.map(bytes).collect();
    let mut expected = Vec::new();
    let mut jobs = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let name = format!("{index:03}");
        let mut job = folder.job(&name, content);
        if index % 2 == 1 {
            job.source = Source::Regular(folder.path(&name));
        }
        jobs.push(job);
        expected.push(format!("{name}: {}", md5(content)));
    }
    for backend in Backend::available() {
        for threads in 1..=4 {
            let mut options = on(io, threads);
            options.backend = backend;
            assert_eq!(run(&options, jobs.iter().cloned()), expected, "{backend}, {threads}");
        }
    }
}

/// So long that [`Io::Auto`] tries and chooses, in mid-file and again for the next ones.
pub(super) fn long_files_are_read_to_their_ends(io: Io) {
    let folder = Folder::new();
    let contents = [(40 << 20) + 4097, 3 << 20, (1 << 20) - 1, 300_000].map(bytes);
    let name = |index| format!("{index}");
    let jobs: Vec<_> = contents.iter().zip(0..).map(|(it, i)| folder.job(&name(i), it)).collect();
    let expected: Vec<_> =
        contents.iter().zip(0..).map(|(it, i)| format!("{}: {}", name(i), md5(it))).collect();
    for threads in [1, 2] {
        assert_eq!(run(&on(io, threads), jobs.iter().cloned()), expected, "{threads}");
    }
}

/// Where a file is read to depends on what the one before was.
pub(super) fn small_and_long_files_alternate(io: Io) {
    let folder = Folder::new();
    let (small, long) = ([7, 4096, 32 << 10], [(32 << 10) + 1, 128 << 10, 700_000]);
    // Each after each.
    let lengths = small.into_iter().flat_map(|small| long.map(|long| [small, long, small, small]));
    let contents: Vec<_> = lengths.flatten().map(bytes).collect();
    let name = |index: usize| format!("{index:02}");
    let jobs: Vec<_> =
        contents.iter().enumerate().map(|(i, it)| folder.job(&name(i), it)).collect();
    let expected: Vec<_> =
        contents.iter().enumerate().map(|(i, it)| format!("{}: {}", name(i), md5(it))).collect();
    // Files changed a moment ago are read in a different way.
    std::thread::sleep(Duration::from_millis(30));
    for threads in [1, 2] {
        assert_eq!(run(&on(io, threads), jobs.iter().cloned()), expected, "{threads}");
    }
}

pub(super) fn every_algorithm_gets_all_bytes(io: Io) {
    use sha2::Digest as _;
    let folder = Folder::new();
    let contents = [(5 << 20) + 1234, 1234, 5678].map(bytes);
    let name = |content: &Vec<u8>| content.len().to_string();
    let jobs = contents.each_ref().map(|content| folder.job(&name(content), content));
    std::thread::sleep(Duration::from_millis(30));
    for algorithms in [[Algorithm::Md5, Algorithm::Sha256], [Algorithm::Sha256, Algorithm::Crc32c]]
    {
        let digest = |algorithm, content: &[u8]| match algorithm {
            Algorithm::Md5 => md5(content),
            Algorithm::Sha256 => hex(&sha2::Sha256::digest(content)),
            _ => format!("{:08x}", crc32c::crc32c(content)),
        };
        let expected = contents.each_ref().map(|content| {
            let digests = algorithms.map(|algorithm| digest(algorithm, content));
            format!("{}: {}", name(content), digests.join(" "))
        });
        let jobs = jobs.iter().cloned();
        let jobs = jobs.map(|job| Job { algorithms: algorithms.into_iter().collect(), ..job });
        assert_eq!(run(&on(io, 1), jobs), expected);
    }
}

/// Files of all lengths next to each other, each with other algorithms: some have lanes of several
/// functions, some of one, some of none.
pub(super) fn files_with_different_algorithms_share_the_lanes(io: Io) {
    use Algorithm::{Crc32c, Md5, Sha1, Sha224, Sha256, Sha512};
    use sha2::Digest as _;
    let folder = Folder::new();
    let lengths = [0, 1, 127, 4096, 32 << 10, 33_000, 128 << 10, 300_001, 1 << 20];
    let sets: [&[Algorithm]; 8] = [
        &[Md5],
        &[Md5, Sha512],
        &[Sha256],
        &[Md5, Sha1, Sha256, Sha512, Crc32c],
        &[Crc32c],
        &[Sha224, Sha512],
        &[Sha1, Crc32c],
        &[Sha512],
    ];
    let digest = |algorithm: &Algorithm, content: &[u8]| match algorithm {
        Md5 => md5(content),
        Sha1 => hex(&sha1::Sha1::digest(content)),
        Sha224 => hex(&sha2::Sha224::digest(content)),
        Sha256 => hex(&sha2::Sha256::digest(content)),
        Sha512 => hex(&sha2::Sha512::digest(content)),
        _ => format!("{:08x}", crc32c::crc32c(content)),
    };
    let (mut jobs, mut expected) = (Vec::new(), Vec::new());
    for (place, (length, set)) in
        lengths.iter().flat_map(|length| sets.iter().map(move |set| (length, set))).enumerate()
    {
        let content = bytes(length + place);
        let job = folder.job(&place.to_string(), &content);
        jobs.push(Job { algorithms: set.iter().copied().collect(), ..job });
        let digests: Vec<_> = set.iter().map(|it| digest(it, &content)).collect();
        expected.push(format!("{place}: {}", digests.join(" ")));
    }
    std::thread::sleep(Duration::from_millis(30));
    for threads in [1, 3] {
        assert_eq!(run(&on(io, threads), jobs.iter().cloned()), expected, "{threads}");
        jobs.reverse();
        expected.reverse();
    }
}

pub(super) fn jobs_without_a_source_and_failures_keep_their_places(io: Io) {
    let folder = Folder::new();
    let nothing = |context: &str| Job {
        source: Source::Nothing,
        algorithms: Algorithms::NONE,
        context: context.to_owned(),
    };
    let abc = "900150983cd24fb0d6963f7d28e17f72";
    let long = bytes(2_000_000);
    let jobs = [
        nothing("first"),
        folder.job("long", &long),
        nothing("second"),
        folder.job("short", b"abc"),
        folder.job_of("missing"),
        folder.job_of("short/x"),
        folder.job_of("short"),
        folder.job_of("."),
        nothing("last"),
    ];
    let expected = [
        "first: ".to_owned(),
        format!("long: {}", md5(&long)),
        "second: ".to_owned(),
        format!("short: {abc}"),
        "missing: No such file or directory".to_owned(),
        "short/x: Not a directory".to_owned(),
        format!("short: {abc}"),
        ".: Is a directory".to_owned(),
        "last: ".to_owned(),
    ];
    for threads in 1..=4 {
        assert_eq!(run(&on(io, threads), jobs.iter().cloned()), expected, "{threads}");
    }
}

pub(super) fn an_outcome_describes_the_file_that_was_read(io: Io) {
    use std::os::unix::fs::MetadataExt as _;
    let folder = Folder::new();
    let lengths = [1, 4096, 100_000, 3 << 20];
    let names = lengths.map(|length| length.to_string());
    let jobs: Vec<_> =
        names.iter().zip(lengths).map(|(name, length)| folder.job(name, &bytes(length))).collect();
    for detect_changes in [true, false] {
        let mut options = on(io, 2);
        options.detect_changes = detect_changes;
        for outcome in engine::run(&options, jobs.clone().into_iter()) {
            let name = &outcome.context;
            let file = fs::metadata(folder.path(name)).unwrap();
            let record = outcome.result.unwrap().into_record(name);
            assert_eq!(record.size, Some(file.len()));
            let [modified, changed] = [record.times.modified, record.times.changed]
                .map(|time| time.map(|time| (time.seconds, i64::from(time.nanoseconds))));
            assert_eq!(modified, Some((file.mtime(), file.mtime_nsec())), "{name}");
            assert_eq!(changed, Some((file.ctime(), file.ctime_nsec())), "{name}");
            let inode = record.inode.map(|inode| (inode.device, inode.number));
            assert_eq!(inode, Some((file.dev(), file.ino())), "{name}");
        }
    }
    let source = Source::Path("/dev/null".into());
    let job = Job { source, ..folder.job_of("null") };
    let null = engine::run(&on(io, 1), std::iter::once(job)).next().unwrap().result.unwrap();
    assert_eq!((null.bytes, null.inode, null.times.modified), (0, None, None));
}

/// Where a read ends, and where a mapped window does, among others.
pub(super) fn parts_of_a_file_are_jobs_like_any_others(io: Io) {
    const SIZE: u64 = (3 << 20) + 17;
    let folder = Folder::new();
    let content = bytes(SIZE as usize);
    let whole = folder.job("a", &content);
    let job = |offset, length, algorithm: Algorithm| {
        let source = Source::Extent { path: folder.path("a"), offset, length };
        let context = format!("{offset}+{length}");
        Job { source, algorithms: algorithm.into(), context }
    };
    let edges = [0, 1, 63, 4095, 4097, 128 << 10, (128 << 10) + 1, 512 << 10, SIZE - 1, SIZE];
    let mut parts = Vec::new();
    for offset in edges {
        for length in edges {
            parts.push((offset, length));
        }
    }
    parts.extend([(SIZE + 9, 1), (5, u64::MAX), (1 << 62, u64::MAX)]);
    for threads in [1, 3] {
        let mut jobs = vec![whole.clone()];
        let mut expected = vec![format!("a: {}", md5(&content))];
        for &(offset, length) in &parts {
            let begin = offset.min(SIZE) as usize;
            let end = offset.saturating_add(length).min(SIZE) as usize;
            let part = &content[begin..end.max(begin)];
            for algorithm in [Algorithm::Md5, Algorithm::Crc32c] {
                jobs.push(job(offset, length, algorithm));
                let digest = digests_of(algorithm.into(), None, part).unwrap()[0].to_string();
                expected.push(match io {
                    Io::Direct => {
                        let told = "parts of a file cannot be read past the cache";
                        format!("{offset}+{length}: {told}")
                    }
                    _ => format!("{offset}+{length}: {digest}"),
                });
            }
        }
        let outcomes = run(&on(io, threads), jobs.into_iter());
        assert_eq!(outcomes.len(), expected.len());
        for (outcome, expected) in outcomes.iter().zip(&expected) {
            assert_eq!(outcome, expected, "{threads}");
        }
    }
    // An input without parts.
    for path in ["/dev/null", "/proc/stat"] {
        let source = Source::Extent { path: path.into(), offset: 0, length: 1 };
        let outcome = run(&on(io, 1), std::iter::once(Job { source, ..job(0, 1, Algorithm::Md5) }));
        assert!(
            outcome[0].ends_with("not a regular file with a size, so it has no parts"),
            "{outcome:?}"
        );
    }
}

/// A sparse file of some chunks, which is written in a few places.
fn long_file(folder: &Folder, size: u64) -> PathBuf {
    let path = folder.path("long");
    let file = File::create(&path).unwrap();
    file.set_len(size).unwrap();
    for place in [0, CHUNK_LEN - 1, CHUNK_LEN, 2 * CHUNK_LEN - 5, size - 1] {
        if place < size {
            file.write_at(b"x", place).unwrap();
        }
    }
    path
}

/// The next chunk of a file, as a run of its own has it.
fn chunk(
    path: &Path,
    from: Midstate,
    algorithms: Algorithms,
    options: &Options,
) -> Result<Hashed, Error> {
    let source = Source::Chunk { path: path.to_owned(), from: Box::new(from) };
    let job = Job { source, algorithms, context: () };
    engine::run(options, std::iter::once(job)).next().unwrap().result
}

pub(super) fn a_file_in_chunks_has_the_digests_of_the_whole(io: Io) {
    let folder = Folder::new();
    let all = Algorithms::ALL.iter().filter(|&it| Midstate::exists_of(it.into())).collect();
    let some = Algorithms::from(Algorithm::Md5).with(Algorithm::Blake3);
    let algorithms = if io == Io::Read { all } else { some };
    for (size, without_lane) in
        [(2 * CHUNK_LEN + 17, false), (CHUNK_LEN, false), (CHUNK_LEN + 1, true)]
    {
        let path = long_file(&folder, size);
        let algorithms = if without_lane { algorithms.without(Algorithm::Md5) } else { algorithms };
        if io == Io::Direct {
            let refused = chunk(&path, Midstate::default(), algorithms, &on(io, 1)).unwrap_err();
            assert!(refused.to_string().ends_with("cannot be read past the cache"), "{refused}");
            return;
        }
        let job = Job { source: Source::Path(path.clone()), algorithms, context: () };
        let whole = engine::run(&on(io, 1), std::iter::once(job)).next().unwrap().result.unwrap();
        let (mut from, mut bytes) = (Midstate::default(), 0);
        let last = loop {
            let hashed = chunk(&path, from, algorithms, &on(io, 2)).unwrap();
            bytes += hashed.bytes;
            assert_eq!((hashed.inode, hashed.times), (whole.inode, whole.times));
            let Some(midstate) = &hashed.midstate else { break hashed };
            assert!(hashed.digests.is_empty());
            assert_eq!((midstate.bytes(), midstate.algorithms()), (bytes, algorithms));
            // As it is kept until another day.
            from = Midstate::from_bytes(&midstate.to_bytes()).unwrap();
        };
        assert_eq!((bytes, &last.digests), (size, &whole.digests), "{io:?}");
    }
}

pub(super) fn an_impossible_chunk_is_refused(io: Io) {
    if io == Io::Direct {
        return;
    }
    let folder = Folder::new();
    let path = long_file(&folder, CHUNK_LEN + 1);
    let md5 = Algorithms::from(Algorithm::Md5);
    let first = chunk(&path, Midstate::default(), md5, &on(io, 1)).unwrap();
    let midstate = *first.midstate.unwrap();
    for size in [CHUNK_LEN, CHUNK_LEN - 1, 0] {
        File::options().write(true).open(&path).unwrap().set_len(size).unwrap();
        let refused = chunk(&path, midstate.clone(), md5, &on(io, 1));
        assert!(matches!(refused, Err(Error::Changed)), "{size}: {refused:?}");
    }
    long_file(&folder, CHUNK_LEN + 1);
    // Algorithms that the midstate does not have, and algorithms without a midstate.
    for algorithm in [Algorithm::Sha1, Algorithm::Xxh128, Algorithm::Glacier] {
        for algorithms in [algorithm.into(), md5.with(algorithm)] {
            let refused = chunk(&path, midstate.clone(), algorithms, &on(io, 1)).unwrap_err();
            assert!(refused.to_string().contains("is missing"), "{refused}");
        }
    }
}

pub(super) fn a_part_of_a_file_that_changes_has_no_digest(io: Io) {
    if io == Io::Direct {
        return;
    }
    let part = |folder: &Folder| Source::Extent {
        path: folder.path("long"),
        offset: 1,
        length: (LONG - 2) as u64,
    };
    for change in [grow, shrink, touch, replace] {
        let result = hash_in_while(Folder::new, part, change, &on(io, 1));
        assert!(matches!(result, Err(Error::Changed)), "{result:?}");
    }
    let result = hash_in_while(Folder::new, part, |_| (), &on(io, 1));
    assert_eq!(result.unwrap(), md5(&long(LONG)[1..LONG - 1]));
}

pub(super) fn progress_counts_bytes_and_files(io: Io) {
    let folder = Folder::new();
    let jobs = [folder.job("a", &bytes(300_000)), folder.job("b", b"abc"), folder.job_of("gone")];
    let progress = Arc::new(Progress::default());
    let mut options = on(io, 2);
    options.progress = Some(Arc::clone(&progress));
    assert_eq!(run(&options, jobs.into_iter()).len(), 3);
    assert_eq!(progress.bytes.load(Ordering::Relaxed), 300_003);
    assert_eq!(progress.files.load(Ordering::Relaxed), 3);
}

pub(super) fn fifos_are_read_in_the_order_of_the_jobs_without_holding_up_the_lanes(io: Io) {
    let folder = Folder::new();
    for fifo in ["first", "second"] {
        mknodat(CWD, folder.path(fifo), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }
    let job = folder.job("a", b"abc");
    let jobs = [folder.job_of("first"), job.clone(), folder.job_of("second"), job];
    let progress = Arc::new(Progress::default());
    let mut options = on(io, 1);
    options.progress = Some(Arc::clone(&progress));
    let all = std::thread::scope(|scope| {
        scope.spawn(|| {
            let open = |name| File::options().write(true).open(folder.path(name)).unwrap();
            let mut first = open("first");
            // What lies behind the FIFO is hashed although nothing has come out of it yet.
            while progress.files.load(Ordering::Relaxed) < 2 {
                std::thread::yield_now();
            }
            first.write_all(&bytes(200_000)).unwrap();
            drop(first);
            open("second").write_all(b"xyz").unwrap();
        });
        run(&options, jobs.into_iter())
    });
    let a = format!("a: {}", md5(b"abc"));
    let first = format!("first: {}", md5(&bytes(200_000)));
    let second = format!("second: {}", md5(b"xyz"));
    assert_eq!(all, [first, a.clone(), second, a]);
}

/// Each waits for its own writer, although all were opened before the first writer.
pub(super) fn a_fifo_is_read_once_per_job(io: Io) {
    let folder = Folder::new();
    mknodat(CWD, folder.path("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let (a, fifo) = (folder.job("a", b"abc"), folder.job_of("fifo"));
    let jobs = [fifo.clone(), a.clone(), fifo.clone(), a, fifo];
    let progress = Arc::new(Progress::default());
    let mut options = on(io, 1);
    options.progress = Some(Arc::clone(&progress));
    let all = std::thread::scope(|scope| {
        scope.spawn(|| {
            for (number, content) in [&b"one"[..], b"two", b"three"].into_iter().enumerate() {
                let done = || progress.files.load(Ordering::Relaxed);
                let mut fifo = File::options().write(true).open(folder.path("fifo")).unwrap();
                fifo.write_all(content).unwrap();
                drop(fifo);
                // Both regular files are done before the first of these.
                while done() < number as u64 + 3 {
                    std::thread::yield_now();
                }
            }
        });
        run(&options, jobs.into_iter())
    });
    let line = |name: &str, content: &[u8]| format!("{name}: {}", md5(content));
    let a = line("a", b"abc");
    let fifo = [b"one" as &[u8], b"two", b"three"].map(|content| line("fifo", content));
    let [one, two, three] = fifo;
    assert_eq!(all, [one, a.clone(), two, a, three]);
}

pub(super) fn an_endless_run_can_be_ended(io: Io) {
    let folder = Folder::new();
    let job = folder.job("a", b"abc");
    for threads in 1..=4 {
        let jobs = || std::iter::repeat(job.clone());
        assert_eq!(engine::run(&on(io, threads), jobs()).take(1_000).count(), 1_000);
        let mut run = engine::run(&on(io, threads), jobs());
        let stopper = run.stopper();
        let seen = run.by_ref().take(1_000).inspect(|_| stopper.stop()).count();
        assert_eq!((seen, run.next().is_none()), (1, true), "nothing comes after the stop");
        assert_eq!(run.finish().unwrap_err().totals.outcomes, 1);
    }
}

/// A file that would take hours, in a lane and without.
pub(super) fn a_stop_takes_effect_within_a_file(io: Io) {
    const ENDLESS: u64 = 1 << 42;
    let folder = Folder::new();
    let job = folder.job("long", b"long");
    let file = File::options().append(true).open(folder.path("long")).unwrap();
    if file.set_len(ENDLESS).is_err() {
        return;
    }
    for algorithm in [Algorithm::Md5, Algorithm::Xxh128] {
        // Several are done by threads, a single one by this.
        for count in [1, 3] {
            let progress = Arc::new(Progress::default());
            let mut options = on(io, 2);
            options.progress = Some(Arc::clone(&progress));
            let jobs = vec![Job { algorithms: algorithm.into(), ..job.clone() }; count];
            let mut run = engine::run(&options, jobs.into_iter());
            let stopper = run.stopper();
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    while progress.bytes.load(Ordering::Relaxed) == 0 {
                        std::thread::yield_now();
                    }
                    stopper.stop();
                });
                assert!(run.next().is_none(), "{algorithm}, {count}");
            });
            assert_eq!(run.finish().unwrap_err().totals.outcomes, 0);
        }
    }
}

pub(super) fn a_panic_in_the_jobs_reaches_the_caller(io: Io) {
    let folder = Folder::new();
    mknodat(CWD, folder.path("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    // The FIFO has no writer, and no thread must wait for it.
    for first in [folder.job("a", b"abc"), folder.job_of("fifo")] {
        for threads in [1, 4] {
            let mut jobs = std::iter::repeat_n(first.clone(), 100).enumerate();
            let jobs = std::iter::from_fn(move || {
                let (number, job) = jobs.next()?;
                assert!(number != 50, "on purpose");
                Some(job)
            });
            let run = || engine::run(&on(io, threads), jobs).count();
            let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"), "{threads}");
        }
    }
}

/// The pseudo files of the kernel have a size of 0, or of a page, whatever they hold.
pub(super) fn files_without_a_size_are_read_to_their_end(io: Io) {
    for path in ["/proc/filesystems", "/sys/devices/system/cpu/possible"] {
        let Ok(content) = fs::read(path) else { continue };
        let source = Source::Path(path.into());
        let job = Job { source, algorithms: Algorithm::Md5.into(), context: path.to_owned() };
        // There is no medium.
        let expected = match io {
            Io::Direct => Error::NoDirect.to_string(),
            _ => md5(&content),
        };
        for detect_changes in [true, false] {
            let mut options = on(io, 1);
            options.detect_changes = detect_changes;
            let outcomes = run(&options, std::iter::once(job.clone()));
            assert_eq!(outcomes, [format!("{path}: {expected}")], "{detect_changes}");
        }
    }
}

/// Files that were written a while ago are read as soon as they are opened. Those of nothing but a
/// hole have no blocks, as pseudo files.
pub(super) fn sparse_and_old_files_are_read(io: Io) {
    /// More than the ticks of the clock that files are stamped with.
    const A_WHILE: Duration = Duration::from_millis(30);
    let folder = Folder::new();
    let (mut jobs, mut expected) = (Vec::new(), Vec::new());
    for length in [0, 1, 100, 4095, 4096, 4097, 128 << 10, (128 << 10) + 1, (1 << 20) + 1] {
        for (kind, content) in [("hole", vec![0; length]), ("bytes", bytes(length))] {
            let name = format!("{kind} of {length}");
            expected.push(format!("{name}: {}", md5(&content)));
            jobs.push(folder.job(&name, if kind == "hole" { &[] } else { &content }));
            let file = File::options().write(true).open(folder.path(&name)).unwrap();
            file.set_len(length as u64).unwrap();
        }
    }
    std::thread::sleep(A_WHILE);
    for detect_changes in [true, false] {
        let mut options = on(io, 1);
        options.detect_changes = detect_changes;
        assert_eq!(run(&options, jobs.iter().cloned()), expected, "{detect_changes}");
    }
}

/// So long that a change comes in time when it is made as soon as something is read.
pub(super) const LONG: usize = 64 << 20;

/// The first bytes of the long file. It is a hole but for them, so it takes no room.
pub(super) fn long(length: usize) -> Vec<u8> {
    let mut content = vec![0; length];
    content[..4].copy_from_slice(b"long");
    content
}

/// Hashes a file that was last written in 1970 and is changed while it is read: before half of it
/// is, or it is done again.
fn hash_while(change: impl Fn(&Folder), options: &Options) -> Result<String, Error> {
    let source = |folder: &Folder| Source::Path(folder.path("long"));
    hash_in_while(Folder::new, source, change, options)
}

pub(super) fn hash_in_while(
    folder: impl Fn() -> Folder,
    source: impl Fn(&Folder) -> Source,
    change: impl Fn(&Folder),
    options: &Options,
) -> Result<String, Error> {
    /// More than is read at once in any way.
    const PIECE: u64 = 4 << 20;
    loop {
        let folder = folder();
        let [job, _] = ["long", "new"].map(|name| {
            let job = folder.job(name, b"long");
            let file = File::options().append(true).open(folder.path(name)).unwrap();
            file.set_len(LONG as u64).unwrap();
            file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH)).unwrap();
            job
        });
        // In lanes of two kinds. The digest of MD5 comes first.
        let job = Job { algorithms: job.algorithms.with(Algorithm::Glacier), ..job };
        let progress = Arc::new(Progress::default());
        let mut options = options.clone();
        options.progress = Some(Arc::clone(&progress));
        let read = || progress.bytes.load(Ordering::Relaxed);
        // Another job may come, so the first one is done by a thread.
        let (end, ended) = std::sync::mpsc::channel();
        let job = Job { source: source(&folder), ..job };
        let jobs = std::iter::once(job).chain(ended);
        let mut run = engine::run(&options, jobs);
        while read() == 0 {
            std::thread::yield_now();
        }
        change(&folder);
        let in_time = read() + PIECE < LONG as u64 / 2;
        drop(end);
        let outcome = run.next().unwrap();
        assert!(run.next().is_none());
        if in_time {
            return outcome.result.map(|hashed| hashed.digests[0].to_string());
        }
    }
}

fn writable(folder: &Folder) -> File {
    File::options().append(true).open(folder.path("long")).unwrap()
}

fn grow(folder: &Folder) {
    writable(folder).write_all(b"more").unwrap();
}

fn shrink(folder: &Folder) {
    writable(folder).set_len(LONG as u64 / 2).unwrap();
}

fn touch(folder: &Folder) {
    writable(folder).set_modified(SystemTime::now()).unwrap();
}

fn replace(folder: &Folder) {
    fs::rename(folder.path("new"), folder.path("long")).unwrap();
}

fn remove(folder: &Folder) {
    fs::remove_file(folder.path("long")).unwrap();
}

pub(super) fn a_file_that_changes_has_no_digest(io: Io) {
    for change in [grow, shrink, touch, replace, remove] {
        let result = hash_while(change, &on(io, 1));
        assert!(matches!(result, Err(Error::Changed)), "{result:?}");
    }
    assert_eq!(hash_while(|_| (), &on(io, 1)).unwrap(), md5(&long(LONG)));
}

/// A new change time alone is not a change of content.
pub(super) fn metadata_changes_do_not_count_as_changes(io: Io) {
    let chmod = |folder: &Folder| {
        fs::set_permissions(folder.path("long"), fs::Permissions::from_mode(0o400)).unwrap();
    };
    let link = |folder: &Folder| fs::hard_link(folder.path("long"), folder.path("link")).unwrap();
    let rename = |folder: &Folder| fs::rename(folder.path("long"), folder.path("moved")).unwrap();
    let changes: [&dyn Fn(&Folder); 3] = [&chmod, &link, &rename];
    for change in changes {
        assert_eq!(hash_while(change, &on(io, 1)).unwrap(), md5(&long(LONG)));
    }
}

/// Content that changes together with a chmod, and whose times are put back, is noticed by the
/// second look.
pub(super) fn restored_times_do_not_hide_a_change(io: Io) {
    let change = |folder: &Folder| {
        let file = File::options().write(true).open(folder.path("long")).unwrap();
        for at in [0, LONG as u64 - 1] {
            file.write_all_at(b"x", at).unwrap();
        }
        file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH)).unwrap();
    };
    let mut changed = long(LONG);
    (changed[0], changed[LONG - 1]) = (b'x', b'x');
    let changed = md5(&changed);
    // What counts as read may not be hashed yet: then all that was hashed is what is there now.
    let results = std::iter::repeat_with(|| hash_while(change, &on(io, 1)));
    let mut results = results.filter(|result| !result.as_ref().is_ok_and(|md5| *md5 == changed));
    let result = results.next();
    assert!(matches!(result, Some(Err(Error::Changed))), "{result:?}");
}

pub(super) fn changes_are_ignored_on_request(io: Io) {
    let mut options = on(io, 1);
    options.detect_changes = false;
    assert_eq!(hash_while(touch, &options).unwrap(), md5(&long(LONG)));
    assert_eq!(hash_while(replace, &options).unwrap(), md5(&long(LONG)));
    let grown = [&long(LONG)[..], b"more"].concat();
    assert_eq!(hash_while(grow, &options).unwrap(), md5(&grown));
    assert_eq!(hash_while(shrink, &options).unwrap(), md5(&long(LONG / 2)));
}

pub fn own_files_are_known_by_whatever_name(io: Io) {
    let folder = Folder::new();
    for (content, detect_changes) in
        [(&bytes(5), true), (&bytes(1 << 20), true), (&bytes(5), false)]
    {
        let others = [folder.job("a", content), folder.job("c", b"abc")];
        let own = folder.job("own", content);
        fs::hard_link(folder.path("own"), folder.path("link")).unwrap();
        let own_files = vec![inode_of_file(File::open(folder.path("own")).unwrap()).unwrap()];
        let link = Job { source: Source::Regular(folder.path("link")), ..folder.job_of("link") };
        let jobs = [own, others[0].clone(), link, others[1].clone()].into_iter();
        let mut options = on(io, 2);
        options.own_files = own_files;
        options.detect_changes = detect_changes;
        let left_out = |name| format!("{name}: {}", Error::OwnOutput);
        let expected = [
            left_out("own"),
            format!("a: {}", md5(content)),
            left_out("link"),
            format!("c: {}", md5(b"abc")),
        ];
        assert_eq!(run(&options, jobs), expected);
        fs::remove_file(folder.path("link")).unwrap();
    }
}
