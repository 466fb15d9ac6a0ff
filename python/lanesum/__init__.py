"""Compute checksums of many inputs at once in the SIMD registers of a CPU core.

- md5, sha256, siphash24 and similar functions make hash objects as in hashlib.
- hash_many hashes many Python objects.
- hash_column hashes an Arrow column.
- surrogate_key hashes the rows of a table.
- hash_files and hash_tree hash files.
- check, compare, read_list and write_list work with checksum lists.
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
    sha1,
    sha256,
    sha512,
    siphash13,
    siphash13_128,
    siphash24,
    siphash24_128,
    surrogate_key,
)
from lanesum._lanesum import algorithm_names as _algorithm_names

# Type checkers treat this name as true. Importing it from typing takes longer than all the rest.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from lanesum._pandas import pandas_hash_array
    from lanesum.files import etag, etags, hash_files, hash_tree
    from lanesum.lists import check, compare, read_list, write_list
    from lanesum.table import Checked, Compared, Etags, FailuresError, Files, Table

#: The algorithms that `hash_files` and the other functions for files accept.
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
    "sha1",
    "sha256",
    "sha512",
    "siphash13",
    "siphash13_128",
    "siphash24",
    "siphash24_128",
    "surrogate_key",
    "write_list",
]

# The names that are imported on first use, with their modules.
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
