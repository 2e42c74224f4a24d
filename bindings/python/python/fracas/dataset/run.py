"""Making many samples: in this process, on a pool of processes, or on a Ray cluster.

Samples of one shape go together, so that a shape is filled and its modes are computed once.
At most two portions for each worker are under way at a time; a portion whose worker dies is
given out again.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Callable, Iterator, TextIO

from .. import FracasError
from . import store, table
from .sample import Job, Kinds, NothingBroke, make_sample, shape_of
from .settings import Settings, SettingsError
from .shapes import find_shapes

# Samples that are handed out together.
PORTION = 8
# A portion is given out again so often when its worker dies.
AGAIN = 3

Portion = list[int]
Done = tuple[list[int], list[int]]


def make(
    shapes: str | Path,
    count: int,
    out: str | Path,
    settings: Settings | str | Path | None = None,
    *,
    processes: int | None = None,
    ray: str | None = None,
    first: int = 0,
    progress: TextIO | None = sys.stderr,
) -> dict[str, int]:
    """Makes samples `first` to `first + count - 1` that are not there yet.

    `shapes` is a folder of mesh files, or `builtin`. `settings` is a TOML file. `processes`
    is the size of the pool, by default one for each processor; `ray` is the address of a Ray
    cluster (`auto`, or `local` for one on this machine), which needs `out` on storage that
    all of its nodes see. Returns how many samples are there and how many failed.
    """
    if count < 0 or first < 0:
        raise SettingsError("count and first must not be negative")
    if not isinstance(settings, Settings):
        settings = Settings.read(settings)
    found = find_shapes(shapes)
    if not found:
        raise SettingsError(f"{shapes}: there is no mesh file in it")
    job = Job(settings, found, str(Path(out).resolve()))
    _check_job(job)
    store.tidy(job.out, settings["name"])
    wanted = range(first, first + count)
    there = store.numbers(job.out, "samples") | store.numbers(job.out, "failed")
    left = [number for number in wanted if number not in there]
    report = Progress(len(wanted), len(wanted) - len(left), progress)
    portions = _portions(job, left)
    if ray is not None:
        results = _on_ray(job, portions, ray)
    elif (processes or os.cpu_count() or 1) == 1 or len(left) == 1:
        results = _here(job, portions)
    else:
        results = _on_pool(job, portions, processes or os.cpu_count() or 1)
    try:
        for made, failed in results:
            report.add(len(made), len(failed))
    finally:
        report.end()
    store.tidy(job.out, settings["name"])
    table.write_all(job)
    return {
        "samples": len(store.numbers(job.out, "samples")),
        "failed": len(store.numbers(job.out, "failed")),
    }


def _check_job(job: Job) -> None:
    """A folder holds one data set: the same settings, the same shapes."""
    shapes = [
        {"category": s.category, "name": s.name, "digest": s.digest} for s in job.shapes
    ]
    text = store.as_json({"settings": job.settings.values, "shapes": shapes})
    path = Path(job.out) / "job.json"
    if path.exists():
        if path.read_text(encoding="utf-8") != text:
            raise SettingsError(
                f"{job.out} holds a data set of other settings or shapes: choose another folder"
            )
        return
    store.write_text(path, text)


def _portions(job: Job, left: list[int]) -> list[Portion]:
    """Samples in portions of one shape, size and material."""
    groups: dict[tuple[str, int], list[int]] = {}
    for number in left:
        shape, variant = shape_of(job, number)
        groups.setdefault((shape.folder, variant), []).append(number)
    return [
        group[i : i + PORTION] for group in groups.values() for i in range(0, len(group), PORTION)
    ]


_kinds: dict[str, Kinds] = {}


def make_portion(job: Job, portion: Portion) -> Done:
    """Makes samples and writes them. Returns which were made, and which failed."""
    kinds = _kinds.setdefault(job.settings.key(), Kinds(job.settings))
    made, failed = [], []
    for number in portion:
        # A portion that is given out again may be done in part.
        if store.row_path(job.out, "samples", number).exists():
            made.append(number)
            continue
        bad: dict[str, Any] = {}
        try:
            store.save_sample(job, number, make_sample(job, kinds, number, bad))
            made.append(number)
        except (NothingBroke, FracasError, RuntimeError) as error:
            store.save_failure(job, number, str(error))
            failed.append(number)
        for shape, reason in bad.values():
            store.save_bad_shape(job, shape, reason)
    return made, failed


def _here(job: Job, portions: list[Portion]) -> Iterator[Done]:
    for portion in portions:
        yield make_portion(job, portion)


# Set once in each worker: with thousands of shapes it is too large to send each time.
_job: Job


def _start_worker(job: Job) -> None:
    global _job
    _job = job
    # Ctrl-C is the parent's to hear.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(portion: Portion) -> Done:
    return make_portion(_job, portion)


def _on_pool(job: Job, portions: list[Portion], processes: int) -> Iterator[Done]:
    # One thread each: the samples are what is done at once. A forked process would lack
    # the threads of its parent, hence `spawn`.
    before = os.environ.get("RAYON_NUM_THREADS")
    os.environ["RAYON_NUM_THREADS"] = "1"
    tries: dict[int, int] = {}
    waiting = list(reversed(range(len(portions))))
    try:
        while waiting:
            pool = ProcessPoolExecutor(
                processes, get_context("spawn"), _start_worker, (job,)
            )
            under_way: dict[Any, int] = {}
            try:
                while waiting or under_way:
                    while waiting and len(under_way) < 2 * processes:
                        which = waiting.pop()
                        under_way[pool.submit(_work, portions[which])] = which
                    ready, _ = wait(under_way, return_when=FIRST_COMPLETED)
                    for future in ready:
                        result = future.result()
                        del under_way[future]
                        yield result
            except BrokenProcessPool:
                # It is not known whose worker died: all that were under way are suspect.
                for which in under_way.values():
                    tries[which] = tries.get(which, 0) + 1
                    if tries[which] < AGAIN:
                        waiting.append(which)
                    else:
                        yield _give_up(job, portions[which])
            finally:
                workers = list((pool._processes or {}).values())
                pool.shutdown(wait=False, cancel_futures=True)
                # After Ctrl-C nobody waits for what is under way; what is written is whole.
                if under_way:
                    for worker in workers:
                        worker.terminate()
    finally:
        if before is None:
            del os.environ["RAYON_NUM_THREADS"]
        else:
            os.environ["RAYON_NUM_THREADS"] = before


def _give_up(job: Job, portion: Portion) -> Done:
    there = store.numbers(job.out, "samples")
    failed = [number for number in portion if number not in there]
    for number in failed:
        store.save_failure(job, number, f"its worker died {AGAIN} times")
    return [number for number in portion if number in there], failed


def _on_ray(job: Job, portions: list[Portion], address: str) -> Iterator[Done]:
    import ray

    ours = not ray.is_initialized()
    if ours:
        ray.init(
            address=None if address == "local" else address,
            log_to_driver=False,
            include_dashboard=False if address == "local" else None,
        )
    try:
        task = ray.remote(make_portion).options(
            num_cpus=1,
            max_retries=-1,
            runtime_env={"env_vars": {"RAYON_NUM_THREADS": "1"}},
        )
        shared = ray.put(job)
        waiting = list(reversed(portions))
        under_way: list[Any] = []
        while waiting or under_way:
            # Nodes come and go.
            most = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
            while waiting and len(under_way) < most:
                under_way.append(task.remote(shared, waiting.pop()))
            ready, under_way = ray.wait(under_way, num_returns=1)
            for result in ray.get(ready):
                yield result
    finally:
        if ours:
            ray.shutdown()


class Progress:
    """How far it is, how fast, and how long it will take."""

    def __init__(
        self,
        total: int,
        before: int,
        out: TextIO | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total, self.before, self.out, self.clock = total, before, out, clock
        self.made = self.failed = 0
        self.start = clock()
        self.told = float("-inf")
        self.last = ""
        self.live = out is not None and out.isatty()

    def add(self, made: int, failed: int) -> None:
        self.made += made
        self.failed += failed
        now = self.clock()
        if now - self.told >= (0.2 if self.live else 10.0):
            self.told = now
            self._tell()

    def text(self) -> str:
        done = self.made + self.failed
        seconds = max(self.clock() - self.start, 1e-9)
        left = self.total - self.before - done
        rate = done / seconds
        text = f"{self.before + done} of {self.total}"
        if done:
            text += f", {3600.0 * rate:.0f} an hour"
        if done and left:
            text += f", {_time(left / rate)} left"
        if self.failed:
            text += f", {self.failed} failed"
        return text

    def end(self) -> None:
        if self.text() != self.last:
            self._tell()
        if self.live and self.out is not None:
            self.out.write("\n")

    def _tell(self) -> None:
        if self.out is None:
            return
        self.last = self.text()
        self.out.write(f"\r\x1b[K{self.last}" if self.live else self.last + "\n")
        self.out.flush()


def _time(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}"
