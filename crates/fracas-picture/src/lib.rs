//! A small software renderer: meshes in, pictures out, no GPU, no window.
//!
//! It serves the command line (what happened?), the documentation and the tests
//! (does the rabbit look like a rabbit?). The same scene gives the same bytes on
//! every machine.
//!
//! ```text
//!  Mesh, lines, points --> Scene --(Camera)--> Image --> PNG
//!                                               |  ^
//!                             Sheet (captions) <-+  +-- slice (a scalar field, colour-mapped)
//! ```
//!
//! | what | module |
//! | --- | --- |
//! | what is drawn | [`scene`] |
//! | from where | [`camera`] |
//! | textures of meshes | [`texture`] |
//! | pixels, text, PNG | [`image`] |
//! | several pictures with captions | [`sheet`] |
//! | a field as colours, with contour lines | [`slice`](mod@slice) |
//! | colours, and perceptually uniform maps | [`colour`], [`colour_map`] |
//!
//! # Example
//!
//! ```
//! use fracas_picture::{Camera, Colour, Mesh, Quality, Scene};
//! use glam::Vec3;
//!
//! let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::Y];
//! let triangles = vec![[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]];
//! let mut scene = Scene::new();
//! scene.add(Mesh::new(corners, triangles).colour(Colour::from_srgb(200, 90, 60)));
//! let image = scene.render(&Camera::default(), 64, 48, Quality::Draft);
//! assert_eq!((image.width(), image.height()), (64, 48));
//! ```
//!
//! The vertical axis is y, as in glTF.

pub mod camera;
pub mod colour;
pub mod colour_map;
mod depth_map;
mod font;
pub mod image;
mod light;
mod raster;
mod render;
pub mod scene;
pub mod sheet;
pub mod slice;
mod smooth;
#[cfg(test)]
mod testing;
pub mod texture;

pub use camera::Camera;
pub use colour::Colour;
pub use image::{Image, ImageError};
pub use scene::{Mesh, Quality, Scene};
pub use sheet::Sheet;
pub use slice::{Slice, slice};
pub use texture::{Texture, TextureError};
