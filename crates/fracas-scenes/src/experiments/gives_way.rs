//! A ball through panes of glass: does what breaks give way?
//!
//! A free pane (no gravity, no floor) is hit by a steel ball. What conservation says: a
//! ball of mass M and speed v that drags along the mass m of all pieces it can touch, and
//! pays the cracks' energy G, keeps at least `(M v' ) / (M + m)` with `v'² = v² - 2 G / M`.
//! Pieces that it does not touch are moved by their neighbours alone.
//!
//! The same is asked with breaks as they were before ([`Shot::gives_way`] off): there the whole pane
//! is thrown first and falls apart afterwards.

use fracas_core::TetMesh;
use fracas_core::testing::box_grid;
use fracas_fracture::{FractureSettings, Material};
use fracas_rapier::{Event, PieceId, World, WorldSettings};
use glam::{DVec3, Mat3, Vec3};
use parry3d::math::Pose;
use rapier3d::prelude::{
    ColliderBuilder, RigidBody, RigidBodyBuilder, RigidBodyHandle, RigidBodySet,
};

use crate::recording::Summary;
use crate::rigid::{SceneError, Template, TemplateOptions};

/// Sides of a pane (m).
pub const PANE: Vec3 = Vec3::new(0.3, 0.3, 0.006);

/// Where the ball hits, from the middle of the pane (m).
const HIT: Vec3 = Vec3::new(0.012, 0.007, 0.0);

/// Panes of one kind, computed once for many shots.
#[derive(Clone, Debug)]
pub struct Panes {
    template: Template,
}

/// A ball and what it is shot at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shot {
    /// Radius of the ball (m), of steel.
    pub radius: f32,
    /// Its speed (m/s).
    pub speed: f32,
    /// Panes, one behind the other.
    pub panes: usize,
    /// Metres from one pane to the next.
    pub apart: f32,
    /// Seconds per step.
    pub step: f32,
    /// Whether what breaks gives way, or the whole pane is thrown as it was before.
    pub gives_way: bool,
}

impl Default for Shot {
    /// 8 cm across, 15 m/s, one pane.
    fn default() -> Self {
        Self {
            radius: 0.04,
            speed: 15.0,
            panes: 1,
            apart: 0.5,
            step: 1.0 / 60.0,
            gives_way: true,
        }
    }
}

/// A piece after the shot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thrown {
    /// Distance of its nearest point from the ball's line (m).
    pub nearest: f32,
    /// Distance of its centre of mass from the ball's line (m).
    pub centre: f32,
    /// Largest speed of its centre of mass in the two steps after the break (m/s).
    pub speed: f32,
    /// In kilograms.
    pub mass: f32,
}

/// What a shot did.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Mass of the ball (kg).
    pub ball: f32,
    /// Speed of the ball along its line, at the end (m/s).
    pub ball_speed: f32,
    /// What conservation leaves it at least (m/s), see the module.
    pub bound: f32,
    /// Panes that broke.
    pub broken: usize,
    /// Pieces of the first pane.
    pub pieces: Vec<Thrown>,
    /// Energy of the cracks (J).
    pub cracks: f64,
    /// Largest change of momentum, over the ball's at the start.
    pub momentum_error: f64,
    /// Largest change of angular momentum about the origin, over the ball's momentum times
    /// the pane's width.
    pub angular_error: f64,
    /// Largest energy over that of the start.
    pub energy_most: f64,
    /// Energy at the end over that of the start.
    pub energy_end: f64,
    /// Of the engine's solver and casts, in milliseconds.
    pub physics: Summary,
    /// Of the contact queries, in milliseconds.
    pub collision: Summary,
}

impl Outcome {
    /// Pieces that are nowhere nearer to the ball's line than this.
    fn beyond(&self, distance: f32) -> impl Iterator<Item = &Thrown> {
        self.pieces.iter().filter(move |p| p.nearest > distance)
    }

    /// Speed of the fastest piece beyond a distance from the ball's line (m/s).
    #[must_use]
    pub fn fastest_beyond(&self, distance: f32) -> f32 {
        self.beyond(distance).map(|p| p.speed).fold(0.0, f32::max)
    }

    /// Mean speed of what is beyond a distance from the ball's line, by mass (m/s).
    #[must_use]
    pub fn mean_beyond(&self, distance: f32) -> f32 {
        let (sum, mass) = self.beyond(distance).fold((0.0, 0.0), |(sum, mass), p| {
            (sum + p.speed * p.mass, mass + p.mass)
        });
        sum / mass.max(f32::MIN_POSITIVE)
    }
}

impl Panes {
    /// Glass panes of [`PANE`].
    ///
    /// # Errors
    /// See [`SceneError::Body`].
    ///
    /// # Panics
    /// Never: a box is a mesh.
    pub fn new() -> Result<Self, SceneError> {
        let corner = box_grid([24, 24, 1], PANE);
        let positions = corner.positions().iter().map(|p| *p - 0.5 * PANE);
        let mesh = TetMesh::build(positions.collect(), corner.tets().to_vec()).expect("a box");
        let fracture = FractureSettings {
            max_fragments: 40,
            max_cracks: 80,
            ..FractureSettings::default()
        };
        let options = TemplateOptions::breaking(Material::GLASS, fracture);
        let template = Template::of_mesh("pane", mesh, [150, 180, 190], options, &mut |_| ())?;
        Ok(Self { template })
    }

    /// The kind of body a pane is.
    #[must_use]
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// A world without gravity in which a ball is on its way to the panes.
    #[must_use]
    pub fn world(&self, shot: &Shot) -> (World, RigidBodyHandle) {
        let mut world = World::new(WorldSettings {
            gravity: Vec3::ZERO,
            length_unit: 0.05,
            gives_way: shot.gives_way,
            ..WorldSettings::measured()
        })
        .with_dt(shot.step);
        for i in 0..shot.panes {
            let at = Vec3::Z * (shot.apart * i as f32);
            world.add(self.template.body(Pose::from_translation(at), i as u64));
        }
        let from = HIT - Vec3::Z * (shot.radius + 0.5 * PANE.z + 1.3 * shot.speed * shot.step);
        let body = RigidBodyBuilder::dynamic()
            .translation(from)
            .linvel(Vec3::Z * shot.speed)
            .ccd_enabled(true)
            .soft_ccd_prediction(world.settings().look_ahead_radii() * shot.radius)
            .can_sleep(false);
        let collider = ColliderBuilder::ball(shot.radius)
            .density(7800.0)
            .friction(0.4);
        let (ball, _) = world.physics.insert(body, collider);
        (world, ball)
    }

    /// Shoots, and looks until the ball is well past the last pane.
    #[must_use]
    pub fn shoot(&self, shot: &Shot) -> Outcome {
        let (mut world, ball) = self.world(shot);
        let way = shot.apart * shot.panes as f32 + 0.3;
        // Long enough for a ball that is slowed down to a quarter on its way.
        let steps = 4 + (4.0 * way / (shot.speed * shot.step)).ceil() as u32;
        let mut out = Outcome::default();
        let (mut physics, mut collision) = (Vec::new(), Vec::new());
        let mut first: Vec<(PieceId, Thrown)> = Vec::new();
        let (mut start, mut watch) = (None, 0);
        for _ in 0..steps {
            world.step();
            physics.push(world.stats().times.physics);
            collision.push(world.stats().times.collision);
            for event in world.take_events() {
                if let Event::Broke {
                    piece,
                    children,
                    stats,
                } = event
                {
                    out.broken += 1;
                    out.cracks += stats.spent;
                    if piece.object.0 == 0 {
                        watch = 2;
                        first = children.iter().map(|&c| (c, thrown(&world, c))).collect();
                    }
                }
            }
            // The engine knows masses after its first step.
            let now = (momenta(&world.physics.bodies), world.energy());
            let ((p, l), energy) = *start.get_or_insert(now);
            let carried = p.length();
            out.ball = world.physics.bodies[ball].mass();
            let width = f64::from(PANE.x);
            out.momentum_error = out.momentum_error.max((now.0.0 - p).length() / carried);
            out.angular_error = out
                .angular_error
                .max((now.0.1 - l).length() / (carried * width));
            out.energy_most = out.energy_most.max(now.1 / energy);
            out.energy_end = now.1 / energy;
            if watch > 0 {
                watch -= 1;
                for (piece, thrown) in &mut first {
                    let body = world.body(*piece);
                    let speed = body.map_or(0.0, |b| b.linvel().length());
                    thrown.speed = thrown.speed.max(speed);
                }
            }
        }
        out.pieces = first.into_iter().map(|(_, t)| t).collect();
        out.ball_speed = world.physics.bodies[ball].linvel().z;
        let touched = out.pieces.iter().filter(|p| p.nearest < shot.radius);
        let dragged = shot.panes as f32 * touched.map(|p| p.mass).sum::<f32>();
        let paid = 2.0 * out.cracks as f32 / out.ball;
        let left = (shot.speed * shot.speed - paid).max(0.0).sqrt();
        out.bound = left * out.ball / (out.ball + dragged);
        out.physics = Summary::of(physics);
        out.collision = Summary::of(collision);
        out
    }
}

/// Where a piece of the first pane was in the pane: that stands in the world's frame.
fn thrown(world: &World, piece: PieceId) -> Thrown {
    let aside = |p: Vec3| (p - HIT).truncate().length();
    let surface = world.surface(piece);
    let points = surface.iter().flat_map(|s| s.positions());
    Thrown {
        nearest: points.map(|&p| aside(p)).fold(f32::INFINITY, f32::min),
        centre: surface.map_or(0.0, |s| aside(s.mass_properties().centre.as_vec3())),
        speed: 0.0,
        mass: world.body(piece).map_or(0.0, RigidBody::mass),
    }
}

/// Momentum and angular momentum about the origin, of everything.
#[must_use]
pub fn momenta(bodies: &RigidBodySet) -> (DVec3, DVec3) {
    let (mut p, mut l) = (DVec3::ZERO, DVec3::ZERO);
    for (_, body) in bodies.iter() {
        let (m, c) = (f64::from(body.mass()), body.center_of_mass().as_dvec3());
        let v = body.linvel().as_dvec3();
        let inverse = body.mass_properties().effective_world_inv_inertia;
        let inverse = Mat3::from_cols(inverse * Vec3::X, inverse * Vec3::Y, inverse * Vec3::Z);
        p += m * v;
        l += c.cross(m * v) + (inverse.inverse() * body.angvel()).as_dvec3();
    }
    (p, l)
}
