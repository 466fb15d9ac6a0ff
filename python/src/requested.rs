//! The types that consumers of columns request.

use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::cast::AsArray as _;
use arrow_array::{
    Array as _, ArrayRef, GenericBinaryArray, GenericStringArray, OffsetSizeTrait, StructArray,
};
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::PyField;

use crate::rows::Rows;

/// Returns the requested field, with the metadata of the own one, if it is a different layout of
/// the same text or bytes. The interface allows to ignore any other request. Values that do not fit
/// would become null.
pub(crate) fn that_fits(
    requested: Option<Bound<'_, PyCapsule>>,
    own: FieldRef,
) -> PyResult<FieldRef> {
    let Some(capsule) = requested else { return Ok(own) };
    let wanted = PyField::from_arrow_pycapsule(&capsule)?.into_inner();
    if !fits(own.data_type(), wanted.data_type()) {
        return Ok(own);
    }
    let metadata = own.metadata().clone();
    Ok(Arc::new(Arc::unwrap_or_clone(wanted).with_metadata(metadata)))
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

/// Converts an array to a layout of [`that_fits`]. Arrow's own cast is not used, because it
/// supports so many types that it would be an eighth of the wheel.
///
/// # Errors
/// If the array has more than 2 GiB and the layout cannot hold that.
pub(crate) fn laid_out(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef, ArrowError> {
    if array.data_type() == wanted {
        return Ok(Arc::clone(array));
    }
    if let DataType::Struct(fields) = wanted {
        let (_, columns, nulls) = array.as_struct().clone().into_parts();
        let pairs = columns.iter().zip(fields);
        let columns = pairs.map(|(column, field)| laid_out(column, field.data_type()));
        let columns = columns.collect::<Result<_, _>>()?;
        let table = StructArray::try_new_with_length(fields.clone(), columns, nulls, array.len())?;
        return Ok(Arc::new(table));
    }
    let rows = Rows::of(array).ok_or_else(|| of_other_type(array, wanted))?;
    Ok(match wanted {
        DataType::Binary => Arc::new(with_offsets::<i32>(&rows)?),
        DataType::LargeBinary => Arc::new(with_offsets::<i64>(&rows)?),
        DataType::Utf8 => text_of(with_offsets::<i32>(&rows)?)?,
        DataType::LargeUtf8 => text_of(with_offsets::<i64>(&rows)?)?,
        DataType::BinaryView => Arc::new(views(&rows).finish()),
        DataType::Utf8View => Arc::new(views(&rows).finish().to_string_view()?),
        _ => return Err(of_other_type(array, wanted)),
    })
}

fn text_of<O: OffsetSizeTrait>(bytes: GenericBinaryArray<O>) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(GenericStringArray::try_from_binary(bytes)?))
}

fn with_offsets<O: OffsetSizeTrait>(rows: &Rows<'_>) -> Result<GenericBinaryArray<O>, ArrowError> {
    let bytes = (0..rows.len()).map(|row| rows.get(row).map_or(0, <[u8]>::len)).sum();
    if O::from_usize(bytes).is_none() {
        let words = format!("an array of this type cannot hold {bytes} bytes");
        return Err(ArrowError::CastError(words));
    }
    Ok((0..rows.len()).map(|row| rows.get(row)).collect())
}

fn views(rows: &Rows<'_>) -> BinaryViewBuilder {
    let mut views = BinaryViewBuilder::with_capacity(rows.len());
    (0..rows.len()).for_each(|row| views.append_option(rows.get(row)));
    views
}

fn of_other_type(array: &ArrayRef, wanted: &DataType) -> ArrowError {
    ArrowError::CastError(format!("cannot convert {} to {wanted}", array.data_type()))
}
