"""How fast columns, messages and objects are hashed, beside hashlib, pandas and others.

Prints a line for each contestant of each case: its rows in a second by the median of interleaved
rounds, and how many times the first contestant's that is. Before the rounds each answer is checked.
What is not installed is left out and named.

    python bench/columns.py [--rows 1000000] [--rounds 5] [--cpu] [CASE...]

With --serve the rig of the repository asks for one run after the other: it writes a case, a
contestant and a number of rows, with tabs between, and reads a line with the seconds; or with the
names of all contestants that are there, where it asks for `?`.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import hmac
import importlib
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

import lanesum

KEY = bytes(range(16))
Contestant = Callable[[], object]
Case = dict[str, Contestant]


def optional(name: str, missing: set[str]) -> Any:
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


def chdb(case: Case, expression: str, column: pa.Array, missing: set[str]) -> None:
    """ClickHouse within Python, Arrow in and out, on one thread."""
    if peer := optional("chdb", missing):
        table = pa.table({"value": column})
        settings = "max_threads = 1, output_format_arrow_fixed_string_as_fixed_byte_array = 1"
        query = f"SELECT {expression} AS digest FROM Python(table) SETTINGS {settings}"

        def run(table: pa.Table = table) -> object:
            # It looks for the table among the caller's names.
            return peer.query(query, "ArrowTable")["digest"]

        case["chdb"] = run


def md5(values: list[str], missing: set[str]) -> Case:
    """MD5 of one column, every contestant from its own memory into its own."""
    column = pa.array(values)
    case: Case = {
        "hashlib": lambda: [hashlib.md5(value.encode()).hexdigest() for value in values],
        "lanesum": lambda: lanesum.hash_column(column),
        "lanesum-hex": lambda: lanesum.hash_column(column, output="hex"),
        "lanesum-many": lambda: lanesum.hash_many(values, output="hex"),
    }
    chdb(case, "MD5(value)", column, missing)
    if duckdb := optional("duckdb", missing):
        connection = duckdb.connect(config={"threads": 1})
        connection.register("input", pa.table({"value": column}))
        query = "SELECT md5(value) AS digest FROM input"
        case["duckdb"] = lambda: connection.sql(query).to_arrow_table()["digest"]
    if plh := optional("polars_hash", missing):
        import polars as pl

        frame = pl.DataFrame({"value": values})
        case["polars-hash"] = lambda: frame.select(plh.col("value").nchash.md5())["value"]
    return case


def sha256(values: list[str], missing: set[str]) -> Case:
    """SHA-256 of one column, every contestant from its own memory into its own."""
    column = pa.array(values)
    case: Case = {
        "hashlib": lambda: [hashlib.sha256(value.encode()).hexdigest() for value in values],
        "lanesum": lambda: lanesum.hash_column(column, "sha256"),
        "lanesum-hex": lambda: lanesum.hash_column(column, "sha256", output="hex"),
        "lanesum-many": lambda: lanesum.hash_many(values, "sha256", output="hex"),
    }
    if duckdb := optional("duckdb", missing):
        connection = duckdb.connect(config={"threads": 1})
        connection.register("input", pa.table({"value": column}))
        query = "SELECT sha256(value) AS digest FROM input"
        case["duckdb"] = lambda: connection.sql(query).to_arrow_table()["digest"]
    if plh := optional("polars_hash", missing):
        import polars as pl

        frame = pl.DataFrame({"value": values})
        case["polars-hash"] = lambda: frame.select(plh.col("value").chash.sha2_256())["value"]
    return case


def lanes(values: list[str], missing: set[str]) -> Case:
    """The other algorithms of columns beside those of hashlib."""
    column = pa.array(values)
    case: Case = {}
    for name in ("sha1", "sha512"):
        case[f"hashlib-{name}"] = lambda new=getattr(hashlib, name): [
            new(value.encode()).hexdigest() for value in values
        ]
    for name in ("sha1", "sha512", "blake3", "xxh128", "xxh3-64", "crc32c"):
        case[f"lanesum-{name}"] = lambda name=name: lanesum.hash_column(column, name)
    return case


def hmacs(values: list[str], missing: set[str]) -> Case:
    """HMAC-SHA-256 of one column."""
    column = pa.array(values)
    return {
        "hmac": lambda: [hmac.new(KEY, value.encode(), "sha256").hexdigest() for value in values],
        "hmac-digest": lambda: [hmac.digest(KEY, value.encode(), "sha256").hex() for value in values],
        "lanesum": lambda: lanesum.hash_column(column, "hmac-sha256", key=KEY),
        "lanesum-hex": lambda: lanesum.hash_column(column, "hmac-sha256", key=KEY, output="hex"),
    }


def frames(values: list[str], missing: set[str]) -> Case:
    """A frame of pandas or polars with one more column, and hashing alone."""
    import polars as pl

    frame, table = pd.DataFrame({"value": values}), pl.DataFrame({"value": values})

    def assigned() -> object:
        return frame.assign(digest=lanesum.hash_column(frame["value"], output="hex"))["digest"]

    def with_columns() -> object:
        return table.with_columns(digest=lanesum.hash_column(table["value"], output="hex"))["digest"]

    return {
        "lanesum": lambda: lanesum.hash_column(frame["value"], output="hex", returns="arrow"),
        "lanesum-pandas": assigned,
        "lanesum-polars-alone": lambda: lanesum.hash_column(table["value"], output="hex", returns="arrow"),
        "lanesum-polars": with_columns,
        "hashlib": lambda: [hashlib.md5(value.encode()).hexdigest() for value in values],
    }


def key_frames(values: list[str], missing: set[str]) -> Case:
    """A frame of pandas with one more column of keys, and the keys alone."""
    frame = pd.DataFrame({"a": values, "b": range(len(values))})
    return {
        "lanesum": lambda: lanesum.surrogate_key(frame, returns="arrow"),
        "lanesum-pandas": lambda: frame.assign(key=lanesum.surrogate_key(frame))["key"],
    }


def threads(values: list[str], missing: set[str]) -> Case:
    """One column on one thread and on two."""
    column = pa.array(values)
    case: Case = {}
    for name in ("md5", "sha256"):
        for count in (1, 2):
            case[f"{name}-{count}"] = lambda name=name, count=count: lanesum.hash_column(
                column, name, threads=count
            )
    return case


def siphash(values: list[str], missing: set[str]) -> Case:
    """SipHash-2-4 of one column into numbers; hashlib has BLAKE2b with a key in its place."""
    column = pa.array(values)

    def blake2b(value: str) -> bytes:
        return hashlib.blake2b(value.encode(), digest_size=8, key=KEY).digest()

    def arrow() -> object:
        return lanesum.hash_column(column, "siphash24", key=KEY, output="uint64")

    case: Case = {"hashlib": lambda: [blake2b(value) for value in values], "lanesum": arrow}
    low, high = (int.from_bytes(half, "little") for half in (KEY[:8], KEY[8:]))
    chdb(case, f"sipHash64Keyed(({low}, {high}), value)", column, missing)
    if peer := optional("siphash24", missing):
        case["siphash24"] = lambda: [
            peer.siphash24(value.encode(), key=KEY).intdigest() % 2**64 for value in values
        ]
    return case


def pandas_hash(values: list[str], missing: set[str]) -> Case:
    """What pandas makes of objects, and of its own text."""
    objects = np.array(values, dtype=object)
    text = pd.array(values, dtype="str")
    return {
        "pandas": lambda: pd.util.hash_array(objects, categorize=False),
        "pandas-categories": lambda: pd.util.hash_array(objects),
        "pandas-text": lambda: pd.util.hash_array(text, categorize=False),
        "lanesum": lambda: lanesum.pandas_hash_array(objects),
        "lanesum-text": lambda: lanesum.pandas_hash_array(text),
    }


def surrogate(values: list[str], missing: set[str]) -> Case:
    """dbt's key of a text and a number."""
    table = pa.table({"a": values, "b": list(range(len(values)))})
    case: Case = {
        "hashlib": lambda: [
            hashlib.md5(f"{a}-{b}".encode()).hexdigest() for b, a in enumerate(values)
        ],
        "lanesum": lambda: lanesum.surrogate_key(table),
    }
    if duckdb := optional("duckdb", missing):
        connection = duckdb.connect(config={"threads": 1})
        connection.register("input", table)
        null = "'_dbt_utils_surrogate_key_null_'"
        query = (
            f"SELECT md5(coalesce(a, {null}) || '-' || coalesce(CAST(b AS VARCHAR), {null})) AS key "
            "FROM input"
        )
        case["duckdb"] = lambda: connection.sql(query).to_arrow_table()["key"]
    return case


def objects(values: list[str], missing: set[str]) -> Case:
    """One short message at a time."""

    def loop(new: Callable[..., Any]) -> Contestant:
        return lambda: [new(b"x").hexdigest() for _ in values]

    return {"hashlib": loop(hashlib.md5), "lanesum": loop(lanesum.md5)}


# What makes the contestants, and how long a row is; nothing for 1 to 200 bytes.
CASES: dict[str, tuple[Callable[[list[str], set[str]], Case], int | None]] = {
    "md5-12": (md5, 12),
    "md5-30": (md5, 30),
    "md5-36": (md5, 36),
    "md5-200": (md5, 200),
    "md5-mixed": (md5, None),
    "sha256-30": (sha256, 30),
    "sha256-36": (sha256, 36),
    "sha256-200": (sha256, 200),
    "sha256-mixed": (sha256, None),
    "lanes-36": (lanes, 36),
    "hmac-30": (hmacs, 30),
    "hmac-36": (hmacs, 36),
    "frames-30": (frames, 30),
    "key-frames-30": (key_frames, 30),
    "threads-36": (threads, 36),
    "siphash-12": (siphash, 12),
    "siphash-36": (siphash, 36),
    "pandas-hash-36": (pandas_hash, 36),
    "surrogate-key-36": (surrogate, 36),
    "object-1": (objects, 36),
}


def plain(answer: Any) -> list[object]:
    """The beginning of an answer, as Python's objects; bytes as the digits that others give."""
    some = answer.to_pylist() if isinstance(answer, lanesum.Column) else answer[:1000]
    some = some.to_list() if hasattr(some, "to_list") else list(some)
    some = [value.as_py() if hasattr(value, "as_py") else value for value in some]
    return [value.hex() if isinstance(value, bytes) else value for value in some[:1000]]


def check(name: str, case: Case) -> None:
    """Holds every answer to the first one's, or to siphash24's where that is of another function."""
    answers = {contestant: plain(run()) for contestant, run in case.items()}
    if name.startswith("siphash"):
        del answers["hashlib"]
    if name.startswith(("lanes", "threads")):
        # Each contestant has another function; the tests hold them to their peers.
        return
    first, *others = answers.values()
    wrong = [name for name, answer in answers.items() if answer != first]
    if wrong and others:
        raise SystemExit(f"{name}: {', '.join(wrong)}: other answers than {next(iter(answers))}")


def run_once(run: Contestant, clock: Callable[[], float] = time.perf_counter) -> float:
    """The seconds of a run, without what frees its answer."""
    gc.collect()
    begin = clock()
    answer = run()
    seconds = clock() - begin
    del answer
    return seconds


def compare(names: list[str], rows: int, rounds: int, clock: Callable[[], float]) -> None:
    """Each round lets all contestants of a case run once."""
    missing: set[str] = set()
    for name in names:
        make, width = CASES[name]
        case = make(texts(rows, width), missing)
        check(name, case)
        seconds: dict[str, list[float]] = {contestant: [] for contestant in case}
        for _ in range(rounds):
            for contestant, run in case.items():
                seconds[contestant].append(run_once(run, clock))
        medians = {contestant: statistics.median(times) for contestant, times in seconds.items()}
        base = next(iter(medians.values()))
        for contestant, median in medians.items():
            rate = rows / median / 1e6
            print(f"{name:18} {contestant:18} {rate:8.2f} M/s {base / median:7.1f} x", flush=True)
    for name in sorted(missing):
        print(f"left out: {name} is not installed", file=sys.stderr)


def serve() -> None:
    """Runs what the rig asks for."""
    current, case = None, {}
    missing: set[str] = set()
    for line in sys.stdin:
        name, contestant, rows = line.rstrip("\n").split("\t")
        if (name, rows) != current:
            make, width = CASES[name]
            case = make(texts(int(rows), width), missing)
            current = (name, rows)
            check(name, case)
        if contestant == "?":
            print("\t".join(case), flush=True)
        else:
            print(run_once(case[contestant]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Columns, messages and objects beside their peers.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cpu", action="store_true", help="CPU time, for busy machines")
    parser.add_argument("--serve", action="store_true")
    options = parser.parse_args()
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    if options.serve:
        serve()
    else:
        clock = time.process_time if options.cpu else time.perf_counter
        compare(options.cases or list(CASES), options.rows, options.rounds, clock)


if __name__ == "__main__":
    main()
