//! Parallel iterators, with rayon.

use hashbrown::hash_table;
use rayon::iter::plumbing::UnindexedConsumer;
use rayon::iter::{FromParallelIterator, IntoParallelIterator, ParallelExtend, ParallelIterator};

use super::{FloodSafeMap, FloodSafeSet, Key, KeyedHash};

/// A parallel iterator over entries by reference. Made by `par_iter` of a map.
pub struct ParIter<'a, K, V>(hash_table::rayon::ParIter<'a, (K, V)>);

/// A parallel iterator over entries with mutable values. Made by `par_iter_mut` of a map.
pub struct ParIterMut<'a, K, V>(hash_table::rayon::ParIterMut<'a, (K, V)>);

/// A parallel iterator over the entries of a consumed map. Made by `into_par_iter` of a map.
pub struct IntoParIter<K, V>(hash_table::rayon::IntoParIter<(K, V)>);

/// A parallel iterator over the items of a set by reference. Made by `par_iter` of a set.
pub struct SetParIter<'a, T>(ParIter<'a, T, ()>);

/// A parallel iterator over the items of a consumed set. Made by `into_par_iter` of a set.
pub struct SetIntoParIter<T>(IntoParIter<T, ()>);

/// Defines a parallel iterator that maps the items of another one.
macro_rules! parallel {
    ($name:ident<$($lifetime:lifetime,)? $($type:ident: $bound:ident),+>, $item:ty, $make:expr) => {
        impl<$($lifetime,)? $($type: $bound),+> ParallelIterator
            for $name<$($lifetime,)? $($type),+>
        {
            type Item = $item;

            fn drive_unindexed<C: UnindexedConsumer<$item>>(self, consumer: C) -> C::Result {
                self.0.map($make).drive_unindexed(consumer)
            }
        }
    };
}
parallel! { ParIter<'a, K: Sync, V: Sync>, (&'a K, &'a V), |(key, value)| (key, value) }
parallel! { IntoParIter<K: Send, V: Send>, (K, V), |entry| entry }
parallel! { SetParIter<'a, T: Sync>, &'a T, |(item, ())| item }
parallel! { SetIntoParIter<T: Send>, T, |(item, ())| item }

impl<'a, K: Send + Sync, V: Send> ParallelIterator for ParIterMut<'a, K, V> {
    type Item = (&'a K, &'a mut V);

    fn drive_unindexed<C: UnindexedConsumer<Self::Item>>(self, consumer: C) -> C::Result {
        self.0.map(|(key, value)| (&*key, value)).drive_unindexed(consumer)
    }
}

impl<'a, K: Sync, V: Sync, S> IntoParallelIterator for &'a FloodSafeMap<K, V, S> {
    type Item = (&'a K, &'a V);
    type Iter = ParIter<'a, K, V>;

    fn into_par_iter(self) -> ParIter<'a, K, V> {
        ParIter((&self.table).into_par_iter())
    }
}

impl<'a, K: Send + Sync, V: Send, S> IntoParallelIterator for &'a mut FloodSafeMap<K, V, S> {
    type Item = (&'a K, &'a mut V);
    type Iter = ParIterMut<'a, K, V>;

    fn into_par_iter(self) -> ParIterMut<'a, K, V> {
        ParIterMut((&mut self.table).into_par_iter())
    }
}

impl<K: Send, V: Send, S> IntoParallelIterator for FloodSafeMap<K, V, S> {
    type Item = (K, V);
    type Iter = IntoParIter<K, V>;

    fn into_par_iter(self) -> IntoParIter<K, V> {
        IntoParIter(self.table.into_par_iter())
    }
}

impl<'a, T: Sync, S> IntoParallelIterator for &'a FloodSafeSet<T, S> {
    type Item = &'a T;
    type Iter = SetParIter<'a, T>;

    fn into_par_iter(self) -> SetParIter<'a, T> {
        SetParIter(self.map().into_par_iter())
    }
}

impl<T: Send, S> IntoParallelIterator for FloodSafeSet<T, S> {
    type Item = T;
    type Iter = SetIntoParIter<T>;

    fn into_par_iter(self) -> SetIntoParIter<T> {
        SetIntoParIter(self.into_map().into_par_iter())
    }
}

/// Collects the entries in parallel, and inserts them on one thread.
///
/// ```
/// use lanesum_table::FloodSafeMap;
/// use rayon::prelude::*;
///
/// let squares: FloodSafeMap<u64, u64> = (0..1000).into_par_iter().map(|i| (i, i * i)).collect();
/// assert_eq!(squares.par_iter().map(|(_, square)| square).max(), Some(&998_001));
/// ```
impl<K: Key + Send, V: Send, S: KeyedHash> ParallelExtend<(K, V)> for FloodSafeMap<K, V, S> {
    fn par_extend<I: IntoParallelIterator<Item = (K, V)>>(&mut self, entries: I) {
        for entries in entries.into_par_iter().collect_vec_list() {
            self.insert_many(entries);
        }
    }
}

impl<K, V, S> FromParallelIterator<(K, V)> for FloodSafeMap<K, V, S>
where
    K: Key + Send,
    V: Send,
    S: KeyedHash + Default,
{
    fn from_par_iter<I: IntoParallelIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::default();
        map.par_extend(entries);
        map
    }
}

/// Collects the items in parallel, and inserts them on one thread.
impl<T: Key + Send, S: KeyedHash> ParallelExtend<T> for FloodSafeSet<T, S> {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I) {
        for items in items.into_par_iter().collect_vec_list() {
            self.insert_many(items);
        }
    }
}

impl<T: Key + Send, S: KeyedHash + Default> FromParallelIterator<T> for FloodSafeSet<T, S> {
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(items: I) -> Self {
        let mut set = Self::default();
        set.par_extend(items);
        set
    }
}
