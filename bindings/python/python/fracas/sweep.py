"""The report's long sweeps on many processes or a Ray cluster.

    python -m fracas.sweep glondu-fig16 --shards 400 --scale full --out parts --ray auto

does the 400 parts of `fracas report --only glondu-fig16 --full --shard I/400`, keeps each as
it is done (`OUT/shards`), and puts them together as `fracas report merge` does. Parts that are
there are kept, so a killed run goes on. The sums are of whole numbers: the section is the same
to the last bit for any number of parts, processes and nodes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from . import merge_shards, measure_shard
from .cluster import Portion, on_pool, on_ray
from .storage import open_storage, resolve

SCALES = ("tiny", "default", "full")


def sweep(
    section: str,
    shards: int,
    out: str | Path,
    *,
    scale: str = "default",
    seed: int = 0,
    processes: int | None = None,
    ray: str | None = None,
    progress: TextIO | None = sys.stderr,
) -> list[str]:
    """Measures a sweep of the report in `shards` parts and puts them together in `out`, a
    folder or a URL that fsspec knows. Returns the names of the sections written.
    """
    if shards < 1:
        raise ValueError("there must be at least one shard")
    job = {"section": section, "shards": shards, "scale": scale, "seed": seed}
    job["out"] = resolve(out)
    storage = open_storage(job["out"])
    text = json.dumps({k: v for k, v in job.items() if k != "out"}, sort_keys=True) + "\n"
    if not storage.exists("sweep.json"):
        storage.write("sweep.json", text.encode())
    elif storage.read("sweep.json") != text.encode():
        raise ValueError(f"{out} holds another sweep: choose another folder")
    there = set(storage.find("shards"))
    left = [[i] for i in range(1, shards + 1) if _name(job, i) not in there]
    if ray is not None:
        results = on_ray(_measure, job, left, ray, partial(_give_up, job))
    else:
        workers = processes or os.cpu_count() or 1
        results = on_pool(_measure, job, left, workers, partial(_give_up, job))
    done = shards - len(left)
    for _ in results:
        done += 1
        if progress is not None:
            progress.write(f"{done} of {shards} parts\n")
    return _merge(job)


def _name(job: dict[str, Any], index: int) -> str:
    """What the report calls a part."""
    return f"shards/{job['section']}.{index}-of-{job['shards']}.json"


def _measure(job: dict[str, Any], portion: Portion) -> Portion:
    """Measures parts, each kept once it is whole."""
    storage = open_storage(job["out"])
    for index in portion:
        if storage.exists(_name(job, index)):
            continue
        with tempfile.TemporaryDirectory(prefix="fracas-") as work:
            count, scale, seed = job["shards"], job["scale"], job["seed"]
            measure_shard(job["section"], index, count, work, scale, seed)
            storage.write(_name(job, index), (Path(work) / _name(job, index)).read_bytes())
    return portion


def _give_up(job: dict[str, Any], portion: Portion) -> None:
    raise RuntimeError(f"part {portion[0]} of {job['shards']}: its worker died again and again")


def _merge(job: dict[str, Any]) -> list[str]:
    storage = open_storage(job["out"])
    with tempfile.TemporaryDirectory(prefix="fracas-") as folder:
        work = Path(folder)
        (work / "parts" / "shards").mkdir(parents=True)
        for index in range(1, job["shards"] + 1):
            name = _name(job, index)
            (work / "parts" / name).write_bytes(storage.read(name))
        written = merge_shards([work / "parts"], work / "report")
        for path in sorted((work / "report").rglob("*")):
            if path.is_file():
                name = path.relative_to(work / "report").as_posix()
                storage.write(name, path.read_bytes())
    return written


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m fracas.sweep", description="A long sweep of the report, in parts."
    )
    parser.add_argument("section", help="for example glondu-fig16")
    parser.add_argument("--shards", required=True, type=int, metavar="N", help="how many parts")
    parser.add_argument("--out", required=True, metavar="DIR", help="a folder, or a URL of fsspec")
    parser.add_argument(
        "--scale", choices=SCALES, default="default", help="full is as much as the papers measured"
    )
    parser.add_argument("--seed", type=int, default=0, help="of all chance")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--processes", type=int, metavar="P", help="by default one a processor")
    where.add_argument("--ray", metavar="ADDRESS", help="a Ray cluster: its address, auto, or local")
    options = parser.parse_args(arguments)
    if options.processes is not None and options.processes < 1:
        parser.error("--processes: must be at least 1")
    try:
        written = sweep(**vars(options))
    except KeyboardInterrupt:
        print("interrupted: the same command goes on from here", file=sys.stderr)
        return 130
    except (ValueError, OSError, RuntimeError, ModuleNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{options.out}: put together {', '.join(written)}; open report.html in it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
