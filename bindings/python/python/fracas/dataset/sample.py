"""One sample: a shape, an event, the pieces, where they lie in the end.

A function of the sample's number, the settings and the shapes alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .. import Asset, Blueprint, Broken, FracasError, Random, World, bake, tetrahedralize
from .settings import Settings, draw
from .shapes import Shape

GRAVITY = 9.81
# Streams of chance, so that one more draw in one place changes nothing in another.
_WHICH, _EVENT, _VARIANT = 1, 2, 3


@dataclass
class Job:
    """What all samples of a data set share."""

    settings: Settings
    shapes: list[Shape]
    out: str


@dataclass
class Kind:
    """A shape of one size and material, ready to be broken."""

    blueprint: Blueprint
    positions: Any
    size: float
    material: str
    radius: float


class BadShape(Exception):
    """A shape that cannot be used, and why."""

    def __init__(self, shape: Shape, reason: str) -> None:
        super().__init__(reason)
        self.shape = shape
        self.reason = reason


class Kinds:
    """The last few kinds that were made: samples of one shape come one after another."""

    MOST = 4

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.made: dict[tuple[Shape, int], Kind] = {}
        self.bad: dict[Shape, str] = {}

    def get(self, shape: Shape, variant: int) -> Kind:
        # Not by its name alone: a process may make several data sets.
        if shape in self.bad:
            raise BadShape(shape, self.bad[shape])
        key = (shape, variant)
        if key not in self.made:
            try:
                kind = make_kind(self.settings, shape, variant)
            except (FracasError, RuntimeError, MemoryError) as error:
                self.bad[shape] = str(error)
                raise BadShape(shape, str(error)) from None
            while len(self.made) >= self.MOST:
                del self.made[next(iter(self.made))]
            self.made[key] = kind
        return self.made[key]


def make_kind(settings: Settings, shape: Shape, variant: int) -> Kind:
    """Fills a shape, gives it a size and a material, and computes its modes."""
    chance = Random(settings["seed"]).fork(_VARIANT).fork(_name(shape)).fork(variant)
    mesh = tetrahedralize(shape.source, tets=settings["tets"])
    low, high = mesh.bounds
    longest = max(b - a for a, b in zip(low, high))
    size = draw(settings["size"], chance)
    word = draw(settings["material"], chance)
    mesh = mesh.scaled(size / longest)
    asset: Asset = bake(mesh, material=word, modes=settings["modes"])
    blueprint = Blueprint(asset)
    low, high = blueprint.bounds
    radius = 0.5 * math.sqrt(sum((b - a) ** 2 for a, b in zip(low, high)))
    return Kind(blueprint, mesh.boundary().positions, size, word, radius)


def _name(shape: Shape) -> int:
    """A number for a shape, of its name alone: other shapes do not change it."""
    number = 0xCBF29CE484222325
    for byte in shape.folder.encode():
        number = ((number ^ byte) * 0x100000001B3) & (2**64 - 1)
    return number


def shape_of(job: Job, number: int, attempt: int = 0) -> tuple[Shape, int]:
    """The shape of a sample, and which of its sizes and materials. Where the shape is bad,
    the next attempt is another.
    """
    chance = Random(job.settings["seed"]).fork(_WHICH).fork(number).fork(attempt)
    shape = job.shapes[chance.below(len(job.shapes))]
    return shape, chance.below(job.settings["variants"])


@dataclass
class Made:
    """A sample: what is written, and what is told of it."""

    row: dict[str, Any]
    broken: Broken


class NothingBroke(Exception):
    """No attempt broke it."""


def make_sample(job: Job, kinds: Kinds, number: int, bad: dict[str, tuple[Shape, str]]) -> Made:
    """Makes a sample. Bad shapes on the way are added to `bad`."""
    kind = None
    for attempt in range(job.settings["tries"]):
        shape, variant = shape_of(job, number, attempt)
        try:
            kind = kinds.get(shape, variant)
            break
        except BadShape as error:
            bad[shape.folder] = (shape, error.reason)
    if kind is None:
        raise NothingBroke("all shapes that were drawn for it are bad")
    chance = Random(job.settings["seed"]).fork(_EVENT).fork(number)
    # What happens is drawn once: else what breaks most easily would happen most often.
    word = draw(job.settings["event"], chance)
    reasons = []
    for attempt in range(job.settings["tries"]):
        event = draw_event(job.settings, kind, word, chance.fork(attempt))
        why, made = _play(job.settings, kind, event)
        if made is not None:
            row = {
                "id": number,
                "shape": shape.name,
                "category": shape.category,
                "shape_digest": shape.digest,
                "variant": variant,
                "size": kind.size,
                "material": kind.material,
                "attempt": attempt,
                "event": event,
                **made.row,
            }
            return Made(row, made.broken)
        reasons.append(why)
    raise NothingBroke(f"{shape.folder}: {reasons[-1]} ({len(reasons)} tries)")


def draw_event(settings: Settings, kind: Kind, word: str, chance: Random) -> dict[str, Any]:
    """What happens: all numbers of it."""
    rules = settings[word]
    event: dict[str, Any] = {
        "kind": word,
        "seed": chance.bits() >> 1,
        "most_pieces": draw(settings["pieces"], chance),
        "friction": draw(rules["friction"], chance),
    }
    upright = draw(rules["orientation"], chance) == "upright"
    event["rotation"] = list(chance.upright() if upright else chance.rotation())
    if word == "drop":
        event["height"] = draw(rules["height"], chance)
    elif word == "hit":
        event["radius"] = draw(rules["radius"], chance)
        event["speed"] = draw(rules["speed"], chance)
        event["place"] = kind.positions[chance.below(len(kind.positions))].tolist()
        x, y, z = chance.direction()
        # From above, or from the side: not through the floor.
        event["from"] = [x, max(abs(y), 0.05), z]
    else:
        event["pattern"] = draw(rules["kind"], chance)
        event["height"] = draw(rules["height"], chance)
    return event


def _play(settings: Settings, kind: Kind, event: dict[str, Any]) -> tuple[str, Made | None]:
    """Lets it happen. Why there is no sample, or the sample."""
    # The engine slows down what is faster than 400 of its units a second.
    world = World(step=settings["step"], length_unit=0.1)
    world.add_floor(0.0, event["friction"])
    rotation = event["rotation"]
    # A hair above the floor, at the speed of its fall.
    gap = 1e-3
    height = gap + (event["height"] if event["kind"] == "pattern" else 0.0)
    position = [0.0, kind.blueprint.lift(rotation) + height, 0.0]
    fall = math.sqrt(2.0 * GRAVITY * event["height"]) if event["kind"] == "drop" else 0.0
    world.add(
        kind.blueprint,
        position,
        rotation,
        velocity=[0.0, -fall, 0.0],
        max_pieces=event["most_pieces"],
        seed=event["seed"],
        breakable=event["kind"] != "pattern",
    )
    if event["kind"] == "hit":
        _throw_ball(world, kind, event, position)
    elif event["kind"] == "pattern":
        # Spokes and a ring: two pieces for each spoke.
        share = 2 if event["pattern"] == "radial" else 1
        pieces = max(event["most_pieces"] // share, 2)
        try:
            world.break_piece((0, 0), event["pattern"], pieces, seed=event["seed"])
        except FracasError as error:
            return str(error), None
    stats: dict[str, Any] = {}
    steps = round(settings["duration"] / settings["step"])
    for _ in range(steps):
        world.step()
        for happened in world.events():
            if happened["kind"] == "broke" and not stats:
                stats = happened["stats"]
        if world.moving == 0:
            break
    names, places, turns = world.poses()
    if len(names) < settings["least_pieces"]:
        return "nothing breaks", None
    if world.bodies_lost:
        return "a piece fell out of the world", None
    broken = world.broken(0, skin=settings["skin"])
    order = {int(fragment): i for i, (_, fragment) in enumerate(names)}
    after = [order[int(fragment)] for fragment in broken.fragments]
    pairs, areas = broken.graph()
    pieces = broken.pieces
    row = {
        "pieces": len(pieces),
        "at_rest": world.moving == 0,
        "seconds": world.steps * settings["step"],
        "overload": float(stats.get("overload", 0.0)),
        "crack_energy": float(stats.get("spent", 0.0)),
        "mass": [piece.mass for piece in pieces],
        "volume": [piece.volume for piece in pieces],
        "centre": [list(piece.centre) for piece in pieces],
        "triangles": [len(piece.triangles) for piece in pieces],
        "pose_whole": {"position": position, "rotation": rotation},
        "pose_after": [
            {"position": places[i].tolist(), "rotation": turns[i].tolist()} for i in after
        ],
        "graph": [
            {"a": int(a), "b": int(b), "area": float(area)} for (a, b), area in zip(pairs, areas)
        ],
        "digest": f"{world.digest():016x}",
    }
    return "", Made(row, broken)


def _throw_ball(world: World, kind: Kind, event: dict[str, Any], position: list[float]) -> None:
    """A ball that flies to a place of the body from outside of it."""
    x, y, z, w = event["rotation"]
    px, py, pz = event["place"]
    # The place, turned as the body is: v + 2 q x (q x v + w v).
    cx, cy, cz = y * pz - z * py + w * px, z * px - x * pz + w * py, x * py - y * px + w * pz
    turned = (
        px + 2.0 * (y * cz - z * cy),
        py + 2.0 * (z * cx - x * cz),
        pz + 2.0 * (x * cy - y * cx),
    )
    aim = [a + b for a, b in zip(turned, position)]
    dx, dy, dz = event["from"]
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    towards = (dx / length, dy / length, dz / length)
    far = 2.0 * kind.radius + event["radius"] + 0.01
    start = [a + far * d for a, d in zip(aim, towards)]
    start[1] = max(start[1], event["radius"] + 0.001)
    velocity = [-event["speed"] * d for d in towards]
    world.add_ball(event["radius"], start, velocity)
