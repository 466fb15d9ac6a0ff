"""Run tasks on an executor that may fail, and whose workers may die.

A task is a list of items. A task that raises is tried again. If a worker dies, the cause is unknown: when a pool of
processes breaks, all running tasks fail in the same way. So each of these tasks is tried separately. If its worker dies
again, the task is the cause. It is cut in half repeatedly, down to a single item, and `fail` makes the result of it.

Results are in the order of the items, and none is lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from concurrent.futures.process import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lanesum import _dask

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

# The number of failures of a task, and of deaths of the worker of a single item, before it fails.
_TRIES = 2
# A pool that breaks more often than this is not broken by a file.
_BREAKS = 50
# The largest number of tasks that wait in the executor. More tasks would be pickled too early.
_AHEAD = 64


@dataclass
class _Task(Generic[Item]):
    #: The index of its first item.
    start: int
    items: Sequence[Item]
    failures: int = 0
    deaths: int = 0
    is_alone: bool = False


def run(
    executor: Executor,
    function: Callable[[Sequence[Item]], Outcome],
    tasks: Sequence[Sequence[Item]],
    fail: Callable[[Sequence[Item], str], Outcome],
    done: Callable[[Outcome], object] = lambda outcome: None,
) -> list[Outcome]:
    """Calls a function with each task on the workers, and `done` with each result on this thread."""
    return _Runner(executor, function, fail, done).all(tasks)


class _Runner(Generic[Item, Outcome]):
    def __init__(
        self,
        executor: Executor,
        function: Callable[[Sequence[Item]], Outcome],
        fail: Callable[[Sequence[Item], str], Outcome],
        done: Callable[[Outcome], object],
    ) -> None:
        self.pool = _Pool(executor)
        self.function, self.fail, self.done = function, fail, done
        self.waiting: deque[_Task[Item]] = deque()
        self.suspects: deque[_Task[Item]] = deque()
        self.running: dict[Future[Outcome], _Task[Item]] = {}
        #: Whether the executor has taken a task, and whether a worker has come to the end of one.
        self.has_begun = self.has_come = False
        self.results: dict[int, Outcome] = {}

    def all(self, tasks: Sequence[Sequence[Item]]) -> list[Outcome]:
        start = 0
        for items in tasks:
            self.waiting.append(_Task(start, items))
            start += len(items)
        try:
            while self.waiting or self.suspects or self.running:
                self.submit()
                # With a timeout, so that signal handlers run on all platforms.
                finished, _ = wait(self.running, timeout=0.1, return_when=FIRST_COMPLETED)
                # A future that a shutdown cancelled is never counted as finished.
                finished |= {future for future in self.running if future.cancelled()}
                for future in finished:
                    self.take(future, self.running.pop(future))
        finally:
            for future in self.running:
                future.cancel()
            self.pool.close()
        return [self.results[start] for start in sorted(self.results)]

    def submit(self) -> None:
        while True:
            if self.suspects:
                if self.running:
                    return
                task = self.suspects.popleft()
                task.is_alone = True
            elif self.waiting and len(self.running) < _AHEAD:
                task = self.waiting.popleft()
            else:
                return
            try:
                future = self.pool.submit(self.function, task.items)
            except RuntimeError as error:
                if not self.has_begun and not isinstance(error, BrokenExecutor):
                    # It was shut down before the call, so the argument is invalid.
                    raise
                # It broke or was shut down before this task, and there is no other.
                self.end(task, self.fail(task.items, _words(error)))
            else:
                self.running[future] = task
                self.has_begun = True

    def take(self, future: Future[Outcome], task: _Task[Item]) -> None:
        try:
            outcome = future.result()
        except Exception as error:
            if _is_death(error):
                self.died(task, error)
            else:
                self.has_come = True
                self.failed(task, error)
        else:
            self.has_come = True
            self.end(task, outcome)

    def failed(self, task: _Task[Item], error: Exception) -> None:
        task.failures += 1
        if task.failures < _TRIES:
            self.waiting.append(task)
        else:
            self.end(task, self.fail(task.items, _words(error)))

    def died(self, task: _Task[Item], error: BaseException) -> None:
        if isinstance(error, BrokenExecutor):
            self.pool.broke()
        if not task.is_alone:
            self.suspects.append(task)
            return
        task.deaths += 1
        if len(task.items) > 1:
            half = len(task.items) // 2
            self.suspects.append(_Task(task.start, task.items[:half]))
            self.suspects.append(_Task(task.start + half, task.items[half:]))
        elif task.deaths < _TRIES:
            self.suspects.append(task)
        else:
            words = f"its worker died: {_words(error)}"
            if not self.has_come and _imports_main(self.pool.executor):
                words += f"; no worker has finished a task: {_GUARD}"
            self.end(task, self.fail(task.items, words))

    def end(self, task: _Task[Item], outcome: Outcome) -> None:
        self.results[task.start] = outcome
        self.done(outcome)


def _words(error: BaseException) -> str:
    # Errors of Ray contain the error of the task and a page of text.
    cause = getattr(error, "cause", None)
    error = cause if isinstance(cause, BaseException) else error
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _is_death(error: BaseException) -> bool:
    """Returns whether an error means that a worker died. Dask also cancels tasks then."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return isinstance(error, BrokenExecutor | CancelledError) or bool(names & _DEATHS)


_GUARD = "does the program start the pool under `if __name__ == \"__main__\":`?"


def _imports_main(executor: Executor) -> bool:
    """Returns whether the workers import the main program, as all workers do that are not forked."""
    context = getattr(executor, "_mp_context", None) if isinstance(executor, ProcessPoolExecutor) else None
    return context is not None and context.get_start_method() != "fork"


_DEATHS = {"KilledWorker", "FutureCancelledError", "WorkerCrashedError", "NodeDiedError", "OutOfMemoryError"}


class _Pool:
    """An executor, which is replaced by a similar one if it breaks."""

    def __init__(self, executor: Executor) -> None:
        self.executor = _dask.of(executor)
        self.is_broken = False
        self.breaks = 0
        self.own: list[Executor] = []

    def broke(self) -> None:
        self.is_broken = True

    def submit(self, function: Callable[..., Any], items: Sequence[Any]) -> Future[Any]:
        """Raises BrokenExecutor if no executor accepts tasks."""
        if self.is_broken:
            self.renew()
        try:
            return self.executor.submit(function, items)
        except BrokenExecutor:
            self.renew()
            return self.executor.submit(function, items)

    def renew(self) -> None:
        self.breaks += 1
        another = _like(self.executor) if self.breaks <= _BREAKS else None
        if another is None:
            # The broken executor has the reason.
            return
        # The executor of loky is shared.
        if type(another) is ProcessPoolExecutor:
            self.own.append(another)
        self.executor, self.is_broken = another, False

    def close(self) -> None:
        for executor in self.own:
            executor.shutdown(wait=False, cancel_futures=True)


def _like(executor: Executor) -> Executor | None:
    """Returns a new executor if the broken one cannot recover and its arguments are known."""
    workers = getattr(executor, "_max_workers", None)
    if type(executor).__module__.startswith("loky"):
        from loky import get_reusable_executor

        # loky replaces a broken executor. The same call returns the new one.
        another: Executor = get_reusable_executor(max_workers=workers)
        return another
    if isinstance(executor, ProcessPoolExecutor):
        return ProcessPoolExecutor(
            workers,
            getattr(executor, "_mp_context", None),
            getattr(executor, "_initializer", None),
            getattr(executor, "_initargs", ()),
        )
    return None
