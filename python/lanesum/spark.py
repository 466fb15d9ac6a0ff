"""lanesum on Spark: `pip install lanesum[spark]`.

Spark schedules the tasks, and Python workers read files and row groups directly. So no text passes between the JVM and
Python. For columns in Spark there is `siphash24`, which Spark lacks. Its own `md5()` is faster than any Python function
in Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from lanesum import _arguments, executors, parquet
from lanesum._arguments import AnyPath
from lanesum.table import Files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession as _SparkSession
    from typing_extensions import Buffer

__all__ = ["hash_files", "hash_parquet", "siphash24"]

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")


def hash_files(
    spark: _SparkSession,
    paths: Iterable[AnyPath],
    algorithms: str | Iterable[str] = ("md5",),
    *,
    key: Buffer | None = None,
    io: str = "auto",
    shards: AnyPath | None = None,
) -> Files:
    """Hashes files like `lanesum.hash_files`, on Spark workers. If a worker dies, Spark repeats its task."""
    names = _arguments.algorithms(algorithms)
    on = (partial(_map, spark), max(1, spark.sparkContext.defaultParallelism))
    return executors.hash_in_tasks(paths, names, key=key, io=io, on=on, shards=shards)


def hash_parquet(
    spark: _SparkSession,
    files: AnyPath | Iterable[AnyPath],
    columns: str | Iterable[str] | Mapping[str, str | Sequence[str]],
    out: AnyPath,
    **options: Any,
) -> parquet.Parts:
    """Hashes columns like `lanesum.parquet.hash_parquet`, on Spark workers."""
    return parquet.in_tasks(partial(_map, spark), files, columns, out, **options)


def siphash24(key: Buffer) -> Any:
    """Returns a Spark column function: SipHash-2-4 of text, binary values or numbers under a key of 16 bytes.

    The values are 64-bit signed `bigint`, like those of `xxhash64` in Spark. Nulls stay null. Needs Spark 4.1.
    """
    key = _arguments.secret(key)
    if len(key) != 16:
        raise ValueError(f"siphash24 needs a key of 16 bytes, not {len(key)}")
    from pyspark.sql.functions import arrow_udf
    from pyspark.sql.types import LongType

    def hashed(column: Any) -> Any:
        import pyarrow

        import lanesum

        digests = pyarrow.chunked_array(lanesum.hash_column(column, "siphash24", key=key, output="uint64", returns="arrow"))
        return digests.combine_chunks().view(pyarrow.int64())

    # Spark reads the annotations to find the kind of the function.
    hashed.__annotations__ = {"column": _arrow_array(), "return": _arrow_array()}
    return arrow_udf(hashed, LongType())


def _arrow_array() -> Any:
    import pyarrow

    return pyarrow.Array


def _map(
    spark: _SparkSession,
    function: Callable[[Task], Outcome],
    tasks: Sequence[Task],
    fail: Callable[[Task, str], Outcome],
    done: Callable[[Outcome], object],
) -> list[Outcome]:
    """Returns the results in the order of the tasks. `fail` makes those of tasks that raise."""

    def each(partition: Iterator[Task]) -> Iterator[tuple[Outcome | None, str]]:
        for task in partition:
            try:
                yield function(task), ""
            except Exception as error:
                yield None, f"{type(error).__name__}: {error}"

    if not tasks:
        return []
    found = spark.sparkContext.parallelize(list(tasks), len(tasks)).mapPartitions(each).collect()
    outcomes = [fail(task, why) if outcome is None else outcome for task, (outcome, why) in zip(tasks, found)]
    for outcome in outcomes:
        done(outcome)
    return outcomes
