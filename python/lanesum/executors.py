"""Hash files on any executor of `concurrent.futures`: packed into tasks by bytes, hashed, and joined again.

Workers get functions of this package with lists of paths, and return tables. So every executor that pickles its tasks
works: a pool of processes, loky, `client.get_executor()` of Dask, or mpi4py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from lanesum import _arguments, _dask, _lanesum
from lanesum._arguments import AnyPath
from lanesum._progress import Callback, showing
from lanesum._shards import read_shards, write_shard
from lanesum._tasks import run
from lanesum.table import Files, Table

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Run", "hash_files_task", "hash_in_tasks", "on", "pack", "workers"]

# The cost of opening a file, in bytes of a long one: at least 16 KiB on every storage.
_PER_FILE = 32 << 10
_LEAST, _MOST = 16 << 20, 2 << 30
_MOST_FILES = 8192
# Several tasks per worker, so that the last one does not run alone for long.
_TASKS_A_WORKER = 4


def pack(paths: Sequence[AnyPath], workers: int, sizes: Sequence[int] | None = None) -> list[list[AnyPath]]:
    """Packs paths in their order into tasks of about equal size: few long files, or many short ones.

    Each task has enough files to fill the lanes, if there are enough. A file that cannot be examined counts as empty.
    """
    sizes = _lanesum.file_sizes(list(paths)) if sizes is None else sizes
    weights = [size + _PER_FILE for size in sizes]
    fair = sum(weights) // (workers * _TASKS_A_WORKER)
    most = min(max(fair, _LEAST), _MOST)
    tasks: list[list[AnyPath]] = []
    room = 0
    for path, weight in zip(paths, weights):
        if not tasks or room < weight or len(tasks[-1]) >= _MOST_FILES:
            tasks.append([])
            room = most
        tasks[-1].append(path)
        room -= weight
    return tasks


def hash_files_task(
    paths: Sequence[AnyPath],
    algorithms: Sequence[str],
    *,
    threads: int | None = 1,
    io: str = "auto",
    key: Buffer | None = None,
    shards: AnyPath | None = None,
    progress: Callback | None = None,
    folder: AnyPath | None = None,
) -> Table:
    """Runs a task on a worker: hashes files, and writes a shard if `shards` is a directory.

    `folder` is the directory that relative paths refer to, if it may differ from that of the worker. Rows have the
    paths as given. The table has the columns of `hash_files`, and those that detect changes of a file.
    """
    reading = _arguments.reading(threads=threads, io=io, key=key, progress=progress)
    begun = _lanesum.now()
    rows = _lanesum.hash_paths(list(paths), list(algorithms), reading, folder)
    if shards is not None:
        write_shard(_arguments.within(folder, shards), rows, begun)
    return Table(rows)


#: Calls a function with each task, `fail` for failed tasks, and `done` with each result.
Run: TypeAlias = Callable[
    [Callable[[Any], Any], Sequence[Any], Callable[[Any, str], Any], Callable[[Any], object]], list[Any]
]


def on(executor: Executor) -> Run:
    """Returns the workers of an executor. Raises TypeError for other objects."""
    if isinstance(executor, type):
        raise TypeError(f"executor is the class {executor.__name__}; pass an instance of it")
    if hasattr(executor, "get_executor"):
        raise TypeError("executor is a Dask client; pass client.get_executor(), or use lanesum.dask")
    if not callable(getattr(executor, "submit", None)):
        kind = type(executor).__name__
        raise TypeError(f"executor must have submit() as in concurrent.futures, but it is {kind}")
    if type(executor).__module__.startswith("distributed."):
        _dask.refuse_useless(getattr(executor, "_client", None), "the client of executor=")
    return partial(run, executor)


def hash_in_tasks(
    paths: Iterable[AnyPath],
    algorithms: Sequence[str],
    *,
    key: Buffer | None = None,
    threads: int | None = None,
    io: str = "auto",
    progress: bool | Callback | None = None,
    on: tuple[Run, int] | None = None,
    shards: AnyPath | None = None,
) -> Files:
    """Hashes files like `hash_files`, on workers, or in this process with a directory of shards."""
    if shards is not None and key is not None:
        raise ValueError("shards= does not support key=, because shards do not record the key")
    # As bytes, which can be pickled.
    key = None if key is None else _arguments.secret(key)
    # The names as in tables.
    names = [_name(path, f"paths[{place}]") for place, path in enumerate(_arguments.paths(paths))]
    # Reports invalid arguments once here, not on each worker.
    _lanesum.hash_paths([], list(algorithms), _arguments.reading(threads=threads, io=io, key=key))
    known, places, problems = _known(names, algorithms, shards)
    left = _without(names, places)
    options = {"algorithms": list(algorithms), "io": io, "key": key, "shards": shards}
    with showing(progress, len(names)) as callback:
        done = _Done(callback, known)
        if on is None:
            parts = _here(left, options, threads, done)
        else:
            parts = _there(*on, left, {"threads": threads or 1, **options}, done)
    rows = _in_order(known, places, parts, len(names))
    public = [name for name in rows.names if name not in ("changed", "inode")]
    return Files(rows.select(public), problems)


def _name(path: AnyPath, what: str) -> str:
    """Returns a path as in a row: decoded from UTF-8, with surrogates for other bytes."""
    try:
        given = os.fspath(path)
    except TypeError:
        raise TypeError(f"{what} must be str, bytes or os.PathLike, not {type(path).__name__}") from None
    raw = given if isinstance(given, bytes) else given.encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "surrogateescape")


def _known(
    paths: Sequence[str], algorithms: Sequence[str], folder: AnyPath | None
) -> tuple[_lanesum.Batches, list[int], list[str]]:
    """Returns the rows that shards have for the paths, and the indices of these paths."""
    tables: list[_lanesum.Batches] = []
    problems: list[str] = []
    if folder is not None:
        tables, problems = read_shards(folder)
    rows, places = _lanesum.known_rows(list(paths), tables, list(algorithms))
    return rows, places, problems


def _without(paths: Sequence[str], places: Iterable[int]) -> list[str]:
    known = set(places)
    return [path for place, path in enumerate(paths) if place not in known]


def _in_order(
    known: _lanesum.Batches, places: Sequence[int], parts: Sequence[_lanesum.Batches], count: int
) -> _lanesum.Batches:
    rows = _lanesum.Batches.concat([known, *parts])
    if not places:
        return rows
    order = [-1] * count
    for row, place in enumerate(places):
        order[place] = row
    others = iter(range(len(places), count))
    return rows.take([next(others) if row < 0 else row for row in order])


class _Done:
    """Reports the bytes and files of finished tasks."""

    def __init__(self, callback: Callback | None, known: _lanesum.Batches) -> None:
        self.callback = callback
        self.bytes = self.files = 0
        self.add(known)

    def add(self, rows: _lanesum.Batches) -> None:
        if self.callback is not None:
            self.bytes += sum(size or 0 for size in rows.column("size"))
            self.files += len(rows)
            self.callback(self.bytes, self.files)

    def within(self, size: int, files: int) -> None:
        """Reports the progress of the task in this process."""
        if self.callback is not None:
            self.callback(self.bytes + size, self.files + files)


def _here(
    paths: Sequence[str], options: dict[str, Any], threads: int | None, done: _Done
) -> list[_lanesum.Batches]:
    """Runs the tasks one by one in this process, which write shards."""
    parts = []
    for task in pack(paths, 1):
        part = hash_files_task(task, threads=threads, progress=done.within, **options)
        parts.append(part._batches)
        done.add(part._batches)
    return parts


def _there(
    run: Run, workers: int, paths: Sequence[str], options: dict[str, Any], done: _Done
) -> list[_lanesum.Batches]:
    algorithms = options["algorithms"]

    def fail(task: Sequence[str], why: str) -> Table:
        return Table(_lanesum.failed_rows(list(task), algorithms, why))

    # The workers of a pool or a cluster may have other working directories.
    folder = _arguments.folder_of([*paths, options["shards"] or "/"])
    function = partial(hash_files_task, folder=folder, **options)
    sizes = _lanesum.file_sizes(list(paths))
    tables = run(function, pack(paths, workers, sizes), fail, lambda table: done.add(_table(table)._batches))
    # Workers with another version, or an invalid executor, may return anything.
    if [path for table in tables for path in table.column("path")] != list(paths):
        raise RuntimeError("the workers returned rows of wrong files; do they have this version of lanesum?")
    if not tables:
        return []
    return [_without_others(_lanesum.Batches.concat([table._batches for table in tables]), sizes, algorithms)]


def _without_others(rows: _lanesum.Batches, sizes: Sequence[int], algorithms: Sequence[str]) -> _lanesum.Batches:
    """Replaces rows of files that differ from those in this process by errors: a worker may have another file.

    `sizes` are the sizes before the run. A size of 0 means an unreadable or empty file.
    """
    paths = Table(rows).column("path")
    read = rows.column("size")
    others = [row for row, size in enumerate(sizes) if size and read[row] not in (None, size)]
    # A file that changed since is not a different file.
    now = _lanesum.file_sizes([paths[row] for row in others])
    others = [row for row, size in zip(others, now) if size == sizes[row]]
    if not others:
        return rows
    reasons = [f"its worker read {read[row]} bytes, but here the file has {sizes[row]} bytes" for row in others]
    failed = [_lanesum.failed_rows([paths[row]], list(algorithms), why) for row, why in zip(others, reasons)]
    order = list(range(len(rows)))
    for place, row in enumerate(others, len(rows)):
        order[row] = place
    return _lanesum.Batches.concat([rows, *failed]).take(order)


def _table(given: object) -> Table:
    if not isinstance(given, Table):
        raise RuntimeError(f"the executor returned a {type(given).__name__} instead of the result of a task")
    return given


def workers(executor: Executor) -> int:
    """Returns the number of workers of an executor, if it is known."""
    # Those of the standard library and loky; mpi4py's.
    for name in ("_max_workers", "num_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    # Dask's, whose workers come and go.
    client = getattr(executor, "_client", None)
    if client is not None:
        return max(1, sum(int(count) for count in client.nthreads().values()))
    return os.cpu_count() or 1
