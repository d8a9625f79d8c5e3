// What follows from a state and the loaded tables: the points, which of them pass, the front.

import { passing } from "./filters.js";
import { costs, paretoRows } from "./pareto.js";

/** Returns a metric's column description. */
export function columnOf(table, name) {
  return table.columns.find((column) => column.name === name);
}

/**
 * Derives the model. Rows are those of the table; with a second table, the height of a
 * point is that table's figure, and rows that it lacks have none. `heights` order the rows: the
 * less, the better.
 */
export function derive(state, table, other, view) {
  const upper = other ?? table;
  const xColumn = columnOf(table, state.x);
  const yColumn = columnOf(upper, state.y);
  if (!xColumn || !yColumn) throw new Error(`${table.name} has no column of figures to draw`);
  const xValues = table.values(state.x);
  const yValues = other
    ? Float64Array.from(table.keys, (key) => other.values(state.y)[other.rowOf.get(key)] ?? NaN)
    : table.values(state.y);
  const { pass, passesOthers } = passing(state, table, view);
  const hasPoint = (row) => Number.isFinite(xValues[row]) && Number.isFinite(yValues[row]);
  const rows = [];
  for (let row = 0; row < pass.length; row++) if (pass[row] && hasPoint(row)) rows.push(row);
  const directed = Boolean(xColumn.direction && yColumn.direction);
  const front = directed
    ? paretoRows(costs(xValues, xColumn.direction), costs(yValues, yColumn.direction), rows)
    : [];
  return {
    table,
    other,
    upper,
    xColumn,
    yColumn,
    xValues,
    yValues,
    pass,
    passesOthers,
    hasPoint,
    rows,
    directed,
    front,
    heights: costs(yValues, yColumn.direction ?? "higher"),
  };
}

/** Returns rows with the best height first; equal ones in the order of the table. */
export function bestFirst({ heights }, rows) {
  return [...rows].sort((a, b) => heights[a] - heights[b] || a - b);
}

/** Returns the row with the best height of those that pass, if any. */
export function bestRow({ heights, rows }) {
  let best;
  for (const row of rows) if (best === undefined || heights[row] < heights[best]) best = row;
  return best;
}
