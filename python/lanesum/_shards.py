"""Shards: what is hashed, in a folder, part by part, so that a run that broke goes on.

Each is a file in Arrow's IPC format, which polars and pyarrow read. It has the columns of `hash_files`, and `changed`
and `inode`, by which a file is known to be as it was. It appears when it is whole.
"""

from __future__ import annotations

import os
import time
import uuid

from lanesum import _lanesum
from lanesum._arguments import AnyPath
from lanesum._whole import replace

__all__ = ["read_shards", "write_shard"]

# A shard's own words, which tell it from other files of Arrow; the number counts changes of its columns.
_MARK = {"lanesum": "shard 1"}


def write_shard(folder: AnyPath, rows: _lanesum.Batches, begun: int) -> None:
    """Writes a part whose hashing began at this time. What failed, or changed just before, is not kept."""
    kept = _lanesum.settled_rows(rows, begun)
    if len(kept) == 0:
        return
    # In the order in which they are made: the last row of a path counts.
    name = f"part-{time.time_ns():020}-{uuid.uuid4().hex}.arrow"
    replace(os.path.join(os.fsdecode(folder), name), kept.with_metadata(_MARK).to_ipc())


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
        with open(path, "rb") as file:
            content = file.read()
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
