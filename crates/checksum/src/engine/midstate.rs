//! The state of computations after the first bytes of a file, so that a long file can be read in
//! several runs.

use lanesum_list::{Algorithm, Algorithms};

use super::hashers::Hashers;
use super::subtrees::CHUNK_LEN;

/// The state of the computations over a file after its first bytes, which are whole
/// [chunks](CHUNK_LEN). It reveals as much about these bytes as their digests would.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Midstate {
    bytes: u64,
    /// The states in the order of [`Algorithm::ALL`], empty before the first byte.
    states: Vec<(Algorithm, Vec<u8>)>,
}

impl Midstate {
    /// Makes a midstate of computations after these bytes.
    pub(super) fn new(bytes: u64, mut states: Vec<(Algorithm, Vec<u8>)>) -> Self {
        states.sort_unstable();
        Self { bytes, states }
    }

    /// Returns whether all of these algorithms have a storable state. The XXH algorithms and those
    /// with a key have none.
    #[must_use]
    pub fn exists_of(algorithms: Algorithms) -> bool {
        // Algorithms that need a key cannot start without one.
        Hashers::new(algorithms, None).is_ok_and(|hashers| hashers.save().is_some())
    }

    /// Returns the number of bytes before this state.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the algorithms of the state, none before the first byte.
    #[must_use]
    pub fn algorithms(&self) -> Algorithms {
        self.states.iter().map(|&(algorithm, _)| algorithm).collect()
    }

    pub(super) fn of(&self, algorithm: Algorithm) -> Option<&[u8]> {
        self.states.iter().find(|(of, _)| *of == algorithm).map(|(_, state)| &**state)
    }

    /// Returns the state as bytes, for [`from_bytes`](Self::from_bytes).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.bytes.to_le_bytes().to_vec();
        for (algorithm, state) in &self.states {
            let name = algorithm.name().as_bytes();
            for part in [name, state] {
                bytes.extend((part.len() as u16).to_le_bytes());
                bytes.extend(part);
            }
        }
        bytes
    }

    /// Parses the bytes of [`to_bytes`](Self::to_bytes). Returns `None` for other bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (length, mut rest) = bytes.split_first_chunk()?;
        let mut states = Vec::new();
        while !rest.is_empty() {
            let name = str::from_utf8(take_part(&mut rest)?).ok()?;
            states.push((name.parse().ok()?, take_part(&mut rest)?.to_vec()));
        }
        let midstate = Self { bytes: u64::from_le_bytes(*length), states };
        let is_whole = midstate.bytes.is_multiple_of(CHUNK_LEN);
        let is_sorted = midstate.states.is_sorted_by(|(one, _), (other, _)| one < other);
        let is_begun = midstate.bytes > 0;
        let is_usable = is_begun != midstate.states.is_empty()
            && Hashers::behind(midstate.algorithms(), None, &midstate).is_ok();
        (is_whole && is_sorted && is_usable).then_some(midstate)
    }
}

/// Splits off a part with a length prefix.
fn take_part<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (part, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
    *bytes = rest;
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_all() -> Algorithms {
        Algorithms::ALL.iter().filter(|&it| Midstate::exists_of(it.into())).collect()
    }

    #[test]
    fn algorithms_with_a_midstate_are_listed() {
        let names: Vec<_> = of_all().iter().map(Algorithm::name).collect();
        let expected = [
            "md5",
            "sha1",
            "sha224",
            "sha256",
            "sha384",
            "sha512",
            "blake3",
            "sha512-256",
            "crc32c",
            "crc32",
            "crc64nvme",
        ];
        assert_eq!(names, expected);
        assert!(!Midstate::exists_of(of_all().with(Algorithm::Xxh128)));
    }

    #[test]
    fn a_midstate_round_trips_and_invalid_ones_fail() {
        assert_eq!(
            Midstate::from_bytes(&Midstate::default().to_bytes()),
            Some(Midstate::default())
        );
        let mut hashers = Hashers::new(of_all(), None).unwrap();
        let chunk = vec![7; CHUNK_LEN as usize];
        hashers.update(&chunk);
        let midstate = Midstate::new(CHUNK_LEN, hashers.save().unwrap());
        let bytes = midstate.to_bytes();
        assert_eq!(Midstate::from_bytes(&bytes), Some(midstate));
        for end in 0..bytes.len() {
            // A midstate may have fewer algorithms.
            if let Some(part) = Midstate::from_bytes(&bytes[..end]) {
                assert!(!part.algorithms().is_empty() && part.algorithms() != of_all(), "{end}");
            }
        }
        let mut other = bytes.clone();
        other[0] = 1;
        assert_eq!(Midstate::from_bytes(&other), None, "no whole chunk");
        other[..8].fill(0);
        assert_eq!(Midstate::from_bytes(&other), None, "states of nothing");
        other = bytes;
        other[10] = b'?';
        assert_eq!(Midstate::from_bytes(&other), None, "no name of an algorithm");
    }
}
