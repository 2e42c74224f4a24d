//! Bodies, cloth and what happens between them: the step, stage by stage.
//!
//! What a push does is told in `contact.rs`.

use fracas_tet_distance::{
    DepthField, Detector, EdgeInTet, Method, Object, Push, Responder, Response, Sheet,
    SurfaceFinder, TriangleInTet,
};
use glam::Vec3;

use crate::body::SoftBody;
use crate::cloth::Cloth;
use crate::contact::Contact;
use crate::contact_set::ContactSet;
use crate::elastic::{Move, settle};
use crate::threads::both;

/// m: while no node has moved farther since overlaps were looked for, they stay as they are:
/// what is new is no deeper than twice this.
const STILL: f32 = 1e-3;

/// All depths of a body stay marched to ahead while more than one of so many of its tetrahedra have
/// something in them: fewer are marched to faster when they are known.
const MARKED: usize = 10;

/// Counts and work of the last step, one field per stage in stage order. Times are
/// filled from the clock given to [`SoftWorld::set_clock`], in its unit; else zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorldStats {
    /// Pairs whose boxes meet, of an edge and a tetrahedron or of a triangle and one, when
    /// overlaps were last looked for.
    pub tested_pairs: usize,
    /// Edges of surfaces (nodes, with point response) and triangles in tetrahedra, then.
    pub overlaps: usize,
    /// Tetrahedra that something passes through, then.
    pub colliding_tets: usize,
    /// Nodes made final by marches, then.
    pub marched_nodes: usize,
    /// Forces, then.
    pub pushes: usize,
    /// Tears of the step.
    pub tears: usize,
    /// Time in detection, whole step; with [`SoftWorld::parallel`] also in the marches beside it.
    pub detect_time: f64,
    /// Time in marches, whole step.
    pub march_time: f64,
    /// Time in responses (finding and applying), whole step.
    pub respond_time: f64,
    /// Time in everything else.
    pub simulate_time: f64,
}

impl WorldStats {
    /// The share of time spent in collision; NaN without a clock.
    #[must_use]
    pub fn collision_share(&self) -> f64 {
        let collision = self.detect_time + self.march_time + self.respond_time;
        collision / (collision + self.simulate_time)
    }
}

/// What is known of a body's depths.
#[derive(Clone, Copy, Debug, Default)]
struct March {
    /// It is fixed, and all of them are known.
    is_known: bool,
    /// All are marched to without waiting for what overlaps: at the last look so much did that
    /// they had to be.
    is_ahead: bool,
}

/// A scene of soft things. SI units; y is up.
#[derive(Clone, Debug)]
pub struct SoftWorld {
    bodies: Vec<SoftBody>,
    cloth: Option<Cloth>,
    fields: Vec<DepthField>,
    marches: Vec<March>,
    /// Acceleration of everything that is not fixed.
    pub gravity: Vec3,
    /// Height of a solid floor.
    pub floor: Option<f32>,
    /// Substeps of a step.
    pub substeps: u32,
    /// Point or segment response.
    pub response: Response,
    /// N/m for points, N/m2 for segments.
    pub stiffness: f32,
    /// Coulomb coefficient.
    pub friction: f32,
    /// Overlaps are looked for, depths marched and pushes found in the first of so many
    /// substeps, if anything has moved by a millimetre since; in the others pushes are those
    /// that are known, as deep as their points are by then. A pair that is new waits for its
    /// turn: with 4 (the default), 8 substeps and a step of a sixtieth of a second for 8 ms.
    /// (The paper looks once in a step.) At 5 m/s that is a way of 42 mm: what is thinner is
    /// passed unseen, and what has come beyond the middle is moved out at the far side. Where
    /// things are fast or thin, 1 looks every time.
    pub detect_every: u32,
    /// The most tears of one body in one step.
    pub most_tears: usize,
    /// Whether stages run on the caller's rayon pool (with the feature `parallel`). Changes no
    /// result.
    pub parallel: bool,
    /// Overlaps have to be looked for whether anything has moved or not.
    is_stale: bool,
    stats: WorldStats,
    clock: Option<fn() -> f64>,
    finder: SurfaceFinder,
    detector: Detector,
    responder: Responder,
    edges: Vec<EdgeInTet>,
    in_tets: Vec<TriangleInTet>,
    pushes: Vec<Push>,
    contacts: ContactSet,
    marks: Vec<Vec<u32>>,
}

impl SoftWorld {
    /// An empty world with gravity and segment response.
    #[must_use]
    pub fn new() -> Self {
        Self {
            bodies: Vec::new(),
            cloth: None,
            fields: Vec::new(),
            marches: Vec::new(),
            gravity: Vec3::new(0.0, -9.81, 0.0),
            floor: None,
            substeps: 8,
            response: Response::Segment,
            stiffness: 1e6,
            friction: 0.3,
            detect_every: 4,
            most_tears: 16,
            parallel: false,
            is_stale: true,
            stats: WorldStats::default(),
            clock: None,
            finder: SurfaceFinder::default(),
            detector: Detector::default(),
            responder: Responder::default(),
            edges: Vec::new(),
            in_tets: Vec::new(),
            pushes: Vec::new(),
            contacts: ContactSet::default(),
            marks: Vec::new(),
        }
    }

    /// Adds a body and returns its index.
    pub fn add(&mut self, body: SoftBody) -> usize {
        self.is_stale = true;
        self.bodies.push(body);
        self.fields.push(DepthField::new(Method::ClosestFeature));
        self.marches.push(March::default());
        self.marks.push(Vec::new());
        self.bodies.len() - 1
    }

    /// Hangs up a cloth.
    pub fn hang(&mut self, cloth: Cloth) {
        self.is_stale = true;
        self.cloth = Some(cloth);
    }

    /// Lets stages be timed: times decide nothing.
    pub fn set_clock(&mut self, clock: fn() -> f64) {
        self.clock = Some(clock);
    }

    /// The bodies.
    #[must_use]
    pub fn bodies(&self) -> &[SoftBody] {
        &self.bodies
    }

    /// A body, to cut it.
    pub fn body_mut(&mut self, index: usize) -> Option<&mut SoftBody> {
        self.is_stale = true;
        if let Some(march) = self.marches.get_mut(index) {
            march.is_known = false;
        }
        self.bodies.get_mut(index)
    }

    /// The cloth.
    #[must_use]
    pub fn cloth(&self) -> Option<&Cloth> {
        self.cloth.as_ref()
    }

    /// The forces, as they were when overlaps were last looked for.
    #[must_use]
    pub fn pushes(&self) -> &[Push] {
        &self.pushes
    }

    /// Counts of the last step.
    #[must_use]
    pub fn stats(&self) -> &WorldStats {
        &self.stats
    }

    /// Advances by `dt` seconds. Nothing happens if `dt` is not positive.
    pub fn step(&mut self, dt: f32) {
        let h = dt / self.substeps.max(1) as f32;
        if h <= 0.0 || !h.is_finite() {
            return;
        }
        // What overlaps stays known where nothing has moved.
        let known = self.stats;
        self.stats = WorldStats {
            tested_pairs: known.tested_pairs,
            overlaps: known.overlaps,
            colliding_tets: known.colliding_tets,
            marched_nodes: known.marched_nodes,
            pushes: known.pushes,
            ..WorldStats::default()
        };
        for substep in 0..self.substeps.max(1) {
            let start = self.now();
            self.integrate(h);
            let integrated = self.now();
            let looks = substep % self.detect_every.max(1) == 0 && self.has_moved();
            if looks {
                self.detect();
            }
            let detected = self.now();
            if looks {
                self.march();
            }
            let marched = self.now();
            if looks {
                self.respond();
            }
            self.contact(h);
            let end = self.now();
            self.stats.detect_time += detected - integrated;
            self.stats.march_time += marched - detected;
            self.stats.respond_time += end - marched;
            self.stats.simulate_time += integrated - start;
        }
        let start = self.now();
        self.tear();
        self.stats.simulate_time += self.now() - start;
    }

    /// Whether something may have moved so far since overlaps were looked for that they are
    /// other ones.
    fn has_moved(&self) -> bool {
        let moved = |positions: &[Vec3], seen: &[Vec3]| {
            // What is not finite has moved.
            let near = |(p, q): (&Vec3, &Vec3)| p.distance_squared(*q) <= STILL * STILL;
            positions.len() != seen.len() || !positions.iter().zip(seen).all(near)
        };
        self.is_stale
            || self.bodies.iter().any(|b| moved(&b.positions, &b.seen))
            || self.cloth.iter().any(|c| moved(&c.positions, &c.seen))
    }

    fn now(&self) -> f64 {
        self.clock.map_or(0.0, |clock| clock())
    }

    fn detect(&mut self) {
        self.edges.clear();
        self.in_tets.clear();
        let objects = objects(&self.bodies);
        self.finder.parallel = self.parallel;
        let (finder, edges, response) = (&mut self.finder, &mut self.edges, self.response);
        let mut find = || finder.find(&objects, response, edges);
        if self.parallel && cfg!(feature = "parallel") {
            // Much of a march is on one thread: the search fills the other one.
            let march = || march_ahead(&self.bodies, &mut self.fields, &self.marches);
            both(find, march, true);
        } else {
            find();
        }
        // Two fixed bodies have nothing to say to each other.
        let is_fixed = |object: u32| self.bodies[object as usize].fixed;
        self.edges
            .retain(|e| !is_fixed(e.object) || !is_fixed(e.tet.object));
        self.stats.tested_pairs = self.finder.tested();
        if let Some(cloth) = &self.cloth {
            let sheet = sheet(cloth);
            self.detector
                .triangle_overlaps(&sheet, &objects, &mut self.in_tets);
            self.stats.tested_pairs += self.detector.tested();
        }
        self.stats.overlaps = self.edges.len() + self.in_tets.len();
        for marks in &mut self.marks {
            marks.clear();
        }
        let in_tets = self.in_tets.iter().map(|o| o.tet);
        for t in self.edges.iter().map(|e| e.tet).chain(in_tets) {
            self.marks[t.object as usize].push(t.tet);
        }
        self.stats.colliding_tets = 0;
        for marks in &mut self.marks {
            marks.sort_unstable();
            marks.dedup();
            self.stats.colliding_tets += marks.len();
        }
    }

    fn march(&mut self) {
        let parallel = self.parallel;
        let march = |(((body, marks), field), state): (
            ((&SoftBody, &Vec<u32>), &mut DepthField),
            &mut March,
        )| {
            if marks.is_empty() || state.is_known {
                state.is_ahead = false;
                return 0;
            }
            // Depths of what is fixed never change: all of them are marched to, once.
            state.is_known = body.fixed;
            field.parallel = parallel;
            if body.fixed {
                field.march(&body.topology, &body.positions);
            } else if state.is_ahead {
                // With threads it was done while overlaps were looked for.
                if !(parallel && cfg!(feature = "parallel")) {
                    field.march(&body.topology, &body.positions);
                }
                state.is_ahead = marks.len() * MARKED >= body.tets.len();
            } else {
                field.march_to(&body.topology, &body.positions, marks);
                state.is_ahead = field.is_whole();
            }
            field.popped()
        };
        #[cfg(feature = "parallel")]
        if self.parallel {
            use rayon::prelude::*;
            let all = self.bodies.par_iter().zip(&self.marks);
            let all = all.zip(&mut self.fields).zip(&mut self.marches);
            self.stats.marched_nodes = all.map(march).sum();
            return;
        }
        let all = self.bodies.iter().zip(&self.marks);
        let all = all.zip(&mut self.fields).zip(&mut self.marches);
        self.stats.marched_nodes = all.map(march).sum();
    }

    fn respond(&mut self) {
        self.pushes.clear();
        self.responder.parallel = self.parallel;
        let objects = objects(&self.bodies);
        let pushes = &mut self.pushes;
        self.responder
            .edge_pushes(&objects, &self.fields, &self.edges, pushes);
        if let Some(cloth) = &self.cloth {
            self.responder.sheet_pushes(
                &sheet(cloth),
                &objects,
                &self.fields,
                &self.in_tets,
                self.response,
                &mut self.pushes,
            );
        }
        self.stats.pushes = self.pushes.len();
        self.is_stale = false;
        for body in &mut self.bodies {
            body.seen.clone_from(&body.positions);
        }
        if let Some(cloth) = &mut self.cloth {
            cloth.seen.clone_from(&cloth.positions);
        }
        self.contacts.gather(
            &self.pushes,
            &self.bodies,
            self.cloth.as_ref(),
            self.parallel,
        );
    }

    /// Applies the pushes that are known.
    fn contact(&mut self, h: f32) {
        let contact = Contact {
            h,
            stiffness: self.stiffness,
            friction: self.friction,
        };
        self.contacts.apply(
            contact,
            &mut self.bodies,
            self.cloth.as_mut(),
            self.parallel,
        );
    }

    fn integrate(&mut self, h: f32) {
        self.integrate_bodies(h);
        if let Some(cloth) = &mut self.cloth {
            for n in 0..cloth.positions.len() {
                if cloth.inverse_masses[n] > 0.0 {
                    cloth.velocities[n] += h * self.gravity;
                }
                cloth.previous[n] = cloth.positions[n];
                cloth.positions[n] += h * cloth.velocities[n];
            }
            cloth.solve(h);
            settle(
                [
                    &mut cloth.positions,
                    &mut cloth.previous,
                    &mut cloth.velocities,
                ],
                h,
                1.0 / (1.0 + h),
                self.floor,
            );
        }
    }

    fn integrate_bodies(&mut self, h: f32) {
        let by = Move {
            h,
            gravity: self.gravity,
            floor: self.floor,
        };
        let parallel = self.parallel;
        let integrate = |body: &mut SoftBody| {
            if !body.fixed {
                body.advance(by, parallel);
            }
        };
        #[cfg(feature = "parallel")]
        if self.parallel {
            use rayon::prelude::*;
            self.bodies.par_iter_mut().for_each(integrate);
            return;
        }
        self.bodies.iter_mut().for_each(integrate);
    }

    fn tear(&mut self) {
        let mut pushed: Vec<Vec<[u32; 2]>> = vec![Vec::new(); self.bodies.len()];
        for e in &self.edges {
            pushed[e.object as usize].push(e.edge);
        }
        let (most, parallel) = (self.most_tears, self.parallel);
        let tear = |((body, marks), edges): ((&mut SoftBody, &Vec<u32>), &mut Vec<[u32; 2]>)| {
            body.tear_unpressed(most, marks, edges, parallel)
        };
        #[cfg(feature = "parallel")]
        if parallel {
            use rayon::prelude::*;
            let all = self.bodies.par_iter_mut().zip(&self.marks);
            self.stats.tears = all.zip(&mut pushed).map(tear).sum();
        }
        if !(parallel && cfg!(feature = "parallel")) {
            let all = self.bodies.iter_mut().zip(&self.marks);
            self.stats.tears = all.zip(&mut pushed).map(tear).sum();
        }
        if let Some(cloth) = &mut self.cloth {
            self.stats.tears += cloth.tear(self.most_tears);
        }
        self.is_stale |= self.stats.tears > 0;
    }

    /// Checks every body and the cloth.
    ///
    /// # Errors
    /// The first defect found.
    pub fn validate(&self) -> Result<(), String> {
        for (i, body) in self.bodies.iter().enumerate() {
            body.validate().map_err(|e| format!("body {i}: {e}"))?;
        }
        self.cloth.as_ref().map_or(Ok(()), Cloth::validate)
    }
}

impl Default for SoftWorld {
    fn default() -> Self {
        Self::new()
    }
}

/// Marches to all depths of the bodies that are `ahead`, on threads.
fn march_ahead(bodies: &[SoftBody], fields: &mut [DepthField], states: &[March]) {
    let all = bodies.iter().zip(fields).zip(states);
    let all = all.filter(|(_, state)| state.is_ahead);
    let all = all.map(|(body_and_field, _)| body_and_field);
    let march = |(body, field): (&SoftBody, &mut DepthField)| {
        field.parallel = true;
        field.march(&body.topology, &body.positions);
    };
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        all.collect::<Vec<_>>().into_par_iter().for_each(march);
    }
    #[cfg(not(feature = "parallel"))]
    all.for_each(march);
}

fn objects(bodies: &[SoftBody]) -> Vec<Object<'_>> {
    bodies
        .iter()
        .map(|b| Object {
            topology: &b.topology,
            positions: &b.positions,
        })
        .collect()
}

fn sheet(cloth: &Cloth) -> Sheet<'_> {
    Sheet {
        triangles: cloth.triangles(),
        positions: &cloth.positions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Material;
    use crate::shapes::cuboid;

    fn two_cubes(response: Response) -> SoftWorld {
        let mesh = cuboid([3, 3, 3], Vec3::splat(0.2)).unwrap();
        let body = SoftBody::build(&mesh, Material::default()).unwrap();
        let mut world = SoftWorld::new();
        world.gravity = Vec3::ZERO;
        world.response = response;
        world.stiffness = if response == Response::Point {
            2e3
        } else {
            3e4
        };
        let away = Vec3::new(0.013, 0.23, 0.021);
        world.add(body.clone().moving(Vec3::new(0.0, 0.5, 0.0)));
        world.add(
            body.placed(glam::Mat3::IDENTITY, away)
                .moving(Vec3::new(0.0, -0.5, 0.0)),
        );
        world
    }

    fn momentum(world: &SoftWorld) -> glam::DVec3 {
        world.bodies().iter().map(SoftBody::momentum).sum()
    }

    fn kinetic(world: &SoftWorld) -> f64 {
        let mut energy = 0.0;
        for body in world.bodies() {
            for (v, w) in body.velocities().iter().zip(&body.inverse_masses) {
                energy += 0.5 * f64::from(v.length_squared() / w);
            }
        }
        energy
    }

    #[test]
    fn two_cubes_bounce_and_keep_momentum() {
        for response in [Response::Point, Response::Segment] {
            let mut world = two_cubes(response);
            let (before, energy) = (momentum(&world), kinetic(&world));
            let mut contact = false;
            for _ in 0..60 {
                world.step(1.0 / 120.0);
                contact |= world.stats().pushes > 0;
            }
            world.validate().unwrap();
            assert!(contact);
            let after = momentum(&world);
            // A thousandth of what either body carries: f32 positions over small steps.
            assert!(after.distance(before) < 4e-3, "{before} {after}");
            assert!(kinetic(&world) < energy, "energy came from nowhere");
            let parted = world.bodies()[1].momentum().y;
            assert!(parted > 0.0, "{response:?}: they should part");
            assert_eq!(world.stats().overlaps, 0);
        }
    }

    #[test]
    fn the_same_steps_give_the_same_bits() {
        let run = |parallel| {
            let mut world = two_cubes(Response::Segment);
            world.parallel = parallel;
            let mut pushes = 0;
            for _ in 0..20 {
                world.step(1.0 / 120.0);
                pushes += world.stats().pushes;
            }
            assert!(pushes > 0);
            (world.bodies()[0].positions().to_vec(), *world.stats())
        };
        assert!(run(false) == run(false));
        assert!(run(false) == run(true), "the same on any threads");
    }

    /// A body that much lies in is marched to whole, whatever the next search will find: with the
    /// same bits as if what it finds decided.
    #[test]
    fn marches_ahead_change_nothing() {
        let run = |parallel: bool, may_be_ahead: bool| {
            let mesh = cuboid([5, 5, 5], Vec3::splat(0.2)).unwrap();
            let body = SoftBody::build(&mesh, Material::default()).unwrap();
            let mut world = SoftWorld::new();
            world.parallel = parallel;
            world.gravity = Vec3::ZERO;
            world.detect_every = world.substeps;
            world.add(body.clone());
            let away = Vec3::new(0.02, 0.13, 0.03);
            world.add(body.placed(glam::Mat3::from_rotation_y(0.4), away));
            let mut ahead = 0;
            for _ in 0..20 {
                if !may_be_ahead {
                    world.marches.fill(March::default());
                }
                ahead += world.marches.iter().filter(|march| march.is_ahead).count();
                world.step(1.0 / 120.0);
            }
            assert_eq!(ahead > 10, may_be_ahead, "{ahead}");
            let still_ahead = world.marches.iter().all(|march| march.is_ahead);
            assert!(!still_ahead, "they should have parted");
            let positions = world.bodies().iter().flat_map(|b| b.positions().to_vec());
            (positions.collect::<Vec<Vec3>>(), world.stats().pushes)
        };
        let slow = run(false, false);
        assert!(run(false, true) == slow);
        assert!(run(true, true) == slow);
    }

    #[test]
    fn a_cube_lands_on_the_floor_and_on_a_fixed_body() {
        let mesh = cuboid([3, 3, 3], Vec3::splat(0.2)).unwrap();
        let body = SoftBody::build(&mesh, Material::default()).unwrap();
        let mut world = SoftWorld::new();
        world.stiffness = 1e5;
        world.floor = Some(-1.0);
        // Wider than the cube: jelly wobbles, and would roll off one of its own size.
        let table = cuboid([5, 2, 5], Vec3::new(0.5, 0.2, 0.5)).unwrap();
        let table = SoftBody::build(&table, Material::default()).unwrap();
        world.add(table.fixed());
        world.add(body.placed(glam::Mat3::IDENTITY, Vec3::new(0.03, 0.25, 0.01)));
        for _ in 0..120 {
            world.step(1.0 / 60.0);
        }
        world.validate().unwrap();
        let lowest = world.bodies()[1]
            .positions()
            .iter()
            .fold(f32::MAX, |a, p| a.min(p.y));
        assert!(
            (0.0..0.12).contains(&lowest),
            "rests on the fixed cube: {lowest}"
        );
        world.step(f32::NAN);
        world.step(-1.0);
        world.validate().unwrap();
    }
}
