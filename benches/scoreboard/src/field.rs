//! Cut and measure: cracks, fragments and the fragment distance field
//! (Glondu 2013, sections 4, 7.2 and 7.3).

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use fracas_bake::read_tet_mesh;
use fracas_conformance::data;
use fracas_core::sphere_tree::{BuildOptions, SplitMethod, SplitScratch};
use fracas_core::testing::{Rng, box_grid};
use fracas_core::{
    Crack, FieldOptions, Fracture, FragmentField, FragmentId, FragmentSurface, Fragments,
    SphereTree, Split, SurfaceScratch, TetMesh, brute_force,
};
use fracas_fracture::patterns::{VoronoiOptions, voronoi};
use fracas_scenes::experiments::ball::ball;
use glam::Vec3;

use crate::board::{Board, Measured, Target, best_ms, growth_exponent};
use crate::kd_tree::KdTree;

/// Rows of cut and field.
pub fn rows(board: &mut Board) {
    if !board.wants_group("field") {
        return;
    }
    spheres(board);
    growth(board);
    match data::find("tet/ipc_bunny.msh").map(read_tet_mesh) {
        Some(Ok((mesh, _))) => bunny(board, Arc::new(mesh)),
        Some(Err(error)) => board.skip("field/bunny", &error.to_string()),
        None => board.skip("field/bunny", "needs tet/ipc_bunny.msh"),
    }
}

fn cells(fragments: &Fragments, pieces: u32, seed: u64) -> Fracture {
    let options = VoronoiOptions {
        pieces,
        seed,
        ..VoronoiOptions::default()
    };
    voronoi(fragments, FragmentId(0), &options).expect("a whole object breaks")
}

fn plane(fragments: &Fragments, id: FragmentId, direction: Vec3, offset: f32) -> Option<Fracture> {
    let mesh = fragments.mesh();
    let crack = Crack::from_level(mesh, 0, fragments.fragment(id).nodes(), |n| {
        direction.dot(mesh.positions()[n as usize]) - offset
    })?;
    let cracks = vec![crack];
    Some(Fracture {
        fragment: id,
        cracks,
    })
}

/// Shortest times of cut, field update and surface extraction, in milliseconds.
struct Event {
    cut: f64,
    update: f64,
    /// What is made when somebody first asks: cells and the tree of faces of every piece.
    cells: f64,
    faces: f64,
    surface: f64,
    split: Split,
    note: String,
}

fn measure(
    fragments: &Fragments,
    field: &FragmentField,
    fracture: &Fracture,
    runs: usize,
) -> Event {
    measure_after(fragments, field, fracture, runs, || ())
}

/// The same, with something done before each run.
fn measure_after(
    fragments: &Fragments,
    field: &FragmentField,
    fracture: &Fracture,
    runs: usize,
    mut before: impl FnMut(),
) -> Event {
    let mut event: Option<Event> = None;
    for _ in 0..runs {
        let (mut fragments, mut field) = (fragments.clone(), field.clone());
        before();
        let start = Instant::now();
        let split = fragments.apply(fracture).expect("the fracture is sound");
        let cut = start.elapsed().as_secs_f64() * 1e3;
        let start = Instant::now();
        field.apply(&fragments, &split);
        let update = start.elapsed().as_secs_f64() * 1e3;
        let [cells, faces] = ask_first(&fragments, &field, &split);
        let mut scratch = SurfaceScratch::default();
        let surface = best_ms(1, || {
            for &id in &split.children {
                black_box(FragmentSurface::extract(&fragments, id, &mut scratch));
            }
        });
        let stats = field.stats();
        let note = format!(
            "{} pieces, {} tets cut of {}, {} updates, {} tests",
            split.children.len(),
            stats.cut_tets,
            fragments.mesh().tets().len(),
            stats.updates,
            stats.tests,
        );
        let last = event.take();
        event = Some(match last {
            None => Event {
                cut,
                update,
                cells,
                faces,
                surface,
                split,
                note,
            },
            Some(best) => Event {
                cut: cut.min(best.cut),
                update: update.min(best.update),
                cells: cells.min(best.cells),
                faces: faces.min(best.faces),
                surface: surface.min(best.surface),
                ..best
            },
        });
    }
    event.expect("at least one run")
}

/// Milliseconds that the first questions to all new pieces take: whether a sphere may touch
/// them (cells), and what is nearest to a point (trees of faces).
fn ask_first(fragments: &Fragments, field: &FragmentField, split: &Split) -> [f64; 2] {
    let each = |ask: &dyn Fn(FragmentId, Vec3)| {
        let start = Instant::now();
        for &id in &split.children {
            let node = fragments.fragment(id).nodes()[0];
            ask(id, fragments.mesh().positions()[node as usize]);
        }
        start.elapsed().as_secs_f64() * 1e3
    };
    let small = 1e-3 * field.edge();
    let cells = each(&|id, p| {
        black_box(field.of(fragments, id).sphere_may_touch(p, small));
    });
    let faces = each(&|id, p| {
        black_box(field.of(fragments, id).nearest(p, small));
    });
    [cells, faces]
}

/// Milliseconds to divide the sphere tree of an unbroken object.
fn divide_tree(mesh: &TetMesh, fragments: &Fragments, split: &Split) -> f64 {
    let tree = SphereTree::build(mesh, &BuildOptions::default()).expect("a sound mesh");
    let mut scratch = SplitScratch::default();
    let way = SplitMethod::default();
    best_ms(9, || tree.apply(fragments, split, way, &mut scratch))
}

fn spheres(board: &mut Board) {
    for (name, triangles, interior, paper) in [
        ("2.5k-4k", 2500, 4000, 1.54),
        ("10k-4k", 10_000, 4000, 1.8),
        ("2.5k-435", 2500, 435, 0.46),
    ] {
        let wanted = ["update", "all", "cut", "surface"]
            .iter()
            .any(|what| board.wants_row(&format!("field/{what}-sphere-{name}")));
        if !wanted {
            continue;
        }
        let mesh = Arc::new(ball(triangles, interior));
        let fragments = Fragments::new(mesh.clone());
        let field = FragmentField::build(&fragments, &FieldOptions::default()).expect("a field");
        let broken = measure(&fragments, &field, &cells(&fragments, 8, 1), 40);
        let direction = Vec3::new(0.6, 0.48, 0.64);
        let halves = plane(&fragments, FragmentId(0), direction, 0.05).expect("a plane parts it");
        let halved = measure(&fragments, &field, &halves, 40);
        let size = format!(
            "{} triangles, {} nodes; {}; two halves: {:.3} ms, {}",
            mesh.boundary().count(),
            mesh.positions().len(),
            broken.note,
            halved.update,
            halved.note,
        );
        board.row(
            &format!("field/update-sphere-{name}"),
            "ms",
            Target::AtMost((paper / 3.0 * 1000.0_f64).round() / 1000.0),
            || {
                Measured::new(broken.update)
                    .against("Glondu 2013", "2013", paper)
                    .note(size)
            },
        );
        board.row(
            &format!("field/all-sphere-{name}"),
            "ms",
            Target::None,
            || {
                let mut after = fragments.clone();
                let fracture = cells(&fragments, 8, 1);
                let split = after.apply(&fracture).expect("the fracture is sound");
                let trees = divide_tree(&mesh, &after, &split);
                let Event {
                    update,
                    cells,
                    faces,
                    ..
                } = broken;
                Measured::new(update + cells + faces + trees).note(format!(
                    "before the next step {update:.3}; when first asked, all pieces: cells {cells:.3}, trees of faces {faces:.3}, sphere trees {trees:.3}"
                ))
            },
        );
        board.row(
            &format!("field/cut-sphere-{name}"),
            "ms",
            Target::None,
            || Measured::new(broken.cut).note(format!("two halves take {:.3}", halved.cut)),
        );
        board.row(
            &format!("field/surface-sphere-{name}"),
            "ms",
            Target::None,
            || {
                Measured::new(broken.surface).note(format!(
                    "surfaces and masses of all {} pieces; two halves take {:.3}",
                    broken.split.children.len(),
                    halved.surface
                ))
            },
        );
    }
}

fn growth(board: &mut Board) {
    let names = [
        "field/update-growth",
        "field/cut-growth",
        "field/surface-growth",
    ];
    if !names.iter().any(|name| board.wants_row(name)) {
        return;
    }
    let mut points: [Vec<(f64, f64)>; 3] = Default::default();
    let mut last = String::new();
    let mut shares = Vec::new();
    let options = FieldOptions {
        // The outer surface stays as it is when something breaks: a small grid does.
        outer_surface_most_cells: 16,
        ..FieldOptions::default()
    };
    // As many pieces as cut about the same share of the tetrahedra in each: pieces of
    // one size would not, since few of a small box's sides are cracks.
    for (side, pieces) in [(12, 7), (20, 20), (32, 55), (55, 192)] {
        let mesh = Arc::new(box_grid([side; 3], Vec3::splat(side as f32)));
        let fragments = Fragments::new(mesh.clone());
        let field = FragmentField::build(&fragments, &options).expect("a field");
        let event = measure(&fragments, &field, &cells(&fragments, pieces, 3), 3);
        let tets = mesh.tets().len() as f64;
        for (list, ms) in points
            .iter_mut()
            .zip([event.update, event.cut, event.surface])
        {
            list.push((tets, ms));
        }
        shares.push(format!(
            "{:.0}%",
            100.0 * event.split.cut_tets.len() as f64 / tets
        ));
        last = event.note;
    }
    let shares = shares.join(", ");
    for (name, list) in names.iter().zip(&points) {
        let each = list
            .iter()
            .map(|(tets, ms)| format!("{tets:.0}: {ms:.2} ms ({:.0} ns a tet)", ms * 1e6 / tets))
            .collect::<Vec<_>>()
            .join(", ");
        board.row(name, "exponent", Target::AtMost(1.15), || {
            Measured::new(growth_exponent(list)).note(format!("{each}; cut {shares}; last: {last}"))
        });
    }
}

/// Random points, so many per fragment, inside or around it.
fn points_of(
    fragments: &Fragments,
    field: &FragmentField,
    id: FragmentId,
    rng: &mut Rng,
    count: usize,
    inside: bool,
) -> Vec<Vec3> {
    let distance = field.of(fragments, id);
    let (low, high) = distance.bounds();
    let margin = if inside {
        Vec3::ZERO
    } else {
        (high - low) * 0.5
    };
    let mut points = Vec::new();
    while points.len() < count {
        let p = rng.in_box(low - margin, high + margin);
        if distance.inside(p).is_some() == inside {
            points.push(p);
        }
    }
    points
}

/// Nanoseconds per point, the shortest of some rounds over all of them.
fn per_point(points: &[Vec3], mut query: impl FnMut(Vec3) -> f32) -> f64 {
    let ms = best_ms(30, || points.iter().map(|&p| query(p)).sum::<f32>());
    ms * 1e6 / points.len() as f64
}

fn bunny(board: &mut Board, mesh: Arc<TetMesh>) {
    let mut fragments = Fragments::new(mesh.clone());
    let mut field = FragmentField::build(&fragments, &FieldOptions::default()).expect("a field");
    let fracture = cells(&fragments, 16, 5);
    let split = fragments.apply(&fracture).expect("the fracture is sound");
    field.apply(&fragments, &split);
    let mut rng = Rng(4);
    // The fragment with most nodes, and few points: all in cache.
    let id = split
        .children
        .iter()
        .copied()
        .max_by_key(|&id| fragments.fragment(id).nodes().len())
        .expect("children");
    let view = field.of(&fragments, id);
    let inside = points_of(&fragments, &field, id, &mut rng, 500, true);
    let outside = points_of(&fragments, &field, id, &mut rng, 500, false);
    let places: Vec<_> = inside.iter().filter_map(|&p| view.inside(p)).collect();
    board.row(
        "field/penetration-bunny",
        "ns",
        Target::AtMost(150.0),
        || {
            let ms = best_ms(30, || {
                places
                    .iter()
                    .map(|at| view.penetration(at).depth)
                    .sum::<f32>()
            });
            let alone = ms * 1e6 / places.len() as f64;
            let both = per_point(&inside, |p| {
                view.inside(p).map_or(0.0, |at| view.penetration(&at).depth)
            });
            Measured::new(both).note(format!(
                "insideTest and penetration; {alone:.0} without insideTest; 16 pieces"
            ))
        },
    );
    board.row("field/inside-bunny", "ns", Target::None, || {
        let out = per_point(&outside, |p| {
            view.inside(p).map_or(0.0, |at| at.barycentric[0])
        });
        let ns = per_point(&inside, |p| {
            view.inside(p).map_or(0.0, |at| at.barycentric[0])
        });
        Measured::new(ns).note(format!("{out:.0} for points outside"))
    });
    let size = (view.bounds().1 - view.bounds().0).max_element();
    board.row(
        "field/sphere-test-bunny",
        "ns",
        Target::AtMost(60.0),
        || {
            let radius = 0.05 * size;
            let ns = per_point(&outside, |p| {
                f32::from(u8::from(view.sphere_may_touch(p, radius)))
            });
            let kept = outside
                .iter()
                .filter(|&&p| view.sphere_may_touch(p, radius))
                .count();
            let near = outside
                .iter()
                .filter(|&&p| view.nearest(p, radius).is_some())
                .count();
            Measured::new(ns).note(format!(
                "radius 5% of the fragment: {kept} of {} kept, {near} touch",
                outside.len()
            ))
        },
    );
    board.row("field/nearest-bunny", "ns", Target::None, || {
        let max = 0.02 * size;
        let near: Vec<Vec3> = outside
            .iter()
            .copied()
            .filter(|&p| view.sphere_may_touch(p, max))
            .collect();
        let ns = per_point(&near, |p| view.nearest(p, max).map_or(0.0, |n| n.distance));
        Measured::new(ns).note(format!("within 2% of the fragment, {} points", near.len()))
    });
    locate(board, &mesh, &fragments, &field);
    accuracy(board, &fragments, &field);
    memory(board, &fragments, &field);
    rest_of_object(board);
}

fn locate(board: &mut Board, mesh: &Arc<TetMesh>, fragments: &Fragments, field: &FragmentField) {
    board.row("field/locate-bunny", "ns", Target::None, || {
        let tree = KdTree::build(mesh);
        let mut rng = Rng(8);
        let points: Vec<Vec3> = fragments
            .living()
            .flat_map(|id| points_of(fragments, field, id, &mut rng, 60, true))
            .collect();
        let ns = per_point(&points, |p| {
            field.locate(fragments, p).map_or(0.0, |at| at.tet as f32)
        });
        let by_tree = per_point(&points, |p| {
            let found = tree.locate(p, |t| {
                let [a, b, c, d] = FragmentField::barycentric(mesh, t, p);
                a.min(b).min(c.min(d)) >= 0.0
            });
            found.map_or(0.0, |t| t as f32)
        });
        Measured::new(ns)
            .against("k-d tree over tets", "2013", by_tree)
            .note(format!(
                "{:.1} bytes a tet, k-d tree {:.1}",
                field.bytes().location as f64 / mesh.tets().len() as f64,
                tree.bytes() as f64 / mesh.tets().len() as f64
            ))
    });
}

/// Direction and nodal distances against brute force over the real triangles.
fn accuracy(board: &mut Board, fragments: &Fragments, field: &FragmentField) {
    let names = ["field/direction-bunny", "field/nodes-off-bunny"];
    if !names.iter().any(|name| board.wants_row(name)) {
        return;
    }
    let mut scratch = SurfaceScratch::default();
    let mut rng = Rng(17);
    let (mut angles, mut over) = (Vec::new(), Vec::new());
    for id in fragments.living() {
        let surface = FragmentSurface::extract(fragments, id, &mut scratch);
        let exact = |p: Vec3| brute_force::closest(&surface, p).expect("a surface");
        for &n in fragments.fragment(id).nodes() {
            let p = fragments.mesh().positions()[n as usize];
            over.push(
                (f64::from(field.at_node(n).0) - exact(p).distance) / f64::from(field.edge()),
            );
        }
        // Half of the points anywhere, half along a way in from a random triangle.
        let view = field.of(fragments, id);
        let (low, high) = view.bounds();
        let mut samples = Vec::new();
        for k in 0..400 {
            let t = rng.below(surface.triangles().len());
            let [a, b, c] = surface.corners(t);
            let p = if k % 2 == 0 {
                rng.in_box(low, high)
            } else {
                (a + b + c) / 3.0 - surface.normal(t) * (rng.unit() * 0.5 * field.edge())
            };
            if let Some(at) = view.inside(p) {
                samples.push((at, exact(p)));
            }
        }
        let inner = samples.iter().fold(0.0_f64, |r, (_, e)| r.max(e.distance));
        for (at, exact) in samples {
            if exact.distance < 0.1 * inner && exact.distance > 1e-4 * f64::from(field.edge()) {
                let way = (exact.point - at.point.as_dvec3()).normalize();
                let cosine = view.penetration(&at).normal.as_dvec3().dot(way);
                angles.push(cosine.clamp(-1.0, 1.0).acos().to_degrees());
            }
        }
    }
    angles.sort_by(f64::total_cmp);
    over.sort_by(f64::total_cmp);
    let at = |list: &[f64], share: f64| list[((list.len() - 1) as f64 * share) as usize];
    board.row(names[0], "degrees", Target::AtMost(15.0), || {
        Measured::new(at(&angles, 0.95)).note(format!(
            "95% of {} points at less than a tenth of the inner radius; median {:.2}, largest {:.1}",
            angles.len(),
            at(&angles, 0.5),
            at(&angles, 1.0)
        ))
    });
    let off = over.iter().filter(|&&x| x > 0.2).count();
    board.row(names[1], "%", Target::AtMost(0.1), || {
        Measured::new(100.0 * off as f64 / over.len() as f64).note(format!(
            "{off} of {} nodes more than 0.2 edges above the exact distance; largest {:.3} above, {:.1e} below",
            over.len(),
            at(&over, 1.0),
            -at(&over, 0.0)
        ))
    });
}

fn memory(board: &mut Board, fragments: &Fragments, field: &FragmentField) {
    let mesh = fragments.mesh();
    let (tets, nodes) = (mesh.tets().len() as f64, mesh.positions().len() as f64);
    let bytes = field.bytes();
    // Positions, tetrahedra, neighbours, and both adjacency lists with their starts.
    let edges: usize = (0..nodes as u32)
        .map(|n| mesh.adjacent_nodes(n).len())
        .sum();
    let of_mesh = nodes * 12.0 + tets * 48.0 + edges as f64 * 4.0 + nodes * 8.0;
    let of_field =
        (bytes.nodes + bytes.features + bytes.location + bytes.occupancy + bytes.scratch) as f64;
    let all = of_mesh + fragments.bytes() as f64 + of_field;
    let cut = (0..tets as u32)
        .filter(|&t| fragments.cut(t).is_some())
        .count();
    board.row("field/bytes-per-tet", "bytes", Target::AtMost(120.0), || {
        Measured::new(all / tets).note(format!(
            "mesh {:.1}, labels and cuts {:.1}, field nodes {:.1}, features {:.1}, location {:.1}, occupancy {:.1}, front {:.1}; outer surface's grid aside {:.1}; {:.0}% of tets cut, {} pieces",
            of_mesh / tets,
            fragments.bytes() as f64 / tets,
            bytes.nodes as f64 / tets,
            bytes.features as f64 / tets,
            bytes.location as f64 / tets,
            bytes.occupancy as f64 / tets,
            bytes.scratch as f64 / tets,
            bytes.outer_surface_grid as f64 / tets,
            100.0 * cut as f64 / tets,
            fragments.living().count(),
        ))
    });
    board.row(
        "field/bytes-per-node",
        "bytes",
        Target::AtMost(20.0),
        || {
            Measured::new(bytes.nodes as f64 / nodes)
                .note("distance, direction, feature; the label is 4 more".to_string())
        },
    );
}

/// The same fragment broken in a small object and in a large, shattered one.
fn rest_of_object(board: &mut Board) {
    board.row("field/rest-of-object", "ratio", Target::AtMost(1.3), || {
        let options = FieldOptions {
            outer_surface_most_cells: 16,
            ..FieldOptions::default()
        };
        let mut times = Vec::new();
        for long in [24_u32, 240] {
            let size = Vec3::new(long as f32, 12.0, 12.0);
            let mesh = Arc::new(box_grid([long, 12, 12], size));
            let mut fragments = Fragments::new(mesh);
            let mut field = FragmentField::build(&fragments, &options).expect("a field");
            // Cut off slices from the far end until a block of twelve is left.
            let mut rest = FragmentId(0);
            let mut at = long as f32 - 3.3;
            while at > 12.0 {
                let fracture = plane(&fragments, rest, Vec3::X, at).expect("a slice");
                let split = fragments.apply(&fracture).expect("sound");
                field.apply(&fragments, &split);
                rest = split.children[0];
                at -= 3.0;
            }
            let fracture = plane(&fragments, rest, Vec3::new(0.6, 0.0, 0.8), 6.1).expect("a plane");
            // Copies of the large object sweep the caches, those of the small one do not:
            // a sweep before each run makes both start alike.
            let mut sweep = vec![0_u8; 32 << 20];
            let event = measure_after(&fragments, &field, &fracture, 30, || {
                sweep.iter_mut().for_each(|x| *x = x.wrapping_add(1));
                black_box(&sweep);
            });
            times.push((event, fragments.living().count()));
        }
        let [(small, few), (large, many)] = &times[..] else {
            return Measured::new(f64::NAN);
        };
        Measured::new((large.update + large.cut) / (small.update + small.cut)).note(format!(
            "caches swept; cut and update {:.3} ms in {} tets of {few} pieces, {:.3} ms in ten times as many of {many}",
            small.update + small.cut,
            24 * 144 * 6,
            large.update + large.cut,
        ))
    });
}
