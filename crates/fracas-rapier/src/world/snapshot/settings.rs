//! The settings that a saved world and the world it is restored into must share.
//!
//! A setting is compared if a run depends on it. [`compared`] takes the settings apart field
//! by field, so that a new field does not compile until someone has decided about it.

use fracas_core::sphere_tree::{AdaptiveSettings, SplitMethod};
use serde::{Deserialize, Serialize};

use super::RestoreError;
use crate::breakables::FragmentModesPolicy;
use crate::manifold::SolverPoints;
use crate::pair::{ContactMode, ContactSettings, Normals};
use crate::voxel::{FrameBudget, VoxelSettings};
use crate::world::WorldSettings;

/// Value of one setting.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Value {
    Number(f64),
    Name(String),
}

impl Value {
    /// Whether two values mean the same: zero has no sign here.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Self::Name(a), Self::Name(b)) => a == b,
            _ => false,
        }
    }

    fn text(value: Option<&Self>) -> String {
        match value {
            Some(Self::Number(number)) => number.to_string(),
            Some(Self::Name(name)) => name.clone(),
            None => "not set".into(),
        }
    }
}

/// The compared settings of a saved world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SavedSettings(Vec<(String, Value)>);

impl SavedSettings {
    pub(super) fn of(settings: &WorldSettings) -> Self {
        Self(compared(settings))
    }

    /// Compares the saved settings with those of the world that is to be restored.
    pub(super) fn check(&self, present: &WorldSettings) -> Result<(), RestoreError> {
        let present = compared(present);
        let find = |all: &[(String, Value)], name: &str| {
            let found = all.iter().find(|(n, _)| n == name);
            found.map(|(_, value)| value.clone())
        };
        for (name, _) in self.0.iter().chain(&present) {
            let (then, now) = (find(&self.0, name), find(&present, name));
            let same = match (&then, &now) {
                (Some(then), Some(now)) => then.is_same(now),
                _ => false,
            };
            if !same {
                return Err(RestoreError::OtherSettings {
                    setting: name.clone(),
                    saved: Value::text(then.as_ref()),
                    present: Value::text(now.as_ref()),
                });
            }
        }
        Ok(())
    }
}

/// Collects settings by their names.
struct List(Vec<(String, Value)>);

impl List {
    fn number(&mut self, name: &str, value: impl Into<f64>) {
        self.0.push((name.into(), Value::Number(value.into())));
    }

    fn name(&mut self, name: &str, value: &str) {
        self.0.push((name.into(), Value::Name(value.into())));
    }

    fn flag(&mut self, name: &str, value: bool) {
        self.name(name, if value { "true" } else { "false" });
    }

    fn optional(&mut self, name: &str, value: Option<f32>) {
        if let Some(value) = value {
            self.number(name, value);
        }
    }
}

/// The settings that a run depends on.
fn compared(settings: &WorldSettings) -> Vec<(String, Value)> {
    let WorldSettings {
        // State of the engine, or of a new one; saved with it and taken over.
        gravity: _,
        recycle_contacts: _,
        cluster_contacts: _,
        friction_in_bias: _,
        contact_frequency: _,
        // State of the world, saved and taken over.
        debris: _,
        // What is reported, not what happens.
        event_impulse: _,
        count_colliding: _,
        length_unit,
        units_per_meter,
        contacts,
        restructuring,
        sleep,
        most_breaks_per_step,
        step_budget,
        fragment_modes,
        look_ahead,
        gives_way,
        lost_below,
    } = settings;
    let mut list = List(Vec::new());
    list.number("length_unit", *length_unit);
    list.number("units_per_meter", units_per_meter.unwrap_or(1.0));
    add_contacts(&mut list, contacts);
    let restructuring = match restructuring {
        SplitMethod::MaximumDistance => "MaximumDistance",
        SplitMethod::Naive => "Naive",
    };
    list.name("restructuring", restructuring);
    list.flag("sleep", *sleep);
    list.number("most_breaks_per_step", *most_breaks_per_step as f64);
    list.optional("step_budget", *step_budget);
    match fragment_modes {
        FragmentModesPolicy::Off => list.name("fragment_modes", "Off"),
        FragmentModesPolicy::AfterSteps(steps) => list.number("fragment_modes.steps", *steps),
    }
    list.number("look_ahead", *look_ahead);
    list.flag("gives_way", *gives_way);
    list.optional("lost_below", *lost_below);
    list.0
}

fn add_contacts(list: &mut List, contacts: &ContactSettings) {
    let ContactSettings {
        mode,
        #[cfg(feature = "research")]
        traversal,
        solver_points,
        normals,
    } = contacts;
    match mode {
        ContactMode::Adaptive(AdaptiveSettings {
            first,
            depth_share,
            deep_work,
        }) => {
            list.name("contacts.mode", "Adaptive");
            list.number("contacts.mode.first", *first);
            list.number("contacts.mode.depth_share", *depth_share);
            list.number("contacts.mode.deep_work", *deep_work);
        }
        ContactMode::Fixed(count) => {
            list.name("contacts.mode", "Fixed");
            list.number("contacts.mode.count", *count);
        }
        ContactMode::Full => list.name("contacts.mode", "Full"),
        #[cfg(feature = "research")]
        ContactMode::Parry(shape) => {
            use crate::parry_shape::ParryShape;
            let name = match shape {
                ParryShape::TriMesh => "Parry(TriMesh)",
                ParryShape::Hull => "Parry(Hull)",
                ParryShape::Decomposed => "Parry(Decomposed)",
            };
            list.name("contacts.mode", name);
        }
        ContactMode::VoxelTree(voxels) => add_voxels(list, "VoxelTree", voxels),
        ContactMode::Budgeted(voxels) => add_voxels(list, "Budgeted", voxels),
    }
    // The order that a build without `research` has is left out: such a build can read what
    // one with it has saved, and the other way round.
    #[cfg(feature = "research")]
    {
        use fracas_core::sphere_tree::Traversal;
        match traversal {
            Traversal::WidestFirst => {}
            Traversal::Alternating => list.name("contacts.traversal", "Alternating"),
            Traversal::Naive => list.name("contacts.traversal", "Naive"),
        }
    }
    let solver_points = match solver_points {
        SolverPoints::FourPerNormal => "FourPerNormal",
        SolverPoints::All => "All",
    };
    list.name("contacts.solver_points", solver_points);
    let normals = match normals {
        Normals::Chosen => "Chosen",
        Normals::Gradient => "Gradient",
    };
    list.name("contacts.normals", normals);
}

fn add_voxels(list: &mut List, mode: &str, voxels: &VoxelSettings) {
    let VoxelSettings {
        budget,
        resolution,
        branching,
        most_groups,
    } = voxels;
    list.name("contacts.mode", mode);
    match budget {
        FrameBudget::Unlimited => list.name("contacts.mode.budget", "Unlimited"),
        FrameBudget::Work(units) => list.number("contacts.mode.budget.work", *units as f64),
        FrameBudget::Milliseconds(ms) => list.number("contacts.mode.budget.milliseconds", *ms),
    }
    list.number("contacts.mode.resolution", *resolution);
    list.number("contacts.mode.branching", *branching);
    list.number("contacts.mode.most_groups", *most_groups);
}
