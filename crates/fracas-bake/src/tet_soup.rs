//! Tetrahedra as a file gave them, before they become a [`TetMesh`].
//!
//! Positions stay in f64 and nothing is changed: [`TetSoup::into_mesh`] repairs
//! what has one obvious repair, names it, and refuses the rest.

use fracas_core::tet_mesh::{TetMesh, TetMeshError, signed_volume};
use glam::{DVec3, Vec3};
use thiserror::Error;

use crate::repair::{Repair, Repairs};

/// Why a [`TetSoup`] does not make a [`TetMesh`].
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TetSoupError {
    /// A tetrahedron has no volume, as read or once its corners are rounded to f32.
    #[error(
        "tetrahedron {tet} is flat (volume {volume:e} as read, {rounded:e} in single precision); remesh there, or move the object closer to the origin"
    )]
    Flat {
        /// The tetrahedron.
        tet: usize,
        /// Its signed volume in f64.
        volume: f64,
        /// Its signed volume with corners rounded to f32, flipped to be positive as read.
        rounded: f64,
    },
    /// A node lies beyond what single precision can hold.
    #[error("node {node} at {position} is beyond single precision; scale the object down")]
    TooFar {
        /// The node.
        node: usize,
        /// Its position.
        position: DVec3,
    },
    /// The tetrahedra do not make a mesh.
    #[error(transparent)]
    Mesh(#[from] TetMeshError),
}

/// Nodes and tetrahedra as read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetSoup {
    positions: Vec<DVec3>,
    tets: Vec<[u32; 4]>,
    /// What the reader already left out.
    repairs: Repairs,
}

impl TetSoup {
    /// Takes nodes and tetrahedra as they are.
    #[must_use]
    pub fn new(positions: Vec<DVec3>, tets: Vec<[u32; 4]>) -> Self {
        Self {
            positions,
            tets,
            repairs: Repairs::default(),
        }
    }

    /// The same soup, with what a reader already left out.
    pub(crate) fn with_repairs(self, repairs: Repairs) -> Self {
        Self { repairs, ..self }
    }

    /// What the reader left out.
    #[must_use]
    pub fn repairs(&self) -> &Repairs {
        &self.repairs
    }

    /// Positions of all nodes, used or not.
    #[must_use]
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// Node indices of all tetrahedra, oriented as read.
    #[must_use]
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// How many tetrahedra are negatively oriented as read.
    #[must_use]
    pub fn inverted(&self) -> usize {
        self.tets
            .iter()
            .filter(|t| self.volume_of(t).is_some_and(|v| v < 0.0))
            .count()
    }

    /// Signed volume in f64, or `None` where an index is out of range.
    fn volume_of(&self, tet: &[u32; 4]) -> Option<f64> {
        let [a, b, c, d] = tet.map(|n| self.positions.get(n as usize));
        let (a, b, c, d) = (*a?, *b?, *c?, *d?);
        Some((b - a).cross(c - a).dot(d - a) / 6.0)
    }

    /// Flips negatively oriented tetrahedra, drops nodes that none uses, rounds to
    /// f32, and builds the mesh. Nothing is welded and no tetrahedron is removed:
    /// what was given is used as it is.
    ///
    /// # Errors
    /// See [`TetSoupError`]; the indices are those of the soup.
    pub fn into_mesh(self) -> Result<(TetMesh, Repairs), TetSoupError> {
        let mut repairs = self.repairs.clone();
        let mut tets = self.tets.clone();
        let rounded: Vec<Vec3> = self.positions.iter().map(|p| p.as_vec3()).collect();
        for (t, tet) in tets.iter_mut().enumerate() {
            if let Some(&node) = tet.iter().find(|&&n| n as usize >= rounded.len()) {
                return Err(TetSoupError::Mesh(TetMeshError::NodeOutOfRange {
                    tet: t as u32,
                    node,
                    nodes: rounded.len(),
                }));
            }
            for n in *tet {
                let (position, node) = (self.positions[n as usize], n as usize);
                if !position.is_finite() {
                    return Err(TetSoupError::Mesh(TetMeshError::NotFinite {
                        node: n,
                        position: rounded[node],
                    }));
                }
                if !rounded[node].is_finite() {
                    return Err(TetSoupError::TooFar { node, position });
                }
            }
            let volume = self.volume_of(tet).unwrap_or(f64::NAN);
            if volume < 0.0 {
                tet.swap(2, 3);
                repairs.add(Repair::TetsFlipped, 1);
            }
            let stored = signed_volume(tet.map(|n| rounded[n as usize]));
            if volume == 0.0 || stored <= 0.0 {
                return Err(TetSoupError::Flat {
                    tet: t,
                    volume,
                    rounded: stored,
                });
            }
        }
        let positions = drop_unused(rounded, &mut tets, &mut repairs);
        Ok((TetMesh::build(positions, tets)?, repairs))
    }
}

fn drop_unused(nodes: Vec<Vec3>, tets: &mut [[u32; 4]], repairs: &mut Repairs) -> Vec<Vec3> {
    let mut used = vec![false; nodes.len()];
    for &n in tets.iter().flatten() {
        used[n as usize] = true;
    }
    let unused = used.iter().filter(|u| !**u).count();
    if unused == 0 {
        return nodes;
    }
    repairs.add(Repair::UnusedVerticesRemoved, unused);
    let mut new_index = vec![0; nodes.len()];
    let mut kept = Vec::with_capacity(nodes.len() - unused);
    for (i, p) in nodes.into_iter().enumerate() {
        if used[i] {
            new_index[i] = kept.len() as u32;
            kept.push(p);
        }
    }
    for n in tets.iter_mut().flatten() {
        *n = new_index[*n as usize];
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner() -> Vec<DVec3> {
        vec![DVec3::ONE, DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]
    }

    #[test]
    fn negative_tets_are_flipped_and_unused_nodes_dropped() {
        let soup = TetSoup::new(corner(), vec![[1, 3, 2, 4]]);
        assert_eq!(soup.inverted(), 1);
        let (mesh, repairs) = soup.into_mesh().unwrap();
        assert_eq!((mesh.positions().len(), mesh.tets().len()), (4, 1));
        assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-12);
        assert_eq!(repairs.count(Repair::TetsFlipped), 1);
        assert_eq!(repairs.count(Repair::UnusedVerticesRemoved), 1);
    }

    #[test]
    fn what_has_no_obvious_repair_is_refused() {
        let flat = TetSoup::new(
            vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(1.0, 1.0, 0.0)],
            vec![[0, 1, 2, 3]],
        );
        assert!(matches!(
            flat.into_mesh(),
            Err(TetSoupError::Flat { tet: 0, .. })
        ));
        let far: Vec<_> = corner().iter().map(|p| *p + 1e9).collect();
        assert!(matches!(
            TetSoup::new(far, vec![[1, 2, 3, 4]]).into_mesh(),
            Err(TetSoupError::Flat { tet: 0, .. })
        ));
        let huge: Vec<_> = corner().iter().map(|p| *p * 1e300).collect();
        assert!(matches!(
            TetSoup::new(huge, vec![[1, 2, 3, 4]]).into_mesh(),
            Err(TetSoupError::TooFar { .. })
        ));
        assert!(matches!(
            TetSoup::new(corner(), vec![[1, 2, 3, 9]]).into_mesh(),
            Err(TetSoupError::Mesh(TetMeshError::NodeOutOfRange { .. }))
        ));
        let mut nan = corner();
        nan[2].x = f64::NAN;
        assert!(matches!(
            TetSoup::new(nan, vec![[1, 2, 3, 4]]).into_mesh(),
            Err(TetSoupError::Mesh(TetMeshError::NotFinite { .. }))
        ));
        assert!(matches!(
            TetSoup::default().into_mesh(),
            Err(TetSoupError::Mesh(TetMeshError::Empty))
        ));
    }
}
