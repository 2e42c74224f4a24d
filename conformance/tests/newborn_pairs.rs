//! Contacts of pairs that have just parted, on their way from the cut into the general
//! method, held against asking every point and against the real faces.
//!
//! Objects break twice; two fragments that share a crack then lie still, creep, slide, fly
//! or turn against each other. What a contact may say is bounded by how it was found:
//!
//! | class | bound of its distance |
//! | --- | --- |
//! | plane: a face of the real surface lies in the contact's plane | 1e-5 radii from that plane |
//! | closest: its distance is that to the real surface | 1e-5 radii |
//! | band: another face had the say, and the point has moved since | two bands |
//! | deep: beyond the fall-back depth | not less deep than it is, by more than two bands |
//!
//! Two bands: what was chosen is within one of the distance, and it is kept while its point
//! moves by half of one, and the surface's distance by half of one the other way.

use fracas_conformance::broken::Broken;
use fracas_conformance::{data, procedural};
use fracas_core::sphere_tree::{
    AdaptiveSettings, PairState, Query, QueryScratch, QueryStats, Question,
};
use fracas_core::testing::{Rng, box_grid};
use fracas_core::{
    Contact, FragmentId, FragmentSurface, Pose, SphereTree, SurfaceScratch, TetMesh, brute_force,
};
use glam::{DVec3, Vec3};

/// What claims to be exact is, to this share of the radius.
const EXACT: f32 = 1e-5;

type Object = (&'static str, TetMesh);

/// Objects made in code.
fn objects() -> Vec<Object> {
    let mut all = vec![("brick", box_grid([8, 4, 5], Vec3::new(0.25, 0.1, 0.12)))];
    let shapes = procedural::tet_meshes().into_iter();
    all.extend(shapes.map(|(name, mesh)| (name, TetMesh::clone(&mesh))));
    all
}

/// Broken into a few, and each of these again.
fn broken_twice(mesh: TetMesh, rng: &mut Rng) -> Broken {
    let mut object = Broken::new(mesh);
    object.break_into(FragmentId(0), 4, rng);
    for id in object.living() {
        object.break_into(id, 2, rng);
    }
    object
}

/// Pairs that share a crack with at least a few points, some of them.
fn siblings(object: &Broken, most: usize, rng: &mut Rng) -> Vec<(FragmentId, FragmentId)> {
    let living = object.living();
    let mut pairs = Vec::new();
    for &a in &living {
        for &b in living.iter().filter(|&&b| b != a) {
            let shared = object.tree(a).points_shared_with(&object.fragments, b);
            if shared.count() >= 6 {
                pairs.push((a, b));
            }
        }
    }
    while pairs.len() > most {
        pairs.swap_remove(rng.below(pairs.len()));
    }
    pairs
}

/// How two fragments move against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Motion {
    Still,
    Creeping,
    Sliding,
    Fast,
    Turning,
    /// Into each other.
    Pressing,
}

const MOTIONS: [Motion; 6] = [
    Motion::Still,
    Motion::Creeping,
    Motion::Sliding,
    Motion::Fast,
    Motion::Turning,
    Motion::Pressing,
];

/// The placement after so many steps. `out` points out of the crack.
struct Path {
    motion: Motion,
    centre: Vec3,
    radius: f32,
    way: Vec3,
    axis: Vec3,
    /// A jump before the third step, some of which end where the pair was born no longer.
    jump: Vec3,
}

impl Path {
    fn new(motion: Motion, tree: &SphereTree, out: Vec3, rng: &mut Rng) -> Self {
        let (centre, _) = tree.bounding_sphere();
        let any = rng.direction();
        Self {
            motion,
            centre,
            radius: tree.object_radius(),
            way: match motion {
                Motion::Sliding => out.cross(any).normalize_or(Vec3::X),
                Motion::Pressing => -out,
                _ => any,
            },
            axis: rng.direction(),
            jump: rng.direction() * ([0.0, 0.0025][rng.below(2)] * tree.object_radius()),
        }
    }

    /// Some tremble is in every motion but stillness.
    fn at(&self, step: u32, rng: &mut Rng) -> Pose {
        // Shares of the radius, and angles, a step.
        let (shift, turn) = match self.motion {
            Motion::Still => (0.0, 0.0),
            Motion::Creeping => (5e-5, 0.0),
            Motion::Sliding => (4e-4, 0.0),
            Motion::Fast => (2e-2, 1e-2),
            Motion::Turning => (0.0, 6e-4),
            Motion::Pressing => (3e-4, 1e-4),
        };
        let tremble = 0.1 * shift * self.radius * rng.unit();
        let turned = Pose::new(self.axis, turn * step as f32, Vec3::ZERO);
        let jump = if step < 3 { Vec3::ZERO } else { self.jump };
        let gone = self.way * (shift * self.radius * step as f32);
        let shifted = jump + gone + rng.direction() * tremble;
        Pose {
            translation: self.centre - turned.point(self.centre) + shifted,
            ..turned
        }
    }
}

/// One direction of a pair, asked as the engine asks it.
struct Pair<'a> {
    object: &'a Broken,
    a: FragmentId,
    b: FragmentId,
    query: Query,
    settings: AdaptiveSettings,
    state: PairState,
    scratch: QueryScratch,
}

impl<'a> Pair<'a> {
    fn new(object: &'a Broken, a: FragmentId, b: FragmentId, tolerance: f32) -> Self {
        let radius = object.tree(a).object_radius();
        Self {
            object,
            a,
            b,
            query: Query::new(tolerance * radius, radius),
            settings: AdaptiveSettings::default(),
            state: PairState::default(),
            scratch: QueryScratch::default(),
        }
    }

    fn tree(&self) -> &'a SphereTree {
        self.object.tree(self.a)
    }

    fn epsilon(&self) -> f32 {
        self.settings.depth_share * self.tree().object_radius()
    }

    /// Contacts, whether they are those of a newborn pair, and the work.
    fn ask(&mut self, pose: &Pose) -> (Vec<Contact>, bool, QueryStats) {
        let (tree, partner) = (self.tree(), self.object.distance(self.b));
        let question = Question::new(pose, &partner, &self.query);
        let mut out = Vec::new();
        let Self {
            settings,
            state,
            scratch,
            ..
        } = self;
        let born = tree.contacts_with_sibling(&question, settings, state, scratch, &mut out);
        let stats = born.unwrap_or_else(|| {
            tree.contacts_adaptive(&question, settings, state, scratch, &mut out)
        });
        (out, born.is_some(), stats)
    }

    /// What asking every point finds.
    fn every(&self, pose: &Pose) -> Vec<Contact> {
        let (partner, mut out) = (self.object.distance(self.b), Vec::new());
        let (tree, query) = (self.tree(), &self.query);
        tree.contacts_of_every_point(pose, &partner, query, &mut out);
        out
    }
}

/// The real surface of a fragment, in f64.
struct Truth {
    surface: FragmentSurface,
    planes: Vec<(DVec3, DVec3)>,
}

impl Truth {
    fn of(object: &Broken, id: FragmentId, scratch: &mut SurfaceScratch) -> Self {
        let surface = FragmentSurface::extract(&object.fragments, id, scratch);
        let planes = (0..surface.triangles().len()).map(|t| {
            let [a, b, c] = surface.corners(t).map(Vec3::as_dvec3);
            (a, (b - a).cross(c - a).normalize_or_zero())
        });
        Self {
            planes: planes.collect(),
            surface,
        }
    }

    /// Signed; the sign is noise where the point is on the surface.
    fn distance(&self, p: Vec3) -> f64 {
        let found = brute_force::closest(&self.surface, p).expect("a surface");
        if brute_force::inside(&self.surface, p) {
            -found.distance
        } else {
            found.distance
        }
    }

    /// Whether a face lies in the plane that a contact speaks of, and has a say there.
    fn has_plane(&self, contact: &Contact, closest: f64, [exact, band]: [f64; 2]) -> bool {
        let (p, normal) = (contact.point.as_dvec3(), contact.normal.as_dvec3());
        let faces = self.planes.iter().enumerate();
        faces.into_iter().any(|(t, &(corner, n))| {
            n.distance(normal) < 1e-3
                && ((p - corner).dot(n) - f64::from(contact.distance)).abs() < exact
                && {
                    let corners = self.surface.corners(t).map(Vec3::as_dvec3);
                    let nearest = brute_force::closest_on_triangle(p, corners);
                    nearest.distance(p) < closest.abs() + 2.0 * band
                }
        })
    }
}

/// How many contacts are of which class.
#[derive(Clone, Copy, Debug, Default)]
struct Classes {
    plane: u32,
    closest: u32,
    band: u32,
    deep: u32,
    /// Of all: no contact when every point is asked, since a kept one does not follow the turn
    /// of its point's own normal.
    decided_otherwise: u32,
    /// Of all: told by every point at the same distance, to 1e-5 radii.
    same: u32,
}

impl Classes {
    fn all(&self) -> u32 {
        self.plane + self.closest + self.band + self.deep
    }

    /// Of all, in percent.
    fn share(&self, count: u32) -> f32 {
        100.0 * count as f32 / self.all().max(1) as f32
    }

    /// Puts a contact into its class; panics where it is in none.
    fn add(&mut self, contact: &Contact, every: &[Contact], truth: &Truth, query: &Query) {
        let normals = &query.normals;
        // Lengths of the normals' rules are shares of the radius.
        let radius = 866.0 * normals.band;
        let (exact, band) = (f64::from(EXACT * radius), f64::from(normals.band));
        let distance = f64::from(contact.distance);
        let real = truth.distance(contact.point);
        let off = (distance - real).abs();
        let on_surface = real.abs() < exact && distance.abs() < exact;
        if truth.has_plane(contact, real, [exact, band]) {
            self.plane += 1;
            assert!(
                contact.distance < -normals.fall_back_depth || off < 2.0 * band,
                "{contact:?} of a face that is too far: {real}"
            );
        } else if off < exact || on_surface {
            self.closest += 1;
        } else if contact.distance < -normals.fall_back_depth {
            self.deep += 1;
            assert!(distance < real + 2.0 * band, "{contact:?}: {real}");
        } else {
            self.band += 1;
            assert!(off < 2.0 * band, "{contact:?}: {real} is {off} off");
        }
        let Some(asked) = every.iter().find(|c| c.point_id == contact.point_id) else {
            self.decided_otherwise += 1;
            return;
        };
        assert_eq!(asked.point, contact.point);
        let off = (asked.distance - contact.distance).abs();
        let is_deep = asked.distance.min(contact.distance) < -normals.fall_back_depth;
        assert!(
            is_deep || off < 3.0 * normals.band,
            "{contact:?}, {asked:?}"
        );
        self.same += u32::from(off < EXACT * radius);
    }
}

/// The last query of a newborn pair, and the first of the general method.
struct HandOver<'a> {
    before: &'a [Contact],
    after: &'a [Contact],
    every: &'a [Contact],
    moved: f32,
}

/// What happens when the general method takes over.
#[derive(Clone, Copy, Debug, Default)]
struct HandOvers {
    count: u32,
    /// Of steps so short that a contact could be kept: half a band.
    gentle: u32,
    contacts: u32,
    /// Of gentle ones: contacts of the newborn pair that are there afterwards, and have the same normal.
    same_points: u32,
    same_normals: u32,
    /// Fewer contacts afterwards than before, and than there are.
    fewer: u32,
}

impl HandOvers {
    fn add(&mut self, step: &HandOver<'_>, pair: &Pair<'_>, what: &str) {
        let band = pair.query.normals.band;
        let first = pair.settings.first as usize;
        let HandOver { before, after, .. } = *step;
        assert!(before.len() <= first && after.len() <= first, "{what}");
        assert!(
            !after.is_empty() || step.every.is_empty(),
            "{what}: {} points are near, and there is no contact",
            step.every.len()
        );
        self.count += 1;
        let is_gentle = step.moved < 0.5 * band;
        self.gentle += u32::from(is_gentle);
        self.contacts += if is_gentle { before.len() as u32 } else { 0 };
        self.fewer += u32::from(after.len() < before.len().min(step.every.len()));
        // The pair's points afterwards, whether among the first eight or not.
        for old in before {
            let by_feature = |c: &&Contact| c.point_id == old.point_id;
            let new = after.iter().find(by_feature);
            let Some(new) = new.or_else(|| step.every.iter().find(by_feature)) else {
                continue;
            };
            self.same_points += u32::from(is_gentle);
            let change = (new.distance - old.distance).abs();
            assert!(
                change <= step.moved + 2.0 * band,
                "{what}: {old:?} jumps to {new:?}, {} moved",
                step.moved
            );
            let is_same = new.normal.distance(old.normal) < 1e-3;
            self.same_normals += u32::from(is_gentle && is_same);
        }
        // What is deepest does not jump, whichever points tell it.
        let deepest = |all: &[Contact]| all.iter().map(|c| c.distance).fold(0.0, f32::min);
        let jump = deepest(after) - deepest(before);
        assert!(
            jump >= -(pair.epsilon() + step.moved + 2.0 * band),
            "{what}: {jump} deeper at once"
        );
    }
}

/// Which share of the contacts must be exact, and as every point says. The others are within
/// their bounds, which hold for every single one.
fn judge([newborn, kept, general]: [Classes; 3]) {
    let classes = [
        ("newborn", newborn, [95.0, 93.0]),
        ("kept", kept, [75.0, 87.0]),
        ("general", general, [80.0, 87.0]),
    ];
    for (name, classes, _) in &classes {
        println!(
            "{name}: {} contacts, {:.1}% exact (plane {}, closest {}), {:.1}% within the band, \
             {:.1}% deep; {:.1}% as every point says, {:.2}% decided otherwise",
            classes.all(),
            classes.share(classes.plane + classes.closest),
            classes.plane,
            classes.closest,
            classes.share(classes.band),
            classes.share(classes.deep),
            classes.share(classes.same),
            classes.share(classes.decided_otherwise),
        );
    }
    for (name, classes, [exact, same]) in classes {
        let share = |count| classes.share(count);
        assert!(classes.all() > 500, "{name}: {classes:?}");
        assert!(
            share(classes.plane + classes.closest) > exact,
            "{name}: {classes:?}"
        );
        assert!(share(classes.same) > same, "{name}: {classes:?}");
        assert!(
            share(classes.decided_otherwise) < 1.0,
            "{name}: {classes:?}"
        );
    }
}

#[test]
fn newborn_contacts_are_those_of_the_faces() {
    check_contacts(&objects());
}

#[test]
fn adapted_pairs_miss_no_deep_point() {
    check_deep_points(&objects());
}

/// Together with those made in code: the shares that must be exact are those of all.
#[test]
fn public_meshes_have_sound_newborn_pairs() {
    // Small enough for brute force.
    let meshes = data::tet_meshes(&["tet/ipc_torus.msh", "tet/ipc_plate1.msh"]);
    if meshes.is_empty() {
        return;
    }
    let mut all = objects();
    all.extend(
        meshes
            .iter()
            .map(|(file, mesh)| (*file, TetMesh::clone(mesh))),
    );
    check_contacts(&all);
    check_deep_points(&all);
}

fn check_contacts(objects: &[Object]) {
    let mut rng = Rng(61);
    let mut surfaces = SurfaceScratch::default();
    let [mut newborn, mut kept, mut general] = [Classes::default(); 3];
    let mut hand_overs = HandOvers::default();
    let (mut wanted, mut missing) = (0, 0);
    for (name, mesh) in objects {
        let object = broken_twice(mesh.clone(), &mut rng);
        for (a, b) in siblings(&object, 6, &mut rng) {
            let truth = Truth::of(&object, b, &mut surfaces);
            let tree = object.tree(a);
            let shared: Vec<u32> = tree
                .points_shared_with(&object.fragments, b)
                .map(|point| tree.point_id(point))
                .collect();
            for motion in MOTIONS {
                let tolerance = [0.002, 0.01][rng.below(2)];
                let mut pair = Pair::new(&object, a, b, tolerance);
                let (first, ..) = pair.ask(&Pose::IDENTITY);
                let out = first.iter().map(|c| c.normal).sum::<Vec3>();
                let path = Path::new(motion, pair.tree(), out.normalize_or(Vec3::Y), &mut rng);
                let what = format!("{name}, {a} and {b}, {motion:?}");
                let mut last = (Pose::IDENTITY, first, true);
                for step in 0..20 {
                    let pose = path.at(step, &mut rng);
                    let (found, is_newborn, stats) = pair.ask(&pose);
                    let every = pair.every(&pose);
                    // The first eight, or as many as there are: of a newborn pair, of the points
                    // that it shares.
                    let counts = |c: &&Contact| !is_newborn || shared.contains(&c.point_id);
                    let there = every.iter().filter(counts).count();
                    let there = there.min(pair.settings.first as usize);
                    wanted += there;
                    missing += there.saturating_sub(found.len());
                    let classes = match (is_newborn, stats.distance_queries) {
                        (true, _) => &mut newborn,
                        (false, 0) => &mut kept,
                        (false, _) => &mut general,
                    };
                    for contact in &found {
                        classes.add(contact, &every, &truth, &pair.query);
                    }
                    if is_newborn {
                        // Nothing is deeper than the pair has moved.
                        let moved = pair.tree().motion_bound(&Pose::IDENTITY, &pose);
                        let slack = moved + 2.0 * pair.query.normals.band;
                        assert!(every.iter().all(|c| c.distance > -slack), "{what}");
                        assert!(found.len() <= pair.settings.first as usize);
                    } else if last.2 {
                        let hand_over = HandOver {
                            before: &last.1,
                            after: &found,
                            every: &every,
                            moved: pair.tree().motion_bound(&last.0, &pose),
                        };
                        hand_overs.add(&hand_over, &pair, &what);
                    }
                    last = (pose, found, is_newborn);
                }
            }
        }
    }
    judge([newborn, kept, general]);
    println!("{hand_overs:?}");
    assert!(hand_overs.count > 40 && hand_overs.gentle > 15);
    assert!(hand_overs.same_points * 100 > hand_overs.contacts * 80);
    assert!(hand_overs.same_normals * 100 > hand_overs.same_points * 80);
    assert!(hand_overs.fewer * 20 < hand_overs.count);
    println!("{missing} contacts fewer than there are, or than eight, of {wanted}");
    assert!(missing * 200 < wanted, "{missing} of {wanted}");
}

fn check_deep_points(objects: &[Object]) {
    let mut rng = Rng(62);
    let mut surfaces = SurfaceScratch::default();
    let (mut adapted, mut deep, mut sideways) = (0_u32, 0_u32, 0_u32);
    for (name, mesh) in objects {
        let object = broken_twice(mesh.clone(), &mut rng);
        for (round, (a, b)) in siblings(&object, 9, &mut rng).into_iter().enumerate() {
            let truth = Truth::of(&object, b, &mut surfaces);
            let mut pair = Pair::new(&object, a, b, 0.0);
            pair.settings.deep_work = [2, 16, 128][rng.below(3)];
            let epsilon = pair.epsilon();
            let (first, ..) = pair.ask(&Pose::IDENTITY);
            let out = first.iter().map(|c| c.normal).sum::<Vec3>();
            let motion = [Motion::Pressing, Motion::Sliding, Motion::Turning][round % 3];
            let path = Path::new(motion, pair.tree(), out.normalize_or(Vec3::Y), &mut rng);
            // Presses for a while, then trembles where it is.
            for step in 0..80_u32 {
                let pose = path.at(step.min(30), &mut rng);
                let (found, is_newborn, _) = pair.ask(&pose);
                if is_newborn || !pair.state.is_adapted() {
                    continue;
                }
                adapted += 1;
                for point in pair.every(&pose) {
                    // The field may overstate depths: the real faces tell.
                    if point.distance > -1.01 * epsilon {
                        continue;
                    }
                    let depth = -truth.distance(point.point) as f32;
                    if depth < 1.01 * epsilon {
                        continue;
                    }
                    deep += 1;
                    let contact = found.iter().find(|c| c.point_id == point.point_id);
                    match contact {
                        Some(contact) => assert!(
                            contact.distance < -depth + epsilon,
                            "{name}, {a} and {b}: {contact:?} is {depth} deep"
                        ),
                        // Up to there a point that touches sideways is none, and which one does
                        // is kept with it.
                        None if depth < pair.query.normals.fall_back_depth => sideways += 1,
                        None => panic!("{name}, {a} and {b}: {point:?} is left out"),
                    }
                }
            }
        }
    }
    println!("{adapted} queries that are adapted: {deep} deep points, {sideways} sideways");
    assert!(adapted > 300 && deep > 3000, "{adapted}, {deep}");
    assert!(sideways * 200 < deep, "{sideways} of {deep}");
}
