// Time of each stage of the last steps, stacked, with a mark where something broke.

import { STAT, STATS } from "./protocol";

const KEPT = 240;
export const STAGES = [
  { name: "collision", at: STAT.collision, colour: "#4c9be8" },
  { name: "physics", at: STAT.physics, colour: "#37b99b" },
  { name: "fracture", at: STAT.fracture, colour: "#e4572e" },
  { name: "update", at: STAT.update, colour: "#a97be0" },
  { name: "saving for undo", at: STAT.saving, colour: "#8b95a5" },
] as const;

export class Chart {
  private steps: Float64Array[] = [];
  private readonly context: CanvasRenderingContext2D;
  private stale = true;
  /** Told when there is something new to draw. */
  onChange = () => {};

  private get dirty() {
    return this.stale;
  }
  private set dirty(on: boolean) {
    this.stale = on;
    if (on) this.onChange();
  }

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d")!;
    new ResizeObserver(() => (this.dirty = true)).observe(canvas);
  }

  clear() {
    this.steps = [];
    this.dirty = true;
  }

  add(stats: Float64Array) {
    for (let i = 0; i + STATS <= stats.length; i += STATS) this.steps.push(stats.slice(i, i + STATS));
    this.steps = this.steps.slice(-KEPT);
    this.dirty = true;
  }

  last(): Float64Array | undefined {
    return this.steps.at(-1);
  }

  /** Mean of a number over the last steps. */
  mean(at: number, over = 30): number {
    const some = this.steps.slice(-over);
    return some.length ? some.reduce((sum, s) => sum + s[at], 0) / some.length : 0;
  }

  draw() {
    if (!this.dirty) return;
    this.dirty = false;
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const ratio = Math.min(window.devicePixelRatio, 2);
    if (this.canvas.width !== w * ratio || this.canvas.height !== h * ratio) {
      this.canvas.width = w * ratio;
      this.canvas.height = h * ratio;
    }
    const c = this.context;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, w, h);
    const style = getComputedStyle(this.canvas);
    const most = Math.max(2, ...this.steps.map((s) => s[STAT.total]));
    const top = niceAbove(most);
    const y = (ms: number) => h - 1 - (ms / top) * (h - 14);
    const x = (i: number) => w - (this.steps.length - i) * (w / KEPT);
    c.font = `10px ${style.fontFamily}`;
    c.strokeStyle = style.getPropertyValue("--line");
    c.lineWidth = 1;
    const lines = [top / 2, top];
    for (const ms of lines) {
      c.beginPath();
      c.moveTo(0, y(ms) + 0.5);
      c.lineTo(w, y(ms) + 0.5);
      c.stroke();
    }
    const base = new Float64Array(this.steps.length);
    for (const stage of STAGES) {
      c.beginPath();
      this.steps.forEach((s, i) => c.lineTo(x(i), y(base[i] + s[stage.at])));
      for (let i = this.steps.length - 1; i >= 0; i--) c.lineTo(x(i), y(base[i]));
      c.fillStyle = stage.colour;
      c.fill();
      this.steps.forEach((s, i) => (base[i] += s[stage.at]));
    }
    this.steps.forEach((s, i) => {
      if (!s[STAT.broken]) return;
      c.fillStyle = "#ff5a36";
      c.beginPath();
      c.moveTo(x(i) - 4, 0);
      c.lineTo(x(i) + 4, 0);
      c.lineTo(x(i), 6);
      c.fill();
      c.globalAlpha = 0.5;
      c.fillRect(x(i) - 0.5, 6, 1, h - 6);
      c.globalAlpha = 1;
    });
    // Numbers last, with a halo: marks of breaks do not cover them.
    c.strokeStyle = style.getPropertyValue("--card");
    c.fillStyle = style.getPropertyValue("--quiet");
    c.lineWidth = 3;
    c.lineJoin = "round";
    for (const ms of lines) {
      c.strokeText(`${ms} ms`, 2, y(ms) - 2);
      c.fillText(`${ms} ms`, 2, y(ms) - 2);
    }
  }
}

/** The next of 2, 5, 10, 20, 50, … */
function niceAbove(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 5, 10].map((m) => m * power).find((v) => v >= x * 0.999)!;
}
