//! The slow and certain answer: every pair of triangles, every pair of features.
//!
//! The elementary tests are the same as the hierarchy's (they have oracles of their
//! own); what this checks is everything around them: boxes, ownership, culling,
//! proofs about neighbours, edits, restructuring.

use super::discrete::{shared_corners, triangles_collide};
use super::ids::NONE;
use super::{Contacts, EdgeEdge, FastBvh, Features, VertexFace};
use fracas_geometry::primitives::{closest_features, edge_edge_ccd, vertex_face_ccd};

/// All intersecting pairs of triangles at the end of the step, by testing all pairs.
#[must_use]
pub fn intersections(scene: &FastBvh) -> Vec<[u32; 2]> {
    let mesh = &scene.mesh;
    let live = live_triangles(scene);
    let mut out = Vec::new();
    for (i, &a) in live.iter().enumerate() {
        for &b in &live[i + 1..] {
            let (p, q) = (mesh.corners[a as usize], mesh.corners[b as usize]);
            let at = |c: [u32; 3]| c.map(|v| mesh.positions[v as usize][1]);
            let (shared, places) = shared_corners(&p, &q);
            if triangles_collide(at(p), at(q), shared, places) {
                out.push([a, b]);
            }
        }
    }
    out
}

/// All contacts over the step, by testing every vertex against every face and every
/// edge against every edge.
#[must_use]
pub fn contacts(scene: &FastBvh) -> Contacts {
    let mesh = &scene.mesh;
    let live = live_triangles(scene);
    let mut out = Contacts::default();
    let moving = |v: u32| &mesh.positions[v as usize];
    for v in live_vertices(scene) {
        for &f in &live {
            let corners = mesh.corners[f as usize];
            if corners.contains(&v) {
                continue;
            }
            if let Some(time) = vertex_face_ccd::first_impact(moving(v), corners.map(moving)) {
                out.vertex_face.push(VertexFace {
                    vertex: v,
                    face: f,
                    time,
                });
            }
        }
    }
    let edges: Vec<u32> = (0..mesh.edges.len() as u32)
        .filter(|&e| scene.edge(e).is_some())
        .collect();
    for (i, &e) in edges.iter().enumerate() {
        let ends = mesh.edges[e as usize];
        for &f in &edges[i + 1..] {
            let others = mesh.edges[f as usize];
            if ends.contains(&others[0]) || ends.contains(&others[1]) {
                continue;
            }
            if let Some(time) = edge_edge_ccd::first_impact(ends.map(moving), others.map(moving)) {
                out.edge_edge.push(EdgeEdge {
                    edges: [e, f],
                    time,
                });
            }
        }
    }
    out.sort();
    out
}

/// Vertices of bodies that have triangles around them.
fn live_vertices(scene: &FastBvh) -> impl Iterator<Item = u32> + '_ {
    let all = 0..scene.mesh.positions.len() as u32;
    let is_owned = |v: u32| scene.mesh.vertex_owner[v as usize] != NONE;
    all.filter(move |&v| scene.vertex(v).is_some() && is_owned(v))
}

fn live_triangles(scene: &FastBvh) -> Vec<u32> {
    (0..scene.mesh.corners.len() as u32)
        .filter(|&t| scene.corners(t).is_some())
        .collect()
}

/// All pairs of features that share no vertex and are at most `reach` apart at the start of
/// the step, or touch during it: distance and time of impact.
#[must_use]
pub fn candidates(scene: &FastBvh, reach: f64) -> Vec<(Features, f64, Option<f64>)> {
    let mesh = &scene.mesh;
    let moving = |v: u32| &mesh.positions[v as usize];
    let mut out = Vec::new();
    let mut found = |features, apart: glam::DVec3, impact: Option<f64>| {
        let distance = apart.length_squared().sqrt();
        if distance <= reach || impact.is_some() {
            out.push((features, distance, impact));
        }
    };
    let live = live_triangles(scene);
    for v in live_vertices(scene) {
        for &f in &live {
            let corners = mesh.corners[f as usize];
            if corners.contains(&v) {
                continue;
            }
            let (p, face) = (moving(v), corners.map(moving));
            let apart = closest_features::vertex_face(p[0], face.map(|m| m[0])).apart;
            let impact = vertex_face_ccd::first_impact(p, face);
            found(Features::VertexFace(v, f), apart, impact);
        }
    }
    let edges: Vec<u32> = (0..mesh.edges.len() as u32)
        .filter(|&e| scene.edge(e).is_some())
        .collect();
    for (i, &e) in edges.iter().enumerate() {
        for &f in &edges[i + 1..] {
            let [ends, others] = [e, f].map(|e| mesh.edges[e as usize]);
            if ends.contains(&others[0]) || ends.contains(&others[1]) {
                continue;
            }
            let (first, second) = (ends.map(moving), others.map(moving));
            let apart =
                closest_features::edge_edge(first.map(|m| m[0]), second.map(|m| m[0])).apart;
            let impact = edge_edge_ccd::first_impact(first, second);
            found(Features::EdgeEdge(e, f), apart, impact);
        }
    }
    out.sort_unstable_by_key(|found| found.0);
    out
}
