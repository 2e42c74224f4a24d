// What all tests of a run share: one browser, one file server, and the native programs that
// xtask names by FRACAS_NATIVE (an example of apps/web/wasm) and FRACAS_COMMAND (the command line).
import { execFileSync } from "node:child_process";
import { launch, serve } from "./browser.mjs";

export const { server, address } = await serve("dist");
export const browser = await launch();
export const { FRACAS_NATIVE: NATIVE, FRACAS_COMMAND: COMMAND } = process.env;

/** What the native program says of a scene's steps. */
export const native = (scene, steps, ...more) => JSON.parse(execFileSync(NATIVE, [scene, String(steps), ...more], { maxBuffer: 1e8 }));
