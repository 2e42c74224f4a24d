//! The planes inside one cut tetrahedron, and which piece holds a point.
//!
//! Source: Glondu 2013, section 4.1 and 4.3. Why a plane is four levels, and why
//! levels with zero extension make exact, conforming pieces: see [`crate::crack`].
//!
//! **Guarantee**: every point of the tetrahedron is in exactly one piece.

use glam::{DVec3, Vec3};

/// The planes by which cracks have cut one tetrahedron, oldest first.
///
/// A plane is its level at the four nodes: the level at a point with barycentric
/// coordinates `l` is their scalar product. Nodes outside the part that the crack
/// split carry zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetCut(Planes);

/// Most cut tetrahedra have one plane: it lies with them.
#[derive(Clone, Debug, Default, PartialEq)]
enum Planes {
    #[default]
    None,
    One([f32; 4]),
    More(Box<[[f32; 4]]>),
}

impl TetCut {
    /// Levels of each plane at the four nodes, oldest first.
    #[must_use]
    #[inline]
    pub fn planes(&self) -> &[[f32; 4]] {
        match &self.0 {
            Planes::None => &[],
            Planes::One(plane) => std::slice::from_ref(plane),
            Planes::More(planes) => planes,
        }
    }

    /// The local node whose piece holds the point with barycentric coordinates
    /// `l`: exact by the signs of the planes, a level of zero counting as positive.
    /// Every point is in exactly one piece.
    #[must_use]
    #[inline]
    pub fn node_of(&self, l: [f32; 4]) -> usize {
        let mut candidates = 0b1111_u8;
        for plane in self.planes() {
            let mut side = 0_u8;
            let mut level = 0.0;
            for i in 0..4 {
                level += plane[i] * l[i];
            }
            for i in 0..4 {
                if plane[i] != 0.0 && (plane[i] > 0.0) == (level >= 0.0) {
                    side |= 1 << i;
                }
            }
            // A plane divides only the part that its crack has split. The nodes
            // of a part carry non-zero levels together or not at all.
            let touched = (0..4).any(|i| candidates & (1 << i) != 0 && plane[i] != 0.0);
            if touched {
                candidates &= side;
            }
        }
        candidates.trailing_zeros() as usize
    }

    /// The plane that parts local nodes `i` and `j`, if they are parted.
    #[must_use]
    #[inline]
    pub fn separator(&self, i: usize, j: usize) -> Option<&[f32; 4]> {
        self.planes().iter().find(|plane| parts(plane[i], plane[j]))
    }

    pub(super) fn bytes(&self) -> usize {
        let apart = match &self.0 {
            Planes::More(planes) => planes.len() * 16,
            _ => 0,
        };
        size_of::<Self>() + apart
    }

    /// Adds a plane after those it has, as its levels at the four nodes.
    pub fn push(&mut self, plane: [f32; 4]) {
        if let Planes::None = self.0 {
            self.0 = Planes::One(plane);
            return;
        }
        let mut planes = self.planes().to_vec();
        planes.push(plane);
        self.0 = Planes::More(planes.into_boxed_slice());
    }
}

/// Whether two levels have opposite signs. (Their product could underflow to zero.)
#[inline]
pub(super) fn parts(a: f32, b: f32) -> bool {
    (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0)
}

/// The point at which an edge is cut, from its end with the lower index to the other.
#[inline]
pub fn cut_point(low: Vec3, high: Vec3, level_low: f32, level_high: f32) -> (f64, DVec3) {
    let (s_low, s_high) = (f64::from(level_low), f64::from(level_high));
    let t = s_low / (s_low - s_high);
    let (a, b) = (low.as_dvec3(), high.as_dvec3());
    (t, a + (b - a) * t)
}
