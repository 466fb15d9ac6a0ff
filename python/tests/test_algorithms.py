"""Compares every algorithm of columns, messages, keys and objects with hashlib, hmac and known digests."""

from __future__ import annotations

import hashlib
import hmac
import random
from collections.abc import Callable

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lanesum

#: Keys as short as allowed, of one block of SHA-256, of one of SHA-512, and longer.
KEYS = [b"k", bytes(range(64)), bytes(range(128)), bytes(range(129))]


def new(name: str) -> Callable[[bytes], bytes]:
    return lambda message: hashlib.new(name, message).digest()


def keyed(name: str, key: bytes) -> Callable[[bytes], bytes]:
    return lambda message: hmac.digest(key, message, name)


PLAIN = {
    "md5": new("md5"),
    "sha1": new("sha1"),
    "sha224": new("sha224"),
    "sha256": new("sha256"),
    "sha384": new("sha384"),
    "sha512": new("sha512"),
    "sha512-256": new("sha512_256"),
}
HMAC = {"hmac-sha1": "sha1", "hmac-sha256": "sha256", "hmac-sha512": "sha512"}
#: Digests of "abc" by b3sum, xxhsum -H2 and -H3, and cksum -a crc32c.
OTHERS = {
    "blake3": "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85",
    "xxh128": "06b05ab6733a618578af5f94892f3950",
    "xxh3-64": "78af5f94892f3950",
    "crc32c": "364b3fb7",
}
BYTES = random.Random(58).randbytes(4000)
#: Each length up to 300 bytes, in an order that mixes them and in one that does not.
LENGTHS = [length * 7 % 301 for length in range(301)] + list(range(301)) + [1000, 3999]
MESSAGES = [BYTES[length % 5 :][:length] for length in LENGTHS]
#: The types of columns, with the bytes of the last row in three layouts.
TYPES = [pa.binary(), pa.large_binary(), pa.binary_view()]


def check(name: str, expected: Callable[[bytes], bytes], key: bytes | None) -> None:
    """Compares columns of each type, messages and objects."""
    digests = [expected(message) for message in MESSAGES]
    for kind in TYPES:
        for threads in (1, 3):
            column = pa.array(MESSAGES, kind)
            assert lanesum.hash_column(column, name, key=key, threads=threads).to_pylist() == digests
    hexed = [digest.hex() for digest in digests]
    assert lanesum.hash_column(MESSAGES, name, key=key, output="hex").to_pylist() == hexed
    assert lanesum.hash_many(MESSAGES, name, key=key) == digests
    assert lanesum.hash_many(MESSAGES, name, key=key, output="hex") == hexed
    for message, digest in zip(MESSAGES, digests):
        ours = lanesum.new(name, message[:70], key=key)
        ours.update(message[70:])
        assert ours.digest() == digest
        assert ours.name == name and ours.digest_size == len(digest)


@pytest.mark.parametrize("name", PLAIN)
def test_every_length_agrees_with_hashlib(backend: str, name: str) -> None:
    check(name, PLAIN[name], None)
    assert lanesum.new(name).block_size == hashlib.new(name.replace("-", "_")).block_size


@pytest.mark.parametrize("key", KEYS, ids=len)
@pytest.mark.parametrize("name", HMAC)
def test_every_length_agrees_with_hmac(backend: str, name: str, key: bytes) -> None:
    check(name, keyed(HMAC[name], key), key)
    assert lanesum.new(name, key=key).block_size == hashlib.new(HMAC[name]).block_size


@pytest.mark.parametrize("name", OTHERS)
def test_other_algorithms_agree_with_their_programs(name: str) -> None:
    assert lanesum.new(name, b"abc").hexdigest() == OTHERS[name]
    assert lanesum.hash_column(["abc"], name, output="hex").to_pylist() == [OTHERS[name]]
    # One message at a time and many agree.
    check(name, lambda message: lanesum.new(name, message).digest(), None)


def test_keyed_blake3_agrees_with_its_test_vectors() -> None:
    key = b"whats the Elvish word for friend"
    digests = [
        "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26",
        "6d7878dfff2f485635d39013278ae14f1454b8c0a3a2d34bc1ab38228a80c95b",
    ]
    assert lanesum.hash_many([b"", b"\0"], "blake3", key=key, output="hex") == digests
    assert lanesum.new("blake3", b"\0", key=key).hexdigest() == digests[1]


@pytest.mark.parametrize("name", ["xxh3-64", "crc32c"])
def test_short_digests_are_numbers_too(name: str) -> None:
    number = int(OTHERS[name], 16)
    assert lanesum.hash_column(["abc", None], name, output="uint64").to_pylist() == [number, None]
    assert lanesum.hash_many(["abc"], name, output="uint64") == [number]
    assert lanesum.new(name, b"abc").intdigest() == number


@pytest.mark.parametrize("name", [*PLAIN, *HMAC, *OTHERS])
@given(values=st.lists(st.none() | st.binary(max_size=200), max_size=80), data=st.data())
def test_nulls_slices_and_chunks(name: str, values: list[bytes | None], data: st.DataObject) -> None:
    key = b"secret" if name in HMAC else None
    start = data.draw(st.integers(0, len(values)))
    end = data.draw(st.integers(start, len(values)))
    digests = [None if value is None else lanesum.new(name, value, key=key).digest() for value in values]
    for kind in TYPES:
        whole = pa.array(values, kind)
        part = lanesum.hash_column(whole[start:end], name, key=key)
        assert part.to_pylist() == digests[start:end]
        chunks = pa.chunked_array([whole[:start], whole[start:end], whole[end:]], kind)
        for threads in (1, 2, None):
            hashed = lanesum.hash_column(chunks, name, key=key, threads=threads)
            assert hashed.to_pylist() == digests
    dictionary = pa.array(values, pa.binary()).dictionary_encode()
    assert lanesum.hash_column(dictionary, name, key=key).to_pylist() == digests


@pytest.mark.parametrize("name", ["sha256", "sha512", "blake3"])
def test_large_text_is_hashed(name: str) -> None:
    texts = ["x" * (3 << 20), "", "y" * ((1 << 20) + 1), None]
    expected = [None if text is None else lanesum.new(name, text.encode()).digest() for text in texts]
    assert lanesum.hash_column(pa.array(texts), name).to_pylist() == expected
    assert lanesum.hash_column(pa.array(texts), name, threads=2).to_pylist() == expected
    if name in PLAIN:
        assert expected[0] == PLAIN[name](b"x" * (3 << 20))


@pytest.mark.parametrize("output", ["binary", "hex", "uint64"])
def test_many_rows_on_threads_keep_their_order(output: str) -> None:
    name, key = ("siphash24", bytes(16)) if output == "uint64" else ("sha256", None)
    texts = [f"row {number}" for number in range(100_003)]
    column = pa.array(texts)
    chunks = pa.chunked_array([column[:70_000], column[70_000:70_001], column[70_001:]])
    expected = lanesum.hash_many(texts, name, key=key, output=output)
    for columns in (column, chunks):
        for threads in (1, 2, 7):
            hashed = lanesum.hash_column(columns, name, key=key, output=output, threads=threads)
            assert hashed.to_pylist() == expected
    frame = pa.table({"a": texts, "b": list(range(len(texts)))})
    joined = [f"{text}-{number}" for number, text in enumerate(texts)]
    keys = lanesum.surrogate_key(frame, algorithm=name, key=key, output=output, threads=3)
    assert keys.to_pylist() == lanesum.hash_many(joined, name, key=key, output=output)


@pytest.mark.parametrize("name", [*PLAIN, *HMAC, *OTHERS])
def test_surrogate_keys_take_every_algorithm(name: str) -> None:
    key = b"secret" if name in HMAC else None
    keys = lanesum.surrogate_key([["a", None], [1, 2]], algorithm=name, key=key)
    joined = [b"a-1", b"_dbt_utils_surrogate_key_null_-2"]
    assert keys.to_pylist() == [lanesum.new(name, text, key=key).hexdigest() for text in joined]


def test_hmac_objects_copy_and_continue() -> None:
    one = lanesum.new("hmac_sha256", b"common", key=b"secret")
    other = one.copy()
    one.update(b"a")
    assert other.digest() == hmac.digest(b"secret", b"common", "sha256")
    assert one.digest() == hmac.digest(b"secret", b"commona", "sha256")
    assert repr(one) == "<hmac-sha256 lanesum.Hash>"


@pytest.mark.parametrize("name", ["sha1", "sha256", "sha512"])
def test_functions_of_hashlib_have_its_shape(name: str) -> None:
    ours, theirs = getattr(lanesum, name), getattr(hashlib, name)
    for made in (ours(b"abc"), ours(data=b"abc"), ours(string=b"abc", usedforsecurity=False)):
        assert made.hexdigest() == theirs(b"abc").hexdigest()
    for attribute in ("name", "digest_size", "block_size"):
        assert getattr(ours(), attribute) == getattr(theirs(), attribute)
    assert hmac.new(b"key", b"abc", ours).digest() == hmac.digest(b"key", b"abc", name)
    with pytest.raises(TypeError, match="string= and data are the same argument"):
        ours(b"a", string=b"b")


def test_keys_are_checked() -> None:
    for name in ("sha256", "xxh128", "crc32c"):
        with pytest.raises(TypeError, match=f"{name} takes no key; use hmac-sha256 or siphash24"):
            lanesum.hash_column(["a"], name, key=b"key")
    with pytest.raises(TypeError, match="hmac-sha256 needs key=, a secret of any length"):
        lanesum.hash_column(["a"], "hmac-sha256")
    with pytest.raises(ValueError, match="hmac-sha256 needs a key that is not empty"):
        lanesum.hash_column(["a"], "hmac-sha256", key=b"")
    with pytest.raises(ValueError, match="blake3 needs a key of 32 bytes, not 16"):
        lanesum.new("blake3", key=bytes(16))
    with pytest.raises(ValueError, match="sha256 has 256 bits"):
        lanesum.hash_column(["a"], "sha256", output="uint64")
    with pytest.raises(TypeError, match="sha256 hashes text and bytes, not Int64; cast the column to one of them first"):
        lanesum.hash_column(pa.array([1]), "sha256")


def test_numbers_of_threads_are_checked() -> None:
    for threads, error, words in (
        (0, ValueError, "threads=0 must be from 1 to 1024, or None for one per CPU"),
        (1025, ValueError, "threads=1025"),
        (-(2**70), ValueError, "must be from 1 to 1024"),
        (True, TypeError, "threads must be an int or None, not bool"),
        ("2", TypeError, "threads must be an int or None, not str"),
    ):
        with pytest.raises(error, match=words):
            lanesum.hash_column(["a"], threads=threads)
        with pytest.raises(error, match=words):
            lanesum.surrogate_key([["a"]], threads=threads)


def test_every_spelling_is_one_algorithm() -> None:
    for spelling, name in (("sha512_256", "sha512-256"), ("xxh3", "xxh128"), ("xxh3_64", "xxh3-64")):
        assert lanesum.new(spelling).name == name
    # A name of files only.
    with pytest.raises(ValueError, match=r"unknown algorithm \"xxh32\".*hash_files\(\).*support it for files"):
        lanesum.new("xxh32")


def sample() -> list[str | None]:
    return ["a", None, "abc"]


def hexed(values: list[str | None]) -> list[str | None]:
    return [None if value is None else hashlib.sha256(value.encode()).hexdigest() for value in values]


@pytest.mark.parametrize("dtype", ["str", "object", "string", "string[pyarrow]", pd.ArrowDtype(pa.string()), "category"])
def test_a_pandas_series_gives_a_series_with_its_index(dtype: object) -> None:
    frame = pd.DataFrame({"value": pd.Series(["x", *sample()], index=[3, 1, 1, 2], dtype=dtype)})
    some = frame[[False, True, True, True]]
    digests = lanesum.hash_column(some["value"], "sha256", output="hex")
    assert isinstance(digests, pd.Series) and digests.name == "value"
    assert digests.index.equals(some.index) and digests.dtype == pd.ArrowDtype(pa.string())
    # The index has a value twice, and others than the places of the rows.
    for assigned in (some.assign(d=digests)["d"], some.assign(d=lambda it: digests)["d"]):
        assert [None if pd.isna(value) else value for value in assigned] == hexed(sample())
    assert [None if pd.isna(value) else value for value in digests.to_list()] == hexed(sample())
    one = lanesum.hash_column(some, "sha256", output="hex")
    assert one.name == "value" and one.index.equals(some.index) and one.equals(digests)


def test_other_outputs_have_fitting_types_of_pandas() -> None:
    series = pd.Series(sample(), index=list("xyz"), name="v")
    binary = lanesum.hash_column(series, "sha256")
    assert binary.dtype == pd.ArrowDtype(pa.binary(32)) and binary["z"].hex() == hexed(["abc"])[0]
    numbers = lanesum.hash_column(series, "siphash24", key=bytes(16), output="uint64")
    assert numbers.dtype == pd.ArrowDtype(pa.uint64()) and numbers.isna().to_list() == [False, True, False]
    index = lanesum.hash_column(pd.Index(["a"], name="i"), output="hex")
    assert isinstance(index, pd.Index) and index.name == "i" and index[0] == hashlib.md5(b"a").hexdigest()
    empty = lanesum.hash_column(series[:0], output="hex")
    assert isinstance(empty, pd.Series) and len(empty) == 0 and empty.name == "v"


@pytest.mark.parametrize("output", ["binary", "hex"])
def test_a_polars_series_gives_a_series_with_its_name(output: str) -> None:
    frame = pl.DataFrame({"value": ["x", *sample()], "n": [0, 1, 2, 3]}).filter(pl.col("n") > 0)
    digests = lanesum.hash_column(frame["value"], "sha256", output=output)
    assert isinstance(digests, pl.Series) and digests.name == "value"
    assert digests.dtype == (pl.String if output == "hex" else pl.Binary)
    expected = [None if it is None or output == "hex" else bytes.fromhex(it) for it in hexed(sample())]
    expected = hexed(sample()) if output == "hex" else expected
    assert frame.with_columns(d=digests)["d"].to_list() == expected
    mapped = frame.lazy().with_columns(
        d=pl.col("value").map_batches(
            lambda it: lanesum.hash_column(it, "sha256", output=output), return_dtype=digests.dtype
        )
    )
    assert mapped.collect()["d"].to_list() == expected
    assert lanesum.hash_column(frame.select("value"), "sha256", output=output).equals(digests)
    assert lanesum.hash_column(frame["value"][:0], output=output).name == "value"


def test_pyarrow_gives_arrays() -> None:
    array = pa.array(["x", *sample()])[1:]
    chunked = pa.chunked_array([array[:1], array[1:]])
    for column, kind in (
        (array, pa.Array),
        (array[:0], pa.Array),
        (chunked, pa.ChunkedArray),
        (pa.table({"value": chunked}), pa.ChunkedArray),
        (pa.record_batch({"value": array}), pa.Array),
    ):
        digests = lanesum.hash_column(column, "sha256", output="hex")
        assert isinstance(digests, kind) and digests.type == pa.string()
        assert digests.to_pylist() == hexed(sample())[: len(digests)]
        digests.validate(full=True)
    for column in (array, chunked, pd.Series(sample()), pl.Series(sample()), sample()):
        digests = lanesum.hash_column(column, "sha256", output="hex", returns="arrow")
        assert isinstance(digests, lanesum.Column) and digests.to_pylist() == hexed(sample())
    with pytest.raises(ValueError, match='unknown value of returns="pandas"; use same or arrow'):
        lanesum.hash_column(array, returns="pandas")


def test_surrogate_keys_are_like_their_table_or_first_column() -> None:
    frame = pd.DataFrame({"a": ["x", "y", "z"], "b": [1, 2, 3]}, index=[5, 5, 7])[1:]
    expected = [hashlib.md5(text).hexdigest() for text in (b"y-2", b"z-3")]
    for columns in (frame, [frame["a"], frame["b"]], {"a": frame["a"], "b": [2, 3]}, (frame["a"], pa.array([2, 3]))):
        keys = lanesum.surrogate_key(columns)
        assert isinstance(keys, pd.Series) and keys.index.equals(frame.index) and keys.name is None
        assert frame.assign(k=keys)["k"].to_list() == expected
    with pytest.raises(ValueError, match=r"columns\[1\] has another index than columns\[0\]"):
        lanesum.surrogate_key([frame["a"], frame["b"].reset_index(drop=True)])
    table = pl.from_pandas(frame)
    keys = lanesum.surrogate_key(table)
    assert isinstance(keys, pl.Series) and table.with_columns(k=keys)["k"].to_list() == expected
    assert isinstance(lanesum.surrogate_key(table.to_arrow()), pa.ChunkedArray)
    assert isinstance(lanesum.surrogate_key(frame, returns="arrow"), lanesum.Column)
    assert isinstance(lanesum.surrogate_key([["a"]]), lanesum.Column)
