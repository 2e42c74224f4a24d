//! Surfaces and tetrahedra, from files, arrays, trimesh and meshio, and back.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use fracas_bake::bake::Source;
use fracas_bake::limits::Cost;
use fracas_bake::{
    Mesh, Repairs, SurfaceMesh, TetSoup, boundary_surface, inspect_surface, inspect_tets, shapes,
};
use fracas_core::{FieldOptions, FragmentField, FragmentId, Fragments, TetMesh};
use glam::{DVec3, Vec3};
use numpy::PyArray2;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::arrays::{
    Distances, column, index_rows, indices, points, points_f32, vectors, vectors_f64,
};
use crate::errors::{refuse, run, run_long};

/// A triangle surface, repaired: equal vertices are one, flat triangles are gone.
#[pyclass(module = "fracas", frozen)]
pub struct Surface {
    pub mesh: Arc<SurfaceMesh>,
    pub name: String,
    repairs: Repairs,
}

impl Surface {
    pub fn new(mesh: SurfaceMesh, name: impl Into<String>, repairs: Repairs) -> Self {
        Self {
            mesh: Arc::new(mesh),
            name: name.into(),
            repairs,
        }
    }

    pub fn repair(name: &str, positions: Vec<DVec3>, triangles: &[[u32; 3]]) -> PyResult<Self> {
        let (mesh, repairs) = SurfaceMesh::repair(positions, triangles).map_err(refuse)?;
        Ok(Self::new(mesh, name, repairs))
    }
}

/// A report of the library as a dictionary.
pub fn as_dict<'py>(
    py: Python<'py>,
    report: &impl serde::Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(report).map_err(refuse)?;
    py.import("json")?.call_method1("loads", (text,))
}

fn repairs_of(repairs: &Repairs) -> Vec<(&'static str, usize)> {
    repairs
        .iter()
        .map(|(r, count)| (r.describe(), count))
        .collect()
}

type Bounds = ([f64; 3], [f64; 3]);

#[pymethods]
impl Surface {
    /// A surface of vertices and triangles.
    #[new]
    #[pyo3(signature = (positions, triangles, name = "surface"))]
    fn py_new(
        py: Python<'_>,
        positions: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        name: &str,
    ) -> PyResult<Self> {
        let positions = points(positions, "positions")?;
        let triangles = indices::<3>(triangles, "triangles")?;
        run(py, || Self::repair(name, positions, &triangles))?
    }

    /// Vertices, `(n, 3)`.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        vectors_f64(py, self.mesh.positions().iter().copied())
    }

    /// Triangles, `(m, 3)`, counter-clockwise seen from outside.
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        index_rows(py, self.mesh.triangles())
    }

    /// Its name, by the file.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Its area.
    #[getter]
    fn area(&self) -> f64 {
        self.mesh.area()
    }

    /// The volume it encloses.
    #[getter]
    fn volume(&self) -> f64 {
        self.mesh.volume()
    }

    /// Lowest and highest coordinates.
    #[getter]
    fn bounds(&self) -> Bounds {
        let (low, high) = self.mesh.bounds();
        (low.to_array(), high.to_array())
    }

    /// What was repaired, and how often.
    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for (what, count) in repairs_of(&self.repairs) {
            found.set_item(what, count)?;
        }
        Ok(found)
    }

    /// What `fracas inspect` tells: closed or not, holes, pieces, handles, crossings.
    fn inspect<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mesh = Arc::clone(&self.mesh);
        let report = run_long(py, move || inspect_surface(&mesh))?;
        as_dict(py, &report)
    }

    /// Writes it, as OBJ or PLY by the name's end.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let end = ending(&path);
        let write = match end.as_str() {
            "obj" => fracas_bake::write_obj,
            "ply" => fracas_bake::write_ply,
            _ => {
                return Err(refuse(format!(
                    "a surface is written as .obj or .ply, not .{end}"
                )));
            }
        };
        run(py, || {
            let mut bytes = Vec::new();
            write(&mut bytes, &self.mesh).map_err(refuse)?;
            save(&path, &bytes)
        })?
    }

    /// As a `trimesh.Trimesh`.
    fn to_trimesh<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let options = PyDict::new(py);
        options.set_item("vertices", self.positions(py)?)?;
        options.set_item("faces", self.triangles(py)?)?;
        options.set_item("process", false)?;
        py.import("trimesh")?
            .call_method("Trimesh", (), Some(&options))
    }

    fn __repr__(&self) -> String {
        format!(
            "<fracas.Surface {}: {} triangles, {} vertices>",
            self.name,
            self.mesh.triangles().len(),
            self.mesh.positions().len()
        )
    }
}

pub fn ending(path: &std::path::Path) -> String {
    path.extension()
        .map_or_else(String::new, |e| e.to_string_lossy().to_ascii_lowercase())
}

/// Writes a file, whole or not at all.
pub fn save(path: &std::path::Path, bytes: &[u8]) -> PyResult<()> {
    fracas_bake::write::write_file(path, bytes)
        .map_err(|e| refuse(format!("cannot write {}: {e}", path.display())))
}

/// The distance field of an unbroken object.
pub struct WholeField {
    pub fragments: Fragments,
    pub field: FragmentField,
}

/// A solid of tetrahedra.
#[pyclass(module = "fracas", name = "TetMesh", frozen)]
pub struct Tets {
    pub mesh: Arc<TetMesh>,
    pub name: String,
    /// The surface it was filled from.
    pub skin: Option<Arc<SurfaceMesh>>,
    notes: Vec<String>,
    field: Mutex<Option<Arc<WholeField>>>,
}

impl Tets {
    pub fn new(mesh: Arc<TetMesh>, name: impl Into<String>) -> Self {
        Self {
            mesh,
            name: name.into(),
            skin: None,
            notes: Vec::new(),
            field: Mutex::new(None),
        }
    }

    pub fn with_notes(mut self, notes: Vec<String>, skin: Option<Arc<SurfaceMesh>>) -> Self {
        self.notes = notes;
        self.skin = skin;
        self
    }

    fn field(&self) -> PyResult<Arc<WholeField>> {
        let mut field = self.field.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(field) = &*field {
            return Ok(Arc::clone(field));
        }
        let fragments = Fragments::new(Arc::clone(&self.mesh));
        let made = FragmentField::build(&fragments, &FieldOptions::default()).map_err(refuse)?;
        let made = Arc::new(WholeField {
            fragments,
            field: made,
        });
        *field = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// Signed distances and outward directions of points to one fragment.
pub fn distances(
    fragments: &Fragments,
    field: &FragmentField,
    id: FragmentId,
    points: &[Vec3],
    most: f32,
) -> (Vec<f32>, Vec<Vec3>) {
    let view = field.of(fragments, id);
    let ask = |p: &Vec3| {
        // A point that is nowhere is far from everything.
        let found = p
            .is_finite()
            .then(|| view.signed_distance(*p, most))
            .flatten();
        found.map_or((f32::INFINITY, Vec3::ZERO), |d| (d.distance, d.normal))
    };
    points.iter().map(ask).unzip()
}

#[pymethods]
impl Tets {
    /// Tetrahedra over nodes; those that are inside out are turned.
    #[new]
    #[pyo3(signature = (positions, tets, name = "tetrahedra"))]
    fn py_new(
        py: Python<'_>,
        positions: &Bound<'_, PyAny>,
        tets: &Bound<'_, PyAny>,
        name: &str,
    ) -> PyResult<Self> {
        let positions = points(positions, "positions")?;
        let tets = indices::<4>(tets, "tets")?;
        run(py, || {
            let (mesh, _) = TetSoup::new(positions, tets).into_mesh().map_err(refuse)?;
            Ok(Self::new(Arc::new(mesh), name))
        })?
    }

    /// Nodes, `(n, 3)`.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        vectors(py, self.mesh.positions().iter().copied())
    }

    /// Tetrahedra, `(m, 4)`, positively oriented.
    #[getter]
    fn tets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        index_rows(py, self.mesh.tets())
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// What was chosen unasked when it was filled, and what is not as in the input.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Its volume.
    #[getter]
    fn volume(&self) -> f64 {
        self.mesh.volume()
    }

    /// Lowest and highest coordinates.
    #[getter]
    fn bounds(&self) -> Bounds {
        let (low, high) = self.mesh.bounds();
        (low.as_dvec3().to_array(), high.as_dvec3().to_array())
    }

    /// The mean length of its edges.
    #[getter]
    fn mean_edge(&self) -> f32 {
        self.mesh.mean_edge_length()
    }

    /// Its outside.
    fn boundary(&self, py: Python<'_>) -> PyResult<Surface> {
        let surface = run(py, || boundary_surface(&self.mesh))?;
        Ok(Surface::new(surface, &self.name, Repairs::default()))
    }

    /// What `fracas inspect` tells: angles, edges, volume, boundary.
    fn inspect<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mesh = Arc::clone(&self.mesh);
        let report = run_long(py, move || inspect_tets(&mesh))?;
        as_dict(py, &report)
    }

    /// The same, `factor` times as large.
    fn scaled(&self, factor: f64) -> PyResult<Self> {
        let factor = crate::arrays::within(factor, "factor", 1e-6, 1e6)?;
        let positions = self.mesh.positions().iter().map(|&p| p * factor).collect();
        let mesh = TetMesh::build(positions, self.mesh.tets().to_vec()).map_err(refuse)?;
        let skin = self.skin.as_ref().map(|skin| {
            let positions = skin
                .positions()
                .iter()
                .map(|&p| p * f64::from(factor))
                .collect();
            let uvs = skin.uvs().map(<[_]>::to_vec);
            SurfaceMesh::build_with_uvs(positions, skin.triangles().to_vec(), uvs)
        });
        let skin = skin.transpose().map_err(refuse)?.map(Arc::new);
        Ok(Self::new(Arc::new(mesh), &self.name).with_notes(self.notes.clone(), skin))
    }

    /// Signed distances of points `(n, 3)` to the surface, negative inside, and outward
    /// directions. Points outside and farther than `max_distance` have an infinite
    /// distance and no direction. The field is made at the first call.
    #[pyo3(signature = (points, max_distance = f32::INFINITY))]
    fn signed_distance<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
        max_distance: f32,
    ) -> PyResult<Distances<'py>> {
        let points = points_f32(points, "points")?;
        let (found, normals) = run(py, || {
            let whole = self.field()?;
            let (fragments, field) = (&whole.fragments, &whole.field);
            Ok::<_, PyErr>(distances(
                fragments,
                field,
                FragmentId(0),
                &points,
                max_distance,
            ))
        })??;
        Ok((column(py, found), vectors(py, normals)?))
    }

    /// Writes it, as VTU or Gmsh MSH by the name's end.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let end = ending(&path);
        run(py, || {
            let mut bytes = Vec::new();
            match end.as_str() {
                "vtu" => fracas_bake::write_vtu(&mut bytes, &self.mesh, &[]),
                "msh" => fracas_bake::write_msh(&mut bytes, &self.mesh, &[]),
                _ => {
                    let why = format!("tetrahedra are written as .vtu or .msh, not .{end}");
                    return Err(refuse(why));
                }
            }
            .map_err(refuse)?;
            save(&path, &bytes)
        })?
    }

    /// As a `meshio.Mesh`.
    fn to_meshio<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let cells = vec![("tetra", self.tets(py)?)];
        let positions = self.positions(py)?;
        py.import("meshio")?
            .call_method1("Mesh", (positions, cells))
    }

    fn __repr__(&self) -> String {
        format!(
            "<fracas.TetMesh {}: {} tetrahedra, {} nodes>",
            self.name,
            self.mesh.tets().len(),
            self.mesh.positions().len()
        )
    }
}

/// What a user gives as a mesh, as the library's source.
pub struct Given {
    pub source: Source,
    /// The file, whose materials and textures may be read too.
    pub path: Option<PathBuf>,
}

/// What a user gives as a mesh: a file or the name of a shape, one of our own objects, or
/// one of trimesh or meshio.
pub fn given(value: &Bound<'_, PyAny>) -> PyResult<Given> {
    let of = |source| Ok(Given { source, path: None });
    if let Ok(surface) = value.cast::<Surface>() {
        let surface = surface.get();
        return of(Source::Surface(
            surface.name.clone(),
            (*surface.mesh).clone(),
        ));
    }
    if let Ok(tets) = value.cast::<Tets>() {
        let tets = tets.get();
        let mesh = (*tets.mesh).clone();
        let Some(skin) = &tets.skin else {
            return of(Source::Tets(tets.name.clone(), mesh));
        };
        // What was filled from a surface shows it.
        let mut asset = fracas_bake::Asset::new(&tets.name, mesh);
        asset.set_skin((**skin).clone());
        return of(Source::Asset(Box::new(asset)));
    }
    if let Ok(asset) = value.cast::<crate::baking::Asset>() {
        return of(Source::Asset(Box::new((*asset.get().asset).clone())));
    }
    if value.is_instance_of::<PyString>() || value.hasattr("__fspath__")? {
        let path: PathBuf = value.extract()?;
        let source = run(value.py(), || Source::open(&path))?.map_err(refuse)?;
        return Ok(Given {
            source,
            path: Some(path),
        });
    }
    if value.hasattr("vertices")? && value.hasattr("faces")? {
        let positions = points(&value.getattr("vertices")?, "vertices")?;
        let triangles = indices::<3>(&value.getattr("faces")?, "faces")?;
        let surface = Surface::repair("trimesh", positions, &triangles)?;
        return of(Source::Surface(
            surface.name,
            Arc::unwrap_or_clone(surface.mesh),
        ));
    }
    if value.hasattr("points")? && value.hasattr("cells_dict")? {
        let positions = points(&value.getattr("points")?, "points")?;
        let cells = value.getattr("cells_dict")?;
        if let Ok(tets) = cells.get_item("tetra") {
            let tets = indices::<4>(&tets, "tetra")?;
            let made = TetSoup::new(positions, tets).into_mesh();
            return of(Source::Tets("meshio".into(), made.map_err(refuse)?.0));
        }
        if let Ok(triangles) = cells.get_item("triangle") {
            let triangles = indices::<3>(&triangles, "triangle")?;
            let surface = Surface::repair("meshio", positions, &triangles)?;
            return of(Source::Surface(
                surface.name,
                Arc::unwrap_or_clone(surface.mesh),
            ));
        }
        return Err(refuse("the mesh has neither tetrahedra nor triangles"));
    }
    Err(PyTypeError::new_err(format!(
        "a mesh is a file, the name of a shape, a Surface, a TetMesh, an Asset, or one of \
         trimesh's or meshio's, not {}",
        value.get_type().name()?
    )))
}

/// Reads a mesh file and repairs it: a `Surface`, or a `TetMesh` where it holds
/// tetrahedra.
#[pyfunction]
pub fn read(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    let name = path
        .file_stem()
        .map_or_else(String::new, |s| s.to_string_lossy().into());
    let mesh = run_long(py, move || fracas_bake::read(path))?.map_err(refuse)?;
    match mesh {
        Mesh::Surface(mesh, repairs) => {
            Ok(Bound::new(py, Surface::new(mesh, name, repairs))?.into_any())
        }
        Mesh::Tets(soup) => {
            let (mesh, _) = run(py, || fracas_bake::tet_mesh_of(&name, soup))?.map_err(refuse)?;
            Ok(Bound::new(py, Tets::new(Arc::new(mesh), name))?.into_any())
        }
    }
}

/// A thing that is generated in code, see `shape_names`.
#[pyfunction]
#[pyo3(signature = (name, tets = None))]
pub fn shape(py: Python<'_>, name: &str, tets: Option<u64>) -> PyResult<Tets> {
    let found = shapes::by_name(name).ok_or_else(|| {
        let names: Vec<_> = shapes::names().collect();
        refuse(format!(
            "there is no shape `{name}`; the shapes are: {}",
            names.join(", ")
        ))
    })?;
    if let Some(tets) = tets {
        check_tets(tets as f64)?;
    }
    let mesh = run_long(py, move || match tets {
        Some(tets) => found.build_with_tets(tets as usize),
        None => found.build(),
    })?;
    Ok(Tets::new(Arc::new(mesh), name))
}

/// Refuses what would take hours or more memory than there is.
pub fn check_tets(tets: f64) -> PyResult<()> {
    Cost::of_tets(tets)
        .check(&format!("{tets:.0} tetrahedra"))
        .map_err(refuse)
}

/// The names of the things that are generated in code.
#[pyfunction]
pub fn shape_names() -> Vec<&'static str> {
    shapes::names().collect()
}
