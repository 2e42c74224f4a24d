//! Where the picture is taken from.

use glam::{Mat3, Vec3};

/// A perspective camera that frames a box, or stands at a given place.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    /// Vertical field of view, radians.
    field_of_view: f32,
    place: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    /// Far enough along the direction (towards the camera) that the box, or
    /// everything in the scene, fills the picture.
    Framing {
        bounds: Option<(Vec3, Vec3)>,
        towards: Vec3,
        zoom: f32,
    },
    At {
        eye: Vec3,
        target: Vec3,
    },
}

/// A camera set up for one picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub eye: Vec3,
    /// Rows: right, up, backward.
    pub axes: Mat3,
    /// Pixels (of the supersampled picture) a unit at depth one.
    pub focal: f32,
    pub centre: [f32; 2],
}

impl Default for Camera {
    /// Frames the whole scene from the front, a little from the right and above.
    fn default() -> Self {
        Self::framing_all(Vec3::new(0.55, 0.42, 1.0))
    }
}

impl Camera {
    /// Frames everything in the scene; `towards` points from it to the camera.
    #[must_use]
    pub fn framing_all(towards: Vec3) -> Self {
        Self::framed(None, towards)
    }

    /// Frames a box; `towards` points from it to the camera.
    #[must_use]
    pub fn framing(lo: Vec3, hi: Vec3, towards: Vec3) -> Self {
        Self::framed(Some((lo, hi)), towards)
    }

    fn framed(bounds: Option<(Vec3, Vec3)>, towards: Vec3) -> Self {
        Self {
            field_of_view: 28.0_f32.to_radians(),
            place: Place::Framing {
                bounds,
                towards: towards.try_normalize().unwrap_or(Vec3::Z),
                zoom: 1.0,
            },
        }
    }

    /// Stands at `eye` and looks at `target`.
    #[must_use]
    pub fn at(eye: Vec3, target: Vec3) -> Self {
        Self {
            field_of_view: 28.0_f32.to_radians(),
            place: Place::At { eye, target },
        }
    }

    /// Sets the vertical field of view (degrees, 5 to 120).
    #[must_use]
    pub fn field_of_view(mut self, degrees: f32) -> Self {
        self.field_of_view = degrees.clamp(5.0, 120.0).to_radians();
        self
    }

    /// Closer (above 1) or farther (below 1) than what just fits. No effect on [`Camera::at`].
    #[must_use]
    pub fn zoom(mut self, factor: f32) -> Self {
        if let Place::Framing { zoom, .. } = &mut self.place {
            *zoom = factor.max(1e-3);
        }
        self
    }

    /// Sets up for a picture of this size and for a scene with these bounds.
    pub(crate) fn view(&self, width: usize, height: usize, scene: (Vec3, Vec3)) -> View {
        let half = (self.field_of_view * 0.5) as f64;
        let tangent_up = (libm::sin(half) / libm::cos(half)) as f32;
        let tangent_right = tangent_up * width as f32 / height as f32;
        let (eye, axes) = match self.place {
            Place::At { eye, target } => (eye, axes((eye - target).normalize_or(Vec3::Z))),
            Place::Framing {
                bounds,
                towards,
                zoom,
            } => {
                let (lo, hi) = bounds.unwrap_or(scene);
                let axes = axes(towards);
                let centre = (lo + hi) * 0.5;
                let half = ((hi - lo) * 0.5).max(Vec3::splat(1e-6));
                // The corner that needs the greatest distance decides.
                let mut distance = 0.0_f32;
                for corner in 0..8 {
                    let sign = |bit: u32| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
                    let p = axes * (half * Vec3::new(sign(0), sign(1), sign(2)));
                    distance = distance
                        .max(p.x.abs() / tangent_right + p.z)
                        .max(p.y.abs() / tangent_up + p.z);
                }
                const MARGIN: f32 = 1.03;
                (centre + towards * (distance * MARGIN / zoom), axes)
            }
        };
        View {
            eye,
            axes,
            focal: height as f32 * 0.5 / tangent_up,
            centre: [width as f32 * 0.5, height as f32 * 0.5],
        }
    }
}

/// Rows right, up, backward of a camera that looks along `-backward`.
fn axes(backward: Vec3) -> Mat3 {
    let up = if backward.y.abs() > 0.999 {
        Vec3::NEG_Z * backward.y.signum()
    } else {
        Vec3::Y
    };
    let right = up.cross(backward).normalize();
    Mat3::from_cols(right, backward.cross(right), backward).transpose()
}

impl View {
    /// To camera space: x right, y up, z **forward** (depth).
    pub fn to_camera(self, p: Vec3) -> Vec3 {
        let q = self.axes * (p - self.eye);
        Vec3::new(q.x, q.y, -q.z)
    }

    /// Camera space to pixels; the depth must be positive.
    pub fn to_pixels(self, camera: Vec3) -> [f32; 2] {
        [
            self.centre[0] + camera.x / camera.z * self.focal,
            self.centre[1] - camera.y / camera.z * self.focal,
        ]
    }

    /// The direction (not normalised, unit depth) through a pixel.
    pub fn ray(self, x: f32, y: f32) -> Vec3 {
        let local = Vec3::new(
            (x - self.centre[0]) / self.focal,
            (self.centre[1] - y) / self.focal,
            -1.0,
        );
        self.axes.transpose() * local
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_framed_box_is_inside_the_picture_and_fills_it() {
        for towards in [Vec3::Z, Vec3::Y, Vec3::new(1.0, 0.5, -2.0), Vec3::NEG_Y] {
            let (lo, hi) = (Vec3::new(-1.0, 0.0, 2.0), Vec3::new(3.0, 1.0, 4.0));
            let view = Camera::framing(lo, hi, towards).view(300, 200, (lo, hi));
            let mut reach = 0.0_f32;
            for corner in 0..8_u32 {
                let pick = |bit: u32| if corner >> bit & 1 == 0 { lo } else { hi };
                let c = view.to_camera(Vec3::new(pick(0).x, pick(1).y, pick(2).z));
                assert!(c.z > 0.0);
                let [x, y] = view.to_pixels(c);
                reach = reach
                    .max((x - 150.0).abs() / 150.0)
                    .max((y - 100.0).abs() / 100.0);
            }
            assert!((0.6..1.0).contains(&reach), "{towards}: {reach}");
        }
    }

    #[test]
    fn a_ray_goes_back_to_its_pixel() {
        let view = Camera::default().view(64, 48, (Vec3::ZERO, Vec3::ONE));
        let p = view.eye + view.ray(10.5, 20.25) * 3.0;
        let [x, y] = view.to_pixels(view.to_camera(p));
        assert!((x - 10.5).abs() < 1e-3 && (y - 20.25).abs() < 1e-3);
    }
}
