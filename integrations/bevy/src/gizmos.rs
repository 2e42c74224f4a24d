//! Lines that show what collides: contacts, crack sheets, boxes of pieces, spheres of their
//! trees.

use std::collections::BTreeMap;

use bevy::camera::primitives::Aabb;
use bevy::prelude::*;
use bevy_rapier3d::plugin::context::{
    DefaultRapierContext, RapierContextColliders, RapierContextSimulation,
};

use bevy_rapier3d::rapier::geometry::NEW_CONTACT_BIT;
use bevy_rapier3d::rapier::prelude::{Collider, Pose};
use fracas_rapier::{ContactMode, FragmentShape, PieceId};

use crate::components::Piece;
use crate::engine::Fracas;
use crate::sheets::{CrackPlanes, crack_planes, sheet_between};

/// Draws what collides, as [`FracasGizmos`] says.
#[derive(Default)]
pub struct FracasGizmosPlugin;

/// What is drawn. Change it in the app's `GizmoConfigStore`, or with
/// [`AppGizmoBuilder::insert_gizmo_config`].
#[derive(Reflect, GizmoConfigGroup, Clone, Copy, Debug, PartialEq)]
pub struct FracasGizmos {
    /// A dot for each point that the engine solves, and its normal.
    pub contacts: bool,
    /// How long a normal is drawn, in metres.
    pub normal_length: f32,
    /// The crack between each two pieces of one object that still lie where it opened: their
    /// contacts are not searched for but known from it.
    pub sheets: bool,
    /// A box round each piece.
    pub boxes: bool,
    /// The spheres of this level of each piece's tree; 0 is the one round a whole object. Pieces
    /// keep the levels of the tree that they are split from, and may begin further down.
    pub spheres: Option<u8>,
}

impl Default for FracasGizmos {
    /// Contacts only.
    fn default() -> Self {
        Self {
            contacts: true,
            normal_length: 0.05,
            sheets: false,
            boxes: false,
            spheres: None,
        }
    }
}

impl Plugin for FracasGizmosPlugin {
    fn build(&self, app: &mut App) {
        app.init_gizmo_group::<FracasGizmos>()
            .add_systems(PostUpdate, (draw_contacts, draw_sheets, draw_pieces));
    }
}

/// What bevy_rapier3d's engine knows of contacts.
type Engine<'w, 's> = Query<
    'w,
    's,
    (
        &'static RapierContextSimulation,
        &'static RapierContextColliders,
    ),
    With<DefaultRapierContext>,
>;

fn draw_contacts(engine: Engine, fracas: Res<Fracas>, mut gizmos: Gizmos<FracasGizmos>) {
    let length = gizmos.config_ext.normal_length;
    let (true, Ok((simulation, colliders))) = (gizmos.config_ext.contacts, engine.single()) else {
        return;
    };
    for pair in simulation.narrow_phase.contact_pairs() {
        let ours = [pair.collider1, pair.collider2];
        if ours.iter().all(|&c| fracas.world.piece_of(c).is_none()) {
            continue;
        }
        let Some(first) = colliders.colliders.get(pair.collider1) else {
            continue;
        };
        for manifold in pair.manifolds() {
            let normal = manifold.data.normal;
            for solved in &manifold.data.solver_contacts {
                let number = solved.contact_id[0] & !NEW_CONTACT_BIT;
                let Some(contact) = manifold.points.get(number as usize) else {
                    continue;
                };
                let local = manifold.subshape_pos1().unwrap_or(&Pose::IDENTITY);
                let point = *first.position() * (*local * contact.local_p1);
                gizmos.sphere(point, 0.1 * length, Color::srgb(1.0, 0.3, 0.2));
                gizmos.line(point, point + length * normal, Color::srgb(1.0, 0.8, 0.2));
            }
        }
    }
}

fn draw_sheets(engine: Engine, fracas: Res<Fracas>, mut gizmos: Gizmos<FracasGizmos>) {
    let (true, Ok((simulation, colliders))) = (gizmos.config_ext.sheets, engine.single()) else {
        return;
    };
    let mut planes: BTreeMap<PieceId, CrackPlanes> = BTreeMap::new();
    for pair in simulation.narrow_phase.contact_pairs() {
        let pieces = [pair.collider1, pair.collider2].map(|c| fracas.world.piece_of(c));
        let [Some(one), Some(other)] = pieces else {
            continue;
        };
        let places = [pair.collider1, pair.collider2].map(|c| colliders.colliders.get(c));
        let [Some(here), Some(there)] = places.map(|c| c.map(Collider::position)) else {
            continue;
        };
        if one.object != other.object || !lie_where_born(&fracas, [one, other], [here, there]) {
            continue;
        }
        for piece in [one, other] {
            if let Some(shape) = fracas.world.shape(piece) {
                let known = planes.entry(piece);
                known.or_insert_with(|| crack_planes(shape.surface()));
            }
        }
        let (Some(first), Some(second)) = (planes.get(&one), planes.get(&other)) else {
            continue;
        };
        for polygon in sheet_between(first, second) {
            let corners = polygon.into_iter().map(|corner| *here * corner);
            gizmos.lineloop(corners, Color::srgb(1.0, 0.4, 0.9));
        }
    }
}

/// Whether the contacts of two pieces of one object are still those of the crack between them:
/// of the points of either.
fn lie_where_born(fracas: &Fracas, pieces: [PieceId; 2], places: [&Pose; 2]) -> bool {
    let ContactMode::Adaptive(settings) = fracas.world.settings().contacts.mode else {
        return false;
    };
    let from_other = places[1].inverse() * *places[0];
    let ways = [from_other, from_other.inverse()];
    let shapes = pieces.map(|piece| fracas.world.shape(piece));
    let mut each = shapes.into_iter().zip(ways);
    each.any(|(shape, way)| {
        let pose = fracas_core::Pose {
            rotation: Mat3::from_quat(way.rotation),
            translation: way.translation,
        };
        shape.is_some_and(|shape: &FragmentShape| shape.tree().is_where_born(&pose, &settings))
    })
}

fn draw_pieces(
    pieces: Query<(&Piece, &GlobalTransform)>,
    fracas: Res<Fracas>,
    mut gizmos: Gizmos<FracasGizmos>,
) {
    let FracasGizmos { boxes, spheres, .. } = *gizmos.config_ext;
    if !boxes && spheres.is_none() {
        return;
    }
    for (&Piece(piece), place) in &pieces {
        let Some(shape) = fracas.world.shape(piece) else {
            continue;
        };
        if boxes {
            let (low, high) = shape.surface().bounds();
            let bounds = Aabb::from_min_max(low, high);
            gizmos.aabb_3d(bounds, *place, Color::srgb(0.3, 0.8, 1.0));
        }
        if let Some(wanted) = spheres {
            let tree = shape.tree().spheres();
            for (centre, radius, _) in tree.filter(|(.., level)| *level == wanted) {
                let centre = place.transform_point(centre);
                gizmos.sphere(centre, radius, Color::srgb(0.4, 1.0, 0.5));
            }
        }
    }
}
