//! Isosurface stuffing: the part of a lattice that lies inside a shape, as good tetrahedra.
//!
//! Steps:
//! 1. The value of the shape at each lattice node; only tetrahedra with a node inside matter.
//! 2. Edges from inside to outside get a cut point where they leave the shape.
//! 3. Warp: a node with a cut point nearer than a fraction of the edge moves to the
//!    nearest such point and lies on the surface from then on; the cut points on its
//!    edges vanish. All decisions use unmoved positions.
//! 4. Each tetrahedron is replaced by the stencil of its signs. A quadrilateral on a
//!    shared face is split through its deeper inside node (ties: smaller index), which
//!    both neighbours see alike; one on the surface through the shorter diagonal.
//!
//! Source: [Labelle Shewchuk 2007, sections 2 and 4]: the fractions are theirs.
//!
//! **Deviations.** The diagonals follow depth, not the parity rule, so the published
//! bound on angles does not hold; [`super::improve`] works on what is left. A warp that
//! would invert a tetrahedron of a graded or stretched lattice is left out. A node
//! that lies on the surface from the start counts as warped.
//!
//! **Guarantee.** Conforming; every boundary node lies on the surface; every inside
//! node of the lattice is kept, so the boundary passes between inside and outside nodes.

use fracas_core::tet_mesh::NONE;
use glam::DVec3;

use super::domain::Domain;
use super::lattice::{Lattice, PackedMap};
use super::quality::volume;

/// Nearer than this fraction of a long edge (along an axis), a cut point warps the node.
const WARP_LONG: f64 = 0.24999;
/// The same for short edges (from a centre to a corner).
const WARP_SHORT: f64 = 0.41189;

/// The stuffed mesh.
#[derive(Clone, Debug, Default)]
pub(super) struct Stuffed {
    /// Nodes.
    pub positions: Vec<DVec3>,
    /// Tetrahedra, oriented as the lattice's.
    pub tets: Vec<[u32; 4]>,
    /// Whether a node was put on the surface (a cut point or a warped node).
    pub on_surface: Vec<bool>,
    /// The lattice node that a node was, or [`NONE`] for a cut point.
    pub origin: Vec<u32>,
}

/// What is known of a lattice in a shape before it is cut.
pub(super) struct Prepared {
    lattice: Lattice,
    values: Vec<f64>,
    /// Lattice tetrahedra with a node inside.
    tets: Vec<[u32; 4]>,
    cuts: Vec<Cut>,
    /// Lattice nodes that are not to be warped.
    held: Vec<bool>,
}

impl Prepared {
    /// Asks `domain` about the nodes and edges of `lattice`. `spacing` is the scale of
    /// "on the surface".
    pub(super) fn new(domain: &dyn Domain, lattice: Lattice, spacing: f64) -> Self {
        let on_surface = 1e-6 * spacing;
        let values: Vec<f64> = lattice
            .positions
            .iter()
            .map(|&p| domain.value(p, 4.0 * spacing))
            .map(|v| if v.abs() < on_surface { 0.0 } else { v })
            .collect();
        let tets: Vec<[u32; 4]> = lattice
            .tets
            .iter()
            .filter(|t| t.iter().any(|&n| values[n as usize] < 0.0))
            .copied()
            .collect();
        let cuts = find_cuts(domain, &lattice, &values, &tets);
        Self {
            held: vec![false; values.len()],
            lattice,
            values,
            tets,
            cuts,
        }
    }

    /// Forbids to warp the lattice nodes from which these mesh nodes come; says
    /// whether that changes anything.
    pub(super) fn hold(&mut self, mesh: &Stuffed, nodes: &[u32]) -> bool {
        let mut any = false;
        for &n in nodes {
            let origin = mesh.origin[n as usize];
            if let Some(held) = self.held.get_mut(origin as usize)
                && self.values[origin as usize] != 0.0
            {
                any |= !*held;
                *held = true;
            }
        }
        any
    }

    /// Warps and cuts.
    pub(super) fn cut(&self) -> Stuffed {
        let mut values = self.values.clone();
        let mut positions = self.lattice.positions.clone();
        warp_nodes(self, &mut values, &mut positions);
        let count = positions.len();
        let mut cutter = Cutter {
            lattice: &self.lattice,
            out: Stuffed {
                on_surface: values.iter().map(|&v| v == 0.0).collect(),
                positions,
                tets: Vec::with_capacity(self.tets.len() * 2),
                origin: (0..count as u32).collect(),
            },
            values: &values,
            cut_node: PackedMap::default(),
            middles: Vec::new(),
        };
        cutter.add_cut_nodes(&self.cuts);
        for tet in &self.tets {
            cutter.cut(*tet);
        }
        compact(cutter.out)
    }
}

/// A cut edge: the node inside, the node outside, and where it is cut.
struct Cut {
    inside: u32,
    outside: u32,
    point: DVec3,
    long: bool,
}

fn edge_key(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

fn find_cuts(
    domain: &dyn Domain,
    lattice: &Lattice,
    values: &[f64],
    tets: &[[u32; 4]],
) -> Vec<Cut> {
    let mut seen: PackedMap<()> = PackedMap::default();
    let mut cuts = Vec::new();
    for tet in tets {
        for &a in tet.iter().filter(|&&n| values[n as usize] < 0.0) {
            for &b in tet.iter().filter(|&&n| values[n as usize] > 0.0) {
                if seen.insert(edge_key(a, b), ()).is_some() {
                    continue;
                }
                let (p, q) = (lattice.positions[a as usize], lattice.positions[b as usize]);
                let t = domain.crossing(p, q).clamp(1e-6, 1.0 - 1e-6);
                let (c, d) = (
                    lattice.coordinates[a as usize],
                    lattice.coordinates[b as usize],
                );
                cuts.push(Cut {
                    inside: a,
                    outside: b,
                    point: p.lerp(q, t),
                    long: (0..3).filter(|&k| c[k] == d[k]).count() == 2,
                });
            }
        }
    }
    cuts
}

fn warp_nodes(prepared: &Prepared, values: &mut [f64], positions: &mut [DVec3]) {
    let Prepared {
        lattice,
        tets,
        cuts,
        held,
        ..
    } = prepared;
    // The nearest violating cut point of each node.
    let mut target: Vec<Option<DVec3>> = vec![None; positions.len()];
    for cut in cuts {
        for (node, other) in [(cut.inside, cut.outside), (cut.outside, cut.inside)] {
            let at = lattice.positions[node as usize];
            let fraction = if cut.long { WARP_LONG } else { WARP_SHORT };
            let reach = fraction * at.distance(lattice.positions[other as usize]);
            let distance = at.distance(cut.point);
            if distance < reach
                && !held[node as usize]
                && target[node as usize].is_none_or(|t| distance < at.distance(t))
            {
                target[node as usize] = Some(cut.point);
            }
        }
    }
    for (node, t) in target.iter().enumerate() {
        if let Some(point) = t {
            positions[node] = *point;
        }
    }
    // Graded and stretched lattices: take back the warps that invert a tetrahedron.
    loop {
        let mut undone = false;
        for tet in tets {
            let corners = tet.map(|n| positions[n as usize]);
            let original = tet.map(|n| lattice.positions[n as usize]);
            if volume(corners) > 0.01 * volume(original) {
                continue;
            }
            for &n in tet {
                let home = lattice.positions[n as usize];
                if target[n as usize].take().is_some() {
                    positions[n as usize] = home;
                    undone = true;
                }
            }
        }
        if !undone {
            break;
        }
    }
    for (node, t) in target.iter().enumerate() {
        if t.is_some() {
            values[node] = 0.0;
        }
    }
}

struct Cutter<'a> {
    lattice: &'a Lattice,
    values: &'a [f64],
    out: Stuffed,
    cut_node: PackedMap<u32>,
    /// For nodes that are cut points: the middle of their lattice edge, which has the
    /// same side of every plane as the cut point but no rounding to fear.
    middles: Vec<DVec3>,
}

impl Cutter<'_> {
    fn add_cut_nodes(&mut self, cuts: &[Cut]) {
        let values = self.values;
        let survives =
            |c: &&Cut| values[c.inside as usize] < 0.0 && values[c.outside as usize] > 0.0;
        for cut in cuts.iter().filter(survives) {
            let node = self.out.positions.len() as u32;
            self.cut_node
                .insert(edge_key(cut.inside, cut.outside), node);
            self.out.positions.push(cut.point);
            self.out.on_surface.push(true);
            self.out.origin.push(NONE);
            let [a, b] = [cut.inside, cut.outside].map(|n| self.lattice.positions[n as usize]);
            self.middles.push(0.5 * (a + b));
        }
    }

    fn reference(&self, node: u32) -> DVec3 {
        let lattice = &self.lattice.positions;
        lattice
            .get(node as usize)
            .copied()
            .unwrap_or_else(|| self.middles[node as usize - lattice.len()])
    }

    /// Adds a tetrahedron, oriented by the unmoved lattice.
    fn emit(&mut self, mut nodes: [u32; 4]) {
        if volume(nodes.map(|n| self.reference(n))) < 0.0 {
            nodes.swap(2, 3);
        }
        self.out.tets.push(nodes);
    }

    fn cut(&mut self, tet: [u32; 4]) {
        let (mut outside, mut zero, mut inside) = (Vec4::new(), Vec4::new(), Vec4::new());
        for n in tet {
            match self.values[n as usize] {
                v if v > 0.0 => outside.push(n),
                v if v < 0.0 => inside.push(n),
                _ => zero.push(n),
            }
        }
        if inside.is_empty() {
            return;
        }
        if outside.is_empty() {
            self.out.tets.push(tet);
            return;
        }
        // Deepest first.
        inside.sort(|&a, &b| {
            self.values[a as usize]
                .total_cmp(&self.values[b as usize])
                .then(a.cmp(&b))
        });
        let c = |p: u32, n: u32| self.cut_node[&edge_key(p, n)];
        let (p, z, n) = (outside.items(), zero.items(), inside.items());
        match (p.len(), z.len(), n.len()) {
            (3, 0, 1) => self.emit([n[0], c(p[0], n[0]), c(p[1], n[0]), c(p[2], n[0])]),
            (2, 1, 1) => self.emit([n[0], z[0], c(p[0], n[0]), c(p[1], n[0])]),
            (1, 2, 1) => self.emit([n[0], z[0], z[1], c(p[0], n[0])]),
            (1, 1, 2) => {
                let (c0, c1) = (c(p[0], n[0]), c(p[0], n[1]));
                self.emit([z[0], n[0], n[1], c1]);
                self.emit([z[0], n[0], c0, c1]);
            }
            (2, 0, 2) => {
                let (a0, a1) = (c(p[0], n[0]), c(p[0], n[1]));
                let (b0, b1) = (c(p[1], n[0]), c(p[1], n[1]));
                self.emit([n[0], n[1], a1, b1]);
                // The quadrilateral a0 a1 b1 b0 lies on the surface: nobody shares it.
                let at = |n: u32| self.out.positions[n as usize];
                if at(a0).distance_squared(at(b1)) <= at(a1).distance_squared(at(b0)) {
                    self.emit([n[0], a0, a1, b1]);
                    self.emit([n[0], a0, b1, b0]);
                } else {
                    self.emit([n[0], a0, a1, b0]);
                    self.emit([n[0], a1, b1, b0]);
                }
            }
            (1, 0, 3) => {
                let (c0, c1, c2) = (c(p[0], n[0]), c(p[0], n[1]), c(p[0], n[2]));
                self.emit([n[0], n[1], n[2], c2]);
                self.emit([n[0], n[1], c1, c2]);
                self.emit([n[0], c0, c1, c2]);
            }
            _ => unreachable!("four nodes, some inside and some outside"),
        }
    }
}

/// Up to four node indices.
struct Vec4([u32; 4], usize);

impl Vec4 {
    fn new() -> Self {
        Self([0; 4], 0)
    }
    fn push(&mut self, n: u32) {
        self.0[self.1] = n;
        self.1 += 1;
    }
    fn is_empty(&self) -> bool {
        self.1 == 0
    }
    fn items(&self) -> &[u32] {
        &self.0[..self.1]
    }
    fn sort(&mut self, compare: impl FnMut(&u32, &u32) -> std::cmp::Ordering) {
        self.0[..self.1].sort_by(compare);
    }
}

/// Drops nodes that no tetrahedron uses; keeps the order of the others.
pub(super) fn compact(mesh: Stuffed) -> Stuffed {
    let mut used = vec![false; mesh.positions.len()];
    for n in mesh.tets.iter().flatten() {
        used[*n as usize] = true;
    }
    let mut new = vec![0_u32; used.len()];
    let mut out = Stuffed::default();
    for (n, _) in used.iter().enumerate().filter(|(_, u)| **u) {
        new[n] = out.positions.len() as u32;
        out.positions.push(mesh.positions[n]);
        out.on_surface.push(mesh.on_surface[n]);
        out.origin.push(mesh.origin[n]);
    }
    out.tets = mesh.tets;
    for tet in &mut out.tets {
        *tet = tet.map(|n| new[n as usize]);
    }
    out
}
