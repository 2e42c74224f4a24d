//! Mass, centre, inertia and box of a fragment, straight from tetrahedra and cuts.
//!
//! A body that was just born must be weighed before the next step; its surface is not
//! needed until somebody draws it. Steps: for every tetrahedron that can hold surface,
//! the polygons that its pieces show to the outside -> their corners, each computed once
//! per tetrahedron, never welded -> the integral over the boundary ([`MassSum`]).
//! [`FragmentMass::of`] does so for one fragment, [`FragmentMass::of_split`] for all that
//! a fracture has made.
//!
//! **Guarantee**: [`FragmentMass::of`] gives the same bits as
//! [`crate::FragmentSurface::mass_properties`] and [`crate::FragmentSurface::bounds`] of
//! the extracted surface: the same triangles are added up in the same order, and a corner
//! has the same position in all tetrahedra around it. [`FragmentMass::of_split`] adds
//! them in another order: equal to the rounding of f64.

use glam::{DVec3, Vec3};

use crate::fragment::cut_point;
use crate::fragment::{FragmentId, Fragments, Split, TetCut};
use crate::mass_properties::{MassProperties, MassSum};
use crate::tet_mesh::{NONE, TET_FACES};
use crate::tet_part::{Corner, CornerPoints, Side, TetPart, signs};

/// What the next step needs to know of a fragment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FragmentMass {
    /// Volume, centre and inertia at unit density.
    pub properties: MassProperties,
    /// Smallest coordinates of its surface.
    pub low: Vec3,
    /// Largest coordinates of its surface.
    pub high: Vec3,
}

/// Workspace for [`FragmentMass::of`], to be used again and again.
#[derive(Clone, Debug, Default)]
pub struct MassScratch {
    /// Triangles of cracks: they are added after the old ones.
    cracks: Vec<[DVec3; 3]>,
}

impl FragmentMass {
    /// Weighs a living fragment.
    ///
    /// # Panics
    /// When the id is not of this object. A broken fragment has no mass and a box at
    /// the origin.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn of(fragments: &Fragments, id: FragmentId, scratch: &mut MassScratch) -> Self {
        let mesh = fragments.mesh();
        let mut weigh = Weighing::new(fragments, id);
        scratch.cracks.clear();
        fragments.for_each_surface_tet_of(id, |tet, local| {
            let across = mesh.neighbours()[tet as usize];
            let cut = fragments.cut(tet);
            let points = CornerPoints::new(mesh, tet, cut);
            let mut known = KnownCorners::default();
            TetPart::of(cut, local)
                .polygons()
                .iter()
                .for_each(|polygon| {
                    let at = |corner| known.at(&points, corner);
                    match polygon.side {
                        Side::Face(k) if across[k as usize] == NONE => {
                            weigh.add(polygon.corners(), at);
                        }
                        Side::Face(_) => {}
                        Side::Plane(_) => weigh.put_off(polygon.corners(), at, &mut scratch.cracks),
                    }
                });
        });
        for &triangle in &scratch.cracks {
            weigh.sum.add(triangle);
        }
        weigh.finish()
    }

    /// Weighs all fragments that a fracture has made, in the order of `split.children`.
    /// Every tetrahedron is visited once, and both sides of a crack share its corners.
    ///
    /// Equal to `FragmentMass::of` up to the rounding of sums in f64; boxes bit for bit.
    #[must_use]
    pub fn of_split(fragments: &Fragments, split: &Split) -> Vec<Self> {
        let mesh = fragments.mesh();
        let Some(&first) = split.children.first() else {
            return Vec::new();
        };
        let mut all = Children {
            fragments,
            first,
            sums: split
                .children
                .iter()
                .map(|&id| Weighing::new(fragments, id))
                .collect(),
        };
        if split.parent == FragmentId(0) {
            // All tetrahedra, in the order in which they lie in memory.
            for tet in 0..mesh.tets().len() as u32 {
                all.add_tet(tet);
            }
        } else {
            let labels = fragments.node_fragment();
            for &child in &split.children {
                for &n in fragments.fragment(child).nodes() {
                    for &tet in mesh.adjacent_tets(n) {
                        // From its lowest node that is in one of the new fragments.
                        let nodes = mesh.tets()[tet as usize];
                        if nodes.iter().all(|&m| m >= n || labels[m as usize] < first) {
                            all.add_tet(tet);
                        }
                    }
                }
            }
        }
        all.sums.into_iter().map(Weighing::finish).collect()
    }
}

/// The sums of all fragments that one fracture has made.
struct Children<'a> {
    fragments: &'a Fragments,
    first: FragmentId,
    sums: Vec<Weighing>,
}

impl Children<'_> {
    /// Adds what the pieces of one tetrahedron show to the outside.
    fn add_tet(&mut self, tet: u32) {
        let fragments = self.fragments;
        if !fragments.holds_surface(tet) {
            return;
        }
        let (mesh, labels) = (fragments.mesh(), fragments.node_fragment());
        let nodes = mesh.tets()[tet as usize];
        let across = mesh.neighbours()[tet as usize];
        let Some(cut) = fragments.cut(tet) else {
            // A whole tetrahedron shows its faces on the object's boundary.
            let corners = mesh.corners(tet);
            let Some(weigh) = self.of(labels[nodes[0] as usize]) else {
                return;
            };
            for face in (0..4).filter(|&k| across[k] == NONE) {
                let triangle = TET_FACES[face].map(|i| corners[i]);
                triangle.into_iter().for_each(|p| weigh.reach(p));
                weigh.sum.add(triangle.map(Vec3::as_dvec3));
            }
            return;
        };
        match cut.planes() {
            [plane] => self.add_halves(tet, plane),
            _ => self.add_pieces(tet, cut),
        }
    }

    /// The two pieces of a tetrahedron with one plane: corners are nodes and cuts of edges.
    fn add_halves(&mut self, tet: u32, plane: &[f32; 4]) {
        let (mesh, labels) = (self.fragments.mesh(), self.fragments.node_fragment());
        let (nodes, corners) = (mesh.tets()[tet as usize], mesh.corners(tet));
        let across = mesh.neighbours()[tet as usize];
        let at = |corner: Corner| {
            let i = corner.trailing_zeros() as usize;
            let rest = corner & !(1 << i);
            if rest == 0 {
                return corners[i].as_dvec3();
            }
            let j = rest.trailing_zeros() as usize;
            let (i, j) = if nodes[i] < nodes[j] { (i, j) } else { (j, i) };
            cut_point(corners[i], corners[j], plane[i], plane[j]).1
        };
        let is_outside = across.contains(&NONE);
        let mut cap = [DVec3::ZERO; 4];
        let mut count = 0;
        for kept in signs(plane) {
            let piece = TetPart::of_one_plane(kept);
            if count == 0 {
                let caps = piece.polygons().iter();
                for polygon in caps.filter(|p| matches!(p.side, Side::Plane(_))) {
                    for &corner in polygon.corners().iter().take(4) {
                        cap[count] = at(corner);
                        count += 1;
                    }
                }
            } else {
                // The other side sees the crack from behind.
                cap[..count].reverse();
            }
            let own = kept.trailing_zeros() as usize % 4;
            let Some(weigh) = self.of(labels[nodes[own] as usize]) else {
                continue;
            };
            cap[..count].iter().for_each(|p| weigh.reach(p.as_vec3()));
            for i in 2..count {
                weigh.sum.add([cap[0], cap[i - 1], cap[i]]);
            }
            if is_outside {
                for polygon in piece.polygons() {
                    if matches!(polygon.side, Side::Face(k) if across[k as usize] == NONE) {
                        weigh.add(polygon.corners(), at);
                    }
                }
            }
        }
    }

    /// The pieces of a tetrahedron with several planes.
    fn add_pieces(&mut self, tet: u32, cut: &TetCut) {
        let (mesh, labels) = (self.fragments.mesh(), self.fragments.node_fragment());
        let owners = mesh.tets()[tet as usize].map(|n| labels[n as usize]);
        let across = mesh.neighbours()[tet as usize];
        let points = CornerPoints::new(mesh, tet, Some(cut));
        let mut known = KnownCorners::default();
        for local in 0..4 {
            if owners[..local].contains(&owners[local]) {
                continue;
            }
            let Some(weigh) = self.of(owners[local]) else {
                continue;
            };
            for polygon in TetPart::of(Some(cut), local).polygons() {
                let inside = matches!(polygon.side, Side::Face(k) if across[k as usize] != NONE);
                if !inside {
                    weigh.add(polygon.corners(), |corner| known.at(&points, corner));
                }
            }
        }
    }

    #[inline]
    fn of(&mut self, id: FragmentId) -> Option<&mut Weighing> {
        let at = id.0.checked_sub(self.first.0)?;
        self.sums.get_mut(at as usize)
    }
}

/// The sums of one fragment.
struct Weighing {
    sum: MassSum,
    low: Vec3,
    high: Vec3,
}

impl Weighing {
    fn new(fragments: &Fragments, id: FragmentId) -> Self {
        let first = fragments.fragment(id).nodes().first();
        let origin = first.map_or(DVec3::ZERO, |&n| {
            fragments.mesh().positions()[n as usize].as_dvec3()
        });
        Self {
            sum: MassSum::new(origin),
            low: Vec3::INFINITY,
            high: Vec3::NEG_INFINITY,
        }
    }

    #[inline]
    fn reach(&mut self, p: Vec3) {
        self.low = self.low.min(p);
        self.high = self.high.max(p);
    }

    /// Calls back with the triangles of a polygon; `at` says where a corner is.
    #[inline]
    fn triangles(
        &mut self,
        polygon: &[Corner],
        mut at: impl FnMut(Corner) -> DVec3,
        mut found: impl FnMut(&mut MassSum, [DVec3; 3]),
    ) {
        let mut corners = [DVec3::ZERO; 6];
        for (slot, &corner) in corners.iter_mut().zip(polygon) {
            *slot = at(corner);
            self.reach(slot.as_vec3());
        }
        for i in 2..polygon.len() {
            found(&mut self.sum, [corners[0], corners[i - 1], corners[i]]);
        }
    }

    #[inline]
    fn add(&mut self, polygon: &[Corner], at: impl FnMut(Corner) -> DVec3) {
        self.triangles(polygon, at, MassSum::add);
    }

    /// To be added later.
    fn put_off(
        &mut self,
        polygon: &[Corner],
        at: impl FnMut(Corner) -> DVec3,
        later: &mut Vec<[DVec3; 3]>,
    ) {
        self.triangles(polygon, at, |_, triangle| later.push(triangle));
    }

    fn finish(self) -> FragmentMass {
        let is_empty = self.low.x > self.high.x;
        FragmentMass {
            properties: self.sum.finish(),
            low: if is_empty { Vec3::ZERO } else { self.low },
            high: if is_empty { Vec3::ZERO } else { self.high },
        }
    }
}

/// Corners of one tetrahedron that were asked for already.
#[derive(Default)]
struct KnownCorners {
    mask: u16,
    points: [DVec3; 16],
}

impl KnownCorners {
    fn at(&mut self, points: &CornerPoints<'_>, corner: Corner) -> DVec3 {
        let bit = 1 << corner;
        if self.mask & bit == 0 {
            self.mask |= bit;
            self.points[corner as usize] = points.at(corner);
        }
        self.points[corner as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, box_grid};
    use crate::{Crack, Fracture, FragmentSurface, SurfaceScratch};
    use std::sync::Arc;

    /// Equal but for the rounding of sums.
    fn assert_close(a: &FragmentMass, b: &FragmentMass) {
        assert_eq!((a.low, a.high), (b.low, b.high));
        let (a, b) = (&a.properties, &b.properties);
        assert!((a.volume - b.volume).abs() <= 1e-13 * b.volume);
        assert!((a.centre - b.centre).length() <= 1e-12);
        let off = (a.inertia - b.inertia).to_cols_array();
        let size = b
            .inertia
            .to_cols_array()
            .iter()
            .fold(0.0_f64, |m, x| m.max(x.abs()));
        assert!(
            off.iter().all(|x| x.abs() <= 1e-10 * size),
            "{off:?} of {size}"
        );
    }

    #[test]
    fn masses_and_boxes_are_those_of_the_surface_bit_for_bit() {
        let mesh = Arc::new(box_grid([4, 3, 5], Vec3::new(4.0, 3.0, 5.0)));
        let (mut surfaces, mut masses) = (SurfaceScratch::default(), MassScratch::default());
        let mut checked = 0;
        for seed in 0..8 {
            let mut fragments = Fragments::new(mesh.clone());
            let mut rng = Rng(seed);
            for _ in 0..40 {
                let living: Vec<_> = fragments.living().collect();
                let fragment = living[rng.below(living.len())];
                let nodes = fragments.fragment(fragment).nodes();
                let middle = mesh.positions()[nodes[rng.below(nodes.len())] as usize];
                let (direction, noise) = (rng.direction(), rng.range(0.0, 0.6));
                let crack = Crack::from_level(&mesh, 0, nodes, |n| {
                    let at = mesh.positions()[n as usize];
                    direction.dot(at - middle) + rng.range(-noise, noise)
                });
                let cracks: Vec<_> = crack.into_iter().collect();
                let split = fragments.apply(&Fracture { fragment, cracks });
                if let Ok(split) = &split {
                    let all = FragmentMass::of_split(&fragments, split);
                    assert_eq!(all.len(), split.children.len());
                    for (found, &id) in all.iter().zip(&split.children) {
                        let alone = FragmentMass::of(&fragments, id, &mut masses);
                        assert_close(found, &alone);
                    }
                }
                for id in fragments.living() {
                    let found = FragmentMass::of(&fragments, id, &mut masses);
                    let surface = FragmentSurface::extract(&fragments, id, &mut surfaces);
                    assert_eq!(found.properties, *surface.mass_properties());
                    assert_eq!((found.low, found.high), surface.bounds());
                    checked += 1;
                }
            }
            let dead = FragmentMass::of(&fragments, FragmentId(0), &mut masses);
            assert_eq!(dead.properties.volume, 0.0);
            assert_eq!((dead.low, dead.high), (Vec3::ZERO, Vec3::ZERO));
        }
        assert!(checked > 2000, "{checked}");
    }
}
