//! What becomes a breakable body: made of what, where, how it breaks.

use std::sync::Arc;

use fracas_fracture::Breaker;
use glam::Vec3;
use parry3d::math::Pose;
use parry3d::shape::SharedShape;
use rapier3d::prelude::{ColliderBuilder, ColliderMassProps, RigidBodyBuilder, RigidBodyType};

use crate::blueprint::{Blueprint, ObjectError};
use crate::shape::FragmentShape;

/// A body builder: [`crate::World::add`] puts the body into a world. Cheap to clone: what was
/// computed ahead is shared by all bodies of one kind.
///
/// ```
/// use fracas_rapier::{Breakable, World, WorldSettings};
/// use rapier3d::prelude::*;
/// # use fracas_core::{FieldOptions, grid::bent_grid, sphere_tree::BuildOptions};
/// # let mesh = bent_grid([3, 2, 2], false, |p| p / glam::Vec3::new(3.0, 2.0, 2.0))?.into();
/// # let brick = fracas_rapier::Blueprint::build(mesh, &FieldOptions::default(), &BuildOptions::default())?;
/// # let brick = Breakable::new(brick.into());
///
/// // A large brick on a lift, which only the player's shots hit.
/// let lift = RigidBodyBuilder::kinematic_velocity_based().linvel(Vector::Y);
/// let shots = InteractionGroups::new(Group::GROUP_2, Group::GROUP_3, InteractionTestMode::And);
/// let brick = brick
///     .scaled(1.5)?
///     .body(lift)
///     .collider(ColliderBuilder::default().collision_groups(shots).friction(0.8).density(1900.0));
///
/// let mut world = World::new(WorldSettings::default());
/// world.add(brick.clone().at(Pose::translation(0.0, 1.0, 0.0)));
/// world.add(brick.at(Pose::translation(3.0, 1.0, 0.0)));
/// # assert!(world.pieces().all(|piece| world.body(piece).unwrap().is_kinematic()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Breakable {
    /// What it is made of.
    pub blueprint: Arc<Blueprint>,
    /// Where it starts.
    pub pose: Pose,
    /// Velocity of its centre of mass, in metres per second.
    pub velocity: Vec3,
    /// In radians per second.
    pub spin: Vec3,
    /// In kilograms per cubic metre.
    pub density: f32,
    /// Coefficient of Coulomb friction.
    pub friction: f32,
    /// Share of the speed that a bounce keeps.
    pub restitution: f32,
    /// How it breaks; `None` never does.
    pub breaker: Option<Breaker>,
    /// Boxes (low, high) in the object's frame: a piece that holds a node in one of
    /// them is fixed to the world, like a wall built into the ground.
    pub anchors: Vec<(Vec3, Vec3)>,
    /// Looks as far ahead as it moves in a step, so that it does not pass through other
    /// bodies that move. (Fixed ones are safe in any case: the engine sweeps fast bodies
    /// against them.)
    pub continuous: bool,
    /// All other parameters of the engine's body, see [`Breakable::body`]. Its position and
    /// velocities are not used: `pose`, `velocity` and `spin` are.
    pub body_template: RigidBodyBuilder,
    /// All other parameters of the engine's collider, see [`Breakable::collider`]. Its shape,
    /// position, mass, friction and restitution are not used.
    pub collider_template: ColliderBuilder,
    /// What [`Breakable::open`] repaired or chose.
    #[cfg(feature = "assets")]
    pub notes: Arc<[OpenNote]>,
}

/// Why there is nothing to break.
#[cfg(feature = "assets")]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// It cannot be read, filled with tetrahedra, or given modes.
    #[error(transparent)]
    Bake(#[from] fracas_bake::bake::BakeError),
    /// It makes no distance field or no sphere tree, or what was baked of it is damaged.
    #[error(transparent)]
    Object(#[from] crate::blueprint::ObjectError),
}

/// Something that [`Breakable::open`] did without being asked. Displays as a sentence.
#[cfg(feature = "assets")]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum OpenNote {
    /// Defects of the file that were repaired.
    Repaired(fracas_bake::Repairs),
    /// A choice that was made when the surface was filled with tetrahedra.
    Filled(fracas_bake::FillNote),
}

#[cfg(feature = "assets")]
impl std::fmt::Display for OpenNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Repaired(repairs) => write!(f, "repaired: {repairs}"),
            Self::Filled(note) => note.fmt(f),
        }
    }
}

/// Options of [`Breakable::open_with`].
#[cfg(feature = "assets")]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenOptions {
    /// Resolution, grading, number of modes. The modes are always those of the material that
    /// is given to [`Breakable::open_with`].
    pub bake: fracas_bake::bake::BakeOptions,
    /// Where results are kept (default: the user's cache folder).
    pub cache: fracas_bake::cache::BakeCache,
}

#[cfg(feature = "assets")]
impl Breakable {
    /// Of a mesh file (OBJ, PLY, STL, glTF, tetrahedra ...), a baked asset, or the name of a
    /// shape of the procedural set. It breaks as a body of this material does, by its
    /// vibration modes.
    ///
    /// Everything that is not in the file is computed: tetrahedra, distances, sphere tree
    /// and modes take seconds, minutes for thin walls. The result is kept in the user's cache
    /// folder ([`BakeCache::user`](fracas_bake::cache::BakeCache::user)), so that the next
    /// time takes milliseconds. `fracas bake` does it ahead of time, for a game that ships.
    ///
    /// [`Breakable::notes`] says what was repaired or chosen on the way.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(
        input: impl AsRef<std::path::Path>,
        material: fracas_fracture::Material,
    ) -> Result<Self, OpenError> {
        let go_on = &mut |_| std::ops::ControlFlow::Continue(());
        Self::open_with(input, material, &OpenOptions::default(), go_on)
    }

    /// As [`Breakable::open`], with options, and with a callback that receives the progress
    /// and may cancel: the work stops within about a second after it returns
    /// [`ControlFlow::Break`](std::ops::ControlFlow::Break).
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use fracas_rapier::{Breakable, OpenOptions};
    /// use fracas_bake::cache::BakeCache;
    /// use fracas_fracture::Material;
    ///
    /// let options = OpenOptions {
    ///     cache: BakeCache::at(std::env::temp_dir().join("my-game")),
    ///     ..OpenOptions::default()
    /// };
    /// let brick = Breakable::open_with("brick", Material::BRICK, &options, &mut |progress| {
    ///     println!("{} {:.0}%", progress.stage.text(), 100.0 * progress.share);
    ///     ControlFlow::Continue(()) // or `Break(())`, when the player leaves
    /// })?;
    /// for note in brick.notes() {
    ///     println!("{note}");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`OpenError`]; [`BakeError::Cancelled`](fracas_bake::bake::BakeError::Cancelled)
    /// when it was cancelled.
    pub fn open_with(
        input: impl AsRef<std::path::Path>,
        material: fracas_fracture::Material,
        options: &OpenOptions,
        progress: &mut fracas_bake::bake::Watch<'_>,
    ) -> Result<Self, OpenError> {
        use fracas_bake::bake::Source;
        use fracas_bake::cache::bake_cached;
        let (source, repairs) = Source::open_with_repairs(input)?;
        if let Source::Asset(asset) = &source
            && has_modes(asset, &material)
        {
            return Self::of_baked(asset, material);
        }
        let bake = with_modes_of(&options.bake, material);
        let baked = bake_cached(source, &bake, &options.cache, progress)?;
        let repaired = (!repairs.to_string().is_empty()).then_some(OpenNote::Repaired(repairs));
        let chosen = baked.notes.iter().copied().map(OpenNote::Filled);
        let notes = repaired.into_iter().chain(chosen).collect();
        let made = Self::of_baked(&baked.asset, material)?;
        Ok(Self { notes, ..made })
    }

    /// What [`Breakable::open`] repaired in the file, and what it chose: more tetrahedra than
    /// usual for thin walls, holes that were filled over. Empty where there is nothing to say.
    #[must_use]
    pub fn notes(&self) -> &[OpenNote] {
        &self.notes
    }

    /// Of an asset. Modes of this material are taken from it; where it has none, or those of
    /// another material, they are computed.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn of_asset(
        asset: &fracas_bake::Asset,
        material: fracas_fracture::Material,
    ) -> Result<Self, OpenError> {
        use fracas_bake::bake::{BakeOptions, Source};
        if has_modes(asset, &material) {
            return Self::of_baked(asset, material);
        }
        let source = Source::Asset(Box::new(asset.clone()));
        Self::bake(source, &BakeOptions::default(), material, &mut |_| ())
    }

    /// What [`Breakable::open`] and [`Breakable::of_asset`] do, of something that is at hand:
    /// with options of one's own, and telling how far it is. The modes are always those of
    /// `material`; of the options' own only their number is used.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn bake(
        source: fracas_bake::bake::Source,
        options: &fracas_bake::bake::BakeOptions,
        material: fracas_fracture::Material,
        progress: &mut dyn FnMut(fracas_bake::bake::Progress),
    ) -> Result<Self, OpenError> {
        use fracas_bake::bake::{Source, bake};
        if let Source::Asset(asset) = &source
            && has_modes(asset, &material)
        {
            return Self::of_baked(asset, material);
        }
        let options = with_modes_of(options, material);
        Self::of_baked(&bake(source, &options, progress)?.asset, material)
    }

    /// Of an asset that has the modes of this material.
    fn of_baked(
        asset: &fracas_bake::Asset,
        material: fracas_fracture::Material,
    ) -> Result<Self, OpenError> {
        let blueprint = Arc::new(Blueprint::of_asset(asset)?);
        let breaker = Breaker::new(material, asset.modes().cloned());
        Ok(Self::new(blueprint).with_breaker(breaker))
    }
}

/// The options with modes of this material.
#[cfg(feature = "assets")]
fn with_modes_of(
    options: &fracas_bake::bake::BakeOptions,
    material: fracas_fracture::Material,
) -> fracas_bake::bake::BakeOptions {
    use fracas_bake::bake::{BakeModes, BakeOptions};
    let wanted = options.modes.unwrap_or_else(|| BakeModes::of(material));
    BakeOptions {
        modes: Some(BakeModes { material, ..wanted }),
        ..*options
    }
}

#[cfg(feature = "assets")]
fn has_modes(asset: &fracas_bake::Asset, material: &fracas_fracture::Material) -> bool {
    asset.modes().is_some_and(|own| own.material() == material)
}

impl Breakable {
    /// A body at rest at the origin, of water's density, that does not break.
    #[must_use]
    pub fn new(blueprint: Arc<Blueprint>) -> Self {
        Self {
            blueprint,
            pose: Pose::identity(),
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            density: 1000.0,
            friction: 0.6,
            restitution: 0.0,
            breaker: None,
            anchors: Vec::new(),
            continuous: true,
            body_template: RigidBodyBuilder::dynamic(),
            collider_template: ColliderBuilder::default(),
            #[cfg(feature = "assets")]
            notes: Arc::new([]),
        }
    }

    /// Takes the parameters of the engine's body from a builder: kind (kinematic, fixed),
    /// pose, velocities, damping, gravity scale, dominance, locked axes, CCD, sleep, extra
    /// mass, user data and all others.
    ///
    /// An anchored body is fixed whatever its builder says.
    #[must_use]
    pub fn body(mut self, template: RigidBodyBuilder) -> Self {
        self.pose = template.position;
        self.velocity = template.linvel;
        self.spin = template.angvel;
        self.body_template = template;
        self
    }

    /// Takes the parameters of the engine's collider from a builder: friction, restitution,
    /// groups, sensor, events, hooks, contact skin, user data and all others; not its shape
    /// and not its position, which are the object's.
    ///
    /// A density that differs from the builder's default of 1 replaces the material's; a mass
    /// is turned into the density that gives the whole object this mass.
    #[must_use]
    pub fn collider(mut self, template: ColliderBuilder) -> Self {
        self.friction = template.friction;
        self.restitution = template.restitution;
        let of_mass = |mass: f32| mass / self.blueprint.volume() as f32;
        match &template.mass_properties {
            ColliderMassProps::Density(1.0) => (),
            ColliderMassProps::Density(density) => self.density = *density,
            ColliderMassProps::Mass(mass) => self.density = of_mass(*mass),
            ColliderMassProps::MassProperties(own) => self.density = of_mass(own.mass()),
        }
        self.collider_template = template;
        self
    }

    /// The same object at `scale` times its size, in all directions: shape, distances, mass,
    /// anchors, vibration modes and visible skin. Texture coordinates stay.
    ///
    /// The first use of a scale computes distances and sphere tree anew, once for all bodies
    /// of that scale. To restore a snapshot, [`World::stock`](crate::World::stock) the scaled
    /// object.
    ///
    /// # Errors
    /// [`ObjectError::Scale`] when `scale` is not a finite number above zero, or lengths
    /// overflow; others as in [`Blueprint::build`].
    pub fn scaled(mut self, scale: f32) -> Result<Self, ObjectError> {
        let blueprint = self.blueprint.scaled(scale)?;
        if scale == 1.0 {
            return Ok(self);
        }
        let modes = |own: &_| blueprint.scaled_modes(own, scale);
        self.breaker = self.breaker.map(|breaker| breaker.scaled(scale, modes));
        for (low, high) in &mut self.anchors {
            (*low, *high) = (*low * scale, *high * scale);
        }
        self.blueprint = blueprint;
        Ok(self)
    }

    /// The same elsewhere.
    #[must_use]
    pub fn at(mut self, pose: Pose) -> Self {
        self.pose = pose;
        self
    }

    /// The same, moving: velocity of the centre of mass in metres per second.
    #[must_use]
    pub fn moving(mut self, velocity: Vec3) -> Self {
        self.velocity = velocity;
        self
    }

    /// The same, fixed to the world wherever a piece of it has a node in this box of the
    /// object's frame.
    #[must_use]
    pub fn anchored(mut self, low: Vec3, high: Vec3) -> Self {
        self.anchors.push((low, high));
        self
    }

    /// The same, but it breaks; its density is that of the breaker's material.
    #[must_use]
    pub fn with_breaker(mut self, breaker: Breaker) -> Self {
        self.density = breaker.material().density as f32;
        self.breaker = Some(breaker);
        self
    }

    /// The first body: by the template. `reach` is how far ahead it looks for contacts.
    pub(crate) fn first_body(
        &self,
        anchored: bool,
        can_sleep: bool,
        reach: f32,
    ) -> RigidBodyBuilder {
        let mut body = self.body_template.clone();
        if anchored {
            body.body_type = RigidBodyType::Fixed;
        }
        body.linvel = self.velocity;
        body.angvel = self.spin;
        body.can_sleep &= can_sleep;
        body.soft_ccd_prediction = body.soft_ccd_prediction.max(reach);
        body.pose(self.pose)
    }

    /// The first collider: by the template. Its mass is the fragment's own, whatever shape
    /// stands for it.
    pub(crate) fn first_collider(
        &self,
        shape: &FragmentShape,
        engine_shape: SharedShape,
    ) -> ColliderBuilder {
        let own = super::collider(shape, engine_shape, self);
        ColliderBuilder {
            shape: own.shape,
            mass_properties: own.mass_properties,
            friction: own.friction,
            restitution: own.restitution,
            position: Pose::identity(),
            ..self.collider_template.clone()
        }
    }
}
