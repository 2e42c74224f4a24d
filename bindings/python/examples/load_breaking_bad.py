"""Loads a data set as loaders of the Breaking Bad benchmark do, and trains nothing.

    python -m fracas.dataset make --shapes builtin --count 20 --out set
    python examples/load_breaking_bad.py set [NAME]

The steps are those of the benchmark's own loader: a list names the shapes; each of their
folders that is called `fractured…` holds one piece a file and nothing else; points are drawn
on the pieces, every piece is turned and moved, and a model would learn to undo that.
Needs trimesh.
"""

import os
import sys

import numpy as np
import trimesh

folder = sys.argv[1]
name = sys.argv[2] if len(sys.argv) > 2 else "fracas"
least, most, points = 2, 20, 1000

found = []
with open(os.path.join(folder, f"{name}.train.txt")) as shapes:
    for shape in shapes.read().split():
        for fracture in sorted(os.listdir(os.path.join(folder, shape))):
            if "fractured" in fracture or "mode" in fracture:
                inside = os.path.join(folder, shape, fracture)
                if least <= len(os.listdir(inside)) <= most:
                    found.append(inside)
print(f"{len(found)} fractures of {least} to {most} pieces")

chance = np.random.default_rng(0)
clouds, answers = [], []
for inside in found:
    for file in sorted(os.listdir(inside)):
        piece = trimesh.load(os.path.join(inside, file), process=False)
        cloud = np.asarray(trimesh.sample.sample_surface(piece, points, seed=0)[0])
        centre = cloud.mean(axis=0)
        turn = trimesh.transformations.random_rotation_matrix(chance.random(3))[:3, :3]
        clouds.append(((cloud - centre) @ turn.T).astype(np.float32))
        answers.append((turn, centre, cloud))
batch = np.stack(clouds)
print(f"{len(batch)} pieces as points: {batch.shape}, {batch.dtype}")
# What a model should find: each cloud, turned and moved back, is where it was.
off = max(
    np.abs(cloud @ turn + centre - whole).max()
    for cloud, (turn, centre, whole) in zip(batch, answers)
)
print(f"with the right answers all points are where they were, to {off:.0e} m")
