//! numpy in and out. What comes in is checked and copied once into the library's own
//! types; what goes out is handed over without a copy.

use glam::{DVec3, Quat, Vec3};
use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Two arrays that belong together: values and vectors, or two lists of vectors.
pub type Pair<'py, A, B> = (Bound<'py, A>, Bound<'py, B>);
/// Distances and directions.
pub type Distances<'py> = Pair<'py, PyArray1<f32>, PyArray2<f32>>;

/// `(n, 3)` numbers.
pub fn points(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<DVec3>> {
    let array = floats(value, name)?;
    let rows = array.as_slice()?.chunks_exact(3);
    Ok(rows.map(DVec3::from_slice).collect())
}

/// `(n, 3)` numbers in single precision.
pub fn points_f32(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<Vec3>> {
    let array = floats(value, name)?;
    let rows = array.as_slice()?.chunks_exact(3);
    let narrow = |p: &[f64]| Vec3::new(p[0] as f32, p[1] as f32, p[2] as f32);
    Ok(rows.map(narrow).collect())
}

fn floats<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<PyReadonlyArray2<'py, f64>> {
    let array = as_array(value, name)?;
    let kind = kind_of(&array)?;
    if !"fiu".contains(kind) && !array.is_empty() {
        return Err(wrong_kind(name, "numbers", kind));
    }
    check_shape(&array, name, 3)?;
    let numpy = value.py().import("numpy")?;
    let array = numpy.call_method1("ascontiguousarray", (array, "float64"))?;
    // An empty list has one dimension only.
    let array = array.call_method1("reshape", ((-1, 3),))?;
    array.extract::<PyReadonlyArray2<'py, f64>>()
}

/// `(n, N)` indices.
pub fn indices<const N: usize>(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<[u32; N]>> {
    let array = as_array(value, name)?;
    let kind = kind_of(&array)?;
    if !"iu".contains(kind) && !array.is_empty() {
        return Err(wrong_kind(name, "whole numbers", kind));
    }
    check_shape(&array, name, N)?;
    let numpy = value.py().import("numpy")?;
    let array = numpy.call_method1("ascontiguousarray", (array, "int64"))?;
    let array = array.call_method1("reshape", ((-1, N),))?;
    let array = array.extract::<PyReadonlyArray2<'_, i64>>()?;
    let narrow = |&index: &i64| {
        u32::try_from(index).map_err(|_| {
            PyValueError::new_err(format!("{name}: {index} is no index: from 0 to 2^32 - 1"))
        })
    };
    let flat: Vec<u32> = array
        .as_slice()?
        .iter()
        .map(narrow)
        .collect::<PyResult<_>>()?;
    Ok(flat.as_chunks::<N>().0.to_vec())
}

fn as_array<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyUntypedArray>> {
    let numpy = value.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (value,));
    let array = array.map_err(|e| PyTypeError::new_err(format!("{name}: {e}")))?;
    array
        .cast_into::<PyUntypedArray>()
        .map_err(|_| PyTypeError::new_err(format!("{name}: not an array")))
}

fn kind_of(array: &Bound<'_, PyUntypedArray>) -> PyResult<char> {
    array.dtype().getattr("kind")?.extract()
}

fn wrong_kind(name: &str, wanted: &str, kind: char) -> PyErr {
    PyTypeError::new_err(format!(
        "{name}: must be {wanted}, not of numpy's kind `{kind}`"
    ))
}

fn check_shape(array: &Bound<'_, PyUntypedArray>, name: &str, width: usize) -> PyResult<()> {
    match array.shape() {
        [0] => Ok(()),
        [_, w] if *w == width => Ok(()),
        shape => Err(PyValueError::new_err(format!(
            "{name}: must have the shape (n, {width}), not {shape:?}"
        ))),
    }
}

/// Three finite numbers.
pub fn vector(value: [f64; 3], name: &str) -> PyResult<Vec3> {
    let v = Vec3::from_array(value.map(|x| x as f32));
    if v.is_finite() {
        return Ok(v);
    }
    Err(PyValueError::new_err(format!(
        "{name}: must be three finite numbers"
    )))
}

/// Three numbers that point somewhere.
pub fn direction(value: [f64; 3], name: &str) -> PyResult<Vec3> {
    let v = vector(value, name)?;
    if v.try_normalize().is_some() {
        return Ok(v);
    }
    Err(PyValueError::new_err(format!(
        "{name}: has no direction: give three numbers like (0, -1, 0)"
    )))
}

/// A rotation as `(x, y, z, w)`; any length but zero.
pub fn rotation(value: [f64; 4], name: &str) -> PyResult<Quat> {
    let q = Quat::from_array(value.map(|x| x as f32));
    let length = q.length();
    if length.is_finite() && length > 1e-6 {
        return Ok(if (length - 1.0).abs() < 1e-6 {
            q
        } else {
            q.normalize()
        });
    }
    Err(PyValueError::new_err(format!(
        "{name}: must be a quaternion (x, y, z, w), not zero and finite"
    )))
}

/// A number in a range.
pub fn within(value: f64, name: &str, low: f64, high: f64) -> PyResult<f32> {
    if value >= low && value <= high {
        return Ok(value as f32);
    }
    Err(PyValueError::new_err(format!(
        "{name}: must be from {low} to {high}, not {value}"
    )))
}

/// A numpy array of one dimension.
pub fn column<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    PyArray1::from_vec(py, values)
}

/// A numpy array of `width` columns, of numbers in rows.
pub fn rows<T: Element>(
    py: Python<'_>,
    flat: Vec<T>,
    width: usize,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let count = flat.len() / width;
    PyArray1::from_vec(py, flat).reshape([count, width])
}

/// Vectors, as rows.
pub fn vectors(
    py: Python<'_>,
    values: impl IntoIterator<Item = Vec3>,
) -> PyResult<Bound<'_, PyArray2<f32>>> {
    rows(
        py,
        values.into_iter().flat_map(|v| v.to_array()).collect(),
        3,
    )
}

/// Vectors in double precision, as rows.
pub fn vectors_f64(
    py: Python<'_>,
    values: impl IntoIterator<Item = DVec3>,
) -> PyResult<Bound<'_, PyArray2<f64>>> {
    rows(
        py,
        values.into_iter().flat_map(|v| v.to_array()).collect(),
        3,
    )
}

/// Lists of indices, as rows.
pub fn index_rows<'py, const N: usize>(
    py: Python<'py>,
    values: &[[u32; N]],
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    rows(py, values.as_flattened().to_vec(), N)
}
