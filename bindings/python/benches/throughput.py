"""Samples per core and hour, for shapes of 5,000 to 100,000 triangles and 20 pieces.

    python benches/throughput.py [SAMPLES]

Times are of the processor, of one thread: filling and modes of the shape once, then its
samples. The shape is the rabbit, its triangles divided. Needs trimesh.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

os.environ["RAYON_NUM_THREADS"] = "1"

import trimesh

import fracas
from fracas import dataset
from fracas.dataset.settings import Settings

count = int(sys.argv[1]) if len(sys.argv) > 1 else 16
settings = Settings({"pieces": 20, "variants": 1, "size": 0.25, "material": "plaster"})

print("| triangles | tetrahedra | shape ready (s) | a sample (s) | samples per core and hour | pieces |")
print("| --- | --- | --- | --- | --- | --- |")
for tets, divide in ((11_000, 0), (11_000, 1), (14_000, 2)):
    with tempfile.TemporaryDirectory() as folder:
        shapes = Path(folder) / "shapes"
        shapes.mkdir()
        surface = fracas.shape("rabbit", tets=tets).boundary().to_trimesh()
        for _ in range(divide):
            surface = surface.subdivide()
        surface.export(shapes / "rabbit.ply")
        start = time.process_time()
        kind = fracas.dataset.sample.make_kind(
            settings, fracas.dataset.shapes.find_shapes(shapes)[0], 0
        )
        ready = time.process_time() - start
        start = time.process_time()
        made = dataset.make(shapes, count, Path(folder) / "set", settings, processes=1, progress=None)
        each = (time.process_time() - start - ready) / count
        rows = list(dataset.rows(Path(folder) / "set"))
        pieces = sum(row["pieces"] for row in rows) / max(1, len(rows))
        print(
            f"| {len(surface.faces):,} | {len(kind.blueprint.mesh.tets):,} | {ready:.1f} | {each:.2f} |"
            f" {3600 / each:,.0f} | {pieces:.1f} of {made['samples']} samples |",
            flush=True,
        )
