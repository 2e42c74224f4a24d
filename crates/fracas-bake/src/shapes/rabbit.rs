//! The rabbit: sitting, with long thin ears; the bunny that needs no licence.
//!
//! It looks along +x, sits on y = 0, and is 0.23 m tall to the tips of its ears.
//! Everything is one smooth union, symmetric in z.

use glam::DVec3;

use super::sdf::{ball, carve, ellipsoid, join, rod, turned_ellipsoid};

/// Smallest and largest corner of a box around it.
pub(super) const BOUNDS: (DVec3, DVec3) = (
    DVec3::new(-0.105, -0.004, -0.068),
    DVec3::new(0.105, 0.240, 0.068),
);

/// Signed distance (about) to the rabbit.
pub fn rabbit(p: DVec3) -> f64 {
    let m = DVec3::new(p.x, p.y, p.z.abs());
    let body = join(rump(m), chest(m), 0.030);
    let whole = join(body, head(m), 0.014);
    let whole = join(whole, feet(m), 0.008);
    // It sits flat.
    carve(whole, p.y, 0.002)
}

fn rump(m: DVec3) -> f64 {
    let back = ellipsoid(
        m,
        DVec3::new(-0.030, 0.060, 0.0),
        DVec3::new(0.058, 0.058, 0.046),
    );
    let haunch = ellipsoid(
        m,
        DVec3::new(-0.026, 0.042, 0.038),
        DVec3::new(0.038, 0.037, 0.021),
    );
    let tail = ball(m, DVec3::new(-0.088, 0.034, 0.0), 0.0165);
    join(join(back, haunch, 0.006), tail, 0.006)
}

fn chest(m: DVec3) -> f64 {
    let chest = ellipsoid(
        m,
        DVec3::new(0.020, 0.072, 0.0),
        DVec3::new(0.036, 0.050, 0.036),
    );
    let foreleg = rod(
        m,
        DVec3::new(0.036, 0.066, 0.018),
        DVec3::new(0.047, 0.012, 0.019),
        0.0165,
        0.0105,
    );
    join(chest, foreleg, 0.010)
}

fn head(m: DVec3) -> f64 {
    let skull = ellipsoid(
        m,
        DVec3::new(0.046, 0.130, 0.0),
        DVec3::new(0.036, 0.032, 0.030),
    );
    let muzzle = ellipsoid(
        m,
        DVec3::new(0.074, 0.120, 0.0),
        DVec3::new(0.021, 0.018, 0.018),
    );
    let cheek = ball(m, DVec3::new(0.056, 0.117, 0.017), 0.0165);
    let eye = ball(m, DVec3::new(0.0635, 0.139, 0.0215), 0.0065);
    let nose = ball(m, DVec3::new(0.0945, 0.1235, 0.0), 0.0045);
    let face = join(join(join(skull, muzzle, 0.014), cheek, 0.010), nose, 0.004);
    // Ears: long, thin, hollowed in front, leaning back and out.
    let up = DVec3::new(-0.30, 0.93, 0.20).normalize();
    let thin = DVec3::new(0.86, 0.28, 0.42);
    let thin = (thin - up * up.dot(thin)).normalize();
    let axes = [thin, up, up.cross(thin)];
    let middle = DVec3::new(0.022, 0.187, 0.0195);
    let ear = turned_ellipsoid(m, middle, axes, DVec3::new(0.0040, 0.049, 0.0120)) - 0.0036;
    let hollow = turned_ellipsoid(
        m,
        middle + thin * 0.0088,
        axes,
        DVec3::new(0.0052, 0.036, 0.0080),
    );
    let ear = carve(ear, hollow, 0.003);
    join(face.min(eye), ear, 0.008)
}

fn feet(m: DVec3) -> f64 {
    let hind = rod(
        m,
        DVec3::new(-0.035, 0.010, 0.040),
        DVec3::new(0.026, 0.009, 0.044),
        0.0125,
        0.0115,
    );
    let fore = rod(
        m,
        DVec3::new(0.046, 0.009, 0.019),
        DVec3::new(0.064, 0.0085, 0.020),
        0.0115,
        0.0105,
    );
    hind.min(fore)
}
