"""Functions for workers of tests, in a module that workers can import."""

import os
import signal
import time
from pathlib import Path


class Dying:
    """Hashes files. A file whose name has a prefix kills its worker after some seconds, or raises."""

    def __init__(self, kills: str = "", raises: str = "", once: str = "", after: float = 0) -> None:
        self.kills, self.raises, self.once, self.after = kills, raises, once, after

    def __call__(self, items: list[str]) -> list[str]:
        for item in items:
            if self.kills and item.startswith(self.kills):
                time.sleep(self.after)
                os.kill(os.getpid(), signal.SIGKILL)
            if self.raises and item.startswith(self.raises):
                raise ValueError(f"no {item}")
            if self.once and not os.path.exists(self.once):
                Path(self.once).touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return [f"did {item}" for item in items]


def die() -> None:
    """Kills this process, like the system when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)
