"""Shards: what is hashed, in a folder, part by part, so that a run that broke goes on.

Each is a file in Arrow's IPC format, which polars and pyarrow read. It has the columns of `hash_files`, and `changed`
and `inode`, by which a file is known to be as it was. It appears when it is whole. Arrow's format has no checksum, so
its name ends with that of its content: what was damaged since is not believed.
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

# The time at which it was made, in nanoseconds, and the checksum of its content.
_NAME = re.compile(r"part-[0-9]{20}-([0-9a-f]{32})\.arrow")
# A shard's own words, which tell it from other files of Arrow; the number counts changes of its
# columns.
_MARK = {"lanesum": "shard 1"}


def write_shard(folder: AnyPath, rows: _lanesum.Batches, begun: int) -> None:
    """Writes a part whose hashing began at this time. What failed, or changed just before, is not kept."""
    kept = _lanesum.settled_rows(rows, begun)
    if len(kept) == 0:
        return
    content = kept.with_metadata(_MARK).to_ipc()
    # In the order in which they are made: the last row of a path counts. Two of one time and one
    # checksum are the same.
    name = f"part-{time.time_ns():020}-{_checksum(content)}.arrow"
    replace(os.path.join(os.fsdecode(folder), name), content)


def _checksum(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def read_shards(folder: AnyPath) -> tuple[list[_lanesum.Batches], list[str]]:
    """The shards of a folder, which is made if it is not there; and what is wrong with some of its files.

    Raises OSError where it cannot be made or read.
    """
    folder = os.fsdecode(folder)
    os.makedirs(folder, exist_ok=True)
    shards, problems = [], []
    for name in sorted(os.listdir(folder)):
        if not (name.startswith("part-") and name.endswith(".arrow")):
            continue
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            # To open a FIFO waits for its writer.
            problems.append(f"{path}: no regular file; its files are hashed again")
            continue
        try:
            with open(path, "rb") as file:
                content = file.read()
        except OSError as error:
            problems.append(f"{path}: {error.strerror}; its files are hashed again")
            continue
        named = _NAME.fullmatch(name)
        if named is None or named[1] != _checksum(content):
            problems.append(f"{path}: not the content that its name tells the checksum of; its files are hashed again")
            continue
        try:
            shard = _lanesum.Batches.from_ipc(content)
        except ValueError as error:
            problems.append(f"{path}: {error}; its files are hashed again")
            continue
        if shard.metadata != _MARK:
            problems.append(f"{path}: no shard of this version; its files are hashed again")
            continue
        shards.append(shard)
    return shards, problems
