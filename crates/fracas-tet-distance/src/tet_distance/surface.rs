//! Which edges of the surface of one part pass through tetrahedra of another.
//!
//! The redundancy that [Marchal 2004, section 7] leaves for later: the overlapping pairs of
//! tetrahedra that meet in one place are many, and inner edges say again what those of the
//! surface say. Where two parts overlap, their surfaces cross, and an edge of one pierces the
//! other; or one lies in the other, with all its edges. So the edges of surfaces see every
//! overlap but that of surfaces that coincide, and pairs of tetrahedra need not be looked at:
//!
//! 1. the voxel hash pairs the boxes of parts;
//! 2. of two parts that meet, tetrahedra of the one are taken in blocks of 64; the edges of the
//!    other that reach a block's box are put in rows of their own, and tetrahedra of the block
//!    that reach these are compared with them, eight boxes at a time;
//! 3. an edge is clipped against the tetrahedron by the barycentric coordinates of its ends,
//!    with which [`super::respond`] works on.
//!
//! **Guarantee.** Exactly the edges whose clipped piece has a middle deeper than [`INSIDE`] of
//! each height of the tetrahedron, or in an inner face, edge or node of it, in f64; each once for
//! each tetrahedron, sorted, on any number of threads. What touches, or lies side by side as the
//! two banks of a crack do, is not found; nor are surfaces that coincide. Flat tetrahedra
//! and what is not finite meet nothing. A part folded into itself is not looked for. (Something
//! so far out that f64 rounds it by that share is found only where boxes meet, too.)

use glam::{Vec3, Vec3A};
use wide::f32x4;

use super::box_rows::{BoxRows, NOWHERE, box_around, join};
use super::detect::{EdgeInTet, Object, TetOf};
use super::respond::{Response, TetFrame, clip};
use super::topology::Topology;
use super::voxel_hash::{GroupedBox, VoxelHash};
use fracas_geometry::tet_mesh::NONE;

/// The share of a tetrahedron's height by which the middle of what is clipped lies inside:
/// less is what rounding of positions makes of things that touch.
const INSIDE: f64 = 1e-6;

/// The same of a tetrahedron's box: what is in a face up to rounding is outside the box by three
/// times that share of it at most.
const WIDER: f32 = 4e-6;

/// Blocks of tetrahedra that a thread takes at a time.
#[cfg(feature = "parallel")]
const BLOCKS_PER_TASK: usize = 16;

/// With more tetrahedra than so many for each edge that is found, counting them takes longer than
/// sorting edges.
const TETS_PER_EDGE: usize = 16;

/// A part of an object as it is in this step.
#[derive(Clone, Debug, Default)]
struct Part {
    object: u32,
    part: u32,
    /// Around all its nodes.
    whole: [Vec3; 2],
    meets_any: bool,
    tets: BoxRows,
    edges: BoxRows,
    /// The nodes of the surface, each twice, where points are asked for.
    points: Vec<[u32; 2]>,
}

/// The edges of a part are looked for in a block of tetrahedra of another one.
#[derive(Clone, Copy, Debug)]
struct Search {
    edges_of: u32,
    tets_of: u32,
    block: u32,
}

/// What is found, and how many edges were clipped for it.
#[derive(Default)]
struct Found {
    out: Vec<EdgeInTet>,
    tested: usize,
    near: Near,
}

/// The edges of a part that are near a block of another one.
#[derive(Clone, Debug, Default)]
struct Near {
    edges: Vec<[u32; 2]>,
    boxes: Vec<[Vec3; 2]>,
    rows: BoxRows,
}

/// The memory of the search, kept from step to step.
#[derive(Clone, Debug, Default)]
pub struct SurfaceFinder {
    hash: VoxelHash,
    boxes: Vec<GroupedBox>,
    parts: Vec<Part>,
    pairs: Vec<[u32; 2]>,
    searches: Vec<Search>,
    near: Near,
    /// How many of what is found are in each tetrahedron of each object, then where they begin.
    starts: Vec<u32>,
    /// What is found, before it is put in order.
    loose: Vec<EdgeInTet>,
    tested: usize,
    /// Whether it runs on the caller's rayon pool (with the feature `parallel`). Changes no
    /// result.
    pub parallel: bool,
}

impl SurfaceFinder {
    /// How many pairs of an edge and a tetrahedron the last call clipped.
    #[must_use]
    pub fn tested(&self) -> usize {
        self.tested
    }

    /// Appends all edges (or nodes, by `response`) of surfaces in tetrahedra of other parts.
    pub fn find(&mut self, objects: &[Object], response: Response, out: &mut Vec<EdgeInTet>) {
        self.pair_parts(objects);
        self.box_elements(objects, response);
        let first = out.len();
        self.list_searches();
        let (parts, searches) = (&self.parts, &self.searches);
        let find = |search: &Search, found: &mut Found| {
            let [a, b] = [search.edges_of, search.tets_of].map(|i| &parts[i as usize]);
            found.edges_in_block(objects, a, b, search.block as usize);
        };
        self.tested = 0;
        #[cfg(feature = "parallel")]
        if self.parallel {
            use rayon::prelude::*;
            let tasks = searches.par_chunks(BLOCKS_PER_TASK).with_max_len(1);
            let tasks = tasks.map(|searches| {
                let mut found = Found::default();
                searches.iter().for_each(|search| find(search, &mut found));
                (found.out, found.tested)
            });
            for (found, tested) in tasks.collect::<Vec<(Vec<EdgeInTet>, usize)>>() {
                out.extend(found);
                self.tested += tested;
            }
            self.put_in_order(objects, &mut out[first..]);
            return;
        }
        let mut found = Found {
            out: std::mem::take(out),
            tested: 0,
            near: std::mem::take(&mut self.near),
        };
        searches.iter().for_each(|search| find(search, &mut found));
        (*out, self.tested, self.near) = (found.out, found.tested, found.near);
        self.put_in_order(objects, &mut out[first..]);
    }

    /// Sorts what is found: by tetrahedra by counting, then the few of each.
    fn put_in_order(&mut self, objects: &[Object], found: &mut [EdgeInTet]) {
        let mut tets = 0;
        let mut firsts = Vec::with_capacity(objects.len());
        for object in objects {
            firsts.push(tets);
            tets += object.topology.tets().len();
        }
        if tets > TETS_PER_EDGE * found.len() {
            found.sort_unstable();
            return;
        }
        let at = |e: &EdgeInTet| firsts[e.tet.object as usize] + e.tet.tet as usize;
        self.starts.clear();
        self.starts.resize(tets + 1, 0);
        for e in &*found {
            self.starts[at(e) + 1] += 1;
        }
        for i in 0..tets {
            self.starts[i + 1] += self.starts[i];
        }
        self.loose.clear();
        self.loose.extend_from_slice(found);
        for e in &self.loose {
            let place = &mut self.starts[at(e)];
            found[*place as usize] = *e;
            *place += 1;
        }
        for same in found.chunk_by_mut(|a, b| a.tet == b.tet) {
            same.sort_unstable_by_key(|e| (e.object, e.edge));
        }
    }

    /// Pairs the parts whose boxes meet.
    fn pair_parts(&mut self, objects: &[Object]) {
        let mut count = 0;
        for (o, object) in objects.iter().enumerate() {
            for part in 0..object.topology.part_count() as u32 {
                if self.parts.len() == count {
                    self.parts.push(Part::default());
                }
                let entry = &mut self.parts[count];
                (entry.object, entry.part, entry.meets_any) = (o as u32, part, false);
                count += 1;
            }
        }
        self.parts.truncate(count);
        self.box_parts(objects);
        self.boxes.clear();
        self.boxes
            .extend(self.parts.iter().zip(0..).map(|(part, group)| GroupedBox {
                lo: part.whole[0],
                hi: part.whole[1],
                group,
            }));
        self.pairs.clear();
        self.hash.pairs(&self.boxes, &mut self.pairs);
        for &i in self.pairs.iter().flatten() {
            self.parts[i as usize].meets_any = true;
        }
    }

    /// Lists what has to be looked for.
    fn list_searches(&mut self) {
        self.searches.clear();
        for &[a, b] in &self.pairs {
            for (edges_of, tets_of) in [(a, b), (b, a)] {
                let edges = self.parts[edges_of as usize].edges.whole();
                self.parts[tets_of as usize]
                    .tets
                    .visit_blocks(edges, |block| {
                        self.searches.push(Search {
                            edges_of,
                            tets_of,
                            block: block as u32,
                        });
                    });
            }
        }
    }

    /// Boxes around parts.
    fn box_parts(&mut self, objects: &[Object]) {
        let fill = |part: &mut Part| {
            let object = &objects[part.object as usize];
            let (mut lo, mut hi) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
            for &n in object.topology.part_nodes(part.part) {
                let p = Vec3A::from(object.positions[n as usize]);
                if p.is_finite() {
                    (lo, hi) = (lo.min(p), hi.max(p));
                }
            }
            part.whole = [lo.into(), hi.into()];
        };
        #[cfg(feature = "parallel")]
        if self.parallel {
            use rayon::prelude::*;
            self.parts.par_iter_mut().for_each(fill);
            return;
        }
        self.parts.iter_mut().for_each(fill);
    }

    /// Boxes of tetrahedra and edges, of the parts that meet others.
    fn box_elements(&mut self, objects: &[Object], response: Response) {
        let fill = |part: &mut Part| {
            let object = &objects[part.object as usize];
            let tets = object.topology.part_tets(part.part).iter();
            part.tets.fill(tets.map(|&t| reach_of(object.corners(t))));
            part.points.clear();
            let edges = object.topology.surface_edges(part.part);
            if response == Response::Point {
                part.points.extend(edges.iter().flatten().map(|&n| [n; 2]));
                part.points.sort_unstable();
                part.points.dedup();
            }
            let edges = features(&part.points, object, part.part).iter();
            let ends = |edge: &[u32; 2]| edge.map(|n| object.positions[n as usize]);
            let boxes = edges.map(|edge| box_around(ends(edge)));
            part.edges.fill(boxes);
        };
        #[cfg(feature = "parallel")]
        if self.parallel {
            use rayon::prelude::*;
            let parts = self.parts.par_iter_mut().filter(|part| part.meets_any);
            parts.for_each(fill);
            return;
        }
        self.parts.iter_mut().filter(|p| p.meets_any).for_each(fill);
    }
}

/// The edges of a part's surface, or its `points` if there are any.
fn features<'a>(points: &'a [[u32; 2]], object: &Object<'a>, part: u32) -> &'a [[u32; 2]] {
    if points.is_empty() {
        object.topology.surface_edges(part)
    } else {
        points
    }
}

/// The box of a tetrahedron, and a little around it.
fn reach_of(corners: [Vec3; 4]) -> [Vec3; 2] {
    let [lo, hi] = box_around(corners);
    let by = WIDER * (hi - lo);
    [lo - by, hi + by]
}

impl Near {
    /// Takes the edges of `a` that meet a box; returns the box around them.
    fn gather(&mut self, object: &Object, a: &Part, block: [Vec3; 2]) -> [Vec3; 2] {
        self.edges.clear();
        self.boxes.clear();
        let edges = features(&a.points, object, a.part);
        let mut reach = NOWHERE;
        a.edges.visit(block, |k| {
            let around = a.edges.get(k);
            join(&mut reach, around);
            self.edges.push(edges[k]);
            self.boxes.push(around);
        });
        self.rows.fill(self.boxes.iter().copied());
        reach
    }
}

impl Found {
    /// Finds the edges of `a` in a block of tetrahedra of `b`.
    fn edges_in_block(&mut self, objects: &[Object], a: &Part, b: &Part, block: usize) {
        let (of_a, of_b) = (&objects[a.object as usize], &objects[b.object as usize]);
        let Self { out, tested, near } = self;
        let tets = of_b.topology.part_tets(b.part);
        let reach = near.gather(of_a, a, b.tets.block(block));
        if near.edges.is_empty() {
            return;
        }
        b.tets.visit_in(block, reach, |i| {
            let tet = tets[i];
            let mut frames = None;
            near.rows.visit(b.tets.get(i), |k| {
                *tested += 1;
                let edge = near.edges[k];
                let ends = edge.map(|n| of_a.positions[n as usize]);
                let frames = frames.get_or_insert_with(|| {
                    let frame = TetFrame::new(of_b.corners(tet));
                    frame.map(|frame| (frame, RoughFrame::new(&frame)))
                });
                let Some((frame, rough)) = frames else { return };
                if !rough.is_beyond(ends) && passes(frame, ends, of_b.topology, tet) {
                    let object = b.object;
                    out.push(EdgeInTet {
                        tet: TetOf { object, tet },
                        object: a.object,
                        edge,
                    });
                }
            });
        });
    }
}

/// A tetrahedron's frame in f32: tells at once of most edges that they lie beyond one of its faces.
#[derive(Clone, Copy)]
struct RoughFrame {
    origin: Vec3,
    /// The four barycentric coordinates by x, y and z from the origin on.
    by_axes: [f32x4; 3],
}

/// The share of what is summed up for a barycentric coordinate that rounding in f32 cannot reach
/// (a dozen of its last places), with [`INSIDE`].
const ROUGH: f32 = 2e-6;

impl RoughFrame {
    fn new(frame: &TetFrame) -> Self {
        let (origin, by_axes) = frame.axes();
        Self {
            origin: origin.as_vec3(),
            by_axes: by_axes.map(|axis| {
                let [x, y, z] = axis.to_array();
                f32x4::new([x, y, z, -(x + y + z)].map(|by| by as f32))
            }),
        }
    }

    /// Whether both ends certainly lie beyond one face.
    #[inline]
    fn is_beyond(&self, ends: [Vec3; 2]) -> bool {
        let beyond = |p: Vec3| {
            let d = p - self.origin;
            let (mut sum, mut size) = (f32x4::new([0.0, 0.0, 0.0, 1.0]), f32x4::ONE);
            for (by, d) in self.by_axes.iter().zip(d.to_array()) {
                let part = *by * d;
                sum += part;
                size += part.abs();
            }
            sum.simd_lt(-ROUGH * size).to_bitmask()
        };
        beyond(ends[0]) & beyond(ends[1]) != 0
    }
}

/// Whether the middle of what is clipped lies inside the part that a tetrahedron is of: in the
/// tetrahedron, in a face that it shares with another, or in an edge or a node of it that is not
/// of the surface. (Lattices that lie in one another meet in faces alone.)
#[inline]
fn passes(frame: &TetFrame, ends: [Vec3; 2], topology: &Topology, tet: u32) -> bool {
    let [from, to] = ends.map(|p| frame.weights(p));
    let middle = if ends[0] == ends[1] {
        0.0
    } else {
        let wide = [from, to].map(|weights| weights.map(|w| w + INSIDE));
        let Some([enter, leave]) = clip(&wide) else {
            return false;
        };
        0.5 * (enter + leave)
    };
    let at: [f64; 4] = std::array::from_fn(|i| from[i] + middle * (to[i] - from[i]));
    if !at.iter().all(|&w| w > -INSIDE) {
        return false;
    }
    let mut beside = (0..4).filter(|&i| at[i] <= INSIDE);
    match (beside.next(), beside.next()) {
        (None, _) => true,
        (Some(face), None) => topology.neighbours()[tet as usize][face] != NONE,
        (Some(_), Some(_)) => {
            let corners = topology.tets()[tet as usize];
            (0..4).any(|i| at[i] > INSIDE && !topology.is_boundary(corners[i]))
        }
    }
}

#[cfg(test)]
mod tests;
