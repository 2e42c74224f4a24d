//! The area of a crack.

use fracas_core::TetMesh;
use glam::Vec3;

use super::{Growth, NEGATIVE, PIECE_SHIFT, STATE, UNSEEN};

impl Growth {
    /// Area of the surface in all tetrahedra with nodes of both signs: each has a
    /// negative node beside a positive one.
    pub(super) fn area(&mut self, mesh: &TetMesh, piece: u32) -> f64 {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.seen_tets.fill(0);
            self.stamp = 1;
        }
        let mut area = 0.0;
        for &n in &self.beside {
            for &tet in mesh.adjacent_tets(n) {
                let seen = &mut self.seen_tets[tet as usize];
                if std::mem::replace(seen, self.stamp) == self.stamp {
                    continue;
                }
                let nodes = mesh.tets()[tet as usize];
                let marks = nodes.map(|n| self.marks[n as usize]);
                let inside = marks.map(|m| m >> PIECE_SHIFT == piece && m & STATE != UNSEEN);
                let crosses = (0..4).any(|i| inside[i] && marks[i] & NEGATIVE == 0);
                if crosses {
                    let levels = nodes.map(|n| self.cells[n as usize].level());
                    area += section_area(mesh.corners(tet), levels, inside);
                }
            }
        }
        area
    }
}

/// Area of the zero section of a tetrahedron whose foreign nodes have level zero.
pub(super) fn section_area(x: [Vec3; 4], levels: [f32; 4], inside: [bool; 4]) -> f64 {
    let side =
        |positive: bool| (0..4).filter(move |&i| inside[i] && (levels[i] >= 0.0) == positive);
    // Corners in order round the section: foreign nodes, then cuts row by row.
    let mut points = [Vec3::ZERO; 4];
    let mut count = 0;
    for i in (0..4).filter(|&i| !inside[i]) {
        points[count] = x[i];
        count += 1;
    }
    for (turn, a) in side(false).enumerate() {
        let cut = |b: usize| {
            let t = levels[a] / (levels[a] - levels[b]);
            x[a] + t * (x[b] - x[a])
        };
        let mut cuts = side(true).map(cut);
        let (first, second) = (cuts.next(), cuts.next());
        // The second row backwards, so that the corners go round.
        let (first, second) = if turn == 1 && second.is_some() {
            (second, first)
        } else {
            (first, second)
        };
        let third = cuts.next();
        for point in [first, second, third].into_iter().flatten() {
            if count < 4 {
                points[count] = point;
                count += 1;
            }
        }
    }
    if count < 3 {
        return 0.0;
    }
    let triangle = |a: Vec3, b: Vec3, c: Vec3| 0.5 * f64::from((b - a).cross(c - a).length());
    let mut area = triangle(points[0], points[1], points[2]);
    if count == 4 {
        area += triangle(points[0], points[2], points[3]);
    }
    area
}
