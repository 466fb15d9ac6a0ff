"""Files that have their name only when they are whole, also when the machine goes down."""

from __future__ import annotations

import os
import stat
import uuid

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
    # The mode of any new file, by the process's own mask.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if existing is not None:
                os.fchmod(descriptor, existing.st_mode & 0o7777)
            os.fsync(descriptor)
        os.replace(temporary, name)
    except BaseException:
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
    with open(os.open(name, os.O_WRONLY | os.O_CLOEXEC), "wb") as file:
        file.write(content)
        file.flush()
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.truncate()
            os.fsync(file.fileno())


def _sync_folder(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
