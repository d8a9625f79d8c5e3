// A condensed graph drawn: its nodes on a circle, class by class, its edges as chords; and how
// many nodes have which degree.

import { CATEGORIES } from "../../colours.js";
import { makeSvg } from "../../dom.js";

const SIZE = 320;
const RADIUS = 140;
const BARS = 24;
const HEIGHT = 46;

/** Draws a graph; the stronger an edge, the darker. */
export function drawGraph({ classes, from, to, weight }) {
  const order = [...classes.keys()].sort((a, b) => classes[a] - classes[b] || a - b);
  const places = new Array(classes.length);
  order.forEach((node, position) => {
    const angle = (2 * Math.PI * position) / order.length - Math.PI / 2;
    places[node] = [Math.cos(angle), Math.sin(angle)].map((part) =>
      (SIZE / 2 + RADIUS * part).toFixed(1),
    );
  });
  const strongest = weight[0] ?? 1;
  const edges = from.map((node, index) =>
    makeSvg("line", {
      x1: places[node][0],
      y1: places[node][1],
      x2: places[to[index]][0],
      y2: places[to[index]][1],
      "stroke-opacity": (0.05 + 0.55 * (weight[index] / strongest)).toFixed(3),
    }),
  );
  const radius = Math.max(1.5, Math.min(6, (2.4 * RADIUS) / classes.length));
  const nodes = classes.map((group, node) =>
    makeSvg("circle", {
      cx: places[node][0],
      cy: places[node][1],
      r: radius.toFixed(1),
      class: `class-${group % CATEGORIES}`,
    }),
  );
  return makeSvg(
    "svg",
    {
      viewBox: `0 0 ${SIZE} ${SIZE}`,
      class: "graph",
      role: "img",
      "aria-label": `condensed graph of ${classes.length} nodes`,
    },
    makeSvg("g", {}, ...edges),
    makeSvg("g", {}, ...nodes),
  );
}

/** Draws how many nodes have which degree. */
export function drawDegrees(degrees) {
  const most = degrees.reduce((a, b) => Math.max(a, b), 0);
  const width = Math.max(1, Math.ceil((most + 1) / BARS));
  const counts = new Array(Math.ceil((most + 1) / width)).fill(0);
  for (const degree of degrees) counts[Math.floor(degree / width)]++;
  const highest = Math.max(...counts);
  const bars = counts.map((count, bin) => {
    const height = (count / highest) * HEIGHT;
    const last = bin * width + width - 1;
    const said = width === 1 ? `${bin}` : `${bin * width} to ${last}`;
    const step = SIZE / counts.length;
    return makeSvg(
      "rect",
      { x: bin * step, y: HEIGHT - height, width: Math.min(step - 1, 24), height },
      makeSvg("title", {}, `degree ${said}: ${count} nodes`),
    );
  });
  return makeSvg(
    "svg",
    {
      viewBox: `0 0 ${SIZE} ${HEIGHT + 16}`,
      class: "degrees",
      role: "img",
      "aria-label": `degrees from ${Math.min(...degrees)} to ${most}`,
    },
    ...bars,
    makeSvg("text", { x: 0, y: HEIGHT + 13 }, "0"),
    makeSvg("text", { x: SIZE, y: HEIGHT + 13, class: "end" }, String(most)),
  );
}
