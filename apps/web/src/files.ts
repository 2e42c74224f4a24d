// Files that come in by the button or are dropped, and files that go out.

import { $ } from "./words";

/** Listens for files: chosen, or dropped anywhere on the page. */
export function takeFiles(receive: (file: File) => void) {
  const first = (files: FileList | null | undefined) => files?.[0] && receive(files[0]);
  $("open").onclick = () => $("file").click();
  $<HTMLInputElement>("file").onchange = (e) => {
    const input = e.target as HTMLInputElement;
    first(input.files);
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
    first(e.dataTransfer?.files);
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
