// What page and worker say to each other.

/** A body as the page draws it. */
export type Body =
  | {
      kind: "piece"; object: number; fragment: number; colour: [number, number, number]; levels: number;
      /** Of what it is, where that has a name. */
      material?: string | null;
      /** Whether the scene's own colour holds, not the material's. */
      dyed?: boolean;
      /** Whether the visitor chose the material. */
      chosen?: boolean;
    }
  | { kind: "ball"; radius: number; colour?: [number, number, number] }
  | { kind: "box"; half: [number, number, number]; colour?: [number, number, number] }
  | { kind: "floor" }
  | { kind: "other" };

/** A body that is new, or, under a number that is known already, one that deformed. */
export interface Born {
  number: number;
  body: Body;
  /** Corner positions and normals, nine numbers a triangle; pieces only. */
  positions?: Float32Array;
  normals?: Float32Array;
  outerTriangles?: number;
  /** Texture coordinates, two a corner, of a model with materials of its own. */
  uvs?: Float32Array;
  /** Of such a model: number of each material of the outer surface, and its triangles. */
  groups?: Uint32Array;
}

/** A material of the visitor's own model. */
export interface OwnMaterial {
  /** Linear red, green, blue, and opacity. */
  colour: [number, number, number, number];
  rough: number;
  metal: number;
  /** How much of it is drawn before what is behind it; below 1 it is clear. */
  opacity: number;
  /** Whether its picture says where it is clear. */
  blends: boolean;
  /** From which opacity of its picture on it is there at all; 0: everywhere. */
  cutoff: number;
  /** Number of its picture. */
  picture: number | null;
  mime: string | null;
  /** How the picture repeats, as glTF numbers it. */
  wrap: [number, number];
}
/** A picture of the visitor's own model: the bytes of its file. */
export interface OwnPicture {
  number: number;
  mime: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Places in the array of a step's numbers; see `Simulation::stats`. */
export const STAT = {
  step: 0, collision: 1, physics: 2, fracture: 3, update: 4, total: 5, pairs: 6, visited: 7,
  contacts: 8, solverContacts: 9, pieces: 10, fragments: 11, broken: 12, saving: 13,
} as const;
export const STATS = 14;

export interface Frame {
  /** Counts loads: frames of an older world are dropped. */
  epoch: number;
  /** Number, place (3), turn (4) of every body. */
  poses: Float32Array;
  born: Born[];
  gone: number[];
  /** The numbers of every step since the last frame. */
  stats: Float64Array;
  /** Point (3), normal (3), distance, impulse each. */
  contacts?: Float32Array;
  /** What could be heard since the last frame; see `impacts.ts`. */
  impacts?: Float32Array;
  /** How the game stands, where one is played. */
  game?: Game;
  /** Steps of world time per second of the wall, over a second each. */
  pace: number;
  /** Whether there is a break to undo. */
  undo: boolean;
  /** Whether nothing moves any more: no step is made until somebody does something. */
  rest: boolean;
  /** Whether the world went back: numbers of later steps do not hold any more. */
  back: boolean;
}

/** Something that somebody did, told so that it can be done again: pieces by object and fragment. */
export type Deed =
  | { t: "shoot"; path: number[]; radius: number }
  | { t: "hit"; piece: [number, number]; at: number[]; speed: number; radius: number }
  | { t: "tune"; material: string; strength: number; again: boolean }
  | { t: "grab"; piece: [number, number]; at: number[] }
  | { t: "move"; to: number[] }
  | { t: "release" }
  /** By a pattern, into about so many, at a point and its normal. */
  | { t: "shatter"; piece: [number, number]; pattern: string; pieces: number; seed: number; at: number[] }
  /** Along a line on the screen: the eye, and the directions of both ends. */
  | { t: "cut"; sight: number[] };
/** A deed and the step before which it was done. */
export type Done = [step: number, deed: Deed];

/** All that is needed to play what happened once more. */
export interface Story {
  scene?: string;
  seed: number;
  smooth: boolean;
  /** A mesh of the visitor's own, and of what it was made. */
  file?: { name: string; bytes: ArrayBuffer; material: string };
  deeds: Done[];
  steps: number;
}

/** How a game stands; see `fracas-web`'s `challenges.rs`. */
export interface Game {
  state: "open" | "won" | "lost";
  /** Balls that the player threw, and the energy that they brought (J). */
  balls: number;
  energy: number;
  seconds: number;
  /** Balls thrown at the vase. */
  throws: number;
  /** Of the highest piece (m). */
  height: number;
}

export interface Info {
  name: string;
  low: [number, number, number];
  high: [number, number, number];
  step: number;
  /** Steps of a recording. */
  length?: number;
  /** Whether it is a soft scene: to be watched, hands do not reach it. */
  soft: boolean;
}

/** What the page wants to see besides bodies. */
export interface Look {
  contacts: boolean;
  spheres: boolean;
  tets: boolean;
  voxels: boolean;
  level: number;
  /** Origin and two sides of the slice, or none. */
  slice: number[] | null;
}

export type Overlay = "spheres" | "tets" | "voxels";

/** What a step of a smooth world may cost, in milliseconds of work (`WorldSettings::step_budget`). */
export const SMOOTH_MS = 6;

/** `smooth`: long steps hand work on to the next. */
export type ToWorker =
  /** First of all: the library, compiled. */
  | { t: "init"; module: WebAssembly.Module }
  | { t: "scene"; name: string; seed: number; smooth: boolean; deeds: Done[]; epoch: number }
  | { t: "mesh"; file: string; bytes: ArrayBuffer; material: string; smooth: boolean; epoch: number }
  | { t: "film"; file: string; bytes: ArrayBuffer; epoch: number }
  | { t: "run"; on: boolean }
  | { t: "speed"; factor: number }
  | { t: "one" }
  /** Asks for `settled`: an answer behind everything that was asked before it. */
  | { t: "settle" }
  | { t: "undo" }
  | { t: "reset"; epoch: number }
  | { t: "seek"; step: number }
  | { t: "ack" }
  | { t: "look"; look: Look }
  | { t: "do"; deed: Deed }
  /** Whether anybody listens: contacts are told only then, breaks always. */
  | { t: "listen"; on: boolean }
  /** Asks for the pieces as a file, or for the whole recording. */
  | { t: "export" }
  /** Asks for step and digest of the world as it is, and for what was done. */
  | { t: "state" }
  /** Plays a story as fast as it goes, and asks for a file of it. */
  | { t: "remake"; story: Story; as: "glb" | "film" }
  | { t: "digest"; scene: string; steps: number; shown: boolean; smooth: boolean }
  /** Breaks something that nobody sees. */
  | { t: "rehearse" };

export type FromWorker =
  | { t: "ready"; scenes: { name: string; about: string; game: boolean }[]; materials: string[]; patterns: string[] }
  | { t: "progress"; text: string }
  | { t: "loaded"; info: Info; epoch: number; materials?: OwnMaterial[]; pictures?: OwnPicture[] }
  | { t: "reload"; epoch: number }
  | { t: "frame"; frame: Frame }
  | { t: "overlay"; epoch: number; kind: Overlay; number: number; data: Float32Array }
  | { t: "slice"; epoch: number; width: number; height: number; data: Float32Array }
  | { t: "sought"; step: number }
  /** All that was done so far: for the address. */
  | { t: "deeds"; deeds: Done[]; epoch: number }
  | { t: "exported"; bytes: Uint8Array<ArrayBuffer> }
  | { t: "state"; step: number; digest: string; deeds: Done[] }
  | { t: "remade"; bytes: Uint8Array<ArrayBuffer>; digest: string }
  | { t: "settled" }
  /** A shot that the rules of a game do not allow. */
  | { t: "refused" }
  /** A pattern or a cut that parts nothing. */
  | { t: "whole" }
  /** `loading`: nothing came of what was to be prepared. */
  | { t: "error"; text: string; loading: boolean }
  /** With how many bodies that were not there before. */
  | { t: "rehearsed"; born: number }
  /** `most`: points that were asked in one step. */
  | { t: "digest"; digest: string; milliseconds: number; longest: number; most: number; steps: number };
