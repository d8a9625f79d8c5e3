// Charts over epochs: learning curves, each seed thin and their mean bold, and other figures.

import { axisBottom, axisLeft, scaleLinear, select } from "./vendor/d3.js";
import { makeSvg } from "./dom.js";

const WIDTH = 340;
const HEIGHT = 170;
const MARGIN = { top: 8, right: 8, bottom: 30, left: 40 };

/** Splits a column of all seeds into one list of epochs a seed. */
function bySeed(seeds, values) {
  const lists = new Map();
  seeds.forEach((seed, row) => {
    if (!lists.has(seed)) lists.set(seed, []);
    lists.get(seed).push(values[row]);
  });
  return [...lists.values()];
}

/** Returns the mean over the seeds of every epoch. */
function meanOf(lists) {
  return lists[0].map(
    (_, epoch) => lists.reduce((sum, list) => sum + list[epoch], 0) / lists.length,
  );
}

/** Returns the path of a line; epochs without a figure break it. */
export function pathOf(xs, values, x, y) {
  let pen = "M";
  return values
    .map((value, place) => {
      if (!Number.isFinite(value)) {
        pen = "M";
        return "";
      }
      const start = pen === "M" ? "h0" : ""; // so that a figure alone is drawn
      const part = `${pen}${x(xs[place]).toFixed(1)} ${y(value).toFixed(1)}${start}`;
      pen = "L";
      return part;
    })
    .join("");
}

/**
 * Draws groups of lines; null if there is no figure.
 *
 * @param xs The epochs.
 * @param groups Of each the `name`, its thin `lines`, and the bold one, `mean`.
 */
function drawChart(xs, groups) {
  const finite = groups
    .flatMap(({ lines, mean }) => [...lines, mean].flat())
    .filter(Number.isFinite);
  if (!finite.length) return null;
  const low = finite.reduce((a, b) => Math.min(a, b));
  const high = finite.reduce((a, b) => Math.max(a, b));
  const last = Math.max(1, xs.at(-1));
  const x = scaleLinear([0, last], [MARGIN.left, WIDTH - MARGIN.right]);
  const y = scaleLinear([low, high], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(5);
  const names = groups.map(({ name }) => name).join(", ");
  const svg = makeSvg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: "curves",
    role: "img",
    "aria-label": `${names} at ${xs.length} epochs`,
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
  const draw = (values, kind) => {
    const alone = values.filter(Number.isFinite).length === 1 ? " dot" : "";
    svg.append(makeSvg("path", { d: pathOf(xs, values, x, y), class: `curve ${kind}${alone}` }));
  };
  groups.forEach(({ lines, mean }, index) => {
    for (const line of lines) draw(line, `seed curve-${index}`);
    draw(mean, `mean curve-${index}`);
  });
  return svg;
}

/** Returns the mean over seeds of a column of a learning curve; nothing if there is no curve. */
export function meansOf(curve, name) {
  const seeds = Array.from(curve("seed"));
  return seeds.length ? meanOf(bySeed(seeds, curve(name))) : [];
}

/**
 * Draws learning curves.
 *
 * @param curve Returns a column by name, as `loadCurve` gives it.
 * @param names The columns to draw, all of one unit.
 */
export function drawCurves(curve, names) {
  const seeds = Array.from(curve("seed"));
  if (!seeds.length) return null;
  const groups = names.map((name) => {
    const lines = bySeed(seeds, curve(name));
    return { name, lines, mean: meanOf(lines) };
  });
  return drawChart([...groups[0].mean.keys()], groups);
}

/** Draws lists of figures by name, all of one unit, over the list `epoch`. */
export function drawFigures(figures, names) {
  return drawChart(
    figures.epoch,
    names.map((name) => ({ name, lines: [], mean: figures[name] })),
  );
}
