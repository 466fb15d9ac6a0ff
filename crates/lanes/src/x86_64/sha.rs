//! The SHA instructions of x86-64 (SHA-NI), which come with SSSE3 and SSE4.1.
//!
//! The ground rule of [`x86_64`](super) holds here, with one check of its own: [`run`] calls a
//! kernel only if [`Instructions::of_this_cpu`] has found the features.

use core::arch::x86_64::*;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use super::latency::is_amd;
use crate::blocks::BlockRow;
use crate::word::sealed::Sealed;
use crate::{Backend, Pair, ShaKernel, ShaWord};

/// What this CPU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Instructions {
    /// No SHA instructions.
    None = 1,
    /// They queue at one execution unit, so that two streams fill it.
    ForTwo,
    /// They fill the units with four streams.
    ForFour,
}

/// The answer as a number, or 0 before it is known.
static ANSWER: AtomicU8 = AtomicU8::new(0);

impl Instructions {
    /// All answers.
    pub const ALL: [Self; 3] = [Self::None, Self::ForTwo, Self::ForFour];

    /// Asks the CPU only once, because CPUID takes microseconds under a hypervisor.
    pub(crate) fn of_this_cpu() -> Self {
        let answer = ANSWER.load(Relaxed);
        Self::ALL.into_iter().find(|known| *known as u8 == answer).unwrap_or_else(|| {
            let found = Self::detect();
            ANSWER.store(found as u8, Relaxed);
            found
        })
    }

    fn detect() -> Self {
        #[cfg(feature = "std")]
        let has_all = std::arch::is_x86_feature_detected!("sha")
            && std::arch::is_x86_feature_detected!("ssse3")
            && std::arch::is_x86_feature_detected!("sse4.1");
        #[cfg(not(feature = "std"))]
        let has_all =
            cfg!(all(target_feature = "sha", target_feature = "ssse3", target_feature = "sse4.1"));
        match (has_all, has_all && is_amd()) {
            (false, _) => Self::None,
            (true, false) => Self::ForTwo,
            (true, true) => Self::ForFour,
        }
    }

    /// Makes this process choose as on a CPU with fewer SHA instructions. For tests, which would
    /// otherwise never run the choices for other CPUs. Does nothing if this CPU has none.
    pub fn pretend(self) {
        if Self::detect() != Self::None {
            ANSWER.store(self as u8, Relaxed);
            Backend::forget_best();
        }
    }

    pub(crate) const fn streams(self) -> &'static [usize] {
        match self {
            Self::None => &[],
            Self::ForTwo => &[1, 2],
            Self::ForFour => &[1, 2, 4],
        }
    }
}

type Two = Pair<Sha, Sha>;

/// Runs a kernel.
///
/// # Panics
/// Panics if the CPU has no SHA instructions, or for other numbers of streams.
#[inline]
pub(crate) fn run<K: ShaKernel>(streams: usize, kernel: K) -> K::Output {
    assert!(Instructions::of_this_cpu() != Instructions::None, "no SHA instructions");
    match streams {
        1 => run_in::<Sha, K>(kernel),
        2 if const { K::MOST_STREAMS >= 2 } => run_in::<Two, K>(kernel),
        4 => {
            if const { K::MOST_STREAMS >= 4 } {
                run_in::<Pair<Two, Two>, K>(kernel)
            } else {
                panic!("no kernel for 4 streams")
            }
        }
        _ => panic!("no word of {streams} streams"),
    }
}

#[inline(never)]
fn run_in<W: ShaWord, K: ShaKernel>(kernel: K) -> K::Output {
    W::call(
        #[inline(always)]
        || kernel.run::<W>(),
    )
}

/// Four words of one message in a register.
#[derive(Clone, Copy)]
pub(crate) struct Sha(__m128i);

impl Sealed for Sha {}

/// Returns the words with their bytes reversed.
#[inline(always)]
fn swap_bytes(words: __m128i) -> __m128i {
    // SAFETY: the ground rule.
    unsafe { _mm_shuffle_epi8(words, super::vector::swapped()) }
}

impl ShaWord for Sha {
    const STREAMS: usize = 1;

    #[inline(always)]
    fn splat([a, b, c, d]: [u32; 4]) -> Self {
        // Not `map`, which stays a call where the crate is compiled in parts without LTO.
        let [a, b] = [a.cast_signed(), b.cast_signed()];
        let [c, d] = [c.cast_signed(), d.cast_signed()];
        // SAFETY: the ground rule.
        Self(unsafe { _mm_setr_epi32(a, b, c, d) })
    }

    #[inline(always)]
    fn load(row: BlockRow<'_>, first: usize, quarter: usize) -> Self {
        let bytes: &[u8; 16] = row.bytes(first, 16 * quarter);
        // SAFETY: the ground rule. The load does not require alignment.
        Self(swap_bytes(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }))
    }

    #[inline(always)]
    fn load_state<const N: usize>(states: &[[u8; N]], piece: usize) -> Self {
        let rest = &states[0][16 * piece..];
        let mut bytes = [0; 16];
        let length = rest.len().min(16);
        bytes[..length].copy_from_slice(&rest[..length]);
        // SAFETY: the ground rule. The load does not require alignment.
        Self(swap_bytes(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }))
    }

    #[inline(always)]
    fn store_state<const N: usize>(self, states: &mut [[u8; N]], piece: usize) {
        let mut bytes = [0; 16];
        // SAFETY: the ground rule. The store does not require alignment.
        unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), swap_bytes(self.0)) };
        let rest = &mut states[0][16 * piece..];
        let length = rest.len().min(16);
        rest[..length].copy_from_slice(&bytes[..length]);
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm_xor_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn shuffle<const ORDER: i32>(self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm_shuffle_epi32::<ORDER>(self.0) })
    }

    #[inline(always)]
    fn shift_in<const COUNT: i32>(self, next: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe {
            match COUNT {
                1 => _mm_alignr_epi8::<4>(next.0, self.0),
                2 => _mm_alignr_epi8::<8>(next.0, self.0),
                _ => _mm_alignr_epi8::<12>(next.0, self.0),
            }
        })
    }

    #[inline(always)]
    fn sha256_two_rounds(self, other: Self, sums: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm_sha256rnds2_epu32(self.0, other.0, sums.0) })
    }

    #[inline(always)]
    fn sha256_message_1(self, next: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm_sha256msg1_epu32(self.0, next.0) })
    }

    #[inline(always)]
    fn sha256_message_2(self, last: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm_sha256msg2_epu32(self.0, last.0) })
    }

    #[inline(always)]
    fn sha1_four_rounds<const F: i32>(self, sums: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe {
            match F {
                0 => _mm_sha1rnds4_epu32::<0>(self.0, sums.0),
                1 => _mm_sha1rnds4_epu32::<1>(self.0, sums.0),
                2 => _mm_sha1rnds4_epu32::<2>(self.0, sums.0),
                _ => _mm_sha1rnds4_epu32::<3>(self.0, sums.0),
            }
        })
    }

    #[inline(always)]
    fn sha1_add_e(self, words: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm_sha1nexte_epu32(self.0, words.0) })
    }

    #[inline(always)]
    fn sha1_message_1(self, next: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm_sha1msg1_epu32(self.0, next.0) })
    }

    #[inline(always)]
    fn sha1_message_2(self, last: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm_sha1msg2_epu32(self.0, last.0) })
    }

    #[inline(always)]
    fn call<R>(function: impl FnOnce() -> R) -> R {
        #[target_feature(enable = "sha,ssse3,sse4.1")]
        fn call<R>(function: impl FnOnce() -> R) -> R {
            function()
        }
        // SAFETY: the ground rule.
        unsafe { call(function) }
    }
}

/// Implements [`ShaWord`] for two words, whose chains of instructions do not wait for each other.
macro_rules! pairwise {
    ($($of_words:ident($($word:ident),*))*) => {
        impl<A: ShaWord, B: ShaWord> ShaWord for Pair<A, B> {
            const STREAMS: usize = A::STREAMS + B::STREAMS;

            #[inline(always)]
            fn splat(words: [u32; 4]) -> Self {
                Self(A::splat(words), B::splat(words))
            }

            #[inline(always)]
            fn load(row: BlockRow<'_>, first: usize, quarter: usize) -> Self {
                Self(A::load(row, first, quarter), B::load(row, first + A::STREAMS, quarter))
            }

            #[inline(always)]
            fn load_state<const N: usize>(states: &[[u8; N]], piece: usize) -> Self {
                Self(A::load_state(states, piece), B::load_state(&states[A::STREAMS..], piece))
            }

            #[inline(always)]
            fn store_state<const N: usize>(self, states: &mut [[u8; N]], piece: usize) {
                self.0.store_state(states, piece);
                self.1.store_state(&mut states[A::STREAMS..], piece);
            }

            #[inline(always)]
            fn shuffle<const ORDER: i32>(self) -> Self {
                Self(self.0.shuffle::<ORDER>(), self.1.shuffle::<ORDER>())
            }

            #[inline(always)]
            fn shift_in<const COUNT: i32>(self, next: Self) -> Self {
                Self(self.0.shift_in::<COUNT>(next.0), self.1.shift_in::<COUNT>(next.1))
            }

            #[inline(always)]
            fn sha1_four_rounds<const F: i32>(self, sums: Self) -> Self {
                Self(self.0.sha1_four_rounds::<F>(sums.0), self.1.sha1_four_rounds::<F>(sums.1))
            }

            $(#[inline(always)]
            fn $of_words(self, $($word: Self),*) -> Self {
                Self(self.0.$of_words($($word.0),*), self.1.$of_words($($word.1),*))
            })*

            #[inline(always)]
            fn call<R>(function: impl FnOnce() -> R) -> R {
                A::call(function)
            }
        }
    };
}
pairwise! {
    add(other) xor(other) sha256_two_rounds(other, sums) sha256_message_1(next)
    sha256_message_2(last) sha1_add_e(words) sha1_message_1(next) sha1_message_2(last)
}
