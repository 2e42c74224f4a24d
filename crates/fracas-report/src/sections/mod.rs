//! The list of sections: what the papers show, in their order, then the peers and
//! how cost grows. One function each; a section that cannot be measured here says
//! why instead.

mod dingliana;
pub mod dingliana_pictures;
mod fig16;
mod glondu;
mod glondu_parts;
mod growth;
mod heo;
mod marchal;
mod marchal_pictures;
mod peer_engines;
mod peer_fresh;
mod peer_parry;
mod peer_tets;

use crate::bench::Bench;
use crate::html::Chapter;
use crate::options::{Options, Skip};
use crate::section::Section;
use crate::shards::{Shard, Tally};

/// What measures and writes a section.
pub type Measure = fn(&Bench<'_>, &mut Section) -> Result<(), Skip>;

/// A section by its name.
#[derive(Clone, Copy)]
pub struct SectionInfo {
    /// Its name on the command line.
    pub id: &'static str,
    /// The chapter it belongs to.
    pub group: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Measures and writes it.
    pub run: Measure,
    /// Set where it can be cut into shards.
    pub sweep: Option<Sweep>,
}

/// A section that is a sum over many independent tasks.
#[derive(Clone, Copy)]
pub struct Sweep {
    /// Does the tasks of one shard.
    pub measure: fn(&Bench<'_>, Shard) -> Tally,
    /// Writes the section from the sum.
    pub write: fn(&Options, &Tally, &mut Section),
}

const GLONDU: &str = "Glondu et al. 2013";
const HEO: &str = "Heo et al. 2010";
const MARCHAL: &str = "Marchal et al. 2004";
const DINGLIANA: &str = "Dingliana and O’Sullivan 2004";
const PEERS: &str = "What people use today";
const GROWTH: &str = "How cost grows";

/// The chapters of the page.
pub const CHAPTERS: &[Chapter] = &[
    Chapter {
        group: GLONDU,
        about: "Fast Collision Detection for Fracturing Rigid Bodies: one distance field and one tree of points for all fragments of an object, updated when it breaks. Their machine: one core of an i7-2600 at 3.4 GHz, with Havok.",
    },
    Chapter {
        group: HEO,
        about: "FASTCD: Fracturing-Aware Stable Collision Detection: a box tree over deforming meshes whose topology changes. Their machine: one thread of an i7 at 3.2 GHz.",
    },
    Chapter {
        group: MARCHAL,
        about: "Collision Between Deformable Objects Using Fast-Marching on Tetrahedral Models: depths inside soft bodies that can be cut.",
    },
    Chapter {
        group: DINGLIANA,
        about: "A Voxel-based Approach to Approximate Collision Handling: contacts that can be had at any time, better the longer one looks.",
    },
    Chapter {
        group: PEERS,
        about: "The same input, in the same run, with the shapes and engines that people use now: speed and quality side by side.",
    },
    Chapter {
        group: GROWTH,
        about: "Exponents of growth by least squares over the logarithms.",
    },
];

const fn of(
    id: &'static str,
    group: &'static str,
    title: &'static str,
    run: Measure,
) -> SectionInfo {
    SectionInfo {
        id,
        group,
        title,
        run,
        sweep: None,
    }
}

/// All sections, in the order of the page.
#[rustfmt::skip]
pub const SECTIONS: &[SectionInfo] = &[
    of("glondu-table1", GLONDU, "Table 1: the objects", glondu::table1),
    of("glondu-table2", GLONDU, "Table 2: triangles, fragments and contacts of the scenes", glondu::table2),
    of("glondu-table3", GLONDU, "Table 3: times of the scenes", glondu::table3),
    of("glondu-stills", GLONDU, "Figs. 1, 9, 10, 13, 14: the scenes", glondu::stills),
    of("glondu-fig3", GLONDU, "Fig. 3: slices of the distance field", glondu_parts::fig3),
    of("glondu-fig5", GLONDU, "Fig. 5: contacts of a rolling plate", glondu::fig5),
    of("glondu-fig6", GLONDU, "Fig. 6: where the contacts of blocks lie", glondu::fig6),
    of("glondu-fig12", GLONDU, "Fig. 12: contacts and times over the run", glondu::fig12),
    of("glondu-7.2", GLONDU, "Section 7.2 and Fig. 11: the influence of resolution", glondu_parts::resolution),
    of("glondu-fig15", GLONDU, "Fig. 15: updated against exact field and rebuilt tree", glondu_parts::fig15),
    SectionInfo {
        id: "glondu-fig16",
        group: GLONDU,
        title: "Fig. 16: penetration against allowed contacts",
        run: fig16::run,
        sweep: Some(Sweep { measure: fig16::measure, write: fig16::write }),
    },
    of("glondu-fig17", GLONDU, "Fig. 17: new against naive restructuring and traversal", glondu::fig17),
    of("heo-table1", HEO, "Table 1: the benchmarks", heo::table1),
    of("heo-5.2.1", HEO, "Section 5.2.1: does the cost metric predict the cost?", heo::metric),
    of("heo-fig6", HEO, "Fig. 6: the exploding dragon, continuous detection", heo::fig6),
    of("heo-fig7", HEO, "Fig. 7: breaking walls, discrete detection", heo::fig7),
    of("heo-fig8", HEO, "Fig. 8: cloth, and ways of culling", heo::fig8),
    of("heo-break-up", HEO, "Section 6.1: times, and where they go", heo::break_up),
    of("marchal-fig6", MARCHAL, "Figs. 6 and 7: time of the march", marchal::fig6),
    of("marchal-fig8", MARCHAL, "Fig. 8: depth and error on a bent, cut disc", marchal::fig8),
    of("marchal-fig9-10", MARCHAL, "Figs. 9 and 10: time and error of every way", marchal::fig9),
    of("marchal-fig11", MARCHAL, "Fig. 11: edges that cross, seen by segments only", marchal::fig11),
    of("marchal-fig12", MARCHAL, "Fig. 12: forces of many contacts", marchal::fig12),
    of("marchal-fig13", MARCHAL, "Figs. 13 to 15: things that break, and the share of collision", marchal::fig13),
    of("marchal-fig16", MARCHAL, "Fig. 16: time against colliding points", marchal::fig16),
    of("dingliana-fig6", DINGLIANA, "Fig. 6: regions of surfaces", dingliana::fig6),
    of("dingliana-fig7", DINGLIANA, "Fig. 7: error of the contact", dingliana::fig7),
    of("dingliana-fig8", DINGLIANA, "Fig. 8: error of the response", dingliana::fig8),
    of("dingliana-fig9", DINGLIANA, "Fig. 9: raw and reduced contacts", dingliana::fig9),
    of("dingliana-deadline", DINGLIANA, "The deadline: contacts within a budget of time", dingliana::deadline),
    of("peers-parry", PEERS, "Fresh fragments: parry3d’s shapes", peer_parry::fresh),
    of("peers-fresh-fracture", PEERS, "A fresh fracture: shapes and engines", peer_fresh::fresh),
    of("peers-mesh", PEERS, "Mesh against mesh: Coal and FCL", peer_engines::meshes),
    of("peers-ipctk", PEERS, "Deforming meshes: the IPC Toolkit", peer_engines::ipctk),
    of("peers-tets", PEERS, "Tetrahedra: fTetWild", peer_tets::tets),
    of("growth", GROWTH, "Triangles, tetrahedra, fragments, pairs, contacts", growth::all),
];
