//! A sheet is torn in two, and its halves fall onto a table: which triangles touch, and when?
//!
//! `cargo run --release -p fracas-fastcd --example tearing_sheet`

use fracas_fastcd::{Contacts, EditError, FastBvh, Part, Scratch, Settings};
use glam::{DVec3, dvec3};

/// A square of one metre at height `y`, in `n` x `n` quads of two triangles.
fn sheet(n: u32, y: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let at = |i: u32| f64::from(i) / f64::from(n);
    let rows = (0..=n).flat_map(|z| (0..=n).map(move |x| dvec3(at(x), y, at(z))));
    let quads = (0..n).flat_map(|z| (0..n).map(move |x| z * (n + 1) + x));
    let halves = quads.flat_map(|a| [[a, a + n + 1, a + 1], [a + 1, a + n + 1, a + n + 2]]);
    (rows.collect(), halves.collect())
}

fn main() -> Result<(), EditError> {
    const N: u32 = 40;
    let mut scene = FastBvh::new(Settings::default());
    let (table, triangles) = sheet(4, 0.0);
    let table = table
        .iter()
        .map(|p| *p * 3.0 - dvec3(1.0, 0.0, 1.0))
        .collect::<Vec<_>>();
    scene.add(&table, &triangles)?;
    let (mut at, triangles) = sheet(N, 0.5);
    let whole = scene.add(&at, &triangles)?;
    scene.update();

    // The tear: triangles of the first rows go to one part, the others to the second.
    let count = triangles.len() as u32;
    let part = |kept: std::ops::Range<u32>| Part {
        kept: kept.collect(),
        ..Part::default()
    };
    let parts = [part(0..count / 2), part(count / 2..count)];
    let halves = scene.split(whole, &parts, &[])?;
    println!("{count} triangles torn into {} parts", halves.len());

    // Both fall; the second half drifts off and twists. In the first step they still touch
    // along the tear.
    let (mut scratch, mut contacts) = (Scratch::default(), Contacts::default());
    for step in 1..=8 {
        for p in &mut at {
            p.y -= 0.08;
        }
        for (i, half) in halves.iter().enumerate() {
            let by = 0.01 * f64::from(step) * i as f64;
            let place = |&v: &u32| at[v as usize] + by * dvec3(0.0, at[v as usize].x, 1.0);
            let places = half.vertex_origin.iter().map(place);
            scene.move_vertices(half.id, &places.collect::<Vec<_>>())?;
        }
        scene.update();
        scene.contacts(&mut scratch, &mut contacts);
        let (faces, edges) = (contacts.vertex_face.len(), contacts.edge_edge.len());
        let first = contacts.earliest();
        println!("step {step}: {faces} vertex-face, {edges} edge-edge, first at {first:?}");
    }
    Ok(())
}
