//! Hashers of inputs in pieces, and the traits of `core::hash`.

use core::fmt;
use core::hash::{BuildHasher, Hasher};

use lanesum_lanes::{WORD_LEN, rest_of};

use crate::SipHash;
use crate::one::join;
use crate::round::State;

/// The state that both hash widths share: the words so far, and the bytes that do not fill a word.
#[derive(Clone)]
struct Stream<const C: usize> {
    state: State<u64>,
    /// The bytes of an incomplete word, the first one lowest, with zeros above.
    edge: u64,
    /// The number of bytes so far. SipHash uses it modulo 256.
    length: usize,
}

impl<const C: usize> Stream<C> {
    const fn new(state: State<u64>) -> Self {
        Self { state, edge: 0, length: 0 }
    }

    /// Returns the number of bytes in the incomplete word, 0 to 7.
    #[inline(always)]
    fn filled(&self) -> usize {
        self.length % WORD_LEN
    }

    /// Adds the next bytes of the input.
    #[inline]
    fn write(&mut self, mut bytes: &[u8]) {
        let filled = self.filled();
        if filled > 0 {
            let room = WORD_LEN - filled;
            if bytes.len() < room {
                return self.write_few(rest_of(bytes), bytes.len());
            }
            let (start, rest) = bytes.split_at(room);
            self.write_few(rest_of(start), room);
            bytes = rest;
        }
        self.state = self.state.absorb_words(C, bytes.as_chunks().0);
        self.edge = rest_of(bytes);
        self.length = self.length.wrapping_add(bytes.len());
    }

    /// Adds the next `count` bytes, 0 to 8, given as a number with zeros above them.
    #[inline(always)]
    fn write_few(&mut self, bytes: u64, count: usize) {
        let filled = self.filled();
        self.edge |= bytes << (8 * filled);
        self.length = self.length.wrapping_add(count);
        if filled + count >= WORD_LEN {
            self.state = self.state.absorb(C, self.edge);
            // The bytes that did not fit. In two shifts, because a shift by 64 would have no
            // effect.
            self.edge = bytes >> 8 >> (56 - 8 * filled);
        }
    }

    /// Returns the state after the last word.
    #[inline(always)]
    fn end(&self) -> State<u64> {
        self.state.absorb(C, self.edge | (self.length as u64) << 56)
    }
}

/// Hashes an input that arrives in pieces to 64 bits.
///
/// The hash is that of the joined pieces, wherever they are cut:
///
/// ```
/// use lanesum_siphash::SipHash24;
///
/// let sip = SipHash24::new(b"sixteen bytes...");
/// let mut hasher = sip.hasher();
/// hasher.update(b"lane");
/// hasher.update(b"sum");
/// assert_eq!(hasher.finalize(), sip.hash(b"lanesum"));
/// ```
///
/// **As a [`Hasher`]** it gets its bytes from [`Hash`](core::hash::Hash) implementations. These
/// decide which bytes a value has, and the standard library may change them:
///
/// - Numbers are their little-endian bytes on every machine, but `usize` has four or eight of them.
/// - Strings are followed by a byte 0xff.
/// - Slices are preceded by their length.
///
/// So use hashes from `Hash` only in tables of the same program. To store hashes, or to compare
/// them with those of another machine, hash bytes.
#[derive(Clone)]
pub struct SipHasher<const C: usize, const D: usize>(Stream<C>);

/// Hashes an input that arrives in pieces to 128 bits.
#[derive(Clone)]
pub struct SipHasher128<const C: usize, const D: usize>(Stream<C>);

/// The methods of the hashers of both widths.
macro_rules! hasher {
    ($name:ident -> $hash:ty: |$end:ident| $finish:expr) => {
        impl<const C: usize, const D: usize> $name<C, D> {
            pub(crate) const fn of(state: State<u64>) -> Self {
                Self(Stream::new(state))
            }

            /// Adds the next bytes of the input.
            #[inline]
            pub fn update(&mut self, bytes: &[u8]) {
                self.0.write(bytes);
            }

            /// Returns the hash of all bytes added. Clone the hasher before to add further bytes.
            ///
            /// It takes `self` by value like `Mac::finalize` of the RustCrypto traits. So it has
            /// precedence if that trait is in scope.
            #[inline]
            #[must_use]
            pub fn finalize(self) -> $hash {
                let $end = self.0.end();
                $finish
            }
        }

        /// Shows only the length, because the state would reveal the key and the input.
        impl<const C: usize, const D: usize> fmt::Debug for $name<C, D> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("length", &self.0.length)
                    .finish_non_exhaustive()
            }
        }
    };
}
hasher!(SipHasher -> u64: |end| end.finish(D));
hasher!(SipHasher128 -> u128: |end| join(end.finish_wide(D)));

/// Hashes numbers as their little-endian bytes on every machine, without a detour through memory.
macro_rules! write_numbers {
    ($($name:ident: $number:ty as $unsigned:ty;)*) => {
        $(#[inline]
        fn $name(&mut self, number: $number) {
            self.0.write_few((number as $unsigned).into(), size_of::<$number>());
        })*
    };
}

impl<const C: usize, const D: usize> Hasher for SipHasher<C, D> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0.end().finish(D)
    }

    write_numbers! {
        write_u8: u8 as u8;
        write_u16: u16 as u16;
        write_u32: u32 as u32;
        write_u64: u64 as u64;
        write_i8: i8 as u8;
        write_i16: i16 as u16;
        write_i32: i32 as u32;
        write_i64: i64 as u64;
    }

    #[inline]
    fn write_u128(&mut self, number: u128) {
        self.0.write(&number.to_le_bytes());
    }

    #[inline]
    fn write_i128(&mut self, number: i128) {
        self.0.write(&number.to_le_bytes());
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.0.write_few(number as u64, size_of::<usize>());
    }

    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.write_usize(number.cast_unsigned());
    }
}

/// Hashes the keys of a table under this key.
impl<const C: usize, const D: usize> BuildHasher for SipHash<C, D> {
    type Hasher = SipHasher<C, D>;

    #[inline]
    fn build_hasher(&self) -> SipHasher<C, D> {
        self.hasher()
    }
}
