//! Limits on debris hold at the end of every step, and in the work of a step: what is cut and
//! inserted is counted, not timed.

mod common;

use common::{blueprint, brick, fragile, shatter};
use fracas_core::FragmentId;
use fracas_rapier::{Breakable, DebrisPolicy, Event, PieceId, World, WorldSettings};
use glam::Vec3;
use parry3d::math::Pose;
use parry3d::shape::SharedShape;
use rapier3d::prelude::{ColliderBuilder, Group, InteractionGroups, InteractionTestMode};

fn fragments(world: &World) -> Vec<PieceId> {
    world
        .pieces()
        .filter(|p| p.fragment != FragmentId(0))
        .collect()
}

/// A wall of 128 bricks that an explosion throws back, away from its middle, at a hard wall
/// close behind: all are hit at once.
fn explosion(debris: DebrisPolicy) -> World {
    let mut world = World::new(WorldSettings {
        debris,
        most_breaks_per_step: 1000,
        ..WorldSettings::default()
    });
    world.add_floor(0.0, 0.6);
    let behind = ColliderBuilder::new(SharedShape::halfspace(-Vec3::Z)).translation(Vec3::Z * 0.1);
    world.physics.insert_collider(behind, None);
    let brick = brick();
    for row in 0..8 {
        for column in 0..16 {
            let shift = if row % 2 == 0 { 0.0 } else { 0.108 };
            let (x, y) = (
                0.22 * column as f32 + shift - 1.8,
                0.034 + 0.067 * row as f32,
            );
            let options = Breakable::new(brick.clone()).with_breaker(fragile(8));
            let out = 0.5 * Vec3::new(x, y, 0.0);
            let thrown = options.moving(out + 9.0 * Vec3::Z);
            world.add(thrown.at(Pose::translation(x, y, 0.0)));
        }
    }
    world.take_events();
    world
}

/// Most bodies that broke, and that were born, in one step; most fragments after one.
fn work(world: &mut World, steps: u32) -> [usize; 3] {
    let mut most = [0; 3];
    let mut slowest = [0.0_f64; 60];
    for step in 0..steps {
        let start = std::time::Instant::now();
        world.step();
        slowest[step as usize % 60] = start.elapsed().as_secs_f64() * 1e3;
        let (mut broke, mut born) = (0, 0);
        for event in world.take_events() {
            broke += usize::from(matches!(event, Event::Broke { .. }));
            born += usize::from(matches!(event, Event::Born(_)));
        }
        let now = [broke, born, fragments(world).len()];
        for (most, now) in most.iter_mut().zip(now) {
            *most = now.max(*most);
        }
    }
    slowest.sort_by(f64::total_cmp);
    println!(
        "{most:?}; median {:.1} ms, worst {:.1} ms",
        slowest[30], slowest[59]
    );
    most
}

#[test]
fn explosion_never_exceeds_the_limits() {
    let free = work(&mut explosion(DebrisPolicy::default()), 60);
    assert!(
        free[0] > 100 && free[2] > 400,
        "it is an explosion: {free:?}"
    );
    let [broke, born, most] = work(
        &mut explosion(DebrisPolicy {
            max_fragments: Some(200),
            ..DebrisPolicy::default()
        }),
        60,
    );
    assert!(most <= 200 && most > 150, "{most}");
    assert!(born <= 50 && broke <= 25, "{born} born, {broke} broke");
}

#[test]
fn breaks_beyond_the_step_limit_follow_later() {
    let mut world = explosion(DebrisPolicy {
        max_new_per_step: Some(30),
        ..DebrisPolicy::default()
    });
    let [_, born, most] = work(&mut world, 60);
    assert!(born <= 30, "{born}");
    assert!(most > 300, "{most}");
}

#[test]
fn body_without_room_stays_whole_and_smaller_debris_makes_room() {
    let mut world = World::new(WorldSettings {
        debris: DebrisPolicy {
            max_fragments: Some(6),
            ..DebrisPolicy::default()
        },
        ..WorldSettings::default()
    });
    let block = blueprint([8, 6, 6], Vec3::new(0.3, 0.2, 0.2));
    for x in 0..3 {
        world.add(Breakable::new(block.clone()).at(Pose::translation(x as f32, 0.0, 0.0)));
    }
    let whole: Vec<PieceId> = world.pieces().collect();
    // Cut short: five cracks would make more.
    let first = shatter(&mut world, whole[0], 12);
    assert!(first.len() > 1 && fragments(&world).len() <= 6);
    // The fragments of the first are as large as those of the second: it finds little room.
    shatter(&mut world, whole[1], 12);
    assert!(fragments(&world).len() <= 6);
    // Their volume is what the policy weighs.
    let volume = |world: &World, p: PieceId| world.shape(p).unwrap().volume();
    let left: f64 = fragments(&world).iter().map(|&p| volume(&world, p)).sum();
    assert!(left > 0.5 * volume(&world, whole[2]), "{left}");
    // A small fragment finds none: nothing is smaller than its pieces.
    let by_size = |a: &PieceId, b: &PieceId| volume(&world, *a).total_cmp(&volume(&world, *b));
    let smallest = fragments(&world).into_iter().min_by(by_size).unwrap();
    let before = fragments(&world);
    let state = world.shape(smallest).unwrap().object().clone();
    let fracture = fracas_fracture::patterns::voronoi(
        state.read().fragments(),
        smallest.fragment,
        &Default::default(),
    );
    if before.len() == 6
        && let Some(fracture) = fracture
    {
        let children = world.break_piece(smallest, fracture);
        assert!(fragments(&world).len() <= 6, "{children:?}");
    }
}

#[test]
fn dust_takes_the_place_of_tiny_fragments() {
    let mut world = World::new(WorldSettings {
        debris: DebrisPolicy {
            min_volume: 5e-4,
            ..DebrisPolicy::default()
        },
        ..WorldSettings::default()
    });
    world.add(Breakable::new(blueprint(
        [8, 6, 6],
        Vec3::new(0.3, 0.2, 0.2),
    )));
    let whole = world.pieces().next().unwrap();
    let volume = world.shape(whole).unwrap().volume();
    world.body_mut(whole).unwrap().set_linvel(Vec3::X, true);
    world.take_events();
    let children = shatter(&mut world, whole, 20);
    let left: f64 = children
        .iter()
        .map(|&p| world.shape(p).unwrap().volume())
        .sum();
    let mut dust = 0.0;
    for event in world.take_events() {
        if let Event::Dust {
            parent,
            point,
            velocity,
            volume,
        } = event
        {
            assert_eq!((parent, velocity), (whole, Vec3::X));
            assert!(volume < 5e-4 && point.abs().max_element() < 0.2);
            dust += f64::from(volume);
        }
    }
    assert!(
        dust > 0.0
            && children
                .iter()
                .all(|&p| world.shape(p).unwrap().volume() >= 5e-4)
    );
    assert!((dust + left - volume).abs() < 1e-5 * volume);
    assert_eq!(world.physics.bodies.len(), children.len());
}

#[test]
fn small_debris_stops_breaking_by_default() {
    let broken = |min_breaking_share: f32| {
        let mut world = World::new(WorldSettings {
            debris: DebrisPolicy {
                min_breaking_share,
                ..DebrisPolicy::default()
            },
            ..WorldSettings::default()
        });
        let block = blueprint([16, 12, 12], Vec3::new(0.3, 0.2, 0.2));
        world.add(Breakable::new(block).with_breaker(fragile(40)));
        let whole = world.pieces().next().unwrap();
        let all = world.shape(whole).unwrap().volume();
        shatter(&mut world, whole, 60);
        // All pieces are thrown against a floor, hard enough to break each of them.
        world.add_floor(-1.0, 0.6);
        for piece in fragments(&world) {
            world
                .body_mut(piece)
                .unwrap()
                .set_linvel(Vec3::Y * -12.0, true);
        }
        let mut parents = std::collections::BTreeMap::new();
        for piece in fragments(&world) {
            parents.insert(piece, world.shape(piece).unwrap().volume() / all);
        }
        world.take_events();
        let mut smallest = 1.0_f64;
        for _ in 0..40 {
            world.step();
            for event in world.take_events() {
                if let Event::Broke { piece, .. } = event {
                    smallest = smallest.min(parents[&piece]);
                }
                if let Event::Born(piece) = event {
                    parents.insert(piece, world.shape(piece).unwrap().volume() / all);
                }
            }
        }
        smallest
    };
    let (free, limited) = (
        broken(0.0),
        broken(DebrisPolicy::default().min_breaking_share),
    );
    println!("smallest share that broke: {free} without, {limited} with the limit");
    assert!(free < 0.02 && limited >= 0.02);
}

#[test]
fn debris_has_groups_fades_and_goes() {
    let groups = InteractionGroups::new(
        Group::GROUP_4,
        Group::GROUP_1,
        InteractionTestMode::default(),
    );
    let mut world = World::new(WorldSettings {
        debris: DebrisPolicy {
            groups: Some(groups),
            lifetime_steps: Some(10),
            fade_steps: 5,
            ..DebrisPolicy::default()
        },
        gravity: Vec3::ZERO,
        ..WorldSettings::default()
    });
    world.add(Breakable::new(brick()));
    let whole = world.pieces().next().unwrap();
    let children = shatter(&mut world, whole, 4);
    for &child in &children {
        let collider = world.collider(child).unwrap();
        assert_eq!(world.physics.colliders[collider].collision_groups(), groups);
    }
    world.take_events();
    let (mut fading, mut removed) = (Vec::new(), Vec::new());
    let mut saved = None;
    for step in 0..20 {
        world.step();
        for event in world.take_events() {
            match event {
                Event::Fading { piece, steps } => fading.push((step, piece, steps)),
                Event::Removed(piece) => removed.push((step, piece)),
                _ => {}
            }
        }
        if step == 12 {
            saved = Some(world.snapshot().unwrap());
        }
    }
    let expected: Vec<_> = children.iter().map(|&c| (10, c, 5)).collect();
    assert_eq!(fading, expected);
    let expected: Vec<_> = children.iter().map(|&c| (15, c)).collect();
    assert_eq!(removed, expected);
    // A snapshot remembers what fades.
    world.restore(&saved.unwrap()).unwrap();
    for left in [children.len(), children.len(), 0] {
        world.step();
        assert_eq!(world.pieces().count(), left);
    }
}

#[test]
fn debris_freezes_and_moves_again_when_its_support_goes() {
    let mut world = World::new(WorldSettings {
        debris: DebrisPolicy {
            freeze_steps: Some(60),
            ..DebrisPolicy::default()
        },
        ..WorldSettings::default()
    });
    world.add_floor(0.0, 0.6);
    // Two halves, one on the other.
    let block = blueprint([6, 6, 6], Vec3::splat(0.2));
    world.add(Breakable::new(block).at(Pose::translation(0.0, 0.1, 0.0)));
    let whole = world.pieces().next().unwrap();
    let fracture = {
        let state = world.shape(whole).unwrap().object().read();
        let mesh = state.fragments().mesh();
        let nodes = state.fragments().fragment(whole.fragment).nodes();
        let level = |n: u32| mesh.positions()[n as usize].y - 0.01;
        fracas_core::Fracture {
            fragment: whole.fragment,
            cracks: vec![fracas_core::Crack::from_level(mesh, 0, nodes, level).unwrap()],
        }
    };
    let halves = world.break_piece(whole, fracture);
    for _ in 0..200 {
        world.step();
    }
    assert!(halves.iter().all(|&p| world.body(p).unwrap().is_fixed()));
    let height = |world: &World, p: PieceId| world.body(p).unwrap().center_of_mass().y;
    let low = |a: &PieceId, b: &PieceId| height(&world, *a).total_cmp(&height(&world, *b));
    let lower = halves.iter().copied().min_by(low).unwrap();
    let upper = halves.iter().copied().find(|&p| p != lower).unwrap();
    let before = height(&world, upper);
    world.remove_piece(lower);
    for _ in 0..60 {
        world.step();
    }
    assert!(height(&world, upper) < before - 0.05, "it fell");
}

#[test]
fn distant_debris_goes_first() {
    let mut world = World::new(WorldSettings {
        debris: DebrisPolicy {
            lifetime_steps: Some(40),
            detail_distance: Some(2.0),
            ..DebrisPolicy::default()
        },
        gravity: Vec3::ZERO,
        ..WorldSettings::default()
    });
    world.set_focus(Some(Vec3::ZERO));
    let block = blueprint([4, 4, 4], Vec3::splat(0.2));
    for x in [0.0, 8.0] {
        world.add(Breakable::new(block.clone()).at(Pose::translation(x, 0.0, 0.0)));
    }
    for piece in world.pieces().collect::<Vec<_>>() {
        shatter(&mut world, piece, 3);
    }
    for _ in 0..25 {
        world.step();
    }
    let objects: Vec<u32> = world.pieces().map(|p| p.object.0).collect();
    assert!(
        !objects.is_empty() && objects.iter().all(|&o| o == 0),
        "{objects:?}"
    );
}

#[test]
fn callback_changes_fragments() {
    let mut world = World::new(WorldSettings::default());
    world.on_fragment(|fragment| {
        fragment.body.user_data = u128::from(fragment.piece.fragment.0);
        if fragment.volume_share < 0.3 {
            fragment.collider.set_sensor(true);
        }
    });
    world.add(Breakable::new(brick()));
    let whole = world.pieces().next().unwrap();
    let volume = world.shape(whole).unwrap().volume();
    let saved = world.snapshot().unwrap();
    for again in [false, true] {
        if again {
            world.restore(&saved).unwrap();
        }
        let children = shatter(&mut world, whole, 5);
        for &child in &children {
            assert_eq!(
                world.body(child).unwrap().user_data,
                u128::from(child.fragment.0)
            );
            let share = world.shape(child).unwrap().volume() / volume;
            let collider = world.collider(child).unwrap();
            assert_eq!(world.physics.colliders[collider].is_sensor(), share < 0.3);
        }
    }
}
