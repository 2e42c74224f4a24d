//! Crack faces of a fragment, cut back to the skin.
//!
//! A *cell* is what two pieces of one tetrahedron have in common of a crack plane. Both
//! fragments make it alike, as it is seen from where the plane is positive, and one of them
//! turns it over: the pieces fit, triangle by triangle.

use glam::DVec3;

use crate::fragment::{FragmentId, TetCut};
use crate::tet_mesh::NONE;
use crate::tet_part::{Corner, CornerPoints, Polygon, Side, TetPart, signs};

use super::dress::{CrackFace, Dresser, RimSide};
use super::ears;
use super::names::{Name, face_number};
use super::outline::{Frame, OutlineSide, cancel, chains};
use super::solids::crossing;

/// The corner inside a tetrahedron.
const ALL: Corner = 0b1111;

/// A cell, as seen from where its plane is positive.
struct Cell {
    tet: u32,
    /// Corners of its border: what they are in the tetrahedron, their numbers, where they are.
    corners: Vec<Corner>,
    border: Vec<u32>,
    places: Vec<DVec3>,
    /// Sum of its triangles' normals, out of the piece where the plane is positive.
    normal: DVec3,
    /// Whether the fragment is where the plane is negative.
    is_turned: bool,
}

impl Dresser<'_> {
    /// The crack faces of the fragment's piece of one tetrahedron.
    pub fn add_cracks(&mut self, tet: u32, local: usize) {
        let fragments = self.fragments;
        let nodes = fragments.mesh().tets()[tet as usize];
        let Some(cut) = fragments.cut(tet) else {
            return;
        };
        let piece = TetPart::of(Some(cut), local);
        let has_solids = self.map.solids.count() > 0;
        for polygon in piece.polygons() {
            let Side::Plane(k) = polygon.side else {
                continue;
            };
            let is_turned = signs(&cut.planes()[k as usize])[1] & (1 << local) != 0;
            let owners = nodes.map(|n| self.fragment_of(n));
            for (other, polygon) in polygon.cells(cut, k, local, &owners) {
                let cell = self.cell(tet, cut, &polygon, is_turned);
                if !has_solids {
                    self.fill(&cell, std::slice::from_ref(&cell.border));
                    continue;
                }
                let mut rims = self.rims.remove(&(tet, k, other as u8)).unwrap_or_default();
                // The same from both sides.
                rims.sort_by_key(|side| side.triangle);
                for solid in self.solids_in(tet, nodes) {
                    let loops = self.loops(&cell, cut, &rims, solid);
                    self.fill(&cell, &loops);
                }
            }
        }
    }

    /// Solids that a tetrahedron may hold some of.
    fn solids_in(&self, tet: u32, nodes: [u32; 4]) -> Vec<u32> {
        let all = &self.map.solids;
        if all.count() == 1 {
            return vec![0];
        }
        let near = self.map.triangles_of.get(tet).iter();
        let mut solids: Vec<u32> = near
            .map(|&t| all.of_triangle[t as usize])
            .filter(|&s| s != NONE)
            .collect();
        let winds = |s: &u32| nodes.iter().any(|&n| all.winding(*s, n) != 0);
        solids.extend((0..all.count() as u32).filter(winds));
        solids.sort_unstable();
        solids.dedup();
        solids
    }

    fn cell(&mut self, tet: u32, cut: &TetCut, polygon: &Polygon, is_turned: bool) -> Cell {
        let mesh = self.fragments.mesh();
        let nodes = mesh.tets()[tet as usize];
        let points = CornerPoints::new(mesh, tet, Some(cut));
        let owners = nodes.map(|n| self.fragment_of(n));
        let corners = cell_corners(polygon, &owners, is_turned);
        // In the order of the nodes, as every tetrahedron around does it.
        let mut order = [0, 1, 2, 3];
        order.sort_unstable_by_key(|&i| nodes[i]);
        let has_solids = self.map.solids.count() > 0;
        let place = |corner: Corner| {
            let weights = points.weights(corner);
            order.iter().fold(DVec3::ZERO, |sum, &i| {
                let n = nodes[i] as usize;
                let place = if has_solids {
                    self.map.cage[n]
                } else {
                    mesh.positions()[n].as_dvec3()
                };
                sum + place * weights[i]
            })
        };
        let places: Vec<DVec3> = corners.iter().map(|&c| place(c)).collect();
        let normal = (2..places.len())
            .map(|i| (places[i - 1] - places[0]).cross(places[i] - places[0]))
            .sum();
        let named = corners.iter().zip(&places);
        let border = named
            .map(|(&c, &p)| self.points.index(Name::Corner(points.name(c)), p))
            .collect();
        Cell {
            tet,
            corners,
            border,
            places,
            normal,
            is_turned,
        }
    }

    /// The outlines of what is inside a solid of a cell.
    fn loops(&self, cell: &Cell, cut: &TetCut, rims: &[RimSide], solid: u32) -> Vec<Vec<u32>> {
        let is_inward = self.map.solids.turned[solid as usize];
        let mut sides: Vec<OutlineSide> = Vec::new();
        for side in rims.iter().filter(|side| side.solid == solid) {
            let [a, b] = side.ends;
            if a != b {
                // Against the skin's own sense where the plane is positive.
                let along = is_inward != cell.is_turned;
                sides.push(if along { (a, b, None) } else { (b, a, None) });
            }
        }
        cancel(&mut sides);
        let Cell { border, places, .. } = cell;
        if sides.is_empty() {
            let middle = places.iter().sum::<DVec3>() / places.len() as f64;
            return match self.is_inside(cell.tet, solid, middle) {
                true => vec![border.clone()],
                false => Vec::new(),
            };
        }
        let (mut loops, chains) = chains(sides);
        if chains.is_empty() {
            // Rims that touch no border: holes in the polygon, or islands.
            if self.is_inside(cell.tet, solid, places[0]) {
                loops.push(border.clone());
            }
            return loops;
        }
        // Where along the border each chain begins and ends.
        let ends: Vec<[f64; 2]> = chains
            .iter()
            .map(|chain| [chain[0], chain[chain.len() - 1]].map(|p| self.along(cell, cut, p)))
            .collect();
        close_chains(&chains, &ends, border, &mut loops);
        loops
    }

    /// Where on the border of a cell a point is: the number of the corner before it, and the
    /// share of the side.
    fn along(&self, cell: &Cell, cut: &TetCut, point: u32) -> f64 {
        let p = self.points.place(point);
        let count = cell.corners.len();
        let both = |i: usize| [cell.corners[i], cell.corners[(i + 1) % count]];
        // Its name says on which side it is; two sides may be in line.
        let mesh = self.fragments.mesh();
        let is_on = |i: usize| match self.points.name(point) {
            Name::Line(_, face, _) => {
                let local = (0..4).find(|&i| face_number(mesh, cell.tet, i) == face);
                let is_on = |c: Corner| local.is_some_and(|f| c & (1 << f) == 0);
                both(i).into_iter().all(is_on)
            }
            Name::Planes(_, planes) => planes.iter().all(|&number| {
                let masks = signs(&cut.planes()[number as usize % 4]);
                let is_on = |c: Corner| masks.iter().all(|mask| c & mask != 0);
                both(i).into_iter().all(is_on)
            }),
            _ => true,
        };
        let share = |i: usize| {
            let (a, b) = (cell.places[i], cell.places[(i + 1) % count]);
            let side = b - a;
            let length = side.length_squared().max(f64::MIN_POSITIVE);
            let t = ((p - a).dot(side) / length).clamp(0.0, 1.0 - 1e-12);
            (p.distance_squared(a + side * t), i as f64 + t)
        };
        let nearest = |sides: &mut dyn Iterator<Item = usize>| {
            sides
                .map(share)
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .map(|s| s.1)
        };
        nearest(&mut (0..count).filter(|&i| is_on(i)))
            .or_else(|| nearest(&mut (0..count)))
            .unwrap_or(0.0)
    }

    /// Whether a point of a tetrahedron is inside a solid: two of the ways from its nodes say
    /// so, or most of them.
    fn is_inside(&self, tet: u32, solid: u32, p: DVec3) -> bool {
        let solids = &self.map.solids;
        let nodes = self.fragments.mesh().tets()[tet as usize];
        let near = self.map.triangles_of.get(tet);
        let own = |&&t: &&u32| solids.of_triangle[t as usize] == solid;
        let turned = solids.turned[solid as usize];
        let mut votes = 0_i32;
        for n in nodes {
            let from = self.map.cage[n as usize];
            let crossings = near
                .iter()
                .filter(own)
                .map(|&t| crossing(from, p, self.map.corners(t)))
                .try_fold(0, |sum, c| c.map(|c| sum + c));
            let Some(crossings) = crossings else {
                continue;
            };
            let by = if turned { -crossings } else { crossings };
            let is_in = solids.winding(solid, n) + by > 0;
            votes += if is_in { 1 } else { -1 };
            if votes.abs() == 2 {
                break;
            }
        }
        votes > 0
    }

    /// Fills outlines in a cell with crack faces.
    fn fill(&mut self, cell: &Cell, loops: &[Vec<u32>]) {
        let (Some(first), Some(unit)) = (loops.first(), cell.normal.try_normalize()) else {
            return;
        };
        let frame = Frame::new(unit, self.points.place(first[0]));
        let flat: Vec<Vec<ears::Corner>> = loops
            .iter()
            .map(|outline| {
                let place = |name: u32| frame.flat(self.points.place(name));
                outline.iter().map(|&name| (name, place(name))).collect()
            })
            .collect();
        let mut faces = Vec::new();
        ears::triangulate(&flat, &mut faces);
        for [a, b, c] in faces {
            let corners = if cell.is_turned { [a, c, b] } else { [a, b, c] };
            self.dress.cracks.push(CrackFace {
                corners: corners.map(|name| self.points.place(name).as_vec3()),
                normal: if cell.is_turned { -unit } else { unit }.as_vec3(),
            });
        }
    }
}

/// Corners of a cell as it is seen from where its plane is positive, the lowest first: the
/// same from both sides.
pub(super) fn cell_corners(
    polygon: &Polygon,
    owners: &[FragmentId; 4],
    is_turned: bool,
) -> Vec<Corner> {
    let mut corners = polygon.corners().to_vec();
    if is_turned {
        corners.reverse();
    }
    add_middle_corner(owners, &mut corners);
    let lowest = (0..corners.len()).min_by_key(|&i| corners[i]).unwrap_or(0);
    corners.rotate_left(lowest);
    corners
}

/// Where the nodes of a tetrahedron are of four fragments, these meet in one corner inside
/// it. It lies on a side of cells that none of its planes divides.
fn add_middle_corner(owners: &[FragmentId; 4], corners: &mut Vec<Corner>) {
    let is_parted = |i: usize| owners[i + 1..].iter().all(|&o| o != owners[i]);
    if !(0..3).all(is_parted) {
        return;
    }
    let count = corners.len();
    let is_around = |i: usize| {
        let [a, b] = [corners[i], corners[(i + 1) % count]];
        a.count_ones() == 3 && b.count_ones() == 3 && a | b == ALL
    };
    if let Some(i) = (0..count).find(|&i| is_around(i)) {
        corners.insert(i + 1, ALL);
    }
}

/// Closes chains along the border: from the end of one on to where the next begins. `ends`
/// says where on the border each chain begins and ends.
fn close_chains(chains: &[Vec<u32>], ends: &[[f64; 2]], border: &[u32], loops: &mut Vec<Vec<u32>>) {
    let count = border.len() as f64;
    let ahead = |from: f64, to: f64| {
        let way = to - from;
        if way < 0.0 { way + count } else { way }
    };
    let mut used = vec![false; chains.len()];
    for first in 0..chains.len() {
        if used[first] {
            continue;
        }
        let mut outline: Vec<u32> = Vec::new();
        let mut current = first;
        loop {
            used[current] = true;
            outline.extend(&chains[current]);
            let end = ends[current][1];
            let next = (0..chains.len())
                .filter(|&i| !used[i] || i == first)
                .min_by(|&i, &j| ahead(end, ends[i][0]).total_cmp(&ahead(end, ends[j][0])))
                .unwrap_or(first);
            let way = ahead(end, ends[next][0]);
            let mut corner = end.floor() + 1.0;
            while corner - end < way {
                outline.push(border[corner as usize % border.len()]);
                corner += 1.0;
            }
            if next == first {
                break;
            }
            current = next;
        }
        outline.dedup();
        while outline.len() > 1 && outline.first() == outline.last() {
            outline.pop();
        }
        if outline.len() >= 3 {
            loops.push(outline);
        }
    }
}
