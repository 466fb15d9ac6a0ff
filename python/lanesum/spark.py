"""lanesum on Spark: `pip install lanesum[spark]`.

Spark schedules; Python workers read files and row groups themselves, so that no text goes between the JVM and Python.
For columns that are in Spark already there is `siphash24`, which Spark has not; its own `md5()` is faster than any
function in Python can be there.
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
    """As `lanesum.hash_files`, on Spark's workers. A task whose worker dies is Spark's to try again."""
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
    """As `lanesum.parquet.hash_parquet`, on Spark's workers."""
    return parquet.in_tasks(partial(_map, spark), files, columns, out, **options)


def siphash24(key: Buffer) -> Any:
    """A function of Spark's columns: SipHash-2-4 of texts, binary values or numbers, under a key of 16 bytes.

    Its values are 64 bits as `bigint`, which is signed, as those of Spark's `xxhash64` are. Null stays null. Needs
    Spark 4.1.
    """
    key = _arguments.secret(key)
    if len(key) != 16:
        raise ValueError(f"a key of {len(key)} bytes: siphash24 takes 16")
    from pyspark.sql.functions import arrow_udf
    from pyspark.sql.types import LongType

    def hashed(column: Any) -> Any:
        import pyarrow

        import lanesum

        digests = pyarrow.chunked_array(lanesum.hash_column(column, "siphash24", key=key, output="uint64"))
        return digests.combine_chunks().view(pyarrow.int64())

    # Whose types Spark reads as its own kinds of functions; here they are none of the module's
    # business.
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
    """The function's results in the order of the tasks; those of tasks that raise are made by `fail`."""

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
