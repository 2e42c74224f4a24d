// A file server on the loopback address, and Chromium on it.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { chromium } from "playwright-core";

const KINDS = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

/** As a careful server sends it, and `fracas view` does. */
const SHELTER = {
  "content-security-policy": "frame-ancestors 'none'", "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp",
};

export async function serve(folder) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
    try {
      const body = await readFile(join(folder, path.endsWith("/") ? "index.html" : path));
      response.writeHead(200, { "content-type": KINDS[extname(path)] ?? "text/html", ...SHELTER }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { server, address: `http://127.0.0.1:${server.address().port}/` };
}

/** Chromium with its software renderer, and nothing that reaches out. */
export function launch(extra = []) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: [
      "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync", ...extra,
    ],
  });
}

/** A page whose console errors are collected. */
export async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 800, height: 480 }, colorScheme: "dark", reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const errors = [];
  page.on("console", (m) => m.type() === "error" && errors.push(m.text()));
  page.on("pageerror", (e) => errors.push(String(e)));
  await page.goto(address);
  return { page, errors };
}

/** Waits until the world of the page's latest load is there. */
export async function ready(page, before = 0) {
  await page.waitForFunction((n) => Number(document.body.dataset.ready ?? 0) > n, before);
}

/** Pauses the world and waits until no step of before is on its way any more. */
export async function pause(page) {
  await page.evaluate(() => document.querySelector("#play").title.startsWith("Pause") && document.querySelector("#play").click());
  await settled(page);
}

/** Waits until the worker has done, and the page has been told, all that was asked before. */
export const settled = (page) => page.evaluate(() => window.fracas.settled());

/** Waits until what the page was told last is drawn: nothing is left to draw, or, in a world
 * that moves on, two pictures were made. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => {
  const enough = window.fracas.state().drawn + 2;
  const frame = () => {
    const { drawn, moving } = window.fracas.state();
    if (moving && drawn < enough) requestAnimationFrame(frame);
    else done();
  };
  requestAnimationFrame(() => requestAnimationFrame(frame));
}));

export const state = (page) => page.evaluate(() => window.fracas.state());

/** Waits until a test of the page's state holds; says what it was if it never does. */
export async function until(page, what, test, seconds = 60) {
  const end = Date.now() + seconds * 1000;
  let last;
  while (Date.now() < end) {
    last = await state(page);
    if (test(last)) return last;
    await page.waitForTimeout(50);
  }
  throw new Error(`${what}: not within ${seconds} s; fragments ${last.fragments}, steps ${last.steps}, pieces ${last.pieces.length}, balls ${last.balls}`);
}

/** A piece's middle, in pixels, as soon as there is such a piece. */
export async function place(page, choose) {
  const { pieces } = await until(page, "a piece to aim at", (s) => s.pieces.some(choose));
  const piece = pieces.find(choose);
  const box = await page.locator("#view").boundingBox();
  return { piece, x: box.x + piece.screen[0] * box.width, y: box.y + piece.screen[1] * box.height };
}
