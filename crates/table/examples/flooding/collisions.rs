//! Keys that all have the same hash, without trying any: FNV-1 gives way to arithmetic.
//!
//! FNV-1 multiplies its state by a prime P and xors the next byte into the lowest eight bits. So a
//! step is `h' = h * P + (x - l)`, where l is the lowest byte of `h * P` and x what the byte of the
//! input makes of it, which the attacker chooses. The high bits only ever see the sum. After n
//! bytes two inputs meet in the same state when the differences c of their (x - l) give
//!
//! ```text
//! c[0] * P^(n-1) + c[1] * P^(n-2) + ... + c[n-1] = 0   modulo 2^64
//! ```
//!
//! and such numbers c small enough for bytes are short vectors of a lattice: found in no time.
//! As l depends on the lowest byte alone, the bytes follow one by one. A pair of blocks that meet,
//! put in a row k times, is 2^k keys of one hash (A. Joux, Multicollisions in iterated hash
//! functions, 2004).

/// FNV's prime of 64 bits and the state it begins with.
pub const PRIME: u64 = 0x100_0000_01b3;
pub const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// Bytes in a block: enough for the sum to have small solutions.
const BLOCK: usize = 10;

/// FNV-1: `hash` continued by the bytes.
pub fn fnv1(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| hash.wrapping_mul(PRIME) ^ u64::from(byte))
}

/// The polynomial in 31 with which Java hashes strings, here modulo 2^64.
pub fn times_31(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)))
}

/// 2^`doublings` different keys of one hash under FNV-1.
pub fn for_fnv1(doublings: usize) -> Vec<Vec<u8>> {
    let differences = short_zero_sum();
    let mut hash = OFFSET;
    let pairs = (0..doublings).map(|_| {
        let pair = meeting(hash, &differences).expect("some lowest bytes leave a way");
        hash = fnv1(hash, &pair[0]);
        pair
    });
    rows(&pairs.collect::<Vec<_>>())
}

/// 2^`doublings` different keys of one hash under the polynomial in 31: 31 * 'A' + 'a' is 31 * 'B'
/// + 'B'.
pub fn for_times_31(doublings: usize) -> Vec<Vec<u8>> {
    rows(&vec![[b"Aa".to_vec(), b"BB".to_vec()]; doublings])
}

/// All rows that take one block of each pair.
fn rows(pairs: &[[Vec<u8>; 2]]) -> Vec<Vec<u8>> {
    (0..1_usize << pairs.len())
        .map(|choice| {
            let blocks = pairs.iter().enumerate();
            blocks.flat_map(|(place, pair)| pair[choice >> place & 1].clone()).collect()
        })
        .collect()
}

/// Small numbers c, not all of them zero, whose sum with the powers of P is zero.
///
/// All such vectors are the lattice of the rows that `basis` begins with. Each row is made shorter
/// by multiples of each other row until none gets shorter: not the best reduction there is, but all
/// that is needed.
fn short_zero_sum() -> [i64; BLOCK] {
    let mut powers = [1_u64; BLOCK];
    for place in (0..BLOCK - 1).rev() {
        powers[place] = powers[place + 1].wrapping_mul(PRIME);
    }
    let mut basis = [[0_i128; BLOCK]; BLOCK];
    for (place, row) in basis.iter_mut().enumerate() {
        row[place] = 1;
        row[BLOCK - 1] = -i128::from(powers[place].cast_signed());
    }
    basis[BLOCK - 1][BLOCK - 1] = 1 << 64;
    while reduce(&mut basis) {}
    let shortest = basis.into_iter().min_by(|a, b| dot(a, a).total_cmp(&dot(b, b)));
    shortest.expect("a basis has rows").map(|c| i64::try_from(c).expect("it is short"))
}

/// Makes rows shorter by multiples of others; whether any became so.
fn reduce(basis: &mut [[i128; BLOCK]; BLOCK]) -> bool {
    let mut shorter = false;
    for own in 0..BLOCK {
        for other in (0..BLOCK).filter(|&other| other != own) {
            let (row, by) = (basis[own], basis[other]);
            let times = (dot(&row, &by) / dot(&by, &by)).round() as i128;
            let reduced = std::array::from_fn(|place| row[place] - times * by[place]);
            if dot(&reduced, &reduced) < dot(&row, &row) {
                basis[own] = reduced;
                shorter = true;
            }
        }
    }
    shorter
}

fn dot(a: &[i128; BLOCK], b: &[i128; BLOCK]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| a as f64 * b as f64).sum()
}

/// Two blocks that lead from one state to another one that is the same for both.
fn meeting(hash: u64, differences: &[i64; BLOCK]) -> Option<[Vec<u8>; 2]> {
    let low = hash as u8;
    let mut blocks = [Vec::new(), Vec::new()];
    continue_meeting([low, low], differences, &mut blocks).then_some(blocks)
}

/// Finds the next bytes from the lowest bytes of both states; goes back where there is no way on.
fn continue_meeting(lows: [u8; 2], differences: &[i64], blocks: &mut [Vec<u8>; 2]) -> bool {
    let Some((difference, rest)) = differences.split_first() else { return true };
    let products = lows.map(|low| low.wrapping_mul(PRIME as u8));
    let between = difference + i64::from(products[1]) - i64::from(products[0]);
    for first in 0..=u8::MAX {
        let Ok(second) = u8::try_from(i64::from(first) + between) else { continue };
        let next = [first, second];
        for (block, (low, product)) in blocks.iter_mut().zip(next.into_iter().zip(products)) {
            block.push(low ^ product);
        }
        if continue_meeting(next, rest, blocks) {
            return true;
        }
        for block in &mut *blocks {
            block.pop();
        }
    }
    false
}
