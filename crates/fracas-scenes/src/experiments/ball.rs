//! The sphere of Glondu 2013, section 7.2, with any number of surface triangles
//! and interior points.
//!
//! The mesher fills it a little too coarsely; then the longest edges of its surface,
//! and the longest edges inside, are halved until both counts are reached. Halving an
//! edge splits all tetrahedra around it, so the mesh stays conforming.

use std::collections::BinaryHeap;

use fracas_bake::tetrahedralize::{Grading, Options, implicit};
use fracas_core::TetMesh;
use glam::{DVec3, Vec3};

/// A ball of radius one with about `triangles` on its surface and `interior` points.
///
/// # Panics
/// When the numbers are too small for a ball.
#[must_use]
pub fn ball(triangles: usize, interior: usize) -> TetMesh {
    let mut edge = 1.6 / (interior as f64).cbrt();
    let coarse = loop {
        let mesh = stuffed(edge);
        let inside = mesh.boundary_nodes().iter().filter(|&&b| !b).count();
        // The start must not have more than is asked for.
        if inside <= interior && mesh.boundary().count() <= triangles {
            break mesh;
        }
        edge *= 1.03;
    };
    let mut bisection = Bisection::new(&coarse);
    while bisection.triangles < triangles && bisection.halve_longest(true) {}
    while bisection.interior < interior && bisection.halve_longest(false) {}
    TetMesh::build(bisection.positions, bisection.tets).expect("halving keeps a mesh")
}

fn stuffed(edge: f64) -> TetMesh {
    let options = Options::edge_length(edge).with_grading(Grading::Uniform);
    let bounds = (DVec3::splat(-1.1), DVec3::splat(1.1));
    let made = implicit(&|p: DVec3| p.length() - 1.0, bounds, &options).expect("a ball");
    made.into_mesh()
}

struct Bisection {
    positions: Vec<Vec3>,
    tets: Vec<[u32; 4]>,
    around: Vec<Vec<u32>>,
    on_surface: Vec<bool>,
    triangles: usize,
    interior: usize,
    /// Edges by length, longest first: of the surface, and others.
    longest: [BinaryHeap<(u32, u32, u32)>; 2],
}

impl Bisection {
    fn new(mesh: &TetMesh) -> Self {
        let on_surface = mesh.boundary_nodes();
        let mut made = Self {
            positions: mesh.positions().to_vec(),
            tets: mesh.tets().to_vec(),
            around: (0..mesh.positions().len() as u32)
                .map(|n| mesh.adjacent_tets(n).to_vec())
                .collect(),
            triangles: mesh.boundary().count(),
            interior: on_surface.iter().filter(|&&s| !s).count(),
            on_surface,
            longest: Default::default(),
        };
        let mut surface_edges: Vec<[u32; 2]> = mesh
            .boundary()
            .flat_map(|f| (0..3).map(move |i| [f.nodes[i], f.nodes[(i + 1) % 3]]))
            .filter(|[a, b]| a < b)
            .collect();
        surface_edges.sort_unstable();
        for a in 0..mesh.positions().len() as u32 {
            for &b in mesh.adjacent_nodes(a).iter().filter(|&&b| b > a) {
                let surface = surface_edges.binary_search(&[a, b]).is_ok();
                made.push(a, b, surface);
            }
        }
        made
    }

    fn push(&mut self, a: u32, b: u32, surface: bool) {
        let length = self.positions[a as usize].distance(self.positions[b as usize]);
        // Bits of positive floats are in the order of the floats.
        self.longest[usize::from(!surface)].push((length.to_bits(), a, b));
    }

    fn halve_longest(&mut self, surface: bool) -> bool {
        let Some((_, a, b)) = self.longest[usize::from(!surface)].pop() else {
            return false;
        };
        let middle = (self.positions[a as usize] + self.positions[b as usize]) * 0.5;
        let shared: Vec<u32> = self.around[a as usize]
            .iter()
            .copied()
            .filter(|&t| self.tets[t as usize].contains(&b))
            .collect();
        if shared.is_empty() {
            return true;
        }
        let m = self.positions.len() as u32;
        self.positions.push(middle);
        self.on_surface.push(surface);
        self.around.push(Vec::new());
        let mut rim: Vec<u32> = Vec::new();
        for t in shared {
            let old = self.tets[t as usize];
            let new = self.tets.len() as u32;
            self.tets.push(old.map(|n| if n == a { m } else { n }));
            self.tets[t as usize] = old.map(|n| if n == b { m } else { n });
            self.around[b as usize].retain(|&x| x != t);
            self.around[b as usize].push(new);
            self.around[m as usize].extend([t, new]);
            for n in old.into_iter().filter(|&n| n != a && n != b) {
                self.around[n as usize].push(new);
                rim.push(n);
            }
        }
        rim.sort_unstable();
        // A node of the rim that is met once lies on the surface, beside the edge.
        for group in rim.chunk_by(|x, y| x == y) {
            self.push(group[0], m, surface && group.len() == 1);
        }
        self.push(a, m, surface);
        self.push(m, b, surface);
        if surface {
            self.triangles += 2;
        } else {
            self.interior += 1;
        }
        true
    }
}
