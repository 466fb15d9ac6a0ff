"""Write files atomically: a file gets its name when it is complete, also after a crash of the machine."""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from lanesum._arguments import AnyPath


def replace(path: AnyPath, content: bytes) -> None:
    """Writes a file, and replaces an existing one. Raises OSError with the path.

    Links are followed, and the mode of an existing file is kept. An existing file is overwritten in place if it has
    several names, another owner or an access control list, which a new file would not have, or if it is not a regular
    file.
    """
    given = os.fspath(path)
    try:
        if os.fsdecode(os.path.basename(given)) in ("", ".", ".."):
            # Not a file name. The system refuses it, but the real path would lack its end.
            os.close(os.open(given, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC))
        _replace(os.path.realpath(os.fsdecode(given)), content)
    except OSError as error:
        if error.errno is None:
            # A signal handler raised it, for example as TimeoutError. It is not about the file.
            raise
        # It may name no file (disk full) or the temporary file.
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
    # A name has at most 255 bytes, and a character has up to four.
    start = os.fsencode(last)[:100].decode(errors="ignore")
    temporary = os.path.join(folder, f".{start}.{uuid.uuid4().hex}.tmp")
    try:
        # The mode of a new file, by the umask.
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            if existing is not None:
                os.fchmod(file.fileno(), existing.st_mode & 0o7777)
            os.fsync(file.fileno())
        os.replace(temporary, name)
    except BaseException:
        # The temporary file may be missing: a signal handler may raise before or after it exists.
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
        # A file system without access control lists.
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
    """Opens a descriptor that is closed even if a signal handler raises, which can happen after any call."""
    opened: list[int] = []
    try:
        # A single call, after which the list has the descriptor.
        opened.extend(map(os.open, [path], [flags | os.O_CLOEXEC]))
        yield opened[0]
    finally:
        for descriptor in opened:
            os.close(descriptor)
