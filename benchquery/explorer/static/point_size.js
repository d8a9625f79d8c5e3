// How large points and their rings are drawn.

const SIZES = [
  [5_000, 3.8],
  [1_000, 6.5],
  [0, 9],
];
const MANY_PICKED = 2_000;
const LARGEST = 12;
/** How thick a ring is, in pixels. */
export const RING = 2;

/** Returns the size of points in pixels: the fewer, and the more enlarged, the larger. */
export function pointSize(count, [left, right, top, bottom]) {
  const [, size] = SIZES.find(([least]) => count > least) ?? SIZES.at(-1);
  const zoom = 1 / Math.sqrt((right - left) * (bottom - top));
  return Math.min(LARGEST, size + 1.6 * Math.log2(zoom));
}

/** Returns the size of the rings around points of a size; thousands are drawn close. */
export function ringSize(count, size) {
  return count > MANY_PICKED ? size + 2 * RING : Math.max(LARGEST, size + 2 * RING);
}
