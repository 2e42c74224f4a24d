//! Draws that are the same on every machine and in every version of Python.

use fracas_fracture::random;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A stream of random numbers: splitmix64, and functions of its own for logarithms, so
/// that a seed gives the same bits everywhere.
#[pyclass(module = "fracas", frozen)]
pub struct Random(std::sync::Mutex<random::Random>);

impl Random {
    fn with<T>(&self, draw: impl FnOnce(&mut random::Random) -> T) -> T {
        let mut stream = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        draw(&mut stream)
    }
}

fn check_range(low: f64, high: f64) -> PyResult<()> {
    if low <= high && low.is_finite() && high.is_finite() {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "there is no number from {low} to {high}"
    )))
}

#[pymethods]
impl Random {
    /// The stream of a seed.
    #[new]
    fn new(seed: u64) -> Self {
        Self(random::Random::new(seed).into())
    }

    /// An independent stream, named by a number.
    fn fork(&self, name: u64) -> Self {
        Self(self.with(|r| r.fork(name)).into())
    }

    /// The next 64 bits.
    fn bits(&self) -> u64 {
        self.with(random::Random::bits)
    }

    /// Uniform from 0 to `n` - 1.
    fn below(&self, n: usize) -> PyResult<usize> {
        if n == 0 {
            return Err(PyValueError::new_err("there is no number below 0"));
        }
        Ok(self.with(|r| r.below(n)))
    }

    /// Uniform from `low` to `high`.
    fn uniform(&self, low: f64, high: f64) -> PyResult<f64> {
        check_range(low, high)?;
        Ok(low + (high - low) * self.with(random::Random::unit_f64))
    }

    /// From `low` to `high`, as many below their geometric mean as above.
    fn log_uniform(&self, low: f64, high: f64) -> PyResult<f64> {
        check_range(low, high)?;
        if low <= 0.0 {
            return Err(PyValueError::new_err(format!("{low} has no logarithm")));
        }
        let share = self.with(random::Random::unit_f64);
        Ok((low * libm::exp(share * libm::log(high / low))).clamp(low, high))
    }

    /// Gaussian.
    fn normal(&self, mean: f64, deviation: f64) -> f64 {
        // Box and Muller; one minus keeps the logarithm finite.
        let (a, b) = self.with(|r| (1.0 - r.unit_f64(), r.unit_f64()));
        let radius = libm::sqrt(-2.0 * libm::log(a));
        mean + deviation * radius * libm::cos(std::f64::consts::TAU * b)
    }

    /// Uniform on the unit sphere.
    fn direction(&self) -> [f32; 3] {
        self.with(random::Random::direction).to_array()
    }

    /// A rotation about the vertical, as a quaternion `(x, y, z, w)`.
    fn upright(&self) -> [f32; 4] {
        let half = std::f64::consts::PI * self.with(random::Random::unit_f64);
        [0.0, libm::sin(half) as f32, 0.0, libm::cos(half) as f32]
    }

    /// A uniform rotation, as a quaternion `(x, y, z, w)`.
    fn rotation(&self) -> [f32; 4] {
        // Shoemake's.
        let (u, v, w) = self.with(|r| (r.unit_f64(), r.unit_f64(), r.unit_f64()));
        let (a, b) = (libm::sqrt(1.0 - u), libm::sqrt(u));
        let (v, w) = (std::f64::consts::TAU * v, std::f64::consts::TAU * w);
        [
            a * libm::sin(v),
            a * libm::cos(v),
            b * libm::sin(w),
            b * libm::cos(w),
        ]
        .map(|x| x as f32)
    }
}
