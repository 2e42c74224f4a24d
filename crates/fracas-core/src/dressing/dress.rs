//! One fragment in its skin: see the steps in the [module above](super).

use std::collections::BTreeMap;

use glam::{DVec3, Vec3};

use crate::fragment::{FragmentId, Fragments};
use crate::tet_mesh::NONE;
use crate::tet_part::signs;

use super::SkinMap;
use super::ears::{self, Corner};
use super::names::{Name, Points, face_numbers, plane_number};
use super::outline::{Frame, OutlineSide, cancel, link};
use super::polygon::{Polygon, Tag};
use super::tets::CageTet;

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

/// What one fragment shows. Corners at the same place have the same bits, and so have crack
/// faces of the two fragments that a crack parts: the same triangles, turned over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dress {
    /// Triangles of the skin that are its as a whole.
    pub whole: Vec<u32>,
    /// Parts of others.
    pub cut: Vec<SkinFace>,
    /// Its crack faces.
    pub cracks: Vec<CrackFace>,
    /// Comparisons of a part of a triangle with a tetrahedron that it took: a measure of
    /// work.
    pub comparisons: u64,
}

/// Maximum number of comparisons of parts of one triangle with tetrahedra. A triangle that
/// needs more is cut by each tetrahedron alone: where the cage runs through itself, or does
/// not hold the triangle, the piece is then not closed.
const MAX_COMPARISONS: u64 = 50_000;

/// A side of a cut triangle that lies on a crack.
#[derive(Clone, Copy, Debug)]
pub(super) struct RimSide {
    /// Begin and end, as the skin's triangle runs.
    pub ends: [u32; 2],
    pub triangle: u32,
    pub solid: u32,
}

/// Where a piece of crack is: the tetrahedron, the plane in it, and the first local node of
/// the piece beyond.
pub(super) type CellKey = (u32, u8, u8);

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
            points: Points::new(self, fragments),
            rims: BTreeMap::new(),
            dress: Dress::default(),
        };
        let mut cut_tets = Vec::new();
        let mut sorting = Sorting::new(self);
        fragments.for_each_tet_of(id, |tet, local| {
            let planes = Planes::of(self, fragments, tet, local);
            for &triangle in self.triangles_of.get(tet) {
                sorting.note(triangle, &planes);
            }
            if fragments.cut(tet).is_some() {
                cut_tets.push((tet, local));
            }
        });
        for triangle in std::mem::take(&mut sorting.whole) {
            dresser.add_whole(triangle);
        }
        for triangle in std::mem::take(&mut sorting.touched) {
            if sorting.is_cut(triangle) {
                dresser.cut_triangle(triangle);
            }
        }
        for (tet, local) in cut_tets {
            dresser.add_cracks(tet, local);
        }
        dresser.dress
    }
}

/// What is known of a triangle in one tetrahedron.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    Own,
    Other,
    /// A plane passes between its corners, or comes near one.
    Unsure,
}

/// The planes that part a fragment from others in one tetrahedron, turned so that the
/// fragment is above.
struct Planes {
    /// Height at the origin of space, and gradient.
    heights: [(f64, DVec3); 3],
    count: usize,
    /// What is nearer to a plane is unsure.
    near: f64,
}

impl Planes {
    fn of(map: &SkinMap, fragments: &Fragments, tet: u32, local: usize) -> Self {
        let mut planes = Self {
            heights: [(0.0, DVec3::ZERO); 3],
            count: 0,
            near: 1e-9 * map.size,
        };
        let Some(cut) = fragments.cut(tet) else {
            return planes;
        };
        let corners = fragments.mesh().tets()[tet as usize].map(|n| map.cage[n as usize]);
        for plane in cut.planes() {
            if plane[local] == 0.0 {
                continue;
            }
            let sign = f64::from(plane[local].signum());
            let (value, gradient) = CageTet::linear_of(corners, plane.map(f64::from));
            let scale = sign / gradient.length().max(f64::MIN_POSITIVE);
            planes.heights[planes.count] =
                (scale * (value - gradient.dot(corners[0])), gradient * scale);
            planes.count += 1;
        }
        planes
    }

    fn verdict(&self, corners: [DVec3; 3]) -> Verdict {
        let mut verdict = Verdict::Own;
        for &(value, gradient) in &self.heights[..self.count] {
            let [a, b, c] = corners.map(|p| value + gradient.dot(p));
            let (low, high) = (a.min(b).min(c), a.max(b).max(c));
            if high < -self.near {
                // Whatever the other planes say.
                return Verdict::Other;
            }
            if low <= self.near {
                verdict = Verdict::Unsure;
            }
        }
        verdict
    }
}

/// Which triangles are a fragment's as a whole: those that are its in every tetrahedron they
/// meet. Most are, or are another's; only the rest is cut.
struct Sorting<'a> {
    map: &'a SkinMap,
    /// For each triangle, in how many tetrahedra it is the fragment's; [`Self::UNSURE`] where
    /// one of them does not know.
    own: Vec<u32>,
    /// Triangles that are not the fragment's as a whole, or not known to be so yet.
    touched: Vec<u32>,
    whole: Vec<u32>,
}

impl<'a> Sorting<'a> {
    const UNSURE: u32 = u32::MAX;

    fn new(map: &'a SkinMap) -> Self {
        Self {
            map,
            own: vec![0; map.triangles.len()],
            touched: Vec::new(),
            whole: Vec::new(),
        }
    }

    fn note(&mut self, triangle: u32, planes: &Planes) {
        let tets = self.map.tets_of.get(triangle).len() as u32;
        let is_careful = self.map.careful[triangle as usize];
        let own = &mut self.own[triangle as usize];
        match planes.verdict(self.map.corners(triangle)) {
            Verdict::Own if tets == 1 => self.whole.push(triangle),
            _ if *own == Self::UNSURE => {}
            // What lies in no tetrahedron may still be the fragment's.
            Verdict::Other if !is_careful => {}
            Verdict::Unsure | Verdict::Other => {
                *own = Self::UNSURE;
                self.touched.push(triangle);
            }
            Verdict::Own => {
                *own += 1;
                if *own == tets {
                    self.whole.push(triangle);
                } else if *own == 1 {
                    self.touched.push(triangle);
                }
            }
        }
    }

    /// Whether a touched triangle is to be cut; says so once.
    fn is_cut(&mut self, triangle: u32) -> bool {
        let tets = self.map.tets_of.get(triangle).len() as u32;
        let own = std::mem::replace(&mut self.own[triangle as usize], 0);
        own == Self::UNSURE || (own > 0 && own < tets)
    }
}

pub(super) struct Dresser<'a> {
    pub map: &'a SkinMap,
    pub fragments: &'a Fragments,
    pub id: FragmentId,
    pub points: Points<'a>,
    pub rims: BTreeMap<CellKey, Vec<RimSide>>,
    pub dress: Dress,
}

/// What of a triangle is the fragment's in one tetrahedron.
struct Part {
    polygon: Polygon,
    /// Its corners, and the side of the triangle on which the side from there on lies.
    ring: Vec<(u32, Option<u8>)>,
}

impl Dresser<'_> {
    fn tet(&self, tet: u32) -> CageTet {
        CageTet::new(self.fragments.mesh().tets()[tet as usize], &self.map.cage)
    }

    pub fn fragment_of(&self, node: u32) -> FragmentId {
        self.fragments.node_fragment()[node as usize]
    }

    /// The part of a triangle that is the fragment's.
    fn cut_triangle(&mut self, triangle: u32) {
        let map = self.map;
        let tets = map.tets_of.get(triangle);
        let whole = Polygon::triangle(map.corners(triangle));
        let mut parts: Vec<Part> = Vec::new();
        let is_careful = map.careful[triangle as usize];
        if let ([tet], false) = (tets, is_careful) {
            parts.extend(self.own_part(*tet, whole, triangle));
        } else if is_careful {
            if self.has_one_owner(triangle, tets) {
                return;
            }
            parts = match self.careful_parts(triangle, tets) {
                Some(parts) => parts,
                None => self.plain_parts(triangle, tets),
            };
        } else {
            parts = self.plain_parts(triangle, tets);
        }
        if !parts.is_empty() {
            self.emit_parts(triangle, &parts);
        }
    }

    /// The fragment's parts of a triangle that its tetrahedra cover once.
    fn plain_parts(&mut self, triangle: u32, tets: &[u32]) -> Vec<Part> {
        let whole = Polygon::triangle(self.map.corners(triangle));
        let mut parts = Vec::new();
        for &tet in tets {
            let faces = face_numbers(self.fragments.mesh(), tet);
            let inside = self.tet(tet).clip(&whole, faces, None);
            parts.extend(self.own_part(tet, inside, triangle));
        }
        parts
    }

    /// The fragment's parts of a triangle that its tetrahedra miss in places or cover twice:
    /// each tetrahedron takes from the rest. `None` beyond [`MAX_COMPARISONS`].
    fn careful_parts(&mut self, triangle: u32, tets: &[u32]) -> Option<Vec<Part>> {
        let mut rest = vec![Polygon::triangle(self.map.corners(triangle))];
        let mut taken: Vec<(u32, Polygon)> = Vec::new();
        let limit = self.dress.comparisons + MAX_COMPARISONS;
        for &tet in tets {
            let shape = self.tet(tet);
            let faces = face_numbers(self.fragments.mesh(), tet);
            let bounds = shape.bounds();
            self.dress.comparisons += rest.len() as u64;
            if self.dress.comparisons > limit {
                return None;
            }
            let mut outside = Vec::new();
            for polygon in rest {
                if !polygon.meets(bounds) {
                    outside.push(polygon);
                    continue;
                }
                let before = outside.len();
                let inside = shape.clip(&polygon, faces, Some(&mut outside));
                if inside.is_empty() {
                    // What the tetrahedron does not hold stays in one part.
                    outside.truncate(before);
                    outside.push(polygon);
                } else {
                    taken.push((tet, inside));
                }
            }
            rest = outside;
        }
        let mut parts = Vec::new();
        for (tet, inside) in taken {
            parts.extend(self.own_part(tet, inside, triangle));
        }
        rest.retain(|polygon| self.nearest_fragment(polygon.middle(), tets) == self.id);
        for polygon in rest {
            let ring = self.ring(&polygon, triangle);
            parts.push(Part { polygon, ring });
        }
        Some(parts)
    }

    /// Whether a triangle that a fragment cannot have as a whole is another's as a whole.
    fn has_one_owner(&self, triangle: u32, tets: &[u32]) -> bool {
        let corners = self.map.corners(triangle);
        let owns = |tet: u32, local: usize| {
            let planes = Planes::of(self.map, self.fragments, tet, local);
            planes.verdict(corners) == Verdict::Own
        };
        let nodes = |tet: u32| self.fragments.mesh().tets()[tet as usize];
        let Some(local) = (0..4).find(|&i| owns(tets[0], i)) else {
            return false;
        };
        let owner = self.fragment_of(nodes(tets[0])[local]);
        tets.iter().all(|&tet| {
            let local = nodes(tet)
                .iter()
                .position(|&n| self.fragment_of(n) == owner);
            local.is_some_and(|local| owns(tet, local))
        })
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

    /// The named corners of a part of a triangle.
    fn ring(&mut self, polygon: &Polygon, triangle: u32) -> Vec<(u32, Option<u8>)> {
        let mut ring = Vec::with_capacity(8);
        for (p, before, after) in polygon.corners() {
            let name = self.points.name_of(triangle, before, after);
            let skin = match after {
                Tag::Skin(side) => Some(side),
                Tag::Face(_) | Tag::Plane(_) => None,
            };
            ring.push((self.points.index(name, p), skin));
        }
        ring
    }

    /// Cuts a polygon in a tetrahedron by its planes and notes the rim.
    fn own_part(&mut self, tet: u32, polygon: Polygon, triangle: u32) -> Option<Part> {
        if polygon.is_empty() {
            return None;
        }
        let nodes = self.fragments.mesh().tets()[tet as usize];
        let local = nodes.iter().position(|&n| self.fragment_of(n) == self.id)?;
        let fragments = self.fragments;
        let Some(cut) = fragments.cut(tet) else {
            let ring = self.ring(&polygon, triangle);
            return Some(Part { polygon, ring });
        };
        let mut part = polygon;
        for (k, plane) in cut.planes().iter().enumerate() {
            if plane[local] == 0.0 {
                continue;
            }
            let number = plane_number(tet, k);
            let (value, origin, gradient) = self.points.linear(number)?;
            let height = |p: DVec3| value + gradient.dot(p - origin);
            let (upper, lower) = part.split(height, Tag::Plane(number));
            part = if plane[local] > 0.0 { upper } else { lower };
            if part.is_empty() {
                return None;
            }
        }
        let ends: Vec<(DVec3, Tag)> = part.corners().map(|(p, _, tag)| (p, tag)).collect();
        let plain = self.ring(&part, triangle);
        let mut ring = Vec::with_capacity(plain.len() + 2);
        for i in 0..plain.len() {
            ring.push(plain[i]);
            let next = (i + 1) % plain.len();
            if let (begin, Tag::Plane(number)) = ends[i] {
                let rim = Rim {
                    planes: cut.planes(),
                    number,
                    triangle,
                    ends: [plain[i].0, plain[next].0],
                };
                let k = number as usize % 4;
                let [positive, negative] = signs(&cut.planes()[k]);
                let beyond = if positive & (1 << local) != 0 {
                    negative
                } else {
                    positive
                };
                self.add_rim(&rim, [begin, ends[next].0], beyond, &mut ring);
            }
        }
        Some(Part {
            polygon: part,
            ring,
        })
    }

    /// Notes a side on a crack: divided where what is beyond is parted, so that the pieces
    /// there have the same corners.
    fn add_rim(
        &mut self,
        rim: &Rim<'_>,
        [begin, end]: [DVec3; 2],
        mut beyond: u8,
        ring: &mut Vec<(u32, Option<u8>)>,
    ) {
        let (tet, k) = (rim.number / 4, rim.number as usize % 4);
        for (l, plane) in rim.planes.iter().enumerate().skip(k + 1) {
            let [positive, negative] = signs(plane);
            if positive & beyond == 0 || negative & beyond == 0 {
                continue;
            }
            let other = plane_number(tet, l);
            let Some((value, origin, gradient)) = self.points.linear(other) else {
                continue;
            };
            let height = |p: DVec3| value + gradient.dot(p - origin);
            let (h, g) = (height(begin), height(end));
            if (h > 0.0) == (g > 0.0) {
                beyond &= if h > 0.0 { positive } else { negative };
                continue;
            }
            let middle = begin + (end - begin) * (h / (h - g));
            let name = Name::Planes(rim.triangle, [rim.number, other]);
            let between = self.points.index(name, middle);
            let [first, last] = rim.ends;
            let sides = if h > 0.0 {
                [positive, negative]
            } else {
                [negative, positive]
            };
            // What is beyond may be parted again on either side.
            let rest = Rim {
                ends: [first, between],
                ..*rim
            };
            self.add_rim(&rest, [begin, middle], beyond & sides[0], ring);
            ring.push((between, None));
            let rest = Rim {
                ends: [between, last],
                ..*rim
            };
            self.add_rim(&rest, [middle, end], beyond & sides[1], ring);
            return;
        }
        let solid = self.map.solids.of_triangle[rim.triangle as usize];
        if solid != NONE {
            let key = (tet, k as u8, beyond.trailing_zeros() as u8);
            self.rims.entry(key).or_default().push(RimSide {
                ends: rim.ends,
                triangle: rim.triangle,
                solid,
            });
        }
    }

    /// Joins the parts of one triangle and fills the outline.
    fn emit_parts(&mut self, triangle: u32, parts: &[Part]) {
        let map = self.map;
        let corners = map.corners(triangle);
        let names = map.triangles[triangle as usize]
            .map(|v| self.points.index(Name::Vertex(v), DVec3::ZERO));
        let mut sides: Vec<OutlineSide> = Vec::new();
        for Part { ring, .. } in parts {
            for (i, &(a, skin)) in ring.iter().enumerate() {
                let b = ring[(i + 1) % ring.len()].0;
                if a != b {
                    sides.push((a, b, skin));
                }
            }
        }
        if parts.len() > 1 {
            cancel(&mut sides);
        }
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
            self.add_whole(triangle);
            return;
        }
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        let frame = Frame::new(normal, corners[0]);
        let flat: Vec<Vec<Corner>> = loops
            .iter()
            .map(|outline| {
                let place = |name: u32| frame.flat(self.points.place(name));
                outline.iter().map(|s| (s.0, place(s.0))).collect()
            })
            .collect();
        let mut faces = Vec::new();
        ears::triangulate(&flat, &mut faces);
        if map.careful[triangle as usize] && !self.covers(&faces, parts, normal.length()) {
            faces.clear();
            for Part { ring, .. } in parts {
                faces.extend((2..ring.len()).map(|i| [ring[0].0, ring[i - 1].0, ring[i].0]));
            }
        }
        for face in faces {
            let corners = face.map(|name| {
                let vertex = match self.points.name(name) {
                    Name::Vertex(vertex) => Some(vertex),
                    _ => None,
                };
                self.skin_corner(triangle, vertex, self.points.place(name))
            });
            let triangle = map.parent[triangle as usize];
            self.dress.cut.push(SkinFace { triangle, corners });
        }
    }

    /// Adds a triangle of which the fragment has all.
    fn add_whole(&mut self, triangle: u32) {
        let map = self.map;
        let parent = map.parent[triangle as usize];
        if !map.is_divided(triangle) {
            self.dress.whole.push(parent);
            return;
        }
        let corners = map.triangles[triangle as usize]
            .map(|v| self.skin_corner(triangle, Some(v), map.positions[v as usize]));
        self.dress.cut.push(SkinFace {
            triangle: parent,
            corners,
        });
    }

    /// A point of a triangle, perhaps a vertex of the skin, in the triangle that was given.
    fn skin_corner(&self, triangle: u32, vertex: Option<u32>, p: DVec3) -> SkinCorner {
        let given = self.map.given[self.map.parent[triangle as usize] as usize];
        SkinCorner {
            position: p.as_vec3(),
            weights: match given.iter().position(|&v| Some(v) == vertex) {
                Some(k) => [0, 1, 2].map(|i| f32::from(u8::from(i == k))),
                None => weights_in(given.map(|v| self.map.positions[v as usize]), p),
            },
        }
    }

    /// Whether the joined parts of a triangle have the area of the parts. Where a skin leaves
    /// the cage, or the cage runs through itself, parts meet side by side without the same
    /// corners, and their outline is none. `whole` is twice the triangle's area.
    fn covers(&self, faces: &[[u32; 3]], parts: &[Part], whole: f64) -> bool {
        let area = |face: &[u32; 3]| {
            let [a, b, c] = face.map(|name| self.points.place(name));
            (b - a).cross(c - a).length()
        };
        let joined: f64 = faces.iter().map(area).sum();
        let wanted: f64 = parts
            .iter()
            .map(|p| p.polygon.doubled_area().length())
            .sum();
        (joined - wanted).abs() <= 1e-6 * whole
    }
}

/// A side of a part of a triangle that lies on a crack.
#[derive(Clone, Copy)]
struct Rim<'a> {
    /// All of the tetrahedron.
    planes: &'a [[f32; 4]],
    /// The one that it lies on.
    number: u32,
    triangle: u32,
    ends: [u32; 2],
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
