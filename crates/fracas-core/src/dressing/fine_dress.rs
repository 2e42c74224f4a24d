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

use glam::{DVec2, DVec3, Vec3};

use crate::fragment::{FragmentId, Fragments};
use crate::tet_mesh::{NONE, TET_FACES};
use crate::tet_part::{Corner, CornerPoints, Side, TetPart, signs};

use super::crack_cells::cell_corners;
use super::fine_boundary::{FineBoundary, FinePoint, grid_index, grid_size, grid_triangles};

/// Cracks are shaded as smooth up to this angle: its cosine (35 degrees).
const CREASE: f64 = 0.82;

/// A fragment as it is drawn, in the object's frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dressed {
    /// Where its vertices are. Vertices at one place have the same bits.
    pub positions: Vec<Vec3>,
    /// Normals for each vertex.
    pub normals: Vec<Vec3>,
    /// Its triangles, cracks last.
    pub triangles: Vec<[u32; 3]>,
    /// How many of them are the outside.
    pub outer_triangles: usize,
}

/// What a point is, the same for all that share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Name {
    /// A vertex of the fine surface.
    Fine(u32),
    /// A corner of the cut mesh, by the nodes of its simplex.
    Cut([u32; 4]),
    /// Where a side of a cut polygon crosses a small side: face, small side, side.
    Crossing(u32, u32, u8),
    /// The middle of a face that could not be clipped.
    Middle(u32),
}

/// A named point.
#[derive(Clone, Copy, Debug)]
struct Spot {
    name: Name,
    at: FinePoint,
}

/// A crack's polygon.
struct CrackPolygon {
    outline: Vec<Spot>,
    /// The sum of its triangles' normals, by area.
    normal: DVec3,
    middle: Option<DVec3>,
    /// Whether it is seen from behind.
    is_turned: bool,
}

/// Points between the two corners of a side that a crack left in a face.
struct Rim {
    from: Corner,
    to: Corner,
    between: Vec<Spot>,
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
                        cracks.push(corners.crack(&cell, &rims, is_turned));
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

/// The outside as it grows.
#[derive(Default)]
struct Outside {
    dressed: Dressed,
    /// Vertices by their name, and by the part of the surface whose normal they have.
    known: HashMap<(Name, u32), u32>,
}

impl Outside {
    fn vertex(&mut self, spot: &Spot, part: u32) -> u32 {
        let dressed = &mut self.dressed;
        *self.known.entry((spot.name, part)).or_insert_with(|| {
            dressed.positions.push(spot.at.position.as_vec3());
            dressed.normals.push(spot.at.normal);
            dressed.positions.len() as u32 - 1
        })
    }

    fn add_whole(&mut self, fine: &FineBoundary, face: usize) {
        let (vertices, normals) = fine.grid(face);
        let part = fine.part(face);
        for triangle in grid_triangles(fine.divisions) {
            let triangle = triangle.map(|[i, j]| {
                let k = grid_index(fine.divisions, i, j);
                let spot = Spot {
                    name: Name::Fine(vertices[k]),
                    at: FinePoint {
                        position: fine.points[vertices[k] as usize],
                        normal: normals[k],
                    },
                };
                self.vertex(&spot, part)
            });
            self.dressed.triangles.push(triangle);
        }
    }

    /// A convex polygon as a fan.
    fn add_fan(&mut self, outline: &[Spot], part: u32) {
        let Some((first, rest)) = outline.split_first() else {
            return;
        };
        let first = self.vertex(first, part);
        for pair in rest.windows(2) {
            let [a, b] = [0, 1].map(|i| self.vertex(&pair[i], part));
            self.dressed.triangles.push([first, a, b]);
        }
    }
}

/// The corners of a cut tetrahedron on the fine surface.
struct Corners<'a> {
    fine: &'a FineBoundary,
    tet: u32,
    nodes: [u32; 4],
    across: [u32; 4],
    points: CornerPoints<'a>,
}

impl Corners<'_> {
    /// Where a corner of a cut is: on the fine surface, if it is on the boundary.
    fn spot(&self, corner: Corner) -> Spot {
        let name = Name::Cut(self.points.name(corner));
        let position = self.place(corner);
        let normal = Vec3::ZERO;
        Spot {
            name,
            at: FinePoint { position, normal },
        }
    }

    fn place(&self, corner: Corner) -> DVec3 {
        if let Some((edge, steps)) = self.on_edge(corner) {
            return self.fine.along_edge(edge, steps);
        }
        let weights = self.points.weights(corner);
        if corner.count_ones() == 3 {
            let side = (!corner & 0b1111).trailing_zeros() as u8;
            if self.across[side as usize] == NONE
                && let Some(face) = self.fine.face(self.tet, side)
            {
                let at = self.in_grid(side, &weights);
                return self.fine.in_face(face, at).position;
            }
        }
        // In the order of the nodes, as all tetrahedra around do it.
        let mut order = [0, 1, 2, 3];
        order.sort_unstable_by_key(|&i| self.nodes[i]);
        order.iter().fold(DVec3::ZERO, |sum, &i| {
            sum + self.fine.nodes[self.nodes[i] as usize] * weights[i]
        })
    }

    /// The edge of the boundary on which a corner lies, and how many steps from its lower
    /// node.
    fn on_edge(&self, corner: Corner) -> Option<(u32, f64)> {
        if corner.count_ones() != 2 {
            return None;
        }
        let first = corner.trailing_zeros() as usize;
        let second = (corner & !(1 << first)).trailing_zeros() as usize;
        let [a, b] = [self.nodes[first], self.nodes[second]];
        let high = if a > b { first } else { second };
        let edge = self.fine.edge(a, b)?;
        let steps = self.points.weights(corner)[high] * self.fine.divisions as f64;
        Some((edge, steps))
    }

    /// Weights in the tetrahedron as steps in the grid of a face.
    fn in_grid(&self, side: u8, weights: &[f64; 4]) -> DVec2 {
        let [_, b, c] = TET_FACES[side as usize];
        DVec2::new(weights[b], weights[c]) * self.fine.divisions as f64
    }

    /// A cell of a crack, with the chains of the faces in place of its sides.
    fn crack(&self, corners: &[Corner], rims: &[Rim], is_turned: bool) -> CrackPolygon {
        let mut outline = Vec::with_capacity(corners.len());
        let mut straight = true;
        for (i, &corner) in corners.iter().enumerate() {
            outline.push(self.spot(corner));
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
}

/// The middle of an outline, long sides counting more: points that lie close together
/// do not draw it to them.
fn middle_of(outline: &[Spot]) -> DVec3 {
    let (mut sum, mut length) = (DVec3::ZERO, 0.0);
    for i in 0..outline.len() {
        let [a, b] = [i, (i + 1) % outline.len()].map(|k| outline[k].at.position);
        let side = a.distance(b);
        sum += (a + b) * (0.5 * side);
        length += side;
    }
    if length > 0.0 {
        sum / length
    } else {
        outline[0].at.position
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

/// A point while small triangles are clipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    /// Of the grid.
    Grid(u16),
    /// On the small side between two points of the grid (lower first), at a crack side.
    Crossing(u16, u16, u8),
    /// A corner of the fragment's polygon.
    Corner(u8),
    /// Where the crack side is divided.
    Divider,
}

/// What the way from a point to the next one lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carrier {
    /// A small side, lower point first.
    Small(u16, u16),
    /// A side that a crack made.
    Crack(u8),
}

/// A corner of the fragment's polygon in a face.
struct FaceCorner {
    corner: Corner,
    spot: Spot,
    at: DVec2,
    /// For a cut of an edge: which edge of the face (that opposite to its node of this
    /// number), steps from the edge's lower node, and whether the fragment is there.
    on_edge: Option<(usize, f64, bool)>,
}

/// A face of the boundary of which the fragment has a part only.
struct CutFace<'a> {
    fine: &'a FineBoundary,
    face: usize,
    /// Nodes of the face in the mesh.
    nodes: [u32; 3],
    corners: Vec<FaceCorner>,
    /// Sides of the polygon that cracks made, by the numbers of their corners.
    sides: Vec<[u8; 2]>,
    /// For each side, whether each point of the grid is on the fragment's side of it.
    keeps: Vec<Vec<bool>>,
    /// Where another crack ends at the first side, on the side that is not the fragment's.
    divider: Option<FaceCorner>,
}

impl<'a> CutFace<'a> {
    /// `is_parted`: the nodes of the face are of three fragments, which meet in one corner.
    fn new(at: &Corners<'a>, side: u8, face: usize, polygon: &[Corner], is_parted: bool) -> Self {
        let fine = at.fine;
        let local = TET_FACES[side as usize];
        let nodes = local.map(|k| at.nodes[k]);
        let corner_at = |corner: Corner| {
            let mut spot = at.spot(corner);
            let place = at.in_grid(side, &at.points.weights(corner));
            spot.at.normal = fine.in_face(face, place).normal;
            if corner.count_ones() == 1 {
                let node = nodes[local.iter().position(|k| corner == 1 << k).unwrap_or(0)];
                spot.name = Name::Fine(fine.vertex_of_node(node));
            }
            let on_edge = at.on_edge(corner).map(|(_, steps)| {
                let opposite = local.iter().position(|&k| corner & (1 << k) == 0);
                let opposite = opposite.unwrap_or(0);
                let [a, b] = [(opposite + 1) % 3, (opposite + 2) % 3];
                let low = if nodes[a] < nodes[b] { a } else { b };
                let has_low = polygon.contains(&(1 << local[low]));
                (opposite, steps, has_low)
            });
            FaceCorner {
                corner,
                spot,
                at: place,
                on_edge,
            }
        };
        let corners: Vec<FaceCorner> = polygon.iter().map(|&c| corner_at(c)).collect();
        let meeting = 0b1111 & !(1 << side);
        let divides = is_parted && !polygon.contains(&meeting);
        let count = polygon.len();
        let sides: Vec<[u8; 2]> = (0..count)
            .map(|i| [i, (i + 1) % count])
            // Both on one edge of the face: no crack.
            .filter(|&[i, j]| (polygon[i] | polygon[j]).count_ones() == 3)
            .map(|pair| pair.map(|i| i as u8))
            .collect();
        let mut cut = Self {
            fine,
            face,
            nodes,
            corners,
            sides,
            keeps: Vec::new(),
            divider: divides.then(|| corner_at(meeting)),
        };
        cut.keeps = (0..cut.sides.len()).map(|s| cut.kept_by(s)).collect();
        cut
    }

    /// Which points of the grid are on the fragment's side of a crack side. On edges of
    /// the face the number of steps decides, as it does in the face across the edge.
    fn kept_by(&self, side: usize) -> Vec<bool> {
        let n = self.fine.divisions;
        let mut keeps = Vec::with_capacity(grid_size(n));
        for j in 0..=n {
            for i in 0..=n - j {
                let steps = [n - i - j, i, j];
                let mut kept = self.beyond(side, DVec2::new(i as f64, j as f64)) >= 0.0;
                for edge in (0..3).filter(|&k| steps[k] == 0) {
                    match self.holds_on_edge(edge, steps) {
                        (true, _) => kept = true,
                        (false, Some(corner)) if self.sides[side].contains(&corner) => {
                            kept = false;
                        }
                        _ => {}
                    }
                }
                keeps.push(kept);
            }
        }
        keeps
    }

    /// Whether a point of the grid on an edge of the face is the fragment's, and the
    /// corner of its polygon on that edge.
    fn holds_on_edge(&self, edge: usize, steps: [usize; 3]) -> (bool, Option<u8>) {
        let [a, b] = [(edge + 1) % 3, (edge + 2) % 3];
        let high = if self.nodes[a] > self.nodes[b] { a } else { b };
        let on_it = self.corners.iter().enumerate().find_map(|(i, corner)| {
            let (of, at, has_low) = corner.on_edge?;
            (of == edge).then_some((i as u8, at, has_low))
        });
        match on_it {
            Some((corner, at, has_low)) => {
                let below = steps[high] as f64 <= at;
                (below == has_low, Some(corner))
            }
            None => {
                let has = |k: usize| {
                    let vertex = self.fine.vertex_of_node(self.nodes[k]);
                    let mut corners = self.corners.iter();
                    corners.any(|c| c.spot.name == Name::Fine(vertex))
                };
                (has(a) && has(b), None)
            }
        }
    }

    /// How far a point is on the fragment's side of a crack side (times its length).
    fn beyond(&self, side: usize, at: DVec2) -> f64 {
        let [a, b] = self.sides[side].map(|c| &self.corners[c as usize]);
        // In one order, so that both sides of a crack compute the same.
        if a.corner < b.corner {
            (b.at - a.at).perp_dot(at - a.at)
        } else {
            -(a.at - b.at).perp_dot(at - b.at)
        }
    }

    fn grid_point(&self, index: u16) -> DVec2 {
        let n = self.fine.divisions;
        let (mut row, mut rest) = (0, index as usize);
        while rest > n - row {
            rest -= n + 1 - row;
            row += 1;
        }
        DVec2::new(rest as f64, row as f64)
    }

    /// Where on its small side a crossing is.
    fn share(&self, low: u16, high: u16, side: u8) -> f64 {
        let [a, b] = [low, high].map(|k| self.beyond(side as usize, self.grid_point(k)));
        let share = a / (a - b);
        if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.5
        }
    }

    fn keeps_point(&self, point: Point, side: usize) -> bool {
        match point {
            Point::Grid(k) => self.keeps[side][k as usize],
            Point::Crossing(low, high, other) => {
                let t = self.share(low, high, other);
                let at = self.grid_point(low).lerp(self.grid_point(high), t);
                self.beyond(side, at) >= 0.0
            }
            Point::Corner(_) | Point::Divider => true,
        }
    }

    /// Where in the grid a point is.
    fn in_grid(&self, point: Point) -> DVec2 {
        match point {
            Point::Grid(k) => self.grid_point(k),
            Point::Crossing(low, high, side) => {
                let t = self.share(low, high, side);
                self.grid_point(low).lerp(self.grid_point(high), t)
            }
            Point::Corner(c) => self.corners[c as usize].at,
            Point::Divider => self.divider.as_ref().map_or(DVec2::ZERO, |d| d.at),
        }
    }

    /// Puts the divider between two points of the first side's chain, and of the small
    /// polygon there.
    fn divide(&self, polygons: &mut [Vec<(Point, Carrier)>], chain: &mut Vec<Point>) {
        let [from, to] = self.sides[0].map(Point::Corner);
        let start = self.in_grid(from);
        let way = self.in_grid(to) - start;
        let along = |p: Point| (self.in_grid(p) - start).dot(way);
        let before = chain
            .iter()
            .take_while(|&&p| along(p) <= along(Point::Divider));
        let index = before.count();
        let last = index.checked_sub(1).map_or(from, |i| chain[i]);
        chain.insert(index, Point::Divider);
        for polygon in polygons {
            let found = polygon
                .iter()
                .position(|&at| at == (last, Carrier::Crack(0)));
            if let Some(i) = found {
                polygon.insert(i + 1, (Point::Divider, Carrier::Crack(0)));
                // It is on a straight side: the fan begins there, so that none is flat.
                polygon.rotate_left(i + 1);
            }
        }
    }

    /// The point at which a crack side meets the way along `carrier`.
    fn meeting(&self, carrier: Carrier, side: u8) -> Option<Point> {
        match carrier {
            Carrier::Small(low, high) => {
                let n = self.fine.divisions;
                let steps = [low, high].map(|k| {
                    let p = self.grid_point(k);
                    [n - p.x as usize - p.y as usize, p.x as usize, p.y as usize]
                });
                let edge = (0..3).find(|&k| steps[0][k] == 0 && steps[1][k] == 0);
                let corner = edge.and_then(|edge| {
                    let mut ends = self.sides[side as usize].into_iter();
                    ends.find(|&c| {
                        let on_edge = self.corners[c as usize].on_edge;
                        on_edge.is_some_and(|(of, ..)| of == edge)
                    })
                });
                Some(corner.map_or(Point::Crossing(low, high, side), Point::Corner))
            }
            Carrier::Crack(other) => {
                let ends = self.sides[other as usize];
                let mut own = self.sides[side as usize].into_iter();
                own.find(|c| ends.contains(c)).map(Point::Corner)
            }
        }
    }

    /// What of a small triangle is the fragment's.
    fn clipped(&self, triangle: [u16; 3]) -> Option<Vec<(Point, Carrier)>> {
        let mut polygon: Vec<(Point, Carrier)> = (0..3)
            .map(|k| {
                let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
                (Point::Grid(a), Carrier::Small(a.min(b), a.max(b)))
            })
            .collect();
        for side in 0..self.sides.len() {
            let kept: Vec<bool> = polygon
                .iter()
                .map(|&(point, _)| self.keeps_point(point, side))
                .collect();
            if kept.iter().all(|&k| k) {
                continue;
            }
            let mut left = Vec::with_capacity(polygon.len() + 1);
            for (i, &(point, carrier)) in polygon.iter().enumerate() {
                let next = (i + 1) % polygon.len();
                if kept[i] {
                    left.push((point, carrier));
                }
                if kept[i] != kept[next] {
                    let meeting = self.meeting(carrier, side as u8)?;
                    let onward = match kept[i] {
                        true => Carrier::Crack(side as u8),
                        false => carrier,
                    };
                    left.push((meeting, onward));
                }
            }
            polygon = left;
            if polygon.is_empty() {
                break;
            }
        }
        Some(polygon)
    }

    fn spot(&self, point: Point) -> Spot {
        let (vertices, normals) = self.fine.grid(self.face);
        match point {
            Point::Grid(k) => Spot {
                name: Name::Fine(vertices[k as usize]),
                at: FinePoint {
                    position: self.fine.points[vertices[k as usize] as usize],
                    normal: normals[k as usize],
                },
            },
            Point::Crossing(low, high, side) => {
                let t = self.share(low, high, side);
                let [a, b] = [low, high].map(|k| self.fine.points[vertices[k as usize] as usize]);
                let [u, v] = [low, high].map(|k| normals[k as usize]);
                let small = u32::from(low) * grid_size(self.fine.divisions) as u32;
                Spot {
                    name: Name::Crossing(self.face as u32, small + u32::from(high), side),
                    at: FinePoint {
                        position: a + (b - a) * t,
                        normal: u.lerp(v, t as f32).normalize_or(u),
                    },
                }
            }
            Point::Corner(c) => self.corners[c as usize].spot,
            Point::Divider => match &self.divider {
                Some(divider) => divider.spot,
                None => self.corners[0].spot,
            },
        }
    }

    /// Adds the fragment's part to the outside, and its sides to the rims.
    fn clip(&self, outside: &mut Outside, rims: &mut Vec<Rim>) {
        let part = self.fine.part(self.face);
        match self.parts() {
            Some((polygons, chains)) => {
                for polygon in &polygons {
                    let outline: Vec<Spot> = polygon.iter().map(|p| self.spot(p.0)).collect();
                    outside.add_fan(&outline, part);
                }
                for (side, chain) in self.sides.iter().zip(chains) {
                    let [mut from, to] = side.map(|c| self.corners[c as usize].corner);
                    let mut between = Vec::with_capacity(chain.len());
                    for point in chain {
                        match (point, &self.divider) {
                            (Point::Divider, Some(divider)) => {
                                let between = std::mem::take(&mut between);
                                let to = divider.corner;
                                rims.push(Rim { from, to, between });
                                from = to;
                            }
                            _ => between.push(self.spot(point)),
                        }
                    }
                    rims.push(Rim { from, to, between });
                }
            }
            None => self.add_flat(outside, part),
        }
    }

    /// All clipped triangles and, for each crack side, the points between its corners.
    /// Nothing where rounding kept a chain from reaching its end.
    #[expect(clippy::type_complexity, reason = "used in one place")]
    fn parts(&self) -> Option<(Vec<Vec<(Point, Carrier)>>, Vec<Vec<Point>>)> {
        let n = self.fine.divisions;
        let mut polygons = Vec::with_capacity(n * n);
        let mut ways: Vec<Vec<(Point, Point)>> = vec![Vec::new(); self.sides.len()];
        for triangle in grid_triangles(n) {
            let triangle = triangle.map(|[i, j]| grid_index(n, i, j) as u16);
            let polygon = self.clipped(triangle)?;
            if polygon.is_empty() {
                continue;
            }
            for (i, &(point, carrier)) in polygon.iter().enumerate() {
                if let Carrier::Crack(side) = carrier {
                    ways[side as usize].push((point, polygon[(i + 1) % polygon.len()].0));
                }
            }
            polygons.push(polygon);
        }
        let mut chains = Vec::with_capacity(self.sides.len());
        for (side, ways) in self.sides.iter().zip(ways) {
            let [from, to] = side.map(Point::Corner);
            let mut chain = Vec::with_capacity(ways.len());
            let mut at = from;
            for _ in 0..ways.len() {
                let mut onward = ways.iter().filter(|way| way.0 == at);
                let &(_, next) = onward.next()?;
                if onward.next().is_some() {
                    return None;
                }
                at = next;
                chain.push(at);
            }
            if chain.pop() != Some(to) || chain.contains(&to) {
                return None;
            }
            chains.push(chain);
        }
        if self.divider.is_some()
            && let Some(chain) = chains.first_mut()
        {
            self.divide(&mut polygons, chain);
        }
        Some((polygons, chains))
    }

    /// The polygon with fine edges but straight cracks, filled from its middle.
    fn add_flat(&self, outside: &mut Outside, part: u32) {
        let n = self.fine.divisions;
        let (vertices, normals) = self.fine.grid(self.face);
        let mut outline: Vec<Spot> = Vec::new();
        for (i, corner) in self.corners.iter().enumerate() {
            outline.push(corner.spot);
            let next = (i + 1) % self.corners.len();
            if self.sides.contains(&[i, next].map(|c| c as u8)) {
                outline.extend(self.divider.as_ref().map(|divider| divider.spot));
                continue;
            }
            // Points of the grid on the way along an edge of the face.
            let way = self.corners[next].at - corner.at;
            let mut between: Vec<(f64, Spot)> = Vec::new();
            for j in 0..=n {
                for k in 0..=n - j {
                    let steps = [n - k - j, k, j];
                    let ends = [&self.corners[i], &self.corners[next]];
                    let edge = (0..3).find(|&e| {
                        let on = |c: &FaceCorner| match c.on_edge {
                            Some((of, ..)) => of == e,
                            None => self.node_of(c).is_some_and(|node| node != e),
                        };
                        steps[e] == 0 && !steps.contains(&n) && ends.into_iter().all(on)
                    });
                    if edge.is_some_and(|e| self.holds_on_edge(e, steps).0) {
                        let index = grid_index(n, k, j);
                        let at = DVec2::new(k as f64, j as f64) - corner.at;
                        let spot = Spot {
                            name: Name::Fine(vertices[index]),
                            at: FinePoint {
                                position: self.fine.points[vertices[index] as usize],
                                normal: normals[index],
                            },
                        };
                        between.push((at.dot(way), spot));
                    }
                }
            }
            between.sort_by(|a, b| a.0.total_cmp(&b.0));
            outline.extend(between.into_iter().map(|b| b.1));
        }
        let normal: Vec3 = outline.iter().map(|s| s.at.normal).sum();
        let middle = Spot {
            name: Name::Middle(self.face as u32),
            at: FinePoint {
                position: middle_of(&outline),
                normal: normal.normalize_or(Vec3::Y),
            },
        };
        for i in 0..outline.len() {
            let next = (i + 1) % outline.len();
            outside.add_fan(&[middle, outline[i], outline[next]], part);
        }
    }

    /// Which node of the face a corner is.
    fn node_of(&self, corner: &FaceCorner) -> Option<usize> {
        let Name::Fine(vertex) = corner.spot.name else {
            return None;
        };
        (0..3).find(|&k| self.fine.vertex_of_node(self.nodes[k]) == vertex)
    }
}
