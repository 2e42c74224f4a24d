// What breaking sounds like: short bursts of noise through a few resonances, by material,
// size and energy. Nothing is downloaded, and the world does not know of it.

import type { Impact } from "./impacts";

interface Timbre {
  /** Speed of sound in it (m/s): stiff and light things sound higher. */
  speed: number;
  /** Seconds until it has died away. */
  ring: number;
  /** How pure its tones are. */
  pure: number;
  /** Tones over the lowest, and how loud each is. */
  tones: [number, number][];
  /** How loud the mere knock is. */
  knock: number;
}

const BRIGHT: [number, number][] = [[1, 1], [2.76, 0.7], [5.4, 0.4]];
const CLEAR: [number, number][] = [[1, 0.7], [2.76, 1], [5.4, 0.6]];
const COLD: [number, number][] = [[1, 1], [2.3, 0.35]];
const DULL: [number, number][] = [[1, 1], [1.8, 0.5]];
const TIMBRES: Record<string, Timbre> = {
  glass: { speed: 5400, ring: 0.5, pure: 90, tones: CLEAR, knock: 0.25 },
  porcelain: { speed: 4800, ring: 0.2, pure: 45, tones: BRIGHT, knock: 0.4 },
  ice: { speed: 3300, ring: 0.16, pure: 22, tones: COLD, knock: 0.5 },
  earthenware: { speed: 2600, ring: 0.12, pure: 14, tones: DULL, knock: 0.6 },
  granite: { speed: 2400, ring: 0.09, pure: 9, tones: DULL, knock: 0.8 },
  brick: { speed: 1700, ring: 0.08, pure: 6, tones: DULL, knock: 0.9 },
  concrete: { speed: 1500, ring: 0.07, pure: 4, tones: DULL, knock: 1 },
  plaster: { speed: 1300, ring: 0.06, pure: 3, tones: DULL, knock: 0.9 },
  stone: { speed: 1900, ring: 0.08, pure: 6, tones: DULL, knock: 0.9 },
  wood: { speed: 1500, ring: 0.09, pure: 11, tones: DULL, knock: 0.5 },
  steel: { speed: 3000, ring: 0.28, pure: 70, tones: BRIGHT, knock: 0.4 },
};
/** Of a thing of some size the lowest tone is this part of what sound would run to and fro. */
const BENDING = 0.05;
/** Sounds at a time, and new ones of one frame. */
const MOST_VOICES = 28;
const MOST_NEW = 6;
/** Seconds of silence after which the sound card may rest. */
const SILENCE = 2;
const KEY = "fracas-sound";

/** From 0 to 1: a pin, a plate, a brick from the table. */
const loudness = (energy: number) => Math.min(1, Math.max(0, (Math.log10(Math.max(energy, 1e-9)) + 4.7) / 5.7)) ** 1.6;

const noises = new WeakMap<BaseAudioContext, AudioBuffer>();
/** A second of noise, made once. */
function noise(context: BaseAudioContext): AudioBuffer {
  let made = noises.get(context);
  if (!made) {
    made = context.createBuffer(1, context.sampleRate, context.sampleRate);
    const data = made.getChannelData(0);
    for (let i = 0; i < data.length; i++) data[i] = 2 * Math.random() - 1;
    noises.set(context, made);
  }
  return made;
}

/** One knock; the time at which it has died away. */
function knock(context: BaseAudioContext, out: AudioNode, timbre: Timbre, size: number, loud: number, at: number): number {
  const lowest = Math.min(7000, Math.max(110, (BENDING * timbre.speed) / Math.max(size, 0.004)));
  // Small things die away sooner.
  const ring = timbre.ring * Math.min(1.4, Math.max(0.35, Math.sqrt(size / 0.06)));
  const source = context.createBufferSource();
  source.buffer = noise(context);
  const tones = timbre.tones.map(([over, loud]) => ({ hertz: lowest * over, pure: timbre.pure, loud: loud * Math.sqrt(timbre.pure) * 0.5, ring: ring / Math.sqrt(over) }));
  // The knock itself: broad and short.
  tones.push({ hertz: lowest * 1.4, pure: 0.7, loud: timbre.knock, ring: Math.min(ring, 0.035) });
  for (const tone of tones) {
    if (tone.hertz > 0.45 * context.sampleRate) continue;
    const filter = context.createBiquadFilter();
    filter.type = "bandpass";
    filter.frequency.value = tone.hertz;
    filter.Q.value = tone.pure;
    const level = context.createGain();
    level.gain.setValueAtTime(0, at);
    level.gain.linearRampToValueAtTime(loud * tone.loud, at + 0.0015);
    level.gain.exponentialRampToValueAtTime(Math.max(1e-5, loud * tone.loud * 1e-3), at + tone.ring);
    source.connect(filter).connect(level).connect(out);
  }
  source.start(at, Math.random() * 0.4, ring + 0.02);
  return at + ring + 0.02;
}

/** Everything that one impact sounds like: a knock, or, where it broke, many small ones. */
export function play(context: BaseAudioContext, out: AudioNode, impact: Impact, at: number): number {
  const timbre = TIMBRES[impact.material] ?? TIMBRES.stone;
  const loud = loudness(impact.energy);
  let end = knock(context, out, timbre, impact.size, loud, at);
  if (!impact.broke) return end;
  const many = Math.min(7, 2 + Math.round(Math.sqrt(impact.area) * 25));
  for (let i = 0; i < many; i++) {
    const late = at + 0.012 + 0.16 * Math.random() ** 2;
    end = Math.max(end, knock(context, out, timbre, impact.size * (0.35 + 0.8 * Math.random()), loud * (0.25 + 0.4 * Math.random()), late));
  }
  return end;
}

export class Sound {
  on: boolean;
  /** Impacts that sounded so far. */
  played = 0;
  private context: AudioContext | null = null;
  private bus: GainNode | null = null;
  private ends: number[] = [];
  private timer = 0;

  /** `listen`: told whether anybody listens. */
  constructor(private readonly button: HTMLElement, private readonly listen: (on: boolean) => void) {
    this.on = remembered();
    button.onclick = () => this.set(!this.on);
    this.tell();
    // A browser lets nothing sound before somebody did something.
    for (const kind of ["pointerdown", "keydown"]) window.addEventListener(kind, () => this.on && this.open(), { capture: true });
    document.addEventListener("visibilitychange", () => document.hidden && this.hush());
  }

  set(on: boolean) {
    this.on = on;
    try {
      localStorage.setItem(KEY, on ? "on" : "off");
    } catch {
      // Then it is not remembered.
    }
    this.tell();
    this.listen(on);
    if (on) this.open();
    else this.hush();
  }

  /** Sounds what was heard; `side`: from -1 (left) to 1. */
  hear(all: Impact[], side: (impact: Impact) => number) {
    const { context, bus } = this;
    if (!this.on || !context || !bus || document.hidden || all.length === 0) return;
    if (context.state === "suspended") void context.resume();
    const now = context.currentTime;
    this.ends = this.ends.filter((end) => end > now);
    for (const impact of all.slice(0, MOST_NEW)) {
      if (this.ends.length >= MOST_VOICES) break;
      const pan = context.createStereoPanner();
      pan.pan.value = Math.min(0.8, Math.max(-0.8, side(impact)));
      pan.connect(bus);
      this.ends.push(play(context, pan, impact, now + 0.005 + 0.01 * Math.random()));
      this.played += 1;
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void context.suspend(), 1000 * SILENCE);
  }

  /** Silence at once: the world stands still, or nobody looks. */
  hush() {
    clearTimeout(this.timer);
    this.bus?.disconnect();
    this.bus = null;
    this.ends = [];
    if (this.context) {
      this.connect(this.context);
      if (this.context.state === "running") void this.context.suspend();
    }
  }

  private open() {
    if (this.context) return;
    this.context = new AudioContext({ latencyHint: "interactive" });
    this.connect(this.context);
    this.timer = setTimeout(() => void this.context?.suspend(), 1000 * SILENCE);
  }

  /** Many at once must not be too loud. */
  private connect(context: AudioContext) {
    this.bus = context.createGain();
    this.bus.gain.value = 0.7;
    this.bus.connect(context.createDynamicsCompressor()).connect(context.destination);
  }

  private tell() {
    this.button.setAttribute("aria-pressed", String(this.on));
    this.button.title = `${this.on ? "Sound is on" : "Sound is off"} (m)`;
  }
}

function remembered(): boolean {
  try {
    return localStorage.getItem(KEY) === "on";
  } catch {
    return false;
  }
}

/** For tests: how an impact sounds, on average: about how high, after how many seconds all but a
 * hundredth of it is over, and how loud. */
export async function measure(impact: Impact): Promise<{ hertz: number; seconds: number; peak: number }> {
  const [rate, times] = [44_100, 6];
  const sum = { hertz: 0, seconds: 0, peak: 0 };
  for (let n = 0; n < times; n++) {
    const context = new OfflineAudioContext(1, rate, rate);
    play(context, context.destination, impact, 0.01);
    const data = (await context.startRendering()).getChannelData(0);
    const energy = data.map((x) => x * x);
    const all = energy.reduce((a, b) => a + b, 0);
    let [heard, until] = [0, 0];
    while (heard < 0.99 * all && until < data.length) heard += energy[until++];
    // How often it crosses zero says how high it is.
    let crossings = 0;
    for (let i = 1; i < until; i++) if (data[i - 1] < 0 !== data[i] < 0) crossings += 1;
    sum.hertz += ((crossings / 2) * rate) / Math.max(1, until - 0.01 * rate) / times;
    sum.seconds += until / rate / times;
    sum.peak += Math.max(...data.map(Math.abs)) / times;
  }
  return sum;
}
