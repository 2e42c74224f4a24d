//! One fragment in its skin: see the steps in the [module above](super).

use std::collections::BTreeMap;

use glam::{DVec2, DVec3, Vec3};

use crate::cut_piece::{CornerPoints, Piece, Side, signs};
use crate::fragment::{FragmentId, Fragments};
use crate::tet_mesh::NONE;

use super::ears::{self, Corner};
use super::polygon::{Polygon, Tag};
use super::solids::crossing;
use super::tets::CageTet;
use super::weld::Weld;
use super::{SAME, SkinMap};

/// A corner of a cut triangle of the skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinCorner {
    /// Where it is.
    pub position: Vec3,
    /// Its barycentric coordinates in the triangle that was given: by these its normal,
    /// texture coordinates and colour are interpolated. Corners that were corners before
    /// have a one and two zeros.
    pub weights: [f32; 3],
}

/// A part of a triangle of the skin that a crack has cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinFace {
    /// The triangle it is a part of.
    pub triangle: u32,
    /// Its corners, in the turning sense of the triangle.
    pub corners: [SkinCorner; 3],
}

/// A triangle of a crack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrackFace {
    /// Its corners, counter-clockwise seen from outside the fragment.
    pub corners: [Vec3; 3],
    /// Its unit normal, out of the fragment.
    pub normal: Vec3,
}

/// What one fragment shows. Corners at the same place have the same bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dress {
    /// Triangles of the skin that are its as a whole.
    pub whole: Vec<u32>,
    /// Parts of others.
    pub cut: Vec<SkinFace>,
    /// Its crack faces.
    pub cracks: Vec<CrackFace>,
}

/// A side of a cut triangle that lies on a crack: begin and end as the skin's
/// triangle runs, and its solid.
type RimSide = (DVec3, DVec3, u32);

impl SkinMap {
    /// What a living fragment shows; of a broken one nothing.
    ///
    /// # Panics
    /// When the fragments are of another mesh, or the id is none of theirs.
    #[must_use]
    pub fn dress(&self, fragments: &Fragments, id: FragmentId) -> Dress {
        assert_eq!(
            self.cage.len(),
            fragments.mesh().positions().len(),
            "the fragments are of the mesh that the skin was laid on"
        );
        let mut dresser = Dresser {
            map: self,
            fragments,
            id,
            weld: Weld::new(SAME * self.size),
            skin_vertices: BTreeMap::new(),
            rims: BTreeMap::new(),
            dress: Dress::default(),
        };
        let mut seen = vec![false; self.triangles.len()];
        let mut cut_tets = Vec::new();
        fragments.for_each_tet_of(id, |tet, local| {
            for &triangle in self.triangles_of.get(tet) {
                if !std::mem::replace(&mut seen[triangle as usize], true) {
                    dresser.add_triangle(triangle);
                }
            }
            if fragments.cut(tet).is_some() {
                cut_tets.push((tet, local));
            }
        });
        for (tet, local) in cut_tets {
            dresser.add_cracks(tet, local);
        }
        dresser.dress
    }
}

struct Dresser<'a> {
    map: &'a SkinMap,
    fragments: &'a Fragments,
    id: FragmentId,
    weld: Weld,
    /// Vertices of the skin among the welded points.
    skin_vertices: BTreeMap<u32, u32>,
    /// Rims by tetrahedron and plane.
    rims: BTreeMap<(u32, u8), Vec<RimSide>>,
    dress: Dress,
}

/// A side of an outline: begin and end, and the side of the skin triangle it lies on.
type OutlineSide = (u32, u32, Option<u8>);

impl Dresser<'_> {
    fn tet(&self, tet: u32) -> CageTet {
        CageTet::new(self.fragments.mesh().tets()[tet as usize], &self.map.cage)
    }

    fn fragment_of(&self, node: u32) -> FragmentId {
        self.fragments.node_fragment()[node as usize]
    }

    fn add_triangle(&mut self, triangle: u32) {
        let tets = self.map.tets_of.get(triangle);
        if tets.iter().all(|&t| self.fragments.cut(t).is_none()) {
            // Tetrahedra without a cut that meet one triangle hang together.
            let node = self.fragments.mesh().tets()[tets[0] as usize][0];
            let careful = self.map.careful[triangle as usize] && tets.len() > 1;
            if !careful && self.fragment_of(node) == self.id {
                self.dress.whole.push(triangle);
            } else if careful {
                self.cut_triangle(triangle, tets);
            }
            return;
        }
        self.cut_triangle(triangle, tets);
    }

    /// The part of a triangle that is the fragment's.
    fn cut_triangle(&mut self, triangle: u32, tets: &[u32]) {
        let corners = self.map.corners(triangle);
        let whole = Polygon::triangle(corners);
        let smallest = 1e-14 * whole.doubled_area().length();
        let mut parts: Vec<Polygon> = Vec::new();
        if let ([tet], false) = (tets, self.map.careful[triangle as usize]) {
            parts.extend(self.own_part(*tet, whole, triangle));
        } else if self.map.careful[triangle as usize] {
            let mut rest = vec![whole];
            for &tet in tets {
                let shape = self.tet(tet);
                let bounds = shape.bounds();
                let mut outside = Vec::new();
                for polygon in rest {
                    if !polygon.meets(bounds) {
                        outside.push(polygon);
                        continue;
                    }
                    let before = outside.len();
                    let inside = shape.clip(&polygon, Some(&mut outside));
                    if inside.is_empty() {
                        // What the tetrahedron does not hold stays in one part.
                        outside.truncate(before);
                        outside.push(polygon);
                    }
                    parts.extend(self.own_part(tet, inside, triangle));
                }
                rest = outside;
            }
            rest.retain(|polygon| self.nearest_fragment(polygon.middle(), tets) == self.id);
            parts.extend(rest);
        } else {
            for &tet in tets {
                let inside = self.tet(tet).clip(&whole, None);
                parts.extend(self.own_part(tet, inside, triangle));
            }
        }
        parts.retain(|part| !part.is_empty());
        if parts.is_empty() {
            return;
        }
        self.emit_parts(triangle, &parts, smallest);
    }

    /// The fragment of the nearest node of some tetrahedra.
    fn nearest_fragment(&self, p: DVec3, tets: &[u32]) -> FragmentId {
        let nodes = tets
            .iter()
            .flat_map(|&t| self.fragments.mesh().tets()[t as usize]);
        let distance = |n: u32| self.map.cage[n as usize].distance_squared(p);
        let nearest = nodes.min_by(|&a, &b| distance(a).total_cmp(&distance(b)).then(a.cmp(&b)));
        nearest.map_or(self.id, |n| self.fragment_of(n))
    }

    /// Cuts a polygon in a tetrahedron by its planes and notes the rim.
    fn own_part(&mut self, tet: u32, polygon: Polygon, triangle: u32) -> Option<Polygon> {
        if polygon.is_empty() {
            return None;
        }
        let nodes = self.fragments.mesh().tets()[tet as usize];
        let local = nodes.iter().position(|&n| self.fragment_of(n) == self.id)?;
        let Some(cut) = self.fragments.cut(tet) else {
            return Some(polygon);
        };
        let shape = self.tet(tet);
        let mut part = polygon;
        for (k, plane) in cut.planes().iter().enumerate() {
            let [positive, negative] = signs(plane);
            let own = 1 << local;
            if (positive | negative) & own == 0 {
                continue;
            }
            let (value, gradient) = shape.linear(plane.map(f64::from));
            let origin = shape.corners[0];
            let height = |p: DVec3| value + gradient.dot(p - origin);
            let (upper, lower) = part.split(height, Tag::Plane(k as u8));
            part = if positive & own != 0 { upper } else { lower };
            if part.is_empty() {
                return None;
            }
        }
        let solid = self.map.solids.of_triangle[triangle as usize];
        if solid != NONE {
            for (a, b, tag) in part.sides() {
                if let Tag::Plane(k) = tag {
                    self.rims.entry((tet, k)).or_default().push((a, b, solid));
                }
            }
        }
        Some(part)
    }

    /// Joins the parts of one triangle and fills the outline.
    fn emit_parts(&mut self, triangle: u32, parts: &[Polygon], smallest: f64) {
        let vertices = self.map.triangles[triangle as usize];
        let corners = self.map.corners(triangle);
        let names = vertices.map(|v| {
            let weld = &mut self.weld;
            let position = self.map.positions[v as usize];
            *self
                .skin_vertices
                .entry(v)
                .or_insert_with(|| weld.index(position))
        });
        let mut sides: Vec<OutlineSide> = Vec::new();
        for part in parts {
            for (a, b, tag) in part.sides() {
                let (a, b) = (self.weld.index(a), self.weld.index(b));
                if a != b {
                    let skin = match tag {
                        Tag::Skin(side) => Some(side),
                        Tag::Face(_) | Tag::Plane(_) => None,
                    };
                    sides.push((a, b, skin));
                }
            }
        }
        cancel(&mut sides);
        let mut loops = link(sides);
        for outline in &mut loops {
            // Between two sides on the same side of the triangle there is no corner.
            let kept: Vec<OutlineSide> = (0..outline.len())
                .filter(|&i| {
                    let before = outline[(i + outline.len() - 1) % outline.len()];
                    outline[i].2.is_none() || outline[i].2 != before.2
                })
                .map(|i| outline[i])
                .collect();
            *outline = kept;
        }
        loops.retain(|outline| outline.len() >= 3);
        if let [outline] = &loops[..]
            && outline.len() == 3
            && outline.iter().all(|side| names.contains(&side.0))
        {
            self.dress.whole.push(triangle);
            return;
        }
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        let frame = Frame::new(normal, corners[0]);
        let flat: Vec<Vec<Corner>> = loops
            .iter()
            .map(|outline| {
                let place = |name: u32| frame.flat(self.weld.point(name));
                outline.iter().map(|s| (s.0, place(s.0))).collect()
            })
            .collect();
        let mut faces = Vec::new();
        ears::triangulate(&flat, &mut faces);
        if self.map.careful[triangle as usize] && !self.covers(&faces, parts, normal.length()) {
            faces.clear();
            for part in parts {
                let points = part.points().iter();
                let around: Vec<u32> = points.map(|&p| self.weld.index(p)).collect();
                faces.extend((2..around.len()).map(|i| [around[0], around[i - 1], around[i]]));
            }
        }
        for face in faces {
            let points = face.map(|name| self.weld.point(name));
            let area = (points[1] - points[0])
                .cross(points[2] - points[0])
                .length();
            if area < smallest {
                continue;
            }
            let corner = |name: u32, p: DVec3| SkinCorner {
                position: p.as_vec3(),
                weights: match names.iter().position(|&n| n == name) {
                    Some(k) => [0, 1, 2].map(|i| f32::from(u8::from(i == k))),
                    None => weights_in(corners, p),
                },
            };
            self.dress.cut.push(SkinFace {
                triangle,
                corners: std::array::from_fn(|i| corner(face[i], points[i])),
            });
        }
    }

    /// Whether the joined parts of a triangle have the area of the parts. Where a skin leaves
    /// the cage, or the cage runs through itself, parts meet side by side without the same
    /// corners, and their outline is none. `whole` is twice the triangle's area.
    fn covers(&self, faces: &[[u32; 3]], parts: &[Polygon], whole: f64) -> bool {
        let area = |face: &[u32; 3]| {
            let [a, b, c] = face.map(|name| self.weld.point(name));
            (b - a).cross(c - a).length()
        };
        let joined: f64 = faces.iter().map(area).sum();
        let wanted: f64 = parts.iter().map(|p| p.doubled_area().length()).sum();
        (joined - wanted).abs() <= 1e-6 * whole
    }

    /// The crack faces of the fragment's piece of one tetrahedron.
    fn add_cracks(&mut self, tet: u32, local: usize) {
        let mesh = self.fragments.mesh().clone();
        let cut = self.fragments.cut(tet);
        let piece = Piece::of(cut, local);
        let points = CornerPoints::new(&mesh, tet, cut);
        let nodes = mesh.tets()[tet as usize];
        let has_solids = self.map.solids.count() > 0;
        for polygon in piece.polygons() {
            let Side::Plane(k) = polygon.side else {
                continue;
            };
            let places: Vec<DVec3> = polygon
                .corners()
                .iter()
                .map(|&corner| {
                    let weights = points.weights(corner);
                    // In the order of the nodes, as every tetrahedron around does it.
                    let mut order = [0, 1, 2, 3];
                    order.sort_unstable_by_key(|&i| nodes[i]);
                    order.iter().fold(DVec3::ZERO, |sum, &i| {
                        let n = nodes[i] as usize;
                        let place = if has_solids {
                            self.map.cage[n]
                        } else {
                            mesh.positions()[n].as_dvec3()
                        };
                        sum + place * weights[i]
                    })
                })
                .collect();
            let mut normal = DVec3::ZERO;
            for i in 2..places.len() {
                normal += (places[i - 1] - places[0]).cross(places[i] - places[0]);
            }
            let border: Vec<u32> = places.iter().map(|&p| self.weld.index(p)).collect();
            if !has_solids {
                self.fill(&[border], normal);
                continue;
            }
            let rims = self.rims.remove(&(tet, k)).unwrap_or_default();
            let near = self.map.triangles_of.get(tet).iter();
            let mut solids: Vec<u32> = near
                .map(|&t| self.map.solids.of_triangle[t as usize])
                .filter(|&s| s != NONE)
                .collect();
            let winds = |s: &u32| nodes.iter().any(|&n| self.map.solids.winding(*s, n) != 0);
            solids.extend((0..self.map.solids.count() as u32).filter(winds));
            solids.sort_unstable();
            solids.dedup();
            for solid in solids {
                let loops = self.loops(tet, &border, &places, &rims, solid);
                self.fill(&loops, normal);
            }
        }
    }

    /// The outlines of what is inside a solid of a crack polygon.
    fn loops(
        &mut self,
        tet: u32,
        border: &[u32],
        places: &[DVec3],
        rims: &[RimSide],
        solid: u32,
    ) -> Vec<Vec<u32>> {
        let turned = self.map.solids.turned[solid as usize];
        let mut sides: Vec<OutlineSide> = Vec::new();
        for &(a, b, _) in rims.iter().filter(|side| side.2 == solid) {
            let (a, b) = (self.weld.index(a), self.weld.index(b));
            if a != b {
                // Against the skin's own sense.
                sides.push(if turned { (a, b, None) } else { (b, a, None) });
            }
        }
        cancel(&mut sides);
        if sides.is_empty() {
            let middle = places.iter().sum::<DVec3>() / places.len() as f64;
            return match self.is_inside(tet, solid, middle) {
                true => vec![border.to_vec()],
                false => Vec::new(),
            };
        }
        let (mut loops, chains) = chains(sides);
        if chains.is_empty() {
            // Rims that touch no border: holes in the polygon, or islands.
            let inside = self.is_inside(tet, solid, places[0]);
            if inside {
                loops.push(border.to_vec());
            }
            return loops;
        }
        // Where along the border each chain begins and ends.
        let at = |name: u32| along_border(self.weld.point(name), places);
        let ends: Vec<(f64, f64)> = chains
            .iter()
            .map(|chain| (at(chain[0]), at(chain[chain.len() - 1])))
            .collect();
        let count = places.len() as f64;
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
                let end = ends[current].1;
                // On along the border to where the next chain begins.
                let next = (0..chains.len())
                    .filter(|&i| !used[i] || i == first)
                    .min_by(|&i, &j| ahead(end, ends[i].0).total_cmp(&ahead(end, ends[j].0)))
                    .unwrap_or(first);
                let way = ahead(end, ends[next].0);
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
        loops
    }

    /// Whether a point of a tetrahedron is inside a solid: most of the ways from its
    /// nodes say so.
    fn is_inside(&self, tet: u32, solid: u32, p: DVec3) -> bool {
        let nodes = self.fragments.mesh().tets()[tet as usize];
        let near = self.map.triangles_of.get(tet);
        let own = |&&t: &&u32| self.map.solids.of_triangle[t as usize] == solid;
        let turned = self.map.solids.turned[solid as usize];
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
            votes += if self.map.solids.winding(solid, n) + by > 0 {
                1
            } else {
                -1
            };
        }
        votes > 0
    }

    /// Fills outlines in a plane with crack faces.
    fn fill(&mut self, loops: &[Vec<u32>], normal: DVec3) {
        let Some(first) = loops.first() else {
            return;
        };
        let Some(unit) = normal.try_normalize() else {
            return;
        };
        let frame = Frame::new(normal, self.weld.point(first[0]));
        let place = |name: u32| frame.flat(self.weld.point(name));
        let flat: Vec<Vec<Corner>> = loops
            .iter()
            .map(|outline| outline.iter().map(|&name| (name, place(name))).collect())
            .collect();
        let mut faces = Vec::new();
        ears::triangulate(&flat, &mut faces);
        for face in faces {
            self.dress.cracks.push(CrackFace {
                corners: face.map(|name| self.weld.point(name).as_vec3()),
                normal: unit.as_vec3(),
            });
        }
    }
}

/// Two directions in a plane.
struct Frame {
    origin: DVec3,
    u: DVec3,
    v: DVec3,
}

impl Frame {
    fn new(normal: DVec3, origin: DVec3) -> Self {
        let normal = normal.normalize_or(DVec3::Z);
        let u = normal.any_orthonormal_vector();
        Self {
            origin,
            u,
            v: normal.cross(u),
        }
    }

    fn flat(&self, p: DVec3) -> DVec2 {
        let p = p - self.origin;
        DVec2::new(p.dot(self.u), p.dot(self.v))
    }
}

/// Removes sides that run against each other.
fn cancel(sides: &mut Vec<OutlineSide>) {
    let mut order: Vec<usize> = (0..sides.len()).collect();
    order.sort_by_key(|&i| {
        let (a, b, _) = sides[i];
        (a.min(b), a.max(b), i)
    });
    let mut gone = vec![false; sides.len()];
    let same = |&i: &usize, &j: &usize| {
        let key = |k: usize| (sides[k].0.min(sides[k].1), sides[k].0.max(sides[k].1));
        key(i) == key(j)
    };
    for edge in order.chunk_by(same) {
        let (mut forward, mut backward): (Vec<usize>, Vec<usize>) =
            edge.iter().partition(|&&i| sides[i].0 < sides[i].1);
        // Sides of the triangle stay, where there is a choice.
        forward.sort_by_key(|&i| sides[i].2.is_some());
        backward.sort_by_key(|&i| sides[i].2.is_some());
        for (&i, &j) in forward.iter().zip(&backward) {
            gone[i] = true;
            gone[j] = true;
        }
    }
    let mut kept = gone.iter().map(|gone| !gone);
    sides.retain(|_| kept.next().unwrap_or(true));
}

/// Sides as closed loops; what does not close is closed by force.
fn link(sides: Vec<OutlineSide>) -> Vec<Vec<OutlineSide>> {
    let mut from: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, side) in sides.iter().enumerate() {
        from.entry(side.0).or_default().push(i);
    }
    let mut used = vec![false; sides.len()];
    let mut loops = Vec::new();
    for first in 0..sides.len() {
        if used[first] {
            continue;
        }
        let mut outline = Vec::new();
        let mut current = first;
        loop {
            used[current] = true;
            outline.push(sides[current]);
            if sides[current].1 == sides[first].0 {
                break;
            }
            let next = from
                .get(&sides[current].1)
                .and_then(|list| list.iter().copied().find(|&i| !used[i]));
            match next {
                Some(next) => current = next,
                None => break,
            }
        }
        loops.push(outline);
    }
    loops
}

/// Sides as closed loops and as open chains, both by the names of their points.
fn chains(sides: Vec<OutlineSide>) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let mut from: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut arriving: BTreeMap<u32, i32> = BTreeMap::new();
    for (i, side) in sides.iter().enumerate() {
        from.entry(side.0).or_default().push(i);
        *arriving.entry(side.0).or_default() -= 1;
        *arriving.entry(side.1).or_default() += 1;
    }
    let mut used = vec![false; sides.len()];
    let (mut loops, mut open) = (Vec::new(), Vec::new());
    // Chains first: they begin where more leaves than arrives.
    let mut starts: Vec<usize> = (0..sides.len())
        .filter(|&i| arriving[&sides[i].0] < 0)
        .collect();
    starts.extend(0..sides.len());
    for first in starts {
        if used[first] {
            continue;
        }
        let mut names = vec![sides[first].0];
        let mut current = first;
        loop {
            used[current] = true;
            let end = sides[current].1;
            if end == names[0] {
                loops.push(names);
                break;
            }
            names.push(end);
            let next = from
                .get(&end)
                .and_then(|list| list.iter().copied().find(|&i| !used[i]));
            match next {
                Some(next) => current = next,
                None => {
                    open.push(names);
                    break;
                }
            }
        }
    }
    (loops, open)
}

/// Where on the border of a polygon a point is: the number of the corner before it, and
/// the share of the side.
fn along_border(p: DVec3, corners: &[DVec3]) -> f64 {
    let mut best = (f64::INFINITY, 0.0);
    for (i, &a) in corners.iter().enumerate() {
        let b = corners[(i + 1) % corners.len()];
        let side = b - a;
        let length = side.length_squared();
        let t = if length > 0.0 {
            ((p - a).dot(side) / length).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let distance = p.distance_squared(a + side * t);
        if distance < best.0 {
            // The end of a side is the begin of the next.
            let at = (i as f64 + t) % corners.len() as f64;
            best = (distance, at);
        }
    }
    best.1
}

fn weights_in([a, b, c]: [DVec3; 3], p: DVec3) -> [f32; 3] {
    let normal = (b - a).cross(c - a);
    let area = normal.length_squared();
    if area <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let v = ((p - a).cross(c - a).dot(normal) / area).clamp(0.0, 1.0);
    let w = ((b - a).cross(p - a).dot(normal) / area).clamp(0.0, 1.0);
    [(1.0 - v - w).max(0.0) as f32, v as f32, w as f32]
}
