import { defineConfig } from "vite";

// Relative addresses: the page works from any folder of any file server. three.js is a
// chunk of its own: it comes while the worker prepares, and seldom changes.
export default defineConfig({
  base: "./",
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "three", test: /node_modules[\\/]three/ }] } } },
  },
  worker: { format: "es" },
});
