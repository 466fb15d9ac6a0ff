"""Arrow tables, which the functions for files return.

Other libraries read a table without copies by the Arrow PyCapsule interface: `pyarrow.table(t)`, `polars.DataFrame(t)`,
`duckdb.sql("from t")`. Iterating over a table returns its rows as dicts.
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
    from typing_extensions import CapsuleType, Self

# The column with this suffix has the bytes of names that are not UTF-8. The column without it is
# null for them.
_BYTES = "_bytes"

# The number of rows that notebooks show.
_SHOWN = 20


class Table:
    """An Arrow table.

    A path is text in the column `path`. If its bytes are not UTF-8, which Arrow text does not allow, `path` is null and
    `path_bytes` has the bytes. `row["path"]` of a row has both, as `os.fsdecode` returns it and `open` accepts it.
    """

    __slots__ = ("_batches",)

    def __init__(self, batches: _lanesum.Batches) -> None:
        self._batches = batches

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(self._batches)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in order."""
        return self._batches.names

    def column(self, name: str) -> list[Any]:
        """Returns a column as a list. Times are nanoseconds since 1970, like `st_mtime_ns`.

        Raises KeyError if there is no column of this name.
        """
        values = self._batches.column(name)
        if name + _BYTES in self.column_names:
            others = self._batches.column(name + _BYTES)
            return [value if other is None else os.fsdecode(other) for value, other in zip(values, others)]
        return values

    def rows(self) -> Iterator[dict[str, Any]]:
        """Returns the rows as dicts, without the columns of name bytes."""
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

    def to_hex(self) -> Self:
        """Returns the same table with digests as hexadecimal digits instead of bytes."""
        return type(self)(self._batches.to_hex(), *self._state())

    def to_pyarrow(self) -> _pyarrow.Table:
        """Converts the table to a pyarrow table."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> _polars.DataFrame:
        """Converts the table to a polars DataFrame."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> _pandas.DataFrame:
        """Converts the table to a pandas DataFrame by pyarrow. Sizes are Int64, which allows missing values.

        Do not use `pandas.DataFrame(table)`, which converts row by row and makes times integers.
        """
        import pandas
        import pyarrow

        return self.to_pyarrow().to_pandas(types_mapper={pyarrow.int64(): pandas.Int64Dtype()}.get)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), self._batches.to_ipc(), self._state())

    def _state(self) -> tuple[Any, ...]:
        """Returns the additional arguments of the constructor of a subclass."""
        return ()

    def _repr_html_(self) -> str:
        """Returns the first rows as HTML, which notebooks show."""
        from html import escape

        def cell(value: object) -> str:
            text = "" if value is None else value.hex() if isinstance(value, bytes) else str(value)
            # Names that are not UTF-8 have characters that cannot be written.
            return f"<td>{escape(text.encode(errors='surrogateescape').decode(errors='replace'))}</td>"

        names = [name for name in self.column_names if not name.endswith(_BYTES)]
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        first = Table(self._batches.take(range(min(_SHOWN, self.num_rows))))
        rows = ["".join(map(cell, row.values())) for row in first]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        more = f"<p>{len(rows)} of {self.num_rows} rows</p>" if len(rows) < self.num_rows else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"

    def __repr__(self) -> str:
        rows = "1 row" if self.num_rows == 1 else f"{self.num_rows} rows"
        return f"<{type(self).__name__}: {rows} of {', '.join(self.column_names)}>"


def _unpickled(kind: type[Table], content: bytes, state: tuple[Any, ...]) -> Table:
    return kind(_lanesum.Batches.from_ipc(content), *state)


def _unpickled_column(content: bytes) -> _lanesum.Column:
    return _lanesum.Column._from_ipc(content)


class FailuresError(Exception):
    """Raised for failures. `result` is the table with the details."""

    def __init__(self, words: str, result: Any) -> None:
        super().__init__(words)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.result)


class Result(Table):
    """A table with a result. It has no truth value; use `ok`."""

    __slots__ = ("problems",)

    def __init__(self, batches: _lanesum.Batches, problems: Sequence[str] = ()) -> None:
        super().__init__(batches)
        #: Messages about the whole result.
        self.problems = list(problems)

    @property
    def ok(self) -> bool:
        """Whether the operation succeeded."""
        raise NotImplementedError

    def failures(self) -> list[dict[str, Any]]:
        """Returns the failed rows."""
        raise NotImplementedError

    def raise_for_failures(self) -> None:
        """Raises FailuresError with the first failures, unless `ok`."""
        if self.ok:
            return
        failures = self.failures()
        named = [_words(row) for row in failures[:3]] + self.problems[:3]
        more = len(failures) - 3
        rest = f"; and {more} more" if more > 0 else ""
        raise FailuresError("; ".join(named or ["nothing was checked"]) + rest, self)

    def __bool__(self) -> bool:
        raise TypeError(f"a {type(self).__name__} has no truth value; use .ok or len()")

    def _state(self) -> tuple[Any, ...]:
        return (self.problems,)


def _words(row: dict[str, Any]) -> str:
    what = row.get("error") or row.get("reason") or row.get("verdict") or row.get("class")
    return f"{row.get('path') or row.get('list')}: {what}"


class Files(Result):
    """Files: `path`, `size`, `modified`, a column of digests for each algorithm, `error`, `path_bytes`.

    A file that failed has its reason in `error`, and no digest. `skipped` lists the entries that a walk skipped, as
    pairs of path and reason: FIFOs, sockets, devices, links that lead back to a parent directory, and each `.git` that
    git does not read. Symbolic links that are not followed are not listed.
    """

    __slots__ = ("skipped",)

    def __init__(
        self, batches: _lanesum.Batches, problems: Sequence[str] = (), skipped: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__(batches, problems)
        self.skipped = list(skipped)

    @property
    def ok(self) -> bool:
        """Whether every file has its digests. True if there are no files."""
        return all(error is None for error in self._batches.column("error"))

    def failures(self) -> list[dict[str, Any]]:
        return [row for row in self if row["error"] is not None]

    def _state(self) -> tuple[Any, ...]:
        return (self.problems, self.skipped)


class Checked(Result):
    """Lines of lists: `path`, `verdict`, `reason`, `list`, `line`, `path_bytes`, `list_bytes`.

    The verdict is `match`, `mismatch`, `unproven` (the list has only the size), `missing` (if missing files are
    ignored) or `unreadable`. Invalid lines are `malformed`, `wrong` or `unknown` (an unsupported algorithm), with their
    numbers in `line`.
    """

    __slots__ = ("_ok", "counts", "strict")

    def __init__(
        self, batches: _lanesum.Batches, problems: Sequence[str], ok: bool, counts: dict[str, int], strict: bool
    ) -> None:
        super().__init__(batches, problems)
        self._ok = ok
        self.strict = strict
        #: The numbers of lines by verdict, the `files` and `bytes` read, and `bad_lists`.
        self.counts = counts

    @property
    def ok(self) -> bool:
        """Whether the exit code of the program would be 0: files were checked, and nothing failed.

        Invalid lines, and an empty list among others, count as failures only with `strict` or a key.
        """
        return self._ok

    def failures(self) -> list[dict[str, Any]]:
        """Returns the failed rows. Rows that are `malformed` count only if they affect `ok`."""
        good = {"match", "missing"} | (set() if self.strict else {"malformed"})
        return [row for row in self if row["verdict"] not in good]

    def _state(self) -> tuple[Any, ...]:
        return (self.problems, self._ok, self.counts, self.strict)


class Compared(Result):
    """Files of either side: `path`, `class`, `from`, `size_before`, `size`, `basis`, `reason`, and bytes of the names.

    The class is `equal`, `alike` (with `quick`), `changed`, `moved`, `copied`, `new`, `missing`, `unreadable`,
    `unreadable directory`, `changed while read` or `not compared`.
    """

    __slots__ = ("_ok",)

    def __init__(self, batches: _lanesum.Batches, problems: Sequence[str], ok: bool) -> None:
        super().__init__(batches, problems)
        self._ok = ok

    @property
    def ok(self) -> bool:
        """Whether the exit code of the program would be 0: there are files, and all are equal.

        With `quick` all files are `alike`: equal in size and time, if both sides have these. Contents may differ.
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
