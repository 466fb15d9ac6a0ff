"""Files from Python: medians of rounds in which every way has its turn, and what each is of the loop over hashlib.

    python python/bench/files.py [--rounds N] [--folder DIR] [--threads N] [--dask]

The files are in memory (a tmpfs) unless a folder is named. One core is meant: `taskset -c 0 python ...`; `--dask`
wants two.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import lanesum

# Name: how many files of how many bytes.
SETS = {"10,000 x 16 KiB": (10_000, 16 << 10), "16 x 32 MiB": (16, 32 << 20)}
DASK_SETS = {
    "20,000 x 16 KiB": (20_000, 16 << 10),
    "8,000 x 128 KiB": (8_000, 128 << 10),
    "64 x 32 MiB": (64, 32 << 20),
}


def hashlib_loop(paths: list[str]) -> None:
    """What everybody writes."""
    for path in paths:
        with open(path, "rb") as file:
            hashlib.file_digest(file, "md5").digest()


def read_alone(paths: list[str]) -> None:
    """As fast as reading goes: nothing is hashed."""
    buffer = bytearray(256 << 10)
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


@contextmanager
def files(folder: str, count: int, size: int) -> Iterator[list[str]]:
    """So many files of so many bytes."""
    root = tempfile.mkdtemp(dir=folder)
    content = os.urandom(size)
    paths = [os.path.join(root, f"{place:06}") for place in range(count)]
    try:
        for path in paths:
            with open(path, "wb") as file:
                file.write(content)
        yield paths
    finally:
        shutil.rmtree(root)


def rounds(ways: dict[str, Callable[[list[str]], object]], paths: list[str], count: int) -> dict[str, float]:
    """The median seconds of each way; all have a turn before any has another."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(count):
        for name, way in ways.items():
            begin = time.perf_counter()
            way(paths)
            seconds[name].append(time.perf_counter() - begin)
    return {name: statistics.median(times) for name, times in seconds.items()}


def show(title: str, medians: dict[str, float], base: str, count: int, size: int) -> None:
    print(f"{title}; {count:,} files, {count * size / 1e6:,.0f} MB")
    for name, seconds in medians.items():
        ratio = medians[base] / seconds
        print(f"  {name:40} {seconds:8.3f} s {count / seconds:10,.0f} files/s {ratio:6.2f} x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dask", action="store_true")
    arguments = parser.parse_args()
    if arguments.dask:
        return dask(arguments)
    threads = arguments.threads
    for title, (count, size) in SETS.items():
        ways: dict[str, Callable[[list[str]], object]] = {
            "hashlib.file_digest": hashlib_loop,
            "reading alone": read_alone,
            f"hash_files, threads={threads}": lambda paths: lanesum.hash_files(paths, threads=threads),
            f"hash_files, threads={threads}, io=mmap": lambda paths: lanesum.hash_files(paths, threads=threads, io="mmap"),
        }
        with files(arguments.folder, count, size) as paths:
            show(title, rounds(ways, paths, arguments.rounds), "hashlib.file_digest", count, size)


def dask(arguments: argparse.Namespace) -> None:
    """Also what planning the tasks takes alone, and the same tasks with nothing to do."""
    import lanesum.dask
    from distributed import Client, LocalCluster
    from lanesum.executors import pack

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        ways: dict[str, Callable[[list[str]], object]] = {
            "hash_files, threads=1": lambda paths: lanesum.hash_files(paths, threads=1),
            "hash_files, threads=2": lambda paths: lanesum.hash_files(paths, threads=2),
            "dask, two workers": lambda paths: lanesum.dask.hash_files(paths, client=client),
            "planning alone": lambda paths: pack(paths, 2),
            "planning, and tasks that do nothing": lambda paths: client.gather(
                [client.submit(len, task, pure=False) for task in pack(paths, 2)]
            ),
        }
        for title, (count, size) in DASK_SETS.items():
            with files(arguments.folder, count, size) as paths:
                show(title, rounds(ways, paths, arguments.rounds), "hash_files, threads=1", count, size)


if __name__ == "__main__":
    main()
