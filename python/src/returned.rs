//! Converts a column of results to the library of the input.

use pyo3::exceptions::{PyImportError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

use crate::column::Column;

/// The type of a result.
pub(crate) enum Returned<'py> {
    /// An Arrow column of no library.
    Column,
    /// A series of pandas, with the index and the name.
    Pandas {
        index: Bound<'py, PyAny>,
        name: Bound<'py, PyAny>,
    },
    /// An index of pandas, with the name.
    PandasIndex(Bound<'py, PyAny>),
    /// A series of polars, with the name.
    Polars(Bound<'py, PyAny>),
    PyarrowArray,
    PyarrowChunkedArray,
}

impl<'py> Returned<'py> {
    /// Returns the result's type for a column, by the value of `returns=`.
    ///
    /// # Errors
    /// `ValueError` for an unknown value, `ImportError` if pandas has no pyarrow.
    pub(crate) fn named(returns: &str, column: &Bound<'py, PyAny>) -> PyResult<Self> {
        if is_same(returns)? { Self::like(column, true) } else { Ok(Self::Column) }
    }

    /// Returns the result's type for several columns: that of the table or of the first column,
    /// without a name.
    ///
    /// # Errors
    /// As [`named`](Self::named), and `ValueError` for columns of pandas with different indexes.
    pub(crate) fn of_columns(returns: &str, columns: &Bound<'py, PyAny>) -> PyResult<Self> {
        if !is_same(returns)? {
            return Ok(Self::Column);
        }
        let items: Vec<Bound<'py, PyAny>> = if let Ok(items) = columns.cast::<PyDict>() {
            items.values().iter().collect()
        } else if let Ok(items) = columns.cast::<PyList>() {
            items.iter().collect()
        } else if let Ok(items) = columns.cast::<PyTuple>() {
            items.iter().collect()
        } else {
            return Self::like(columns, false);
        };
        let Some((first, others)) = items.split_first() else { return Ok(Self::Column) };
        let like = Self::like(first, false)?;
        if let Self::Pandas { index, .. } = &like {
            for (number, other) in others.iter().enumerate() {
                if let Self::Pandas { index: other, .. } = Self::like(other, false)?
                    && !index.call_method1("equals", (other,))?.is_truthy()?
                {
                    let number = number + 1;
                    return Err(PyValueError::new_err(format!(
                        "columns[{number}] has another index than columns[0]; take columns of \
                         one frame, or use reset_index(drop=True)"
                    )));
                }
            }
        }
        Ok(like)
    }

    /// Returns the type of the result for an input.
    fn like(input: &Bound<'py, PyAny>, with_name: bool) -> PyResult<Self> {
        let py = input.py();
        let none = || py.None().into_bound(py);
        let name = || if with_name { input.getattr("name") } else { Ok(none()) };
        let only_name =
            || if with_name { input.getattr("columns")?.get_item(0) } else { Ok(none()) };
        // Subclasses count as their base class.
        for class in input.get_type().mro() {
            let class = class.cast_into::<PyType>()?;
            let (module, class) = (class.module()?, class.name()?);
            let (module, class) = (module.to_cow()?, class.to_cow()?);
            let library = module.split('.').next().unwrap_or_default();
            let found = match (library, &*class) {
                ("pandas", "Series") => {
                    Self::Pandas { index: input.getattr("index")?, name: name()? }
                }
                // A larger table is refused later.
                ("pandas", "DataFrame") => {
                    if input.getattr("columns")?.len()? == 0 {
                        return Ok(Self::Column);
                    }
                    Self::Pandas { index: input.getattr("index")?, name: only_name()? }
                }
                ("pandas", "Index") => Self::PandasIndex(name()?),
                ("polars", "Series") => Self::Polars(name()?),
                ("polars", "DataFrame") => {
                    if input.getattr("columns")?.len()? == 0 {
                        return Ok(Self::Column);
                    }
                    Self::Polars(only_name()?)
                }
                ("pyarrow", "Array" | "RecordBatch") => Self::PyarrowArray,
                ("pyarrow", "ChunkedArray" | "Table") => Self::PyarrowChunkedArray,
                _ => continue,
            };
            if matches!(found, Self::Pandas { .. } | Self::PandasIndex(_)) {
                py.import("pyarrow").map_err(|_| {
                    PyImportError::new_err(
                        "pandas needs pyarrow for Arrow types; install it, or use \
                         returns=\"arrow\"",
                    )
                })?;
            }
            return Ok(found);
        }
        Ok(Self::Column)
    }

    /// Converts a column of results.
    pub(crate) fn convert(self, py: Python<'py>, column: Column) -> PyResult<Bound<'py, PyAny>> {
        let is_one_array = column.has_one_chunk();
        let column = Bound::new(py, column)?.into_any();
        let arrow = || py.import("pyarrow")?.call_method1("chunked_array", (&column,));
        match self {
            Self::Column => Ok(column),
            Self::PyarrowArray if is_one_array => {
                py.import("pyarrow")?.call_method1("array", (&column,))
            }
            // One array cannot hold the text of all chunks.
            Self::PyarrowArray | Self::PyarrowChunkedArray => arrow(),
            Self::Polars(name) => {
                // The constructor drops a name that it gets with Arrow data.
                let series = py.import("polars")?.call_method1("Series", (column,))?;
                if name.is_none() { Ok(series) } else { series.call_method1("alias", (name,)) }
            }
            Self::Pandas { index, name } => {
                let options = PyDict::new(py);
                options.set_item("index", index)?;
                options.set_item("name", name)?;
                of_pandas(&arrow()?, "Series", options)
            }
            Self::PandasIndex(name) => {
                let options = PyDict::new(py);
                options.set_item("name", name)?;
                of_pandas(&arrow()?, "Index", options)
            }
        }
    }
}

fn is_same(returns: &str) -> PyResult<bool> {
    match returns {
        "same" => Ok(true),
        "arrow" => Ok(false),
        _ => {
            let problem = format!("unknown value of returns={returns:?}; use same or arrow");
            Err(PyValueError::new_err(problem))
        }
    }
}

/// Makes a series or index of pandas around Arrow data, without a copy.
fn of_pandas<'py>(
    arrow: &Bound<'py, PyAny>,
    class: &str,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let pandas = arrow.py().import("pandas")?;
    let array = pandas.getattr("arrays")?.call_method1("ArrowExtensionArray", (arrow,))?;
    options.set_item("copy", false)?;
    pandas.call_method(class, (array,), Some(&options))
}
