//! Splitting a body: each part becomes a body of its own.
//!
//! Links across the crack are cut and the vertices on it marked; the first part that
//! uses a vertex keeps it, each other part copies it; then edges, links and owners are
//! built anew at marked vertices only. What lies away from the crack keeps its ids.

use super::clearance;
use super::edit::{EditError, NewBody, Part, check_positions, check_triangles, partition};
use super::mesh::{Body, BodyId, Mesh, NONE, edge_key};

impl Mesh {
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
        // Triangles at marked vertices, by index in their new body. Complete unless a
        // vertex is marked after a triangle that has it was seen: that happens only where
        // parts touch in a point without a link across it.
        let mut near: Vec<Vec<u32>> = Vec::with_capacity(parts.len());
        let mut late = false;
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
                        mesh.rest.copy(old, copy);
                        late |= !mesh.marked[old as usize];
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
            let mut at_marks = Vec::new();
            for &t in &part.kept {
                let t = body.triangles[t as usize];
                let mut marked = false;
                for k in 0..3 {
                    let v = self.corners[t as usize][k];
                    let local = self.vertex_local[v as usize];
                    let v = place(self, local);
                    self.corners[t as usize][k] = v;
                    marked |= self.marked[v as usize];
                }
                if marked {
                    at_marks.push(triangles.len() as u32);
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
                    } else {
                        late |= !self.marked[corners[k] as usize];
                    }
                    mark(&mut self.marked, &mut marks, corners[k]);
                }
                let id = self.new_triangle(corners);
                at_marks.push(triangles.len() as u32);
                triangles.push(id);
            }
            for &local in &origin {
                if (local as usize) < old_vertices {
                    copy_of[local as usize] = NONE;
                }
            }
            self.bodies.push(Some(Body {
                moved: body.moved,
                in_motion: body.in_motion,
                ..Body::new(vertices, triangles)
            }));
            new_bodies.push(NewBody {
                id: new_id,
                vertex_origin: origin,
            });
            near.push(at_marks);
        }
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
        self.relink(first_id, &kept, &near);
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
        Ok((new_bodies, removed))
    }

    /// Builds edges, links and owners anew at the marked vertices of some bodies:
    /// an edge with a marked end is dropped and found again by all triangles that have
    /// it (all of them see the same ends), so no edge is half in and half out. `near`
    /// lists for each body which triangles can have marked vertices, and the first `kept`
    /// of a body are old.
    fn relink(&mut self, first: u32, kept: &[usize], near: &[Vec<u32>]) {
        let mut slots: Vec<(u64, u32)> = Vec::new();
        let mut owners: Vec<(u32, u32)> = Vec::new();
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
