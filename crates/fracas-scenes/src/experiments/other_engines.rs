//! The fresh fracture as other engines are given it, and what they made of it.
//!
//! The pieces of [`crate::rigid::fresh_fracture`]: each by its surface, as our cut
//! left it, and by the exact convex cells that the cut was made of. An engine returns
//! where each piece is at the end; spread, overlap and bodies lost are then measured
//! here, the same for all: cells against cells by parry3d's convex queries, surfaces
//! against surfaces by asking every sample point.
//!
//! **Guarantee**: the overlap of cells is the deepest of two convex cells, so it never
//! exceeds the way out of the whole pieces; that of surfaces is the deepest sample
//! point's.

use fracas_rapier::{FragmentDispatcher, FragmentShape};
use glam::{DVec3, Vec3};
use parry3d::bounding_volume::BoundingVolume as _;
use parry3d::math::Pose;
use parry3d::query;
use parry3d::shape::{Shape as _, SharedShape};

use crate::measure::mean_distance;
use crate::rigid::cells::Cells;
use crate::rigid::fresh_fracture::{CELLS, DENSITY, DROP, PIECES};
use crate::rigid::{SceneError, SceneOptions, by_name};

/// What a piece is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// Exact convex cells.
    Cells,
    /// The surface of our cut.
    Surface,
}

/// One piece in the cube's frame, whose origin is the middle of the cube.
pub struct FreshPiece {
    /// Centre of mass.
    pub centre: DVec3,
    /// In kilograms.
    pub mass: f64,
    /// Corners of its cells.
    pub cells: Vec<Vec<DVec3>>,
    /// Group of cells it was cut along.
    pub group: usize,
    shape: FragmentShape,
    hulls: Vec<SharedShape>,
}

impl FreshPiece {
    /// Positions and triangles of its surface.
    #[must_use]
    pub fn surface(&self) -> (&[Vec3], &[[u32; 3]]) {
        let surface = self.shape.surface();
        (surface.positions(), surface.triangles())
    }
}

/// All pieces.
pub struct FreshPieces {
    /// In our order.
    pub pieces: Vec<FreshPiece>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ending {
    /// Mean distance of the centres of mass from their mean (m).
    pub spread: f64,
    /// Deepest overlap of two pieces, or of one with the floor (m).
    pub deepest: f64,
    /// Pieces below the floor, out of sight, or nowhere.
    pub lost: usize,
}

impl FreshPieces {
    /// Breaks the cube.
    ///
    /// # Errors
    /// See [`SceneError`]; also when a piece has no cells of its own.
    pub fn build(seed: u64) -> Result<Self, SceneError> {
        let options = SceneOptions {
            seed,
            ..SceneOptions::default()
        };
        let scene = by_name("fresh-fracture", &options, &mut |_| {})?;
        let cells = Cells::build(CELLS, PIECES, seed);
        let world = scene.world();
        let mut pieces: Vec<FreshPiece> = Vec::new();
        for piece in world.pieces() {
            let Some(shape) = world.shape(piece) else {
                continue;
            };
            let mass = shape.surface().mass_properties();
            let apart = |g: usize| (cells.centre(g) - 0.5).distance_squared(mass.centre);
            let group = (0..cells.groups)
                .min_by(|&a, &b| apart(a).total_cmp(&apart(b)))
                .filter(|g| pieces.iter().all(|p| p.group != *g))
                .ok_or_else(|| SceneError::Body {
                    what: "hand over".into(),
                    why: "a piece has no cells of its own".into(),
                })?;
            let corners: Vec<Vec<DVec3>> = cells
                .of(group)
                .map(|c| c.corners.iter().map(|p| *p - 0.5).collect())
                .collect();
            let hull = |points: &Vec<DVec3>| {
                let points: Vec<Vec3> = points.iter().map(|p| p.as_vec3()).collect();
                SharedShape::convex_hull(&points)
            };
            pieces.push(FreshPiece {
                centre: mass.centre,
                mass: mass.volume * f64::from(DENSITY),
                hulls: corners.iter().filter_map(hull).collect(),
                cells: corners,
                group,
                shape: shape.clone(),
            });
        }
        Ok(Self { pieces })
    }

    /// Where the cube's frame is at the start.
    #[must_use]
    pub fn start() -> Pose {
        Pose::translation(0.0, 0.5 + DROP, 0.0)
    }

    /// Judges where the pieces are: the cube's frame in the world for each, in order.
    #[must_use]
    pub fn judge(&self, poses: &[Pose], made: Made) -> Ending {
        let mut there = Vec::new();
        let mut lost = self.pieces.len().saturating_sub(poses.len());
        for (piece, pose) in self.pieces.iter().zip(poses) {
            let centre = *pose * piece.centre.as_vec3();
            let size = piece.shape.compute_local_aabb().half_extents().length();
            if !centre.is_finite() || centre.length() > 100.0 || centre.y < -0.25 * size {
                lost += 1;
            }
            if centre.is_finite() && pose.rotation.is_finite() {
                there.push((piece, pose, centre, 2.0 * size));
            }
        }
        let mut deepest = 0.0_f64;
        for (i, &(a, pose_a, at_a, reach_a)) in there.iter().enumerate() {
            deepest = deepest.max(below_floor(a, pose_a, made));
            for &(b, pose_b, at_b, reach_b) in &there[i + 1..] {
                if at_a.distance(at_b) < reach_a + reach_b {
                    let depth = match made {
                        Made::Cells => of_cells(a, pose_a, b, pose_b),
                        Made::Surface => of_surfaces(a, pose_a, b, pose_b),
                    };
                    deepest = deepest.max(f64::from(depth));
                }
            }
        }
        let centres: Vec<DVec3> = there.iter().map(|t| t.2.as_dvec3()).collect();
        Ending {
            spread: mean_distance(&centres),
            deepest,
            lost,
        }
    }
}

fn below_floor(piece: &FreshPiece, pose: &Pose, made: Made) -> f64 {
    let lowest = |points: &mut dyn Iterator<Item = Vec3>| {
        let heights = points.map(|p| (*pose * p).y);
        heights.fold(f32::INFINITY, f32::min)
    };
    let low = match made {
        Made::Cells => lowest(&mut piece.cells.iter().flatten().map(|p| p.as_vec3())),
        Made::Surface => lowest(&mut piece.surface().0.iter().copied()),
    };
    f64::from((-low).max(0.0))
}

fn of_surfaces(a: &FreshPiece, pose_a: &Pose, b: &FreshPiece, pose_b: &Pose) -> f32 {
    let place = pose_a.inv_mul(pose_b);
    FragmentDispatcher::default()
        .overlap(&place, &a.shape, &b.shape)
        .map_or(0.0, |(_, depth)| depth)
}

fn of_cells(a: &FreshPiece, pose_a: &Pose, b: &FreshPiece, pose_b: &Pose) -> f32 {
    let mut deepest = 0.0_f32;
    for one in &a.hulls {
        let near = one.compute_aabb(pose_a);
        for other in &b.hulls {
            if !near.intersects(&other.compute_aabb(pose_b)) {
                continue;
            }
            if let Ok(Some(contact)) = query::contact(pose_a, &**one, pose_b, &**other, 0.0) {
                deepest = deepest.max(-contact.dist);
            }
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_told_apart() {
        let fresh = FreshPieces::build(0).unwrap();
        assert_eq!(fresh.pieces.len(), PIECES);
        let mass: f64 = fresh.pieces.iter().map(|p| p.mass).sum();
        assert!((mass - f64::from(DENSITY)).abs() < 1.0, "{mass}");
        // As broken: nothing overlaps by more than rounding, nothing is lost.
        let start = vec![FreshPieces::start(); PIECES];
        for made in [Made::Cells, Made::Surface] {
            let ending = fresh.judge(&start, made);
            assert!(ending.deepest < 1e-3, "{made:?} {ending:?}");
            assert_eq!(ending.lost, 0);
            assert!((0.3..0.6).contains(&ending.spread));
        }
        // Drawn together by a twentieth: overlaps show.
        let tight: Vec<Pose> = fresh
            .pieces
            .iter()
            .map(|p| {
                let inward = -0.05 * p.centre.as_vec3();
                Pose::translation(inward.x, 0.5 + DROP + inward.y, inward.z)
            })
            .collect();
        for made in [Made::Cells, Made::Surface] {
            let ending = fresh.judge(&tight, made);
            assert!(
                (0.002..0.1).contains(&ending.deepest),
                "{made:?} {ending:?}"
            );
        }
        // Sunk by a tenth, one far away, one nowhere.
        let mut poses = vec![Pose::translation(0.0, 0.4, 0.0); PIECES];
        let sunk = fresh.judge(&poses, Made::Cells);
        assert!((sunk.deepest - 0.1).abs() < 1e-4, "{sunk:?}");
        poses[3] = Pose::translation(0.0, 500.0, 0.0);
        poses[4] = Pose::translation(f32::NAN, 0.0, 0.0);
        assert_eq!(fresh.judge(&poses, Made::Cells).lost, 2);
    }
}
