"""Making many samples: in this process, on a pool of processes, or on a Ray cluster.

Samples of one shape go together, so that a shape is filled and its modes are computed once.
How portions are given out, and given out again, is in `fracas.cluster`.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, Callable, Iterator, TextIO

from .. import FracasError
from ..cluster import Portion, on_pool, on_ray
from ..storage import resolve
from . import store, table
from .sample import Job, Kinds, NothingBroke, make_sample, shape_of
from .settings import Settings, SettingsError
from .shapes import find_shapes

# Samples that are handed out together.
PORTION = 8

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
    cluster (`auto`, or `local` for one on this machine), which needs `shapes` and `out` where
    all of its nodes see them. `out` is a folder, or a URL that fsspec knows. Returns how many samples are there and how many failed.
    """
    if count < 0 or first < 0:
        raise SettingsError("count and first must not be negative")
    if not isinstance(settings, Settings):
        settings = Settings.read(settings)
    found = find_shapes(shapes)
    if not found:
        raise SettingsError(f"{shapes}: there is no mesh file in it")
    job = Job(settings, found, resolve(out))
    _check_job(job)
    store.tidy(job.out, settings["name"])
    store.forget_lost(job.out)
    wanted = range(first, first + count)
    there = store.numbers(job.out, "samples") | store.numbers(job.out, "failed")
    left = [number for number in wanted if number not in there]
    report = Progress(len(wanted), len(wanted) - len(left), progress)
    portions = _portions(job, left)
    if ray is not None:
        results = on_ray(make_portion, job, portions, ray, partial(_give_up, job))
    elif (processes or os.cpu_count() or 1) == 1 or len(left) == 1:
        results = _here(job, portions)
    else:
        workers = processes or os.cpu_count() or 1
        results = on_pool(make_portion, job, portions, workers, partial(_give_up, job))
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
    storage = store.at(job.out)
    if not storage.exists("job.json"):
        store.write_text(job.out, "job.json", text)
    elif storage.read("job.json") != text.encode():
        raise SettingsError(
            f"{job.out} holds a data set of other settings or shapes: choose another folder"
        )


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
        if store.is_made(job.out, number):
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


def _give_up(job: Job, portion: Portion) -> Done:
    """Notes that samples kill their workers."""
    made = [number for number in portion if store.is_made(job.out, number)]
    failed = [number for number in portion if number not in made]
    for number in failed:
        store.save_failure(job, number, "its worker died again and again", lost=True)
    return made, failed


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
