// Pointer and touch: drag grabs and throws, a click shoots, shift-click hits, the
// background turns the camera. With another tool a click breaks by a pattern, or a drag
// draws the line of a cut.

import * as THREE from "three";
import type { Allowed } from "./challenges";
import type { Deed } from "./protocol";
import type { View } from "./view";
import { tell } from "./words";

/** Pixels that a click may wander. */
const STILL = 6;
/** How far beside a piece, in pixels, a blow still meets it: shards are thin. */
const BESIDE = [8, 16, 24];
/** Milliseconds after which a touch that stays hits instead of shooting. */
const HOLD = 450;
/** Steel balls: share of the scene's size, and metres per second per metre of it. */
const BALL = { radius: 0.032, speed: 9 };
const HAMMER = { radius: 0.024, speed: 12 };

/** What a click or drag does. */
export type Tool = "throw" | "break" | "cut";
/** A line shorter than this cuts nothing. */
const SHORTEST_CUT = 24;

interface Found {
  number: number;
  /** Object and fragment, where it is a piece. */
  piece: [number, number] | null;
  /** In the body's own frame. */
  at: THREE.Vector3;
  normal: THREE.Vector3;
  /** In the world. */
  point: THREE.Vector3;
}

/** Metres that an arrow key moves what is held. */
const STEP = 0.03;

export class Hands {
  /** What a game allows; `null`: everything. */
  rule: Allowed | null = null;
  tool: Tool = "throw";
  /** How the tool breaks. */
  pattern = { name: "cells", pieces: 12 };
  /** How many times as fast balls and hammers are. */
  force = 1;
  /** Breaks so far: each falls out otherwise. */
  private broken = 0;
  private readonly ray = new THREE.Raycaster();
  private down: { id: number; x: number; y: number; shift: boolean; found: Found | null; held: boolean; struck: boolean; timer: number; cuts?: boolean } | null = null;
  private readonly across = new THREE.Plane();
  private readonly line: THREE.Line;
  private readonly tip = new THREE.Vector3();

  constructor(private readonly view: View, private readonly post: (deed: Deed) => void) {
    const geometry = new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]);
    this.line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: 0xffb020, depthTest: false, transparent: true }));
    this.line.frustumCulled = false;
    this.line.visible = false;
    this.line.renderOrder = 11;
    view.scene.add(this.line);
    const c = view.canvas;
    // Before the camera's own listeners, so that a grab keeps the camera still.
    c.addEventListener("pointerdown", (e) => this.press(e), { capture: true });
    c.addEventListener("pointermove", (e) => this.move(e));
    c.addEventListener("pointerup", (e) => this.lift(e));
    c.addEventListener("pointercancel", (e) => this.lift(e, true));
    c.addEventListener("contextmenu", (e) => e.preventDefault());
    window.addEventListener("keydown", (e) => {
      if (!["Shift", "Control", "Alt", "Meta"].includes(e.key)) c.classList.remove("pointed");
    });
  }

  /** Shoots at what the camera looks at: for the keyboard. */
  shootAhead() {
    this.aimAhead();
    this.shoot(this.find());
  }

  /** Hits what the camera looks at: for the keyboard. */
  hitAhead() {
    this.aimAhead();
    this.hit(this.find());
  }

  /** Takes hold of what the camera looks at, or lets go: for the keyboard. */
  grabAhead() {
    if (this.rule && !this.rule.grab) return;
    if (this.down) {
      if (this.down.id === -1) this.letGo();
      return;
    }
    this.aimAhead();
    const found = this.find();
    if (!found?.piece) return;
    this.down = { id: -1, x: 0, y: 0, shift: false, found, held: true, struck: false, timer: 0 };
    this.tip.copy(found.point);
    this.line.visible = true;
    this.post({ t: "grab", piece: found.piece, at: found.at.toArray() });
    this.view.stale = true;
  }

  /** Breaks what the camera looks at by the pattern: for the keyboard. */
  breakAhead() {
    this.aimAhead();
    this.shatter(this.find());
  }

  /** Cuts what is at the cross from above to below: for the keyboard. */
  cutAhead() {
    const at = this.view.ahead();
    this.cut([at.x, 0.9], [at.x, -0.9]);
  }

  /** Moves what the keyboard holds, seen from the camera; whether it holds anything. */
  carry(side: number, up: number): boolean {
    if (this.down?.id !== -1) return false;
    const right = new THREE.Vector3().setFromMatrixColumn(this.view.camera.matrixWorld, 0).setY(0).normalize();
    this.tip.addScaledVector(right, STEP * side).y += STEP * up;
    this.tip.y = Math.max(this.tip.y, 0.01);
    this.post({ t: "move", to: this.tip.toArray() });
    this.view.stale = true;
    return true;
  }

  /** Lets go of what is held, if anything is: a world begins anew. */
  letGo() {
    if (this.down?.held) this.post({ t: "release" });
    this.down = null;
    document.getElementById("cut-line")!.toggleAttribute("hidden", true);
    this.line.visible = false;
    this.view.stale = true;
    this.view.controls.enabled = true;
    this.view.canvas.classList.remove("holding");
  }

  /** Whether something is held: the picture changes with the hand. */
  holds(): boolean {
    return this.down?.held ?? false;
  }

  private aimAhead() {
    const at = this.view.ahead();
    this.aim(at.x, at.y);
  }

  /** Draws the band between hand and body. */
  draw() {
    if (!this.down?.held || !this.down.found) return;
    this.view.stale = true;
    const shown = this.view.bodies.get(this.down.found.number);
    const from = shown ? this.down.found.at.clone().applyMatrix4(shown.node.matrixWorld) : this.tip;
    const p = this.line.geometry.getAttribute("position") as THREE.BufferAttribute;
    p.setXYZ(0, from.x, from.y, from.z);
    p.setXYZ(1, this.tip.x, this.tip.y, this.tip.z);
    p.needsUpdate = true;
  }

  private press(e: PointerEvent) {
    // A pointer needs no focus ring; the next key brings it back.
    this.view.canvas.classList.add("pointed");
    if (e.button !== 0 || this.down) return;
    if (this.tool === "cut" && !this.rule) {
      this.down = { id: e.pointerId, x: e.clientX, y: e.clientY, shift: false, found: null, held: false, struck: false, timer: 0, cuts: true };
      this.view.controls.enabled = false;
      this.view.canvas.setPointerCapture(e.pointerId);
      return;
    }
    this.aimAt(e);
    const found = this.find();
    const down = { id: e.pointerId, x: e.clientX, y: e.clientY, shift: e.shiftKey, found, held: false, struck: false, timer: 0 };
    this.down = down;
    // A finger that stays strikes while it stays, not when it is lifted.
    if (e.pointerType === "touch" && found?.piece) down.timer = setTimeout(() => {
      if (this.down !== down || down.held) return;
      down.struck = true;
      this.hit(found);
      navigator.vibrate?.(15);
    }, HOLD);
    this.view.controls.enabled = !found?.piece;
    if (found?.piece) this.view.canvas.setPointerCapture(e.pointerId);
  }

  private move(e: PointerEvent) {
    const d = this.down;
    if (d?.cuts && d.id === e.pointerId) return this.drawCut(d, e);
    if (!d || d.id !== e.pointerId || !d.found?.piece) {
      if (!d && e.pointerType === "mouse") this.hover(e);
      return;
    }
    if (!d.held && !d.struck && Math.hypot(e.clientX - d.x, e.clientY - d.y) > STILL && !d.shift && (this.rule?.grab ?? true)) {
      clearTimeout(d.timer);
      d.held = true;
      this.view.canvas.classList.add("holding");
      this.across.setFromNormalAndCoplanarPoint(this.view.camera.getWorldDirection(new THREE.Vector3()), d.found.point);
      this.post({ t: "grab", piece: d.found.piece, at: d.found.at.toArray() });
      this.line.visible = true;
    }
    if (!d.held) return;
    this.aimAt(e);
    if (!this.ray.ray.intersectPlane(this.across, this.tip)) return;
    this.tip.y = Math.max(this.tip.y, 0.01);
    this.post({ t: "move", to: this.tip.toArray() });
    this.view.stale = true;
  }

  private lift(e: PointerEvent, cancelled = false) {
    const d = this.down;
    if (!d || d.id !== e.pointerId) return;
    this.down = null;
    clearTimeout(d.timer);
    this.line.visible = false;
    this.view.stale = true;
    this.view.controls.enabled = true;
    this.view.canvas.classList.remove("holding");
    if (d.cuts) {
      this.drawCut(null, e);
      if (!cancelled && Math.hypot(e.clientX - d.x, e.clientY - d.y) >= SHORTEST_CUT) this.cut(this.onScreen(d.x, d.y), this.onScreen(e.clientX, e.clientY));
      return;
    }
    if (d.held) return this.post({ t: "release" });
    if (cancelled || d.struck) return;
    // Whoever holds Shift over a piece means to hit it, also where the hand shakes.
    const struck = d.shift && d.found?.piece;
    if (!struck && Math.hypot(e.clientX - d.x, e.clientY - d.y) > STILL) return;
    this.aimAt(e);
    if (d.shift) this.hit(struck ? d.found : this.beside(e));
    else if (this.tool === "break" && !this.rule) this.shatter(d.found);
    else this.shoot(d.found ?? this.find());
  }

  private hover(e: PointerEvent) {
    // Looking for what is below the pointer costs; a few times a second is enough.
    if (performance.now() - this.hovered < 120) return;
    this.hovered = performance.now();
    this.aimAt(e);
    const free = this.tool === "throw" || this.rule;
    this.view.canvas.style.cursor = this.tool !== "cut" && this.find()?.piece ? (free ? "grab" : "cell") : "crosshair";
  }
  private hovered = 0;

  private shoot(found: Found | null) {
    if (this.rule && !this.rule.shoot) return;
    const ray = this.ray.ray;
    const size = this.view.size();
    const aim = found?.point ?? ray.at(2 * size, new THREE.Vector3());
    const far = aim.distanceTo(ray.origin);
    const start = ray.at(Math.max(0.25 * far, Math.min(far - 0.8 * size, 1.2 * size)), new THREE.Vector3());
    start.y = Math.max(start.y, 1.2 * BALL.radius * size);
    const speed = this.rule?.speed?.() ?? this.force * BALL.speed * Math.sqrt(Math.max(1, size));
    const way = aim.clone().sub(start);
    // Aimed a little high, for the fall on the way.
    const time = way.length() / speed;
    way.normalize().multiplyScalar(speed).y += 0.5 * 9.81 * time;
    this.post({ t: "shoot", path: [...start.toArray(), ...way.toArray()], radius: BALL.radius * size });
  }

  private hit(found: Found | null) {
    if (this.rule) return;
    if (!found?.piece) return tell("There is nothing to hit.");
    const at = [...found.at.toArray(), ...found.normal.toArray()];
    this.post({ t: "hit", piece: found.piece, at, speed: this.force * HAMMER.speed, radius: HAMMER.radius * this.view.size() });
  }

  /** Breaks a piece by the pattern, at the point that was found. */
  private shatter(found: Found | null) {
    if (!found?.piece || this.rule) return;
    const at = [...found.at.toArray(), ...found.normal.toArray()];
    const { name, pieces } = this.pattern;
    this.post({ t: "shatter", piece: found.piece, pattern: name, pieces, seed: this.broken, at });
    this.broken += 1;
  }

  /** Cuts along a line between two places on the screen, from -1 to 1. */
  private cut(from: [number, number], to: [number, number]) {
    if (this.rule) return;
    const ends = [from, to].flatMap(([x, y]) => {
      this.aim(x, y);
      return this.ray.ray.direction.toArray();
    });
    this.post({ t: "cut", sight: [...this.ray.ray.origin.toArray(), ...ends] });
  }

  /** Shows the line of a cut from where it began; `null`: none. */
  private drawCut(from: { x: number; y: number } | null, to: PointerEvent) {
    const svg = document.getElementById("cut-line")!;
    svg.toggleAttribute("hidden", !from);
    if (!from) return;
    const ends = { x1: from.x, y1: from.y, x2: to.clientX, y2: to.clientY };
    for (const [name, at] of Object.entries(ends)) svg.firstElementChild!.setAttribute(name, String(at));
  }

  private aimAt(e: PointerEvent) {
    this.aim(...this.onScreen(e.clientX, e.clientY));
  }

  /** A place of the window on the picture, from -1 to 1. */
  private onScreen(x: number, y: number): [number, number] {
    const box = this.view.canvas.getBoundingClientRect();
    return [((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2];
  }

  /** A piece a little beside the pointer, as near as there is one. */
  private beside(e: PointerEvent): Found | null {
    for (const far of BESIDE) {
      for (let k = 0; k < 8; k++) {
        const turn = (k * Math.PI) / 4;
        this.aim(...this.onScreen(e.clientX + far * Math.cos(turn), e.clientY + far * Math.sin(turn)));
        const found = this.find();
        if (found?.piece) return found;
      }
    }
    return null;
  }

  private aim(x: number, y: number) {
    this.ray.setFromCamera(new THREE.Vector2(x, y), this.view.camera);
  }

  private find(): Found | null {
    const meshes = [...this.view.bodies.values()].flatMap((s) => (s.mesh ? [s.mesh] : []));
    const hit = this.ray.intersectObjects(meshes, false)[0];
    const floor = new THREE.Vector3();
    if (!hit || !hit.face) {
      const ground = this.ray.ray.intersectPlane(new THREE.Plane(new THREE.Vector3(0, 1, 0), 0), floor);
      return ground ? { number: -1, piece: null, at: floor, normal: new THREE.Vector3(0, 1, 0), point: floor } : null;
    }
    const number = hit.object.userData.number as number;
    const body = this.view.bodies.get(number)?.born.body;
    const piece: [number, number] | null = body?.kind === "piece" ? [body.object, body.fragment] : null;
    const at = hit.object.worldToLocal(hit.point.clone());
    return { number, piece, at, normal: hit.face.normal.clone(), point: hit.point };
  }
}
