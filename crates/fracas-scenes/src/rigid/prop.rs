//! Plain bodies of the engine that a picture should show: balls and boxes.

use glam::Vec3;
use rapier3d::prelude::RigidBodyHandle;

/// What a prop looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PropShape {
    /// A ball of this radius.
    Ball(f32),
    /// A box of these half sides.
    Block(Vec3),
}

/// A body of the engine that is not ours: it is shown, but does not break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prop {
    /// What it looks like.
    pub shape: PropShape,
    /// Its colour (sRGB).
    pub colour: [u8; 3],
    /// The engine's body.
    pub body: RigidBodyHandle,
}

impl PropShape {
    /// Its surface, outward triangles.
    #[must_use]
    pub fn triangles(&self) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        match *self {
            Self::Ball(radius) => ball(radius),
            Self::Block(half) => block(half),
        }
    }
}

/// Rings of latitude between two poles.
fn ball(radius: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    const RINGS: u32 = 11;
    const AROUND: u32 = 24;
    let mut positions = vec![Vec3::Y * radius];
    for ring in 1..=RINGS {
        let polar = std::f32::consts::PI * ring as f32 / (RINGS + 1) as f32;
        let (height, wide) = (libm::cosf(polar), libm::sinf(polar));
        for i in 0..AROUND {
            let angle = std::f32::consts::TAU * i as f32 / AROUND as f32;
            let out = Vec3::new(wide * libm::cosf(angle), height, wide * libm::sinf(angle));
            positions.push(out * radius);
        }
    }
    let last = positions.len() as u32;
    positions.push(-Vec3::Y * radius);
    let at = |ring: u32, i: u32| 1 + (ring - 1) * AROUND + i % AROUND;
    let mut triangles = Vec::new();
    for i in 0..AROUND {
        triangles.push([0, at(1, i + 1), at(1, i)]);
        for ring in 1..RINGS {
            let [a, b] = [at(ring, i), at(ring, i + 1)];
            let [c, d] = [at(ring + 1, i), at(ring + 1, i + 1)];
            triangles.extend([[a, b, c], [b, d, c]]);
        }
        triangles.push([last, at(RINGS, i), at(RINGS, i + 1)]);
    }
    (positions, triangles)
}

/// Eight corners, numbered by bits: x 1, y 2, z 4.
fn block(half: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let sign = |bit: u32| if bit == 0 { -1.0 } else { 1.0 };
    let positions = (0..8_u32)
        .map(|c| half * Vec3::new(sign(c & 1), sign(c & 2), sign(c & 4)))
        .collect();
    let faces = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    let triangles = faces
        .into_iter()
        .flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]])
        .collect();
    (positions, triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume((positions, triangles): (Vec<Vec3>, Vec<[u32; 3]>)) -> f32 {
        let at = |v: u32| positions[v as usize];
        let tets = triangles
            .iter()
            .map(|&[a, b, c]| at(a).dot(at(b).cross(at(c))) / 6.0);
        tets.sum()
    }

    #[test]
    fn surfaces_look_outwards_and_enclose_what_they_should() {
        let block = volume(PropShape::Block(Vec3::new(0.5, 1.0, 1.5)).triangles());
        assert!((block - 6.0).abs() < 1e-5, "{block}");
        let ball = volume(PropShape::Ball(1.0).triangles());
        assert!((4.0..4.19).contains(&ball), "{ball}");
    }
}
