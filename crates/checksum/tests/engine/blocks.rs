//! Hashes of blocks, which have lanes beside those of other files and algorithms.

use sha2::{Digest as _, Sha256};

use super::*;

const MIB: usize = 1 << 20;

fn sha256(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

fn dropbox(content: &[u8]) -> String {
    let blocks: Vec<_> = content.chunks(4 * MIB).map(sha256).collect();
    hex(&sha256(blocks.as_flattened()))
}

/// Level by level, as Amazon's documentation describes it.
fn glacier(content: &[u8]) -> String {
    let mut nodes: Vec<_> = content.chunks(MIB).map(sha256).collect();
    if nodes.is_empty() {
        nodes.push(sha256(b""));
    }
    while nodes.len() > 1 {
        let parent = |children: &[[u8; 32]]| match children {
            [one] => *one,
            two => sha256(two.as_flattened()),
        };
        nodes = nodes.chunks(2).map(parent).collect();
    }
    hex(&nodes[0])
}

fn digest(algorithm: Algorithm, content: &[u8]) -> String {
    match algorithm {
        Algorithm::Md5 => md5(content),
        Algorithm::Sha256 => hex(&sha256(content)),
        Algorithm::Dropbox => dropbox(content),
        Algorithm::Glacier => glacier(content),
        _ => format!("{:08x}", crc32c::crc32c(content)),
    }
}

/// Sets of algorithms for files next to each other, each in the order of its digests.
const SETS: [&[Algorithm]; 5] = [
    &[Algorithm::Glacier],
    &[Algorithm::Dropbox],
    &[Algorithm::Md5, Algorithm::Sha256, Algorithm::Glacier],
    &[Algorithm::Dropbox, Algorithm::Glacier, Algorithm::Crc32c],
    &[Algorithm::Md5, Algorithm::Dropbox],
];

/// Lengths around those of blocks, small files, and buffers.
fn lengths(blocks: impl IntoIterator<Item = usize>) -> impl Iterator<Item = usize> {
    let edges = [32 << 10, 128 << 10].into_iter().chain(blocks.into_iter().map(|it| it * MIB));
    [0, 1].into_iter().chain(edges.flat_map(|edge| [edge - 1, edge, edge + 1]))
}

/// Writes a file of each length, and makes a job for each set. Returns the jobs with their
/// outcomes.
fn files(folder: &Folder, lengths: impl Iterator<Item = usize>) -> Vec<(Job<String>, String)> {
    let of_length = |length: usize| {
        let content = bytes(length);
        let name = length.to_string();
        let job = folder.job(&name, &content);
        SETS.map(|set| {
            let digests: Vec<_> = set.iter().map(|&it| digest(it, &content)).collect();
            let job = Job { algorithms: set.iter().copied().collect(), ..job.clone() };
            (job, format!("{name}: {}", digests.join(" ")))
        })
    };
    let files = lengths.flat_map(of_length).collect();
    // Files changed a moment ago are read in a different way.
    std::thread::sleep(Duration::from_millis(30));
    files
}

fn check(options: &Options, files: &[(Job<String>, String)]) {
    let (jobs, expected): (Vec<_>, Vec<_>) = files.iter().cloned().unzip();
    let outcomes = run(options, jobs.into_iter());
    assert_eq!(outcomes, expected, "{}, {}, {}", options.io, options.threads, options.backend);
}

#[test]
fn hashes_of_blocks_are_right_on_every_way_to_read() {
    let folder = Folder::new();
    let files = files(&folder, lengths([1, 3, 8]));
    for io in Io::ALL.into_iter().filter(|&io| has(io)) {
        check(&on(io, 1), &files);
    }
}

#[test]
fn hashes_of_blocks_are_right_on_every_backend() {
    let folder = Folder::new();
    let mut files = files(&folder, lengths([1, 2]));
    for backend in Backend::available() {
        let mut options = on(Io::Read, 3);
        options.backend = backend;
        files.reverse();
        check(&options, &files);
    }
}

/// Their bytes come in other pieces than those of files.
#[test]
fn hashes_of_blocks_are_right_for_fifos() {
    let folder = Folder::new();
    mknodat(CWD, folder.path("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let algorithms = [Algorithm::Dropbox, Algorithm::Glacier];
    for length in [0, MIB, 5 * MIB + 1] {
        let content = bytes(length);
        let job = Job { algorithms: algorithms.into_iter().collect(), ..folder.job_of("fifo") };
        let outcomes = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut fifo = File::options().write(true).open(folder.path("fifo")).unwrap();
                fifo.write_all(&content).unwrap();
            });
            run(&on(Io::Read, 1), std::iter::once(job))
        });
        let digests = algorithms.map(|it| digest(it, &content)).join(" ");
        assert_eq!(outcomes, [format!("fifo: {digests}")]);
    }
}

/// The first chunk of a file has no midstate if an algorithm has none.
#[test]
fn hashes_of_blocks_have_no_midstate() {
    let folder = Folder::new();
    let file = File::create(folder.path("long")).unwrap();
    file.set_len(CHUNK_LEN + 1).unwrap();
    let from = Box::<Midstate>::default();
    let source = Source::Chunk { path: folder.path("long"), from };
    for set in SETS {
        let algorithms: Algorithms = set.iter().copied().collect();
        assert!(!Midstate::exists_of(algorithms));
        let job = Job { source: source.clone(), algorithms, context: () };
        let outcome = engine::run(&on(Io::Read, 1), std::iter::once(job)).next().unwrap();
        assert_eq!(outcome.result.unwrap().midstate, None, "{set:?}");
    }
}
