//! Events of one batch are consistent: a renderer that applies them in order to a map from piece
//! to mesh ends with exactly the pieces of the world.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{blueprint, fragile, shatter};
use fracas_core::FragmentId;
use fracas_rapier::{Breakable, DebrisPolicy, Event, ObjectId, PieceId, World, WorldSettings};
use glam::Vec3;
use parry3d::math::Pose;

/// A sequence of numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((self.0 >> 33) as usize) % n
    }
}

/// What a renderer keeps: a mesh for each piece.
#[derive(Default)]
struct Renderer {
    meshes: BTreeMap<PieceId, usize>,
    /// Objects added since the last batch: these may break without a birth before.
    added: BTreeSet<ObjectId>,
    breaks: usize,
    merged: usize,
}

impl Renderer {
    fn apply(&mut self, world: &mut World) {
        let there: BTreeSet<PieceId> = world.pieces().collect();
        for event in world.take_events() {
            match event {
                Event::Born(piece) => {
                    let surface = world.surface(piece).expect("a newborn is there");
                    let new = self.meshes.insert(piece, surface.triangles().len());
                    assert_eq!(new, None, "{piece:?} was born twice");
                }
                Event::Broke {
                    piece,
                    children,
                    stats,
                } => {
                    self.breaks += 1;
                    let known = self.meshes.remove(&piece).is_some();
                    let is_new_object =
                        piece.fragment == FragmentId(0) && self.added.contains(&piece.object);
                    assert!(known || is_new_object, "{piece:?} is not known");
                    assert!(children.iter().all(|child| there.contains(child)));
                    let again = |c: &PieceId| c.fragment.0 as usize > stats.pieces;
                    self.merged += usize::from(children.iter().any(again));
                }
                Event::Removed(piece) | Event::Lost(piece) => {
                    assert!(
                        self.meshes.remove(&piece).is_some(),
                        "{piece:?} is not known"
                    );
                }
                Event::Fading { piece, .. } => assert!(self.meshes.contains_key(&piece)),
                _ => {}
            }
        }
        self.added.clear();
        let shown: BTreeSet<PieceId> = self.meshes.keys().copied().collect();
        assert_eq!(shown, there);
    }
}

#[test]
fn applying_events_gives_the_pieces_of_the_world() {
    let block = blueprint([8, 6, 6], Vec3::new(0.3, 0.2, 0.2));
    let (mut breaks, mut merged) = (0, 0);
    for seed in 0..4 {
        let mut random = Random(seed);
        let mut world = World::new(WorldSettings {
            debris: DebrisPolicy {
                max_fragments: Some(24),
                min_volume: 2e-5,
                min_breaking_share: 0.0,
                lifetime_steps: Some(20),
                fade_steps: 3,
                ..DebrisPolicy::default()
            },
            event_impulse: 1.0,
            ..WorldSettings::default()
        });
        world.add_floor(0.0, 0.6);
        let mut renderer = Renderer::default();
        for _ in 0..120 {
            match random.below(12) {
                0 | 1 => {
                    let height = 0.3 + random.below(20) as f32 * 0.1;
                    let options = Breakable::new(block.clone()).with_breaker(fragile(8));
                    let object = world.add(options.at(Pose::translation(0.0, height, 0.0)));
                    renderer.added.insert(object);
                }
                2 | 3 => {
                    let pieces: Vec<PieceId> = world.pieces().collect();
                    if !pieces.is_empty() {
                        world.remove_piece(pieces[random.below(pieces.len())]);
                    }
                }
                4..=6 => {
                    // The same body, then one of its pieces, within one batch.
                    let large = |world: &World, p: &PieceId| {
                        let state = world.shape(*p).unwrap().object().read();
                        state.fragments().fragment(p.fragment).nodes().len() > 30
                    };
                    let pieces: Vec<PieceId> =
                        world.pieces().filter(|p| large(&world, p)).collect();
                    if !pieces.is_empty() {
                        let piece = pieces[random.below(pieces.len())];
                        let children = shatter(&mut world, piece, 3);
                        if let Some(&child) = children.iter().find(|p| large(&world, p)) {
                            shatter(&mut world, child, 3);
                        }
                    }
                }
                _ => world.step(),
            }
            let fragments = world.pieces().filter(|p| p.fragment != FragmentId(0));
            assert!(fragments.count() <= 24);
            if random.below(3) == 0 {
                renderer.apply(&mut world);
            }
        }
        renderer.apply(&mut world);
        breaks += renderer.breaks;
        merged += renderer.merged;
    }
    println!("{breaks} breaks, {merged} with children of a further break");
    assert!(breaks > 40 && merged > 10);
}

#[test]
fn newborns_that_break_or_go_are_not_announced() {
    let mut world = World::new(WorldSettings::default());
    let block = blueprint([8, 6, 6], Vec3::new(0.3, 0.2, 0.2));
    world.add(Breakable::new(block));
    let whole = world.pieces().next().unwrap();
    assert_eq!(world.take_events(), [Event::Born(whole)]);
    let children = shatter(&mut world, whole, 4);
    let grandchildren = shatter(&mut world, children[0], 3);
    world.remove_piece(children[1]);
    let events = world.take_events();
    let Event::Broke {
        piece,
        children: told,
        ..
    } = &events[0]
    else {
        panic!("{events:?}");
    };
    assert_eq!(*piece, whole);
    let now: Vec<PieceId> = [&grandchildren[..], &children[2..]].concat();
    assert_eq!(*told, now);
    let mut born: Vec<PieceId> = world.pieces().collect();
    born.sort_unstable();
    let announced: Vec<&Event> = events[1..].iter().collect();
    let expected: Vec<Event> = born.into_iter().map(Event::Born).collect();
    assert_eq!(announced, expected.iter().collect::<Vec<_>>());
}
