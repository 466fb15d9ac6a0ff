"""Input that is not what it seems, or that is broken: refused, or hashed as what it means."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import lanesum


@pytest.mark.parametrize("kind", ["i8", "u8"])
def test_numbers_of_the_other_byte_order(kind: str, key: bytes) -> None:
    for order in "<>=":
        array = np.array([1, 2, 2**40], order + kind)
        column = lanesum.hash_column(array, "siphash24", key=key)
        assert column.to_pylist() == lanesum.hash_column([1, 2, 2**40], "siphash24", key=key).to_pylist()
        strided = lanesum.hash_column(array[::2], "siphash24", key=key)
        assert strided.to_pylist() == lanesum.hash_column([1, 2**40], "siphash24", key=key).to_pylist()
        assert lanesum.surrogate_key([array]).to_pylist() == lanesum.hash_many(
            ["1", "2", str(2**40)], output="hex"
        )


def test_a_column_of_structs_is_no_table() -> None:
    texts = pa.array(["a", "b"])
    plain = pa.StructArray.from_arrays([texts], ["x"])
    with_null = pa.StructArray.from_arrays([texts], ["x"], mask=pa.array([False, True]))
    for structs in [plain, with_null, pa.chunked_array([with_null])]:
        for refused in [
            lambda structs=structs: lanesum.hash_column(structs),
            lambda structs=structs: lanesum.surrogate_key(structs),
            lambda structs=structs: lanesum.surrogate_key([structs]),
        ]:
            with pytest.raises(TypeError, match="of structs; take its fields"):
                refused()

    class Anonymous:
        """Of which only its rows say that it is no table."""

        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return with_null.__arrow_c_array__(requested_schema)

    with pytest.raises(TypeError, match="of structs"):
        lanesum.hash_column(Anonymous())
    with pytest.raises(TypeError, match="of structs"):
        lanesum.surrogate_key(Anonymous())
    expected = lanesum.hash_column(texts, output="hex").to_pylist()
    # A frame with columns of the names of a series' attributes is a table.
    frame = pd.DataFrame({"type": ["a", "b"], "dtype": ["c", "d"]})
    assert len(lanesum.surrogate_key(frame)) == 2
    for table in [pa.table({"type": texts}), pa.record_batch({"dtype": texts})]:
        assert lanesum.hash_column(table, output="hex").to_pylist() == expected
        assert lanesum.surrogate_key(table).to_pylist() == expected
