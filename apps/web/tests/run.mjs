// The page in Chromium: everything a user does, and what must come of it.
//
// node tests/run.mjs [PARTS OF TESTS' NAMES]; what is tried is in `cases`, by subject. xtask
// sets CHROMIUM, FRACAS_NATIVE and FRACAS_COMMAND (`here.mjs`).
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import * as bits from "./cases/bits.mjs";
import * as hands from "./cases/hands.mjs";
import * as home from "./cases/home.mjs";
import * as models from "./cases/models.mjs";
import * as opening from "./cases/opening.mjs";
import * as play from "./cases/play.mjs";
import * as scenes from "./cases/scenes.mjs";
import { browser, server } from "./here.mjs";
import { processor } from "./processor.mjs";

const SHOTS = "../../out/web";
const only = process.argv.slice(2);
mkdirSync(SHOTS, { recursive: true });

/** Runs one test; gives what went wrong, or nothing, and what it took of the processor. */
async function attempt(test) {
  const shot = (page, file) => page.screenshot({ path: join(SHOTS, `${file}.png`) });
  const before = processor();
  let wrong;
  try {
    const errors = (await test(shot)) ?? [];
    if (errors.length) wrong = `on the console: ${errors.join(" | ")}`;
  } catch (error) {
    wrong = error.message;
  }
  const after = processor();
  for (const context of browser.contexts()) await context.close();
  const took = before && after ? `, pages ${(after.pages - before.pages).toFixed(1)}, drawing ${(after.drawing - before.drawing).toFixed(1)}` : "";
  return { wrong, took };
}

let failed = 0;
for (const { tests } of [opening, hands, models, home, scenes, play, bits]) {
  for (const [name, test] of Object.entries(tests)) {
    if (only.length && !only.some((part) => name.includes(part))) continue;
    const start = Date.now();
    let { wrong, took } = await attempt(test);
    if (wrong && /not within|Timeout|closed|crash/.test(wrong)) {
      // A browser that draws by software on a busy machine may crash or be too slow: then, and
      // only then, it is tried once more. What was seen and is wrong stays wrong.
      console.log(`   AGAIN   ${name}: ${wrong}`);
      ({ wrong, took } = await attempt(test));
    }
    failed += wrong ? 1 : 0;
    console.log(`   ${wrong ? "FAILED " : "ok     "} ${name}${wrong ? `: ${wrong}` : ""} (${((Date.now() - start) / 1000).toFixed(1)} s${took})`);
  }
}
await browser.close();
server.close();
process.exit(failed ? 1 : 0);
