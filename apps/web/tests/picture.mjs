// Draws GLB files as other programs do, with three.js and nothing of ours:
// `node tests/picture.mjs OUT.png FILE.glb [FILE.glb ...]`, side by side. Animated ones are
// shown at their end.

import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { launch } from "./browser.mjs";

const [out, ...files] = process.argv.slice(2);
const PAGE = `<!doctype html><style>body{margin:0;display:flex}</style>
<script type="importmap">{"imports":{"three":"/three/build/three.module.js","three/":"/three/"}}</script>
<script type="module">
import * as T from "three";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
const count = ${files.length};
for (let i = 0; i < count; i++) {
  const renderer = new T.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
  renderer.setSize(420, 420);
  renderer.shadowMap.enabled = true;
  document.body.append(renderer.domElement);
  const scene = new T.Scene();
  scene.background = new T.Color(0xe9e7e2);
  const { scene: model, animations } = await new GLTFLoader().loadAsync("/file/" + i);
  if (animations.length) {
    const mixer = new T.AnimationMixer(model);
    mixer.clipAction(animations[0]).play();
    mixer.setTime(animations[0].duration - 1e-4);
  }
  model.updateMatrixWorld(true);
  scene.add(model, new T.HemisphereLight(0xffffff, 0x998877, 1.6));
  const box = new T.Box3();
  // What is scaled to nothing is not there.
  model.traverse((node) => node.isMesh && node.getWorldScale(new T.Vector3()).x > 1e-3 && box.expandByObject(node, true));
  const size = box.getSize(new T.Vector3()).length(), middle = box.getCenter(new T.Vector3());
  const sun = new T.DirectionalLight(0xffffff, 2.2);
  sun.position.copy(middle).add(new T.Vector3(0.6, 1.2, 0.5).multiplyScalar(size));
  sun.target.position.copy(middle);
  Object.assign(sun.shadow.camera, { left: -size, right: size, top: size, bottom: -size, far: 4 * size });
  sun.castShadow = true;
  sun.shadow.mapSize.set(2048, 2048);
  sun.shadow.normalBias = 0.004 * size;
  model.traverse((node) => { node.castShadow = node.receiveShadow = true; });
  const floor = new T.Mesh(new T.PlaneGeometry(9 * size, 9 * size), new T.ShadowMaterial({ opacity: 0.3 }));
  floor.rotation.x = -Math.PI / 2;
  floor.position.set(middle.x, box.min.y, middle.z);
  floor.receiveShadow = true;
  scene.add(sun, sun.target, floor);
  const camera = new T.PerspectiveCamera(30, 1, 0.01 * size, 10 * size);
  camera.position.copy(middle).add(new T.Vector3(0.7, 0.65, 1.2).normalize().multiplyScalar(1.75 * size));
  camera.lookAt(middle);
  renderer.render(scene, camera);
}
document.title = "done";
</script>`;
const here = new URL("..", import.meta.url).pathname;
const server = createServer(async (request, response) => {
  const send = (kind, body) => response.writeHead(200, { "content-type": kind }).end(body);
  try {
    if (request.url === "/") send("text/html", PAGE);
    else if (request.url.startsWith("/file/")) send("model/gltf-binary", await readFile(files[Number(request.url.slice(6))]));
    else send(extname(request.url) === ".js" ? "text/javascript" : "text/plain", await readFile(join(here, "node_modules", request.url)));
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const browser = await launch();
const page = await browser.newPage({ viewport: { width: 420 * files.length, height: 420 } });
page.on("pageerror", (error) => console.error(String(error)));
page.on("console", (message) => message.type() === "error" && console.error(message.text()));
await page.goto(`http://127.0.0.1:${server.address().port}/`);
await page.waitForFunction(() => document.title === "done", null, { timeout: 180_000 });
await writeFile(out, await page.screenshot());
await browser.close();
server.close();
