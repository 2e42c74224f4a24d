//! What things look like, for pictures and models: things of the set finer and rounder than
//! their tetrahedra, models of users in their own triangles, materials and textures. Built
//! when first asked for, never by the simulation.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fracas_bake::model::Model;
use fracas_bake::model::pieces::Buffers;
use fracas_bake::shapes::Shape;
use fracas_bake::shatter::{SkinChoice, Wardrobe};
pub use fracas_core::dressing::Dressed;
use fracas_core::dressing::FineBoundary;
use fracas_core::{FragmentId, FragmentSurface, Fragments, TetMesh};
use fracas_rapier::PieceId;
use glam::Vec3;

/// How often a texture repeats on crack faces, per metre.
const CRACK_SCALE: f32 = 1.0;

/// What bodies of one kind look like on their tetrahedra.
#[derive(Debug)]
pub struct Skin {
    mesh: Arc<TetMesh>,
    of: Of,
}

#[derive(Debug)]
enum Of {
    Shape {
        shape: &'static Shape,
        scale: f64,
        built: OnceLock<Option<FineBoundary>>,
    },
    Model {
        model: Arc<Model>,
        wardrobe: Box<Wardrobe>,
        worn: Mutex<Made>,
    },
}

/// What was made, with the surface of which it is: numbers of pieces come again where a scene
/// goes back.
type Made = BTreeMap<PieceId, (Arc<FragmentSurface>, Arc<Worn>)>;

/// A piece of a model as it is seen.
#[derive(Clone, Debug)]
pub struct Worn {
    /// Whose materials and textures these are.
    pub model: Arc<Model>,
    /// What is seen, in the object's frame: a part for each material, cracks last.
    pub surfaces: Vec<Buffers>,
    /// Whether the model is draped over the tetrahedra, since its own triangles would leave
    /// this piece or one beside it open.
    pub draped: bool,
}

impl Worn {
    /// The same without materials.
    #[must_use]
    pub fn plain(&self) -> Dressed {
        let mut all = Dressed::default();
        let has_normals = self.surfaces.iter().all(|s| normals(s).is_some());
        for surface in &self.surfaces {
            let first = all.positions.len() as u32;
            all.positions.extend(&surface.positions);
            let own = normals(surface).filter(|_| has_normals).into_iter();
            all.normals.extend(own.flatten());
            let triangles = surface.triangles.iter();
            all.triangles
                .extend(triangles.map(|t| t.map(|v| v + first)));
            if !surface.is_crack {
                all.outer_triangles = all.triangles.len();
            }
        }
        all
    }
}

fn normals(surface: &Buffers) -> Option<impl Iterator<Item = Vec3>> {
    let mut all = surface.attributes.iter();
    let found = all.find(|a| a.name == "NORMAL" && a.width == 3)?;
    Some(found.values.chunks_exact(3).map(Vec3::from_slice))
}

impl Skin {
    /// Of a shape, larger by `scale`, filled with these tetrahedra.
    #[must_use]
    pub fn new(shape: &'static Shape, scale: f64, mesh: Arc<TetMesh>) -> Self {
        let of = Of::Shape {
            shape,
            scale,
            built: OnceLock::new(),
        };
        Self { mesh, of }
    }

    /// Of a model that these tetrahedra fill.
    #[must_use]
    pub fn of_model(model: Arc<Model>, mesh: Arc<TetMesh>) -> Self {
        let of = Of::Model {
            model,
            wardrobe: Box::default(),
            worn: Mutex::default(),
        };
        Self { mesh, of }
    }

    /// Whether these fragments are of its tetrahedra.
    #[must_use]
    pub fn fits(&self, fragments: &Fragments) -> bool {
        Arc::ptr_eq(&self.mesh, fragments.mesh()) || *self.mesh == **fragments.mesh()
    }

    /// A fragment of a shape in it; none for things whose tetrahedra have their surface
    /// exactly, and for models: see [`Skin::worn`].
    #[must_use]
    pub fn dress(&self, fragments: &Fragments, id: FragmentId) -> Option<Dressed> {
        let Of::Shape {
            shape,
            scale,
            built,
        } = &self.of
        else {
            return None;
        };
        let built = built.get_or_init(|| shape.fine_boundary(&self.mesh, *scale));
        built.as_ref().map(|fine| fine.dress(fragments, id))
    }

    /// A living piece of a model. `pieces` are all that live of its object, with their
    /// surfaces: those of one break are dressed alike, so that they fit. An object that is
    /// whole has the model's own triangles, whatever they are.
    #[must_use]
    pub fn worn(
        &self,
        fragments: &Fragments,
        piece: PieceId,
        pieces: &[(PieceId, Arc<FragmentSurface>)],
    ) -> Option<Arc<Worn>> {
        let Of::Model {
            model,
            wardrobe,
            worn,
        } = &self.of
        else {
            return None;
        };
        let mut known = worn.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = |(id, surface): &&(PieceId, Arc<FragmentSurface>)| {
            known
                .get(id)
                .is_none_or(|(of, _)| !Arc::ptr_eq(of, surface))
        };
        let new: Vec<_> = pieces.iter().filter(is_new).collect();
        if new.iter().any(|(id, _)| *id == piece) {
            let is_whole = |s: &FragmentSurface| s.outer_triangles() == s.triangles().len();
            let choice = match &new[..] {
                [(_, surface)] if is_whole(surface) => SkinChoice::Model,
                _ => SkinChoice::Auto,
            };
            let ids: Vec<FragmentId> = new.iter().map(|(id, _)| id.fragment).collect();
            let made = wardrobe.dress(model, fragments, &ids, choice, CRACK_SCALE);
            let (made, warning) = made.ok()?;
            let draped = choice == SkinChoice::Auto && warning.is_some();
            for ((id, surface), surfaces) in new.into_iter().zip(made) {
                let worn = Worn {
                    model: Arc::clone(model),
                    surfaces,
                    draped,
                };
                known.insert(*id, (Arc::clone(surface), Arc::new(worn)));
            }
        }
        known.get(&piece).map(|(_, worn)| Arc::clone(worn))
    }

    /// Whether it is that of a model.
    #[must_use]
    pub fn is_model(&self) -> bool {
        matches!(self.of, Of::Model { .. })
    }

    /// Whether anybody has asked for it yet.
    #[must_use]
    pub fn is_built(&self) -> bool {
        match &self.of {
            Of::Shape { built, .. } => built.get().is_some(),
            Of::Model { worn, .. } => {
                let worn = worn.lock().unwrap_or_else(PoisonError::into_inner);
                !worn.is_empty()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::film::{FilmShape, Filming};
    use crate::recording::{RecordOptions, Recording};
    use crate::rigid::{Scene, Template, TemplateOptions};
    use fracas_fracture::Material;
    use fracas_rapier::WorldSettings;
    use glam::Vec3;
    use parry3d::math::Pose;

    #[test]
    fn nothing_is_built_until_somebody_looks() {
        let solid = TemplateOptions::solid(Material::GLASS);
        let template = Template::build("ball-sparse", 0.5, solid, &mut |_| ()).unwrap();
        let view = (Vec3::ZERO, Vec3::ONE);
        let mut scene = Scene::new("ball", WorldSettings::default(), 4, view);
        scene.wear(&template);
        scene.add(template.body(Pose::identity(), 0), template.colour());
        Recording::run(&mut scene, 2, |_| ());
        assert!(!template.skin().unwrap().is_built());
        let options = RecordOptions {
            skins: true,
            ..RecordOptions::default()
        };
        let recording = Recording::record(&mut scene, 1, options, &mut |_| ());
        assert!(template.skin().unwrap().is_built());
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
