//! fracas for Python: the module `fracas._fracas`, which the package `fracas` shows.
//!
//! | module | what |
//! | --- | --- |
//! | `errors` | exceptions; work without the interpreter's lock, which Ctrl-C ends |
//! | `arrays` | numpy in and out |
//! | `meshes` | surfaces and tetrahedra; trimesh and meshio |
//! | `baking` | tetrahedralize, bake, assets |
//! | `breaking` | shatter, pieces, who was whose neighbour |
//! | `worlds` | blueprints and worlds |
//! | `voxels`, `fastcd`, `depths` | the voxel tree, deforming meshes, distances on tetrahedra |
//! | `sweeps` | the report's long sweeps, in parts |
//! | `drawing`, `chance` | pictures; draws that are the same on every machine |
//!
//! Types and shapes of arrays are checked here, and numbers that only Python can get wrong.
//! All else is refused by the library, with the words of the command line.

mod arrays;
mod baking;
mod breaking;
mod chance;
mod depths;
mod drawing;
mod errors;
mod fastcd;
mod meshes;
mod sweeps;
mod voxels;
mod worlds;

use pyo3::prelude::*;

/// Collision detection and destruction for things that break.
#[pymodule]
fn _fracas(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("FracasError", module.py().get_type::<errors::FracasError>())?;
    module.add_class::<meshes::Surface>()?;
    module.add_class::<meshes::Tets>()?;
    module.add_class::<baking::Asset>()?;
    module.add_class::<breaking::Broken>()?;
    module.add_class::<breaking::Piece>()?;
    module.add_class::<worlds::Blueprint>()?;
    module.add_class::<worlds::World>()?;
    module.add_class::<voxels::VoxelTree>()?;
    module.add_class::<fastcd::Fastcd>()?;
    module.add_class::<depths::TetDistance>()?;
    module.add_class::<chance::Random>()?;
    module.add_function(wrap_pyfunction!(meshes::read, module)?)?;
    module.add_function(wrap_pyfunction!(meshes::shape, module)?)?;
    module.add_function(wrap_pyfunction!(meshes::shape_names, module)?)?;
    module.add_function(wrap_pyfunction!(baking::tetrahedralize, module)?)?;
    module.add_function(wrap_pyfunction!(baking::bake, module)?)?;
    module.add_function(wrap_pyfunction!(baking::material, module)?)?;
    module.add_function(wrap_pyfunction!(baking::material_names, module)?)?;
    module.add_function(wrap_pyfunction!(breaking::shatter, module)?)?;
    module.add_function(wrap_pyfunction!(depths::overlapping_tets, module)?)?;
    module.add_function(wrap_pyfunction!(drawing::draw, module)?)?;
    module.add_function(wrap_pyfunction!(drawing::contact_sheet, module)?)?;
    module.add_function(wrap_pyfunction!(sweeps::measure_shard, module)?)?;
    module.add_function(wrap_pyfunction!(sweeps::merge_shards, module)?)?;
    Ok(())
}
