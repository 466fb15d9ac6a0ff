//! Keys that only `std` has: strings of the system, paths, and times.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::thread::ThreadId;
use std::time::{Instant, SystemTime};

use super::by_hash::by_hash;
use super::{Element, JoinedBytes, Key, elements};

/// The bytes that the system uses.
macro_rules! system_strings {
    ($($string:ty),*) => {
        $(impl Key for $string {
            type Bytes<'a> = &'a [u8];

            #[inline]
            fn bytes(&self) -> &[u8] {
                self.as_encoded_bytes()
            }
        })*
    };
}
system_strings!(OsStr, OsString);

/// The components. `a//b` and `a/./b/` are the same as `a/b`, as for `==`.
macro_rules! paths {
    ($($path:ty),*) => {
        $(impl Key for $path {
            type Bytes<'a> = JoinedBytes;

            fn bytes(&self) -> JoinedBytes {
                let mut joined = JoinedBytes::new();
                for component in self.components() {
                    let name = component.as_os_str().as_encoded_bytes();
                    match component {
                        // On Windows `c:` is `C:`.
                        Component::Prefix(_) => joined.push(&name.to_ascii_uppercase()),
                        _ => joined.push(name),
                    }
                    // A byte that no component contains.
                    joined.push(b"/");
                }
                joined
            }
        })*
    };
}
paths!(Path, PathBuf);

by_hash!(SystemTime, Instant, ThreadId);
elements!(OsString, PathBuf, SystemTime, Instant, ThreadId);
