//! `fracas inspect`: what a mesh file holds, and what state it is in.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fracas_bake::inspect::{Spread, SurfaceReport, TetReport};
use fracas_bake::{
    Asset, Mesh, RawLayout, Repairs, Volume, inspect_surface, inspect_tets, read, read_raw_volume,
    read_volume, tet_mesh_of,
};
use serde_json::{Value, json};

use crate::output::{Table, complain, count, print, short};

const EXAMPLES: &str = "\
Surfaces: .obj .ply .stl .off .glb .gltf; tetrahedra: .msh .mesh .node+.ele .vtk .vtu;
any of them gzipped. Assets of `fracas bake`: .fracas. Volumes: .nrrd, or raw numbers with --raw.

Examples:
  fracas inspect bunny.obj
  fracas inspect mug.msh --json | jq .tets.dihedral_angles.least
  fracas inspect head.nrrd
  fracas inspect head.bin --raw 256x256x109:uint16

Exit status: 0 the file is readable, 1 it is not, 2 wrong usage.";

/// Say what a mesh file holds: counts, bounds, topology, self-intersections, quality.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The mesh file.
    file: PathBuf,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// The file is a raw volume: counts along x (fastest), y and z, and the type of a
    /// value, for example 64x64x32:uint8 (lowest byte first).
    #[arg(long, value_name = "LAYOUT", value_parser = raw_layout)]
    raw: Option<RawLayout>,
}

fn raw_layout(text: &str) -> Result<RawLayout, String> {
    let wrong = || "use COUNTxCOUNTxCOUNT:TYPE, for example 64x64x32:uint8".to_string();
    let (counts, kind) = text.split_once(':').ok_or_else(wrong)?;
    let counts: Vec<u32> = counts.split('x').filter_map(|c| c.parse().ok()).collect();
    Ok(RawLayout {
        counts: counts.try_into().map_err(|_| wrong())?,
        kind: kind.into(),
        big_endian: false,
        skip: 0,
        spacing: [1.0; 3],
    })
}

enum Report {
    Surface(SurfaceReport),
    Tets(Box<TetReport>),
    Asset(Box<Asset>, Box<TetReport>),
    Volume(Volume),
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> ExitCode {
    let (report, repairs) = match examine(arguments) {
        Ok(found) => found,
        Err(error) => {
            if arguments.json {
                let text = json!({"file": arguments.file.display().to_string(), "error": error.to_string()});
                print(&format!("{text:#}\n"));
            }
            complain(&format!("error: {error}"));
            return ExitCode::from(1);
        }
    };
    let name = arguments.file.display().to_string();
    if arguments.json {
        print(&format!("{:#}\n", as_json(&name, &report, &repairs)));
    } else {
        print(&as_table(&name, &report, &repairs));
    }
    ExitCode::SUCCESS
}

fn examine(arguments: &Arguments) -> Result<(Report, Repairs), Box<dyn Error>> {
    if arguments.raw.is_none() && Asset::is_asset_name(&arguments.file) {
        let asset = Asset::load(&arguments.file)?;
        let report = inspect_tets(asset.mesh());
        let report = Report::Asset(Box::new(asset), Box::new(report));
        return Ok((report, Repairs::default()));
    }
    if let Some(layout) = &arguments.raw {
        let volume = read_raw_volume(&arguments.file, layout)?;
        return Ok((Report::Volume(volume), Repairs::default()));
    }
    let suffix = arguments.file.extension().and_then(|e| e.to_str());
    if suffix.is_some_and(|e| e.eq_ignore_ascii_case("nrrd")) {
        let volume = read_volume(&arguments.file)?;
        return Ok((Report::Volume(volume), Repairs::default()));
    }
    match read(&arguments.file)? {
        Mesh::Surface(mesh, repairs) => Ok((Report::Surface(inspect_surface(&mesh)), repairs)),
        Mesh::Tets(soup) => {
            let (mesh, repairs) = tet_mesh_of(&arguments.file.display().to_string(), soup)?;
            Ok((Report::Tets(Box::new(inspect_tets(&mesh))), repairs))
        }
    }
}

fn as_json(name: &str, report: &Report, repairs: &Repairs) -> Value {
    let (kind, body) = match report {
        Report::Surface(report) => ("surface", serde_json::to_value(report)),
        Report::Tets(report) => ("tets", serde_json::to_value(report)),
        Report::Asset(_, report) => ("tets", serde_json::to_value(report)),
        Report::Volume(volume) => ("volume", Ok(volume_json(volume))),
    };
    let repairs: Vec<Value> = repairs
        .iter()
        .map(|(repair, count)| json!({"what": repair.describe(), "count": count}))
        .collect();
    // Reports hold numbers and names only, which always have a JSON form.
    let mut value = json!({"file": name, "repairs": repairs, kind: body.unwrap_or_default()});
    if let Report::Asset(asset, _) = report {
        value["asset"] = json!({
            "name": asset.name(),
            "skin_triangles": asset.skin().map(|s| s.triangles().len()),
            "modes": asset.modes().map(|m| m.count()),
        });
    }
    value
}

fn as_table(name: &str, report: &Report, repairs: &Repairs) -> String {
    let mut table = Table::default();
    table.heading(name);
    for (repair, times) in repairs.iter() {
        table.row(
            "repaired",
            format!("{} {}", count(times), repair.describe()),
        );
    }
    match report {
        Report::Surface(report) => {
            table.heading("surface");
            surface_rows(&mut table, report);
        }
        Report::Tets(report) => {
            table.heading("tetrahedra");
            tet_rows(&mut table, report);
            table.heading("boundary");
            surface_rows(&mut table, &report.boundary);
        }
        Report::Asset(asset, report) => {
            table.heading("asset");
            table.row("name", asset.name());
            let skin = asset.skin().map(|s| count(s.triangles().len()));
            table.row(
                "skin",
                skin.map_or("none".into(), |n| format!("{n} triangles")),
            );
            let modes = asset.modes().map(|m| count(m.count()));
            table.row("modes", modes.unwrap_or("none".into()));
            table.heading("tetrahedra");
            tet_rows(&mut table, report);
            table.heading("boundary");
            surface_rows(&mut table, &report.boundary);
        }
        Report::Volume(volume) => {
            table.heading("volume");
            volume_rows(&mut table, volume);
        }
    }
    table.render()
}

/// Values above the middle of the range, as a share of all: a first idea of what an
/// object in it would fill.
fn upper_half(volume: &Volume) -> Option<f64> {
    let (low, high) = volume.range()?;
    let middle = 0.5 * (low + high);
    let above = volume.values().iter().filter(|v| **v > middle).count();
    Some(above as f64 / volume.values().len() as f64)
}

fn volume_json(volume: &Volume) -> Value {
    json!({
        "counts": volume.counts(),
        "type": volume.kind(),
        "spacing": volume.spacing(),
        "origin": volume.origin(),
        "range": volume.range().map(|(low, high)| [low, high]),
        "above_middle": upper_half(volume),
    })
}

fn volume_rows(table: &mut Table, volume: &Volume) {
    let triple = |p: [f32; 3]| p.map(|x| short(f64::from(x))).join(" ");
    table.row(
        "voxels",
        volume.counts().map(|c| count(c as usize)).join(" x "),
    );
    table.row("type", volume.kind());
    table.row("spacing", triple(volume.spacing()));
    table.row("origin", triple(volume.origin()));
    match volume.range() {
        Some((low, high)) => table.row(
            "values",
            format!("{} to {}", short(f64::from(low)), short(f64::from(high))),
        ),
        None => table.row("values", "none is finite"),
    }
    if let Some(share) = upper_half(volume) {
        table.row(
            "above the middle",
            format!("{:.2}% of the voxels", share * 100.0),
        );
    }
}

fn surface_rows(table: &mut Table, r: &SurfaceReport) {
    table.row("triangles", count(r.triangles));
    table.row("vertices", count(r.vertices));
    bounds_rows(table, r.lower, r.upper);
    table.row(
        "closed",
        verdict(r.closed, &[(r.boundary_edges, "boundary edges")]),
    );
    table.row(
        "manifold",
        verdict(
            r.manifold,
            &[
                (r.nonmanifold_edges, "edges of more than two triangles"),
                (r.pinched_vertices, "pinched vertices"),
            ],
        ),
    );
    table.row(
        "oriented",
        verdict(
            r.oriented,
            &[(
                r.inconsistent_edges,
                "edges whose triangles face opposite ways",
            )],
        ),
    );
    table.row("components", count(r.components));
    table.row(
        "genus",
        r.genus.map_or(
            "not defined (not closed, manifold and oriented)".into(),
            count,
        ),
    );
    let at_least = if r.self_intersections_complete {
        ""
    } else {
        "at least "
    };
    table.row(
        "self-intersections",
        format!(
            "{at_least}{} pairs of triangles",
            count(r.self_intersections)
        ),
    );
    if r.flat_triangles > 0 {
        table.row(
            "zero area",
            format!("{} triangles", count(r.flat_triangles)),
        );
    }
    if r.opposite_pairs > 0 {
        table.row(
            "back to back",
            format!("{} pairs of triangles", count(r.opposite_pairs)),
        );
    }
    table.row("area", short(r.area));
    let remark = match (r.closed && r.oriented, r.volume < 0.0) {
        (false, _) => " (not closed and oriented: means little)",
        (true, true) => " (negative: inside out)",
        (true, false) => "",
    };
    table.row("volume", format!("{}{remark}", short(r.volume)));
}

fn tet_rows(table: &mut Table, r: &TetReport) {
    table.row("tetrahedra", count(r.tets));
    table.row("nodes", count(r.nodes));
    bounds_rows(table, r.lower, r.upper);
    table.row("components", count(r.components));
    table.row("volume", short(r.volume));
    table.row("inverted", count(r.inverted));
    if r.folded > 0 {
        table.row(
            "folded",
            format!("{} pairs of neighbours overlap", count(r.folded)),
        );
    }
    table.row("dihedral angles", spread(&r.dihedral_angles, "°"));
    table.row("smallest of each", spread(&r.smallest_dihedral_angles, "°"));
    table.row("radius to edge", spread(&r.radius_edge, ""));
    table.row("edge lengths", spread(&r.edge_lengths, ""));
}

fn bounds_rows(table: &mut Table, lower: [f64; 3], upper: [f64; 3]) {
    let triple = |p: [f64; 3]| p.map(short).join(" ");
    table.row("from", triple(lower));
    table.row("to", triple(upper));
    table.row("size", triple([0, 1, 2].map(|k| upper[k] - lower[k])));
}

fn verdict(good: bool, faults: &[(usize, &str)]) -> String {
    if good {
        return "yes".into();
    }
    let faults: Vec<String> = faults
        .iter()
        .filter(|(times, _)| *times > 0)
        .map(|(times, what)| format!("{} {what}", count(*times)))
        .collect();
    format!("no: {}", faults.join(", "))
}

fn spread(s: &Spread, unit: &str) -> String {
    let number = |x: f64| format!("{}{unit}", short((x * 1e4).round() / 1e4));
    format!(
        "{} to {}; 1% {}, median {}, 99% {}",
        number(s.least),
        number(s.greatest),
        number(s.percent_1),
        number(s.median),
        number(s.percent_99)
    )
}
