//! Long runs of random scenes with random edits, for as long as one likes.
//!
//! A [`Plan`] is drawn from a seed, played ([`play()`]) under everything that must hold,
//! and where something does not, made smaller as long as the same rule still fails
//! ([`shrink`]), and written as a TOML scene.

mod plan;
mod play;
mod tell;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use plan::{BodyPlan, Edit, KINDS, Kind, Plan};
pub use play::{Failure, Played, Wardrobe, play};

/// Plays a plan; a panic is a failure, too.
///
/// # Errors
/// The first thing that did not hold.
pub fn play_safely(plan: &Plan, wardrobe: &mut Wardrobe) -> Result<Played, Failure> {
    let played = catch_unwind(AssertUnwindSafe(|| play(plan, wardrobe)));
    played.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        Err(Failure {
            rule: "panic",
            step: 0,
            seen: text.unwrap_or_else(|| "without a word".into()),
        })
    })
}

/// The smallest plan found that fails by the same rule: fewer steps, fewer bodies, fewer
/// edits; `goes_on` is asked before each try.
pub fn shrink(
    plan: &Plan,
    failure: &Failure,
    wardrobe: &mut Wardrobe,
    goes_on: &mut dyn FnMut() -> bool,
) -> (Plan, Failure) {
    let mut try_plan = |plan: &Plan| play_safely(plan, wardrobe).err();
    shrink_by(plan, failure, &mut try_plan, goes_on)
}

/// As [`shrink`], by what `try_plan` says of a plan.
fn shrink_by(
    plan: &Plan,
    failure: &Failure,
    try_plan: &mut dyn FnMut(&Plan) -> Option<Failure>,
    goes_on: &mut dyn FnMut() -> bool,
) -> (Plan, Failure) {
    let (mut best, mut why) = (plan.clone(), failure.clone());
    let rule = failure.rule;
    let mut fails = |plan: &Plan| try_plan(plan).filter(|failure| failure.rule == rule);
    // What comes after the failure plays no part.
    let mut shorter = plan.clone();
    shorter.steps = failure.step.clamp(1, plan.steps);
    shorter.edits.retain(|e| e.0 <= failure.step);
    if failure.step > 0
        && let Some(found) = fails(&shorter)
    {
        (best, why) = (shorter, found);
    }
    loop {
        let mut smaller = None;
        for candidate in candidates(&best) {
            if !goes_on() {
                return (best, why);
            }
            if let Some(found) = fails(&candidate) {
                smaller = Some((candidate, found));
                break;
            }
        }
        let Some((candidate, found)) = smaller else {
            return (best, why);
        };
        (best, why) = (candidate, found);
    }
}

/// The plan with something left out, the largest pieces first.
fn candidates(plan: &Plan) -> Vec<Plan> {
    let mut all = Vec::new();
    // Half of the edits; a single one is left out below. A plan that is no smaller would be
    // tried for ever.
    let half = plan.edits.len() / 2;
    if half > 0 {
        let mut less = plan.clone();
        less.edits.truncate(half);
        all.push(less);
        let mut less = plan.clone();
        less.edits.drain(..half);
        all.push(less);
    }
    for i in 0..plan.bodies.len() {
        let mut less = plan.clone();
        less.bodies.remove(i);
        all.push(less);
    }
    for i in 0..plan.edits.len() {
        let mut less = plan.clone();
        less.edits.remove(i);
        all.push(less);
    }
    if plan.steps > 2 {
        let mut less = plan.clone();
        less.steps = plan.steps * 3 / 4;
        all.push(less);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rigid::user::UserScene;

    #[test]
    fn a_few_plans_hold_and_repeat() {
        let mut wardrobe = Wardrobe::default();
        for seed in 0..3 {
            let mut plan = Plan::draw(seed);
            plan.steps = plan.steps.min(90);
            let first = play(&plan, &mut wardrobe);
            assert!(first.is_ok(), "{first:?}\n{}", plan.to_toml());
            assert_eq!(first, play(&plan, &mut wardrobe));
        }
    }

    #[test]
    fn every_plan_is_a_scene_that_is_read() {
        for seed in 0..200 {
            let text = Plan::draw(seed).to_toml();
            if let Err(error) = UserScene::parse(&text, "soak.toml") {
                panic!("{error}\n{text}");
            }
        }
    }

    /// A rule that is broken where a push is made while the first body is still there; a body
    /// less breaks another rule.
    fn broken_by_a_push(plan: &Plan, needed: &BodyPlan) -> Option<Failure> {
        let pushes = |edit: &&(u64, Edit)| matches!(edit.1, Edit::Push(..));
        let step = plan.edits.iter().find(pushes)?.0 + 1;
        let rule = if plan.bodies.contains(needed) {
            "speed"
        } else {
            "volume"
        };
        (step <= plan.steps).then(|| Failure {
            rule,
            step,
            seen: String::new(),
        })
    }

    #[test]
    fn a_failing_plan_is_made_small() {
        let mut plan = Plan::draw(5);
        assert!(plan.bodies.len() > 2, "{}", plan.bodies.len());
        plan.steps = 200;
        let push = (10, Edit::Push(0, glam::Vec3::Y));
        plan.edits = vec![
            (3, Edit::Release),
            push.clone(),
            (20, Edit::Snapshot),
            (30, Edit::Push(1, glam::Vec3::X)),
        ];
        let needed = plan.bodies[1].clone();
        let mut tried = 0;
        let mut try_plan = |plan: &Plan| {
            tried += 1;
            broken_by_a_push(plan, &needed)
        };
        let failure = try_plan(&plan).unwrap();
        let (small, why) = shrink_by(&plan, &failure, &mut try_plan, &mut || true);
        assert_eq!((why.rule, why.step), ("speed", 11));
        assert_eq!(small.bodies, std::slice::from_ref(&needed));
        assert_eq!(small.edits, [push]);
        assert_eq!(small.steps, 11);
        assert!(tried < 60, "{tried} plays");
        // Who is told to stop stops, with what is small so far.
        let mut left = 2;
        let mut goes_on = || {
            left -= 1;
            left > 0
        };
        let mut try_plan = |plan: &Plan| broken_by_a_push(plan, &needed);
        let (half, _) = shrink_by(&plan, &failure, &mut try_plan, &mut goes_on);
        assert!(half.bodies.len() > 1);
        assert_eq!(half.steps, 11);
    }

    #[test]
    fn a_rule_that_is_broken_is_told() {
        // Thrown faster than anything may fly.
        let mut plan = Plan::draw(5);
        plan.bodies.truncate(1);
        (plan.bodies[0].fixed, plan.bodies[0].voxels) = (false, false);
        plan.steps = 3;
        plan.edits = vec![(1, Edit::Push(0, glam::Vec3::new(0.0, 400.0, 0.0)))];
        let failure = play_safely(&plan, &mut Wardrobe::default()).unwrap_err();
        assert_eq!(failure.rule, "speed");
        assert!(failure.seen.contains(" kg, "), "{}", failure.seen);
    }
}
