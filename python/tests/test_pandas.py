"""Compare the hash of pandas with pandas."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lanesum

VALUE = st.one_of(
    st.text(max_size=40),
    st.binary(max_size=40),
    st.none(),
    st.just(float("nan")),
)
TEXT = st.none() | st.text(max_size=40)


def objects(values: list) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@given(st.lists(VALUE, max_size=60), st.booleans(), st.text(st.characters(max_codepoint=127), min_size=16, max_size=16))
def test_objects(backend: str, values: list, categorize: bool, key: str) -> None:
    array = objects(values)
    expected = pd.util.hash_array(array, hash_key=key, categorize=categorize)
    ours = lanesum.pandas_hash_array(array, hash_key=key, categorize=categorize)
    assert ours.dtype == expected.dtype == np.uint64
    assert (ours == expected).all()


@pytest.mark.parametrize("dtype", ["str", "string[pyarrow]", "string[python]"])
@given(values=st.lists(TEXT, max_size=60), categorize=st.booleans())
def test_pandas_own_text(dtype: str, values: list, categorize: bool) -> None:
    array = pd.array(values, dtype=dtype)
    expected = pd.util.hash_array(array, categorize=categorize)
    assert (lanesum.pandas_hash_array(array, categorize=categorize) == expected).all()


def test_other_keys() -> None:
    array = objects(["a", "b"])
    key = "sixteen bytes..."
    expected = pd.util.hash_array(array, hash_key=key)
    assert (lanesum.pandas_hash_array(array, "UTF-8", key) == expected).all()
    with pytest.raises(ValueError, match="16-byte"):
        lanesum.pandas_hash_array(array, hash_key="short")


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, 2, 3]),
        np.array([1.5, np.nan]),
        np.array([True, False]),
        np.array(["2026-01-01"], dtype="M8[ns]"),
        objects([1, "a", None]),
        objects([pd.NA, "a"]),
        objects([pd.NaT, "a"]),
        objects([("a", 1), "b"]),
        objects([1, 2]),
        objects([]),
        pd.Categorical(["a", "b", "a", None]),
        pd.array([1, None], dtype="Int64"),
    ],
    ids=repr,
)
def test_other_arrays_are_hashed_by_pandas(values: object) -> None:
    expected = pd.util.hash_array(values)
    assert (lanesum.pandas_hash_array(values) == expected).all()


def test_other_encodings_are_left_to_pandas() -> None:
    array = objects(["ä"])
    expected = pd.util.hash_array(array, encoding="latin-1")
    assert (lanesum.pandas_hash_array(array, encoding="latin-1") == expected).all()


def test_the_result_is_writable() -> None:
    hashes = lanesum.pandas_hash_array(objects(["a"]))
    hashes ^= np.uint64(1)


def test_invalid_input_raises_errors_of_pandas() -> None:
    with pytest.raises(TypeError):
        lanesum.pandas_hash_array(["a"])
    with pytest.raises(TypeError, match="not Series"):
        lanesum.pandas_hash_array(pd.Series(["a"]))
    with pytest.raises(TypeError, match="encoding"):
        lanesum.pandas_hash_array(objects(["a"]), encoding=None)
    with pytest.raises(UnicodeEncodeError):
        lanesum.pandas_hash_array(objects(["a"]), hash_key="\ud800" * 16)
    with pytest.raises(UnicodeEncodeError):
        lanesum.pandas_hash_array(objects(["\ud800"]))


def test_a_signaling_decimal_is_refused_as_pandas_does() -> None:
    values = np.array(["a", Decimal("sNaN")], object)
    for hashed in (pd.util.hash_array, lanesum.pandas_hash_array):
        with pytest.raises(TypeError, match="signaling"):
            hashed(values)
    theirs = pd.util.hash_array(values, categorize=False)
    assert (lanesum.pandas_hash_array(values, categorize=False) == theirs).all()
    values[1] = Decimal("NaN")
    assert (lanesum.pandas_hash_array(values) == pd.util.hash_array(values)).all()


def test_a_pyarrow_null_hashes_as_in_pandas() -> None:
    for values in (["a", pa.scalar(None, pa.string())], [pa.scalar("a"), None], [pa.scalar(None)]):
        array = objects(values)
        for categorize in (True, False):
            theirs = pd.util.hash_array(array, categorize=categorize)
            assert (lanesum.pandas_hash_array(array, categorize=categorize) == theirs).all()
