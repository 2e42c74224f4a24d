// What hands do: balls, blows, grabs, patterns and cuts, undone and done again.
import { drawn, open, pause, place, ready, settled, state, until } from "../browser.mjs";
import { address, browser } from "../here.mjs";
import { assert, catchUp, epoch, now, strike, text } from "../tools.mjs";

export const tests = {
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

  async "a blow a little beside a thing meets it, by a shaking hand, too, and one at nothing says so"() {
    const { page, errors } = await open(browser, `${address}?scene=your-plates`);
    await ready(page);
    await pause(page);
    await drawn(page);
    const hits = async () => (await now(page)).deeds.map(([, deed]) => deed).filter((deed) => deed.t === "hit");
    // Above the rim of a plate on the upper board there is nothing.
    const { x, y } = await place(page, (p) => p.object === 1);
    let top = y;
    const over = () => page.evaluate(() => document.querySelector("#view").style.cursor);
    for (let i = 0; i < 40; i++) {
      await page.mouse.move(x, (top -= 3));
      await page.waitForTimeout(150); // it looks what is below the pointer a few times a second
      if ((await over()) === "crosshair") break;
    }
    assert((await over()) === "crosshair", `over the rim the pointer is still a ${await over()}`);
    await page.keyboard.down("Shift");
    await page.mouse.click(x, top - 5);
    assert((await hits()).length === 1 && (await hits())[0].piece[0] === 1, `beside the plate: ${JSON.stringify(await hits())}`);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 9, y, { steps: 3 });
    await page.mouse.up();
    assert((await hits()).length === 2, `with a shaking hand: ${JSON.stringify(await hits())}`);
    await page.mouse.click(12, 200);
    await page.keyboard.up("Shift");
    assert((await hits()).length === 2 && /nothing to hit/.test(await text(page, "#told")), `at nothing: ${await text(page, "#told")}`);
    return errors;
  },

  async "a finger that stays strikes once, and not again when it is lifted"() {
    const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
    const { page, errors } = await open(browser, `${address}?scene=your-plates`, phone);
    await ready(page);
    await pause(page);
    await drawn(page);
    // The shelf fills the picture's width (its four plates stood within a fifth of it).
    const across = (await state(page)).pieces.map((p) => p.screen[0]);
    const [left, right] = [Math.min(...across), Math.max(...across)];
    assert(right - left > 0.25 && left > 0.15 && right < 0.85, `the plates stand from ${left} to ${right}`);
    assert(/, tap to shoot/.test(await page.locator("#tool-hint").textContent()), "a finger taps");
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
};
