//! Meshes out, for other programs to look at and to go on with.
//!
//! | format | holds | for | function |
//! | --- | --- | --- | --- |
//! | VTK XML `.vtu` | tetrahedra, fields | ParaView, and `read` | [`write_vtu`] |
//! | Gmsh 4.1 `.msh` | tetrahedra, fields | Gmsh, meshio | [`write_msh`] |
//! | OBJ | surface, texture coordinates | modelling programs | [`write_obj`] |
//! | PLY, binary | surface | everything else | [`write_ply`] |
//! | binary glTF | named, placed, animated meshes | Blender, browsers | [`glb::Glb`] |
//!
//! Numbers are written so that reading them gives the same bits. All write to any
//! [`std::io::Write`]; give them a buffered one. [`write_file`] puts bytes into a file
//! without ever leaving half of one.

mod file;
pub mod glb;
mod msh;
mod obj;
mod ply;
mod vtu;

use std::io;

use fracas_core::TetMesh;

#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) use file::{is_special_file, write_file};
pub use msh::write_msh;
pub use obj::write_obj;
pub use ply::write_ply;
pub use vtu::write_vtu;

/// Where a [`Field`] has its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldOn {
    /// One for each node.
    Nodes,
    /// One for each tetrahedron.
    Tets,
}

/// A named scalar on the nodes or tetrahedra of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field<'a> {
    name: &'a str,
    on: FieldOn,
    values: &'a [f32],
}

impl<'a> Field<'a> {
    /// One value for each node.
    #[must_use]
    pub fn on_nodes(name: &'a str, values: &'a [f32]) -> Self {
        let on = FieldOn::Nodes;
        Self { name, on, values }
    }

    /// One value for each tetrahedron.
    #[must_use]
    pub fn on_tets(name: &'a str, values: &'a [f32]) -> Self {
        let on = FieldOn::Tets;
        Self { name, on, values }
    }
}

/// Every field has a value for each node or tetrahedron, and a name that needs no
/// escaping.
fn check_fields(mesh: &TetMesh, fields: &[Field<'_>]) -> io::Result<()> {
    for field in fields {
        let wanted = match field.on {
            FieldOn::Nodes => mesh.positions().len(),
            FieldOn::Tets => mesh.tets().len(),
        };
        let name = field.name;
        let fault = if field.values.len() != wanted {
            format!(
                "the field `{name}` has {} values, the mesh needs {wanted}",
                field.values.len()
            )
        } else if name.is_empty() || name.contains(['"', '<', '>', '&', '\'', '\n', '\r']) {
            format!("the field name `{name}` is empty or has quotes, brackets or line ends in it")
        } else {
            continue;
        };
        return Err(io::Error::new(io::ErrorKind::InvalidInput, fault));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Mesh, read_bytes};
    use crate::surface_mesh::SurfaceMesh;
    use fracas_core::testing::box_grid;
    use glam::{DVec3, Vec2, Vec3};

    fn surface(uvs: bool) -> SurfaceMesh {
        let positions = vec![
            DVec3::new(0.1, -1e-300, 1.0 / 3.0),
            DVec3::new(1e17, 0.5, 2.0),
            DVec3::new(0.0, std::f64::consts::PI, -7.25),
            DVec3::new(5e-324, 1.0, 1.0),
        ];
        let triangles = vec![[0, 1, 2], [3, 2, 1]];
        let uv = |x: f32| [Vec2::new(x, 0.1), Vec2::new(0.25, 1.0), Vec2::new(x, x)];
        let uvs = uvs.then(|| vec![uv(0.3), uv(1.0 / 7.0)]);
        SurfaceMesh::build_with_uvs(positions, triangles, uvs).unwrap()
    }

    #[test]
    fn surfaces_come_back_bit_for_bit() {
        for uvs in [false, true] {
            let mesh = surface(uvs);
            let mut file = Vec::new();
            write_obj(&mut file, &mesh).unwrap();
            let Mesh::Surface(back, repairs) = read_bytes("x.obj", &file).unwrap() else {
                panic!("a surface was written");
            };
            assert!(repairs.is_empty());
            assert_eq!(back, mesh);
        }
        let mesh = surface(false);
        let mut file = Vec::new();
        write_ply(&mut file, &mesh).unwrap();
        let Mesh::Surface(back, _) = read_bytes("x.ply", &file).unwrap() else {
            panic!("a surface was written");
        };
        assert_eq!(back, mesh);
    }

    #[test]
    fn tets_come_back_bit_for_bit() {
        let mesh = box_grid([2, 3, 1], Vec3::new(0.1, 1e-6, 1e6));
        let heat: Vec<f32> = (0..mesh.tets().len()).map(|t| t as f32 / 3.0).collect();
        let mut file = Vec::new();
        write_msh(&mut file, &mesh, &[Field::on_tets("heat", &heat)]).unwrap();
        let Mesh::Tets(soup) = read_bytes("x.msh", &file).unwrap() else {
            panic!("tetrahedra were written");
        };
        let (back, repairs) = soup.into_mesh().unwrap();
        assert!(repairs.is_empty());
        assert_eq!(back, mesh);
    }

    /// The numbers of a VTU array, by its name.
    fn array<T: std::str::FromStr>(file: &str, name: &str) -> Vec<T> {
        let start = file.find(&format!("Name=\"{name}\"")).unwrap();
        let body = file[start..].split_once('>').unwrap().1;
        let body = body.split_once("</DataArray>").unwrap().0;
        let number = |w: &str| w.parse().ok().unwrap();
        body.split_whitespace().map(number).collect()
    }

    #[test]
    fn a_vtu_holds_the_mesh_and_its_fields() {
        let mesh = box_grid([1, 2, 1], Vec3::new(0.1, 0.7, 1.0 / 3.0));
        let nodes: Vec<f32> = mesh.positions().iter().map(|p| p.x / 3.0).collect();
        let tets: Vec<f32> = (0..mesh.tets().len()).map(|t| t as f32).collect();
        let fields = [
            Field::on_nodes("depth", &nodes),
            Field::on_tets("part", &tets),
        ];
        let mut file = Vec::new();
        write_vtu(&mut file, &mesh, &fields).unwrap();
        let Mesh::Tets(soup) = read_bytes("x.vtu", &file).unwrap() else {
            panic!("tetrahedra were written");
        };
        assert_eq!(soup.into_mesh().unwrap().0, mesh);
        let file = String::from_utf8(file).unwrap();
        let points: Vec<f32> = array(&file, "Points");
        let expected: Vec<f32> = mesh.positions().iter().flat_map(|p| p.to_array()).collect();
        assert_eq!(points, expected);
        let corners: Vec<u32> = array(&file, "connectivity");
        assert_eq!(corners, mesh.tets().concat());
        let offsets: Vec<usize> = array(&file, "offsets");
        assert_eq!(offsets.last(), Some(&(4 * mesh.tets().len())));
        assert!(array::<u8>(&file, "types").iter().all(|&t| t == 10));
        assert_eq!(array::<f32>(&file, "depth"), nodes);
        assert_eq!(array::<f32>(&file, "part"), tets);
        // Every tag is closed in order.
        let mut open = Vec::new();
        for tag in file.split('<').skip(1).filter(|t| !t.starts_with('?')) {
            let name: String = tag
                .trim_start_matches('/')
                .chars()
                .take_while(|c| c.is_alphabetic())
                .collect();
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.split('>').next().unwrap().ends_with('/') {
                open.push(name);
            }
        }
        assert!(open.is_empty());
    }

    #[test]
    fn fields_that_do_not_fit_are_refused() {
        let mesh = box_grid([1, 1, 1], Vec3::ONE);
        for field in [
            Field::on_nodes("short", &[1.0]),
            Field::on_tets("a\"b", &[0.0; 6]),
        ] {
            assert!(write_vtu(&mut Vec::new(), &mesh, &[field]).is_err());
            assert!(write_msh(&mut Vec::new(), &mesh, &[field]).is_err());
        }
    }
}
