// How soon the page is there: node tests/first.mjs [FOLDER…] opens each folder's page several
// times in turns, in a browser that has nothing in its cache and draws by software, and prints
// medians: seconds from the address to a world on the stage (`data-ready`) and to its bodies
// in the picture, and processor seconds of the page's and the worker's threads until then. On a
// machine that is busy with other things only the processor's seconds mean much.
import { readdirSync, readFileSync } from "node:fs";
import { launch, serve } from "./browser.mjs";

const folders = process.argv.slice(2).filter((a) => !/^\d+$/.test(a));
if (folders.length === 0) folders.push("dist");
const times = Number(process.argv.slice(2).find((a) => /^\d+$/.test(a)) ?? 5);
const TICKS = 100;

const stat = (path) => {
  const text = readFileSync(`${path}/stat`, "utf8");
  const end = text.lastIndexOf(")");
  const rest = text.slice(end + 2).split(" ");
  return { name: text.slice(text.indexOf("(") + 1, end), parent: rest[1], seconds: (Number(rest[11]) + Number(rest[12])) / TICKS };
};

/** Processor seconds of the browser that this program started: the page's own thread, its
 * workers', and all of the process that draws. */
function processor() {
  const all = new Map();
  for (const pid of readdirSync("/proc").filter((p) => /^\d+$/.test(p))) {
    try {
      all.set(pid, stat(`/proc/${pid}`).parent);
    } catch {
      // It has ended meanwhile.
    }
  }
  const isOurs = (pid) => {
    for (let at = pid; at && at !== "0"; at = all.get(at)) if (at === String(process.pid)) return true;
    return false;
  };
  const sums = { page: 0, worker: 0, drawing: 0 };
  for (const pid of [...all.keys()].filter(isOurs)) {
    try {
      const kind = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      for (const tid of readdirSync(`/proc/${pid}/task`)) {
        const { name, seconds } = stat(`/proc/${pid}/task/${tid}`);
        if (kind.includes("--type=gpu")) sums.drawing += seconds;
        else if (!kind.includes("--type=renderer")) continue;
        else if (tid === pid) sums.page += seconds;
        else if (name.startsWith("DedicatedWorker")) sums.worker += seconds;
      }
    } catch {
      // It has ended meanwhile.
    }
  }
  return sums;
}

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
    const cpu = processor();
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
