"""Checksums of many inputs at once, side by side in the SIMD registers of a CPU core.

md5, siphash24 and their kin are objects of hashlib's kind. hash_many hashes many of Python's own
objects, hash_column a column of Arrow, surrogate_key the rows of a table.
"""

from __future__ import annotations

from lanesum._lanesum import (
    Column,
    Hash,
    __version__,
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
from lanesum._lanesum import algorithm_names as _algorithm_names

# Whoever checks types takes it for true; to import it from typing takes longer than all the rest.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from lanesum._pandas import pandas_hash_array
    from lanesum.files import etag, etags, hash_files, hash_tree
    from lanesum.lists import check, compare, read_list, write_list
    from lanesum.table import Checked, Compared, Etags, FailuresError, Files, Table

#: The algorithms of files, which `hash_files` and its kin take.
file_algorithms: tuple[str, ...] = tuple(_algorithm_names())

__all__ = [
    "Checked",
    "Column",
    "Compared",
    "Etags",
    "FailuresError",
    "Files",
    "Hash",
    "Table",
    "__version__",
    "algorithms_available",
    "check",
    "compare",
    "etag",
    "etags",
    "file_algorithms",
    "hash_column",
    "hash_files",
    "hash_many",
    "hash_tree",
    "md5",
    "new",
    "pandas_hash_array",
    "read_list",
    "siphash13",
    "siphash13_128",
    "siphash24",
    "siphash24_128",
    "surrogate_key",
    "write_list",
]

# What is imported when it is first asked for, by the module that it stands in.
_LAZY = {
    "pandas_hash_array": "lanesum._pandas",
    "hash_files": "lanesum.files",
    "hash_tree": "lanesum.files",
    "etag": "lanesum.files",
    "etags": "lanesum.files",
    "check": "lanesum.lists",
    "compare": "lanesum.lists",
    "read_list": "lanesum.lists",
    "write_list": "lanesum.lists",
    "Checked": "lanesum.table",
    "Compared": "lanesum.table",
    "Etags": "lanesum.table",
    "FailuresError": "lanesum.table",
    "Files": "lanesum.table",
    "Table": "lanesum.table",
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
