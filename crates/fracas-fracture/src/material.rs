//! What things are made of: brittle materials by name and by number.
//!
//! Elastic constants and fracture toughness are handbook values; strength is
//! the bending strength of everyday pieces with everyday surface flaws, which
//! scatters by a factor of two and more (see [`Material::weibull_modulus`]). The
//! fracture energy follows from toughness, `G_c = K_Ic² (1 - nu²) / E` (Irwin).

use thiserror::Error;

/// A brittle, isotropic, linearly elastic material. SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Material {
    /// Young's modulus E (Pa).
    pub young: f64,
    /// Poisson's ratio nu (no unit).
    pub poisson: f64,
    /// Density (kg/m³).
    pub density: f64,
    /// Tensile strength sigma_c (Pa): where the largest principal stress exceeds
    /// it, a crack starts.
    pub strength: f64,
    /// Fracture toughness K_Ic (Pa m^1/2).
    pub toughness: f64,
    /// Weibull modulus m of the strength's scatter (no unit); larger is more even.
    pub weibull_modulus: f64,
    /// Stress corrosion exponent n (no unit): `strength` is that of tests that last
    /// twenty seconds; what is loaded for a shorter time t bears `(20 s / t)^(1/n)` times
    /// as much. Glass is 16 (EN 16612); large means that time does not matter.
    pub fatigue_exponent: f64,
    /// Pressure that crushes the material under a contact (Pa): three times its compressive
    /// strength (Tabor's factor).
    pub crushing: f64,
    /// Damping: decay rate that all modes share (1/s).
    pub damping_alpha: f64,
    /// Damping: what grows with the square of the frequency (s).
    pub damping_beta: f64,
}

/// Why numbers do not make a [`Material`].
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MaterialError {
    /// A quantity is out of range.
    #[error("a material's {what} must be {range}, not {value}")]
    OutOfRange {
        /// The quantity.
        what: &'static str,
        /// What it may be.
        range: &'static str,
        /// What was given.
        value: f64,
    },
    /// No material has this name.
    #[error("no material is named `{name}`; there are {known}")]
    Unknown {
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
}

/// A row of the table: one number for each column of the handbook.
const fn brittle(row: [f64; 8]) -> Material {
    let [
        young_gpa,
        poisson,
        density,
        strength_mpa,
        toughness_mpa,
        weibull_modulus,
        fatigue_exponent,
        compressive_mpa,
    ] = row;
    Material {
        young: young_gpa * 1e9,
        poisson,
        density,
        strength: strength_mpa * 1e6,
        toughness: toughness_mpa * 1e6,
        weibull_modulus,
        fatigue_exponent,
        crushing: 3.0 * compressive_mpa * 1e6,
        damping_alpha: 5.0,
        damping_beta: 1e-7,
    }
}

/// The materials with a name.
const NAMED: [(&str, Material); 8] = [
    ("glass", Material::GLASS),
    ("porcelain", Material::PORCELAIN),
    ("earthenware", Material::EARTHENWARE),
    ("brick", Material::BRICK),
    ("granite", Material::GRANITE),
    ("concrete", Material::CONCRETE),
    ("plaster", Material::PLASTER),
    ("ice", Material::ICE),
];

/// Materials of what things fall on and are hit by. They are not brittle, so they are not among
/// [`Material::names`]; [`Material::by_name`] finds them.
const OTHERS: [(&str, Material); 4] = [
    ("steel", Material::STEEL),
    ("wood", Material::WOOD),
    ("rubber", Material::RUBBER),
    ("carpet", Material::CARPET),
];

/// Everyday words, and the material that comes nearest.
const ALIASES: [(&str, &str); 24] = [
    ("window", "glass"),
    ("crystal", "glass"),
    ("bottle", "glass"),
    ("ceramic", "porcelain"),
    ("ceramics", "porcelain"),
    ("china", "porcelain"),
    ("stoneware", "porcelain"),
    ("tile", "porcelain"),
    ("pottery", "earthenware"),
    ("clay", "earthenware"),
    ("terracotta", "earthenware"),
    ("terra-cotta", "earthenware"),
    ("faience", "earthenware"),
    ("bricks", "brick"),
    ("stone", "granite"),
    ("rock", "granite"),
    ("marble", "granite"),
    ("cement", "concrete"),
    ("mortar", "concrete"),
    ("gypsum", "plaster"),
    ("stucco", "plaster"),
    ("drywall", "plaster"),
    ("chalk", "plaster"),
    ("icicle", "ice"),
];

impl Material {
    /// Soda-lime glass, annealed, with the flaws of use.
    pub const GLASS: Self = brittle([70.0, 0.22, 2500.0, 45.0, 0.75, 7.0, 16.0, 1000.0]);
    /// Glazed table porcelain.
    pub const PORCELAIN: Self = brittle([70.0, 0.20, 2400.0, 50.0, 1.2, 10.0, 25.0, 500.0]);
    /// Earthenware, such as piggy banks and flower pots.
    pub const EARTHENWARE: Self = brittle([20.0, 0.20, 1900.0, 15.0, 0.6, 10.0, 30.0, 80.0]);
    /// Fired clay brick.
    pub const BRICK: Self = brittle([15.0, 0.18, 1800.0, 3.0, 0.5, 8.0, 30.0, 25.0]);
    /// Granite.
    pub const GRANITE: Self = brittle([55.0, 0.25, 2650.0, 10.0, 1.6, 10.0, 35.0, 170.0]);
    /// Ordinary concrete.
    pub const CONCRETE: Self = brittle([30.0, 0.20, 2400.0, 3.0, 1.0, 10.0, 31.0, 35.0]);
    /// Set gypsum plaster.
    pub const PLASTER: Self = brittle([4.5, 0.20, 1200.0, 3.0, 0.2, 8.0, 30.0, 12.0]);
    /// Fresh-water ice near its melting point, struck fast.
    pub const ICE: Self = brittle([9.0, 0.33, 917.0, 1.2, 0.1, 5.0, 1000.0, 8.0]);

    /// Structural steel. For what does not break itself: a hammer, a girder.
    pub const STEEL: Self = brittle([210.0, 0.30, 7850.0, 400.0, 50.0, 40.0, 1000.0, 400.0]);
    /// Softwood, hit across its grain: floors and furniture.
    pub const WOOD: Self = brittle([1.0, 0.30, 500.0, 40.0, 1.0, 10.0, 60.0, 40.0]);
    /// Rubber. How high things bounce on it is the collider's own coefficient of restitution.
    pub const RUBBER: Self = brittle([0.01, 0.48, 1100.0, 15.0, 0.1, 10.0, 1000.0, 10.0]);
    /// A carpet of ten millimetres with its underlay: as stiff as it is on the whole until it is
    /// pressed flat.
    pub const CARPET: Self = brittle([0.002, 0.30, 300.0, 5.0, 0.1, 10.0, 1000.0, 1.0]);

    /// The material of a name, such as `glass`, or of an everyday word for it, such as
    /// `ceramic` (porcelain), `pottery` (earthenware) or `stone` (granite).
    ///
    /// # Errors
    /// [`MaterialError::Unknown`], which lists the names.
    pub fn by_name(name: &str) -> Result<Self, MaterialError> {
        let word = name.trim();
        let alias = ALIASES.iter().find(|(a, _)| a.eq_ignore_ascii_case(word));
        let own = alias.map_or(word, |(_, own)| own);
        NAMED
            .iter()
            .chain(&OTHERS)
            .find(|(known, _)| known.eq_ignore_ascii_case(own))
            .map(|&(_, material)| material)
            .ok_or_else(|| MaterialError::Unknown {
                name: name.into(),
                known: NAMED
                    .iter()
                    .chain(&OTHERS)
                    .map(|(name, _)| *name)
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }

    /// Names of the materials that break.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|&(name, _)| name)
    }

    /// Checks numbers that came from outside.
    ///
    /// # Errors
    /// [`MaterialError::OutOfRange`] for the first quantity that makes no sense.
    pub fn validate(&self) -> Result<(), MaterialError> {
        let positive = |what, value: f64| {
            if value.is_finite() && value > 0.0 {
                Ok(())
            } else {
                Err(MaterialError::OutOfRange {
                    what,
                    range: "positive and finite",
                    value,
                })
            }
        };
        positive("Young's modulus", self.young)?;
        positive("density", self.density)?;
        positive("strength", self.strength)?;
        positive("toughness", self.toughness)?;
        positive("Weibull modulus", self.weibull_modulus)?;
        positive("stress corrosion exponent", self.fatigue_exponent)?;
        positive("crushing pressure", self.crushing)?;
        if !(0.0..0.49).contains(&self.poisson) {
            return Err(MaterialError::OutOfRange {
                what: "Poisson's ratio",
                range: "from 0 to 0.49",
                value: self.poisson,
            });
        }
        for (what, value) in [
            ("damping alpha", self.damping_alpha),
            ("damping beta", self.damping_beta),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(MaterialError::OutOfRange {
                    what,
                    range: "zero or more, and finite",
                    value,
                });
            }
        }
        Ok(())
    }

    /// The same in units in which `units` lengths make a metre, with kilograms and seconds: what
    /// a body is made of whose mesh is in centimetres (100) or millimetres (1000).
    #[must_use]
    pub(crate) fn in_units(&self, units: f32) -> Self {
        let units = f64::from(units);
        Self {
            young: self.young / units,
            density: self.density / (units * units * units),
            strength: self.strength / units,
            toughness: self.toughness / units.sqrt(),
            crushing: self.crushing / units,
            ..*self
        }
    }

    /// Lamé's lambda and mu (Pa).
    #[must_use]
    pub(crate) fn lame(&self) -> (f64, f64) {
        let (e, nu) = (self.young, self.poisson);
        (
            e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)),
            e / (2.0 * (1.0 + nu)),
        )
    }

    /// Energy that a unit of crack area costs, G_c (J/m²).
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn fracture_energy(&self) -> f64 {
        self.toughness * self.toughness * (1.0 - self.poisson * self.poisson) / self.young
    }

    /// Stress intensity at which a running crack branches, K_B (Pa m^1/2). Fractography
    /// knows it as the branching constant: 2.1 MPa m^1/2 for soda-lime glass, 2.8 times its
    /// toughness [Quinn 2020, NIST SP 960-16e3].
    #[must_use]
    pub(crate) fn branching_constant(&self) -> f64 {
        2.8 * self.toughness
    }

    /// How far a crack runs at the material's strength until it branches, `(K_B / sigma_c)²`
    /// (m): 2 mm in glass, 12 in earthenware, 54 in ice, 200 in granite.
    #[must_use]
    pub(crate) fn branching_way(&self) -> f64 {
        (self.branching_constant() / self.strength).powi(2)
    }

    /// Modulus of contact, E / (1 - nu²) (Pa).
    #[must_use]
    pub fn contact_modulus(&self) -> f64 {
        self.young / (1.0 - self.poisson * self.poisson)
    }

    /// Strength of what is loaded for a time (Pa): cracks in moist air creep ahead of a
    /// load that lasts [Charles 1958; Wiederhorn 1967], so tests of seconds find less than
    /// an impact of microseconds does. Never less than [`Material::strength`].
    #[must_use]
    pub(crate) fn strength_for(&self, time: f64) -> f64 {
        let shorter = (SLOW_TEST / time).max(1.0);
        self.strength * libm::pow(shorter, 1.0 / self.fatigue_exponent)
    }

    /// Speed of shear waves (m/s).
    #[must_use]
    pub(crate) fn shear_speed(&self) -> f64 {
        (self.lame().1 / self.density).sqrt()
    }

    /// How fast cracks run (m/s): about 0.4 of the shear wave's speed, which for
    /// glass is the known 1,500 m/s within ten percent.
    #[must_use]
    pub(crate) fn crack_speed(&self) -> f64 {
        0.4 * self.shear_speed()
    }
}

/// How long the tests last that [`Material::strength`] comes from (s): EN 1288 loads glass
/// by 2 MPa/s.
pub(crate) const SLOW_TEST: f64 = 20.0;

/// Modulus of contact of steel (Pa): E = 210 GPa, nu = 0.3. For balls and floors.
pub const STEEL_CONTACT_MODULUS: f64 = 210e9 / (1.0 - 0.09);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_materials_are_sound_and_have_the_known_fracture_energies() {
        for name in Material::names() {
            Material::by_name(name).unwrap().validate().unwrap();
        }
        let energies = [
            ("glass", 7.6),
            ("porcelain", 20.0),
            ("earthenware", 17.0),
            ("brick", 16.0),
            ("granite", 44.0),
            ("concrete", 32.0),
        ];
        for (name, expected) in energies {
            let energy = Material::by_name(name).unwrap().fracture_energy();
            assert!((energy / expected - 1.0).abs() < 0.03, "{name}: {energy}");
        }
        assert!((Material::GLASS.crack_speed() / 1500.0 - 1.0).abs() < 0.1);
    }

    #[test]
    fn other_materials_are_sound_and_found_by_name() {
        for (name, material) in OTHERS {
            material.validate().unwrap();
            assert_eq!(Material::by_name(name), Ok(material));
            assert!(Material::names().all(|n| n != name), "{name} breaks");
        }
        let moduli = OTHERS.map(|(_, material)| material.contact_modulus());
        assert!(moduli.is_sorted_by(|a, b| a > b), "from hard to soft");
    }

    #[test]
    fn bad_numbers_and_names_are_refused_with_reason() {
        let mut m = Material::GLASS;
        m.poisson = 0.5;
        assert!(m.validate().unwrap_err().to_string().contains("Poisson"));
        m.poisson = 0.2;
        m.young = f64::NAN;
        assert!(m.validate().is_err());
        for (alias, own) in ALIASES {
            assert_eq!(Material::by_name(alias), Material::by_name(own));
            assert!(Material::by_name(own).is_ok() && Material::names().all(|n| n != alias));
        }
        assert_eq!(Material::by_name("Ceramic"), Ok(Material::PORCELAIN));
        let message = Material::by_name("jelly").unwrap_err().to_string();
        assert!(message.contains("jelly") && message.contains("porcelain"));
    }

    /// EN 16612, table of k_mod: `0.663 t^(-1/16)`, t in hours; from 20 s to an impact.
    #[test]
    fn an_impact_takes_more_than_a_load_that_stays() {
        let code = |seconds: f64| 0.663 * libm::pow(seconds / 3600.0, -1.0 / 16.0);
        let glass = Material::GLASS;
        for time in [1e-4, 1.0] {
            let ratio = glass.strength_for(time) / glass.strength;
            assert!((ratio / (code(time) / code(SLOW_TEST)) - 1.0).abs() < 1e-9);
        }
        assert_eq!(glass.strength_for(1e6), glass.strength);
    }
}
