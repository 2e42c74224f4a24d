//! Brings the boundary near to the surface where the lattice passed over something.
//!
//! Tips, ridges and grooves that are narrower than a cell are rounded off, and a lattice
//! fine enough for all of them would have too many cells. Where the improved mesh and the
//! surface are still farther apart than a part of the mean edge, farthest first, one of
//! these changes is made at the face at fault:
//! - a node of it moves to the surface;
//! - a side of it is split by a new node on the surface, at the place that strays or at
//!   its own middle;
//! - a tetrahedron is put onto it, or into the fold between it and a neighbour, where the
//!   surface lies outside;
//! - the tetrahedron behind it is taken away, where the surface lies inside.
//!
//! Of those that leave no angle too flat, the one is made whose new faces
//! are nearest to the surface, and only if they are nearer than the old ones were: so
//! changes do not undo one another. Then angles are improved, and all is measured anew.
//!
//! **Guarantee.** The boundary stays manifold, and of the same genus; no change leaves an
//! angle flatter than [`LEAST`].

use glam::DVec3;

use fracas_core::tet_mesh::TET_EDGES;

use super::bvh::{Bvh, closest_on_triangle};
use super::features::Creases;
use super::improve;
use super::quality::{min_sine, volume};
use super::reconnect::{self, boundary_faces};
use super::surface_domain::SurfaceDomain;
use super::topology;
use super::work::{Pin, Work};
use crate::SurfaceMesh;

/// Places farther apart than this part of the mean edge are worked on.
const FAR: f64 = 0.4;
/// Distance of samples, in mean edges.
const STEP: f64 = 0.25;
/// Rounds of measuring and changing, at most, and those without success.
const ROUNDS: usize = 10;
const PATIENCE: usize = 3;
/// The least sine of an angle that a change may leave: 11.5 degrees.
const LEAST: f64 = 0.2;
/// New faces must be nearer than this part of the distance of the old ones.
const GAIN: f64 = 0.95;
/// So many more tetrahedra, as a part of all.
const GROWTH: f64 = 0.03;
/// A node moves at most so many of its mean edges.
const WAY: f64 = 1.2;

/// A place where mesh and surface are apart.
struct Stray {
    distance: f64,
    /// The face of the boundary at fault.
    face: u32,
    /// Where the surface is.
    target: DVec3,
    /// Whether the surface is outside of the face there.
    is_outside: bool,
    /// The surface's normal, where the mesh misses a point of it; `None` where the surface
    /// misses a point of the mesh.
    missed: Option<DVec3>,
}

/// What can be done about it.
#[derive(Clone, Copy, Debug)]
enum Change {
    Move(u32, DVec3),
    Split([u32; 2], DVec3),
    Put(DVec3),
    Fill([u32; 4]),
    TakeAway,
}

/// A change, the worst angle that it leaves, and the faces that it makes.
struct Candidate {
    change: Change,
    quality: f64,
    faces: Vec<[DVec3; 3]>,
}

/// Works on all places that are far apart; the mesh has no more than about `most`
/// tetrahedra then.
pub(super) fn approach(
    work: &mut Work,
    solid: &SurfaceDomain,
    surface: &SurfaceMesh,
    creases: &Creases,
    most: f64,
) {
    let living = |work: &Work| work.alive.iter().filter(|a| **a).count();
    let most = most.min(living(work) as f64 * (1.0 + GROWTH)) as usize;
    let mut best: Option<(f64, Work)> = None;
    let mut failed = 0;
    for _ in 0..ROUNDS {
        let scene = Scene::new(work, solid, surface);
        let strays = scene.strays(work);
        let worst = strays.first().map_or(0.0, |s| s.distance / scene.edge);
        failed += 1;
        if best.as_ref().is_none_or(|(least, _)| worst < *least) {
            best = Some((worst, work.clone()));
            failed = 0;
        }
        let room = most.saturating_sub(living(work));
        if strays.is_empty() || failed == PATIENCE || !scene.make_changes(work, &strays, room) {
            break;
        }
        improve::polish(work, solid, creases);
    }
    // The last changes may have made it worse.
    if let Some((_, kept)) = best {
        *work = kept;
    }
}

/// Mean length of all edges.
fn mean_edge(work: &Work) -> f64 {
    let mut edges: Vec<[u32; 2]> = Vec::new();
    for t in (0..work.tets.len()).filter(|&t| work.alive[t]) {
        for [i, j] in TET_EDGES {
            let (a, b) = (work.tets[t][i], work.tets[t][j]);
            edges.push([a.min(b), a.max(b)]);
        }
    }
    edges.sort_unstable();
    edges.dedup();
    let length = |e: &[u32; 2]| {
        let [a, b] = e.map(|n| work.positions[n as usize]);
        a.distance(b)
    };
    edges.iter().map(length).sum::<f64>() / edges.len().max(1) as f64
}

/// Points of a triangle no farther apart than `step`.
fn for_samples([a, b, c]: [DVec3; 3], step: f64, mut each: impl FnMut(DVec3)) {
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    let n = (longest / step).ceil().clamp(1.0, 200.0) as u32;
    for i in 0..=n {
        for j in 0..=n - i {
            let (u, v) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
            each(a + (b - a) * u + (c - a) * v);
        }
    }
}

/// The mesh's boundary and the surface at the beginning of a round.
struct Scene<'a> {
    solid: &'a SurfaceDomain,
    surface: &'a SurfaceMesh,
    /// Faces of the boundary, outward, with their tetrahedra.
    faces: Vec<([u32; 3], u32)>,
    edge: f64,
}

impl<'a> Scene<'a> {
    fn new(work: &Work, solid: &'a SurfaceDomain, surface: &'a SurfaceMesh) -> Self {
        let ids: Vec<u32> = (0..work.tets.len() as u32)
            .filter(|&t| work.alive[t as usize])
            .collect();
        let living: Vec<[u32; 4]> = ids.iter().map(|&t| work.tets[t as usize]).collect();
        let across = topology::neighbours(&living);
        let faces = topology::boundary(&living, &across).into_iter();
        Self {
            solid,
            surface,
            faces: faces.map(|(face, t)| (face, ids[t as usize])).collect(),
            edge: mean_edge(work),
        }
    }

    /// Where they are far apart, farthest first.
    fn strays(&self, work: &Work) -> Vec<Stray> {
        let (far, step) = (FAR * self.edge, STEP * self.edge);
        let bare: Vec<[u32; 3]> = self.faces.iter().map(|f| f.0).collect();
        let tree = Bvh::build(&work.positions, &bare);
        let mut out = Vec::new();
        for t in 0..self.surface.triangles().len() as u32 {
            let corners = self.surface.corners(t);
            let [a, b, c] = corners;
            let normal = (b - a).cross(c - a).normalize_or_zero() * self.solid.turned();
            for_samples(corners, step, |p| {
                if tree.closest(p, far).is_some() {
                    return;
                }
                out.extend(tree.closest(p, f64::INFINITY).map(|found| Stray {
                    distance: found.distance_squared.sqrt(),
                    face: tree.order[found.entry as usize],
                    target: p,
                    is_outside: tree.normal(found.entry).dot(p - found.point) > 0.0,
                    missed: Some(normal),
                }));
            });
        }
        let own = &self.solid.tree;
        for (f, face) in bare.iter().enumerate() {
            let corners = face.map(|n| work.positions[n as usize]);
            let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
            for_samples(corners, step, |p| {
                if own.closest(p, far).is_some() {
                    return;
                }
                out.extend(own.closest(p, f64::INFINITY).map(|found| Stray {
                    distance: found.distance_squared.sqrt(),
                    face: f as u32,
                    target: found.point,
                    is_outside: normal.dot(found.point - p) > 0.0,
                    missed: None,
                }));
            });
        }
        if self.solid.crosses_itself() {
            // Parts of the surface inside the solid are no part of its boundary.
            out.retain(|s| {
                s.missed
                    .is_none_or(|n| self.solid.bounds_solid(s.target, n))
            });
        }
        out.sort_by(|a, b| b.distance.total_cmp(&a.distance));
        out
    }

    /// Makes a change at each stray whose nodes no other change touched, as long as there is
    /// room for more tetrahedra; says whether there was any.
    fn make_changes(&self, work: &mut Work, strays: &[Stray], room: usize) -> bool {
        let most = work.tets.len() + room;
        let mut touched = vec![false; work.positions.len()];
        let mut any = false;
        for stray in strays {
            if work.tets.len() >= most {
                break;
            }
            let (face, tet) = self.faces[stray.face as usize];
            if face.iter().any(|&n| touched[n as usize]) {
                continue;
            }
            let Some(change) = self.best_change(work, stray, face, tet) else {
                continue;
            };
            any = true;
            let mut mark = |n: u32| {
                if let Some(slot) = touched.get_mut(n as usize) {
                    *slot = true;
                }
            };
            face.into_iter().for_each(&mut mark);
            if let Change::Move(n, _) = change {
                let around = work.around[n as usize].iter();
                around.for_each(|&t| work.tets[t as usize].into_iter().for_each(&mut mark));
            }
            make(work, change, face, tet, stray);
        }
        any
    }

    /// The change after which mesh and surface are nearest.
    fn best_change(&self, work: &Work, stray: &Stray, face: [u32; 3], tet: u32) -> Option<Change> {
        // Another change may have taken the tetrahedron.
        let nodes = work.tets[tet as usize];
        if !work.alive[tet as usize] || face.iter().any(|n| !nodes.contains(n)) {
            return None;
        }
        let mut all = Vec::new();
        for k in 0..3 {
            self.add_move(work, stray, face[k], &mut all);
            let side = [face[k], face[(k + 1) % 3]];
            self.add_splits(work, stray, side, &mut all);
            add_fill(work, side, face[(k + 2) % 3], tet, &mut all);
        }
        if stray.is_outside {
            add_put(work, stray, face, &mut all);
        } else {
            add_take_away(work, tet, &mut all);
        }
        let at = face.map(|n| work.positions[n as usize]);
        let now = stray.distance.max(self.farthest(&[at]));
        let mut best: Option<(f64, Change)> = None;
        for candidate in all.into_iter().filter(|c| c.quality > LEAST) {
            let mut off = self.farthest(&candidate.faces);
            if stray.missed.is_some() {
                off = off.max(distance_to(&candidate.faces, stray.target));
            }
            // Of nearly equal ones, the one with better angles.
            let score = off / self.edge - 0.1 * candidate.quality.min(0.3);
            if off < GAIN * now && best.is_none_or(|(least, _)| score < least) {
                best = Some((score, candidate.change));
            }
        }
        best.map(|b| b.1)
    }

    /// How far faces are from the surface.
    fn farthest(&self, faces: &[[DVec3; 3]]) -> f64 {
        let mut squared = 0.0_f64;
        for &face in faces {
            for_samples(face, 0.3 * self.edge, |p| {
                let found = self.solid.tree.closest(p, f64::INFINITY);
                squared = squared.max(found.map_or(0.0, |c| c.distance_squared));
            });
        }
        squared.sqrt()
    }

    fn add_move(&self, work: &Work, stray: &Stray, node: u32, all: &mut Vec<Candidate>) {
        let (at, target) = (work.positions[node as usize], stray.target);
        if !matches!(work.pins[node as usize], Pin::Surface | Pin::Crease)
            || at.distance(target) > WAY * work.mean_edge(node)
        {
            return;
        }
        let faces = faces_with(work, &boundary_faces(work, node), node, target);
        // The surface where it was must not be left behind.
        if distance_to(&faces, at) < FAR * self.edge {
            all.push(Candidate {
                change: Change::Move(node, target),
                quality: work.star_quality(node, target, LEAST),
                faces,
            });
        }
    }

    fn add_splits(&self, work: &Work, stray: &Stray, side: [u32; 2], all: &mut Vec<Candidate>) {
        let [a, b] = side;
        let middle = 0.5 * (work.positions[a as usize] + work.positions[b as usize]);
        let near = self.solid.tree.closest(middle, f64::INFINITY);
        let mut faces = boundary_faces(work, a);
        faces.retain(|f| f.contains(&b));
        for place in [Some(stray.target), near.map(|c| c.point)]
            .into_iter()
            .flatten()
        {
            let halves = [a, b].map(|gone| faces_with(work, &faces, gone, place));
            all.push(Candidate {
                change: Change::Split(side, place),
                quality: reconnect::split_quality(work, a, b, place),
                faces: halves.concat(),
            });
        }
    }
}

/// Corners of faces, with `place` instead of a node.
fn faces_with(work: &Work, faces: &[[u32; 3]], node: u32, place: DVec3) -> Vec<[DVec3; 3]> {
    let at = |n: u32| match n == node {
        true => place,
        false => work.positions[n as usize],
    };
    faces.iter().map(|f| f.map(at)).collect()
}

fn distance_to(faces: &[[DVec3; 3]], p: DVec3) -> f64 {
    let distances = faces.iter().map(|&f| closest_on_triangle(p, f).distance(p));
    distances.fold(f64::INFINITY, f64::min)
}

/// The worse angle of a tetrahedron, whichever way round it is.
fn either_way([a, b, c, d]: [DVec3; 4]) -> f64 {
    min_sine([a, b, c, d]).max(min_sine([b, a, c, d]))
}

/// A tetrahedron on the face.
fn add_put(work: &Work, stray: &Stray, [a, b, c]: [u32; 3], all: &mut Vec<Candidate>) {
    let (at, top) = (|n: u32| work.positions[n as usize], stray.target);
    all.push(Candidate {
        change: Change::Put(top),
        quality: either_way([at(a), at(b), at(c), top]),
        faces: [[a, b], [b, c], [c, a]]
            .map(|[a, b]| [at(a), at(b), top])
            .to_vec(),
    });
}

/// A tetrahedron in the fold at a side of the face, whose third node is `c`.
fn add_fill(work: &Work, [a, b]: [u32; 2], c: u32, tet: u32, all: &mut Vec<Candidate>) {
    let others = boundary_faces(work, a).into_iter();
    let mut others = others.filter(|f| f.contains(&b) && !f.contains(&c));
    let apex = |f: [u32; 3]| f.into_iter().find(|&n| n != a && n != b);
    let behind = work.tets[tet as usize].into_iter();
    let behind = behind.filter(|n| ![a, b, c].contains(n)).last();
    let (Some(d), Some(behind)) = (others.next().and_then(apex), behind) else {
        return;
    };
    // An edge that is there already would become one of four faces.
    if work.around[c as usize]
        .iter()
        .any(|&t| work.tets[t as usize].contains(&d))
    {
        return;
    }
    let at = |n: u32| work.positions[n as usize];
    let over = |n: u32| volume([at(a), at(b), at(c), at(n)]);
    if over(d) * over(behind) < 0.0 {
        all.push(Candidate {
            change: Change::Fill([a, b, c, d]),
            quality: either_way([a, b, c, d].map(at)),
            faces: vec![[a, c, d].map(at), [b, c, d].map(at)],
        });
    }
}

/// The tetrahedron behind the face, if the boundary stays manifold without it.
fn add_take_away(work: &Work, tet: u32, all: &mut Vec<Candidate>) {
    let nodes = work.tets[tet as usize];
    let face = |k: usize| [1, 2, 3].map(|i| nodes[(k + i) % 4]);
    let is_open = |k: usize| {
        let face = face(k);
        let has = |t: u32| face.iter().all(|n| work.tets[t as usize].contains(n));
        !work.around[face[0] as usize]
            .iter()
            .any(|&t| t != tet && has(t))
    };
    let (open, inner): (Vec<usize>, Vec<usize>) = (0..4).partition(|&k| is_open(k));
    let keeps_manifold = match *open {
        // The node, or the edge, that comes to the boundary must not be on it.
        [k] => work.pins[nodes[k] as usize] == Pin::Free,
        [k, l] => {
            let faces = boundary_faces(work, nodes[k]);
            !faces.iter().any(|f| f.contains(&nodes[l]))
        }
        [_, _, _] => true,
        _ => false,
    };
    if keeps_manifold {
        let corners = |k: usize| face(k).map(|n| work.positions[n as usize]);
        all.push(Candidate {
            change: Change::TakeAway,
            quality: 1.0,
            faces: inner.into_iter().map(corners).collect(),
        });
    }
}

fn make(work: &mut Work, change: Change, face: [u32; 3], tet: u32, stray: &Stray) {
    // Tips are kept: improvement would slide their nodes down again.
    let is_tip = stray.is_outside && stray.missed.is_some();
    let pin_at = |place: DVec3| match is_tip && place == stray.target {
        true => Pin::Corner,
        false => Pin::Surface,
    };
    match change {
        Change::Move(node, place) => {
            work.positions[node as usize] = place;
            work.pins[node as usize] = pin_at(place);
        }
        Change::Split([a, b], place) => {
            reconnect::split_edge(work, a, b, place, pin_at(place), LEAST);
        }
        Change::Put(top) => {
            let node = work.positions.len() as u32;
            work.positions.push(top);
            work.pins.push(pin_at(top));
            work.around.push(Vec::new());
            add_tet(work, [face[0], face[1], face[2], node]);
        }
        Change::Fill(nodes) => add_tet(work, nodes),
        Change::TakeAway => {
            work.alive[tet as usize] = false;
            let nodes = work.tets[tet as usize];
            for n in nodes {
                work.around[n as usize].retain(|&t| t != tet);
                if work.pins[n as usize] == Pin::Free {
                    // Only the node of one open face comes to the boundary.
                    let comes = !boundary_faces(work, n).is_empty();
                    work.pins[n as usize] = if comes { Pin::Surface } else { Pin::Free };
                }
            }
        }
    }
}

/// Adds a tetrahedron, turned so that it is positive.
fn add_tet(work: &mut Work, mut nodes: [u32; 4]) {
    if volume(nodes.map(|n| work.positions[n as usize])) < 0.0 {
        nodes.swap(0, 1);
    }
    let tet = work.tets.len() as u32;
    work.tets.push(nodes);
    work.alive.push(true);
    for n in nodes {
        work.around[n as usize].push(tet);
    }
}
