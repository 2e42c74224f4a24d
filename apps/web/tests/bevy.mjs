// Plays the examples of the Bevy plugin as `cargo xtask bevy-web` builds them, in Chromium with
// its software renderer: `node tests/bevy.mjs FOLDER OUT [NAME]`. In each it throws a ball, and
// writes OUT/NAME-before.png, NAME-break.png and NAME-after.png. Fails where a page does not say
// how far it is, nothing breaks, anything is told as an error, a link leads nowhere, or nothing
// is told where a file is missing or the browser has no WebGL 2.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { launch, serve } from "./browser.mjs";

const [folder = "../../integrations/bevy/dist", out = "../../out/bevy", only = ""] = process.argv.slice(2);
const SIZE = { width: 640, height: 400 };
/** Where the ball is aimed at, in pixels: a brick in the middle, the jar. */
const EXAMPLES = [
  { name: "wall", aim: [320, 230] },
  { name: "china_shop", aim: [175, 215], loads: "earthenware-jar.fracas" },
];
/** Milliseconds from one look to the next, of patience, and of watching what has broken. */
const LOOK = 1000;
const PATIENCE = 900_000;
const WATCH = 20_000;

const wrong = [];

/** What a page shows of how far it is. */
const told = (page) => page.locator("#told").textContent();

async function play(browser, address, { name, aim }) {
  const page = await browser.newPage({ viewport: SIZE });
  page.setDefaultTimeout(PATIENCE);
  const said = [];
  page.on("console", (m) => said.push(m.text()));
  page.on("pageerror", (e) => String(e).includes("control flow") || said.push(`error: ${e}`));
  page.on("response", (r) => r.ok() || said.push(`error: ${r.status()} ${r.url()}`));
  const start = Date.now();
  const say = (text) => console.log(`${name}, ${((Date.now() - start) / 1000).toFixed(1)} s: ${text}`);
  const shot = async (when) => {
    await page.screenshot({ path: join(out, `${name}-${when}.png`) });
    say(`${name}-${when}.png`);
  };
  const steps = new Set();
  /** Waits until something is so; says what was told if it never is. */
  async function until(what, test) {
    while (!(await test())) {
      const now = await told(page);
      if (now && !steps.has(now)) {
        steps.add(now);
        say(now);
      }
      if (await page.locator("#told.wrong").count()) throw new Error(`${name}: ${now}\n${said.slice(-20).join("\n")}`);
      if (Date.now() - start > PATIENCE) throw new Error(`${name}: ${what}: not within ${PATIENCE / 1000} s\n${said.slice(-20).join("\n")}`);
      await page.waitForTimeout(LOOK);
    }
    say(what);
  }
  await page.goto(`${address}${name}/index.html`);
  const other = await page.locator("nav a").getAttribute("href");
  const there = await page.request.get(new URL(other, page.url()).href);
  if (!there.ok()) wrong.push(`${name}: its link leads to ${there.status()}`);
  await until("there is a canvas", async () => (await page.locator("canvas").count()) > 0);
  await until("all is ready", async () => (await told(page)) === "");
  // All is drawn when two pictures that are not empty are the same.
  let last = Buffer.alloc(0);
  await until("it stands still", async () => {
    const now = await page.screenshot();
    const still = now.length > 20_000 && now.equals(last);
    last = now;
    return still;
  });
  const breaks = () => said.map((text) => text.match(/broke into (\d+) pieces/)).filter(Boolean).map(([, pieces]) => Number(pieces));
  if (breaks().length > 0) wrong.push(`${name}: something broke before a ball was thrown`);
  await shot("before");
  await page.mouse.move(...aim);
  await page.mouse.down();
  await until("something breaks", async () => breaks().length > 0);
  await page.mouse.up();
  await shot("break");
  await page.waitForTimeout(WATCH);
  await shot("after");
  const pieces = breaks().reduce((all, n) => all + n, 0);
  say(`${breaks().length} breaks, ${pieces} pieces; it said how far it was ${steps.size} times`);
  if (steps.size === 0) wrong.push(`${name}: it never said how far it was`);
  // That the renderer is a software renderer is a warning with the word in an address.
  const errors = said.filter((text) => !text.includes("%cWARN%c") && /error|panic/i.test(text));
  if (errors.length > 0) wrong.push(`${name}: ${errors.join(" | ")}`);
  await page.close();
}

/** A browser without WebGL 2 is told so, and loads nothing. */
async function withoutWebGl(address, { name }) {
  const browser = await launch(["--disable-3d-apis"]);
  const page = await browser.newPage();
  const asked = [];
  page.on("request", (r) => asked.push(r.url()));
  await page.goto(`${address}${name}/index.html`);
  await page.locator("#told.wrong").waitFor();
  const text = await told(page);
  console.log(`${name} without WebGL 2: ${text}`);
  if (!text.includes("WebGL 2")) wrong.push(`${name} without WebGL 2: ${text}`);
  if (asked.some((url) => url.endsWith(".wasm"))) wrong.push(`${name} without WebGL 2: it loads the program`);
  await browser.close();
}

/** A page that lacks a file says which. */
async function withoutFile(browser, address, { name, loads }) {
  const page = await browser.newPage({ viewport: SIZE });
  await page.route(`**/${loads}`, (route) => route.fulfill({ status: 404 }));
  await page.goto(`${address}${name}/index.html`);
  await page.locator("#told.wrong").waitFor({ timeout: PATIENCE });
  const text = await told(page);
  console.log(`${name} without ${loads}: ${text}`);
  if (text !== `cannot load ${loads}`) wrong.push(`${name} without ${loads}: ${text}`);
  await page.close();
}

mkdirSync(out, { recursive: true });
const { server, address } = await serve(folder);
try {
  for (const example of EXAMPLES.filter(({ name }) => name.includes(only))) {
    await withoutWebGl(address, example);
    const browser = await launch();
    try {
      await play(browser, address, example);
      if (example.loads) await withoutFile(browser, address, example);
    } finally {
      await browser.close();
    }
  }
} finally {
  server.close();
}
if (wrong.length > 0) throw new Error(wrong.join("\n"));
