//! What a pair remembers as numbers of 32 bits, to be saved with a world.
//!
//! Every field is named, so that a field that is added cannot be forgotten here.

use fracas_core::sphere_tree::{PairState, SeparatingAxis};
use glam::{Mat3, Vec3};
use parry3d::math::{Pose, Rotation};

use super::PairMemory;

/// Which of the optional parts there are.
const NOT_APART: u32 = 1;
const ASKED: u32 = 2;

impl PairMemory {
    /// Appends all of it.
    pub(crate) fn save(&self, out: &mut Vec<u32>) {
        let Self {
            parts,
            axis,
            not_apart,
            asked,
        } = self;
        let mut put = |numbers: &[f32]| out.extend(numbers.iter().map(|x| x.to_bits()));
        put(&axis.direction().to_array());
        let flag = |there: bool, flag: u32| if there { flag } else { 0 };
        out.push(flag(not_apart.is_some(), NOT_APART) | flag(asked.is_some(), ASKED));
        let mut put = |numbers: &[f32]| out.extend(numbers.iter().map(|x| x.to_bits()));
        if let Some(pose) = not_apart {
            put(&pose.rotation.to_cols_array());
            put(&pose.translation.to_array());
        }
        if let Some((pose, reach)) = asked {
            put(&pose.rotation.to_array());
            put(&pose.translation.to_array());
            put(&[*reach]);
        }
        for state in parts.iter().flatten() {
            state.save(out);
        }
    }

    /// Reads what [`PairMemory::save`] wrote, to the last number.
    pub(crate) fn load(mut words: &[u32]) -> Option<Self> {
        let [x, y, z] = floats(&mut words)?;
        let direction = Vec3::new(x, y, z);
        // A gap along anything else would be no distance.
        if direction != Vec3::ZERO && !direction.is_normalized() {
            return None;
        }
        let axis = SeparatingAxis::of_direction(direction);
        let [flags, rest @ ..] = words else {
            return None;
        };
        let flags = *flags;
        words = rest;
        let mut not_apart = None;
        if flags & NOT_APART != 0 {
            not_apart = Some(fracas_core::Pose {
                rotation: Mat3::from_cols_array(&floats(&mut words)?),
                translation: Vec3::from_array(floats(&mut words)?),
            });
        }
        let mut asked = None;
        if flags & ASKED != 0 {
            let turn = Rotation::from_array(floats(&mut words)?);
            let place = Vec3::from_array(floats(&mut words)?);
            let [reach] = floats(&mut words)?;
            asked = Some((Pose::from_parts(place, turn), reach));
        }
        let mut parts = Vec::new();
        while !words.is_empty() {
            parts.push([PairState::load(&mut words)?, PairState::load(&mut words)?]);
        }
        Some(Self {
            parts,
            axis,
            not_apart,
            asked,
        })
    }
}

fn floats<const N: usize>(words: &mut &[u32]) -> Option<[f32; N]> {
    let (first, rest) = words.split_first_chunk::<N>()?;
    *words = rest;
    Some(first.map(f32::from_bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_that_is_no_direction_is_refused() {
        let mut words = Vec::new();
        PairMemory::default().save(&mut words);
        assert!(PairMemory::load(&words).is_some(), "none is known yet");
        for (x, is_one) in [(1.0, true), (-1.0, true), (2.0, false), (f32::NAN, false)] {
            words[0] = f32::to_bits(x);
            assert_eq!(PairMemory::load(&words).is_some(), is_one, "{x}");
        }
    }
}
