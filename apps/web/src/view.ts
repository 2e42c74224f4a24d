// The scene as it is drawn: light, ground, bodies, and poses in between two frames.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { RoomEnvironment } from "three/addons/environments/RoomEnvironment.js";
import { Dust } from "./dust";
import { hasGraphicsCard } from "./graphics";
import { isClear, looks } from "./materials";
import { OwnLooks } from "./own_looks";
import type { Born, Frame, Info } from "./protocol";

/** A body on the screen. */
export interface Shown {
  number: number;
  born: Born;
  node: THREE.Object3D;
  mesh: THREE.Mesh | null;
  /** Middle of its box, in its own frame. */
  middle: THREE.Vector3;
  from: Pose;
  to: Pose;
  object: number;
}

interface Pose {
  place: THREE.Vector3;
  turn: THREE.Quaternion;
}

/** The share of a narrow picture's width that the stage takes. */
const WIDE = 0.86;
/** The share of a picture's height that nothing covers, and of what nothing covers that things
 * fill at first. */
const TALL = 0.8;
const FULL = 0.86;
/** The camera is at least at this share of the way from which the whole stage is seen. */
const NEAREST = 0.5;
/** Pieces farther away than so many sizes of the stage are not looked at any more. */
const FAR = 2.5;
/** It follows what flies until it is so many times as far away as at first. */
const FOLLOWS = 2.6;
/** It comes nearer where that leaves at most this share of the way. */
const WORTH = 0.9;
/** Milliseconds that the camera takes from a close look to the whole stage, and back. */
const WAY = 600;

const THEMES = {
  dark: { sky: 0x14161b, ground: 0x23262e, line: 0x343a46, light: 2.4, room: 0.55 },
  light: { sky: 0xeef0f3, ground: 0xdfe2e7, line: 0xc3c8d1, light: 2.9, room: 0.75 },
};
export type Theme = keyof typeof THEMES;

export class View {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(38, 1, 0.01, 60);
  readonly renderer: THREE.WebGLRenderer;
  readonly controls: OrbitControls;
  readonly bodies = new Map<number, Shown>();
  /** Bodies go in here; overlays hang on a body's node. */
  readonly world = new THREE.Group();
  /** Pictures drawn so far: nothing is drawn twice. */
  drawn = 0;
  /** Told when something is to be drawn. */
  onChange = () => {};
  explode = 0;
  ghost = false;
  info: Info | null = null;
  /** Materials of the visitor's own model. */
  own: OwnLooks | null = null;
  /** Where something large broke. */
  readonly dust: Dust;
  private readonly sun = new THREE.DirectionalLight(0xfff3e2, 2.4);
  private readonly ground: THREE.Mesh<THREE.CircleGeometry, THREE.ShaderMaterial>;
  private readonly shadows: THREE.Mesh<THREE.CircleGeometry, THREE.ShadowMaterial>;
  private readonly outer = new Map<string, THREE.MeshPhysicalMaterial>();
  private readonly inner = new Map<string, THREE.MeshPhysicalMaterial>();
  private readonly steel = new THREE.MeshStandardMaterial({ color: 0xb9c0c8, metalness: 1, roughness: 0.22 });
  private readonly wood = new THREE.MeshStandardMaterial({ color: 0x9a7350, roughness: 0.75 });
  private centres = new Map<number, THREE.Vector3>();
  private arrived = 0;
  private gap = 33;
  private ratio = Math.min(window.devicePixelRatio, 2);
  /** Milliseconds from one picture to the next, at least, and when the last was. */
  private least = 0;
  private last = -Infinity;
  /** Milliseconds that the processor took for the last picture, where it draws; infinite as
   * long as it is at it. */
  private took = 0;
  private slow = 0;
  private moving = 0;
  /** Bodies moved, and no picture shows yet where they came to. */
  private behind = false;
  private changed = true;
  /** Whether the visitor chose where to look from: then the camera stays there. */
  private chosen = false;
  private away = 0;
  /** No body of this world has come yet. */
  private unseen = false;
  /** The next frame's pieces are to be looked at, wherever they are. */
  private closely = false;
  /** The camera's way to another place: where it and its target were, and go. */
  private way: { from: THREE.Vector3[]; to: THREE.Vector3[]; since: number } | null = null;

  /** Whether something changed since the last picture. */
  get stale() {
    return this.changed;
  }
  set stale(on: boolean) {
    this.changed = on;
    if (on) this.onChange();
  }

  constructor(readonly canvas: HTMLCanvasElement) {
    const card = hasGraphicsCard();
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: card, powerPreference: "high-performance" });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = card ? THREE.PCFSoftShadowMap : THREE.BasicShadowMap;
    this.least = card ? 0 : 120;
    this.dust = new Dust(() => this.size(), card);
    this.scene.add(this.dust.points);
    if (!card) this.ratio = Math.min(this.ratio, 1);
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.renderer.toneMappingExposure = 1.05;
    this.renderer.localClippingEnabled = true;
    if (card) {
      const room = new THREE.PMREMGenerator(this.renderer);
      this.scene.environment = room.fromScene(new RoomEnvironment(), 0.03).texture;
      room.dispose();
    } else {
      this.scene.add(new THREE.HemisphereLight(0xffffff, 0x8a8278, 1.6));
    }
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.setScalar(card ? 2048 : 1024);
    this.sun.shadow.radius = 5;
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.004;
    this.scene.add(this.sun, this.sun.target, this.world);
    this.ground = new THREE.Mesh(new THREE.CircleGeometry(30, 64), groundMaterial());
    this.ground.rotation.x = -Math.PI / 2;
    this.ground.renderOrder = -2;
    this.shadows = new THREE.Mesh(new THREE.CircleGeometry(30, 64), new THREE.ShadowMaterial({ opacity: 0.5 }));
    this.shadows.rotation.x = -Math.PI / 2;
    this.shadows.position.y = 0.0004;
    this.shadows.receiveShadow = true;
    this.scene.add(this.ground, this.shadows);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxPolarAngle = Math.PI / 2 - 0.03;
    this.controls.enablePan = false;
    this.controls.addEventListener("change", () => (this.stale = true));
    this.controls.addEventListener("start", () => (this.chosen = true));
    this.resize();
  }

  theme(name: Theme) {
    this.stale = true;
    const t = THEMES[name];
    this.scene.background = new THREE.Color(t.sky);
    this.scene.environmentIntensity = t.room;
    this.sun.intensity = t.light;
    const u = this.ground.material.uniforms;
    (u.sky.value as THREE.Color).set(t.sky);
    (u.ground.value as THREE.Color).set(t.ground);
    (u.line.value as THREE.Color).set(t.line);
    this.shadows.material.opacity = name === "dark" ? 0.55 : 0.3;
  }

  /** A new world: an empty stage, the camera on its box. */
  open(info: Info, own: OwnLooks | null = null) {
    this.info = info;
    this.own?.dispose();
    this.own = own;
    if (own) own.onLoad = () => (this.stale = true);
    this.stale = true;
    for (const number of [...this.bodies.keys()]) this.remove(number);
    this.centres.clear();
    this.dust.clear();
    const low = new THREE.Vector3(...info.low);
    const high = new THREE.Vector3(...info.high);
    const middle = low.clone().add(high).multiplyScalar(0.5);
    const size = high.distanceTo(low);
    this.controls.maxDistance = Infinity; // the last world's may be too near for this one
    this.way = null;
    this.closely = false;
    this.controls.target.copy(this.target());
    this.frame(size);
    this.chosen = false;
    this.unseen = true;
    this.controls.minDistance = 0.25 * size;
    this.controls.maxDistance = 6 * size;
    this.sun.position.copy(middle).add(new THREE.Vector3(0.55, 1.5, 0.75).multiplyScalar(size));
    this.sun.target.position.copy(middle);
    const box = this.sun.shadow.camera;
    [box.left, box.right, box.bottom, box.top] = [-1.3 * size, 1.3 * size, -1.3 * size, 1.3 * size];
    [box.near, box.far] = [0.1 * size, 4 * size];
    box.updateProjectionMatrix();
    const u = this.ground.material.uniforms;
    u.middle.value.set(middle.x, middle.z);
    u.reach.value = 3.2 * size;
    u.cell.value = size > 3 ? 1 : size > 0.6 ? 0.1 : 0.05;
  }

  /** Looks at what is on the stage, as at the beginning; `whole`: at all of the stage, also where
   * there is nothing yet. */
  frameAll(whole = false) {
    this.way = null;
    this.controls.target.copy(this.target());
    this.frame(this.size(), true, whole ? 1 : NEAREST);
    this.chosen = false;
    this.stale = true;
  }

  /** Looks at the pieces that the next frame brings, which are not on the stage yet. */
  lookClosely() {
    this.closely = true;
  }

  /** From a close look back to the whole stage, as fast as a thing falls. */
  stepBack() {
    this.closely = false;
    this.goWhere(() => this.frameAll());
  }

  /** All has come to rest: where following what flew has left the camera farther away than need
   * be, it comes nearer again. */
  comeNearer() {
    if (this.chosen || this.explode > 0 || this.way || this.unseen) return;
    const long = () => this.camera.position.distanceTo(this.controls.target);
    const before = long();
    this.goWhere(() => {
      const from = this.camera.position.clone();
      this.frame(this.size(), true, NEAREST, FAR * this.size(), FOLLOWS * this.away);
      if (long() > WORTH * before) this.camera.position.copy(from);
    });
  }

  /** Walks the camera to where it is put, if the visitor does not mind motion. */
  private goWhere(put: () => void) {
    const from = [this.camera.position.clone(), this.controls.target.clone()];
    put();
    this.stale = true;
    const to = [this.camera.position.clone(), this.controls.target.clone()];
    if (from.every((f, i) => f.equals(to[i])) || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.way = { from, to, since: performance.now() };
    this.walk(performance.now());
  }

  /** Goes on along the camera's way; whoever looks elsewhere ends it. */
  private walk(now: number) {
    if (!this.way || this.chosen) return void (this.way = null);
    const part = Math.min(1, (now - this.way.since) / WAY);
    const smooth = part * part * (3 - 2 * part);
    this.camera.position.lerpVectors(this.way.from[0], this.way.to[0], smooth);
    this.controls.target.lerpVectors(this.way.from[1], this.way.to[1], smooth);
    this.controls.update();
    if (part === 1) this.way = null;
    this.stale = true;
  }

  /** What the camera looks at on the stage. */
  private target(): THREE.Vector3 {
    const [low, high] = [new THREE.Vector3(...this.info!.low), new THREE.Vector3(...this.info!.high)];
    const middle = low.clone().add(high).multiplyScalar(0.5);
    return middle.setY(low.y + 0.34 * (high.y - low.y) + 0.06 * high.distanceTo(low));
  }

  /** Steps back until what stands on the stage now fills the picture, with the floor below it.
   * (What flies away later is followed.) What is farther than `far` from it is left out. `most`:
   * how far the camera may go, where that is not as far as from where the whole stage is seen. */
  private frame(size: number, floor = true, least = NEAREST, far = Infinity, most?: number) {
    const tall = Math.tan((this.camera.fov * Math.PI) / 360);
    const from = new THREE.Vector3(0.5, 0.42, 1).normalize();
    const right = new THREE.Vector3(0, 1, 0).cross(from).normalize();
    const up = from.clone().cross(right);
    const high = (0.56 * size) / tall;
    let away = least * high;
    const box = this.boxOfBodies(far, true);
    if (floor) box?.expandByPoint(box.getCenter(new THREE.Vector3()).setY(this.info!.low[1]));
    const wide = this.wide() * tall * this.camera.aspect;
    const p = new THREE.Vector3();
    for (let i = 0; box && i < 8; i++) {
      p.set(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z).sub(this.controls.target);
      away = Math.max(away, p.dot(from) + Math.max(Math.abs(p.dot(right)) / wide, Math.abs(p.dot(up)) / (FULL * TALL * tall)));
    }
    const farthest = most ?? high / Math.max(0.55, Math.min(1, this.camera.aspect));
    away = box ? Math.min(away, farthest) : farthest;
    this.camera.position.copy(this.controls.target).addScaledVector(from, away);
    if (most === undefined) this.away = Math.max(away, high);
    this.camera.near = size / 100;
    this.camera.far = 60 * size;
    this.camera.updateProjectionMatrix();
    this.controls.update();
  }

  /** The share of the picture's width that things may fill: what panel and card leave. */
  private wide(): number {
    const w = this.canvas.clientWidth;
    if (w < 760) return WIDE;
    const open = !document.body.classList.contains("folded");
    const card = document.body.matches(".game, .touring");
    return FULL * (1 - ((open ? 320 : 0) + (card ? 340 : 0)) / w);
  }

  resize() {
    this.stale = true;
    const { clientWidth: w, clientHeight: h } = this.canvas.parentElement!;
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.setSize(w, h, false);
    this.camera.aspect = w / Math.max(1, h);
    this.dust.points.material.uniforms.tall.value = h * this.ratio;
    // Leave room for the panel where it lies over the picture.
    const open = !document.body.classList.contains("folded");
    const narrow = w < 760;
    // The card of a game or of the tour lies on the left, on a narrow screen above.
    const card = document.body.matches(".game, .touring");
    const aside = narrow ? 0 : (open ? 160 : 0) - (card ? 170 : 0);
    const up = !narrow ? 0 : open ? 0.24 * h : card ? -0.12 * h : 0;
    this.camera.setViewOffset(w, h, aside, up, w, h);
    // The cross stands where the camera looks, and the keyboard aims.
    const cross = document.getElementById("cross");
    cross?.style.setProperty("left", `${0.5 * w - aside}px`);
    cross?.style.setProperty("top", `${0.5 * h - up}px`);
    this.camera.updateProjectionMatrix();
  }

  /** Takes over what a frame says. */
  take(frame: Frame, now: number) {
    for (const number of frame.gone) this.remove(number);
    for (const b of frame.born) if (!this.deform(b)) this.add(b);
    this.stale ||= frame.gone.length + frame.born.length > 0;
    this.gap = Math.min(Math.max(now - this.arrived, 4), 80);
    this.arrived = now;
    const p = frame.poses;
    for (let i = 0; i + 7 < p.length; i += 8) {
      const shown = this.bodies.get(p[i]);
      if (!shown) continue;
      // Start from where it is drawn now, so that nothing jumps back.
      const fresh = shown.from.turn.lengthSq() === 0;
      if (!fresh) {
        shown.from.place.copy(shown.to.place);
        shown.from.turn.copy(shown.to.turn);
      }
      const moved = Math.abs(shown.to.place.x - p[i + 1]) + Math.abs(shown.to.place.y - p[i + 2]) + Math.abs(shown.to.place.z - p[i + 3])
        + Math.abs(shown.to.turn.x - p[i + 4]) + Math.abs(shown.to.turn.y - p[i + 5]) + Math.abs(shown.to.turn.z - p[i + 6]);
      if (fresh || moved > 1e-6) {
        this.moving = now;
        this.behind = true;
        this.onChange();
      }
      shown.to.place.set(p[i + 1], p[i + 2], p[i + 3]);
      shown.to.turn.set(p[i + 4], p[i + 5], p[i + 6], p[i + 7]);
      if (fresh) {
        shown.from.place.copy(shown.to.place);
        shown.from.turn.copy(shown.to.turn);
      }
    }
    const box = this.closely ? this.boxOfBodies(Infinity) : null;
    if (box) {
      this.closely = false;
      box.getCenter(this.controls.target);
      this.frame(box.min.distanceTo(box.max), false);
    } else if (this.unseen && !this.closely && !this.chosen) this.frame(this.size());
    this.unseen = false;
  }

  /** Turns the camera by a step to the side and up: for the keyboard. */
  turn(side: number, up: number) {
    this.chosen = true;
    const from = this.camera.position.clone().sub(this.controls.target);
    const at = new THREE.Spherical().setFromVector3(from);
    at.theta += 0.12 * side;
    at.phi = THREE.MathUtils.clamp(at.phi - 0.1 * up, 0.05, this.controls.maxPolarAngle);
    this.camera.position.setFromSpherical(at).add(this.controls.target);
    this.camera.lookAt(this.controls.target);
    this.stale = true;
  }

  /** Goes nearer (below zero) or away: for the keyboard. */
  near(by: number) {
    this.chosen = true;
    const from = this.camera.position.clone().sub(this.controls.target);
    const long = THREE.MathUtils.clamp(from.length() * 1.12 ** by, this.controls.minDistance, this.controls.maxDistance);
    this.camera.position.copy(this.controls.target).add(from.setLength(long));
    this.stale = true;
  }

  /** Where on the canvas the camera looks, from -1 to 1: its middle, less what the panel covers. */
  ahead(): THREE.Vector2 {
    const at = this.controls.target.clone().project(this.camera);
    return new THREE.Vector2(at.x, at.y);
  }

  /** The box of all pieces as they are now, less what flew far away. */
  reach(): THREE.Box3 | null {
    if (!this.info) return null;
    return this.boxOfBodies(FAR * this.size()) ?? new THREE.Box3(new THREE.Vector3(...this.info.low), new THREE.Vector3(...this.info.high));
  }

  /** The box of the pieces that are not farther from the stage than that, and of what else
   * stands there, unless it is a floor. */
  private boxOfBodies(far: number, others = false): THREE.Box3 | null {
    if (!this.info) return null;
    const all = new THREE.Box3();
    const middle = new THREE.Vector3(...this.info.low).add(new THREE.Vector3(...this.info.high)).multiplyScalar(0.5);
    const [turned, place] = [new THREE.Matrix4(), new THREE.Vector3(1, 1, 1)];
    for (const s of this.bodies.values()) {
      const { kind } = s.born.body;
      const geometry = kind === "piece" || (others && kind === "box") ? s.mesh?.geometry : null;
      if (geometry && !geometry.boundingBox) geometry.computeBoundingBox();
      const box = geometry?.boundingBox;
      if (!box || box.min.distanceTo(box.max) > 2 * this.size() || s.to.turn.lengthSq() === 0) continue;
      turned.compose(s.to.place, s.to.turn, place);
      const now = box.clone().applyMatrix4(turned);
      if (now.distanceToPoint(middle) < far) all.union(now);
    }
    return all.isEmpty() ? null : all;
  }

  /** Steps back slowly while pieces lie outside the picture or under the panel, unless the
   * visitor looks from a place of their own. By the clock: few pictures a second must not
   * leave pieces out of sight for longer. */
  private keepInView(elapsed: number) {
    if (this.chosen || this.explode > 0 || this.way) return;
    const box = this.reach();
    const long = this.camera.position.distanceTo(this.controls.target);
    // Not beyond what the controls allow: they would bring it back, and so on for ever.
    const farthest = Math.min(FOLLOWS * this.away, this.controls.maxDistance);
    if (!box || long > 0.999 * farthest) return;
    const { right, top, left, bottom } = this.free();
    const p = new THREE.Vector3();
    for (let i = 0; i < 8; i++) {
      p.set(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : Math.max(0, box.min.y), i & 4 ? box.max.z : box.min.z).project(this.camera);
      if (p.x > right || p.x < left || p.y > top || p.y < bottom) {
        const from = this.camera.position.clone().sub(this.controls.target);
        const farther = Math.min(long * 1.4 ** (Math.min(elapsed, 200) / 1000), farthest);
        this.camera.position.copy(this.controls.target).add(from.setLength(farther));
        this.stale = true;
        return;
      }
    }
  }

  /** The part of the canvas that nothing covers, from -1 to 1. */
  private free() {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const open = !document.body.classList.contains("folded");
    const bar = 80 / h;
    if (!open) return { left: -0.97, right: 0.97, top: 0.97 - bar, bottom: -0.97 + 2 * bar };
    if (w < 760) return { left: -0.97, right: 0.97, top: 0.97 - bar, bottom: -1 + 2 * (0.48 + bar) };
    return { left: -0.97, right: 0.97 - (2 * 320) / w, top: 0.97 - bar, bottom: -0.97 + 2 * bar };
  }

  /** Whether the next picture differs from the last. */
  isMoving(): boolean {
    return this.stale || this.behind;
  }

  /** Whether the world moved a short while ago, and is likely to want the processor. */
  private worldMoves(now: number): boolean {
    return now - this.moving <= 2 * this.gap + this.least;
  }

  /** Whether it is too soon for the next picture: where the processor draws, half of the time
   * is for the world, if that moves. */
  private isTooSoon(now: number): boolean {
    const share = this.worldMoves(now) ? 2 : 1;
    return now - this.last < Math.max(this.least, share * this.took);
  }

  draw(now: number) {
    this.controls.update();
    if (!this.isMoving() || this.isTooSoon(now)) return;
    this.changed = false;
    const elapsed = now - this.last;
    this.last = now;
    this.drawn += 1;
    this.walk(now);
    this.keepInView(elapsed);
    const part = Math.min(1, (now - this.arrived) / this.gap);
    this.behind &&= part < 1;
    if (this.explode > 0) this.findCentres();
    for (const s of this.bodies.values()) {
      s.node.position.lerpVectors(s.from.place, s.to.place, part);
      s.node.quaternion.slerpQuaternions(s.from.turn, s.to.turn, part);
      if (this.explode > 0 && s.born.body.kind === "piece") {
        const middle = s.middle.clone().applyQuaternion(s.node.quaternion).add(s.node.position);
        const centre = this.centres.get(s.object);
        if (centre) s.node.position.addScaledVector(middle.sub(centre), 1.6 * this.explode);
        s.node.position.y += 0.25 * this.explode * this.size();
      }
    }
    // As long as dust is in the air, there is another picture to draw.
    if (this.dust.step(now)) this.stale = true;
    this.renderer.render(this.scene, this.camera);
    if (this.least > 0) this.timePicture(now);
  }

  /** Waits until the picture is there, to know what it took. */
  private timePicture(since: number) {
    const gl = this.renderer.getContext() as WebGL2RenderingContext;
    const done = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!done) return;
    gl.flush();
    this.took = Infinity;
    const look = () => {
      if (!gl.isContextLost() && gl.getSyncParameter(done, gl.SYNC_STATUS) !== gl.SIGNALED) {
        setTimeout(look, 10);
        return;
      }
      this.took = Math.min(performance.now() - since, 1000);
      gl.deleteSync(done);
      this.onChange();
    };
    setTimeout(look, 10);
  }

  /** Where on the canvas a place of the world is, from -1 (left) to 1. */
  side(at: [number, number, number]): number {
    return new THREE.Vector3(...at).project(this.camera).x;
  }

  /** The picture of now as a file, with nothing that covers it in mind. */
  picture(): Promise<Blob | null> {
    this.camera.clearViewOffset();
    this.renderer.render(this.scene, this.camera);
    const file = new Promise<Blob | null>((done) => this.canvas.toBlob(done, "image/png"));
    this.resize(); // makes room for the panel again
    return file;
  }

  /** Fewer pixels where the graphics are slow: called with the time of each frame. */
  adapt(milliseconds: number) {
    this.slow = milliseconds > 40 ? this.slow + 1 : Math.max(0, this.slow - 1);
    if (this.slow < 40 || this.ratio <= 0.75) return;
    this.slow = 0;
    this.ratio = Math.max(0.75, this.ratio * 0.8);
    this.resize();
  }

  size(): number {
    if (!this.info) return 1;
    return new THREE.Vector3(...this.info.high).distanceTo(new THREE.Vector3(...this.info.low));
  }

  /** Whole bodies look solid, or pale when their insides are shown. */
  setGhost(on: boolean) {
    this.ghost = on;
    this.stale = true;
    for (const m of [...this.outer.values(), ...this.inner.values(), ...(this.own?.all() ?? [])]) ghostly(m, on);
  }

  private findCentres() {
    const sums = new Map<number, [THREE.Vector3, number]>();
    for (const s of this.bodies.values()) {
      if (s.born.body.kind !== "piece") continue;
      const at = s.middle.clone().applyQuaternion(s.to.turn).add(s.to.place);
      const sum = sums.get(s.object) ?? [new THREE.Vector3(), 0];
      sums.set(s.object, [sum[0].add(at), sum[1] + 1]);
    }
    this.centres = new Map([...sums].map(([o, [sum, n]]) => [o, sum.divideScalar(n)]));
  }

  /** Gives a body that is shown already other triangles; whether that could be. */
  private deform(b: Born): boolean {
    const shown = this.bodies.get(b.number);
    if (!shown) return false;
    const geometry = shown.mesh?.geometry;
    if (!geometry || !b.positions || !b.normals || geometry.attributes.position.array.length !== b.positions.length) {
      this.remove(b.number); // it tore: more vertices than before
      return false;
    }
    for (const [name, data] of [["position", b.positions], ["normal", b.normals]] as const) {
      const attribute = geometry.getAttribute(name) as THREE.BufferAttribute;
      attribute.copyArray(data);
      attribute.needsUpdate = true;
    }
    geometry.computeBoundingBox();
    geometry.computeBoundingSphere();
    geometry.boundingBox!.getCenter(shown.middle);
    shown.born = b;
    return true;
  }

  private add(b: Born) {
    const node = new THREE.Object3D();
    let mesh: THREE.Mesh | null = null;
    const middle = new THREE.Vector3();
    if (b.body.kind === "piece" && b.positions && b.normals) {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(b.positions, 3));
      geometry.setAttribute("normal", new THREE.BufferAttribute(b.normals, 3));
      const outer = 3 * (b.outerTriangles ?? 0);
      let paint: THREE.Material[] = this.paint(b.body.colour, b.body.material, b.body.dyed);
      // A model of the visitor's own is inside what it is outside, unless they chose otherwise.
      if (this.own && !b.body.chosen) paint = [this.own.crack(b.groups), this.own.crack(b.groups)];
      // Glass has no texture: what one sees is what is behind it.
      if (this.own && b.uvs && b.groups && !isClear(b.body.material)) {
        geometry.setAttribute("uv", new THREE.BufferAttribute(b.uvs, 2));
        paint = [...this.own.fill(geometry, b.groups), paint[1]];
      } else {
        geometry.addGroup(0, outer, 0);
      }
      geometry.addGroup(outer, b.positions.length / 3 - outer, paint.length - 1);
      geometry.computeBoundingBox();
      geometry.boundingBox!.getCenter(middle);
      mesh = new THREE.Mesh(geometry, paint);
    } else if (b.body.kind === "ball") {
      mesh = new THREE.Mesh(new THREE.SphereGeometry(b.body.radius, 40, 24), this.plain(b.body.colour, this.steel));
    } else if (b.body.kind === "box") {
      const [x, y, z] = b.body.half;
      mesh = new THREE.Mesh(new THREE.BoxGeometry(2 * x, 2 * y, 2 * z), this.plain(b.body.colour, this.wood));
    }
    if (mesh) {
      // Clear things throw no dark shadow, and nothing dark lies on them.
      const clear = [mesh.material].flat().every((m) => (m.userData.opacity ?? 1) < 1);
      mesh.castShadow = mesh.receiveShadow = !clear;
      mesh.userData.number = b.number;
      node.add(mesh);
    }
    const pose = () => ({ place: new THREE.Vector3(), turn: new THREE.Quaternion(0, 0, 0, 0) });
    const object = b.body.kind === "piece" ? b.body.object : -1;
    this.world.add(node);
    this.bodies.set(b.number, { number: b.number, born: b, node, mesh, middle, from: pose(), to: pose(), object });
  }

  private remove(number: number) {
    const shown = this.bodies.get(number);
    if (!shown) return;
    this.world.remove(shown.node);
    shown.node.traverse((o) => {
      if (o instanceof THREE.Mesh || o instanceof THREE.LineSegments) o.geometry.dispose();
    });
    this.bodies.delete(number);
  }

  private plain(colour: [number, number, number] | undefined, other: THREE.Material): THREE.Material {
    return colour ? this.paint(colour)[0] : other;
  }

  /** As its material looks outside, and where it broke. */
  private paint(colour: [number, number, number], material?: string | null, dyed = true): [THREE.Material, THREE.Material] {
    const key = `${colour.join()} ${material} ${dyed}`;
    let outer = this.outer.get(key);
    let inner = this.inner.get(key);
    if (!outer || !inner) {
      [outer, inner] = looks(colour, material, dyed);
      ghostly(outer, this.ghost);
      ghostly(inner, this.ghost);
      this.outer.set(key, outer);
      this.inner.set(key, inner);
    }
    return [outer, inner];
  }
}

function ghostly(material: THREE.Material, on: boolean) {
  const own = material.userData as { opacity?: number };
  const clear = (own.opacity ?? 1) < 1;
  material.transparent = on || clear;
  material.opacity = on ? 0.22 : (own.opacity ?? 1);
  material.depthWrite = !on && !clear;
  material.needsUpdate = true;
}

/** A floor that fades into the sky, with fine lines for scale. */
function groundMaterial() {
  return new THREE.ShaderMaterial({
    uniforms: {
      sky: { value: new THREE.Color() }, ground: { value: new THREE.Color() }, line: { value: new THREE.Color() },
      middle: { value: new THREE.Vector2() }, reach: { value: 3 }, cell: { value: 0.1 },
    },
    vertexShader: `
      varying vec3 at;
      void main() {
        at = (modelMatrix * vec4(position, 1.0)).xyz;
        gl_Position = projectionMatrix * viewMatrix * vec4(at, 1.0);
      }`,
    fragmentShader: `
      uniform vec3 sky, ground, line;
      uniform vec2 middle;
      uniform float reach, cell;
      varying vec3 at;
      float grid(float size, float wide) {
        vec2 p = at.xz / size;
        vec2 w = fwidth(p);
        vec2 d = abs(fract(p - 0.5) - 0.5) / max(w, vec2(1e-6));
        float far = max(w.x, w.y);
        return (1.0 - clamp(min(d.x, d.y) / wide, 0.0, 1.0)) * (1.0 - smoothstep(0.08, 0.35, far));
      }
      void main() {
        float away = length(at.xz - middle) / reach;
        float fade = 1.0 - smoothstep(0.15, 1.0, away);
        vec3 lit = mix(ground, ground * 1.16, exp(-4.0 * away * away));
        vec3 c = mix(lit, line, 0.35 * grid(cell, 1.2) + 0.5 * grid(cell * 5.0, 1.4));
        gl_FragColor = vec4(mix(sky, c, fade), 1.0);
        #include <colorspace_fragment>
      }`,
  });
}
