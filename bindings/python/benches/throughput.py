"""Samples per core and hour: shapes of many triangles, 20 pieces at most.

    python benches/throughput.py SAMPLES [MESH ...]

Times are of the processor, of one thread: filling and modes of a shape once, then its
samples. Without meshes the rabbit is taken, its triangles divided, which needs trimesh.
"""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

os.environ["RAYON_NUM_THREADS"] = "1"

import fracas
from fracas import dataset
from fracas.dataset import run
from fracas.dataset.sample import Kinds
from fracas.dataset.settings import Settings
from fracas.dataset.shapes import find_shapes

count = int(sys.argv[1]) if len(sys.argv) > 1 else 16
settings = Settings({"pieces": 20, "variants": 1, "size": 0.25, "material": "plaster"})
# Tetrahedra that the rabbit is made of, and how often the triangles of its surface are divided.
RABBITS = ((11_000, 0), (11_000, 1), (13_500, 2), (14_000, 2))


def put_shapes(folder):
    """One folder a shape."""
    for i, mesh in enumerate(sys.argv[2:]):
        (folder / str(i)).mkdir(parents=True)
        shutil.copy(mesh, folder / str(i))
    for i, (tets, divide) in enumerate(() if sys.argv[2:] else RABBITS):
        surface = fracas.shape("rabbit", tets=tets).boundary().to_trimesh()
        for _ in range(divide):
            surface = surface.subdivide()
        (folder / str(i)).mkdir(parents=True)
        surface.export(folder / str(i) / "rabbit.ply")
    return sorted(folder.iterdir(), key=lambda p: int(p.name))


print("| shape | triangles | shape ready (s) | a sample (s) | samples per core and hour | pieces |")
print("| --- | --- | --- | --- | --- | --- |")
with tempfile.TemporaryDirectory() as work:
    for folder in put_shapes(Path(work) / "shapes"):
        shape = find_shapes(folder)[0]
        triangles = len(fracas.read(shape.source).triangles)
        # As the run itself finds it: ready for all of its samples.
        start = time.process_time()
        kinds = run._kinds.setdefault(settings.key(), Kinds(settings))
        kinds.get(shape, 0)
        ready = time.process_time() - start
        out = Path(work) / f"set-{folder.name}"
        start = time.process_time()
        made = dataset.make(folder, count, out, settings, processes=1, progress=None)
        each = (time.process_time() - start) / count
        pieces = [row["pieces"] for row in dataset.rows(out)]
        print(
            f"| {shape.name} | {triangles:,} | {ready:.1f} | {each:.2f} | {3600 / each:,.0f} |"
            f" {sum(pieces) / max(1, len(pieces)):.1f} of {made['samples']} samples |",
            flush=True,
        )
