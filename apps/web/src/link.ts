// What somebody did, as letters for an address: the same deeds before the same steps give
// the same bits, so that a friend sees the same break.

import type { Deed, Done } from "./protocol";

const VERSION = 1;
/** Addresses longer than this are cut off by some programs that pass them on. */
const MOST_LETTERS = 16_000;
/** Deeds more than this are no work of a hand. */
const MOST_DEEDS = 20_000;
/** New ones come last: links that are about stay what they are. */
const KINDS = ["shoot", "hit", "tune", "grab", "move", "release", "shatter", "cut"] as const;

/** Floats of 32 bits, as the library takes them; numbers of 32 bits; text. */
class Writer {
  private bytes: number[] = [];
  private readonly view = new DataView(new ArrayBuffer(8));

  byte(x: number) {
    this.bytes.push(x & 255);
  }

  private take(n: number) {
    for (let i = 0; i < n; i++) this.bytes.push(this.view.getUint8(i));
  }

  whole(x: number) {
    this.view.setUint32(0, x);
    this.take(4);
  }

  floats(...all: number[]) {
    for (const x of all) {
      this.view.setFloat32(0, x);
      this.take(4);
    }
  }

  double(x: number) {
    this.view.setFloat64(0, x);
    this.take(8);
  }

  text(t: string) {
    const bytes = new TextEncoder().encode(t);
    this.byte(bytes.length);
    this.bytes.push(...bytes);
  }

  letters(): string {
    let all = "";
    for (const b of this.bytes) all += String.fromCharCode(b);
    return btoa(all).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  }
}

class Reader {
  private at = 0;
  private readonly view: DataView;
  private readonly bytes: Uint8Array;

  constructor(letters: string) {
    const all = atob(letters.replaceAll("-", "+").replaceAll("_", "/"));
    this.bytes = Uint8Array.from(all, (c) => c.charCodeAt(0));
    this.view = new DataView(this.bytes.buffer);
  }

  private skip(n: number): number {
    this.at += n;
    return this.at - n;
  }

  ended = () => this.at >= this.bytes.length;
  byte = () => this.view.getUint8(this.skip(1));
  whole = () => this.view.getUint32(this.skip(4));
  float = () => finite(this.view.getFloat32(this.skip(4)));
  floats = (n: number) => Array.from({ length: n }, this.float);
  double = () => finite(this.view.getFloat64(this.skip(8)));
  text = () => {
    const n = this.byte();
    const from = this.skip(n);
    return new TextDecoder().decode(this.bytes.slice(from, from + n));
  };
}

function finite(x: number): number {
  if (!Number.isFinite(x)) throw new Error("not a number");
  return x;
}

/** Deeds as letters; nothing where there are none worth telling, `null` where they are too many. */
export function write(deeds: Done[]): string | null {
  const usual = (d: Deed) => d.t === "tune" && d.material === "" && d.strength === 1 && d.again;
  if (deeds.every(([, d]) => usual(d))) return "";
  const w = new Writer();
  w.byte(VERSION);
  for (const [step, d] of deeds) {
    w.whole(step);
    w.byte(KINDS.indexOf(d.t));
    switch (d.t) {
      case "shoot": w.floats(...d.path, d.radius); break;
      case "hit":
        d.piece.forEach((n) => w.whole(n));
        w.floats(...d.at, d.speed, d.radius);
        break;
      case "tune":
        w.text(d.material);
        w.double(d.strength);
        w.byte(d.again ? 1 : 0);
        break;
      case "grab":
        d.piece.forEach((n) => w.whole(n));
        w.floats(...d.at);
        break;
      case "move": w.floats(...d.to); break;
      case "release": break;
      case "shatter":
        d.piece.forEach((n) => w.whole(n));
        w.text(d.pattern);
        w.byte(d.pieces);
        w.whole(d.seed);
        w.floats(...d.at);
        break;
      case "cut": w.floats(...d.sight); break;
    }
  }
  const letters = w.letters();
  return letters.length > MOST_LETTERS ? null : letters;
}

/** The deeds of letters; throws where they make no sense. */
export function read(letters: string): Done[] {
  const r = new Reader(letters);
  if (r.byte() !== VERSION) throw new Error("another version");
  const all: Done[] = [];
  while (!r.ended()) {
    if (all.length >= MOST_DEEDS) throw new Error("too long");
    const step = r.whole();
    if (all.length && step < all[all.length - 1][0]) throw new Error("out of order");
    all.push([step, deed(r)]);
  }
  return all;
}

function deed(r: Reader): Deed {
  const t = KINDS[r.byte()];
  switch (t) {
    case "shoot": return { t, path: r.floats(6), radius: r.float() };
    case "hit": return { t, piece: [r.whole(), r.whole()], at: r.floats(6), speed: r.float(), radius: r.float() };
    case "tune": return { t, material: r.text(), strength: r.double(), again: r.byte() === 1 };
    case "grab": return { t, piece: [r.whole(), r.whole()], at: r.floats(3) };
    case "move": return { t, to: r.floats(3) };
    case "release": return { t };
    case "shatter": return { t, piece: [r.whole(), r.whole()], pattern: r.text(), pieces: r.byte(), seed: r.whole(), at: r.floats(6) };
    case "cut": return { t, sight: r.floats(9) };
    default: throw new Error("an unknown deed");
  }
}
