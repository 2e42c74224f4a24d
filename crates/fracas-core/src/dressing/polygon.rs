//! Convex polygons of the skin, cut by planes, each side knowing where it comes from.

use glam::DVec3;

/// Where a side of a polygon comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// The side of the skin triangle that begins at this corner.
    Skin(u8),
    /// A face of the mesh, by its number ([`face_number`](super::names::face_number)).
    Face(u32),
    /// A crack plane of a tetrahedron, by its number
    /// ([`plane_number`](super::names::plane_number)).
    Plane(u32),
}

/// Three sides, one more for each of four faces and three planes, and room to spare
/// for planes that meet a side twice by rounding.
const MOST: usize = 16;

/// A convex polygon; side `i` goes from point `i` to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polygon {
    points: [DVec3; MOST],
    tags: [Tag; MOST],
    count: usize,
}

impl Polygon {
    fn empty() -> Self {
        Self {
            points: [DVec3::ZERO; MOST],
            tags: [Tag::Skin(0); MOST],
            count: 0,
        }
    }

    /// A triangle of the skin.
    pub fn triangle([a, b, c]: [DVec3; 3]) -> Self {
        let mut polygon = Self::empty();
        polygon.push(a, Tag::Skin(0));
        polygon.push(b, Tag::Skin(1));
        polygon.push(c, Tag::Skin(2));
        polygon
    }

    fn push(&mut self, point: DVec3, tag: Tag) {
        if self.count < MOST {
            self.points[self.count] = point;
            self.tags[self.count] = tag;
            self.count += 1;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.count < 3
    }

    pub fn points(&self) -> &[DVec3] {
        &self.points[..self.count]
    }

    /// Whether its box meets another.
    pub fn meets(&self, (low, high): (DVec3, DVec3)) -> bool {
        let points = self.points().iter();
        let least = points.clone().fold(DVec3::INFINITY, |m, &p| m.min(p));
        let most = points.fold(DVec3::NEG_INFINITY, |m, &p| m.max(p));
        least.cmple(high).all() && most.cmpge(low).all()
    }

    /// Its corners: where they are, the side that ends there, the side that begins there.
    pub fn corners(&self) -> impl Iterator<Item = (DVec3, Tag, Tag)> + '_ {
        (0..self.count).map(|i| {
            let before = if i == 0 { self.count - 1 } else { i - 1 };
            (self.points[i], self.tags[before], self.tags[i])
        })
    }

    /// Its sides: begin, end, origin.
    #[cfg(test)]
    fn sides(&self) -> impl Iterator<Item = (DVec3, DVec3, Tag)> + '_ {
        (0..self.count).map(|i| {
            let next = if i + 1 == self.count { 0 } else { i + 1 };
            (self.points[i], self.points[next], self.tags[i])
        })
    }

    /// Twice its area, as a vector.
    pub fn doubled_area(&self) -> DVec3 {
        let points = self.points();
        let mut sum = DVec3::ZERO;
        for i in 2..points.len() {
            sum += (points[i - 1] - points[0]).cross(points[i] - points[0]);
        }
        sum
    }

    pub fn middle(&self) -> DVec3 {
        self.points().iter().sum::<DVec3>() / self.count.max(1) as f64
    }

    /// The parts where `height` is above zero, and where it is not. Zero counts as
    /// below, for both parts alike, and a point on a side is computed from its upper end:
    /// the two parts, and triangles with a common side, have the same points.
    pub fn split(&self, height: impl Fn(DVec3) -> f64, tag: Tag) -> (Self, Self) {
        let mut heights = [0.0; MOST];
        let mut above = 0;
        for (h, &p) in heights.iter_mut().zip(self.points()) {
            *h = height(p);
            above += usize::from(*h > 0.0);
        }
        if self.tags[..self.count].contains(&tag) {
            // It has a side there already: all of it is on one side, whatever the rounding.
            let heights = heights[..self.count].iter().copied();
            let farthest = heights.fold(0.0_f64, |m, h| if h.abs() > m.abs() { h } else { m });
            above = if farthest > 0.0 { self.count } else { 0 };
        }
        if above == self.count {
            return (*self, Self::empty());
        }
        if above == 0 {
            return (Self::empty(), *self);
        }
        let (mut upper, mut lower) = (Self::empty(), Self::empty());
        for i in 0..self.count {
            let next = if i + 1 == self.count { 0 } else { i + 1 };
            let (p, q, own) = (self.points[i], self.points[next], self.tags[i]);
            let (h, k) = (heights[i], heights[next]);
            match (h > 0.0, k > 0.0) {
                (true, true) => upper.push(p, own),
                (false, false) => lower.push(p, own),
                (true, false) => {
                    let at = crossing(p, q, h, k);
                    upper.push(p, own);
                    upper.push(at, tag);
                    lower.push(at, own);
                }
                (false, true) => {
                    let at = crossing(q, p, k, h);
                    lower.push(p, own);
                    lower.push(at, tag);
                    upper.push(at, own);
                }
            }
        }
        (upper, lower)
    }
}

/// The point at height zero between one above and one at or below zero.
fn crossing(above: DVec3, below: DVec3, h: f64, k: f64) -> DVec3 {
    if k == 0.0 {
        return below;
    }
    above + (below - above) * (h / (h - k))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_and_know_their_sides() {
        let triangle = Polygon::triangle([DVec3::ZERO, DVec3::X * 2.0, DVec3::Y * 2.0]);
        let (upper, lower) = triangle.split(|p| p.x - 0.5, Tag::Plane(1));
        assert!((upper.doubled_area().z + lower.doubled_area().z - 4.0).abs() < 1e-15);
        for part in [upper, lower] {
            let cut: Vec<_> = part.sides().filter(|s| s.2 == Tag::Plane(1)).collect();
            assert_eq!(cut.len(), 1);
            assert!(cut[0].0.x == 0.5 && cut[0].1.x == 0.5);
            // The area lies to the left of every side.
            assert!(part.doubled_area().z > 0.0);
        }
    }

    #[test]
    fn a_polygon_is_not_parted_twice_by_one_plane() {
        let triangle = Polygon::triangle([DVec3::ZERO, DVec3::X * 2.0, DVec3::Y * 2.0]);
        let (upper, _) = triangle.split(|p| p.x - 0.5, Tag::Face(7));
        // The same plane, computed with an error that changes its sign along the side.
        let again = |p: DVec3| p.x - 0.5 + 1e-9 * (p.y - 0.7);
        let (kept, none) = upper.split(again, Tag::Face(7));
        assert!(none.is_empty() && kept.points() == upper.points());
        assert!(!upper.split(again, Tag::Face(8)).1.is_empty());
    }

    #[test]
    fn a_side_in_the_plane_still_bounds_both_parts() {
        // Two triangles on either side of x = 0: one has all of its points at or below.
        let left = Polygon::triangle([DVec3::ZERO, DVec3::Y, DVec3::NEG_X]);
        let right = Polygon::triangle([DVec3::ZERO, DVec3::X, DVec3::Y]);
        let plane = |p: DVec3| p.x;
        assert!(left.split(plane, Tag::Plane(0)).0.is_empty());
        let (upper, lower) = right.split(plane, Tag::Plane(0));
        assert!(upper.sides().any(|s| s.2 == Tag::Plane(0)));
        assert!(lower.doubled_area().length() == 0.0);
        assert!(lower.sides().any(|s| s.2 == Tag::Plane(0) && s.0 != s.1));
    }
}
