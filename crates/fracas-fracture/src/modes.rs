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
//! tests); with [`Kind::Portable`], the same bits on every machine.

use fracas::{FragmentId, Fragments};
use fracas_sparse::{BLOCK, BlockMatrix, Factor, Kind, Row, dissect, eigenvalues_below};
use glam::{DVec3, Vec3};
use thiserror::Error;

use crate::material::Material;
use crate::stiffness::{ElasticBody, Elements};
use crate::stress_modes::StressModes;

/// What to compute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModesOptions {
    /// How many elastic modes at least (fewer for a body of few nodes).
    pub count: usize,
    /// Which elements make the stiffness.
    pub elements: Elements,
    /// Which arithmetic.
    pub kind: Kind,
    /// Seed of the first vectors; any will do.
    pub seed: u64,
}

impl Default for ModesOptions {
    fn default() -> Self {
        Self {
            count: 40,
            elements: Elements::default(),
            kind: Kind::default(),
            seed: 0,
        }
    }
}

/// Why there are no modes.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModesError {
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
pub const LEAST_NODES: usize = 8;

/// A gap in the list of frequencies: relative distance to the next.
const GAP: f64 = 0.01;

/// How many modes more than asked for may be taken to reach a gap.
const MOST_EXTRA: usize = 8;

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
        progress(0.02);
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
        progress(1.0);
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
            mass: body.masses().iter().sum(),
            radius,
            thickness: thickness(fragments, id, body.volumes().iter().sum(), radius),
            mean_edge: fragments.mesh().mean_edge_length(),
            nodes,
        })
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
    pub fn stress(&self) -> &StressModes {
        &self.stress
    }

    /// Mass (kg).
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Largest distance of a node from the mean of all (m).
    #[must_use]
    pub fn radius(&self) -> f32 {
        self.radius
    }

    /// Mean thickness of its walls, 2 volume / surface (m): the wall of a shell, two
    /// thirds of the radius of a ball.
    #[must_use]
    pub fn thickness(&self) -> f32 {
        self.thickness
    }

    /// Mean edge length of the mesh (m).
    #[must_use]
    pub fn mean_edge(&self) -> f32 {
        self.mean_edge
    }

    /// The surface node nearest to a point: its place among the surface nodes.
    #[must_use]
    pub fn nearest_surface(&self, point: Vec3) -> usize {
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
    pub fn shapes_at(&self, surface: usize) -> &[Vec3] {
        let count = self.count();
        &self.shapes[surface * count..(surface + 1) * count]
    }

    /// The mesh node of a surface node.
    #[must_use]
    pub fn surface_node(&self, surface: usize) -> u32 {
        self.nodes[self.surface[surface] as usize]
    }

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
            mass: self.mass,
            radius: self.radius,
            thickness: self.thickness,
            mean_edge: self.mean_edge,
        }
    }

    /// Modes from stored numbers.
    ///
    /// # Errors
    /// In words, when sizes do not fit or a number is not finite.
    pub fn from_data(data: ModesData) -> Result<Self, String> {
        let count = data.omegas.len();
        let fits = data.surface_positions.len() == data.surface.len()
            && data.shapes.len() == data.surface.len() * count
            && data.stress.len() == data.nodes.len() * count
            && data
                .surface
                .iter()
                .all(|&s| (s as usize) < data.nodes.len())
            && data.nodes.is_sorted_by(|a, b| a < b);
        if !fits || data.surface.is_empty() {
            return Err("the sizes of the stored modes do not fit together".into());
        }
        let finite = data.omegas.iter().all(|w| w.is_finite() && *w > 0.0)
            && data.shapes.iter().all(|v| v.is_finite())
            && data.stress.iter().flatten().all(|v| v.is_finite())
            && data.surface_positions.iter().all(|v| v.is_finite())
            && data.mass.is_finite()
            && data.mass > 0.0
            && data.radius.is_finite()
            && data.thickness.is_finite()
            && data.mean_edge.is_finite();
        if !finite || !data.omegas.is_sorted() {
            return Err("a stored mode holds a number that is not finite or out of order".into());
        }
        data.material.validate().map_err(|e| e.to_string())?;
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
            mass: data.mass,
            radius: data.radius,
            thickness: data.thickness,
            mean_edge: data.mean_edge,
        })
    }
}

/// The numbers of [`Modes`], for files. Fields as there.
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
    /// Mass (kg).
    pub mass: f64,
    /// Largest distance of a node from the mean of all (m).
    pub radius: f32,
    /// Mean thickness of its walls (m).
    pub thickness: f32,
    /// Mean edge length of the mesh (m).
    pub mean_edge: f32,
}

/// How many modes, the six rigid ones included, lie below an angular frequency:
/// counted by inertia, independently of the eigensolver.
///
/// # Errors
/// See [`ModesError`].
pub fn count_below(
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

/// Angular frequencies and vectors in the mass-scaled space.
type Pairs = (Vec<f64>, Vec<Vec<Row>>);

fn solve(
    body: &ElasticBody,
    stiffness: &BlockMatrix,
    id: FragmentId,
    options: &ModesOptions,
    progress: &mut dyn FnMut(f32),
) -> Result<Pairs, ModesError> {
    let masses = body.masses();
    let total: f64 = masses.iter().sum();
    let shift = 1e-5 * stiffness.trace() / (3.0 * total);
    let order = dissect(stiffness, body.positions());
    let mut factor = Factor::build(stiffness, masses, shift, &order, options.kind)
        .map_err(|_| ModesError::NotFactored(id))?;
    progress(0.3);
    let roots: Vec<f64> = masses.iter().map(|m| m.sqrt()).collect();
    let rigid = rigid_motions(body.positions(), &roots);
    let dimension = 3 * masses.len();
    // A small body has few modes that mean anything.
    let wanted = options.count.clamp(1, (dimension - 6) / 4);
    let request = fracas_sparse::Request {
        dimension,
        wanted: (wanted + MOST_EXTRA + 1).min(dimension - 8),
        tolerance: 1e-7,
        most_blocks: 25 + wanted,
        seed: options.seed,
    };
    let spectrum = fracas_sparse::largest(
        &request,
        &rigid,
        |w| {
            scale(w, &roots);
            factor.solve(w);
            scale(w, &roots);
        },
        |share| progress(0.3 + 0.65 * share),
    );
    if spectrum.converged < wanted {
        return Err(ModesError::NotConverged {
            id,
            found: spectrum.converged,
            wanted,
        });
    }
    let omegas: Vec<f64> = spectrum.values[..spectrum.converged]
        .iter()
        .map(|theta| (1.0 / theta - shift).max(0.0).sqrt())
        .collect();
    let count = cut_at_gap(&omegas, wanted);
    Ok((omegas[..count].to_vec(), spectrum.vectors))
}

/// The first place at or after `wanted` with a gap behind it; else the widest.
fn cut_at_gap(omegas: &[f64], wanted: usize) -> usize {
    let gap = |k: usize| omegas[k] / omegas[k - 1] - 1.0;
    let last = omegas.len().saturating_sub(1);
    if wanted >= last {
        return wanted.min(omegas.len());
    }
    (wanted..=last).find(|&k| gap(k) > GAP).unwrap_or_else(|| {
        (wanted..=last).fold(wanted, |best, k| if gap(k) > gap(best) { k } else { best })
    })
}

fn scale(w: &mut [Row], roots: &[f64]) {
    for (rows, root) in w.chunks_exact_mut(3).zip(roots) {
        for row in rows {
            for x in row {
                *x *= root;
            }
        }
    }
}

/// The six rigid motions, orthonormal in the mass-scaled space; two zero columns.
fn rigid_motions(positions: &[DVec3], roots: &[f64]) -> Vec<Row> {
    let total: f64 = roots.iter().map(|r| r * r).sum();
    let centre = positions
        .iter()
        .zip(roots)
        .map(|(&p, r)| p * (r * r))
        .sum::<DVec3>()
        / total;
    let mut rows: Vec<Row> = Vec::with_capacity(3 * positions.len());
    for (&p, &root) in positions.iter().zip(roots) {
        let p = p - centre;
        let turns = [DVec3::X.cross(p), DVec3::Y.cross(p), DVec3::Z.cross(p)];
        for c in 0..3 {
            let mut row = [0.0; BLOCK];
            row[c] = root;
            for (t, turn) in turns.iter().enumerate() {
                row[3 + t] = root * turn[c];
            }
            rows.push(row);
        }
    }
    for c in 0..6 {
        for _ in 0..2 {
            for p in 0..c {
                let d: f64 = rows.iter().map(|row| row[p] * row[c]).sum();
                rows.iter_mut().for_each(|row| row[c] -= d * row[p]);
            }
        }
        let norm = rows.iter().map(|row| row[c] * row[c]).sum::<f64>().sqrt();
        rows.iter_mut().for_each(|row| row[c] /= norm);
    }
    rows
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
mod tests {
    use std::sync::Arc;

    use fracas::testing::box_grid;

    use super::*;

    /// The material of the published frequencies.
    fn reference() -> Material {
        Material {
            young: 70e9,
            poisson: 0.22,
            density: 2500.0,
            ..Material::GLASS
        }
    }

    fn grid(cells: [u32; 3], size: [f32; 3]) -> Fragments {
        Fragments::new(Arc::new(box_grid(cells, Vec3::from_array(size))))
    }

    fn frequencies(fragments: &Fragments, elements: Elements, count: usize) -> Vec<f64> {
        let options = ModesOptions {
            count,
            elements,
            ..Default::default()
        };
        Modes::compute(
            fragments,
            FragmentId(0),
            &reference(),
            &options,
            &mut |_| (),
        )
        .unwrap()
        .frequencies()
    }

    /// Against Rayleigh-Ritz with Legendre polynomials of degree 14, in percent.
    fn errors(found: &[f64], ritz: &[f64]) -> Vec<f64> {
        found
            .iter()
            .zip(ritz)
            .map(|(f, r)| 100.0 * (f / r - 1.0))
            .collect()
    }

    #[test]
    fn a_plate_of_two_layers_is_within_three_percent() {
        let plate = grid([40, 40, 2], [0.2, 0.2, 0.01]);
        let ritz = [861.9, 1262.5, 1471.8, 2179.9, 2179.9, 3729.7, 3729.7];
        let found = frequencies(&plate, Elements::EdgeSmoothed, 8);
        assert!((found[0] - 849.0).abs() < 0.1, "{found:?}");
        let errors = errors(&found, &ritz);
        assert!(errors.iter().all(|e| e.abs() < 3.0), "{errors:?}");
        let stiff = frequencies(&plate, Elements::Linear, 8);
        assert!((stiff[0] - 1132.8).abs() < 0.1, "{stiff:?}");
    }

    #[test]
    fn a_beam_reproduces_the_known_numbers_of_this_mesh_and_misses_no_mode() {
        let beam = grid([60, 6, 4], [0.3, 0.03, 0.02]);
        let known = [
            (Elements::Linear, 1315.1, 55257.4),
            (Elements::EdgeSmoothed, 1182.0, 51623.0),
        ];
        for (elements, first, fortieth) in known {
            let found = frequencies(&beam, elements, 40);
            assert!((found[0] - first).abs() < 0.1, "{found:?}");
            assert!((found[39] - fortieth).abs() < 0.1, "{}", found[39]);
            for count in [1, 7, found.len()] {
                let below = std::f64::consts::TAU * found[count - 1] * (1.0 + 1e-6);
                let inertia =
                    count_below(&beam, FragmentId(0), &reference(), elements, below).unwrap();
                let mine = 6 + found
                    .iter()
                    .filter(|&&f| f <= found[count - 1] * (1.0 + 1e-6))
                    .count();
                assert_eq!(inertia, mine, "below mode {count}");
            }
        }
        let ritz = [
            1190.5, 1753.4, 3196.2, 4574.8, 4800.5, 6046.7, 8375.1, 8816.6,
        ];
        let errors = errors(&frequencies(&beam, Elements::EdgeSmoothed, 40), &ritz);
        assert!(errors.iter().all(|e| e.abs() < 3.6), "{errors:?}");
    }

    #[test]
    fn degenerate_modes_of_a_cube_come_complete() {
        let cube = grid([12, 12, 12], [0.1, 0.1, 0.1]);
        let found = frequencies(&cube, Elements::EdgeSmoothed, 8);
        let ritz = [
            15396.0, 15396.0, 20612.0, 20612.0, 20612.0, 21052.0, 21052.0, 21052.0,
        ];
        let errors = errors(&found, &ritz);
        assert!(errors.iter().all(|e| e.abs() < 2.5), "{errors:?}");
    }

    #[test]
    fn shapes_are_mass_orthonormal_and_free_of_rigid_motion() {
        let fragments = grid([9, 4, 3], [0.215, 0.1025, 0.065]);
        let body = ElasticBody::new(&fragments, FragmentId(0), 2500.0).unwrap();
        let stiffness = body.stiffness(&reference(), Elements::EdgeSmoothed);
        let (omegas, vectors) = solve(
            &body,
            &stiffness,
            FragmentId(0),
            &ModesOptions::default(),
            &mut |_| (),
        )
        .unwrap();
        let roots: Vec<f64> = body.masses().iter().map(|m| m.sqrt()).collect();
        let rigid = rigid_motions(body.positions(), &roots);
        let column = |k: usize| vectors[k / BLOCK].iter().map(move |row| row[k % BLOCK]);
        for k in 0..omegas.len() {
            for m in 0..=k {
                let d: f64 = column(k).zip(column(m)).map(|(a, b)| a * b).sum();
                assert!((d - f64::from(u8::from(k == m))).abs() < 1e-10);
            }
            for c in 0..6 {
                let d: f64 = column(k).zip(&rigid).map(|(a, row)| a * row[c]).sum();
                assert!(d.abs() < 1e-10, "mode {k} contains rigid motion");
            }
            // K phi = omega² M phi.
            let phi: Vec<DVec3> = (0..roots.len())
                .map(|n| {
                    let at = |c: usize| vectors[k / BLOCK][3 * n + c][k % BLOCK] / roots[n];
                    DVec3::new(at(0), at(1), at(2))
                })
                .collect();
            let force = stiffness.times(&phi);
            let (mut residual, mut size) = (0.0, 0.0);
            for n in 0..roots.len() {
                let inertia = omegas[k] * omegas[k] * body.masses()[n] * phi[n];
                residual += (force[n] - inertia).length_squared();
                size += inertia.length_squared();
            }
            assert!(residual.sqrt() < 1e-5 * size.sqrt(), "mode {k}");
        }
    }

    #[test]
    fn both_kinds_of_factor_give_the_same_and_data_survives_storage() {
        let fragments = grid([10, 5, 2], [0.2, 0.1, 0.02]);
        let compute = |kind| {
            let options = ModesOptions {
                kind,
                ..Default::default()
            };
            Modes::compute(
                &fragments,
                FragmentId(0),
                &reference(),
                &options,
                &mut |_| (),
            )
            .unwrap()
        };
        let (fast, portable) = (compute(Kind::Fast), compute(Kind::Portable));
        for (a, b) in fast.omegas().iter().zip(portable.omegas()) {
            assert!((a / b - 1.0).abs() < 1e-9);
        }
        assert_eq!(portable, compute(Kind::Portable), "it repeats");
        let data = portable.to_data();
        assert_eq!(Modes::from_data(data.clone()).unwrap(), portable);
        let mut short = data.clone();
        short.shapes.pop();
        assert!(Modes::from_data(short).is_err());
        let mut bad = data;
        bad.stress[0][0] = f32::NAN;
        assert!(Modes::from_data(bad).is_err());
    }

    #[test]
    fn fragments_have_modes_and_small_or_dead_ones_say_why_not() {
        let mut fragments = grid([12, 6, 2], [0.2, 0.1, 0.02]);
        let whole = frequencies(&fragments, Elements::EdgeSmoothed, 10);
        let fracture = crate::patterns::user(
            &fragments,
            FragmentId(0),
            &[&|p| p.x - 0.13, &|p| p.distance(Vec3::ZERO) - 0.02],
        )
        .unwrap();
        fragments.apply(&fracture).unwrap();
        let compute = |id| {
            Modes::compute(
                &fragments,
                id,
                &reference(),
                &ModesOptions::default(),
                &mut |_| (),
            )
        };
        let mut kinds = [0; 2];
        for id in fragments.living() {
            match compute(id) {
                Ok(modes) => {
                    // Shorter pieces sound higher.
                    assert!(modes.frequencies()[0] > 1.1 * whole[0]);
                    assert_eq!(modes.nodes(), fragments.fragment(id).nodes());
                    kinds[0] += 1;
                }
                Err(ModesError::TooSmall { nodes, .. }) => {
                    assert!(nodes < LEAST_NODES);
                    kinds[1] += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert!(kinds[0] >= 2 && kinds[1] >= 1, "{kinds:?}");
        assert_eq!(
            compute(FragmentId(0)).unwrap_err(),
            ModesError::NoSuchFragment(FragmentId(0))
        );
    }
}
