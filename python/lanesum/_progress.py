"""Show the progress of a run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Called with the bytes and the files that are done.
Callback = Callable[[int, int], object]

_EVERY = 0.1


@contextmanager
def showing(progress: bool | Callback | None, files: int | None) -> Iterator[Callback | None]:
    """Yields the function to call with the progress. True shows a tqdm bar, also in notebooks. Without tqdm
    it shows a counter of bytes and files. It shows nothing if stderr is neither a terminal nor a notebook.
    """
    if callable(progress):
        yield progress
        return
    if progress not in (None, True, False):
        raise TypeError(f"progress must be True or a function of bytes and files, not {type(progress).__name__}")
    if not progress:
        yield None
        return
    yield from _plain(files) if (tqdm := _tqdm()) is None else _bar(tqdm, files)


def _tqdm() -> Any:
    try:
        from tqdm import auto
    except ImportError:
        return None
    return auto.tqdm


def _bar(tqdm: Any, files: int | None) -> Iterator[Callback | None]:
    # With disable=None tqdm writes only to terminals.
    disable = False if _is_notebook() else None
    with tqdm(unit="B", unit_scale=True, unit_divisor=1000, disable=disable) as bar:

        def tell(size: int, done: int) -> None:
            bar.set_postfix_str(_files(done, files), refresh=False)
            bar.update(size - bar.n)

        yield tell


def _plain(files: int | None) -> Iterator[Callback | None]:
    if not sys.stderr.isatty() and not _is_notebook():
        yield None
        return
    begin, last = time.monotonic(), 0.0

    def tell(size: int, done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY:
            last = now
            rate = size / max(now - begin, 1e-3)
            sys.stderr.write(f"\r{size / 1e6:,.0f} MB, {_files(done, files)}, {rate / 1e6:,.0f} MB/s\x1b[K")
            sys.stderr.flush()

    try:
        yield tell
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _is_notebook() -> bool:
    """Returns whether a notebook shows stderr. It is not a terminal."""
    return type(sys.stderr).__module__.startswith("ipykernel.")


def _files(done: int, files: int | None) -> str:
    return f"{done:,} files" if files is None else f"{done:,} of {files:,} files"
