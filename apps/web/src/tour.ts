// A tour of five steps for who wants to know how it works. Each step shows what it speaks of.

import type { Done } from "./protocol";
import { $ } from "./words";

export type See = "contacts" | "spheres" | "field" | "tets" | "voxels";

export interface Stop {
  title: string;
  text: string;
  paper: string;
  scene: string;
  deeds?: Done[];
  see: See[];
  level?: number;
  slice?: number;
  explode?: number;
  /** Where the camera goes: to the side, up, and nearer (below zero) by so many key presses. */
  camera: [number, number, number];
}

/** Blocks that fall and break once, so that there are few pieces and large ones. */
const SCENE = "blocks";
const ONCE: Done[] = [[0, { t: "tune", material: "", strength: 1, again: false }]];

export const STOPS: Stop[] = [
  {
    title: "Contacts",
    text: "Blocks fell and broke. Every dot is a place where two bodies touch, and its colour says how deep. Of thousands of points only the few that matter are looked at.",
    paper: "Glondu and others, 2013: contacts from points that are chosen as the bodies move.",
    see: ["contacts"], camera: [0, 0, 0],
  },
  {
    title: "Crack sheets",
    text: "A crack is a sheet that runs through the tetrahedra and cuts each edge at most once. The pieces are pulled apart here, so that you can see both sides of each sheet.",
    paper: "Glondu and others, 2013: cracks inside tetrahedra, cut where they pass.",
    see: [], explode: 0.4, camera: [0, 1, 0],
  },
  {
    title: "Distance field",
    text: "A slice through the pieces. White is the surface; warm colours lie inside, blue ones outside. After a break only the part near the cracks is worked out again.",
    paper: "Marchal and others, 2004, and Glondu and others, 2013: distances that spread from the surface.",
    see: ["field"], slice: 0.5, camera: [-2, -1, -1],
  },
  {
    title: "Sphere tree",
    text: "Each piece has a tree of points, wrapped in spheres. A search goes down only where spheres come near another body. When a piece breaks, its tree is split and not built anew.",
    paper: "Glondu and others, 2013; Heo and others, 2010, keep their trees of boxes good in the same way.",
    see: ["spheres"], level: 6, camera: [0, 1, 0],
  },
  {
    title: "Voxel tree",
    text: "The same pieces as cubes, coarse to fine. Where time is short, the search stops at a coarse level and still has an answer. Move the level to see the others.",
    paper: "Dingliana and O'Sullivan, 2004: collisions that can be stopped at any time.",
    see: ["voxels"], level: 3, camera: [0, 1, 0],
  },
].map((stop) => ({ scene: SCENE, deeds: ONCE, ...stop }) as Stop);

export class Tour {
  private at = -1;
  private from: HTMLElement | null = null;

  /** `show`: puts what a stop speaks of on the stage; `null`: the tour is over. */
  constructor(private readonly show: (stop: Stop | null) => void) {
    $("tour-start").onclick = () => this.go(0);
    $("tour-next").onclick = () => (this.at + 1 < STOPS.length ? this.go(this.at + 1) : this.close());
    $("tour-back").onclick = () => this.go(this.at - 1);
    $("tour-close").onclick = () => this.close();
    // Wherever one is, as long as nothing else is open.
    window.addEventListener("keydown", (e) => {
      if (e.key === "Escape" && this.isOn() && !e.defaultPrevented) this.close();
    });
  }

  isOn(): boolean {
    return this.at >= 0;
  }

  /** The stop that is shown. */
  stop(): Stop | null {
    return STOPS[this.at] ?? null;
  }

  go(to: number) {
    if (!STOPS[to]) return;
    if (!this.isOn()) this.from = document.activeElement as HTMLElement;
    this.at = to;
    const stop = STOPS[to];
    $("tour").hidden = false;
    document.body.classList.add("touring");
    $("tour-count").textContent = `Step ${to + 1} of ${STOPS.length}`;
    $("tour-title").textContent = stop.title;
    $("tour-text").textContent = stop.text;
    $("tour-paper").textContent = stop.paper;
    $<HTMLButtonElement>("tour-back").disabled = to === 0;
    $("tour-next").textContent = to + 1 < STOPS.length ? "Next" : "Done";
    // A screen reader reads on from the title.
    $("tour-title").focus({ preventScroll: true });
    this.show(stop);
  }

  close() {
    if (!this.isOn()) return;
    this.at = -1;
    $("tour").hidden = true;
    document.body.classList.remove("touring");
    this.show(null);
    (this.from?.isConnected && this.from.checkVisibility() ? this.from : $("view")).focus({ preventScroll: true });
  }
}
