//! Sequences of Python's objects that are messages: bytes, text, and whatever has a buffer.

use std::borrow::Cow;

use pyo3::exceptions::{PyBufferError, PyTypeError, PyUnicodeEncodeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyByteArray, PyBytes, PyFloat, PyFrozenSet, PyList, PyMapping, PyMemoryView, PySet, PyString,
    PyTuple, PyType,
};

use crate::bytes;

/// One object of a sequence, for as long as the sequence is held.
pub(crate) enum Item<'a> {
    /// Where it is, if it cannot change; otherwise a copy.
    Bytes(Cow<'a, [u8]>),
    /// In UTF-8. Python keeps that beside a text which is not ASCII.
    Text(&'a str),
    /// `None`, or what stands for nothing in columns of objects: a float or decimal that is no
    /// number, and pandas' own two.
    Missing,
}

impl Item<'_> {
    /// Nothing for [`Item::Missing`].
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Text(text) => Some(text.as_bytes()),
            Self::Missing => None,
        }
    }
}

/// A tuple of what a sequence or iterator holds: it keeps everything alive, and does not change
/// meanwhile.
///
/// # Errors
/// `TypeError` for one message in the place of many, for dicts, sets, tables, classes and arrays of
/// several dimensions, and for what cannot be iterated over.
pub(crate) fn hold<'py>(sequence: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyTuple>> {
    let tuple_of = sequence.py().get_type::<PyTuple>();
    // A class of somebody's own may give others than it holds.
    if sequence.is_exact_instance_of::<PyList>() {
        // Not `to_tuple`, which panics where there is no room.
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
        return Err(PyTypeError::new_err(format!("{what} is one {class}; give a list of them")));
    }
    let is_unordered = sequence.is_instance_of::<PyMapping>()
        || sequence.is_instance_of::<PySet>()
        || sequence.is_instance_of::<PyFrozenSet>();
    if is_unordered {
        return Err(PyTypeError::new_err(format!(
            "{what} is a {class}, whose order or values would be lost; give a list"
        )));
    }
    // It has no rows yet.
    let is_query = class == "LazyFrame";
    if !is_query && is_table(&sequence.get_type())? {
        let problem = format!("{what} is a table, a {class}; give one of its columns");
        return Err(PyTypeError::new_err(problem));
    }
    if let Some(dimensions) = sequence.getattr_opt(intern!(sequence.py(), "ndim"))?
        && !dimensions.eq(1)?
    {
        return Err(PyTypeError::new_err(format!("{what} has {dimensions} dimensions; give one")));
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
        // A query that has not run may refuse its first item. What a generator raises is its own.
        if makes_one(&sequence.get_type()).is_some() { refused(error) } else { error }
    })?;
    Ok(tuple.cast_into::<PyTuple>()?)
}

/// Whether an object is a buffer of bytes, one behind the other, as a mapped file or an array of
/// ctypes: iterated over, it would be as many messages. Arrays of numbers, of Python or numpy, are
/// no bytes.
fn is_bytes(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = object.get_type();
    if *class.module()?.to_cow()? == *"array" || class.hasattr("dtype")? {
        return Ok(false);
    }
    let Ok(view) = PyMemoryView::from(object) else { return Ok(false) };
    Ok(view.getattr("itemsize")?.eq(1)? && view.getattr("ndim")?.eq(1)?)
}

/// # Errors
/// `TypeError` for a class, which has the attributes that its objects have.
pub(crate) fn refuse_class(object: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    let Ok(class) = object.cast::<PyType>() else { return Ok(()) };
    let problem = format!("{what} is a class, {}; give an object of it", class.name()?);
    Err(PyTypeError::new_err(problem))
}

/// That an object is no sequence, and what makes one of a query that has not run.
pub(crate) fn no_sequence(object: &Bound<'_, PyAny>, what: &str) -> PyResult<PyErr> {
    let class = object.get_type();
    let remedy = makes_one(&class).map(|name| format!("; give what {name}() makes of it"));
    Ok(PyTypeError::new_err(format!(
        "{what} is of type {}, which is no sequence{}",
        class.name()?,
        remedy.unwrap_or_default()
    )))
}

/// What makes a sequence of an object of a class: of polars' queries, and of Dask's.
fn makes_one(class: &Bound<'_, PyType>) -> Option<&'static str> {
    ["collect", "compute"].into_iter().find(|name| class.hasattr(*name).unwrap_or_default())
}

/// Whether a class has columns, which are what comes of iterating over its objects, or their names:
/// of pandas, polars, pyarrow, DuckDB, arro3, and our own.
fn is_table(class: &Bound<'_, PyType>) -> PyResult<bool> {
    Ok(class.hasattr("columns")? || class.hasattr("column_names")?)
}

/// What are messages, behind the type of an object that is none.
pub(crate) const MESSAGES: &str = "str, bytes or another buffer can be hashed";

/// The object of a number in a sequence. `known` says which objects are right.
///
/// # Errors
/// `TypeError` for what is no message, which it names by `what` and its number, `BufferError` for
/// bytes that do not lie one behind the other, and `UnicodeEncodeError` for text with half a
/// surrogate pair.
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
                // Its words are of the place within the text.
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
    // The memory of a number of numpy is no more a message than a number of Python's is.
    let copy = if is_scalar(&object)? {
        Err(PyTypeError::new_err("a scalar of numpy"))
    } else {
        bytes::copy(&object)
    };
    match copy {
        Ok(bytes) => Ok(Item::Bytes(Cow::Owned(bytes))),
        Err(error) if error.is_instance_of::<PyTypeError>(object.py()) => {
            let class = object.get_type().name()?;
            Err(PyTypeError::new_err(format!("{what}[{number}] is of type {class}; {known}")))
        }
        Err(error) if error.is_instance_of::<PyBufferError>(object.py()) => {
            let words = format!("{what}[{number}]: {}", error.value(object.py()));
            Err(PyBufferError::new_err(words))
        }
        Err(error) => Err(error),
    }
}

/// Whether an object stands for nothing.
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
        // pyarrow has a null of every type.
        return Ok(!object.getattr(intern!(object.py(), "is_valid"))?.is_truthy()?);
    }
    Ok(["NAType", "NaTType"].contains(&&*name) && module.starts_with("pandas."))
}

fn is_scalar_of_pyarrow(name: &str, module: &str) -> bool {
    name.ends_with("Scalar") && module.starts_with("pyarrow.")
}

/// Whether an object that stands for nothing does so to pandas, too: a decimal that signals that it
/// is no number is refused there, and a null of pyarrow's is the text that Python makes of it.
pub(crate) fn is_missing_to_pandas(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = object.get_type();
    if is_of_class(object, "decimal", "Decimal")? {
        return Ok(!object.call_method0(intern!(object.py(), "is_snan"))?.is_truthy()?);
    }
    Ok(!is_scalar_of_pyarrow(&class.name()?.to_cow()?, &class.module()?.to_cow()?))
}

/// Whether an object is of this class, and of none below it. By its names: what is not imported yet
/// stays so, and a module of the same name that is another does no harm.
pub(crate) fn is_of_class(object: &Bound<'_, PyAny>, module: &str, name: &str) -> PyResult<bool> {
    let class = object.get_type();
    Ok(*class.name()?.to_cow()? == *name && *class.module()?.to_cow()? == *module)
}

/// Whether an object is one value of numpy, which has a buffer, of how it lies in memory.
fn is_scalar(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    if !object.hasattr(intern!(py, "dtype"))? {
        return Ok(false);
    }
    // Whoever has one has imported numpy.
    let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
    match modules.get_item(intern!(py, "numpy")) {
        Ok(numpy) => object.is_instance(&numpy.getattr(intern!(py, "generic"))?),
        Err(_) => Ok(false),
    }
}
