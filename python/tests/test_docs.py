"""The examples in docstrings and in the README, and the types."""

from __future__ import annotations

import doctest
import pathlib

import pytest

import lanesum

README = pathlib.Path(__file__).parent.parent / "README.md"
PUBLIC = [name for name in lanesum.__all__ if callable(getattr(lanesum, name))]



@pytest.mark.parametrize("name", PUBLIC)
def test_examples_of_docstrings(name: str) -> None:
    text = getattr(lanesum, name).__doc__
    assert text, f"{name} has no docstring"
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test)
    assert runner.failures == 0
    if name in ("hash_column", "hash_many", "md5", "surrogate_key"):
        assert runner.tries > 0, f"{name} shows no example"


def test_examples_of_the_readme(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = README.read_text()
    blocks = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    names: dict[str, object] = {}
    for number, block in enumerate(blocks):
        test = doctest.DocTestParser().get_doctest(block, names, f"block {number}", None, None)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        # The next block continues with these names.
        runner.run(test, clear_globs=False)
        names = test.globs
        assert runner.failures == 0


def test_methods_have_docstrings() -> None:
    for kind in (lanesum.Hash, lanesum.Column):
        for name, method in vars(kind).items():
            if not name.startswith("_"):
                assert method.__doc__, f"{kind.__name__}.{name}"
