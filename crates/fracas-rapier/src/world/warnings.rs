//! What the parameters of a game's engine do to freshly broken pieces.

use std::fmt;

use rapier3d::dynamics::IntegrationParameters;

use super::World;
use crate::pair::ContactMode;

/// A parameter of the engine with which freshly broken pieces behave worse than they could.
/// See [`World::warnings`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Warning {
    /// Name of the field of `physics.integration_parameters`.
    pub parameter: &'static str,
    /// Its value; 1 and 0 for yes and no.
    pub value: f32,
    /// The value that suits pieces better: for limits, the nearest one that does.
    pub better: f32,
    /// What happens otherwise.
    pub reason: &'static str,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            parameter,
            value,
            better,
            reason,
        } = self;
        write!(
            f,
            "integration_parameters.{parameter} is {value}, {better} would be better: {reason}"
        )
    }
}

/// The share of the smallest length that matters by which a pair may drift until its contacts
/// are found anew: the engine's own, for things of a metre.
const RECYCLED_DRIFT: f32 = 0.05;

impl World {
    /// The parameters of the engine as they are now that suit freshly broken pieces badly.
    /// Nothing changes them but the game: [`Self::around`] keeps what it finds.
    ///
    /// ```
    /// use fracas_rapier::{World, WorldSettings};
    /// use rapier3d::prelude::*;
    ///
    /// let mut world = World::around(PhysicsWorld::default(), WorldSettings::default());
    /// for warning in world.warnings() {
    ///     println!("{warning}");
    /// }
    /// // All of them at once:
    /// world.physics.integration_parameters = world.settings().engine_parameters();
    /// assert!(world.warnings().is_empty());
    /// ```
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let parameters = &self.physics.integration_parameters;
        let mut warnings = self.contact_warnings(parameters);
        let fewest = IntegrationParameters::default().num_solver_iterations;
        if parameters.num_solver_iterations < fewest {
            warnings.push(Warning {
                parameter: "num_solver_iterations",
                value: parameters.num_solver_iterations as f32,
                better: fewest as f32,
                reason: "piles of pieces sink into each other and do not come to rest",
            });
        }
        let by_voxels = matches!(self.settings.contacts.mode, ContactMode::VoxelTree(_));
        if by_voxels && parameters.max_ccd_substeps > 0 {
            warnings.push(Warning {
                parameter: "max_ccd_substeps",
                value: parameters.max_ccd_substeps as f32,
                better: 0.0,
                reason: "continuous collision detection costs time outside the contacts' budget",
            });
        }
        warnings
    }

    fn contact_warnings(&self, parameters: &IntegrationParameters) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let drift = RECYCLED_DRIFT * self.smallest_length();
        if self.settings.step_budget.is_some() && parameters.contact_recycling {
            warnings.push(Warning {
                parameter: "contact_recycling",
                value: 1.0,
                better: 0.0,
                reason: "the engine keeps contacts longer than the step's budget knows",
            });
        } else if parameters.contact_recycling
            && parameters.contact_recycle_distance() > drift * 1.001
        {
            warnings.push(Warning {
                parameter: "normalized_contact_recycle_distance",
                value: parameters.normalized_contact_recycle_distance,
                better: drift / parameters.length_unit,
                reason: "pieces slide farther than their own size on contacts that are out of date",
            });
        }
        if parameters.contact_clustering && !self.settings.cluster_contacts {
            warnings.push(Warning {
                parameter: "contact_clustering",
                value: 1.0,
                better: 0.0,
                reason: "pieces that touch on several faces rock, and stacks of them topple",
            });
        }
        warnings
    }
}
