// What several tests do: hit, wait, load files, compare two worlds.
import { pause, place, state, until } from "./browser.mjs";

export const assert = (holds, text) => {
  if (!holds) throw new Error(text);
};
export const text = (page, id) => page.locator(id).textContent();
export const now = (page) => page.evaluate(() => window.fracas.now());
export const epoch = (page) => page.evaluate(() => Number(document.body.dataset.ready ?? 0));

/** Hits a piece where its middle is. */
export async function strike(page, choose) {
  const { x, y } = await place(page, choose);
  await page.keyboard.down("Shift");
  await page.mouse.click(x, y);
  await page.keyboard.up("Shift");
}

/** Waits until the world advances by so many steps from where it is. */
export async function advances(page, what, by = 5) {
  const { steps } = await state(page);
  await until(page, what, (s) => s.steps >= steps + by);
}

/** The digest of a friend's world at the step at which it is here. */
export async function catchUp(friend, here) {
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
export async function give(page, name, buffer) {
  const before = await epoch(page);
  await page.setInputFiles("#file", { name, mimeType: "application/octet-stream", buffer });
  return before;
}

/** Loads a file by dropping it on the page. */
export async function drop(page, name, buffer) {
  const before = await epoch(page);
  await page.evaluate(({ name, bytes }) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(bytes)], name));
    for (const kind of ["dragenter", "dragover", "drop"]) window.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
  }, { name, bytes: [...buffer] });
  return before;
}
