"""Convert arguments for the compiled module, and raise errors for invalid ones."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

if TYPE_CHECKING:
    from typing_extensions import Buffer

AnyPath: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def is_path(given: object) -> TypeGuard[AnyPath]:
    """Returns whether an argument is a single path."""
    return isinstance(given, str | bytes | os.PathLike)


def path(given: AnyPath, name: str) -> AnyPath:
    """Checks a path."""
    if not is_path(given):
        raise TypeError(f"{name} must be a path, not {type(given).__name__}")
    return given


def folder_of(paths: Iterable[AnyPath]) -> bytes | None:
    """Returns the working directory if any path is relative, because workers may have another one."""
    return None if all(os.path.isabs(path) for path in paths) else os.getcwdb()


def within(folder: AnyPath | None, path: AnyPath) -> AnyPath:
    """Returns a path relative to a directory."""
    return path if folder is None else os.path.join(os.fsdecode(folder), os.fsdecode(path))


def optional_path(given: AnyPath | None, name: str) -> AnyPath | None:
    """Checks a path or None."""
    return None if given is None else path(given, name)


@contextmanager
def named(*paths: AnyPath) -> Iterator[None]:
    """Makes an OSError have the path as given, as in Python: bytes stay bytes."""
    try:
        yield
    except OSError as error:
        for path in paths:
            given = os.fspath(path)
            if isinstance(given, bytes) and error.filename == os.fsdecode(given):
                error.filename = given
        raise


def several(given: AnyPath | Iterable[AnyPath], name: str) -> list[AnyPath]:
    """Returns a list of one or several paths."""
    if isinstance(given, str | bytes | os.PathLike):
        return [given]
    if hasattr(given, "readline"):
        # Iterating over it would return its lines.
        raise TypeError(f"{name} must be a path or several, not an open file; pass its path")
    items = _items(given, name, "a path or several")
    return [path(item, f"{name}[{number}]") for number, item in enumerate(items)]


def paths(given: Iterable[AnyPath]) -> list[AnyPath]:
    """Returns a list of paths. Refuses a string, which would be one path per character."""
    if is_path(given):
        raise TypeError("paths must be several paths, not one; write [path]")
    return _items(given, "paths", "several paths")


def _items(given: Any, name: str, kind: str) -> list[Any]:
    if hasattr(type(given), "columns") or hasattr(type(given), "column_names"):
        # Iterating over it would return its names or columns.
        raise TypeError(f"{name} must be {kind}, not a table ({type(given).__name__}); pass one of its columns")
    if hasattr(type(given), "to_pylist"):
        # A pyarrow array, whose items are not Python objects.
        return list(given.to_pylist())
    try:
        items = iter(given)
    except TypeError:
        raise TypeError(f"{name} must be {kind}, not {type(given).__name__}") from None
    return list(items)


def algorithms(given: str | Iterable[str]) -> list[str]:
    """Returns a list of one or several names."""
    return names(given, "algorithms", "like 'md5'")


def names(given: str | Iterable[str], name: str, kind: str) -> list[str]:
    """Returns a list of one or several strings."""
    items = [given] if isinstance(given, str) else _items(given, name, f"a name {kind}, or several")
    for item in items:
        if not isinstance(item, str):
            raise TypeError(f"{name} must be names {kind}, not {type(item).__name__}")
    return items


def optional_text(given: str | None, name: str) -> str | None:
    """Checks a string or None."""
    if given is None:
        return None
    if not isinstance(given, str):
        raise TypeError(f"{name} must be a str, not {type(given).__name__}")
    return _unicode(given)


def _unicode(text: str) -> str:
    """Checks a string. Raises UnicodeEncodeError for surrogates, as in names that are not UTF-8."""
    text.encode()
    return text


def flag(given: object, name: str) -> bool:
    """Checks a bool, also of numpy. Refuses a string, because "no" would be true."""
    if given is None or not hasattr(type(given), "__bool__"):
        raise TypeError(f"{name} must be a bool, not {type(given).__name__}")
    return bool(given)


def strings(given: Any, name: str) -> list[str]:
    """Returns a list of one or several strings or numbers."""
    items = [given] if isinstance(given, str | int) else _items(given, name, "a str or int, or several")
    for item in items:
        if not isinstance(item, str | int) or isinstance(item, bool):
            raise TypeError(f"{name} must be str or int, not {type(item).__name__}")
    return [_unicode(str(item)) for item in items]


def reading(
    *, threads: int | None = None, io: str = "auto", key: Buffer | None = None, progress: Any = None
) -> dict[str, Any]:
    """Returns the options to read files."""
    if threads is not None:
        if not isinstance(threads, int) or isinstance(threads, bool):
            raise TypeError(f"threads must be an int or None, not {type(threads).__name__}")
        if not 1 <= threads <= 1024:
            raise ValueError(f"threads={threads} must be from 1 to 1024, or None for one per CPU")
    if not isinstance(io, str):
        raise TypeError(f"io must be a str, not {type(io).__name__}")
    _unicode(io)
    key = None if key is None else secret(key)
    return {"threads": threads or 0, "io": io, "key": key, "progress": progress}


def secret(key: Buffer) -> bytes:
    """Checks a key. Refuses a number, from which `bytes` would make zeros."""
    try:
        return bytes(memoryview(key))
    except TypeError:
        raise TypeError(f"key must be bytes, not {type(key).__name__}") from None


def _pattern(text: str) -> str:
    """Checks a pattern. Refuses unlikely file names."""
    if text.startswith("!"):
        words = f"patterns that start with ! are not supported; for a file name that starts with !, use \\{text}"
        raise ValueError(f"exclude: {text!r}: {words}")
    if "\0" in text:
        raise ValueError(f"exclude: {text!r} contains a null byte, which no file name has")
    if text.endswith("\n"):
        raise ValueError(f"exclude: {text!r} ends with a line end; remove it, for example with str.splitlines()")
    return text


def walking(
    *,
    exclude: AnyPath | Iterable[AnyPath] = (),
    gitignore: bool = False,
    follow: bool = False,
    one_file_system: bool = False,
) -> dict[str, Any]:
    """Returns the options to walk directories."""
    patterns = [_pattern(os.fsdecode(pattern)) for pattern in several(exclude, "exclude")]
    return {
        "exclude": patterns,
        "gitignore": flag(gitignore, "gitignore"),
        "follow": flag(follow, "follow"),
        "one_file_system": flag(one_file_system, "one_file_system"),
    }
