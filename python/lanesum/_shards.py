"""Shards: results in a directory, written part by part, so that an interrupted run can continue.

A shard is an Arrow IPC file, which polars and pyarrow can read. It has the columns of `hash_files`, and `changed` and
`inode` to detect changes of a file. It appears when it is complete. The Arrow format has no checksum, so the name of a
shard ends with the checksum of its content, and damaged shards are rejected.
"""

from __future__ import annotations

import hashlib
import os
import re
import time

from lanesum import _lanesum
from lanesum._arguments import AnyPath
from lanesum._whole import replace

__all__ = ["read_shards", "write_shard"]

# The creation time in nanoseconds, and the checksum of the content.
_NAME = re.compile(r"part-[0-9]{20}-([0-9a-f]{32})\.arrow")
# The metadata that identifies shards among Arrow files. The number changes with the columns.
_MARK = {"lanesum": "shard 1"}


def write_shard(folder: AnyPath, rows: _lanesum.Batches, begun: int) -> None:
    """Writes a part whose hashing began at a time. Failed files and just changed ones are not kept."""
    kept = _lanesum.settled_rows(rows, begun)
    if len(kept) == 0:
        return
    content = kept.with_metadata(_MARK).to_ipc()
    # Names sort by creation time, because the last row of a path counts. Shards with equal time and
    # checksum are equal.
    name = f"part-{time.time_ns():020}-{_checksum(content)}.arrow"
    replace(os.path.join(os.fsdecode(folder), name), content)


def _checksum(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def read_shards(folder: AnyPath) -> tuple[list[_lanesum.Batches], list[str]]:
    """Returns the shards of a directory, which is created if missing, and the problems of its files.

    Raises OSError if the directory cannot be created or read.
    """
    folder = os.fsdecode(folder)
    os.makedirs(folder, exist_ok=True)
    shards, problems = [], []
    for name in sorted(os.listdir(folder)):
        if not (name.startswith("part-") and name.endswith(".arrow")):
            continue
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            # Opening a FIFO would wait for its writer.
            problems.append(f"{path}: not a regular file; its files are hashed again")
            continue
        try:
            with open(path, "rb") as file:
                content = file.read()
        except OSError as error:
            problems.append(f"{path}: {error.strerror}; its files are hashed again")
            continue
        named = _NAME.fullmatch(name)
        if named is None or named[1] != _checksum(content):
            problems.append(f"{path}: its content does not match the checksum in its name; its files are hashed again")
            continue
        try:
            shard = _lanesum.Batches.from_ipc(content)
        except ValueError as error:
            problems.append(f"{path}: {error}; its files are hashed again")
            continue
        if shard.metadata != _MARK:
            problems.append(f"{path}: not a shard of this version; its files are hashed again")
            continue
        shards.append(shard)
    return shards, problems
