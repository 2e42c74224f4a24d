//! Which pairs a step has, and what is remembered of them.
//!
//! Steps: boxes that overlap, by sweeping along x -> pairs in order of their colliders ->
//! joined with what the last step knew of them, which has the same order -> those that
//! have not come nearer than the gap between them are apart without being asked.
//!
//! A heap of two hundred pieces has more than a thousand pairs of overlapping boxes, and
//! each of them is visited here in every step: this is what a crowd costs whatever the
//! budget is, so it is kept to a few dozen nanoseconds a pair.

use std::sync::Arc;

use fracas_voxel::{VoxTree, roots_gap};
use glam::Vec3;
use parry3d::bounding_volume::Aabb;
use parry3d::math::Pose;
use rapier3d::prelude::RigidBodyHandle;

use super::table::{Cost, ShapeKey};
use crate::pose::to_pose;

/// One collider of this step.
pub(super) struct Body {
    pub(super) key: ShapeKey,
    pub(super) place: Pose,
    /// Where it will be after the coming step, as it moves now.
    pub(super) next: Pose,
    pub(super) bounds: Aabb,
    pub(super) parent: Option<RigidBodyHandle>,
    pub(super) moves: bool,
    pub(super) tree: Option<Arc<VoxTree>>,
    pub(super) chosen: bool,
    pub(super) fragment: bool,
    /// Whether it is unbroken and fast enough to break where it lands.
    pub(super) falls: bool,
    /// Sample points of a fragment, where they count: none of any other shape.
    pub(super) points: u32,
    pub(super) inner_radius: f32,
    /// Its place among all colliders.
    pub(super) collider: usize,
    /// The collider's handle, as one number: grows with the place.
    pub(super) name: u64,
    /// How far a fragment (its voxels, if it has any) reaches from the origin of its frame.
    pub(super) radius: f32,
}

impl Body {
    fn seen(&self) -> Seen {
        Seen {
            name: self.name,
            key: self.key,
            place: self.place,
            bounds: self.bounds,
            moves: self.moves,
            chosen: self.chosen,
        }
    }

    /// Where it will be when this share of the coming step is over.
    fn at(&self, share: f32) -> Pose {
        if share <= 0.0 {
            return self.place;
        }
        let (one, two, share) = (&self.place, &self.next, share.min(1.0));
        let turned = one.rotation.lerp(two.rotation, share);
        Pose::from_parts(one.translation.lerp(two.translation, share), turned)
    }

    /// Whether voxels can answer a pair: a fragment that could not be voxelised keeps the
    /// sphere-tree method.
    fn voxels(&self, other: &Self) -> bool {
        [self, other]
            .iter()
            .all(|b| !b.fragment || b.tree.is_some())
    }
}

/// What a query found that ended where its nodes were used up holds for this share of the
/// motion for which a whole one holds.
const CUT_SHORT_SHARE: f32 = 0.25;

/// Where there is no time to look at all pairs, they keep what they have until they have moved by
/// this many times what it holds for: half a voxel, within which nothing is exact anyway.
pub(super) const STALE_MOTION: f32 = 5.0;

/// Of a gap between two trees, what they may move: rounding.
pub(super) const SAFE: f32 = 0.99;

/// What is known of a pair from the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Answer {
    /// Nothing.
    None,
    /// The sphere-tree method answered: the engine keeps what it found.
    SphereTree,
    /// They do not touch.
    Apart,
    /// Contacts, first and number, and the level to which they were seen: none if they
    /// cannot be seen more finely.
    Contacts {
        first: u32,
        count: u32,
        level: Option<u8>,
    },
}

/// A pair of this step, and the record of it for the next.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) a: u32,
    pub(super) b: u32,
    /// Places B in the frame of A.
    pub(super) pos12: Pose,
    /// How far they may move against each other in the coming step.
    pub(super) ahead: f32,
    /// When in the coming step voxels are compared, as a share of it, and where B is then in the
    /// frame of A: now, but where they are known to be apart until then.
    pub(super) share: f32,
    pub(super) then: Pose,
    pub(super) by_sphere_tree: bool,
    /// Colliders, and the shapes they had: name it from step to step.
    colliders: [u64; 2],
    shapes: [ShapeKey; 2],
    /// When the answer was found; it holds until the pair has moved by `room`.
    pub(super) since: Pose,
    pub(super) room: f32,
    pub(super) answer: Answer,
    /// The least distance of its contacts.
    pub(super) deepest: f32,
    pub(super) cost: Option<Cost>,
}

impl Pair {
    /// Whether the remembered answer still holds for where the bodies are now.
    pub(super) fn holds(&self, bodies: &[Body]) -> bool {
        self.moved(bodies) < self.room
    }

    /// Whether they stay apart in the coming step, as far as is remembered.
    fn stays_apart(&self, bodies: &[Body]) -> bool {
        self.moved(bodies) + self.ahead < self.room
    }

    /// How far the bodies may have moved against each other since it was found.
    pub(super) fn moved(&self, bodies: &[Body]) -> f32 {
        self.between(&self.since, &self.pos12, bodies)
    }

    /// The same between two places of B in the frame of A.
    fn between(&self, from: &Pose, to: &Pose, bodies: &[Body]) -> f32 {
        let b = &bodies[self.b as usize];
        if b.fragment {
            return moved(from, to, b.radius);
        }
        // A plain shape's origin may be far off: there the other's own points are asked.
        let radius = bodies[self.a as usize].radius;
        moved(&from.inverse(), &to.inverse(), radius)
    }

    /// Notes how far they move in the coming step, and that they are looked at where they are.
    fn look_ahead(&mut self, bodies: &[Body]) {
        (self.share, self.then) = (0.0, self.pos12);
        let [one, two] = [self.a, self.b].map(|i| &bodies[i as usize]);
        self.ahead = if one.place == one.next && two.place == two.next {
            0.0
        } else {
            self.between(&self.pos12, &one.next.inv_mul(&two.next), bodies)
        };
    }

    /// They are known to be apart by `gap` where they were looked at: goes on to where they may
    /// meet in the coming step, by `least` at any rate. Tells whether they may.
    pub(super) fn advance(&mut self, gap: f32, least: f32, bodies: &[Body]) -> bool {
        let left = (1.0 - self.share) * self.ahead;
        if gap >= left || self.share >= 1.0 {
            return false;
        }
        let on = gap.max(least) / self.ahead;
        // What is left is looked at where it ends.
        self.share = (self.share + on).min(1.0);
        let [one, two] = [self.a, self.b].map(|i| &bodies[i as usize]);
        self.then = one.at(self.share).inv_mul(&two.at(self.share));
        true
    }

    /// Whether they may be deep in each other, as far as is remembered: they were, or were seen
    /// coarsely only.
    pub(super) fn may_be_deep(&self, tree: &VoxTree) -> bool {
        match self.answer {
            Answer::Contacts { level, .. } => level.is_some() || self.deepest < -tree.finest_cell(),
            Answer::None | Answer::SphereTree | Answer::Apart => false,
        }
    }

    /// Notes an answer that was found where the bodies are now, or will be when they are
    /// looked at.
    pub(super) fn found(&mut self, answer: Answer, room: f32) {
        (self.answer, self.since, self.room) = (answer, self.then, room);
    }
}

/// How far points within `radius` of the origin may have moved between two poses.
pub(super) fn moved(before: &Pose, now: &Pose, radius: f32) -> f32 {
    let [a, b] = [before.rotation, now.rotation].map(|q| [q.x, q.y, q.z, q.w]);
    let turn = |sign: f32| (0..4).map(|i| (a[i] - sign * b[i]).powi(2)).sum::<f32>();
    // Rotations by an angle t differ by 2 sin(t / 2), their quaternions by 2 sin(t / 4).
    let turn = 2.0 * turn(1.0).min(turn(-1.0)).sqrt();
    (before.translation - now.translation).length() + turn * radius
}

/// A box of the sweep.
#[derive(Clone, Copy)]
struct Swept {
    low: Vec3,
    high: Vec3,
    body: u32,
    moves: bool,
    fragment: bool,
    /// Whether pairs with it are wanted, whatever the other is.
    wanted: bool,
}

/// What a collider was when its pairs were found.
#[derive(Clone, Copy, PartialEq)]
struct Seen {
    name: u64,
    key: ShapeKey,
    place: Pose,
    bounds: Aabb,
    moves: bool,
    chosen: bool,
}

/// All pairs of a step, in order of their colliders.
#[derive(Default)]
pub(super) struct Pairs {
    pub(super) list: Vec<Pair>,
    /// Those of the step before.
    before: Vec<Pair>,
    swept: Vec<Swept>,
    /// All bodies, as they were when the pairs were found.
    seen: Vec<Seen>,
    keys: Vec<(u32, u32)>,
    /// Pairs that are known to be apart.
    pub(super) apart: usize,
}

impl Pairs {
    /// Finds the pairs of a step. `chosen_only`: none without a chosen body.
    pub(super) fn find(&mut self, bodies: &[Body], chosen_only: bool) {
        self.sweep(bodies, chosen_only);
        std::mem::swap(&mut self.list, &mut self.before);
        self.list.clear();
        debug_assert!(bodies.is_sorted_by_key(|b| b.name));
        let mut at = 0;
        for i in 0..self.keys.len() {
            let pair = self.pair(self.keys[i], bodies, &mut at);
            self.list.push(pair);
        }
        self.finish(bodies);
    }

    /// The same where most bodies are as they were at the last call, in the second of two
    /// engine steps that make one: pairs of these are taken over as they are.
    pub(super) fn find_again(&mut self, bodies: &[Body], chosen_only: bool) {
        // Both lists are in the order of names.
        let (mut now, mut is_new) = (vec![u32::MAX; self.seen.len()], vec![true; bodies.len()]);
        let mut at = 0;
        for (i, body) in bodies.iter().enumerate() {
            while self.seen.get(at).is_some_and(|s| s.name < body.name) {
                at += 1;
            }
            if self.seen.get(at).is_some_and(|seen| *seen == body.seen()) {
                (now[at], is_new[i]) = (i as u32, false);
            }
        }
        self.sweep_new(bodies, &is_new, chosen_only);
        std::mem::swap(&mut self.list, &mut self.before);
        self.list.clear();
        let (mut at, mut next) = (0, 0);
        for i in 0..self.before.len() {
            let mut pair = self.before[i];
            (pair.a, pair.b) = (now[pair.a as usize], now[pair.b as usize]);
            if pair.a == u32::MAX || pair.b == u32::MAX {
                continue;
            }
            while let Some(&key) = self.keys.get(next).filter(|k| **k < (pair.a, pair.b)) {
                let new = self.pair(key, bodies, &mut at);
                self.list.push(new);
                next += 1;
            }
            pair.by_sphere_tree = !bodies[pair.a as usize].voxels(&bodies[pair.b as usize]);
            // A part of a step is shorter than the whole.
            pair.look_ahead(bodies);
            let holds = match pair.answer {
                Answer::None => false,
                Answer::Apart => pair.stays_apart(bodies),
                Answer::SphereTree | Answer::Contacts { .. } => true,
            };
            if !holds {
                pair = self.pair((pair.a, pair.b), bodies, &mut at);
            }
            self.list.push(pair);
        }
        for i in next..self.keys.len() {
            let new = self.pair(self.keys[i], bodies, &mut at);
            self.list.push(new);
        }
        self.finish(bodies);
    }

    /// A pair as it is now, with what the step before knew of it. `at`: where that is looked
    /// for, for pairs in order.
    fn pair(&self, (a, b): (u32, u32), bodies: &[Body], at: &mut usize) -> Pair {
        let (one, two) = (&bodies[a as usize], &bodies[b as usize]);
        let colliders = [one.name, two.name];
        let shapes = [one.key, two.key];
        let pos12 = one.place.inv_mul(&two.place);
        // Both lists are in the order of colliders. Addresses are compared, never
        // ordered by.
        while self
            .before
            .get(*at)
            .is_some_and(|p| p.colliders < colliders)
        {
            *at += 1;
        }
        let known = self.before.get(*at);
        let known = known.filter(|p| p.colliders == colliders && p.shapes == shapes);
        let mut pair = Pair {
            a,
            b,
            pos12,
            ahead: 0.0,
            share: 0.0,
            then: pos12,
            by_sphere_tree: false,
            colliders,
            shapes,
            since: known.map_or(pos12, |p| p.since),
            room: known.map_or(0.0, |p| p.room),
            answer: known.map_or(Answer::None, |p| p.answer),
            deepest: known.map_or(0.0, |p| p.deepest),
            cost: known.and_then(|p| p.cost),
        };
        pair.look_ahead(bodies);
        // Only what voxels may answer too keeps what is a little old.
        let stale = if one.voxels(two) { STALE_MOTION } else { 1.0 };
        if pair.answer == Answer::SphereTree && pair.moved(bodies) >= stale * pair.room {
            pair.answer = Answer::None;
        }
        match (&one.tree, &two.tree) {
            (Some(tree), Some(other)) => {
                if pair.answer == Answer::Apart && !pair.stays_apart(bodies) {
                    pair.answer = Answer::None;
                }
                if pair.answer == Answer::None {
                    let gap = SAFE * roots_gap(tree, other, &to_pose(&pos12));
                    if gap > 0.0 && !pair.advance(gap, 0.0, bodies) {
                        pair.found(Answer::Apart, gap);
                    }
                }
            }
            _ => {
                pair.by_sphere_tree = !one.voxels(two);
                if pair.answer == Answer::Apart {
                    pair.answer = Answer::None;
                }
            }
        }
        pair
    }

    fn finish(&mut self, bodies: &[Body]) {
        let apart = self.list.iter().filter(|p| p.answer == Answer::Apart);
        self.apart = apart.count();
        self.seen.clear();
        self.seen.extend(bodies.iter().map(Body::seen));
    }

    /// Whether something that is fast enough to break is about to meet something.
    pub(super) fn may_break(&self, bodies: &[Body]) -> bool {
        self.list.iter().any(|pair| {
            let [a, b] = [pair.a, pair.b].map(|i| &bodies[i as usize]);
            // A floor's box is everywhere: there it is contacts that tell.
            let meets = match pair.answer {
                Answer::Apart => false,
                Answer::None => b.tree.is_some(),
                Answer::SphereTree | Answer::Contacts { .. } => true,
            };
            meets && (a.falls || b.falls)
        })
    }

    /// Notes what the sphere-tree method cost, by the pairs' places in the list, and that what
    /// it found holds until the pair has moved by `room`, or by less if it may not have seen all.
    pub(super) fn note_costs(&mut self, costs: impl Iterator<Item = (u32, Cost)>, room: f32) {
        for (pair, cost) in costs {
            if let Some(pair) = self.list.get_mut(pair as usize) {
                pair.cost = Some(cost);
                if !cost.late {
                    let room = if cost.cut_short {
                        CUT_SHORT_SHARE * room
                    } else {
                        room
                    };
                    pair.then = pair.pos12;
                    pair.found(Answer::SphereTree, room);
                }
            }
        }
    }

    /// Boxes that overlap, into `keys`, sorted.
    fn sweep(&mut self, bodies: &[Body], chosen_only: bool) {
        self.swept.clear();
        let swept = |(b, i)| Swept::of(b, i, chosen_only);
        self.swept.extend(bodies.iter().zip(0..).map(swept));
        let by_low = |a: &Swept, b: &Swept| a.low.x.total_cmp(&b.low.x).then(a.body.cmp(&b.body));
        self.swept.sort_unstable_by(by_low);
        self.keys.clear();
        for (i, one) in self.swept.iter().enumerate() {
            let reached = self.swept[i + 1..].iter();
            for other in reached.take_while(|o| o.low.x <= one.high.x) {
                self.keys.extend(key(one, other, bodies));
            }
        }
        self.keys.sort_unstable();
    }

    /// Boxes that overlap, one of them new, into `keys`, sorted. They are few: every one is
    /// compared with all.
    fn sweep_new(&mut self, bodies: &[Body], is_new: &[bool], chosen_only: bool) {
        self.swept.clear();
        let swept = |(b, i)| Swept::of(b, i, chosen_only);
        self.swept.extend(bodies.iter().zip(0..).map(swept));
        self.keys.clear();
        for (i, one) in self.swept.iter().enumerate().filter(|(i, _)| is_new[*i]) {
            for (j, other) in self.swept.iter().enumerate() {
                // Of two new ones once.
                let is_first = j > i || !is_new[j];
                if is_first && one.low.x <= other.high.x && other.low.x <= one.high.x {
                    self.keys.extend(key(one, other, bodies));
                }
            }
        }
        self.keys.sort_unstable();
    }
}

impl Swept {
    fn of(body: &Body, place: u32, chosen_only: bool) -> Self {
        Self {
            low: body.bounds.mins,
            high: body.bounds.maxs,
            body: place,
            moves: body.moves,
            fragment: body.fragment,
            wanted: !chosen_only || body.chosen,
        }
    }
}

/// The pair of two boxes that overlap along x, if it is one.
fn key(one: &Swept, other: &Swept, bodies: &[Body]) -> Option<(u32, u32)> {
    let meets = one.low.y <= other.high.y
        && other.low.y <= one.high.y
        && one.low.z <= other.high.z
        && other.low.z <= one.high.z;
    if !meets
        || !(one.moves || other.moves)
        || !(one.fragment || other.fragment)
        || !(one.wanted || other.wanted)
    {
        return None;
    }
    let (a, b) = (one.body.min(other.body), one.body.max(other.body));
    let [first, second] = [a, b].map(|i| &bodies[i as usize]);
    if first.parent.is_some() && first.parent == second.parent {
        return None;
    }
    // The one with voxels is A; of two the earlier.
    let voxels_first = first.tree.is_some() || second.tree.is_none();
    Some(if voxels_first { (a, b) } else { (b, a) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_core::testing::{Rng, box_grid};
    use fracas_voxel::VoxelGrid;

    fn cube() -> Arc<VoxTree> {
        let mesh = box_grid([1, 1, 1], Vec3::splat(0.2));
        let triangles: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
        let grid = VoxelGrid::from_surface(mesh.positions(), &triangles, 0.05).unwrap();
        Arc::new(VoxTree::build(&grid, 2))
    }

    fn body(name: u64, at: Vec3, tree: &Arc<VoxTree>) -> Body {
        let low = at - 0.01;
        Body {
            key: name as usize,
            place: Pose::from_translation(at),
            next: Pose::from_translation(at),
            bounds: Aabb::new(low, low + 0.22),
            parent: None,
            moves: true,
            tree: Some(tree.clone()),
            chosen: name.is_multiple_of(3),
            fragment: true,
            falls: false,
            points: 8,
            inner_radius: 0.1,
            collider: name as usize,
            name,
            radius: tree.radius(),
        }
    }

    /// Puts a body somewhere, at rest.
    fn put(body: &mut Body, at: Vec3) {
        body.place.translation = at;
        body.next.translation = at;
    }

    #[test]
    fn the_sweep_finds_what_comparing_all_boxes_finds() {
        let mut rng = Rng(5);
        let tree = cube();
        for chosen_only in [false, true] {
            let mut bodies: Vec<Body> = (0..60)
                .map(|i| body(i, rng.in_box(Vec3::splat(-0.4), Vec3::splat(0.4)), &tree))
                .collect();
            // A floor under all, without voxels; and some that rest.
            bodies.push(Body {
                bounds: Aabb::new(Vec3::splat(-1e9), Vec3::splat(0.0)),
                tree: None,
                fragment: false,
                points: 0,
                moves: false,
                chosen: false,
                ..body(60, Vec3::ZERO, &tree)
            });
            bodies.iter_mut().step_by(4).for_each(|b| b.moves = false);
            let mut pairs = Pairs::default();
            pairs.find(&bodies, chosen_only);
            let mut all = Vec::new();
            for a in 0..bodies.len() {
                for b in a + 1..bodies.len() {
                    let (one, two) = (&bodies[a], &bodies[b]);
                    let near = one.bounds.mins.cmple(two.bounds.maxs).all()
                        && two.bounds.mins.cmple(one.bounds.maxs).all();
                    if near
                        && (one.moves || two.moves)
                        && (!chosen_only || one.chosen || two.chosen)
                    {
                        all.push((a as u32, b as u32));
                    }
                }
            }
            let found: Vec<_> = pairs.list.iter().map(|p| (p.a, p.b)).collect();
            assert_eq!(found, all);
            assert!(found.len() > 100);
        }
    }

    #[test]
    fn what_is_known_of_a_pair_is_found_again_after_others_came_and_went() {
        let tree = cube();
        let at = |i: u64| Vec3::new(0.15 * i as f32, 0.0, 0.0);
        let mut bodies: Vec<Body> = (0..8).map(|i| body(i, at(i), &tree)).collect();
        let mut pairs = Pairs::default();
        pairs.find(&bodies, false);
        for pair in &mut pairs.list {
            let count = 10 * pair.a + pair.b;
            let answer = Answer::Contacts {
                first: 0,
                count,
                level: None,
            };
            pair.found(answer, 0.01);
        }
        // One goes, one comes, one gets another shape, one moves.
        bodies.remove(3);
        bodies.push(body(9, at(3), &tree));
        bodies[0].key = 1000;
        let there = bodies[6].place.translation + 0.02 * Vec3::X;
        put(&mut bodies[6], there);
        pairs.find(&bodies, false);
        for pair in &pairs.list {
            let names = [pair.a, pair.b].map(|i| bodies[i as usize].name);
            let known = names.iter().all(|n| (1..9).contains(n) && *n != 3);
            let expected = if known {
                Answer::Contacts {
                    first: 0,
                    count: 10 * names[0] as u32 + names[1] as u32,
                    level: None,
                }
            } else {
                Answer::None
            };
            assert_eq!(pair.answer, expected, "{names:?}");
            if known {
                assert_eq!(pair.holds(&bodies), names[1] != 7, "{names:?}");
            }
        }
    }

    #[test]
    fn what_is_found_again_is_what_is_found_anew() {
        let mut rng = Rng(11);
        let tree = cube();
        let places = |rng: &mut Rng| rng.in_box(Vec3::splat(-0.4), Vec3::splat(0.4));
        for round in 0..20 {
            let mut bodies: Vec<Body> = (0..80)
                .map(|i| body(2 * i, places(&mut rng), &tree))
                .collect();
            // Some move.
            for body in bodies.iter_mut().step_by(3) {
                body.next.translation += 0.1 * places(&mut rng);
            }
            let [mut again, mut anew] = [Pairs::default(), Pairs::default()];
            for pairs in [&mut again, &mut anew] {
                pairs.find(&bodies, false);
                for pair in pairs.list.iter_mut().filter(|p| p.b % 3 == 0) {
                    let answer = Answer::Contacts {
                        first: 10 * pair.a,
                        count: pair.b,
                        level: None,
                    };
                    pair.found(answer, 0.01);
                }
            }
            // Some went, came between the others, moved, fell asleep, or changed their shape;
            // in the first round all are as they were.
            // A part of a step is shorter than the whole.
            if round % 3 == 0 {
                for body in &mut bodies {
                    body.next = body.at(0.5);
                }
            }
            for _ in 0..round / 2 {
                let i = rng.below(bodies.len());
                match rng.below(5) {
                    0 => drop(bodies.remove(i)),
                    1 => {
                        let name = bodies[i].name + 1;
                        if bodies.iter().all(|b| b.name != name) {
                            bodies.insert(i + 1, body(name, places(&mut rng), &tree));
                        }
                    }
                    2 => {
                        let by = 0.3 * places(&mut rng);
                        let moved = body(bodies[i].name, bodies[i].place.translation + by, &tree);
                        bodies[i] = moved;
                    }
                    3 => bodies[i].moves = !bodies[i].moves,
                    _ => bodies[i].key += 10_000,
                }
            }
            again.find_again(&bodies, false);
            anew.find(&bodies, false);
            let told = |pairs: &Pairs| -> Vec<String> {
                let tell = |p: &Pair| {
                    format!(
                        "{} {} {:?} {} {} {:?} {} {:?} {:?} {:?} {} {:?}",
                        p.a,
                        p.b,
                        p.pos12,
                        p.ahead,
                        p.share,
                        p.then,
                        p.by_sphere_tree,
                        p.colliders,
                        p.shapes,
                        p.since,
                        p.room,
                        p.answer
                    )
                };
                pairs.list.iter().map(tell).collect()
            };
            assert_eq!(told(&again), told(&anew), "round {round}");
            assert_eq!(again.apart, anew.apart);
            assert!(again.list.len() > 100);
        }
    }

    #[test]
    fn pairs_that_are_apart_are_not_asked_until_they_may_meet() {
        let tree = cube();
        let mut bodies: Vec<Body> = (0..2).map(|i| body(i, Vec3::ZERO, &tree)).collect();
        // Boxes overlap, voxels do not.
        put(&mut bodies[1], Vec3::X * 0.3);
        let mut pairs = Pairs::default();
        pairs.find(&bodies, false);
        assert_eq!((pairs.apart, pairs.list[0].answer), (1, Answer::Apart));
        let since = pairs.list[0].since;
        put(&mut bodies[1], Vec3::X * 0.28);
        pairs.find(&bodies, false);
        assert_eq!(pairs.apart, 1);
        assert_eq!(pairs.list[0].since, since, "it was not asked again");
        put(&mut bodies[1], Vec3::X * 0.15);
        pairs.find(&bodies, false);
        assert_eq!((pairs.apart, pairs.list[0].answer), (0, Answer::None));
    }

    #[test]
    fn what_may_meet_in_the_step_is_looked_at_where_it_may() {
        let tree = cube();
        let mut bodies: Vec<Body> = (0..2).map(|i| body(i, Vec3::ZERO, &tree)).collect();
        // A gap of 0.1 or less (voxels stick out), and boxes that hold where both will be.
        put(&mut bodies[1], Vec3::X * 0.3);
        bodies[0].bounds.maxs.x += 1.0;
        let mut pairs = Pairs::default();
        for (way, apart) in [(0.0, true), (0.02, true), (0.2, false), (-0.4, false)] {
            bodies[1].next.translation = Vec3::X * (0.3 - way);
            pairs.find(&bodies, false);
            let pair = &mut pairs.list[0];
            assert_eq!(pair.answer == Answer::Apart, apart, "by {way}");
            if !apart {
                // Not before they may, and all of the way.
                let then = 0.3 - way * pair.share;
                assert!(pair.share > 0.1 && pair.share < 0.3, "{}", pair.share);
                assert!((pair.then.translation.x - then).abs() < 1e-6);
                let mut looks = 0;
                while pair.advance(0.0, 0.05, &bodies) {
                    looks += 1;
                }
                assert!((2..=8).contains(&looks), "{looks}");
                assert_eq!(pair.share, 1.0);
                let end = pair.then.translation.x;
                assert!((end - (0.3 - way)).abs() < 1e-6);
            }
        }
    }
}
