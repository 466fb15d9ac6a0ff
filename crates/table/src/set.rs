//! Sets, which are maps without values.

use core::borrow::Borrow;
use core::fmt;

use lanesum_siphash::SipHash;

use super::{FloodSafeMap, Key, TryReserveError};

/// A hash set that hashes with SipHash-`C`-`D` under its own key.
///
/// All methods behave as in [`std::collections::HashSet`]. The methods ending in `_many` do for
/// each item what the method without this ending does for one. See the [crate].
///
/// ```
/// use lanesum_table::FloodSafeSet;
///
/// let seen: FloodSafeSet<&str> = ["a", "b"].into_iter().collect();
/// assert!(seen.contains_many(["b", "c"]).eq([true, false]));
/// ```
pub struct FloodSafeSet<T, const C: usize = 1, const D: usize = 3>(FloodSafeMap<T, (), C, D>);

#[cfg(feature = "std")]
impl<T> FloodSafeSet<T> {
    /// Makes an empty set with a random key. It allocates no memory until the first insertion.
    ///
    /// # Panics
    /// Panics in the same cases as [`SipHash::random`].
    #[must_use]
    pub fn new() -> Self {
        Self(FloodSafeMap::new())
    }

    /// Makes an empty set with a random key and room for `capacity` items.
    ///
    /// # Panics
    /// Panics in the same cases as [`SipHash::random`], and if memory cannot hold that many items.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self(FloodSafeMap::with_capacity(capacity))
    }
}

impl<T, const C: usize, const D: usize> FloodSafeSet<T, C, D> {
    /// Makes an empty set with the given key. It is safe from flooding as long as the key is
    /// secret.
    #[must_use]
    pub const fn with_hasher(sip: SipHash<C, D>) -> Self {
        Self(FloodSafeMap::with_hasher(sip))
    }

    /// Returns the number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the set has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of items that fit without reallocation, including existing ones.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Removes all items and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns all items, in unspecified order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &T> + Clone {
        self.0.keys()
    }

    /// Removes and returns all items, and keeps the allocated memory.
    pub fn drain(&mut self) -> impl ExactSizeIterator<Item = T> {
        self.0.drain().map(|(item, ())| item)
    }

    /// Keeps only the items for which the function returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.0.retain(|item, ()| keep(item));
    }

    /// Removes the items for which the function returns true, as the iterator is advanced.
    pub fn extract_if(&mut self, mut take: impl FnMut(&T) -> bool) -> impl Iterator<Item = T> {
        self.0.extract_if(move |item, ()| take(item)).map(|(item, ())| item)
    }
}

impl<T: Key, const C: usize, const D: usize> FloodSafeSet<T, C, D> {
    /// Returns whether the set contains the item.
    pub fn contains<Q>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.0.contains_key(item)
    }

    /// Returns for each item whether the set contains it, in order.
    pub fn contains_many<'k, Q, I>(&self, items: I) -> impl Iterator<Item = bool>
    where
        T: Borrow<Q>,
        Q: Key + ?Sized + 'k,
        I: IntoIterator<Item = &'k Q>,
    {
        self.0.contains_many(items)
    }

    /// Returns the equal item that is stored in the set.
    pub fn get<Q>(&self, item: &Q) -> Option<&T>
    where
        T: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.0.get_key_value(item).map(|(item, ())| item)
    }

    /// Inserts an item, and returns whether it is new. An existing item is not replaced.
    pub fn insert(&mut self, item: T) -> bool {
        self.0.insert(item, ()).is_none()
    }

    /// Inserts each item.
    pub fn insert_many(&mut self, items: impl IntoIterator<Item = T>) {
        self.0.insert_many(items.into_iter().map(|item| (item, ())));
    }

    /// Removes an item, and returns whether the set contained it.
    pub fn remove<Q>(&mut self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.take(item).is_some()
    }

    /// Removes an item, and returns it.
    pub fn take<Q>(&mut self, item: &Q) -> Option<T>
    where
        T: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.0.remove_entry(item).map(|(item, ())| item)
    }

    /// Reserves room for `additional` more items.
    ///
    /// # Panics
    /// Panics if memory cannot hold that many items.
    pub fn reserve(&mut self, additional: usize) {
        self.0.reserve(additional);
    }

    /// Reserves room for `additional` more items, or fails if memory is exhausted.
    ///
    /// # Errors
    /// Fails if memory cannot hold that many items. The set is unchanged.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        self.0.try_reserve(additional)
    }

    /// Frees the memory that the items do not need.
    pub fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }

    /// Returns whether all items are in the other set.
    #[must_use]
    pub fn is_subset<const E: usize, const F: usize>(&self, other: &FloodSafeSet<T, E, F>) -> bool {
        self.len() <= other.len() && other.contains_many(self).all(|is_there| is_there)
    }
}

impl<T: Clone, const C: usize, const D: usize> Clone for FloodSafeSet<T, C, D> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: fmt::Debug, const C: usize, const D: usize> fmt::Debug for FloodSafeSet<T, C, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}

/// Sets with equal items are equal, even if their hash keys differ.
impl<T: Key, const C: usize, const D: usize> PartialEq for FloodSafeSet<T, C, D> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: Key, const C: usize, const D: usize> Eq for FloodSafeSet<T, C, D> {}

impl<T: Key, const C: usize, const D: usize> Extend<T> for FloodSafeSet<T, C, D> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        self.insert_many(items);
    }
}

/// An iterator over items by reference.
type Items<'a, T> = core::iter::Map<super::Iter<'a, T, ()>, fn((&'a T, &'a ())) -> &'a T>;

impl<'a, T, const C: usize, const D: usize> IntoIterator for &'a FloodSafeSet<T, C, D> {
    type Item = &'a T;
    type IntoIter = Items<'a, T>;

    fn into_iter(self) -> Items<'a, T> {
        self.0.iter().map(|(item, ())| item)
    }
}

impl<T, const C: usize, const D: usize> IntoIterator for FloodSafeSet<T, C, D> {
    type Item = T;
    type IntoIter = core::iter::Map<super::IntoIter<T, ()>, fn((T, ())) -> T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().map(|(item, ())| item)
    }
}

/// Makes an empty set with a random key.
#[cfg(feature = "std")]
impl<T, const C: usize, const D: usize> Default for FloodSafeSet<T, C, D> {
    fn default() -> Self {
        Self(FloodSafeMap::default())
    }
}

#[cfg(feature = "std")]
impl<T: Key, const C: usize, const D: usize> FromIterator<T> for FloodSafeSet<T, C, D> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut set = Self::default();
        set.insert_many(items);
        set
    }
}

#[cfg(feature = "std")]
impl<T: Key, const N: usize> From<[T; N]> for FloodSafeSet<T> {
    fn from(items: [T; N]) -> Self {
        items.into_iter().collect()
    }
}
