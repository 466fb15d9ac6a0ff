"""Whether the payload of a bag (BagIt, RFC 8493) is what its manifests say.

    python bag.py BAG

`lanesum bag validate BAG`, the command, does all of it: the declaration, the tag files, names that are unsafe. Here is
what a program of one's own may want: verdicts as a table, and the files that no manifest names.
"""

from __future__ import annotations

import sys
from pathlib import Path

import lanesum
from lanesum.table import Checked


def check(bag: Path) -> tuple[Checked, list[str]]:
    """The verdicts of all manifests, each file read once, and the files of the payload that none names.

    Raises FileNotFoundError where it has no manifest.
    """
    manifests = sorted(bag.glob("manifest-*.txt"))
    if not manifests:
        raise FileNotFoundError(f"{bag}: no manifest in it; is it a bag?")
    # Their names are below the bag's folder, since `bagit.txt` stands beside them.
    checked = lanesum.check(manifests, strict=True)
    # A name is encoded there: `%25`. The table has it as it was.
    named = {path for manifest in manifests for path in lanesum.read_list(manifest).column("path")}
    payload = (path for path in (bag / "data").rglob("*") if path.is_file())
    others = sorted({str(path.relative_to(bag)) for path in payload} - named)
    return checked, others


def main() -> int:
    checked, others = check(Path(sys.argv[1]))
    for row in checked.failures():
        print(f"{row['path']}: {row['verdict']}", row["reason"] or "")
    for name in others:
        print(f"{name}: in no manifest")
    print(f"{checked.counts['match']} lines match, {checked.counts['files']} files were read")
    return 0 if checked.ok and not others else 1


if __name__ == "__main__":
    sys.exit(main())
