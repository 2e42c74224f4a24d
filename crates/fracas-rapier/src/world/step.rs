//! One step of a world, as a list of stages.
//!
//! [`World::step`] is the whole. A program whose engine is stepped by others has the two
//! halves of it: [`World::begin_step`] and [`World::finish_step`].

use rapier3d::prelude::PhysicsWorld;

use super::{StepStats, World};
use crate::breakables::{After, Breakables, Engine, Event, PieceId};
use crate::trace;
use crate::voxel::VoxelStats;

/// What is known of the engine's step before it is made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EngineStep {
    start: f64,
    voxel: VoxelStats,
}

impl World {
    /// Makes one step of `physics.integration_parameters.dt` seconds, with everything that
    /// breaks in it.
    pub fn step(&mut self) {
        self.step_with(&mut PhysicsWorld::step);
    }

    /// Makes one step with an engine's step of the game's own, which has physics hooks or an
    /// event handler.
    ///
    /// In a step in which something breaks, the motion of the bodies that the break concerns
    /// is computed again with the pieces in place, and `engine_step` is called again: where
    /// other bodies are awake, on a copy of the engine's sets with the same handles, whose
    /// colliders send no events (contacts of the new pieces are then reported by the next
    /// step).
    ///
    /// ```
    /// use fracas_rapier::{World, WorldSettings};
    /// use rapier3d::prelude::*;
    ///
    /// let mut world = World::new(WorldSettings::default());
    /// let (collisions, received) = std::sync::mpsc::channel();
    /// let (forces, _) = std::sync::mpsc::channel();
    /// let (tears, _) = std::sync::mpsc::channel();
    /// let events = ChannelEventCollector::new(collisions, forces, tears);
    /// let ball = ColliderBuilder::ball(0.1).active_events(ActiveEvents::COLLISION_EVENTS);
    /// world.physics.insert(RigidBodyBuilder::dynamic().translation(Vector::Y * 0.12), ball);
    /// world.add_floor(0.0, 0.5);
    /// for _ in 0..10 {
    ///     world.step_with(&mut |physics| physics.step_with_events(&(), &events));
    /// }
    /// assert!(received.try_recv().is_ok_and(|event| event.started()));
    /// ```
    pub fn step_with(&mut self, engine_step: &mut dyn FnMut(&mut PhysicsWorld)) {
        let _span = trace::span("step", || [("step", self.steps), ("", 0)]);
        self.begin_step();
        engine_step(&mut self.physics);
        self.finish_step(engine_step);
    }

    /// What comes before the engine's step. For a program whose engine is stepped by others:
    /// it lends its sets to [`Self::physics`] (`std::mem::swap`) for this call and for
    /// [`Self::finish_step`], and takes them back for the engine's own step between the two.
    pub fn begin_step(&mut self) {
        self.begun = (self.clock)();
        self.stats = StepStats {
            step: self.steps,
            ..StepStats::default()
        };
        self.budget.begin_step();
        self.adopt_removals();
        self.strike_blows();
        self.dt = self.physics.integration_parameters.dt;
        self.pull_hands();
        self.quarantine();
        self.breakables
            .before_step(self.dt, &mut self.physics.bodies);
        self.prepare_engine();
    }

    /// What comes after the engine's step. Where something broke, `again` makes parts of the
    /// step once more, each as long as `integration_parameters.dt` of the sets that it gets
    /// says. These are copies with the same handles, which send no events: see
    /// [`Self::step_with`].
    pub fn finish_step(&mut self, again: &mut dyn FnMut(&mut PhysicsWorld)) {
        self.note_engine();
        self.advance(again);
        self.clear_lost();
        self.clear_debris();
        self.put_to_sleep();
        self.steps += 1;
        self.stats.times.total += ((self.clock)() - self.begun) * 1e3;
        let work = self.budget.work();
        (self.stats.work, self.stats.least_work) = (1e-6 * work.all, 1e-6 * work.least);
        self.stats.pairs_waiting = self.budget.waiting();
        self.finish_stats();
    }

    /// Breaks what the engine's step broke; and makes the step again with the fragments, if
    /// something did.
    fn advance(&mut self, again: &mut dyn FnMut(&mut PhysicsWorld)) {
        let whole = After {
            may_take_back: self.settings.gives_way,
            ..After::whole(self.dt, self.physics.gravity.length())
        };
        self.quarantine();
        let redo = self.follow_engine(whole, |breakables, after, engine| {
            breakables.follow_step(after, engine)
        });
        if let Some(redo) = redo {
            self.redo_step(&redo, whole, again);
        }
    }

    /// What the engine's own step (find pairs, query contacts, solve) needs beforehand.
    pub(super) fn prepare_engine(&mut self) {
        self.hold_asleep();
        self.leave_gone_voxels();
        let spent = self.stats.times.collision * 1e-3;
        if self.settings.step_budget.is_some() {
            let start = (self.clock)();
            let kept = self.breakables.work_waiting();
            self.budget.choose(&self.physics, kept);
            self.stats.times.collision += ((self.clock)() - start) * 1e3;
        }
        let voxel = self.voxels.prepare(&self.physics, spent, &self.clock);
        #[cfg(feature = "parallel")]
        self.prepare_answers();
        let start = (self.clock)();
        self.engine = EngineStep { start, voxel };
    }

    /// What the engine's own step took.
    pub(super) fn note_engine(&mut self) {
        self.restore_gravity();
        let EngineStep { start, voxel } = self.engine;
        let spent = ((self.clock)() - start) * 1e3;
        let counters = &self.physics.physics_pipeline.counters;
        // The engine times itself by the wall; told in our clock's milliseconds.
        let whole = counters.step_time_ms().max(f64::MIN_POSITIVE);
        let share = counters.stages.collision_detection_time.time_ms() / whole;
        let collision = match self.voxels.narrow_phase_end() {
            // Where a budget hangs on it, as our clock saw it: the engine's share would
            // count waiting for a processor, too.
            Some(end) => {
                let last = counters.cd.final_broad_phase_time.time_ms();
                ((end - start) * 1e3 + last).clamp(0.0, spent)
            }
            None => spent * share.clamp(0.0, 1.0),
        };
        self.stats.times.collision += collision + voxel.refine;
        self.stats.times.physics += (spent - collision).max(0.0);
        self.stats.times.update += voxel.relabel;
        trace::ended([
            ("collision", collision),
            ("physics", (spent - collision).max(0.0)),
        ]);
        self.stats.voxel = self.voxels.learn(collision * 1e-3);
        let counts = self.counters.take();
        self.budget.learn(&self.physics, counts);
        self.stats.pairs += counts.pairs;
        self.stats.visited_points += counts.visited_points;
        self.stats.contacts += counts.contacts;
        self.stats.solver_contacts += counts.solver_contacts;
    }

    /// Calls a stage of breaking on the engine's sets, and adds up what it took.
    pub(super) fn follow_engine<R: Send>(
        &mut self,
        after: After,
        stage: impl FnOnce(&mut Breakables, After, &mut Engine<'_>) -> R + Send,
    ) -> R {
        let _span = trace::span("breaking", trace::plain);
        self.mark_held();
        let before = self.breakables.events.len();
        let budget = &self.budget;
        let room = budget.room().map(|left| (left, budget.engine()));
        let result = self.on_engine_threads(|breakables, engine| {
            stage(breakables, After { room, ..after }, engine)
        });
        let report = self.breakables.report;
        self.budget.add(report.work, report.least_work);
        self.stats.parts_spared += report.parts_spared;
        self.stats.times.fracture += report.stages.fracture();
        self.stats.times.update += report.stages.update();
        self.stats.times.physics += report.stages.replacing;
        self.stats.times.breaking += report.stages;
        self.stats.times.total -= report.apart;
        self.stats.broken += report.broken;
        self.stats.breaks_waiting = report.waiting;
        if self.hands.is_empty() {
            return result;
        }
        let broke = self.breakables.events[before..].iter();
        let broke: Vec<(PieceId, Vec<PieceId>)> = broke
            .filter_map(|event| match event {
                Event::Broke {
                    piece, children, ..
                } => Some((*piece, children.clone())),
                _ => None,
            })
            .collect();
        for (piece, children) in broke {
            self.follow_hands(piece, &children);
        }
        result
    }

    /// On the engine's own threads, where it was given some.
    #[cfg(feature = "parallel")]
    fn on_engine_threads<R: Send>(
        &mut self,
        stage: impl FnOnce(&mut Breakables, &mut Engine<'_>) -> R + Send,
    ) -> R {
        let pool = self.physics.thread_pool();
        let mut engine = Engine::from(&mut self.physics);
        let breakables = &mut self.breakables;
        match pool {
            Some(pool) => pool.install(|| stage(breakables, &mut engine)),
            None => stage(breakables, &mut engine),
        }
    }

    #[cfg(not(feature = "parallel"))]
    fn on_engine_threads<R>(
        &mut self,
        stage: impl FnOnce(&mut Breakables, &mut Engine<'_>) -> R,
    ) -> R {
        let mut engine = Engine::from(&mut self.physics);
        stage(&mut self.breakables, &mut engine)
    }
}
