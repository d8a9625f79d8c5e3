// Parallel coordinates: an upright axis a metric, a line a row. A range brushed on an axis is a
// filter like any other.

import { axisLeft, brushY, scaleLinear, select } from "./vendor/d3.js";
import { cssColour } from "./colours.js";
import { make, makeSvg } from "./dom.js";
import { columnTitle, formatCount } from "./format.js";
import { extent } from "./histogram.js";

const MOST_LINES = 3_000;
const MOST_AXES = 9;
const HEIGHT = 380;
const MARGIN = { top: 34, right: 60, bottom: 12, left: 56 };

/** Returns the metrics that vary, those of the axes first. */
function axesOf({ table, xColumn, yColumn }) {
  const varies = ({ name }) => {
    const [low, high] = extent(table.values(name));
    return low < high;
  };
  const first = [xColumn.name, yColumn.name];
  const metrics = table.columns.filter((column) => column.is_metric && varies(column));
  return [
    ...metrics.filter(({ name }) => first.includes(name)),
    ...metrics.filter(({ name }) => !first.includes(name)),
  ].slice(0, MOST_AXES);
}

/** Returns at most so many of some rows, evenly taken. */
function fewOf(rows, most) {
  if (rows.length <= most) return rows;
  return Array.from({ length: most }, (_, place) => rows[Math.floor((place * rows.length) / most)]);
}

function drawLines(canvas, axes, { model, colours, pickedRows, focusRow }, width) {
  const ratio = window.devicePixelRatio || 1;
  Object.assign(canvas, { width: width * ratio, height: HEIGHT * ratio });
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  const draw = (row) => {
    context.beginPath();
    let pen = "moveTo";
    for (const { x, scale, values } of axes) {
      const isKnown = Number.isFinite(values[row]);
      if (isKnown) context[pen](x, scale(values[row]));
      pen = isKnown ? "lineTo" : "moveTo";
    }
    context.stroke();
  };
  const passing = model.rows;
  const drawn = fewOf(passing, MOST_LINES);
  const opacity = Math.max(0.08, Math.min(0.6, 120 / drawn.length));
  for (const row of drawn) {
    const [red, green, blue] = colours.subarray(4 * row, 4 * row + 3);
    context.strokeStyle = `rgb(${red} ${green} ${blue} / ${opacity})`;
    draw(row);
  }
  context.lineWidth = 2;
  context.strokeStyle = `rgb(${cssColour("--accent").join(" ")})`;
  for (const row of fewOf(pickedRows, 200)) draw(row);
  context.lineWidth = 3;
  context.strokeStyle = `rgb(${cssColour("--text").join(" ")})`;
  if (focusRow !== null) draw(focusRow);
}

function drawAxis(svg, { column, x, scale }, state, actions) {
  const group = select(svg)
    .append("g")
    .attr("class", "axis")
    .attr("transform", `translate(${x},0)`);
  group.call(axisLeft(scale).ticks(6));
  const sign = { higher: " ↑", lower: " ↓" }[column.direction] ?? "";
  group
    .node()
    .append(
      makeSvg(
        "text",
        { class: "parallel-title", y: MARGIN.top - 14 },
        makeSvg("title", {}, column.description),
        columnTitle(column) + sign,
      ),
    );
  const brush = brushY().extent([
    [-12, MARGIN.top],
    [12, HEIGHT - MARGIN.bottom],
  ]);
  const holder = group.append("g").attr("class", "brush").call(brush);
  const range = state.ranges[column.name];
  if (range) {
    const [low, high] = scale.domain();
    const ends = [range[1] ?? high, range[0] ?? low].map((bound) => scale.clamp(true)(bound));
    holder.call(brush.move, ends);
  }
  brush.on("end", ({ selection, sourceEvent }) => {
    if (!sourceEvent) return;
    const ranges = { ...state.ranges };
    delete ranges[column.name];
    if (selection) {
      const round = (pixel) => Number(scale.invert(pixel).toPrecision(4));
      ranges[column.name] = [round(selection[1]), round(selection[0])];
    }
    actions.set({ ranges });
  });
}

function show(place, shown, actions) {
  const { model, state } = shown;
  const width = Math.max(280, place.clientWidth);
  const columns = axesOf(model);
  const step = (width - MARGIN.left - MARGIN.right) / Math.max(1, columns.length - 1);
  const axes = columns.map((column, number) => {
    const values = model.table.values(column.name);
    const range = [HEIGHT - MARGIN.bottom, MARGIN.top];
    return {
      column,
      values,
      x: MARGIN.left + number * step,
      scale: scaleLinear(extent(values), range),
    };
  });
  const canvas = make("canvas", { class: "parallel-lines", "aria-hidden": "true" });
  const svg = makeSvg("svg", {
    viewBox: `0 0 ${width} ${HEIGHT}`,
    width,
    height: HEIGHT,
    role: "img",
    "aria-label": `Parallel coordinates of ${columns.map(({ name }) => name).join(", ")}`,
  });
  axes.forEach((axis) => drawAxis(svg, axis, state, actions));
  const drawn = Math.min(MOST_LINES, model.rows.length);
  const said =
    drawn < model.rows.length
      ? `${formatCount(drawn)} of ${formatCount(model.rows.length)} lines are drawn, evenly taken. `
      : "";
  place.replaceChildren(
    make("div", { class: "parallel" }, canvas, svg),
    make(
      "p",
      { class: "muted" },
      `${said}Drag along an axis to keep a range; click it to drop the range.`,
    ),
  );
  Object.assign(canvas.style, { width: `${width}px`, height: `${HEIGHT}px` });
  drawLines(canvas, axes, shown, width);
}

export const parallelPane = {
  name: "parallel",
  title: "Parallel",
  applies: (table) => table.columns.filter((column) => column.is_metric).length > 1,
  show,
};
