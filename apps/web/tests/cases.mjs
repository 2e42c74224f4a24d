// All tests of the page.
import * as bits from "./cases/bits.mjs";
import * as hands from "./cases/hands.mjs";
import * as home from "./cases/home.mjs";
import * as models from "./cases/models.mjs";
import * as opening from "./cases/opening.mjs";
import * as play from "./cases/play.mjs";
import * as scenes from "./cases/scenes.mjs";

/** Those that take longest come first, so that none of them is alone at the end. */
export const tests = Object.assign({}, ...[scenes, opening, models, hands, home, play, bits].map((subject) => subject.tests));
