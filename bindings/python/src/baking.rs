//! Tetrahedra of surfaces, and everything computed ahead in one file.

use std::path::PathBuf;
use std::sync::Arc;

use fracas_bake::bake::{BakeModes, BakeOptions, Source, bake as bake_source};
use fracas_bake::limits::{Cost, tets_of};
use fracas_bake::model::Model;
use fracas_bake::shatter::Subject;
use fracas_bake::tetrahedralize::{Grading, Size, Thicken};
use fracas_bake::{Repairs, shapes};
use fracas_fracture::Material;
use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::column;
use crate::errors::{refuse, run, run_long};
use crate::meshes::{Given, Surface, Tets, check_tets, given};

/// How fine, from what a user says.
#[derive(Clone, Copy)]
pub struct Fineness {
    pub tets: Option<u64>,
    pub edge: Option<f64>,
    pub thicken: Option<f64>,
}

impl Fineness {
    pub fn options(&self, source: &Source, grade: &str) -> PyResult<BakeOptions> {
        if self.tets.is_some() && self.edge.is_some() {
            return Err(PyValueError::new_err("give tets or edge, not both"));
        }
        if self.tets == Some(0) {
            return Err(PyValueError::new_err("tets: must be at least 1"));
        }
        for (name, length) in [("edge", self.edge), ("thicken", self.thicken)] {
            if length.is_some_and(|l| !(l > 0.0 && l.is_finite())) {
                let why = format!("{name}: must be a length above 0, in the units of the mesh");
                return Err(PyValueError::new_err(why));
            }
        }
        check_tets(tets_of(source, self.tets, self.edge))?;
        let grading = match grade {
            "uniform" => Grading::Uniform,
            "thin" => Grading::Thin,
            "graded" => Grading::Graded,
            _ => {
                return Err(PyValueError::new_err(
                    "grade: must be uniform, thin or graded",
                ));
            }
        };
        Ok(BakeOptions {
            size: match (self.tets, self.edge) {
                (Some(count), _) => Some(Size::Tets(count as usize)),
                (None, Some(length)) => Some(Size::EdgeLength(length)),
                (None, None) => None,
            },
            grading,
            thicken: self.thicken.map_or(Thicken::Refuse, Thicken::By),
            modes: None,
        })
    }
}

/// What baking gives, with what it looks like.
pub struct Loaded {
    pub asset: fracas_bake::Asset,
    pub notes: Vec<String>,
    pub model: Model,
}

/// Fills what was given, and finds out what it looks like, as `fracas shatter` does.
pub fn load(py: Python<'_>, given: Given, options: BakeOptions) -> PyResult<Loaded> {
    let Given { source, path } = given;
    run_long(py, move || {
        let path = path.unwrap_or_default();
        let subject = Subject::bake(source, path, &options, &mut |_| ()).map_err(refuse)?;
        let Subject { baked, model, .. } = subject;
        let asset = baked.asset;
        Ok(Loaded {
            asset,
            notes: baked.notes.iter().map(ToString::to_string).collect(),
            model,
        })
    })?
}

/// Fills a surface with tetrahedra.
///
/// `tets` or `edge` say how fine; by default as fine as walls and handles need. `grade` is
/// `uniform`, `thin` (finer where it is thin) or `graded` (also coarser deep inside).
/// `thicken` makes an open surface so thick.
#[pyfunction]
#[pyo3(signature = (mesh, tets = None, edge = None, grade = "thin", thicken = None))]
pub fn tetrahedralize(
    py: Python<'_>,
    mesh: &Bound<'_, PyAny>,
    tets: Option<u64>,
    edge: Option<f64>,
    grade: &str,
    thicken: Option<f64>,
) -> PyResult<Tets> {
    let given = given(mesh)?;
    let fineness = Fineness {
        tets,
        edge,
        thicken,
    };
    let options = fineness.options(&given.source, grade)?;
    let loaded = load(py, given, options)?;
    let asset = loaded.asset;
    let skin = asset.skin().cloned().map(Arc::new);
    let mesh = Arc::clone(asset.shared_mesh());
    Ok(Tets::new(mesh, asset.name()).with_notes(loaded.notes, skin))
}

/// A material: its name, an everyday word for it, or a dictionary of numbers that differ
/// from those of the material `like`.
pub fn material_of(value: &Bound<'_, PyAny>) -> PyResult<Material> {
    if let Ok(name) = value.extract::<String>() {
        return Material::by_name(&name).map_err(refuse);
    }
    let Ok(numbers) = value.cast::<PyDict>() else {
        return Err(PyTypeError::new_err(
            "material: must be a name or a dictionary of numbers",
        ));
    };
    if numbers.is_empty() {
        return Err(refuse(
            "a material needs numbers, or the name of one that it is like",
        ));
    }
    let mut made = match numbers.get_item("like")? {
        Some(like) => Material::by_name(&like.extract::<String>()?).map_err(refuse)?,
        None => Material::CONCRETE,
    };
    for (key, number) in numbers.iter() {
        let key: String = key.extract()?;
        let place = match key.as_str() {
            "like" => continue,
            "young" => &mut made.young,
            "poisson" => &mut made.poisson,
            "density" => &mut made.density,
            "strength" => &mut made.strength,
            "toughness" => &mut made.toughness,
            "weibull_modulus" => &mut made.weibull_modulus,
            "damping_alpha" => &mut made.damping_alpha,
            "damping_beta" => &mut made.damping_beta,
            _ => return Err(refuse(format!("a material has no `{key}`"))),
        };
        *place = number.extract()?;
    }
    made.validate().map_err(refuse)?;
    Ok(made)
}

/// The numbers of a material (SI units).
#[pyfunction]
pub fn material<'py>(py: Python<'py>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let m = material_of(name)?;
    let numbers = PyDict::new(py);
    for (key, value) in [
        ("young", m.young),
        ("poisson", m.poisson),
        ("density", m.density),
        ("strength", m.strength),
        ("toughness", m.toughness),
        ("weibull_modulus", m.weibull_modulus),
        ("damping_alpha", m.damping_alpha),
        ("damping_beta", m.damping_beta),
    ] {
        numbers.set_item(key, value)?;
    }
    Ok(numbers)
}

/// The names of the materials.
#[pyfunction]
pub fn material_names() -> Vec<&'static str> {
    Material::names().collect()
}

/// Refuses modes that would take hours or more memory than there is.
pub fn check_modes(count: usize, tets: f64) -> PyResult<()> {
    // A body of n nodes has 3n - 6 of them at most.
    let modes = (count as f64).min((0.75 * tets).max(1.0));
    (Cost::of_tets(tets) + Cost::of_modes(modes, tets))
        .check(&format!("{count} modes of {tets:.0} tetrahedra"))
        .map_err(refuse)
}

/// Everything computed ahead: tetrahedra, skin, modes, distance field and sphere tree, as
/// `fracas bake` writes it.
#[pyclass(module = "fracas", frozen)]
pub struct Asset {
    pub asset: Arc<fracas_bake::Asset>,
    notes: Vec<String>,
}

#[pymethods]
impl Asset {
    /// Reads a file of `fracas bake`.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let asset = run_long(py, move || fracas_bake::Asset::load(path))?.map_err(refuse)?;
        Ok(Self::of(asset, Vec::new()))
    }

    /// The same, from bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Self> {
        let asset = run(py, || fracas_bake::Asset::from_bytes(&bytes))?.map_err(refuse)?;
        Ok(Self::of(asset, Vec::new()))
    }

    /// The file's bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = run(py, || self.asset.to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes the file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        run(py, || self.asset.save(path))?.map_err(refuse)
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.asset.name()
    }

    /// What was chosen unasked when it was filled.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Its tetrahedra.
    #[getter]
    fn mesh(&self) -> Tets {
        let skin = self.asset.skin().cloned().map(Arc::new);
        let mesh = Arc::clone(self.asset.shared_mesh());
        Tets::new(mesh, self.asset.name()).with_notes(self.notes.clone(), skin)
    }

    /// The surface it was filled from, where it has one.
    #[getter]
    fn skin(&self) -> Option<Surface> {
        let skin = self.asset.skin()?.clone();
        Some(Surface::new(skin, self.asset.name(), Repairs::default()))
    }

    /// The frequencies of its modes (Hz), where it has some.
    #[getter]
    fn frequencies<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let modes = self.asset.modes()?;
        Some(column(py, modes.frequencies().to_vec()))
    }

    fn __repr__(&self) -> String {
        format!(
            "<fracas.Asset {}: {} tetrahedra, {} modes>",
            self.asset.name(),
            self.asset.mesh().tets().len(),
            self.asset.modes().map_or(0, |m| m.frequencies().len())
        )
    }
}

impl Asset {
    fn of(asset: fracas_bake::Asset, notes: Vec<String>) -> Self {
        Self {
            asset: Arc::new(asset),
            notes,
        }
    }
}

/// Computes everything ahead, as `fracas bake` does: the same bytes.
///
/// `material` asks for the modes by which it breaks (a shape has a material of its own);
/// the unit of the mesh is then the metre.
#[pyfunction]
#[pyo3(signature = (mesh, tets = None, edge = None, grade = "thin", thicken = None, material = None, modes = 40))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn bake(
    py: Python<'_>,
    mesh: &Bound<'_, PyAny>,
    tets: Option<u64>,
    edge: Option<f64>,
    grade: &str,
    thicken: Option<f64>,
    material: Option<&Bound<'_, PyAny>>,
    modes: usize,
) -> PyResult<Asset> {
    let given = given(mesh)?;
    let fineness = Fineness {
        tets,
        edge,
        thicken,
    };
    let mut options = fineness.options(&given.source, grade)?;
    let own = match &given.source {
        Source::Shape(shape) => own_material(shape),
        _ => None,
    };
    let material = material.map(material_of).transpose()?.or(own);
    if let Some(material) = material.filter(|_| modes > 0) {
        check_modes(modes, tets_of(&given.source, tets, edge))?;
        options.modes = Some(BakeModes {
            count: modes,
            material,
        });
    }
    let source = given.source;
    run_long(py, move || {
        let mut baked = bake_source(source, &options, &mut |_| ()).map_err(refuse)?;
        baked.asset.add_object().map_err(refuse)?;
        let notes = baked.notes.iter().map(ToString::to_string).collect();
        Ok(Asset::of(baked.asset, notes))
    })?
}

fn own_material(shape: &shapes::Shape) -> Option<Material> {
    shape.material().and_then(|m| Material::by_name(m).ok())
}
