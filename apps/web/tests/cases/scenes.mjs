// The scenes: each runs, and what is seen and heard of them.
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { drawn, open, pause, ready, state, until } from "../browser.mjs";
import { NATIVE, address, browser, native } from "../here.mjs";
import { advances, assert, epoch, give, strike, text } from "../tools.mjs";

/** Scenes that tests of their own show. */
const ELSEWHERE = ["ball-tears-cloth", "blocks", "bricks", "piggy-bank", "plates", "rolling-plate", "your-plates"];

export const tests = {
  async "every scene runs that no other test shows (of three spheres one)"(shot) {
    // Small: without a graphics card the picture costs more than the world.
    const { page, errors } = await open(browser, address, { viewport: { width: 520, height: 360 } });
    await ready(page);
    const scenes = await page.locator("#scene > option").evaluateAll((all) => all.map((o) => o.value).filter(Boolean));
    assert(scenes.length >= 4, `only ${scenes.length} scenes`);
    for (const name of ELSEWHERE) assert(scenes.includes(name), `there is no scene ${name}`);
    // Of the three spheres, which differ in their meshes alone, the one that takes seconds.
    for (const scene of scenes.filter((name) => ![...ELSEWHERE, "sphere", "sphere-fine"].includes(name))) {
      const before = await epoch(page);
      await page.selectOption("#scene", scene);
      await ready(page, before);
      await until(page, scene, (s) => s.steps >= 4 && s.pieces.length > 0);
      const said = await text(page, "#rest");
      assert(!/\b0\.0×/.test(said), `${scene}: ${said}`);
      await shot(page, `scene-${scene}`);
    }
    return errors;
  },

  async "the piggy bank falls and breaks, and every view is toggled"(shot) {
    const { page, errors } = await open(browser, `${address}?scene=piggy-bank`);
    await ready(page);
    await page.click("#see-field");
    const whole = await until(page, "the slice is asked for", (s) => s.slice);
    await page.click("#see-field");
    const s = await until(page, "it breaks", (s) => s.fragments > 3);
    await advances(page, "it goes on", 40);
    await shot(page, "piggy-bank");
    assert(Number(await text(page, "#n-fragments")) >= s.fragments, "the panel counts");
    for (const see of ["contacts", "spheres", "field", "tets", "voxels"]) {
      await page.click(`#see-${see}`);
      if (see === "spheres" || see === "voxels") for (const level of ["1", "5", "3"]) await page.locator("#level").fill(level);
      if (see === "field") {
        await page.locator("#slice").fill("0.45");
        // It goes where the pieces went: at first the pig was whole, and in the air.
        const around = (s) => s.pieces.filter((p) => s.slice && [0, 1].every((i) => p.place[i] >= s.slice[i] - 0.02 && p.place[i] <= s.slice[i] + s.slice[i ? 7 : 3] + 0.02));
        await until(page, "the slice follows the pieces", (s) => around(s).length >= 0.8 * s.pieces.length && s.slice.some((x, i) => Math.abs(x - whole.slice[i]) > 0.01));
      }
      await page.waitForTimeout(400);
      await shot(page, `see-${see}`);
      await page.click(`#see-${see}`);
    }
    await page.locator("#explode").fill("0.6");
    await drawn(page);
    await shot(page, "see-exploded");
    await page.locator("#explode").fill("0");
    for (const see of ["contacts", "spheres", "field", "tets", "voxels"]) await page.click(`#see-${see}`);
    const { steps } = await state(page);
    await page.click("#reset");
    await until(page, "it falls again with all views on", (s) => s.steps < steps);
    for (const see of ["contacts", "spheres", "field", "tets", "voxels"]) await page.click(`#see-${see}`);
    await page.click("#theme");
    // As other materials it looks otherwise.
    const pictures = [];
    for (const material of ["glass", "granite"]) {
      await page.selectOption("#material", material);
      await page.click("#reset");
      await until(page, `${material} breaks`, (s) => s.fragments > 1);
      await pause(page);
      await drawn(page);
      pictures.push(await shot(page, `material-${material}`));
    }
    assert(!pictures[0].equals(pictures[1]), "glass looks like granite");
    return errors;
  },

  async "soft bodies deform and tear, live and recorded"(shot) {
    if (!NATIVE) return console.log("      skipped: FRACAS_NATIVE is not set");
    const { page, errors } = await open(browser, `${address}?scene=ball-tears-cloth`);
    await ready(page);
    const ball = (s) => s.pieces.find((p) => p.object === 0).place[1];
    // It begins at 1.35; the cloth hangs at 0.9.
    await until(page, "the ball falls through the cloth", (s) => s.steps > 25 && s.pieces.length === 2 && ball(s) < 0.8);
    await shot(page, "soft");
    const file = join(tmpdir(), `fracas-soft-${process.pid}.film`);
    const theirs = native("ball-tears-cloth", 30, "--recording", file);
    const ours = await page.evaluate(() => window.fracas.digest("ball-tears-cloth", 30));
    assert(ours.digest === theirs.digest, `the same bits native and here: ${theirs.digest}, ${ours.digest}`);
    const before = await give(page, "soft.film", readFileSync(file));
    rmSync(file);
    await ready(page, before);
    await page.locator("#scrub").fill("30");
    await until(page, "the recording shows it too", (s) => s.pieces.length === 2 && ball(s) < 0.8);
    await shot(page, "soft-recording");
    await page.locator("#scrub").fill("0");
    await until(page, "and its start", (s) => ball(s) > 1.3);
    return errors;
  },

  async "materials sound like themselves, dust settles, and both can be off"(shot) {
    const { page, errors } = await open(browser, address, { reducedMotion: "no-preference" });
    await ready(page);
    await until(page, "it stands", (s) => s.rest);
    await drawn(page);
    const hear = (material, more = {}) => page.evaluate((i) => window.fracas.measure(i), { at: [0, 0, 0], energy: 0.5, size: 0.05, material, broke: false, area: 0, ...more });
    const [glass, porcelain, ice, brick] = [await hear("glass"), await hear("porcelain"), await hear("ice"), await hear("brick")];
    const told = JSON.stringify({ glass, porcelain, ice, brick });
    assert(glass.hertz > 2 * brick.hertz && glass.hertz > ice.hertz && ice.hertz > brick.hertz, `glass is brighter than ice, ice than brick: ${told}`);
    assert(glass.seconds > 1.5 * porcelain.seconds && porcelain.seconds > 1.3 * brick.seconds, `glass rings longer than porcelain, porcelain than brick: ${told}`);
    assert((await hear("glass", { size: 0.2 })).hertz < 0.6 * glass.hertz, "large things sound lower");
    assert((await hear("brick", { energy: 5e-4 })).peak < 0.5 * brick.peak, "soft impacts are soft");
    // Off until asked; then a break is heard.
    const break_ = async (object) => {
      const { fragments, pieces } = await state(page);
      // Something may lie before the place that is aimed at, the picture may be behind, or
      // the piece may be too small to break: then it is another's turn.
      for (let tries = 1; ; tries++) {
        await strike(page, (p, i) => (tries < 3 ? p.object === object : i === (7 * tries) % pieces.length));
        try {
          return await until(page, "a plate breaks", (s) => s.fragments > fragments, 10);
        } catch (e) {
          if (tries === 6) throw e;
        }
      }
    };
    assert((await page.getAttribute("#sound", "aria-pressed")) === "false", "silent at first");
    assert((await break_(1)).sounds === 0, "it is silent until asked");
    assert((await state(page)).dust === 0, "no dust without a graphics card");
    await page.click("#sound");
    await break_(2);
    const { sounds } = await until(page, "it sounds", (s) => s.sounds > 3);
    // As with a graphics card: dust comes, is drawn, and goes; nothing is drawn after it.
    await page.evaluate(() => (window.fracas.dust.card = true));
    // Who looks from a place of their own stays there: the camera does not follow pieces.
    await page.locator("#view").focus();
    await page.keyboard.press("-");
    await drawn(page);
    await break_(3);
    await until(page, "dust rises", (s) => s.dust > 10);
    await drawn(page);
    await shot(page, "dust");
    await pause(page);
    const rest = await until(page, "dust settles", (s) => s.dust === 0 && !s.moving);
    await page.waitForTimeout(500);
    assert((await state(page)).drawn - rest.drawn <= 1, "nothing is drawn when the dust has settled");
    await page.keyboard.press("m");
    assert((await page.getAttribute("#sound", "aria-pressed")) === "false", "m turns it off");
    await page.keyboard.press("m");
    await page.reload();
    await ready(page);
    assert((await page.getAttribute("#sound", "aria-pressed")) === "true", "it is remembered");
    assert(sounds < 400, `${sounds} sounds of one plate`);
    // Who wants less motion gets no dust, whatever draws.
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.evaluate(() => (window.fracas.dust.card = true));
    await until(page, "it stands", (s) => s.rest);
    await drawn(page);
    await break_(1);
    assert((await state(page)).dust === 0, "no dust where less motion is wanted");
    return errors;
  },
};
