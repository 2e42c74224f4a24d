// What the library works with, drawn over the bodies: contacts, sphere trees, distance
// field, tetrahedra, voxels.

import * as THREE from "three";
import type { Overlay } from "./protocol";
import type { View } from "./view";

/** Colours of depth, from touching (pale) to deep (red). */
const DEPTHS = [0x7fd1ff, 0x9be36b, 0xffd447, 0xff8a3c, 0xff3b30].map((c) => new THREE.Color(c));
/** Depth at which the last colour is reached, in metres. */
const DEEP = 0.004;
const MOST_CONTACTS = 4000;

export function depthColour(depth: number, into: THREE.Color): THREE.Color {
  const x = THREE.MathUtils.clamp(depth / DEEP, 0, 1) * (DEPTHS.length - 1);
  const i = Math.min(Math.floor(x), DEPTHS.length - 2);
  return into.lerpColors(DEPTHS[i], DEPTHS[i + 1], x - i);
}

export class Overlays {
  private readonly points: THREE.InstancedMesh;
  private readonly arrows: THREE.LineSegments;
  private readonly plane: THREE.Mesh<THREE.PlaneGeometry, THREE.ShaderMaterial>;
  private readonly clip = new THREE.Plane(new THREE.Vector3(0, 0, -1), 0);
  private readonly kept = new Map<string, THREE.Object3D>();
  private readonly sphere = new THREE.IcosahedronGeometry(1, 2);
  private readonly cube = new THREE.BoxGeometry(0.94, 0.94, 0.94);
  private readonly bubble = new THREE.MeshStandardMaterial({
    color: 0x6db8ff, transparent: true, opacity: 0.22, roughness: 0.3, depthWrite: false,
  });
  private readonly brick = new THREE.MeshStandardMaterial({ roughness: 0.6 });
  private readonly tet = new THREE.MeshStandardMaterial({
    color: 0xe7b04a, roughness: 0.7, flatShading: true, clippingPlanes: [this.clip], side: THREE.DoubleSide,
  });

  constructor(private readonly view: View) {
    this.points = new THREE.InstancedMesh(
      new THREE.SphereGeometry(1, 10, 8), new THREE.MeshBasicMaterial({ depthTest: false, transparent: true }), MOST_CONTACTS);
    this.points.frustumCulled = false;
    this.points.renderOrder = 10;
    const lines = new THREE.BufferGeometry();
    lines.setAttribute("position", new THREE.BufferAttribute(new Float32Array(6 * MOST_CONTACTS), 3));
    lines.setAttribute("color", new THREE.BufferAttribute(new Float32Array(6 * MOST_CONTACTS), 3));
    this.arrows = new THREE.LineSegments(
      lines, new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
    this.arrows.frustumCulled = false;
    this.arrows.renderOrder = 10;
    this.plane = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), fieldMaterial());
    this.plane.visible = this.points.visible = this.arrows.visible = false;
    view.scene.add(this.points, this.arrows, this.plane);
  }

  /** Forgets everything of the last world. */
  clear() {
    this.kept.clear();
    this.contacts(undefined);
    this.plane.material.uniforms.known.value = 0;
  }

  contacts(data: Float32Array | undefined) {
    this.view.stale = true;
    const count = Math.min((data?.length ?? 0) / 8, MOST_CONTACTS);
    this.points.visible = this.arrows.visible = count > 0;
    if (!data || count === 0) return;
    const radius = 0.003 * this.view.size();
    const [matrix, colour] = [new THREE.Matrix4(), new THREE.Color()];
    const place = this.arrows.geometry.getAttribute("position") as THREE.BufferAttribute;
    const paint = this.arrows.geometry.getAttribute("color") as THREE.BufferAttribute;
    for (let i = 0; i < count; i++) {
      const [x, y, z, u, v, w, distance] = data.subarray(8 * i, 8 * i + 7);
      matrix.makeScale(radius, radius, radius).setPosition(x, y, z);
      depthColour(-distance, colour);
      this.points.setMatrixAt(i, matrix);
      this.points.setColorAt(i, colour);
      const long = 6 * radius;
      place.setXYZ(2 * i, x, y, z);
      place.setXYZ(2 * i + 1, x + long * u, y + long * v, z + long * w);
      paint.setXYZ(2 * i, colour.r, colour.g, colour.b);
      paint.setXYZ(2 * i + 1, colour.r, colour.g, colour.b);
    }
    this.points.count = count;
    this.points.instanceMatrix.needsUpdate = true;
    if (this.points.instanceColor) this.points.instanceColor.needsUpdate = true;
    this.arrows.geometry.setDrawRange(0, 2 * count);
    place.needsUpdate = paint.needsUpdate = true;
  }

  /** Shows (or replaces) an overlay of one body. */
  body(kind: Overlay, number: number, data: Float32Array) {
    this.view.stale = true;
    const shown = this.view.bodies.get(number);
    if (!shown) return;
    const key = `${kind} ${number}`;
    const old = this.kept.get(key);
    if (old) shown.node.remove(old);
    const made = kind === "tets" ? this.tets(data) : kind === "spheres" ? this.spheres(data) : this.voxels(data);
    made.userData.overlay = kind;
    shown.node.add(made);
    this.kept.set(key, made);
  }

  /** Takes all overlays of a kind away. */
  remove(kind: Overlay) {
    this.view.stale = true;
    for (const shown of this.view.bodies.values())
      for (const child of [...shown.node.children])
        if (child.userData.overlay === kind) {
          shown.node.remove(child);
          if (child instanceof THREE.InstancedMesh) child.dispose();
          else if (child instanceof THREE.Mesh) child.geometry.dispose();
        }
    for (const key of [...this.kept.keys()]) if (key.startsWith(kind)) this.kept.delete(key);
  }

  private spheres(data: Float32Array) {
    const count = data.length / 4;
    const mesh = new THREE.InstancedMesh(this.sphere, this.bubble, count);
    const [matrix, colour] = [new THREE.Matrix4(), new THREE.Color()];
    const least = 0.002 * this.view.size();
    for (let i = 0; i < count; i++) {
      const r = Math.max(data[4 * i + 3], least);
      matrix.makeScale(r, r, r).setPosition(data[4 * i], data[4 * i + 1], data[4 * i + 2]);
      mesh.setMatrixAt(i, matrix);
      mesh.setColorAt(i, colour.setHSL((i * 0.61803) % 1, 0.65, 0.62));
    }
    mesh.renderOrder = 4;
    return mesh;
  }

  private voxels(data: Float32Array) {
    const count = data.length / 6;
    const mesh = new THREE.InstancedMesh(this.cube, this.brick, count);
    const [matrix, colour] = [new THREE.Matrix4(), new THREE.Color()];
    for (let i = 0; i < count; i++) {
      const [x, y, z, edge, group, full] = data.subarray(6 * i, 6 * i + 6);
      matrix.makeScale(edge, edge, edge).setPosition(x, y, z);
      mesh.setMatrixAt(i, matrix);
      mesh.setColorAt(i, colour.setHSL((group * 0.61803) % 1, 0.6, 0.35 + 0.3 * full));
    }
    mesh.castShadow = true;
    return mesh;
  }

  private tets(data: Float32Array) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(data, 3));
    const mesh = new THREE.Mesh(geometry, this.tet);
    mesh.castShadow = true;
    return mesh;
  }

  /** The slice through the box of what is there, at a share of its depth: origin and two sides. */
  slice(share: number): number[] {
    const box = this.view.reach();
    if (!box) return [0, 0, 0, 1, 0, 0, 0, 1, 0];
    const { min, max } = box;
    const wide = Math.max(1.25 * (max.x - min.x), (1.25 * (max.y - min.y)) / 0.7);
    const tall = wide * 0.7;
    const x = 0.5 * (min.x + max.x) - 0.5 * wide;
    const z = min.z + share * (max.z - min.z);
    return [x, min.y, z, wide, 0, 0, 0, tall, 0];
  }

  setSlice(share: number, field: boolean, cut: boolean) {
    this.view.stale = true;
    const [x, y, z, wide, , , , tall] = this.slice(share);
    this.plane.position.set(x + 0.5 * wide, y + 0.5 * tall, z);
    this.plane.scale.set(wide, tall, 1);
    this.plane.visible = field;
    this.clip.constant = cut ? z : 1e6;
  }

  field(width: number, height: number, data: Float32Array) {
    this.view.stale = true;
    const u = this.plane.material.uniforms;
    let texture = u.field.value as THREE.DataTexture | null;
    if (!texture || texture.image.width !== width) {
      texture?.dispose();
      texture = new THREE.DataTexture(new Float32Array(width * height), width, height, THREE.RedFormat, THREE.FloatType);
      texture.minFilter = texture.magFilter = THREE.NearestFilter;
      u.field.value = texture;
      u.size.value.set(width, height);
    }
    // Far from everything is told as a large number: a texture has no NaN to rely on.
    (texture.image.data as Float32Array).set(data.map((d) => (Number.isNaN(d) ? 9 : d)));
    texture.needsUpdate = true;
    u.known.value = 1;
  }
}

/** Blue outside, warm inside, a line every five millimetres, white where it is zero. */
function fieldMaterial() {
  return new THREE.ShaderMaterial({
    transparent: true,
    side: THREE.DoubleSide,
    depthWrite: false,
    uniforms: { field: { value: null }, size: { value: new THREE.Vector2(1, 1) }, known: { value: 0 } },
    vertexShader: `
      varying vec2 at;
      void main() { at = uv; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }`,
    fragmentShader: `
      uniform sampler2D field;
      uniform vec2 size;
      uniform float known;
      varying vec2 at;
      float value(vec2 p) {
        vec2 q = p * size - 0.5;
        ivec2 i = ivec2(floor(q));
        vec2 f = q - vec2(i);
        ivec2 most = ivec2(size) - 1;
        float a = texelFetch(field, clamp(i, ivec2(0), most), 0).r;
        float b = texelFetch(field, clamp(i + ivec2(1, 0), ivec2(0), most), 0).r;
        float c = texelFetch(field, clamp(i + ivec2(0, 1), ivec2(0), most), 0).r;
        float d = texelFetch(field, clamp(i + ivec2(1, 1), ivec2(0), most), 0).r;
        if (max(max(a, b), max(c, d)) > 1.0) return 9.0;
        return mix(mix(a, b, f.x), mix(c, d, f.x), f.y);
      }
      void main() {
        float d = value(at);
        vec2 edge = min(at, 1.0 - at);
        float rim = min(edge.x, edge.y) < 0.003 ? 0.5 : 0.0;
        if (known < 0.5 || d > 1.0) { gl_FragColor = vec4(0.5, 0.6, 0.7, max(rim, 0.05)); return; }
        float w = max(fwidth(d), 1e-6);
        float s = clamp(abs(d) / 0.06, 0.0, 1.0);
        vec3 c = d < 0.0 ? mix(vec3(1.0, 0.62, 0.2), vec3(0.75, 0.05, 0.1), clamp(-d / 0.02, 0.0, 1.0))
                         : mix(vec3(0.45, 0.78, 1.0), vec3(0.06, 0.13, 0.35), s);
        float every = 0.005;
        float line = abs(fract(d / every - 0.5) - 0.5) * every / w;
        c = mix(c * 0.6, c, clamp(line, 0.0, 1.0));
        c = mix(vec3(1.0), c, clamp(abs(d) / w - 0.4, 0.0, 1.0));
        gl_FragColor = vec4(c, d < 0.0 ? 0.96 : mix(0.8, 0.25, s));
        #include <colorspace_fragment>
      }`,
  });
}
