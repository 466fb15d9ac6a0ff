"""Run the examples and check their results, but not their output."""

import hashlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import lanesum

EXAMPLES = Path(__file__).parent.parent / "examples"


def load(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_dvc_builds_the_same_object_with_lanesum(tmp_path: Path) -> None:
    pytest.importorskip("dvc_data")
    from dvc_data.hashfile import build as dvc
    from dvc_data.hashfile.db.local import LocalHashFileDB
    from dvc_objects.fs.local import LocalFileSystem

    example = load("dvc_build")
    folder = tmp_path / "data"
    for place in range(50):
        path = folder / f"{place % 5}" / f"file {place}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([place]) * place * 1000)

    odb = LocalHashFileDB(LocalFileSystem(), str(tmp_path / "cache"))
    _, _, theirs = dvc.build(odb, str(folder), LocalFileSystem(), "md5", dry_run=True)
    ours = example.build(str(folder), odb)
    assert ours.hash_info == theirs.hash_info and ours.as_bytes() == theirs.as_bytes() and len(ours) == 50

    calls = []
    original = lanesum.hash_files
    example.lanesum = type("Spy", (), {"hash_files": lambda *args, **more: calls.append(1) or original(*args, **more)})
    assert example.build(str(folder), odb).hash_info == theirs.hash_info
    assert calls == [1] * 5, "ours was asked, once a folder"


def test_a_bag(tmp_path: Path) -> None:
    example = load("bag")
    data = tmp_path / "data"
    data.mkdir()
    for name in ("a", "100%", "with blank"):
        (data / name).write_text(name)
    (tmp_path / "bagit.txt").write_text("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")
    for algorithm in ("md5", "sha256"):
        table = lanesum.hash_tree(data, algorithm)
        rows = [{**row, "path": os.path.relpath(row["path"], tmp_path)} for row in table]
        lanesum.write_list(rows, tmp_path / f"manifest-{algorithm}.txt", "bagit")
    checked, wrong = example.check(tmp_path)
    assert checked.ok and not wrong and checked.counts["match"] == 6 and checked.counts["files"] == 3
    (data / "a").write_text("b")
    (data / "new").write_text("new")
    checked, wrong = example.check(tmp_path)
    assert not checked.ok and wrong == [f"data/new: not in manifest-{it}.txt" for it in ("md5", "sha256")]
    assert {row["path"] for row in checked.failures()} == {str("data/a")}
    with pytest.raises(FileNotFoundError, match="not a bag"):
        example.check(data)


def bag(folder: Path) -> Path:
    """A bag of two files, with two manifests and a tag manifest."""
    folder.mkdir()
    (folder / "bagit.txt").write_text("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")
    (folder / "data").mkdir()
    lines = {"md5": "", "sha256": ""}
    for name in ("a", "b"):
        (folder / "data" / name).write_text(name)
        for algorithm in lines:
            lines[algorithm] += f"{hashlib.new(algorithm, name.encode()).hexdigest()}  data/{name}\n"
    tags = ""
    for algorithm, text in lines.items():
        (folder / f"manifest-{algorithm}.txt").write_text(text)
        tags += f"{hashlib.md5(text.encode()).hexdigest()}  manifest-{algorithm}.txt\n"
    (folder / "tagmanifest-md5.txt").write_text(tags)
    return folder


def test_problems_of_a_bag_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = load("bag")

    def lose(folder: Path, name: str) -> None:
        for manifest in folder.glob("manifest-*.txt"):
            manifest.write_text("".join(it for it in manifest.read_text().splitlines(True) if not it.endswith(name)))

    def lose_with_its_file(folder: Path) -> None:
        lose(folder, "data/a\n")
        (folder / "data" / "a").unlink()

    def lose_of_one(folder: Path) -> None:
        (folder / "tagmanifest-md5.txt").unlink()
        lines = (folder / "manifest-md5.txt").read_text().splitlines(True)
        (folder / "manifest-md5.txt").write_text(lines[0])

    def name_another(folder: Path) -> None:
        (folder / "tagmanifest-md5.txt").unlink()
        with (folder / "manifest-md5.txt").open("a") as manifest:
            manifest.write(f"{hashlib.md5((folder / 'bagit.txt').read_bytes()).hexdigest()}  bagit.txt\n")

    def be_of_another_algorithm(folder: Path) -> None:
        (folder / "tagmanifest-md5.txt").unlink()
        (folder / "manifest-sha256.txt").rename(folder / "manifest-whirlpool.txt")

    def be_of_no_known_algorithm(folder: Path) -> None:
        be_of_another_algorithm(folder)
        (folder / "manifest-md5.txt").unlink()

    for number, (change, words) in enumerate(
        [
            (lose_with_its_file, "manifest-md5.txt: mismatch"),
            (lose_of_one, "data/b: not in manifest-md5.txt"),
            (lambda it: (it / "manifest-md5.txt").write_text(""), "data/a: not in manifest-md5.txt"),
            (lambda it: (it / "tagmanifest-md5.txt").write_text(""), "tagmanifest-md5.txt: the list is empty"),
            (lambda it: (it / "data" / "link").symlink_to("."), "data/link: not a regular file"),
            (lambda it: os.mkfifo(it / "data" / "fifo"), "data/fifo: not a regular file"),
            (lambda it: (it / "data").rename(it / "other"), "data: not a regular file"),
            (name_another, "bagit.txt: in manifest-md5.txt, but not below data/"),
            (be_of_another_algorithm, "manifest-whirlpool.txt: not checked: unknown algorithm whirlpool"),
            (be_of_no_known_algorithm, "manifest-whirlpool.txt: not checked: unknown algorithm whirlpool"),
            (lambda it: (it / "data" / os.fsdecode(b"\xff")).touch(), "data/\\udcff: not in manifest-md5.txt"),
            (lambda it: (it / "bagit.txt").unlink(), "not a bag"),
        ]
    ):
        folder = bag(tmp_path / str(number))
        assert example.main([str(folder)]) == 0, capsys.readouterr()
        change(folder)
        code, told = example.main([str(folder)]), "".join(capsys.readouterr())
        assert (code, told.count(words)) == (1, 1), told
    assert example.main([]) == 2 and "usage" in capsys.readouterr().err


def test_surrogate_keys() -> None:
    for library in ("polars", "duckdb", "pyarrow"):
        pytest.importorskip(library)
    example = load("surrogate_keys")
    example.main()
    key = example.in_polars(example.orders(6))["key"][0]
    assert key == hashlib.md5(f"o-0-{example.NULL}-0".encode()).hexdigest()


@pytest.mark.cluster
def test_dask_keeps_all_files_when_a_worker_dies() -> None:
    pytest.importorskip("distributed")
    found = subprocess.run([sys.executable, EXAMPLES / "dask_tree.py"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("10,000 files")
