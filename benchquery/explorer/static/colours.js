// Colours of points: viridis, which colour-blind people can order too, cut at the end that
// would vanish in the background; for categories, colours that they can tell apart.

import { interpolateViridis } from "./vendor/d3.js";
import { columnTitle } from "./format.js";

/** How many colours of categories the theme has; after that they start again. */
export const CATEGORIES = 10;
const STEPS = 256;
const CUT = { light: [0.0, 0.86], dark: [0.22, 1.0] };
const FADED = { light: [120, 130, 145, 26], dark: [150, 160, 175, 24] };
const OPACITY = 165;

/** Returns red, green and blue of a colour such as #0072b2. */
function bytesOf(hex) {
  return [1, 3, 5].map((start) => Number.parseInt(hex.slice(start, start + 2), 16));
}

function shades(theme) {
  const [low, high] = CUT[theme];
  return Array.from({ length: STEPS }, (_, step) => {
    const hex = interpolateViridis(low + ((high - low) * step) / (STEPS - 1));
    return bytesOf(hex);
  });
}

/** Returns red, green and blue of one of the theme's colours, such as --accent. */
export function cssColour(name) {
  const style = getComputedStyle(document.documentElement);
  return bytesOf(style.getPropertyValue(name).trim());
}

/** Returns the colours of categories, as the theme has them. */
function categoryShades() {
  return Array.from({ length: CATEGORIES }, (_, index) => cssColour(`--k${index}`));
}

/**
 * Returns the value that colours each row, and what the legend says of it: a title and, unless
 * the values run on, each `discrete` value with its name. `categories` have no order.
 */
export function colourValues(name, table, view) {
  const column = table.columns.find((entry) => entry.name === name);
  if (!column || view.choiceNames(table).includes(name)) return view.colourOf(name, table);
  return { values: table.values(name), title: columnTitle(column), discrete: null };
}

/** Returns the least and the largest value, the outermost hundredths left out. */
function spread(values) {
  const sorted = Float64Array.from(values).filter(Number.isFinite).sort();
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return [at(0.01), at(0.99)];
}

/** Returns a function from value to shade, with the range that it spans. */
export function colourScale({ values, discrete, categories }, theme) {
  if (categories) {
    const palette = categoryShades();
    return { shade: (value) => palette[value % palette.length] };
  }
  const ramp = shades(theme);
  const ends = discrete && [discrete.at(0)?.[0] ?? 0, discrete.at(-1)?.[0] ?? 1];
  const [low, high] = ends ?? spread(values);
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
