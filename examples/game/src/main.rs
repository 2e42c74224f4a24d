//! A small game without a window: a lift with a rider, a door on a hinge, terrain, a sensor, a
//! brick wall, a shelf built into a wall, a bowl of its own, and a chandelier on a chain. Every
//! second a ball is thrown at the wall; after three seconds a barrel explodes.
//!
//! The game's world is made with Rapier alone (`Game::new`); three lines in `Game::step` and
//! `Game::furnish` make things break in it. What a real game would draw, play and store is
//! counted here.
//!
//! ```sh
//! cargo run                  # plays four seconds, saves in the middle, prints what happened
//! cargo run -- --load FILE   # goes on from a save, in a new process
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

use fracas::prelude::*;
use rapier3d::prelude::*;

/// Who collides with whom: sparks (small debris) do not collide with the player.
const LEVEL: Group = Group::GROUP_1;
const PLAYER: Group = Group::GROUP_2;
const DEBRIS: Group = Group::GROUP_3;

const STEPS: u64 = 480;
const SAVE_AT: u64 = 372;

/// What the game itself keeps, beside the world.
struct Game {
    world: World,
    lift: RigidBodyHandle,
    rider: RigidBodyHandle,
    door: RigidBodyHandle,
    goal: ColliderHandle,
    plain_bodies: Vec<RigidBodyHandle>,
    /// What a renderer would hold: triangles of each piece.
    drawn: BTreeMap<PieceId, usize>,
    counts: Counts,
}

/// What happened.
#[derive(Debug, Default)]
struct Counts {
    breaks: usize,
    sounds: usize,
    loudest: f32,
    dust: usize,
    joints_moved: usize,
    joints_broken: usize,
    removed: usize,
    most_fragments: usize,
}

impl Game {
    /// The game as it was before: Rapier alone.
    fn new() -> Result<Self, Box<dyn Error>> {
        let mut physics = PhysicsWorld::default();
        // The game runs at 120 Hz and has parameters of its own.
        physics.integration_parameters.dt = 1.0 / 120.0;
        physics.integration_parameters.num_solver_iterations = 6;
        let hills = |i: usize, j: usize| 0.15 * ((i as f32).sin() + (0.7 * j as f32).cos());
        let heights = Array2::new(17, 17, (0..289).map(|n| hills(n % 17, n / 17)).collect());
        let everyone = InteractionGroups::new(LEVEL, Group::ALL, InteractionTestMode::And);
        physics.insert_collider(
            ColliderBuilder::heightfield(heights, Vector::new(40.0, 1.0, 40.0))
                .translation(Vector::new(0.0, -0.4, 0.0))
                .collision_groups(everyone),
            None,
        );
        let mut plain_bodies = Vec::new();
        // A lift far from everything that breaks, with a rider on it.
        let lift = RigidBodyBuilder::kinematic_position_based().translation(Vector::new(15.0, 1.0, 0.0));
        let (lift, _) = physics.insert(lift, ColliderBuilder::cuboid(1.0, 0.1, 1.0).collision_groups(everyone));
        let rider = RigidBodyBuilder::dynamic()
            .translation(Vector::new(15.0, 2.0, 0.0))
            .locked_axes(LockedAxes::ROTATION_LOCKED);
        let not_debris = InteractionGroups::new(PLAYER, !DEBRIS, InteractionTestMode::And);
        let (rider, _) = physics.insert(
            rider,
            ColliderBuilder::capsule_y(0.5, 0.3).friction(1.0).collision_groups(not_debris),
        );
        // A door on a hinge.
        let post = physics.insert_body(RigidBodyBuilder::fixed().translation(Vector::new(-6.0, 1.5, 0.0)));
        let door = RigidBodyBuilder::dynamic().translation(Vector::new(-5.4, 1.5, 0.0));
        let (door, _) = physics.insert(door, ColliderBuilder::cuboid(0.5, 1.0, 0.05));
        let hinge = RevoluteJointBuilder::new(Vector::Y).local_anchor2(Vector::new(-0.6, 0.0, 0.0));
        physics.insert_impulse_joint(post, door, hinge);
        plain_bodies.extend([lift, rider, post, door]);
        // Things that lie about, one of them far below the ground.
        for i in 0..12 {
            let at = Vector::new(-10.0 + i as f32, 2.0, 6.0);
            let crate_ = RigidBodyBuilder::dynamic().translation(at);
            plain_bodies.push(physics.insert(crate_, ColliderBuilder::cuboid(0.2, 0.2, 0.2)).0);
        }
        let cellar = RigidBodyBuilder::fixed().translation(Vector::new(0.0, -60.0, 0.0));
        plain_bodies.push(physics.insert(cellar, ColliderBuilder::cuboid(3.0, 0.5, 3.0)).0);
        // The goal behind the wall notices what enters it.
        let goal = ColliderBuilder::cuboid(2.0, 1.0, 0.5)
            .translation(Vector::new(0.0, 1.0, -3.0))
            .sensor(true);
        let goal = physics.insert_collider(goal, None);

        let settings = WorldSettings {
            event_impulse: 0.5,
            debris: DebrisPolicy {
                max_fragments: Some(200),
                lifetime_steps: Some(240),
                fade_steps: 30,
                groups: Some(InteractionGroups::new(DEBRIS, !PLAYER, InteractionTestMode::And)),
                ..DebrisPolicy::default()
            },
            ..WorldSettings::default()
        };
        Ok(Self {
            world: World::around(physics, settings),
            lift,
            rider,
            door,
            goal,
            plain_bodies,
            drawn: BTreeMap::new(),
            counts: Counts::default(),
        })
    }

    /// The kinds of things that break.
    fn kinds() -> Result<[Breakable; 4], Box<dyn Error>> {
        Ok([
            Breakable::open("brick", Material::BRICK)?,
            Breakable::open("bowl", Material::PORCELAIN)?,
            Breakable::open("shelf", Material::GLASS)?,
            Breakable::open("plate", Material::GLASS)?,
        ])
    }

    /// Puts things that break into the world.
    fn furnish(&mut self) -> Result<(), Box<dyn Error>> {
        let [brick, bowl, shelf, plate] = Self::kinds()?;
        let (low, high) = extent(&brick);
        let size = high - low;
        for row in 0..4 {
            for column in 0..6 {
                let offset = if row % 2 == 0 { 0.0 } else { 0.5 * size.x };
                let at = Vector::new(
                    (column as f32 - 3.0) * (size.x + 0.002) + offset,
                    -low.y + row as f32 * (size.y + 0.001),
                    0.0,
                );
                self.world.add(brick.clone().at(Pose::from_translation(at + Vector::Y * 0.05)));
            }
        }
        self.world.add_floor(0.0, 0.7);
        self.world.add(bowl.at(Pose::translation(1.5, 0.4, 1.0)));
        // Built into a wall on its left.
        let (low, high) = extent(&shelf);
        let left = Vector::new(low.x + 0.1 * (high.x - low.x), high.y, high.z);
        self.world.add(shelf.at(Pose::translation(-2.0, 1.2, -1.0)).anchored(low, left));
        // On a chain.
        let hook = RigidBodyBuilder::fixed().translation(Vector::new(3.0, 4.0, 0.0));
        let hook = self.world.physics.insert_body(hook);
        self.plain_bodies.push(hook);
        let chandelier = self.world.add(plate.at(Pose::translation(3.0, 3.0, 0.0)));
        let piece = self.world.first_piece(chandelier).ok_or("the chandelier hangs")?;
        let body = self.world.body_handle(piece).ok_or("it has a body")?;
        let chain = SphericalJointBuilder::new().local_anchor2(Vector::Y * 1.0);
        self.world.physics.insert_impulse_joint(hook, body, chain);
        Ok(())
    }

    /// A step of the game.
    fn step(&mut self) -> Result<(), Box<dyn Error>> {
        let step = self.world.steps();
        let time = step as f32 / 120.0;
        // Up and down, at most 2 m/s.
        let height = 1.0 + 2.0 * (1.0 - time.cos());
        let lift = &mut self.world.physics.bodies[self.lift];
        lift.set_next_kinematic_translation(Vector::new(15.0, height, 0.0));
        if step.is_multiple_of(120) {
            let ball = RigidBodyBuilder::dynamic()
                .translation(Vector::new(0.1 * (step / 120) as f32, 0.3, 4.0))
                .linvel(Vector::new(0.0, 1.0, -14.0))
                .ccd_enabled(true);
            let shape = ColliderBuilder::ball(0.09).density(3000.0);
            self.plain_bodies.push(self.world.physics.insert(ball, shape).0);
        }
        if step == 720 / 2 {
            self.world.explode(Vector::new(0.0, 0.2, 0.3), 2.5, 1500.0, Falloff::Linear)?;
        }
        self.world.step();
        self.listen()
    }

    /// What a renderer and a mixer do with the events of a step.
    fn listen(&mut self) -> Result<(), Box<dyn Error>> {
        for event in self.world.take_events() {
            match event {
                Event::Born(piece) => {
                    let surface = self.world.surface(piece).ok_or("a born piece is there")?;
                    let before = self.drawn.insert(piece, surface.triangles().len());
                    assert!(before.is_none(), "{piece:?} is born twice");
                }
                Event::Broke { piece, .. } => {
                    assert!(self.drawn.remove(&piece).is_some(), "{piece:?} was not there");
                    self.counts.breaks += 1;
                }
                Event::Removed(piece) | Event::Lost(piece) => {
                    assert!(self.drawn.remove(&piece).is_some(), "{piece:?} was not there");
                    self.counts.removed += 1;
                }
                Event::Contact(contact) => {
                    self.counts.sounds += 1;
                    self.counts.loudest = self.counts.loudest.max(contact.impulse);
                }
                Event::JointMoved { .. } => self.counts.joints_moved += 1,
                Event::JointBroken { .. } => self.counts.joints_broken += 1,
                Event::Dust { .. } => self.counts.dust += 1,
                _ => (),
            }
        }
        assert!(self.world.pieces().eq(self.drawn.keys().copied()), "the renderer shows what is there");
        let is_fragment = |p: &PieceId| p.fragment != FragmentId(0);
        let fragments = self.drawn.keys().filter(|p| is_fragment(p)).count();
        self.counts.most_fragments = self.counts.most_fragments.max(fragments);
        Ok(())
    }

    /// What must be true at the end, whatever broke.
    fn check(&self) {
        for &body in &self.plain_bodies {
            assert!(self.world.physics.bodies.contains(body), "the game's body {body:?} is gone");
        }
        let place = |body: RigidBodyHandle| self.world.physics.bodies[body].translation();
        let above = place(self.rider).y - place(self.lift).y;
        assert!((0.7..1.0).contains(&above), "the rider is {above} m above the lift");
        assert!(place(self.door).is_finite());
        let parameters = &self.world.physics.integration_parameters;
        assert_eq!((parameters.dt, parameters.num_solver_iterations), (1.0 / 120.0, 6));
        assert!(self.counts.most_fragments <= 200, "{:?}", self.counts);
        assert_eq!(self.world.bodies_lost(), 0);
        assert!(self.world.physics.colliders.contains(self.goal));
    }
}

/// The box of a body in its own frame.
fn extent(breakable: &Breakable) -> (Vector, Vector) {
    breakable.blueprint.mesh().bounds()
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut game = Game::new()?;
    for warning in game.world.warnings() {
        println!("note: {warning}");
    }
    if let [load, file] = words.as_slice()
        && load == "--load"
    {
        return go_on(&mut game, file);
    }
    game.furnish()?;
    let save = std::env::temp_dir().join(format!("fracas-game-{}.save", std::process::id()));
    let mut times = Vec::new();
    for step in 0..STEPS {
        let start = Instant::now();
        game.step()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        if step == SAVE_AT {
            std::fs::write(&save, game.world.snapshot()?)?;
        }
    }
    game.check();
    assert!(game.counts.breaks > 5 && game.counts.sounds > 10, "{:?}", game.counts);
    let digest = game.world.digest();
    println!("{:#?}", game.counts);
    println!("{} pieces at the end, digest {digest:016x}", game.world.pieces().count());
    let worst = times.iter().copied().fold(0.0, f64::max);
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    println!("step: median {median:.2} ms, worst {worst:.2} ms, {:.1} medians", worst / median);
    // In a new process, as after a restart.
    let again = std::process::Command::new(std::env::current_exe()?)
        .args(["--load".as_ref(), save.as_os_str()])
        .output()?;
    let told = String::from_utf8_lossy(&again.stdout).into_owned();
    let problems = String::from_utf8_lossy(&again.stderr).into_owned();
    std::fs::remove_file(&save)?;
    assert!(again.status.success(), "{told}{problems}");
    assert!(told.contains(&format!("{digest:016x}")), "the save goes on differently: {told}");
    println!("the save went on in a new process, to the same bits");
    Ok(())
}

/// Goes on from a save.
fn go_on(game: &mut Game, file: &str) -> Result<(), Box<dyn Error>> {
    // The world is told the kinds of things that may be in a save.
    for kind in Game::kinds()? {
        game.world.stock(&kind);
    }
    game.world.restore(&std::fs::read(file)?)?;
    let pieces: Vec<PieceId> = game.world.pieces().collect();
    for piece in pieces {
        let triangles = game.world.surface(piece).map_or(0, |s| s.triangles().len());
        game.drawn.insert(piece, triangles);
    }
    while game.world.steps() < STEPS {
        game.step()?;
    }
    println!("digest {:016x}", game.world.digest());
    Ok(())
}
