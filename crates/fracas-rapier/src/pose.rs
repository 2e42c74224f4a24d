//! Poses of the engine and of the library.

use glam::Mat3;
use parry3d::math::Pose;

/// The engine's pose as the library has it.
pub(crate) fn to_pose(pose: &Pose) -> fracas_core::Pose {
    fracas_core::Pose {
        rotation: Mat3::from_quat(pose.rotation),
        translation: pose.translation,
    }
}
