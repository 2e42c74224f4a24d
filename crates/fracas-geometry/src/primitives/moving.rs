//! What the continuous tests take: points in motion.

use glam::DVec3;

/// A point that moves linearly over the step: where it starts and where it ends.
pub type Moving = [DVec3; 2];
