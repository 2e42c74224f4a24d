//! From contact impulses to stress: how hard a body rings, whether it can break at
//! all, and when.
//!
//! Steps of [`Shake::of`]: all points of the step as one impact -> bound of each mode's size
//! by the impact's impulse and energy. Steps of [`Shake::critical_time`]: bound of the stress
//! anywhere (a harmless impact ends here, after microseconds) -> how the body moves under
//! the impact, which gives way to it (`combined_impact.rs`), at 64 moments until half a period
//! of the slowest mode after the contact -> groups of nodes that could exceed the strength ->
//! their largest principal stress at these moments -> the first moment of excess t1 -> the
//! worst moment t* until the first crack has crossed the wall.
//!
//! | symbol | here |
//! | --- | --- |
//! | t_c | `contact`: how long a rigid body would be pressed, crushing included |
//! | M, V | mass and speed of the impact |
//! | E_avail | `energy`: strain energy at t* |
//!
//! **Deviations**: the bound uses the spectral norm of each mode's stress (the norm
//! of its six numbers is not a bound: six ones have norm 2.45 and principal stress
//! 3). Sampling looks at no more than [`MOST_GROUPS`] groups,
//! those with the largest bounds: which moment is worst may be missed by others,
//! not whether anything breaks where the bound is largest.

#[cfg(test)]
mod tests;

use glam::{DMat4, DVec4, Vec3};

use crate::combined_impact::{CombinedImpact, Motion};
use crate::hertz::HertzImpact;
use crate::modes::Modes;
use crate::oscillator::{Stepper, damping_ratio};
use crate::principal::{principal_values, tension_exceeds};
use crate::stress_modes::{LANES, lane};

/// One contact of the body in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Where, in the frame of the mesh (m).
    pub point: Vec3,
    /// What the body received (N s), in the frame of the mesh.
    pub impulse: Vec3,
    /// Normal speed of approach before the impact (m/s); 0 when unknown.
    pub speed: f32,
    /// Effective mass of the pair along the normal, m* (kg); 0 when unknown.
    pub effective_mass: f32,
    /// Effective radius of curvature R* (m); 0 when unknown.
    pub radius: f32,
    /// Contact modulus E/(1 - nu²) of the other body (Pa); 0 for the same material.
    pub other_modulus: f64,
}

/// Radius of curvature where none is known and the mesh shows none, as at corners, edges
/// and thin walls, as a share of the body's radius.
const DEFAULT_CURVATURE: f64 = 0.1;
/// Least and largest radius of curvature, as shares of the body's radius.
const CURVATURE_RANGE: [f64; 2] = [0.02, 1.0];
/// The surface is looked at so far round a contact, in mean edges: some twenty nodes.
const CURVATURE_REACH: f32 = 2.5;
/// It is smooth there when it is no farther from a sphere, in mean edges, root mean square: a
/// cone as steep as a cube's corner is 0.1 off.
const SMOOTH: f64 = 0.05;

/// Moments at which stress is sampled.
const SAMPLES: usize = 64;
/// Most groups of nodes that are sampled over time.
pub const MOST_GROUPS: usize = 64;

/// A contact's own neighbourhood, as shares of mean edge and wall thickness: modes
/// do not resolve the stress under a contact, and a point load on a node reads as
/// tension that is not there. No crack starts within the lesser of both.
const CONTACT_ZONE: [f32; 2] = [1.5, 0.9];

/// How a body rings after the impacts of one step.
#[derive(Clone, Debug)]
pub struct Shake {
    combined: CombinedImpact,
    contact: f64,
    motion: Option<Motion>,
    /// Of each sampled moment, once the motion is known: sizes of the coordinates, and the
    /// body's strain energy (J). An impact is asked at many moments.
    sizes: Vec<Vec<f32>>,
    energies: Vec<f64>,
    /// Groups of nodes that come over a stress at some moment, with their bounds; and which
    /// stress.
    above: Option<(f32, Vec<(usize, f32)>)>,
    /// Largest size of each modal coordinate: before the motion is known a bound.
    bounds: Vec<f32>,
    /// Points of contact.
    points: Vec<Vec3>,
    /// The mesh node nearest to each.
    touched: Vec<u32>,
    zone_squared: f32,
    press: Press,
}

/// The contact that is pressed hardest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Press {
    pub(crate) point: Vec3,
    /// Which way the body is pressed there.
    pub(crate) direction: Vec3,
    /// Its part of the whole force.
    share: f64,
}

/// The neighbourhood of the contacts.
#[derive(Clone, Debug)]
pub struct ContactZone {
    points: Vec<Vec3>,
    squared: f32,
}

impl ContactZone {
    /// Whether a point is so near to a contact that modes say nothing about it.
    #[must_use]
    pub fn contains(&self, point: Vec3) -> bool {
        self.points
            .iter()
            .any(|p| p.distance_squared(point) < self.squared)
    }
}

/// The moment to break at, and what was seen on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CriticalTime {
    /// Which of the sampled moments t* is.
    pub sample: usize,
    /// t*: when stress exceeds strength by most while a crack runs (s).
    pub time: f64,
    /// t1: when it first exceeds it (s).
    pub first: f64,
    /// Stress over strength at t*.
    pub overload: f32,
    /// Energy for cracks (J).
    pub energy: f64,
}

/// Which moments of an impact are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// The first of the sampled moments.
    pub from: usize,
    /// Only those at which the body's strain energy is at least this (J). Griffith: no crack
    /// goes through before it can be paid, however large the stress is in one place.
    pub least_energy: f64,
}

impl Shake {
    /// The response to the impacts of one step that lasts `step` seconds. `None`
    /// when there is none with an impulse.
    #[must_use]
    pub fn of(modes: &Modes, impacts: &[Impact], step: f32) -> Option<Self> {
        let usable =
            |i: &&Impact| i.impulse.is_finite() && i.point.is_finite() && i.impulse != Vec3::ZERO;
        let step = if step > 0.0 { f64::from(step) } else { 0.01 };
        let impacts: Vec<&Impact> = impacts.iter().filter(usable).collect();
        let touched: Vec<usize> = impacts
            .iter()
            .map(|i| modes.nearest_surface(i.point))
            .collect();
        let combined = combine(modes, &impacts, &touched)?;
        let contact = combined.duration().min(step);
        // Its impulse is at most 2 M V, its energy at most all.
        let (impulse, energy) = (2.0 * combined.mass * combined.speed, combined.energy());
        let bound = |(share, w): (&f64, &f64)| {
            ((impulse * share.abs()).min((2.0 * energy).sqrt()) / w * (1.0 + 1e-6)) as f32
        };
        let press = press_of(modes, &impacts)?;
        let zone = (CONTACT_ZONE[0] * modes.mean_edge()).min(CONTACT_ZONE[1] * modes.thickness());
        Some(Self {
            bounds: combined
                .shares
                .iter()
                .zip(modes.omegas())
                .map(bound)
                .collect(),
            combined,
            contact,
            motion: None,
            sizes: Vec::new(),
            energies: Vec::new(),
            above: None,
            points: impacts.iter().map(|i| i.point).collect(),
            touched: touched.iter().map(|&s| modes.surface_node(s)).collect(),
            zone_squared: zone * zone,
            press,
        })
    }

    /// Finds out how it moves; see [`crate::combined_impact`].
    fn run(&mut self, modes: &Modes) -> &Motion {
        if self.motion.is_none() {
            let slowest = std::f64::consts::TAU / modes.omegas()[0];
            let (alpha, beta) = (
                modes.material().damping_alpha,
                modes.material().damping_beta,
            );
            let time = self.contact + 0.5 * slowest;
            let motion = self.combined.run(time, SAMPLES, |dt| {
                let omegas = modes.omegas().iter();
                omegas
                    .map(|&w| Stepper::new(w, damping_ratio(w, alpha, beta), dt))
                    .collect()
            });
            for (k, bound) in self.bounds.iter_mut().enumerate() {
                let sizes = motion.coordinates.iter().map(|q| q[k].abs());
                *bound = sizes.fold(0.0, f32::max) * (1.0 + 1e-6);
            }
            let moments = motion.coordinates.iter();
            let sizes = moments.clone().map(|q| q.iter().map(|q| q.abs()).collect());
            self.sizes = sizes.collect();
            self.energies = moments.map(|q| strain_energy(modes, q)).collect();
            self.above = None;
            self.motion = Some(motion);
        }
        self.motion.as_ref().expect("found above")
    }

    /// Where the contacts are so near that modes say nothing.
    #[must_use]
    pub fn contact_zone(&self) -> ContactZone {
        ContactZone {
            points: self.points.clone(),
            squared: self.zone_squared,
        }
    }

    /// The mesh node nearest to each contact.
    pub(crate) fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// Duration of the contact (s).
    #[must_use]
    pub fn contact(&self) -> f64 {
        self.contact
    }

    /// Energy that the impacts brought (J).
    #[must_use]
    pub fn brought(&self) -> f64 {
        self.combined.energy()
    }

    /// The contact that is pressed hardest.
    pub(crate) fn press(&self) -> Press {
        self.press
    }

    /// No more than this presses it (N).
    pub(crate) fn press_bound(&self) -> f64 {
        self.press.share * self.combined.force_bound()
    }

    /// How hard it is pressed at most (N), and when (s).
    pub(crate) fn hardest_press(&mut self, modes: &Modes) -> (f64, f64) {
        let share = self.press.share;
        let motion = self.run(modes);
        (share * motion.force, motion.hardest)
    }

    /// Upper bound of any principal stress at any time and node (Pa).
    #[must_use]
    pub fn stress_bound(&self, modes: &Modes) -> f32 {
        let root = (2.0 * self.combined.energy()).sqrt();
        let stress = modes.stress();
        stress
            .bound(&self.bounds)
            .min(stress.bound_by_energy(modes.omegas(), root))
    }

    /// Modal coordinates at one of the sampled moments.
    #[must_use]
    pub fn coordinates(&mut self, modes: &Modes, sample: usize) -> &[f32] {
        &self.run(modes).coordinates[sample.min(SAMPLES - 1)]
    }

    /// Largest strain energy at the sampled moments from one on (J).
    pub(crate) fn most_energy(&mut self, modes: &Modes, from: usize) -> f64 {
        self.run(modes);
        let later = self.energies.iter().skip(from).copied();
        later.fold(0.0, f64::max).min(self.brought())
    }

    /// Lists the groups of nodes that can come over a stress at any of the moments.
    fn find_groups_above(&mut self, modes: &Modes, weakest: f32) {
        if matches!(self.above, Some((known, _)) if known == weakest) {
            return;
        }
        let mut above = Vec::new();
        let stress = modes.stress();
        stress.groups_above(&self.bounds, weakest, |group, bound| {
            above.push((group, bound));
        });
        self.above = Some((weakest, above));
    }

    /// When to break, or `None` when strength is nowhere exceeded. `strength` gives
    /// the strength of a node (by its place among the fragment's nodes), which is
    /// nowhere less than `weakest` (Pa).
    #[must_use]
    pub fn critical_time(
        &mut self,
        modes: &Modes,
        weakest: f32,
        strength: impl Fn(usize) -> f32,
        moments: Moments,
    ) -> Option<CriticalTime> {
        if self.stress_bound(modes) <= weakest {
            return None;
        }
        self.run(modes);
        self.find_groups_above(modes, weakest);
        let motion = self.motion.as_ref()?;
        let (_, above) = self.above.as_ref()?;
        let stress = modes.stress();
        // Beside a contact nothing starts: such groups leave their place to others.
        let may_break = |(group, bound): &&(usize, f32)| {
            let nodes = group * LANES..((group + 1) * LANES).min(stress.nodes());
            nodes.map(&strength).any(|s| s < *bound)
        };
        let mut groups: Vec<(usize, f32)> = above.iter().filter(may_break).copied().collect();
        if groups.is_empty() {
            return None;
        }
        let by_bound = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if groups.len() > MOST_GROUPS {
            groups.select_nth_unstable_by(MOST_GROUPS, by_bound);
            groups.truncate(MOST_GROUPS);
        }
        // The worst first: what follows is then mostly below what is known.
        groups.sort_unstable_by(by_bound);
        let (coordinates, step) = (&motion.coordinates, motion.every);
        let (sizes, energies) = (&self.sizes, &self.energies);
        let run = crack_run(modes);
        let run = ((run / step) as usize).min(SAMPLES);
        let mut overloads = [0.0_f32; SAMPLES];
        // Samples later than a crack's run after the first excess do not matter.
        let mut last = SAMPLES;
        for &(group, bound) in &groups {
            let strengths: [f32; LANES] = std::array::from_fn(|l| {
                let i = group * LANES + l;
                if i < stress.nodes() {
                    strength(i)
                } else {
                    f32::INFINITY
                }
            });
            let least = strengths.iter().copied().fold(f32::INFINITY, f32::min);
            if bound <= least {
                continue;
            }
            let mut i = moments.from;
            while i < last {
                let sample = i;
                i += 1;
                if energies[sample] < moments.least_energy {
                    continue;
                }
                // Below one nothing breaks, and below the best nothing changes.
                let best = overloads[sample].max(1.0);
                if stress.group_bound(group, &sizes[sample]) <= least * best {
                    continue;
                }
                let at = stress.at_group(group, &coordinates[sample]);
                for l in 0..LANES {
                    let s = lane(&at, l);
                    if tension_exceeds(&s, strengths[l] * overloads[sample].max(1.0)) {
                        overloads[sample] = principal_values(&s)[0] as f32 / strengths[l];
                        last = last.min(sample + run + 1);
                    }
                }
            }
        }
        let first = overloads.iter().position(|&o| o > 1.0)?;
        let end = (first + run + 1).min(SAMPLES);
        let best = (first..end).fold(first, |best, i| {
            if overloads[i] > overloads[best] {
                i
            } else {
                best
            }
        });
        Some(CriticalTime {
            sample: best,
            time: step * (best + 1) as f64,
            first: step * (first + 1) as f64,
            overload: overloads[best],
            energy: energies[best].min(self.combined.energy()),
        })
    }
}

/// Strain energy of the body at some modal coordinates (J).
fn strain_energy(modes: &Modes, q: &[f32]) -> f64 {
    let terms = q.iter().zip(modes.omegas()).map(|(&q, w)| f64::from(q) * w);
    0.5 * terms.map(|x| x * x).sum::<f64>()
}

/// How long stress goes on growing after the first crack has started (s): until the crack
/// has crossed the wall. Then it is free to open, and what it parts is unloaded.
fn crack_run(modes: &Modes) -> f64 {
    f64::from(modes.thickness()) / modes.material().crack_speed()
}

/// All points of a step's impacts as one impact; see [`crate::combined_impact`]. `touched` are
/// the surface nodes nearest to them.
fn combine(modes: &Modes, impacts: &[&Impact], touched: &[usize]) -> Option<CombinedImpact> {
    let total: f64 = impacts.iter().map(|i| f64::from(i.impulse.length())).sum();
    if total.is_nan() || total <= 0.0 {
        return None;
    }
    let (mut inverse, mut speed, mut stiffness, mut crush) = (0.0, 0.0, 0.0, 0.0);
    let mut shares = vec![0.0; modes.count()];
    let mut apart: Vec<Vec3> = Vec::new();
    let around = surface_around(modes, impacts);
    for (impact, &surface) in impacts.iter().zip(touched) {
        let (hertz, tip) = hertz_of(modes, &around, impact);
        let share = f64::from(impact.impulse.length()) / total;
        inverse += share * share / hertz.mass;
        speed += share * hertz.speed;
        let near = (hertz.radius * hertz.radius) as f32;
        if apart
            .iter()
            .all(|p| p.distance_squared(impact.point) > near)
        {
            apart.push(impact.point);
            stiffness += 4.0 / 3.0 * hertz.modulus * hertz.radius.sqrt();
            crush += tip.section() * hertz.radius * modes.material().crushing;
        }
        for (sum, shape) in shares.iter_mut().zip(modes.shapes_at(surface)) {
            *sum += f64::from(shape.dot(impact.impulse)) / total;
        }
    }
    Some(CombinedImpact {
        mass: 1.0 / inverse,
        speed,
        stiffness,
        crush,
        shares,
    })
}

/// The contact with the largest impulse, and what presses within an edge of the mesh of it.
fn press_of(modes: &Modes, impacts: &[&Impact]) -> Option<Press> {
    let total: f32 = impacts.iter().map(|i| i.impulse.length()).sum();
    let by_impulse = |a: &&&Impact, b: &&&Impact| {
        let size = |i: &Impact| i.impulse.length_squared();
        size(a).total_cmp(&size(b))
    };
    let most = impacts.iter().max_by(by_impulse)?;
    let near = |i: &&&Impact| i.point.distance(most.point) < modes.mean_edge();
    let sum: Vec3 = impacts.iter().filter(near).map(|i| i.impulse).sum();
    Some(Press {
        point: most.point,
        direction: sum.try_normalize()?,
        share: f64::from(sum.length() / total),
    })
}

/// What a contact looks like near by.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tip {
    /// The body is round there, as its mesh shows.
    Round,
    /// Something round of a known radius is pressed into it.
    Pressed,
    /// A corner, an edge or a thin wall, of a rounding that is not known.
    Sharp,
}

impl Tip {
    /// Area of the contact at a depth d that crushes it, over R d. A ball that is cut flat
    /// has 2 pi [Johnson 11.5]. A face into which a ball is pressed sinks in round it, and a
    /// corner's section starts from nothing: half of it, as in an elastic contact, is still
    /// more than a sharp corner has (a cube's `2.6 d²`) while d is less than R.
    fn section(self) -> f64 {
        match self {
            Self::Round => std::f64::consts::TAU,
            Self::Pressed | Self::Sharp => std::f64::consts::PI,
        }
    }
}

/// The surface nodes, in their order, that any of the contacts may look at: a body is pressed
/// by many points of a small part of its surface.
fn surface_around(modes: &Modes, impacts: &[&Impact]) -> Vec<Vec3> {
    let points = impacts.iter().map(|i| i.point);
    let low = points.clone().fold(Vec3::INFINITY, Vec3::min);
    let high = points.fold(Vec3::NEG_INFINITY, Vec3::max);
    let reach = Vec3::splat(1.01 * CURVATURE_REACH * modes.mean_edge());
    let is_near = |p: &&Vec3| p.cmpge(low - reach).all() && p.cmple(high + reach).all();
    let positions = modes.surface_positions().iter();
    positions.filter(is_near).copied().collect()
}

/// `surface` are the surface nodes near the contact, and perhaps others.
fn hertz_of(modes: &Modes, surface: &[Vec3], impact: &Impact) -> (HertzImpact, Tip) {
    let known = |x: f32| x.is_finite() && x > 0.0;
    let mass = if known(impact.effective_mass) {
        f64::from(impact.effective_mass)
    } else {
        modes.mass()
    };
    let size = f64::from(modes.radius());
    let (radius, tip) = if known(impact.radius) {
        (f64::from(impact.radius), Tip::Pressed)
    } else {
        match curvature_at(modes, surface, impact.point, impact.impulse.normalize()) {
            Some(seen) => (seen, Tip::Round),
            None => (DEFAULT_CURVATURE * size, Tip::Sharp),
        }
    };
    let own = modes.material().contact_modulus();
    let other = if impact.other_modulus > 0.0 {
        impact.other_modulus
    } else {
        own
    };
    // An impulse without a speed: as if the bodies had parted at a fifth of it.
    let speed = if known(impact.speed) {
        f64::from(impact.speed)
    } else {
        f64::from(impact.impulse.length()) / (1.2 * mass)
    };
    let hertz = HertzImpact {
        mass,
        radius: radius.clamp(CURVATURE_RANGE[0] * size, CURVATURE_RANGE[1] * size),
        modulus: 1.0 / (1.0 / own + 1.0 / other),
        speed: speed.max(1e-4),
    };
    (hertz, tip)
}

/// Radius of curvature of the body's surface where it is pressed along `normal` (m), if the
/// mesh shows one: of the sphere `h = a + b.r + |r|² / 2R` that fits the surface nodes round
/// the point best, where it fits well. Flat ones have a radius without bound.
fn curvature_at(modes: &Modes, surface: &[Vec3], point: Vec3, normal: Vec3) -> Option<f64> {
    let (across, along) = normal.any_orthonormal_pair();
    let edge = modes.mean_edge();
    let reach = CURVATURE_REACH * edge;
    // Most nodes are far away: they are left out before anything is divided.
    let about = 1.001 * reach * reach;
    let near = surface
        .iter()
        .filter(|p| p.distance_squared(point) < about)
        .map(|&p| (p - point) / edge);
    let near = near.filter(|r| r.length_squared() * edge * edge < reach * reach);
    // Rows 1, x, y, the squared distance and the height.
    let rows: Vec<[f64; 5]> = near
        .map(|r| {
            let (x, y) = (f64::from(r.dot(across)), f64::from(r.dot(along)));
            [
                1.0,
                x,
                y,
                f64::from(r.length_squared()),
                f64::from(r.dot(normal)),
            ]
        })
        .collect();
    // Four numbers are asked for; as many again tell whether they fit.
    if rows.len() < 8 {
        return None;
    }
    let sum = |i: usize, j: usize| rows.iter().map(|r| r[i] * r[j]).sum::<f64>();
    let column = |j: usize| DVec4::new(sum(0, j), sum(1, j), sum(2, j), sum(3, j));
    let matrix = DMat4::from_cols(column(0), column(1), column(2), column(3));
    let fit = matrix.inverse() * column(4);
    let off = |r: &[f64; 5]| fit.dot(DVec4::new(r[0], r[1], r[2], r[3])) - r[4];
    let squares: f64 = rows.iter().map(|r| off(r) * off(r)).sum();
    let smooth = squares <= SMOOTH * SMOOTH * rows.len() as f64;
    smooth.then(|| 0.5 * f64::from(edge) / fit.w.max(1e-6))
}
