// All that happened, played once more by a worker of its own and written to a file: the
// same deeds before the same steps give the same bits.

import type { FromWorker, Story, ToWorker } from "./protocol";

export interface Remade {
  bytes: Uint8Array<ArrayBuffer>;
  /** Of the world in which it ended. */
  digest: string;
}

export class Replay {
  private worker: Worker | null = null;
  private stopped: (() => void) | null = null;

  constructor(private readonly newWorker: () => Worker, private readonly library: Promise<WebAssembly.Module>) {}

  isOn(): boolean {
    return this.worker !== null;
  }

  /** Plays a story; `null` where it was given up. */
  play(story: Story, as: "glb" | "film", progress: (text: string) => void): Promise<Remade | null> {
    this.stop();
    const worker = this.newWorker();
    this.worker = worker;
    return new Promise<Remade | null>((done, failed) => {
      this.stopped = () => done(null);
      worker.onmessage = ({ data: m }: MessageEvent<FromWorker>) => {
        if (m.t === "progress") progress(m.text);
        else if (m.t === "remade") done({ bytes: m.bytes, digest: m.digest });
        else if (m.t === "error") failed(new Error(m.text));
      };
      worker.onerror = (e) => failed(new Error(e.message || "the simulation stopped"));
      this.library.then((module) => {
        worker.postMessage({ t: "init", module } satisfies ToWorker);
        worker.postMessage({ t: "remake", story, as } satisfies ToWorker);
      }, failed);
    }).finally(() => {
      worker.terminate();
      if (this.worker === worker) this.worker = this.stopped = null;
    });
  }

  /** Gives it up. */
  stop() {
    this.stopped?.();
  }
}
