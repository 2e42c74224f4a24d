//! Distances to the boundary on the tetrahedra themselves [Marchal 2004].

use std::sync::Mutex;

use fracas_tet_distance::{DepthField, Detector, Method, Object, Topology};
use glam::Vec3;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{column, index_rows, indices, points_f32, rows, vectors};
use crate::errors::{refuse, run};

/// Depths of the nodes of tetrahedra that deform: the adjacency is computed once, depths
/// for each set of positions.
#[pyclass(module = "fracas", frozen)]
pub struct TetDistance {
    topology: Topology,
    field: Mutex<DepthField>,
}

impl TetDistance {
    fn check(&self, positions: &[Vec3]) -> PyResult<()> {
        if positions.len() != self.topology.nodes() {
            return Err(PyValueError::new_err(format!(
                "positions: there are {} nodes, but {} positions were given",
                self.topology.nodes(),
                positions.len()
            )));
        }
        match positions.iter().position(|p| !p.is_finite()) {
            Some(node) => Err(PyValueError::new_err(format!(
                "positions: node {node} is not finite"
            ))),
            None => Ok(()),
        }
    }
}

#[pymethods]
impl TetDistance {
    /// Of `nodes` nodes and tetrahedra `(m, 4)`. `method` is `closest-feature` (the most
    /// exact) or `closest-point` (the fastest).
    #[new]
    #[pyo3(signature = (nodes, tets, method = "closest-feature"))]
    fn new(py: Python<'_>, nodes: usize, tets: &Bound<'_, PyAny>, method: &str) -> PyResult<Self> {
        let method = match method {
            "closest-feature" => Method::ClosestFeature,
            "closest-point" => Method::ClosestPoint,
            _ => {
                let why = "method: must be closest-feature or closest-point";
                return Err(PyValueError::new_err(why));
            }
        };
        let tets = indices::<4>(tets, "tets")?;
        // Every node is an entry in tables; one that no tetrahedron can use is a slip.
        if nodes > 4 * tets.len() + 1_000_000 {
            return Err(PyValueError::new_err(format!(
                "nodes: {nodes} are far more than {} tetrahedra can use",
                tets.len()
            )));
        }
        let topology = run(py, || Topology::build(nodes, &tets))?.map_err(refuse)?;
        Ok(Self {
            topology,
            field: Mutex::new(DepthField::new(method)),
        })
    }

    /// How deep each node lies `(n,)`: infinite for nodes of no tetrahedron.
    fn depths<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let positions = points_f32(positions, "positions")?;
        self.check(&positions)?;
        let depths = run(py, || {
            let mut field = self
                .field
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            field.march(&self.topology, &positions);
            field.depths().to_vec()
        })?;
        Ok(column(py, depths))
    }

    /// The place on the boundary `(n, 3)` that each node is nearest to; not a number for
    /// nodes of no tetrahedron.
    fn closest<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let positions = points_f32(positions, "positions")?;
        self.check(&positions)?;
        let places = run(py, || {
            let mut field = self
                .field
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            field.march(&self.topology, &positions);
            let nodes = 0..self.topology.nodes() as u32;
            let place = |n| field.closest(&self.topology, &positions, n);
            nodes
                .map(|n| place(n).map_or(Vec3::NAN, |(at, _)| at))
                .collect::<Vec<Vec3>>()
        })?;
        vectors(py, places)
    }

    /// The faces `(k, 3)` of the boundary.
    #[getter]
    fn faces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        index_rows(py, self.topology.faces())
    }

    /// For each tetrahedron, the connected part it belongs to.
    #[getter]
    fn parts<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        column(py, self.topology.parts().to_vec())
    }
}

/// Which tetrahedra of several objects overlap: rows `(n, 4)` of object, tetrahedron,
/// object, tetrahedron. Each object is a `TetDistance` and the positions of its nodes.
#[pyfunction]
pub fn overlapping_tets<'py>(
    py: Python<'py>,
    objects: Vec<(Bound<'py, TetDistance>, Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let mut placed = Vec::new();
    for (object, positions) in &objects {
        let positions = points_f32(positions, "positions")?;
        object.get().check(&positions)?;
        placed.push((&object.get().topology, positions));
    }
    let pairs = run(py, || {
        let objects: Vec<Object<'_>> = placed
            .iter()
            .map(|(topology, positions)| Object {
                topology,
                positions,
            })
            .collect();
        let mut pairs = Vec::new();
        Detector::default().overlaps(&objects, &mut pairs);
        pairs
    })?;
    let flat = pairs
        .iter()
        .flat_map(|[a, b]| [a.object, a.tet, b.object, b.tet]);
    rows(py, flat.collect(), 4)
}
