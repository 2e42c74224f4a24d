//! What an app puts on its entities, and what it finds on fragments.

use std::sync::Arc;

use bevy::prelude::*;
use fracas_fracture::{Material, Modes, Strength};
use fracas_rapier::{Blueprint, PieceId};

use crate::asset::FracasAsset;

/// How a thing decides whether and where it breaks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Breaks {
    /// By the stress in its vibration modes: those of its asset, where they are of its
    /// material; else they are computed off the main thread, in tenths of a second to
    /// seconds. This is what the library's `Breakable::open` and `Breakable::of_asset` do.
    #[default]
    ByModes,
    /// By a pattern, where an impact changes its speed by more than the material stands
    /// (`fracas_fracture::Strength::of`). Nothing needs to be computed for it.
    ByThreshold,
    /// By a pattern, at a threshold of its own.
    ByStrength(Strength),
}

/// A thing that breaks. Beside it stands what it is made of: [`Mesh3d`] (filled with
/// tetrahedra off the main thread), [`BreakableAsset`] (baked ahead) or
/// [`BreakableBlueprint`] (made in code).
///
/// It needs no `Collider`. bevy_rapier3d's `RigidBody` says what kind of body it is: dynamic by
/// default, fixed, or kinematic; its fragments are dynamic. `Friction`, `Restitution`,
/// `CollisionGroups`, `SolverGroups`, `ActiveEvents`, `Sensor`, `GravityScale`, `Damping`,
/// `LockedAxes`, `Dominance` and `Ccd` are read when its body is made; its fragments have the
/// same. `Transform`, `Velocity` and `RigidBody` are followed from then on, too.
///
/// A uniform scale of its transform, when its body is made, is the object's.
#[derive(Component, Clone, Debug, PartialEq)]
#[require(Transform)]
pub struct Breakable {
    /// What it is made of. Default: glass.
    pub material: Material,
    /// By its vibration modes, as the library's `Breakable::open`; or by a threshold.
    pub breaks: Breaks,
    /// About how many tetrahedra a mesh is filled with; by default as many as its shape needs.
    pub tets: Option<usize>,
    /// How thick a mesh without an inside becomes, in metres: a pane of two triangles, say.
    /// By default such a mesh is refused.
    pub thickness: Option<f32>,
    /// Boxes (low, high) in its own frame: what lies in them is built into the world.
    pub anchors: Vec<(Vec3, Vec3)>,
}

impl Default for Breakable {
    /// Of glass.
    fn default() -> Self {
        Self::of(Material::GLASS)
    }
}

impl Breakable {
    /// Of a material: a preset, or one with numbers of your own. A name from a file becomes a
    /// material by `BreakMaterial::by_name`.
    ///
    /// ```
    /// use bevy_fracas::prelude::*;
    ///
    /// let vase = Breakable::of(BreakMaterial::PORCELAIN);
    /// let safety_glass = BreakMaterial { strength: 120e6, ..BreakMaterial::GLASS };
    /// let pane = Breakable::of(safety_glass).with_thickness(0.006);
    /// let named = Breakable::of(BreakMaterial::by_name("brick")?);
    /// # assert_eq!(named, Breakable::of(BreakMaterial::BRICK));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of(material: Material) -> Self {
        Self {
            material,
            breaks: Breaks::default(),
            tets: None,
            thickness: None,
            anchors: Vec::new(),
        }
    }

    /// The same, breaking by a pattern at a change of speed (m/s), into so many pieces at
    /// most. Modes are neither computed nor used.
    #[must_use]
    pub fn with_strength(mut self, speed: f32, most_pieces: u32) -> Self {
        self.breaks = Breaks::ByStrength(Strength { speed, most_pieces });
        self
    }

    /// The same, breaking by a pattern at the change of speed that its material stands.
    /// Modes are neither computed nor used.
    #[must_use]
    pub fn by_threshold(mut self) -> Self {
        self.breaks = Breaks::ByThreshold;
        self
    }

    /// The same, with about so many tetrahedra.
    #[must_use]
    pub fn with_tets(mut self, tets: usize) -> Self {
        self.tets = Some(tets);
        self
    }

    /// The same, so thick (m) where its mesh has no inside.
    #[must_use]
    pub fn with_thickness(mut self, thickness: f32) -> Self {
        self.thickness = Some(thickness);
        self
    }

    /// The same, built into the world where it lies in this box of its own frame.
    #[must_use]
    pub fn anchored(mut self, low: Vec3, high: Vec3) -> Self {
        self.anchors.push((low, high));
        self
    }
}

/// What it is made of, baked ahead by `fracas bake`.
#[derive(Component, Clone, Debug)]
pub struct BreakableAsset(pub Handle<FracasAsset>);

/// What it is made of, ready to use. The plugin adds it where it has baked a mesh or loaded
/// an asset.
#[derive(Component, Clone, Debug)]
pub struct BreakableBlueprint {
    /// Tetrahedra, field and tree.
    pub blueprint: Arc<Blueprint>,
    /// The modes by which it breaks; without them it breaks by a pattern. They are used as
    /// they are, except by what is to break otherwise ([`Breakable::breaks`]).
    pub modes: Option<Arc<Modes>>,
}

impl BreakableBlueprint {
    /// Without modes: it breaks by a pattern.
    #[must_use]
    pub fn new(blueprint: Arc<Blueprint>) -> Self {
        let modes = None;
        Self { blueprint, modes }
    }
}

/// What a collider of the app is made of, on an entity with bevy_rapier3d's `Collider`: how hard
/// it is decides whether what falls on it breaks. Colliders without it count as stone. Insert it
/// again to change it; the collider keeps its material when the component is removed.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_fracas::prelude::*;
/// use bevy_rapier3d::prelude::*;
///
/// fn spawn_carpet(mut commands: Commands) {
///     let carpet = ColliderMaterial(BreakMaterial::CARPET);
///     commands.spawn((Collider::cuboid(2.0, 0.01, 1.0), carpet, Transform::default()));
/// }
/// # bevy::ecs::system::assert_is_system(spawn_carpet);
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct ColliderMaterial(pub Material);

/// A body: the object while it is whole, or one of its fragments. Despawning the entity
/// takes the body away.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece(pub PieceId);

/// On a fragment's entity, which is a child of the object's.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The entity with [`Breakable`].
    pub object: Entity,
}

/// On a child of a fragment's entity: its crack faces, which have a mesh and a material of
/// their own. The fragment's own `Mesh3d` is what was outside before anything broke; a
/// fragment from the inside has none.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrackFaces;

/// It broke, and is still seen while the meshes of what it broke into are made: the object's
/// entity, or that of a fragment, which is despawned then.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandIn {
    /// The fragment that it moves with.
    pub carrier: Entity,
}

/// It cannot break, and the error was told. Remove it to try again.
#[derive(Component, Clone, Copy, Debug)]
pub struct Unbreakable;

/// How it moved before it was made anew.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct Motion {
    pub(crate) velocity: Vec3,
    pub(crate) spin: Vec3,
}
