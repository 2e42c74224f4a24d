// What a visitor meets first: the landing scene, addresses, keyboard, narrow screens, no WebGL.
import { drawn, launch, open, pause, place, ready, settled, state, until } from "../browser.mjs";
import { address, browser } from "../here.mjs";
import { contrasts, layout } from "../looks.mjs";
import { advances, assert, strike, text } from "../tools.mjs";

export const tests = {
  async "the landing scene waits, breaks, breaks again, and rests"(shot) {
    const { page, errors } = await open(browser, address);
    await ready(page);
    assert(await page.locator("#again").isChecked(), "pieces break again");
    // The camera comes nearer when all rests: at its own pace, which is the pictures'.
    const whole = await until(page, "it comes to rest", (s) => s.rest && !s.moving);
    assert(whole.fragments === 0, `${whole.fragments} fragments before anybody did anything`);
    // At rest nothing is stepped and nothing drawn.
    await settled(page);
    const a = await state(page);
    await page.waitForTimeout(1000);
    const b = await state(page);
    assert(b.steps === a.steps, `${b.steps - a.steps} steps at rest`);
    assert(b.drawn === a.drawn, `${b.drawn - a.drawn} pictures at rest`);
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
    await page.waitForTimeout(1500);
    const later = await state(page);
    const drift = Math.max(...end.pieces.map((p, i) => Math.abs(p.screen[0] - later.pieces[i].screen[0])));
    assert(drift < 1e-6, `the camera stays where it came to rest: ${drift} of the picture's width`);
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

  async "things fill the picture, tools are at hand, and the hint goes when it is known"() {
    const { page, errors } = await open(browser, address, { viewport: { width: 1280, height: 720 } });
    await ready(page);
    const { pieces } = await until(page, "it stands", (s) => s.rest);
    await drawn(page);
    const high = pieces.filter((p) => p.object > 0).map((p) => p.screen[1]);
    // They stand on boards 26 cm apart, of a shelf of 60.
    assert(Math.max(...high) - Math.min(...high) > 0.2, `the plates stand from ${Math.min(...high)} to ${Math.max(...high)} of the picture`);
    for (const id of ["#tools", "#material", "#again", "#smooth"]) {
      const box = await page.locator(id).boundingBox();
      assert(box.y > 60 && box.y + box.height < 706, `${id} is not in view: ${JSON.stringify(box)}`);
    }
    assert(await page.locator("#hint").isVisible(), "a hint at first");
    await strike(page, (p) => p.object === 3);
    assert(await page.locator("#hint").isVisible(), "there is more to know");
    const { x, y } = await place(page, (p) => p.object === 1);
    await page.mouse.click(x, y);
    await page.locator("#hint").waitFor({ state: "hidden" });
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
    // What a phone's notch and its bar at the bottom cover is left free.
    await page.setViewportSize({ width: 390, height: 640 });
    const phone = await page.context().newCDPSession(page);
    await phone.send("Emulation.setSafeAreaInsetsOverride", { insets: { top: 47, bottom: 34 } });
    const [head, bar] = [await page.locator("#save").boundingBox(), await page.locator("#bar").boundingBox()];
    assert(head.y >= 47 && bar.y + bar.height <= 640 - 34, `under notch or bar: ${head.y}, ${bar.y + bar.height}`);
    // Where things cannot be brought into view, the camera gives up: nothing is drawn for ever.
    await pause(page);
    await page.click("#reset");
    await pause(page);
    await page.setViewportSize({ width: 70, height: 640 });
    await until(page, "the camera rests", (s) => !s.moving, 20);
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
};
