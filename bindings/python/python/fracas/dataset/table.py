"""What is written at the end: the table, the data card, the lists of shapes."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .. import __version__
from . import store
from .sample import Job

BATCH = 1000


def write_all(job: Job) -> None:
    """Writes table, card and lists anew, of the samples that are there."""
    counts = _write_table(job)
    _write_lists(job)
    bad = store.bad_shapes(job.out)
    failed = store.failures(job.out)
    lines = ["category,shape,reason\n"]
    lines += [f"{b['category']},{b['shape']},{_quoted(b['reason'])}\n" for b in bad]
    store.write_text(job.out, "bad_shapes.csv", "".join(lines))
    store.write_text(job.out, "README.md", _card(job, counts, bad, failed))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""').replace("\n", " ") + '"'


def schema() -> Any:
    """The columns of `samples.parquet`."""
    import pyarrow as pa

    numbers = pa.list_(pa.float64())
    pose = pa.struct([("position", numbers), ("rotation", numbers)])
    event = pa.struct(
        [
            ("kind", pa.string()),
            ("seed", pa.int64()),
            ("most_pieces", pa.int32()),
            ("friction", pa.float64()),
            ("rotation", numbers),
            ("height", pa.float64()),
            ("radius", pa.float64()),
            ("speed", pa.float64()),
            ("place", numbers),
            ("from", numbers),
            ("pattern", pa.string()),
        ]
    )
    edge = pa.struct([("a", pa.int32()), ("b", pa.int32()), ("area", pa.float64())])
    return pa.schema(
        [
            ("id", pa.int64()),
            ("category", pa.string()),
            ("shape", pa.string()),
            ("shape_digest", pa.string()),
            ("variant", pa.int32()),
            ("size", pa.float64()),
            ("material", pa.string()),
            ("event", event),
            ("attempt", pa.int32()),
            ("pieces", pa.int32()),
            ("at_rest", pa.bool_()),
            ("seconds", pa.float64()),
            ("overload", pa.float64()),
            ("crack_energy", pa.float64()),
            ("mass", numbers),
            ("volume", numbers),
            ("centre", pa.list_(numbers)),
            ("triangles", pa.list_(pa.int32())),
            ("pose_whole", pose),
            ("pose_after", pa.list_(pose)),
            ("graph", pa.list_(edge)),
            ("digest", pa.string()),
            ("folder", pa.string()),
            ("files", pa.list_(pa.string())),
        ]
    )


def _write_table(job: Job) -> dict[str, Counter]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    counts: dict[str, Counter] = {"event": Counter(), "material": Counter(), "category": Counter()}
    pieces = Counter()
    columns = schema()
    storage = store.at(job.out)
    with storage.scratch() as work:
        path = work / "samples.parquet"
        with pq.ParquetWriter(path, columns, compression="zstd") as writer:
            batch: list[dict[str, Any]] = []
            for row in store.rows(job.out):
                counts["event"][row["event"]["kind"]] += 1
                counts["material"][row["material"]] += 1
                counts["category"][row["category"]] += 1
                pieces[row["pieces"]] += 1
                batch.append(row)
                if len(batch) == BATCH:
                    writer.write_table(pa.Table.from_pylist(batch, columns))
                    batch.clear()
            if batch:
                writer.write_table(pa.Table.from_pylist(batch, columns))
        storage.put_file(path, path.name)
    counts["pieces"] = pieces
    return counts


def _write_lists(job: Job) -> None:
    """Lists of shapes for training and for validation, as Breaking Bad's loaders read them:
    every fifth shape, by its name, is for validation.
    """
    name = job.settings["name"]
    used = sorted({row["folder"].rsplit("/", 1)[0] for row in store.rows(job.out)})
    lists: dict[str, list[str]] = {"train": [], "val": []}
    for folder in used:
        number = 0
        for byte in folder.encode():
            number = (number * 31 + byte) % 1_000_003
        lists["val" if number % 5 == 0 else "train"].append(folder)
    for kind, folders in lists.items():
        text = "".join(folder + "\n" for folder in folders)
        store.write_text(job.out, f"{name}.{kind}.txt", text)


def _card(job: Job, counts: dict[str, Counter], bad: list[Any], failed: list[Any]) -> str:
    total = sum(counts["event"].values())
    pieces = counts["pieces"]
    mean = sum(n * k for n, k in pieces.items()) / total if total else 0.0

    def listed(name: str) -> str:
        parts = (f"{word} {n}" for word, n in sorted(counts[name].items()))
        return ", ".join(parts) or "none"

    name = job.settings["name"]
    lines = [
        f"# {name}: {total} broken things",
        "",
        f"Made by fracas {__version__}: every sample is a shape that was dropped, hit by a steel"
        " ball, or cut by a pattern, and whose pieces fell until they lay still.",
        "",
        "| what | how many |",
        "| --- | --- |",
        f"| samples | {total} |",
        f"| shapes | {len(job.shapes)} given, {len(bad)} not usable |",
        f"| samples that could not be made | {len(failed)} |",
        f"| events | {listed('event')} |",
        f"| materials | {listed('material')} |",
        f"| pieces | {min(pieces, default=0)} to {max(pieces, default=0)}, {mean:.1f} on average |",
        "",
        "## Files",
        "",
        f"- `{name}/CATEGORY/SHAPE/fractured_ID/`: the pieces, closed surfaces in the frame of the"
        " whole shape, metres, y up. OBJ files are laid out as Breaking Bad's.",
        f"- `{name}.train.txt`, `{name}.val.txt`: shapes for training and validation.",
        "- `samples.parquet`: one row a sample: event, material, size, masses, volumes, centres,"
        " poses whole and after the fall, which pieces were neighbours and the area of the crack"
        " between them. Rotations are quaternions (x, y, z, w).",
        "- `samples/`: the same rows as JSON. `failed/`, `bad_shapes.csv`: what is missing, and why.",
        "- `job.json`: settings and shapes. A sample is a function of its number and of this file.",
        "",
        "## What it is not",
        "",
        "Fracture is that of brittle bodies by linear elastic modes: no plastic flow, no dust, no"
        " pieces smaller than a tetrahedron. Materials are uniform; walls thinner than the"
        " tetrahedra are refused. The licence of the shapes is the licence of their pieces.",
        "",
        "## Settings",
        "",
        "```json",
        job.settings.text().rstrip(),
        "```",
        "",
    ]
    return "\n".join(lines)
