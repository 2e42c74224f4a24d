// Processor time of a step in wasm beside native, without a browser:
// `FRACAS_NATIVE=PROGRAM node tests/ratio.mjs [TIMES] [--json]`. The program is the example `native` of
// apps/web/wasm; build it as the wasm is (`cargo build --profile web --package fracas-web
// --example native`), or the ratio is too kind to the page. Steps alone count; what
// is printed are medians of runs in turns, and whether the bits are the same.
//
// All code is compiled by the optimising compiler before the first step, as it is in a page
// that has run for a while.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Whose steps take long against the noise of preparing them. */
const SCENES = [["plates", 120], ["bricks", 100], ["piggy-bank", 90]];
const given = process.argv.slice(2);
const asJson = given.includes("--json");
const [scene, steps] = given.filter((word) => word !== "--json");

if (scene && steps) {
  // One scene, in a process of its own: a world grows the memory of the next.
  const { default: init, Simulation } = await import("../src/wasm/fracas.js");
  await init({ module_or_path: readFileSync(new URL("../src/wasm/fracas_bg.wasm", import.meta.url)) });
  const world = Simulation.of_scene(scene, 0, false, undefined, () => undefined);
  world.get_ready();
  const before = process.cpuUsage();
  for (let i = 0; i < Number(steps); i++) world.step();
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ digest: world.digest(), milliseconds: (user + system) / 1000 }));
  process.exit(0);
}

const median = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)];

const times = Number(scene ?? 3);
for (const [scene, steps] of SCENES) {
  const [here, there] = [[], []];
  let sameBits = true;
  for (let i = 0; i < times; i++) {
    const whole = JSON.parse(execFileSync(process.env.FRACAS_NATIVE, [scene, String(steps)]));
    there.push(whole.processor / steps);
    const flags = ["--no-liftoff", "--no-wasm-lazy-compilation", import.meta.filename ?? process.argv[1]];
    const ours = JSON.parse(execFileSync(process.execPath, [...flags, scene, String(steps)]));
    here.push(ours.milliseconds / steps);
    sameBits &&= ours.digest === whole.digest;
  }
  const [ms, own] = [median(here), median(there)];
  if (asJson) {
    console.log(JSON.stringify({ scene, wasm: ms, native: own, same_bits: sameBits }));
    continue;
  }
  const bits = sameBits ? "the same bits" : "OTHER BITS";
  console.log(`${scene}: ${ms.toFixed(2)} ms of processor a step in wasm, ${own.toFixed(2)} native: ${(ms / own).toFixed(2)}x; ${bits}`);
}
