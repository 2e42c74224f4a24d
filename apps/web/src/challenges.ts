// Three small games: their rules in words, how they stand, and how they end. The library
// keeps the rules and counts; a link holds what was done, and the score is counted again.

import type { Game } from "./protocol";
import { $ } from "./words";

interface Rule {
  title: string;
  rule: string;
  /** What hands may do. */
  shoot: boolean;
  grab: boolean;
  /** Whether the player chooses how hard to throw. */
  power?: boolean;
  live: (g: Game) => string;
  end: (g: Game) => string;
  /** From 0 to 3. */
  stars: (g: Game) => number;
}

const balls = (n: number) => `${n} ${n === 1 ? "ball" : "balls"}`;
const RULES: Record<string, Rule> = {
  "open-the-safe": {
    title: "Open the safe",
    rule: "You have three balls. Click or tap to throw one at the door. The safe is open when the gold rolls out.",
    shoot: true, grab: false,
    live: (g) => `${balls(3 - g.balls)} left`,
    end: (g) => (g.state === "won" ? `Open with ${balls(g.balls)}, in ${g.seconds.toFixed(1)} s.` : "The gold is still inside."),
    stars: (g) => (g.state === "won" ? 4 - g.balls : 0),
  },
  "save-the-vase": {
    title: "Save the vase",
    rule: "Drag the vase out of the way of the balls, for 30 seconds. It begins when you take hold of it.",
    shoot: false, grab: true,
    live: (g) => (g.seconds > 0 ? `${Math.max(0, 30 - g.seconds).toFixed(0)} s to go · ${balls(g.throws)} thrown` : "Take hold of the vase to begin."),
    end: (g) => (g.state === "won" ? `Saved from ${balls(g.throws)}.` : `It lasted ${g.seconds.toFixed(1)} s, and ${balls(g.throws)}.`),
    stars: (g) => (g.state === "won" ? 3 : g.seconds >= 20 ? 2 : g.seconds >= 8 ? 1 : 0),
  },
  "fell-the-tower": {
    title: "Fell the tower",
    rule: "Click or tap to throw, up to eight balls. The tower is down when nothing stands above 27 cm. Use as little energy as you can.",
    shoot: true, grab: false, power: true,
    live: (g) => `${g.energy.toFixed(1)} J used · ${balls(8 - g.balls)} left · ${Math.round(100 * g.height)} cm high`,
    end: (g) => (g.state === "won" ? `Down with ${g.energy.toFixed(1)} J and ${balls(g.balls)}.` : "It still stands."),
    stars: (g) => (g.state !== "won" ? 0 : g.energy <= 16 ? 3 : g.energy <= 30 ? 2 : 1),
  },
};

export const isGame = (scene: string | undefined) => scene !== undefined && scene in RULES;
export const gameTitle = (scene: string) => RULES[scene]?.title;

/** What the hands may do in a game. */
export interface Allowed {
  shoot: boolean;
  grab: boolean;
  /** Metres per second, where the player chooses. */
  speed?: () => number;
}

/** The card with the rule and the score. */
export class Card {
  private rule: Rule | null = null;
  private state = "";

  constructor(again: () => void, copyLink: () => void, leave: () => void) {
    $("game-again").onclick = again;
    $("game-link").onclick = copyLink;
    $("game-leave").onclick = leave;
    $<HTMLInputElement>("power").oninput = () => this.tellPower();
  }

  /** Shows the card of a game, or none; `watching`: it is played by a link. */
  open(scene: string | undefined, watching: boolean): Allowed | null {
    this.rule = RULES[scene ?? ""] ?? null;
    document.body.classList.toggle("game", this.rule !== null);
    $("game").hidden = this.rule === null;
    if (!this.rule) return null;
    this.state = "";
    $("game-title").textContent = this.rule.title;
    $("game-rule").textContent = watching ? `Somebody played this: watch. ${this.rule.rule}` : this.rule.rule;
    $("game-live").textContent = "";
    $("game-live").hidden = false;
    $("game-end").hidden = $("game-link").hidden = true;
    $("power-row").hidden = !this.rule.power || watching;
    $("game-again").textContent = watching ? "Your turn" : "Start again";
    this.tellPower();
    const { shoot, grab, power } = this.rule;
    return { shoot: shoot && !watching, grab: grab && !watching, speed: power ? () => Number($<HTMLInputElement>("power").value) : undefined };
  }

  /** How it stands now. */
  tell(game: Game) {
    if (!this.rule) return;
    $("game-live").textContent = game.state === "open" ? this.rule.live(game) : "";
    if (game.state === this.state) return;
    this.state = game.state;
    const over = game.state !== "open";
    $("game-end").hidden = $("game-link").hidden = !over;
    $("game-live").hidden = over;
    $("power-row").hidden ||= over;
    if (!over) return;
    const stars = this.rule.stars(game);
    $("game-stars").textContent = "★".repeat(stars) + "☆".repeat(3 - stars);
    $("game-stars").setAttribute("aria-label", `${stars} of 3 stars`);
    $("game-score").textContent = this.rule.end(game);
    if ($("game-again").textContent === "Start again") $("game-again").textContent = "Try again";
  }

  private tellPower() {
    const speed = Number($<HTMLInputElement>("power").value);
    // A steel ball of 2.8 cm radius has 0.717 kg.
    $("power-out").textContent = `${speed} m/s, ${(0.5 * 0.717 * speed * speed).toFixed(1)} J`;
    $("power").setAttribute("aria-valuetext", $("power-out").textContent!);
  }
}
