//! The lowest frequencies of a bar that is clamped at one end: a chain of masses and springs,
//! against the formula. Large elastic bodies are solved in the same steps.
//!
//! `cargo run --release -p fracas-sparse --example bar`

use std::ops::ControlFlow;

use std::error::Error;
use std::f64::consts::{PI, TAU};

use fracas_sparse::{BLOCK, BlockMatrix, Factor, Request, dissect, eigenvalues_below, largest};
use glam::DVec3;

const NODES: usize = 500;
/// N/m along the bar; across it the springs are so stiff that they move only there.
const SPRING: f64 = 2.0e6;
const MASS: f64 = 0.01;

fn main() -> Result<(), Box<dyn Error>> {
    // One 3x3 block for each pair of nodes that a spring joins, and one for each node.
    let springs: Vec<[u32; 2]> = (1..NODES as u32).map(|n| [n - 1, n]).collect();
    let block = |k: f64| [k, 0.0, 0.0, 0.0, 1e6 * k, 0.0, 0.0, 0.0, 1e6 * k];
    let mut stiffness = BlockMatrix::with_pattern(NODES, &springs);
    stiffness.add(0, 0, &block(SPRING)); // the clamp
    for &[a, b] in &springs {
        stiffness.add(a, a, &block(SPRING));
        stiffness.add(b, b, &block(SPRING));
        stiffness.add(b, a, &block(-SPRING));
    }

    // Factored once, in an order that keeps the factor small; solving is cheap then.
    let positions: Vec<DVec3> = (0..NODES).map(|n| DVec3::X * n as f64).collect();
    let order = dissect(&stiffness, &positions);
    let masses = vec![MASS; NODES];
    let mut factor = Factor::build(&stiffness, &masses, 0.0, &order)?;

    // The largest eigenvalues of the inverse belong to the lowest frequencies.
    let request = Request {
        dimension: 3 * NODES,
        wanted: 6,
        tolerance: 1e-9,
        most_blocks: 60,
        seed: 1,
    };
    let known = vec![[0.0; BLOCK]; request.dimension];
    let found = largest(
        &request,
        &known,
        |x| factor.solve(x),
        |_| ControlFlow::Continue(()),
    );
    println!("{} of {} modes converged", found.converged, request.wanted);
    for (k, value) in found.values.iter().take(found.converged).enumerate() {
        let frequency = (1.0 / (value * MASS)).sqrt() / TAU;
        let angle = (2 * k + 1) as f64 * PI / (4 * NODES + 2) as f64;
        let formula = 2.0 * (SPRING / MASS).sqrt() * angle.sin() / TAU;
        println!("{frequency:10.4} Hz, by the formula {formula:10.4} Hz");
    }

    // How many there are below 100 Hz, counted without computing them.
    let count = eigenvalues_below(&stiffness, &masses, (100.0 * TAU).powi(2), &order)?;
    println!("{count} frequencies below 100 Hz");
    Ok(())
}
