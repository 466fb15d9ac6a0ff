//! Words of 64 bits: loads return the bytes of the inputs, in every backend and width, and read
//! nothing beyond them, not even where the next byte is on a page that may not be read.

use std::ffi::c_void;
use std::ops::RangeInclusive;

use lanesum_lanes::{
    Backend, CHUNK, Column, Inputs, Kernel64, MAX_LANES_64, Offset, PICK_ROOM, Records,
    ShortPieces, ShortSlices, SliceLanes, Source, WORD_LEN, Word64, rest_of,
};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use rustix::param::page_size;

/// A page between two that may not be read.
struct Page {
    start: *mut c_void,
}

impl Page {
    fn new() -> Self {
        let (size, access) = (page_size(), ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: a new mapping at an address that the system chooses belongs to no other code.
        let start =
            unsafe { mmap_anonymous(std::ptr::null_mut(), 3 * size, access, MapFlags::PRIVATE) };
        let start = start.expect("three pages");
        for page in [0, 2] {
            let guard = start.wrapping_byte_add(page * size);
            // SAFETY: the page is part of the mapping, and no reference to it exists.
            unsafe { mprotect(guard, size, MprotectFlags::empty()) }.expect("a guard page");
        }
        let mut page = Self { start };
        for (place, byte) in page.bytes_mut().iter_mut().enumerate() {
            *byte = (place % 251) as u8 + 1;
        }
        page
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let start = self.start.wrapping_byte_add(page_size()).cast();
        // SAFETY: the page in the middle may be read and written, and is borrowed with `self`.
        unsafe { std::slice::from_raw_parts_mut(start, page_size()) }
    }

    fn bytes(&self) -> &[u8] {
        let start = self.start.wrapping_byte_add(page_size()).cast();
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(start, page_size()) }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: the mapping is from `new`, and no reference to it outlives `self`.
        unsafe { munmap(self.start, 3 * page_size()) }.expect("it is mapped");
    }
}

/// Loads all that can be loaded, and compares it with the inputs.
struct Loads<'a, S> {
    source: S,
    inputs: &'a [&'a [u8]],
}

impl<S: Source> Kernel64 for Loads<'_, S> {
    type Output = ();
    const NARROW: u128 = u128::MAX;

    #[inline(always)]
    fn run<W: Word64>(self) {
        let Self { source, inputs } = self;
        let most = inputs.iter().map(|input| input.len() / WORD_LEN).max().unwrap();
        let least = inputs.iter().map(|input| input.len() / WORD_LEN).min().unwrap();
        assert_eq!(source.least(), least);
        assert_eq!(source.longest() / WORD_LEN, most);
        for index in 0..least {
            expect(W::load_word(&source, 0, index), inputs, |input| word(input, index));
        }
        for index in 0..least.saturating_sub(1) {
            let [first, second] = W::load_pair(&source, 0, index);
            expect(first, inputs, |input| word(input, index));
            expect(second, inputs, |input| word(input, index + 1));
        }
        for index in 0..most + 3 {
            let [first, second] = W::load_pair_or_zeros(&source, 0, index);
            expect(first, inputs, |input| word(input, index));
            expect(second, inputs, |input| word(input, index + 1));
        }
        let rest = |input: &[u8]| word(input, input.len() / WORD_LEN);
        expect(W::load_rest(&source, 0), inputs, rest);
        expect(source.lengths::<W>(0), inputs, |input| input.len() as u64);
    }
}

/// A word of an input by its definition, with zeros beyond the end.
fn word(input: &[u8], index: usize) -> u64 {
    let mut bytes = [0; WORD_LEN];
    let place = input.len().min(WORD_LEN * index);
    let there = (input.len() - place).min(WORD_LEN);
    bytes[..there].copy_from_slice(&input[place..][..there]);
    u64::from_le_bytes(bytes)
}

fn expect<W: Word64>(found: W, inputs: &[&[u8]], expected: impl Fn(&[u8]) -> u64) {
    let mut lanes = [0; MAX_LANES_64];
    found.store(&mut lanes);
    for (lane, input) in inputs.iter().enumerate() {
        assert_eq!(lanes[lane], expected(input), "lane {lane}, {} bytes", input.len());
    }
}

/// Returns every width of every backend of the CPU.
fn each_width(mut test: impl FnMut(Backend, usize)) {
    for backend in Backend::available() {
        let widths = backend.widths_64().iter().chain(backend.narrow_widths_64());
        widths.for_each(|&width| test(backend, width));
    }
}

fn check(backend: Backend, width: usize, inputs: &[&[u8]]) {
    let mut lanes = Inputs::new();
    for (lane, input) in inputs.iter().enumerate() {
        lanes.set(lane, input);
        assert_eq!(lanes.get(lane), *input);
    }
    let source = lanes.words(inputs.len(), width);
    backend.run_64(width, Loads { source, inputs });
}

#[test]
fn inputs_end_where_the_page_ends_or_begin_where_it_begins() {
    let page = Page::new();
    let bytes = page.bytes();
    let last = |length: usize| &bytes[bytes.len() - length..];
    each_width(|backend, width| {
        for length in 0..=70 {
            check(backend, width, &vec![last(length); width]);
            check(backend, width, &vec![&bytes[..length]; width]);
            // A different number of whole words in each lane, and some idle lanes.
            let ragged: Vec<&[u8]> =
                (0..width).map(|lane| last((length + 5 * lane) % 71)).collect();
            check(backend, width, &ragged);
            check(backend, width, &ragged[..width.div_ceil(2)]);
        }
    });
}

#[test]
fn records_end_where_the_page_ends() {
    fn of<const N: usize>(bytes: &[u8]) {
        let records = bytes.as_rchunks::<N>().1;
        each_width(|backend, width| {
            let records = &records[records.len() - width..];
            let inputs: Vec<&[u8]> = records.iter().map(|record| &record[..]).collect();
            let source = Records::new(records.as_flattened(), N, width);
            backend.run_64(width, Loads { source, inputs: &inputs });
            // With bytes behind, all of which may be read.
            let (more, len) = (bytes.len() % N, N * width);
            let source = Records::new(&bytes[more..], N, width);
            let inputs: Vec<&[u8]> =
                (0..width).map(|lane| &bytes[more + N * lane..][..N]).collect();
            assert!(bytes.len() - more - len >= WORD_LEN && source.word_follows());
            backend.run_64(width, Loads { source, inputs: &inputs });
        });
    }
    let page = Page::new();
    of::<1>(page.bytes());
    of::<7>(page.bytes());
    of::<8>(page.bytes());
    of::<16>(page.bytes());
    of::<20>(page.bytes());
    of::<32>(page.bytes());
    of::<45>(page.bytes());
}

/// Returns the places before sorting of a number of sorted pieces.
fn places_of(sorted: &ShortPieces<'_>, count: usize) -> Vec<usize> {
    let (mut ranks, mut places) = (vec![usize::MAX; count], vec![usize::MAX; count]);
    let (some, all) = (count / 2, (0..count).collect::<Vec<_>>());
    sorted.scatter(0, &all[..some], &mut ranks);
    sorted.scatter(some, &all[some..], &mut ranks);
    for (place, &rank) in ranks.iter().enumerate() {
        places[rank] = place;
    }
    places
}

/// Sorts pieces, and loads all that may be read of them.
struct SortedLoads<'a> {
    buffer: &'a [u8],
    offsets: &'a [u32],
    by_mask: bool,
}

impl Kernel64 for SortedLoads<'_> {
    type Output = ();
    const NARROW: u128 = u128::MAX;

    #[inline(always)]
    fn run<W: Word64>(self) {
        let Self { buffer, offsets, by_mask } = self;
        let count = offsets.len() - 1;
        let mut sorted = ShortPieces::new();
        assert!(sorted.sort::<W>(Column::new(buffer, offsets), by_mask));
        let words = |place: usize| (offsets[place + 1] - offsets[place]) as usize / WORD_LEN;
        let places = places_of(&sorted, count);
        let mut all = places.clone();
        all.sort_unstable();
        assert_eq!(all, (0..count).collect::<Vec<_>>());
        assert!(places.is_sorted_by_key(|&place| words(place)));

        for first in 0..=count - W::LANES {
            let places = &places[first..][..W::LANES];
            // For each lane, all bytes up to the end of the buffer, and only the piece.
            let ends = places.iter().map(|&place| [offsets[place], offsets[place + 1]]);
            let (all, pieces): (Vec<&[u8]>, Vec<&[u8]>) = ends
                .map(|[start, end]| {
                    (&buffer[start as usize..], &buffer[start as usize..end as usize])
                })
                .unzip();
            let lanes = sorted.lanes(first, W::LANES);
            let readable = all.iter().map(|bytes| bytes.len()).min().unwrap();
            let most = words(places[W::LANES - 1]);
            assert_eq!(lanes.words_follow(), readable >= WORD_LEN * (most + 2));
            if lanes.words_follow() {
                for index in 0..=most {
                    let [first, second] = W::load_pair(&lanes, 0, index);
                    expect(first, &all, |bytes| word(bytes, index));
                    expect(second, &all, |bytes| word(bytes, index + 1));
                    expect(W::load_word(&lanes, 0, index), &all, |bytes| word(bytes, index));
                }
            }
            Loads { source: lanes, inputs: &pieces }.run::<W>();
        }
    }
}

#[test]
fn short_pieces_end_where_the_page_ends() {
    let page = Page::new();
    for lengths in [1..2, 0..9, 1..17, 8..33, 100..128] {
        let spread = lengths.len() as u32;
        let mut offsets = vec![0];
        for place in 0..50_u32 {
            offsets.push(offsets[place as usize] + lengths.start + place * place * 7 % spread);
        }
        let all = *offsets.last().unwrap() as usize;
        let (mut page, mut pieces) = (page.bytes(), &offsets[..]);
        if all > page.len() {
            pieces = &offsets[..30];
        }
        page = &page[page.len() - *pieces.last().unwrap() as usize..];
        each_width(|backend, width| {
            for by_mask in [false, true] {
                let kernel = SortedLoads { buffer: page, offsets: pieces, by_mask };
                backend.run_64(width, kernel);
            }
        });
    }
}

/// Sorts slices, and loads all words of them.
struct SliceLoads<'a>(&'a [&'a [u8]]);

impl Kernel64 for SliceLoads<'_> {
    type Output = ();
    const NARROW: u128 = u128::MAX;

    #[inline(always)]
    fn run<W: Word64>(self) {
        let count = self.0.len();
        let mut sorted = ShortSlices::new();
        sorted.places(count).copy_from_slice(self.0);
        assert!(sorted.sort::<W>(count));
        let mut ranks = vec![usize::MAX; count];
        sorted.scatter(0, &(0..count).collect::<Vec<_>>(), &mut ranks);
        let mut slices = vec![&[][..]; count];
        for (slice, rank) in self.0.iter().zip(ranks) {
            slices[rank] = slice;
        }
        let mut lanes = SliceLanes::new();
        for first in 0..=count - W::LANES {
            let slices = &slices[first..][..W::LANES];
            sorted.put::<W>(first, &mut lanes);
            let words = |slice: &[u8]| slice.len() / WORD_LEN;
            assert_eq!(lanes.are_even(), words(slices[0]) == words(slices[W::LANES - 1]));
            expect(lanes.lasts::<W>(), slices, |slice| {
                word(slice, words(slice)) | (slice.len() as u64) << 56
            });
            Loads { source: &lanes, inputs: slices }.run::<W>();
        }
    }
}

#[test]
fn short_slices_end_where_the_page_ends_or_begin_where_it_begins() {
    let page = Page::new();
    let bytes = page.bytes();
    for longest in [0, 7, 16, 64, 127] {
        let lengths = (0..100).map(|place| place * place * 7 % (longest + 1));
        let ends = lengths.map(|length| [&bytes[..length], &bytes[bytes.len() - length..]]);
        let slices = ends.flatten().collect::<Vec<_>>();
        each_width(|backend, width| backend.run_64(width, SliceLoads(&slices)));
    }
}

#[test]
fn long_slices_are_not_sorted() {
    struct Sort<'a>(&'a [&'a [u8]]);

    impl Kernel64 for Sort<'_> {
        type Output = bool;
        const NARROW: u128 = u128::MAX;

        #[inline(always)]
        fn run<W: Word64>(self) -> bool {
            let mut sorted = ShortSlices::new();
            sorted.places(self.0.len()).copy_from_slice(self.0);
            sorted.sort::<W>(self.0.len())
        }
    }

    each_width(|backend, width| {
        assert!(backend.run_64(width, Sort(&[&[7; 127][..]; CHUNK])));
        assert!(!backend.run_64(width, Sort(&[b"a", &[7; 128], b""])));
    });
}

/// Sorts pieces of 1 MiB, which must be short and have valid offsets.
struct Sort<'a, O>(&'a [O]);

impl<O: Offset> Kernel64 for Sort<'_, O> {
    type Output = bool;
    const NARROW: u128 = u128::MAX;

    #[inline(always)]
    fn run<W: Word64>(self) -> bool {
        let buffer = vec![0; 1 << 20];
        let mut sorted = ShortPieces::new();
        let sorts = sorted.sort::<W>(Column::new(&buffer, self.0), false);
        // None are there if not.
        let count = if sorts { self.0.len() - 1 } else { 0 };
        assert_eq!(places_of(&sorted, count).len(), count);
        sorts
    }
}

#[test]
fn long_pieces_are_not_sorted() {
    each_width(|backend, width| {
        let offsets = |length: u64| (0..=CHUNK as u64).map(|i| i * length).collect::<Vec<_>>();
        assert!(backend.run_64(width, Sort(&offsets(127))));
        assert!(!backend.run_64(width, Sort(&offsets(128))));
        assert!(!backend.run_64(width, Sort(&offsets(2000))));
        assert!(!backend.run_64(width, Sort(&[0_u64, 1, 129])));
        assert!(backend.run_64(width, Sort(&[1_u64 << 19, (1 << 19) + 127, (1 << 19) + 128])));
        assert!(!backend.run_64(width, Sort(&[0_u64, 1, 1 << 17, 1 << 17])));
    });
}

#[test]
fn invalid_offsets_are_not_sorted() {
    let all = 1_u64 << 20;
    each_width(|backend, width| {
        assert!(backend.run_64(width, Sort(&[all - 2, all - 1, all])));
        assert!(!backend.run_64(width, Sort(&[all - 1, all, all + 1])));
        // Some offsets fall: in the middle, at both ends, by a wrap of the numbers, to valid
        // places.
        assert!(!backend.run_64(width, Sort(&[5_u64, 4, 6])));
        assert!(!backend.run_64(width, Sort(&[5_u64, 6, 4])));
        assert!(!backend.run_64(width, Sort(&[0_u64, (1 << 32) + 5, 10])));
        assert!(!backend.run_64(width, Sort(&[0_u64, 1 << 63, 10])));
        assert!(!backend.run_64(width, Sort(&[u64::MAX, 5, 10])));
        assert!(!backend.run_64(width, Sort(&[u32::MAX, 5, 10])));
        assert!(!backend.run_64(width, Sort(&[0, u32::MAX, 10])));
        assert!(!backend.run_64(width, Sort(&[0_i32, -1, 10])));
        assert!(!backend.run_64(width, Sort(&[-1_i32, 0, 10])));
        assert!(!backend.run_64(width, Sort(&[-3_i64, -2, -1])));
        assert!(!backend.run_64(width, Sort(&[i32::MAX, i32::MIN, 0])));
    });
}

#[test]
#[should_panic(expected = "places.len() == self.count")]
fn scatter_into_too_few_places_is_refused() {
    struct Scatter;

    impl Kernel64 for Scatter {
        type Output = ();

        #[inline(always)]
        fn run<W: Word64>(self) {
            let mut sorted = ShortPieces::new();
            assert!(sorted.sort::<W>(Column::new(b"abc", &[0_u32, 1, 2, 3]), true));
            sorted.scatter(0, &[0], &mut [0; 2]);
        }
    }

    Backend::best().run_64(1, Scatter);
}

#[test]
fn pick_selects_the_numbers_in_a_range() {
    struct Pick<'a>(&'a [u32], RangeInclusive<u32>);

    impl Kernel64 for Pick<'_> {
        type Output = Vec<u32>;
        const NARROW: u128 = u128::MAX;

        #[inline(always)]
        fn run<W: Word64>(self) -> Vec<u32> {
            let mut picked = vec![0; self.0.len() + PICK_ROOM];
            let count = W::pick(self.0, self.1, &mut picked);
            picked.truncate(count);
            picked
        }
    }

    let numbers: Vec<u32> = (0..100_u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    each_width(|backend, width| {
        for count in 0..=numbers.len() {
            let numbers = &numbers[..count];
            for range in [0..=u32::MAX, 0..=0, 1 << 30..=3 << 30, u32::MAX..=u32::MAX] {
                let within = numbers.iter().copied().filter(|number| range.contains(number));
                let picked = backend.run_64(width, Pick(numbers, range.clone()));
                assert_eq!(picked, within.collect::<Vec<_>>(), "{backend}: {range:?} of {count}");
            }
        }
    });
}

/// Compares the operations with those of plain numbers.
#[test]
fn every_width_agrees_with_one_lane() {
    struct Operations([u64; MAX_LANES_64], [u64; MAX_LANES_64]);

    impl Kernel64 for Operations {
        type Output = ();
        const NARROW: u128 = u128::MAX;

        #[inline(always)]
        fn run<W: Word64>(self) {
            let (a, b) = (W::load(&self.0), W::load(&self.1));
            let check = |found: W, expected: fn(u64, u64) -> u64| {
                let mut lanes = [0; MAX_LANES_64];
                found.store(&mut lanes);
                let (filled, empty) = lanes.split_at(W::LANES);
                for (lane, found) in filled.iter().enumerate() {
                    assert_eq!(*found, expected(self.0[lane], self.1[lane]), "lane {lane}");
                }
                assert!(empty.iter().all(|&lane| lane == 0));
            };
            check(a.add(b), u64::wrapping_add);
            check(a.xor(b), |a, b| a ^ b);
            check(a.xor3(b, W::splat(7)), |a, b| a ^ b ^ 7);
            check(a.rotate_left(13), |a, _| a.rotate_left(13));
            check(a.rotate_left(16), |a, _| a.rotate_left(16));
            check(a.rotate_left(32), |a, _| a.rotate_left(32));
            check(a.shift_left(56), |a, _| a << 56);
            check(a.shift_right(3), |a, _| a >> 3);
            check(a.in_order(), |a, _| a);
            let mut shifted = [0; MAX_LANES_64];
            a.shift_in(b).store(&mut shifted);
            let expected = self.0[1..W::LANES].iter().chain(&self.1[..1]);
            assert!(shifted[..W::LANES].iter().eq(expected));
            let (c, d) = (a.shift_right(1), b.shift_right(1));
            check(W::select(c.more_than(d), a, b), |a, b| if a >> 1 > b >> 1 { a } else { b });
            check(W::select(c.more_than(c), a, b), |_, b| b);
            for bits in [0, 1, 7, 8, 63] {
                check(
                    a.below(W::splat(bits), b),
                    match bits {
                        0 => |_, b| b,
                        1 => |a, b| a & 1 | b & !1,
                        7 => |a, b| a & 0x7f | b & !0x7f,
                        8 => |a, b| a & 0xff | b & !0xff,
                        _ => |a, b| a & u64::MAX >> 1 | b & 1 << 63,
                    },
                );
            }
            check(a.below(W::splat(64), b), |a, _| a);
            check(a.below(W::splat(u64::MAX), b), |a, _| a);
            for whole in [0, 8, 120] {
                check(a.rest(W::splat(whole), b), |_, b| b);
                check(a.rest(W::splat(whole + 3), b), |a, b| a & 0xff_ffff | b & !0xff_ffff);
                check(a.rest(W::splat(whole + 7), b), |a, b| a & u64::MAX >> 8 | b & 0xff << 56);
            }
            // As many bytes in each lane as its number says.
            check(a.rest(d, b), |a, b| {
                a & !(u64::MAX << (8 * (b >> 1 & 7))) | b & u64::MAX << (8 * (b >> 1 & 7))
            });
        }
    }

    let numbers = |factor: u64| std::array::from_fn(|i| (i as u64 + 1).wrapping_mul(factor));
    let (a, b) = (numbers(0x9e37_79b9_7f4a_7c15), numbers(0xda94_2042_e4dd_58b5));
    each_width(|backend, width| backend.run_64(width, Operations(a, b)));
}

#[test]
fn the_last_word_matches_its_definition() {
    let bytes: [u8; 40] = std::array::from_fn(|i| 0xf0 ^ i as u8);
    for length in 0..=bytes.len() {
        let input = &bytes[..length];
        assert_eq!(rest_of(input), word(input, length / WORD_LEN), "{length} bytes");
    }
}
