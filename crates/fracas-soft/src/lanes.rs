//! Vectors of three, four of them side by side in the lanes of vectors of four.
//!
//! A node is a vector of four: three numbers of its own, and its inverse mass in `w`. Four nodes are
//! read and turned over, so that each number of the four is one vector.
//!
//! Lanes are `wide`'s, not glam's: where a program asks rapier for the same bits on all machines,
//! as `fracas` does, glam computes without vector instructions, and a step of soft bodies took a
//! quarter longer.

use glam::Vec4;
use wide::f32x4;

/// Four vectors side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vectors {
    pub x: f32x4,
    pub y: f32x4,
    pub z: f32x4,
}

impl Vectors {
    pub const ZERO: Self = Self {
        x: f32x4::ZERO,
        y: f32x4::ZERO,
        z: f32x4::ZERO,
    };

    #[inline]
    pub fn minus(self, other: Self) -> Self {
        Self {
            x: self.x - other.x,
            y: self.y - other.y,
            z: self.z - other.z,
        }
    }

    /// `self + by * along`.
    #[inline]
    pub fn moved(self, by: f32x4, along: Self) -> Self {
        Self {
            x: self.x + by * along.x,
            y: self.y + by * along.y,
            z: self.z + by * along.z,
        }
    }

    #[inline]
    pub fn times(self, by: f32x4) -> Self {
        Self {
            x: self.x * by,
            y: self.y * by,
            z: self.z * by,
        }
    }

    #[inline]
    pub fn dot(self, other: Self) -> f32x4 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[inline]
    pub fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - other.y * self.z,
            y: self.z * other.x - other.z * self.x,
            z: self.x * other.y - other.x * self.y,
        }
    }

    /// What is no number is nothing.
    #[inline]
    pub fn finite(self) -> Self {
        let finite = |x: f32x4| x.is_finite().bitselect(x, f32x4::ZERO);
        Self {
            x: finite(self.x),
            y: finite(self.y),
            z: finite(self.z),
        }
    }
}

/// Four nodes turned over: where they are, and what stands in `w`.
#[inline]
pub(crate) fn turned(nodes: [Vec4; 4]) -> (Vectors, f32x4) {
    let [x, y, z, w] = f32x4::transpose(nodes.map(|node| f32x4::new(node.to_array())));
    (Vectors { x, y, z }, w)
}

/// Four nodes again.
#[inline]
pub(crate) fn turned_back(Vectors { x, y, z }: Vectors, w: f32x4) -> [Vec4; 4] {
    f32x4::transpose([x, y, z, w]).map(|node| Vec4::from_array(node.to_array()))
}

/// Reads four nodes: where they are, and their inverse masses.
#[inline]
pub(crate) fn gather(nodes: &[Vec4], [a, b, c, d]: [u32; 4]) -> (Vectors, f32x4) {
    turned([
        nodes[a as usize],
        nodes[b as usize],
        nodes[c as usize],
        nodes[d as usize],
    ])
}

#[inline]
pub(crate) fn scatter(nodes: &mut [Vec4], at: [u32; 4], places: Vectors, inverse_masses: f32x4) {
    let columns = turned_back(places, inverse_masses);
    for lane in 0..4 {
        nodes[at[lane] as usize] = columns[lane];
    }
}

/// The larger: the same on every machine for zeros of two signs and what is no number (then `b`).
#[inline]
pub(crate) fn larger(a: f32x4, b: f32x4) -> f32x4 {
    a.simd_gt(b).bitselect(a, b)
}

/// The smaller, likewise.
#[inline]
pub(crate) fn smaller(a: f32x4, b: f32x4) -> f32x4 {
    a.simd_lt(b).bitselect(a, b)
}
