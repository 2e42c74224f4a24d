//! The normal of a contact, chosen against the surface around the point.
//!
//! Pieces that have just parted touch exactly: a point of A lies on B's surface,
//! their edges coincide, and the direction of B's distance field there is rounding
//! noise. Taken as it is, it makes sideways contacts that glue the pieces together.
//! So the point's own feature decides:
//! 1. Candidates are the normals of B's faces within a narrow band of the closest
//!    distance, and the field's own direction only where the distance is clear.
//! 2. *Opposed*: the candidate most opposed to the point's normal counts, if it is
//!    opposed enough (face points strictly, edges and vertices loosely). *Cone*:
//!    moreover it must not point against any tangent of the feature: A's surface may
//!    not leave B's face on the wrong side.
//! 3. The distance is that to the chosen face's plane, kept within the band of the
//!    field's distance.
//! 4. Nothing acceptable: a deep point takes the field's direction, a shallow one is
//!    no contact.
//!
//! A choice also says how far the point may move until the rules could choose otherwise
//! (`Choice::margin`), so that a contact at rest is not asked again (`contact_cache.rs`): a face
//! leaves or enters the band only when the point has moved by half of what it is away
//! from the band's rim.
//!
//! **Deviations** from the experiments that the rules come from: points deeper than
//! the fall-back depth, points inside their own body, and points where the field's
//! direction is clearly opposed to the point's normal take the field's direction at
//! once; lengths scale with the object.

use glam::Vec3;

use super::feature::{Feature, FeatureKind};
use super::partner::{Around, NearFace, Sample};
use crate::Pose;

/// A direction so nearly opposed to the point's normal (11 degrees) needs no rival:
/// noise does not point there by chance often enough to matter, and if it does, it
/// does no harm.
const CLEARLY_OPPOSED: f32 = -0.98;

/// From so many bands away on, the field's direction has no rival: the parts of the
/// surface that are nearly as near look the same way, or the point is before an edge,
/// where only the field knows which way it will pass.
const FAR_BANDS: f32 = 8.0;

/// Which rule accepts a normal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NormalRule {
    /// The field's direction as it is; right away from fresh cracks, and fastest.
    Field,
    /// The most opposed face normal.
    #[default]
    Opposed,
    /// The most opposed face normal that the feature's tangents allow.
    Cone,
}

/// How normals are chosen. Lengths are in the unit of the bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalSettings {
    /// The rule.
    pub rule: NormalRule,
    /// Faces this much farther than the closest one are candidates too.
    pub band: f32,
    /// Distance from which on the field's direction is no noise.
    pub clear_distance: f32,
    /// Depth from which on the field's direction counts if no candidate does.
    pub fall_back_depth: f32,
    /// Largest cosine between candidate and a face point's normal.
    pub face_cosine: f32,
    /// The same for points on edges and vertices.
    pub edge_cosine: f32,
    /// Smallest cosine between candidate and any tangent (cone rule).
    pub tangent_cosine: f32,
}

impl NormalSettings {
    /// The lengths that were found good on a cube of side 1 m (radius 0.87 m): 1 mm,
    /// 0.5 mm and 3 mm, scaled to an object's radius.
    #[must_use]
    pub fn for_radius(object_radius: f32) -> Self {
        let millimetre = object_radius / 866.0;
        Self {
            rule: NormalRule::Opposed,
            band: millimetre,
            clear_distance: 0.5 * millimetre,
            fall_back_depth: 3.0 * millimetre,
            face_cosine: -0.8,
            edge_cosine: -0.2,
            tangent_cosine: -0.2,
        }
    }

    /// The field's direction as it is.
    #[must_use]
    pub fn field() -> Self {
        Self {
            rule: NormalRule::Field,
            ..Self::for_radius(1.0)
        }
    }
}

/// What was chosen for a point, and for how long it holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// Distance and normal of the contact, or `None` when the point touches sideways.
    pub contact: Option<Sample>,
    /// The choice of face is the same as long as the point has moved by less than this.
    /// Where the field's own direction was chosen, that direction is off by no more than
    /// the way that the point has come, over its distance.
    pub margin: f32,
}

impl NormalSettings {
    /// What [`choose_normal`] wants to know of the surface: twice the band, for what might
    /// enter it.
    pub(super) fn around(&self) -> Around {
        Around {
            band: 2.0 * self.band,
            shallow: self.fall_back_depth,
        }
    }
}

/// Chooses the contact's distance and normal, given the faces that
/// [`NormalSettings::around`] asks for.
pub(super) fn choose_normal(
    feature: impl FnOnce() -> Feature,
    pose: &Pose,
    sample: &Sample,
    settings: &NormalSettings,
    faces: &[NearFace],
) -> Choice {
    let mut longest = 0.5 * settings.band;
    if settings.rule != NormalRule::Field {
        // At the fall-back depth another rule begins.
        longest = longest.min((sample.distance + settings.fall_back_depth).abs());
    }
    let as_the_field_says = Choice {
        contact: Some(*sample),
        margin: longest,
    };
    let deep = sample.distance < -settings.fall_back_depth;
    if settings.rule == NormalRule::Field || deep {
        return as_the_field_says;
    }
    let feature = feature();
    if feature.kind == FeatureKind::Interior {
        return as_the_field_says;
    }
    let outward = pose.direction(feature.normal);
    let limit = match feature.kind {
        FeatureKind::Face => settings.face_cosine,
        _ => settings.edge_cosine,
    };
    if sample.normal.dot(outward) <= CLEARLY_OPPOSED
        && allowed(&feature, pose, sample.normal, settings)
    {
        return as_the_field_says;
    }
    let rim = sample.distance.abs() + settings.band;
    let mut chosen = None;
    let mut least = limit;
    let mut margin = longest;
    // Among faces in the band the most opposed; of equally opposed ones the first.
    let near = sample.distance < FAR_BANDS * settings.band;
    let acceptable =
        |normal: Vec3, cosine: f32| cosine <= limit && allowed(&feature, pose, normal, settings);
    for face in faces.iter().filter(|face| near && face.distance <= rim) {
        let cosine = face.normal.dot(outward);
        if (chosen.is_none() || cosine < least) && acceptable(face.normal, cosine) {
            let band = sample.distance - settings.band..=sample.distance + settings.band;
            chosen = Some(Sample {
                distance: face.plane_distance.clamp(*band.start(), *band.end()),
                normal: face.normal,
            });
            least = cosine;
            margin = longest.min(0.5 * (rim - face.distance));
        }
    }
    // Those that may enter the band and would then be taken.
    for face in faces.iter().filter(|face| near && face.distance > rim) {
        let cosine = face.normal.dot(outward);
        if (chosen.is_none() || cosine < least) && acceptable(face.normal, cosine) {
            margin = margin.min(0.5 * (face.distance - rim));
        }
    }
    let clear = sample.distance.abs() - settings.clear_distance;
    let cosine = sample.normal.dot(outward);
    if clear > 0.0 {
        if (chosen.is_none() || cosine < least) && acceptable(sample.normal, cosine) {
            return as_the_field_says;
        }
    } else if chosen.is_none() {
        // Farther away or deeper, the field's direction will have a say.
        margin = margin.min(-clear);
    }
    Choice {
        contact: chosen,
        margin,
    }
}

fn allowed(feature: &Feature, pose: &Pose, normal: Vec3, settings: &NormalSettings) -> bool {
    if settings.rule != NormalRule::Cone {
        return true;
    }
    if feature.kind == FeatureKind::Face {
        // All directions across the normal are tangents.
        let outward = pose.direction(feature.normal);
        let across = (normal - outward * normal.dot(outward)).length();
        return -across >= settings.tangent_cosine && normal.dot(outward) < 0.0;
    }
    feature
        .tangents()
        .iter()
        .all(|&t| normal.dot(pose.direction(t)) >= settings.tangent_cosine)
}

#[cfg(test)]
mod tests {
    use super::super::partner::{BoxShape, Partner as _};
    use super::*;

    fn choose(rule: NormalRule, kind: FeatureKind, outward: Vec3, p: Vec3) -> Option<Sample> {
        let settings = NormalSettings {
            rule,
            ..NormalSettings::for_radius(0.866)
        };
        let (partner, mut faces) = (BoxShape::new(Vec3::ONE), Vec::new());
        let sample = partner.touch(p, 0.1, settings.around(), &mut faces)?;
        let feature = Feature::new(kind, outward);
        choose_normal(|| feature, &Pose::IDENTITY, &sample, &settings, &faces).contact
    }

    #[test]
    fn a_face_point_on_a_shared_edge_takes_the_opposed_face_and_not_the_other() {
        // On the box' edge between +x and +y, seen by a body above (+y).
        let p = Vec3::new(1.0, 1.0, 0.3);
        for rule in [NormalRule::Opposed, NormalRule::Cone] {
            let contact = choose(rule, FeatureKind::Face, Vec3::NEG_Y, p).unwrap();
            assert_eq!(contact.normal, Vec3::Y);
            assert!(contact.distance.abs() < 1e-6);
        }
    }

    #[test]
    fn sideways_touches_are_no_contacts() {
        let p = Vec3::new(1.0, 0.2, 0.3);
        assert_eq!(
            choose(NormalRule::Opposed, FeatureKind::Face, Vec3::NEG_Y, p),
            None
        );
        assert!(choose(NormalRule::Field, FeatureKind::Face, Vec3::NEG_Y, p).is_some());
    }

    #[test]
    fn a_deep_point_always_has_a_way_out() {
        let p = Vec3::new(0.9, 0.2, 0.3);
        let contact = choose(NormalRule::Opposed, FeatureKind::Face, Vec3::X, p).unwrap();
        assert_eq!(contact.normal, Vec3::X);
    }
}
