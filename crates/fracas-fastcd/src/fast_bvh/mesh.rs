//! Bodies of triangles, their features, and who owns which: the mesh side of
//! [Heo 2010, §5.1], with the feature ownership of [Curtis 2008].
//!
//! Vertices, edges and triangles have global ids, stable while they live; a split
//! keeps the ids of what stays. Each vertex and each edge is *owned* by one of its
//! triangles, so that a pair of features is tested at one pair of triangles only.
//!
//! Triangles are linked across an edge only where the surface is a manifold with
//! one orientation: exactly two triangles, which run along the edge in opposite
//! senses. Any other edge has no links, and counts as boundary on all its sides:
//! that is the decomposition into manifold patches of [Heo 2010, §4.1].

use glam::DVec3;

use super::clearance_state::Clearance;
use super::edit::{EditError, check_positions, check_triangles};
use super::fit::Rest;
use super::ids::{BodyId, NONE};
use super::split_scratch::SplitScratch;
use fracas_geometry::primitives::Moving;

/// A body: its vertices and triangles by global id, in the user's order.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) vertices: Vec<u32>,
    pub(crate) triangles: Vec<u32>,
    /// Whether it was moved since the last update.
    pub(crate) moved: bool,
    /// Whether start and end of its vertices differ.
    pub(crate) in_motion: bool,
    /// Whether a coordinate changed since the last update.
    pub(crate) changed: bool,
    /// Updates in a row without a change, up to two.
    pub(crate) unchanged_for: u8,
    pub(crate) clearance: Clearance,
}

impl Body {
    pub(crate) fn new(vertices: Vec<u32>, triangles: Vec<u32>) -> Self {
        Self {
            vertices,
            triangles,
            moved: true,
            in_motion: false,
            changed: true,
            unchanged_for: 0,
            clearance: Clearance::default(),
        }
    }

    /// Whether its vertices are where they were at the end of the last step.
    pub(crate) fn is_still(&self) -> bool {
        self.unchanged_for > 0
    }

    /// Whether the last step did not move it, either: its boxes are as they were.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.unchanged_for > 1
    }
}

/// All bodies and features.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mesh {
    pub(crate) bodies: Vec<Option<Body>>,
    pub(crate) positions: Vec<Moving>,
    /// For bodies whose shape is watched.
    pub(crate) rest: Rest,
    pub(crate) vertex_owner: Vec<u32>,
    pub(crate) vertex_body: Vec<u32>,
    pub(crate) vertex_local: Vec<u32>,
    /// Ends of each edge, smaller id first.
    pub(crate) edges: Vec<[u32; 2]>,
    pub(crate) edge_owner: Vec<u32>,
    /// Corners by triangle; `NONE` in a free slot.
    pub(crate) corners: Vec<[u32; 3]>,
    /// Edge k of a triangle runs from corner k to corner k + 1.
    pub(crate) triangle_edges: Vec<[u32; 3]>,
    /// The triangle across each edge, `NONE` at a boundary or where not manifold.
    pub(crate) neighbours: Vec<[u32; 3]>,
    pub(crate) triangle_body: Vec<u32>,
    pub(crate) triangle_local: Vec<u32>,
    free_vertices: Vec<u32>,
    free_edges: Vec<u32>,
    free_triangles: Vec<u32>,
    pub(crate) live_triangles: usize,
    /// Vertices whose edges a split builds anew; all false between edits.
    pub(crate) marked: Vec<bool>,
    /// Memory of splits.
    pub(crate) splitting: SplitScratch,
    /// Triangles whose corners, edges, neighbours or owned features may be others than at
    /// the last update. Triangles that are new or gone since need not be here.
    pub(crate) changed: Vec<u32>,
}

impl Mesh {
    pub(crate) fn body(&self, id: BodyId) -> Result<&Body, EditError> {
        self.bodies
            .get(id.0 as usize)
            .and_then(Option::as_ref)
            .ok_or(EditError::NoSuchBody { body: id.0 })
    }

    /// Checks ids, ownership and links.
    pub(crate) fn validate(&self) -> Result<(), String> {
        let mut live = 0;
        for (b, body) in self.bodies.iter().enumerate() {
            let Some(body) = body else { continue };
            for (i, &v) in body.vertices.iter().enumerate() {
                if (self.vertex_body[v as usize], self.vertex_local[v as usize])
                    != (b as u32, i as u32)
                {
                    return Err(format!("vertex {v} is not number {i} of body {b}"));
                }
            }
            for (i, &t) in body.triangles.iter().enumerate() {
                live += 1;
                if (
                    self.triangle_body[t as usize],
                    self.triangle_local[t as usize],
                ) != (b as u32, i as u32)
                {
                    return Err(format!("triangle {t} is not number {i} of body {b}"));
                }
                self.validate_triangle(t, b as u32)?;
            }
        }
        if live == self.live_triangles {
            Ok(())
        } else {
            Err(format!(
                "{live} triangles in bodies, {} counted",
                self.live_triangles
            ))
        }
    }

    fn validate_triangle(&self, t: u32, body: u32) -> Result<(), String> {
        let corners = self.corners[t as usize];
        for k in 0..3 {
            let (v, w) = (corners[k], corners[(k + 1) % 3]);
            if self.vertex_body[v as usize] != body {
                return Err(format!("corner {v} of triangle {t} is not of body {body}"));
            }
            let owner = self.vertex_owner[v as usize];
            if owner == NONE || !self.corners[owner as usize].contains(&v) {
                return Err(format!(
                    "vertex {v} is owned by triangle {owner}, which does not have it"
                ));
            }
            let e = self.triangle_edges[t as usize][k];
            if e == NONE || self.edges[e as usize] != [v.min(w), v.max(w)] {
                return Err(format!("edge {k} of triangle {t} is not {v}-{w}"));
            }
            let owner = self.edge_owner[e as usize];
            if owner == NONE || !self.triangle_edges[owner as usize].contains(&e) {
                return Err(format!(
                    "edge {e} is owned by triangle {owner}, which does not have it"
                ));
            }
            let n = self.neighbours[t as usize][k];
            if n != NONE {
                let back = (0..3).find(|&l| {
                    self.neighbours[n as usize][l] == t && self.triangle_edges[n as usize][l] == e
                });
                if back.is_none_or(|l| self.corners[n as usize][l] != w) {
                    return Err(format!("triangles {t} and {n} are not linked both ways"));
                }
            }
        }
        Ok(())
    }

    /// Bits 0..3: owns corner k; bits 3..6: owns edge k.
    pub(crate) fn owned_bits(&self, triangle: u32) -> u8 {
        let t = triangle as usize;
        let mut bits = 0;
        for k in 0..3 {
            bits |= u8::from(self.vertex_owner[self.corners[t][k] as usize] == triangle) << k;
            bits |= u8::from(self.edge_owner[self.triangle_edges[t][k] as usize] == triangle)
                << (3 + k);
        }
        bits
    }

    pub(crate) fn add(
        &mut self,
        positions: &[DVec3],
        triangles: &[[u32; 3]],
    ) -> Result<BodyId, EditError> {
        let what = || "the new body".to_owned();
        check_positions(positions, what)?;
        check_triangles(triangles, positions.len(), what)?;
        if triangles.is_empty() {
            return Err(EditError::Empty { what: what() });
        }
        if self.corners.len() + triangles.len() > 1 << 30
            || self.positions.len() + positions.len() > 1 << 30
        {
            return Err(EditError::TooMany);
        }
        let id = BodyId(self.bodies.len() as u32);
        let vertices: Vec<u32> = positions.iter().map(|&p| self.new_vertex([p, p])).collect();
        let triangles: Vec<u32> = triangles
            .iter()
            .map(|t| self.new_triangle(t.map(|v| vertices[v as usize])))
            .collect();
        let mut slots = Vec::with_capacity(triangles.len() * 3);
        for &t in &triangles {
            let corners = self.corners[t as usize];
            for k in 0..3 {
                slots.push((edge_key(corners, k), t * 4 + k as u32));
                let owner = &mut self.vertex_owner[corners[k] as usize];
                if *owner == NONE {
                    *owner = t;
                }
            }
        }
        self.link(&mut slots);
        let mut body = Body::new(vertices, triangles);
        body.clearance = Clearance::of_added();
        self.number(&body, id);
        self.bodies.push(Some(body));
        Ok(id)
    }

    pub(crate) fn delete(&mut self, id: BodyId) -> Result<Body, EditError> {
        self.body(id)?;
        let body = self.bodies[id.0 as usize].take().expect("it was there");
        for &t in &body.triangles {
            for k in 0..3 {
                self.release_edge_of_owner(t, k);
            }
            self.release_triangle(t);
        }
        for &v in &body.vertices {
            self.release_vertex(v);
        }
        Ok(body)
    }

    pub(crate) fn move_vertices(
        &mut self,
        id: BodyId,
        positions: &[DVec3],
    ) -> Result<(), EditError> {
        let body = self.body(id)?;
        if body.vertices.len() != positions.len() {
            return Err(EditError::WrongCount {
                body: id.0,
                expected: body.vertices.len(),
                given: positions.len(),
            });
        }
        check_positions(positions, || format!("body {}", id.0))?;
        let body = self.bodies[id.0 as usize].as_mut().expect("checked");
        let first = !body.moved;
        body.moved = true;
        body.in_motion = true;
        let mut changed = false;
        for (&v, &p) in body.vertices.iter().zip(positions) {
            let moving = &mut self.positions[v as usize];
            if first {
                moving[0] = moving[1];
            }
            changed |= moving[1] != p;
            moving[1] = p;
        }
        body.changed |= changed;
        Ok(())
    }

    /// The step is over: bodies that were not moved since come to rest. With
    /// `keep_motion` off the others do, too.
    pub(crate) fn close_step(&mut self, keep_motion: bool) {
        for body in self.bodies.iter_mut().flatten() {
            if body.in_motion && !(body.moved && keep_motion) {
                for &v in &body.vertices {
                    let moving = &mut self.positions[v as usize];
                    moving[0] = moving[1];
                }
                body.in_motion = false;
            }
            body.moved = false;
            body.unchanged_for = if body.changed {
                0
            } else {
                (body.unchanged_for + 1).min(2)
            };
            body.changed = false;
        }
    }

    pub(crate) fn merge(&mut self, ids: &[BodyId]) -> Result<BodyId, EditError> {
        if ids.is_empty() {
            return Err(EditError::BadMerge { body: NONE });
        }
        let mut sorted: Vec<BodyId> = ids.to_vec();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|w| w[0] == w[1]) {
            return Err(EditError::BadMerge { body: twice[0].0 });
        }
        for &id in ids {
            self.body(id)?;
        }
        let id = BodyId(self.bodies.len() as u32);
        let mut whole = Body::new(Vec::new(), Vec::new());
        whole.moved = false;
        for &old in ids {
            let body = self.bodies[old.0 as usize].take().expect("checked");
            // A body that was not moved yet in this step must not move by the
            // other's flag: it rests, start and end alike.
            if !body.moved && body.in_motion {
                for &v in &body.vertices {
                    let moving = &mut self.positions[v as usize];
                    moving[0] = moving[1];
                }
            }
            whole.moved |= body.moved;
            whole.in_motion |= body.in_motion;
            whole.vertices.extend(body.vertices);
            whole.triangles.extend(body.triangles);
        }
        self.number(&whole, id);
        self.bodies.push(Some(whole));
        Ok(id)
    }

    pub(crate) fn number(&mut self, body: &Body, id: BodyId) {
        for (i, &v) in body.vertices.iter().enumerate() {
            self.vertex_body[v as usize] = id.0;
            self.vertex_local[v as usize] = i as u32;
        }
        for (i, &t) in body.triangles.iter().enumerate() {
            self.triangle_body[t as usize] = id.0;
            self.triangle_local[t as usize] = i as u32;
        }
    }

    /// Makes edges of half-edges (key, triangle * 4 + k), and links triangles.
    pub(crate) fn link(&mut self, slots: &mut Vec<(u64, u32)>) {
        sort_slots(slots);
        let mut rest = &slots[..];
        while let Some(&(key, first)) = rest.first() {
            let users = rest.iter().take_while(|s| s.0 == key).count();
            let ends = [key as u32, (key >> 32) as u32];
            let edge = match self.free_edges.pop() {
                Some(e) => {
                    self.edges[e as usize] = ends;
                    e
                }
                None => {
                    self.edges.push(ends);
                    self.edge_owner.push(NONE);
                    self.edges.len() as u32 - 1
                }
            };
            self.edge_owner[edge as usize] = first / 4;
            for &(_, slot) in &rest[..users] {
                self.triangle_edges[(slot / 4) as usize][(slot % 4) as usize] = edge;
            }
            if users == 2 {
                let (a, b) = (rest[0].1, rest[1].1);
                let from = |s: u32| self.corners[(s / 4) as usize][(s % 4) as usize];
                if from(a) != from(b) {
                    self.neighbours[(a / 4) as usize][(a % 4) as usize] = b / 4;
                    self.neighbours[(b / 4) as usize][(b % 4) as usize] = a / 4;
                }
            }
            rest = &rest[users..];
        }
    }

    pub(crate) fn new_vertex(&mut self, at: Moving) -> u32 {
        if let Some(v) = self.free_vertices.pop() {
            self.positions[v as usize] = at;
            self.vertex_owner[v as usize] = NONE;
            return v;
        }
        self.positions.push(at);
        self.rest.push();
        self.vertex_owner.push(NONE);
        self.vertex_body.push(NONE);
        self.vertex_local.push(NONE);
        self.marked.push(false);
        self.positions.len() as u32 - 1
    }

    pub(crate) fn new_triangle(&mut self, corners: [u32; 3]) -> u32 {
        self.live_triangles += 1;
        if let Some(t) = self.free_triangles.pop() {
            self.corners[t as usize] = corners;
            return t;
        }
        self.corners.push(corners);
        self.triangle_edges.push([NONE; 3]);
        self.neighbours.push([NONE; 3]);
        self.triangle_body.push(NONE);
        self.triangle_local.push(NONE);
        self.corners.len() as u32 - 1
    }

    pub(crate) fn release_vertex(&mut self, v: u32) {
        self.vertex_body[v as usize] = NONE;
        self.vertex_owner[v as usize] = NONE;
        self.free_vertices.push(v);
    }

    pub(crate) fn release_triangle(&mut self, t: u32) {
        self.live_triangles -= 1;
        self.corners[t as usize] = [NONE; 3];
        self.triangle_edges[t as usize] = [NONE; 3];
        self.neighbours[t as usize] = [NONE; 3];
        self.triangle_body[t as usize] = NONE;
        self.free_triangles.push(t);
    }

    /// Frees edge k of a triangle if the triangle owns it: each edge has one owner,
    /// so when all its triangles are asked, it is freed once.
    pub(crate) fn release_edge_of_owner(&mut self, t: u32, k: usize) {
        let e = self.triangle_edges[t as usize][k];
        if e != NONE && self.edge_owner[e as usize] == t {
            self.edge_owner[e as usize] = NONE;
            self.free_edges.push(e);
        }
    }
}

/// Bits that are sorted by at a time, and from where: all of a key but what is always zero.
const DIGIT: u32 = 11;
const DIGITS: [u32; 6] = [0, 11, 22, 32, 43, 54];

/// Sorts half-edges by their keys, then by slots: in a pass for each digit of the keys, which
/// are numbers of vertices and so have few of them.
fn sort_slots(slots: &mut Vec<(u64, u32)>) {
    if slots.len() < 1 << DIGIT {
        return slots.sort_unstable();
    }
    let digit = |key: u64, from: u32| {
        // A half has ten digits at its end.
        let width = if from % 32 == 22 { 10 } else { DIGIT };
        (key >> from) as usize & ((1 << width) - 1)
    };
    let bits = slots.iter().fold(0, |bits, slot| bits | slot.0);
    let mut sorted = slots.clone();
    for from in DIGITS.into_iter().filter(|&from| digit(bits, from) > 0) {
        let mut starts = [0_u32; 1 << DIGIT];
        for slot in &*slots {
            starts[digit(slot.0, from)] += 1;
        }
        let mut next = 0;
        for start in &mut starts {
            next += std::mem::replace(start, next);
        }
        for &slot in &*slots {
            let at = &mut starts[digit(slot.0, from)];
            sorted[*at as usize] = slot;
            *at += 1;
        }
        std::mem::swap(slots, &mut sorted);
    }
    for same in slots.chunk_by_mut(|a, b| a.0 == b.0) {
        same.sort_unstable();
    }
}

/// Larger end in the high half, smaller in the low half.
pub(crate) fn edge_key(corners: [u32; 3], k: usize) -> u64 {
    let (a, b) = (corners[k], corners[(k + 1) % 3]);
    u64::from(a.max(b)) << 32 | u64::from(a.min(b))
}
