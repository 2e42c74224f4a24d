"""The shapes of a data set: mesh files under a folder, or things generated in code."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from .. import shape_names

ENDS = (".obj", ".off", ".ply", ".stl", ".glb", ".gltf", ".msh", ".mesh", ".vtk", ".vtu")
BUILT_IN = "builtin"


@dataclass(frozen=True)
class Shape:
    """One shape: where it is, what it is called, and what its bytes are."""

    source: str
    category: str
    name: str
    digest: str

    @property
    def folder(self) -> str:
        """Its folder under the set's name."""
        return f"{self.category}/{self.name}"


def find_shapes(folder: str | Path) -> list[Shape]:
    """All mesh files under a folder, in the order of their names; the folder that a file
    lies in is its category. `builtin` names the things that are generated in code.
    """
    if str(folder) == BUILT_IN:
        return [Shape(name, BUILT_IN, name, "") for name in sorted(shape_names())]
    root = Path(folder)
    if not root.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}")
    files = [p for p in root.rglob("*") if p.suffix.lower() in ENDS and p.is_file()]
    files.sort(key=lambda p: p.relative_to(root).as_posix())
    shapes = []
    taken: set[str] = set()
    for path in files:
        inside = path.relative_to(root)
        category = _word("-".join(inside.parent.parts)) or "shapes"
        name = _word(path.stem) or "shape"
        # Two files may differ by their ends alone.
        if f"{category}/{name}" in taken:
            name = _word(path.name)
        while f"{category}/{name}" in taken:
            name += "_"
        taken.add(f"{category}/{name}")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        shapes.append(Shape(str(path.resolve()), category, name, digest))
    return shapes


def _word(text: str) -> str:
    """What every file system can name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text).strip(".")
