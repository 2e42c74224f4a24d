// How soon the page is there: node tests/first.mjs [FOLDER…] opens each folder's page several
// times in turns, in a browser that has nothing in its cache and draws by software, and prints
// medians: seconds from the address to a world on the stage (`data-ready`) and to its bodies
// in the picture, and processor seconds of the page's and the worker's threads until then. On a
// machine that is busy with other things only the processor's seconds mean much.
import { launch, serve } from "./browser.mjs";
import { processor } from "./processor.mjs";

const folders = process.argv.slice(2).filter((a) => !/^\d+$/.test(a));
if (folders.length === 0) folders.push("dist");
const times = Number(process.argv.slice(2).find((a) => /^\d+$/.test(a)) ?? 5);
const results = folders.map(() => []);
for (let i = 0; i < times; i++) {
  for (const [f, folder] of folders.entries()) {
    const { server, address } = await serve(folder);
    const browser = await launch();
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
    const page = await context.newPage();
    await page.addInitScript(() => {
      const look = () => {
        if (document.body?.dataset.ready && !window.readyAt) window.readyAt = performance.now();
        const state = window.fracas?.state?.();
        if (window.readyAt && state?.pieces.length > 0) return (window.seenAt = performance.now());
        setTimeout(look, 5);
      };
      look();
    });
    await page.goto(address);
    await page.waitForFunction(() => window.readyAt, undefined, { timeout: 300_000, polling: 20 });
    const { pages, ...cpu } = processor();
    await page.waitForFunction(() => window.seenAt, undefined, { timeout: 300_000, polling: 20 });
    const [ready, seen] = await page.evaluate(() => [window.readyAt / 1000, window.seenAt / 1000]);
    results[f].push({ ready, seen, ...cpu });
    await browser.close();
    server.close();
  }
}
const median = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)];
for (const [f, folder] of folders.entries()) {
  const told = Object.keys(results[f][0]).map((key) => `${key} ${median(results[f].map((r) => r[key])).toFixed(2)} s`);
  console.log(`${folder}, median of ${times}: ${told.join(", ")}`);
}
