"""Spark: `make test-spark`, which needs Java and half a gigabyte of packages."""

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lanesum

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark() -> Iterator[object]:
    # Else workers take the first python3 of the PATH, which has no lanesum.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").appName("lanesum").getOrCreate()
    )
    yield session
    session.stop()


def test_files_are_hashed_by_workers(spark: object, tmp_path: Path) -> None:
    import lanesum.spark

    paths = []
    for place in range(200):
        path = tmp_path / f"file {place}"
        path.write_bytes(bytes([place]) * place * 100)
        paths.append(path)
    paths.append(tmp_path / "missing")
    table = lanesum.spark.hash_files(spark, paths, ["md5", "sha256"])
    assert list(table) == list(lanesum.hash_files(paths, ["md5", "sha256"])) and not table.ok
    assert lanesum.spark.hash_files(spark, []).num_rows == 0


def test_parquet_is_hashed_by_workers(spark: object, tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    import lanesum.spark

    ids = [f"k{place}" for place in range(1000)]
    pyarrow.parquet.write_table(pyarrow.table({"id": ids}), tmp_path / "in", row_group_size=100)
    parts = lanesum.spark.hash_parquet(spark, tmp_path / "in", "id", tmp_path / "out", output="hex")
    assert parts.ok
    found = pyarrow.concat_tables([pyarrow.parquet.read_table(part.out) for part in parts])
    assert found.column("id_md5").to_pylist() == [hashlib.md5(text.encode()).hexdigest() for text in ids]


def test_siphash_is_a_function_of_columns(spark: object) -> None:
    import lanesum.spark

    key = bytes(range(16))
    frame = spark.createDataFrame([("a",), (None,), ("bc",)], "text string")
    rows = frame.select("text", lanesum.spark.siphash24(key)("text").alias("hash")).collect()
    for text, value in rows:
        if text is None:
            assert value is None
        else:
            unsigned = lanesum.siphash24(text.encode(), key=key).intdigest()
            assert value % 2**64 == unsigned
    with pytest.raises(ValueError, match="16"):
        lanesum.spark.siphash24(b"short")
