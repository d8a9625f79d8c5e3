// What the colours of the points mean.

import { byId, make } from "./dom.js";
import { formatFigure } from "./format.js";

const STOPS = 24;

/** Returns a bar of the shades from one end of a scale to the other. */
function gradient(swatch, { low, high }) {
  const stops = Array.from(
    { length: STOPS },
    (_, step) => low + ((high - low) * step) / (STOPS - 1),
  );
  return make("span", { class: "gradient" }, ...stops.map(swatch));
}

/** Shows the legend of coloured values and their scale. */
export function showLegend({ title, discrete }, scale) {
  const swatch = (value) => {
    const box = make("i", {});
    box.style.background = `rgb(${scale.shade(value).join(" ")})`;
    return box;
  };
  const items = discrete
    ? discrete.map(([value, name]) => make("span", {}, swatch(value), name))
    : [
        make("span", {}, formatFigure(scale.low)),
        gradient(swatch, scale),
        make("span", {}, formatFigure(scale.high)),
      ];
  byId("legend").replaceChildren(make("b", {}, title), ...items);
}
