//! Compares ETags of files with their definition.

use std::fs;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use lanesum_checksum::check;
use lanesum_checksum::engine::{self, Io, Progress};
use lanesum_checksum::etag::{EtagsOfFile, Input, PartSize, etags, etags_of_reader};
use lanesum_checksum::walk::Count;
use lanesum_checksum::{Error, Source};
use md5::{Digest as _, Md5};
use proptest::prelude::*;

fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// By the definition, with another MD5.
fn expected(content: &[u8], part_size: usize) -> String {
    if content.len() <= part_size {
        return hex(&Md5::digest(content));
    }
    let mut all = Md5::new();
    content.chunks(part_size).for_each(|part| all.update(Md5::digest(part)));
    format!("{}-{}", hex(&all.finalize()), content.len().div_ceil(part_size))
}

fn part_sizes(sizes: &[usize]) -> Vec<PartSize> {
    sizes.iter().map(|&size| PartSize::Bytes(NonZeroU64::new(size as u64).unwrap())).collect()
}

fn words(etags: EtagsOfFile) -> Vec<String> {
    etags.etags.into_iter().map(|etag| etag.unwrap().to_string()).collect()
}

fn of_files(
    options: &engine::Options,
    sizes: &[PartSize],
    paths: Vec<PathBuf>,
) -> Vec<Vec<String>> {
    let input = |path| Input { source: Source::Path(path), context: () };
    let outcomes = etags(options, sizes, paths.into_iter().map(input));
    outcomes.map(|outcome| words(outcome.result.unwrap())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn etags_match_their_definition(
        lengths in proptest::collection::vec(0usize..3_000_000, 1..4),
        fractions in proptest::collection::vec(1usize..600, 1..5),
        seed: u64,
        threads in 1usize..4,
        way in 0usize..3,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let longest = lengths.iter().max().copied().unwrap_or(0);
        let sizes: Vec<_> = fractions.iter().map(|parts| longest / parts + 1).collect();
        let given = part_sizes(&sizes);
        let mut options = engine::Options::default();
        options.threads = threads;
        options.io = [Io::Read, Io::Mmap, Io::Auto][way];
        let (mut paths, mut all) = (Vec::new(), Vec::new());
        for (number, &length) in lengths.iter().enumerate() {
            let content = content(length, seed ^ number as u64);
            let path = folder.path().join(number.to_string());
            fs::write(&path, &content).unwrap();
            let expected: Vec<_> = sizes.iter().map(|&size| expected(&content, size)).collect();
            prop_assert_eq!(words(etags_of_reader(&content[..], &given).unwrap()), &expected[..]);
            paths.push(path);
            all.push(expected);
        }
        prop_assert_eq!(of_files(&options, &given, paths), all);
    }
}

#[test]
fn inputs_keep_their_order_and_their_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("long"), content(100_000, 7)).unwrap();
    fs::write(path("short"), "abc").unwrap();
    let sources = [
        Source::Path(path("long")),
        Source::Path(path("gone")),
        Source::Nothing,
        Source::Path(folder.path().to_owned()),
        Source::Regular(path("short")),
        Source::Extent { path: path("long"), offset: 0, length: 1 },
        Source::Path("/dev/null".into()),
        Source::Path(path("long")),
    ];
    let sizes = part_sizes(&[30_000]);
    let inputs = sources.clone().into_iter().enumerate();
    let inputs = inputs.map(|(context, source)| Input { source, context });
    let mut options = engine::Options::default();
    options.threads = 3;
    let outcomes: Vec<_> = etags(&options, &sizes, inputs).collect();
    assert_eq!(outcomes.len(), sources.len());
    let long = expected(&content(100_000, 7), 30_000);
    let told = outcomes.into_iter().enumerate().map(|(place, outcome)| {
        assert_eq!((outcome.context, &outcome.source), (place, &sources[place]));
        match outcome.result {
            Ok(etags) => words(etags).join(" "),
            Err(error) => error.to_string(),
        }
    });
    let expected = [
        long.clone(),
        "No such file or directory".to_owned(),
        String::new(),
        "Is a directory".to_owned(),
        expected(b"abc", 3),
        "a part of a file has no ETag of its own".to_owned(),
        expected(b"", 1),
        long,
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

#[test]
fn a_file_in_parts_is_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let names = ["one", "two", "three"];
    names.iter().for_each(|name| fs::write(path(name), content(100_000, 7)).unwrap());
    let progress = Arc::new(Progress::default());
    let mut options = engine::Options::default();
    options.progress = Some(Arc::clone(&progress));
    let inputs = names.map(|name| Input { source: Source::Path(path(name)), context: () });
    let mut outcomes = etags(&options, &part_sizes(&[10_000, 7_000]), inputs.into_iter());
    for done in 1..=3 {
        assert!(outcomes.next().unwrap().result.is_ok());
        while progress.bytes.load(Relaxed) < 600_000 {
            std::thread::yield_now();
        }
        assert_eq!(progress.files.load(Relaxed), done);
    }
}

/// Also one that is read again, as the first part sizes do not hold; and one that is not there.
#[test]
fn a_file_read_again_is_counted_once() {
    const SIZE: usize = 20 << 20;
    let folder = tempfile::tempdir().unwrap();
    let content = content(SIZE, 7);
    fs::write(folder.path().join("a"), &content).unwrap();
    let list = folder.path().join("list");
    let etag = expected(&content, 13_000_000);
    fs::write(&list, format!("{etag}  a\n{etag}  gone\n{etag}  a\n")).unwrap();
    let progress = Arc::new(Progress::default());
    let mut options = check::Options::default();
    options.root = Some(folder.path().to_owned());
    options.engine.progress = Some(Arc::clone(&progress));
    let lists = [check::List::Path(list)];
    let total = Count::start({
        let (lists, options) = (lists.clone(), options.clone());
        move || check::files(lists.into_iter(), &options)
    });
    let matched = check::check(lists.into_iter(), &options).filter(|(_, event)| {
        matches!(event, check::Event::Checked { verdict: check::Verdict::Match, .. })
    });
    assert_eq!(matched.count(), 2);
    assert_eq!(progress.files.load(Relaxed), 3);
    assert!(progress.bytes.load(Relaxed) > 3 * SIZE as u64);
    assert_eq!(total.unwrap().wait().unwrap().files, 3);
}

#[test]
fn a_changing_file_has_no_mixed_etag() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let versions = [content(4 << 20, 1), content(4 << 20, 2)];
    fs::write(&path, &versions[0]).unwrap();
    let sizes = part_sizes(&[100_000, 70_001]);
    let known: Vec<Vec<_>> = versions
        .iter()
        .map(|content| [100_000, 70_001].map(|size| expected(content, size)).to_vec())
        .collect();
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for version in versions.iter().cycle().skip(1) {
                if is_done.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                // In place, as a database does.
                let file = fs::File::options().write(true).open(&path).unwrap();
                std::os::unix::fs::FileExt::write_all_at(&file, version, 0).unwrap();
                drop(file);
                std::thread::yield_now();
            }
        });
        for _ in 0..40 {
            let input = Input { source: Source::Path(path.clone()), context: () };
            let mut outcomes = etags(&engine::Options::default(), &sizes, std::iter::once(input));
            match outcomes.next().unwrap().result {
                Ok(etags) => assert!(known.contains(&words(etags))),
                Err(error) => assert!(matches!(error, Error::Changed), "{error}"),
            }
        }
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let input = Input { source: Source::Path(path), context: () };
    let mut outcomes = etags(&engine::Options::default(), &sizes, std::iter::once(input));
    assert!(known.contains(&words(outcomes.next().unwrap().result.unwrap())));
}

/// Polling gives the same outcomes, and dropping the iterator ends it in the middle of a file.
#[test]
fn etags_can_be_polled() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..50).map(|number| folder.path().join(number.to_string())).collect();
    paths.iter().enumerate().for_each(|(seed, path)| {
        fs::write(path, content(2000 * seed, seed as u64)).unwrap();
    });
    let (options, sizes) = (engine::Options::default(), part_sizes(&[3000, 700]));
    let input = |path: PathBuf| Input { source: Source::Path(path), context: () };
    let mut run = etags(&options, &sizes, paths.clone().into_iter().map(input));
    let mut found = Vec::new();
    while !run.is_at_end() {
        let outcome = run.next_within(Duration::from_millis(1));
        found.extend(outcome.map(|outcome| words(outcome.result.unwrap())));
    }
    assert_eq!(found, of_files(&options, &sizes, paths));

    let long = folder.path().join("long");
    fs::File::create(&long).unwrap().set_len(1 << 40).unwrap();
    let size = ["1GiB".parse().unwrap()];
    let inputs = [input(long.clone()), input(long)].into_iter();
    let mut run = etags(&options, &size, inputs);
    assert!(run.next_within(Duration::from_millis(20)).is_none() && !run.is_at_end());
}
