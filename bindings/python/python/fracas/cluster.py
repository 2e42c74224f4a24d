"""Many portions of work: on a pool of processes of this machine, or on a Ray cluster.

A portion is a list of numbers; `work(shared, portion)` does it, in any process and any order,
and may be called again for what is done already. No more than `AHEAD` portions for each worker
are under way at a time. A portion whose worker dies is done again, a bounded number of times;
then its numbers are done one by one, so that only the one that kills its worker is given up.
"""

from __future__ import annotations

import os
import signal
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, Callable, Iterable, Iterator

# Portions under way for each worker: one that is done, one that waits.
AHEAD = 2
# So many workers may die of a portion before its numbers are done one by one.
AGAIN = 3

Portion = list[int]
Work = Callable[[Any, Portion], Any]
GiveUp = Callable[[Portion], Any]

# Set once in each worker of a pool: what is shared is too large to send each time.
_shared: Any
_work: Work


def _start_worker(work: Work, shared: Any) -> None:
    global _shared, _work
    _shared, _work = shared, work
    # Ctrl-C is the parent's to hear.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _do(portion: Portion) -> Any:
    return _work(_shared, portion)


def on_pool(
    work: Work, shared: Any, portions: Iterable[Portion], processes: int, give_up: GiveUp
) -> Iterator[Any]:
    """Does portions on processes of this machine; gives results as they come."""
    # One thread each: the portions are what is done at once.
    before = os.environ.get("RAYON_NUM_THREADS")
    os.environ["RAYON_NUM_THREADS"] = "1"
    try:
        suspects: list[Portion] = []
        yield from _in_parallel(work, shared, iter(portions), processes, suspects)
        # Alone, it is certain whose worker dies.
        while suspects:
            portion = suspects.pop()
            left: list[Portion] = []
            yield from _in_parallel(work, shared, iter([portion]), 1, left, again=1)
            if left and len(portion) > 1:
                suspects += [[number] for number in reversed(portion)]
            elif left:
                yield give_up(portion)
    finally:
        if before is None:
            del os.environ["RAYON_NUM_THREADS"]
        else:
            os.environ["RAYON_NUM_THREADS"] = before


def _in_parallel(
    work: Work,
    shared: Any,
    portions: Iterator[Portion],
    processes: int,
    suspects: list[Portion],
    again: int = AGAIN,
) -> Iterator[Any]:
    """Does portions. Those that were under way `again` times when a worker died, become
    suspects: a pool does not tell whose worker it was.
    """
    tries: dict[tuple[int, ...], int] = {}
    waiting: list[Portion] = []
    exhausted = False
    while not exhausted or waiting:
        # A forked process would lack the threads of its parent, hence `spawn`.
        pool = ProcessPoolExecutor(
            processes, get_context("spawn"), _start_worker, (work, shared)
        )
        under_way: dict[Any, Portion] = {}
        try:
            while True:
                while len(under_way) < AHEAD * processes:
                    portion = waiting.pop() if waiting else next(portions, None)
                    if portion is None:
                        exhausted = True
                        break
                    try:
                        under_way[pool.submit(_do, portion)] = portion
                    except BrokenProcessPool:
                        waiting.append(portion)
                        raise
                if not under_way:
                    break
                ready, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in ready:
                    result = future.result()
                    del under_way[future]
                    yield result
        except BrokenProcessPool:
            for portion in under_way.values():
                tries[tuple(portion)] = tries.get(tuple(portion), 0) + 1
                into = waiting if tries[tuple(portion)] < again else suspects
                into.append(portion)
        finally:
            workers = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            # After Ctrl-C nobody waits for what is under way; what is written is whole.
            if under_way:
                for worker in workers:
                    worker.terminate()


def on_ray(
    work: Work, shared: Any, portions: Iterable[Portion], address: str, give_up: GiveUp
) -> Iterator[Any]:
    """Does portions as tasks of a Ray cluster (`auto`, `local` for one of this machine alone,
    or an address); gives results as they come. Ray does a task again whose worker or node is
    lost. (How often after running out of memory, is the cluster's `RAY_task_oom_retries`.)
    """
    import ray
    from ray import exceptions

    lost = (
        exceptions.WorkerCrashedError,
        exceptions.NodeDiedError,
        exceptions.LocalRayletDiedError,
        exceptions.OutOfMemoryError,
        exceptions.ObjectLostError,
    )
    ours = not ray.is_initialized()
    if ours:
        ray.init(
            address=None if address == "local" else address,
            log_to_driver=False,
            include_dashboard=False if address == "local" else None,
        )
    try:
        task = ray.remote(work).options(
            num_cpus=1,
            max_retries=AGAIN - 1,
            runtime_env={"env_vars": {"RAYON_NUM_THREADS": "1"}},
        )
        there = ray.put(shared)
        left = iter(portions)
        again: list[Portion] = []
        under_way: dict[Any, Portion] = {}
        while True:
            # Nodes come and go.
            most = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
            while len(under_way) < most:
                portion = again.pop() if again else next(left, None)
                if portion is None:
                    break
                under_way[task.remote(there, portion)] = portion
            if not under_way:
                return
            ready, _ = ray.wait(list(under_way), num_returns=1)
            for reference in ready:
                portion = under_way.pop(reference)
                try:
                    result = ray.get(reference)
                except lost:
                    if len(portion) > 1:
                        again += [[number] for number in reversed(portion)]
                        continue
                    result = give_up(portion)
                yield result
    finally:
        if ours:
            ray.shutdown()
