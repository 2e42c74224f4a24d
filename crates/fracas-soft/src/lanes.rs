//! Vectors of three, four of them side by side in the lanes of vectors of four.
//!
//! A node is a vector of four: three numbers of its own, and its inverse mass in `w`. Four nodes are
//! read and turned over, so that each number of the four is one vector.

use glam::{Mat4, Vec4};

/// Four vectors side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vectors {
    pub x: Vec4,
    pub y: Vec4,
    pub z: Vec4,
}

impl Vectors {
    pub const ZERO: Self = Self {
        x: Vec4::ZERO,
        y: Vec4::ZERO,
        z: Vec4::ZERO,
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
    pub fn moved(self, by: Vec4, along: Self) -> Self {
        Self {
            x: self.x + by * along.x,
            y: self.y + by * along.y,
            z: self.z + by * along.z,
        }
    }

    #[inline]
    pub fn times(self, by: Vec4) -> Self {
        Self {
            x: self.x * by,
            y: self.y * by,
            z: self.z * by,
        }
    }

    #[inline]
    pub fn dot(self, other: Self) -> Vec4 {
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
        let finite = |x: Vec4| Vec4::select(x.is_finite_mask(), x, Vec4::ZERO);
        Self {
            x: finite(self.x),
            y: finite(self.y),
            z: finite(self.z),
        }
    }
}

/// Four nodes turned over: where they are, and what stands in `w`.
#[inline]
pub(crate) fn turned([a, b, c, d]: [Vec4; 4]) -> (Vectors, Vec4) {
    let lanes = Mat4::from_cols(a, b, c, d).transpose();
    let places = Vectors {
        x: lanes.x_axis,
        y: lanes.y_axis,
        z: lanes.z_axis,
    };
    (places, lanes.w_axis)
}

/// Four nodes again.
#[inline]
pub(crate) fn turned_back(places: Vectors, w: Vec4) -> [Vec4; 4] {
    let lanes = Mat4::from_cols(places.x, places.y, places.z, w).transpose();
    [lanes.x_axis, lanes.y_axis, lanes.z_axis, lanes.w_axis]
}

/// Reads four nodes: where they are, and their inverse masses.
#[inline]
pub(crate) fn gather(nodes: &[Vec4], [a, b, c, d]: [u32; 4]) -> (Vectors, Vec4) {
    turned([
        nodes[a as usize],
        nodes[b as usize],
        nodes[c as usize],
        nodes[d as usize],
    ])
}

#[inline]
pub(crate) fn scatter(nodes: &mut [Vec4], at: [u32; 4], places: Vectors, inverse_masses: Vec4) {
    let columns = turned_back(places, inverse_masses);
    for lane in 0..4 {
        nodes[at[lane] as usize] = columns[lane];
    }
}

/// The larger: the same on every machine for zeros of two signs and what is no number (then `b`).
#[inline]
pub(crate) fn larger(a: Vec4, b: Vec4) -> Vec4 {
    Vec4::select(a.cmpgt(b), a, b)
}

/// The smaller, likewise.
#[inline]
pub(crate) fn smaller(a: Vec4, b: Vec4) -> Vec4 {
    Vec4::select(a.cmplt(b), a, b)
}
