"""Whether the payload of a bag (BagIt, RFC 8493) is what its manifests say: every file, and no other.

    python bag.py BAG

Each manifest is to name every file below `data/`, and each is to have its digest; what tag manifests name is checked,
too. Not looked at are what `bagit.txt` says, `bag-info.txt` (nor its count of files and bytes), `fetch.txt` (what is
still to be fetched is not there, and fails), and tag files that no tag manifest names. So a bag that passes need not be
valid: where there is no tag manifest, a line that was lost together with its file shows nowhere. `lanesum bag validate
BAG`, the command, does all of it. A bag without payload fails, as nothing is checked.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import lanesum
from lanesum.table import Checked


def below(path: Path) -> Iterator[Path]:
    """What is there but folders; a link to a folder is none. Without anything there, the path itself."""
    if path.is_dir() and not path.is_symlink():
        for entry in path.iterdir():
            yield from below(entry)
    else:
        yield path


def check(bag: Path) -> tuple[Checked, list[str]]:
    """The verdicts of all manifests, each file read once, and what else is wrong.

    Raises FileNotFoundError where it is no bag, and ValueError where one is none, or all are of other algorithms.
    """
    manifests = sorted(bag.glob("manifest-*.txt"))
    if not manifests or not (bag / "bagit.txt").is_file():
        raise FileNotFoundError(f"{bag}: no bagit.txt and manifest in it; is it a bag?")
    lists, wrong = [], []
    for manifest in [*manifests, *sorted(bag.glob("tagmanifest-*.txt"))]:
        algorithm = manifest.stem.partition("-")[2]
        if algorithm in lanesum.file_algorithms:
            lists.append(manifest)
        else:
            wrong.append(f"{manifest.name}: lanesum does not know the algorithm {algorithm}; not checked")
    if not lists:
        raise ValueError("; ".join(wrong))
    payload = {str(path.relative_to(bag)): path for path in below(bag / "data")}
    wrong += [f"{name}: no regular file" for name, path in payload.items() if path.is_symlink() or not path.is_file()]
    for manifest in set(manifests).intersection(lists):
        # A name is encoded there: `%25`. The table has it as it was.
        named = set(lanesum.read_list(manifest).column("path"))
        wrong += [f"{name}: not in {manifest.name}" for name in payload.keys() - named]
        wrong += [f"{name}: in {manifest.name}, and not below data/" for name in named - payload.keys()]
    # Their names are below the bag's folder, since `bagit.txt` stands beside them.
    checked = lanesum.check(lists, strict=True)
    return checked, sorted(wrong) + checked.problems


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python bag.py BAG", file=sys.stderr)
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name may be no UTF-8.
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
