// What is passed on and taken home: links, pictures, videos, animations, recordings.
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { drawn, open, pause, place, ready, settled, state, until } from "../browser.mjs";
import { NATIVE, address, browser, native } from "../here.mjs";
import { advances, assert, catchUp, give, now, strike, text } from "../tools.mjs";

export const tests = {
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
    // What was lifted may have broken since, and pieces again: those are undone first.
    let back = before;
    const whole = (s) => s.pieces.filter((p) => p.object === 3).length === 1;
    for (let i = 0; i < 8 && !whole(back); i++) {
      const { steps } = back;
      await page.locator("#undo:enabled").waitFor();
      await page.click("#undo");
      back = await until(page, "the world goes back", (s) => !s.running && s.steps < steps);
    }
    assert(whole(back), "it is whole again");
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
    // The whole link pasted over it, for which no browser loads the page anew by itself.
    await damaged.page.goto(link);
    await damaged.page.waitForFunction(() => window.fracas?.state().pieces.filter((p) => p.object === 4).length > 1);
    return [...errors, ...friend.errors, ...damaged.errors];
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
};
