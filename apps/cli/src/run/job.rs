//! What is run: a scene by name or from a file, and how.

use std::error::Error;
use std::path::{Path, PathBuf};

use fracas_bake::bake::{BakeOptions, Source};
use fracas_bake::model::Model;
use fracas_bake::shatter::Subject;
use fracas_bake::tetrahedralize::Size;
use fracas_core::TetMesh;
use fracas_core::sphere_tree::{SplitMethod, Traversal};
use fracas_rapier::{ContactMode, FrameBudget};
use fracas_scenes::rigid::user::{Loaded, UserScene};
use fracas_scenes::rigid::{self, Scene, SceneOptions, contacts_by_name, within};
use rapier3d::prelude::PhysicsWorld;

/// Which scene, which chance, which contacts.
pub struct Job {
    /// Seed of all chance.
    pub seed: u64,
    /// The contact method's name.
    pub contacts: String,
    what: What,
}

enum What {
    Named(String),
    File(Box<UserScene>, PathBuf),
}

/// Everything else that changes how it runs.
#[derive(Clone, Copy)]
pub struct Settings {
    pub restructuring: SplitMethod,
    pub traversal: Traversal,
    /// As the paper measured, or as a game runs.
    pub measured: bool,
    /// Seconds per step, where not the scene's own.
    pub step: Option<f32>,
    /// Seconds for contacts in a step.
    pub budget: Option<f64>,
    /// Seconds of work for a whole step.
    pub step_budget: Option<f64>,
    pub threads: usize,
    /// Steps, where not the scene's own.
    pub steps: Option<u64>,
}

impl Settings {
    /// The contact method of a name, within the budget where it can have one.
    fn contacts(&self, name: &str) -> Result<ContactMode, String> {
        let mode = contacts_by_name(name)?;
        Ok(within(mode, self.frame_budget()).unwrap_or(mode))
    }

    fn frame_budget(&self) -> FrameBudget {
        self.budget.map_or(FrameBudget::Unlimited, |seconds| {
            FrameBudget::Milliseconds(1e3 * seconds)
        })
    }
}

impl Job {
    /// Finds the scene; what is asked for on the command line comes before what a
    /// file says.
    pub fn open(
        name: &str,
        seed: Option<u64>,
        contacts: Option<&str>,
    ) -> Result<Self, Box<dyn Error>> {
        let path = Path::new(name);
        if path
            .extension()
            .is_none_or(|e| !e.eq_ignore_ascii_case("toml"))
        {
            return Ok(Self {
                seed: seed.unwrap_or(0),
                contacts: contacts.unwrap_or("adaptive").into(),
                what: What::Named(name.into()),
            });
        }
        let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read {name}: {e}"))?;
        let user = UserScene::parse(&text, name)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Self {
            seed: seed.or(user.seed()).unwrap_or(0),
            contacts: contacts.or(user.contacts()).unwrap_or("adaptive").into(),
            what: What::File(Box::new(user), folder),
        })
    }

    /// Seconds for contacts in a step that the scene's file asks for.
    pub fn budget(&self) -> Option<f64> {
        match &self.what {
            What::Named(_) => None,
            What::File(user, _) => user.budget_ms().map(|ms| 1e-3 * f64::from(ms)),
        }
    }

    /// Seconds of work for a whole step that the scene's file asks for.
    pub fn step_budget(&self) -> Option<f64> {
        match &self.what {
            What::Named(_) => None,
            What::File(user, _) => user.step_budget_ms().map(|ms| 1e-3 * f64::from(ms)),
        }
    }

    /// Whether anything in the scene can keep to a budget.
    ///
    /// # Errors
    /// What can, where nothing does.
    pub fn check_budget(&self) -> Result<(), String> {
        let name = &self.contacts;
        let bodies = matches!(&self.what, What::File(user, _) if user.has_voxel_bodies());
        let mode = contacts_by_name(name)?;
        if bodies || within(mode, FrameBudget::Unlimited).is_some() {
            return Ok(());
        }
        Err(format!(
            "--budget needs --contacts voxel-tree or budgeted; {name} cannot stop early"
        ))
    }

    /// The same with another contact method.
    pub fn with_contacts(&self, contacts: &str) -> JobWith<'_> {
        JobWith {
            job: self,
            contacts: contacts.into(),
        }
    }

    /// The scene's name.
    pub fn is(&self, name: &str) -> bool {
        matches!(&self.what, What::Named(own) if own == name)
    }

    /// Makes the scene.
    pub fn build(
        &self,
        settings: &Settings,
        progress: rigid::Progress<'_>,
    ) -> Result<Scene, Box<dyn Error>> {
        self.with_contacts(&self.contacts).build(settings, progress)
    }
}

/// A job with another contact method.
pub struct JobWith<'a> {
    job: &'a Job,
    contacts: String,
}

impl JobWith<'_> {
    /// Makes the scene.
    pub fn build(
        &self,
        settings: &Settings,
        progress: rigid::Progress<'_>,
    ) -> Result<Scene, Box<dyn Error>> {
        let options = SceneOptions {
            seed: self.job.seed,
            contacts: settings.contacts(&self.contacts)?,
            body_budget: settings.frame_budget(),
            step_budget: settings.step_budget.map(|seconds| seconds as f32),
            restructuring: settings.restructuring,
            traversal: settings.traversal,
            measured: settings.measured,
            step: settings.step,
            ..SceneOptions::default()
        };
        let mut scene = match &self.job.what {
            What::Named(name) => rigid::by_name(name, &options, progress)?,
            What::File(user, folder) => user.build(
                &options,
                &mut |name, tets| load(folder, name, tets),
                progress,
            )?,
        };
        start_threads(&mut scene.world_mut().physics, settings.threads)?;
        Ok(scene)
    }
}

/// The pool of all runs of this program. The thread that asks is one of its workers: a
/// step on one thread then costs no more than without a pool.
#[cfg(feature = "parallel")]
fn start_threads(physics: &mut PhysicsWorld, threads: usize) -> Result<(), String> {
    static POOL: std::sync::OnceLock<Result<std::sync::Arc<rayon::ThreadPool>, String>> =
        std::sync::OnceLock::new();
    let pool = POOL.get_or_init(|| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .use_current_thread()
            .build()
            .map(std::sync::Arc::new)
            .map_err(|e| format!("cannot start {threads} threads: {e}"))
    });
    physics.set_thread_pool(Some(pool.clone()?));
    Ok(())
}

#[cfg(not(feature = "parallel"))]
fn start_threads(_: &mut PhysicsWorld, threads: usize) -> Result<(), String> {
    match threads {
        1 => Ok(()),
        _ => Err("this build has no threads: build it with the feature `parallel`".into()),
    }
}

/// As many threads as the machine has processors; one where this build has none.
pub fn all_threads() -> usize {
    if cfg!(feature = "parallel") {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
    } else {
        1
    }
}

/// A mesh file beside the scene's: its tetrahedra and what it looks like.
fn load(folder: &Path, name: &str, tets: Option<usize>) -> Result<Loaded, String> {
    let path = folder.join(name);
    let source = Source::open(&path).map_err(|e| e.to_string())?;
    let options = BakeOptions {
        size: Some(Size::Tets(tets.unwrap_or(8_000))),
        ..BakeOptions::default()
    };
    let subject = Subject::bake(source, &path, &options, &mut |_| ());
    let Subject { baked, model, .. } = subject.map_err(|e| e.to_string())?;
    for warning in model.warnings() {
        eprintln!("warning: {name}: {warning}");
    }
    // What has no materials has the colour that the scene gives it; what has no surface but
    // that of its tetrahedra is shown by them.
    let model = match baked.asset.skin() {
        _ if Model::is_known(name) => Some(model),
        Some(_) => Some(model.without_materials()),
        None => None,
    };
    let mesh = TetMesh::clone(baked.asset.mesh());
    Ok(Loaded { mesh, model })
}
