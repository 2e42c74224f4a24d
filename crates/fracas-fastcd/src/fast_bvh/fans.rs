//! Neighbours that share no more than the mesh says, a whole fan at a time.
//!
//! Most pairs of triangles that a traversal finds are neighbours: their boxes always
//! overlap. The fan of a vertex c is the set S of triangles around it. If the edges at
//! c are all linked, the boundary of S is made of the edges opposite c, and "such an
//! edge runs counter-clockwise around c, seen along V" says the same as "its triangle
//! has a normal N with N . V > 0". So the theorem of [`super::culling`] becomes
//!
//! 1. every edge at c is linked to one neighbour,
//! 2. every normal in the fan, all Bernstein coefficients over a step, has a positive
//!    product with V, the sum of the normals, and
//! 3. a ray from c, as seen, crosses one opposite edge,
//!
//! and then no two triangles of the fan share more than the mesh says, at any time of
//! the step. Two passes over the triangles answer it for all vertices, instead of one
//! geometric test for each of the fifteen pairs of a fan of six.
//!
//! **Rounding.** Margins of (2) as in [`super::culling`]. In (3) a corner of the ring
//! is below or above the ray by one product that both its triangles compute alike.
//! Each turn around c has a corner that is surely below and one that is surely above,
//! because an opposite edge that passes c so closely would have no certain normal. So
//! rounding can only add crossings, and a fan that winds twice is never cleared.

use std::ops::Range;

use glam::{DVec3, Vec3};

use super::cone::SMALLEST_COSINE;
use super::fans_state::{Fans, Homes};
use super::ids::NONE;
use super::mesh::Mesh;
use super::threads::each;
use super::tree::{Leaf, Tree};

/// Not clear, whatever the crossings.
const UNCLEAR: u8 = u8::MAX;

/// Places that one task looks at.
const TASK: usize = 1024;
/// Vertices of the border that one task looks at.
const BORDER_TASK: usize = 128;

impl Homes {
    fn find(&mut self, leaves: &[Leaf], vertices: usize) {
        const UNSEEN: u32 = NONE - 1;
        self.home.clear();
        self.home.resize(vertices, UNSEEN);
        for (place, leaf) in leaves.iter().enumerate() {
            let task = (place / TASK) as u32;
            for v in leaf.corners {
                let home = &mut self.home[v as usize];
                *home = if *home == UNSEEN || *home == task {
                    task
                } else {
                    NONE
                };
            }
        }
        self.list_border(leaves);
        self.known = true;
    }

    /// Lists the triangles around each vertex that no task has to itself.
    fn list_border(&mut self, leaves: &[Leaf]) {
        let corners = || {
            let of = |(place, leaf): (usize, &Leaf)| {
                let corners = leaf.corners.into_iter().enumerate();
                corners.map(move |(k, v)| (v, 4 * place as u32 + k as u32))
            };
            leaves.iter().enumerate().flat_map(of)
        };
        // The number of a vertex in the list, while the lists are made.
        let mut number = vec![NONE; self.home.len()];
        let mut counts: Vec<u32> = Vec::new();
        self.border.clear();
        for (v, _) in corners().filter(|c| self.home[c.0 as usize] == NONE) {
            let at = &mut number[v as usize];
            if *at == NONE {
                *at = self.border.len() as u32;
                self.border.push(v);
                counts.push(0);
            }
            counts[*at as usize] += 1;
        }
        self.starts.clear();
        let mut next = 0;
        for count in counts {
            self.starts.push(next);
            next += count;
        }
        self.around.clear();
        self.around.resize(next as usize, 0);
        let mut ends = self.starts.clone();
        for (v, corner) in corners().filter(|c| self.home[c.0 as usize] == NONE) {
            let end = &mut ends[number[v as usize] as usize];
            self.around[*end as usize] = corner;
            *end += 1;
        }
        self.starts.push(next);
    }

    /// The triangles around a vertex of the border, by number.
    fn around(&self, number: usize) -> &[u32] {
        &self.around[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}

/// The vertices that a task looks at: all, or those of a home.
#[derive(Clone, Copy)]
struct Wanted<'a>(Option<(&'a [u32], u32)>);

impl Wanted<'_> {
    #[inline(always)]
    fn has(self, vertex: u32) -> bool {
        self.0
            .is_none_or(|(home, task)| home[vertex as usize] == task)
    }
}

/// Places that are not of bodies that are clear.
struct Judged {
    ranges: Vec<Range<usize>>,
}

impl Judged {
    /// Calls `look` for each place and the corners that are to be looked at there.
    fn visit(&self, homes: Option<&Homes>, look: impl Fn(usize, Wanted) + Sync) {
        let Some(homes) = homes else {
            for place in self.ranges.iter().cloned().flatten() {
                look(place, Wanted(None));
            }
            return;
        };
        let after = |place: usize| self.ranges.partition_point(|r| r.end <= place);
        let end = self.ranges.last().map_or(0, |r| r.end);
        let mut tasks: Vec<usize> = (0..end.div_ceil(TASK)).collect();
        each(true, &mut tasks, |task, _| {
            let (from, to) = (task * TASK, (task + 1) * TASK);
            let ranges = self.ranges[after(from)..].iter();
            for range in ranges.take_while(|r| r.start < to) {
                for place in range.start.max(from)..range.end.min(to) {
                    look(place, Wanted(Some((&homes.home, task as u32))));
                }
            }
        });
    }

    /// Calls `look` for each vertex of the border that is to be looked at, with what is around
    /// it: of one body, so either all of it or nothing.
    fn visit_border(&self, homes: &Homes, look: impl Fn(u32, &[u32]) + Sync) {
        let mut tasks: Vec<&[u32]> = homes.border.chunks(BORDER_TASK).collect();
        each(true, &mut tasks, |task, vertices| {
            for (i, &v) in vertices.iter().enumerate() {
                let around = homes.around(task * BORDER_TASK + i);
                let place = (around[0] / 4) as usize;
                let after = self.ranges.partition_point(|r| r.end <= place);
                if self.ranges.get(after).is_some_and(|r| r.contains(&place)) {
                    look(v, around);
                }
            }
        });
    }
}

impl Tree {
    /// Decides for all vertices of bodies that are not clear themselves; needs the
    /// normals of their triangles. Without them no fan is clear.
    pub(crate) fn judge_fans(&mut self, mesh: &Mesh, parallel: bool) {
        let Fans {
            crossings,
            axis,
            homes,
        } = &mut self.fans;
        crossings.reset(mesh.positions.len(), parallel);
        if self.normals.is_empty() {
            return;
        }
        axis.reset(mesh.positions.len(), parallel);
        let parallel = parallel && cfg!(feature = "parallel");
        if parallel && !homes.known {
            homes.find(&self.leaves, mesh.positions.len());
        }
        let homes = parallel.then_some(&*homes);
        let (crossings, axis) = (&*crossings, &*axis);
        let stride = self.normals.len() / self.leaves.len();
        let mut ranges = Vec::with_capacity(self.clear.len() + 1);
        let mut from = 0;
        for clear in &self.clear {
            let info = &self.info[clear.node as usize];
            ranges.push(from..info.first as usize);
            from = (info.first + info.count) as usize;
        }
        ranges.push(from..self.leaves.len());
        ranges.retain(|r| !r.is_empty());
        let judged = Judged { ranges };
        let (leaves, neighbours, normals) = (&self.leaves, &self.neighbours, &self.normals);
        let normals_of = |place: usize| &normals[place * stride..][..stride];
        judged.visit(homes, |place, wanted| {
            let normal = normals_of(place)[stride / 2];
            for v in leaves[place].corners {
                if wanted.has(v) {
                    axis.set(v, axis.get(v) + normal);
                }
            }
        });
        let triangle = |place: usize| Triangle {
            linked: &neighbours[place],
            normals: normals_of(place),
            at: leaves[place].corners.map(|v| mesh.positions[v as usize][0]),
        };
        judged.visit(homes, |place, wanted| {
            let triangle = triangle(place);
            for (k, vertex) in leaves[place].corners.into_iter().enumerate() {
                let state = crossings.get(vertex);
                if wanted.has(vertex) && state != UNCLEAR {
                    crossings.set(vertex, triangle.count(k, axis.get(vertex), state));
                }
            }
        });
        if let Some(homes) = homes {
            judged.visit_border(homes, |vertex, around| {
                let corners = around.iter().map(|&c| ((c / 4) as usize, (c % 4) as usize));
                let add = |sum: Vec3, (place, _)| sum + normals_of(place)[stride / 2];
                let axis = corners.clone().fold(Vec3::ZERO, add);
                let mut state = 0;
                for (place, k) in corners {
                    state = triangle(place).count(k, axis, state);
                    if state == UNCLEAR {
                        break;
                    }
                }
                crossings.set(vertex, state);
            });
        }
    }
}

/// A triangle of a fan.
struct Triangle<'a> {
    linked: &'a [u32; 3],
    normals: &'a [Vec3],
    at: [DVec3; 3],
}

impl Triangle<'_> {
    /// The crossings of the fan around corner k, with this triangle's, or that it is not clear.
    #[inline(always)]
    fn count(&self, k: usize, axis: Vec3, state: u8) -> u8 {
        let (after, before) = ((k + 1) % 3, (k + 2) % 3);
        let unlinked = self.linked[k] == NONE || self.linked[before] == NONE;
        if unlinked || !all_along(self.normals, axis) {
            return UNCLEAR;
        }
        let (centre, up) = (self.at[k], across(axis));
        let crosses =
            (self.at[after] - centre).dot(up) < 0.0 && (self.at[before] - centre).dot(up) >= 0.0;
        if crosses {
            (state + 1).min(UNCLEAR - 1)
        } else {
            state
        }
    }
}

/// Whether all directions have a cosine with the axis of more than the least.
#[inline]
fn all_along(directions: &[Vec3], axis: Vec3) -> bool {
    let least = SMALLEST_COSINE * SMALLEST_COSINE * axis.length_squared();
    directions.iter().all(|d| {
        let product = d.dot(axis);
        product > 0.0 && product * product > least
    })
}

/// A direction across the axis, the same for the same axis.
#[inline]
fn across(axis: Vec3) -> DVec3 {
    let v = axis.as_dvec3();
    if v.x.abs() < v.y.abs() {
        DVec3::new(0.0, v.z, -v.y)
    } else {
        DVec3::new(-v.z, 0.0, v.x)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Culling, Detection, FastBvh, Settings};
    use glam::{DVec3, dvec3};

    fn fan(ring: &[DVec3]) -> FastBvh {
        let mut positions = vec![DVec3::ZERO];
        positions.extend_from_slice(ring);
        let n = ring.len() as u32;
        let triangles: Vec<[u32; 3]> = (0..n).map(|i| [0, 1 + i, 1 + (i + 1) % n]).collect();
        let mut bvh = FastBvh::new(Settings {
            detection: Detection::Discrete,
            culling: Culling::StarContour,
            ..Settings::default()
        });
        bvh.add(&positions, &triangles).unwrap();
        bvh.update();
        bvh
    }

    fn turns(times: f64, corners: usize, height: impl Fn(usize) -> f64) -> Vec<DVec3> {
        let angle = |i: usize| times * std::f64::consts::TAU * i as f64 / corners as f64;
        (0..corners)
            .map(|i| dvec3(libm::cos(angle(i)), libm::sin(angle(i)), height(i)))
            .collect()
    }

    #[test]
    fn flat_and_conical_fans_are_clear() {
        for height in [0.0, 0.8, -0.8] {
            for corners in [3, 4, 6, 11] {
                let bvh = fan(&turns(1.0, corners, |_| height));
                assert!(bvh.tree.fans.is_clear(0), "{corners} at {height}");
                // The ring has open edges.
                assert!((1..=corners as u32).all(|v| !bvh.tree.fans.is_clear(v)));
            }
        }
    }

    /// Twice around, lifted apart so that only the fan's own edges meet at the centre:
    /// all normals agree, yet the sheets cross.
    #[test]
    fn a_fan_that_winds_twice_is_not_clear() {
        for corners in [7, 9, 12, 13] {
            let bvh = fan(&turns(2.0, corners, |i| 0.02 * i as f64));
            assert!(!bvh.tree.fans.is_clear(0), "{corners}");
        }
    }

    #[test]
    fn a_folded_fan_is_not_clear() {
        let mut ring = turns(1.0, 6, |_| 0.0);
        ring[2] = dvec3(0.9, 0.2, 0.1);
        assert!(!fan(&ring).tree.fans.is_clear(0));
    }
}
