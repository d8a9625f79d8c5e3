// Pareto fronts of two figures: the rows that no other beats in both at once.

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

/** Returns 1 plus the number of strictly better values: the rank of a row. */
export function rankOf(values, row, direction) {
  const own = values[row];
  if (Number.isNaN(own)) return null;
  let better = 0;
  for (const value of values) {
    if (direction === "higher" ? value > own : value < own) better++;
  }
  return better + 1;
}
