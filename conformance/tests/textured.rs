//! Textured models in, fragments out, read again by another reader: attributes,
//! materials and pictures are those of the model, fragments are closed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fracas_bake::bake::{BakeOptions, Source, bake};
use fracas_bake::model::drape::Drape;
use fracas_bake::model::pieces::{Buffers, ModelPiece, surfaces};
use fracas_bake::model::write::{CrackLook, Format, files};
use fracas_bake::model::{Attribute, Model};
use fracas_bake::shatter::open_sides;
use fracas_bake::tetrahedralize::Size;
use fracas_conformance::{data, textured};
use fracas_core::dressing::SkinMap;
use fracas_core::testing::cube_skin;
use fracas_core::{FragmentId, FragmentSurface, Fragments, SurfaceScratch, TetMesh};
use fracas_fracture::patterns::{VoronoiOptions, voronoi};
use glam::{DVec3, Vec3};

/// Tetrahedra of a model, as `fracas shatter` fills it: holes are closed where they can be.
fn fill(path: &Path, tets: usize) -> Option<TetMesh> {
    let options = BakeOptions {
        size: Some(Size::Tets(tets)),
        ..BakeOptions::default()
    };
    let baked = bake(Source::open(path).ok()?, &options, &mut |_| ()).ok()?;
    Some(TetMesh::clone(baked.asset.mesh()))
}

struct Broken {
    /// In the model's own triangles.
    pieces: Vec<ModelPiece>,
    /// The same, draped.
    draped: Vec<ModelPiece>,
    fit: fracas_core::dressing::SkinFit,
}

fn shatter(model: &Model, mesh: TetMesh, pieces: u32, seed: u64) -> Option<Broken> {
    let (positions, triangles) = model.surface();
    let map = SkinMap::build(&mesh, &positions, &triangles).unwrap();
    let mut fragments = Fragments::new(Arc::new(mesh));
    let options = VoronoiOptions {
        pieces,
        seed,
        ..VoronoiOptions::default()
    };
    let fracture = voronoi(&fragments, FragmentId(0), &options)?;
    let split = fragments.apply(&fracture).ok()?;
    let mut scratch = SurfaceScratch::default();
    let drape = Drape::build(model, fragments.mesh());
    let (mut pieces, mut draped) = (Vec::new(), Vec::new());
    for (i, &id) in split.children.iter().enumerate() {
        let properties = *FragmentSurface::extract(&fragments, id, &mut scratch).mass_properties();
        let piece = ModelPiece {
            name: format!("fragment-{i:03}"),
            centre: properties.centre,
            volume: properties.volume,
            mass: 2.0 * properties.volume,
            surfaces: drape.surfaces(model, &fragments, id, 1.0),
        };
        pieces.push(ModelPiece {
            surfaces: surfaces(model, &map.dress(&fragments, id), 1.0),
            ..piece.clone()
        });
        draped.push(piece);
    }
    Some(Broken {
        pieces,
        draped,
        fit: map.fit(),
    })
}

fn area(triangles: impl Iterator<Item = [DVec3; 3]>) -> f64 {
    triangles
        .map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length())
        .sum()
}

/// Models in whose own triangles every piece is closed (filled with 3,000 tetrahedra, in
/// eight pieces, seed 1), and more may be. All others are mended or draped.
const CLOSED: [&str; 3] = [
    "box",
    "textured/BoxTextured.glb",
    "textured/MultiUVTest.glb",
];

/// Models that have no inside, or do not break: none of these is asked anything.
const LEFT_OUT: [&str; 0] = [];

#[test]
fn models_keep_their_looks_in_closed_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let made = textured::make(folder.path()).unwrap().into_iter();
    check_models(made.map(|(name, path)| (name.to_owned(), path)));
}

#[test]
fn public_models_keep_their_looks_in_closed_pieces() {
    let public = textured::PUBLIC.into_iter();
    check_models(public.filter_map(|name| Some((name.to_owned(), data::find(name)?))));
}

/// Models keep area, attributes, materials and pictures in closed pieces.
fn check_models(models: impl Iterator<Item = (String, PathBuf)>) {
    let (mut closed, mut left_out, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    for (name, path) in models {
        let model = Model::read(&path).unwrap();
        seen.push(name.clone());
        assert!(!model.images().is_empty(), "{name}");
        let Some(broken) = fill(&path, 3_000).and_then(|mesh| shatter(&model, mesh, 8, 1)) else {
            left_out.push(name);
            continue;
        };
        let (positions, triangles) = model.surface();
        let wanted = area(triangles.iter().map(|t| t.map(|v| positions[v as usize])));
        let outside = broken
            .pieces
            .iter()
            .flat_map(|p| &p.surfaces)
            .filter(|s| !s.is_crack);
        let found = area(outside.flat_map(|s| {
            s.triangles
                .iter()
                .map(|t| t.map(|v| s.positions[v as usize].as_dvec3()))
        }));
        let open = |pieces: &[ModelPiece]| {
            let open = pieces.iter().map(|p| open_sides(&p.surfaces));
            open.filter(|&n| n > 0).count()
        };
        let own = open(&broken.pieces);
        println!(
            "{name}: {} triangles, {} pieces, {own} of them open, {:?}, area to {:.1e}, warnings {:?}",
            triangles.len(),
            broken.pieces.len(),
            broken.fit,
            found / wanted - 1.0,
            model.warnings()
        );
        assert!(
            (found / wanted - 1.0).abs() < 1e-6,
            "{name}: {found} of {wanted}"
        );
        check_attributes(&model, &broken.pieces, &name);
        check_random_points(&model, &broken.pieces, &name);
        check_files(&model, &broken.pieces, &name);
        if own == 0 {
            closed.push(name);
        } else {
            // What is written instead.
            assert_eq!(open(&broken.draped), 0, "{name}");
            check_files(&model, &broken.draped, &name);
        }
    }
    let known = |names: &[&str]| -> Vec<String> {
        let names = names.iter().map(|n| (*n).to_owned());
        names.filter(|n| seen.contains(n)).collect()
    };
    for name in known(&CLOSED) {
        assert!(closed.contains(&name), "{name} is open; closed: {closed:?}");
    }
    assert_eq!(left_out, known(&LEFT_OUT));
}

/// Texture coordinates at random points of the outside are those of the model there: of a
/// triangle of the same material that passes the point.
fn check_random_points(model: &Model, pieces: &[ModelPiece], name: &str) {
    let (positions, _) = model.surface();
    let (low, high) = positions
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(lo, hi), &p| {
            (lo.min(p), hi.max(p))
        });
    let size = (high - low).length();
    let outside: Vec<&Buffers> = pieces
        .iter()
        .flat_map(|p| &p.surfaces)
        .filter(|s| !s.is_crack && s.attributes.iter().any(|a| a.name.starts_with("TEXCOORD")))
        .collect();
    // The largest number of each attribute of each part.
    let largest = |a: &Attribute| a.values.iter().fold(1.0_f32, |m, x| m.max(x.abs()));
    let parts = model.parts().iter();
    let scales: Vec<Vec<f64>> = parts
        .map(|p| p.attributes.iter().map(|a| f64::from(largest(a))).collect())
        .collect();
    let mut rng = fracas_core::testing::Rng(11);
    for _ in 0..10_000 {
        let surface = outside[rng.below(outside.len())];
        let t = surface.triangles[rng.below(surface.triangles.len())];
        let (mut u, mut v) = (f64::from(rng.unit()), f64::from(rng.unit()));
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        let weights = [1.0 - u - v, u, v];
        let p: DVec3 = (0..3)
            .map(|k| surface.positions[t[k] as usize].as_dvec3() * weights[k])
            .sum();
        for attribute in &surface.attributes {
            if !attribute.name.starts_with("TEXCOORD") {
                continue;
            }
            let mix = |values: &[f32], t: [u32; 3], weights: [f64; 3]| {
                [0, 1].map(|axis| -> f64 {
                    let of = |k: usize| f64::from(values[2 * t[k] as usize + axis]) * weights[k];
                    (0..3).map(of).sum()
                })
            };
            let here = mix(&attribute.values, t, weights);
            let mut nearest = f64::INFINITY;
            for (part, scales) in model.parts().iter().zip(&scales) {
                let found = part
                    .attributes
                    .iter()
                    .position(|a| a.name == attribute.name);
                let Some(found) = found.filter(|_| part.material == surface.material) else {
                    continue;
                };
                let (own, most) = (&part.attributes[found], scales[found]);
                for &triangle in &part.triangles {
                    let corners = triangle.map(|v| part.positions[v as usize]);
                    let Some(weights) = weights_near(corners, p, 3e-6 * size) else {
                        continue;
                    };
                    let there = mix(&own.values, triangle, weights);
                    let off = (here[0] - there[0]).abs().max((here[1] - there[1]).abs());
                    // Where a picture is squeezed, a step in place is a large one there.
                    let [a, b, c] = corners;
                    let least = (b - a).cross(c - a).length()
                        / (b - a).length().max((c - a).length()).max((c - b).length());
                    nearest = nearest.min(off / (1e-5 * most + 4e-6 * size / least * most));
                }
            }
            assert!(
                nearest < 1.0,
                "{name}: {} at {p}: {nearest}",
                attribute.name
            );
        }
    }
}

/// Weights of a point in a triangle that passes it so closely.
fn weights_near([a, b, c]: [DVec3; 3], p: DVec3, reach: f64) -> Option<[f64; 3]> {
    let (low, high) = (a.min(b).min(c) - reach, a.max(b).max(c) + reach);
    if p.cmplt(low).any() || p.cmpgt(high).any() {
        return None;
    }
    let normal = (b - a).cross(c - a);
    let square = normal.length_squared();
    if square == 0.0 || (p - a).dot(normal).abs() > reach * square.sqrt() {
        return None;
    }
    let v = (p - a).cross(c - a).dot(normal) / square;
    let w = (b - a).cross(p - a).dot(normal) / square;
    let weights = [1.0 - v - w, v, w];
    // How far outside a side, by the height over it.
    let sides = [(c - b).length(), (c - a).length(), (b - a).length()];
    let inside = (0..3).all(|k| weights[k] * square.sqrt() / sides[k] > -reach);
    inside.then_some(weights)
}

/// Attributes of corners are those of the model at the same place: exactly at its
/// vertices, interpolated in between.
fn check_attributes(model: &Model, pieces: &[ModelPiece], name: &str) {
    // Every vertex of the model, by place and attributes of one kind.
    let mut known: HashMap<(String, [u32; 3]), Vec<Vec<u32>>> = HashMap::new();
    let bits = |p: Vec3| (p + Vec3::ZERO).to_array().map(f32::to_bits);
    for part in model.parts() {
        for a in part
            .attributes
            .iter()
            .filter(|a| !["NORMAL", "TANGENT"].contains(&&*a.name))
        {
            for (v, p) in part.positions.iter().enumerate() {
                let values = &a.values[v * a.width..(v + 1) * a.width];
                let values = values.iter().map(|x| x.to_bits()).collect();
                known
                    .entry((a.name.clone(), bits(p.as_vec3())))
                    .or_default()
                    .push(values);
            }
        }
    }
    let mut checked = 0;
    for surface in pieces
        .iter()
        .flat_map(|p| &p.surfaces)
        .filter(|s| !s.is_crack)
    {
        for a in &surface.attributes {
            assert_eq!(a.values.len(), a.width * surface.positions.len(), "{name}");
            assert!(a.values.iter().all(|v| v.is_finite()), "{name} {}", a.name);
            for (v, &p) in surface.positions.iter().enumerate() {
                let Some(here) = known.get(&(a.name.clone(), bits(p))) else {
                    continue;
                };
                let values: Vec<u32> = a.values[v * a.width..(v + 1) * a.width]
                    .iter()
                    .map(|x| x.to_bits())
                    .collect();
                assert!(here.contains(&values), "{name}: {} at {p}", a.name);
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "{name}: {checked} corners compared");
}

/// Written and read again.
fn check_files(model: &Model, pieces: &[ModelPiece], name: &str) {
    let written = files(model, pieces, CrackLook::default(), Format::Glb, "out").unwrap();
    let bytes = &written[0].1;
    let again = Model::read_bytes("out.glb", bytes, &mut |other| {
        panic!("{name}: a GLB asks for {other}")
    })
    .unwrap();
    assert_eq!(again.images().len(), model.images().len(), "{name}");
    for (a, b) in again.images().iter().zip(model.images()) {
        assert_eq!(a.bytes, b.bytes, "{name}: the picture {}", b.name);
    }
    let list = |m: &Model, key: &str| m.document()[key].as_array().cloned().unwrap_or_default();
    for key in ["textures", "samplers"] {
        assert_eq!(list(&again, key), list(model, key), "{name}: {key}");
    }
    let materials = list(&again, "materials");
    let (crack, own) = materials.split_last().unwrap();
    assert_eq!(own, list(model, "materials"), "{name}: materials");
    assert_eq!(crack["name"], "crack");
    let nodes = list(&again, "nodes");
    let old = list(model, "nodes");
    for (n, node) in old.iter().enumerate() {
        assert_eq!(nodes[n]["name"], node["name"], "{name}: node {n}");
    }
    let fragments: Vec<_> = nodes
        .iter()
        .filter(|n| n["extras"]["mass"].is_number())
        .collect();
    assert_eq!(fragments.len(), pieces.len(), "{name}");
    let own: usize = pieces
        .iter()
        .flat_map(|p| &p.surfaces)
        .map(|s| s.triangles.len())
        .sum();
    let read: usize = again.parts().iter().map(|p| p.triangles.len()).sum();
    assert_eq!(own, read, "{name}");
    for (part, surface) in again
        .parts()
        .iter()
        .zip(pieces.iter().flat_map(|p| &p.surfaces))
    {
        let size = surface
            .positions
            .iter()
            .fold(0.0_f32, |m, p| m.max(p.abs().max_element()));
        for (p, q) in part.positions.iter().zip(&surface.positions) {
            assert!(
                p.distance(q.as_dvec3()) < 1e-5 * f64::from(size),
                "{name}: {p} {q}"
            );
        }
    }
}

#[test]
fn coordinates_at_random_points_are_those_of_the_input() {
    let (positions, triangles) = cube_skin(3, |p| p);
    // Linear in place on each side: the same wherever it is asked for.
    let uv_at = |p: DVec3| [(p.x + 2.0 * p.y) as f32, (p.z - p.x + 0.5 * p.y) as f32];
    let uvs = positions.iter().flat_map(|&p| uv_at(p)).collect();
    let model = Model::plain("cube", positions, triangles, [1.0; 4]).with_attribute(Attribute {
        name: "TEXCOORD_0".into(),
        width: 2,
        values: uvs,
    });
    let mesh = fracas_core::testing::box_grid([5; 3], Vec3::ONE);
    let broken = shatter(&model, mesh, 9, 3).unwrap();
    let mut rng = fracas_core::testing::Rng(7);
    let mut asked = 0;
    while asked < 10_000 {
        let piece = &broken.pieces[rng.below(broken.pieces.len())];
        let surface = &piece.surfaces[rng.below(piece.surfaces.len())];
        if surface.is_crack {
            continue;
        }
        let t = surface.triangles[rng.below(surface.triangles.len())];
        let (mut u, mut v) = (rng.unit(), rng.unit());
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        let weights = [1.0 - u - v, u, v];
        let p: Vec3 = (0..3)
            .map(|k| surface.positions[t[k] as usize] * weights[k])
            .sum();
        let wanted = uv_at(p.as_dvec3());
        for axis in 0..2 {
            let values = &surface.attributes[0].values;
            let here: f32 = (0..3)
                .map(|k| values[2 * t[k] as usize + axis] * weights[k])
                .sum();
            assert!(
                (here - wanted[axis]).abs() < 3e-6,
                "{here} at {p}, not {}",
                wanted[axis]
            );
        }
        asked += 1;
    }
    for piece in &broken.pieces {
        assert_eq!(open_sides(&piece.surfaces), 0, "{}", piece.name);
    }
}

#[test]
fn an_obj_with_its_materials_comes_in_and_every_format_goes_out() {
    let obj = b"mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0.25\nvn 0 0 1\n\
        usemtl red\nf 1/1/1 2/2/1 3/2/1\nusemtl none such\nf 1//1 3//1 4//1\n";
    let mtl = b"newmtl red\nKd 1 0 0\nd 0.5\nmap_Kd skin.png\nNs 10\n";
    let mut asked = Vec::new();
    let model = Model::read_bytes("x/thing.obj", obj, &mut |name| {
        asked.push(name.to_owned());
        match name {
            "a.mtl" => Ok(mtl.to_vec()),
            "skin.png" => Ok(vec![0x89, b'P', b'N', b'G', 1, 2]),
            _ => panic!("asked for {name}"),
        }
    })
    .unwrap();
    assert_eq!(asked, ["a.mtl", "skin.png"]);
    assert_eq!(model.parts().len(), 2);
    let material = &model.document()["materials"][0];
    assert_eq!(material["pbrMetallicRoughness"]["baseColorFactor"][3], 0.5);
    assert_eq!(material["alphaMode"], "BLEND");
    assert_eq!(model.parts()[0].attributes[1].values[1], 1.0);
    let missing = Model::read_bytes("thing.obj", obj, &mut |name| {
        let error = fracas_bake::read(format!("no such folder/{name}"));
        Err(error.expect_err("it is not there"))
    })
    .unwrap();
    assert!(
        missing.warnings()[0].contains("a.mtl"),
        "{:?}",
        missing.warnings()
    );

    let (positions, triangles) = cube_skin(1, |p| p);
    let plain = Model::plain("cube", positions, triangles, [0.5, 0.4, 0.3, 1.0]);
    let broken = shatter(
        &plain,
        fracas_core::testing::box_grid([3; 3], Vec3::ONE),
        4,
        5,
    )
    .unwrap();
    for (format, end) in [
        (Format::Glb, "glb"),
        (Format::Gltf, "gltf"),
        (Format::Obj, "obj"),
        (Format::Usda, "usda"),
    ] {
        let all = files(&plain, &broken.pieces, CrackLook::default(), format, "cube").unwrap();
        assert_eq!(all[0].0, format!("cube.{end}"));
        assert!(all.iter().all(|file| !file.1.is_empty()));
        if format != Format::Usda {
            let again = fracas_bake::read_bytes_with(&all[0].0, &all[0].1, &mut |name| {
                let other = all.iter().find(|file| file.0 == name);
                Ok(other
                    .unwrap_or_else(|| panic!("asked for {name}"))
                    .1
                    .clone())
            });
            assert!(again.is_ok(), "{end}: {again:?}");
        } else {
            let text = String::from_utf8(all[0].1.clone()).unwrap();
            assert_eq!(text.matches('{').count(), text.matches('}').count());
            assert_eq!(
                text.matches("def Mesh \"crack\"").count(),
                broken.pieces.len()
            );
        }
    }
}

#[test]
fn damaged_models_are_errors_and_numbers_that_are_not_finite_are_warned_of() {
    let (positions, triangles) = cube_skin(1, |p| p);
    let normals = vec![1.0; positions.len() * 3];
    let model = Model::plain("cube", positions, triangles, [1.0; 4]).with_attribute(Attribute {
        name: "NORMAL".into(),
        width: 3,
        values: normals,
    });
    let broken = shatter(
        &model,
        fracas_core::testing::box_grid([2; 3], Vec3::ONE),
        3,
        1,
    )
    .unwrap();
    let file = files(
        &model,
        &broken.pieces,
        CrackLook::default(),
        Format::Glb,
        "x",
    )
    .unwrap()
    .remove(0)
    .1;
    let none = &mut |_: &str| panic!("nothing is beside it");
    assert!(Model::read_bytes("x.glb", &file, none).is_ok());
    for length in (0..file.len()).step_by(97) {
        assert!(
            Model::read_bytes("x.glb", &file[..length], none).is_err(),
            "{length}"
        );
    }
    // A NaN in the place of a normal.
    let text = String::from_utf8_lossy(&file[20..]).into_owned();
    assert!(text.contains("NORMAL"));
    let one = 1.0_f32.to_le_bytes();
    let at = file.windows(4).rposition(|w| w == one).unwrap();
    let mut bad = file.clone();
    bad[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    let read = Model::read_bytes("x.glb", &bad, none);
    assert!(read.is_err() || !read.unwrap().warnings().is_empty());
}
