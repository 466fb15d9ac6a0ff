//! The table of instruction sets, and how to run a kernel with one of them.

use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::portable::Scalar;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::x86_64::{
    Avx2x8, Avx512x8, Avx512x16, Avx512x32, Sse2x4, avx2::Avx2, avx2_64::U64x4, avx512::Avx512,
    avx512::Avx512Shortest, avx512_64::U64x8, latency::Latency, sse2_64::U64x2, vector::Vector,
};
use crate::{Kernel64, Pair, Word, Word64};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use core::arch::x86_64::__m256i;

/// A computation written against [`Word`].
pub trait Kernel {
    /// The result of the computation.
    type Output;

    /// The numbers of lanes to compile the kernel for, as bits: for the portable backend, SSE2,
    /// AVX2, and for AVX-512 with each of its three latencies (all operations in one cycle,
    /// rotations in two, all in two). A large kernel names those that it uses. With an instruction
    /// set that has none, it runs as with the one before.
    const WIDTHS: [u128; 6] = [u128::MAX; 6];

    /// Runs the computation in lanes of `W`.
    ///
    /// Implementations must be `#[inline(always)]`, and so must every function that they pass words
    /// to. Only then does the compiler use the instructions of the backend. Without the attribute
    /// the result is the same, but slow.
    fn run<W: Word>(self) -> Self::Output;
}

/// An instruction set that this CPU supports. A value of this type exists only for a supported
/// instruction set.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Backend(InstructionSet);

/// The table. An entry holds the builds that have the instruction set, its name, the CPU features
/// that it needs, the bytes in its widest register, its words of 64 bits by ascending number of
/// lanes, narrower ones to run in the frame of the widest register, and the value of
/// [`Backend::loads_by_mask`]. The values that may depend on [`Latency`] follow: the words of 32
/// bits, [`Backend::gathering_width_64`] and [`Backend::leaves_units_idle`].
macro_rules! instruction_sets {
    ($(
        #$build:tt
        $name:literal, needs: [$($feature:tt),*], register: $register:literal,
        words_64: { $($width_64:literal: $word_64:ty),* },
        narrow_64: { $($narrow:literal: $narrow_word:ty),* } in $frame:ty, by_mask: $by_mask:literal,
        $(
            $set:ident $(on $latency:ident)?, words: { $($width:literal: $word:ty),* },
            gathering: $gathering:literal, idle: $idle:literal;
        )+
    )*) => {
        /// In ascending order of capability, with one variant for each latency that matters.
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        enum InstructionSet {
            $($(#$build $set,)+)*
        }

        impl InstructionSet {
            const ALL: &[Self] = &[$($(#$build Self::$set,)+)*];

            const NAMES: &[&str] = &[$(#$build $name,)*];

            const fn name(self) -> &'static str {
                match self {
                    $(#$build $(Self::$set)|+ => $name,)*
                }
            }

            const fn needs(self) -> &'static [&'static str] {
                match self {
                    $(#$build $(Self::$set)|+ => &[$($feature),*],)*
                }
            }

            /// Returns whether the entry is for CPUs with the latency of this one. The features are
            /// checked elsewhere.
            fn is_for_this_cpu(self) -> bool {
                match self {
                    $($(
                        #$build
                        Self::$set => true $(&& Latency::of_this_cpu() == Latency::$latency)?,
                    )+)*
                }
            }
        }

        /// Returns whether this CPU has a feature and the system saves its registers. Without
        /// `std`, returns whether the build target guarantees the feature.
        #[allow(unreachable_patterns, reason = "several need the same")]
        fn cpu_has(feature: &str) -> bool {
            match feature {
                $($(
                    #$build
                    #[cfg(feature = "std")]
                    $feature => std::arch::is_x86_feature_detected!($feature),
                    #$build
                    #[cfg(not(feature = "std"))]
                    $feature => cfg!(target_feature = $feature),
                )*)*
                _ => false,
            }
        }

        impl Backend {
            /// Returns the numbers of lanes in which the backend can run a kernel, ascending.
            #[must_use]
            pub const fn widths(self) -> &'static [usize] {
                match self.0 {
                    $($(#$build InstructionSet::$set => &[$($width),*],)+)*
                }
            }

            /// Runs a kernel in `width` lanes.
            ///
            /// # Panics
            /// Panics if `width` is not one of [`widths`](Self::widths) and of the kernel's.
            #[inline]
            pub fn run<K: Kernel>(self, width: usize, kernel: K) -> K::Output {
                let place = (0..=self.0 as usize).rfind(|&place| K::WIDTHS[place] > 0);
                match InstructionSet::ALL[place.unwrap_or(0)] {
                    $($(#$build InstructionSet::$set => match width {
                        $($width => {
                            if const { K::WIDTHS[InstructionSet::$set as usize] >> $width & 1 == 1 } {
                                run_in::<$word, K>(kernel)
                            } else {
                                no_such_width(width)
                            }
                        })*
                        _ => no_such_width(width),
                    },)+)*
                }
            }

            /// Returns the numbers of lanes in which the backend can run a kernel of 64-bit words,
            /// ascending.
            #[must_use]
            pub const fn widths_64(self) -> &'static [usize] {
                match self.0 {
                    $(#$build $(InstructionSet::$set)|+ => &[$($width_64),*],)*
                }
            }

            /// Returns further numbers of lanes, ascending, of registers that are narrower than
            /// those of the backend. Only kernels that name them run in them.
            #[must_use]
            pub const fn narrow_widths_64(self) -> &'static [usize] {
                match self.0 {
                    $(#$build $(InstructionSet::$set)|+ => &[$($narrow),*],)*
                }
            }

            /// Runs a kernel of 64-bit words in `width` lanes.
            ///
            /// # Panics
            /// Panics if `width` is not one of [`widths_64`](Self::widths_64) or
            /// [`narrow_widths_64`](Self::narrow_widths_64) and of the kernel's.
            #[inline]
            pub fn run_64<K: Kernel64>(self, width: usize, kernel: K) -> K::Output {
                match self.0 {
                    $(#$build $(InstructionSet::$set)|+ => match width {
                        $($width_64 => {
                            if const { is_in(&K::WIDTHS, $register, $width_64) } {
                                run_in_64::<$word_64, $word_64, K>(kernel)
                            } else {
                                no_such_width(width)
                            }
                        })*
                        $($narrow => {
                            if const { K::NARROW >> $narrow & 1 == 1 } {
                                run_in_64::<$frame, $narrow_word, K>(kernel)
                            } else {
                                no_such_width(width)
                            }
                        })*
                        _ => no_such_width(width),
                    },)*
                }
            }

            /// Returns the number of bytes in the widest register, or 0 for the portable backend.
            #[must_use]
            pub const fn register_len(self) -> usize {
                match self.0 {
                    $(#$build $(InstructionSet::$set)|+ => $register,)*
                }
            }

            /// Returns the best number of lanes for kernels that gather their words from many
            /// places. It is the largest width, or a smaller one that already keeps the execution
            /// units busy. With the smaller one the CPU can start on the next lanes before the
            /// current ones are done.
            #[must_use]
            pub const fn gathering_width_64(self) -> usize {
                match self.0 {
                    $($(#$build InstructionSet::$set => $gathering,)+)*
                }
            }

            /// Returns whether the backend loads words by a mask. If so,
            /// [`Word64::load_pair_or_zeros`] is as fast as [`Word64::load_pair`].
            #[must_use]
            pub const fn loads_by_mask(self) -> bool {
                match self.0 {
                    $(#$build $(InstructionSet::$set)|+ => $by_mask,)*
                }
            }

            /// Returns whether 32 lanes of 32 bits leave half of the execution units of this CPU
            /// idle. If so, 64 lanes take little longer.
            #[must_use]
            pub const fn leaves_units_idle(self) -> bool {
                match self.0 {
                    $($(#$build InstructionSet::$set => $idle,)+)*
                }
            }
        }
    };
}

type Scalar2 = Pair<Scalar, Scalar>;
type AnyOrder2 = Pair<Scalar<false>, Scalar<false>>;

// AVX-512 has three sets of words, one for each latency. If rotations take two cycles, few lanes
// are fastest with the shortest chain of other operations, and two registers of 256 bits leave
// shorter gaps than one of 512 bits, which occupies two units. If all operations take two cycles,
// few streams are fastest in scalar lanes, and two sets of 512 bits leave half of the units idle.
instruction_sets! {
    #[cfg(true)]
    "portable", needs: [], register: 0,
    words_64: { 1: u64, 2: [u64; 2] }, narrow_64: {} in u64, by_mask: false,
    Portable, words: { 1: Scalar, 2: Scalar2, 4: Pair<AnyOrder2, AnyOrder2> },
    gathering: 2, idle: false;

    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    "sse2", needs: [], register: 16,
    words_64: { 1: u64, 2: U64x2, 4: Pair<U64x2, U64x2>, 6: Pair<Pair<U64x2, U64x2>, U64x2> },
    narrow_64: {} in U64x2, by_mask: false,
    Sse2, words: { 1: Scalar, 2: Scalar2, 4: Sse2x4, 8: Pair<Sse2x4, Sse2x4> },
    gathering: 6, idle: false;

    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    "avx2", needs: ["avx2"], register: 32,
    words_64: { 1: u64, 4: U64x4, 8: Pair<U64x4, U64x4>, 12: Pair<Pair<U64x4, U64x4>, U64x4> },
    narrow_64: { 2: U64x2 } in U64x4, by_mask: false,
    Avx2, words: {
        1: Scalar, 2: Scalar2, 4: Vector<__m256i, Avx2<true>, 4>, 8: Vector<__m256i, Avx2<true>, 8>,
        16: Pair<Avx2x8, Avx2x8>
    },
    gathering: 12, idle: false;

    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    "avx512", needs: ["avx512f", "avx512vl", "avx512bw", "avx2", "popcnt"], register: 64,
    words_64: { 1: u64, 8: U64x8, 16: Pair<U64x8, U64x8>, 24: Pair<Pair<U64x8, U64x8>, U64x8> },
    narrow_64: { 2: U64x2, 4: U64x4 } in U64x8, by_mask: true,
    Avx512 on One, words: {
        1: Vector<__m256i, Avx512, 1>, 4: Vector<__m256i, Avx512, 4>,
        8: Avx512x8, 16: Avx512x16, 32: Avx512x32
    },
    gathering: 16, idle: false;
    Avx512SlowRotations on TwoToRotate, words: {
        1: Vector<__m256i, Avx512Shortest, 1>, 4: Vector<__m256i, Avx512Shortest, 4>,
        8: Vector<__m256i, Avx512Shortest, 8>, 16: Pair<Avx512x8, Avx512x8>, 32: Avx512x32,
        64: Pair<Avx512x32, Avx512x32>
    },
    gathering: 16, idle: false;
    Avx512TwoCycles on Two, words: {
        1: Scalar, 2: Scalar2, 3: Pair<Scalar2, Scalar>, 4: Pair<Scalar2, Scalar2>, 8: Avx512x8,
        16: Avx512x16, 32: Avx512x32, 48: Pair<Avx512x32, Avx512x16>, 64: Pair<Avx512x32, Avx512x32>
    },
    gathering: 24, idle: true;
}

/// A separate function for each word. In one function without optimisation, the frames of all words
/// would overflow the stack of a thread.
#[inline(never)]
fn run_in<W: Word, K: Kernel>(kernel: K) -> K::Output {
    W::call(
        #[inline(always)]
        || {
            if W::LANES > 1 {
                align_frame();
            }
            kernel.run::<W>()
        },
    )
}

/// See [`run_in`]. Here the instructions are those of another word, which has all of `W`'s.
#[inline(never)]
fn run_in_64<Frame: Word64, W: Word64, K: Kernel64>(kernel: K) -> K::Output {
    Frame::call(
        #[inline(always)]
        || kernel.run::<W>(),
    )
}

/// Aligns the caller's frame to a cache line. The compiler aligns variables, but not spilled
/// registers, and every other one of these would lie across two lines.
#[inline(always)]
fn align_frame() {
    #[repr(align(64))]
    struct Line {
        _bytes: [u8; 64],
    }
    core::hint::black_box(&core::mem::MaybeUninit::<Line>::uninit());
}

/// Returns whether a kernel with these [`WIDTHS`](Kernel64::WIDTHS) is compiled for a width of a
/// backend, by the bytes in its registers.
const fn is_in(widths: &[u128; 4], register: usize, width: usize) -> bool {
    let place = match register {
        0 => 0,
        16 => 1,
        32 => 2,
        _ => 3,
    };
    widths[place] >> width & 1 == 1
}

/// Panics because `width` is not one of the [`Backend::widths`], or not one of the kernel's.
#[cold]
fn no_such_width(width: usize) -> ! {
    panic!("no word of this backend has {width} lanes")
}

/// The index of the best instruction set plus one, or 0 before it is known. Detecting the CPU takes
/// as long as hashing a message of 64 bytes.
static BEST: AtomicUsize = AtomicUsize::new(0);

impl InstructionSet {
    /// Returns the instruction sets of a CPU with the given features, the best one last.
    fn of_cpu(has: impl Fn(&str) -> bool) -> impl DoubleEndedIterator<Item = Self> {
        let runs = move |set: &Self| set.needs().iter().all(|feature| has(feature));
        Self::ALL.iter().copied().filter(runs)
    }
}

impl Backend {
    /// The backend in plain Rust, which runs on every machine.
    pub const PORTABLE: Self = Self(InstructionSet::Portable);

    /// Returns all backends that this CPU supports, the best one last.
    pub fn available() -> impl DoubleEndedIterator<Item = Self> {
        InstructionSet::of_cpu(cpu_has).filter(|set| set.is_for_this_cpu()).map(Self)
    }

    /// Returns the best backend that this CPU supports.
    #[must_use]
    #[inline]
    pub fn best() -> Self {
        match BEST.load(Relaxed) {
            0 => Self::find_best(),
            known => Self(InstructionSet::ALL[known - 1]),
        }
    }

    #[cold]
    fn find_best() -> Self {
        let best = Self::available().next_back().unwrap_or(Self::PORTABLE);
        let place = InstructionSet::ALL.iter().position(|set| *set == best.0).unwrap_or(0);
        BEST.store(1 + place, Relaxed);
        best
    }

    /// Makes [`best`](Self::best) detect the CPU again.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    pub(crate) fn forget_best() {
        BEST.store(0, Relaxed);
    }

    /// Returns the names of all backends of this architecture, including those that this CPU does
    /// not support.
    pub fn names() -> impl Iterator<Item = &'static str> {
        InstructionSet::NAMES.iter().copied()
    }

    /// Returns the backend with this name, or `None` if this CPU does not support it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::available().find(|backend| backend.name() == name)
    }

    /// Returns the name of the backend, one of [`names`](Self::names).
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns the narrowest of the [`widths`](Self::widths) that holds `lanes` lanes, or the
    /// widest if none does.
    #[must_use]
    pub fn width_for(self, lanes: usize) -> usize {
        let widths = self.widths();
        *widths.iter().find(|&&width| width >= lanes).unwrap_or(&widths[widths.len() - 1])
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Backend({self})")
    }
}

#[cfg(all(test, target_arch = "x86_64", target_feature = "sse2"))]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Tries every combination of features.
    #[test]
    fn every_set_of_features_gets_its_best_backend() {
        let mut features: Vec<_> = InstructionSet::ALL.iter().flat_map(|set| set.needs()).collect();
        features.sort_unstable();
        features.dedup();
        for mask in 0..1 << features.len() {
            let has = |feature: &str| {
                let bit = features.iter().position(|&&each| each == feature).unwrap();
                mask >> bit & 1 == 1
            };
            let expected: &[&str] = match (has("avx2"), mask + 1 == 1 << features.len()) {
                (true, true) => &["portable", "sse2", "avx2", "avx512"],
                (true, false) => &["portable", "sse2", "avx2"],
                (false, _) => &["portable", "sse2"],
            };
            let mut found: Vec<&str> = InstructionSet::of_cpu(has).map(|set| set.name()).collect();
            found.dedup();
            assert_eq!(found, expected, "of {features:?} {mask:b}");
        }
    }

    /// Each latency has exactly one of the variants for AVX-512.
    #[test]
    fn names_are_unique_at_every_latency() {
        for latency in Latency::ALL {
            latency.pretend();
            let sets = InstructionSet::ALL.iter().filter(|set| set.is_for_this_cpu());
            assert!(sets.map(|set| set.name()).eq(Backend::names()), "{latency:?}");
        }
    }

    /// `Backend::run` is sound only if no function enables a feature that the table does not check.
    /// A file named like an instruction set holds its functions, and any other file those that
    /// every x86-64 runs.
    #[test]
    fn backends_require_every_feature_they_enable() {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files = [src.join("x86_64"), src].map(|folder| folder.read_dir().unwrap());
        let mut enabling = Vec::new();
        for path in files.into_iter().flatten().map(|file| file.unwrap().path()) {
            if path.is_dir() {
                continue;
            }
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let is_called_so = |set: &&InstructionSet| stem.trim_end_matches("_64") == set.name();
            let set = InstructionSet::ALL.iter().find(is_called_so);
            let source = fs::read_to_string(&path).unwrap();
            let needs = match set {
                Some(set) => set.needs(),
                // The SHA instructions are beside the table.
                None if stem == "sha" => features_detected(&source),
                None => &[],
            };
            for enabled in features_enabled(&source) {
                let is_there = enabled == "sse2" || needs.contains(&enabled);
                assert!(is_there, "{stem}: {enabled} is enabled, but not needed");
                enabling.extend(set.map(|set| set.name()));
            }
        }
        assert_eq!(features_enabled("#[target_feature(enable = \"a,b\")] \"c\""), ["a", "b"]);
        for set in InstructionSet::ALL.iter().filter(|set| !set.needs().is_empty()) {
            assert!(enabling.contains(&set.name()), "{} has no file", set.name());
        }
    }

    /// Returns the features of the SHA instructions, all of which a source file detects.
    fn features_detected(source: &str) -> &'static [&'static str] {
        const NEEDS: &[&str] = &["sha", "ssse3", "sse4.1"];
        let detects =
            |feature: &&&str| source.contains(&format!("is_x86_feature_detected!(\"{feature}\")"));
        let all = NEEDS.iter().all(|feature| detects(&feature));
        if all { NEEDS } else { &[] }
    }

    /// Returns the features in the attributes of a source file.
    fn features_enabled(source: &str) -> Vec<&str> {
        let attributes = source.split("target_feature(enable = \"").skip(1);
        let lists = attributes.filter_map(|rest| rest.split('"').next());
        lists.flat_map(|list| list.split(',')).collect()
    }
}
