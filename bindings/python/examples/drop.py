"""Drops a model and looks at what comes of it: energy over time, sizes of the pieces.

    python examples/drop.py [MODEL.glb] [FOLDER]

Writes energy.png, sizes.png, pieces.png and broken.glb. Needs matplotlib; without a model a
rabbit is written first, which needs trimesh.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import fracas

out = Path(sys.argv[2] if len(sys.argv) > 2 else "out")
out.mkdir(parents=True, exist_ok=True)
if len(sys.argv) > 1:
    model = Path(sys.argv[1])
else:
    model = out / "rabbit.glb"
    fracas.shape("rabbit").boundary().to_trimesh().export(model)

# Fill it, compute how it rings, and let it fall from three metres.
thing = fracas.Blueprint(model, material="plaster", tets=10_000)
print(thing)
world = fracas.World(step=0.004)
world.add_floor(friction=0.6)
turn = [0.5, 0.1, 0.3, 0.8]
height = 3.0
world.add(thing, [0, thing.lift(turn) + height, 0], turn, max_pieces=20)

times, energies, moments, broke = [], [], [], None
# Some moments are kept, to draw them when all pieces are known.
while world.steps < 600:
    world.step()
    times.append(world.steps * 0.004)
    energies.append(world.energy())
    for event in world.events():
        if event["kind"] == "broke":
            broke = times[-1]
            stats = event["stats"]
            print(
                f"broke after {broke:.3f} s into {stats['pieces']} pieces: stress"
                f" {stats['overload']:.1f} times the strength, cracks of {stats['area'] * 1e4:.1f} cm2"
            )
    if world.steps in (180, 200, 240, 600) or world.moving == 0:
        moments.append((times[-1], world.poses()))
    if world.moving == 0:
        break

figure, axes = plt.subplots(figsize=(7, 3.6))
axes.plot(times, energies, color="#4a7fb5")
if broke is not None:
    axes.axvline(broke, color="#b5794a", linestyle="--", label="it breaks")
    axes.legend()
axes.set(xlabel="seconds", ylabel="energy (J)", title=f"{thing.name}, {thing.mass:.2f} kg")
figure.tight_layout()
figure.savefig(out / "energy.png", dpi=120)

broken = world.broken(0)
broken.save(out / "broken.glb")
masses = np.sort(broken.masses)[::-1] * 1e3
figure, axes = plt.subplots(figsize=(7, 3.6))
axes.bar(np.arange(1, len(masses) + 1), masses, color="#b5794a")
axes.set_yscale("log")
axes.set(xlabel="piece, the heaviest first", ylabel="grams", title=f"{len(broken)} pieces")
figure.tight_layout()
figure.savefig(out / "sizes.png", dpi=120)

pieces = {piece.fragment: piece for piece in broken.pieces}
whole = thing.mesh.boundary()
pictures = []
for time, (names, places, turns) in moments:
    meshes = []
    for (_, fragment), place, turn in zip(names.tolist(), places, turns):
        shown = pieces.get(fragment, whole)
        meshes.append((shown.positions, shown.triangles, (190, 200, 215), place, turn))
    pictures.append((fracas.draw(meshes, 420, 300), f"{time:.2f} s"))
(out / "pieces.png").write_bytes(fracas.contact_sheet(pictures, columns=2, title=f"{thing.name} falls"))
print(f"wrote {out}/energy.png, sizes.png, pieces.png, broken.glb")
