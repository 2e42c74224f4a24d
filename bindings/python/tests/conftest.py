"""What several tests share."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest

import fracas

# Where the tests run in the background, Ctrl-C may be off, and children would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Public meshes and models, which are not part of the repository.
DATA = Path(os.environ.get("FRACAS_DATA", Path(__file__).parents[4] / "shared" / "data"))

# Samples of the data set that tests share, and its settings.
COUNT = 14
SMALL = """
tets = 600
modes = 8
variants = 1
duration = 0.4
pieces = { integers = [3, 8] }
size = 0.2
event = { choice = ["drop", "hit", "pattern"] }
drop = { height = { uniform = [3.0, 9.0] } }
hit = { speed = { uniform = [8.0, 25.0] }, radius = 0.04, orientation = "any" }
"""


def checksum(array: np.ndarray) -> int:
    """As the example `bits` of the conformance crate computes it."""
    return zlib.crc32(np.ascontiguousarray(array).tobytes())


@pytest.fixture(scope="session")
def bits():
    """What Rust computes: printed by the example `bits`, which `cargo xtask test` builds."""
    program = os.environ.get("FRACAS_BITS")
    if not program:
        pytest.skip("FRACAS_BITS does not name the program that prints Rust's results")
    return json.loads(subprocess.run([program], check=True, capture_output=True).stdout)


@pytest.fixture(scope="session")
def command():
    """Runs the command line; gives what it wrote to standard error."""
    program = os.environ.get("FRACAS_COMMAND")
    if not program:
        pytest.skip("FRACAS_COMMAND does not name the command line")

    def run(*arguments: str, status: int = 0) -> str:
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return done.stderr

    return run


@pytest.fixture
def public_data(request):
    """Gives the path of a file of the public data, or skips the test. Only tests named
    `test_public_...` may use it, and each is listed in conformance/public-data.
    """
    assert request.node.name.startswith("test_public_"), "see conformance/public-data"

    def find(file: str) -> Path:
        path = DATA / file
        if not path.exists():
            pytest.skip(f"public data {file} is not under {DATA} (set FRACAS_DATA)")
        return path

    return find


def pytest_collection_modifyitems(items):
    """Marks the tests that start clusters of Ray."""
    for item in items:
        if "cluster" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.cluster)


@pytest.fixture
def cube():
    """A closed cube, outward."""
    corners = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=float)
    quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    triangles = [t for a, b, c, d in quads for t in ([a, b, c], [a, c, d])]
    return corners, np.array(triangles)


def drum(sides):
    """A cylinder as an OFF file."""
    turns = [2 * np.pi * i / sides for i in range(sides)]
    ring = [(np.cos(t), np.sin(t)) for t in turns]
    vertices = [f"{x:.6f} {y} {z:.6f}" for y in (0, 1.5) for x, z in ring]
    down = " ".join(str(i) for i in range(sides))
    up = " ".join(str(2 * sides - 1 - i) for i in range(sides))
    faces = [f"{sides} {down}", f"{sides} {up}"]
    for i in range(sides):
        j = (i + 1) % sides
        faces.append(f"4 {i} {i + sides} {j + sides} {j}")
    return "\n".join([f"OFF\n{2 * sides} {len(faces)} 0", *vertices, *faces]) + "\n"


@pytest.fixture(scope="session")
def shapes(tmp_path_factory):
    """Two shapes that are good, and two that are not."""
    folder = tmp_path_factory.mktemp("shapes")
    (folder / "Good").mkdir()
    fracas.shape("brick").boundary().save(folder / "Good" / "brick.obj")
    (folder / "Good" / "drum.off").write_text(drum(20))
    (folder / "Bad").mkdir()
    (folder / "Bad" / "garbage.obj").write_text("v 0 0 nonsense\n")
    (folder / "Bad" / "open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    return folder


@pytest.fixture(scope="session")
def settings(tmp_path_factory):
    path = tmp_path_factory.mktemp("settings") / "small.toml"
    path.write_text(SMALL)
    return path


def files(folder):
    """All files of a data set, with what is in them."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file():
            name = path.relative_to(folder).as_posix()
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@pytest.fixture(scope="session")
def made(shapes, settings, tmp_path_factory):
    """A data set by one process."""
    out = tmp_path_factory.mktemp("one") / "set"
    dataset = pytest.importorskip("fracas.dataset")
    pytest.importorskip("pyarrow")
    counts = dataset.make(shapes, COUNT, out, settings, processes=1, progress=None)
    assert counts["samples"] + counts["failed"] == COUNT and counts["samples"] >= 8
    return out


def start_node(start):
    """Starts a node of Ray, which gives up after 30 seconds where much else is done."""
    for _ in range(3):
        try:
            return start()
        except Exception as error:
            if "timed out during startup" not in str(error):
                raise
    pytest.skip("Ray does not start: this machine is too busy")


@pytest.fixture(scope="session")
def cluster():
    """A real cluster on this machine. Work is done on the nodes that a test adds: the head has
    no processors, so that every worker's node can be killed.
    """
    ray = pytest.importorskip("ray", reason="Ray is not installed: its tests are skipped")
    from ray import cloudpickle
    from ray.cluster_utils import Cluster

    import test_cluster

    # Workers do not have this file.
    cloudpickle.register_pickle_by_value(test_cluster)
    cluster = start_node(lambda: Cluster(initialize_head=True, head_node_args={"num_cpus": 0}))
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="session")
def nodes(cluster):
    """Makes the cluster as many nodes large; gives them."""
    there = []

    def resize(count):
        # Nodes that a test killed do not count.
        there[:] = [node for node in there if node in cluster.worker_nodes]
        while len(there) < count:
            there.append(start_node(lambda: cluster.add_node(num_cpus=1)))
        while len(there) > count:
            cluster.remove_node(there.pop())
        cluster.wait_for_nodes()
        return list(there)

    return resize
