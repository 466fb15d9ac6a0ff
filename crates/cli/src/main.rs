//! the program
fn main() {}
