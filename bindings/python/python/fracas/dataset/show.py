"""What was made: a contact sheet and a page of statistics."""

from __future__ import annotations

import html
import json
import math
import struct
from array import array
from collections import Counter
from pathlib import Path
from typing import Any, Iterable

import numpy as np

from .. import contact_sheet, draw, read
from ..storage import is_url
from . import store

Mesh = tuple[np.ndarray, np.ndarray]
SHOWN = 12
COLOURS = [
    (222, 121, 94), (63, 142, 109), (160, 120, 205), (190, 155, 80), (70, 140, 185),
    (225, 160, 185), (130, 165, 70), (180, 85, 120), (95, 185, 175), (235, 180, 110),
    (110, 110, 165), (160, 100, 60),
]


def show(out: str | Path, most: int = SHOWN) -> tuple[Any, Any]:
    """Writes `contact_sheet.png` and `index.html` into a data set; returns their paths (or
    URLs, where it lies at one).
    """
    storage = store.at(out)
    if not storage.exists("job.json"):
        raise FileNotFoundError(f"{out} holds no data set: there is no job.json in it")
    facts = _Facts()
    count = len(store.numbers(out, "samples"))
    if not count:
        raise ValueError(f"{out} holds no sample yet")
    places = {round(i * (count - 1) / max(1, most - 1)) for i in range(most)}
    tiles = []
    for i, row in enumerate(store.rows(out)):
        facts.add(row)
        if i in places:
            tiles += _draw_sample(out, row)
    name = json.loads(storage.read("job.json"))["settings"]["name"]
    title = f"{name}: {count} samples; whole, and after the fall"
    storage.write("contact_sheet.png", contact_sheet(tiles, columns=4, title=title))
    bad, failed = store.bad_shapes(out), store.failures(out)
    store.write_text(out, "index.html", _page(name, facts, bad, failed))
    files = ("contact_sheet.png", "index.html")
    if is_url(out):
        return tuple(f"{str(out).rstrip('/')}/{file}" for file in files)
    return tuple(Path(out) / file for file in files)


def _draw_sample(out: str | Path, row: dict[str, Any]) -> list[tuple[Any, str]]:
    meshes = load_pieces(out, row)
    whole, after = [], []
    start = row["pose_whole"]
    centres = np.array(
        [_moved(centre, pose) for centre, pose in zip(row["centre"], row["pose_after"])]
    )
    away = np.linalg.norm(centres - np.median(centres, axis=0), axis=1)
    for i, ((positions, triangles), pose) in enumerate(zip(meshes, row["pose_after"])):
        colour = COLOURS[i % len(COLOURS)]
        whole.append((positions, triangles, colour, start["position"], start["rotation"]))
        # A piece that flew off would make all others too small to see.
        if away[i] <= max(2.0 * row["size"], np.median(away)):
            after.append((positions, triangles, colour, pose["position"], pose["rotation"]))
    event = row["event"]
    what = {
        "drop": lambda: f"drop {event['height']:.2f} m",
        "hit": lambda: f"hit {event['speed']:.1f} m/s",
        "pattern": lambda: event["pattern"],
    }[event["kind"]]()
    far = len(whole) - len(after)
    what += f", {row['pieces']} pieces" + (f", {far} far" if far else "")
    captions = (f"{row['id']} {row['shape']}"[:38], what[:40])
    size = {"width": 360, "height": 260}
    return [(draw(whole, **size), captions[0]), (draw(after, **size), captions[1])]


def _moved(point: list[float], pose: dict[str, list[float]]) -> np.ndarray:
    """A point of the whole, where its piece took it."""
    turn, w = np.array(pose["rotation"][:3]), pose["rotation"][3]
    point = np.array(point)
    return point + 2.0 * np.cross(turn, np.cross(turn, point) + w * point) + pose["position"]


def load_pieces(out: str | Path, row: dict[str, Any]) -> list[Mesh]:
    """The pieces of a sample: vertices and triangles of each."""
    storage = store.at(out)
    if row["files"][0].endswith(".glb"):
        return _read_glb(storage.read(row["files"][0]))
    meshes = []
    for name in row["files"]:
        with storage.fetch(name) as path:
            surface = read(path)
        meshes.append((surface.positions, surface.triangles))
    return meshes


def _read_glb(data: bytes) -> list[Mesh]:
    """The pieces of a GLB of ours: one node each."""
    length = struct.unpack_from("<I", data, 12)[0]
    document = json.loads(data[20 : 20 + length])
    binary = data[28 + length :]
    kinds = {5126: np.float32, 5125: np.uint32, 5123: np.uint16, 5121: np.uint8}

    def values(index: int, width: int) -> np.ndarray:
        accessor = document["accessors"][index]
        view = document["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        kind = np.dtype(kinds[accessor["componentType"]])
        flat = np.frombuffer(binary, kind, accessor["count"] * width, start)
        return flat.reshape(-1, width)

    meshes = []
    for node in document["nodes"]:
        if not node.get("name", "").startswith("fragment-") or "mesh" not in node:
            continue
        at = np.array(node.get("translation", [0.0, 0.0, 0.0]))
        positions, triangles, count = [], [], 0
        for part in document["meshes"][node["mesh"]]["primitives"]:
            points = values(part["attributes"]["POSITION"], 3)
            corners = values(part["indices"], 1).reshape(-1, 3).astype(np.uint32)
            positions.append(points + at)
            triangles.append(corners + np.uint32(count))
            count += len(points)
        meshes.append((np.concatenate(positions), np.concatenate(triangles)))
    return meshes


class _Facts:
    """What the page tells, gathered row by row: a million rows need not fit memory."""

    def __init__(self) -> None:
        self.samples = self.at_rest = 0
        self.pieces, self.shares, self.areas = array("d"), array("d"), array("d")
        self.heights, self.speeds = array("d"), array("d")
        self.sizes, self.neighbours = array("d"), array("d")
        self.events, self.materials, self.shapes = Counter(), Counter(), Counter()

    def add(self, row: dict[str, Any]) -> None:
        self.samples += 1
        self.at_rest += row["at_rest"]
        self.pieces.append(row["pieces"])
        whole = sum(row["mass"])
        self.shares.extend(m / whole for m in row["mass"])
        self.areas.extend(edge["area"] * 1e4 for edge in row["graph"])
        self.sizes.append(row["size"])
        self.neighbours.append(2 * len(row["graph"]) / row["pieces"])
        event = row["event"]
        if event["kind"] == "drop":
            self.heights.append(event["height"])
        elif event["kind"] == "hit":
            self.speeds.append(event["speed"])
        self.events[event["kind"]] += 1
        self.materials[row["material"]] += 1
        self.shapes[row["shape"]] += 1


def _page(name: str, facts: _Facts, bad: list[Any], failed: list[Any]) -> str:
    plots = [
        ("Pieces of a sample", _histogram(facts.pieces, whole=True)),
        ("Share of the mass that a piece has", _histogram(facts.shares, log=True)),
        ("Crack between two pieces (cm²)", _histogram(facts.areas, log=True)),
        ("Neighbours of a piece, on average", _histogram(facts.neighbours)),
        ("Height of drops (m)", _histogram(facts.heights, log=True)),
        ("Speed of hits (m/s)", _histogram(facts.speeds, log=True)),
        ("Longest side (m)", _histogram(facts.sizes, log=True)),
        ("Events", _bars(facts.events)),
        ("Materials", _bars(facts.materials)),
        ("Shapes", _bars(facts.shapes)),
    ]
    told = (
        f"{facts.samples} samples, {len(facts.shares)} pieces, {len(facts.areas)} cracks between "
        f"pieces; {facts.at_rest} came to rest; {len(failed)} could not be made, {len(bad)} shapes "
        "are not usable."
    )
    figures = "\n".join(
        f"<figure><figcaption>{html.escape(title)}</figcaption>{plot}</figure>"
        for title, plot in plots
    )
    problems = "\n".join(
        f"<li><b>{html.escape(b['category'])}/{html.escape(b['shape'])}</b>: "
        f"{html.escape(b['reason'])}</li>"
        for b in bad
    )
    listed = f"<h2>Shapes that are not usable</h2><ul>{problems}</ul>" if bad else ""
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{html.escape(name)}</title>
<style>
body {{ font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 76em; color: #222; padding: 0 1em }}
main {{ display: flex; flex-wrap: wrap; gap: 1.2em }}
figure {{ margin: 0; width: 23em }}
figcaption {{ font-weight: 600 }}
img {{ max-width: 100% }}
svg text {{ font: 10px system-ui, sans-serif; fill: #444 }}
</style>
<h1>{html.escape(name)}</h1>
<p>{told}</p>
<main>{figures}</main>
<h2>Some of them</h2>
<img src="contact_sheet.png" alt="Samples, whole and after the fall">
{listed}
</html>
"""


WIDE, HIGH, LEFT, BELOW = 340, 150, 34, 18


def _histogram(values: Iterable[float], log: bool = False, whole: bool = False) -> str:
    """Bars of how often values occur, as SVG."""
    values = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
    if not values:
        return "<p>none</p>"
    if whole:
        low, high = min(values), max(values)
        edges = [low - 0.5 + i for i in range(int(high - low) + 2)]
        while len(edges) > 41:
            edges = edges[::2] + ([edges[-1] + 1] if len(edges) % 2 == 0 else [])
    else:
        low, high = min(values), max(values)
        if low == high:
            low, high = (low * 0.9, high * 1.1) if low else (-1.0, 1.0)
        if log:
            ratio = math.log(high / low)
            edges = [low * math.exp(ratio * i / 24) for i in range(25)]
        else:
            edges = [low + (high - low) * i / 24 for i in range(25)]
        edges[-1] = math.inf
    counts = np.histogram(values, bins=edges)[0].tolist()
    shown = [e for e in edges if math.isfinite(e)] + ([high] if math.isinf(edges[-1]) else [])
    width = WIDE / len(counts)
    most = max(counts)
    bars = "".join(
        f'<rect x="{LEFT + i * width:.1f}" y="{HIGH - HIGH * n / most:.1f}" '
        f'width="{max(width - 1, 0.5):.1f}" height="{HIGH * n / most:.1f}" fill="#4a7fb5"/>'
        for i, n in enumerate(counts)
    )
    ticks = []
    for i in sorted({0, len(counts) // 2, len(counts)}):
        if whole:
            i = min(i, len(counts) - 1)
            label, x = f"{shown[i] + 0.5:.0f}", LEFT + (i + 0.5) * width
        else:
            label, x = f"{shown[min(i, len(shown) - 1)]:.3g}", LEFT + i * width
        ticks.append(f'<text x="{x:.1f}" y="{HIGH + 13}" text-anchor="middle">{label}</text>')
    return (
        f'<svg viewBox="0 -6 {LEFT + WIDE + 24} {HIGH + BELOW + 6}" role="img">{bars}'
        f'<text x="{LEFT - 4}" y="6" text-anchor="end">{most}</text>'
        f'<text x="{LEFT - 4}" y="{HIGH}" text-anchor="end">0</text>{"".join(ticks)}</svg>'
    )


def _bars(counts: Counter, most: int = 12) -> str:
    """How often words occur, as SVG."""
    shown = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if len(shown) > most:
        rest = sum(n for _, n in shown[most - 1 :])
        shown = shown[: most - 1] + [(f"{len(shown) - most + 1} others", rest)]
    top = max(n for _, n in shown)
    lines = "".join(
        f'<text x="112" y="{18 * i + 12}" text-anchor="end">{html.escape(word[:18])}</text>'
        f'<rect x="118" y="{18 * i + 2}" width="{220 * n / top:.1f}" height="13" fill="#b5794a"/>'
        f'<text x="{122 + 220 * n / top:.1f}" y="{18 * i + 12}">{n}</text>'
        for i, (word, n) in enumerate(shown)
    )
    return f'<svg viewBox="0 0 {LEFT + WIDE + 24} {18 * len(shown) + 4}" role="img">{lines}</svg>'
