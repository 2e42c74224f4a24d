//! `fracas report`: every table and figure of the papers, and the peers.

use std::error::Error;
use std::io::{IsTerminal as _, stderr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use fracas_report::run::chosen;
use fracas_report::sections::SECTIONS;
use fracas_report::{Options, Progress, Scale, Shard, Store};
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{complain, say};

/// Arguments of `fracas report`.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  fracas report\n  fracas report --only glondu-fig16 --full --shard 3/40 --out part3\n  fracas report merge part1 part2 part3 --out out/report\n  fracas report --peers python3 --only peers\n\nSections are kept as they are measured: after Ctrl-C the page holds what was done,\nand --only measures some of them again."
)]
pub struct Report {
    #[command(subcommand)]
    task: Option<Task>,
    /// List all sections and stop.
    #[arg(long)]
    list: bool,
    /// Only sections whose name contains this.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// As much as the papers measured: hours.
    #[arg(long)]
    full: bool,
    /// Very little, to see that it works.
    #[arg(long, hide = true, conflicts_with = "full")]
    tiny: bool,
    /// Threads for work that is counted, not timed (default: all).
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// The folder to write to; what is there already is kept.
    #[arg(long, value_name = "DIR", default_value = "out/report")]
    out: PathBuf,
    /// Measure one part of a long sweep, for example 2/8; put together with merge.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Seed of all chance.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// A Python with the packages of crates/fracas-report/peers/requirements.txt.
    #[arg(long, value_name = "PYTHON")]
    peers: Option<PathBuf>,
    /// The program of benches/peers/box3d.
    #[arg(long, value_name = "PROGRAM")]
    box3d: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Task {
    /// Put reports together: sections are taken over, shards summed.
    Merge {
        /// Folders of reports.
        #[arg(required = true, value_name = "DIR")]
        from: Vec<PathBuf>,
        /// The folder to write to.
        #[arg(long, value_name = "DIR", default_value = "out/report")]
        out: PathBuf,
    },
    /// Write figures and numbers of a report into README.md and docs/pictures.
    Readme {
        /// The report.
        #[arg(long, value_name = "DIR", default_value = "out/report")]
        from: PathBuf,
        /// The repository's root.
        #[arg(long, value_name = "DIR", default_value = ".")]
        root: PathBuf,
    },
}

/// Makes the report.
pub fn run(report: &Report) -> Result<(), Box<dyn Error>> {
    if let Some(Task::Merge { from, out }) = &report.task {
        let from: Vec<Store> = from.iter().map(Store::new).collect();
        let into = Store::new(out);
        let written = fracas_report::merge(&from, &into)?;
        if written.is_empty() {
            return Err("there is neither a section nor a shard in those folders".into());
        }
        say!("put together: {}", written.join(", "));
        say!("open {} to see it", into.page_path().display());
        return Ok(());
    }
    if let Some(Task::Readme { from, root }) = &report.task {
        for file in fracas_report::readme::update(&Store::new(from), root)? {
            say!("wrote {file}");
        }
        return Ok(());
    }
    if report.list {
        for section in SECTIONS {
            say!("{:<18} {}", section.id, section.title);
        }
        return Ok(());
    }
    let mut sections = chosen(report.only.as_deref());
    if report.shard.is_some() {
        sections.retain(|s| s.sweep.is_some());
    }
    if sections.is_empty() {
        return Err(
            "no section has that name (and can be cut, with --shard); --list tells them".into(),
        );
    }
    let options = Options {
        scale: match (report.tiny, report.full) {
            (true, _) => Scale::Tiny,
            (_, true) => Scale::Full,
            _ => Scale::Default,
        },
        seed: report.seed,
        jobs: report
            .jobs
            .unwrap_or_else(|| Options::default().jobs)
            .max(1),
        python: report.peers.clone(),
        box3d: report.box3d.clone(),
        data: std::env::var_os("FRACAS_DATA")
            .filter(|path| !path.is_empty())
            .map(PathBuf::from),
    };
    let store = Store::new(&report.out);
    let bar = bar(sections.len());
    fracas_report::run(
        &store,
        &options,
        &sections,
        report.shard,
        &|progress| match progress {
            Progress::Section { done, of, id } => {
                bar.set_position(done as u64);
                bar.set_message(id.to_owned());
                if !stderr().is_terminal() {
                    complain(&format!("{:>3} of {of}: {id}", done + 1));
                }
            }
            Progress::Stage(text) => bar.set_message(text.to_owned()),
        },
    )?;
    bar.finish_and_clear();
    if report.shard.is_some() {
        say!(
            "kept in {}; put together with `fracas report merge`",
            report.out.display()
        );
        return Ok(());
    }
    let sections = store.sections()?;
    let fails = sections
        .iter()
        .flat_map(|s| s.claims())
        .filter(|c| !c.holds);
    say!(
        "{} sections; {} claims of the papers do not hold here, marked red",
        sections.len(),
        fails.count()
    );
    say!("numbers: {}", store.json_path().display());
    say!("open {} to see it", store.page_path().display());
    Ok(())
}

fn bar(sections: usize) -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = "{spinner} [{bar:28}] {pos}/{len}  {elapsed}  {wide_msg}";
    let bar = ProgressBar::new(sections as u64).with_style(
        ProgressStyle::with_template(style)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> "),
    );
    bar.enable_steady_tick(Duration::from_millis(150));
    bar
}
