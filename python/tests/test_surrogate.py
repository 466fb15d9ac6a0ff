"""Compare surrogate keys with the SQL of dbt_utils and hashlib."""

from __future__ import annotations

import datetime
import decimal
import hashlib

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lanesum

NULL = "_dbt_utils_surrogate_key_null_"
# The SQL of generate_surrogate_key(["a", "b", "c"]) of dbt_utils.
SQL = """
SELECT md5(cast(
    coalesce(cast(a AS TEXT), '_dbt_utils_surrogate_key_null_') || '-' ||
    coalesce(cast(b AS TEXT), '_dbt_utils_surrogate_key_null_') || '-' ||
    coalesce(cast(c AS TEXT), '_dbt_utils_surrogate_key_null_') AS TEXT)) FROM input
"""
ROWS = st.lists(
    st.tuples(
        st.none() | st.text(max_size=40),
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.booleans(),
    ),
    max_size=60,
)


def keys(columns: object, *arguments: object, **options: object) -> list[object]:
    array = pa.chunked_array(lanesum.surrogate_key(columns, *arguments, **options))
    array.validate(full=True)
    return array.to_pylist()


def md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()


def joined(row: tuple) -> str:
    words = {True: "true", False: "false"}
    values = (words[v] if isinstance(v, bool) else v for v in row)
    return "-".join(NULL if value is None else str(value) for value in values)


@given(ROWS)
def test_keys_are_the_md5_of_the_joined_row(rows: list[tuple]) -> None:
    expected = [md5(joined(row)) for row in rows]
    a, b, c = ([row[i] for row in rows] for i in range(3))
    types = [pa.string(), pa.int64(), pa.bool_()]
    table = pa.table([pa.array(v, t) for v, t in zip((a, b, c), types, strict=True)], names="abc")
    assert keys(table) == expected
    assert keys(table.columns) == expected
    assert keys({"a": table["a"], "b": table["b"], "c": table["c"]}) == expected
    assert keys(pl.DataFrame(table)) == expected


def test_keys_agree_with_dbt_in_duckdb() -> None:
    input = pa.table(
        {
            "a": ["x", None, "", "ä-b", "'"] * 1000,
            "b": pa.array([1, None, -7, 2**40, 0] * 1000),
            "c": pa.array([datetime.date(2026, 1, 31), None, datetime.date(1999, 12, 1)] * 1666 + [None, None]),
        }
    )
    assert input.num_rows == 5000
    expected = [row[0] for row in duckdb.sql(SQL).fetchall()]
    assert keys(input) == expected
    assert keys(duckdb.sql("SELECT * FROM input")) == expected


def test_chunks_of_different_lengths_are_joined() -> None:
    a = pa.chunked_array([["1"], [], ["2", "3"], ["4"]])
    b = pa.chunked_array([["a", "b"], ["c", "d"], []])
    assert keys([a, b]) == [md5(text) for text in ("1-a", "2-b", "3-c", "4-d")]


def test_other_separators_nulls_and_outputs() -> None:
    columns = [["a", None], ["b", "c"]]
    assert keys(columns, "||", "N/A") == [md5("a||b"), md5("N/A||c")]
    assert keys(columns, separator="", null="") == [md5("ab"), md5("c")]
    assert keys(columns, output="binary") == [bytes.fromhex(text) for text in keys(columns)]
    assert keys([["a"]]) == [md5("a")]


def test_long_rows_are_hashed_in_several_batches() -> None:
    values = ["x" * 100_000 + str(number) for number in range(100)]
    assert keys([values, values]) == [md5(f"{value}-{value}") for value in values]
    values = [str(number) for number in range(200_000)]
    assert keys([values, values]) == [md5(f"{value}-{value}") for value in values]


def test_values_with_a_single_text_form_are_joined() -> None:
    columns = [
        pa.array([1], pa.int8()),
        pa.array([2**64 - 1], pa.uint64()),
        pa.array([decimal.Decimal("1.50")]),
        pa.array(["x"]).dictionary_encode(),
        pa.array(["of more than twelve"], pa.string_view()),
        pa.nulls(1),
    ]
    assert keys(columns) == [md5(f"1-{2**64 - 1}-1.50-x-of more than twelve-{NULL}")]


def test_the_index_of_a_frame_is_not_a_column() -> None:
    frame = pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}, index=["one", "two"])
    assert keys(frame) == [md5("x-1"), md5("y-2")]


def test_decimals_and_dates_agree_with_duckdb_or_are_refused() -> None:
    values = {
        "wide": pa.array(["0.25", "-0.05", None, "12.00"]).cast(pa.decimal128(4, 2)),
        "small": pa.array(["0.25", "-0.05", None, "1.00"]).cast(pa.decimal32(5, 2)),
        "date": pa.array([datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None, datetime.date(1582, 10, 10)]),
        "bool": pa.array([True, False, None, True]),
    }
    for name, column in values.items():
        input = pa.table({"x": column if name != "small" else column.cast(pa.decimal128(5, 2))})
        found = duckdb.sql(f"SELECT md5(coalesce(x::VARCHAR, '{NULL}')) FROM input").fetchall()
        assert keys([column]) == [row[0] for row in found], name
    for day in (-719_163, 2_932_897):
        dates = pa.array([0, None, day], pa.int32()).cast(pa.date32())
        for column in (dates, dates.dictionary_encode()):
            with pytest.raises(ValueError, match="columns\[1\] has a date before the year 1"):
                keys([["a", "b", "c"], column])
    with pytest.raises(TypeError, match=r"columns\[0\] has the type Decimal128\(2, 2\), which databases write in different"):
        keys([pa.array([decimal.Decimal("0.25")], pa.decimal128(2, 2))])
    with pytest.raises(TypeError, match=r"columns\[0\] has the type Date64; cast it to date32"):
        keys([pa.array([0], pa.date64())])
    with pytest.raises(TypeError, match=r"columns\[0\] has the type LargeBinary; cast it to text"):
        keys([[b"a"]])


def test_lists_of_objects_are_hashed_or_suggest_a_fix() -> None:
    days = [datetime.date(1, 1, 1), None, datetime.date(1969, 12, 31), datetime.date(9999, 12, 31)]
    for values in ([None, True, False], days):
        assert keys([values]) == keys([pa.array(values)]) == keys([pa.array(values).cast(pa.string())])
    assert keys([np.array([True, False])]) == [md5("true"), md5("false")]
    assert keys([[True], days[-1:]]) == [md5("true-9999-12-31")]
    for values, words in (
        ([True, 1], r"columns\[0\]\[1\] has type int, but earlier values are booleans"),
        ([1, True], r"columns\[0\]\[1\] has type bool, but earlier values are integers"),
        (["a", True], r"columns\[0\]\[1\] has type bool"),
        ([days[0], datetime.datetime(2026, 1, 31)], r"columns\[0\]\[1\] has type datetime, but earlier values are dates"),
        # It does not tell how many digits its column has: 1.50 or 1.5.
        ([decimal.Decimal("1.50")], r"columns\[0\]\[0\] has type Decimal.*pyarrow.array"),
    ):
        with pytest.raises(TypeError, match=words):
            keys([values])
    objects = pd.Series([decimal.Decimal("1"), decimal.Decimal("1.50")])
    for columns in ([objects], {"a": objects}, pd.DataFrame({"a": objects}), [objects.astype("category")]):
        with pytest.raises(TypeError, match="is a column of Decimals, whose number of digits is unknown"):
            keys(columns)
    amounts = pa.array([decimal.Decimal("1.5")], pa.decimal128(10, 2))
    assert keys([amounts.to_pandas(types_mapper=pd.ArrowDtype)]) == [md5("1.50")]
    assert keys([amounts]) == [md5("1.50")]
    with pytest.raises(TypeError, match="columns must be a sequence, not LazyFrame; .*collect"):
        keys(pl.LazyFrame({"a": ["x"]}))


def test_invalid_columns_are_named_in_the_error() -> None:
    with pytest.raises(ValueError, match=r"columns\[1\] has 1 row, but columns\[0\] has more"):
        lanesum.surrogate_key([["a", "b"], ["c"]])
    with pytest.raises(ValueError, match=r"columns\['x'\] has 0 rows, but columns\['y'\] has more"):
        lanesum.surrogate_key({"x": pa.array([], pa.string()), "y": ["c"]})
    with pytest.raises(ValueError, match="columns is empty"):
        lanesum.surrogate_key([])
    with pytest.raises(TypeError, match=r"columns\[0\] has the type Float64.*cast it to text"):
        lanesum.surrogate_key([np.array([1.5]).tolist() and pa.array([1.5])])
    with pytest.raises(TypeError, match=r'columns\["t"\] has the type Timestamp'):
        lanesum.surrogate_key(pa.table({"t": [datetime.datetime(2026, 1, 1)]}))
    with pytest.raises(TypeError, match="columns must be a table or a list of columns, not one column"):
        lanesum.surrogate_key(pa.array(["a"]))
    with pytest.raises(TypeError, match="columns is a single str"):
        lanesum.surrogate_key("abc")
    with pytest.raises(TypeError, match=r"columns\[0\] is a single str"):
        lanesum.surrogate_key(["a", "b"])
    with pytest.raises(ValueError, match="unknown output"):
        lanesum.surrogate_key([["a"]], output="text")


def test_errors_of_keys_suggest_a_working_fix() -> None:
    for columns, kind, words in (
        ([[1.5]], TypeError, r"columns\[0\]\[0\] has type float; a list of values must be of str, int"),
        ([np.array([1.0])], TypeError, r"columns\[0\] has dtype float64; only text, booleans and .* to text"),
        ([np.array([1], np.int32)], TypeError, r"columns\[0\] has dtype int32; .*convert other integers with astype"),
        ([[2**63]], OverflowError, r"columns\[0\]\[0\] does not fit .*; use a numpy array of uint64"),
        ([[2**70]], OverflowError, r"columns\[0\]\[0\] does not fit into a signed 64-bit integer; use text$"),
        (pd.Series(["a"]), TypeError, "columns must be a table or a list of columns, not one column"),
        ([pd.Series([1, None])], TypeError, r'columns\[0\] has the type Float64, which pandas .*astype\("Int64"\)'),
        (pd.DataFrame({"n": [1, None]}), TypeError, r"columns\['n'\] has the type Float64, which pandas"),
        ([pl.Series([1], dtype=pl.Int128)], TypeError, r"columns\[0\] cannot be exported .*; cast it to text"),
        (pl.DataFrame({"n": [1]}, schema={"n": pl.Int128}), TypeError, "columns cannot be exported .*; cast it to text"),
        ([pd.Series([1j])], TypeError, r"columns\[0\] cannot be exported .*; cast it to text"),
    ):
        with pytest.raises(kind, match=words):
            lanesum.surrogate_key(columns)
    for output in ("hexa", "bytes"):
        with pytest.raises(ValueError, match=f'unknown output "{output}"; use binary, hex or uint64'):
            lanesum.surrogate_key([["a"]], output=output)
    with pytest.raises(ValueError, match="needs a 64-bit algorithm such as siphash24; md5 has 128 bits"):
        lanesum.surrogate_key([["a"]], output="uint64")
    assert keys([pd.Series([1, None]).astype("Int64")]) == [md5("1"), md5(NULL)]


def test_relations_of_one_connection_are_columns() -> None:
    first, second = duckdb.sql("SELECT range a FROM range(5000)"), duckdb.sql("SELECT 7 * range b FROM range(5000)")
    expected = [md5(f"{row}-{7 * row}") for row in range(5000)]
    assert keys([first, second]) == keys({"a": first, "b": second}) == expected
    assert keys([first, first])[3] == md5("3-3")


def test_extension_types_are_not_hashed_as_their_storage() -> None:
    truths = pa.table({"t": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8()))})
    with pytest.raises(TypeError, match="arrow.bool8, stored as Int8; cast it"):
        lanesum.surrogate_key(truths)
    months = pd.DataFrame({"month": pd.period_range("2020-01", periods=2, freq="M")})
    with pytest.raises(TypeError, match="pandas.period"):
        lanesum.surrogate_key(months)
    json = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}"]))
    assert lanesum.surrogate_key([json]).to_pylist() == [hashlib.md5(b"{}").hexdigest()]


def test_datetimes_among_dates_are_refused() -> None:
    day = datetime.date(2020, 1, 1)
    mixed = pd.Series([day, datetime.datetime(2020, 1, 1, 5)], dtype=object)
    with pytest.raises(TypeError, match="both dates and datetimes"):
        lanesum.surrogate_key([mixed])
    expected = [hashlib.md5(b"2020-01-01").hexdigest()] * 2
    assert lanesum.surrogate_key([pd.Series([day, day], dtype=object)]).to_list() == expected


def test_decimals_beyond_their_precision_are_refused() -> None:
    """DuckDB hands over HUGEINT as numbers of 38 digits, whatever they have."""
    for number in ("10::HUGEINT ** 37", "(-10::HUGEINT) ** 37"):
        [expected] = duckdb.sql(f"SELECT md5(CAST({number} AS HUGEINT)::VARCHAR)").fetchall()
        relation = duckdb.sql(f"SELECT CAST({number} AS HUGEINT) AS id")
        assert lanesum.surrogate_key(relation).to_pylist() == [expected[0]]
    most = "170141183460469231731687303715884105727"
    for number in (most, f"-{most}", "1" + "0" * 38):
        relation = duckdb.sql(f"SELECT {number}::HUGEINT AS id")
        with pytest.raises(ValueError, match="more digits"):
            lanesum.surrogate_key(relation)


def test_a_table_without_columns_is_refused() -> None:
    for nothing in (pa.table({}), [], {}):
        with pytest.raises(ValueError, match="columns is empty"):
            lanesum.surrogate_key(nothing)


def test_an_array_of_rows_is_refused() -> None:
    for array in (np.array([["a", "b"], ["c", "d"]]), np.array(["a"])):
        with pytest.raises(TypeError, match="list of columns"):
            lanesum.surrogate_key(array)


def test_moments_in_a_category_are_refused() -> None:
    dates = [datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, 5)]
    with pytest.raises(TypeError, match="both dates and datetimes"):
        lanesum.surrogate_key([pd.Series(dates, dtype=object).astype("category")])
    missing = pd.Series([dates[0], pd.NaT], dtype=object)
    expected = lanesum.surrogate_key([["2020-01-01", None]]).to_pylist()
    assert lanesum.surrogate_key([missing]).to_list() == expected


def test_dictionaries_hash_as_their_values() -> None:
    values = ["a", None, "b", "", "a", "c" * 50]
    plain, other = pa.array(values), pa.array(["x"] * 6)
    expected = lanesum.surrogate_key([plain, other]).to_pylist()
    encoded = plain.dictionary_encode()
    assert lanesum.surrogate_key([encoded, other]).to_pylist() == expected
    # Nulls among the values, and a slice.
    keys = pa.array([0, 1, None, 2], pa.int8())
    nulls = pa.DictionaryArray.from_arrays(keys, pa.array(["a", None, "b"]))
    expected = lanesum.surrogate_key([pa.array(["a", None, None, "b"])]).to_pylist()
    assert lanesum.surrogate_key([nulls]).to_pylist() == expected
    assert lanesum.surrogate_key([nulls.slice(1)]).to_pylist() == expected[1:]
    empty = pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), pa.array([], pa.string()))
    assert lanesum.surrogate_key([empty]).to_pylist() == lanesum.surrogate_key([[None]]).to_pylist()
    dates = pa.array([datetime.date(2020, 1, 1), None]).dictionary_encode()
    expected = lanesum.surrogate_key([["2020-01-01", None]]).to_pylist()
    assert lanesum.surrogate_key([dates]).to_pylist() == expected


def test_misplaced_arguments_are_reported() -> None:
    with pytest.raises(TypeError, match="separator must be a str, not list; pass all columns in one list"):
        lanesum.surrogate_key(["x"], ["y"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="null must be a str, not int"):
        lanesum.surrogate_key([["x"]], "-", 0)  # type: ignore[arg-type]
    for columns in (["a", "b"], {"a": "a"}):
        with pytest.raises(TypeError, match="is a single str; pass the columns themselves"):
            lanesum.surrogate_key(columns)
