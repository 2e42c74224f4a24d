// What the page does first: the library is fetched, compiled and given to a worker, which
// prepares the first world, while three.js and the rest of the page are still on their way.

import "./style.css";
import type { FromWorker, ToWorker } from "./protocol";
import { fail } from "./words";

/** Prepared soonest, and waits to be clicked on. */
export const FIRST = "your-plates";

/** What is under way when the rest of the page comes. */
export interface Begun {
  library: Promise<WebAssembly.Module>;
  worker: Worker;
  /** What the worker said so far. */
  said: FromWorker[];
  /** The number of the world that it prepares; 0: none yet. */
  epoch: number;
}

export const newWorker = () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });

function begin(): Begun {
  const worker = newWorker();
  const library = WebAssembly.compileStreaming(fetch(new URL("./wasm/fracas_bg.wasm", import.meta.url)));
  const said: FromWorker[] = [];
  worker.onmessage = (event: MessageEvent<FromWorker>) => said.push(event.data);
  const post = (m: ToWorker) => worker.postMessage(m);
  // Who asks for something else waits until it is known whether there is such a thing.
  const epoch = location.search || location.hash ? 0 : 1;
  post({ t: "run", on: false });
  if (epoch) post({ t: "scene", name: FIRST, seed: 0, smooth: true, deeds: [], epoch });
  // Where it fails, the page will say so.
  library.then((module) => post({ t: "init", module }), () => undefined);
  return { library, worker, said, epoch };
}

const begun = begin();
import("./main").then(({ start }) => start(begun), (e) => fail(`The page could not be loaded (${e.message}). Reload it to try again.`));
