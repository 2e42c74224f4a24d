// A video of the picture, as the browser records it.

/** Seconds after which a video ends by itself. */
const LONGEST = 120;
/** The first that the browser can write, and how such a file ends. */
const KINDS = [["video/webm;codecs=vp9", "webm"], ["video/webm", "webm"], ["video/mp4", "mp4"]] as const;

export class Video {
  private recorder: MediaRecorder | null = null;
  private timer = 0;
  /** What the browser has written so far, and whether that is enough. */
  private parts: Blob[] = [];
  private ending = false;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    /** Asks for a picture: where nothing moves, none would come. */
    private readonly redraw: () => void,
    private readonly done: (bytes: Blob, ending: string) => void,
    /** Told the seconds so far, and `null` at the end. */
    private readonly tell: (seconds: number | null) => void,
  ) {}

  static isThere(): boolean {
    return typeof MediaRecorder !== "undefined" && "captureStream" in HTMLCanvasElement.prototype && Video.kind() !== undefined;
  }

  private static kind() {
    return KINDS.find(([type]) => MediaRecorder.isTypeSupported(type));
  }

  isOn(): boolean {
    return this.recorder !== null;
  }

  start() {
    const kind = Video.kind();
    if (this.recorder || !kind) return;
    const stream = this.canvas.captureStream();
    const recorder = new MediaRecorder(stream, { mimeType: kind[0], videoBitsPerSecond: 8e6 });
    this.parts = [];
    this.ending = false;
    recorder.ondataavailable = (e) => {
      if (e.data.size === 0) return;
      this.parts.push(e.data);
      if (this.ending) this.finish();
    };
    recorder.onstop = () => {
      clearInterval(this.timer);
      for (const track of stream.getTracks()) track.stop();
      this.recorder = null;
      this.tell(null);
      this.done(new Blob(this.parts, { type: kind[0].split(";")[0] }), kind[1]);
    };
    this.recorder = recorder;
    recorder.start(1000);
    const from = performance.now();
    const tick = () => {
      const seconds = (performance.now() - from) / 1000;
      this.tell(seconds);
      // One picture a second at least: a video of things at rest has a length, too.
      this.redraw();
      if (seconds > LONGEST) this.finish();
    };
    this.timer = setInterval(tick, 1000);
    tick();
  }

  /** Ends it, with its first picture at the earliest: without one, the file would be empty. */
  stop() {
    this.ending = true;
    if (this.parts.length > 0) this.finish();
    else this.redraw();
  }

  private finish() {
    if (this.recorder?.state === "recording") this.recorder.stop();
  }
}
