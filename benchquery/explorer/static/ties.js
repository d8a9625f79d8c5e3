// Figures that are equal but for rounding count as equal, by the rule of benchquery.table.ties.

const TOLERANCE = 1e-12;

/** Tells whether two figures are a tie. */
function tie(a, b) {
  return a === b || Math.abs(a - b) <= TOLERANCE * Math.abs(b);
}

/** Returns figures in ascending order, and for each where the group that it ties with begins. */
function grouped(figures) {
  const sorted = Float64Array.from(figures).sort();
  const starts = new Uint32Array(sorted.length);
  for (let place = 1; place < sorted.length; place++) {
    starts[place] = tie(sorted[place - 1], sorted[place]) ? starts[place - 1] : place;
  }
  return { sorted, starts };
}

/** Returns where a figure stands first in an ascending list that has it. */
function placeOf(sorted, figure) {
  let [low, high] = [0, sorted.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < figure) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns 1 plus the number of figures that are less than one of them and no tie. */
export function rankAmong(figures, figure) {
  const { sorted, starts } = grouped(figures);
  return 1 + starts[placeOf(sorted, figure)];
}
