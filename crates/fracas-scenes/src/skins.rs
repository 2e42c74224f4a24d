//! What things of the set look like, for pictures and models: finer and rounder than
//! their tetrahedra. Built when first asked for, never by the simulation.

use std::sync::{Arc, OnceLock};

use fracas_bake::shapes::Shape;
pub use fracas_core::dressing::Dressed;
use fracas_core::dressing::FineBoundary;
use fracas_core::{FragmentId, Fragments, TetMesh};

/// The fine surface of a shape on its tetrahedra.
#[derive(Debug)]
pub struct Skin {
    shape: &'static Shape,
    scale: f64,
    mesh: Arc<TetMesh>,
    built: OnceLock<Option<FineBoundary>>,
}

impl Skin {
    /// Of a shape, larger by `scale`, filled with these tetrahedra.
    #[must_use]
    pub fn new(shape: &'static Shape, scale: f64, mesh: Arc<TetMesh>) -> Self {
        Self {
            shape,
            scale,
            mesh,
            built: OnceLock::new(),
        }
    }

    /// Whether these fragments are of its tetrahedra.
    #[must_use]
    pub fn fits(&self, fragments: &Fragments) -> bool {
        Arc::ptr_eq(&self.mesh, fragments.mesh()) || *self.mesh == **fragments.mesh()
    }

    /// A fragment in it; none for things whose tetrahedra have their surface exactly.
    #[must_use]
    pub fn dress(&self, fragments: &Fragments, id: FragmentId) -> Option<Dressed> {
        let built = self
            .built
            .get_or_init(|| self.shape.fine_boundary(&self.mesh, self.scale));
        built.as_ref().map(|fine| fine.dress(fragments, id))
    }

    /// Whether anybody has asked for it yet.
    #[must_use]
    pub fn is_built(&self) -> bool {
        self.built.get().is_some()
    }
}

#[cfg(test)]
mod tests {
    use crate::film::{FilmShape, Filming};
    use crate::recording::{RecordOptions, Recording};
    use crate::rigid::{Kit, KitOptions, Scene};
    use fracas_fracture::Material;
    use fracas_rapier::WorldSettings;
    use glam::Vec3;
    use parry3d::math::Pose;

    #[test]
    fn nothing_is_built_until_somebody_looks() {
        let solid = KitOptions::solid(Material::GLASS);
        let kit = Kit::build("ball-sparse", 0.5, solid, &mut |_| ()).unwrap();
        let view = (Vec3::ZERO, Vec3::ONE);
        let mut scene = Scene::new("ball", WorldSettings::default(), 4, view);
        scene.wear(&kit);
        scene.add(kit.body(Pose::identity(), 0), kit.colour());
        Recording::run(&mut scene, 2, |_| ());
        assert!(!kit.skin().unwrap().is_built());
        let options = RecordOptions {
            skins: true,
            ..RecordOptions::default()
        };
        let recording = Recording::record(&mut scene, 1, options, &mut |_| ());
        assert!(kit.skin().unwrap().is_built());
        let track = recording.tracks.values().next().unwrap();
        let seen = track.dressed.as_ref().unwrap();
        assert!(seen.triangles.len() >= 4 * track.surface.triangles().len());
        let film = Filming::new(&scene).finish();
        let FilmShape::Piece(piece) = &film.bodies[0].shape else {
            panic!("the ball is a piece")
        };
        assert_eq!(piece.positions, seen.positions);
        assert_eq!(piece.normals, seen.normals);
    }
}
