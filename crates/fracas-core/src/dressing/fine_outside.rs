//! The outside of a fragment in a fine surface, as it grows face by face.

use std::collections::HashMap;

use glam::Vec3;

use super::fine_boundary::{FineBoundary, FinePoint, grid_index, grid_triangles};
use super::fine_points::{Name, Spot};

/// A fragment as it is drawn, in the object's frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dressed {
    /// Where its vertices are. Vertices at one place have the same bits.
    pub positions: Vec<Vec3>,
    /// Normals for each vertex.
    pub normals: Vec<Vec3>,
    /// Its triangles, cracks last.
    pub triangles: Vec<[u32; 3]>,
    /// How many of them are the outside.
    pub outer_triangles: usize,
}

/// The outside as it grows.
#[derive(Default)]
pub(super) struct Outside {
    pub dressed: Dressed,
    /// Vertices by their name, and by the part of the surface whose normal they have.
    known: HashMap<(Name, u32), u32>,
}

impl Outside {
    fn vertex(&mut self, spot: &Spot, part: u32) -> u32 {
        let dressed = &mut self.dressed;
        *self.known.entry((spot.name, part)).or_insert_with(|| {
            dressed.positions.push(spot.at.position.as_vec3());
            dressed.normals.push(spot.at.normal);
            dressed.positions.len() as u32 - 1
        })
    }

    pub fn add_whole(&mut self, fine: &FineBoundary, face: usize) {
        let (vertices, normals) = fine.grid(face);
        let part = fine.part(face);
        for triangle in grid_triangles(fine.divisions) {
            let triangle = triangle.map(|[i, j]| {
                let k = grid_index(fine.divisions, i, j);
                let spot = Spot {
                    name: Name::Fine(vertices[k]),
                    at: FinePoint {
                        position: fine.points[vertices[k] as usize],
                        normal: normals[k],
                    },
                };
                self.vertex(&spot, part)
            });
            self.dressed.triangles.push(triangle);
        }
    }

    /// A convex polygon as a fan.
    pub fn add_fan(&mut self, outline: &[Spot], part: u32) {
        let Some((first, rest)) = outline.split_first() else {
            return;
        };
        let first = self.vertex(first, part);
        for pair in rest.windows(2) {
            let [a, b] = [0, 1].map(|i| self.vertex(&pair[i], part));
            self.dressed.triangles.push([first, a, b]);
        }
    }
}
