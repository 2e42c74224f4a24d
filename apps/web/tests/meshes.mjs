// Mesh files made in code: a ball as OBJ, PLY, OFF, STL, GLB and glTF in a ZIP, and files that are none.

import { deflateRawSync } from "node:zlib";

/** An octahedron, split `times` and blown up to a ball of radius 5 (any unit will do). */
function ball(times) {
  let vertices = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
  let faces = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
  for (let n = 0; n < times; n++) {
    const middles = new Map();
    const middle = (a, b) => {
      const key = a < b ? `${a} ${b}` : `${b} ${a}`;
      if (!middles.has(key)) {
        const m = vertices[a].map((x, i) => x + vertices[b][i]);
        const long = Math.hypot(...m);
        middles.set(key, vertices.push(m.map((x) => x / long)) - 1);
      }
      return middles.get(key);
    };
    faces = faces.flatMap(([a, b, c]) => {
      const [d, e, f] = [middle(a, b), middle(b, c), middle(c, a)];
      return [[a, d, f], [d, b, e], [f, e, c], [d, e, f]];
    });
  }
  return { vertices: vertices.map((v) => v.map((x) => 5 * x)), faces };
}

const { vertices, faces } = ball(3);

const obj = [...vertices.map((v) => `v ${v.join(" ")}`), ...faces.map((f) => `f ${f.map((i) => i + 1).join(" ")}`)].join("\n");

const ply = `ply\nformat ascii 1.0\nelement vertex ${vertices.length}\nproperty float x\nproperty float y\nproperty float z\nelement face ${faces.length}\nproperty list uchar int vertex_indices\nend_header\n${[...vertices.map((v) => v.join(" ")), ...faces.map((f) => `3 ${f.join(" ")}`)].join("\n")}\n`;

const off = `OFF\n${vertices.length} ${faces.length} 0\n${[...vertices.map((v) => v.join(" ")), ...faces.map((f) => `3 ${f.join(" ")}`)].join("\n")}\n`;

function stl() {
  const out = Buffer.alloc(84 + 50 * faces.length);
  out.writeUInt32LE(faces.length, 80);
  faces.forEach((f, t) => f.forEach((v, c) => vertices[v].forEach((x, i) => out.writeFloatLE(x, 84 + 50 * t + 12 + 12 * c + 4 * i))));
  return out;
}

/** A ball as binary glTF, of a material if one is given. */
function glb(material) {
  const bin = Buffer.concat([Buffer.from(new Float32Array(vertices.flat()).buffer), Buffer.from(new Uint32Array(faces.flat()).buffer)]);
  const split = 12 * vertices.length;
  const json = JSON.stringify({
    asset: { version: "2.0" }, scene: 0, scenes: [{ nodes: [0] }], nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 1, ...(material && { material: 0 }) }] }],
    accessors: [
      { bufferView: 0, componentType: 5126, count: vertices.length, type: "VEC3", min: [-5, -5, -5], max: [5, 5, 5] },
      { bufferView: 1, componentType: 5125, count: 3 * faces.length, type: "SCALAR" },
    ],
    bufferViews: [{ buffer: 0, byteOffset: 0, byteLength: split }, { buffer: 0, byteOffset: split, byteLength: bin.length - split }],
    buffers: [{ byteLength: bin.length }],
    ...(material && { materials: [material] }),
  });
  const text = Buffer.from(json.padEnd(Math.ceil(json.length / 4) * 4, " "));
  const head = (length, type) => {
    const b = Buffer.alloc(8);
    b.writeUInt32LE(length, 0);
    b.writeUInt32LE(type, 4);
    return b;
  };
  const all = Buffer.concat([head(text.length, 0x4e4f534a), text, head(bin.length, 0x004e4942), bin]);
  const start = Buffer.alloc(12);
  start.write("glTF");
  start.writeUInt32LE(2, 4);
  start.writeUInt32LE(12 + all.length, 8);
  return Buffer.concat([start, all]);
}

/** A ball as glTF with its numbers in a file beside it, and a picture that is a folder below. */
function gltf() {
  const whole = glb();
  const length = whole.readUInt32LE(12);
  const document = JSON.parse(whole.subarray(20, 20 + length).toString());
  document.buffers[0].uri = "the%20numbers.bin";
  document.images = [{ uri: "textures/red.png" }];
  document.textures = [{ source: 0 }];
  document.materials = [{ pbrMetallicRoughness: { baseColorTexture: { index: 0 } } }];
  document.meshes[0].primitives[0].material = 0;
  return {
    "model/scene.gltf": Buffer.from(JSON.stringify(document)),
    "model/the numbers.bin": whole.subarray(28 + length),
    "model/textures/red.png": Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC", "base64"),
  };
}

/** A ZIP of files, the second of them not packed; `claim` says of the first that it is so large. */
function zip(files, claim) {
  const [locals, entries] = [[], []];
  let at = 0;
  Object.entries(files).forEach(([name, plain], i) => {
    const packed = i === 1 ? plain : deflateRawSync(plain);
    const size = i === 0 && claim ? claim : plain.length;
    const shared = Buffer.alloc(26);
    [20, 0, i === 1 ? 0 : 8].forEach((x, k) => shared.writeUInt16LE(x, 2 * k));
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(size, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), shared, Buffer.from(name), packed]);
    const entry = Buffer.concat([Buffer.from("PK\x01\x02\x14\0"), shared, Buffer.alloc(14), Buffer.from(name)]);
    entry.writeUInt32LE(at, 42);
    locals.push(local);
    entries.push(entry);
    at += local.length;
  });
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  [8, 10].forEach((k) => end.writeUInt16LE(entries.length, k));
  end.writeUInt32LE(Buffer.concat(entries).length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, ...entries, end]);
}

/** A ball of blue glass. */
export const CLEAR = glb({ alphaMode: "BLEND", pbrMetallicRoughness: { baseColorFactor: [0.2, 0.4, 0.8, 0.4] } });

const gltfFiles = gltf();
const { "model/the numbers.bin": _, ...numberless } = gltfFiles;

/** The same ball as files that are chosen together. */
export const TOGETHER = Object.fromEntries(Object.entries(gltfFiles).map(([name, bytes]) => [name.split("/").pop(), bytes]));

/** A ball as OBJ with its materials and their picture, chosen together. */
export const OBJ_TOGETHER = {
  "painted ball.obj": Buffer.from(`# painted\nmtllib the paint.mtl\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl red\n${[
    ...vertices.map((v) => `v ${v.join(" ")}`),
    ...faces.map((f) => `f ${f.map((i, k) => `${i + 1}/${k + 1}`).join(" ")}`),
  ].join("\n")}`),
  "the paint.mtl": Buffer.from("newmtl red\r\nKd 1 1 1\r\nmap_Kd -s 1 1 1 textures\\red.png\r\nNs 10\r\n"),
  "red.png": TOGETHER["red.png"],
};

/** A cup that turns round the y axis: walls and floor `wall` thick, ten high. */
export function cup(wall) {
  const around = 48;
  const profile = [[0, 0], [4, 0], [4, 10], [4 - wall, 10], [4 - wall, wall], [0, wall]];
  const lines = [];
  for (const [r, y] of profile)
    for (let i = 0; i < around; i++) lines.push(`v ${r * Math.cos((2 * Math.PI * i) / around)} ${y} ${r * Math.sin((2 * Math.PI * i) / around)}`);
  for (let ring = 0; ring + 1 < profile.length; ring++)
    for (let i = 0; i < around; i++) {
      const [a, b, j] = [ring * around + 1, (ring + 1) * around + 1, (i + 1) % around];
      lines.push(`f ${a + i} ${b + j} ${a + j}`, `f ${a + i} ${b + i} ${b + j}`);
    }
  return Buffer.from(lines.join("\n"));
}

export const GOOD = { "ball.obj": Buffer.from(obj), "ball.ply": Buffer.from(ply), "ball.off": Buffer.from(off), "ball.stl": stl(), "ball.glb": glb(), "red ball.zip": zip({ "read me.txt": Buffer.from("a ball"), ...gltfFiles }) };

export const BAD = {
  "half.obj": Buffer.from(obj.slice(0, obj.length / 2) + "\nf 1 2 99999\n"),
  "cut.ply": Buffer.from(ply.slice(0, ply.length / 2)),
  "cut.glb": glb().subarray(0, 200),
  "notes.txt": Buffer.from("remember the milk"),
  "empty.stl": Buffer.alloc(0),
  "numberless.zip": zip(numberless),
  "modelless.zip": zip({ "read me.txt": Buffer.from("nothing to break") }),
  "cut.zip": zip(gltfFiles).subarray(0, 900),
  "bomb.zip": zip({ "ball.obj": Buffer.alloc(50_000_000, "v 1 2 3\n") }, 1000),
  "paper.obj": cup(0.004),
  "broken.film": Buffer.from("fracas film 9"),
};
