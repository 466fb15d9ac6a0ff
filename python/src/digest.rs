//! Hash objects, with the interface of hashlib.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::{PyBytes, PyInt, PySet};

use crate::algorithm::{Algorithm, Function, Key, names};
use crate::bytes::Pieces;
use crate::hashes::Object;
use crate::hex;

/// From this number of bytes on, other threads may run meanwhile, as in hashlib. Releasing the GIL
/// costs more than hashing fewer bytes.
const WITHOUT_GIL: usize = 2048;

/// A hash of bytes that arrive in pieces, with the methods of hashlib objects.
///
/// Several threads may use it. Each update is atomic.
#[pyclass(frozen, module = "lanesum")]
pub(crate) struct Hash {
    algorithm: &'static Algorithm,
    state: Mutex<Box<dyn Object>>,
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
        let mut state = function.object();
        if let Data(Some(data)) = data {
            update(&mut *state, data.py(), &Pieces::of(&data)?)?;
        }
        Ok(Self { algorithm: function.algorithm, state: Mutex::new(state) })
    }

    /// Locks the state. No holder of the lock panics.
    fn state(&self, py: Python<'_>) -> MutexGuard<'_, Box<dyn Object>> {
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

fn update(state: &mut dyn Object, py: Python<'_>, data: &Pieces<'_>) -> PyResult<()> {
    data.for_each(py, |piece| {
        if piece.len() < WITHOUT_GIL {
            state.update(piece);
        } else {
            py.detach(|| state.update(piece));
        }
    })
}

#[pymethods]
impl Hash {
    /// Adds the next bytes, from any object with a buffer: bytes, bytearray, memoryview.
    #[pyo3(signature = (data, /))]
    fn update(&self, data: &Bound<'_, PyAny>) -> PyResult<()> {
        // Before the lock, because this may run Python code that uses this object.
        let pieces = Pieces::of(data)?;
        update(&mut **self.state(data.py()), data.py(), &pieces)
    }

    /// Returns the digest of all bytes so far.
    ///
    /// For SipHash the lowest byte of the number comes first, as in the reference implementation:
    /// int.from_bytes(h.digest(), "little") is h.intdigest().
    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut made = None;
        self.state(py).digest(&mut |digest| made = Some(PyBytes::new(py, digest)));
        made.expect("every state has a digest")
    }

    /// Returns the digest in lower-case hexadecimal digits, in the order of its bytes.
    fn hexdigest(&self, py: Python<'_>) -> String {
        let mut digits = String::new();
        self.state(py).digest(&mut |digest| digits = hex::digits(digest));
        digits
    }

    /// Returns the digest as a number: for SipHash the one defined in its paper, and for other
    /// algorithms the one of the hexadecimal digits.
    fn intdigest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let order = if self.algorithm.takes_numbers { "little" } else { "big" };
        py.get_type::<PyInt>().call_method1("from_bytes", (self.digest(py), order))
    }

    /// Returns an independent copy of the object.
    fn copy(&self, py: Python<'_>) -> Self {
        Self { algorithm: self.algorithm, state: Mutex::new(self.state(py).copy()) }
    }

    /// The name of the algorithm, for lanesum.new().
    #[getter]
    fn name(&self) -> &'static str {
        self.algorithm.name
    }

    /// The number of bytes in a digest.
    #[getter]
    fn digest_size(&self) -> usize {
        self.algorithm.digest_len
    }

    /// The block size of the algorithm in bytes.
    #[getter]
    fn block_size(&self) -> usize {
        self.algorithm.block_len
    }

    fn __repr__(&self) -> String {
        format!("<{} lanesum.Hash>", self.algorithm.name)
    }
}

/// Defines the Python function of an algorithm of hashlib.
macro_rules! as_in_hashlib {
    ($(#[$doc:meta])+ $name:ident) => {
        $(#[$doc])+
        ///
        /// `data` is bytes or another object with a buffer. `usedforsecurity` has no effect and
        /// exists for compatibility with hashlib. `string` is an old name of `data` in hashlib.
        #[pyfunction]
        #[pyo3(
            signature = (data=Data(None), *, usedforsecurity=None, string=Data(None)),
            text_signature = "(data=b'', *, usedforsecurity=True, string=b'')"
        )]
        pub(crate) fn $name(
            data: Data<'_, '_>,
            usedforsecurity: Option<&Bound<'_, PyAny>>,
            string: Data<'_, '_>,
        ) -> PyResult<Hash> {
            // Any value is accepted, as in hashlib.
            _ = usedforsecurity;
            Hash::new(&Function::named(stringify!($name), None)?, one_of(data, string)?)
        }
    };
}

fn one_of<'a, 'py>(data: Data<'a, 'py>, string: Data<'a, 'py>) -> PyResult<Data<'a, 'py>> {
    match (&data, &string) {
        (Data(Some(_)), Data(Some(_))) => {
            Err(PyTypeError::new_err("string= and data are the same argument; give one of them"))
        }
        (_, Data(Some(_))) => Ok(string),
        _ => Ok(data),
    }
}

as_in_hashlib! {
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
    md5
}
as_in_hashlib! {
    /// Returns a SHA-1 object as in hashlib.
    ///
    /// SHA-1 detects accidental changes, not attacks.
    ///
    /// >>> import lanesum
    /// >>> lanesum.sha1(b"abc").hexdigest()
    /// 'a9993e364706816aba3e25717850c26c9cd0d89d'
    sha1
}
as_in_hashlib! {
    /// Returns a SHA-256 object as in hashlib.
    ///
    /// >>> import lanesum
    /// >>> lanesum.sha256(b"abc").hexdigest()
    /// 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    sha256
}
as_in_hashlib! {
    /// Returns a SHA-512 object as in hashlib.
    ///
    /// >>> import lanesum
    /// >>> lanesum.sha512(b"abc").hexdigest()[:32]
    /// 'ddaf35a193617abacc417349ae204131'
    sha512
}

/// Returns a hash object for the name of an algorithm in lanesum.algorithms_available.
///
/// >>> import lanesum
/// >>> lanesum.new("md5", b"abc").digest_size
/// 16
/// >>> lanesum.new("siphash24", b"abc", key=bytes(range(16))).hexdigest()
/// 'a50720aa53fabc5d'
///
/// `data` is bytes or another object with a buffer. `key` is the secret of an algorithm with a key:
/// 16 bytes for SipHash, 32 for BLAKE3, and any number except 0 for HMAC. `usedforsecurity` has no
/// effect. Raises ValueError for an unknown name or a key of the wrong length, and TypeError for a
/// missing or useless key.
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
    PySet::new(py, names())
}

/// Defines the Python function of an algorithm with a key.
macro_rules! keyed {
    ($(#[$doc:meta])+ $name:ident) => {
        $(#[$doc])+
        #[pyfunction]
        #[pyo3(signature = (data=Data(None), *, key), text_signature = "(data=b'', *, key)")]
        pub(crate) fn $name(
            data: Data<'_, '_>,
            key: &Bound<'_, PyAny>,
        ) -> PyResult<Hash> {
            Hash::new(&Function::named(stringify!($name), Some(key))?, data)
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
    siphash24
}
keyed! {
    /// Returns a hash object of 64-bit SipHash-1-3 under a key of 16 bytes.
    ///
    /// >>> import lanesum
    /// >>> lanesum.siphash13(b"abc", key=bytes(range(16))).hexdigest()
    /// 'eb4681afe824ce6f'
    siphash13
}
keyed! {
    /// Returns a hash object of 128-bit SipHash-2-4 under a key of 16 bytes.
    ///
    /// >>> import lanesum
    /// >>> lanesum.siphash24_128(b"abc", key=bytes(range(16))).hexdigest()
    /// 'bb96c3a813c9903e3325ef616045abb8'
    siphash24_128
}
keyed! {
    /// Returns a hash object of 128-bit SipHash-1-3 under a key of 16 bytes.
    ///
    /// >>> import lanesum
    /// >>> lanesum.siphash13_128(b"abc", key=bytes(range(16))).hexdigest()
    /// '43753f1546fa1ee8b2d4d501495fd601'
    siphash13_128
}
