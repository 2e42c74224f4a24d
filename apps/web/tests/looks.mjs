// What is asked of the page's looks, by the page itself: contrast, and nothing over something else.

/** In the page: texts whose contrast is below 4.5 to 1. */
export function contrasts() {
  const parse = (c) => {
    const n = c.match(/[\d.]+/g).map(Number);
    return c.startsWith("color(srgb") ? [255 * n[0], 255 * n[1], 255 * n[2], n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1];
  };
  const light = (c) => {
    const [r, g, b] = c.map((v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const poor = [];
  for (const e of document.querySelectorAll("button, label, p, dt, dd, h2, select, output, figcaption span, #hint b")) {
    if (!e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || e.disabled || e.classList.contains("hidden") || !e.textContent.trim()) continue;
    // What lies behind, from the page's own ground up.
    const behind = [];
    for (let at = e; at; at = at.parentElement) behind.unshift(parse(getComputedStyle(at).backgroundColor));
    let ground = parse(getComputedStyle(document.body).backgroundColor).slice(0, 3);
    for (const [r, g, b, a] of behind) ground = ground.map((v, i) => v + ([r, g, b][i] - v) * a);
    const [x, y] = [light(parse(getComputedStyle(e).color).slice(0, 3)), light(ground)];
    const ratio = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
    if (ratio < 4.5) poor.push(`"${e.textContent.trim().slice(0, 20)}" ${ratio.toFixed(2)}`);
  }
  return [...new Set(poor)];
}

/** In the page: what sticks out, or lies over something else that one wants to press. */
export function layout() {
  const faults = [];
  if (document.documentElement.scrollWidth > innerWidth) faults.push(`the page is ${document.documentElement.scrollWidth} wide`);
  for (const e of document.querySelectorAll("#top > *:not(.grow), #bar > *, #bar button")) {
    if (!e.checkVisibility()) continue;
    const box = e.getBoundingClientRect();
    if (box.left < 0 || box.right > innerWidth + 0.5 || box.bottom > innerHeight + 0.5) faults.push(`${e.id || e.className} sticks out (${Math.round(box.left)} to ${Math.round(box.right)})`);
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (top && top !== e && !e.contains(top) && !top.contains(e)) faults.push(`${e.id || e.className} is under ${top.id || top.tagName}`);
  }
  return faults;
}
