//! The real surface of a fragment near a point: `touch`, `nearest` and `faces_near`.
//!
//! Each is one search in the tree of the fragment's own faces (`own_faces.rs`).
//!
//! The paper leaves these queries out; a positive tolerance needs them.
//!
//! **Guarantee**: exact up to rounding.

use glam::Vec3;

use super::locate::Location;
use super::own_faces::{Face, SurfaceTree};
use super::query::{FragmentDistance, NOISE, Penetration, SignedDistance};
use crate::fragment_surface::FaceKind;
use crate::primitives::point_triangle::{to_quad, to_triangle};

/// The surface nearest to a point outside a fragment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Distance to the surface, not negative.
    pub distance: f32,
    /// Unit, from the surface to the point; the face's normal where they touch.
    pub normal: Vec3,
    /// The closest point of the surface.
    pub point: Vec3,
    /// The outward unit normal of the face it lies on.
    pub face_normal: Vec3,
    /// Whether that face is outer or a crack.
    pub kind: FaceKind,
}

/// A face of a fragment's real surface near a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearFace {
    /// Its outward unit normal.
    pub normal: Vec3,
    /// From the point to the face, not negative.
    pub distance: f32,
    /// From the face's plane to the point along the normal: negative inside.
    pub plane_distance: f32,
    /// Whether it is outer or a crack.
    pub kind: FaceKind,
    /// The tetrahedron in which it lies.
    pub tet: u32,
}

/// How much of the surface around a point [`FragmentDistance::touch`] tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Around {
    /// Faces this much farther than the closest one are told.
    pub band: f32,
    /// Down to this depth.
    pub shallow: f32,
}

/// Cosine between the way to a face and its normal from which on the closest point is
/// not on the face's rim: there the way is the normal, up to rounding.
const ABOVE: f32 = 0.9999;

/// A face within the limit, and the way to it.
#[derive(Clone, Copy)]
struct Met<'a> {
    to: Vec3,
    face: &'a Face,
}

impl<'a> FragmentDistance<'a> {
    /// The exact distance from `p`, a point outside the fragment, to its surface,
    /// if it is at most `max`. Points inside other fragments count as outside.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn nearest(&self, p: Vec3, max: f32) -> Option<Nearest> {
        if !self.sphere_may_touch(p, max) {
            return None;
        }
        self.nearest_in_reach(p, max)
    }

    /// The same when the sphere test was done.
    pub(crate) fn nearest_in_reach(&self, p: Vec3, max: f32) -> Option<Nearest> {
        let mut best = None;
        self.for_each_face(p, max, |met, limit| {
            *limit = met.to.length_squared();
            best = Some(met);
        });
        let met: Met<'_> = best?;
        let distance = met.to.length();
        let face_normal = met.face.normal;
        Some(Nearest {
            distance,
            normal: if distance > NOISE * self.field.edge {
                -met.to / distance
            } else {
                face_normal
            },
            point: p + met.to,
            face_normal,
            kind: self.kind_of(met.face),
        })
    }

    /// The signed distance of `p`, if `p` is inside or nearer than `max`, and in the same
    /// search the faces of the real surface that are farther than the closest one by no
    /// more than `band`. `faces` is cleared first, and stays empty where `p` is deeper
    /// inside than `shallow`. Right for any point; cheap only for those that
    /// [`Self::sphere_may_touch`] lets through.
    ///
    /// Down to that depth the distance is exact; deeper it is that of
    /// [`Self::penetration`], whose direction turns smoothly.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn touch(
        &self,
        p: Vec3,
        max: f32,
        Around { band, shallow }: Around,
        faces: &mut Vec<NearFace>,
    ) -> Option<SignedDistance> {
        faces.clear();
        // Where only what is inside counts, most points are settled by that.
        let inside = (max <= 0.0).then(|| self.inside_unless_free(p, 0.0));
        if inside == Some(None) {
            return None;
        }
        let reach = max.max(shallow);
        let mut best: Option<Met<'_>> = None;
        let mut least = f32::INFINITY;
        self.for_each_face(p, reach, |met, limit| {
            let distance = met.to.length();
            if distance < least {
                (best, least) = (Some(met), distance);
                *limit = limit.min((distance + band) * (distance + band));
            }
            faces.push(self.near_face(&met, p, distance));
        });
        let Some(best) = best else {
            let at = inside.unwrap_or_else(|| self.inside_unless_free(p, reach))?;
            return Some(self.deep(&at));
        };
        let (to, normal) = (best.to, best.face.normal);
        self.settle(
            p,
            max,
            Around { band, shallow },
            [to, normal],
            inside,
            faces,
        )
    }

    /// Depth and way out, as [`Self::penetration`] tells them.
    fn deep(&self, at: &Location) -> SignedDistance {
        let Penetration { depth, normal } = self.penetration(at);
        SignedDistance {
            distance: -depth,
            normal,
        }
    }

    /// The signed distance of a point by the way to the closest face, that face's normal, and
    /// all faces that are nearly as close, in `faces`; what is too far is taken out of it.
    /// Where the point is, may be known already.
    #[inline]
    pub(super) fn settle(
        &self,
        p: Vec3,
        max: f32,
        Around { band, shallow }: Around,
        [to, face_normal]: [Vec3; 2],
        inside: Option<Option<Location>>,
        faces: &mut Vec<NearFace>,
    ) -> Option<SignedDistance> {
        let least = to.length();
        // Straight above the inside of a face its plane knows the side; at a rim the planes of
        // all faces that meet there, where they agree; else only the tetrahedra do.
        let height = -to.dot(face_normal);
        let is_inside = match &inside {
            Some(known) => known.is_some(),
            None if height.abs() > ABOVE * least => height < 0.0,
            None => self
                .side_of_all(faces, least, band)
                .unwrap_or_else(|| self.inside(p).is_some()),
        };
        if !is_inside && least >= max {
            faces.clear();
            return None;
        }
        if is_inside
            && least > shallow
            && let Some(at) = inside.unwrap_or_else(|| self.inside(p))
        {
            faces.clear();
            return Some(self.deep(&at));
        }
        faces.retain(|face| face.distance <= least + band);
        let sign = if is_inside { -1.0 } else { 1.0 };
        Some(SignedDistance {
            distance: sign * least,
            normal: if least > NOISE * self.field.edge {
                to * (-sign / least)
            } else {
                face_normal
            },
        })
    }

    /// Whether a point is inside, if it is on the same side of all faces that meet where the
    /// surface is closest to it.
    ///
    /// That is enough: the way to the closest place is free, and beside its end the first
    /// face that one comes to is one of those, seen from the side on which the point is.
    #[inline]
    fn side_of_all(&self, faces: &[NearFace], least: f32, band: f32) -> Option<bool> {
        let noise = NOISE * self.field.edge;
        // Else some of them may not have been told.
        if band <= noise {
            return None;
        }
        let (mut above, mut below) = (false, false);
        for face in faces.iter().filter(|face| face.distance <= least + noise) {
            above |= face.plane_distance > -noise;
            below |= face.plane_distance < noise;
        }
        (above != below).then_some(below)
    }

    /// Where `p` is in the fragment, when none of its faces is nearer to `p` than `free`.
    ///
    /// What is outside and can be reached from `p` without crossing a face tells the side
    /// without a search among the tetrahedra: one read for a point in a cell that is not
    /// the fragment's, one for a point before the object.
    #[inline]
    pub(crate) fn inside_unless_free(&self, p: Vec3, free: f32) -> Option<Location> {
        let is_outside = !self.field.occupancy.may_touch(self.cells(), p, 0.0)
            || self.field.outer_surface.is_outside(p, free);
        if is_outside { None } else { self.inside(p) }
    }

    /// The faces of the fragment's real surface within `max` of `p`, wherever `p`
    /// is. `out` is cleared first. Order is fixed but has no meaning.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn faces_near(&self, p: Vec3, max: f32, out: &mut Vec<NearFace>) {
        out.clear();
        if !self.sphere_may_touch(p, max) {
            return;
        }
        self.for_each_face(p, max, |met, _| {
            out.push(self.near_face(&met, p, met.to.length()));
        });
    }

    /// Corners of the fragment's surface that lie neither at a node nor on an edge of the
    /// mesh: where cracks meet. With nodes and cut edges they are all corners.
    #[must_use]
    pub fn junctions(&self) -> &'a [Vec3] {
        self.surface_tree().junctions()
    }

    /// The faces in the tree of this fragment; making it now if nobody has asked before.
    fn surface_tree(&self) -> &'a SurfaceTree {
        let faces = &self.view.faces;
        faces.tree(&self.field.features, self.fragments, self.id)
    }

    /// Calls `visit` with the faces of the real surface within the limit, a squared
    /// distance that `visit` may lower.
    #[inline]
    fn for_each_face(&self, p: Vec3, max: f32, mut visit: impl FnMut(Met<'a>, &mut f32)) {
        if max.is_nan() || max < 0.0 {
            return;
        }
        let mut limit = max * max;
        let (features, mesh) = (&self.field.features, self.fragments.mesh());
        let tree = self.surface_tree();
        let outer_count = features.outer_count();
        tree.search(p, &mut limit, |face, limit| {
            if face.is_beyond(p, *limit) {
                return;
            }
            let to = if let Some(quad) = tree.clipped(face) {
                to_quad(p, *quad)
            } else if (face.feature as usize) < outer_count {
                to_triangle(p, features.outer_corners(mesh, face.feature as usize))
            } else {
                to_quad(p, *features.crack(face.feature))
            };
            // NaN is not within it.
            if to.length_squared() <= *limit {
                visit(Met { to, face }, limit);
            }
        });
    }

    fn near_face(&self, met: &Met<'_>, p: Vec3, distance: f32) -> NearFace {
        NearFace {
            normal: met.face.normal,
            distance,
            plane_distance: met.face.height(p),
            kind: self.kind_of(met.face),
            tet: met.face.tet,
        }
    }

    fn kind_of(&self, face: &Face) -> FaceKind {
        if (face.feature as usize) < self.field.features.outer_count() {
            FaceKind::Outer
        } else {
            FaceKind::Crack
        }
    }
}
