//! The ripple: a sheet of 215 x 215 quads, 92,450 triangles, with rings of waves that
//! run outwards and, over the step, tip over slightly. Two frames, nothing collides:
//! all that a detector does here is to find that out.

use glam::{DVec3, dvec3};

use super::shapes::{Mesh, sheet};

/// Start, end and triangles.
#[must_use]
pub fn ripple(quads: u32) -> (Vec<DVec3>, Vec<DVec3>, Vec<[u32; 3]>) {
    let (rest, triangles): Mesh = sheet(quads, quads);
    let at = |phase: f64| -> Vec<DVec3> {
        rest.iter()
            .map(|p| {
                let r = dvec3(p.x, p.y, 0.0).length();
                let wave = 0.05 * libm::sin(25.0 * r - phase);
                let sway = 0.01 * libm::sin(9.0 * p.y + phase);
                *p + dvec3(sway, 0.0, wave)
            })
            .collect()
    };
    (at(0.0), at(0.3), triangles)
}
