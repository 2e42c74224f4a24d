//! Modes as plain numbers, for files: out of [`Modes`], and back with every check
//! that the numbers need before anything is computed with them.

use glam::Vec3;
use thiserror::Error;

use super::Modes;
use crate::material::{Material, MaterialError};
use crate::stress_modes::StressModes;

/// The numbers of [`Modes`]. Fields as there.
#[derive(Clone, Debug, PartialEq)]
pub struct ModesData {
    /// The material.
    pub material: Material,
    /// Mesh nodes, increasing.
    pub nodes: Vec<u32>,
    /// Angular frequencies (rad/s), increasing.
    pub omegas: Vec<f64>,
    /// Places in `nodes` of those on the surface.
    pub surface: Vec<u32>,
    /// Their positions (m).
    pub surface_positions: Vec<Vec3>,
    /// Displacement of surface node s in mode k at `s * modes + k`.
    pub shapes: Vec<Vec3>,
    /// Stress of node i in mode k at `i * modes + k`.
    pub stress: Vec<[f32; 6]>,
    /// Volume that belongs to each node (m³).
    pub volumes: Vec<f32>,
    /// Mass (kg).
    pub mass: f64,
    /// Largest distance of a node from the mean of all (m).
    pub radius: f32,
    /// Mean thickness of its walls (m).
    pub thickness: f32,
    /// Mean edge length of the mesh (m).
    pub mean_edge: f32,
}

/// Why numbers are not [`Modes`].
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModesDataError {
    /// A list has not the length, or not the order, that the others ask for.
    #[error("the list of {what} of the stored modes does not fit the others; bake again")]
    Sizes {
        /// Which list.
        what: &'static str,
    },
    /// A number is not finite, not positive where it must be, or out of order.
    #[error("the {what} of the stored modes are no sound numbers; bake again")]
    Numbers {
        /// Which.
        what: &'static str,
    },
    /// The nodes are not those of the mesh that the modes lie beside.
    #[error("the stored modes are of {modes} nodes, but the mesh has {mesh}; bake again")]
    OtherMesh {
        /// Nodes of the modes.
        modes: usize,
        /// Nodes of the mesh.
        mesh: usize,
    },
    /// The material's numbers make no sense.
    #[error(transparent)]
    Material(#[from] MaterialError),
}

impl ModesData {
    fn validate(&self) -> Result<(), ModesDataError> {
        let count = self.omegas.len();
        let times = |n: usize| n.checked_mul(count);
        let lists = [
            ("frequencies", count > 0),
            ("nodes", self.nodes.is_sorted_by(|a, b| a < b)),
            (
                "surface nodes",
                !self.surface.is_empty()
                    && self.surface_positions.len() == self.surface.len()
                    && self
                        .surface
                        .iter()
                        .all(|&s| (s as usize) < self.nodes.len()),
            ),
            (
                "shapes",
                Some(self.shapes.len()) == times(self.surface.len()),
            ),
            (
                "stresses",
                Some(self.stress.len()) == times(self.nodes.len()),
            ),
            ("volumes", self.volumes.len() == self.nodes.len()),
        ];
        if let Some(&(what, _)) = lists.iter().find(|(_, fits)| !fits) {
            return Err(ModesDataError::Sizes { what });
        }
        let positive = |x: f32| x.is_finite() && x > 0.0;
        let numbers = [
            (
                "frequencies",
                self.omegas.iter().all(|w| w.is_finite() && *w > 0.0) && self.omegas.is_sorted(),
            ),
            (
                "positions",
                self.surface_positions.iter().all(|v| v.is_finite()),
            ),
            ("shapes", self.shapes.iter().all(|v| v.is_finite())),
            (
                "stresses",
                self.stress.as_flattened().iter().all(|v| v.is_finite()),
            ),
            (
                "volumes",
                self.volumes.iter().all(|v| v.is_finite() && *v >= 0.0),
            ),
            ("mass", self.mass.is_finite() && self.mass > 0.0),
            (
                "lengths",
                [self.radius, self.thickness, self.mean_edge]
                    .into_iter()
                    .all(positive),
            ),
        ];
        if let Some(&(what, _)) = numbers.iter().find(|(_, sound)| !sound) {
            return Err(ModesDataError::Numbers { what });
        }
        Ok(self.material.validate()?)
    }
}

impl Modes {
    /// Plain numbers, to be stored.
    #[must_use]
    pub fn to_data(&self) -> ModesData {
        ModesData {
            material: self.material,
            nodes: self.nodes.clone(),
            omegas: self.omegas.clone(),
            surface: self.surface.clone(),
            surface_positions: self.surface_positions.clone(),
            shapes: self.shapes.clone(),
            stress: (0..self.nodes.len())
                .flat_map(|i| (0..self.count()).map(move |k| (i, k)))
                .map(|(i, k)| self.stress.of(i, k))
                .collect(),
            volumes: self.volumes.clone(),
            mass: self.mass,
            radius: self.radius,
            thickness: self.thickness,
            mean_edge: self.mean_edge,
        }
    }

    /// The modes of a body whose mesh has `units` lengths to a metre, from those that were
    /// computed as if it were in metres. All numbers are in these lengths, kilograms and
    /// seconds then.
    #[must_use]
    pub fn in_units(&self, units: f32) -> Self {
        let wide = f64::from(units);
        // Mass-normalised: by the root of the mass.
        let shape = (wide * wide.sqrt()) as f32;
        let stress = wide.sqrt() as f32;
        let count = self.count();
        Self {
            material: self.material.in_units(units),
            omegas: self.omegas.iter().map(|omega| omega * wide).collect(),
            shapes: self.shapes.iter().map(|&v| v * shape).collect(),
            stress: StressModes::from_values(self.nodes.len(), count, |i, k| {
                self.stress.of(i, k).map(|s| s * stress)
            }),
            mass: self.mass / (wide * wide * wide),
            ..self.clone()
        }
    }

    /// Modes from stored numbers.
    ///
    /// # Errors
    /// When sizes do not fit together, or a number makes no sense.
    pub fn from_data(data: ModesData) -> Result<Self, ModesDataError> {
        data.validate()?;
        let count = data.omegas.len();
        let stress =
            StressModes::from_values(data.nodes.len(), count, |i, k| data.stress[i * count + k]);
        Ok(Self {
            material: data.material,
            nodes: data.nodes,
            omegas: data.omegas,
            surface: data.surface,
            surface_positions: data.surface_positions,
            shapes: data.shapes,
            stress,
            volumes: data.volumes,
            mass: data.mass,
            radius: data.radius,
            thickness: data.thickness,
            mean_edge: data.mean_edge,
        })
    }

    /// Checks that these are the modes of a whole object of so many mesh nodes.
    ///
    /// # Errors
    /// When they are of another mesh, or of a fragment.
    pub fn validate_whole(&self, nodes: usize) -> Result<(), ModesDataError> {
        // Increasing and without a gap: all of them.
        let all =
            self.nodes.len() == nodes && self.nodes.last().is_none_or(|&n| n as usize + 1 == nodes);
        all.then_some(()).ok_or(ModesDataError::OtherMesh {
            modes: self.nodes.len(),
            mesh: nodes,
        })
    }
}
