"""Run the program of the package: `python -m lanesum`, if its command is not on the PATH."""

from __future__ import annotations

import os
import sys
import sysconfig


def find() -> str:
    """Returns the path of the command `lanesum` of this installation. Raises FileNotFoundError if missing."""
    schemes = [None, "posix_user", "posix_prefix"]
    folders = [sysconfig.get_path("scripts") if it is None else sysconfig.get_path("scripts", it) for it in schemes]
    # `pip install --target` puts it next to the package.
    folders.append(os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin"))
    for folder in folders:
        path = os.path.join(folder, "lanesum")
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    raise FileNotFoundError(f"no command lanesum in {', '.join(dict.fromkeys(folders))}; reinstall the package lanesum")


def main() -> None:
    """Replaces this process by the program, with its own streams, signals and exit code."""
    import signal

    path = find()
    # A signal that Python ignores would stay ignored in the program.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execv(path, [path, *sys.argv[1:]])
