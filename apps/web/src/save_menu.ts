// The menu of what can be taken home: picture, video, pieces, all that happened, a link.

import { Video } from "./video";
import { $ } from "./words";

/** What can be saved of what is on the stage. */
export interface Savable {
  pieces: boolean;
  animation: boolean;
  recording: boolean;
  link: boolean;
}

/** What the menu's entries do. */
export interface Saving {
  picture: () => void;
  video: (bytes: Blob, ending: string) => void;
  pieces: () => void;
  animation: () => void;
  recording: () => void;
  link: () => void;
}

export class SaveMenu {
  private readonly button = $("save");
  private readonly list = $("save-list");
  private readonly video: Video;

  constructor(canvas: HTMLCanvasElement, saving: Saving, redraw: () => void) {
    this.video = new Video(canvas, redraw, (bytes, ending) => saving.video(bytes, ending), (seconds) => this.tellVideo(seconds));
    this.button.onclick = () => (this.video.isOn() ? this.video.stop() : this.show(this.list.hidden === true));
    const entries = { picture: saving.picture, pieces: saving.pieces, animation: saving.animation, recording: saving.recording, link: saving.link, video: () => this.video.start() };
    for (const [id, act] of Object.entries(entries))
      $(`save-${id}`).onclick = () => {
        this.show(false);
        this.button.focus({ preventScroll: true });
        act();
      };
    $("save-video").hidden = !Video.isThere();
    this.list.addEventListener("keydown", (e) => this.key(e));
    this.button.addEventListener("keydown", (e) => {
      if (e.key !== "ArrowDown" || this.video.isOn()) return;
      e.preventDefault();
      e.stopPropagation();
      this.show(true);
    });
    document.addEventListener("pointerdown", (e) => {
      if (!this.list.hidden && !this.button.parentElement!.contains(e.target as Node)) this.show(false);
    });
    this.button.parentElement!.addEventListener("focusout", (e) => {
      if (e.relatedTarget && !this.button.parentElement!.contains(e.relatedTarget as Node)) this.show(false);
    });
  }

  /** Says what there is to be saved. */
  offer(what: Savable) {
    $("save-pieces").hidden = !what.pieces;
    $("save-animation").hidden = !what.animation;
    $("save-recording").hidden = !what.recording;
    $("save-link").hidden = !what.link;
  }

  private show(on: boolean) {
    this.list.hidden = !on;
    this.button.setAttribute("aria-expanded", String(on));
    if (on) this.entries()[0]?.focus();
  }

  private entries() {
    return [...this.list.querySelectorAll("button")].filter((b) => b.checkVisibility());
  }

  private key(e: KeyboardEvent) {
    const all = this.entries();
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const to: Record<string, number> = { ArrowDown: (at + 1) % all.length, ArrowUp: (at + all.length - 1) % all.length, Home: 0, End: all.length - 1 };
    // What is typed here is for the menu, not for the world.
    e.stopPropagation();
    if (e.key === "Escape") {
      this.show(false);
      this.button.focus();
    } else if (e.key in to) {
      e.preventDefault();
      all[to[e.key]].focus();
    }
  }

  /** While a video is taken, the button stops it. */
  private tellVideo(seconds: number | null) {
    const on = seconds !== null;
    this.button.classList.toggle("main", on);
    this.button.textContent = on ? `■ ${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}` : "Save";
    if (on) this.button.setAttribute("aria-label", "Stop the video");
    else this.button.removeAttribute("aria-label");
    this.button.title = on ? "Stop the video and save it" : "Take it home";
  }
}
