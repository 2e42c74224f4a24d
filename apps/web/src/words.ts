// What the page says to its visitor: that it works, a word in passing, what went wrong.

export const $ = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

/** Says what is being done; `stoppable`: there is something to go back to. */
export function busy(text: string | null, stoppable = false) {
  $("busy").hidden = text === null;
  $("cancel").hidden = !stoppable;
  if (text) $("busy").querySelector("span")!.textContent = `${text[0].toUpperCase()}${text.slice(1)}…`;
}

/** What a slider stands at, for who hears it. */
export function value(id: string, text: string) {
  $(id).setAttribute("aria-valuetext", text);
}

let telling = 0;
/** A word in passing. */
export function tell(text: string) {
  $("told").textContent = text;
  $("told").hidden = false;
  clearTimeout(telling);
  telling = setTimeout(() => ($("told").hidden = true), 5000);
}

/** What the visitor does to press: the style sheet asks the same of the pointer. */
export const press = () => (matchMedia("(pointer: coarse)").matches ? "tap" : "click");

export function fail(text: string) {
  $("error").hidden = false;
  $("error").querySelector("p")!.textContent = text;
  $("error").querySelector("button")!.onclick = hideError;
}

export function hideError() {
  $("error").hidden = true;
}

export function sentence(text: string): string {
  const plain = text.replace(/ \((Fig\.|section|Marchal,) [^)]*\)/, "");
  return plain[0].toUpperCase() + plain.slice(1);
}

/** How the world's time goes beside the visitor's: nothing where it keeps up. */
export function paceWords(pace: number): string {
  if (pace <= 0 || pace >= 0.9) return "";
  return pace >= 0.1 ? ` · slower than life (${pace.toFixed(1)}×)` : " · far slower than life";
}
