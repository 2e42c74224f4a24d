//! A folded sheet: 215 x 215 quads, 92,450 triangles, in four layers that lie close. Two
//! frames in which it breathes. Either nothing touches, though millions of boxes overlap, or
//! layers touch along the folds' bellies.

use glam::{DVec3, dvec3};

use super::shapes::{Mesh, sheet};

/// Layers.
const FOLDS: f64 = 4.0;
/// From layer to layer.
const GAP: f64 = 0.02;

/// Start, end and triangles. `closing`: by how much of the gap two layers come nearer at
/// some places during the step; beyond 1 they touch.
#[must_use]
pub fn folded(quads: u32, closing: f64) -> (Vec<DVec3>, Vec<DVec3>, Vec<[u32; 3]>) {
    let (rest, triangles): Mesh = sheet(quads, quads);
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for p in &rest {
        (low, high) = (low.min(*p), high.max(*p));
    }
    let at = |closed: f64| -> Vec<DVec3> {
        rest.iter()
            .map(|p| {
                let [u, v] = [
                    (p.x - low.x) / (high.x - low.x),
                    (p.y - low.y) / (high.y - low.y),
                ];
                // Forth and back, in half circles at the turns.
                let length = 1.0 / FOLDS;
                let turn = 0.5 * std::f64::consts::PI * GAP;
                let (layer, along) = ((u / length).floor().min(FOLDS - 1.0), u % length);
                let along = if u >= 1.0 { length } else { along };
                let straight = length - turn;
                let (x, z) = if along < straight {
                    (along, 0.0)
                } else {
                    let angle = (along - straight) / (0.5 * GAP);
                    let half = 0.5 * GAP;
                    (
                        straight + half * libm::sin(angle),
                        half - half * libm::cos(angle),
                    )
                };
                let back = layer % 2.0 >= 1.0;
                let x = if back { straight - x } else { x };
                // Neighbouring layers bulge towards each other.
                let bulge = libm::sin(12.0 * v) * libm::sin(std::f64::consts::PI * x / straight);
                let towards = if back { -0.5 } else { 0.5 };
                let near = closed * GAP * towards * bulge;
                dvec3(x, v, layer * GAP + z + near)
            })
            .collect()
    };
    (at(0.3 * closing), at(closing), triangles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_fastcd::{Contacts, FastBvh, Scratch, Settings};

    #[test]
    fn layers_that_close_touch_and_the_others_do_not() {
        for (closing, touches) in [(0.8, false), (1.1, true)] {
            let (start, end, triangles) = folded(60, closing);
            let mut scene = FastBvh::new(Settings::default());
            let body = scene.add(&start, &triangles).unwrap();
            scene.update();
            let (mut scratch, mut pairs) = (Scratch::default(), Vec::new());
            scene.intersections(&mut scratch, &mut pairs);
            assert!(pairs.is_empty(), "it begins apart");
            scene.move_vertices(body, &end).unwrap();
            scene.update();
            let mut contacts = Contacts::default();
            scene.contacts(&mut scratch, &mut contacts);
            assert_eq!(contacts.earliest().is_some(), touches, "{closing}");
        }
    }
}
