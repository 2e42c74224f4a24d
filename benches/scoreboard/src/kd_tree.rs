//! Point location by a k-d tree over tetrahedra, as Glondu 2013, section 4.3, has
//! it: here only to be compared with the grid that the library uses.

use fracas_core::TetMesh;
use glam::Vec3;

enum Node {
    Split { axis: usize, at: f32, right: u32 },
    Leaf { first: u32, count: u32 },
}

/// A k-d tree whose leaves list the tetrahedra that reach into them.
pub struct KdTree {
    nodes: Vec<Node>,
    tets: Vec<u32>,
}

impl KdTree {
    /// A tree with leaves of about eight tetrahedra.
    pub fn build(mesh: &TetMesh) -> Self {
        let mut tree = Self {
            nodes: Vec::new(),
            tets: Vec::new(),
        };
        let all: Vec<u32> = (0..mesh.tets().len() as u32).collect();
        tree.split(mesh, all, 0);
        tree
    }

    fn split(&mut self, mesh: &TetMesh, tets: Vec<u32>, depth: usize) {
        let range = |t: u32, axis: usize| {
            let corners = mesh.corners(t);
            corners
                .iter()
                .fold((f32::INFINITY, f32::NEG_INFINITY), |(lo, hi), p| {
                    (lo.min(p[axis]), hi.max(p[axis]))
                })
        };
        // The axis along which the centres spread most, cut at their median.
        let centre =
            |t: u32, axis: usize| mesh.corners(t).iter().map(|p| p[axis]).sum::<f32>() / 4.0;
        let spread = |axis: usize| {
            let all = tets.iter().map(|&t| centre(t, axis));
            all.clone().fold(f32::NEG_INFINITY, f32::max) - all.fold(f32::INFINITY, f32::min)
        };
        let axis = (0..3)
            .max_by(|&a, &b| spread(a).total_cmp(&spread(b)))
            .unwrap_or(0);
        let mut centres: Vec<f32> = tets.iter().map(|&t| centre(t, axis)).collect();
        let half = centres.len() / 2;
        let at = *centres.select_nth_unstable_by(half, f32::total_cmp).1;
        let left: Vec<u32> = tets
            .iter()
            .copied()
            .filter(|&t| range(t, axis).0 <= at)
            .collect();
        let right: Vec<u32> = tets
            .iter()
            .copied()
            .filter(|&t| range(t, axis).1 >= at)
            .collect();
        let gains = left.len().max(right.len()) * 10 < tets.len() * 9;
        if tets.len() <= 8 || depth > 40 || !gains {
            self.nodes.push(Node::Leaf {
                first: self.tets.len() as u32,
                count: tets.len() as u32,
            });
            self.tets.extend(tets);
            return;
        }
        let here = self.nodes.len();
        self.nodes.push(Node::Split { axis, at, right: 0 });
        self.split(mesh, left, depth + 1);
        let next = self.nodes.len() as u32;
        if let Node::Split { right, .. } = &mut self.nodes[here] {
            *right = next;
        }
        self.split(mesh, right, depth + 1);
    }

    /// The tetrahedron that holds `p`, by `contains`.
    pub fn locate(&self, p: Vec3, contains: impl Fn(u32) -> bool) -> Option<u32> {
        let mut at = 0;
        loop {
            match self.nodes[at] {
                Node::Split {
                    axis,
                    at: plane,
                    right,
                } => {
                    at = if p[axis] <= plane {
                        at + 1
                    } else {
                        right as usize
                    };
                }
                Node::Leaf { first, count } => {
                    let listed = &self.tets[first as usize..(first + count) as usize];
                    return listed.iter().copied().find(|&t| contains(t));
                }
            }
        }
    }

    /// Bytes it takes.
    pub fn bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node>() + self.tets.len() * 4
    }
}
