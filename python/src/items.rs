//! Sequences of Python objects that are messages: bytes, text, and other buffers.

use std::borrow::Cow;

use pyo3::exceptions::{PyBufferError, PyTypeError, PyUnicodeEncodeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyByteArray, PyBytes, PyFloat, PyFrozenSet, PyList, PyMapping, PyMemoryView, PySet, PyString,
    PyTuple, PyType,
};

use crate::bytes;

/// One object of a sequence, borrowed from it.
pub(crate) enum Item<'a> {
    /// In place if the object cannot change, and otherwise a copy.
    Bytes(Cow<'a, [u8]>),
    /// UTF-8, which Python caches for text that is not ASCII.
    Text(&'a str),
    /// `None`, or a missing value of a column of objects: a float or Decimal NaN, and NA and NaT of
    /// pandas.
    Missing,
}

impl Item<'_> {
    /// Returns None for [`Item::Missing`].
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Text(text) => Some(text.as_bytes()),
            Self::Missing => None,
        }
    }
}

/// Returns the items of a sequence or iterator as a tuple, which keeps all items alive and does not
/// change.
///
/// # Errors
/// `TypeError` for a single message, for dicts, sets, tables, classes and arrays of several
/// dimensions, and for objects that are not iterable.
pub(crate) fn hold<'py>(sequence: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyTuple>> {
    let tuple_of = sequence.py().get_type::<PyTuple>();
    // A subclass may return items that it does not hold.
    if sequence.is_exact_instance_of::<PyList>() {
        // `to_tuple` panics if there is not enough memory.
        return Ok(tuple_of.call1((sequence,))?.cast_into::<PyTuple>()?);
    }
    if let Ok(tuple) = sequence.cast_exact::<PyTuple>() {
        return Ok(tuple.clone());
    }
    refuse_class(sequence, what)?;
    let is_one = sequence.is_instance_of::<PyString>()
        || sequence.is_instance_of::<PyBytes>()
        || sequence.is_instance_of::<PyByteArray>()
        || sequence.is_instance_of::<PyMemoryView>()
        || is_bytes(sequence)?;
    let class = sequence.get_type().name()?;
    if is_one {
        return Err(PyTypeError::new_err(format!("{what} is a single {class}; pass a list")));
    }
    let is_unordered = sequence.is_instance_of::<PyMapping>()
        || sequence.is_instance_of::<PySet>()
        || sequence.is_instance_of::<PyFrozenSet>();
    if is_unordered {
        return Err(PyTypeError::new_err(format!(
            "{what} must be a sequence, not {class}; pass a list"
        )));
    }
    // A query has no rows before it runs.
    let is_query = class == "LazyFrame";
    if !is_query && is_table(&sequence.get_type())? {
        let problem =
            format!("{what} must be a column, not a table ({class}); pass one of its columns");
        return Err(PyTypeError::new_err(problem));
    }
    if let Some(dimensions) = sequence.getattr_opt(intern!(sequence.py(), "ndim"))?
        && !dimensions.eq(1)?
    {
        return Err(PyTypeError::new_err(format!(
            "{what} must have 1 dimension, not {dimensions}"
        )));
    }
    let py = sequence.py();
    let refused = |error: PyErr| {
        if !error.is_instance_of::<PyTypeError>(py) {
            return error;
        }
        let named = no_sequence(sequence, what).unwrap_or_else(|error| error);
        named.set_cause(py, Some(error));
        named
    };
    let items = sequence.try_iter().map_err(refused)?;
    let tuple = tuple_of.call1((items,)).map_err(|error| {
        // A query may refuse its first item. Exceptions of a generator are passed on.
        if makes_one(&sequence.get_type()).is_some() { refused(error) } else { error }
    })?;
    Ok(tuple.cast_into::<PyTuple>()?)
}

/// Returns whether an object is a contiguous buffer of bytes, such as a mapped file or a ctypes
/// array. Iterating over it would return one message per byte. Arrays of numbers, of Python or
/// numpy, are not bytes.
fn is_bytes(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = object.get_type();
    if *class.module()?.to_cow()? == *"array" || class.hasattr("dtype")? {
        return Ok(false);
    }
    let Ok(view) = PyMemoryView::from(object) else { return Ok(false) };
    Ok(view.getattr("itemsize")?.eq(1)? && view.getattr("ndim")?.eq(1)?)
}

/// # Errors
/// `TypeError` for a class. It has the attributes of its objects, so other checks accept it.
pub(crate) fn refuse_class(object: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    let Ok(class) = object.cast::<PyType>() else { return Ok(()) };
    let problem = format!("{what} is the class {}; pass an instance of it", class.name()?);
    Err(PyTypeError::new_err(problem))
}

/// Returns the error for an object that is not a sequence. For a query it names the method that
/// runs it.
pub(crate) fn no_sequence(object: &Bound<'_, PyAny>, what: &str) -> PyResult<PyErr> {
    let class = object.get_type();
    let remedy = makes_one(&class).map(|name| format!("; pass the result of its {name}()"));
    Ok(PyTypeError::new_err(format!(
        "{what} must be a sequence, not {}{}",
        class.name()?,
        remedy.unwrap_or_default()
    )))
}

/// Returns the method that runs a query of polars or Dask.
fn makes_one(class: &Bound<'_, PyType>) -> Option<&'static str> {
    ["collect", "compute"].into_iter().find(|name| class.hasattr(*name).unwrap_or_default())
}

/// Returns whether a class is a table of pandas, polars, pyarrow, DuckDB, arro3 or this package.
/// Iterating over it returns columns or their names.
fn is_table(class: &Bound<'_, PyType>) -> PyResult<bool> {
    Ok(class.hasattr("columns")? || class.hasattr("column_names")?)
}

/// Follows the type of an object that is not a message.
pub(crate) const MESSAGES: &str = "only str, bytes and other buffers can be hashed";

/// Returns the object with an index in a sequence. `known` says which objects are accepted.
///
/// # Errors
/// `TypeError` for an object that is not a message, with `what` and its index, `BufferError` for a
/// buffer that is not contiguous, and `UnicodeEncodeError` for text with half a surrogate pair.
pub(crate) fn item<'a>(
    tuple: &'a Bound<'_, PyTuple>,
    number: usize,
    what: &str,
    known: &str,
) -> PyResult<Item<'a>> {
    let object = tuple.get_borrowed_item(number)?;
    if object.is_instance_of::<PyBytes>() {
        return Ok(Item::Bytes(Cow::Borrowed(object.extract::<&'a [u8]>()?)));
    }
    if object.is_instance_of::<PyString>() {
        let text = object.extract::<&'a str>().map_err(|error| {
            if error.is_instance_of::<PyUnicodeEncodeError>(tuple.py()) {
                // The error has only the index within the text.
                let note = format!("in {what}[{number}]");
                if let Err(error) = error.value(tuple.py()).call_method1("add_note", (note,)) {
                    return error;
                }
            }
            error
        });
        return Ok(Item::Text(text?));
    }
    if is_missing(&object)? {
        return Ok(Item::Missing);
    }
    // A numpy number has a buffer, but is not a message.
    let copy = if is_scalar(&object)? {
        Err(PyTypeError::new_err("a scalar of numpy"))
    } else {
        bytes::copy(&object)
    };
    match copy {
        Ok(bytes) => Ok(Item::Bytes(Cow::Owned(bytes))),
        Err(error) if error.is_instance_of::<PyTypeError>(object.py()) => {
            let class = object.get_type().name()?;
            Err(PyTypeError::new_err(format!("{what}[{number}] has type {class}; {known}")))
        }
        Err(error) if error.is_instance_of::<PyBufferError>(object.py()) => {
            let words = format!("{what}[{number}]: {}", error.value(object.py()));
            Err(PyBufferError::new_err(words))
        }
        Err(error) => Err(error),
    }
}

/// Returns whether an object means a missing value.
pub(crate) fn is_missing(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if object.is_none() || object.cast::<PyFloat>().is_ok_and(|float| float.value().is_nan()) {
        return Ok(true);
    }
    let class = object.get_type();
    let name = class.name()?;
    if is_of_class(object, "decimal", "Decimal")? {
        return object.call_method0(intern!(object.py(), "is_nan"))?.is_truthy();
    }
    let (name, module) = (name.to_cow()?, class.module()?);
    let module = module.to_cow()?;
    if is_scalar_of_pyarrow(&name, &module) {
        // Every type of pyarrow has a null.
        return Ok(!object.getattr(intern!(object.py(), "is_valid"))?.is_truthy()?);
    }
    Ok(["NAType", "NaTType"].contains(&&*name) && module.starts_with("pandas."))
}

fn is_scalar_of_pyarrow(name: &str, module: &str) -> bool {
    name.ends_with("Scalar") && module.starts_with("pyarrow.")
}

/// Returns whether a missing value is also missing in pandas. pandas refuses signaling NaNs of
/// Decimal, and converts nulls of pyarrow to text.
pub(crate) fn is_missing_to_pandas(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = object.get_type();
    if is_of_class(object, "decimal", "Decimal")? {
        return Ok(!object.call_method0(intern!(object.py(), "is_snan"))?.is_truthy()?);
    }
    Ok(!is_scalar_of_pyarrow(&class.name()?.to_cow()?, &class.module()?.to_cow()?))
}

/// Returns whether an object is of exactly this class. Compares names, so that the module need not
/// be imported.
pub(crate) fn is_of_class(object: &Bound<'_, PyAny>, module: &str, name: &str) -> PyResult<bool> {
    let class = object.get_type();
    Ok(*class.name()?.to_cow()? == *name && *class.module()?.to_cow()? == *module)
}

/// Returns whether an object is a numpy scalar, which has a buffer with its memory.
fn is_scalar(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    if !object.hasattr(intern!(py, "dtype"))? {
        return Ok(false);
    }
    // numpy is imported if there is such an object.
    let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
    match modules.get_item(intern!(py, "numpy")) {
        Ok(numpy) => object.is_instance(&numpy.getattr(intern!(py, "generic"))?),
        Err(_) => Ok(false),
    }
}
