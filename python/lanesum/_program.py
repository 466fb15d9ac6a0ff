"""The program that comes with the package: `python -m lanesum` where its folder of commands is not on the PATH."""

from __future__ import annotations

import os
import sys
import sysconfig


def find() -> str:
    """The path of the command `lanesum` of this installation. Raises FileNotFoundError where it has none."""
    schemes = [None, "posix_user", "posix_prefix"]
    folders = [sysconfig.get_path("scripts") if it is None else sysconfig.get_path("scripts", it) for it in schemes]
    # pip install --target puts it beside the package.
    folders.append(os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin"))
    for folder in folders:
        path = os.path.join(folder, "lanesum")
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    raise FileNotFoundError(f"the command lanesum is not in {', '.join(dict.fromkeys(folders))}: pip install lanesum again")


def main() -> None:
    """Becomes the program: its streams, signals and exit code are its own."""
    import signal

    path = find()
    # What Python has had ignored stays so in whatever a process becomes.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execv(path, [path, *sys.argv[1:]])
