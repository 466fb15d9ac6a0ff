//! Iterators over all items of a set.

use core::fmt;
use core::iter::FusedIterator;

use super::FloodSafeSet;
use crate::iter::iterator;

/// An iterator over items by reference. Made by [`FloodSafeSet::iter`].
pub struct Iter<'a, T>(crate::Keys<'a, T, ()>);

/// An iterator over items removed from a set. Made by [`FloodSafeSet::drain`].
pub struct Drain<'a, T>(crate::Drain<'a, T, ()>);

/// An iterator over the items of a consumed set.
pub struct IntoIter<T>(crate::IntoKeys<T, ()>);

iterator! { Iter<'a, T>, &'a T, |item| item }
iterator! { Drain<'a, T>, T, |(item, ())| item }
iterator! { IntoIter<T>, T, |item| item }

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// An iterator without items.
impl<T> Default for Iter<'_, T> {
    fn default() -> Self {
        Self(Default::default())
    }
}

/// An iterator without items.
impl<T> Default for IntoIter<T> {
    fn default() -> Self {
        Self(Default::default())
    }
}

impl<T, S> FloodSafeSet<T, S> {
    /// Returns all items, in unspecified order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self.0.keys())
    }

    /// Removes and returns all items, and keeps the allocated memory.
    pub fn drain(&mut self) -> Drain<'_, T> {
        Drain(self.0.drain())
    }
}

impl<'a, T, S> IntoIterator for &'a FloodSafeSet<T, S> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T, S> IntoIterator for FloodSafeSet<T, S> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self.0.into_keys())
    }
}
