// The page in Chromium: everything a user does, and what must come of it.
//
// node tests/run.mjs [PARTS OF TESTS' NAMES]; xtask sets CHROMIUM, FRACAS_NATIVE (an example
// of apps/web/wasm) and FRACAS_COMMAND (the command line).
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { drawn, launch, open, pause, place, ready, serve, settled, state, until } from "./browser.mjs";
import { BAD, GOOD, OBJ_TOGETHER, TOGETHER, cup } from "./meshes.mjs";

const SHOTS = "../../out/web";
const NATIVE = process.env.FRACAS_NATIVE;
const COMMAND = process.env.FRACAS_COMMAND;
const only = process.argv.slice(2);
mkdirSync(SHOTS, { recursive: true });

const { server, address } = await serve("dist");
const browser = await launch();
const native = (scene, steps, ...more) => JSON.parse(execFileSync(NATIVE, [scene, String(steps), ...more], { maxBuffer: 1e8 }));
const assert = (holds, text) => {
  if (!holds) throw new Error(text);
};
const text = (page, id) => page.locator(id).textContent();
const now = (page) => page.evaluate(() => window.fracas.now());
const epoch = (page) => page.evaluate(() => Number(document.body.dataset.ready ?? 0));

/** Hits a piece where its middle is. */
async function strike(page, choose) {
  const { x, y } = await place(page, choose);
  await page.keyboard.down("Shift");
  await page.mouse.click(x, y);
  await page.keyboard.up("Shift");
}

/** Waits until the world advances by so many steps from where it is. */
async function advances(page, what, by = 5) {
  const { steps } = await state(page);
  await until(page, what, (s) => s.steps >= steps + by);
}

/** The digest of a friend's world at the step at which it is here. */
async function catchUp(friend, here) {
  await until(friend, "the friend gets there", (s) => s.steps >= here.step - 12);
  await pause(friend);
  let there = await now(friend);
  assert(there.step <= here.step, `the friend is ahead: ${there.step}, ${here.step}`);
  while (there.step < here.step) {
    await friend.click("#one");
    there = await now(friend);
  }
  return there.digest;
}

/** Loads a file by the file button. */
async function give(page, name, buffer) {
  const before = await epoch(page);
  await page.setInputFiles("#file", { name, mimeType: "application/octet-stream", buffer });
  return before;
}

/** Loads a file by dropping it on the page. */
async function drop(page, name, buffer) {
  const before = await epoch(page);
  await page.evaluate(({ name, bytes }) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(bytes)], name));
    for (const kind of ["dragenter", "dragover", "drop"]) window.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
  }, { name, bytes: [...buffer] });
  return before;
}

/** In the page: texts whose contrast is below 4.5 to 1. */
function contrasts() {
  const parse = (c) => {
    const n = c.match(/[\d.]+/g).map(Number);
    return c.startsWith("color(srgb") ? [255 * n[0], 255 * n[1], 255 * n[2], n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1];
  };
  const light = (c) => {
    const [r, g, b] = c.map((v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const poor = [];
  for (const e of document.querySelectorAll("button, label, p, dt, dd, h2, select, output, figcaption span, #hint b")) {
    if (!e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || e.disabled || e.classList.contains("hidden") || !e.textContent.trim()) continue;
    // What lies behind, from the page's own ground up.
    const behind = [];
    for (let at = e; at; at = at.parentElement) behind.unshift(parse(getComputedStyle(at).backgroundColor));
    let ground = parse(getComputedStyle(document.body).backgroundColor).slice(0, 3);
    for (const [r, g, b, a] of behind) ground = ground.map((v, i) => v + ([r, g, b][i] - v) * a);
    const [x, y] = [light(parse(getComputedStyle(e).color).slice(0, 3)), light(ground)];
    const ratio = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
    if (ratio < 4.5) poor.push(`"${e.textContent.trim().slice(0, 20)}" ${ratio.toFixed(2)}`);
  }
  return [...new Set(poor)];
}

/** In the page: what sticks out, or lies over something else that one wants to press. */
function layout() {
  const faults = [];
  if (document.documentElement.scrollWidth > innerWidth) faults.push(`the page is ${document.documentElement.scrollWidth} wide`);
  for (const e of document.querySelectorAll("#top > *:not(.grow), #bar > *, #bar button")) {
    if (!e.checkVisibility()) continue;
    const box = e.getBoundingClientRect();
    if (box.left < 0 || box.right > innerWidth + 0.5 || box.bottom > innerHeight + 0.5) faults.push(`${e.id || e.className} sticks out (${Math.round(box.left)} to ${Math.round(box.right)})`);
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (top && top !== e && !e.contains(top) && !top.contains(e)) faults.push(`${e.id || e.className} is under ${top.id || top.tagName}`);
  }
  return faults;
}

/** Scenes that tests of their own show. */
const ELSEWHERE = ["ball-tears-cloth", "blocks", "bricks", "piggy-bank", "plates", "rolling-plate", "your-plates"];

const tests = {
  async "every scene runs that no other test shows (of three spheres one)"(shot) {
    // Small: without a graphics card the picture costs more than the world.
    const { page, errors } = await open(browser, address, { viewport: { width: 520, height: 360 } });
    await ready(page);
    const scenes = await page.locator("#scene > option").evaluateAll((all) => all.map((o) => o.value).filter(Boolean));
    assert(scenes.length >= 4, `only ${scenes.length} scenes`);
    for (const name of ELSEWHERE) assert(scenes.includes(name), `there is no scene ${name}`);
    // Of the three spheres, which differ in their meshes alone, the one that takes seconds.
    for (const scene of scenes.filter((name) => ![...ELSEWHERE, "sphere", "sphere-fine"].includes(name))) {
      const before = await epoch(page);
      await page.selectOption("#scene", scene);
      await ready(page, before);
      await until(page, scene, (s) => s.steps >= 4 && s.pieces.length > 0);
      const said = await text(page, "#rest");
      assert(!/\b0\.0×/.test(said), `${scene}: ${said}`);
      await shot(page, `scene-${scene}`);
    }
    return errors;
  },

  async "a click breaks a plate, and it is undone"(shot) {
    const { page, errors } = await open(browser, `${address}?scene=plates`);
    await ready(page);
    // The last plate: its own ball comes at step 110. Held still while it is aimed at and
    // slowed after, so that a slow machine sees it break in time.
    await pause(page);
    await page.locator("#speed").fill("-3");
    await drawn(page);
    const { x, y } = await place(page, (p) => p.object === 3);
    await page.mouse.click(x, y);
    await page.click("#play");
    const of = (s) => s.pieces.filter((p) => p.object === 3).length;
    const s = await until(page, "the plate breaks", (s) => of(s) > 1);
    assert(s.steps < 105, `it broke at step ${s.steps}, by its own ball`);
    await shot(page, "plates-clicked");
    // Other plates may have broken since, by their own balls: those are undone first.
    await pause(page);
    let before = await state(page);
    for (let i = 0; i < 8 && of(before) > 1; i++) {
      await page.locator("#undo:enabled").waitFor();
      await page.click("#undo");
      before = await until(page, "the world goes back", (s) => !s.running && s.pieces.length < before.pieces.length);
    }
    assert(of(before) === 1, `the plate is not whole again: ${of(before)} pieces`);
    await page.click("#play");
    await until(page, "it goes on", (s) => s.running && of(s) > 1);
    return errors;
  },

  async "a piece of a heap is grabbed, lifted and thrown"(shot) {
    const { page, errors } = await open(browser, `${address}?scene=blocks`);
    await ready(page);
    await until(page, "they lie", (s) => s.steps > 120);
    const inView = (p) => p.screen[0] > 0.25 && p.screen[0] < 0.6 && p.screen[1] > 0.2 && p.screen[1] < 0.8;
    let risen = false;
    // A piece's middle may lie beside it, or behind another: several are tried.
    for (let attempt = 0; attempt < 12 && !risen; attempt++) {
      const { pieces } = await until(page, "pieces are in view", (s) => s.pieces.some(inView));
      const all = pieces.filter(inView);
      // Six that are far apart, then those between them.
      const share = ((attempt % 6) + (attempt < 6 ? 0 : 0.5)) / 6;
      const chosen = all[Math.floor(share * all.length)].number;
      const { piece, x, y } = await place(page, (p) => p.number === chosen);
      await page.mouse.move(x, y);
      await page.mouse.down();
      for (let i = 1; i <= 10; i++) await page.mouse.move(x, y - 18 * i);
      const lifted = (s) => s.pieces.some((p) => p.place[1] > piece.place[1] + 0.12);
      risen = await until(page, "a piece rises", lifted, 20).then(() => true, () => false);
      await shot(page, "piece-held");
      await page.mouse.up();
    }
    assert(risen, "no piece rose");
    return errors;
  },

  async "shift-click hits a plate, harder where it is asked for, and only there"() {
    // Nothing breaks by itself here, and no step is made that is not asked for. Shards fly to
    // the plate beside it, 4 cm away, and may break it in the same step of 30 ms; none reaches
    // the board above.
    const { page, errors } = await open(browser, `${address}?scene=your-plates`);
    await ready(page);
    await pause(page);
    await drawn(page);
    await page.locator("#force").fill("1");
    assert((await text(page, "#force-out")) === "×2", await text(page, "#force-out"));
    const of = (s, object) => s.pieces.filter((p) => p.object === object).length;
    const before = await state(page);
    await strike(page, (p) => p.object === 3);
    const { deeds } = await now(page);
    const hit = deeds.map(([, deed]) => deed).find((deed) => deed.t === "hit");
    assert(hit?.piece[0] === 3 && hit.speed === 24, `what was done: ${JSON.stringify(deeds)}`);
    let after = before;
    for (let i = 0; i < 6 && of(after, 3) === 1; i++) {
      await page.click("#one");
      await settled(page);
      after = await state(page);
    }
    assert(of(after, 3) > 1, `the plate held for ${after.steps - before.steps} steps`);
    for (const other of [1, 2]) assert(of(after, other) === of(before, other), `object ${other} broke, too`);
    return errors;
  },

  async "a finger that stays strikes once, and not again when it is lifted"() {
    const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
    const { page, errors } = await open(browser, `${address}?scene=your-plates`, phone);
    await ready(page);
    await pause(page);
    await drawn(page);
    const { x, y } = await place(page, (p) => p.object === 3);
    const touch = await page.context().newCDPSession(page);
    const finger = (type) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x, y }] });
    const done = async () => (await now(page)).deeds.map(([, deed]) => deed.t).filter((t) => t === "hit" || t === "shoot").join(" ");
    await finger("touchStart");
    const end = Date.now() + 60_000;
    while ((await done()) === "" && Date.now() < end) await page.waitForTimeout(50);
    assert((await done()) === "hit", `while it stays: ${await done()}`);
    await finger("touchEnd");
    await page.waitForTimeout(200);
    await settled(page);
    assert((await done()) === "hit", `after it was lifted: ${await done()}`);
    assert((await state(page)).balls === 0, "no ball was shot");
    return errors;
  },

  async "the first world is prepared before three.js is there, and input goes on while a step takes long"() {
    const start = Date.now();
    const { page, errors } = await open(browser, address);
    await ready(page);
    console.log(`      from the address to the first world on the stage: ${Date.now() - start} ms`);
    // What was asked for first: the library, then the picture. (A worker's own script is asked
    // for by its thread, whenever that has started.)
    const asked = await page.evaluate(() => performance.getEntriesByType("resource").map((r) => ({ name: r.name, from: r.startTime, to: r.responseEnd })));
    const of = (part) => asked.find((r) => new URL(r.name).pathname.split("/").pop().startsWith(part));
    const [wasm, worker, three] = [of("fracas_bg"), of("worker"), of("three")];
    assert(wasm && worker && three, `loaded: ${asked.map((r) => r.name).join(" ")}`);
    assert(wasm.from <= three.from, `worker ${worker.from}, library ${wasm.from}, three.js ${three.from} ms`);
    const words = await page.evaluate(() => [1, 0.5, 0.04, 0].map(window.fracas.paceWords).join("|"));
    assert(words === "| · slower than life (0.5×)| · far slower than life|", words);
    // A thousand bricks are stepped by the worker that holds the world: for seconds it hears
    // nothing. The page goes on: the floor is dragged, and the camera turns.
    await pause(page);
    await page.evaluate(() => {
      window.waits = true;
      window.fracas.digest("wall", 60).then(() => (window.waits = false));
    });
    const look = () => page.evaluate(() => ({ waits: window.waits, drawn: window.fracas.state().drawn, at: window.fracas.state().pieces[0].screen[0] }));
    const before = await look();
    assert(before.waits, "the worker was done at once");
    const box = await page.locator("#view").boundingBox();
    await page.mouse.move(box.x + 30, box.y + 0.5 * box.height);
    await page.mouse.down();
    let after = before;
    for (let i = 1; i <= 40 && after.waits && Math.abs(after.at - before.at) < 0.01; i++) {
      await page.mouse.move(box.x + 30 + 6 * i, box.y + 0.5 * box.height);
      after = await look();
    }
    await page.mouse.up();
    assert(Math.abs(after.at - before.at) >= 0.01 && after.drawn > before.drawn, `the picture stood still: ${JSON.stringify([before, after])}`);
    assert(after.waits, "the worker was done before anybody could turn the camera");
    await page.waitForFunction(() => !window.waits);
    return errors;
  },

  async "meshes are dropped, baked and broken"(shot) {
    const { page, errors } = await open(browser, address);
    await ready(page);
    await page.locator("#strength").fill("-1.2"); // a ball is a strong shape
    for (const [name, buffer] of Object.entries(GOOD)) {
      const before = await (name.endsWith("obj") ? drop : give)(page, name, buffer);
      await ready(page, before);
      assert((await text(page, "#about")).includes("ball"), "it is named");
      // It hangs in the air, in the middle of the picture, until somebody does something.
      await until(page, `${name} is there`, (s) => s.pieces.length === 1 && !s.running);
      await drawn(page);
      const whole = await state(page);
      const [x, y] = whole.pieces[0].screen;
      assert(whole.steps === 0 && (await text(page, "#rest")) === "", `it waits: step ${whole.steps}, ${await text(page, "#rest")}`);
      assert(x > 0.2 && x < 0.6 && y > 0.3 && y < 0.7, `it is at ${x}, ${y} of the picture`);
      if (name.endsWith("obj")) {
        await shot(page, "own-whole");
        await page.click("#play");
      } else {
        const { x, y } = await place(page, () => true);
        await page.mouse.click(x, y);
        await until(page, "a ball is shot, and time goes on", (s) => s.balls === 1 && s.running);
      }
      await until(page, `${name} falls`, (s) => s.steps > 5 && s.pieces.length > 0);
      if (!name.endsWith("obj")) continue;
      await page.waitForTimeout(1000);
      if ((await state(page)).fragments === 0) {
        await pause(page);
        await drawn(page);
        const { x, y } = await place(page, () => true);
        await page.keyboard.down("Shift");
        await page.mouse.click(x, y);
        await page.keyboard.up("Shift");
        await page.click("#play");
      }
      await until(page, `${name} breaks`, (s) => s.fragments > 1);
      await shot(page, "own-mesh");
    }
    await shot(page, "own-zip");
    // glTF or OBJ and what they name, chosen together.
    for (const [files, name] of [[TOGETHER, "scene"], [OBJ_TOGETHER, "painted"]]) {
      const before = await epoch(page);
      const together = Object.entries(files).map(([name, buffer]) => ({ name, mimeType: "application/octet-stream", buffer }));
      await page.setInputFiles("#file", together);
      await ready(page, before);
      assert((await text(page, "#about")).includes(name), "it is named");
      await until(page, `${name} has its picture`, (s) => s.pictures === 1);
    }
    // Broken by hand before it falls: the pieces are seen first, pulled apart.
    await drawn(page);
    await page.click("#tool-break");
    const { x, y } = await place(page, () => true);
    await page.mouse.click(x, y);
    const apart = await until(page, "it breaks in the air", (s) => s.pieces.length > 1);
    assert(apart.steps === 0 && !apart.running, `it fell: step ${apart.steps}`);
    await page.locator("#explode").fill("0.5");
    await drawn(page);
    await shot(page, "own-exploded");
    await page.locator("#explode").fill("0");
    await page.click("#play");
    await until(page, "its pieces fall into sight", (s) => s.pieces.every((p) => p.place[1] < 0.6));
    await drawn(page);
    await shot(page, "own-obj");
    // Its pieces keep their look when they are taken home, as `fracas shatter` writes them.
    await pause(page);
    const { pieces } = await state(page);
    await page.click("#save");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-pieces")]);
    const file = readFileSync(await download.path());
    const gltf = JSON.parse(file.subarray(20, 20 + file.readUInt32LE(12)));
    const nodes = gltf.nodes.filter((n) => n.mesh !== undefined);
    assert(nodes.length === pieces.length && nodes[0].name === "fragment-000", `${nodes.length} nodes, ${pieces.length} pieces, ${nodes[0].name}`);
    assert(nodes.every((n) => n.extras.mass > 0 && n.extras.volume > 0 && n.extras.centreOfMass.length === 3), JSON.stringify(nodes[0]));
    assert(gltf.images?.length === 1 && gltf.images[0].bufferView !== undefined, `pictures: ${JSON.stringify(gltf.images)}`);
    assert(gltf.materials.map((m) => m.name).join() === "red,crack", `materials: ${JSON.stringify(gltf.materials)}`);
    assert(gltf.meshes.some((m) => m.primitives.some((p) => p.material === 0 && p.attributes.TEXCOORD_0 !== undefined)), "no piece has the paint");
    return errors;
  },

  async "bad files are told in a sentence, and the world goes on"() {
    const { page, errors } = await open(browser, `${address}?scene=rolling-plate`);
    await ready(page);
    // So that the readers have the processor; and a plate that lies still makes no steps.
    await pause(page);
    for (const [name, buffer] of Object.entries(BAD)) {
      await give(page, name, buffer);
      await page.locator("#error:not([hidden])").waitFor();
      const told = await text(page, "#error p");
      assert(told.length > 30 && !/panic|unreachable|undefined/.test(told), `${name}: ${told}`);
      assert(!/\d{6,}|\d\.\d{5,}/.test(told), `${name}, with long numbers: ${told}`);
      console.log(`      ${name}: ${told}`);
      await page.click("#error button");
      const { steps } = await state(page);
      await page.click("#one");
      await until(page, `a step is made after ${name}`, (s) => s.steps > steps);
    }
    await page.click("#play");
    await advances(page, "the world goes on");
    assert((await page.locator("#scene").inputValue()) === "rolling-plate", "the scene is still chosen");
    return errors;
  },

  async "thin walls are filled finer, and waiting can be stopped"(shot) {
    const { page, errors } = await open(browser, address);
    await ready(page);
    // Every word that it says while it waits.
    await page.evaluate(() => {
      window.said = [];
      new MutationObserver(() => window.said.push(document.querySelector("#busy span").textContent)).observe(document.querySelector("#busy"), { childList: true, subtree: true, characterData: true });
    });
    const before = await give(page, "mug.obj", cup(0.6));
    await ready(page, before);
    const said = await page.evaluate(() => window.said);
    assert(said.some((t) => /thin walls/i.test(t)), `it said: ${said.join(" | ")}`);
    assert((await text(page, "#about")).includes("mug"), "it is named");
    await page.click("#play");
    await advances(page, "the mug falls");
    // Reset, it is whole, and waits again.
    await page.click("#reset");
    await until(page, "the mug is whole again", (s) => !s.running && s.steps === 0 && s.pieces.length === 1);
    await page.click("#play");
    await advances(page, "the mug falls again");
    await shot(page, "mug");
    // The wall of a thousand bricks takes long: it is given up, and the mug goes on.
    // Both at once, since the wall may be there before a click is.
    await page.evaluate(() => {
      const scene = document.querySelector("#scene");
      scene.value = "wall";
      for (const kind of ["input", "change"]) scene.dispatchEvent(new Event(kind, { bubbles: true }));
      document.querySelector("#cancel").click();
    });
    assert(await page.locator("#busy").isHidden(), "it waits no more");
    assert((await page.locator("#scene").inputValue()) === "", "the choice is taken back");
    // Another scene while one prepares comes at once.
    await page.selectOption("#scene", "wall");
    const start = Date.now();
    const last = await epoch(page);
    await page.selectOption("#scene", "ball-tears-cloth");
    await ready(page, last);
    assert((await text(page, "#about")).includes("cloth"), `it shows: ${await text(page, "#about")}`);
    console.log(`      another scene while one prepares: ${((Date.now() - start) / 1000).toFixed(1)} s`);
    return errors;
  },

  async "the landing scene waits, breaks, breaks again, and rests"(shot) {
    const { page, errors } = await open(browser, address);
    await ready(page);
    assert(await page.locator("#again").isChecked(), "pieces break again");
    const whole = await until(page, "it comes to rest", (s) => s.rest);
    assert(whole.fragments === 0, `${whole.fragments} fragments before anybody did anything`);
    // At rest nothing is stepped and nothing drawn.
    await settled(page);
    await page.waitForTimeout(300);
    const [a] = [await state(page), await page.waitForTimeout(1000)];
    const b = await state(page);
    assert(b.steps === a.steps, `${b.steps - a.steps} steps at rest`);
    assert(b.drawn - a.drawn <= 1, `${b.drawn - a.drawn} pictures at rest`);
    await page.locator("#speed").fill("-1");
    await strike(page, (p) => p.object === 3);
    const first = await until(page, "a plate breaks", (s) => s.fragments > 1);
    const { x, y } = await place(page, (p) => p.object === 1);
    await page.mouse.click(x, y);
    const more = await until(page, "a ball breaks another", (s) => s.pieces.filter((p) => p.object === 1).length > 1);
    await shot(page, "landing-broken");
    // Pieces that lie are hit until one breaks again.
    let again = false;
    for (let i = 0; i < 8 && !again; i++) {
      const { pieces, fragments } = await state(page);
      const visible = pieces.filter((p) => (p.object === 3 || p.object === 1) && p.screen[0] < 0.6 && p.screen[1] < 0.8);
      const chosen = visible[(i * 5) % visible.length].number;
      await strike(page, (p) => p.number === chosen);
      again = await until(page, "a piece breaks again", (s) => s.fragments > fragments, 6).then(() => true, () => false);
    }
    assert(again, `no piece broke again: ${more.fragments} fragments`);
    assert(first.fragments > 1, "it broke");
    await page.locator("#speed").fill("0");
    // The camera may still be stepping back when the last piece lies still.
    const end = await until(page, "everything comes to rest", (s) => s.rest && !s.moving, 90);
    await shot(page, "landing-rest");
    assert((await text(page, "#rest")).includes("at rest"), "it says so");
    const box = await page.locator("#panel").boundingBox();
    const wide = (await page.locator("#view").boundingBox()).width;
    // The camera does not follow what flew far away. How many did depends on where the balls
    // met them, so only that enough of them lie near is asked.
    const near = end.pieces.filter((p) => Math.hypot(p.place[0], p.place[2]) < 2 * end.size);
    assert(near.length >= 10, `${near.length} of ${end.pieces.length} pieces are near`);
    const hidden = near.filter((p) => p.screen[0] * wide > box.x || p.screen[0] < 0 || p.screen[1] > 1);
    assert(hidden.length <= near.length / 10, `${hidden.length} of ${near.length} pieces lie under the panel or out of view`);
    return errors;
  },

  async "a link shows the same break, bit by bit"() {
    const { page, errors } = await open(browser, `${address}?scene=your-plates&seed=3`);
    await ready(page);
    await pause(page);
    await drawn(page);
    const held = await place(page, (p) => p.object === 2);
    await page.mouse.move(held.x, held.y);
    await page.mouse.down();
    await page.keyboard.press("Space");
    for (let i = 1; i <= 6; i++) await page.mouse.move(held.x, held.y - 8 * i);
    await until(page, "a plate is lifted", (s) => s.pieces.some((p) => p.object === 2 && p.place[1] > held.piece.place[1] + 0.02));
    await page.mouse.up();
    await strike(page, (p) => p.object === 3);
    await until(page, "a plate breaks", (s) => s.pieces.filter((p) => p.object === 3).length > 1);
    await pause(page);
    const before = await state(page);
    await page.click("#undo");
    const back = await until(page, "it is whole again", (s) => s.pieces.filter((p) => p.object === 3).length === 1);
    assert(Number(await text(page, "#n-fragments")) < before.fragments, `the panel still says ${await text(page, "#n-fragments")} fragments`);
    assert(back.steps < before.steps, `the panel says step ${back.steps}, it was ${before.steps}`);
    await drawn(page);
    const { x, y } = await place(page, (p) => p.object === 1);
    await page.mouse.click(x, y);
    await strike(page, (p) => p.object === 4);
    await page.click("#play");
    await until(page, "another breaks", (s) => s.pieces.filter((p) => p.object === 4).length > 1);
    await pause(page);
    await page.waitForFunction(() => location.hash.startsWith("#did="));
    const here = await now(page);
    await page.click("#link");
    const link = await page.evaluate(() => location.href);
    assert(link.includes("seed=3"), link);
    const friend = await open(browser, link);
    await ready(friend.page);
    const there = await catchUp(friend.page, here);
    assert(there === here.digest, `step ${here.step}: ${here.digest} here, ${there} there`);
    // A damaged link shows the scene and says so.
    const damaged = await open(browser, `${link.slice(0, -7)}`);
    await damaged.page.locator("#error:not([hidden])").waitFor();
    await ready(damaged.page);
    assert((await text(damaged.page, "#error p")).includes("damaged"), "it says what is wrong");
    return [...errors, ...friend.errors, ...damaged.errors];
  },

  async "patterns and cuts by hand: seen at once, undone, passed on"(shot) {
    const { page, errors } = await open(browser, `${address}?scene=your-plates`);
    await ready(page);
    // A state is saved every sixteen steps, for undo.
    await until(page, "it runs", (s) => s.steps > 17);
    await pause(page);
    await drawn(page);
    const whole = await state(page);
    await page.click("#tool-break");
    await page.locator("#pattern").selectOption("cells");
    await page.locator("#pieces").fill("9");
    assert((await text(page, "#pieces-out")) === "9", "the slider tells");
    const at = await place(page, () => true);
    await page.mouse.click(at.x, at.y);
    const broken = await until(page, "a plate breaks while the world waits", (s) => s.pieces.length > whole.pieces.length);
    assert(broken.pieces.length - whole.pieces.length <= 8, `${broken.pieces.length} pieces of ${whole.pieces.length}`);
    assert(broken.steps === whole.steps && broken.balls === 0, "no step was made, no ball shot");
    await page.locator("#explode").fill("0.6");
    await drawn(page);
    await shot(page, "by-hand-break");
    await page.locator("#explode").fill("0");
    // A line over the whole picture.
    await page.click("#tool-cut");
    assert(await page.locator("#pattern-rows").isHidden(), "patterns are for breaking");
    const box = await page.locator("#view").boundingBox();
    await page.mouse.move(box.x + 10, box.y + 0.55 * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.7 * box.width, box.y + 0.6 * box.height, { steps: 4 });
    assert(await page.locator("#cut-line line").isVisible(), "the line is drawn");
    await shot(page, "by-hand-cut");
    await page.mouse.up();
    assert(!(await page.locator("#cut-line line").isVisible()), "the line is gone");
    const cut = await until(page, "all that is crossed is cut", (s) => s.pieces.length > broken.pieces.length);
    // A cut of the air says so.
    await page.mouse.move(box.x + 10, box.y + 8);
    await page.mouse.down();
    await page.mouse.move(box.x + 90, box.y + 8, { steps: 3 });
    await page.mouse.up();
    await page.locator("#told:not([hidden])").waitFor();
    assert((await text(page, "#told")).includes("parts nothing"), await text(page, "#told"));
    await page.click("#play");
    // Pieces of a plate that lies still may lie still.
    await until(page, "time goes on", (s) => s.steps > cut.steps + 10 || (s.rest && s.steps > cut.steps));
    await pause(page);
    // Who opens the link sees the same, bit by bit.
    const here = await now(page);
    await page.click("#link");
    const link = await page.evaluate(() => location.href);
    const friend = await open(browser, link);
    await ready(friend.page);
    assert((await catchUp(friend.page, here)) === here.digest, "the friend sees another break");
    await friend.page.context().close();
    // Undone: before the first of them.
    await page.click("#undo");
    await until(page, "it is whole again", (s) => s.pieces.length === whole.pieces.length);
    // By keys, at the cross in the middle.
    await page.click("#tool-throw");
    await page.locator("#view").focus();
    await page.keyboard.press("c");
    await until(page, "cut by a key", (s) => s.pieces.length > whole.pieces.length);
    // A game has neither.
    const before = await epoch(page);
    await page.locator("#scene").selectOption("open-the-safe");
    await ready(page, before);
    assert(await page.locator("#by-hand").isHidden(), "no tools in a game");
    return [...errors, ...friend.errors];
  },

  async "pieces, picture, video, animation and recording are taken home"(shot) {
    const { page, errors } = await open(browser, `${address}?seed=2`);
    await ready(page);
    await until(page, "it stands", (s) => s.rest);
    await drawn(page);
    await page.locator("#speed").fill("-1");
    await strike(page, (p) => p.object === 3);
    await until(page, "a plate breaks", (s) => s.fragments > 1);
    const save = async (what) => {
      await page.click("#save");
      const [download] = await Promise.all([page.waitForEvent("download"), page.click(`#save-${what}`)]);
      return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
    };
    const gltf = ({ bytes }) => JSON.parse(bytes.subarray(20, 20 + bytes.readUInt32LE(12)));
    // A video of what moves: the button that began it ends it.
    await page.click("#save");
    await page.click("#save-video");
    await page.locator("#save[aria-label='Stop the video']").waitFor();
    await advances(page, "it moves on", 20);
    const stopped = async () => {
      const [video] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
      const film = readFileSync(await video.path());
      assert(video.suggestedFilename() === "plates.webm" && film.length > 2000 && film.readUInt32BE(0) === 0x1a45dfa3, `${video.suggestedFilename()}, ${film.length} bytes`);
    };
    await stopped();
    // Stopped at once, it still has a picture.
    await page.click("#save");
    await page.click("#save-video");
    await stopped();
    assert((await text(page, "#save")) === "Save", "it can begin again");
    await pause(page);
    const { pieces, steps } = await state(page);
    const lying = await save("pieces");
    assert(lying.name === "plates.glb", lying.name);
    assert(gltf(lying).nodes.filter((n) => n.mesh !== undefined).length === pieces.length, `${gltf(lying).nodes.length} nodes, ${pieces.length} pieces`);
    const picture = await save("picture");
    assert(picture.name === "plates.png" && picture.bytes.readUInt32BE(0) === 0x89504e47, picture.name);
    assert(picture.bytes.length > 8000, `a picture of ${picture.bytes.length} bytes is empty`);
    // What was done is played again, and compared with what happened, bit by bit.
    const moving = gltf(await save("animation"));
    assert(moving.animations.length === 1 && moving.nodes.length > pieces.length, `${moving.nodes.length} nodes for ${pieces.length} pieces, and the whole plate`);
    const recording = await save("recording");
    assert(recording.name === "plates.film", recording.name);
    const before = await give(page, "again.film", recording.bytes);
    await ready(page, before);
    await page.locator("#scrub").fill(String(steps));
    await until(page, "the recording ends as it did", (s) => s.pieces.length === pieces.length);
    assert(Number(await page.locator("#scrub").getAttribute("max")) === steps, `${await page.locator("#scrub").getAttribute("max")} steps, there were ${steps}`);
    const once = gltf(await save("animation"));
    assert(once.nodes.length === moving.nodes.length, "a recording becomes the same animation");
    // By keyboard, and where there is no room to spare.
    await page.setViewportSize({ width: 320, height: 640 });
    await page.locator("#save").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    assert((await page.evaluate(() => document.activeElement.id)) === "save-video", "arrows move in the menu");
    const outside = await page.evaluate(() => [...document.querySelectorAll("#save-list button")].filter((b) => b.checkVisibility() && (b.getBoundingClientRect().left < 0 || b.getBoundingClientRect().right > innerWidth)).map((b) => b.id));
    assert(outside.length === 0, `${outside} out of view`);
    await shot(page, "save-320");
    await page.keyboard.press("Escape");
    assert((await page.evaluate(() => document.activeElement.id)) === "save" && await page.locator("#save-list").isHidden(), "Escape goes back");
    return errors;
  },

  async "materials sound like themselves, dust settles, and both can be off"(shot) {
    const { page, errors } = await open(browser, address, { reducedMotion: "no-preference" });
    await ready(page);
    await until(page, "it stands", (s) => s.rest);
    await drawn(page);
    const hear = (material, more = {}) => page.evaluate((i) => window.fracas.measure(i), { at: [0, 0, 0], energy: 0.5, size: 0.05, material, broke: false, area: 0, ...more });
    const [glass, porcelain, ice, brick] = [await hear("glass"), await hear("porcelain"), await hear("ice"), await hear("brick")];
    const told = JSON.stringify({ glass, porcelain, ice, brick });
    assert(glass.hertz > 2 * brick.hertz && glass.hertz > ice.hertz && ice.hertz > brick.hertz, `glass is brighter than ice, ice than brick: ${told}`);
    assert(glass.seconds > 1.5 * porcelain.seconds && porcelain.seconds > 1.3 * brick.seconds, `glass rings longer than porcelain, porcelain than brick: ${told}`);
    assert((await hear("glass", { size: 0.2 })).hertz < 0.6 * glass.hertz, "large things sound lower");
    assert((await hear("brick", { energy: 5e-4 })).peak < 0.5 * brick.peak, "soft impacts are soft");
    // Off until asked; then a break is heard.
    const break_ = async (object) => {
      const { fragments, pieces } = await state(page);
      // Something may lie before the place that is aimed at, the picture may be behind, or
      // the piece may be too small to break: then it is another's turn.
      for (let tries = 1; ; tries++) {
        await strike(page, (p, i) => (tries < 3 ? p.object === object : i === (7 * tries) % pieces.length));
        try {
          return await until(page, "a plate breaks", (s) => s.fragments > fragments, 10);
        } catch (e) {
          if (tries === 6) throw e;
        }
      }
    };
    assert((await page.getAttribute("#sound", "aria-pressed")) === "false", "silent at first");
    assert((await break_(1)).sounds === 0, "it is silent until asked");
    assert((await state(page)).dust === 0, "no dust without a graphics card");
    await page.click("#sound");
    await break_(2);
    const { sounds } = await until(page, "it sounds", (s) => s.sounds > 3);
    // As with a graphics card: dust comes, is drawn, and goes; nothing is drawn after it.
    await page.evaluate(() => (window.fracas.dust.card = true));
    // Who looks from a place of their own stays there: the camera does not follow pieces.
    await page.locator("#view").focus();
    await page.keyboard.press("-");
    await drawn(page);
    await break_(3);
    await until(page, "dust rises", (s) => s.dust > 10);
    await drawn(page);
    await shot(page, "dust");
    await pause(page);
    const rest = await until(page, "dust settles", (s) => s.dust === 0 && !s.moving);
    await page.waitForTimeout(500);
    assert((await state(page)).drawn - rest.drawn <= 1, "nothing is drawn when the dust has settled");
    await page.keyboard.press("m");
    assert((await page.getAttribute("#sound", "aria-pressed")) === "false", "m turns it off");
    await page.keyboard.press("m");
    await page.reload();
    await ready(page);
    assert((await page.getAttribute("#sound", "aria-pressed")) === "true", "it is remembered");
    assert(sounds < 400, `${sounds} sounds of one plate`);
    // Who wants less motion gets no dust, whatever draws.
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.evaluate(() => (window.fracas.dust.card = true));
    await until(page, "it stands", (s) => s.rest);
    await drawn(page);
    await break_(1);
    assert((await state(page)).dust === 0, "no dust where less motion is wanted");
    return errors;
  },

  async "three games are played, won, lost, tried again and passed on"(shot) {
    const { page, errors } = await open(browser, `${address}?scene=fell-the-tower`, { viewport: { width: 1000, height: 600 } });
    await ready(page);
    const card = () => text(page, "#game");
    const live = (words) => page.waitForFunction((w) => new RegExp(w).test(document.querySelector("#game").textContent), words);
    // The tower: energy counts, and can be chosen.
    await until(page, "it stands", (s) => s.rest);
    await drawn(page);
    await page.locator("#power").fill("4");
    const brick = await place(page, (p) => p.place[1] > 0.25 && p.place[1] < 0.35);
    await page.mouse.click(brick.x, brick.y);
    await live("7 balls left");
    const used = Number((await card()).match(/([\d.]+) J used/)[1]);
    assert(used > 4 && used < 14, `${used} J of a ball of 0.7 kg at 4 m/s from a height`);
    await page.keyboard.press("h");
    await page.click("#game-again");
    await live("0.0 J used · 8 balls left");
    await shot(page, "game-tower");
    // The vase: who does nothing loses it.
    let before = await epoch(page);
    await page.selectOption("#scene", "save-the-vase");
    await ready(page, before);
    await live("Take hold of the vase");
    await until(page, "it stands", (s) => s.rest);
    await drawn(page);
    await page.locator("#view").focus();
    // By keyboard: g takes hold of what is at the cross.
    for (const key of ["g", "ArrowDown", "g", "ArrowDown", "g"]) {
      await page.keyboard.press(key);
      await settled(page);
      if (/to go/.test(await card())) break;
    }
    await live("It lasted");
    await shot(page, "game-vase");
    assert((await page.getAttribute("#game-stars", "aria-label")) === "0 of 3 stars", "no star for a broken vase");
    assert(await page.locator("#undo").isHidden(), "nothing is undone in a game");
    // The safe, as somebody played it: the score is counted again from what was done. (Whether
    // it opens is for the library's contacts to say; that it can be opened is another test's.)
    const shots = (velocity) => [[44, [0.3, 0.45, 0.95], [0, 0.25, 0.143]], [124, [0.3, 0.45, 0.95], [0, 0.15, 0.143]], [204, [0.3, 0.45, 0.95], [0, 0.2, 0.143]]].map(([step, from, aim]) => {
      const way = aim.map((a, i) => a - from[i]);
      const long = Math.hypot(...way);
      const speed = way.map((a) => (11 * a) / long);
      speed[1] += (0.5 * 9.81 * long) / 11;
      return [step, { t: "shoot", path: [...from, ...speed.map((v) => v * velocity)], radius: 0.03 * velocity }];
    });
    const watch = async (deeds) => {
      const letters = await page.evaluate((d) => window.fracas.write(d), deeds);
      const friend = await open(browser, `${address}?scene=open-the-safe#did=${letters}`);
      await ready(friend.page);
      await friend.page.locator("#game-end:not([hidden])").waitFor();
      return friend;
    };
    const fair = await watch(shots(1));
    const score = await text(fair.page, "#game-score");
    assert(/^(Open with [123] balls?, in [\d.]+ s\.|The gold is still inside\.)$/.test(score), score);
    await shot(fair.page, "game-safe");
    // A link that says a ball was eight times as fast and large: the rule holds all the same.
    const unfair = await watch(shots(8));
    assert((await text(unfair.page, "#game-score")) === score, `${score} but ${await text(unfair.page, "#game-score")}`);
    // Whoever watched may play.
    assert((await text(fair.page, "#game-again")) === "Your turn", "one's own turn comes next");
    await fair.page.click("#game-again");
    await fair.page.waitForFunction(() => document.querySelector("#game-live").textContent === "3 balls left");
    const shut = await until(fair.page, "it is shut again", (s) => s.pieces.length === 1);
    assert(shut.pieces.length === 1, "the door is whole");
    for (const width of [1280, 390, 320]) {
      await fair.page.setViewportSize({ width, height: width > 500 ? 720 : 640 });
      await drawn(fair.page);
      const faults = await fair.page.evaluate(layout);
      assert(faults.length === 0, `${width} wide: ${faults.join("; ")}`);
      await shot(fair.page, `game-${width}`);
    }
    for (const theme of ["dark", "light"]) {
      const poor = await page.evaluate(contrasts);
      assert(poor.length === 0, `${theme}: ${poor.join("; ")}`);
      await page.click("#theme");
    }
    return [...errors, ...fair.errors, ...unfair.errors];
  },

  async "a tour of five steps shows what it speaks of"(shot) {
    const { page, errors } = await open(browser, address, { viewport: { width: 1000, height: 620 } });
    await ready(page);
    await page.locator("#tour-start").focus();
    await page.keyboard.press("Enter");
    const seen = [];
    for (let step = 1; step <= 5; step++) {
      await page.waitForFunction((n) => document.querySelector("#tour-count").textContent === `Step ${n} of 5`, step);
      assert((await page.evaluate(() => document.activeElement.id)) === "tour-title", `step ${step}: a screen reader begins at the title`);
      assert(/20(04|10|13)/.test(await text(page, "#tour-paper")), `step ${step} names no paper`);
      await page.waitForFunction(() => document.querySelector("#busy").hidden);
      await until(page, `step ${step}`, (s) => s.steps > 60 && s.pieces.length > 6 && s.pieces.length < 40);
      await settled(page);
      await drawn(page);
      seen.push(await page.evaluate(() => [...document.querySelectorAll("#chips [aria-pressed=true]")].map((b) => b.id).join()));
      await shot(page, `tour-${step}`);
      if (step === 2) assert(Number(await page.locator("#explode").inputValue()) > 0, "pieces are pulled apart");
      await page.click("#tour-next");
    }
    assert(seen.join(" ") === "see-contacts  see-field see-spheres see-voxels", `shown: ${seen.join(" ")}`);
    assert(await page.locator("#tour").isHidden(), "the last step ends it");
    assert((await page.locator("#chips [aria-pressed=true]").count()) === 0 && await page.locator("#again").isChecked(), "nothing is left of it");
    // Back, and out by Escape: the focus goes where it came from.
    await page.click("#tour-start");
    await page.click("#tour-next");
    await page.click("#tour-back");
    await page.waitForFunction(() => document.querySelector("#tour-count").textContent === "Step 1 of 5");
    for (const theme of ["dark", "light"]) {
      const poor = await page.evaluate(contrasts);
      assert(poor.length === 0, `${theme}: ${poor.join("; ")}`);
      await page.click("#theme");
    }
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 640 });
      const box = await page.locator("#tour").boundingBox();
      assert(box.x >= 0 && box.x + box.width <= width && box.height < 330, `${width} wide: the card is ${JSON.stringify(box)}`);
      await shot(page, `tour-${width}`);
    }
    await page.setViewportSize({ width: 1000, height: 620 });
    await page.keyboard.press("Escape");
    assert(await page.locator("#tour").isHidden(), "Escape closes it");
    assert((await page.evaluate(() => document.activeElement.id)) === "tour-start", `the focus is at ${await page.evaluate(() => document.activeElement.id)}`);
    return errors;
  },

  async "addresses: scenes that are none, files from elsewhere"() {
    const { page, errors } = await open(browser, `${address}?scene=nope`);
    await ready(page);
    await advances(page, "the landing scene is there", 2);
    assert(await page.locator("#error").isVisible(), "it still says what is wrong");
    assert((await text(page, "#error p")).includes("nope"), "it names it");
    await page.goto(`${address}?open=https://elsewhere.example/bad.glb`);
    await page.locator("#error:not([hidden])").waitFor();
    assert((await text(page, "#error p")).includes("elsewhere.example"), "it asks first");
    await ready(page);
    return errors;
  },

  async "hidden, it pauses"() {
    const { page, errors } = await open(browser, `${address}?scene=bricks`);
    await ready(page);
    await advances(page, "it runs");
    const hide = (hidden) => page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
    await hide(true);
    await settled(page);
    const { steps } = await state(page);
    await page.waitForTimeout(600);
    assert((await state(page)).steps === steps, "no step while nobody looks");
    await hide(false);
    await advances(page, "it goes on");
    return errors;
  },

  async "keyboard, names, contrast and narrow screens"(shot) {
    const { page, errors } = await open(browser, address, { viewport: { width: 980, height: 600 } });
    await ready(page);
    for (const id of ["level", "slice", "explode", "strength", "speed", "scrub"])
      assert(await page.locator(`#${id}`).getAttribute("aria-label"), `#${id} has no name of its own`);
    // The hint ends where the panel begins.
    const [hint, panel] = [await page.locator("#hint").boundingBox(), await page.locator("#panel").boundingBox()];
    assert(hint.x + hint.width <= panel.x, `the hint ends at ${hint.x + hint.width}, the panel begins at ${panel.x}`);
    for (const theme of ["dark", "light"]) {
      const poor = await page.evaluate(contrasts);
      assert(poor.length === 0, `${theme}: ${poor.join("; ")}`);
      await page.click("#theme");
    }
    // Arrows turn the camera, h hits what is at the cross.
    await page.locator("#view").focus();
    const look = () => state(page).then((s) => s.pieces.find((p) => p.object === 0).screen);
    const [x] = await look();
    // It turns by a little with each press, and glides.
    let after = x;
    for (let i = 0; i < 20 && Math.abs(after - x) <= 0.005; i++) {
      await page.keyboard.press("ArrowLeft");
      await drawn(page);
      [after] = await look();
    }
    assert(Math.abs(after - x) > 0.005, `the camera does not turn: ${x}, ${after}`);
    assert(await page.locator("#cross").isVisible(), "the cross shows where it aims");
    for (let i = 0; i < 2; i++) await page.keyboard.press("ArrowRight");
    let broke = false;
    for (const key of ["f", "ArrowUp", "f", "ArrowDown", "ArrowDown", "f", "ArrowRight", "f"]) {
      await page.keyboard.press(key);
      if (key === "f") broke ||= await until(page, "f breaks a plate", (s) => s.fragments > 0, 8).then(() => true, () => false);
    }
    assert(broke, "the keyboard broke nothing");
    // A pointer needs no focus ring, not even with shift.
    await page.keyboard.down("Shift");
    await page.mouse.click(300, 300);
    await page.keyboard.up("Shift");
    const ring = await page.evaluate(() => getComputedStyle(document.querySelector("#view")).outlineStyle);
    assert(ring === "none", `a ring: ${ring}`);
    for (const width of [1280, 390, 320]) {
      await page.setViewportSize({ width, height: width > 500 ? 720 : 640 });
      await drawn(page);
      const faults = await page.evaluate(layout);
      assert(faults.length === 0, `${width} wide: ${faults.join("; ")}`);
      await shot(page, `width-${width}`);
    }
    // Where things cannot be brought into view, the camera gives up: nothing is drawn for ever.
    await pause(page);
    await page.click("#reset");
    await pause(page);
    await page.setViewportSize({ width: 70, height: 640 });
    await until(page, "the camera rests", (s) => !s.moving, 20);
    return errors;
  },

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

  async "the piggy bank falls and breaks, and every view is toggled"(shot) {
    const { page, errors } = await open(browser, `${address}?scene=piggy-bank`);
    await ready(page);
    await page.click("#see-field");
    const whole = await until(page, "the slice is asked for", (s) => s.slice);
    await page.click("#see-field");
    const s = await until(page, "it breaks", (s) => s.fragments > 3);
    await advances(page, "it goes on", 40);
    await shot(page, "piggy-bank");
    assert(Number(await text(page, "#n-fragments")) >= s.fragments, "the panel counts");
    for (const see of ["contacts", "spheres", "field", "tets", "voxels"]) {
      await page.click(`#see-${see}`);
      if (see === "spheres" || see === "voxels") for (const level of ["1", "5", "3"]) await page.locator("#level").fill(level);
      if (see === "field") {
        await page.locator("#slice").fill("0.45");
        // It goes where the pieces went: at first the pig was whole, and in the air.
        const around = (s) => s.pieces.filter((p) => s.slice && [0, 1].every((i) => p.place[i] >= s.slice[i] - 0.02 && p.place[i] <= s.slice[i] + s.slice[i ? 7 : 3] + 0.02));
        await until(page, "the slice follows the pieces", (s) => around(s).length >= 0.8 * s.pieces.length && s.slice.some((x, i) => Math.abs(x - whole.slice[i]) > 0.01));
      }
      await page.waitForTimeout(400);
      await shot(page, `see-${see}`);
      await page.click(`#see-${see}`);
    }
    await page.locator("#explode").fill("0.6");
    await drawn(page);
    await shot(page, "see-exploded");
    await page.locator("#explode").fill("0");
    for (const see of ["contacts", "spheres", "field", "tets", "voxels"]) await page.click(`#see-${see}`);
    const { steps } = await state(page);
    await page.click("#reset");
    await until(page, "it falls again with all views on", (s) => s.steps < steps);
    for (const see of ["contacts", "spheres", "field", "tets", "voxels"]) await page.click(`#see-${see}`);
    await page.click("#theme");
    // As other materials it looks otherwise.
    const pictures = [];
    for (const material of ["glass", "granite"]) {
      await page.selectOption("#material", material);
      await page.click("#reset");
      await until(page, `${material} breaks`, (s) => s.fragments > 1);
      await pause(page);
      await drawn(page);
      pictures.push(await shot(page, `material-${material}`));
    }
    assert(!pictures[0].equals(pictures[1]), "glass looks like granite");
    return errors;
  },

  async "a recording plays and is scrubbed"(shot) {
    if (!NATIVE) return console.log("      skipped: FRACAS_NATIVE is not set");
    const file = join(tmpdir(), `fracas-${process.pid}.film`);
    native("piggy-bank", 120, "--recording", file);
    const { page, errors } = await open(browser, address);
    await ready(page);
    const before = await give(page, "pig.film", readFileSync(file));
    rmSync(file);
    await ready(page, before);
    await until(page, "it plays", (s) => s.steps > 5);
    await page.locator("#scrub").fill("120");
    const end = await until(page, "the end shows fragments", (s) => s.fragments > 3);
    assert(end.pieces.length === end.fragments, "as many pieces as fragments");
    for (const see of ["contacts", "spheres", "tets", "voxels"]) await page.click(`#see-${see}`);
    await settled(page);
    await drawn(page);
    await shot(page, "recording");
    await page.locator("#scrub").fill("0");
    await until(page, "the start shows one", (s) => s.pieces.length === 1);
    await page.click("#play");
    await until(page, "it plays on", (s) => s.steps > 3);
    return errors;
  },

  async "soft bodies deform and tear, live and recorded"(shot) {
    if (!NATIVE) return console.log("      skipped: FRACAS_NATIVE is not set");
    const { page, errors } = await open(browser, `${address}?scene=ball-tears-cloth`);
    await ready(page);
    const ball = (s) => s.pieces.find((p) => p.object === 0).place[1];
    // It begins at 1.35; the cloth hangs at 0.9.
    await until(page, "the ball falls through the cloth", (s) => s.steps > 25 && s.pieces.length === 2 && ball(s) < 0.8);
    await shot(page, "soft");
    const file = join(tmpdir(), `fracas-soft-${process.pid}.film`);
    const theirs = native("ball-tears-cloth", 30, "--recording", file);
    const ours = await page.evaluate(() => window.fracas.digest("ball-tears-cloth", 30));
    assert(ours.digest === theirs.digest, `the same bits native and here: ${theirs.digest}, ${ours.digest}`);
    const before = await give(page, "soft.film", readFileSync(file));
    rmSync(file);
    await ready(page, before);
    await page.locator("#scrub").fill("30");
    await until(page, "the recording shows it too", (s) => s.pieces.length === 2 && ball(s) < 0.8);
    await shot(page, "soft-recording");
    await page.locator("#scrub").fill("0");
    await until(page, "and its start", (s) => ball(s) > 1.3);
    return errors;
  },

  async "keys, phone and no WebGL"(shot) {
    const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
    const { page, errors } = await open(browser, `${address}?scene=bricks`, phone);
    await ready(page);
    await until(page, "it breaks", (s) => s.fragments > 3);
    await shot(page, "phone");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert(wide <= 390, `the page is ${wide} wide`);
    await page.locator("#view").focus();
    await page.keyboard.press("Space");
    await settled(page);
    const { running, steps, balls } = await state(page);
    assert(!running, "space pauses");
    await page.keyboard.press(".");
    await settled(page);
    assert((await state(page)).steps === steps + 1, `a step from ${steps} led to ${(await state(page)).steps}`);
    assert(balls === 0, "the scene has no balls of its own");
    await page.keyboard.press("Space");
    await page.keyboard.press("f");
    await until(page, "f shoots a ball", (s) => s.balls === 1);
    await page.touchscreen.tap(190, 420);
    await until(page, "a tap shoots too", (s) => s.balls === 2);
    await page.tap("#fold");
    await drawn(page);
    await shot(page, "phone-panel");
    const blind = await launch(["--disable-3d-apis"]);
    const other = await open(blind, address);
    await other.page.locator("#error:not([hidden])").waitFor();
    assert((await text(other.page, "#error p")).includes("WebGL 2"), "it says what is missing");
    await shot(other.page, "no-webgl");
    await blind.close();
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

/** Runs one test; gives what went wrong, or nothing. */
async function attempt(test) {
  const shot = (page, file) => page.screenshot({ path: join(SHOTS, `${file}.png`) });
  try {
    const errors = (await test(shot)) ?? [];
    return errors.length ? `on the console: ${errors.join(" | ")}` : undefined;
  } catch (error) {
    return error.message;
  } finally {
    for (const context of browser.contexts()) await context.close();
  }
}

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  if (only.length && !only.some((part) => name.includes(part))) continue;
  const start = Date.now();
  let wrong = await attempt(test);
  if (wrong && /not within|Timeout|closed|crash/.test(wrong)) {
    // A browser that draws by software on a busy machine may crash or be too slow: then, and
    // only then, it is tried once more. What was seen and is wrong stays wrong.
    console.log(`   AGAIN   ${name}: ${wrong}`);
    wrong = await attempt(test);
  }
  failed += wrong ? 1 : 0;
  console.log(`   ${wrong ? "FAILED " : "ok     "} ${name}${wrong ? `: ${wrong}` : ""} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
}
await browser.close();
server.close();
process.exit(failed ? 1 : 0);
