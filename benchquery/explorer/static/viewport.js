// Which part of the plot is shown. A part is [left, right, top, bottom] in shares of the whole plot,
// where 0 is left or on top and 1 right or below; each axis may be enlarged by itself.

/** The whole plot. */
export const WHOLE = Object.freeze([0, 1, 0, 1]);

const LEAST = 1 / 4000;
const MARGIN = 0.04;

/** Returns one axis of a part, neither too narrow nor outside of the whole. */
function fitted(low, high) {
  const span = Math.min(1, Math.max(LEAST, high - low));
  const start = Math.min(1 - span, Math.max(0, (low + high - span) / 2));
  return [start, start + span];
}

/** Returns a part that is inside of the whole. */
function clamped([left, right, top, bottom]) {
  return [...fitted(left, right), ...fitted(top, bottom)];
}

/** Tells whether a part is the whole plot. */
export function isWhole([left, right, top, bottom]) {
  return right - left > 1 - 1e-9 && bottom - top > 1 - 1e-9;
}

/**
 * Returns a part enlarged by a factor around a place.
 *
 * @param place Two shares of the part, which stay where they are.
 * @param axes "xy", "x" or "y".
 */
export function zoomed([left, right, top, bottom], factor, [x, y], axes = "xy") {
  const scaled = (low, high, at) => {
    const span = Math.min(1, (high - low) / factor);
    const start = low + (high - low) * at - span * at;
    return [start, start + span];
  };
  return clamped([
    ...(axes.includes("x") ? scaled(left, right, x) : [left, right]),
    ...(axes.includes("y") ? scaled(top, bottom, y) : [top, bottom]),
  ]);
}

/** Returns a part moved by shares of itself. */
export function moved([left, right, top, bottom], dx, dy) {
  const [width, height] = [right - left, bottom - top];
  return clamped([left - dx * width, right - dx * width, top - dy * height, bottom - dy * height]);
}

/** Returns the part inside of a box, which is given in shares of the part that is shown. */
export function inBox([left, right, top, bottom], [boxLeft, boxRight, boxTop, boxBottom]) {
  const [width, height] = [right - left, bottom - top];
  return clamped([
    left + boxLeft * width,
    left + boxRight * width,
    top + boxTop * height,
    top + boxBottom * height,
  ]);
}

/** Returns the part that shows some rows, with a margin; places are two shares a row. */
export function around(places, rows) {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const row of rows) {
    const [x, y] = [places[2 * row], places[2 * row + 1]];
    if (x < 0 || y < 0) continue;
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  if (left > right) return WHOLE;
  const [wide, high] = [MARGIN * (right - left), MARGIN * (bottom - top)];
  return clamped([left - wide, right + wide, top - high, bottom + high]);
}
