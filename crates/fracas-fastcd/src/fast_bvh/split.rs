//! Splitting a body: each part becomes a body of its own.
//!
//! Links across the crack are cut and the vertices on it marked; the first part that
//! uses a vertex keeps it, each other part copies it; then edges, links and owners are
//! built anew at marked vertices only. What lies away from the crack keeps its ids.

use super::clearance;
use super::edit::{EditError, NewBody, Part, check_positions, check_triangles, partition};
use super::ids::{BodyId, NONE};
use super::mesh::{Body, Mesh, edge_key};
use super::split_scratch::SplitScratch;

/// In [`SplitScratch::copy_of`]: the vertex was marked when it was placed.
const MARKED: u32 = 1 << 31;

/// A split under way. Numbers in bodies are written at the end: until then
/// `vertex_local` of an old vertex is its index in the old body.
struct Splitting<'a> {
    /// The body that is split, taken out of the mesh.
    body: &'a Body,
    scratch: &'a mut SplitScratch,
    /// The vertices that are marked.
    marks: Vec<u32>,
    /// Which of the body's vertices a part has taken.
    held: Vec<bool>,
    /// Whether a vertex was marked after a triangle that has it was seen: that happens
    /// only where parts touch in a point without a link across it.
    late: bool,
}

/// A part that is being made.
#[derive(Default)]
struct NewPart {
    vertices: Vec<u32>,
    /// Where each vertex comes from: [`NewBody::vertex_origin`].
    origin: Vec<u32>,
    triangles: Vec<u32>,
    /// Triangles at marked vertices, by index in `triangles`; complete unless
    /// [`Splitting::late`].
    at_marks: Vec<u32>,
}

impl<'a> Splitting<'a> {
    fn new(body: &'a Body, scratch: &'a mut SplitScratch) -> Self {
        Self {
            body,
            scratch,
            marks: Vec::new(),
            held: vec![false; body.vertices.len()],
            late: false,
        }
    }

    /// Marks the vertices that the crack runs through: ends of links between parts, and
    /// corners of triangles that go.
    fn mark_crack(&mut self, mesh: &mut Mesh, part_of: &[u32]) {
        let parts = &mut self.scratch.part_of;
        parts.resize(mesh.corners.len(), NONE);
        for (&t, &part) in self.body.triangles.iter().zip(part_of) {
            parts[t as usize] = part;
        }
        for (&t, &part) in self.body.triangles.iter().zip(part_of) {
            let corners = mesh.corners[t as usize];
            if part == NONE {
                for v in corners {
                    mark(&mut mesh.marked, &mut self.marks, v);
                }
                continue;
            }
            for k in 0..3 {
                // A link is looked at from one side: its ends are the same from the other. All
                // corners of triangles that go are marked anyway.
                let n = mesh.neighbours[t as usize][k];
                if n != NONE && n > t && parts[n as usize] != part {
                    mark(&mut mesh.marked, &mut self.marks, corners[k]);
                    mark(&mut mesh.marked, &mut self.marks, corners[(k + 1) % 3]);
                }
            }
        }
    }

    fn make_part(&mut self, mesh: &mut Mesh, part: &Part) -> NewPart {
        let mut made = NewPart {
            triangles: Vec::with_capacity(part.kept.len() + part.new_triangles.len()),
            // As many as a closed surface has; with a border there are a few more.
            vertices: Vec::with_capacity(part.kept.len() / 2 + part.new_positions.len() + 2),
            origin: Vec::with_capacity(part.kept.len() / 2 + part.new_positions.len() + 2),
            ..NewPart::default()
        };
        self.take_kept(mesh, part, &mut made);
        self.add_new(mesh, part, &mut made);
        for &local in &made.origin {
            if let Some(&old) = self.body.vertices.get(local as usize) {
                self.scratch.copy_of[old as usize] = NONE;
            }
        }
        made
    }

    /// The vertex that stands for one of the body's in a part: the first part that uses
    /// it keeps it, each other part copies it. With [`MARKED`] if it is.
    #[inline]
    fn place(&mut self, mesh: &mut Mesh, made: &mut NewPart, old: u32) -> u32 {
        let copy = self.scratch.copy_of[old as usize];
        if copy == NONE {
            self.place_first(mesh, made, old)
        } else {
            copy
        }
    }

    fn place_first(&mut self, mesh: &mut Mesh, made: &mut NewPart, old: u32) -> u32 {
        let local = mesh.vertex_local[old as usize];
        let held = &mut self.held[local as usize];
        let (vertex, flag) = if *held {
            let copy = mesh.new_vertex(mesh.positions[old as usize]);
            mesh.rest.copy(old, copy);
            self.late |= !mesh.marked[old as usize];
            mark(&mut mesh.marked, &mut self.marks, old);
            mark(&mut mesh.marked, &mut self.marks, copy);
            (copy, MARKED)
        } else {
            *held = true;
            let marked = mesh.marked[old as usize];
            (old, if marked { MARKED } else { 0 })
        };
        made.vertices.push(vertex);
        made.origin.push(local);
        self.scratch.copy_of[old as usize] = vertex | flag;
        vertex | flag
    }

    /// The triangles that the part keeps.
    fn take_kept(&mut self, mesh: &mut Mesh, part: &Part, made: &mut NewPart) {
        for &t in &part.kept {
            let t = self.body.triangles[t as usize];
            let placed = mesh.corners[t as usize].map(|v| self.place(mesh, made, v));
            if placed.iter().any(|v| v & MARKED != 0) {
                mesh.corners[t as usize] = placed.map(|v| v & !MARKED);
                made.at_marks.push(made.triangles.len() as u32);
            }
            made.triangles.push(t);
        }
    }

    /// The triangles that are new: first the old vertices that they use, then the new.
    fn add_new(&mut self, mesh: &mut Mesh, part: &Part, made: &mut NewPart) {
        let old_vertices = self.body.vertices.len();
        let is_old = |v: u32| (v as usize) < old_vertices;
        let mut place_old = |t: &[u32; 3]| {
            t.map(|v| {
                if is_old(v) {
                    self.place(mesh, made, self.body.vertices[v as usize]) & !MARKED
                } else {
                    v
                }
            })
        };
        let placed: Vec<[u32; 3]> = part.new_triangles.iter().map(&mut place_old).collect();
        let mut fresh: Vec<u32> = vec![NONE; part.new_positions.len()];
        for (t, mut corners) in part.new_triangles.iter().zip(placed) {
            for k in 0..3 {
                if is_old(t[k]) {
                    self.late |= !mesh.marked[corners[k] as usize];
                } else {
                    let at = t[k] as usize - old_vertices;
                    if fresh[at] == NONE {
                        let p = part.new_positions[at];
                        fresh[at] = mesh.new_vertex([p, p]);
                        made.vertices.push(fresh[at]);
                        made.origin.push(t[k]);
                    }
                    corners[k] = fresh[at];
                }
                mark(&mut mesh.marked, &mut self.marks, corners[k]);
            }
            let id = mesh.new_triangle(corners);
            made.at_marks.push(made.triangles.len() as u32);
            made.triangles.push(id);
        }
    }
}

impl Mesh {
    /// Returns the new bodies and the removed triangles.
    pub(crate) fn split(
        &mut self,
        id: BodyId,
        parts: &[Part],
        removed: &[u32],
    ) -> Result<(Vec<NewBody>, Vec<u32>), EditError> {
        let part_of = self.check_split(id, parts, removed)?;
        let body = self.bodies[id.0 as usize].take().expect("checked");
        self.marked.resize(self.positions.len(), false);
        let mut scratch = std::mem::take(&mut self.splitting);
        scratch.copy_of.resize(self.positions.len(), NONE);
        let mut splitting = Splitting::new(&body, &mut scratch);
        splitting.mark_crack(self, &part_of);
        let removed = removed.iter().map(|&t| body.triangles[t as usize]);
        let removed: Vec<u32> = removed.collect();
        for &t in &removed {
            for k in 0..3 {
                self.release_edge_of_owner(t, k);
            }
            self.release_triangle(t);
        }

        let first_id = self.bodies.len() as u32;
        let mut new_bodies = Vec::with_capacity(parts.len());
        let mut near: Vec<Vec<u32>> = Vec::with_capacity(parts.len());
        for (p, part) in parts.iter().enumerate() {
            let made = splitting.make_part(self, part);
            self.bodies.push(Some(Body {
                moved: body.moved,
                in_motion: body.in_motion,
                ..Body::new(made.vertices, made.triangles)
            }));
            new_bodies.push(NewBody {
                id: BodyId(first_id + p as u32),
                vertex_origin: made.origin,
            });
            near.push(made.at_marks);
        }
        let Splitting {
            marks, held, late, ..
        } = splitting;
        if late {
            for (body, near) in self.bodies[first_id as usize..].iter().zip(&mut near) {
                let count = body.as_ref().map_or(0, |b| b.triangles.len()) as u32;
                near.clear();
                near.extend(0..count);
            }
        }
        for (local, &v) in body.vertices.iter().enumerate() {
            if !held[local] {
                self.release_vertex(v);
            }
        }
        let kept: Vec<usize> = parts.iter().map(|p| p.kept.len()).collect();
        self.relink(first_id, &kept, &near, &mut scratch);
        self.splitting = scratch;
        for v in marks {
            self.marked[v as usize] = false;
        }
        for new in first_id..first_id + parts.len() as u32 {
            let body = self.bodies[new as usize].take().expect("just made");
            self.number(&body, BodyId(new));
            self.bodies[new as usize] = Some(body);
        }
        let heirs: Vec<bool> = parts.iter().map(|p| p.new_triangles.is_empty()).collect();
        clearance::inherit(self, &body.clearance, first_id, &heirs);
        let parts = self.bodies[first_id as usize..].iter_mut().flatten();
        for (part, heir) in parts.zip(heirs) {
            part.clearance.newborn = !heir;
        }
        Ok((new_bodies, removed))
    }

    /// Refuses what is no split of the body; returns the part of each of its triangles.
    fn check_split(
        &self,
        id: BodyId,
        parts: &[Part],
        removed: &[u32],
    ) -> Result<Vec<u32>, EditError> {
        let body = self.body(id)?;
        let part_of = partition(id, body.triangles.len(), parts, removed)?;
        for (p, part) in parts.iter().enumerate() {
            let what = || format!("part {p} of the split of body {}", id.0);
            check_positions(&part.new_positions, what)?;
            let vertices = body.vertices.len() + part.new_positions.len();
            check_triangles(&part.new_triangles, vertices, what)?;
            if part.kept.is_empty() && part.new_triangles.is_empty() {
                return Err(EditError::Empty { what: what() });
            }
        }
        let added: usize = parts.iter().map(|p| p.new_triangles.len()).sum();
        if self.corners.len() + added > 1 << 30 {
            return Err(EditError::TooMany);
        }
        Ok(part_of)
    }

    /// Builds edges, links and owners anew at the marked vertices of some bodies:
    /// an edge with a marked end is dropped and found again by all triangles that have
    /// it (all of them see the same ends), so no edge is half in and half out. `near`
    /// lists for each body which triangles can have marked vertices, and the first `kept`
    /// of a body are old.
    fn relink(
        &mut self,
        first: u32,
        kept: &[usize],
        near: &[Vec<u32>],
        SplitScratch { slots, owners, .. }: &mut SplitScratch,
    ) {
        slots.clear();
        owners.clear();
        for (p, near) in near.iter().enumerate() {
            let at = first as usize + p;
            let body = self.bodies[at].take().expect("just made");
            for &i in near {
                let t = body.triangles[i as usize];
                let corners = self.corners[t as usize];
                let marked = corners.map(|v| self.marked[v as usize]);
                if marked == [false; 3] {
                    continue;
                }
                self.changed.push(t);
                for k in 0..3 {
                    if marked[k] {
                        owners.push((corners[k], t));
                    }
                    if marked[k] || marked[(k + 1) % 3] {
                        slots.push((edge_key(corners, k), t * 4 + k as u32));
                        if (i as usize) < kept[p] {
                            self.release_edge_of_owner(t, k);
                            self.triangle_edges[t as usize][k] = NONE;
                            self.neighbours[t as usize][k] = NONE;
                        }
                    }
                }
            }
            self.bodies[at] = Some(body);
        }
        for &(v, _) in &*owners {
            self.vertex_owner[v as usize] = NONE;
        }
        for &(v, t) in &*owners {
            if self.vertex_owner[v as usize] == NONE {
                self.vertex_owner[v as usize] = t;
            }
        }
        self.link(slots);
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
