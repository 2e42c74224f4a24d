//! A breakable object as its fragments' shapes share it.
//!
//! An engine's shapes are immutable and shared; an object changes when it breaks.
//! So all shapes of one object hold it behind a lock: contact queries read it, and a
//! fracture, between two steps, writes it. A fracture rewrites only what belongs to
//! the fragment that breaks, so the shapes of the others stay right.

use std::sync::{Arc, RwLock, RwLockReadGuard};

use fracas_core::sphere_tree::{BuildOptions, SplitMethod};
use fracas_core::{
    Digest, FieldOptions, Fracture, FractureError, FragmentField, FragmentId, FragmentMass,
    FragmentSurface, Fragments, MassScratch, SphereTree, Split, SurfaceScratch, TetMesh,
};
use parry3d::shape::SharedShape;
use thiserror::Error;

use crate::convex;
use crate::late_tree::LateTrees;
use crate::parallel::both;
use crate::parry_shape::{ParryShape, WholeShapes};
use crate::shape::{FragmentShape, Tree};
use crate::trace;

/// Cuts and distances of one object. Until it breaks it shares them with its blueprint.
#[derive(Debug)]
pub struct ObjectState {
    fragments: Arc<Fragments>,
    field: Arc<FragmentField>,
}

impl ObjectState {
    /// Which node belongs to whom.
    #[must_use]
    pub fn fragments(&self) -> &Fragments {
        &self.fragments
    }

    /// The distance field.
    #[must_use]
    pub fn field(&self) -> &FragmentField {
        &self.field
    }
}

/// Why tetrahedra do not make a breakable object.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// No distance field could be made.
    #[error("no distance field: {0}")]
    Field(#[from] fracas_core::fragment_field::BuildError),
    /// No sphere tree could be made.
    #[error("no sphere tree: {0}")]
    Tree(#[from] fracas_core::sphere_tree::BuildError),
    /// What was baked of it is damaged.
    #[cfg(feature = "assets")]
    #[error(transparent)]
    Baked(#[from] fracas_bake::asset::ObjectError),
}

/// Everything computed ahead for objects of one kind; cheap to make many bodies of.
#[derive(Clone, Debug)]
pub struct Blueprint {
    fragments: Arc<Fragments>,
    field: Arc<FragmentField>,
    tree: Arc<SphereTree>,
    surface: Arc<FragmentSurface>,
    mass: FragmentMass,
    parry: WholeShapes,
    /// Where the unbroken object is convex.
    convex: Option<SharedShape>,
    key: u64,
}

impl Blueprint {
    /// Computes field, tree and surface of an object made of tetrahedra.
    ///
    /// # Errors
    /// See [`ObjectError`].
    pub fn build(
        mesh: Arc<TetMesh>,
        field: &FieldOptions,
        tree: &BuildOptions,
    ) -> Result<Self, ObjectError> {
        let tree = SphereTree::build(&mesh, tree)?;
        let fragments = Fragments::new(mesh);
        let field = FragmentField::build(&fragments, field)?;
        Ok(Self::of_parts(fragments, field, tree))
    }

    /// Of an asset: field and tree are read from it. Where it was baked without them,
    /// they are built.
    ///
    /// # Errors
    /// See [`ObjectError`].
    #[cfg(feature = "assets")]
    pub fn of_asset(asset: &fracas_bake::Asset) -> Result<Self, ObjectError> {
        if asset.section(fracas_bake::asset::OBJECT).is_none() {
            let (field, tree) = (FieldOptions::default(), BuildOptions::default());
            return Self::build(asset.shared_mesh().clone(), &field, &tree);
        }
        let object = asset.object()?;
        Ok(Self::of_parts(object.fragments, object.field, object.tree))
    }

    /// Of an unbroken object whose field and tree are there already: read from an asset
    /// (`fracas_bake::Asset::object`), not built.
    #[must_use]
    pub fn of_parts(fragments: Fragments, field: FragmentField, tree: SphereTree) -> Self {
        let surface =
            FragmentSurface::extract(&fragments, FragmentId(0), &mut SurfaceScratch::default());
        let mass = FragmentMass::of(&fragments, FragmentId(0), &mut MassScratch::default());
        let key = key_of(fragments.mesh(), &tree);
        let convex = convex::shape_of(&surface, mass.properties.volume);
        Self {
            convex,
            fragments: Arc::new(fragments),
            field: Arc::new(field),
            tree: Arc::new(tree),
            surface: Arc::new(surface),
            mass,
            parry: WholeShapes::default(),
            key,
        }
    }

    /// A number that names what it was built of: equal for equal tetrahedra and
    /// sample points. Snapshots refer to blueprints by it.
    #[must_use]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The unbroken object as one of parry's shapes, built once.
    #[must_use]
    pub fn parry_shape(&self, kind: ParryShape) -> SharedShape {
        self.parry.get(kind, &self.surface)
    }

    /// The tetrahedra.
    #[must_use]
    pub fn mesh(&self) -> &Arc<TetMesh> {
        self.fragments.mesh()
    }

    /// The outer surface.
    #[must_use]
    pub fn surface(&self) -> &Arc<FragmentSurface> {
        &self.surface
    }

    /// A new, unbroken object with its shape.
    #[must_use]
    pub fn object(&self) -> (SharedObject, FragmentShape) {
        let state = ObjectState {
            fragments: self.fragments.clone(),
            field: self.field.clone(),
        };
        let object = SharedObject(Arc::new(RwLock::new(state)));
        let shape = FragmentShape::new(
            &object,
            FragmentId(0),
            (Tree::Made(self.tree.clone()), self.tree.bounding_sphere().1),
            &self.mass,
            Some(self.surface.clone()),
        );
        let shape = shape.with_convex(self.convex.clone());
        (object, shape)
    }
}

/// Over node positions, tetrahedra and sample points.
fn key_of(mesh: &TetMesh, tree: &SphereTree) -> u64 {
    let mut digest = Digest::default();
    let floats = mesh.positions().iter().chain(tree.positions());
    floats
        .flat_map(|p| p.to_array())
        .for_each(|x| digest.add(x.to_bits()));
    mesh.tets().iter().flatten().for_each(|&n| digest.add(n));
    digest.value()
}

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

/// A handle on an object: clones name the same one.
#[derive(Clone, Debug)]
pub struct SharedObject(Arc<RwLock<ObjectState>>);

impl SharedObject {
    /// Reads the object. Held only while a query runs.
    ///
    /// # Panics
    /// When a thread has panicked while it broke the object.
    pub fn read(&self) -> RwLockReadGuard<'_, ObjectState> {
        self.0
            .read()
            .expect("no thread panics while it breaks an object")
    }

    /// A number that names the object for as long as it lives.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).cast::<()>() as usize
    }

    /// Whether both name the same object.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Breaks one fragment and makes the shapes of what it broke into. Between two
    /// steps only: the engine must not be asking.
    ///
    /// # Errors
    /// See [`FractureError`]; nothing has changed then.
    ///
    /// # Panics
    /// As [`SharedObject::read`].
    pub fn break_apart(
        &self,
        shape: &FragmentShape,
        fracture: &Fracture,
        trees: Trees,
        clock: &(dyn Fn() -> f64 + Sync),
    ) -> Result<Broken, FractureError> {
        let mut guard = self
            .0
            .write()
            .expect("no thread panics while it breaks an object");
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
            .map(|((&id, tree), mass)| FragmentShape::new(self, id, tree, mass, None))
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
