//! Which surface the pieces of `shatter` have: the model's own triangles, or the
//! tetrahedra's.

use clap::ValueEnum;
use fracas_bake::shatter;

/// Which surface the pieces have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SkinChoice {
    /// The model's own triangles where all pieces are closed in them, else draped.
    #[default]
    Auto,
    /// The model's own triangles, whether the pieces are closed or not.
    Model,
    /// New triangles on the model, with its textures: always closed.
    Draped,
    /// The surface of the tetrahedra: always closed.
    Tets,
}

impl From<SkinChoice> for shatter::SkinChoice {
    fn from(choice: SkinChoice) -> Self {
        match choice {
            SkinChoice::Auto => Self::Auto,
            SkinChoice::Model => Self::Model,
            SkinChoice::Draped => Self::Draped,
            SkinChoice::Tets => Self::Tets,
        }
    }
}
