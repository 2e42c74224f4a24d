"""IPC Toolkit on one step of one mesh: a peer for the scoreboard's fast-bvh rows.

usage: python ipctk.py PREFIX [REPEATS]

Reads PREFIX.v0 and PREFIX.v1 (little-endian f64, three per vertex: start and end of
the step) and PREFIX.f (little-endian u32, three per triangle), as the scoreboard
writes them. Runs on one thread with the LBVH broad phase, the fastest it has, and
prints one line of JSON: CPU milliseconds, best of REPEATS, and what was found.

Needs: pip install ipctk==1.6.1 numpy
"""

import json
import sys
import time

# This file has the module's own name: look for the module elsewhere first.
sys.path.pop(0)

import ipctk  # noqa: E402
import numpy as np  # noqa: E402


def best_ms(repeats, work):
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, (time.process_time() - start) * 1e3)
    return best, result


def main():
    prefix = sys.argv[1]
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    start = np.asfortranarray(np.fromfile(prefix + ".v0", "<f8").reshape(-1, 3))
    end = np.asfortranarray(np.fromfile(prefix + ".v1", "<f8").reshape(-1, 3))
    faces = np.asfortranarray(np.fromfile(prefix + ".f", "<u4").reshape(-1, 3).astype(np.int32))
    ipctk.set_num_threads(1)
    mesh_ms, mesh = best_ms(1, lambda: ipctk.CollisionMesh(start, ipctk.edges(faces), faces))

    def candidates():
        found = ipctk.Candidates()
        found.build(mesh, start, end, broad_phase=ipctk.LBVH())
        return found

    candidates_ms, found = best_ms(repeats, candidates)
    step_ms, step = best_ms(
        repeats,
        lambda: ipctk.compute_collision_free_stepsize(mesh, start, end, broad_phase=ipctk.LBVH()),
    )
    intersections_ms, intersects = best_ms(
        1, lambda: ipctk.has_intersections(mesh, end, broad_phase=ipctk.LBVH())
    )
    print(
        json.dumps(
            {
                "version": ipctk.__version__,
                "collision_mesh_ms": mesh_ms,
                "candidates_ms": candidates_ms,
                "candidates": len(found),
                "step_ms": step_ms,
                "step": step,
                "has_intersections_ms": intersections_ms,
                "has_intersections": bool(intersects),
            }
        )
    )


if __name__ == "__main__":
    main()
