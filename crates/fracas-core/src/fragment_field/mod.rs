//! Distances to every fragment of an object that breaks: one nodal field for all.
//!
//! ```text
//!             build, once                          apply, at a fracture
//!  TetMesh -> TetGrid (which tet holds p)          stays
//!          -> OuterSurface (exact, on a grid)        stays
//!          -> Features (boundary triangles)        + crack polygons of new planes
//!          -> Node { d, n, feature }, exact        front through the broken fragment
//!          -> Occupancy (cells around nodes)       + cells of a fragment, when first asked
//! ```
//!
//! Queries are asked through a view of one fragment, [`FragmentField::of`]; see
//! [`FragmentDistance`].
//!
//! Source: Glondu 2013, section 4. **Deviations** are noted in the files: features
//! instead of averages ([`Propagation`]), a grid instead of a k-d tree, bits by
//! fragment, and `nearest`, which the paper leaves out.
//!
//! **Guarantee**: `inside` is exact up to rounding; `penetration` never returns less
//! than the exact depth (closest-feature and exact rules); `sphere_may_touch` never
//! culls a sphere that touches; `nearest` is exact up to rounding. An update works
//! on the broken fragment alone.

mod at_cut;
mod data;
mod face_tree;
mod feature;
mod locate;
mod near;
pub(crate) mod object_data;
mod occupancy;
mod outer_surface;
mod own_faces;
mod propagate;
mod query;
#[cfg(test)]
mod surface_tests;
#[cfg(test)]
mod tests;

pub use locate::{Location, SLACK};
pub use near::{Around, NearFace, Nearest};
pub use propagate::FieldStats;
#[cfg(feature = "research")]
pub use propagate::Propagation;
#[cfg(feature = "research")]
pub use query::Penetration;
pub use query::{FragmentDistance, SignedDistance};

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use glam::Vec3;
use thiserror::Error;

use crate::fragment::{FragmentId, Fragments, Split};
use crate::tet_mesh::{NONE, TET_FACES, TetMesh};
use crate::triangle_tree::TriangleTree;
use face_tree::Bounds;
use feature::{FeatureId, Features};
use locate::TetGrid;
use occupancy::{FragmentCells, Occupancy};
use outer_surface::OuterSurface;
use own_faces::OwnFaces;
#[cfg(not(feature = "research"))]
use propagate::Propagation;
use propagate::{Front, Node, Update};

/// How a [`FragmentField`] is built and kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldOptions {
    /// How distances are brought up to date when something breaks.
    #[cfg(feature = "research")]
    pub propagation: Propagation,
    /// Cells of the point-location grid, in mean edge lengths.
    pub location_cell: f32,
    /// Cells of the occupancy grid, in mean edge lengths.
    pub occupancy_cell: f32,
    /// Cells of the outer surface's distance grid, in mean edge lengths.
    pub outer_surface_cell: f32,
    /// At most so many of these cells along the longest side.
    pub outer_surface_most_cells: u32,
}

impl Default for FieldOptions {
    fn default() -> Self {
        Self {
            #[cfg(feature = "research")]
            propagation: Propagation::default(),
            location_cell: 2.0,
            occupancy_cell: 0.6,
            outer_surface_cell: 0.5,
            outer_surface_most_cells: 64,
        }
    }
}

impl FieldOptions {
    /// The rules that others are compared with need `research`.
    fn propagation(&self) -> Propagation {
        #[cfg(feature = "research")]
        return self.propagation;
        #[cfg(not(feature = "research"))]
        Propagation::default()
    }
}

/// Why a [`FragmentField`] cannot be built.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// The object has broken already.
    #[error(
        "the object has broken already; build the field before the first fracture and apply every split"
    )]
    AlreadyBroken,
    /// A cell size is not a positive number, or too large.
    #[error("{what} is {value}, which is not a positive number of edge lengths (1e6 at most)")]
    BadCell {
        /// Which option.
        what: &'static str,
        /// Its value.
        value: f32,
    },
}

/// Where a fragment may be.
#[derive(Clone, Debug)]
struct View {
    low: Vec3,
    high: Vec3,
    /// Made when somebody first asks. They depend on the fragment alone, not on when that
    /// is: a fracture elsewhere changes neither its labels nor the planes that bound it.
    cells: OnceLock<FragmentCells>,
    faces: OwnFaces,
}

impl View {
    fn bytes(&self) -> usize {
        let cells = self.cells.get().map_or(0, FragmentCells::bytes);
        size_of::<Self>() + cells + self.faces.bytes()
    }

    /// The cells that the fragment occupies, made now if nobody has asked before.
    #[inline]
    fn cells(&self, field: &FragmentField, of: &Fragments, id: FragmentId) -> &FragmentCells {
        self.cells.get_or_init(|| field.occupied_by(of, id, self))
    }
}

/// Bytes that a field takes, by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldBytes {
    /// Distance, direction and feature of all nodes.
    pub nodes: usize,
    /// Boundary triangles and crack polygons.
    pub features: usize,
    /// Point location.
    pub location: usize,
    /// Occupied cells and boxes of all living fragments.
    pub occupancy: usize,
    /// Workspace of the front.
    pub scratch: usize,
    /// The regular grid of the outer surface's distance.
    pub outer_surface_grid: usize,
}

/// The distance field of one object and all its fragments.
#[derive(Clone, Debug)]
pub struct FragmentField {
    options: FieldOptions,
    edge: f32,
    nodes: Vec<Node>,
    features: Features,
    tets: Arc<TetGrid>,
    outer_surface: Arc<OuterSurface>,
    occupancy: Arc<Occupancy>,
    /// By fragment id; `None` once it has broken.
    views: Vec<Option<Box<View>>>,
    front: Front,
    stats: FieldStats,
}

impl FragmentField {
    /// The field of an object that is still whole.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn build(fragments: &Fragments, options: &FieldOptions) -> Result<Self, BuildError> {
        check(fragments, options)?;
        let mesh = fragments.mesh();
        let edge = mesh.mean_edge_length();
        let features = Features::new(mesh);
        let tets = TetGrid::build(mesh, options.location_cell * edge);
        let triangles: Vec<[Vec3; 3]> = (0..features.outer_count())
            .map(|at| features.outer_corners(mesh, at))
            .collect();
        let tree = TriangleTree::build(&triangles);
        let outer_surface = OuterSurface::build(
            mesh,
            &tree,
            &tets,
            &features,
            options.outer_surface_cell * edge,
            options.outer_surface_most_cells,
        );
        let parts = Parts {
            nodes: exact_nodes(mesh, &tree, edge),
            occupancy: Occupancy::build(mesh, options.occupancy_cell * edge),
            faces: OwnFaces::default(),
            cells: OnceLock::new(),
            features,
            tets,
            outer_surface,
        };
        Ok(Self::assemble(fragments, options, parts))
    }

    fn assemble(fragments: &Fragments, options: &FieldOptions, parts: Parts) -> Self {
        let mesh = fragments.mesh();
        let (low, high) = mesh.bounds();
        let whole = View {
            low,
            high,
            cells: parts.cells,
            faces: parts.faces,
        };
        whole.faces.tree(&parts.features, fragments, FragmentId(0));
        let field = Self {
            options: *options,
            edge: mesh.mean_edge_length(),
            nodes: parts.nodes,
            features: parts.features,
            tets: Arc::new(parts.tets),
            outer_surface: Arc::new(parts.outer_surface),
            occupancy: Arc::new(parts.occupancy),
            views: vec![Some(Box::new(whole))],
            front: Front::new(mesh.positions().len()),
            stats: FieldStats::default(),
        };
        // Once for all objects of one make.
        let _ = field.of(fragments, FragmentId(0)).cells();
        field
    }

    /// Follows a fracture: to be called once for every [`Split`], in order, with
    /// the fragments as they are right after it.
    ///
    /// Work and memory depend on the broken fragment alone.
    pub fn apply(&mut self, fragments: &Fragments, split: &Split) {
        let new = self.features.add_fracture(fragments, &split.cut_tets);
        let mut update = Update {
            fragments,
            features: &self.features,
            nodes: &mut self.nodes,
            edge: self.edge,
            stats: FieldStats {
                cut_tets: split.cut_tets.len(),
                ..FieldStats::default()
            },
        };
        update.seed(new.clone(), &mut self.front);
        match self.options.propagation() {
            Propagation::ClosestFeature => update.spread_features(&mut self.front),
            Propagation::Averaging => update.spread_averages(&mut self.front),
            Propagation::Exact => update.recompute(split, &mut self.front),
        }
        self.stats = update.stats;
        self.renew_views(fragments, split, new);
    }

    /// The view of one living fragment.
    ///
    /// # Panics
    /// When the fragment has broken, is not of this object, or a split was not applied.
    #[must_use]
    pub fn of<'a>(&'a self, fragments: &'a Fragments, id: FragmentId) -> FragmentDistance<'a> {
        let view = self.views[id.0 as usize].as_deref();
        FragmentDistance::new(self, fragments, id, view.expect("a living fragment"))
    }

    /// The tetrahedron that holds a point, whoever it belongs to.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn locate(&self, fragments: &Fragments, p: Vec3) -> Option<Location> {
        let start = self.outer_surface.tet_near(p)?;
        self.tets.locate_from(fragments.mesh(), start, p)
    }

    /// Barycentric coordinates of a point in a tetrahedron.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn barycentric(mesh: &TetMesh, tet: u32, p: Vec3) -> [f32; 4] {
        locate::barycentric(mesh, tet, p)
    }

    /// Distance and direction to the surface of its fragment, as a node knows it.
    #[must_use]
    pub fn at_node(&self, node: u32) -> (f32, Vec3) {
        let node = &self.nodes[node as usize];
        (node.distance, node.normal)
    }

    /// A box around a living fragment, which may be larger than the fragment by
    /// less than an edge.
    ///
    /// # Panics
    /// As [`Self::of`].
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn bounds(&self, id: FragmentId) -> (Vec3, Vec3) {
        let view = self.views[id.0 as usize]
            .as_deref()
            .expect("a living fragment");
        (view.low, view.high)
    }

    /// The mean edge length of the mesh: the scale of tolerances.
    #[must_use]
    pub fn edge(&self) -> f32 {
        self.edge
    }

    /// Counts of the last update.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn stats(&self) -> &FieldStats {
        &self.stats
    }

    /// The options it was built with.
    #[must_use]
    pub fn options(&self) -> &FieldOptions {
        &self.options
    }

    /// The memory it takes.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn bytes(&self) -> FieldBytes {
        let views = self.views.iter().flatten();
        FieldBytes {
            nodes: self.nodes.len() * size_of::<Node>(),
            features: self.features.bytes(),
            location: self.tets.bytes(),
            occupancy: self.occupancy.bytes() + views.map(|view| view.bytes()).sum::<usize>(),
            scratch: self.front.bytes() + self.features.scratch_bytes(),
            outer_surface_grid: self.outer_surface.bytes(),
        }
    }

    /// Checks everything that holds between field and fragments.
    ///
    /// # Errors
    /// What does not hold, in words.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn validate(&self, fragments: &Fragments) -> Result<(), String> {
        if self.views.len() != fragments.id_count() {
            return Err(format!(
                "{} fragments are known of {}: a split was not applied",
                self.views.len(),
                fragments.id_count()
            ));
        }
        for (n, node) in self.nodes.iter().enumerate() {
            if node.distance < 0.0 || !node.distance.is_finite() {
                return Err(format!("node {n} has the distance {}", node.distance));
            }
            if (node.normal.length() - 1.0).abs() > 1e-3 {
                return Err(format!("node {n} has the direction {}", node.normal));
            }
        }
        for (i, view) in self.views.iter().enumerate() {
            let id = FragmentId(i as u32);
            let alive = fragments.fragment(id).is_alive();
            if view.is_some() != alive {
                return Err(format!(
                    "{id}: alive is {alive}, known as alive the contrary"
                ));
            }
            let Some(view) = view else { continue };
            let listed: Vec<u32> = view.faces.listed(&self.features).collect();
            let mut unknown = None;
            fragments.for_each_surface_tet_of(id, |tet, own| {
                let Some(cut) = fragments.cut(tet) else {
                    return;
                };
                let features = self.features.of_cut(fragments.cut_index(tet));
                for (plane, feature) in cut.planes().iter().zip(features) {
                    if plane[own] != 0.0 && listed.binary_search(feature).is_err() {
                        unknown = Some(tet);
                    }
                }
            });
            if let Some(tet) = unknown {
                return Err(format!("{id} does not know a crack in tetrahedron {tet}"));
            }
        }
        Ok(())
    }

    /// Boxes and faces of the new fragments.
    fn renew_views(&mut self, fragments: &Fragments, split: &Split, new: Range<FeatureId>) {
        let Some(parent) = self.views[split.parent.0 as usize].take() else {
            debug_assert!(false, "a split is applied once");
            return;
        };
        self.views.resize_with(fragments.id_count(), || None);
        let (mesh, labels) = (fragments.mesh(), fragments.node_fragment());
        let positions = mesh.positions();
        // Children have the highest ids.
        let first_child = split.children[0];
        let parent_has_cracks = split.parent != FragmentId(0);
        for &child in &split.children {
            let nodes = fragments.fragment(child).nodes();
            let mut bounds = Bounds::EMPTY;
            for &n in nodes {
                bounds.add(positions[n as usize]);
            }
            // Beside older cracks it reaches into tetrahedra that it shares with others,
            // but not out of the parent's box.
            if parent_has_cracks {
                for &m in nodes.iter().flat_map(|&n| mesh.adjacent_nodes(n)) {
                    if labels[m as usize] < first_child {
                        bounds.add(positions[m as usize].clamp(parent.low, parent.high));
                    }
                }
            }
            self.views[child.0 as usize] = Some(Box::new(View {
                low: bounds.low,
                high: bounds.high,
                cells: OnceLock::new(),
                faces: OwnFaces::default(),
            }));
        }
        // A piece reaches to its cut edges, and in tetrahedra of several cracks to
        // where their polygons meet.
        for edge in &split.cut_edges {
            for n in edge.nodes {
                self.grow_box(labels[n as usize], &[edge.point]);
            }
        }
        for &tet in &split.cut_tets {
            let planes = fragments.cut(tet).map_or(&[][..], |cut| cut.planes());
            if planes.len() < 2 {
                continue;
            }
            let features = *self.features.of_cut(fragments.cut_index(tet));
            for (plane, feature) in planes.iter().zip(features) {
                let quad = *self.features.crack(feature);
                for (i, n) in mesh.tets()[tet as usize].into_iter().enumerate() {
                    let id = labels[n as usize];
                    if plane[i] != 0.0 && id >= first_child {
                        self.grow_box(id, &quad);
                    }
                }
            }
        }
        self.hand_on_faces(fragments, split, &parent, new);
    }

    /// Lists the faces of the new fragments: those of the parent and the new cracks, by
    /// the labels of their nodes.
    fn hand_on_faces(
        &mut self,
        fragments: &Fragments,
        split: &Split,
        parent: &View,
        new: Range<FeatureId>,
    ) {
        let features = &self.features;
        let (labels, tets) = (fragments.node_fragment(), fragments.mesh().tets());
        let first_child = split.children[0];
        for feature in parent.faces.listed(features).chain(new) {
            let (is_crack, origin) = features.origin(feature);
            let nodes = tets[(origin / 4) as usize];
            // A boundary face has three of the four, the first of them in place of none.
            let [a, b, c] = TET_FACES[(origin % 4) as usize].map(|i| nodes[i]);
            let of = if is_crack { nodes } else { [a, b, c, a] };
            let mut told = [FragmentId(NONE); 4];
            for (i, n) in of.into_iter().enumerate() {
                let id = labels[n as usize];
                if id >= first_child
                    && !told[..i].contains(&id)
                    && let Some(view) = &mut self.views[id.0 as usize]
                {
                    view.faces.list(feature);
                }
                told[i] = id;
            }
        }
    }

    /// The cells of a fragment: those around its nodes, and those of its pieces of cut
    /// tetrahedra.
    fn occupied_by(&self, fragments: &Fragments, id: FragmentId, view: &View) -> FragmentCells {
        let (low, high) = (view.low, view.high);
        let nodes = fragments.fragment(id).nodes();
        let mut cells = self.occupancy.of_nodes(&Bounds { low, high }, nodes);
        for feature in view.faces.listed(&self.features) {
            let (is_crack, origin) = self.features.origin(feature);
            // Whoever has a node there lists the first plane of a cut tetrahedron.
            if is_crack && origin.is_multiple_of(4) {
                let piece = self.piece_bounds(fragments, origin / 4, id);
                self.occupancy.add_piece(&mut cells, &piece);
            }
        }
        cells.build_levels();
        cells
    }

    /// A box around a fragment's piece of a cut tetrahedron: it lies between its nodes
    /// and the polygons that bound it.
    fn piece_bounds(&self, fragments: &Fragments, tet: u32, id: FragmentId) -> Bounds {
        let (mesh, labels) = (fragments.mesh(), fragments.node_fragment());
        let nodes = mesh.tets()[tet as usize];
        let planes = fragments.cut(tet).map_or(&[][..], |cut| cut.planes());
        let features = self.features.of_cut(fragments.cut_index(tet));
        let is_own = |i: &usize| labels[nodes[*i] as usize] == id;
        let mut piece = Bounds::EMPTY;
        for i in (0..4).filter(is_own) {
            piece.add(mesh.positions()[nodes[i] as usize]);
        }
        if let Some(own) = (0..4).find(is_own) {
            for (plane, &feature) in planes.iter().zip(features) {
                if plane[own] != 0.0 {
                    let quad = self.features.crack(feature);
                    quad.iter().for_each(|&p| piece.add(p));
                }
            }
        }
        piece
    }

    fn grow_box(&mut self, id: FragmentId, points: &[Vec3]) {
        if let Some(view) = &mut self.views[id.0 as usize] {
            for &p in points {
                view.low = view.low.min(p);
                view.high = view.high.max(p);
            }
        }
    }
}

/// What the field of an unbroken object is made of.
struct Parts {
    nodes: Vec<Node>,
    features: Features,
    tets: TetGrid,
    outer_surface: OuterSurface,
    occupancy: Occupancy,
    faces: OwnFaces,
    /// Of the whole object, as its faces: where they are known.
    cells: OnceLock<FragmentCells>,
}

/// Most edge lengths of a cell.
const LARGEST_CELL: f32 = 1e6;

/// Whether the object is still whole and the options make sense.
fn check(fragments: &Fragments, options: &FieldOptions) -> Result<(), BuildError> {
    if fragments.id_count() != 1 {
        return Err(BuildError::AlreadyBroken);
    }
    for (what, value) in [
        ("location_cell", options.location_cell),
        ("occupancy_cell", options.occupancy_cell),
        ("outer_surface_cell", options.outer_surface_cell),
    ] {
        // What is larger leaves no numbers to count cells with.
        if !(value > 0.0 && value <= LARGEST_CELL) {
            return Err(BuildError::BadCell { what, value });
        }
    }
    Ok(())
}

/// Exact distances of all nodes to the closed surface.
fn exact_nodes(mesh: &TetMesh, tree: &TriangleTree, edge: f32) -> Vec<Node> {
    let outward = outward_normals(mesh);
    mesh.positions()
        .iter()
        .zip(&outward)
        .map(|(&p, &outward)| {
            let Some(found) = tree.closest(p, f32::INFINITY) else {
                // A mesh always has a boundary.
                return Node {
                    distance: 0.0,
                    normal: Vec3::X,
                    feature: 0,
                };
            };
            let distance = found.distance_squared.sqrt();
            Node {
                distance,
                normal: if distance > 1e-5 * edge {
                    found.to / distance
                } else {
                    outward
                },
                feature: found.id,
            }
        })
        .collect()
}

/// The angle-weighted normals of boundary nodes; any unit vector elsewhere.
fn outward_normals(mesh: &TetMesh) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; mesh.positions().len()];
    for face in mesh.boundary() {
        let corners = face.nodes.map(|n| mesh.positions()[n as usize].as_dvec3());
        let normal = (corners[1] - corners[0])
            .cross(corners[2] - corners[0])
            .normalize_or_zero();
        for i in 0..3 {
            let a = (corners[(i + 1) % 3] - corners[i]).normalize_or_zero();
            let b = (corners[(i + 2) % 3] - corners[i]).normalize_or_zero();
            let angle = libm::acos(a.dot(b).clamp(-1.0, 1.0));
            normals[face.nodes[i] as usize] += (normal * angle).as_vec3();
        }
    }
    normals
        .into_iter()
        .map(|n| n.try_normalize().unwrap_or(Vec3::X))
        .collect()
}

/// The boundary faces of a tetrahedron: local face and corners.
fn boundary_faces(mesh: &TetMesh, tet: u32) -> impl Iterator<Item = (u8, [Vec3; 3])> + '_ {
    let across = mesh.neighbours()[tet as usize];
    let nodes = mesh.tets()[tet as usize];
    (0..4).filter(move |&k| across[k] == NONE).map(move |k| {
        let ([a, b, c], at) = (TET_FACES[k], mesh.positions());
        let corners = [
            at[nodes[a] as usize],
            at[nodes[b] as usize],
            at[nodes[c] as usize],
        ];
        (k as u8, corners)
    })
}
