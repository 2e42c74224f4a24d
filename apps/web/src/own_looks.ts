// Materials and textures of the visitor's own model.

import * as THREE from "three";
import type { OwnMaterial, OwnPicture } from "./protocol";

/** How glTF numbers the ways in which a picture repeats. */
const WRAPS: Record<number, THREE.Wrapping> = {
  33071: THREE.ClampToEdgeWrapping,
  33648: THREE.MirroredRepeatWrapping,
  10497: THREE.RepeatWrapping,
};

/** Where something broke it is lighter by this share of the way to white, and more colourful. */
const FRESH = { lighter: 0.15, fuller: 1.4 };

export class OwnLooks {
  /** Told when a picture has come. */
  onLoad = () => {};
  /** Pictures that have come. */
  pictures = 0;
  private readonly materials: THREE.MeshPhysicalMaterial[];
  /** Where they broke: in the colour that each of them has in the mean. */
  private readonly cracks: THREE.MeshPhysicalMaterial[];
  private readonly plain = new THREE.MeshPhysicalMaterial({ color: 0xb2aca0, roughness: 0.6 });

  constructor(materials: OwnMaterial[], pictures: OwnPicture[]) {
    this.materials = materials.map((m) => new THREE.MeshPhysicalMaterial({
      color: new THREE.Color().setRGB(m.colour[0], m.colour[1], m.colour[2], THREE.LinearSRGBColorSpace),
      roughness: m.rough, metalness: m.metal, alphaTest: m.cutoff,
    }));
    this.cracks = this.materials.map((m) => new THREE.MeshPhysicalMaterial({ color: fresh(m.color), roughness: 0.95 }));
    materials.forEach((m, i) => {
      if (m.opacity >= 1 && !m.blends) return;
      // Below 1, so that it is drawn as something clear: its picture says where.
      this.materials[i].userData.opacity = Math.min(m.opacity, 0.999);
      if (m.opacity < 1) this.cracks[i].userData.opacity = Math.min(0.9, m.opacity + 0.4);
    });
    for (const picture of pictures) void this.load(picture, materials);
  }

  private async load(picture: OwnPicture, materials: OwnMaterial[]) {
    let image: ImageBitmap;
    try {
      image = await createImageBitmap(new Blob([picture.bytes], { type: picture.mime }), { imageOrientation: "none" });
    } catch {
      return; // A picture that cannot be read leaves the plain colour.
    }
    materials.forEach((m, i) => {
      if (m.picture !== picture.number) return;
      const texture = new THREE.Texture(image);
      texture.flipY = false;
      texture.colorSpace = THREE.SRGBColorSpace;
      [texture.wrapS, texture.wrapT] = [WRAPS[m.wrap[0]] ?? THREE.RepeatWrapping, WRAPS[m.wrap[1]] ?? THREE.RepeatWrapping];
      texture.anisotropy = 4;
      texture.needsUpdate = true;
      this.materials[i].map = texture;
      this.materials[i].needsUpdate = true;
      this.cracks[i].color.copy(fresh(mean(image).multiply(this.materials[i].color)));
    });
    this.pictures += 1;
    this.onLoad();
  }

  all(): THREE.Material[] {
    return [...this.materials, ...this.cracks, this.plain];
  }

  /** Adds a group to a geometry for each material (its number, how many triangles), and
   * returns the materials of the groups. */
  fill(geometry: THREE.BufferGeometry, groups: Uint32Array): THREE.Material[] {
    const out: THREE.Material[] = [];
    let first = 0;
    for (let i = 0; i + 1 < groups.length; i += 2) {
      geometry.addGroup(first, 3 * groups[i + 1], out.length);
      out.push(this.materials[groups[i]] ?? this.plain);
      first += 3 * groups[i + 1];
    }
    return out;
  }

  /** Where a piece of these groups broke: as the material of which it shows most. */
  crack(groups: Uint32Array = new Uint32Array()): THREE.Material {
    let [most, found] = [0, 0];
    for (let i = 0; i + 1 < groups.length; i += 2) if (groups[i + 1] > most) [most, found] = [groups[i + 1], groups[i]];
    return this.cracks[found] ?? this.plain;
  }

  dispose() {
    for (const m of this.materials) m.map?.dispose();
    for (const m of this.all()) m.dispose();
  }
}

function fresh(colour: THREE.Color): THREE.Color {
  const { h, s, l } = colour.getHSL({ h: 0, s: 0, l: 0 }, THREE.SRGBColorSpace);
  return new THREE.Color().setHSL(h, Math.min(1, FRESH.fuller * s), l + FRESH.lighter * (1 - l), THREE.SRGBColorSpace);
}

/** The mean colour of a picture, where it is not clear. */
function mean(image: ImageBitmap): THREE.Color {
  const SIDE = 16;
  const small = new OffscreenCanvas(SIDE, SIDE).getContext("2d")!;
  small.drawImage(image, 0, 0, SIDE, SIDE);
  const { data } = small.getImageData(0, 0, SIDE, SIDE);
  const sum = new THREE.Color(0, 0, 0);
  const one = new THREE.Color();
  let much = 0;
  for (let i = 0; i < data.length; i += 4) {
    const share = data[i + 3] / 255;
    one.setRGB(data[i] / 255, data[i + 1] / 255, data[i + 2] / 255, THREE.SRGBColorSpace);
    sum.add(one.multiplyScalar(share));
    much += share;
  }
  return much > 0 ? sum.multiplyScalar(1 / much) : sum.set(1, 1, 1);
}
