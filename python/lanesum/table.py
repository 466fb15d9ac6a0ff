"""Tables of Arrow: what functions over files return.

A table is handed on without copies by the Arrow PyCapsule interface: `pyarrow.table(t)`, `polars.DataFrame(t)`,
`duckdb.sql("from t")` read it. Without any of them it is iterated: its rows are dicts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lanesum import _lanesum

if TYPE_CHECKING:
    import pandas as _pandas
    import polars as _polars
    import pyarrow as _pyarrow
    from typing_extensions import CapsuleType

# Of a name that is no UTF-8 the column of this ending has the bytes, and the one without it is
# null.
_BYTES = "_bytes"


class Table:
    """Columns of Arrow.

    A path is text in the column `path`. Where its bytes are no UTF-8, which a file's name may be and Arrow's text must
    not, `path` is null and `path_bytes` has them. A row's `row["path"]` has both: as `os.fsdecode` makes it, which
    `open` takes.
    """

    __slots__ = ("_batches",)

    def __init__(self, batches: _lanesum.Batches) -> None:
        self._batches = batches

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return len(self._batches)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in their order."""
        return self._batches.names

    def column(self, name: str) -> list[Any]:
        """A column as a list. Times are nanoseconds since 1970, as `st_mtime_ns` is.

        Raises KeyError where there is none of this name.
        """
        values = self._batches.column(name)
        if name + _BYTES in self.column_names:
            others = self._batches.column(name + _BYTES)
            return [value if other is None else os.fsdecode(other) for value, other in zip(values, others)]
        return values

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows as dicts, without the columns of bytes of names."""
        names = [name for name in self.column_names if not name.endswith(_BYTES)]
        columns = [self.column(name) for name in names]
        return (dict(zip(names, values)) for values in zip(*columns))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.rows()

    def __len__(self) -> int:
        return self.num_rows

    def __arrow_c_schema__(self) -> CapsuleType:
        return self._batches.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> CapsuleType:
        return self._batches.__arrow_c_stream__(requested_schema)

    def to_pyarrow(self) -> _pyarrow.Table:
        """The same as pyarrow's table."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> _polars.DataFrame:
        """The same as polars' frame."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> _pandas.DataFrame:
        """The same as pandas' frame, by way of pyarrow: a size is Int64, of which one may be missing.

        Not `pandas.DataFrame(table)`, which takes row by row what Python has: times as integers.
        """
        import pandas
        import pyarrow

        return self.to_pyarrow().to_pandas(types_mapper={pyarrow.int64(): pandas.Int64Dtype()}.get)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), self._batches.to_ipc(), self._state())

    def _state(self) -> tuple[Any, ...]:
        """What a class of its own adds, as its constructor takes it."""
        return ()

    def __repr__(self) -> str:
        rows = "1 row" if self.num_rows == 1 else f"{self.num_rows} rows"
        return f"<{type(self).__name__}: {rows} of {', '.join(self.column_names)}>"


def _unpickled(kind: type[Table], content: bytes, state: tuple[Any, ...]) -> Table:
    return kind(_lanesum.Batches.from_ipc(content), *state)


def _unpickled_column(content: bytes) -> _lanesum.Column:
    return _lanesum.Column._from_ipc(content)


class FailuresError(Exception):
    """Not all is well; `result` is the table that says what."""

    def __init__(self, words: str, result: Any) -> None:
        super().__init__(words)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.result)


class Result(Table):
    """A table that tells whether all is well. It is neither true nor false: ask `ok`."""

    __slots__ = ("problems",)

    def __init__(self, batches: _lanesum.Batches, problems: Sequence[str] = ()) -> None:
        super().__init__(batches)
        #: What there is to say of the whole.
        self.problems = list(problems)

    @property
    def ok(self) -> bool:
        """Whether all is well."""
        raise NotImplementedError

    def failures(self) -> list[dict[str, Any]]:
        """The rows that are not as they should be."""
        raise NotImplementedError

    def raise_for_failures(self) -> None:
        """Raises FailuresError, which names the first of them, unless all is well."""
        if self.ok:
            return
        failures = self.failures()
        named = [_words(row) for row in failures[:3]] + self.problems[:3]
        more = len(failures) - 3
        rest = f"; and {more} more" if more > 0 else ""
        raise FailuresError("; ".join(named or ["nothing was checked"]) + rest, self)

    def __bool__(self) -> bool:
        raise TypeError(f"a {type(self).__name__} is neither true nor false: ask .ok, or its length")

    def _state(self) -> tuple[Any, ...]:
        return (self.problems,)


def _words(row: dict[str, Any]) -> str:
    what = row.get("error") or row.get("reason") or row.get("verdict") or row.get("class")
    return f"{row.get('path') or row.get('list')}: {what}"


class Files(Result):
    """Files: `path`, `size`, `modified`, a column of digests for each algorithm, `error`, `path_bytes`.

    A file that failed has its reason in `error`, and no digest. `skipped` has what a walk passed over, since it is a
    FIFO, socket or device, or a link that leads back to a folder around it; and each `.git` that git does not read. Each
    is its path, and what it is. A symbolic link that is not followed is not among them.
    """

    __slots__ = ("skipped",)

    def __init__(
        self, batches: _lanesum.Batches, problems: Sequence[str] = (), skipped: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__(batches, problems)
        self.skipped = list(skipped)

    @property
    def ok(self) -> bool:
        """Whether every file has its digests: True where there is no file."""
        return all(error is None for error in self._batches.column("error"))

    def failures(self) -> list[dict[str, Any]]:
        return [row for row in self if row["error"] is not None]

    def _state(self) -> tuple[Any, ...]:
        return (self.problems, self.skipped)


class Checked(Result):
    """Lines of lists: `path`, `verdict`, `reason`, `list`, `line`, `path_bytes`, `list_bytes`.

    A verdict is `match`, `mismatch`, `unproven` (the list has its size alone), `missing` (which was to be ignored) or
    `unreadable`; of lines that are none `malformed`, `wrong` or `unknown` (of an algorithm that is not computed), with
    their numbers in `line`.
    """

    __slots__ = ("_ok", "counts", "strict")

    def __init__(
        self, batches: _lanesum.Batches, problems: Sequence[str], ok: bool, counts: dict[str, int], strict: bool
    ) -> None:
        super().__init__(batches, problems)
        self._ok = ok
        self.strict = strict
        #: How many lines are what; `files` and `bytes` that were read, and `bad_lists`.
        self.counts = counts

    @property
    def ok(self) -> bool:
        """Whether the program's exit code would be 0: something was checked, and nothing failed.

        A line that is no checksum line, or an empty list among others, does not count, unless `strict` was said or a
        key given.
        """
        return self._ok

    def failures(self) -> list[dict[str, Any]]:
        """The rows that are not as they should be; those that are `malformed` only if they keep it from being `ok`."""
        good = {"match", "missing"} | (set() if self.strict else {"malformed"})
        return [row for row in self if row["verdict"] not in good]

    def _state(self) -> tuple[Any, ...]:
        return (self.problems, self._ok, self.counts, self.strict)


class Compared(Result):
    """Files of either side: `path`, `class`, `from`, `size_before`, `size`, `basis`, `reason`, and bytes of the names.

    A class is `equal`, `alike` (with `quick`), `changed`, `moved`, `copied`, `new`, `missing`, `unreadable`, `changed
    while read` or `not compared`.
    """

    __slots__ = ("_ok",)

    def __init__(self, batches: _lanesum.Batches, problems: Sequence[str], ok: bool) -> None:
        super().__init__(batches, problems)
        self._ok = ok

    @property
    def ok(self) -> bool:
        """Whether the program's exit code would be 0: there are files, and all are equal.

        With `quick` all are alike: in size and time, as far as both sides have these. Contents may differ.
        """
        return self._ok

    def failures(self) -> list[dict[str, Any]]:
        return [row for row in self if row["class"] not in ("equal", "alike")]

    def _state(self) -> tuple[Any, ...]:
        return (self.problems, self._ok)


class Etags(Result):
    """Files and their ETags: `path`, `size`, `etag`, `error`, `path_bytes`; `modified` is null."""

    __slots__ = ()

    @property
    def ok(self) -> bool:
        """Whether every file has its ETag."""
        return all(error is None for error in self._batches.column("error"))

    def failures(self) -> list[dict[str, Any]]:
        return [row for row in self if row["error"] is not None]
