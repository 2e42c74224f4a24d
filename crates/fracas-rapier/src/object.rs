//! A breakable object as its fragments' shapes share it.
//!
//! An engine's shapes are immutable and shared; an object changes when it breaks.
//! So all shapes of one object hold it behind a lock: contact queries read it, and a
//! fracture, between two steps, writes it. A fracture rewrites only what belongs to
//! the fragment that breaks, so the shapes of the others stay right.

use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use fracas_core::{FragmentField, Fragments};

/// Cuts and distances of one object. Until it breaks it shares them with its blueprint.
#[derive(Debug)]
pub struct ObjectState {
    pub(crate) fragments: Arc<Fragments>,
    pub(crate) field: Arc<FragmentField>,
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

/// A handle on an object: clones name the same one.
#[derive(Clone, Debug)]
pub struct SharedObject(Arc<RwLock<ObjectState>>);

impl SharedObject {
    pub(crate) fn new(fragments: Arc<Fragments>, field: Arc<FragmentField>) -> Self {
        Self(Arc::new(RwLock::new(ObjectState { fragments, field })))
    }

    /// Reads the object. Held only while a query runs.
    ///
    /// # Panics
    /// When a thread has panicked while it broke the object.
    pub fn read(&self) -> RwLockReadGuard<'_, ObjectState> {
        self.0
            .read()
            .expect("no thread panics while it breaks an object")
    }

    /// Between two steps only: the engine must not be asking.
    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, ObjectState> {
        self.0
            .write()
            .expect("no thread panics while it breaks an object")
    }

    /// A number that names the object for as long as it lives.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).cast::<()>() as usize
    }

    /// Whether both name the same object.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
