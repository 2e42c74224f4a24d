//! What a pair is asked: near first, then far; and where the engine's own shapes answer.
//!
//! The engine looks ahead as far as bodies move in a step, which can be farther than
//! they are long. Points in so wide a reach are many, and the few that a query wants
//! would mostly be far ones. So what is near comes first, whatever the reach; what is
//! farther is added by a short second look.

use fracas_core::sphere_tree::{Hull, QueryStats};
use parry3d::math::{Pose, Real};
use parry3d::query::Unsupported;

use crate::convex::{self, Meeting};
use crate::pair::{ContactMode, ContactSettings, Look, Pair, PairScratch, visits};
use crate::pair_memory::PairMemory;
use crate::pose::to_pose;
use crate::shape::FragmentShape;

/// Near is what is within this share of the smaller object's radius: about the distance
/// by which engines look ahead in a world of such objects.
const NEAR_SHARE: f32 = 0.025;

/// Nodes and points that a look beyond what is near may visit: enough to find the eight
/// contacts of a new pair. Four times as many make a break twice as expensive, and piles no
/// better.
const FAR_VISITS: u32 = 64;

/// An unbroken object that is convex is met as the engine's own shape by fragments, until
/// it breaks. The body is the same; the questions cost less
/// (docs/decisions/0020-whole-and-convex.md).
pub(crate) fn with_whole_and_convex<'a>(pair: Pair<'a>, mode: &ContactMode) -> Pair<'a> {
    // Other ways to find contacts are there to be compared.
    let (Pair::Fragments(f1, f2), ContactMode::Adaptive(_)) = (&pair, mode) else {
        return pair;
    };
    match (f1.convex(), f2.convex()) {
        (Some(c1), None) => Pair::Second(&**c1, f2),
        (None, Some(c2)) => Pair::First(f1, &**c2),
        (Some(_), Some(_)) | (None, None) => pair,
    }
}

/// Two unbroken objects that are convex, where the engine can tell what they have to do
/// with each other: contacts of faces, or none. `None`: ask their points.
fn meet_whole(
    pair: &Pair<'_>,
    pos12: &Pose,
    prediction: Real,
    mode: &ContactMode,
    scratch: &mut PairScratch,
) -> Result<Option<QueryStats>, Unsupported> {
    let (Pair::Fragments(f1, f2), ContactMode::Adaptive(_)) = (pair, mode) else {
        return Ok(None);
    };
    let (Some(c1), Some(c2)) = (f1.convex(), f2.convex()) else {
        return Ok(None);
    };
    let near = near_reach(pair);
    match convex::meet(pos12, &**c1, &**c2, prediction, near, scratch)? {
        Meeting::Other => return Ok(None),
        Meeting::Apart => scratch.contacts.clear(),
        Meeting::Faces => {}
    }
    Ok(Some(QueryStats {
        contacts: scratch.contacts.len() as u32,
        ..QueryStats::default()
    }))
}

/// How far to look for what is near.
fn near_reach(pair: &Pair<'_>) -> f32 {
    NEAR_SHARE * pair.smaller_radius()
}

/// Fills `scratch.contacts` for a pair, told as shapes 1 and 2 were given.
pub(crate) fn find_contacts(
    pair: &Pair<'_>,
    pos12: &Pose,
    look: Look,
    settings: &ContactSettings,
    memory: &mut PairMemory,
    scratch: &mut PairScratch,
) -> Result<QueryStats, Unsupported> {
    let mode = &settings.mode;
    if let Some(stats) = meet_whole(pair, pos12, look.reach, mode, scratch)? {
        return Ok(stats);
    }
    let near = Look {
        reach: look.reach.min(near_reach(pair)),
        ..look
    };
    let far = Look {
        visits: look.visits.min(FAR_VISITS),
        ..look
    };
    let [near, far] = match *pair {
        Pair::Fragments(f1, f2) => choose_looks(pos12, f1, f2, [near, far], mode, memory),
        _ => [Some(near), (near.reach < far.reach).then_some(far)],
    };
    let mut stats = QueryStats::default();
    scratch.contacts.clear();
    if let Some(near) = near {
        stats = pair.ask(pos12, near, settings, memory, scratch)?;
    }
    if let Some(far) = far {
        let far = Look {
            total: look.total.saturating_sub(visits(&stats)),
            ..far
        };
        stats.add(&look_farther(pair, pos12, far, settings, scratch)?);
    }
    Ok(stats)
}

/// Adds contacts that a far look finds to those that are known.
fn look_farther(
    pair: &Pair<'_>,
    pos12: &Pose,
    look: Look,
    settings: &ContactSettings,
    scratch: &mut PairScratch,
) -> Result<QueryStats, Unsupported> {
    let mut found = std::mem::take(&mut scratch.near);
    std::mem::swap(&mut found, &mut scratch.contacts);
    // What a pair remembers is about what is near.
    let memory = &mut PairMemory::default();
    let stats = pair.ask(pos12, look, settings, memory, scratch);
    let known = found.len();
    for contact in &scratch.contacts {
        if found[..known]
            .iter()
            .all(|f| f.point_id != contact.point_id)
        {
            found.push(*contact);
        }
    }
    scratch.near = std::mem::replace(&mut scratch.contacts, found);
    stats
}

/// Which of a near and a far look at two fragments are worth it, by the gap between them.
fn choose_looks(
    pos12: &Pose,
    shape1: &FragmentShape,
    shape2: &FragmentShape,
    [near, far]: [Look; 2],
    mode: &ContactMode,
    memory: &mut PairMemory,
) -> [Option<Look>; 2] {
    let is_farther = near.reach < far.reach;
    let pose = to_pose(&pos12.inverse());
    // Pieces of one object interlock: what they meet first is what is near. Only where they
    // are apart, are they asked about what is farther.
    let siblings = shape1.object().is_same(shape2.object());
    // Fragments that lie where they were born touch along their crack, and are not about
    // to meet elsewhere.
    if siblings
        && let Some(adaptive) = mode.adaptive()
        && shape1.tree().is_where_born(&pose, &adaptive)
    {
        return [Some(near), None];
    }
    if memory.is_not_apart(shape1.tree(), &pose, near.reach) {
        return [Some(near), (is_farther && !siblings).then_some(far)];
    }
    let guard1 = shape1.object().read();
    let guard2 = (!shape1.object().is_same(shape2.object())).then(|| shape2.object().read());
    let state2 = guard2.as_deref().unwrap_or(&guard1);
    let field1 = guard1.field().of(guard1.fragments(), shape1.id());
    let field2 = state2.field().of(state2.fragments(), shape2.id());
    let hulls = [(shape1, field1), (shape2, field2)].map(|(shape, field)| Hull {
        tree: shape.tree(),
        others: field.junctions(),
    });
    let gap = memory.gap(&pose, hulls, [near.reach, far.reach]);
    let is_near = gap < near.reach;
    let sees_more = is_farther && gap < far.reach && !(siblings && is_near);
    [is_near.then_some(near), sees_more.then_some(far)]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fracas_core::testing::box_grid;
    use glam::Vec3;

    use super::*;
    use crate::blueprint::Blueprint;
    use crate::pair::tests::{beside, cube};

    #[test]
    fn looks_are_worth_it_by_the_gap() {
        let (first, second) = (cube(), cube());
        let [near, far] = [0.1, 0.5].map(Look::within);
        let mode = ContactMode::default();
        let ask = |gap: f32, looks_at: [Look; 2], memory: &mut PairMemory| {
            choose_looks(&beside(2.0 + gap), &first, &second, looks_at, &mode, memory)
        };
        for (gap, both, alone) in [
            (-0.1, [Some(near), Some(far)], [Some(near), None]),
            (0.05, [Some(near), Some(far)], [Some(near), None]),
            (0.3, [None, Some(far)], [None, None]),
            (0.6, [None, None], [None, None]),
        ] {
            let mut memory = PairMemory::default();
            // A second time the answer is remembered where there was no gap.
            for _ in 0..2 {
                assert_eq!(ask(gap, [near, far], &mut memory), both, "{gap}");
            }
            let mut memory = PairMemory::default();
            for _ in 0..2 {
                assert_eq!(ask(gap, [near, near], &mut memory), alone, "{gap}");
            }
        }
    }

    /// Two balls of one compound over a face, one near and one far: equal points of different
    /// parts.
    #[test]
    fn far_contact_of_another_part_is_kept() {
        use parry3d::shape::SharedShape;
        let ball = SharedShape::ball(0.2);
        let parts = [(-0.5, 0.0), (0.5, 0.2)].map(|(x, y)| {
            let at = Pose::from_translation(Vec3::new(x, y, 0.0));
            (at, ball.clone())
        });
        let balls = SharedShape::compound(parts.to_vec());
        let cube = cube();
        let pair = Pair::First(&cube, &*balls);
        let pos12 = Pose::from_translation(Vec3::new(1.05, 2.205, 0.85));
        let mut scratch = PairScratch::default();
        let (look, settings) = (Look::within(0.3), ContactSettings::default());
        let memory = &mut PairMemory::default();
        find_contacts(&pair, &pos12, look, &settings, memory, &mut scratch).unwrap();
        let own = scratch.contacts.iter().filter(|c| !c.point_id.is_of_first);
        let mut distances: Vec<f32> = own.map(|c| c.distance).collect();
        distances.sort_by(f32::total_cmp);
        assert_eq!(distances.len(), 2, "{distances:?}");
        assert!((distances[0] - 0.005).abs() < 1e-4 && (distances[1] - 0.205).abs() < 1e-4);
    }

    #[cfg(feature = "world")]
    #[test]
    fn siblings_are_not_asked_about_what_is_farther_while_they_touch() {
        use crate::world::{World, WorldSettings};
        use fracas_core::{Crack, Fracture};
        let mesh = Arc::new(box_grid([4; 3], Vec3::splat(2.0)));
        let blueprint = Blueprint::build(mesh.clone(), &Default::default(), &Default::default());
        let mut world = World::new(WorldSettings::default());
        world.add(crate::Breakable::new(Arc::new(blueprint.unwrap())));
        let whole = world.pieces().next().unwrap();
        let nodes: Vec<u32> = (0..mesh.positions().len() as u32).collect();
        let level = |n: u32| mesh.positions()[n as usize].x - 0.75;
        let cracks = vec![Crack::from_level(&mesh, 0, &nodes, level).unwrap()];
        let fragment = whole.fragment;
        let pieces = world.break_piece(whole, Fracture { fragment, cracks });
        let shapes: Vec<&FragmentShape> = pieces.iter().map(|&p| world.shape(p).unwrap()).collect();
        let left = usize::from(shapes[0].bounds().mins.x > 0.5);
        let (first, second) = (shapes[left], shapes[1 - left]);
        let [near, far] = [0.1, 0.5].map(Look::within);
        for mode in [ContactMode::default(), ContactMode::Full] {
            for (gap, want) in [
                (0.0, [Some(near), None]),
                (0.05, [Some(near), None]),
                (0.3, [None, Some(far)]),
                (0.6, [None, None]),
            ] {
                let mut memory = PairMemory::default();
                for _ in 0..2 {
                    let found =
                        choose_looks(&beside(gap), first, second, [near, far], &mode, &mut memory);
                    assert_eq!(found, want, "{gap} {mode:?}");
                }
            }
        }
        // Where they were born the look at the gap is spared: nothing is remembered of it.
        let mut memory = PairMemory::default();
        let adaptive = ContactMode::default();
        choose_looks(
            &beside(0.0),
            first,
            second,
            [near, far],
            &adaptive,
            &mut memory,
        );
        let pose = to_pose(&beside(0.0).inverse());
        assert!(!memory.is_not_apart(first.tree(), &pose, near.reach));
        choose_looks(
            &beside(0.0),
            first,
            second,
            [near, far],
            &ContactMode::Full,
            &mut memory,
        );
        assert!(memory.is_not_apart(first.tree(), &pose, near.reach));
        // Contacts of the newborn lie in the crack, of both.
        for settings in [ContactSettings::default(), ContactSettings::measuring()] {
            let mut scratch = PairScratch::default();
            let memory = &mut PairMemory::default();
            let look = Look::within(0.01);
            let pair = Pair::Fragments(first, second);
            let stats = pair
                .ask(&beside(0.0), look, &settings, memory, &mut scratch)
                .unwrap();
            assert!(!scratch.contacts.is_empty());
            assert_eq!(stats.contacts as usize, scratch.contacts.len());
            let firsts = scratch.contacts.iter();
            let firsts = firsts.filter(|c| c.point_id.is_of_first).count();
            assert!(firsts > 0 && firsts < scratch.contacts.len());
            for contact in scratch
                .contacts
                .iter()
                .filter(|_| settings.mode != ContactMode::Full)
            {
                assert!((contact.point1.x - 0.75).abs() < 0.02, "{contact:?}");
            }
        }
    }

    /// A piece whose foremost corners are where two cracks meet, beside something whole: the gap is
    /// that of those corners, each of its own object.
    #[cfg(feature = "world")]
    #[test]
    fn the_gap_is_to_the_corners_of_each_ones_own_object() {
        use crate::world::{World, WorldSettings};
        use fracas_core::{Crack, Fracture};
        let mesh = Arc::new(box_grid([4; 3], Vec3::splat(2.0)));
        let blueprint = Blueprint::build(mesh.clone(), &Default::default(), &Default::default());
        let mut world = World::new(WorldSettings::default());
        world.add(crate::Breakable::new(Arc::new(blueprint.unwrap())));
        let body = world.pieces().next().unwrap();
        let at = |n: u32| mesh.positions()[n as usize];
        let mut nodes: Vec<u32> = (0..mesh.positions().len() as u32).collect();
        // Around the x axis, a wedge with its edge at about (0.65, 0.65, z).
        let mut cracks = Vec::new();
        for level in [|p: Vec3| 1.3 - p.x - p.y, |p: Vec3| p.y - p.x] {
            cracks.push(Crack::from_level(&mesh, 0, &nodes, |n| level(at(n))).unwrap());
            nodes.retain(|&n| level(at(n)) < 0.0);
        }
        let fragment = body.fragment;
        let pieces = world.break_piece(body, Fracture { fragment, cracks });
        let shapes = pieces.iter().map(|&p| world.shape(p).unwrap());
        let wedge = shapes
            .min_by_key(|shape| {
                let way = shape.unit_mass().centre.as_vec3() - Vec3::new(1.55, 0.65, 1.0);
                (1e3 * way.length()) as u32
            })
            .unwrap();
        let foremost = wedge.surface().positions().iter().map(|p| p.x);
        let foremost = foremost.fold(f32::INFINITY, f32::min);
        let whole = cube();
        let [near, far] = [0.1, 0.5].map(Look::within);
        // Nothing within reach goes unseen. (The widest gap is looked for a few steps long: what
        // is seen may be narrower.)
        for (gap, want) in [
            (0.02, [Some(near), Some(far)]),
            (0.09, [Some(near), Some(far)]),
            (9.0, [None, None]),
        ] {
            let pos12 = beside(2.0 - foremost + gap);
            for mode in [ContactMode::default(), ContactMode::Full] {
                let memory = &mut PairMemory::default();
                let found = choose_looks(&pos12, &whole, wedge, [near, far], &mode, memory);
                assert_eq!(found, want, "{gap}");
                let memory = &mut PairMemory::default();
                let other = pos12.inverse();
                let found = choose_looks(&other, wedge, &whole, [near, far], &mode, memory);
                assert_eq!(found, want, "{gap}, the other way round");
            }
        }
    }
}
