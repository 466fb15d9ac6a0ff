"""lanesum on a cluster of Dask: `pip install lanesum[dask]`.

The functions are those of the package, on the workers of a client. Paths are the workers' own, as on a file system that
all of them share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

import lanesum
from lanesum import _dask, parquet
from lanesum._arguments import AnyPath
from lanesum.table import Files

if TYPE_CHECKING:
    from distributed import Client as _Client

__all__ = ["hash_files", "hash_parquet", "hash_tree"]


def hash_files(
    paths: Iterable[AnyPath],
    algorithms: str | Iterable[str] = ("md5",),
    *,
    client: _Client | None = None,
    **options: Any,
) -> Files:
    """As `lanesum.hash_files`, on the workers of `client`, by default of the current one.

    Within a task of Dask it waits for workers while its own thread is one of theirs: call `distributed.secede()` first,
    or with as many such tasks as there are threads all wait for ever.

    Raises ValueError where there is no current one or the client is closed, and TypeError for one whose answers come to
    the event loop in which this is called.
    """
    return lanesum.hash_files(paths, algorithms, executor=_executor(client), **options)


def hash_tree(
    root: AnyPath, algorithms: str | Iterable[str] = ("md5",), *, client: _Client | None = None, **options: Any
) -> Files:
    """As `lanesum.hash_tree`; the tree is walked here, and read by the workers."""
    return lanesum.hash_tree(root, algorithms, executor=_executor(client), **options)


def hash_parquet(
    files: AnyPath | Iterable[AnyPath],
    columns: str | Iterable[str] | Mapping[str, str | Sequence[str]],
    out: AnyPath,
    *,
    client: _Client | None = None,
    **options: Any,
) -> parquet.Parts:
    """As `lanesum.parquet.hash_parquet`: workers read, hash and write row groups themselves."""
    return parquet.hash_parquet(files, columns, out, executor=_executor(client), **options)


def _executor(client: _Client | None) -> Executor:
    if client is None:
        from distributed import get_client

        try:
            client = get_client()
        except ValueError:
            raise ValueError("there is no client of Dask yet: give client=, or make one first, by Client()") from None
    if isinstance(client, type) or not callable(getattr(client, "get_executor", None)):
        kind = client.__name__ if isinstance(client, type) else type(client).__name__
        raise TypeError(f"client must be a client of Dask, not {kind}; Client(cluster) makes one of a cluster")
    _dask.refuse_useless(client, "client=")
    # Which knows that the same task gives the same result, and need not.
    make: Callable[..., Executor] = client.get_executor
    return make(pure=False)
