// The view as a picture of its own: the drawings of a pane with its legend, as SVG or PNG.

import { makeSvg } from "./dom.js";
import { handOver } from "./exporting.js";

const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "visibility",
];
const FOOT = 34;
const SHARPNESS = 2;

/** Returns a copy of a drawing that looks the same without the page's style sheets. */
function styledCopy(svg) {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, place) => {
    const style = getComputedStyle(originals[place]);
    for (const name of STYLES) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute("class");
  });
  copy
    .querySelectorAll(`g > .overlay, .handle, [visibility="hidden"]`)
    .forEach((one) => one.remove());
  return copy;
}

/** What stands for `href` until a picture is text: this page may not load what is inside of it. */
const INNER = "data-inner-href";

/** Returns a picture as text. */
function textOf(svg) {
  return new XMLSerializer().serializeToString(svg).replaceAll(`${INNER}=`, "href=");
}

/** Returns a drawing or canvas as an element at its place in a frame. */
function layerOf(element, frame) {
  const { left, top, width, height } = element.getBoundingClientRect();
  const place = { x: left - frame.left, y: top - frame.top, width, height };
  if (element.tagName === "CANVAS")
    return makeSvg("image", { ...place, [INNER]: element.toDataURL("image/png") });
  const copy = styledCopy(element);
  for (const [name, value] of Object.entries(place)) copy.setAttribute(name, value);
  return copy;
}

/** Returns the legend: its swatches as they are coloured, its words where they stand. */
function legendOf(legend, frame, shift) {
  const at = (element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return { x: left - frame.left, y: top - frame.top + shift, width, height };
  };
  const swatches = [...legend.querySelectorAll("i")].map((swatch) => {
    const place = at(swatch);
    const fill = getComputedStyle(swatch).backgroundColor;
    return makeSvg("rect", { ...place, rx: 6, fill });
  });
  const words = [...legend.children]
    .filter((word) => word.textContent)
    .map((word) => {
      const { x, y, width, height } = at(word);
      const { color, fontFamily, fontSize, fontWeight } = getComputedStyle(word);
      const text = {
        x: x + width,
        y: y + height * 0.75,
        fill: color,
        "font-family": fontFamily,
        "font-size": fontSize,
        "font-weight": fontWeight,
        "text-anchor": "end",
      };
      return makeSvg("text", text, word.textContent);
    });
  return [...swatches, ...words];
}

/** Returns the drawings of an element, and a legend under them if it is in sight, as one. */
function drawingOf(pane, legend) {
  const layers = [...pane.querySelectorAll("canvas, svg")].filter(
    (element) => element.getClientRects().length && !element.parentElement.closest("svg"),
  );
  const boxes = layers.map((layer) => layer.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left));
  const top = Math.min(...boxes.map((box) => box.top));
  const width = Math.max(...boxes.map((box) => box.right)) - left;
  const height = Math.max(...boxes.map((box) => box.bottom)) - top;
  const frame = { left, top };
  const shown = legend.getClientRects().length ? legend.getBoundingClientRect() : null;
  const foot = shown ? shown.height + FOOT / 2 : 0;
  const words = shown ? legendOf(legend, frame, top + height + FOOT / 4 - shown.top) : [];
  const fill = getComputedStyle(pane.closest(".panel")).backgroundColor;
  return makeSvg(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      viewBox: `0 0 ${width} ${height + foot}`,
      width,
      height: height + foot,
    },
    makeSvg("title", {}, document.title),
    makeSvg("rect", { width, height: height + foot, fill }),
    ...layers.map((layer) => layerOf(layer, frame)),
    ...words,
  );
}

/** Returns a drawing as the bytes of a PNG. */
async function toPng(svg) {
  const url = URL.createObjectURL(new Blob([textOf(svg)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = new OffscreenCanvas(
      SHARPNESS * Number(svg.getAttribute("width")),
      SHARPNESS * Number(svg.getAttribute("height")),
    );
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await canvas.convertToBlob({ type: "image/png" });
  } finally {
    URL.revokeObjectURL(url);
  }
}

/**
 * Hands a picture of what an element draws to the person.
 *
 * @param format "svg" or "png".
 * @param name The name of the file, without its ending.
 */
export async function savePicture(format, pane, legend, name) {
  const svg = drawingOf(pane, legend);
  if (format === "svg") {
    handOver(textOf(svg), "image/svg+xml", `${name}.svg`);
  } else {
    handOver(await toPng(svg), "image/png", `${name}.png`);
  }
}
