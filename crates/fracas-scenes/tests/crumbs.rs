//! The piggy bank bursts: no crumb flies higher than its own energy carries it, and pieces
//! stay near.

use fracas_scenes::experiments::crumbs::burst;
use fracas_scenes::rigid::SceneOptions;

#[test]
fn no_crumb_is_flung_up_and_pieces_stay_near() {
    for seed in 0..2 {
        let options = SceneOptions {
            seed,
            ..SceneOptions::default()
        };
        let burst = burst("piggy-bank", &options, &[60], None).unwrap();
        let [brought, left] = [
            burst.highest_of(|c| c.brought),
            burst.highest_of(|c| c.left),
        ];
        println!(
            "seed {seed}: {} pieces, up to {:.3} m, {brought:.3} of what they brought, {left:.3} of what was left; {:.3} m apart",
            burst.crumbs.len(),
            burst.highest(),
            burst.spread[0]
        );
        assert!(burst.crumbs.len() > 20, "it did not burst");
        assert!(brought <= 1.5 && left <= 1.5, "{brought} {left}");
        // The engine's triangle meshes throw the same pieces up to half a metre high, and 0.27 m
        // apart.
        assert!(burst.spread[0] < 0.2, "{} m apart", burst.spread[0]);
    }
}
