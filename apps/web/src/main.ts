// The page: wires panel, picture and worker together.

import "./style.css";
import { Chart, STAGES } from "./chart";
import { Hands } from "./hands";
import { Overlays } from "./overlays";
import type { FromWorker, Info, Look, Overlay, ToWorker } from "./protocol";
import { STAT } from "./protocol";
import { type Theme, View } from "./view";

const $ = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const TITLES: Record<string, string> = {
  "piggy-bank": "Piggy bank", bricks: "Falling bricks", "drop-bunnies": "Falling rabbits", plates: "Plates on a shelf",
  "interactive-bunnies": "Rabbits in a hand", "plate-in-bowl": "Plate in a bowl", sphere: "Ball", "sphere-fine": "Ball, fine surface",
  "sphere-sparse": "Ball, few inner points", "fresh-fracture": "Cube of 64 pieces", wall: "Wall of a thousand bricks", haptic: "Tool and tile",
  "torus-on-cube": "Soft torus on a cube", "ball-tears-cloth": "Soft ball through a cloth", "ellipsoids-on-edge": "A hundred soft ellipsoids",
};
/** Prepared soonest, and asks to be clicked on. */
const FIRST = "plates";
/** Files larger than this are not even read. */
const MOST_BYTES = 200e6;

const title = (name: string) => TITLES[name] ?? (name[0].toUpperCase() + name.slice(1)).replaceAll("-", " ");

function start() {
  let view: View;
  try {
    view = new View($<HTMLCanvasElement>("view"));
  } catch {
    document.body.classList.add("stopped");
    fail("This page draws with WebGL 2, which this browser does not offer. Turn on hardware acceleration in its settings, or open the page in a current Firefox, Chrome or Safari.");
    return;
  }
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const post = (m: ToWorker, move: Transferable[] = []) => worker.postMessage(m, move);
  const overlays = new Overlays(view);
  const hands = new Hands(view, post);
  const chart = new Chart($<HTMLCanvasElement>("chart"));

  let epoch = 0;
  let info: Info | null = null;
  let about = new Map<string, string>();
  let running = true;
  let current: { scene?: string; file?: File } = {};
  let fragments = 0;
  let steps = 0;

  // ---- what is loaded ----
  function load(next: { scene?: string; file?: File }) {
    current = next;
    epoch += 1;
    hideError();
    busy("preparing");
    run(true);
    if (next.scene) {
      $<HTMLSelectElement>("scene").value = next.scene;
      $("about").textContent = about.get(next.scene) ?? "";
      post({ t: "scene", name: next.scene, epoch });
    } else if (next.file) {
      const file = next.file;
      if (file.size > MOST_BYTES) return fail(`${file.name} has ${Math.round(file.size / 1e6)} MB; this page takes up to ${MOST_BYTES / 1e6} MB. Simplify the mesh first.`);
      file.arrayBuffer().then((bytes) => {
        if (file.name.endsWith(".film")) post({ t: "film", file: file.name, bytes, epoch }, [bytes]);
        else post({ t: "mesh", file: file.name, bytes, material: $<HTMLSelectElement>("material").value || "earthenware", epoch }, [bytes]);
      }, () => fail(`${file.name} could not be read. Is it a folder?`));
    }
  }

  function loaded(i: Info) {
    info = i;
    view.open(i);
    overlays.clear();
    chart.clear();
    fragments = steps = 0;
    busy(null);
    const film = i.length !== undefined;
    document.body.classList.toggle("film", film);
    document.body.classList.toggle("soft", i.soft);
    $("scrub-row").hidden = !film;
    if (film) {
      $<HTMLInputElement>("scrub").max = String(i.length);
      sought(0);
    }
    if (current.file) $("about").textContent = film ? `A recording of ${title(i.name)}` : `Your ${i.name}, filled with tetrahedra and ready to break`;
    if (current.file) $<HTMLSelectElement>("scene").value = "";
    look();
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
    post({ t: "run", on });
    const play = $("play");
    play.textContent = on ? "❚❚" : "▶";
    play.setAttribute("aria-label", on ? "Pause" : "Play");
    play.title = `${on ? "Pause" : "Play"} (space)`;
  }
  const one = () => {
    run(false);
    post({ t: "one" });
  };
  const reset = () => {
    epoch += 1;
    hideError();
    run(true);
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
  $<HTMLInputElement>("speed").oninput = (e) => {
    const factor = 2 ** Number((e.target as HTMLInputElement).value);
    $("speed-out").textContent = factor >= 1 ? "1×" : `1/${Math.round(1 / factor)}×`;
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
    const keys: Record<string, () => void> = {
      " ": () => run(!running), ".": one, r: reset, u: undo, f: () => hands.shootAhead(), h: () => hands.hitAhead(),
    };
    const act = keys[e.key.toLowerCase()];
    if (!act) return;
    e.preventDefault();
    act();
  });

  // ---- material ----
  function tune() {
    const strength = 10 ** Number($<HTMLInputElement>("strength").value);
    $("strength-out").textContent = `×${strength >= 10 ? strength.toFixed(0) : strength.toPrecision(2)}`;
    post({ t: "tune", material: $<HTMLSelectElement>("material").value, strength, again: $<HTMLInputElement>("again").checked });
  }
  for (const id of ["material", "strength", "again"]) $(id).addEventListener("input", tune);

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
      button.setAttribute("aria-pressed", String(on.has(k)));
      look();
    };
    $("chips").append(button);
  }
  function look() {
    const level = Number($<HTMLInputElement>("level").value);
    const share = Number($<HTMLInputElement>("slice").value);
    $("level-out").textContent = String(level);
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
    post({ t: "look", look: wanted });
  }
  for (const id of ["level", "slice"]) $(id).addEventListener("input", look);
  $<HTMLInputElement>("explode").oninput = (e) => {
    view.explode = Number((e.target as HTMLInputElement).value);
    view.stale = true;
  };

  // ---- files ----
  const take = (file: File | undefined | null) => file && load({ file });
  $("open").onclick = () => $("file").click();
  $<HTMLInputElement>("file").onchange = (e) => {
    const input = e.target as HTMLInputElement;
    take(input.files?.[0]);
    input.value = "";
  };
  let depth = 0;
  const drag = (by: number) => {
    depth = Math.max(0, depth + by);
    $("drop").hidden = depth === 0;
  };
  window.addEventListener("dragenter", (e) => { e.preventDefault(); drag(1); });
  window.addEventListener("dragleave", () => drag(-1));
  window.addEventListener("dragover", (e) => e.preventDefault());
  window.addEventListener("drop", (e) => {
    e.preventDefault();
    depth = 0;
    drag(0);
    take(e.dataTransfer?.files[0]);
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

  // ---- worker ----
  worker.onerror = (e) => fail(`The simulation stopped (${e.message || "it could not be loaded"}). Reload the page to start again.`);
  worker.onmessage = (event: MessageEvent<FromWorker>) => {
    const m = event.data;
    switch (m.t) {
      case "ready": {
        about = new Map(m.scenes.map((s) => [s.name, sentence(s.about)]));
        $("scene").append(new Option("Choose a scene…", "", false, false), ...m.scenes.map((s) => new Option(title(s.name), s.name)));
        $<HTMLSelectElement>("scene").onchange = (e) => {
          const name = (e.target as HTMLSelectElement).value;
          if (name) load({ scene: name });
        };
        $("material").append(new Option("as in the scene", ""), ...m.materials.map((n) => new Option(n, n)));
        first(m.scenes.map((s) => s.name));
        break;
      }
      case "progress": busy(m.text); break;
      case "reload": if (m.epoch === epoch) load(current); break;
      case "loaded": if (m.epoch === epoch) loaded(m.info); break;
      case "frame": {
        post({ t: "ack" });
        const f = m.frame;
        if (f.epoch !== epoch) break;
        view.take(f, performance.now());
        chart.add(f.stats);
        if (on.has("contacts")) overlays.contacts(f.contacts);
        $<HTMLButtonElement>("undo").disabled = !f.undo;
        count(f.pace);
        break;
      }
      case "overlay":
        if (m.epoch === epoch && on.has(m.kind)) overlays.body(m.kind, m.number, m.data);
        break;
      case "slice": if (m.epoch === epoch) overlays.field(m.width, m.height, m.data); break;
      case "sought": sought(m.step); break;
      case "error": fail(m.text); break;
      case "settled": window.dispatchEvent(new CustomEvent("settled")); break;
      case "digest": window.dispatchEvent(new CustomEvent("digest", { detail: m })); break;
    }
  };
  // For tests: asks the worker for a digest, waits until it has done what was asked,
  // and says what is on the stage.
  Object.assign(window, {
    fracas: {
      settled: () => new Promise((done) => {
        window.addEventListener("settled", done, { once: true });
        post({ t: "settle" });
      }).then(() => undefined),
      digest: (scene: string, n: number) => new Promise((done) => {
        window.addEventListener("digest", (e) => done((e as CustomEvent).detail), { once: true });
        post({ t: "digest", scene, steps: n });
      }),
      state: () => ({
        fragments, steps, running, balls: [...view.bodies.values()].filter((b) => b.born.body.kind === "ball").length,
        pieces: [...view.bodies.values()].filter((b) => b.born.body.kind === "piece").map((b) => {
          const p = b.middle.clone().applyMatrix4(b.node.matrixWorld);
          const s = p.clone().project(view.camera);
          return { number: b.number, object: b.object, place: p.toArray(), screen: [(s.x + 1) / 2, (1 - s.y) / 2] };
        }),
      }),
    },
  });

  /** What the address asks for: `?scene=NAME`, `?open=FILE`. */
  function first(names: string[]) {
    const asked = new URLSearchParams(location.search);
    const open = asked.get("open");
    if (open) {
      busy(`fetching ${open}`);
      fetch(open).then(async (r) => {
        if (!r.ok) throw new Error(String(r.status));
        load({ file: new File([await r.arrayBuffer()], open.split("/").at(-1)!) });
      }).catch((e) => fail(`${open} could not be fetched (${e.message}). Drop the file on the page instead.`));
      return;
    }
    const scene = asked.get("scene");
    if (scene && !names.includes(scene)) fail(`There is no scene named ${scene}. Choose one above.`);
    load({ scene: [scene, FIRST, names[0]].find((n) => n && names.includes(n))! });
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
    const slow = running && pace > 0 && pace < 0.9 && !document.body.classList.contains("film") ? ` · ${pace.toFixed(1)}× real time` : "";
    $("rest").textContent = `step ${steps} · ${last[STAT.pieces]} bodies · ${last[STAT.pairs]} pairs · ${last[STAT.solverContacts].toLocaleString("en")} contacts solved · ${last[STAT.visited].toLocaleString("en")} points asked${slow}`;
    // A screen reader hears of breaks, not of every step.
    if (now !== fragments && performance.now() - told > 1500) {
      told = performance.now();
      $("say").textContent = `${now} fragments`;
    }
    fragments = now;
  }

  let before = performance.now();
  const frame = (now: number) => {
    view.adapt(now - before);
    before = now;
    hands.draw();
    view.draw(performance.now());
    chart.draw();
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

function sentence(text: string): string {
  const plain = text.replace(/ \((Fig\.|section|Marchal,) [^)]*\)/, "");
  return plain[0].toUpperCase() + plain.slice(1);
}

function busy(text: string | null) {
  $("busy").hidden = text === null;
  if (text) $("busy").querySelector("span")!.textContent = `${text[0].toUpperCase()}${text.slice(1)}…`;
}

function fail(text: string) {
  busy(null);
  $("error").hidden = false;
  $("error").querySelector("p")!.textContent = text;
  $("error").querySelector("button")!.onclick = hideError;
}

function hideError() {
  $("error").hidden = true;
}

start();
