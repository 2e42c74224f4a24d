// The worker owns the world and steps it. The page never waits for it: frames go out
// as they are made, and not faster than the page takes them.

import init, { materials, patterns, Playback, scenes, Simulation, SoftSimulation } from "./wasm/fracas.js";
import { hasGraphicsCard } from "./graphics";
import type { Body, Born, Deed, Done, Frame, FromWorker, Game, Look, Overlay, OwnMaterial, OwnPicture, Story, ToWorker } from "./protocol";
import { SMOOTH_MS, STAT } from "./protocol";

const SLICE = { width: 160, height: 112, reach: 0.06, every: 120 };
/** Spheres and cubes of one body that the page is asked to draw. */
const MOST_SHOWN = 6000;

const post = (message: FromWorker, move: Transferable[] = []) =>
  (self as unknown as Worker).postMessage(message, move);

/** Whether round things are drawn as round as they are; asked while the library is still
 * being compiled, since asking takes time. */
const round = hasGraphicsCard();

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
let target: number[] | null = null; // where the hand is to be
let done: Done[] = []; // since the world began
let toDo: Done[] = []; // of a link: what is still to be done again
let rest = false; // nothing moves
let back = false; // the world went back in time
let inGame = false; // it has rules
let soft = 0; // steps of a soft world, which does not count them
let up = false; // the library is there
let timer = 0;
let numbers: number[] = []; // of steps not yet told
let bodies = new Map<number, Body>();
let look: Look = { contacts: false, spheres: false, tets: false, voxels: false, level: 3, slice: null };
let sliced = 0;
let tuned: Extract<Deed, { t: "tune" }> = { t: "tune", material: "", strength: 1, again: true };
let listens = false; // somebody listens
let paceFrom = 0;
let paceSteps = 0;
let pace = 0;

const live = () => (world instanceof Simulation ? world : null);

function fail(error: unknown, loading = false) {
  const text = error instanceof Error ? error.message : String(error);
  post({ t: "error", text, loading });
}

/** Replaces the world by what `make` makes, or keeps it and says why not. */
function load(next: number, deeds: Done[], make: () => World) {
  let made: World;
  try {
    made = make();
  } catch (error) {
    fail(error, true);
    return;
  }
  world?.free();
  world = made;
  toDo = deeds;
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
  done = [];
  soft = 0;
  rest = back = false;
  inGame = game() !== undefined;
  // A link brings its own material; otherwise it is what the panel says.
  if (live() && !toDo.some(([step, deed]) => step === 0 && deed.t === "tune")) act(tuned);
  live()?.listen(listens);
  owed = 0;
  last = performance.now();
  [paceFrom, paceSteps] = [last, 0];
  unacknowledged = 0;
  const info = { ...JSON.parse(world.info()), soft: world instanceof SoftSimulation };
  step = info.step;
  const materials: OwnMaterial[] | null = JSON.parse(live()?.looks() ?? "null");
  post({ t: "loaded", info, epoch, materials: materials ?? undefined, pictures: pictures(materials) });
  send();
}

/** The pictures that materials use, each once. */
function pictures(materials: OwnMaterial[] | null): OwnPicture[] {
  const all = new Map<number, OwnPicture>();
  for (const m of materials ?? []) {
    if (m.picture === null || all.has(m.picture)) continue;
    const bytes = live()!.picture(m.picture) as Uint8Array<ArrayBuffer>;
    all.set(m.picture, { number: m.picture, mime: m.mime ?? "image/png", bytes });
  }
  return [...all.values()];
}

/** How the game stands, where one is played. */
const game = (): Game | undefined => JSON.parse(live()?.game() ?? "null") ?? undefined;

const tell = (text: string) => post({ t: "progress", text });

/** Does something in the world, and notes it. */
function act(deed: Deed) {
  const it = live();
  if (!it) return;
  rest = false;
  const step = it.steps();
  switch (deed.t) {
    case "shoot":
      if (it.shoot(Float32Array.from(deed.path), deed.radius)) break;
      return post({ t: "refused" });
    case "hit": it.hit(deed.piece[0], deed.piece[1], Float32Array.from(deed.at), deed.speed, deed.radius); break;
    case "tune": {
      if (inGame) return;
      // Many of them at one step (a slider that is dragged) are one.
      const last = done.at(-1);
      if (last && last[0] === step && last[1].t === "tune") done.pop();
      tuned = deed;
      it.tune(deed.material, deed.strength, deed.again);
      break;
    }
    case "grab": {
      if (hand !== undefined) it.release(hand);
      const [x, y, z] = deed.at;
      hand = it.grab(deed.piece[0], deed.piece[1], x, y, z);
      target = null;
      break;
    }
    case "move": {
      const [x, y, z] = deed.to;
      if (hand !== undefined) it.move_hand(hand, x, y, z);
      break;
    }
    case "release":
      if (hand !== undefined) it.release(hand);
      hand = undefined;
      target = null;
      break;
    case "shatter":
      if (it.shatter(deed.piece[0], deed.piece[1], deed.pattern, deed.pieces, deed.seed, Float32Array.from(deed.at)) > 0) break;
      return post({ t: "whole" });
    case "cut":
      if (it.cut(Float32Array.from(deed.sight)) > 0) break;
      return post({ t: "whole" });
  }
  done.push([step, deed]);
  if (deed.t !== "move") tellDeeds();
}

const tellDeeds = () => post({ t: "deeds", deeds: done, epoch });

/** The deeds of a link that are due before this step. */
function again(step: number) {
  while (toDo.length > 0 && toDo[0][0] <= step) act(toDo.shift()![1]);
}

function advance() {
  const it = live();
  if (it) {
    again(it.steps());
    if (hand !== undefined && target) {
      act({ t: "move", to: target });
      target = null;
    }
    it.step();
    rest = toDo.length === 0 && it.is_at_rest();
  } else if (world instanceof Playback) {
    if (world.at() >= world.length()) return;
    world.seek(world.at() + 1);
    post({ t: "sought", step: world.at() });
  } else {
    world?.step();
    soft += 1;
  }
  tellNumbers();
  paceSteps += 1;
}

function tellNumbers() {
  if (!world) return;
  numbers.push(...world.stats());
  if (!(world instanceof Simulation)) numbers.push(0); // nothing is saved for undo
}

function born(number: number): Born {
  const body: Body = JSON.parse(world!.describe(number)) ?? { kind: "other" };
  bodies.set(number, body);
  if (body.kind !== "piece") return { number, body };
  const shape = world instanceof Simulation && !round ? world.plain_geometry(number) : world!.geometry(number);
  const out: Born = { number, body, positions: shape.positions(), normals: shape.normals(), outerTriangles: shape.outer_triangles() };
  const groups = shape.groups();
  if (groups.length > 0) [out.groups, out.uvs] = [groups, shape.uvs()];
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
    undo: live()?.can_undo() ?? false, rest, back,
    contacts: look.contacts ? world.contacts() : undefined,
  };
  const heard = live()?.impacts();
  if (heard?.length) frame.impacts = heard;
  if (inGame) frame.game = game();
  numbers = [];
  back = false;
  const move: Transferable[] = [frame.poses.buffer, frame.stats.buffer];
  if (frame.contacts) move.push(frame.contacts.buffer);
  for (const b of came) if (b.positions && b.normals) move.push(b.positions.buffer, b.normals.buffer);
  for (const b of came) if (b.uvs && b.groups) move.push(b.uvs.buffer, b.groups.buffer);
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

/** Whether steps are to be made. */
const busy = () => running && world !== null && !rest && !(world instanceof Playback && world.at() >= world.length());

/** Makes the steps that are due, at most for a short while, then lets messages in. Where
 * nothing moves it stops, until `wake`. */
function turn() {
  timer = 0;
  if (live()?.is_late()) getReady();
  const now = performance.now();
  if (busy()) {
    owed = Math.min(owed + ((now - last) / 1000) * speed, 3 * step);
    const until = now + 12;
    let made = 0;
    while (owed >= step && busy() && performance.now() < until) {
      try {
        advance();
      } catch (error) {
        running = false;
        world = null;
        fail(`The simulation stopped: ${error instanceof Error ? error.message : error}. Reset to start again.`);
        break;
      }
      owed -= step;
      made += 1;
    }
    if (made > 0) send();
  }
  last = now;
  if (busy()) timer = setTimeout(turn, Math.min(Math.max(0, ((step - owed) / speed) * 1000), 20));
  else [owed, pace] = [0, 0];
}

/** What could wait until the first picture was on its way is done now. */
function getReady() {
  live()?.get_ready();
  last = performance.now();
  [paceFrom, paceSteps] = [last, 0];
}

/** Makes steps again, if there are any to be made. */
function wake() {
  if (timer || !busy()) return;
  last = performance.now();
  [paceFrom, paceSteps] = [last, 0];
  timer = setTimeout(turn, 0);
}

/** Runs a scene as fast as it goes, as it is `shown` or as the command line measures it: for
 * tests. */
function digest({ scene, steps, shown, smooth }: Extract<ToWorker, { t: "digest" }>) {
  const it = shown ? sceneWorld(scene, 0, smooth) : SoftSimulation.knows(scene) ? new SoftSimulation(scene, false) : Simulation.of_scene(scene, 0, false, budget(smooth), () => undefined);
  let [milliseconds, longest, most] = [0, 0, 0];
  for (let i = 0; i < steps; i++) {
    const start = performance.now();
    it.step();
    const took = performance.now() - start;
    milliseconds += took;
    longest = Math.max(longest, took);
    most = Math.max(most, it.stats()[STAT.visited]);
  }
  post({ t: "digest", digest: it.digest(), milliseconds, longest, most, steps });
  it.free();
}

const budget = (smooth: boolean) => (smooth ? SMOOTH_MS : undefined);
const sceneWorld = (name: string, seed: number, smooth: boolean) => (SoftSimulation.knows(name) ? new SoftSimulation(name, true) : Simulation.of_scene(name, seed, true, budget(smooth), tell));

/** Plays a story again and films it. */
function remake(story: Story, as: "glb" | "film") {
  const { file, deeds, steps, smooth } = story;
  const it = file ? Simulation.of_mesh(file.name, new Uint8Array(file.bytes), file.material, budget(smooth), tell) : sceneWorld(story.scene!, story.seed, smooth);
  if (it instanceof SoftSimulation && as === "glb") throw new Error("Soft bodies cannot be written as GLB: save the recording.");
  world = it;
  toDo = [...deeds];
  it.film();
  for (let i = 0; i < steps; i++) {
    if (i % 20 === 0) tell(`playing it again: step ${i} of ${steps}`);
    advance();
    if (it instanceof Simulation && it.is_film_full()) throw new Error("Too much happened for one file. Save it earlier, or choose a smaller scene.");
  }
  if (it instanceof Simulation) again(it.steps());
  numbers = [];
  tell("writing the file");
  const digest = it.digest();
  const bytes = (it instanceof Simulation && as === "glb" ? it.film_glb() : it.film_bytes()) as Uint8Array<ArrayBuffer>;
  post({ t: "remade", bytes, digest }, [bytes.buffer]);
}

/** Breaks something that nobody sees. A browser compiles a library's functions when they are
 * first called, for all workers at once: the visitor's first break need not wait for that. */
function rehearse() {
  const it = Simulation.of_scene("your-plates", 0, false, undefined, () => undefined);
  it.look(); // the bodies that are there
  it.hit(1, 0, Float32Array.of(0, 0.02, 0, 0, 1, 0), 8, 0.02);
  for (let i = 0; i < 12; i++) it.step();
  post({ t: "rehearsed", born: it.look().length });
  it.free();
}

function take(m: ToWorker) {
  const it = live();
  switch (m.t) {
    case "init": return;
    case "scene": return load(m.epoch, m.deeds, () => sceneWorld(m.name, m.seed, m.smooth));
    case "mesh": return load(m.epoch, [], () => Simulation.of_mesh(m.file, new Uint8Array(m.bytes), m.material, budget(m.smooth), tell));
    case "film": return load(m.epoch, [], () => new Playback(new Uint8Array(m.bytes)));
    case "run":
      running = m.on;
      owed = 0;
      if (m.on && world instanceof Playback && world.at() >= world.length()) world.seek(0);
      return;
    case "speed": speed = m.factor; return;
    case "one":
      rest = false;
      advance();
      return send();
    case "settle":
      if (waiting) {
        unacknowledged = 0;
        send();
      }
      return post({ t: "settled" });
    case "undo":
      if (!it?.undo()) return;
      // What was done since is undone, too.
      done = done.filter(([step]) => step <= it.steps());
      // The world that came back is held by nobody, and of the material of now.
      if (done.findLast(([, deed]) => deed.t === "grab" || deed.t === "release")?.[1].t === "grab") done.push([it.steps(), { t: "release" }]);
      done.push([it.steps(), tuned]);
      toDo = [];
      [numbers, hand, target, rest, back] = [[], undefined, null, false, true];
      tellNumbers();
      tellDeeds();
      return send();
    case "reset":
      // Back to the start, or, where that cannot be, from the beginning.
      toDo = [];
      if (it?.reset()) return opened(m.epoch);
      return post({ t: "reload", epoch: m.epoch });
    case "seek":
      if (world instanceof Playback) { world.seek(m.step); tellNumbers(); send(); }
      return;
    case "ack":
      unacknowledged = Math.max(0, unacknowledged - 1);
      if (waiting) send();
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
    case "do":
      if (m.deed.t === "tune") {
        tuned = m.deed;
        if (it) { act(m.deed); send(); }
        return;
      }
      if (inGame && toDo.length > 0) return; // it is watched to its end
      toDo = []; // somebody takes over
      if (m.deed.t === "move") target = m.deed.to;
      else act(m.deed);
      // Seen at once, also while the world waits: the pieces can be looked at first.
      if (m.deed.t === "shatter" || m.deed.t === "cut") send();
      return;
    case "listen":
      listens = m.on;
      it?.listen(m.on);
      return;
    case "export": {
      const bytes = (world instanceof Playback ? world.glb() : it?.pieces_glb()) as Uint8Array<ArrayBuffer> | undefined;
      if (bytes) post({ t: "exported", bytes }, [bytes.buffer]);
      return;
    }
    case "state": return post({ t: "state", step: it?.steps() ?? soft, digest: it?.digest() ?? "", deeds: done });
    case "remake": return remake(m.story, m.as);
    case "digest": return digest(m);
    case "rehearse": return rehearse();
  }
}

const early: ToWorker[] = []; // what was said before the library was there

function hear(m: ToWorker) {
  try {
    take(m);
  } catch (error) {
    fail(error);
  }
  wake();
}

self.onmessage = (event: MessageEvent<ToWorker>) => {
  const m = event.data;
  if (up) return hear(m);
  if (m.t !== "init") {
    early.push(m);
    return;
  }
  init({ module_or_path: m.module })
    .then(() => {
      up = true;
      post({ t: "ready", scenes: JSON.parse(scenes()), materials: JSON.parse(materials()), patterns: JSON.parse(patterns()) });
      for (const waiting of early.splice(0)) hear(waiting);
    })
    .catch((error) => fail(`The simulation could not be started (${error}).`, true));
};
