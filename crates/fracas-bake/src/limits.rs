//! What is asked for is held against what a computer can do in a few minutes, before
//! anything is begun.
//!
//! Times and memory are rough estimates for one core; they are there to tell minutes from
//! days.

use crate::bake::Source;
use crate::fill::DEFAULT_TETS;

/// Beyond these nothing is begun unless asked twice.
const MOST_SECONDS: f64 = 600.0;
const MOST_GIGABYTES: f64 = 8.0;

/// What something will take, roughly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    seconds: f64,
    gigabytes: f64,
}

impl std::ops::Add for Cost {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            seconds: self.seconds + other.seconds,
            gigabytes: self.gigabytes.max(other.gigabytes),
        }
    }
}

impl Cost {
    /// Filling with so many tetrahedra.
    #[must_use]
    pub fn of_tets(tets: f64) -> Self {
        Self {
            seconds: 60e-6 * tets,
            gigabytes: 1.5e-6 * tets,
        }
    }

    /// So many modes of so many tetrahedra: the factor of the stiffness matrix grows
    /// with n^(4/3), each mode takes solves with it, and keeps a stress at every node. (40
    /// modes of 19,379 tetrahedra take 3.0 s: `fracture/bake-bunny-40-modes`.)
    #[must_use]
    pub fn of_modes(modes: f64, tets: f64) -> Self {
        let nodes = 0.25 * tets;
        let factor = 60e-9 * nodes.powf(4.0 / 3.0);
        Self {
            seconds: 2e-6 * nodes.powf(1.5) + modes * (factor * 15.0 + modes * nodes * 4e-9),
            gigabytes: factor + modes * nodes * 40e-9,
        }
    }

    /// So many cells among so many nodes: every node looks at the cells of its part.
    #[must_use]
    pub fn of_pieces(pieces: f64, tets: f64) -> Self {
        let nodes = 0.25 * tets;
        Self {
            seconds: 20e-9 * nodes * pieces + 2e-3 * pieces,
            gigabytes: 1e-6 * tets + 2e-4 * pieces,
        }
    }

    /// Whether to begin. `what` names it.
    ///
    /// # Errors
    /// What is too much, and how long and how large it would be.
    pub fn check(self, what: &str) -> Result<(), String> {
        if self.seconds <= MOST_SECONDS && self.gigabytes <= MOST_GIGABYTES {
            return Ok(());
        }
        Err(format!(
            "{what} would take about {} and {}; ask for less",
            time(self.seconds),
            memory(self.gigabytes)
        ))
    }
}

fn time(seconds: f64) -> String {
    let (number, unit) = match seconds {
        s if s < 90.0 => (s, "seconds"),
        s if s < 5_400.0 => (s / 60.0, "minutes"),
        s if s < 130_000.0 => (s / 3_600.0, "hours"),
        s if s < 3.2e7 => (s / 86_400.0, "days"),
        s => (s / 3.156e7, "years"),
    };
    format!("{number:.0} {unit}")
}

fn memory(gigabytes: f64) -> String {
    match gigabytes {
        g if g < 1.0 => format!("{:.0} MB of memory", (1e3 * g).max(1.0)),
        g if g < 2e3 => format!("{g:.0} GB of memory"),
        g => format!("{:.0} TB of memory", g / 1e3),
    }
}

/// About how many tetrahedra baking will make of a source.
#[must_use]
pub fn tets_of(source: &Source, tets: Option<u64>, edge: Option<f64>) -> f64 {
    let volume_of = |edge: f64| match source {
        Source::Surface(_, mesh) => {
            9.0 * mesh.volume().abs() / edge.powi(3) + 8.0 * mesh.area() / edge.powi(2)
        }
        Source::Shape(shape) => {
            let own = shape.build();
            let finer = f64::from(own.mean_edge_length()) / edge;
            own.tets().len() as f64 * finer.powi(3).max(1e-3)
        }
        _ => 0.0,
    };
    match (source, tets, edge) {
        (Source::Tets(_, mesh), ..) => mesh.tets().len() as f64,
        (Source::Asset(asset), ..) => asset.mesh().tets().len() as f64,
        (_, Some(tets), _) => tets as f64,
        (_, None, Some(edge)) => volume_of(edge),
        _ => DEFAULT_TETS as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_things_pass_and_absurd_ones_do_not() {
        let check = |cost: Cost| cost.check("this");
        for tets in [100.0, 20_000.0, 400_000.0, 5e6] {
            assert!(check(Cost::of_tets(tets)).is_ok(), "{tets}");
        }
        assert!(check(Cost::of_modes(40.0, 20_000.0)).is_ok());
        assert!(check(Cost::of_modes(200.0, 100_000.0)).is_ok());
        assert!(check(Cost::of_pieces(2_000.0, 100_000.0)).is_ok());
        let said = check(Cost::of_tets(1e9)).unwrap_err();
        assert!(said.contains("17 hours"), "{said}");
        assert!(check(Cost::of_modes(100_000.0, 20_000.0)).is_err());
    }
}
