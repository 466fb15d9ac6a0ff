"""How fast columns, messages and objects are hashed, beside hashlib, pandas and others.

Prints one line a row: the case, the contestant, its rows in a second as the median of interleaved
rounds, and how many times the loop over hashlib that is. `--csv` prints the same for the bench.
What is not installed is left out and named at the end.

    python bench/columns.py [--rows 1000000] [--rounds 5] [--csv]
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib
import random
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa

import lanesum

KEY = bytes(range(16))
Contestant = Callable[[], object]
Case = dict[str, Contestant]


def optional(name: str, missing: set[str]):
    """A module that may not be there."""
    try:
        return importlib.import_module(name)
    except ImportError:
        missing.add(name)
        return None


def texts(rows: int, width: int | None) -> list[str]:
    """Hexadecimal digits, no two rows alike; of mixed lengths from 1 to 200 where none is given."""
    source = random.Random(width or 0)
    if width is not None:
        return [f"{source.getrandbits(4 * width):0{width}x}" for _ in range(rows)]
    return [f"{source.getrandbits(800):0200x}"[: source.randint(1, 200)] for _ in range(rows)]


def md5(values: list[str], missing: set[str]) -> Case:
    """MD5 of one column, every contestant from its own memory into its own."""
    column = pa.array(values)
    case: Case = {
        "hashlib": lambda: [hashlib.md5(value.encode()).hexdigest() for value in values],
        "lanesum binary": lambda: pa.array(lanesum.hash_column(column)),
        "lanesum hex": lambda: pa.array(lanesum.hash_column(column, output="hex")),
        "lanesum hash_many hex": lambda: lanesum.hash_many(values, output="hex"),
    }
    if duckdb := optional("duckdb", missing):
        connection = duckdb.connect(config={"threads": 1})
        connection.register("input", pa.table({"value": column}))
        query = "SELECT md5(value) AS digest FROM input"
        case["duckdb hex"] = lambda: connection.sql(query).to_arrow_table()
    if optional("polars_hash", missing):
        import polars as pl
        import polars_hash as plh

        frame = pl.DataFrame({"value": values})
        case["polars-hash hex"] = lambda: frame.select(plh.col("value").nchash.md5())
    return case


def siphash(values: list[str], missing: set[str]) -> Case:
    """SipHash-2-4 of one column into numbers."""
    column = pa.array(values)

    def arrow() -> object:
        return pa.array(lanesum.hash_column(column, "siphash24", key=KEY, output="uint64"))

    case: Case = {
        "hashlib": lambda: [hashlib.blake2b(v.encode(), digest_size=8, key=KEY).digest() for v in values],
        "lanesum uint64": arrow,
    }
    if peer := optional("siphash24", missing):
        case["siphash24 loop"] = lambda: [peer.siphash24(v.encode(), key=KEY).intdigest() for v in values]
    return case


def pandas_hash(values: list[str]) -> Case:
    """What pandas makes of objects, and of its own text."""
    objects = np.array(values, dtype=object)
    text = pd.array(values, dtype="str")
    return {
        "pandas": lambda: pd.util.hash_array(objects),
        "pandas categorize=False": lambda: pd.util.hash_array(objects, categorize=False),
        "lanesum objects": lambda: lanesum.pandas_hash_array(objects),
        "pandas str": lambda: pd.util.hash_array(text, categorize=False),
        "lanesum str": lambda: lanesum.pandas_hash_array(text),
    }


def surrogate(values: list[str], missing: set[str]) -> Case:
    """dbt's key of a text and a number."""
    table = pa.table({"a": values, "b": list(range(len(values)))})
    rows = list(zip(values, range(len(values)), strict=True))
    case: Case = {
        "hashlib": lambda: [hashlib.md5(f"{a}-{b}".encode()).hexdigest() for a, b in rows],
        "lanesum": lambda: pa.array(lanesum.surrogate_key(table)),
    }
    if duckdb := optional("duckdb", missing):
        connection = duckdb.connect(config={"threads": 1})
        connection.register("input", table)
        query = (
            "SELECT md5(coalesce(a, '_dbt_utils_surrogate_key_null_') || '-' || "
            "coalesce(CAST(b AS VARCHAR), '_dbt_utils_surrogate_key_null_')) AS key FROM input"
        )
        case["duckdb"] = lambda: connection.sql(query).to_arrow_table()
    return case


def objects(rows: int) -> Case:
    """One short message at a time."""

    def loop(new: Callable) -> Contestant:
        return lambda: [new(b"x").digest() for _ in range(rows)]

    return {"hashlib": loop(hashlib.md5), "lanesum.md5": loop(lanesum.md5)}


def cases(rows: int, missing: set[str]):
    """Each case with its name and its rows, made when it is its turn."""
    for width in (36, 12, 200, None):
        # As many bytes about as in a column of 36.
        count = rows if width in (12, 36) else rows // 2
        yield f"md5 {width or '1 to 200'} B", count, md5(texts(count, width), missing)
    for width in (12, 36):
        yield f"siphash24 {width} B", rows, siphash(texts(rows, width), missing)
    yield "pandas hash_array 36 B", rows, pandas_hash(texts(rows, 36))
    yield "surrogate_key 36 B and a number", rows, surrogate(texts(rows, 36), missing)
    yield "md5(b'x').digest()", rows // 4, objects(rows // 4)


def measure(case: Case, rounds: int) -> dict[str, float]:
    """The median of each contestant's seconds; each round lets all of them run once."""
    seconds: dict[str, list[float]] = {name: [] for name in case}
    for _ in range(rounds):
        for name, run in case.items():
            gc.collect()
            begin = time.perf_counter()
            result = run()
            seconds[name].append(time.perf_counter() - begin)
            del result
    return {name: statistics.median(times) for name, times in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--csv", action="store_true")
    options = parser.parse_args()
    missing: set[str] = set()
    for name, rows, case in cases(options.rows, missing):
        medians = measure(case, options.rounds)
        base = next(iter(medians.values()))
        for contestant, seconds in medians.items():
            if options.csv:
                print(f"{name},{contestant},{rows},{seconds:.6f}")
            else:
                rate = rows / seconds / 1e6
                print(f"{name:34} {contestant:26} {rate:8.2f} M/s {base / seconds:7.1f} x", flush=True)
    for name in sorted(missing):
        print(f"left out: {name} is not installed", file=sys.stderr)


if __name__ == "__main__":
    main()
