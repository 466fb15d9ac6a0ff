//! Hash objects, with the interface of hashlib.

use std::sync::{Mutex, MutexGuard, PoisonError};

use lanesum_list::Algorithm;
use lanesum_md5::Md5;
use lanesum_siphash::{SipHasher, SipHasher128};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::{PyBytes, PySet};

use crate::algorithm::{ALL, Function, Key};
use crate::bytes::Pieces;
use crate::hex;

/// From this number of bytes on, other threads may run meanwhile, as in hashlib. Releasing the GIL
/// costs more than hashing fewer bytes.
const WITHOUT_GIL: usize = 2048;

/// A hash of bytes that arrive in pieces, with the methods of hashlib objects.
///
/// Several threads may use it. Each update is atomic.
#[pyclass(frozen, module = "lanesum")]
pub(crate) struct Hash {
    algorithm: Algorithm,
    state: Mutex<State>,
}

#[derive(Clone)]
enum State {
    Md5(Md5),
    Siphash24(SipHasher<2, 4>),
    Siphash13(SipHasher<1, 3>),
    Siphash24Wide(SipHasher128<2, 4>),
    Siphash13Wide(SipHasher128<1, 3>),
}

impl State {
    fn new(function: &Function) -> Self {
        match function {
            Function::Md5 => Self::Md5(Md5::new()),
            Function::Siphash24(sip) => Self::Siphash24(sip.hasher()),
            Function::Siphash13(sip) => Self::Siphash13(sip.hasher()),
            Function::Siphash24Wide(sip) => Self::Siphash24Wide(sip.hasher128()),
            Function::Siphash13Wide(sip) => Self::Siphash13Wide(sip.hasher128()),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Md5(state) => state.update(bytes),
            Self::Siphash24(state) => state.update(bytes),
            Self::Siphash13(state) => state.update(bytes),
            Self::Siphash24Wide(state) => state.update(bytes),
            Self::Siphash13Wide(state) => state.update(bytes),
        }
    }

    fn update_all(&mut self, py: Python<'_>, data: &Pieces<'_>) -> PyResult<()> {
        data.for_each(py, |piece| {
            if piece.len() < WITHOUT_GIL {
                self.update(piece);
            } else {
                py.detach(|| self.update(piece));
            }
        })
    }

    /// Returns the digest. Its bytes are in MD5's order, or for SipHash the lowest byte first, as
    /// in the reference implementation.
    fn digest(self, with: impl FnOnce(&[u8])) {
        match self {
            Self::Md5(state) => with(state.finalize().as_bytes()),
            Self::Siphash24(state) => with(&state.finalize().to_le_bytes()),
            Self::Siphash13(state) => with(&state.finalize().to_le_bytes()),
            Self::Siphash24Wide(state) => with(&state.finalize().to_le_bytes()),
            Self::Siphash13Wide(state) => with(&state.finalize().to_le_bytes()),
        }
    }

    fn number(self) -> u128 {
        match self {
            // The number that the hexadecimal digits show.
            Self::Md5(state) => u128::from_be_bytes(*state.finalize().as_bytes()),
            Self::Siphash24(state) => state.finalize().into(),
            Self::Siphash13(state) => state.finalize().into(),
            Self::Siphash24Wide(state) => state.finalize(),
            Self::Siphash13Wide(state) => state.finalize(),
        }
    }
}

/// An optional argument of bytes. A given None is an error, not an absent argument.
pub(crate) struct Data<'a, 'py>(Option<Borrowed<'a, 'py, PyAny>>);

impl<'a, 'py> FromPyObject<'a, 'py> for Data<'a, 'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(Some(object)))
    }
}

impl Hash {
    fn new(function: &Function, data: Data<'_, '_>) -> PyResult<Self> {
        let mut state = State::new(function);
        if let Data(Some(data)) = data {
            state.update_all(data.py(), &Pieces::of(&data)?)?;
        }
        Ok(Self { algorithm: function.algorithm(), state: Mutex::new(state) })
    }

    /// Locks the state. No holder of the lock panics.
    fn state(&self, py: Python<'_>) -> MutexGuard<'_, State> {
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn clone_state(&self, py: Python<'_>) -> State {
        self.state(py).clone()
    }
}

#[pymethods]
impl Hash {
    /// Adds the next bytes, from any object with a buffer: bytes, bytearray, memoryview.
    #[pyo3(signature = (data, /))]
    fn update(&self, data: &Bound<'_, PyAny>) -> PyResult<()> {
        // Before the lock, because this may run Python code that uses this object.
        let pieces = Pieces::of(data)?;
        self.state(data.py()).update_all(data.py(), &pieces)
    }

    /// Returns the digest of all bytes so far.
    ///
    /// For SipHash the lowest byte of the number comes first, as in the reference implementation:
    /// int.from_bytes(h.digest(), "little") is h.intdigest().
    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut made = None;
        self.clone_state(py).digest(|digest| made = Some(PyBytes::new(py, digest)));
        made.expect("every state has a digest")
    }

    /// Returns the digest in lower-case hexadecimal digits, in the order of its bytes.
    fn hexdigest(&self, py: Python<'_>) -> String {
        let mut digits = String::new();
        self.clone_state(py).digest(|digest| digits = hex::digits(digest));
        digits
    }

    /// Returns the digest as a number: for SipHash the one defined in its paper, and for MD5 the
    /// one of its hexadecimal digits.
    fn intdigest(&self, py: Python<'_>) -> u128 {
        self.clone_state(py).number()
    }

    /// Returns an independent copy of the object.
    fn copy(&self, py: Python<'_>) -> Self {
        Self { algorithm: self.algorithm, state: Mutex::new(self.clone_state(py)) }
    }

    /// The name of the algorithm, for lanesum.new().
    #[getter]
    fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    /// The number of bytes in a digest.
    #[getter]
    fn digest_size(&self) -> usize {
        self.algorithm.digest_len()
    }

    /// The block size of the algorithm in bytes.
    #[getter]
    fn block_size(&self) -> usize {
        if self.algorithm == Algorithm::Md5 { lanesum_md5::BLOCK_LEN } else { 8 }
    }

    fn __repr__(&self) -> String {
        format!("<{} lanesum.Hash>", self.algorithm)
    }
}

/// Returns an MD5 object as in hashlib.
///
/// MD5 detects accidental changes, not attacks.
///
/// >>> import lanesum
/// >>> lanesum.md5(b"abc").hexdigest()
/// '900150983cd24fb0d6963f7d28e17f72'
/// >>> h = lanesum.md5()
/// >>> h.update(b"a")
/// >>> h.update(bytearray(b"bc"))
/// >>> h.hexdigest()
/// '900150983cd24fb0d6963f7d28e17f72'
///
/// `usedforsecurity` has no effect and exists for compatibility with hashlib. `string` is an old
/// name of `data` in hashlib.
#[pyfunction]
#[pyo3(
    signature = (data=Data(None), *, usedforsecurity=None, string=Data(None)),
    text_signature = "(data=b'', *, usedforsecurity=True, string=b'')"
)]
pub(crate) fn md5(
    data: Data<'_, '_>,
    usedforsecurity: Option<&Bound<'_, PyAny>>,
    string: Data<'_, '_>,
) -> PyResult<Hash> {
    // Any value is accepted, as in hashlib.
    _ = usedforsecurity;
    match (&data, &string) {
        (Data(Some(_)), Data(Some(_))) => {
            Err(PyTypeError::new_err("string= and data are the same argument; give one of them"))
        }
        (_, Data(Some(_))) => Hash::new(&Function::Md5, string),
        _ => Hash::new(&Function::Md5, data),
    }
}

/// Returns a hash object for the name of an algorithm in lanesum.algorithms_available.
///
/// >>> import lanesum
/// >>> lanesum.new("md5", b"abc").digest_size
/// 16
/// >>> lanesum.new("siphash24", b"abc", key=bytes(range(16))).hexdigest()
/// 'a50720aa53fabc5d'
#[pyfunction]
#[pyo3(
    signature = (name, data=Data(None), *, key=None, usedforsecurity=None),
    text_signature = "(name, data=b'', *, key=None, usedforsecurity=True)"
)]
pub(crate) fn new(
    name: &str,
    data: Data<'_, '_>,
    key: Key<'_, '_>,
    usedforsecurity: Option<&Bound<'_, PyAny>>,
) -> PyResult<Hash> {
    _ = usedforsecurity;
    Hash::new(&Function::named(name, key)?, data)
}

/// The names that lanesum.new(), hash_many() and hash_column() accept.
pub(crate) fn available(py: Python<'_>) -> PyResult<Bound<'_, PySet>> {
    PySet::new(py, ALL.map(Algorithm::name))
}

/// Defines the Python function of an algorithm with a key.
macro_rules! keyed {
    ($(#[$doc:meta])+ $name:ident: $algorithm:ident) => {
        $(#[$doc])+
        #[pyfunction]
        #[pyo3(signature = (data=Data(None), *, key), text_signature = "(data=b'', *, key)")]
        pub(crate) fn $name(
            data: Data<'_, '_>,
            key: &Bound<'_, PyAny>,
        ) -> PyResult<Hash> {
            Hash::new(&Function::new(Algorithm::$algorithm, Some(key))?, data)
        }
    };
}

keyed! {
    /// Returns a hash object of 64-bit SipHash-2-4 under a key of 16 bytes.
    ///
    /// >>> import lanesum
    /// >>> h = lanesum.siphash24(bytes(range(15)), key=bytes(range(16)))
    /// >>> hex(h.intdigest())  # as in the paper's appendix
    /// '0xa129ca6149be45e5'
    /// >>> h.hexdigest()  # the lowest byte first, as in the reference implementation
    /// 'e545be4961ca29a1'
    siphash24: Siphash24
}
keyed! {
    /// Returns a hash object of 64-bit SipHash-1-3 under a key of 16 bytes.
    ///
    /// >>> import lanesum
    /// >>> lanesum.siphash13(b"abc", key=bytes(range(16))).hexdigest()
    /// 'eb4681afe824ce6f'
    siphash13: Siphash13
}
keyed! {
    /// Returns a hash object of 128-bit SipHash-2-4 under a key of 16 bytes.
    ///
    /// >>> import lanesum
    /// >>> lanesum.siphash24_128(b"abc", key=bytes(range(16))).hexdigest()
    /// 'bb96c3a813c9903e3325ef616045abb8'
    siphash24_128: Siphash24Wide
}
keyed! {
    /// Returns a hash object of 128-bit SipHash-1-3 under a key of 16 bytes.
    ///
    /// >>> import lanesum
    /// >>> lanesum.siphash13_128(b"abc", key=bytes(range(16))).hexdigest()
    /// '43753f1546fa1ee8b2d4d501495fd601'
    siphash13_128: Siphash13Wide
}
