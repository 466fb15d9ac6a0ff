//! Sets, which are maps without values, and their iterators.

mod iter;
mod operations;

use core::borrow::Borrow;
use core::fmt;

use lanesum_siphash::SipHash13;

use super::{FloodSafeMap, Key, KeyedHash, TryReserveError};

pub use iter::{Drain, IntoIter, Iter};
pub use operations::{Difference, Intersection, SymmetricDifference, Union};

/// A hash set that hashes with SipHash under its own key.
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
pub struct FloodSafeSet<T, S = SipHash13>(FloodSafeMap<T, (), S>);

#[cfg(feature = "std")]
impl<T> FloodSafeSet<T> {
    /// Makes an empty set with a random key. It allocates no memory until the first insertion.
    ///
    /// # Panics
    /// Panics in the same cases as [`SipHash13::random`](lanesum_siphash::SipHash::random).
    #[must_use]
    pub fn new() -> Self {
        Self(FloodSafeMap::new())
    }

    /// Makes an empty set with a random key and room for `capacity` items.
    ///
    /// # Panics
    /// Panics if memory cannot hold that many items, and in the same cases as
    /// [`SipHash13::random`](lanesum_siphash::SipHash::random).
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self(FloodSafeMap::with_capacity(capacity))
    }
}

impl<T, S> FloodSafeSet<T, S> {
    /// Makes an empty set with the given key. It is safe from flooding as long as the key is
    /// secret.
    #[must_use]
    pub const fn with_hasher(sip: S) -> Self {
        Self(FloodSafeMap::with_hasher(sip))
    }

    /// Makes an empty set with the given key and room for `capacity` items.
    ///
    /// # Panics
    /// Panics if memory cannot hold that many items.
    #[must_use]
    pub fn with_capacity_and_hasher(capacity: usize, sip: S) -> Self {
        Self(FloodSafeMap::with_capacity_and_hasher(capacity, sip))
    }

    /// Returns the function that hashes the items.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        self.0.hasher()
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

    /// Keeps only the items for which the function returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.0.retain(|item, ()| keep(item));
    }

    /// Removes the items for which the function returns true, as the iterator is advanced.
    pub fn extract_if(&mut self, mut take: impl FnMut(&T) -> bool) -> impl Iterator<Item = T> {
        self.0.extract_if(move |item, ()| take(item)).map(|(item, ())| item)
    }
}

#[cfg(feature = "rayon")]
impl<T, S> FloodSafeSet<T, S> {
    pub(crate) fn map(&self) -> &FloodSafeMap<T, (), S> {
        &self.0
    }

    pub(crate) fn into_map(self) -> FloodSafeMap<T, (), S> {
        self.0
    }
}

impl<T: Key, S: KeyedHash> FloodSafeSet<T, S> {
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

    /// Inserts an item, and returns the equal item that it replaces.
    ///
    /// ```
    /// use lanesum_table::FloodSafeSet;
    ///
    /// let mut set = FloodSafeSet::from([Vec::with_capacity(100)]);
    /// let old = set.replace(Vec::<u8>::new());
    /// assert!(old.unwrap().capacity() >= 100 && set.get(&[][..]).unwrap().capacity() == 0);
    /// ```
    pub fn replace(&mut self, item: T) -> Option<T> {
        self.0.replace_key(item)
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

    /// Frees memory down to the larger of the number of items and `capacity`.
    pub fn shrink_to(&mut self, capacity: usize) {
        self.0.shrink_to(capacity);
    }
}

impl<T: Clone, S: Clone> Clone for FloodSafeSet<T, S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: fmt::Debug, S> fmt::Debug for FloodSafeSet<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}

/// Sets with equal items are equal, even if their hash keys differ.
impl<T: Key, S: KeyedHash> PartialEq for FloodSafeSet<T, S> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: Key, S: KeyedHash> Eq for FloodSafeSet<T, S> {}

impl<T: Key, S: KeyedHash> Extend<T> for FloodSafeSet<T, S> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        self.insert_many(items);
    }
}

impl<'a, T: Key + Copy, S: KeyedHash> Extend<&'a T> for FloodSafeSet<T, S> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, items: I) {
        self.insert_many(items.into_iter().copied());
    }
}

/// Makes an empty set with the default hash function, which has a random key.
impl<T, S: Default> Default for FloodSafeSet<T, S> {
    fn default() -> Self {
        Self(FloodSafeMap::default())
    }
}

impl<T: Key, S: KeyedHash + Default> FromIterator<T> for FloodSafeSet<T, S> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut set = Self::default();
        set.insert_many(items);
        set
    }
}

#[cfg(feature = "std")]
mod of_std {
    use std::collections::HashSet;
    use std::hash::{BuildHasher, Hash};

    use super::{FloodSafeSet, Key, KeyedHash};

    impl<T: Key, const N: usize> From<[T; N]> for FloodSafeSet<T> {
        fn from(items: [T; N]) -> Self {
            items.into_iter().collect()
        }
    }

    /// Moves the items to a set with a random hash key.
    impl<T: Key, R, S: KeyedHash + Default> From<HashSet<T, R>> for FloodSafeSet<T, S> {
        fn from(set: HashSet<T, R>) -> Self {
            set.into_iter().collect()
        }
    }

    impl<T: Eq + Hash, R: BuildHasher + Default, S> From<FloodSafeSet<T, S>> for HashSet<T, R> {
        fn from(set: FloodSafeSet<T, S>) -> Self {
            set.into_iter().collect()
        }
    }
}
