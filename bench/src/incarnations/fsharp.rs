//! The two incarnations of the F# document: the steps driven by tables, over values that never
//! change, which its author wanted, and with locals that do, which he arrived at.

use super::steps::{SHIFTS, SINES, State, WORDS, f, g, h, i, sum};
use crate::hashers::frame::Block;

/// A round gets its function and its tables and turns one state into the next; nothing is assigned.
pub fn values(state: State, block: &Block) -> State {
    let words = decode(block);
    let end =
        round(i, 3, &words, round(h, 2, &words, round(g, 1, &words, round(f, 0, &words, state))));
    sum(state, end)
}

/// The document's `cycle`.
fn round(
    function: impl Fn(u32, u32, u32) -> u32,
    round: usize,
    words: &[u32; 16],
    state: State,
) -> State {
    let steps = WORDS[round].iter().zip(&SINES[round]).zip(SHIFTS[round].iter().cycle());
    steps.fold(state, |[a, b, c, d], ((&word, &sine), &shift)| {
        let sum = a.wrapping_add(function(b, c, d)).wrapping_add(words[word]).wrapping_add(sine);
        [d, sum.rotate_left(shift).wrapping_add(b), b, c]
    })
}

/// The same tables; four locals, assigned anew in every step.
pub fn locals(state: State, block: &Block) -> State {
    let words = decode(block);
    let [mut a, mut b, mut c, mut d] = state;
    macro_rules! round {
        ($function:ident $round:literal) => {
            for place in (0..16).step_by(4) {
                round!(@step $function a b c d $round place);
                round!(@step $function d a b c $round place + 1);
                round!(@step $function c d a b $round place + 2);
                round!(@step $function b c d a $round place + 3);
            }
        };
        (@step $function:ident $a:ident $b:ident $c:ident $d:ident $round:literal $place:expr) => {
            $a = $a.wrapping_add($function($b, $c, $d));
            $a = $a.wrapping_add(words[WORDS[$round][$place]]).wrapping_add(SINES[$round][$place]);
            $a = $a.rotate_left(SHIFTS[$round][($place) % 4]).wrapping_add($b);
        };
    }
    round!(f 0);
    round!(g 1);
    round!(h 2);
    round!(i 3);
    sum(state, [a, b, c, d])
}

/// The document's `X`, filled word by word.
fn decode(block: &Block) -> [u32; 16] {
    let (words, _) = block.as_chunks();
    std::array::from_fn(|index| u32::from_le_bytes(words[index]))
}
