//! From polygons as a file lists them to a clean [`SurfaceMesh`], with every
//! change named and counted.
//!
//! In this order: vertices at exactly the same place are welded; polygons are cut
//! into triangles; triangles that name a vertex twice are removed; of triangles
//! with the same corners in the same turning sense one is kept; the rest is oriented
//! (see `orient.rs`); vertices that nothing uses are dropped.
//!
//! What is *not* touched, because removing it would open the surface or change what
//! is inside: triangles of zero area with three different corners, and single pairs of
//! equal triangles that face opposite ways. [`crate::inspect_surface`] counts both.

use glam::{DVec3, Vec2};

use crate::orient;
use crate::polygon::{self, Cut};
use crate::repairs::retain;
pub use crate::repairs::{Repair, Repairs};
use crate::surface_mesh::{CornerUvs, SurfaceMesh, SurfaceMeshError};

impl SurfaceMesh {
    /// Welds vertices at the same place, removes degenerate and repeated triangles
    /// and unused vertices, and says what it did.
    ///
    /// # Errors
    /// What cannot be repaired, see [`SurfaceMeshError`].
    pub fn repair(
        positions: Vec<DVec3>,
        triangles: &[[u32; 3]],
    ) -> Result<(Self, Repairs), SurfaceMeshError> {
        let mut soup = PolygonSoup::new(positions);
        for triangle in triangles {
            soup.push_face(triangle);
        }
        soup.into_surface()
    }
}

/// Triangles, and the texture coordinates of their corners where there are any.
type Triangles = (Vec<[u32; 3]>, Option<Vec<CornerUvs>>);

/// Polygons as a file lists them.
#[derive(Debug, Default)]
pub(crate) struct PolygonSoup {
    positions: Vec<DVec3>,
    corners: Vec<u32>,
    /// Where each polygon's corners end.
    ends: Vec<usize>,
    /// Texture coordinates of every corner, or empty.
    uvs: Vec<Vec2>,
    repairs: Repairs,
    /// The format shares no vertices, so welding them is no repair.
    unshared: bool,
}

impl PolygonSoup {
    pub(crate) fn new(positions: Vec<DVec3>) -> Self {
        Self {
            positions,
            ..Self::default()
        }
    }

    /// For formats such as STL that write each triangle's corners out.
    pub(crate) fn unshared() -> Self {
        Self {
            unshared: true,
            ..Self::default()
        }
    }

    pub(crate) fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    pub(crate) fn positions_mut(&mut self) -> &mut Vec<DVec3> {
        &mut self.positions
    }

    pub(crate) fn repairs_mut(&mut self) -> &mut Repairs {
        &mut self.repairs
    }

    pub(crate) fn face_count(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn push_face(&mut self, corners: &[u32]) {
        self.corners.extend_from_slice(corners);
        self.ends.push(self.corners.len());
    }

    /// Gives the latest face texture coordinates, one for each of its corners.
    /// Faces without any, before or after, have zeros.
    pub(crate) fn push_uvs(&mut self, uvs: &[Vec2]) {
        let start = self.corners.len() - uvs.len();
        self.uvs.resize(start, Vec2::ZERO);
        self.uvs.extend_from_slice(uvs);
    }

    /// Repairs, see the head of the file.
    pub(crate) fn into_surface(self) -> Result<(SurfaceMesh, Repairs), SurfaceMeshError> {
        let mut repairs = self.repairs.clone();
        let used = self.check()?;
        let representative = weld(&self.positions, &used);
        let welded = (0..used.len())
            .filter(|&v| used[v] && representative[v] as usize != v)
            .count();
        if !self.unshared {
            repairs.add(Repair::VerticesWelded, welded);
        }

        let (mut triangles, mut uvs) = self.triangulate(&representative, &mut repairs)?;
        remove_degenerate(&mut triangles, &mut uvs, &mut repairs);
        remove_duplicates(&mut triangles, &mut uvs, &mut repairs);
        orient::remove_back_faces(&mut triangles, &mut uvs, &mut repairs);
        orient::turn(&self.positions, &mut triangles, &mut uvs, &mut repairs);
        let before = self.positions.len() - welded;
        let positions = compact(&self.positions, &mut triangles);
        repairs.add(Repair::UnusedVerticesRemoved, before - positions.len());
        let mesh = SurfaceMesh::build_with_uvs(positions, triangles, uvs)?;
        Ok((mesh, repairs))
    }

    /// Vertices and triangles exactly as listed, polygons fanned, nothing repaired: for
    /// those who need the file's own numbers.
    pub(crate) fn into_listed(self) -> Result<(Vec<DVec3>, Vec<[u32; 3]>), SurfaceMeshError> {
        self.check()?;
        let mut triangles = Vec::with_capacity(self.ends.len());
        let mut start = 0;
        for &end in &self.ends {
            let face = &self.corners[start..end];
            for pair in face.windows(2).skip(1) {
                triangles.push([face[0], pair[0], pair[1]]);
            }
            start = end;
        }
        Ok((self.positions, triangles))
    }

    /// Which vertices are used; an error where one in use is missing or not finite.
    fn check(&self) -> Result<Vec<bool>, SurfaceMeshError> {
        let vertices = self.positions.len();
        for (what, count) in [("vertices", vertices), ("corners", self.corners.len())] {
            if count > SurfaceMesh::LIMIT {
                return Err(SurfaceMeshError::TooLarge {
                    what,
                    count,
                    limit: SurfaceMesh::LIMIT,
                });
            }
        }
        let mut used = vec![false; vertices];
        for (c, &vertex) in self.corners.iter().enumerate() {
            let Some(position) = self.positions.get(vertex as usize) else {
                return Err(SurfaceMeshError::VertexOutOfRange {
                    triangle: self.ends.partition_point(|&end| end <= c),
                    vertex,
                    vertices,
                });
            };
            if !position.is_finite() {
                return Err(SurfaceMeshError::NotFinite {
                    vertex,
                    position: *position,
                });
            }
            used[vertex as usize] = true;
        }
        Ok(used)
    }

    fn triangulate(
        &self,
        representative: &[u32],
        repairs: &mut Repairs,
    ) -> Result<Triangles, SurfaceMeshError> {
        let mut triangles = Vec::with_capacity(self.ends.len());
        let mut uvs = Vec::new();
        let (mut points, mut pieces, mut start) = (Vec::new(), Vec::new(), 0);
        for (face, &end) in self.ends.iter().enumerate() {
            let corners = &self.corners[start..end];
            let corner = |k: u32| representative[corners[k as usize] as usize];
            pieces.clear();
            match corners.len() {
                0..3 => repairs.add(Repair::ShortFacesRemoved, 1),
                3 => pieces.push([0, 1, 2]),
                count => {
                    points.clear();
                    points.extend(corners.iter().map(|&v| self.positions[v as usize]));
                    match polygon::triangulate(&points, &mut pieces) {
                        Cut::Exact => repairs.add(Repair::PolygonsTriangulated, 1),
                        Cut::Fanned => repairs.add(Repair::CrossedPolygonsFanned, 1),
                        Cut::TooLarge => {
                            return Err(SurfaceMeshError::PolygonTooLarge {
                                face,
                                corners: count,
                                limit: polygon::CORNER_LIMIT,
                            });
                        }
                    }
                }
            }
            for piece in &pieces {
                triangles.push(piece.map(corner));
                if !self.uvs.is_empty() {
                    let uv = |k: u32| self.uvs.get(start + k as usize).copied();
                    uvs.push(piece.map(|k| uv(k).unwrap_or_default()));
                }
            }
            start = end;
        }
        Ok((triangles, (!self.uvs.is_empty()).then_some(uvs)))
    }
}

/// For each used vertex the first used one at exactly the same place; -0 equals 0.
fn weld(positions: &[DVec3], used: &[bool]) -> Vec<u32> {
    let key = |v: u32| {
        let p = positions[v as usize] + 0.0; // turns -0 into 0
        (p.x.to_bits(), p.y.to_bits(), p.z.to_bits(), v)
    };
    let mut order: Vec<u32> = (0..positions.len() as u32)
        .filter(|&v| used[v as usize])
        .collect();
    order.sort_unstable_by_key(|&v| key(v));
    let mut representative: Vec<u32> = (0..positions.len() as u32).collect();
    for pair in 1..order.len() {
        let (before, here) = (order[pair - 1], order[pair]);
        let (b, h) = (key(before), key(here));
        if (b.0, b.1, b.2) == (h.0, h.1, h.2) {
            representative[here as usize] = representative[before as usize];
        }
    }
    representative
}

fn remove_degenerate(
    triangles: &mut Vec<[u32; 3]>,
    uvs: &mut Option<Vec<CornerUvs>>,
    repairs: &mut Repairs,
) {
    let removed = retain(triangles, uvs, |_, [a, b, c]| a != b && b != c && c != a);
    repairs.add(Repair::DegenerateFacesRemoved, removed);
}

/// Keeps the first of triangles with the same corners in the same cyclic order.
fn remove_duplicates(
    triangles: &mut Vec<[u32; 3]>,
    uvs: &mut Option<Vec<CornerUvs>>,
    repairs: &mut Repairs,
) {
    let key = |t: u32| {
        let mut corners = triangles[t as usize];
        let least = (0..3).min_by_key(|&k| corners[k]).expect("three corners");
        corners.rotate_left(least);
        (corners, t)
    };
    let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
    order.sort_unstable_by_key(|&t| key(t));
    let mut repeated = vec![false; triangles.len()];
    for pair in order.windows(2) {
        repeated[pair[1] as usize] = key(pair[0]).0 == key(pair[1]).0;
    }
    let removed = retain(triangles, uvs, |t, _| !repeated[t]);
    repairs.add(Repair::DuplicateFacesRemoved, removed);
}

/// The positions in use, in their old order; renumbers the triangles.
fn compact(positions: &[DVec3], triangles: &mut [[u32; 3]]) -> Vec<DVec3> {
    let mut new_index = vec![u32::MAX; positions.len()];
    for &v in triangles.iter().flatten() {
        new_index[v as usize] = 0;
    }
    let mut kept = Vec::new();
    for (v, index) in new_index.iter_mut().enumerate() {
        if *index == 0 {
            *index = kept.len() as u32;
            kept.push(positions[v]);
        }
    }
    for v in triangles.iter_mut().flatten() {
        *v = new_index[*v as usize];
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square() -> Vec<DVec3> {
        [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
            .map(|(x, y)| DVec3::new(x, y, 0.0))
            .to_vec()
    }

    #[test]
    fn a_clean_mesh_is_left_alone() {
        let triangles = [[0, 1, 2], [0, 2, 3]];
        let (mesh, repairs) = SurfaceMesh::repair(square(), &triangles).unwrap();
        assert!(repairs.is_empty(), "{repairs}");
        assert_eq!(mesh.positions(), square());
        assert_eq!(mesh.triangles(), triangles);
    }

    #[test]
    fn every_repair_is_counted() {
        let mut positions = square();
        positions.push(DVec3::new(-0.0, 0.0, 0.0)); // 4: equals 0
        positions.push(DVec3::NAN); // 5: unused
        let mut soup = PolygonSoup::new(positions);
        soup.push_face(&[0, 1, 2, 3]);
        soup.push_face(&[2, 4, 1]); // the quad's first triangle again
        soup.push_face(&[0, 2, 1]); // faces the other way: stays
        soup.push_face(&[0, 4, 1]);
        soup.push_face(&[0, 1]);
        let (mesh, repairs) = soup.into_surface().unwrap();
        assert_eq!(mesh.positions().len(), 4);
        assert_eq!(mesh.triangles(), [[0, 1, 2], [0, 2, 3], [0, 2, 1]]);
        let expected = [
            (Repair::VerticesWelded, 1),
            (Repair::PolygonsTriangulated, 1),
            (Repair::ShortFacesRemoved, 1),
            (Repair::DegenerateFacesRemoved, 1),
            (Repair::DuplicateFacesRemoved, 1),
            (Repair::UnusedVerticesRemoved, 1),
        ];
        assert_eq!(repairs.iter().collect::<Vec<_>>(), expected);
        assert_eq!(repairs.to_string().lines().count(), expected.len());
    }

    #[test]
    fn texture_coordinates_follow_their_triangles() {
        let mut soup = PolygonSoup::new(square());
        soup.push_face(&[0, 0, 1]);
        soup.push_face(&[0, 1, 2, 3]);
        let uv = [0.0, 1.0, 2.0, 3.0].map(Vec2::splat);
        soup.push_uvs(&uv);
        soup.push_face(&[3, 2, 0]);
        let (mesh, _) = soup.into_surface().unwrap();
        let expected = [
            [uv[0], uv[1], uv[2]],
            [uv[0], uv[2], uv[3]],
            [Vec2::ZERO; 3],
        ];
        assert_eq!(mesh.uvs(), Some(&expected[..]));
    }

    #[test]
    fn what_cannot_be_repaired_is_named() {
        let repair = |p, t: &[[u32; 3]]| SurfaceMesh::repair(p, t).unwrap_err();
        assert!(matches!(
            repair(square(), &[[0, 1, 2], [0, 1, 7]]),
            SurfaceMeshError::VertexOutOfRange {
                triangle: 1,
                vertex: 7,
                ..
            }
        ));
        let mut bad = square();
        bad[1].y = f64::NAN;
        assert!(matches!(
            repair(bad, &[[0, 1, 2]]),
            SurfaceMeshError::NotFinite { vertex: 1, .. }
        ));
        assert_eq!(repair(square(), &[[0, 0, 1]]), SurfaceMeshError::Empty);
    }
}
