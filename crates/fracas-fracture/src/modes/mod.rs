//! How a body or fragment vibrates: its lowest elastic modes, and the stress that
//! each brings to every node.
//!
//! Steps of [`Modes::compute`]: collect the elastic body -> stiffness and mass ->
//! factor `K + sigma M` -> largest eigenvalues of `M^½ (K + sigma M)^-1 M^½` with the
//! six rigid motions left out exactly -> cut the list where there is a gap -> shapes
//! on the surface, stresses on all nodes.
//!
//! | symbol | here |
//! | --- | --- |
//! | sigma | `shift`, 1e-5 tr K / tr M: makes K + sigma M positive definite |
//! | theta | eigenvalue found; `lambda = omega² = 1/theta - sigma` |
//! | phi_k | mass-normalised shape, `M^-½` times the vector found |
//! | S_ik | stress of node i per unit of mode k |
//!
//! **Deviations**: the list is never cut inside a cluster of nearly equal
//! frequencies, since the response of such a set depends on the basis chosen
//! unless the set is complete; so a few modes more than asked for may come out.
//! **Guarantee**: shapes are mass-orthonormal; frequencies are those of the
//! discrete body to 1e-7; no mode is missed (checked by Sylvester's inertia in the
//! tests); the same bits on every machine.

mod data;
mod solve;

use std::ops::ControlFlow;

use fracas_core::{FragmentId, Fragments};
use fracas_sparse::{BLOCK, dissect, eigenvalues_below};
use glam::{DVec3, Vec3};
use thiserror::Error;

use crate::material::Material;
use crate::stiffness::{ElasticBody, Elements};
use crate::stress_modes::StressModes;

pub use data::{ModesData, ModesDataError};
use solve::solve;

/// What to compute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModesOptions {
    /// How many elastic modes at least (fewer for a body of few nodes).
    pub count: usize,
    /// Which elements make the stiffness.
    pub elements: Elements,
    /// Seed of the first vectors; any will do.
    pub seed: u64,
}

impl Default for ModesOptions {
    fn default() -> Self {
        Self {
            count: 40,
            elements: Elements::default(),
            seed: 0,
        }
    }
}

/// Why there are no modes.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModesError {
    /// The caller's progress callback stopped it.
    #[error("computing modes was cancelled")]
    Cancelled,
    /// The fragment does not exist or has broken.
    #[error("{0} is not a living fragment")]
    NoSuchFragment(FragmentId),
    /// Too few nodes to vibrate.
    #[error("{id} has {nodes} nodes; modes need at least {least}")]
    TooSmall {
        /// The fragment.
        id: FragmentId,
        /// Its nodes.
        nodes: usize,
        /// How many it takes.
        least: usize,
    },
    /// The stiffness matrix has no factor: the mesh has parts that hang on nothing,
    /// or memory ran out.
    #[error(
        "the stiffness matrix of {0} cannot be factored; is the mesh connected by faces, without slivers?"
    )]
    NotFactored(FragmentId),
    /// The iteration found too few modes.
    #[error("only {found} of {wanted} modes of {id} converged")]
    NotConverged {
        /// The fragment.
        id: FragmentId,
        /// Converged modes.
        found: usize,
        /// What was asked for.
        wanted: usize,
    },
    /// The material's numbers make no sense.
    #[error(transparent)]
    Material(#[from] crate::material::MaterialError),
}

/// Fewest nodes of a body that has modes.
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) const LEAST_NODES: usize = 8;

/// The modes of one fragment: what an impact needs to become stress.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes {
    material: Material,
    /// Mesh nodes of the fragment, increasing.
    nodes: Vec<u32>,
    /// Angular frequencies (rad/s), increasing.
    omegas: Vec<f64>,
    /// Places in `nodes` of those on the surface.
    surface: Vec<u32>,
    /// Positions of the surface nodes (m).
    surface_positions: Vec<Vec3>,
    /// Displacement of surface node s in mode k, at `s * count + k` (kg^-1/2).
    shapes: Vec<Vec3>,
    stress: StressModes,
    /// Volume that belongs to each node (m³).
    volumes: Vec<f32>,
    mass: f64,
    radius: f32,
    thickness: f32,
    mean_edge: f32,
}

impl Modes {
    /// Computes the modes of a living fragment (the unbroken object is fragment 0).
    /// Needs nothing but its arguments: may run on any thread. `progress` is told
    /// the share of the work that is done.
    ///
    /// # Errors
    /// See [`ModesError`].
    pub fn compute(
        fragments: &Fragments,
        id: FragmentId,
        material: &Material,
        options: &ModesOptions,
        progress: &mut dyn FnMut(f32),
    ) -> Result<Self, ModesError> {
        Self::compute_while(fragments, id, material, options, &mut |share| {
            progress(share);
            ControlFlow::Continue(())
        })
    }

    /// As [`Modes::compute`], but stops soon after `progress` returns [`ControlFlow::Break`].
    ///
    /// # Errors
    /// [`ModesError::Cancelled`] when it was stopped, else see [`ModesError`].
    pub fn compute_while(
        fragments: &Fragments,
        id: FragmentId,
        material: &Material,
        options: &ModesOptions,
        progress: &mut dyn FnMut(f32) -> ControlFlow<()>,
    ) -> Result<Self, ModesError> {
        material.validate()?;
        let body = ElasticBody::new(fragments, id, material.density)
            .ok_or(ModesError::NoSuchFragment(id))?;
        if body.own_count() < LEAST_NODES {
            return Err(ModesError::TooSmall {
                id,
                nodes: body.own_count(),
                least: LEAST_NODES,
            });
        }
        let stiffness = body.stiffness(material, options.elements);
        if progress(0.02).is_break() {
            return Err(ModesError::Cancelled);
        }
        let (omegas, vectors) = solve(&body, &stiffness, id, options, progress)?;
        let count = omegas.len();
        let roots: Vec<f64> = body.masses().iter().map(|m| m.sqrt()).collect();
        let shape = |node: usize, k: usize| -> DVec3 {
            let block = &vectors[k / BLOCK];
            let at = |c: usize| block[3 * node + c][k % BLOCK] / roots[node];
            DVec3::new(at(0), at(1), at(2))
        };
        let surface = surface_nodes(fragments, id);
        let shapes = surface
            .iter()
            .flat_map(|&s| (0..count).map(move |k| (s as usize, k)))
            .map(|(s, k)| shape(s, k).as_vec3())
            .collect();
        let positions = fragments.mesh().positions();
        let stress = StressModes::build(&body, material, count, shape);
        if progress(1.0).is_break() {
            return Err(ModesError::Cancelled);
        }
        let centre = body.positions()[..body.own_count()]
            .iter()
            .sum::<DVec3>()
            .as_vec3()
            / body.own_count() as f32;
        let nodes = body.nodes()[..body.own_count()].to_vec();
        let radius = nodes
            .iter()
            .map(|&n| positions[n as usize].distance(centre))
            .fold(0.0, f32::max);
        Ok(Self {
            material: *material,
            surface_positions: surface
                .iter()
                .map(|&s| positions[nodes[s as usize] as usize])
                .collect(),
            surface,
            omegas,
            shapes,
            stress,
            volumes: body.node_volumes(),
            mass: body.masses().iter().sum(),
            radius,
            thickness: thickness(fragments, id, body.volumes().iter().sum(), radius),
            mean_edge: fragments.mesh().mean_edge_length(),
            nodes,
        })
    }

    /// The modes of the same body at `scale` times its size.
    ///
    /// A body of the same material has a mass proportional to the cube of its size, and a
    /// stiffness proportional to its size. So frequencies go with `1 / scale`, displacements
    /// of modes of unit modal mass with `scale^(-3/2)`, and their stresses, which are
    /// displacements over lengths, with `scale^(-5/2)`.
    ///
    /// `scale` must be finite and above zero; else the modes are of no use.
    #[must_use]
    pub fn scaled(&self, scale: f32) -> Self {
        let s = f64::from(scale);
        let shape = (1.0 / (s * s.sqrt())) as f32;
        let stress = (1.0 / (s * s * s.sqrt())) as f32;
        Self {
            material: self.material,
            nodes: self.nodes.clone(),
            omegas: self.omegas.iter().map(|w| w / s).collect(),
            surface: self.surface.clone(),
            surface_positions: self.surface_positions.iter().map(|p| *p * scale).collect(),
            shapes: self.shapes.iter().map(|u| *u * shape).collect(),
            stress: self.stress.scaled(stress),
            volumes: self
                .volumes
                .iter()
                .map(|v| v * (scale * scale * scale))
                .collect(),
            mass: self.mass * (s * s * s),
            radius: self.radius * scale,
            thickness: self.thickness * scale,
            mean_edge: self.mean_edge * scale,
        }
    }

    /// The material they were computed for.
    #[must_use]
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// How many modes.
    #[must_use]
    pub fn count(&self) -> usize {
        self.omegas.len()
    }

    /// Angular frequencies (rad/s), increasing.
    #[must_use]
    pub fn omegas(&self) -> &[f64] {
        &self.omegas
    }

    /// Frequencies (Hz), increasing.
    #[must_use]
    pub fn frequencies(&self) -> Vec<f64> {
        self.omegas
            .iter()
            .map(|w| w / std::f64::consts::TAU)
            .collect()
    }

    /// The fragment's mesh nodes, increasing.
    #[must_use]
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Stresses of nodes per unit of modes, in the order of [`Modes::nodes`].
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn stress(&self) -> &StressModes {
        &self.stress
    }

    /// Volume that belongs to each node (m³), in the order of [`Modes::nodes`].
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn volumes(&self) -> &[f32] {
        &self.volumes
    }

    /// Mass (kg).
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Largest distance of a node from the mean of all (m).
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn radius(&self) -> f32 {
        self.radius
    }

    /// Mean thickness of its walls, 2 volume / surface (m): the wall of a shell, two
    /// thirds of the radius of a ball.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn thickness(&self) -> f32 {
        self.thickness
    }

    /// Mean edge length of the mesh (m).
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn mean_edge(&self) -> f32 {
        self.mean_edge
    }

    /// Where the surface nodes are (m).
    pub(crate) fn surface_positions(&self) -> &[Vec3] {
        &self.surface_positions
    }

    /// The surface node nearest to a point: its place among the surface nodes.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn nearest_surface(&self, point: Vec3) -> usize {
        let mut best = (0, f32::INFINITY);
        for (s, p) in self.surface_positions.iter().enumerate() {
            let squared = p.distance_squared(point);
            if squared < best.1 {
                best = (s, squared);
            }
        }
        best.0
    }

    /// Displacements of a surface node in all modes (kg^-1/2).
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn shapes_at(&self, surface: usize) -> &[Vec3] {
        let count = self.count();
        &self.shapes[surface * count..(surface + 1) * count]
    }

    /// The mesh node of a surface node.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn surface_node(&self, surface: usize) -> u32 {
        self.nodes[self.surface[surface] as usize]
    }
}

/// How many modes, the six rigid ones included, lie below an angular frequency:
/// counted by inertia, independently of the eigensolver.
///
/// # Errors
/// See [`ModesError`].
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) fn count_below(
    fragments: &Fragments,
    id: FragmentId,
    material: &Material,
    elements: Elements,
    omega: f64,
) -> Result<usize, ModesError> {
    let body =
        ElasticBody::new(fragments, id, material.density).ok_or(ModesError::NoSuchFragment(id))?;
    let stiffness = body.stiffness(material, elements);
    let order = dissect(&stiffness, body.positions());
    eigenvalues_below(&stiffness, body.masses(), omega * omega, &order)
        .map_err(|_| ModesError::NotFactored(id))
}

/// 2 volume / surface, by the faces of the mesh's own boundary.
fn thickness(fragments: &Fragments, id: FragmentId, volume: f64, radius: f32) -> f32 {
    let mesh = fragments.mesh();
    let area: f64 = mesh
        .boundary()
        .filter(|f| {
            f.nodes
                .iter()
                .all(|&n| fragments.node_fragment()[n as usize] == id)
        })
        .map(|f| {
            let [a, b, c] = f.nodes.map(|n| mesh.positions()[n as usize].as_dvec3());
            0.5 * (b - a).cross(c - a).length()
        })
        .sum();
    // A fragment from the inside has no boundary of the mesh's own.
    if area > 0.0 {
        ((2.0 * volume / area) as f32).min(radius)
    } else {
        radius
    }
}

/// Places, in the fragment's node list, of the nodes that can be touched: on the
/// boundary of the mesh, or beside another fragment.
fn surface_nodes(fragments: &Fragments, id: FragmentId) -> Vec<u32> {
    let mesh = fragments.mesh();
    let boundary = mesh.boundary_nodes();
    fragments
        .fragment(id)
        .nodes()
        .iter()
        .enumerate()
        .filter(|&(_, &n)| {
            boundary[n as usize]
                || mesh
                    .adjacent_nodes(n)
                    .iter()
                    .any(|&m| fragments.node_fragment()[m as usize] != id)
        })
        .map(|(i, _)| i as u32)
        .collect()
}

#[cfg(test)]
mod tests;
