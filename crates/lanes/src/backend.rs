//! Which instruction sets this CPU has, and how to run a kernel with one of them.

use core::fmt;

#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2, avx512, latency, sse2};
use crate::{Pair, Word};

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

    /// Whether this CPU has it: the features that the functions of its file enable.
    fn is_available(self) -> bool {
        match self {
            Portable => true,
            #[cfg(target_arch = "x86_64")]
            Sse2 => true,
            #[cfg(target_arch = "x86_64")]
            Avx2 => cpu_has!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Avx512 => cpu_has!("avx512f", "avx512vl", "avx512bw", "avx2"),
        }
    }
}

impl Backend {
    /// Plain Rust, which every machine runs.
    pub const PORTABLE: Self = Self(Portable);

    /// Every backend that this CPU has, the best last.
    pub fn available() -> impl DoubleEndedIterator<Item = Self> {
        InstructionSet::ALL.iter().copied().filter(|set| set.is_available()).map(Self)
    }

    /// The best that this CPU has.
    #[must_use]
    pub fn best() -> Self {
        Self::available().next_back().unwrap_or(Self::PORTABLE)
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
            Avx512 => &[1, 2, 4, 8, 16, 32],
        }
    }

    /// The width in which to take so many lanes forward: the narrowest that holds them all, or
    /// failing that the widest. It may be less than `lanes` where fewer at a time, in turns, are
    /// faster.
    #[must_use]
    pub fn width_for(self, lanes: usize) -> usize {
        let widths = self.widths();
        if lanes == 4 && widths.contains(&3) {
            return 3;
        }
        *widths.iter().find(|&&width| width >= lanes).unwrap_or(&widths[widths.len() - 1])
    }

    /// Runs a kernel in `width` lanes.
    ///
    /// # Panics
    /// When `width` is not one of [`widths`](Self::widths).
    #[inline]
    pub fn run<K: Kernel>(self, width: usize, kernel: K) -> K::Output {
        match (width, self.0) {
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
            // SAFETY: `is_available` said, when this value was made, that the CPU has AVX2.
            #[cfg(target_arch = "x86_64")]
            (_, Avx2) => unsafe { avx2::run(width, kernel) },
            // SAFETY: `is_available` said, when this value was made, that the CPU has AVX-512.
            #[cfg(target_arch = "x86_64")]
            (_, Avx512) => unsafe { avx512::run(width, kernel) },
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
