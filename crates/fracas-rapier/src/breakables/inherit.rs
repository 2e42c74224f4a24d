//! What a fragment has from the body that broke: everything that the caller set on it.
//!
//! [`Heritage`] is read from the parent before it goes; it makes the fragments' bodies and
//! colliders. Shared by volume: additional mass, user forces and torques. Computed anew for
//! each fragment: pose and velocities (see [`super::split`]), body type, shape, mass, how far it
//! looks ahead. Everything else is copied. [`super::attached`] hands over what is attached.

use glam::Vec3;
use parry3d::mass_properties::MassProperties;
use parry3d::shape::{Shape as _, SharedShape};
use rapier3d::dynamics::RigidBodyAdditionalMassProps;
use rapier3d::prelude::{Collider, ColliderBuilder, RigidBody, RigidBodyBuilder};

use super::{BreakSettings, Breakable, PieceId};
use crate::shape::FragmentShape;

/// A fragment that is about to enter the world: see [`crate::World::on_fragment`].
#[non_exhaustive]
pub struct NewFragment<'a> {
    /// The fragment.
    pub piece: PieceId,
    /// What it broke off from.
    pub parent: PieceId,
    /// Its share of the parent's volume, from 0 to 1.
    pub volume_share: f32,
    /// Whether it is fixed to the world by an anchor.
    pub anchored: bool,
    /// Its body, with everything inherited. Its velocities are set. Its mass is not known yet.
    pub body: &'a mut RigidBody,
    /// Its collider. The shape belongs to the fragment: do not replace it.
    pub collider: &'a mut Collider,
}

/// Called for each fragment before it enters the world.
pub(crate) type FragmentHook = Box<dyn FnMut(&mut NewFragment<'_>) + Send + Sync>;

/// What fragments have from the body that broke.
pub(super) struct Heritage {
    pub(super) body: RigidBody,
    collider: Option<Collider>,
    volume: f64,
    density: f32,
}

impl Heritage {
    pub(super) fn of(
        body: RigidBody,
        collider: Option<Collider>,
        shape: &FragmentShape,
        options: &Breakable,
    ) -> Self {
        // Where the caller changed the collider's mass or density, fragments are as dense as
        // what broke.
        let usual = shape.mass_properties(options.density).mass();
        let mass = collider.as_ref().map_or(usual, Collider::mass);
        let density = if mass == usual || shape.volume() <= 0.0 {
            options.density
        } else {
            mass / shape.volume() as f32
        };
        Self {
            body,
            collider,
            volume: shape.volume(),
            density,
        }
    }

    /// A fragment's share of the volume.
    pub(super) fn share(&self, shape: &FragmentShape) -> f32 {
        if self.volume > 0.0 {
            (shape.volume() / self.volume).min(1.0) as f32
        } else {
            0.0
        }
    }

    /// The body of a fragment.
    pub(super) fn fragment_body(
        &self,
        shape: &FragmentShape,
        anchored: bool,
        settings: &BreakSettings,
    ) -> RigidBody {
        let parent = &self.body;
        let builder = if anchored {
            RigidBodyBuilder::fixed()
        } else {
            RigidBodyBuilder::dynamic()
        };
        let own_center = *parent.position() * shape.unit_mass().centre.as_vec3();
        let spin = parent.angvel();
        let mut body = builder
            .pose(*parent.position())
            .linvel(parent.linvel() + spin.cross(own_center - parent.center_of_mass()))
            .angvel(spin)
            .gravity_scale(parent.gravity_scale())
            .linear_damping(parent.linear_damping())
            .angular_damping(parent.angular_damping())
            .locked_axes(parent.locked_axes())
            .can_sleep(settings.fragments_sleep)
            .ccd_enabled(parent.is_ccd_enabled())
            .soft_ccd_prediction(settings.look_ahead * shape.reach())
            .allow_fast_rotation(parent.is_fast_rotation_allowed())
            .dominance_group(parent.dominance_group())
            .enabled(parent.is_enabled())
            .user_data(parent.user_data)
            .additional_solver_iterations(parent.additional_solver_iterations())
            .additional_pgs_iterations(parent.additional_pgs_iterations())
            .gyroscopic_forces_enabled(parent.gyroscopic_forces_enabled())
            .build();
        if settings.fragments_sleep {
            let (from, to) = (parent.activation(), body.activation_mut());
            to.normalized_linear_threshold = from.normalized_linear_threshold;
            to.angular_threshold = from.angular_threshold;
            to.time_until_sleep = from.time_until_sleep;
        }
        let share = self.share(shape);
        match parent.mass_properties().additional_local_mprops.as_deref() {
            Some(RigidBodyAdditionalMassProps::Mass(mass)) => {
                body.set_additional_mass(mass * share, false);
            }
            Some(RigidBodyAdditionalMassProps::MassProps(props)) => {
                let at = shape.unit_mass().centre.as_vec3();
                body.set_additional_mass_properties(part_of(props, share, at), false);
            }
            None => {}
        }
        let (force, torque) = (parent.user_force(), parent.user_torque());
        if force != Vec3::ZERO {
            body.add_force(force * share, false);
        }
        if torque != Vec3::ZERO {
            body.add_torque(torque * share, false);
        }
        body
    }

    /// The collider of a fragment.
    pub(super) fn fragment_collider(
        &self,
        shape: &FragmentShape,
        engine_shape: SharedShape,
        options: &Breakable,
    ) -> Collider {
        let collider = ColliderBuilder::new(engine_shape)
            .mass_properties(shape.mass_properties(self.density))
            .friction(options.friction)
            .restitution(options.restitution);
        let Some(whole) = &self.collider else {
            return collider.build();
        };
        collider
            .friction(whole.friction())
            .friction_combine_rule(whole.friction_combine_rule())
            .restitution(whole.restitution())
            .restitution_combine_rule(whole.restitution_combine_rule())
            .sensor(whole.is_sensor())
            .active_collision_types(whole.active_collision_types())
            .active_hooks(whole.active_hooks())
            .active_events(whole.active_events())
            .user_data(whole.user_data)
            .collision_groups(whole.collision_groups())
            .solver_groups(whole.solver_groups())
            .enabled(whole.is_enabled())
            .contact_force_event_threshold(whole.contact_force_event_threshold())
            .contact_skin(whole.contact_skin())
            .build()
    }
}

/// A share of mass and inertia, around a center of its own.
fn part_of(props: &MassProperties, share: f32, center: Vec3) -> MassProperties {
    MassProperties::with_principal_inertia_frame(
        center,
        props.mass() * share,
        props.principal_inertia() * share,
        props.principal_inertia_local_frame,
    )
}
