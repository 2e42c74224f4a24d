// Models of one's own: good files, bad ones, thin walls.
import { readFileSync } from "node:fs";
import { drawn, open, pause, place, ready, state, until } from "../browser.mjs";
import { address, browser } from "../here.mjs";
import { BAD, CLEAR, GOOD, OBJ_TOGETHER, TOGETHER, cup } from "../meshes.mjs";
import { advances, assert, drop, epoch, give, text } from "../tools.mjs";

export const tests = {
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
    // Inside it is as red as outside, unless another material is chosen.
    const red = (s) => s.pieces.every(({ inside: [r, g, b] }) => r > 3 * g && r > 3 * b);
    assert(red(await state(page)), `inside: ${JSON.stringify((await state(page)).pieces.map((p) => p.inside))}`);
    await shot(page, "own-exploded");
    await page.selectOption("#material", "granite");
    await until(page, "granite is grey inside", (s) => s.pieces.length > 1 && !red(s));
    await page.selectOption("#material", "");
    await until(page, "it is red again", (s) => s.pieces.length > 1 && red(s));
    await page.click("#link");
    assert(/cannot hold a model/.test(await text(page, "#told")), `of the link: ${await text(page, "#told")}`);
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
    // What is clear in its file is clear here.
    const before = await give(page, "clear.glb", CLEAR);
    await ready(page, before);
    await until(page, "one sees through it", (s) => s.pieces.length === 1 && Math.abs(s.pieces[0].opacity - 0.4) < 1e-3);
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
};
