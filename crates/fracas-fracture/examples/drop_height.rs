//! From what height a brick breaks when it falls on its corner, and into how many pieces, for
//! some materials: an impact as numbers in, cracks out, with no world around it.
//!
//! `cargo run --release -p fracas-fracture --example drop_height`

use std::error::Error;
use std::sync::Arc;

use fracas_core::grid::bent_grid;
use fracas_core::{FragmentId, Fragments};
use fracas_fracture::{FractureEvent, FractureSettings, Impact, Material, Modes, ModesOptions};
use glam::Vec3;

const WHOLE: FragmentId = FragmentId(0);

fn main() -> Result<(), Box<dyn Error>> {
    let size = Vec3::new(0.215, 0.1025, 0.065);
    let cells = Vec3::new(8.0, 4.0, 3.0);
    let mesh = Arc::new(bent_grid([8, 4, 3], false, |p| p * size / cells)?);
    for name in ["brick", "porcelain", "concrete", "granite"] {
        let material = Material::by_name(name)?;
        let fragments = Fragments::new(Arc::clone(&mesh));
        // How it vibrates, once for each material: what a baked asset holds.
        let modes = ModesOptions::default();
        let modes = Modes::compute(&fragments, WHOLE, &material, &modes, &mut |_| ())?;
        let mut event = FractureEvent::new();
        let broken = [0.5_f32, 1.0, 2.0, 4.0, 8.0, 16.0]
            .into_iter()
            .find_map(|height| {
                let speed = (2.0 * 9.81 * height).sqrt();
                // Half of its mass stops when the corner touches the ground.
                let effective_mass = 0.5 * modes.mass() as f32;
                let impact = Impact {
                    point: Vec3::ZERO,
                    impulse: effective_mass * speed * Vec3::new(0.8, 0.4, 0.45),
                    speed,
                    effective_mass,
                    radius: 0.0,
                    other_modulus: Material::GRANITE.contact_modulus(),
                };
                let settings = FractureSettings::default();
                let subject = (&fragments, WHOLE);
                let decision = event.decide(subject, &modes, &[impact], 0.01, 0, &settings);
                Some((height, decision.fracture?))
            });
        match broken {
            Some((height, fracture)) => {
                let pieces = Fragments::new(Arc::clone(&mesh)).apply(&fracture)?.children;
                println!(
                    "{name}: breaks from {height} m into {} pieces",
                    pieces.len()
                );
            }
            None => println!("{name}: bears a fall from 16 m"),
        }
    }
    Ok(())
}
