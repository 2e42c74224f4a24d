// Files that come in by the button or are dropped, and files that go out.

import { dropped } from "./bundle";
import { $ } from "./words";

/** Listens for files: chosen, or dropped anywhere on the page. */
export function takeFiles(receive: (files: Promise<File[]>) => void) {
  $("open").onclick = () => $("file").click();
  $<HTMLInputElement>("file").onchange = (e) => {
    const input = e.target as HTMLInputElement;
    if (input.files?.length) receive(Promise.resolve([...input.files]));
    input.value = "";
  };
  let depth = 0;
  const drag = (by: number) => {
    depth = Math.max(0, depth + by);
    $("drop").hidden = depth === 0;
  };
  window.addEventListener("dragenter", (e) => { e.preventDefault(); drag(1); });
  window.addEventListener("dragleave", () => drag(-1));
  window.addEventListener("dragover", (e) => e.preventDefault());
  window.addEventListener("drop", (e) => {
    e.preventDefault();
    depth = 0;
    drag(0);
    if (e.dataTransfer?.files.length) receive(dropped(e.dataTransfer));
  });
}

/** Gives the visitor a file. */
export function give(name: string, blob: Blob) {
  const url = URL.createObjectURL(blob);
  const a = document.createElement("a");
  [a.href, a.download] = [url, name];
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
