"""The command that comes with the package: the program itself, with its own streams, signals and exit codes."""

import hashlib
import importlib.metadata
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

COMMAND = os.path.join(sysconfig.get_path("scripts"), "lanesum")
pytestmark = pytest.mark.skipif(not os.path.exists(COMMAND), reason="the package was installed without its command")
WAYS = {"command": [COMMAND], "module": [sys.executable, "-m", "lanesum"]}


@pytest.fixture(params=WAYS)
def lanesum(request: pytest.FixtureRequest) -> list[str]:
    return WAYS[request.param]


def run(*command: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **options)


def test_version_is_that_of_the_package(lanesum: list[str]) -> None:
    assert run(*lanesum, "--version").stdout.decode() == f"lanesum {importlib.metadata.version('lanesum')}\n"


def test_lists_are_made_and_checked(lanesum: list[str], tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    made = run(*lanesum, "-o", "list", "a", cwd=tmp_path)
    assert made.returncode == 0 and (tmp_path / "list").read_text() == f"{hashlib.md5(b'abc').hexdigest()}  a\n"
    assert run(*lanesum, "check", "list", cwd=tmp_path).stdout == b"a: OK\n"
    (tmp_path / "a").write_bytes(b"other")
    assert run(*lanesum, "check", "list", cwd=tmp_path).returncode == 1
    assert run(*lanesum, "--no-such-option").returncode == 2
    assert run(*lanesum, "md5sum", "a", cwd=tmp_path).stdout.endswith(b"  a\n")


def test_a_closed_pipe_ends_the_program_by_signal(lanesum: list[str], tmp_path: Path) -> None:
    for place in range(5000):
        (tmp_path / f"{place:0200}").touch()
    with subprocess.Popen([*lanesum, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.read(100)
        child.stdout.close()
        assert child.wait() == -signal.SIGPIPE


def test_control_c_ends_the_program_by_signal(lanesum: list[str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    child = subprocess.Popen([*lanesum, str(tmp_path / "fifo")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    assert child.wait() == -signal.SIGINT


def test_a_closed_stream_is_an_error() -> None:
    found = run("sh", "-c", f"exec '{COMMAND}' /dev/null >&-")
    assert found.returncode == 1 and b"write error" in found.stderr
