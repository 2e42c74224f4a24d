//! Voxel trees: contacts within a budget [Dingliana 2004].

use fracas_bake::bake::Source;
use fracas_core::Pose;
use fracas_voxel::{
    Averaging, Budget, Detection, GroupContact, Grouping, Stop, VoxTree, VoxelGrid, primitive,
    reduce, roots_gap,
};
use glam::{Mat3, Vec3};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{column, rotation, vector, vectors};
use crate::errors::{refuse, run};
use crate::meshes::given;

/// A hierarchy of cubes that know how full they are.
#[pyclass(module = "fracas", frozen)]
pub struct VoxelTree {
    tree: VoxTree,
    volume: f64,
}

/// The most voxels of a grid: half a gigabyte of them.
const MOST_VOXELS: f64 = 3e7;

#[pymethods]
impl VoxelTree {
    /// Of a closed surface or of tetrahedra, with voxels of edge `cell`; `branching` cubes
    /// a side make one of the level above.
    #[new]
    #[pyo3(signature = (mesh, cell, branching = 2))]
    fn new(py: Python<'_>, mesh: &Bound<'_, PyAny>, cell: f32, branching: u32) -> PyResult<Self> {
        if !(2..=8).contains(&branching) {
            return Err(PyValueError::new_err("branching: must be from 2 to 8"));
        }
        let source = given(mesh)?.source;
        run(py, || {
            let of_tets = |mesh: &fracas_core::TetMesh| {
                let positions = mesh.positions().to_vec();
                (
                    positions,
                    mesh.boundary().map(|f| f.nodes).collect::<Vec<_>>(),
                )
            };
            let (positions, triangles) = match &source {
                Source::Shape(shape) => of_tets(&shape.build()),
                Source::Tets(_, mesh) => of_tets(mesh),
                Source::Asset(asset) => of_tets(asset.mesh()),
                Source::Surface(_, mesh) => {
                    let positions = mesh.positions().iter().map(|p| p.as_vec3()).collect();
                    (positions, mesh.triangles().to_vec())
                }
                _ => return Err(refuse("this has no voxels")),
            };
            check_count(&positions, cell)?;
            let grid = VoxelGrid::from_surface(&positions, &triangles, cell).map_err(refuse)?;
            Ok(Self {
                tree: VoxTree::build(&grid, branching),
                volume: grid.volume(),
            })
        })?
    }

    /// The number of levels; level 0 is the root.
    #[getter]
    fn levels(&self) -> usize {
        self.tree.levels().len()
    }

    /// The volume of all voxels, by how full they are.
    #[getter]
    fn volume(&self) -> f64 {
        self.volume
    }

    /// The cubes of a level: their edge, centres `(n, 3)`, filled shares `(n,)`, outward
    /// directions `(n, 3)`.
    fn level<'py>(&self, py: Python<'py>, level: usize) -> PyResult<Level<'py>> {
        let levels = self.tree.levels();
        let found = levels
            .get(level)
            .ok_or_else(|| PyIndexError::new_err(format!("there are {} levels", levels.len())))?;
        let nodes = &found.nodes;
        Ok((
            found.cell,
            vectors(py, nodes.iter().map(|n| n.centre))?,
            column(py, nodes.iter().map(|n| n.occupancy).collect()),
            vectors(py, nodes.iter().map(|n| n.outward))?,
        ))
    }

    /// Contacts with another tree that lies at `position`, turned by `rotation`
    /// (x, y, z, w), in this one's frame. `tests` bounds the work, `level` the depth.
    /// Returns `points`, `normals` (the way in which this leaves the other), `distances`
    /// (negative where they overlap), `weights`, why it `stopped`, and the `gap`: a lower
    /// bound of the distance where they are apart.
    #[pyo3(signature = (other, position = [0.0; 3], rotation = [0.0, 0.0, 0.0, 1.0], tests = None, level = None))]
    fn collide<'py>(
        &self,
        py: Python<'py>,
        other: &Self,
        position: [f64; 3],
        rotation: [f64; 4],
        tests: Option<u64>,
        level: Option<u32>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let b_to_a = Pose {
            rotation: Mat3::from_quat(self::rotation(rotation, "rotation")?),
            translation: vector(position, "position")?,
        };
        let budget = Budget {
            tests,
            deadline: None,
            level,
        };
        let (stop, gap, contacts) = run(py, || {
            let mut detection = Detection::default();
            let stop = detection.refine(&self.tree, &other.tree, &b_to_a, &budget);
            let mut primitives: Vec<_> = detection
                .pairs()
                .map(|pair| primitive(&self.tree, &other.tree, &b_to_a, pair))
                .collect();
            let mut contacts: Vec<GroupContact> = Vec::new();
            if stop != Stop::Apart {
                let line = -b_to_a.translation;
                let (how, by) = (Averaging::default(), Grouping::default());
                reduce(&mut primitives, how, by, line, &mut contacts);
            }
            let gap = match stop {
                Stop::Apart => detection
                    .gap()
                    .max(roots_gap(&self.tree, &other.tree, &b_to_a)),
                _ => 0.0,
            };
            (stop, gap, contacts)
        })?;
        let told = PyDict::new(py);
        told.set_item("stopped", format!("{stop:?}").to_lowercase())?;
        told.set_item("gap", gap)?;
        told.set_item("points", vectors(py, contacts.iter().map(|c| c.point))?)?;
        told.set_item("normals", vectors(py, contacts.iter().map(|c| c.normal))?)?;
        let distances = contacts.iter().map(|c| c.distance).collect();
        told.set_item("distances", column(py, distances))?;
        let weights = contacts.iter().map(|c| c.weight).collect();
        told.set_item("weights", column(py, weights))?;
        Ok(told)
    }
}

type Level<'py> = (
    f32,
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyArray2<f32>>,
);

/// Refuses grids that do not fit memory, before they are made.
fn check_count(positions: &[Vec3], cell: f32) -> PyResult<()> {
    let low = positions.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = positions
        .iter()
        .copied()
        .fold(Vec3::NEG_INFINITY, Vec3::max);
    let count: f64 = ((high - low) / cell)
        .to_array()
        .iter()
        .map(|&n| f64::from(n) + 2.0)
        .product();
    if cell > 0.0 && count > MOST_VOXELS {
        let why = format!(
            "{count:.0} voxels are more than the {MOST_VOXELS:.0} allowed; use larger ones"
        );
        return Err(refuse(why));
    }
    Ok(())
}
