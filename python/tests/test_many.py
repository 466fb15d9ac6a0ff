"""Compare many messages with hashlib and siphash24 one by one."""

from __future__ import annotations

import array
import ctypes
import hashlib
import mmap

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

MESSAGES = st.lists(st.one_of(st.binary(max_size=300), st.text(max_size=60)), max_size=80)


def as_bytes(message: bytes | str) -> bytes:
    return message.encode() if isinstance(message, str) else message


@given(messages=MESSAGES)
def test_md5_agrees_with_hashlib(backend: str, messages: list[bytes | str]) -> None:
    expected = [hashlib.md5(as_bytes(message)) for message in messages]
    assert lanesum.hash_many(messages) == [digest.digest() for digest in expected]
    assert lanesum.hash_many(messages, output="hex") == [digest.hexdigest() for digest in expected]


@pytest.mark.parametrize("name", ["siphash24", "siphash13"])
@given(messages=MESSAGES)
def test_siphash_agrees_with_its_peer(
    backend: str, key: bytes, name: str, messages: list[bytes | str]
) -> None:
    expected = [getattr(peer, name)(as_bytes(message), key=key) for message in messages]
    assert lanesum.hash_many(messages, name, key=key) == [e.digest() for e in expected]
    assert lanesum.hash_many(messages, name, key=key, output="hex") == [
        e.hexdigest() for e in expected
    ]
    assert lanesum.hash_many(messages, name, key=key, output="uint64") == [
        int.from_bytes(e.digest(), "little") for e in expected
    ]


@pytest.mark.parametrize("name", ["siphash24_128", "siphash13_128"])
def test_siphash_of_128_bits_agrees_with_its_objects(backend: str, key: bytes, name: str) -> None:
    messages = [bytes(length) for length in range(300)]
    expected = [getattr(lanesum, name)(message, key=key).digest() for message in messages]
    assert lanesum.hash_many(messages, name, key=key) == expected


def test_more_than_a_batch() -> None:
    messages = [str(number) * (number % 40) for number in range(100_000)]
    expected = [hashlib.md5(message.encode()).digest() for message in messages]
    assert lanesum.hash_many(messages) == expected


def test_every_sequence_and_buffer_is_taken() -> None:
    expected = [hashlib.md5(text).digest() for text in (b"a", b"bc")]
    sequences = [
        ["a", b"bc"],
        ("a", bytearray(b"bc")),
        (text for text in ("a", "bc")),
        np.array(["a", "bc"]),
        np.array([b"a", b"bc"]),
        np.array(["a", b"bc"], dtype=object),
        [memoryview(b"a"), np.frombuffer(b"bc", dtype="<u2")],
    ]
    for sequence in sequences:
        assert lanesum.hash_many(sequence) == expected, sequence
    assert lanesum.hash_many([]) == []


def test_invalid_input_is_named(key: bytes) -> None:
    with pytest.raises(TypeError, match="messages is a single str; pass a list"):
        lanesum.hash_many("abc")
    with pytest.raises(TypeError, match="messages is a single bytes; pass a list"):
        lanesum.hash_many(b"abc")
    with pytest.raises(TypeError, match="messages must be a sequence, not int"):
        lanesum.hash_many(7)
    with pytest.raises(TypeError, match=r"messages\[1\] is a missing value"):
        lanesum.hash_many(["a", None])
    with pytest.raises(TypeError, match=r"messages\[2\] has type int"):
        lanesum.hash_many(["a", "b", 3])
    for function, what in ((lanesum.hash_many, "messages"), (lanesum.hash_column, "column")):
        with pytest.raises(UnicodeEncodeError) as raised:
            function(["a"] * 5 + ["\ud800"])
        assert raised.value.__notes__ == [f"in {what}[5]"]
        with pytest.raises(BufferError, match=rf"{what}\[1\]: .* pass a copy"):
            function([b"a", memoryview(bytes(8))[::2]])
    with pytest.raises(ValueError, match='unknown output "base64"; use binary, hex or uint64'):
        lanesum.hash_many([], output="base64")
    with pytest.raises(ValueError, match="64-bit algorithm such as siphash24; md5 has 128 bits"):
        lanesum.hash_many([], output="uint64")
    with pytest.raises(ValueError, match="unknown algorithm"):
        lanesum.hash_many([], "md6")
    with pytest.raises(ZeroDivisionError):
        lanesum.hash_many(1 / 0 for _ in range(1))


def test_exceptions_of_a_generator_are_raised() -> None:
    def items():  # type: ignore[no-untyped-def]
        yield "a"
        yield "b" + 1

    calls = lanesum.hash_many, lanesum.hash_column, lanesum.surrogate_key, lambda given: lanesum.surrogate_key([given])
    for call in calls:
        with pytest.raises(TypeError, match="can only concatenate str"):
            call(items())
        with pytest.raises(TypeError, match="must be a sequence, not int") as raised:
            call(7)
        assert "not iterable" in str(raised.value.__cause__)


def test_tables_and_arrays_of_rows_are_refused() -> None:
    columns = {"email": ["x@y"], "name": ["z"]}
    relation = duckdb.sql("SELECT 'x@y' email")
    for table in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns), pa.record_batch(columns), relation):
        with pytest.raises(TypeError, match=f"messages must be a column, not a table \\({type(table).__name__}\\); pass one of its columns"):
            lanesum.hash_many(table)
    with pytest.raises(TypeError, match="messages must have 1 dimension, not 2"):
        lanesum.hash_many(np.array([[1, 2], [3, 4]], np.uint8))
    with pytest.raises(TypeError, match="messages must be a sequence, not mappingproxy"):
        lanesum.hash_many(type.__dict__["__dict__"].__get__(int))
    assert lanesum.hash_many(pd.DataFrame(columns)["email"]) == lanesum.hash_many(["x@y"])


def test_a_list_subclass_is_read_by_its_iterator() -> None:
    class Reversed(list):  # type: ignore[type-arg]
        def __iter__(self):  # type: ignore[no-untyped-def]
            return iter(self[::-1])

    given = Reversed(["a", "b"])
    expected = lanesum.hash_many(["b", "a"])
    assert lanesum.hash_many(given) == expected
    assert lanesum.hash_column(given).to_pylist() == expected


def test_a_single_message_is_refused() -> None:
    chars = (ctypes.c_char * 3).from_buffer_copy(b"abc")
    for one in ("abc", b"abc", bytearray(b"abc"), memoryview(b"abc"), mmap.mmap(-1, 3), chars):
        for hashed in (lanesum.hash_many, lanesum.hash_column):
            with pytest.raises(TypeError, match=f" is a single {type(one).__name__}; pass a list"):
                hashed(one)
        assert lanesum.hash_many([one]) == [hashlib.md5(one.encode() if isinstance(one, str) else one).digest()]
    rows = (ctypes.c_char * 1 * 3).from_buffer_copy(b"abc")
    for several in (rows, np.array([b"a", b"b", b"c"])):
        assert lanesum.hash_many(several) == lanesum.hash_many(["a", "b", "c"])
    assert len(lanesum.hash_column(array.array("B", b"abc"), "siphash24", key=bytes(16))) == 3


def test_a_class_is_refused_as_sequence() -> None:
    for given in (np.ndarray, pa.Array, pl.Series, list):
        words = f" is the class {given.__name__}; pass an instance of it"
        for hashed in (lanesum.hash_many, lanesum.hash_column, lanesum.surrogate_key):
            with pytest.raises(TypeError, match=words):
                hashed(given)
        with pytest.raises(TypeError, match=r"columns\[0\]" + words):
            lanesum.surrogate_key([given])
