//! Bodies that keep their shape are not tested against themselves.
//!
//! Most of what a traversal of a broken scene finds are neighbours inside the pieces,
//! and most pieces move rigidly, or nearly so. What was found about a body once stays
//! true while it keeps its shape:
//!
//! **Theorem.** Let a body be in the reference shape q, and let two of its triangles
//! have the margin M there (see [`super::margin`]). Let its vertices be at
//! `A(s) q + t(s) + r(s)` over the step, where `A(s)` shrinks no length by more than
//! the factor w > 0, and let any two vertices of the two triangles have residuals that
//! differ by at most d at each time. If `w M > d`, the two touch at no time of the
//! step, and share no more at its end than the mesh says.
//!
//! *Proof.* Points of two features are combinations of their vertices with weights
//! that sum to one, so their difference is `A` times the difference in the reference
//! shape, at least `w M` long, plus a difference of combinations of residuals, at most
//! d long. So no tested pair of features meets. For the end of the step, shrink the
//! residuals from zero to what they are: an affine image of the reference shape, in
//! which the two share what they shared in it, changes continuously without a vertex
//! meeting a face or an edge an edge, and without that no intersection begins. ∎
//!
//! The affine map is fitted at each end of the step ([`super::fit`]); in between it is
//! their combination, and so are the residuals. For d:
//!
//! * triangles with a common corner: the strain of the one and of the other, which is
//!   the largest difference along their edges (each vertex is one edge away from the
//!   corner);
//! * others: the difference of the residuals of one corner of each, plus the strain of
//!   both; at most twice the spread; and what residuals of points differ by between
//!   neighbouring cells of space ([`super::cells`]), of larger ones for points farther
//!   apart. (The theorem holds for points as for features: what counts is that `A` holds
//!   them farther apart than their residuals can bring them together.)
//!
//! Long triangles count as cut in tiles, and their strain is that of so many tiles.
//!
//! A body passes through three stages. *Unknown*: it is tested as any. *Watched*: its
//! reference shape was taken, and the fits tell how fast it deforms. *Known*: the
//! margins of all pairs that share a corner, and of all others within `reach`, are
//! listed from the closest. Then each update looks at the head of the lists, where
//! margins are too small to prove anything, and queries test those pairs alone. A body
//! that loses its shape becomes unknown again; each time it does so early, it is left
//! alone twice as long.
//!
//! Parts of a split that have no new triangles inherit what is known of the whole.
//!
//! **Deviations**: [Heo 2010] has nothing of the kind; its bodies deform. What is
//! listed per update is bounded (`BUDGET`), so that the frames around an event share
//! the work.

use glam::Vec3;

use super::cells::{Cells, Cuts};
use super::clearance_state::{Clearance, LONGEST_WAIT, Near, Stage};
use super::discrete::shared_corners;
use super::fit::{Fit, Rest, Shape, fit, least_stretch};
use super::ids::NONE;
use super::margin;
use super::mesh::{Body, Mesh};
use super::tree::{Bounds, Leaf, Tree};

/// Triangles whose margins are found in one update: this share of all...
const BUDGET_SHARE: usize = 16;
/// ... or this many, whichever is more. Larger bodies are learned when they are added,
/// where it adds about as much as building their tree, or not at all.
const BUDGET: usize = 4096;
/// How far apart pairs without a common corner are listed, in mean edge lengths: at
/// least, at most.
const REACH: [f64; 2] = [0.05, 0.45];
/// The same for bodies that are added, of which no deformation was seen yet.
const ADDED_REACH: f64 = 0.45;
/// The reach in units of the deformation seen while watched.
const REACH_GROWTH: f64 = 20.0;
/// The same for pairs with a common corner.
const JOINED_REACH: f64 = 0.25;
/// How far a body may deform while it is watched, in mean edge lengths.
const MOST_DEFORMED: f64 = 1.0;
/// Pairs of the list, per vertex, beyond which it is cheaper to ask cells: to make and ask
/// them, to ask them alone.
const ASK_CELLS: [f64; 2] = [2.0, 0.5];
/// Strain that needs no closer look, in mean edge lengths.
const FINE_STRAIN: f64 = 1e-4;
/// Pairs to test one by one beyond which walking the tree is cheaper, per triangle.
const MOST_PAIRS: f64 = 1.0;
/// Updates in a row that a known body may be out of shape before it is given up.
const LENIENCE: u32 = 3;

/// Bounds of this step.
struct Limits {
    stretch: f64,
    /// Of a tile.
    strain: f64,
    spread: f64,
    /// For rounding, in each residual.
    room: f64,
}

impl Limits {
    fn joined(&self) -> f64 {
        2.0 * self.strain / self.stretch
    }

    fn apart(&self) -> f64 {
        2.0 * self.spread / self.stretch
    }
}

/// Begins, continues or ends what is known of each body, for the step that was just
/// closed. Only bodies below one node each can be known.
pub(crate) fn assess(mesh: &mut Mesh, tree: &Tree) {
    mesh.uncertain.clear();
    for body in mesh.bodies.iter_mut().flatten() {
        body.clearance.clear = false;
        body.clearance.wanted = None;
        body.clearance.seen = false;
    }
    for &(node, b) in &tree.whole {
        let Some(mut body) = mesh.bodies[b as usize].take() else {
            continue;
        };
        let info = &tree.info[node as usize];
        let places = info.first as usize..(info.first + info.count) as usize;
        body.clearance.seen = true;
        assess_body(mesh, &mut body, &tree.leaves[places]);
        mesh.bodies[b as usize] = Some(body);
    }
    // Without a fit of each step in a row nothing is known of the next.
    for body in mesh.bodies.iter_mut().flatten() {
        if !body.clearance.seen && body.clearance.stage != Stage::Unknown {
            body.clearance.fail();
        }
    }
}

fn assess_body(mesh: &mut Mesh, body: &mut Body, triangles: &[Leaf]) {
    let own = &mut body.clearance;
    if own.stage == Stage::Unknown {
        if own.wait > 0 {
            own.wait -= 1;
            return;
        }
        watch(mesh, body);
        let own = &mut body.clearance;
        if own.added && own.stage == Stage::Watched {
            own.wanted = Some(ADDED_REACH * own.cuts.spacing);
        }
        return;
    }
    let found = if body.is_still() {
        // Not a coordinate has changed, and the last fit was made of the same.
        Some(body.clearance.last)
    } else {
        let shape = body.clearance.shape;
        let fine = FINE_STRAIN * body.clearance.cuts.spacing;
        fit(
            &shape,
            &body.vertices,
            &mesh.positions,
            triangles.iter().map(|t| (t.id, t.corners)),
            &mut mesh.rest,
            fine,
        )
    };
    let own = &mut body.clearance;
    let Some(now) = found else {
        return own.fail();
    };
    let before = if body.in_motion { own.last } else { now };
    if !body.in_motion {
        for &v in &body.vertices {
            let [start, end] = &mut mesh.rest.residuals;
            start[v as usize] = end[v as usize];
        }
    }
    own.last = now;
    let limits = Limits {
        stretch: least_stretch(&before.linear, &now.linear),
        strain: before.strain.max(now.strain),
        spread: before.spread.max(now.spread),
        room: before.room.max(now.room),
    };
    // NaN and infinity are no bounds.
    let within = |limit: f64, most: f64| limit < most;
    if own.stage == Stage::Watched {
        let (joined, apart) = (limits.joined(), limits.apart());
        let spacing = own.cuts.spacing;
        if within(joined, 0.5 * JOINED_REACH * spacing) && within(apart, MOST_DEFORMED * spacing) {
            let reach = REACH_GROWTH * apart;
            own.wanted = Some(reach.clamp(REACH[0] * spacing, REACH[1] * spacing));
        } else {
            own.fail();
        }
        return;
    }
    own.age += 1;
    let from = mesh.uncertain.len();
    let most = from + (MOST_PAIRS * body.triangles.len() as f64) as usize;
    let holds = within(limits.joined(), JOINED_REACH * own.cuts.spacing);
    if !holds {
        // What was measured at the end of the last step is the start of this one alone.
        own.last_local = None;
    }
    let covered = holds
        && cover(mesh, body, &limits)
            .is_some_and(|margin| choose_pairs(mesh, body, &limits, margin, most));
    let own = &mut body.clearance;
    if covered {
        own.clear = true;
        own.missed = 0;
        own.pairs = (from, mesh.uncertain.len());
    } else {
        mesh.uncertain.truncate(from);
        own.missed += 1;
        if own.missed >= LENIENCE {
            own.fail();
        }
    }
}

/// Up to which margin pairs without a common corner have to be looked at one by one, if
/// those that are not listed are covered.
fn cover(mesh: &Mesh, body: &mut Body, limits: &Limits) -> Option<f64> {
    let own = &mut body.clearance;
    let before = own.last_local.take();
    let apart = limits.apart();
    let many = ASK_CELLS[usize::from(own.cells.is_some())] * body.vertices.len() as f64;
    if apart < own.reach && head(&own.apart, apart).len() as f64 <= many {
        return Some(apart);
    }
    let cells = own.cells.get_or_insert_with(|| {
        let triangles = body
            .triangles
            .iter()
            .map(|&t| (t, mesh.corners[t as usize]));
        Cells::new(&mesh.rest, &body.vertices, triangles, own.cuts)
    });
    let now = cells.largest_differences(&mesh.rest, 1);
    let start = match before {
        _ if !body.in_motion => now,
        Some(before) => before,
        None => cells.largest_differences(&mesh.rest, 0),
    };
    own.last_local = Some(now);
    // Each size of cells covers pairs from where the last one ends to its own reach, beyond
    // which the next one or the spread must do. Pairs up to the first margin are listed.
    let (mut from, mut margin) = (own.reach, None);
    for (level, reach) in cells.reaches().into_iter().enumerate() {
        let differ = now[level].max(start[level]) + 2.0 * limits.room;
        let needed = differ / limits.stretch * (1.0 + 1e-9);
        let covers = needed < from;
        if !covers {
            return None;
        }
        margin = margin.or(Some(needed.min(apart)));
        if apart < reach {
            return margin;
        }
        from = reach;
    }
    None
}

/// The pairs whose margin does not exceed a limit.
fn head(list: &[Near], limit: f64) -> &[Near] {
    // Room for the arithmetic of the limit itself.
    let limit = limit * (1.0 + 1e-9);
    &list[..list.partition_point(|n| f64::from(n.margin) <= limit)]
}

/// Notes the pairs that the theorem does not cover in this step, those without a common
/// corner up to a margin; gives up when more than `most` are noted.
fn choose_pairs(mesh: &mut Mesh, body: &Body, limits: &Limits, margin: f64, most: usize) -> bool {
    let own = &body.clearance;
    let pairs = &mut mesh.uncertain;
    // The largest difference along the edges of a triangle.
    let strain = |t: u32| {
        let corners = mesh.corners[t as usize];
        let along = |end: usize| {
            let [a, b, c] = mesh.rest.residuals_of(end, corners);
            let (ab, bc, ca) = (a - b, b - c, c - a);
            ab.length_squared()
                .max(bc.length_squared())
                .max(ca.length_squared())
        };
        f64::from(along(0).max(along(1))).sqrt()
    };
    let room = limits.room;
    for near in head(&own.joined, limits.joined()) {
        let [a, b] = near.triangles;
        let differ = (strain(a) + strain(b)) * (1.0 + 1e-6) + 2.0 * room;
        let tiles = mean_tiles(&mesh.rest, near.triangles);
        // Not proven if not a number.
        let proven = limits.stretch * tiles * f64::from(near.margin) > differ;
        if !proven {
            pairs.push(near.triangles);
        }
        if pairs.len() > most {
            return false;
        }
    }
    for near in head(&own.apart, margin) {
        let corners = near.triangles.map(|t| mesh.corners[t as usize][0]);
        let between = |end: usize| {
            let [a, b] = mesh.rest.residuals_of(end, corners);
            (a - b).length_squared()
        };
        let differ = between(0).max(between(1));
        let strain = mean_tiles(&mesh.rest, near.triangles) * limits.strain;
        let differ = f64::from(differ).sqrt() * (1.0 + 1e-6) + 2.0 * (strain + room);
        // Not proven if not a number.
        let proven = limits.stretch * f64::from(near.margin) > differ * (1.0 + 1e-9);
        if !proven {
            pairs.push(near.triangles);
        }
        if pairs.len() > most {
            return false;
        }
    }
    true
}

/// The mean of the tiles along the edges of two triangles.
fn mean_tiles(rest: &Rest, triangles: [u32; 2]) -> f64 {
    let [a, b] = triangles.map(|t| f64::from(rest.tiles[t as usize]));
    0.5 * (a + b)
}

fn watch(mesh: &mut Mesh, body: &mut Body) {
    for &v in &body.vertices {
        mesh.rest.reference[v as usize] = mesh.positions[v as usize][1];
        for residuals in &mut mesh.rest.residuals {
            residuals[v as usize] = Vec3::ZERO;
        }
    }
    let (mut length, mut squares) = (0.0, Vec::with_capacity(body.triangles.len()));
    for &t in &body.triangles {
        let [a, b, c] = mesh.corners[t as usize].map(|v| mesh.positions[v as usize][1]);
        let [ab, bc, ca] = [[a, b], [b, c], [c, a]].map(|[p, q]| p.distance_squared(q));
        length += ab.sqrt() + bc.sqrt() + ca.sqrt();
        squares.push(ab.max(bc).max(ca));
    }
    let spacing = length / (3.0 * body.triangles.len() as f64);
    let cuts = Cuts::new(spacing, &squares, body.vertices.len());
    mesh.rest.tiles.resize(mesh.corners.len(), 1);
    for (&t, &square) in body.triangles.iter().zip(&squares) {
        mesh.rest.tiles[t as usize] = cuts.along(square);
    }
    let shape = Shape::of(&mesh.rest, &body.vertices);
    let own = &mut body.clearance;
    own.age = 0;
    own.missed = 0;
    own.cells = None;
    own.last_local = None;
    own.cuts = cuts;
    match shape {
        Some(shape) => {
            own.last = Fit::of_reference(&shape);
            own.shape = shape;
            own.stage = Stage::Watched;
        }
        None => own.fail(),
    }
}

/// Finds the margins of bodies that are to be known, as far as the budget goes. Boxes
/// must be up to date. `bodies` are those that lie below one node each: node and body.
pub(crate) fn learn(mesh: &mut Mesh, tree: &Tree, bodies: &[(u32, u32)]) {
    let budget = BUDGET.max(mesh.live_triangles / BUDGET_SHARE);
    let mut spent = 0;
    for &(node, b) in bodies {
        let Some(mut body) = mesh.bodies[b as usize].take() else {
            continue;
        };
        let count = body.triangles.len();
        let own = &mut body.clearance;
        if let Some(reach) = own.wanted.take() {
            let added = std::mem::take(&mut own.added);
            if !added && count > budget {
                own.patience = LONGEST_WAIT;
                own.fail();
            } else if added || spent < budget {
                spent += if added { 0 } else { count };
                learn_body(mesh, tree, node, &mut body, reach);
            }
        }
        mesh.bodies[b as usize] = Some(body);
    }
}

fn learn_body(mesh: &mut Mesh, tree: &Tree, node: u32, body: &mut Body, reach: f64) {
    // The reference shape becomes that of now.
    watch(mesh, body);
    let own = &mut body.clearance;
    if own.stage != Stage::Watched {
        return;
    }
    own.stage = Stage::Known;
    own.reach = reach;
    own.joined.clear();
    own.apart.clear();
    let widen = reach as f32 * (1.0 + 1e-6);
    let near = |a: &Bounds, b: &Bounds| a.widened(widen).overlaps(b);
    let bounds = |n: u32| tree.nodes[n as usize].bounds();
    let mut stack = vec![(node, node)];
    while let Some((a, b)) = stack.pop() {
        let (x, y) = (&tree.nodes[a as usize], &tree.nodes[b as usize]);
        if x.is_leaf() && y.is_leaf() {
            for i in x.link()..x.link() + x.leaf_count() {
                let from = if a == b { i + 1 } else { y.link() };
                let own_box = tree.boxes[i as usize].end.widened(widen);
                if !own_box.overlaps(&y.bounds()) {
                    continue;
                }
                for j in from..y.link() + y.leaf_count() {
                    if own_box.overlaps(&tree.boxes[j as usize].end) {
                        own.note(mesh, tree, [i, j]);
                    }
                }
            }
        } else if a == b {
            let (l, r) = (a + 1, x.link());
            stack.extend([(l, l), (r, r)]);
            if near(&bounds(l), &bounds(r)) {
                stack.push((l, r));
            }
        } else {
            let (opened, kept) = if y.is_leaf()
                || !x.is_leaf() && x.bounds().extent_sum() >= y.bounds().extent_sum()
            {
                (a, b)
            } else {
                (b, a)
            };
            let against = bounds(kept).widened(widen);
            for child in [opened + 1, tree.nodes[opened as usize].link()] {
                if bounds(child).overlaps(&against) {
                    stack.push((child, kept));
                }
            }
        }
    }
    let order = |n: &Near| (n.margin.to_bits(), n.triangles);
    own.joined.sort_unstable_by_key(order);
    own.apart.sort_unstable_by_key(order);
}

impl Clearance {
    /// Up to which margin pairs are listed, where a common corner counts by tiles.
    fn reach_of(&self, shared: usize, tiles: f64) -> f64 {
        if shared == 0 {
            self.reach
        } else {
            JOINED_REACH * self.cuts.spacing * tiles
        }
    }

    /// Lists a pair of places with its margin.
    fn note(&mut self, mesh: &Mesh, tree: &Tree, places: [u32; 2]) {
        let [a, b] = places.map(|p| &tree.leaves[p as usize]);
        let at = |c: [u32; 3]| c.map(|v| mesh.positions[v as usize][1]);
        let (p, q) = (at(a.corners), at(b.corners));
        let (shared, on) = shared_corners(&a.corners, &b.corners);
        let turned = |t: [glam::DVec3; 3], k: usize| [t[k], t[(k + 1) % 3], t[(k + 2) % 3]];
        let tiles = mean_tiles(&mesh.rest, [a.id, b.id]);
        let reach = self.reach_of(shared, tiles);
        let found = match shared {
            0 => {
                let boxes = places.map(|p| &tree.boxes[p as usize].end);
                let gap = f64::from(boxes[0].distance(boxes[1]));
                if gap > self.reach {
                    return;
                }
                gap.max(margin::disjoint(p, q, self.reach))
            }
            1 => margin::at_corner(turned(p, on[0].0), turned(q, on[0].1), reach),
            2 => {
                let third = |k: usize, l: usize| 3 - k - l;
                margin::at_edge(
                    p[on[0].0],
                    p[on[1].0],
                    p[third(on[0].0, on[1].0)],
                    q[third(on[0].1, on[1].1)],
                )
            }
            _ => 0.0,
        };
        if found > reach {
            return;
        }
        let counted = if shared == 0 { found } else { found / tiles };
        // Rounded down.
        let near = Near {
            margin: (counted * (1.0 - 1e-6)) as f32,
            triangles: [a.id, b.id],
        };
        let list = if shared == 0 {
            &mut self.apart
        } else {
            &mut self.joined
        };
        list.push(near);
    }
}

/// Hands what is known of a body on to its parts. `heirs[p]` says whether the body of
/// number `first + p` has no triangles but the old ones.
pub(crate) fn inherit(mesh: &mut Mesh, old: &Clearance, first: u32, heirs: &[bool]) {
    if old.stage != Stage::Known {
        return;
    }
    for (p, _) in heirs.iter().enumerate().filter(|h| *h.1) {
        let at = first as usize + p;
        let Some(mut body) = mesh.bodies[at].take() else {
            continue;
        };
        if let Some(shape) = Shape::of(&mesh.rest, &body.vertices) {
            body.clearance = Clearance {
                stage: Stage::Known,
                shape,
                cells: None,
                last_local: None,
                joined: Vec::new(),
                apart: Vec::new(),
                ..*old
            };
        }
        mesh.bodies[at] = Some(body);
    }
    // The heir that gets a pair, or `NONE`.
    let home = |near: &Near| {
        let [a, b] = near.triangles.map(|t| mesh.triangle_body[t as usize]);
        let heir = a.wrapping_sub(first);
        let inherits = a == b && heirs.get(heir as usize) == Some(&true);
        if inherits { heir } else { NONE }
    };
    // Counted first, so that every list is written once, at its size.
    let parted = [&old.joined, &old.apart].map(|list| {
        let homes: Vec<u32> = list.iter().map(home).collect();
        let mut counts = vec![0; heirs.len()];
        for &home in homes.iter().filter(|&&h| h != NONE) {
            counts[home as usize] += 1;
        }
        let mut lists: Vec<Vec<Near>> = counts.into_iter().map(Vec::with_capacity).collect();
        for (near, home) in list.iter().zip(homes) {
            if home != NONE {
                lists[home as usize].push(*near);
            }
        }
        lists
    });
    let [joined, apart] = parted;
    for (p, (joined, apart)) in joined.into_iter().zip(apart).enumerate() {
        if let Some(body) = mesh.bodies[first as usize + p].as_mut()
            && body.clearance.stage == Stage::Known
        {
            body.clearance.joined = joined;
            body.clearance.apart = apart;
        }
    }
}

#[cfg(test)]
#[path = "clearance_tests.rs"]
mod tests;
