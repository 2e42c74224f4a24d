//! Two whole bodies asked for contacts, as the peers are asked with the same meshes.

use std::sync::Arc;

use fracas_core::sphere_tree::{BuildOptions, PairState, QueryScratch, QueryStats};
use fracas_core::{Contact, FieldOptions, FragmentSurface, Pose, TetMesh};
use fracas_rapier::{Blueprint, FragmentShape, ObjectError};

use super::fresh::{Asking, ask_tree};

/// Two bodies with field and tree.
pub struct Pair {
    shapes: [FragmentShape; 2],
    states: [PairState; 2],
    scratch: QueryScratch,
    found: Vec<Contact>,
}

/// What was found.
#[derive(Clone, Copy, Debug, Default)]
pub struct PairFound {
    /// Work of both directions.
    pub stats: QueryStats,
    /// The deepest contact; zero without any inside.
    pub deepest: f32,
}

impl Pair {
    /// Of two tet meshes.
    ///
    /// # Errors
    /// See [`ObjectError`].
    pub fn new(a: TetMesh, b: TetMesh) -> Result<Self, ObjectError> {
        let shape = |mesh| {
            let (field, tree) = (FieldOptions::default(), BuildOptions::default());
            Ok::<_, ObjectError>(Blueprint::build(Arc::new(mesh), &field, &tree)?.object().1)
        };
        Ok(Self {
            shapes: [shape(a)?, shape(b)?],
            states: Default::default(),
            scratch: QueryScratch::default(),
            found: Vec::new(),
        })
    }

    /// The surfaces, for the peers.
    #[must_use]
    pub fn surfaces(&self) -> [&FragmentSurface; 2] {
        [self.shapes[0].surface(), self.shapes[1].surface()]
    }

    /// Both directions, the second body placed in the frame of the first.
    pub fn ask(&mut self, second_in_first: &Pose, asking: &Asking) -> PairFound {
        let Self {
            shapes,
            states,
            scratch,
            found,
        } = self;
        let mut all = PairFound::default();
        let poses = [second_in_first.inverse(), *second_in_first];
        for (from, state) in states.iter_mut().enumerate() {
            let partner = &shapes[1 - from];
            let object = partner.object().read();
            let field = object.field().of(object.fragments(), partner.id());
            found.clear();
            let tree = shapes[from].tree();
            let stats = ask_tree(tree, &poses[from], &field, asking, state, scratch, found);
            all.stats.add(&stats);
            let depths = found.iter().map(|c| -c.distance);
            all.deepest = depths.fold(all.deepest, f32::max);
        }
        all
    }

    /// Forgets what the pair has adapted to.
    pub fn forget(&mut self) {
        self.states = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_core::testing::box_grid;
    use fracas_rapier::ContactMode;
    use glam::Vec3;

    #[test]
    fn a_box_within_a_box_touches() {
        let (big, small) = (
            box_grid([4, 4, 4], Vec3::splat(2.0)),
            box_grid([2, 2, 2], Vec3::splat(0.5)),
        );
        let mut pair = Pair::new(big, small).unwrap();
        let asking = Asking {
            mode: ContactMode::Full,
            ..Asking::default()
        };
        // Wholly inside: every corner of the small one is a contact.
        let found = pair.ask(&Pose::translation(Vec3::splat(0.75)), &asking);
        assert!(
            found.stats.contacts >= 8 && found.deepest > 0.7,
            "{found:?}"
        );
        let apart = pair.ask(&Pose::translation(Vec3::splat(3.0)), &asking);
        assert_eq!(apart.stats.contacts, 0);
    }
}
