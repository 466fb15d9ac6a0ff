//! Surrogate keys: the digest of a row's values, joined.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType,
};
use arrow_array::{Array, ArrayRef, downcast_integer_array, new_null_array};
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3_arrow::error::PyArrowError;
use pyo3_arrow::ffi::ArrayIterator;

use crate::algorithm::{Function, Key};
use crate::build;
use crate::bytes;
use crate::column::Column;
use crate::digests::Places;
use crate::hash_column::{next, places_of, steps};
use crate::input::{self, Chunks, WRITTEN};
use crate::output::{Output, Rendering};
use crate::returned::Returned;
use crate::rows::Rows;
use crate::threads::{self, Threads};
use crate::words::counted;

/// The number of rows that a thread turns into text at a time.
const ROWS: usize = 1 << 14;

/// The number of rows that are joined before they are hashed, and the maximum number of their bytes
/// without the last row. They stay in the L2 cache.
const BATCH: usize = 4096;
const BATCH_BYTES: usize = 256 << 10;

/// Returns the surrogate key of each row: the digest of its joined values as text.
///
/// With MD5 the result equals that of generate_surrogate_key of dbt_utils 1.0 and newer. Each value
/// is cast to text, nulls become the text `null`, and `separator` is put between the values. The
/// joined column is not built in memory.
///
/// `columns` is a table, or a list or dict of columns of one length. A column is anything that
/// lanesum.hash_column accepts, or a list of str, int, bool or datetime.date. These types have a
/// single text form:
///
/// - text and integers;
/// - decimals, with a digit before the point;
/// - booleans, as `true` or `false`;
/// - dates of the years 1 to 9999, as `2026-01-31`.
///
/// Databases write other types in different ways, so cast them to text as your database does. A
/// list of Decimals has no fixed number of digits; use pyarrow.array(values, pyarrow.decimal128(10,
/// 2)).
///
/// `algorithm`, `key`, `threads` and `returns` are those of lanesum.hash_column. `output` is "hex"
/// (lower-case hexadecimal digits), "binary" or, for algorithms of at most 64 bits, "uint64". The
/// result has the type of the table, or of the first column.
///
/// Raises TypeError for a column of another type, and ValueError for columns of different lengths
/// and for pandas columns with different indexes.
///
/// >>> import lanesum
/// >>> lanesum.surrogate_key([["a", None], [1, 2]]).to_pylist() == lanesum.hash_many(
/// ...     ["a-1", "_dbt_utils_surrogate_key_null_-2"], output="hex")
/// True
#[pyfunction]
#[pyo3(
    signature = (
        columns, separator="-".to_owned(), null="_dbt_utils_surrogate_key_null_".to_owned(), *,
        algorithm="md5", key=None, output="hex", threads=Threads(1), returns="same"
    ),
    text_signature = "(columns, separator='-', null='_dbt_utils_surrogate_key_null_', *, \
        algorithm='md5', key=None, output='hex', threads=1, returns='same')"
)]
#[expect(clippy::too_many_arguments, reason = "they are those of a Python function")]
pub(crate) fn surrogate_key<'py>(
    columns: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = separator_of)] separator: String,
    #[pyo3(from_py_with = null_of)] null: String,
    algorithm: &str,
    key: Key<'_, '_>,
    output: &str,
    threads: Threads,
    returns: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = columns.py();
    let function = Function::named(algorithm, key)?;
    let output = Output::named(output, function.algorithm)?;
    let returned = Returned::of_columns(returns, columns)?;
    let mut columns = Columns::of(columns)?;
    let joiner = Joiner { separator: separator.as_bytes(), null: null.as_bytes(), function };
    let mut arrays = Vec::new();
    while let Some(block) = columns.next(py)? {
        for rows in steps(0..block.len, output.most_rows(joiner.function.algorithm)) {
            let rendering = Rendering::new(output, joiner.function.algorithm, rows.len())?;
            let rendering = block.hash_into(py, &joiner, threads.0, rows, rendering)?;
            arrays.push(py.detach(|| rendering.array(None))?);
        }
    }
    let field = Field::new("", output.data_type(joiner.function.algorithm), true);
    returned.convert(py, Column::new(arrays, Arc::new(field)))
}

fn separator_of(given: &Bound<'_, PyAny>) -> PyResult<String> {
    text_of(given, "separator")
}

fn null_of(given: &Bound<'_, PyAny>) -> PyResult<String> {
    text_of(given, "null")
}

/// Refuses an argument that is probably one more column.
fn text_of(given: &Bound<'_, PyAny>, name: &str) -> PyResult<String> {
    if !given.is_instance_of::<PyString>() {
        let class = given.get_type().name()?;
        let words = format!("{name} must be a str, not {class}; pass all columns in one list");
        return Err(PyTypeError::new_err(words));
    }
    given.extract()
}

/// Columns of one length. Their chunks may end at different rows.
enum Columns {
    /// The arrays are tables.
    Table(Chunks),
    Several(Vec<Cursor>),
}

/// A position in a column.
struct Cursor {
    /// The name in messages.
    name: String,
    chunks: Chunks,
    /// The rest of the current chunk.
    rest: Option<ArrayRef>,
    /// The number of rows taken so far.
    rows: usize,
}

/// Some rows of all columns.
struct Block {
    columns: Vec<ArrayRef>,
    len: usize,
}

impl Columns {
    fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        // The class is checked, because a DuckDB relation has its columns as attributes.
        let has_items = given.get_type().hasattr("items")?;
        if has_items && input::is_series(given)? {
            // A pandas series is iterable, but yields its rows.
            return Err(of_one_column());
        }
        let cursors = if has_items {
            // Includes a pandas frame, because by Arrow it would return its index as one more
            // column.
            named(given)?
        } else if let Some(chunks) = input::by_capsule(given, "columns")? {
            let field = chunks.field();
            if let DataType::Struct(fields) = field.data_type() {
                if fields.is_empty() {
                    return Err(of_nothing());
                }
                for field in fields {
                    check_type(&format!("columns[{:?}]", field.name()), field, false)?;
                }
                return Ok(Self::Table(chunks));
            }
            return Err(of_one_column());
        } else {
            numbered(given)?
        };
        if cursors.is_empty() {
            return Err(of_nothing());
        }
        Ok(Self::Several(cursors))
    }

    /// Returns the next rows, as many as every column has ready.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<Block>> {
        match self {
            Self::Table(chunks) => {
                let Some(rows) = next(py, chunks)? else { return Ok(None) };
                let columns = input::columns_of(&rows, "columns")?;
                Ok(Some(Block { columns, len: rows.len() }))
            }
            Self::Several(cursors) => {
                for cursor in &mut *cursors {
                    cursor.fill(py)?;
                }
                let left = |cursor: &Cursor| cursor.rest.as_ref().map_or(0, |rest| rest.len());
                let len = cursors.iter().map(left).min().unwrap_or(0);
                if len == 0 {
                    return same_length(cursors).map(|()| None);
                }
                let columns = cursors.iter_mut().map(|cursor| cursor.take(len)).collect();
                Ok(Some(Block { columns, len }))
            }
        }
    }
}

fn of_one_column() -> PyErr {
    PyTypeError::new_err("columns must be a table or a list of columns, not one column")
}

fn of_nothing() -> PyErr {
    PyValueError::new_err("columns is empty; pass at least one column")
}

fn named(given: &Bound<'_, PyAny>) -> PyResult<Vec<Cursor>> {
    let mut cursors = Vec::new();
    for pair in given.call_method0("items")?.try_iter()? {
        let (name, column): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
        cursors.push(Cursor::of(&column, format!("columns[{}]", name.repr()?))?);
    }
    Ok(cursors)
}

fn numbered(given: &Bound<'_, PyAny>) -> PyResult<Vec<Cursor>> {
    if given.hasattr("ndim")? {
        // A numpy array would yield its rows as columns.
        return Err(PyTypeError::new_err(
            "columns must be a table or a list of columns, not an array",
        ));
    }
    let columns = crate::items::hold(given, "columns")?;
    let columns = columns.iter().enumerate();
    columns.map(|(number, column)| Cursor::of(&column, format!("columns[{number}]"))).collect()
}

/// # Errors
/// `ValueError` if one column ends before another one.
fn same_length(cursors: &[Cursor]) -> PyResult<()> {
    let Some(longer) = cursors.iter().find(|cursor| cursor.rest.is_some()) else { return Ok(()) };
    let shorter = cursors.iter().find(|cursor| cursor.rest.is_none());
    let Some(shorter) = shorter else { return Ok(()) };
    Err(PyValueError::new_err(format!(
        "{} has {}, but {} has more",
        shorter.name,
        counted(shorter.rows as u64, "row"),
        longer.name
    )))
}

impl Cursor {
    fn of(column: &Bound<'_, PyAny>, name: String) -> PyResult<Self> {
        if column.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!(
                "{name} is a single str; pass the columns themselves, for example \
                 frame[[\"a\", \"b\"]]"
            )));
        }
        let mut chunks = input::column(column, &name, &WRITTEN)?;
        let class = column.get_type();
        let is_of_pandas = class.module()?.to_cow()?.split('.').next() == Some("pandas");
        check_type(&name, &chunks.field(), is_of_pandas)?;
        if class.name()? == "DuckDBPyRelation" {
            chunks = read_whole(column.py(), chunks)?;
        }
        Ok(Self { name, chunks, rest: None, rows: 0 })
    }

    /// Takes chunks until there is a row, or the column ends.
    fn fill(&mut self, py: Python<'_>) -> PyResult<()> {
        while self.rest.as_ref().is_none_or(|rest| rest.is_empty()) {
            self.rest = next(py, &mut self.chunks)?;
            if self.rest.is_none() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns the next `len` rows.
    fn take(&mut self, len: usize) -> ArrayRef {
        let rest = self.rest.take().expect("filled");
        self.rest = Some(rest.slice(len, rest.len() - len));
        self.rows += len;
        rest.slice(0, len)
    }
}

/// Reads all chunks into memory. A DuckDB connection has only one open result, and the next column
/// may need another one.
fn read_whole(py: Python<'_>, mut chunks: Chunks) -> PyResult<Chunks> {
    let field = chunks.field();
    let mut arrays = Vec::new();
    while let Some(array) = next(py, &mut chunks)? {
        py.check_signals()?;
        arrays.push(Ok(array));
    }
    py.detach(|| drop(chunks));
    Ok(Box::new(ArrayIterator::new(arrays, field)))
}

impl Block {
    /// Returns the digests of some rows.
    fn hash_into(
        &self,
        py: Python<'_>,
        joiner: &Joiner<'_>,
        threads: usize,
        rows: Range<usize>,
        mut rendering: Rendering,
    ) -> PyResult<Rendering> {
        let parts = rendering.parts(ROWS).into_iter().map(|part| (0, part)).collect();
        threads::fill(py, threads, joiner.function.algorithm, parts, |_, part, places| {
            let (start, len) = (rows.start + part.start, part.len());
            let columns = self.columns.iter().map(|column| column.slice(start, len));
            let columns: Vec<ArrayRef> = columns.collect();
            Ok(joiner.hash(&columns, places).map_err(PyArrowError::from)?)
        })?;
        Ok(rendering)
    }
}

/// How the values of a row are joined.
struct Joiner<'a> {
    separator: &'a [u8],
    null: &'a [u8],
    function: Function,
}

impl Joiner<'_> {
    /// Writes the digest of each row to its place.
    fn hash(&self, columns: &[ArrayRef], mut places: Places<'_>) -> Result<(), ArrowError> {
        let texts = columns.iter().enumerate().map(|(number, array)| Texts::of(number, array));
        let texts = texts.collect::<Result<Vec<Texts>, _>>()?;
        let columns: Vec<Values<'_>> = texts.iter().map(Texts::values).collect();
        let (mut joined, mut ends) = (Vec::new(), Vec::new());
        let mut row = 0;
        while places.count() > 0 {
            joined.clear();
            ends.clear();
            while ends.len() < BATCH.min(places.count()) && joined.len() < BATCH_BYTES {
                let join = self.join(&columns, row, &mut joined);
                join.map_err(external)?;
                ends.push(joined.len());
                row += 1;
            }
            let now = places.take_first(ends.len());
            let mut start = 0;
            let rows = ends.iter().map(|&end| {
                let bytes = &joined[start..end];
                start = end;
                bytes
            });
            self.function.hash(rows, now);
        }
        Ok(())
    }

    #[inline]
    fn join(&self, columns: &[Values<'_>], row: usize, joined: &mut Vec<u8>) -> PyResult<()> {
        for (number, column) in columns.iter().enumerate() {
            if number > 0 {
                bytes::append(joined, self.separator)?;
            }
            bytes::append(joined, column.get(row).unwrap_or(self.null))?;
        }
        Ok(())
    }
}

/// The values of a column as text.
struct Texts {
    texts: ArrayRef,
    /// For a dictionary, which stores each text once: the index of each row's text, or None for
    /// null.
    places: Option<Vec<Option<usize>>>,
}

/// The same, by rows.
struct Values<'a> {
    rows: Rows<'a>,
    places: Option<&'a [Option<usize>]>,
}

impl Texts {
    fn of(number: usize, array: &ArrayRef) -> Result<Self, ArrowError> {
        let Some(dictionary) = array.as_any_dictionary_opt() else {
            return Ok(Self { texts: all_text(number, array)?, places: None });
        };
        let (keys, values) = (dictionary.keys(), dictionary.values());
        let places = match values.is_empty() {
            true => Vec::new(),
            false => places_of(dictionary).map_err(external)?,
        };
        let place = |row: usize| places.get(row).copied().filter(|_| keys.is_valid(row));
        let places = (0..keys.len()).map(place);
        if values.len() > keys.len() && !input::is_text(values.data_type()) {
            // A few rows may come with all values of a large table.
            return Ok(Self { texts: text(number, values, places)?, places: None });
        }
        let mut known = bytes::room(keys.len()).map_err(external)?;
        known.extend(places);
        Ok(Self { texts: all_text(number, values)?, places: Some(known) })
    }

    fn values(&self) -> Values<'_> {
        Values { rows: Rows::of(&self.texts).expect("made text"), places: self.places.as_deref() }
    }
}

impl<'a> Values<'a> {
    /// Returns the text of a row, or None for null.
    #[inline]
    fn get(&self, row: usize) -> Option<&'a [u8]> {
        match self.places {
            None => self.rows.get(row),
            Some(places) => self.rows.get(places[row]?),
        }
    }
}

/// Returns all values of an array as text. The array must not be a dictionary.
///
/// # Errors
/// Those of [`text`].
fn all_text(number: usize, values: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match values.data_type() {
        data_type if input::is_text(data_type) => Ok(values.clone()),
        _ => text(number, values, (0..values.len()).map(Some)),
    }
}

/// Returns these rows of an array as text. The array must be neither a dictionary nor text.
///
/// # Errors
/// `ValueError`, inside an Arrow error, for numbers with more digits than their type has, and for
/// dates that databases write in different ways. For example, DuckDB writes `10000-01-01` and
/// `0001-12-31 (BC)`, and other databases write a sign or other years.
fn text(
    number: usize,
    values: &ArrayRef,
    rows: impl ExactSizeIterator<Item = Option<usize>>,
) -> Result<ArrayRef, ArrowError> {
    let refused = |what: &str| {
        let words = format!("columns[{number}] has {what}");
        Err(PyValueError::new_err(words))
    };
    let len = rows.len();
    let rows = rows.map(|row| row.filter(|&row| values.is_valid(row)));
    let texts = downcast_integer_array! {
        values => {
            let mut digits = itoa::Buffer::new();
            texts(rows, |row, text| {
                bytes::append(text, digits.format(values.value(row)).as_bytes())
            })
        }
        DataType::Boolean => {
            let values = values.as_boolean();
            texts(rows, |row, text| bytes::append(text, words(values.value(row))))
        }
        DataType::Date32 => {
            let dates = values.as_primitive::<Date32Type>();
            texts(rows, |row, text| match dates.value_as_date(row) {
                Some(date) if DATES.contains(&dates.value(row)) => {
                    bytes::append(text, date.to_string().as_bytes())
                }
                _ => refused(
                    "a date before the year 1 or after 9999, which databases write in different \
                     ways; cast it to text as your database does",
                ),
            })
        }
        DataType::Decimal32(..) => decimals::<Decimal32Type>(values, rows, refused),
        DataType::Decimal64(..) => decimals::<Decimal64Type>(values, rows, refused),
        DataType::Decimal128(..) => decimals::<Decimal128Type>(values, rows, refused),
        DataType::Decimal256(..) => decimals::<Decimal256Type>(values, rows, refused),
        // All other types that `check_type` accepts have no values.
        _ => return Ok(new_null_array(&DataType::LargeUtf8, len)),
    };
    texts.map_err(external)?.text()
}

fn decimals<T: DecimalType>(
    values: &ArrayRef,
    rows: impl ExactSizeIterator<Item = Option<usize>>,
    refused: impl Fn(&str) -> PyResult<()>,
) -> PyResult<build::Texts> {
    let values = values.as_primitive::<T>();
    texts(rows, |row, text| {
        if T::is_valid_decimal_precision(values.value(row), values.precision()) {
            return bytes::append(text, values.value_as_string(row).as_bytes());
        }
        let data_type = values.data_type();
        refused(&format!(
            "a number with more digits than {data_type} allows, as DuckDB's HUGEINT may have; cast it \
             to text"
        ))
    })
}

/// Returns the texts of rows. `write` appends a row's text to a buffer.
fn texts(
    rows: impl ExactSizeIterator<Item = Option<usize>>,
    mut write: impl FnMut(usize, &mut Vec<u8>) -> PyResult<()>,
) -> PyResult<build::Texts> {
    let mut texts = build::Texts::new(rows.len(), rows.len() * DIGITS)?;
    let mut text = Vec::new();
    for row in rows {
        text.clear();
        let row = row.map(|row| write(row, &mut text)).transpose()?;
        texts.push(row.map(|()| &text[..]))?;
    }
    Ok(texts)
}

/// The typical maximum length of a value as text.
const DIGITS: usize = 10;

fn external(error: PyErr) -> ArrowError {
    ArrowError::ExternalError(Box::new(error))
}

const fn words(value: bool) -> &'static [u8] {
    if value { b"true" } else { b"false" }
}

/// Days since 1970 whose year has four digits.
const DATES: RangeInclusive<i32> = -719_162..=2_932_896;

/// # Errors
/// `TypeError` for a column whose values have different texts in different databases.
fn check_type(name: &str, field: &Field, is_of_pandas: bool) -> PyResult<()> {
    use DataType::*;
    input::refuse_extension(field, name, WRITTEN.types)?;
    let data_type = field.data_type();
    let has_text = |data_type: &DataType| {
        data_type.is_integer()
            || matches!(data_type, Utf8 | LargeUtf8 | Utf8View | Boolean | Date32 | Null)
            // Without a digit before the point, DuckDB writes .25 and others write 0.25.
            || matches!(data_type, Decimal32(digits, scale) | Decimal64(digits, scale)
                | Decimal128(digits, scale) | Decimal256(digits, scale)
                if *scale >= 0 && i16::from(*digits) > i16::from(*scale))
    };
    let is_fine = match data_type {
        Dictionary(_, values) => has_text(values),
        other => has_text(other),
    };
    if is_fine {
        return Ok(());
    }
    let remedy = match data_type {
        Date64 => "; cast it to date32",
        Float64 if is_of_pandas => {
            ", which pandas uses for integers with missing values; convert them with \
             astype(\"Int64\"), or cast other values to text as your database does"
        }
        Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => "; cast it to text",
        _ => ", which databases write in different ways; cast it to text as your database does",
    };
    Err(PyTypeError::new_err(format!("{name} has the type {data_type}{remedy}")))
}
