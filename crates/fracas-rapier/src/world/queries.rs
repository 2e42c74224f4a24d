//! Where things are: by ray, by point, by name.
//!
//! The engine finds colliders through the tree of its broad phase, which knows what is new only
//! after the next step. So pieces that were born since the last step are looked at besides.

use fracas_core::FragmentId;
use glam::Vec3;
use parry3d::query::RayCast as _;
use rapier3d::prelude::{ColliderHandle, QueryFilter, Ray, RigidBodyHandle};

use super::World;
use crate::breakables::{ObjectId, PieceId};

/// What a ray hits first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// The collider.
    pub collider: ColliderHandle,
    /// The piece that it belongs to; `None` for the game's own colliders.
    pub piece: Option<PieceId>,
    /// Where, in the world.
    pub point: Vec3,
    /// Unit normal of the surface there, in the world; zero where the ray starts inside.
    pub normal: Vec3,
    /// Distance from the ray's origin, in metres.
    pub distance: f32,
}

impl World {
    /// Returns what a ray hits first, within `max_distance` metres; `None` if it hits nothing or
    /// the direction is zero. `direction` need not be a unit vector. Sensors are not hit.
    ///
    /// Pieces are found at once, also right after [`World::add`] and right after a break. The
    /// game's own colliders are found from the step after their insertion on, as by the
    /// engine's own queries.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use fracas_core::{FieldOptions, grid::bent_grid, sphere_tree::BuildOptions};
    /// # use fracas_rapier::{Blueprint, Breakable, World, WorldSettings};
    /// # use glam::Vec3;
    /// # let mesh = bent_grid([6, 4, 3], false, |p| p * 0.05)?.into();
    /// # let brick = Arc::new(Blueprint::build(mesh, &FieldOptions::default(), &BuildOptions::default())?);
    /// let mut world = World::new(WorldSettings::default());
    /// let object = world.add(Breakable::new(brick));
    /// let hit = world.cast_ray(Vec3::new(-1.0, 0.1, 0.1), Vec3::X, 5.0).unwrap();
    /// assert_eq!(hit.piece, world.first_piece(object));
    /// assert!((hit.distance - 1.0).abs() < 1e-3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn cast_ray(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Option<RayHit> {
        let ray = Ray::new(origin, direction.try_normalize()?);
        let filter = QueryFilter::default().exclude_sensors();
        let known = self.physics.query_pipeline_with_filter(filter);
        let known = known.cast_ray_and_get_normal(&ray, max_distance, true);
        let newborn = self.newborn().filter_map(|collider| {
            let found = self.physics.colliders.get(collider)?;
            if found.is_sensor() || !found.is_enabled() {
                return None;
            }
            let (shape, pose) = (found.shape(), found.position());
            found
                .compute_aabb()
                .cast_local_ray(&ray, max_distance, true)?;
            let hit = shape.cast_ray_and_get_normal(pose, &ray, max_distance, true)?;
            Some((collider, hit))
        });
        let mut first = known;
        for (collider, hit) in newborn {
            if first.is_none_or(|(_, best)| hit.time_of_impact < best.time_of_impact) {
                first = Some((collider, hit));
            }
        }
        let (collider, hit) = first?;
        Some(RayHit {
            collider,
            piece: self.piece_of(collider),
            point: ray.point_at(hit.time_of_impact),
            normal: hit.normal,
            distance: hit.time_of_impact,
        })
    }

    /// Returns the piece that holds a point of the world: the first by object and fragment,
    /// where several overlap. As [`World::cast_ray`] it finds pieces at once.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use fracas_core::{FieldOptions, grid::bent_grid, sphere_tree::BuildOptions};
    /// # use fracas_rapier::{Blueprint, Breakable, World, WorldSettings};
    /// # use glam::Vec3;
    /// # let mesh = bent_grid([6, 4, 3], false, |p| p * 0.05)?.into();
    /// # let brick = Arc::new(Blueprint::build(mesh, &FieldOptions::default(), &BuildOptions::default())?);
    /// let mut world = World::new(WorldSettings::default());
    /// let object = world.add(Breakable::new(brick));
    /// assert_eq!(world.piece_at(Vec3::splat(0.05)), world.first_piece(object));
    /// assert_eq!(world.piece_at(Vec3::splat(-0.05)), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn piece_at(&self, point: Vec3) -> Option<PieceId> {
        let known = self.physics.intersect_point(point, QueryFilter::default());
        let known = known.filter_map(|(collider, _)| self.piece_of(collider));
        let newborn = self.newborn().filter(|&collider| {
            let found = self.physics.colliders.get(collider);
            found.is_some_and(|c| c.is_enabled() && c.shape().contains_point(c.position(), point))
        });
        let newborn = newborn.filter_map(|collider| self.piece_of(collider));
        known.chain(newborn).min()
    }

    /// Returns the handle of the engine's body of a piece, for joints, forces and queries;
    /// `None` if there is no such piece.
    #[must_use]
    pub fn body_handle(&self, piece: PieceId) -> Option<RigidBodyHandle> {
        self.breakables.body(piece)
    }

    /// Returns the first piece of an object, by the fragment's number: the object itself while
    /// it is whole. `None` if nothing is left of it.
    #[must_use]
    pub fn first_piece(&self, object: ObjectId) -> Option<PieceId> {
        let found = self.breakables.objects.get(object.0 as usize)?;
        let fragment: FragmentId = *found.pieces.keys().next()?;
        Some(PieceId { object, fragment })
    }

    /// Colliders of pieces that the broad phase does not know yet.
    fn newborn(&self) -> impl Iterator<Item = ColliderHandle> + '_ {
        let newborn = self.breakables.newborn.iter();
        newborn.filter_map(|&piece| self.collider(piece))
    }
}
