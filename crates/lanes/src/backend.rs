//! Which instruction sets this CPU has, and how to run a kernel with one of them.

use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2, avx512, latency, sse2};
use crate::{MAX_LANES, Pair, Word};

/// A computation written against [`Word`].
pub trait Kernel {
    /// What it gives back.
    type Output;

    /// Does it, in lanes of `W`.
    ///
    /// Implementations must be `#[inline(always)]`, and so must what they call with words: only
    /// then is the code compiled with the instructions of the backend. (It is right, but slow,
    /// without.)
    fn run<W: Word>(self) -> Self::Output;
}

/// An instruction set that this CPU has. There is no value of this type for one that it lacks.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Backend(pub(crate) InstructionSet);

/// In ascending order of what they can do.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum InstructionSet {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Sse2,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

use InstructionSet::*;

/// Whether the CPU has all of the features; without `std`, whether the build target promises them.
#[cfg(target_arch = "x86_64")]
macro_rules! cpu_has {
    ($($feature:tt),+) => {{
        #[cfg(feature = "std")]
        let has = $(std::arch::is_x86_feature_detected!($feature))&&+;
        #[cfg(not(feature = "std"))]
        let has = cfg!(all($(target_feature = $feature),+));
        has
    }};
}
#[cfg(target_arch = "x86_64")]
pub(crate) use cpu_has;

impl InstructionSet {
    const ALL: &[Self] = &[
        Portable,
        #[cfg(target_arch = "x86_64")]
        Sse2,
        #[cfg(target_arch = "x86_64")]
        Avx2,
        #[cfg(target_arch = "x86_64")]
        Avx512,
    ];

    /// What a CPU must have for it: the features that the functions of its file enable.
    const fn needs(self) -> &'static [Feature] {
        match self {
            Portable => &[],
            #[cfg(target_arch = "x86_64")]
            Sse2 => &[],
            #[cfg(target_arch = "x86_64")]
            Avx2 => &[Feature::Avx2],
            #[cfg(target_arch = "x86_64")]
            Avx512 => &[
                Feature::Avx512f,
                Feature::Avx512vl,
                Feature::Avx512bw,
                Feature::Avx2,
                Feature::Popcnt,
            ],
        }
    }

    /// The instruction sets of a CPU that has these features, the best last.
    fn of_cpu(has: impl Fn(Feature) -> bool) -> impl DoubleEndedIterator<Item = Self> {
        let runs = move |set: &Self| set.needs().iter().all(|&feature| has(feature));
        Self::ALL.iter().copied().filter(runs)
    }
}

/// What an instruction set may need of a CPU, beyond what every CPU of the architecture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feature {
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512f,
    #[cfg(target_arch = "x86_64")]
    Avx512vl,
    #[cfg(target_arch = "x86_64")]
    Avx512bw,
    #[cfg(target_arch = "x86_64")]
    Popcnt,
}

impl Feature {
    /// Whether this CPU has it, and the system saves the registers that it is about.
    fn is_here(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => cpu_has!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512f => cpu_has!("avx512f"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512vl => cpu_has!("avx512vl"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512bw => cpu_has!("avx512bw"),
            #[cfg(target_arch = "x86_64")]
            Self::Popcnt => cpu_has!("popcnt"),
        }
    }
}

impl Backend {
    /// Plain Rust, which every machine runs.
    pub const PORTABLE: Self = Self(Portable);

    /// Every backend that this CPU has, the best last.
    pub fn available() -> impl DoubleEndedIterator<Item = Self> {
        InstructionSet::of_cpu(Feature::is_here).map(Self)
    }

    /// The best that this CPU has.
    #[must_use]
    #[inline]
    pub fn best() -> Self {
        /// Its place among all, and one; 0 before it is known. A message of 64 bytes would notice.
        static BEST: AtomicUsize = AtomicUsize::new(0);
        match BEST.load(Relaxed) {
            0 => {
                let best = Self::available().next_back().unwrap_or(Self::PORTABLE);
                let place = InstructionSet::ALL.iter().position(|set| *set == best.0).unwrap_or(0);
                BEST.store(1 + place, Relaxed);
                best
            }
            known => Self(InstructionSet::ALL[known - 1]),
        }
    }

    /// The names of all backends of this architecture, on whatever CPU.
    pub fn names() -> impl Iterator<Item = &'static str> {
        InstructionSet::ALL.iter().map(|&set| Self(set).name())
    }

    /// The backend with this name, when this CPU has it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::available().find(|backend| backend.name() == name)
    }

    /// Its name: `portable`, `sse2`, `avx2` or `avx512`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Sse2 => "sse2",
            #[cfg(target_arch = "x86_64")]
            Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Avx512 => "avx512",
        }
    }

    /// The numbers of lanes in which it runs a kernel, ascending.
    #[must_use]
    pub fn widths(self) -> &'static [usize] {
        match self.0 {
            Portable => &[1, 2, 4],
            #[cfg(target_arch = "x86_64")]
            Sse2 if latency::vectors_take_two_cycles() => &[1, 2, 3, 4, 8],
            #[cfg(target_arch = "x86_64")]
            Avx2 if latency::vectors_take_two_cycles() => &[1, 2, 3, 4, 8, 16],
            #[cfg(target_arch = "x86_64")]
            Avx512 if latency::vectors_take_two_cycles() => &[1, 2, 3, 4, 8, 16, 32, 48, 64],
            #[cfg(target_arch = "x86_64")]
            Sse2 => &[1, 2, 4, 8],
            #[cfg(target_arch = "x86_64")]
            Avx2 => &[1, 2, 4, 8, 16],
            #[cfg(target_arch = "x86_64")]
            Avx512 if latency::rotations_take_two_cycles() => &[1, 4, 8, 16, 32, 64],
            #[cfg(target_arch = "x86_64")]
            Avx512 => &[1, 4, 8, 16, 32],
        }
    }

    /// The width in which to take so many lanes forward: the narrowest that holds them all, or
    /// failing that the widest. It may be less than `lanes` where fewer at a time, in turns, are
    /// faster.
    #[must_use]
    pub fn width_for(self, lanes: usize) -> usize {
        if lanes == 4 && self.widths().contains(&3) { 3 } else { self.width_for_all(lanes) }
    }

    /// The narrowest width that holds so many lanes, or failing that the widest.
    #[must_use]
    pub fn width_for_all(self, lanes: usize) -> usize {
        let widths = self.widths();
        *widths.iter().find(|&&width| width >= lanes).unwrap_or(&widths[widths.len() - 1])
    }

    /// How many long inputs to take forward together, if there are so many: the widest of the widths, except where
    /// that is faster only as long as they come out of the nearest caches.
    #[must_use]
    pub fn most_streams(self) -> usize {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Avx512 if latency::rotations_take_two_cycles() => 32,
            _ => self.width_for(MAX_LANES),
        }
    }

    /// How many long inputs to take forward together where memory for each of them counts as well: fewer than
    /// [`most_streams`](Self::most_streams) if these keep the units nearly as busy.
    #[must_use]
    pub fn enough_streams(self) -> usize {
        match self.0 {
            // MD5 of 16 takes 0.28 cycles a byte on a Granite Rapids, of 32 0.265.
            #[cfg(target_arch = "x86_64")]
            Avx512
                if !latency::rotations_take_two_cycles() && !latency::vectors_take_two_cycles() =>
            {
                16
            }
            _ => self.most_streams().min(32),
        }
    }

    /// Runs a kernel in `width` lanes.
    ///
    /// # Panics
    /// When `width` is not one of [`widths`](Self::widths).
    #[inline]
    pub fn run<K: Kernel>(self, width: usize, kernel: K) -> K::Output {
        match (width, self.0) {
            // SAFETY: `of_cpu` looked, when this value was made, that the CPU has what AVX-512 needs.
            #[cfg(target_arch = "x86_64")]
            (1, Avx512) if !latency::vectors_take_two_cycles() => unsafe {
                avx512::run1(latency::rotations_take_two_cycles(), kernel)
            },
            (1, _) => kernel.run::<u32>(),
            (2, _) => kernel.run::<Pair<u32, u32>>(),
            (4, Portable) => kernel.run::<[u32; 4]>(),
            // SAFETY: it says so only of CPUs that have what `run3` enables.
            #[cfg(target_arch = "x86_64")]
            (3, Sse2 | Avx2 | Avx512) if latency::vectors_take_two_cycles() => unsafe {
                latency::run3(kernel)
            },
            #[cfg(target_arch = "x86_64")]
            (_, Sse2) => sse2::run(width, kernel),
            // SAFETY: `of_cpu` looked, when this value was made, that the CPU has what AVX2 needs.
            #[cfg(target_arch = "x86_64")]
            (_, Avx2) => unsafe { avx2::run(width, kernel) },
            // SAFETY: `of_cpu` looked, when this value was made, that the CPU has what AVX-512 needs.
            #[cfg(target_arch = "x86_64")]
            (_, Avx512) => unsafe {
                avx512::run(width, latency::rotations_take_two_cycles(), kernel)
            },
            (_, Portable) => no_such_width(width),
        }
    }
}

/// A caller asked for a number of lanes that is not among a backend's [`Backend::widths`].
#[cold]
pub(crate) fn no_such_width(width: usize) -> ! {
    panic!("no word of this backend has {width} lanes")
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

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    const FEATURES: [Feature; 5] =
        [Feature::Avx2, Feature::Avx512f, Feature::Avx512vl, Feature::Avx512bw, Feature::Popcnt];

    /// Every CPU that can be thought of, each feature there or not.
    #[test]
    fn the_best_backend_under_every_mask_of_features() {
        for mask in 0..1 << FEATURES.len() {
            let has = |feature| {
                let bit = FEATURES.iter().position(|&each| each == feature).unwrap();
                mask >> bit & 1 == 1
            };
            let [avx2, others @ ..] = FEATURES.map(has);
            let expected: &[&str] = match (avx2, others == [true; 4]) {
                (true, true) => &["portable", "sse2", "avx2", "avx512"],
                (true, false) => &["portable", "sse2", "avx2"],
                (false, _) => &["portable", "sse2"],
            };
            let found: Vec<&str> =
                InstructionSet::of_cpu(has).map(|set| Backend(set).name()).collect();
            assert_eq!(found, expected, "of {FEATURES:?} {:?}", FEATURES.map(has));
        }
    }

    /// What keeps `Backend::run` sound: no function enables a feature that was not looked for.
    #[test]
    fn backends_need_all_that_their_functions_enable() {
        let name = |feature: &Feature| format!("{feature:?}").to_lowercase();
        for (set, sources) in [
            (Sse2, [include_str!("x86_64/sse2.rs"), include_str!("x86_64/sse2_64.rs")]),
            (Avx2, [include_str!("x86_64/avx2.rs"), include_str!("x86_64/avx2_64.rs")]),
            (Avx512, [include_str!("x86_64/avx512.rs"), include_str!("x86_64/avx512_64.rs")]),
        ] {
            let needs: Vec<String> = set.needs().iter().map(name).collect();
            for source in sources {
                for enabled in features_enabled(source) {
                    let is_there = enabled == "sse2" || needs.iter().any(|need| need == enabled);
                    assert!(is_there, "{}: {enabled} is enabled, but not needed", Backend(set));
                }
            }
        }
        assert_eq!(features_enabled("#[target_feature(enable = \"a,b\")] \"c\""), ["a", "b"]);
        assert!(features_enabled(include_str!("x86_64/avx512.rs")).contains(&"avx512f"));
    }

    /// The features in the attributes of a source.
    fn features_enabled(source: &str) -> Vec<&str> {
        let attributes = source.split("target_feature(enable = \"").skip(1);
        let lists = attributes.filter_map(|rest| rest.split('"').next());
        lists.flat_map(|list| list.split(',')).collect()
    }
}
