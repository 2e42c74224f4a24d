//! A recorded run as pictures and as an animated model.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use fracas_bake::model::Model;
use fracas_bake::write::glb::{Glb, Looks, Material, NodeId, Part, Place};
use fracas_core::FragmentSurface;
use fracas_core::used_vertices::used_vertices;
use fracas_picture::{Colour, Image, Quality, Sheet};
use fracas_report::stills::{Stills, crack_colour};
use fracas_scenes::recording::Recording;
use fracas_scenes::rigid::Scene;
use fracas_scenes::skins::Dressed;
use glam::Vec3;
use parry3d::math::Pose;

use crate::files;

/// Most pictures of a contact sheet.
const MOST_PICTURES: usize = 9;

/// The moments worth seeing: the start, around each break, and the end.
fn moments(recording: &Recording) -> Vec<(u64, String)> {
    let last = recording.steps.len() as u64;
    // Where bodies come later, the first ones.
    let start = recording.tracks.values().map(|track| track.first).min();
    let mut moments = vec![(start.unwrap_or(0), "start".to_string())];
    let step_ms = |s: u64| format!("{:.2} s", s as f32 * recording.step);
    let first_breaks = recording.breaks.iter().take((MOST_PICTURES - 4) / 2);
    for (i, &at) in first_breaks.enumerate() {
        if i == 0 && at > 0 {
            moments.push((at, format!("{}: before the break", step_ms(at))));
        }
        moments.push((at + 1, format!("{}: it breaks", step_ms(at + 1))));
        moments.push((at + 6, format!("{}: 5 steps later", step_ms(at + 6))));
    }
    let after_last = recording.breaks.last().copied().unwrap_or(0) + 25;
    moments.push((after_last, step_ms(after_last)));
    moments.push((last, format!("{}: the end", step_ms(last))));
    moments.retain(|m| m.0 <= last);
    moments.sort_by_key(|m| m.0);
    moments.dedup_by_key(|m| m.0);
    // Room that is left shows the longest times in between.
    while moments.len() < MOST_PICTURES {
        let gap = |i: &usize| moments[*i].0 - moments[i - 1].0;
        let Some(widest) = (1..moments.len()).rev().max_by_key(gap) else {
            break;
        };
        if gap(&widest) < 20 {
            break;
        }
        let middle = moments[widest - 1].0 + gap(&widest) / 2;
        moments.insert(widest, (middle, step_ms(middle)));
    }
    moments
}

/// Rendered moments of a run.
pub fn contact_sheet(scene: &Scene, recording: &Recording) -> Image {
    let mut sheet = Sheet::new(3).title(scene.name());
    let mut stills = Stills::default();
    for (after, caption) in moments(recording) {
        let bodies = recording.at(after).count();
        let plural = if bodies == 1 { "body" } else { "bodies" };
        let still = stills.still(scene, recording, after, [420, 340], Quality::Fine);
        sheet.add(still, format!("{caption}\n{bodies} {plural}"));
    }
    sheet.image()
}

/// An animated glTF: one node a body, shown while it lives. Pieces of models have the
/// model's materials and textures.
pub fn write_glb(path: &Path, scene: &Scene, recording: &Recording) -> Result<(), Box<dyn Error>> {
    let mut glb = Glb::new();
    let mut models: Vec<(Arc<Model>, Looks)> = Vec::new();
    for (id, track) in &recording.tracks {
        let paint = scene.colour(id.object);
        let linear = |c: Colour| [c.0.x, c.0.y, c.0.z, 1.0];
        let name = format!("object {} fragment {}", id.object.0, id.fragment.0);
        let outer = glb.material(&Material::new(
            "surface",
            linear(Colour::from_srgb(paint[0], paint[1], paint[2])),
        ));
        let inner = glb.material(&Material::new("crack", linear(crack_colour(paint))));
        if let Some(worn) = &track.worn {
            let known = models.iter().find(|(m, _)| Arc::ptr_eq(m, &worn.model));
            let looks = known.map(|(_, looks)| *looks).unwrap_or_else(|| {
                let looks = glb.looks(&worn.model);
                models.push((Arc::clone(&worn.model), looks));
                looks
            });
            let mesh = glb.piece(&name, &worn.surfaces, looks, [outer, inner])?;
            let node = glb.node(&name, Some(mesh), Place::default())?;
            animate(&mut glb, node, track.first, &track.poses, recording)?;
            continue;
        }
        let (own, new) = match &track.dressed {
            Some(dressed) => dressed_parts(dressed),
            None => parts(&track.surface),
        };
        let mut pieces = vec![Part::new(&own.0, &own.1, outer).normals(&own.2)];
        if !new.1.is_empty() {
            pieces.push(Part::new(&new.0, &new.1, inner).normals(&new.2));
        }
        let mesh = glb.mesh(&name, &pieces)?;
        let node = glb.node(&name, Some(mesh), Place::default())?;
        animate(&mut glb, node, track.first, &track.poses, recording)?;
    }
    add_props(&mut glb, recording)?;
    Ok(files::save(path, glb.to_bytes()?)?)
}

/// What is to be said of models that are not shown in their own triangles.
pub fn note_of_draped(recording: &Recording) -> Option<String> {
    let worn = recording.tracks.values().filter_map(|t| t.worn.as_ref());
    let draped = worn.filter(|w| w.draped).count();
    (draped > 0).then(|| {
        format!(
            "{draped} pieces would be open in their models' own triangles: there the models \
             are draped over the tetrahedra (more `tets` may help)"
        )
    })
}

/// Plain bodies: balls and boxes.
fn add_props(glb: &mut Glb, recording: &Recording) -> Result<(), Box<dyn Error>> {
    for (i, track) in recording.props.iter().enumerate() {
        let [r, g, b] = track.colour;
        let c = Colour::from_srgb(r, g, b).0;
        let paint = glb.material(&Material::new("prop", [c.x, c.y, c.z, 1.0]));
        let (positions, triangles) = track.shape.triangles();
        let name = format!("prop {i}");
        let mesh = glb.mesh(&name, &[Part::new(&positions, &triangles, paint)])?;
        let node = glb.node(&name, Some(mesh), Place::default())?;
        animate(glb, node, track.first, &track.poses, recording)?;
    }
    Ok(())
}

/// Moves a node along its poses and shows it only as long as there are any.
fn animate(
    glb: &mut Glb,
    node: NodeId,
    first: u64,
    poses: &[Pose],
    recording: &Recording,
) -> Result<(), Box<dyn Error>> {
    let last = recording.steps.len() as f32 * recording.step;
    let times: Vec<f32> = (0..poses.len())
        .map(|i| (first + i as u64) as f32 * recording.step)
        .collect();
    let translations: Vec<Vec3> = poses.iter().map(|p| p.translation).collect();
    let rotations: Vec<[f32; 4]> = poses.iter().map(|p| p.rotation.to_array()).collect();
    glb.animate_translation(node, &times, &translations)?;
    glb.animate_rotation(node, &times, &rotations)?;
    let (born, dies) = (times[0], times[times.len() - 1] + recording.step);
    let mut shown = Vec::new();
    if born > 0.0 {
        shown.push((0.0, false));
    }
    shown.push((born, true));
    if dies < last {
        shown.push((dies, false));
    }
    let (times, visible): (Vec<f32>, Vec<bool>) = shown.into_iter().unzip();
    Ok(glb.animate_visibility(node, &times, &visible)?)
}

/// Positions, triangles and normals, where there are any.
type ShadedMesh = (Vec<Vec3>, Vec<[u32; 3]>, Vec<Vec3>);

/// Skin and cracks, each with only the vertices it uses.
fn dressed_parts(dressed: &Dressed) -> (ShadedMesh, ShadedMesh) {
    let pick = |triangles: &[[u32; 3]]| {
        let (positions, own) = used_vertices(&dressed.positions, triangles);
        let (normals, _) = used_vertices(&dressed.normals, triangles);
        (positions, own, normals)
    };
    let (outer, cracks) = dressed.triangles.split_at(dressed.outer_triangles);
    (pick(outer), pick(cracks))
}

/// Triangles of the outer surface and of cracks, each with only the vertices it uses.
fn parts(surface: &FragmentSurface) -> (ShadedMesh, ShadedMesh) {
    let pick = |triangles: &[[u32; 3]]| {
        let (positions, own) = used_vertices(surface.positions(), triangles);
        (positions, own, Vec::new())
    };
    let (outer, cracks) = surface.triangles().split_at(surface.outer_triangles());
    (pick(outer), pick(cracks))
}
