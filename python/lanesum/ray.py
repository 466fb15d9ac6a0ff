"""lanesum on Ray: `pip install lanesum[ray]`. Ray has no executor; this module has one for `executor=`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

__all__ = ["RayExecutor"]


class RayExecutor(Executor):
    """Calls functions as tasks of the Ray cluster of `ray.init`.

    Options are those of Ray tasks. If a worker dies, lanesum splits its task. Ray does not repeat it first.
    """

    def __init__(self, **options: Any) -> None:
        import ray

        if not ray.is_initialized():
            raise RuntimeError("there is no Ray cluster yet; call ray.init() first")
        self._remote = ray.remote(_call).options(**{"max_retries": 0, **options})
        self.num_workers = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Returns the result of a function as a `concurrent.futures.Future`."""
        future: Future[Any] = self._remote.remote(fn, args, kwargs).future()
        return future


def _call(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    return function(*arguments, **keywords)
