// The Khronos validator over all GLB files of a folder: `node tests/validate.mjs FOLDER`.
// Errors fail; warnings are told.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import validator from "gltf-validator";

const folder = process.argv[2];
const files = readdirSync(folder).filter((name) => name.endsWith(".glb"));
let errors = 0;
for (const name of files) {
  const bytes = new Uint8Array(readFileSync(join(folder, name)));
  const { issues } = await validator.validateBytes(bytes, { maxIssues: 100 });
  errors += issues.numErrors;
  console.log(`   ${name}: ${issues.numErrors} errors, ${issues.numWarnings} warnings`);
  const told = new Set();
  for (const { severity, code, message, pointer } of issues.messages) {
    // Severity 0 is an error, 1 a warning; of each kind the first.
    if (severity > 1 || told.has(code)) continue;
    told.add(code);
    console.log(`      ${code} at ${pointer}: ${message}`);
  }
}
if (files.length < 2 || errors > 0) {
  console.error(`${errors} errors in ${files.length} files`);
  process.exit(1);
}
