//! The piggy bank: a hollow earthenware pig, 0.2 m long without its tail, with a coin slot.
//!
//! It looks along +x and stands on y = 0. Body and head are one smooth shell; the
//! hollow is their inward offset, so the wall has one thickness; legs, ears, snout
//! and tail are solid. The slot joins the hollow to the outside: the surface is one
//! closed sheet without handles.

use std::sync::LazyLock;

use glam::DVec3;

use super::sdf::{
    ball, carve, ellipsoid, join, rod, rounded_box, rounded_cylinder, turned_ellipsoid,
};

/// Thickness of the shell, metres.
pub const WALL: f64 = 0.0095;

/// Smallest and largest corner of a box around it.
pub(super) const BOUNDS: (DVec3, DVec3) = (
    DVec3::new(-0.132, -0.004, -0.072),
    DVec3::new(0.112, 0.148, 0.072),
);

/// How much of the legs is cut off below.
const LIFT: f64 = 0.011;

/// Signed distance (about) to the piggy bank's material.
pub fn piggy_bank(p: DVec3) -> f64 {
    // Modelled on longer legs than it has.
    let p = p + DVec3::Y * LIFT;
    // Left and right are mirror images, but for the tail.
    let m = DVec3::new(p.x, p.y, p.z.abs());
    let hull = hull(m);
    let mut pig = join(hull, limbs(m), 0.010);
    const SEAM: f64 = 0.006;
    pig = join(pig, tail(p, pig + SEAM), SEAM);
    // Nostrils.
    pig = carve(
        pig,
        ball(m, DVec3::new(0.1085, 0.081, 0.0090), 0.0052),
        0.004,
    );
    // Feet are flat.
    pig = carve(pig, p.y - LIFT, 0.002);
    pig = carve(pig, hull + WALL, 0.003);
    let slot = rounded_box(
        p,
        DVec3::new(-0.008, 0.135, 0.0),
        DVec3::new(0.021, 0.030, 0.0062),
        0.004,
    );
    carve(pig, slot, 0.003)
}

/// Body and head.
fn hull(m: DVec3) -> f64 {
    let body = ellipsoid(
        m,
        DVec3::new(-0.012, 0.079, 0.0),
        DVec3::new(0.080, 0.060, 0.059),
    );
    let head = ellipsoid(
        m,
        DVec3::new(0.055, 0.086, 0.0),
        DVec3::new(0.041, 0.042, 0.044),
    );
    join(body, head, 0.020)
}

fn limbs(m: DVec3) -> f64 {
    let front = rod(
        m,
        DVec3::new(0.032, 0.045, 0.030),
        DVec3::new(0.036, 0.006, 0.033),
        0.019,
        0.0155,
    );
    let back = rod(
        m,
        DVec3::new(-0.052, 0.045, 0.030),
        DVec3::new(-0.056, 0.006, 0.033),
        0.019,
        0.0155,
    );
    let snout = rounded_cylinder(
        m,
        DVec3::new(0.094, 0.081, 0.0),
        DVec3::X,
        [0.0215, 0.013, 0.007],
    );
    // Ears: leaning forward and out.
    let up = DVec3::new(0.10, 0.88, 0.46).normalize();
    let thin = DVec3::new(0.93, -0.24, 0.26);
    let thin = (thin - up * up.dot(thin)).normalize();
    let ear = turned_ellipsoid(
        m,
        DVec3::new(0.047, 0.125, 0.030),
        [thin, up, up.cross(thin)],
        DVec3::new(0.0034, 0.0172, 0.0112),
    ) - 0.0056;
    let eye = ball(m, DVec3::new(0.0835, 0.1015, 0.0215), 0.0062);
    join(join(front.min(back), snout, 0.006), ear.min(eye), 0.004)
}

const TAIL_SEGMENTS: usize = 18;
const TAIL_RADIUS: f64 = 0.0068;
/// A ball around the tail.
const TAIL_CENTRE: DVec3 = DVec3::new(-0.099, 0.109, 0.0);
const TAIL_REACH: f64 = 0.039;

/// The middle of the tail: from inside the body, one turn of a helix backwards.
fn tail_curve() -> &'static [DVec3] {
    static CURVE: LazyLock<Vec<DVec3>> = LazyLock::new(|| {
        let mut curve = vec![DVec3::new(-0.078, 0.092, 0.0)];
        for i in 0..=TAIL_SEGMENTS {
            let t = i as f64 / TAIL_SEGMENTS as f64;
            let angle = t * 1.05 * std::f64::consts::TAU - std::f64::consts::FRAC_PI_2;
            let wide = 0.0150 * (t * 4.0).min(1.0);
            curve.push(DVec3::new(
                -0.088 - 0.032 * t,
                0.096 + wide + wide * libm::sin(angle),
                wide * libm::cos(angle),
            ));
        }
        curve
    });
    &CURVE
}

/// Distance to the tail, if it is less than `limit`; else anything above `limit`.
fn tail(p: DVec3, limit: f64) -> f64 {
    let bound = p.distance(TAIL_CENTRE) - TAIL_REACH;
    if bound > limit {
        return bound;
    }
    let rods = tail_curve().windows(2);
    let distances = rods.map(|w| rod(p, w[0], w[1], TAIL_RADIUS, TAIL_RADIUS));
    distances.fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_inside_its_ball_and_the_pig_inside_its_box() {
        for &p in tail_curve() {
            assert!(p.distance(TAIL_CENTRE) + TAIL_RADIUS < TAIL_REACH);
        }
        let (lo, hi) = BOUNDS;
        for i in 0..1000 {
            let t = |k: usize| (i / 10_usize.pow(k as u32) % 10) as f64 / 9.0;
            let p = lo + (hi - lo) * DVec3::new(t(0), t(1), t(2));
            let on_box = [0, 1, 2].iter().any(|&k| t(k) == 0.0 || t(k) == 1.0);
            assert!(!on_box || piggy_bank(p) > 0.0, "{p} is inside");
        }
    }

    #[test]
    fn it_is_hollow_and_the_slot_goes_through() {
        assert!(piggy_bank(DVec3::new(-0.01, 0.065, 0.0)) > 0.03);
        for i in 0..=20 {
            let p = DVec3::new(-0.008, 0.065 + 0.09 * i as f64 / 20.0, 0.0);
            assert!(piggy_bank(p) > 0.0, "the slot is closed at {p}");
        }
        // Beside the slot there is a wall of the given thickness.
        let crossings: Vec<f64> = (0..2000)
            .map(|i| 0.065 + 0.09 * i as f64 / 2000.0)
            .filter(|&y| piggy_bank(DVec3::new(-0.05, y, 0.02)) < 0.0)
            .collect();
        let thick = crossings[crossings.len() - 1] - crossings[0];
        assert!((thick / WALL - 1.0).abs() < 0.4, "{thick}");
    }
}
