// A chart of several lines over one axis. What the lines are at a place is said by hover or by the
// arrow keys.

import { axisBottom, axisLeft, scaleLinear, scaleLog, select } from "./vendor/d3.js";
import { pathOf } from "./curve_chart.js";
import { make, makeSvg } from "./dom.js";
import { formatFigure } from "./format.js";

const WIDTH = 760;
const HEIGHT = 360;
const MARGIN = { top: 10, right: 12, bottom: 38, left: 62 };
const COLOURS = 10;

/** Returns the place in an ascending list that is nearest to a number. */
function nearestPlace(xs, number) {
  let best = 0;
  for (let place = 1; place < xs.length; place++) {
    if (Math.abs(xs[place] - number) < Math.abs(xs[best] - number)) best = place;
  }
  return best;
}

/** Returns the least and the largest figure of lines that can be drawn, or null. */
function rangeOf(lines, log) {
  const values = lines.flatMap(({ ys }) => Array.from(ys));
  const drawn = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  if (!drawn.length) return null;
  const low = drawn.reduce((a, b) => Math.min(a, b));
  const high = drawn.reduce((a, b) => Math.max(a, b));
  return low < high ? [low, high] : [log ? low / 2 : low - 0.5, log ? high * 2 : high + 0.5];
}

/**
 * Draws lines.
 *
 * @param lines Of each `name`, `xs` in ascending order and `ys`; and `title`, if it is the button
 *   that `choose` is called for with its place.
 * @param options `xTitle`, `yTitle`, `log`: whether the heights are logarithmic, `choose`.
 * @returns Elements: the chart and its key, which says the figures where the pointer is.
 */
export function drawLines(lines, { xTitle, yTitle, log = false, choose = null }) {
  const range = rangeOf(lines, log);
  if (!range) return [make("p", { class: "muted" }, "There is no figure to draw.")];
  const last = Math.max(...lines.map(({ xs }) => xs.at(-1) ?? 0));
  const x = scaleLinear([0, last || 1], [MARGIN.left, WIDTH - MARGIN.right]);
  const y = (log ? scaleLog : scaleLinear)(range, [HEIGHT - MARGIN.bottom, MARGIN.top]).nice();
  const svg = makeSvg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: "lines",
    role: "img",
    tabindex: 0,
    "aria-label": `${yTitle} by ${xTitle}: ${lines.map(({ name }) => name).join(", ")}`,
  });
  const axes = select(svg).append("g").attr("class", "axis");
  axes
    .append("g")
    .attr("transform", `translate(0,${HEIGHT - MARGIN.bottom})`)
    .call(axisBottom(x).ticks(8).tickSizeOuter(0));
  axes
    .append("g")
    .attr("transform", `translate(${MARGIN.left},0)`)
    .call(
      axisLeft(y)
        .ticks(6, log ? "~g" : undefined)
        .tickSize(MARGIN.left + MARGIN.right - WIDTH),
    );
  const rule = makeSvg("line", {
    class: "rule",
    y1: MARGIN.top,
    y2: HEIGHT - MARGIN.bottom,
    visibility: "hidden",
  });
  svg.append(
    makeSvg("text", { x: WIDTH - MARGIN.right, y: HEIGHT - 4, class: "axis-title end" }, xTitle),
    makeSvg(
      "text",
      { class: "axis-title", transform: `translate(13,${HEIGHT / 2}) rotate(-90)` },
      yTitle,
    ),
    ...lines.map(({ xs, ys }, place) =>
      makeSvg("path", {
        d: pathOf(xs, log ? Array.from(ys, (value) => (value > 0 ? value : NaN)) : ys, x, y),
        class: `line colour-${place % COLOURS}${place >= COLOURS ? " again" : ""}`,
      }),
    ),
    rule,
  );
  const figures = lines.map(() => make("b", {}));
  const where = make("span", { class: "muted", role: "status" });
  const key = make(
    "div",
    { class: "line-key" },
    where,
    ...lines.map(({ name, title }, place) =>
      make(
        choose ? "button" : "span",
        {
          class: choose ? "quiet" : null,
          type: choose ? "button" : null,
          title,
          onclick: () => choose?.(place),
        },
        make("i", { class: `swatch back-${place % COLOURS}` }),
        `${name} `,
        figures[place],
      ),
    ),
  );

  /** Says the figures at a number of the horizontal axis. */
  function tell(number) {
    const at = Math.min(last, Math.max(0, number));
    rule.setAttribute("visibility", "visible");
    rule.setAttribute("x1", x(at));
    rule.setAttribute("x2", x(at));
    where.textContent = `${xTitle} ${formatFigure(Math.round(at * 100) / 100)}`;
    lines.forEach(({ xs, ys }, place) => {
      figures[place].textContent = formatFigure(ys[nearestPlace(xs, at)]);
    });
    svg.dataset.at = at;
  }
  svg.addEventListener("pointermove", ({ clientX }) => {
    const { left, width } = svg.getBoundingClientRect();
    tell(x.invert(((clientX - left) / width) * WIDTH));
  });
  svg.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    tell(Number(svg.dataset.at ?? 0) + (way * last) / 50);
  });
  return [svg, key];
}
