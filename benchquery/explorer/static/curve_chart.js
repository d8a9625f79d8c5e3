// Learning curves: each seed thin, their mean bold.

import { axisBottom, axisLeft, scaleLinear, select } from "./vendor/d3.js";
import { makeSvg } from "./dom.js";

const WIDTH = 340;
const HEIGHT = 170;
const MARGIN = { top: 8, right: 8, bottom: 30, left: 40 };

/** Splits a column of all seeds into one list of epochs a seed. */
function bySeed(seeds, values) {
  const lists = new Map();
  seeds.forEach((seed, row) => lists.set(seed, [...(lists.get(seed) ?? []), values[row]]));
  return [...lists.values()];
}

/** Returns the mean over the seeds of every epoch. */
function meanOf(lists) {
  return lists[0].map(
    (_, epoch) => lists.reduce((sum, list) => sum + list[epoch], 0) / lists.length,
  );
}

/** Returns the path of a line; epochs without a figure break it. */
function pathOf(values, x, y) {
  let pen = "M";
  return values
    .map((value, epoch) => {
      if (!Number.isFinite(value)) {
        pen = "M";
        return "";
      }
      const part = `${pen}${x(epoch).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = "L";
      return part;
    })
    .join("");
}

/**
 * Draws curves.
 *
 * @param curve Returns a column by name, as `loadCurve` gives it.
 * @param names The columns to draw, all of one unit.
 */
export function drawCurves(curve, names) {
  const seeds = Array.from(curve("seed"));
  const lines = names.map((name) => bySeed(seeds, curve(name)));
  const finite = lines.flat(2).filter(Number.isFinite);
  if (!finite.length) return null;
  const epochs = lines[0][0].length;
  const low = finite.reduce((a, b) => Math.min(a, b));
  const high = finite.reduce((a, b) => Math.max(a, b));
  const x = scaleLinear([0, Math.max(1, epochs - 1)], [MARGIN.left, WIDTH - MARGIN.right]);
  const y = scaleLinear([low, high], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(5);
  const svg = makeSvg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: "curves",
    role: "img",
    "aria-label": `${names.join(", ")} over ${epochs} epochs`,
  });
  const axes = select(svg).append("g").attr("class", "axis");
  axes
    .append("g")
    .attr("transform", `translate(0,${HEIGHT - MARGIN.bottom})`)
    .call(axisBottom(x).ticks(6).tickSizeOuter(0));
  axes
    .append("g")
    .attr("transform", `translate(${MARGIN.left},0)`)
    .call(
      axisLeft(y)
        .ticks(5)
        .tickSize(MARGIN.left + MARGIN.right - WIDTH),
    );
  svg.append(
    makeSvg("text", { x: WIDTH - MARGIN.right, y: HEIGHT - 2, class: "axis-title end" }, "epoch"),
  );
  lines.forEach((seedLines, index) => {
    for (const line of seedLines) {
      svg.append(makeSvg("path", { d: pathOf(line, x, y), class: `curve seed curve-${index}` }));
    }
    svg.append(
      makeSvg("path", { d: pathOf(meanOf(seedLines), x, y), class: `curve mean curve-${index}` }),
    );
  });
  return svg;
}
