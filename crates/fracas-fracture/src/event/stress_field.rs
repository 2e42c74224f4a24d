//! The stress of a moment, node by node, computed where it is asked for.

use crate::modes::Modes;
use crate::principal::{Stress, Tension, tension};
use crate::stress_modes::{LANES, lane};

/// Stresses on demand.
pub(super) struct StressField<'a> {
    pub(super) modes: &'a Modes,
    pub(super) q: &'a [f32],
    pub(super) places: &'a [u32],
    pub(super) stamps: &'a mut [u32],
    pub(super) stamp: u32,
    pub(super) stresses: &'a mut [Stress],
    pub(super) tensions: &'a mut [(u32, Tension)],
}

impl StressField<'_> {
    pub(super) fn tension(&mut self, n: u32) -> Tension {
        let (stamp, known) = self.tensions[n as usize];
        if stamp == self.stamp {
            return known;
        }
        let found = tension(&self.at(n));
        self.tensions[n as usize] = (self.stamp, found);
        found
    }

    pub(super) fn at(&mut self, n: u32) -> Stress {
        let i = n as usize;
        if self.stamps[i] != self.stamp {
            let group = self.places[i] as usize / LANES;
            let at = self.modes.stress().at_group(group, self.q);
            for l in 0..LANES {
                if let Some(&m) = self.modes.nodes().get(group * LANES + l) {
                    self.stamps[m as usize] = self.stamp;
                    self.stresses[m as usize] = lane(&at, l);
                }
            }
        }
        self.stresses[i]
    }
}
