// A brief puff of dust where something large breaks. Drawn only where a graphics card draws
// and nobody asked for less motion; when it has settled, nothing is drawn for it.

import * as THREE from "three";
import type { Impact } from "./impacts";
import { dustOf } from "./materials";

const MOST = 360;
/** Cracks smaller than this raise none (m²). */
const LEAST_AREA = 0.002;

export class Dust {
  readonly points: THREE.Points<THREE.BufferGeometry, THREE.ShaderMaterial>;
  private readonly calm = matchMedia("(prefers-reduced-motion: reduce)");
  private readonly speed = new Float32Array(3 * MOST);
  /** Seconds that each has lived, and will live at most. */
  private readonly age = new Float32Array(MOST).fill(1);
  private readonly life = new Float32Array(MOST).fill(1);
  private readonly first = new Float32Array(MOST);
  private next = 0;
  private last = 0;

  /** `size`: of the scene; `card`: whether a graphics card draws. */
  constructor(private readonly size: () => number, public card: boolean) {
    const geometry = new THREE.BufferGeometry();
    for (const [name, each] of [["position", 3], ["color", 3], ["form", 2]] as const)
      geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(each * MOST), each).setUsage(THREE.DynamicDrawUsage));
    this.points = new THREE.Points(geometry, puffs());
    this.points.frustumCulled = false;
    this.points.visible = false;
    this.points.renderOrder = 6;
  }

  /** Grains in the air. */
  get alive(): number {
    return this.age.reduce((n, age, i) => n + (age < this.life[i] ? 1 : 0), 0);
  }

  /** Raises dust where something broke. */
  puff(impact: Impact) {
    if (!impact.broke || impact.area < LEAST_AREA || !this.card || this.calm.matches) return;
    const { colour, much } = dustOf(impact.material);
    const size = this.size();
    const many = Math.round(Math.min(48, 8 + 1500 * impact.area) * much);
    // As wide as what broke: its cracks are about as large.
    const wide = Math.min(0.2 * size, Math.sqrt(impact.area));
    // Of a large scene a small part broke: its dust is not as large as the scene.
    const reach = Math.min(size, 6 * wide);
    const [place, paint] = [this.attribute("position"), this.attribute("color")];
    const random = () => Math.random() * 2 - 1;
    for (let n = 0; n < many; n++) {
      const i = this.next;
      this.next = (i + 1) % MOST;
      const out = new THREE.Vector3(random(), 0.6 * random(), random());
      this.first[i] = reach * (0.02 + 0.035 * Math.random());
      // Above the floor, which would cut it off.
      place.setXYZ(i, impact.at[0] + wide * 0.7 * out.x, Math.max(this.first[i], impact.at[1] + wide * 0.5 * out.y), impact.at[2] + wide * 0.7 * out.z);
      out.multiplyScalar(0.4 * reach * Math.random()).y += 0.12 * reach;
      this.speed.set(out.toArray(), 3 * i);
      this.age[i] = 0;
      this.life[i] = 0.5 + 0.8 * Math.random();
      const shade = 0.85 + 0.15 * Math.random();
      paint.setXYZ(i, colour.r * shade, colour.g * shade, colour.b * shade);
    }
    paint.needsUpdate = true;
    if (!this.points.visible) this.last = performance.now();
    this.points.visible = true;
  }

  /** Moves it on; whether any is left. */
  step(now: number): boolean {
    if (!this.points.visible) return false;
    const dt = Math.min(0.1, Math.max(0, (now - this.last) / 1000));
    this.last = now;
    const [place, form] = [this.attribute("position"), this.attribute("form")];
    const slow = Math.exp(-3.2 * dt);
    let alive = false;
    for (let i = 0; i < MOST; i++) {
      const share = (this.age[i] += dt) / this.life[i];
      if (share >= 1) {
        form.setXY(i, 0, 0);
        continue;
      }
      alive = true;
      for (let k = 0; k < 3; k++) this.speed[3 * i + k] *= slow;
      place.setXYZ(i, place.getX(i) + dt * this.speed[3 * i], Math.max(0.7 * this.first[i] * (1 + 2.2 * share), place.getY(i) + dt * this.speed[3 * i + 1]), place.getZ(i) + dt * this.speed[3 * i + 2]);
      form.setXY(i, this.first[i] * (1 + 2.2 * share), 0.13 * Math.min(1, 8 * share) * (1 - share) ** 1.5);
    }
    place.needsUpdate = form.needsUpdate = true;
    this.points.visible = alive;
    return alive;
  }

  /** Another world: none is left. */
  clear() {
    this.age.fill(2);
    this.life.fill(1);
    this.points.visible = false;
  }

  private attribute(name: string) {
    return this.points.geometry.getAttribute(name) as THREE.BufferAttribute;
  }
}

/** Soft round spots that face the camera. */
function puffs() {
  return new THREE.ShaderMaterial({
    transparent: true,
    depthWrite: false,
    vertexColors: true,
    uniforms: { tall: { value: 1 } },
    vertexShader: `
      attribute vec2 form;
      uniform float tall;
      varying vec3 paint;
      varying float thick;
      void main() {
        paint = color;
        thick = form.y;
        vec4 at = modelViewMatrix * vec4(position, 1.0);
        gl_Position = projectionMatrix * at;
        gl_PointSize = form.x * tall * projectionMatrix[1][1] / max(0.01, -at.z);
      }`,
    fragmentShader: `
      varying vec3 paint;
      varying float thick;
      void main() {
        float away = length(gl_PointCoord - 0.5) * 2.0;
        gl_FragColor = vec4(paint, thick * smoothstep(1.0, 0.1, away));
        #include <colorspace_fragment>
      }`,
  });
}
