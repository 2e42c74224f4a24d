//! Vertex buffers of pieces, made once for each, on any thread.

use std::sync::Arc;

use fracas_core::Fragments;

use super::World;
use crate::breakables::PieceId;
use crate::shape::FragmentShape;
use crate::skin::Skin;
use crate::vertex_buffers::VertexBuffers;

/// Work that makes the vertex buffers of one piece: from [`World::vertex_buffer_job`]. It may
/// run on any thread, while the world goes on, with the same bits.
#[derive(Clone)]
pub struct VertexBufferJob {
    piece: PieceId,
    shape: FragmentShape,
    /// As it was when the job was made, whatever breaks since.
    fragments: Arc<Fragments>,
    skin: Option<Arc<Skin>>,
}

impl std::fmt::Debug for VertexBufferJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("VertexBufferJob").field(&self.piece).finish()
    }
}

impl VertexBufferJob {
    /// The piece.
    #[must_use]
    pub fn piece(&self) -> PieceId {
        self.piece
    }

    /// Makes the buffers, or returns them where they are made already. If another thread is
    /// making them, waits for it.
    #[must_use]
    pub fn run(&self) -> Arc<VertexBuffers> {
        let make = || {
            let id = self.shape.id();
            let dressed = self.skin.as_ref().and_then(|skin| {
                let dress = skin.dress(&self.fragments, id)?;
                Some(VertexBuffers::of_dress(&dress, skin))
            });
            let plain = || VertexBuffers::of_surface(self.shape.surface_in(&self.fragments));
            Arc::new(dressed.unwrap_or_else(plain))
        };
        self.shape.buffers().get_or_init(make).clone()
    }

    /// The buffers, if they are made.
    #[must_use]
    pub fn get(&self) -> Option<&Arc<VertexBuffers>> {
        self.shape.buffers().get()
    }
}

impl World {
    /// The vertex buffers of a piece, ready for a GPU: made at the first call, then shared,
    /// and dropped with the piece. `None` if there is no such piece.
    ///
    /// Of a baked model they show its own triangles and texture coordinates, cut at the
    /// cracks; else the surface of the tetrahedra. Call it, or make the job, in the step in
    /// which the pieces are born: both sides of a crack then have the same triangles.
    ///
    /// ```
    /// use fracas_rapier::{Breakable, Event, World, WorldSettings};
    /// # use fracas_core::{FieldOptions, grid::bent_grid, sphere_tree::BuildOptions};
    /// # let mesh = bent_grid([3, 2, 2], false, |p| p / glam::Vec3::new(3.0, 2.0, 2.0))?.into();
    /// # let brick = fracas_rapier::Blueprint::build(mesh, &FieldOptions::default(), &BuildOptions::default())?;
    /// # let brick = Breakable::new(brick.into());
    /// let mut world = World::new(WorldSettings::default());
    /// world.add(brick);
    /// for piece in world.pieces() {
    ///     let buffers = world.vertex_buffers(piece).expect("it is there");
    ///     let (outside, inside) = (buffers.outside.clone(), buffers.inside.clone());
    ///     // upload(&buffers.interleaved(), &buffers.indices);
    ///     // draw(outside, glaze); draw(inside, clay);
    ///     assert_eq!(outside.end, inside.start);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn vertex_buffers(&self, piece: PieceId) -> Option<Arc<VertexBuffers>> {
        let made = self.shape(piece)?.buffers().get().cloned();
        made.or_else(|| Some(self.vertex_buffer_job(piece)?.run()))
    }

    /// The same as work for another thread. `None` if there is no such piece.
    ///
    /// ```
    /// # use fracas_core::{FieldOptions, grid::bent_grid, sphere_tree::BuildOptions};
    /// # use fracas_rapier::{Breakable, World, WorldSettings};
    /// # let mesh = bent_grid([3, 2, 2], false, |p| p / glam::Vec3::new(3.0, 2.0, 2.0))?.into();
    /// # let brick = fracas_rapier::Blueprint::build(mesh, &FieldOptions::default(), &BuildOptions::default())?;
    /// # let mut world = World::new(WorldSettings::default());
    /// # world.add(Breakable::new(brick.into()));
    /// # let piece = world.pieces().next().unwrap();
    /// let job = world.vertex_buffer_job(piece).expect("it is there");
    /// let made = std::thread::spawn(move || job.run());
    /// world.step();
    /// let buffers = made.join().unwrap();
    /// assert!(std::sync::Arc::ptr_eq(&buffers, &world.vertex_buffers(piece).unwrap()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn vertex_buffer_job(&self, piece: PieceId) -> Option<VertexBufferJob> {
        let shape = self.shape(piece)?.clone();
        let object = self.breakables.objects.get(piece.object.0 as usize)?;
        let fragments = shape.object().read().fragments.clone();
        Some(VertexBufferJob {
            piece,
            fragments,
            skin: object.options.blueprint.skin().cloned(),
            shape,
        })
    }
}
