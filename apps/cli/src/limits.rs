//! The option that lifts the limits on what is begun, see [`fracas_bake::limits`].

use clap::Args;
use fracas_bake::limits::Cost;

/// The option that lifts the limits.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Begin even what may take very long or very much memory.
    #[arg(long)]
    no_limits: bool,
}

impl Limits {
    /// Whether to begin.
    ///
    /// # Errors
    /// What is too much, and what lets it pass.
    pub fn check(self, what: &str, cost: Cost) -> Result<(), String> {
        if self.no_limits {
            return Ok(());
        }
        cost.check(what)
            .map_err(|why| format!("{why}, or give --no-limits to try"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_can_be_lifted() {
        let absurd = Cost::of_tets(1e12);
        let said = Limits::default().check("this", absurd).unwrap_err();
        assert!(said.contains("--no-limits"), "{said}");
        assert!(Limits { no_limits: true }.check("this", absurd).is_ok());
    }
}
