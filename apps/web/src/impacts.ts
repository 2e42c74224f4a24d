// What can be heard of a step, and what raises dust, as the worker tells it.

/** Numbers of each; see `fracas-web`'s `impacts.rs`. */
const NUMBERS = 7;
/** Numbers of what has no name among the materials. */
const OTHERS: Record<number, string> = { 100: "stone", 101: "steel", 102: "wood" };

export interface Impact {
  at: [number, number, number];
  /** In joules. */
  energy: number;
  /** Of what rings, in metres. */
  size: number;
  material: string;
  broke: boolean;
  /** Of new cracks, in square metres. */
  area: number;
}

/** `names`: the materials in the library's order. */
export function impacts(data: Float32Array, names: string[]): Impact[] {
  const all: Impact[] = [];
  for (let i = 0; i + NUMBERS <= data.length; i += NUMBERS) {
    const [x, y, z, energy, size, kind, area] = data.subarray(i, i + NUMBERS);
    const material = kind >> 1;
    all.push({ at: [x, y, z], energy, size, material: names[material] ?? OTHERS[material] ?? "stone", broke: (kind & 1) === 1, area });
  }
  return all;
}
