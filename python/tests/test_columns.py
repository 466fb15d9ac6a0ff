"""Columns: every type and every library that has them."""

from __future__ import annotations

import hashlib
import pickle
import random
import subprocess
import sys
import uuid
from decimal import Decimal
from pathlib import Path

import arro3.core
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import siphash24 as peer
from hypothesis import given
from hypothesis import strategies as st

import lanesum

KEY = bytes(range(16))
TEXTS = st.lists(st.none() | st.text(max_size=80), max_size=100)
BYTES_TYPES = [pa.binary(), pa.large_binary(), pa.binary_view()]
TEXT_TYPES = [pa.string(), pa.large_string(), pa.string_view()]


def md5(value: str | bytes | None) -> bytes | None:
    if value is None:
        return None
    return hashlib.md5(value.encode() if isinstance(value, str) else value).digest()


def siphash(value: bytes | None, key: bytes) -> int | None:
    if value is None:
        return None
    return int.from_bytes(peer.siphash24(value, key=key).digest(), "little")


def hashed(column: object, *arguments: object, **options: object) -> list[object]:
    """Converts by pyarrow, which checks its input."""
    array = pa.chunked_array(lanesum.hash_column(column, *arguments, **options))
    array.validate(full=True)
    return array.to_pylist()


@pytest.mark.parametrize("kind", TEXT_TYPES + BYTES_TYPES, ids=str)
@given(values=TEXTS)
def test_every_type_is_hashed(backend: str, key: bytes, kind: pa.DataType, values: list) -> None:
    if kind in BYTES_TYPES:
        values = [None if value is None else value.encode() for value in values]
    column = pa.array(values, kind)
    assert hashed(column) == [md5(value) for value in values]
    raw = [value.encode() if isinstance(value, str) else value for value in values]
    numbers = hashed(column, "siphash24", key=key, output="uint64")
    assert numbers == [siphash(value, key) for value in raw]
    digests = hashed(column, "siphash24", key=key)
    assert digests == [None if n is None else n.to_bytes(8, "little") for n in numbers]


@given(values=TEXTS, data=st.data())
def test_slices_and_chunks(values: list, data: st.DataObject) -> None:
    """Offsets into values and into the bits of their nulls."""
    start = data.draw(st.integers(0, len(values)))
    end = data.draw(st.integers(start, len(values)))
    expected = [md5(value) for value in values]
    for kind in TEXT_TYPES:
        whole = pa.array(values, kind)
        assert hashed(whole[start:end]) == expected[start:end]
        chunks = pa.chunked_array([whole[:start], whole[start:end], whole[end:]], kind)
        assert hashed(chunks) == expected
        filled = [chunk for chunk in chunks.chunks if len(chunk)]
        assert lanesum.hash_column(chunks).num_chunks == len(filled)


@given(values=st.lists(st.none() | st.binary(min_size=5, max_size=5), max_size=60))
def test_fixed_sizes(values: list) -> None:
    column = pa.array(values, pa.binary(5))
    assert hashed(column) == [md5(value) for value in values]
    assert hashed(column[1:]) == [md5(value) for value in values[1:]]


def test_fixed_size_of_zero_bytes() -> None:
    assert hashed(pa.array([b"", None, b""], pa.binary(0))) == [md5(b""), None, md5(b"")]


@pytest.mark.parametrize("index", [pa.int8(), pa.uint16(), pa.int32(), pa.int64()], ids=str)
def test_dictionaries(index: pa.DataType, key: bytes) -> None:
    values = pa.array(["a", None, "b" * 100, ""])
    indices = pa.array([3, 2, None, 1, 0, 0, 2] * 5, index)
    column = pa.DictionaryArray.from_arrays(indices, values)
    plain = column.to_pylist()
    assert hashed(column) == [md5(value) for value in plain]
    # Fewer rows than values, with an offset.
    assert hashed(column[2:4]) == [md5(value) for value in plain[2:4]]
    assert hashed(column[:0]) == []
    numbers = pa.DictionaryArray.from_arrays(indices, pa.array([1, None, 2, 3]))
    expected = hashed(pa.array(numbers.to_pylist()), "siphash24", key=key)
    assert hashed(numbers, "siphash24", key=key) == expected
    nothing = pa.DictionaryArray.from_arrays(pa.array([None, None], index), pa.array([], pa.string()))
    assert hashed(nothing) == [None, None]


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=60))
def test_integers_are_hashed_as_eight_bytes(values: list) -> None:
    key = bytes(16)
    raw = [None if v is None else v.to_bytes(8, "little", signed=True) for v in values]
    expected = [siphash(value, key) for value in raw]
    column = pa.array(values, pa.int64())
    assert hashed(column, "siphash24", key=key, output="uint64") == expected
    assert hashed(column[1:], "siphash24", key=key, output="uint64") == expected[1:]
    wide = [None if v is None else lanesum.siphash24_128(v, key=key).digest() for v in raw]
    assert hashed(column, "siphash24_128", key=key) == wide
    unsigned = [None if v is None else v % 2**64 for v in values]
    assert hashed(pa.array(unsigned, pa.uint64()), "siphash24", key=key, output="uint64") == expected


@pytest.mark.parametrize("name", ["siphash13", "siphash24-128", "siphash13-128"])
def test_column_digests_equal_those_of_objects(backend: str, key: bytes, name: str) -> None:
    values = ["x" * length for length in range(200)]
    expected = [lanesum.new(name, value.encode(), key=key) for value in values]
    for kind in TEXT_TYPES:
        column = pa.array(values, kind)
        assert hashed(column, name, key=key) == [digest.digest() for digest in expected]
        hexadecimal = hashed(column, name, key=key, output="hex")
        assert hexadecimal == [digest.hexdigest() for digest in expected]


def test_columns_of_every_library_are_hashed() -> None:
    values = ["", "a", None, "of more than twelve bytes", "ä"]
    expected = [md5(value) for value in values]
    full = [value or "" for value in values]
    cases = {
        "pyarrow": pa.array(values),
        "pyarrow chunked": pa.chunked_array([values[:2], values[2:]]),
        "polars": pl.Series(values),
        "polars categorical": pl.Series(values, dtype=pl.Categorical),
        "pandas str": pd.Series(values),
        "pandas object": pd.Series(values, dtype=object),
        "pandas category": pd.Series(values, dtype="category"),
        "pandas array": pd.Series(values).array,
        "arro3": arro3.core.Array.from_arrow(pa.array(values)),
        "arro3 chunked": arro3.core.ChunkedArray.from_arrow(pa.chunked_array([values])),
        "numpy object": np.array(values, dtype=object),
        "numpy strings": np.array(values, dtype=np.dtypes.StringDType(na_object=None)),
        "list": values,
        "tuple": tuple(values),
        "lanesum's own": lanesum.hash_column(values, output="hex"),
        "table of one column": pa.table({"x": values}),
        "record batch": pa.record_batch({"x": values}),
        "duckdb": duckdb.sql("SELECT unnest(['', 'a', NULL, 'of more than twelve bytes', 'ä'])"),
    }
    for name, column in cases.items():
        if name == "lanesum's own":
            twice = [digest and md5(digest.hex()) for digest in expected]
            assert hashed(column) == twice
        else:
            assert hashed(column) == expected, name
    assert hashed(np.array(full)) == [md5(value) for value in full]


def test_every_library_reads_the_result(key: bytes) -> None:
    values = ["a", None, "abc"]
    column = lanesum.hash_column(values, output="hex")
    digits = [None if value is None else md5(value).hex() for value in values]
    assert column.to_pylist() == pa.array(column).to_pylist() == digits
    assert pl.Series(column).to_list() == digits
    assert pl.DataFrame({"digest": column})["digest"].to_list() == digits
    assert pd.Series.from_arrow(column).isna().tolist() == [False, True, False]
    assert pd.Series.from_arrow(column)[2] == digits[2]
    assert arro3.core.Array.from_arrow(column).to_pylist() == digits
    rows = pa.table({"digest": column})
    assert duckdb.sql("SELECT digest FROM rows").fetchall() == [(d,) for d in digits]
    assert rows.schema.field("digest").type == pa.string()
    numbers = lanesum.hash_column(["a", "b"], "siphash24", key=key, output="uint64")
    assert pa.array(numbers).type == pa.uint64()
    assert pl.Series(numbers).dtype == pl.UInt64
    assert pa.array(lanesum.hash_column(values)).type == pa.binary(16)
    # Cast to the type that the consumer requests.
    assert pa.array(column, pa.large_string()).type == pa.large_string()


def test_numpy_bytes_lose_trailing_zeros() -> None:
    column = np.array([b"a", b"", b"a\0b\0", b"longest"])
    assert hashed(column) == [md5(bytes(value)) for value in column]
    assert hashed(column[::2]) == [md5(bytes(value)) for value in column[::2]]
    masked = np.ma.array(column, mask=[False, True, False, False])
    assert hashed(masked)[1] is None


def test_numpys_and_pythons_integers(key: bytes) -> None:
    values = [0, -1, 2**62]
    expected = hashed(pa.array(values, pa.int64()), "siphash24", key=key)
    for column in (np.array(values), np.array(values, dtype="i8")[::1], values, np.array(values, dtype=object)):
        assert hashed(column, "siphash24", key=key) == expected
    assert hashed(np.array([1, 2, 3, 4])[::2], "siphash24", key=key) == hashed(
        pa.array([1, 3]), "siphash24", key=key
    )
    assert hashed([1, None], "siphash24", key=key)[1] is None


def test_bytes_under_nulls_are_not_hashed() -> None:
    values = pa.array(["secret", "b"])
    hidden = pa.Array.from_buffers(pa.string(), 2, [pa.py_buffer(b"\x02"), *values.buffers()[1:]])
    assert hashed(hidden) == [None, md5("b")]
    assert hashed(pa.nulls(3)) == [None, None, None]
    assert hashed(pa.nulls(3, pa.string_view())) == [None, None, None]


def test_an_empty_column_has_a_type() -> None:
    for empty in ([], pa.array([], pa.string()), pa.chunked_array([], pa.string()), pl.Series([], dtype=pl.String)):
        column = lanesum.hash_column(empty, returns="arrow")
        assert len(column) == 0
        assert pa.array(column).type == pa.binary(16)
        assert pa.chunked_array(column).type == pa.binary(16)


def test_repr_of_a_column_shows_rows_and_type() -> None:
    column = lanesum.hash_column(pa.chunked_array([["a"], [None, "b"]]), output="hex", returns="arrow")
    assert (len(column), column.null_count, column.num_chunks) == (3, 1, 2)
    assert repr(column) == "<lanesum.Column of 3 Utf8>"


def test_long_and_short_values_beside_each_other(backend: str) -> None:
    source = random.Random(1)
    values = [source.randbytes(source.choice([0, 1, 55, 56, 64, 119, 120, 1000])) for _ in range(3000)]
    values.append(bytes(1_000_000))
    for kind in BYTES_TYPES:
        assert hashed(pa.array(values, kind)) == [md5(value) for value in values]


def test_invalid_columns_are_named_in_the_error(key: bytes) -> None:
    with pytest.raises(TypeError, match="md5 hashes text and bytes, not Float64; cast"):
        lanesum.hash_column(pa.array([1.5]))
    with pytest.raises(TypeError, match="md5 hashes text and bytes, not Int64; cast"):
        lanesum.hash_column([1, 2])
    with pytest.raises(TypeError, match="siphash24 hashes text, bytes and 64-bit integers, not Int32"):
        lanesum.hash_column(pa.array([1], pa.int32()), "siphash24", key=key)
    with pytest.raises(TypeError, match="List"):
        lanesum.hash_column(pa.array([["a"]]))
    with pytest.raises(ValueError, match=r"column is a table of 2 columns \(a, b\); pass one"):
        lanesum.hash_column(pa.table({"a": ["x"], "b": ["y"]}))
    with pytest.raises(ValueError, match="must have 1 dimension, not 2"):
        lanesum.hash_column(np.array([["a"]]))
    with pytest.raises(TypeError, match="dtype float64"):
        lanesum.hash_column(np.array([1.5]))
    with pytest.raises(TypeError, match=r"column\[1\] has type int"):
        lanesum.hash_column(["a", 1])
    with pytest.raises(TypeError, match=r"column\[1\] has type str, but earlier values are integers"):
        lanesum.hash_column([1, "a"])
    with pytest.raises(OverflowError, match=r"column\[0\]"):
        lanesum.hash_column([2**64], "siphash24", key=key)
    with pytest.raises(TypeError, match="column is a single str"):
        lanesum.hash_column("abc")
    with pytest.raises(ValueError, match="use binary, hex or uint64"):
        lanesum.hash_column([], output="bytes")
    with pytest.raises(ValueError, match="64-bit algorithm"):
        lanesum.hash_column([], output="uint64")


def test_errors_of_the_producer_are_raised() -> None:
    def batches():
        yield pa.record_batch({"x": ["a"]})
        raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("x", pa.string())]), batches())
    with pytest.raises(RuntimeError, match="the disk is gone"):
        lanesum.hash_column(reader)


@pytest.mark.large
def test_more_than_two_gigabytes() -> None:
    """Offsets of 64 bits: rows before and behind the 2^31st byte."""
    row = b"x" * (1 << 20)
    count = (1 << 11) + 2
    column = pa.array([row] * count, pa.large_binary())
    assert column.nbytes > 2**31
    assert set(hashed(column)) == {md5(row)}
    assert hashed(column[-2:]) == [md5(row)] * 2


def test_missing_objects_become_nulls() -> None:
    for missing in (None, float("nan"), Decimal("nan"), pd.NA, pd.NaT):
        assert pd.isna(missing)
        in_series = lanesum.hash_column(pd.Series([missing, "abc"], dtype=object), output="hex")
        assert pd.isna(in_series[0]) and in_series.to_list()[1:] == [hashlib.md5(b"abc").hexdigest()]
        assert lanesum.hash_column([missing, "abc"], output="hex").to_pylist() == [None, hashlib.md5(b"abc").hexdigest()]
        numbers = lanesum.hash_column([missing, 7], "siphash24", key=KEY, output="uint64").to_pylist()
        assert numbers == [None, lanesum.siphash24((7).to_bytes(8, "little"), key=KEY).intdigest()]
    for masked in (pd.array([7, None], dtype="Int64"), np.ma.array([7, 8], mask=[False, True])):
        assert lanesum.hash_column(masked, "siphash24", key=KEY, output="uint64").to_pylist() == [numbers[1], None]
    with pytest.raises(OverflowError, match=r"column\[0\] does not fit into a signed 64-bit integer"):
        lanesum.hash_column([2**63], "siphash24", key=KEY)
    for value in (Decimal("1.5"), True, 7, object()):
        with pytest.raises(TypeError, match=r"column\[1\] has type"):
            lanesum.hash_column(["abc", value])
        with pytest.raises(TypeError, match="column cannot be exported to Arrow: .*; cast it to text or bytes"):
            lanesum.hash_column(pd.Series(["abc", value], dtype=object))


@pytest.mark.parametrize(
    ("type", "to"), [(pa.int8(), "int64"), (pa.int32(), "int64"), (pa.uint16(), "uint64"), (pa.bool_(), "one of them")]
)
def test_unsupported_types_suggest_a_cast(type: pa.DataType, to: str) -> None:
    with pytest.raises(TypeError, match=f"siphash24 hashes text, bytes and 64-bit integers, not .*; cast the column to {to} first"):
        lanesum.hash_column(pa.array([1], type) if to != "one of them" else pa.array([True]), "siphash24", key=KEY)
    with pytest.raises(TypeError, match="dtype int32; .*astype"):
        lanesum.hash_column(np.array([1], np.int32), "siphash24", key=KEY)
    with pytest.raises(TypeError, match="must be a sequence, not LazyFrame; pass the result of its collect"):
        lanesum.hash_column(pl.LazyFrame({"a": ["x"]}))


def test_polars_objects_are_refused() -> None:
    """polars exports the addresses of Python objects."""
    polars = pytest.importorskip("polars")
    objects = polars.Series("names", ["ab", "ab"], dtype=polars.Object)
    for column in (objects, objects.to_frame()):
        with pytest.raises(TypeError, match=r"type Object.*to_list"):
            lanesum.hash_column(column)
        with pytest.raises(TypeError, match=r"type Object.*to_list"):
            lanesum.surrogate_key([column] if column is objects else column)
    with pytest.raises(TypeError, match="type Null.*cast it to polars.String"):
        lanesum.surrogate_key(polars.DataFrame({"a": [1], "b": [None]}))
    assert lanesum.hash_column(objects.to_list()).to_pylist() == [hashlib.md5(b"ab").digest()] * 2


class _Taken:
    """Returns the same capsules twice."""

    def __init__(self) -> None:
        self.capsules = pa.array(["a"]).__arrow_c_array__()

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.capsules


def test_data_of_another_type_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    batches = iter([pa.record_batch({"a": pa.array([1, 2])})])
    numbers_as_text = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.string())]), batches)
    with pytest.raises(ValueError, match="does not have the type of its schema"):
        lanesum.hash_column(numbers_as_text)
    twice = _Taken()
    assert len(lanesum.hash_column(twice)) == 1
    with pytest.raises(ValueError, match="was already consumed"):
        lanesum.hash_column(twice)
    # The exception has the message, and nothing is printed.
    assert capfd.readouterr() == ("", "")


def test_a_frame_with_one_column_is_hashed_as_that_column() -> None:
    frame = pd.DataFrame({"e": ["a", "b"]}, index=[5, 7])
    assert lanesum.hash_column(frame).to_list() == [hashlib.md5(text).digest() for text in (b"a", b"b")]


def test_a_requested_type_changes_no_hash() -> None:
    key = bytes(range(16))
    rows = [str(row) for row in range(100)]
    numbers = lanesum.hash_column(rows, "siphash24", key=key, output="uint64")
    expected = lanesum.hash_many(rows, "siphash24", key=key, output="uint64")
    assert max(expected) >= 1 << 63
    # pyarrow is given another type than it asked for, and fails at that by itself (26: strangely).
    with pytest.raises((pa.ArrowInvalid, ValueError, TypeError, AttributeError)):
        assert pa.array(numbers, type=pa.int64()).to_pylist() == expected
    digits = lanesum.hash_column(rows, output="hex")
    assert pa.array(digits, type=pa.string_view()).to_pylist() == lanesum.hash_many(rows, output="hex")
    with pytest.raises((pa.ArrowInvalid, ValueError, TypeError, AttributeError)):
        assert pa.array(digits, type=pa.int32()).null_count == 0


def test_object_arrays_are_refused_as_messages() -> None:
    rows = np.array([["a", "b"], ["c", "d"]], dtype=object)
    with pytest.raises(TypeError, match="messages must have 1 dimension, not 2"):
        lanesum.hash_many(rows)
    with pytest.raises(TypeError, match=r"messages\[0\]"):
        lanesum.hash_many(list(rows))
    with pytest.raises(TypeError):
        lanesum.md5(rows)


def test_a_column_is_assigned_to_a_frame_and_made_an_array() -> None:
    key = bytes(range(16))
    rows = ["a", None, "b", "x" * 40]
    frame = pd.DataFrame({"v": rows}, index=[7, 3, 5, 1])
    digits = lanesum.hash_column(frame["v"], output="hex", returns="arrow")
    expected = [row and hashlib.md5(row.encode()).hexdigest() for row in rows]
    assert list(digits) == expected
    frame["h"] = digits
    assert [None if pd.isna(value) else value for value in frame["h"]] == expected
    assert frame.assign(h=digits)["h"].tolist()[0] == expected[0]
    numbers = lanesum.hash_column(["a", "b"], "siphash24", key=key, output="uint64")
    array = np.asarray(numbers)
    assert array.dtype == np.uint64 and array.tolist() == numbers.to_pylist()
    # A hash next to a null does not become a float.
    some = lanesum.hash_column(rows, "siphash24", key=key, output="uint64")
    assert np.asarray(some).tolist() == some.to_pylist()
    frame["n"] = some
    assert frame["n"].tolist()[0] == some.to_pylist()[0]
    with pytest.raises(ValueError, match="is always a copy"):
        np.asarray(numbers, copy=False)


@pytest.mark.parametrize("output", ["binary", "hex", "uint64"])
def test_a_column_converts_to_each_library_and_pickles(output: str, key: bytes) -> None:
    # Two chunks, the second with an offset.
    values = pa.chunked_array([["a", None], pa.array(["x", "b", "c"]).slice(1)])
    column = lanesum.hash_column(values, "siphash24", key=key, output=output, returns="arrow")
    rows = column.to_pylist()
    assert rows[1] is None and len(set(rows)) == 4
    again = pickle.loads(pickle.dumps(column))
    assert again.num_chunks == column.num_chunks == 2 and repr(again) == repr(column)
    for made in (again.to_pylist(), column.to_pyarrow().to_pylist(), column.to_polars().to_list()):
        assert made == rows
    series = column.to_pandas()
    assert series.isna().tolist() == [False, True, False, False]
    # No number has become a float.
    assert [series[place] for place in (0, 2, 3)] == [rows[place] for place in (0, 2, 3)]
    empty = lanesum.hash_column([], "siphash24", key=key, output=output)
    assert pickle.loads(pickle.dumps(empty)).to_pyarrow().type == empty.to_pyarrow().type
    with pytest.raises(ValueError, match="not a table in the Arrow IPC format"):
        lanesum.Column._from_ipc(b"")


def test_a_row_is_indexed_by_number() -> None:
    column = lanesum.hash_column(pa.chunked_array([["a", None], ["b"]]), output="hex", returns="arrow")
    rows = column.to_pylist()
    assert [column[row] for row in range(-3, 3)] == rows * 2
    for row in (3, -4, 2**62, -(2**63)):
        with pytest.raises(IndexError, match=f"row {row} does not exist: the column has 3 rows"):
            column[row]
    for beyond in (2**70, -(2**70)):
        with pytest.raises(IndexError, match=f"row {beyond} does not exist"):
            column[beyond]
    with pytest.raises(TypeError):
        column["0"]  # type: ignore[index]


def test_extension_types_are_not_hashed_as_their_storage(key: bytes) -> None:
    months = pd.Series(pd.period_range("2020-01", periods=2, freq="M"))
    truths = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8()))
    for column, words in (
        (pa.array([bytes(16)], pa.uuid()), r"column has the type arrow.uuid, stored as FixedSizeBinary\(16\); convert it"),
        (pd.Series([uuid.UUID(int=5)]), "arrow.uuid"),
        (pa.table({"id": pa.array([bytes(16)], pa.uuid())}), "arrow.uuid"),
        (months, "pandas.period, stored as Int64; convert it to its storage type or to text$"),
        (truths, "arrow.bool8"),
    ):
        for arguments in ((), ("siphash24",)):
            with pytest.raises(TypeError, match=words):
                lanesum.hash_column(column, *arguments, key=key if arguments else None)
    assert hashed(pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}"]))) == [md5("{}")]
    assert hashed(pl.Series(["a"], dtype=pl.Enum(["a"]))) == [md5("a")]
    assert hashed(pd.Series(["a"], dtype="string")) == [md5("a")]


def test_a_type_of_another_library_is_named(key: bytes) -> None:
    numbers = pl.Series([1], dtype=pl.Int128)
    for column in (numbers, numbers.to_frame("a"), pd.Series([1j])):
        with pytest.raises(TypeError, match="column cannot be exported to Arrow: .*; cast it to text or bytes first"):
            lanesum.hash_column(column, "siphash24", key=key)


def test_a_pyarrow_null_is_missing() -> None:
    for values in (["a", None], [b"a", None]):
        assert lanesum.hash_column(list(pa.array(values))).to_pylist() == [md5("a"), None]
        with pytest.raises(TypeError, match=r"messages\[1\] is a missing value; remove it"):
            lanesum.hash_many(pa.array(values))
    assert lanesum.hash_many(pa.array(["a", "b"])) == [md5("a"), md5("b")]


def test_an_impossible_size_is_a_memory_error() -> None:
    many = pa.Array.from_buffers(pa.binary(0), 2**59, [None, pa.py_buffer(b"")])
    with pytest.raises(MemoryError):
        lanesum.hash_column(many)


def test_a_shadowed_datetime_module_causes_no_panic(tmp_path: Path) -> None:
    (tmp_path / "datetime.py").write_text("x = 1\n")
    code = "import lanesum; print(lanesum.hash_column(['a'], output='hex').to_pylist())"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout == "['0cc175b9c0f1b6a831c399e269772661']\n", run.stderr


def test_many_long_messages_keep_their_order() -> None:
    messages = [bytes([number]) * (20 << 20) for number in range(9)]
    assert lanesum.hash_many(messages) == [hashlib.md5(message).digest() for message in messages]


@pytest.mark.parametrize("kind", ["u8", ">u8", "i8", "<i8"])
def test_masked_numpy_values_are_null(kind: str, key: bytes) -> None:
    top = 2**64 - 1 if kind.endswith("u8") else -(2**63)
    numbers = np.ma.array([top, 1, 2], dtype=kind, mask=[False, True, False])
    for column in (numbers, np.ma.array([top, 0, 1, 0, 2], dtype=kind, mask=[0, 0, 1, 0, 0])[::2]):
        found = lanesum.hash_column(column, "siphash24", key=key, output="uint64").to_pylist()
        plain = np.array([top, 2], dtype=kind)
        first, last = lanesum.hash_column(plain, "siphash24", key=key, output="uint64").to_pylist()
        assert found == [first, None, last]
    texts = [str(top), None, "2"]
    assert lanesum.surrogate_key([numbers]).to_pylist() == lanesum.surrogate_key([texts]).to_pylist()
    whole = np.ma.array([top], dtype=kind)
    assert lanesum.hash_column(whole, "siphash24", key=key)[0] == peer.siphash24(
        (top % 2**64).to_bytes(8, "little"), key=key
    ).digest()


def test_lazy_data_names_the_method_that_computes_it() -> None:
    class Lazy:
        dtype = np.dtype("U1")

        def compute(self) -> object: ...

    with pytest.raises(TypeError, match=r"column must be a sequence, not Lazy; pass the result of its compute\(\)"):
        lanesum.hash_column(Lazy())
    with pytest.raises(TypeError, match=r"columns\[0\] must be a sequence, not Lazy; .*compute"):
        lanesum.surrogate_key([Lazy()])


@pytest.mark.parametrize("chunks", [[["a", None, "", "of more than twelve"]], [["a"], [None, "b" * 13]], []])
def test_text_and_bytes_use_the_requested_layout(chunks: list[list[str | None]]) -> None:
    given = pa.chunked_array(chunks, pa.string())
    hexadecimal, binary = (lanesum.hash_column(given, output=output, returns="arrow") for output in ("hex", "binary"))
    digests = [None if row is None else hashlib.md5(row.encode()) for row in given.to_pylist()]
    for column, types, expected in [
        (hexadecimal, TEXT_TYPES, [row and row.hexdigest() for row in digests]),
        (binary, [pa.binary(), pa.large_binary(), pa.binary_view()], [row and row.digest() for row in digests]),
    ]:
        for wanted in types:
            asked = pa.field("", wanted).__arrow_c_schema__()
            whole = pa.Array._import_from_c_capsule(*column.__arrow_c_array__(asked))
            stream = pa.ChunkedArray._import_from_c_capsule(column.__arrow_c_stream__(asked))
            for got in (whole, stream):
                assert (got.type, got.to_pylist()) == (wanted, expected)
            whole.validate(full=True)


def test_a_table_uses_the_requested_layout(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    table = lanesum.hash_files([tmp_path / "a", tmp_path / "none"])
    own = pa.table(table)
    wider = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
    fields = [field.with_type(wider.get(field.type, field.type)) for field in own.schema]
    assert {field.type for field in fields} >= {pa.large_string()}
    asked = pa.schema(fields)
    got = pa.RecordBatchReader._import_from_c_capsule(table.__arrow_c_stream__(asked.__arrow_c_schema__())).read_all()
    assert got.schema.types == asked.types
    assert got.to_pylist() == own.to_pylist()


def test_a_column_is_assigned_to_a_frame_by_position() -> None:
    frame = pd.DataFrame({"value": ["b", "a", "c"]}).sort_values("value")
    column = lanesum.hash_column(frame["value"], output="hex", returns="arrow")
    frame["digest"] = column
    assert frame["digest"].tolist() == [hashlib.md5(it.encode()).hexdigest() for it in frame["value"]]
    # The series has its own index.
    assert column.to_pandas().index.tolist() == [0, 1, 2]
