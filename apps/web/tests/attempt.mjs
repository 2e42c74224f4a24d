// Tries the tests that `run.mjs` names, one after another, in a browser of its own.
import { join } from "node:path";
import { tests } from "./cases.mjs";
import { browser, server } from "./here.mjs";
import { processor } from "./processor.mjs";
import { SHOTS } from "./shots.mjs";

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

process.on("message", async ({ name }) => {
  if (name === null) {
    await browser.close();
    server.close();
    process.exit(0);
  }
  const start = Date.now();
  let { wrong, took } = await attempt(tests[name]);
  if (wrong && /not within|Timeout|closed|crash/.test(wrong)) {
    // A browser that draws by software on a busy machine may crash or be too slow: then, and
    // only then, it is tried once more. What was seen and is wrong stays wrong.
    process.send({ again: wrong });
    ({ wrong, took } = await attempt(tests[name]));
  }
  process.send({ wrong, took: `${((Date.now() - start) / 1000).toFixed(1)} s${took}` });
});
process.send({ names: Object.keys(tests) });
