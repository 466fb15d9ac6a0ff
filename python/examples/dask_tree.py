"""Hash a tree on a Dask cluster while a worker is killed: `pip install lanesum[dask]`.

    python dask_tree.py [FILES]

Other workers repeat the tasks of the killed worker. A second run finds all results in the shards, and reads no file.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import lanesum
import lanesum.dask
from distributed import Client, LocalCluster
from lanesum.table import Files


def make(root: Path, files: int) -> None:
    """Creates files of a few kilobytes."""
    for place in range(files):
        folder = root / f"{place // 500:04}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{place:06}"
        path.write_bytes(place.to_bytes(4, "little") * (place % 4000))


def kill_one(client: Client, when: threading.Event) -> None:
    """Kills a worker after an event, like the system when memory is short."""
    when.wait()
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGKILL)


def hash_with_a_death(client: Client, root: Path, shards: Path) -> Files:
    """Returns the digests of a tree. A worker is killed after the first part is done."""
    begun = threading.Event()
    killer = threading.Thread(target=kill_one, args=(client, begun))
    killer.start()
    try:
        return lanesum.dask.hash_tree(
            root, ["md5", "sha256"], client=client, shards=shards, progress=lambda size, files: begun.set()
        )
    finally:
        begun.set()
        killer.join()


def main() -> None:
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        root, shards = Path(folder) / "tree", Path(folder) / "shards"
        make(root, files)
        # Shards only store files that have not changed for three seconds.
        time.sleep(3.1)
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            table = hash_with_a_death(client, root, shards)
        table.raise_for_failures()
        assert table.num_rows == files
        again = lanesum.hash_tree(root, ["md5", "sha256"], shards=shards)
        assert list(again) == list(table)
        print(f"{table.num_rows:,} files, {len(os.listdir(shards))} shards; one worker was killed, no file is missing")


if __name__ == "__main__":
    main()
