"""The examples, run: what they print is not looked at, what they find is."""

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


def test_dvc_builds_the_same_with_our_hashes(tmp_path: Path) -> None:
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
    checked, others = example.check(tmp_path)
    assert checked.ok and not others and checked.counts["match"] == 6 and checked.counts["files"] == 3
    (data / "a").write_text("b")
    (data / "new").write_text("new")
    checked, others = example.check(tmp_path)
    assert not checked.ok and others == ["data/new"]
    assert {row["path"] for row in checked.failures()} == {str("data/a")}
    with pytest.raises(FileNotFoundError, match="is it a bag"):
        example.check(data)


def test_surrogate_keys() -> None:
    for library in ("polars", "duckdb", "pyarrow"):
        pytest.importorskip(library)
    example = load("surrogate_keys")
    example.main()
    key = example.in_polars(example.orders(6))["key"][0]
    assert key == hashlib.md5(f"o-0-{example.NULL}-0".encode()).hexdigest()


@pytest.mark.cluster
def test_dask_loses_no_file_with_a_worker() -> None:
    pytest.importorskip("distributed")
    found = subprocess.run([sys.executable, EXAMPLES / "dask_tree.py"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("10,000 files")
