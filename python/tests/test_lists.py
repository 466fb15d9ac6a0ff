"""Lists: what check and compare say is what the program's exit code says; what is written is read again."""

import errno
import hashlib
import io
import os
import subprocess
import sys
import sysconfig
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lanesum
from lanesum import _lanesum

ABC = hashlib.md5(b"abc").hexdigest()
# The output of `aws s3api head-object`.
HEAD = f'{{"ContentLength": 3, "ETag": "\\"{ABC}\\""}}\n'.encode()
BOTH = {"path": "p", "md5": ABC, "sha1": "0" * 40}
SETTINGS = settings(max_examples=100)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"abc")
    return tmp_path


# Lines of which each, and each mixture, is judged as the program judges it.
LINES = {
    "match": f"{ABC}  a",
    "mismatch": f"{'0' * 32}  b",
    "missing": f"{ABC}  gone",
    "folder": f"{ABC}  .",
    "malformed": "no checksum line",
    "unknown": f"MD6 (a) = {ABC}",
    "comment": "# words",
    "blank": "",
    "stdin": f"{ABC}  -",
    "tagged": f"SHA1 (a) = {hashlib.sha1(b'abc').hexdigest()}",
    "parts": f"{ABC}-2  a",
}


def program(*arguments: str) -> int:
    """The exit code of the command that came with the package."""
    command = os.path.join(sysconfig.get_path("scripts"), "lanesum")
    if not os.path.exists(command):
        pytest.skip("the package was installed without its command")
    return subprocess.run([command, *arguments], stdin=subprocess.DEVNULL, capture_output=True).returncode


@SETTINGS
@given(
    st.lists(st.sampled_from(sorted(LINES)), max_size=6),
    st.sets(st.sampled_from(["strict", "ignore_missing"])),
    st.booleans(),
)
def test_ok_is_the_programs_exit_code(folder: Path, kinds: list[str], options: set[str], is_second: bool) -> None:
    Path("list").write_text("".join(LINES[kind] + "\n" for kind in kinds))
    Path("good").write_text(LINES["match"] + "\n")
    lists = ["list", "good"] if is_second else ["list"]
    found = lanesum.check(lists, **dict.fromkeys(options, True))
    flags = [f"--{option.replace('_', '-')}" for option in sorted(options)]
    assert found.ok == (program("check", *flags, *lists) == 0), found.problems
    assert found.ok == (not found.failures() and not found.problems) or found.ok, "a failure is named"
    if not found.ok:
        with pytest.raises(lanesum.FailuresError):
            found.raise_for_failures()


def test_verdicts_of_a_list(folder: Path) -> None:
    Path("list").write_text("\n".join(LINES[kind] for kind in ("match", "mismatch", "missing", "malformed", "unknown")))
    found = lanesum.check("list")
    assert not found.ok
    rows = [(row["path"], row["verdict"], row["line"], row["reason"]) for row in found]
    assert sorted(rows, key=str) == sorted(
        [
            ("a", "match", None, None),
            ("b", "mismatch", None, None),
            ("gone", "unreadable", None, "No such file or directory"),
            (None, "malformed", 4, "not a checksum line"),
            (None, "unknown", 5, "not checked: unknown algorithm MD6"),
        ],
        key=str,
    )
    assert found.column("list") == ["list"] * 5
    assert found.counts["match"] == 1 and found.counts["bad_lists"] == 0


def test_an_empty_check_is_not_ok(folder: Path) -> None:
    Path("list").write_text("# nothing\n")
    found = lanesum.check("list")
    assert not found.ok and found.num_rows == 0 and found.problems
    with pytest.raises(lanesum.FailuresError, match="nothing was checked"):
        found.raise_for_failures()
    Path("list").write_text(LINES["missing"] + "\n")
    found = lanesum.check("list", ignore_missing=True)
    assert not found.ok and found.column("verdict") == ["missing"] and "all of the listed files are missing" in found.problems[0]


def test_names_are_relative_to_the_root(folder: Path) -> None:
    (folder / "below").mkdir()
    Path("below/list").write_text(f"{ABC}  /a\n")
    assert lanesum.check("below/list", root=".").ok
    assert lanesum.check(["below/list"], folder).ok
    assert not lanesum.check("below/list").ok


def test_a_list_may_be_keyed(folder: Path) -> None:
    table = lanesum.hash_files(["a"], "blake3", key=bytes(32))
    lanesum.write_list(table, "list", "tag")
    assert lanesum.check("list", key=bytes(32)).ok
    assert not lanesum.check("list", key=bytes(31) + b"x").ok


@pytest.mark.parametrize("format", ["gnu", "tag", "hashdeep", "md5deep", "bagit", "csv", "json", "jsonl"])
def test_written_lists_are_read_and_checked(folder: Path, format: str) -> None:
    algorithm = "sha512" if format == "bagit" else "md5"
    table = lanesum.hash_files(["a", "b"], algorithm)
    lanesum.write_list(table, "list", format)
    again = lanesum.read_list("list", None if format != "bagit" else "bagit", algorithm=None)
    assert again.column("path") == ["a", "b"] and again.column(algorithm) == table.column(algorithm)
    assert lanesum.check("list", from_=format).ok
    if format in ("csv", "json", "jsonl"):
        assert again.column("modified") == table.column("modified") and again.column("size") == [3, 3]


def test_several_algorithms_share_one_row(folder: Path) -> None:
    table = lanesum.hash_files(["a", "b"], ["md5", "sha256", "crc32"])
    buffer = io.BytesIO()
    lanesum.write_list(table, buffer, "tag")
    again = lanesum.read_list(buffer.getvalue())
    assert [row["sha256"] for row in again] == table.column("sha256") and again.num_rows == 2
    assert lanesum.read_list(io.BytesIO(buffer.getvalue())).column("crc32") == table.column("crc32")


NAMES = st.binary(min_size=1, max_size=30).filter(lambda name: b"\0" not in name)


@SETTINGS
@given(st.lists(NAMES, min_size=1, max_size=10, unique=True), st.sampled_from(["gnu", "tag", "csv", "jsonl"]))
def test_names_of_any_bytes_round_trip(tmp_path: Path, names: list[bytes], format: str) -> None:
    rows = [{"path": name, "md5": hashlib.md5(name).hexdigest()} for name in names]
    buffer = io.BytesIO()
    lanesum.write_list(rows, buffer, format)
    again = lanesum.read_list(buffer.getvalue(), format)
    assert [os.fsencode(path) for path in again.column("path")] == names
    assert again.column("md5") == [hashlib.md5(name).digest() for name in names]


def test_rows_of_other_libraries_are_written(folder: Path) -> None:
    table = lanesum.hash_files(["a", "b"])
    expected = io.BytesIO()
    lanesum.write_list(table, expected, "csv")
    for rows in (table.to_pyarrow(), table.to_polars(), list(table), table.to_pyarrow().to_pylist()):
        buffer = io.BytesIO()
        lanesum.write_list(rows, buffer, "csv")
        if not hasattr(rows, "to_dicts") and not hasattr(rows, "to_pylist") or hasattr(rows, "to_pylist"):
            assert buffer.getvalue()[:40] == expected.getvalue()[:40]
        assert lanesum.read_list(buffer.getvalue()).column("md5") == table.column("md5")


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda: lanesum.check("nowhere"), FileNotFoundError, "nowhere"),
        (lambda: lanesum.check([]), ValueError, "lists is empty"),
        (lambda: lanesum.check(5), TypeError, "lists must be a path or several, not int"),
        (lambda: lanesum.compare("list", 5), TypeError, "b must be a path, not int"),
        (lambda: lanesum.write_list([{"path": "p", "md5": ABC}], 5), TypeError, "path must be a path, not int"),
        (lambda: lanesum.check("list", root="a"), NotADirectoryError, "a"),
        (lambda: lanesum.check("list", root="nowhere"), FileNotFoundError, "nowhere"),
        (lambda: lanesum.check("list", from_="nosuch"), ValueError, "nosuch"),
        (lambda: lanesum.check("list", algorithm="md6"), ValueError, "md6"),
        (lambda: lanesum.check(["list", 5]), TypeError, r"lists\[1\] must be a path, not int"),
        (lambda: lanesum.check("list", from_=5), TypeError, "from_ must be a str, not int"),
        (lambda: lanesum.check("list", name=5), TypeError, "name must be a path, not int"),
        (lambda: lanesum.check("list", algorithm=b"md5"), TypeError, "algorithm must be a str, not bytes"),
        (lambda: lanesum.check("list", strict="no"), TypeError, "strict must be a bool, not str"),
        (lambda: lanesum.check("list", ignore_missing=None), TypeError, "ignore_missing must be a bool"),
        (lambda: lanesum.compare(".", ".", quick="no"), TypeError, "quick must be a bool, not str"),
        (lambda: lanesum.compare(".", ".", algorithm=5), TypeError, "algorithm must be a str, not int"),
        (lambda: lanesum.read_list("list", zero="no"), TypeError, "zero must be a bool, not str"),
        (lambda: lanesum.check("list", part_size="huge"), ValueError, "huge"),
        (lambda: lanesum.check("list", part_size=[1.5]), TypeError, "float"),
        (lambda: lanesum.compare("nowhere", "."), FileNotFoundError, "nowhere"),
        (lambda: lanesum.compare(".", "binary"), ValueError, "binary"),
        (lambda: lanesum.compare(".", ".", algorithm="siphash24"), ValueError, "keyed"),
        (lambda: lanesum.check(["list", "."]), IsADirectoryError, "'.'$"),
        (lambda: lanesum.read_list("list", zero=True), ValueError, "list: its lines end with newlines; leave out zero=True"),
        (lambda: lanesum.read_list(b"\0".join([LINES["match"].encode()] * 2)), ValueError, "end with NUL; use zero=True"),
        (lambda: lanesum.read_list(HEAD, "s3"), ValueError, "no file name: .*; if it is about one object, name= names its file"),
        (lambda: lanesum.compare("list", ".", zero=True), ValueError, "list: .* leave out zero=True"),
        (lambda: lanesum.compare("keyed", "."), ValueError, r"keyed: siphash24 needs the key .*; use check\(\) with key="),
        (lambda: lanesum.read_list("nowhere"), FileNotFoundError, "nowhere"),
        (lambda: lanesum.read_list("."), IsADirectoryError, "."),
        (lambda: lanesum.read_list("binary"), ValueError, "binary"),
        (lambda: lanesum.read_list(b"no list\n"), ValueError, "line 1"),
        (lambda: lanesum.read_list(f"{LINES['match']}\n{LINES['unknown']}\n".encode()), ValueError, "line 2: unknown algorithm MD6"),
        (lambda: lanesum.read_list(io.StringIO("text")), TypeError, "bytes"),
        (lambda: lanesum.read_list(5), TypeError, "int"),
        (lambda: lanesum.write_list([], "out"), ValueError, "no rows"),
        (lambda: lanesum.write_list(5, "out"), TypeError, "int"),
        (lambda: lanesum.write_list(["a"], "out"), TypeError, "str"),
        (lambda: lanesum.write_list([{"md5": b"x"}], "out"), ValueError, "no path"),
        (lambda: lanesum.write_list([{"path": "p"}], "out"), ValueError, "no digest"),
        (lambda: lanesum.write_list([{"path": "p", "md5": b"x"}], "out"), ValueError, "16 bytes"),
        (lambda: lanesum.write_list([{"path": "p", "md5": "x"}], "out"), ValueError, "hexadecimal"),
        (lambda: lanesum.write_list([{"path": "p", "md5": ABC}], "out", "nosuch"), ValueError, "nosuch.*json, jsonl"),
        (lambda: lanesum.write_list([BOTH], "out"), ValueError, '"gnu" has one digest per file; choose it with algorithms='),
        (lambda: lanesum.write_list([BOTH], "out", algorithms="sha256"), ValueError, "p: lacks sha256, .*; it has md5, sha1"),
        (lambda: lanesum.write_list([BOTH], "out", algorithms="sha3"), ValueError, 'unknown algorithm "sha3"; use one of md5'),
        (lambda: lanesum.write_list([BOTH], "out", algorithms=[]), ValueError, "algorithms is empty; pass at least one"),
        (lambda: lanesum.write_list([BOTH], "out", "tag", algorithms=["sha1", "SHA1"]), ValueError, "sha1 occurs twice"),
        (lambda: lanesum.write_list([BOTH], io.StringIO()), TypeError, "open for writing bytes"),
        (lambda: lanesum.write_list([{"path": "p", "md5": ABC}], "out", 5), TypeError, "format must be a str, not int"),
        (lambda: lanesum.write_list([{"path": "p", "md5": ABC}], "out", "s3"), ValueError, "can only be read"),
        (lambda: lanesum.write_list([{"path": "p", "md5": ABC}], "no/out"), FileNotFoundError, "'no/out'$"),
        (lambda: lanesum.write_list([{"path": "p", "md5": ABC}], "/dev/full"), OSError, "No space.*: '/dev/full'$"),
        (lambda: lanesum.write_list(lanesum.hash_files(["nowhere"]), "out"), ValueError, "nowhere: No such file"),
    ],
)
def test_invalid_arguments_raise_standard_exceptions(
    folder: Path, call: object, kind: type[Exception], words: str
) -> None:
    Path("list").write_text(LINES["match"] + "\n")
    Path("binary").write_bytes(bytes(range(32)) * 100)
    lanesum.write_list(lanesum.hash_files(["a"], "siphash24", key=bytes(16)), "keyed", "tag")
    with pytest.raises(kind, match=words):
        call()
    assert not Path("out").exists() and not [name for name in os.listdir() if name.endswith(".tmp")]


def test_a_descriptor_is_refused_as_path(folder: Path) -> None:
    Path("list").write_text(LINES["match"] + "\n")
    reader, writer = os.pipe()
    for call in (lambda: lanesum.read_list(reader), lambda: lanesum.check("list", root=reader)):
        with pytest.raises(TypeError, match="not int"):
            call()
    os.write(writer, b"x")
    assert os.read(reader, 1) == b"x"
    os.close(reader)
    os.close(writer)


@pytest.mark.parametrize("name", ["\u65e5" * 80, "\U0001f600" * 63, os.fsdecode(b"\xff" * 250), "a" * 255])
def test_a_list_may_have_any_valid_name(folder: Path, name: str) -> None:
    for _ in range(2):
        lanesum.write_list([{"path": "a", "md5": ABC}], name)
        assert (folder / name).read_text() == f"{ABC}  a\n"


@pytest.mark.parametrize("name", ["", "new/", "folder/", "file/", "new/.", "folder/..", b"", b"new/", "nowhere/new/"])
def test_an_invalid_list_name_fails_as_open_does(folder: Path, name: str | bytes) -> None:
    (folder / "folder").mkdir()
    (folder / "file").touch()
    before = sorted(os.listdir())
    with pytest.raises(OSError) as theirs:
        open(name, "wb")
    with pytest.raises(type(theirs.value)) as ours:
        lanesum.write_list([{"path": "a", "md5": ABC}], name)
    assert (ours.value.errno, ours.value.filename) == (theirs.value.errno, name)
    assert sorted(os.listdir()) == before and (folder / "file").read_bytes() == b""


def test_a_list_is_replaced_atomically_and_keeps_its_mode(folder: Path) -> None:
    out = folder / "out"
    out.write_text("before")
    out.chmod(0o640)
    lanesum.write_list([{"path": "p", "md5": ABC, "size": 3}], out, "csv")
    assert out.stat().st_mode & 0o777 == 0o640 and out.read_text().startswith("path,size,md5")


@SETTINGS
@given(st.dictionaries(st.sampled_from("abcdef"), st.binary(max_size=3)), st.dictionaries(st.sampled_from("abcdef"), st.binary(max_size=3)), st.booleans())
def test_compare_is_ok_as_in_the_program(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, bytes], now: dict[str, bytes], quick: bool
) -> None:
    sides = []
    for files in (before, now):
        side = tmp_path_factory.mktemp("side")
        sides.append(side)
        for name, content in files.items():
            (side / name).write_bytes(content)
            os.utime(side / name, (1, 1))
    found = lanesum.compare(*sides, quick=quick)
    flags = ["--quick"] if quick else []
    assert found.ok == (program("compare", *flags, *map(str, sides)) == 0)
    if not quick:
        assert found.ok == (before == now and bool(before))
        classes = dict(zip(found.column("path"), found.column("class")))
        for name in before.keys() & now.keys():
            assert (classes[name] == "equal") == (before[name] == now[name])


def test_a_list_is_compared_with_a_tree(folder: Path) -> None:
    tree = folder / "tree"
    tree.mkdir()
    for name in "abc":
        (tree / name).write_text(name)
    lanesum.write_list([{**row, "path": os.path.basename(row["path"])} for row in lanesum.hash_tree(tree)], "list")
    assert lanesum.compare("list", tree).ok
    (tree / "a").rename(tree / "z")
    (row,) = lanesum.compare("list", tree).failures()
    assert (row["class"], row["from"], row["path"]) == ("moved", "a", "z")
    Path("list").write_text("nothing of the kind\n")
    found = lanesum.compare("list", tree)
    assert not found.ok and found.problems and found.num_rows == 0


def test_every_format_has_a_name() -> None:
    assert {"gnu", "tag", "csv", "s3"} <= {name for name, _ in _lanesum.formats()}
    assert sys.version_info >= (3, 11)


def test_an_empty_list_among_several_is_named(folder: Path) -> None:
    (folder / "full").write_text(f"{ABC}  a\n")
    (folder / "empty").touch()
    (folder / "none").write_text("words\n")
    table = lanesum.check(["full", "empty"])
    assert table.ok and table.problems == ["empty: the list is empty"]
    strict = lanesum.check(["full", "empty"], strict=True)
    assert not strict.ok and strict.problems == ["empty: the list is empty"]
    (folder / os.fsdecode(b"empty\xff")).write_text("# nothing\n")
    assert lanesum.check(["full", b"empty\xff"]).problems == ["empty\ufffd: the list is empty"]
    assert lanesum.check("empty").problems == ["nothing was checked: the lists contain no checksum lines"]
    assert lanesum.check(["full", "full"]).problems == []
    (problem,) = lanesum.check(["full", "none"]).problems
    assert problem.startswith("none: ")


def test_an_invalid_line_fails_if_strict_or_truncated(folder: Path) -> None:
    (folder / "odd").write_text(f"{ABC}  a\n{ABC[:20]}\n")
    table = lanesum.check("odd")
    assert table.ok and table.problems and table.counts["malformed"] == 1
    assert not lanesum.check("odd", strict=True).ok
    (folder / "cut").write_text(f"{ABC}  a\n{ABC[:20]}")
    assert not lanesum.check("cut").ok


def test_a_requested_algorithm_must_be_present(folder: Path) -> None:
    rows = [{"path": "a", "md5": ABC, "sha1": "0" * 40}, {"path": "b", "md5": ABC}]
    with pytest.raises(ValueError, match="b: lacks sha1"):
        lanesum.write_list(rows, folder / "list", "tag", algorithms=["md5", "sha1"])
    assert not (folder / "list").exists()
    lanesum.write_list(rows, folder / "list", "tag")
    assert lanesum.read_list(folder / "list").column("md5") == [bytes.fromhex(ABC)] * 2


def test_algorithm_names_are_those_of_hash_tree(folder: Path) -> None:
    lanesum.write_list([BOTH], "list", algorithms="SHA1")
    assert (folder / "list").read_text() == f"{'0' * 40}  p\n"
    wide = lanesum.hash_files(["a"], "siphash24_128", key=bytes(16))
    lanesum.write_list(wide, "list", "tag", algorithms="siphash24_128")
    assert lanesum.check("list", key=bytes(16)).ok


def test_invalid_sides_are_reported_without_an_exception(folder: Path) -> None:
    (folder / "tree").mkdir()
    (folder / "empty").touch()
    (folder / "bad").write_text(f"{ABC}  a\nwords\n")
    (folder / "worse").write_text("words\nwords\n")
    for side, algorithm, words in (
        ("empty", None, "empty: contains no checksum lines; a side must be a list or a directory"),
        ("a", None, "a: line 1: not a checksum line"),
        ("bad", None, "bad: line 2: not a checksum line"),
        ("bad", "sha1", "bad: 2 invalid lines; first: line 1: "),
        ("worse", None, "worse: 2 invalid lines; first: line 1: not a checksum line"),
    ):
        found = lanesum.compare(side, "tree", algorithm=algorithm)
        assert not found.ok and found.problems[0].startswith(words), found.problems


def test_lines_are_counted_in_words(folder: Path) -> None:
    for count, words in ((1, "1 line is not a checksum line"), (2, "2 lines are not checksum lines")):
        Path("list").write_text(f"{LINES['match']}\n" + "words\n" * count)
        assert lanesum.check("list").problems == [f"list: {words}"]
        Path("list").write_text(f"{LINES['match']}\n" + f"{LINES['unknown']}\n" * count)
        (problem,) = lanesum.check("list").problems
        assert problem == f"list: {count} line{'s' * (count - 1)} not checked: unknown algorithm MD6"


def test_an_unreadable_list_raises(folder: Path) -> None:
    Path("list").write_text(LINES["match"] + "\n")
    os.chmod("list", 0)
    os.chmod(folder, 0o755)
    child = os.fork()
    if child == 0:
        # Root reads everything.
        if os.geteuid() == 0:
            os.seteuid(65534)
        try:
            lanesum.check(["list"])
        except OSError as error:
            os._exit(0 if (error.errno, error.filename) == (errno.EACCES, "list") else 1)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def test_a_list_in_a_pipe(folder: Path) -> None:
    with subprocess.Popen(["printf", f"{ABC}  a\\n"], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert lanesum.read_list(f"/dev/fd/{child.stdout.fileno()}").column("path") == ["a"]


def test_no_files_are_ok(folder: Path) -> None:
    (folder / "none").mkdir()
    assert lanesum.hash_files([]).ok and lanesum.hash_tree("none").ok


def test_links_and_devices_are_kept_when_written_to(tmp_path: Path) -> None:
    """Links lead where they led, names of one file are names of one file, and a device stays one."""
    rows = [{"path": "a", "md5": hashlib.md5(b"").digest()}]
    lanesum.write_list(rows, tmp_path / "expected")
    expected = (tmp_path / "expected").read_bytes()
    target = tmp_path / "target"
    target.write_bytes(b"x" * 500)
    (tmp_path / "link").symlink_to("target")
    lanesum.write_list(rows, tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and target.read_bytes() == expected
    (tmp_path / "dangling").symlink_to("made")
    lanesum.write_list(rows, tmp_path / "dangling")
    assert (tmp_path / "dangling").is_symlink() and (tmp_path / "made").read_bytes() == expected
    os.link(target, tmp_path / "other")
    target.write_bytes(b"x" * 500)
    lanesum.write_list(rows, target)
    assert (tmp_path / "other").read_bytes() == expected and target.stat().st_nlink == 2
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    try:
        lanesum.write_list(rows, tmp_path / "fifo")
        assert os.read(reader, 4096) == expected and (tmp_path / "fifo").is_fifo()
    finally:
        os.close(reader)
    before = os.stat("/dev/null")
    if not os.access("/dev", os.W_OK):
        lanesum.write_list(rows, os.devnull)
        assert os.stat("/dev/null").st_rdev == before.st_rdev


def test_names_are_looked_up_beside_their_lists(folder: Path) -> None:
    for name in ("one", "two"):
        (folder / name).mkdir()
        (folder / name / "x").write_text("abc")
        (folder / name / "list").write_text(f"{ABC}  x\n")
    lists = ["one/list", "two/list"]
    assert not lanesum.check(lists).ok
    checked = lanesum.check(lists, beside=True)
    assert checked.ok and [(row["list"], row["path"]) for row in checked] == [("one/list", "x"), ("two/list", "x")]
    (folder / "two" / "x").write_text("xyz")
    assert [row["list"] for row in lanesum.check(lists, beside=True).failures()] == ["two/list"]
    with pytest.raises(ValueError, match="root= and beside= exclude each other"):
        lanesum.check(lists, "one", beside=True)
    os.mkfifo("fifo")
    writer = threading.Thread(target=lambda: (folder / "fifo").write_text(f"{ABC}  a\n"))
    writer.start()
    with pytest.raises(ValueError, match="fifo is a FIFO; use root= instead of beside="):
        lanesum.check("fifo", beside=True)
    writer.join()


def test_a_name_of_standard_input_needs_a_root(folder: Path) -> None:
    (folder / "-").write_bytes(b"abc")
    (folder / "list").write_text(f"{ABC}  -\n")
    (row,) = lanesum.check("list")
    assert (row["verdict"], 'root="."' in row["reason"]) == ("unreadable", True)
    assert lanesum.check("list", root=".").ok


@pytest.mark.parametrize(
    "row, kind, words",
    [
        # As many zeros as that would be a digest.
        ({"path": "a", "md5": 16}, TypeError, "a: md5 must be bytes or hexadecimal digits, not int"),
        ({"path": "a", "md5": b"short"}, ValueError, "a: md5 has 16 bytes, not 5"),
        ({"path": "a", "md5": float("nan")}, ValueError, "a: has no digest"),
        ({"path": "a", "md5": ABC, "size": -1}, ValueError, "a: invalid size -1"),
        ({"path": "a", "md5": ABC, "size": "3"}, TypeError, "a: size must be an int"),
        ({"path": "a", "md5": ABC, "modified": True}, TypeError, "a: modified must be an int or a datetime, not True"),
        ({"path": "a", "md5": ABC, "modified": 1.5}, ValueError, "a: modified must be .*not 1.5"),
        ({"path": "a", "md5": ABC, "modified": pd.Timestamp(0)}, ValueError, "a: modified must be .*time zone"),
        ({"path": "a", "md5": ABC, "modified": 1 << 63}, ValueError, "a: modified must be between the years"),
        ({"path": "a", "md5": ABC, "etag": f"{ABC}-2"}, ValueError, "a: write_list\\(\\) cannot write its etag"),
        ({"path": 5, "md5": ABC}, TypeError, "the path of row 1 must be a path, not int"),
        ({"path": None, "md5": ABC}, ValueError, "row 1 has no path"),
        ("a", TypeError, "row 1 must be a mapping"),
    ],
)
def test_a_row_that_cannot_be_written_is_named(folder: Path, row: object, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        lanesum.write_list([{"path": "b", "md5": ABC}, row], "list", "csv")
    assert not (folder / "list").exists()


def test_missing_pandas_values_are_missing(folder: Path) -> None:
    frame = pd.DataFrame({"path": ["a", "b"], "size": [3, None], "md5": [ABC, ABC], "sha1": [None, "0" * 40]})
    lanesum.write_list(frame, "list", "csv")
    assert [(row["path"], row["size"], row["sha1"]) for row in lanesum.read_list("list")] == [
        ("a", 3, None),
        ("b", None, bytes(20)),
    ]
    assert lanesum.check("list", ignore_missing=True).counts["mismatch"] == 1


def test_times_keep_nanoseconds(folder: Path) -> None:
    os.utime("a", ns=(1, 1_700_000_000_123_456_789))
    table = lanesum.hash_files(["a"])
    for rows in (table, table.to_pyarrow(), table.to_polars(), table.to_pandas()):
        lanesum.write_list(rows, "list", "csv")
        assert lanesum.read_list("list").column("modified") == [1_700_000_000_123_456_789]
    for moment in (-(1 << 63), -1, (1 << 63) - 1):
        lanesum.write_list([{"path": "a", "md5": ABC, "modified": moment}], "list", "csv")
        assert lanesum.read_list("list").column("modified") == [moment]
    without_zone = table.to_polars().with_columns(pl.col("modified").dt.replace_time_zone(None))
    with pytest.raises(ValueError, match="a: modified must be .*time zone"):
        lanesum.write_list(without_zone, "list", "csv")


def test_a_key_for_unkeyed_algorithms_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    table = lanesum.hash_files([tmp_path / "a"])
    lanesum.write_list(table, tmp_path / "list")
    key = bytes(range(16))
    for algorithm in ("md5", "sha256", "blake3"):
        with pytest.raises(ValueError, match=f"algorithm=.*{algorithm}.* does not take this key"):
            lanesum.check(tmp_path / "list", key=key, algorithm=algorithm)
    checked = lanesum.check(tmp_path / "list", key=key)
    assert not checked.ok
    assert any("no untagged line matches as siphash24-128" in it for it in checked.problems)


def test_partial_writes_are_continued(tmp_path: Path) -> None:
    class Slow(io.RawIOBase):
        def __init__(self, most: int) -> None:
            self.taken, self.most = b"", most

        def writable(self) -> bool:
            return True

        def write(self, content: bytes) -> int | None:  # type: ignore[override]
            if not self.most:
                return None
            self.taken += bytes(content[: self.most])
            return min(len(content), self.most)

    (tmp_path / "a").write_text("a")
    table, slow = lanesum.hash_files([tmp_path / "a"]), Slow(7)
    lanesum.write_list(table, slow)
    assert slow.taken == f"0cc175b9c0f1b6a831c399e269772661  {tmp_path}/a\n".encode()
    with pytest.raises(BlockingIOError, match="is non-blocking"):
        lanesum.write_list(table, Slow(0))


def test_rows_may_be_a_pyarrow_stream_but_not_a_query(folder: Path) -> None:
    table = lanesum.hash_files(["a"])
    lanesum.write_list(table, "one")
    lanesum.write_list(table.to_pyarrow().to_reader(), "two")
    assert Path("one").read_bytes() == Path("two").read_bytes()
    polars = pytest.importorskip("polars")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match=r"rows is a polars query; pass the result of its collect\(\)"):
            lanesum.write_list(polars.DataFrame(table).lazy(), "three")


def test_lists_are_read_from_fifos(folder: Path) -> None:
    os.mkfifo("fifo")
    line = f"{ABC}  a\n"

    def fed(content: str, work: Callable[[], Any]) -> Any:
        writer = threading.Thread(target=Path("fifo").write_text, args=(content,))
        writer.start()
        found = work()
        writer.join()
        return found

    Path("list").write_text(line)
    for lists in (["fifo"], ["list", "fifo"], [b"fifo"]):
        checked = fed(line * 5000, lambda: lanesum.check(lists))
        assert checked.ok and len(checked) == 5000 + ("list" in lists) and "fifo" in checked.column("list")
    checked = fed("", lambda: lanesum.check(["list", "fifo"]))
    assert not checked.ok and checked.problems == ["fifo: no checksum lines received"]
    checked = fed("x\n", lambda: lanesum.check("fifo"))
    assert not checked.ok and checked.problems == ["fifo: contains no checksum lines"]
    assert fed(line, lambda: lanesum.compare("list", "fifo")).ok
    assert not fed(line, lambda: lanesum.compare("fifo", folder)).ok
    compared = fed("x\n", lambda: lanesum.compare("list", "fifo"))
    assert [problem.split(":")[0] for problem in compared.problems] == ["fifo"] * len(compared.problems) != []
    with pytest.raises(ValueError, match="^fifo: its lines end with NUL"):
        fed(line.replace("\n", "\0"), lambda: lanesum.compare("list", "fifo"))
    # It has no second content, for which a check would wait.
    for options in ({}, {"root": "."}):
        (row,) = fed(f"{ABC}  fifo\n", lambda: lanesum.check("fifo", **options))
        assert (row["verdict"], "a FIFO that a list came from" in row["reason"]) == ("unreadable", True)
    # Invalid arguments are reported before it waits.
    with pytest.raises(FileNotFoundError):
        lanesum.check(["fifo", "nowhere"])
    with pytest.raises(ValueError, match="md6"):
        lanesum.check("fifo", algorithm="md6")


def test_an_empty_name_is_written_where_the_format_allows_it(tmp_path: Path) -> None:
    # The formats that cannot hold an MD5.
    others = {"sfv": {"path": "", "crc32": bytes(4)}, "wheel": {"path": "", "sha256": bytes(32)}}
    for format, written in _lanesum.formats():
        if not written:
            continue
        row = others.get(format, {"path": "", "md5": bytes(16), "size": 0})
        if format == "tag":
            lanesum.write_list([row], tmp_path / "list", format)
            assert (tmp_path / "list").read_text() == f"MD5 () = {'0' * 32}\n"
        else:
            with pytest.raises(ValueError, match="cannot hold an empty name$"):
                lanesum.write_list([row], tmp_path / "list", format)


def test_the_last_day_of_year_9999_is_a_time() -> None:
    for moment in ("9999-12-31T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "9999-12-30T23:59:59Z"):
        table = lanesum.read_list(f"path,modified,md5\na,{moment},{ABC}\n".encode())
        assert table.column("path") == ["a"] and table.column("modified") == [None]


def test_pyarrow_timestamps_need_no_pandas(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    os.utime(tmp_path / "a", ns=(1, 1_700_000_000_123_456_789))
    code = """
import io, sys

class NoPandas:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "pandas":
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, NoPandas())
import lanesum
table = lanesum.hash_files(["a"]).to_pyarrow()
for rows in (table, table.to_batches()[0], table.to_reader()):
    buffer = io.BytesIO()
    lanesum.write_list(rows, buffer, "csv")
    print(buffer.getvalue().decode().splitlines()[1])
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [run.stdout.splitlines()[0]] * 3
    assert "2023-11-14T22:13:20.123456789Z" in run.stdout
    assert "900150983cd24fb0d6963f7d28e17f72" in run.stdout


def test_arguments_of_the_wrong_type_are_refused(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("900150983cd24fb0d6963f7d28e17f72  a\n")
    with open(tmp_path / "list") as file, pytest.raises(TypeError, match="open file; pass its path"):
        lanesum.check(file)
    with pytest.raises(UnicodeEncodeError):
        lanesum.check(tmp_path / "list", algorithm="\ud800")
    with pytest.raises(TypeError, match="size must be an int"):
        lanesum.write_list([{"path": "a", "size": True, "md5": bytes(16)}], io.BytesIO(), "csv")


def test_a_common_cause_of_missing_names_is_reported(folder: Path) -> None:
    (folder / "tree" / "d").mkdir(parents=True)
    (folder / "tree" / "x").write_bytes(b"abc")
    (folder / "tree" / "d" / "x").write_bytes(b"abc")

    def told(content: str, name: str = "list", **options: Any) -> list[str]:
        (folder / name).write_text(content)
        checked = lanesum.check(name, **options)
        assert not checked.ok
        return [problem.removeprefix(f"{name}: ") for problem in checked.problems]

    assert told(f"{ABC}  x\n{ABC}  d/x\n", "tree/list") == ['its files are next to the list; use root="tree"']
    assert lanesum.check("tree/list", root="tree").ok
    assert told(f"{ABC}  x\n{ABC}  y\n", root="tree") == []
    for name, way in [("d\\x", ""), ("C:\\old\\d\\x", '.removeprefix("C:/old/")'), ("e\\x", "")]:
        (problem,) = told(f"{ABC}  {name}\n", root="tree")
        assert problem.startswith("names have backslashes, as on Windows; convert the list with read_list() and write_list()")
        assert problem.endswith(f'each path with name.replace("\\\\", "/"){way}')
    rows = [{**row, "path": row["path"].replace("\\", "/")} for row in lanesum.read_list(f"{ABC}  d\\x\n".encode())]
    lanesum.write_list(rows, "slashes")
    assert lanesum.check("slashes", root="tree").ok
    assert told(f"{ABC}  old/tree/x\n") == ['its files exist without old/ in .; use compare("list", "tree", strip=True)']
    (folder / "tree" / "\u00e4").write_bytes(b"abc")
    (problem,) = told(f"{ABC}  a\u0308\n", root="tree")
    assert problem.startswith("a\u0308: names are in the Unicode form NFD") and '"NFC"' in problem
    encoded = 'if the list is a BagIt manifest: from_="bagit"'
    (folder / "tree" / "100%").write_bytes(b"abc")
    assert told(f"{ABC}  100%25\n", root="tree") == [encoded]
    assert lanesum.check("list", root="tree", from_="bagit").ok


def test_lines_of_another_algorithm_suggest_the_argument(folder: Path) -> None:
    (folder / "tree").mkdir()
    (folder / "tree" / "x").write_bytes(b"abc")
    (row,) = lanesum.hash_tree("tree", "blake3")
    (folder / "list").write_text(f"{row['blake3'].hex()}  x\n")
    words = 'no untagged line matches as sha256; if the lines are blake3: algorithm="blake3" (or sha512-256, sha3-256, dropbox, glacier)'
    assert lanesum.compare("list", "tree").problems == [f"list: {words}"]
    checked = lanesum.check("list", root="tree")
    assert checked.problems == [f"list: {words}"]
    assert lanesum.compare("list", "tree", algorithm="blake3").ok
    assert lanesum.check("list", root="tree", algorithm="blake3").ok
    # Its name says what it is.
    (folder / "list.sha256").write_bytes((folder / "list").read_bytes())
    assert lanesum.compare("list.sha256", "tree").problems == []
    (folder / "keyed").write_text(f"BLAKE3 (x) = {'0' * 64}\n")
    assert lanesum.check("keyed", root="tree").problems[0].endswith("if they were made with a key: key=")
    assert lanesum.compare("keyed", "tree").problems[0].endswith("use check() with key=")


def test_a_column_of_an_unknown_algorithm_is_named(folder: Path) -> None:
    (folder / "list").write_text("path,size,sha3-384\na,3,00\n")
    (folder / "a").write_bytes(b"abc")
    checked = lanesum.check("list")
    assert checked.column("verdict") == ["unproven"]
    assert checked.problems == ["list: lanesum does not support the algorithm of its digests, sha3-384"]


def test_an_etag_of_another_part_size_names_the_argument(folder: Path) -> None:
    (folder / "tree").mkdir()
    (folder / "tree" / "x").write_bytes(bytes(20 << 20))
    (folder / "list").write_text(f"{'0' * 32}-3  x\n")
    for (row,) in (lanesum.check("list", root="tree"), lanesum.compare("list", "tree")):
        assert "(use part_size=)" in row["reason"] and "--" not in row["reason"]
