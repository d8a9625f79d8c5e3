// Scales and axes of the plot.

import { axisBottom, axisLeft, scaleLinear, scaleLog } from "./vendor/d3.js";
import { columnTitle } from "./format.js";

const FEW_TICKS = 420;

/** Returns a scale from values to the unit interval; it has a margin so no point is cut. */
export function unitScale(values, rows, log) {
  let low = Infinity;
  let high = -Infinity;
  for (const row of rows) {
    const value = values[row];
    if (!Number.isFinite(value) || (log && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) [low, high] = [log ? 1 : 0, 10];
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  const scale = log ? scaleLog([low, high], [0, 1]) : scaleLinear([low, high], [0, 1]);
  return scale.domain([scale.invert(-0.03), scale.invert(1.03)]);
}

/** Returns two shares of the plot a row, where it is drawn; outside for rows without a point. */
export function placesOf({ xValues, yValues, hasPoint }, x, y, { xlog, ylog }) {
  const places = new Float32Array(2 * xValues.length);
  for (let row = 0; row < xValues.length; row++) {
    const drawn = hasPoint(row) && !(xlog && xValues[row] <= 0) && !(ylog && yValues[row] <= 0);
    places[2 * row] = drawn ? x(xValues[row]) : -9;
    places[2 * row + 1] = drawn ? 1 - y(yValues[row]) : -9;
  }
  return places;
}

function better({ direction }) {
  if (!direction) return "";
  return direction === "higher" ? "  → better" : "  ← better";
}

/** Adds the axes to a drawing; the function that is returned draws them anew. */
export function createAxes(svg, margin) {
  const grid = svg.append("g").attr("class", "axis");
  const xAxis = grid.append("g");
  const yAxis = grid.append("g");
  const xTitle = svg.append("text").attr("class", "axis-title");
  const yTitle = svg.append("text").attr("class", "axis-title");
  return ({ x, y, model, state }, [left, right, top, bottom], { width, height }) => {
    const xShown = x
      .copy()
      .domain([x.invert(left), x.invert(right)])
      .range([0, width]);
    const yShown = y
      .copy()
      .domain([y.invert(1 - bottom), y.invert(1 - top)])
      .range([height, 0]);
    xAxis.attr("transform", `translate(${margin.left},${margin.top + height})`).call(
      axisBottom(xShown)
        .ticks(width < FEW_TICKS ? 4 : 8, state.xlog ? "~g" : undefined)
        .tickSize(-height)
        .tickPadding(9),
    );
    yAxis.attr("transform", `translate(${margin.left},${margin.top})`).call(
      axisLeft(yShown)
        .ticks(6, state.ylog ? "~g" : undefined)
        .tickSize(-width)
        .tickPadding(9),
    );
    const name = (column, table) => columnTitle(column) + (model.other ? ` on ${table.name}` : "");
    xTitle
      .attr("x", margin.left + width / 2)
      .attr("y", margin.top + height + 40)
      .text(name(model.xColumn, model.table) + better(model.xColumn));
    yTitle
      .attr("transform", `translate(14,${margin.top + height / 2}) rotate(-90)`)
      .text(name(model.yColumn, model.upper) + better(model.yColumn));
  };
}
