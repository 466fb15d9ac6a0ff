"""Dask workers as an executor whose futures always end.

The executor of `client.get_executor()` never ends a future if its worker dies after the task and before the result has
arrived, and the task then fails (distributed 2026.8, `cfexecutor._cascade_future`). Dask also waits forever if all
workers are gone, as for a cluster that is about to start. Its nannies do not replace a worker that died at its start.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as DaskFuture

#: The seconds between checks for workers, and the seconds after which missing workers count as
#: gone.
_LOOK, _PATIENCE = 2.0, 60.0


class Workers(Executor):
    """The workers of a client. Submitted tasks raise BrokenExecutor when all workers are gone for a minute.

    If there has been no worker yet, it waits for one.
    """

    def __init__(self, client: Client, options: dict[str, Any]) -> None:
        self._client = client
        # By default Dask would reuse the result of an equal task.
        self._options = {**options, "pure": False}
        self._looked = time.monotonic()
        #: The last time with a worker.
        self._seen = self._looked if client.nthreads() else None
        self._gone = ""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self._gone:
            raise BrokenExecutor(self._gone)
        future = self._client.submit(fn, *args, **{**self._options, **kwargs})
        loop: Any = self._client.loop
        return asyncio.run_coroutine_threadsafe(self._outcome(future), loop.asyncio_loop)

    async def _outcome(self, future: DaskFuture) -> Any:
        gathering = asyncio.ensure_future(self._client.gather(future, asynchronous=True))
        # The caller may no longer wait.
        gathering.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            while not (await asyncio.wait([gathering], timeout=_LOOK))[0]:
                await self._look()
        except BaseException:
            # Does not cancel the gathering, which Dask shares between futures.
            asyncio.ensure_future(self._client.cancel([future], asynchronous=True))
            raise
        return gathering.result()

    async def _look(self) -> None:
        """Raises BrokenExecutor if the workers have been gone for too long."""
        now = time.monotonic()
        if not self._gone and now - self._looked >= _LOOK:
            self._looked = now
            if await self._client.nthreads():
                self._seen = now
            elif self._seen is not None and now - self._seen >= _PATIENCE:
                self._gone = f"the Dask cluster has had no workers for {_PATIENCE:.0f} s"
        if self._gone:
            raise BrokenExecutor(self._gone)


def refuse_useless(client: Any, name: str) -> None:
    """Raises ValueError for a closed client, and TypeError for one that cannot be waited for here."""
    if getattr(client, "status", None) in ("closing", "closed"):
        raise ValueError(f"{name} is closed; pass an open client")
    if getattr(client, "asynchronous", False):
        raise TypeError(
            f"{name} is asynchronous and would wait for its own event loop; call this with "
            "asyncio.to_thread(), or pass a client that is not asynchronous"
        )


def of(executor: Executor) -> Executor:
    """Returns `Workers` for a Dask executor, and other executors unchanged."""
    client = getattr(executor, "_client", None)
    if client is None or not type(executor).__module__.startswith("distributed."):
        return executor
    return Workers(client, getattr(executor, "_kwargs", {}))
