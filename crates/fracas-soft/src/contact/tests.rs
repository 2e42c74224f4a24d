//! Contact against the energy and momentum that it may not make.

use fracas_geometry::testing::Rng;
use glam::{DVec3, Mat3};

use super::*;
use crate::SoftWorld;
use crate::body::{Material, SoftBody};
use crate::contact_set::ContactSet;
use crate::shapes::cuboid;

const DT: f32 = 1.0 / 60.0;

fn cube(cells: u32, size: f32, material: Material) -> SoftBody {
    let mesh = cuboid([cells; 3], Vec3::splat(size)).unwrap();
    SoftBody::build(&mesh, material).unwrap()
}

fn kinetic(bodies: &[SoftBody]) -> f64 {
    let of = |b: &SoftBody| -> f64 {
        let nodes = b.velocities.iter().zip(&b.inverse_masses);
        let moving = nodes.filter(|(_, w)| **w > 0.0);
        moving
            .map(|(v, w)| 0.5 * v.as_dvec3().length_squared() / f64::from(*w))
            .sum()
    };
    bodies.iter().map(of).sum()
}

/// Two cubes of 0.2 m, one `away` from the other.
fn two_cubes(away: Vec3) -> SoftWorld {
    let body = cube(3, 0.2, Material::default());
    let mut world = SoftWorld::new();
    world.gravity = Vec3::ZERO;
    world.stiffness = 1e8;
    world.add(body.clone());
    world.add(body.placed(Mat3::from_rotation_y(0.3), away));
    world
}

#[test]
fn no_push_adds_energy_and_all_keep_momentum() {
    let mut rng = Rng(3);
    let (mut pushes, mut taken) = (0, 0);
    for _ in 0..20 {
        let mut world = two_cubes(Vec3::new(0.02, 0.15, -0.03));
        world.step(1e-6);
        let mut bodies = world.bodies().to_vec();
        for body in &mut bodies {
            for v in &mut body.velocities {
                *v = 3.0 * rng.direction() * rng.unit();
            }
        }
        let contact = Contact {
            h: 1.0 / 480.0,
            stiffness: 10.0_f32.powf(rng.range(2.0, 9.0)),
            friction: rng.range(0.0, 2.0),
        };
        let momentum = |bodies: &[SoftBody]| bodies.iter().map(SoftBody::momentum).sum::<DVec3>();
        let all = momentum(&bodies);
        for push in world.pushes() {
            let before = kinetic(&bodies);
            let mut set = ContactSet::default();
            set.gather(std::slice::from_ref(push), &bodies, None, false);
            set.apply(contact, &mut bodies, None, false);
            let after = kinetic(&bodies);
            assert!(after <= before * (1.0 + 1e-6), "{before} J, then {after}");
            taken += usize::from(after < before * (1.0 - 1e-6));
            pushes += 1;
        }
        assert!(momentum(&bodies).distance(all) < 1e-4 * 16.0);
    }
    assert!(taken * 10 > pushes && pushes > 1000, "{taken} of {pushes}");
}

/// What overlaps without having come there has done no work: as much energy as contact can
/// put in is that of parting at [`FASTEST`].
#[test]
fn what_overlaps_from_the_start_parts_no_faster_than_it_is_moved() {
    for depth in [0.02, 0.05, 0.08] {
        let mut world = two_cubes(Vec3::new(0.01, 0.2 - depth, 0.02));
        // Both cubes, whatever part of them: 8 kg each.
        let bound = 0.5 * 16.0 * f64::from(FASTEST * FASTEST);
        let mut most = 0.0_f64;
        for _ in 0..60 {
            world.step(DT);
            most = most.max(kinetic(world.bodies()));
        }
        assert!(most < bound, "{most} J of {bound}, {depth} m deep at first");
        let deep = |p: &Push| p.depth > 0.03;
        assert!(
            !world.pushes().iter().any(deep),
            "they are still overlapping"
        );
    }
}

/// A pile of contacts with random speeds, and what they are pushed by.
fn moving_bodies(seed: u64) -> (Vec<SoftBody>, Vec<Push>) {
    let mut rng = Rng(seed);
    let body = cube(4, 0.2, Material::default());
    let mut world = SoftWorld::new();
    world.add(cube(2, 0.5, Material::default()).fixed());
    for i in 0..6 {
        let away = 0.12 * Vec3::new(i as f32 - 2.5, 2.0 + 0.5 * rng.unit(), rng.unit());
        world.add(body.clone().placed(Mat3::from_rotation_y(rng.unit()), away));
    }
    world.step(1e-6);
    let mut bodies = world.bodies().to_vec();
    for body in bodies.iter_mut().filter(|b| !b.is_fixed()) {
        for v in &mut body.velocities {
            *v = 3.0 * rng.direction() * rng.unit();
        }
    }
    (bodies, world.pushes().to_vec())
}

const CONTACT: Contact = Contact {
    h: 1.0 / 480.0,
    stiffness: 1e7,
    friction: 0.3,
};

fn bits(bodies: &[SoftBody]) -> Vec<[u32; 6]> {
    let nodes = |b: &SoftBody| {
        let nodes = b.positions.iter().zip(&b.velocities);
        let bits = nodes.map(|(p, v)| [p.x, p.y, p.z, v.x, v.y, v.z].map(f32::to_bits));
        bits.collect::<Vec<_>>()
    };
    bodies.iter().flat_map(nodes).collect()
}

#[test]
fn halves_give_the_same_bits_on_any_threads() {
    for seed in 0..3 {
        let (bodies, pushes) = moving_bodies(seed);
        // So many that several tasks make links of them.
        let pushes = pushes.repeat(6);
        assert!(pushes.len() > 3000, "{} pushes", pushes.len());
        let apply = |parallel| {
            let (mut bodies, mut set) = (bodies.clone(), ContactSet::default());
            set.gather(&pushes, &bodies, None, parallel);
            let halves = set.counts();
            let few = halves[0].min(halves[1]) / 4;
            assert!(few > 0 && halves[2] < 3 * few, "{halves:?}");
            for _ in 0..4 {
                set.apply(CONTACT, &mut bodies, None, parallel);
            }
            bits(&bodies)
        };
        let alone = apply(false);
        assert_ne!(alone, bits(&bodies));
        #[cfg(feature = "parallel")]
        for threads in [1, 2, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            assert!(pool.install(|| apply(true)) == alone, "{threads} threads");
        }
    }
}

/// In every other substep links of the first half come in the other order, those of the second in
/// the same.
#[test]
fn the_order_of_links_turns_in_the_first_half() {
    for seed in 0..3 {
        let (bodies, pushes) = moving_bodies(seed);
        // The same, after some substeps of others.
        let apply = |substeps: usize| {
            let mut set = ContactSet::default();
            set.gather(&pushes, &bodies, None, false);
            for _ in 0..substeps {
                set.apply(CONTACT, &mut bodies.clone(), None, false);
            }
            let mut bodies = bodies.clone();
            set.apply(CONTACT, &mut bodies, None, false);
            bodies
        };
        let (one, other, again) = (apply(0), apply(1), apply(2));
        assert!(bits(&one) == bits(&again));
        // The first of the row and the last are in different halves.
        let turned = [1, 6].map(|body: usize| {
            let of = |bodies: &[SoftBody]| bits(&bodies[body..=body]);
            assert!(of(&one) != of(&bodies), "body {body} is not pushed");
            of(&one) != of(&other)
        });
        assert!(turned[0] != turned[1], "seed {seed}: {turned:?}");
    }
}

/// Both pushes of a segment at once are one after the other.
#[test]
fn two_ends_at_once_are_one_after_the_other() {
    let (bodies, pushes) = moving_bodies(5);
    let mut segments = 0;
    for two in pushes
        .windows(2)
        .filter(|two| are_of_a_segment(&two[0], &two[1]))
    {
        let apply = |parts: &[&[Push]]| {
            let (mut bodies, start) = (bodies.clone(), &bodies);
            for pushes in parts {
                let mut set = ContactSet::default();
                set.gather(pushes, &bodies, None, false);
                // From where they are, as if at once: only velocities are compared.
                for (body, start) in bodies.iter_mut().zip(start) {
                    body.positions.clone_from(&start.positions);
                }
                set.apply(CONTACT, &mut bodies, None, false);
            }
            bodies
        };
        let (once, twice) = (apply(&[two]), apply(&[&two[..1], &two[1..]]));
        for (a, b) in once.iter().zip(&twice) {
            for (v, w) in a.velocities.iter().zip(&b.velocities) {
                assert!(v.distance(*w) < 1e-4, "{v} {w}");
            }
        }
        segments += 1;
        if segments == 60 {
            break;
        }
    }
    assert_eq!(segments, 60);
}

/// A row of four does what four rows of one do, to the bit.
#[test]
fn four_links_side_by_side_are_four_one_by_one() {
    let mut rng = Rng(21);
    let still = 24;
    for _ in 0..300 {
        let mut nodes = vec![Node::default(); 25];
        for node in &mut nodes[..24] {
            node.velocity = (3.0 * rng.direction()).extend(rng.range(0.1, 5.0));
            node.way = (0.02 * rng.direction()).extend(0.0);
        }
        let links = [0, 6, 12, 18].map(|first: u32| {
            let mut end = || {
                let weights = [-0.1, -0.2, -0.3, -0.4, rng.unit(), 0.5];
                End {
                    weights,
                    depth: rng.range(-0.01, 0.05),
                    measure: rng.range(0.0, 1e-3),
                    slope: rng.range(0.0, 0.1),
                    give: weights.iter().map(|w| w * w).sum(),
                }
            };
            Link {
                nodes: [0, 1, 2, 3, 4, 5].map(|k| first + k),
                ends: [end(), end()],
                normal: rng.direction(),
                between: 0.3,
            }
        });
        let mut other = nodes.clone();
        CONTACT.push(
            &LinkRow::of(links.each_ref().map(|link| Some((link, link.nodes))), still),
            &mut nodes,
        );
        for link in &links {
            let row = LinkRow::of([Some((link, link.nodes)), None, None, None], still);
            CONTACT.push(&row, &mut other);
        }
        for (a, b) in nodes.iter().zip(&other) {
            let bits =
                |n: &Node| [n.velocity, n.shift].map(|v| v.truncate().to_array().map(f32::to_bits));
            assert_eq!(bits(a), bits(b));
        }
    }
}
