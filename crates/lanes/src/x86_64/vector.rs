//! Words in SIMD registers: how they are loaded, transposed and stored.

use core::arch::x86_64::*;
use core::marker::PhantomData;

use crate::blocks::BlockRow;
use crate::feed::Transposed;
use crate::word::{Numbers, sealed::Sealed};
use crate::{Word, portable};

/// A register of 128, 256 or 512 bits. The ground rule of [`x86_64`](super) holds for all methods.
pub(crate) trait Register: Numbers {
    /// Interleaves the numbers of the low halves of two registers, and those of the high halves,
    /// within each piece of 128 bits.
    fn interleave(self, other: Self) -> [Self; 2];

    /// Returns `self ^ other`.
    fn xor(self, other: Self) -> Self;

    /// Shifts each number to the right by `COUNT` bits.
    fn shift_right<const COUNT: u32>(self) -> Self;

    /// Transposes four rows to four columns, within each piece of 128 bits.
    #[inline(always)]
    fn columns([r0, r1, r2, r3]: [Self; 4]) -> [Self; 4] {
        let ([a, c], [b, d]) = (r0.interleave(r2), r1.interleave(r3));
        let ([c0, c1], [c2, c3]) = (a.interleave(b), c.interleave(d));
        [c0, c1, c2, c3]
    }
}

/// The operations of an instruction set that words of a register use.
pub(crate) trait Set<R>: Copy {
    /// Whether a word does not share the execution units, so its steps wait only for each other.
    /// Other words share them with a second word.
    const ALONE: bool;

    /// [`Word::logic`].
    fn logic<const F: i32>(b: R, c: R, d: R) -> R;

    /// [`Word::rotate_right`].
    fn rotate_right<const COUNT: u32>(value: R) -> R;

    /// [`Word::swap_bytes`].
    fn swap_bytes(value: R) -> R;

    /// [`Word::end_step`].
    fn end_step<const F: i32, const COUNT: u32>(sum: R, b: R, c: R, d: R) -> R;

    /// [`Word::call`].
    fn call<T>(function: impl FnOnce() -> T) -> T;
}

/// A word in a register, which may have room for more lanes. In a word of one lane all places hold
/// the same number, because that takes no additional instruction.
#[derive(Clone, Copy)]
pub(crate) struct Vector<R, S, const LANES: usize>(R, PhantomData<S>);

impl<R: Register, S, const LANES: usize> Vector<R, S, LANES> {
    /// The number of 16-byte pieces in a register.
    const PIECES: usize = size_of::<R>() / 16;

    /// The number of quarters of a block that four registers hold.
    const QUARTERS: usize = if Self::PIECES == 1 { 1 } else { 2 };
    /// The number of lanes whose quarters they hold.
    const SHUFFLED_LANES: usize = 4 * Self::PIECES / Self::QUARTERS;
    /// The number of times that they are filled for a block.
    const SHUFFLED_PARTS: usize = LANES / Self::SHUFFLED_LANES * 4 / Self::QUARTERS;

    /// Transposes one of these parts by shuffles. Both halves of a lane follow each other, so that
    /// its cache line is read while it is in the cache.
    #[inline(always)]
    fn shuffle(row: BlockRow<'_>, ready: &mut Transposed, first: usize, part: usize) {
        let first = first + part * Self::QUARTERS / 4 * Self::SHUFFLED_LANES;
        let quarter = part * Self::QUARTERS % 4;
        let place = |piece: usize| (4 * (piece / Self::QUARTERS), quarter + piece % Self::QUARTERS);
        let columns = columns_of::<R>(
            #[inline(always)]
            |lane, piece| {
                let (lanes, quarter) = place(piece);
                row.bytes(first + lane + lanes, 16 * quarter)
            },
        );
        // By value, because the compiler would keep the columns in memory behind references.
        for (column, register) in columns.into_iter().enumerate() {
            for piece in 0..Self::PIECES {
                let (lanes, quarter) = place(piece);
                let words = &mut ready.0[4 * quarter + column][first + lanes..][..4];
                // SAFETY: a piece has four words, and the store does not require alignment.
                unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), piece_of(&register, piece)) };
            }
        }
    }
}

impl<R, S, const LANES: usize> Sealed for Vector<R, S, LANES> {}

impl<R: Register, S: Copy, const LANES: usize> Numbers for Vector<R, S, LANES> {
    #[inline(always)]
    fn splat(value: u32) -> Self {
        Self(R::splat(value), PhantomData)
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0), PhantomData)
    }

    #[inline(always)]
    fn opaque(self) -> Self {
        Self(self.0.opaque(), PhantomData)
    }
}

impl<R: Register, S: Set<R>, const LANES: usize> Word for Vector<R, S, LANES> {
    const LANES: usize = LANES;
    const PARTS: usize = match (LANES, S::ALONE) {
        (1, _) => 0,
        (_, true) => 8,
        (_, false) => Self::SHUFFLED_PARTS,
    };

    #[inline(always)]
    fn logic<const F: i32>(self, c: Self, d: Self) -> Self {
        Self(S::logic::<F>(self.0, c.0, d.0), PhantomData)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0.xor(other.0), PhantomData)
    }

    #[inline(always)]
    fn rotate_right<const COUNT: u32>(self) -> Self {
        Self(S::rotate_right::<COUNT>(self.0), PhantomData)
    }

    #[inline(always)]
    fn shift_right<const COUNT: u32>(self) -> Self {
        Self(self.0.shift_right::<COUNT>(), PhantomData)
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        Self(S::swap_bytes(self.0), PhantomData)
    }

    #[inline(always)]
    fn load(numbers: &[u32]) -> Self {
        let numbers = &numbers[..LANES];
        if LANES == 1 {
            return Self::splat(numbers[0]);
        }
        let mut register = R::splat(0);
        // SAFETY: the register has room for at least that many lanes.
        unsafe {
            let place = (&raw mut register).cast();
            core::ptr::copy_nonoverlapping(numbers.as_ptr(), place, LANES);
        }
        Self(register, PhantomData)
    }

    #[inline(always)]
    fn store(self, numbers: &mut [u32]) {
        let numbers = &mut numbers[..LANES];
        // SAFETY: the register has at least that many lanes.
        unsafe {
            let place = (&raw const self.0).cast();
            core::ptr::copy_nonoverlapping(place, numbers.as_mut_ptr(), LANES);
        }
    }

    #[inline(always)]
    fn end_step<const F: i32, const COUNT: u32>(self, b: Self, c: Self, d: Self) -> Self {
        Self(S::end_step::<F, COUNT>(self.0, b.0, c.0, d.0), PhantomData)
    }

    #[inline(always)]
    fn load_rows<const N: usize>(rows: &[[u8; N]], piece: usize) -> [Self; 4] {
        let rows = &rows[..LANES];
        let [a, b, c, d] = columns_of::<R>(
            #[inline(always)]
            |lane, place| portable::piece_of(&rows[(lane + 4 * place) % LANES], piece),
        );
        [Self(a, PhantomData), Self(b, PhantomData), Self(c, PhantomData), Self(d, PhantomData)]
    }

    #[inline(always)]
    fn store_rows<const N: usize>([a, b, c, d]: [Self; 4], rows: &mut [[u8; N]], piece: usize) {
        let columns = R::columns([a.0, b.0, c.0, d.0]);
        for (lane, row) in rows[..LANES].iter_mut().enumerate() {
            let (row, bytes) =
                (&mut row[16 * piece..][..16], piece_of(&columns[lane % 4], lane / 4));
            // SAFETY: a piece has 16 bytes, and the store does not require alignment.
            unsafe { _mm_storeu_si128(row.as_mut_ptr().cast(), bytes) };
        }
    }

    #[inline(always)]
    fn word(row: BlockRow<'_>, ready: &Transposed, first: usize, number: usize) -> Self {
        if LANES == 1 {
            return Self::splat(row.word(first, number));
        }
        let words = ready.0[number][first..][..4 * Self::PIECES].as_ptr();
        // SAFETY: the slice has as many words, and the feed guarantees that they are written.
        Self(unsafe { words.cast::<R>().read_unaligned() }, PhantomData)
    }

    /// A word that does not share the units transposes without vector operations: two words of each
    /// lane in each of eight parts. A shuffle could take one of the two units that the shifts of
    /// the chain need next. Instead eight bytes are loaded and stored as two times four. When a
    /// vector of them is loaded hundreds of cycles later, they are in the cache.
    #[inline(always)]
    fn transpose(row: BlockRow<'_>, ready: &mut Transposed, first: usize, part: usize) {
        if !S::ALONE {
            return Self::shuffle(row, ready, first, part);
        }
        for lane in first..first + LANES {
            let pair = u64::from_le_bytes(*row.bytes(lane, 8 * part));
            for (word, number) in [pair as u32, (pair >> 32) as u32].into_iter().enumerate() {
                let place = ready.0[2 * part + word][lane].as_mut_ptr();
                // Volatile, because the compiler would otherwise merge the stores into a vector
                // store with more shuffles. SAFETY: the place is borrowed mutably.
                unsafe { place.write_volatile(number) };
            }
        }
    }

    /// By shuffles, because bytes stored in pieces are not in the cache yet when they are loaded at
    /// once.
    #[inline(always)]
    fn transpose_all(row: BlockRow<'_>, ready: &mut Transposed, first: usize) {
        for part in 0..Self::SHUFFLED_PARTS {
            Self::shuffle(row, ready, first, part);
        }
    }

    #[inline(always)]
    fn call<T>(function: impl FnOnce() -> T) -> T {
        S::call(function)
    }
}

/// Returns four columns of four rows. A register holds the pieces of a row: `piece(row, place)` at
/// each place.
#[inline(always)]
fn columns_of<'a, R: Register>(piece: impl Fn(usize, usize) -> &'a [u8; 16]) -> [R; 4] {
    let mut rows = [R::splat(0); 4];
    for (number, row) in rows.iter_mut().enumerate() {
        for place in 0..size_of::<R>() / 16 {
            // SAFETY: SSE2 is part of x86-64. The load does not require alignment, and the register
            // has that many pieces.
            unsafe {
                let loaded = _mm_loadu_si128(piece(number, place).as_ptr().cast());
                (&raw mut *row).cast::<__m128i>().add(place).write(loaded);
            }
        }
    }
    R::columns(rows)
}

/// Returns a piece of a register.
#[inline(always)]
fn piece_of<R: Register>(register: &R, piece: usize) -> __m128i {
    assert!(piece < size_of::<R>() / 16);
    // SAFETY: the register has that many pieces.
    unsafe { (&raw const *register).cast::<__m128i>().add(piece).read() }
}

/// Returns the places of the bytes of four numbers whose bytes are reversed.
#[inline(always)]
pub(super) fn swapped() -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12) }
}
