"""Compare hash objects with those of hashlib and siphash24."""

from __future__ import annotations

import array
import ctypes
import hashlib
import io
import mmap

import numpy as np
import pytest
import siphash24 as peer
from hypothesis import given
from hypothesis import strategies as st

import lanesum

PIECES = st.lists(st.binary(max_size=300), max_size=8)
KEYS = st.binary(min_size=16, max_size=16)
# Those that PyPI's siphash24 has too.
KEYED = {
    "siphash24": peer.siphash24,
    "siphash13": peer.siphash13,
}
ALL = {
    **{"md5": 64, "sha1": 64, "sha224": 64, "sha256": 64, "sha384": 128, "sha512": 128, "sha512-256": 128},
    **{"blake3": 64, "xxh128": 64, "xxh3-64": 64, "crc32c": 1},
    **{"hmac-sha1": 64, "hmac-sha256": 64, "hmac-sha512": 128},
    **{"siphash24": 8, "siphash13": 8, "siphash24-128": 8, "siphash13-128": 8},
}


def new(name: str, data: bytes = b"") -> lanesum.Hash:
    return lanesum.new(name, data, key=bytes(16) if name.startswith(("siphash", "hmac")) else None)


@given(PIECES)
def test_md5_in_pieces_agrees_with_hashlib(pieces: list[bytes]) -> None:
    ours, theirs = lanesum.md5(), hashlib.md5()
    for piece in pieces:
        ours.update(piece)
        theirs.update(piece)
        assert ours.digest() == theirs.digest()
        assert ours.hexdigest() == theirs.hexdigest()
    assert lanesum.md5(b"".join(pieces)).digest() == theirs.digest()


@pytest.mark.parametrize("name", KEYED)
@given(pieces=PIECES, key=KEYS)
def test_siphash_in_pieces_agrees_with_its_peer(name: str, pieces: list[bytes], key: bytes) -> None:
    theirs = KEYED[name](b"".join(pieces), key=key)
    ours = getattr(lanesum, name)(key=key)
    for piece in pieces:
        ours.update(piece)
    assert ours.digest() == theirs.digest()
    # The peer has it as a signed number.
    assert ours.intdigest() == theirs.intdigest() % 2**64


@given(PIECES)
def test_siphash_of_128_bits_agrees_in_pieces_and_whole(pieces: list[bytes]) -> None:
    for function in (lanesum.siphash24_128, lanesum.siphash13_128):
        ours = function(key=bytes(16))
        for piece in pieces:
            ours.update(piece)
        assert ours.digest() == function(b"".join(pieces), key=bytes(16)).digest()


def test_siphash_of_128_bits_agrees_with_openssl() -> None:
    """`openssl mac -macopt hexkey:000102030405060708090a0b0c0d0e0f -macopt size:16 SIPHASH`, and
    with `-macopt c-rounds:1 -macopt d-rounds:3`, of "abc"."""
    key = bytes(range(16))
    assert lanesum.siphash24_128(b"abc", key=key).hexdigest() == "bb96c3a813c9903e3325ef616045abb8"
    assert lanesum.siphash13_128(b"abc", key=key).hexdigest() == "43753f1546fa1ee8b2d4d501495fd601"


@pytest.mark.parametrize("name", ALL)
def test_objects_have_names_sizes_and_a_repr(name: str) -> None:
    ours = new(name, b"abc")
    assert ours.name == name
    assert ours.digest_size == len(ours.digest()) == len(ours.hexdigest()) // 2
    assert ours.block_size == ALL[name]
    assert ours.hexdigest() == ours.digest().hex()
    order = "little" if name.startswith("siphash") else "big"
    assert ours.intdigest() == int.from_bytes(ours.digest(), order)
    assert repr(ours) == f"<{name} lanesum.Hash>"
    assert new(name.replace("-", "_")).name == name


def test_all_names_are_available() -> None:
    assert lanesum.algorithms_available == set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_a_copy_is_independent(name: str) -> None:
    one = new(name, b"common")
    other = one.copy()
    one.update(b"a")
    assert other.digest() == new(name, b"common").digest()
    other.update(b"b")
    assert one.digest() == new(name, b"commona").digest()
    assert other.digest() == new(name, b"commonb").digest()


def test_every_buffer_is_taken() -> None:
    content = bytes(range(256)) * 8
    expected = hashlib.md5(content).digest()
    anonymous = mmap.mmap(-1, len(content))
    anonymous[:] = content
    buffers = [
        bytearray(content),
        memoryview(content),
        memoryview(bytearray(content)).toreadonly(),
        array.array("Q", content),
        array.array("b", content),
        np.frombuffer(content, dtype="<u4"),
        np.frombuffer(content, dtype="<f8").reshape(16, 16),
        anonymous,
    ]
    for buffer in buffers:
        assert lanesum.md5(buffer).digest() == expected, buffer
    for empty in (b"", bytearray(), np.zeros((0, 3)), memoryview(b"")):
        assert lanesum.md5(empty).digest() == hashlib.md5().digest()
    assert lanesum.md5(data=content, usedforsecurity=False).digest() == expected


@pytest.mark.parametrize("size", [2047, 2048, 2049, 256 << 10, (256 << 10) + 1, 1_000_003])
def test_long_buffers_are_taken_whole(size: int) -> None:
    content = np.arange(size, dtype="u1").tobytes()
    expected = hashlib.md5(content).digest()
    assert lanesum.md5(content).digest() == expected
    assert lanesum.md5(bytearray(content)).digest() == expected


def test_file_digest_accepts_lanesum_objects() -> None:
    content = bytes(1_000_000)
    expected = hashlib.md5(content).hexdigest()
    assert hashlib.file_digest(io.BytesIO(content), lanesum.md5).hexdigest() == expected
    with open(__file__, "rb") as file:
        ours = hashlib.file_digest(file, lanesum.md5).hexdigest()
    with open(__file__, "rb") as file:
        assert ours == hashlib.md5(file.read()).hexdigest()


def test_invalid_input_raises_standard_errors(key: bytes) -> None:
    with pytest.raises(TypeError, match="encoded"):
        lanesum.md5("text")
    with pytest.raises(TypeError, match="bytes-like"):
        lanesum.md5().update(1)
    with pytest.raises(TypeError):
        lanesum.md5(None, None)
    with pytest.raises(BufferError, match="copy"):
        lanesum.md5(np.zeros(8, dtype="u1")[::2])
    with pytest.raises(BufferError, match="copy"):
        lanesum.md5(memoryview(bytes(8))[::2])
    with pytest.raises(ValueError, match="unknown algorithm \"sha0\"; use md5, sha1"):
        lanesum.new("sha0")
    for call in (lambda: lanesum.new("xxh32"), lambda: lanesum.hash_column(["a"], "xxh32")):
        with pytest.raises(ValueError, match=r"xxh32.*hash_files\(\).*support it for files"):
            call()
    with pytest.raises(TypeError, match="md5 takes no key"):
        lanesum.new("md5", key=key)
    with pytest.raises(TypeError, match="key"):
        lanesum.siphash24(b"")
    with pytest.raises(TypeError, match="siphash13 needs key="):
        lanesum.new("siphash13")
    with pytest.raises(ValueError, match="siphash24 needs a key of 16 bytes, not 15"):
        lanesum.siphash24(key=bytes(15))
    with pytest.raises(TypeError, match="key must be bytes, not str"):
        lanesum.siphash24(key="0123456789abcdef")
    with pytest.raises(TypeError):
        lanesum.Hash()


def test_a_key_may_be_any_bytes(key: bytes) -> None:
    wanted = lanesum.siphash24(b"abc", key=key).digest()
    for other in (bytearray(key), memoryview(key), np.frombuffer(key, "u1"), np.frombuffer(key, "u8")):
        assert lanesum.siphash24(b"abc", key=other).digest() == wanted
    with pytest.raises(BufferError, match="copy"):
        lanesum.siphash24(b"abc", key=memoryview(key * 2)[::2])


def test_a_number_is_refused_as_key() -> None:
    import lanesum.spark

    for take in (lanesum.spark.siphash24, lambda key: lanesum.siphash24(key=key)):
        with pytest.raises(TypeError, match="key must be bytes, not int"):
            take(16)
        with pytest.raises(ValueError, match="key of .*15"):
            take(bytes(15))


def test_field_names_are_not_taken_for_types() -> None:
    class Header(ctypes.Structure):
        _fields_ = [("Offset", ctypes.c_int), ("O", ctypes.c_int)]

    class Holder(ctypes.Structure):
        _fields_ = [("offset", ctypes.c_int), ("held", ctypes.py_object)]

    prices = np.ones(2, [("Open", "f8"), ("Close", "f8")])
    nested = np.ones(2, [("a", [("O", "i4")]), ("b", "i4")])
    for given in (Header(1, 2), prices, nested):
        assert lanesum.md5(given).digest() == hashlib.md5(given).digest()
        assert lanesum.hash_many([given]) == [hashlib.md5(given).digest()]
    for given in (Holder(1, "a"), np.zeros(2, [("a", "i4"), ("O", "O")]), np.zeros(2, [("a", [("b", "O")])])):
        with pytest.raises(TypeError, match="an array of Python objects"):
            lanesum.md5(given)


def test_string_is_an_alias_of_data() -> None:
    assert lanesum.md5(string=b"abc", usedforsecurity=False).digest() == hashlib.md5(b"abc").digest()
    with pytest.raises(TypeError, match="string= and data are the same argument; give one of them"):
        lanesum.md5(b"a", string=b"b")


def test_none_is_refused_as_data() -> None:
    for make in (lanesum.md5, lambda data: lanesum.new("md5", data), lambda data: lanesum.siphash24(data, key=bytes(16))):
        with pytest.raises(TypeError, match="bytes-like"):
            make(None)


def test_numpy_datetimes_are_hashed_as_bytes() -> None:
    for kind in ("M8[s]", "m8[us]", [("at", "M8[ns]"), ("id", "i4")]):
        moments = np.zeros(100_000, kind)
        assert lanesum.md5(moments).digest() == hashlib.md5(moments).digest()
        assert lanesum.hash_many([moments[:3]]) == [hashlib.md5(moments[:3]).digest()]
        words = "the buffer is not contiguous; pass a copy"
        with pytest.raises(BufferError, match=f"^{words}"):
            lanesum.md5(moments[::2])
        with pytest.raises(BufferError, match=r"^messages\[0\]: " + words):
            lanesum.hash_many([moments[::2]])
    with pytest.raises((TypeError, ValueError)):
        lanesum.md5(np.zeros(3, [("at", "M8[ns]"), ("of", "O")]))
    view = memoryview(b"abc")
    view.release()
    with pytest.raises(ValueError, match="released"):
        lanesum.md5(view)
