"""Tetrahedra of closed surfaces: fTetWild."""

from common import best_ms, corners, installed, points


def ftetwild(data):
    import pytetwild

    vertices, faces = points(data["vertices"]), corners(data["triangles"])
    ms, (nodes, tets) = best_ms(
        1, lambda: pytetwild.tetrahedralize(vertices, faces, num_threads=1, quiet=True)
    )
    return {
        "version": installed("pytetwild"),
        "ms": ms,
        "nodes": nodes.tolist(),
        "tets": tets.tolist(),
    }
