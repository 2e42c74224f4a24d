import { defineConfig } from "vite";

// Relative addresses: the page works from any folder of any file server.
export default defineConfig({
  base: "./",
  build: { outDir: "dist", emptyOutDir: true, target: "es2022", assetsInlineLimit: 0 },
  worker: { format: "es" },
});
