"""Checksums of many inputs at once, side by side in the SIMD registers of a CPU core.

md5, siphash24 and their kin are objects of hashlib's kind. hash_many hashes many of Python's own
objects, hash_column a column of Arrow, surrogate_key the rows of a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanesum._lanesum import (
    Column,
    Hash,
    algorithms_available,
    hash_column,
    hash_many,
    md5,
    new,
    siphash13,
    siphash13_128,
    siphash24,
    siphash24_128,
    surrogate_key,
)

if TYPE_CHECKING:
    from lanesum._pandas import pandas_hash_array

__all__ = [
    "Column",
    "Hash",
    "algorithms_available",
    "hash_column",
    "hash_many",
    "md5",
    "new",
    "pandas_hash_array",
    "siphash13",
    "siphash13_128",
    "siphash24",
    "siphash24_128",
    "surrogate_key",
]

# What is imported when it is first asked for, by the module that it stands in.
_LAZY = {
    "pandas_hash_array": "lanesum._pandas",
}


def __getattr__(name: str) -> object:
    if name in _LAZY:
        from importlib import import_module

        value = getattr(import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(globals() | _LAZY)
