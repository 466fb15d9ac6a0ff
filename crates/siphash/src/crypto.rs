//! The RustCrypto traits. Code written against `digest::Mac` works with [`SipHasher`] (tags of 8
//! bytes) and [`SipHasher128`] (tags of 16 bytes).
//!
//! An attacker finds a 64-bit tag in at most 2^64 attempts, so use 128 bits for authentication.
//!
//! ```
//! use digest::{KeyInit, Mac};
//! use lanesum_siphash::SipHasher128;
//!
//! let mut mac = SipHasher128::<2, 4>::new_from_slice(b"sixteen bytes...")?;
//! mac.update(b"a message");
//! let tag = Mac::finalize(mac.clone()).into_bytes();
//! assert_eq!(tag[..], mac.clone().finalize().to_le_bytes()); // the hasher's own: a number
//! mac.verify(&tag)?; // in constant time
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use digest::common::KeySizeUser;
use digest::consts::{U8, U16};
use digest::{FixedOutput, Key, KeyInit, MacMarker, Output, OutputSizeUser, Update};

use crate::{SipHash, SipHasher, SipHasher128};

macro_rules! mac {
    ($name:ident, $begin:ident, $tag:ty) => {
        impl<const C: usize, const D: usize> MacMarker for $name<C, D> {}

        impl<const C: usize, const D: usize> KeySizeUser for $name<C, D> {
            type KeySize = U16;
        }

        impl<const C: usize, const D: usize> KeyInit for $name<C, D> {
            fn new(key: &Key<Self>) -> Self {
                SipHash::new(key.as_ref()).$begin()
            }
        }

        impl<const C: usize, const D: usize> OutputSizeUser for $name<C, D> {
            type OutputSize = $tag;
        }

        impl<const C: usize, const D: usize> Update for $name<C, D> {
            fn update(&mut self, bytes: &[u8]) {
                $name::update(self, bytes);
            }
        }

        impl<const C: usize, const D: usize> FixedOutput for $name<C, D> {
            fn finalize_into(self, out: &mut Output<Self>) {
                out.copy_from_slice(&self.finalize().to_le_bytes());
            }
        }
    };
}
mac!(SipHasher, hasher, U8);
mac!(SipHasher128, hasher128, U16);
