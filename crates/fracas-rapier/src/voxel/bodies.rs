//! Before the pairs: all colliders, where they are and will be, and their voxels.

use std::sync::Arc;

use fracas_core::{FragmentId, SphereTree};
use parry3d::bounding_volume::BoundingVolume as _;
use parry3d::shape::Shape;
use rapier3d::prelude::Collider;

use super::FrameBudget;
use super::pairs::{Body, moved};
use super::stage::{Clock, Scope, Surroundings, VoxelStage};
use super::table::key_of;
use crate::pose::{place, place_after};
use crate::shape::FragmentShape;

/// What fell from higher than its own radius may break where it lands. Of the usual gravity,
/// whatever the world's is: this plans with time, no result depends on it in a budget of work.
const GRAVITY: f32 = 9.81;

/// Pieces that are made ready for the sphere-tree method in a step. Until then they are the
/// voxels', which need nothing of it.
const MADE_READY: usize = 4;

/// How far a shape reaches from the origin of its frame.
fn reach_of(shape: &dyn Shape) -> f32 {
    let ball = shape.compute_local_bounding_sphere();
    ball.center().length() + ball.radius()
}

impl VoxelStage {
    /// All colliders, and the voxels of those that are fragments. Returns how long what broke
    /// took: re-labelling its voxels, and making it ready for the sphere-tree method.
    pub(super) fn gather(&mut self, around: &Surroundings<'_>, clock: &Clock) -> f64 {
        self.bodies.clear();
        let (mut relabel, mut made) = (0.0, 0);
        let timed = matches!(self.settings.budget, FrameBudget::Milliseconds(_));
        let prepares = timed && self.scope == Scope::WhatDoesNotFit;
        for (index, (handle, collider)) in around.colliders.iter().enumerate() {
            if !collider.is_enabled() || collider.is_sensor() {
                continue;
            }
            let fragment = collider.shape().as_shape::<FragmentShape>();
            let placed = fragment.and_then(|f| {
                self.pieces.known(f, self.step).or_else(|| {
                    let start = clock();
                    let all = around.colliders.iter();
                    let all = all.filter_map(|(_, c)| c.shape().as_shape::<FragmentShape>());
                    let tree = self.pieces.make(f, all, &self.settings, self.step);
                    relabel += clock() - start;
                    tree
                })
            });
            let mut is_ready = true;
            if let (true, Some(fragment)) = (prepares, fragment) {
                is_ready = self.pieces.is_ready(fragment, false);
                if !is_ready && made < MADE_READY {
                    let start = clock();
                    is_ready = self.pieces.is_ready(fragment, true);
                    made += usize::from(is_ready);
                    relabel += clock() - start;
                }
            }
            let (at, generation) = handle.into_raw_parts();
            let mut body = self.body(collider, placed, around);
            body.collider = index;
            if !is_ready {
                body.points = u32::MAX;
            }
            body.name = u64::from(at) << 32 | u64::from(generation);
            self.bodies.push(body);
        }
        self.pieces.forget_unseen(self.step);
        relabel
    }

    fn body(
        &self,
        collider: &Collider,
        placed: Option<super::pieces::Placed>,
        around: &Surroundings<'_>,
    ) -> Body {
        let parent = collider.parent();
        let body = parent.and_then(|h| around.bodies.get(h));
        let shape = collider.shape();
        let fragment = shape.as_shape::<FragmentShape>();
        let falls = fragment.zip(body).is_some_and(|(fragment, body)| {
            let speed2 = body.linvel().length_squared();
            fragment.id() == FragmentId(0) && speed2 > 2.0 * GRAVITY * fragment.reach()
        });
        let (tree, radius) = placed.unzip();
        let radius = radius.unwrap_or_else(|| fragment.map_or(0.0, |_| reach_of(shape)));
        let moves = body.is_some_and(|b| b.is_dynamic() && !b.is_sleeping());
        let now = place(collider, around.bodies);
        let next = place_after(collider, around.bodies, around.dt);
        let mut bounds = shape.compute_aabb(&now).loosened(around.reach);
        // What moves by less is within what was just added.
        if moved(&now, &next, radius) > around.reach {
            bounds.merge(&shape.compute_aabb(&next).loosened(around.reach));
        }
        Body {
            key: key_of(shape),
            place: now,
            next,
            bounds,
            parent,
            moves,
            radius,
            tree,
            chosen: fragment.is_some_and(|f| self.chosen.contains(&f.object().address())),
            fragment: fragment.is_some(),
            falls,
            points: fragment.map_or(0, |f| self.points_of(f)),
            inner_radius: fragment.map_or(0.0, FragmentShape::inner_radius),
            collider: 0,
            name: 0,
        }
    }

    /// Sample points of a fragment, where the sphere-tree method is one of two. A tree that was not
    /// made yet (whoever asks for it has to wait) has too many for any budget of time.
    fn points_of(&self, fragment: &FragmentShape) -> u32 {
        let count = |tree: &Arc<SphereTree>| tree.positions().len() as u32;
        match (self.scope, self.settings.budget) {
            (Scope::All | Scope::Chosen, _) => 0,
            (Scope::WhatDoesNotFit, FrameBudget::Milliseconds(_)) => {
                fragment.made_tree().map_or(u32::MAX, count)
            }
            (Scope::WhatDoesNotFit, _) => count(fragment.tree()),
        }
    }
}
