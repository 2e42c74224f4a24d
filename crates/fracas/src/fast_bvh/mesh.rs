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
use thiserror::Error;

use crate::primitives::Moving;

pub(crate) const NONE: u32 = u32::MAX;
/// Coordinates beyond this would overflow the products that the tests form.
pub(crate) const LARGEST_COORDINATE: f64 = 1e30;

/// Names a body. Ids of deleted, split and merged bodies are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub(crate) u32);

/// Why an edit was refused. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum EditError {
    /// The body does not exist (any more).
    #[error("body {body} does not exist: it was never added, or was deleted, split or merged")]
    NoSuchBody {
        /// The id asked for.
        body: u32,
    },
    /// A triangle names a vertex that is not there.
    #[error(
        "triangle {triangle} of {what} names vertex {vertex}, but there are {count}: indices are local to the body"
    )]
    BadIndex {
        /// The new body, or the part of a split.
        what: String,
        /// Index of the triangle in the list given.
        triangle: usize,
        /// The index that is out of range.
        vertex: u32,
        /// How many vertices there are.
        count: usize,
    },
    /// A triangle names the same vertex twice.
    #[error("triangle {triangle} of {what} names vertex {vertex} twice: remove it")]
    RepeatedVertex {
        /// The new body, or the part of a split.
        what: String,
        /// Index of the triangle in the list given.
        triangle: usize,
        /// The vertex.
        vertex: u32,
    },
    /// A position is NaN, infinite, or larger than 1e30.
    #[error(
        "vertex {vertex} of {what} is at {position}: positions must be finite and below 1e30 in size"
    )]
    BadPosition {
        /// The body.
        what: String,
        /// Index in the list given.
        vertex: usize,
        /// The position.
        position: DVec3,
    },
    /// `move_vertices` got another number of positions than the body has vertices.
    #[error("body {body} has {expected} vertices, but {given} positions were given")]
    WrongCount {
        /// The body.
        body: u32,
        /// Its vertices.
        expected: usize,
        /// Positions given.
        given: usize,
    },
    /// The parts and the removed triangles do not cover the body exactly once.
    #[error("split of body {body} is no partition: triangle {triangle} {problem}")]
    NoPartition {
        /// The body.
        body: u32,
        /// The body's triangle.
        triangle: u32,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Nothing to build a body of.
    #[error("{what} has no triangles: delete the body instead")]
    Empty {
        /// The new body, or the part of a split.
        what: String,
    },
    /// A merge names a body twice or names none.
    #[error(
        "a merge needs different bodies, at least one; body {body} is named twice (or the list is empty)"
    )]
    BadMerge {
        /// The repeated body.
        body: u32,
    },
    /// More than 2^30 vertices, edges or triangles.
    #[error("too many features: a scene holds at most 2^30 triangles")]
    TooMany,
}

/// One piece of a split: triangles of the old body that it keeps, and new ones
/// (the faces of the crack).
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Triangles of the old body, by index in it.
    pub kept: Vec<u32>,
    /// Positions of vertices that the old body does not have.
    pub new_positions: Vec<DVec3>,
    /// New triangles. Indices below the old body's number of vertices name its
    /// vertices, the others `new_positions`.
    pub new_triangles: Vec<[u32; 3]>,
}

/// What a split made of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBody {
    /// Its id.
    pub id: BodyId,
    /// For each of its vertices, in order: its index in the old body, or beyond
    /// that, in the part's `new_positions`. Its triangles are the part's kept ones
    /// and then the new ones, in order.
    pub vertex_origin: Vec<u32>,
}

/// A body: its vertices and triangles by global id, in the user's order.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) vertices: Vec<u32>,
    pub(crate) triangles: Vec<u32>,
    /// Whether it was moved since the last update.
    pub(crate) moved: bool,
    /// Whether start and end of its vertices differ.
    pub(crate) in_motion: bool,
}

/// All bodies and features.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mesh {
    pub(crate) bodies: Vec<Option<Body>>,
    pub(crate) positions: Vec<Moving>,
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
    marked: Vec<bool>,
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
        self.link(slots);
        let body = Body {
            vertices,
            triangles,
            moved: true,
            in_motion: false,
        };
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
        for (&v, &p) in body.vertices.iter().zip(positions) {
            let moving = &mut self.positions[v as usize];
            if first {
                moving[0] = moving[1];
            }
            moving[1] = p;
        }
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
        let mut whole = Body {
            vertices: Vec::new(),
            triangles: Vec::new(),
            moved: false,
            in_motion: false,
        };
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

    fn number(&mut self, body: &Body, id: BodyId) {
        for (i, &v) in body.vertices.iter().enumerate() {
            self.vertex_body[v as usize] = id.0;
            self.vertex_local[v as usize] = i as u32;
        }
        for (i, &t) in body.triangles.iter().enumerate() {
            self.triangle_body[t as usize] = id.0;
            self.triangle_local[t as usize] = i as u32;
        }
    }

    /// Returns the new bodies and the removed triangles.
    pub(crate) fn split(
        &mut self,
        id: BodyId,
        parts: &[Part],
        removed: &[u32],
    ) -> Result<(Vec<NewBody>, Vec<u32>), EditError> {
        let body = self.body(id)?;
        let (old_vertices, old_triangles) = (body.vertices.len(), body.triangles.len());
        let part_of = partition(id, old_triangles, parts, removed)?;
        for (p, part) in parts.iter().enumerate() {
            let what = || format!("part {p} of the split of body {}", id.0);
            check_positions(&part.new_positions, what)?;
            check_triangles(
                &part.new_triangles,
                old_vertices + part.new_positions.len(),
                what,
            )?;
            if part.kept.is_empty() && part.new_triangles.is_empty() {
                return Err(EditError::Empty { what: what() });
            }
        }
        let added: usize = parts.iter().map(|p| p.new_triangles.len()).sum();
        if self.corners.len() + added > 1 << 30 {
            return Err(EditError::TooMany);
        }
        let body = self.bodies[id.0 as usize].take().expect("checked");
        self.marked.resize(self.positions.len(), false);
        let mut marks: Vec<u32> = Vec::new();

        // Where the crack runs: links across it are cut, their ends marked.
        for (&t, &part) in body.triangles.iter().zip(&part_of) {
            let corners = self.corners[t as usize];
            if part == NONE {
                for v in corners {
                    mark(&mut self.marked, &mut marks, v);
                }
                continue;
            }
            for k in 0..3 {
                let n = self.neighbours[t as usize][k];
                if n != NONE && part_of[self.triangle_local[n as usize] as usize] != part {
                    mark(&mut self.marked, &mut marks, corners[k]);
                    mark(&mut self.marked, &mut marks, corners[(k + 1) % 3]);
                }
            }
        }
        let removed: Vec<u32> = removed
            .iter()
            .map(|&t| body.triangles[t as usize])
            .collect();
        for &t in &removed {
            for k in 0..3 {
                self.release_edge_of_owner(t, k);
            }
            self.release_triangle(t);
        }

        // Vertices: the first part that uses one keeps it, each other part copies it.
        // Numbers in bodies are written at the end: until then `vertex_local` of an
        // old vertex is its index in the old body.
        let mut held = vec![false; old_vertices];
        let mut copy_of: Vec<u32> = vec![NONE; old_vertices];
        let first_id = self.bodies.len() as u32;
        let mut new_bodies = Vec::with_capacity(parts.len());
        let mut new_triangles = Vec::with_capacity(parts.len());
        for (p, part) in parts.iter().enumerate() {
            let new_id = BodyId(first_id + p as u32);
            let mut vertices: Vec<u32> = Vec::new();
            let mut origin: Vec<u32> = Vec::new();
            let mut triangles: Vec<u32> =
                Vec::with_capacity(part.kept.len() + part.new_triangles.len());
            let mut place = |mesh: &mut Self, local: u32| {
                let at = local as usize;
                if copy_of[at] == NONE {
                    let old = body.vertices[at];
                    copy_of[at] = if held[at] {
                        let copy = mesh.new_vertex(mesh.positions[old as usize]);
                        mark(&mut mesh.marked, &mut marks, old);
                        mark(&mut mesh.marked, &mut marks, copy);
                        copy
                    } else {
                        held[at] = true;
                        old
                    };
                    vertices.push(copy_of[at]);
                    origin.push(local);
                }
                copy_of[at]
            };
            for &t in &part.kept {
                let t = body.triangles[t as usize];
                for k in 0..3 {
                    let v = self.corners[t as usize][k];
                    let local = self.vertex_local[v as usize];
                    self.corners[t as usize][k] = place(self, local);
                }
                triangles.push(t);
            }
            // Old vertices that new triangles use, then the new vertices.
            let used_by_new: Vec<[u32; 3]> = part
                .new_triangles
                .iter()
                .map(|t| {
                    t.map(|v| {
                        if (v as usize) < old_vertices {
                            place(self, v)
                        } else {
                            v
                        }
                    })
                })
                .collect();
            let mut fresh: Vec<u32> = vec![NONE; part.new_positions.len()];
            let mut added = Vec::with_capacity(part.new_triangles.len());
            for (t, placed) in part.new_triangles.iter().zip(used_by_new) {
                let mut corners = placed;
                for k in 0..3 {
                    if t[k] as usize >= old_vertices {
                        let at = t[k] as usize - old_vertices;
                        if fresh[at] == NONE {
                            let p = part.new_positions[at];
                            fresh[at] = self.new_vertex([p, p]);
                            vertices.push(fresh[at]);
                            origin.push(t[k]);
                        }
                        corners[k] = fresh[at];
                    }
                    mark(&mut self.marked, &mut marks, corners[k]);
                }
                let id = self.new_triangle(corners);
                triangles.push(id);
                added.push(id);
            }
            for &local in &origin {
                if (local as usize) < old_vertices {
                    copy_of[local as usize] = NONE;
                }
            }
            self.bodies.push(Some(Body {
                vertices,
                triangles,
                moved: body.moved,
                in_motion: body.in_motion,
            }));
            new_bodies.push(NewBody {
                id: new_id,
                vertex_origin: origin,
            });
            new_triangles.push(added);
        }
        for (local, &v) in body.vertices.iter().enumerate() {
            if !held[local] {
                self.release_vertex(v);
            }
        }
        self.relink(first_id, parts.len() as u32, &new_triangles);
        for v in marks {
            self.marked[v as usize] = false;
        }
        for new in first_id..first_id + parts.len() as u32 {
            let body = self.bodies[new as usize].take().expect("just made");
            self.number(&body, BodyId(new));
            self.bodies[new as usize] = Some(body);
        }
        Ok((new_bodies, removed))
    }

    /// Builds edges, links and owners anew at the marked vertices of some bodies:
    /// an edge with a marked end is dropped and found again by all triangles that have
    /// it (all of them see the same ends), so no edge is half in and half out.
    fn relink(&mut self, first: u32, count: u32, new_triangles: &[Vec<u32>]) {
        let mut slots: Vec<(u64, u32)> = Vec::new();
        let mut owners: Vec<(u32, u32)> = Vec::new();
        for p in 0..count {
            let body = self.bodies[(first + p) as usize].take().expect("just made");
            let kept = body.triangles.len() - new_triangles[p as usize].len();
            for (i, &t) in body.triangles.iter().enumerate() {
                let corners = self.corners[t as usize];
                let marked = corners.map(|v| self.marked[v as usize]);
                if marked == [false; 3] {
                    continue;
                }
                for k in 0..3 {
                    if marked[k] {
                        owners.push((corners[k], t));
                    }
                    if marked[k] || marked[(k + 1) % 3] {
                        slots.push((edge_key(corners, k), t * 4 + k as u32));
                        if i < kept {
                            self.release_edge_of_owner(t, k);
                            self.triangle_edges[t as usize][k] = NONE;
                            self.neighbours[t as usize][k] = NONE;
                        }
                    }
                }
            }
            self.bodies[(first + p) as usize] = Some(body);
        }
        for &(v, _) in &owners {
            self.vertex_owner[v as usize] = NONE;
        }
        for (v, t) in owners {
            if self.vertex_owner[v as usize] == NONE {
                self.vertex_owner[v as usize] = t;
            }
        }
        self.link(slots);
    }

    /// Makes edges of half-edges (key, triangle * 4 + k), and links triangles.
    fn link(&mut self, mut slots: Vec<(u64, u32)>) {
        slots.sort_unstable();
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

    fn new_vertex(&mut self, at: Moving) -> u32 {
        if let Some(v) = self.free_vertices.pop() {
            self.positions[v as usize] = at;
            self.vertex_owner[v as usize] = NONE;
            return v;
        }
        self.positions.push(at);
        self.vertex_owner.push(NONE);
        self.vertex_body.push(NONE);
        self.vertex_local.push(NONE);
        self.marked.push(false);
        self.positions.len() as u32 - 1
    }

    fn new_triangle(&mut self, corners: [u32; 3]) -> u32 {
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

    fn release_vertex(&mut self, v: u32) {
        self.vertex_body[v as usize] = NONE;
        self.vertex_owner[v as usize] = NONE;
        self.free_vertices.push(v);
    }

    fn release_triangle(&mut self, t: u32) {
        self.live_triangles -= 1;
        self.corners[t as usize] = [NONE; 3];
        self.triangle_edges[t as usize] = [NONE; 3];
        self.neighbours[t as usize] = [NONE; 3];
        self.triangle_body[t as usize] = NONE;
        self.free_triangles.push(t);
    }

    /// Frees edge k of a triangle if the triangle owns it: each edge has one owner,
    /// so when all its triangles are asked, it is freed once.
    fn release_edge_of_owner(&mut self, t: u32, k: usize) {
        let e = self.triangle_edges[t as usize][k];
        if e != NONE && self.edge_owner[e as usize] == t {
            self.edge_owner[e as usize] = NONE;
            self.free_edges.push(e);
        }
    }
}

fn mark(marked: &mut Vec<bool>, marks: &mut Vec<u32>, v: u32) {
    if marked.len() <= v as usize {
        marked.resize(v as usize + 1, false);
    }
    if !marked[v as usize] {
        marked[v as usize] = true;
        marks.push(v);
    }
}

/// Larger end in the high half, smaller in the low half.
fn edge_key(corners: [u32; 3], k: usize) -> u64 {
    let (a, b) = (corners[k], corners[(k + 1) % 3]);
    u64::from(a.max(b)) << 32 | u64::from(a.min(b))
}

fn partition(
    id: BodyId,
    count: usize,
    parts: &[Part],
    removed: &[u32],
) -> Result<Vec<u32>, EditError> {
    let problem = |triangle, problem| EditError::NoPartition {
        body: id.0,
        triangle,
        problem,
    };
    let mut part_of = vec![NONE - 1; count];
    let lists = parts
        .iter()
        .enumerate()
        .map(|(p, part)| (p as u32, &part.kept[..]));
    for (p, list) in lists.chain([(NONE, removed)]) {
        for &t in list {
            let Some(slot) = part_of.get_mut(t as usize) else {
                return Err(problem(t, "is not in the body"));
            };
            if *slot != NONE - 1 {
                return Err(problem(t, "is named twice"));
            }
            *slot = p;
        }
    }
    match part_of.iter().position(|&p| p == NONE - 1) {
        Some(t) => Err(problem(t as u32, "is in no part and not removed")),
        None => Ok(part_of),
    }
}

fn check_positions(positions: &[DVec3], what: impl Fn() -> String) -> Result<(), EditError> {
    match positions
        .iter()
        .position(|p| !p.is_finite() || p.abs().max_element() > LARGEST_COORDINATE)
    {
        None => Ok(()),
        Some(vertex) => Err(EditError::BadPosition {
            what: what(),
            vertex,
            position: positions[vertex],
        }),
    }
}

fn check_triangles(
    triangles: &[[u32; 3]],
    count: usize,
    what: impl Fn() -> String,
) -> Result<(), EditError> {
    for (triangle, t) in triangles.iter().enumerate() {
        if let Some(&vertex) = t.iter().find(|&&v| v as usize >= count) {
            return Err(EditError::BadIndex {
                what: what(),
                triangle,
                vertex,
                count,
            });
        }
        for k in 0..3 {
            if t[k] == t[(k + 1) % 3] {
                return Err(EditError::RepeatedVertex {
                    what: what(),
                    triangle,
                    vertex: t[k],
                });
            }
        }
    }
    Ok(())
}
