//! The public functions of a hash function, the same for each.

/// Makes the types and functions of a hash function in its crate. They are the same for each, so
/// that who knows one knows all. The crate needs the features `alloc` and `std`.
///
/// The arguments are the names of the crate and the hash function, the type that implements
/// [`BlockHash`](crate::BlockHash), the names of the types and functions to make, and the digest of
/// `abc`.
#[macro_export]
macro_rules! api {
    (
        crate: $crate_name:literal, name: $name:literal, hash: $hash:ty,
        types: $hasher:ident, $digest:ident, $midstate:ident;
        functions: $one:ident, $chunks:ident, $reader:ident, $many:ident, $many_with:ident,
        $many_into:ident, $many_into_with:ident;
        abc: $abc:literal
    ) => {
        #[doc = concat!("Computes the ", $name, " of a message that arrives in chunks.")]
        ///
        /// A clone continues independently, so messages with a common beginning can share the work
        /// for it:
        ///
        /// ```
        #[doc = concat!("use ", $crate_name, "::{", stringify!($hasher), ", ", stringify!($one), "};")]
        ///
        #[doc = concat!("let mut common = ", stringify!($hasher), "::new();")]
        /// common.update(b"GET /");
        /// let mut one = common.clone();
        /// one.update(b"a");
        /// common.update(b"b");
        #[doc = concat!("assert_eq!(one.finalize(), ", stringify!($one), "(b\"GET /a\"));")]
        #[doc = concat!("assert_eq!(common.finalize(), ", stringify!($one), "(b\"GET /b\"));")]
        /// ```
        pub type $hasher = $crate::Hasher<$hash>;

        #[doc = concat!("A digest of ", $name, ".")]
        ///
        /// ```
        #[doc = concat!("use ", $crate_name, "::{", stringify!($digest), ", ", stringify!($one), "};")]
        ///
        #[doc = concat!("let digest = ", stringify!($one), "(b\"abc\");")]
        #[doc = concat!("let hex = \"", $abc, "\";")]
        /// assert_eq!(digest.to_string(), hex);
        #[doc = concat!("assert_eq!(", stringify!($digest), "::from_hex(hex.to_uppercase()), Ok(digest));")]
        #[doc = concat!("assert_eq!(", stringify!($digest), "::try_from(digest.as_ref())?, digest);")]
        #[doc = concat!("assert!(", stringify!($digest), "::from_hex(\"d41d8cd9\").is_err());")]
        /// # Ok::<(), std::array::TryFromSliceError>(())
        /// ```
        pub type $digest = $crate::Digest<$hash>;

        #[doc = concat!("The state of ", $name, " after the first blocks of a message.")]
        ///
        /// ```
        #[doc = concat!("use ", $crate_name, "::{", stringify!($hasher), ", ", stringify!($midstate), ", ", stringify!($one), "};")]
        ///
        /// let message = [7; 1000];
        #[doc = concat!("let mut first = ", stringify!($hasher), "::new();")]
        /// first.update(&message[..640]);
        /// let midstate = first.midstate().expect("whole blocks, and nothing behind them");
        /// let (length, state) = (midstate.length(), midstate.to_bytes());
        ///
        #[doc = concat!("let midstate = ", stringify!($midstate), "::new(state, length).expect(\"whole blocks\");")]
        #[doc = concat!("let mut rest = ", stringify!($hasher), "::from(midstate);")]
        /// rest.update(&message[640..]);
        #[doc = concat!("assert_eq!(rest.finalize(), ", stringify!($one), "(&message));")]
        /// ```
        pub type $midstate = $crate::Midstate<$hash>;

        #[doc = concat!("Returns the ", $name, " digest of a message in memory.")]
        ///
        /// ```
        #[doc = concat!("let digest = ", $crate_name, "::", stringify!($one), "(b\"abc\");")]
        #[doc = concat!("assert_eq!(digest.to_string(), \"", $abc, "\");")]
        /// ```
        #[inline]
        #[must_use]
        pub fn $one(message: impl AsRef<[u8]>) -> $digest {
            // Compiled once, in this crate.
            fn of_slice(message: &[u8]) -> $digest {
                $crate::digest_of(message)
            }
            of_slice(message.as_ref())
        }

        #[doc = concat!("Returns the ", $name, " digest of a message that an iterator yields in chunks.")]
        /// Chunks may have any lengths. Only one is in memory at a time.
        ///
        /// ```
        /// let chunks = std::iter::repeat_n([0; 1000], 1000); // a megabyte, never held whole
        #[doc = concat!("let digest = ", $crate_name, "::", stringify!($chunks), "(chunks);")]
        #[doc = concat!("assert_eq!(digest, ", $crate_name, "::", stringify!($one), "(&[0; 1_000_000]));")]
        /// ```
        pub fn $chunks<I>(chunks: I) -> $digest
        where
            I: IntoIterator<Item: AsRef<[u8]>>,
        {
            $crate::chunks(chunks)
        }

        #[doc = concat!("Returns the ", $name, " digest of all bytes of a reader.")]
        /// It is read through a buffer of 64 KiB.
        ///
        /// ```
        /// let mut reader = &b"abc"[..];
        #[doc = concat!("let digest = ", $crate_name, "::", stringify!($reader), "(&mut reader)?;")]
        #[doc = concat!("assert_eq!(digest, ", $crate_name, "::", stringify!($one), "(b\"abc\"));")]
        /// # Ok::<(), std::io::Error>(())
        /// ```
        ///
        /// # Errors
        /// Fails with the error of the reader. Interrupted reads are repeated.
        #[cfg(feature = "std")]
        pub fn $reader<R: std::io::Read>(reader: R) -> std::io::Result<$digest> {
            $crate::reader(reader)
        }

        #[doc = concat!("Returns the ", $name, " digests of many messages, in their order.")]
        ///
        /// Collects messages into a group, and hashes the longest of them first. A group is one of:
        ///
        /// - up to 65,536 references;
        /// - up to 4,096 owned messages, such as `Vec<u8>`, or fewer with 64 MiB together. They are
        ///   dropped after they were hashed.
        ///
        /// So a group of owned messages of 8 MiB has eight messages, and fills eight lanes. If the
        /// messages stay in memory anyway, pass references, which fill all lanes at any length.
        ///
        /// ```
        #[doc = concat!("let digests = ", $crate_name, "::", stringify!($many), "([\"a\", \"\", \"abc\"]);")]
        #[doc = concat!("assert_eq!(digests[2].to_string(), \"", $abc, "\");")]
        /// ```
        #[cfg(feature = "alloc")]
        #[must_use]
        pub fn $many<I>(messages: I) -> alloc::vec::Vec<$digest>
        where
            I: IntoIterator<Item: AsRef<[u8]>>,
        {
            $crate::many($crate::Backend::best(), messages)
        }

        #[doc = concat!("Computes [`", stringify!($many), "`] with a given backend.")]
        ///
        /// ```
        #[doc = concat!("use ", $crate_name, "::{Backend, ", stringify!($many), ", ", stringify!($many_with), "};")]
        ///
        /// for backend in Backend::available() {
        #[doc = concat!("    let digests = ", stringify!($many_with), "(backend, [\"a\", \"b\"]);")]
        #[doc = concat!("    assert_eq!(digests, ", stringify!($many), "([\"a\", \"b\"]));")]
        /// }
        /// ```
        #[cfg(feature = "alloc")]
        #[must_use]
        pub fn $many_with<I>(backend: $crate::Backend, messages: I) -> alloc::vec::Vec<$digest>
        where
            I: IntoIterator<Item: AsRef<[u8]>>,
        {
            $crate::many(backend, messages)
        }

        #[doc = concat!("Writes the digests of [`", stringify!($many), "`] into a slice.")]
        /// Its elements are digests. They may also be arrays of bytes, except for SHA-224, SHA-384
        /// and SHA-512/256, which are parts of a longer state.
        /// [`as_chunks_mut`](slice::as_chunks_mut) turns a byte slice into such arrays.
        ///
        /// ```
        #[doc = concat!("use ", $crate_name, "::{", stringify!($digest), ", ", stringify!($one), ", ", stringify!($many_into), "};")]
        ///
        #[doc = concat!("let mut digests = [", stringify!($digest), "::default(); 2];")]
        #[doc = concat!(stringify!($many_into), "([\"a\", \"b\"], &mut digests);")]
        #[doc = concat!("assert_eq!(digests[1], ", stringify!($one), "(\"b\"));")]
        /// ```
        ///
        /// # Panics
        /// Panics if the number of digests differs from the number of messages.
        #[cfg(feature = "alloc")]
        pub fn $many_into<I, D>(messages: I, out: &mut [D])
        where
            I: IntoIterator<Item: AsRef<[u8]>>,
            D: $crate::Output<$hash>,
        {
            $crate::many_into::<$hash, I, D>($crate::Backend::best(), messages, out);
        }

        #[doc = concat!("Computes [`", stringify!($many_into), "`] with a given backend.")]
        ///
        /// ```
        #[doc = concat!("use ", $crate_name, "::{Backend, ", stringify!($digest), ", ", stringify!($one), ", ", stringify!($many_into_with), "};")]
        ///
        #[doc = concat!("let mut digests = [", stringify!($digest), "::default(); 2];")]
        #[doc = concat!(stringify!($many_into_with), "(Backend::PORTABLE, [\"a\", \"b\"], &mut digests);")]
        #[doc = concat!("assert_eq!(digests[1], ", stringify!($one), "(\"b\"));")]
        /// ```
        ///
        /// # Panics
        /// Panics if the number of digests differs from the number of messages.
        #[cfg(feature = "alloc")]
        pub fn $many_into_with<I, D>(backend: $crate::Backend, messages: I, out: &mut [D])
        where
            I: IntoIterator<Item: AsRef<[u8]>>,
            D: $crate::Output<$hash>,
        {
            $crate::many_into::<$hash, I, D>(backend, messages, out);
        }
    };
}

/// Makes the methods of [`BlockHash`](crate::BlockHash) that only call a scheduler, so that the
/// crate of the hash function compiles it. The argument is the type of the state.
#[macro_export]
macro_rules! schedulers {
    ($state:ty) => {
        #[cfg(feature = "alloc")]
        fn hash_if_alike(
            lockstep: &mut $crate::Lockstep<Self>,
            messages: &[&[u8]],
            states: &mut [$state],
        ) -> bool {
            lockstep.hash_if_alike(messages, states)
        }

        #[cfg(feature = "alloc")]
        fn hash_in_memory(
            backend: $crate::Backend,
            start: $crate::Midstate<Self>,
            messages: &[&[u8]],
            states: &mut [$state],
        ) {
            $crate::memory::hash::<Self>(backend, start, messages, states);
        }
    };
}
