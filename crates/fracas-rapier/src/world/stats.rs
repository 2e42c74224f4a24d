//! What a step did and how long its stages took.

use crate::breakables::BreakStages;

/// Times of one step, in milliseconds, one field per stage, in stage order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepTimes {
    /// The engine's broad and narrow phase, our queries within.
    pub collision: f64,
    /// Solving, and replacing broken bodies.
    pub physics: f64,
    /// Deciding, cutting, weighing.
    pub fracture: f64,
    /// Updating field, grid bits and tree; or building parry's shapes.
    pub update: f64,
    /// The break told apart: `fracture`, `update` and the bodies' replacement.
    pub breaking: BreakStages,
    /// The whole step by the clock.
    pub total: f64,
}

/// One step in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepStats {
    /// Which step.
    pub step: u64,
    /// Times of its stages.
    pub times: StepTimes,
    /// Pairs that were asked for contacts.
    pub pairs: u64,
    /// Points whose distance was asked.
    pub visited_points: u64,
    /// Contacts found.
    pub contacts: u64,
    /// Contacts handed to the engine.
    pub solver_contacts: u64,
    /// Bodies that are fragments or intact objects.
    pub pieces: usize,
    /// Fragments among them.
    pub fragments: usize,
    /// Bodies that broke in this step.
    pub broken: usize,
    /// Parts in which the step was made again because something broke; 0: it was not.
    pub made_again: u32,
    /// Work of the step, in milliseconds at the fixed rates of
    /// [`WorldSettings::step_budget`](crate::WorldSettings::step_budget).
    pub work: f64,
    /// Of it, what could not wait, whatever the budget.
    pub least_work: f64,
    /// Pairs that were not asked because of the budget, and kept their contacts.
    pub pairs_waiting: u64,
    /// Parts of a step made again that were left out because of the budget.
    pub parts_spared: u32,
    /// Bodies that were hit and are decided in a later step (raise `most_breaks_per_step`, or
    /// the budget).
    pub breaks_waiting: usize,
    /// Bodies lost since the start.
    pub bodies_lost: usize,
    /// Sample points inside other bodies, where the settings ask for them.
    pub colliding_points: Option<u64>,
    /// What voxel contacts did, where they are used.
    pub voxel: crate::voxel::VoxelStats,
}
