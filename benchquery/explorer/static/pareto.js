// Pareto fronts of two figures: the rows that no other beats in both at once; and ranks.

import { rankAmong } from "./ties.js";

/** Returns figures turned so that less is better. */
export function costs(values, direction) {
  return direction === "higher" ? Float64Array.from(values, (value) => -value) : values;
}

/**
 * Returns the rows of the front, by the first cost. Equal rows stay together; rows without
 * a figure are never part of it.
 */
export function paretoRows(first, second, rows) {
  const order = rows.filter((row) => !Number.isNaN(first[row]) && !Number.isNaN(second[row]));
  order.sort((a, b) => first[a] - first[b] || second[a] - second[b]);
  const front = [];
  let least = Infinity;
  for (const row of order) {
    const last = front.at(-1);
    const equal = last !== undefined && first[last] === first[row] && second[last] === second[row];
    if (second[row] < least || equal) {
      front.push(row);
      least = second[row];
    }
  }
  return front;
}

/** Returns the rank of a row, 1 for the best; null if it has no figure. */
export function rankOf(values, row, direction) {
  const figures = costs(values, direction);
  return Number.isNaN(figures[row]) ? null : rankAmong(figures, figures[row]);
}
