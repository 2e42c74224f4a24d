"""The same bits as Rust, and as the command line."""

import numpy as np
import pytest
from conftest import checksum

import fracas


def points_around(mesh, count):
    """The points that the example `bits` asks, in single precision as there."""
    low, high = (np.array(b, dtype=np.float32) for b in mesh.bounds)
    chance = fracas.Random(22)
    # `unit` of the library: the upper 24 bits.
    units = [(chance.bits() >> 40) / (1 << 24) for _ in range(3 * count)]
    share = np.array(units, dtype=np.float32).reshape(-1, 3)
    share = share * np.float32(1.5) - np.float32(0.25)
    return low + (high - low) * share


@pytest.mark.parametrize("which", range(4))
def test_meshes_distances_pieces_depths_and_voxels(bits, which):
    told = bits["shapes"][which]
    mesh = fracas.shape(told["name"])
    assert checksum(mesh.positions) == told["positions"]
    assert checksum(mesh.tets) == told["tets"]

    points = points_around(mesh, 2000)
    distances, normals = mesh.signed_distance(points, max_distance=np.float32(0.05))
    assert checksum(distances) == told["distances"]
    near = np.isfinite(distances)
    assert near.any() and not near.all()
    lengths = np.linalg.norm(normals, axis=1)
    assert np.allclose(lengths[near], 1.0, atol=1e-4) and not lengths[~near].any()

    broken = fracas.shatter(mesh, "voronoi", 9, seed=5)
    assert checksum(broken.volumes) == told["volumes"]
    assert checksum(broken.graph()[1]) == told["areas"]
    assert len(broken) == len(told["piece_distances"])
    for i, expected in enumerate(told["piece_distances"]):
        distances, _ = broken.signed_distance(points, i, max_distance=np.float32(0.05))
        assert checksum(distances) == expected, i

    depths = fracas.TetDistance(len(mesh.positions), mesh.tets).depths(mesh.positions)
    assert checksum(depths) == told["depths"]

    tree = fracas.VoxelTree(mesh, told["cell"])
    levels = [tree.level(i) for i in range(tree.levels)]
    assert checksum(np.concatenate([centres for _, centres, _, _ in levels])) == told["cubes"]
    assert checksum(np.concatenate([filled for _, _, filled, _ in levels])) == told["occupancies"]

    try:
        filled = checksum(fracas.tetrahedralize(mesh.boundary(), tets=3000).positions)
    except fracas.FracasError:
        filled = None
    assert filled == told["filled"]


def test_baked_bytes(bits):
    asset = fracas.bake("rabbit", tets=1500, material="porcelain", modes=12)
    assert checksum(np.frombuffer(asset.to_bytes(), np.uint8)) == bits["bake"]


def test_a_world_that_breaks(bits):
    world = fracas.World(step=0.01, length_unit=0.05)
    world.add_floor()
    plate = fracas.Blueprint("plate", material="porcelain")
    world.add(plate, [0, 0.3, 0], velocity=[0.5, -4, 0], spin=[1, 0, 2], max_pieces=12, seed=3)
    energies = []
    for _ in range(120):
        world.step()
        energies.append(world.energy())
    assert len(world.pieces) == bits["world"]["pieces"] > 2
    assert checksum(np.array(energies)) == bits["world"]["energies"]
    assert world.digest() == bits["world"]["digest"]


def test_a_sheet_that_folds(bits):
    told = bits["fastcd"]
    side = 24
    i = np.arange(side * side)
    flat = np.stack([i % side, np.zeros(side * side), i // side], axis=1).astype(float)
    triangles = []
    for z in range(side - 1):
        for x in range(side - 1):
            a, b = z * side + x, z * side + x + 1
            c, d = a + side, b + side
            triangles += [[a, c, b], [b, c, d]]
    scene = fracas.Fastcd()
    body = scene.add(flat, triangles)
    scene.update()
    half = side // 2
    over = flat[:, 0] > half
    folded = flat.copy()
    folded[over, 0] = 2.0 * half - flat[over, 0] + 0.25
    folded[over, 1] = 0.125 * (flat[over, 0] - half) - 0.5
    folded[over, 2] += 0.125
    scene.move(body, folded)
    scene.update()
    contacts = scene.contacts()
    assert len(contacts["vertex_face"]) == told["vertex_face"] > 0
    assert checksum(contacts["vertex_face_times"]) == told["vertex_face_times"]
    assert len(contacts["edge_edge"]) == told["edge_edge"] > 0
    assert checksum(contacts["edge_edge_times"]) == told["edge_edge_times"]
    pairs = scene.intersections()
    assert len(pairs) == told["count"] > 0
    assert checksum(pairs) == told["intersections"]
    ends = scene.edges(contacts["edge_edge"].ravel().tolist())
    assert (ends[:, 0] < ends[:, 1]).all() and ends.max() < side * side


@pytest.mark.parametrize(
    "options, flags",
    [
        (dict(pieces=8, seed=3), ["--pieces", "8", "--seed", "3"]),
        (dict(pattern="slices", pieces=5), ["--pattern", "slices", "--pieces", "5"]),
        (dict(pattern="radial", pieces=6), ["--pattern", "radial", "--pieces", "6"]),
        (dict(pattern="conchoidal", pieces=4), ["--pattern", "conchoidal", "--pieces", "4"]),
        (
            dict(pattern="impact", pieces=6, material="brick", speed=20, mass=1.0),
            ["--pattern", "impact", "--pieces", "6", "--material", "brick", "--speed", "20", "--mass", "1"],
        ),
        (
            dict(pattern="impact", pieces=6, material="brick", drop=8, direction=[0.3, -1, 0.2]),
            ["--pattern", "impact", "--pieces", "6", "--material", "brick", "--drop", "8", "--direction", "0.3,-1,0.2"],
        ),
    ],
)
def test_files_of_shatter(command, tmp_path, options, flags):
    command("shatter", "brick", *flags, "-o", tmp_path / "rust.glb")
    broken = fracas.shatter("brick", **options)
    broken.save(tmp_path / "python.glb")
    rust, python = ((tmp_path / f"{name}.glb").read_bytes() for name in ("rust", "python"))
    assert rust == python
    assert (broken.stats is not None) == (options.get("pattern") == "impact")


@pytest.mark.parametrize(
    "file", ["tet/ipc_bunny.msh", "tet/bullet_torus.vtk", "surface/spot.obj", "textured/BoxTextured.glb"]
)
def test_public_meshes(command, tmp_path, public_data, file):
    path = public_data(file)
    command("shatter", path, "--pieces", "7", "--tets", "3000", "-o", tmp_path / "rust.glb")
    broken = fracas.shatter(path, pieces=7, tets=3000)
    broken.save(tmp_path / "python.glb")
    assert (tmp_path / "rust.glb").read_bytes() == (tmp_path / "python.glb").read_bytes()


@pytest.mark.parametrize(
    "arguments, call",
    [
        (["shatter", "no-such"], lambda: fracas.shatter("no-such")),
        (["shatter", "brick", "--pieces", "100000"], lambda: fracas.shatter("brick", pieces=100000)),
        (
            ["shatter", "brick", "--pattern", "impact", "--speed", "0.01"],
            lambda: fracas.shatter("brick", "impact", speed=0.01),
        ),
        (["shatter", "brick", "--material", "jelly"], lambda: fracas.material("jelly")),
    ],
)
def test_messages_are_those_of_the_command_line(command, tmp_path, arguments, call):
    status = 2 if "jelly" in arguments else 1
    said = command(*arguments, "-o", tmp_path / "x.glb", status=status)
    with pytest.raises(fracas.FracasError) as caught:
        call()
    assert str(caught.value) in said
