//! Keys made of other keys: `Option`s, tuples, slices, vectors and arrays.

use alloc::vec::Vec;

use super::{Element, JoinedBytes, Key};

/// A byte for `Some` or `None`, and the value.
impl<T: Key> Key for Option<T> {
    type Bytes<'a>
        = JoinedBytes
    where
        Self: 'a;

    #[inline]
    fn bytes(&self) -> JoinedBytes {
        let joined = JoinedBytes::new().with(&self.is_some());
        match self {
            Some(key) => joined.with(key),
            None => joined,
        }
    }
}

impl<T: Key> Element for Option<T> {}

/// Tuples of up to six parts.
macro_rules! tuples {
    ($($($part:ident)+;)*) => {
        $(impl<$($part: Key),+> Key for ($($part,)+) {
            type Bytes<'a>
                = JoinedBytes
            where
                Self: 'a;

            #[inline]
            #[expect(non_snake_case, reason = "a part is called as its type")]
            fn bytes(&self) -> JoinedBytes {
                let ($($part,)+) = self;
                JoinedBytes::new()$(.with($part))+
            }
        }

        impl<$($part: Key),+> Element for ($($part,)+) {})*
    };
}
tuples! { A; A B; A B C; A B C D; A B C D E; A B C D E F; }

/// Slices and what borrows as a slice. All elements, one after the other.
macro_rules! slices {
    ($([$($count:tt)*] $slice:ty;)*) => {
        $(impl<T: Element, $($count)*> Key for $slice {
            type Bytes<'a>
                = JoinedBytes
            where
                Self: 'a;

            #[inline]
            fn bytes(&self) -> JoinedBytes {
                self.iter().fold(JoinedBytes::new(), JoinedBytes::with)
            }
        })*
    };
}
slices! { [] [T]; [] Vec<T>; [const N: usize] [T; N]; }

impl<T: Element> Element for Vec<T> {}
impl<T: Element, const N: usize> Element for [T; N] {}
