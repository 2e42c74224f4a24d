// Who draws: a graphics card, or the processor.

/** Whether a graphics card draws. Without one, every triangle and every pixel costs time of
 * the processor, which the world needs: then less is drawn, and less often. */
export function hasGraphicsCard(): boolean {
  if (typeof OffscreenCanvas === "undefined") return true;
  const gl = new OffscreenCanvas(1, 1).getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}
