"""Threads, forks, memory, other interpreters, and buffers that change during a call."""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

import lanesum


def test_one_object_is_used_by_many_threads() -> None:
    ours = lanesum.md5()
    piece = b"x" * 5000
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: ours.update(piece), range(400)))
    assert ours.digest() == hashlib.md5(piece * 400).digest()


def test_threads_hash_columns_at_once() -> None:
    columns = [pa.array([f"{thread}-{row}" for row in range(20_000)]) for thread in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda column: lanesum.hash_column(column, output="hex"), columns))
    for column, hashed in zip(columns, found, strict=True):
        assert hashed.to_pylist() == lanesum.hash_many(column.to_pylist(), output="hex")


def test_a_finaliser_may_use_the_object_that_is_updated() -> None:
    code = """
import gc, hashlib, lanesum
h, hits = lanesum.md5(), 0
class Finalised:
    def __del__(self):
        global hits
        hits += 1
        h.hexdigest()
data = memoryview(bytearray(8 << 20))
for threshold in range(1, 60):
    gc.disable()
    gc.collect()
    it = Finalised()
    it.itself = it
    del it
    gc.set_threshold(threshold, 1, 1)
    gc.enable()
    h.update(data)
    gc.disable()
assert hits > 10
assert h.digest() == hashlib.md5(data.tobytes() * 59).digest()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def others_run_during(work) -> bool:
    """Whether another thread gets the GIL while this one works."""
    # Nobody else's turn comes by itself meanwhile.
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    ran = threading.Event()
    begin = threading.Lock()
    begin.acquire()

    def other() -> None:
        with begin:
            ran.set()

    thread = threading.Thread(target=other)
    thread.start()
    try:
        begin.release()
        work()
        return ran.is_set()
    finally:
        sys.setswitchinterval(before)
        thread.join()


def test_the_gil_is_released_while_hashing() -> None:
    content = bytes(50_000_000)
    column = pa.array([content])
    table = pa.table({"a": [content.decode()]})
    assert others_run_during(lambda: lanesum.md5(content))
    assert others_run_during(lambda: lanesum.md5(bytearray(content)))
    assert others_run_during(lambda: lanesum.hash_many([content]))
    assert others_run_during(lambda: lanesum.hash_column(column))
    assert others_run_during(lambda: lanesum.surrogate_key(table))


def test_buffers_written_to_while_hashing() -> None:
    """Which digest comes is open; it is that of no other bytes than were there."""
    content = bytearray(4 << 20)
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            content[:] = b"x" * len(content)
            content[:] = b"y" * len(content)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(5):
            lanesum.md5(content)
            lanesum.hash_many([content])
    finally:
        stop.set()
        thread.join()
    assert lanesum.md5(content).digest() == hashlib.md5(content).digest()


def test_a_list_changed_while_hashing() -> None:
    messages = [b"%d" % number for number in range(200_000)]
    expected = [hashlib.md5(message).digest() for message in messages]
    thread = threading.Thread(target=messages.clear)
    thread.start()
    found = lanesum.hash_many(messages)
    thread.join()
    assert found in (expected, [])


def test_a_forked_child_can_hash() -> None:
    column = pa.array(["a", "b"] * 1000)
    before = lanesum.hash_column(column).to_pylist()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        digests = lanesum.hash_column(column).to_pylist()
        os.write(writing, b"same" if digests == before else b"else")
        os._exit(0)
    os.close(writing)
    assert os.read(reading, 4) == b"same"
    assert os.waitpid(child, 0)[1] == 0
    os.close(reading)


def test_other_interpreters_are_refused() -> None:
    script = """
import lanesum
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
other = interpreters.create()
code = '''
try:
    import lanesum
except ImportError as error:
    assert "subinterpreters" in str(error), error
else:
    assert lanesum.md5(b"abc").hexdigest() == "900150983cd24fb0d6963f7d28e17f72"
'''
problem = interpreters.run_string(other, code)
assert problem is None, problem
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd="/")


def resident() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def test_repeated_work_leaks_no_memory() -> None:
    column = pa.array(["x" * 40] * 500)
    messages = ["x" * 40] * 100 + [bytearray(b"y" * 40)] * 10
    table = pa.table({"a": column, "b": column})

    def work() -> None:
        ours = lanesum.md5(b"abc")
        ours.update(bytearray(3000))
        ours.copy().hexdigest()
        lanesum.siphash24(b"abc", key=bytes(16)).intdigest()
        lanesum.hash_many(messages, output="hex")
        pa.array(lanesum.hash_column(column, output="hex"))
        pa.chunked_array(lanesum.hash_column(column))
        lanesum.hash_column(column).to_pylist()
        lanesum.surrogate_key(table)
        for bad in (lambda: lanesum.md5("text"), lambda: lanesum.hash_column([1.5])):
            with pytest.raises(TypeError):
                bad()

    for _ in range(1000):
        work()
    before = resident()
    for _ in range(10_000):
        work()
    # One object of 100 bytes lost in each round would be a megabyte.
    assert resident() - before < 700_000


def within(megabytes: int, given: str, work: str) -> str:
    """Returns the result of work with a limit on the memory in addition to its input."""
    script = f"""
import pickle, resource, numpy as np, pyarrow as pa, lanesum
lanesum.hash_files, lanesum.read_list
given = {given}
# Modules that are imported late are already loaded.
lanesum.surrogate_key([lanesum.hash_column(["a"], "siphash24", key=bytes(16), output="uint64")])
with open("/proc/self/statm") as statm:
    used = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + ({megabytes} << 20),) * 2)
try:
    print(len({work}))
except MemoryError:
    print("MemoryError")
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd="/")
    return run.stdout.strip() or run.stderr


def test_too_many_numbers_are_a_memory_error() -> None:
    for kind in (np.int64, np.uint64):
        numbers = np.broadcast_to(kind(1), 10**15)
        with pytest.raises(MemoryError):
            lanesum.hash_column(numbers, "siphash24", key=bytes(16))
        with pytest.raises(MemoryError):
            lanesum.surrogate_key([numbers])


@pytest.mark.parametrize(
    "given",
    [
        '["a" * (10 << 20)] * 100',
        '[b"a" * (10 << 20)] * 100',
        '[bytearray(10 << 20)] * 100',
        '["é" * (5 << 20)] * 100',
        'np.broadcast_to(np.bytes_(b"a" * 100), 10_000_000)',
    ],
)
def test_too_many_objects_are_a_memory_error(given: str) -> None:
    work = 'lanesum.hash_column(given, "siphash24", key=bytes(16))'
    assert within(200, given, work) == "MemoryError"
    if given[1] != "b":
        assert within(200, given, "lanesum.surrogate_key([given])") == "MemoryError"


@pytest.mark.parametrize("of", ["1", "True", '"a"', "None"])
def test_too_many_rows_are_a_memory_error(of: str) -> None:
    # A tuple of them has as many bytes as the list, and numbers and texts have these once more.
    for megabytes in (40, 90) if of != "True" else (40,):
        assert within(megabytes, f"[{of}] * 10_000_000", "lanesum.surrogate_key([given])") == "MemoryError"


def test_objects_are_hashed_in_little_memory() -> None:
    for of in ('"a"', 'b"a"'):
        # It has 286 MiB, and its digests 5.
        assert within(310, f"[{of} * 1000] * 300_000", "lanesum.hash_column(given)") == "300000"


@pytest.mark.parametrize(
    "megabytes, given, work",
    [
        (28, "[str(i) for i in range(500_000)]", "lanesum.hash_many(given)"),
        (20, "[str(i) for i in range(500_000)]", "lanesum.hash_many(given, 'siphash24', key=bytes(16), output='uint64')"),
        (6, "lanesum.hash_column([str(i) for i in range(500_000)], output='hex')", "given.to_pylist()"),
        (30, "pa.DictionaryArray.from_arrays(pa.array(np.zeros(3_000_000, 'i4')), ['a', 'b'])", "lanesum.hash_column(given)"),
        (6, "lanesum.hash_column([str(i) for i in range(1_000_000)])", "pickle.dumps(given)"),
        (8, "pickle.dumps(lanesum.hash_column([str(i) for i in range(1_000_000)]))", "pickle.loads(given)"),
        (16, r"b''.join(b'%032x  a/long/name/of/file%d\n' % (i, i) for i in range(300_000))", "lanesum.read_list(given)"),
    ],
    ids=["digests", "numbers", "list", "dictionary", "pickle", "unpickle", "records"],
)
def test_results_beyond_memory_are_a_memory_error(megabytes: int, given: str, work: str) -> None:
    assert within(megabytes, given, work) == "MemoryError"


def test_only_referenced_dictionary_values_become_text() -> None:
    given = "pa.DictionaryArray.from_arrays(pa.array([0, None, 7], pa.int32()), pa.array(np.arange(5_000_000)))"
    assert within(64, given, "lanesum.surrogate_key([given])") == "3"
    column = pa.DictionaryArray.from_arrays([0, None, 2, 3], pa.array([5, 6, None, 8, 9]))
    expected = lanesum.surrogate_key([["5", None, None, "8"]])
    assert lanesum.surrogate_key([column]).to_pylist() == expected.to_pylist()


def test_values_of_dictionaries_are_not_copied_for_each_row() -> None:
    given = 'pa.DictionaryArray.from_arrays(pa.array([0, None] * 1000), pa.array(["a" * (4 << 20)]))'
    for work in ("lanesum.hash_column(given)", "lanesum.surrogate_key([given])"):
        assert within(100, given, work) == "2000"
    given = given.replace(" * 1000", " * 2").replace("4 << 20", "40 << 20")
    assert within(100, given, "lanesum.surrogate_key([given] * 10)") == "MemoryError"


@pytest.mark.parametrize(
    "column, work",
    [
        ('pa.chunked_array([pa.array(["x" * 1000] * 4200)] * 2000)', "lanesum.hash_column(column)"),
        ("lanesum.hash_column(pa.nulls(50_000_000, pa.string()), returns='arrow')", "column.to_pylist()"),
    ],
)
def test_control_c_ends_a_long_column(column: str, work: str) -> None:
    script = f"""
import pyarrow as pa, lanesum, signal, time
signal.signal(signal.SIGALRM, signal.default_int_handler)
column = {column}
begin = time.monotonic()
{work}
whole = time.monotonic() - begin
signal.setitimer(signal.ITIMER_REAL, whole / 8)
begin = time.monotonic()
try:
    {work}
except KeyboardInterrupt:
    print("stopped" if time.monotonic() - begin < whole / 2 else "stopped too late")
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd="/")
    assert run.stdout == "stopped\n", run.stderr


def test_importing_is_fast_and_loads_nothing_else() -> None:
    script = """
import sys, time
begin = time.process_time()
import lanesum
print(time.process_time() - begin)
heavy = {"pyarrow", "numpy", "pandas", "polars", "asyncio", "multiprocessing"} & set(sys.modules)
assert not heavy, heavy
assert set(lanesum.__all__) <= set(dir(lanesum))
try:
    lanesum.nothing
except AttributeError as error:
    assert "nothing" in str(error)
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd="/", capture_output=True)


@pytest.mark.parametrize("size", [100, (256 << 10) + 1, 1 << 20])
def test_buffers_leak_no_objects(size: int) -> None:
    buffer = bytearray(size)
    for _ in range(50):
        lanesum.md5(buffer)
    before = sys.getallocatedblocks()
    for _ in range(200):
        lanesum.md5(buffer)
    assert sys.getallocatedblocks() - before < 100
