//! Soft scenes after [Marchal 2004]: things that deform, tear and fall to pieces.
//!
//! | scene | after | what it shows |
//! | --- | --- | --- |
//! | `torus-on-cube` | Fig. 13 | a torus of 6,912 tetrahedra breaks on a cube |
//! | `ball-tears-cloth` | Fig. 14 | a soft ball falls through a cloth |
//! | `ellipsoids-on-edge` | Fig. 15 | a hundred ellipsoids of 120 tetrahedra break on the edge of a cube |

mod ball_tears_cloth;
mod ellipsoids_on_edge;
mod filming;
mod torus_on_cube;

pub use filming::{SoftFilming, contacts, numbers};

use fracas_core::Digest;
use fracas_core::used_vertices::used_vertices;
use fracas_soft::{SoftWorld, WorldStats};
use glam::Vec3;
use thiserror::Error;

/// There is no soft scene of that name.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("no soft scene is named `{name}`; there are {}", SoftScene::NAMES.join(", "))]
pub struct UnknownSoftScene {
    /// The name asked for.
    pub name: String,
}

/// A running soft scene.
#[derive(Clone, Debug)]
pub struct SoftScene {
    name: &'static str,
    world: SoftWorld,
    steps: u64,
    /// The highest that a camera should show (m).
    high: f32,
}

/// A surface to draw, as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftSurface {
    /// Its vertices.
    pub positions: Vec<Vec3>,
    /// Its triangles; a body's are counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Whether it is cloth: seen from both sides.
    pub is_cloth: bool,
    /// Whether it never moves.
    pub is_fixed: bool,
    /// Its colour (sRGB).
    pub colour: [u8; 3],
}

impl SoftSurface {
    /// Its triangles as a renderer wants them that shows front faces only: those of
    /// cloth twice, once turned over.
    #[must_use]
    pub fn drawn_triangles(&self) -> Vec<[u32; 3]> {
        let mut triangles = self.triangles.clone();
        if self.is_cloth {
            triangles.extend(self.triangles.iter().map(|&[a, b, c]| [a, c, b]));
        }
        triangles
    }
}

const STONE: [u8; 3] = [150, 146, 140];
const RED: [u8; 3] = [196, 70, 62];
/// Soft bodies, in turns.
const PAINTS: [[u8; 3]; 8] = [
    [88, 172, 142],
    [226, 158, 84],
    [112, 144, 208],
    [206, 112, 128],
    [158, 178, 86],
    [160, 122, 190],
    [92, 182, 196],
    [214, 190, 104],
];

/// A soft scene by its name.
#[derive(Clone, Copy, Debug)]
pub struct SoftSceneInfo {
    /// Its name.
    pub name: &'static str,
    /// What happens, in a sentence.
    pub about: &'static str,
}

impl SoftScene {
    /// The scenes there are, each with a sentence.
    pub const ALL: [SoftSceneInfo; 3] = [
        SoftSceneInfo {
            name: Self::NAMES[0],
            about: "a soft torus of 6,912 tetrahedra falls on a cube and tears (Marchal, Fig. 13)",
        },
        SoftSceneInfo {
            name: Self::NAMES[1],
            about: "a soft ball falls through a cloth (Marchal, Fig. 14)",
        },
        SoftSceneInfo {
            name: Self::NAMES[2],
            about: "a hundred soft ellipsoids break on the edge of a cube (Marchal, Fig. 15)",
        },
    ];

    /// How many steps they are meant to run.
    pub const STEPS: u64 = 90;

    /// The scenes there are.
    pub const NAMES: [&str; 3] = ["torus-on-cube", "ball-tears-cloth", "ellipsoids-on-edge"];

    /// The box that a camera should show: low and high corner.
    #[must_use]
    pub fn view(&self) -> (Vec3, Vec3) {
        let wide = match self.name {
            "ball-tears-cloth" => 0.8,
            _ => 1.0,
        };
        (
            Vec3::new(-wide, 0.0, -wide),
            Vec3::new(wide, self.high, wide),
        )
    }

    /// Seconds of one step.
    pub const DT: f32 = 1.0 / 60.0;

    /// Sets up a scene.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn new(name: &str) -> Result<Self, UnknownSoftScene> {
        Self::sized(name, torus_on_cube::FULL, ellipsoids_on_edge::FULL)
    }

    /// The same with coarser or fewer bodies, so that a browser steps it in about the time
    /// that a step stands for.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn small(name: &str) -> Result<Self, UnknownSoftScene> {
        Self::sized(name, torus_on_cube::SMALL, ellipsoids_on_edge::SMALL)
    }

    fn sized(name: &str, torus: [u32; 3], layers: u8) -> Result<Self, UnknownSoftScene> {
        let known = Self::NAMES.iter().position(|&known| known == name);
        let (world, high) = match known {
            Some(0) => (torus_on_cube::world(torus), 1.4),
            Some(1) => (ball_tears_cloth::world(), 1.6),
            Some(2) => {
                let top = 0.8 + 0.24 * f32::from(layers);
                (ellipsoids_on_edge::world(layers), top.max(1.5))
            }
            _ => return Err(UnknownSoftScene { name: name.into() }),
        };
        Ok(Self {
            name: Self::NAMES[known.unwrap_or(0)],
            world,
            steps: 0,
            high,
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Advances by [`SoftScene::DT`].
    pub fn step(&mut self) {
        self.world.step(Self::DT);
        self.steps += 1;
    }

    /// Steps made.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What is in it.
    #[must_use]
    pub fn world(&self) -> &SoftWorld {
        &self.world
    }

    /// What is in it, to change settings or to cut.
    pub fn world_mut(&mut self) -> &mut SoftWorld {
        &mut self.world
    }

    /// Counts of the last step.
    #[must_use]
    pub fn stats(&self) -> &WorldStats {
        self.world.stats()
    }

    /// The number of separate pieces of all bodies that can move.
    #[must_use]
    pub fn pieces(&self) -> usize {
        let bodies = self.world.bodies().iter();
        bodies
            .filter(|b| !b.is_fixed())
            .map(|b| b.topology().part_count())
            .sum()
    }

    /// A number that depends on every bit of where everything is: the same run has
    /// the same, native and in wasm.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let bodies = self.world.bodies().iter().flat_map(|b| b.positions());
        let cloth = self.world.cloth().into_iter().flat_map(|c| c.positions());
        let numbers = bodies.chain(cloth).flat_map(|p| p.to_array());
        numbers.map(f32::to_bits).collect::<Digest>().value()
    }

    /// What is to be drawn: every body, then the cloth.
    #[must_use]
    pub fn surfaces(&self) -> Vec<SoftSurface> {
        let bodies = self.world.bodies().iter().enumerate().map(|(i, body)| {
            let (positions, triangles) = used_vertices(body.positions(), body.topology().faces());
            SoftSurface {
                positions,
                triangles,
                is_cloth: false,
                is_fixed: body.is_fixed(),
                colour: if body.is_fixed() {
                    STONE
                } else {
                    // A fixed body comes first, if there is one.
                    PAINTS[i.wrapping_sub(1) % PAINTS.len()]
                },
            }
        });
        let cloth = self.world.cloth().map(|cloth| SoftSurface {
            positions: cloth.positions().to_vec(),
            triangles: cloth.triangles().to_vec(),
            is_cloth: true,
            is_fixed: false,
            colour: RED,
        });
        bodies.chain(cloth).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_start_and_step() {
        for name in SoftScene::NAMES {
            let mut scene = SoftScene::new(name).unwrap();
            let before = scene.pieces();
            for _ in 0..2 {
                scene.step();
            }
            scene.world().validate().unwrap();
            assert_eq!(scene.pieces(), before, "{name}: nothing has touched yet");
            assert!(!scene.surfaces().is_empty());
        }
        let error = SoftScene::new("soup").unwrap_err().to_string();
        assert!(error.contains("soup") && error.contains("torus-on-cube"));
    }

    #[test]
    fn the_cloth_tears_under_the_ball() {
        let mut scene = SoftScene::new("ball-tears-cloth").unwrap();
        let mut tears = 0;
        for _ in 0..60 {
            scene.step();
            tears += scene.stats().tears;
        }
        scene.world().validate().unwrap();
        assert!(tears > 0, "the cloth held");
    }
}
