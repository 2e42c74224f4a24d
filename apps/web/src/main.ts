// The page: wires panel, picture and worker together.

import type { MeshPhysicalMaterial } from "three";
import { type Begun, FIRST, newWorker } from "./boot";
import { bundle, tooLarge } from "./bundle";
import { Card, gameTitle, isGame } from "./challenges";
import { Chart, STAGES } from "./chart";
import { give, takeFiles } from "./files";
import { Hands, type Tool } from "./hands";
import { impacts } from "./impacts";
import * as link from "./link";
import { Overlays } from "./overlays";
import { OwnLooks } from "./own_looks";
import type { Deed, Done, FromWorker, Info, Look, Overlay, Story, ToWorker } from "./protocol";
import { STAT } from "./protocol";
import { Replay } from "./replay";
import { SaveMenu } from "./save_menu";
import { measure, Sound } from "./sound";
import { type Stop, Tour } from "./tour";
import { type Theme, View } from "./view";
import { $, busy, fail, hideError, paceWords, press, sentence, tell, value } from "./words";

const TITLES: Record<string, string> = {
  "your-plates": "Plates for you",
  "piggy-bank": "Piggy bank", bricks: "Falling bricks", "drop-bunnies": "Falling rabbits", plates: "Plates on a shelf",
  "interactive-bunnies": "Rabbits in a hand", "plate-in-bowl": "Plate in a bowl", sphere: "Ball", "sphere-fine": "Ball, fine surface",
  "sphere-sparse": "Ball, few inner points", "fresh-fracture": "Cube of 64 pieces", wall: "Wall of bricks", haptic: "Tool and tile",
  "torus-on-cube": "Soft torus on a cube", "ball-tears-cloth": "Soft ball through a cloth", "ellipsoids-on-edge": "Soft ellipsoids on an edge",
};
/** What somebody does to see it happen: time does not wait for them to press a button, too. */
const THROWS: ReadonlySet<Deed["t"]> = new Set(["shoot", "hit", "grab"]);
/** Who has done as many of one kind of thing needs no hint. */
const ENOUGH = 4;
/** Files larger than this are not even read. */
const MOST_BYTES = 200e6;

const title = (name: string) => TITLES[name] ?? gameTitle(name) ?? (name[0].toUpperCase() + name.slice(1)).replaceAll("-", " ");

/** What is loaded, or to be. */
interface Source {
  scene?: string;
  seed?: number;
  /** Whether long steps are to hand work on, so that the break does not stutter. */
  smooth?: boolean;
  /** To be done again, as a link says. */
  deeds?: Done[];
  file?: File;
  /** Of what the file's mesh is made. */
  material?: string;
}

/** A game is the same for everybody. */
const isSmooth = (source: Source) => (source.smooth ?? true) && !isGame(source.scene);

export function start(begun: Begun) {
  const { library } = begun;
  let view: View;
  try {
    view = new View($<HTMLCanvasElement>("view"));
  } catch {
    document.body.classList.add("stopped");
    fail("This page draws with WebGL 2, which this browser does not offer. Turn on hardware acceleration in its settings, or open the page in a current Firefox, Chrome or Safari.");
    return;
  }
  /** The worker whose world is on the stage, and the one that prepares the next. */
  let worker: Worker | null = null;
  let next: { worker: Worker; epoch: number; source: Source } | null = null;
  const post = (m: ToWorker, move: Transferable[] = []) => worker?.postMessage(m, move);
  const overlays = new Overlays(view);
  const hands = new Hands(view, (deed) => {
    post({ t: "do", deed });
    learn(deed.t);
    if (hangs && THROWS.has(deed.t)) run(true);
  });
  /** What the visitor has done shows that they need no hint any more. */
  const learnt = new Set<Deed["t"]>();
  let practised = 0;
  function learn(what: Deed["t"]) {
    if (what === "move" || what === "release") return;
    learnt.add(what);
    practised += 1;
    if (learnt.size > 1 || practised > ENOUGH) document.body.classList.add("practised");
  }
  const sound = new Sound($("sound"), (on) => post({ t: "listen", on }));
  const chart = new Chart($<HTMLCanvasElement>("chart"));

  let epoch = 0; // of the world on the stage
  let epochs = 0; // given so far
  let info: Info | null = null;
  let about = new Map<string, string>();
  let running = true;
  let hangs = false; // the visitor's own model hangs in the air, to be looked at first
  let current: Source = {};
  let deeds: Done[] = [];
  let fragments = 0;
  let steps = 0;
  let rest = false;

  // ---- what is loaded ----
  function spawn(): Worker {
    const made = newWorker();
    library.then((module) => made.postMessage({ t: "init", module } satisfies ToWorker), () => undefined);
    return adopt(made);
  }

  /** Listens to a worker. */
  function adopt(made: Worker): Worker {
    made.onmessage = (event: MessageEvent<FromWorker>) => hear(made, event.data);
    made.onerror = (e) => broke(made, `The simulation stopped (${e.message || "it could not be loaded"}). Reload the page to start again.`);
    library.catch((e) => broke(made, `The simulation could not be loaded (${e.message}). Does this browser have WebAssembly? Reload the page to try again.`));
    return made;
  }

  /** Has something broken that nobody sees, once, by a worker of its own. */
  function rehearse(): Promise<number> {
    return new Promise((done) => {
      const made = newWorker();
      const end = (born = 0) => {
        made.terminate();
        done(born);
      };
      // Nobody waits for it: where it fails, nothing is lost.
      made.onmessage = ({ data }: MessageEvent<FromWorker>) => {
        if (data.t === "rehearsed") end(data.born);
        else if (data.t === "error") end();
      };
      made.onerror = () => end();
      library.then((module) => {
        for (const m of [{ t: "init", module }, { t: "rehearse" }] satisfies ToWorker[]) made.postMessage(m);
      }, () => end());
    });
  }

  /** Prepares something beside what is on the stage, which waits until it is there. */
  function load(source: Source) {
    const box = $<HTMLInputElement>("smooth");
    source.smooth = box.checked;
    stopLoading();
    box.checked = source.smooth;
    hideError();
    if (source.file && source.file.size > MOST_BYTES)
      return fail(tooLarge(source.file.name, source.file.size, MOST_BYTES));
    epochs += 1;
    const to = epochs;
    // The first world is made by the worker that told which there are.
    const made = spare ?? spawn();
    spare = null;
    next = { worker: made, epoch: to, source };
    const smooth = isSmooth(source);
    busy(source.scene ? `preparing ${title(source.scene)}` : "preparing", worker !== null);
    breathe();
    made.postMessage({ t: "run", on: false } satisfies ToWorker);
    // A game has one speed for everybody.
    made.postMessage({ t: "speed", factor: isGame(source.scene) ? 1 : speed() } satisfies ToWorker);
    made.postMessage({ t: "do", deed: tuning() } satisfies ToWorker);
    made.postMessage({ t: "listen", on: sound.on } satisfies ToWorker);
    // The first may have been begun before the page was there.
    if (made === begun.worker && to === begun.epoch) return;
    if (source.scene) {
      made.postMessage({ t: "scene", name: source.scene, seed: source.seed ?? 0, smooth, deeds: source.deeds ?? [], epoch: to } satisfies ToWorker);
    } else if (source.file) {
      const file = source.file;
      const material = (source.material = $<HTMLSelectElement>("material").value || "earthenware");
      file.arrayBuffer().then((bytes) => {
        const m: ToWorker = file.name.endsWith(".film")
          ? { t: "film", file: file.name, bytes, epoch: to }
          : { t: "mesh", file: file.name, bytes, material, smooth, epoch: to };
        made.postMessage(m, [bytes]);
      }, () => broke(made, `${file.name} could not be read. Is it a folder?`));
    }
  }

  /** Gives up what is being prepared; what is on the stage goes on. */
  function stopLoading() {
    if (!next) return;
    next.worker.terminate();
    next = null;
    busy(null);
    $<HTMLSelectElement>("scene").value = current.scene ?? "";
    $<HTMLInputElement>("smooth").checked = current.smooth ?? true;
    breathe();
  }

  /** Nothing came of what a worker was to do. */
  function broke(from: Worker, text: string) {
    if (next?.worker === from) stopLoading();
    else if (!next) busy(null);
    fail(text);
  }

  /** The materials of the visitor's own model, where it has some. */
  const ownLooks = (m: Extract<FromWorker, { t: "loaded" }>) => (m.materials ? new OwnLooks(m.materials, m.pictures ?? []) : null);

  /** The next world is there: it takes the stage. */
  function take(i: Info, own: OwnLooks | null) {
    if (!next) return;
    // Where there are processors to spare.
    if (!worker && navigator.hardwareConcurrency > 2) setTimeout(rehearse, 500);
    worker?.terminate();
    ({ worker, epoch, source: current } = next);
    next = null;
    deeds = [];
    $<HTMLSelectElement>("scene").value = current.scene ?? "";
    $("about").textContent = about.get(current.scene ?? "") ?? "";
    show(current.deeds);
    loaded(i, own);
    run(!hangs);
    follow();
  }
  $("cancel").onclick = () => {
    if (replay.isOn()) return replay.stop();
    stopLoading();
    if (!worker) load({ scene: FIRST });
  };

  function loaded(i: Info, own: OwnLooks | null) {
    info = i;
    hands.letGo();
    const played = hands.rule !== null;
    hands.rule = card.open(current.scene, (current.deeds?.length ?? 0) > 0);
    $("by-hand").hidden = hands.rule !== null;
    // In a game the panel makes room for the card.
    if (played !== (hands.rule !== null)) fold(hands.rule !== null || innerWidth < 760);
    view.open(i, own);
    hangs = current.file !== undefined && i.length === undefined;
    if (hangs) view.lookClosely();
    overlays.clear();
    chart.clear();
    fragments = steps = 0;
    rest = false;
    // Nothing of the last world stays in the panel until the first step of this one.
    for (const [id, text] of [["n-fragments", "0"], ["n-contacts", "0"], ["n-ms", "–"], ["rest", ""]]) $(id).textContent = text;
    busy(null);
    const film = i.length !== undefined;
    document.body.classList.toggle("film", film);
    document.body.classList.toggle("soft", i.soft);
    $("scrub-row").hidden = !film;
    if (film) {
      $<HTMLInputElement>("scrub").max = String(i.length);
      sought(0);
    }
    // Of a model of one's own it says what to pass on instead.
    const link = !film && !i.soft;
    $("link").hidden = !link;
    menu.offer({ pieces: !film && !i.soft, animation: !i.soft, recording: !film, link });
    $<HTMLSelectElement>("material").options[0].text = current.file ? "as it came" : "as in the scene";
    if (current.file) $("about").textContent = film ? `A recording of ${title(i.name)}` : `Your ${i.name}: ▶ lets it fall, a ${press()} shoots at it. Break or cut it by hand, then explode it, to see pieces first`;
    if (tour.stop()?.scene === current.scene) arrange(tour.stop());
    else look();
    document.body.dataset.ready = String(epoch);
  }

  function sought(step: number) {
    $<HTMLInputElement>("scrub").value = String(step);
    $("scrub-out").textContent = `${step} / ${info?.length ?? 0}`;
    if (info && step >= (info.length ?? Infinity) && running) run(false);
  }

  // ---- time ----
  function run(on: boolean) {
    running = on;
    if (on) letFall();
    if (!on) sound.hush();
    breathe();
    const play = $("play");
    play.textContent = on ? "❚❚" : "▶";
    play.setAttribute("aria-label", on ? "Pause" : "Play");
    play.title = `${on ? "Pause" : "Play"} (space)`;
    count(0);
  }
  /** What hung in the air to be looked at falls, and the camera follows it to the floor. */
  function letFall() {
    if (!hangs) return;
    hangs = false;
    view.stepBack();
    $("about").textContent = `Your ${info!.name}, filled with tetrahedra`;
  }
  /** The world goes on while it is to run, can be seen, and nothing else is prepared. */
  const breathe = () => post({ t: "run", on: running && !document.hidden && !next });
  document.addEventListener("visibilitychange", breathe);
  const one = () => {
    run(false);
    letFall();
    post({ t: "one" });
  };
  const reset = () => {
    hideError();
    if (!worker) return;
    epoch = epochs += 1;
    current.deeds = undefined;
    // One's own model is whole again, and waits; it falls when time goes on.
    run(!current.file || info?.length !== undefined);
    post({ t: "reset", epoch });
  };
  // What broke it is on its way again: the world waits, so that it can be seen whole.
  const undo = () => {
    run(false);
    post({ t: "undo" });
  };
  $("play").onclick = () => run(!running);
  $("one").onclick = one;
  $("reset").onclick = reset;
  $("undo").onclick = undo;
  const speed = () => 2 ** Number($<HTMLInputElement>("speed").value);
  $<HTMLInputElement>("speed").oninput = () => {
    const factor = speed();
    $("speed-out").textContent = factor >= 1 ? "1×" : `1/${Math.round(1 / factor)}×`;
    value("speed", factor >= 1 ? "as in life" : `1/${Math.round(1 / factor)} of life`);
    post({ t: "speed", factor });
  };
  $<HTMLInputElement>("scrub").oninput = (e) => {
    run(false);
    const step = Number((e.target as HTMLInputElement).value);
    post({ t: "seek", step });
    sought(step);
  };
  window.addEventListener("keydown", (e) => {
    const on = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(on.tagName)) return;
    if (on.tagName === "BUTTON" && (e.key === " " || e.key === "Enter")) return;
    const turn = (side: number, up: number) => hands.carry(side, up) || view.turn(side, up);
    const keys: Record<string, () => void> = {
      " ": () => run(!running), ".": one, r: reset, u: undo, g: () => hands.grabAhead(), m: () => sound.set(!sound.on), f: () => hands.shootAhead(), h: () => hands.hitAhead(), b: () => hands.breakAhead(), c: () => hands.cutAhead(),
      arrowleft: () => turn(-1, 0), arrowright: () => turn(1, 0), arrowup: () => turn(0, 1), arrowdown: () => turn(0, -1),
      "+": () => view.near(-1), "=": () => view.near(-1), "-": () => view.near(1),
    };
    const act = keys[e.key.toLowerCase()];
    // What would make a game easier is not there in it.
    if (!act || (hands.rule && "u.hbc".includes(e.key.toLowerCase()))) return;
    e.preventDefault();
    act();
  });

  // ---- material ----
  const tuning = (): Deed => ({
    t: "tune", material: $<HTMLSelectElement>("material").value,
    strength: 10 ** Number($<HTMLInputElement>("strength").value), again: $<HTMLInputElement>("again").checked,
  });
  function tellStrength(strength: number) {
    const text = `×${strength >= 10 ? strength.toFixed(0) : strength.toPrecision(2)}`;
    $("strength-out").textContent = text;
    value("strength", `${text.slice(1)} times`);
  }
  function tune() {
    tellStrength(10 ** Number($<HTMLInputElement>("strength").value));
    post({ t: "do", deed: tuning() });
  }
  for (const id of ["material", "strength", "again"]) $(id).addEventListener("input", tune);
  // What was done was done in another world.
  $("smooth").oninput = () => {
    const source = next?.source ?? current;
    // Games, soft bodies and recordings have no budget.
    if (!next && (isGame(source.scene) || info?.soft || info?.length !== undefined)) return;
    load({ ...source, deeds: undefined });
  };
  /** The panel says what a link begins with. */
  function show(of: Done[] | undefined) {
    const first = of?.find(([step, d]) => step === 0 && d.t === "tune")?.[1];
    if (first?.t !== "tune") return;
    $<HTMLSelectElement>("material").value = first.material;
    $<HTMLInputElement>("strength").value = String(Math.log10(first.strength));
    $<HTMLInputElement>("again").checked = first.again;
    tellStrength(first.strength);
  }

  // ---- tools ----
  const tools: Record<Tool, string> = { throw: "Throw", break: "Break", cut: "Cut" };
  function choose(tool: Tool) {
    hands.tool = tool;
    for (const name of Object.keys(tools)) $(`tool-${name}`).setAttribute("aria-pressed", String(name === tool));
    $("pattern-rows").hidden = tool !== "break";
    $("tool-hint").textContent = {
      throw: `Drag a thing to throw it, ${press()} to shoot.`,
      break: `${sentence(press())} on a thing to break it there. Pause and explode to see the pieces first.`,
      cut: "Drag a line over things to cut them.",
    }[tool];
  }
  for (const [name, title] of Object.entries(tools)) {
    const button = document.createElement("button");
    button.textContent = title;
    button.id = `tool-${name}`;
    button.onclick = () => choose(name as Tool);
    $("tools").append(button);
  }
  choose("throw");
  $<HTMLInputElement>("force").oninput = () => {
    hands.force = 2 ** Number($<HTMLInputElement>("force").value);
    const text = hands.force >= 1 ? String(hands.force) : `1/${1 / hands.force}`;
    $("force-out").textContent = `×${text}`;
    value("force", `${text} times as fast`);
  };
  $<HTMLInputElement>("pieces").oninput = () => {
    hands.pattern.pieces = Number($<HTMLInputElement>("pieces").value);
    $("pieces-out").textContent = String(hands.pattern.pieces);
  };
  $<HTMLSelectElement>("pattern").oninput = () => (hands.pattern.name = $<HTMLSelectElement>("pattern").value);

  // ---- the address ----
  /** Scene, seed and deeds: who opens it sees the same, bit by bit. */
  function address(): URL {
    const url = new URL(location.href);
    url.search = url.hash = "";
    if (!current.scene) return url;
    if (current.scene !== FIRST) url.searchParams.set("scene", current.scene);
    if (current.seed) url.searchParams.set("seed", String(current.seed));
    if (current.smooth === false) url.searchParams.set("smooth", "0");
    const letters = link.write(deeds);
    if (letters) url.hash = `did=${letters}`;
    return url;
  }
  // A link that is pasted over this page's own address differs after the # alone, for which no
  // browser loads anything. (What the page writes there itself is not told here.)
  window.addEventListener("hashchange", () => location.reload());
  let following = 0;
  /** The address follows what one does, not more often than browsers like. */
  function follow() {
    clearTimeout(following);
    following = setTimeout(() => history.replaceState(null, "", address()), 400);
  }
  const copyLink = async () => {
    if (current.file) return tell("A link cannot hold a model of your own. Save all that happened, and pass on that file.");
    clearTimeout(following);
    history.replaceState(null, "", address());
    if (link.write(deeds) === null) return tell("Too much was done for one link: it leads to the scene alone.");
    try {
      await navigator.clipboard.writeText(location.href);
      tell(isGame(current.scene) ? "Link copied: who opens it sees you play, and the score." : "Link copied: who opens it sees the same.");
    } catch {
      tell("The address above is the link.");
    }
  };
  $("link").onclick = copyLink;
  const card = new Card(() => reset(), copyLink, () => load({ scene: FIRST }));

  // ---- what is taken home ----
  const replay = new Replay(newWorker, library);
  const fileName = (ending: string) => `${info?.name.replaceAll(" ", "-") ?? "fracas"}${ending}`;
  /** Plays all that happened once more, and gives a file of it. */
  async function remake(as: "glb" | "film") {
    if (info?.length !== undefined) return post({ t: "export" }); // a recording holds it already
    run(false);
    const { step, digest, deeds } = await asked();
    const { file, material = "earthenware" } = current;
    const name = fileName(as === "glb" ? "-animation.glb" : ".film");
    busy("playing it again", true);
    try {
      const story: Story = {
        scene: current.scene, seed: current.seed ?? 0, smooth: isSmooth(current), deeds, steps: step,
        file: file && { name: file.name, bytes: await file.arrayBuffer(), material },
      };
      const made = await replay.play(story, as, (text) => busy(text, true));
      if (!made) return;
      if (made.digest !== digest && digest) throw new Error("what was played again is not what happened");
      give(name, new Blob([made.bytes]));
      tell(`${name} has all ${step} steps.`);
    } catch (e) {
      fail(`${name} could not be made (${e instanceof Error ? e.message : e}).`);
    } finally {
      busy(null);
    }
  }
  const menu = new SaveMenu(view.canvas, {
    picture: async () => {
      const picture = await view.picture();
      if (!picture) return fail("The picture is too large for this browser.");
      give(fileName(".png"), picture);
      tell(`${fileName(".png")} is the picture of now.`);
    },
    video: (bytes, ending) => {
      give(fileName(`.${ending}`), bytes);
      tell(`${fileName(`.${ending}`)} is the video.`);
    },
    pieces: () => post({ t: "export" }),
    animation: () => remake("glb"),
    recording: () => remake("film"),
    link: copyLink,
  }, () => (view.stale = true));
  /** What the worker says of its world when it has done all that was asked before. */
  const asked = () => new Promise<Extract<FromWorker, { t: "state" }>>((done) => {
    window.addEventListener("state", (e) => done((e as CustomEvent).detail), { once: true });
    post({ t: "state" });
  });

  // ---- what is shown ----
  const chips = { contacts: "Contacts", spheres: "Sphere tree", field: "Distance field", tets: "Tetrahedra", voxels: "Voxel tree" };
  const on = new Set<keyof typeof chips>();
  for (const [key, name] of Object.entries(chips)) {
    const button = document.createElement("button");
    button.textContent = name;
    button.id = `see-${key}`;
    button.setAttribute("aria-pressed", "false");
    button.onclick = () => {
      const k = key as keyof typeof chips;
      if (on.has(k)) on.delete(k);
      else on.add(k);
      look();
    };
    $("chips").append(button);
  }
  function look() {
    for (const key of Object.keys(chips)) $(`see-${key}`).setAttribute("aria-pressed", String(on.has(key as keyof typeof chips)));
    const level = Number($<HTMLInputElement>("level").value);
    const share = Number($<HTMLInputElement>("slice").value);
    $("level-out").textContent = String(level);
    value("slice", `${Math.round(100 * share)} percent of the depth`);
    $("level-row").hidden = !on.has("spheres") && !on.has("voxels");
    $("slice-row").hidden = !on.has("field") && !on.has("tets");
    for (const kind of ["spheres", "tets", "voxels"] as Overlay[]) if (!on.has(kind)) overlays.remove(kind);
    if (!on.has("contacts")) overlays.contacts(undefined);
    view.setGhost(on.size > (on.has("contacts") && on.size === 1 ? 1 : 0));
    overlays.setSlice(share, on.has("field"), on.has("tets"));
    const wanted: Look = {
      contacts: on.has("contacts"), spheres: on.has("spheres"), tets: on.has("tets"), voxels: on.has("voxels"), level,
      slice: on.has("field") ? overlays.slice(share) : null,
    };
    sliced = wanted.slice;
    post({ t: "look", look: wanted });
  }
  let sliced: number[] | null = null; // as the worker was asked for it
  /** The slice goes with the pieces, a few times a second. */
  let aimed = 0;
  function aim() {
    if (performance.now() - aimed < 250) return;
    aimed = performance.now();
    look();
  }
  for (const id of ["level", "slice"]) $(id).addEventListener("input", look);
  const explode = () => {
    view.explode = Number($<HTMLInputElement>("explode").value);
    value("explode", `${Math.round(100 * view.explode)} percent`);
    view.stale = true;
  };
  $("explode").oninput = explode;

  // ---- the tour ----
  let again = true; // what the visitor had chosen before
  const tour = new Tour((stop) => {
    const box = $<HTMLInputElement>("again");
    if (!stop) {
      box.checked = again;
      tune();
    } else if (current.deeds !== stop.deeds) again = box.checked;
    // What a stop speaks of needs its scene, as it is after the stop's deeds.
    if (stop && (current.scene !== stop.scene || current.deeds !== stop.deeds || info?.soft)) load({ scene: stop.scene, deeds: stop.deeds });
    else arrange(stop);
    // On a narrow screen there is room for the card alone.
    if (stop && innerWidth < 760) fold(true);
    else view.resize();
  });
  /** Sets overlays and camera as a stop wants them; without one, as they were at first. */
  function arrange(stop: Stop | null) {
    on.clear();
    for (const see of stop?.see ?? []) on.add(see);
    if (stop?.level !== undefined) $<HTMLInputElement>("level").value = String(stop.level);
    $<HTMLInputElement>("slice").value = String(stop?.slice ?? 0.5);
    $<HTMLInputElement>("explode").value = String(stop?.explode ?? 0);
    explode();
    look();
    // In the tour nobody follows what falls.
    if (info) view.frameAll(stop !== null);
    const [side, up, near] = stop?.camera ?? [0, 0, 0];
    if (stop) {
      view.turn(side, up);
      view.near(near);
    }
  }

  takeFiles((files) => {
    files.then((all) => bundle(all, MOST_BYTES)).then((file) => load({ file }), (error: Error) => fail(error.message));
  });

  // ---- light, dark, panel ----
  let theme: Theme = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
  const paint = () => {
    document.documentElement.dataset.theme = theme;
    view.theme(theme);
  };
  $("theme").onclick = () => {
    theme = theme === "dark" ? "light" : "dark";
    paint();
  };
  const fold = (shut: boolean) => {
    document.body.classList.toggle("folded", shut);
    $("fold").setAttribute("aria-expanded", String(!shut));
    view.resize();
  };
  $("fold").onclick = () => fold(!document.body.classList.contains("folded"));
  fold(innerWidth < 760);
  paint();
  new ResizeObserver(() => view.resize()).observe($("stage"));
  $("legend").append(...STAGES.map((s) => {
    const item = document.createElement("span");
    item.style.setProperty("--c", s.colour);
    item.textContent = s.name;
    return item;
  }));

  // ---- sound and dust ----
  let materials: string[] = [];
  function feel(data: Float32Array) {
    const all = impacts(data, materials);
    sound.hear(all, (impact) => view.side(impact.at));
    for (const impact of all) view.dust.puff(impact);
  }

  // ---- worker ----
  let spare: Worker | null = null;
  let known = false;
  function hear(from: Worker, m: FromWorker) {
    if (from !== worker && from !== next?.worker && from !== spare) return;
    switch (m.t) {
      case "ready": {
        if (known) break;
        known = true;
        about = new Map(m.scenes.map((s) => [s.name, sentence(s.about)]));
        const options = (game: boolean) => m.scenes.filter((s) => s.game === game).map((s) => new Option(title(s.name), s.name));
        const games = document.createElement("optgroup");
        games.label = "Play";
        games.append(...options(true));
        $("scene").append(new Option("Choose a scene…", "", false, false), ...options(false), games);
        $<HTMLSelectElement>("scene").onchange = (e) => {
          const name = (e.target as HTMLSelectElement).value;
          if (name) load({ scene: name });
        };
        materials = m.materials;
        $("pattern").append(...m.patterns.map((n) => new Option(n, n)));
        $("material").append(new Option("as in the scene", ""), ...m.materials.map((n) => new Option(n, n)));
        first(m.scenes.map((s) => s.name));
        break;
      }
      case "progress": if (from === next?.worker) busy(m.text, worker !== null); break;
      case "reload": if (m.epoch === epoch) load(current); break;
      case "loaded":
        if (from === next?.worker && m.epoch === next.epoch) take(m.info, ownLooks(m));
        else if (from === worker && m.epoch === epoch) loaded(m.info, ownLooks(m));
        break;
      case "frame": {
        from.postMessage({ t: "ack" } satisfies ToWorker);
        const f = m.frame;
        if (from !== worker || f.epoch !== epoch) break;
        view.take(f, performance.now());
        if (f.impacts) feel(f.impacts);
        if (f.game) card.tell(f.game);
        if (f.back) chart.clear();
        chart.add(f.stats);
        if (on.has("contacts")) overlays.contacts(f.contacts);
        if (on.has("field")) aim();
        $<HTMLButtonElement>("undo").disabled = !f.undo;
        if (f.rest && !rest && running) view.comeNearer();
        rest = f.rest;
        count(f.pace);
        break;
      }
      case "overlay":
        if (from === worker && m.epoch === epoch && on.has(m.kind)) overlays.body(m.kind, m.number, m.data);
        break;
      case "slice": if (from === worker && m.epoch === epoch) overlays.field(m.width, m.height, m.data); break;
      case "sought": sought(m.step); break;
      case "deeds":
        if (from !== worker || m.epoch !== epoch) break;
        deeds = m.deeds;
        follow();
        break;
      case "exported": {
        const name = fileName(info?.length === undefined ? ".glb" : "-animation.glb");
        give(name, new Blob([m.bytes], { type: "model/gltf-binary" }));
        tell(`${name} has ${info?.length === undefined ? "all pieces as they lie" : "the whole recording"}.`);
        break;
      }
      case "error":
        if (m.loading) broke(from, m.text);
        else fail(m.text);
        break;
      case "refused": tell("Not from here: step back, and mind the rule."); break;
      case "whole": tell("That parts nothing: try another place, or a larger piece."); break;
      case "settled": window.dispatchEvent(new CustomEvent("settled")); break;
      case "state": window.dispatchEvent(new CustomEvent("state", { detail: m })); break;
      case "digest": window.dispatchEvent(new CustomEvent("digest", { detail: m })); break;
    }
  }
  spare = adopt(begun.worker);
  busy("starting");
  // For tests: asks the worker for a digest, waits until it has done what was asked,
  // and says what is on the stage.
  Object.assign(window, {
    fracas: {
      rehearse,
      measure,
      write: link.write,
      paceWords,
      dust: view.dust,
      settled: () => new Promise((done) => {
        window.addEventListener("settled", done, { once: true });
        post({ t: "settle" });
      }).then(() => undefined),
      digest: (scene: string, n: number, shown = false, smooth = shown) => new Promise((done) => {
        window.addEventListener("digest", (e) => done((e as CustomEvent).detail), { once: true });
        post({ t: "digest", scene, steps: n, shown, smooth });
      }),
      now: asked,
      state: () => ({
        fragments, steps, running, rest, slice: sliced, drawn: view.drawn, pictures: view.own?.pictures ?? 0, size: view.size(), sounds: sound.played, dust: view.dust.alive, moving: view.isMoving(), balls: [...view.bodies.values()].filter((b) => b.born.body.kind === "ball").length,
        pieces: [...view.bodies.values()].filter((b) => b.born.body.kind === "piece").map((b) => {
          const p = b.middle.clone().applyMatrix4(b.node.matrixWorld);
          const s = p.clone().project(view.camera);
          const paint = [b.mesh?.material ?? []].flat() as MeshPhysicalMaterial[];
          return { number: b.number, object: b.object, place: p.toArray(), screen: [(s.x + 1) / 2, (1 - s.y) / 2], opacity: paint[0]?.opacity, inside: paint.at(-1)?.color.toArray() };
        }),
      }),
    },
  });

  /** What the address asks for: `?scene=NAME&seed=N`, `?open=FILE`, `#did=…`. */
  function first(names: string[]) {
    const asked = new URLSearchParams(location.search);
    $<HTMLInputElement>("smooth").checked = asked.get("smooth") !== "0";
    const open = asked.get("open");
    if (open) {
      let from: URL;
      try {
        from = new URL(open, location.href);
      } catch {
        load({ scene: FIRST });
        return fail(`${open} is no address of a file. Drop the file on the page instead.`);
      }
      if (from.origin !== location.origin) {
        load({ scene: FIRST });
        return fail(`This link would fetch a file from ${from.host}. The page opens only files from its own place: download it, look at it, and drop it here.`);
      }
      busy(`fetching ${open}`);
      fetch(from).then(async (r) => {
        if (!r.ok) throw new Error(String(r.status));
        load({ file: new File([await r.arrayBuffer()], from.pathname.split("/").at(-1)!) });
      }).catch((e) => {
        load({ scene: FIRST });
        fail(`${open} could not be fetched (${e.message}). Drop the file on the page instead.`);
      });
      return;
    }
    const scene = asked.get("scene");
    let deeds: Done[] | undefined;
    let wrong = "";
    const did = new URLSearchParams(location.hash.slice(1)).get("did");
    try {
      if (did) deeds = link.read(did);
    } catch {
      wrong = "This link is damaged: what was done cannot be read. Here is the scene alone.";
    }
    if (scene && !names.includes(scene)) {
      wrong = `There is no scene named ${scene}. Choose one above.`;
      deeds = undefined;
    }
    const seed = Math.min(Math.max(0, Math.trunc(Number(asked.get("seed")) || 0)), 2 ** 32 - 1);
    load({ scene: [scene, FIRST, names[0]].find((n) => n && names.includes(n))!, seed, deeds });
    if (wrong) fail(wrong);
  }

  let told = 0;
  function count(pace: number) {
    const last = chart.last();
    if (!last) return;
    steps = last[STAT.step] + 1;
    const now = last[STAT.fragments];
    $("n-fragments").textContent = String(now);
    $("n-contacts").textContent = last[STAT.contacts].toLocaleString("en");
    $("n-ms").textContent = chart.mean(STAT.total).toFixed(1);
    const still = rest && running ? " · at rest" : "";
    const slow = running && !rest && !document.body.classList.contains("film") ? paceWords(pace) : "";
    $("rest").textContent = `step ${steps} · ${last[STAT.pieces]} bodies · ${last[STAT.pairs]} pairs · ${last[STAT.solverContacts].toLocaleString("en")} contacts solved · ${last[STAT.visited].toLocaleString("en")} points asked${slow}${still}`;
    // A screen reader hears of breaks, not of every step.
    if (now !== fragments && performance.now() - told > 1500) {
      told = performance.now();
      $("say").textContent = `${now} fragments`;
    }
    fragments = now;
  }

  // Frames are asked for only as long as something changes.
  let before = 0;
  let waits = false;
  const frame = (now: number) => {
    waits = false;
    if (before > 0) view.adapt(now - before);
    before = now;
    hands.draw();
    view.draw(performance.now());
    chart.draw();
    if (view.isMoving() || hands.holds()) ask();
    else before = 0;
  };
  const ask = () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(frame);
  };
  view.onChange = chart.onChange = ask;
  ask();
  for (const m of begun.said.splice(0)) hear(begun.worker, m);
}
