//! References for tests and comparisons: exact distances, marching on a grid, the specimens and
//! the error table of the paper's Figs. 9 and 10.

pub mod error_table;
pub mod exact;
pub mod grid_march;
pub mod specimens;
