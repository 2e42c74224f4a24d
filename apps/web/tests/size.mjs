// What the first load of the page weighs, gzipped and by Brotli: node size.mjs FOLDER
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

const folder = process.argv[2];
let [plain, gzip, brotli] = [0, 0, 0];
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || entry.name.endsWith(".map")) continue;
  const path = join(entry.parentPath ?? entry.path, entry.name);
  const bytes = readFileSync(path);
  const [g, b] = [gzipSync(bytes, { level: 9 }).length, brotliCompressSync(bytes).length];
  console.log(`   ${path}: ${bytes.length} bytes, gzip ${g}, brotli ${b}`);
  plain += bytes.length;
  gzip += g;
  brotli += b;
}
console.log(`first load, compressed: ${gzip} bytes (gzip), ${brotli} (brotli), ${plain} plain`);
