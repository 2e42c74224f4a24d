import { launch, open, ready, serve, until } from "./browser.mjs";
const { server, address } = await serve("dist");
const b = await launch();
const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
for (const [name, o, fold] of [["light", { colorScheme: "light" }], ["dark", {}], ["phone", phone], ["phone-panel", phone, 1]].filter(([n]) => !process.argv[3] || process.argv[3].split(",").includes(n))) {
  const { page, errors } = await open(b, address + (process.argv[2] ?? ""), o);
  await ready(page);
  await page.waitForTimeout(Number(process.argv[4] ?? 1500));
  if (fold) { await page.tap("#fold"); await page.waitForTimeout(600); }
  await page.screenshot({ path: `/tmp/shot-${name}.png` });
  console.log(name, errors);
  await page.context().close();
}
await b.close(); server.close();
