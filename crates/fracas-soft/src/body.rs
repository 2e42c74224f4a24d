//! A body of tetrahedra: rest shape, motion, and what it was before it tore.
//!
//! Nodes have a rest position that never moves and a position that does. A tear
//! gives some tetrahedra new nodes (copies, with the same rest position), so the
//! rest shape of every tetrahedron, and with it the volume of the whole, is what it
//! was. Masses are sums over tetrahedra; copying a node with its velocity therefore
//! conserves mass and momentum.
//!
//! A tetrahedron whose four nodes all lie on the boundary has no depth and cannot
//! push anything out [Marchal 2004, section 6.2]; it is divided into four around a
//! node at its centre, at the start and after every tear. The four keep the same
//! *root*: tears separate roots, never the four, so the centre stays inside, and a
//! root is divided once at most.

use fracas_geometry::tet_mesh::{NONE, TET_FACES};
use fracas_geometry::{TetMesh, TetMeshError};
use fracas_tet_distance::Topology;
use glam::{Mat3, Vec3};
use thiserror::Error;

use crate::piece::Piece;
use crate::threads::both;

/// What a body is made of. SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// kg/m3.
    pub density: f32,
    /// Resistance to shear, Pa.
    pub shear: f32,
    /// Resistance to volume change, Pa.
    pub bulk: f32,
    /// Share of velocity relative to rigid motion lost per second, roughly.
    pub damping: f32,
    /// The largest principal stretch it bears; infinite: it never tears.
    pub tear_stretch: f32,
}

impl Default for Material {
    /// Jelly.
    fn default() -> Self {
        Self {
            density: 1000.0,
            shear: 2.0e4,
            bulk: 1.0e5,
            damping: 1.0,
            tear_stretch: f32::INFINITY,
        }
    }
}

/// Why a body cannot be built.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SoftBodyError {
    /// The rest shape is no tet mesh.
    #[error("the rest shape is not a mesh: {0}")]
    Mesh(#[from] TetMeshError),
    /// A constant of the material makes no sense.
    #[error("the material's {what} is {value}; it must be {must}")]
    Material {
        /// Which constant.
        what: &'static str,
        /// Its value.
        value: f32,
        /// What it must be.
        must: &'static str,
    },
}

/// The rest shape of one tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RestShape {
    /// Inverse of the matrix of its edges from node 0.
    pub inverse: Mat3,
    pub volume: f32,
}

/// A deformable body that can tear.
#[derive(Clone, Debug)]
pub struct SoftBody {
    pub(crate) material: Material,
    pub(crate) rest: Vec<Vec3>,
    pub(crate) positions: Vec<Vec3>,
    pub(crate) velocities: Vec<Vec3>,
    /// Positions when overlaps were looked for.
    pub(crate) seen: Vec<Vec3>,
    pub(crate) inverse_masses: Vec<f32>,
    pub(crate) tets: Vec<[u32; 4]>,
    pub(crate) shapes: Vec<RestShape>,
    pub(crate) pieces: Vec<Piece>,
    /// For each tetrahedron the tetrahedron it came from by division.
    pub(crate) roots: Vec<u32>,
    /// For each root the rest position of its centre.
    pub(crate) root_centres: Vec<Vec3>,
    /// For each root: 1, or what share it has of the usual volume if a knife left it.
    pub(crate) root_sizes: Vec<f32>,
    /// The roots from here on are what knives left.
    pub(crate) first_cut_root: u32,
    /// m3: the mean volume of the tetrahedra that the body was built of.
    pub(crate) grain: f32,
    /// m: the mean radius of the balls inside these.
    pub(crate) thickness: f32,
    pub(crate) topology: Topology,
    pub(crate) fixed: bool,
    divided: usize,
}

impl SoftBody {
    /// A body at rest in the shape of a mesh.
    ///
    /// # Errors
    /// When the material makes no sense. The mesh is one already.
    pub fn build(mesh: &TetMesh, material: Material) -> Result<Self, SoftBodyError> {
        check(&material)?;
        let centres = mesh
            .tets()
            .iter()
            .map(|tet| centre_of(tet.map(|n| mesh.positions()[n as usize])));
        let nodes = mesh.positions().len();
        let balls = mesh
            .tets()
            .iter()
            .map(|tet| f64::from(thickness(tet.map(|n| mesh.positions()[n as usize]))));
        let count = mesh.tets().len().max(1) as f64;
        let mut body = Self {
            material,
            rest: mesh.positions().to_vec(),
            positions: mesh.positions().to_vec(),
            velocities: vec![Vec3::ZERO; nodes],
            seen: Vec::new(),
            inverse_masses: vec![0.0; nodes],
            tets: mesh.tets().to_vec(),
            shapes: Vec::new(),
            pieces: Vec::new(),
            roots: (0..mesh.tets().len() as u32).collect(),
            root_centres: centres.collect(),
            root_sizes: vec![1.0; mesh.tets().len()],
            first_cut_root: mesh.tets().len() as u32,
            grain: (mesh.volume() / count) as f32,
            thickness: (balls.sum::<f64>() / count) as f32,
            topology: Topology::build(nodes, mesh.tets())?,
            fixed: false,
            divided: 0,
        };
        body.refresh()?;
        Ok(body)
    }

    /// Moves the body rigidly: rotation about the origin, then translation.
    #[must_use]
    pub fn placed(mut self, rotation: Mat3, translation: Vec3) -> Self {
        for p in &mut self.positions {
            *p = rotation * *p + translation;
        }
        self
    }

    /// Gives all nodes a velocity.
    #[must_use]
    pub fn moving(mut self, velocity: Vec3) -> Self {
        self.velocities.fill(velocity);
        self
    }

    /// Nails the body to its place: it pushes, and is never moved.
    #[must_use]
    pub fn fixed(mut self) -> Self {
        self.fixed = true;
        self.inverse_masses.fill(0.0);
        self
    }

    /// Whether it is nailed to its place.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.fixed
    }

    /// The nodes, now.
    #[must_use]
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// The nodes' rest positions.
    #[must_use]
    pub fn rest(&self) -> &[Vec3] {
        &self.rest
    }

    /// The nodes' velocities.
    #[must_use]
    pub fn velocities(&self) -> &[Vec3] {
        &self.velocities
    }

    /// The tetrahedra.
    #[must_use]
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// Adjacency, boundary and parts, as of the last tear.
    #[must_use]
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// How many tetrahedra without inside have been divided so far.
    #[must_use]
    pub fn divided(&self) -> usize {
        self.divided
    }

    /// Volume of the rest shape, summed in f64.
    #[must_use]
    pub fn rest_volume(&self) -> f64 {
        self.tets
            .iter()
            .map(|tet| fracas_geometry::tet_mesh::signed_volume(tet.map(|n| self.rest[n as usize])))
            .sum()
    }

    /// The mass of a node; infinite in a fixed body.
    #[must_use]
    pub fn mass(&self, node: u32) -> f32 {
        1.0 / self.inverse_masses[node as usize]
    }

    /// Linear momentum, summed in f64; zero for a fixed body.
    #[must_use]
    pub fn momentum(&self) -> glam::DVec3 {
        let masses = self.inverse_masses.iter().filter(|w| **w > 0.0);
        masses
            .zip(&self.velocities)
            .map(|(&w, v)| v.as_dvec3() / f64::from(w))
            .sum()
    }

    /// Brings everything that follows from rest shape and tetrahedra up to date,
    /// dividing tetrahedra without inside on the way.
    pub(crate) fn refresh(&mut self) -> Result<(), TetMeshError> {
        self.shapes.clear();
        let neighbours = Topology::neighbours_of(self.rest.len(), &self.tets)?;
        self.refresh_beside(neighbours, false)
    }

    /// The same after a tear: it is known who shares which face, and no rest shape has changed.
    pub(crate) fn refresh_beside(
        &mut self,
        mut neighbours: Vec<[u32; 4]>,
        parallel: bool,
    ) -> Result<(), TetMeshError> {
        for t in self.tets_without_inside(&neighbours) {
            self.divide(t, &mut neighbours);
        }
        for t in self.shapes.len()..self.tets.len() {
            self.shapes.push(self.rest_shape(t));
        }
        let known = std::mem::take(&mut self.pieces);
        let (topology, pieces) = both(
            || Topology::build_beside(self.rest.len(), &self.tets, neighbours),
            || self.gather_pieces(known),
            parallel,
        );
        (self.topology, self.pieces) = (topology?, pieces);
        let mut masses = vec![0.0_f32; self.rest.len()];
        for (tet, shape) in self.tets.iter().zip(&self.shapes) {
            for &n in tet {
                masses[n as usize] += 0.25 * self.material.density * shape.volume;
            }
        }
        self.inverse_masses.clear();
        let fixed = self.fixed;
        self.inverse_masses
            .extend(masses.iter().map(|m| if fixed { 0.0 } else { 1.0 / m }));
        Ok(())
    }

    fn rest_shape(&self, t: usize) -> RestShape {
        let [a, b, c, d] = self.tets[t].map(|n| self.rest[n as usize]);
        let edges = Mat3::from_cols(b - a, c - a, d - a);
        RestShape {
            inverse: edges.inverse(),
            volume: edges.determinant() / 6.0,
        }
    }

    /// The tetrahedra whose nodes all lie on the boundary.
    fn tets_without_inside(&self, neighbours: &[[u32; 4]]) -> Vec<u32> {
        let mut on_boundary = vec![false; self.rest.len()];
        for (across, corners) in neighbours.iter().zip(&self.tets) {
            for i in (0..4).filter(|&i| across[i] == NONE) {
                for k in TET_FACES[i] {
                    on_boundary[corners[k] as usize] = true;
                }
            }
        }
        let is_flat = |t: &u32| {
            let corners = self.tets[*t as usize];
            corners.iter().all(|&n| on_boundary[n as usize])
        };
        let mut flat: Vec<u32> = (0..self.tets.len() as u32).filter(is_flat).collect();
        if flat.is_empty() {
            return flat;
        }
        let mean = self.rest_volume() / self.root_centres.len().max(1) as f64;
        flat.retain(|&t| {
            let corners = self.tets[t as usize].map(|n| self.rest[n as usize]);
            // Crumbs a knife leaves are not worth a node.
            fracas_geometry::tet_mesh::signed_volume(corners) > 1e-3 * mean
        });
        flat
    }

    /// Divides a tetrahedron into four around a node at its centre.
    fn divide(&mut self, t: u32, neighbours: &mut Vec<[u32; 4]>) {
        let nodes = self.tets[t as usize];
        let centre = self.rest.len() as u32;
        let mean = |of: &[Vec3]| centre_of(nodes.map(|n| of[n as usize]));
        let rest = mean(&self.rest);
        let (position, velocity) = (mean(&self.positions), mean(&self.velocities));
        self.rest.push(rest);
        self.positions.push(position);
        self.velocities.push(velocity);
        self.inverse_masses.push(0.0);
        let first = self.tets.len() as u32;
        // The first takes the place of the whole.
        let children = [t, first, first + 1, first + 2];
        let around = neighbours[t as usize];
        for i in 0..4 {
            let mut child = nodes;
            child[i] = centre;
            // Across the face that was one of the whole lies what lay there, across each other
            // one the child that has that face.
            let mut across = children;
            across[i] = around[i];
            if i == 0 {
                self.tets[t as usize] = child;
                neighbours[t as usize] = across;
            } else {
                self.tets.push(child);
                self.roots.push(self.roots[t as usize]);
                neighbours.push(across);
            }
            if around[i] != NONE {
                let back = &mut neighbours[around[i] as usize];
                back.iter_mut()
                    .filter(|n| **n == t)
                    .for_each(|n| *n = children[i]);
            }
        }
        if (t as usize) < self.shapes.len() {
            self.shapes[t as usize] = self.rest_shape(t as usize);
        }
        self.divided += 1;
    }

    /// Appends a copy of a node and returns its index.
    pub(crate) fn copy_node(&mut self, n: u32) -> u32 {
        let n = n as usize;
        self.rest.push(self.rest[n]);
        self.positions.push(self.positions[n]);
        self.velocities.push(self.velocities[n]);
        self.inverse_masses.push(self.inverse_masses[n]);
        self.rest.len() as u32 - 1
    }

    /// Checks that the rest shape is a mesh without loose nodes, that everything
    /// derived from it is current, and that no number has gone astray.
    ///
    /// # Errors
    /// The first defect found.
    pub fn validate(&self) -> Result<(), String> {
        let mesh =
            TetMesh::build(self.rest.clone(), self.tets.clone()).map_err(|e| e.to_string())?;
        if mesh.neighbours() != self.topology.neighbours() {
            return Err("the topology is not that of the tetrahedra".into());
        }
        self.topology.validate()?;
        let nodes = self.rest.len();
        if [self.positions.len(), self.velocities.len()] != [nodes; 2] {
            return Err("nodes have been lost".into());
        }
        if self.roots.len() != self.tets.len() || self.shapes.len() != self.tets.len() {
            return Err("tetrahedra have been lost".into());
        }
        if !(0..self.tets.len()).all(|t| self.shapes[t].volume == self.rest_shape(t).volume) {
            return Err("rest shapes are not those of the tetrahedra".into());
        }
        match self.positions.iter().position(|p| !p.is_finite()) {
            Some(n) => Err(format!("node {n} is at {}", self.positions[n])),
            None => Ok(()),
        }
    }
}

pub(crate) fn centre_of(corners: [Vec3; 4]) -> Vec3 {
    0.25 * (corners[0] + corners[1] + corners[2] + corners[3])
}

/// The radius of the ball inside.
pub(crate) fn thickness([a, b, c, d]: [Vec3; 4]) -> f32 {
    let (u, v, w) = (b - a, c - a, d - a);
    let twice = [u.cross(v), v.cross(w), w.cross(u), (v - u).cross(w - u)];
    let area: f32 = twice.iter().map(|n| n.length()).sum();
    u.cross(v).dot(w).abs() / area
}

fn check(material: &Material) -> Result<(), SoftBodyError> {
    let positive = "positive and finite";
    let wrong = |what, value, must| Err(SoftBodyError::Material { what, value, must });
    for (what, value) in [
        ("density", material.density),
        ("shear", material.shear),
        ("bulk", material.bulk),
    ] {
        if value <= 0.0 || !value.is_finite() {
            return wrong(what, value, positive);
        }
    }
    if material.damping < 0.0 || !material.damping.is_finite() {
        return wrong("damping", material.damping, "zero or more");
    }
    if material.tear_stretch.is_nan() || material.tear_stretch <= 1.0 {
        return wrong("tear_stretch", material.tear_stretch, "more than 1");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::testing::box_grid;

    #[test]
    fn tets_without_inside_are_divided() {
        let mesh = box_grid([1, 1, 1], Vec3::ONE);
        let body = SoftBody::build(&mesh, Material::default()).unwrap();
        // All six tetrahedra of a lone cube have four boundary nodes.
        assert_eq!((body.tets().len(), body.divided()), (24, 6));
        assert_eq!(body.topology().flat_tets().count(), 0);
        assert!((body.rest_volume() - 1.0).abs() < 1e-6);
        let mass: f32 = (0..body.rest().len() as u32).map(|n| body.mass(n)).sum();
        assert!((mass - 1000.0).abs() < 1e-2);
        body.validate().unwrap();
    }

    #[test]
    fn nonsense_materials_are_refused() {
        let mesh = box_grid([1, 1, 1], Vec3::ONE);
        for (what, material) in [
            (
                "density",
                Material {
                    density: 0.0,
                    ..Material::default()
                },
            ),
            (
                "shear",
                Material {
                    shear: f32::NAN,
                    ..Material::default()
                },
            ),
            (
                "bulk",
                Material {
                    bulk: f32::INFINITY,
                    ..Material::default()
                },
            ),
            (
                "damping",
                Material {
                    damping: -1.0,
                    ..Material::default()
                },
            ),
            (
                "tear_stretch",
                Material {
                    tear_stretch: 1.0,
                    ..Material::default()
                },
            ),
        ] {
            let error = SoftBody::build(&mesh, material).unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
        }
    }
}
