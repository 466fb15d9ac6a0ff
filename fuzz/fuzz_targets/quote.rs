//! A quoted name can be shown on a terminal, whatever bytes it has.

#![no_main]

#[path = "../../crates/cli/src/quote.rs"]
#[allow(dead_code, reason = "the program has more uses for it")]
mod quote;

use libfuzzer_sys::fuzz_target;
use quote::{Locale, file_name};

fuzz_target!(|name: &[u8]| {
    for locale in [Locale::C, Locale::Utf8] {
        let mut shown = Vec::new();
        file_name(&mut shown, name, locale);
        assert!(!shown.iter().any(u8::is_ascii_control), "{}", shown.escape_ascii());
        let shown = str::from_utf8(&shown).expect("what is no UTF-8 is escaped");
        assert!(locale == Locale::Utf8 || shown.is_ascii(), "{shown}");
    }
});
