//! The proof: every table and figure of the four papers beside our own numbers, and
//! what people use today, as one page and one JSON file.
//!
//! ```text
//! sections/*  --measure-->  Section (text, tables, plots, claims, numbers, provenance)
//!    |                         |  one JSON file each, kept as soon as it is measured
//!    | experiments of          v
//!    | fracas-scenes        Store  --html, svg-->  report.html, report.json
//!    v
//! Tally of a shard  --merge-->  Section
//! ```
//!
//! | module | what it does |
//! | --- | --- |
//! | [`sections`] | the list of sections, one function each |
//! | [`options`] | scale, seed, threads, where data and peers are |
//! | [`mod@bench`] | what a section is given: the options, and runs of scenes shared by several |
//! | [`scene_runs`] | a recorded run of a scene |
//! | [`mod@run`] | runs sections one after the other, keeps each |
//! | [`shards`], [`mod@merge`] | a long sweep in independent parts, and putting them together |
//! | [`section`], [`plot`] | plain data of the page |
//! | [`html`], [`svg`] | drawing it |
//! | [`store`], [`page`] | the folder, and what is drawn in it |
//! | [`peers`] | other people's programs, where they are at hand |
//! | [`readme`] | figures and numbers of the README |
//!
//! A page of one's own numbers: `examples/own_numbers.rs`.
//!
//! The numbers are the library's own statistics and the clock's; nothing here
//! computes physics. Timed work runs alone; only work that is counted, not timed,
//! runs on several threads, and its result does not depend on how many.

pub mod bench;
pub mod fit;
pub mod html;
pub mod looks;
pub mod machine;
pub mod merge;
pub mod options;
pub mod page;
pub mod peers;
pub mod plot;
pub mod readme;
pub mod run;
pub mod scene_runs;
pub mod section;
pub mod sections;
pub mod shards;
pub mod stills;
pub mod store;
pub mod svg;

pub use bench::Bench;
pub use merge::{MergeError, merge};
pub use options::{Options, Scale};
pub use run::{Progress, run};
pub use section::Section;
pub use shards::Shard;
pub use store::{Store, StoreError};
