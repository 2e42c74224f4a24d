// The same bits in the page as by the command line and in a native program; the times of their steps.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open, ready } from "../browser.mjs";
import { COMMAND, NATIVE, address, browser, native } from "../here.mjs";
import { assert, epoch } from "../tools.mjs";

export const tests = {
  async "the command line and the page have the same bits"() {
    if (!COMMAND) return console.log("      skipped: FRACAS_COMMAND is not set");
    const file = join(tmpdir(), `fracas-run-${process.pid}`);
    execFileSync(COMMAND, ["run", "piggy-bank", "--steps", "90", "--json", `${file}.json`, "--png", `${file}.png`], { stdio: "ignore" });
    const theirs = JSON.parse(readFileSync(`${file}.json`));
    for (const kind of ["json", "png"]) rmSync(`${file}.${kind}`);
    assert(theirs.fragments > 3, `it broke into ${theirs.fragments}`);
    // `fracas view` serves the page, by a soft scene's name, in its shelter.
    const server = spawn(COMMAND, ["view", "torus-on-cube", "--no-open", "--page", "dist"], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const served = String(await new Promise((told, ended) => {
        server.stdout.once("data", told);
        server.once("exit", () => ended(new Error("`fracas view torus-on-cube` ended")));
      })).split("\n")[0];
      const { headers } = await fetch(served);
      assert(/frame-ancestors 'none'/.test(headers.get("content-security-policy")), "no frame of another page");
      const { page, errors } = await open(browser, served);
      await ready(page);
      assert((await page.locator("#scene").inputValue()) === "torus-on-cube", "the soft scene is shown");
      assert(await page.evaluate(() => crossOriginIsolated), "it stands apart");
      await page.click("#play");
      const ours = await page.evaluate(() => window.fracas.digest("piggy-bank", 90));
      assert(ours.digest === theirs.digest, `digest ${theirs.digest} by the command, ${ours.digest} in the page`);
      // As the page shows it, breaks are smooth; the command has the same budget by its name.
      execFileSync(COMMAND, ["run", "bricks", "--steps", "30", "--step-budget", "6ms", "--json", `${file}.json`, "--png", `${file}.png`], { stdio: "ignore" });
      const budgeted = JSON.parse(readFileSync(`${file}.json`));
      for (const kind of ["json", "png"]) rmSync(`${file}.${kind}`);
      const smooth = await page.evaluate(() => window.fracas.digest("bricks", 30, false, true));
      assert(smooth.digest === budgeted.digest, `smooth: digest ${budgeted.digest} by the command, ${smooth.digest} in the page`);
      return errors;
    } finally {
      server.kill();
    }
  },

  async "breaks are smooth, unless one chooses otherwise, and a link says so"() {
    const { page, errors } = await open(browser, address);
    await ready(page);
    assert(await page.locator("#smooth").isChecked(), "smooth at first");
    // Work is counted: by the clock a busy machine says little.
    const run = (smooth) => page.evaluate((smooth) => window.fracas.digest("bricks", 30, true, smooth), smooth);
    const [smooth, whole] = [await run(true), await run(false)];
    console.log(`      points of the largest step: ${smooth.most} and ${whole.most}; longest ${smooth.longest.toFixed(0)} and ${whole.longest.toFixed(0)} ms`);
    assert(smooth.most < 0.7 * whole.most, `points of the largest step: ${smooth.most}, ${whole.most} without a budget`);
    // Given up, it is as it was. (Both at once, since the other world may be there before a click.)
    await page.evaluate(() => ["#smooth", "#cancel"].forEach((id) => document.querySelector(id).click()));
    assert(await page.locator("#smooth").isChecked(), "given up, it is smooth as it was");
    const before = await epoch(page);
    await page.locator("#smooth").uncheck();
    await ready(page, before);
    await page.click("#link");
    const link = await page.evaluate(() => location.href);
    assert(link.endsWith("?smooth=0"), link);
    await page.goto(link);
    await ready(page);
    assert(!(await page.locator("#smooth").isChecked()), "who opens the link has it as it was");
    return errors;
  },

  async "wasm beside native: digests and times"() {
    if (!NATIVE) return console.log("      skipped: FRACAS_NATIVE is not set");
    const { page } = await open(browser, address);
    await ready(page);
    await page.click("#play"); // the live world pauses, and the picture costs less
    const born = await page.evaluate(() => window.fracas.rehearse());
    assert(born > 2, `a rehearsed break has ${born} pieces`);
    for (const [scene, steps] of [["plates", 120], ["bricks", 100], ["interactive-bunnies", 100]]) {
      const there = native(scene, steps);
      const here = await page.evaluate(([s, n]) => window.fracas.digest(s, n), [scene, steps]);
      const ratio = here.milliseconds / there.milliseconds;
      console.log(`      ${scene}: digest ${here.digest} in wasm, ${there.digest} native; ${(here.milliseconds / steps).toFixed(2)} ms a step in wasm, ${(there.milliseconds / steps).toFixed(2)} native: ${ratio.toFixed(2)}x; longest ${here.longest.toFixed(1)} ms`);
      assert(here.digest === there.digest, `${scene}: the digests differ`);
      // Far above what is measured on a quiet machine: a build without vectors or optimisation.
      assert(ratio < 6, `${scene}: ${ratio.toFixed(1)} times as long in wasm`);
    }
    // As the page shows them: smaller than the command line's.
    for (const scene of ["wall", "torus-on-cube", "ellipsoids-on-edge"]) {
      const { milliseconds, longest, steps } = await page.evaluate((s) => window.fracas.digest(s, 60, true), scene);
      const mean = milliseconds / steps;
      console.log(`      ${scene}, as shown: ${mean.toFixed(1)} ms a step in wasm, ${(1000 / 60 / mean).toFixed(1)}x real time; longest ${longest.toFixed(1)} ms`);
    }
    return [];
  },
};
