"""Engines on the fresh fracture: bodies that touch exactly, dropped on a floor.

Each body is given by convex parts or, where `made` says `surface`, by its closed
triangle mesh; z is up. Each engine returns processor milliseconds to build and of
every step, and where the bodies' own frames are at the end: x, y, z and a quaternion
x, y, z, w. Stepping ends after the steps asked for, or when `seconds` are used up.
"""

import os
import tempfile
import time

import numpy as np

from common import best_ms, installed


def told(version, build_ms, times, poses):
    return {"version": version, "build_ms": build_ms, "times": times, "poses": poses}


def timed_steps(data, step):
    """Times of all steps in milliseconds."""
    times = []
    begin = time.process_time()
    while len(times) < data["steps"] and time.process_time() - begin < data["seconds"]:
        start = time.process_time()
        step()
        times.append((time.process_time() - start) * 1e3)
    return times


def as_pose(position, quaternion_wxyz):
    w, x, y, z = (float(v) for v in quaternion_wxyz)
    return [*(float(v) for v in position), x, y, z, w]


def mujoco(data):
    import mujoco

    solid = data["made"] == "surface"
    friction = [data["friction"], 0.005, 0.0001]

    def build():
        spec = mujoco.MjSpec()
        spec.option.timestep = data["step"]
        floor = spec.worldbody.add_geom()
        floor.type = mujoco.mjtGeom.mjGEOM_PLANE
        floor.size = [10, 10, 1]
        floor.friction = friction
        for i, body in enumerate(data["bodies"]):
            made = spec.worldbody.add_body(pos=body["centre"])
            made.add_freejoint()
            parts = [body["surface"]] if solid else body["parts"]
            for j, part in enumerate(parts):
                mesh = spec.add_mesh(name=f"m{i}_{j}")
                if solid:
                    mesh.uservert = np.array(part["vertices"], dtype=np.float64).flatten()
                    mesh.userface = np.array(part["triangles"], dtype=np.int32).flatten()
                else:
                    mesh.uservert = np.array(part, dtype=np.float64).flatten()
                geom = made.add_geom()
                geom.type = mujoco.mjtGeom.mjGEOM_SDF if solid else mujoco.mjtGeom.mjGEOM_MESH
                geom.meshname = mesh.name
                geom.density = data["density"]
                geom.friction = friction
        model = spec.compile()
        return model, mujoco.MjData(model)

    build_ms, (model, state) = best_ms(1, build)
    times = timed_steps(data, lambda: mujoco.mj_step(model, state))
    poses = [as_pose(state.xpos[i], state.xquat[i]) for i in range(1, model.nbody)]
    return told(mujoco.__version__, build_ms, times, poses)


def pybullet(data):
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, -9.81)
    pybullet.setTimeStep(data["step"])

    def shape(body):
        if data["made"] == "surface":
            return pybullet.createCollisionShape(
                pybullet.GEOM_MESH,
                vertices=body["surface"]["vertices"],
                indices=[i for t in body["surface"]["triangles"] for i in t],
                flags=pybullet.GEOM_FORCE_CONCAVE_TRIMESH,
            )
        parts = body["parts"]
        if len(parts) == 1:
            return pybullet.createCollisionShape(pybullet.GEOM_MESH, vertices=parts[0])
        # Compounds are read from files only; faces name every corner once.
        names = []
        for part in parts:
            names.append(os.path.join(folder, f"{len(os.listdir(folder))}.obj"))
            with open(names[-1], "w", encoding="utf-8") as file:
                file.writelines(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in part)
                for i in range(1, len(part) + 1, 3):
                    a, b, c = (min(i + k, len(part)) for k in range(3))
                    file.write(f"f {a} {b} {c}\n")
        return pybullet.createCollisionShapeArray(
            shapeTypes=[pybullet.GEOM_MESH] * len(parts), fileNames=names
        )

    def build():
        plane = pybullet.createCollisionShape(pybullet.GEOM_PLANE)
        floor = pybullet.createMultiBody(0, plane)
        pybullet.changeDynamics(floor, -1, lateralFriction=data["friction"])
        bodies = []
        for body in data["bodies"]:
            made = pybullet.createMultiBody(body["mass"], shape(body), basePosition=body["centre"])
            pybullet.changeDynamics(made, -1, lateralFriction=data["friction"], activationState=4)
            bodies.append(made)
        return bodies

    with tempfile.TemporaryDirectory() as folder:
        build_ms, bodies = best_ms(1, build)
    times = timed_steps(data, pybullet.stepSimulation)
    poses = []
    for body in bodies:
        position, quaternion = pybullet.getBasePositionAndOrientation(body)
        poses.append([*position, *quaternion])
    pybullet.disconnect(client)
    return told(installed("pybullet"), build_ms, times, poses)


def physx(data):
    """PhysX 5.3 on the processor, by SAPIEN."""
    import sapien

    solid = data["made"] == "surface"
    one = [1.0, 1.0, 1.0]

    def build():
        system = sapien.physx.PhysxCpuSystem()
        scene = sapien.Scene([system])
        scene.set_timestep(data["step"])
        material = sapien.physx.PhysxMaterial(data["friction"], data["friction"], 0.0)
        scene.add_ground(0, render=False, material=material)
        bodies = []
        for body in data["bodies"]:
            made = sapien.physx.PhysxRigidDynamicComponent()
            if solid:
                mesh = body["surface"]
                shapes = [
                    sapien.physx.PhysxCollisionShapeTriangleMesh(
                        vertices=np.array(mesh["vertices"], dtype=np.float32),
                        triangles=np.array(mesh["triangles"], dtype=np.uint32),
                        scale=one,
                        material=material,
                        sdf=True,
                    )
                ]
            else:
                shapes = [
                    sapien.physx.PhysxCollisionShapeConvexMesh(
                        vertices=np.array(part, dtype=np.float32), scale=one, material=material
                    )
                    for part in body["parts"]
                ]
            for shape in shapes:
                shape.density = data["density"]
                made.attach(shape)
            made.sleep_threshold = 0.0
            entity = sapien.Entity()
            entity.add_component(made)
            entity.set_pose(sapien.Pose(body["centre"]))
            scene.add_entity(entity)
            bodies.append(entity)
        return scene, bodies

    build_ms, (scene, bodies) = best_ms(1, build)
    times = timed_steps(data, scene.step)
    poses = [as_pose(b.pose.p, b.pose.q) for b in bodies]
    return told(f"5.3 of sapien {sapien.__version__}", build_ms, times, poses)


def usd_scene(data):
    """The scene as USD text: every body a mesh with a signed distance field."""
    lines = [
        '#usda 1.0\n(\n    defaultPrim = "World"\n    metersPerUnit = 1\n    upAxis = "Z"\n)',
        'def Xform "World"\n{',
        'def PhysicsScene "scene" (prepend apiSchemas = ["PhysxSceneAPI"])\n{',
        "    vector3f physics:gravityDirection = (0, 0, -1)\n    float physics:gravityMagnitude = 9.81",
        f"    uint physxScene:timeStepsPerSecond = {round(1 / data['step'])}",
        "    bool physxScene:enableGPUDynamics = 0",
        '    uniform token physxScene:broadphaseType = "MBP"\n}',
        'def Material "stuff" (prepend apiSchemas = ["PhysicsMaterialAPI"])\n{',
        f"    float physics:staticFriction = {data['friction']}",
        f"    float physics:dynamicFriction = {data['friction']}\n    float physics:restitution = 0\n}}",
        'def Plane "floor" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"])\n{',
        '    uniform token axis = "Z"',
        "    rel material:binding:physics = </World/stuff>\n}",
    ]
    for i, body in enumerate(data["bodies"]):
        mesh = body["surface"]
        points = ", ".join(f"({x:.9g}, {y:.9g}, {z:.9g})" for x, y, z in mesh["vertices"])
        indices = ", ".join(str(v) for t in mesh["triangles"] for v in t)
        counts = ", ".join(["3"] * len(mesh["triangles"]))
        x, y, z = body["centre"]
        lines += [
            f'def Mesh "b{i:03}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysxRigidBodyAPI", '
            '"PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "PhysxSDFMeshCollisionAPI", '
            '"PhysicsMassAPI", "MaterialBindingAPI"])\n{',
            f"    point3f[] points = [{points}]",
            f"    int[] faceVertexIndices = [{indices}]",
            f"    int[] faceVertexCounts = [{counts}]",
            '    uniform token subdivisionScheme = "none"',
            '    uniform token physics:approximation = "sdf"',
            f"    uint physxSDFMeshCollision:sdfResolution = {data['resolution']}",
            f"    float physics:density = {data['density']}",
            "    float physxRigidBody:sleepThreshold = 0",
            "    rel material:binding:physics = </World/stuff>",
            f"    double3 xformOp:translate = ({x:.9g}, {y:.9g}, {z:.9g})",
            '    uniform token[] xformOpOrder = ["xformOp:translate"]\n}',
        ]
    return "\n".join([*lines, "}"]) + "\n"


def ovphysx(data):
    """The current PhysX on the processor, with signed distance fields. The process
    ends with the answer, so nothing is destroyed."""
    import ovphysx
    import ovstage
    from ovphysx.samples.python_samples.schema_support import physx_schema_paths
    from ovphysx.types import ObjectScope, SimObjectType

    ovstage.population.register_usd_schemas([str(p) for p in physx_schema_paths()])
    engine = ovphysx.PhysX()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scene.usda")
        with open(path, "w", encoding="utf-8") as file:
            file.write(usd_scene(data))

        def build():
            stage = ovstage.Stage("fresh-fracture")
            ovstage.population.open_usd(
                stage, path, ordinal=1, domains=ovstage.PopulationDomain.ALL
            )
            stage.advance_write_floor(ordinal=1).wait()
            engine.wait_task(engine.attach_ovstage(stage, read_ordinal=1))
            return stage

        build_ms, stage = best_ms(1, build)
    times = timed_steps(data, lambda: engine.step_sync(data["step"]))
    rows = {}
    with ovstage.PathDictionary(stage) as paths:
        for wanted in ("position", "orientation"):
            scope = {"scope": ObjectScope.ALL}
            with engine.read_sync(SimObjectType.RIGID_BODY, [wanted], **scope) as result:
                for group in result.groups:
                    if group.is_delete or not group.tensors:
                        continue
                    values = np.array(group.tensors[0].numpy(), dtype=float)
                    for name, value in zip(paths.get_path_strings(group.prim_list), values):
                        rows.setdefault(name, []).extend(float(v) for v in value)
    # Quaternions are x, y, z, w, as PhysX has them.
    poses = [rows[name] for name in sorted(rows)]
    return told(f"of ovphysx {ovphysx.__version__}", build_ms, times, poses)
