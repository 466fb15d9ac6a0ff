//! Checks every backend, in every width and number of registers, against the crate md-5.
//!
//! `LANESUM_BACKEND=NAME` holds the tests to one backend.

use std::task::Poll;

use lanesum_md5::{
    Backend, Chunks, Lanes, Md5, Md5Digest, Midstate, Stream, md5, md5_many_with, most_streams,
};

/// The digest by an independent implementation.
fn peer(message: &[u8]) -> Md5Digest {
    use md5_peer::Digest as _;
    <[u8; 16]>::from(md5_peer::Md5::digest(message)).into()
}

/// Bytes that differ between neighbours and between blocks.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i % 251) as u8).collect()
}

/// A sequence of pseudo-random numbers (Marsaglia's xorshift64), the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit) as usize
    }
}

/// Every length from 0 to 1,100 in every lane of a width, each lane at a different alignment.
fn every_length(backend: Backend, width: usize) {
    const LONGEST: usize = 1_100;
    let memory = bytes(LONGEST + 64);
    let expected: Vec<Vec<Md5Digest>> = (0..width.min(4))
        .map(|at| (0..=LONGEST).map(|length| peer(&memory[at * 13 % 64..][..length])).collect())
        .collect();
    // Separate buffers, so that each can start at a chosen address modulo 64.
    let mut buffers = vec![vec![0; LONGEST + 128]; width];
    for length in 0..=LONGEST {
        let mut lanes = Lanes::with_backend(backend);
        let mut starts = Vec::new();
        for (lane, buffer) in buffers.iter_mut().enumerate() {
            let to_boundary = buffer.as_ptr().align_offset(64);
            let start = to_boundary + (lane + length) % 64;
            let message = &memory[lane % 4 * 13 % 64..][..length];
            buffer[start..][..length].copy_from_slice(message);
            starts.push(start);
        }
        for (index, (buffer, start)) in buffers.iter().zip(starts).enumerate() {
            lanes.push(Tagged { index, stream: &buffer[start..][..length] });
        }
        assert_eq!(lanes.len(), width);
        let mut seen = vec![false; width];
        while let Some((Tagged { index, .. }, digest)) = lanes.pop() {
            let expected = expected[index % 4][length];
            assert_eq!(digest, expected, "{backend} {width}: lane {index}, {length} bytes");
            assert!(!std::mem::replace(&mut seen[index], true), "lane {index} came twice");
        }
        assert!(seen.iter().all(|&seen| seen), "{backend} {width}: a lane is lost");
    }
}

/// Many streams of random lengths, some empty, one huge, each in odd chunks: every lane is
/// refilled the moment it is free, and every digest is the one-shot digest of its own message.
fn many_streams(backend: Backend, count: usize) {
    let mut random = Random(count as u64 + 1);
    let messages: Vec<Vec<u8>> = (0..count)
        .map(|index| {
            let length = match index % 7 {
                0 => 0,
                1 => random.below(64),
                2 => 64 * random.below(40),
                _ => random.below(5_000),
            };
            let length = if index == count / 2 { 3_000_001 } else { length };
            let mut message = bytes(length);
            message.iter_mut().for_each(|byte| *byte ^= index as u8);
            message
        })
        .collect();
    let mut waiting = messages.iter().enumerate();
    let mut lanes = Lanes::with_backend(backend);
    let mut seen = vec![false; count];
    loop {
        while !lanes.is_full()
            && let Some((index, message)) = waiting.next()
        {
            let stream = Chunks::new(message.chunks(1 + random.below(700)));
            lanes.push(Tagged { index, stream });
        }
        let Some((Tagged { index, .. }, digest)) = lanes.pop() else { break };
        assert_eq!(digest, md5(&messages[index]), "{backend}: stream {index} of {count}");
        assert!(!std::mem::replace(&mut seen[index], true), "{index} came twice");
    }
    assert!(seen.iter().all(|&seen| seen), "{backend}: of {count} streams one is lost");
}

/// Messages in two parts, cut at every block, in lanes next to whole ones. The state of the first
/// part is that of a single message, and the rest gives the digest of the whole.
fn cut_streams(backend: Backend) {
    const LONGEST: usize = 700;
    let messages: Vec<Vec<u8>> = (0..LONGEST).map(bytes).collect();
    let cut = |index: usize| 64 * (index / 7 % (messages[index].len() / 64 + 1));
    let mut states: Vec<Option<Md5Digest>> = vec![None; LONGEST];
    for is_rest in [false, true] {
        let mut waiting = 0..LONGEST;
        let mut lanes = Lanes::with_backend(backend);
        loop {
            while !lanes.is_full()
                && let Some(index) = waiting.next()
            {
                let (part, rest) = messages[index].split_at(cut(index));
                let of = |part: &'static [u8], is_cut| Cut { index, part, is_cut };
                let leak = |part: &[u8]| &*part.to_vec().leak();
                match (is_rest, states[index]) {
                    (false, _) if index % 5 == 0 => lanes.push(of(leak(&messages[index]), false)),
                    (false, _) => lanes.push(of(leak(part), true)),
                    (true, None) => {}
                    (true, Some(state)) => {
                        let midstate = Midstate::new(state.into(), part.len() as u64).unwrap();
                        lanes.push_behind(midstate, of(leak(rest), false));
                    }
                }
            }
            let Some((Cut { index, is_cut, .. }, digest)) = lanes.pop() else { break };
            let message = &messages[index];
            if is_cut {
                let mut first = Md5::new();
                first.update(&message[..cut(index)]);
                let midstate = first.midstate().unwrap();
                assert_eq!(digest.as_bytes(), &midstate.to_bytes(), "{backend}: {index}");
                let mut whole = Md5::from(midstate);
                whole.update(&message[cut(index)..]);
                assert_eq!(whole.finalize(), peer(message), "{backend}: {index}");
                states[index] = Some(digest);
            } else {
                assert_eq!(digest, peer(message), "{backend}: {index}");
            }
        }
    }
    assert_eq!(states.iter().flatten().count(), LONGEST - LONGEST.div_ceil(5));
}

/// A part of a message, which may continue, in odd pieces.
struct Cut {
    index: usize,
    part: &'static [u8],
    is_cut: bool,
}

impl Stream for Cut {
    fn chunk(&mut self) -> Poll<&[u8]> {
        Poll::Ready(&self.part[..self.part.len().min(1 + 37 * (self.index % 6))])
    }

    fn consume(&mut self, count: usize) {
        self.part = &self.part[count..];
    }

    fn is_cut(&self) -> bool {
        self.is_cut
    }
}

#[test]
#[should_panic(expected = "a stream is cut within a block")]
fn a_cut_within_a_block_panics() {
    let mut lanes = Lanes::new();
    lanes.push(Cut { index: 0, part: &[7; 65], is_cut: true });
    lanes.pop();
}

#[test]
fn a_midstate_is_of_whole_blocks() {
    let mut md5 = Md5::new();
    for length in 0..200 {
        assert_eq!(md5.midstate().is_some(), length % 64 == 0, "{length}");
        assert_eq!(Midstate::new([0; 16], length).is_some(), length % 64 == 0, "{length}");
        md5.update([7]);
    }
}

/// Equal messages, in numbers that fill the lanes or not: every length with some numbers, and every
/// number with lengths around block ends.
fn equal_lengths(backend: Backend) {
    const LONGEST: usize = 300;
    const MOST: usize = 130;
    let memory = bytes(LONGEST + MOST);
    for length in 0..=LONGEST {
        let messages: Vec<&[u8]> = (0..MOST).map(|at| &memory[at..][..length]).collect();
        let expected: Vec<Md5Digest> = messages.iter().map(|message| peer(message)).collect();
        let is_edge = [0, 1, 55, 56, 63, 64, 65, 128, 192, 256].contains(&length);
        let step = if is_edge { 1 } else { 13 };
        for count in (1 + length % step..=MOST).step_by(step) {
            let digests = md5_many_with(backend, &messages[..count]);
            assert_eq!(digests, expected[..count], "{backend}: {count} of {length} bytes");
        }
    }
}

/// Longer messages, some with equal lengths: in numbers that fill the lanes or not, alone and among
/// others, in any order.
fn longer_equal_lengths(backend: Backend) {
    const LENGTHS: [usize; 6] = [1_015, 1_016, 1_079, 1_080, 4_096, 5_000];
    const FAR: usize = 70_000;
    let memory = bytes(FAR + 200);
    let check = |lengths: Vec<usize>| {
        let messages: Vec<&[u8]> =
            (0..).zip(lengths).map(|(at, n)| &memory[at % 200..][..n]).collect();
        let expected: Vec<Md5Digest> = messages.iter().map(|message| peer(message)).collect();
        assert_eq!(md5_many_with(backend, &messages), expected, "{backend}: {}", messages.len());
    };
    for length in LENGTHS {
        for count in [1, 3, 4, 7, 8, 9, 16, 31, 32, 33, 63, 64, 65, 200] {
            check(vec![length; count]);
        }
    }
    check(vec![FAR; 100]);
    let mut random = Random(7);
    for count in [40, 100, 700, 1_300] {
        check((0..count).map(|_| LENGTHS[random.below(6)]).collect());
        check((0..count).map(|_| 900 + 40 * random.below(10)).collect());
    }
}

/// A stream that knows which it is.
struct Tagged<S> {
    index: usize,
    stream: S,
}

impl<S: Stream> Stream for Tagged<S> {
    fn chunk(&mut self) -> Poll<&[u8]> {
        self.stream.chunk()
    }
    fn consume(&mut self, count: usize) {
        self.stream.consume(count);
    }
}

/// The backends to test: the one that `LANESUM_BACKEND` names, or all.
fn backends() -> Vec<Backend> {
    #[cfg(target_arch = "x86_64")]
    lanesum_lanes::other_cpus::pretend();
    match std::env::var("LANESUM_BACKEND") {
        Ok(name) => vec![Backend::from_name(&name).unwrap_or_else(|| {
            panic!("LANESUM_BACKEND={name}: not one of those that this CPU has: {:?}", all())
        })],
        Err(_) => all(),
    }
}

fn all() -> Vec<Backend> {
    Backend::available().collect()
}

/// Stamps the properties onto a backend, by name.
macro_rules! stamp {
    ($($module:ident)*) => {
        /// The backends that the tests below cover.
        const STAMPED: &[&str] = &[$(stringify!($module)),*];

        $(mod $module {
            fn backend() -> Option<super::Backend> {
                super::backends().into_iter().find(|backend| backend.name() == stringify!($module))
            }

            #[test]
            fn every_length_in_every_width() {
                let Some(backend) = backend() else { return };
                let most = super::most_streams(backend);
                for &width in backend.widths().iter().filter(|&&width| width <= most) {
                    super::every_length(backend, width);
                }
                // Also a number of lanes that leaves some idle.
                super::every_length(backend, most - 1);
            }

            #[test]
            fn equal_lengths() {
                let Some(backend) = backend() else { return };
                super::equal_lengths(backend);
            }

            #[test]
            fn longer_equal_lengths() {
                let Some(backend) = backend() else { return };
                super::longer_equal_lengths(backend);
            }

            #[test]
            fn many_streams() {
                let Some(backend) = backend() else { return };
                for count in [31, 33, 1_000] {
                    super::many_streams(backend, count);
                }
            }

            #[test]
            fn cut_streams() {
                let Some(backend) = backend() else { return };
                super::cut_streams(backend);
            }
        })*
    };
}

stamp! { portable sse2 avx2 avx512 }

/// Says which backends run, and fails when one that the CPU offers does not.
#[test]
fn every_backend_of_the_cpu_is_covered() {
    println!("backends of this CPU: {:?}; tested: {:?}", all(), backends());
    for name in Backend::names() {
        assert!(STAMPED.contains(&name), "{name} is not stamped");
    }
    let names: Vec<&str> = all().iter().map(|backend| backend.name()).collect();
    assert_eq!(names[0], "portable");
    assert_eq!(Backend::best().name(), *names.last().unwrap());
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        assert!(names.contains(&"sse2"));
        assert_eq!(names.contains(&"avx2"), has!("avx2"));
        let avx512 = has!("avx512f") && has!("avx512vl") && has!("avx2");
        assert_eq!(names.contains(&"avx512"), avx512);
    }
    assert_eq!(Backend::from_name("mmx"), None);
}

/// No lane is idle where there are as many streams as fit.
#[test]
fn most_streams_is_a_width_of_the_backend() {
    for backend in backends() {
        let most = most_streams(backend);
        assert_eq!(most, Lanes::<&[u8]>::with_backend(backend).capacity(), "{backend}");
        assert!(backend.widths().contains(&most), "{backend}: {most}");
        assert!(most <= 32 || backend.leaves_units_idle(), "{backend}: {most}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn every_test_holds_for_other_cpus() {
    lanesum_lanes::other_cpus::test_each();
}
