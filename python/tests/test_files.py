"""Files and trees against hashlib: every kind of file that fails, names of any bytes, arguments that are wrong."""

import errno
import hashlib
import importlib.util
import io
import os
import pickle
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lanesum
from lanesum.table import Files


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for place in range(150):
        folder = root / f"folder {place % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        write(folder / f"file {place}", bytes([place]) * (place * place * 9))
    return root


def digests(table: Files, algorithm: str) -> dict[str, bytes]:
    return dict(zip(table.column("path"), table.column(algorithm)))


@pytest.mark.parametrize("threads", [None, 1, 3])
@pytest.mark.parametrize("io", ["auto", "read", "mmap"])
def test_tree_digests_agree_with_hashlib(tree: Path, threads: int | None, io: str) -> None:
    table = lanesum.hash_tree(tree, ["sha256", "md5"], threads=threads, io=io)
    assert table.ok and table.num_rows == 150
    assert table.column_names == ["path", "size", "modified", "sha256", "md5", "error", "path_bytes"]
    paths = table.column("path")
    assert paths == sorted(paths)
    for row in table:
        content = Path(row["path"]).read_bytes()
        assert row["md5"] == hashlib.md5(content).digest()
        assert row["sha256"] == hashlib.sha256(content).digest()
        assert row["size"] == len(content)
        assert row["modified"] == os.stat(row["path"]).st_mtime_ns


@settings(max_examples=50)
@given(st.lists(st.binary(max_size=300), max_size=40), st.sampled_from(["md5", "sha1", "sha512", "blake3"]))
def test_rows_are_in_path_order(tmp_path: Path, contents: list[bytes], algorithm: str) -> None:
    paths = [write(tmp_path / str(place), content) for place, content in enumerate(contents)]
    paths.reverse()
    table = lanesum.hash_files(paths, algorithm)
    assert table.column("path") == [str(path) for path in paths]
    assert table.column("error") == [None] * len(paths)
    if algorithm != "blake3":
        expected = [hashlib.new(algorithm, path.read_bytes()).digest() for path in paths]
        assert table.column(algorithm) == expected


@settings(max_examples=100)
@given(st.binary(min_size=1, max_size=60).filter(lambda name: not {0, 47} & set(name) and name not in (b".", b"..")))
def test_names_may_be_any_bytes(tmp_path: Path, name: bytes) -> None:
    path = os.path.join(os.fsencode(tmp_path), name)
    with open(path, "wb") as file:
        file.write(name)
    for given_path in (path, os.fsdecode(path), Path(os.fsdecode(path))):
        (row,) = table = lanesum.hash_files([given_path])
        assert row["md5"] == hashlib.md5(name).digest()
        assert os.fsencode(row["path"]) == path
        text, raw = table._batches.column("path")[0], table._batches.column("path_bytes")[0]
        assert (text is None) != (raw is None), "one of them names it"
        assert raw == path if text is None else text.encode() == path
    os.unlink(path)


def test_a_failed_file_is_a_row(tmp_path: Path) -> None:
    good = write(tmp_path / "good", b"abc")
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    reasons = {
        tmp_path / "missing": errno.ENOENT,
        tmp_path: errno.EISDIR,
        tmp_path / "link": errno.ENOENT,
        tmp_path / "loop": errno.ELOOP,
        good / "below": errno.ENOTDIR,
        "": errno.ENOENT,
        "/proc/self/mem": errno.EIO,
    }
    table = lanesum.hash_files([good, *reasons, good])
    assert not table.ok and table.column("md5")[0] == table.column("md5")[-1] == hashlib.md5(b"abc").digest()
    assert table.column("md5")[1:-1] == [None] * len(reasons)
    assert table.column("error")[1:-1] == [os.strerror(number) for number in reasons.values()]
    assert len(table.failures()) == len(reasons)
    with pytest.raises(lanesum.FailuresError, match="missing: No such file"):
        table.raise_for_failures()


def test_an_unreadable_file_is_a_row(tmp_path: Path) -> None:
    path = write(tmp_path / "secret", b"abc")
    path.chmod(0)
    child = os.fork()
    if child == 0:
        # Root reads everything.
        if os.geteuid() == 0:
            os.seteuid(65534)
        found = lanesum.hash_files([path]).column("error")
        # Other users cannot enter the directory of pytest.
        os._exit(0 if found == [os.strerror(errno.EACCES)] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_special_files_in_a_tree_are_skipped_and_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    write(tmp_path / "file", b"abc")
    table = lanesum.hash_tree(tmp_path)
    assert table.ok and table.column("path") == [str(tmp_path / "file")]
    ((path, what),) = table.skipped
    assert path == str(tmp_path / "fifo") and "pipe" in what


@pytest.mark.parametrize("name", [b"nowhere\xff", b"nowhere", "nowhere", Path("nowhere")])
def test_errors_name_a_path_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: bytes | str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list").write_text(f"{'0' * 32}  a\n")
    for raising in [
        lambda: lanesum.hash_tree(name),
        lambda: lanesum.hash_tree(name, shards=tmp_path / "shards"),
        lambda: lanesum.read_list(name),
        lambda: lanesum.check(name),
        lambda: lanesum.check(["list", name]),
        lambda: lanesum.compare(name, "."),
        lambda: lanesum.etag(name),
        lambda: lanesum.write_list([{"path": "a", "md5": bytes(16)}], os.path.join(name, name)),
    ]:
        with pytest.raises(FileNotFoundError) as raised:
            raising()
        assert raised.value.filename in (os.fspath(name), os.path.join(name, name))


def test_links_are_skipped_or_followed_and_loops_reported(tmp_path: Path) -> None:
    write(tmp_path / "file", b"abc")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "loop").symlink_to(".")
    table = lanesum.hash_tree(tmp_path)
    assert table.column("path") == [str(tmp_path / "file")] and table.skipped == []
    table = lanesum.hash_tree(tmp_path, follow=True)
    assert table.column("path") == [str(tmp_path / name) for name in ("file", "link")]
    assert [path for path, what in table.skipped] == [str(tmp_path / "loop")]


def test_a_fifo_given_by_name_is_read(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes(b"abc" * 100_000))
    writer.start()
    (row,) = lanesum.hash_files([fifo])
    writer.join()
    assert row["md5"] == hashlib.md5(b"abc" * 100_000).digest() and row["size"] == 300_000


def test_a_file_that_changes_while_it_is_read_has_no_digest(tmp_path: Path) -> None:
    path = write(tmp_path / "growing", bytes(64 << 20))
    stop = threading.Event()

    def grow() -> None:
        with open(path, "ab") as file:
            while not stop.is_set():
                file.write(b"x")
                file.flush()

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        (row,) = lanesum.hash_files([path])
    finally:
        stop.set()
        writer.join()
    assert row["error"] == "changed while it was read" and row["md5"] is None


def test_trees_exclude_patterns(tmp_path: Path) -> None:
    for name in ("a.tmp", "b.txt", "c.log"):
        write(tmp_path / name, b"x")
    write(tmp_path / ".gitignore", b"*.log\n")
    os.symlink("b.txt", tmp_path / "link")

    def names(**options: object) -> list[str]:
        return [os.path.basename(path) for path in lanesum.hash_tree(tmp_path, **options).column("path")]

    assert names() == [".gitignore", "a.tmp", "b.txt", "c.log"]
    assert names(exclude="*.tmp", gitignore=True) == [".gitignore", "b.txt"]
    assert names(exclude=["*.tmp", "*.log", ".git*"], follow=True) == ["b.txt", "link"]
    write(tmp_path / "!a", b"x")
    assert names(exclude=["\\!a", b"*.*"]) == []
    assert names(exclude=Path("*.*")) == ["!a"]


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda: lanesum.hash_files("one path"), TypeError, "several paths"),
        (lambda: lanesum.hash_files(b"one path"), TypeError, "several paths"),
        (lambda: lanesum.hash_files(["a", 1]), TypeError, r"paths\[1\] must be .* not int"),
        (lambda: lanesum.hash_files(None), TypeError, "paths must be several paths, not NoneType"),
        (lambda: lanesum.hash_files([], 5), TypeError, "algorithms must be .* not int"),
        (lambda: lanesum.hash_files([], shards=5), TypeError, "shards must be a path, not int"),
        (lambda: lanesum.hash_tree(5), TypeError, "root must be a path, not int"),
        (lambda: lanesum.hash_tree(["a"]), TypeError, "root must be a path, not list"),
        (lambda: lanesum.hash_tree(".", exclude=5), TypeError, "exclude must be a path or several, not int"),
        (lambda: lanesum.hash_tree(".", shards=5), TypeError, "shards must be a path, not int"),
        (lambda: lanesum.hash_files(["a\0b"]), ValueError, "null byte"),
        (lambda: lanesum.hash_files([], "md6"), ValueError, "md6"),
        (lambda: lanesum.hash_files([], []), ValueError, "at least one"),
        (lambda: lanesum.hash_files([], ["md5", "MD5"]), ValueError, "twice"),
        (lambda: lanesum.hash_files([], [5]), TypeError, "int"),
        (lambda: lanesum.hash_files([], "siphash24"), TypeError, "siphash24 needs key=, a secret of 16 bytes"),
        (lambda: lanesum.hash_files([], "blake3", key=bytes(16)), ValueError, "blake3 needs a key of 32 bytes, not 16"),
        (lambda: lanesum.hash_files([], "siphash13", key=bytes(32)), ValueError, "a key of 16 bytes, not 32"),
        (lambda: lanesum.hash_files(pd.DataFrame({"path": ["a"]})), TypeError, "paths must be several paths, not a table \\(Da"),
        (lambda: lanesum.hash_files(lanesum.hash_files([])), TypeError, "not a table \\(Files\\); pass one of its columns"),
        (lambda: lanesum.check(pd.DataFrame({"a": []})), TypeError, "lists must be .*, not a table \\(DataFrame"),
        (lambda: lanesum.hash_tree(".", exclude=["a", "!a.txt"]), ValueError, r"exclude: '!a.txt': .* use \\!a.txt$"),
        (lambda: lanesum.hash_tree(".", exclude=["a.txt\n"]), ValueError, "exclude: 'a.txt.n' ends with a line end"),
        (lambda: lanesum.hash_tree(".", exclude="a\0"), ValueError, "exclude: .* contains a null byte"),
        (lambda: lanesum.compare(".", ".", exclude=Path("!a")), ValueError, "not supported"),
        (lambda: lanesum.hash_files([], ["siphash24-128", "siphash24_128"], key=bytes(16)), ValueError, "twice"),
        (lambda: lanesum.hash_files([], "md5", key=b"short"), ValueError, "5 bytes"),
        (lambda: lanesum.hash_files([], threads=0), ValueError, "threads"),
        (lambda: lanesum.hash_files([], threads="2"), TypeError, "threads"),
        (lambda: lanesum.hash_files([], io="quickly"), ValueError, "quickly"),
        (lambda: lanesum.hash_files([], progress=5), TypeError, "progress"),
        (lambda: lanesum.hash_files([], executor=5), TypeError, "submit"),
        (lambda: lanesum.hash_tree("nowhere"), FileNotFoundError, "nowhere"),
        (lambda: lanesum.hash_tree(".", exclude="a["), ValueError, "exclude"),
        (lambda: lanesum.hash_tree(".", exclude=["a", 5]), TypeError, r"exclude\[1\] must be a path, not int"),
        (lambda: lanesum.hash_tree(".", follow="no"), TypeError, "follow must be a bool, not str"),
        (lambda: lanesum.hash_tree("nowhere", shards="s"), FileNotFoundError, "nowhere"),
        (lambda: lanesum.etag("nowhere"), FileNotFoundError, "nowhere"),
        (lambda: lanesum.etag(["a"]), TypeError, "list"),
        (lambda: lanesum.etag("/dev/null", "huge"), ValueError, "huge"),
        (lambda: lanesum.etags([], io="direct"), ValueError, "direct"),
    ],
)
def test_invalid_arguments_raise_standard_exceptions(call: object, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as raised:
        call()
    if isinstance(raised.value, OSError):
        assert raised.value.errno == errno.ENOENT and raised.value.filename == "nowhere"


def test_keyed_algorithms(tmp_path: Path) -> None:
    path = write(tmp_path / "file", b"abc")
    plain = lanesum.hash_files([path], "blake3").column("blake3")
    keyed = lanesum.hash_files([path], "blake3", key=bytes(32)).column("blake3")
    assert plain != keyed
    (digest,) = lanesum.hash_files([path], "siphash24", key=bytes(range(16))).column("siphash24")
    assert len(digest) == 8
    # As a name of Python's, and of an algorithm.
    key = memoryview(bytes(range(16)))
    (digest,) = lanesum.hash_files([path], "siphash24_128", key=key).column("siphash24-128")
    assert digest == lanesum.siphash24_128(b"abc", key=key).digest()


def test_progress_is_reported_and_may_raise(tree: Path) -> None:
    told: list[tuple[int, int]] = []
    table = lanesum.hash_tree(tree, progress=lambda size, files: told.append((size, files)))
    assert told == sorted(told) and told[-1] == (sum(table.column("size")), 150)

    class Enough(Exception):
        pass

    def refuse(size: int, files: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        lanesum.hash_tree(tree, progress=refuse)
    assert lanesum.hash_tree(tree, progress=True).ok


def test_errors_without_tqdm_have_no_context(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(FileNotFoundError) as raised:
        lanesum.hash_tree(tree / "nowhere", progress=True)
    assert raised.value.__context__ is None
    # A terminal's counter.
    drawn = io.StringIO()
    drawn.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", drawn)
    assert lanesum.hash_tree(tree, progress=True).ok
    assert " files, " in drawn.getvalue() and " MB/s" in drawn.getvalue()


@pytest.mark.parametrize("has_tqdm", [True, False])
def test_progress_is_shown_in_a_notebook(tree: Path, monkeypatch: pytest.MonkeyPatch, has_tqdm: bool) -> None:
    class OutStream(io.StringIO):
        """What a kernel of Jupyter has as stderr."""

    OutStream.__module__ = "ipykernel.iostream"
    if not has_tqdm:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    elif importlib.util.find_spec("tqdm") is None:
        pytest.skip("needs tqdm")
    drawn = OutStream()
    monkeypatch.setattr(sys, "stderr", drawn)
    assert lanesum.hash_tree(tree, progress=True).ok
    assert "B/s" in drawn.getvalue()


def test_a_notebook_shows_the_first_rows(tmp_path: Path) -> None:
    paths = [tmp_path / f"<{number}>" for number in range(22)]
    for path in paths[1:]:
        path.write_text("a")
    html = lanesum.hash_files(paths)._repr_html_()
    assert html.count("<tr>") == 1 + 20 and "&lt;19&gt;</td>" in html and "&lt;20&gt;</td>" not in html
    assert "<p>20 of 22 rows</p>" in html and hashlib.md5(b"a").hexdigest() in html and "No such file" in html
    assert "<p>" not in lanesum.hash_files(paths[:1])._repr_html_()
    odd = os.fsencode(tmp_path) + b"/\xff"
    open(odd, "wb").close()
    lanesum.hash_files([odd])._repr_html_().encode()


def test_digests_become_hexadecimal_digits(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("abc")
    table = lanesum.hash_files([tmp_path / "a", tmp_path / "none"], ["md5", "sha256"])
    hexed = table.to_hex()
    assert type(hexed) is Files and not hexed.ok and hexed.column("path") == table.column("path")
    for name in ("md5", "sha256"):
        assert hexed.column(name) == [hashlib.new(name, b"abc").hexdigest(), None]
    assert hexed.to_polars()["md5"].to_list() == hexed.to_hex().column("md5") == hexed.column("md5")
    lanesum.write_list([row for row in hexed if row["error"] is None], tmp_path / "list", "csv")
    assert lanesum.check(tmp_path / "list").ok
    assert lanesum.read_list(tmp_path / "list").to_hex().column("md5") == hexed.column("md5")[:1]


def test_results_have_no_truth_value_and_pickle(tmp_path: Path) -> None:
    table = lanesum.hash_files([tmp_path / "missing"])
    with pytest.raises(TypeError, match="ok"):
        bool(table)
    again = pickle.loads(pickle.dumps(table))
    assert list(again) == list(table) and not again.ok
    empty = lanesum.hash_files([])
    assert empty.num_rows == 0 and empty.ok and empty.column("md5") == []
    assert pickle.loads(pickle.dumps(empty)).column_names == empty.column_names
    with pytest.raises(KeyError, match="md6"):
        table.column("md6")


def test_other_libraries_read_tables(tree: Path) -> None:
    table = lanesum.hash_tree(tree, ["md5", "xxh64"])
    expected = table.column("md5")
    arrow = table.to_pyarrow()
    assert arrow.column("md5").to_pylist() == expected and str(arrow.schema.field("md5").type) == "fixed_size_binary[16]"
    assert table.to_polars()["md5"].to_list() == expected
    assert table.to_pandas()["md5"].tolist() == expected
    # A size next to a missing one does not become a float, and names that are not UTF-8 work.
    name = os.fsencode(tree) + b"/\xff"
    write(Path(os.fsdecode(name)), b"abc")
    frame = lanesum.hash_files([name, "nowhere"]).to_pandas()
    assert str(frame["size"].dtype) == "Int64" and frame["size"][0] == 3 and frame["size"].isna()[1]
    assert str(frame["modified"].dtype).startswith("datetime64[ns")
    duckdb = pytest.importorskip("duckdb")
    assert [row[0] for row in duckdb.sql("select md5 from arrow").fetchall()] == expected
    assert pytest.importorskip("pyarrow").table(lanesum.hash_files([])).num_rows == 0


def test_etags_depend_on_the_parts(tmp_path: Path) -> None:
    content = bytes(range(256)) * 100
    path = write(tmp_path / "file", content)
    parts = [hashlib.md5(content[begin : begin + 1000]).digest() for begin in range(0, len(content), 1000)]
    expected = f"{hashlib.md5(b''.join(parts)).hexdigest()}-{len(parts)}"
    assert lanesum.etag(path, 1000) == lanesum.etag(os.fsencode(path), "1000") == expected
    assert lanesum.etag(path) == hashlib.md5(content).hexdigest()
    os.mkfifo(tmp_path / "fifo")
    table = lanesum.etags([path, tmp_path / "missing", tmp_path, tmp_path / "fifo"], 1000)
    assert table.column("etag") == [expected, None, None, None] and not table.ok
    assert table.column("error")[1] == "No such file or directory"
    assert table.column("error")[2] == "Is a directory" and "regular file" in table.column("error")[3]
    with pytest.raises(ValueError, match="S3 allows at most 10000"):
        lanesum.etag(path, 1)


def test_several_threads_hash_at_once(tree: Path) -> None:
    expected = digests(lanesum.hash_tree(tree), "md5")
    wrong: list[object] = []

    def work() -> None:
        for _ in range(20):
            found = digests(lanesum.hash_tree(tree, threads=2), "md5")
            if found != expected:
                wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_other_threads_run_while_files_are_read(tmp_path: Path) -> None:
    """The interpreter's lock is free while files are read: a FIFO is waited for, and this thread writes to it."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.extend(lanesum.hash_files([fifo]).column("md5")))
    reader.start()
    time.sleep(0.05)
    fifo.write_bytes(b"abc")
    reader.join()
    assert found == [hashlib.md5(b"abc").digest()]


def test_a_key_without_effect_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="key= has no effect for md5, sha256"):
        lanesum.hash_files([tmp_path], ["md5", "sha256"], key=bytes(16))
    with pytest.raises(TypeError, match="key= has no effect for md5"):
        lanesum.hash_tree(tmp_path, key=bytes(16))
    for key in (16, [0] * 16, "x" * 16):
        with pytest.raises(TypeError, match="key must be bytes, not"):
            lanesum.hash_files([tmp_path], "siphash24", key=key)  # type: ignore[arg-type]


def test_file_algorithms_are_listed(tmp_path: Path) -> None:
    path = write(tmp_path / "file", b"abc")
    assert {"md5", "sha256", "siphash24"} <= set(lanesum.file_algorithms)
    keyed = [name for name in lanesum.file_algorithms if "siphash" in name]
    others = [name for name in lanesum.file_algorithms if name not in keyed]
    assert lanesum.hash_files([path], others).ok and lanesum.hash_files([path], keyed, key=bytes(16)).ok


def test_a_file_may_be_the_root(tmp_path: Path) -> None:
    path = write(tmp_path / "file", b"abc")
    table = lanesum.hash_tree(path)
    assert table.column("path") == [str(path)] and repr(table).startswith("<Files: 1 row of path")
    assert repr(lanesum.hash_files([])).startswith("<Files: 0 rows of path")


def test_return_types_have_public_names(tmp_path: Path) -> None:
    path = write(tmp_path / "file", b"abc")
    lanesum.write_list(lanesum.hash_files([path]), tmp_path / "list")
    assert type(lanesum.hash_files([path])) is lanesum.Files
    assert type(lanesum.etags([path])) is lanesum.Etags
    assert type(lanesum.check(tmp_path / "list")) is lanesum.Checked
    assert type(lanesum.compare(tmp_path, tmp_path)) is lanesum.Compared
    assert type(lanesum.read_list(tmp_path / "list")) is lanesum.Table


def test_paths_may_be_a_pyarrow_column(tree: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    paths = [str(path) for path in tree.rglob("*") if path.is_file()]
    for column in (pyarrow.array(paths), pyarrow.chunked_array([paths[:1], paths[1:]])):
        assert list(lanesum.hash_files(column)) == list(lanesum.hash_files(paths))
    with pytest.raises(TypeError, match=r"paths\[1\] must be str, bytes or os.PathLike, not NoneType"):
        lanesum.hash_files(pyarrow.array([paths[0], None]))
