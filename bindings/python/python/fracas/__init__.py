"""Collision detection and destruction for things that break.

>>> import fracas
>>> broken = fracas.shatter("bowl", pieces=12)
>>> broken.save("broken.glb")  # doctest: +SKIP

Metres, kilograms and seconds; y is up. Rotations are quaternions (x, y, z, w). A mesh is
given as a file, the name of a shape (`shape_names`), a `Surface`, a `TetMesh`, an `Asset`,
or an object of trimesh or meshio. What is refused raises `FracasError`, a `ValueError`, in
the words of the command line. Long work runs without the interpreter's lock, and Ctrl-C
ends it.
"""

from ._fracas import (
    Asset,
    Blueprint,
    Broken,
    Fastcd,
    FracasError,
    Piece,
    Random,
    Surface,
    TetDistance,
    TetMesh,
    VoxelTree,
    World,
    __version__,
    bake,
    contact_sheet,
    draw,
    material,
    material_names,
    measure_shard,
    merge_shards,
    overlapping_tets,
    read,
    shape,
    shape_names,
    shatter,
    tetrahedralize,
)

__all__ = [
    "Asset",
    "Blueprint",
    "Broken",
    "Fastcd",
    "FracasError",
    "Piece",
    "Random",
    "Surface",
    "TetDistance",
    "TetMesh",
    "VoxelTree",
    "World",
    "__version__",
    "bake",
    "contact_sheet",
    "draw",
    "material",
    "material_names",
    "measure_shard",
    "merge_shards",
    "overlapping_tets",
    "read",
    "shape",
    "shape_names",
    "shatter",
    "tetrahedralize",
]
