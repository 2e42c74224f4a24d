//! The convex pieces into which cracks have cut one tetrahedron: corners, polygons
//! and exact positions.
//!
//! Where a corner can be is known before any number is: the corner lies inside
//! exactly one simplex of the mesh (a node, an edge, a triangle or the tetrahedron)
//! whose nodes have all been parted from one another, and each such simplex holds
//! one corner at most. So a corner **is** the set of local nodes of its simplex, a
//! [`Corner`] bit mask, and:
//! - which side of a plane a corner of a part's piece is on follows from the sign
//!   at the one node of the part that the mask holds: clipping needs no arithmetic
//!   and cannot go wrong by rounding;
//! - a plane meets the side between two corners in the corner `a | b`;
//! - all tetrahedra around the simplex compute the same position bit for bit,
//!   because only the simplex' own levels and nodes enter, in the order of the
//!   nodes' indices.
//!
//! Steps of [`TetPart::of`]: the four faces -> for each plane of the node's part, cut
//! every polygon, keep the node's side, close with a cap -> polygons, outward.
//!
//! Source: Glondu 2013, section 4.1 ("exact local representations of those crack
//! surfaces"); the levels with zero extension are explained in [`crate::crack`].
//!
//! **Guarantee**: the pieces of a tetrahedron partition it. The union of a
//! fragment's pieces is closed once polygons on faces shared by two of its pieces
//! are left out, whatever the rounding of positions.

use std::sync::LazyLock;

use glam::{DVec3, Vec3};

use crate::fragment::{FragmentId, TetCut};
use crate::tet_mesh::{TET_FACES, TetMesh};

/// A corner of a piece: the set of local nodes (bits 0 to 3) of the simplex it lies in.
pub type Corner = u8;

/// What a polygon of a piece lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The face of the tetrahedron opposite this local node.
    Face(u8),
    /// The crack plane with this index.
    Plane(u8),
}

/// A convex polygon of a piece, counter-clockwise seen from outside the piece.
#[derive(Clone, Copy, Debug)]
pub struct Polygon {
    corners: [Corner; 6],
    count: u8,
    /// What it lies on.
    pub side: Side,
}

impl Polygon {
    /// Its corners, in order.
    #[must_use]
    #[inline]
    pub fn corners(&self) -> &[Corner] {
        &self.corners[..self.count as usize]
    }

    fn new(side: Side) -> Self {
        Self {
            corners: [0; 6],
            count: 0,
            side,
        }
    }

    fn push(&mut self, corner: Corner) {
        self.corners[self.count as usize] = corner;
        self.count += 1;
    }

    /// Of a polygon on crack plane `k` of a piece: what touches the piece that holds local
    /// node `beyond`, on the plane's other side. Planes that part what is beyond do not part
    /// this piece; but so both pieces have the same polygon.
    fn touching(&self, cut: &TetCut, k: u8, beyond: usize) -> Option<Self> {
        self.within(&cut.planes()[k as usize + 1..], beyond)
    }

    /// Of a polygon on crack plane `k` of the piece that holds `local`: its parts that touch
    /// each fragment beyond, with a local node of that one. `owners`: of the local nodes.
    pub fn cells(
        &self,
        cut: &TetCut,
        k: u8,
        local: usize,
        owners: &[FragmentId; 4],
    ) -> Vec<(usize, Self)> {
        let [positive, negative] = signs(&cut.planes()[k as usize]);
        let is_turned = negative & (1 << local) != 0;
        let beyond = if is_turned { positive } else { negative };
        let is_beyond = |i: &usize| beyond & (1 << i) != 0;
        let is_first = |i: &usize| !(0..*i).any(|j| is_beyond(&j) && owners[j] == owners[*i]);
        let others = (0..4).filter(is_beyond).filter(is_first);
        others
            .filter_map(|other| Some((other, self.touching(cut, k, other)?)))
            .collect()
    }

    /// What later planes leave of it on the side of a local node; planes that do not bound
    /// that node's piece are passed over.
    fn within(self, planes: &[[f32; 4]], local: usize) -> Option<Self> {
        let mut polygon = self;
        for plane in planes {
            let Some(nodes) = sides_from(plane, local) else {
                continue;
            };
            match polygon.clip(nodes) {
                Clipped::Whole => {}
                Clipped::Nothing => return None,
                Clipped::Part(left, _) => polygon = left,
            }
        }
        Some(polygon)
    }

    /// Keeps the side of a plane on which the nodes `kept` are.
    fn clip(&self, [kept, other]: [u8; 2]) -> Clipped {
        // A corner of a part's piece holds nodes of one side of the part only.
        let keeps = |corner: Corner| {
            debug_assert!((corner & kept != 0) != (corner & other != 0));
            corner & kept != 0
        };
        let corners = self.corners();
        let within = corners.iter().filter(|&&corner| keeps(corner)).count();
        if within == corners.len() {
            return Clipped::Whole;
        }
        if within == 0 {
            return Clipped::Nothing;
        }
        let mut left = Self::new(self.side);
        let (mut leaves, mut returns) = (0, 0);
        let mut a = corners[corners.len() - 1];
        let mut in_a = keeps(a);
        for &b in corners {
            let in_b = keeps(b);
            if in_a != in_b {
                left.push(a | b);
                *(if in_a { &mut leaves } else { &mut returns }) = a | b;
            }
            if in_b {
                left.push(b);
            }
            (a, in_a) = (b, in_b);
        }
        Clipped::Part(left, [returns, leaves])
    }
}

/// What a plane leaves of a polygon.
enum Clipped {
    Whole,
    Nothing,
    /// And the corners where the polygon comes back to the kept side, and where it leaves it.
    Part(Polygon, [Corner; 2]),
}

/// The local nodes with positive, and those with negative levels.
#[inline]
pub fn signs(plane: &[f32; 4]) -> [u8; 2] {
    let mut masks = [0, 0];
    for (i, &level) in plane.iter().enumerate() {
        masks[0] |= u8::from(level > 0.0) << i;
        masks[1] |= u8::from(level < 0.0) << i;
    }
    masks
}

/// The nodes on the side of a plane on which a local node is, and those on the other;
/// `None` where the plane split another part.
fn sides_from(plane: &[f32; 4], local: usize) -> Option<[u8; 2]> {
    let [positive, negative] = signs(plane);
    let own = 1 << local;
    if positive & own != 0 {
        Some([positive, negative])
    } else if negative & own != 0 {
        Some([negative, positive])
    } else {
        None
    }
}

/// The convex piece of a tetrahedron that holds one local node (and all local
/// nodes of the same fragment).
#[derive(Clone, Copy, Debug)]
pub struct TetPart {
    polygons: [Polygon; 7],
    count: u8,
}

/// The pieces of tetrahedra without a cut, and with one plane, by the mask of the nodes
/// that they hold: most pieces are of these, and have the same corners.
static SIMPLE: LazyLock<[TetPart; 16]> = LazyLock::new(|| {
    std::array::from_fn(|mask| {
        let mut piece = TetPart::whole();
        if (1..15).contains(&mask) {
            piece.clip(0, [mask as u8, !mask as u8 & 0b1111]);
        }
        piece
    })
});

impl TetPart {
    /// The piece that holds local node `local`. With no cut: the whole tetrahedron.
    #[must_use]
    #[inline]
    pub fn of(cut: Option<&TetCut>, local: usize) -> Self {
        Self::within(cut.map_or(&[][..], TetCut::planes), local)
    }

    /// The piece that holds local node `local` when only these planes have cut.
    fn within(planes: &[[f32; 4]], local: usize) -> Self {
        if let [plane] = planes
            && let Some([kept, _]) = sides_from(plane, local)
        {
            return SIMPLE[kept as usize];
        }
        let mut piece = SIMPLE[0b1111];
        for (k, plane) in planes.iter().enumerate() {
            if let Some(nodes) = sides_from(plane, local) {
                piece.clip(k as u8, nodes);
            }
        }
        piece
    }

    /// The polygon on one side of the piece that holds local node `local`, without the
    /// others where they are not needed for it; `None` where nothing is left there.
    pub fn polygon(cut: &TetCut, local: usize, side: Side) -> Option<Polygon> {
        let planes = cut.planes();
        let (polygon, later) = match side {
            Side::Face(k) => (SIMPLE[0b1111].polygons[k as usize], planes),
            Side::Plane(k) => {
                let (until, later) = planes.split_at(k as usize + 1);
                // A plane that parts the piece has closed it last.
                sides_from(until.last()?, local)?;
                (*Self::within(until, local).polygons().last()?, later)
            }
        };
        polygon.within(later, local)
    }

    /// The piece of a tetrahedron with one plane that holds the nodes of a mask.
    #[must_use]
    #[inline]
    pub fn of_one_plane(kept: u8) -> &'static Self {
        &SIMPLE[kept as usize]
    }

    fn whole() -> Self {
        let mut piece = Self {
            polygons: [Polygon::new(Side::Face(0)); 7],
            count: 4,
        };
        for (k, face) in TET_FACES.iter().enumerate() {
            let polygon = &mut piece.polygons[k];
            polygon.side = Side::Face(k as u8);
            for &i in face {
                polygon.push(1 << i);
            }
        }
        piece
    }

    /// The polygons that bound it.
    #[must_use]
    #[inline]
    pub fn polygons(&self) -> &[Polygon] {
        &self.polygons[..self.count as usize]
    }

    /// Keeps the side of plane `index` on which the first of two sets of nodes is.
    fn clip(&mut self, index: u8, nodes: [u8; 2]) {
        // Sides of the cap, each from the corner where a polygon comes back to the
        // kept side to the one where it left it: reversed, as seen from outside.
        let mut cap_sides = [[0, 0]; 7];
        let mut sides = 0;
        let mut kept = 0;
        for k in 0..self.count as usize {
            let left = match self.polygons[k].clip(nodes) {
                Clipped::Nothing => continue,
                Clipped::Whole => self.polygons[k],
                Clipped::Part(left, side) => {
                    cap_sides[sides] = side;
                    sides += 1;
                    left
                }
            };
            self.polygons[kept] = left;
            kept += 1;
        }
        let mut cap = Polygon::new(Side::Plane(index));
        let mut at = cap_sides[0][0];
        for _ in 0..sides {
            cap.push(at);
            let next = cap_sides[..sides].iter().find(|side| side[0] == at);
            debug_assert!(next.is_some(), "the sides of a cap close");
            at = next.map_or(at, |side| side[1]);
        }
        self.polygons[kept] = cap;
        self.count = kept as u8 + 1;
    }
}

/// Positions of the corners of one tetrahedron.
#[derive(Clone, Debug)]
pub struct CornerPoints<'a> {
    planes: &'a [[f32; 4]],
    /// Per plane, the nodes with positive and with negative levels.
    signs: [[u8; 2]; 3],
    nodes: [u32; 4],
    positions: [Vec3; 4],
    /// Local nodes in the order of their index.
    order: [u8; 4],
}

impl<'a> CornerPoints<'a> {
    /// For the corners of `tet`, cut as `cut` says.
    pub fn new(mesh: &TetMesh, tet: u32, cut: Option<&'a TetCut>) -> Self {
        let nodes = mesh.tets()[tet as usize];
        let mut order = [0, 1, 2, 3_u8];
        for (i, j) in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)] {
            if nodes[order[i] as usize] > nodes[order[j] as usize] {
                order.swap(i, j);
            }
        }
        let planes = cut.map_or(&[][..], TetCut::planes);
        let mut masks = [[0; 2]; 3];
        for (mask, plane) in masks.iter_mut().zip(planes) {
            *mask = signs(plane);
        }
        Self {
            planes,
            signs: masks,
            nodes,
            positions: mesh.corners(tet),
            order,
        }
    }

    /// The nodes of a corner's simplex in the order of their index: its name in
    /// the whole mesh.
    #[inline]
    pub fn name(&self, corner: Corner) -> [u32; 4] {
        let mut name = [crate::tet_mesh::NONE; 4];
        let members = self.order.iter().filter(|&&i| corner & (1 << i) != 0);
        for (slot, &i) in name.iter_mut().zip(members) {
            *slot = self.nodes[i as usize];
        }
        name
    }

    /// Barycentric coordinates of a corner with respect to the local nodes.
    pub fn weights(&self, corner: Corner) -> [f64; 4] {
        let mut weights = [0.0; 4];
        if corner.count_ones() == 1 {
            weights[corner.trailing_zeros() as usize] = 1.0;
            return weights;
        }
        // The first plane that parts the simplex' nodes found them all in one
        // part. It cuts the segment between the corners of its two sides.
        let parts = |mask: &[u8; 2]| corner & mask[0] != 0 && corner & mask[1] != 0;
        let Some(k) = self.signs.iter().position(parts) else {
            debug_assert!(false, "a corner's nodes are parted");
            return weights;
        };
        let plane = &self.planes[k];
        let first = self.order.iter().find(|&&i| corner & (1 << i) != 0);
        let first = first.map_or(0, |&i| 1 << i);
        let side = if first & self.signs[k][0] != 0 { 0 } else { 1 };
        let low = corner & self.signs[k][side];
        if corner.count_ones() == 2 {
            let [i, j] = [low, corner & !low].map(|m| m.trailing_zeros() as usize);
            let (s_low, s_high) = (f64::from(plane[i]), f64::from(plane[j]));
            let t = s_low / (s_low - s_high);
            (weights[i], weights[j]) = (1.0 - t, t);
            return weights;
        }
        let (low_weights, high_weights) = (self.weights(low), self.weights(corner & !low));
        let level = |weights: &[f64; 4]| {
            self.order
                .iter()
                .filter(|&&i| corner & (1 << i) != 0)
                .map(|&i| weights[i as usize] * f64::from(plane[i as usize]))
                .fold(0.0, |sum, term| sum + term)
        };
        let (s_low, s_high) = (level(&low_weights), level(&high_weights));
        let t = s_low / (s_low - s_high);
        for i in 0..4 {
            weights[i] = low_weights[i] * (1.0 - t) + high_weights[i] * t;
        }
        weights
    }

    /// Where a corner is that cuts an edge: most are such. As [`Self::weights`] says.
    fn on_edge(&self, corner: Corner) -> DVec3 {
        let mut low = corner.trailing_zeros() as usize;
        let mut high = (corner & (corner - 1)).trailing_zeros() as usize;
        if self.nodes[low] > self.nodes[high] {
            (low, high) = (high, low);
        }
        let parts = |mask: &[u8; 2]| corner & mask[0] != 0 && corner & mask[1] != 0;
        let origin = self.positions[low].as_dvec3();
        let Some(k) = self.signs.iter().position(parts) else {
            debug_assert!(false, "a corner's nodes are parted");
            return origin;
        };
        let [s_low, s_high] = [low, high].map(|i| f64::from(self.planes[k][i]));
        let t = s_low / (s_low - s_high);
        origin + (self.positions[high].as_dvec3() - origin) * t
    }

    /// Where a corner is.
    #[inline]
    pub fn at(&self, corner: Corner) -> DVec3 {
        if corner.count_ones() == 2 {
            return self.on_edge(corner);
        }
        let mut members = self.order.iter().filter(|&&i| corner & (1 << i) != 0);
        let first = members.next().map_or(0, |&i| i as usize);
        let origin = self.positions[first].as_dvec3();
        if corner.count_ones() == 1 {
            return origin;
        }
        let weights = self.weights(corner);
        members.fold(origin, |point, &i| {
            point + (self.positions[i as usize].as_dvec3() - origin) * weights[i as usize]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Rng;

    #[test]
    fn one_polygon_is_that_of_the_whole_piece_and_corners_on_edges_have_the_same_bits() {
        let mut rng = Rng(3);
        for trial in 0..2000 {
            let corners = std::array::from_fn::<_, 4, _>(|i| {
                let random = std::array::from_fn(|_| rng.range(-0.2, 0.2));
                [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z][i] + Vec3::from_array(random)
            });
            let mesh = TetMesh::build(corners.to_vec(), vec![[0, 1, 2, 3]]).unwrap();
            let cut = random_cut(&mut rng, trial % 4);
            let points = CornerPoints::new(&mesh, 0, Some(&cut));
            for local in 0..4 {
                let piece = TetPart::of(Some(&cut), local);
                let sides = (0..4)
                    .map(Side::Face)
                    .chain((0..trial % 4).map(|k| Side::Plane(k as u8)));
                for side in sides {
                    let whole = piece.polygons().iter().find(|polygon| polygon.side == side);
                    let alone = TetPart::polygon(&cut, local, side);
                    assert_eq!(
                        alone.as_ref().map(Polygon::corners),
                        whole.map(Polygon::corners),
                        "{side:?} of node {local} in {cut:?}"
                    );
                }
                for &corner in piece.polygons().iter().flat_map(Polygon::corners) {
                    let weights = points.weights(corner);
                    let mut members = points.order.iter().filter(|&&i| corner & (1 << i) != 0);
                    let origin = points.positions[*members.next().unwrap() as usize].as_dvec3();
                    let by_weights = members.fold(origin, |point, &i| {
                        point
                            + (points.positions[i as usize].as_dvec3() - origin)
                                * weights[i as usize]
                    });
                    assert_eq!(points.at(corner), by_weights, "{corner:#b}");
                }
            }
        }
    }

    fn unit_tet() -> TetMesh {
        let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        TetMesh::build(corners, vec![[0, 1, 2, 3]]).unwrap()
    }

    fn volume(piece: &TetPart, points: &CornerPoints) -> f64 {
        let mut sum = 0.0;
        for polygon in piece.polygons() {
            let [a, rest @ ..] = polygon.corners() else {
                panic!("an empty polygon")
            };
            for pair in rest.windows(2) {
                let [b, c] = [pair[0], pair[1]].map(|k| points.at(k));
                sum += points.at(*a).dot(b.cross(c)) / 6.0;
            }
        }
        sum
    }

    /// All orders in which three splits can part four nodes.
    fn random_cut(rng: &mut Rng, planes: usize) -> TetCut {
        let mut cut = TetCut::default();
        let mut labels = [0_usize; 4];
        for k in 0..planes {
            let splittable: Vec<usize> = (0..4)
                .filter(|&i| labels.iter().filter(|&&l| l == labels[i]).count() > 1)
                .collect();
            let part = labels[splittable[rng.below(splittable.len())]];
            let members: Vec<usize> = (0..4).filter(|&i| labels[i] == part).collect();
            let mut plane = [0.0; 4];
            for (at, &i) in members.iter().enumerate() {
                let positive = at == 0 || (at + 1 < members.len() && rng.unit() < 0.5);
                plane[i] = rng.range(0.05, 1.0) * if positive { 1.0 } else { -1.0 };
                if positive {
                    labels[i] = k + 1;
                }
            }
            cut.push(plane);
        }
        cut
    }

    #[test]
    fn pieces_partition_the_tetrahedron_and_are_closed() {
        let mesh = unit_tet();
        let mut rng = Rng(11);
        for trial in 0..600 {
            let cut = random_cut(&mut rng, trial % 4);
            let points = CornerPoints::new(&mesh, 0, Some(&cut));
            let mut total = 0.0;
            let mut seen = 0_u8;
            for local in 0..4 {
                if seen & (1 << local) != 0 {
                    continue;
                }
                for other in 0..4 {
                    if other == local || cut.separator(local, other).is_none() {
                        seen |= 1 << other;
                    }
                }
                let piece = TetPart::of(Some(&cut), local);
                let mut open: Vec<(Corner, Corner)> = Vec::new();
                for polygon in piece.polygons() {
                    let corners = polygon.corners();
                    assert!(corners.len() >= 3);
                    for (i, &a) in corners.iter().enumerate() {
                        let b = corners[(i + 1) % corners.len()];
                        match open.iter().position(|&side| side == (b, a)) {
                            Some(at) => {
                                open.swap_remove(at);
                            }
                            None => open.push((a, b)),
                        }
                    }
                }
                assert!(open.is_empty(), "the piece of node {local} is closed");
                let part = volume(&piece, &points);
                assert!(part > 0.0, "outward");
                total += part;
            }
            assert!((total - 1.0 / 6.0).abs() < 1e-14, "{total} of 1/6");
        }
    }

    #[test]
    fn every_corner_lies_on_the_planes_that_meet_there() {
        let mesh = unit_tet();
        let mut rng = Rng(5);
        for _ in 0..200 {
            let cut = random_cut(&mut rng, 3);
            let points = CornerPoints::new(&mesh, 0, Some(&cut));
            for local in 0..4 {
                for polygon in TetPart::of(Some(&cut), local).polygons() {
                    let Side::Plane(k) = polygon.side else {
                        continue;
                    };
                    for &corner in polygon.corners() {
                        let weights = points.weights(corner);
                        let level: f64 = (0..4)
                            .map(|i| weights[i] * f64::from(cut.planes()[k as usize][i]))
                            .sum();
                        assert!(level.abs() < 1e-12, "level {level} at corner {corner:#b}");
                    }
                }
            }
        }
    }
}
