//! Union, intersection and differences of two sets. Items are looked up in batches.

use core::fmt;
use core::iter::{Chain, FusedIterator};
use core::ops::{BitAnd, BitOr, BitXor, Sub};

use super::{FloodSafeSet, Iter};
use crate::{GetMany, Key, KeyedHash};

/// The items of one set, each with the result of its look-up in another set.
struct LookedUp<'a, T, S> {
    items: Iter<'a, T>,
    found: GetMany<'a, T, (), Iter<'a, T>, S>,
}

impl<'a, T: Key, S: KeyedHash> LookedUp<'a, T, S> {
    fn new(set: &'a FloodSafeSet<T, S>, other: &'a FloodSafeSet<T, S>) -> Self {
        Self { items: set.iter(), found: other.0.get_many(set) }
    }

    /// Returns the next item that the other set contains, or does not contain.
    fn next(&mut self, is_contained: bool) -> Option<&'a T> {
        loop {
            let item = self.items.next()?;
            if self.found.next()?.is_some() == is_contained {
                return Some(item);
            }
        }
    }
}

impl<T, S> Clone for LookedUp<'_, T, S> {
    fn clone(&self) -> Self {
        Self { items: self.items.clone(), found: self.found.clone() }
    }
}

/// An iterator over the items of both sets. Made by [`FloodSafeSet::intersection`].
pub struct Intersection<'a, T, S>(LookedUp<'a, T, S>);

/// An iterator over the items of one set that another one does not contain. Made by
/// [`FloodSafeSet::difference`].
pub struct Difference<'a, T, S>(LookedUp<'a, T, S>);

/// An iterator over the items of one set or both. Made by [`FloodSafeSet::union`].
pub struct Union<'a, T, S>(Chain<Iter<'a, T>, Difference<'a, T, S>>);

/// An iterator over the items of only one of two sets. Made by
/// [`FloodSafeSet::symmetric_difference`].
pub struct SymmetricDifference<'a, T, S>(Chain<Difference<'a, T, S>, Difference<'a, T, S>>);

/// Defines how an iterator finds its next item, and how many there may be.
macro_rules! operation {
    ($name:ident, |$inner:ident| $next:expr, $size_hint:expr) => {
        impl<'a, T: Key, S: KeyedHash> Iterator for $name<'a, T, S> {
            type Item = &'a T;

            fn next(&mut self) -> Option<&'a T> {
                let $inner = &mut self.0;
                $next
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                let $inner = &self.0;
                $size_hint
            }
        }

        impl<T: Key, S: KeyedHash> FusedIterator for $name<'_, T, S> {}

        impl<T, S> Clone for $name<'_, T, S> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        /// Shows the items that remain.
        impl<T: Key + fmt::Debug, S: KeyedHash> fmt::Debug for $name<'_, T, S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(self.clone()).finish()
            }
        }
    };
}
operation! { Intersection, |of| of.next(true), (0, Some(of.items.len())) }
operation! { Difference, |of| of.next(false), (0, Some(of.items.len())) }
operation! { Union, |of| of.next(), of.size_hint() }
operation! { SymmetricDifference, |of| of.next(), of.size_hint() }

impl<T: Key, S: KeyedHash> FloodSafeSet<T, S> {
    /// Returns the items of this set or the other one or both, each once.
    ///
    /// ```
    /// use lanesum_table::FloodSafeSet;
    ///
    /// let [a, b] = [FloodSafeSet::from([1, 2]), FloodSafeSet::from([2, 3])];
    /// assert_eq!(a.union(&b).sum::<i32>(), 6);
    /// assert_eq!(&a | &b, FloodSafeSet::from([1, 2, 3]));
    /// ```
    #[must_use]
    pub fn union<'a>(&'a self, other: &'a Self) -> Union<'a, T, S> {
        let (few, many) = self.by_length(other);
        Union(many.iter().chain(few.difference(many)))
    }

    /// Returns the items that both sets contain. They are those of the set with fewer items.
    ///
    /// ```
    /// use lanesum_table::FloodSafeSet;
    ///
    /// let [a, b] = [FloodSafeSet::from([1, 2]), FloodSafeSet::from([2, 3])];
    /// assert!(a.intersection(&b).eq(&[2]));
    /// assert_eq!(&a & &b, FloodSafeSet::from([2]));
    /// ```
    #[must_use]
    pub fn intersection<'a>(&'a self, other: &'a Self) -> Intersection<'a, T, S> {
        let (few, many) = self.by_length(other);
        Intersection(LookedUp::new(few, many))
    }

    /// Returns the items of this set that the other one does not contain.
    ///
    /// ```
    /// use lanesum_table::FloodSafeSet;
    ///
    /// let [a, b] = [FloodSafeSet::from([1, 2]), FloodSafeSet::from([2, 3])];
    /// assert!(a.difference(&b).eq(&[1]));
    /// assert_eq!(&a - &b, FloodSafeSet::from([1]));
    /// ```
    #[must_use]
    pub fn difference<'a>(&'a self, other: &'a Self) -> Difference<'a, T, S> {
        Difference(LookedUp::new(self, other))
    }

    /// Returns the items that only one of the sets contains.
    ///
    /// ```
    /// use lanesum_table::FloodSafeSet;
    ///
    /// let [a, b] = [FloodSafeSet::from([1, 2]), FloodSafeSet::from([2, 3])];
    /// assert!(a.symmetric_difference(&b).eq(&[1, 3]));
    /// assert_eq!(&a ^ &b, FloodSafeSet::from([1, 3]));
    /// ```
    #[must_use]
    pub fn symmetric_difference<'a>(&'a self, other: &'a Self) -> SymmetricDifference<'a, T, S> {
        SymmetricDifference(self.difference(other).chain(other.difference(self)))
    }

    /// Returns whether the sets have no item in common.
    #[must_use]
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.intersection(other).next().is_none()
    }

    /// Returns whether all items are in the other set.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.len() <= other.len() && self.difference(other).next().is_none()
    }

    /// Returns whether all items of the other set are in this one.
    #[must_use]
    pub fn is_superset(&self, other: &Self) -> bool {
        other.is_subset(self)
    }

    /// Returns the set with fewer items, and the other one.
    fn by_length<'a>(&'a self, other: &'a Self) -> (&'a Self, &'a Self) {
        if self.len() <= other.len() { (self, other) } else { (other, self) }
    }
}

/// Defines an operator that makes a new set of copied items.
macro_rules! operator {
    ($operator:ident, $name:ident, $operation:ident) => {
        /// Makes a set with a random hash key.
        impl<T: Key + Clone, S: KeyedHash + Default> $operator for &FloodSafeSet<T, S> {
            type Output = FloodSafeSet<T, S>;

            fn $name(self, other: Self) -> FloodSafeSet<T, S> {
                self.$operation(other).cloned().collect()
            }
        }
    };
}
operator!(BitOr, bitor, union);
operator!(BitAnd, bitand, intersection);
operator!(BitXor, bitxor, symmetric_difference);
operator!(Sub, sub, difference);
