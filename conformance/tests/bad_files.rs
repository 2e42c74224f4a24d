//! x
use fracas_bake::Mesh;
use fracas_conformance::data;

#[test]
fn show() {
    let Some(folder) = data::find("bad") else {
        return;
    };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        match fracas_bake::read(&file) {
            Ok(Mesh::Surface(mesh, repairs)) => {
                let r = fracas_bake::inspect_surface(&mesh);
                println!(
                    "ROW (\"{name}\", Mesh([{}, {}, {}, {}, {}, {}], &{:?})),",
                    r.triangles,
                    r.vertices,
                    r.boundary_edges,
                    r.nonmanifold_edges,
                    r.components,
                    r.self_intersections,
                    repairs.iter().collect::<Vec<_>>()
                );
                println!(
                    "INFO {name} inc {} pin {} genus {:?} flat {} opp {} vol {}",
                    r.inconsistent_edges,
                    r.pinched_vertices,
                    r.genus,
                    r.flat_triangles,
                    r.opposite_pairs,
                    r.volume
                );
            }
            Ok(Mesh::Tets(soup)) => println!("{name}: {} tets", soup.tets().len()),
            Err(e) => println!("ROW (\"{name}\", Error({:?}, {:?})),", e.kind(), e.place()),
        }
    }
}
