//! From overlapping cubes to the few contacts that a solver takes.
//!
//! Steps: every pair of cubes gives a contact primitive (a direction and a point)
//! and the probability that there is a contact behind it -> primitives of the same
//! regions of both surfaces form a group -> each group is reduced to one direction
//! with its points, weighted by probability or, for comparison, simply averaged.
//!
//! | paper | here | [Dingliana 2004] |
//! | --- | --- | --- |
//! | n, p | `Primitive::normal`, `point` | section 3.2 |
//! | kappa | [`interpenetration`] | eq. 6-7 |
//! | P | `Primitive::probability` | eq. 3 |
//! | n_ave, p_ave | [`Averaging::Simple`] | eq. 1-2 |
//! | n_A, p_A | [`Averaging::Weighted`] | eq. 9-10 |
//!
//! **Deviations**, each because the printed formula fails:
//! - eq. 7 with R the *circumscribed* radius and the result clamped to 0..1: with
//!   the inscribed one most overlapping cubes get a negative probability.
//! - eq. 10 as the weighted mean of the points: as printed the quotient has no unit.
//! - Where directions cancel (a thin body pierced from both sides) the group takes
//!   the direction of the surfaces (eq. 8), and if that cancels too the line
//!   between the two bodies' centres. The paper has no rule.
//! - Depth, which the paper's impulses do not need, is read off the occupancies: a
//!   cube of half edge h and share o, cut by a surface across n, has it h (2 o - 1)
//!   from its centre; voxels inside know the way to the nearest surface (`inner.rs`). Against a plain shape it is that of the content's box. Cubes
//!   above the finest level are never said to be deep: a coarse guess may stop two
//!   bodies, as the paper's impulses do, but must not push them apart.
//!
//! **Guarantee**: there is a contact whenever there is a pair of cubes.

use glam::Vec3;

use super::deep::DEEP;
use super::detect::{CubePair, Solid, is_finest};
use super::tree::VoxTree;
use fracas_geometry::Pose;

/// How a group of primitives becomes one contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Averaging {
    /// Weighted by the probability of contact (eq. 9-10).
    #[default]
    Weighted,
    /// All alike (eq. 1-2).
    Simple,
}

/// Which primitives are reduced together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// By the regions of both surfaces (section 3.9): concave contact gives
    /// several contacts.
    #[default]
    ByRegion,
    /// All together: what the error figures of the paper measure.
    Together,
}

/// The contact of one pair of cubes, in A's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Primitive {
    /// From B's cube to A's: the way in which A leaves B. Zero if centres coincide.
    pub normal: Vec3,
    /// Divides the line between the centres as their sizes are to each other.
    pub point: Vec3,
    /// P: the probability that there is a contact behind it.
    pub probability: f32,
    /// Regions of A and B.
    pub group: (u32, u32),
    /// B's surface direction minus A's: points out of B.
    surface: Vec3,
    /// From B's cube to A's, and how far the surfaces are from the centres.
    offset: Vec3,
    reach: f32,
    /// Half the box of the content, where that tells how far the surface is.
    half_box: Vec3,
    /// Whether both cubes are of the finest level.
    finest: bool,
}

impl Primitive {
    /// The same between two triangles that meet: certain, and as deep as they say.
    pub(super) fn between_triangles(self, surface: Vec3, point: Vec3, depth: f32) -> Self {
        Self {
            normal: surface,
            point,
            probability: 1.0,
            surface,
            offset: Vec3::ZERO,
            reach: depth,
            half_box: Vec3::ZERO,
            finest: true,
            ..self
        }
    }

    /// Signed distance of the surfaces along a direction.
    fn distance(&self, normal: Vec3) -> f32 {
        let distance = self.offset.dot(normal) - self.reach - self.half_box.dot(normal.abs());
        if self.finest {
            distance
        } else {
            distance.max(0.0)
        }
    }
}

/// A point of a contact with its own distance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpanPoint {
    /// Where, in A's frame.
    pub point: Vec3,
    /// Signed distance of the surfaces there, along the contact's normal.
    pub distance: f32,
}

/// Points of a contact at the most: the deepest, and the outermost to four sides.
const MOST_POINTS: usize = 5;

/// A reduced contact, in A's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupContact {
    /// Unit: the way in which A leaves B.
    pub normal: Vec3,
    /// The mean point (p_A).
    pub point: Vec3,
    /// Signed distance of the surfaces: negative when they overlap.
    pub distance: f32,
    /// Sum of the probabilities.
    pub weight: f32,
    /// Regions of A and B: names the contact from step to step.
    pub group: (u32, u32),
    /// How many primitives it stands for.
    pub primitives: u32,
    span: [SpanPoint; MOST_POINTS],
    points: u8,
}

impl GroupContact {
    /// The deepest point of the group and up to four that span its area, each once,
    /// for solvers that need support against tilting.
    #[must_use]
    pub fn span(&self) -> &[SpanPoint] {
        &self.span[..self.points as usize]
    }
}

/// kappa of eq. 6 and 7: how deep two cubes of edges `a` and `b` are in each other,
/// `distance` being that of their centres. 0 is not at all, 1 is wholly.
#[must_use]
pub fn interpenetration(a: f32, b: f32, distance: f32) -> f32 {
    let half_diagonal = 0.5 * 3.0_f32.sqrt();
    let (ra, rb) = (half_diagonal * a, half_diagonal * b);
    ((ra + rb - distance) / (2.0 * ra.min(rb))).clamp(0.0, 1.0)
}

/// Voxels whose centres are deeper than this share of an edge lie inside. Where bodies overlap by
/// less than a voxel none that meet are as deep, and the line of the centres tells the direction
/// better: near an edge the way out leads to the side.
const INSIDE: f32 = 1.5;

/// The ways out of two cubes tell a direction where their difference is longer than this share of
/// both.
const WAY_LEFT: f32 = 0.5;

/// The contact primitive of a pair of overlapping cubes.
#[must_use]
pub fn primitive(a: &VoxTree, b: &VoxTree, b_to_a: &Pose, pair: &CubePair) -> Primitive {
    let (level_a, level_b) = (
        &a.levels()[pair.a.0 as usize],
        &b.levels()[pair.b.0 as usize],
    );
    let (node_a, node_b) = (
        &level_a.nodes[pair.a.1 as usize],
        &level_b.nodes[pair.b.1 as usize],
    );
    let centre_b = b_to_a.point(node_b.centre);
    let offset = node_a.centre - centre_b;
    let distance = offset.length();
    let share = level_a.cell / (level_a.cell + level_b.cell);
    let [out_a, out_b] = [node_a.outward, b_to_a.direction(node_b.outward)];
    let finest = is_finest(a, pair.a) && is_finest(b, pair.b);
    // Where one lies inside, the line of the centres says nothing: the way out does, that of the
    // deeper one more.
    let normal = if finest
        && (node_a.inner > INSIDE * level_a.cell
            || node_b.inner > INSIDE * level_b.cell
            || (node_a.inner >= DEEP * level_a.cell && node_b.inner >= DEEP * level_b.cell))
    {
        let (inner_a, inner_b) = (node_a.inner.max(0.0), node_b.inner.max(0.0));
        let way = out_b * inner_b - out_a * inner_a;
        // Where both lie near sides that look the same way, little is left of their ways out.
        if way.length() > WAY_LEFT * (inner_a + inner_b) {
            way.normalize()
        } else {
            offset.normalize_or_zero()
        }
    } else {
        offset.normalize_or_zero()
    };
    Primitive {
        normal,
        point: node_a.centre - offset * share,
        probability: interpenetration(level_a.cell, level_b.cell, distance)
            * node_a.occupancy
            * node_b.occupancy,
        group: (node_a.group, node_b.group),
        surface: out_b - out_a,
        offset,
        reach: node_a.inner + node_b.inner,
        half_box: Vec3::ZERO,
        finest,
    }
}

/// The contact primitive of a cube near a plain shape, told in the tree's frame; `reach`: how far
/// from it cubes were taken to be near. `None` where the shape is farther off than that and its
/// content.
#[must_use]
pub fn primitive_against(
    a: &VoxTree,
    solid: Solid<'_>,
    reach: f32,
    pair: &CubePair,
) -> Option<Primitive> {
    let level = &a.levels()[pair.a.0 as usize];
    let node = &level.nodes[pair.a.1 as usize];
    let (low, high) = node.content;
    let (middle, half_box) = (0.5 * (low + high), 0.5 * (high - low));
    let radius = half_box.length();
    // As wide as detection may have asked.
    let (distance, normal) = solid(middle, 2.0 * radius + level.cell + reach)?;
    let kappa = ((radius - distance) / (2.0 * radius).max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
    Some(Primitive {
        normal,
        // Halfway between the surfaces.
        point: middle - normal * (0.5 * (half_box.dot(normal.abs()) + distance)),
        probability: kappa * node.occupancy,
        group: (node.group, 0),
        surface: normal - node.outward,
        offset: normal * distance,
        reach: 0.0,
        half_box,
        finest: is_finest(a, pair.a),
    })
}

/// Reduces primitives to one contact a group, the most probable first. Sorts
/// `primitives` by group.
pub fn reduce(
    primitives: &mut [Primitive],
    averaging: Averaging,
    grouping: Grouping,
    centre_line: Vec3,
    out: &mut Vec<GroupContact>,
) {
    out.clear();
    if grouping == Grouping::ByRegion {
        primitives.sort_by_key(|p| p.group);
    }
    let mut rest = &*primitives;
    while let Some(first) = rest.first() {
        let count = match grouping {
            Grouping::ByRegion => rest.iter().take_while(|p| p.group == first.group).count(),
            Grouping::Together => rest.len(),
        };
        out.push(reduce_group(&rest[..count], averaging, centre_line));
        rest = &rest[count..];
    }
    out.sort_by(|x, y| y.weight.total_cmp(&x.weight).then(x.group.cmp(&y.group)));
}

/// Directions whose weighted sum is shorter than this share of their weights
/// cancel. Flat faces less than a voxel deep in each other have sums near 0.2 that
/// point anywhere (their cubes lie side by side, not one above the other); contacts
/// with a direction to speak of have sums above 0.6.
const CANCELLED: f32 = 0.5;

fn reduce_group(group: &[Primitive], averaging: Averaging, centre_line: Vec3) -> GroupContact {
    let weight_of = |p: &Primitive| match averaging {
        Averaging::Weighted => p.probability,
        Averaging::Simple => 1.0,
    };
    let (mut weight, mut normal, mut surface, mut point) =
        (0.0, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
    for p in group {
        let w = weight_of(p);
        weight += w;
        normal += w * p.normal;
        surface += w * p.surface;
        point += w * p.point;
    }
    // Probabilities can all be zero: cubes that touch by their corners only.
    if weight <= f32::MIN_POSITIVE && averaging == Averaging::Weighted {
        return reduce_group(group, Averaging::Simple, centre_line);
    }
    let normal = if normal.length() > CANCELLED * weight {
        normal.normalize()
    } else if surface.length() > CANCELLED * weight {
        surface.normalize()
    } else {
        centre_line.normalize_or(Vec3::Y)
    };
    let (span, points) = span(group, normal);
    GroupContact {
        normal,
        point: point / weight,
        distance: span[0].distance,
        weight: group.iter().map(|p| p.probability).sum(),
        group: group[0].group,
        primitives: group.len() as u32,
        span,
        points,
    }
}

/// The deepest point of a group, then the outermost along two directions across the
/// normal, each once.
fn span(group: &[Primitive], normal: Vec3) -> ([SpanPoint; MOST_POINTS], u8) {
    let along = normal.any_orthonormal_vector();
    let across = normal.cross(along);
    // For each point: the best score so far, and whose it is.
    let mut best = [(f32::NEG_INFINITY, 0); MOST_POINTS];
    for (i, p) in group.iter().enumerate() {
        let (x, y) = (p.point.dot(along), p.point.dot(across));
        for (best, score) in best.iter_mut().zip([-p.distance(normal), x, y, -x, -y]) {
            if score > best.0 {
                *best = (score, i);
            }
        }
    }
    let mut span = [SpanPoint::default(); MOST_POINTS];
    let mut count = 0;
    for (k, &(_, i)) in best.iter().enumerate() {
        if best[..k].iter().all(|b| b.1 != i) {
            span[count] = SpanPoint {
                point: group[i].point,
                distance: group[i].distance(normal),
            };
            count += 1;
        }
    }
    (span, count as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::voxel_tree::{Budget, Detection, VoxelGrid, box_tree};
    use fracas_geometry::testing::{Rng, box_grid};
    use glam::Mat3;

    #[test]
    fn interpenetration_runs_from_nothing_to_all() {
        assert_eq!(interpenetration(1.0, 1.0, 0.0), 1.0);
        assert_eq!(interpenetration(1.0, 1.0, 3.0_f32.sqrt()), 0.0);
        assert_eq!(interpenetration(1.0, 1.0, 5.0), 0.0);
        assert_eq!(
            interpenetration(1.0, 4.0, 0.5),
            1.0,
            "a small cube wholly in a large one"
        );
        let mut last = 1.0;
        for i in 0..20 {
            let k = interpenetration(1.0, 0.7, 0.1 * i as f32);
            assert!(k <= last);
            last = k;
        }
    }

    fn contacts(a: &VoxTree, b: &VoxTree, b_to_a: &Pose, grouping: Grouping) -> Vec<GroupContact> {
        let mut detection = Detection::default();
        detection.refine(a, b, b_to_a, &Budget::default());
        let mut primitives: Vec<Primitive> = detection
            .pairs()
            .map(|p| primitive(a, b, b_to_a, p))
            .collect();
        let mut out = Vec::new();
        reduce(
            &mut primitives,
            Averaging::Weighted,
            grouping,
            -b_to_a.translation,
            &mut out,
        );
        out
    }

    #[test]
    fn a_box_on_a_box_is_pushed_up_by_the_depth() {
        let (a, b) = (
            box_tree(Vec3::splat(0.6), 0.05),
            box_tree(Vec3::new(2.0, 2.0, 0.5), 0.05),
        );
        let mut rng = Rng(8);
        for _ in 0..20 {
            let depth = rng.range(0.005, 0.045);
            let shift = Vec3::new(rng.range(-0.3, 0.3), rng.range(-0.3, 0.3), depth - 0.55);
            let pose = Pose {
                rotation: Mat3::from_rotation_z(rng.range(0.0, 3.0)),
                translation: shift,
            };
            let out = contacts(&a, &b, &pose, Grouping::Together);
            assert!(out[0].normal.dot(Vec3::Z) > 0.999, "{:?}", out[0]);
            assert!(
                (out[0].distance + depth).abs() < 0.025,
                "{} at depth {depth}",
                out[0].distance
            );
            assert!(
                (out[0].point - Vec3::new(0.0, 0.0, -0.3)).length() < 0.06,
                "{:?}",
                out[0]
            );
        }
    }

    #[test]
    fn what_is_deep_knows_how_deep_and_never_says_more() {
        let (size, cell) = (Vec3::new(0.3, 0.25, 0.2), 0.05);
        let (a, b) = (
            box_tree(size, cell),
            box_tree(Vec3::new(2.0, 2.0, 1.0), cell),
        );
        let mut rng = Rng(41);
        for _ in 0..40 {
            // How far its lowest corner is under the upper side, up to wholly inside.
            let depth = rng.range(0.5 * cell, 8.0 * cell);
            let rotation = Mat3::from_rotation_z(rng.range(0.0, 3.0))
                * Mat3::from_rotation_x(rng.range(-0.3, 0.3));
            let lowest = (0.5 * size).dot((rotation.transpose() * Vec3::Z).abs());
            let up = lowest + 0.5 - depth;
            let at = Vec3::new(rng.range(-0.3, 0.3), rng.range(-0.3, 0.3), up);
            // A stands in B's frame.
            let b_to_a = Pose {
                rotation: rotation.transpose(),
                translation: -(rotation.transpose() * at),
            };
            let out = contacts(&a, &b, &b_to_a, Grouping::ByRegion);
            let deepest = out.iter().min_by(|x, y| x.distance.total_cmp(&y.distance));
            let deepest = deepest.unwrap();
            let way = rotation * deepest.normal;
            // Each says its own way out, a side of its own perhaps: the sum leads out, if not
            // straight.
            assert!(way.z > 0.5, "{way} at depth {depth}");
            // Straight up it is `depth`; and never said to be more.
            let found = -deepest.distance;
            assert!(found < depth + cell, "{found} at depth {depth}");
            // In it, balls tell: what is deeper than A is thick is told by as much.
            let least = depth.min(2.0 * size.min_element()) - 1.5 * cell;
            assert!(found > 0.5 * least, "{found} at depth {depth}");
        }
    }

    #[test]
    fn where_sides_look_the_same_way_the_line_of_the_centres_tells() {
        // One box on another, nearly flush with it on one side, and as deep as three voxels.
        let size = Vec3::splat(0.6);
        let (a, b) = (box_tree(size, 0.05), box_tree(size, 0.05));
        for sideways in [0.0, 0.01, 0.02, -0.02] {
            let b_to_a = Pose {
                rotation: Mat3::IDENTITY,
                translation: Vec3::new(sideways, 0.0, -0.45),
            };
            let mut detection = Detection::default();
            detection.refine(&a, &b, &b_to_a, &Budget::default());
            let mut alike = 0;
            for pair in detection.pairs() {
                let level = |tree: &VoxTree, at: (u32, u32)| {
                    tree.levels()[at.0 as usize].nodes[at.1 as usize]
                };
                let (cube_a, cube_b) = (level(&a, pair.a), level(&b, pair.b));
                let ways = [cube_a.inner * cube_a.outward, cube_b.inner * cube_b.outward];
                // Both near the same side, and inside.
                if cube_a.inner.min(cube_b.inner) > 0.05
                    && (ways[0] - ways[1]).length() < 0.4 * (cube_a.inner + cube_b.inner)
                {
                    alike += 1;
                    let found = primitive(&a, &b, &b_to_a, pair);
                    let line = cube_a.centre - b_to_a.point(cube_b.centre);
                    assert!(
                        (found.normal - line.normalize_or_zero()).length() < 1e-5,
                        "{} along {line}",
                        found.normal
                    );
                }
            }
            assert!(alike > 20, "{alike} by {sideways}");
        }
    }

    #[test]
    fn a_step_gives_a_contact_for_the_floor_and_one_for_the_riser() {
        // A cube in the corner of an L: two flat boxes, voxelised as one body.
        let (floor, riser) = (
            box_grid([1, 1, 1], Vec3::new(2.0, 1.0, 0.3)),
            box_grid([1, 1, 1], Vec3::new(0.3, 1.0, 1.0)),
        );
        let mut positions = floor.positions().to_vec();
        let mut triangles: Vec<[u32; 3]> = floor.boundary().map(|f| f.nodes).collect();
        triangles.extend(
            riser
                .boundary()
                .map(|f| f.nodes.map(|v| v + positions.len() as u32)),
        );
        positions.extend(
            riser
                .positions()
                .iter()
                .map(|p| *p + Vec3::new(0.0, 0.0, 0.3)),
        );
        let b = VoxTree::build(
            &VoxelGrid::from_surface(&positions, &triangles, 0.05).unwrap(),
            2,
        );
        let a = box_tree(Vec3::splat(0.5), 0.05);
        // The cube's corner region touches the floor (z = 0.3) and the riser (x = 0.3).
        let pose = Pose {
            rotation: Mat3::IDENTITY,
            translation: -Vec3::new(0.53, 0.5, 0.53),
        };
        let out = contacts(&a, &b, &pose, Grouping::ByRegion);
        let up = out.iter().find(|c| c.normal.z > 0.95);
        let aside = out.iter().find(|c| c.normal.x > 0.95);
        assert!(up.is_some() && aside.is_some(), "{out:#?}");
    }

    /// A primitive with a direction, a surface direction and a weight.
    fn made(normal: Vec3, surface: Vec3, probability: f32) -> Primitive {
        Primitive {
            normal,
            point: Vec3::ZERO,
            probability,
            group: (0, 0),
            surface,
            offset: Vec3::ZERO,
            reach: 0.0,
            half_box: Vec3::ZERO,
            finest: true,
        }
    }

    #[test]
    fn cancelling_normals_take_the_surface_then_the_centre_line_then_up() {
        let line = Vec3::new(0.0, 0.6, 0.8);
        let normal =
            |group: &[Primitive], line: Vec3| reduce_group(group, Averaging::Weighted, line).normal;
        // Directions that agree are used, whatever the surfaces say.
        let agree = [made(Vec3::X, Vec3::Z, 1.0), made(Vec3::X, Vec3::Z, 0.2)];
        assert!((normal(&agree, line) - Vec3::X).length() < 1e-6);
        // Directions that cancel by weight, not by number, leave it to the surfaces.
        let cancel = [made(Vec3::X, Vec3::Z, 1.0), made(-Vec3::X, Vec3::Z, 1.0)];
        assert_eq!(normal(&cancel, line), Vec3::Z);
        let outweighed = [made(Vec3::X, Vec3::Z, 1.0), made(-Vec3::X, Vec3::Z, 0.01)];
        assert!((normal(&outweighed, line) - Vec3::X).length() < 1e-6);
        // Surfaces that cancel as well: the line of the centres.
        let all = [made(Vec3::X, Vec3::Z, 1.0), made(-Vec3::X, -Vec3::Z, 1.0)];
        assert!((normal(&all, line) - line).length() < 1e-6);
        // Bodies of one centre: up, and never a NaN.
        assert_eq!(normal(&all, Vec3::ZERO), Vec3::Y);
        assert_eq!(
            normal(&[made(Vec3::ZERO, Vec3::ZERO, 0.0)], Vec3::ZERO),
            Vec3::Y
        );
        // Nothing is probable: all count alike.
        let alike = [made(Vec3::X, Vec3::Z, 0.0), made(Vec3::Y, Vec3::Z, 0.0)];
        assert!((normal(&alike, line) - Vec3::new(1.0, 1.0, 0.0).normalize()).length() < 1e-6);
    }

    #[test]
    fn coarse_cubes_stop_bodies_but_do_not_push_them_apart() {
        let (a, b) = (
            box_tree(Vec3::splat(0.6), 0.05),
            box_tree(Vec3::new(2.0, 2.0, 0.5), 0.05),
        );
        let pose = Pose {
            rotation: Mat3::IDENTITY,
            translation: -Vec3::Z * 0.4,
        };
        for level in 0..3 {
            let mut detection = Detection::default();
            let budget = Budget {
                level: Some(level),
                ..Budget::default()
            };
            detection.refine(&a, &b, &pose, &budget);
            for pair in detection.pairs() {
                let p = primitive(&a, &b, &pose, pair);
                assert!(p.distance(p.normal) >= 0.0);
            }
        }
        let fine = contacts(&a, &b, &pose, Grouping::Together);
        assert!(fine[0].distance < -0.05, "{:?}", fine[0]);
    }

    #[test]
    fn a_floor_never_sees_less_than_the_true_depth_at_the_finest_level() {
        let size = Vec3::new(0.6, 0.4, 0.3);
        let a = box_tree(size, 0.05);
        let mut rng = Rng(12);
        for _ in 0..200 {
            let up = rng.direction();
            // The box's lowest point along `up`, and a floor a little above it.
            let lowest = -0.5 * size.dot(up.abs());
            let height = lowest + rng.range(-0.01, 0.08);
            let floor = |p: Vec3, _: f32| Some((p.dot(up) - height, up));
            let mut detection = Detection::default();
            detection.refine_against(&a, &floor, 0.02, &Budget::default());
            let mut primitives: Vec<Primitive> = detection
                .pairs()
                .filter_map(|p| primitive_against(&a, &floor, 0.02, p))
                .collect();
            let mut out = Vec::new();
            reduce(
                &mut primitives,
                Averaging::Weighted,
                Grouping::Together,
                up,
                &mut out,
            );
            let (found, truth) = (out[0].distance, lowest - height);
            assert!((out[0].normal - up).length() < 1e-4);
            // Conservative, and by less than the diagonal of a voxel.
            assert!(found <= truth + 1e-4, "{found} above {truth}");
            assert!(found > truth - 0.05 * 1.74, "{found} far below {truth}");
        }
    }

    #[test]
    fn a_pierced_plate_has_a_direction_even_where_normals_cancel() {
        // A thin rod through a thin plate: directions to both sides cancel.
        let (rod, plate) = (
            box_tree(Vec3::new(0.08, 0.08, 1.0), 0.04),
            box_tree(Vec3::new(1.0, 1.0, 0.04), 0.04),
        );
        let out = contacts(
            &rod,
            &plate,
            &Pose {
                rotation: Mat3::IDENTITY,
                translation: Vec3::ZERO,
            },
            Grouping::Together,
        );
        assert!(out[0].normal.is_normalized() && out[0].point.is_finite());
    }
}
