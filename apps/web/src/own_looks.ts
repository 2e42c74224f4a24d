// Materials and textures of the visitor's own model.

import * as THREE from "three";
import type { OwnMaterial, OwnPicture } from "./protocol";

/** How glTF numbers the ways in which a picture repeats. */
const WRAPS: Record<number, THREE.Wrapping> = {
  33071: THREE.ClampToEdgeWrapping,
  33648: THREE.MirroredRepeatWrapping,
  10497: THREE.RepeatWrapping,
};

export class OwnLooks {
  /** Told when a picture has come. */
  onLoad = () => {};
  /** Pictures that have come. */
  pictures = 0;
  private readonly materials: THREE.MeshPhysicalMaterial[];
  private readonly plain = new THREE.MeshPhysicalMaterial({ color: 0xb2aca0, roughness: 0.6 });

  constructor(materials: OwnMaterial[], pictures: OwnPicture[]) {
    this.materials = materials.map((m) => new THREE.MeshPhysicalMaterial({
      color: new THREE.Color().setRGB(m.colour[0], m.colour[1], m.colour[2], THREE.LinearSRGBColorSpace),
      roughness: m.rough, metalness: m.metal,
    }));
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
    });
    this.pictures += 1;
    this.onLoad();
  }

  all(): THREE.Material[] {
    return [...this.materials, this.plain];
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

  dispose() {
    for (const m of this.materials) m.map?.dispose();
    for (const m of this.all()) m.dispose();
  }
}
