// The same bits in the page as by the command line and in a native program; the times of their steps.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open, ready } from "../browser.mjs";
import { COMMAND, NATIVE, address, browser, native } from "../here.mjs";
import { assert } from "../tools.mjs";

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
      return errors;
    } finally {
      server.kill();
    }
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
