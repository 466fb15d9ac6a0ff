"""Check the payload of a bag (BagIt, RFC 8493): every file has its digest, and no file is missing in a manifest.

    python bag.py BAG

Every manifest must list every file below `data/` with its digest. Tag manifests are checked, too. A bag without payload
fails, because nothing is checked.

This example does not read `bagit.txt`, `bag-info.txt` and `fetch.txt`, and it ignores tag files that no tag manifest
lists. So a bag that passes may still be invalid. `lanesum bag validate BAG` checks all of this.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import lanesum
from lanesum.table import Checked


def below(path: Path) -> Iterator[Path]:
    """Yields the files below a directory, and links to directories. Yields the path itself if it is no directory."""
    if path.is_dir() and not path.is_symlink():
        for entry in path.iterdir():
            yield from below(entry)
    else:
        yield path


def check(bag: Path) -> tuple[Checked, list[str]]:
    """Returns the verdicts of all manifests, and other problems. Reads each file once.

    Raises FileNotFoundError if the directory is not a bag, and ValueError for an invalid manifest, or if lanesum knows
    the algorithm of none.
    """
    manifests = sorted(bag.glob("manifest-*.txt"))
    if not manifests or not (bag / "bagit.txt").is_file():
        raise FileNotFoundError(f"{bag}: not a bag: bagit.txt or the manifest is missing")
    lists, wrong = [], []
    for manifest in [*manifests, *sorted(bag.glob("tagmanifest-*.txt"))]:
        algorithm = manifest.stem.partition("-")[2]
        if algorithm in lanesum.file_algorithms:
            lists.append(manifest)
        else:
            wrong.append(f"{manifest.name}: not checked: unknown algorithm {algorithm}")
    if not lists:
        raise ValueError("; ".join(wrong))
    payload = {str(path.relative_to(bag)): path for path in below(bag / "data")}
    wrong += [f"{name}: not a regular file" for name, path in payload.items() if path.is_symlink() or not path.is_file()]
    for manifest in set(manifests).intersection(lists):
        # Manifests encode names, for example % as `%25`. The table has the decoded names.
        named = set(lanesum.read_list(manifest).column("path"))
        wrong += [f"{name}: not in {manifest.name}" for name in payload.keys() - named]
        wrong += [f"{name}: in {manifest.name}, but not below data/" for name in named - payload.keys()]
    # Names are relative to the bag, because `bagit.txt` is next to the manifests.
    checked = lanesum.check(lists, strict=True)
    return checked, sorted(wrong) + checked.problems


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python bag.py BAG", file=sys.stderr)
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name may not be UTF-8.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        checked, wrong = check(Path(arguments[0]))
    except (OSError, ValueError) as error:
        print(f"bag.py: {error}", file=sys.stderr)
        return 1
    for row in checked.failures():
        place = row["path"] or f"{row['list']}: line {row['line']}"
        print(f"{place}: {row['verdict']}", row["reason"] or "")
    for words in wrong:
        print(words)
    print(f"{checked.counts['match']} lines match, {checked.counts['files']} files were read")
    return 0 if checked.ok and not wrong else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
