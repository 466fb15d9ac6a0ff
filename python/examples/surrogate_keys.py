"""Surrogate keys as dbt's `generate_surrogate_key` makes them, in polars and in DuckDB: the same digits everywhere.

    python surrogate_keys.py

In SQL that is `md5(coalesce(cast(a as varchar), '_dbt_utils_surrogate_key_null_') || '-' || ...)`, whose joined texts
somebody has to build. `lanesum.surrogate_key` hashes the columns as they are.
"""

from __future__ import annotations

import duckdb
import polars
import pyarrow

import lanesum

NULL = "_dbt_utils_surrogate_key_null_"
COLUMNS = ["order_id", "country", "line"]


def orders(rows: int) -> polars.DataFrame:
    """Rows with numbers, texts of any script, and nulls."""
    return polars.DataFrame(
        {
            "order_id": [f"o-{place * 7919 % rows}" for place in range(rows)],
            "country": [None if place % 5 == 0 else ["AT", "日本", "ÅL"][place % 3] for place in range(rows)],
            "line": list(range(rows)),
        }
    )


def in_polars(frame: polars.DataFrame) -> polars.DataFrame:
    """The frame with its keys."""
    keys = lanesum.surrogate_key([frame[name] for name in COLUMNS])
    return frame.with_columns(polars.Series(keys).alias("key"))


def in_duckdb(connection: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    """The keys of a table of DuckDB, by a function of its SQL that gets columns of Arrow."""

    def key(order_id: pyarrow.Array, country: pyarrow.Array, line: pyarrow.Array) -> pyarrow.ChunkedArray:
        return pyarrow.chunked_array(lanesum.surrogate_key([order_id, country, line]))

    types = ["VARCHAR"] * len(COLUMNS)
    # Null is not the function's business otherwise, and DuckDB would not even ask.
    connection.create_function("surrogate_key", key, types, "VARCHAR", type="arrow", null_handling="special")
    casts = ", ".join(f"cast({name} as varchar)" for name in COLUMNS)
    return [key for (key,) in connection.sql(f"select surrogate_key({casts}) from {table}").fetchall()]


def by_dbt(connection: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    """What dbt's macro writes, in SQL alone."""
    pieces = " || '-' || ".join(f"coalesce(cast({name} as varchar), '{NULL}')" for name in COLUMNS)
    return [key for (key,) in connection.sql(f"select md5({pieces}) from {table}").fetchall()]


def main() -> None:
    frame = orders(10_000)
    keyed = in_polars(frame)
    with duckdb.connect() as connection:
        connection.register("orders", frame.to_arrow())
        expected = by_dbt(connection, "orders")
        assert keyed["key"].to_list() == expected
        assert in_duckdb(connection, "orders") == expected
    print(keyed.head(3))


if __name__ == "__main__":
    main()
