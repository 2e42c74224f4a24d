// Plays the example `wall` of the Bevy plugin as `cargo xtask bevy-web` builds it, in Chromium
// with its software renderer: `node tests/bevy_wall.mjs FOLDER OUT`. Throws a ball, and writes
// OUT/wall-before.png, wall-break.png and wall-after.png.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { launch, serve } from "./browser.mjs";

const [folder = "../../integrations/bevy/dist", out = "../../out/bevy"] = process.argv.slice(2);
/** Milliseconds from one look to the next, and of patience. */
const LOOK = 1000;
const PATIENCE = 240_000;

mkdirSync(out, { recursive: true });
const { server, address } = await serve(folder);
const browser = await launch();
const page = await browser.newPage({ viewport: { width: 640, height: 400 } });
const said = [];
page.on("console", (m) => said.push(m.text()));
page.on("pageerror", (e) => said.push(String(e)));
const start = Date.now();
const seconds = () => ((Date.now() - start) / 1000).toFixed(1);
const shot = async (name) => {
  await page.screenshot({ path: join(out, `wall-${name}.png`), timeout: PATIENCE });
  console.log(`${seconds()} s: wall-${name}.png`);
};
/** Waits until something is so; says what was told if it never is. */
async function until(what, test) {
  while (!(await test())) {
    if (Date.now() - start > PATIENCE) throw new Error(`${what}: not within ${PATIENCE / 1000} s\n${said.slice(-20).join("\n")}`);
    await page.waitForTimeout(LOOK);
  }
  console.log(`${seconds()} s: ${what}`);
}

try {
  await page.goto(address, { timeout: PATIENCE });
  await page.locator("canvas").waitFor({ timeout: PATIENCE });
  // The bricks are baked and drawn when two pictures that are not empty are the same.
  let last = Buffer.alloc(0);
  await until("the wall stands", async () => {
    const now = await page.screenshot({ timeout: PATIENCE });
    const still = now.length > 20_000 && now.equals(last);
    last = now;
    return still;
  });
  await shot("before");
  await page.mouse.move(320, 230);
  await page.mouse.down();
  const broke = () => said.filter((text) => text.includes("broke into")).length;
  await until("a brick breaks", async () => broke() > 0);
  await page.mouse.up();
  await shot("break");
  await page.waitForTimeout(20_000);
  await shot("after");
  console.log(`${broke()} breaks; errors: ${said.filter((t) => /error|panic/i.test(t)).join(" | ") || "none"}`);
} finally {
  await browser.close();
  server.close();
}
