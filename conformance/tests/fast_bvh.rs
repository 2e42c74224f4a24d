//! `fast_bvh` and its primitives against public ground truth and against
//! exhaustive and exact answers.

use fracas::primitives::{edge_edge_ccd, vertex_face_ccd};
use fracas_conformance::ccd::read_queries;
use fracas_conformance::data::find;

#[test]
fn sample_queries_have_no_false_negative() {
    let Some(root) = find("ccd/sample-queries") else {
        return;
    };
    for kind in ["vertex-face", "edge-edge"] {
        let (mut queries, mut hits, mut false_positives) = (0, 0, 0);
        let mut folders: Vec<_> = std::fs::read_dir(&root)
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        folders.sort();
        for folder in folders.iter().filter(|f| f.join(kind).is_dir()) {
            for file in std::fs::read_dir(folder.join(kind)).unwrap() {
                let file = file.unwrap().path();
                for (i, query) in read_queries(&file).iter().enumerate() {
                    let [p, q, r, s] = &query.points;
                    let found = if kind == "vertex-face" {
                        vertex_face_ccd::first_impact(p, [q, r, s])
                    } else {
                        edge_edge_ccd::first_impact([p, q], [r, s])
                    };
                    assert!(
                        !query.collides || found.is_some(),
                        "{} query {i}",
                        file.display()
                    );
                    queries += 1;
                    hits += usize::from(query.collides);
                    false_positives += usize::from(found.is_some() && !query.collides);
                }
            }
        }
        println!("{kind}: {queries} queries, {hits} true, {false_positives} false positives");
        assert!(queries > 0 && hits > 0);
        assert!(
            false_positives * 100 <= queries,
            "{false_positives} of {queries}"
        );
    }
}
