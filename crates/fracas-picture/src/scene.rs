//! What is drawn: meshes, lines and points, with or without a ground to stand on.

use std::sync::Arc;

use glam::{Mat3, Vec2, Vec3};

use crate::colour::Colour;
use crate::light::Rays;
use crate::texture::Texture;

/// How much work goes into a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quality {
    /// 2 x 2 samples a pixel and coarse shadows: contact sheets, many frames.
    Draft,
    /// 3 x 3 samples a pixel and smooth shadows: a still to keep.
    #[default]
    Fine,
}

impl Quality {
    pub(crate) fn samples(self) -> usize {
        match self {
            Self::Draft => 2,
            Self::Fine => 3,
        }
    }

    pub(crate) fn rays(self) -> Rays {
        match self {
            Self::Draft => Rays {
                key: 8,
                key_map: 384,
                sky: 32,
                sky_map: 384,
            },
            Self::Fine => Rays {
                key: 16,
                key_map: 448,
                sky: 40,
                sky_map: 192,
            },
        }
    }
}

/// A triangle mesh with colours.
#[derive(Clone, Debug)]
pub struct Mesh {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) colour: Colour,
    pub(crate) colours: Vec<Colour>,
    /// Cosine of the crease angle; above 1: flat.
    pub(crate) crease_cosine: f32,
    pub(crate) gloss: f32,
    /// Seen through, as glass is.
    pub(crate) clear: bool,
    pub(crate) edges: Option<(Colour, f32)>,
    /// One for each position; empty: from the triangles.
    pub(crate) normals: Vec<Vec3>,
    pub(crate) texture: Option<(Arc<Texture>, Vec<Vec2>)>,
}

impl Mesh {
    /// A mesh, flat shaded, light grey. Triangles that name missing positions are left out.
    #[must_use]
    pub fn new(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Self {
        let count = positions.len();
        let mut triangles = triangles;
        triangles.retain(|t| t.iter().all(|&v| (v as usize) < count));
        Self {
            positions,
            triangles,
            colour: Colour::from_srgb(206, 202, 196),
            colours: Vec::new(),
            crease_cosine: 2.0,
            gloss: 0.0,
            clear: false,
            edges: None,
            normals: Vec::new(),
            texture: None,
        }
    }

    /// Normals as they are given, one for each position; another number of them
    /// changes nothing.
    #[must_use]
    pub fn normals(mut self, normals: Vec<Vec3>) -> Self {
        if normals.len() == self.positions.len() {
            self.normals = normals;
        }
        self
    }

    /// A texture, which multiplies the colour, with coordinates for each position;
    /// another number of them changes nothing.
    #[must_use]
    pub fn texture(mut self, texture: Arc<Texture>, uvs: Vec<Vec2>) -> Self {
        if uvs.len() == self.positions.len() {
            self.texture = Some((texture, uvs));
        }
        self
    }

    /// One colour for all.
    #[must_use]
    pub fn colour(mut self, colour: Colour) -> Self {
        self.colour = colour;
        self
    }

    /// A colour for each triangle; where the list ends, the mesh's own colour goes on.
    #[must_use]
    pub fn colours(mut self, per_triangle: Vec<Colour>) -> Self {
        self.colours = per_triangle;
        self
    }

    /// Smooth across edges that bend less than this, sharp across the others.
    #[must_use]
    pub fn smooth(mut self, crease_degrees: f32) -> Self {
        self.crease_cosine = libm::cosf(crease_degrees.to_radians());
        self
    }

    /// From 0 (dull) to 1 (glazed).
    #[must_use]
    pub fn gloss(mut self, gloss: f32) -> Self {
        self.gloss = gloss.clamp(0.0, 1.0);
        self
    }

    /// Seen through, tinted by its colour, with a third of a solid thing's shadow.
    #[must_use]
    pub fn clear(mut self) -> Self {
        self.clear = true;
        self
    }

    /// Also draws the edges of all triangles, as lines of this width in pixels.
    #[must_use]
    pub fn edges(mut self, colour: Colour, width: f32) -> Self {
        self.edges = Some((colour, width));
        self
    }

    /// Rotated (or scaled), then moved.
    #[must_use]
    pub fn moved(mut self, rotation: Mat3, translation: Vec3) -> Self {
        for p in &mut self.positions {
            *p = rotation * *p + translation;
        }
        for n in &mut self.normals {
            *n = rotation * *n;
        }
        self
    }

    /// Smallest and largest coordinates; `None` when nothing is finite.
    #[must_use]
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let finite = self.positions.iter().filter(|p| p.is_finite());
        finite.fold(None, |bounds, &p| {
            let (lo, hi) = bounds.unwrap_or((p, p));
            Some((lo.min(p), hi.max(p)))
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    Line { ends: [Vec3; 2], width: f32 },
    Point { at: Vec3, radius: f32 },
}

/// Meshes, lines and points, with or without a ground to stand on.
#[derive(Clone, Debug)]
pub struct Scene {
    pub(crate) meshes: Vec<Mesh>,
    pub(crate) marks: Vec<(Mark, Colour, bool)>,
    pub(crate) ground: Option<f32>,
    /// Distance of the lines on the ground, where there are any.
    pub(crate) ground_lines: Option<f32>,
    pub(crate) background: [Colour; 2],
}

impl Default for Scene {
    fn default() -> Self {
        Self::new()
    }
}

impl Scene {
    /// An empty scene with a light background and no ground.
    #[must_use]
    pub fn new() -> Self {
        Self {
            meshes: Vec::new(),
            marks: Vec::new(),
            ground: None,
            ground_lines: None,
            background: [
                Colour::from_srgb(214, 221, 229),
                Colour::from_srgb(240, 239, 235),
            ],
        }
    }

    /// Adds a mesh.
    pub fn add(&mut self, mesh: Mesh) {
        self.meshes.push(mesh);
    }

    /// A level ground at this height.
    pub fn ground(&mut self, height: f32) {
        self.ground = Some(height);
    }

    /// Faint lines on the ground, this far apart: a floor that is seen where nothing
    /// throws a shadow on it.
    pub fn ground_lines(&mut self, apart: f32) {
        self.ground_lines = (apart > 0.0 && apart.is_finite()).then_some(apart);
    }

    /// A ground at the lowest point of what was added so far.
    pub fn ground_under_all(&mut self) {
        self.ground = self.bounds().map(|(lo, _)| lo.y);
    }

    /// The background, from its upper to its lower edge.
    pub fn background(&mut self, upper: Colour, lower: Colour) {
        self.background = [upper, lower];
    }

    /// A line of this width in pixels, hidden by what is in front of it.
    pub fn line(&mut self, a: Vec3, b: Vec3, width: f32, colour: Colour) {
        let mark = Mark::Line {
            ends: [a, b],
            width,
        };
        self.marks.push((mark, colour, false));
    }

    /// A dot of this radius in pixels, hidden by what is in front of it.
    pub fn point(&mut self, at: Vec3, radius: f32, colour: Colour) {
        self.marks.push((Mark::Point { at, radius }, colour, false));
    }

    /// As [`Scene::line`], seen through everything.
    pub fn line_on_top(&mut self, a: Vec3, b: Vec3, width: f32, colour: Colour) {
        self.line(a, b, width, colour);
        self.marks.last_mut().expect("just added").2 = true;
    }

    /// As [`Scene::point`], seen through everything.
    pub fn point_on_top(&mut self, at: Vec3, radius: f32, colour: Colour) {
        self.point(at, radius, colour);
        self.marks.last_mut().expect("just added").2 = true;
    }

    /// Smallest and largest coordinates of all meshes; `None` when there are none.
    #[must_use]
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let all = self.meshes.iter().filter_map(Mesh::bounds);
        all.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
}
