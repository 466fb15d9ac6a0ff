//! The code that the 64-bit words of all three instruction sets share.

use core::arch::x86_64::*;

use crate::WORD_LEN;

/// Implements [`Word64`](crate::Word64) for a type around one register. The ground rule of
/// `x86_64/mod.rs` holds here as well.
///
/// Two adjacent words of each lane are loaded into two rows: lanes with even numbers into one, and
/// lanes with odd numbers into the other. Unpacking the low and high halves then gives one word of
/// all lanes each.
macro_rules! word64 {
    (
        $name:ident, $register:ident, $lanes:literal,
        set: $set:ty,
        load: $load:ident, store: $store:ident, splat: $splat:ident, add: $add:ident, xor: $xor:ident,
        shift: [$left:ident, $right:ident],
        unpack: [$low:ident, $high:ident], row: $row:ident,
        $($rest:tt)*
    ) => {
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name($register);

        impl $crate::word::sealed::Sealed for $name {}

        impl $crate::Word64 for $name {
            const LANES: usize = $lanes;

            #[inline(always)]
            fn call<T>(function: impl FnOnce() -> T) -> T {
                <$set as super::vector::Set<$register>>::call(function)
            }

            #[inline(always)]
            fn splat(value: u64) -> Self {
                // SAFETY: the ground rule.
                Self(unsafe { $splat(value.cast_signed()) })
            }

            #[inline(always)]
            fn load(values: &[u64]) -> Self {
                let values: &[u64; $lanes] = values[..$lanes].try_into().expect("as many");
                // SAFETY: the ground rule. The array is as long as the register, and the load does
                // not require alignment.
                Self(unsafe { $load(values.as_ptr().cast()) })
            }

            #[inline(always)]
            fn store(self, values: &mut [u64]) {
                let values: &mut [u64; $lanes] = (&mut values[..$lanes]).try_into().expect("as many");
                // SAFETY: the ground rule. The array is as long as the register, and the store does
                // not require alignment.
                unsafe { $store(values.as_mut_ptr().cast(), self.0) }
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: the ground rule.
                Self(unsafe { $add(self.0, other.0) })
            }

            #[inline(always)]
            fn xor(self, b: Self) -> Self {
                // SAFETY: the ground rule.
                Self(unsafe { $xor(self.0, b.0) })
            }

            #[inline(always)]
            fn shift_left(self, count: u32) -> Self {
                // SAFETY: the ground rule.
                Self(unsafe { $left(self.0, _mm_cvtsi32_si128(count.cast_signed())) })
            }

            #[inline(always)]
            fn shift_right(self, count: u32) -> Self {
                // SAFETY: the ground rule.
                Self(unsafe { $right(self.0, _mm_cvtsi32_si128(count.cast_signed())) })
            }

            #[inline(always)]
            fn load_pair<S: $crate::Source>(source: &S, first: usize, index: usize) -> [Self; 2] {
                Self::halves(|lane| pair(source.at(first + lane, index)))
            }

            #[inline(always)]
            fn load_word<S: $crate::Source>(source: &S, first: usize, index: usize) -> Self {
                let [words, _] = Self::halves(|lane| number(source.at(first + lane, index)));
                words
            }

            $($rest)*
        }

        impl $name {
            /// Returns the low and the high halves of one 128-bit register per lane.
            #[inline(always)]
            fn halves(lane: impl Fn(usize) -> __m128i) -> [Self; 2] {
                let even = $row(|piece| lane(2 * piece));
                let odd = $row(|piece| lane(2 * piece + 1));
                // SAFETY: the ground rule.
                unsafe { [Self($low(even, odd)), Self($high(even, odd))] }
            }
        }
    };
}
pub(super) use word64;

/// Returns the places of the bytes of two numbers whose bytes are reversed.
#[inline(always)]
pub(super) fn swapped() -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8) }
}

/// Loads sixteen bytes.
#[inline(always)]
pub(super) fn pair(bytes: &[u8; 2 * WORD_LEN]) -> __m128i {
    // SAFETY: SSE2 is part of x86-64. The array has 16 bytes, and the load does not require
    // alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Loads a word into the low half.
#[inline(always)]
pub(super) fn number(bytes: &[u8; WORD_LEN]) -> __m128i {
    // SAFETY: SSE2 is part of x86-64. The array has eight bytes, and the load does not require
    // alignment.
    unsafe { _mm_loadl_epi64(bytes.as_ptr().cast()) }
}

/// [`Word64::load_rest`](crate::Word64::load_rest) by a shift of the last eight bytes, for inputs
/// with at least eight bytes.
macro_rules! rest_by_shift {
    ($shift:ident, $and:ident, $sub:ident, $splat:ident, $short:path) => {
        #[inline(always)]
        fn load_rest<S: $crate::Source>(source: &S, first: usize) -> Self {
            if source.least() == 0 {
                return $short(source, first);
            }
            let [ends, _] = Self::halves(|lane| number(source.last(first + lane)));
            let bits = source.lengths::<Self>(first).shift_left(3);
            // SAFETY: the ground rule. A shift by 64 leaves nothing here.
            Self(unsafe { $shift(ends.0, $sub($splat(64), $and(bits.0, $splat(56)))) })
        }
    };
}
pub(super) use rest_by_shift;

/// Loads the lanes one by one, for instruction sets without a faster way.
macro_rules! one_by_one {
    ($lanes:literal) => {
        #[inline(always)]
        fn load_pair_or_zeros<S: $crate::Source>(
            source: &S,
            first: usize,
            index: usize,
        ) -> [Self; 2] {
            let [a, b] = <[u64; $lanes]>::load_pair_or_zeros(source, first, index);
            [Self::load(&a), Self::load(&b)]
        }
    };
}
pub(super) use one_by_one;

/// Rotations and logic of three operands made of shifts, shuffles and logic of two, for CPUs
/// without AVX-512.
macro_rules! shifts_and_logic_64 {
    ($left:ident, $right:ident, $or:ident, $xor:ident, $and:ident, $shuffle32:ident) => {
        #[inline(always)]
        fn rotate_left(self, count: u32) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe {
                if count == 32 {
                    $shuffle32::<0b10_11_00_01>(self.0)
                } else {
                    let left = $left(self.0, _mm_cvtsi32_si128(count.cast_signed()));
                    let right = $right(self.0, _mm_cvtsi32_si128(64 - count.cast_signed()));
                    $or(left, right)
                }
            })
        }

        #[inline(always)]
        fn xor3(self, b: Self, c: Self) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe { $xor(self.0, $xor(b.0, c.0)) })
        }

        #[inline(always)]
        fn choose(self, yes: Self, no: Self) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe { $xor(no.0, $and(self.0, $xor(yes.0, no.0))) })
        }

        /// Where `self` and `b` differ, `c` decides. The kernel of SHA-512 has computed the
        /// difference for the round before.
        #[inline(always)]
        fn majority(self, b: Self, c: Self) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe { $xor(b.0, $and($xor(self.0, b.0), $xor(b.0, c.0))) })
        }
    };
}
pub(super) use shifts_and_logic_64;
