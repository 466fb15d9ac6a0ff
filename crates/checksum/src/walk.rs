//! Walks a tree in byte order of the whole paths.
