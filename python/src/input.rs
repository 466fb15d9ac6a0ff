//! Columns as other libraries hand them over: by the Arrow PyCapsule interface, as numpy's arrays,
//! or as sequences of objects.

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

/// The arrays of a column, one after the other. They may be asked for without the GIL: whoever
/// makes them takes it where it is needed.
pub(crate) type Chunks = Box<dyn ArrayReader + Send>;

/// What a function takes but Arrow's arrays, in the words of messages.
pub(crate) struct Takes {
    /// Behind the type of an object that it does not take.
    objects: &'static str,
    /// Behind the type of an array of numpy's that it does not take.
    arrays: &'static str,
    /// Behind a type that says what its storage means.
    pub(crate) types: &'static str,
}

/// What is hashed as it is.
pub(crate) const HASHED: Takes = Takes {
    objects: "str, bytes or another buffer can be hashed; of other values pyarrow.array() makes a \
              column with a type",
    arrays: "text, bytes and 64-bit integers can be hashed, and astype() makes one of these of it",
    types: "give what it is stored as, or cast it to text",
};

/// What is written as text first, as databases do.
pub(crate) const WRITTEN: Takes = Takes {
    objects: "a list of a key's values is of str, of int, of bool or of datetime.date; cast others \
              to text as your database does, or give pyarrow.array() with a type",
    arrays: "text, booleans and 64-bit integers are values of a key; astype() makes them of other \
             integers, and others are to be cast to text as your database does",
    types: "cast it to text as your database does",
};

/// The column that an object is, which messages call `what`.
pub(crate) fn column(object: &Bound<'_, PyAny>, what: &str, takes: &Takes) -> PyResult<Chunks> {
    if let Some(column) = only_column_of_pandas(object, what)? {
        return self::column(&column, what, takes);
    }
    match by_capsule(object, what)? {
        Some(chunks) => one_column(chunks, what),
        None => by_objects(object, what, takes),
    }
}

/// What an object hands over as Arrow, if it does: a column, or a table's rows as structs.
///
/// # Errors
/// `TypeError` for a column of structs, which is no table: a row of it may be null as a whole.
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
        // A category of pandas has its values, which are objects, once each.
        DataType::Dictionary(_, values) => {
            if let Some(of_category) = object.getattr_opt("cat")? {
                // polars has a namespace of this name, too.
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

/// The column of a frame of pandas that has but one, without its index, which it would hand over,
/// too.
fn only_column_of_pandas<'py>(
    object: &Bound<'py, PyAny>,
    what: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let class = object.get_type();
    if !(class.hasattr("iloc")? && class.hasattr("columns")?) {
        return Ok(None);
    }
    match object.getattr("columns")?.len()? {
        // Its index would be its only column.
        0 => return Err(PyValueError::new_err(format!("{what} is a table of 0 columns"))),
        1 => {}
        _ => return Ok(None),
    }
    let mut columns = object.call_method0("items")?.try_iter()?;
    columns.next().map(|pair| pair?.get_item(1)).transpose()
}

/// Whether a column of pandas holds Python's objects, of which the column does not know the type.
fn holds_objects(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Some(dtype) = object.getattr_opt("dtype")? else { return Ok(false) };
    if dtype.getattr_opt("kind")?.is_none_or(|kind| !kind.eq("O").unwrap_or(false)) {
        return Ok(false);
    }
    // One of Arrow's own types has objects only once they are asked for.
    Ok(object.hasattr("tolist")? && !dtype.hasattr("pyarrow_dtype")?)
}

fn is_decimal(data_type: &DataType) -> bool {
    use DataType::{Decimal32, Decimal64, Decimal128, Decimal256};
    matches!(data_type, Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..))
}

fn of_decimals(what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{what} is a column of Decimals, which do not tell how many digits it has; give \
         pyarrow.array(values, pyarrow.decimal128(10, 2)), or what fits"
    ))
}

/// # Errors
/// `TypeError` for a column of objects in which pandas takes moments for dates, since the first is
/// one.
fn refuse_moments_of_pandas(object: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    if !holds_objects(object)? {
        return Ok(());
    }
    let moment = object.py().import("datetime")?.getattr("datetime")?;
    let mut turns = Turns::new();
    for value in object.call_method0("tolist")?.try_iter()? {
        turns.turn(0)?;
        let value = value?;
        // pandas' NaT is one by its class, and stands for nothing.
        if value.is_instance(&moment)? && !items::is_missing(&value)? {
            return Err(PyTypeError::new_err(format!(
                "{what} has moments among its dates; cast it to text as your database does"
            )));
        }
    }
    Ok(())
}

/// # Errors
/// `TypeError` for a column or a table of polars with Python's objects, which it hands over as the
/// addresses of these, or of nulls alone, with a buffer that Arrow does not know.
fn refuse_types_of_polars(object: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    let module: String = object.get_type().getattr("__module__")?.extract()?;
    // Of a query nothing is known before it has run, and it is not taken.
    if module.split('.').next() != Some("polars") || object.get_type().name()? == "LazyFrame" {
        return Ok(());
    }
    let types = match object.getattr_opt("dtypes")? {
        Some(types) => types.try_iter()?.collect::<PyResult<Vec<_>>>()?,
        None => object.getattr_opt("dtype")?.into_iter().collect(),
    };
    for dtype in &types {
        let remedy = match dtype.str()?.to_str()? {
            "Object" => "which is not handed over as Arrow; give .to_list(), or cast it",
            "Null" => "which it does not hand over as Arrow's; cast it to polars.String",
            _ => continue,
        };
        return Err(PyTypeError::new_err(format!("{what} has polars' type {dtype}, {remedy}")));
    }
    Ok(())
}

/// # Errors
/// `TypeError` for a type that says what its storage means, as that of UUIDs or of months does,
/// unless it is stored as text, which says so itself. A dictionary is of the type of its values.
pub(crate) fn refuse_extension(field: &Field, what: &str, remedy: &str) -> PyResult<()> {
    let stored = field.data_type();
    let Some(extension) = field.extension_type_name() else { return Ok(()) };
    if is_text(stored) {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "{what} is of the type {extension}, stored as {stored}; {remedy}"
    )))
}

pub(crate) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// A field that also says what the values of dictionaries mean: a schema says it of these, for
/// which arrow's dictionaries have no place.
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

/// Whether an object's class says that it is a column: it has a type of its own, and no columns.
/// Objects are not asked, since frames have attributes of the names of their columns.
pub(crate) fn is_series(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = object.get_type();
    let has_any = |names: &[&str]| {
        names.iter().try_fold(false, |has, &name| Ok::<_, PyErr>(has || class.hasattr(name)?))
    };
    Ok(has_any(&["type", "dtype"])? && !has_any(&["columns", "column_names", "schema"])?)
}

pub(crate) fn of_structs(what: &str) -> PyErr {
    PyTypeError::new_err(format!("{what} is one column, of structs; take its fields"))
}

/// The columns of a table's rows.
///
/// # Errors
/// `TypeError` where a row is null as a whole, as in a column of structs.
pub(crate) fn columns_of(rows: &ArrayRef, what: &str) -> PyResult<Vec<ArrayRef>> {
    if rows.null_count() > 0 {
        return Err(of_structs(what));
    }
    Ok(rows.as_struct().columns().to_vec())
}

/// What pyarrow says of a column that it cannot hand over, with the name of that: one of pandas
/// with objects of several kinds, say. And what Arrow's crate says of types of other libraries that
/// it does not know, as polars' integers of 128 bits.
fn refused(py: Python<'_>, error: PyErr, what: &str) -> PyErr {
    let module =
        error.get_type(py).getattr("__module__").and_then(|module| module.extract::<String>());
    let is_pyarrows = module.is_ok_and(|module| module.starts_with("pyarrow"));
    let is_unknown = error.to_string().contains("C Data interface error: The datatype");
    if !is_pyarrows && !is_unknown {
        return error;
    }
    let words = format!(
        "{what} is not handed over as Arrow: {}; cast it to text or bytes first",
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
            // pandas cannot hand over its own objects where there is no pyarrow.
            Err(error) if error.is_instance_of::<PyImportError>(py) => return Ok(None),
            Err(error) => return Err(error),
        };
        let of_type = schema_of_stream(&stream)?;
        let reader = PyArrayReader::from_arrow_pycapsule(&stream)?.into_reader()?;
        return Ok(Some(guarded(reader, of_type.as_ref())));
    }
    Ok(None)
}

/// The arrays, and an error in the place of one that is not of the type that its producer said.
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

/// That an array has a length: arrow takes a negative one for a large one.
fn require_length(array: &ArrayRef) -> PyResult<()> {
    if i64::try_from(array.len()).is_err() { Err(not_its_type()) } else { Ok(()) }
}

fn not_its_type() -> PyErr {
    PyValueError::new_err(
        "what is handed over as Arrow is not of the type that it says, or was taken before",
    )
}

/// A table of one column, as queries give, is that column.
fn one_column(chunks: Chunks, what: &str) -> PyResult<Chunks> {
    let field = chunks.field();
    let DataType::Struct(fields) = field.data_type() else { return Ok(chunks) };
    let [column] = &fields[..] else {
        let names: Vec<_> = fields.iter().map(|field| field.name().as_str()).collect();
        return Err(PyValueError::new_err(format!(
            "{what} is a table of {} columns ({}); give one of them",
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

/// numpy's arrays of fixed types, of which copies are taken, since others may write there.
fn by_dtype(object: &Bound<'_, PyAny>, what: &str, takes: &Takes) -> PyResult<Option<ArrayRef>> {
    let py = object.py();
    let Ok(dtype) = object.getattr(intern!(py, "dtype")) else { return Ok(None) };
    let Ok(kind) = dtype.getattr("kind") else { return Ok(None) };
    if let Ok(dimensions) = object.getattr("ndim")
        && dimensions.extract::<usize>()? != 1
    {
        return Err(PyValueError::new_err(format!("{what} has {dimensions} dimensions; give one")));
    }
    // Those of pandas have none, and are as good as a list.
    let Ok(width) = dtype.getattr("itemsize") else { return Ok(None) };
    let width: usize = width.extract()?;
    // What a masked array hides is null in its list alone.
    let is_plain = object.hasattr("tobytes")? && !object.hasattr("mask")?;
    if is_plain && !dtype.getattr("isnative")?.is_truthy()? && width == 8 {
        // A number is hashed, not how another machine would write it.
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
        _ => Err(PyTypeError::new_err(format!("{what} is of dtype {dtype}; {}", takes.arrays))),
    }
}

/// The numbers of a masked array of numpy's, null where it is masked: a list of them would have
/// lost their type.
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

/// A copy of an array's numbers. An array may have more rows than memory has room for, where all of
/// them are one, or lie in a file.
fn numbers<T: Element + Zeroable>(array: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    let buffer = PyBuffer::<T>::get(array)?;
    let mut numbers = bytes::zeros(buffer.item_count())?;
    buffer.copy_to_slice(array.py(), &mut numbers)?;
    Ok(numbers)
}

/// Rows of one width, of which numpy does not count the zeros at their ends.
fn padded(bytes: &[u8], width: usize) -> PyResult<ArrayRef> {
    let rows = bytes.chunks_exact(width);
    let mut texts = Texts::new(rows.len(), 0)?;
    for row in rows {
        let end = row.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        texts.push(Some(&row[..end]))?;
    }
    Ok(texts.bytes())
}

/// The objects of a sequence, which are of the kind of the first that stands for something.
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

/// The bytes of all texts and bytes of a sequence; other buffers may change their length.
fn bytes_of(tuple: &Bound<'_, PyTuple>) -> PyResult<usize> {
    let (mut total, mut turns) = (0_usize, Turns::new());
    for object in tuple.iter_borrowed() {
        let length = if let Ok(bytes) = object.cast::<PyBytes>() {
            bytes.as_bytes().len()
        } else if let Ok(text) = object.cast::<PyString>() {
            // What has no UTF-8 is refused once its turn comes.
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
                    Ok(_) => "an array of numpy's uint64 holds it, or text",
                    Err(_) => "text holds it",
                };
                PyOverflowError::new_err(format!(
                    "{what}[{number}] is beyond an integer of 64 bits with a sign; {remedy}"
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
    /// What `toordinal` gives of the first day of 1970.
    const EPOCH: i32 = 719_163;
    let (mut dates, mut present) = (bytes::zeros(tuple.len())?, Bits::new(tuple.len())?);
    let (mut turns, mut date) = (Turns::new(), None);
    for (number, object) in tuple.iter_borrowed().enumerate() {
        turns.turn(0)?;
        // A moment is a date by its class, and more. The names of a class are looked at once.
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
        Ok(class) => {
            PyTypeError::new_err(format!("{what}[{number}] is of type {class} among {others}"))
        }
        Err(error) => error,
    }
}
