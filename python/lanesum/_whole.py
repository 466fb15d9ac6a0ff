"""Files that have their name only when they are whole, also when the machine goes down."""

from __future__ import annotations

import contextlib
import os
import uuid

from lanesum._arguments import AnyPath


def replace(path: AnyPath, content: bytes) -> None:
    """Writes a file, in the place of one that is there; that one's mode stays. Raises OSError."""
    name = os.fsdecode(path)
    folder, last = os.path.split(name)
    temporary = os.path.join(folder, f".{last[:100]}.{uuid.uuid4().hex}.tmp")
    # The mode of any new file, by the process's own mask.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(descriptor, os.stat(name).st_mode & 0o7777)
            os.fsync(descriptor)
        os.replace(temporary, name)
    except BaseException:
        os.unlink(temporary)
        raise
    _sync_folder(folder or ".")


def _sync_folder(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
