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
//! Parts of a split that have no new triangles inherit what is known of the whole. Those that
//! have are *newborn*. If one is closed and star-shaped ([`super::star`]) it is known from then
//! on as long as its residuals are within its room, and nothing is listed. If it is not, but
//! rests during the step, it is watched and known in the same update, for a short reach
//! ([`learn_newborn`]).
//!
//! **Deviations**: [Heo 2010] has nothing of the kind; its bodies deform. What is
//! listed per update is bounded (`BUDGET`), but for newborn bodies, so that the frames
//! around an event share the work.

use std::ops::Range;

use glam::Vec3;

use super::cells::{Cells, Cuts};
use super::clearance_state::{Clearance, LONGEST_WAIT, Near, Stage};
use super::discrete::shared_corners;
use super::fit::{Fit, Rest, Shape, fit, least_stretch};
use super::ids::NONE;
use super::margin;
use super::mesh::{Body, Mesh};
use super::star;
use super::threads::{each, of_chunks};
use super::tree::{Bounds, Leaf, Tree};
use fracas_geometry::primitives::Moving;

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
/// The same for both kinds of pairs in a body that was just born, which is taken for rigid.
const NEWBORN_REACH: f64 = 0.01;
/// The least room of a body that is known because it is star-shaped, in mean edge lengths.
const LEAST_STAR: f64 = 1e-3;
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

/// What the looks at all bodies share.
struct Ground<'a> {
    positions: &'a [Moving],
    corners: &'a [[u32; 3]],
    rest: &'a Rest,
    tree: &'a Tree,
    /// By number of the body: the node that holds it, or `NONE`.
    nodes: Vec<u32>,
    /// Triangles of a body that may be learned in one update.
    budget: usize,
    parallel: bool,
}

impl<'a> Ground<'a> {
    /// Of a mesh, and its bodies.
    fn of(
        mesh: &'a mut Mesh,
        tree: &'a Tree,
        nodes: &[(u32, u32)],
        parallel: bool,
    ) -> (Self, &'a mut [Option<Body>]) {
        mesh.rest.tiles.grow(mesh.corners.len(), 1);
        let budget = budget(mesh);
        let mut node_of = vec![NONE; mesh.bodies.len()];
        for &(node, body) in nodes {
            node_of[body as usize] = node;
        }
        let ground = Self {
            positions: &mesh.positions,
            corners: &mesh.corners,
            rest: &mesh.rest,
            tree,
            nodes: node_of,
            budget,
            parallel,
        };
        (ground, &mut mesh.bodies)
    }
}

/// Begins, continues or ends what is known of each body, for the step that was just
/// closed. Only bodies below one node each can be known.
pub(crate) fn assess(mesh: &mut Mesh, tree: &Tree, parallel: bool) {
    let (ground, bodies) = Ground::of(mesh, tree, &tree.whole, parallel);
    each(parallel, bodies, |number, body| {
        let Some(body) = body else { return };
        body.clearance.clear = false;
        body.clearance.wanted = None;
        // Only the update after its birth is told by this.
        let newborn = std::mem::take(&mut body.clearance.newborn);
        let node = ground.nodes[number];
        if node != NONE {
            let info = &tree.info[node as usize];
            let places = info.first as usize..(info.first + info.count) as usize;
            assess_body(&ground, body, places, newborn);
        } else if body.clearance.stage != Stage::Unknown {
            // Without a fit of each step in a row nothing is known of the next.
            body.clearance.fail();
        }
    });
}

/// Watches a body of which nothing is known, if it has waited long enough, and knows it if it
/// is star-shaped.
fn begin(ground: &Ground, body: &mut Body, places: Range<usize>, newborn: bool) {
    let own = &mut body.clearance;
    if own.wait > 0 {
        own.wait -= 1;
        return;
    }
    watch(ground, body);
    find_star(ground, body, places);
    let resting = !body.in_motion;
    let own = &mut body.clearance;
    if own.star.is_some() {
        own.clear = resting;
        return;
    }
    if newborn && resting && own.stage == Stage::Watched && body.triangles.len() <= ground.budget {
        // Until `learn_newborn` has looked.
        (own.newborn, own.clear) = (true, true);
        own.pairs.clear();
    }
    if own.added && own.stage == Stage::Watched {
        own.wanted = Some(ADDED_REACH * own.cuts.spacing);
    }
}

fn assess_body(ground: &Ground, body: &mut Body, places: Range<usize>, newborn: bool) {
    let triangles = &ground.tree.leaves[places.clone()];
    if body.clearance.stage == Stage::Unknown {
        return begin(ground, body, places, newborn);
    }
    let found = if body.is_still() {
        // Not a coordinate has changed, and the last fit was made of the same.
        Some(body.clearance.last)
    } else {
        let shape = body.clearance.shape;
        let fine = FINE_STRAIN * body.clearance.cuts.spacing;
        let (rest, parallel) = (ground.rest, ground.parallel);
        fit(
            &shape,
            &body.vertices,
            ground.positions,
            triangles,
            rest,
            fine,
            parallel,
        )
    };
    let own = &mut body.clearance;
    let Some(now) = found else {
        return own.fail();
    };
    let before = if body.in_motion { own.last } else { now };
    if !body.in_motion {
        for &v in &body.vertices {
            let [start, end] = &ground.rest.residuals;
            start.set(v, end.get(v));
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
    if let Some(room) = own.star {
        own.clear = within(limits.spread / limits.stretch, room);
        if !own.clear {
            own.fail();
        }
        return;
    }
    let holds = within(limits.joined(), own.joined_reach);
    if !holds {
        // What was measured at the end of the last step is the start of this one alone.
        own.last_local = None;
    }
    let covered = holds
        && cover(ground, body, &limits)
            .is_some_and(|margin| choose_pairs(ground, body, &limits, margin, most_pairs(body)));
    let own = &mut body.clearance;
    if covered {
        own.clear = true;
        own.missed = 0;
    } else {
        own.missed += 1;
        if own.missed >= LENIENCE {
            own.fail();
        }
    }
}

/// Up to which margin pairs without a common corner have to be looked at one by one, if
/// those that are not listed are covered.
fn cover(ground: &Ground, body: &mut Body, limits: &Limits) -> Option<f64> {
    let (rest, parallel) = (ground.rest, ground.parallel);
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
            .map(|&t| (t, ground.corners[t as usize]));
        Cells::new(rest, &body.vertices, triangles, own.cuts)
    });
    let now = cells.largest_differences(rest, 1, parallel);
    let start = match before {
        _ if !body.in_motion => now,
        Some(before) => before,
        None => cells.largest_differences(rest, 0, parallel),
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
/// corner up to a margin; gives up when there are more than `most`.
fn choose_pairs(
    ground: &Ground,
    body: &mut Body,
    limits: &Limits,
    margin: f64,
    most: usize,
) -> bool {
    let own = &mut body.clearance;
    let mut pairs = std::mem::take(&mut own.pairs);
    pairs.clear();
    let joined = head(&own.joined, limits.joined());
    let apart = head(&own.apart, margin);
    let few = choose(ground, joined, most, &mut pairs, |near| {
        joined_apart(ground, limits, near)
    }) && choose(ground, apart, most, &mut pairs, |near| {
        kept_apart(ground, limits, near)
    });
    own.pairs = pairs;
    few
}

fn most_pairs(body: &Body) -> usize {
    (MOST_PAIRS * body.triangles.len() as f64) as usize
}

/// Adds the pairs of a list that are not proven; stops when there are more than `most`.
fn choose(
    ground: &Ground,
    list: &[Near],
    most: usize,
    pairs: &mut Vec<[u32; 2]>,
    proven: impl Fn(&Near) -> bool + Sync,
) -> bool {
    let noted = pairs.len();
    let unproven = |list: &[Near]| {
        let open = list.iter().filter(|&near| !proven(near));
        let open = open.map(|near| near.triangles);
        // One more than there may be tells that there are too many.
        open.take((most + 1).saturating_sub(noted))
            .collect::<Vec<_>>()
    };
    for part in of_chunks(ground.parallel, list, unproven) {
        pairs.extend(part);
    }
    pairs.len() <= most
}

/// Whether a pair with a common corner surely does not touch in this step.
fn joined_apart(ground: &Ground, limits: &Limits, near: &Near) -> bool {
    // The largest difference along the edges of a triangle.
    let strain = |t: u32| {
        let corners = ground.corners[t as usize];
        let along = |end: usize| {
            let [a, b, c] = ground.rest.residuals_of(end, corners);
            let (ab, bc, ca) = (a - b, b - c, c - a);
            ab.length_squared()
                .max(bc.length_squared())
                .max(ca.length_squared())
        };
        f64::from(along(0).max(along(1))).sqrt()
    };
    let [a, b] = near.triangles;
    let differ = (strain(a) + strain(b)) * (1.0 + 1e-6) + 2.0 * limits.room;
    let tiles = mean_tiles(ground.rest, near.triangles);
    // Not proven if not a number.
    limits.stretch * tiles * f64::from(near.margin) > differ
}

/// The same for one without.
fn kept_apart(ground: &Ground, limits: &Limits, near: &Near) -> bool {
    let corners = near.triangles.map(|t| ground.corners[t as usize][0]);
    let between = |end: usize| {
        let [a, b] = ground.rest.residuals_of(end, corners);
        (a - b).length_squared()
    };
    let differ = between(0).max(between(1));
    let strain = mean_tiles(ground.rest, near.triangles) * limits.strain;
    let differ = f64::from(differ).sqrt() * (1.0 + 1e-6) + 2.0 * (strain + limits.room);
    // Not proven if not a number.
    limits.stretch * f64::from(near.margin) > differ * (1.0 + 1e-9)
}

/// The mean of the tiles along the edges of two triangles.
fn mean_tiles(rest: &Rest, triangles: [u32; 2]) -> f64 {
    let [a, b] = triangles.map(|t| f64::from(rest.tiles.get(t)));
    0.5 * (a + b)
}

fn watch(ground: &Ground, body: &mut Body) {
    let rest = ground.rest;
    for &v in &body.vertices {
        rest.reference.set(v, ground.positions[v as usize][1]);
        for residuals in &rest.residuals {
            residuals.set(v, Vec3::ZERO);
        }
    }
    let (mut length, mut squares) = (0.0, Vec::with_capacity(body.triangles.len()));
    for &t in &body.triangles {
        let [a, b, c] = ground.corners[t as usize].map(|v| ground.positions[v as usize][1]);
        let [ab, bc, ca] = [[a, b], [b, c], [c, a]].map(|[p, q]| p.distance_squared(q));
        length += ab.sqrt() + bc.sqrt() + ca.sqrt();
        squares.push(ab.max(bc).max(ca));
    }
    let spacing = length / (3.0 * body.triangles.len() as f64);
    let cuts = Cuts::new(spacing, &squares, body.vertices.len());
    for (&t, &square) in body.triangles.iter().zip(&squares) {
        rest.tiles.set(t, cuts.along(square));
    }
    let shape = Shape::of(rest, &body.vertices);
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

/// Knows a body that was just watched if it is star-shaped. That is tried once, and not for
/// bodies that are added, which are learned when they are.
fn find_star(ground: &Ground, body: &mut Body, places: Range<usize>) {
    let own = &mut body.clearance;
    if own.stage != Stage::Watched || own.added || own.tried_star {
        return;
    }
    own.tried_star = true;
    let neighbours = &ground.tree.neighbours[places.clone()];
    if neighbours.iter().flatten().any(|&n| n == NONE) {
        return;
    }
    let leaves = ground.tree.leaves[places].iter();
    let at = |leaf: &Leaf| leaf.corners.map(|v| ground.positions[v as usize][1]);
    own.star = star::room(leaves.map(at)).filter(|&room| room > LEAST_STAR * own.cuts.spacing);
    if own.star.is_some() {
        own.stage = Stage::Known;
        own.pairs.clear();
    }
}

/// Finds the margins of bodies that are to be known, as far as the budget goes. Boxes
/// must be up to date. `bodies` are those that lie below one node each: node and body.
pub(crate) fn learn(mesh: &mut Mesh, tree: &Tree, bodies: &[(u32, u32)], parallel: bool) {
    if bodies.is_empty() {
        return;
    }
    let budget = budget(mesh);
    let mut spent = 0;
    for &(_, b) in bodies {
        let Some(body) = mesh.bodies[b as usize].as_mut() else {
            continue;
        };
        let count = body.triangles.len();
        let own = &mut body.clearance;
        let Some(reach) = own.wanted.take() else {
            continue;
        };
        let added = std::mem::take(&mut own.added);
        if !added && count > budget {
            own.patience = LONGEST_WAIT;
            own.fail();
        } else if added || spent < budget {
            spent += if added { 0 } else { count };
            own.wanted = Some(reach);
        }
    }
    let (ground, all) = Ground::of(mesh, tree, bodies, parallel);
    each(parallel, all, |number, body| {
        let node = ground.nodes[number];
        if let Some(body) = body
            && node != NONE
            && let Some(reach) = body.clearance.wanted.take()
        {
            // The reference shape becomes that of now.
            watch(&ground, body);
            let joined = JOINED_REACH * body.clearance.cuts.spacing;
            learn_body(&ground, node, body, [reach, joined]);
        }
    });
}

/// Triangles whose margins may be found in one update.
fn budget(mesh: &Mesh) -> usize {
    BUDGET.max(mesh.live_triangles / BUDGET_SHARE)
}

/// Finds the margins of bodies that were just born and rest during the step, as they do in
/// discrete detection, and whether they are clear in this step already. Boxes must be up to
/// date. Only what is very near is listed: that costs about as much as to test the body against
/// itself, which has to be done otherwise, so it counts for no budget. Returns whether some
/// of them are not clear, against what the tree was told.
pub(crate) fn learn_newborn(mesh: &mut Mesh, tree: &Tree, parallel: bool) -> bool {
    let (ground, bodies) = Ground::of(mesh, tree, &tree.whole, parallel);
    each(parallel, bodies, |number, body| {
        let node = ground.nodes[number];
        if let Some(body) = body
            && node != NONE
            && body.clearance.newborn
        {
            let reach = NEWBORN_REACH * body.clearance.cuts.spacing;
            learn_body(&ground, node, body, [reach; 2]);
            let own = &mut body.clearance;
            let fit = own.last;
            let limits = Limits {
                stretch: least_stretch(&fit.linear, &fit.linear),
                strain: fit.strain,
                spread: fit.spread,
                room: fit.room,
            };
            let holds = limits.joined() < reach && limits.apart() < reach;
            let clear =
                holds && choose_pairs(&ground, body, &limits, limits.apart(), most_pairs(body));
            body.clearance.clear = clear;
        }
    });
    let mut lost = false;
    for body in bodies.iter_mut().flatten() {
        lost |= std::mem::take(&mut body.clearance.newborn) && !body.clearance.clear;
    }
    lost
}

/// Lists the pairs of a body that is watched up to a margin: those without a common corner,
/// and those with one.
fn learn_body(ground: &Ground, node: u32, body: &mut Body, [reach, joined]: [f64; 2]) {
    let tree = ground.tree;
    let own = &mut body.clearance;
    if own.stage != Stage::Watched {
        return;
    }
    own.stage = Stage::Known;
    own.reach = reach;
    own.joined_reach = joined;
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
                        own.note(ground, [i, j]);
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
            self.joined_reach * tiles
        }
    }

    /// Lists a pair of places with its margin.
    fn note(&mut self, ground: &Ground, places: [u32; 2]) {
        let tree = ground.tree;
        let [a, b] = places.map(|p| &tree.leaves[p as usize]);
        let at = |c: [u32; 3]| c.map(|v| ground.positions[v as usize][1]);
        let (p, q) = (at(a.corners), at(b.corners));
        let (shared, on) = shared_corners(&a.corners, &b.corners);
        let turned = |t: [glam::DVec3; 3], k: usize| [t[k], t[(k + 1) % 3], t[(k + 2) % 3]];
        let tiles = mean_tiles(ground.rest, [a.id, b.id]);
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
                    reach,
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
                pairs: Vec::new(),
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
