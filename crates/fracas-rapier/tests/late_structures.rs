//! What is made when somebody asks is the same, bit for bit, whenever that is: surfaces,
//! sphere trees and occupied cells of fragments that were just born.

mod common;

use std::collections::BTreeMap;

use common::{blueprint, brick, fragile, shatter, world};
use fracas_core::sphere_tree::SplitMethod;
use fracas_core::testing::Rng;
use fracas_core::{Crack, Digest, Fracture, FragmentId};
use fracas_rapier::{Breakable, FragmentShape, World, WorldSettings};
use fracas_rapier::{SharedObject, Trees};
use glam::Vec3;
use parry3d::math::Pose;
use parry3d::shape::Shape as _;

/// A digest of words.
#[derive(Default)]
struct Bits(Digest);

impl Bits {
    fn add(&mut self, bits: u32) {
        self.0.add(bits);
    }

    fn point(&mut self, p: Vec3) {
        p.to_array().into_iter().for_each(|x| self.add(x.to_bits()));
    }
}

/// All bits of a fragment's tree.
fn tree_bits(shape: &FragmentShape) -> u64 {
    let (tree, mut bits) = (shape.tree(), Bits::default());
    for (centre, radius, level) in tree.spheres() {
        bits.point(centre);
        bits.add(radius.to_bits());
        bits.add(level.into());
    }
    for i in 0..tree.point_count() as u32 {
        bits.point(tree.positions()[i as usize]);
        bits.add(tree.point_id(i));
        let feature = tree.feature(i);
        bits.point(feature.normal);
        feature.tangents().iter().for_each(|t| bits.point(*t));
    }
    bits.0.value()
}

/// All bits of a fragment's surface.
fn surface_bits(shape: &FragmentShape) -> u64 {
    let (surface, mut bits) = (shape.surface(), Bits::default());
    surface.positions().iter().for_each(|p| bits.point(*p));
    surface
        .triangles()
        .iter()
        .flatten()
        .for_each(|v| bits.add(*v));
    bits.0.value()
}

/// What is known at once.
fn birth_bits(shape: &FragmentShape) -> u64 {
    let mut bits = Bits::default();
    let aabb = shape.compute_local_aabb();
    bits.point(aabb.mins);
    bits.point(aabb.maxs);
    for x in [shape.reach(), shape.inner_radius(), shape.volume() as f32] {
        bits.add(x.to_bits());
    }
    let mass = shape.mass_properties(1000.0);
    bits.point(mass.local_com);
    bits.0.value()
}

/// Which spheres the cells that a fragment occupies let pass.
fn cell_bits(object: &SharedObject, id: FragmentId) -> u64 {
    let state = object.read();
    let view = state.field().of(state.fragments(), id);
    let (low, high) = view.bounds();
    let mut rng = Rng(u64::from(id.0));
    let margin = 0.1 * (high - low);
    let mut bits = Bits::default();
    for k in 0..200 {
        let p = rng.in_box(low - margin, high + margin);
        let radius = [0.0, 0.003, 0.03][k % 3];
        bits.add(view.sphere_may_touch(p, radius).into());
    }
    bits.0.value()
}

/// All bits of the distance field that a fragment sees.
fn field_bits(object: &SharedObject, id: FragmentId, rng: &mut Rng) -> u64 {
    let state = object.read();
    let mut bits = Bits::default();
    for &n in state.fragments().fragment(id).nodes() {
        let (distance, normal) = state.field().at_node(n);
        bits.add(distance.to_bits());
        bits.point(normal);
    }
    let view = state.field().of(state.fragments(), id);
    let (low, high) = view.bounds();
    for _ in 0..20 {
        let p = rng.in_box(low, high);
        let found = view.signed_distance(p, (high - low).max_element());
        bits.add(found.map_or(7, |s| s.distance.to_bits()));
    }
    bits.0.value()
}

fn random_fracture(object: &SharedObject, fragment: FragmentId, rng: &mut Rng) -> Option<Fracture> {
    let state = object.read();
    let fragments = state.fragments();
    let (mesh, nodes) = (fragments.mesh(), fragments.fragment(fragment).nodes());
    let mut parts = vec![nodes.to_vec()];
    let mut cracks = Vec::new();
    for _ in 0..1 + rng.below(3) {
        let part = rng.below(parts.len());
        let own = parts[part].clone();
        if own.len() < 4 {
            continue;
        }
        let middle = mesh.positions()[own[rng.below(own.len())] as usize];
        let (direction, rough) = (rng.direction(), rng.range(0.0, 0.02));
        let crack = Crack::from_level(mesh, part as u32, &own, |n| {
            direction.dot(mesh.positions()[n as usize] - middle) + rng.range(-rough, rough)
        });
        let Some(crack) = crack else { continue };
        let side = |positive: bool| {
            let own = crack.levels.iter().filter(|l| (l.1 > 0.0) == positive);
            own.map(|l| l.0).collect::<Vec<_>>()
        };
        parts[part] = side(false);
        parts.push(side(true));
        cracks.push(crack);
    }
    (!cracks.is_empty()).then_some(Fracture { fragment, cracks })
}

/// What a run of fractures comes to, by fragment: everything that can be asked for.
type Found = BTreeMap<u32, [u64; 5]>;

/// Breaks an object three times; `trees` says when trees are made, `asks` whether
/// something is asked for at this moment: tree 0, surface 1, cells 2.
fn break_thrice(seed: u64, trees: Trees, asks: &mut dyn FnMut(usize) -> bool) -> Found {
    let kind = blueprint([5, 4, 3], Vec3::new(0.25, 0.2, 0.15));
    let (object, whole) = kind.object();
    let mut living = vec![whole];
    let mut found = Found::new();
    let mut rng = Rng(seed);
    for _ in 0..3 {
        let at = rng.below(living.len());
        let shape = living.remove(at);
        let Some(fracture) = random_fracture(&object, shape.id(), &mut rng) else {
            living.push(shape);
            continue;
        };
        let broken = object
            .break_apart(&shape, &fracture, trees, &|| 0.0)
            .unwrap();
        for shape in &broken.shapes {
            let bits = found.entry(shape.id().0).or_default();
            bits[0] = birth_bits(shape);
            bits[1] = field_bits(&object, shape.id(), &mut Rng(seed));
        }
        living.extend(broken.shapes);
        // Some are asked for now, from the last to the first or the other way round.
        let backwards = asks(0);
        for k in 0..living.len() {
            let shape = &living[if backwards { living.len() - 1 - k } else { k }];
            let bits = found.entry(shape.id().0).or_default();
            if asks(0) {
                bits[2] = tree_bits(shape);
            }
            if asks(1) {
                bits[3] = surface_bits(shape);
            }
            if asks(2) {
                bits[4] = cell_bits(&object, shape.id());
            }
        }
    }
    for shape in &living {
        let bits = found.entry(shape.id().0).or_default();
        // What a query computes may change by a rounding when a neighbour breaks (a crack
        // polygon then bounds several): the field is compared at birth.
        let again = [
            birth_bits(shape),
            bits[1],
            tree_bits(shape),
            surface_bits(shape),
            cell_bits(&object, shape.id()),
        ];
        let what = ["birth", "field", "tree", "surface", "cells"];
        for ((before, now), what) in bits.iter_mut().zip(again).zip(what) {
            assert!(
                *before == 0 || *before == now,
                "seed {seed}: its {what} changed"
            );
            *before = now;
        }
    }
    // Of those that broke meanwhile some were never asked for.
    found.retain(|id, _| living.iter().any(|s| s.id().0 == *id));
    found
}

#[test]
fn asked_now_or_made_later_the_bits_are_the_same() {
    let mut fragments = 0;
    for seed in 0..200 {
        let way = SplitMethod::default();
        let at_once = break_thrice(seed, Trees::AtOnce(way), &mut |_| true);
        fragments += at_once.len();
        let mut chance = Rng(seed ^ 0xA5);
        let mixed = break_thrice(seed, Trees::WhenAsked(way), &mut |_| chance.below(2) == 0);
        let last = break_thrice(seed, Trees::WhenAsked(way), &mut |_| false);
        let first = break_thrice(seed, Trees::WhenAsked(way), &mut |_| true);
        assert_eq!(at_once, mixed, "seed {seed}");
        assert_eq!(at_once, last, "seed {seed}");
        assert_eq!(at_once, first, "seed {seed}");
    }
    assert!(fragments > 800, "{fragments}");
}

#[test]
fn the_naive_way_is_the_same_too() {
    let way = SplitMethod::Naive;
    for seed in 0..20 {
        let at_once = break_thrice(seed, Trees::AtOnce(way), &mut |_| true);
        let late = break_thrice(seed, Trees::WhenAsked(way), &mut |_| false);
        assert_eq!(at_once, late, "seed {seed}");
    }
}

#[test]
fn asking_early_changes_no_run() {
    let run = |early: bool| {
        let mut world = world(1.0 / 60.0);
        let options = Breakable::new(brick()).with_breaker(fragile(8));
        for i in 0..3 {
            let at = Pose::translation(0.03 * i as f32, 0.3 + 0.25 * i as f32, 0.0);
            world.add(options.clone().at(at));
        }
        let mut later = 0.0;
        for _ in 0..60 {
            world.step();
            later += world.stats().times.breaking.later;
            if early {
                for piece in world.pieces() {
                    let shape = world.shape(piece).unwrap();
                    let _ = (shape.tree(), shape.surface());
                }
            }
        }
        assert!(world.pieces().count() > 8, "something breaks");
        assert!(later > 0.0, "work was handed on");
        world.digest()
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn a_snapshot_right_after_a_break_goes_on_as_the_world_does() {
    let settings = WorldSettings::default();
    let options = Breakable::new(brick()).with_breaker(fragile(6));
    let mut world = World::new(settings);
    world.add_floor(0.0, 0.6);
    world.add(options.clone().at(Pose::translation(0.0, 0.2, 0.0)));
    let whole = world.pieces().next().unwrap();
    let children = shatter(&mut world, whole, 5);
    // One of them breaks again before anybody has asked for its tree.
    let largest = children
        .iter()
        .copied()
        .max_by_key(|c| {
            let state = world.shape(*c).unwrap().object().read();
            state.fragments().fragment(c.fragment).nodes().len()
        })
        .unwrap();
    assert!(shatter(&mut world, largest, 2).len() > 1);
    let bytes = world.snapshot().unwrap();
    let mut other = World::new(settings);
    other.stock(&options);
    other.restore(&bytes).unwrap();
    for step in 0..90 {
        world.step();
        other.step();
        assert_eq!(world.digest(), other.digest(), "step {step}");
    }
}
