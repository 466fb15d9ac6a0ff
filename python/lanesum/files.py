"""Files and trees, many at once: tables of their digests and ETags."""

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
    """Digests of files, of all algorithms in one read: a row for each path, in their order.

    A file that fails, or changes while it is read, is a row with its reason in `error`; nothing is raised for it. Ask
    `ok`, or call `raise_for_failures()`. `ok` means that no file failed: it is True where there is none. What is no
    regular file is read until it ends, as the command does: a FIFO waits for a writer, and ctrl-C ends that,
    but not in the threads of an executor, which Python waits for.

    `threads` is how many read and hash, by default one for each CPU. `io` is how: `auto` and `read` into buffers,
    `mmap` maps long files, for which the process gets a handler for SIGBUS as long as this runs; `direct` past the
    cache, `uring` by io_uring. `progress` is True for tqdm's bar, or where that is not installed for a counter of bytes
    and files; nothing is shown where stderr is no terminal. Or it is called with the bytes and the files that are done.
    `key` is of 16 bytes for SipHash, or of 32 for BLAKE3.

    With `executor`, any of `concurrent.futures`, files are packed into tasks by their bytes, each with one thread unless
    `threads` says more; the paths must be the workers', too, and relative ones are in the folder that this process is in.
    A task that fails is tried again, and one whose worker dies is taken apart until it is known which file it was.

    With `shards`, a folder, each part is written there as it is done (a file in Arrow's IPC format), and what is there
    is not hashed again, as far as size, times and inode of a file are what they were. (Whoever writes to a file that is
    mapped into memory changes none of these for a while.)

    Raises ValueError and TypeError for arguments that are wrong (TypeError where a key is missing, or does nothing),
    OSError for a folder of shards that is, and RuntimeError for an executor that was shut down before.

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
    """Digests of the regular files below a folder, in byte order of their paths; with `executor` or `shards` what the
    walk could not read comes last.

    A `root` that is a file is the only row, also a FIFO, which is read to its end, or a device. `exclude` has
    patterns as a `.gitignore` has them, but for `!`, which would take back what others leave out, and is refused:
    `\\!a` is a name that begins with it. `gitignore` honours those files and git's own, `follow` enters symbolic
    links, and `one_file_system` stays on the root's device. A folder that cannot be read is a row with its reason in
    `error`. A FIFO, socket or device is passed over, and stands in the table's `skipped`; so does a link that leads
    back to a folder around it. What is left out on purpose does not: what is excluded or ignored, or on another
    device, and without `follow` symbolic links. `ok` means that nothing failed: it is True of a folder without files;
    `num_rows` tells.

    The rest is as with `hash_files`. Raises OSError where there is no `root`, and ValueError where `shards` is a folder in
    the tree, of which it would become a part; where links lead there, its files are passed over, and stand in `skipped`.
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
        raise ValueError(f"shards={os.fsdecode(shards)!r} is in the tree, of which it would be a part; give another folder")


def _without_shards(paths: Iterable[str], shards: AnyPath) -> tuple[list[str], list[tuple[str, str]]]:
    """Those that are no shards, and those that are: links may lead there."""
    folder = os.path.realpath(os.fsdecode(shards))
    real = functools.cache(os.path.realpath)
    others, skipped = [], []
    for path in paths:
        # Most files are no links, and many are in one folder.
        lies_in = os.path.dirname(os.path.realpath(path)) if os.path.islink(path) else real(os.path.dirname(path))
        if lies_in == folder:
            skipped.append((path, "in the folder of shards"))
        else:
            others.append(path)
    return others, skipped


def _on(executor: Executor | None) -> tuple[Run, int] | None:
    """The workers of an executor, if there is one, and how many they are."""
    from lanesum import executors

    return None if executor is None else (executors.on(executor), executors.workers(executor))


def _in_tasks(on: tuple[Run, int] | None, paths: Iterable[AnyPath], algorithms: list[str], **options: Any) -> Files:
    """On an executor, or here, where shards are written."""
    if options["shards"] is not None:
        _arguments.path(options["shards"], "shards")
    from lanesum import executors

    return executors.hash_in_tasks(paths, algorithms, on=on, **options)


def _public(rows: _lanesum.Batches, algorithms: list[str]) -> _lanesum.Batches:
    """Without what only shards need."""
    return rows.select([name for name in rows.names if name not in ("changed", "inode")])


def etag(path: AnyPath, part_size: str | int = "aws-cli") -> str:
    """The ETag that S3 shows of a file, by how it is uploaded: in parts of a size (`8 << 20`, "8MiB"), or by a client.

    The clients are aws-cli, boto3, rclone, s5cmd, s3cmd and mc, with their defaults. The parts of one file are hashed
    side by side. Raises OSError where the file cannot be read, and ValueError where it has no such ETag.
    """
    if not _arguments.is_path(path):
        raise TypeError(f"path must be one path, not {type(path).__name__}; etags() takes several")
    # The system's own refusal, with its number.
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
    """The ETags of several files, as `etag`: a row for each, in their order, with its ETag or why there is none."""
    (size,) = _arguments.strings([part_size], "part_size")
    paths = _arguments.paths(paths)
    with showing(progress, len(paths)) as callback:
        reading = _arguments.reading(threads=threads, io=io, progress=callback)
        return Etags(_lanesum.etags_of_paths(paths, size, reading))
