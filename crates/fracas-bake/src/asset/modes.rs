//! The section `MOD2`: how the whole object vibrates, and in what material.
//!
//! | bytes | what |
//! | --- | --- |
//! | 80 | material: E, nu, density, strength, toughness, Weibull modulus, stress corrosion exponent, crushing pressure, damping alpha and beta (f64) |
//! | 8, 4, 4, 4 | mass (f64), radius, wall thickness, mean edge (f32) |
//! | list | angular frequencies (f64) |
//! | list | nodes on the surface (u32) |
//! | list | displacements: surface node by surface node, mode by mode, x y z (f32) |
//! | list | stresses: node by node, mode by mode, xx yy zz xy yz zx (f32) |
//!
//! The nodes are all of the mesh, so neither they nor their positions and volumes are
//! stored again. Bounds of stress are computed from what is read, never trusted.

use fracas_core::TetMesh;
use fracas_fracture::modes::ModesData;
use fracas_fracture::{Material, Modes};
use glam::Vec3;

use super::{AssetError, DecodeError, Decoder, Encoder, MODE};

/// The content of the section.
pub(super) fn bytes(modes: &Modes) -> Vec<u8> {
    let data = modes.to_data();
    let m = &data.material;
    let mut out = Encoder::new();
    for number in [
        m.young,
        m.poisson,
        m.density,
        m.strength,
        m.toughness,
        m.weibull_modulus,
        m.fatigue_exponent,
        m.crushing,
        m.damping_alpha,
        m.damping_beta,
        data.mass,
    ] {
        out.f64(number);
    }
    for number in [data.radius, data.thickness, data.mean_edge] {
        out.f32(number);
    }
    out.f64s(&data.omegas);
    out.u32s(&data.surface);
    let shapes: Vec<f32> = data.shapes.iter().flat_map(|v| v.to_array()).collect();
    out.f32s(&shapes);
    out.f32s(data.stress.as_flattened());
    out.finish()
}

/// Modes of a mesh from the content of the section.
pub(super) fn read(bytes: &[u8], mesh: &TetMesh) -> Result<Modes, AssetError> {
    let data = decode(bytes, mesh).map_err(|source| AssetError::Content { tag: MODE, source })?;
    Ok(Modes::from_data(data)?)
}

fn decode(bytes: &[u8], mesh: &TetMesh) -> Result<ModesData, DecodeError> {
    let mut input = Decoder::new(bytes);
    let material = Material {
        young: input.f64()?,
        poisson: input.f64()?,
        density: input.f64()?,
        strength: input.f64()?,
        toughness: input.f64()?,
        weibull_modulus: input.f64()?,
        fatigue_exponent: input.f64()?,
        crushing: input.f64()?,
        damping_alpha: input.f64()?,
        damping_beta: input.f64()?,
    };
    let mass = input.f64()?;
    let [radius, thickness, mean_edge] = [input.f32()?, input.f32()?, input.f32()?];
    let omegas = input.f64s()?;
    let surface = input.u32s()?;
    let (shapes, stress) = (input.f32_rows()?, input.f32_rows()?);
    input.finish()?;
    // A node that the mesh does not have is found by the check of the data.
    let position = |&s: &u32| mesh.positions().get(s as usize).copied();
    Ok(ModesData {
        material,
        nodes: (0..mesh.positions().len() as u32).collect(),
        omegas,
        surface_positions: surface.iter().filter_map(position).collect(),
        surface,
        shapes: shapes.into_iter().map(Vec3::from_array).collect(),
        stress,
        volumes: node_volumes(mesh),
        mass,
        radius,
        thickness,
        mean_edge,
    })
}

/// Volume that belongs to each node (m³), added up as modes add it up.
fn node_volumes(mesh: &TetMesh) -> Vec<f32> {
    let mut volumes = vec![0.0_f64; mesh.positions().len()];
    for (t, tet) in mesh.tets().iter().enumerate() {
        for &n in tet {
            volumes[n as usize] += mesh.volume_of(t as u32) / 4.0;
        }
    }
    volumes.iter().map(|&v| v as f32).collect()
}
