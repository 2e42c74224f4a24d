//! Fragments of one object just after it broke: all cracks in parallel contact, the
//! hardest moment for collision detection [Glondu 2013, sections 7.2 to 7.4].
//!
//! Steps: break a body into cells -> pairs of fragments whose boxes meet -> ask both
//! directions of every pair, with any trees, distances, selection and traversal.

use std::sync::Arc;

use fracas_core::sphere_tree::{
    BuildOptions, KeepPoints, PairState, Partner, Query, QueryScratch, QueryStats, Question,
    Selection, SplitMethod, Traversal,
};
use fracas_core::{Contact, FieldOptions, FragmentId, Pose, SphereTree, StaticMesh, TetMesh};
use fracas_fracture::patterns::{VoronoiOptions, voronoi};
use fracas_rapier::{Blueprint, ContactMode, FragmentShape, ObjectError};
use fracas_rapier::{BreakTimes, Trees as MadeWhen};

/// Contacts nearer than this share of the object's radius are wanted: the small
/// positive tolerance that fresh fragments need (section 5.2).
pub const TOLERANCE: f32 = 0.001;

/// An object ready to be broken many times.
#[derive(Clone, Debug)]
pub struct Whole(Blueprint);

/// A freshly broken object.
#[derive(Clone)]
pub struct Fresh {
    /// The fragments.
    pub shapes: Vec<FragmentShape>,
    /// What cutting and updating took, in the clock's unit.
    pub times: BreakTimes,
}

/// Which trees are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trees {
    /// Those that the break updated.
    Updated,
    /// Built anew of each fragment's surface points.
    Rebuilt,
}

/// Which distances are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distances {
    /// The field that the break updated.
    Updated,
    /// Exact ones: the closest triangle of the fragment's surface.
    Exact,
}

/// How pairs are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Asking {
    /// Which points are reported.
    pub mode: ContactMode,
    /// In which order they are visited.
    pub traversal: Traversal,
    /// Queries of the same pair before the one that counts: a pair adapts.
    pub before: u32,
}

impl Whole {
    /// Of tetrahedra.
    ///
    /// # Errors
    /// See [`ObjectError`].
    pub fn new(mesh: TetMesh) -> Result<Self, ObjectError> {
        let (field, tree) = (FieldOptions::default(), BuildOptions::default());
        Blueprint::build(Arc::new(mesh), &field, &tree).map(Self)
    }

    /// What it is made of.
    #[must_use]
    pub fn mesh(&self) -> &TetMesh {
        self.0.mesh()
    }

    /// Breaks it into about so many Voronoi cells. `None`: it does not break.
    #[must_use]
    pub fn shatter(
        &self,
        pieces: u32,
        seed: u64,
        restructuring: SplitMethod,
        clock: &(dyn Fn() -> f64 + Sync),
    ) -> Option<Fresh> {
        let options = VoronoiOptions {
            pieces,
            seed,
            ..VoronoiOptions::default()
        };
        let (object, shape) = self.0.object();
        let fracture = voronoi(object.read().fragments(), FragmentId(0), &options)?;
        let trees = MadeWhen::AtOnce(restructuring);
        let broken = object.break_apart(&shape, &fracture, trees, clock).ok()?;
        Some(Fresh {
            shapes: broken.shapes,
            times: broken.times,
        })
    }
}

/// Everything that one way of asking needs, built before it is timed.
pub struct Setup {
    trees: Vec<Arc<SphereTree>>,
    exact: Option<Vec<StaticMesh>>,
    poses: Vec<Pose>,
    pairs: Vec<(usize, usize)>,
    states: Vec<[PairState; 2]>,
    scratch: QueryScratch,
    found: Vec<Contact>,
}

impl Fresh {
    /// Prepares queries between all fragments, each moved outwards by `outward` times
    /// the place of its centre.
    ///
    /// # Panics
    /// When a fragment has no surface.
    #[must_use]
    pub fn setup(&self, trees: Trees, distances: Distances, outward: f32) -> Setup {
        let trees = self
            .shapes
            .iter()
            .map(|s| match trees {
                Trees::Updated => s.tree().clone(),
                Trees::Rebuilt => Arc::new(s.tree().rebuilt(KeepPoints::Surface)),
            })
            .collect();
        let exact = (distances == Distances::Exact).then(|| {
            let mesh = |s: &FragmentShape| {
                StaticMesh::build(s.surface().positions(), s.surface().triangles())
                    .expect("a fragment has a surface")
            };
            self.shapes.iter().map(mesh).collect()
        });
        let boxes: Vec<_> = self.shapes.iter().map(|s| s.surface().bounds()).collect();
        let (mut low, mut high) = boxes[0];
        for (l, h) in &boxes {
            (low, high) = (low.min(*l), high.max(*h));
        }
        let middle = 0.5 * (low + high);
        let poses: Vec<Pose> = boxes
            .iter()
            .map(|(l, h)| Pose::translation((0.5 * (*l + *h) - middle) * outward))
            .collect();
        let mut pairs = Vec::new();
        for i in 0..boxes.len() {
            for j in i + 1..boxes.len() {
                let (ti, tj) = (poses[i].translation, poses[j].translation);
                let gap = (boxes[i].0 + ti - boxes[j].1 - tj)
                    .max(boxes[j].0 + tj - boxes[i].1 - ti)
                    .max_element();
                if gap <= 0.0 {
                    pairs.push((i, j));
                }
            }
        }
        Setup {
            trees,
            exact,
            poses,
            states: vec![Default::default(); pairs.len()],
            pairs,
            scratch: QueryScratch::default(),
            found: Vec::new(),
        }
    }

    /// Asks both directions of every pair.
    pub fn ask(&self, setup: &mut Setup, asking: &Asking) -> QueryStats {
        setup.states.fill(Default::default());
        for _ in 0..asking.before {
            self.ask_once(setup, asking);
        }
        self.ask_once(setup, asking)
    }

    /// As [`Fresh::ask`], the pairs going on from where they are.
    pub fn ask_once(&self, setup: &mut Setup, asking: &Asking) -> QueryStats {
        let mut sum = QueryStats::default();
        self.ask_each(setup, asking, |_, stats| sum.add(stats));
        sum
    }

    /// As [`Fresh::ask_once`]; `each` is told the number of the pair and the work of
    /// each of its two directions.
    pub fn ask_each(
        &self,
        setup: &mut Setup,
        asking: &Asking,
        mut each: impl FnMut(usize, &QueryStats),
    ) {
        let Some(first) = self.shapes.first() else {
            return;
        };
        let object = first.object().read();
        let Setup {
            trees,
            exact,
            poses,
            pairs,
            states,
            scratch,
            found,
        } = setup;
        for (number, (&(a, b), states)) in pairs.iter().zip(states).enumerate() {
            for ((from, to), state) in [(a, b), (b, a)].into_iter().zip(states) {
                let pose = poses[from].relative_to(&poses[to]);
                found.clear();
                let done = match exact {
                    Some(meshes) => ask_tree(
                        &trees[from],
                        &pose,
                        &meshes[to],
                        asking,
                        state,
                        scratch,
                        found,
                    ),
                    None => {
                        let id = self.shapes[to].id();
                        let field = object.field().of(object.fragments(), id);
                        ask_tree(&trees[from], &pose, &field, asking, state, scratch, found)
                    }
                };
                each(number, &done);
            }
        }
    }
}

impl Setup {
    /// How many pairs are asked.
    #[must_use]
    pub fn pairs(&self) -> &[(usize, usize)] {
        &self.pairs
    }
}

pub(super) fn ask_tree<P: Partner>(
    tree: &SphereTree,
    pose: &Pose,
    partner: &P,
    asking: &Asking,
    state: &mut PairState,
    scratch: &mut QueryScratch,
    found: &mut Vec<Contact>,
) -> QueryStats {
    let radius = tree.object_radius();
    let query = Query {
        traversal: asking.traversal,
        ..Query::new(TOLERANCE * radius, radius)
    };
    match asking.mode {
        ContactMode::Adaptive(settings) => tree.contacts_adaptive(
            &Question::new(pose, partner, &query),
            &settings,
            state,
            scratch,
            found,
        ),
        ContactMode::Fixed(most) => {
            let query = query.select(Selection::First(most));
            tree.contacts(pose, partner, &query, scratch, found)
        }
        _ => tree.contacts(pose, partner, &query, scratch, found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_bake::shapes::by_name;

    #[test]
    fn adapting_asks_less_than_everything_and_exact_distances_agree() {
        let whole = Whole::new(by_name("brick").unwrap().build()).unwrap();
        let fresh = whole
            .shatter(6, 3, SplitMethod::default(), &|| 0.0)
            .unwrap();
        let mut setup = fresh.setup(Trees::Updated, Distances::Updated, 0.0);
        let adaptive = fresh.ask(&mut setup, &Asking::default());
        let all = Asking {
            mode: ContactMode::Full,
            ..Asking::default()
        };
        let full = fresh.ask(&mut setup, &all);
        assert!(!setup.pairs().is_empty());
        assert!(full.contacts >= adaptive.contacts && adaptive.contacts > 0);
        let mut exact = fresh.setup(Trees::Updated, Distances::Exact, 0.0);
        let truth = fresh.ask(&mut exact, &all);
        // Points on cracks lie on both surfaces: rounding decides few of them.
        let (a, b) = (f64::from(full.contacts), f64::from(truth.contacts));
        assert!((a - b).abs() < 0.25 * b, "{full:?} {truth:?}");
    }
}
