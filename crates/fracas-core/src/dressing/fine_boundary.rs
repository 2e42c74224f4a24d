//! A fine surface on the boundary of a tet mesh: each face in smaller ones, whose
//! vertices were moved to where the round thing really is.
//!
//! For things that are given by functions (and whatever else can say where a point of a
//! face belongs). The fine surface and the boundary have the same parts: a place in a
//! face is a place on the fine surface. So cracks need no search and no cage, and thin
//! walls are no harder than thick ones.
//!
//! Fragments in it: [`FineBoundary::dress`].

use glam::{DMat3, DVec2, DVec3, Vec3};

use crate::tet_mesh::{NONE, TetMesh};

/// A place in a face of the boundary.
#[derive(Clone, Copy, Debug)]
pub struct FacePoint {
    /// Nodes of the face, counter-clockwise seen from outside.
    pub nodes: [u32; 3],
    /// Its weights at them.
    pub weights: [f64; 3],
    /// Where it is.
    pub flat: DVec3,
}

/// Where a point of the fine surface is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FinePoint {
    /// Its place.
    pub position: DVec3,
    /// Its unit normal, outwards.
    pub normal: Vec3,
}

/// What a boundary really looks like.
pub trait FineSurface {
    /// The part of the surface to which a face belongs: parts are parted by creases,
    /// and normals do not go across them.
    fn part_of(&self, nodes: [u32; 3]) -> u32 {
        let _ = nodes;
        0
    }

    /// Where a point of a face belongs. Faces of different parts must agree about the
    /// places (not the normals) of points that they share.
    fn place(&self, point: &FacePoint) -> FinePoint;

    /// The point of the surface next to `p`, where points may slide along the surface:
    /// then they do, where small triangles lie askew. None: points stay where they were
    /// placed.
    fn settle(&self, p: DVec3) -> Option<FinePoint> {
        let _ = p;
        None
    }
}

/// The fine surface of a tet mesh.
#[derive(Clone, Debug)]
pub struct FineBoundary {
    /// In so many parts each side of a face is divided.
    pub(super) divisions: usize,
    /// Places of the mesh's nodes: moved, where they are on the boundary.
    pub(super) nodes: Vec<DVec3>,
    /// Places of the fine vertices.
    pub(super) points: Vec<DVec3>,
    /// Four times the tetrahedron plus the local face, in increasing order.
    faces: Vec<u32>,
    /// The part of each face.
    parts: Vec<u32>,
    /// For each face the fine vertices of its grid.
    grid: Vec<u32>,
    /// And their normals.
    normals: Vec<Vec3>,
    /// Edges of the boundary by their nodes, lower first, in order.
    edges: Vec<[u32; 2]>,
    /// Which fine vertex a node is.
    vertex_of_node: Vec<u32>,
    /// The first fine vertex that is inside an edge.
    first_on_edges: u32,
}

/// A small triangle is askew if its normal is off that of the surface at a corner by more
/// than this: the cosine of 30 degrees.
const ASKEW: f32 = 0.866;
/// How often askew triangles are evened out.
const ROUNDS: usize = 16;

/// The neighbours of a point, seen from it.
#[derive(Clone, Copy, Debug, Default)]
struct Around {
    sum: DVec3,
    count: f64,
    /// Of their tangent planes: sums of the products of the normals, and of the normals
    /// times the planes' distances.
    planes: DMat3,
    distances: DVec3,
}

impl Around {
    fn add(&mut self, to: DVec3, normal: DVec3) {
        self.sum += to;
        self.count += 1.0;
        self.planes += DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        self.distances += normal * normal.dot(to);
    }

    /// Their middle; on ridges the point nearest to all their tangent planes, which is on
    /// top of the ridge (as in dual contouring, Ju and others 2002).
    fn best(&self, on_ridge: bool) -> DVec3 {
        let middle = self.sum / self.count.max(1.0);
        if !on_ridge {
            return middle;
        }
        // Pulled to the middle, weakly: along a ridge, and where all is flat.
        let pull = DMat3::from_diagonal(DVec3::splat(0.05 * self.count));
        let missing = self.distances - self.planes * middle;
        middle + (self.planes + pull).inverse() * missing
    }
}

/// Most parts of a side.
const MOST_DIVISIONS: usize = 16;

/// How many points a face's grid has.
pub(super) fn grid_size(divisions: usize) -> usize {
    (divisions + 1) * (divisions + 2) / 2
}

/// Number of the point of a grid that has `i` steps to the second corner and `j` to the
/// third.
pub(super) fn grid_index(divisions: usize, i: usize, j: usize) -> usize {
    // Row j is shorter by j than the first.
    j * (divisions + 1) - j * j.saturating_sub(1) / 2 + i
}

/// The small triangles of a grid, by the steps of their corners.
pub(super) fn grid_triangles(divisions: usize) -> impl Iterator<Item = [[usize; 2]; 3]> {
    (0..divisions).flat_map(move |j| {
        (0..divisions - j).flat_map(move |i| {
            let upright = [[i, j], [i + 1, j], [i, j + 1]];
            let turned = [[i + 1, j], [i + 1, j + 1], [i, j + 1]];
            let both = i + j + 2 <= divisions;
            std::iter::once(upright).chain(both.then_some(turned))
        })
    })
}

impl FineBoundary {
    /// Divides each side of each boundary face in so many parts (1 to 16) and moves all
    /// points to the surface.
    #[must_use]
    pub fn build(mesh: &TetMesh, divisions: usize, surface: &dyn FineSurface) -> Self {
        let n = divisions.clamp(1, MOST_DIVISIONS);
        let boundary: Vec<_> = mesh.boundary().collect();
        let mut vertex_of_node = vec![NONE; mesh.positions().len()];
        let mut edges: Vec<[u32; 2]> = Vec::with_capacity(boundary.len() * 3 / 2);
        let mut count = 0;
        for face in &boundary {
            for i in 0..3 {
                let (a, b) = (face.nodes[i], face.nodes[(i + 1) % 3]);
                edges.push([a.min(b), a.max(b)]);
                if vertex_of_node[a as usize] == NONE {
                    vertex_of_node[a as usize] = count;
                    count += 1;
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let first_on_edges = count;
        let mut next = first_on_edges + (edges.len() * (n - 1)) as u32;
        let inside = boundary.len() * grid_size(n).saturating_sub(3 * n);
        let mut fine = Self {
            divisions: n,
            nodes: mesh.positions().iter().map(|p| p.as_dvec3()).collect(),
            points: vec![DVec3::ZERO; next as usize + inside],
            faces: boundary
                .iter()
                .map(|face| face.tet * 4 + u32::from(face.face))
                .collect(),
            parts: boundary
                .iter()
                .map(|face| surface.part_of(face.nodes))
                .collect(),
            grid: Vec::with_capacity(boundary.len() * grid_size(n)),
            normals: Vec::with_capacity(boundary.len() * grid_size(n)),
            edges,
            vertex_of_node,
            first_on_edges,
        };
        // What was placed before: faces of one part share normals.
        let mut known: Vec<Option<(u32, Vec3)>> = vec![None; fine.points.len()];
        for (f, face) in boundary.iter().enumerate() {
            let corners = face.nodes.map(|v| mesh.positions()[v as usize].as_dvec3());
            for j in 0..=n {
                for i in 0..=n - j {
                    let vertex = fine.vertex_in_face(face.nodes, [i, j]).unwrap_or_else(|| {
                        next += 1;
                        next - 1
                    });
                    let before = known[vertex as usize];
                    let normal = match before {
                        Some((part, normal)) if part == fine.parts[f] => normal,
                        _ => {
                            let weights = [n - i - j, i, j].map(|k| k as f64 / n as f64);
                            let flat = corners[0] * weights[0]
                                + corners[1] * weights[1]
                                + corners[2] * weights[2];
                            let placed = surface.place(&FacePoint {
                                nodes: face.nodes,
                                weights,
                                flat,
                            });
                            if before.is_none() {
                                fine.points[vertex as usize] = placed.position;
                            }
                            known[vertex as usize] = Some((fine.parts[f], placed.normal));
                            placed.normal
                        }
                    };
                    fine.grid.push(vertex);
                    fine.normals.push(normal);
                }
            }
        }
        let normals = known.into_iter().map(|k| k.map_or(Vec3::Y, |k| k.1));
        let farthest = f64::from(mesh.mean_edge_length());
        fine.relax(surface, normals.collect(), farthest);
        for (node, &vertex) in fine.vertex_of_node.iter().enumerate() {
            if vertex != NONE {
                fine.nodes[node] = fine.points[vertex as usize];
            }
        }
        fine
    }

    /// Evens out small triangles that do not lie along the surface: where the boundary
    /// cuts off a ridge, its points come to lie on both sides of it and none on top. Their
    /// vertices go towards the middle of their neighbours, and back onto the surface.
    fn relax(&mut self, surface: &dyn FineSurface, mut normals: Vec<Vec3>, farthest: f64) {
        let all = self.vertex_triangles();
        let slides = |p: DVec3| surface.settle(p);
        if all
            .first()
            .is_none_or(|t| slides(self.points[t[0] as usize]).is_none())
        {
            return;
        }
        let start = self.points.clone();
        let mut moved = vec![false; self.points.len()];
        for _ in 0..ROUNDS {
            let mut askew = vec![false; self.points.len()];
            for t in &all {
                let [a, b, c] = t.map(|v| self.points[v as usize]);
                let across = (b - a).cross(c - a).normalize_or_zero().as_vec3();
                if t.iter().any(|&v| across.dot(normals[v as usize]) < ASKEW) {
                    t.iter().for_each(|&v| askew[v as usize] = true);
                }
            }
            // And those around them, which must make room.
            let mut moves = askew.clone();
            for t in all.iter().filter(|t| t.iter().any(|&v| askew[v as usize])) {
                t.iter().for_each(|&v| moves[v as usize] = true);
            }
            let mut around = vec![Around::default(); self.points.len()];
            for t in &all {
                for i in (0..3).filter(|&i| moves[t[i] as usize]) {
                    for other in [t[(i + 1) % 3], t[(i + 2) % 3]] {
                        let normal = normals[other as usize].as_dvec3();
                        let from = self.points[t[i] as usize];
                        around[t[i] as usize].add(self.points[other as usize] - from, normal);
                    }
                }
            }
            let mut any = false;
            for v in (0..self.points.len()).filter(|&v| moves[v]) {
                let wanted = self.points[v] + 0.5 * around[v].best(askew[v]);
                let found = slides(wanted).filter(|f| f.position.distance(start[v]) < farthest);
                if let Some(found) = found {
                    (self.points[v], normals[v]) = (found.position, found.normal);
                    moved[v] = true;
                    any = true;
                }
            }
            if !any {
                break;
            }
        }
        for (normal, &v) in self.normals.iter_mut().zip(&self.grid) {
            if moved[v as usize] {
                *normal = normals[v as usize];
            }
        }
    }

    /// All small triangles by their vertices.
    fn vertex_triangles(&self) -> Vec<[u32; 3]> {
        let mut all = Vec::with_capacity(self.triangle_count());
        for face in 0..self.faces.len() {
            let (vertices, _) = self.grid(face);
            let at = |[i, j]: [usize; 2]| vertices[grid_index(self.divisions, i, j)];
            all.extend(grid_triangles(self.divisions).map(|t| t.map(at)));
        }
        all
    }

    /// In how many parts each side of a face is divided.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn divisions(&self) -> usize {
        self.divisions
    }

    /// How many triangles the unbroken surface has.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn triangle_count(&self) -> usize {
        self.faces.len() * self.divisions * self.divisions
    }

    /// The vertex of a face's grid, if it is a node or on an edge.
    fn vertex_in_face(&self, nodes: [u32; 3], [i, j]: [usize; 2]) -> Option<u32> {
        let n = self.divisions;
        let steps = [n - i - j, i, j];
        if let Some(k) = steps.iter().position(|&s| s == n) {
            return Some(self.vertex_of_node[nodes[k] as usize]);
        }
        let k = steps.iter().position(|&s| s == 0)?;
        let [a, b] = [(k + 1) % 3, (k + 2) % 3];
        let high = if nodes[a] > nodes[b] { a } else { b };
        let edge = self.edge(nodes[a], nodes[b])?;
        Some(self.vertex_on_edge(edge, steps[high]))
    }

    /// Which fine vertex a node of the boundary is.
    pub(super) fn vertex_of_node(&self, node: u32) -> u32 {
        self.vertex_of_node[node as usize]
    }

    /// The edge of the boundary between two nodes.
    pub(super) fn edge(&self, a: u32, b: u32) -> Option<u32> {
        let found = self.edges.binary_search(&[a.min(b), a.max(b)]);
        found.ok().map(|e| e as u32)
    }

    /// The fine vertex so many steps from the lower node of an edge.
    pub(super) fn vertex_on_edge(&self, edge: u32, steps: usize) -> u32 {
        let [low, high] = self.edges[edge as usize];
        if steps == 0 {
            self.vertex_of_node[low as usize]
        } else if steps == self.divisions {
            self.vertex_of_node[high as usize]
        } else {
            self.first_on_edges + edge * (self.divisions as u32 - 1) + steps as u32 - 1
        }
    }

    /// The number of a face among those of the boundary.
    pub(super) fn face(&self, tet: u32, side: u8) -> Option<usize> {
        self.faces.binary_search(&(tet * 4 + u32::from(side))).ok()
    }

    /// The part of a face.
    pub(super) fn part(&self, face: usize) -> u32 {
        self.parts[face]
    }

    /// Vertices and normals of a face's grid.
    pub(super) fn grid(&self, face: usize) -> (&[u32], &[Vec3]) {
        let size = grid_size(self.divisions);
        let range = face * size..(face + 1) * size;
        (&self.grid[range.clone()], &self.normals[range])
    }

    /// The place `steps` (any number up to the divisions) along an edge.
    pub(super) fn along_edge(&self, edge: u32, steps: f64) -> DVec3 {
        let (k, rest) = self.whole_steps(steps);
        let [a, b] = [k, k + 1].map(|k| self.points[self.vertex_on_edge(edge, k) as usize]);
        a + (b - a) * rest
    }

    /// Steps as the whole ones, and the share of the next.
    pub(super) fn whole_steps(&self, steps: f64) -> (usize, f64) {
        let k = (steps.max(0.0) as usize).min(self.divisions - 1);
        (k, (steps - k as f64).clamp(0.0, 1.0))
    }

    /// The place and normal at a point of a face, in steps to its second and third corner.
    pub(super) fn in_face(&self, face: usize, at: DVec2) -> FinePoint {
        let n = self.divisions;
        let (vertices, normals) = self.grid(face);
        let j = (at.y.max(0.0) as usize).min(n - 1);
        let i = (at.x.max(0.0) as usize).min(n - 1 - j);
        let (u, v) = (at.x - i as f64, at.y - j as f64);
        let turned = u + v > 1.0 && i + j + 2 <= n;
        let (corners, weights) = if turned {
            ([[i + 1, j + 1], [i, j + 1], [i + 1, j]], [1.0 - u, 1.0 - v])
        } else {
            ([[i, j], [i + 1, j], [i, j + 1]], [u, v])
        };
        let index = corners.map(|[i, j]| grid_index(n, i, j));
        let weights = [1.0 - weights[0] - weights[1], weights[0], weights[1]];
        let mut place = DVec3::ZERO;
        let mut normal = Vec3::ZERO;
        for k in 0..3 {
            place += self.points[vertices[index[k]] as usize] * weights[k];
            normal += normals[index[k]] * weights[k] as f32;
        }
        FinePoint {
            position: place,
            normal: normal.normalize_or(normals[index[0]]),
        }
    }

    /// Whether it was built for a mesh like this.
    pub(super) fn fits(&self, mesh: &TetMesh) -> bool {
        self.vertex_of_node.len() == mesh.positions().len()
            && self.faces.len() == mesh.boundary().count()
    }

    /// Its own triangles, unbroken, by the places of their corners.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn triangles(&self) -> Vec<[DVec3; 3]> {
        let all = self.vertex_triangles().into_iter();
        all.map(|t| t.map(|v| self.points[v as usize])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_have_a_number_for_each_point_and_cover_their_face() {
        for n in 1..7 {
            let mut numbers: Vec<usize> = (0..=n)
                .flat_map(|j| (0..=n - j).map(move |i| grid_index(n, i, j)))
                .collect();
            assert!(numbers.is_sorted(), "{numbers:?}");
            numbers.dedup();
            assert_eq!(numbers.len(), grid_size(n));
            assert_eq!(numbers.last(), Some(&(grid_size(n) - 1)));
            let doubled: i64 = grid_triangles(n)
                .map(|[a, b, c]| {
                    let side =
                        |p: [usize; 2]| [p[0] as i64 - a[0] as i64, p[1] as i64 - a[1] as i64];
                    let (u, v) = (side(b), side(c));
                    let area = u[0] * v[1] - u[1] * v[0];
                    assert_eq!(area, 1);
                    area
                })
                .sum();
            assert_eq!(doubled, (n * n) as i64);
        }
    }
}
