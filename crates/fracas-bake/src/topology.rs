//! Edges, fans and components of a triangle list, by vertex numbers.
//!
//! All by sorting and by disjoint sets, so that nothing depends on the order of a
//! hash table: O(n log n).

/// A side of a triangle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Side {
    low: u32,
    high: u32,
    /// 3 · triangle + the corner it starts from.
    start: u32,
    /// It runs from the lesser vertex to the greater.
    pub(crate) rising: bool,
}

impl Side {
    pub(crate) fn triangle(&self) -> usize {
        self.start as usize / 3
    }

    /// Its vertices, in the order in which its triangle has them.
    pub(crate) fn ends(&self, triangles: &[[u32; 3]]) -> [u32; 2] {
        let corners = triangles[self.triangle()];
        let k = self.start as usize % 3;
        [corners[k], corners[(k + 1) % 3]]
    }
}

/// The edges of a surface, grouped.
pub(crate) struct Edges {
    /// One for each side of each triangle, sorted: sides of one edge stand together.
    sides: Vec<Side>,
    pub(crate) count: usize,
    pub(crate) boundary: usize,
    pub(crate) nonmanifold: usize,
    pub(crate) inconsistent: usize,
}

pub(crate) struct Fans {
    pub(crate) total: usize,
    pub(crate) pinched: usize,
}

impl Edges {
    pub(crate) fn of(triangles: &[[u32; 3]]) -> Self {
        let mut sides = Vec::with_capacity(3 * triangles.len());
        for (t, corners) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                sides.push(Side {
                    low: a.min(b),
                    high: a.max(b),
                    start: (3 * t + k) as u32,
                    rising: a < b,
                });
            }
        }
        sides.sort_unstable();
        let mut edges = Self {
            sides,
            count: 0,
            boundary: 0,
            nonmanifold: 0,
            inconsistent: 0,
        };
        let (mut count, mut boundary, mut nonmanifold, mut inconsistent) = (0, 0, 0, 0);
        for group in edges.groups() {
            count += 1;
            match group {
                [_] => boundary += 1,
                [one, two] => inconsistent += usize::from(one.rising == two.rising),
                _ => nonmanifold += 1,
            }
        }
        (edges.count, edges.boundary) = (count, boundary);
        (edges.nonmanifold, edges.inconsistent) = (nonmanifold, inconsistent);
        edges
    }

    /// The sides of each edge.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &[Side]> {
        self.sides
            .chunk_by(|x, y| (x.low, x.high) == (y.low, y.high))
    }

    /// The triangles, joined across edges.
    pub(crate) fn joined(&self, triangles: usize) -> Sets {
        let mut sets = Sets::new(triangles);
        for group in self.groups() {
            for side in &group[1..] {
                sets.join(group[0].triangle(), side.triangle());
            }
        }
        sets
    }

    /// Joins the corners of triangles across edges; what stays apart at a vertex is
    /// another fan.
    pub(crate) fn fans(&self, triangles: &[[u32; 3]], vertices: usize) -> Fans {
        let mut sets = Sets::new(3 * triangles.len());
        // The corners of a side at its lesser and its greater end.
        let ends = |side: &Side| {
            let (t, k) = (side.start / 3, side.start % 3);
            let (start, end) = (3 * t + k, 3 * t + (k + 1) % 3);
            if side.rising {
                [start, end]
            } else {
                [end, start]
            }
        };
        for group in self.groups() {
            let [low, high] = ends(&group[0]);
            for side in &group[1..] {
                let [l, h] = ends(side);
                sets.join(low as usize, l as usize);
                sets.join(high as usize, h as usize);
            }
        }
        let mut fans_of = vec![0_u32; vertices];
        for (t, corners) in triangles.iter().enumerate() {
            for k in 0..3 {
                if sets.is_root(3 * t + k) {
                    fans_of[corners[k] as usize] += 1;
                }
            }
        }
        Fans {
            total: fans_of.iter().map(|&f| f as usize).sum(),
            pinched: fans_of.iter().filter(|&&f| f > 1).count(),
        }
    }
}

/// Disjoint sets; the least member of each is its root.
pub(crate) struct Sets {
    parent: Vec<u32>,
}

impl Sets {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            parent: (0..count as u32).collect(),
        }
    }

    pub(crate) fn root(&mut self, mut i: usize) -> usize {
        while self.parent[i] as usize != i {
            // Halving the path keeps it short.
            self.parent[i] = self.parent[self.parent[i] as usize];
            i = self.parent[i] as usize;
        }
        i
    }

    pub(crate) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b) as u32;
    }

    pub(crate) fn is_root(&self, i: usize) -> bool {
        self.parent[i] as usize == i
    }

    pub(crate) fn count(&self) -> usize {
        (0..self.parent.len()).filter(|&i| self.is_root(i)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_fans_and_components_of_two_triangles_at_a_vertex() {
        let triangles = [[0, 1, 2], [0, 3, 4]];
        let edges = Edges::of(&triangles);
        assert_eq!((edges.count, edges.boundary), (6, 6));
        assert_eq!(edges.joined(2).count(), 2);
        let fans = edges.fans(&triangles, 5);
        assert_eq!((fans.total, fans.pinched), (6, 1));
    }

    #[test]
    fn an_edge_of_three_triangles_joins_them_all() {
        let triangles = [[0, 1, 2], [1, 0, 3], [0, 1, 4]];
        let edges = Edges::of(&triangles);
        assert_eq!(
            (edges.count, edges.nonmanifold, edges.inconsistent),
            (7, 1, 0)
        );
        assert_eq!(edges.joined(3).count(), 1);
        assert_eq!(edges.fans(&triangles, 5).pinched, 0);
    }
}
