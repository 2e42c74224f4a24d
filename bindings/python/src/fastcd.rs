//! Collisions of deforming, fracturing triangle meshes: FASTCD [Heo 2010].

use std::sync::{Mutex, MutexGuard, PoisonError};

use fracas_fastcd::{BodyId, Contacts, Detection, FastBvh, Part, Scratch, Settings};
use numpy::PyArray2;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{column, index_rows, indices, points};
use crate::errors::{refuse, run};

/// Deforming triangle meshes under one hierarchy: `add` bodies, `move` their vertices,
/// `update`, then ask for `intersections` or `contacts`.
///
/// A step is what happens between two updates: vertices move in straight lines. No
/// collision is missed. Vertices, edges and triangles are named by global numbers: those
/// of a body that was added first begin at 0.
#[pyclass(module = "fracas", frozen)]
pub struct Fastcd {
    inside: Mutex<Inside>,
}

struct Inside {
    scene: FastBvh,
    /// The library's names of the bodies, by the numbers that Python knows.
    bodies: Vec<BodyId>,
}

impl Inside {
    fn body(&self, number: u32) -> PyResult<BodyId> {
        let body = self.bodies.get(number as usize).copied();
        body.ok_or_else(|| refuse(format!("body {number} does not exist: it was never added")))
    }

    fn name(&mut self, body: BodyId) -> u32 {
        self.bodies.push(body);
        self.bodies.len() as u32 - 1
    }
}

impl Fastcd {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Fastcd {
    /// `continuous` scenes see contacts over the step, others the end of it alone, faster.
    #[new]
    #[pyo3(signature = (continuous = true))]
    fn new(continuous: bool) -> Self {
        let detection = if continuous {
            Detection::Continuous
        } else {
            Detection::Discrete
        };
        let settings = Settings {
            detection,
            ..Settings::default()
        };
        Self {
            inside: Mutex::new(Inside {
                scene: FastBvh::new(settings),
                bodies: Vec::new(),
            }),
        }
    }

    /// Adds a body; returns its number.
    fn add(
        &self,
        py: Python<'_>,
        positions: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
    ) -> PyResult<u32> {
        let positions = points(positions, "positions")?;
        let triangles = indices::<3>(triangles, "triangles")?;
        run(py, || {
            let mut inside = self.lock();
            let body = inside.scene.add(&positions, &triangles).map_err(refuse)?;
            Ok(inside.name(body))
        })?
    }

    /// Moves the vertices of a body to where they are at the end of the step.
    fn r#move(&self, py: Python<'_>, body: u32, positions: &Bound<'_, PyAny>) -> PyResult<()> {
        let positions = points(positions, "positions")?;
        run(py, || {
            let mut inside = self.lock();
            let body = inside.body(body)?;
            inside.scene.move_vertices(body, &positions).map_err(refuse)
        })?
    }

    /// Takes a body away.
    fn delete(&self, py: Python<'_>, body: u32) -> PyResult<()> {
        run(py, || {
            let mut inside = self.lock();
            let body = inside.body(body)?;
            inside.scene.delete(body).map_err(refuse)
        })?
    }

    /// Makes one body of several.
    fn merge(&self, py: Python<'_>, bodies: Vec<u32>) -> PyResult<u32> {
        run(py, || {
            let mut inside = self.lock();
            let bodies: Vec<BodyId> = bodies
                .into_iter()
                .map(|b| inside.body(b))
                .collect::<PyResult<_>>()?;
            let merged = inside.scene.merge(&bodies).map_err(refuse)?;
            Ok(inside.name(merged))
        })?
    }

    /// Splits a body by its triangles: each list of triangles becomes a body of its own.
    /// Returns their numbers, and for each of their vertices its place in the old body.
    fn split(
        &self,
        py: Python<'_>,
        body: u32,
        parts: Vec<Vec<u32>>,
    ) -> PyResult<Vec<(u32, Vec<u32>)>> {
        let parts: Vec<Part> = parts
            .into_iter()
            .map(|kept| Part {
                kept,
                ..Part::default()
            })
            .collect();
        run(py, || {
            let mut inside = self.lock();
            let body = inside.body(body)?;
            let made = inside.scene.split(body, &parts, &[]).map_err(refuse)?;
            Ok(made
                .into_iter()
                .map(|b| (inside.name(b.id), b.vertex_origin))
                .collect())
        })?
    }

    /// Ends the step. Returns what was done, in numbers.
    fn update<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = run(py, || self.lock().scene.update())?;
        let told = PyDict::new(py);
        told.set_item("edited", stats.edited)?;
        told.set_item("rebuilt_triangles", stats.rebuilt_triangles)?;
        told.set_item("culled_subtrees", stats.culled_subtrees)?;
        told.set_item("nodes", stats.nodes)?;
        told.set_item("depth", stats.depth)?;
        Ok(told)
    }

    /// Pairs `(n, 2)` of triangles that intersect at the end of the step.
    fn intersections<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let pairs = run(py, || {
            let mut pairs = Vec::new();
            self.lock()
                .scene
                .intersections(&mut Scratch::parallel(), &mut pairs);
            pairs
        })?;
        index_rows(py, &pairs)
    }

    /// Contacts over the step: `vertex_face` `(n, 2)` with `vertex_face_times` `(n,)`, and
    /// `edge_edge` `(m, 2)` with `edge_edge_times` `(m,)`; times are from 0 to 1.
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = run(py, || {
            let mut found = Contacts::default();
            self.lock()
                .scene
                .contacts(&mut Scratch::parallel(), &mut found);
            found
        })?;
        let told = PyDict::new(py);
        let pairs: Vec<[u32; 2]> = found
            .vertex_face
            .iter()
            .map(|c| [c.vertex, c.face])
            .collect();
        told.set_item("vertex_face", index_rows(py, &pairs)?)?;
        let times = found.vertex_face.iter().map(|c| c.time).collect();
        told.set_item("vertex_face_times", column(py, times))?;
        let pairs: Vec<[u32; 2]> = found.edge_edge.iter().map(|c| c.edges).collect();
        told.set_item("edge_edge", index_rows(py, &pairs)?)?;
        let times = found.edge_edge.iter().map(|c| c.time).collect();
        told.set_item("edge_edge_times", column(py, times))?;
        Ok(told)
    }

    /// The vertices `(n, 2)` at the ends of edges, by the numbers that `contacts` gives.
    fn edges<'py>(&self, py: Python<'py>, edges: Vec<u32>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let ends = run(py, || {
            let inside = self.lock();
            let find = |e: u32| {
                let ends = inside.scene.edge(e);
                ends.ok_or_else(|| PyIndexError::new_err(format!("there is no edge {e}")))
            };
            edges
                .into_iter()
                .map(find)
                .collect::<PyResult<Vec<[u32; 2]>>>()
        })??;
        index_rows(py, &ends)
    }

    /// The global numbers of a body's vertices and of its triangles.
    fn numbers(&self, body: u32) -> PyResult<(Vec<u32>, Vec<u32>)> {
        let inside = self.lock();
        let body = inside.body(body)?;
        let vertices = inside.scene.vertices(body).map_err(refuse)?.to_vec();
        let triangles = inside.scene.triangles(body).map_err(refuse)?.to_vec();
        Ok((vertices, triangles))
    }
}
