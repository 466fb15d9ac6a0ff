//! What the words of 64 bits of all three instruction sets share.

use core::arch::x86_64::*;

use crate::WORD_LEN;

/// Implements [`Word64`](crate::Word64) for a type around one register. The ground rule of
/// `x86_64/mod.rs` holds here as well.
///
/// Two words of each lane, which lie side by side in memory, are put into two rows, the lanes with
/// even numbers into one and those with odd numbers into the other, so that unpacking low and high
/// halves makes a word of all lanes each.
macro_rules! word64 {
    (
        $name:ident, $register:ident, $lanes:literal,
        load: $load:ident, store: $store:ident, splat: $splat:ident, add: $add:ident, xor: $xor:ident,
        shift_left: $left:ident,
        unpack: [$low:ident, $high:ident], row: $row:ident,
        $($rest:tt)*
    ) => {
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name($register);

        impl $crate::Word64 for $name {
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(value: u64) -> Self {
                // SAFETY: the ground rule.
                Self(unsafe { $splat(value.cast_signed()) })
            }

            #[inline(always)]
            fn load(values: &[u64]) -> Self {
                let values: &[u64; $lanes] = values[..$lanes].try_into().expect("as many");
                // SAFETY: the ground rule; the array is as long as the register, and the load
                // asks for no alignment.
                Self(unsafe { $load(values.as_ptr().cast()) })
            }

            #[inline(always)]
            fn store(self, values: &mut [u64]) {
                let values: &mut [u64; $lanes] = (&mut values[..$lanes]).try_into().expect("as many");
                // SAFETY: the ground rule; the array is as long as the register, and the store
                // asks for no alignment.
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
            fn load_pair(words: &$crate::Words<'_>, first: usize, index: usize) -> [Self; 2] {
                let even = $row(|piece| pair(words.at(first + 2 * piece, index)));
                let odd = $row(|piece| pair(words.at(first + 2 * piece + 1, index)));
                // SAFETY: the ground rule.
                unsafe { [Self($low(even, odd)), Self($high(even, odd))] }
            }

            #[inline(always)]
            fn load_word(words: &$crate::Words<'_>, first: usize, index: usize) -> Self {
                Self::side_by_side(|lane| number(words.at(first + lane, index)))
            }

            #[inline(always)]
            fn load_lengths(words: &$crate::Words<'_>, first: usize) -> Self {
                Self::load(words.lengths::<$lanes>(first))
            }

            $($rest)*
        }

        impl $name {
            /// The low halves of a register of 128 bits for each lane.
            #[inline(always)]
            fn side_by_side(low_half: impl Fn(usize) -> __m128i) -> Self {
                let even = $row(|piece| low_half(2 * piece));
                let odd = $row(|piece| low_half(2 * piece + 1));
                // SAFETY: the ground rule.
                Self(unsafe { $low(even, odd) })
            }
        }
    };
}
pub(super) use word64;

/// Sixteen bytes.
#[inline(always)]
pub(super) fn pair(bytes: &[u8; 2 * WORD_LEN]) -> __m128i {
    // SAFETY: SSE2 is part of x86-64; the array has 16 bytes, and the load asks for no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// A word in the low half.
#[inline(always)]
pub(super) fn number(bytes: &[u8; WORD_LEN]) -> __m128i {
    // SAFETY: SSE2 is part of x86-64; the array has eight bytes, and the load asks for no alignment.
    unsafe { _mm_loadl_epi64(bytes.as_ptr().cast()) }
}

/// [`Word64::load_rest`](crate::Word64::load_rest) by a shift of the last eight bytes, where there
/// are so many.
macro_rules! rest_by_shift {
    ($lanes:literal, $shift:ident, $and:ident, $sub:ident, $times8:ident, $splat:ident, $short:path) => {
        #[inline(always)]
        fn load_rest(words: &$crate::Words<'_>, first: usize) -> Self {
            if words.count() == 0 {
                return $short(words, first);
            }
            let ends = Self::side_by_side(|lane| number(words.last(first + lane)));
            let lengths = Self::load_lengths(words, first);
            // SAFETY: the ground rule. A shift by 64 leaves nothing here.
            Self(unsafe {
                let bits = $times8::<3>($and(lengths.0, $splat(7)));
                $shift(ends.0, $sub($splat(64), bits))
            })
        }
    };
}
pub(super) use rest_by_shift;

/// The rotations and xors that AVX-512 has instructions for, made of shifts, shuffles and logic where it is missing.
macro_rules! shifts_and_logic_64 {
    ($left:ident, $right:ident, $or:ident, $xor:ident, $shuffle32:ident) => {
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
    };
}
pub(super) use shifts_and_logic_64;
