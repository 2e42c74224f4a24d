//! The stage before the engine's step that asks expensive pairs, on all threads.
//!
//! Steps: pairs of the engine that were expensive at their last query -> what the engine will
//! ask of each -> each is a task -> answers, for the dispatcher to take up
//! ([`crate::prepared`], which tells why no bit depends on it). Newborn pairs, of which nothing
//! is known, are left to the engine.

use rapier3d::prelude::{Collider, PhysicsWorld, RigidBody};

use super::World;
use crate::dispatcher::FragmentDispatcher;
use crate::pair::ContactSettings;
use crate::pair_memory::PairMemory;
use crate::pair_plan::PairPlan;
use crate::parallel;
use crate::pose::place;
use crate::prepared::{Keys, Known, PairQuestion, Prepared, PreparedAnswers, Version, keys_of};

/// A pair, and what it is asked.
struct Task<'a> {
    colliders: [&'a Collider; 2],
    question: PairQuestion,
    memory: PairMemory,
}

impl World {
    /// Asks what the engine will ask in its coming step, as far as it is worth a thread.
    pub(super) fn prepare_answers(&mut self) {
        let pool = self.physics.thread_pool();
        let threads = pool
            .as_ref()
            .map_or_else(rayon::current_num_threads, |pool| {
                pool.current_num_threads()
            });
        // Where voxels may answer a pair, it is asked when its turn comes.
        let on = threads > 1 && self.settings.contacts.mode.adaptive().is_some();
        let on = on && self.voxels.is_idle();
        let answers = &self.prepared;
        answers.switch(on);
        if !on {
            return;
        }
        let start = (self.clock)();
        let known = answers.take_known();
        let tasks = expensive_tasks(&self.physics, known, answers, self.budget.plan());
        // One alone gains nothing: the engine will ask it.
        if tasks.len() < 2 {
            answers.put(Vec::new());
            self.stats.times.collision += ((self.clock)() - start) * 1e3;
            return;
        }
        let settings = self.settings.contacts;
        let work = || parallel::map(tasks, |task| answer(&settings, task));
        let found = match pool {
            Some(pool) => pool.install(work),
            None => work(),
        };
        answers.put(found.into_iter().flatten().collect());
        self.stats.times.collision += ((self.clock)() - start) * 1e3;
    }
}

fn answer(settings: &ContactSettings, task: Task<'_>) -> Option<Prepared> {
    let [g1, g2] = task.colliders.map(Collider::shape);
    let question = task.question;
    let answer = FragmentDispatcher::prepare(settings, [g1, g2], &question, task.memory)?;
    Some(Prepared {
        question,
        answer: Some(answer).into(),
    })
}

/// The engine's pairs of which `known` tells that they were expensive, without those that `plan`
/// lets wait.
fn expensive_tasks<'a>(
    physics: &'a PhysicsWorld,
    mut known: Vec<Known>,
    answers: &PreparedAnswers,
    plan: &PairPlan,
) -> Vec<Task<'a>> {
    let mut tasks = Vec::new();
    if known.is_empty() {
        return tasks;
    }
    // Two pairs of the same shapes cannot be told apart here: the engine asks them.
    let keys: Vec<_> = known.iter().map(|k| k.keys).collect();
    let last = |k: Keys| keys.partition_point(|other| *other <= k);
    let first = |k: Keys| keys.partition_point(|other| *other < k);
    known.retain(|k| last(k.keys) - first(k.keys) == 1);
    let keys: Vec<_> = known.iter().map(|k| k.keys).collect();
    let mut known: Vec<Option<Known>> = known.into_iter().map(Some).collect();
    for pair in physics.narrow_phase.contact_pairs() {
        let handles = [pair.collider1, pair.collider2];
        let [Some(first), Some(second)] = handles.map(|h| physics.colliders.get(h)) else {
            continue;
        };
        let Ok(at) = keys.binary_search(&keys_of(first.shape(), second.shape())) else {
            continue;
        };
        let Some(known) = known[at].take() else {
            continue;
        };
        if plan.waits(first.shape(), second.shape()) {
            continue;
        }
        let colliders = [first, second];
        let Some(question) = question(physics, colliders, known.version) else {
            continue;
        };
        if known.memory.asked_last(&question.pos12, question.reach) {
            // A step that is made again asks it no more; a later one may.
            answers.keep(known);
            continue;
        }
        tasks.push(Task {
            colliders,
            question,
            memory: known.memory,
        });
    }
    tasks
}

/// What the engine will ask of a pair in its coming step, as its narrow phase reckons it; none
/// if nothing.
fn question(
    physics: &PhysicsWorld,
    colliders: [&Collider; 2],
    version: Version,
) -> Option<PairQuestion> {
    let bodies = colliders.map(|c| c.parent().and_then(|h| physics.bodies.get(h)));
    let moves = |body: &Option<&RigidBody>| body.is_some_and(|b| !b.is_fixed() && !b.is_sleeping());
    if !bodies.iter().any(moves) {
        return None;
    }
    let [first, second] = colliders.map(|c| place(c, &physics.bodies));
    let parameters = &physics.integration_parameters;
    let ahead = bodies.map(|b| b.map_or(0.0, RigidBody::soft_ccd_prediction));
    let mut reach = parameters.prediction_distance();
    if ahead.iter().any(|&a| a > 0.0) {
        let per_second = parameters.inv_dt();
        let [v1, v2] = [0, 1].map(|i| {
            let velocity = bodies[i].map(|b| b.linvel().clamp_length_max(ahead[i] * per_second));
            velocity.unwrap_or_default()
        });
        reach = reach.max(parameters.dt * (v1 - v2).length());
    }
    Some(PairQuestion {
        version,
        pos12: first.inv_mul(&second),
        reach: reach + (colliders[0].contact_skin() + colliders[1].contact_skin()),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fracas_core::testing::box_grid;
    use fracas_core::{Crack, Fracture};
    use glam::Vec3;
    use parry3d::math::Pose;

    use super::*;
    use crate::blueprint::Blueprint;
    use crate::breakables::PieceId;
    use crate::world::WorldSettings;

    /// Two halves of a piece, at the middle of its nodes along an axis.
    fn halve(world: &mut World, piece: PieceId, axis: usize) {
        let shape = world.shape(piece).unwrap();
        let state = shape.object().read();
        let mesh = state.fragments().mesh().clone();
        let nodes = state.fragments().fragment(piece.fragment).nodes().to_vec();
        drop(state);
        let at = |n: u32| mesh.positions()[n as usize][axis];
        let sum: f32 = nodes.iter().map(|&n| at(n)).sum();
        let middle = sum / nodes.len() as f32 + 0.01;
        let crack = Crack::from_level(&mesh, 0, &nodes, |n| at(n) - middle).unwrap();
        let fragment = piece.fragment;
        let cracks = vec![crack];
        world.break_piece(piece, Fracture { fragment, cracks });
    }

    /// A block in eight, dropped askew, which breaks again: digests and points asked of every
    /// step, and how many answers were taken up.
    fn run(threads: usize, expensive_from: u32) -> (Vec<(u64, u64)>, u64) {
        let mesh = Arc::new(box_grid([6; 3], Vec3::splat(0.6)));
        let blueprint = Blueprint::build(mesh, &Default::default(), &Default::default());
        let blueprint = Arc::new(blueprint.unwrap());
        let mut world = World::new(WorldSettings::measured());
        world.prepared = Arc::new(PreparedAnswers::expensive_from(expensive_from));
        world.equip();
        world.add_floor(0.0, 0.5);
        let turned = Pose::new(Vec3::new(0.0, 0.5, 0.0), Vec3::new(0.3, 0.2, 0.4));
        world.add(crate::Breakable::new(blueprint).at(turned));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = Arc::new(pool.build().unwrap());
        world.physics.set_thread_pool(Some(pool));
        let mut steps = Vec::new();
        for step in 0..60 {
            let axes = match step {
                0 => 0..3,
                25 => 1..2,
                _ => 0..0,
            };
            for axis in axes {
                for piece in world.pieces().collect::<Vec<_>>() {
                    halve(&mut world, piece, axis);
                }
            }
            world.step();
            steps.push((world.digest(), world.stats().visited_points));
        }
        (steps, world.prepared.taken())
    }

    #[test]
    fn answers_are_taken_up_and_change_no_bit() {
        let (alone, none) = run(1, 12);
        assert_eq!(none, 0, "one thread prepares nothing");
        assert!(alone.iter().map(|(_, points)| points).sum::<u64>() > 1000);
        let (on_threads, taken) = run(3, 12);
        assert_eq!(alone, on_threads);
        assert!(taken > 50, "{taken}");
        // Next to everything is prepared.
        let (on_threads, taken_of_all) = run(3, 1);
        assert_eq!(alone, on_threads);
        assert!(taken_of_all > taken, "{taken_of_all}");
    }
}
