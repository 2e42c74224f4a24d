//! A soft scene as a [`Film`]: its surfaces frame by frame, for the page.

use fracas_soft::{SoftWorld, WorldStats};

use super::{SoftScene, SoftSurface};
use crate::film::{Film, FilmBody, FilmShape, FilmSoft, NUMBERS};

/// Contacts kept of a step: enough to be seen, few enough to be drawn.
const MOST_CONTACTS: usize = 400;

/// The place of every soft body: its vertices are where they are in the world.
const HERE: [f32; 7] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];

/// Films a soft scene, frame by frame.
pub struct SoftFilming {
    film: Film,
}

impl SoftFilming {
    /// Begins, with frame 0.
    #[must_use]
    pub fn new(scene: &SoftScene) -> Self {
        let shape = |(i, surface): (usize, &SoftSurface)| FilmBody {
            shape: FilmShape::Soft(Box::new(FilmSoft {
                object: i as u32,
                colour: surface.colour,
                ..FilmSoft::default()
            })),
            first: 0,
            poses: Vec::new(),
        };
        let mut filming = Self {
            film: Film {
                name: scene.name().into(),
                step: SoftScene::DT,
                view: scene.view(),
                bodies: scene.surfaces().iter().enumerate().map(shape).collect(),
                ..Film::default()
            },
        };
        filming.frame(scene, 0.0);
        filming
    }

    /// Adds the next frame; `total` is what the step took, in milliseconds.
    pub fn frame(&mut self, scene: &SoftScene, total: f64) {
        let now = self.film.numbers.len() as u32;
        for (body, surface) in self.film.bodies.iter_mut().zip(scene.surfaces()) {
            body.poses.push(HERE);
            if let FilmShape::Soft(soft) = &mut body.shape {
                let triangles = surface.drawn_triangles();
                if soft.shapes.last().is_none_or(|last| last.1 != triangles) {
                    soft.shapes.push((now, triangles));
                }
                // What never moves is kept once.
                if !surface.is_fixed || soft.frames.is_empty() {
                    soft.frames.push(surface.positions);
                }
            }
        }
        self.film.numbers.push(numbers(scene, total));
        self.film.contacts.push(contacts(scene.world()));
    }

    /// The film.
    #[must_use]
    pub fn finish(self) -> Film {
        self.film
    }
}

/// A step in the numbers of [`crate::film::numbers`]. Points visited are nodes made
/// final by marches, broken bodies are tears; cutting is part of the physics.
#[must_use]
pub fn numbers(scene: &SoftScene, total: f64) -> [f64; NUMBERS] {
    let stats: &WorldStats = scene.stats();
    let collision = 1e3 * (stats.detect_time + stats.march_time + stats.respond_time);
    [
        scene.steps().saturating_sub(1) as f64,
        collision,
        1e3 * stats.simulate_time,
        0.0,
        0.0,
        total,
        stats.overlaps as f64,
        stats.marched_nodes as f64,
        stats.pushes as f64,
        stats.pushes as f64,
        scene.world().bodies().len() as f64,
        scene.pieces() as f64,
        stats.tears as f64,
    ]
}

/// Pushes as they were when overlaps were last looked for, as [`crate::film::contacts`] has
/// them, evenly picked where there are many. The impulse is that of the bare penalty in one
/// substep: the most that a push may give, not what it gave (`fracas_soft::contact`).
#[must_use]
pub fn contacts(world: &SoftWorld) -> Vec<f32> {
    let pushes = world.pushes();
    let every = pushes.len().div_ceil(MOST_CONTACTS).max(1);
    let h = SoftScene::DT / world.substeps.max(1) as f32;
    let mut out = Vec::new();
    for push in pushes.iter().step_by(every) {
        out.extend(push.point.to_array());
        out.extend(push.normal.to_array());
        out.extend([-push.depth, world.stiffness * push.measure * h]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_soft_film_survives_the_file_and_shows_the_tear() {
        let mut scene = SoftScene::new("ball-tears-cloth").unwrap();
        let mut filming = SoftFilming::new(&scene);
        let mut last = scene.surfaces();
        for _ in 0..14 {
            scene.step();
            filming.frame(&scene, 1.0);
            last = scene.surfaces();
        }
        let film = filming.finish();
        let again = Film::from_bytes(&film.to_bytes()).unwrap();
        assert_eq!(again, film);
        assert_eq!(film.steps(), 14);
        let mut torn = false;
        for ((_, body, _), surface) in film.at(14).zip(&last) {
            let FilmShape::Soft(soft) = &body.shape else {
                panic!("a soft scene holds soft bodies only")
            };
            let (positions, triangles) = soft.at(14).unwrap();
            assert_eq!(positions, surface.positions);
            assert_eq!(triangles, surface.drawn_triangles());
            torn |= soft.shapes.len() > 1;
        }
        assert!(torn, "the cloth should have torn by now");
    }
}
