//! How the kernels of SHA-256 and SHA-512 repeat rounds.

/// Repeats an expression for the sixteen rounds of a group, four at a time in their own frame.
macro_rules! sixteen {
    ($word:ident, $state:ident, |$round:ident| $sum:expr) => {{
        sixteen!(@ $word, $state, |$round| $sum, 0 1 2 3);
        sixteen!(@ $word, $state, |$round| $sum, 4 5 6 7);
        sixteen!(@ $word, $state, |$round| $sum, 8 9 10 11);
        sixteen!(@ $word, $state, |$round| $sum, 12 13 14 15);
    }};
    (@ $word:ident, $state:ident, |$round:ident| $sum:expr, $($number:literal)*) => {
        $state = $word::in_own_frame(#[inline(always)] || {
            let mut state = $state;
            $({
                const $round: usize = $number;
                state = round(state, $sum);
            })*
            state
        });
    };
}
