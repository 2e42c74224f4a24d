// The worker owns the world and steps it. The page never waits for it: frames go out
// as they are made, and not faster than the page takes them.

import init, { materials, Playback, scenes, Simulation, SoftSimulation } from "./wasm/fracas.js";
import type { Body, Born, Frame, FromWorker, Look, Overlay, ToWorker } from "./protocol";

const SLICE = { width: 160, height: 112, reach: 0.06, every: 120 };
/** Spheres and cubes of one body that the page is asked to draw. */
const MOST_SHOWN = 6000;

const post = (message: FromWorker, move: Transferable[] = []) =>
  (self as unknown as Worker).postMessage(message, move);

type World = Simulation | SoftSimulation | Playback;
let world: World | null = null;
let epoch = 0;
let step = 1 / 60;
let running = true;
let speed = 1;
let owed = 0; // seconds of world time to make
let last = 0;
let unacknowledged = 0;
let waiting = false; // a frame is due as soon as the page has taken the last
let hand: number | undefined;
let target: [number, number, number] | null = null;
let numbers: number[] = []; // of steps not yet told
let bodies = new Map<number, Body>();
let look: Look = { contacts: false, spheres: false, tets: false, voxels: false, level: 3, slice: null };
let sliced = 0;
let tuned = { material: "", strength: 1, again: false };
let paceFrom = 0;
let paceSteps = 0;
let pace = 0;

const live = () => (world instanceof Simulation ? world : null);

function fail(error: unknown, fatal = false) {
  const text = error instanceof Error ? error.message : String(error);
  post({ t: "error", text, fatal });
}

/** Replaces the world by what `make` makes, or keeps it and says why not. */
function load(next: number, make: () => World) {
  let made: World;
  try {
    made = make();
  } catch (error) {
    fail(error);
    return;
  }
  world?.free();
  world = made;
  live()?.tune(tuned.material, tuned.strength, tuned.again);
  opened(next);
}

/** Tells the page of a world that begins. */
function opened(next: number) {
  if (!world) return;
  epoch = next;
  hand = undefined;
  target = null;
  numbers = [];
  bodies = new Map();
  owed = 0;
  last = performance.now();
  [paceFrom, paceSteps] = [last, 0];
  unacknowledged = 0;
  const info = { ...JSON.parse(world.info()), soft: world instanceof SoftSimulation };
  step = info.step;
  post({ t: "loaded", info, epoch });
  send();
}

const tell = (text: string) => post({ t: "progress", text });

function advance() {
  const it = live();
  if (it) {
    if (hand !== undefined && target) it.move_hand(hand, ...target);
    it.step();
  } else if (world instanceof Playback) {
    if (world.at() >= world.length()) return;
    world.seek(world.at() + 1);
    post({ t: "sought", step: world.at() });
  } else {
    world?.step();
  }
  if (world) numbers.push(...world.stats());
  paceSteps += 1;
}

function born(number: number): Born {
  const body: Body = JSON.parse(world!.describe(number)) ?? { kind: "other" };
  bodies.set(number, body);
  if (body.kind !== "piece") return { number, body };
  const shape = world!.geometry(number);
  const out = { number, body, positions: shape.positions(), normals: shape.normals(), oldTriangles: shape.old_triangles() };
  shape.free();
  return out;
}

function send() {
  if (!world) return;
  if (unacknowledged > 1) {
    waiting = true;
    return;
  }
  waiting = false;
  const came = Array.from(world.look(), born);
  const gone = Array.from(world.gone());
  for (const number of gone) bodies.delete(number);
  const now = performance.now();
  if (now - paceFrom > 1000) {
    pace = (paceSteps * step * 1000) / (now - paceFrom);
    [paceFrom, paceSteps] = [now, 0];
  }
  const frame: Frame = {
    epoch, poses: world.poses(), born: came, gone, stats: Float64Array.from(numbers), pace,
    undo: live()?.can_undo() ?? false,
    contacts: look.contacts ? world.contacts() : undefined,
  };
  numbers = [];
  const move: Transferable[] = [frame.poses.buffer, frame.stats.buffer];
  if (frame.contacts) move.push(frame.contacts.buffer);
  for (const b of came) if (b.positions && b.normals) move.push(b.positions.buffer, b.normals.buffer);
  unacknowledged += 1;
  post({ t: "frame", frame }, move);
  for (const b of came) overlays(b.number);
  if (look.slice && now - sliced > SLICE.every) slice();
}

/** Tells what is to be seen of one body. */
function overlays(number: number) {
  const body = bodies.get(number);
  if (!world || body?.kind !== "piece") return;
  const show = (kind: Overlay, data: Float32Array, each: number) => {
    const kept = data.length > each * MOST_SHOWN ? data.slice(0, each * MOST_SHOWN) : data;
    post({ t: "overlay", epoch, kind, number, data: kept }, [kept.buffer]);
  };
  if (look.spheres) show("spheres", world.spheres(number, Math.min(look.level, body.levels)), 4);
  if (look.tets) show("tets", world.tets(number), 36 * 10);
  if (look.voxels) show("voxels", world.voxels(number, look.level), 6);
}

function slice() {
  const it = live();
  if (!it || !look.slice) return;
  sliced = performance.now();
  const data = it.field_slice(Float32Array.from(look.slice), SLICE.width, SLICE.height, SLICE.reach);
  post({ t: "slice", epoch, width: SLICE.width, height: SLICE.height, data }, [data.buffer]);
}

/** Makes the steps that are due, at most for a short while, then lets messages in. */
function turn() {
  const now = performance.now();
  if (running && world) {
    owed = Math.min(owed + ((now - last) / 1000) * speed, 3 * step);
    const until = now + 12;
    let made = 0;
    while (owed >= step && performance.now() < until) {
      try {
        advance();
      } catch (error) {
        running = false;
        world = null;
        fail(`The simulation stopped: ${error instanceof Error ? error.message : error}. Reset to start again.`, true);
        break;
      }
      owed -= step;
      made += 1;
    }
    if (made > 0) send();
  }
  last = now;
  const rest = running && world ? Math.max(0, ((step - owed) / speed) * 1000) : 20;
  setTimeout(turn, Math.min(rest, 20));
}

/** Runs a scene as fast as it goes: for tests. */
function digest(scene: string, steps: number) {
  const it = SoftSimulation.knows(scene) ? new SoftSimulation(scene) : Simulation.of_scene(scene, 0, false, () => undefined);
  const start = performance.now();
  for (let i = 0; i < steps; i++) it.step();
  const milliseconds = performance.now() - start;
  post({ t: "digest", digest: it.digest(), milliseconds, steps });
  it.free();
}

function take(m: ToWorker) {
  const it = live();
  switch (m.t) {
    case "scene": return load(m.epoch, () => (SoftSimulation.knows(m.name) ? new SoftSimulation(m.name) : Simulation.of_scene(m.name, 0, true, tell)));
    case "mesh": return load(m.epoch, () => Simulation.of_mesh(m.file, new Uint8Array(m.bytes), m.material, tell));
    case "film": return load(m.epoch, () => new Playback(new Uint8Array(m.bytes)));
    case "run":
      running = m.on;
      owed = 0;
      if (m.on && world instanceof Playback && world.at() >= world.length()) world.seek(0);
      return;
    case "speed": speed = m.factor; return;
    case "one": advance(); return send();
    case "settle":
      if (waiting) {
        unacknowledged = 0;
        send();
      }
      return post({ t: "settled" });
    case "undo":
      if (it?.undo()) { numbers = []; hand = undefined; target = null; send(); }
      return;
    case "reset":
      // Back to the start, or, where that cannot be, from the beginning.
      if (it?.reset()) return opened(m.epoch);
      return post({ t: "reload", epoch: m.epoch });
    case "seek":
      if (world instanceof Playback) { world.seek(m.step); numbers.push(...world.stats()); send(); }
      return;
    case "ack":
      unacknowledged = Math.max(0, unacknowledged - 1);
      if (waiting) send();
      return;
    case "tune":
      tuned = m;
      it?.tune(m.material, m.strength, m.again);
      return;
    case "look": {
      const again = m.look.level !== look.level;
      const before = look;
      look = m.look;
      if ((look.spheres && (again || !before.spheres)) || (look.voxels && (again || !before.voxels)) || (look.tets && !before.tets))
        for (const number of bodies.keys()) overlays(number);
      if (look.slice) slice();
      if (look.contacts !== before.contacts) send();
      return;
    }
    case "grab":
      if (hand !== undefined) it?.release(hand);
      hand = it?.grab(m.number, ...m.at);
      target = null;
      return;
    case "drag": target = m.to; return;
    case "release":
      if (hand !== undefined) it?.release(hand);
      hand = undefined;
      target = null;
      return;
    case "shoot": it?.shoot(Float32Array.from(m.path), m.radius); return;
    case "hit": it?.hit(m.number, Float32Array.from(m.at), m.speed, m.radius); return;
    case "digest": return digest(m.scene, m.steps);
  }
}

self.onmessage = (event: MessageEvent<ToWorker>) => {
  try {
    take(event.data);
  } catch (error) {
    fail(error);
  }
};

init({ module_or_path: new URL("./wasm/fracas_bg.wasm", import.meta.url) })
  .then(() => {
    post({ t: "ready", scenes: JSON.parse(scenes()), materials: JSON.parse(materials()) });
    turn();
  })
  .catch((error) => fail(`The simulation could not be loaded (${error}). Does this browser have WebAssembly?`, true));

