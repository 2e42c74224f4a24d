"""Ten thousand random calls that make no sense: an exception each, and the interpreter lives.

A call that is good is taken, and one of its arguments made bad in a way that fits it. Nothing
may pass, nothing may crash, and nothing may end in a panic of the library (`RuntimeError`).
"""

import os
import random
import subprocess
import sys

import numpy as np

import fracas

CALLS = 10_000
NAN, INF = float("nan"), float("inf")

STRANGE = [None, object(), "no", b"no", {}, {"a": 1}, set(), lambda: 0, 1j, [[]], [["a", "b", "c"]], type]
HUGE = np.broadcast_to(np.float64(0.0), (2**40, 3))


def bad_points(chance):
    """No `(n, 3)` finite numbers."""
    n = chance.randrange(1, 6)
    return chance.choice(
        [
            np.zeros((n, 2)),
            np.zeros((n, 4)),
            np.zeros(3 * n + 1),
            np.zeros((n, 3, 1)),
            np.zeros((n, 3), dtype=complex),
            np.zeros((n, 3), dtype="U3"),
            np.zeros((n, 3), dtype=object),
            np.array(1.0),
            [[0, 0, 0], [1, 1]],
            HUGE,
            3.5,
            *[s for s in STRANGE if s != [[]]],
        ]
    )


def bad_vertices(chance):
    """As `bad_points`, or not finite, or missing."""
    odd = np.random.default_rng(chance.randrange(10**6)).random((8, 3))
    odd[chance.randrange(8), chance.randrange(3)] = chance.choice([NAN, INF, -INF])
    return chance.choice([bad_points(chance), odd, np.zeros((0, 3))])


def bad_indices(width, count):
    def make(chance):
        rows = np.random.default_rng(chance.randrange(10**6)).integers(0, count, (6, width))
        out = rows.copy()
        out[chance.randrange(6), chance.randrange(width)] = chance.choice(
            [-1, count, 2**31, 2**32, 2**62, -(2**62)]
        )
        return chance.choice(
            [
                out,
                rows.astype(float),
                rows.astype(complex),
                rows[:, :-1],
                rows.ravel(),
                rows[..., None],
                np.zeros((0, width), dtype=int),
                np.broadcast_to(0, (2**40, width)),
                rows.astype(str),
                5,
                *[s for s in STRANGE if s != [[]]],
            ]
        )

    return make


def bad_vector(chance):
    return chance.choice(
        [[NAN, 0, 0], [0, INF, 0], [1, 2], [1, 2, 3, 4], "abc", 5, [None] * 3, [1e300, 0, 0], object()]
    )


def bad_turn(chance):
    return chance.choice([[0, 0, 0, 0], [NAN, 0, 0, 1], [1, 2, 3], "abcd", 7, [INF, 0, 0, 0], [None] * 4])


def bad_number(low=None):
    def make(chance):
        values = [NAN, "x", [], {}, object(), 1j, INF, -INF, 1e300, -1e300]
        if low is not None:
            values.append(low - 1)
        return chance.choice(values)

    return make


def bad_length(chance):
    """Lengths that no mesh can have, whether they are used or not."""
    return chance.choice([NAN, INF, -INF, 0.0, -1.0, "x", [], {}, object()])


def bad_tets(chance):
    """None at all are no fault: all nodes are spare."""
    while True:
        value = bad_indices(4, 8)(chance)
        if not (isinstance(value, np.ndarray) and value.size == 0):
            return value


def bad_count(chance):
    return chance.choice([-1, 1.5, NAN, "3", [], {}, 2**70, object(), 1j])


def bad_word(chance):
    return chance.choice(["", "nonsense", 5, 1.5, [], {}, object(), b"bytes"])


def bad_mesh(chance):
    return chance.choice(["no-such-file.obj", "", 5, 1.5, [], {}, object(), b"\xff", [[0, 0, 0]], None, fracas])


def calls():
    """Names, functions, good arguments by keyword, and what makes each of them bad."""
    brick = fracas.shape("brick")
    corners = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=float)
    quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    faces = np.array([t for a, b, c, d in quads for t in ([a, b, c], [a, c, d])])
    broken = fracas.shatter(brick, pieces=3)
    kind = fracas.Blueprint(brick, modes=0)
    world = fracas.World()
    world.add(kind)
    tree = fracas.VoxelTree(brick, 0.03)
    scene = fracas.Fastcd()
    body = scene.add(corners, faces)
    scene.update()
    tets = np.array([[0, 1, 2, 4], [3, 1, 2, 7], [5, 1, 4, 7], [6, 2, 4, 7], [1, 2, 4, 7]])
    field = fracas.TetDistance(8, tets)
    asset = fracas.bake(brick)
    picture = np.zeros((4, 4, 3), dtype=np.uint8)
    vertices, triangles = bad_vertices, bad_indices(3, 8)
    points = np.zeros((4, 3))
    return [
        ("Surface", fracas.Surface, dict(positions=corners, triangles=faces), dict(positions=vertices, triangles=triangles)),
        ("TetMesh", fracas.TetMesh, dict(positions=corners, tets=tets), dict(positions=vertices, tets=bad_indices(4, 8))),
        ("shape", fracas.shape, dict(name="brick", tets=100), dict(name=bad_word, tets=lambda c: c.choice([-1, 2**62, 1.5, "x"]))),
        ("read", fracas.read, dict(path="x"), dict(path=lambda c: c.choice(["nope.obj", "", 5, None, b"\xff\xfe", "/", "a\0b", object()]))),
        ("tetrahedralize", fracas.tetrahedralize, dict(mesh=fracas.Surface(corners, faces), tets=100, grade="thin", thicken=0.1),
         dict(mesh=bad_mesh, tets=lambda c: c.choice([0, -1, 2**63, "x", 1.5]), grade=bad_word, thicken=bad_length)),
        ("bake", fracas.bake, dict(mesh=brick, material="brick", modes=5),
         dict(mesh=bad_mesh, material=bad_word, modes=lambda c: c.choice([-1, 2**70, 1.5, "x"]))),
        ("material", fracas.material, dict(name="brick"),
         dict(name=lambda c: c.choice([5, "jelly", {"young": NAN}, {"young": -1}, {"like": "jelly"}, {"x": 1}, {"density": "x"}, {5: 5}, None]))),
        ("shatter", fracas.shatter,
         dict(mesh=brick, pattern="voronoi", pieces=3, at=[0, 0, 0], direction=[0, 1, 0], seed=1, skin="tets", roughness=0.0, crack_scale=1.0, speed=1.0, mass=1.0, drop=1.0, rings=1),
         dict(mesh=bad_mesh, pattern=bad_word, pieces=lambda c: c.choice([0, 1, -1, 10**6, 2**31, 2**70, 1.5, "x"]),
              at=bad_vector, direction=lambda c: c.choice([[0, 0, 0], bad_vector(c)]), seed=bad_count, skin=bad_word,
              roughness=bad_number(), crack_scale=bad_number(), speed=bad_number(0.0), mass=bad_number(0.0), drop=bad_number(0.0),
              rings=bad_count)),
        ("TetMesh.signed_distance", brick.signed_distance, dict(points=points), dict(points=bad_points)),
        ("TetMesh.scaled", brick.scaled, dict(factor=2.0), dict(factor=bad_number(0.0))),
        ("TetMesh.save", brick.save, dict(path="x"), dict(path=lambda c: c.choice(["a.docx", "", 5, "/no/where/x.vtu", None]))),
        ("Broken.signed_distance", broken.signed_distance, dict(points=points, piece=0), dict(points=bad_points, piece=lambda c: c.choice([3, -1, 2**70, "x", 1.5, None]))),
        ("Broken.save", broken.save, dict(path="x.glb", explode=0.0), dict(path=lambda c: c.choice(["a.docx", "", 5, "/no/where/x.glb", None]), explode=lambda c: c.choice([NAN, -1, "x", INF, []]))),
        ("Asset.from_bytes", fracas.Asset.from_bytes, dict(bytes=b""), dict(bytes=lambda c: damaged(c, asset.to_bytes()))),
        ("Blueprint", fracas.Blueprint, dict(mesh=brick, modes=0), dict(mesh=bad_mesh, modes=lambda c: c.choice([-1, 2**70, 1.5, "x"]), material=bad_word, tets=lambda c: c.choice([0, -1, "x"]), edge=bad_length, thicken=bad_length)),
        ("Blueprint.lift", kind.lift, dict(rotation=[0, 0, 0, 1]), dict(rotation=bad_turn)),
        ("World", fracas.World, dict(step=0.01),
         dict(step=bad_number(0.0), gravity=bad_vector, length_unit=bad_number(0.0), contacts=bad_word, threads=lambda c: c.choice([0, -1, 2**40, 1.5, "x"]), event_impulse=lambda c: c.choice([NAN, "x", [], None]))),
        ("World.add_floor", world.add_floor, dict(y=0.0, friction=0.5), dict(y=bad_number(), friction=bad_number(0.0))),
        ("World.add", world.add, dict(blueprint=kind),
         dict(blueprint=lambda c: c.choice([5, None, "brick", brick, object()]), position=bad_vector, rotation=bad_turn, velocity=bad_vector, spin=bad_vector,
              friction=bad_number(0.0), restitution=bad_number(0.0), max_pieces=lambda c: c.choice([0, 1, -1, "x", 1.5]), energy_scale=bad_number(0.0), seed=bad_count)),
        ("World.add_ball", world.add_ball, dict(radius=0.1, position=[0, 1, 0]),
         dict(radius=bad_number(0.0), position=bad_vector, velocity=bad_vector, density=bad_number(0.0), friction=bad_number(0.0))),
        ("World.step", world.step, dict(count=1), dict(count=bad_count)),
        ("World.settle", world.settle, dict(seconds=0.1), dict(seconds=bad_number(0.0))),
        ("World.restore", world.restore, dict(bytes=b""), dict(bytes=lambda c: damaged(c, world.snapshot()))),
        ("World.break_piece", world.break_piece, dict(piece=(0, 0), pieces=3),
         dict(piece=bad_piece, pattern=lambda c: c.choice(["impact", bad_word(c)]), pieces=lambda c: c.choice([0, 1, -1, 10**6, 2**31, "x"]), at=bad_vector, direction=bad_vector, seed=bad_count, roughness=bad_number())),
        ("World.push", world.push, dict(piece=(0, 0), impulse=[0, 0, 0]), dict(piece=bad_piece, impulse=bad_vector)),
        ("World.broken", world.broken, dict(object=0), dict(object=lambda c: c.choice([1, -1, 2**40, "x", None]), skin=bad_word, crack_scale=bad_number())),
        ("World.signed_distance", world.signed_distance, dict(points=points, piece=(0, 0)), dict(points=bad_points, piece=bad_piece)),
        ("VoxelTree", fracas.VoxelTree, dict(mesh=brick, cell=0.05), dict(mesh=bad_mesh, cell=lambda c: c.choice([0.0, -1.0, NAN, 1e-9, "x", INF]), branching=lambda c: c.choice([0, 1, 99, -1, "x"]))),
        ("VoxelTree.level", tree.level, dict(level=0), dict(level=lambda c: c.choice([99, -1, 2**70, "x", None]))),
        ("VoxelTree.collide", tree.collide, dict(other=tree), dict(other=lambda c: c.choice([None, 5, brick]), position=bad_vector, rotation=bad_turn, tests=lambda c: c.choice([-1, "x", 2**70]), level=lambda c: c.choice([-1, "x", 2**40]))),
        ("Fastcd.add", scene.add, dict(positions=corners, triangles=faces), dict(positions=bad_points, triangles=triangles)),
        ("Fastcd.move", scene.move, dict(body=body, positions=corners), dict(body=lambda c: c.choice([99, -1, "x", None]), positions=lambda c: c.choice([corners[:-1], vertices(c)]))),
        ("Fastcd.delete", scene.delete, dict(body=99), dict(body=lambda c: c.choice([99, -1, "x", None]))),
        ("Fastcd.merge", scene.merge, dict(bodies=[]), dict(bodies=lambda c: c.choice([[], [99], [body, body], 5, None, ["x"]]))),
        ("Fastcd.split", scene.split, dict(body=body, parts=[[0]]), dict(parts=lambda c: c.choice([[], [[0]], [[0], [0]], [[99]], [[-1]], 5, None, [[]]]), body=lambda c: c.choice([99, -1, "x"]))),
        ("Fastcd.edges", scene.edges, dict(edges=[0]), dict(edges=lambda c: c.choice([[10**6], [-1], 5, None, ["x"]]))),
        ("Fastcd.numbers", scene.numbers, dict(body=body), dict(body=lambda c: c.choice([99, -1, "x", None]))),
        ("TetDistance", fracas.TetDistance, dict(nodes=8, tets=tets), dict(nodes=lambda c: c.choice([0, 2, -1, 2**62, "x", 1.5]), tets=bad_tets, method=bad_word)),
        ("TetDistance.depths", field.depths, dict(positions=corners), dict(positions=lambda c: c.choice([corners[:-1], finite_or_bad(c)]))),
        ("TetDistance.closest", field.closest, dict(positions=corners), dict(positions=lambda c: c.choice([corners[:-1], finite_or_bad(c)]))),
        ("overlapping_tets", fracas.overlapping_tets, dict(objects=[(field, corners)]), dict(objects=lambda c: c.choice([5, None, [5], [(field,)], [(field, corners[:-1])], [(5, corners)], [(field, finite_or_bad(c))]]))),
        ("Random", fracas.Random, dict(seed=1), dict(seed=bad_count)),
        ("Random.below", fracas.Random(1).below, dict(n=3), dict(n=lambda c: c.choice([0, -1, "x", 1.5, None]))),
        ("Random.uniform", fracas.Random(1).uniform, dict(low=0.0, high=1.0), dict(low=lambda c: c.choice([2.0, NAN, INF, "x"]), high=lambda c: c.choice([-1.0, NAN, INF, "x"]))),
        ("Random.log_uniform", fracas.Random(1).log_uniform, dict(low=1.0, high=2.0), dict(low=lambda c: c.choice([0.0, -1.0, 3.0, NAN, "x"]), high=lambda c: c.choice([0.5, NAN, INF, "x"]))),
        ("draw", fracas.draw, dict(meshes=[(corners, faces, None, None, None)], width=8, height=8),
         dict(meshes=lambda c: c.choice([[], 5, None, [5], [(corners, faces)], [(bad_vertices(c), faces, None, None, None)], [(corners, bad_tets(c), None, None, None)], [(corners, faces, (300, 0, 0), None, None)], [(corners, faces, None, bad_vector(c), None)], [(corners, faces, None, None, bad_turn(c))]]),
              width=lambda c: c.choice([0, -1, 2**40, "x", 1.5]), height=lambda c: c.choice([0, -1, 2**40, "x", 1.5]), towards=lambda c: c.choice([[0, 0, 0], bad_vector(c)]))),
        ("contact_sheet", fracas.contact_sheet, dict(pictures=[(picture, "a")], columns=1),
         dict(pictures=lambda c: c.choice([[], 5, None, [picture], [(picture, 5)], [(picture.astype(float), "a")], [(picture[0], "a")], [(picture[:, :, :2], "a")]]), columns=lambda c: c.choice([0, -1, "x", 1.5]))),
    ]


def finite_or_bad(chance):
    while True:
        value = bad_vertices(chance)
        if not (isinstance(value, np.ndarray) and value.shape == (8, 3) and np.isfinite(value).all()):
            return value


def bad_piece(chance):
    return chance.choice([(0, 99), (99, 0), (-1, 0), (0,), 5, None, "ab", (0, 0, 0), (2**40, 0), (0.5, 0)])


def damaged(chance, good):
    spoilt = bytearray(good)
    for _ in range(chance.randrange(1, 4)):
        spoilt[chance.randrange(len(spoilt))] ^= chance.randrange(1, 256)
    return chance.choice([bytes(spoilt), good[: chance.randrange(len(good))], b"", 5, None, "text"])


def main(count, seed):
    table = calls()
    chance = random.Random(seed)
    seen = {}
    os.chdir(os.environ["FRACAS_SCRATCH"])
    for i in range(count):
        name, function, good, bad = chance.choice(table)
        key = chance.choice(sorted(bad))
        value = bad[key](chance)
        arguments = {**good, key: value}
        try:
            with np.errstate(all="ignore"):
                result = function(**arguments)
        except RuntimeError as error:
            raise AssertionError(f"call {i}: {name}, {key}={value!r}: {error}") from error
        except Exception as error:  # noqa: BLE001
            seen.setdefault((name, key), set()).add(type(error).__name__)
        else:
            raise AssertionError(f"call {i}: {name} took {key}={value!r} and gave {result!r}")
    arguments = {(name, key) for name, _, _, bad in table for key in bad}
    missing = arguments - set(seen)
    assert not missing or count < CALLS, f"never tried: {missing}"
    print(f"{count} bad calls, {len(seen)} arguments, an exception each")


def test_bad_calls_raise_and_never_crash(tmp_path):
    environment = {**os.environ, "FRACAS_SCRATCH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, __file__, str(CALLS)], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, f"ended with {done.returncode}\n{done.stderr[-3000:]}"
    assert f"{CALLS} bad calls" in done.stdout


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 22)
