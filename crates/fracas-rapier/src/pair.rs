//! Contacts of one pair of shapes, at least one of them a fragment.
//!
//! Both directions are asked [Glondu 2013, section 3]: the points of one against the
//! surface of the other, and the other way round. A plain shape's own points are its
//! corners (a ball's is its centre, exactly); a mesh's are its vertices near the
//! fragment.

#[cfg(feature = "research")]
use fracas_core::sphere_tree::Traversal;
use fracas_core::sphere_tree::{
    AdaptiveSettings, NormalRule, PairState, Partner, Query, QueryScratch, QueryStats, Question,
    Selection,
};
use fracas_core::{Contact, FragmentDistance};
use parry3d::bounding_volume::BoundingVolume;
use parry3d::math::Pose;
use parry3d::query::{ContactManifold, Unsupported};
use parry3d::shape::Shape;

use crate::deep_normals::align_deep_normals;
use crate::manifold::{PairContact, PointId};
use crate::pair_memory::PairMemory;
use crate::parry_shape::ParryShape;
use crate::partner::{OwnPoint, parts};
use crate::pose::to_pose;
use crate::shape::FragmentShape;
use crate::voxel::VoxelSettings;

/// How contacts of fragments are found: which of the points in contact are reported,
/// or by which shape of parry's the fragments are replaced.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContactMode {
    /// Few, and more only while the pair stays deep (section 5.2).
    Adaptive(AdaptiveSettings),
    /// At most so many in each direction.
    Fixed(u32),
    /// All.
    Full,
    /// Not by us: every fragment gets one of parry's own shapes, built anew at each
    /// fracture, and the engine's own contacts. For comparison.
    #[cfg(feature = "research")]
    Parry(ParryShape),
    /// None: contacts of voxel trees, within a budget [Dingliana 2004]; see
    /// [`VoxelSettings`]. Bodies are not caught within a step then.
    VoxelTree(VoxelSettings),
    /// As `Adaptive` while it fits the budget, voxel contacts for the pairs beyond.
    Budgeted(VoxelSettings),
}

impl ContactMode {
    /// How the sphere-tree method adapts, where it does.
    pub(crate) fn adaptive(&self) -> Option<AdaptiveSettings> {
        match self {
            Self::Adaptive(settings) => Some(*settings),
            // What the voxels leave to the sphere-tree method.
            Self::VoxelTree(_) | Self::Budgeted(_) => Some(AdaptiveSettings::default()),
            _ => None,
        }
    }

    /// Whether all pairs of fragments are asked by their sample points.
    #[cfg(feature = "world")]
    pub(crate) fn is_by_points(&self) -> bool {
        matches!(self, Self::Adaptive(_) | Self::Fixed(_) | Self::Full)
    }

    /// The shape of parry's that stands for fragments, where one does.
    pub(crate) fn parry_shape(&self) -> Option<ParryShape> {
        match self {
            #[cfg(feature = "research")]
            Self::Parry(shape) => Some(*shape),
            _ => None,
        }
    }
}

impl Default for ContactMode {
    fn default() -> Self {
        Self::Adaptive(AdaptiveSettings::default())
    }
}

/// Where the normals of contacts between fragments come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normals {
    /// From the faces that the point can touch: pieces that fit each other neither
    /// stick nor burst (see [`fracas_core::sphere_tree::normal_choice`]).
    #[default]
    Chosen,
    /// The gradient of the distance, every point reported with its true distance:
    /// for measuring overlap.
    Gradient,
}

/// How contacts are found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactSettings {
    /// Which points are reported.
    pub mode: ContactMode,
    /// In which order points are visited.
    #[cfg(feature = "research")]
    pub traversal: Traversal,
    /// Which of them reach the solver.
    pub solver_points: crate::manifold::SolverPoints,
    /// Where normals come from.
    pub normals: Normals,
}

impl ContactSettings {
    /// Every point with its true distance: to measure overlap with.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn measuring() -> Self {
        Self {
            mode: ContactMode::Full,
            normals: Normals::Gradient,
            ..Self::default()
        }
    }
}

/// Memory of a thread, used again for every pair.
#[derive(Debug, Default)]
pub(crate) struct PairScratch {
    query: QueryScratch,
    found: Vec<Contact>,
    /// Of a plain shape.
    points: Vec<OwnPoint>,
    pub(crate) contacts: Vec<PairContact>,
    /// What is near, while a pair is asked about what is farther.
    pub(crate) near: Vec<PairContact>,
    pub(crate) groups: crate::manifold::Groups,
    /// Of two convex shapes.
    pub(crate) convex: ContactManifold<(), ()>,
}

/// One look at a pair: what becomes tolerance and limit of its queries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    /// How far.
    pub reach: f32,
    /// Nodes and points that a query may visit.
    pub visits: u32,
    /// The same of all its queries together, where a clock watches.
    pub total: u32,
}

impl Look {
    /// At as much as there is.
    pub(crate) fn within(reach: f32) -> Self {
        Self {
            reach,
            visits: u32::MAX,
            total: u32::MAX,
        }
    }
}

/// Nodes and points that queries have visited.
pub(crate) fn visits(stats: &QueryStats) -> u32 {
    stats.nodes_visited + stats.distance_queries
}

/// A pair with a fragment, in the order it was given.
pub(crate) enum Pair<'a> {
    Fragments(&'a FragmentShape, &'a FragmentShape),
    First(&'a FragmentShape, &'a dyn Shape),
    Second(&'a dyn Shape, &'a FragmentShape),
}

impl<'a> Pair<'a> {
    pub(crate) fn of(g1: &'a dyn Shape, g2: &'a dyn Shape) -> Option<Self> {
        let [f1, f2] = [g1, g2].map(|g| g.as_shape::<FragmentShape>());
        match (f1, f2) {
            (Some(f1), Some(f2)) => Some(Self::Fragments(f1, f2)),
            (Some(f1), None) => Some(Self::First(f1, g2)),
            (None, Some(f2)) => Some(Self::Second(g1, f2)),
            (None, None) => None,
        }
    }

    /// The radius of the smaller object that a fragment of the pair comes from.
    pub(crate) fn smaller_radius(&self) -> f32 {
        match self {
            Self::Fragments(a, b) => a.tree().object_radius().min(b.tree().object_radius()),
            Self::First(f, _) | Self::Second(_, f) => f.tree().object_radius(),
        }
    }

    /// Fills `scratch.contacts`, told as shapes 1 and 2 were given, all within one look.
    pub(crate) fn ask(
        &self,
        pos12: &Pose,
        look: Look,
        settings: &ContactSettings,
        memory: &mut PairMemory,
        scratch: &mut PairScratch,
    ) -> Result<QueryStats, Unsupported> {
        match *self {
            Self::Fragments(f1, f2) => Ok(ask_fragments(
                pos12, f1, f2, look, settings, memory, scratch,
            )),
            Self::First(f, g) => {
                ask_fragment_and_shape(pos12, f, g, look, settings, memory, scratch)
                    .ok_or(Unsupported)
            }
            Self::Second(g, f) => {
                let pos21 = pos12.inverse();
                let stats = ask_fragment_and_shape(&pos21, f, g, look, settings, memory, scratch)
                    .ok_or(Unsupported)?;
                for contact in &mut scratch.contacts {
                    contact.swap(pos12);
                }
                Ok(stats)
            }
        }
    }
}

/// One question: how far, how.
struct Ask<'a> {
    settings: &'a ContactSettings,
    look: Look,
    scratch: &'a mut PairScratch,
    stats: QueryStats,
}

/// Fragment 1 against fragment 2.
fn ask_fragments(
    pos12: &Pose,
    shape1: &FragmentShape,
    shape2: &FragmentShape,
    look: Look,
    settings: &ContactSettings,
    memory: &mut PairMemory,
    scratch: &mut PairScratch,
) -> QueryStats {
    scratch.contacts.clear();
    let states = memory.part(0);
    let mut ask = Ask {
        settings,
        look,
        scratch,
        stats: QueryStats::default(),
    };
    let guard1 = shape1.object().read();
    // One lock for two fragments of one object: taking it twice could wait for ever.
    let guard2 = (!shape1.object().is_same(shape2.object())).then(|| shape2.object().read());
    let state2 = guard2.as_deref().unwrap_or(&guard1);
    let field1 = guard1.field().of(guard1.fragments(), shape1.id());
    let field2 = state2.field().of(state2.fragments(), shape2.id());
    let one = Placed {
        pos12,
        first_is_tree: true,
    };
    let same_object = guard2.is_none();
    ask.ask_tree_of_object((shape1, &field2), &one, &mut states[0], same_object, 2);
    let other = Placed {
        pos12,
        first_is_tree: false,
    };
    ask.ask_tree_of_object((shape2, &field1), &other, &mut states[1], same_object, 1);
    if settings.normals == Normals::Chosen {
        align_deep_normals(&mut ask.scratch.contacts, pos12, shape1, shape2);
    }
    ask.stats
}

/// A fragment against anything else, the fragment being first. `None`: not known.
fn ask_fragment_and_shape(
    pos12: &Pose,
    fragment: &FragmentShape,
    shape: &dyn Shape,
    look: Look,
    settings: &ContactSettings,
    memory: &mut PairMemory,
    scratch: &mut PairScratch,
) -> Option<QueryStats> {
    scratch.contacts.clear();
    let mut ask = Ask {
        settings,
        look,
        scratch,
        stats: QueryStats::default(),
    };
    ask.ask_shape(pos12, fragment, shape, memory)?;
    Some(ask.stats)
}

/// Which of the two shapes the points belong to.
struct Placed<'a> {
    pos12: &'a Pose,
    first_is_tree: bool,
}

impl Placed<'_> {
    /// From the frame of the points to the frame of the field.
    fn pose(&self) -> fracas_core::Pose {
        let pose = if self.first_is_tree {
            self.pos12.inverse()
        } else {
            *self.pos12
        };
        to_pose(&pose)
    }

    /// A contact in the field's frame as a contact of the pair.
    fn place(&self, contact: &Contact) -> PairContact {
        let surface = contact.point - contact.normal * contact.distance;
        if self.first_is_tree {
            // The field is shape 2's, and so is the frame.
            PairContact {
                point1: *self.pos12 * contact.point,
                point2: surface,
                normal1: self.pos12.rotation * -contact.normal,
                distance: contact.distance,
                point_id: PointId::of_first(contact.point_id),
            }
        } else {
            PairContact {
                point1: surface,
                point2: self.pos12.inverse_transform_point(contact.point),
                normal1: contact.normal,
                distance: contact.distance,
                point_id: PointId::of_second(contact.point_id),
            }
        }
    }
}

impl Ask<'_> {
    /// The points of a fragment against a partner.
    fn ask_tree<P: Partner + ?Sized>(
        &mut self,
        shape: &FragmentShape,
        partner: &P,
        placed: &Placed<'_>,
        state: &mut PairState,
    ) {
        let query = self.query(shape, 1);
        self.run(shape.tree(), partner, placed, &query, state);
    }

    /// The same against a fragment, perhaps of the same object, from which it has just
    /// parted. `questions`: how many of the look are still to come, this one included.
    fn ask_tree_of_object(
        &mut self,
        (shape, partner): (&FragmentShape, &FragmentDistance<'_>),
        placed: &Placed<'_>,
        state: &mut PairState,
        same_object: bool,
        questions: u32,
    ) {
        let query = self.query(shape, questions);
        if same_object && let Some(adaptive) = self.settings.mode.adaptive() {
            let PairScratch {
                query: scratch,
                found,
                contacts,
                ..
            } = &mut *self.scratch;
            found.clear();
            let (tree, pose) = (shape.tree(), placed.pose());
            let question = Question::new(&pose, partner, &query);
            let newborn = tree.contacts_with_sibling(&question, &adaptive, state, scratch, found);
            if let Some(stats) = newborn {
                self.stats.add(&stats);
                contacts.extend(found.iter().map(|c| placed.place(c)));
                return;
            }
        }
        self.run(shape.tree(), partner, placed, &query, state);
    }

    /// The same with the partner's own normals: smooth shapes have no edges at which
    /// a face must be chosen.
    fn ask_tree_against_smooth<P: Partner + ?Sized>(
        &mut self,
        shape: &FragmentShape,
        partner: &P,
        placed: &Placed<'_>,
        state: &mut PairState,
    ) {
        let mut query = self.query(shape, 1);
        query.normals.rule = NormalRule::Field;
        self.run(shape.tree(), partner, placed, &query, state);
    }

    /// The question that every tree of this pair is asked: what the look may still visit, all
    /// together, is shared by the `questions` to come.
    fn query(&self, shape: &FragmentShape, questions: u32) -> Query {
        let (look, used) = (self.look, visits(&self.stats));
        let mut query = Query {
            #[cfg(feature = "research")]
            traversal: self.settings.traversal,
            visit_limit: look.visits.min(look.total.saturating_sub(used) / questions),
            ..Query::new(self.look.reach, shape.tree().object_radius())
        };
        if self.settings.normals == Normals::Gradient {
            query.normals.rule = NormalRule::Field;
        }
        query
    }

    fn run<P: Partner + ?Sized>(
        &mut self,
        tree: &fracas_core::SphereTree,
        partner: &P,
        placed: &Placed<'_>,
        query: &Query,
        state: &mut PairState,
    ) {
        let pose = placed.pose();
        let PairScratch {
            query: scratch,
            found,
            contacts,
            ..
        } = &mut *self.scratch;
        found.clear();
        let stats = match (self.settings.mode.adaptive(), self.settings.mode) {
            (Some(adaptive), _) => {
                let question = Question::new(&pose, partner, query);
                tree.contacts_adaptive(&question, &adaptive, state, scratch, found)
            }
            (None, ContactMode::Fixed(most)) => tree.contacts(
                &pose,
                partner,
                &query.select(Selection::First(most)),
                scratch,
                found,
            ),
            (None, _) => tree.contacts(&pose, partner, query, scratch, found),
        };
        self.stats.add(&stats);
        contacts.extend(found.iter().map(|c| placed.place(c)));
    }

    fn ask_shape(
        &mut self,
        pos12: &Pose,
        fragment: &FragmentShape,
        shape: &dyn Shape,
        memory: &mut PairMemory,
    ) -> Option<()> {
        // Meshes have no inside: so far behind a triangle counts as one.
        let thickness = fragment.inner_radius().max(self.look.reach);
        let near = fragment
            .bounds()
            .transform_by(&pos12.inverse())
            .loosened(self.look.reach);
        let found = parts(
            shape,
            &Pose::identity(),
            thickness,
            &near,
            &mut |at, _, part| {
                let placed_at = *pos12 * *at;
                let placed = Placed {
                    pos12: &placed_at,
                    first_is_tree: true,
                };
                // Which voxels are near changes: nothing is cached for each.
                let mut fresh = PairState::default();
                let state = match part.voxel {
                    None => &mut memory.part(part.index as usize)[0],
                    Some(_) => &mut fresh,
                };
                let before = self.scratch.contacts.len();
                if part.smooth {
                    self.ask_tree_against_smooth(fragment, part, &placed, state);
                } else {
                    self.ask_tree(fragment, part, &placed, state);
                }
                let mut points = std::mem::take(&mut self.scratch.points);
                part.own_points(&near.transform_by(&at.inverse()), &mut points);
                self.ask_points(&placed_at, fragment, &points);
                self.scratch.points = points;
                // Points of a part are told in the frame of the whole.
                for contact in &mut self.scratch.contacts[before..] {
                    contact.point2 = *at * contact.point2;
                    contact.point_id.part = part.number();
                }
            },
        );
        found.ok()
    }

    /// Points of shape 2, each with a radius, against the fragment's field.
    fn ask_points(&mut self, pos12: &Pose, fragment: &FragmentShape, points: &[OwnPoint]) {
        let state = fragment.object().read();
        let field = state.field().of(state.fragments(), fragment.id());
        for &OwnPoint { id, center, radius } in points {
            let p = *pos12 * center;
            let reach = radius + self.look.reach;
            if !field.sphere_may_touch(p, reach) {
                continue;
            }
            self.stats.distance_queries += 1;
            let Some(found) = field.signed_distance(p, reach) else {
                continue;
            };
            self.scratch.contacts.push(PairContact {
                point1: p - found.normal * found.distance,
                point2: center - pos12.rotation.inverse() * (found.normal * radius),
                normal1: found.normal,
                distance: found.distance - radius,
                point_id: PointId::of_second(id),
            });
            self.stats.contacts += 1;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
