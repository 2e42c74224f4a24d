//! Names of the points that cuts make, and where they are.
//!
//! A point of a cut skin lies on a side or in a triangle of the skin, and on faces of the
//! mesh or planes of cracks: these are its name. All that share a point give it the same
//! name, so pieces are closed whatever the rounding; and where it is follows from its name
//! alone, so both sides of a crack have the same bits.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use glam::DVec3;

use crate::fragment::Fragments;
use crate::tet_mesh::{NONE, TET_FACES, TetMesh};

use super::SkinMap;
use super::polygon::Tag;
use super::tets::CageTet;

/// What a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Name {
    /// A vertex of the skin.
    Vertex(u32),
    /// A side of the skin, by its vertices, in a face.
    SideFace([u32; 2], u32),
    /// A side of the skin in a crack plane.
    SidePlane([u32; 2], u32),
    /// A triangle on an edge of the mesh.
    Edge(u32, [u32; 2]),
    /// A triangle on the line in which a crack meets a face: face, and how the crack parts
    /// the face's nodes.
    Line(u32, u32, u8),
    /// A triangle in two crack planes of one tetrahedron.
    Planes(u32, [u32; 2]),
    /// A triangle on two faces, or on a face and a plane, that have nothing in common: where
    /// the cage runs through itself.
    Stray(u32, [u32; 2], bool),
    /// A corner of the cut mesh, by the nodes of its simplex.
    Corner([u32; 4]),
}

/// The number of a tetrahedron's face, the same for both tetrahedra of the face.
pub(super) fn face_number(mesh: &TetMesh, tet: u32, face: usize) -> u32 {
    let across = mesh.neighbours()[tet as usize][face];
    if across == NONE || tet < across {
        return 4 * tet + face as u32;
    }
    let back = mesh.neighbours()[across as usize]
        .iter()
        .position(|&t| t == tet);
    4 * across + back.unwrap_or(0) as u32
}

/// The numbers of all faces of a tetrahedron.
pub(super) fn face_numbers(mesh: &TetMesh, tet: u32) -> [u32; 4] {
    std::array::from_fn(|i| face_number(mesh, tet, i))
}

/// The number of a crack plane of a tetrahedron: it has three at most.
pub(super) fn plane_number(tet: u32, plane: usize) -> u32 {
    4 * tet + plane as u32
}

/// The nodes of a face in increasing order.
fn face_nodes(mesh: &TetMesh, face: u32) -> [u32; 3] {
    let nodes = mesh.tets()[face as usize / 4];
    let mut face = TET_FACES[face as usize % 4].map(|k| nodes[k]);
    face.sort_unstable();
    face
}

fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// Multiplies and mixes: names are numbers, and nobody chooses them to collide.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NameHasher(u64);

impl Hasher for NameHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// Named points, in the order in which they were asked for.
pub(super) struct Points<'a> {
    map: &'a SkinMap,
    fragments: &'a Fragments,
    /// Asked by name only: its order plays no part.
    known: HashMap<Name, u32, BuildHasherDefault<NameHasher>>,
    names: Vec<Name>,
    places: Vec<DVec3>,
}

impl<'a> Points<'a> {
    pub fn new(map: &'a SkinMap, fragments: &'a Fragments) -> Self {
        Self {
            map,
            fragments,
            known: HashMap::default(),
            names: Vec::new(),
            places: Vec::new(),
        }
    }

    /// The number of a point. `near` is where it is where its name does not say it.
    pub fn index(&mut self, name: Name, near: DVec3) -> u32 {
        if let Some(&known) = self.known.get(&name) {
            return known;
        }
        let new = self.places.len() as u32;
        let place = self.place_of(name).filter(|p| p.is_finite());
        self.places.push(place.unwrap_or(near));
        self.names.push(name);
        self.known.insert(name, new);
        new
    }

    pub fn place(&self, point: u32) -> DVec3 {
        self.places[point as usize]
    }

    pub fn name(&self, point: u32) -> Name {
        self.names[point as usize]
    }

    /// What lies on two sides of a part of a triangle.
    pub fn name_of(&self, triangle: u32, one: Tag, other: Tag) -> Name {
        let vertices = self.map.triangles[triangle as usize];
        let side = |s: u8| {
            let s = usize::from(s);
            sorted([vertices[s], vertices[(s + 1) % 3]])
        };
        match (one, other) {
            (Tag::Skin(a), Tag::Skin(b)) => {
                // The corner where the two meet: the one that the third does not touch.
                let begin = if (a + 1) % 3 == b { b } else { a };
                Name::Vertex(vertices[usize::from(begin)])
            }
            (Tag::Skin(s), Tag::Face(f)) | (Tag::Face(f), Tag::Skin(s)) => {
                Name::SideFace(side(s), f)
            }
            (Tag::Skin(s), Tag::Plane(p)) | (Tag::Plane(p), Tag::Skin(s)) => {
                Name::SidePlane(side(s), p)
            }
            (Tag::Face(f), Tag::Face(g)) => self.of_faces(triangle, f, g),
            (Tag::Face(f), Tag::Plane(p)) | (Tag::Plane(p), Tag::Face(f)) => {
                self.of_line(triangle, f, p)
            }
            (Tag::Plane(p), Tag::Plane(q)) => Name::Planes(triangle, sorted([p, q])),
        }
    }

    fn of_faces(&self, triangle: u32, f: u32, g: u32) -> Name {
        let mesh = self.fragments.mesh();
        let (one, other) = (face_nodes(mesh, f), face_nodes(mesh, g));
        let mut common = one.iter().copied().filter(|n| other.contains(n));
        match (common.next(), common.next(), common.next()) {
            (Some(a), Some(b), None) => Name::Edge(triangle, [a, b]),
            _ => Name::Stray(triangle, sorted([f, g]), true),
        }
    }

    fn of_line(&self, triangle: u32, face: u32, plane: u32) -> Name {
        let Some(levels) = self.levels_on(face, plane) else {
            return Name::Stray(triangle, [face, plane], false);
        };
        // The other tetrahedron of the face may count the other side as above.
        let first = levels.iter().find(|&&l| l != 0.0).copied().unwrap_or(1.0);
        let digit = |l: f64| {
            let l = l * first;
            u8::from(l != 0.0) + u8::from(l < 0.0)
        };
        let parted = levels.iter().fold(0, |sum, &l| 3 * sum + digit(l));
        Name::Line(triangle, face, parted)
    }

    /// A crack plane's levels at the nodes of a face, in their order; `None` where the face is
    /// none of the plane's tetrahedron.
    fn levels_on(&self, face: u32, plane: u32) -> Option<[f64; 3]> {
        let mesh = self.fragments.mesh();
        let (tet, k) = (plane / 4, plane as usize % 4);
        let nodes = mesh.tets()[tet as usize];
        let levels = self.fragments.cut(tet)?.planes().get(k)?;
        let mut found = [0.0; 3];
        for (level, node) in found.iter_mut().zip(face_nodes(mesh, face)) {
            let local = nodes.iter().position(|&n| n == node)?;
            *level = f64::from(levels[local]);
        }
        Some(found)
    }

    /// Where a crack plane is zero: the value at the tetrahedron's first corner, the corner,
    /// and the gradient.
    pub fn linear(&self, plane: u32) -> Option<(f64, DVec3, DVec3)> {
        let (tet, k) = (plane / 4, plane as usize % 4);
        let nodes = self.fragments.mesh().tets()[tet as usize];
        let levels = self.fragments.cut(tet)?.planes().get(k)?;
        let corners = nodes.map(|n| self.map.cage[n as usize]);
        let (value, gradient) = CageTet::linear_of(corners, levels.map(f64::from));
        Some((value, corners[0], gradient))
    }

    fn place_of(&self, name: Name) -> Option<DVec3> {
        let normal = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a);
        match name {
            Name::Vertex(v) => Some(self.map.positions[v as usize]),
            Name::SidePlane(side, plane) => {
                let (value, origin, gradient) = self.linear(plane)?;
                let [p, q] = side.map(|v| self.map.positions[v as usize]);
                let height = |p: DVec3| value + gradient.dot(p - origin);
                between(p, q, height(p), height(q))
            }
            Name::Line(triangle, face, parted) => {
                let [p, q] = self.line(face, parted)?;
                let corners = self.map.corners(triangle);
                let normal = normal(corners);
                let height = |p: DVec3| normal.dot(p - corners[0]);
                between(p, q, height(p), height(q))
            }
            Name::Planes(triangle, planes) => {
                let [one, other] = planes.map(|p| self.linear(p));
                let ((v, origin, g), (w, _, h)) = (one?, other?);
                let corners = self.map.corners(triangle);
                let n = normal(corners);
                let scale = g.dot(h.cross(n));
                let sum =
                    h.cross(n) * -v + n.cross(g) * -w + g.cross(h) * n.dot(corners[0] - origin);
                (scale != 0.0).then(|| origin + sum / scale)
            }
            Name::SideFace(..) | Name::Edge(..) | Name::Stray(..) | Name::Corner(_) => None,
        }
    }

    /// The ends of the line in which a crack that parts a face's nodes so meets the face.
    fn line(&self, face: u32, parted: u8) -> Option<[DVec3; 2]> {
        let mesh = self.fragments.mesh();
        let nodes = face_nodes(mesh, face);
        let digits = [parted / 9, parted / 3 % 3, parted % 3];
        // Either tetrahedron has the crack; both have the same levels here.
        let tet = face / 4;
        let cut = self.fragments.cut(tet)?;
        let plane = (0..cut.planes().len()).find_map(|k| {
            let number = plane_number(tet, k);
            (self.of_line(0, face, number) == Name::Line(0, face, parted)).then_some(number)
        })?;
        let levels = self.levels_on(face, plane)?;
        let place = |i: usize| self.map.cage[nodes[i] as usize];
        let mut ends = (0..3).filter(|&i| digits[i] == 0).map(place).chain(
            [(0, 1), (0, 2), (1, 2)].into_iter().filter_map(|(i, j)| {
                (digits[i] * digits[j] == 2)
                    .then(|| between(place(i), place(j), levels[i], levels[j]))?
            }),
        );
        Some([ends.next()?, ends.next()?])
    }
}

/// The point at height zero between two points, which lie above and below.
fn between(p: DVec3, q: DVec3, h: f64, k: f64) -> Option<DVec3> {
    let share = h / (h - k);
    share.is_finite().then(|| p + (q - p) * share)
}
