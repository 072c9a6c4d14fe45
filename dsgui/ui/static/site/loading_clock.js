// Gradio's loading screen never stops its clock: 60 frames a second for as long as the page is open. Its module takes
// `requestAnimationFrame` once, when it begins; what it gets here ticks once a second. In the page's head: it has to be
// there before Gradio's modules.

{
  const frames = window.requestAnimationFrame;
  /** @param {typeof frames} value */
  const have = (value) =>
    Object.defineProperty(window, "requestAnimationFrame", {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  Object.defineProperty(window, "requestAnimationFrame", {
    configurable: true,
    enumerable: true,
    set: have,
    get() {
      if (!new Error().stack?.includes("/statustracker-")) return frames;
      have(frames);
      /** @param {FrameRequestCallback} tick */
      return (tick) => setTimeout(tick, 1000);
    },
  });
}
