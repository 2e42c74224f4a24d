//! A face of the boundary of which a fragment has a part only.
//!
//! Each small triangle of the face's grid is clipped to the fragment's polygon, in the flat
//! grid. The sides that cracks made become chains of named points: what is on which side is
//! decided once for each point, so that neighbours cannot disagree (see `fine_dress`).

use glam::{DVec2, Vec3};

use crate::tet_mesh::TET_FACES;
use crate::tet_part::Corner;

use super::fine_boundary::{FineBoundary, FinePoint, grid_index, grid_size, grid_triangles};
use super::fine_outside::Outside;
use super::fine_points::{Corners, Name, Rim, Spot, middle_of};

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
pub(super) struct CutFace<'a> {
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
    pub(super) fn new(
        at: &Corners<'a>,
        side: u8,
        face: usize,
        polygon: &[Corner],
        is_parted: bool,
    ) -> Self {
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
    pub(super) fn clip(&self, outside: &mut Outside, rims: &mut Vec<Rim>) {
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
