"""Meshes in and out."""

import signal
import threading
import time

import numpy as np
import pytest

import fracas


def test_a_surface_is_repaired_and_told_of(cube):
    corners, triangles = cube
    twice = np.concatenate([corners, corners])
    more = np.concatenate([triangles, [[0, 0, 1]]])
    more[3] += 8
    surface = fracas.Surface(twice, more)
    assert surface.volume == pytest.approx(1.0) and surface.area == pytest.approx(6.0)
    assert len(surface.positions) == 8 and len(surface.triangles) == 12
    assert surface.repairs, "it says what it repaired"
    report = surface.inspect()
    assert report["closed"] and report["genus"] == 0


def test_filling_keeps_volume_and_says_what_it_chose(cube, tmp_path):
    mesh = fracas.tetrahedralize(fracas.Surface(*cube), tets=2000)
    assert mesh.volume == pytest.approx(1.0, rel=1e-2)
    assert mesh.positions.dtype == np.float32 and mesh.tets.shape[1] == 4
    assert mesh.inspect()["inverted"] == 0
    again = fracas.TetMesh(mesh.positions, mesh.tets)
    assert again.volume == mesh.volume
    mesh.save(tmp_path / "cube.vtu")
    read = fracas.read(tmp_path / "cube.vtu")
    assert isinstance(read, fracas.TetMesh) and np.array_equal(read.tets, mesh.tets)
    surface = mesh.boundary()
    surface.save(tmp_path / "cube.obj")
    assert isinstance(fracas.read(tmp_path / "cube.obj"), fracas.Surface)
    with pytest.raises(fracas.FracasError, match="vtu or .msh"):
        mesh.save(tmp_path / "cube.docx")
    assert not (tmp_path / "cube.docx").exists()


def test_open_surfaces_are_refused_unless_thickened(cube):
    corners, triangles = cube
    sheet = fracas.Surface(corners, triangles[:2])
    with pytest.raises(fracas.FracasError, match="inside"):
        fracas.tetrahedralize(sheet, tets=500)
    assert fracas.tetrahedralize(sheet, tets=500, thicken=0.2).volume > 0.1


def test_trimesh_goes_in_and_out():
    trimesh = pytest.importorskip("trimesh")
    ball = trimesh.creation.icosphere(subdivisions=2)
    mesh = fracas.tetrahedralize(ball, tets=1500)
    assert mesh.volume == pytest.approx(ball.volume, rel=0.03)
    broken = fracas.shatter(ball, pieces=5, tets=1500)
    pieces = [piece.to_trimesh() for piece in broken.pieces]
    assert len(pieces) == 5 and all(piece.is_watertight for piece in pieces)
    assert sum(piece.volume for piece in pieces) == pytest.approx(ball.volume, rel=0.03)
    back = mesh.boundary().to_trimesh()
    assert back.is_watertight and back.volume == pytest.approx(mesh.volume, rel=1e-5)


def test_meshio_goes_in_and_out():
    meshio = pytest.importorskip("meshio")
    mesh = fracas.shape("brick").to_meshio()
    assert isinstance(mesh, meshio.Mesh)
    broken = fracas.shatter(mesh, pieces=4)
    assert len(broken) == 4
    with pytest.raises(fracas.FracasError, match="neither"):
        fracas.shatter(meshio.Mesh(mesh.points, [("line", [[0, 1]])]))


def test_pieces_are_closed_and_their_cracks_add_up():
    broken = fracas.shatter("rabbit", pieces=10, skin="tets")
    pairs, areas = broken.graph()
    assert (pairs[:, 0] < pairs[:, 1]).all() and (areas > 0).all()
    whole = fracas.shape("rabbit")
    assert broken.volumes.sum() == pytest.approx(whole.volume, rel=1e-6)
    nodes = broken.node_pieces
    assert len(nodes) == len(whole.positions) and set(nodes) == set(range(len(broken)))
    for i, piece in enumerate(broken.pieces):
        corners = piece.positions[piece.triangles].astype(float)
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        normals = np.cross(b - a, c - a)
        sides = np.concatenate([piece.triangles[:, [0, 1]], piece.triangles[:, [1, 2]], piece.triangles[:, [2, 0]]])
        there = {tuple(s) for s in sides.tolist()}
        assert all((q, p) in there for p, q in there), "closed"
        cracks = 0.5 * np.linalg.norm(normals[piece.is_crack], axis=1).sum()
        told = areas[(pairs == i).any(axis=1)].sum()
        assert told == pytest.approx(cracks, rel=1e-3)
        assert (a * np.cross(b, c)).sum() / 6 == pytest.approx(piece.volume, rel=1e-4)
        inertia = piece.inertia
        assert np.allclose(inertia, inertia.T) and (np.linalg.eigvalsh(inertia) > 0).all()
    assert len(broken[-1].positions) == len(broken.pieces[-1].positions)
    with pytest.raises(IndexError):
        broken[10]


def test_distances_to_pieces_are_those_to_their_surfaces():
    broken = fracas.shatter("brick", pieces=5, skin="tets")
    chance = np.random.default_rng(1)
    low, high = map(np.array, fracas.shape("brick").bounds)
    points = low + (high - low) * chance.random((400, 3))
    inside = np.stack([broken.signed_distance(points, i)[0] <= 0 for i in range(len(broken))])
    assert (inside.sum(axis=0) == 1).all(), "every point is in one piece"
    # The distance of a vertex to its own piece is nothing.
    piece = broken[2]
    distances, _ = broken.signed_distance(piece.positions, 2)
    assert np.abs(distances).max() < 1e-5


def test_an_asset_is_what_it_was(tmp_path):
    asset = fracas.bake("brick", material="brick", modes=10)
    asset.save(tmp_path / "brick.fracas")
    again = fracas.Asset.load(tmp_path / "brick.fracas")
    assert again.to_bytes() == asset.to_bytes()
    assert len(again.frequencies) >= 10 and (np.diff(again.frequencies) >= 0).all()
    broken = bytearray(asset.to_bytes())
    broken[len(broken) // 2] ^= 1
    with pytest.raises(fracas.FracasError):
        fracas.Asset.from_bytes(bytes(broken))


def test_overlapping_tetrahedra_are_found():
    brick = fracas.shape("brick")
    field = fracas.TetDistance(len(brick.positions), brick.tets)
    size = brick.bounds[1][0] - brick.bounds[0][0]
    moved = brick.positions + np.array([0.5 * size, 0, 0], dtype=np.float32)
    found = fracas.overlapping_tets([(field, brick.positions), (field, moved)])
    assert len(found) and set(found[:, 0]) == {0} and set(found[:, 2]) == {1}
    far = brick.positions + np.array([5 * size, 0, 0], dtype=np.float32)
    assert len(fracas.overlapping_tets([(field, brick.positions), (field, far)])) == 0


def test_voxels_meet_where_bodies_do():
    brick = fracas.shape("brick")
    tree = fracas.VoxelTree(brick, 0.01)
    assert tree.volume == pytest.approx(brick.volume, rel=1e-4)
    length = brick.bounds[1][0] - brick.bounds[0][0]
    apart = tree.collide(tree, [3 * length, 0, 0])
    assert apart["stopped"] == "apart" and len(apart["points"]) == 0 and apart["gap"] > 0
    meet = tree.collide(tree, [0.9 * length, 0, 0])
    assert meet["stopped"] == "finest" and len(meet["points"]) > 0
    few = tree.collide(tree, [0.9 * length, 0, 0], tests=5)
    assert few["stopped"] == "tests"


def test_the_lock_is_released_during_work():
    """Another thread counts on while this one fills."""
    counted = 0
    stop = threading.Event()

    def count():
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    before = counted
    start = time.perf_counter()
    fracas.shape("rabbit", tets=20_000)
    took = time.perf_counter() - start
    heard = counted - before
    stop.set()
    other.join()
    assert heard > 0.1 * took / 0.001, (heard, took)


def test_ctrl_c_ends_long_work():
    def interrupt():
        time.sleep(0.3)
        signal.raise_signal(signal.SIGINT)

    timer = threading.Thread(target=interrupt)
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        fracas.bake("rabbit", tets=60_000, material="porcelain", modes=200)
    assert time.perf_counter() - start < 5
    timer.join()
