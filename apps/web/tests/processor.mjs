// Processor seconds of the browser that this program started, by Linux' own counts.
import { readdirSync, readFileSync } from "node:fs";

const TICKS = 100;

const stat = (path) => {
  const text = readFileSync(`${path}/stat`, "utf8");
  const end = text.lastIndexOf(")");
  const rest = text.slice(end + 2).split(" ");
  return { name: text.slice(text.indexOf("(") + 1, end), parent: rest[1], seconds: (Number(rest[11]) + Number(rest[12])) / TICKS };
};

/** Seconds of the pages' own threads, of the workers that live, of all threads of the pages'
 * processes, and of the process that draws; `null` where nobody counts them. */
export function processor() {
  const all = new Map();
  const numbers = (folder) => {
    try {
      return readdirSync(folder).filter((p) => /^\d+$/.test(p));
    } catch {
      return []; // it has ended meanwhile, or there is no such thing here
    }
  };
  const read = (path) => {
    try {
      return stat(path);
    } catch {
      return { name: "", parent: "0", seconds: 0 };
    }
  };
  for (const pid of numbers("/proc")) all.set(pid, read(`/proc/${pid}`));
  if (all.size === 0) return null;
  const isOurs = (pid) => {
    for (let at = pid; at && at !== "0"; at = all.get(at)?.parent) if (at === String(process.pid)) return true;
    return false;
  };
  const sums = { page: 0, worker: 0, pages: 0, drawing: 0 };
  for (const [pid, { seconds }] of all) {
    if (!isOurs(pid)) continue;
    let kind = "";
    try {
      kind = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    } catch {
      continue; // it has ended meanwhile
    }
    if (kind.includes("--type=gpu")) sums.drawing += seconds;
    if (!kind.includes("--type=renderer")) continue;
    sums.pages += seconds;
    for (const tid of numbers(`/proc/${pid}/task`)) {
      const of = read(`/proc/${pid}/task/${tid}`);
      if (tid === pid) sums.page += of.seconds;
      else if (of.name.startsWith("DedicatedWorker")) sums.worker += of.seconds;
    }
  }
  return sums;
}
