"""Functions for files and directory trees, which return tables of digests and ETags."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from lanesum import _arguments, _lanesum
from lanesum._arguments import AnyPath
from lanesum._progress import Callback, showing
from lanesum.table import Etags, Files

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from lanesum.executors import Run

__all__ = ["etag", "etags", "hash_files", "hash_tree"]


def hash_files(
    paths: Iterable[AnyPath],
    algorithms: str | Iterable[str] = ("md5",),
    *,
    key: Buffer | None = None,
    threads: int | None = None,
    io: str = "auto",
    progress: bool | Callback | None = None,
    executor: Executor | None = None,
    shards: AnyPath | None = None,
) -> Files:
    """Computes the digests of files, with all algorithms in one read.

    Returns a table with a row for each path, in their order. A file that fails, or that changes while it is read, has
    its reason in the column `error` and raises nothing. Check `ok` of the table, or call `raise_for_failures()`. `ok`
    is True if no file failed, and also if there are no files.

    Paths that are not regular files are read to their end, as in the command: a FIFO waits for a writer. Ctrl-C ends
    that, except in the threads of an executor, which Python waits for.

    Parameters:

    - `key`: 16 bytes for SipHash, or 32 bytes for BLAKE3.
    - `threads`: the number of threads that read and hash. The default is one for each CPU.
    - `io`: the read method. `auto` and `read` read into buffers. `mmap` maps long files, and installs a handler for
      SIGBUS in the process meanwhile. `direct` bypasses the cache. `uring` uses io_uring.
    - `progress`: True shows a progress bar of tqdm or, without tqdm, a counter of bytes and files, if stderr is a
      terminal. A function is called with the numbers of bytes and files that are done.
    - `executor`: an executor as in `concurrent.futures`. Files are packed into tasks by their bytes, with one thread
      each unless `threads` is given. The paths must exist on the workers. Relative paths refer to the working directory
      of this process. A failed task is tried again. If a worker dies, its task is split until the file is known.
    - `shards`: a directory for results. Each part is written there when it is done (an Arrow IPC file). Files with the
      same size, times and inode as in a shard are not hashed again. A process that writes to a mapped file may leave
      all of these unchanged for a while.

    Raises ValueError and TypeError for invalid arguments (TypeError if a key is missing or has no effect), OSError for
    an invalid directory of shards, and RuntimeError for an executor that was shut down before.

    >>> import lanesum
    >>> table = lanesum.hash_files(["/dev/null", "nowhere"])
    >>> table.num_rows, table.ok
    (2, False)
    >>> [row["error"] for row in table]
    [None, 'No such file or directory']
    """
    names = _arguments.algorithms(algorithms)
    if executor is not None or shards is not None:
        on = _on(executor)
        return _in_tasks(on, paths, names, key=key, threads=threads, io=io, progress=progress, shards=shards)
    paths = _arguments.paths(paths)
    with showing(progress, len(paths)) as callback:
        reading = _arguments.reading(threads=threads, io=io, key=key, progress=callback)
        rows = _lanesum.hash_paths(paths, names, reading)
    return Files(_public(rows, names))


def hash_tree(
    root: AnyPath,
    algorithms: str | Iterable[str] = ("md5",),
    *,
    exclude: AnyPath | Iterable[AnyPath] = (),
    gitignore: bool = False,
    follow: bool = False,
    one_file_system: bool = False,
    key: Buffer | None = None,
    threads: int | None = None,
    io: str = "auto",
    progress: bool | Callback | None = None,
    executor: Executor | None = None,
    shards: AnyPath | None = None,
) -> Files:
    """Computes the digests of the regular files below a directory, in byte order of their paths.

    With `executor` or `shards`, entries that the walk could not read come last. A directory that cannot be read is a
    row with its reason in `error`. FIFOs, sockets, devices and links that lead back to a parent directory are skipped
    and listed in `skipped` of the table. Excluded and ignored entries, entries on other devices, and symbolic links
    without `follow` are not listed there. `ok` is True if nothing failed, also for a directory without files; see
    `num_rows`.

    Parameters:

    - `root`: a directory or a file. A file is the only row, also a FIFO or a device, which is read to its end.
    - `exclude`: patterns as in a `.gitignore`, without `!`, which is refused. `\\!a` is a name that starts with it.
    - `gitignore`: whether to apply `.gitignore` files and the rules of git.
    - `follow`: whether to follow symbolic links.
    - `one_file_system`: whether to stay on the device of the root.

    All other parameters are those of `hash_files`. Raises OSError if `root` does not exist, and ValueError if `shards`
    is a directory in the tree. If links lead to the shards, these are skipped and listed in `skipped`.
    """
    root, names = _arguments.path(root, "root"), _arguments.algorithms(algorithms)
    walking = _arguments.walking(
        exclude=exclude, gitignore=gitignore, follow=follow, one_file_system=one_file_system
    )
    if shards is not None:
        _refuse_within(root, _arguments.path(shards, "shards"))
    if executor is not None or shards is not None:
        on = _on(executor)
        with _arguments.named(root):
            paths, failed, skipped = _lanesum.walk_tree(root, walking)
        if shards is not None and walking["follow"]:
            paths, of_shards = _without_shards(paths, shards)
            skipped = [*skipped, *of_shards]
        table = _in_tasks(on, paths, names, key=key, threads=threads, io=io, progress=progress, shards=shards)
        parts = [_lanesum.failed_rows([path], names, why) for path, why in failed]
        rows = _lanesum.Batches.concat([table._batches, *(_public(part, names) for part in parts)])
        return Files(rows, table.problems, skipped)
    with showing(progress, None) as callback:
        reading = _arguments.reading(threads=threads, io=io, key=key, progress=callback)
        with _arguments.named(root):
            rows, skipped = _lanesum.hash_below(root, names, walking, reading)
    return Files(_public(rows, names), (), skipped)


def _refuse_within(root: AnyPath, shards: AnyPath) -> None:
    tree, folder = (os.path.realpath(os.fsdecode(path)) for path in (root, shards))
    if os.path.commonpath([tree, folder]) == tree:
        raise ValueError(f"shards={os.fsdecode(shards)!r} is in the tree; pass a directory outside of it")


def _without_shards(paths: Iterable[str], shards: AnyPath) -> tuple[list[str], list[tuple[str, str]]]:
    """Returns the paths that are not shards, and the skipped shards. Links may lead to shards."""
    folder = os.path.realpath(os.fsdecode(shards))
    real = functools.cache(os.path.realpath)
    others, skipped = [], []
    for path in paths:
        # Most files are not links, and many are in the same directory.
        lies_in = os.path.dirname(os.path.realpath(path)) if os.path.islink(path) else real(os.path.dirname(path))
        if lies_in == folder:
            skipped.append((path, "in the directory of shards"))
        else:
            others.append(path)
    return others, skipped


def _on(executor: Executor | None) -> tuple[Run, int] | None:
    """Returns the workers of an executor and their number, or None without an executor."""
    from lanesum import executors

    return None if executor is None else (executors.on(executor), executors.workers(executor))


def _in_tasks(on: tuple[Run, int] | None, paths: Iterable[AnyPath], algorithms: list[str], **options: Any) -> Files:
    """Hashes files on an executor, or in this process with shards."""
    if options["shards"] is not None:
        _arguments.path(options["shards"], "shards")
    from lanesum import executors

    return executors.hash_in_tasks(paths, algorithms, on=on, **options)


def _public(rows: _lanesum.Batches, algorithms: list[str]) -> _lanesum.Batches:
    """Removes the columns that only shards need."""
    return rows.select([name for name in rows.names if name not in ("changed", "inode")])


def etag(path: AnyPath, part_size: str | int = "aws-cli") -> str:
    """Returns the ETag that S3 shows for a file, which depends on its upload.

    `part_size` is a size in bytes (`8 << 20`), a text ("8MiB"), or the name of a client with its defaults: aws-cli,
    boto3, rclone, s5cmd, s3cmd or mc. The parts of the file are hashed in parallel.

    Raises OSError if the file cannot be read, and ValueError if it has no such ETag.
    """
    if not _arguments.is_path(path):
        raise TypeError(f"path must be one path, not {type(path).__name__}; etags() takes several")
    # Raises the OSError of the system, with its number.
    with open(path, "rb"):
        pass
    (row,) = etags([path], part_size)
    if row["error"] is not None:
        raise ValueError(f"{os.fsdecode(path)}: {row['error']}")
    return str(row["etag"])


def etags(
    paths: Iterable[AnyPath],
    part_size: str | int = "aws-cli",
    *,
    threads: int | None = None,
    io: str = "auto",
    progress: bool | Callback | None = None,
) -> Etags:
    """Returns a table with the ETag of each file or the reason why it has none, in their order. See `etag`."""
    (size,) = _arguments.strings([part_size], "part_size")
    paths = _arguments.paths(paths)
    with showing(progress, len(paths)) as callback:
        reading = _arguments.reading(threads=threads, io=io, progress=callback)
        return Etags(_lanesum.etags_of_paths(paths, size, reading))
