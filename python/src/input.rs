//! Reads columns of other libraries: by the Arrow PyCapsule interface, from numpy arrays, or from
//! sequences of objects.

use std::iter;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array as _, ArrayRef, BooleanArray, Date32Array, Int64Array, UInt64Array};
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use bytemuck::Zeroable;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{
    PyImportError, PyNotImplementedError, PyOverflowError, PyTypeError, PyValueError,
};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyCapsule, PyInt, PyString, PyTuple};
use pyo3_arrow::error::PyArrowError;
use pyo3_arrow::ffi::{ArrayIterator, ArrayReader};
use pyo3_arrow::{PyArray, PyArrayReader};

use crate::build::{Bits, Texts};
use crate::bytes;
use crate::capsule::{require_untaken, schema, schema_of_stream};
use crate::items::{self, Item};
use crate::panics::unless_it_panics;
use crate::signals::Turns;

/// The arrays of a column, in order. They can be requested without the GIL. A producer in Python
/// takes it when it needs it.
pub(crate) type Chunks = Box<dyn ArrayReader + Send>;

/// The ends of messages about inputs that a function does not accept.
pub(crate) struct Takes {
    /// Follows the type of an object.
    objects: &'static str,
    /// Follows the dtype of a numpy array.
    arrays: &'static str,
    /// Follows the name of an extension type.
    pub(crate) types: &'static str,
}

/// For functions that hash values unchanged.
pub(crate) const HASHED: Takes = Takes {
    objects: "only str, bytes and other buffers can be hashed; convert other values with \
              pyarrow.array()",
    arrays: "only text, bytes and 64-bit integers can be hashed; convert it with astype()",
    types: "convert it to its storage type or to text",
};

/// For functions that convert values to text first, as databases do.
pub(crate) const WRITTEN: Takes = Takes {
    objects: "a list of values must be of str, int, bool or datetime.date; cast others to text as \
              your database does, or pass a pyarrow.array() with a type",
    arrays: "only text, booleans and 64-bit integers are accepted; convert other integers with \
             astype(), and cast other values to text as your database does",
    types: "cast it to text as your database does",
};

/// Returns an object's column. Messages call it `what`.
pub(crate) fn column(object: &Bound<'_, PyAny>, what: &str, takes: &Takes) -> PyResult<Chunks> {
    if let Some(column) = only_column_of_pandas(object, what)? {
        return self::column(&column, what, takes);
    }
    match by_capsule(object, what)? {
        Some(chunks) => one_column(chunks, what),
        None => by_objects(object, what, takes),
    }
}

/// Returns an object's Arrow data, if it has any: a column, or the rows of a table as structs.
///
/// # Errors
/// `TypeError` for a column of structs, whose rows may be null. It is not a table.
pub(crate) fn by_capsule(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Option<Chunks>> {
    items::refuse_class(object, what)?;
    refuse_types_of_polars(object, what)?;
    let handed = handed_over(object).map_err(|error| refused(object.py(), error, what))?;
    let Some(chunks) = handed else { return Ok(None) };
    match chunks.field().data_type() {
        DataType::Struct(_) if is_series(object)? => return Err(of_structs(what)),
        DataType::Date32 => refuse_moments_of_pandas(object, what)?,
        data_type if is_decimal(data_type) && holds_objects(object)? => {
            return Err(of_decimals(what));
        }
        // Categories of pandas hold each value once, and the values are objects.
        DataType::Dictionary(_, values) => {
            if let Some(of_category) = object.getattr_opt("cat")? {
                // polars has a namespace with this name, too.
                let Some(categories) = of_category.getattr_opt("categories")? else {
                    return Ok(Some(chunks));
                };
                if **values == DataType::Date32 {
                    refuse_moments_of_pandas(&categories, what)?;
                } else if is_decimal(values) && holds_objects(&categories)? {
                    return Err(of_decimals(what));
                }
            }
        }
        _ => {}
    }
    Ok(Some(chunks))
}

/// Returns the column of a pandas frame with only one column. By Arrow the frame would also return
/// its index.
fn only_column_of_pandas<'py>(
    object: &Bound<'py, PyAny>,
    what: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let class = object.get_type();
    if !(class.hasattr("iloc")? && class.hasattr("columns")?) {
        return Ok(None);
    }
    match object.getattr("columns")?.len()? {
        // The index would become the only column.
        0 => return Err(PyValueError::new_err(format!("{what} is a table without columns"))),
        1 => {}
        _ => return Ok(None),
    }
    let mut columns = object.call_method0("items")?.try_iter()?;
    columns.next().map(|pair| pair?.get_item(1)).transpose()
}

/// Returns whether a pandas column holds Python objects, whose type the column does not know.
fn holds_objects(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Some(dtype) = object.getattr_opt("dtype")? else { return Ok(false) };
    if dtype.getattr_opt("kind")?.is_none_or(|kind| !kind.eq("O").unwrap_or(false)) {
        return Ok(false);
    }
    // An Arrow type of pandas creates objects only on request.
    Ok(object.hasattr("tolist")? && !dtype.hasattr("pyarrow_dtype")?)
}

fn is_decimal(data_type: &DataType) -> bool {
    use DataType::{Decimal32, Decimal64, Decimal128, Decimal256};
    matches!(data_type, Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..))
}

fn of_decimals(what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{what} is a column of Decimals, whose number of digits is unknown; pass the type, for \
         example pyarrow.array(values, pyarrow.decimal128(10, 2))"
    ))
}

/// # Errors
/// `TypeError` for a pandas column of objects with datetimes. pandas converts them to dates if the
/// first object is a date.
fn refuse_moments_of_pandas(object: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    if !holds_objects(object)? {
        return Ok(());
    }
    let moment = object.py().import("datetime")?.getattr("datetime")?;
    let mut turns = Turns::new();
    for value in object.call_method0("tolist")?.try_iter()? {
        turns.turn(0)?;
        let value = value?;
        // NaT of pandas is an instance of this class, but means a missing value.
        if value.is_instance(&moment)? && !items::is_missing(&value)? {
            return Err(PyTypeError::new_err(format!(
                "{what} has both dates and datetimes; cast it to text as your database does"
            )));
        }
    }
    Ok(())
}

/// # Errors
/// `TypeError` for a polars column or table with Python objects, which polars exports as their
/// addresses, or of only nulls, whose buffer Arrow does not know.
fn refuse_types_of_polars(object: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    let module: String = object.get_type().getattr("__module__")?.extract()?;
    // The types of a query are unknown before it runs. It is refused later.
    if module.split('.').next() != Some("polars") || object.get_type().name()? == "LazyFrame" {
        return Ok(());
    }
    let types = match object.getattr_opt("dtypes")? {
        Some(types) => types.try_iter()?.collect::<PyResult<Vec<_>>>()?,
        None => object.getattr_opt("dtype")?.into_iter().collect(),
    };
    for dtype in &types {
        let remedy = match dtype.str()?.to_str()? {
            "Object" => "which has no Arrow type; pass .to_list(), or cast it",
            "Null" => "which polars cannot export to Arrow; cast it to polars.String",
            _ => continue,
        };
        return Err(PyTypeError::new_err(format!("{what} has the polars type {dtype}, {remedy}")));
    }
    Ok(())
}

/// # Errors
/// `TypeError` for an extension type such as UUID or month, unless it is stored as text, which
/// shows its meaning. A dictionary has the type of its values.
pub(crate) fn refuse_extension(field: &Field, what: &str, remedy: &str) -> PyResult<()> {
    let stored = field.data_type();
    let Some(extension) = field.extension_type_name() else { return Ok(()) };
    if is_text(stored) {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "{what} has the type {extension}, stored as {stored}; {remedy}"
    )))
}

pub(crate) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Returns a field with the extension type of dictionary values. It is in the schema, but arrow's
/// dictionaries lose it.
fn with_meaning(field: &FieldRef, schema: &FFI_ArrowSchema) -> FieldRef {
    match field.data_type() {
        DataType::Dictionary(_, values) if !is_text(values) => {
            let of_values = schema.dictionary().and_then(|values| values.metadata().ok());
            let meaning = of_values.and_then(|mut words| words.remove(EXTENSION_TYPE_NAME_KEY));
            let Some(meaning) = meaning else { return field.clone() };
            let mut words = field.metadata().clone();
            words.entry(EXTENSION_TYPE_NAME_KEY.to_owned()).or_insert(meaning);
            Arc::new(Field::clone(field).with_metadata(words))
        }
        DataType::Struct(fields) => {
            let columns = fields.iter().zip(schema.children());
            let columns = columns.map(|(field, schema)| with_meaning(field, schema)).collect();
            Arc::new(Field::clone(field).with_data_type(DataType::Struct(columns)))
        }
        _ => field.clone(),
    }
}

/// Returns whether an object is a column: its class has a type, but no columns. The object itself
/// may have attributes with the names of its columns.
pub(crate) fn is_series(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = object.get_type();
    let has_any = |names: &[&str]| {
        names.iter().try_fold(false, |has, &name| Ok::<_, PyErr>(has || class.hasattr(name)?))
    };
    Ok(has_any(&["type", "dtype"])? && !has_any(&["columns", "column_names", "schema"])?)
}

pub(crate) fn of_structs(what: &str) -> PyErr {
    PyTypeError::new_err(format!("{what} is one column of structs; pass its fields as columns"))
}

/// Returns the columns of a table's rows.
///
/// # Errors
/// `TypeError` if a row is null as a whole, as in a column of structs.
pub(crate) fn columns_of(rows: &ArrayRef, what: &str) -> PyResult<Vec<ArrayRef>> {
    if rows.null_count() > 0 {
        return Err(of_structs(what));
    }
    Ok(rows.as_struct().columns().to_vec())
}

/// Adds the name of a column to an error of pyarrow, for example about a pandas column with objects
/// of several kinds. Does the same for errors of the arrow crate about types that it does not know,
/// such as 128-bit integers of polars.
fn refused(py: Python<'_>, error: PyErr, what: &str) -> PyErr {
    let module =
        error.get_type(py).getattr("__module__").and_then(|module| module.extract::<String>());
    let is_pyarrows = module.is_ok_and(|module| module.starts_with("pyarrow"));
    let is_unknown = error.to_string().contains("C Data interface error: The datatype");
    if !is_pyarrows && !is_unknown {
        return error;
    }
    let words = format!(
        "{what} cannot be exported to Arrow: {}; cast it to text or bytes first",
        error.value(py)
    );
    let is_of_type = error.is_instance_of::<PyTypeError>(py)
        || error.is_instance_of::<PyNotImplementedError>(py);
    let named = if is_of_type || is_unknown {
        PyTypeError::new_err(words)
    } else if error.is_instance_of::<PyValueError>(py) {
        PyValueError::new_err(words)
    } else {
        return error;
    };
    named.set_cause(py, Some(error));
    named
}

fn handed_over(object: &Bound<'_, PyAny>) -> PyResult<Option<Chunks>> {
    let py = object.py();
    if object.hasattr(intern!(py, "__arrow_c_array__"))? {
        let capsules = object.call_method0(intern!(py, "__arrow_c_array__"))?;
        let (of_type, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = capsules.extract()?;
        require_untaken(&of_type, &array)?;
        let take = || PyArray::from_arrow_pycapsule(&of_type, &array);
        let taken = unless_it_panics(take).unwrap_or_else(|| Err(not_its_type()))?;
        let (array, field) = taken.into_inner();
        require_length(&array)?;
        let field = with_meaning(&field, schema(&of_type)?);
        return Ok(Some(Box::new(ArrayIterator::new([Ok(array)], field))));
    }
    if object.hasattr(intern!(py, "__arrow_c_stream__"))? {
        let stream = match object.call_method0(intern!(py, "__arrow_c_stream__")) {
            Ok(stream) => stream.cast_into::<PyCapsule>()?,
            // pandas needs pyarrow to export its objects.
            Err(error) if error.is_instance_of::<PyImportError>(py) => return Ok(None),
            Err(error) => return Err(error),
        };
        let of_type = schema_of_stream(&stream)?;
        let reader = PyArrayReader::from_arrow_pycapsule(&stream)?.into_reader()?;
        return Ok(Some(guarded(reader, of_type.as_ref())));
    }
    Ok(None)
}

/// Replaces an array by an error if it does not have the type of the schema.
fn guarded(mut reader: Chunks, schema: Option<&FFI_ArrowSchema>) -> Chunks {
    let field = reader.field();
    let field = schema.map_or(field.clone(), |schema| with_meaning(&field, schema));
    let mut is_at_end = false;
    let arrays = iter::from_fn(move || {
        if is_at_end {
            return None;
        }
        let next = unless_it_panics(|| reader.next()).unwrap_or_else(|| {
            is_at_end = true;
            Some(Err(ArrowError::ExternalError(Box::new(not_its_type()))))
        });
        let next = next.map(|array| {
            let array = array?;
            require_length(&array).map_err(|why| ArrowError::ExternalError(Box::new(why)))?;
            Ok(array)
        });
        is_at_end |= next.is_none();
        next
    });
    Box::new(ArrayIterator::new(arrays, field))
}

/// Checks the length of an array. Arrow takes a negative length for a large one.
fn require_length(array: &ArrayRef) -> PyResult<()> {
    if i64::try_from(array.len()).is_err() { Err(not_its_type()) } else { Ok(()) }
}

fn not_its_type() -> PyErr {
    PyValueError::new_err(
        "this Arrow data does not have the type of its schema, or was already consumed",
    )
}

/// Returns the only column of a table, for example of a query result.
fn one_column(chunks: Chunks, what: &str) -> PyResult<Chunks> {
    let field = chunks.field();
    let DataType::Struct(fields) = field.data_type() else { return Ok(chunks) };
    let [column] = &fields[..] else {
        let names: Vec<_> = fields.iter().map(|field| field.name().as_str()).collect();
        return Err(PyValueError::new_err(format!(
            "{what} is a table of {} columns ({}); pass one of them",
            names.len(),
            names.join(", ")
        )));
    };
    let column = column.clone();
    let what = what.to_owned();
    let arrays = chunks.map(move |rows| match columns_of(&rows?, &what) {
        Ok(mut columns) => Ok(columns.swap_remove(0)),
        Err(error) => Err(ArrowError::ExternalError(Box::new(error))),
    });
    Ok(Box::new(ArrayIterator::new(arrays, column)))
}

fn by_objects(object: &Bound<'_, PyAny>, what: &str, takes: &Takes) -> PyResult<Chunks> {
    let array = match by_dtype(object, what, takes)? {
        Some(array) => array,
        None => of_items(&items::hold(object, what)?, what, takes)?,
    };
    let field = Arc::new(Field::new("", array.data_type().clone(), true));
    Ok(Box::new(ArrayIterator::new([Ok(array)], field)))
}

/// Copies a numpy array of a fixed type, because other threads may write to it.
fn by_dtype(object: &Bound<'_, PyAny>, what: &str, takes: &Takes) -> PyResult<Option<ArrayRef>> {
    let py = object.py();
    let Ok(dtype) = object.getattr(intern!(py, "dtype")) else { return Ok(None) };
    let Ok(kind) = dtype.getattr("kind") else { return Ok(None) };
    if let Ok(dimensions) = object.getattr("ndim")
        && dimensions.extract::<usize>()? != 1
    {
        return Err(PyValueError::new_err(format!(
            "{what} must have 1 dimension, not {dimensions}"
        )));
    }
    // Extension arrays of pandas have no item size, and are read as a list.
    let Ok(width) = dtype.getattr("itemsize") else { return Ok(None) };
    let width: usize = width.extract()?;
    // Masked values are null only in the list of the array.
    let is_plain = object.hasattr("tobytes")? && !object.hasattr("mask")?;
    if is_plain && !dtype.getattr("isnative")?.is_truthy()? && width == 8 {
        // Converts numbers in the byte order of another machine.
        let native = dtype.call_method1("newbyteorder", ("=",))?;
        return by_dtype(&object.call_method1("astype", (native,))?, what, takes);
    }
    let flags = object.getattr_opt("flags")?.filter(|_| is_plain);
    let is_aligned = |flags: &Bound<'_, PyAny>| flags.getattr("aligned")?.is_truthy();
    if !flags.as_ref().map_or(Ok(true), is_aligned)? {
        return by_dtype(&object.call_method0("copy")?, what, takes);
    }
    let kind: &str = kind.extract()?;
    if object.hasattr("filled")? && matches!((kind, width), ("i" | "u", 8)) {
        return masked(object, what, takes).map(Some);
    }
    match (kind, width) {
        ("i", 8) if is_plain => Ok(Some(Arc::new(Int64Array::new(numbers(object)?.into(), None)))),
        ("u", 8) if is_plain => Ok(Some(Arc::new(UInt64Array::new(numbers(object)?.into(), None)))),
        ("S", 1..) if is_plain => {
            let bytes = object.call_method0("tobytes")?;
            padded(bytes.cast::<PyBytes>()?.as_bytes(), width).map(Some)
        }
        ("O" | "S" | "U" | "T" | "b", _) | ("i" | "u", 8) => {
            if !object.hasattr("tolist")? {
                return Err(items::no_sequence(object, what)?);
            }
            let list = object.call_method0("tolist")?;
            of_items(&items::hold(&list, what)?, what, takes).map(Some)
        }
        _ => Err(PyTypeError::new_err(format!("{what} has dtype {dtype}; {}", takes.arrays))),
    }
}

/// Returns the numbers of a masked numpy array, with nulls for masked values. A list would lose the
/// type of the numbers.
fn masked(object: &Bound<'_, PyAny>, what: &str, takes: &Takes) -> PyResult<ArrayRef> {
    let numbers = by_dtype(&object.call_method1("filled", (0,))?, what, takes)?;
    let numbers = numbers.expect("an array of numpy's");
    let masks = object.py().import("numpy")?.getattr("ma")?;
    let mask = masks.call_method1("getmaskarray", (object,))?.call_method0("tobytes")?;
    let mut present = Bits::new(numbers.len())?;
    let mask = mask.cast::<PyBytes>()?.as_bytes().iter().enumerate();
    mask.filter(|(_, is_masked)| **is_masked == 0).for_each(|(row, _)| present.set(row));
    let nulls = present.nulls();
    Ok(match numbers.as_primitive_opt::<UInt64Type>() {
        Some(numbers) => Arc::new(UInt64Array::new(numbers.values().clone(), nulls)),
        None => {
            Arc::new(Int64Array::new(numbers.as_primitive::<Int64Type>().values().clone(), nulls))
        }
    })
}

/// Copies the numbers of an array. There may be more rows than fit into memory, if all rows share
/// one value or are in a file.
fn numbers<T: Element + Zeroable>(array: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    let buffer = PyBuffer::<T>::get(array)?;
    let mut numbers = bytes::zeros(buffer.item_count())?;
    buffer.copy_to_slice(array.py(), &mut numbers)?;
    Ok(numbers)
}

/// Returns rows of one width without trailing zeros, which numpy adds.
fn padded(bytes: &[u8], width: usize) -> PyResult<ArrayRef> {
    let rows = bytes.chunks_exact(width);
    let mut texts = Texts::new(rows.len(), 0)?;
    for row in rows {
        let end = row.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        texts.push(Some(&row[..end]))?;
    }
    Ok(texts.bytes())
}

/// Returns the objects of a sequence as an array. The first object that is not missing decides its
/// type.
fn of_items(tuple: &Bound<'_, PyTuple>, what: &str, takes: &Takes) -> PyResult<ArrayRef> {
    for object in tuple.iter_borrowed() {
        if is_int(&object) {
            return of_ints(tuple, what);
        }
        if object.is_exact_instance_of::<PyBool>() {
            return of_bools(tuple, what);
        }
        if items::is_of_class(&object, "datetime", "date")? {
            return of_dates(tuple, what);
        }
        if !items::is_missing(&object)? {
            break;
        }
    }
    let mut texts = Texts::new(tuple.len(), bytes_of(tuple)?)?;
    let (mut is_text, mut turns) = (true, Turns::new());
    for number in 0..tuple.len() {
        let item = items::item(tuple, number, what, takes.objects)?;
        is_text &= !matches!(item, Item::Bytes(_));
        texts.push(item.bytes())?;
        turns.turn(item.bytes().map_or(0, <[u8]>::len))?;
    }
    if is_text { Ok(texts.text().map_err(PyArrowError::from)?) } else { Ok(texts.bytes()) }
}

/// Returns the total length of all str and bytes of a sequence. Other buffers may change their
/// lengths.
fn bytes_of(tuple: &Bound<'_, PyTuple>) -> PyResult<usize> {
    let (mut total, mut turns) = (0_usize, Turns::new());
    for object in tuple.iter_borrowed() {
        let length = if let Ok(bytes) = object.cast::<PyBytes>() {
            bytes.as_bytes().len()
        } else if let Ok(text) = object.cast::<PyString>() {
            // Text without a UTF-8 form is refused later.
            text.to_str().map_or(0, str::len)
        } else {
            0
        };
        total = total.saturating_add(length);
        turns.turn(length)?;
    }
    Ok(total)
}

fn is_int(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyInt>()
}

fn of_ints(tuple: &Bound<'_, PyTuple>, what: &str) -> PyResult<ArrayRef> {
    let (mut numbers, mut present) = (bytes::zeros(tuple.len())?, Bits::new(tuple.len())?);
    let mut turns = Turns::new();
    for (number, object) in tuple.iter_borrowed().enumerate() {
        turns.turn(0)?;
        if is_int(&object) {
            present.set(number);
            numbers[number] = object.extract::<i64>().map_err(|_| {
                let remedy = match object.extract::<u64>() {
                    Ok(_) => "use a numpy array of uint64, or text",
                    Err(_) => "use text",
                };
                PyOverflowError::new_err(format!(
                    "{what}[{number}] does not fit into a signed 64-bit integer; {remedy}"
                ))
            })?;
        } else if !items::is_missing(&object)? {
            return Err(among(what, number, &object, "integers"));
        }
    }
    Ok(Arc::new(Int64Array::new(numbers.into(), present.nulls())))
}

fn of_bools(tuple: &Bound<'_, PyTuple>, what: &str) -> PyResult<ArrayRef> {
    let (mut bools, mut present) = (Bits::new(tuple.len())?, Bits::new(tuple.len())?);
    let mut turns = Turns::new();
    for (number, object) in tuple.iter_borrowed().enumerate() {
        turns.turn(0)?;
        if let Ok(object) = object.cast::<PyBool>() {
            present.set(number);
            if object.is_true() {
                bools.set(number);
            }
        } else if !items::is_missing(&object)? {
            return Err(among(what, number, &object, "booleans"));
        }
    }
    Ok(Arc::new(BooleanArray::new(bools.buffer(), present.nulls())))
}

fn of_dates(tuple: &Bound<'_, PyTuple>, what: &str) -> PyResult<ArrayRef> {
    /// The `toordinal` of the first day of 1970.
    const EPOCH: i32 = 719_163;
    let (mut dates, mut present) = (bytes::zeros(tuple.len())?, Bits::new(tuple.len())?);
    let (mut turns, mut date) = (Turns::new(), None);
    for (number, object) in tuple.iter_borrowed().enumerate() {
        turns.turn(0)?;
        // A datetime is also an instance of date. Compares class names only once for each class.
        let class = object.get_type();
        if date.as_ref().is_some_and(|date| class.is(date))
            || items::is_of_class(&object, "datetime", "date")?
        {
            date = Some(class);
            let day: i32 = object.call_method0(intern!(tuple.py(), "toordinal"))?.extract()?;
            dates[number] = day - EPOCH;
            present.set(number);
        } else if !items::is_missing(&object)? {
            return Err(among(what, number, &object, "dates"));
        }
    }
    Ok(Arc::new(Date32Array::new(dates.into(), present.nulls())))
}

fn among(what: &str, number: usize, object: &Bound<'_, PyAny>, others: &str) -> PyErr {
    match object.get_type().name() {
        Ok(class) => PyTypeError::new_err(format!(
            "{what}[{number}] has type {class}, but earlier values are {others}"
        )),
        Err(error) => error,
    }
}
