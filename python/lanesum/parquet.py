"""Columns of Parquet files, hashed where they lie: workers read, hash and write row groups themselves.

No text goes through whatever engine the workers belong to. Needs pyarrow.
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

    from lanesum.executors import Run

__all__ = ["Part", "Parts", "hash_parquet", "hash_parquet_task", "pack"]

#: By default digests are binary, and surrogate keys hexadecimal digits.
_Output: TypeAlias = Literal["binary", "hex", "uint64"] | None

# Row groups of as many bytes are a task: long against what a task costs, short against a worker's
# memory.
_TASK = 256 << 20

# As `hash_files` says it.
_CHANGED = "changed while it was read"


@dataclass(frozen=True)
class Part:
    """Row groups of a file, from `first` on, `groups` of them; and what came of them."""

    path: str
    first: int
    groups: int
    #: The file that was written.
    out: str
    rows: int = 0
    #: Why it was not.
    error: str | None = None
    #: Size, modification in nanoseconds and inode of the file whose row groups were counted; of
    #: another it fails.
    version: tuple[int, int, int] | None = None


class Parts(list[Part]):
    """All parts, in the order of the files. It is neither true nor false: ask `ok`."""

    @property
    def ok(self) -> bool:
        """Whether there are parts, and each was written."""
        return len(self) > 0 and all(part.error is None for part in self)

    def raise_for_failures(self) -> None:
        """Raises FailuresError, which names the first of them, unless all is well."""
        failures = [f"{part.path}: {part.error}" for part in self if part.error is not None]
        if failures:
            more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
            raise FailuresError("; ".join(failures[:3]) + more, self)
        if not self.ok:
            raise FailuresError("no row group was there to be hashed", self)

    def __bool__(self) -> bool:
        raise TypeError("Parts are neither true nor false: ask .ok, or their length")


def hash_parquet(
    files: AnyPath | Iterable[AnyPath],
    columns: str | Iterable[str] | Mapping[str, str | Sequence[str]],
    out: AnyPath,
    *,
    executor: Executor | None = None,
    algorithm: str = "md5",
    key: Buffer | None = None,
    output: _Output = None,
    keep: Iterable[str] = (),
) -> Parts:
    """Hashes columns of Parquet files, and writes the digests to files of the folder `out`.

    `columns` are hashed by themselves, into columns called `NAME_ALGORITHM`; or it says what the new columns are called
    and what they are made of: `{"id_md5": "id"}`, where several columns, `{"key": ["id", "country"]}`, make a
    surrogate key as `surrogate_key` does. The columns of `keep` are copied. `output` is as with these two functions, and
    by default "binary" of digests and "hex" of surrogate keys.

    Each part has as many rows as the row groups that it is of, in their order; its file, `PLACE-FIRST.parquet`, appears
    when it is whole. `PLACE` is the place of the file among all, `FIRST` the first row group. A file that is changed or
    replaced meanwhile is an error of its parts. Without an executor it is done here. A run that broke begins again, in a
    new folder.

    Raises OSError where a file is not there, FileExistsError where the folder has Parquet files already, which would be
    read with the new ones as one table, ValueError where a file is none of Parquet or lacks a column, TypeError where one is
    of a type that is not hashed, and either for arguments that are wrong. Nothing has been written then.
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
    algorithm: str = "md5",
    key: Buffer | None = None,
    output: _Output = None,
    keep: Iterable[str] = (),
) -> Parts:
    """As `hash_parquet`, on whatever runs tasks."""
    paths = [os.fsdecode(path) for path in _arguments.several(files, "files")]
    wanted = _wanted(columns, algorithm)
    _refuse_what_no_worker_takes(wanted, algorithm, key, output)
    kept = _once(keep, "keep")
    twice = sorted(set(kept) & set(wanted))
    if twice:
        raise ValueError(f"{twice[0]}: a column that is kept and a new one have this name; call the new one otherwise")
    folder = os.fsdecode(_arguments.path(out, "out"))
    os.makedirs(folder, exist_ok=True)
    if any(name.endswith(".parquet") for name in os.listdir(folder)):
        why = "it has Parquet files already, which would be read with the new ones as one table; give another folder"
        raise FileExistsError(errno.EEXIST, why, folder)
    # As bytes, which can be sent.
    key = None if key is None else _arguments.secret(key)

    def take(rows: Any) -> object:
        return _hashed(rows, wanted, algorithm, key, output, kept)

    tasks = pack(paths, folder, _sources(wanted) + kept, take)
    function = partial(
        hash_parquet_task, columns=wanted, algorithm=algorithm, key=key, output=output, keep=kept
    )
    if on is None:
        return Parts(part for task in tasks for part in function(task))
    # A pool may have been started in another folder, and a cluster's workers have their own.
    function = partial(function, folder=_arguments.folder_of([*paths, folder]))

    def fail(task: Sequence[Part], why: str) -> list[Part]:
        return [_failed(part, why) for part in task]

    return Parts(part for parts in on(function, tasks, fail, lambda parts: None) for part in parts)


def _once(columns: str | Iterable[str], what: str) -> list[str]:
    given = _arguments.names(columns, what, "of columns")
    for name in given:
        if given.count(name) > 1:
            raise ValueError(f"{what}: {name} stands there twice")
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
        raise ValueError("columns: name at least one")
    for name, of in wanted.items():
        if not of:
            raise ValueError(f"columns[{name!r}]: name at least one")
    several = [name for name, of in wanted.items() if not isinstance(of, str)]
    if several and algorithm != "md5":
        raise ValueError(f"{several[0]}: a surrogate key is of md5, not {algorithm}")
    return wanted


def _refuse_what_no_worker_takes(
    wanted: Mapping[str, str | Sequence[str]], algorithm: str, key: Buffer | None, output: _Output
) -> None:
    """Raises TypeError and ValueError for what would fail in every task."""
    import lanesum

    for of in wanted.values():
        if isinstance(of, str):
            lanesum.hash_column([], algorithm, key=key, output=output or "binary")
        elif key is not None:
            raise TypeError("key= does nothing for a surrogate key")
        elif output == "uint64":
            raise ValueError('output="uint64" is not for a surrogate key, which has 128 bits; "hex" and "binary" are')
        else:
            lanesum.surrogate_key([[]], output=output or "hex")


def _sources(wanted: Mapping[str, str | Sequence[str]]) -> list[str]:
    return [name for of in wanted.values() for name in ([of] if isinstance(of, str) else of)]


def pack(
    paths: Sequence[str], out: str, columns: Sequence[str], take: Callable[[Any], object] = lambda rows: None
) -> list[list[Part]]:
    """The row groups of the files in tasks of a few hundred megabytes, each of one file.

    Raises OSError where a file is not there, ValueError where it is none or lacks one of the columns, and what `take`
    raises of a table of its columns without rows, which then names the file.
    """
    import pyarrow
    import pyarrow.parquet

    tasks = []
    for place, path in enumerate(paths):
        with open(path, "rb"):
            # pyarrow's own errors do not name the file.
            pass
        # Before it is read: what changes from now on is another version.
        version = _version(path)
        with pyarrow.OSFile(os.fsencode(path)) as source:
            try:
                file = pyarrow.parquet.ParquetFile(source)
            except pyarrow.ArrowInvalid as error:
                raise ValueError(f"{path}: {error}") from None
            known = file.schema_arrow.names
            for name in columns:
                if name not in known:
                    raise ValueError(f"{path}: no column {name!r}; there are {', '.join(known)}")
                if known.count(name) > 1:
                    raise ValueError(f"{path}: {known.count(name)} columns are called {name!r}; call them differently")
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
    """What a file has no longer when it was written to, or another has its name."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns, status.st_ino


def _has_changed(part: Part, path: str) -> bool:
    return part.version is not None and part.version != _version(path)


def _groups(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Where each task begins, and how many row groups it has."""
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
    algorithm: str = "md5",
    key: Buffer | None = None,
    output: _Output = None,
    keep: Sequence[str] = (),
    folder: AnyPath | None = None,
) -> list[Part]:
    """What a worker does: reads row group by row group, hashes and writes. A part that fails says why.

    `folder` is the one that relative paths are in, where it may be another than the worker's own.
    """
    return [_hash_part(part, columns, algorithm, key, output, keep, folder) for part in parts]


def _hash_part(
    part: Part,
    columns: Mapping[str, str | Sequence[str]],
    algorithm: str,
    key: Buffer | None,
    output: _Output,
    keep: Sequence[str],
    within: AnyPath | None,
) -> Part:
    import pyarrow
    import pyarrow.parquet

    # A task that is tried again may run beside the one that is taken for dead, on another machine.
    # Readers of folders of Parquet files leave out names that begin with a point.
    source, out = (os.fsdecode(_arguments.within(within, path)) for path in (part.path, part.out))
    folder, name = os.path.split(out)
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.tmp")
    rows = 0
    sources = sorted(set(_sources(columns)) | set(keep))
    try:
        if _has_changed(part, source):
            return _failed(part, _CHANGED)
        # Of a path pyarrow would take `file:x` for a URI, and only UTF-8.
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
    algorithm: str,
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
                column = lanesum.hash_column(table.column(of), algorithm, key=key, output=output or "binary")
            else:
                sources = [table.column(source) for source in of]
                column = lanesum.surrogate_key(sources, output="binary" if output == "binary" else "hex")
        except TypeError as error:
            raise TypeError(f"{name}, of {of}: {error}") from None
        except ValueError as error:
            raise ValueError(f"{name}, of {of}: {error}") from None
        arrays[name] = pyarrow.chunked_array(column)
    return pyarrow.table(arrays)


def _failed(part: Part, why: str) -> Part:
    return replace(part, rows=0, error=why)
