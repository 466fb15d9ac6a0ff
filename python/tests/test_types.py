"""Type checks of code that uses lanesum."""

from __future__ import annotations

import pathlib
import subprocess
import sys

CONFIGURATION = pathlib.Path(__file__).parent.parent / "pyproject.toml"

GOOD = """
import hashlib, io, pathlib
import lanesum

one: bytes = lanesum.md5(b"abc", usedforsecurity=False).digest()
two: int = lanesum.siphash24(bytearray(b"abc"), key=bytes(16)).intdigest()
hashlib.file_digest(io.BytesIO(b""), lanesum.md5)
three: list[bytes] = lanesum.hash_many(["a", b"b", memoryview(b"c")])
four: list[str] = lanesum.hash_many(("a",), output="hex")
five: list[int] = lanesum.hash_many(["a"], "siphash24", key=bytes(16), output="uint64")
column: lanesum.Column = lanesum.hash_column(["a", None], output="hex")
lanesum.hash_column(column)
lanesum.surrogate_key({"a": ["x"]})
output: str = "hex"
some: list[bytes] | list[str] | list[int] = lanesum.hash_many(["a"], output=output)
row: bytes | str | int | None = column[0]
lanesum.hash_tree("a", "blake3", exclude=pathlib.Path("a"), key=bytearray(32))
lanesum.compare("a", "b", exclude=b"a")
lanesum.check("a", key=memoryview(bytes(16)))
lanesum.md5(string=b"abc")
"""

BAD = """
import lanesum

lanesum.md5("text")
lanesum.siphash24(b"abc")
lanesum.hash_many([1])
lanesum.hash_column(7)
lanesum.hash_column([], output="bytes")
"""


def problems(code: str, folder: pathlib.Path) -> list[str]:
    (folder / "code.py").write_text(code)
    command = [sys.executable, "-m", "mypy", "--config-file", CONFIGURATION, "code.py"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    return [line for line in run.stdout.splitlines() if ": error: " in line]


def test_types_of_good_code_hold(tmp_path: pathlib.Path) -> None:
    assert problems(GOOD, tmp_path) == []


def test_wrong_code_is_rejected(tmp_path: pathlib.Path) -> None:
    lines = {int(problem.split(":")[1]) for problem in problems(BAD, tmp_path)}
    assert lines == {4, 5, 6, 7, 8}


def test_columns_are_what_polars_takes(tmp_path: pathlib.Path) -> None:
    code = 'import lanesum\nimport polars\n\npolars.Series(lanesum.hash_column(["a"]))\n'
    assert problems(code, tmp_path) == []
