"""Triangle meshes: Coal and FCL between two, the IPC Toolkit within one that moves."""

import numpy as np

from common import best_ms, corners, installed, points

MOST = 100_000


def coal(data):
    import coal

    def model(mesh):
        made = coal.BVHModelOBBRSS()
        vertices, triangles = np.array(mesh["vertices"]), mesh["triangles"]
        made.beginModel(len(triangles), len(vertices))
        made.addVertices(vertices)
        made.addTriangles(np.array(triangles, dtype=np.int64))
        made.endModel()
        return made

    build_ms, models = best_ms(1, lambda: [model(m) for m in data["meshes"]])
    request = coal.CollisionRequest()
    request.num_max_contacts = MOST
    request.enable_contact = True
    place = coal.Transform3s()
    place.setTranslation(np.array(data["offset"], dtype=float))

    def ask():
        result = coal.CollisionResult()
        coal.collide(models[0], coal.Transform3s(), models[1], place, request, result)
        return result

    ms, result = best_ms(5, ask)
    depths = [-result.getContact(i).penetration_depth for i in range(result.numContacts())]
    return {
        "version": coal.__version__,
        "build_ms": build_ms,
        "ms": ms,
        "contacts": len(depths),
        "deepest": max(depths, default=0.0),
    }


def fcl(data):
    import fcl

    def model(mesh):
        made = fcl.BVHModel()
        vertices, triangles = np.array(mesh["vertices"]), np.array(mesh["triangles"])
        made.beginModel(len(vertices), len(triangles))
        made.addSubModel(vertices, triangles)
        made.endModel()
        return made

    build_ms, models = best_ms(1, lambda: [model(m) for m in data["meshes"]])
    request = fcl.CollisionRequest(num_max_contacts=MOST, enable_contact=True)
    one = fcl.CollisionObject(models[0], fcl.Transform())
    two = fcl.CollisionObject(models[1], fcl.Transform(np.array(data["offset"], dtype=float)))

    def ask():
        result = fcl.CollisionResult()
        fcl.collide(one, two, request, result)
        return result

    ms, result = best_ms(5, ask)
    depths = [c.penetration_depth for c in result.contacts]
    return {
        "version": installed("python-fcl"),
        "build_ms": build_ms,
        "ms": ms,
        "contacts": len(depths),
        "deepest": max(depths, default=0.0),
    }


def ipctk(data):
    import ipctk

    start, end = points(data["start"]), points(data["end"])
    faces = corners(data["triangles"])
    ipctk.set_num_threads(1)
    mesh_ms, mesh = best_ms(1, lambda: ipctk.CollisionMesh(start, ipctk.edges(faces), faces))

    # LBVH is the fastest broad phase it has.
    def candidates():
        found = ipctk.Candidates()
        found.build(mesh, start, end, broad_phase=ipctk.LBVH())
        return found

    candidates_ms, found = best_ms(2, candidates)
    step_ms, step = best_ms(
        2,
        lambda: ipctk.compute_collision_free_stepsize(mesh, start, end, broad_phase=ipctk.LBVH()),
    )
    return {
        "version": ipctk.__version__,
        "collision_mesh_ms": mesh_ms,
        "candidates_ms": candidates_ms,
        "candidates": len(found),
        "step_ms": step_ms,
        "step": step,
    }
