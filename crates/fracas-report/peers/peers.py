"""Other people's collision detection on the report's input.

usage: python peers.py QUESTION INPUT.json

Prints one line of JSON: for each peer either its numbers or {"error": why}. Times
are processor milliseconds of the process, best of several.

Questions:
  mesh    two triangle meshes and placements of the second: contacts by Coal and FCL
  ipctk   one mesh at the start and at the end of a step: candidates and first impact
  fresh   bodies made of convex parts, just broken, dropped on a floor: engines' steps
"""

import json
import sys
import time

import numpy as np


def best_ms(repeats, work):
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, (time.process_time() - start) * 1e3)
    return best, result


def coal_mesh(data):
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
    request.num_max_contacts = 100_000
    request.enable_contact = True
    answers = []
    for offset in data["offsets"]:
        place = coal.Transform3s()
        place.setTranslation(np.array(offset, dtype=float))

        def ask():
            result = coal.CollisionResult()
            coal.collide(models[0], coal.Transform3s(), models[1], place, request, result)
            return result

        ms, result = best_ms(5, ask)
        depths = [-result.getContact(i).penetration_depth for i in range(result.numContacts())]
        answers.append({"ms": ms, "contacts": result.numContacts(), "deepest": max(depths, default=0.0)})
    return {"version": coal.__version__, "build_ms": build_ms, "answers": answers}


def fcl_mesh(data):
    import fcl

    def model(mesh):
        made = fcl.BVHModel()
        vertices, triangles = np.array(mesh["vertices"]), np.array(mesh["triangles"])
        made.beginModel(len(vertices), len(triangles))
        made.addSubModel(vertices, triangles)
        made.endModel()
        return made

    build_ms, models = best_ms(1, lambda: [model(m) for m in data["meshes"]])
    request = fcl.CollisionRequest(num_max_contacts=100_000, enable_contact=True)
    answers = []
    for offset in data["offsets"]:
        one = fcl.CollisionObject(models[0], fcl.Transform())
        two = fcl.CollisionObject(models[1], fcl.Transform(np.array(offset, dtype=float)))

        def ask():
            result = fcl.CollisionResult()
            fcl.collide(one, two, request, result)
            return result

        ms, result = best_ms(5, ask)
        depths = [c.penetration_depth for c in result.contacts]
        answers.append({"ms": ms, "contacts": len(result.contacts), "deepest": max(depths, default=0.0)})
    from importlib.metadata import version

    return {"version": version("python-fcl"), "build_ms": build_ms, "answers": answers}


def ipctk_step(data):
    import ipctk

    start = np.asfortranarray(np.array(data["start"], dtype=np.float64))
    end = np.asfortranarray(np.array(data["end"], dtype=np.float64))
    faces = np.asfortranarray(np.array(data["triangles"], dtype=np.int32))
    ipctk.set_num_threads(1)
    mesh_ms, mesh = best_ms(1, lambda: ipctk.CollisionMesh(start, ipctk.edges(faces), faces))

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


def timed_steps(data, step):
    """Times of all steps in milliseconds."""
    times = []
    for _ in range(data["steps"]):
        start = time.process_time()
        step()
        times.append((time.process_time() - start) * 1e3)
    return times


def told(version, build_ms, times, centres):
    """What an engine did: how far the pieces are apart, and how many fell or flew away."""
    centres = np.array(centres)
    lost = int(np.sum((centres[:, 2] < 0) | (np.abs(centres).max(axis=1) > 100) | ~np.isfinite(centres).all(axis=1)))
    spread = float(np.linalg.norm(centres - centres.mean(axis=0), axis=1).mean())
    return {"version": version, "build_ms": build_ms, "times": times, "spread": spread, "lost": lost}


def mujoco_fresh(data):
    import mujoco

    def build():
        spec = mujoco.MjSpec()
        spec.option.timestep = data["step"]
        floor = spec.worldbody.add_geom()
        floor.type = mujoco.mjtGeom.mjGEOM_PLANE
        floor.size = [10, 10, 1]
        floor.friction = [data["friction"], 0.005, 0.0001]
        for i, body in enumerate(data["bodies"]):
            made = spec.worldbody.add_body(pos=body["centre"])
            made.add_freejoint()
            for j, part in enumerate(body["parts"]):
                name = f"m{i}_{j}"
                mesh = spec.add_mesh(name=name)
                mesh.uservert = np.array(part, dtype=np.float64).flatten()
                geom = made.add_geom()
                geom.type = mujoco.mjtGeom.mjGEOM_MESH
                geom.meshname = name
                geom.density = data["density"]
                geom.friction = [data["friction"], 0.005, 0.0001]
        model = spec.compile()
        return model, mujoco.MjData(model)

    build_ms, (model, state) = best_ms(1, build)
    times = timed_steps(data, lambda: mujoco.mj_step(model, state))
    return told(mujoco.__version__, build_ms, times, state.xipos[1:])


def pybullet_fresh(data):
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, -9.81)
    pybullet.setTimeStep(data["step"])

    def build():
        plane = pybullet.createCollisionShape(pybullet.GEOM_PLANE)
        floor = pybullet.createMultiBody(0, plane)
        pybullet.changeDynamics(floor, -1, lateralFriction=data["friction"])
        bodies = []
        for body in data["bodies"]:
            parts = body["parts"]
            if len(parts) == 1:
                shape = pybullet.createCollisionShape(pybullet.GEOM_MESH, vertices=parts[0])
            else:
                shape = pybullet.createCollisionShapeArray(
                    shapeTypes=[pybullet.GEOM_MESH] * len(parts), vertices=parts
                )
            made = pybullet.createMultiBody(body["mass"], shape, basePosition=body["centre"])
            pybullet.changeDynamics(made, -1, lateralFriction=data["friction"], activationState=4)
            bodies.append(made)
        return bodies

    build_ms, bodies = best_ms(1, build)
    times = timed_steps(data, pybullet.stepSimulation)
    centres = [list(pybullet.getBasePositionAndOrientation(b)[0]) for b in bodies]
    pybullet.disconnect(client)
    from importlib.metadata import version

    return told(version("pybullet"), build_ms, times, centres)


QUESTIONS = {
    "mesh": {"coal": coal_mesh, "fcl": fcl_mesh},
    "ipctk": {"ipctk": ipctk_step},
    "fresh": {"mujoco": mujoco_fresh, "pybullet": pybullet_fresh},
}


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        data = json.load(file)
    answer = {}
    for name, ask in QUESTIONS[sys.argv[1]].items():
        try:
            answer[name] = ask(data)
        except Exception as error:  # a peer that is missing or fails is told, not fatal
            answer[name] = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
