//! From the cubes of a pair to its contacts in the engine, and to what is remembered of it.

use fracas_voxel::{
    Averaging, GroupContact, Grouping, Other, Primitive, SharedPair, Stop, VoxTree, primitive,
    primitive_against, reduce,
};
use glam::Vec3;
use parry3d::math::Pose;

use super::pairs::{Answer, Pair, SAFE};
use super::{LEVELS, VoxelStats};
use crate::manifold::{PairContact, PointId};

/// Contacts are kept, by their points on both bodies, until
/// the pair has moved by this share of a voxel.
pub(super) const KEPT_MOTION: f32 = 0.1;

/// Contacts whose directions have a greater cosine hold against the same motion.
const SAME_WAY: f32 = 0.7;

/// Memory of reducing cubes to contacts.
#[derive(Default)]
pub(super) struct Reduction {
    primitives: Vec<Primitive>,
    groups: Vec<GroupContact>,
    newest: Newest,
}

impl Reduction {
    /// Puts out the contacts of a pair, and notes what is to be remembered of it, and how far
    /// it may move meanwhile. `most` groups at the most; `before` has the contacts of the last
    /// step.
    pub(super) fn contacts(
        &mut self,
        found: &SharedPair<'_>,
        pair: &mut Pair,
        (most, before): (usize, &[PairContact]),
        stats: &mut VoxelStats,
        out: &mut Vec<PairContact>,
    ) {
        if found.stop == Some(Stop::Apart) {
            stats.answered(None);
            let (answer, room) = match found.b {
                Other::Tree(..) => (Answer::Apart, SAFE * found.detection.gap()),
                // The gap to a plain shape is not known.
                Other::Solid(..) | Other::Plane(..) => (Answer::None, 0.0),
            };
            pair.found(answer, room);
            return;
        }
        let finest = matches!(found.stop, Some(Stop::Finest | Stop::Deep));
        let level = (!finest).then(|| level(found));
        stats.answered(level);
        let cubes = found.detection.pairs();
        let middle = centre(found.a);
        self.primitives.clear();
        let centre_line = match &found.b {
            Other::Tree(b, pose) => {
                let of = |p| primitive(found.a, b, pose, p);
                self.primitives.extend(cubes.map(of));
                middle - pose.point(centre(b))
            }
            Other::Solid(solid, reach) => {
                let of = |p| primitive_against(found.a, solid, *reach, p);
                self.primitives.extend(cubes.filter_map(of));
                Vec3::Y
            }
            Other::Plane(floor, reach) => {
                let solid = |p: Vec3, _: f32| Some(floor.sample(p));
                let of = |p| primitive_against(found.a, &solid, *reach, p);
                self.primitives.extend(cubes.filter_map(of));
                floor.normal
            }
        };
        stats.primitives += self.primitives.len() as u64;
        // On a plane all regions of a body push the same way: five points hold it as well
        // as five of each region, and the engine has less to solve.
        let flat = matches!(found.b, Other::Plane(..));
        let grouping = if flat {
            Grouping::Together
        } else {
            Grouping::ByRegion
        };
        let averaging = Averaging::Weighted;
        let groups = &mut self.groups;
        reduce(
            &mut self.primitives,
            averaging,
            grouping,
            centre_line,
            groups,
        );
        if flat {
            // Named alike from step to step, whichever cube comes first.
            groups.iter_mut().for_each(|group| group.group = (0, 0));
        }
        let first = out.len() as u32;
        // Coarse contacts only stop a body: between pieces one point for each
        // pair will do. On a floor a body would turn about it. They brake it where it is: how
        // far the surfaces are apart coarse cubes do not know, and what they guess (half a
        // body for two roots) is how far bodies would go into each other.
        let one = !finest && matches!(found.b, Other::Tree(..));
        let (most, points) = if one { (1, 1) } else { (most, usize::MAX) };
        for group in self.groups.iter().take(most) {
            let brakes = one.then(|| self.newest.brake(pair, before, -group.normal));
            add_contacts(group, points, brakes, &pair.then, out);
        }
        let new = &mut out[first as usize..];
        if pair.share > 0.0 {
            // They are not there yet.
            for contact in new.iter_mut() {
                contact.distance = distance(contact, &pair.pos12);
            }
        }
        pair.deepest = deepest(new);
        let answer = Answer::Contacts {
            first,
            count: new.len() as u32,
            level,
        };
        pair.found(answer, KEPT_MOTION * found.a.finest_cell());
    }
}

/// The level to which a pair was seen.
pub(super) fn level(found: &SharedPair<'_>) -> u8 {
    found.detection.level().min(LEVELS as u32 - 1) as u8
}

/// The distance of a contact where B is now in the frame of A.
pub(super) fn distance(contact: &PairContact, pos12: &Pose) -> f32 {
    let apart = pos12.transform_point(contact.point2) - contact.point1;
    apart.dot(contact.normal1)
}

/// The least distance of some contacts; none is none.
pub(super) fn deepest(contacts: &[PairContact]) -> f32 {
    let distances = contacts.iter().map(|c| c.distance);
    distances.fold(f32::INFINITY, f32::min)
}

/// How a coarse contact goes on: its distance and its name.
#[derive(Clone, Copy)]
struct Brake {
    distance: f32,
    name: u32,
}

/// Names of coarse contacts that are new.
#[derive(Default)]
struct Newest(u32);

/// Names of coarse contacts begin here: those of fine ones are smaller.
const COARSE: u32 = 1 << 29;

impl Newest {
    /// What a coarse contact goes on with: how deep the deepest of the step before that had about
    /// its direction is by now, and its name. Without the depth a body that is seen coarsely in
    /// every step would be braked anew in each, wherever it is by then, and so sink in. One in
    /// another direction has a name of its own: the solver would begin with the impulse of the
    /// old one, and throw bodies.
    fn brake(&mut self, pair: &Pair, before: &[PairContact], normal: Vec3) -> Brake {
        let contacts = match pair.answer {
            Answer::Contacts { first, count, .. } => {
                &before[first as usize..(first + count) as usize]
            }
            _ => &[],
        };
        let alike = contacts.iter().filter(|c| c.normal1.dot(normal) > SAME_WAY);
        let deepest = alike
            .map(|c| (distance(c, &pair.then), c.point_id))
            .min_by(|c, d| c.0.total_cmp(&d.0));
        match deepest {
            Some((distance, PointId { point: name, .. })) => Brake {
                distance: distance.min(0.0),
                name,
            },
            None => {
                self.0 = (self.0 + 1) % COARSE;
                Brake {
                    distance: 0.0,
                    name: COARSE + self.0,
                }
            }
        }
    }
}

/// The middle of a tree's content.
fn centre(tree: &VoxTree) -> Vec3 {
    tree.levels()[0]
        .nodes
        .first()
        .map_or(Vec3::ZERO, |root| 0.5 * (root.content.0 + root.content.1))
}

/// A reduced contact as contacts of the pair, A being shape 1; at the distance of one that
/// `brakes`, if it does.
fn add_contacts(
    group: &GroupContact,
    points: usize,
    brakes: Option<Brake>,
    pos12: &Pose,
    out: &mut Vec<PairContact>,
) {
    for (i, span) in group.span().iter().take(points).enumerate() {
        let distance = brakes.map_or(span.distance, |brake| brake.distance);
        let half = group.normal * (0.5 * distance);
        // Regions and place in the span name the point from step to step.
        let fine = ((group.group.0 << 16 ^ group.group.1 << 3) | i as u32) % COARSE;
        let name = brakes.map_or(fine, |brake| brake.name);
        out.push(PairContact {
            point1: span.point + half,
            point2: pos12.inverse_transform_point(span.point - half),
            normal1: -group.normal,
            distance,
            point_id: PointId::of_first(name),
        });
    }
}
