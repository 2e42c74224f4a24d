//! Breaking by hand: a pattern laid on a piece, or a cut along a line that was drawn.
//!
//! Neither asks what hit the piece or how strong it is.

use fracas_bake::shatter::{Pattern, ShatterOptions, plan};
use fracas_fracture::patterns;
use fracas_rapier::{PieceId, World};
use glam::Vec3;

/// Patterns by the names that the page has for them.
pub const PATTERNS: [(&str, Pattern); 4] = [
    ("cells", Pattern::Voronoi),
    ("slices", Pattern::Slices),
    ("spokes", Pattern::Radial),
    ("chips", Pattern::Conchoidal),
];

/// The most pieces that the page can ask for.
const MOST_PIECES: u32 = 100;

/// Breaks a piece by a pattern into about so many around a point of its own frame, seen along `direction`.
/// How many pieces it is now: none where there is no such piece or it does not come apart.
pub fn shatter(
    world: &mut World,
    piece: PieceId,
    (pattern, pieces, seed): (Pattern, u32, u32),
    at: Vec3,
    direction: Vec3,
) -> usize {
    let Some(shape) = world.shape(piece) else {
        return 0;
    };
    let planned = {
        let state = shape.object().read();
        let options = ShatterOptions {
            pattern,
            pieces: match pattern {
                // Spokes are counted, and a ring parts each of them.
                Pattern::Radial => (pieces.clamp(2, MOST_PIECES) / 2).max(2),
                _ => pieces.clamp(2, MOST_PIECES),
            },
            at: at.is_finite().then_some(at),
            direction: match pattern {
                // Slices go across the longest side of most things when they may choose.
                Pattern::Slices => None,
                _ => direction.try_normalize(),
            },
            seed: u64::from(seed),
            ..ShatterOptions::default()
        };
        plan(
            state.fragments(),
            piece.fragment,
            None,
            &options,
            &mut |_| (),
        )
    };
    match planned {
        Ok(plan) => world.break_piece(piece, plan.fracture).len(),
        Err(_) => 0,
    }
}

/// What is seen of a line that was drawn: everything between two lines of sight.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    eye: Vec3,
    ends: [Vec3; 2],
    /// Across the plane of both lines, not a unit.
    across: Vec3,
}

impl Cut {
    /// By the place of the eye and two directions; `None` where they make no plane.
    #[must_use]
    pub fn new(eye: Vec3, ends: [Vec3; 2]) -> Option<Self> {
        let across = ends[0].cross(ends[1]);
        let is_plane = eye.is_finite() && across.is_finite() && across.length_squared() > 0.0;
        is_plane.then_some(Self { eye, ends, across })
    }

    /// On which side of the plane a point is; `None` where it is not between the lines.
    fn side(&self, p: Vec3) -> Option<bool> {
        let from = p - self.eye;
        let within = from.cross(self.ends[1]).dot(self.across) > 0.0
            && self.ends[0].cross(from).dot(self.across) > 0.0;
        within.then(|| from.dot(self.across) > 0.0)
    }
}

/// Cuts everything that the line crosses. How many pieces were cut.
pub fn cut(world: &mut World, cut: &Cut) -> usize {
    let crossed: Vec<PieceId> = world
        .pieces()
        .filter(|&piece| crosses(world, piece, cut))
        .collect();
    let mut count = 0;
    for piece in crossed {
        let (Some(pose), Some(shape)) = (world.pose(piece), world.shape(piece)) else {
            continue;
        };
        let eye = pose.inverse_transform_point(cut.eye);
        let across = (pose.rotation.inverse() * cut.across).normalize_or_zero();
        let fracture = {
            let state = shape.object().read();
            let level = |p: Vec3| across.dot(p - eye);
            patterns::user(state.fragments(), piece.fragment, &[&level])
        };
        if let Some(fracture) = fracture {
            count += usize::from(!world.break_piece(piece, fracture).is_empty());
        }
    }
    count
}

/// Whether there is something of a piece on both sides of the line.
fn crosses(world: &World, piece: PieceId, cut: &Cut) -> bool {
    let (Some(pose), Some(surface)) = (world.pose(piece), world.surface(piece)) else {
        return false;
    };
    let mut seen = [false; 2];
    for &p in surface.positions() {
        if let Some(side) = cut.side(pose * p) {
            seen[usize::from(side)] = true;
            if seen == [true; 2] {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fracas_core::FieldOptions;
    use fracas_core::sphere_tree::BuildOptions;
    use fracas_core::testing::box_grid;
    use fracas_rapier::{Blueprint, Breakable, WorldSettings};
    use parry3d::math::Pose;

    use super::*;

    /// Two cubes side by side, a metre from side to side, their middles at x = -1 and 1.
    fn cubes() -> (World, [PieceId; 2]) {
        let mesh = Arc::new(box_grid([6; 3], Vec3::ONE));
        let kind =
            Blueprint::build(mesh, &FieldOptions::default(), &BuildOptions::default()).unwrap();
        let kind = Arc::new(kind);
        let mut world = World::new(WorldSettings::default());
        for x in [-1.5, 0.5] {
            let at = Pose::from_translation(Vec3::new(x, -0.5, -0.5));
            world.add(Breakable::new(kind.clone()).at(at));
        }
        let mut pieces = world.pieces();
        let both = [pieces.next().unwrap(), pieces.next().unwrap()];
        drop(pieces);
        (world, both)
    }

    fn volume(world: &World) -> f64 {
        let of = |piece| world.shape(piece).unwrap().volume();
        world.pieces().map(of).sum()
    }

    #[test]
    fn every_pattern_makes_about_so_many_pieces_of_the_one_alone() {
        for (name, pattern) in PATTERNS {
            let (mut world, [piece, other]) = cubes();
            let whole = volume(&world);
            let at = Vec3::new(0.5, 1.0, 0.5);
            let made = shatter(&mut world, piece, (pattern, 8, 3), at, Vec3::NEG_Y);
            // Where spokes and rings cross, a corner may come off.
            let most = if pattern == Pattern::Radial { 12 } else { 8 };
            assert!((2..=most).contains(&made), "{name}: {made}");
            assert_eq!(world.pieces().count(), made + 1, "{name}");
            assert!(world.pieces().any(|p| p == other), "{name}");
            assert!((volume(&world) - whole).abs() < 1e-4, "{name}");
            assert_eq!(shatter(&mut world, piece, (pattern, 8, 3), at, Vec3::Y), 0);
        }
    }

    #[test]
    fn a_line_cuts_what_it_crosses_and_nothing_beside() {
        // From far in front, a level line over both, over one, and over neither.
        let eye = Vec3::new(0.0, 0.1, 6.0);
        let to = |x: f32, y: f32| Vec3::new(x, y, 0.0) - eye;
        for (from, until, expected) in [(-2.0, 2.0, 2), (-0.2, 2.0, 1), (-0.3, 0.3, 0)] {
            let (mut world, _) = cubes();
            let whole = volume(&world);
            let line = Cut::new(eye, [to(from, 0.1), to(until, 0.1)]).unwrap();
            assert_eq!(cut(&mut world, &line), expected);
            assert_eq!(world.pieces().count(), 2 + expected);
            assert!((volume(&world) - whole).abs() < 1e-4);
            // The cut is flat, and where the line was: pieces are above or below.
            for piece in world.pieces() {
                let shape = world.surface(piece).unwrap();
                let pose = world.pose(piece).unwrap();
                let heights = shape.positions().iter().map(|&p| (pose * p).y);
                let (low, high) =
                    heights.fold((9.0_f32, -9.0_f32), |(l, h), y| (l.min(y), h.max(y)));
                let is_cut = low > 0.09 || high < 0.11;
                let is_whole = (high - low - 1.0).abs() < 1e-4;
                assert!(is_cut || is_whole, "{low} to {high}");
            }
        }
        let above = Cut::new(eye, [to(-2.0, 0.9), to(2.0, 0.9)]).unwrap();
        assert_eq!(cut(&mut cubes().0, &above), 0);
        assert!(Cut::new(eye, [Vec3::X, Vec3::X]).is_none());
        assert!(Cut::new(eye, [Vec3::NAN, Vec3::X]).is_none());
    }
}
