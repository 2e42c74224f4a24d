// The page in Chromium: everything a user does, and what must come of it.
//
// node tests/run.mjs [PARTS OF TESTS' NAMES]; what is tried is in `cases`, by subject. xtask
// sets CHROMIUM, FRACAS_NATIVE and FRACAS_COMMAND (`here.mjs`). Two tests at a time, each in a
// browser of its own (`attempt.mjs`): half of what a test takes is waiting.
import { fork } from "node:child_process";
import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { SHOTS } from "./shots.mjs";

const only = process.argv.slice(2);
mkdirSync(SHOTS, { recursive: true });

/** Tests that nobody tries yet; what there is, the first browser's program says. */
let waiting;
let failed = 0;

/** One browser: it is given a test whenever it has done the last one, until none is left. */
function lane() {
  return new Promise((done) => {
    let current;
    const child = fork(new URL("./attempt.mjs", import.meta.url));
    child.on("message", ({ names, again, wrong, took }) => {
      if (again) {
        console.log(`   AGAIN   ${current}: ${again}`);
        return;
      }
      if (!waiting) {
        waiting = names.filter((name) => only.length === 0 || only.some((part) => name.includes(part)));
        if (waiting.length === 0) {
          failed += 1;
          console.log(`   FAILED  no test is named like ${only.join(" or ")}: ${names.join(", ")}`);
        }
      }
      if (current) {
        failed += wrong ? 1 : 0;
        console.log(`   ${wrong ? "FAILED " : "ok     "} ${current}${wrong ? `: ${wrong}` : ""} (${took})`);
      }
      current = waiting.shift();
      child.send({ name: current ?? null });
    });
    child.on("exit", (code) => {
      if (current || code !== 0) {
        failed += 1;
        console.log(`   FAILED  ${current ?? "a browser"}: its program ended with ${code}`);
      }
      done();
    });
  });
}

const lanes = Math.min(2, availableParallelism());
await Promise.all(Array.from({ length: lanes }, lane));
if (!waiting || waiting.length > 0) {
  failed += 1;
  console.log(`   FAILED  no browser was left to try ${waiting?.join(", ") ?? "anything"}`);
}
process.exit(failed ? 1 : 0);
