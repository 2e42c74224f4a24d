//! The background lattice: body-centred cubic tetrahedra on a balanced octree.
//!
//! Steps:
//! 1. Refine a grid of root cells while a caller's rule says that a cell is larger
//!    than wanted there.
//! 2. Balance: two cells that share a face or an edge differ by at most one level.
//!    One pass from the finest level to the coarsest is enough.
//! 3. Emit tetrahedra. Each leaf has a node at its centre and at its corners. Across
//!    a face shared by two leaves of one size, the two centres and each edge of the
//!    face (each half of it, if a smaller leaf has put a node in its middle) span a
//!    tetrahedron. Across a face between a leaf and four smaller ones, each side
//!    cones its centre to the triangles of that face, whose quarter squares are split
//!    through the middle of the large face.
//!
//! Source: [Labelle Shewchuk 2007, section 3], whose octants, "BCC", "bisected BCC",
//! "quadrisected BCC" and "half-pyramid" tetrahedra these are.
//!
//! **Deviations.** The balance rule includes edges, so that no edge of a quarter
//! square is ever split and one rule emits all shapes. The three axes may have
//! different lengths and any orientation ([`Frame`]), so that boxes and plates can be
//! fitted exactly.
//!
//! **Guarantee.** The tetrahedra fill the grid, are conforming and positive, in an
//! order that depends on the input alone.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use glam::{DMat3, DVec3};

/// Hashes one packed integer: fast, and nothing iterates over the maps that use it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PackedHasher(u64);

impl Hasher for PackedHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_u64(u64::from(b));
        }
    }
    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 29);
    }
}

/// A map from packed integers.
pub(super) type PackedMap<V> = HashMap<u64, V, BuildHasherDefault<PackedHasher>>;
type PackedSet = HashSet<u64, BuildHasherDefault<PackedHasher>>;

/// Where lattice coordinates lie in space: one unit is half a finest cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Position of lattice point 0, 0, 0.
    pub origin: DVec3,
    /// Columns: the vectors of one unit along each lattice axis.
    pub unit: DMat3,
}

impl Frame {
    fn place(&self, p: [i32; 3]) -> DVec3 {
        self.origin + self.unit * DVec3::new(f64::from(p[0]), f64::from(p[1]), f64::from(p[2]))
    }
}

/// A cell asks how large it may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// Its centre in space.
    pub centre: DVec3,
    /// Half its diagonal.
    pub radius: f64,
    /// Size relative to the finest cell: 1, 2, 4 …
    pub scale: f64,
}

/// Nodes and tetrahedra of the background lattice.
#[derive(Clone, Debug, Default)]
pub(super) struct Lattice {
    /// Positions in space.
    pub positions: Vec<DVec3>,
    /// Positively oriented tetrahedra.
    pub tets: Vec<[u32; 4]>,
    /// Integer coordinates of the nodes, which tell long edges (along an axis) from short.
    pub coordinates: Vec<[i32; 3]>,
}

/// The most cells that a lattice may have: beyond it the request is refused.
pub(super) const MAX_CELLS: usize = 40_000_000;

/// Refines `roots` cells (each 2^`levels` finest cells wide) while `too_large` says
/// so, balances, and emits the tetrahedra. `None` if there would be too many cells.
pub(super) fn build(
    frame: &Frame,
    roots: [i32; 3],
    levels: u32,
    too_large: &mut dyn FnMut(Cell) -> bool,
) -> Option<Lattice> {
    let octree = Octree::build(frame, roots, levels, too_large)?;
    Some(octree.emit(frame))
}

struct Octree {
    roots: [i32; 3],
    levels: u32,
    /// Cells that have children, by level; level 0 holds the roots.
    split: Vec<PackedSet>,
    /// The same cells in the order in which they were split.
    order: Vec<Vec<[i32; 3]>>,
}

fn pack(c: [i32; 3]) -> u64 {
    // Coordinates lie in -2^20 .. 2^20.
    let part = |v: i32| ((v + (1 << 20)) as u64) & 0x1f_ffff;
    part(c[0]) | part(c[1]) << 21 | part(c[2]) << 42
}

fn add(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

impl Octree {
    fn build(
        frame: &Frame,
        roots: [i32; 3],
        levels: u32,
        too_large: &mut dyn FnMut(Cell) -> bool,
    ) -> Option<Self> {
        let count = roots.iter().map(|&r| r as usize).product::<usize>();
        if count > MAX_CELLS || roots.iter().any(|&r| (r << (levels + 1)) >= (1 << 20)) {
            return None;
        }
        let mut tree = Self {
            roots,
            levels,
            split: vec![PackedSet::default(); levels as usize],
            order: vec![Vec::new(); levels as usize],
        };
        let mut cells = Vec::with_capacity(count);
        for z in 0..roots[2] {
            for y in 0..roots[1] {
                for x in 0..roots[0] {
                    cells.push([x, y, z]);
                }
            }
        }
        let half_diagonal = [[1., 1., 1.], [-1., 1., 1.], [1., -1., 1.], [1., 1., -1.]]
            .map(|d| (frame.unit * DVec3::from_array(d)).length())
            .into_iter()
            .fold(0.0, f64::max);
        let mut visited = count;
        for level in 0..levels {
            let half = 1_i32 << (levels - level);
            let mut next = Vec::new();
            for &cell in &cells {
                let centre = frame.place(cell.map(|v| (2 * v + 1) * half));
                let scale = f64::from(half);
                let wanted = too_large(Cell {
                    centre,
                    radius: half_diagonal * scale,
                    scale,
                });
                if wanted {
                    tree.mark(level, cell);
                    next.extend(children(cell));
                }
            }
            visited += next.len();
            if visited > MAX_CELLS {
                return None;
            }
            cells = next;
        }
        tree.balance();
        Some(tree)
    }

    fn mark(&mut self, level: u32, cell: [i32; 3]) -> bool {
        let fresh = self.split[level as usize].insert(pack(cell));
        if fresh {
            self.order[level as usize].push(cell);
        }
        fresh
    }

    fn in_range(&self, level: u32, cell: [i32; 3]) -> bool {
        (0..3).all(|k| cell[k] >= 0 && cell[k] < self.roots[k] << level)
    }

    fn is_split(&self, level: u32, cell: [i32; 3]) -> bool {
        level < self.levels && self.split[level as usize].contains(&pack(cell))
    }

    fn exists(&self, level: u32, cell: [i32; 3]) -> bool {
        self.in_range(level, cell)
            && (level == 0 || self.split[level as usize - 1].contains(&pack(cell.map(|v| v >> 1))))
    }

    /// A split cell needs all its face and edge neighbours of its own level to exist.
    fn balance(&mut self) {
        for level in (1..self.levels).rev() {
            let mut i = 0;
            while i < self.order[level as usize].len() {
                let cell = self.order[level as usize][i];
                i += 1;
                for step in FACE_AND_EDGE_STEPS {
                    let neighbour = add(cell, step);
                    if self.in_range(level, neighbour) {
                        self.mark(level - 1, neighbour.map(|v| v >> 1));
                    }
                }
            }
        }
        // Parents of what was added exist: a cell that is marked at level l - 1 is a
        // neighbour of a parent that exists, and the pass at l - 1 marks its own.
    }

    fn emit(&self, frame: &Frame) -> Lattice {
        let mut out = Emitter {
            frame: *frame,
            lattice: Lattice::default(),
            index: PackedMap::default(),
        };
        for level in 0..=self.levels {
            for cell in self.leaves(level) {
                self.emit_leaf(level, cell, &mut out);
            }
        }
        out.lattice
    }

    fn leaves(&self, level: u32) -> Vec<[i32; 3]> {
        let mut cells = Vec::new();
        if level == 0 {
            for z in 0..self.roots[2] {
                for y in 0..self.roots[1] {
                    for x in 0..self.roots[0] {
                        cells.push([x, y, z]);
                    }
                }
            }
        } else {
            for &parent in &self.order[level as usize - 1] {
                cells.extend(children(parent));
            }
        }
        cells.retain(|&c| !self.is_split(level, c));
        cells
    }

    fn emit_leaf(&self, level: u32, cell: [i32; 3], out: &mut Emitter) {
        let half = 1_i32 << (self.levels - level);
        let centre = cell.map(|v| (2 * v + 1) * half);
        for axis in 0..3 {
            for sign in [-1, 1] {
                let mut step = [0; 3];
                step[axis] = sign;
                let neighbour = add(cell, step);
                if !self.in_range(level, neighbour) {
                    continue;
                }
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                let mut middle = centre;
                middle[axis] += sign * half;
                let at = |du: i32, dv: i32| {
                    let mut p = middle;
                    p[u] += du * half;
                    p[v] += dv * half;
                    p
                };
                if !self.exists(level, neighbour) {
                    // The neighbour is larger: its face's middle is one of our corners.
                    let du = if cell[u] & 1 == 0 { 1 } else { -1 };
                    let dv = if cell[v] & 1 == 0 { 1 } else { -1 };
                    out.tet([centre, at(du, dv), at(-du, -dv), at(du, -dv)]);
                    out.tet([centre, at(du, dv), at(-du, -dv), at(-du, dv)]);
                } else if self.is_split(level, neighbour) {
                    for du in [-1, 1] {
                        for dv in [-1, 1] {
                            out.tet([centre, middle, at(du, dv), at(du, 0)]);
                            out.tet([centre, middle, at(du, dv), at(0, dv)]);
                        }
                    }
                } else if sign > 0 {
                    let mut other = centre;
                    other[axis] += 2 * half;
                    let ring = [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)];
                    for pair in ring.windows(2) {
                        let ((a, b), (c, d)) = (pair[0], pair[1]);
                        let (mu, mv) = ((a + c) / 2, (b + d) / 2);
                        // The two other cells round this edge of the face.
                        let mut beside = [0; 3];
                        (beside[u], beside[v]) = (mu, mv);
                        let divided = self.is_split(level, add(cell, beside))
                            || self.is_split(level, add(neighbour, beside));
                        if divided {
                            out.tet([centre, other, at(a, b), at(mu, mv)]);
                            out.tet([centre, other, at(mu, mv), at(c, d)]);
                        } else {
                            out.tet([centre, other, at(a, b), at(c, d)]);
                        }
                    }
                }
            }
        }
    }
}

struct Emitter {
    frame: Frame,
    lattice: Lattice,
    index: PackedMap<u32>,
}

impl Emitter {
    fn node(&mut self, p: [i32; 3]) -> u32 {
        let lattice = &mut self.lattice;
        *self.index.entry(pack(p)).or_insert_with(|| {
            lattice.positions.push(self.frame.place(p));
            lattice.coordinates.push(p);
            lattice.positions.len() as u32 - 1
        })
    }

    fn tet(&mut self, p: [[i32; 3]; 4]) {
        let d = |i: usize, k: usize| i64::from(p[i][k] - p[0][k]);
        let determinant = d(1, 0) * (d(2, 1) * d(3, 2) - d(2, 2) * d(3, 1))
            - d(1, 1) * (d(2, 0) * d(3, 2) - d(2, 2) * d(3, 0))
            + d(1, 2) * (d(2, 0) * d(3, 1) - d(2, 1) * d(3, 0));
        debug_assert_ne!(determinant, 0);
        let mut nodes = p.map(|q| self.node(q));
        if determinant < 0 {
            nodes.swap(2, 3);
        }
        self.lattice.tets.push(nodes);
    }
}

fn children(cell: [i32; 3]) -> [[i32; 3]; 8] {
    std::array::from_fn(|i| {
        let i = i as i32;
        [
            2 * cell[0] + (i & 1),
            2 * cell[1] + (i >> 1 & 1),
            2 * cell[2] + (i >> 2 & 1),
        ]
    })
}

const FACE_AND_EDGE_STEPS: [[i32; 3]; 18] = [
    [1, 0, 0],
    [-1, 0, 0],
    [0, 1, 0],
    [0, -1, 0],
    [0, 0, 1],
    [0, 0, -1],
    [1, 1, 0],
    [1, -1, 0],
    [-1, 1, 0],
    [-1, -1, 0],
    [1, 0, 1],
    [1, 0, -1],
    [-1, 0, 1],
    [-1, 0, -1],
    [0, 1, 1],
    [0, 1, -1],
    [0, -1, 1],
    [0, -1, -1],
];

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_core::TetMesh;

    fn unit_frame() -> Frame {
        Frame {
            origin: DVec3::ZERO,
            unit: DMat3::IDENTITY,
        }
    }

    fn as_mesh(lattice: &Lattice) -> TetMesh {
        let positions = lattice.positions.iter().map(|p| p.as_vec3()).collect();
        TetMesh::build(positions, lattice.tets.clone()).unwrap()
    }

    /// All interior faces are shared by two tets: the only faces of one tet lie
    /// where the emitted cells end, half a cell inside the grid's border.
    fn open_faces_inside(lattice: &Lattice, low: f32, high: f32) -> usize {
        let mesh = as_mesh(lattice);
        mesh.boundary()
            .filter(|f| {
                f.nodes.iter().all(|&n| {
                    let p = mesh.positions()[n as usize];
                    p.min_element() > low && p.max_element() < high
                })
            })
            .count()
    }

    #[test]
    fn a_uniform_lattice_has_twelve_tets_a_cell() {
        let lattice = build(&unit_frame(), [6, 6, 6], 0, &mut |_| true).unwrap();
        assert_eq!(lattice.tets.len(), 3 * 5 * 36 * 4);
        assert_eq!(open_faces_inside(&lattice, 1.5, 10.5), 0);
    }

    #[test]
    fn a_graded_lattice_conforms() {
        // Fine round a point off centre: all kinds of transitions occur.
        for seed in 0..6 {
            let target = DVec3::new(21.0 + f64::from(seed) * 4.7, 30.3, 33.9);
            let lattice = build(&unit_frame(), [4, 4, 4], 3, &mut |c| {
                c.centre.distance(target) < c.radius * 1.2
            })
            .unwrap();
            let mesh = as_mesh(&lattice);
            assert_eq!(open_faces_inside(&lattice, 8.1, 55.9), 0, "seed {seed}");
            // No gap and no overlap: the tets fill the grid but for the pyramids of
            // the outermost faces.
            let boundary: f64 = mesh
                .boundary()
                .map(|f| {
                    let [a, b, c] = f.nodes.map(|n| mesh.positions()[n as usize].as_dvec3());
                    a.dot(b.cross(c)) / 6.0
                })
                .sum();
            assert!((mesh.volume() - boundary).abs() < 1e-6 * boundary);
        }
    }

    #[test]
    fn too_many_cells_are_refused() {
        assert!(build(&unit_frame(), [500, 500, 500], 0, &mut |_| true).is_none());
        assert!(build(&unit_frame(), [90_000, 1, 1], 5, &mut |_| true).is_none());
    }
}
