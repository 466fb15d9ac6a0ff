"""Dask's workers as an executor whose futures always end.

Dask's own, of `client.get_executor()`, leaves a future open for ever where a task ends well and its worker dies before
the result is here, and the task then fails (distributed 2026.8, `cfexecutor._cascade_future`). And Dask waits for
ever where all workers are gone, as it does for a cluster that is about to start: its nannies start no other worker in
place of one that died in the moment in which it had begun.
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

#: Seconds between looks at whether there are workers, and after which those that are gone do not
#: come back.
_LOOK, _PATIENCE = 2.0, 60.0


class Workers(Executor):
    """The workers of a client. Submitted tasks raise BrokenExecutor when all workers are gone for a minute.

    Where there has been no worker yet, one is waited for.
    """

    def __init__(self, client: Client, options: dict[str, Any]) -> None:
        self._client = client
        # Dask knows that the same task gives the same result, and need not.
        self._options = {**options, "pure": False}
        self._looked = time.monotonic()
        #: When there last was a worker.
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
        # The caller may have gone.
        gathering.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            while not (await asyncio.wait([gathering], timeout=_LOOK))[0]:
                await self._look()
        except BaseException:
            # Not the gathering, which Dask does for several at once.
            asyncio.ensure_future(self._client.cancel([future], asynchronous=True))
            raise
        return gathering.result()

    async def _look(self) -> None:
        """Raises BrokenExecutor where workers have been gone for too long."""
        now = time.monotonic()
        if not self._gone and now - self._looked >= _LOOK:
            self._looked = now
            if await self._client.nthreads():
                self._seen = now
            elif self._seen is not None and now - self._seen >= _PATIENCE:
                self._gone = f"all workers of Dask's cluster are gone, and none came back in {_PATIENCE:.0f} s"
        if self._gone:
            raise BrokenExecutor(self._gone)


def refuse_useless(client: Any, name: str) -> None:
    """Raises ValueError for a client that is closed, and TypeError for one that cannot be waited for here."""
    if getattr(client, "status", None) in ("closing", "closed"):
        raise ValueError(f"{name} is closed; give one that is open, as distributed.Client() makes it")
    if getattr(client, "asynchronous", False):
        raise TypeError(
            f"{name} has its answers from this event loop, which would wait for itself; call this by "
            "asyncio.to_thread(), or give a client that is not asynchronous"
        )


def of(executor: Executor) -> Executor:
    """These instead of Dask's own executor, and any other as it is."""
    client = getattr(executor, "_client", None)
    if client is None or not type(executor).__module__.startswith("distributed."):
        return executor
    return Workers(client, getattr(executor, "_kwargs", {}))
