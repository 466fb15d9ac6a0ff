"""Executors: tasks by bytes, failures, dying workers, and shards for the next run."""

import asyncio
import hashlib
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lanesum
from lanesum import _dask, _lanesum, _shards, _tasks, executors
from lanesum.table import Files

# Workers inherit this path.
sys.path.insert(0, os.path.dirname(__file__))
from dying import Dying, die  # noqa: E402

#: Starts processes that take tasks; `make test-clusters` runs these.
cluster = pytest.mark.cluster


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("files")
    paths = []
    for place in range(300):
        path = folder / f"file {place}"
        path.write_bytes(bytes([place % 256]) * (place * 100 + 1))
        os.utime(path, (1, 1))
        paths.append(str(path))
    # Shards only store files that have not changed for three seconds.
    time.sleep(3.1)
    return paths


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many tasks of few files."""
    monkeypatch.setattr(executors, "_MOST_FILES", 20)


def expected(paths: list[str]) -> list[bytes]:
    return [hashlib.md5(Path(path).read_bytes()).digest() for path in paths]


def pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))


@pytest.mark.parametrize("kind", ["threads", *(pytest.param(kind, marks=cluster) for kind in ("processes", "fork", "loky"))])
def test_every_executor_gives_the_same_table(few: None, files: list[str], kind: str) -> None:
    def make() -> Executor:
        if kind == "threads":
            return ThreadPoolExecutor(2)
        if kind == "processes":
            return pool()
        if kind == "fork":
            return ProcessPoolExecutor(2, multiprocessing.get_context("fork"))
        return pytest.importorskip("loky").get_reusable_executor(max_workers=2)

    told: list[tuple[int, int]] = []
    paths = [*files, "nowhere", *files[:3]]
    with make() as executor:
        table = lanesum.hash_files(
            paths, executor=executor, progress=lambda size, count: told.append((size, count))
        )
    alone = lanesum.hash_files(paths)
    assert table.column_names == alone.column_names and list(table) == list(alone)
    assert table.column("md5")[:-4] == expected(files) and not table.ok
    assert told == sorted(told) and told[-1] == (sum(size or 0 for size in alone.column("size")), len(paths))


def test_a_tree_on_an_executor_gives_the_same_table(few: None, files: list[str]) -> None:
    root = os.path.dirname(files[0])
    with ThreadPoolExecutor(2) as executor:
        table = lanesum.hash_tree(root, ["md5", "crc32"], executor=executor)
    assert list(table) == list(lanesum.hash_tree(root, ["md5", "crc32"])) and table.num_rows == 300
    with ThreadPoolExecutor(2) as executor:
        assert lanesum.hash_files([], executor=executor).num_rows == 0


@given(st.lists(st.integers(0, 4 << 30)), st.integers(1, 64))
def test_tasks_are_bounded_in_bytes(sizes: list[int], workers: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lanesum, "file_sizes", lambda paths: [sizes[path] for path in paths])
        tasks = executors.pack(range(len(sizes)), workers)
    assert [path for task in tasks for path in task] == list(range(len(sizes)))
    most = max(executors._LEAST, min(executors._MOST, sum(sizes) // workers + len(sizes) * executors._PER_FILE))
    for task in tasks:
        assert task and (len(task) == 1 or sum(sizes[path] for path in task) <= most)


def run(function: Callable[[list[str]], list[str]], tasks: list[list[str]], executor: Executor) -> list[str]:
    def fail(items: list[str], why: str) -> list[str]:
        return [f"failed {item}: {why}" for item in items]

    return [line for result in _tasks.run(executor, function, tasks, fail) for line in result]


TASKS = [[f"{letter}{place}" for place in range(8)] for letter in "abcdef"]
ITEMS = [item for task in TASKS for item in task]


@cluster
def test_a_dying_worker_loses_one_item() -> None:
    with pool() as executor:
        found = run(Dying(kills="c5"), TASKS, executor)
    assert [line.split()[0] for line in found] == ["failed" if item == "c5" else "did" for item in ITEMS]
    (line,) = [line for line in found if line.startswith("failed")]
    assert line.startswith("failed c5: its worker died: BrokenProcessPool")


@cluster
def test_a_worker_killed_once_loses_nothing(tmp_path: Path) -> None:
    with pool() as executor:
        found = run(Dying(once=str(tmp_path / "once")), TASKS, executor)
    assert found == [f"did {item}" for item in ITEMS]
    # Even if the pool was already broken.
    executor = pool()
    with pytest.raises(BrokenProcessPool):
        executor.submit(die).result()
    assert run(Dying(), TASKS, executor) == [f"did {item}" for item in ITEMS]


def test_a_failing_task_is_retried_and_named() -> None:
    with ThreadPoolExecutor(2) as executor:
        found = run(Dying(raises="b7"), TASKS, executor)
    assert found == [
        f"failed {item}: ValueError: no b7" if item.startswith("b") else f"did {item}" for item in ITEMS
    ]


class Refusing(Executor):
    """Breaks, and cannot be replaced."""

    def submit(self, fn: object, /, *args: object, **kwargs: object) -> Future[object]:
        raise BrokenProcessPool("gone")


def test_a_refusing_executor_gives_every_file_an_error(files: list[str]) -> None:
    table = lanesum.hash_files(files, executor=Refusing())
    assert table.num_rows == len(files) and not table.ok
    assert set(table.column("error")) == {"BrokenProcessPool: gone"}
    assert table.column("path") == files


class Counting:
    """Counts the files that are hashed, in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files = 0
        original = executors.hash_files_task

        def counted(paths: list[str], algorithms: list[str], **options: object) -> object:
            self.files += len(paths)
            return original(paths, algorithms, **options)

        monkeypatch.setattr(executors, "hash_files_task", counted)

    def since(self) -> int:
        count, self.files = self.files, 0
        return count


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    return Counting(monkeypatch)


def test_files_in_shards_are_not_hashed_again(
    few: None, counting: Counting, files: list[str], tmp_path: Path
) -> None:
    hashing = partial(lanesum.hash_files, shards=tmp_path / "shards")
    first = hashing(files)
    assert first.ok and counting.since() == 300 and len(os.listdir(tmp_path / "shards")) == 15
    assert list(hashing(files)) == list(first) and counting.since() == 0
    backwards = hashing(files[::-1])
    assert list(backwards) == list(first)[::-1] and counting.since() == 0
    assert hashing(["nowhere", *files, "nowhere"]).column("md5")[1:-1] == first.column("md5")
    assert counting.since() == 2
    assert hashing(files, ["md5", "sha1"]).ok and counting.since() == 300
    assert hashing(files, "sha1").ok and counting.since() == 0, "which those shards have, too"
    with ThreadPoolExecutor(2) as executor:
        assert list(hashing(files, executor=executor)) == list(first) and counting.since() == 0


def test_an_interrupted_run_resumes(few: None, counting: Counting, files: list[str], tmp_path: Path) -> None:
    class Broke(Exception):
        pass

    def stop(size: int, count: int) -> None:
        if count >= 100:
            raise Broke

    with pytest.raises(Broke):
        lanesum.hash_files(files, shards=tmp_path, progress=stop)
    done = counting.since()
    assert 80 <= done < 200
    table = lanesum.hash_files(files, shards=tmp_path)
    assert table.column("md5") == expected(files)
    assert counting.since() + done - 20 <= 300 + 20


@pytest.mark.parametrize("change", ["content", "content of the same size and time", "another file", "touched"])
def test_shards_are_never_stale(counting: Counting, tmp_path: Path, change: str) -> None:
    path, shards = tmp_path / "file", tmp_path / "shards"
    path.write_bytes(b"before")
    time.sleep(3.1)
    assert lanesum.hash_files([path], shards=shards).ok and counting.since() == 1
    assert lanesum.hash_files([path], shards=shards).ok and counting.since() == 0
    status = path.stat()
    if change == "content":
        path.write_bytes(b"behind it")
    elif change == "another file":
        (tmp_path / "other").write_bytes(b"behind")
        os.replace(tmp_path / "other", path)
    elif change == "touched":
        path.touch()
    else:
        path.write_bytes(b"behind")
    if change != "touched":
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    table = lanesum.hash_files([path], shards=shards)
    assert counting.since() == 1 and table.column("md5") == expected([str(path)])


def test_a_file_changed_just_before_is_not_kept(counting: Counting, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    for _ in range(2):
        assert lanesum.hash_files([path], shards=tmp_path / "shards").ok and counting.since() == 1
    assert os.listdir(tmp_path / "shards") == []


def test_damaged_shards_are_reported_and_hashed_again(
    few: None, counting: Counting, files: list[str], tmp_path: Path
) -> None:
    lanesum.hash_files(files, shards=tmp_path)
    counting.since()
    shards = sorted(tmp_path.iterdir())
    shards[0].write_bytes(shards[0].read_bytes()[:-100])
    shards[1].write_bytes(b"")
    (tmp_path / "notes.txt").write_text("somebody else's")
    table: Files = lanesum.hash_files(files, shards=tmp_path)
    assert table.ok and counting.since() == 40 and len(table.problems) == 2
    assert all(str(shard) in problem for shard, problem in zip(shards, table.problems))
    assert table.column("md5") == expected(files)


def test_a_changed_byte_in_a_shard_is_detected(
    counting: Counting, files: list[str], tmp_path: Path
) -> None:
    wanted = expected(files[:3])
    lanesum.hash_files(files[:3], shards=tmp_path)
    (shard,) = tmp_path.iterdir()
    content = shard.read_bytes()
    counting.since()

    def again() -> Files:
        table = lanesum.hash_files(files[:3], shards=tmp_path)
        assert table.ok and table.column("md5") == wanted
        for other in tmp_path.iterdir():
            if other != shard:
                other.unlink()
        return table

    digest = content.index(wanted[1])
    for place in {digest, *range(0, len(content), len(content) // 50)}:
        shard.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        (problem,) = again().problems
        assert str(shard) in problem and "checksum" in problem and counting.since() == 3
    shard.write_bytes(content)
    assert again().problems == [] and counting.since() == 0
    # A name without a checksum.
    shard = shard.rename(tmp_path / f"part-{1:020}.arrow")
    (problem,) = again().problems
    assert str(shard) in problem and counting.since() == 3


def test_broken_files_with_shard_names_are_reported(
    counting: Counting, files: list[str], tmp_path: Path
) -> None:
    lanesum.hash_files(files[:3], shards=tmp_path)
    (shard,) = tmp_path.iterdir()
    content = shard.read_bytes()
    shard.unlink()
    counting.since()
    # Some say that they are larger than all memory.
    broken = [content[:place] + b"\xff\x7f" + content[place + 2 :] for place in range(8, len(content) - 2, 7)]
    for place, bad in enumerate([b"", b"ARROW1", *broken]):
        (tmp_path / f"part-{place:020}-{_shards._checksum(bad)}.arrow").write_bytes(bad)
    (tmp_path / f"part-{9999:020}-{'0' * 32}.arrow").mkdir()
    os.mkfifo(tmp_path / f"part-{9998:020}-{'0' * 32}.arrow")
    table = lanesum.hash_files(files[:3], shards=tmp_path)
    assert table.ok and table.column("path") == files[:3]
    assert sum("not a regular file" in problem for problem in table.problems) == 2
    assert len(table.problems) >= 3


def test_a_shard_is_an_arrow_file(counting: Counting, files: list[str], tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    lanesum.hash_files(files[1:], shards=tmp_path)
    (shard,) = tmp_path.iterdir()
    frame = polars.read_ipc(shard)
    assert frame["path"].to_list() == files[1:] and frame["md5"].to_list() == expected(files[1:])


def test_wrong_shards(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        lanesum.hash_files([], shards=tmp_path / "file")
    with pytest.raises(ValueError, match="key"):
        lanesum.hash_files([], "blake3", key=bytes(32), shards=tmp_path)


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    with (
        # A task whose worker died is not repeated on three other workers first.
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@cluster
def test_dask(few: None, files: list[str], tmp_path: Path, client: object) -> None:
    import lanesum.dask

    root = os.path.dirname(files[0])
    alone = lanesum.hash_files([*files, "nowhere"])
    assert list(lanesum.dask.hash_files([*files, "nowhere"], client=client)) == list(alone)
    assert list(lanesum.dask.hash_tree(root)) == list(lanesum.hash_tree(root))
    table = lanesum.dask.hash_files(files, client=client, shards=tmp_path)
    assert table.ok and len(os.listdir(tmp_path)) == 15
    assert lanesum.dask.hash_files(files, client=client, shards=tmp_path).column("md5") == table.column("md5")


@cluster
def test_dask_names_the_file_that_kills_every_worker(client: object) -> None:
    # Dask does not replace a worker that dies at its start.
    found = run(Dying(kills="c5", after=0.3), TASKS, client.get_executor())
    assert [line.split()[0] for line in found] == ["failed" if item == "c5" else "did" for item in ITEMS]


@cluster
def test_dask_without_workers_is_given_up(client: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_dask, "_LOOK", 0.1)
    monkeypatch.setattr(_dask, "_PATIENCE", 1.0)
    threading.Timer(0.5, client.cluster.scale, (0,)).start()
    try:
        found = run(Dying(kills="a0", after=30), TASKS, client.get_executor())
    finally:
        client.cluster.scale(2)
        client.wait_for_workers(2)
    lost = {line.split(": ", 1)[1] for line in found if line.startswith("failed")}
    assert lost == {"BrokenExecutor: all workers of Dask's cluster are gone, and none came back in 1 s"}
    assert {line.split()[1].rstrip(":") for line in found} == set(ITEMS)


def test_invalid_executors_are_named(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    import lanesum.dask

    client = SimpleNamespace(submit=None, get_executor=None)
    cluster = SimpleNamespace(scale=None)
    for call, kind, words in (
        (lambda: lanesum.hash_files([], executor=client), TypeError, r"a Dask client; pass client.get_executor\(\), or"),
        (lambda: lanesum.hash_tree(tmp_path, executor=client), TypeError, "executor is a Dask client"),
        (lambda: lanesum.hash_files([], executor=ProcessPoolExecutor), TypeError, "is the class ProcessPoolExecutor; pass"),
        (lambda: lanesum.dask.hash_files([], client=cluster), TypeError, r"not SimpleNamespace; create one with Client\(cluster\)"),
        (lambda: lanesum.dask.hash_files([], client=distributed.Client), TypeError, "a Dask client, not Client"),
        (lambda: lanesum.dask.hash_tree(tmp_path), ValueError, "there is no Dask client yet; pass client="),
    ):
        with pytest.raises(kind, match=words):
            call()


def test_asynchronous_dask_clients_are_refused(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    import lanesum.dask

    (tmp_path / "a").write_bytes(b"abc")
    paths = [tmp_path / "a"]
    options = {"processes": False, "dashboard_address": None, "n_workers": 1}

    def refused(client: object, kind: type[Exception], words: str) -> None:
        with pytest.raises(kind, match=f"^client= {words}"):
            lanesum.dask.hash_files(paths, client=client)
        with pytest.raises(kind, match=f"^the client of executor= {words}"):
            lanesum.hash_files(paths, executor=client.get_executor())

    async def asynchronous() -> None:
        async with distributed.Client(asynchronous=True, **options) as client:
            refused(client, TypeError, r"is asynchronous .* asyncio.to_thread\(\)")
            assert (await asyncio.to_thread(lanesum.dask.hash_files, paths, client=client)).ok

    with distributed.Client(**options) as client:
        assert lanesum.dask.hash_files(paths, client=client).ok
    refused(client, ValueError, r"is closed; pass an open client")
    asyncio.run(asynchronous())


def test_a_closed_pool_is_an_invalid_argument(few: None, files: list[str]) -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(RuntimeError, match="after shutdown"):
        lanesum.hash_files(files, executor=executor)


def test_executors_accept_any_buffer_as_key(files: list[str]) -> None:
    with ThreadPoolExecutor(1) as executor:
        table = lanesum.hash_files(files[:3], "siphash24", key=memoryview(bytes(16)), executor=Pickling(executor))
    assert table.column("siphash24") == lanesum.hash_files(files[:3], "siphash24", key=bytes(16)).column("siphash24")


class Pickling(Executor):
    """Pickles tasks and passes them to another executor, like pools of processes."""

    def __init__(self, other: Executor) -> None:
        self.other = other

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        return self.other.submit(*pickle.loads(pickle.dumps((fn, *args))), **kwargs)


def test_parquet_checks_types_before_writing(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    from lanesum import parquet

    pyarrow.parquet.write_table(pyarrow.table({"id": ["x"], "n": [1.5]}), tmp_path / "1")
    pyarrow.parquet.write_table(pyarrow.table({"id": [1.5], "n": [1.5]}), tmp_path / "2")
    paths = [tmp_path / "1", tmp_path / "2"]
    for columns, words in (
        ("id", "2: id_md5, of id: md5 hashes text and bytes, not Float64"),
        ({"key": ["id"]}, r"2: key, of \['id'\]: columns\[0\] has the type Float64"),
    ):
        with pytest.raises(TypeError, match=words):
            parquet.hash_parquet(paths, columns, tmp_path / "out")
        assert os.listdir(tmp_path / "out") == []
    with pytest.raises(ValueError, match="columns: id occurs twice"):
        parquet.hash_parquet(paths, ["id", "id"], tmp_path / "out")
    with pytest.raises(ValueError, match="keep: n occurs twice"):
        parquet.hash_parquet(paths, "id", tmp_path / "out", keep=["n", "n"])
    key = bytearray(16)
    assert parquet.hash_parquet(paths[0], "id", tmp_path / "out", keep=["n"], algorithm="siphash24", key=key).ok


def test_parquet_refuses_options_without_effect(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    from lanesum import parquet

    pyarrow.parquet.write_table(pyarrow.table({"a": ["x"], "b": ["y"]}), tmp_path / "in")

    def column(name: str, **options: object) -> object:
        parts = parquet.hash_parquet(tmp_path / "in", {"new": name}, tmp_path / str(len(os.listdir(tmp_path))), **options)
        parts.raise_for_failures()
        return pyarrow.parquet.read_table(parts[0].out).column("new").to_pylist()[0]

    one, both = hashlib.md5(b"x"), hashlib.md5(b"x-y")
    assert [column("a"), column("a", output="binary"), column("a", output="hex")] == [
        *[one.digest()] * 2, one.hexdigest()
    ]
    assert [column(["a", "b"]), column(["a", "b"], output="hex"), column(["a", "b"], output="binary")] == [
        *[both.hexdigest()] * 2, both.digest()
    ]
    key = bytes(16)
    for name in ("a", ["a", "b"]):
        for options, kind, words in (
            ({"output": "uint64"}, ValueError, "uint64"),
            ({"output": "text"}, ValueError, "unknown output"),
            ({"key": key}, TypeError, "key"),
            ({"algorithm": "md6"}, ValueError, "md6|surrogate keys use md5"),
            ({"algorithm": "siphash24"}, (TypeError, ValueError), "key"),
        ):
            with pytest.raises(kind, match=words):
                column(name, **options)
    with pytest.raises(ValueError, match=r"columns\['new'\] is empty; pass at least one"):
        column([])
    twice = pyarrow.table([["x"], ["y"]], names=["a", "a"])
    pyarrow.parquet.write_table(twice, tmp_path / "twice")
    with pytest.raises(ValueError, match="twice: 2 columns have the name 'a'"):
        parquet.hash_parquet(tmp_path / "twice", "a", tmp_path / "out")
    with pytest.raises(TypeError, match="columns must be a name of columns, or several, not int"):
        parquet.hash_parquet(tmp_path / "in", 5, tmp_path / "out")
    with pytest.raises(TypeError, match="keep must be names of columns, not int"):
        parquet.hash_parquet(tmp_path / "in", "a", tmp_path / "out", keep=[5])
    with pytest.raises(TypeError, match="out must be a path, not int"):
        parquet.hash_parquet(tmp_path / "in", "a", 5)


def test_parquet_files_may_have_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    from lanesum import parquet

    monkeypatch.chdir(tmp_path)
    # pyarrow would read a path with this prefix as a URI.
    others = [f"file:{tmp_path}/other", "file:x", "s3:y", b"\xff"]
    with pyarrow.OSFile("other", "wb") as file:
        pyarrow.parquet.write_table(pyarrow.table({"t": ["another"]}), file)
    os.makedirs(os.path.dirname(others[0]))
    for number, name in enumerate(others):
        with pyarrow.OSFile(os.fsencode(name), "wb") as file:
            pyarrow.parquet.write_table(pyarrow.table({"t": [str(number)]}), file)
    for out in ("out", "file:out", b"out-\xff"):
        parts = parquet.hash_parquet(others, {"h": "t"}, out, output="hex")
        parts.raise_for_failures()
        assert [part.path for part in parts] == [os.fsdecode(name) for name in others]
        for number, part in enumerate(parts):
            with pyarrow.OSFile(os.fsencode(part.out)) as file:
                found = pyarrow.parquet.read_table(file).column("h").to_pylist()
            assert found == [hashlib.md5(str(number).encode()).hexdigest()]
        assert len(os.listdir(out)) == len(others)


@pytest.mark.parametrize("change", ["replaced", "appended", "gone"])
@pytest.mark.parametrize("is_while_read", [False, True])
def test_a_parquet_file_that_changes_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, is_while_read: bool
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    from lanesum import parquet

    path = tmp_path / "in"
    pyarrow.parquet.write_table(pyarrow.table({"id": ["a", "b", "c"]}), path, row_group_size=1)

    def meddle() -> None:
        if change == "replaced":
            # The same number of row groups, and the same size.
            pyarrow.parquet.write_table(pyarrow.table({"id": ["x", "y", "z"]}), tmp_path / "new", row_group_size=1)
            os.replace(tmp_path / "new", path)
        elif change == "appended":
            pyarrow.parquet.write_table(pyarrow.table({"id": ["a", "b", "c", "d"]}), tmp_path / "new", row_group_size=1)
            path.write_bytes((tmp_path / "new").read_bytes())
        else:
            path.unlink()

    if is_while_read:
        hashed = parquet._hashed
        done = []

        def hash_and_meddle(table, *arguments):  # type: ignore[no-untyped-def]
            # The first call reports 0 rows, before there are parts.
            if len(table) and not done:
                done.append(True)
                meddle()
            return hashed(table, *arguments)

        monkeypatch.setattr(parquet, "_hashed", hash_and_meddle)
        parts = parquet.hash_parquet(path, "id", tmp_path / "out")
    else:
        (task,) = parquet.pack([str(path)], str(tmp_path), ["id"])
        meddle()
        parts = parquet.Parts(parquet.hash_parquet_task(task, columns={"h": "id"}))
    (part,) = parts
    # A file that is overwritten is incomplete for a while.
    expected = "No such file" if change == "gone" else "changed while it was read"
    if change != "appended" or not is_while_read:
        assert part.error is not None and expected in part.error
    assert part.error and not parts.ok and part.rows == 0 and not os.path.exists(part.out)


@cluster
def test_parquet(tmp_path: Path, client: object) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    import lanesum.dask
    from lanesum import parquet

    rows = [{"id": f"k{place}" if place % 7 else None, "n": place} for place in range(1000)]
    for name in ("one", "two"):
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / name, row_group_size=300)
    inputs = [tmp_path / "one", tmp_path / "two"]
    columns = {"h": "id", "key": ["id", "n"]}
    alone = parquet.hash_parquet(inputs, columns, tmp_path / "alone", keep=["n"])
    there = lanesum.dask.hash_parquet(inputs, columns, tmp_path / "there", keep="n", client=client)
    assert alone.ok and there.ok and sum(part.rows for part in there) == 2000
    for parts in (alone, there):
        table = pyarrow.concat_tables([pyarrow.parquet.read_table(part.out) for part in parts])
        assert table.column("n").to_pylist() == [row["n"] for row in rows] * 2
        digests = [row["id"] and hashlib.md5(row["id"].encode()).digest() for row in rows]
        assert table.column("h").to_pylist() == digests * 2
        joined = [f"{row['id'] or '_dbt_utils_surrogate_key_null_'}-{row['n']}" for row in rows]
        assert table.column("key").to_pylist() == [hashlib.md5(text.encode()).hexdigest() for text in joined] * 2
    with pytest.raises(TypeError, match="ok"):
        bool(alone)
    with pytest.raises(ValueError, match="no column 'nothing'; the columns are id, n"):
        parquet.hash_parquet(inputs, "nothing", tmp_path / "out")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        parquet.hash_parquet("nowhere", "id", tmp_path / "out")
    (tmp_path / "text").write_text("no Parquet")
    with pytest.raises(ValueError, match="text"):
        parquet.hash_parquet(tmp_path / "text", "id", tmp_path / "out")
    with pytest.raises(ValueError, match="n is both a kept and a new column"):
        parquet.hash_parquet(inputs, {"n": "id"}, tmp_path / "out", keep=["n"])
    before = [Path(part.out).read_bytes() for part in alone]
    for given in (inputs, [part.out for part in alone]):
        with pytest.raises(FileExistsError, match="use an empty directory"):
            parquet.hash_parquet(given, "n", tmp_path / "alone")
    assert [Path(part.out).read_bytes() for part in alone] == before
    os.chmod(tmp_path / "there", 0o700)
    empty = parquet.hash_parquet([], "id", tmp_path / "out")
    assert not empty.ok
    with pytest.raises(lanesum.FailuresError, match="no row group"):
        empty.raise_for_failures()


@cluster
def test_ray(few: None, files: list[str]) -> None:
    ray = pytest.importorskip("ray")
    from lanesum.ray import RayExecutor

    with pytest.raises(RuntimeError, match="ray.init"):
        RayExecutor()
    # Its workers do not have this process's path of modules.
    workers = {"env_vars": {"PYTHONPATH": os.path.dirname(__file__)}}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=workers)
    try:
        paths = [*files, "nowhere"]
        assert list(lanesum.hash_files(paths, executor=RayExecutor())) == list(lanesum.hash_files(paths))
        found = run(Dying(kills="c5"), TASKS, RayExecutor())
        assert [line.split()[0] for line in found] == ["failed" if item == "c5" else "did" for item in ITEMS]
        found = run(Dying(raises="b7"), TASKS, RayExecutor())
        assert {line.split(": ", 1)[1] for line in found if line.startswith("failed")} == {"ValueError: no b7"}
    finally:
        ray.shutdown()


class Lying(Executor):
    """Returns rows of a different task, or none."""

    def __init__(self, change: Callable[[Files], object]) -> None:
        self.change = change

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        future: Future[object] = Future()
        future.set_result(self.change(fn(*args, **kwargs)))
        return future


def test_wrong_rows_from_workers_are_an_error(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text(name)
    paths = [tmp_path / name for name in "abc"]
    assert lanesum.hash_files(paths, executor=Lying(lambda table: table)).ok
    for change in (
        lambda table: type(table)(table._batches.take([0])),
        lambda table: type(table)(table._batches.take([2, 1, 0])),
        lambda table: None,
    ):
        with pytest.raises(RuntimeError, match="rows of wrong files|returned a NoneType"):
            lanesum.hash_files(paths, executor=Lying(change))


def test_shards_in_the_tree_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a").write_text("a")
    (tmp_path / "link").symlink_to("tree")
    for shards in ("tree", "tree/shards", "link/shards"):
        with pytest.raises(ValueError, match="is in the tree"):
            lanesum.hash_tree(tmp_path / "tree", shards=tmp_path / shards)
    assert lanesum.hash_tree(tmp_path / "tree", shards=tmp_path / "tree-shards").num_rows == 1


def test_linked_shards_are_skipped(tmp_path: Path) -> None:
    tree, shards = tmp_path / "tree", tmp_path / "around" / "shards"
    tree.mkdir()
    shards.mkdir(parents=True)
    (tree / "a").write_bytes(b"abc")
    (shards.parent / "b").write_bytes(b"abc")
    (tree / "link").symlink_to(shards)
    (tree / "around").symlink_to(shards.parent)
    (tree / "file").symlink_to(shards / "part-of-mine")
    (shards / "part-of-mine").write_bytes(b"abc")
    expected = [str(tree / name) for name in ("a", "around/b")]
    for links in (3, 5):
        table = lanesum.hash_tree(tree, follow=True, shards=shards)
        assert table.ok and table.column("path") == expected
        assert {what for _, what in table.skipped} == {"in the directory of shards"}
        assert len(table.skipped) == links
        (shards / "part-of-a-run").touch()
    with pytest.raises(ValueError, match="is in the tree"):
        lanesum.hash_tree(tmp_path, follow=True, shards=shards)


def test_a_pool_closed_during_the_run_is_not_waited_for(few: None, files: list[str]) -> None:
    free = threading.Event()
    executor = ThreadPoolExecutor(1)
    executor.submit(free.wait)
    tables: list[Files] = []
    work = threading.Thread(
        target=lambda: tables.append(lanesum.hash_files(files, executor=executor)), daemon=True
    )
    work.start()
    time.sleep(0.3)
    executor.shutdown(wait=False, cancel_futures=True)
    free.set()
    work.join(60)
    assert not work.is_alive()
    (table,) = tables
    assert len(table) == len(files)
    assert all(table.column("error"))


def test_surrogate_names_in_utf_8_match_the_table(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xc3\xa9"
    with open(name, "wb") as file:
        file.write(b"x")
    bytewise = os.fspath(tmp_path) + "/\udcc3\udca9"
    alone = lanesum.hash_files([bytewise])
    with ThreadPoolExecutor(1) as pool:
        assert list(lanesum.hash_files([bytewise, name], executor=pool)) == list(alone) * 2
        with pytest.raises(TypeError, match=r"paths\[1\] must be str, bytes or os.PathLike, not int"):
            lanesum.hash_files([bytewise, 1], executor=pool)  # type: ignore[list-item]


class Elsewhere(Executor):
    """Works in another directory, like a pool that was started there or a cluster."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        here = os.getcwd()
        os.chdir(self.folder)
        future: Future[object] = Future()
        try:
            future.set_result(pickle.loads(pickle.dumps(fn))(*args, **kwargs))
        finally:
            os.chdir(here)
        return future


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The directories of the workers and of this process. Both have a file `f` and a directory `shards`."""
    there, here = tmp_path / "there", tmp_path / "here"
    for folder, content in ((there, "other"), (here, "right")):
        (folder / "shards").mkdir(parents=True)
        (folder / "f").write_text(content)
        os.utime(folder / "f", (1, 1))
    monkeypatch.chdir(here)
    return there, here


def test_relative_paths_are_resolved_in_this_process(folders: tuple[Path, Path]) -> None:
    there, here = folders
    os.rmdir("shards")
    for paths in (["f"], [b"f"], ["./f", "../there/f", "", str(here / "f")]):
        table = lanesum.hash_files(paths, executor=Elsewhere(there))
        assert list(table) == list(lanesum.hash_files(paths))
    table = lanesum.hash_tree(".", executor=Elsewhere(there))
    assert list(table) == list(lanesum.hash_tree(".")) and table.column("path") == ["./f"]
    table = lanesum.hash_files(["f"], executor=Elsewhere(there))
    assert table.ok and table.column("md5") == [hashlib.md5(b"right").digest()]


def test_relative_shards_are_in_the_working_directory(folders: tuple[Path, Path]) -> None:
    there, _ = folders
    # So that it has settled.
    time.sleep(3.1)
    first = lanesum.hash_files(["f"], executor=Elsewhere(there), shards="shards")
    assert len(os.listdir("shards")) == 1 and os.listdir(there / "shards") == []
    with ThreadPoolExecutor(1) as pool:
        assert list(lanesum.hash_files(["f"], executor=pool, shards=b"shards")) == list(first)
    assert len(os.listdir("shards")) == 1


@cluster
@cluster
@pytest.mark.parametrize("context", ["fork", "forkserver"])
def test_a_program_that_workers_cannot_import_is_reported(tmp_path: Path, context: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing, sys, lanesum\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        f"with ProcessPoolExecutor(1, multiprocessing.get_context('{context}')) as pool:\n"
        "    print(lanesum.hash_files([sys.argv[0]], executor=pool).column('error'))\n"
    )
    found = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    guard = 'under `if __name__ == "__main__":`?'
    if context == "fork":
        assert found.stdout == "[None]\n", found.stderr
    else:
        assert guard in found.stdout, found.stdout + found.stderr


@pytest.mark.parametrize("has_come", [False, True])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_that_dies_first_blames_no_file(has_come: bool, method: str) -> None:
    # A name that no other pool uses.
    class WorkerCrashedError(Exception):
        pass

    class Pool(ProcessPoolExecutor):
        def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]
            future: Future[object] = Future()
            if "good" in args[0]:
                future.set_result("done")
            else:
                future.set_exception(WorkerCrashedError())
            return future

    tasks = [["good"], ["bad"]] if has_come else [["bad"]]
    told: list[str] = []
    pool = Pool(1, multiprocessing.get_context(method))
    _tasks.run(pool, lambda items: items, tasks, lambda items, why: told.append(why))
    (why,) = told
    assert why.startswith("its worker died: WorkerCrashedError")
    assert ("__main__" in why) == (method == "spawn" and not has_come)


@pytest.mark.parametrize("context", ["fork", "forkserver", "spawn"])
def test_a_pool_started_elsewhere_reads_the_working_directory(folders: tuple[Path, Path], context: str) -> None:
    there, here = folders
    os.chdir(there)
    with ProcessPoolExecutor(1, multiprocessing.get_context(context)) as executor:
        executor.submit(int).result()
        os.chdir(here)
        table = lanesum.hash_files(["f"], executor=executor)
    assert table.column("md5") == [hashlib.md5(b"right").digest()]


def test_a_replaced_file_is_an_error(tmp_path: Path) -> None:
    for name in ("a", "b", "grown", "empty"):
        (tmp_path / name).write_text(name if name != "empty" else "")
    paths = [str(tmp_path / name) for name in ("a", "b", "grown", "empty")]

    class OnAnotherMachine(Executor):
        def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]
            # Where `b` is another, `grown` grows, and `empty`, which may be the kernel's, is not.
            before = (tmp_path / "b").read_text()
            for name in ("b", "grown", "empty"):
                (tmp_path / name).write_text("another")
            future: Future[object] = Future()
            future.set_result(fn(*args, **kwargs))
            (tmp_path / "b").write_text(before)
            return future

    table = lanesum.hash_files(paths, executor=OnAnotherMachine())
    assert table.column("path") == paths and not table.ok
    assert table.column("error") == [None, "its worker read 7 bytes, but here the file has 1 bytes", None, None]
    assert [digest is None for digest in table.column("md5")] == [False, True, False, False]


def test_parquet_paths_are_relative_to_the_working_directory(folders: tuple[Path, Path]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    from lanesum import parquet

    there, here = folders
    for folder, value in ((there, "other"), (here, "right")):
        pyarrow.parquet.write_table(pyarrow.table({"id": [value]}), folder / "in")
    (part,) = parquet.hash_parquet("in", "id", "out", executor=Elsewhere(there))
    assert part.error is None and part.path == "in" and not (there / "out").exists()
    assert pyarrow.parquet.read_table(part.out).column("id_md5").to_pylist() == [hashlib.md5(b"right").digest()]
