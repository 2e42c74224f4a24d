//! A run as one file that the page plays back: all bodies, where they were after
//! every step, contacts, numbers, sphere trees and tetrahedra.
//!
//! Frame 0 is the start, frame i the world after step i. A body is there from its
//! first frame for as many frames as it has poses. Written and read with the asset's
//! [`Encoder`] and [`Decoder`].
//!
//! **Guarantee**: a file that is cut short or altered gives an error, never a panic,
//! and no more memory than a small multiple of its size.

use std::collections::BTreeMap;
use std::sync::Arc;

use fracas_bake::asset::{DecodeError, Decoder, Encoder};
use fracas_core::TetMesh;
use fracas_rapier::{FragmentShape, PieceId, StepStats, World};
use glam::Vec3;
use parry3d::math::Pose;
use parry3d::shape::TypedShape;
use thiserror::Error;

use crate::rigid::Scene;
use crate::skins::Dressed;

const MAGIC: &str = "fracas film 2";
/// Films without normals, which are still read.
const OLDER: &str = "fracas film 1";

/// Why bytes are no film.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FilmError {
    /// Another kind of file.
    #[error("this is not a recording; make one with `fracas run SCENE --recording FILE`")]
    NotAFilm,
    /// Cut short or altered.
    #[error("the recording is damaged: {0}; record it again")]
    Damaged(#[from] DecodeError),
    /// Its parts do not fit together.
    #[error("the recording is damaged: {0} do not fit together; record it again")]
    Unfit(&'static str),
}

/// A breakable body or fragment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FilmPiece {
    /// Of which object.
    pub object: u32,
    /// Which fragment of it.
    pub fragment: u32,
    /// Its colour (sRGB).
    pub colour: [u8; 3],
    /// Vertices of its surface.
    pub positions: Vec<Vec3>,
    /// Normals for each of them; empty where there are none.
    pub normals: Vec<Vec3>,
    /// Its triangles, cracks last.
    pub triangles: Vec<[u32; 3]>,
    /// How many of them are outer surface.
    pub outer_triangles: u32,
    /// Its sphere tree: centre, radius, level.
    pub spheres: Vec<(Vec3, f32, u8)>,
    /// Which of [`Film::meshes`] it is cut from.
    pub mesh: u32,
    /// Its whole tetrahedra, by nodes of that mesh.
    pub tets: Vec<[u32; 4]>,
}

/// A body that deforms and tears.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FilmSoft {
    /// Its number.
    pub object: u32,
    /// Its colour (sRGB).
    pub colour: [u8; 3],
    /// Its vertices in each frame; what never moves has one frame only.
    pub frames: Vec<Vec<Vec3>>,
    /// Its triangles, from this frame on.
    pub shapes: Vec<(u32, Vec<[u32; 3]>)>,
}

impl FilmSoft {
    /// Vertices and triangles in a frame.
    #[must_use]
    pub fn at(&self, frame: u32) -> Option<(&[Vec3], &[[u32; 3]])> {
        let positions = self.frames.get(frame as usize).or(self.frames.last())?;
        let shape = self.shapes.iter().rev().find(|shape| shape.0 <= frame)?;
        Some((positions, &shape.1))
    }
}

/// What a body looks like.
#[derive(Clone, Debug, PartialEq)]
pub enum FilmShape {
    /// It breaks, or broke off.
    Piece(Box<FilmPiece>),
    /// A plain ball of this radius.
    Ball(f32),
    /// A plain box of these half sides.
    Block(Vec3),
    /// It deforms.
    Soft(Box<FilmSoft>),
}

/// A body and where it was.
#[derive(Clone, Debug, PartialEq)]
pub struct FilmBody {
    /// What it looks like.
    pub shape: FilmShape,
    /// The first frame it is in.
    pub first: u32,
    /// Place and turn (x y z w) from that frame on.
    pub poses: Vec<[f32; 7]>,
}

/// A recorded run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Film {
    /// The scene's name.
    pub name: String,
    /// Seconds per step.
    pub step: f32,
    /// The box that a camera should show.
    pub view: (Vec3, Vec3),
    /// Nodes of the tet meshes.
    pub meshes: Vec<Vec<Vec3>>,
    /// All bodies that ever were.
    pub bodies: Vec<FilmBody>,
    /// The numbers of every frame, see [`numbers`].
    pub numbers: Vec<[f64; NUMBERS]>,
    /// The contacts of every frame, see [`contacts`].
    pub contacts: Vec<Vec<f32>>,
}

/// How many numbers a step has.
pub const NUMBERS: usize = 13;

/// A step in numbers: step; milliseconds of collision, physics, fracture, update,
/// total; pairs, visited points, contacts, solver contacts, bodies, fragments, broken.
#[must_use]
pub fn numbers(stats: &StepStats) -> [f64; NUMBERS] {
    let times = &stats.times;
    [
        stats.step as f64,
        times.collision,
        times.physics,
        times.fracture,
        times.update,
        times.total,
        stats.pairs as f64,
        stats.visited_points as f64,
        stats.contacts as f64,
        stats.solver_contacts as f64,
        stats.pieces as f64,
        stats.fragments as f64,
        stats.broken as f64,
    ]
}

/// Contacts of the last step, eight numbers each: point, normal (from the first body
/// to the second), distance (negative: depth), impulse (N s).
#[must_use]
pub fn contacts(world: &World) -> Vec<f32> {
    let mut out = Vec::new();
    for pair in world.physics.narrow_phase.contact_pairs() {
        let Some(first) = world.physics.colliders.get(pair.collider1) else {
            continue;
        };
        for manifold in pair.solver_manifolds() {
            for point in &manifold.points {
                out.extend((*first.position() * point.local_p1).to_array());
                out.extend(manifold.data.normal.to_array());
                out.extend([point.dist, point.data.impulse]);
            }
        }
    }
    out
}

/// The nodes of a fragment's whole tetrahedra.
#[must_use]
pub fn whole_tets(shape: &FragmentShape) -> (Arc<TetMesh>, Vec<[u32; 4]>) {
    let state = shape.object().read();
    let fragments = state.fragments();
    let owner = fragments.node_fragment();
    let all = fragments.mesh().tets().iter().copied();
    let own = |tet: &[u32; 4]| tet.iter().all(|&n| owner[n as usize] == shape.id());
    (fragments.mesh().clone(), all.filter(own).collect())
}

/// A body's identity while it is filmed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Piece(PieceId),
    Plain(u32, u32),
}

/// Films a scene, frame by frame.
pub struct Filming {
    film: Film,
    places: BTreeMap<Key, usize>,
    meshes: Vec<Arc<TetMesh>>,
}

impl Filming {
    /// Begins, with frame 0.
    #[must_use]
    pub fn new(scene: &Scene) -> Self {
        let mut filming = Self {
            film: Film {
                name: scene.name().into(),
                step: scene.world().dt(),
                view: scene.view(),
                ..Film::default()
            },
            places: BTreeMap::new(),
            meshes: Vec::new(),
        };
        filming.frame(scene);
        filming
    }

    /// Adds the next frame.
    pub fn frame(&mut self, scene: &Scene) {
        let world = scene.world();
        for piece in world.pieces() {
            let (Some(shape), Some(pose)) = (world.shape(piece), world.pose(piece)) else {
                continue;
            };
            let meshes = &mut self.meshes;
            let made = || FilmShape::Piece(Box::new(film_piece(scene, piece, shape, meshes)));
            add(
                &mut self.film,
                &mut self.places,
                Key::Piece(piece),
                pose,
                made,
            );
        }
        for (handle, collider) in world.physics.colliders.iter() {
            let shape = match collider.shape().as_typed_shape() {
                TypedShape::Ball(ball) => FilmShape::Ball(ball.radius),
                TypedShape::Cuboid(cuboid) => FilmShape::Block(cuboid.half_extents),
                _ => continue,
            };
            let (index, generation) = handle.into_raw_parts();
            let key = Key::Plain(index, generation);
            let pose = *collider.position();
            add(&mut self.film, &mut self.places, key, pose, || shape);
        }
        self.film.numbers.push(numbers(world.stats()));
        self.film.contacts.push(contacts(world));
    }

    /// The film.
    #[must_use]
    pub fn finish(mut self) -> Film {
        self.film.meshes = self
            .meshes
            .iter()
            .map(|mesh| mesh.positions().to_vec())
            .collect();
        self.film
    }
}

fn add(
    film: &mut Film,
    places: &mut BTreeMap<Key, usize>,
    key: Key,
    pose: Pose,
    shape: impl FnOnce() -> FilmShape,
) {
    let now = film.numbers.len() as u32;
    let at = *places.entry(key).or_insert_with(|| {
        film.bodies.push(FilmBody {
            shape: shape(),
            first: now,
            poses: Vec::new(),
        });
        film.bodies.len() - 1
    });
    let (p, q) = (pose.translation, pose.rotation);
    film.bodies[at]
        .poses
        .push([p.x, p.y, p.z, q.x, q.y, q.z, q.w]);
}

fn film_piece(
    scene: &Scene,
    piece: PieceId,
    shape: &FragmentShape,
    meshes: &mut Vec<Arc<TetMesh>>,
) -> FilmPiece {
    let (mesh, tets) = whole_tets(shape);
    let known = meshes.iter().position(|m| Arc::ptr_eq(m, &mesh));
    let mesh = known.unwrap_or_else(|| {
        meshes.push(mesh);
        meshes.len() - 1
    });
    let seen = scene.dressed(piece).unwrap_or_else(|| {
        let surface = shape.surface();
        Dressed {
            positions: surface.positions().to_vec(),
            normals: Vec::new(),
            triangles: surface.triangles().to_vec(),
            outer_triangles: surface.outer_triangles(),
        }
    });
    FilmPiece {
        object: piece.object.0,
        fragment: piece.fragment.0,
        colour: scene.colour(piece.object),
        positions: seen.positions,
        normals: seen.normals,
        triangles: seen.triangles,
        outer_triangles: seen.outer_triangles as u32,
        spheres: shape.tree().spheres().collect(),
        mesh: mesh as u32,
        tets,
    }
}

impl Film {
    /// How many steps it shows: one less than frames.
    #[must_use]
    pub fn steps(&self) -> u32 {
        (self.numbers.len() as u32).saturating_sub(1)
    }

    /// The bodies of a frame with their places in [`Film::bodies`].
    pub fn at(&self, frame: u32) -> impl Iterator<Item = (usize, &FilmBody, &[f32; 7])> {
        self.bodies.iter().enumerate().filter_map(move |(i, body)| {
            let pose = body.poses.get(frame.checked_sub(body.first)? as usize)?;
            Some((i, body, pose))
        })
    }

    /// The bytes of a file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Encoder::new();
        out.text(MAGIC);
        out.text(&self.name);
        out.f32(self.step);
        out.f32s(&flat(&[self.view.0, self.view.1]));
        out.u32(self.meshes.len() as u32);
        for mesh in &self.meshes {
            out.f32s(&flat(mesh));
        }
        out.u32(self.bodies.len() as u32);
        for body in &self.bodies {
            out.u32(body.first);
            out.f32s(body.poses.as_flattened());
            match &body.shape {
                FilmShape::Ball(radius) => {
                    out.u8(1);
                    out.f32(*radius);
                }
                FilmShape::Block(half) => {
                    out.u8(2);
                    out.f32s(&half.to_array());
                }
                FilmShape::Piece(piece) => {
                    out.u8(0);
                    piece.write(&mut out);
                }
                FilmShape::Soft(soft) => {
                    out.u8(3);
                    soft.write(&mut out);
                }
            }
        }
        out.f64s(self.numbers.as_flattened());
        for contacts in &self.contacts {
            out.f32s(contacts);
        }
        out.finish()
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// See [`FilmError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FilmError> {
        let mut input = Decoder::new(bytes);
        let has_normals = match input.text() {
            Ok(magic) if magic == MAGIC => true,
            Ok(magic) if magic == OLDER => false,
            _ => return Err(FilmError::NotAFilm),
        };
        let name = input.text()?;
        let step = input.f32()?;
        let view = points(input.f32s()?, "the camera's numbers")?;
        let &[low, high] = view.as_slice() else {
            return Err(FilmError::Unfit("the camera's numbers"));
        };
        let mut meshes = Vec::new();
        for _ in 0..input.u32()? {
            meshes.push(points(input.f32s()?, "a mesh's numbers")?);
        }
        let mut bodies = Vec::new();
        for _ in 0..input.u32()? {
            let first = input.u32()?;
            let poses = chunks(&input.f32s()?, "a body's poses")?;
            let shape = match input.u8()? {
                0 => FilmShape::Piece(Box::new(FilmPiece::read(&mut input, &meshes, has_normals)?)),
                1 => FilmShape::Ball(input.f32()?),
                2 => {
                    let half = points(input.f32s()?, "a box's sides")?;
                    FilmShape::Block(*half.first().ok_or(FilmError::Unfit("a box's sides"))?)
                }
                3 => FilmShape::Soft(Box::new(FilmSoft::read(&mut input)?)),
                _ => return Err(FilmError::Unfit("the kinds of bodies")),
            };
            bodies.push(FilmBody {
                shape,
                first,
                poses,
            });
        }
        let numbers: Vec<[f64; NUMBERS]> = chunks(&input.f64s()?, "the numbers of steps")?;
        let mut contacts = Vec::new();
        for _ in 0..numbers.len() {
            let of_frame = input.f32s()?;
            if !of_frame.len().is_multiple_of(8) {
                return Err(FilmError::Unfit("a step's contacts"));
            }
            contacts.push(of_frame);
        }
        input.finish()?;
        if numbers.is_empty() || !(step.is_finite() && step > 0.0) {
            return Err(FilmError::Unfit("steps and their length"));
        }
        Ok(Self {
            name,
            step,
            view: (low, high),
            meshes,
            bodies,
            numbers,
            contacts,
        })
    }
}

impl FilmPiece {
    fn write(&self, out: &mut Encoder) {
        out.u32(self.object);
        out.u32(self.fragment);
        out.u8s(&self.colour);
        out.f32s(&flat(&self.positions));
        out.f32s(&flat(&self.normals));
        out.u32s(self.triangles.as_flattened());
        out.u32(self.outer_triangles);
        let spheres = self.spheres.iter();
        let spheres: Vec<f32> = spheres
            .flat_map(|&(c, radius, level)| [c.x, c.y, c.z, radius, f32::from(level)])
            .collect();
        out.f32s(&spheres);
        out.u32(self.mesh);
        out.u32s(self.tets.as_flattened());
    }

    fn read(
        input: &mut Decoder<'_>,
        meshes: &[Vec<Vec3>],
        has_normals: bool,
    ) -> Result<Self, FilmError> {
        let (object, fragment) = (input.u32()?, input.u32()?);
        let colour = input.u8s()?;
        let positions = points(input.f32s()?, "a surface's vertices")?;
        let normals = match has_normals {
            true => points(input.f32s()?, "a surface's normals")?,
            false => Vec::new(),
        };
        if !normals.is_empty() && normals.len() != positions.len() {
            return Err(FilmError::Unfit("vertices and normals"));
        }
        let triangles: Vec<[u32; 3]> = chunks(&input.u32s()?, "a surface's triangles")?;
        let outer_triangles = input.u32()?;
        let spheres: Vec<[f32; 5]> = chunks(&input.f32s()?, "a tree's spheres")?;
        let mesh = input.u32()?;
        let tets: Vec<[u32; 4]> = chunks(&input.u32s()?, "a body's tetrahedra")?;
        let within = |all: &[u32], count: usize| all.iter().all(|&v| (v as usize) < count);
        let nodes = meshes.get(mesh as usize).map_or(0, Vec::len);
        if !within(triangles.as_flattened(), positions.len())
            || !within(tets.as_flattened(), nodes)
            || outer_triangles as usize > triangles.len()
        {
            return Err(FilmError::Unfit("vertices and triangles"));
        }
        Ok(Self {
            object,
            fragment,
            colour: colour
                .try_into()
                .map_err(|_| FilmError::Unfit("a body's colours"))?,
            positions,
            normals,
            triangles,
            outer_triangles,
            spheres: spheres
                .iter()
                .map(|&[x, y, z, radius, level]| (Vec3::new(x, y, z), radius, level as u8))
                .collect(),
            mesh,
            tets,
        })
    }
}

impl FilmSoft {
    fn write(&self, out: &mut Encoder) {
        out.u32(self.object);
        out.u8s(&self.colour);
        out.u32(self.frames.len() as u32);
        for positions in &self.frames {
            out.f32s(&flat(positions));
        }
        out.u32(self.shapes.len() as u32);
        for (first, triangles) in &self.shapes {
            out.u32(*first);
            out.u32s(triangles.as_flattened());
        }
    }

    fn read(input: &mut Decoder<'_>) -> Result<Self, FilmError> {
        let object = input.u32()?;
        let colour = input.u8s()?;
        let mut soft = Self {
            object,
            colour: colour
                .try_into()
                .map_err(|_| FilmError::Unfit("a body's colours"))?,
            ..Self::default()
        };
        for _ in 0..input.u32()? {
            soft.frames
                .push(points(input.f32s()?, "a surface's vertices")?);
        }
        for _ in 0..input.u32()? {
            let first = input.u32()?;
            let triangles = chunks(&input.u32s()?, "a surface's triangles")?;
            soft.shapes.push((first, triangles));
        }
        if soft.fits() {
            Ok(soft)
        } else {
            Err(FilmError::Unfit("vertices and triangles"))
        }
    }

    /// Whether the triangles of every frame have their vertices.
    fn fits(&self) -> bool {
        let order = self.shapes.is_sorted_by(|a, b| a.0 < b.0);
        let ends = self.shapes.iter().skip(1).map(|shape| shape.0);
        let frames = self.frames.len();
        let mut spans = self.shapes.iter().zip(ends.chain([u32::MAX]));
        order
            && spans.all(|((first, triangles), end)| {
                // In 64 bits: a vertex number may be the largest there is.
                let most = triangles.as_flattened().iter().max();
                let needed = most.map_or(0, |&v| u64::from(v) + 1);
                // The last frame stands for all after it.
                let from = (*first as usize).min(frames.saturating_sub(1));
                let to = (end as usize).min(frames).max(from);
                let own = &self.frames[from..to];
                let last = self.frames.last().into_iter();
                own.iter()
                    .chain(last.filter(|_| own.is_empty()))
                    .all(|positions| needed <= positions.len() as u64)
                    && (frames > 0 || needed == 0)
            })
    }
}

fn flat(points: &[Vec3]) -> Vec<f32> {
    points.iter().flat_map(|p| p.to_array()).collect()
}

fn chunks<T: Copy, const N: usize>(
    all: &[T],
    what: &'static str,
) -> Result<Vec<[T; N]>, FilmError> {
    let (chunks, rest) = all.as_chunks::<N>();
    if rest.is_empty() {
        Ok(chunks.to_vec())
    } else {
        Err(FilmError::Unfit(what))
    }
}

fn points(all: Vec<f32>, what: &'static str) -> Result<Vec<Vec3>, FilmError> {
    let points: Vec<[f32; 3]> = chunks(&all, what)?;
    Ok(points.into_iter().map(Vec3::from_array).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soft() -> FilmSoft {
        FilmSoft {
            object: 1,
            colour: [4, 5, 6],
            frames: vec![vec![Vec3::ZERO; 3], vec![Vec3::X; 4], vec![Vec3::Y; 4]],
            shapes: vec![(0, vec![[0, 1, 2]]), (1, vec![[0, 1, 2], [1, 2, 3]])],
        }
    }

    #[test]
    fn triangles_without_vertices_are_refused() {
        assert!(soft().fits());
        assert_eq!(soft().at(0).unwrap().1.len(), 1);
        assert_eq!(soft().at(7).unwrap().0[0], Vec3::Y, "the last stands on");
        let bad: [fn(&mut FilmSoft); 5] = [
            |s| s.shapes[1].0 = 0,
            |s| s.shapes[0].1[0][2] = 3,
            |s| s.frames[2].truncate(3),
            |s| s.frames.clear(),
            |s| s.frames.truncate(1),
        ];
        for spoil in bad {
            let mut other = soft();
            spoil(&mut other);
            assert!(!other.fits(), "{other:?}");
        }
    }

    fn film() -> Film {
        let piece = FilmPiece {
            object: 3,
            fragment: 7,
            colour: [1, 2, 3],
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            normals: vec![Vec3::X; 4],
            triangles: vec![[0, 2, 1], [0, 1, 3]],
            outer_triangles: 1,
            spheres: vec![(Vec3::ONE, 0.5, 0), (Vec3::X, 0.0, 3)],
            mesh: 0,
            tets: vec![[0, 1, 2, 3]],
        };
        let body = |shape, first, poses| FilmBody {
            shape,
            first,
            poses: vec![[0.5; 7]; poses],
        };
        Film {
            name: "test".into(),
            step: 0.01,
            view: (Vec3::ZERO, Vec3::ONE),
            meshes: vec![vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]],
            bodies: vec![
                body(FilmShape::Piece(Box::new(piece)), 0, 2),
                body(FilmShape::Ball(0.25), 1, 2),
                body(FilmShape::Block(Vec3::ONE), 0, 3),
                body(FilmShape::Soft(Box::new(soft())), 0, 3),
            ],
            numbers: vec![[1.5; NUMBERS]; 3],
            contacts: vec![vec![], vec![0.5; 8], vec![0.25; 16]],
        }
    }

    #[test]
    fn a_film_survives_the_file_and_shows_who_is_there() {
        let film = film();
        let again = Film::from_bytes(&film.to_bytes()).unwrap();
        assert_eq!(again, film);
        let there = |frame| film.at(frame).map(|b| b.0).collect::<Vec<_>>();
        assert_eq!(there(0), [0, 2, 3]);
        assert_eq!(there(1), [0, 1, 2, 3]);
        assert_eq!(there(2), [1, 2, 3]);
        assert_eq!(there(9), [] as [usize; 0]);
        assert_eq!(film.steps(), 2);
    }

    #[test]
    fn films_without_normals_are_read_and_too_few_normals_are_not() {
        let mut film = film();
        let FilmShape::Piece(piece) = &mut film.bodies[0].shape else {
            panic!("the first body is a piece")
        };
        piece.normals.pop();
        let wrong = Film::from_bytes(&film.to_bytes());
        assert!(matches!(wrong, Err(FilmError::Unfit(_))), "{wrong:?}");
        // A film without pieces is the same in both formats, but for its first words.
        film.bodies.remove(0);
        let new = film.to_bytes();
        let mut words = Encoder::new();
        words.text(OLDER);
        let words = words.finish();
        let mut old = new.clone();
        old[..words.len()].copy_from_slice(&words);
        assert_ne!(old, new);
        assert_eq!(Film::from_bytes(&old).unwrap(), film);
    }

    #[test]
    fn every_cut_and_every_altered_byte_is_an_error_or_a_film() {
        let bytes = film().to_bytes();
        for end in 0..bytes.len() {
            assert!(Film::from_bytes(&bytes[..end]).is_err(), "cut at {end}");
        }
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut other = bytes.clone();
                other[at] ^= flip;
                // No panic, no endless memory; many altered numbers are still a film.
                let _ = Film::from_bytes(&other);
            }
        }
        assert!(matches!(
            Film::from_bytes(b"glTF"),
            Err(FilmError::NotAFilm)
        ));
    }
}
