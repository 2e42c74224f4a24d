//! Tetrahedra of the same surfaces: ours and fTetWild.

use fracas_bake::tetrahedralize::{Options, hausdorff, surface};
use fracas_bake::{SurfaceMesh, boundary_surface, inspect_tets, read_surface, shapes};
use fracas_core::TetMesh;
use glam::{DVec3, Vec3};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::machine::best_ms;
use crate::options::{Scale, Skip};
use crate::peers;
use crate::section::{Cell, Role, Section, Table, Tone, short};

/// How many tetrahedra where fTetWild does not say.
const TETS: usize = 20_000;

/// The surfaces: two of the set, and public ones where they are at hand.
fn surfaces(bench: &Bench<'_>) -> Vec<(String, SurfaceMesh)> {
    let names: &[&str] = if bench.scale() == Scale::Tiny {
        &["brick"]
    } else {
        &["rabbit", "bowl"]
    };
    let mut all: Vec<(String, SurfaceMesh)> = names
        .iter()
        .filter_map(|name| {
            let mesh = shapes::by_name(name)?.build();
            Some(((*name).to_owned(), boundary_surface(&mesh)))
        })
        .collect();
    if bench.scale() != Scale::Tiny {
        for (name, file) in [
            ("Spot, public", "surface/spot.obj"),
            ("elephant, public", "surface/elephant.off"),
        ] {
            let found = bench.data(file).and_then(|path| read_surface(path).ok());
            all.extend(found.map(|(mesh, _)| (name.to_owned(), mesh)));
        }
    }
    all
}

/// All surfaces.
pub fn tets(bench: &Bench<'_>, section: &mut Section) -> Result<(), Skip> {
    section.text("The same closed surface for both. fTetWild with its defaults (edges of a twentieth of the diagonal, an envelope of a thousandth), one thread; ours is asked for as many tetrahedra as fTetWild made. Dihedral angles: the smallest of all, and the one that a thousandth of all tetrahedra go below. Hausdorff distance: the larger of both ways, in percent of the diagonal. Volume: off by so much.");
    let mut table = Table::new("Processor seconds of one thread; degrees; percent")
        .columns(Role::Plain, &["surface", "program"])
        .columns(
            Role::Peer,
            &[
                "tetrahedra",
                "seconds",
                "smallest angle",
                "0.1 % below",
                "Hausdorff, %",
                "volume off, %",
            ],
        );
    let mut notices = Vec::new();
    let mut ratios = Vec::new();
    for (name, input) in surfaces(bench) {
        bench.stage(format!("{name}: fTetWild"));
        let question = json!({
            "vertices": input.positions().iter().map(|p| p.to_array()).collect::<Vec<_>>(),
            "triangles": input.triangles(),
        });
        let theirs = match peers::ask(bench, "tets", "ftetwild", &question) {
            Ok(answer) => match read(&answer) {
                Ok(mesh) => Some((mesh, answer)),
                Err(why) => {
                    notices.push(format!("fTetWild’s tetrahedra of {name}: {why}"));
                    None
                }
            },
            Err(skip) => {
                notices.push(skip.to_string());
                None
            }
        };
        let count = theirs
            .as_ref()
            .map_or(bench.scale().pick(2000, TETS, TETS), |(mesh, _)| {
                mesh.tets().len()
            });
        bench.stage(format!("{name}: ours"));
        let (mut ms, mut made) = best_ms(1, || surface(&input, &Options::tets(count)));
        if let Err(why) = &made {
            // Said, and measured with more.
            notices.push(format!("{name}: {count} tetrahedra are refused: {why}"));
            (ms, made) = best_ms(1, || surface(&input, &Options::tets(TETS)));
        }
        if let Ok(made) = &made {
            row(
                section,
                &mut table,
                &name,
                "fracas",
                &input,
                made.mesh(),
                ms,
            );
        }
        if made.is_err() {
            let mut cells: Vec<Cell> = vec![name.as_str().into(), "fracas".into()];
            cells.push(Cell {
                tone: Tone::Bad,
                ..Cell::from("refused")
            });
            cells.resize(8, Cell::from("–"));
            table.rows.push(cells);
        }
        if let Some((mesh, answer)) = &theirs {
            let their_ms = answer["ms"].as_f64().unwrap_or(f64::NAN);
            if made.is_ok() {
                ratios.push(their_ms / ms);
            }
            let title = format!(
                "fTetWild of pytetwild {}",
                answer["version"].as_str().unwrap_or("")
            );
            row(section, &mut table, &name, &title, &input, mesh, their_ms);
        }
    }
    section.table(table);
    if !ratios.is_empty() {
        let list: Vec<String> = ratios.iter().map(|r| format!("{}×", short(*r))).collect();
        section.text(format!(
            "fTetWild’s time over ours, surface by surface: {}.",
            list.join(", ")
        ));
    }
    notices.sort();
    notices.dedup();
    for notice in notices {
        section.notice(notice);
    }
    Ok(())
}

/// Their tetrahedra as a mesh of ours, all the same way round.
fn read(answer: &Value) -> Result<TetMesh, String> {
    let rows = |key: &str| answer[key].as_array().cloned().unwrap_or_default();
    let nodes: Vec<DVec3> = rows("nodes")
        .iter()
        .map(|p| DVec3::from([0, 1, 2].map(|i| p[i].as_f64().unwrap_or(f64::NAN))))
        .collect();
    let mut tets = Vec::new();
    for row in rows("tets") {
        let mut tet = [0, 1, 2, 3].map(|i| row[i].as_u64().unwrap_or(u64::MAX) as u32);
        let [a, b, c, d] = tet.map(|i| nodes.get(i as usize).copied().unwrap_or(DVec3::NAN));
        if (b - a).cross(c - a).dot(d - a) < 0.0 {
            tet.swap(2, 3);
        }
        tets.push(tet);
    }
    // Nodes that no tetrahedron uses are dropped.
    let mut place = vec![u32::MAX; nodes.len()];
    let mut positions: Vec<Vec3> = Vec::new();
    for index in tets.iter_mut().flatten() {
        let at = place.get_mut(*index as usize).ok_or("a node is missing")?;
        if *at == u32::MAX {
            *at = positions.len() as u32;
            positions.push(nodes[*index as usize].as_vec3());
        }
        *index = *at;
    }
    TetMesh::build(positions, tets).map_err(|e| e.to_string())
}

fn row(
    section: &mut Section,
    table: &mut Table,
    name: &str,
    program: &str,
    input: &SurfaceMesh,
    mesh: &TetMesh,
    ms: f64,
) {
    let report = inspect_tets(mesh);
    let positions: Vec<DVec3> = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
    let angles = fracas_bake::tetrahedralize::quality::angles(&positions, mesh.tets());
    let (low, high) = input.bounds();
    let diagonal = low.distance(high);
    let apart = hausdorff(input, mesh, 0.002 * diagonal);
    let far = 100.0 * apart.surface_to_mesh.max(apart.mesh_to_surface) / diagonal;
    let volume = 100.0 * (report.volume / input.volume().abs() - 1.0);
    let who = if program == "fracas" {
        "fracas"
    } else {
        "fTetWild"
    };
    for (what, value) in [
        ("tets", report.tets as f64),
        ("seconds", ms * 1e-3),
        ("smallest_angle", angles.min),
        ("per_mille_angle", angles.per_mille),
        ("hausdorff_percent", far),
        ("volume_percent", volume),
    ] {
        section.value(format!("{name}.{who}.{what}"), value);
    }
    let mut smallest = Cell::from(angles.min);
    if angles.min < 5.0 {
        smallest.tone = Tone::Bad;
    }
    table.row([
        name.into(),
        program.into(),
        report.tets.into(),
        (ms * 1e-3).into(),
        smallest,
        angles.per_mille.into(),
        far.into(),
        format!("{volume:+.2}").into(),
    ]);
}
