"""Where samples lie, and how they get there whole or not at all.

    OUT/NAME/CATEGORY/SHAPE/fractured_ID/piece_0.obj ...   the pieces, as Breaking Bad has them
    OUT/samples/0000/ID.json                               all that is known of a sample
    OUT/failed/0000/ID.json                                why there is none
    OUT/bad_shapes/CATEGORY--SHAPE.json                    why a shape is not used
    OUT/job.json                                           settings and shapes
    OUT/samples.parquet, README.md, NAME.train.txt ...     written at the end

A sample counts once its JSON is there, which comes last. Everything is written beside and
renamed, so that a kill at any moment leaves a sample that is whole or none.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, Iterator

from .sample import Job, Made
from .shapes import Shape

WORK = ".work"


def row_path(out: str | Path, kind: str, number: int) -> Path:
    """Where the JSON of a sample lies: a thousand in a folder."""
    return Path(out) / kind / f"{number // 1000:04d}" / f"{number}.json"


def write_text(path: Path, text: str) -> None:
    """Writes a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8", newline="\n")
    os.replace(beside, path)


def as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n"


def save_sample(job: Job, number: int, made: Made) -> None:
    """Writes the pieces, then the row that makes them count."""
    out = Path(job.out)
    row = made.row
    inside = f"{job.settings['name']}/{row['category']}/{row['shape']}/fractured_{number}"
    work = out / WORK / f"{number}.{os.getpid()}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    if job.settings["format"] == "obj":
        files = []
        for i, piece in enumerate(made.broken.pieces):
            name = f"piece_{i}.obj"
            (work / name).write_text(piece.to_obj(), encoding="ascii", newline="\n")
            files.append(f"{inside}/{name}")
    else:
        written = made.broken.save(work / "pieces.glb")
        files = [f"{inside}/{path.name}" for path in written]
    row["folder"] = inside
    row["files"] = files
    folder = out / inside
    folder.parent.mkdir(parents=True, exist_ok=True)
    # What a killed run left there has no row, and does not count.
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(work, folder)
    write_text(row_path(out, "samples", number), as_json(row))


def save_failure(job: Job, number: int, reason: str) -> None:
    write_text(row_path(job.out, "failed", number), as_json({"id": number, "reason": reason}))


def save_bad_shape(job: Job, shape: Shape, reason: str) -> None:
    path = Path(job.out) / "bad_shapes" / f"{shape.category}--{shape.name}.json"
    what = {"category": shape.category, "shape": shape.name, "reason": reason}
    if not path.exists():
        write_text(path, as_json(what))


def numbers(out: str | Path, kind: str) -> set[int]:
    """The numbers of the samples that are there (`samples`) or failed (`failed`)."""
    files = (Path(out) / kind).glob("*/*.json")
    return {int(path.stem) for path in files if path.stem.isdigit()}


def rows(out: str | Path) -> Iterator[dict[str, Any]]:
    """All samples, in the order of their numbers."""
    for number in sorted(numbers(out, "samples")):
        yield json.loads(row_path(out, "samples", number).read_text(encoding="utf-8"))


def bad_shapes(out: str | Path) -> list[dict[str, str]]:
    files = sorted((Path(out) / "bad_shapes").glob("*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in files]


def failures(out: str | Path) -> list[dict[str, Any]]:
    found = sorted(numbers(out, "failed"))
    return [json.loads(row_path(out, "failed", n).read_text(encoding="utf-8")) for n in found]


def tidy(out: str | Path, name: str) -> None:
    """Takes away what a killed run left: work, and pieces whose sample does not count."""
    shutil.rmtree(Path(out) / WORK, ignore_errors=True)
    there = numbers(out, "samples")
    for folder in (Path(out) / name).glob("*/*/fractured_*"):
        number = folder.name.removeprefix("fractured_")
        if not number.isdigit() or int(number) not in there:
            shutil.rmtree(folder, ignore_errors=True)
