//! From the cubes of a pair to its contacts in the engine, and to what is remembered of it.

use fracas_core::voxel_tree::{
    Averaging, GroupContact, Grouping, Other, Primitive, SharedPair, Stop, VoxTree, primitive,
    primitive_against, reduce,
};
use glam::Vec3;
use parry3d::math::Pose;

use super::pairs::Answer;
use super::{LEVELS, VoxelStats};
use crate::manifold::{PairContact, PointId};

/// Contacts are kept, by their points on both bodies, until
/// the pair has moved by this share of a voxel.
pub(super) const KEPT_MOTION: f32 = 0.1;

/// Memory of reducing cubes to contacts.
#[derive(Default)]
pub(super) struct Reduction {
    primitives: Vec<Primitive>,
    groups: Vec<GroupContact>,
}

impl Reduction {
    /// Puts out the contacts of a pair; returns what is to be remembered of it, and how
    /// far it may move meanwhile.
    pub(super) fn contacts(
        &mut self,
        found: &SharedPair<'_>,
        pos12: &Pose,
        most: usize,
        stats: &mut VoxelStats,
        out: &mut Vec<PairContact>,
    ) -> (Answer, f32) {
        if found.stop == Some(Stop::Apart) {
            stats.answered(None);
            return match found.b {
                Other::Tree(..) => (Answer::Apart, 0.99 * found.detection.gap()),
                // The gap to a plain shape is not known.
                Other::Solid(..) | Other::Plane(..) => (Answer::None, 0.0),
            };
        }
        let finest = found.stop == Some(Stop::Finest);
        let level = (!finest).then(|| found.detection.level().min(LEVELS as u32 - 1) as u8);
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
            Other::Solid(solid, _) => {
                let of = |p| primitive_against(found.a, solid, p);
                self.primitives.extend(cubes.filter_map(of));
                Vec3::Y
            }
            Other::Plane(floor, _) => {
                let solid = |p: Vec3, _: f32| Some(floor.sample(p));
                let of = |p| primitive_against(found.a, &solid, p);
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
            add_contacts(group, points, one, pos12, out);
        }
        let count = out.len() as u32 - first;
        let cell = found.a.levels().last().map_or(0.0, |level| level.cell);
        let answer = Answer::Contacts {
            first,
            count,
            level,
        };
        (answer, KEPT_MOTION * cell)
    }
}

/// The middle of a tree's content.
fn centre(tree: &VoxTree) -> Vec3 {
    tree.levels()[0]
        .nodes
        .first()
        .map_or(Vec3::ZERO, |root| 0.5 * (root.content.0 + root.content.1))
}

/// A reduced contact as contacts of the pair, A being shape 1.
fn add_contacts(
    group: &GroupContact,
    points: usize,
    brakes: bool,
    pos12: &Pose,
    out: &mut Vec<PairContact>,
) {
    for (i, span) in group.span().iter().take(points).enumerate() {
        let distance = if brakes { 0.0 } else { span.distance };
        let half = group.normal * (0.5 * distance);
        // Regions and place in the span name the point from step to step.
        let name = (group.group.0 << 16 ^ group.group.1 << 3) | i as u32;
        out.push(PairContact {
            point1: span.point + half,
            point2: pos12.inverse_transform_point(span.point - half),
            normal1: -group.normal,
            distance,
            point_id: PointId::OfFirst(name),
        });
    }
}
