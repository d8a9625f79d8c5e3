// A small histogram of a metric, with a brush to choose a range.

import { brushX, scaleLinear, select } from "./vendor/d3.js";
import { makeSvg } from "./dom.js";

const WIDTH = 220;
const HEIGHT = 34;
const BINS = 44;

/** Returns the least and the largest value that there is. */
export function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

/** Draws a histogram; `choose([low, high])` is called when a range is brushed, nulls for none. */
export function createHistogram(values, range, choose) {
  const [low, high] = extent(values);
  const scale = scaleLinear([low, high > low ? high : low + 1], [0, WIDTH]);
  const counts = new Array(BINS).fill(0);
  for (const value of values) {
    if (Number.isFinite(value))
      counts[Math.min(BINS - 1, Math.floor((scale(value) / WIDTH) * BINS))]++;
  }
  const most = Math.sqrt(Math.max(...counts, 1));
  const bars = counts.map((count, bin) => {
    const height = (Math.sqrt(count) / most) * HEIGHT;
    return makeSvg("rect", {
      x: (bin * WIDTH) / BINS,
      y: HEIGHT - height,
      width: WIDTH / BINS - 1,
      height,
    });
  });
  const svg = makeSvg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "histogram", "aria-hidden": "true" },
    ...bars,
  );
  const brush = brushX().extent([
    [0, 0],
    [WIDTH, HEIGHT],
  ]);
  const group = select(svg).append("g").attr("class", "brush").call(brush);
  const [from, to] = [range?.[0] ?? low, range?.[1] ?? high].map((bound) =>
    scale.clamp(true)(bound),
  );
  if (range && from < to) group.call(brush.move, [from, to]);
  brush.on("end", ({ selection, sourceEvent }) => {
    if (!sourceEvent) return;
    const round = (value) => Number(value.toPrecision(4));
    const [left, right] = selection ?? [0, WIDTH];
    choose([
      left > 0.5 ? round(scale.invert(left)) : null,
      right < WIDTH - 0.5 ? round(scale.invert(right)) : null,
    ]);
  });
  return svg;
}
