// A small histogram of a metric, with a brush to choose a range.

import { brushX, scaleLinear, select } from "./vendor/d3.js";
import { makeSvg } from "./dom.js";
import { formatCount, formatFigure } from "./format.js";

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

/** Returns how many of some values are in each bin. */
function countsOf(values, binOf, counts) {
  const bins = new Array(BINS).fill(0);
  for (let row = 0; row < values.length; row++) {
    if (Number.isFinite(values[row]) && counts(row)) bins[binOf(values[row])]++;
  }
  return bins;
}

/**
 * Draws a histogram: all rows faint, those that pass the other filters in front. Heights go by the
 * square root, so that rare values are seen beside common ones.
 *
 * @param values One a row.
 * @param passes Whether the other filters let a row pass.
 * @param range What is chosen, as [low, high] with nulls; undefined for everything.
 * @param choose Called with such a range when one is brushed.
 * @returns The drawing, and `scale`: what its heights mean.
 */
export function createHistogram(values, passes, range, choose) {
  const [low, high] = extent(values);
  const scale = scaleLinear([low, high > low ? high : low + 1], [0, WIDTH]);
  const binOf = (value) => Math.min(BINS - 1, Math.floor((scale(value) / WIDTH) * BINS));
  const all = countsOf(values, binOf, () => true);
  const left = countsOf(values, binOf, passes);
  const most = Math.max(...left, 1);
  const bar = (count, bin, className) => {
    const height = Math.min(1, Math.sqrt(count / most)) * HEIGHT;
    const [from, to] = [bin, bin + 1].map((edge) =>
      formatFigure(scale.invert((edge * WIDTH) / BINS)),
    );
    return makeSvg(
      "rect",
      {
        x: (bin * WIDTH) / BINS,
        y: HEIGHT - height,
        width: WIDTH / BINS - 1,
        height,
        class: className,
      },
      makeSvg(
        "title",
        {},
        `${from} to ${to}: ${formatCount(left[bin])} of ${formatCount(all[bin])}`,
      ),
    );
  };
  const svg = makeSvg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "histogram", "aria-hidden": "true" },
    ...all.map((count, bin) => bar(count, bin, "all")),
    ...left.map((count, bin) => bar(count, bin, "left")),
  );
  const brush = brushX().extent([
    [0, 0],
    [WIDTH, HEIGHT],
  ]);
  const group = select(svg).append("g").attr("class", "brush").call(brush);
  const chosen = [range?.[0] ?? low, range?.[1] ?? high].map((bound) => scale.clamp(true)(bound));
  if (range && chosen[0] < chosen[1]) group.call(brush.move, chosen);
  brush.on("end", ({ selection, sourceEvent }) => {
    if (!sourceEvent) return;
    const round = (value) => Number(value.toPrecision(4));
    const [from, to] = selection ?? [0, WIDTH];
    choose([
      from > 0.5 ? round(scale.invert(from)) : null,
      to < WIDTH - 0.5 ? round(scale.invert(to)) : null,
    ]);
  });
  return { svg, scale: `√ scale, up to ${formatCount(most)} a bar` };
}
