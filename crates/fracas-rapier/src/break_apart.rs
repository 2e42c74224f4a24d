//! A fragment becomes several: cut, weigh, update the field, divide the tree.

use std::sync::Arc;

use fracas_core::sphere_tree::SplitMethod;
use fracas_core::{Fracture, FractureError, FragmentMass, Fragments, SphereTree, Split};

use crate::late_tree::LateTrees;
use crate::object::{ObjectState, SharedObject};
use crate::parallel::both;
use crate::shape::{FragmentShape, Tree};
use crate::trace;

/// When the sphere trees of new fragments are made, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trees {
    /// With the break.
    AtOnce(SplitMethod),
    /// When somebody asks for one; the same bits.
    WhenAsked(SplitMethod),
}

/// What a fragment has broken into.
pub struct Broken {
    /// The shapes of the new fragments, in order.
    pub shapes: Vec<FragmentShape>,
    /// How long it took.
    pub times: BreakTimes,
    /// Trees that are still to be made.
    #[cfg_attr(not(feature = "world"), expect(dead_code))]
    pub(crate) late: Option<Arc<LateTrees>>,
}

/// How long the stages of a break took, in seconds. With threads, masses, field and
/// tree are made at once: the sum is then more than what has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BreakTimes {
    /// Cutting tetrahedra and labelling nodes.
    pub cut: f64,
    /// Mass, centre, inertia and box of every fragment.
    pub masses: f64,
    /// Updating the distance field: crack polygons, nodal distances, cells, face masks.
    pub field: f64,
    /// Splitting the sphere tree.
    pub tree: f64,
}

impl BreakTimes {
    /// Cutting and weighing.
    #[must_use]
    pub fn cut_and_masses(&self) -> f64 {
        self.cut + self.masses
    }

    /// Making the collision structures: field and tree.
    #[must_use]
    pub fn update(&self) -> f64 {
        self.field + self.tree
    }

    /// Stage by stage the shorter of two times.
    #[must_use]
    pub fn min(&self, other: &Self) -> Self {
        Self {
            cut: self.cut.min(other.cut),
            masses: self.masses.min(other.masses),
            field: self.field.min(other.field),
            tree: self.tree.min(other.tree),
        }
    }
}

/// What work gives and how long it took, in the clock's seconds.
fn timed<R>(clock: &dyn Fn() -> f64, work: impl FnOnce() -> R) -> (R, f64) {
    let start = clock();
    let result = work();
    (result, clock() - start)
}

impl SharedObject {
    /// Breaks one fragment and makes the shapes of what it broke into. Between two
    /// steps only: the engine must not be asking.
    ///
    /// # Errors
    /// See [`FractureError`]; nothing has changed then.
    ///
    /// # Panics
    /// As [`SharedObject::read`].
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn break_apart(
        &self,
        shape: &FragmentShape,
        fracture: &Fracture,
        trees: Trees,
        clock: &(dyn Fn() -> f64 + Sync),
    ) -> Result<Broken, FractureError> {
        let mut guard = self.write();
        let ObjectState { fragments, field } = &mut *guard;
        let start = clock();
        let split = {
            let parent = u64::from(fracture.fragment.0);
            let _span = trace::span("cut", || [("fragment", parent), ("", 0)]);
            Arc::make_mut(fragments).apply(fracture)?
        };
        let cut = clock();
        let fragments = &*fragments;
        let ((masses, weighing), ((), measuring), ((trees, late), splitting)) = {
            let split = &split;
            let named = || [("fragment", u64::from(split.parent.0)), ("", 0)];
            let weigh = || {
                let _span = trace::span("masses", named);
                timed(clock, || FragmentMass::of_split(fragments, split))
            };
            let measure = || {
                let _span = trace::span("field", named);
                timed(clock, || Arc::make_mut(field).apply(fragments, split))
            };
            let divide = || timed(clock, || divide(shape.tree(), fragments, split, trees));
            let (measured, (weighed, divided)) = both(measure, || both(weigh, divide));
            (weighed, measured, divided)
        };
        drop(guard);
        let children = split.children.iter().zip(trees).zip(&masses);
        let shapes = children
            .map(|((&id, tree), mass)| {
                FragmentShape::new(self, id, tree, mass, None).with_margin(shape.margin())
            })
            .collect();
        let times = BreakTimes {
            cut: cut - start,
            masses: weighing,
            field: measuring,
            tree: splitting,
        };
        Ok(Broken {
            shapes,
            times,
            late,
        })
    }
}

/// The trees of the fragments of a fracture, with their radii: made now, or to be made.
fn divide(
    parent: &Arc<SphereTree>,
    fragments: &Arc<Fragments>,
    split: &Split,
    trees: Trees,
) -> (Vec<(Tree, f32)>, Option<Arc<LateTrees>>) {
    let (Trees::AtOnce(restructuring) | Trees::WhenAsked(restructuring)) = trees;
    let late = LateTrees::new(
        parent.clone(),
        fragments.clone(),
        split.clone(),
        restructuring,
    );
    let late = Arc::new(late);
    // The naive way, for comparisons, has other roots.
    let is_late = matches!(trees, Trees::WhenAsked(SplitMethod::MaximumDistance));
    if is_late {
        let radii = parent.radii_after(fragments, split).into_iter().enumerate();
        let trees = radii.map(|(child, reach)| (Tree::Late(late.clone(), child), reach));
        return (trees.collect(), Some(late));
    }
    let made = (0..split.children.len()).map(|child| {
        let tree = late.get(child).clone();
        let reach = tree.bounding_sphere().1;
        (Tree::Made(tree), reach)
    });
    (made.collect(), None)
}
