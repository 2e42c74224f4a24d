//! Shatter, the pieces, and which of them were neighbours.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use fracas_bake::Repairs;
use fracas_bake::SurfaceMesh;
use fracas_bake::model::Model;
use fracas_bake::model::pieces::{Buffers, ModelPiece};
use fracas_bake::model::write::Format;
use fracas_bake::shatter::{self as breaking, Pattern, ShatterOptions, SkinChoice, Wardrobe};
use fracas_core::{
    FieldOptions, Fracture, FragmentField, FragmentId, FragmentSurface, Fragments, SurfaceScratch,
};
use fracas_fracture::FractureStats;
use glam::Vec3;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{
    Distances, Pair, column, direction, index_rows, points_f32, rows, vector, vectors, within,
};
use crate::baking::{Fineness, Loaded, load, material_of};
use crate::errors::{refuse, run, run_long};
use crate::meshes::{Surface, distances, ending, given, save};

/// One piece: a closed surface in the frame of the whole object.
#[pyclass(module = "fracas", frozen)]
pub struct Piece {
    name: String,
    fragment: u32,
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    cracks: Vec<bool>,
    volume: f64,
    mass: f64,
    centre: [f64; 3],
    inertia: [f64; 9],
}

#[pymethods]
impl Piece {
    /// `fragment-000` and so on, as in the files of `fracas shatter`.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Its number among all fragments that the object ever had.
    #[getter]
    fn fragment(&self) -> u32 {
        self.fragment
    }

    /// Vertices `(n, 3)`, where they were in the whole object.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        vectors(py, self.positions.iter().copied())
    }

    /// Triangles `(m, 3)`, counter-clockwise seen from outside.
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        index_rows(py, &self.triangles)
    }

    /// Which triangles a crack made, `(m,)`.
    #[getter]
    fn is_crack<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        column(py, self.cracks.clone())
    }

    /// Its volume.
    #[getter]
    fn volume(&self) -> f64 {
        self.volume
    }

    /// Its mass, of the material's density.
    #[getter]
    fn mass(&self) -> f64 {
        self.mass
    }

    /// Its centre of mass, in the frame of the whole object.
    #[getter]
    fn centre(&self) -> [f64; 3] {
        self.centre
    }

    /// Its inertia about that centre, `(3, 3)`.
    #[getter]
    fn inertia<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        rows(py, self.inertia.to_vec(), 3)
    }

    /// Its surface, repaired: what can be filled and broken anew.
    fn surface(&self) -> PyResult<Surface> {
        let positions = self.positions.iter().map(|p| p.as_dvec3()).collect();
        let (mesh, repairs): (SurfaceMesh, Repairs) =
            SurfaceMesh::repair(positions, &self.triangles).map_err(refuse)?;
        Ok(Surface::new(mesh, &self.name, repairs))
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

    /// The text of an OBJ file: vertices and triangles, nothing else.
    fn to_obj(&self, py: Python<'_>) -> PyResult<String> {
        run(py, || {
            use std::fmt::Write as _;
            let mut text = String::new();
            // Writing to a string cannot fail.
            for p in &self.positions {
                let _ = writeln!(text, "v {} {} {}", p.x, p.y, p.z);
            }
            for [a, b, c] in &self.triangles {
                let _ = writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1);
            }
            text
        })
    }

    fn __repr__(&self) -> String {
        format!(
            "<fracas.Piece {}: {} triangles, {:.4} kg>",
            self.name,
            self.triangles.len(),
            self.mass
        )
    }
}

/// The parts of a piece's surface as one mesh: vertices at the same place are one.
fn joined(parts: &[Buffers]) -> (Vec<Vec3>, Vec<[u32; 3]>, Vec<bool>) {
    let (mut positions, mut triangles, mut cracks) = (Vec::new(), Vec::new(), Vec::new());
    let mut known: BTreeMap<[u32; 3], u32> = BTreeMap::new();
    for part in parts {
        let mut at = |v: u32| {
            let p = part.positions[v as usize] + Vec3::ZERO;
            *known
                .entry(p.to_array().map(f32::to_bits))
                .or_insert_with(|| {
                    positions.push(p);
                    positions.len() as u32 - 1
                })
        };
        for triangle in &part.triangles {
            let [a, b, c] = triangle.map(&mut at);
            if a != b && b != c && c != a {
                triangles.push([a, b, c]);
                cracks.push(part.is_crack);
            }
        }
    }
    (positions, triangles, cracks)
}

/// What a kind of thing looks like. Fitting its skin to its tetrahedra takes longer than
/// dressing the pieces, so it is done once for all things of a kind.
pub struct Looks {
    model: Model,
    wardrobe: Wardrobe,
}

impl Looks {
    pub fn new(model: Model) -> Arc<Self> {
        let wardrobe = Wardrobe::default();
        Arc::new(Self { model, wardrobe })
    }
}

/// An object in pieces.
#[pyclass(module = "fracas", frozen)]
pub struct Broken {
    fragments: Arc<Fragments>,
    /// In the order of their names.
    pieces: Vec<breaking::Piece>,
    looks: Arc<Looks>,
    density: f64,
    skin: SkinChoice,
    crack_scale: f32,
    stats: Option<FractureStats>,
    /// What the user should know of the look.
    warning: Option<String>,
    notes: Vec<String>,
    /// The fracture that made it, to bring a field up to date with.
    fracture: Option<Fracture>,
    field: Mutex<Option<Arc<FragmentField>>>,
}

/// What pieces are made of.
pub struct Ingredients {
    pub fragments: Arc<Fragments>,
    /// Of the tetrahedra of these fragments.
    pub looks: Arc<Looks>,
    pub density: f64,
    pub skin: SkinChoice,
    pub crack_scale: f32,
    pub field: Option<Arc<FragmentField>>,
    pub fracture: Option<Fracture>,
}

impl Broken {
    pub fn make(from: Ingredients) -> PyResult<Self> {
        let living: Vec<FragmentId> = from.fragments.living().collect();
        let mut scratch = SurfaceScratch::default();
        let surfaces: Vec<FragmentSurface> = living
            .iter()
            .map(|&id| FragmentSurface::extract(&from.fragments, id, &mut scratch))
            .collect();
        let Looks { model, wardrobe } = &*from.looks;
        let (dressed, warning) = breaking::dress(
            wardrobe,
            &breaking::Look { model, fine: None },
            &from.fragments,
            (&living, &surfaces),
            from.skin,
            from.crack_scale,
        )
        .map_err(refuse)?;
        let pieces = living.into_iter().zip(surfaces).zip(dressed);
        Ok(Self {
            fragments: from.fragments,
            pieces: pieces
                .map(|((id, surface), parts)| breaking::Piece { id, surface, parts })
                .collect(),
            looks: from.looks,
            density: from.density,
            skin: from.skin,
            crack_scale: from.crack_scale,
            stats: None,
            warning,
            notes: Vec::new(),
            fracture: from.fracture,
            field: Mutex::new(from.field),
        })
    }

    fn field(&self) -> PyResult<Arc<FragmentField>> {
        let mut field = self.field.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(field) = &*field {
            return Ok(Arc::clone(field));
        }
        let mut fragments = Fragments::new(Arc::clone(self.fragments.mesh()));
        let mut made =
            FragmentField::build(&fragments, &FieldOptions::default()).map_err(refuse)?;
        if let Some(fracture) = &self.fracture {
            let split = fragments.apply(fracture).map_err(refuse)?;
            made.apply(&fragments, &split);
        }
        let made = Arc::new(made);
        *field = Some(Arc::clone(&made));
        Ok(made)
    }

    fn piece(&self, index: usize) -> Piece {
        let piece = &self.pieces[index];
        let (positions, triangles, cracks) = joined(&piece.parts);
        let properties = piece.surface.mass_properties();
        let mass = properties.volume * self.density;
        Piece {
            name: format!("fragment-{index:03}"),
            fragment: piece.id.0,
            positions,
            triangles,
            cracks,
            volume: properties.volume,
            mass,
            centre: properties.centre.to_array(),
            inertia: (properties.inertia * self.density).to_cols_array(),
        }
    }

    /// The place of a fragment among the pieces.
    fn place_of(&self, id: FragmentId) -> u32 {
        let found = self.pieces.binary_search_by_key(&id, |piece| piece.id);
        found.unwrap_or(0) as u32
    }

    fn piece_volumes(&self) -> impl Iterator<Item = f64> + '_ {
        let volume = |piece: &breaking::Piece| piece.surface.mass_properties().volume;
        self.pieces.iter().map(volume)
    }
}

pub fn skin_choice(name: &str) -> PyResult<SkinChoice> {
    match name {
        "auto" => Ok(SkinChoice::Auto),
        "model" => Ok(SkinChoice::Model),
        "draped" => Ok(SkinChoice::Draped),
        "tets" => Ok(SkinChoice::Tets),
        _ => Err(PyValueError::new_err(
            "skin: must be auto, model, draped or tets",
        )),
    }
}

#[pymethods]
impl Broken {
    fn __len__(&self) -> usize {
        self.pieces.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<Piece> {
        let count = self.pieces.len() as isize;
        let at = if index < 0 { index + count } else { index };
        if !(0..count).contains(&at) {
            return Err(PyIndexError::new_err(format!("there are {count} pieces")));
        }
        Ok(self.piece(at as usize))
    }

    /// All pieces.
    #[getter]
    fn pieces(&self, py: Python<'_>) -> PyResult<Vec<Piece>> {
        run(py, || {
            (0..self.pieces.len()).map(|i| self.piece(i)).collect()
        })
    }

    /// Masses of all pieces (kg).
    #[getter]
    fn masses<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let masses = self.piece_volumes().map(|volume| volume * self.density);
        column(py, masses.collect())
    }

    /// Volumes of all pieces.
    #[getter]
    fn volumes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        column(py, self.piece_volumes().collect())
    }

    /// The number of each piece among all fragments that the object ever had: a world's
    /// pieces are named by it.
    #[getter]
    fn fragments<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        column(py, self.pieces.iter().map(|piece| piece.id.0).collect())
    }

    /// For each node of the tetrahedra, the piece that holds it.
    #[getter]
    fn node_pieces<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        let names = self.fragments.node_fragment().iter();
        column(py, names.map(|&id| self.place_of(id)).collect())
    }

    /// Which pieces were neighbours: pairs `(k, 2)` of their places in `pieces`, and the
    /// areas `(k,)` of the cracks between them, one side.
    fn graph<'py>(&self, py: Python<'py>) -> PyResult<Pair<'py, PyArray2<u32>, PyArray1<f64>>> {
        let shared = run(py, || {
            let pieces = self.pieces.iter().map(|piece| (piece.id, &piece.surface));
            breaking::shared_areas(&pieces.collect::<Vec<_>>())
        })?;
        let places = |pieces: [FragmentId; 2]| pieces.map(|id| self.place_of(id));
        let pairs: Vec<[u32; 2]> = shared.iter().map(|s| places(s.pieces)).collect();
        let areas = shared.iter().map(|s| s.area).collect();
        Ok((index_rows(py, &pairs)?, column(py, areas)))
    }

    /// What an impact did: contact time, overload, energies, crack area. `None` for
    /// patterns.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.stats.map(|stats| stats_dict(py, &stats)).transpose()
    }

    /// What the user should know: of the filling, and of pieces that are not closed.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes
            .iter()
            .cloned()
            .chain(self.warning.clone())
            .collect()
    }

    /// Signed distances of points `(n, 3)`, in the frame of the whole object, to one
    /// piece; as `TetMesh.signed_distance`.
    #[pyo3(signature = (points, piece, max_distance = f32::INFINITY))]
    fn signed_distance<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
        piece: usize,
        max_distance: f32,
    ) -> PyResult<Distances<'py>> {
        let points = points_f32(points, "points")?;
        let Some(breaking::Piece { id, .. }) = self.pieces.get(piece) else {
            return Err(PyIndexError::new_err(format!(
                "there are {} pieces",
                self.pieces.len()
            )));
        };
        let (found, normals) = run(py, || {
            let field = self.field()?;
            Ok::<_, PyErr>(distances(
                &self.fragments,
                &field,
                *id,
                &points,
                max_distance,
            ))
        })??;
        Ok((column(py, found), vectors(py, normals)?))
    }

    /// Writes all pieces to one file: `.glb`, `.gltf`, `.obj` or `.usda`, as
    /// `fracas shatter` does. `explode` moves them apart. Returns the files written.
    #[pyo3(signature = (path, explode = 0.0))]
    fn save(&self, py: Python<'_>, path: PathBuf, explode: f32) -> PyResult<Vec<PathBuf>> {
        let format = Format::of_path(&path).ok_or_else(|| {
            let end = ending(&path);
            refuse(format!(
                "pieces are written as .glb, .gltf, .obj or .usda, not .{end}"
            ))
        })?;
        let explode = within(f64::from(explode), "explode", 0.0, 1e6)?;
        run(py, || {
            let (low, high) = self.fragments.mesh().bounds();
            let (middle, pieces) = (0.5 * (low + high), self.pieces.iter().enumerate());
            let pieces: Vec<ModelPiece> = pieces
                .map(|(i, piece)| piece.to_model(i, middle, explode, self.density))
                .collect();
            let all = breaking::files_of(&self.looks.model, &pieces, &path, format);
            let mut written = Vec::new();
            for (path, bytes) in all.map_err(|e| refuse(e.to_string()))? {
                save(&path, &bytes)?;
                written.push(path);
            }
            Ok(written)
        })?
    }

    fn __repr__(&self) -> String {
        let skin = match self.skin {
            SkinChoice::Tets => "tets",
            SkinChoice::Model => "model",
            SkinChoice::Draped => "draped",
            SkinChoice::Auto => "auto",
        };
        format!(
            "<fracas.Broken: {} pieces, skin {skin}, crack scale {}>",
            self.pieces.len(),
            self.crack_scale
        )
    }
}

/// Why something broke or not, in numbers.
pub fn stats_dict<'py>(py: Python<'py>, stats: &FractureStats) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("outcome", format!("{:?}", stats.outcome))?;
    told.set_item("contact", stats.contact)?;
    told.set_item("time", stats.time)?;
    told.set_item("overload", stats.overload)?;
    told.set_item("brought", stats.brought)?;
    told.set_item("available", stats.available)?;
    told.set_item("spent", stats.spent)?;
    told.set_item("area", stats.area)?;
    told.set_item("cracks", stats.cracks)?;
    told.set_item("pieces", stats.pieces)?;
    Ok(told)
}

pub fn pattern_of(name: &str) -> PyResult<Pattern> {
    match name {
        "voronoi" => Ok(Pattern::Voronoi),
        "slices" => Ok(Pattern::Slices),
        "radial" => Ok(Pattern::Radial),
        "conchoidal" => Ok(Pattern::Conchoidal),
        "impact" => Ok(Pattern::Impact),
        _ => Err(PyValueError::new_err(
            "pattern: must be voronoi, slices, radial, conchoidal or impact",
        )),
    }
}

/// Breaks a mesh without a simulation, as `fracas shatter` does: the same pieces, bit for
/// bit.
///
/// `pattern` is `voronoi`, `slices`, `radial`, `conchoidal`, or `impact`: a steel ball of
/// `mass` (kg) hits the place `at` along `direction` with `speed` (m/s), or, with `drop`
/// (m), it falls on stone with `direction` pointing down. `skin` is `auto` (the mesh's own
/// triangles where all pieces are closed in them), `model`, or `tets`.
#[pyfunction]
#[pyo3(signature = (mesh, pattern = "voronoi", pieces = 16, *, at = None, direction = None,
    rings = 1, roughness = 0.004, seed = 0, tets = None, thicken = None, material = None,
    speed = 8.0, mass = 0.1, drop = None, skin = "auto", crack_scale = 1.0))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn shatter(
    py: Python<'_>,
    mesh: &Bound<'_, PyAny>,
    pattern: &str,
    pieces: u32,
    at: Option<[f64; 3]>,
    direction: Option<[f64; 3]>,
    rings: u32,
    roughness: f32,
    seed: u64,
    tets: Option<u64>,
    thicken: Option<f64>,
    material: Option<&Bound<'_, PyAny>>,
    speed: f64,
    mass: f64,
    drop: Option<f64>,
    skin: &str,
    crack_scale: f32,
) -> PyResult<Broken> {
    if pieces < 2 {
        return Err(PyValueError::new_err("pieces: must be at least 2"));
    }
    if !roughness.is_finite() || !crack_scale.is_finite() {
        return Err(PyValueError::new_err(
            "roughness and crack_scale must be finite",
        ));
    }
    let options = ShatterOptions {
        pattern: pattern_of(pattern)?,
        pieces,
        at: at.map(|v| vector(v, "at")).transpose()?,
        direction: direction
            .map(|v| self::direction(v, "direction"))
            .transpose()?,
        rings,
        roughness,
        seed,
        material: match material {
            Some(material) => material_of(material)?,
            None => ShatterOptions::default().material,
        },
        speed: within(speed, "speed", f64::from(f32::MIN_POSITIVE), 1e6)?,
        mass: within(mass, "mass", f64::from(f32::MIN_POSITIVE), 1e9)?,
        drop: drop
            .map(|h| within(h, "drop", f64::from(f32::MIN_POSITIVE), 1e6))
            .transpose()?,
    };
    let skin = skin_choice(skin)?;
    let given = given(mesh)?;
    let fineness = Fineness {
        tets,
        edge: None,
        thicken,
    };
    let bake = fineness.options(&given.source, "thin")?;
    let Loaded {
        asset,
        notes,
        model,
    } = load(py, given, bake)?;
    let (wanted, cost) = breaking::cost(asset.mesh(), &options).map_err(refuse)?;
    let what = format!(
        "{wanted} pieces of {} tetrahedra",
        asset.mesh().tets().len()
    );
    cost.check(&what).map_err(refuse)?;
    run_long(py, move || {
        let mut fragments = Fragments::new(Arc::clone(asset.shared_mesh()));
        let modes = asset.modes().cloned();
        let plan = breaking::plan(&fragments, FragmentId(0), modes, &options, &mut |_| ())
            .map_err(refuse)?;
        fragments
            .apply(&plan.fracture)
            .map_err(|e| refuse(breaking::PlanError::Whole(e.to_string())))?;
        let made = Broken::make(Ingredients {
            fragments: Arc::new(fragments),
            looks: Looks::new(model),
            density: options.material.density,
            skin,
            crack_scale,
            field: None,
            fracture: Some(plan.fracture),
        })?;
        Ok(Broken {
            stats: plan.stats,
            notes,
            ..made
        })
    })?
}
