"""Hash columns of Parquet files: workers read, hash and write row groups directly.

No text passes through the engine of the workers. Needs pyarrow.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from lanesum import _arguments
from lanesum._arguments import AnyPath
from lanesum.table import FailuresError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from lanesum._lanesum import _Algorithm
    from lanesum.executors import Run

__all__ = ["Part", "Parts", "hash_parquet", "hash_parquet_task", "pack"]

#: By default digests are binary, and surrogate keys hexadecimal digits.
_Output: TypeAlias = Literal["binary", "hex", "uint64"] | None

# The bytes of row groups in a task: large compared with the cost of a task, and small compared with
# the memory of a worker.
_TASK = 256 << 20

# The message of `hash_files`.
_CHANGED = "changed while it was read"


@dataclass(frozen=True)
class Part:
    """A number of row groups of a file, starting at `first`, and their result."""

    path: str
    first: int
    groups: int
    #: The output file.
    out: str
    rows: int = 0
    #: The reason why it was not written.
    error: str | None = None
    #: Size, modification time in nanoseconds and inode of the file when its row groups were
    #: counted. The part fails if the file has changed.
    version: tuple[int, int, int] | None = None


class Parts(list[Part]):
    """All parts, in the order of the files. It has no truth value; use `ok`."""

    @property
    def ok(self) -> bool:
        """Whether there are parts, and each was written."""
        return len(self) > 0 and all(part.error is None for part in self)

    def raise_for_failures(self) -> None:
        """Raises FailuresError with the first failures, unless `ok`."""
        failures = [f"{part.path}: {part.error}" for part in self if part.error is not None]
        if failures:
            more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
            raise FailuresError("; ".join(failures[:3]) + more, self)
        if not self.ok:
            raise FailuresError("nothing was hashed: there is no row group", self)

    def __bool__(self) -> bool:
        raise TypeError("Parts have no truth value; use .ok or len()")


def hash_parquet(
    files: AnyPath | Iterable[AnyPath],
    columns: str | Iterable[str] | Mapping[str, str | Sequence[str]],
    out: AnyPath,
    *,
    executor: Executor | None = None,
    algorithm: _Algorithm = "md5",
    key: Buffer | None = None,
    output: _Output = None,
    keep: Iterable[str] = (),
) -> Parts:
    """Hashes columns of Parquet files, and writes the digests to files in the directory `out`.

    Parameters:

    - `columns`: the columns to hash, into columns named `NAME_ALGORITHM`. Or a mapping from new names to columns:
      `{"id_md5": "id"}`. Several columns, `{"key": ["id", "country"]}`, make a surrogate key like `surrogate_key`.
    - `keep`: the columns to copy.
    - `algorithm`, `key`: as in `hash_column`, also for surrogate keys.
    - `output`: as in these two functions. The default is "binary" for digests and "hex" for surrogate keys.
    - `executor`: an executor as in `concurrent.futures`. By default the work is done in this process.

    Each part has the rows of its row groups, in their order. Its file `PLACE-FIRST.parquet` appears when it is complete.
    `PLACE` is the index of the input file, and `FIRST` is the first row group. If a file changes or is replaced
    meanwhile, its parts have errors. To repeat an interrupted run, use a new directory.

    Raises OSError if a file does not exist, FileExistsError if the directory already has Parquet files, ValueError if a
    file is not Parquet or lacks a column, and TypeError if a column has an unsupported type. Raises ValueError or
    TypeError for invalid arguments. Nothing is written in these cases.
    """
    from lanesum import executors

    on = None if executor is None else executors.on(executor)
    return in_tasks(on, files, columns, out, algorithm=algorithm, key=key, output=output, keep=keep)


def in_tasks(
    on: Run | None,
    files: AnyPath | Iterable[AnyPath],
    columns: str | Iterable[str] | Mapping[str, str | Sequence[str]],
    out: AnyPath,
    *,
    algorithm: _Algorithm = "md5",
    key: Buffer | None = None,
    output: _Output = None,
    keep: Iterable[str] = (),
) -> Parts:
    """Hashes columns like `hash_parquet`, with a function that runs tasks."""
    paths = [os.fsdecode(path) for path in _arguments.several(files, "files")]
    wanted = _wanted(columns, algorithm)
    _refuse_what_no_worker_takes(wanted, algorithm, key, output)
    kept = _once(keep, "keep")
    twice = sorted(set(kept) & set(wanted))
    if twice:
        raise ValueError(f"{twice[0]} is both a kept and a new column; rename the new one")
    folder = os.fsdecode(_arguments.path(out, "out"))
    os.makedirs(folder, exist_ok=True)
    if any(name.endswith(".parquet") for name in os.listdir(folder)):
        why = "it already has Parquet files, which readers would mix with the new ones; use an empty directory"
        raise FileExistsError(errno.EEXIST, why, folder)
    # As bytes, which can be pickled.
    key = None if key is None else _arguments.secret(key)

    def take(rows: Any) -> object:
        return _hashed(rows, wanted, algorithm, key, output, kept)

    tasks = pack(paths, folder, _sources(wanted) + kept, take)
    function = partial(
        hash_parquet_task, columns=wanted, algorithm=algorithm, key=key, output=output, keep=kept
    )
    if on is None:
        return Parts(part for task in tasks for part in function(task))
    # The workers of a pool or a cluster may have other working directories.
    function = partial(function, folder=_arguments.folder_of([*paths, folder]))

    def fail(task: Sequence[Part], why: str) -> list[Part]:
        return [_failed(part, why) for part in task]

    return Parts(part for parts in on(function, tasks, fail, lambda parts: None) for part in parts)


def _once(columns: str | Iterable[str], what: str) -> list[str]:
    given = _arguments.names(columns, what, "of columns")
    for name in given:
        if given.count(name) > 1:
            raise ValueError(f"{what}: {name} occurs twice")
    return given


def _wanted(
    columns: str | Iterable[str] | Mapping[str, str | Sequence[str]], algorithm: str
) -> dict[str, str | list[str]]:
    if not isinstance(columns, Mapping):
        given = _once(columns, "columns")
        columns = {f"{name}_{algorithm}": name for name in given}
    wanted = {
        name: of if isinstance(of, str) else _arguments.names(of, f"columns[{name!r}]", "of columns")
        for name, of in columns.items()
    }
    if not wanted:
        raise ValueError("columns is empty; pass at least one")
    for name, of in wanted.items():
        if not of:
            raise ValueError(f"columns[{name!r}] is empty; pass at least one")
    return wanted


def _refuse_what_no_worker_takes(
    wanted: Mapping[str, str | Sequence[str]], algorithm: _Algorithm, key: Buffer | None, output: _Output
) -> None:
    """Raises TypeError and ValueError for arguments that would fail in every task."""
    import lanesum

    for of in wanted.values():
        if isinstance(of, str):
            lanesum.hash_column([], algorithm, key=key, output=output or "binary")
        else:
            lanesum.surrogate_key([[]], algorithm=algorithm, key=key, output=output or "hex")


def _sources(wanted: Mapping[str, str | Sequence[str]]) -> list[str]:
    return [name for of in wanted.values() for name in ([of] if isinstance(of, str) else of)]


def pack(
    paths: Sequence[str], out: str, columns: Sequence[str], take: Callable[[Any], object] = lambda rows: None
) -> list[list[Part]]:
    """Packs the row groups of files into tasks of a few hundred megabytes, each of one file.

    Calls `take` with an empty table of each file. Raises OSError if a file does not exist, ValueError if it is not
    Parquet or lacks a column, and the exception of `take` with the name of the file.
    """
    import pyarrow
    import pyarrow.parquet

    tasks = []
    for place, path in enumerate(paths):
        with open(path, "rb"):
            # Errors of pyarrow do not name the file.
            pass
        # Before it is read, so that later changes are detected.
        version = _version(path)
        with pyarrow.OSFile(os.fsencode(path)) as source:
            try:
                file = pyarrow.parquet.ParquetFile(source)
            except pyarrow.ArrowInvalid as error:
                raise ValueError(f"{path}: {error}") from None
            known = file.schema_arrow.names
            for name in columns:
                if name not in known:
                    raise ValueError(f"{path}: no column {name!r}; the columns are {', '.join(known)}")
                if known.count(name) > 1:
                    raise ValueError(f"{path}: {known.count(name)} columns have the name {name!r}; rename them")
            try:
                take(file.schema_arrow.empty_table())
            except (TypeError, ValueError) as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(f"{path}: {error}") from None
            sizes = [file.metadata.row_group(group).total_byte_size for group in range(file.num_row_groups)]
        for first, count in _groups(sizes):
            target = os.path.join(out, f"{place:06}-{first:06}.parquet")
            tasks.append([Part(path, first, count, target, version=version)])
    return tasks


def _version(path: str) -> tuple[int, int, int]:
    """Returns values that change when a file is written to or replaced."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns, status.st_ino


def _has_changed(part: Part, path: str) -> bool:
    return part.version is not None and part.version != _version(path)


def _groups(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Returns the first row group and the number of row groups of each task."""
    groups: list[tuple[int, int]] = []
    room = 0
    for place, size in enumerate(sizes):
        if groups and size <= room:
            first, count = groups[-1]
            groups[-1] = (first, count + 1)
            room -= size
        else:
            groups.append((place, 1))
            room = _TASK - size
    return groups


def hash_parquet_task(
    parts: Sequence[Part],
    *,
    columns: Mapping[str, str | Sequence[str]],
    algorithm: _Algorithm = "md5",
    key: Buffer | None = None,
    output: _Output = None,
    keep: Sequence[str] = (),
    folder: AnyPath | None = None,
) -> list[Part]:
    """Runs a task on a worker: reads, hashes and writes one row group at a time. A failed part has its reason.

    `folder` is the directory that relative paths refer to, if it may differ from that of the worker.
    """
    return [_hash_part(part, columns, algorithm, key, output, keep, folder) for part in parts]


def _hash_part(
    part: Part,
    columns: Mapping[str, str | Sequence[str]],
    algorithm: _Algorithm,
    key: Buffer | None,
    output: _Output,
    keep: Sequence[str],
    within: AnyPath | None,
) -> Part:
    import pyarrow
    import pyarrow.parquet

    # A repeated task may run at the same time as one that was taken for dead, on another machine.
    # Readers of directories of Parquet files ignore names that start with a dot.
    source, out = (os.fsdecode(_arguments.within(within, path)) for path in (part.path, part.out))
    folder, name = os.path.split(out)
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.tmp")
    rows = 0
    sources = sorted(set(_sources(columns)) | set(keep))
    try:
        if _has_changed(part, source):
            return _failed(part, _CHANGED)
        # pyarrow would read a path `file:x` as a URI, and accepts only UTF-8.
        with ExitStack() as opened:
            file = pyarrow.parquet.ParquetFile(opened.enter_context(pyarrow.OSFile(os.fsencode(source))))
            writer = None
            for group in range(part.first, part.first + part.groups):
                table = file.read_row_group(group, columns=sources)
                hashed = _hashed(table, columns, algorithm, key, output, keep)
                if writer is None:
                    written = opened.enter_context(pyarrow.OSFile(os.fsencode(temporary), "wb"))
                    writer = opened.enter_context(pyarrow.parquet.ParquetWriter(written, hashed.schema))
                writer.write_table(hashed)
                rows += hashed.num_rows
        if _has_changed(part, source):
            return _failed(part, _CHANGED)
        with open(temporary, "rb") as whole:
            os.fsync(whole.fileno())
        os.replace(temporary, out)
    except (OSError, TypeError, ValueError, pyarrow.ArrowException) as error:
        return _failed(part, f"{type(error).__name__}: {error}")
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)
    return replace(part, rows=rows, error=None)


def _hashed(
    table: Any,
    columns: Mapping[str, str | Sequence[str]],
    algorithm: _Algorithm,
    key: Buffer | None,
    output: _Output,
    keep: Sequence[str],
) -> Any:
    import pyarrow

    import lanesum

    arrays = {name: table.column(name) for name in keep}
    for name, of in columns.items():
        try:
            if isinstance(of, str):
                arrays[name] = lanesum.hash_column(table.column(of), algorithm, key=key, output=output or "binary")
            else:
                sources = [table.column(source) for source in of]
                arrays[name] = lanesum.surrogate_key(sources, algorithm=algorithm, key=key, output=output or "hex")
        except TypeError as error:
            raise TypeError(f"{name}, of {of}: {error}") from None
        except ValueError as error:
            raise ValueError(f"{name}, of {of}: {error}") from None
    return pyarrow.table(arrays)


def _failed(part: Part, why: str) -> Part:
    return replace(part, rows=0, error=why)
