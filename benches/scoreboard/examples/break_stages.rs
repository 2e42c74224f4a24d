//! The stages of one break, each by itself: processor time of this thread, best of many,
//! so that a busy machine disturbs least; and a hash over all cracks decided for sixty
//! other impacts, to compare builds that must decide alike.
//!
//! `cargo run --release -p fracas-scoreboard --example break_stages [SHAPE]`

use std::hint::black_box;
use std::sync::Arc;

use fracas_core::sphere_tree::{BuildOptions, SplitMethod, SplitScratch};
use fracas_core::{FieldOptions, FragmentField, FragmentId, FragmentMass, Fragments, SphereTree};
use fracas_fracture::{
    Decision, FractureEvent, FractureSettings, GrowthOptions, Impact, Material, Modes, ModesOptions,
};
use glam::Vec3;
use rustix::time::{ClockId, clock_gettime};

/// A body, how it breaks, and how fast it falls.
struct Case {
    shape: &'static str,
    material: Material,
    settings: FractureSettings,
    speed: f32,
}

fn cases() -> [Case; 3] {
    let usual = FractureSettings::default();
    [
        Case {
            shape: "piggy-bank",
            material: Material::EARTHENWARE,
            // As in the scene.
            settings: FractureSettings {
                max_fragments: 27,
                max_cracks: 54,
                relief: Some(0.2 * fracas_bake::shapes::PIGGY_BANK_WALL as f32),
                growth: GrowthOptions {
                    turning: 0.2,
                    roughness: 0.05,
                    least_nodes: 16,
                },
                ..usual
            },
            speed: 6.0,
        },
        Case {
            shape: "plate",
            material: Material::PORCELAIN,
            settings: FractureSettings {
                max_fragments: 11,
                ..usual
            },
            speed: 5.0,
        },
        Case {
            shape: "brick",
            material: Material::BRICK,
            settings: usual,
            speed: 5.0,
        },
    ]
}

fn main() {
    let only = std::env::args().nth(1).unwrap_or_default();
    for case in cases() {
        if case.shape.contains(&only) {
            measure(&case);
        }
    }
}

fn measure(case: &Case) {
    let shape = fracas_bake::shapes::by_name(case.shape).expect("a shape of the set");
    let mesh = Arc::new(shape.build());
    let whole = Fragments::new(mesh.clone());
    let options = ModesOptions {
        count: 40,
        ..Default::default()
    };
    let modes = Modes::compute(&whole, FragmentId(0), &case.material, &options, &mut |_| ());
    let modes = modes.expect("a sound body has modes");
    let mut memory = FractureEvent::new();
    let mut decide = |impact: Impact, event: u64, settings: &FractureSettings| {
        let id = FragmentId(0);
        memory.decide((&whole, id), &modes, &[impact], 0.015, event, settings)
    };
    let mut hash = 1;
    for k in 0..60_u8 {
        let t = f32::from(k);
        let up = Vec3::new(
            (1.7 * t).sin(),
            (0.9 * t + 2.6).sin(),
            (2.3 * t + 0.5).sin(),
        );
        let impact = drop_on_stone(&mesh, &modes, up.normalize(), case.speed * (0.7 + 0.05 * t));
        let base = if k % 3 == 0 {
            FractureSettings::default()
        } else {
            case.settings
        };
        let settings = FractureSettings {
            seed: k.into(),
            scatter: k % 4 == 3,
            ..base
        };
        add_decision(&mut hash, &decide(impact, k.into(), &settings));
    }
    println!(
        "{}: all that was decided has the hash {hash:016x}",
        case.shape
    );
    let up = Vec3::new(0.15, 1.0, 0.2).normalize();
    let impact = drop_on_stone(&mesh, &modes, up, case.speed);
    let decision = decide(impact, 1, &case.settings);
    let deciding = best(60, || decide(impact, 1, &case.settings));
    let stats = decision.stats;
    let (cracks, unpaid, crumbs) = (stats.cracks, stats.unpaid, stats.crumbs);
    let fracture = decision.fracture.expect("it breaks");
    let mut copies = vec![whole.clone(); 21];
    let mut fragments = copies.pop().expect("a copy");
    let split = fragments.apply(&fracture).expect("fractures are sound");
    let cutting = best(20, || copies.pop().expect("a copy").apply(&fracture));
    let masses = best(20, || FragmentMass::of_split(&fragments, &split));
    let field = FragmentField::build(&whole, &FieldOptions::default()).expect("it is whole");
    let mut copies = vec![field; 20];
    let updating = best(20, || {
        let mut field = copies.pop().expect("a copy");
        field.apply(&fragments, &split);
        field
    });
    let tree = SphereTree::build(&mesh, &BuildOptions::default()).expect("a sound mesh");
    let radii = best(20, || tree.radii_after(&fragments, &split));
    let mut scratch = SplitScratch::default();
    let way = SplitMethod::default();
    let trees = best(20, || tree.apply(&fragments, &split, way, &mut scratch));
    let adjacency = best(10, || {
        fracas_core::TetMesh::build(mesh.positions().to_vec(), mesh.tets().to_vec())
    });
    println!(
        "  {cracks} cracks, {unpaid} not paid for, {crumbs} given up as crumbs, {} pieces; ms: deciding {deciding:.2}, \
         cutting {cutting:.2}, masses {masses:.2}, field {updating:.2}, radii {radii:.2}; \
         later: trees {trees:.2}; loading: adjacency {adjacency:.2}",
        split.children.len(),
    );
}

/// The shortest of so many runs, in milliseconds on the processor.
fn best<T>(runs: usize, mut work: impl FnMut() -> T) -> f64 {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
    };
    (0..runs)
        .map(|_| {
            let start = now();
            black_box(work());
            now() - start
        })
        .fold(f64::INFINITY, f64::min)
}

/// A body that falls on a stone floor, `up` being upwards in its own frame.
fn drop_on_stone(mesh: &fracas_core::TetMesh, modes: &Modes, up: Vec3, speed: f32) -> Impact {
    let lowest = mesh
        .positions()
        .iter()
        .copied()
        .min_by(|a, b| a.dot(up).total_cmp(&b.dot(up)))
        .expect("a mesh has nodes");
    let mass = 0.5 * modes.mass() as f32;
    Impact {
        point: lowest,
        impulse: 1.2 * speed * mass * up,
        speed,
        effective_mass: mass,
        radius: 0.0,
        other_modulus: Material::GRANITE.contact_modulus(),
    }
}

fn add_decision(hash: &mut u64, decision: &Decision) {
    let mut add = |word: u64| {
        *hash = (*hash ^ word)
            .wrapping_mul(0x0100_0000_01b3)
            .rotate_left(17);
    };
    let stats = &decision.stats;
    for count in [stats.crumbs, stats.cracks, stats.unpaid] {
        add(count as u64);
    }
    for value in [stats.area, stats.time, stats.spent] {
        add(value.to_bits());
    }
    for crack in decision.fracture.iter().flat_map(|f| &f.cracks) {
        add(crack.part.into());
        for &(n, level) in &crack.levels {
            add(u64::from(n) << 32 | u64::from(level.to_bits()));
        }
    }
}
