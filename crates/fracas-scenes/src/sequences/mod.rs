//! Deforming and fracturing meshes over time: the benchmarks of [Heo 2010, Table 1],
//! made here, deterministic, at the paper's sizes and numbers of events.
//!
//! | sequence | frames | events | triangles | paper |
//! | --- | --- | --- | --- | --- |
//! | [`n_body`] | 149 | 0 | 32 K | 32 K (34 K in its text) |
//! | [`cloth`] | 465 | 0 | 92 K | 92 K |
//! | [`breaking_walls`] | 80 | 8 | 42 K to 140 K | 42 K to 140 K |
//! | [`exploding_dragon`] | 250 | 4 | 252 K | 252 K |
//! | [`ripple`] | 2 | 0 | 92 K | (ours: the peers' table) |
//! | [`folded`] | 2 | 0 | 92 K | (ours: the peers' table) |
//!
//! A sequence is asked frame by frame for [`Change`]s, which [`Player`] applies to a
//! scene. Making a frame and applying it are apart, so that only the latter is timed.

pub mod breaking_walls;
pub mod cloth;
pub mod exploding_dragon;
pub mod folded;
pub mod n_body;
pub mod ripple;
pub mod shapes;

use fracas_core::splitmix64;
use fracas_fastcd::{BodyId, EditError, FastBvh, Part, Settings};
use glam::DVec3;
pub use shapes::Mesh;

/// What happens to a scene before an update. Bodies are numbered by the sequence, in
/// the order in which they come to be, from zero.
#[derive(Clone, Debug)]
pub enum Change {
    /// A new body.
    Add(Mesh),
    /// A body breaks; each part gets the next number.
    Split {
        /// The body.
        body: usize,
        /// The parts.
        parts: Vec<Part>,
    },
    /// A body's vertices move.
    Move {
        /// The body.
        body: usize,
        /// Where to, in the body's own order of vertices.
        positions: Vec<DVec3>,
    },
}

/// A source of frames.
pub trait Sequence {
    /// Its name.
    fn name(&self) -> &'static str;
    /// How many frames it has; frame 0 adds the bodies.
    fn frames(&self) -> usize;
    /// Frames at which the topology changes.
    fn events(&self) -> Vec<usize>;
    /// The changes of the next frame.
    fn next_frame(&mut self) -> Vec<Change>;
}

/// Applies a sequence to a scene.
#[derive(Clone, Debug)]
pub struct Player {
    /// The scene.
    pub scene: FastBvh,
    bodies: Vec<Option<BodyId>>,
}

impl Player {
    /// An empty scene.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            scene: FastBvh::new(settings),
            bodies: Vec::new(),
        }
    }

    /// Applies one frame and updates.
    ///
    /// # Errors
    /// When a change is refused; a sequence of this module never is.
    pub fn apply(&mut self, changes: &[Change]) -> Result<(), EditError> {
        self.edit(changes)?;
        self.scene.update();
        Ok(())
    }

    /// Applies one frame; the scene is not updated yet.
    ///
    /// # Errors
    /// As [`Player::apply`].
    pub fn edit(&mut self, changes: &[Change]) -> Result<(), EditError> {
        for change in changes {
            match change {
                Change::Add((positions, triangles)) => {
                    let id = self.scene.add(positions, triangles)?;
                    self.bodies.push(Some(id));
                }
                Change::Split { body, parts } => {
                    if let Some(id) = self.bodies[*body].take() {
                        let new = self.scene.split(id, parts, &[])?;
                        self.bodies.extend(new.into_iter().map(|n| Some(n.id)));
                    }
                }
                Change::Move { body, positions } => {
                    if let Some(id) = self.bodies[*body] {
                        self.scene.move_vertices(id, positions)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A small, fast, seeded generator (splitmix64).
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn unit(&mut self) -> f64 {
        (splitmix64(&mut self.0) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn in_ball(&mut self) -> DVec3 {
        loop {
            let p = DVec3::new(
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
            );
            if p.length_squared() <= 1.0 {
                return p;
            }
        }
    }
}

/// Rotation by `angle` around a unit `axis` (Rodrigues), with `libm` so that it is
/// the same everywhere.
pub(crate) fn rotate(p: DVec3, axis: DVec3, angle: f64) -> DVec3 {
    let (s, c) = (libm::sin(angle), libm::cos(angle));
    p * c + axis.cross(p) * s + axis * axis.dot(p) * (1.0 - c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_fastcd::Detection;

    /// The sizes and counts of Table 1, and that every frame is accepted.
    #[test]
    fn sequences_are_as_announced() {
        let check = |sequence: &mut dyn Sequence,
                     first: std::ops::RangeInclusive<usize>,
                     last: std::ops::RangeInclusive<usize>,
                     frames: usize| {
            let mut player = Player::new(Settings {
                detection: Detection::Discrete,
                ..Settings::default()
            });
            let events = sequence.events();
            let mut split_at = Vec::new();
            for frame in 0..frames.min(sequence.frames()) {
                let changes = sequence.next_frame();
                if changes.iter().any(|c| matches!(c, Change::Split { .. })) {
                    split_at.push(frame);
                }
                player.apply(&changes).unwrap();
                if frame == 0 {
                    assert!(
                        first.contains(&player.scene.triangle_count()),
                        "{}",
                        player.scene.triangle_count()
                    );
                }
            }
            player.scene.validate().unwrap();
            assert!(
                last.contains(&player.scene.triangle_count()),
                "{} {}",
                sequence.name(),
                player.scene.triangle_count()
            );
            let expected: Vec<usize> = events.into_iter().filter(|&e| e < frames).collect();
            assert_eq!(split_at, expected, "{}", sequence.name());
        };
        check(
            &mut n_body::NBody::new(),
            32_000..=34_000,
            32_000..=34_000,
            5,
        );
        check(
            &mut cloth::Cloth::new(),
            92_000..=93_000,
            92_000..=93_000,
            3,
        );
        check(
            &mut breaking_walls::BreakingWalls::new(),
            41_000..=43_000,
            136_000..=144_000,
            80,
        );
        check(
            &mut exploding_dragon::ExplodingDragon::procedural(),
            250_000..=254_000,
            250_000..=254_000,
            30,
        );
    }
}
