// What glass, porcelain, brick and the others look like, outside and where they broke. No
// pictures are loaded: grain comes from a few lines of shader in the body's own frame.

import * as THREE from "three";

interface Look {
  /** Where the scene gives no colour of its own. */
  colour: number;
  rough: number;
  /** A glaze: how strong, and how rough. */
  glaze?: [number, number];
  /** How much goes through: below 1 it is clear. */
  opacity?: number;
  /** Grains: how dark, and how many in a metre. */
  grain?: [number, number];
  /** Of the crack: from the colour outside towards this one, by this share. */
  crack: [number, number];
  crackRough?: number;
}

const LOOKS: Record<string, Look> = {
  glass: { colour: 0xdff2ee, rough: 0.03, glaze: [1, 0.02], opacity: 0.26, crack: [0xf4fffb, 1], crackRough: 0.22 },
  ice: { colour: 0xcfe8f7, rough: 0.16, glaze: [0.8, 0.1], opacity: 0.62, crack: [0xffffff, 0.9], crackRough: 0.5 },
  porcelain: { colour: 0xf3f1ea, rough: 0.22, glaze: [1, 0.06], crack: [0xfffdf6, 0.75], crackRough: 0.85 },
  earthenware: { colour: 0xc48f6a, rough: 0.55, glaze: [0.25, 0.4], grain: [0.1, 900], crack: [0xf0d2b4, 0.55] },
  brick: { colour: 0xa4553c, rough: 0.95, grain: [0.3, 420], crack: [0xd08a68, 0.5] },
  granite: { colour: 0x9a9792, rough: 0.6, grain: [0.55, 520], crack: [0xc9c6c0, 0.45] },
  concrete: { colour: 0x9c9b96, rough: 0.92, grain: [0.22, 650], crack: [0xc2c0b8, 0.5] },
  plaster: { colour: 0xece8df, rough: 0.98, grain: [0.06, 800], crack: [0xffffff, 0.6] },
};
const PLAIN: Look = { colour: 0xb2aca0, rough: 0.42, glaze: [0.35, 0.3], crack: [0xfff1d6, 0.62] };

const of = (material?: string | null) => LOOKS[material ?? ""] ?? PLAIN;

/** Whether one sees through it. */
export const isClear = (material?: string | null) => (of(material).opacity ?? 1) < 1;

/** The dust of a material, and how much of it there is: what is clear raises little. */
export function dustOf(material: string): { colour: THREE.Color; much: number } {
  const look = of(material);
  return { colour: new THREE.Color(look.colour).lerp(new THREE.Color(look.crack[0]), 0.6), much: isClear(material) ? 0.3 : 1 };
}

/** Outside and crack of a body of some material; `dyed`: in the scene's colour. */
export function looks(colour: [number, number, number], material: string | null | undefined, dyed: boolean): [THREE.MeshPhysicalMaterial, THREE.MeshPhysicalMaterial] {
  const look = of(material);
  const clear = isClear(material);
  // Glass is not dyed: what one sees is what is behind it.
  const outside = dyed && !clear
    ? new THREE.Color().setRGB(colour[0] / 255, colour[1] / 255, colour[2] / 255, THREE.SRGBColorSpace)
    : new THREE.Color(look.colour);
  const outer = new THREE.MeshPhysicalMaterial({
    color: outside, roughness: look.rough, clearcoat: look.glaze?.[0] ?? 0, clearcoatRoughness: look.glaze?.[1] ?? 0,
  });
  const inner = new THREE.MeshPhysicalMaterial({
    color: outside.clone().lerp(new THREE.Color(look.crack[0]), look.crack[1]), roughness: look.crackRough ?? 0.95,
  });
  if (clear) {
    outer.envMapIntensity = 1.6;
    outer.side = THREE.DoubleSide;
    outer.userData.opacity = look.opacity;
    // Cracks catch the light: they are what shows that it is broken.
    inner.userData.opacity = Math.min(0.9, look.opacity! + 0.42);
    inner.emissive = new THREE.Color(look.crack[0]);
    inner.emissiveIntensity = 0.22;
  }
  if (look.grain) {
    grained(outer, look.grain);
    grained(inner, [0.7 * look.grain[0], look.grain[1]]);
  }
  return [outer, inner];
}

/** Grains of two sizes, which stay with the body as it moves and breaks. */
function grained(material: THREE.Material, [dark, many]: [number, number]) {
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec3 grainAt;")
      .replace("#include <begin_vertex>", "#include <begin_vertex>\ngrainAt = position;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>
        varying vec3 grainAt;
        float grainHash(vec3 p) {
          p = fract(p * vec3(0.1031, 0.1030, 0.0973));
          p += dot(p, p.yzx + 33.33);
          return fract((p.x + p.y) * p.z);
        }
        float grain(vec3 p) {
          vec3 i = floor(p);
          vec3 f = p - i;
          f = f * f * (3.0 - 2.0 * f);
          vec2 o = vec2(0.0, 1.0);
          vec4 low = vec4(grainHash(i), grainHash(i + o.yxx), grainHash(i + o.xyx), grainHash(i + o.yyx));
          vec4 high = vec4(grainHash(i + o.xxy), grainHash(i + o.yxy), grainHash(i + o.xyy), grainHash(i + o.yyy));
          vec4 z = mix(low, high, f.z);
          vec2 y = mix(z.xy, z.zw, f.y);
          return mix(y.x, y.y, f.x);
        }`)
      .replace("#include <color_fragment>", `#include <color_fragment>
        float grains = 0.6 * grain(grainAt * ${many.toFixed(1)}) + 0.4 * grain(grainAt * ${(many * 0.31).toFixed(1)} + 7.0);
        diffuseColor.rgb *= 1.0 - ${dark.toFixed(3)} * smoothstep(0.35, 0.75, grains) + ${(0.35 * dark).toFixed(3)} * (1.0 - smoothstep(0.2, 0.45, grains));`);
  };
  material.customProgramCacheKey = () => `grain ${dark} ${many}`;
}
