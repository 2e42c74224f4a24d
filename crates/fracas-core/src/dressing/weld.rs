//! Points that are the same up to rounding become one.

use std::collections::HashMap;

use glam::DVec3;

/// Points found so far, by the cells of a grid. Asked by place only: the order of the
/// map plays no part.
#[derive(Clone, Debug)]
pub(super) struct Weld {
    tolerance: f64,
    cells: HashMap<[i64; 3], Vec<u32>>,
    points: Vec<DVec3>,
}

impl Weld {
    pub fn new(tolerance: f64) -> Self {
        Self {
            tolerance,
            cells: HashMap::new(),
            points: Vec::new(),
        }
    }

    pub fn point(&self, index: u32) -> DVec3 {
        self.points[index as usize]
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    fn cell(&self, p: DVec3) -> [i64; 3] {
        (p / (4.0 * self.tolerance))
            .to_array()
            .map(|x| x.floor() as i64)
    }

    /// The point at this place, or a new one.
    pub fn index(&mut self, p: DVec3) -> u32 {
        let reach = DVec3::splat(self.tolerance);
        let (low, high) = (self.cell(p - reach), self.cell(p + reach));
        let mut best: Option<(f64, u32)> = None;
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    for &i in self.cells.get(&[x, y, z]).into_iter().flatten() {
                        let distance = self.points[i as usize].distance(p);
                        if distance <= self.tolerance && best.is_none_or(|b| distance < b.0) {
                            best = Some((distance, i));
                        }
                    }
                }
            }
        }
        if let Some((_, index)) = best {
            return index;
        }
        let index = self.points.len() as u32;
        self.points.push(p);
        self.cells.entry(self.cell(p)).or_default().push(index);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_points_are_one_and_far_points_are_not() {
        let mut weld = Weld::new(1e-6);
        let a = weld.index(DVec3::new(4e-6, 0.0, -1.0));
        assert_eq!(weld.index(DVec3::new(4e-6 - 9e-7, 0.0, -1.0)), a);
        assert_ne!(weld.index(DVec3::new(6e-6, 0.0, -1.0)), a);
        assert_eq!(weld.len(), 2);
    }
}
