//! The scene, its settings, edits and queries; one file for each stage of an update and for
//! each query.

mod build;
mod cells;
mod clearance;
mod clearance_state;
mod cone;
mod continuous;
mod culling;
mod discrete;
mod edit;
mod fans;
mod fans_state;
mod fit;
mod ids;
mod leaf;
mod margin;
mod mesh;
mod near;
mod refit;
mod restructure;
mod rewrite;
mod split;
mod split_scratch;
mod star;
mod threads;
mod traverse;
mod tree;

#[cfg(test)]
mod answer_tests;
#[cfg(test)]
mod brute_force;
#[cfg(test)]
mod star_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod update_tests;
#[cfg(test)]
mod work_tests;

use glam::DVec3;

pub use continuous::{Contacts, EdgeEdge, VertexFace};
pub use edit::{EditError, NewBody, Part};
pub use ids::BodyId;
pub use near::{Candidate, Candidates, Features};
pub use traverse::QueryStats;

use culling::CullScratch;
use ids::NONE;
use mesh::Mesh;
use restructure::Choice;
use rewrite::{Changes, Origin, RewriteScratch};
use traverse::{TaskBuffer, Touching, UNCERTAIN, WalkScratch, run_tasks};
use tree::Tree;

/// What the boxes bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detection {
    /// The end of the step only: motion is forgotten, [`FastBvh::contacts`] sees
    /// everything at rest. Smaller boxes, faster [`FastBvh::intersections`].
    Discrete,
    /// The whole step.
    Continuous,
}

/// How subtrees are kept from being tested against themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Culling {
    /// Not at all.
    Off,
    /// Normal cone alone [Provot 1997]. **Can miss.**
    NormalCone,
    /// Normal cone and contour test over the whole boundary [Volino 1994, Tang 2008].
    /// Misses nothing; quadratic in the contour.
    FullContour,
    /// Contour test on edges that bound the mesh itself only. **Can miss.**
    RealContour,
    /// The paper's: normal and binormal cone, internal boundaries ignored. **Can miss.**
    DualCone,
    /// Normal cone and star-shaped contour, proven over the whole step. Misses
    /// nothing; linear. The default.
    StarContour,
}

/// How subtrees are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builder {
    /// The fast construction of the paper: a grid of 2 x 2 x 2 cells per pass, down to
    /// `limit` items (G of the paper: 100 to 1000), medians below.
    Grid {
        /// G.
        limit: u32,
    },
    /// Medians all the way.
    Median,
    /// Surface area heuristic with 16 bins.
    BinnedSah,
    /// Medians of random axes: many different trees of one mesh, to see how well the
    /// cost metric tells them apart [Heo 2010, §5.2.1].
    RandomAxis {
        /// Another seed, another tree.
        seed: u64,
    },
}

/// What an update does about subtrees that got costly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restructuring {
    /// Builds those anew that promise to repay it, by the traversal cost metric.
    Selective,
    /// The same, where what is saved counts for so many steps: the paper counts one.
    /// For experiments.
    SelectiveOver {
        /// Steps.
        steps: u32,
    },
    /// The same, by the metric of [Larsson 2006]: a node whose volume is large
    /// against its children's.
    SelectiveByVolume,
    /// Nothing: boxes are refitted, edits are applied.
    Never,
    /// Builds everything anew at each update with an edit.
    RebuildAtEdits,
    /// Builds everything anew at each update.
    RebuildAlways,
}

/// How a scene works. The default is what we would use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What the boxes bound.
    pub detection: Detection,
    /// Culling of self-collision.
    pub culling: Culling,
    /// Construction of subtrees.
    pub builder: Builder,
    /// Reaction to costly subtrees.
    pub restructuring: Restructuring,
    /// Whether bodies that keep their shape are known not to collide with themselves,
    /// rather than tested: nothing is missed by it.
    pub keep_clearance: bool,
    /// Whether continuous tests first ask the non-penetration filter [Tang 2010].
    pub non_penetration_filter: bool,
    /// Whether continuous tests decide exactly what rounding leaves open: no contact that is
    /// none, but slow where many features lie in one plane, as on a crack that has just
    /// opened. Without it such features count as touching.
    pub exact: bool,
    /// Whether updates run on the caller's rayon pool (with the feature `parallel`; without
    /// it, on this thread). Changes no result. Queries: [`Scratch::parallel`].
    pub parallel: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            detection: Detection::Continuous,
            culling: Culling::StarContour,
            builder: Builder::Grid { limit: 128 },
            restructuring: Restructuring::Selective,
            keep_clearance: true,
            non_penetration_filter: true,
            exact: false,
            parallel: false,
        }
    }
}

/// What an update did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UpdateStats {
    /// Whether the tree was written anew because of edits.
    pub edited: bool,
    /// Triangles in subtrees that were built anew by restructuring.
    pub rebuilt_triangles: usize,
    /// Subtrees that were built anew by restructuring.
    pub rebuilt_subtrees: usize,
    /// Bodies that kept their shape and are not tested against themselves.
    pub clear_bodies: usize,
    /// Subtrees found free of self-collision, not counting those inside others.
    pub culled_subtrees: usize,
    /// TC_I of the root: expected overlap tests against another node.
    pub cost_inter: f64,
    /// TC_S of the root: expected overlap tests against itself.
    pub cost_self: f64,
    /// Nodes.
    pub nodes: usize,
    /// Levels.
    pub depth: usize,
}

/// Caller-owned memory of queries; grows to what is needed and stays.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    walk: WalkScratch,
    pairs: Vec<TaskBuffer<Vec<[u32; 2]>>>,
    contacts: Vec<TaskBuffer<Contacts>>,
    near: Vec<TaskBuffer<Vec<Candidate>>>,
    parallel: bool,
}

impl Scratch {
    /// For queries that run on the caller's rayon pool (with the feature `parallel`;
    /// without it, on this thread). The output is the same as with `default()`.
    #[must_use]
    pub fn parallel() -> Self {
        Self {
            parallel: true,
            ..Self::default()
        }
    }
}

/// Deforming, fracturing triangle meshes under one hierarchy.
#[derive(Clone, Debug)]
pub struct FastBvh {
    settings: Settings,
    mesh: Mesh,
    tree: Tree,
    changes: Changes,
    rewriting: RewriteScratch,
    culling: CullScratch,
    stats: UpdateStats,
}

impl FastBvh {
    /// An empty scene.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            mesh: Mesh::default(),
            tree: Tree::default(),
            changes: Changes::default(),
            rewriting: RewriteScratch::default(),
            culling: CullScratch::default(),
            stats: UpdateStats::default(),
        }
    }

    /// Adds a body: a set of triangles over its own vertices. Vertices of no
    /// triangle are kept, but are no features: nothing is reported for them.
    ///
    /// # Errors
    /// Names the triangle or vertex that is bad; nothing is added then.
    pub fn add(
        &mut self,
        positions: &[DVec3],
        triangles: &[[u32; 3]],
    ) -> Result<BodyId, EditError> {
        let id = self.mesh.add(positions, triangles)?;
        self.changes.bodies.push((id.0, Origin::Added));
        Ok(id)
    }

    /// Removes a body.
    ///
    /// # Errors
    /// When there is no such body.
    pub fn delete(&mut self, body: BodyId) -> Result<(), EditError> {
        let gone = self.mesh.delete(body)?;
        for t in gone.triangles {
            self.drop_place(t);
        }
        self.forget(body);
        Ok(())
    }

    /// Splits a body: each part becomes a body of its own, with copies of the
    /// vertices that several parts use. Every triangle of the body is kept by exactly
    /// one part, or is `removed` (a triangle that the crack runs through, for
    /// example, whose pieces are new triangles of the parts).
    ///
    /// # Errors
    /// When there is no such body, when parts and `removed` are no partition of its
    /// triangles, or when a part's new triangles are bad. Nothing has changed then.
    pub fn split(
        &mut self,
        body: BodyId,
        parts: &[Part],
        removed: &[u32],
    ) -> Result<Vec<NewBody>, EditError> {
        let (new, removed) = self.mesh.split(body, parts, removed)?;
        for t in removed {
            self.drop_place(t);
        }
        self.forget(body);
        let number = self.changes.splits;
        self.changes.splits += 1;
        let origin = Origin::Split(number);
        self.changes
            .bodies
            .extend(new.iter().map(|n| (n.id.0, origin)));
        Ok(new)
    }

    /// Merges bodies into one. Vertices stay apart; those of the first body come
    /// first, then the second's, and so on; the same for triangles.
    ///
    /// # Errors
    /// When a body does not exist or is named twice.
    pub fn merge(&mut self, bodies: &[BodyId]) -> Result<BodyId, EditError> {
        let id = self.mesh.merge(bodies)?;
        for &body in bodies {
            self.forget(body);
        }
        self.changes.bodies.push((id.0, Origin::Merged));
        Ok(id)
    }

    /// Moves the vertices of a body to where they are at the end of the step.
    ///
    /// # Errors
    /// When there is no such body, the number of positions is not its number of
    /// vertices, or a position is not finite.
    pub fn move_vertices(&mut self, body: BodyId, positions: &[DVec3]) -> Result<(), EditError> {
        self.mesh.move_vertices(body, positions)
    }

    /// Ends the step: applies all edits to the tree, refits, culls, restructures.
    pub fn update(&mut self) -> UpdateStats {
        let Settings {
            detection,
            culling,
            builder,
            restructuring,
            keep_clearance,
            parallel,
            ..
        } = self.settings;
        let moving = detection == Detection::Continuous;
        self.mesh.close_step(moving);
        let edited = !self.changes.is_empty();
        let everything = match restructuring {
            Restructuring::RebuildAlways => true,
            Restructuring::RebuildAtEdits => edited,
            _ => false,
        };
        if everything {
            self.rebuild(builder);
        } else if edited {
            let changes = std::mem::take(&mut self.changes);
            self.tree
                .rewrite(&self.mesh, &changes, &[], builder, &mut self.rewriting);
            if self.tree.depth > restructure::DEEPEST {
                self.rebuild(builder);
            }
        }
        self.changes = Changes::default();
        self.mesh.changed.clear();
        let mut stats = UpdateStats {
            edited,
            ..UpdateStats::default()
        };
        if keep_clearance {
            clearance::assess(&mut self.mesh, &self.tree, parallel);
        }
        let mut wanted = self.tree.find_clear(&self.mesh, edited || everything);
        self.tree.refit(&self.mesh, detection, culling, parallel);
        if edited
            && keep_clearance
            && clearance::learn_newborn(&mut self.mesh, &self.tree, parallel)
        {
            wanted = self.tree.find_clear(&self.mesh, true);
            self.tree.refit(&self.mesh, detection, culling, parallel);
        }
        self.tree.judge_fans(&self.mesh, parallel);
        if !self.tree.nodes.is_empty() {
            stats.culled_subtrees = self
                .tree
                .cull(&self.mesh, culling, &mut self.culling, parallel)
                as usize;
            if edited || everything {
                self.tree.remember_costs();
            }
            let choice = match restructuring {
                Restructuring::Selective => Some(Choice::ByCost { steps: 1 }),
                Restructuring::SelectiveOver { steps } => Some(Choice::ByCost { steps }),
                Restructuring::SelectiveByVolume => Some(Choice::ByVolume),
                _ => None,
            };
            if let Some(choice) = choice {
                let chosen = self
                    .tree
                    .choose_rebuilds(choice, builder, self.stats.cost_self);
                if !chosen.is_empty() {
                    stats.rebuilt_subtrees = chosen.len();
                    stats.rebuilt_triangles = chosen
                        .iter()
                        .map(|&n| self.tree.info[n as usize].count as usize)
                        .sum();
                    let none = Changes::default();
                    self.tree
                        .rewrite(&self.mesh, &none, &chosen, builder, &mut self.rewriting);
                    wanted = self.tree.find_clear(&self.mesh, true);
                    self.tree.refit(&self.mesh, detection, culling, parallel);
                    self.tree.judge_fans(&self.mesh, parallel);
                    stats.culled_subtrees =
                        self.tree
                            .cull(&self.mesh, culling, &mut self.culling, parallel)
                            as usize;
                    self.tree.remember_costs();
                }
            }
            stats.cost_inter = f64::from(self.tree.info[0].cost_inter);
            stats.cost_self = f64::from(self.tree.info[0].cost_self);
            stats.nodes = self.tree.nodes.len();
            stats.depth = self.tree.depth;
        }
        stats.clear_bodies = self.tree.clear.len();
        self.tree.list_uncertain(&self.mesh);
        clearance::learn(&mut self.mesh, &self.tree, &wanted, parallel);
        self.stats = stats;
        stats
    }

    /// Every pair of triangles that intersect at the end of the step, by global id,
    /// smaller first, sorted. Neighbours are reported when they share more than the
    /// mesh says (the rule is stated at [`fracas_geometry::primitives::tri_tri`]).
    pub fn intersections(&self, scratch: &mut Scratch, out: &mut Vec<[u32; 2]>) -> QueryStats {
        out.clear();
        let Scratch {
            walk,
            pairs,
            parallel,
            ..
        } = scratch;
        let touching = (&self.tree, Touching);
        let (used, stats) = run_tasks(touching, walk, pairs, *parallel, |task, buffer| {
            let TaskBuffer { out, stack, stats } = buffer;
            let mut test = discrete::DiscreteTest {
                mesh: &self.mesh,
                out,
                judged: task.0 != UNCERTAIN,
            };
            self.tree.walk(Touching, task, stack, &mut test, stats);
        });
        for buffer in &mut pairs[..used] {
            out.append(&mut buffer.out);
        }
        out.sort_unstable();
        stats
    }

    /// Every vertex-face and edge-edge contact over the step, with its first time of
    /// impact, sorted by ids. Features that share a vertex are left out.
    pub fn contacts(&self, scratch: &mut Scratch, out: &mut Contacts) -> QueryStats {
        out.clear();
        let Settings {
            non_penetration_filter: filter,
            exact,
            ..
        } = self.settings;
        let Scratch {
            walk,
            contacts,
            parallel,
            ..
        } = scratch;
        let touching = (&self.tree, Touching);
        let (used, stats) = run_tasks(touching, walk, contacts, *parallel, |task, buffer| {
            let TaskBuffer { out, stack, stats } = buffer;
            let mut test = continuous::ContinuousTest {
                mesh: &self.mesh,
                out,
                filter,
                exact,
                judged: task.0 != UNCERTAIN,
            };
            self.tree.walk(Touching, task, stack, &mut test, stats);
        });
        for buffer in &mut contacts[..used] {
            out.vertex_face.append(&mut buffer.out.vertex_face);
            out.edge_edge.append(&mut buffer.out.edge_edge);
        }
        out.sort();
        stats
    }

    /// Checks every invariant that the queries rely on. For tests and bug reports.
    ///
    /// # Errors
    /// Says what is wrong first.
    pub fn validate(&self) -> Result<(), String> {
        if !self.changes.is_empty() {
            return Err("edits are pending: call update".into());
        }
        self.mesh.validate()?;
        self.tree.validate(&self.mesh)
    }

    /// What the last update did.
    #[must_use]
    pub fn stats(&self) -> UpdateStats {
        self.stats
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Changes the culling mode; holds from the next update on.
    pub fn set_culling(&mut self, culling: Culling) {
        self.settings.culling = culling;
    }

    /// Bytes that one node takes, cones, costs and flags included.
    #[must_use]
    pub fn bytes_per_node() -> usize {
        tree::NODE_BYTES
    }

    /// The bodies that exist, in the order of their ids.
    pub fn bodies(&self) -> impl Iterator<Item = BodyId> + '_ {
        let all = self.mesh.bodies.iter().enumerate();
        all.filter_map(|(i, b)| b.as_ref().map(|_| BodyId(i as u32)))
    }

    /// Triangles in all bodies.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        self.mesh.live_triangles
    }

    /// Global ids of a body's vertices, in the order of its positions.
    ///
    /// # Errors
    /// When there is no such body.
    pub fn vertices(&self, body: BodyId) -> Result<&[u32], EditError> {
        self.mesh.body(body).map(|b| &b.vertices[..])
    }

    /// Global ids of a body's triangles, in its order.
    ///
    /// # Errors
    /// When there is no such body.
    pub fn triangles(&self, body: BodyId) -> Result<&[u32], EditError> {
        self.mesh.body(body).map(|b| &b.triangles[..])
    }

    /// The body of a triangle and the triangle's index in it.
    #[must_use]
    pub fn triangle(&self, id: u32) -> Option<(BodyId, u32)> {
        let body = *self.mesh.triangle_body.get(id as usize)?;
        (body != NONE).then(|| (BodyId(body), self.mesh.triangle_local[id as usize]))
    }

    /// Global ids of a triangle's corners.
    #[must_use]
    pub fn corners(&self, triangle: u32) -> Option<[u32; 3]> {
        let corners = *self.mesh.corners.get(triangle as usize)?;
        (corners[0] != NONE).then_some(corners)
    }

    /// The body of a vertex and the vertex's index in it.
    #[must_use]
    pub fn vertex(&self, id: u32) -> Option<(BodyId, u32)> {
        let body = *self.mesh.vertex_body.get(id as usize)?;
        (body != NONE).then(|| (BodyId(body), self.mesh.vertex_local[id as usize]))
    }

    /// Where a vertex is at the start and at the end of the step.
    #[must_use]
    pub fn position(&self, vertex: u32) -> Option<[DVec3; 2]> {
        self.vertex(vertex)?;
        Some(self.mesh.positions[vertex as usize])
    }

    /// The ends of an edge, by global id, smaller first. Edges of a body that is
    /// added to an empty scene are numbered by their larger, then smaller vertex.
    #[must_use]
    pub fn edge(&self, id: u32) -> Option<[u32; 2]> {
        let owner = *self.mesh.edge_owner.get(id as usize)?;
        (owner != NONE).then(|| self.mesh.edges[id as usize])
    }

    /// Builds the whole tree anew.
    fn rebuild(&mut self, builder: Builder) {
        self.tree
            .build_all(&self.mesh, builder, &mut self.rewriting);
    }

    fn drop_place(&mut self, triangle: u32) {
        if let Some(place) = self.tree.place.get_mut(triangle as usize)
            && *place != NONE
        {
            self.changes.dead.push(*place);
            *place = NONE;
        }
    }

    /// A body that is gone needs no place of its own.
    fn forget(&mut self, body: BodyId) {
        self.changes.bodies.retain(|&(b, _)| b != body.0);
    }
}
