//! The types that whoever takes columns asks for.

use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::PyField;

/// A schema that is asked for, if all values are the same in it: text and bytes in other layouts.
/// Any other is no more than a wish by the interface, and what did not fit would become null.
pub(crate) fn that_fits<'py>(
    requested: Option<Bound<'py, PyCapsule>>,
    own: &DataType,
) -> PyResult<Option<Bound<'py, PyCapsule>>> {
    let Some(capsule) = requested else { return Ok(None) };
    let wanted = PyField::from_arrow_pycapsule(&capsule)?.into_inner();
    Ok(fits(own, wanted.data_type()).then_some(capsule))
}

fn fits(own: &DataType, wanted: &DataType) -> bool {
    use DataType::{
        Binary, BinaryView, FixedSizeBinary, LargeBinary, LargeUtf8, Struct, Utf8, Utf8View,
    };
    match (own, wanted) {
        (Utf8 | LargeUtf8 | Utf8View, Utf8 | LargeUtf8 | Utf8View) => true,
        (
            Binary | LargeBinary | BinaryView | FixedSizeBinary(_),
            Binary | LargeBinary | BinaryView,
        ) => true,
        (Struct(own), Struct(wanted)) => {
            let mut pairs = own.iter().zip(wanted);
            own.len() == wanted.len()
                && pairs.all(|(own, wanted)| {
                    own.name() == wanted.name() && fits(own.data_type(), wanted.data_type())
                })
        }
        (own, wanted) => own == wanted,
    }
}
