"""How samples scale with processes: ratios to one process, within one run.

    python benches/scaling.py SAMPLES PROCESSES [PROCESSES ...]

Bricks, bowls and plates of 1,500 tetrahedra, sixteen sizes each, so that there are enough
portions to go round. Each count of processes makes the same samples anew; the better of two
runs counts. Starting the processes (a second or so) is part of it. The last column, seconds of
the processor for one sample, tells what sharing the machine costs where it does other things,
too; the clock tells nothing there.
"""

import multiprocessing
import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from fracas.cluster import on_pool
from fracas.dataset import run, store
from fracas.dataset.sample import Job
from fracas.dataset.settings import Settings
from fracas.dataset.shapes import find_shapes

REPEATS = 2


def measure(job, count, processes):
    """Seconds of the clock and of the processors for so many samples, and how many broke."""
    portions = run._portions(job, list(range(count)))
    start, before = time.monotonic(), os.times()
    done = list(on_pool(run.make_portion, job, portions, processes, partial(run._give_up, job)))
    seconds = time.monotonic() - start
    # What they used is known once they are gone.
    for worker in multiprocessing.active_children():
        worker.join()
    after = os.times()
    used = sum(after[2:4]) - sum(before[2:4])
    assert sum(len(made) + len(failed) for made, failed in done) == count
    return seconds, used, len(store.numbers(job.out, "samples"))


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 384
    counts = [int(word) for word in sys.argv[2:]] or [1, 2]
    settings = Settings({"variants": 16, "pieces": 20, "tets": 1500, "modes": 20})
    shapes = [s for s in find_shapes("builtin") if s.name in ("brick", "bowl", "plate")]
    print("| processes | seconds | samples an hour | times one process | processor s a sample |")
    print("| --- | --- | --- | --- | --- |")
    first = None
    for processes in counts:
        best = least = float("inf")
        for _ in range(REPEATS):
            with tempfile.TemporaryDirectory() as work:
                seconds, used, made = measure(Job(settings, shapes, str(Path(work))), count, processes)
            best, least = min(best, seconds), min(least, used)
        first = first or best * counts[0]
        ratio = first / best
        print(
            f"| {processes} | {best:.1f} | {3600 * made / best:,.0f} | {ratio:.2f} |"
            f" {least / count:.3f} |",
            flush=True,
        )
