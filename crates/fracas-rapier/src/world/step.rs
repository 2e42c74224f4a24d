//! One step of a world, as a list of stages.
//!
//! [`World::step`] is the whole. A program whose engine is stepped by others has the two
//! halves of it: [`World::begin_step`] and [`World::finish_step`].

use rapier3d::prelude::PhysicsWorld;

use super::{StepStats, World};
use crate::breakables::{After, Breakables, Engine, Event, PieceId};
use crate::trace;
use crate::voxel::VoxelStats;

/// Rounds of the solver that a part of a step has at least (decision 0015).
const LEAST_ROUNDS: usize = 2;

/// What is known of the engine's step before it is made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EngineStep {
    start: f64,
    voxel: VoxelStats,
}

impl World {
    /// One step: the list of stages.
    pub fn step(&mut self) {
        self.step_with(&mut PhysicsWorld::step);
    }

    /// The same with an engine's step of one's own, which has physics hooks or an event
    /// handler: `world.step_with(&mut |physics| physics.step_with_events(&hooks, &events))`.
    /// It is called again in a step in which something broke.
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
        self.pull_hands();
        self.quarantine();
        let dt = self.physics.integration_parameters.dt;
        self.breakables.before_step(dt, &mut self.physics.bodies);
        self.prepare_engine();
    }

    /// What comes after the engine's step. Where something broke, `again` makes the step, or
    /// parts of it, once more: as long as `integration_parameters.dt` says.
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

    /// What breaks in the engine's step; and the step once more, with the fragments, if
    /// something did.
    fn advance(&mut self, again: &mut dyn FnMut(&mut PhysicsWorld)) {
        let whole = After {
            may_take_back: self.settings.gives_way,
            ..After::whole(self.settings.step, self.physics.gravity.length())
        };
        self.quarantine();
        let Some(parts) = self.follow_step(whole) else {
            return;
        };
        self.stats.made_again = parts;
        let dt = whole.dt / parts as f32;
        let parameters = &mut self.physics.integration_parameters;
        let rounds = parameters.num_solver_iterations;
        parameters.dt = dt;
        // The engine solves a step in rounds, each over its share of the time. Parts share
        // those of the whole; with one round each, what is hit is pushed along too far.
        let share = rounds.div_ceil(parts as usize);
        parameters.num_solver_iterations = share.max(LEAST_ROUNDS.min(rounds));
        for part in 1..=parts {
            if part > 1 {
                self.breakables.before_step(dt, &mut self.physics.bodies);
            }
            self.prepare_engine();
            again(&mut self.physics);
            self.note_engine();
            if part > 1 {
                self.budget.could_be_spared();
            }
            self.quarantine();
            let is_last = part == parts;
            self.follow_step(After {
                dt,
                next_dt: if is_last { whole.dt } else { dt },
                part,
                is_last,
                may_take_back: false,
                ..whole
            });
        }
        let parameters = &mut self.physics.integration_parameters;
        parameters.dt = whole.dt;
        parameters.num_solver_iterations = rounds;
    }

    /// What the engine's own step (find pairs, query contacts, solve) needs beforehand.
    fn prepare_engine(&mut self) {
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
    fn note_engine(&mut self) {
        self.let_drowsy_go();
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

    /// Decide, cut, update, replace. Returns in how many parts the step is to be made again,
    /// if it is.
    fn follow_step(&mut self, after: After) -> Option<u32> {
        self.follow_engine(after, |breakables, after, engine| {
            breakables.follow_step(after, engine)
        })
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
