"""lanesum on a Dask cluster: `pip install lanesum[dask]`.

The functions are those of the package, run on the workers of a client. Paths are those of the workers, for example on a
shared file system.
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
    """Hashes files like `lanesum.hash_files`, on the workers of `client`. The default is the current client.

    Within a Dask task, call `distributed.secede()` first. Otherwise the task waits for workers while it occupies one of
    their threads, and enough such tasks wait forever.

    Raises ValueError if there is no current client or the client is closed, and TypeError for a client whose results
    arrive in the event loop of the caller.
    """
    return lanesum.hash_files(paths, algorithms, executor=_executor(client), **options)


def hash_tree(
    root: AnyPath, algorithms: str | Iterable[str] = ("md5",), *, client: _Client | None = None, **options: Any
) -> Files:
    """Hashes a tree like `lanesum.hash_tree`. This process walks the tree, and the workers read the files."""
    return lanesum.hash_tree(root, algorithms, executor=_executor(client), **options)


def hash_parquet(
    files: AnyPath | Iterable[AnyPath],
    columns: str | Iterable[str] | Mapping[str, str | Sequence[str]],
    out: AnyPath,
    *,
    client: _Client | None = None,
    **options: Any,
) -> parquet.Parts:
    """Hashes columns like `lanesum.parquet.hash_parquet`, on the workers."""
    return parquet.hash_parquet(files, columns, out, executor=_executor(client), **options)


def _executor(client: _Client | None) -> Executor:
    if client is None:
        from distributed import get_client

        try:
            client = get_client()
        except ValueError:
            raise ValueError("there is no Dask client yet; pass client=, or create one with Client()") from None
    if isinstance(client, type) or not callable(getattr(client, "get_executor", None)):
        kind = client.__name__ if isinstance(client, type) else type(client).__name__
        raise TypeError(f"client must be a Dask client, not {kind}; create one with Client(cluster)")
    _dask.refuse_useless(client, "client=")
    # By default it would reuse the result of an equal task.
    make: Callable[..., Executor] = client.get_executor
    return make(pure=False)
