//! Time of detection, march and response against the number of colliding
//! tetrahedra [Marchal 2004, section 6.1 and Fig. 16]: two boxes at random
//! placements, from a touch to half the volume.

use fracas_core::testing::Rng;
use fracas_tet_distance::unstable::specimens::shaken_box;
use fracas_tet_distance::{DepthField, Detector, Method, Object, Responder, Response, TetOf};
use glam::{Mat3, Vec3};

/// One placement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Collision {
    /// Tetrahedra of both bodies that overlap the other.
    pub tets: usize,
    /// Nodes of those tetrahedra: the paper's colliding points.
    pub points: usize,
    /// Forces.
    pub pushes: usize,
    /// Detection, march and response, shortest of some runs, in the clock's unit.
    pub time: f64,
}

/// How it is measured.
#[derive(Clone, Copy, Debug)]
pub struct CollisionSettings {
    /// Cells along a box's side: 6 tetrahedra each.
    pub cells: u32,
    /// Placements.
    pub placements: usize,
    /// Runs of each.
    pub runs: usize,
}

/// Measures placements, in the order of colliding tetrahedra.
#[must_use]
pub fn collisions(
    response: Response,
    settings: CollisionSettings,
    clock: &dyn Fn() -> f64,
) -> Vec<Collision> {
    let specimen = shaken_box(settings.cells);
    let mut found = Vec::new();
    let mut rng = Rng(7);
    for _ in 0..settings.placements {
        let turn = Mat3::from_axis_angle(rng.direction(), rng.range(0.0, 3.0));
        let offset = rng.direction() * rng.range(0.5, 1.1);
        let centre = Vec3::splat(0.5);
        let moved: Vec<Vec3> = specimen
            .positions
            .iter()
            .map(|&p| turn * (p - centre) + centre + offset)
            .collect();
        let objects = [&specimen.positions, &moved].map(|positions| Object {
            topology: &specimen.topology,
            positions,
        });
        let mut detector = Detector::default();
        let mut responder = Responder::default();
        let mut fields = vec![DepthField::new(Method::ClosestPoint); 2];
        let (mut pairs, mut pushes) = (Vec::new(), Vec::new());
        let mut marks: [Vec<u32>; 2] = Default::default();
        let mut best = f64::INFINITY;
        for _ in 0..settings.runs {
            let start = clock();
            pairs.clear();
            pushes.clear();
            detector.overlaps(&objects, &mut pairs);
            for (i, marks) in marks.iter_mut().enumerate() {
                mark(&pairs, i as u32, marks);
                fields[i].march_to(objects[i].topology, objects[i].positions, marks);
            }
            responder.pushes(&objects, &fields, &pairs, response, &mut pushes);
            best = best.min(clock() - start);
        }
        let tets = marks[0].len() + marks[1].len();
        if tets > 0 {
            let points = marks
                .iter()
                .map(|marks| {
                    let all = specimen.topology.tets();
                    let mut nodes: Vec<u32> = marks.iter().flat_map(|&t| all[t as usize]).collect();
                    nodes.sort_unstable();
                    nodes.dedup();
                    nodes.len()
                })
                .sum();
            found.push(Collision {
                tets,
                points,
                pushes: pushes.len(),
                time: best,
            });
        }
    }
    found.sort_by_key(|c| c.tets);
    found
}

fn mark(pairs: &[[TetOf; 2]], object: u32, marks: &mut Vec<u32>) {
    marks.clear();
    marks.extend(
        pairs
            .iter()
            .flatten()
            .filter(|t| t.object == object)
            .map(|t| t.tet),
    );
    marks.sort_unstable();
    marks.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_are_counted() {
        let settings = CollisionSettings {
            cells: 5,
            placements: 6,
            runs: 1,
        };
        let found = collisions(Response::Segment, settings, &|| 0.0);
        assert!(found.len() >= 3);
        assert!(
            found
                .iter()
                .all(|c| c.tets > 0 && c.points > 0 && c.pushes > 0)
        );
        assert!(found.windows(2).all(|w| w[0].tets <= w[1].tets));
    }
}
