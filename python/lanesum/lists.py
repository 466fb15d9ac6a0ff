"""Check, compare, read and write checksum lists."""

from __future__ import annotations

import errno
import io
import operator
import os
import stat
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from lanesum import _arguments, _lanesum
from lanesum._arguments import AnyPath
from lanesum._progress import Callback, showing
from lanesum._whole import replace
from lanesum.table import Checked, Compared, Table

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["check", "compare", "read_list", "write_list"]


def check(
    lists: AnyPath | Iterable[AnyPath],
    root: AnyPath | None = None,
    *,
    beside: bool = False,
    from_: str | None = None,
    name: AnyPath | None = None,
    algorithm: str | None = None,
    part_size: str | int | Iterable[str | int] = (),
    zero: bool = False,
    ignore_missing: bool = False,
    strict: bool = False,
    key: Buffer | None = None,
    threads: int | None = None,
    io: str = "auto",
    progress: bool | Callback | None = None,
) -> Checked:
    """Checks files against one or several lists, like `lanesum check`. Look at `ok` of the result.

    Returns a table with a row for each line. Errors within a list are reported in the rows and in `problems`.

    Parameters:

    - `root`: the directory of all names, including absolute ones. By default names are used unchanged, and those in
      the manifest of a bag are relative to the bag.
    - `beside`: whether names are relative to the directory of their list.
    - `from_`: the format. By default it is detected by the start of a list, or by a `bagit.txt` next to a manifest.
    - `name`: the file of an S3 list without a name.
    - `algorithm`: the algorithm of lines that do not name theirs.
    - `part_size`: the part sizes to try first for multipart ETags.
    - `zero`: whether lines end with NUL.
    - `ignore_missing`: whether a missing file is `missing` instead of `unreadable`.
    - `strict`: whether an invalid line, or an empty list among several, makes the result not `ok`. Without it, a list
      that was truncated within a line or is partly invalid may be `ok`, with rows `malformed` and a note in
      `problems`. An empty list among others is only noted in `problems`.
    - `key`: 16 bytes for SipHash, or 32 bytes for BLAKE3. With a key, lines of algorithms without a key are invalid.

    `threads`, `io` and `progress` are those of `hash_files`. There is no equivalent of `--resume`.

    Raises OSError if a list cannot be opened or the root does not exist, and ValueError or TypeError for invalid
    arguments.
    """
    lists = _arguments.several(lists, "lists")
    if not lists:
        raise ValueError("lists is empty; pass at least one list")
    if root is not None and not os.path.isdir(_arguments.path(root, "root")):
        os.stat(root)
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), root)
    beside = _arguments.flag(beside, "beside")
    if beside and root is not None:
        raise ValueError("root= and beside= exclude each other; give one of them")
    checking = {
        "root": root,
        "beside": beside,
        "from": _arguments.optional_text(from_, "from_"),
        "name": _arguments.optional_path(name, "name"),
        "algorithm": _arguments.optional_text(algorithm, "algorithm"),
        "part_sizes": _arguments.strings(part_size, "part_size"),
        "zero": _arguments.flag(zero, "zero"),
        "ignore_missing": _arguments.flag(ignore_missing, "ignore_missing"),
        "strict": _arguments.flag(strict, "strict"),
    }
    with showing(progress, None) as callback:
        reading = _arguments.reading(threads=threads, io=io, key=key, progress=callback)
        # Reports invalid arguments before it waits for a list.
        _lanesum.check_lists([], [], checking, reading)
        with _arguments.named(*lists), _opened(lists) as opened:
            rows, counts, problems, ok = _lanesum.check_lists(lists, opened, checking, reading)
    return Checked(rows, problems, ok, dict(counts), strict or key is not None)


def compare(
    a: AnyPath,
    b: AnyPath,
    *,
    quick: bool = False,
    strip: bool = False,
    algorithm: str | None = None,
    from_: str | None = None,
    part_size: str | int | Iterable[str | int] = (),
    zero: bool = False,
    exclude: AnyPath | Iterable[AnyPath] = (),
    gitignore: bool = False,
    follow: bool = False,
    one_file_system: bool = False,
    threads: int | None = None,
    io: str = "auto",
    progress: bool | Callback | None = None,
) -> Compared:
    """Compares two sides, each a directory or a list, like `lanesum compare`. Look at `ok` of the result.

    Returns a table with a row for each file. Two lists are compared without reading files. Two directories are compared
    by MD5, or by `algorithm`. Symbolic links (unless `follow` is set), other special files and empty directories are
    ignored: sides that differ only in these are equal.

    Parameters:

    - `quick`: whether to compare only names, sizes and times, without reading files.
    - `strip`: whether to remove the common directory of all names from the names of a list.

    All other parameters are those of `check` and `hash_tree`.

    Raises OSError if a side cannot be read. Raises ValueError if a list is not text (binary, UTF-16, or lines with
    another end than `zero` says), needs a key, or changes meanwhile, and for invalid arguments. Invalid lines raise
    nothing, even if a list has no valid line: `problems` has a note, and `ok` is False.
    """
    a, b = _arguments.path(a, "a"), _arguments.path(b, "b")
    comparing = {
        "quick": _arguments.flag(quick, "quick"),
        "strip": _arguments.flag(strip, "strip"),
        "algorithm": _arguments.optional_text(algorithm, "algorithm"),
        "from": _arguments.optional_text(from_, "from_"),
        "part_sizes": _arguments.strings(part_size, "part_size"),
        "zero": _arguments.flag(zero, "zero"),
    }
    walking = _arguments.walking(
        exclude=exclude, gitignore=gitignore, follow=follow, one_file_system=one_file_system
    )
    with showing(progress, None) as callback:
        reading = _arguments.reading(threads=threads, io=io, progress=callback)
        with _arguments.named(a, b), _opened([a, b]) as opened:
            rows, problems, ok = _lanesum.compare_sides([a, b], opened, comparing, walking, reading)
    return Compared(rows, problems, ok)


def read_list(
    source: AnyPath | BinaryIO,
    from_: str | None = None,
    *,
    algorithm: str | None = None,
    name: AnyPath | None = None,
    zero: bool = False,
) -> Table:
    r"""Reads the records of a list to a table: `path`, `size`, `modified`, and a column for each algorithm.

    `source` is a path, or the list itself: bytes that contain a line end or are empty, or a file that is open for
    reading bytes. The format is detected by the start of the list, unless `from_` is given. Consecutive lines of one
    file are one row. Multipart ETags are a column `etag`.

    Raises OSError if the list cannot be read, and ValueError with the line number if it is invalid.

    >>> import lanesum
    >>> lanesum.read_list(b"900150983cd24fb0d6963f7d28e17f72  a\n").column("path")
    ['a']
    """
    reading = {
        "from": _arguments.optional_text(from_, "from_"),
        "name": _arguments.optional_path(name, "name"),
        "algorithm": _arguments.optional_text(algorithm, "algorithm"),
        "zero": _arguments.flag(zero, "zero"),
    }
    if hasattr(source, "read"):
        content = source.read()
        if not isinstance(content, bytes):
            raise TypeError("the list must be open for reading bytes: open(path, 'rb')")
        return Table(_lanesum.read_list_content(content, reading))
    if not _arguments.is_path(source):
        # A number would be a file descriptor, which the caller owns.
        raise TypeError(f"source must be a path, the bytes of a list or an open file, not {type(source).__name__}")
    if isinstance(source, bytes) and (not source or b"\n" in source or b"\0" in source):
        return Table(_lanesum.read_list_content(source, reading))
    if _is_stream(source):
        # A pipe may block. Reads in Python let other threads and ctrl-C run meanwhile.
        with open(source, "rb") as file:
            return Table(_lanesum.read_list_content(file.read(), reading))
    with _arguments.named(source):
        return Table(_lanesum.read_list_file(source, reading))


def _is_stream(path: AnyPath) -> bool:
    mode = _mode(path)
    return mode is not None and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _mode(path: AnyPath) -> int | None:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):
        # The read reports the error.
        return None


@contextmanager
def _opened(lists: Iterable[AnyPath]) -> Iterator[list[AnyPath]]:
    """Returns the path to open for each list.

    A FIFO is read here, where ctrl-C works, and its content is passed on through a pipe. A thread that waits for the
    FIFO could not be ended, and would take data of the next writer.
    """
    for path in lists:
        os.stat(path)
    with ExitStack() as stack:
        yield [stack.enter_context(_piped(path)) if _is_fifo(path) else path for path in lists]


def _is_fifo(path: AnyPath) -> bool:
    # The name and the place of a list identify a manifest of a bag.
    is_of_a_bag = os.path.basename(os.fsdecode(path)).startswith(("manifest-", "tagmanifest-"))
    return stat.S_ISFIFO(_mode(path) or 0) and not is_of_a_bag


@contextmanager
def _piped(path: AnyPath) -> Iterator[str]:
    with open(path, "rb") as file:
        content = file.read()
    reading, writing = os.pipe()
    try:
        threading.Thread(target=_feed, args=(writing, content), daemon=True).start()
        yield f"/dev/fd/{reading}"
    finally:
        # The writing thread ends when the last reader is closed.
        os.close(reading)


def _feed(descriptor: int, content: bytes) -> None:
    try:
        with open(descriptor, "wb", buffering=0) as pipe:
            _write_all(pipe, content)
    except BrokenPipeError:
        # The reader has stopped reading.
        pass


def write_list(
    rows: Table | Iterable[Mapping[str, Any]] | Any,
    path: AnyPath | BinaryIO,
    format: str = "gnu",
    *,
    algorithms: str | Iterable[str] | None = None,
    zero: bool = False,
) -> None:
    """Writes a checksum list to a path or a file.

    Parameters:

    - `rows`: a table of this package, of pyarrow, polars or pandas, or an iterable of mappings. A row has a `path`, digests
      under the names of their algorithms (bytes or hexadecimal digits), and optionally `size` and `modified`
      (nanoseconds or a datetime). None, NaN and NA of pandas mean a missing value. Digests under other names than
      those of `hash_files` are ignored. A row with an `etag` is refused unless `algorithms` is given.
    - `path`: a path, or a file that is open for writing bytes. A file at a path appears when it is complete.
    - `format`: gnu (as md5sum), tag (as BSD), hashdeep, md5deep, bagit, sfv, csv, json or jsonl.
    - `algorithms`: the digests to write, which every row must have. By default all digests of each row are written.
    - `zero`: whether lines end with NUL.

    Raises ValueError if a row has an error or lacks a digest, if the format cannot hold it, or for invalid
    `algorithms`. Raises TypeError for values of other types, and OSError if the list cannot be written.
    """
    if not hasattr(path, "write"):
        _arguments.path(path, "path")
    elif hasattr(path, "encoding"):
        raise TypeError("the file must be open for writing bytes: open(path, 'wb')")
    zero = _arguments.flag(zero, "zero")
    if not isinstance(format, str):
        raise TypeError(f"format must be a str, not {type(format).__name__}")
    records = [_record(row, number) for number, row in enumerate(_mappings(rows))]
    if not records:
        raise ValueError("nothing to write: there are no rows")
    if algorithms is None:
        for row in records:
            if row.get("etag") is not None:
                raise ValueError(f"{_shown(row)}: write_list() cannot write its etag; choose digests with algorithms=")
        seen = {name: None for row in records for name in row if name in _ALGORITHMS and row[name] is not None}
        names = list(seen)
    else:
        names = _lanesum.algorithms_named(_arguments.algorithms(algorithms))
    given = []
    for row in records:
        digests = [_digest(row, name) for name in names]
        known = [name for name in row if name in _ALGORITHMS and row[name] is not None]
        if not known:
            raise ValueError(f"{_shown(row)}: has no digest of a known algorithm")
        if algorithms is not None and not all(digests):
            lacking = ", ".join(name for name, digest in zip(names, digests) if not digest)
            has = f"it has {', '.join(known)}"
            raise ValueError(f"{_shown(row)}: lacks {lacking}, which algorithms= requests; {has}")
        given.append((row["path"], _size(row), _nanoseconds(row), digests))
    content = bytes(_lanesum.format_list(given, names, format, zero))
    if hasattr(path, "write"):
        _write_all(path, content)
    else:
        replace(path, content)


_ALGORITHMS = frozenset(_lanesum.algorithm_names())


def _mappings(rows: Any) -> Iterable[Any]:
    if isinstance(rows, Table):
        return rows.rows()
    if type(rows).__module__.startswith("polars."):
        if type(rows).__name__ == "LazyFrame":
            raise TypeError("rows is a polars query; pass the result of its collect()")
        rows = _with_nanoseconds(rows)
    if type(rows).__module__.startswith("pyarrow.") and hasattr(rows, "read_all"):
        # A stream of batches.
        rows = rows.read_all()
    if type(rows).__module__.startswith("pyarrow."):
        rows = _with_numbers(rows)
    if hasattr(rows, "iloc") and hasattr(rows, "columns"):
        # A frame of pandas, which would iterate over the names of its columns.
        return list(rows.to_dict("records"))
    for convert in ("to_pylist", "to_dicts"):
        if hasattr(rows, convert):
            return list(getattr(rows, convert)())
    if isinstance(rows, Mapping | str | bytes) or not hasattr(rows, "__iter__") or hasattr(rows, "iloc"):
        kind = type(rows).__name__
        raise TypeError(f"rows must be a table, or mappings with a path and digests, not {kind}")
    mappings: Iterable[Any] = rows
    return mappings


def _with_nanoseconds(frame: Any) -> Any:
    """Converts the times of a polars frame to numbers. Python datetimes would lose the last three digits."""
    times = frame.schema.get("modified") if hasattr(frame, "schema") else None
    if getattr(times, "time_unit", None) != "ns" or getattr(times, "time_zone", None) is None:
        return frame
    return frame.with_columns(frame["modified"].dt.timestamp("ns"))


def _with_numbers(rows: Any) -> Any:
    """Converts the times of a pyarrow table or batch to numbers. pyarrow needs pandas for nanosecond timestamps."""
    place = rows.schema.get_field_index("modified") if hasattr(rows, "schema") else -1
    if place < 0:
        return rows
    times = rows.schema.field(place).type
    if getattr(times, "unit", None) != "ns" or getattr(times, "tz", None) is None:
        return rows
    return rows.set_column(place, "modified", rows.column(place).cast("int64"))


def _record(row: Any, number: int) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise TypeError(f"row {number} must be a mapping with a path and digests, not {type(row).__name__}")
    record = {name: None if _is_missing(value) else value for name, value in row.items()}
    path = record.get("path")
    if path is None:
        path = record.get("path_bytes")
    if path is None:
        raise ValueError(f"row {number} has no path")
    record["path"] = _arguments.path(path, f"the path of row {number}")
    if record.get("error") is not None:
        raise ValueError(f"{_shown(record)}: {record['error']}; leave out rows with an error")
    return record


def _is_missing(value: Any) -> bool:
    if value is None or isinstance(value, float) and value != value:
        return True
    return type(value).__name__ in ("NAType", "NaTType") and type(value).__module__.startswith("pandas.")


def _shown(row: Mapping[str, Any]) -> str:
    return os.fsdecode(row["path"])


def _write_all(file: Any, content: bytes) -> None:
    """Writes all bytes. An unbuffered file may accept only a part, and returns its size."""
    while content:
        written = file.write(content)
        if written is None and isinstance(file, io.RawIOBase):
            raise BlockingIOError(errno.EAGAIN, "the file is non-blocking and currently full; pass a blocking one")
        content = content[len(content) if written is None else written :]


def _digest(row: Mapping[str, Any], name: str) -> bytes | None:
    digest = row.get(name)
    if digest is None or isinstance(digest, bytes):
        return digest
    if isinstance(digest, bytearray | memoryview):
        return bytes(digest)
    if not isinstance(digest, str):
        # bytes() of a number would give zeros, which look like a digest.
        kind = type(digest).__name__
        raise TypeError(f"{_shown(row)}: {name} must be bytes or hexadecimal digits, not {kind}")
    try:
        return bytes.fromhex(digest)
    except ValueError:
        raise ValueError(f"{_shown(row)}: {name} must be hexadecimal digits, not {digest!r}") from None


def _size(row: Mapping[str, Any]) -> int | None:
    size = row.get("size")
    if size is None:
        return None
    try:
        if isinstance(size, bool):
            raise TypeError
        size = operator.index(size)
    except TypeError:
        # A pandas column with a missing size has floats.
        if not isinstance(size, float) or not size.is_integer():
            raise TypeError(f"{_shown(row)}: size must be an int, not {size!r}") from None
        size = int(size)
    if not 0 <= size < 1 << 64:
        raise ValueError(f"{_shown(row)}: invalid size {size}")
    return size


def _nanoseconds(row: Mapping[str, Any]) -> int | None:
    moment = row.get("modified")
    if moment is None:
        return None
    if isinstance(moment, bool):
        raise TypeError(f"{_shown(row)}: modified must be an int or a datetime, not {moment!r}")
    if hasattr(moment, "__index__"):
        nanoseconds = operator.index(moment)
    elif getattr(moment, "tzinfo", None) is None:
        raise ValueError(f"{_shown(row)}: modified must be nanoseconds or a datetime with a time zone, not {moment!r}")
    elif hasattr(moment, "value"):
        # Timestamps of pandas have more digits than datetimes.
        nanoseconds = int(moment.value)
    else:
        seconds = int(moment.replace(microsecond=0).timestamp())
        nanoseconds = seconds * 10**9 + int(moment.microsecond) * 1000
    if not -(1 << 63) <= nanoseconds < 1 << 63:
        raise ValueError(f"{_shown(row)}: modified must be between the years 1678 and 2261, not {moment!r}")
    return nanoseconds
