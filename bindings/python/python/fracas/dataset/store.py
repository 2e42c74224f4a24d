"""Where samples lie, and how they get there whole or not at all.

    OUT/NAME/CATEGORY/SHAPE/fractured_ID/piece_0.obj ...   the pieces, as Breaking Bad has them
    OUT/samples/0000/ID.json                               all that is known of a sample
    OUT/failed/0000/ID.json                                why there is none
    OUT/bad_shapes/CATEGORY--SHAPE.json                    why a shape is not used
    OUT/job.json                                           settings and shapes
    OUT/samples.parquet, README.md, NAME.train.txt ...     written at the end

OUT is a folder or a URL (see `fracas.storage`). A sample counts once its JSON is there, which
comes last. A kill at any moment leaves a sample that is whole or none.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Iterator

from ..storage import WORK, Folder, Remote, open_storage, resolve
from .sample import Job, Made
from .shapes import Shape


def at(out: str | Path) -> Folder | Remote:
    """The storage of a data set."""
    return open_storage(resolve(out))


def row_name(kind: str, number: int) -> str:
    """The name of a sample's JSON: a thousand in a folder."""
    return f"{kind}/{number // 1000:04d}/{number}.json"


def write_text(out: str | Path, name: str, text: str) -> None:
    """Writes a file, whole or not at all."""
    at(out).write(name, text.encode())


def as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n"


def is_made(out: str | Path, number: int) -> bool:
    return at(out).exists(row_name("samples", number))


def save_sample(job: Job, number: int, made: Made) -> None:
    """Writes the pieces, then the row that makes them count."""
    storage = at(job.out)
    row = made.row
    inside = f"{job.settings['name']}/{row['category']}/{row['shape']}/fractured_{number}"
    with storage.scratch() as work:
        if job.settings["format"] == "obj":
            names = []
            for i, piece in enumerate(made.broken.pieces):
                names.append(f"piece_{i}.obj")
                (work / names[-1]).write_text(piece.to_obj(), encoding="ascii", newline="\n")
        else:
            names = [path.name for path in made.broken.save(work / "pieces.glb")]
        row["folder"] = inside
        row["files"] = [f"{inside}/{name}" for name in names]
        storage.put_folder(work, inside)
    write_text(job.out, row_name("samples", number), as_json(row))


def save_failure(job: Job, number: int, reason: str, lost: bool = False) -> None:
    """Notes why there is no sample. One that is `lost` is tried again by the next run: its
    worker died, which may have had nothing to do with it.
    """
    row = {"id": number, "reason": reason} | ({"lost": True} if lost else {})
    write_text(job.out, row_name("failed", number), as_json(row))


def save_bad_shape(job: Job, shape: Shape, reason: str) -> None:
    name = f"bad_shapes/{shape.category}--{shape.name}.json"
    what = {"category": shape.category, "shape": shape.name, "reason": reason}
    if not at(job.out).exists(name):
        write_text(job.out, name, as_json(what))


def numbers(out: str | Path, kind: str) -> set[int]:
    """The numbers of the samples that are there (`samples`) or failed (`failed`)."""
    stems = (name.rsplit("/", 1)[-1].removesuffix(".json") for name in at(out).find(kind))
    return {int(stem) for stem in stems if stem.isdigit()}


def rows(out: str | Path) -> Iterator[dict[str, Any]]:
    """All samples, in the order of their numbers."""
    for number in sorted(numbers(out, "samples")):
        yield _read_row(out, row_name("samples", number))


def bad_shapes(out: str | Path) -> list[dict[str, str]]:
    return [_read_row(out, name) for name in at(out).find("bad_shapes")]


def failures(out: str | Path) -> list[dict[str, Any]]:
    found = sorted(numbers(out, "failed"))
    return [_read_row(out, row_name("failed", number)) for number in found]


def _read_row(out: str | Path, name: str) -> dict[str, Any]:
    return json.loads(at(out).read(name))


def tidy(out: str | Path, name: str) -> None:
    """Takes away what a killed run left: work, and pieces whose sample does not count."""
    storage = at(out)
    storage.remove(WORK)
    there = numbers(out, "samples")
    folders = {file.rsplit("/", 1)[0] for file in storage.find(name)}
    for folder in sorted(folders):
        number = folder.rsplit("/", 1)[-1].removeprefix("fractured_")
        if not number.isdigit() or int(number) not in there:
            storage.remove(folder)


def forget_lost(out: str | Path) -> None:
    """Takes away the failures of samples whose workers died."""
    for row in failures(out):
        if row.get("lost"):
            at(out).remove(row_name("failed", row["id"]))
