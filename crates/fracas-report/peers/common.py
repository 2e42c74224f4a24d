"""Clocks and reading, shared by all peers."""

import json
import time
from importlib.metadata import version

import numpy as np


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def installed(package):
    """The version of a package that does not tell its own."""
    return version(package)


def points(rows):
    """Positions as Fortran-ordered doubles, as libraries on Eigen like them."""
    return np.asfortranarray(np.array(rows, dtype=np.float64).reshape(-1, 3))


def corners(rows):
    """Corners of triangles."""
    return np.asfortranarray(np.array(rows, dtype=np.int32).reshape(-1, 3))


def best_ms(repeats, work):
    """Processor milliseconds of the process, best of several, and the last result."""
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, (time.process_time() - start) * 1e3)
    return best, result
