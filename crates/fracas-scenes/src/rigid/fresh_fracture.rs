//! A unit cube, broken into 64 concave, exactly touching pieces and dropped 0.15 m:
//! contacts between pieces that have just parted, where engines blow apart or sink.
//!
//! 256 Voronoi cells, joined into 64 groups ([`super::cells`]), cut a cube of
//! tetrahedra. The pile must neither spread nor sink: [`crate::measure::spread`]
//! stays what it was. The convex competitor runs on the exact cells
//! ([`ConvexCells`]).

use fracas_core::sphere_tree::SplitMethod;
use fracas_core::testing::box_grid;
use fracas_core::{Fracture, FragmentId, Fragments, TetMesh};
use fracas_fracture::Material;
use fracas_fracture::sequence::CrackSequence;
use fracas_rapier::WorldSettings;
use fracas_rapier::{BreakTimes, Trees};
use glam::{DVec3, Vec3};
use parry3d::math::Pose;
use parry3d::shape::SharedShape;
use rapier3d::dynamics::IntegrationParameters;
use rapier3d::prelude::{ColliderBuilder, PhysicsWorld, RigidBodyBuilder, RigidBodyHandle};

use super::cells::Cells;
use super::{Progress, Scene, SceneError, SceneOptions, Template, TemplateOptions};

/// Cells of the break.
pub const CELLS: usize = 256;
/// Pieces they are joined into.
pub const PIECES: usize = 64;
/// Cubes along an edge, six tetrahedra each.
const GRID: u32 = 12;
/// How far it falls (m).
pub const DROP: f32 = 0.15;
/// Seconds per step.
pub const STEP: f32 = 1.0 / 240.0;
/// Of pieces and floor.
pub const FRICTION: f32 = 0.5;
/// In kg/m³.
pub const DENSITY: f32 = 1000.0;

pub(super) fn build(options: &SceneOptions, progress: Progress<'_>) -> Result<Scene, SceneError> {
    let template = cube(progress)?;
    let view = (Vec3::new(-0.9, 0.0, -0.9), Vec3::new(0.9, 1.2, 0.9));
    let steps = options.steps(480.0 * STEP, STEP);
    let mut settings = options.world(STEP, 0.25);
    settings.world = WorldSettings {
        // Holds fresh faces together (see docs/decisions/0004).
        friction_in_bias: true,
        contact_frequency: 60.0,
        ..settings.world
    };
    let mut scene = Scene::new("fresh-fracture", settings, steps, view);
    scene.floor(0.0, FRICTION);
    let mut body = template.body(Pose::translation(0.0, 0.5 + DROP, 0.0), 0);
    (body.density, body.friction) = (DENSITY, FRICTION);
    // No piece moves its own size in a step.
    body.continuous = false;
    scene.add(body, template.colour());
    let world = scene.world_mut();
    let whole = world.pieces().next().expect("the cube was just added");
    let fracture = {
        let state = world.shape(whole).expect("it is there").object().read();
        cut(
            state.fragments(),
            &Cells::build(CELLS, PIECES, options.seed),
        )?
    };
    world.break_piece(whole, fracture);
    Ok(scene)
}

/// The whole cube, its middle at the origin.
fn cube(progress: Progress<'_>) -> Result<Template, SceneError> {
    progress("tetrahedra");
    let corner = box_grid([GRID; 3], Vec3::ONE);
    let positions = corner.positions().iter().map(|&p| p - 0.5).collect();
    let mesh = TetMesh::build(positions, corner.tets().to_vec());
    let mesh = mesh.expect("moving a mesh keeps it one");
    let kinds = TemplateOptions::solid(Material::CONCRETE);
    Template::of_mesh("cube", mesh, [186, 176, 158], kinds, progress)
}

/// Breaks cubes as the scene does, `runs` times, and tells the shortest times: cutting
/// and weighing, and making the collision structures of all pieces.
///
/// # Errors
/// See [`SceneError::Body`].
pub fn structures(
    seed: u64,
    runs: usize,
    clock: &(dyn Fn() -> f64 + Sync),
) -> Result<BreakTimes, SceneError> {
    shortest(seed, runs, Trees::AtOnce(SplitMethod::default()), clock)
}

/// The same, of what is done before the next step can run: trees are made when asked for.
///
/// # Errors
/// See [`SceneError::Body`].
pub fn newborn(
    seed: u64,
    runs: usize,
    clock: &(dyn Fn() -> f64 + Sync),
) -> Result<BreakTimes, SceneError> {
    let trees = Trees::WhenAsked(SplitMethod::default());
    shortest(seed, runs, trees, clock)
}

fn shortest(
    seed: u64,
    runs: usize,
    trees: Trees,
    clock: &(dyn Fn() -> f64 + Sync),
) -> Result<BreakTimes, SceneError> {
    let template = cube(&mut |_| ())?;
    let cells = Cells::build(CELLS, PIECES, seed);
    let mut best: Option<BreakTimes> = None;
    for _ in 0..runs {
        let (object, shape) = template.blueprint().object();
        let fracture = cut(object.read().fragments(), &cells)?;
        let broken = object.break_apart(&shape, &fracture, trees, clock);
        let times = broken
            .map_err(|e| SceneError::Body {
                what: "break".into(),
                why: e.to_string(),
            })?
            .times;
        best = Some(best.map_or(times, |best| best.min(&times)));
    }
    Ok(best.unwrap_or_default())
}

/// The groups as cracks: the level of a node is its distance to the bisector between
/// the nearest site of either half of the groups, again and again.
fn cut(fragments: &Fragments, cells: &Cells) -> Result<Fracture, SceneError> {
    let fail = || SceneError::Body {
        what: "break".into(),
        why: "the cells do not cut the cube".into(),
    };
    let mut sequence = CrackSequence::new(fragments, FragmentId(0)).ok_or_else(fail)?;
    let positions = fragments.mesh().positions();
    let mut work = vec![(0_u32, (0..cells.groups).collect::<Vec<_>>())];
    while let Some((part, mut groups)) = work.pop() {
        if groups.len() < 2 {
            continue;
        }
        let (left, right) = halve(&mut groups, cells);
        let sites = |side: &[usize]| -> Vec<DVec3> {
            side.iter()
                .flat_map(|&g| cells.of(g).map(|c| c.site - 0.5))
                .collect()
        };
        let (a, b) = (sites(left), sites(right));
        let level = |n: u32| bisector(positions[n as usize].as_dvec3(), &a, &b) as f32;
        if let Some(new) = sequence.split(part, level) {
            work.push((part, left.to_vec()));
            work.push((new, right.to_vec()));
        }
    }
    sequence.finish().ok_or_else(fail)
}

/// Halves groups along the axis on which they are widest.
fn halve<'a>(groups: &'a mut [usize], cells: &Cells) -> (&'a [usize], &'a [usize]) {
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for &g in groups.iter() {
        (low, high) = (low.min(cells.centre(g)), high.max(cells.centre(g)));
    }
    let axis = (high - low).max_position();
    groups.sort_by(|&a, &b| {
        let at = |g: usize| cells.centre(g)[axis];
        at(a).total_cmp(&at(b)).then(a.cmp(&b))
    });
    groups.split_at(groups.len() / 2)
}

/// Signed distance to the bisector between the nearest site of either set.
fn bisector(p: DVec3, left: &[DVec3], right: &[DVec3]) -> f64 {
    let nearest = |sites: &[DVec3]| {
        sites.iter().map(|&s| (s, p.distance_squared(s))).fold(
            (DVec3::ZERO, f64::INFINITY),
            |a, b| if b.1 < a.1 { b } else { a },
        )
    };
    let ((a, to_a), (b, to_b)) = (nearest(left), nearest(right));
    (to_a - to_b) / (2.0 * a.distance(b)).max(f64::MIN_POSITIVE)
}

/// The same break for an engine that knows convex shapes only: the exact cells, a
/// compound of them for each piece. Cells exist only because the break was made of
/// them.
pub struct ConvexCells {
    /// The engine's world.
    pub physics: PhysicsWorld,
    bodies: Vec<RigidBodyHandle>,
    /// Where each body's own frame is in the cube's.
    centres: Vec<Vec3>,
}

impl ConvexCells {
    /// Makes hulls, compounds and bodies.
    #[must_use]
    pub fn build(seed: u64) -> Self {
        let cells = Cells::build(CELLS, PIECES, seed);
        let mut physics = PhysicsWorld {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            integration_parameters: IntegrationParameters {
                dt: STEP,
                contact_recycling: false,
                friction_in_bias_pass: true,
                ..IntegrationParameters::default()
            },
            ..PhysicsWorld::default()
        };
        let floor = ColliderBuilder::new(SharedShape::halfspace(Vec3::Y)).friction(FRICTION);
        physics.insert_collider(floor, None);
        let (mut bodies, mut centres) = (Vec::new(), Vec::new());
        for g in 0..cells.groups {
            let centre = cells.centre(g);
            let hulls: Vec<(Pose, SharedShape)> = cells
                .of(g)
                .filter_map(|cell| {
                    let points: Vec<Vec3> = cell
                        .corners
                        .iter()
                        .map(|&c| (c - centre).as_vec3())
                        .collect();
                    Some((Pose::identity(), SharedShape::convex_hull(&points)?))
                })
                .collect();
            let place = (centre - DVec3::new(0.5, 0.0, 0.5)).as_vec3() + Vec3::Y * DROP;
            let body = RigidBodyBuilder::dynamic()
                .translation(place)
                .can_sleep(false);
            let collider = ColliderBuilder::new(SharedShape::compound(hulls))
                .density(DENSITY)
                .friction(FRICTION);
            bodies.push(physics.insert(body, collider).0);
            centres.push((centre - 0.5).as_vec3());
        }
        Self {
            physics,
            bodies,
            centres,
        }
    }

    /// Where the cube's frame is for each piece, in order of the groups.
    #[must_use]
    pub fn poses(&self) -> Vec<Pose> {
        let all = self.bodies.iter().zip(&self.centres);
        all.filter_map(|(&handle, &centre)| {
            let mut pose = *self.physics.bodies.get(handle)?.position();
            pose.translation -= pose.rotation * centre;
            Some(pose)
        })
        .collect()
    }

    /// How many pieces.
    #[must_use]
    pub fn count(&self) -> usize {
        self.bodies.len()
    }

    /// How far the pieces are apart (see [`crate::measure::spread`]).
    #[must_use]
    pub fn spread(&self) -> f64 {
        let centres = self.bodies.iter().filter_map(|&handle| {
            let body = self.physics.bodies.get(handle)?;
            Some(body.center_of_mass().as_dvec3())
        });
        crate::measure::mean_distance(&centres.collect::<Vec<_>>())
    }
}
