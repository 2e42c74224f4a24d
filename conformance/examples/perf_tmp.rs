use fracas::sphere_tree::*;
use fracas::testing::*;
use fracas::*;
use fracas_conformance::broken::*;
use glam::Vec3;
use std::time::Duration;
/// CPU time clock
struct Instant(u64);
impl Instant {
    fn now() -> Self {
        Self(cpu())
    }
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(cpu() - self.0)
    }
}
fn cpu() -> u64 {
    std::thread::yield_now();
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap()
}

fn main() {
    let mut rng = Rng(9);
    let pts: Vec<Vec3> = (0..100_000).map(|_| rng.direction()).collect();
    let t = Instant::now();
    let o = order::maximum_distance_order(&pts);
    println!("order 100k sphere {:?} gap {}", t.elapsed(), o.gaps[50_000]);
    let pts: Vec<Vec3> = (0..100_000)
        .map(|_| rng.in_box(Vec3::ZERO, Vec3::ONE))
        .collect();
    let t = Instant::now();
    let o = order::maximum_distance_order(&pts);
    println!("order 100k box {:?} gap {}", t.elapsed(), o.gaps[50_000]);
    let (mesh, _) = fracas_bake::read::read_tet_mesh(
        fracas_conformance::data::find("tet/ipc_bunny.msh").unwrap(),
    )
    .unwrap();
    let whole = Broken::new(mesh);
    let fracture = cells(&whole.fragments, FragmentId(0), 27, &mut Rng(4)).unwrap();
    let mut best = [f64::INFINITY; 3];
    let mut scratch = SplitScratch::default();
    let n: usize = std::env::args().nth(1).map_or(10, |s| s.parse().unwrap());
    for _ in 0..n {
        let mut b = whole.clone();
        let t = Instant::now();
        let split = b.fragments.apply(&fracture).unwrap();
        let t0 = t.elapsed().as_secs_f64() * 1e3;
        let t = Instant::now();
        b.field.apply(&b.fragments, &split);
        let t1 = t.elapsed().as_secs_f64() * 1e3;
        let t = Instant::now();
        let trees = b.trees[0].as_ref().unwrap().apply(
            &b.fragments,
            &split,
            Restructuring::MaximumDistance,
            &mut scratch,
        );
        let t2 = t.elapsed().as_secs_f64() * 1e3;
        for (b, t) in best.iter_mut().zip([t0, t1, t2]) {
            *b = b.min(t);
        }
        let pts: usize = trees.iter().map(|t| t.point_count()).sum();
        let nds: usize = trees.iter().map(|t| t.node_count()).sum();
        std::hint::black_box((pts, nds));
        if best[0] == t0 {
            println!(
                "children {} cut tets {} edges {} points {pts} nodes {nds} depth {}",
                split.children.len(),
                split.cut_tets.len(),
                split.cut_edges.len(),
                trees.iter().map(|t| t.depth()).max().unwrap()
            );
        }
    }
    println!(
        "fragments.apply {:.3} field.apply {:.3} trees {:.3} ms",
        best[0], best[1], best[2]
    );
    let mut b = whole.clone();
    b.apply(&fracture);
    let living = b.living();
    for (name, tol, sel, rule) in [
        (
            "first8 opposed tol .1%",
            0.001,
            Selection::First(8),
            NormalRule::Opposed,
        ),
        (
            "first8 field tol .1%",
            0.001,
            Selection::First(8),
            NormalRule::Field,
        ),
        (
            "full opposed tol .1%",
            0.001,
            Selection::All,
            NormalRule::Opposed,
        ),
        (
            "full field tol .1%",
            0.001,
            Selection::All,
            NormalRule::Field,
        ),
        ("full field tol 0", 0.0, Selection::All, NormalRule::Field),
    ] {
        let mut stats = QueryStats::default();
        let mut bestt = f64::INFINITY;
        let mut qs = QueryScratch::default();
        let mut out = vec![];
        let mut pairs = 0;
        for _ in 0..5 {
            let t = Instant::now();
            stats = QueryStats::default();
            pairs = 0;
            for &x in &living {
                for &y in &living {
                    if x == y {
                        continue;
                    }
                    let (l, h) = b.field.bounds(x);
                    let (l2, h2) = b.field.bounds(y);
                    if (l - h2).max(l2 - h).max_element() > 0.0 {
                        continue;
                    }
                    pairs += 1;
                    out.clear();
                    let r = b.tree(x).object_radius();
                    let mut q = Query::new(tol * r, r).select(sel);
                    q.normals.rule = rule;
                    stats.add(&b.tree(x).contacts(
                        &Pose::IDENTITY,
                        &b.distance(y),
                        &q,
                        &mut qs,
                        &mut out,
                    ));
                }
            }
            bestt = bestt.min(t.elapsed().as_secs_f64() * 1e3);
        }
        println!("{name}: {bestt:.3} ms, {pairs} directed pairs, {stats:?}");
    }
}
