// Colours of points: viridis, which colour-blind people can order too, cut at the end that
// would vanish in the background.

import { interpolateViridis } from "./vendor/d3.js";

const STEPS = 256;
const CUT = { light: [0.0, 0.86], dark: [0.22, 1.0] };
const FADED = { light: [120, 130, 145, 26], dark: [150, 160, 175, 24] };
const OPACITY = 165;

function shades(theme) {
  const [low, high] = CUT[theme];
  return Array.from({ length: STEPS }, (_, step) => {
    const hex = interpolateViridis(low + ((high - low) * step) / (STEPS - 1));
    return [1, 3, 5].map((start) => Number.parseInt(hex.slice(start, start + 2), 16));
  });
}

/** Returns the value that colours each row, and what the legend says of it. */
export function colourValues(name, table, reader) {
  const column = table.columns.find((entry) => entry.name === name);
  if (column) return { values: table.values(name), column, discrete: null };
  const fact = name === "depth" ? reader.depthOf : (hash) => reader.countOf(hash, name);
  const values = Float64Array.from(table.hashes, fact);
  const title = name === "depth" ? "depth" : `uses of ${name}`;
  return { values, column: { name: title, unit: null }, discrete: [...new Set(values)].sort() };
}

/** Returns the least and the largest value, the outermost hundredths left out. */
function spread(values) {
  const sorted = Float64Array.from(values).filter(Number.isFinite).sort();
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return [at(0.01), at(0.99)];
}

/** Returns a function from value to shade, with the range that it spans. */
export function colourScale({ values, discrete }, theme) {
  const ramp = shades(theme);
  const [low, high] = discrete ? [discrete[0] ?? 0, discrete.at(-1) ?? 1] : spread(values);
  const shade = (value) => {
    const part = high > low ? (value - low) / (high - low) : 0.5;
    return ramp[Math.round(Math.min(1, Math.max(0, part || 0)) * (STEPS - 1))];
  };
  return { shade, low, high };
}

/** Returns four bytes a row: the shade of those that pass, a faint grey for the others. */
export function colourBytes(values, scale, pass, theme) {
  const bytes = new Uint8Array(4 * values.length);
  for (let row = 0; row < values.length; row++) {
    const [red, green, blue, alpha = OPACITY] = pass[row] ? scale.shade(values[row]) : FADED[theme];
    bytes[4 * row] = red;
    bytes[4 * row + 1] = green;
    bytes[4 * row + 2] = blue;
    bytes[4 * row + 3] = alpha;
  }
  return bytes;
}
