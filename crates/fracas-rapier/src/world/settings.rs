//! What a world is told at the start.

use fracas_core::sphere_tree::SplitMethod;
use glam::Vec3;
use rapier3d::dynamics::{IntegrationParameters, SpringCoefficients};

use crate::breakables::{BreakSettings, FragmentModesPolicy};
use crate::debris::DebrisPolicy;
use crate::pair::{ContactMode, ContactSettings};

/// No body is faster (m/s). The engine counts it in its length units: its own 400 would be
/// 20 m/s among things of 5 cm, and everything faster would be slowed down, untold.
const MOST_SPEED: f32 = 400.0;

/// Settings of a world.
#[derive(Clone, Copy, Debug)]
pub struct WorldSettings {
    /// Gravity of a new world, metres per second squared; 9.81 along -y by default.
    /// [`super::World::around`] keeps the engine's.
    pub gravity: Vec3,
    /// About the size of the smallest thing that matters, metres; 0.1 by default. Bodies that
    /// move slowly against it fall asleep; in a new world it is what the engine's tolerances
    /// are multiples of, too.
    pub length_unit: f32,
    /// How many length units of the world make a metre: 1 in metres, 100 in centimetres, 1000
    /// in millimetres. Meshes, positions, and speeds of a world are in its own units; masses
    /// are kilograms and times seconds in all of them. What is known in SI units (materials,
    /// densities, forces, these settings) is converted. By default 1, or the `length_unit` of
    /// the engine that [`super::World::around`] is given, where that is larger than 1.
    pub units_per_meter: Option<f32>,
    /// How contacts are found.
    pub contacts: ContactSettings,
    /// How trees are put together after a split.
    pub restructuring: SplitMethod,
    /// What becomes of fragments.
    pub debris: DebrisPolicy,
    /// Whether bodies at rest may sleep.
    pub sleep: bool,
    /// Whether the engine of a new world may keep contacts of pairs that hardly moved.
    pub recycle_contacts: bool,
    /// Whether the engine of a new world may merge manifolds of nearly equal normals.
    pub cluster_contacts: bool,
    /// Whether friction also acts, in a new world, while overlap is pushed apart. It holds the pieces
    /// of a fresh break together, and topples tall stacks.
    pub friction_in_bias: bool,
    /// How firmly bodies of a new world press on each other, in hertz: a load F on a pair of reduced mass m
    /// presses them together by F / (m (2 pi f)^2). Piles of broken pieces overlap least at
    /// 60, the engine's value against fixed bodies; tall stacks stand best at the engine's
    /// 30 to 40 (docs/decisions/0004-engine-settings-for-stacks.md).
    pub contact_frequency: f32,
    /// Breaks of one step beyond this number wait for the next.
    pub most_breaks_per_step: usize,
    /// What the whole step may cost, contacts and breaks and all: seconds of work, counted at
    /// fixed rates, not by a clock, so that runs repeat bit for bit. What does not fit is
    /// handed on to later steps, in a fixed order (docs/guide.md, budgets); none: nothing is.
    pub step_budget: Option<f32>,
    /// Pairs of colliders whose contacts have a larger impulse in a step, all points together
    /// (newton-seconds), are reported by [`crate::Event::Contact`]. Default: infinity, none.
    pub event_impulse: f32,
    /// When fragments get modes of their own.
    pub fragment_modes: FragmentModesPolicy,
    /// Bodies look for contacts so many of their own radii ahead, a step's motion at most:
    /// they meet before they overlap, and nothing has to push them apart.
    pub look_ahead: f32,
    /// Whether what breaks gives way: a step in which something broke is made again with
    /// the fragments in its place (docs/decisions/0015-what-breaks-gives-way.md). Without
    /// it pieces go on as the whole body did, thrown as if it could not break.
    pub gives_way: bool,
    /// Pieces whose center of mass is lower are lost: removed, with an event, and counted.
    /// Height is against gravity, in length units from the origin; along y without gravity. By
    /// default a metre under the lowest [`super::World::add_floor`] where gravity points down
    /// to it, and nothing elsewhere.
    pub lost_below: Option<f32>,
    /// Whether each step counts the sample points inside other bodies, all of them.
    /// Slow, and outside the step's times.
    pub count_colliding: bool,
}

impl Default for WorldSettings {
    /// For a game: sleeping, contacts kept while nothing moves.
    /// The engine does not thin or merge contacts: stacks stand better so (see
    /// docs/decisions/0004-engine-settings-for-stacks.md).
    fn default() -> Self {
        Self {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            length_unit: 0.1,
            units_per_meter: None,
            contacts: ContactSettings::default(),
            restructuring: SplitMethod::default(),
            debris: DebrisPolicy::default(),
            sleep: true,
            recycle_contacts: true,
            cluster_contacts: false,
            friction_in_bias: false,
            contact_frequency: 40.0,
            most_breaks_per_step: 64,
            step_budget: None,
            event_impulse: f32::INFINITY,
            fragment_modes: FragmentModesPolicy::Off,
            look_ahead: 1.0,
            gives_way: true,
            lost_below: None,
            count_colliding: false,
        }
    }
}

impl WorldSettings {
    /// For measurements as in the paper: nothing sleeps, no contact is kept, merged
    /// or thinned by the engine.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn measured() -> Self {
        Self {
            sleep: false,
            recycle_contacts: false,
            ..Self::default()
        }
    }

    /// How many of their own radii bodies look ahead: [`Self::look_ahead`]; not at all where
    /// the engine's own shapes are compared, which have the engine's own ways.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn look_ahead_radii(&self) -> f32 {
        match self.contacts.mode.parry_shape() {
            Some(_) => 0.0,
            None => self.look_ahead,
        }
    }

    /// The settings of breaking in a world with so many length units per metre.
    pub(crate) fn breaking(&self, units: f32) -> BreakSettings {
        BreakSettings {
            contacts: self.contacts.mode,
            restructuring: self.restructuring,
            most_breaks_per_step: self.most_breaks_per_step,
            event_impulse: self.event_impulse,
            units,
            sleep: self.sleep,
            fragments_sleep: self.sleep && self.debris.sleep,
            fragment_modes: self.fragment_modes,
            look_ahead: self.look_ahead_radii(),
            debris: self.debris,
        }
    }

    /// The engine's parameters that suit freshly broken pieces best: those of
    /// [`super::World::new`]. A game that has an engine already can take them over before
    /// [`super::World::around`]; see [`super::World::warnings`]. The time step in them is the
    /// engine's default.
    #[must_use]
    pub fn engine_parameters(&self) -> IntegrationParameters {
        let units = self.units_per_meter.unwrap_or(1.0);
        IntegrationParameters {
            length_unit: self.length_unit * units,
            normalized_max_linear_velocity: MOST_SPEED / self.length_unit,
            // The engine takes a pair that waits for one that was asked, and would keep it longer
            // than the budget knows.
            contact_recycling: self.recycle_contacts && self.step_budget.is_none(),
            contact_clustering: self.cluster_contacts,
            friction_in_bias_pass: self.friction_in_bias,
            contact_softness: SpringCoefficients {
                natural_frequency: self.contact_frequency,
                ..SpringCoefficients::contact_defaults()
            },
            // Catching fast bodies asks the sphere-tree method, outside any budget.
            max_ccd_substeps: match self.contacts.mode {
                ContactMode::VoxelTree(_) => 0,
                _ => IntegrationParameters::default().max_ccd_substeps,
            },
            ..IntegrationParameters::default()
        }
    }
}
