//! Which tetrahedra overlap, between objects and between the parts of one object.
//!
//! 1. Every part gets a box; where two parts' boxes meet, only tetrahedra that reach
//!    into the common region go on;
//! 2. the voxel hash pairs their boxes;
//! 3. clear cases are told by prepared face planes, the others by the exact overlap
//!    test;
//! 4. what is left is sorted.
//!
//! [Marchal 2004, section 3]. Triangles of cloth-like partners are tested against
//! tetrahedra the same way [section 6].
//!
//! **Guarantee.** Exactly the pairs of tetrahedra of different parts whose interiors
//! meet, by the rule of [`fracas_geometry::primitives::tet_tet`], each once, in a fixed order.
//! Overlaps *within* one part (a body folded into itself) are not looked for.

use glam::Vec3;

use super::topology::Topology;
use super::voxel_hash::{GroupedBox, VoxelHash};
use fracas_geometry::primitives::prepared_tet::{PreparedTet, Sure, prepared_overlap};
use fracas_geometry::primitives::tri_tet::tri_tet_overlap;

/// An object as it is in this step.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    /// Its adjacency.
    pub topology: &'a Topology,
    /// Its nodes, now.
    pub positions: &'a [Vec3],
}

impl Object<'_> {
    /// The corners of a tetrahedron, now.
    #[must_use]
    pub fn corners(&self, tet: u32) -> [Vec3; 4] {
        self.topology.tets()[tet as usize].map(|n| self.positions[n as usize])
    }
}

/// A triangle mesh without inside, as it is in this step.
#[derive(Clone, Copy, Debug)]
pub struct Sheet<'a> {
    /// Its triangles.
    pub triangles: &'a [[u32; 3]],
    /// Its nodes, now.
    pub positions: &'a [Vec3],
}

/// A tetrahedron of one of several objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TetOf {
    /// Which object.
    pub object: u32,
    /// Which of its tetrahedra.
    pub tet: u32,
}

/// An edge (or a node: both ends equal) of a surface that passes through a tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EdgeInTet {
    /// The tetrahedron.
    pub tet: TetOf,
    /// The object that the edge is of.
    pub object: u32,
    /// Its ends, the lower first.
    pub edge: [u32; 2],
}

impl TetOf {
    /// The same order in one number.
    fn key(self) -> u64 {
        u64::from(self.object) << 32 | u64::from(self.tet)
    }
}

/// A triangle of a sheet inside a tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TriangleInTet {
    /// Which triangle of the sheet.
    pub triangle: u32,
    /// The tetrahedron it enters.
    pub tet: TetOf,
}

/// The broad phase's memory, kept from step to step.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    hash: VoxelHash,
    parts: Vec<GroupedBox>,
    /// Per part: the region where other parts may be.
    regions: Vec<GroupedBox>,
    boxes: Vec<GroupedBox>,
    owners: Vec<TetOf>,
    /// The corners of what is in `boxes`.
    corners: Vec<[Vec3; 4]>,
    prepared: Vec<PreparedTet>,
    pairs: Vec<[u32; 2]>,
    tested: usize,
    /// Whether pairs are tested on the caller's rayon pool (with the feature `parallel`).
    /// Changes no result.
    pub parallel: bool,
}

/// Slots of the hash that a thread takes at a time.
#[cfg(feature = "parallel")]
const SLOTS_PER_TASK: usize = 1024;

fn nowhere(group: u32) -> GroupedBox {
    GroupedBox {
        lo: Vec3::splat(f32::INFINITY),
        hi: Vec3::splat(f32::NEG_INFINITY),
        group,
    }
}

fn join(a: &mut GroupedBox, lo: Vec3, hi: Vec3) {
    (a.lo, a.hi) = (a.lo.min(lo), a.hi.max(hi));
}

impl Detector {
    /// How many pairs of boxes the last call handed to the exact test.
    #[must_use]
    pub fn tested(&self) -> usize {
        self.tested
    }

    /// Appends all overlapping pairs of tetrahedra of different parts.
    pub fn overlaps(&mut self, objects: &[Object], out: &mut Vec<[TetOf; 2]>) {
        self.box_parts(objects);
        self.pairs.clear();
        self.hash.pairs(&self.parts, &mut self.pairs);
        self.regions.clear();
        self.regions
            .extend((0..self.parts.len()).map(|i| nowhere(i as u32)));
        for &[i, j] in &self.pairs {
            let (a, b) = (self.parts[i as usize], self.parts[j as usize]);
            let (lo, hi) = (a.lo.max(b.lo), a.hi.min(b.hi));
            join(&mut self.regions[i as usize], lo, hi);
            join(&mut self.regions[j as usize], lo, hi);
        }
        self.box_tets(objects, 0.0);
        let first = out.len();
        self.tested = self.test_pairs(out);
        out[first..].sort_unstable_by_key(|&[a, b]| (a.key(), b.key()));
    }

    /// Tests what the hash pairs, in no particular order. Returns how many pairs that were.
    fn test_pairs(&mut self, out: &mut Vec<[TetOf; 2]>) -> usize {
        self.hash.fill(&self.boxes);
        let (owners, corners, prepared) = (&self.owners, &self.corners, &self.prepared);
        let test = |i: u32, j: u32, (out, tested): (&mut Vec<[TetOf; 2]>, &mut usize)| {
            let [i, j] = [i as usize, j as usize];
            *tested += 1;
            if prepared_overlap((&prepared[i], &corners[i]), (&prepared[j], &corners[j])) {
                let (a, b) = (owners[i], owners[j]);
                out.push([a.min(b), a.max(b)]);
            }
        };
        let (hash, boxes, slots) = (&self.hash, &self.boxes, self.hash.slots());
        let mut tested = 0;
        hash.visit_large(boxes, |i, j| test(i, j, (out, &mut tested)));
        #[cfg(feature = "parallel")]
        if self.parallel {
            use rayon::prelude::*;
            let chunks = slots.div_ceil(SLOTS_PER_TASK);
            let tasks = (0..chunks).into_par_iter().map(|c| {
                let range = c * SLOTS_PER_TASK..slots.min((c + 1) * SLOTS_PER_TASK);
                let (mut found, mut tested) = (Vec::new(), 0);
                hash.visit_slots(boxes, range, |i, j| test(i, j, (&mut found, &mut tested)));
                (found, tested)
            });
            let all: Vec<(Vec<[TetOf; 2]>, usize)> = tasks.collect();
            for (found, count) in all {
                out.extend(found);
                tested += count;
            }
            return tested;
        }
        hash.visit_slots(boxes, 0..slots, |i, j| test(i, j, (out, &mut tested)));
        tested
    }

    /// Appends all pairs of a triangle and a tetrahedron it enters.
    pub fn triangle_overlaps(
        &mut self,
        sheet: &Sheet,
        objects: &[Object],
        out: &mut Vec<TriangleInTet>,
    ) {
        self.box_parts(objects);
        let corners = |t: usize| sheet.triangles[t].map(|n| sheet.positions[n as usize]);
        let mut whole = nowhere(0);
        for t in 0..sheet.triangles.len() {
            let b = GroupedBox::around(&corners(t), 0);
            join(&mut whole, b.lo, b.hi);
        }
        self.regions.clear();
        self.regions.resize(self.parts.len(), whole);
        let farthest = whole.lo.abs().max(whole.hi.abs()).max_element();
        self.box_tets(objects, farthest);
        // Tetrahedra are one group, triangles another.
        let tets = self.boxes.len();
        let mut reach = nowhere(0);
        for b in &mut self.boxes {
            b.group = 0;
            join(&mut reach, b.lo, b.hi);
        }
        for t in 0..sheet.triangles.len() {
            let b = GroupedBox::around(&corners(t), 1);
            if b.meets(&reach) {
                self.boxes.push(b);
                self.owners.push(TetOf {
                    object: u32::MAX,
                    tet: t as u32,
                });
            }
        }
        let (first, mut tested) = (out.len(), 0);
        let (owners, tet_corners, prepared) = (&self.owners, &self.corners, &self.prepared);
        self.hash.visit(&self.boxes, |i, j| {
            let [i, j] = [i as usize, j as usize];
            debug_assert!(i < tets && j >= tets);
            tested += 1;
            let triangle = owners[j].tet;
            let nodes = corners(triangle as usize);
            let enters = match prepared[i].judge(&nodes) {
                Sure::Apart => false,
                Sure::Inside => true,
                Sure::Not => tri_tet_overlap(nodes, tet_corners[i]),
            };
            if enters {
                let tet = owners[i];
                out.push(TriangleInTet { triangle, tet });
            }
        });
        self.tested = tested;
        out[first..].sort_unstable();
    }

    fn box_parts(&mut self, objects: &[Object]) {
        self.parts.clear();
        for object in objects {
            let offset = self.parts.len();
            let count = object.topology.part_count();
            self.parts
                .extend((offset..offset + count).map(|i| nowhere(i as u32)));
            let tets = object.topology.tets().iter().zip(object.topology.parts());
            for (corners, &part) in tets {
                let part = &mut self.parts[offset + part as usize];
                for &n in corners {
                    let p = object.positions[n as usize];
                    join(part, p, p);
                }
            }
        }
    }

    /// Lists what reaches into the regions; `farthest` is the largest coordinate of
    /// whatever else it will be compared with.
    fn box_tets(&mut self, objects: &[Object], mut farthest: f32) {
        self.boxes.clear();
        self.owners.clear();
        self.corners.clear();
        // Part by part, as the hash likes its groups.
        let mut group = 0;
        for (i, object) in objects.iter().enumerate() {
            for part in 0..object.topology.part_count() as u32 {
                let region = self.regions[group as usize];
                let is_alone = region.lo.cmpgt(region.hi).any();
                let tets = object.topology.part_tets(part);
                for &t in tets.iter().filter(|_| !is_alone) {
                    let corners = object.corners(t);
                    let b = GroupedBox::around(&corners, group);
                    if b.meets(&region) {
                        self.boxes.push(b);
                        self.corners.push(corners);
                        farthest = farthest.max(b.lo.abs().max(b.hi.abs()).max_element());
                        self.owners.push(TetOf {
                            object: i as u32,
                            tet: t,
                        });
                    }
                }
                group += 1;
            }
        }
        self.prepared.clear();
        let corners = self.corners.iter();
        self.prepared
            .extend(corners.map(|&tet| PreparedTet::new(tet, farthest)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::primitives::tet_tet::tet_tet_overlap;
    use fracas_geometry::testing::{Rng, box_grid};

    #[test]
    fn finds_exactly_the_overlapping_pairs() {
        let mesh = box_grid([3, 3, 3], Vec3::ONE);
        let topology = Topology::build(mesh.positions().len(), mesh.tets()).unwrap();
        let mut detector = Detector::default();
        let mut rng = Rng(8);
        for round in 0..6 {
            let offset = rng.direction() * rng.range(0.3, 1.2);
            let moved: Vec<Vec3> = mesh
                .positions()
                .iter()
                .map(|&p| Vec3::new(p.y, -p.x, p.z) + offset)
                .collect();
            let far: Vec<Vec3> = moved.iter().map(|&p| p + Vec3::splat(0.4)).collect();
            let objects = [mesh.positions(), &moved, &far].map(|positions| Object {
                topology: &topology,
                positions,
            });
            let mut found = Vec::new();
            detector.overlaps(&objects, &mut found);
            let mut expected = Vec::new();
            for i in 0..3_u32 {
                for j in i + 1..3 {
                    for s in 0..mesh.tets().len() as u32 {
                        for t in 0..mesh.tets().len() as u32 {
                            let (a, b) = (&objects[i as usize], &objects[j as usize]);
                            if tet_tet_overlap(a.corners(s), b.corners(t)) {
                                let pair = [(i, s), (j, t)];
                                expected.push(pair.map(|(object, tet)| TetOf { object, tet }));
                            }
                        }
                    }
                }
            }
            let mut on_threads = Vec::new();
            detector.parallel = true;
            detector.overlaps(&objects, &mut on_threads);
            detector.parallel = false;
            assert_eq!(found, on_threads, "the same on any threads");
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "round {round}");

            let sheet_nodes: Vec<Vec3> = (0..30)
                .map(|_| rng.in_box(Vec3::ZERO, Vec3::splat(1.5)))
                .collect();
            let triangles: Vec<[u32; 3]> = (0..10).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
            let sheet = Sheet {
                triangles: &triangles,
                positions: &sheet_nodes,
            };
            let mut found = Vec::new();
            detector.triangle_overlaps(&sheet, &objects, &mut found);
            let mut expected = Vec::new();
            for (i, t) in triangles.iter().enumerate() {
                for (o, object) in objects.iter().enumerate() {
                    for tet in 0..mesh.tets().len() as u32 {
                        let corners = t.map(|n| sheet_nodes[n as usize]);
                        if tri_tet_overlap(corners, object.corners(tet)) {
                            let object = o as u32;
                            expected.push(TriangleInTet {
                                triangle: i as u32,
                                tet: TetOf { object, tet },
                            });
                        }
                    }
                }
            }
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn parts_of_one_object_collide_and_neighbours_do_not() {
        let a = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let mut positions: Vec<Vec3> = a.to_vec();
        positions.extend(a.map(|p| p + Vec3::splat(0.1)));
        let topology = Topology::build(8, &[[0, 1, 2, 3], [4, 5, 6, 7]]).unwrap();
        let mut detector = Detector::default();
        let mut found = Vec::new();
        let objects = [Object {
            topology: &topology,
            positions: &positions,
        }];
        detector.overlaps(&objects, &mut found);
        assert_eq!(found.len(), 1);

        let mesh = box_grid([2, 2, 2], Vec3::ONE);
        let whole = Topology::build(mesh.positions().len(), mesh.tets()).unwrap();
        found.clear();
        let objects = [Object {
            topology: &whole,
            positions: mesh.positions(),
        }];
        detector.overlaps(&objects, &mut found);
        assert!(found.is_empty());
        detector.overlaps(&[], &mut found);
        assert!(found.is_empty());
    }

    #[test]
    fn parts_that_lie_mixed_in_one_object_are_found_like_any_others() {
        let mesh = box_grid([3, 2, 2], Vec3::ONE);
        let nodes = mesh.positions().len() as u32;
        let (mut tets, mut positions) = (Vec::new(), Vec::new());
        for &t in mesh.tets() {
            tets.extend((0..3).map(|copy| t.map(|n| n + copy * nodes)));
        }
        for copy in 0..3_u8 {
            let offset = Vec3::new(0.31, 0.17, -0.23) * f32::from(copy);
            positions.extend(mesh.positions().iter().map(|&p| p + offset));
        }
        let topology = Topology::build(positions.len(), &tets).unwrap();
        topology.validate().unwrap();
        assert_eq!(topology.part_count(), 3);
        let object = Object {
            topology: &topology,
            positions: &positions,
        };
        let mut found = Vec::new();
        Detector::default().overlaps(&[object], &mut found);
        let mut expected = Vec::new();
        for s in 0..tets.len() as u32 {
            for t in s + 1..tets.len() as u32 {
                let parted = topology.parts()[s as usize] != topology.parts()[t as usize];
                if parted && tet_tet_overlap(object.corners(s), object.corners(t)) {
                    expected.push([s, t].map(|tet| TetOf { object: 0, tet }));
                }
            }
        }
        assert!(expected.len() > 100);
        assert_eq!(found, expected, "each once, in order");
    }
}
