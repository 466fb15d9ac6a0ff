//! Lists of checksums: formats, written and read.
