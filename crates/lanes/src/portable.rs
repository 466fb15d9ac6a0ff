//! Words that need no instruction set: one number, and two words as one.

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
use core::arch::asm;

use core::ops::{BitAnd as _, BitOr as _, BitXor as _};

use crate::Word;
use crate::blocks::BlockRow;
use crate::feed::Transposed;
use crate::word::{Numbers, function, logic, sealed::Sealed};

/// One number. Its sums are computed in the order that the kernel gives. For four numbers at once
/// the order of the compiler is better, because not all values fit into registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar<const IN_ORDER: bool = true>(pub(crate) u32);

impl<const IN_ORDER: bool> Sealed for Scalar<IN_ORDER> {}

impl<const IN_ORDER: bool> Numbers for Scalar<IN_ORDER> {
    #[inline(always)]
    fn splat(value: u32) -> Self {
        Self(value)
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// Empty inline assembly that may have changed the value, on architectures with inline
    /// assembly.
    #[inline(always)]
    #[allow(asm_sub_register, unused_mut, reason = "the register's name does not matter")]
    fn opaque(mut self) -> Self {
        #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
        if IN_ORDER {
            // SAFETY: no instruction, so nothing that could be violated.
            unsafe {
                asm!("/* {0} */", inout(reg) self.0, options(pure, nomem, nostack, preserves_flags));
            }
        }
        self
    }
}

impl<const IN_ORDER: bool> Word for Scalar<IN_ORDER> {
    const LANES: usize = 1;
    const PARTS: usize = 0;

    #[inline(always)]
    fn logic<const F: i32>(self, c: Self, d: Self) -> Self {
        let (b, c, d) = (self.0, c.0, d.0);
        Self(logic!(F, b, c, d, u32::bitand, u32::bitor, u32::bitxor, u32::MAX))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    #[inline(always)]
    fn rotate_right<const COUNT: u32>(self) -> Self {
        Self(self.0.rotate_right(COUNT))
    }

    #[inline(always)]
    fn shift_right<const COUNT: u32>(self) -> Self {
        Self(self.0 >> COUNT)
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        Self(self.0.swap_bytes())
    }

    #[inline(always)]
    fn load(numbers: &[u32]) -> Self {
        Self(numbers[0])
    }

    #[inline(always)]
    fn store(self, numbers: &mut [u32]) {
        numbers[0] = self.0;
    }

    #[inline(always)]
    fn end_step<const F: i32, const COUNT: u32>(self, b: Self, c: Self, d: Self) -> Self {
        let (b, c, d) = (b.0, c.0, d.0);
        let (sum, late) = match F {
            function::F => (self, d ^ b & (c ^ d)),
            function::G => (self.add(Self(c & !d)), b & d),
            function::H => (self, b ^ (c ^ d)),
            function::I => (self, c ^ (b | !d)),
            _ => unreachable!("no function of MD5"),
        };
        Self(sum.add(Self(late)).0.rotate_left(COUNT).wrapping_add(b))
    }

    #[inline(always)]
    fn load_rows<const N: usize>(rows: &[[u8; N]], piece: usize) -> [Self; 4] {
        let row = u128::from_le_bytes(*piece_of(&rows[0], piece));
        [
            Self(row as u32),
            Self((row >> 32) as u32),
            Self((row >> 64) as u32),
            Self((row >> 96) as u32),
        ]
    }

    #[inline(always)]
    fn store_rows<const N: usize>(words: [Self; 4], rows: &mut [[u8; N]], piece: usize) {
        // As one number: the CPU stalls when bytes written in pieces are read as a whole.
        let [Self(a), Self(b), Self(c), Self(d)] = words;
        let (a, b, c, d): (u128, u128, u128, u128) = (a.into(), b.into(), c.into(), d.into());
        let row = (a | b << 32 | c << 64 | d << 96).to_le_bytes();
        *piece_of_mut(&mut rows[0], piece) = row;
    }

    #[inline(always)]
    fn word(row: BlockRow<'_>, _: &Transposed, first: usize, number: usize) -> Self {
        Self(row.word(first, number))
    }

    #[inline(always)]
    fn call<R>(function: impl FnOnce() -> R) -> R {
        function()
    }
}

/// Two words as one. Their two independent chains of instructions use the execution units that one
/// chain leaves idle.
#[derive(Clone, Copy, Debug)]
pub struct Pair<A, B>(pub(crate) A, pub(crate) B);

impl<A: Sealed, B: Sealed> Sealed for Pair<A, B> {}

impl<A: Numbers, B: Numbers> Numbers for Pair<A, B> {
    #[inline(always)]
    fn splat(value: u32) -> Self {
        Self(A::splat(value), B::splat(value))
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0), self.1.add(other.1))
    }

    #[inline(always)]
    fn opaque(self) -> Self {
        Self(self.0.opaque(), self.1.opaque())
    }
}

impl<A: Word, B: Word> Word for Pair<A, B> {
    const LANES: usize = A::LANES + B::LANES;
    const PARTS: usize = A::PARTS + B::PARTS;

    #[inline(always)]
    fn end_step<const F: i32, const COUNT: u32>(self, b: Self, c: Self, d: Self) -> Self {
        Self(self.0.end_step::<F, COUNT>(b.0, c.0, d.0), self.1.end_step::<F, COUNT>(b.1, c.1, d.1))
    }

    #[inline(always)]
    fn logic<const F: i32>(self, c: Self, d: Self) -> Self {
        Self(self.0.logic::<F>(c.0, d.0), self.1.logic::<F>(c.1, d.1))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0.xor(other.0), self.1.xor(other.1))
    }

    #[inline(always)]
    fn rotate_right<const COUNT: u32>(self) -> Self {
        Self(self.0.rotate_right::<COUNT>(), self.1.rotate_right::<COUNT>())
    }

    #[inline(always)]
    fn shift_right<const COUNT: u32>(self) -> Self {
        Self(self.0.shift_right::<COUNT>(), self.1.shift_right::<COUNT>())
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        Self(self.0.swap_bytes(), self.1.swap_bytes())
    }

    #[inline(always)]
    fn load(numbers: &[u32]) -> Self {
        Self(A::load(numbers), B::load(&numbers[A::LANES..]))
    }

    #[inline(always)]
    fn store(self, numbers: &mut [u32]) {
        self.0.store(numbers);
        self.1.store(&mut numbers[A::LANES..]);
    }

    #[inline(always)]
    fn load_rows<const N: usize>(rows: &[[u8; N]], piece: usize) -> [Self; 4] {
        let [a0, a1, a2, a3] = A::load_rows(rows, piece);
        let [b0, b1, b2, b3] = B::load_rows(&rows[A::LANES..], piece);
        [Self(a0, b0), Self(a1, b1), Self(a2, b2), Self(a3, b3)]
    }

    #[inline(always)]
    fn store_rows<const N: usize>(words: [Self; 4], rows: &mut [[u8; N]], piece: usize) {
        // Not by `map`, which stays a call where a crate is compiled in parts.
        let [a, b, c, d] = words;
        A::store_rows([a.0, b.0, c.0, d.0], rows, piece);
        B::store_rows([a.1, b.1, c.1, d.1], &mut rows[A::LANES..], piece);
    }

    #[inline(always)]
    fn word(row: BlockRow<'_>, ready: &Transposed, first: usize, number: usize) -> Self {
        let a = A::word(row, ready, first, number);
        Self(a, B::word(row, ready, first + A::LANES, number))
    }

    #[inline(always)]
    fn transpose(row: BlockRow<'_>, ready: &mut Transposed, first: usize, part: usize) {
        if part < A::PARTS {
            A::transpose(row, ready, first, part);
        } else {
            B::transpose(row, ready, first + A::LANES, part - A::PARTS);
        }
    }

    #[inline(always)]
    fn call<R>(function: impl FnOnce() -> R) -> R {
        A::call(function)
    }
}

/// Returns piece `piece` of 16 bytes.
#[inline(always)]
pub(crate) fn piece_of<const N: usize>(bytes: &[u8; N], piece: usize) -> &[u8; 16] {
    bytes[16 * piece..][..16].try_into().expect("16 bytes")
}

/// Returns piece `piece` of 16 bytes.
#[inline(always)]
fn piece_of_mut<const N: usize>(bytes: &mut [u8; N], piece: usize) -> &mut [u8; 16] {
    (&mut bytes[16 * piece..][..16]).try_into().expect("16 bytes")
}
