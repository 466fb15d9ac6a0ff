"""Compute the surrogate keys of dbt's `generate_surrogate_key` in polars and in DuckDB, with the same result as in SQL.

    python surrogate_keys.py

In SQL the key is `md5(coalesce(cast(a as varchar), '_dbt_utils_surrogate_key_null_') || '-' || ...)`, which builds the
joined texts. `lanesum.surrogate_key` hashes the columns directly.
"""

from __future__ import annotations

import duckdb
import polars
import pyarrow

import lanesum

NULL = "_dbt_utils_surrogate_key_null_"
COLUMNS = ["order_id", "country", "line"]


def orders(rows: int) -> polars.DataFrame:
    """Returns rows with numbers, texts in several scripts, and nulls."""
    return polars.DataFrame(
        {
            "order_id": [f"o-{place * 7919 % rows}" for place in range(rows)],
            "country": [None if place % 5 == 0 else ["AT", "日本", "ÅL"][place % 3] for place in range(rows)],
            "line": list(range(rows)),
        }
    )


def in_polars(frame: polars.DataFrame) -> polars.DataFrame:
    """Returns the frame with its keys."""
    return frame.with_columns(key=lanesum.surrogate_key(frame.select(COLUMNS)))


def in_duckdb(connection: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    """Returns the keys of a DuckDB table, by an SQL function that takes Arrow columns."""

    def key(order_id: pyarrow.Array, country: pyarrow.Array, line: pyarrow.Array) -> pyarrow.ChunkedArray:
        return pyarrow.chunked_array(lanesum.surrogate_key([order_id, country, line]))

    types = ["VARCHAR"] * len(COLUMNS)
    # By default DuckDB returns null for nulls, and does not call the function.
    connection.create_function("surrogate_key", key, types, "VARCHAR", type="arrow", null_handling="special")
    casts = ", ".join(f"cast({name} as varchar)" for name in COLUMNS)
    return [key for (key,) in connection.sql(f"select surrogate_key({casts}) from {table}").fetchall()]


def by_dbt(connection: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    """Returns the keys by the SQL that dbt's macro writes."""
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
