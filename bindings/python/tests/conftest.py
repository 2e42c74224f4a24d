"""What several tests share."""

from __future__ import annotations

import json
import os
import subprocess
import zlib

import numpy as np
import pytest


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
def cube():
    """A closed cube, outward."""
    corners = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=float)
    quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    triangles = [t for a, b, c, d in quads for t in ([a, b, c], [a, c, d])]
    return corners, np.array(triangles)
