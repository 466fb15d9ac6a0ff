"""Files that have their name only when they are whole, also when the machine goes down."""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from lanesum._arguments import AnyPath


def replace(path: AnyPath, content: bytes) -> None:
    """Writes a file, in the place of one that is there. Raises OSError, which names it.

    Links are followed. The mode of what is there stays; where it has other names, another owner or an access list, which a
    new file would not have, it is overwritten, as is what is no regular file.
    """
    given = os.fspath(path)
    try:
        if os.fsdecode(os.path.basename(given)) in ("", ".", ".."):
            # No file's name. The system refuses it; the real path would be without its end.
            os.close(os.open(given, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC))
        _replace(os.path.realpath(os.fsdecode(given)), content)
    except OSError as error:
        if error.errno is None:
            # What a signal's handler raises, as TimeoutError, is no word on the file.
            raise
        # It names nothing where the disk is full, or a file that is not whole yet.
        raise OSError(error.errno, error.strerror, given) from error


def _replace(name: str, content: bytes) -> None:
    try:
        existing = os.stat(name)
    except FileNotFoundError:
        existing = None
    if existing is not None and not _may_be_replaced(name, existing):
        _overwrite(name, content)
        return
    folder, last = os.path.split(name)
    # A name has 255 bytes at most, and characters have up to four.
    start = os.fsencode(last)[:100].decode(errors="ignore")
    temporary = os.path.join(folder, f".{start}.{uuid.uuid4().hex}.tmp")
    try:
        # The mode of any new file, by the process's own mask.
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            if existing is not None:
                os.fchmod(file.fileno(), existing.st_mode & 0o7777)
            os.fsync(file.fileno())
        os.replace(temporary, name)
    except BaseException:
        # It was not made, or has its name already: a signal's handler may raise after either call.
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _may_be_replaced(name: str, existing: os.stat_result) -> bool:
    if not stat.S_ISREG(existing.st_mode) or existing.st_nlink != 1 or existing.st_uid != os.geteuid():
        return False
    try:
        return "system.posix_acl_access" not in os.listxattr(name)
    except OSError:
        # A file system without such lists.
        return True


def _overwrite(name: str, content: bytes) -> None:
    with _descriptor(name, os.O_WRONLY) as descriptor, open(descriptor, "wb", closefd=False) as file:
        file.write(content)
        file.flush()
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            file.truncate()
            os.fsync(descriptor)


def _sync_folder(path: str) -> None:
    with _descriptor(path, os.O_RDONLY | os.O_DIRECTORY) as descriptor:
        os.fsync(descriptor)


@contextmanager
def _descriptor(path: str, flags: int) -> Iterator[int]:
    """A descriptor, closed at the end, wherever a signal's handler raises: it has its turn behind calls of Python."""
    opened: list[int] = []
    try:
        # One call, behind which the list has it.
        opened.extend(map(os.open, [path], [flags | os.O_CLOEXEC]))
        yield opened[0]
    finally:
        for descriptor in opened:
            os.close(descriptor)
