//! Pictures by the software renderer, and sheets of them.

use fracas_picture::{Camera, Colour, Image, Mesh, Quality, Scene, Sheet};
use glam::{Mat3, Vec3};
use numpy::{PyArray1, PyArray3, PyArrayMethods, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{direction, indices, points_f32, rotation, vector};
use crate::errors::{refuse, run, run_long};

/// The most pixels of a picture.
const MOST_PIXELS: usize = 1 << 26;

/// A mesh to draw, as Python gives it: positions, triangles, and perhaps a colour
/// (red, green, blue, 0 to 255), a position and a rotation.
#[derive(FromPyObject)]
struct Drawn<'py>(
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Option<[u8; 3]>,
    Option<[f64; 3]>,
    Option<[f64; 4]>,
);

/// Draws meshes on a ground: rows of pixels `(height, width, 3)`, 0 to 255.
///
/// Each mesh is a tuple of positions, triangles, colour (red, green, blue, or `None`),
/// position and rotation (x, y, z, w; or `None`). `towards` points from the scene to the
/// camera.
#[pyfunction]
#[pyo3(signature = (meshes, width = 640, height = 420, towards = [0.5, 0.75, 0.9], fine = false, ground = true))]
pub fn draw<'py>(
    py: Python<'py>,
    meshes: Vec<Bound<'py, PyAny>>,
    width: usize,
    height: usize,
    towards: [f64; 3],
    fine: bool,
    ground: bool,
) -> PyResult<Bound<'py, PyArray3<u8>>> {
    if width == 0 || height == 0 || width.saturating_mul(height) > MOST_PIXELS {
        let why = format!("a picture of {width} by {height} pixels cannot be drawn");
        return Err(PyValueError::new_err(why));
    }
    let towards = direction(towards, "towards")?;
    let mut scene = Scene::new();
    for (i, mesh) in meshes.iter().enumerate() {
        scene.add(mesh_of(&mesh.extract()?, i)?);
    }
    if scene.bounds().is_none() {
        return Err(PyValueError::new_err("there is nothing to draw"));
    }
    let quality = if fine { Quality::Fine } else { Quality::Draft };
    let image = run_long(py, move || {
        if ground {
            scene.ground_under_all();
        }
        scene.render(&Camera::framing_all(towards), width, height, quality)
    })?;
    as_array(py, &image)
}

fn mesh_of(drawn: &Drawn<'_>, number: usize) -> PyResult<Mesh> {
    let positions = points_f32(&drawn.0, "positions")?;
    let triangles = indices::<3>(&drawn.1, "triangles")?;
    let count = positions.len() as u32;
    if triangles.as_flattened().iter().any(|&v| v >= count) {
        return Err(PyValueError::new_err(
            "a triangle names a vertex that is not there",
        ));
    }
    if positions
        .iter()
        .any(|p| !p.is_finite() || p.abs().max_element() > 1e9)
    {
        return Err(PyValueError::new_err(
            "positions: must be finite and below 1e9",
        ));
    }
    let colour = match drawn.2 {
        Some([r, g, b]) => Colour::from_srgb(r, g, b),
        None => Colour::distinct(number),
    };
    let place = drawn.3.map_or(Ok(Vec3::ZERO), |v| vector(v, "position"))?;
    let turn = drawn.4.map_or(Ok(Mat3::IDENTITY), |q| {
        rotation(q, "rotation").map(Mat3::from_quat)
    })?;
    Ok(Mesh::new(positions, triangles)
        .colour(colour)
        .smooth(30.0)
        .moved(turn, place))
}

fn as_array<'py>(py: Python<'py>, image: &Image) -> PyResult<Bound<'py, PyArray3<u8>>> {
    let pixels = image.pixels().as_flattened().to_vec();
    PyArray1::from_vec(py, pixels).reshape([image.height(), image.width(), 3])
}

/// Pictures side by side with captions under them: the bytes of a PNG file.
#[pyfunction]
#[pyo3(signature = (pictures, columns = 4, title = None))]
pub fn contact_sheet<'py>(
    py: Python<'py>,
    pictures: Vec<(PyReadonlyArray3<'py, u8>, String)>,
    columns: usize,
    title: Option<String>,
) -> PyResult<Bound<'py, PyBytes>> {
    if pictures.is_empty() || columns == 0 {
        return Err(PyValueError::new_err("a sheet needs pictures and columns"));
    }
    let mut sheet = Sheet::new(columns);
    if let Some(title) = title {
        sheet = sheet.title(title);
    }
    for (pixels, caption) in pictures {
        let [height, width, 3] = *pixels.shape() else {
            return Err(PyValueError::new_err(
                "a picture has the shape (height, width, 3)",
            ));
        };
        let mut image = Image::new(width, height, Colour::from_srgb(0, 0, 0));
        let pixels = pixels.as_array();
        for y in 0..height {
            for x in 0..width {
                let at = |c: usize| pixels[[y, x, c]];
                image.set(x, y, Colour::from_srgb(at(0), at(1), at(2)));
            }
        }
        sheet.add(image, caption);
    }
    let png = run(py, || sheet.image().to_png())?.map_err(refuse)?;
    Ok(PyBytes::new(py, &png))
}
