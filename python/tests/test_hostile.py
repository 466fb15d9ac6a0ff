"""Input that is not what it seems, or that is broken: refused, or hashed as what it means."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import lanesum


@pytest.mark.parametrize("kind", ["i8", "u8"])
def test_numbers_of_foreign_byte_order(kind: str, key: bytes) -> None:
    for order in "<>=":
        array = np.array([1, 2, 2**40], order + kind)
        column = lanesum.hash_column(array, "siphash24", key=key)
        assert column.to_pylist() == lanesum.hash_column([1, 2, 2**40], "siphash24", key=key).to_pylist()
        strided = lanesum.hash_column(array[::2], "siphash24", key=key)
        assert strided.to_pylist() == lanesum.hash_column([1, 2**40], "siphash24", key=key).to_pylist()
        assert lanesum.surrogate_key([array]).to_pylist() == lanesum.hash_many(
            ["1", "2", str(2**40)], output="hex"
        )


def test_a_column_of_structs_is_not_a_table() -> None:
    texts = pa.array(["a", "b"])
    plain = pa.StructArray.from_arrays([texts], ["x"])
    with_null = pa.StructArray.from_arrays([texts], ["x"], mask=pa.array([False, True]))
    for structs in [plain, with_null, pa.chunked_array([with_null])]:
        for refused in [
            lambda structs=structs: lanesum.hash_column(structs),
            lambda structs=structs: lanesum.surrogate_key(structs),
            lambda structs=structs: lanesum.surrogate_key([structs]),
        ]:
            with pytest.raises(TypeError, match="one column of structs; pass its fields as columns"):
                refused()

    class Anonymous:
        """Of which only its rows say that it is no table."""

        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return with_null.__arrow_c_array__(requested_schema)

    with pytest.raises(TypeError, match="one column of structs"):
        lanesum.hash_column(Anonymous())
    with pytest.raises(TypeError, match="one column of structs"):
        lanesum.surrogate_key(Anonymous())
    expected = lanesum.hash_column(texts, output="hex").to_pylist()
    # A frame with columns of the names of a series' attributes is a table.
    frame = pd.DataFrame({"type": ["a", "b"], "dtype": ["c", "d"]})
    assert len(lanesum.surrogate_key(frame)) == 2
    for table in [pa.table({"type": texts}), pa.record_batch({"dtype": texts})]:
        assert lanesum.hash_column(table, output="hex").to_pylist() == expected
        assert lanesum.surrogate_key(table).to_pylist() == expected


def broken_columns() -> dict[str, pa.Array]:
    def integers(kind: str, *numbers: int) -> pa.Buffer:
        return pa.py_buffer(np.array(numbers, kind).tobytes())

    text = pa.py_buffer(b"abcdefgh")
    values = pa.array(["a", "b"])
    long_view = integers("i4", 20, 0, 7, 0)
    index = pa.dictionary(pa.int8(), pa.string())
    falling = pa.Array.from_buffers(pa.string(), 2, [None, integers("i4", 0, 5, 2), text])
    return {
        "index too large": pa.DictionaryArray.from_arrays(pa.array([0, 2], pa.int8()), values, safe=False),
        "index below zero": pa.DictionaryArray.from_arrays(pa.array([0, -1], pa.int64()), values, safe=False),
        "index of nothing": pa.DictionaryArray.from_arrays(
            pa.array([0], pa.uint32()), values[:0], safe=False
        ),
        "dictionary of falling offsets": pa.DictionaryArray.from_buffers(
            index, 2, [None, integers("i1", 0, 1)], falling
        ),
        "falling": falling,
        "large": pa.Array.from_buffers(pa.large_string(), 2, [None, integers("i8", 0, 5, 2), text]),
        "view": pa.Array.from_buffers(pa.string_view(), 1, [None, long_view, text]),
    }


@pytest.mark.parametrize("name", ["falling", "large", "view"])
def test_invalid_offsets_are_refused(name: str, key: bytes) -> None:
    refused(broken_columns()[name], key)


@pytest.mark.parametrize(
    "name", ["index too large", "index below zero", "index of nothing", "dictionary of falling offsets"]
)
def test_invalid_dictionary_indices_are_refused(name: str, key: bytes) -> None:
    refused(broken_columns()[name], key)


def refused(column: pa.Array, key: bytes) -> None:
    with pytest.raises(ValueError, match="out of bounds"):
        lanesum.hash_column(column)
    with pytest.raises(ValueError, match="out of bounds"):
        lanesum.hash_column(pa.chunked_array([column]), "siphash24", key=key)
    with pytest.raises(ValueError, match="out of bounds"):
        lanesum.surrogate_key([column])
    batch = pa.RecordBatch.from_arrays([column], ["x"])
    with pytest.raises(ValueError, match="out of bounds"):
        lanesum.surrogate_key(batch)


def test_invalid_indices_under_nulls_are_ignored() -> None:
    indices = pa.Array.from_buffers(
        pa.int8(), 2, [pa.py_buffer(b"\x01"), pa.py_buffer(b"\x01\x63")]
    )
    column = pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b"]), safe=False)
    assert lanesum.hash_column(column).to_pylist() == lanesum.hash_column(["b", None]).to_pylist()


def test_empty_slices_have_no_rows() -> None:
    for kind in [pa.string(), pa.large_string(), pa.string_view()]:
        column = pa.array(["a", "b", "c" * 20], kind)
        for start in range(4):
            assert lanesum.hash_column(column[start:start]).to_pylist() == []


@pytest.mark.parametrize(
    "scalar",
    [
        np.float64(1), np.float32("nan"), np.bool_(True), np.int64(1), np.int32(1), np.complex128(1),
        np.datetime64("2026-01-31"), np.void(b"ab"),
    ],
    ids=repr,
)  # fmt: skip
def test_numpy_scalars_are_refused_as_messages(scalar: np.generic) -> None:
    objects = np.empty(2, object)
    objects[:] = ["a", scalar]
    for refused in [
        lambda: lanesum.hash_many([b"a", scalar]),
        lambda: lanesum.hash_column([scalar]),
        lambda: lanesum.hash_column(["a", scalar]),
        lambda: lanesum.hash_column([1, scalar]),
        lambda: lanesum.hash_column(objects),
        lambda: lanesum.surrogate_key([[scalar]]),
    ]:
        with pytest.raises(TypeError, match=rf"\[\d\] has type {type(scalar).__name__}"):
            refused()


def test_numpy_text_and_bytes_are_messages() -> None:
    expected = lanesum.hash_many(["a", "b"])
    assert lanesum.hash_many([np.str_("a"), np.bytes_(b"b")]) == expected
    assert lanesum.hash_many([np.frombuffer(b"a", np.uint8), np.array([98], np.uint8)]) == expected
    assert lanesum.hash_column(["a", np.float64("nan")]).to_pylist() == [expected[0], None]


@pytest.mark.parametrize("given", [{"a": "b"}, {}, {"a"}, frozenset(), set()], ids=repr)
def test_dicts_and_sets_are_refused(given: object) -> None:
    for function in (lanesum.hash_column, lanesum.hash_many):
        with pytest.raises(TypeError, match=f"must be a sequence, not {type(given).__name__}; pass a list"):
            function(given)  # type: ignore[arg-type]
    assert lanesum.surrogate_key({"a": ["x"]}).to_pylist() == lanesum.hash_many(["x"], output="hex")


class Given:
    """Capsules of an array that another object has consumed."""

    def __init__(self, array: pa.Array) -> None:
        self.capsules = array.__arrow_c_array__()

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.capsules


def test_consumed_capsules_are_refused() -> None:
    texts = pa.array([f"secret {row}" for row in range(1000)])
    for array in [texts, pa.RecordBatch.from_arrays([texts], ["a"])]:
        given = Given(array)
        taken = type(array)._import_from_c_capsule(*given.capsules)
        assert len(taken) == 1000
        del taken
        for hashed in [lanesum.hash_column, lambda column: lanesum.surrogate_key([column])]:
            with pytest.raises(ValueError, match="was already consumed; pass the array itself"):
                hashed(given)


def test_a_frame_without_columns_is_refused() -> None:
    frame = pd.DataFrame({"name": ["x", "y"]}, index=["ada", "bob"])
    for without in [frame.select_dtypes("datetime"), pd.DataFrame()]:
        with pytest.raises(ValueError, match="column is a table without columns"):
            lanesum.hash_column(without)


def test_unaligned_numbers(key: bytes) -> None:
    records = np.zeros(3, [("flag", "u1"), ("id", "i8")])
    records["id"] = [1, 2, -3]
    found = lanesum.hash_column(records["id"], "siphash24", key=key).to_pylist()
    assert found == lanesum.hash_column([1, 2, -3], "siphash24", key=key).to_pylist()


def test_usedforsecurity_accepts_any_truth_value() -> None:
    for flag in [True, 0, None, "no"]:
        hashed = lanesum.md5(b"a", usedforsecurity=flag)  # type: ignore[arg-type]
        assert hashed.digest() == lanesum.md5(b"a").digest()


class Inches(pa.ExtensionType):  # type: ignore[misc]
    """An extension type."""

    def __init__(self) -> None:
        super().__init__(pa.int32(), "lanesum.inches")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> Inches:
        return cls()


def test_a_dictionary_has_the_type_of_its_values(key: bytes) -> None:
    def dictionary(values: pa.Array) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array([0]), values)

    uuids = dictionary(pa.array([bytes(16)], pa.uuid()))
    inches = dictionary(pa.ExtensionArray.from_storage(Inches(), pa.array([1], pa.int32())))
    for column, name in [(uuids, "arrow.uuid"), (inches, "lanesum.inches")]:
        for given in [column, pa.chunked_array([column]), pa.table({"a": column}), pa.record_batch({"a": column})]:
            for hashed in [
                lambda given=given: lanesum.hash_column(given),
                lambda given=given: lanesum.hash_column(given, "siphash24", key=key),
                lambda given=given: lanesum.surrogate_key([given]),
            ]:
                with pytest.raises(TypeError, match=f"has the type {name}, stored as Dictionary"):
                    hashed()
        table = pa.table({"b": pa.array(["x"]), "a": column})
        for given in [table, table.to_batches()[0], {"a": column}]:
            with pytest.raises(TypeError, match=f"columns\\[.a.\\] has the type {name}"):
                lanesum.surrogate_key(given)
    # Text says itself what it means.
    texts = dictionary(pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}"])))
    expected = lanesum.hash_many(["{}"])
    for given in [texts, pa.chunked_array([texts]), dictionary(pa.array(["{}"]))]:
        assert lanesum.hash_column(given).to_pylist() == expected
        assert lanesum.surrogate_key([given], output="binary").to_pylist() == expected
