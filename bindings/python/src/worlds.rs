//! Blueprints and worlds: things that fall, break and come to rest.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fracas_bake::bake::Source;
use fracas_bake::shatter::{self as breaking, ShatterOptions};
use fracas_core::sphere_tree::BuildOptions;
use fracas_core::{FieldOptions, FragmentId, Fragments};
use fracas_fracture::{Breaker, FractureSettings, Material, Modes, ModesOptions, RefractureRule};
use fracas_rapier::{Breakable, ContactSettings, Event, ObjectId, PieceId, WorldSettings};
use fracas_scenes::rigid::contacts_by_name;
use glam::{Quat, Vec3};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use rapier3d::prelude::{ColliderBuilder, Pose, RigidBodyBuilder, RigidBodyHandle};

use crate::arrays::{
    Distances, Pair, column, direction, index_rows, rotation, rows, vector, vectors, within,
};
use crate::baking::{Fineness, Loaded, check_modes, load, material_of};
use crate::breaking::{Broken, Ingredients, Looks, pattern_of, skin_choice, stats_dict};
use crate::errors::{refuse, run, run_long};
use crate::meshes::{Tets, given};

/// A kind of thing, computed once and placed many times: tetrahedra, distances, sphere
/// tree, and the modes by which it breaks.
#[pyclass(module = "fracas", frozen)]
pub struct Blueprint {
    blueprint: Arc<fracas_rapier::Blueprint>,
    modes: Option<Arc<Modes>>,
    material: Material,
    looks: Arc<Looks>,
    name: String,
}

#[pymethods]
impl Blueprint {
    /// Of a mesh (as `tetrahedralize` takes it) or an `Asset`, whose parts are used where
    /// they are there. The unit is the metre. With `modes` 0 it never breaks by itself.
    #[new]
    #[pyo3(signature = (mesh, material = None, tets = None, edge = None, thicken = None, modes = 40))]
    fn new(
        py: Python<'_>,
        mesh: &Bound<'_, PyAny>,
        material: Option<&Bound<'_, PyAny>>,
        tets: Option<u64>,
        edge: Option<f64>,
        thicken: Option<f64>,
        modes: usize,
    ) -> PyResult<Self> {
        let wanted = material.map(material_of).transpose()?;
        let given = given(mesh)?;
        let own = match &given.source {
            Source::Shape(shape) => shape.material().and_then(|m| Material::by_name(m).ok()),
            Source::Asset(asset) => asset.modes().map(|m| *m.material()),
            _ => None,
        };
        let material = wanted.or(own).unwrap_or(Material::CONCRETE);
        let fineness = Fineness {
            tets,
            edge,
            thicken,
        };
        let options = fineness.options(&given.source, "thin")?;
        let Loaded { asset, model, .. } = load(py, given, options)?;
        let baked = asset.modes().filter(|m| *m.material() == material).cloned();
        if baked.is_none() {
            check_modes(modes, asset.mesh().tets().len() as f64)?;
        }
        run_long(py, move || {
            let modes = match baked {
                _ if modes == 0 => None,
                Some(baked) => Some(baked),
                None => Some(Arc::new(compute_modes(&asset, &material, modes)?)),
            };
            let blueprint = match asset.section(fracas_bake::asset::OBJECT) {
                Some(_) => fracas_rapier::Blueprint::of_asset(&asset),
                None => {
                    let (field, tree) = (FieldOptions::default(), BuildOptions::default());
                    fracas_rapier::Blueprint::build(asset.shared_mesh().clone(), &field, &tree)
                }
            };
            Ok(Self {
                blueprint: Arc::new(blueprint.map_err(refuse)?),
                modes,
                material,
                looks: Looks::new(model),
                name: asset.name().to_owned(),
            })
        })?
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Its tetrahedra.
    #[getter]
    fn mesh(&self) -> Tets {
        Tets::new(Arc::clone(self.blueprint.mesh()), &self.name)
    }

    /// Its mass (kg).
    #[getter]
    fn mass(&self) -> f64 {
        self.blueprint.surface().mass_properties().volume * self.material.density
    }

    /// Lowest and highest coordinates.
    #[getter]
    fn bounds(&self) -> ([f32; 3], [f32; 3]) {
        let (low, high) = self.blueprint.surface().bounds();
        (low.to_array(), high.to_array())
    }

    /// How far it reaches below the origin when turned so (x, y, z, w): lifted by this
    /// much it stands on a floor at height 0.
    fn lift(&self, rotation: [f64; 4]) -> PyResult<f32> {
        let turn = self::rotation(rotation, "rotation")?;
        let lowest = self.blueprint.surface().positions().iter();
        Ok(-lowest.map(|&p| (turn * p).y).fold(f32::INFINITY, f32::min))
    }

    fn __repr__(&self) -> String {
        format!(
            "<fracas.Blueprint {}: {} tetrahedra, {:.3} kg>",
            self.name,
            self.blueprint.mesh().tets().len(),
            self.mass()
        )
    }
}

fn compute_modes(asset: &fracas_bake::Asset, material: &Material, count: usize) -> PyResult<Modes> {
    let whole = Fragments::new(asset.shared_mesh().clone());
    let options = ModesOptions {
        count,
        ..ModesOptions::default()
    };
    Modes::compute(&whole, FragmentId(0), material, &options, &mut |_| ()).map_err(refuse)
}

/// A world of things that fall, break and come to rest. Metres, kilograms, seconds; y is up.
///
/// A body is named by its object and its fragment. The same calls give the same bits on
/// every machine, for any number of threads.
#[pyclass(module = "fracas", frozen)]
pub struct World {
    inside: Mutex<Inside>,
}

struct Inside {
    world: fracas_rapier::World,
    /// What each object looks like, and its density.
    kinds: Vec<(Arc<Looks>, f64)>,
    balls: Vec<RigidBodyHandle>,
}

impl World {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the world without the interpreter's lock.
    fn look<T: Send>(
        &self,
        py: Python<'_>,
        at: impl FnOnce(&mut Inside) -> T + Send,
    ) -> PyResult<T> {
        run(py, || at(&mut self.lock()))
    }
}

fn piece_id((object, fragment): (u32, u32)) -> PieceId {
    PieceId {
        object: ObjectId(object),
        fragment: FragmentId(fragment),
    }
}

fn name(piece: PieceId) -> [u32; 2] {
    [piece.object.0, piece.fragment.0]
}

fn no_such((object, fragment): (u32, u32)) -> PyErr {
    PyIndexError::new_err(format!("there is no piece ({object}, {fragment})"))
}

/// Objects break, fragments do not.
const ONCE: RefractureRule = RefractureRule {
    least_nodes_for_modes: 60,
    least_nodes_for_pattern: 24,
    most_generations: 1,
    modes: 24,
};

/// Most balls and bodies, so that a slip of the finger does not fill the memory.
const MOST_BODIES: usize = 100_000;

type Poses<'py> = (
    Bound<'py, PyArray2<u32>>,
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray2<f32>>,
);

#[pymethods]
impl World {
    /// An empty world. `contacts` is how contacts are found: `adaptive`, `full`,
    /// `fixed:N`, `voxel-tree`, `budgeted`, `parry-trimesh`, `parry-hull`,
    /// `parry-decomposed`. Contacts harder than `event_impulse` (N s) are told as events.
    #[new]
    #[pyo3(signature = (step = 1.0 / 60.0, gravity = [0.0, -9.81, 0.0], length_unit = 0.1,
        contacts = "adaptive", sleep = true, event_impulse = f32::INFINITY, threads = None))]
    fn new(
        step: f64,
        gravity: [f64; 3],
        length_unit: f64,
        contacts: &str,
        sleep: bool,
        event_impulse: f32,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        if event_impulse.is_nan() {
            return Err(PyValueError::new_err("event_impulse: must be a number"));
        }
        let step = within(step, "step", 1e-5, 0.2)?;
        let defaults = WorldSettings::default();
        let settings = WorldSettings {
            gravity: bounded(gravity, "gravity", 1e3)?,
            length_unit: within(length_unit, "length_unit", 1e-4, 100.0)?,
            contacts: ContactSettings {
                mode: contacts_by_name(contacts)
                    .map_err(|why| PyValueError::new_err(format!("contacts: {why}")))?,
                ..defaults.contacts
            },
            sleep,
            event_impulse,
            ..defaults
        };
        let mut made = fracas_rapier::World::new(settings);
        made.physics.integration_parameters.dt = step;
        if let Some(threads) = threads {
            if !(1..=1024).contains(&threads) {
                return Err(PyValueError::new_err("threads: must be from 1 to 1024"));
            }
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|e| refuse(format!("cannot start {threads} threads: {e}")))?;
            made.physics.set_thread_pool(Some(Arc::new(pool)));
        }
        Ok(Self {
            inside: Mutex::new(Inside {
                world: made,
                kinds: Vec::new(),
                balls: Vec::new(),
            }),
        })
    }

    /// A floor: everything below the height `y` is solid.
    #[pyo3(signature = (y = 0.0, friction = 0.6))]
    fn add_floor(&self, py: Python<'_>, y: f64, friction: f64) -> PyResult<()> {
        let y = within(y, "y", -1e4, 1e4)?;
        let friction = within(friction, "friction", 0.0, 10.0)?;
        self.look(py, |inside| {
            inside.world.add_floor(y, friction);
        })
    }

    /// Adds a thing; returns the number of the object. Breakable ones break by the stress
    /// of impacts, into at most `max_pieces`; `energy_scale` above 1 makes cracks cost more,
    /// hence fewer; with `again` pieces break again.
    #[pyo3(signature = (blueprint, position = [0.0; 3], rotation = [0.0, 0.0, 0.0, 1.0], *,
        velocity = [0.0; 3], spin = [0.0; 3], friction = 0.6, restitution = 0.0,
        breakable = true, max_pieces = 24, energy_scale = 1.0, seed = 0, again = false,
        fixed = false))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn add(
        &self,
        py: Python<'_>,
        blueprint: &Bound<'_, Blueprint>,
        position: [f64; 3],
        rotation: [f64; 4],
        velocity: [f64; 3],
        spin: [f64; 3],
        friction: f64,
        restitution: f64,
        breakable: bool,
        max_pieces: usize,
        energy_scale: f64,
        seed: u64,
        again: bool,
        fixed: bool,
    ) -> PyResult<u32> {
        let kind = blueprint.get();
        let place = bounded(position, "position", 1e4)?;
        let turn = self::rotation(rotation, "rotation")?;
        if max_pieces < 2 {
            return Err(PyValueError::new_err("max_pieces: must be at least 2"));
        }
        within(energy_scale, "energy_scale", 1e-6, 1e6)?;
        let mut options = Breakable {
            velocity: bounded(velocity, "velocity", 1e3)?,
            spin: bounded(spin, "spin", 1e3)?,
            friction: within(friction, "friction", 0.0, 10.0)?,
            restitution: within(restitution, "restitution", 0.0, 1.0)?,
            density: kind.material.density as f32,
            ..Breakable::new(Arc::clone(&kind.blueprint)).at(Pose::from_parts(place, turn))
        };
        if let Some(modes) = kind.modes.clone().filter(|_| breakable && !fixed) {
            let settings = FractureSettings {
                max_cracks: max_pieces,
                max_fragments: max_pieces,
                energy_scale,
                seed,
                ..FractureSettings::default()
            };
            let rule = if again {
                RefractureRule::default()
            } else {
                ONCE
            };
            let breaker = Breaker::new(kind.material, Some(modes));
            options = options.with_breaker(breaker.with_settings(settings).with_rule(rule));
        }
        if fixed {
            let (low, high) = kind.blueprint.surface().bounds();
            options.anchors = vec![(low - 1.0, high + 1.0)];
        }
        let kind = (Arc::clone(&kind.looks), kind.material.density);
        self.look(py, move |inside| {
            if inside.kinds.len() >= MOST_BODIES {
                return Err(refuse(format!("at most {MOST_BODIES} bodies")));
            }
            let object = inside.world.add(options);
            inside.kinds.push(kind);
            Ok(object.0)
        })?
    }

    /// Adds a ball of steel (or of another density, kg/m³); returns its number.
    #[pyo3(signature = (radius, position, velocity = [0.0; 3], density = 7800.0, friction = 0.4))]
    fn add_ball(
        &self,
        py: Python<'_>,
        radius: f64,
        position: [f64; 3],
        velocity: [f64; 3],
        density: f64,
        friction: f64,
    ) -> PyResult<usize> {
        let radius = within(radius, "radius", 1e-4, 100.0)?;
        let at = bounded(position, "position", 1e4)?;
        let velocity = bounded(velocity, "velocity", 1e3)?;
        let density = within(density, "density", 1e-3, 1e6)?;
        let friction = within(friction, "friction", 0.0, 10.0)?;
        self.look(py, |inside| {
            if inside.balls.len() >= MOST_BODIES {
                return Err(refuse(format!("at most {MOST_BODIES} balls")));
            }
            let settings = inside.world.settings();
            let body = RigidBodyBuilder::dynamic()
                .translation(at)
                .linvel(velocity)
                .ccd_enabled(true)
                .soft_ccd_prediction(settings.look_ahead_radii() * radius)
                .can_sleep(settings.sleep)
                // Else it would roll for ever.
                .angular_damping(if settings.sleep { 2.0 } else { 0.0 });
            let collider = ColliderBuilder::ball(radius)
                .density(density)
                .friction(friction);
            let (body, _) = inside.world.physics.insert(body, collider);
            inside.balls.push(body);
            Ok(inside.balls.len() - 1)
        })?
    }

    /// Makes steps; Ctrl-C ends it between two of them.
    #[pyo3(signature = (count = 1))]
    fn step(&self, py: Python<'_>, count: u64) -> PyResult<()> {
        for _ in 0..count {
            self.look(py, |inside| inside.world.step())?;
            py.check_signals()?;
        }
        Ok(())
    }

    /// Steps until nothing moves, or for `seconds` at most. Returns whether all is at rest.
    #[pyo3(signature = (seconds = 10.0))]
    fn settle(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let seconds = within(seconds, "seconds", 0.0, 3600.0)?;
        let step = self.look(py, |inside| inside.world.dt())?;
        for _ in 0..(seconds / step).ceil() as u64 {
            if self.moving(py)? == 0 {
                return Ok(true);
            }
            self.step(py, 1)?;
        }
        Ok(self.moving(py)? == 0)
    }

    /// How many bodies are awake.
    #[getter]
    fn moving(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, |inside| {
            let bodies = inside.world.physics.bodies.iter();
            bodies
                .filter(|(_, b)| b.is_dynamic() && !b.is_sleeping())
                .count()
        })
    }

    /// Steps made.
    #[getter]
    fn steps(&self, py: Python<'_>) -> PyResult<u64> {
        self.look(py, |inside| inside.world.steps())
    }

    /// What happened since the last call: dictionaries with `kind` (`broke`, `born`,
    /// `removed`, `lost`, `fading`, `dust`, `contact`) and `piece`, and what belongs to it:
    /// `children` and `stats`; `steps`; `point`, `velocity` and `volume`; `point` and `impulse`.
    /// One list agrees with the world as it is now: pieces that are not there are not born.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let events = self.look(py, |inside| inside.world.take_events())?;
        let told = PyList::empty(py);
        for event in events {
            if let Event::Contact(contact) = &event {
                for piece in contact.pieces.iter().flatten() {
                    let one = PyDict::new(py);
                    one.set_item("kind", "contact")?;
                    one.set_item("piece", (piece.object.0, piece.fragment.0))?;
                    one.set_item("point", contact.point.to_array())?;
                    one.set_item("impulse", contact.impulse)?;
                    told.append(one)?;
                }
                continue;
            }
            let one = PyDict::new(py);
            let (kind, piece) = match &event {
                Event::Broke { piece, .. } => ("broke", *piece),
                Event::Born(piece) => ("born", *piece),
                Event::Removed(piece) => ("removed", *piece),
                Event::Lost(piece) => ("lost", *piece),
                Event::Fading { piece, .. } => ("fading", *piece),
                Event::Dust { parent, .. } => ("dust", *parent),
                _ => continue,
            };
            one.set_item("kind", kind)?;
            one.set_item("piece", (piece.object.0, piece.fragment.0))?;
            match event {
                Event::Broke {
                    children, stats, ..
                } => {
                    let children: Vec<_> = children
                        .iter()
                        .map(|p| (p.object.0, p.fragment.0))
                        .collect();
                    one.set_item("children", children)?;
                    one.set_item("stats", stats_dict(py, &stats)?)?;
                }
                Event::Fading { steps, .. } => one.set_item("steps", steps)?,
                Event::Dust {
                    point,
                    velocity,
                    volume,
                    ..
                } => {
                    one.set_item("point", point.to_array())?;
                    one.set_item("velocity", velocity.to_array())?;
                    one.set_item("volume", volume)?;
                }
                _ => {}
            }
            told.append(one)?;
        }
        Ok(told)
    }

    /// Names `(n, 2)` of all bodies: object and fragment.
    #[getter]
    fn pieces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let names: Vec<[u32; 2]> =
            self.look(py, |inside| inside.world.pieces().map(name).collect())?;
        index_rows(py, &names)
    }

    /// Names `(n, 2)`, positions `(n, 3)` and rotations `(n, 4)` (x, y, z, w) of all bodies:
    /// where the frame of the whole object went with each of them.
    fn poses<'py>(&self, py: Python<'py>) -> PyResult<Poses<'py>> {
        let all = self.look(py, |inside| {
            let world = &inside.world;
            let all = world.pieces().filter_map(|p| Some((p, world.pose(p)?)));
            all.collect::<Vec<(PieceId, Pose)>>()
        })?;
        let names: Vec<[u32; 2]> = all.iter().map(|(p, _)| name(*p)).collect();
        let turns = all
            .iter()
            .flat_map(|(_, pose)| quat(pose.rotation))
            .collect();
        Ok((
            index_rows(py, &names)?,
            vectors(py, all.iter().map(|(_, pose)| pose.translation))?,
            rows(py, turns, 4)?,
        ))
    }

    /// Velocities `(n, 3)` and spins `(n, 3)` of all bodies, in the order of `pieces`.
    fn velocities<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Pair<'py, PyArray2<f32>, PyArray2<f32>>> {
        let all: Vec<(Vec3, Vec3)> = self.look(py, |inside| {
            let world = &inside.world;
            let bodies = world.pieces().filter_map(|p| world.body(p));
            bodies.map(|b| (b.linvel(), b.angvel())).collect()
        })?;
        let linear = vectors(py, all.iter().map(|v| v.0))?;
        Ok((linear, vectors(py, all.iter().map(|v| v.1))?))
    }

    /// Masses `(n,)` of all bodies, in the order of `pieces`.
    fn masses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let all = self.look(py, |inside| {
            let world = &inside.world;
            let bodies = world.pieces().filter_map(|p| world.body(p));
            bodies.map(|b| b.mass()).collect::<Vec<f32>>()
        })?;
        Ok(column(py, all))
    }

    /// Positions `(n, 3)` and velocities `(n, 3)` of all balls, in the order in which they
    /// were added; not numbers where one is gone.
    fn balls<'py>(&self, py: Python<'py>) -> PyResult<Pair<'py, PyArray2<f32>, PyArray2<f32>>> {
        let all: Vec<(Vec3, Vec3)> = self.look(py, |inside| {
            let bodies = &inside.world.physics.bodies;
            let find = |&ball: &RigidBodyHandle| bodies.get(ball);
            let all = inside.balls.iter().map(find);
            all.map(|b| b.map_or((Vec3::NAN, Vec3::NAN), |b| (b.translation(), b.linvel())))
                .collect()
        })?;
        let places = vectors(py, all.iter().map(|v| v.0))?;
        Ok((places, vectors(py, all.iter().map(|v| v.1))?))
    }

    /// All contacts of the last step: `first` and `second` `(n, 2)` name the bodies
    /// (2^32 - 1 where it is none of ours: a floor or a ball), `points` `(n, 3)`,
    /// `normals` `(n, 3)` from the first to the second, `distances` `(n,)` (negative where
    /// they overlap) and `impulses` `(n,)` (N s).
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        type Found = ([u32; 2], [u32; 2], Vec3, Vec3, f32, f32);
        let found = self.look(py, |inside| {
            let world = &inside.world;
            let who = |c| world.piece_of(c).map_or([u32::MAX; 2], name);
            let mut found: Vec<Found> = Vec::new();
            for pair in world.physics.narrow_phase.contact_pairs() {
                let Some(rigid) = pair.rigid() else { continue };
                let Some(first) = world.physics.colliders.get(pair.collider1) else {
                    continue;
                };
                let (a, b) = (who(pair.collider1), who(pair.collider2));
                for manifold in rigid.solver_manifolds() {
                    for point in &manifold.points {
                        let at = *first.position() * point.local_p1;
                        let normal = manifold.data.normal;
                        found.push((a, b, at, normal, point.dist, point.data.impulse));
                    }
                }
            }
            // The engine's order depends on its history.
            found.sort_by_key(|f| (f.0, f.1, f.2.to_array().map(f32::to_bits)));
            found
        })?;
        let told = PyDict::new(py);
        let names: Vec<[u32; 2]> = found.iter().map(|f| f.0).collect();
        told.set_item("first", index_rows(py, &names)?)?;
        let names: Vec<[u32; 2]> = found.iter().map(|f| f.1).collect();
        told.set_item("second", index_rows(py, &names)?)?;
        told.set_item("points", vectors(py, found.iter().map(|f| f.2))?)?;
        told.set_item("normals", vectors(py, found.iter().map(|f| f.3))?)?;
        told.set_item("distances", column(py, found.iter().map(|f| f.4).collect()))?;
        told.set_item("impulses", column(py, found.iter().map(|f| f.5).collect()))?;
        Ok(told)
    }

    /// Kinetic and potential energy of all bodies (J); heights count from 0.
    fn energy(&self, py: Python<'_>) -> PyResult<f64> {
        self.look(py, |inside| inside.world.energy())
    }

    /// The deepest overlap of two bodies, asked of all sample points (m).
    fn deepest_overlap(&self, py: Python<'_>) -> PyResult<f32> {
        self.look(py, |inside| inside.world.deepest_overlap())
    }

    /// Bodies that fell out of the world or whose state was not finite.
    #[getter]
    fn bodies_lost(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, |inside| inside.world.bodies_lost())
    }

    /// A number that changes with any bit of any body's state.
    fn digest(&self, py: Python<'_>) -> PyResult<u64> {
        self.look(py, |inside| inside.world.digest())
    }

    /// The last step in numbers: milliseconds of its stages, pairs, contacts, pieces.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.look(py, |inside| *inside.world.stats())?;
        let told = PyDict::new(py);
        told.set_item("step", stats.step)?;
        told.set_item("collision_ms", stats.times.collision)?;
        told.set_item("physics_ms", stats.times.physics)?;
        told.set_item("fracture_ms", stats.times.fracture)?;
        told.set_item("update_ms", stats.times.update)?;
        told.set_item("total_ms", stats.times.total)?;
        told.set_item("pairs", stats.pairs)?;
        told.set_item("contacts", stats.contacts)?;
        told.set_item("pieces", stats.pieces)?;
        told.set_item("fragments", stats.fragments)?;
        told.set_item("broken", stats.broken)?;
        Ok(told)
    }

    /// The whole state as bytes, also in the middle of a destruction.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self
            .look(py, |inside| inside.world.snapshot())?
            .map_err(refuse)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Goes back to a snapshot of this world, bit by bit.
    fn restore(&self, py: Python<'_>, bytes: Vec<u8>) -> PyResult<()> {
        self.look(py, move |inside| inside.world.restore(&bytes))?
            .map_err(refuse)
    }

    /// Breaks a body now, by a pattern, in the frame of its object. Returns the new
    /// bodies; options are those of `shatter`.
    #[pyo3(signature = (piece, pattern = "voronoi", pieces = 16, *, at = None, direction = None,
        rings = 1, roughness = 0.004, seed = 0))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn break_piece(
        &self,
        py: Python<'_>,
        piece: (u32, u32),
        pattern: &str,
        pieces: u32,
        at: Option<[f64; 3]>,
        direction: Option<[f64; 3]>,
        rings: u32,
        roughness: f32,
        seed: u64,
    ) -> PyResult<Vec<(u32, u32)>> {
        if pieces < 2 || !roughness.is_finite() {
            let why = "pieces: must be at least 2, and roughness finite";
            return Err(PyValueError::new_err(why));
        }
        let pattern = pattern_of(pattern)?;
        if pattern == breaking::Pattern::Impact {
            return Err(PyValueError::new_err(
                "in a world impacts come of balls and falls",
            ));
        }
        let options = ShatterOptions {
            pattern,
            pieces,
            at: at.map(|v| vector(v, "at")).transpose()?,
            direction: direction
                .map(|v| self::direction(v, "direction"))
                .transpose()?,
            rings,
            roughness,
            seed,
            ..ShatterOptions::default()
        };
        let id = piece_id(piece);
        self.look(py, |inside| {
            let shape = inside.world.shape(id).ok_or_else(|| no_such(piece))?;
            let fracture = {
                let object = shape.object().read();
                let (wanted, cost) =
                    breaking::cost(object.fragments().mesh(), &options).map_err(refuse)?;
                cost.check(&format!("{wanted} pieces")).map_err(refuse)?;
                let plan =
                    breaking::plan(object.fragments(), id.fragment, None, &options, &mut |_| ());
                plan.map_err(refuse)?.fracture
            };
            let children = inside.world.break_piece(id, fracture);
            Ok(children
                .iter()
                .map(|c| (c.object.0, c.fragment.0))
                .collect())
        })?
    }

    /// Takes a body away. Whether there was one.
    fn remove(&self, py: Python<'_>, piece: (u32, u32)) -> PyResult<bool> {
        self.look(py, |inside| inside.world.remove_piece(piece_id(piece)))
    }

    /// Gives a body a push at its centre of mass (N s).
    fn push(&self, py: Python<'_>, piece: (u32, u32), impulse: [f64; 3]) -> PyResult<()> {
        let impulse = bounded(impulse, "impulse", 1e6)?;
        self.look(py, |inside| {
            let body = inside
                .world
                .body_mut(piece_id(piece))
                .ok_or_else(|| no_such(piece))?;
            body.apply_impulse(impulse, true);
            Ok(())
        })?
    }

    /// What an object is now: its pieces as `shatter` gives them, in the frame of the whole.
    #[pyo3(signature = (object, skin = "auto", crack_scale = 1.0))]
    fn broken(
        &self,
        py: Python<'_>,
        object: u32,
        skin: &str,
        crack_scale: f32,
    ) -> PyResult<Broken> {
        let skin = skin_choice(skin)?;
        if !crack_scale.is_finite() {
            return Err(PyValueError::new_err("crack_scale: must be finite"));
        }
        let found = self.look(py, |inside| {
            let piece = inside.world.pieces().find(|p| p.object.0 == object);
            let shape = piece.and_then(|p| inside.world.shape(p))?;
            let state = shape.object().read();
            let (fragments, field) = (state.fragments().clone(), state.field().clone());
            let (looks, density) = inside.kinds.get(object as usize)?.clone();
            Some((Arc::new(fragments), Arc::new(field), looks, density))
        })?;
        let Some((fragments, field, looks, density)) = found else {
            return Err(PyIndexError::new_err(format!(
                "there is no piece of object {object}"
            )));
        };
        run_long(py, move || {
            Broken::make(Ingredients {
                fragments,
                looks,
                density,
                skin,
                crack_scale,
                field: Some(field),
                fracture: None,
            })
        })?
    }

    /// Signed distances of points `(n, 3)` of the world to one body, negative inside, and
    /// outward directions; as `TetMesh.signed_distance`.
    #[pyo3(signature = (points, piece, max_distance = f32::INFINITY))]
    fn signed_distance<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
        piece: (u32, u32),
        max_distance: f32,
    ) -> PyResult<Distances<'py>> {
        let points = crate::arrays::points_f32(points, "points")?;
        let id = piece_id(piece);
        let (found, normals) = self.look(py, |inside| {
            let world = &inside.world;
            let (shape, pose) = world
                .shape(id)
                .zip(world.pose(id))
                .ok_or_else(|| no_such(piece))?;
            let local: Vec<Vec3> = points
                .iter()
                .map(|&p| pose.inverse_transform_point(p))
                .collect();
            let object = shape.object().read();
            let (fragments, field) = (object.fragments(), object.field());
            let (found, normals) =
                crate::meshes::distances(fragments, field, id.fragment, &local, max_distance);
            let normals: Vec<Vec3> = normals.into_iter().map(|n| pose.rotation * n).collect();
            Ok::<_, PyErr>((found, normals))
        })??;
        Ok((column(py, found), vectors(py, normals)?))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, |inside| {
            let world = &inside.world;
            format!(
                "<fracas.World: {} bodies, {} steps>",
                world.pieces().count(),
                world.steps()
            )
        })
    }
}

fn quat(turn: Quat) -> [f32; 4] {
    [turn.x, turn.y, turn.z, turn.w]
}

/// Three numbers of a size that a world can bear.
fn bounded(value: [f64; 3], name: &str, most: f64) -> PyResult<Vec3> {
    for x in value {
        within(x, name, -most, most)?;
    }
    vector(value, name)
}
