//! What is kept of a point between queries.

use glam::Vec3;

use super::normal_choice::Choice;
use super::partner::Sample;

/// A point that is, or may come, within the tolerance.
#[derive(Clone, Copy, Debug)]
pub(super) struct CachedPoint {
    pub point: u32,
    /// Its true signed distance at `at` was not less than this.
    pub bound: f32,
    /// Where it was, in the partner's frame.
    pub at: Vec3,
    /// What it was then.
    pub kept: Kept,
}

/// A contact, or a touch that was none, that holds as long as its point stays near the
/// place where it was asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    /// Zero where there is no contact.
    pub normal: Vec3,
    pub distance: f32,
    /// How far the point may move; negative where nothing is kept.
    pub margin: f32,
}

impl Kept {
    pub const NOTHING: Self = Self {
        normal: Vec3::ZERO,
        distance: 0.0,
        margin: -1.0,
    };

    pub fn new(choice: Choice) -> Self {
        let (normal, distance) = choice
            .contact
            .map_or((Vec3::ZERO, 0.0), |sample| (sample.normal, sample.distance));
        Self {
            normal,
            distance,
            margin: choice.margin,
        }
    }

    /// What holds for the point at `p` that was asked at `at`: the contact's plane, or
    /// none; `None` where it must be asked again.
    #[inline]
    pub fn at(&self, at: Vec3, p: Vec3) -> Option<Option<Sample>> {
        let moved = p - at;
        if self.margin < 0.0 || moved.length_squared() >= self.margin * self.margin {
            return None;
        }
        Some((self.normal != Vec3::ZERO).then(|| Sample {
            distance: self.distance + self.normal.dot(moved),
            normal: self.normal,
        }))
    }
}

/// A list that is void, made ready to be looked up by point. Between queries it holds
/// nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct VoidList {
    list: Vec<CachedPoint>,
    /// Per point of the tree: its place in the list, plus one.
    places: Vec<u32>,
}

impl VoidList {
    pub fn fill(&mut self, list: &[CachedPoint], points: usize) {
        self.list.clear();
        self.list.extend_from_slice(list);
        if self.places.len() < points {
            self.places.resize(points, 0);
        }
        for (i, cached) in self.list.iter().enumerate() {
            self.places[cached.point as usize] = i as u32 + 1;
        }
    }

    pub fn clear(&mut self) {
        for cached in self.list.drain(..) {
            self.places[cached.point as usize] = 0;
        }
    }

    #[inline]
    pub fn get(&self, point: u32) -> Option<CachedPoint> {
        let place = *self.places.get(point as usize)?;
        (place > 0).then(|| self.list[place as usize - 1])
    }
}
