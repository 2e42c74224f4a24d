// Several files that are one model: dropped together, as a folder, or in a ZIP.
//
// Steps: a ZIP is listed -> the model among the files is chosen -> what a glTF or OBJ file
// names beside it is put into it as data. So one file goes on, whatever came. Nothing is
// fetched, and nothing of a ZIP is unpacked that the model does not name.

/** One of the files; its path is relative to whatever they came in. */
interface Part {
  path: string;
  size: number;
  blob(): Promise<Blob>;
}

/** What is taken for the model, the likeliest first. */
const MODELS = ["glb", "gltf", "obj", "ply", "stl", "off", "msh", "mesh", "vtk", "vtu", "film"];
/** More files than this are no model. */
export const MOST_FILES = 5000;

/** What is said of a file that is larger than the page takes. */
export function tooLarge(name: string, bytes: number, most: number): string {
  return `${name} has ${Math.round(bytes / 1e6)} MB; this page takes up to ${most / 1e6} MB. Simplify the mesh first.`;
}

/** The one file to go on with. Throws a sentence where there is none. */
export async function bundle(files: File[], mostBytes: number): Promise<File> {
  if (files.length === 0) throw new Error("No file came. Drop a mesh, a ZIP of it, or its folder.");
  if (files.length > MOST_FILES) throw new Error(`More than ${MOST_FILES} files came: drop the model's own folder.`);
  const packed = files.length === 1 && (await isZip(files[0])) ? files[0] : null;
  if (files.length === 1 && !packed && !/\.gltf$/i.test(files[0].name)) return files[0];
  const parts = packed ? await unpack(packed) : files.map(plain);
  const model = choose(parts);
  if (!model) {
    const what = packed ? `${packed.name} holds` : "These files hold";
    throw new Error(`${what} no model that this page reads: put a .glb, .gltf, .obj, .ply, .stl or .off into it.`);
  }
  const name = model.path.slice(model.path.lastIndexOf("/") + 1);
  if (model.size > mostBytes) throw new Error(tooLarge(name, model.size, mostBytes));
  const blob = await model.blob();
  // Sketchfab and others call every model the same: the ZIP has the better name.
  const called = packed && /^scene\./.test(name) ? packed.name.replace(/\.zip$/i, name.slice(5)) : name;
  const beside = new Beside(called, model, parts, mostBytes);
  const filled = /\.gltf$/i.test(name) ? await gltfWith(beside, blob) : /\.obj$/i.test(name) ? await objWith(beside, blob) : blob;
  return new File([filled], called);
}

/** Dropped files, those in dropped folders included. */
export async function dropped(data: DataTransfer): Promise<File[]> {
  // Entries are gone after the first wait.
  const entries = [...data.items].map((item) => item.webkitGetAsEntry());
  if (!entries.some((entry) => entry?.isDirectory)) return [...data.files];
  const files: File[] = [];
  const visit = async (entry: FileSystemEntry | null): Promise<void> => {
    if (!entry || files.length > MOST_FILES) return;
    if (entry.isFile) {
      const file = await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed));
      paths.set(file, entry.fullPath.replace(/^\//, ""));
      files.push(file);
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
      if (some.length === 0) return;
      for (const inner of some) await visit(inner);
    }
  };
  for (const entry of entries) await visit(entry);
  return files;
}

/** Where files lay in a dropped folder: a `File` does not tell. */
const paths = new WeakMap<File, string>();

function plain(file: File): Part {
  return { path: paths.get(file) ?? file.name, size: file.size, blob: async () => file };
}

function choose(parts: Part[]): Part | undefined {
  const rank = (part: Part) => MODELS.indexOf(part.path.replace(/\.gz$/i, "").split(".").pop()!.toLowerCase());
  const hidden = (part: Part) => /(^|\/)(\.|__MACOSX\/)/.test(part.path);
  const models = parts.filter((part) => rank(part) >= 0 && !hidden(part));
  // Of several the largest: the others are its parts, or coarser.
  return models.sort((a, b) => rank(a) - rank(b) || b.size - a.size)[0];
}

// ---- what a model names ----

/** The files beside a model. */
class Beside {
  private readonly folder: string;
  private readonly byPath: Map<string, Part>;
  private readonly flat: boolean;
  private total = 0;

  constructor(readonly name: string, model: Part, parts: Part[], private readonly mostBytes: number) {
    this.folder = model.path.slice(0, model.path.lastIndexOf("/") + 1);
    this.byPath = new Map(parts.map((part) => [part.path, part]));
    // Chosen files have lost their folders.
    this.flat = parts.every((part) => !part.path.includes("/"));
  }

  /** A file by the name that the model has for it; none where it did not come. */
  async find(name: string): Promise<Blob | undefined> {
    const path = resolve(this.folder, name);
    const part = this.byPath.get(path) ?? (this.flat ? this.byPath.get(path.slice(path.lastIndexOf("/") + 1)) : undefined);
    if (!part) return;
    this.total += part.size;
    if (this.total > this.mostBytes) throw new Error(`${this.name} and its files have more than ${this.mostBytes / 1e6} MB, which is what this page takes.`);
    return part.blob();
  }
}

/** The text of a glTF file with the files that it names in it. */
async function gltfWith(beside: Beside, blob: Blob): Promise<Blob> {
  let document: Record<string, unknown>;
  try {
    document = JSON.parse(await blob.text());
  } catch {
    return blob; // The reader says what is wrong with it, and where.
  }
  for (const [key, needed] of [["buffers", true], ["images", false]] as const) {
    const list = Array.isArray(document?.[key]) ? (document[key] as unknown[]) : [];
    for (const item of list) {
      const uri = (item as { uri?: unknown } | null)?.uri;
      if (typeof uri !== "string" || /^[a-z][a-z0-9+.-]*:/i.test(uri)) continue;
      const found = await beside.find(uri);
      if (found) (item as { uri: string }).uri = await asData(found);
      else if (needed) throw new Error(`${beside.name} needs ${uri}, which did not come with it. Drop both together, their folder, or a ZIP of it.`);
      // A picture that is missing is told by the reader.
    }
  }
  return new Blob([JSON.stringify(document)]);
}

/** The text of an OBJ file with its materials in it, and their pictures in them. */
async function objWith(beside: Beside, blob: Blob): Promise<Blob> {
  const pictures = (text: string) => replaceNames(beside, text, /^[ \t]*(?:map_K[de]|norm)[ \t]+/gm, async (found) => found);
  const materials = async (found: Blob) => new Blob([await pictures(await found.text())]);
  return new Blob([await replaceNames(beside, await blob.text(), /^[ \t]*mtllib[ \t]+/gm, materials)]);
}

/** Puts files into the lines that name them: the last words of a line, as few as name one. */
async function replaceNames(beside: Beside, text: string, keyword: RegExp, as: (found: Blob) => Promise<Blob>): Promise<string> {
  const out: string[] = [];
  const known = new Map<string, string>();
  let from = 0;
  for (const match of text.matchAll(keyword)) {
    const start = match.index + match[0].length;
    const length = text.slice(start).search(/[\r\n]|$/);
    const words = text.slice(start, start + length).trim().split(/(?<=\s)(?=\S)/);
    for (let first = words.length - 1; first >= 0; first--) {
      const name = words.slice(first).join("");
      if (!known.has(name)) {
        const found = await beside.find(name);
        if (!found) continue;
        known.set(name, await asData(await as(found)));
      }
      out.push(text.slice(from, start), words.slice(0, first).join(""), known.get(name)!);
      from = start + length;
      break;
    }
  }
  out.push(text.slice(from));
  return out.join("");
}

/** A path relative to a folder, without `.` and `..`, with what `%20` stands for. */
function resolve(folder: string, uri: string): string {
  let path = folder + uri;
  try {
    path = folder + decodeURIComponent(uri);
  } catch {
    // Not encoded: as it stands.
  }
  const out: string[] = [];
  for (const step of path.split(/[/\\]/)) {
    if (step === "..") out.pop();
    else if (step !== "." && step !== "") out.push(step);
  }
  return out.join("/");
}

function asData(blob: Blob): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    // Without a kind: readers look at the bytes.
    reader.onload = () => done(String(reader.result).replace(/^data:[^,]*,/, "data:application/octet-stream;base64,"));
    reader.onerror = () => failed(new Error("A file could not be read to its end."));
    reader.readAsDataURL(blob);
  });
}

// ---- ZIP (PKWARE's APPNOTE 6.3.9: 4.3.6, 4.3.7, 4.3.12, 4.3.16) ----

const DIRECTORY_END = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;

async function view(blob: Blob): Promise<DataView> {
  return new DataView(await blob.arrayBuffer());
}

async function isZip(file: File): Promise<boolean> {
  if (file.size < 22) return false;
  const first = (await view(file.slice(0, 4))).getUint32(0, true);
  return first === LOCAL_ENTRY || first === DIRECTORY_END;
}

/** What a ZIP lists; nothing is unpacked yet. */
async function unpack(file: File): Promise<Part[]> {
  const broken = () => new Error(`${file.name} is a ZIP that ends too early or is damaged: pack or download it again.`);
  // The directory is at the end, before a comment of up to 64 KB.
  const tail = await view(file.slice(Math.max(0, file.size - 65557)));
  let end = tail.byteLength - 22;
  while (end >= 0 && tail.getUint32(end, true) !== DIRECTORY_END) end -= 1;
  if (end < 0) throw broken();
  const [count, size, start] = [tail.getUint16(end + 10, true), tail.getUint32(end + 12, true), tail.getUint32(end + 16, true)];
  if (count === 0xffff || start === 0xffffffff) throw new Error(`${file.name} is a ZIP of more than 4 GB or 65,535 files: pack the model alone.`);
  if (count > MOST_FILES) throw new Error(`${file.name} holds more than ${MOST_FILES} files: pack the model alone.`);
  if (start + size > file.size) throw broken();
  const list = await view(file.slice(start, start + size));
  const parts: Part[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + 46 > list.byteLength || list.getUint32(at, true) !== DIRECTORY_ENTRY) throw broken();
    const u16 = (offset: number) => list.getUint16(at + offset, true);
    const u32 = (offset: number) => list.getUint32(at + offset, true);
    const [flags, method, packed, plain, local] = [u16(8), u16(10), u32(20), u32(24), u32(42)];
    const [nameLength, more] = [u16(28), u16(30) + u16(32)];
    if (at + 46 + nameLength > list.byteLength) throw broken();
    const path = new TextDecoder().decode(new Uint8Array(list.buffer, list.byteOffset + at + 46, nameLength)).replaceAll("\\", "/");
    at += 46 + nameLength + more;
    if (path.endsWith("/")) continue;
    const blob = async () => {
      if (flags & 1) throw new Error(`${path} in ${file.name} is encrypted: pack it without a password.`);
      if (method !== 0 && method !== 8) throw new Error(`${path} in ${file.name} is packed in a way that this page does not know: pack it as a plain ZIP.`);
      const head = await view(file.slice(local, local + 30));
      if (head.byteLength < 30 || head.getUint32(0, true) !== LOCAL_ENTRY) throw broken();
      const first = local + 30 + head.getUint16(26, true) + head.getUint16(28, true);
      if (first + packed > file.size) throw broken();
      const data = file.slice(first, first + packed);
      return method === 0 ? data : inflate(data, plain, broken);
    };
    parts.push({ path, size: plain, blob });
  }
  return parts;
}

/** Unpacks, and never more than the ZIP said it would be. */
async function inflate(data: Blob, size: number, broken: () => Error): Promise<Blob> {
  const reader = data.stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let total = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => { throw broken(); });
    if (done) break;
    total += value.length;
    if (total > size) {
      void reader.cancel();
      throw broken();
    }
    chunks.push(value);
  }
  if (total !== size) throw broken();
  return new Blob(chunks);
}
