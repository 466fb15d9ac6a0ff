"""The engine in a host process: ctrl-C, fork, and many calls."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lanesum

# Each waits for what never comes, or reads far more than ctrl-C leaves time for.
WAITING = {
    "hash_files of a FIFO": "lanesum.hash_files([fifo])",
    "hash_files of long files": "lanesum.hash_files([long] * 2000)",
    "hash_files of one long file": "lanesum.hash_files([long] * 200, ['sha1', 'sha512'], threads=1)",
    "hash_tree": "lanesum.hash_tree(tree, ['sha512', 'sha256', 'sha1'], threads=1)",
    "check": "lanesum.check(many)",
    "check of a FIFO": "lanesum.check(of_fifo)",
    "check by a FIFO": "lanesum.check(fifo)",
    "compare with a FIFO": "lanesum.compare(tree, fifo)",
    "etag of a FIFO": "lanesum.etag(fifo)",
    "compare": "lanesum.compare(sums, tree)",
    "etag": "lanesum.etags([long] * 2000)",
    "read_list of a FIFO": "lanesum.read_list(fifo)",
    "executor": "lanesum.hash_files([fifo], executor=concurrent.futures.ThreadPoolExecutor(1))",
}
# In a child, so that the signal is a real one; the time is the signal's until KeyboardInterrupt is
# caught.
SCRIPT = """
import concurrent.futures, os, sys, time
import lanesum
fifo, long, tree, many, sums, of_fifo = sys.argv[1:]
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print(time.monotonic_ns(), flush=True)
    try:
        os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        print("a reader, which would take what comes next", flush=True)
    except OSError:
        print("no reader", flush=True)
    os._exit(0)
print("ended too soon", flush=True)
"""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("inputs")
    fifo, long, tree = folder / "fifo", folder / "long", folder / "tree"
    os.mkfifo(fifo)
    with open(long, "wb") as file:
        file.truncate(1 << 30)
    tree.mkdir()
    for place in range(400):
        os.link(long, tree / str(place))
    lines = [f"SHA512 ({tree}/{place}) = {'0' * 128}\n" for place in range(400)]
    many, sums, of_fifo = folder / "many", folder / "sums", folder / "of fifo"
    many.write_text("".join(lines))
    sums.write_text("".join(line.replace(f"{tree}/", "") for line in lines))
    of_fifo.write_text(f"{'0' * 32}  {fifo}\n")
    return [str(path) for path in (fifo, long, tree, many, sums, of_fifo)]


@pytest.mark.parametrize("name", WAITING)
def test_control_c_interrupts_at_once(inputs: list[str], name: str) -> None:
    command = [sys.executable, "-c", SCRIPT.format(call=WAITING[name]), *inputs]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        begin = time.monotonic_ns()
        child.send_signal(signal.SIGINT)
        answer = child.stdout.readline().strip()
        assert answer.isdigit(), answer
        assert child.stdout.readline() == "no reader\n" or name == "executor"
    seconds = (int(answer) - begin) / 1e9
    print(f"{name}: {seconds:.3f} s")
    # 0.2 s is what is promised; a machine that is busy with other tests may need longer.
    assert seconds < 2


LONG = {
    "read_list": lambda: lanesum.read_list(b"900150983cd24fb0d6963f7d28e17f72  a\n" * 2_000_000),
    "hash_column of objects": lambda: lanesum.hash_column([memoryview(b"x")] * 4_000_000),
    "hash_column of long rows": lambda: lanesum.hash_column([bytes(1 << 20)] * 800),
}


@pytest.mark.parametrize("name", LONG)
def test_signals_are_handled_during_a_call(name: str) -> None:
    count = 0

    def handle(number: int, frame: object) -> None:
        nonlocal count
        count += 1

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    begin = time.monotonic()
    try:
        LONG[name]()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    seconds = time.monotonic() - begin
    print(f"{name}: {count} in {seconds:.2f} s")
    # Each 0.05 s, and at least twice in 0.2 s; a handler is called once for all that came before.
    assert count > seconds / 0.2


def test_the_engine_works_in_a_forked_child(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc" * 100_000)
    expected = [hashlib.md5(path.read_bytes()).digest()] * 10
    assert lanesum.hash_files([path] * 10).column("md5") == expected
    child = os.fork()
    if child == 0:
        os._exit(0 if lanesum.hash_files([path] * 10).column("md5") == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert lanesum.hash_files([path] * 10).column("md5") == expected


# In a process of its own: the memory of this one is that of all tests before.
CALLS = """
import os, resource, sys
import lanesum

a, missing, listed = (os.path.join(sys.argv[1], name) for name in ("a", "missing", "list"))

def calls(count):
    for _ in range(count):
        table = lanesum.hash_files([a, missing], threads=1)
        table.__arrow_c_stream__()
        list(table)
        lanesum.check(listed, threads=1)
        lanesum.read_list(listed)

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

def descriptors():
    return len(os.listdir("/proc/self/fd"))

calls(500)
before = resident(), descriptors()
calls(2500)
print(resident() - before[0], descriptors() - before[1], len(os.listdir("/proc/self/task")))
"""


def test_many_calls_leak_nothing(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(b"abc")
    lanesum.write_list(lanesum.hash_tree(tmp_path), tmp_path / "list")
    command = [sys.executable, "-c", CALLS, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    grown, descriptors, threads = map(int, run.stdout.split())
    assert grown < 4 << 20
    assert descriptors == 0
    assert threads < 40


def test_importing_is_fast_and_loads_no_other_library() -> None:
    code = (
        "import sys, time; begin = time.perf_counter(); import lanesum; lanesum.hash_files;"
        "print(time.perf_counter() - begin, *(set(sys.modules) & {'pyarrow', 'polars', 'pandas', 'numpy', 'tqdm'}))"
    )
    seconds, *others = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    print(f"import: {float(seconds) * 1000:.1f} ms")
    assert not others


def test_an_exception_from_a_signal_during_a_write_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"path": "a", "md5": bytes(16)}]
    replace = os.replace

    def replace_and_signal(before: str, after: str) -> None:
        replace(before, after)
        # Its handler has its turn when this returns.
        signal.raise_signal(signal.SIGINT)

    for number, error in enumerate((KeyboardInterrupt, TimeoutError)):

        def handle(*_: object, error: type[BaseException] = error) -> None:
            raise error

        whole = tmp_path / str(number)
        before = signal.signal(signal.SIGINT, handle)
        monkeypatch.setattr(os, "replace", replace_and_signal)
        try:
            with pytest.raises(error) as raised:
                lanesum.write_list(rows, whole)
        finally:
            signal.signal(signal.SIGINT, before)
            monkeypatch.undo()
        assert raised.value.args == ()
        assert whole.read_text() == f"{'0' * 32}  a\n"
    assert sorted(os.listdir(tmp_path)) == ["0", "1"]


INTERRUPTED = """
import os, random, signal, sys, time
import lanesum

folder = sys.argv[1]
rows, lists = [{"path": "a", "md5": bytes(16)}], [os.path.join(folder, name) for name in ("replaced", "overwritten")]
for path in lists:
    lanesum.write_list(rows, path)
# A file with another name is overwritten in place.
os.link(lists[1], os.path.join(folder, "another"))
took = time.perf_counter()
for path in lists * 20:
    lanesum.write_list(rows, path)
took = (time.perf_counter() - took) / 40
signal.signal(signal.SIGALRM, signal.default_int_handler)
descriptors = len(os.listdir("/proc/self/fd"))
interrupted, end = 0, time.monotonic() + 3
while time.monotonic() < end:
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 1.2 * took))
            lanesum.write_list(rows, lists[interrupted % 2])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        interrupted += 1
assert interrupted > 5, interrupted
assert len(os.listdir("/proc/self/fd")) == descriptors
assert len(os.listdir(folder)) == 3, os.listdir(folder)
"""


def test_interrupted_writes_leave_no_files(tmp_path: Path) -> None:
    program = [sys.executable, "-c", INTERRUPTED, tmp_path]
    found = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stderr
