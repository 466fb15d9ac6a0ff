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
