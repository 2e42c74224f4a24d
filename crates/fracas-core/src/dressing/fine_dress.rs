//! A fragment in the fine surface of its boundary.
//!
//! Steps of [`FineBoundary::dress`], for each tetrahedron that shows some of the
//! fragment's surface:
//! 1. Boundary faces that are whole give their grid of small triangles.
//! 2. Of faces that are cut, each small triangle is clipped to the fragment's polygon,
//!    in the flat grid; a point there is a point of the fine surface.
//! 3. The sides that a crack left in a face are chains of such points. A *cell* is what two
//!    fragments have in common of a crack plane in one tetrahedron; it has the chain in
//!    place of its straight side, and is filled from its middle. Both fragments make it
//!    alike, and one turns it over: crack faces are the same triangles on both sides. Where
//!    a later crack parts what is beyond, cell and chain are divided there on this side, too.
//!
//! **Guarantee**: each fragment is closed, whatever the shape of the fine surface.
//! Points have names (a fine vertex, a cut of the mesh, a crossing of a small side), and
//! what is on which side is decided once for each: neighbours cannot disagree. Outsides
//! of all fragments together are the fine surface.

use std::collections::HashMap;

use glam::DVec3;

use crate::fragment::{FragmentId, Fragments};
use crate::tet_mesh::{NONE, TET_FACES};
use crate::tet_part::{Corner, CornerPoints, Side, TetPart, signs};

use super::crack_cells::cell_corners;
use super::cut_face::CutFace;
use super::fine_boundary::FineBoundary;
use super::fine_outside::{Dressed, Outside};
use super::fine_points::{Corners, Name, Rim, Spot, middle_of};

/// Cracks are shaded as smooth up to this angle: its cosine (35 degrees).
const CREASE: f64 = 0.82;

/// A crack's polygon.
struct CrackPolygon {
    outline: Vec<Spot>,
    /// The sum of its triangles' normals, by area.
    normal: DVec3,
    middle: Option<DVec3>,
    /// Whether it is seen from behind.
    is_turned: bool,
}

impl FineBoundary {
    /// A living fragment in this surface.
    ///
    /// # Panics
    /// When the fragments are of another mesh, or the id is of no fragment.
    #[must_use]
    pub fn dress(&self, fragments: &Fragments, id: FragmentId) -> Dressed {
        let mesh = fragments.mesh();
        let owner = |n: u32| fragments.node_fragment()[n as usize];
        assert!(self.fits(mesh), "the surface is that of another mesh");
        let mut outside = Outside::default();
        let mut cracks: Vec<CrackPolygon> = Vec::new();
        let mut rims: Vec<Rim> = Vec::new();
        fragments.for_each_surface_tet_of(id, |tet, local| {
            let cut = fragments.cut(tet);
            let piece = TetPart::of(cut, local);
            let corners = Corners {
                fine: self,
                tet,
                nodes: mesh.tets()[tet as usize],
                across: mesh.neighbours()[tet as usize],
                points: CornerPoints::new(mesh, tet, cut),
            };
            rims.clear();
            for polygon in piece.polygons() {
                if let Side::Face(side) = polygon.side
                    && corners.across[side as usize] == NONE
                    && let Some(face) = self.face(tet, side)
                {
                    if polygon.corners().iter().all(|c| c.count_ones() == 1) {
                        outside.add_whole(self, face);
                    } else {
                        let [a, b, c] = TET_FACES[side as usize].map(|i| owner(corners.nodes[i]));
                        let is_parted = a != b && b != c && c != a;
                        let cut = CutFace::new(&corners, side, face, polygon.corners(), is_parted);
                        cut.clip(&mut outside, &mut rims);
                    }
                }
            }
            for polygon in piece.polygons() {
                if let (Side::Plane(k), Some(cut)) = (polygon.side, cut) {
                    let owners = corners.nodes.map(owner);
                    for (_, cell) in polygon.cells(cut, k, local, &owners) {
                        let is_turned = signs(&cut.planes()[k as usize])[1] & (1 << local) != 0;
                        let cell = cell_corners(&cell, &owners, is_turned);
                        cracks.push(crack(&corners, &cell, &rims, is_turned));
                    }
                }
            }
        });
        let mut dressed = outside.dressed;
        dressed.outer_triangles = dressed.triangles.len();
        add_cracks(&mut dressed, &cracks);
        dressed
    }
}

/// A cell of a crack, with the chains of the faces in place of its sides.
fn crack(at: &Corners<'_>, corners: &[Corner], rims: &[Rim], is_turned: bool) -> CrackPolygon {
    let mut outline = Vec::with_capacity(corners.len());
    let mut straight = true;
    for (i, &corner) in corners.iter().enumerate() {
        outline.push(at.spot(corner));
        let next = corners[(i + 1) % corners.len()];
        for rim in rims {
            let ends = (rim.from, rim.to);
            if ends == (next, corner) {
                outline.extend(rim.between.iter().rev());
            } else if ends == (corner, next) {
                outline.extend(&rim.between);
            } else {
                continue;
            }
            straight &= rim.between.is_empty();
        }
    }
    let middle = (!straight).then(|| middle_of(&outline));
    let origin = middle.unwrap_or(outline[0].at.position);
    let mut normal = DVec3::ZERO;
    for i in 0..outline.len() {
        let next = (i + 1) % outline.len();
        let [a, b] = [i, next].map(|k| outline[k].at.position - origin);
        normal += a.cross(b);
    }
    CrackPolygon {
        outline,
        normal: if is_turned { -normal } else { normal },
        middle,
        is_turned,
    }
}

fn add_cracks(dressed: &mut Dressed, cracks: &[CrackPolygon]) {
    let mut around: HashMap<Name, Vec<u32>> = HashMap::new();
    let units: Vec<DVec3> = cracks
        .iter()
        .map(|crack| crack.normal.normalize_or_zero())
        .collect();
    for (i, crack) in cracks.iter().enumerate() {
        for spot in &crack.outline {
            around.entry(spot.name).or_default().push(i as u32);
        }
    }
    for (i, crack) in cracks.iter().enumerate() {
        let first = dressed.positions.len() as u32;
        for spot in &crack.outline {
            let sum: DVec3 = around[&spot.name]
                .iter()
                .map(|&other| other as usize)
                .filter(|&other| units[other].dot(units[i]) >= CREASE)
                .map(|other| cracks[other].normal)
                .sum();
            dressed.positions.push(spot.at.position.as_vec3());
            let normal = sum.normalize_or(units[i].try_normalize().unwrap_or(DVec3::Y));
            dressed.normals.push(normal.as_vec3());
        }
        let count = crack.outline.len() as u32;
        let turn = |[a, b, c]: [u32; 3]| match crack.is_turned {
            true => [a, c, b],
            false => [a, b, c],
        };
        if let Some(middle) = crack.middle {
            dressed.positions.push(middle.as_vec3());
            let normal = units[i].try_normalize().unwrap_or(DVec3::Y);
            dressed.normals.push(normal.as_vec3());
            let fan = (0..count).map(|k| [first + count, first + k, first + (k + 1) % count]);
            dressed.triangles.extend(fan.map(turn));
        } else {
            let fan = (2..count).map(|k| [first, first + k - 1, first + k]);
            dressed.triangles.extend(fan.map(turn));
        }
    }
}
